/* Firings of the members in an iteration of the group (fuse_internal.h). */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"

struct share { /* firings for one of the first member; den 0: not known yet */
    uint64_t num, den;
};

static bool share_make(struct share of, uint64_t factor, uint64_t divisor, struct share *made)
{
    uint64_t num, den;
    if (factor == 0 || divisor == 0 || !mul63(of.num, factor, &num) ||
        !mul63(of.den, divisor, &den))
        return false;
    uint64_t common = gcd64(num, den);
    *made = (struct share){num / common, den / common};
    return true;
}

/* By exact rates, or over a bounded buffer as if each firing wrote its most. */
static bool share_from(const struct graph *graph, uint32_t known, struct share share, uint32_t node,
                       struct share *found)
{
    const struct graph_node *from = &graph->nodes.items[known], *to = &graph->nodes.items[node];
    if (from->component == to->component)
        return share_make(share, to->repetitions, from->repetitions, found);
    for (size_t i = 0; i < to->inputs.count; i++) {
        const struct graph_input *in = &to->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        if (buffer->writer_node == known)
            return share_make(share, graph_writer(graph, buffer)->push, in->pop, found);
    }
    for (size_t i = 0; i < from->inputs.count; i++) {
        const struct graph_input *in = &from->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        if (buffer->writer_node == node)
            return share_make(share, in->pop, graph_writer(graph, buffer)->push, found);
    }
    return false;
}

static bool spread(const struct graph *graph, const struct fuse_group *group, struct share *shares)
{
    uint32_t known = 1;
    shares[0] = (struct share){1, 1};
    for (uint32_t before = 0; before < known && known < group->count;) {
        before = known;
        for (uint32_t i = 0; i < group->count; i++)
            for (uint32_t k = 0; k < group->count && shares[i].den == 0; k++)
                if (shares[k].den > 0 &&
                    share_from(graph, group->nodes[k], shares[k], group->nodes[i], &shares[i]))
                    known++;
    }
    return known == group->count;
}

bool fuse_firings(struct arena *arena, const struct graph *graph, struct fuse_group *group)
{
    struct share *shares = ARENA_ARRAY(arena, struct share, group->count);
    uint64_t *firings = ARENA_ARRAY(arena, uint64_t, group->count);
    uint64_t whole = 1, common = 0, sum = 0;
    if (!spread(graph, group, shares)) return false;
    for (uint32_t i = 0; i < group->count; i++)
        if (!mul63(whole, shares[i].den / gcd64(whole, shares[i].den), &whole)) return false;
    for (uint32_t i = 0; i < group->count; i++) {
        if (!mul63(shares[i].num, whole / shares[i].den, &firings[i])) return false;
        common = gcd64(common, firings[i]);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        firings[i] /= common;
        sum = add_clamped(sum, firings[i]);
    }
    group->firings = firings;
    return sum <= FUSE_FIRINGS_MAX;
}
