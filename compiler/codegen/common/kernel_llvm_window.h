/* SPDX-License-Identifier: MIT */
/* kernel_llvm_window: 2-D windows: runs of firings within a row, and borders. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_WINDOW_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_WINDOW_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Before the firings of a batch, where the kernel has 2-D windows. */
void kernel_windows_begin(struct kernel_emitter *e);
/* Some window is larger than the packet consumed. */
bool kernel_has_borders(const struct kernel *kernel);
/* The firings of a batch from `first` on, up to `count`. */
void kernel_emit_rows(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                      LLVMValueRef first, LLVMValueRef count);
struct kernel_address kernel_window_address(struct kernel_emitter *e, const struct kx *x);

#endif
