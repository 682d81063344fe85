/* SPDX-License-Identifier: MIT */
/*
 * ends: the ends of stages and streams.
 *
 * A stage that no in-port feeds could fire without end, so it ends once no reader takes its packets.  Stages on a cycle read
 * each other's packets.  So readers are counted for each strongly connected *component* of these stages: the *takers* are
 * readers outside of the component, out-ports, and stages of the component that have no outputs.
 *
 * An in-port whose stream never ends by itself is *cut off*, as if its stream had ended, once its packets no longer lead to
 * an open out-port or to a running stage without outputs.  Otherwise the stages that it feeds could fire without end.
 *
 * When a stage fires no more, the packets that its inputs still hold are *left over*: the inputs note their positions,
 * from which the host makes its report.
 *
 * Requires: components and takers that the creator of the run has found.  Thread-safety: the scheduler's thread.
 * Allocation: none.
 */
#ifndef CORE_ENDS_H
#define CORE_ENDS_H

#include "core/outcome.h"

/* The instruction `ends`. */
enum core_outcome core_ends(struct core *c);

/* Cuts off the endless in-ports whose packets are no longer wanted. */
void core_cut_off_ports(struct core *c);

/* Ends the stream of the buffer, and marks the readers that end with it. */
void core_close(struct core *c, struct core_buffer *buffer);

/* The finish of the stage has completed, and its packets are committed: the stage ends. */
void core_end_finished(struct core *c, struct core_stage *stage);

/* The stage becomes FAULTED: its inputs discard the packets that they hold for it, and all later ones. */
void core_detach_faulted(struct core *c, struct core_stage *stage);

/* Can the stage never fire again? */
bool core_can_never_fire(const struct core *c, const struct core_stage *stage);

/* Have all outputs room for the finish? */
bool core_has_finish_room(const struct core *c, struct core_stage *stage);

/* Is the stage not fed, and has its component no takers? */
static inline bool core_is_unwanted(const struct core *c, const struct core_stage *stage)
{
    return !stage->fed && core_takers(c)[stage->component] == 0;
}

/* The host takes no more packets from the out-port, which has a sink.  Called at most once for each. */
void core_leave_port(struct core *c, struct core_buffer *buffer);

/* Notes the positions of the inputs of a stage that fires no more.  Inputs that are not attached are left out. */
void core_note_leftovers(const struct core *c, const struct core_stage *stage);

/* Does an interrupt stop this stage?  It ends sources, so that their readers drain.  It stops cycles that no in-port
 * or source drives where they are. */
bool core_stops_by_interrupt(struct core *c, struct core_stage *stage);

#endif
