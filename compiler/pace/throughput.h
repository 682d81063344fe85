/* SPDX-License-Identifier: MIT */
/*
 * throughput: how fast a net can run in the long run, exactly.
 *
 * The model.  A firing of node n lasts cost[n] clock cycles, whatever its phase.  It starts when every
 * arc into n holds the tokens that it needs, and takes its tokens then.  The tokens that it adds are
 * there when it ends: packets are seen when the firing that wrote them ends, room is claimed when a
 * firing starts and freed when the firing that read ends (the arcs of room of token_game.h).
 *
 * The firings of a node start in order.  Those of a stateful node do not overlap; of another, any number
 * run at once.  Every firing starts as soon as it can (self-timed); nothing runs faster.  Compute units
 * are not counted.
 *
 * The *throughput* is the number of iterations per clock cycle in the long run.  An iteration is
 * `repetitions` firings of each node of the net.  If the net is not strongly connected, it is that of its
 * slowest strongly connected component: the nodes before it can wait, and those after it have to.
 *
 * Give a net everything that is connected (channels_inside by component of the graph), not its
 * biconnected blocks.  A cycle that deadlocks lies within one block, but a critical cycle need not.  It
 * may go through one block from firing 5 of a node to firing 7, and through another from there on to the
 * 5th of the next iteration.  The whole can be slower than each of its blocks.
 */
#ifndef PIPEC_THROUGHPUT_H
#define PIPEC_THROUGHPUT_H

#include "compiler/liveness/token_game.h"

enum throughput_kind {
    THROUGHPUT_UNBOUNDED, /* no cycle of positive cost: nothing limits it */
    THROUGHPUT_RATIO,
    THROUGHPUT_STUCK,   /* the net stops forever: `critical` is a cycle that needs itself */
    THROUGHPUT_UNKNOWN, /* beyond the budget, or the arithmetic */
};

struct throughput {
    enum throughput_kind kind;
    uint64_t iterations, cycles; /* RATIO: iterations per `cycles` cycles, in lowest terms */
    bool exact;                  /* else RATIO is a lower bound */
    /* RATIO, STUCK: arcs of the net in order round a cycle that no schedule can run faster than
     * (if not exact: the cycle that this bound comes from).  Each arc is there once, though a
     * cycle over several firings of a node may pass an arc again.  None: the firings of
     * `critical_node`, one after the other. */
    uint32_t *critical;
    uint32_t critical_count;
    uint32_t critical_node; /* a node of the cycle; GRAPH_NONE: there is no cycle */
};

struct net_timing { /* by node of a net; an added source takes no time */
    uint64_t *cost;
    bool *stateful;
};

/* As the nodes of the graph say. */
struct net_timing net_timing_of(struct arena *arena, const struct net *net,
                                const struct graph *graph);
/* `cost` (at most GRAPH_COST_MAX) and `stateful` by node of the net.  Uses the arcs and their
 * initial tokens, not the present marking; absent arcs do not count.  Takes steps from *budget:
 * one is an arc of the expanded graph examined once. `critical` is of `arena`. */
struct throughput throughput_of_net(struct arena *arena, const struct net *net,
                                    const uint64_t *cost, const bool *stateful, uint64_t *budget);
/* Below 0, 0, above 0: a is slower than b, as fast, faster.  STUCK is the slowest, then UNKNOWN. */
int throughput_compare(const struct throughput *a, const struct throughput *b);
/* The same speed, of iterations that are num/den as long; UNKNOWN if it does not fit. */
struct throughput throughput_scaled(struct throughput throughput, uint64_t num, uint64_t den);

#endif
