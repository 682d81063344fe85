/* SPDX-License-Identifier: MIT */
/* kernel_weave: which firings are neighbours in the registers of a vector. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_WEAVE_H
#define COMPILER_CODEGEN_COMMON_KERNEL_WEAVE_H

#include "compiler/codegen/common/kernel_llvm.h"

/* In how many parts the first lanes of the plan are woven; 1: they are not. */
uint32_t kernel_weave(struct kernel_emitter *e, const struct kernel *kernel,
                      const struct kernel_lane_plan *plan);
/* Whether they are woven in pairs of bytes. */
bool kernel_weaves_pairs(struct kernel_emitter *e, const struct kernel *kernel,
                         const struct kernel_lane_plan *plan);

#endif
