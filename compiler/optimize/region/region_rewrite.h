/* SPDX-License-Identifier: MIT */
/*
 * region_rewrite: the graph with the regions that were chosen as nodes, and what that leaves out.
 */
#ifndef PIPEC_REGION_REWRITE_H
#define PIPEC_REGION_REWRITE_H

#include "compiler/optimize/region/dead_work.h"
#include "compiler/optimize/region/region.h"

struct region_choice {
    const struct region *region; /* no node is in two */
    uint64_t before;             /* operations of an iteration, each member by itself */
};

/* The new graph, its `reductions` filled behind those of the old one; NULL where nothing is chosen. */
struct graph *region_rewrite(struct region_space *space, const struct region_choice *choices,
                             size_t count);

#endif
