/* SPDX-License-Identifier: MIT */
/*
 * evaluate: executes typed expressions and statements (kernel.h) on values.
 *
 * sema/consteval computes constants with it, and optimize/region/symbolic_body executes firings whose packets
 * are unknown.
 *
 * Values     One struct scalar_value for each scalar, flattened (type.h): the same form as constants.
 *            A value that is not known has a type from VALUE_UNKNOWN on.  Only the domain knows what
 *            it stands for.  Control flow and indices must be known.
 * Order      Operands are evaluated from left to right, each completely before the next one begins.
 * Bits       Operations on known values give the bits of compiled code (arith.h).
 * Limits     Depth of nesting, calls within calls, and scalars of variables at one time are limited
 *            here.  The domain limits steps: an expression, a statement, a round of a loop, or 16
 *            copied scalars.
 * Failure    The first one ends the evaluation.  It is reported to the domain once.
 */
#ifndef PIPEC_EVALUATE_H
#define PIPEC_EVALUATE_H

#include "compiler/ir/arith.h"

enum { VALUE_UNKNOWN = 64 };

static inline bool value_is_known(struct scalar_value value)
{
    return (int)value.type < VALUE_UNKNOWN;
}

enum evaluate_failure {
    EVALUATE_DIVISION_BY_ZERO,
    EVALUATE_INDEX,            /* `index` is outside of `bound` */
    EVALUATE_NO_RESULT,        /* a function ends without a value */
    EVALUATE_TOO_DEEP,         /* expressions and statements within one another */
    EVALUATE_TOO_MANY_CALLS,   /* within one another */
    EVALUATE_TOO_MANY_SCALARS, /* of variables, at one time */
    EVALUATE_UNKNOWN_FUNCTION, /* without a body */
    EVALUATE_UNKNOWN_INDEX, /* the failures from here on: an unknown value decides which place, */
    EVALUATE_UNKNOWN_CONDITION, /* which statement, */
    EVALUATE_UNKNOWN_EFFECT,    /* whether there is an assignment, */
    EVALUATE_UNKNOWN_REDUCTION, /* or the result of any() or all() */
    EVALUATE_VARIABLE,   /* a variable that the domain does not have, or does not let change */
    EVALUATE_EXPRESSION, /* an expression that the domain does not execute */
    EVALUATE_STATEMENT,  /* a statement that the domain does not execute */
};

struct evaluate_error {
    enum evaluate_failure failure;
    struct span span;
    const struct kx *culprit;  /* VARIABLE, EXPRESSION, UNKNOWN_FUNCTION; else NULL */
    struct scalar_value index; /* INDEX */
    uint64_t bound;            /* INDEX */
};

struct evaluator;

/* Functions that may be NULL refuse what they are for. */
struct evaluate_domain {
    /* Counts steps; false ends the evaluation, without a further report. */
    bool (*spend)(void *data, struct span span, uint64_t steps);
    void (*fail)(void *data, const struct evaluate_error *error);
    /* The scalars of a variable that is neither a declared local nor a constant; NULL: there are none. */
    struct scalar_value *(*find)(void *data, const struct variable *variable);
    /* Whether the variable may be assigned; NULL: every variable that is found. */
    bool (*may_assign)(void *data, const struct variable *variable);
    /* An operation of which some operand is unknown, or that divides an integer by zero.  NULL: unknown
     * values do not occur. */
    bool (*operate)(void *data, struct operation operation, const struct scalar_value *operands,
                    uint32_t count, struct scalar_value *out);
    /* An expression that reads what is outside of the body: packets, the number of the firing, ...
     * True: `out` has its scalars.  False: the expression is refused, or evaluation has failed. */
    bool (*read)(struct evaluator *in, const struct kx *x, struct scalar_value *out);
    /* EMIT and STORE. */
    bool (*write)(struct evaluator *in, const struct ks *s);
};

struct value_chunk;
struct value_mark { /* a place in the stack of values */
    struct value_chunk *chunk;
    uint64_t used, total;
};

struct evaluator {
    const struct evaluate_domain *domain;
    void *data; /* of the domain */
    struct arena *scratch;
    uint64_t scalars_max; /* of variables and temporaries, at one time */
    uint32_t calls_max;   /* within one another */
    /* ---- private ---- */
    bool failed;
    struct value_frame *frame; /* of the function that is executed; NULL: of none */
    struct value_chunk *first;
    struct value_mark top;
    uint32_t calls, depth;
};

/* `out` takes all scalars of the value. */
bool evaluate(struct evaluator *in, const struct kx *x, struct scalar_value *out);
/* A known index below `bound`. */
bool evaluate_index(struct evaluator *in, const struct kx *index, uint64_t bound, uint64_t *at);
/* Executes the code of a kernel, whose locals have numbers below `local_count`. */
bool evaluate_body(struct evaluator *in, const struct ks *first, uint32_t local_count);

/* The zero of a type, all scalars. */
void values_set_zero(struct scalar_value *values, const struct type *type);

#endif
