/* SPDX-License-Identifier: MIT */
/*
 * cost_regions: finds the regions of a body (cost.h).
 *
 * Requires the plans of all functions that the body calls; the marks of divergence.h.
 * Fills    ks->region, ->round_region, ->step_region, kx->regions of the body.
 * Method   One walk over the tree in order of execution.  A choice whose sides neither call nor
 *          assign costs both sides.  `stop` is not a jump here: a firing that stops does not count.
 *          In a kernel that launches, a region ends with a statement that launches or asks for an
 *          event, and a loop with such a statement has regions of its own.  So at each launch the
 *          regions entered so far cost exactly the executed code.  After COST_COUNTERS_MAX regions
 *          the last counter takes the cycles of all further ones, so that a warp costs the maximum
 *          of their sums.
 */
#ifndef PIPEC_COST_REGIONS_H
#define PIPEC_COST_REGIONS_H

#include "compiler/bodies/cost.h"
#include "compiler/bodies/cost_table.h"

/* `kernel` NULL: of a function.  `in_items`: the body is executed by work-items. */
struct cost_plan *cost_find_regions(struct compile *cx, const struct devdesc_costs *costs,
                                    const struct kernel *kernel, struct ks *body, bool in_items);

/* Rounds of `for (TYPE i = constant; i < constant; i += constant)` (also <=, >, >=, !=; -=) where
 * nothing else assigns i and no round can leave the loop; false: not known. */
bool cost_known_rounds(const struct ks *loop, uint64_t *rounds);

#endif
