/* SPDX-License-Identifier: MIT */
/*
 * random_body: random kernels of integers, as text, and their execution: for tests of what is claimed
 * of bodies.  A body whose access leaves its object, that divides by zero or runs out of `fuel` ends
 * by longjmp to `fault`.
 */
#ifndef TESTS_RANDOM_BODY_H
#define TESTS_RANDOM_BODY_H

#include <setjmp.h>
#include <stdbool.h>

#include "compiler/ir/graph.h"

struct random {
    uint64_t state;
};

int random_draw(struct random *r, int low, int high);

/* With state and any number of packets; the same without state; one packet, and nothing faults but
 * divisions; without state, with launches of a child and questions for them; little else than
 * conditions that are asked again, of which each decides whether something is appended. */
enum body_style { BODY_STATE, BODY_FREE, BODY_EXACT, BODY_LAUNCHES, BODY_ASKED };

enum { BODY_CONDITIONS = 4, BODY_CONDITION_CHARS = 96 };

struct body_writer {
    struct random random;
    enum body_style style;
    char text[16384];
    size_t length;
    int loops, statements, events;
    char asked[BODY_CONDITIONS]
              [BODY_CONDITION_CHARS]; /* BODY_ASKED: what is asked, again and again */
    const struct alike *alike;        /* BODY_ASKED: what the first two are of */
    const char *compare;              /* BODY_ASKED: how the first one compares */
    int window, bound; /* BODY_ASKED: how many elements a pass asks; what is compared with */
};

/* A program whose kernel `k` reads x (peek 8) and writes y, i32 both. */
void body_write(struct body_writer *w, uint64_t seed, enum body_style style);

enum { BODY_VARIABLES = 160, BODY_ITEMS = 8 };

struct body_run {
    const struct kernel *kernel;
    struct scalar_value locals[BODY_VARIABLES][BODY_ITEMS], kept[4][BODY_ITEMS];
    int32_t packets[8];
    uint64_t appended;
    uint32_t
        launched; /* an event is the number of its launch; of even ones nothing has been appended */
    int fuel, depth; /* depth: of calls */
    bool first_test; /* the test in front of a loop is being evaluated */
    struct scalar_value returned;
    jmp_buf fault;
    /* Called before and after every evaluation, before every statement (of a loop: after each of its
     * rounds), and of accesses that are outside; or NULL. */
    void (*enter)(struct body_run *x, const struct kx *e);
    void (*leave)(struct body_run *x, const struct kx *e, struct scalar_value value);
    void (*statement)(struct body_run *x, const struct ks *s);
    void (*outside)(struct body_run *x, const struct kx *at);
    /* Called after the arguments of a launch, and where `done` has evaluated its event; or NULL. */
    void (*timed)(struct body_run *x);
};

/* The zero of all states, then `init`. */
void body_begin_states(struct body_run *x);
void body_execute(struct body_run *x, const struct ks *code);

#endif
