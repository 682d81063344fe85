/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_log.h"

#include "base/monotonic.h"
#include "core/time/timing.h"
#include "runtime/backend/cuda/cuda_run.h"

#include <string.h>

enum { ROWS = 4096 };

static uint32_t count_log_outputs(const struct core *core)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < core->stage_count; i++)
        if (core_stage(core, i)->output_count > most) most = core_stage(core, i)->output_count;
    return most;
}

uint64_t prt_cuda_log_bytes(const struct core *core)
{
    return core_log_bytes(ROWS, count_log_outputs(core));
}

void prt_cuda_log_create(struct core_log *memory, const struct core *core)
{
    memory->rows = ROWS;
    memory->outputs = count_log_outputs(core);
}

/* A time of the device, in nanoseconds since the device was opened. */
static uint64_t log_time(const struct prt_cuda_log *log, uint64_t nanoseconds)
{
    return nanoseconds > log->clock ? log->clock_host + (nanoseconds - log->clock)
                                    : log->clock_host;
}

static void show_launch(const struct prt_cuda_log *log, const struct core *core,
                        const struct core_log_entry *entry)
{
    const struct core_stage *stage = core_stage(core, entry->stage);
    uint64_t begin = log_time(log, entry->begin), end = log_time(log, entry->end);
    const struct prt_launch_record record = {
        .stage = entry->stage,
        .queue = stage->queue,
        .finish = entry->finish != 0,
        .first_firing = entry->first_firing,
        .firings = entry->firings,
        .enqueued_cycles = log_time(log, entry->dispatched),
        .begin_cycles = begin,
        .end_cycles = end,
        .compute_cycles = end - begin,
        .execute_cycles = end - begin,
        .warps = core_timing_warps(log->objects[entry->stage].shape, entry->firings),
        .importance = log->queues->queues[stage->queue].importance};
    log->observe(log->observe_context, &record);
}

/* False: the scheduler has not answered yet. */
static bool compare_clocks(struct prt_cuda_log *log)
{
    struct core_log *memory = log->memory;
    if (log->clock > 0) return true;
    if (log->clock_host == 0 && __atomic_load_n(&memory->waits, __ATOMIC_ACQUIRE) != 0) {
        log->clock_host = monotonic_nanoseconds() - log->origin_nanoseconds;
        __atomic_store_n(&memory->moment, 1, __ATOMIC_RELEASE);
    }
    log->clock = __atomic_load_n(&memory->clock, __ATOMIC_ACQUIRE);
    return log->clock > 0;
}

void prt_cuda_log_take(struct prt_cuda_log *log, struct core *core)
{
    struct core_log *memory = log->memory;
    if (memory == NULL || !compare_clocks(log)) return;
    uint64_t written = __atomic_load_n(&memory->written, __ATOMIC_ACQUIRE);
    for (uint64_t number = memory->taken; number < written; number++) {
        const struct core_log_entry entry = *core_log_row(memory, number);
        const struct core_stage *stage = core_stage(core, entry.stage);
        memcpy(core_produced(core) + stage->first_output, core_log_appended(memory, number),
               stage->output_count * sizeof(uint64_t));
        __atomic_store_n(&memory->taken, number + 1, __ATOMIC_RELEASE);
        show_launch(log, core, &entry);
    }
}
