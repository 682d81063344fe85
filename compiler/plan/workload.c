/* SPDX-License-Identifier: MIT */
/*
 * workload: the share of each node in the work of the whole pipeline.
 *
 * Repetitions compare only nodes of one island (liveness/rate).  An island that reads a buffer of a bounded rate has the
 * weight of the maximum that this buffer can bring: its iterations are (maximum of packets written in an iteration of the
 * writer) / (packets consumed in one of the reader).  An island that no such buffer connects to an earlier one counts by
 * itself.  A firing that launches kernels has the weight of the largest tree that it may launch.
 */
#include "compiler/ir/ratio.h"
#include "compiler/plan/plan_internal.h"

struct scale { /* of an island; num 0: not known yet */
    uint64_t num, den;
};

struct crossing { /* a bounded buffer: `to` has so many iterations for one of `from` */
    uint32_t from, to;
    struct scale ratio;
};

struct crossings {
    struct crossing *items; /* both ways */
    uint32_t count;
    uint32_t *first, *order; /* island -> its crossings */
};

static struct scale scale_make(uint128 num, uint128 den)
{
    while (num >> 31 || den >> 31) {
        num >>= 1;
        den >>= 1;
    }
    return (struct scale){num ? (uint64_t)num : 1, den ? (uint64_t)den : 1};
}

static uint64_t cycles_of(const struct graph_node *node)
{
    return max64(node->repetitions / graph_phases(node), 1);
}

static void collect_crossings(struct arena *arena, const struct graph *graph, struct crossings *to)
{
    to->items = ARENA_ARRAY(arena, struct crossing, 2 * graph->buffers.count);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (!graph_is_bounded(graph, buffer) || buffer->readers.count == 0) continue;
        const struct graph_node *writer = &graph->nodes.items[buffer->writer_node];
        const struct graph_node *reader = &graph->nodes.items[buffer->readers.items[0].node];
        uint128 written = (uint128)cycles_of(writer) * graph_writer(graph, buffer)->push;
        uint128 read = (uint128)cycles_of(reader) * graph_reader_input(graph, buffer, 0)->pop;
        if (written == 0 || read == 0) continue;
        to->items[to->count++] =
            (struct crossing){writer->component, reader->component, scale_make(written, read)};
        to->items[to->count++] =
            (struct crossing){reader->component, writer->component, scale_make(read, written)};
    }
}

static void index_crossings(struct arena *arena, const struct graph *graph, struct crossings *to)
{
    uint32_t islands = graph->component_count;
    uint32_t *fill = ARENA_ARRAY(arena, uint32_t, islands + 1);
    to->first = ARENA_ARRAY(arena, uint32_t, (size_t)islands + 2);
    to->order = ARENA_ARRAY(arena, uint32_t, (size_t)to->count + 1);
    for (uint32_t i = 0; i < to->count; i++)
        to->first[to->items[i].from + 1]++;
    for (uint32_t i = 0; i < islands; i++) {
        to->first[i + 1] += to->first[i];
        fill[i] = to->first[i];
    }
    for (uint32_t i = 0; i < to->count; i++)
        to->order[fill[to->items[i].from]++] = i;
}

static struct scale *island_scales(struct arena *arena, const struct graph *graph)
{
    struct crossings crossings = {0};
    uint32_t islands = graph->component_count;
    struct scale *scales = ARENA_ARRAY(arena, struct scale, (size_t)islands + 1);
    uint32_t *queue = ARENA_ARRAY(arena, uint32_t, (size_t)islands + 1);
    collect_crossings(arena, graph, &crossings);
    index_crossings(arena, graph, &crossings);
    for (uint32_t root = 0; root < islands; root++) {
        uint32_t count = 0;
        if (scales[root].num) continue;
        scales[root] = (struct scale){1, 1};
        queue[count++] = root;
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t e = crossings.first[queue[k]]; e < crossings.first[queue[k] + 1]; e++) {
                const struct crossing *at = &crossings.items[crossings.order[e]];
                struct scale from = scales[at->from];
                if (scales[at->to].num) continue;
                scales[at->to] = scale_make((uint128)from.num * at->ratio.num,
                                            (uint128)from.den * at->ratio.den);
                queue[count++] = at->to;
            }
    }
    return scales;
}

/* Divides all loads by the smallest power of two with which they have at most `limit_bits` bits. */
static void shift_down(uint128 *loads, size_t count, uint32_t limit_bits)
{
    uint128 most = 0;
    uint32_t shift = 0;
    for (size_t i = 0; i < count; i++)
        if (loads[i] > most) most = loads[i];
    while (most >> shift >> limit_bits)
        shift++;
    for (size_t i = 0; i < count; i++)
        loads[i] >>= shift;
}

/* The cycles of a firing, and of all launches that it may make if each costs as much as the most expensive child. */
static uint128 firing_cycles(const struct graph *graph, const struct graph_node *node)
{
    uint64_t dearest = 0;
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++)
        dearest = max64(dearest, graph->kernels.items[i]->cost_cycles);
    return max64(node->cost_cycles, 1) + (uint128)node->kernel->launches.tree * dearest;
}

void plan_loads(struct arena *arena, const struct graph *graph, struct plan *plan)
{
    struct scale *scales = island_scales(arena, graph);
    size_t count = graph->nodes.count;
    uint128 *loads = arena_array(arena, count + 1, sizeof *loads);
    bool scaled = false;
    for (size_t i = 0; i < count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        loads[i] = node->repetitions * firing_cycles(graph, node);
        scaled |= scales[node->component].num != 1 || scales[node->component].den != 1;
    }
    shift_down(loads, count, 63);
    for (size_t i = 0; scaled && i < count; i++) {
        struct scale scale = scales[graph->nodes.items[i].component];
        /* 63 + 31 + 31 bits: 31 bits after the point of the quotient are kept. */
        loads[i] = (loads[i] * scale.num << 31) / scale.den;
    }
    shift_down(loads, count, 63);
    for (size_t i = 0; i < count; i++) {
        plan->stages[i].load = max64((uint64_t)loads[i], 1);
        /* Firings for one iteration of the first island, in PLAN_PACE_ONE-ths. */
        struct scale scale = scales[graph->nodes.items[i].component];
        uint128 pace = (uint128)max64(graph->nodes.items[i].repetitions, 1) * scale.num *
                       PLAN_PACE_ONE / scale.den;
        plan->stages[i].pace = pace >> 63 ? INT64_MAX : max64((uint64_t)pace, 1);
    }
}
