/* SPDX-License-Identifier: MIT */
/*
 * launch: launches of stages, and their completions.
 *
 * Functions that return bool return false if the run has failed (struct core_failure).
 *
 * Requires: tables and an environment.  Thread-safety: the scheduler's thread.  Allocation: none.
 */
#ifndef CORE_LAUNCH_H
#define CORE_LAUNCH_H

#include "core/environment.h"

/* Sends an event to the environment.  False: it ends the run. */
static inline bool core_send(struct core *c, enum core_event event, uint32_t stage, bool finish)
{
    const struct core_environment *e = c->environment;
    return CORE_ENTRY(e, event)(e->context, event, stage, finish) ||
           core_fail(c, CORE_STOPPED, stage, 0);
}

/* Advances the device's clock by the cycles of the instructions since the last call. */
void core_pass_time(struct core *c);

/* Computes what the ends of a stage see, free and append in so many firings, the first of which has number `first`.  0
 * firings see nothing of meaning.  The stage keeps it, if it is the same for any `first`. */
void core_measure(struct core *c, struct core_stage *stage, uint64_t first, uint64_t firings);

/* Launches so many firings of a running, idle stage.  Requires: it is measured for them, and its ends admit them. */
bool core_launch(struct core *c, uint32_t index, uint64_t firings);
/* Launches the selected stage, and selects none. */
bool core_dispatch(struct core *c);
/* Launches the finish of a stage, whose outputs have room for it. */
bool core_launch_finish(struct core *c, uint32_t index);

/* Waits for the earliest completions and delivers all of them, even after a failure.  `until_arrival`: the wait ends
 * when packets arrive that a stage lacks. */
bool core_reap(struct core *c, bool until_arrival);
/* Enqueues the open packets of idle queues and reaps.  Requires: a launch is in flight. */
bool core_await(struct core *c);
/* Enqueues all open packets and reaps until nothing is in flight, even after a failure.  False: the host has to drain
 * out-ports; call it again then. */
bool core_settle(struct core *c);

/* Frees the oldest packets of a reader.  `detach`: frees all of them, and the reader detaches. */
void core_free_packets(struct core *c, const struct core_input *input, uint64_t packets,
                       bool detach);
/* Ends the claim of an output that is not in order: commits so many packets. */
void core_commit_output(struct core *c, const struct core_output *output, uint64_t packets);

#endif
