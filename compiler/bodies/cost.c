/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/cost.h"

#include "compiler/bodies/coalesce.h"
#include "compiler/bodies/cost_regions.h"
#include "compiler/bodies/group.h"
#include "compiler/bodies/ranges.h"
#include "compiler/bodies/registers.h"
#include "compiler/target/target.h"

#include <assert.h>

struct body { /* of a kernel (firing or finish), or of a function */
    struct kernel *kernel;
    struct ks *code;
    uint32_t local_count;
    enum walk_section section;
};

struct estimate {
    uint64_t cycles; /* of all work-items */
    bool exact;
};

static struct estimate walk_cost(struct compile *cx, const struct body *body,
                                 const uint64_t *function_costs)
{
    struct arena *scratch = arena_create();
    struct walk_request request = {.cx = cx,
                                   .kernel = body->kernel,
                                   .body = body->code,
                                   .local_count = body->local_count,
                                   .section = body->section,
                                   .function_costs = function_costs};
    struct walk_result result = walk_body(&request, scratch);
    struct estimate estimate = {result.cost_cycles, result.cost_exact};
    arena_destroy(scratch);
    if (estimate.cycles > GRAPH_COST_MAX) estimate = (struct estimate){GRAPH_COST_MAX, false};
    return estimate;
}

static uint64_t body_item_count(const struct body *body)
{
    bool items = body->kernel != NULL && body->section == WALK_FIRING && body->kernel->grouped;
    return items ? group_items(body->kernel) : 1;
}

static uint64_t limit_cost(uint64_t cycles)
{
    return cycles < GRAPH_COST_MAX ? cycles : GRAPH_COST_MAX;
}

/* Cycles that each work-item takes to find its x, y, z: a shift and a mask for each further dimension where the
 * device generates indices, else a division and a remainder (lang/index_generator.md, "Time"). */
static uint64_t index_cycles(struct compile *cx, const struct body *body)
{
    uint64_t dimensions = 0;
    if (body->kernel == NULL || body->section != WALK_FIRING || !body->kernel->grouped) return 0;
    const struct devdesc_costs *costs = cost_table(cx);
    if (!target_of(cx->device)->counts_cycles) return 0;
    for (int d = 0; d < 3; d++)
        dimensions += body->kernel->group[d] > 1;
    uint64_t each = cx->device->index_memory_bytes > 0 ? costs->integer : costs->divide;
    return dimensions > 1 ? 2 * (dimensions - 1) * each : 0;
}

/* The plan of a body; *cycles: what an execution costs, of all work-items, exact where nothing is
 * counted.  A body that the walk has followed to the end needs no counters, unless it launches: it
 * has to tell where its launches stand. */
static const struct cost_plan *plan_body(struct compile *cx, const struct body *body,
                                         const uint64_t *function_costs, uint64_t *cycles)
{
    uint64_t items = body_item_count(body), indices = index_cycles(cx, body);
    bool launches = body->kernel != NULL && kernel_launches_any(&body->kernel->launches);
    struct cost_plan *plan =
        cost_find_regions(cx, cost_table(cx), body->kernel, body->code, items > 1);
    if (plan->counter_count > 0) {
        struct estimate walked = walk_cost(cx, body, function_costs);
        if (!walked.exact || launches) {
            plan->constant = cost_add(plan->constant, indices);
            *cycles = limit_cost(cost_add(walked.cycles, cost_multiply(indices, items)));
            return plan;
        }
        plan->counter_count = 0;
        plan->constant = walked.cycles / items;
    }
    plan->constant = cost_add(plan->constant, indices);
    *cycles = limit_cost(cost_multiply(plan->constant, items));
    return plan;
}

/* ---- functions: those that one calls before it ---- */

static void plan_function(struct compile *cx, struct function *f, uint64_t *function_costs);

struct callees {
    struct compile *cx;
    uint64_t *function_costs;
};

static bool plan_callee(const struct kx *x, void *data)
{
    const struct callees *callees = data;
    if (x->kind == KX_CALL)
        plan_function(callees->cx, (struct function *)x->function, callees->function_costs);
    return false;
}

/* Calls are at most SEMA_MAX_CALL_DEPTH deep, and never go round. */
static void plan_function(struct compile *cx, struct function *f, uint64_t *function_costs)
{
    if (f->costs == NULL) {
        struct callees callees = {cx, function_costs};
        ks_any(f->body, NULL, plan_callee, &callees);
        const struct body body = {NULL, f->body, f->local_count, WALK_FUNCTION};
        f->costs = plan_body(cx, &body, function_costs, &f->cost_cycles);
        f->registers = registers_of_function(cost_table(cx), f);
    }
    function_costs[f->id] = f->cost_cycles;
}

/* ---- kernels ---- */

static void plan_kernel(struct compile *cx, struct kernel *k, const uint64_t *function_costs)
{
    if (k->costs != NULL) return; /* of a graph that has been fused since */
    coalesce_accesses(k, cx->device);
    if (k->foreign != NULL || k->unit != NULL) {
        struct cost_plan *plan = ARENA_NEW(cx->arena, struct cost_plan);
        plan->constant = k->cost_cycles =
            k->unit != NULL ? k->unit->cycles : k->foreign->cost_cycles;
        k->costs = plan;
        if (k->finish != NULL) k->finish_cycles = k->cost_cycles;
        return;
    }
    k->registers = registers_of_kernel(cost_table(cx), k);
    if (k->composed) {
        /* Its members' costs, added up, are in cost_cycles: they hold where counting is needed. */
        const struct cost_plan *plan = cost_find_regions(cx, cost_table(cx), k, k->body, false);
        k->costs = plan;
        if (plan->counter_count == 0) k->cost_cycles = limit_cost(plan->constant);
        if (k->cost_cycles == 0) k->cost_cycles = 1;
        return;
    }
    const struct body firing = {k, k->body, k->local_count, WALK_FIRING};
    k->costs = plan_body(cx, &firing, function_costs, &k->cost_cycles);
    if (k->cost_cycles == 0) k->cost_cycles = 1;
    if (k->finish == NULL) return;
    const struct body finish = {k, k->finish, k->local_count, WALK_FINISH};
    k->finish_costs = plan_body(cx, &finish, function_costs, &k->finish_cycles);
}

static bool plan_counts(const struct cost_plan *plan)
{
    return plan != NULL && plan->counter_count > 0;
}

struct graph_warp cost_warp_of(const struct kernel *kernel, bool stateful,
                               const struct devdesc *device)
{
    uint32_t lanes = device != NULL ? device->lanes : 1;
    bool counted = plan_counts(kernel->costs) || plan_counts(kernel->finish_costs);
    uint32_t items = kernel->grouped ? group_items(kernel) : 1;
    assert(items > 0 && lanes > 0);
    struct graph_warp warp = {.firings = 1,
                              .pieces = 1,
                              .counted = counted && target_of(device)->counts_cycles,
                              .cycles = (kernel->cost_cycles + items - 1) / items,
                              .finish_cycles = kernel->finish_cycles};
    if (items > lanes)
        warp.pieces = (items + lanes - 1) / lanes;
    else if (!stateful && kernel->unit == NULL) /* a unit takes one firing at a time */
        warp.firings = lanes / items;
    return warp;
}

void cost_estimate(struct compile *cx, struct graph *graph)
{
    uint32_t ids = 0;
    cost_table(cx); /* has a device from here on */
    for (size_t i = 0; i < graph->functions.count; i++)
        if (graph->functions.items[i]->id >= ids) ids = graph->functions.items[i]->id + 1;
    uint64_t *costs = ARENA_ARRAY(cx->arena, uint64_t, ids + 1);
    for (size_t i = 0; i < graph->functions.count; i++)
        plan_function(cx, graph->functions.items[i], costs);
    for (size_t i = 0; i < graph->kernels.count; i++)
        plan_kernel(cx, graph->kernels.items[i], costs);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct graph_node *node = &graph->nodes.items[i];
        node->warp = cost_warp_of(node->kernel, node->stateful, cx->device);
        if (node->cost_declared) {
            /* The author's cost of a firing covers all its work-items together. */
            uint32_t items = node->kernel->grouped ? group_items(node->kernel) : 1;
            node->warp.counted = false;
            node->warp.cycles = (node->cost_cycles + items - 1) / items;
            if (node->kernel->finish != NULL) node->warp.finish_cycles = node->cost_cycles;
        } else
            node->cost_cycles = node->kernel->cost_cycles;
    }
}
