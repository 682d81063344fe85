/* SPDX-License-Identifier: MIT */
#include "core/resident/firing_ends.h"

#include "core/flow.h"

void core_place_firing(const struct core *core, const struct core_stage *stage,
                       const struct kernel_batch *batch, uint64_t firing,
                       const struct core_firing_ends *ends)
{
    const uint64_t *numbers = core_numbers(core);
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(core, stage, i);
        uint64_t width = core_read_buffer(core, input)->fifo.width_bytes, packets = 0;
        if (input->window.width == 0)
            packets = core_flow_total(numbers, &input->take.pop, batch->first_firing, firing);
        ends->in[i] = (const uint8_t *)batch->in[i] + packets * width;
        if (batch->windows == NULL) continue;
        ends->windows[i] = batch->windows[i];
        ends->windows[i].place += firing;
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(core, stage, i);
        uint64_t width = core_written_buffer(core, output)->fifo.width_bytes;
        uint64_t packets = core_flow_total(numbers, &output->most, batch->first_firing, firing);
        ends->out[i] = (uint8_t *)batch->out[i] + packets * width;
    }
}
