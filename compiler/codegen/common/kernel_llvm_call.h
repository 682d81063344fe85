/* SPDX-License-Identifier: MIT */
/* kernel_llvm_call: calls of functions, and their results. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_CALL_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_CALL_H

#include "compiler/codegen/common/kernel_llvm.h"

/* The result of a scalar type; an array is written to `to`.  Void: NULL. */
LLVMValueRef kernel_call(struct kernel_emitter *e, const struct kx *x, LLVMValueRef to);
/* Ends a function with that value (NULL: none). */
void kernel_return(struct kernel_emitter *e, LLVMValueRef value);

#endif
