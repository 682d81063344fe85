/* SPDX-License-Identifier: MIT */
/*
 * self_driven: who wants what a stage produces, where no in-port feeds it.
 *
 * A stage that no in-port feeds might go on for nobody without an end, so it ends once nobody takes
 * its packets.  The stages of a circle take each other's; only what is outside of the circle counts.
 *
 * Requires  stages with `fed`, linked ends.
 * Fills     circle and component_next of each stage that is not fed, takers of each circle.
 * Fails     out of memory: false.
 */
#ifndef RUNTIME_SCHED_SELF_DRIVEN_H
#define RUNTIME_SCHED_SELF_DRIVEN_H

#include "runtime/sched/sched.h"

bool prt_self_driven_find(struct prt_sched *s);
/* Nobody outside of the stage's circle takes what it produces. */
bool prt_self_driven_is_unwanted(const struct prt_sched *s, const struct prt_stage *stage);
/* `reader` takes no more from that buffer; NULL: the host does not.  To be said once.  Where nobody
 * wants the writer's circle any more its stages may end. */
void prt_self_driven_leave(struct prt_sched *s, const struct prt_buffer *buffer,
                           const struct prt_stage *reader);

/* Whether what the readers of the buffer produce comes back to its writer, fed or not; false without
 * memory to find out. */
bool prt_self_driven_closes_cycle(const struct prt_sched *s, const struct prt_buffer *buffer);

#endif
