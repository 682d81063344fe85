/* SPDX-License-Identifier: MIT */
/*
 * region_rewrite: replaces chosen regions by nodes, and records the work that this leaves out.
 */
#ifndef PIPEC_REGION_REWRITE_H
#define PIPEC_REGION_REWRITE_H

#include "compiler/optimize/region/dead_work.h"
#include "compiler/optimize/region/region.h"

struct region_choice {
    const struct region *region; /* a node is in at most one chosen region */
    uint64_t before;             /* operations of an iteration if each member executes by itself */
};

/* The new graph, its `reductions` those of the old one and the new ones; NULL if nothing is chosen. */
struct graph *region_rewrite(struct region_space *space, const struct region_choice *choices,
                             size_t count);

#endif
