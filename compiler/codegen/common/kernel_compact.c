/* SPDX-License-Identifier: MIT */
/*
 * kernel_compact: what only some of the firings in lanes append.
 *
 * Example: `if (x > 0) y <- x;`. The packets of the lanes that execute the statement are compressed to the front of
 * one vector. The whole vector is stored after the packets that were appended before. The next store overwrites the
 * lanes past the last good packet. No branch depends on a packet.
 *
 * A whole vector always has room: before a block's first firing, number i of the batch, at most i packets have been
 * appended, and the window has room for one of every firing.
 */

static const char compress[] = "llvm.experimental.vector.compress";

/* The processor brings together packets of that width in one instruction. */
#include "compiler/codegen/common/kernel_compact.h"

#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

static bool has_compress(const struct kernel_emitter *e, const struct type *type)
{
    if (!type_is_scalar(type) || type->width_bytes < 4 || !e->isa.compresses) return false;
    return LLVMLookupIntrinsicID(compress, sizeof compress - 1) != 0;
}

struct append_count {
    uint32_t port;
    uint32_t appends;
};

static bool count_append_statement(const struct ks *s, void *data)
{
    struct append_count *count = data;
    bool here = (s->kind == KS_EMIT || s->kind == KS_STORE) && s->port == count->port;
    if (here) count->appends++;
    return here && count->appends > 1;
}

/* Of an out-port: its firings append one packet or none, in one statement. */
static bool kernel_port_compacts(struct kernel_emitter *e, const struct kernel *kernel,
                                 uint32_t port)
{
    const struct kernel_port *out = &kernel->out[port];
    struct append_count count = {.port = port};
    if (out->is_array || out->indexed || out->push != 1 || out->push_least != 0 ||
        out->pushes != NULL || !has_compress(e, out->type))
        return false;
    ks_any(kernel->body, count_append_statement, NULL, &count);
    return count.appends <= 1;
}

bool kernel_compacts(struct kernel_emitter *e, const struct kernel *kernel)
{
    if (kernel->phases > 1 || kernel->stops || kernel->is_child ||
        kernel_launches_any(&kernel->launches))
        return false;
    for (uint32_t i = 0; i < kernel->in_count; i++)
        if (kernel_in_moves(&kernel->in[i])) return false;
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (kernel_out_moves(kernel, &kernel->out[i]) && !kernel_port_compacts(e, kernel, i))
            return false;
    return true;
}

/* Lanes `first` to first + count - 1. */
static LLVMValueRef vector_part(struct kernel_emitter *e, LLVMValueRef vector, uint32_t first,
                                uint32_t count)
{
    LLVMValueRef places[KERNEL_LANES_MAX];
    for (uint32_t i = 0; i < count; i++)
        places[i] = LLVMConstInt(e->i32, first + i, 0);
    return LLVMBuildShuffleVector(e->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  LLVMConstVector(places, count), "");
}

/* How many lanes of the mask are set. */
static LLVMValueRef set_lanes(struct kernel_emitter *e, LLVMValueRef mask, uint32_t count)
{
    LLVMTypeRef bits_type = LLVMIntTypeInContext(e->context, count);
    LLVMValueRef bits = LLVMBuildBitCast(e->builder, mask, bits_type, "");
    LLVMValueRef set = kernel_intrinsic(e, "llvm.ctpop", &bits, 1, &bits_type, 1);
    return LLVMBuildZExtOrBitCast(e->builder, set, e->i64, "");
}

static void raise_compact_most(struct kernel_emitter *e, uint32_t port, LLVMValueRef appended)
{
    LLVMValueRef slot = e->body->out[port].most;
    if (slot == NULL) return;
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntNE, appended, kernel_i64(e, 0), "");
    LLVMValueRef args[] = {LLVMBuildLoad2(e->builder, e->i64, slot, "most"),
                           LLVMBuildZExt(e->builder, any, e->i64, "")};
    LLVMBuildStore(e->builder, kernel_intrinsic(e, "llvm.umax", args, 2, &e->i64, 1), slot);
}

void kernel_append_some(struct kernel_emitter *e, uint32_t port, LLVMValueRef value)
{
    struct kernel_body *body = e->body;
    const struct type *type = body->kernel->out[port].type;
    LLVMTypeRef memory = kernel_memory_type(e, type);
    uint32_t fit = e->isa.vector_bits / 8 / (uint32_t)type->width_bytes, lanes = body->lanes;
    uint32_t count = fit < lanes ? fit : lanes;
    LLVMValueRef mask = body->mask, all = LLVMConstInt(e->i1, 1, 0), total = kernel_i64(e, 0);
    if (mask == NULL) mask = kernel_splat(e, all, lanes);
    LLVMValueRef slot =
        kernel_array_item(e, e->pointer, 1, body->out[port].pointers, kernel_i64(e, 0));
    LLVMValueRef to = LLVMBuildLoad2(e->builder, e->pointer, slot, "");
    for (uint32_t first = 0; first < lanes; first += count) {
        LLVMValueRef args[] = {vector_part(e, value, first, count),
                               vector_part(e, mask, first, count), NULL};
        LLVMTypeRef vector = LLVMTypeOf(args[0]);
        args[2] = LLVMGetPoison(vector);
        LLVMValueRef together = kernel_intrinsic(e, compress, args, 3, &vector, 1);
        LLVMSetAlignment(LLVMBuildStore(e->builder, together, to), type->alignment_bytes);
        LLVMValueRef set = set_lanes(e, args[1], count);
        to = LLVMBuildInBoundsGEP2(e->builder, memory, to, &set, 1, "");
        total = LLVMBuildNUWAdd(e->builder, total, set, "");
    }
    LLVMBuildStore(e->builder, to, slot);
    raise_compact_most(e, port, total);
}
