/* The order of an iteration, and what a part of one would write (fuse_internal.h). */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"

#include <string.h>

struct arc { /* a buffer between two members, or from outside (from: GRAPH_NONE) to one */
    uint32_t from, to, buffer;
    uint64_t add, take, need, tokens;
};

struct inner_net {
    VEC(struct arc) arcs; /* by their readers, which are in order */
    uint64_t *limits;     /* by member: firings that are left */
    uint32_t count;
    /* By member: from where on its arcs stand in `arcs`, and those that it writes in `written`. */
    uint32_t *reads, *writes, *written;
};

static void mark(const struct fuse_scratch *scratch, const struct fuse_group *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        scratch->local[group->nodes[i]] = i;
}

static void unmark(const struct fuse_scratch *scratch, const struct fuse_group *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        scratch->local[group->nodes[i]] = GRAPH_NONE;
}

/* Of a bounded buffer, as if each firing wrote its most. */
static struct arc arc_between(const struct fuse_scratch *scratch, const struct graph *graph,
                              const struct graph_input *in, uint32_t reader)
{
    const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
    const struct graph_output *out = graph_writer(graph, buffer);
    uint32_t from = out != NULL ? scratch->local[buffer->writer_node] : GRAPH_NONE;
    return (struct arc){.from = from,
                        .to = reader,
                        .buffer = in->buffer,
                        .add = from != GRAPH_NONE ? out->push : 0,
                        .take = in->pop,
                        .need = in->peek,
                        .tokens = buffer->initial.packets};
}

static struct inner_net make_net(const struct fuse_scratch *scratch, const struct graph *graph,
                                 const struct fuse_group *group)
{
    struct inner_net net = {.count = group->count};
    net.limits = ARENA_ARRAY(scratch->arena, uint64_t, group->count);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct graph_node *node = &graph->nodes.items[group->nodes[i]];
        net.limits[i] = group->firings[i];
        for (size_t k = 0; k < node->inputs.count; k++)
            vec_push(scratch->arena, &net.arcs,
                     arc_between(scratch, graph, &node->inputs.items[k], i));
    }
    return net;
}

/* Once the arcs are those that they will be. */
static void index_arcs(const struct fuse_scratch *scratch, struct inner_net *net)
{
    net->reads = ARENA_ARRAY(scratch->arena, uint32_t, (size_t)net->count + 1);
    net->writes = ARENA_ARRAY(scratch->arena, uint32_t, (size_t)net->count + 2);
    net->written = ARENA_ARRAY(scratch->arena, uint32_t, net->arcs.count + 1);
    for (size_t i = 0; i < net->arcs.count; i++) {
        const struct arc *arc = &net->arcs.items[i];
        net->reads[arc->to + 1]++;
        if (arc->from != GRAPH_NONE) net->writes[arc->from + 2]++;
    }
    for (uint32_t i = 0; i < net->count; i++) {
        net->reads[i + 1] += net->reads[i];
        net->writes[i + 2] += net->writes[i + 1];
    }
    for (uint32_t i = 0; i < net->arcs.count; i++)
        if (net->arcs.items[i].from != GRAPH_NONE)
            net->written[net->writes[net->arcs.items[i].from + 1]++] = i;
}

static uint64_t enabled(const struct inner_net *net, uint32_t member)
{
    uint64_t most = net->limits[member];
    for (size_t i = net->reads[member]; i < net->reads[member + 1] && most > 0; i++) {
        const struct arc *arc = &net->arcs.items[i];
        if (arc->take == 0) continue;
        uint64_t fits = arc->tokens < arc->need ? 0 : (arc->tokens - arc->need) / arc->take + 1;
        most = min64(most, fits);
    }
    return most;
}

static void fire(struct inner_net *net, uint32_t member, uint64_t firings)
{
    net->limits[member] -= firings;
    for (size_t i = net->reads[member]; i < net->reads[member + 1]; i++)
        net->arcs.items[i].tokens -= mul_clamped(firings, net->arcs.items[i].take);
    for (size_t i = net->writes[member]; i < net->writes[member + 1]; i++) {
        struct arc *arc = &net->arcs.items[net->written[i]];
        arc->tokens = add_clamped(arc->tokens, mul_clamped(firings, arc->add));
    }
}

/* ---- order ---- */

/* What is outside never lacks, nor what is kept.  A window that looks beyond what is at rest is filled ahead: the
 * composite sees to that. */
static void ease(struct inner_net *net, const bool *kept_buffers)
{
    size_t kept = 0;
    for (size_t i = 0; i < net->arcs.count; i++) {
        struct arc arc = net->arcs.items[i];
        if (arc.from == GRAPH_NONE || kept_buffers[arc.buffer]) continue;
        arc.need = max64(arc.take, min64(arc.need, add_clamped(arc.take, arc.tokens)));
        net->arcs.items[kept++] = arc;
    }
    net->arcs.count = kept;
}

bool fuse_order(const struct fuse_scratch *scratch, const struct graph *graph,
                const struct fuse_group *group, struct compose_group *ordered)
{
    VEC(struct compose_step) steps = {0};
    mark(scratch, group);
    struct inner_net net = make_net(scratch, graph, group);
    unmark(scratch, group);
    ease(&net, scratch->kept);
    index_arcs(scratch, &net);
    uint32_t left = group->count;
    for (bool moved = true; moved && left > 0 && steps.count <= FUSE_FIRINGS_MAX;) {
        moved = false;
        for (uint32_t i = 0; i < group->count; i++) {
            uint64_t firings = enabled(&net, i);
            if (firings == 0) continue;
            fire(&net, i, firings);
            moved = true;
            left -= net.limits[i] == 0;
            vec_push(scratch->arena, &steps,
                     (struct compose_step){.node = group->nodes[i], .firings = firings});
        }
    }
    *ordered = (struct compose_group){
        .steps = steps.items, .step_count = steps.count, .kept = scratch->kept};
    return left == 0 && steps.count <= FUSE_FIRINGS_MAX;
}

/* ---- a part of an iteration ---- */

bool fuse_is_inside(const struct composite *composite, uint32_t buffer)
{
    bool inside = false;
    for (size_t i = 0; i < composite->inside.count; i++)
        inside |= composite->inside.items[i].buffer == buffer;
    for (size_t i = 0; i < composite->node.outputs.count; i++)
        inside &= composite->node.outputs.items[i].buffer != buffer;
    return inside;
}

bool fuse_is_member(const struct fuse_group *group, uint32_t node)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->nodes[i] == node) return true;
    return false;
}

/* A circle that is closed by a buffer that stays one: nobody but members is at its ends. */
static bool is_own(const struct graph *graph, const struct fuse_group *group, uint32_t index)
{
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    bool own = fuse_is_member(group, buffer->writer_node) && buffer->outer != GRAPH_OUTER_OUT;
    for (size_t r = 0; r < buffer->readers.count && own; r++)
        own = fuse_is_member(group, buffer->readers.items[r].node);
    return own;
}

static bool writes_outside(const struct graph *graph, const struct fuse_group *group,
                           const struct composite *composite, uint32_t node)
{
    const struct graph_node *member = &graph->nodes.items[node];
    for (size_t i = 0; i < member->outputs.count; i++) {
        uint32_t buffer = member->outputs.items[i].buffer;
        if (!fuse_is_inside(composite, buffer) && !is_own(graph, group, buffer)) return true;
    }
    return false;
}

static void raise_limits(struct inner_net *net, const struct fuse_group *group,
                         const struct composite *composite)
{
    for (size_t m = 0; m < composite->members.count; m++)
        for (uint32_t i = 0; i < group->count; i++)
            if (group->nodes[i] == composite->members.items[m].node)
                net->limits[i] = add_clamped(net->limits[i], composite->members.items[m].ahead);
}

/* `net` as it was at the beginning, with one packet less of `short_one` than an iteration needs, and any number of all
 * else from outside. */
static void begin_short(struct inner_net *net, const struct inner_net *fresh,
                        const struct graph_input *short_one)
{
    memcpy(net->limits, fresh->limits, net->count * sizeof *net->limits);
    for (size_t i = 0; i < net->arcs.count; i++) {
        struct arc *arc = &net->arcs.items[i];
        arc->tokens = fresh->arcs.items[i].tokens;
        if (arc->from == GRAPH_NONE)
            arc->tokens = arc->buffer == short_one->buffer ? short_one->peek - 1 : INT64_MAX;
    }
}

/* Does a member that `outside` has fire before the net stands still? */
static bool appears_early(struct inner_net *net, const bool *outside)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < net->count; i++) {
            uint64_t firings = enabled(net, i);
            if (firings == 0) continue;
            if (outside[i]) return true;
            fire(net, i, firings);
            moved = true;
        }
    }
    return false;
}

const struct graph_buffer *fuse_partial(const struct fuse_scratch *scratch,
                                        const struct graph *graph, const struct fuse_group *group,
                                        const struct composite *composite)
{
    mark(scratch, group);
    struct inner_net fresh = make_net(scratch, graph, group), net = make_net(scratch, graph, group);
    unmark(scratch, group);
    raise_limits(&fresh, group, composite);
    index_arcs(scratch, &net);
    bool *outside = ARENA_ARRAY(scratch->arena, bool, group->count);
    for (uint32_t i = 0; i < group->count; i++)
        outside[i] = writes_outside(graph, group, composite, group->nodes[i]);
    for (size_t i = 0; i < composite->node.inputs.count; i++) {
        const struct graph_input *in = &composite->node.inputs.items[i];
        if (in->peek == 0 || fuse_is_member(group, graph->buffers.items[in->buffer].writer_node))
            continue; /* what a circle lacks, it lacks for want of packets from elsewhere */
        begin_short(&net, &fresh, in);
        if (appears_early(&net, outside)) return &graph->buffers.items[in->buffer];
    }
    return NULL;
}
