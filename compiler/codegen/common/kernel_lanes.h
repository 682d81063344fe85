/* SPDX-License-Identifier: MIT */
/* kernel_lanes: which kernels execute consecutive firings in the lanes of vectors. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LANES_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LANES_H

#include "compiler/codegen/common/kernel_llvm.h"

struct kernel_lane_plan {
    uint32_t widths[2];               /* lanes of the first and second vector loop; 0: none */
    uint32_t weave;                   /* parts of the first one's lanes, see kernel_weave.c */
    bool pairs;                       /* two parts, see kernel_pairs.c */
    const bool *varying;              /* by variable->index */
    const struct kernel_loops *loops; /* that may be written out */
    bool repeats; /* a firing may be executed twice: the second time it does the same */
    uint32_t
        padded; /* batches of fewer firings are executed as one of so many: kernel_pad.c; 0: none are */
};
/* Whether, and how, consecutive firings of the kernel are executed in the lanes of vectors. */
bool kernel_plan_lanes(struct kernel_emitter *e, const struct kernel *kernel,
                       struct kernel_lane_plan *plan);
/* The same as kernel_plan_lanes for a kernel of a few operations, which takes and gives packet by packet: for firings whose output is
 * written past the caches. */
bool kernel_plan_stream(struct kernel_emitter *e, const struct kernel *kernel,
                        struct kernel_lane_plan *plan);
/* Rounds of a loop that counts from a constant to a constant; 0: it is of another form, or has many. */
uint64_t kernel_rounds_of(const struct ks *loop);
/* The varying variables of a function whose scalar arguments vary, or NULL where it is not
 * admitted. */
const bool *kernel_function_lanes(struct kernel_emitter *e, const struct function *f);

#endif
