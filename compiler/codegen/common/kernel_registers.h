/* SPDX-License-Identifier: MIT */
/* kernel_registers: vectors as whole registers of the target. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_REGISTERS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_REGISTERS_H

#include "compiler/codegen/common/kernel_llvm.h"

enum { KERNEL_REGISTERS_MAX = 8 };
/* How many registers of so many bits a vector of f32 or f64 takes, a power of two; 0: it is no such vector, or does
 * not fill them, or takes more than KERNEL_REGISTERS_MAX. */
unsigned kernel_float_registers(LLVMTypeRef type, unsigned register_bits);
LLVMValueRef kernel_register_of(struct kernel_emitter *e, LLVMValueRef vector, unsigned registers,
                                unsigned index);
/* Joins the registers to a vector.  Overwrites the array. */
LLVMValueRef kernel_join_registers(struct kernel_emitter *e, LLVMValueRef *registers,
                                   unsigned count);
/* A call of an intrinsic of the target. */
LLVMValueRef kernel_target_call(struct kernel_emitter *e, const char *name, LLVMValueRef *arguments,
                                unsigned count);

#endif
