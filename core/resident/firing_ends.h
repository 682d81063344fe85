/* SPDX-License-Identifier: MIT */
/*
 * firing_ends: where one firing of a batch begins in the windows of the batch.
 *
 * Allocation: none.  Errors: none.
 */
#ifndef CORE_RESIDENT_FIRING_ENDS_H
#define CORE_RESIDENT_FIRING_ENDS_H

#include "core/core.h"
#include "lang/kernel_abi.h"

/* Places of one firing: room for one of each input and output of the stage.  They may be the batch's own. */
struct core_firing_ends {
    const void **in;
    void **out;
    struct kernel_window *windows; /* not used where the batch has none */
};

/* Of the firing of that number in the batch.  Out-windows have room for the maximum of each firing (lang/gpu_abi.h). */
void core_place_firing(const struct core *core, const struct core_stage *stage,
                       const struct kernel_batch *batch, uint64_t firing,
                       const struct core_firing_ends *ends);

#endif
