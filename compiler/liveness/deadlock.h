/* SPDX-License-Identifier: MIT */
/*
 * deadlock: proves that a schedule without deadlock exists if inner buffers are unbounded.
 *
 * Requires repetitions.
 * Fails    RULE_DEADLOCK (the cycle, which node waits for which packets, and the minimum number of
 *          initial packets that cures it), RULE_LIVENESS_UNDECIDED beyond the budget.
 */
#ifndef PIPEC_DEADLOCK_H
#define PIPEC_DEADLOCK_H

#include "compiler/ir/graph.h"

void deadlock_check(struct compile *cx, struct graph *graph);

#endif
