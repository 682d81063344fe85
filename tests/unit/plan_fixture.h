/* SPDX-License-Identifier: MIT */
/* plan_fixture: plans of graphs that are built without the language. */
#ifndef TESTS_PLAN_FIXTURE_H
#define TESTS_PLAN_FIXTURE_H

#include "tests/unit/graph_fixture.h"

#include "compiler/plan/plan.h"

/* Nodes get the warps that bodies/cost would give them, each of the cost of a firing. */
static inline struct plan *fixture_plan(struct fixture *f, const struct devdesc *device)
{
    for (size_t i = 0; i < f->graph.nodes.count; i++) {
        struct graph_node *node = &f->graph.nodes.items[i];
        const uint32_t *group = node->kernel->group;
        uint32_t items = group[0] * group[1] * group[2];
        uint32_t firings = items > 1 ? device->lanes / items : device->lanes;
        bool fills = !node->stateful && firings > 1;
        node->warp = (struct graph_warp){
            .cycles = node->cost_cycles, .firings = fills ? firings : 1, .pieces = 1};
    }
    return plan_place(&f->cx, &f->graph, device);
}

#endif
