/* SPDX-License-Identifier: MIT */
#include "model/index_units.h"

#include <stdlib.h>

enum prt_status prt_index_units_add(struct prt_index_units *units,
                                    const struct devdesc *description)
{
    uint32_t history = description->index_history_entries;
    if (history == 0) history = 1;
    struct prt_index_filter *grown =
        realloc(units->filters, ((size_t)units->count + 1) * sizeof *grown);
    if (grown == NULL) return PRT_E_NOMEM;
    units->filters = grown;
    struct prt_index_filter filter = {.entries = calloc(history, sizeof *filter.entries),
                                      .capacity = history};
    if (filter.entries == NULL) return PRT_E_NOMEM;
    grown[units->count++] = filter;
    return PRT_OK;
}

void prt_index_units_free(struct prt_index_units *units)
{
    for (uint32_t i = 0; i < units->count; i++)
        free(units->filters[i].entries);
    free(units->filters);
    *units = (struct prt_index_units){0};
}

static enum prt_index_outcome ask_filters(struct prt_index_units *units,
                                          const struct prt_queue *queue, uint32_t number,
                                          const struct prt_index_key *key)
{
    for (uint32_t i = 0; i < queue->neighbour_count; i++)
        (void)prt_index_filter_ask(&units->filters[queue->neighbours[i]], key);
    return prt_index_filter_ask(&units->filters[number], key);
}

/* Of one warp. */
static uint64_t saved_by_warp(const struct devdesc *description, const uint32_t extents[3])
{
    struct prt_index_operations operations = prt_index_operations(extents);
    uint64_t divided = (uint64_t)operations.divisions * description->costs.divide;
    uint64_t unpacked = (uint64_t)operations.logic * description->costs.integer;
    return divided > unpacked ? divided - unpacked : 0;
}

/* Warps that the core with most of them executes; those of a kernel with state follow one
 * another on one. */
static uint64_t longest_core_warps(const struct prt_queue *queue, const struct devdesc *description,
                                   const struct prt_kernel_object *object, uint64_t group_warps,
                                   uint64_t firings)
{
    if (object->flags & PRT_KERNEL_STATEFUL) return core_cycles_multiply(firings, group_warps);
    uint64_t warps = core_timing_warps(object->shape, firings);
    uint64_t cores = (uint64_t)queue->cu_count * description->cores_per_cu;
    return warps / cores + (warps % cores > 0);
}

uint64_t prt_index_units_ask(struct prt_index_units *units, const struct prt_queue_table *queues,
                             uint32_t queue, const struct devdesc *description,
                             const struct prt_kernel_object *object, uint64_t firings,
                             struct prt_device_counters *counters)
{
    const struct prt_index_configuration *index = object->index;
    if (firings == 0) return 0;
    const struct prt_queue *on = &queues->queues[queue];
    const uint64_t group_warps = (index->items - 1) / index->lanes + 1;
    enum prt_index_outcome outcome = ask_filters(units, on, queue, &index->key);
    struct prt_index_cost cost = prt_index_cycles(outcome, group_warps);
    uint64_t saved =
        core_cycles_multiply(longest_core_warps(on, description, object, group_warps, firings),
                             saved_by_warp(description, index->key.extents));
    counters->index_requests[outcome]++;
    counters->index_warps_iterated += cost.warps_iterated;
    counters->index_warps_packed += cost.warps_packed;
    counters->index_cycles += cost.cycles;
    counters->index_saved_cycles = core_cycles_add(counters->index_saved_cycles, saved);
    return cost.cycles;
}
