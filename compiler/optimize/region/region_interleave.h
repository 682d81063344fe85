/* SPDX-License-Identifier: MIT */
/*
 * region_interleave: several in-ends of a region as one.
 *
 * A node before the region takes a packet of each of them and appends these packets, in the order of
 * the in-ends.  So they are at their end together, where the first of them is: what a `finish` then finds
 * left is the same of each.
 */
#ifndef PIPEC_REGION_INTERLEAVE_H
#define PIPEC_REGION_INTERLEAVE_H

#include "compiler/optimize/region/region.h"
#include "compiler/optimize/region/region_replace.h"

/* Sets `before` and `between` of the replacement, whose node is region_kernel's.
 * Requires  region->interleaved. */
void region_interleave(struct region_space *space, const struct region *region,
                       struct replacement *replacement);

#endif
