/* SPDX-License-Identifier: MIT */
/* The claims of bodies/ranges about random bodies, against their execution: the interval of every
 * expression, the accesses that need no check, the packets that a firing appends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/amplify.h"
#include "compiler/bodies/ranges.h"
#include "compiler/ir/arith.h"
#include "tests/unit/compile_text.h"
#include "tests/unit/random_body.h"

/* ---- what was claimed ---- */

struct claim {
    const struct kx *e;
    struct interval range;
};

enum { CLAIMS = 1 << 13 };

struct execution {
    struct body_run run; /* first, so that a callback of the run gets it */
    struct claim claims[CLAIMS];
    size_t claim_count;
    struct walk_count counts; /* of the packets of a firing */
    const char *wrong;        /* what the analysis claimed and is not so */
    const struct kx *where;
    struct scalar_value value;
};

static struct claim *claim_of(struct execution *x, const struct kx *e)
{
    size_t at = ((uintptr_t)e >> 4) * 0x9E3779B97F4A7C15u >> 40 & (CLAIMS - 1);
    while (x->claims[at].e != NULL && x->claims[at].e != e)
        at = (at + 1) & (CLAIMS - 1);
    return &x->claims[at];
}

static void keep_claim(void *data, const struct kx *e, struct interval value)
{
    struct execution *x = data;
    struct claim *c = claim_of(x, e);
    if (c->e == NULL && x->claim_count++ > CLAIMS / 2) abort();
    c->range = c->e != NULL ? interval_join(c->range, value) : value;
    c->e = e;
}

/* ---- what happens ---- */

static void wrong(struct execution *x, const char *what, const struct kx *e)
{
    if (x->wrong == NULL) {
        x->wrong = what;
        x->where = e;
    }
    longjmp(x->run.fault, 1);
}

static void check_access(struct body_run *run, const struct kx *at)
{
    struct execution *x = (struct execution *)run;
    if (at->check == ACCESS_PROVEN) wrong(x, "an access is proven and outside", at);
}

static void check_value(struct body_run *run, const struct kx *e, struct scalar_value value)
{
    struct execution *x = (struct execution *)run;
    if (run->depth > 0) return; /* claims are of the kernel's body */
    const struct claim *c = claim_of(x, e);
    wide exact = arith_as_exact(value);
    x->value = value;
    if (c->e == NULL) wrong(x, "an expression was taken to be never reached", e);
    if (exact < c->range.low || exact > c->range.high) wrong(x, "a value is outside", e);
}

/* ---- comparison ---- */

/* A run of some firings, until one faults or takes too long. */
static void run(struct execution *x, struct random *random)
{
    struct body_run *run = &x->run;
    if (setjmp(run->fault) != 0) return;
    run->fuel = 100000;
    run->depth = 1; /* no claims */
    body_begin_states(run);
    run->depth = 0;
    for (int firing = 0; firing < 6; firing++) {
        int kind = random_draw(random, 0, 3);
        for (int i = 0; i < 8; i++)
            run->packets[i] =
                kind == 0 ? random_draw(random, -1000000, 1000000) : random_draw(random, -3, 12);
        run->fuel = 5000;
        run->appended = 0;
        body_execute(run, run->kernel->body);
        if (run->appended < x->counts.least || run->appended > x->counts.most)
            wrong(x, "a firing appends another number of packets", NULL);
    }
}

/* Records the claims of the walk about every value and the packets of the body.  It asks the walk itself,
 * because a declared rate would hide its result. */
static void claim_body(struct text_compile *c, struct kernel *k, struct execution *x)
{
    struct arena *scratch = arena_create();
    struct walk_request request = {.cx = &c->cx,
                                   .kernel = k,
                                   .body = k->body,
                                   .local_count = k->local_count,
                                   .section = WALK_FIRING,
                                   .mark = true,
                                   .observe = keep_claim,
                                   .observer = x};
    x->counts = walk_body(&request, scratch).counts[0];
    request.mark = false;
    request.ties = true;
    struct walk_count tied = walk_body(&request, scratch).counts[0];
    if (tied.least > x->counts.least) x->counts.least = tied.least;
    if (tied.most < x->counts.most) x->counts.most = tied.most;
    arena_destroy(scratch);
}

static void report(const struct body_writer *w, const struct execution *x, uint64_t seed)
{
    const struct claim *c = x->where != NULL ? claim_of((struct execution *)x, x->where) : NULL;
    fprintf(stderr, "%s\n", w->text);
    if (c != NULL)
        fprintf(stderr, "'%.*s' is %lld, claimed %lld..%lld\n",
                (int)(x->where->span.end - x->where->span.begin), w->text + x->where->span.begin,
                (long long)arith_as_exact(x->value), (long long)c->range.low,
                (long long)c->range.high);
    fail_msg("seed %llu: %s (%llu packets, claimed %llu..%llu)", (unsigned long long)seed, x->wrong,
             (unsigned long long)x->run.appended, (unsigned long long)x->counts.least,
             (unsigned long long)x->counts.most);
}

struct tally {
    int programs, proven, exact;
};

static void try_program(uint64_t seed, enum body_style style, struct tally *tally)
{
    static struct body_writer w;
    static struct execution x;
    body_write(&w, seed, style);
    struct text_compile *c = text_compile(w.text);
    if (c->graph == NULL) {
        char *messages = text_compile_messages(c);
        fprintf(stderr, "%s\n%s", w.text, messages);
        fail_msg("it does not compile");
    }
    struct kernel *k = c->graph->kernels.items[0];
    memset(&x, 0, sizeof x);
    x.run.kernel = k;
    if (style == BODY_STATE) x.run.leave = check_value;
    x.run.outside = check_access;
    amplify_infer_rates(&c->cx, c->graph);
    range_check_bodies(&c->cx, c->graph);
    claim_body(c, k, &x);
    struct random random = {seed};
    for (int i = 0; i < 12 && x.wrong == NULL; i++)
        run(&x, &random);
    if (x.wrong != NULL) report(&w, &x, seed);
    tally->programs++;
    tally->proven += k->out[0].count_proven;
    tally->exact += x.counts.least == x.counts.most;
    text_compile_free(c);
}

/* So many programs, or those that the environment asks for. */
static struct tally try_programs(uint64_t programs, enum body_style style)
{
    const char *count = getenv("WALK_PROGRAMS"), *from = getenv("WALK_SEED");
    uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
    if (count != NULL) programs = strtoull(count, NULL, 10);
    struct tally tally = {0};
    for (uint64_t seed = first; seed < first + programs; seed++)
        try_program(seed, style, &tally);
    return tally;
}

static void claims_hold_when_bodies_run(void **state)
{
    (void)state;
    struct tally tally = try_programs(100, BODY_STATE);
    if (tally.programs >= 100) assert_true(tally.proven > tally.programs / 3);
}

static void counts_hold_where_conditions_are_asked_again(void **state)
{
    (void)state;
    struct tally tally = try_programs(3000, BODY_ASKED);
    if (tally.programs >= 100) assert_true(tally.exact > tally.programs / 20);
}

TEST_MAIN("walk", cmocka_unit_test(claims_hold_when_bodies_run),
          cmocka_unit_test(counts_hold_where_conditions_are_asked_again))
