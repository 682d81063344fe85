/*
 * walk: abstract execution of a typed body, for the analyses of bodies (range, amplify, cost).
 *
 * Domain    an interval per integer local and per counter (packets appended to each end of an
 *           out-port); everything else is unknown.  Sound: what really happens is inside.
 * Loops     are executed round by round while their condition is decided (so constant loops are
 *           exact), within WALK_MAX_ROUNDS rounds a body and WALK_MAX_STEPS
 *           steps a compilation; beyond that, and for undecided
 *           conditions, by widening to a fixed point and one narrowing step; the rounds of a
 *           counting loop are then bounded by its variable's interval.
 * Costs     accumulate along the way, taking the dearer branch; an unbounded loop counts
 *           WALK_ASSUMED_ROUNDS rounds.
 * Phases    A firing of a kernel with several is walked once in each, `phase` known and the rates
 *           those of the phase; what is said of an access holds in all of them.  The cost is their
 *           mean.
 * Stop      A firing that executes `stop` does not come to its end: its packets are counted apart,
 *           for they need room until they are dropped.
 * Items     A firing of work-items is walked as that of any item, and the counters are multiplied.
 *           Where items append different numbers each is walked by itself.  What others may write
 *           (`local`, `state`) is unknown all the time.
 * Relation  on demand, what is always true between the counters (relation.h).
 * Reference Cousot & Cousot, "Abstract interpretation", POPL 1977 (interval domain, widening,
 *           narrowing).
 */
#ifndef PIPEC_WALK_H
#define PIPEC_WALK_H

#include "compiler/analysis/relation.h"
#include "compiler/graph/graph.h"

#define WALK_MAX_ROUNDS 65536u         /* executed one by one, per body */
#define WALK_MAX_PHASE_ROUNDS 1048576u /* the same, over all phases */
#define WALK_ASSUMED_ROUNDS 16u
/* Expressions evaluated, in all walks of one compilation; beyond: no round by itself, and every loop
 * forgets what it assigns, so that what is left takes a time linear in the text. */
#define WALK_MAX_STEPS (UINT64_C(100) * 1000 * 1000)
/* Fixed points inside fixed points; beyond: everything assigned is unknown. */
#define WALK_MAX_NESTING 6
#define WALK_UNBOUNDED UINT64_MAX

/* Wide enough for every 64-bit integer of either sign and one operation on two of them. */
__extension__ typedef __int128 wide;

struct interval {
    wide low, high; /* low <= high */
};

/* Is told the value of an expression wherever it is evaluated. */
typedef void walk_observer(void *data, const struct kx *e, struct interval value);

enum walk_section { WALK_FUNCTION, WALK_INIT, WALK_FIRING, WALK_FINISH };

struct walk_count { /* packets appended; most may be WALK_UNBOUNDED */
    uint64_t least, most;
};

struct walk_result {
    /* Per end of the kernel's out-ports, port arrays flattened; those of phase k begin at k x the
     * number of ends (walk_end_count).  `stopped`: appended, at most, by a firing that stops. */
    struct walk_count *counts, *stopped;
    uint64_t cost_cycles;
    /* Spanned by the counts of every firing that comes to its end, in any phase; with `relate`.  Of
     * work-items: by those of each of them. */
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
};

/* Allocates the result from `scratch`. */
struct walk_result walk_body(const struct walk_request *request, struct arena *scratch);

/* Index of the first end of out-port `port` in walk_result.counts. */
uint32_t walk_first_end(const struct kernel *kernel, uint32_t port);
uint32_t walk_end_count(const struct kernel *kernel);

#endif
