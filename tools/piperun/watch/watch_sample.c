/* SPDX-License-Identifier: MIT */
#include "tools/piperun/watch/watch_sample.h"

#include <stdlib.h>

bool watch_sample_create(struct watch_sample *sample, const struct prt_program *program)
{
    struct prt_program_information about;
    prt_program_information(program, &about);
    *sample = (struct watch_sample){.stage_count = about.stage_count,
                                    .buffer_count = about.buffer_count,
                                    .port_count = about.port_count};
    sample->stages = calloc((size_t)about.stage_count + 1, sizeof *sample->stages);
    sample->buffers = calloc((size_t)about.buffer_count + 1, sizeof *sample->buffers);
    sample->ports = calloc((size_t)about.port_count + 1, sizeof *sample->ports);
    struct prt_port_information port;
    for (uint32_t i = 0; sample->ports != NULL && prt_program_port(program, i, &port); i++)
        sample->ports[i].input = port.direction == PRT_PORT_IN;
    return sample->stages != NULL && sample->buffers != NULL && sample->ports != NULL;
}

void watch_sample_destroy(struct watch_sample *sample)
{
    free(sample->stages);
    free(sample->buffers);
    free(sample->ports);
    *sample = (struct watch_sample){.stages = NULL};
}

void watch_sample_take(struct watch_sample *sample, const struct prt_run *run)
{
    sample->cycles = prt_run_moment_cycles(run);
    for (uint32_t i = 0; i < sample->stage_count; i++)
        (void)prt_run_stage_moment(run, i, &sample->stages[i]);
    for (uint32_t i = 0; i < sample->buffer_count; i++)
        (void)prt_run_buffer_moment(run, i, &sample->buffers[i]);
    for (uint32_t i = 0; i < sample->port_count; i++)
        (void)prt_run_port_moment(run, i, &sample->ports[i].buffer);
}

int watch_busy_percent(const struct watch_sample *before, const struct watch_sample *now,
                       uint32_t stage)
{
    if (now->cycles <= before->cycles) return -1;
    uint64_t busy = now->stages[stage].busy_cycles - before->stages[stage].busy_cycles;
    double share = 100.0 * (double)busy / (double)(now->cycles - before->cycles);
    return share > 100 ? 100 : (int)(share + 0.5); /* a launch is counted at its end */
}

uint32_t watch_busiest_stage(const struct watch_sample *before, const struct watch_sample *now)
{
    uint32_t busiest = UINT32_MAX;
    uint64_t most = 0;
    for (uint32_t i = 0; i < now->stage_count && now->cycles > before->cycles; i++) {
        uint64_t busy = now->stages[i].busy_cycles - before->stages[i].busy_cycles;
        if (busy <= most) continue;
        most = busy;
        busiest = i;
    }
    return busiest;
}

double watch_per_second(const struct watch_sample *before, const struct watch_sample *now,
                        uint64_t difference)
{
    if (now->time_ns <= before->time_ns) return 0;
    return (double)difference * 1e9 / (double)(now->time_ns - before->time_ns);
}
