/* SPDX-License-Identifier: MIT */
#include "compiler/liveness/strong_components.h"

#include "compiler/support/bucket.h"

enum { UNVISITED = 0 };
#define NO_COMPONENT UINT32_MAX

struct walk {
    uint32_t *first, *heads; /* of each vertex: where its arcs lead */
    uint32_t *order, *low, *next, *path, *open, *component;
    uint32_t path_count, open_count, visited, component_count;
};

static void enter_vertex(struct walk *walk, uint32_t vertex)
{
    walk->order[vertex] = walk->low[vertex] = ++walk->visited;
    walk->next[vertex] = walk->first[vertex];
    walk->path[walk->path_count++] = vertex;
    walk->open[walk->open_count++] = vertex;
}

static void leave_component_vertex(struct walk *walk)
{
    uint32_t vertex = walk->path[--walk->path_count], member;
    if (walk->path_count) {
        uint32_t above = walk->path[walk->path_count - 1];
        if (walk->low[vertex] < walk->low[above]) walk->low[above] = walk->low[vertex];
    }
    if (walk->low[vertex] != walk->order[vertex]) return;
    do {
        member = walk->open[--walk->open_count];
        walk->component[member] = walk->component_count;
    } while (member != vertex);
    walk->component_count++;
}

static void walk_from(struct walk *walk, uint32_t root)
{
    enter_vertex(walk, root);
    while (walk->path_count) {
        uint32_t vertex = walk->path[walk->path_count - 1];
        if (walk->next[vertex] == walk->first[vertex + 1]) {
            leave_component_vertex(walk);
            continue;
        }
        uint32_t head = walk->heads[walk->next[vertex]++];
        if (walk->order[head] == UNVISITED)
            enter_vertex(walk, head);
        else if (walk->component[head] == NO_COMPONENT && walk->order[head] < walk->low[vertex])
            walk->low[vertex] = walk->order[head];
    }
}

uint32_t strong_components(struct arena *arena, uint32_t vertex_count,
                           const struct strong_arc *arcs, uint32_t arc_count, uint32_t *component)
{
    struct walk walk = {
        .order = ARENA_ARRAY(arena, uint32_t, vertex_count),
        .low = ARENA_ARRAY(arena, uint32_t, vertex_count),
        .next = ARENA_ARRAY(arena, uint32_t, vertex_count),
        .path = ARENA_ARRAY(arena, uint32_t, vertex_count),
        .open = ARENA_ARRAY(arena, uint32_t, vertex_count),
        .component = component,
    };
    struct buckets by_tail = bucket_by(arena, arcs, sizeof *arcs, offsetof(struct strong_arc, from),
                                       arc_count, vertex_count);
    walk.first = by_tail.first;
    walk.heads = by_tail.items;
    for (uint32_t i = 0; i < arc_count; i++)
        walk.heads[i] = arcs[by_tail.items[i]].to;
    for (uint32_t v = 0; v < vertex_count; v++)
        component[v] = NO_COMPONENT;
    for (uint32_t v = 0; v < vertex_count; v++)
        if (walk.order[v] == UNVISITED) walk_from(&walk, v);
    return walk.component_count;
}
