/* SPDX-License-Identifier: MIT */
/* kernel_gather: loads of lanes from unrelated addresses. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_GATHER_H
#define COMPILER_CODEGEN_COMMON_KERNEL_GATHER_H

#include "compiler/codegen/common/kernel_llvm.h"

/* For each lane the item at its pointer, which is aligned as LLVM expects of its type.  `invariant`: never written while
 * the body runs. */
LLVMValueRef kernel_gather(struct kernel_emitter *e, LLVMTypeRef item, LLVMValueRef pointers,
                           bool invariant);
/* Replaces the calls of kernel_gather by loads.  Requires: LLVM has optimised the module. */
void kernel_expand_gathers(struct kernel_emitter *e);

#endif
