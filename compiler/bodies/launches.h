/* SPDX-License-Identifier: MIT */
/*
 * launches: bounds of trees of launches (lang/reference.md, "Child kernels").
 *
 * most(k) is the maximum number of launches of one firing of k, own(k, p) the packets that it
 * appends by itself to out-port p, groups(c) the maximum number of work-groups of a launch of c, each of which is a firing,
 * and d the number of levels below it:
 *
 *     entries(k, d)    = most(k) + max over the children c of k of entries(c, d - 1)
 *     tree(k, d)       = most(k) x max of groups(c) x (1 + tree(c, d - 1))
 *     packets(k, d, p) = own(k, p) + most(k) x max of groups(c) x packets(c, d - 1, p)
 *
 * with entries(k, 0) = tree(k, 0) = 0 and packets(k, 0, p) = own(k, p); all saturate.  `entries`
 * holds for a queue that serves the deepest launches first: of each level, no more launches wait than
 * one firing launched.
 */
#ifndef PIPEC_LAUNCHES_H
#define PIPEC_LAUNCHES_H

#include "compiler/bodies/ranges.h"

/* Fills `tree_writes` of the out-ports of kernels that launch. */
void launches_find_writers(struct graph *graph);
/* Sets the launches of one firing, from the walk of its body.
 * Fills   launches.least, .most, .proven.
 * Fails   RULE_LAUNCHES_UNBOUNDED, RULE_LAUNCHES_EXCEEDED, RULE_TOO_LARGE; warns
 *         RULE_LAUNCHES_UNPROVEN. */
void launches_count(struct compile *cx, struct kernel *kernel, struct walk_count count);
/* Requires launches_count of all kernels, and own_push_least, own_push of their out-ports.
 * Fills   of the kernels of nodes that launch: launches.nesting, .tree, .queue_entries; push_least,
 *         push and tree_proven of the out-ports that a child writes.
 * Fails   RULE_LAUNCHES_UNBOUNDED, RULE_LAUNCHES_EXCEEDED, RULE_NESTING_EXCEEDED, RULE_RATE_MISMATCH,
 *         RULE_INVALID_RATE; warns RULE_RATE_UNPROVEN, notes RULE_NESTING_UNPROVEN. */
void launches_bound_trees(struct compile *cx, struct graph *graph);

#endif
