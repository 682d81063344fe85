/* SPDX-License-Identifier: MIT */
/*
 * test_block: `test NAME of PIPELINE { ... }`, checked: its inputs and its expected outputs.
 *
 * test_check
 *   Requires  a program without syntax errors, `item` a test block of it.
 *   Returns   the test with a graph of its own (so that analyses may fill it), arguments set; NULL after
 *             errors, which are reported.  In a test that expects an error only names are checked: its
 *             graph is NULL.
 *   Fails     the rules of groups name and type; RULE_TEST_BLOCK if the block contradicts itself.
 *
 * test_subject elaborates the pipeline of a test that expects an error, and reports that error.
 *
 * Limits (RULE_TOO_LARGE): TEST_MAX_PACKETS packets and TEST_MAX_BYTES bytes in one stream.
 */
#ifndef PIPEC_TEST_BLOCK_H
#define PIPEC_TEST_BLOCK_H

#include <stdio.h>

#include "compiler/ir/graph.h"
#include "compiler/syntax/ast.h"

#define TEST_MAX_PACKETS ((uint64_t)1 << 24)
#define TEST_MAX_BYTES ((uint64_t)1 << 28)

enum test_values_kind {
    TEST_LIST,  /* scalars, flattened */
    TEST_RANGE, /* integers from `first` on */
    TEST_ZEROS,
    TEST_RAMP,
    TEST_NOISE, /* seed */
    TEST_FILE,  /* path: the only part of its stream; the reader counts its packets */
    TEST_MAP,   /* call, with each packet of `inner` in `argument` */
};

/* A part of a stream; `next` follows it. */
struct test_values {
    enum test_values_kind kind;
    struct test_values *next;
    const struct type *type; /* of a packet */
    uint64_t packets;
    struct span span;
    VEC(struct scalar_value) scalars;
    int64_t first;
    uint64_t seed;
    const char *path; /* for open: relative to the folder of the source */
    struct kx *call;
    struct variable *argument;
    struct test_values *inner;
};

struct test_stream { /* an in-port that is set, or an out-port with expected packets */
    const char *port;
    uint32_t buffer;
    struct test_values *values; /* NULL: the empty stream */
    struct span span;           /* of the statement */
    enum test_tolerance { TEST_EXACT, TEST_WITHIN, TEST_ULP } tolerance;
    double within; /* maximum difference */
    uint64_t ulp;  /* maximum of steps between neighbouring values */
};

enum test_outcome { TEST_ENDS, TEST_FAULTS, TEST_REFUSED };

struct test_case {
    const char *name;
    struct span span;    /* of the name */
    const char *subject; /* the pipeline's name */
    const struct ast_item *item;
    struct graph *graph;
    VEC(struct test_stream) inputs, expected;
    enum test_outcome outcome;
    const char *id;           /* TEST_FAULTS, TEST_REFUSED */
    struct span outcome_span; /* of the statement that expects the fault or error */
};

struct test_case *test_check(struct compile *cx, const struct ast_program *program,
                             const struct ast_item *item);
struct graph *test_subject(struct compile *cx, const struct ast_program *program,
                           const struct ast_item *item);
/* A pipeline that copies packets of `type` from its port x to its port y. */
struct graph *test_copy_graph(struct compile *cx, const struct ast_program *program,
                              const struct type *type);
/* Writes the packets in their storage format.  False: an error in a mapped function, reported; or
 * errno of `to`. */
bool test_values_write(struct compile *cx, const struct test_values *values, FILE *to);
/* Loads the scalars of one packet from storage; `scalars` has room for type_scalar_count of them. */
void test_packet_load(const struct type *type, const unsigned char *bytes,
                      struct scalar_value *scalars);

#endif
