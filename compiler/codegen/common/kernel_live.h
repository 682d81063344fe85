/* SPDX-License-Identifier: MIT */
/* kernel_live: the memory that a body's local variables need at one time. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LIVE_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LIVE_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Most bytes of those locals, by variable->index, that are alive at one time. */
uint64_t kernel_live_bytes(struct arena *scratch, const struct ks *first, const bool *counted,
                           uint32_t local_count);

#endif
