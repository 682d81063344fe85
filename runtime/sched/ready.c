/* SPDX-License-Identifier: MIT */
#include "runtime/sched/ready.h"

#include "runtime/sched/port_thread.h"

static bool has_window(const struct prt_stage_input *input)
{
    return input->window.width > 0;
}

static uint64_t held(const struct prt_stage_input *input)
{
    return prt_fifo_held(&input->buffer->fifo, input->reader);
}

/* Of the firing of that number, within its frame. */
static uint64_t place_of(const struct prt_stage_input *input, uint64_t firing)
{
    return firing % window_frame(input->shape);
}

/* Packets behind the one that the firing of that number consumes which it may see. */
static uint64_t behind(const struct prt_stage_input *input, uint64_t firing)
{
    uint64_t place = place_of(input, firing);
    return place - window_first(input->window, input->shape, place);
}

/* Firings of one batch where the input holds so many packets. */
static uint64_t window_fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                            uint64_t packets, bool closed, uint64_t *rows)
{
    uint64_t place = place_of(input, stage->firings), frame = window_frame(input->shape);
    uint64_t brought = window_first(input->window, input->shape, place) + packets;
    return window_firings(input->window, input->shape, place, brought < frame ? brought : frame,
                          closed, rows);
}

static uint64_t fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                     uint64_t packets, bool closed, uint64_t most)
{
    if (!has_window(input)) return prt_take_fits(&input->take, stage->firings, packets, most);
    uint64_t rows, firings = window_fits(stage, input, packets, closed, &rows);
    return firings < most ? firings : most;
}

uint64_t prt_ready_input(const struct prt_stage *stage, const struct prt_stage_input *input,
                         bool filled, uint64_t most)
{
    uint64_t packets = held(input);
    if (filled && prt_ready_is_filled(input)) packets += prt_fifo_room(&input->buffer->fifo);
    return fits(stage, input, packets, input->buffer->fifo.closed, most);
}

uint64_t prt_ready_input_with(const struct prt_stage *stage, const struct prt_stage_input *input,
                              uint64_t packets, bool closed)
{
    return fits(stage, input, held(input) + packets, closed, stage->batch_max);
}

uint64_t prt_ready_fits(const struct prt_stage *stage, const struct prt_stage_input *input,
                        uint64_t packets, bool closed)
{
    return fits(stage, input, packets, closed, stage->batch_max);
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
    stage->lacking_input = at;
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
    stage->lacking_output = at;
    return firings;
}

uint64_t prt_ready_needs(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    if (!has_window(input)) return prt_take_needs(&input->take, stage->firings);
    uint64_t place = place_of(input, stage->firings), frame = window_frame(input->shape);
    uint64_t first = window_first(input->window, input->shape, place);
    uint64_t reach = window_reach(input->window, input->shape);
    uint64_t last = input->window.border == CONTAINER_BORDER_WRAP ? first + reach : place + reach;
    return (last < frame ? last + 1 : frame) - first;
}

uint64_t prt_ready_wanted_room(const struct prt_stage *stage, const struct prt_stage_output *output)
{
    if (stage->life == PRT_STAGE_FINISH_WAITING) return output->finish_max;
    return prt_flow_total(&output->most, stage->firings, 1);
}

uint64_t prt_ready_history(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    uint64_t packets = held(input);
    if (has_window(input)) {
        uint64_t kept = behind(input, stage->firings);
        return packets < kept ? packets : kept;
    }
    uint64_t history = prt_take_seen(&input->take, stage->firings);
    if (stage->firings == 0) {
        uint64_t initial = input->buffer->record->initial_packets;
        uint64_t pop = prt_flow_total(&input->take.pop, 0, 1);
        history = prt_take_needs(&input->take, 0) - pop;
        if (initial < history) history = initial;
    }
    return packets < history ? packets : history;
}

uint64_t prt_ready_frees(const struct prt_stage_input *input, uint64_t first, uint64_t firings)
{
    if (!has_window(input)) return prt_flow_total(&input->take.pop, first, firings);
    return behind(input, first) + firings - behind(input, first + firings);
}

struct kernel_window prt_ready_window(const struct prt_stage *stage,
                                      const struct prt_stage_input *input)
{
    struct kernel_window window = {.place = 0};
    if (!has_window(input)) return window;
    window.place = place_of(input, stage->firings);
    window.first = window_first(input->window, input->shape, window.place);
    (void)window_fits(stage, input, held(input), input->buffer->fifo.closed, &window.rows);
    return window;
}
