/* SPDX-License-Identifier: MIT */
#include "runtime/sched/ready.h"

#include "runtime/sched/port_thread.h"

#include <assert.h>

static bool has_2d_window(const struct prt_stage_input *input)
{
    return input->window.width > 0;
}

static uint64_t held_packets(const struct prt_stage_input *input)
{
    return prt_fifo_held(&input->buffer->fifo, input->reader);
}

/* The place of firing number `firing` in its frame. */
static uint64_t frame_place(const struct prt_stage_input *input, uint64_t firing)
{
    return firing % window_frame(input->shape);
}

/* How many packets before the one that it consumes firing number `firing` may see. */
static uint64_t seen_before(const struct prt_stage_input *input, uint64_t firing)
{
    uint64_t place = frame_place(input, firing);
    return place - window_first(input->window, input->shape, place);
}

/* Firings that one batch can have if the input holds so many packets.  *rows: as of window_firings. */
static uint64_t window_fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                            uint64_t packets, bool closed, uint64_t *rows)
{
    uint64_t place = frame_place(input, stage->firings), frame = window_frame(input->shape);
    uint64_t brought = window_first(input->window, input->shape, place) + packets;
    return window_firings(input->window, input->shape, place, brought < frame ? brought : frame,
                          closed, rows);
}

static uint64_t count_fitting(const struct prt_stage *stage, const struct prt_stage_input *input,
                              uint64_t packets, bool closed, uint64_t most)
{
    if (!has_2d_window(input)) return prt_take_fits(&input->take, stage->firings, packets, most);
    uint64_t rows, firings = window_fits(stage, input, packets, closed, &rows);
    return firings < most ? firings : most;
}

uint64_t prt_ready_input(const struct prt_stage *stage, const struct prt_stage_input *input,
                         bool filled, uint64_t most)
{
    uint64_t packets = held_packets(input);
    if (filled && prt_ready_is_filled(input)) packets += prt_fifo_room(&input->buffer->fifo);
    return count_fitting(stage, input, packets, input->buffer->fifo.closed, most);
}

uint64_t prt_ready_input_with(const struct prt_stage *stage, const struct prt_stage_input *input,
                              uint64_t packets, bool closed)
{
    return count_fitting(stage, input, held_packets(input) + packets, closed, stage->batch_max);
}

uint64_t prt_ready_fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                        uint64_t packets, bool closed)
{
    return count_fitting(stage, input, packets, closed, stage->batch_max);
}

uint64_t prt_ready_inputs(struct prt_stage *stage)
{
    uint64_t firings = stage->batch_max;
    uint32_t at = stage->lacking_input;
    for (uint32_t left = stage->node->input_count; left > 0; left--) {
        firings = prt_ready_input(stage, &stage->inputs[at], true, firings);
        if (firings == 0) break;
        if (++at == stage->node->input_count) at = 0;
    }
    stage->lacking_input = at; /* equivalent: all ends are looked at, in any order */
    return firings;
}

uint64_t prt_ready_room(const struct prt_stage_output *output)
{
    const struct prt_buffer *buffer = output->buffer;
    uint64_t room = prt_fifo_room(&buffer->fifo);
    if (buffer->port == NULL || !buffer->port->eager || buffer->port->thread == NULL) return room;
    uint64_t left = prt_port_thread_room(buffer);
    return left < room ? left : room;
}

uint64_t prt_ready_outputs(struct prt_stage *stage)
{
    uint64_t firings = stage->batch_max;
    uint32_t at = stage->lacking_output;
    for (uint32_t left = stage->node->output_count; left > 0; left--) {
        const struct prt_stage_output *output = &stage->outputs[at];
        firings = prt_flow_fits(&output->most, stage->firings, prt_ready_room(output), firings);
        if (firings == 0) break;
        if (++at == stage->node->output_count) at = 0;
    }
    stage->lacking_output = at; /* equivalent: all ends are looked at, in any order */
    return firings;
}

static uint64_t needs_at(const struct prt_stage_input *input, uint64_t firing)
{
    if (!has_2d_window(input)) return prt_take_needs(&input->take, firing);
    uint64_t place = frame_place(input, firing), frame = window_frame(input->shape);
    uint64_t first = window_first(input->window, input->shape, place);
    uint64_t reach = window_reach(input->window, input->shape);
    uint64_t last = input->window.border == CONTAINER_BORDER_WRAP ? first + reach : place + reach;
    return (last < frame ? last + 1 : frame) - first;
}

uint64_t prt_ready_needs(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    return needs_at(input, stage->firings);
}

uint64_t prt_ready_seen(const struct prt_stage_input *input, uint64_t firing)
{
    uint64_t first = has_2d_window(input) ? firing - seen_before(input, firing)
                                          : prt_flow_total(&input->take.pop, 0, firing);
    return first + needs_at(input, firing);
}

uint64_t prt_ready_wanted_room(const struct prt_stage *stage, const struct prt_stage_output *output)
{
    if (stage->life == PRT_STAGE_FINISH_WAITING) return output->finish_max;
    return prt_flow_total(&output->most, stage->firings, 1);
}

uint64_t prt_ready_history(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    uint64_t packets = held_packets(input);
    if (has_2d_window(input)) {
        uint64_t kept = seen_before(input, stage->firings);
        assert(packets >= kept); /* each firing has consumed one packet, and left `kept` of them */
        return kept;
    }
    uint64_t history = prt_take_seen(&input->take, stage->firings);
    if (stage->firings == 0) {
        uint64_t initial = input->buffer->record->initial_packets;
        uint64_t pop = prt_flow_total(&input->take.pop, 0, 1);
        history = prt_take_needs(&input->take, 0) - pop;
        if (initial < history) history = initial; /* equivalent: of two equals either */
    }
    return packets < history ? packets : history;
}

uint64_t prt_ready_frees(const struct prt_stage_input *input, uint64_t first, uint64_t firings)
{
    if (!has_2d_window(input)) return prt_flow_total(&input->take.pop, first, firings);
    return seen_before(input, first) + firings - seen_before(input, first + firings);
}

struct kernel_window prt_ready_window(const struct prt_stage *stage,
                                      const struct prt_stage_input *input)
{
    struct kernel_window window = {.place = 0};
    if (!has_2d_window(input)) return window;
    window.place = frame_place(input, stage->firings);
    window.first = window_first(input->window, input->shape, window.place);
    (void)window_fits(stage, input, held_packets(input), input->buffer->fifo.closed, &window.rows);
    return window;
}
