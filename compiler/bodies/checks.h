/* SPDX-License-Identifier: MIT */
/*
 * checks: which appends and accesses of a kernel are checked at run time.
 * Requires amplify_infer_rates, range_check_bodies.
 *
 * It counts places of the source (appends, and indices that are not constant) in the body, `finish`,
 * `init` and the functions that they call, each place once.
 */
#ifndef PIPEC_CHECKS_H
#define PIPEC_CHECKS_H

#include <stdio.h>

#include "compiler/ir/graph.h"

/* Whether an access is checked, in a compilation with or without `bounds_checks`.  `checks_index`: an index that must
 * be below `bound`.  `checks_offset`: a row or column of a window with `side` of them, counted from the centre. */
bool checks_index(bool bounds_checks, const struct kx *index, enum access_check check,
                  uint64_t bound);
bool checks_offset(bool bounds_checks, const struct kx *offset, enum access_check check,
                   uint32_t side);
/* Whether a constant offset is inside of the window. */
bool checks_is_within(const struct kx *offset, uint32_t side);
/* An integer division; and one whose divisor may be 0. */
bool checks_divides(const struct kx *x);
bool checks_divides_by_zero(const struct kx *x);
/* Whether the divisor of an integer division is no constant other than 0. */
bool checks_divisor_varies(const struct kx *x);

struct kernel_checks {
    uint32_t appends_proven, appends_checked, accesses_proven, accesses_checked;
    VEC(struct span) checked; /* their places */
};

struct kernel_checks checks_of_kernel(struct arena *arena, const struct kernel *kernel);
/* Prints a line for each kernel that has checks, or a line that all is proven. */
void checks_print(FILE *to, const struct sources *sources, const struct graph *graph);

#endif
