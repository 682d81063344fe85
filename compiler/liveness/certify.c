/* SPDX-License-Identifier: MIT */
/*
 * certify: writes the proofs that no cycle of buffers can deadlock, for readers that trust no compiler.
 *
 * The container carries a schedule or starting times for each biconnected block of channels
 * (channels.h) that arithmetic does not decide.  runtime/verify/verify_certificate.h says what they
 * mean and why they are proofs, and the verifier checks them.  It derives channels, blocks and
 * vertices from the container's records, and they have to be the same as here:
 *   channels   in the order of READERS
 *   blocks     in the order of their lowest channels
 *   vertices   ascending: nodes, then the outside of a buffer (of a bundle, its lowest buffer)
 *
 * Requires  the final depths: nothing may change them afterwards.
 * Fills     graph->certificate; raises undeclared depths where a proof for those given is too long.
 * Fails     RULE_LIVENESS_UNDECIDED, RULE_MEMORY_LIMIT.
 *
 * A block of one channel whose ends have one phase needs no proof.  For any other block these are tried
 * in order:
 *   1. a short schedule: the bulk simulation (token_game.h) reaches the end of an iteration in a few
 *      steps per node;
 *   2. the starting times of a periodic schedule (periodic.h): two words per node, however large the
 *      repetition counts are;
 *   3. a longer simulation, folded into loops (schedule_text.h).  The prologue consists of the steps to
 *      the first state in which every node has fired an iteration.  The period is an iteration from
 *      there;
 *   4. deeper undeclared buffers, with which a periodic schedule exists.
 * If all of them fail, the graph is refused as undecided.
 *
 * Budgets: CERTIFY_STEPS for all simulations of a graph, RUNS_MAX for the runs kept of one simulation,
 * TEXT_WORDS for all parts.
 */
#include "compiler/liveness/certify.h"
#include "compiler/liveness/periodic.h"
#include "compiler/ir/ratio.h"
#include "compiler/liveness/schedule_text.h"
#include "lang/container.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    SHORT_STEPS = 1000, /* and SHORT_STEPS_PER_ARC for each arc */
    SHORT_STEPS_PER_ARC = 8,
    RUNS_MAX = 1 << 20,
    TEXT_WORDS = 1 << 22,
    ROUNDS_MAX = 3, /* attempts with deeper buffers */
};

struct certify {
    struct compile *cx;
    struct graph *graph;
    struct arena *arena;
    struct certify_limits limits;
    struct channels channels;
    uint32_t *first_reader;                /* by buffer: index in READERS */
    uint32_t *source_buffer;               /* by added source: its lowest buffer */
    struct net_depth *as_given, *to_raise; /* by buffer; filled when a block is examined */
    uint64_t budget,
        work; /* work: budget of the checker beyond the work that the words of a part pay for */
    VEC(uint64_t) words;
};

struct vertex {    /* of a block */
    uint64_t key;  /* its number in the container */
    uint32_t node; /* of the net */
};

struct block_proof {
    struct certify *pass;
    struct arena *arena;
    struct net *net;
    struct vertex *vertices; /* ascending */
    uint64_t *terminal;      /* by node of the net: its first symbol */
    uint64_t terminal_count;
    uint64_t lowest; /* channel */
};

/* ---- numbers in the container ---- */

static uint32_t reader_of(const struct certify *pass, uint32_t channel)
{
    const struct channel *at = &pass->channels.items[channel];
    return pass->first_reader[at->buffer] + at->reader;
}

static void number_readers(struct certify *pass)
{
    const struct graph *graph = pass->graph;
    pass->first_reader = ARENA_ARRAY(pass->arena, uint32_t, graph->buffers.count + 1);
    for (size_t i = 0; i < graph->buffers.count; i++)
        pass->first_reader[i + 1] =
            pass->first_reader[i] + (uint32_t)graph->buffers.items[i].readers.count;
}

static void number_sources(struct certify *pass)
{
    uint32_t nodes = (uint32_t)pass->graph->nodes.count;
    uint32_t sources = pass->channels.node_count - nodes;
    pass->source_buffer = ARENA_ARRAY(pass->arena, uint32_t, sources + 1);
    for (uint32_t i = 0; i < sources; i++)
        pass->source_buffer[i] = GRAPH_NONE;
    for (uint32_t i = 0; i < pass->channels.count; i++) {
        const struct channel *channel = &pass->channels.items[i];
        if (channel->from < nodes) continue;
        uint32_t *lowest = &pass->source_buffer[channel->from - nodes];
        if (channel->buffer < *lowest) *lowest = channel->buffer;
    }
}

static int compare_vertex_keys(const void *left, const void *right)
{
    const struct vertex *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

static void number_block_vertices(struct block_proof *at)
{
    uint32_t nodes = (uint32_t)at->pass->graph->nodes.count, count = at->net->node_count;
    at->vertices = ARENA_ARRAY(at->arena, struct vertex, count);
    at->terminal = ARENA_ARRAY(at->arena, uint64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = at->net->nodes[i].node;
        uint64_t key = node;
        if (node >= nodes) key = (uint64_t)nodes + at->pass->source_buffer[node - nodes];
        at->vertices[i] = (struct vertex){key, i};
    }
    qsort(at->vertices, count, sizeof *at->vertices, compare_vertex_keys);
    for (uint32_t i = 0; i < count; i++) {
        at->terminal[at->vertices[i].node] = at->terminal_count;
        at->terminal_count += at->net->nodes[at->vertices[i].node].phases;
    }
}

/* ---- parts ---- */

static void write_proof(const struct block_proof *at, enum container_certificate_form form,
                        const uint64_t *words, uint64_t count)
{
    struct certify *pass = at->pass;
    vec_push(pass->cx->arena, &pass->words,
             at->lowest | (uint64_t)form << CONTAINER_CERTIFICATE_FORM_SHIFT);
    vec_push(pass->cx->arena, &pass->words, count);
    for (uint64_t i = 0; i < count; i++)
        vec_push(pass->cx->arena, &pass->words, words[i]);
}

static bool prove_by_starts(struct block_proof *at)
{
    struct periodic_starts found;
    net_reset(at->net);
    if (at->net->too_large || !periodic_find_starts(at->arena, at->net, &found)) return false;
    uint64_t count = 1 + 2 * (uint64_t)at->net->node_count;
    uint64_t *words = ARENA_ARRAY(at->arena, uint64_t, count);
    words[0] = found.period_bits;
    for (uint32_t i = 0; i < at->net->node_count; i++) {
        uint128 start = (uint128)found.starts[at->vertices[i].node];
        words[1 + 2 * i] = (uint64_t)start;
        words[2 + 2 * i] = (uint64_t)(start >> 64);
    }
    write_proof(at, CONTAINER_CERTIFICATE_STARTS, words, count);
    return true;
}

/* ---- schedules ---- */

struct spelling { /* spells runs of firings as symbols */
    struct block_proof *at;
    struct schedule_text text;
    uint32_t *phase; /* by node of the net */
    uint64_t *
        cycle_rule; /* by node: the symbol of one cycle of phases from its first phase; 0: none yet */
    schedule_items items;
};

static void spell_run(struct spelling *to, uint64_t symbol, uint64_t count)
{
    if (count) vec_push(to->at->arena, &to->items, (struct schedule_item){symbol, count});
}

static uint64_t cycle_rule(struct spelling *to, uint32_t node)
{
    if (to->cycle_rule[node]) return to->cycle_rule[node];
    uint32_t phases = to->at->net->nodes[node].phases;
    struct schedule_item *items = ARENA_ARRAY(to->at->arena, struct schedule_item, phases);
    for (uint32_t i = 0; i < phases; i++)
        items[i] = (struct schedule_item){to->at->terminal[node] + i, 1};
    return to->cycle_rule[node] = schedule_rule_add(&to->text, items, phases);
}

/* Single firings up to the first phase, whole cycles of phases, and the rest. */
static void spell_phases(struct spelling *to, struct net_firings run)
{
    uint32_t phases = to->at->net->nodes[run.node].phases, *phase = &to->phase[run.node];
    uint64_t first = to->at->terminal[run.node];
    for (; run.count && *phase; run.count--) {
        spell_run(to, first + *phase, 1);
        *phase = (*phase + 1) % phases;
    }
    if (run.count >= phases) spell_run(to, cycle_rule(to, run.node), run.count / phases);
    for (run.count %= phases; run.count; run.count--, ++*phase)
        spell_run(to, first + *phase, 1);
}

static bool spell_trace(struct spelling *to, const struct net_trace *trace)
{
    to->items = (schedule_items){0};
    for (size_t i = 0; i < trace->runs.count; i++) {
        struct net_firings run = trace->runs.items[i];
        if (to->at->net->nodes[run.node].phases > 1)
            spell_phases(to, run);
        else
            spell_run(to, to->at->terminal[run.node], run.count);
        if (to->items.count > RUNS_MAX) return false;
    }
    schedule_fold(&to->text, &to->items);
    return true;
}

/* An upper bound of the effects that the checker combines.  The effects of a symbol count at each of
 * its uses.  A rule has at most one effect per channel, and one per vertex with phases. */
static uint64_t checker_work(const struct block_proof *at, const struct schedule_text *text)
{
    const struct net *net = at->net;
    uint64_t *effects =
        ARENA_ARRAY(at->arena, uint64_t, at->terminal_count + text->rules.count + 1);
    uint64_t most = (uint64_t)net->arc_count / 2 + net->node_count, work = 0;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct net_node *node = &net->nodes[i];
        for (uint32_t k = 0; k < node->phases; k++)
            effects[at->terminal[i] + k] = (uint64_t)(node[1].first_in - node->first_in) +
                                           1; /* packets and room: all its ends */
    }
    for (size_t i = 0; i < text->rules.count; i++) {
        const struct schedule_rule *rule = &text->rules.items[i];
        uint64_t sum = 0;
        for (size_t k = 0; k < rule->count; k++)
            sum = add_clamped(sum, effects[rule->items[k].symbol]);
        work = add_clamped(work, sum);
        effects[at->terminal_count + i] = min64(sum, most);
    }
    return work;
}

static bool write_schedule(struct block_proof *at, const struct schedule_text *text)
{
    struct certify *pass = at->pass;
    uint64_t count = schedule_words(text), work = checker_work(at, text);
    uint64_t paid = CONTAINER_CERTIFICATE_WORK(count) - CONTAINER_CERTIFICATE_WORK(0);
    if (count > TEXT_WORDS - min64(pass->words.count, TEXT_WORDS)) return false;
    if (work > paid && work - paid > pass->work) return false;
    if (work > paid) pass->work -= work - paid;
    uint64_t *words = ARENA_ARRAY(at->arena, uint64_t, count);
    schedule_write(text, words);
    write_proof(at, CONTAINER_CERTIFICATE_SCHEDULE, words, count);
    return true;
}

static bool has_fired_once(const struct net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++)
        if (net->nodes[i].fired != net->nodes[i].repetitions) return false;
    return true;
}

static bool prove_by_schedule(struct block_proof *at, uint64_t *budget)
{
    struct net *net = at->net;
    struct net_trace first = {.arena = at->arena, .most = RUNS_MAX}, second = first;
    net_reset(net);
    net->trace = &first;
    bool found = net_run(net, budget) == NET_LIVE;
    struct net_trace *prologue = &first, *period = &second;
    if (found && has_fired_once(net)) { /* so it has returned to the initial marking */
        prologue = &second;
        period = &first;
    } else if (found) {
        net->trace = &second;
        found = net_run_period(net, budget);
    }
    net->trace = NULL;
    if (!found || first.is_cut || second.is_cut) return false;
    struct spelling to = {.at = at, .text = {.arena = at->arena, .terminals = at->terminal_count}};
    to.phase = ARENA_ARRAY(at->arena, uint32_t, net->node_count);
    to.cycle_rule = ARENA_ARRAY(at->arena, uint64_t, net->node_count);
    if (!spell_trace(&to, prologue)) return false;
    schedule_items begin = to.items;
    if (!spell_trace(&to, period)) return false;
    schedule_rule_add(&to.text, begin.items, begin.count);
    schedule_rule_add(&to.text, to.items.items, to.items.count);
    return write_schedule(at, &to.text);
}

/* ---- blocks ---- */

static bool prove_block(struct block_proof *at)
{
    uint64_t few = SHORT_STEPS + SHORT_STEPS_PER_ARC * (uint64_t)at->net->arc_count;
    uint64_t share = min64(few, at->pass->budget), left = share;
    bool proven = prove_by_schedule(at, &left);
    at->pass->budget -= share - left;
    return proven || prove_by_starts(at) || prove_by_schedule(at, &at->pass->budget);
}

/* Takes the depths of undeclared buffers with which a periodic schedule exists. */
static bool deepen_block(struct certify *pass, const struct block_proof *at,
                         const struct channel_block *block)
{
    struct net *net = net_create(at->arena, &pass->channels, block, pass->to_raise);
    uint64_t *room = ARENA_ARRAY(at->arena, uint64_t, net->arc_count + 1);
    if (net->too_large || !periodic_schedule(net, room)) return false;
    bool raised = false;
    for (uint32_t i = 0; i < net->arc_count; i++) {
        if (net->arcs[i].kind != ARC_ROOM) continue;
        const struct channel *channel = &pass->channels.items[net->arcs[i].channel];
        struct graph_buffer *buffer = &pass->graph->buffers.items[channel->buffer];
        uint64_t depth =
            add_clamped(add_clamped(room[i], buffer->initial.packets), channel->reserve);
        if (depth <= buffer->depth_packets) continue;
        buffer->depth_packets = depth;
        buffer->depth_reason = arena_printf(
            pass->cx->arena,
            "%" PRIu64 ": what a periodic schedule needs; a shorter proof is not known", depth);
        raised = true;
    }
    if (raised && pass->graph->memory_least == LEAST_EXACT) pass->graph->memory_least = LEAST_BOUND;
    return raised;
}

static void report_long_proofs(const struct certify *pass, const struct channel_block *block)
{
    const struct channel *channel = &pass->channels.items[block->channels[0]];
    const struct graph_buffer *buffer = &pass->graph->buffers.items[channel->buffer];
    struct diag *d = diag_report(
        pass->cx->diags, RULE_LIVENESS_UNDECIDED, buffer->span,
        "every proof found that the cycle around '%s' never deadlocks is too long for a container",
        buffer->name);
    diag_note(d,
              "a schedule takes more than %d runs of firings or %d words, and no periodic schedule "
              "exists with the declared depths",
              RUNS_MAX, TEXT_WORDS);
    diag_help(d,
              "larger declared depths, or rates with a larger common divisor, make one possible");
}

static bool needs_part(const struct certify *pass, const struct channel_block *block)
{
    const struct channel *channel = &pass->channels.items[block->channels[0]];
    return block->count > 1 || channel->from_phases > 1 || channel->to_phases > 1;
}

enum outcome { PROVEN, DEEPENED, UNDECIDED };

static enum outcome certify_block(struct certify *pass, const struct channel_block *block)
{
    struct arena *arena = arena_create();
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t index = pass->channels.items[block->channels[i]].buffer;
        const struct graph_buffer *buffer = &pass->graph->buffers.items[index];
        pass->as_given[index] = (struct net_depth){buffer->depth_packets, true};
        pass->to_raise[index] = (struct net_depth){buffer->depth_packets, buffer->depth_declared};
    }
    struct block_proof at = {.pass = pass,
                             .arena = arena,
                             .net = net_create(arena, &pass->channels, block, pass->as_given),
                             .lowest = reader_of(pass, block->channels[0])};
    number_block_vertices(&at);
    enum outcome outcome = PROVEN;
    if (!prove_block(&at)) outcome = deepen_block(pass, &at, block) ? DEEPENED : UNDECIDED;
    if (outcome == UNDECIDED) report_long_proofs(pass, block);
    arena_destroy(arena);
    return outcome;
}

static int compare_blocks(const void *left, const void *right)
{
    const struct channel_block *a = left, *b = right;
    return a->channels[0] < b->channels[0] ? -1 : a->channels[0] > b->channels[0];
}

/* A buffer may be in several blocks, so after one is deepened all blocks start again. */
static enum outcome certify_blocks(struct certify *pass, const struct channel_block *blocks)
{
    enum outcome outcome = PROVEN;
    pass->words.count = 0;
    pass->work = CONTAINER_CERTIFICATE_WORK(0);
    pass->budget = pass->limits.steps;
    for (uint32_t b = 0; b < pass->channels.block_count && outcome != UNDECIDED; b++) {
        if (!needs_part(pass, &blocks[b])) continue;
        enum outcome one = certify_block(pass, &blocks[b]);
        if (one != PROVEN) outcome = one;
    }
    return outcome;
}

static void check_deepened_memory(struct compile *cx, struct graph *graph)
{
    uint64_t limit = cx->options.max_memory_bytes ? cx->options.max_memory_bytes : INT64_MAX;
    if (graph_memory(graph, &graph->memory_bytes) && graph->memory_bytes <= limit) return;
    diag_report(cx->diags, RULE_MEMORY_LIMIT, graph->span,
                "a proof that the pipeline never deadlocks needs larger buffers, with more than "
                "the %" PRIu64 " bytes allowed",
                limit);
}

void certify_graph(struct compile *cx, struct graph *graph)
{
    certify_within(cx, graph, (struct certify_limits){.steps = CERTIFY_STEPS});
}

void certify_within(struct compile *cx, struct graph *graph, struct certify_limits limits)
{
    struct arena *arena = arena_create();
    struct certify pass = {.cx = cx, .graph = graph, .arena = arena, .limits = limits};
    pass.as_given = ARENA_ARRAY(arena, struct net_depth, graph->buffers.count + 1);
    pass.to_raise = ARENA_ARRAY(arena, struct net_depth, graph->buffers.count + 1);
    pass.channels = channels_collect(arena, graph, CHANNELS_OUTER);
    channels_cut(arena, &pass.channels, NULL);
    channels_reserve_end(&pass.channels);
    number_readers(&pass);
    number_sources(&pass);
    struct channel_block *blocks =
        ARENA_ARRAY(arena, struct channel_block, pass.channels.block_count + 1);
    for (uint32_t b = 0; b < pass.channels.block_count; b++)
        blocks[b] = pass.channels.blocks[b];
    qsort(blocks, pass.channels.block_count, sizeof *blocks, compare_blocks);
    enum outcome outcome = certify_blocks(&pass, blocks);
    for (int round = 1; outcome == DEEPENED && round < ROUNDS_MAX; round++)
        outcome = certify_blocks(&pass, blocks);
    if (outcome == DEEPENED) report_long_proofs(&pass, &blocks[0]);
    check_deepened_memory(cx, graph);
    graph->certificate = pass.words.items;
    graph->certificate_words = pass.words.count;
    arena_destroy(arena);
}
