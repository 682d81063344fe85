/* SPDX-License-Identifier: MIT */
/*
 * ranges_internal: declarations that the parts of ranges share: states (ranges_state.c), statements (ranges.c), loops
 * (ranges_loop.c), expressions (ranges_expr.c), calls (ranges_call.c), accesses (ranges_access.c),
 * conditions (ranges_assume.c), facts (ranges_fact.c), ties (ranges_tie.c), rounds of loops that scale a variable
 * (ranges_scaling.c), sums (ranges_sum.c).  One header because all of them work on one struct walker, and an
 * expression in any of them may need any other.
 */
#ifndef PIPEC_RANGES_INTERNAL_H
#define PIPEC_RANGES_INTERNAL_H

#include "compiler/bodies/cost_table.h"
#include "compiler/bodies/relation.h"
#include "compiler/bodies/ranges.h"

#define WALK_NO_SLOT UINT32_MAX

/* ---- facts ---- */

enum { FACT_TERMS_MAX = 3, FACTS_MAX = 8 };

/* A sum of values that are no constants, each times its factor, and a constant.  An atom is an
 * expression without effects. */
struct walk_form {
    uint32_t count;
    struct walk_term {
        const struct kx *atom;
        int64_t factor;
    } terms[FACT_TERMS_MAX];
    wide constant;
};

struct walk_fact {
    struct walk_form form; /* its constant is 0 */
    struct interval range;
};

/* ---- sums ---- */

/* Of a condition, in the execution that a walk follows. */
enum walk_truth { TRUTH_OPEN, TRUTH_NO, TRUTH_YES };

enum { SUM_DEGREE = 4 };

struct walk_product { /* of conditions, by their numbers, ascending, then 0 */
    uint32_t atoms[SUM_DEGREE];
    int64_t factor;
};

struct walk_sum {
    bool known;
    uint32_t count;
    int64_t constant;
    const struct walk_product *terms; /* in order of their conditions; never written again */
};

struct walk_node { /* a value, by its parts (ranges_sum.c); its number is its index */
    uint32_t kind, form, a, b;
    uint64_t bits;
    const void *about;
    uint32_t depth;               /* of negations and conjunctions in one another */
    const struct walk_sum *holds; /* 1 where the condition holds, else 0; NULL: not asked yet */
};

/* ---- states ---- */

struct walk_state {
    bool reachable;
    bool certain;            /* no undecided condition lies on the path to here */
    struct interval *locals; /* by slot: of integers and bools, and arrays and vectors of them */
    struct walk_count *own_counts; /* by end */
    struct walk_count *counts;     /* these, or those of the state that it is a branch of */
    struct interval *ties;         /* parallel to walker.ties */
    struct walk_sum *sums;         /* by end; where walker.sums */
    uint32_t *numbers; /* by local: of the value that it has; 0: none yet; where walker.sums */
    struct walk_fact *facts;
    uint32_t fact_count;
    struct relation relation; /* of the counts; where walker.relate */
    uint64_t cost;
    struct walk_state *next_free;
};

struct walk_flow { /* where break and continue go */
    struct walk_state *breaks, *continues;
};

struct walk_round { /* a loop around the statement; `round` from 1, 0: any */
    const struct ks *loop;
    uint64_t round;
};

struct walk_operand { /* a variable in an index, and its value there */
    const struct variable *variable;
    struct span span;
    struct interval value;
    const struct ks *loop; /* that steps it, and its round; or NULL */
    uint64_t round;
};

enum { WALK_OPERANDS_MAX = 3 };

struct walk_outside {
    unsigned char *visited;
    struct interval index;
    uint64_t length;
    uint32_t phase;
    struct span span;
    const char *what, *name;
    const struct kx *at; /* the index; or NULL */
    struct walk_operand operands[WALK_OPERANDS_MAX];
    uint32_t operand_count;
};

struct walk_narrow { /* a window that is too short for an index */
    struct diag *diag;
    const struct kx *at;
    const char *what, *name; /* as in walk_outside */
};

struct walk_constant {
    const struct variable *variable;
    struct interval range;
};

struct walk_tie {
    uint32_t end; /* WALK_NO_SLOT: none, but the value that the variable had when a round of a loop
                      of nesting `level` began */
    uint32_t slot, level;
    int64_t factor; /* end - factor x variable, or variable - its value then (factor -1) */
    /* A loop's condition `variable op bound`: end - factor x (variable - bound); else NULL */
    const struct kx *compare;
    uint32_t bound; /* its slot */
};

/* The walk through one section of a kernel.  One struct because each part of the walk reads what the others have found
 * so far. */
struct walker {
    struct compile *cx;
    struct arena *scratch;
    struct kernel *kernel;
    enum walk_section section;
    bool mark, relate, sums;
    walk_observer *observe;
    void *observer;
    uint32_t local_count, end_count;
    uint32_t phase; /* of a firing */
    /* A firing of work-items: the indices of the item are further locals, from here on. */
    uint32_t item_local;
    /* The packet at index 0 of each in-port is a further local, from here on: it does not
     * change. */
    uint32_t port_local;
    uint32_t kept_local; /* likewise `state`, then tables; WALK_NO_SLOT: not known */
    uint32_t rounds_left, settling_left;
    uint64_t
        last_round_step; /* no further round is walked by itself when so many steps were taken */
    uint32_t calls_left, call_depth;
    uint64_t jumps;        /* break, continue, return and stop walked so far */
    uint64_t exits;        /* return and stop among them */
    uint32_t fixed_points; /* nesting */
    bool settling;         /* looking for a fixed point: states may be wider than any that holds */
    struct walk_endless *endless_most; /* as in walk_result; NULL: not counted */
    struct span endless;               /* of the last loop that nothing left */
    struct walk_flow flow;
    struct walk_state *returns;
    struct walk_state *stops;  /* only its counts are of interest */
    struct interval *returned; /* of a function: its results so far; low > high: none yet */
    struct walk_state *free_states;
    const uint64_t *function_costs;
    const struct devdesc_costs *costs;
    uint64_t undecided; /* choices and loops that the walk did not decide */
    struct walk_call *calls;
    const struct walk_trace *trace;      /* of this phase, or NULL */
    VEC(const struct walk_step *) guide; /* choices that are to be made, in order */
    size_t guide_at;                     /* the next one */
    VEC(enum walk_truth) truths;         /* by the number of a condition */
    const struct walk_tie *ties;
    uint32_t tie_count;
    VEC(struct walk_node) nodes;
    uint32_t *node_slots;          /* a hash table of numbers; NULL: no node yet */
    struct walk_product *products; /* scratch space for new sums; NULL: none yet */
    uint32_t terms_kept;
    const wide *thresholds; /* ascending */
    size_t threshold_count;
    VEC(struct walk_round) rounds;    /* outermost first */
    VEC(struct walk_outside) outside; /* accesses that may turn out to be outside at every visit */
    VEC(struct walk_narrow) narrow;   /* reported at the end of the walk */
    VEC(struct walk_constant) constants; /* value ranges of constant arrays, as they are needed */
};

struct walk_state *walk_unreachable_state(struct walker *w);
struct walk_state *walk_copy_state(struct walker *w, const struct walk_state *from);
void walk_drop_state(struct walker *w, struct walk_state *s);
void walk_assign_state(const struct walker *w, struct walk_state *to,
                       const struct walk_state *from);
/* to := to or from */
void walk_join_state(const struct walker *w, struct walk_state *to, const struct walk_state *from);
void walk_charge(struct walk_state *s, uint64_t cycles);
/* A copy of `s` for the other branch of an expression, and its join into `s`, which ends the copy.  Expressions append
 * nothing: it has the counts of `s`, not a copy of them. */
struct walk_state *walk_branch(struct walker *w, const struct walk_state *s);
void walk_rejoin(struct walker *w, struct walk_state *s, struct walk_state *branch);
/* Adds a step to the paths of the traced end, if there is one. */
void walk_step(struct walker *w, struct walk_state *s, struct walk_step step);

/* Lists the choices of the path that the trace follows. */
void walk_guide_begin(struct walker *w);
/* The next choice of the path that is followed, if it is of that kind and at `stmt`, and moves past it;
 * else NULL. */
const struct walk_step *walk_guided(struct walker *w, enum walk_step_kind kind,
                                    const struct ks *stmt);

const struct walk_step *walk_step_after(struct walker *w, const struct walk_step *before,
                                        struct walk_step step);

/* Where the walk keeps the value of a variable; WALK_NO_SLOT: nowhere. */
uint32_t walk_slot(const struct walker *w, const struct variable *v);
/* The variable, or, not `whole`, a part of it, has a new value. */
void walk_set(struct walker *w, struct walk_state *s, const struct variable *v, bool whole,
              struct interval value);
/* Variables that statements and expressions may assign; `assigned` by slot. */
void walk_collect_kx(const struct walker *w, const struct kx *e, bool *assigned);
void walk_collect_ks(const struct walker *w, const struct ks *stmt, bool *assigned);

void walk_statements(struct walker *w, struct walk_state *s, struct ks *stmt);
void walk_loop(struct walker *w, struct walk_state *s, struct ks *loop);
/* `now` grown to hold `next`: up to the next threshold, or, at `last`, to anything. */
struct interval walk_widened(const struct walker *w, struct interval now, struct interval next,
                             bool last);
/* The constants that widening stops at. */
void walk_find_thresholds(struct walker *w, const struct ks *body);

/* The compilation has used up WALK_MAX_STEPS. */
static inline bool walk_is_spent(const struct walker *w)
{
    return w->cx->walk_steps >= WALK_MAX_STEPS;
}

/* The interval of the value (of an aggregate: of all its scalars; INTERVAL_ALL for other types),
 * after the side effects of the expression on `s`. */
struct interval walk_eval(struct walker *w, struct walk_state *s, struct kx *e);
/* The value of an expression in `s`, without its effects. */
struct interval walk_peek_value(struct walker *w, const struct walk_state *s, const struct kx *e);
struct interval walk_call_value(struct walker *w, struct walk_state *s, struct kx *e,
                                const struct interval *arguments);
/* Narrows `s` to executions in which `condition` was `truth`. */
void walk_assume(struct walker *w, struct walk_state *s, const struct kx *condition, bool truth);
/* The value of a condition that is about to be tested in `s`.  Continue with walk_take. */
struct interval walk_test(struct walker *w, struct walk_state *s, struct kx *condition);
/* After walk_test, in `s` or a copy of it: the condition is `truth`, with its effects. */
void walk_take(struct walker *w, struct walk_state *s, struct kx *condition, bool truth);
/* Narrows the value that `e` has by `e op bound`. */
void walk_assume_value(struct walker *w, struct walk_state *s, const struct kx *e, enum kx_op op,
                       struct interval bound);
/* The variable with a slot that `e` is, through conversions that keep every value; or NULL. */
const struct variable *walk_plain_local(const struct walker *w, const struct kx *e);
/* True if a conversion from `from` to `to` keeps every value. */
bool walk_keeps_values(const struct type *from, const struct type *to);
/* The value of an operand that has no side effects and needs no evaluation. */
bool walk_known_value(const struct walker *w, const struct walk_state *s, const struct kx *e,
                      struct interval *out);
struct interval walk_variable(const struct walker *w, const struct walk_state *s,
                              const struct kx *e);

/* ---- accesses ---- */

struct interval walk_index(struct walker *w, struct walk_state *s, struct kx *e);
struct interval walk_peek(struct walker *w, struct walk_state *s, struct kx *e);
struct interval walk_window(struct walker *w, struct walk_state *s, struct kx *e);
/* The local that stands for the packet that `e` is, or NULL. */
struct interval *walk_packet(const struct walker *w, const struct walk_state *s,
                             const struct kx *e);
/* Records one visit of an access: `check` becomes ACCESS_PROVEN if every visit is inside [0, length).
 * If a visit that certainly happens is outside, or every visit is, that is an error, reported once.
 * The range of the index `at` (NULL: there is none) is kept in it. */
void walk_mark_access(struct walker *w, const struct walk_state *s, enum access_check *check,
                      unsigned char *visited, struct interval index, uint64_t length, struct kx *at,
                      struct span span, const char *what, const char *name);
/* `what` of an index of an out-port: `y[2] = v`. */
extern const char WALK_OUT_PORT[];
/* Reports what walk_mark_access has kept for the end. */
void walk_report_outside(struct walker *w);

/* ---- facts ---- */

/* Records the facts that `left + offset op right` implies, beyond the interval of one variable.  The sum is exact. */
void walk_fact_compare(const struct walker *w, struct walk_state *s, const struct kx *left,
                       enum kx_op op, const struct kx *right, wide offset);
/* left - right, as far as it is known. */
struct interval walk_fact_difference(const struct walker *w, const struct walk_state *s,
                                     const struct kx *left, const struct kx *right);
/* How `left + offset` compares with `right`, where they are known to differ: OP_LT or OP_GT where the facts show
 * which one, else OP_NE.  The sum is exact. */
enum kx_op walk_fact_unequal(const struct walker *w, const struct walk_state *s,
                             const struct kx *left, const struct kx *right, wide offset);
/* The variable of `target` has just taken the value of `value`, which was not assigned by it.  Ties of other variables
 * that the facts relate to it hold for it too. */
void walk_fact_assigned(const struct walker *w, struct walk_state *s, const struct kx *target,
                        const struct kx *value);
/* Removes the facts about `v`. */
void walk_fact_kill(struct walk_state *s, const struct variable *v);
/* Removes the facts about each variable that the loop may assign. */
void walk_fact_kill_loop(struct walk_state *s, const struct ks *loop);
void walk_fact_join(struct walk_state *to, const struct walk_state *from);
/* `value`, which is of `e`, narrowed by the facts. */
struct interval walk_fact_value(const struct walker *w, const struct walk_state *s,
                                const struct kx *e, struct interval value);

/* ---- sums ---- */

/* The number of the value that the pure expression has in `s`: equal numbers, equal values in any one
 * execution.  0: it has none. */
uint32_t walk_number(struct walker *w, struct walk_state *s, const struct kx *e);
/* The variable has the value of that number now; 0: of none. */
void walk_sum_assigned(const struct walker *w, struct walk_state *s, const struct variable *v,
                       uint32_t number);
void walk_sum_begin(const struct walker *w, struct walk_state *s);
void walk_sum_append(const struct walker *w, struct walk_state *s, uint32_t end, bool certain);
void walk_sum_join(const struct walker *w, struct walk_state *to, const struct walk_state *from);
/* The truth of the condition of that number in the execution that a walk follows: `value`, unless earlier choices of
 * the same condition, or of those that it is made of, have decided otherwise. */
bool walk_guided_truth(struct walker *w, uint32_t number, bool value);
/* The sums where the two paths from the condition of that number meet; NULL without sums. */
struct walk_sum *walk_sum_choice(struct walker *w, uint32_t condition,
                                 const struct walk_state *taken, const struct walk_state *skipped);
/* A loop of any number of rounds begins; and is left. */
void walk_sum_enter_loop(const struct walker *w, struct walk_state *s, const struct ks *loop);
void walk_sum_leave_loop(const struct walker *w, struct walk_state *s);
/* Narrows the counters. */
void walk_sum_settle(const struct walker *w, struct walk_state *s);

/* ---- loops whose counter is multiplied or divided ---- */

/* The largest number of rounds of a loop that divides or multiplies a variable in each of them; WALK_UNBOUNDED:
 * unknown.  `in`: the state where the body begins, in any round. */
uint64_t walk_scaling_rounds(const struct walker *w, const struct ks *loop,
                             const struct walk_state *in);

/* ---- ties ---- */

/* Chooses what to tie, before the body is walked. */
void walk_tie_choose(struct walker *w, const struct ks *body);
void walk_tie_begin(const struct walker *w, struct walk_state *s);
/* A packet was appended to `end`: certainly, or perhaps. */
void walk_tie_append(const struct walker *w, struct walk_state *s, uint32_t end, bool certain);
/* The variable of `slot` is about to change by `by`, exactly, or to become `value`. */
void walk_tie_add(const struct walker *w, struct walk_state *s, uint32_t slot, struct interval by);
void walk_tie_set(const struct walker *w, struct walk_state *s, uint32_t slot,
                  struct interval value);
/* The variable of `slot` has just become  scale x the variable of `from` + offset,  exactly. */
void walk_tie_take_over(const struct walker *w, struct walk_state *s, uint32_t slot, uint32_t from,
                        int64_t scale, wide offset);
/* By how much a round of a loop of the nesting `level`, which led to `next`, has changed a variable. */
struct interval walk_tie_pace(const struct walker *w, const struct walk_state *next, uint32_t slot,
                              uint32_t level);
/* A round of a loop of the nesting `level` begins. */
void walk_tie_round(const struct walker *w, struct walk_state *s, uint32_t level);
/* How often a round like that from `in` (where its body begins) to `next` can follow on another,
 * after `entry`. */
uint64_t walk_tie_rounds(const struct walker *w, const struct walk_state *entry,
                         const struct walk_state *in, const struct walk_state *next,
                         uint32_t level);
/* The maximum of packets appended to `end` so far, by the ties; WALK_UNBOUNDED: they show none. */
uint64_t walk_tie_most(const struct walker *w, const struct walk_state *s, uint32_t end);
/* The ties of `end` show nothing any more. */
void walk_tie_forget(const struct walker *w, struct walk_state *s, uint32_t end);
/* Narrows the counters by the ties.  Only outside of fixed points: there the counters start at the
 * beginning of the firing. */
void walk_tie_settle(const struct walker *w, struct walk_state *s);

#endif
