/* SPDX-License-Identifier: MIT */
/*
 * certify: the proof that travels with the program (lang/container.md, "Certificate").
 *
 * Requires final depths: nothing may change them afterwards.
 * Fills    graph->certificate.  Raises undeclared depths, and says so, where a proof for the given
 *          ones is too long to write down.
 * Fails    RULE_LIVENESS_UNDECIDED, RULE_MEMORY_LIMIT.
 */
#ifndef PIPEC_CERTIFY_H
#define PIPEC_CERTIFY_H

#include "compiler/ir/graph.h"

#define CERTIFY_STEPS UINT64_C(20000000) /* of all simulations of a graph */

struct certify_limits {
    uint64_t steps; /* 0: only starting times */
};

void certify_graph(struct compile *cx, struct graph *graph);
/* The same with a budget of its own, for tests that want one form of proof. */
void certify_within(struct compile *cx, struct graph *graph, struct certify_limits limits);

#endif
