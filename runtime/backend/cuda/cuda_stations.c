/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_stations.h"

#include <assert.h>
#include <stdlib.h>

static int compare_ranges(const void *a, const void *b)
{
    const struct prt_cuda_range *x = a, *y = b;
    return (x->first_cu > y->first_cu) - (x->first_cu < y->first_cu);
}

/* Sorts the ranges, and joins those that have compute units in common. */
static uint32_t join_overlapping(struct prt_cuda_range *ranges, uint32_t count)
{
    uint32_t joined = 1;
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    for (uint32_t i = 1; i < count; i++) {
        struct prt_cuda_range *last = &ranges[joined - 1];
        if (ranges[i].first_cu >= last->end_cu) {
            ranges[joined++] = ranges[i];
            continue;
        }
        last->stages += ranges[i].stages;
        if (ranges[i].end_cu > last->end_cu) last->end_cu = ranges[i].end_cu;
    }
    return joined;
}

/* The range of the stage's queue. */
static struct prt_cuda_range stage_range(const struct core *core, struct prt_queue_table *queues,
                                         uint32_t stage)
{
    const struct prt_queue *queue = prt_queue_find(queues, core_stage(core, stage)->queue);
    assert(queue != NULL);
    return (struct prt_cuda_range){queue->first_cu, queue->first_cu + queue->cu_count, 1};
}

enum prt_status prt_cuda_stations_find(const struct core *core, struct prt_queue_table *queues,
                                       struct prt_cuda_stations *stations)
{
    uint32_t count = core->stage_count;
    struct prt_cuda_range *ranges = calloc((size_t)count + 1, sizeof *ranges);
    uint32_t *of_stage = calloc((size_t)count + 1, sizeof *of_stage);
    *stations = (struct prt_cuda_stations){ranges, of_stage, 0};
    if (ranges == NULL || of_stage == NULL) return PRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        ranges[i] = stage_range(core, queues, i);
    stations->count = join_overlapping(ranges, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = 0, high = stations->count - 1, cu = stage_range(core, queues, i).first_cu;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (ranges[middle].end_cu > cu)
                high = middle;
            else
                low = middle + 1;
        }
        of_stage[i] = low;
    }
    return PRT_OK;
}

void prt_cuda_stations_free(struct prt_cuda_stations *stations)
{
    free(stations->ranges);
    free(stations->of_stage);
    *stations = (struct prt_cuda_stations){.count = 0};
}
