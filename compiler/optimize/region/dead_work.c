/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/dead_work.h"

#include "compiler/optimize/region/region_rewrite.h"

/*
 * Greedy: begins with single nodes, and joins the two ends of an edge if this leaves out more than a quarter of
 * their operations.
 */

enum { OPERATIONS_MAX = 8192, KEPT_QUARTERS = 3 };

struct group { /* nodes that are joined, or a single node */
    VEC(uint32_t) nodes;
    struct region region;
    uint64_t alone; /* operations of an iteration if each node executes by itself */
};

struct reducer {
    struct region_space space;
    const struct graph *graph;
    struct group **group_of; /* by node; NULL: not built yet */
};

/* The group of a node; at first the node only.  NULL: the node can be in no region. */
static struct group *group_at(struct reducer *r, uint32_t node)
{
    const char *reason;
    if (r->group_of[node] != NULL) return r->group_of[node];
    if (region_look(&r->space, node)->reason != NULL) return NULL;
    struct group *group = ARENA_NEW(r->space.scratch, struct group);
    vec_push(r->space.scratch, &group->nodes, node);
    if (!region_build(&r->space, &node, 1, &group->region, &reason)) return NULL;
    group->alone = group->region.operations;
    r->group_of[node] = group;
    return group;
}

/* ---- convexity ---- */

static bool is_listed_node(const uint32_t *nodes, size_t count, uint32_t node)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == node) return true;
    return false;
}

/* Does a path lead from the nodes through others back to them? */
static bool has_path_back(const struct reducer *r, const uint32_t *nodes, size_t count)
{
    const struct graph *graph = r->graph;
    bool *seen = ARENA_ARRAY(r->space.scratch, bool, graph->nodes.count);
    uint32_t *stack = ARENA_ARRAY(r->space.scratch, uint32_t, graph->nodes.count + count);
    size_t top = 0;
    for (size_t i = 0; i < count; i++)
        stack[top++] = nodes[i];
    while (top > 0) {
        uint32_t at = stack[--top];
        const struct graph_node *node = &graph->nodes.items[at];
        bool outside = !is_listed_node(nodes, count, at);
        for (size_t o = 0; o < node->outputs.count; o++) {
            const struct graph_buffer *buffer =
                &graph->buffers.items[node->outputs.items[o].buffer];
            for (size_t i = 0; i < buffer->readers.count; i++) {
                uint32_t next = buffer->readers.items[i].node;
                bool back = is_listed_node(nodes, count, next);
                if (back && outside) return true;
                if (back || seen[next]) continue;
                seen[next] = true;
                stack[top++] = next;
            }
        }
    }
    return false;
}

/* ---- joining ---- */

static bool same_importance(const struct reducer *r, const struct group *group)
{
    uint32_t first = r->graph->nodes.items[group->nodes.items[0]].importance;
    for (size_t i = 1; i < group->nodes.count; i++)
        if (r->graph->nodes.items[group->nodes.items[i]].importance != first) return false;
    return true;
}

static bool same_component(const struct reducer *r, const struct group *group)
{
    uint32_t first = r->graph->nodes.items[group->nodes.items[0]].component;
    for (size_t i = 1; i < group->nodes.count; i++)
        if (r->graph->nodes.items[group->nodes.items[i]].component != first) return false;
    return true;
}

/* Operations of an iteration of `whole` if each part executes by itself. */
static uint64_t sum_parts(const struct group *whole, struct group *const *parts, size_t count)
{
    uint64_t sum = 0;
    for (size_t p = 0; p < count; p++) {
        const struct region_member *member = &parts[p]->region.members.items[0];
        for (size_t m = 0; m < whole->region.members.count; m++)
            if (whole->region.members.items[m].node == member->node)
                sum += whole->region.members.items[m].firings / member->firings *
                       parts[p]->region.operations;
    }
    return sum;
}

/* The groups as one; NULL if they cannot be one region. */
static struct group *build_joined_group(struct reducer *r, struct group *const *parts, size_t count)
{
    struct group *whole = ARENA_NEW(r->space.scratch, struct group);
    const char *reason;
    for (size_t p = 0; p < count; p++) {
        const struct group *from = parts[p];
        for (size_t i = 0; i < from->nodes.count; i++)
            if (!is_listed_node(whole->nodes.items, whole->nodes.count, from->nodes.items[i]))
                vec_push(r->space.scratch, &whole->nodes, from->nodes.items[i]);
    }
    if (!same_importance(r, whole) || !same_component(r, whole) ||
        has_path_back(r, whole->nodes.items, whole->nodes.count))
        return NULL;
    if (!region_build(&r->space, whole->nodes.items, whole->nodes.count, &whole->region, &reason))
        return NULL;
    if (whole->region.operations > OPERATIONS_MAX) return NULL;
    for (size_t m = 0; m < whole->region.members.count; m++) {
        const struct region_member *member = &whole->region.members.items[m];
        whole->alone += member->firings * region_look(&r->space, member->node)->operations;
    }
    return whole;
}

static void adopt_group(struct reducer *r, struct group *whole)
{
    for (size_t i = 0; i < whole->nodes.count; i++)
        r->group_of[whole->nodes.items[i]] = whole;
}

static bool saves_operations(const struct group *whole, struct group *const *parts, size_t count)
{
    uint64_t before = sum_parts(whole, parts, count);
    return whole->region.operations < before / 4 * KEPT_QUARTERS;
}

static bool join_edge(struct reducer *r, uint32_t writer, uint32_t reader)
{
    const struct region_node *from = region_skim(&r->space, writer);
    const struct region_node *to = region_skim(&r->space, reader);
    if (from->reason != NULL || to->reason != NULL) return false;
    if (!from->makes_constants && !to->drops) return false;
    struct group *parts[2] = {group_at(r, writer), group_at(r, reader)};
    if (parts[0] == NULL || parts[1] == NULL || parts[0] == parts[1]) return false;
    struct group *whole = build_joined_group(r, parts, 2);
    if (whole == NULL || whole->region.interleaved || !saves_operations(whole, parts, 2))
        return false;
    adopt_group(r, whole);
    return true;
}

static bool join_edges(struct reducer *r)
{
    bool changed = false;
    for (size_t b = 0; b < r->graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &r->graph->buffers.items[b];
        if (buffer->writer_node == GRAPH_NONE) continue;
        for (size_t i = 0; i < buffer->readers.count; i++)
            changed |= join_edge(r, buffer->writer_node, buffer->readers.items[i].node);
    }
    return changed;
}

/* ---- readers of groups that end late ---- */

/* Joins a node with the groups that it reads, if each of them has a `finish`, so that no other step can join
 * them.  The inputs of the result are interleaved, and only the outputs of the node go to memory. */
static void join_late(struct reducer *r, uint32_t reader)
{
    const struct graph_node *node = &r->graph->nodes.items[reader];
    size_t count = node->inputs.count;
    if (count < 2 || region_skim(&r->space, reader)->reason != NULL) return;
    struct group **parts = ARENA_ARRAY(r->space.scratch, struct group *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct graph_buffer *buffer = &r->graph->buffers.items[node->inputs.items[i].buffer];
        if (buffer->writer_node == GRAPH_NONE) return;
        parts[i] = r->group_of[buffer->writer_node];
        if (parts[i] == NULL || !parts[i]->region.ends_late) return;
        for (size_t k = 0; k < i; k++)
            if (parts[k] == parts[i]) return;
    }
    parts[count] = group_at(r, reader);
    if (parts[count] == NULL || parts[count]->nodes.count > 1) return;
    struct group *whole = build_joined_group(r, parts, count + 1);
    if (whole == NULL || !whole->region.interleaved ||
        whole->region.out.count != node->outputs.count ||
        whole->region.operations > sum_parts(whole, parts, count + 1))
        return;
    adopt_group(r, whole);
}

/* ---- the new graph ---- */

struct graph *reduce_graph(struct compile *cx, const struct graph *graph)
{
    struct arena *scratch = arena_create();
    struct reducer r = {.space = region_space(cx, graph, scratch), .graph = graph};
    r.group_of = ARENA_ARRAY(scratch, struct group *, graph->nodes.count + 1);
    while (join_edges(&r))
        ;
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        join_late(&r, n);
    VEC(struct region_choice) choices = {0};
    for (uint32_t n = 0; n < r.graph->nodes.count; n++) {
        const struct group *group = r.group_of[n];
        if (group == NULL || group->nodes.count < 2 || group->region.members.items[0].node != n)
            continue;
        vec_push(r.space.scratch, &choices, (struct region_choice){&group->region, group->alone});
    }
    struct graph *reduced = region_rewrite(&r.space, choices.items, choices.count);
    arena_destroy(scratch);
    return reduced;
}
