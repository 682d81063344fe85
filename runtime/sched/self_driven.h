/* SPDX-License-Identifier: MIT */
/*
 * self_driven: whether any reader still takes the packets of a stage that no in-port feeds.
 *
 * Such a stage could fire for ever, so it ends once no reader takes its packets.  Stages on a cycle read each other's
 * packets.  So readers are counted for each strongly connected *component* of these stages: the *takers* are readers
 * outside of the component, out-ports, and stages of the component that have no outputs.
 *
 * Requires: stages with `fed`; linked ends.  Thread-safety: the scheduler's thread.
 * Allocation: none that outlasts a call.
 */
#ifndef RUNTIME_SCHED_SELF_DRIVEN_H
#define RUNTIME_SCHED_SELF_DRIVEN_H

#include "runtime/sched/sched.h"

/* Finds the component of each stage that is not fed, and counts its takers.  Marks components without takers for
 * `ends`.  False: out of memory. */
bool prt_self_driven_find_components(struct prt_sched *s);
/* Is the stage not fed, and has its component no takers? */
bool prt_self_driven_is_unwanted(const struct prt_sched *s, const struct prt_stage *stage);
/* `reader` (NULL: the host) takes no more packets from the buffer.  Called at most once for each of them.  If the
 * component of the writer has no takers any more, marks its stages for `ends`. */
void prt_self_driven_leave(struct prt_sched *s, const struct prt_buffer *buffer,
                           const struct prt_stage *reader);

/* Is the buffer on a cycle: do packets of its readers, directly or not, reach its writer?  Stages may be fed or not.
 * False if memory runs out. */
bool prt_self_driven_closes_cycle(const struct prt_sched *s, const struct prt_buffer *buffer);

#endif
