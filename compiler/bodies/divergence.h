/* SPDX-License-Identifier: MIT */
/*
 * divergence: the checks of kernels with work-items (`group`).
 *
 * Requires range_check_bodies.
 * Fills    ks->together, variable->per_item, kernel->items_leave.
 * Fails    RULE_DIVERGENT_BARRIER where some items may come to a barrier (or `stop`) that others do
 *          not, RULE_TOO_LARGE where the items' variables do not fit, RULE_DATA_RACE (race.h).
 */
#ifndef PIPEC_DIVERGENCE_H
#define PIPEC_DIVERGENCE_H

#include "compiler/bodies/group.h"

void group_check_bodies(struct compile *cx, struct graph *graph);

#endif
