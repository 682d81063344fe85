/* SPDX-License-Identifier: MIT */
/* kernel_ends: the windows of a kernel's ends, and the code that is emitted for each end. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_ENDS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_ENDS_H

#include "compiler/codegen/common/kernel_llvm.h"

/* So many that their windows are found in arrays, and what is done for each is a loop. */
bool kernel_has_many_ends(const struct kernel *kernel);
/* Emits that code for each element of a port, or a loop of it; `element` is an i64. */
typedef void (*kernel_end_code)(struct kernel_emitter *e, LLVMValueRef element, void *data);
void kernel_each_end(struct kernel_emitter *e, uint64_t arity, kernel_end_code emit, void *data);
/* Stores 0 in each item of an alloca of `arity` i64. */
void kernel_zero_ends(struct kernel_emitter *e, uint64_t arity, LLVMValueRef array);
/* At setup: an array of the windows of a port; `changes`: one that may be written. */
LLVMValueRef kernel_bind_windows(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kernel_port_state *state, const char *name,
                                 bool changes);
/* The window of an element as the batch begins: without many ends a constant. */
LLVMValueRef kernel_first_window(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kernel_port_state *state, LLVMValueRef element);

#endif
