/* SPDX-License-Identifier: MIT */
/* kernel_llvm_half: conversions of f16 and bf16, which are bit patterns in registers. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_HALF_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_HALF_H

#include "compiler/codegen/common/kernel_llvm.h"

LLVMValueRef kernel_half_to_f32(struct kernel_emitter *e, LLVMValueRef half, enum scalar_type from);
LLVMValueRef kernel_f32_to_half(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type to);
/* f64 to f32 by rounding to odd, so that rounding again gives the correctly rounded result. */
LLVMValueRef kernel_round_to_odd(struct kernel_emitter *e, LLVMValueRef value);

#endif
