/* SPDX-License-Identifier: MIT */
/* Firings of the members in an iteration of the group (fuse_internal.h). */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"

/* False also for a rate of 0, which determines no number of firings. */
static bool share_scale(struct rational share, uint64_t up, uint64_t down, struct rational *found)
{
    return up > 0 && rational_scale(share, up, down, found);
}

/* *found: the share of `node`, from the share of its neighbour `known`.  By repetitions in one component; over a bounded
 * buffer as if each firing wrote the maximum.  False: they are no neighbours, or a rate is 0. */
static bool share_from(const struct graph *graph, uint32_t known, struct rational share,
                       uint32_t node, struct rational *found)
{
    const struct graph_node *from = &graph->nodes.items[known], *to = &graph->nodes.items[node];
    if (from->component == to->component)
        return share_scale(share, to->repetitions, from->repetitions, found);
    for (size_t i = 0; i < to->inputs.count; i++) {
        const struct graph_input *in = &to->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        if (buffer->writer_node == known)
            return share_scale(share, graph_writer(graph, buffer)->push, in->pop, found);
    }
    for (size_t i = 0; i < from->inputs.count; i++) {
        const struct graph_input *in = &from->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        if (buffer->writer_node == node)
            return share_scale(share, in->pop, graph_writer(graph, buffer)->push, found);
    }
    return false;
}

static bool spread_shares(const struct graph *graph, const struct fuse_group *group,
                          struct rational *shares)
{
    uint32_t known = 1;
    shares[0] = (struct rational){1, 1};
    for (uint32_t before = 0; before < known && known < group->count;) {
        before = known;
        for (uint32_t i = 0; i < group->count; i++)
            for (uint32_t k = 0; k < group->count && !rational_is_known(shares[i]); k++)
                if (rational_is_known(shares[k]) &&
                    share_from(graph, group->nodes[k], shares[k], group->nodes[i], &shares[i]))
                    known++;
    }
    return known == group->count;
}

bool fuse_firings(struct arena *arena, const struct graph *graph, struct fuse_group *group)
{
    struct rational *shares = ARENA_ARRAY(arena, struct rational, group->count);
    uint64_t *firings = ARENA_ARRAY(arena, uint64_t, group->count);
    uint64_t whole = 1, common = 0, sum = 0;
    if (!spread_shares(graph, group, shares)) return false;
    for (uint32_t i = 0; i < group->count; i++) {
        uint64_t denominator = (uint64_t)shares[i].denominator;
        if (!mul63(whole, denominator / gcd64(whole, denominator), &whole)) return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        uint64_t times = whole / (uint64_t)shares[i].denominator;
        if (!mul63((uint64_t)shares[i].numerator, times, &firings[i])) return false;
        common = gcd64(common, firings[i]);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        firings[i] /= common;
        sum = add_clamped(sum, firings[i]);
    }
    group->firings = firings;
    return sum <= FUSE_FIRINGS_MAX;
}
