/* SPDX-License-Identifier: MIT */
/*
 * region_interleave: makes one in-end of several in-ends of a region.
 *
 * A node before the region reads a packet of each in-end and appends these packets in the order of the in-ends.
 * So the in-ends end together, with the shortest one, and `finish` finds the same number of packets of each.
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
