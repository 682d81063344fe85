/* SPDX-License-Identifier: MIT */
/*
 * coalesce: how many lines of memory the lanes of a warp touch when they access packets together
 * (lang/time.md, "Lines").
 *
 * The lanes are consecutive firings, or the work-items of a firing.  From one lane to the next, the place of an access moves on by
 * the packets that a firing consumes or appends, or by the factor of `item.x` in the index.  An index that depends on
 * data may have any of its places in each lane.
 *
 * Requires range_check_bodies.  Fills x->lines and s->lines; on a device without lines they stay 0.
 * Thread-safety: a compilation at a time.  Allocation: scratch, freed.
 */
#ifndef PIPEC_COALESCE_H
#define PIPEC_COALESCE_H

#include "compiler/ir/graph.h"
#include "lang/devdesc.h"

void coalesce_accesses(struct kernel *kernel, const struct devdesc *device);

/* Lines of `line` bytes that hold a packet of `width` bytes for each of `lanes` lanes, the first of which is at the begin
 * of a line, and each `step` bytes after the one before. */
uint64_t coalesced_lines(uint64_t lanes, uint64_t step, uint64_t width, uint64_t line);

#endif
