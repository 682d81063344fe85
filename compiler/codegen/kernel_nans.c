/*
 * Canonical NaNs, which are rare: hardly any packet is one.
 *
 * Where a kernel appends vectors of several registers, one branch that nobody takes asks for NaNs, two registers at a
 * time; behind it each of them is made canonical.  Firings with state follow each other, and often each waits for what
 * the one before has computed: there nothing is asked, and what a batch has appended is looked through when it ends, in
 * vectors.  Everywhere else each value is chosen without a branch, since LLVM would make vectors of it.
 *
 * Of such choices in vectors of 512 bits LLVM compares, which gives a mask, and moves under it; the processor has one
 * instruction for both: VFIXUPIMM looks up for each lane, by the class of its value, what becomes of it.  Bits are the
 * same.  What LLVM has made of the kernels is rewritten, since its own vectoriser is the one that makes most of these
 * vectors.
 */
#include "compiler/codegen/kernel_llvm.h"

#include <llvm-c/Core.h>

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

/* Registers that one branch can ask for NaNs; 0: each value is chosen. */
static unsigned asked_registers(const struct kernel_emitter *e, LLVMValueRef value,
                                enum scalar_type scalar)
{
    if (!is_whole_float(scalar) || !kernel_is_vector(value) || kernel_speculates(e)) return 0;
    unsigned registers = kernel_float_registers(LLVMTypeOf(value), e->isa.vector_bits);
    return registers > 1 ? registers : 0;
}

LLVMValueRef kernel_canonical_packet(struct kernel_emitter *e, LLVMValueRef value,
                                     enum scalar_type scalar)
{
    unsigned registers = asked_registers(e, value, scalar);
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

/* ---- behind a batch ---- */

enum { REGISTERS_AT_ONCE = 4 };

bool kernel_canonical_later(const struct kernel_emitter *e, const struct kernel *kernel,
                            uint32_t port)
{
    const struct kernel_port *out = &kernel->out[port];
    if (e->cx->options.optimisation == 0 || e->cx->options.debug_mode) return false;
    if (kernel->states.count == 0 || kernel->grouped || kernel_launches_any(&kernel->launches))
        return false;
    return !out->is_array && type_is_scalar(out->type) && is_whole_float(out->type->scalar);
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

/* So many packets from `at` on, whose NaNs become canonical. */
static void look_through(struct kernel_emitter *e, const struct window *w, LLVMValueRef at,
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
static void look_through_all(struct kernel_emitter *e, const struct window *w, LLVMValueRef from,
                             LLVMValueRef to, uint32_t lanes)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "look"), end = kernel_block(e, "look.end");
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntULT, from, to, "");
    LLVMBuildCondBr(e->builder, any, loop, end);
    kernel_position(e, loop);
    LLVMValueRef at = LLVMBuildPhi(e->builder, e->i64, "at");
    look_through(e, w, at, lanes);
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
    look_through_all(e, &w, kernel_i64(e, 0), whole, lanes);
    look_through_all(e, &w, whole, packets, 1);
}

/* ---- as LLVM has optimised it ---- */

/* A digit for each class of value, quiet and signalling NaN the lowest: 0 takes what stands in the
 * destination, 1 the value. */
#define KEEP_ALL_BUT_NANS 0x11111100U

enum { REGISTER_BITS = 512, ROUNDING_AS_SET = 4 };

struct choice { /* value, or `otherwise` where that is a NaN */
    LLVMValueRef value, otherwise;
    unsigned registers, width_bits;
};

static bool is_select(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionOpcode(v) == LLVMSelect;
}

/* The float that `bits` is made of by reinterpreting it; NULL: there is none. */
static LLVMValueRef float_of(LLVMValueRef bits)
{
    LLVMValueRef cast = LLVMIsABitCastInst(bits);
    return cast == NULL ? NULL : LLVMGetOperand(cast, 0);
}

static bool asks_for_nan(LLVMValueRef condition, LLVMValueRef value)
{
    if (LLVMIsAFCmpInst(condition) == NULL || LLVMGetFCmpPredicate(condition) != LLVMRealUNO)
        return false;
    LLVMValueRef with = LLVMGetOperand(condition, 1);
    return LLVMGetOperand(condition, 0) == value && (with == value || LLVMIsNull(with));
}

/* Is the instruction a choice that whole registers can make? */
static bool is_choice(LLVMValueRef select, struct choice *choice)
{
    if (!is_select(select) || LLVMGetTypeKind(LLVMTypeOf(select)) != LLVMVectorTypeKind)
        return false;
    LLVMValueRef value = float_of(LLVMGetOperand(select, 2));
    if (value == NULL || !asks_for_nan(LLVMGetOperand(select, 0), value)) return false;
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned registers = kernel_float_registers(type, REGISTER_BITS);
    if (registers == 0 || LLVMGetVectorSize(LLVMTypeOf(select)) != LLVMGetVectorSize(type))
        return false;
    unsigned width = LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFloatTypeKind ? 32 : 64;
    *choice = (struct choice){value, LLVMGetOperand(select, 1), registers, width};
    return true;
}

static LLVMValueRef splat(LLVMTypeRef vector, uint64_t value)
{
    LLVMValueRef lanes[REGISTER_BITS / 32];
    unsigned count = LLVMGetVectorSize(vector);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = LLVMConstInt(LLVMGetElementType(vector), value, 0);
    return LLVMConstVector(lanes, count);
}

static LLVMValueRef fix_register(struct kernel_emitter *e, LLVMValueRef otherwise,
                                 LLVMValueRef value, unsigned width_bits)
{
    const char *name = width_bits == 32 ? "llvm.x86.avx512.mask.fixupimm.ps.512"
                                        : "llvm.x86.avx512.mask.fixupimm.pd.512";
    LLVMTypeRef word = LLVMInt32TypeInContext(e->context);
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, width_bits);
    LLVMTypeRef mask = LLVMIntTypeInContext(e->context, REGISTER_BITS / width_bits);
    LLVMValueRef arguments[] = {
        otherwise,
        value,
        splat(LLVMVectorType(bits, REGISTER_BITS / width_bits), KEEP_ALL_BUT_NANS),
        LLVMConstInt(word, 0, 0),
        LLVMConstAllOnes(mask),
        LLVMConstInt(word, ROUNDING_AS_SET, 0)};
    return kernel_target_call(e, name, arguments, sizeof arguments / sizeof arguments[0]);
}

/* In front of the select: what it chooses, register by register. */
static LLVMValueRef fix(struct kernel_emitter *e, const struct choice *c)
{
    LLVMValueRef registers[KERNEL_REGISTERS_MAX];
    LLVMValueRef otherwise = LLVMBuildBitCast(e->builder, c->otherwise, LLVMTypeOf(c->value), "");
    for (unsigned i = 0; i < c->registers; i++)
        registers[i] =
            fix_register(e, kernel_register_of(e, otherwise, c->registers, i),
                         kernel_register_of(e, c->value, c->registers, i), c->width_bits);
    return kernel_join_registers(e, registers, c->registers);
}

static void fix_block(struct kernel_emitter *e, LLVMBasicBlockRef block)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = next) {
        struct choice choice;
        next = LLVMGetNextInstruction(i);
        if (!is_choice(i, &choice)) continue;
        LLVMPositionBuilderBefore(e->builder, i);
        LLVMValueRef fixed = LLVMBuildBitCast(e->builder, fix(e, &choice), LLVMTypeOf(i), "");
        LLVMReplaceAllUsesWith(i, fixed);
        LLVMInstructionEraseFromParent(i);
    }
}

void kernel_fix_nans(struct kernel_emitter *e)
{
    if (e->isa.vector_bits != REGISTER_BITS) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            fix_block(e, b);
}
