/* SPDX-License-Identifier: MIT */
/* kernel_llvm_builtin: built-in functions: exact, or correctly rounded. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_BUILTIN_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_BUILTIN_H

#include "compiler/codegen/common/kernel_llvm.h"

LLVMValueRef kernel_builtin(struct kernel_emitter *e, const struct kx *x);
/* One element of a call on vectors, whose arguments have these elements. */
LLVMValueRef kernel_builtin_item(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args);
/* The bits of a float, those of any NaN replaced by the canonical NaN's. */
LLVMValueRef kernel_canonical_bits(struct kernel_emitter *e, LLVMValueRef value,
                                   enum scalar_type scalar);
LLVMValueRef kernel_select(struct kernel_emitter *e, LLVMValueRef condition, LLVMValueRef yes,
                           LLVMValueRef no);

#endif
