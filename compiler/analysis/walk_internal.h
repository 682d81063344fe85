/*
 * walk_internal: what walk.c (statements, loops) and walk_expr.c (expressions, intervals) share.
 */
#ifndef PIPEC_WALK_INTERNAL_H
#define PIPEC_WALK_INTERNAL_H

#include "compiler/analysis/relation.h"
#include "compiler/analysis/walk.h"

#define INTERVAL_MIN (-((wide)1 << 64))
#define INTERVAL_MAX ((wide)1 << 64)
#define INTERVAL_ALL ((struct interval){INTERVAL_MIN, INTERVAL_MAX})

struct interval interval_join(struct interval a, struct interval b);
/* Where they do not overlap: `a`. */
struct interval interval_meet(struct interval a, struct interval b);
bool interval_overlaps(struct interval a, struct interval b);
bool interval_is(struct interval a, int64_t value);
/* Certainly not zero. */
bool interval_is_true(struct interval a);
struct interval interval_of_type(const struct type *type);
struct interval interval_of_value(struct scalar_value value);
/* The exact result, not wrapped; INTERVAL_ALL where it is not known. */
struct interval interval_binary(enum kx_op op, struct interval a, struct interval b,
                                const struct type *type);

struct walk_state {
    bool reachable;
    bool certain;              /* no undecided condition lies on the way here */
    struct interval *locals;   /* by index; of scalars of integer type and bool */
    struct walk_count *counts; /* by end */
    struct relation relation;  /* of the counts; where walker.relate */
    uint64_t cost;
    struct walk_state *next_free;
};

struct walk_flow { /* where break and continue go */
    struct walk_state *breaks, *continues;
};

struct walk_outside {
    unsigned char *visited;
    struct interval index;
    uint64_t length;
    uint32_t phase;
    struct span span;
    const char *what, *name;
};

struct walk_constant {
    const struct variable *variable;
    struct interval range;
};

struct walker {
    struct compile *cx;
    struct arena *scratch;
    struct kernel *kernel;
    enum walk_section section;
    bool mark, relate;
    walk_observer *observe;
    void *observer;
    uint32_t local_count, end_count;
    uint32_t phase; /* of a firing */
    /* A firing of work-items: the indices of the item are further locals, from here on. */
    uint32_t item_local;
    /* The packet at index 0 of each in-port is a further local, from here on: it does not change. */
    uint32_t port_local;
    uint32_t rounds_left;
    uint64_t jumps;      /* break, continue, return and stop walked so far */
    int fixed_points;    /* nesting */
    struct span endless; /* of the last loop that nothing left */
    struct walk_flow flow;
    struct walk_state *returns;
    struct walk_state *stops; /* only its counts are of interest */
    struct walk_state *free_states;
    const uint64_t *function_costs;
    VEC(struct walk_outside) outside; /* accesses that may turn out to be outside at every visit */
    VEC(struct walk_constant) constants; /* value ranges of constant arrays, as they are needed */
};

/* A copy of `s` for the other branch of an expression, and its join into `s`, which ends it. */
struct walk_state *walk_branch(struct walker *w, const struct walk_state *s);
void walk_rejoin(struct walker *w, struct walk_state *s, struct walk_state *branch);
/* Reports what walk_mark_access has kept for the end. */
void walk_report_outside(struct walker *w);
void walk_charge(struct walk_state *s, uint64_t cycles);
void walk_statement(struct walker *w, struct walk_state *s, struct ks *stmt);
void walk_statements(struct walker *w, struct walk_state *s, struct ks *stmt);

/* The compilation has used up WALK_MAX_STEPS. */
static inline bool walk_is_spent(const struct walker *w)
{
    return w->cx->walk_steps >= WALK_MAX_STEPS;
}

/* True if the expression assigns anything. */
bool walk_assigns(const struct kx *e);
/* The interval of the value (INTERVAL_ALL for what has none), after the side effects of the
 * expression on `s`. */
struct interval walk_eval(struct walker *w, struct walk_state *s, struct kx *e);
/* Narrows `s` by what holds where `condition` came out as `truth`. */
void walk_assume(struct walker *w, struct walk_state *s, const struct kx *condition, bool truth);
/* The local that `e` is, through conversions that keep every value; or NULL. */
const struct variable *walk_plain_local(const struct kx *e);
/* Settles one access: `check` becomes ACCESS_PROVEN if every visit is inside [0, length).  It is an
 * error, reported once, where a visit that certainly happens is outside, or every visit is. */
void walk_mark_access(struct walker *w, const struct walk_state *s, enum access_check *check,
                      unsigned char *visited, struct interval index, uint64_t length,
                      struct span span, const char *what, const char *name);

#endif
