/* SPDX-License-Identifier: MIT */
/* kernel_nans: canonical NaNs. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_NANS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_NANS_H

#include "compiler/codegen/common/kernel_llvm.h"

/* A scalar that is appended to an out-port of the pipeline: itself, or bits of the canonical NaN. */
LLVMValueRef kernel_canonical_packet(struct kernel_emitter *e, LLVMValueRef value,
                                     enum scalar_type scalar);
/* Are the packets that a batch appends to that out-port made canonical when the batch ends? */
bool kernel_canonical_later(const struct kernel_emitter *e, const struct kernel *kernel,
                            uint32_t port);
/* If so: makes that number of packets (i64) canonical, from the beginning of the batch's window. */
void kernel_canonical_window(struct kernel_emitter *e, uint32_t port, LLVMValueRef packets);

#endif
