/* SPDX-License-Identifier: MIT */
/*
 * schedule_internal: one island as the files of the schedule see it.
 *
 * Everything is counted in *cycles* of a stage's phases: one firing, where there is one phase.
 * Rates are those of a cycle.  The packets that a cycle sees and does not consume are *kept* in the buffer.
 */
#ifndef PIPEC_SCHEDULE_INTERNAL_H
#define PIPEC_SCHEDULE_INTERNAL_H

#include "compiler/plan/schedule.h"
#include "base/vec.h"

struct island_node {
    uint32_t stage, phases;
    uint32_t place; /* in the order of packs */
    uint32_t level;
    uint64_t cycles; /* in a period: the minimum repetition counts */
    uint64_t chunk;  /* cycles of one launch at most, 1.. */
    uint64_t primed; /* cycles of the prologue */
};

struct island_edge {   /* one reader of a buffer inside */
    uint32_t from, to; /* nodes of the island */
    uint64_t push, pop, kept, depth, initial;
    uint64_t base;          /* packets in it before and after a round */
    uint32_t output, input; /* of `from` and of `to` */
};

struct island_port { /* an end at an outer port, or of a buffer that leads out of the island */
    uint32_t node, port;
    bool is_input;
    uint64_t packets, kept; /* of a cycle */
    uint64_t depth;
    uint64_t spare; /* packets of the depth that the other end may need */
    uint32_t buffer;
};

struct island {
    struct arena *arena;
    const struct plan *plan;
    struct island_node *nodes;
    uint32_t node_count;
    struct island_edge *edges; /* those of one buffer together */
    uint32_t edge_count;
    struct island_port *ports;
    uint32_t port_count;
    const char *obstacle; /* why it is not static */
};

typedef VEC(struct schedule_op) schedule_ops;

/* ---- schedule_island.c ---- */

struct islands {
    struct island *items;
    uint32_t count;
};
/* Cuts what is left of the graph where `obstacles` (by stage) is NULL.  `beside`: other stages are
 * dispatched between two rounds, so it is also cut between queues, and where a window that is to
 * be primed is one of readers that are not all in the island.  An island is refused when packets go
 * from it to others and come back. */
struct islands islands_collect(struct arena *arena, const struct graph *graph,
                               const struct plan *plan, const char *const *obstacles, bool beside);

/* ---- schedule_loops.c ---- */

/* The loops that execute `counts` cycles of each node of the level (GRAPH_NONE: of all) and leave
 * the edges between them as they found them.  False: none that is short is known.  *launches: of
 * them all.  *flat: there is no loop but those that cut a run into launches. */
struct loops_made {
    schedule_ops ops;
    uint64_t launches;
    bool flat;
};
bool loops_build(const struct island *island, uint32_t level, const uint64_t *counts,
                 struct arena *to, struct loops_made *made);
/* The runs that execute node->primed cycles of each node, from the initial packets on. */
bool loops_prime(const struct island *island, struct arena *to, schedule_ops *ops);

#endif
