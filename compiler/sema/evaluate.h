/* SPDX-License-Identifier: MIT */
/*
 * evaluate: executes typed expressions and statements (kernel.h) on values.
 *
 * sema/consteval computes constants with it, bodies/written follows counters, and optimize/region/symbolic_body
 * executes firings whose packets are unknown.  The analyses of bodies that join both sides of a branch have abstract
 * domains, and walk bodies by themselves (bodies/ranges.h).
 *
 * Values     One struct scalar_value for each scalar, flattened (type.h): the same form as constants.
 *            An unknown value has a type from VALUE_UNKNOWN on.  Only the domain knows its meaning.
 *            Control flow and indices must be known.
 * Order      Operands are evaluated from left to right, each completely before the next one begins.
 * Bits       Operations on known values give the bits of compiled code (arith.h).
 * Limits     Limited here are the depth of nesting, nested calls, and live scalars of variables.  The
 *            domain limits steps: an expression, a statement, a round of a loop, or 16 copied scalars.
 * Failure    The first failure ends the evaluation.  It is reported to the domain once.
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
    EVALUATE_INDEX,             /* `index` is outside of `bound` */
    EVALUATE_NO_RESULT,         /* a function ends without a value */
    EVALUATE_TOO_DEEP,          /* nested expressions and statements */
    EVALUATE_TOO_MANY_CALLS,    /* nested */
    EVALUATE_TOO_MANY_SCALARS,  /* of variables, live at one time */
    EVALUATE_UNKNOWN_FUNCTION,  /* without a body */
    EVALUATE_UNKNOWN_INDEX,     /* from here on, an unknown value decides a place, ... */
    EVALUATE_UNKNOWN_CONDITION, /* ... the next statement, */
    EVALUATE_UNKNOWN_EFFECT,    /* ... whether there is an assignment, */
    EVALUATE_UNKNOWN_REDUCTION, /* ... or the result of any() or all() */
    EVALUATE_VARIABLE,   /* a variable that the domain does not have, or that may not change */
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

/* The domain's functions. If one is NULL, its expressions and statements are refused. */
struct evaluate_domain {
    /* Counts steps; false ends the evaluation, without a further report. */
    bool (*spend)(void *data, struct span span, uint64_t steps);
    void (*fail)(void *data, const struct evaluate_error *error);
    /* The scalars of a variable that is neither a declared local nor a constant; NULL: none.  Outside of code that is
     * executed, no local is declared. */
    struct scalar_value *(*find)(void *data, const struct variable *variable);
    /* Whether the variable may be assigned; NULL: every variable that is found. */
    bool (*may_assign)(void *data, const struct variable *variable);
    /* An operation with an unknown operand, or a division of an integer by zero.  NULL: there are
     * no unknown values. */
    bool (*operate)(void *data, struct operation operation, const struct scalar_value *operands,
                    uint32_t count, struct scalar_value *out);
    /* An expression that reads from outside of the body: packets, the number of the firing, ...
     * True: `out` has its scalars.  False: the expression is refused, or evaluation has failed. */
    bool (*read)(struct evaluator *in, const struct kx *x, struct scalar_value *out);
    /* EMIT and STORE. */
    bool (*write)(struct evaluator *in, const struct ks *s);
};

struct value_chunk;
struct value_mark { /* a position in the stack of values */
    struct value_chunk *chunk;
    uint64_t used, total;
};

struct evaluator {
    const struct evaluate_domain *domain;
    void *data; /* of the domain */
    struct arena *scratch;
    uint64_t scalars_max; /* of variables and temporaries, at one time */
    uint32_t calls_max;   /* nested */
    /* ---- private ---- */
    bool failed;
    struct value_frame *frame; /* of the current function; NULL: none */
    struct value_chunk *first;
    struct value_mark top;
    uint32_t calls, depth;
};

/* `out` takes all scalars of the value. */
bool evaluate(struct evaluator *in, const struct kx *x, struct scalar_value *out);
/* The same for an expression by itself: earlier failures are forgotten, and all temporaries are freed. */
bool evaluate_alone(struct evaluator *in, const struct kx *x, struct scalar_value *out);
/* Evaluates a known index less than `bound`. */
bool evaluate_index(struct evaluator *in, const struct kx *index, uint64_t bound, uint64_t *at);
/* Executes the code of a kernel, whose locals have numbers less than `local_count`. */
bool evaluate_body(struct evaluator *in, const struct ks *first, uint32_t local_count);

/* The zero of a type, all scalars. */
void values_set_zero(struct scalar_value *values, const struct type *type);

#endif
