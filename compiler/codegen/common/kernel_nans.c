/* SPDX-License-Identifier: MIT */
/*
 * Canonical NaNs, which are rare: hardly any packet is one.
 *
 * If a kernel appends vectors of several registers, one branch that is hardly ever taken tests for NaNs, two registers
 * at a time; past it all NaNs are made canonical. Firings with state follow each other, and often each waits for the
 * results of the previous one. These test nothing: the appended packets are scanned in vectors when the batch ends.
 * Everywhere else a select makes each value canonical without a branch, because LLVM vectorises it.
 */
#include "compiler/codegen/common/kernel_nans.h"

#include <llvm-c/Core.h>

#include "compiler/codegen/common/kernel_ends.h"
#include "compiler/codegen/common/kernel_llvm_builtin.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_registers.h"

static bool is_whole_float(enum scalar_type scalar)
{
    return scalar == SCALAR_F32 || scalar == SCALAR_F64;
}

/* ---- vectors of several registers ---- */

/* i1: one of the values is a NaN. */
static LLVMValueRef any_nan(struct kernel_emitter *e, LLVMValueRef value, unsigned registers)
{
    LLVMValueRef any = NULL;
    for (unsigned i = 0; i < registers; i += 2) {
        LLVMValueRef pair =
            LLVMBuildFCmp(e->builder, LLVMRealUNO, kernel_register_of(e, value, registers, i),
                          kernel_register_of(e, value, registers, i + 1), "");
        any = any == NULL ? pair : LLVMBuildOr(e->builder, any, pair, "");
    }
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, LLVMGetVectorSize(LLVMTypeOf(any)));
    return LLVMBuildICmp(e->builder, LLVMIntNE, LLVMBuildBitCast(e->builder, any, bits, ""),
                         LLVMConstNull(bits), "nans");
}

/* Registers that one branch can test for NaNs; 0: a select makes each value canonical. */
static unsigned tested_registers(const struct kernel_emitter *e, LLVMValueRef value,
                                 enum scalar_type scalar)
{
    if (!is_whole_float(scalar) || !kernel_is_vector(value) || kernel_speculates(e)) return 0;
    unsigned registers = kernel_float_registers(LLVMTypeOf(value), e->isa.vector_bits);
    return registers > 1 ? registers : 0;
}

LLVMValueRef kernel_canonical_packet(struct kernel_emitter *e, LLVMValueRef value,
                                     enum scalar_type scalar)
{
    unsigned registers = tested_registers(e, value, scalar);
    if (registers == 0) return kernel_canonical_bits(e, value, scalar);
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMBasicBlockRef nans = kernel_block(e, "nans"), none = kernel_block(e, "no.nans");
    LLVMValueRef any = any_nan(e, value, registers);
    LLVMBasicBlockRef from[] = {LLVMGetInsertBlock(e->builder), nans};
    kernel_branch_unlikely(e, any, nans, none);
    kernel_position(e, nans);
    LLVMValueRef bits = kernel_canonical_bits(e, value, scalar);
    LLVMValueRef values[] = {value, LLVMBuildBitCast(e->builder, bits, type, "")};
    LLVMBuildBr(e->builder, none);
    kernel_position(e, none);
    LLVMValueRef packet = LLVMBuildPhi(e->builder, type, "packet");
    LLVMAddIncoming(packet, values, from, 2);
    return packet;
}

/* ---- after a batch ---- */

enum { REGISTERS_AT_ONCE = 4 };

bool kernel_canonical_later(const struct kernel_emitter *e, const struct kernel *kernel,
                            uint32_t port)
{
    const struct kernel_port *out = &kernel->out[port];
    bool one_float =
        !out->is_array && type_is_scalar(out->type) && is_whole_float(out->type->scalar);
    if (kernel->foreign != NULL) return one_float;
    if (e->cx->options.optimisation == 0 || e->cx->options.debug_mode) return false;
    if (e->code->threads) return false; /* it has no vectors */
    if (kernel->states.count == 0 || kernel->grouped || kernel_launches_any(&kernel->launches))
        return false;
    return one_float;
}

struct window {
    LLVMValueRef begin; /* of the packets */
    enum scalar_type scalar;
};

static LLVMValueRef load_packets(struct kernel_emitter *e, const struct window *w, LLVMValueRef at,
                                 uint32_t lanes, LLVMValueRef *place)
{
    LLVMTypeRef item = kernel_scalar_type(e, w->scalar);
    *place = LLVMBuildInBoundsGEP2(e->builder, item, w->begin, &at, 1, "");
    LLVMValueRef load =
        LLVMBuildLoad2(e->builder, lanes > 1 ? LLVMVectorType(item, lanes) : item, *place, "");
    LLVMSetAlignment(load, w->scalar == SCALAR_F32 ? 4 : 8);
    return load;
}

static void store_canonical(struct kernel_emitter *e, const struct window *w, LLVMValueRef value,
                            LLVMValueRef place)
{
    LLVMValueRef store =
        LLVMBuildStore(e->builder, kernel_canonical_bits(e, value, w->scalar), place);
    LLVMSetAlignment(store, w->scalar == SCALAR_F32 ? 4 : 8);
}

/* Makes the NaNs among `lanes` packets from `at` on canonical. */
static void scan_packets(struct kernel_emitter *e, const struct window *w, LLVMValueRef at,
                         uint32_t lanes)
{
    LLVMValueRef place, value = load_packets(e, w, at, lanes, &place);
    if (lanes == 1) {
        store_canonical(e, w, value, place);
        return;
    }
    LLVMBasicBlockRef nans = kernel_block(e, "nans"), none = kernel_block(e, "no.nans");
    kernel_branch_unlikely(e, any_nan(e, value, REGISTERS_AT_ONCE), nans, none);
    kernel_position(e, nans);
    store_canonical(e, w, value, place);
    LLVMBuildBr(e->builder, none);
    kernel_position(e, none);
}

/* for (at = from; at < to; at += lanes) */
static void scan_all_packets(struct kernel_emitter *e, const struct window *w, LLVMValueRef from,
                             LLVMValueRef to, uint32_t lanes)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "look"), end = kernel_block(e, "look.end");
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntULT, from, to, "");
    LLVMBuildCondBr(e->builder, any, loop, end);
    kernel_position(e, loop);
    LLVMValueRef at = LLVMBuildPhi(e->builder, e->i64, "at");
    scan_packets(e, w, at, lanes);
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, at, kernel_i64(e, lanes), "");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, to, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    kernel_leave_loop_alone(e, LLVMBuildCondBr(e->builder, more, loop, end));
    LLVMAddIncoming(at, &from, &before, 1);
    LLVMAddIncoming(at, &next, &latch, 1);
    kernel_position(e, end);
}

void kernel_canonical_window(struct kernel_emitter *e, uint32_t port, LLVMValueRef packets)
{
    const struct kernel_port *out = &e->body->kernel->out[port];
    struct window w = {kernel_first_window(e, out, &e->body->out[port], kernel_i64(e, 0)),
                       out->type->scalar};
    uint32_t lanes = REGISTERS_AT_ONCE * e->isa.vector_bits / 8 / (uint32_t)out->type->width_bytes;
    LLVMValueRef whole =
        LLVMBuildAnd(e->builder, packets, kernel_i64(e, ~(uint64_t)(lanes - 1)), "");
    scan_all_packets(e, &w, kernel_i64(e, 0), whole, lanes);
    scan_all_packets(e, &w, whole, packets, 1);
}
