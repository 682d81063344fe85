/* SPDX-License-Identifier: MIT */
/*
 * debug_condition: values, and the conditions of runtime/host/pipert_debug.h.
 *
 *     or       := and { "||" and }
 *     and      := relation { "&&" relation }
 *     relation := operand [ OP operand ]
 *     operand  := "!" operand | "(" or ")" | NUMBER | true | false | cycle | firing
 *               | level "(" BUFFER ")" | PLACE
 *
 * Numbers are compared exactly: integers as integers, others as f64.  A number in the text is rounded to
 * the float type that it is compared with, so that a printed value compares equal to its packet.  A
 * missing value is not true, and equal to nothing.
 *
 * Requires: as debug_place.h.  Errors: PRT_E_USAGE.
 */
#ifndef RUNTIME_DEBUG_DEBUG_CONDITION_H
#define RUNTIME_DEBUG_DEBUG_CONDITION_H

#include "runtime/debug/debug_internal.h"

enum debug_value_kind { DEBUG_NOTHING, DEBUG_INTEGER, DEBUG_FLOAT };

struct debug_value {
    enum debug_value_kind kind;
    bool literal;            /* it stands in the text */
    enum scalar_type scalar; /* FLOAT: the type that it was read from */
    __int128 integer;
    double number;
};

enum debug_relation { DEBUG_EQ, DEBUG_NE, DEBUG_LT, DEBUG_LE, DEBUG_GT, DEBUG_GE };

struct debug_value prt_debugger_scalar_value(enum scalar_type scalar, const void *bytes);
bool prt_debugger_compare(struct debug_value a, enum debug_relation relation, struct debug_value b);

/* Read a token at *at and move *at past it.  They return false if it is not there. */
bool prt_debugger_take_relation(const char **at, enum debug_relation *relation);
bool prt_debugger_take_number(const char **at, struct debug_value *value);
void prt_debugger_skip_blanks(const char **at);

/* Evaluates a whole text.  `firing`: the value of the word `firing`. */
enum prt_status prt_debugger_evaluate(const struct prt_debugger *d, const char *text,
                                      uint64_t firing, struct debug_value *value,
                                      struct prt_error *error);
bool prt_debugger_is_true(struct debug_value value);

/* Refuse a value that is no number, with the names of its parts; refuse further text after the
 * end. */
enum prt_status prt_debugger_refuse_parts(const struct prt_debugger *d, uint32_t type,
                                          const char *name, struct prt_error *error);
enum prt_status prt_debugger_refuse_rest(const char *rest, struct prt_error *error);

#endif
