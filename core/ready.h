/* SPDX-License-Identifier: MIT */
/*
 * ready: how many firings the inputs and outputs of a stage admit now.
 *
 * Thread-safety: the scheduler's.  Only core_ready_inputs and core_ready_outputs change the stage: the end that
 *   they ask first.
 * Errors: none.
 */
#ifndef CORE_READY_H
#define CORE_READY_H

#include "core/core.h"

/* Is it an in-port whose stream has not ended? */
static inline bool core_ready_is_open(const struct core *c, const struct core_input *input)
{
    const struct core_buffer *buffer = core_read_buffer(c, input);
    return buffer->port == CORE_IN_PORT && !buffer->fifo.closed;
}

/* Is it an open in-port that is filled before a dispatch?  Only packets that have arrived count in an eager one, and in
 * one that is being filled while simulated time passes. */
static inline bool core_ready_is_filled(const struct core *c, const struct core_input *input)
{
    const struct core_buffer *buffer = core_read_buffer(c, input);
    return buffer->port == CORE_IN_PORT && !buffer->fifo.closed && !buffer->eager &&
           !buffer->awaited;
}

/* Packets of the input that its stage has not released. */
static inline uint64_t core_ready_held(const struct core *c, const struct core_input *input)
{
    const struct core_reader *reader = core_input_reader(c, input);
    const struct core_buffer *buffer = core_read_buffer(c, input);
    return reader->attached ? buffer->fifo.written_packets - reader->position_packets : 0;
}

/* Firings that its limit leaves to a stage; without one more than it will ever fire. */
static inline uint64_t core_ready_source_left(const struct core_stage *stage)
{
    return stage->firings_limit - stage->firings;
}

/* Packets that the buffer has room for.  An eager out-port has at most the room that the host has made. */
static inline uint64_t core_ready_room(const struct core_buffer *buffer)
{
    uint64_t room = core_fifo_room(&buffer->fifo);
    if (!buffer->eager) return room;
    uint64_t left =
        buffer->room_end_packets - buffer->fifo.written_packets - buffer->fifo.claimed_packets;
    return left < room ? left : room;
}

/* Firings that one input admits, at most `most`.  `filled`: an in-port that is filled counts as full. */
uint64_t core_ready_input(const struct core *c, const struct core_stage *stage,
                          const struct core_input *input, bool filled, uint64_t most);

/* Firings that the input would admit if it held `packets` more, and were closed or not. */
uint64_t core_ready_input_with(const struct core *c, const struct core_stage *stage,
                               const struct core_input *input, uint64_t packets, bool closed);

/* Firings that the input would admit if it held `packets` in all, the first one that of the next firing. */
uint64_t core_ready_fits(const struct core *c, const struct core_stage *stage,
                         const struct core_input *input, uint64_t packets, bool closed);

/* Firings that all inputs (with in-ports that are filled as full), or all outputs, admit; at most the largest batch
 * of the stage.  The end that admitted none before is asked first, and the ends after it next.  So while ends come to
 * admit firings one by one, each is asked once or twice in all. */
uint64_t core_ready_inputs(const struct core *c, struct core_stage *stage);
uint64_t core_ready_outputs(const struct core *c, struct core_stage *stage);

/* Is the input closed, with too few packets for another firing? */
static inline bool core_ready_ends(const struct core *c, const struct core_stage *stage,
                                   const struct core_input *input)
{
    return core_read_buffer(c, input)->fifo.closed &&
           core_ready_input(c, stage, input, false, 1) == 0;
}

/* Packets that the input must hold for the next firing. */
uint64_t core_ready_needs(const struct core *c, const struct core_stage *stage,
                          const struct core_input *input);

/* Packets of the stream up to the last one that the firing of that number sees. */
uint64_t core_ready_seen(const struct core *c, const struct core_input *input, uint64_t firing);

/* Maximum number of packets that the next firing, or the finish, appends. */
uint64_t core_ready_wanted_room(const struct core *c, const struct core_stage *stage,
                                const struct core_output *output);

/* The history of the input: packets that it holds and that a firing has seen without consuming them.  Before the
 * first firing: the initial packets that this firing would see without consuming them. */
uint64_t core_ready_history(const struct core *c, const struct core_stage *stage,
                            const struct core_input *input);

/* Packets that an input with a 2-D window frees when the batch of `firings`, the first of which has number `first`, has
 * ended. */
uint64_t core_ready_frees_window(const struct core_input *input, uint64_t first, uint64_t firings);

/* The same of any input. */
static inline uint64_t core_ready_frees(const struct core *c, const struct core_input *input,
                                        uint64_t first, uint64_t firings)
{
    return input->window.width == 0
               ? core_flow_total(core_numbers(c), &input->take.pop, first, firings)
               : core_ready_frees_window(input, first, firings);
}

/* The 2-D window of an input for a batch that begins with the next firing; zeroed if the input has none. */
struct kernel_window core_ready_window(const struct core *c, const struct core_stage *stage,
                                       const struct core_input *input);

#endif
