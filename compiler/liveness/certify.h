/* SPDX-License-Identifier: MIT */
/*
 * certify: the budget of certify_graph (analysis.h), for tests that want one form of proof.
 */
#ifndef PIPEC_CERTIFY_H
#define PIPEC_CERTIFY_H

#include "compiler/ir/analysis.h"

#define CERTIFY_STEPS UINT64_C(20000000) /* of all simulations of a graph */

struct certify_limits {
    uint64_t steps; /* 0: only starting times */
};

void certify_within(struct compile *cx, struct graph *graph, struct certify_limits limits);

#endif
