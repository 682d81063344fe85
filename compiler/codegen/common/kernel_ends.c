/* SPDX-License-Identifier: MIT */
/*
 * The ends of a kernel: their windows, and what is done for each of them.
 *
 * Each window is a separate parameter. Its attributes say that it overlaps no other, and the code for each end is
 * unrolled. LLVM's time grows with the square of the number of parameters. So a kernel of more than ENDS_APART ends
 * finds its windows in the arrays of its batch, and the code for its ends is a loop.
 */
#include "compiler/codegen/common/kernel_ends.h"

#include <string.h>

#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

enum { ENDS_APART = 1024 };

bool kernel_has_many_ends(const struct kernel *kernel)
{
    uint64_t ins = kernel_end_count(kernel->in, kernel->in_count);
    return ins + kernel_end_count(kernel->out, kernel->out_count) > ENDS_APART;
}

void kernel_each_end(struct kernel_emitter *e, uint64_t arity, kernel_end_code emit, void *data)
{
    if (!e->body->many_ends || arity == 1) {
        for (uint64_t n = 0; n < arity; n++)
            emit(e, kernel_i64(e, n), data);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "ends"), end = kernel_block(e, "ends.end");
    LLVMValueRef none = kernel_i64(e, 0);
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef element = LLVMBuildPhi(e->builder, e->i64, "element");
    emit(e, element, data);
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, element, kernel_i64(e, 1), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, kernel_i64(e, arity), "");
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMAddIncoming(element, &none, &before, 1);
    LLVMAddIncoming(element, &next, &latch, 1);
    kernel_position(e, end);
}

static void store_zero(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    LLVMValueRef *array = data;
    uint64_t length = LLVMGetArrayLength2(LLVMGetAllocatedType(*array));
    LLVMBuildStore(e->builder, kernel_i64(e, 0),
                   kernel_array_item(e, e->i64, length, *array, element));
}

void kernel_zero_ends(struct kernel_emitter *e, uint64_t arity, LLVMValueRef array)
{
    if (e->body->many_ends && arity > 1) {
        LLVMValueRef bytes = kernel_i64(e, arity * sizeof(uint64_t));
        LLVMBuildMemSet(e->builder, array, LLVMConstInt(e->i8, 0, 0), bytes, _Alignof(uint64_t));
    } else {
        kernel_each_end(e, arity, store_zero, &array);
    }
}

/* An array of them: LLVM resolves constant elements to the parameters. */
static LLVMValueRef copy_params(struct kernel_emitter *e, const struct kernel_port *port,
                                const struct kernel_port_state *state, const char *name)
{
    struct kernel_body *body = e->body;
    LLVMTypeRef type = LLVMArrayType2(e->pointer, port->arity);
    LLVMValueRef array = kernel_alloca(e, type, name);
    for (uint64_t i = 0; i < port->arity; i++) {
        LLVMValueRef param = LLVMGetParam(body->llvm, state->first_param + (unsigned)i);
        LLVMSetValueName2(param, port->name, strlen(port->name));
        LLVMValueRef indices[] = {kernel_i64(e, 0), kernel_i64(e, i)};
        LLVMValueRef slot = LLVMBuildInBoundsGEP2(body->setup, type, array, indices, 2, "");
        LLVMBuildStore(body->setup, param, slot);
    }
    return array;
}

LLVMValueRef kernel_bind_windows(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kernel_port_state *state, const char *name,
                                 bool changes)
{
    if (state->windows == NULL) return copy_params(e, port, state, name);
    if (!changes) return state->windows;
    LLVMValueRef array = kernel_alloca(e, LLVMArrayType2(e->pointer, port->arity), name);
    LLVMBuildMemCpy(e->body->setup, array, _Alignof(void *), state->windows, _Alignof(void *),
                    kernel_i64(e, port->arity * sizeof(void *)));
    return array;
}

LLVMValueRef kernel_first_window(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kernel_port_state *state, LLVMValueRef element)
{
    if (state->windows == NULL) {
        unsigned n = (unsigned)LLVMConstIntGetZExtValue(element);
        return LLVMGetParam(e->body->llvm, state->first_param + n);
    }
    LLVMValueRef slot = kernel_array_item(e, e->pointer, port->arity, state->windows, element);
    return LLVMBuildLoad2(e->builder, e->pointer, slot, port->name);
}
