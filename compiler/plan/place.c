/* SPDX-License-Identifier: MIT */
/*
 * place: stages, CUs, depths, thresholds and batches for one device.
 *
 * Layouts (layouts.h) are tried (trial.h), and the best one is laid out for good (choose.h): depths
 * follow from the compute units of the stages (depths.c), thresholds and batches from the depths
 * (thresholds.c), packs from the batches (reference_entries.h).
 */
#include "compiler/plan/choose.h"
#include "compiler/plan/plan_internal.h"
#include "compiler/plan/reference_entries.h"

#include "compiler/bodies/group.h"
#include "compiler/liveness/certify.h"
#include "compiler/ir/ratio.h"
#include "compiler/liveness/token_game.h"

#include <inttypes.h>

enum { CYCLE_STEPS = 2 * 1000 * 1000 };

/* ---- cycles ---- */

/* Firings of each node of one component that are ready after all others have gone on as far as
 * possible without it, from the initial packets.  Tokens for a held node only grow, so where the
 * budget ends early the present marking still gives a lower bound. */
static void limit_component(struct placement *at, const struct channels *channels,
                            const struct channel_block *inside, uint64_t *budget)
{
    struct net *net = net_create(at->arena, channels, inside, NULL);
    net_use_places(net, channels);
    for (uint32_t i = 0; i < net->node_count; i++) {
        uint32_t node = net->nodes[i].node;
        net_reset(net);
        if (*budget) net_run_without(net, i, budget);
        at->ready_max[node] = max64(net_enabled(net, i), 1);
        at->ready_is_bound[node] = *budget == 0 || net->too_large;
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
    at->ready_is_bound = ARENA_ARRAY(at->arena, bool, channels.node_count);
    for (uint32_t i = 0; i < channels.node_count; i++)
        at->ready_max[i] = UINT64_MAX;
    for (uint32_t c = 0; c < count; c++)
        if (inside[c].count) limit_component(at, &channels, &inside[c], &budget);
}

/* ---- layouts ---- */

void plan_stages(struct placement *at)
{
    struct plan *plan = at->plan;
    plan->stage_count = (uint32_t)at->graph->nodes.count;
    plan->stages = ARENA_ARRAY(at->cx->arena, struct plan_stage, plan->stage_count);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        plan->stages[i] = (struct plan_stage){.node = i};
    plan_loads(at->arena, at->graph, plan);
}

static void share_cus(struct placement *at, const struct plan_layout *layout)
{
    struct plan *plan = at->plan;
    plan->mode = layout->mode;
    plan->sub_device_count = layout->count;
    plan->sub_devices = layout->count > 0 ? arena_copy(at->cx->arena, layout->cus,
                                                       layout->count * sizeof *layout->cus)
                                          : NULL;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        uint32_t sub_device = layout->sub_device[i];
        plan->stages[i].sub_device = sub_device;
        plan->stages[i].cu_count =
            sub_device == GRAPH_NONE ? at->device->cu_count : layout->cus[sub_device];
    }
    plan_choose_partition(plan);
}

void plan_lay_out(struct placement *at, const struct plan_layout *layout)
{
    share_cus(at, layout);
    for (size_t i = 0; i < at->graph->buffers.count; i++)
        at->graph->buffers.items[i].depth_packets = at->depths[i];
    plan_raise_depths(at);
    plan_thresholds(at);
    plan_reference_entries(at->arena, at->graph, at->plan, NULL, at->device->reference_entries);
}

static void keep_depths(struct placement *at)
{
    size_t count = at->graph->buffers.count;
    at->depths = ARENA_ARRAY(at->arena, uint64_t, count + 1);
    for (size_t i = 0; i < count; i++)
        at->depths[i] = at->graph->buffers.items[i].depth_packets;
}

/* ---- what the device cannot do ---- */

static void check_child_groups(const struct placement *at)
{
    const struct graph *graph = at->graph;
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        uint32_t items = group_items(k);
        if (items > at->device->max_group_items)
            diag_report(at->cx->diags, RULE_TOO_LARGE, k->span,
                        "a firing of '%s' has %" PRIu32 " work-items, device '%s' takes %" PRIu32,
                        k->title, items, at->device->name, at->device->max_group_items);
    }
}

static void check_groups(const struct placement *at)
{
    for (size_t i = 0; i < at->graph->nodes.count; i++) {
        const struct graph_node *node = &at->graph->nodes.items[i];
        uint32_t items = group_items(node->kernel);
        if (items <= at->device->max_group_items) continue;
        struct diag *d =
            diag_report(at->cx->diags, RULE_TOO_LARGE, node->span,
                        "a firing of '%s' has %" PRIu32 " work-items, device '%s' takes %" PRIu32,
                        node->name, items, at->device->name, at->device->max_group_items);
        diag_label(d, node->kernel->span, "its kernel");
    }
}

struct plan *plan_place(struct compile *cx, struct graph *graph, const struct devdesc *device)
{
    struct plan *plan = ARENA_NEW(cx->arena, struct plan);
    struct placement at = {
        .cx = cx, .graph = graph, .device = device, .plan = plan, .arena = arena_create()};
    for (size_t i = 0; i < graph->buffers.count; i++)
        at.inner_buffers += graph->buffers.items[i].outer == GRAPH_INNER;
    plan->device = device;
    plan->debug_mode = cx->options.debug_mode;
    if (cx->options.policy != NULL) (void)graph_policy_named(cx->options.policy, &graph->policy);
    plan->policy = graph_policy_name(graph->policy);
    check_groups(&at);
    check_child_groups(&at);
    plan_check_queue(cx, graph, device);
    plan_check_local_memory(cx, graph, device);
    plan_stages(&at);
    limit_cycles(&at);
    keep_depths(&at);
    plan_choose(&at);
    if (!diag_failed(cx->diags) && !graph->is_counterexample) certify_graph(cx, graph);
    plan_indices(cx, at.arena, graph, plan);
    plan_check_memory(cx, graph, plan);
    arena_destroy(at.arena);
    return plan;
}
