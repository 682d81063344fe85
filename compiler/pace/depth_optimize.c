/* SPDX-License-Identifier: MIT */
/*
 * depth_optimize: the minimum memory, the minimum for the maximum throughput, and the points between.
 *
 * Requires  the depths that bufsize has found (they live), no fault.
 * Fills     depth_packets, why, paced of undeclared buffers, graph->memory_least,
 *           graph->memory_least_bytes, graph->front.
 *
 * Groups.  A graph lives exactly if each of its blocks does (channels.h).  Blocks that share an
 * undeclared buffer with several readers are one group (depth_search.h), because their memory cannot be
 * separated.  Every other block is a group by itself, and the minimum of the whole graph is the sum.
 *
 * Paces.  A pace is not that of the slowest block.  A critical cycle may go through one block from
 * firing i of a node to firing j, and through another block from there.  But if the node fires once in
 * an iteration of every block that it is in, firing j is firing i of a later iteration.  Then the cycle
 * splits into one within each block, and the slowest of these is no faster than it.  So blocks that meet
 * in any other node are timed as one net.  Its iteration may be longer than theirs, so this test is
 * repeated.
 *
 * --buffers=min.  Groups are searched from the floors of bufsize.c, which no live vector is below.  The
 * smaller ones come first, each with at most half of the budget that is left.  Where every raise of
 * bufsize was unavoidable there is nothing to search.  Else the depths of bufsize are the vector to
 * beat, and remain if the budget is spent; the result is then a bound.  A block of one channel without
 * phases has its minimum by the formula.
 *
 * --buffers=fast.  The maximum of a part of the graph (connected by exact rates) is that of its slowest
 * net with the undeclared rooms unlimited.  Its groups then use the minimum of memory at which they are
 * as fast.  One depth is found by halving, more by the search, whose vector to beat is found by climbing
 * (depth_climb).  A part whose maximum is unbounded or not known keeps the minimum that lives, and the
 * plan adds room for a dispatch.  So does a buffer between two parts.
 *
 * --pareto.  Each group has a front, up to the maximum of its part.  The part's front is that of the
 * slowest of its groups, where no group uses more memory than it needs for that pace.  A part whose
 * maximum is unbounded has no last point: POINTS_MAX are shown.  Bounded rates join no parts: a buffer
 * between two parts has its minimum depth in every row.
 *
 * Where the author accepts that the graph is not proven to live (graph->unproven) there is no minimum:
 * less memory could stop a graph that runs with more.  Depths are those of the default then.
 *
 * Rules.  Some room is kept by rule: for `finish`, for a bounded writer of several readers that meet
 * again, and for windows that go round a frame.  It is enough, and not always necessary (bufsize.c).  If
 * a buffer has such room, the result is the minimum for this rule and is called a bound.  Below it only
 * the need of one firing counts.
 */
#include "compiler/ir/graph.h"
#include "compiler/pace/bufsize_internal.h"
#include "compiler/pace/depth_search.h"
#include "compiler/support/set_links.h"

#include <stdlib.h>
#include <string.h>

/* PACE_STEPS: steps of throughput.h are small ones. */
enum { MODE_STEPS = 20 * 1000 * 1000, PACE_STEPS = 200 * 1000 * 1000, POINTS_MAX = 256 };

struct mode {
    struct bufsize *pass;
    struct arena *arena;
    /* By block: links of a forest.  Blocks of one net; of one group. */
    uint32_t *net_of, *group_of;
    struct net **nets;   /* by block that is a root of net_of; NULL where a formula is enough */
    uint32_t *choice_of; /* by buffer, within its group */
    struct depth_group *groups;
    uint32_t *components; /* by group */
    uint32_t *order;      /* of the groups, smaller ones first */
    uint32_t group_count;
    struct throughput *most; /* by component */
    uint64_t budget;
    bool exact;
    uint64_t least_bytes;
};

/* ---- groups ---- */

static void link_blocks(uint32_t *links, uint32_t a, uint32_t b)
{
    links[set_root(links, a)] = set_root(links, b);
}

/* Firings of the end of a channel in one iteration of its net by itself. */
static uint64_t local_firings(const struct mode *mode, const uint64_t *common, uint32_t block,
                              uint32_t node)
{
    return channels_repetitions(&mode->pass->channels, node) /
           max64(common[set_root(mode->net_of, block)], 1);
}

/* By net: the number of its own iterations in one of the part. */
static uint64_t *common_counts(const struct mode *mode)
{
    const struct channels *channels = &mode->pass->channels;
    uint64_t *common = ARENA_ARRAY(mode->arena, uint64_t, channels->block_count + 1);
    for (uint32_t i = 0; i < channels->count; i++) {
        const struct channel *channel = &channels->items[i];
        uint64_t from = channels_repetitions(channels, channel->from) / channel->from_phases;
        uint64_t to = channels_repetitions(channels, channel->to) / channel->to_phases;
        uint32_t root = set_root(mode->net_of, channel->block);
        common[root] = gcd64(common[root], gcd64(from, to));
    }
    return common;
}

/* Joins nets that meet in a node that fires several times in an iteration of one of them.
 * False: there were none.  Else the iterations of those nets are longer now. */
static bool join_paces(struct mode *mode)
{
    bool joined = false;
    const struct channels *channels = &mode->pass->channels;
    const uint64_t *common = common_counts(mode);
    uint32_t *first = ARENA_ARRAY(mode->arena, uint32_t, channels->node_count + 1);
    bool *often = ARENA_ARRAY(mode->arena, bool, channels->node_count + 1);
    for (uint32_t i = 0; i < channels->node_count; i++)
        first[i] = GRAPH_NONE;
    for (uint32_t i = 0; i < channels->count; i++) {
        const struct channel *channel = &channels->items[i];
        often[channel->from] |= local_firings(mode, common, channel->block, channel->from) > 1;
        often[channel->to] |= local_firings(mode, common, channel->block, channel->to) > 1;
    }
    for (uint32_t i = 0; i < 2 * channels->count; i++) {
        const struct channel *channel = &channels->items[i / 2];
        uint32_t node = i % 2 ? channel->to : channel->from;
        if (!often[node]) continue;
        if (first[node] == GRAPH_NONE) first[node] = channel->block;
        joined |= set_root(mode->net_of, channel->block) != set_root(mode->net_of, first[node]);
        link_blocks(mode->net_of, channel->block, first[node]);
    }
    return joined;
}

/* Creates the nets for paces: one for each set of blocks that have to be timed together. */
static void create_nets(struct mode *mode)
{
    const struct channels *channels = &mode->pass->channels;
    uint32_t blocks = channels->block_count;
    struct channel_block *sets = ARENA_ARRAY(mode->arena, struct channel_block, blocks + 1);
    while (join_paces(mode))
        ;
    for (uint32_t i = 0; i < channels->count; i++)
        sets[set_root(mode->net_of, channels->items[i].block)].count++;
    for (uint32_t b = 0; b < blocks; b++) {
        sets[b].channels = ARENA_ARRAY(mode->arena, uint32_t, sets[b].count + 1);
        sets[b].count = 0;
    }
    for (uint32_t i = 0; i < channels->count; i++) {
        struct channel_block *set = &sets[set_root(mode->net_of, channels->items[i].block)];
        set->channels[set->count++] = i;
    }
    for (uint32_t b = 0; b < blocks; b++)
        if (sets[b].count)
            mode->nets[b] = net_create(mode->arena, channels, &sets[b], mode->pass->depths);
}

/* Joins nets that share an undeclared buffer. */
static void join_groups(struct mode *mode)
{
    struct bufsize *pass = mode->pass;
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++) {
        uint32_t first = GRAPH_NONE;
        if (pass->sizings[i].declared) continue;
        for (uint32_t c = pass->first_channel[i]; c < pass->first_channel[i + 1]; c++) {
            uint32_t block = set_root(mode->net_of, pass->channels.items[c].block);
            if (!mode->nets[block]) continue;
            if (first == GRAPH_NONE) first = block;
            link_blocks(mode->group_of, block, first);
        }
    }
}

static void number_groups(struct mode *mode)
{
    uint32_t blocks = mode->pass->channels.block_count;
    uint32_t *numbers = ARENA_ARRAY(mode->arena, uint32_t, blocks + 1);
    uint32_t *net_counts = ARENA_ARRAY(mode->arena, uint32_t, blocks + 1);
    for (uint32_t b = 0; b < blocks; b++) {
        if (!mode->nets[b]) continue;
        uint32_t root = set_root(mode->group_of, b);
        if (net_counts[root]++ == 0) numbers[root] = mode->group_count++;
    }
    mode->groups = ARENA_ARRAY(mode->arena, struct depth_group, mode->group_count + 1);
    mode->components = ARENA_ARRAY(mode->arena, uint32_t, mode->group_count + 1);
    for (uint32_t b = 0; b < blocks; b++) {
        if (!mode->nets[b]) continue;
        uint32_t root = set_root(mode->group_of, b);
        struct depth_group *group = &mode->groups[numbers[root]];
        if (!group->nets)
            group->nets = ARENA_ARRAY(mode->arena, struct depth_net, net_counts[root]);
        group->nets[group->net_count++].net = mode->nets[b];
    }
}

static uint32_t mode_buffer(const struct mode *mode, const struct net_arc *arc)
{
    return mode->pass->channels.items[arc->channel].buffer;
}

static void add_choice(struct mode *mode, struct depth_group *group, uint32_t buffer)
{
    const struct graph_buffer *at = &mode->pass->graph->buffers.items[buffer];
    mode->choice_of[buffer] = group->choice_count;
    group->choices[group->choice_count++] =
        (struct depth_choice){.buffer = buffer,
                              .floor_packets = mode->pass->sizings[buffer].floor_packets,
                              .width_bytes = at->width_bytes,
                              .counted = at->outer == GRAPH_INNER};
}

static void fill_net(struct mode *mode, struct depth_group *group, struct depth_net *at)
{
    const struct channels *channels = &mode->pass->channels;
    at->choice = ARENA_ARRAY(mode->arena, uint32_t, at->net->arc_count);
    at->base = ARENA_ARRAY(mode->arena, int64_t, at->net->arc_count);
    for (uint32_t i = 0; i < at->net->arc_count; i++) {
        struct net_arc *arc = &at->net->arcs[i];
        at->choice[i] = GRAPH_NONE;
        if (arc->kind == ARC_PACKETS) continue;
        uint32_t buffer = mode_buffer(mode, arc);
        const struct sizing *sizing = &mode->pass->sizings[buffer];
        const struct channel *channel = &channels->items[arc->channel];
        arc->initial = net_room(channels, channel, sizing->depth_packets);
        if (sizing->declared) continue;
        if (mode->choice_of[buffer] == GRAPH_NONE) add_choice(mode, group, buffer);
        at->choice[i] = mode->choice_of[buffer];
        at->base[i] = net_room(channels, channel, sizing->floor_packets);
    }
}

/* Fills the data that a pace depends on. */
static void fill_times(struct mode *mode, struct depth_net *at, uint32_t *component)
{
    const struct graph *graph = mode->pass->graph;
    struct net_timing timing = net_timing_of(mode->arena, at->net, graph);
    for (uint32_t i = 0; i < at->net->node_count; i++) {
        const struct net_node *node = &at->net->nodes[i];
        if (node->node >= graph->nodes.count) continue;
        const struct graph_node *real = &graph->nodes.items[node->node];
        at->turns = real->repetitions / max64(node->repetitions, 1);
        *component = real->component;
    }
    at->cost = timing.cost;
    at->stateful = timing.stateful;
}

static void fill_groups(struct mode *mode)
{
    for (uint32_t g = 0; g < mode->group_count; g++) {
        struct depth_group *group = &mode->groups[g];
        uint32_t arcs = 0;
        for (uint32_t n = 0; n < group->net_count; n++)
            arcs += group->nets[n].net->arc_count;
        group->choices = ARENA_ARRAY(mode->arena, struct depth_choice, arcs);
        for (uint32_t n = 0; n < group->net_count; n++) {
            fill_net(mode, group, &group->nets[n]);
            fill_times(mode, &group->nets[n], &mode->components[g]);
        }
    }
}

struct ranked_group {
    uint32_t size, group;
};

static int compare_groups(const void *left, const void *right)
{
    const struct ranked_group *a = left, *b = right;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

static struct mode mode_begin(struct bufsize *pass, bool timed)
{
    uint32_t blocks = pass->channels.block_count, buffers = (uint32_t)pass->graph->buffers.count;
    struct mode mode = {.pass = pass,
                        .arena = pass->arena,
                        .nets = ARENA_ARRAY(pass->arena, struct net *, blocks + 1),
                        .net_of = ARENA_ARRAY(pass->arena, uint32_t, blocks + 1),
                        .group_of = ARENA_ARRAY(pass->arena, uint32_t, blocks + 1),
                        .choice_of = ARENA_ARRAY(pass->arena, uint32_t, buffers + 1),
                        .budget = timed ? PACE_STEPS : MODE_STEPS,
                        .exact = true};
    for (uint32_t b = 0; b < blocks; b++)
        mode.group_of[b] = mode.net_of[b] = b;
    if (timed)
        create_nets(&mode);
    else
        memcpy(mode.nets, pass->nets, blocks * sizeof(struct net *));
    for (uint32_t i = 0; i < buffers; i++)
        mode.choice_of[i] = GRAPH_NONE;
    join_groups(&mode);
    number_groups(&mode);
    fill_groups(&mode);
    struct ranked_group *ranked =
        ARENA_ARRAY(mode.arena, struct ranked_group, mode.group_count + 1);
    mode.order = ARENA_ARRAY(mode.arena, uint32_t, mode.group_count + 1);
    for (uint32_t g = 0; g < mode.group_count; g++)
        ranked[g] = (struct ranked_group){mode.groups[g].choice_count, g};
    qsort(ranked, mode.group_count, sizeof *ranked, compare_groups);
    for (uint32_t g = 0; g < mode.group_count; g++)
        mode.order[g] = ranked[g].group;
    return mode;
}

/* Sets the nets of bufsize to the depths found. */
static void mode_end(const struct mode *mode)
{
    for (uint32_t i = 0; i < mode->pass->graph->buffers.count; i++)
        bufsize_restart_nets(mode->pass, i);
}

/* ---- room by rule ---- */

static bool is_by_rule(const struct bufsize *pass, uint32_t index)
{
    const struct graph_buffer *buffer = &pass->graph->buffers.items[index];
    const struct sizing *sizing = &pass->sizings[index];
    bool rounds = false, tied = false;
    for (uint32_t r = 0; r < buffer->readers.count; r++)
        rounds |= graph_window_wraps(pass->graph, buffer, r);
    for (uint32_t c = pass->first_channel[index]; c < pass->first_channel[index + 1]; c++)
        tied |= pass->channels.blocks[pass->channels.items[c].block].count > 1;
    return sizing->ending > 0 || sizing->floor_why == WHY_FINISH ||
           sizing->floor_why == WHY_FINISH_INITIAL || rounds ||
           (tied && graph_is_bounded(pass->graph, buffer));
}

static uint64_t bytes_at_depth(const struct bufsize *pass, uint32_t buffer, uint64_t packets)
{
    const struct graph_buffer *at = &pass->graph->buffers.items[buffer];
    return at->outer == GRAPH_INNER ? mul_clamped(packets, at->width_bytes) : 0;
}

static bool group_by_rule(const struct mode *mode, const struct depth_group *group)
{
    for (uint32_t i = 0; i < group->choice_count; i++)
        if (is_by_rule(mode->pass, group->choices[i].buffer)) return true;
    return false;
}

/* The certain part of a group's memory where rules decide. */
static uint64_t certain_bytes(const struct mode *mode, const struct depth_group *group)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < group->choice_count; i++) {
        uint32_t buffer = group->choices[i].buffer;
        uint64_t packets = mode->pass->sizings[buffer].certain_packets;
        bytes = add_clamped(bytes, bytes_at_depth(mode->pass, buffer, packets));
    }
    return bytes;
}

/* Buffers that belong to no group have the depth of their formula or declaration. */
static void count_alone(struct mode *mode)
{
    struct bufsize *pass = mode->pass;
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++) {
        const struct sizing *sizing = &pass->sizings[i];
        if (mode->choice_of[i] != GRAPH_NONE) continue;
        bool rule = !sizing->declared && is_by_rule(pass, i) &&
                    pass->graph->buffers.items[i].outer == GRAPH_INNER;
        uint64_t packets = rule ? sizing->certain_packets : sizing->depth_packets;
        if (rule) mode->exact = false;
        mode->least_bytes = add_clamped(mode->least_bytes, bytes_at_depth(pass, i, packets));
    }
}

static void count_group(struct mode *mode, const struct depth_group *group,
                        const struct depth_found *found)
{
    bool rule = group_by_rule(mode, group);
    if (rule || !found->exact) mode->exact = false;
    uint64_t bytes = rule ? certain_bytes(mode, group) : found->least_bytes;
    mode->least_bytes = add_clamped(mode->least_bytes, bytes);
}

static void count_all(struct mode *mode)
{
    struct graph *graph = mode->pass->graph;
    count_alone(mode);
    graph->memory_least = mode->exact ? LEAST_EXACT : LEAST_BOUND;
    graph->memory_least_bytes = mode->least_bytes;
}

/* ---- the minimum ---- */

static uint64_t *present_depths(const struct mode *mode, const struct depth_group *group)
{
    uint64_t *depths = ARENA_ARRAY(mode->arena, uint64_t, group->choice_count + 1);
    for (uint32_t i = 0; i < group->choice_count; i++)
        depths[i] = mode->pass->sizings[group->choices[i].buffer].depth_packets;
    return depths;
}

static struct depth_found search_group(struct mode *mode, const struct depth_group *group,
                                       const struct depth_request *request)
{
    uint64_t share = mode->budget / 2, left = share;
    struct depth_found found = depth_search(mode->arena, group, request, &left);
    mode->budget -= share - left;
    if (share == 0) found.exact = false;
    return found;
}

/* The node that waited for packets of another buffer. */
static uint32_t waiter_node(const struct mode *mode, const struct depth_group *group,
                            uint32_t choice, uint32_t arc)
{
    uint32_t node = GRAPH_NONE;
    for (uint32_t n = 0; arc != GRAPH_NONE && n < group->net_count; n++) {
        const struct net *net = group->nets[n].net;
        if (arc >= net->arc_count) continue;
        if (mode_buffer(mode, &net->arcs[arc]) == group->choices[choice].buffer) continue;
        node = net->nodes[net->arcs[arc].to].node;
        break;
    }
    return node < mode->pass->graph->nodes.count ? node : GRAPH_NONE;
}

/* Was every raise so far unavoidable, or was there none? */
static bool has_forced_raises(const struct mode *mode, const struct depth_group *group)
{
    for (uint32_t i = 0; i < group->choice_count; i++) {
        const struct sizing *sizing = &mode->pass->sizings[group->choices[i].buffer];
        bool forced = !sizing->chosen && sizing->why != WHY_PERIODIC;
        if (!forced && sizing->depth_packets > sizing->floor_packets) return false;
    }
    return true;
}

static struct depth_found search_least(struct mode *mode, const struct depth_group *group)
{
    const struct depth_request request = {.known = present_depths(mode, group)};
    if (!has_forced_raises(mode, group)) return search_group(mode, group, &request);
    return (struct depth_found){
        .exact = true, .least_bytes = depth_cost_bytes(depth_vector_cost(group, request.known))};
}

static void minimise_groups(struct mode *mode)
{
    for (uint32_t k = 0; k < mode->group_count; k++) {
        const struct depth_group *group = &mode->groups[mode->order[k]];
        struct depth_found found = search_least(mode, group);
        if (found.depths) {
            for (uint32_t i = 0; i < group->choice_count; i++) {
                struct sizing *sizing = &mode->pass->sizings[group->choices[i].buffer];
                if (sizing->depth_packets == found.depths[i]) continue;
                bool raised = found.depths[i] > sizing->floor_packets;
                sizing->depth_packets = found.depths[i];
                sizing->chosen = true;
                sizing->why = raised ? WHY_WAIT : sizing->floor_why;
                sizing->waiter = waiter_node(mode, group, i, found.waiters[i]);
            }
        }
        count_group(mode, group, &found);
    }
}

static void find_least_again(struct bufsize *pass)
{
    pass->least_budget = MODE_STEPS / 4;
    bufsize_find_least(pass, false);
}

void bufsize_minimise(struct bufsize *pass)
{
    struct mode mode = mode_begin(pass, false);
    minimise_groups(&mode);
    count_all(&mode);
    mode_end(&mode);
    find_least_again(pass);
}

/* ---- the fastest ---- */

static void unlimit_rooms(const struct depth_net *at, bool unlimited)
{
    for (uint32_t i = 0; i < at->net->arc_count; i++)
        if (at->choice[i] != GRAPH_NONE) at->net->arcs[i].absent = unlimited;
}

/* By component: the pace of its slowest net with the undeclared rooms unlimited. */
static void find_maxima(struct mode *mode)
{
    uint32_t count = mode->pass->graph->component_count;
    uint64_t budget = PACE_STEPS;
    mode->most = ARENA_ARRAY(mode->arena, struct throughput, count + 1);
    for (uint32_t c = 0; c < count; c++)
        mode->most[c] = (struct throughput){.kind = THROUGHPUT_UNBOUNDED, .exact = true};
    for (uint32_t g = 0; g < mode->group_count; g++)
        for (uint32_t n = 0; n < mode->groups[g].net_count; n++) {
            const struct depth_net *at = &mode->groups[g].nets[n];
            struct throughput *most = &mode->most[mode->components[g]];
            unlimit_rooms(at, true);
            struct throughput one =
                throughput_of_net(mode->arena, at->net, at->cost, at->stateful, &budget);
            unlimit_rooms(at, false);
            if (one.kind == THROUGHPUT_RATIO) one = throughput_scaled(one, at->turns, 1);
            if (throughput_compare(&one, most) < 0) *most = one;
        }
}

static void take_pace(struct mode *mode, const struct depth_group *group, const uint64_t *depths,
                      const struct throughput *pace)
{
    for (uint32_t i = 0; i < group->choice_count; i++) {
        struct sizing *sizing = &mode->pass->sizings[group->choices[i].buffer];
        sizing->paced = sizing->chosen = true;
        if (sizing->depth_packets >= depths[i]) {
            if (depths[i] == sizing->floor_packets) sizing->why = sizing->floor_why;
        } else {
            sizing->why = WHY_PACE;
            sizing->iterations = pace->iterations;
            sizing->cycles = pace->cycles;
        }
        sizing->depth_packets = depths[i];
    }
}

/* Finds the minimum of the group at that pace; false: none was found. */
static bool quicken_group(struct mode *mode, const struct depth_group *group,
                          const struct throughput *pace)
{
    const uint64_t *floors = present_depths(mode, group);
    uint64_t share = mode->budget / 2, left = share;
    struct depth_request request = {.target = pace};
    request.known = depth_climb(mode->arena, group, floors, pace, &left);
    mode->budget -= share - left;
    if (!request.known) return false;
    struct depth_found found = {.exact = pace->exact};
    if (group->choice_count == 1 && left > 0)
        found.least_bytes = depth_cost_bytes(depth_vector_cost(group, request.known));
    else
        found = search_group(mode, group, &request);
    found.exact &= pace->exact;
    take_pace(mode, group, found.depths ? found.depths : request.known, pace);
    count_group(mode, group, &found);
    return true;
}

/* Does the plan add room for a dispatch to some of the memory? */
static bool has_unpaced(const struct bufsize *pass)
{
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++)
        if (!pass->sizings[i].paced && !pass->sizings[i].declared &&
            pass->graph->buffers.items[i].outer == GRAPH_INNER)
            return true;
    return false;
}

void bufsize_quicken(struct bufsize *pass)
{
    struct mode mode = mode_begin(pass, true);
    bool given_up = false;
    find_maxima(&mode);
    for (uint32_t k = 0; k < mode.group_count; k++) {
        const struct depth_group *group = &mode.groups[mode.order[k]];
        const struct throughput *most = &mode.most[mode.components[mode.order[k]]];
        bool bounded = most->kind == THROUGHPUT_RATIO;
        if (group->choice_count == 0) continue;
        if (most->kind == THROUGHPUT_UNKNOWN) given_up = true;
        if (bounded && quicken_group(&mode, group, most)) continue;
        given_up |= bounded;
        struct depth_found least = search_least(&mode, group);
        count_group(&mode, group, &least);
        mode.exact = false;
    }
    count_all(&mode);
    if (given_up || has_unpaced(pass)) {
        pass->graph->memory_least = given_up ? LEAST_GIVEN_UP : LEAST_NOT_ASKED;
        pass->graph->memory_least_bytes = 0;
    }
    mode_end(&mode);
    find_least_again(pass);
}

/* ---- memory against throughput ---- */

struct ascent { /* of one group along its front */
    const struct depth_point *points;
    uint32_t count, at;
};

struct exploration {
    struct mode *mode;
    struct ascent *ascents; /* by group */
    struct graph_front *front;
};

static void note_missing(struct graph_front *front, const char *reason)
{
    front->whole = false;
    if (!front->reason) front->reason = reason;
}

static void explore_group(struct exploration *to, uint32_t g)
{
    struct mode *mode = to->mode;
    const struct throughput *most = &mode->most[mode->components[g]];
    const struct depth_request request = {.target = most->kind == THROUGHPUT_RATIO ? most : NULL,
                                          .front = true,
                                          .points_max = POINTS_MAX};
    struct depth_found found = search_group(mode, &mode->groups[g], &request);
    to->ascents[g] = (struct ascent){found.points, found.point_count, 0};
    if (most->kind == THROUGHPUT_UNBOUNDED && found.point_count == POINTS_MAX)
        note_missing(to->front, "the throughput has no maximum: more memory always gives more");
    else if (!found.exact)
        note_missing(to->front, "the search has spent its budget");
}

/* Depths of all buffers at the present points. */
static const uint64_t *depths_of_row(const struct exploration *at)
{
    const struct mode *mode = at->mode;
    const struct graph *graph = mode->pass->graph;
    uint64_t *depths = ARENA_ARRAY(mode->pass->cx->arena, uint64_t, graph->buffers.count + 1);
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        depths[i] = mode->pass->sizings[i].depth_packets;
    for (uint32_t g = 0; g < mode->group_count; g++) {
        const struct ascent *ascent = &at->ascents[g];
        for (uint32_t i = 0; ascent->count && i < mode->groups[g].choice_count; i++)
            depths[mode->groups[g].choices[i].buffer] = ascent->points[ascent->at].depths[i];
    }
    return depths;
}

/* The slowest group of the part at the present points; GRAPH_NONE: some groups have no points. */
static uint32_t slowest_of(const struct exploration *at, uint32_t component)
{
    uint32_t slowest = GRAPH_NONE;
    for (uint32_t g = 0; g < at->mode->group_count; g++) {
        const struct ascent *ascent = &at->ascents[g];
        if (at->mode->components[g] != component) continue;
        if (ascent->count == 0) return GRAPH_NONE;
        if (slowest != GRAPH_NONE &&
            throughput_compare(&ascent->points[ascent->at].pace,
                               &at->ascents[slowest].points[at->ascents[slowest].at].pace) >= 0)
            continue;
        slowest = g;
    }
    return slowest;
}

/* Goes on with every group that is as slow as the slowest; false if one of them cannot. */
static bool advance_groups(struct exploration *at, uint32_t component,
                           const struct throughput *pace)
{
    bool all = true;
    for (uint32_t g = 0; g < at->mode->group_count; g++) {
        struct ascent *ascent = &at->ascents[g];
        if (at->mode->components[g] != component) continue;
        if (throughput_compare(&ascent->points[ascent->at].pace, pace) > 0) continue;
        if (ascent->at + 1 < ascent->count)
            ascent->at++;
        else
            all = false;
    }
    return all;
}

static void explore_component(struct exploration *at, uint32_t component)
{
    uint32_t slowest, rows = 0;
    while ((slowest = slowest_of(at, component)) != GRAPH_NONE) {
        struct throughput pace = at->ascents[slowest].points[at->ascents[slowest].at].pace;
        struct bufsize *pass = at->mode->pass;
        struct graph_tradeoff row = {.component = component, .depths = depths_of_row(at)};
        for (uint32_t i = 0; i < pass->graph->buffers.count; i++)
            row.memory_bytes =
                add_clamped(row.memory_bytes, bytes_at_depth(pass, i, row.depths[i]));
        if (pace.kind == THROUGHPUT_RATIO) {
            row.iterations = pace.iterations;
            row.cycles = pace.cycles;
        }
        vec_push(pass->cx->arena, &at->front->points, row);
        if (!advance_groups(at, component, &pace)) break;
        if (++rows < POINTS_MAX) continue;
        note_missing(at->front, "there are more points than are shown");
        break;
    }
    for (uint32_t g = 0; g < at->mode->group_count; g++)
        at->ascents[g].at = 0;
}

void bufsize_explore(struct bufsize *pass)
{
    struct mode mode = mode_begin(pass, true);
    struct exploration at = {.mode = &mode,
                             .ascents =
                                 ARENA_ARRAY(pass->arena, struct ascent, mode.group_count + 1),
                             .front = ARENA_NEW(pass->cx->arena, struct graph_front)};
    at.front->whole = true;
    if (pass->graph->unproven)
        note_missing(at.front,
                     "it is accepted that the pipeline is not proven to be free of deadlock");
    find_maxima(&mode);
    for (uint32_t k = 0; k < mode.group_count; k++)
        explore_group(&at, mode.order[k]);
    for (uint32_t c = 0; c < pass->graph->component_count; c++)
        explore_component(&at, c);
    pass->graph->front = at.front;
    mode_end(&mode);
}
