/* SPDX-License-Identifier: MIT */
/*
 * is_sequential: do the stages of a pipeline take turns, so that never two of them are ready at once?
 *
 * Then nothing is gained by sub-devices of their own: each can have the whole device, and the
 * launches of an iteration fit a few packets (reference_entries.h).  So it is with a loop through
 * which one set of packets goes round.
 *
 * Decided by playing one iteration, buffers as long as one likes and ports always willing: while
 * exactly one node is ready, and that for one firing, there is one way to go on, so what one
 * iteration shows holds for ever.  More room than that could only let fewer be ready.
 *
 *   Requires  repetitions; exact rates are all that is looked at, with one phase and no 2-D window:
 *             else the answer is no.
 *   Work      at most STEPS firings, each O(ends of its node); beyond that the answer is no.
 *   Fails     never.
 */
#ifndef PIPEC_TURNS_H
#define PIPEC_TURNS_H

#include "compiler/ir/graph.h"

bool plan_takes_turns(struct arena *scratch, const struct graph *graph);

#endif
