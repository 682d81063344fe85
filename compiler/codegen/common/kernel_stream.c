/* SPDX-License-Identifier: MIT */
/*
 * Outputs that are larger than the caches: a store to a line that is not in a cache reads it first, which is a third of
 * the traffic of a kernel that reads as much as it writes.  Where the batch says so (kernel_batch.past_caches), light
 * kernels are executed with stores that go past the caches, whole lines at a time.  They compute the same.
 */

/* The firings from there on whose packets lie before the next line. */
#include "compiler/codegen/common/kernel_stream.h"

#include "compiler/codegen/common/kernel_ends.h"
#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

static LLVMValueRef firings_to_line(struct kernel_emitter *e, LLVMValueRef from)
{
    const struct kernel_port *port = &e->body->kernel->out[0];
    uint64_t bytes = port->type->width_bytes;
    LLVMValueRef window = kernel_first_window(e, port, &e->body->out[0], kernel_i64(e, 0));
    LLVMValueRef at = LLVMBuildPtrToInt(e->builder, window, e->i64, "");
    at = LLVMBuildAdd(e->builder, at, LLVMBuildMul(e->builder, from, kernel_i64(e, bytes), ""), "");
    LLVMValueRef missing = LLVMBuildAnd(e->builder, LLVMBuildNeg(e->builder, at, ""),
                                        kernel_i64(e, KERNEL_LINE_BYTES - 1), "");
    return LLVMBuildUDiv(e->builder, missing, kernel_i64(e, bytes), "");
}

static LLVMValueRef build_streaming_test(struct kernel_emitter *e, LLVMValueRef firings,
                                         LLVMValueRef least)
{
    LLVMValueRef past = LLVMGetParam(e->body->llvm, KERNEL_PARAM_PAST_CACHES);
    LLVMValueRef asked = LLVMBuildICmp(e->builder, LLVMIntNE, past, kernel_i64(e, 0), "");
    LLVMValueRef many = LLVMBuildICmp(e->builder, LLVMIntUGE, firings, least, "");
    return LLVMBuildAnd(e->builder, asked, many, "streams");
}

/* From a line on, whole lines; then others may read them.  Returns where they end. */
static LLVMValueRef emit_lines(struct kernel_emitter *e, uint32_t width, LLVMValueRef from,
                               LLVMValueRef to)
{
    LLVMValueRef firings = LLVMBuildSub(e->builder, to, from, "");
    LLVMValueRef whole =
        LLVMBuildAnd(e->builder, firings, kernel_i64(e, ~(uint64_t)(width - 1)), "");
    LLVMValueRef end = LLVMBuildAdd(e->builder, from, whole, "lines.end");
    e->body->streamed = true;
    kernel_emit_firings(e, from, end, width);
    e->body->streamed = false;
    LLVMBuildFence(e->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
    return end;
}

LLVMValueRef kernel_emit_streamed(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to)
{
    struct kernel_body *body = e->body;
    const bool *varying = body->varying;
    const struct kernel_loops *loops = body->loops;
    struct kernel_lane_plan plan;
    if (!kernel_plan_stream(e, body->kernel, &plan)) return from;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef stream = kernel_block(e, "stream"), end = kernel_block(e, "stream.end");
    LLVMValueRef ahead = firings_to_line(e, from);
    LLVMValueRef least = LLVMBuildAdd(e->builder, ahead, kernel_i64(e, plan.widths[0]), "");
    LLVMValueRef wanted = build_streaming_test(e, LLVMBuildSub(e->builder, to, from, ""), least);
    LLVMBuildCondBr(e->builder, wanted, stream, end);
    kernel_position(e, stream);
    body->varying = plan.varying;
    body->loops = plan.loops;
    LLVMValueRef line = LLVMBuildAdd(e->builder, from, ahead, "line");
    kernel_emit_firings(e, from, line, 0);
    LLVMValueRef streamed = emit_lines(e, plan.widths[0], line, to);
    body->varying = varying;
    body->loops = loops;
    LLVMBasicBlockRef after = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
    LLVMValueRef rest = LLVMBuildPhi(e->builder, e->i64, "rest");
    LLVMAddIncoming(rest, &from, &before, 1);
    LLVMAddIncoming(rest, &streamed, &after, 1);
    return rest;
}
