/* SPDX-License-Identifier: MIT */
/*
 * deadlock: with unbounded inner buffers, a schedule exists that never deadlocks.
 *
 * Requires  repetitions.
 * Fails     RULE_DEADLOCK             a cycle of nodes that wait for each other's packets, with the
 *                                     minimum number of initial packets on one of its buffers that
 *                                     fixes it
 *           RULE_LIVENESS_UNDECIDED   neither simulation within the budget nor a periodic schedule
 *                                     decides
 *
 * Only a directed cycle can starve.  So each strongly connected component is examined by itself, and in
 * it each biconnected block (channels.h).  By the theorem in token_game.h one pass over the repetition
 * counts decides.  Beyond the budget a periodic schedule may still prove liveness (periodic.h).
 *
 * All deadlocked cycles of one block are reported: the model fixes a cycle that is found, and the
 * simulation goes on.  Simulations of the whole block give the numbers of the fix: the reported number
 * is enough, and one less is not.  It is the minimum for one buffer.  The message says "no other single
 * buffer of the cycle needs fewer" if all of them were tried within the budget.  Smaller sums over
 * several buffers are not searched.
 */
#include "compiler/liveness/deadlock.h"
#include "compiler/liveness/periodic.h"
#include "compiler/ir/ratio.h"

#include <inttypes.h>
#include <string.h>

enum {
    BUDGET_STEPS = 20 * 1000 * 1000,
    MEND_STEPS = 5 * 1000 * 1000, /* for all fixes of one compilation */
    CANDIDATES_MAX = 16,
    CURE_WORK_MAX = 20 * 1000, /* nodes x arcs of a block for which a fix is searched */
    LABELS_MAX = 12,
    CIRCLES_MAX = 64, /* of one block */
};

struct circle { /* one circular wait */
    uint32_t *arcs;
    /* Parallel: packets present, packets needed, firings of the waiting node. */
    uint64_t *held, *needed, *fired;
    uint32_t count;
    uint32_t buffer;  /* to fix; GRAPH_NONE: none was found */
    uint64_t initial; /* enough */
    bool least;       /* one less fails */
    /* Every other buffer of the cycle was tried.  `fewer`: the one that needs the fewest
     * additional packets, if it needs fewer than `buffer`, else GRAPH_NONE. */
    bool all_tried;
    uint32_t fewer;
    uint64_t fewer_initial;
};

struct deadlock {
    struct compile *cx;
    const struct graph *graph;
    struct arena *arena;
    struct channels channels;
    uint64_t budget, mend_budget;
    uint64_t explain_budget; /* decided nets are simulated again, step by step, to be shown */
};

struct block_case {
    struct deadlock *pass;
    struct net *net;
    struct circle circles[CIRCLES_MAX];
    uint32_t circle_count;
};

static const struct channel *arc_channel(const struct block_case *at, uint32_t arc)
{
    return &at->pass->channels.items[at->net->arcs[arc].channel];
}

static const struct graph_buffer *arc_buffer(const struct block_case *at, uint32_t arc)
{
    return &at->pass->graph->buffers.items[arc_channel(at, arc)->buffer];
}

static const struct graph_node *arc_taker(const struct block_case *at, uint32_t arc)
{
    return &at->pass->graph->nodes.items[arc_channel(at, arc)->to];
}

/* ---- the smallest fix ---- */

/* Sets the initial packets of a buffer in the model, or removes its arcs. */
static void set_initial(struct block_case *at, uint32_t buffer, uint64_t packets, bool absent)
{
    for (uint32_t i = 0; i < at->net->arc_count; i++) {
        const struct channel *channel = arc_channel(at, i);
        if (channel->buffer != buffer) continue;
        at->net->arcs[i].absent = absent;
        at->net->arcs[i].initial = (int64_t)packets;
    }
}

static enum net_outcome run_again(struct block_case *at)
{
    net_reset(at->net);
    return net_run(at->net, &at->pass->mend_budget);
}

/* Initial packets with which no reader of the buffer waits for it, in the run that has just
 * succeeded without it. */
static uint64_t plenty(const struct block_case *at, uint32_t buffer)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < at->net->arc_count; i++) {
        const struct channel *channel = arc_channel(at, i);
        if (channel->buffer != buffer) continue;
        const struct net_node *reader = &at->net->nodes[at->net->arcs[i].to];
        uint64_t consumed = mul_clamped(reader->limit / reader->phases + 1, channel->pop);
        most = max64(most, add_clamped(consumed, channel->peek));
    }
    return most;
}

/* The minimum of initial packets of `buffer` that makes the block live, with everything else as
 * it is in the model; 0: no number does. */
static uint64_t least_initial(struct block_case *at, uint32_t buffer, uint64_t present, bool *least)
{
    set_initial(at, buffer, present, true);
    bool curable = run_again(at) == NET_LIVE;
    uint64_t low = present, high = curable ? plenty(at, buffer) : 0; /* low fails, high works */
    *least = curable;
    for (uint64_t step = 1; curable && low + 1 < high;) {
        uint64_t middle = low + step < high ? low + step : low + (high - low) / 2;
        set_initial(at, buffer, middle, false);
        enum net_outcome outcome = run_again(at);
        if (outcome == NET_UNDECIDED) {
            *least = false;
            break;
        }
        if (outcome == NET_LIVE) {
            high = middle;
            step = high; /* from now on by halving */
        } else {
            low = middle;
            step = min64(step, high) * 2;
        }
    }
    set_initial(at, buffer, present, false);
    return high;
}

static uint64_t model_initial(const struct block_case *at, uint32_t arc)
{
    return (uint64_t)at->net->arcs[arc].initial;
}

/* 0: declared with initial packets; 1: leads back in the order of declaration; 2: any other */
static uint32_t mend_rank(const struct block_case *at, uint32_t arc)
{
    const struct channel *channel = arc_channel(at, arc);
    if (arc_buffer(at, arc)->initial.packets) return 0;
    return channel->to <= channel->from ? 1 : 2;
}

/* Is the fix (buffer of `arc`, `added` packets) better than the one that the cycle has?  A
 * buffer that is declared with initial packets comes first, then the fewest packets, then the
 * arc that leads back in the order of declaration. */
static bool is_better(const struct block_case *at, const struct circle *circle, uint32_t arc,
                      uint64_t added, uint64_t best_added, uint32_t best_arc)
{
    if (circle->buffer == GRAPH_NONE) return true;
    uint32_t rank = mend_rank(at, arc), best_rank = mend_rank(at, best_arc);
    if ((rank == 0) != (best_rank == 0)) return rank == 0;
    if (added != best_added) return added < best_added;
    return rank < best_rank;
}

struct mend {
    uint32_t arc;
    uint64_t added;
    uint32_t fewest_buffer; /* of all that were tried, whatever their rank */
    uint64_t fewest_added, fewest_initial;
};

static void try_mend(struct block_case *at, struct circle *circle, uint32_t arc, struct mend *best)
{
    uint32_t buffer = arc_channel(at, arc)->buffer;
    bool least;
    uint64_t present = model_initial(at, arc);
    uint64_t initial = least_initial(at, buffer, present, &least);
    if (initial == 0) return;
    if (circle->buffer == GRAPH_NONE || initial - present < best->fewest_added) {
        best->fewest_buffer = buffer;
        best->fewest_added = initial - present;
        best->fewest_initial = initial;
    }
    if (!is_better(at, circle, arc, initial - present, best->added, best->arc)) return;
    best->arc = arc;
    best->added = initial - present;
    circle->buffer = buffer;
    circle->initial = initial;
    circle->least = least;
}

static bool has_schedule(struct block_case *at, uint32_t buffer, uint64_t initial)
{
    set_initial(at, buffer, initial, false);
    net_reset(at->net);
    return periodic_schedule(at->net, NULL);
}

/* The minimum of initial packets of `buffer` with which a periodic schedule exists; 0: not even
 * the maximum that a buffer can have is enough.  More packets never destroy a schedule. */
static uint64_t periodic_initial(struct block_case *at, uint32_t buffer, uint64_t present)
{
    uint64_t low = present, high = max64(2 * present, 1);
    while (high <= INT32_MAX && !has_schedule(at, buffer, high)) {
        low = high;
        high *= 2;
    }
    while (high <= INT32_MAX && low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (has_schedule(at, buffer, middle))
            high = middle;
        else
            low = middle;
    }
    set_initial(at, buffer, present, false);
    return high <= INT32_MAX ? high : 0;
}

/* The first arc of the list, the likeliest first, whose buffer may have enough initial packets
 * for a periodic schedule; 0: none. */
static uint64_t find_periodic(struct block_case *at, const uint32_t *arcs, uint32_t count,
                              uint32_t *buffer)
{
    uint64_t work = (uint64_t)at->net->node_count * at->net->arc_count, initial = 0;
    if (work > CURE_WORK_MAX) return 0;
    for (uint32_t rank = 0; rank < 3; rank++)
        for (uint32_t i = 0; i < count && i < CANDIDATES_MAX && initial == 0; i++) {
            uint32_t arc = arcs ? arcs[i] : i;
            if (mend_rank(at, arc) != rank) continue;
            *buffer = arc_channel(at, arc)->buffer;
            initial = periodic_initial(at, *buffer, model_initial(at, arc));
        }
    return initial;
}

/* Beyond the budget: initial packets that are enough, and fewer than those found without a
 * search. */
static void mend_by_schedule(struct block_case *at, struct circle *circle)
{
    uint32_t buffer = GRAPH_NONE;
    if (circle->buffer != GRAPH_NONE && circle->least) return;
    uint64_t initial = find_periodic(at, circle->arcs, circle->count, &buffer);
    if (initial == 0 || (circle->buffer != GRAPH_NONE && initial >= circle->initial)) return;
    circle->buffer = buffer;
    circle->initial = initial;
}

/* Looks for one buffer that makes the block live by itself, the likeliest first. */
static void choose_mend(struct block_case *at, struct circle *circle)
{
    struct mend best = {.fewest_buffer = GRAPH_NONE};
    uint32_t tried = 0;
    for (uint32_t rank = 0; rank < 3; rank++)
        for (uint32_t i = 0; i < circle->count && tried < CANDIDATES_MAX; i++) {
            if (mend_rank(at, circle->arcs[i]) != rank) continue;
            try_mend(at, circle, circle->arcs[i], &best);
            tried++;
        }
    if (at->pass->mend_budget == 0) mend_by_schedule(at, circle);
    circle->all_tried = circle->least && tried == circle->count && at->pass->mend_budget > 0;
    if (best.fewest_added < best.added) {
        circle->fewer = best.fewest_buffer;
        circle->fewer_initial = best.fewest_initial;
    }
}

/* Several cycles: the others are reported separately, so this one is opened at one of its own
 * buffers. */
static void open_circle(struct block_case *at, struct circle *circle)
{
    uint32_t arc = circle->arcs[0];
    for (uint32_t i = 1; i < circle->count; i++)
        if (is_better(at, &(struct circle){.buffer = 0}, circle->arcs[i], 0, 0, arc))
            arc = circle->arcs[i];
    circle->buffer = arc_channel(at, arc)->buffer;
    circle->initial = 0;
    set_initial(at, circle->buffer, 0, true);
}

/* All cycles have been opened by removing one buffer of each.  Returns the buffers one by one,
 * each with the minimum that works while the later ones are still removed.  So one less of any
 * fails, and all together are enough.  A buffer that works unchanged did not need a fix of its
 * own. */
static void close_circles(struct block_case *at)
{
    for (uint32_t i = 0; i < at->circle_count; i++) {
        struct circle *circle = &at->circles[i];
        if (circle->initial) continue;
        uint32_t buffer = circle->buffer;
        uint64_t present = at->pass->graph->buffers.items[buffer].initial.packets;
        set_initial(at, buffer, present, false);
        if (run_again(at) == NET_STUCK)
            circle->initial = least_initial(at, buffer, present, &circle->least);
        if (circle->initial)
            set_initial(at, buffer, circle->initial, false);
        else
            circle->buffer = GRAPH_NONE;
    }
}

/* ---- finding the cycles ---- */

static struct circle *record_circle(struct block_case *at)
{
    struct net *net = at->net;
    struct net_cycle cycle = net_waiting(at->pass->arena, net);
    if (cycle.count == 0 || at->circle_count == CIRCLES_MAX) return NULL;
    struct circle *circle = &at->circles[at->circle_count++];
    *circle = (struct circle){
        .arcs = cycle.arcs, .count = cycle.count, .buffer = GRAPH_NONE, .fewer = GRAPH_NONE};
    circle->held = ARENA_ARRAY(at->pass->arena, uint64_t, cycle.count);
    circle->needed = ARENA_ARRAY(at->pass->arena, uint64_t, cycle.count);
    circle->fired = ARENA_ARRAY(at->pass->arena, uint64_t, cycle.count);
    for (uint32_t i = 0; i < cycle.count; i++) {
        const struct net_arc *arc = &net->arcs[cycle.arcs[i]];
        circle->held[i] = (uint64_t)arc->tokens;
        circle->needed[i] = net_need(net, arc);
        circle->fired[i] = net->nodes[arc->to].fired;
    }
    return circle;
}

static void find_circles(struct block_case *at)
{
    struct circle *circle = record_circle(at);
    if (!circle) return;
    choose_mend(at, circle);
    if (circle->buffer != GRAPH_NONE) return;
    do {
        open_circle(at, circle);
        if (run_again(at) != NET_STUCK) break;
        circle = record_circle(at);
    } while (circle);
    close_circles(at);
}

/* ---- reporting ---- */

static void label_circle(const struct block_case *at, struct diag *d, const struct circle *circle)
{
    struct arena *arena = at->pass->arena;
    for (uint32_t i = 0; i < circle->count && i < LABELS_MAX; i++) {
        uint32_t arc = circle->arcs[i];
        const struct graph_node *node = arc_taker(at, arc);
        const char *text = arena_printf(
            arena, "'%s' needs %s in '%s' and finds %" PRIu64 ", after %s", node->name,
            arena_counted(arena, circle->needed[i], "packet"), arc_buffer(at, arc)->name,
            circle->held[i], arena_counted(arena, circle->fired[i], "firing"));
        if (i == 0)
            diag_primary(d, "%s", text);
        else
            diag_label(d, node->span, "%s", text);
    }
    if (circle->count > LABELS_MAX)
        diag_note(d, "... and %" PRIu32 " more kernels wait in the same cycle",
                  circle->count - LABELS_MAX);
}

/* "declare 'back' with 'init 4 x 0'", or the words for the buffer's own declaration. */
static const char *mend_text(const struct block_case *at, const struct circle *circle)
{
    const struct graph_buffer *buffer = &at->pass->graph->buffers.items[circle->buffer];
    struct arena *arena = at->pass->arena;
    if (buffer->initial.packets)
        return arena_printf(arena, "give '%s' %" PRIu64 " initial packets instead of %" PRIu64,
                            buffer->name, circle->initial, buffer->initial.packets);
    return arena_printf(arena, "%s '%s' with 'init %" PRIu64 " x 0'",
                        strstr(buffer->name, "->") ? "name and declare the buffer" : "declare",
                        buffer->name, circle->initial);
}

static void report_mend(const struct block_case *at, struct diag *d, const struct circle *circle)
{
    const struct graph_buffer *buffer = &at->pass->graph->buffers.items[circle->buffer];
    const char *others = at->circle_count > 1 ? " once the other deadlocks are fixed" : "";
    uint64_t count = circle->initial;
    if (count > INT32_MAX) return; /* no buffer can have so many */
    diag_label(d, buffer->span, "'%s' begins with %s", buffer->name,
               arena_counted(at->pass->arena, buffer->initial.packets, "packet"));
    const char *fewest = circle->all_tried && circle->fewer == GRAPH_NONE && circle->count > 1
                             ? "; no other single buffer of the cycle needs fewer"
                             : "";
    if (circle->least)
        diag_help(d, "%s: %" PRIu64 " initial packet%s enough%s, %" PRIu64 " %s not%s",
                  mend_text(at, circle), count, count == 1 ? " is" : "s are", others, count - 1,
                  count == 2 ? "is" : "are", fewest);
    else
        diag_help(d, "%s: this is enough%s (fewer may be)", mend_text(at, circle), others);
    if (circle->fewer != GRAPH_NONE && circle->fewer_initial <= INT32_MAX) {
        const struct graph_buffer *other = &at->pass->graph->buffers.items[circle->fewer];
        diag_note(d, "'%s' would need fewer: %s instead of %" PRIu64, other->name,
                  arena_counted(at->pass->arena, circle->fewer_initial, "initial packet"),
                  other->initial.packets);
    }
    if (buffer->depth_declared && buffer->depth_packets < count)
        diag_note(d, "the declared depth of '%s', %" PRIu64 ", has to grow with them", buffer->name,
                  buffer->depth_packets);
}

/* The buffers that are waited for.  They also distinguish the cycles at one node. */
static const char *buffers_of(const struct block_case *at, const struct circle *circle)
{
    char *text = arena_printf(at->pass->arena, "'%s'", arc_buffer(at, circle->arcs[0])->name);
    for (uint32_t i = 1; i < circle->count && i < LABELS_MAX; i++)
        text =
            arena_printf(at->pass->arena, "%s, '%s'", text, arc_buffer(at, circle->arcs[i])->name);
    return circle->count > LABELS_MAX ? arena_printf(at->pass->arena, "%s, ...", text) : text;
}

static void report_circle(const struct block_case *at, const struct circle *circle)
{
    const struct graph_node *first = arc_taker(at, circle->arcs[0]);
    struct diag *d;
    if (circle->count == 1)
        d = diag_report(at->pass->cx->diags, RULE_DEADLOCK, first->span,
                        "deadlock: '%s' needs packets in '%s' that it writes itself", first->name,
                        arc_buffer(at, circle->arcs[0])->name);
    else
        d = diag_report(at->pass->cx->diags, RULE_DEADLOCK, first->span,
                        "deadlock around '%s' (%s): each of %" PRIu32
                        " kernels needs packets that the next one has to write",
                        first->name, buffers_of(at, circle), circle->count);
    label_circle(at, d, circle);
    if (circle->buffer != GRAPH_NONE) report_mend(at, d, circle);
}

/* Proposes initial packets with which a periodic schedule exists.  False: none were found. */
static bool help_schedule(struct deadlock *pass, struct net *net, struct diag *d)
{
    struct block_case *at = ARENA_NEW(pass->arena, struct block_case);
    uint32_t index;
    at->pass = pass;
    at->net = net;
    uint64_t initial = find_periodic(at, NULL, net->arc_count, &index);
    if (initial == 0) return false;
    const struct graph_buffer *buffer = &pass->graph->buffers.items[index];
    diag_help(d,
              "give '%s' %" PRIu64 " initial packets instead of %" PRIu64
              ": a periodic schedule then exists (fewer may be enough)",
              buffer->name, initial, buffer->initial.packets);
    return true;
}

static void report_undecided(struct deadlock *pass, const struct channel_block *block,
                             struct net *net)
{
    const struct channel *channel = &pass->channels.items[block->channels[0]];
    const struct graph_node *node = &pass->graph->nodes.items[channel->to];
    struct diag *d =
        diag_report(pass->cx->diags, RULE_LIVENESS_UNDECIDED, node->span,
                    "the cycle around '%s' could not be shown to be free of deadlock", node->name);
    diag_note(d, "simulation ended after %d steps, and no periodic schedule exists",
              (int)BUDGET_STEPS);
    if (!help_schedule(pass, net, d))
        diag_help(d, "more initial packets on the cycle, or rates with a larger common divisor, "
                     "make it decidable");
}

/* Stuck, but the cycle is beyond the budget. */
static void report_unexplained(struct deadlock *pass, const struct channel_block *block)
{
    const struct channel *channel = &pass->channels.items[block->channels[0]];
    const struct graph_node *node = &pass->graph->nodes.items[channel->to];
    struct diag *d = diag_report(pass->cx->diags, RULE_DEADLOCK, node->span,
                                 "deadlock on the cycle around '%s'", node->name);
    diag_note(d, "it comes after too many firings to show which kernel waits for which");
    (void)help_schedule(pass, net_create(pass->arena, &pass->channels, block, NULL), d);
}

/* Reports the cycles of a part of the graph; false if they are beyond the budget. */
static bool explain(struct deadlock *pass, const struct channel_block *part)
{
    struct block_case *at = ARENA_NEW(pass->arena, struct block_case);
    at->pass = pass;
    at->net = net_create(pass->arena, &pass->channels, part, NULL);
    if (net_run(at->net, &pass->explain_budget) != NET_STUCK) return false;
    find_circles(at);
    for (uint32_t i = 0; i < at->circle_count; i++)
        report_circle(at, &at->circles[i]);
    return true;
}

static enum net_outcome run_block(struct deadlock *pass, const struct channel_block *block)
{
    struct net *net = net_create(pass->arena, &pass->channels, block, NULL);
    enum net_outcome outcome = net_run(net, &pass->budget);
    if (outcome != NET_UNDECIDED) return outcome;
    net_reset(net);
    if (periodic_schedule(net, NULL)) return NET_LIVE;
    report_undecided(pass, block, net);
    return NET_UNDECIDED;
}

/* Blocks decide.  A stuck block is explained over its whole component: a buffer with several
 * readers may be part of several blocks, and a fix counts for all of them. */
static void check_blocks(struct deadlock *pass, const uint32_t *component,
                         const struct channel_block *inside)
{
    bool *explained = ARENA_ARRAY(pass->arena, bool, pass->channels.node_count);
    for (uint32_t b = 0; b < pass->channels.block_count; b++) {
        const struct channel_block *block = &pass->channels.blocks[b];
        if (run_block(pass, block) != NET_STUCK) continue;
        uint32_t whole = component[pass->channels.items[block->channels[0]].to];
        if (explained[whole]) continue;
        if (explain(pass, &inside[whole]))
            explained[whole] = true;
        else if (!explain(pass, block))
            report_unexplained(pass, block);
    }
}

void deadlock_check(struct compile *cx, struct graph *graph)
{
    struct deadlock pass = {.cx = cx,
                            .graph = graph,
                            .arena = arena_create(),
                            .budget = BUDGET_STEPS,
                            .explain_budget = BUDGET_STEPS,
                            .mend_budget = MEND_STEPS};
    pass.channels = channels_collect(pass.arena, graph, CHANNELS_INNER);
    uint32_t *component = ARENA_ARRAY(pass.arena, uint32_t, pass.channels.node_count);
    uint32_t count = channels_strong(pass.arena, &pass.channels, component);
    channels_cut(pass.arena, &pass.channels, component);
    check_blocks(&pass, component, channels_inside(pass.arena, &pass.channels, component, count));
    arena_destroy(pass.arena);
}
