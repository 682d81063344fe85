/* SPDX-License-Identifier: MIT */
/*
 * kernel_pad: batches that do not fill a block of lanes.
 *
 * Each addition of a sum over a window waits for the one before it, so a block of firings in lanes takes hardly longer than
 * one firing.  If a batch has fewer firings than a block, the code copies its in-windows to scratch memory, followed by
 * zeros for a whole block.  It executes the block there, and copies the packets of the batch's own firings back.  Packets
 * that they do not name are zero.  Nothing outside of the windows is read or written.  The bits are those of single
 * firings, as always with lanes.
 */
#include "compiler/codegen/common/kernel_pad.h"

#include "compiler/bodies/written.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

enum { WINDOWS_MAX = 8, BYTES_MAX = 32768, FIRINGS_MIN = 2 };

static bool is_loop_statement(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_LOOP;
}

/* Packets of a window that `firings` firings see. */
static uint64_t in_packets(const struct kernel_port *port, uint64_t firings)
{
    return (firings - 1) * port->pop + port->peek;
}

static bool windows_fit(const struct kernel *kernel)
{
    uint64_t windows = 0, bytes = 0;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        uint64_t packets = in_packets(port, KERNEL_LANES_MAX);
        if (port->window_width > 0 || port->arity > WINDOWS_MAX || packets > BYTES_MAX)
            return false;
        windows += port->arity;
        bytes += port->arity * packets * port->type->width_bytes;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (port->arity > WINDOWS_MAX || port->push > BYTES_MAX) return false;
        windows += port->arity;
        bytes += port->arity * port->push * KERNEL_LANES_MAX * port->type->width_bytes;
    }
    return windows <= WINDOWS_MAX && bytes <= BYTES_MAX;
}

/* Only these need the padding: sums of integers, and of floats under --fast-math, are vectors within a firing already. */
static bool gives_floats(const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (type_is_float(type_base(kernel->out[i].type))) return true;
    return false;
}

bool kernel_pads(const struct kernel_emitter *e, const struct kernel *kernel)
{
    return e->body->counting == NULL && !e->cx->options.fast_math && gives_floats(kernel) &&
           windows_fit(kernel) && ks_any(kernel->body, is_loop_statement, NULL, NULL);
}

/* ---- code ---- */

struct padding {
    struct kernel_emitter *e;
    const struct kernel *kernel;
    LLVMValueRef count; /* firings of the batch */
    uint32_t lanes;
};

static LLVMValueRef multiply_firings(const struct padding *p, uint64_t packets,
                                     LLVMValueRef firings)
{
    return LLVMBuildMul(p->e->builder, firings, kernel_i64(p->e, packets), "");
}

/* Room for the packets of a whole block, allocated at the beginning of the function. */
static LLVMValueRef scratch_room(const struct padding *p, uint64_t bytes)
{
    enum { ALIGNMENT = 64 };
    LLVMValueRef room =
        LLVMBuildArrayAlloca(p->e->builder, p->e->i8, kernel_i64(p->e, bytes), "padded");
    LLVMSetAlignment(room, ALIGNMENT);
    return room;
}

static void copy_padded_packets(const struct padding *p, const struct type *type, LLVMValueRef to,
                                LLVMValueRef from, LLVMValueRef bytes)
{
    unsigned alignment = (unsigned)type_base(type)->width_bytes;
    LLVMBuildMemCpy(p->e->builder, to, alignment, from, alignment, bytes);
}

static void fill_in(const struct padding *p, const struct kernel_port *port, LLVMValueRef to,
                    LLVMValueRef from)
{
    struct kernel_emitter *e = p->e;
    uint64_t width = port->type->width_bytes, all = in_packets(port, p->lanes) * width;
    LLVMValueRef more = LLVMBuildSub(e->builder, p->count, kernel_i64(e, 1), "");
    LLVMValueRef bytes = LLVMBuildAdd(e->builder, multiply_firings(p, port->pop * width, more),
                                      kernel_i64(e, port->peek * width), "");
    copy_padded_packets(p, port->type, to, from, bytes);
    LLVMValueRef rest = LLVMBuildSub(e->builder, kernel_i64(e, all), bytes, "");
    LLVMValueRef behind = LLVMBuildGEP2(e->builder, e->i8, to, &bytes, 1, "");
    LLVMBuildMemSet(e->builder, behind, LLVMConstInt(e->i8, 0, 0), rest, 1);
}

static void make_room(const struct padding *p, LLVMValueRef *windows)
{
    for (uint32_t i = 0; i < p->kernel->in_count; i++) {
        const struct kernel_port *port = &p->kernel->in[i];
        for (uint64_t n = 0; n < port->arity; n++)
            *windows++ = scratch_room(p, in_packets(port, p->lanes) * port->type->width_bytes);
    }
    for (uint32_t i = 0; i < p->kernel->out_count; i++) {
        const struct kernel_port *port = &p->kernel->out[i];
        for (uint64_t n = 0; n < port->arity; n++)
            *windows++ = scratch_room(p, port->push * p->lanes * port->type->width_bytes);
    }
}

/* If a kernel may leave packets unnamed, the batch's out-window has been cleared.  So its copy is cleared, too. */
static void fill_out(const struct padding *p, uint32_t output, LLVMValueRef to)
{
    struct kernel_emitter *e = p->e;
    const struct kernel_port *port = &p->kernel->out[output];
    if (!port->indexed || written_wholly(e->scratch, p->kernel, output)) return;
    LLVMBuildMemSet(e->builder, to, LLVMConstInt(e->i8, 0, 0),
                    multiply_firings(p, port->push * port->type->width_bytes, p->count), 1);
}

static void fill_windows(const struct padding *p, LLVMValueRef *room, LLVMValueRef *windows)
{
    for (uint32_t i = 0; i < p->kernel->in_count; i++)
        for (uint64_t n = 0; n < p->kernel->in[i].arity; n++)
            fill_in(p, &p->kernel->in[i], *room++, *windows++);
    for (uint32_t i = 0; i < p->kernel->out_count; i++)
        for (uint64_t n = 0; n < p->kernel->out[i].arity; n++)
            fill_out(p, i, *room++);
}

static void empty_windows(const struct padding *p, LLVMValueRef *room, LLVMValueRef *windows)
{
    for (uint32_t i = 0; i < p->kernel->out_count; i++) {
        const struct kernel_port *port = &p->kernel->out[i];
        for (uint64_t n = 0; n < port->arity; n++)
            copy_padded_packets(
                p, port->type, *windows++, *room++,
                multiply_firings(p, port->push * port->type->width_bytes, p->count));
    }
}

/* Replaces the report of the block, which counts all its firings. */
static void report_padded(const struct padding *p, LLVMValueRef produced, LLVMValueRef completed)
{
    struct kernel_emitter *e = p->e;
    uint64_t output = 0;
    LLVMBasicBlockRef end = kernel_begin_asked(e, produced);
    for (uint32_t i = 0; i < p->kernel->out_count; i++)
        for (uint64_t n = 0; n < p->kernel->out[i].arity; n++)
            LLVMBuildStore(e->builder, multiply_firings(p, p->kernel->out[i].push, p->count),
                           kernel_offset(e, e->builder, produced, output++ * sizeof(uint64_t)));
    kernel_end_asked(e, end);
    end = kernel_begin_asked(e, completed);
    LLVMBuildStore(e->builder, p->count, completed);
    kernel_end_asked(e, end);
}

void kernel_emit_padded(struct kernel_emitter *e, const struct kernel *kernel,
                        LLVMValueRef internal, const LLVMValueRef *args, unsigned arg_count,
                        uint32_t lanes)
{
    struct padding p = {e, kernel, args[KERNEL_PARAM_COUNT], lanes};
    LLVMValueRef *padded = ARENA_ARRAY(e->scratch, LLVMValueRef, arg_count);
    LLVMValueRef *windows = ARENA_ARRAY(e->scratch, LLVMValueRef, arg_count);
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(e->builder));
    LLVMBasicBlockRef few = LLVMAppendBasicBlockInContext(e->context, function, "padded");
    LLVMBasicBlockRef whole = LLVMAppendBasicBlockInContext(e->context, function, "whole");
    unsigned ins = 0;
    for (uint32_t i = 0; i < kernel->in_count; i++)
        ins += (unsigned)kernel->in[i].arity;
    for (unsigned i = 0; i < arg_count; i++) {
        padded[i] = args[i];
        if (i >= KERNEL_PARAM_WINDOWS) windows[i - KERNEL_PARAM_WINDOWS] = args[i];
    }
    make_room(&p, padded + KERNEL_PARAM_WINDOWS);
    padded[KERNEL_PARAM_COUNT] = kernel_i64(e, lanes);
    padded[KERNEL_PARAM_PAST_CACHES] = kernel_i64(e, 0);
    LLVMValueRef beyond = LLVMBuildSub(e->builder, p.count, kernel_i64(e, FIRINGS_MIN), "");
    LLVMBuildCondBr(
        e->builder,
        LLVMBuildICmp(e->builder, LLVMIntULT, beyond, kernel_i64(e, lanes - FIRINGS_MIN), ""), few,
        whole);
    kernel_position(e, few);
    fill_windows(&p, padded + KERNEL_PARAM_WINDOWS, windows);
    LLVMValueRef status = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(internal), internal,
                                         padded, arg_count, "");
    empty_windows(&p, padded + KERNEL_PARAM_WINDOWS + ins, windows + ins);
    report_padded(&p, args[KERNEL_PARAM_PRODUCED], args[KERNEL_PARAM_COMPLETED]);
    LLVMBuildRet(e->builder, status);
    kernel_position(e, whole);
}
