/* SPDX-License-Identifier: MIT */
/*
 * region_report: packets that a region leaves over.
 *
 * The runtime does not count the packets that `finish` sees as left over.  So the `finish` of a region's kernel says itself
 * how many packets are left over, if its members would have left some as separate stages: those past the history, which
 * are fewer than an iteration consumes, or the history if only members inside have unused packets.  Without any
 * iteration these are all packets.
 */
#ifndef PIPEC_REGION_REPORT_H
#define PIPEC_REGION_REPORT_H

#include "compiler/ir/expr_build.h"
#include "compiler/optimize/region/region.h"

/* Appends the statements to `finish`.  Requires: one in-port, with any number of packets left. */
void region_report(const struct expr_build *t, struct region_space *space,
                   const struct region *region, struct build_list *finish);

#endif
