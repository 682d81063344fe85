/* SPDX-License-Identifier: MIT */
/* The order of an iteration, and whether a part of an iteration writes outside (fuse_internal.h). */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"
#include "compiler/liveness/token_game.h"

#include <string.h>

/* For fuse_order: outside buffers and kept buffers always have enough packets.  The composite fires ahead for windows that
 * look past the packets at rest, so a firing needs no more than these and the packets that it consumes. */
static void relax_arc(struct net_arc *arc, bool has_enough)
{
    uint64_t at_rest = add_clamped(arc->take, (uint64_t)arc->initial);
    arc->absent = has_enough;
    arc->need = max64(arc->take, min64(arc->need, at_rest));
}

/* The members as a net.  Its last node stands for the outside and never fires.  The channel of an arc is its buffer.  A
 * firing of a bounded writer counts as if it wrote the maximum. */
static struct net *make_net(const struct fuse_scratch *scratch, const struct graph *graph,
                            const struct fuse_group *group, bool eased)
{
    VEC(struct net_arc) arcs = {0};
    uint64_t *firings = ARENA_ARRAY(scratch->arena, uint64_t, (size_t)group->count + 1);
    memcpy(firings, group->firings, group->count * sizeof *firings);
    for (uint32_t i = 0; i < group->count; i++)
        scratch->local[group->nodes[i]] = i;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct graph_node *node = &graph->nodes.items[group->nodes[i]];
        for (size_t k = 0; k < node->inputs.count; k++) {
            const struct graph_input *in = &node->inputs.items[k];
            const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
            const struct graph_output *out = graph_writer(graph, buffer);
            uint32_t from = out != NULL ? scratch->local[buffer->writer_node] : GRAPH_NONE;
            bool outside = from == GRAPH_NONE;
            if (in->pop == 0) continue;
            struct net_arc arc = {.from = outside ? group->count : from,
                                  .to = i,
                                  .add = outside ? 0 : out->push,
                                  .take = in->pop,
                                  .need = in->peek,
                                  .initial = (int64_t)buffer->initial.packets,
                                  .channel = in->buffer};
            if (eased) relax_arc(&arc, outside || scratch->kept[in->buffer]);
            vec_push(scratch->arena, &arcs, arc);
        }
    }
    for (uint32_t i = 0; i < group->count; i++)
        scratch->local[group->nodes[i]] = GRAPH_NONE;
    return net_of_arcs(scratch->arena, arcs.items, (uint32_t)arcs.count, firings, group->count + 1);
}

/* ---- order ---- */

struct ordering {
    struct arena *arena;
    const uint32_t *nodes; /* by member */
    VEC(struct compose_step) steps;
};

static bool append_step(void *data, uint32_t member, uint64_t firings)
{
    struct ordering *o = data;
    if (o->steps.count == FUSE_FIRINGS_MAX) return false;
    vec_push(o->arena, &o->steps,
             (struct compose_step){.node = o->nodes[member], .firings = firings});
    return true;
}

bool fuse_order(const struct fuse_scratch *scratch, const struct graph *graph,
                const struct fuse_group *group, struct compose_group *ordered)
{
    struct ordering ordering = {.arena = scratch->arena, .nodes = group->nodes};
    uint64_t budget = UINT64_MAX; /* the steps are limited */
    bool done =
        net_run_in_turns(make_net(scratch, graph, group, true), &budget, append_step, &ordering);
    *ordered = (struct compose_group){
        .steps = ordering.steps.items, .step_count = ordering.steps.count, .kept = scratch->kept};
    return done;
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

/* Are all ends of the buffer members?  True for a kept buffer that closes a cycle. */
static bool is_closed_by_members(const struct graph *graph, const struct fuse_group *group,
                                 uint32_t index)
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
        if (!fuse_is_inside(composite, buffer) && !is_closed_by_members(graph, group, buffer))
            return true;
    }
    return false;
}

/* Resets the net to the initial packets.  The outside buffer of `short_one` gets one packet less than an iteration needs;
 * all other outside buffers always have enough. */
static void begin_short(struct net *net, const struct graph_input *short_one)
{
    net_reset(net);
    for (uint32_t i = 0; i < net->arc_count; i++) {
        struct net_arc *arc = &net->arcs[i];
        if (arc->from != net->node_count - 1) continue;
        arc->absent = arc->channel != short_one->buffer;
        arc->tokens = (int64_t)(short_one->peek - 1);
    }
}

struct early {
    const bool *outside; /* by member */
    bool writes;         /* a member that writes outside fires */
};

static bool stop_at_outside(void *data, uint32_t member, uint64_t firings)
{
    struct early *early = data;
    (void)firings;
    early->writes = early->outside[member];
    return !early->writes;
}

const struct graph_buffer *fuse_partial(const struct fuse_scratch *scratch,
                                        const struct graph *graph, const struct fuse_group *group,
                                        const struct composite *composite)
{
    struct net *net = make_net(scratch, graph, group, false);
    /* Adds the firings ahead to the firings of an iteration. */
    for (size_t m = 0; m < composite->members.count; m++)
        for (uint32_t i = 0; i < group->count; i++)
            if (group->nodes[i] == composite->members.items[m].node)
                net->nodes[i].repetitions =
                    add_clamped(net->nodes[i].repetitions, composite->members.items[m].ahead);
    bool *outside = ARENA_ARRAY(scratch->arena, bool, group->count);
    for (uint32_t i = 0; i < group->count; i++)
        outside[i] = writes_outside(graph, group, composite, group->nodes[i]);
    for (size_t i = 0; i < composite->node.inputs.count; i++) {
        const struct graph_input *in = &composite->node.inputs.items[i];
        if (in->peek == 0 || fuse_is_member(group, graph->buffers.items[in->buffer].writer_node))
            continue; /* a kept buffer of a cycle: it lacks packets only if an outside buffer does */
        struct early early = {.outside = outside};
        uint64_t budget = UINT64_MAX; /* each member fires as often as in an iteration at most */
        begin_short(net, in);
        (void)net_run_in_turns(net, &budget, stop_at_outside, &early);
        if (early.writes) return &graph->buffers.items[in->buffer];
    }
    return NULL;
}
