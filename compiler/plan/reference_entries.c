#include "compiler/plan/reference_entries.h"

#include <stdlib.h>

#include "lang/dispatch.h"

enum {
    UNITS_OWN = 1 + 4, /* diff header, kernarg_address */
    UNITS_GRID = 2,
    UNITS_OBJECT = 4,
    UNITS_SIGNAL = 4 + 1 /* completion_signal, synch_scopes */
};

struct packing { /* by stage, but for node_stage */
    const struct graph *graph;
    struct plan *plan;
    uint32_t *node_stage; /* by node */
    uint32_t *order;      /* stages in the order of an iteration, those of one group together */
    bool *varies;         /* the number of firings of its launches does */
    bool *in_order;       /* by buffer, of those with a writer: see is_in_order */
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

static void take(struct ordering *o, uint32_t node)
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
                take(o, reader.node);
        }
    }
}

/* Nodes that wait for nobody, then those that waited for them alone (Kahn, "Topological sorting of
 * large networks", 1962); where all that are left wait in circles, the first of them. */
void plan_order_stages(struct arena *scratch, const struct graph *graph, uint32_t *order)
{
    uint32_t count = (uint32_t)graph->nodes.count, next = 0;
    struct ordering o = {.graph = graph,
                         .order = order,
                         .waits = ARENA_ARRAY(scratch, uint32_t, count + 1),
                         .taken = ARENA_ARRAY(scratch, bool, count + 1)};
    count_waits(graph, o.waits);
    for (uint32_t i = 0; i < count; i++)
        if (o.waits[i] == 0) take(&o, i);
    for (uint32_t done = 0; done < count; done++) {
        while (o.count == done)
            take(&o, next++);
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

static void sort_stages(struct arena *scratch, struct packing *p)
{
    uint32_t count = p->plan->stage_count;
    uint32_t *nodes = ARENA_ARRAY(scratch, uint32_t, count + 1);
    struct sorted_stage *sorted = ARENA_ARRAY(scratch, struct sorted_stage, count + 1);
    plan_order_stages(scratch, p->graph, nodes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stage = p->node_stage[nodes[i]];
        sorted[i] = (struct sorted_stage){.stage = stage,
                                          .sub_device = p->plan->stages[stage].sub_device,
                                          .importance = importance_of(p, stage),
                                          .position = i};
    }
    qsort(sorted, count, sizeof *sorted, compare_stages);
    for (uint32_t i = 0; i < count; i++)
        p->order[i] = sorted[i].stage;
}

/* ---- what a launch says ---- */

/* Nodes that a bounded rate reaches are not launched with the same number of firings each time. */
static void find_varying(struct arena *scratch, struct packing *p)
{
    const struct graph *graph = p->graph;
    uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, graph->nodes.count + 1), depth = 0;
    bool *seen = ARENA_ARRAY(scratch, bool, graph->nodes.count + 1);
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

/* Does a more important stage read what this one writes?  Then its launches have signals of their
 * own, so that nothing behind them in a packet is waited for. */
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

static uint32_t units_of(const struct packing *p, uint32_t stage)
{
    if (!p->plan->stages[stage].spilled) return UNITS_OWN + (p->varies[stage] ? UNITS_GRID : 0);
    return UNITS_OWN + UNITS_OBJECT + UNITS_GRID + (is_awaited(p, stage) ? UNITS_SIGNAL : 0);
}

/* ---- packs ---- */

/* Are its packets there for a reader of its queue when its writer's launch has been dispatched?
 * (runtime/sched/sched.h, "Order") */
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

/* Does the stage read what one of that pack writes, and only when it has completed? */
static bool waits_for(const struct packing *p, uint32_t stage, uint32_t pack)
{
    const struct graph_node *node = &p->graph->nodes.items[p->plan->stages[stage].node];
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t b = node->inputs.items[i].buffer;
        const struct graph_buffer *buffer = &p->graph->buffers.items[b];
        if (buffer->outer != GRAPH_INNER || buffer->writer_node == GRAPH_NONE) continue;
        uint32_t writer = p->node_stage[buffer->writer_node];
        if (writer != stage && p->plan->stages[writer].pack == pack && !p->in_order[b]) return true;
    }
    return false;
}

static bool same_group(const struct packing *p, uint32_t a, uint32_t b)
{
    return p->plan->stages[a].sub_device == p->plan->stages[b].sub_device &&
           importance_of(p, a) == importance_of(p, b);
}

/* Cuts the order into packs. */
static void cut_packs(struct packing *p)
{
    struct plan_stage *stages = p->plan->stages;
    uint32_t units = 0, packs = 0;
    for (uint32_t i = 0; i < p->plan->stage_count; i++)
        stages[i].pack = GRAPH_NONE;
    for (uint32_t i = 0; i < p->plan->stage_count; i++) {
        uint32_t stage = p->order[i], takes = units_of(p, stage);
        uint32_t as_last = stages[stage].spilled && !is_awaited(p, stage) ? UNITS_SIGNAL : 0;
        bool joins = !p->plan->debug_mode && i > 0 && same_group(p, p->order[i - 1], stage) &&
                     units + takes + as_last <= DISPATCH_UNITS && !waits_for(p, stage, packs - 1);
        units = joins ? units + takes : takes;
        stages[stage].pack = joins ? packs - 1 : packs++;
        stages[stage].place = joins ? stages[p->order[i - 1]].place + 1 : 0;
        stages[stage].ends_pack = true;
        if (joins) stages[p->order[i - 1]].ends_pack = false;
    }
    p->plan->pack_count = packs;
}

static bool is_alone(const struct plan_stage *stage)
{
    return stage->place == 0 && stage->ends_pack;
}

/* ---- entries ---- */

struct candidate {
    uint64_t launches; /* an iteration */
    uint32_t stage, at;
};

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->launches != b->launches) return a->launches > b->launches ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Marks as spilled what is beyond the heaviest ones.  False: there was nothing to spill. */
static bool spill(struct arena *scratch, struct packing *p)
{
    struct plan_stage *stages = p->plan->stages;
    struct candidate *candidates =
        ARENA_ARRAY(scratch, struct candidate, (size_t)p->plan->stage_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->plan->stage_count; i++) {
        const struct plan_stage *stage = &stages[p->order[i]];
        const struct graph_node *node = &p->graph->nodes.items[stage->node];
        if (is_alone(stage) || stage->spilled) continue;
        uint64_t launches = node->repetitions / stage->batch_max;
        candidates[count++] = (struct candidate){
            launches + (node->repetitions % stage->batch_max > 0), p->order[i], i};
    }
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (uint32_t i = p->plan->device->reference_entries; i < count; i++)
        stages[candidates[i].stage].spilled = true;
    return count > p->plan->device->reference_entries;
}

/* Stages that own an entry and are alone after all leave it to those that are spilled. */
static void give_back(struct packing *p)
{
    struct plan *plan = p->plan;
    uint32_t spare = plan->device->reference_entries;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        struct plan_stage *stage = &plan->stages[i];
        if (is_alone(stage)) stage->spilled = false;
        if (!is_alone(stage) && !stage->spilled) spare--;
    }
    for (uint32_t i = 0; i < plan->stage_count && spare > 0; i++) {
        struct plan_stage *stage = &plan->stages[p->order[i]];
        spare -= stage->spilled;
        stage->spilled = false;
    }
}

/* Owners are numbered in order; what is spilled uses the entry of an owner that has no signal, so
 * that none has to be taken back. */
static void number_entries(struct packing *p)
{
    struct plan *plan = p->plan;
    uint32_t shared = GRAPH_NONE;
    bool quiet = false;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        struct plan_stage *stage = &plan->stages[p->order[i]];
        stage->entry = GRAPH_NONE;
        if (stage->spilled || is_alone(stage)) continue;
        stage->entry = plan->entry_count++;
        bool signals = stage->ends_pack || is_awaited(p, p->order[i]);
        if (shared == GRAPH_NONE || (!quiet && !signals)) {
            shared = stage->entry;
            quiet = !signals;
        }
    }
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        struct plan_stage *stage = &plan->stages[i];
        if (!stage->spilled) continue;
        stage->entry = shared;
        plan->spilled_count++;
    }
}

void plan_reference_entries(struct arena *scratch, const struct graph *graph, struct plan *plan)
{
    size_t count = (size_t)plan->stage_count + 1;
    struct packing p = {.graph = graph,
                        .plan = plan,
                        .node_stage = ARENA_ARRAY(scratch, uint32_t, count),
                        .order = ARENA_ARRAY(scratch, uint32_t, count),
                        .varies = ARENA_ARRAY(scratch, bool, count),
                        .in_order = ARENA_ARRAY(scratch, bool, graph->buffers.count + 1)};
    for (uint32_t i = 0; i < plan->stage_count; i++)
        p.node_stage[plan->stages[i].node] = i;
    plan->pack_count = plan->entry_count = plan->spilled_count = 0;
    for (uint32_t i = 0; i < plan->stage_count; i++)
        plan->stages[i].spilled = false;
    sort_stages(scratch, &p);
    find_varying(scratch, &p);
    find_in_order(&p);
    /* What is spilled takes more room, so packs end elsewhere, and a stage that was alone may have
     * company and need an entry: again, with one spilled stage more each time at least. */
    do
        cut_packs(&p);
    while (spill(scratch, &p));
    give_back(&p);
    number_entries(&p);
}
