/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/bundles.h"

#include <assert.h>

#include "compiler/ir/ratio.h"

bool bundles_possible(const struct kernel *kernel)
{
    uint64_t ends = 0;
    for (uint32_t p = 0; p < kernel->out_count && ends <= RELATION_ENDS_MAX; p++)
        ends += min64(kernel->out[p].arity, RELATION_ENDS_MAX + 1);
    return ends >= 2 && ends <= RELATION_ENDS_MAX;
}

/* ---- of a kernel ---- */

/* Shares so far are in the ratio of the first member's to `first_share`. */
static bool join_bundle(struct kernel_step *steps, uint32_t ends, uint32_t bundle, uint32_t end,
                        uint64_t first_share, uint64_t share)
{
    uint64_t scale = 0, common;
    for (uint32_t i = 0; i < ends && scale == 0; i++)
        if (steps[i].bundle == bundle) scale = steps[i].share;
    /* The first member has the share `scale` here and `first_share` in the relation: all shares are scaled to their
     * least common multiple. */
    common = gcd64(scale, first_share);
    uint64_t others = first_share / common, mine;
    if (!mul63(scale / common, share, &mine)) return false;
    for (uint32_t i = 0; i < ends; i++)
        if (steps[i].bundle == bundle && !mul63(steps[i].share, others, &steps[i].share))
            return false;
    steps[end] = (struct kernel_step){bundle, mine};
    return true;
}

static uint32_t first_of(const struct kernel_step *steps, uint32_t ends, uint32_t bundle)
{
    uint32_t first = 0;
    while (first < ends && steps[first].bundle != bundle)
        first++;
    return first;
}

void bundles_of_kernel(struct compile *cx, struct kernel *kernel, const struct relation *relation)
{
    uint32_t ends = walk_end_count(kernel), bundles = 0;
    struct kernel_step *steps = ARENA_ARRAY(cx->arena, struct kernel_step, ends);
    for (uint32_t end = 0; end < ends; end++) {
        uint64_t first_share, share;
        for (uint32_t b = 1; b <= bundles && steps[end].bundle == 0; b++)
            if (relation_in_step(relation, first_of(steps, ends, b), end, &first_share, &share) &&
                !join_bundle(steps, ends, b, end, first_share, share))
                return; /* does not fit 63 bits */
        if (steps[end].bundle == 0) steps[end] = (struct kernel_step){++bundles, 1};
    }
    kernel->steps = steps;
}

/* ---- of the nodes ---- */

static bool takes_part(const struct graph *graph, const struct graph_node *node,
                       const struct graph_output *out)
{
    const struct graph_buffer *buffer = &graph->buffers.items[out->buffer];
    return buffer->outer == GRAPH_INNER && buffer->readers.count > 0 && out->push > 0 &&
           !graph_is_exact(node, out);
}

/* Shares without a common divisor.  Returns the number of members. */
static uint32_t reduce_shares(struct graph_node *node, uint32_t bundle)
{
    uint64_t common = 0;
    uint32_t members = 0;
    for (size_t o = 0; o < node->outputs.count; o++) {
        if (node->outputs.items[o].bundle != bundle) continue;
        common = gcd64(common, node->outputs.items[o].share);
        members++;
    }
    for (size_t o = 0; o < node->outputs.count; o++)
        if (node->outputs.items[o].bundle == bundle) {
            assert(common > 0); /* no share is 0 */
            node->outputs.items[o].share /= common;
        }
    return members;
}

struct multiples { /* of shares that a firing appends */
    uint64_t least, most;
};

/* The smallest range that holds those of all members in this phase. */
static struct multiples hull_of(const struct graph_node *node, uint32_t bundle, uint32_t phase)
{
    struct multiples hull = {UINT64_MAX, 0};
    for (size_t o = 0; o < node->outputs.count; o++) {
        const struct graph_output *out = &node->outputs.items[o];
        if (out->bundle != bundle) continue;
        uint64_t least = out->pushes ? out->push_leasts[phase] : out->push_least;
        uint64_t most = out->pushes ? out->pushes[phase] : out->push;
        hull.least = min64(hull.least, least / out->share);
        hull.most = max64(hull.most, most / out->share + (most % out->share != 0));
    }
    return hull;
}

/* The ranges that fit the bundle; false: they do not fit 63 bits. */
static bool widen_output(struct compile *cx, const struct graph_node *node,
                         const struct multiples *hulls, struct graph_output *out)
{
    uint32_t phases = graph_phases(node);
    uint64_t *leasts = ARENA_ARRAY(cx->arena, uint64_t, phases);
    uint64_t *mosts = ARENA_ARRAY(cx->arena, uint64_t, phases);
    uint64_t least = 0, most = 0;
    for (uint32_t p = 0; p < phases; p++) {
        if (!mul63(hulls[p].least, out->share, &leasts[p]) ||
            !mul63(hulls[p].most, out->share, &mosts[p]) || !add63(least, leasts[p], &least) ||
            !add63(most, mosts[p], &most))
            return false;
    }
    out->push_least = least;
    out->push = most;
    out->push_leasts = phases > 1 ? leasts : NULL;
    out->pushes = phases > 1 ? mosts : NULL;
    return true;
}

/* Authors may declare ranges that no number of shares fills, or that differ: all of them hold then, and the kernel
 * keeps to its own. */
static bool widen_bundle(struct compile *cx, struct graph_node *node, uint32_t bundle)
{
    uint32_t phases = graph_phases(node);
    struct multiples *hulls = ARENA_ARRAY(cx->arena, struct multiples, phases);
    for (uint32_t p = 0; p < phases; p++)
        hulls[p] = hull_of(node, bundle, p);
    for (size_t o = 0; o < node->outputs.count; o++)
        if (node->outputs.items[o].bundle == bundle &&
            !widen_output(cx, node, hulls, &node->outputs.items[o]))
            return false;
    return true;
}

/* A bundle needs two outputs or more. */
static void settle_bundle(struct compile *cx, struct graph_node *node, uint32_t bundle)
{
    uint32_t members = reduce_shares(node, bundle);
    if (members == 0 || (members >= 2 && widen_bundle(cx, node, bundle))) return;
    for (size_t o = 0; o < node->outputs.count; o++) {
        struct graph_output *out = &node->outputs.items[o];
        if (out->bundle == bundle) out->bundle = 0, out->share = 0;
    }
}

static void bundles_of_node(struct compile *cx, const struct graph *graph, struct graph_node *node)
{
    const struct kernel *kernel = node->kernel;
    for (size_t o = 0; o < node->outputs.count; o++) {
        struct graph_output *out = &node->outputs.items[o];
        out->bundle = 0;
        out->share = 0;
        if (!kernel->steps || !takes_part(graph, node, out)) continue;
        uint32_t end = walk_first_end(kernel, out->kernel_port) + out->element;
        out->bundle = kernel->steps[end].bundle;
        out->share = kernel->steps[end].share;
    }
    for (uint32_t b = 1; kernel->steps && b <= node->outputs.count; b++)
        settle_bundle(cx, node, b);
}

void bundles_of_graph(struct compile *cx, struct graph *graph)
{
    for (size_t n = 0; n < graph->nodes.count; n++)
        bundles_of_node(cx, graph, &graph->nodes.items[n]);
}
