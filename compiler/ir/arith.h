/* SPDX-License-Identifier: MIT */
/*
 * arith: the arithmetic of the language on scalar values, with exactly the bits of compiled code.
 *
 * Integers wrap.  INT_MIN / -1 is INT_MIN, and INT_MIN % -1 is 0.  A shift takes its count modulo the
 * width; `>>` of a signed type keeps the sign.
 *
 * Floats are IEEE 754 in their own width, never contracted.  A NaN that an operation makes is the
 * canonical one.  Negation, abs and copysign change only the sign bit.
 *
 * A conversion to a narrower integer wraps.  A conversion of a float to an integer saturates, and NaN
 * gives 0.  A conversion to bool is `!= 0`.
 *
 * Both operands have the type that the typed tree (kernel.h) promises.  f16 and bf16 never occur.
 * Pure functions.
 */
#ifndef PIPEC_ARITH_H
#define PIPEC_ARITH_H

#include "compiler/ir/kernel.h"
#include "base/arena.h"

/* `bits` wrapped to an integer type, or to bool (0 or 1: the lowest bit). */
struct scalar_value arith_integer(enum scalar_type type, uint64_t bits);
struct scalar_value arith_bool(bool truth);
struct scalar_value arith_f32(float value);
struct scalar_value arith_f64(double value);
/* The value of an f32 or f64, exact. */
double arith_as_f64(struct scalar_value value);
bool arith_truth(struct scalar_value value);
/* An integer of any type, exact. */
__int128 arith_as_exact(struct scalar_value value);
/* Whether an integer type holds `value`. */
bool arith_fits(__int128 value, enum scalar_type type);

/* OP_ADD .. OP_XOR; the right operand of a shift has any integer type.  False: integer division by
 * zero. */
bool arith_binary(enum kx_op op, struct scalar_value left, struct scalar_value right,
                  struct scalar_value *out);
/* OP_LT .. OP_NE. */
bool arith_compare(enum kx_op op, struct scalar_value left, struct scalar_value right);
/* For OP_LT .. OP_NE: the comparison that is true of integers exactly where `op` is false. */
enum kx_op arith_opposite(enum kx_op op);
struct scalar_value arith_negate(struct scalar_value value);
struct scalar_value arith_complement(struct scalar_value value);
struct scalar_value arith_convert(struct scalar_value value, enum scalar_type to);
struct scalar_value arith_builtin(enum builtin builtin, const struct scalar_value *arguments);

/* An operation on scalars: NEGATE, COMPLEMENT, NOT, BINARY, COMPARE, SELECT, CONVERT or BUILTIN (but ANY and ALL). */
struct operation {
    enum kx_kind kind;
    enum kx_op op;         /* BINARY, COMPARE */
    enum builtin builtin;  /* BUILTIN */
    enum scalar_type type; /* of the result */
};
/* The operation of an expression; for a vector, the operation of each element. */
struct operation kx_operation(const struct kx *x);
/* False: integer division by zero, or an expression that is none of these operations. */
bool arith_operate(struct operation operation, const struct scalar_value *operands,
                   struct scalar_value *out);
/* The value of an operation whose operands are constants.  False: it is none, or a division of an integer by zero. */
bool kx_fold(const struct kx *x, struct scalar_value *value);
/* Of && || ?: the operand whose value is that of the expression, if the first operand is a constant; else NULL. */
struct kx *kx_chosen(const struct kx *x);

/* As a message shows it: `-3`, `0.1`, `true`. */
const char *arith_text(struct arena *arena, struct scalar_value value);

#endif
