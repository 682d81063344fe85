/*
 * The unit is one operation of one lane: an addition, a comparison, an access costs 1; a division,
 * remainder or square root 8; a round of a loop and a branch 1 more.  Constant loops are counted
 * exactly, others by the bound of their variable, or as WALK_ASSUMED_ROUNDS rounds.
 */
#include "compiler/analysis/analysis.h"
#include "compiler/analysis/group.h"
#include "compiler/analysis/walk.h"
#include "lang/devdesc.h"

enum { COST_LANES = 8 }; /* where no device is given */

static uint64_t body_cost(struct compile *cx, struct kernel *kernel, struct ks *body,
                          uint32_t local_count, const uint64_t *function_costs)
{
    struct arena *scratch = arena_create();
    struct walk_request request = {.cx = cx,
                                   .kernel = kernel,
                                   .body = body,
                                   .local_count = local_count,
                                   .section = kernel != NULL ? WALK_FIRING : WALK_FUNCTION,
                                   .function_costs = function_costs};
    uint64_t cost = walk_body(&request, scratch).cost_cycles;
    arena_destroy(scratch);
    if (cost > GRAPH_COST_MAX) cost = GRAPH_COST_MAX;
    return cost > 0 ? cost : 1;
}

/* How the node's firings, or their work-items, fill warps of so many lanes. */
static struct graph_warp shape_of_warps(const struct graph_node *node, uint32_t lanes)
{
    uint32_t items = node->kernel->grouped ? group_items(node->kernel) : 1;
    struct graph_warp warp = {.firings = 1, .pieces = 1};
    if (items > lanes)
        warp.pieces = (items + lanes - 1) / lanes;
    else if (!node->stateful)
        warp.firings = lanes / items;
    warp.cycles = (node->cost_cycles + items - 1) / items;
    return warp;
}

void cost_estimate(struct compile *cx, struct graph *graph)
{
    uint32_t ids = 0, lanes = cx->device != NULL ? cx->device->lanes : COST_LANES;
    for (size_t i = 0; i < graph->functions.count; i++)
        if (graph->functions.items[i]->id >= ids) ids = graph->functions.items[i]->id + 1;
    uint64_t *costs = ARENA_ARRAY(cx->arena, uint64_t, ids + 1);
    /* A function's callees are finished before it is: ids are given in order of completion. */
    for (size_t i = 0; i < graph->functions.count; i++) {
        struct function *f = graph->functions.items[i];
        costs[f->id] = body_cost(cx, NULL, f->body, f->local_count, costs);
    }
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct kernel *k = graph->kernels.items[i];
        k->cost_cycles = body_cost(cx, k, k->body, k->local_count, costs);
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct graph_node *node = &graph->nodes.items[i];
        if (!node->cost_declared) node->cost_cycles = node->kernel->cost_cycles;
        node->warp = shape_of_warps(node, lanes);
    }
}
