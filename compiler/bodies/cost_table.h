/* SPDX-License-Identifier: MIT */
/*
 * cost_table: the cost of one place of a typed body, without its parts: the classes of lang/time.md,
 * "Cost of a kernel", with the figures of the device.
 *
 * Each element of a vector counts.  Thread-safe: no state.  Saturates at COST_MAX.
 */
#ifndef PIPEC_COST_TABLE_H
#define PIPEC_COST_TABLE_H

#include "compiler/ir/graph.h"
#include "lang/devdesc.h"

/* Larger than any useful cost; the sum of two stays below 2^64. */
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

/* Whether the loop costs what its body does in all rounds, without tests, steps and jumps. */
bool cost_is_unrolled(const struct devdesc_costs *costs, const struct ks *loop);

/* Without its parts, and without the cost of a function that it calls. */
uint64_t cost_of_expression(const struct devdesc_costs *costs, const struct kx *x);
/* The part of cost_of_expression for the target of an assignment that is no load: the target is only
 * written. */
uint64_t cost_not_loaded(const struct devdesc_costs *costs, const struct kx *assign);
/* The same of a statement: appending, jumping, a barrier, launching.  Of a loop: of one round. */
uint64_t cost_of_statement(const struct devdesc_costs *costs, const struct ks *s);

/* With all parts that each evaluation evaluates, and with the constant cost of functions, as far as
 * it is known (function->costs). */
uint64_t cost_of_evaluation(const struct devdesc_costs *costs, const struct kx *x);

/* Whether the choice (`?:`, `&&`, `||`) is a jump, because a side calls or assigns.  Otherwise a lane
 * computes both sides. */
bool cost_choice_jumps(const struct kx *x);
/* Executions of the function that a call makes: one for each element of vectors. */
uint64_t cost_calls(const struct kx *call);

#endif
