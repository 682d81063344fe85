/* SPDX-License-Identifier: MIT */
/*
 * counterexample: the shortest firing sequence after which a pipeline stands still.
 *
 * Requires  repetitions (rate.h); what deadlock_check and bufsize_assign have reported.
 *
 * The net has all channels of a connected part of the graph, the declared depths as they are and
 * the undeclared ones without a limit: a circular wait for packets alone is a deadlock whatever the
 * depths, one with room in it a declared depth that is too small.
 *
 * Why it is shortest.  The state in which nothing more can fire is unique (token_game.h), so are the
 * firings f(n) of each node until then.  A circle of nodes n1 waits for n2 waits for ... waits for
 * n1 is *closed* when none of them can ever fire again.  While one of them has fired less than f,
 * it still can, so the circle is not closed; when each has fired f, it is.  So every sequence that
 * closes the circle fires each of its nodes f(n) times, and everybody else at least as often as
 * these firings need: the needs are monotonic, so there is a least such vector of firings
 * (net_least_firings), and a sequence that fires no more than that exists, in whatever order the
 * simulation takes.  Of several circles the one with the shortest sequence is taken; examined are
 * the circle with the fewest nodes through each of the first CIRCLES_MAX waiting nodes (where each
 * node waits for one other only, those are all that there are).
 *
 * Limits: SEARCH_STEPS steps of simulation (COUNTER_BEYOND after that).  A buffer with a bounded
 * rate and several readers counts as one that the outside fills, packet by packet; the history of
 * a 2-D window as taken from the beginning on: such a sequence is shown, and is not replayed.
 */
#ifndef PIPEC_COUNTEREXAMPLE_H
#define PIPEC_COUNTEREXAMPLE_H

#include "compiler/ir/graph.h"

enum counter_kind {
    COUNTER_NONE, /* every circle goes on */
    COUNTER_FOUND,
    COUNTER_OTHER,  /* refused, but nothing waits in a circle: no sequence of firings shows it */
    COUNTER_BEYOND, /* the budget is spent */
};

struct counter_run { /* firings in a row */
    uint32_t node;   /* GRAPH_NONE: the outside brings packets to `buffer` */
    uint32_t buffer;
    uint64_t count;
};

struct counter_wait { /* one node of the circle */
    uint32_t node;    /* GRAPH_NONE: the outside, for room in a port or behind a bounded rate */
    uint32_t next;    /* for whom it waits: the next one of the circle */
    uint32_t buffer;
    bool room;             /* for room; else for packets */
    uint64_t fired;        /* of the node, until then */
    uint64_t holds, needs; /* packets there are, and needed; of room: free, and needed */
};

struct counter_level {
    uint32_t buffer;
    uint64_t packets, depth; /* depth 0: as deep as one likes */
};

struct counterexample {
    enum counter_kind kind;
    struct counter_run *runs;
    size_t run_count;
    uint64_t firings;             /* of all nodes */
    struct counter_wait *waits;   /* in order round the circle */
    struct counter_level *levels; /* of the buffers of the circle, each once */
    uint32_t wait_count, level_count;
    const char *no_replay; /* why it cannot be fired on a device; NULL: it can */
};

/* Lives in cx->arena. */
const struct counterexample *counterexample_find(struct compile *cx, const struct graph *graph);
/* Makes the graph one that container_write can write: depths that hold the sequence, and the
 * sequence as its certificate.  Returns why that cannot be, or NULL. */
const char *counterexample_prepare(struct compile *cx, struct graph *graph,
                                   const struct counterexample *found);
/* What `pipec inspect --trace-deadlock` prints. */
void counterexample_print(FILE *to, const struct graph *graph, const struct counterexample *found);

#endif
