/* SPDX-License-Identifier: MIT */
/*
 * is_sequential: do the stages of a pipeline take turns, so that never two of them are ready at once?
 *
 * Then sub-devices gain nothing: each stage can have the whole device, and the launches of an iteration fit a few packets
 * (reference_entries.h).  An example is a loop through which one set of packets passes.
 *
 * One iteration is simulated, with unbounded buffers and ports that never make a stage wait.  While exactly one node is
 * ready, and for one firing, there is only one way to go on.  So the result of one iteration holds for all.  With less
 * room, at most fewer nodes are ready.
 *
 *   Requires  repetitions.  With phases, bounded rates or a 2-D window the answer is no.
 *   Work      at most STEPS firings, each O(ends of its node); beyond that the answer is no.
 *   Fails     never.
 */
#ifndef PIPEC_IS_SEQUENTIAL_H
#define PIPEC_IS_SEQUENTIAL_H

#include "compiler/ir/graph.h"

bool plan_takes_turns(struct arena *scratch, const struct graph *graph);

#endif
