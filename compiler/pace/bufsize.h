/* SPDX-License-Identifier: MIT */
/*
 * bufsize: depths of buffers.
 *
 * Requires deadlock_check without error.
 * Fills    depth_packets and depth_min_packets of undeclared buffers, depth_reason of all,
 *          graph->memory_bytes.  The depths are sufficient for an infinite schedule, including the
 *          packets that `finish` appends.
 * Fails    RULE_BUFFER_BELOW_BURST, RULE_INITIAL_BEYOND_DEPTH, RULE_DEPTH_TOO_SMALL (which node
 *          waits for which, and the minimum depth that works), RULE_MEMORY_LIMIT,
 *          RULE_LIVENESS_UNDECIDED.
 */
#ifndef PIPEC_BUFSIZE_H
#define PIPEC_BUFSIZE_H

#include "compiler/ir/graph.h"

void bufsize_assign(struct compile *cx, struct graph *graph);

#endif
