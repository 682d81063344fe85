/*
 * place: stages, CUs, depths, thresholds and batches for one device.
 *
 * Side by side: each stage has a sub-device of its own.  The CUs are divided in proportion to the
 * load (repetitions x cost) by largest remainder, one at least for each stage; a stateful stage
 * gets one only, since its firings do not overlap.  With fewer CUs than stages, a device that does
 * not partition by counts into that many sub-devices, or stages that take turns (turns.h), the
 * stages run in sequence on the whole device.
 *
 * Depths that are not declared are raised, never lowered, from what bufsize has proven: a deeper
 * buffer is free of deadlock where a shallower one is.  A buffer is to hold two full dispatches
 * (lanes x CUs of the stage) of its larger end, one being written while one is read, and at least
 * BATCH_BYTES, so that a dispatch is worth its fixed cost on a host as well.  Within a cycle the
 * initial packets bound what can be ready at once, so only that much is asked for.
 *
 * With --buffers=min nothing is raised.  With --buffers=fast a buffer whose depth follows from the
 * maximum throughput is not; where that is unbounded a buffer is to hold one full dispatch of its
 * larger end, beside what a window keeps.
 */
#include "compiler/plan/plan_internal.h"
#include "compiler/plan/reference_entries.h"
#include "compiler/plan/turns.h"

#include "compiler/analysis/analysis.h"
#include "compiler/analysis/ratio.h"
#include "compiler/analysis/simulate.h"

#include <inttypes.h>
#include <stdlib.h>

/* Fixed cost of a dispatch on a host is about a microsecond, a cheap firing takes about a
 * nanosecond: thousands of packets hide it.  32 KiB were the best of 16, 32 and 64 in `make bench`:
 * less costs dispatches, more the first-level caches. */
#define BATCH_BYTES (UINT64_C(32) << 10)
#define BATCH_PACKETS_MAX UINT64_C(16384)
/* What all raises together may take; a quarter of the device's memory, if that is less. */
#define RAISE_BYTES_MAX (UINT64_C(64) << 20)
/* A batch is at most so many times lanes x CUs, and so many firings: the scheduler stays
 * responsive. */
#define DISPATCHES_PER_BATCH_MAX UINT64_C(1024)
#define BATCH_FIRINGS_MAX (UINT64_C(1) << 20)
enum { CYCLE_STEPS = 2 * 1000 * 1000 };

struct placement {
    struct compile *cx;
    struct graph *graph;
    const struct devdesc *device;
    struct plan *plan;
    struct arena *arena;
    /* By node: firings that a cycle lets be ready at once; UINT64_MAX where it is in none. */
    uint64_t *ready_max;
    uint32_t *component; /* strongly connected component of each node */
};

/* ---- sub-devices ---- */

static const char *mode_obstacle(const struct placement *at)
{
    const struct devdesc *device = at->device;
    uint32_t stages = at->plan->stage_count;
    if (stages == 1) return "one stage";
    if (at->plan->debug_mode) return "debug mode runs one kernel at a time";
    if (plan_takes_turns(at->arena, at->graph))
        return "its stages take turns, never two of them are ready at once";
    if (stages > device->cu_count)
        return arena_printf(at->cx->arena, "%" PRIu32 " stages share %" PRIu32 " CUs", stages,
                            device->cu_count);
    if (!(device->schemes & DEVDESC_BY_COUNTS)) return "the device does not partition by counts";
    if (stages > device->max_sub_devices)
        return arena_printf(at->cx->arena,
                            "%" PRIu32 " stages are more than the device's %" PRIu32 " sub-devices",
                            stages, device->max_sub_devices);
    return NULL;
}

struct share { /* of a stage that may have several CUs */
    uint32_t stage;
    uint64_t load; /* scaled: at least 1 */
    uint128 rest;
};

static int compare_load(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->load != b->load) return a->load < b->load ? -1 : 1;
    return a->stage < b->stage ? -1 : 1;
}

static int compare_rest(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->rest != b->rest) return a->rest > b->rest ? -1 : 1;
    return a->stage < b->stage ? -1 : 1;
}

static uint32_t collect_shares(const struct placement *at, struct share *shares)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->graph->nodes.count; i++)
        if (!at->graph->nodes.items[i].stateful)
            shares[count++] = (struct share){.stage = i, .load = at->plan->stages[i].load};
    return count;
}

/* Largest remainder over those whose exact share is one CU or more; the others get one. */
static void divide_cus(struct placement *at, struct share *shares, uint32_t count, uint32_t cus)
{
    struct plan_stage *stages = at->plan->stages;
    uint128 sum = 0;
    uint32_t first = 0, given = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += shares[i].load;
    qsort(shares, count, sizeof *shares, compare_load);
    for (; first < count && (uint128)shares[first].load * cus <= sum; first++) {
        stages[shares[first].stage].cu_count = 1;
        sum -= shares[first].load;
        cus--;
    }
    for (uint32_t i = first; i < count; i++) {
        uint128 exact = (uint128)shares[i].load * cus;
        stages[shares[i].stage].cu_count = (uint32_t)(exact / sum);
        shares[i].rest = exact % sum;
        given += (uint32_t)(exact / sum);
    }
    qsort(shares + first, count - first, sizeof *shares, compare_rest);
    for (uint32_t i = first; i < count && given < cus; i++, given++)
        stages[shares[i].stage].cu_count++;
}

static void place_side_by_side(struct placement *at)
{
    struct plan *plan = at->plan;
    struct share *shares = ARENA_ARRAY(at->arena, struct share, plan->stage_count);
    uint32_t count = collect_shares(at, shares);
    uint32_t sequential = plan->stage_count - count;
    for (uint32_t i = 0; i < plan->stage_count; i++)
        plan->stages[i].cu_count = 1;
    if (count) divide_cus(at, shares, count, at->device->cu_count - sequential);
    plan->mode = PLAN_SIDE_BY_SIDE;
    plan->sub_device_count = plan->stage_count;
    plan->sub_devices = ARENA_ARRAY(at->cx->arena, uint32_t, plan->stage_count);
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        plan->stages[i].sub_device = i;
        plan->sub_devices[i] = plan->stages[i].cu_count;
    }
    plan_choose_partition(plan);
    const char *shared = plan_shared_by(plan);
    plan->mode_reason =
        arena_printf(at->cx->arena,
                     "%" PRIu32 " CUs for %" PRIu32 " stages: each has a sub-device of its own%s%s",
                     at->device->cu_count, plan->stage_count,
                     shared != NULL ? ", and with it an " : "", shared != NULL ? shared : "");
}

static void place_stages(struct placement *at)
{
    struct plan *plan = at->plan;
    plan->stage_count = (uint32_t)at->graph->nodes.count;
    plan->stages = ARENA_ARRAY(at->cx->arena, struct plan_stage, plan->stage_count);
    const char *obstacle = mode_obstacle(at);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        plan->stages[i] = (struct plan_stage){
            .node = i, .sub_device = GRAPH_NONE, .cu_count = at->device->cu_count};
    plan_loads(at->arena, at->graph, plan);
    if (!obstacle) {
        place_side_by_side(at);
        return;
    }
    plan->mode = PLAN_IN_SEQUENCE;
    plan->mode_reason =
        arena_printf(at->cx->arena, "%s: each stage in turn has the whole device", obstacle);
}

/* ---- cycles ---- */

/* Firings of each node of one component that are ready when everybody else has gone on as far as
 * possible without it, from the initial packets; beyond the budget those that are ready at the
 * beginning, which are no more. */
static void limit_component(struct placement *at, const struct channels *channels,
                            const struct channel_block *inside, uint64_t *budget)
{
    struct net *net = net_create(at->arena, channels, inside, NULL);
    for (uint32_t i = 0; i < net->node_count; i++) {
        if (*budget) {
            net_reset(net);
            net_run_without(net, i, budget);
            if (*budget == 0) net_reset(net);
        }
        at->ready_max[net->nodes[i].node] = max64(net_enabled(net, i), 1);
    }
}

static void limit_cycles(struct placement *at)
{
    struct channels channels = channels_collect(at->arena, at->graph, CHANNELS_INNER);
    uint32_t *component = ARENA_ARRAY(at->arena, uint32_t, channels.node_count);
    uint32_t count = channels_strong(at->arena, &channels, component);
    struct channel_block *inside = channels_inside(at->arena, &channels, component, count);
    uint64_t budget = CYCLE_STEPS;
    at->component = component;
    at->ready_max = ARENA_ARRAY(at->arena, uint64_t, channels.node_count);
    for (uint32_t i = 0; i < channels.node_count; i++)
        at->ready_max[i] = UINT64_MAX;
    for (uint32_t c = 0; c < count; c++)
        if (inside[c].count) limit_component(at, &channels, &inside[c], &budget);
}

/* ---- depths ---- */

static uint64_t stage_cus(const struct placement *at, uint32_t node)
{
    return at->graph->nodes.items[node].stateful ? 1 : at->plan->stages[node].cu_count;
}

/* Firings that fill the lanes of one CU: of a kernel with work-items, its groups. */
static uint64_t firings_of_lanes(const struct placement *at, uint32_t node)
{
    const uint32_t *group = at->graph->nodes.items[node].kernel->group;
    uint64_t items = max64((uint64_t)group[0] * group[1] * group[2], 1);
    return (at->device->lanes + items - 1) / items;
}

/* Firings of a dispatch that fills every lane of the stage's CUs, or as many as a cycle lets be
 * ready. */
static uint64_t full_dispatch(const struct placement *at, uint32_t node)
{
    return min64(firings_of_lanes(at, node) * stage_cus(at, node), at->ready_max[node]);
}

struct wish {          /* for one buffer */
    uint64_t packets;  /* more than it has */
    uint64_t dispatch; /* packets of the larger full dispatch */
    uint32_t node;     /* whose dispatch that is */
    bool in_cycle;
    bool batch; /* BATCH_BYTES decided */
};

/* `rate`: packets of a cycle of phases. */
static void wish_dispatch(const struct placement *at, struct wish *wish, uint32_t node,
                          uint64_t rate)
{
    uint32_t phases = graph_phases(&at->graph->nodes.items[node]);
    uint64_t packets = mul_clamped(full_dispatch(at, node), rate);
    if (phases > 1) packets = packets / phases + (packets % phases > 0);
    if (packets <= wish->dispatch) return;
    wish->dispatch = packets;
    wish->node = node;
}

/* Packets that a reader's window keeps beside those that its firing consumes. */
static uint64_t window_rest(const struct graph *graph, const struct graph_buffer *buffer)
{
    uint64_t most = 0;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_input *in = graph_reader_input(graph, buffer, r);
        uint64_t window = graph_window_packets(graph, buffer, r);
        most = max64(most, window - min64(window, in->pop));
    }
    return most;
}

/* What is not proven to be free of deadlock gets no less than by default. */
static enum buffers_mode raising_mode(const struct placement *at)
{
    return at->graph->unproven ? BUFFERS_DEFAULT : at->cx->options.buffers;
}

static struct wish wish_for(const struct placement *at, const struct graph_buffer *buffer)
{
    struct wish wish = {.node = GRAPH_NONE};
    enum buffers_mode mode = raising_mode(at);
    if (buffer->depth_declared || mode == BUFFERS_MIN) return wish;
    if (mode == BUFFERS_FAST && buffer->depth_paced) return wish;
    uint32_t writer = buffer->writer_node;
    if (writer != GRAPH_NONE)
        wish_dispatch(at, &wish, writer,
                      at->graph->nodes.items[writer].outputs.items[buffer->writer_output].push);
    for (size_t r = 0; r < buffer->readers.count; r++) {
        struct graph_reader reader = buffer->readers.items[r];
        wish_dispatch(at, &wish, reader.node,
                      at->graph->nodes.items[reader.node].inputs.items[reader.input].pop);
        if (writer != GRAPH_NONE && at->component[reader.node] == at->component[writer])
            wish.in_cycle = true;
    }
    if (mode == BUFFERS_FAST) {
        uint64_t room = add_clamped(wish.dispatch, window_rest(at->graph, buffer));
        wish.packets = room > buffer->depth_packets ? room - buffer->depth_packets : 0;
        return wish;
    }
    uint64_t depth = add_clamped(buffer->depth_packets, mul_clamped(wish.dispatch, 2));
    uint64_t batch = min64(BATCH_BYTES / max64(buffer->width_bytes, 1), BATCH_PACKETS_MAX);
    wish.batch = !wish.in_cycle && batch > depth;
    if (wish.batch) depth = batch;
    wish.packets = depth > buffer->depth_packets ? depth - buffer->depth_packets : 0;
    return wish;
}

static const char *raise_reason(const struct placement *at, const struct wish *wish, bool scaled)
{
    if (scaled) return "as many packets as the memory for dispatches allows";
    if (raising_mode(at) == BUFFERS_FAST)
        return arena_printf(at->cx->arena, "a full dispatch of '%s' (%" PRIu64 " packets)",
                            at->graph->nodes.items[wish->node].name, wish->dispatch);
    if (wish->batch) return "enough packets that a dispatch is worth its fixed cost";
    return arena_printf(
        at->cx->arena,
        "two full dispatches of '%s' (%" PRIu64 " packet%s each), one written while one is read",
        at->graph->nodes.items[wish->node].name, wish->dispatch, wish->dispatch == 1 ? "" : "s");
}

static void raise_depth(const struct placement *at, struct graph_buffer *buffer,
                        const struct wish *wish, uint64_t packets)
{
    if (packets == 0) return;
    uint64_t depth = add_clamped(buffer->depth_packets, packets);
    const char *reason = raise_reason(at, wish, packets < wish->packets);
    const char *before = buffer->depth_reason;
    buffer->depth_packets = depth;
    buffer->depth_reason =
        before ? arena_printf(at->cx->arena, "%" PRIu64 ": %s; at least %s", depth, reason, before)
               : arena_printf(at->cx->arena, "%" PRIu64 ": %s", depth, reason);
}

/* Bytes that all raises together may take; reports where even the proven depths are too much. */
static uint64_t raise_allowance(const struct placement *at)
{
    uint64_t limit = at->device->memory_bytes, bytes;
    uint64_t allowed = at->cx->options.max_memory_bytes;
    if (allowed) limit = min64(limit, allowed);
    if (!graph_memory(at->graph, &bytes) || bytes > limit) {
        diag_report(at->cx->diags, RULE_MEMORY_LIMIT, at->graph->span,
                    "the buffers need more than the %" PRIu64 " bytes of device '%s'", limit,
                    at->device->name);
        return 0;
    }
    return min64(limit - bytes, min64(RAISE_BYTES_MAX, at->device->memory_bytes / 4));
}

static void raise_depths(const struct placement *at)
{
    struct graph *graph = at->graph;
    struct wish *wishes = ARENA_ARRAY(at->arena, struct wish, graph->buffers.count);
    uint64_t allowance = raise_allowance(at);
    uint128 sum = 0;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        wishes[i] = wish_for(at, buffer);
        wishes[i].packets =
            min64(wishes[i].packets, RAISE_BYTES_MAX / max64(buffer->width_bytes, 1));
        sum += (uint128)wishes[i].packets * buffer->width_bytes;
    }
    for (size_t i = 0; i < graph->buffers.count; i++) {
        uint64_t packets = wishes[i].packets;
        if (sum > allowance) packets = (uint64_t)((uint128)packets * allowance / sum);
        raise_depth(at, &graph->buffers.items[i], &wishes[i], packets);
    }
    if (!graph_memory(graph, &graph->memory_bytes))
        diag_report(at->cx->diags, RULE_MEMORY_LIMIT, graph->span,
                    "the buffers need more bytes than 63 bits count");
}

/* ---- thresholds and batches ---- */

struct admission { /* firings that fit, and what bounds them */
    uint64_t firings;
    const char *buffer; /* NULL: the cycle */
};

static void admit(struct admission *admission, uint64_t firings, const char *buffer)
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

/* Firings that fit `packets` in whatever phase they begin; at least 1.  `cycle` is what a cycle of
 * phases takes, `most` what a firing needs at most. */
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

/* Firings at once that depths (divided by `parts`) and cycles admit; at least 1. */
static struct admission admitted(const struct placement *at, uint32_t index, uint64_t parts)
{
    const struct graph_node *node = &at->graph->nodes.items[index];
    struct admission admission = {at->ready_max[index], NULL};
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        const struct graph_buffer *buffer = &at->graph->buffers.items[in->buffer];
        uint64_t depth = buffer->depth_packets / parts;
        uint64_t kept = graph_window_packets(at->graph, buffer, in->reader) - in->peek;
        if (in->pop)
            admit(&admission,
                  firings_that_fit(depth > kept ? depth - kept : 0, graph_phases(node), in->pops,
                                   in->peeks, in->pop, in->peek),
                  buffer->name);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        const struct graph_buffer *buffer = &at->graph->buffers.items[out->buffer];
        if (out->push)
            admit(&admission,
                  firings_that_fit(buffer->depth_packets / parts, graph_phases(node), out->pushes,
                                   out->pushes, out->push, graph_push_most(node, out)),
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
    struct admission admission = admitted(at, stage->node, 1);
    struct arena *arena = at->cx->arena;
    uint64_t lanes = firings_of_lanes(at, stage->node);
    stage->threshold = (uint32_t)min64(admission.firings, lanes);
    if (at->graph->nodes.items[stage->node].stateful) {
        stage->threshold = 1;
        stage->threshold_reason = "it has state: its firings do not overlap";
    } else if (admission.firings >= lanes) {
        stage->threshold_reason = lanes < at->device->lanes ? "as many groups as fill the lanes"
                                                            : "one firing for each lane";
    } else if (admission.buffer) {
        stage->threshold_reason =
            arena_printf(arena, "the depth of '%s' admits no more", admission.buffer);
    } else {
        stage->threshold_reason = "no more are ready at once in its cycle";
    }
}

/* Side by side half of each buffer is for the other end; whole groups of lanes where there is one
 * at least. */
static void set_batch(const struct placement *at, struct plan_stage *stage)
{
    uint64_t group = max64(firings_of_lanes(at, stage->node) * stage_cus(at, stage->node), 1);
    uint64_t parts = at->plan->mode == PLAN_IN_SEQUENCE ? 1 : 2;
    uint64_t most = min64(group * DISPATCHES_PER_BATCH_MAX, BATCH_FIRINGS_MAX);
    uint64_t batch = min64(admitted(at, stage->node, parts).firings, most);
    if (batch >= group) batch -= batch % group;
    stage->batch_max = at->plan->debug_mode ? 1 : max64(batch, stage->threshold);
}

static const char *policy_reason(enum graph_policy policy)
{
    switch (policy) {
    case POLICY_ROUND_ROBIN: return "declared: every stage that is ready in turn";
    case POLICY_PRIORITY: return "declared: of the stages that are ready, the most important";
    case POLICY_FULLEST:
        return "declared: of the stages that are ready, the one whose input is fullest";
    case POLICY_AUTO: break;
    }
    return "the most important stages first, those of one importance in turn";
}

static void check_child_groups(const struct placement *at)
{
    const struct graph *graph = at->graph;
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        uint64_t items = (uint64_t)k->group[0] * k->group[1] * k->group[2];
        if (items > at->device->max_group_items)
            diag_report(at->cx->diags, RULE_TOO_LARGE, k->span,
                        "a firing of '%s' has %" PRIu64 " work-items, device '%s' takes %" PRIu32,
                        k->title, items, at->device->name, at->device->max_group_items);
    }
}

static void check_groups(const struct placement *at)
{
    for (size_t i = 0; i < at->graph->nodes.count; i++) {
        const struct graph_node *node = &at->graph->nodes.items[i];
        const uint32_t *group = node->kernel->group;
        uint64_t items = (uint64_t)group[0] * group[1] * group[2];
        if (items <= at->device->max_group_items) continue;
        struct diag *d =
            diag_report(at->cx->diags, RULE_TOO_LARGE, node->span,
                        "a firing of '%s' has %" PRIu64 " work-items, device '%s' takes %" PRIu32,
                        node->name, items, at->device->name, at->device->max_group_items);
        diag_label(d, node->kernel->span, "its kernel");
    }
}

struct plan *plan_place(struct compile *cx, struct graph *graph, const struct devdesc *device)
{
    struct plan *plan = ARENA_NEW(cx->arena, struct plan);
    struct placement at = {
        .cx = cx, .graph = graph, .device = device, .plan = plan, .arena = arena_create()};
    plan->device = device;
    plan->debug_mode = cx->options.debug_mode;
    plan->selection = graph->policy == POLICY_AUTO ? POLICY_ROUND_ROBIN : graph->policy;
    plan->policy = graph_policy_name(graph->policy);
    plan->policy_reason = policy_reason(graph->policy);
    check_groups(&at);
    check_child_groups(&at);
    plan_check_queue(cx, graph, device);
    place_stages(&at);
    limit_cycles(&at);
    raise_depths(&at);
    if (!diag_failed(cx->diags) && !graph->is_counterexample) certify_graph(cx, graph);
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        set_threshold(&at, &plan->stages[i]);
        set_batch(&at, &plan->stages[i]);
    }
    plan_indices(cx, at.arena, graph, plan);
    plan_reference_entries(at.arena, graph, plan);
    arena_destroy(at.arena);
    return plan;
}
