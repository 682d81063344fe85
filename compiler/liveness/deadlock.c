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
    FIX_STEPS = 5 * 1000 * 1000, /* for all fixes of one compilation */
    CANDIDATES_MAX = 16,
    FIX_WORK_MAX = 20 * 1000, /* nodes x arcs of a block for which a fix is searched */
    LABELS_MAX = 12,
    CYCLES_MAX = 64, /* of one block */
};

struct wait_cycle { /* one circular wait */
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
    uint64_t budget, fix_budget;
    uint64_t explain_budget; /* decided nets are simulated again, step by step, to be shown */
};

struct block_case {
    struct deadlock *pass;
    struct net *net;
    struct wait_cycle cycles[CYCLES_MAX];
    uint32_t cycle_count;
};

static const struct channel *arc_channel(const struct block_case *at, uint32_t arc)
{
    return &at->pass->channels.items[at->net->arcs[arc].channel];
}

static const struct graph_buffer *blocked_buffer(const struct block_case *at, uint32_t arc)
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

static enum net_outcome rerun_block(struct block_case *at)
{
    net_reset(at->net);
    return net_run(at->net, &at->pass->fix_budget);
}

/* Initial packets with which no reader of the buffer waits for it, in the run that has just
 * succeeded without it. */
static uint64_t ample_initial(const struct block_case *at, uint32_t buffer)
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
    bool fixable = rerun_block(at) == NET_LIVE;
    uint64_t low = present,
             high = fixable ? ample_initial(at, buffer) : 0; /* low fails, high works */
    *least = fixable;
    for (uint64_t step = 1; fixable && low + 1 < high;) {
        uint64_t middle = low + step < high ? low + step : low + (high - low) / 2;
        set_initial(at, buffer, middle, false);
        enum net_outcome outcome = rerun_block(at);
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
static uint32_t initial_rank(const struct block_case *at, uint32_t arc)
{
    const struct channel *channel = arc_channel(at, arc);
    if (blocked_buffer(at, arc)->initial.packets) return 0;
    return channel->to <= channel->from ? 1 : 2;
}

/* Is the fix (buffer of `arc`, `added` packets) better than the one that the cycle has?  A
 * buffer that is declared with initial packets comes first, then the fewest packets, then the
 * arc that leads back in the order of declaration. */
static bool is_better_initial(const struct block_case *at, const struct wait_cycle *cycle,
                              uint32_t arc, uint64_t added, uint64_t best_added, uint32_t best_arc)
{
    if (cycle->buffer == GRAPH_NONE) return true;
    uint32_t rank = initial_rank(at, arc), best_rank = initial_rank(at, best_arc);
    if ((rank == 0) != (best_rank == 0)) return rank == 0;
    if (added != best_added) return added < best_added;
    return rank < best_rank;
}

struct best_initial {
    uint32_t arc;
    uint64_t added;
    uint32_t fewest_buffer; /* among all tried buffers, of any rank */
    uint64_t fewest_added, fewest_initial;
};

static void try_initial(struct block_case *at, struct wait_cycle *cycle, uint32_t arc,
                        struct best_initial *best)
{
    uint32_t buffer = arc_channel(at, arc)->buffer;
    bool least;
    uint64_t present = model_initial(at, arc);
    uint64_t initial = least_initial(at, buffer, present, &least);
    if (initial == 0) return;
    if (cycle->buffer == GRAPH_NONE || initial - present < best->fewest_added) {
        best->fewest_buffer = buffer;
        best->fewest_added = initial - present;
        best->fewest_initial = initial;
    }
    if (!is_better_initial(at, cycle, arc, initial - present, best->added, best->arc)) return;
    best->arc = arc;
    best->added = initial - present;
    cycle->buffer = buffer;
    cycle->initial = initial;
    cycle->least = least;
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
    if (work > FIX_WORK_MAX) return 0;
    for (uint32_t rank = 0; rank < 3; rank++)
        for (uint32_t i = 0; i < count && i < CANDIDATES_MAX && initial == 0; i++) {
            uint32_t arc = arcs ? arcs[i] : i;
            if (initial_rank(at, arc) != rank) continue;
            *buffer = arc_channel(at, arc)->buffer;
            initial = periodic_initial(at, *buffer, model_initial(at, arc));
        }
    return initial;
}

/* Beyond the budget: initial packets that are enough, and fewer than those found without a
 * search. */
static void choose_by_schedule(struct block_case *at, struct wait_cycle *cycle)
{
    uint32_t buffer = GRAPH_NONE;
    if (cycle->buffer != GRAPH_NONE && cycle->least) return;
    uint64_t initial = find_periodic(at, cycle->arcs, cycle->count, &buffer);
    if (initial == 0 || (cycle->buffer != GRAPH_NONE && initial >= cycle->initial)) return;
    cycle->buffer = buffer;
    cycle->initial = initial;
}

/* Looks for one buffer that makes the block live by itself, the likeliest first. */
static void choose_initial(struct block_case *at, struct wait_cycle *cycle)
{
    struct best_initial best = {.fewest_buffer = GRAPH_NONE};
    uint32_t tried = 0;
    for (uint32_t rank = 0; rank < 3; rank++)
        for (uint32_t i = 0; i < cycle->count && tried < CANDIDATES_MAX; i++) {
            if (initial_rank(at, cycle->arcs[i]) != rank) continue;
            try_initial(at, cycle, cycle->arcs[i], &best);
            tried++;
        }
    if (at->pass->fix_budget == 0) choose_by_schedule(at, cycle);
    cycle->all_tried = cycle->least && tried == cycle->count && at->pass->fix_budget > 0;
    if (best.fewest_added < best.added) {
        cycle->fewer = best.fewest_buffer;
        cycle->fewer_initial = best.fewest_initial;
    }
}

/* All cycles have been opened by removing one buffer of each.  Returns the buffers one by one,
 * each with the minimum that works while the later ones are still removed.  So one less of any
 * fails, and all together are enough.  A buffer that works unchanged did not need a fix of its
 * own. */
static void close_cycles(struct block_case *at)
{
    for (uint32_t i = 0; i < at->cycle_count; i++) {
        struct wait_cycle *cycle = &at->cycles[i];
        if (cycle->initial) continue;
        uint32_t buffer = cycle->buffer;
        uint64_t present = at->pass->graph->buffers.items[buffer].initial.packets;
        set_initial(at, buffer, present, false);
        if (rerun_block(at) == NET_STUCK)
            cycle->initial = least_initial(at, buffer, present, &cycle->least);
        if (cycle->initial)
            set_initial(at, buffer, cycle->initial, false);
        else
            cycle->buffer = GRAPH_NONE;
    }
}

/* ---- finding the cycles ---- */

static struct wait_cycle *record_wait_cycle(struct block_case *at)
{
    struct net *net = at->net;
    struct net_cycle found = net_waiting(at->pass->arena, net);
    if (found.count == 0 || at->cycle_count == CYCLES_MAX) return NULL;
    struct wait_cycle *cycle = &at->cycles[at->cycle_count++];
    *cycle = (struct wait_cycle){
        .arcs = found.arcs, .count = found.count, .buffer = GRAPH_NONE, .fewer = GRAPH_NONE};
    cycle->held = ARENA_ARRAY(at->pass->arena, uint64_t, found.count);
    cycle->needed = ARENA_ARRAY(at->pass->arena, uint64_t, found.count);
    cycle->fired = ARENA_ARRAY(at->pass->arena, uint64_t, found.count);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct net_arc *arc = &net->arcs[found.arcs[i]];
        cycle->held[i] = (uint64_t)arc->tokens;
        cycle->needed[i] = net_need(net, arc);
        cycle->fired[i] = net->nodes[arc->to].fired;
    }
    return cycle;
}

static void find_wait_cycles(struct block_case *at)
{
    struct wait_cycle *cycle = record_wait_cycle(at);
    if (!cycle) return;
    choose_initial(at, cycle);
    if (cycle->buffer != GRAPH_NONE) return;
    do {
        /* Several cycles: the others are reported separately, so this one is opened at one of
         * its own buffers. */
        uint32_t arc = cycle->arcs[0];
        for (uint32_t i = 1; i < cycle->count; i++)
            if (is_better_initial(at, &(struct wait_cycle){.buffer = 0}, cycle->arcs[i], 0, 0, arc))
                arc = cycle->arcs[i];
        cycle->buffer = arc_channel(at, arc)->buffer;
        cycle->initial = 0;
        set_initial(at, cycle->buffer, 0, true);
        if (rerun_block(at) != NET_STUCK) break;
        cycle = record_wait_cycle(at);
    } while (cycle);
    close_cycles(at);
}

/* ---- reporting ---- */

static void label_waits(const struct block_case *at, struct diag *d, const struct wait_cycle *cycle)
{
    struct arena *arena = at->pass->arena;
    for (uint32_t i = 0; i < cycle->count && i < LABELS_MAX; i++) {
        uint32_t arc = cycle->arcs[i];
        const struct graph_node *node = arc_taker(at, arc);
        const char *text = arena_printf(
            arena, "'%s' needs %s in '%s' and finds %" PRIu64 ", after %s", node->name,
            arena_counted(arena, cycle->needed[i], "packet"), blocked_buffer(at, arc)->name,
            cycle->held[i], arena_counted(arena, cycle->fired[i], "firing"));
        if (i == 0)
            diag_primary(d, "%s", text);
        else
            diag_label(d, node->span, "%s", text);
    }
    if (cycle->count > LABELS_MAX)
        diag_note(d, "... and %" PRIu32 " more kernels wait in the same cycle",
                  cycle->count - LABELS_MAX);
}

/* "declare 'back' with 'init 4 x 0'", or the words for the buffer's own declaration.  Only channels of SDF3 XML have their
 * origin in another text. */
static const char *initial_text(const struct block_case *at, const struct wait_cycle *cycle)
{
    const struct graph_buffer *buffer = &at->pass->graph->buffers.items[cycle->buffer];
    struct arena *arena = at->pass->arena;
    if (source_origin(at->pass->cx->sources, buffer->span).source != buffer->span.source)
        return arena_printf(arena, "write initialTokens=\"%" PRIu64 "\" in the channel '%s'",
                            cycle->initial, buffer->name);
    if (buffer->initial.packets)
        return arena_printf(arena, "give '%s' %" PRIu64 " initial packets instead of %" PRIu64,
                            buffer->name, cycle->initial, buffer->initial.packets);
    return arena_printf(arena, "%s '%s' with 'init %" PRIu64 " x 0'",
                        strstr(buffer->name, "->") ? "name and declare the buffer" : "declare",
                        buffer->name, cycle->initial);
}

/* True for a buffer of scalars whose declaration has only its name: 'init N x 0' may follow the name. */
static bool declares_only_a_name(const struct block_case *at, const struct graph_buffer *buffer)
{
    const struct source *source = source_get(at->pass->cx->sources, buffer->span.source);
    size_t length = buffer->span.end - buffer->span.begin;
    bool is_name = length == strlen(buffer->name) &&
                   memcmp(source->bytes + buffer->span.begin, buffer->name, length) == 0;
    char next = source->bytes[buffer->span.end];
    return is_name && (next == ',' || next == ';') && type_is_scalar(buffer->type) &&
           buffer->outer == GRAPH_INNER && strpbrk(buffer->name, ".[>") == NULL;
}

static void help_initial_packets(const struct block_case *at, struct diag *d,
                                 const struct wait_cycle *cycle)
{
    const struct graph_buffer *buffer = &at->pass->graph->buffers.items[cycle->buffer];
    const char *others = at->cycle_count > 1 ? " once the other deadlocks are fixed" : "";
    uint64_t count = cycle->initial;
    if (count > INT32_MAX) return; /* no buffer can have so many */
    diag_label(d, buffer->span, "'%s' begins with %s", buffer->name,
               arena_counted(at->pass->arena, buffer->initial.packets, "packet"));
    const char *fewest = cycle->all_tried && cycle->fewer == GRAPH_NONE && cycle->count > 1
                             ? "; no other single buffer of the cycle needs fewer"
                             : "";
    if (cycle->least && declares_only_a_name(at, buffer))
        diag_fix(d, (struct span){buffer->span.source, buffer->span.end, buffer->span.end},
                 " init %" PRIu64 " x 0", count);
    if (cycle->least)
        diag_help(d, "%s: %" PRIu64 " initial packet%s enough%s, %" PRIu64 " %s not%s",
                  initial_text(at, cycle), count, count == 1 ? " is" : "s are", others, count - 1,
                  count == 2 ? "is" : "are", fewest);
    else
        diag_help(d, "%s: this is enough%s (fewer may be)", initial_text(at, cycle), others);
    if (cycle->fewer != GRAPH_NONE && cycle->fewer_initial <= INT32_MAX) {
        const struct graph_buffer *other = &at->pass->graph->buffers.items[cycle->fewer];
        diag_note(d, "'%s' would need fewer: %s instead of %" PRIu64, other->name,
                  arena_counted(at->pass->arena, cycle->fewer_initial, "initial packet"),
                  other->initial.packets);
    }
    if (buffer->depth_declared && buffer->depth_packets < count)
        diag_note(d, "the declared depth of '%s', %" PRIu64 ", has to grow with them", buffer->name,
                  buffer->depth_packets);
}

/* The buffers that are waited for.  They also distinguish the cycles at one node. */
static const char *buffers_of(const struct block_case *at, const struct wait_cycle *cycle)
{
    char *text = arena_printf(at->pass->arena, "'%s'", blocked_buffer(at, cycle->arcs[0])->name);
    for (uint32_t i = 1; i < cycle->count && i < LABELS_MAX; i++)
        text = arena_printf(at->pass->arena, "%s, '%s'", text,
                            blocked_buffer(at, cycle->arcs[i])->name);
    return cycle->count > LABELS_MAX ? arena_printf(at->pass->arena, "%s, ...", text) : text;
}

static void report_wait_cycle(const struct block_case *at, const struct wait_cycle *cycle)
{
    const struct graph_node *first = arc_taker(at, cycle->arcs[0]);
    struct diag *d;
    if (cycle->count == 1)
        d = diag_report(at->pass->cx->diags, RULE_DEADLOCK, first->span,
                        "deadlock: '%s' needs packets in '%s' that it writes itself", first->name,
                        blocked_buffer(at, cycle->arcs[0])->name);
    else
        d = diag_report(at->pass->cx->diags, RULE_DEADLOCK, first->span,
                        "deadlock around '%s' (%s): each of %" PRIu32
                        " kernels needs packets that the next one has to write",
                        first->name, buffers_of(at, cycle), cycle->count);
    label_waits(at, d, cycle);
    if (cycle->buffer != GRAPH_NONE) help_initial_packets(at, d, cycle);
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

static void report_undecided_cycle(struct deadlock *pass, const struct channel_block *block,
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
static bool explain_part(struct deadlock *pass, const struct channel_block *part)
{
    struct block_case *at = ARENA_NEW(pass->arena, struct block_case);
    at->pass = pass;
    at->net = net_create(pass->arena, &pass->channels, part, NULL);
    if (net_run(at->net, &pass->explain_budget) != NET_STUCK) return false;
    find_wait_cycles(at);
    for (uint32_t i = 0; i < at->cycle_count; i++)
        report_wait_cycle(at, &at->cycles[i]);
    return true;
}

static enum net_outcome run_block(struct deadlock *pass, const struct channel_block *block)
{
    struct net *net = net_create(pass->arena, &pass->channels, block, NULL);
    enum net_outcome outcome = net_run(net, &pass->budget);
    if (outcome != NET_UNDECIDED) return outcome;
    net_reset(net);
    if (periodic_schedule(net, NULL)) return NET_LIVE;
    report_undecided_cycle(pass, block, net);
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
        if (explain_part(pass, &inside[whole]))
            explained[whole] = true;
        else if (!explain_part(pass, block))
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
                            .fix_budget = FIX_STEPS};
    pass.channels = channels_collect(pass.arena, graph, CHANNELS_INNER);
    uint32_t *component = ARENA_ARRAY(pass.arena, uint32_t, pass.channels.node_count);
    uint32_t count = channels_strong(pass.arena, &pass.channels, component);
    channels_cut(pass.arena, &pass.channels, component);
    check_blocks(&pass, component, channels_inside(pass.arena, &pass.channels, component, count));
    arena_destroy(pass.arena);
}
