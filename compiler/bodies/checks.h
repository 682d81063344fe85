/* SPDX-License-Identifier: MIT */
/*
 * checks: which appends and accesses of a kernel keep a check while running.
 * Requires amplify_infer_rates, range_check_bodies.
 *
 * Counted are the places of the source, in the body, `finish`, `init` and the functions that they
 * call, once each: appends, and indices that are no constants.
 */
#ifndef PIPEC_CHECKS_H
#define PIPEC_CHECKS_H

#include <stdio.h>

#include "compiler/ir/graph.h"

/* Whether an access is checked, where the compilation has `bounds_checks` or not: an index below `bound`; a row or a
 * column of a window, counted from the centre of `side` of them. */
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
/* A line for each kernel that has some, or that all is proven. */
void checks_print(FILE *to, const struct sources *sources, const struct graph *graph);

#endif
