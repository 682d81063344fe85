/* SPDX-License-Identifier: MIT */
/* kernel_pad: batches that do not fill a block of lanes. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_PAD_H
#define COMPILER_CODEGEN_COMMON_KERNEL_PAD_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Is that worth it for short batches of a kernel that is executed in lanes? */
bool kernel_pads(const struct kernel_emitter *e, const struct kernel *kernel);
/* In an exported entry: batches of 2 firings and more, below `lanes`, are executed as one of `lanes` by the internal
 * function.  Goes on where the others are. */
void kernel_emit_padded(struct kernel_emitter *e, const struct kernel *kernel,
                        LLVMValueRef internal, const LLVMValueRef *args, unsigned arg_count,
                        uint32_t lanes);

#endif
