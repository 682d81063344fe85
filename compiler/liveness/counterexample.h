/* SPDX-License-Identifier: MIT */
/*
 * counterexample: the shortest firing sequence after which a pipeline has a deadlock.
 *
 * Requires  repetitions (rate.h); the reports of deadlock_check and bufsize_assign.
 *
 * The net has all channels of a connected part of the graph.  Declared depths are as they are, and
 * undeclared ones have no limit.  A circular wait only for packets is a deadlock whatever the depths
 * are.  A circular wait with room in it shows a declared depth that is too small.
 *
 * Why it is shortest.  The state in which no node can fire is unique (token_game.h).  So are the
 * firings f(n) of each node until then.  Take a cycle of nodes: n1 waits for n2, n2 waits for ..., and
 * the last one waits for n1.  Call it *closed* when none of its nodes can ever fire again.  While one
 * of them has fired less than f, it can still fire, so the cycle is not closed.  When each has fired f,
 * it is closed.  So every sequence that closes the cycle fires each of its nodes f(n) times, and every
 * other node at least as often as these firings need.  The needs are monotonic, so there is a smallest
 * such vector of firings (net_least_firings).  A sequence that fires no more than that exists, whatever
 * order the simulation chooses.
 *
 * Of several cycles the one with the shortest sequence is chosen.  For each of the first CYCLES_MAX
 * waiting nodes, the cycle with the fewest nodes through it is examined.  Where each node waits for only
 * one other node, those are all cycles that there are.
 *
 * Limits: SEARCH_STEPS steps of simulation (COUNTER_BEYOND after that).  The net has two
 * approximations; a sequence that depends on them is shown, but not replayed:
 *   - a buffer with a bounded rate and several readers counts as filled by the outside, packet by packet;
 *   - the history of a 2-D window counts as taken from the beginning on.
 */
#ifndef PIPEC_COUNTEREXAMPLE_H
#define PIPEC_COUNTEREXAMPLE_H

#include "compiler/ir/graph.h"

enum counter_kind {
    COUNTER_NONE, /* no cycle deadlocks */
    COUNTER_FOUND,
    COUNTER_OTHER,      /* refused, but no nodes wait in a cycle: no sequence of firings shows it */
    COUNTER_BEYOND,     /* the budget is spent */
    COUNTER_UNSEARCHED, /* errors come before the search: there are no repetitions */
};

struct counter_run { /* firings in a row */
    uint32_t node;   /* GRAPH_NONE: the outside writes packets to `buffer` */
    uint32_t buffer;
    uint64_t count;
};

struct counter_wait { /* one node of the cycle */
    uint32_t node;    /* GRAPH_NONE: the outside, for room in a port or after a bounded rate */
    uint32_t next;    /* the node that it waits for: the next one of the cycle */
    uint32_t buffer;
    bool room;             /* it waits for room; else for packets */
    uint64_t fired;        /* of the node, until then */
    uint64_t holds, needs; /* packets present and needed; for room: packets free and needed */
};

struct counter_level {
    uint32_t buffer;
    uint64_t packets, depth; /* depth 0: no limit */
};

struct counterexample {
    enum counter_kind kind;
    struct counter_run *runs;
    size_t run_count;
    uint64_t firings;             /* of all nodes */
    struct counter_wait *waits;   /* in order round the cycle */
    struct counter_level *levels; /* of the buffers of the cycle, each once */
    uint32_t wait_count, level_count;
    const char *no_replay; /* why it cannot be replayed on a device; NULL: it can */
};

/* The result lives in cx->arena. */
const struct counterexample *counterexample_find(struct compile *cx, const struct graph *graph);
/* Makes a graph that container_write can write: depths that hold the sequence, and the sequence
 * as its certificate.  Returns the reason if that is impossible, else NULL. */
const char *counterexample_prepare(struct compile *cx, struct graph *graph,
                                   const struct counterexample *found);
/* Prints the text of `pipec inspect --trace-deadlock`. */
void counterexample_print(FILE *to, const struct graph *graph, const struct counterexample *found);

#endif
