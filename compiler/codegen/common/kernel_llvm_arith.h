/* SPDX-License-Identifier: MIT */
/* kernel_llvm_arith: operators and conversions. Integers wrap. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_ARITH_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_ARITH_H

#include "compiler/codegen/common/kernel_llvm.h"

LLVMValueRef kernel_binary(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                           LLVMValueRef left, LLVMValueRef right, const struct kx *at);
LLVMValueRef kernel_compare(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                            LLVMValueRef left, LLVMValueRef right);
LLVMValueRef kernel_negate(struct kernel_emitter *e, const struct type *type, LLVMValueRef value);
LLVMValueRef kernel_convert(struct kernel_emitter *e, LLVMValueRef value, const struct type *from,
                            const struct type *to);
/* The value with the flags of --fast-math where it is an instruction that takes them. */
LLVMValueRef kernel_relaxed(struct kernel_emitter *e, LLVMValueRef value);

#endif
