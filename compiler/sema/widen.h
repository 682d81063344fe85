/* SPDX-License-Identifier: MIT */
/*
 * widen: adds casts that make an expression compute in a wider type.
 *
 * A cast of one operand widens the operation of this operand, and all operations on its result.  Products
 * and sums beside it keep their narrow type, so each of them gets a cast of its own: `a*b + c*d` becomes
 * `(i64)a*b + (i64)c*d`.
 */
#ifndef PIPEC_WIDEN_H
#define PIPEC_WIDEN_H

#include "compiler/ir/kernel.h"
#include "compiler/context/context.h"

/* Adds the casts of `value` to `type` as the fix of `diag`, and returns the text of `value` with
 * them. NULL if that text is long or spans lines; without a fix if an operand that needs a cast
 * has no place in the source. */
const char *widen_value(struct compile *cx, struct diag *diag, const struct kx *value,
                        const struct type *type);

#endif
