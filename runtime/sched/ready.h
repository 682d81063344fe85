/* SPDX-License-Identifier: MIT */
/*
 * ready: how many firings the inputs and outputs of a stage admit now.
 *
 * Requires: a stage of prt_sched_create.  Nothing is changed but which end is looked at first; no errors.
 */
#ifndef RUNTIME_SCHED_READY_H
#define RUNTIME_SCHED_READY_H

#include "runtime/sched/sched.h"

/* Is it an in-port that the host can still fill? */
static inline bool prt_ready_is_open(const struct prt_stage_input *input)
{
    const struct prt_buffer *buffer = input->buffer;
    return buffer->port != NULL && buffer->record->outer == CONTAINER_OUTER_IN &&
           !buffer->fifo.closed;
}

/* ... and is it filled before a dispatch?  An eager one is not: only what has arrived counts. */
static inline bool prt_ready_is_filled(const struct prt_stage_input *input)
{
    return prt_ready_is_open(input) && !input->buffer->port->eager;
}

/* Packets that the output has room for.  The room of an eager out-port is what its thread has taken. */
uint64_t prt_ready_room(const struct prt_stage_output *output);

/* Firings that one input admits, at most `most`; `filled`: a port that is filled counts as full. */
uint64_t prt_ready_input(const struct prt_stage *stage, const struct prt_stage_input *input,
                         bool filled, uint64_t most);

/* Firings that an in-port would admit if it were given so many packets more, and closed or not. */
uint64_t prt_ready_input_with(const struct prt_stage *stage, const struct prt_stage_input *input,
                              uint64_t packets, bool closed);

/* Firings that it would admit if it held so many, as it lies from the next firing on. */
uint64_t prt_ready_fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                        uint64_t packets, bool closed);

/* Firings that all inputs admit (ports that are filled as full), the room of all outputs admits; at most
 * the stage's largest batch.  The end that has admitted none before is looked at first, and those behind it next: while
 * ends come to admit more one by one, they are all looked at once or twice in all. */
uint64_t prt_ready_inputs(struct prt_stage *stage);
uint64_t prt_ready_outputs(struct prt_stage *stage);

/* The input admits no firing any more: it is closed, and holds too little. */
static inline bool prt_ready_ends(const struct prt_stage *stage,
                                  const struct prt_stage_input *input)
{
    return input->buffer->fifo.closed && prt_ready_input(stage, input, false, 1) == 0;
}

/* Packets that the input has to hold before the next firing. */
uint64_t prt_ready_needs(const struct prt_stage *stage, const struct prt_stage_input *input);

/* What the next firing, or the finish, may append. */
uint64_t prt_ready_wanted_room(const struct prt_stage *stage,
                               const struct prt_stage_output *output);

/* Packets in front of an input that firings have seen and that are no longer to be consumed; before
 * the first firing: those that were put there for it to see. */
uint64_t prt_ready_history(const struct prt_stage *stage, const struct prt_stage_input *input);

/* Packets that the input may free when the batch of `firings` from number `first` on has ended. */
uint64_t prt_ready_frees(const struct prt_stage_input *input, uint64_t first, uint64_t firings);

/* What the window of an input is for the firings from the next one on. */
struct kernel_window prt_ready_window(const struct prt_stage *stage,
                                      const struct prt_stage_input *input);

#endif
