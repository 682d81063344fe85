/* SPDX-License-Identifier: MIT */
/* kernel_launch: launches of child kernels, and their results. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LAUNCH_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LAUNCH_H

#include "compiler/codegen/common/kernel_llvm.h"

void kernel_launch_statement(struct kernel_emitter *e, const struct ks *s);
/* item.group or item.groups. */
LLVMValueRef kernel_group_number(struct kernel_emitter *e, uint32_t member);
LLVMValueRef kernel_done(struct kernel_emitter *e, const struct kx *x);

#endif
