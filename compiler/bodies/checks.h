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

struct kernel_checks {
    uint32_t appends_proven, appends_checked, accesses_proven, accesses_checked;
    VEC(struct span) checked; /* their places */
};

struct kernel_checks checks_of_kernel(struct arena *arena, const struct kernel *kernel);
/* A line for each kernel that has some, or that all is proven. */
void checks_print(FILE *to, const struct sources *sources, const struct graph *graph);

#endif
