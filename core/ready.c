/* SPDX-License-Identifier: MIT */
#include "core/ready.h"

static bool has_2d_window(const struct core_input *input)
{
    return input->window.width > 0;
}

/* The place of firing number `firing` in its frame. */
static uint64_t frame_place(const struct core_input *input, uint64_t firing)
{
    return firing % window_frame(input->shape);
}

/* How many packets before the one that it consumes firing number `firing` may see. */
static uint64_t seen_before(const struct core_input *input, uint64_t firing)
{
    uint64_t place = frame_place(input, firing);
    return place - window_first(input->window, input->shape, place);
}

/* Firings that one batch can have if the input holds so many packets.  *rows: as of window_firings. */
static uint64_t window_fits(const struct core_stage *stage, const struct core_input *input,
                            uint64_t packets, bool closed, uint64_t *rows)
{
    uint64_t place = frame_place(input, stage->firings), frame = window_frame(input->shape);
    uint64_t brought = window_first(input->window, input->shape, place) + packets;
    return window_firings(input->window, input->shape, place, brought < frame ? brought : frame,
                          closed, rows);
}

static uint64_t count_fitting(const struct core *c, const struct core_stage *stage,
                              const struct core_input *input, uint64_t packets, bool closed,
                              uint64_t most)
{
    if (!has_2d_window(input))
        return core_take_fits(core_numbers(c), &input->take, stage->firings, packets, most);
    uint64_t rows, firings = window_fits(stage, input, packets, closed, &rows);
    return firings < most ? firings : most;
}

uint64_t core_ready_input(const struct core *c, const struct core_stage *stage,
                          const struct core_input *input, bool filled, uint64_t most)
{
    uint64_t packets = core_ready_held(c, input);
    if (filled && core_ready_is_filled(c, input))
        packets += core_fifo_room(&core_read_buffer(c, input)->fifo);
    return count_fitting(c, stage, input, packets, core_read_buffer(c, input)->fifo.closed, most);
}

uint64_t core_ready_input_with(const struct core *c, const struct core_stage *stage,
                               const struct core_input *input, uint64_t packets, bool closed)
{
    return count_fitting(c, stage, input, core_ready_held(c, input) + packets, closed,
                         stage->batch_max);
}

uint64_t core_ready_fits(const struct core *c, const struct core_stage *stage,
                         const struct core_input *input, uint64_t packets, bool closed)
{
    return count_fitting(c, stage, input, packets, closed, stage->batch_max);
}

uint64_t core_ready_inputs(const struct core *c, struct core_stage *stage)
{
    uint64_t firings = stage->batch_max;
    uint32_t at = stage->lacking_input;
    for (uint32_t left = stage->input_count; left > 0; left--) {
        firings = core_ready_input(c, stage, core_input(c, stage, at), true, firings);
        if (firings == 0) break;
        if (++at == stage->input_count) at = 0;
    }
    stage->lacking_input = at; /* equivalent: all ends are looked at, in any order */
    return firings;
}

uint64_t core_ready_outputs(const struct core *c, struct core_stage *stage)
{
    uint64_t firings = stage->batch_max;
    uint32_t at = stage->lacking_output;
    for (uint32_t left = stage->output_count; left > 0; left--) {
        const struct core_output *output = core_output(c, stage, at);
        firings = core_flow_fits(core_numbers(c), &output->most, stage->firings,
                                 core_ready_room(core_written_buffer(c, output)), firings);
        if (firings == 0) break;
        if (++at == stage->output_count) at = 0;
    }
    stage->lacking_output = at; /* equivalent: all ends are looked at, in any order */
    return firings;
}

static uint64_t needs_at(const struct core *c, const struct core_input *input, uint64_t firing)
{
    if (!has_2d_window(input)) return core_take_needs(core_numbers(c), &input->take, firing);
    uint64_t place = frame_place(input, firing), frame = window_frame(input->shape);
    uint64_t first = window_first(input->window, input->shape, place);
    uint64_t reach = window_reach(input->window, input->shape);
    uint64_t last = input->window.border == CONTAINER_BORDER_WRAP ? first + reach : place + reach;
    return (last < frame ? last + 1 : frame) - first;
}

uint64_t core_ready_needs(const struct core *c, const struct core_stage *stage,
                          const struct core_input *input)
{
    return needs_at(c, input, stage->firings);
}

uint64_t core_ready_seen(const struct core *c, const struct core_input *input, uint64_t firing)
{
    uint64_t first = has_2d_window(input)
                         ? firing - seen_before(input, firing)
                         : core_flow_total(core_numbers(c), &input->take.pop, 0, firing);
    return first + needs_at(c, input, firing);
}

uint64_t core_ready_wanted_room(const struct core *c, const struct core_stage *stage,
                                const struct core_output *output)
{
    if (stage->life == CORE_FINISH_WAITING) return output->finish_max;
    return core_flow_total(core_numbers(c), &output->most, stage->firings, 1);
}

uint64_t core_ready_history(const struct core *c, const struct core_stage *stage,
                            const struct core_input *input)
{
    uint64_t packets = core_ready_held(c, input);
    if (has_2d_window(input)) {
        uint64_t kept = seen_before(input, stage->firings);
        assert(packets >= kept); /* each firing has consumed one packet, and left `kept` of them */
        return kept;
    }
    uint64_t history = core_take_seen(core_numbers(c), &input->take, stage->firings);
    if (stage->firings == 0) {
        uint64_t initial = core_read_buffer(c, input)->initial_packets;
        uint64_t pop = core_flow_total(core_numbers(c), &input->take.pop, 0, 1);
        history = core_take_needs(core_numbers(c), &input->take, 0) - pop;
        if (initial < history) history = initial; /* equivalent: of two equals either */
    }
    return packets < history ? packets : history;
}

uint64_t core_ready_frees_window(const struct core_input *input, uint64_t first, uint64_t firings)
{
    return seen_before(input, first) + firings - seen_before(input, first + firings);
}

struct kernel_window core_ready_window(const struct core *c, const struct core_stage *stage,
                                       const struct core_input *input)
{
    struct kernel_window window = {.place = 0};
    if (!has_2d_window(input)) return window;
    window.place = frame_place(input, stage->firings);
    window.first = window_first(input->window, input->shape, window.place);
    (void)window_fits(stage, input, core_ready_held(c, input),
                      core_read_buffer(c, input)->fifo.closed, &window.rows);
    return window;
}
