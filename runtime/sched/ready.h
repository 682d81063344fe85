/* SPDX-License-Identifier: MIT */
/*
 * ready: how many firings the inputs and outputs of a stage admit now.
 *
 * Requires: a stage of prt_sched_create.
 * Thread-safety: the scheduler's thread.  Only prt_ready_inputs and prt_ready_outputs change the stage: the end that
 *   they ask first.
 * Errors: none.
 */
#ifndef RUNTIME_SCHED_READY_H
#define RUNTIME_SCHED_READY_H

#include "runtime/sched/sched.h"

/* Is it an in-port whose stream has not ended? */
static inline bool prt_ready_is_open(const struct prt_stage_input *input)
{
    const struct prt_buffer *buffer = input->buffer;
    return buffer->port != NULL && buffer->record->outer == CONTAINER_OUTER_IN &&
           !buffer->fifo.closed;
}

/* Is it an open in-port that is filled before a dispatch?  Only packets that have arrived count in an eager one, and in
 * one that is being filled while simulated time passes. */
static inline bool prt_ready_is_filled(const struct prt_stage_input *input)
{
    return prt_ready_is_open(input) && !input->buffer->port->eager && !input->buffer->port->awaited;
}

/* Packets that the output has room for.  An eager out-port with a thread has at most the room that its sink has
 * made. */
uint64_t prt_ready_room(const struct prt_stage_output *output);

/* Firings that one input admits, at most `most`.  `filled`: an in-port that is filled counts as full. */
uint64_t prt_ready_input(const struct prt_stage *stage, const struct prt_stage_input *input,
                         bool filled, uint64_t most);

/* Firings that the input would admit if it held `packets` more, and were closed or not. */
uint64_t prt_ready_input_with(const struct prt_stage *stage, const struct prt_stage_input *input,
                              uint64_t packets, bool closed);

/* Firings that the input would admit if it held `packets` in all, the first one that of the next firing. */
uint64_t prt_ready_fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                        uint64_t packets, bool closed);

/* Firings that all inputs (with in-ports that are filled as full), or all outputs, admit; at most the largest batch
 * of the stage.  The end that admitted none before is asked first, and the ends after it next.  So while ends come to
 * admit firings one by one, each is asked once or twice in all. */
uint64_t prt_ready_inputs(struct prt_stage *stage);
uint64_t prt_ready_outputs(struct prt_stage *stage);

/* Is the input closed, with too few packets for another firing? */
static inline bool prt_ready_ends(const struct prt_stage *stage,
                                  const struct prt_stage_input *input)
{
    return input->buffer->fifo.closed && prt_ready_input(stage, input, false, 1) == 0;
}

/* Packets that the input must hold for the next firing. */
uint64_t prt_ready_needs(const struct prt_stage *stage, const struct prt_stage_input *input);

/* Packets of the stream up to the last one that the firing of that number sees. */
uint64_t prt_ready_seen(const struct prt_stage_input *input, uint64_t firing);

/* Maximum number of packets that the next firing, or the finish, appends. */
uint64_t prt_ready_wanted_room(const struct prt_stage *stage,
                               const struct prt_stage_output *output);

/* The history of the input: packets that it holds and that a firing has seen without consuming them.  Before the
 * first firing: the initial packets that this firing would see without consuming them. */
uint64_t prt_ready_history(const struct prt_stage *stage, const struct prt_stage_input *input);

/* Packets that the input frees when the batch of `firings`, the first of which has number `first`, has ended. */
uint64_t prt_ready_frees(const struct prt_stage_input *input, uint64_t first, uint64_t firings);

/* The 2-D window of an input for a batch that begins with the next firing; zeroed if the input has none. */
struct kernel_window prt_ready_window(const struct prt_stage *stage,
                                      const struct prt_stage_input *input);

#endif
