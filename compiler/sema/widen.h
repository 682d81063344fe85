/* SPDX-License-Identifier: MIT */
/*
 * widen: the casts that have an expression computed in a wider type.
 *
 * A cast of one operand widens the operation that it belongs to, and all operations that take its
 * result.  Products and sums beside it keep their narrow type, and so each of them gets a cast of
 * its own: `a*b + c*d` becomes `(i64)a*b + (i64)c*d`.
 */
#ifndef PIPEC_WIDEN_H
#define PIPEC_WIDEN_H

#include "compiler/ir/kernel.h"
#include "compiler/context/context.h"

/* Adds the casts of `value` to `type` as the fix of `diag`, and gives the text of `value` with
 * them.  NULL where that text is long or on several lines; without a fix where an operand that
 * needs a cast has no place in the source. */
const char *widen_value(struct compile *cx, struct diag *diag, const struct kx *value,
                        const struct type *type);

#endif
