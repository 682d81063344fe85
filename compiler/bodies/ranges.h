/* SPDX-License-Identifier: MIT */
/*
 * ranges: abstract execution of a typed body, for the analyses of bodies (range_check, amplify,
 * cost).
 *
 * Domain    an interval per integer variable (of an array or vector: of all its elements) and per
 *           counter (packets appended to each end of an out-port); everything else is unknown.
 *           Sound: the values of every real execution are inside.
 * Kept      `state` and tables are variables like others: their values before any firing are an
 *           inductive invariant over firings (ranges_kept.c).
 * Facts     linear relations between values that follow from conditions and assignments, as
 *           `i + j < n`
 *           (ranges_fact.c).
 * Ties      with `ties`: the interval of (packets appended - factor x counter), for counters
 *           that loops count by constants (ranges_tie.c).
 * Sums      with `ties`: packets appended as a polynomial over conditions, so that two tests of
 *           the same condition are known to agree (ranges_sum.c).
 * Calls     of functions with an integer result are walked with the values of their arguments,
 *           WALK_CALLS a body and WALK_CALL_DEPTH deep (ranges_call.c); past that, any value.
 * Loops     are executed round by round while their condition is decided (so constant loops are
 *           exact), within WALK_MAX_ROUNDS rounds and WALK_MAX_ROUND_STEPS steps a walk, and
 *           WALK_MAX_STEPS steps a compilation.  A loop that an undecided `break`, `return` or
 *           `stop` may have left is executed for WALK_MAX_OPEN_ROUNDS more rounds, as its condition
 *           need not bound its rounds.
 *           Past that, and for undecided conditions, by widening (to the constants that conditions
 *           compare with, then to any value) to a fixed point and one narrowing step; the interval
 *           of the variable then bounds the rounds of a counting loop.
 * Costs     accumulate along the path, with the dearer branch of each choice; an unbounded loop counts
 *           WALK_ASSUMED_ROUNDS rounds.
 * Phases    A firing of a kernel with several is walked once in each, with a known `phase` and
 *           the rates of the phase.  A statement about an access holds in all phases.  The cost is
 *           their mean.
 * Stop      A firing that executes `stop` does not come to its end.  Its packets are counted
 *           separately, because they need room until they are dropped.
 * Items     A firing of work-items is walked once, for an arbitrary item, and the counters are
 *           multiplied.  If items append different numbers, each is walked by itself.  Variables
 *           that other items may write (`local`, `state`) are always unknown.
 * Relation  on demand, the affine relations that always hold between the counters (relation.h).
 * Reference Cousot & Cousot, "Abstract interpretation", POPL 1977 (interval domain, widening,
 *           narrowing); Karr, "Affine relationships among variables of a program", Acta Informatica
 *           6, 1976, and Mine, "The octagon abstract domain", HOSC 19, 2006 (ties and facts are
 *           small, chosen parts of such domains).
 */
#ifndef PIPEC_RANGES_H
#define PIPEC_RANGES_H

#include "compiler/bodies/interval.h"
#include "compiler/bodies/relation.h"
#include "compiler/ir/graph.h"

#define WALK_MAX_ROUNDS 65536u         /* executed one by one, per body */
#define WALK_MAX_PHASE_ROUNDS 1048576u /* the same, over all phases */
#define WALK_REGULAR_ROUNDS 64u        /* the same, of a kernel that is `regular` */
#define WALK_MAX_OPEN_ROUNDS 1024u     /* of one execution of a loop, after it may have been left */
#define WALK_ASSUMED_ROUNDS 16u
/* Expressions evaluated, in all walks of one compilation.  Past that, no round is walked by itself
 * and every loop forgets the variables that it assigns, so the rest takes time linear in the text. */
#define WALK_MAX_STEPS (UINT64_C(40) * 1000 * 1000)
/* Expressions evaluated in one walk of a body until no more rounds are walked one by one; and in all
 * phases of a walk together.  A kernel is walked about ten times. */
#define WALK_MAX_ROUND_STEPS (UINT64_C(1250) * 1000)
#define WALK_MAX_PHASE_ROUND_STEPS (UINT64_C(4) * 1000 * 1000)
/* Fixed points inside fixed points, and rounds to find them, per phase; past that, every assigned
 * variable is unknown. */
#define WALK_MAX_NESTING 6
#define WALK_MAX_SETTLING 2048u
#define WALK_CALLS 16384u
#define WALK_CALL_DEPTH 6u
#define WALK_UNBOUNDED UINT64_MAX

/* Receives the value of an expression at each evaluation. */
typedef void walk_observer(void *data, const struct kx *e, struct interval value);

enum walk_section { WALK_FUNCTION, WALK_INIT, WALK_FIRING, WALK_FINISH };

struct walk_step;

struct walk_count { /* packets appended; most may be WALK_UNBOUNDED */
    uint64_t least, most;
    /* With `trace`: the last step of an execution that appends so many, as the analysis sees it. */
    const struct walk_step *least_path, *most_path;
};

/* A step of an execution that concerns its packets, linked backwards. */
enum walk_step_kind {
    STEP_APPEND, /* `stmt` */
    STEP_BRANCH, /* `stmt`: an `if`; `taken`, and whether that was decided beforehand */
    STEP_CASE,   /* `stmt`: the label that the value of a switch led to */
    STEP_ROUND,  /* `stmt`: a loop begins its round number `rounds` */
    STEP_LOOP,   /* `stmt`: a loop makes up to `rounds` like `inside` (down to `before`; NULL: none)
                  */
    STEP_RETURN, /* `stmt` */
};

struct walk_step {
    const struct walk_step *before, *inside;
    enum walk_step_kind kind;
    const struct ks *stmt;
    bool taken, decided;
    uint64_t rounds, packets; /* LOOP: packets of all rounds; either may be WALK_UNBOUNDED */
};

struct walk_trace {
    uint32_t phase, end;
    /* The last step of a path that this walk follows, or NULL: outside of loops whose rounds are not
     * walked one by one, an undecided branch is taken as the path takes it.  So the number of packets
     * then shows whether one execution can make all of the path's choices. */
    const struct walk_step *guide;
};

/* The values that a function is called with; by function id. */
struct walk_call {
    bool called;
    struct interval *arguments;
};

/* The maximum that a firing appends while it is in a loop whose rounds have no bound.  The counts of a result are those of
 * firings that leave their loops. */
struct walk_endless {
    uint64_t most;
    const struct ks *loop; /* where `most` is above 0 */
};

struct walk_result {
    /* Per end of the kernel's out-ports, port arrays flattened, then of its launches; those of phase k begin at k x the
     * number of ends (walk_end_count).  `stopped`: the maximum that a firing appends if it stops.
     * With `trace`, where no firing comes to its end, `least` is above `most`. */
    struct walk_count *counts, *stopped;
    bool *returns; /* by phase: some firing comes to its end; where not, its counts are 0 */
    /* By end, in any phase. */
    struct walk_endless *endless_most;
    uint64_t cost_cycles;
    bool cost_exact; /* every execution costs that: the walk has decided every choice */
    /* With `relate`: spanned by the counts of every firing that comes to its end, in any phase; of
     * work-items, by the counts of each item. */
    struct relation *relation;
    bool ends;           /* false: no execution comes to its end (of the last phase walked) */
    bool stops;          /* some execution may stop */
    struct span endless; /* where not: the loop that is never left */
};

struct walk_request {
    struct compile *cx;
    struct kernel *kernel; /* NULL for a function */
    struct ks *body;
    uint32_t local_count;
    enum walk_section section;
    bool mark; /* set `check` and `element_check` of accesses, and report those certainly outside */
    bool relate;                    /* find walk_result.relation; up to RELATION_ENDS_MAX ends */
    const uint64_t *function_costs; /* by function id, or NULL */
    const uint32_t *item;           /* x, y, z of one work-item; NULL: of any */
    walk_observer *observe;         /* with `mark`; or NULL */
    void *observer;
    /* Look for relations between counters, conditions and appended packets: useful where intervals do
     * not show the number of packets. */
    bool ties;
    const struct walk_trace *trace;  /* keep the paths of this end in this phase; or NULL */
    struct walk_call *calls;         /* with `mark`: gathers calls; or NULL */
    const struct function *function; /* of a function; or NULL */
    const struct interval *params;   /* values of its parameters; or NULL: any */
    /* The values of `state` and tables at the beginning (walk_kept_ranges; of `init`, NULL: zero), and
     * where to join their values at the end; or NULL. */
    const struct interval *kept;
    struct interval *ending;
};

/* Allocates the result from `scratch`. */
struct walk_result walk_body(const struct walk_request *request, struct arena *scratch);

/* The values of `state`, then of tables, before every firing, in order of the kernel's lists; computed
 * once and kept with the kernel. */
const struct interval *walk_kept_ranges(struct compile *cx, struct kernel *kernel);

/* Index of the first end of out-port `port` in walk_result.counts. */
uint32_t walk_first_end(const struct kernel *kernel, uint32_t port);
/* The end that counts launches, after those of the out-ports; of a kernel that launches. */
uint32_t walk_launch_end(const struct kernel *kernel);
uint32_t walk_end_count(const struct kernel *kernel);

#endif
