/* SPDX-License-Identifier: MIT */
/*
 * static_part: the instructions of a static schedule: guards, `run`, `fence` (lang/scheduler.md).
 *
 * A guard asks about one end of one stage, or about a source, and never waits for completions.  If a guard needs
 * packets, the host fills an open in-port first, or the packets that have arrived at an eager one are taken.  `run`
 * dispatches a number of firings.  The verifier has proven them possible once the launches in flight have completed.
 * So `run` makes no search: it compares the ends of the stage with the packets and the room that the firings need,
 * waits for completions if necessary, and claims the windows.
 *
 * The proof is not trusted: firings that are not possible are refused (CORE_BAD_RUN) before anything is claimed.
 *
 * Allocation: none.  Thread-safety: the scheduler's thread.
 */
#ifndef CORE_STATIC_PART_H
#define CORE_STATIC_PART_H

#include "core/outcome.h"

/* Guards: NEXT if they hold.  Has the stage not ended, and its input `end` so many packets that no firing in flight
 * consumes? */
enum core_outcome core_has_packets(struct core *c, uint32_t index, uint32_t end, uint32_t packets);

/* Has the stage not ended, and its output room for so many packets? */
enum core_outcome core_has_room(struct core *c, uint32_t index, uint32_t output, uint32_t packets);

/* May the stage, which no in-port feeds, fire so many more times? */
enum core_outcome core_goes_on(struct core *c, uint32_t index, uint32_t firings);

/* Dispatches so many firings of the stage. */
enum core_outcome core_run(struct core *c, uint32_t index, uint32_t firings);

/* Enqueues all open packets and waits until nothing is in flight. */
enum core_outcome core_fence(struct core *c);

#endif
