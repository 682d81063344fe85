/* SPDX-License-Identifier: MIT */
#include "compiler/plan/priority_groups.h"

#include <stdlib.h>

struct place {
    uint32_t sub_device, importance, stage;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->sub_device != b->sub_device) return a->sub_device < b->sub_device ? -1 : 1;
    if (a->importance != b->importance) return a->importance > b->importance ? -1 : 1;
    return a->stage < b->stage ? -1 : 1;
}

static struct place *sort_places(struct arena *arena, const struct graph *graph,
                                 const struct plan *plan)
{
    struct place *places = ARENA_ARRAY(arena, struct place, (size_t)plan->stage_count + 1);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        places[i] = (struct place){plan->stages[i].sub_device,
                                   graph->nodes.items[plan->stages[i].node].importance, i};
    qsort(places, plan->stage_count, sizeof *places, compare_places);
    return places;
}

/* The place after the stages of the same sub-device. */
static uint32_t end_of_units(const struct place *places, uint32_t count, uint32_t first)
{
    uint32_t end = first;
    while (end < count && places[end].sub_device == places[first].sub_device)
        end++;
    return end;
}

static void add_rank(struct plan_rank *ranks, uint32_t *count, const struct place *place,
                     const uint32_t *stage)
{
    struct plan_rank *last = *count > 0 ? &ranks[*count - 1] : NULL;
    if (last != NULL && last->sub_device == place->sub_device &&
        last->importance == place->importance) {
        last->stage_count++;
        return;
    }
    ranks[(*count)++] = (struct plan_rank){.sub_device = place->sub_device,
                                           .importance = place->importance,
                                           .stages = stage,
                                           .stage_count = 1};
}

bool plan_has_priorities(const struct graph *graph)
{
    for (size_t i = 1; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].importance != graph->nodes.items[0].importance) return true;
    return false;
}

struct plan_ranks plan_find_ranks(struct arena *arena, const struct graph *graph,
                                  const struct plan *plan)
{
    uint32_t all = plan->stage_count, count = 0;
    const struct place *places = sort_places(arena, graph, plan);
    struct plan_rank *ranks = ARENA_ARRAY(arena, struct plan_rank, (size_t)all + 1);
    uint32_t *stages = ARENA_ARRAY(arena, uint32_t, (size_t)all + 1);
    for (uint32_t first = 0, end; first < all; first = end) {
        end = end_of_units(places, all, first);
        if (places[first].importance == places[end - 1].importance) continue;
        for (uint32_t i = first; i < end; i++) {
            stages[i] = places[i].stage;
            add_rank(ranks, &count, &places[i], &stages[i]);
        }
    }
    return (struct plan_ranks){ranks, count};
}
