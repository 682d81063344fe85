/* SPDX-License-Identifier: MIT */
/*
 * rate_internal: data that rate.c (solving) and rate_witness.c (explaining) share.
 *
 * A *vertex* is a node or, numbered after the nodes, the added source of a bundle (bundles.h), which
 * writes one share to each buffer of the bundle at a time.
 */
#ifndef PIPEC_RATE_INTERNAL_H
#define PIPEC_RATE_INTERNAL_H

#include "compiler/ir/graph.h"
#include "lang/rational.h"

/* q[a] x a_rate = q[b] x b_rate.  The end of a is the buffer's writer or, for an outer in-port
 * or a bounded rate, its first reader.  The end of b is its reader `reader`. */
struct balance {
    uint32_t a, b, buffer, reader;
    uint64_t a_rate, b_rate;
};

struct incidence { /* of a vertex with a balance */
    uint32_t balance, other;
};

struct rate_solver {
    struct compile *cx;
    struct graph *graph;
    struct arena *arena;
    VEC(struct balance) collected;
    const struct balance *balances; /* the collected ones, complete */
    VEC(uint32_t) bundle_writers;   /* of each added source: its node */
    uint32_t *first_output;         /* node -> index of its first output among all outputs */
    uint32_t *bundle_sources;       /* first output + bundle - 1 -> added source; 0: not yet */
    uint32_t vertex_count;
    uint32_t *first; /* vertex -> its incidences */
    struct incidence *incidences;
    struct rational *fractions; /* firings for one of the root; all zero: not known yet */
    uint32_t *parent;           /* vertex -> balance of the tree, GRAPH_NONE at a root */
    uint32_t *level;            /* distance from the root */
    uint32_t *queue;            /* vertices of the component, in order of visit */
    uint32_t queue_count;
    uint32_t reports;
    uint64_t fix_budget; /* balances that may still be examined in search of a fix */
};

bool rate_is_added(const struct rate_solver *solver, uint32_t vertex);
/* The node; for an added source, the writer of its bundle. */
struct graph_node *rate_node(const struct rate_solver *solver, uint32_t vertex);
/* "per firing", or the words for a cycle of phases. */
const char *rate_per(const struct rate_solver *solver, uint32_t vertex);
/* Do the two ends of the balance both read? */
bool rate_both_read(const struct rate_solver *solver, const struct balance *balance);

/* Reports a balance outside of the tree that does not hold: the cycle that it closes, the
 * equation of each buffer on it, and one rate that would fix it, if there is one. */
void rate_report_inconsistent(struct rate_solver *solver, const struct balance *balance);

#endif
