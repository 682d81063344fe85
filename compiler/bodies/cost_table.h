/* SPDX-License-Identifier: MIT */
/*
 * cost_table: what one place of a typed body costs by itself, whatever it is made of: the classes of
 * lang/time.md, "Cost of a kernel", with the figures of the device.
 *
 * Of vectors every element counts.  Thread-safe: no state.  Saturates at COST_MAX.
 */
#ifndef PIPEC_COST_TABLE_H
#define PIPEC_COST_TABLE_H

#include "compiler/ir/graph.h"
#include "lang/devdesc.h"

/* Larger than any cost that is of use; sums of two stay below 2^64. */
#define COST_MAX (UINT64_C(1) << 62)

/* The figures of the compilation's device; one that has none gets `sim16`. */
const struct devdesc_costs *cost_table(struct compile *cx);

static inline uint64_t cost_add(uint64_t a, uint64_t b)
{
    return a > COST_MAX - b ? COST_MAX : a + b;
}

static inline uint64_t cost_multiply(uint64_t a, uint64_t b)
{
    return b > 0 && a > COST_MAX / b ? COST_MAX : a * b;
}

/* Without its parts, and without what a function that it calls costs. */
uint64_t cost_of_expression(const struct devdesc_costs *costs, const struct kx *x);
/* What the target of an assignment counts as an access and is none, since it is only written. */
uint64_t cost_not_loaded(const struct devdesc_costs *costs, const struct kx *assign);
/* The same of a statement: appending, jumping, a barrier, launching.  Of a loop: of one round. */
uint64_t cost_of_statement(const struct devdesc_costs *costs, const struct ks *s);

/* With all its parts that are evaluated whenever it is, and what functions cost in any case, as far
 * as that is known (function->costs). */
uint64_t cost_of_evaluation(const struct devdesc_costs *costs, const struct kx *x);

/* The choice (`?:`, `&&`, `||`) is made by a jump: a side calls or assigns.  Else a lane computes
 * both sides. */
bool cost_choice_jumps(const struct kx *x);
/* Executions of the function that a call makes: one for each element of vectors. */
uint64_t cost_calls(const struct kx *call);

#endif
