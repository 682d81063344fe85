/* SPDX-License-Identifier: MIT */
/*
 * wraps: narrow arithmetic that may wrap, and whose result is used as if it did not.
 *
 * Requires range_check_bodies, which marks scalar operations whose exact result may leave their type.
 * Warns    RULE_WRAPS_BEFORE_USE.
 * Method   For vectors it takes the ranges of the operands' types, and those of constants.
 */
#ifndef PIPEC_WRAPS_H
#define PIPEC_WRAPS_H

#include "compiler/ir/graph.h"

void wraps_check_bodies(struct compile *cx, const struct graph *graph);

#endif
