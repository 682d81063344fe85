/* SPDX-License-Identifier: MIT */
/*
 * thresholds: for how many firings a stage waits, and how many a dispatch has at most.
 *
 * The threshold is the number of firings that fills the lanes of a core, or the largest smaller one that depths and cycles
 * admit.  Of a kernel with work-items it counts groups.  With state it is 1.
 */
#include "compiler/plan/plan_internal.h"

#include "compiler/ir/ratio.h"
#include "compiler/target/target.h"
#include "lang/window.h"

/* A batch is at most so many times lanes x CUs, and so many firings, so that the scheduler stays responsive; more where a
 * launch costs much (choose_batch.h).  On the host's processor a light firing takes a tenth of a nanosecond, and a
 * dispatch costs a hand-over between threads: there depths and the number of firings are the only bounds. */
#define DISPATCHES_PER_BATCH_MAX UINT64_C(1024)
#define BATCH_FIRINGS_MAX (UINT64_C(1) << 20)

uint64_t plan_stage_cus(const struct placement *at, uint32_t node)
{
    return at->graph->nodes.items[node].stateful ? 1 : at->plan->stages[node].cu_count;
}

uint64_t plan_firings_of_lanes(const struct placement *at, uint32_t node)
{
    const struct kernel *kernel = at->graph->nodes.items[node].kernel;
    const uint32_t *group = kernel->group;
    if (target_of(at->device)->loops_fill_lanes && kernel->regular)
        return 1; /* its loops fill them */
    if (kernel->unit != NULL) return 1;
    uint64_t items = max64((uint64_t)group[0] * group[1] * group[2], 1);
    return (at->device->lanes + items - 1) / items;
}

struct admission { /* firings that fit, and what bounds them */
    uint64_t firings;
    const char *buffer; /* NULL: the cycle */
};

static void limit_admission(struct admission *admission, uint64_t firings, const char *buffer)
{
    if (firings >= admission->firings) return;
    admission->firings = firings;
    admission->buffer = buffer;
}

/* Do `count` firings fit that many packets, in whatever phase they begin?  A firing needs `needs`
 * and takes `takes`. */
static bool fits_anywhere(uint64_t packets, uint32_t phases, const uint64_t *takes,
                          const uint64_t *needs, uint32_t count)
{
    for (uint32_t start = 0; start < phases; start++) {
        uint64_t taken = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t phase = (start + i) % phases;
            if (taken > packets || needs[phase] > packets - taken) return false;
            taken += takes[phase];
        }
    }
    return true;
}

/* Firings that fit `packets` in every phase in which they may begin; at least 1.  `cycle`: the packets that a cycle of
 * phases takes; `most`: the maximum that a firing needs. */
static uint64_t firings_that_fit(uint64_t packets, uint32_t phases, const uint64_t *takes,
                                 const uint64_t *needs, uint64_t cycle, uint64_t most)
{
    if (packets < most) return 1;
    if (phases == 1 || !takes || !needs) return (packets - most) / cycle * phases + 1;
    uint64_t cycles = (packets - most) / cycle;
    if (cycles) return mul_clamped(cycles, phases);
    uint32_t count = 1;
    while (count < phases && fits_anywhere(packets, phases, takes, needs, count + 1))
        count++;
    return count;
}

/* Do several queues work on the buffer at a time?  Then half of it is for the other end.  A port of
 * the pipeline has one end: the host gives and takes between dispatches. */
static bool is_shared_by_queues(const struct placement *at, const struct graph_buffer *buffer)
{
    const struct plan_stage *stages = at->plan->stages;
    uint32_t writer = buffer->writer_node, first = GRAPH_NONE;
    if (writer != GRAPH_NONE)
        first = stages[writer].sub_device;
    else if (buffer->readers.count > 0)
        first = stages[buffer->readers.items[0].node].sub_device;
    for (size_t r = 0; r < buffer->readers.count; r++)
        if (stages[buffer->readers.items[r].node].sub_device != first) return true;
    return false;
}

/* Packets that one dispatch may take or leave there, `whole` or so that others can go on. */
static uint64_t depth_for_one(const struct placement *at, uint32_t buffer, bool whole)
{
    uint64_t depth = at->graph->buffers.items[buffer].depth_packets;
    return !whole && at->shared[buffer] ? depth / 2 : depth;
}

/* Firings of a dispatch that `depth` packets admit, wherever in its frame it begins; at least 1.  A
 * dispatch lies within one frame, and one that the end of the frame cuts short reaches its
 * threshold. */
static uint64_t window_firings_that_fit(struct window window, struct window_shape shape,
                                        uint64_t depth)
{
    uint64_t frame = window_frame(shape), reach = window_reach(window, shape);
    if (depth >= frame) return depth; /* every packet of the frame, and with it every firing */
    if (window.border == CONTAINER_BORDER_WRAP) {
        uint64_t round = window_round(window, shape);
        /* It begins at worst with the last packet of a round, all of which is still held. */
        return depth / round > 0 ? (depth / round - 1) * round + 1 : 1;
    }
    return depth / 2 > reach ? depth - 2 * reach : 1;
}

static uint64_t input_firings_that_fit(const struct placement *at, const struct graph_node *node,
                                       const struct graph_input *in, uint64_t depth)
{
    const struct graph_buffer *buffer = &at->graph->buffers.items[in->buffer];
    struct window window;
    struct window_shape shape;
    if (graph_input_window(at->graph, node, in, &window, &shape))
        return window_firings_that_fit(window, shape, depth);
    uint64_t kept = graph_window_packets(at->graph, buffer, in->reader) - in->peek;
    return firings_that_fit(depth > kept ? depth - kept : 0, graph_phases(node), in->pops,
                            in->peeks, in->pop, in->peek);
}

/* Firings at once that depths and cycles admit; at least 1. */
static struct admission find_admission(const struct placement *at, uint32_t index, bool whole)
{
    const struct graph_node *node = &at->graph->nodes.items[index];
    struct admission admission = {at->ready_max[index], NULL};
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        const struct graph_buffer *buffer = &at->graph->buffers.items[in->buffer];
        uint64_t depth = depth_for_one(at, in->buffer, whole);
        if (in->pop)
            limit_admission(&admission, input_firings_that_fit(at, node, in, depth), buffer->name);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        const struct graph_buffer *buffer = &at->graph->buffers.items[out->buffer];
        if (out->push)
            limit_admission(&admission,
                            firings_that_fit(depth_for_one(at, out->buffer, whole),
                                             graph_phases(node), out->pushes, out->pushes,
                                             out->push, graph_push_most(node, out)),
                            buffer->name);
    }
    admission.firings = max64(admission.firings, 1);
    return admission;
}

static void set_threshold(const struct placement *at, struct plan_stage *stage)
{
    if (at->plan->debug_mode) {
        stage->threshold = 1;
        stage->threshold_reason = "debug mode: every firing is dispatched by itself";
        return;
    }
    struct admission admission = find_admission(at, stage->node, true);
    uint64_t lanes = plan_firings_of_lanes(at, stage->node);
    stage->threshold = (uint32_t)min64(admission.firings, lanes);
    if (at->graph->nodes.items[stage->node].stateful) {
        stage->threshold = 1;
        stage->threshold_reason = "it has state: its firings do not overlap";
    } else if (at->graph->nodes.items[stage->node].kernel->unit != NULL) {
        stage->threshold_reason = "a unit takes one firing at a time";
    } else if (admission.firings >= lanes) {
        stage->threshold_reason = lanes < at->device->lanes ? "as many groups as fill the lanes"
                                                            : "one firing for each lane";
    } else if (admission.buffer) {
        if (!at->is_final) return;
        stage->threshold_reason =
            arena_printf(at->cx->arena, "the depth of '%s' admits no more", admission.buffer);
    } else if (at->ready_is_bound[stage->node]) {
        stage->threshold_reason = "so many are known to be ready at once in its cycle";
    } else {
        stage->threshold_reason = "no more are ready at once in its cycle";
    }
}

/* Whole groups of lanes where there is one at least. */
static void set_batch(const struct placement *at, struct plan_stage *stage)
{
    uint64_t group =
        max64(plan_firings_of_lanes(at, stage->node) * plan_stage_cus(at, stage->node), 1);
    const struct target *target = target_of(at->device);
    uint64_t most = BATCH_FIRINGS_MAX;
    if (!target->cuts_batches) most = min64(group * DISPATCHES_PER_BATCH_MAX, most);
    most = min64(mul_clamped(most, UINT64_C(1) << at->doublings), target->batch.firings_max);
    uint64_t batch = min64(find_admission(at, stage->node, false).firings, most);
    if (batch >= group) batch -= batch % group;
    stage->batch_max = at->plan->debug_mode ? 1 : max64(batch, stage->threshold);
}

void plan_thresholds(struct placement *at)
{
    size_t buffers = at->graph->buffers.count;
    if (at->shared == NULL) at->shared = ARENA_ARRAY(at->arena, bool, buffers + 1);
    for (size_t i = 0; i < buffers; i++)
        at->shared[i] = is_shared_by_queues(at, &at->graph->buffers.items[i]);
    for (uint32_t i = 0; i < at->plan->stage_count; i++) {
        set_threshold(at, &at->plan->stages[i]);
        set_batch(at, &at->plan->stages[i]);
    }
}
