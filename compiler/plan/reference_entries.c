/* SPDX-License-Identifier: MIT */
#include "compiler/plan/reference_entries.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/ratio.h"
#include "lang/dispatch.h"

/* Units of 16 bits that a launch takes in a condensed packet. */
enum {
    UNITS_OWN = 1,             /* a diff header repeats the reference */
    UNITS_GRID = 2,            /* another number of firings */
    UNITS_SPILLED = 1 + 4 + 4, /* another stage's reference: kernel_object, kernarg_address */
    UNITS_SIGNAL = 4,
    UNITS_SCOPES = 1 /* a release scope, or none */
};

/* Where stages are launched: the body of a loop of the schedule, or outside of all of them, one after
 * the other in each round of the program. */
enum { OUTSIDE = 0 };

struct body {
    uint64_t rounds; /* an iteration */
    uint64_t enters; /* an iteration: how often its loop begins */
    bool leaf;       /* it is a loop without loops inside */
    uint32_t segments;
};

struct packing { /* by stage, but for node_stage */
    const struct graph *graph;
    struct plan *plan;
    const struct schedule *schedule; /* or NULL */
    uint32_t entries;                /* that may be used */
    struct arena *scratch;
    uint32_t *node_stage; /* by node */
    uint32_t *order;      /* stages in the order of an iteration, those of one group together */
    uint32_t *position;   /* in `order` */
    uint32_t *waiter;     /* by position: the first one after it that waits for its completion */
    uint64_t *launches;   /* an iteration */
    uint64_t *grid;       /* firings of a launch */
    uint32_t *body;       /* in `bodies` */
    VEC(struct body) bodies;
    bool *varies;   /* the number of firings of its launches does */
    bool *in_order; /* by buffer, of those with a writer: see is_in_order */
};

/* ---- the order of an iteration ---- */

/* Has the reader to wait for the writer before its first firing? */
static bool is_first(const struct graph *graph, const struct graph_buffer *buffer,
                     struct graph_reader reader)
{
    const struct graph_input *in = &graph->nodes.items[reader.node].inputs.items[reader.input];
    return buffer->initial.packets < in->peek;
}

static void count_waits(const struct graph *graph, uint32_t *waits)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->writer_node == GRAPH_NONE) continue;
        for (size_t r = 0; r < buffer->readers.count; r++)
            waits[buffer->readers.items[r].node] +=
                is_first(graph, buffer, buffer->readers.items[r]);
    }
}

struct ordering {
    const struct graph *graph;
    uint32_t *order, *waits;
    bool *taken;
    uint32_t count;
};

static void take_node(struct ordering *o, uint32_t node)
{
    if (o->taken[node]) return;
    o->taken[node] = true;
    o->order[o->count++] = node;
}

static void release_readers(struct ordering *o, uint32_t index)
{
    const struct graph_node *node = &o->graph->nodes.items[index];
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_buffer *buffer = &o->graph->buffers.items[node->outputs.items[i].buffer];
        for (size_t r = 0; r < buffer->readers.count; r++) {
            struct graph_reader reader = buffer->readers.items[r];
            if (is_first(o->graph, buffer, reader) && --o->waits[reader.node] == 0)
                take_node(o, reader.node);
        }
    }
}

/* First the nodes that wait for no other, then those that waited only for these, and so on (Kahn, "Topological sorting of
 * large networks", 1962).  If all nodes that are left wait in cycles, the first of them is next. */
void plan_order_stages(struct arena *scratch, const struct graph *graph, uint32_t *order)
{
    uint32_t count = (uint32_t)graph->nodes.count, next = 0;
    struct ordering o = {.graph = graph,
                         .order = order,
                         .waits = ARENA_ARRAY(scratch, uint32_t, count + 1),
                         .taken = ARENA_ARRAY(scratch, bool, count + 1)};
    count_waits(graph, o.waits);
    for (uint32_t i = 0; i < count; i++)
        if (o.waits[i] == 0) take_node(&o, i);
    for (uint32_t done = 0; done < count; done++) {
        while (o.count == done)
            take_node(&o, next++);
        release_readers(&o, order[done]);
    }
}

struct sorted_stage {
    uint32_t stage, sub_device, importance, position;
};

static int compare_stages(const void *left, const void *right)
{
    const struct sorted_stage *a = left, *b = right;
    if (a->sub_device != b->sub_device) return a->sub_device < b->sub_device ? -1 : 1;
    if (a->importance != b->importance) return a->importance > b->importance ? -1 : 1;
    return a->position < b->position ? -1 : 1;
}

static uint32_t importance_of(const struct packing *p, uint32_t stage)
{
    return p->graph->nodes.items[p->plan->stages[stage].node].importance;
}

/* ---- the program ---- */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b > 0);
}

static void add_run(struct packing *p, const struct schedule_op *op, uint32_t body,
                    uint32_t *position, uint32_t *next)
{
    uint64_t batch = p->plan->stages[op->stage].batch_max;
    uint64_t launches = mul_clamped(p->bodies.items[body].rounds, divide_up(op->count, batch));
    if (position[op->stage] == GRAPH_NONE) {
        position[op->stage] = (*next)++;
        p->body[op->stage] = body;
        p->grid[op->stage] = min64(op->count, batch);
        p->launches[op->stage] = 0;
        p->varies[op->stage] = false;
    }
    p->launches[op->stage] = add_clamped(p->launches[op->stage], launches);
}

static void read_part(struct packing *p, const struct schedule_part *part, uint32_t *position,
                      uint32_t *next)
{
    uint32_t open[SCHEDULE_NEST_MAX + 1], depth = 0;
    open[0] = OUTSIDE;
    for (uint32_t i = 0; i < part->op_count; i++) {
        const struct schedule_op *op = &part->ops[i];
        assert(depth <= SCHEDULE_NEST_MAX);
        struct body *outer = &p->bodies.items[open[depth]];
        if (op->kind == SCHEDULE_RUN) add_run(p, op, open[depth], position, next);
        if (op->kind == SCHEDULE_AGAIN) depth--;
        if (op->kind != SCHEDULE_REPEAT) continue;
        struct body inner = {
            .rounds = mul_clamped(outer->rounds, op->count), .enters = outer->rounds, .leaf = true};
        outer->leaf = false;
        open[++depth] = (uint32_t)vec_push(p->scratch, &p->bodies, inner);
    }
}

/* Fills the positions: static stages in the order of the schedule, whose loops give counts and places;
 * the other stages in the order of the data, as they become ready. */
static void read_program(struct packing *p, uint32_t *position)
{
    uint32_t count = p->plan->stage_count, next = 0;
    uint64_t periods = 1;
    uint32_t *nodes = ARENA_ARRAY(p->scratch, uint32_t, (size_t)count + 1);
    vec_push(p->scratch, &p->bodies, (struct body){.rounds = 1, .enters = 1});
    for (uint32_t i = 0; i < count; i++)
        position[i] = GRAPH_NONE;
    for (uint32_t i = 0; p->schedule != NULL && i < p->schedule->island_count; i++) {
        const struct schedule_island *island = &p->schedule->islands[i];
        if (i == 0) periods = island->periods;
        for (uint32_t level = island->level_count; level-- > 0;)
            read_part(p, &island->levels[level], position, &next);
    }
    plan_order_stages(p->scratch, p->graph, nodes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stage = p->node_stage[nodes[i]];
        const struct plan_stage *planned = &p->plan->stages[stage];
        uint64_t firings = p->graph->nodes.items[planned->node].repetitions;
        if (position[stage] != GRAPH_NONE) continue;
        position[stage] = next++;
        p->body[stage] = OUTSIDE;
        p->grid[stage] = planned->batch_max;
        p->launches[stage] = mul_clamped(divide_up(firings, planned->batch_max), periods);
    }
}

static void sort_stages(struct packing *p)
{
    uint32_t count = p->plan->stage_count;
    uint32_t *position = ARENA_ARRAY(p->scratch, uint32_t, (size_t)count + 1);
    struct sorted_stage *sorted = ARENA_ARRAY(p->scratch, struct sorted_stage, (size_t)count + 1);
    read_program(p, position);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct sorted_stage){.stage = i,
                                          .sub_device = p->plan->stages[i].sub_device,
                                          .importance = importance_of(p, i),
                                          .position = position[i]};
    qsort(sorted, count, sizeof *sorted, compare_stages);
    for (uint32_t i = 0; i < count; i++) {
        p->order[i] = sorted[i].stage;
        p->position[sorted[i].stage] = i;
    }
}

/* ---- what a launch says ---- */

/* Nodes that a bounded rate reaches are not launched with the same number of firings each time. */
static void find_varying(struct packing *p)
{
    const struct graph *graph = p->graph;
    uint32_t *stack = ARENA_ARRAY(p->scratch, uint32_t, graph->nodes.count + 1), depth = 0;
    bool *seen = ARENA_ARRAY(p->scratch, bool, graph->nodes.count + 1);
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        bool bounded = node->kernel->stops;
        for (size_t i = 0; i < node->outputs.count; i++)
            bounded |= node->outputs.items[i].push_least != node->outputs.items[i].push;
        if (bounded) stack[depth++] = n;
        seen[n] = bounded;
    }
    while (depth > 0) {
        const struct graph_node *node = &graph->nodes.items[stack[--depth]];
        for (size_t i = 0; i < node->outputs.count; i++) {
            const struct graph_buffer *buffer =
                &graph->buffers.items[node->outputs.items[i].buffer];
            for (size_t r = 0; r < buffer->readers.count; r++) {
                uint32_t reader = buffer->readers.items[r].node;
                p->varies[p->node_stage[reader]] = true;
                if (!seen[reader]) stack[depth++] = reader;
                seen[reader] = true;
            }
        }
    }
}

/* Does a more important stage read the packets of this one?  Then its launches have signals of their own, so that the
 * reader does not wait for later launches of a dispatch packet. */
static bool is_awaited(const struct packing *p, uint32_t stage)
{
    const struct graph_node *node = &p->graph->nodes.items[p->plan->stages[stage].node];
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_buffer *buffer = &p->graph->buffers.items[node->outputs.items[i].buffer];
        for (size_t r = 0; r < buffer->readers.count; r++)
            if (p->graph->nodes.items[buffer->readers.items[r].node].importance > node->importance)
                return true;
    }
    return false;
}

/* ---- packs ---- */

/* Are its packets there for a reader of its queue when its writer's launch has been dispatched?
 * (core/core.h, "Order") */
static bool is_in_order(const struct packing *p, const struct graph_buffer *buffer)
{
    uint32_t queue = p->plan->stages[p->node_stage[buffer->writer_node]].sub_device;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        uint32_t reader = p->node_stage[buffer->readers.items[r].node];
        if (p->plan->stages[reader].sub_device != queue) return false;
    }
    return true;
}

static void find_in_order(struct packing *p)
{
    for (size_t n = 0; n < p->graph->nodes.count; n++) {
        const struct graph_node *writer = &p->graph->nodes.items[n];
        bool exact = !writer->kernel->stops;
        for (size_t i = 0; i < writer->outputs.count; i++)
            exact &= writer->outputs.items[i].push_least == writer->outputs.items[i].push;
        for (size_t i = 0; i < writer->outputs.count; i++) {
            uint32_t buffer = writer->outputs.items[i].buffer;
            p->in_order[buffer] = exact && is_in_order(p, &p->graph->buffers.items[buffer]);
        }
    }
}

/* A stage that reads what another one writes, and only when that has completed, is in a later pack. */
static void find_waiters(struct packing *p)
{
    const struct graph *graph = p->graph;
    for (uint32_t i = 0; i < p->plan->stage_count; i++)
        p->waiter[i] = p->plan->stage_count;
    for (size_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        if (buffer->outer != GRAPH_INNER || buffer->writer_node == GRAPH_NONE || p->in_order[b])
            continue;
        uint32_t writer = p->position[p->node_stage[buffer->writer_node]];
        for (size_t r = 0; r < buffer->readers.count; r++) {
            uint32_t reader = p->position[p->node_stage[buffer->readers.items[r].node]];
            if (reader > writer && reader < p->waiter[writer]) p->waiter[writer] = reader;
        }
    }
}

/* ---- packs ---- */

enum {
    BLOCK_STAGES = 4096, /* that are cut into packs together: bounds memory */
    STATES = 2 * (DISPATCH_ENTRIES_MAX + 1)
};

/* The cost of the launches of an iteration.  Each owner also costs, once, the packet that stores its
 * reference. */
struct cost {
    uint64_t packets;
    uint32_t owners;
    uint64_t units; /* of 16 bits */
};

static bool is_cheaper(struct cost a, struct cost b)
{
    if (a.packets != b.packets) return a.packets < b.packets;
    return a.owners != b.owners ? a.owners < b.owners : a.units < b.units;
}

static struct cost add_cost(struct cost a, struct cost b)
{
    return (struct cost){add_clamped(a.packets, b.packets), a.owners + b.owners,
                         add_clamped(a.units, b.units)};
}

/* The best way to launch the stages of a segment up to a position: by the owners of entries, and
 * whether one of them is quiet, which is to say gives no signal (state_at). */
struct state {
    struct cost cost;
    uint32_t begin; /* position where the last pack begins */
    uint8_t before; /* the state there */
    uint8_t owners; /* of the last pack */
    bool swapped;   /* its last owner is its first quiet member instead */
    bool reached;
};

static uint32_t state_at(uint32_t owners, bool quiet)
{
    return 2 * owners + quiet;
}

/* A stage of the pack that is being considered. */
struct member {
    uint64_t launches; /* an iteration */
    uint32_t position;
    uint32_t own, spilled; /* units of a launch, with an entry of its own and without */
    bool quiet;
};

/* Stages that follow one another; the first members are those for which an entry saves most. */
struct pack {
    struct member members[DISPATCH_UNITS];
    uint32_t count, units; /* units: if all are spilled */
    struct cost cost;      /* likewise */
};

/* Stages of one queue, importance and body that follow one another: packs do not go beyond. */
struct segment {
    uint32_t first, end; /* positions */
    uint32_t body;
    bool alone_in_body;        /* all of a loop without loops inside */
    struct cost costs[STATES]; /* by state */
    bool reached[STATES];
    uint32_t state, temporary; /* chosen: and so many of its owners are temporary */
};

struct cutting {
    const struct packing *packing;
    const bool *shares_grid; /* by position: another stage's launches have as many firings */
    bool quiet_owner;        /* assumed: what is spilled finds an entry that gives no signal */
    uint32_t entries;
    VEC(struct segment) segments;
    struct state *states; /* of one segment */
};

static uint64_t member_saving(const struct member *m)
{
    return mul_clamped(m->launches, m->spilled - m->own);
}

static struct member describe_member(const struct cutting *c, uint32_t position, bool last)
{
    const struct packing *p = c->packing;
    uint32_t stage = p->order[position];
    struct member m = {.launches = p->launches[stage],
                       .position = position,
                       .own = UNITS_OWN + (p->varies[stage] ? UNITS_GRID : 0),
                       .spilled = UNITS_SPILLED + (c->shares_grid[position] ? 0 : UNITS_GRID),
                       .quiet = !last && !is_awaited(p, stage)};
    if (m.quiet != c->quiet_owner)
        m.spilled += UNITS_SCOPES + UNITS_SIGNAL;
    else if (!m.quiet)
        m.spilled += UNITS_SIGNAL; /* the signal is each stage's own */
    return m;
}

static void add_member(struct pack *pack, struct member m)
{
    uint32_t at = pack->count++;
    for (; at > 0 && member_saving(&pack->members[at - 1]) < member_saving(&m); at--)
        pack->members[at] = pack->members[at - 1];
    pack->members[at] = m;
    pack->units += m.spilled;
    pack->cost.packets = max64(pack->cost.packets, m.launches);
    pack->cost.units = add_clamped(pack->cost.units, mul_clamped(m.launches, m.spilled));
}

/* The first quiet member that is not among the first `owners`; `count`: there is none. */
static uint32_t next_quiet(const struct pack *pack, uint32_t owners)
{
    while (owners < pack->count && !pack->members[owners].quiet)
        owners++;
    return owners;
}

static void own_entry(const struct member *m, uint32_t *units, struct cost *cost)
{
    *units -= m->spilled - m->own;
    cost->units -= member_saving(m) <= cost->units ? member_saving(m) : cost->units;
    cost->owners++;
}

/* The pack after each state at its begin. */
static void follow_states(const struct cutting *c, const struct state *before, struct state pack,
                          bool quiet, struct state *after)
{
    for (uint32_t i = 0; i < STATES; i++) {
        uint32_t owners = i / 2 + pack.owners;
        if (!before[i].reached || owners > c->entries) continue;
        struct state next = pack;
        next.reached = true;
        next.before = (uint8_t)i;
        next.cost = add_cost(before[i].cost, pack.cost);
        struct state *best = &after[state_at(owners, i % 2 == 1 || quiet)];
        if (!best->reached || is_cheaper(next.cost, best->cost)) *best = next;
    }
}

/* With each number of owners: those for which an entry saves most; or, if none of these is quiet, a
 * quiet one in place of the last.  False: a longer pack fits no packet either. */
static bool extend_pack(const struct cutting *c, const struct pack *pack,
                        const struct state *before, uint32_t begin, struct state *after)
{
    struct state next = {.cost = pack->cost, .begin = begin};
    uint32_t units = pack->units;
    bool quiet = false;
    if (pack->count == 1) { /* a full packet, without an entry */
        next.cost.units = 0;
        follow_states(c, before, next, false, after);
        return true;
    }
    for (uint32_t owners = 0; owners <= c->entries && owners <= pack->count; owners++) {
        next.owners = (uint8_t)owners;
        if (owners > 0 && !quiet && next_quiet(pack, owners) < pack->count) {
            struct state other = next;
            uint32_t others = units;
            other.swapped = true;
            own_entry(&pack->members[next_quiet(pack, owners)], &others, &other.cost);
            if (others <= DISPATCH_UNITS) follow_states(c, before, other, true, after);
        }
        if (owners > 0) {
            own_entry(&pack->members[owners - 1], &units, &next.cost);
            quiet = quiet || pack->members[owners - 1].quiet;
        }
        if (units <= DISPATCH_UNITS) follow_states(c, before, next, quiet, after);
    }
    return units <= DISPATCH_UNITS;
}

/* Fills the states of each position of a segment: dynamic programming over the last pack. */
static void cut_segment(const struct cutting *c, const struct segment *segment)
{
    const struct packing *p = c->packing;
    uint32_t first = segment->first, end = segment->end;
    memset(c->states, 0, ((size_t)(end - first) + 1) * STATES * sizeof *c->states);
    c->states[0].reached = true;
    for (uint32_t at = first + 1; at <= end; at++) {
        struct pack pack = {.count = 0};
        struct state *after = &c->states[(size_t)(at - first) * STATES];
        for (uint32_t begin = at; begin-- > first && pack.count < DISPATCH_UNITS;) {
            if (begin + 1 < at && p->waiter[begin] < at) break;
            add_member(&pack, describe_member(c, begin, begin + 1 == at));
            const struct state *before = &c->states[(size_t)(begin - first) * STATES];
            if (!extend_pack(c, &pack, before, begin, after)) break;
        }
    }
}

static bool are_joined(const struct packing *p, uint32_t a, uint32_t b)
{
    return !p->plan->debug_mode && p->plan->stages[a].sub_device == p->plan->stages[b].sub_device &&
           importance_of(p, a) == importance_of(p, b) && p->body[a] == p->body[b];
}

static void find_segments(struct cutting *c)
{
    const struct packing *p = c->packing;
    uint32_t count = p->plan->stage_count, longest = 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        uint32_t body = p->body[p->order[first]];
        for (end = first + 1; end < count && end - first < BLOCK_STAGES; end++)
            if (!are_joined(p, p->order[end - 1], p->order[end])) break;
        struct segment segment = {.first = first, .end = end, .body = body};
        vec_push(p->scratch, &c->segments, segment);
        p->bodies.items[body].segments++;
        if (end - first > longest) longest = end - first;
    }
    for (size_t i = 0; i < c->segments.count; i++) {
        const struct body *body = &p->bodies.items[c->segments.items[i].body];
        c->segments.items[i].alone_in_body = body->leaf && body->segments == 1;
    }
    c->states = ARENA_ARRAY(p->scratch, struct state, ((size_t)longest + 1) * STATES);
}

/* ---- entries for all segments ---- */

/* The best ways to launch the first segments: by the entries that are owned for good, and whether
 * an owner is quiet. */
struct choice {
    struct cost cost;
    uint8_t before, state, temporary;
    bool reached;
};

static void choose_state(const struct cutting *c, const struct segment *segment, uint32_t state,
                         uint32_t temporary, uint32_t permanent_most, const struct choice *before,
                         struct choice *after)
{
    uint32_t permanent = state / 2 - temporary;
    const struct body *body = &c->packing->bodies.items[segment->body];
    for (uint32_t i = 0; i < STATES; i++) {
        uint32_t owners = i / 2 + permanent;
        if (!before[i].reached || owners > permanent_most) continue;
        struct choice next = {.cost = add_cost(before[i].cost, segment->costs[state]),
                              .before = (uint8_t)i,
                              .state = (uint8_t)state,
                              .temporary = (uint8_t)temporary,
                              .reached = true};
        next.cost.packets = add_clamped(next.cost.packets, mul_clamped(body->enters, temporary));
        struct choice *best = &after[state_at(owners, (i | state) % 2 == 1)];
        if (!best->reached || is_cheaper(next.cost, best->cost)) *best = next;
    }
}

/* With `temporary_most` entries for all loops in turn.  A loop that finds them taken by another one
 * stores its references anew, one packet each, whenever it begins.  The best state; STATES: none. */
static uint32_t share_entries(const struct cutting *c, uint32_t temporary_most,
                              struct choice *choices)
{
    size_t count = c->segments.count;
    uint32_t best = STATES, most = c->entries - temporary_most;
    memset(choices, 0, (count + 1) * STATES * sizeof *choices);
    choices[0].reached = true;
    for (size_t s = 0; s < count; s++) {
        const struct segment *segment = &c->segments.items[s];
        uint32_t may = segment->alone_in_body ? temporary_most : 0;
        for (uint32_t i = 0; i < STATES; i++)
            for (uint32_t t = 0; segment->reached[i] && t <= may && t <= i / 2; t++)
                choose_state(c, segment, i, t, most, &choices[s * STATES],
                             &choices[(s + 1) * STATES]);
    }
    const struct choice *last = &choices[count * STATES];
    for (uint32_t i = 0; i < STATES; i++) {
        if (!last[i].reached || last[i].cost.owners == 0 || (c->quiet_owner && i % 2 == 0))
            continue;
        if (best == STATES || is_cheaper(last[i].cost, last[best].cost)) best = i;
    }
    return best;
}

/* Under one assumption: sets what each segment gets.  False: nothing holds it. */
static bool choose_states(struct cutting *c, struct choice *choices, struct cost *cost)
{
    size_t count = c->segments.count;
    uint32_t best_temporary = UINT32_MAX;
    for (size_t s = 0; s < count; s++) {
        struct segment *segment = &c->segments.items[s];
        cut_segment(c, segment);
        const struct state *last = &c->states[(size_t)(segment->end - segment->first) * STATES];
        for (uint32_t i = 0; i < STATES; i++) {
            segment->costs[i] = last[i].cost;
            segment->reached[i] = last[i].reached;
        }
    }
    for (uint32_t t = 0; t <= c->entries; t++) {
        uint32_t state = share_entries(c, t, choices);
        if (state == STATES) continue;
        struct cost found = choices[count * STATES + state].cost;
        if (best_temporary != UINT32_MAX && !is_cheaper(found, *cost)) continue;
        best_temporary = t;
        *cost = found;
    }
    if (best_temporary == UINT32_MAX) return false;
    uint32_t state = share_entries(c, best_temporary, choices);
    for (size_t s = count; s-- > 0;) {
        const struct choice *choice = &choices[(s + 1) * STATES + state];
        c->segments.items[s].state = choice->state;
        c->segments.items[s].temporary = choice->temporary;
        state = choice->before;
    }
    return true;
}

/* Marks the pack that ends at `at` with that state: places, ends, and spilled stages. */
static void mark_pack(const struct cutting *c, const struct state *state, uint32_t at)
{
    struct plan_stage *stages = c->packing->plan->stages;
    const uint32_t *order = c->packing->order;
    struct pack pack = {.count = 0};
    for (uint32_t k = at; k-- > state->begin;) {
        struct plan_stage *stage = &stages[order[k]];
        stage->place = k - state->begin;
        stage->ends_pack = k + 1 == at;
        add_member(&pack, describe_member(c, k, k + 1 == at));
    }
    if (pack.count == 1) return;
    uint32_t owners = state->owners, quiet = next_quiet(&pack, owners);
    for (uint32_t k = 0; k < pack.count; k++) {
        bool owns = state->swapped ? k + 1 < owners || k == quiet : k < owners;
        struct plan_stage *stage = &stages[order[pack.members[k].position]];
        stage->spilled = !owns;
        stage->units = owns ? pack.members[k].own : pack.members[k].spilled;
    }
}

static void mark_segment(const struct cutting *c, const struct segment *segment)
{
    uint32_t i = segment->state;
    cut_segment(c, segment);
    for (uint32_t at = segment->end; at > segment->first;) {
        const struct state *state = &c->states[(size_t)(at - segment->first) * STATES + i];
        mark_pack(c, state, at);
        i = state->before;
        at = state->begin;
    }
}

static int compare_grids(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* By position: has another stage launches of as many firings? */
static bool *find_shared_grids(const struct packing *p)
{
    uint32_t count = p->plan->stage_count;
    bool *shares = ARENA_ARRAY(p->scratch, bool, (size_t)count + 1);
    uint64_t *grids = ARENA_ARRAY(p->scratch, uint64_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        grids[i] = p->grid[i];
    qsort(grids, count, sizeof *grids, compare_grids);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t grid = p->grid[p->order[i]];
        const uint64_t *found = bsearch(&grid, grids, count, sizeof *grids, compare_grids);
        bool before = found > grids && found[-1] == grid;
        bool after = found + 1 < grids + count && found[1] == grid;
        shares[i] = !p->varies[p->order[i]] && (before || after);
    }
    return shares;
}

static void mark_alone(const struct packing *p)
{
    for (uint32_t i = 0; i < p->plan->stage_count; i++) {
        p->plan->stages[i].place = 0;
        p->plan->stages[i].ends_pack = true;
        p->plan->stages[i].spilled = false;
        p->plan->stages[i].units = DISPATCH_UNITS;
    }
}

static struct cost cost_alone(const struct packing *p)
{
    struct cost cost = {.packets = 0};
    for (uint32_t i = 0; i < p->plan->stage_count; i++)
        cost.packets = add_clamped(cost.packets, p->launches[i]);
    return cost;
}

static bool is_alone(const struct plan_stage *stage)
{
    return stage->place == 0 && stage->ends_pack;
}

/* Units beside those of every spilled launch, if `stage` refers to what `owner` has stored. */
static uint32_t entry_distance(const struct packing *p, uint32_t stage, uint32_t owner)
{
    const struct plan_stage *a = &p->plan->stages[stage], *b = &p->plan->stages[owner];
    bool signals = a->ends_pack || is_awaited(p, stage);
    bool refers = b->ends_pack || is_awaited(p, owner);
    uint32_t units = p->grid[stage] != p->grid[owner] || p->varies[owner] ? UNITS_GRID : 0;
    if (signals != refers) return units + UNITS_SIGNAL + UNITS_SCOPES;
    return units + (signals ? UNITS_SIGNAL : 0);
}

/* Entries that are owned for good come first; those that loops take in turn follow.  A spilled stage
 * names the entry that it is nearest to. */
static void number_entries(const struct packing *p, const struct cutting *c)
{
    struct plan *plan = p->plan;
    uint32_t owners[DISPATCH_ENTRIES_MAX] = {0}, permanent = 0;
    for (size_t s = 0; s < c->segments.count; s++)
        permanent += c->segments.items[s].state / 2 - c->segments.items[s].temporary;
    for (size_t s = 0; s < c->segments.count; s++) {
        const struct segment *segment = &c->segments.items[s];
        uint32_t temporary = segment->temporary, shared = permanent;
        for (uint32_t i = segment->first; i < segment->end; i++) {
            struct plan_stage *stage = &plan->stages[p->order[i]];
            if (stage->spilled || is_alone(stage)) continue;
            stage->entry = temporary > 0 ? shared++ : plan->entry_count++;
            temporary -= temporary > 0;
            owners[stage->entry] = p->order[i];
            plan->owner_count++;
        }
        if (shared > plan->shared_end) plan->shared_end = shared;
    }
    if (plan->shared_end > plan->entry_count) plan->entry_count = plan->shared_end;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        uint32_t fewest = UINT32_MAX;
        if (!plan->stages[i].spilled) continue;
        plan->spilled_count++;
        for (uint32_t e = 0; e < plan->entry_count; e++) {
            uint32_t units = entry_distance(p, i, owners[e]);
            if (units < fewest) plan->stages[i].entry = e;
            if (units < fewest) fewest = units;
        }
    }
}

/* With more entries there is every way that there was with fewer. */
static void pack_stages(struct packing *p)
{
    struct plan *plan = p->plan;
    uint32_t pack = 0;
    struct cutting c = {.packing = p, .shares_grid = find_shared_grids(p), .entries = p->entries};
    struct cost best = cost_alone(p), cost;
    find_segments(&c);
    struct choice *choices =
        ARENA_ARRAY(p->scratch, struct choice, (c.segments.count + 1) * STATES);
    mark_alone(p);
    for (int quiet = 0; quiet < 2; quiet++) {
        c.quiet_owner = quiet == 1;
        if (plan->debug_mode || !choose_states(&c, choices, &cost) || !is_cheaper(cost, best))
            continue;
        best = cost;
        mark_alone(p);
        for (size_t s = 0; s < c.segments.count; s++)
            mark_segment(&c, &c.segments.items[s]);
        for (uint32_t i = 0; i < plan->stage_count; i++)
            plan->stages[i].entry = GRAPH_NONE;
        plan->entry_count = plan->owner_count = plan->spilled_count = plan->shared_end = 0;
        number_entries(p, &c);
    }
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        pack += i > 0 && plan->stages[p->order[i]].place == 0;
        plan->stages[p->order[i]].pack = pack;
    }
    plan->pack_count = plan->stage_count > 0 ? pack + 1 : 0;
}

void plan_reference_entries(struct arena *scratch, const struct graph *graph, struct plan *plan,
                            const struct schedule *schedule, uint32_t entries)
{
    size_t count = (size_t)plan->stage_count + 1;
    struct packing p = {.graph = graph,
                        .plan = plan,
                        .schedule = schedule,
                        .entries = entries,
                        .scratch = scratch,
                        .node_stage = ARENA_ARRAY(scratch, uint32_t, count),
                        .order = ARENA_ARRAY(scratch, uint32_t, count),
                        .position = ARENA_ARRAY(scratch, uint32_t, count),
                        .waiter = ARENA_ARRAY(scratch, uint32_t, count),
                        .launches = ARENA_ARRAY(scratch, uint64_t, count),
                        .grid = ARENA_ARRAY(scratch, uint64_t, count),
                        .body = ARENA_ARRAY(scratch, uint32_t, count),
                        .varies = ARENA_ARRAY(scratch, bool, count),
                        .in_order = ARENA_ARRAY(scratch, bool, graph->buffers.count + 1)};
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        p.node_stage[plan->stages[i].node] = i;
        plan->stages[i].entry = GRAPH_NONE;
    }
    plan->entry_count = plan->owner_count = plan->spilled_count = plan->shared_end = 0;
    find_varying(&p);
    sort_stages(&p);
    find_in_order(&p);
    find_waiters(&p);
    pack_stages(&p);
}
