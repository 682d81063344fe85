/* SPDX-License-Identifier: MIT */
/*
 * kernel_origin: in debug mode a kernel stores, beside each packet that it writes, which statement
 * wrote it (kernel_batch.origins): 1 + the statement's number in PLACES.  Its number among the packets
 * of the window follows from its address, wherever the firing's own window begins.
 */
#include "compiler/codegen/common/kernel_origin.h"

#include "compiler/codegen/common/kernel_ends.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/source_map.h"

static bool is_origin_told(const struct kernel_emitter *e)
{
    return e->cx->options.debug_mode;
}

void kernel_origins_begin(struct kernel_emitter *e, uint32_t port)
{
    struct kernel_body *body = e->body;
    struct kernel_port_state *out = &body->out[port];
    if (!is_origin_told(e)) return;
    out->begins = kernel_bind_windows(e, &body->kernel->out[port], out, "begins", false);
}

/* Packets between the beginning of the window and this one. */
static LLVMValueRef number_of(struct kernel_emitter *e, uint32_t port, LLVMValueRef element,
                              LLVMValueRef packet)
{
    const struct kernel_port *out = &e->body->kernel->out[port];
    LLVMValueRef slot =
        kernel_array_item(e, e->pointer, out->arity, e->body->out[port].begins, element);
    LLVMValueRef begin = LLVMBuildLoad2(e->builder, e->pointer, slot, "begin");
    LLVMValueRef bytes = LLVMBuildSub(e->builder, LLVMBuildPtrToInt(e->builder, packet, e->i64, ""),
                                      LLVMBuildPtrToInt(e->builder, begin, e->i64, ""), "");
    return LLVMBuildExactUDiv(e->builder, bytes, kernel_i64(e, out->type->width_bytes), "number");
}

void kernel_origin_store(struct kernel_emitter *e, uint32_t port, LLVMValueRef element,
                         LLVMValueRef packet, struct span span)
{
    uint32_t place = is_origin_told(e) ? places_add(e->places, span) : CONTAINER_NONE;
    if (place == CONTAINER_NONE) return;
    LLVMValueRef origins = LLVMGetParam(e->body->llvm, KERNEL_PARAM_ORIGINS);
    LLVMBasicBlockRef wanted = kernel_block(e, "origin"), end = kernel_block(e, "origin.end");
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, origins, ""), end, wanted);
    kernel_position(e, wanted);
    LLVMValueRef output = LLVMBuildNUWAdd(e->builder, element,
                                          kernel_i64(e, e->body->out[port].first_output), "output");
    LLVMValueRef slot =
        LLVMBuildInBoundsGEP2(e->builder, e->pointer, origins, &output, 1, "origins.of");
    LLVMValueRef window = LLVMBuildLoad2(e->builder, e->pointer, slot, "origins.window");
    LLVMValueRef number = number_of(e, port, element, packet);
    LLVMValueRef to = LLVMBuildInBoundsGEP2(e->builder, e->i32, window, &number, 1, "");
    LLVMBuildStore(e->builder, LLVMConstInt(e->i32, (unsigned long long)place + 1, 0), to);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}
