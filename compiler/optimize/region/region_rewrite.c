/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/region_rewrite.h"

#include <string.h>

#include "compiler/optimize/fuse/fuse_internal.h"
#include "compiler/optimize/region/overlap_save.h"
#include "compiler/optimize/region/region_interleave.h"
#include "compiler/optimize/region/region_kernel.h"
#include "compiler/optimize/region/strands.h"

enum { NAME_MAX = 72 };

static const char *region_name(struct region_space *space, const struct region *region)
{
    const char *name = "";
    if (region->strands != NULL) {
        /* A name like that of a composite (fuse_name.c). */
        uint32_t count = (uint32_t)region->members.count;
        uint32_t *nodes = ARENA_ARRAY(space->scratch, uint32_t, count);
        for (uint32_t m = 0; m < count; m++)
            nodes[m] = region->members.items[m].node;
        struct fuse_group group = {.nodes = nodes, .count = count};
        return fuse_name(space->cx->arena, space->graph, &group);
    }
    for (size_t m = 0; m < region->members.count; m++) {
        const char *next = space->graph->nodes.items[region->members.items[m].node].name;
        if (strlen(name) + strlen(next) > NAME_MAX)
            return arena_printf(space->cx->arena, "%s+..", name);
        name = arena_printf(space->cx->arena, "%s%s%s", name, m > 0 ? "+" : "", next);
    }
    return name;
}

static struct replacement replacement_of(struct region_space *space, const struct region *region,
                                         const char *name)
{
    size_t count = region->members.count;
    uint32_t *nodes = ARENA_ARRAY(space->scratch, uint32_t, count);
    for (size_t m = 0; m < count; m++)
        nodes[m] = region->members.items[m].node;
    struct replacement replacement = {.nodes = nodes,
                                      .count = count,
                                      .node = region->blocks != NULL
                                                  ? overlap_save_kernel(space, region, name)
                                                  : region_kernel(space, region, name)};
    if (region->interleaved) region_interleave(space, region, &replacement);
    return replacement;
}

static struct reduction reduction_of(const struct region_choice *choice, const char *name)
{
    const struct region *region = choice->region;
    const struct overlap_save *blocks = region->blocks;
    struct reduction reduction = {.members = name,
                                  .member_count = region->members.count,
                                  .operations_before = choice->before,
                                  .operations = region->operations,
                                  .ends_late = region->ends_late,
                                  .linear = region->linear,
                                  .strands = region->strands != NULL ? region->strands->count : 0};
    if (blocks == NULL) return reduction;
    reduction.block_packets = blocks->points;
    reduction.taps = blocks->filter.window;
    return reduction;
}

struct graph *region_rewrite(struct region_space *space, const struct region_choice *choices,
                             size_t count)
{
    struct reductions *reductions = ARENA_NEW(space->cx->arena, struct reductions);
    const struct reductions *earlier = space->graph->reductions;
    struct replacement *replacements = ARENA_ARRAY(space->scratch, struct replacement, count + 1);
    if (count == 0) return NULL;
    for (size_t i = 0; earlier != NULL && i < earlier->items.count; i++)
        vec_push(space->cx->arena, &reductions->items, earlier->items.items[i]);
    for (size_t i = 0; i < count; i++) {
        const struct region *region = choices[i].region;
        const char *name = region_name(space, region);
        replacements[i] = replacement_of(space, region, name);
        vec_push(space->cx->arena, &reductions->items, reduction_of(&choices[i], name));
    }
    struct graph *graph = region_replace(space->cx, space->graph, replacements, count);
    graph->reductions = reductions;
    return graph;
}
