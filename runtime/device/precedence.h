/* SPDX-License-Identifier: MIT */
/*
 * precedence: which launch has the compute units where queues of different importance share them,
 * from moment to moment (lang/time.md, "Importance").
 *
 * A launch is *present* from its enqueuing to its end.  Of two present launches whose sub-devices
 * share a compute unit the more important one comes first, of equal ones the one enqueued first.  A
 * launch *holds* its compute units while all that come before it there have ended and all that come
 * behind it have yielded.
 *
 * A launch that holds its compute units when one comes that goes before it begins no further
 * work-group: it yields when those that it has begun have ended.  What was left to do is done when
 * it holds them again: first a switch, then the rest of each part.  A *piece* is what a launch does
 * between begin and yield, or end.
 *
 * So the future of the device follows from what is present, as long as nothing arrives; arrivals
 * come in order of time.  prt_precedence_next plays it from piece to piece up to a moment; at that
 * moment itself nothing begins, so that what arrives then is seen first.
 *
 * Requires: of a claim that arrives: queue, stage, left; at a moment that has been played up to.
 * Ownership: claims and lines are freed by prt_precedence_free; queues are the caller's.
 * Work: of each piece, one look at each pair of queues that share compute units.
 * Thread-safety: the scheduler thread's.  Allocation: the calls that return PRT_E_NOMEM.
 */
#ifndef RUNTIME_DEVICE_PRECEDENCE_H
#define RUNTIME_DEVICE_PRECEDENCE_H

#include "runtime/device/launch_time.h"

struct prt_piece {
    uint64_t begin_cycles, end_cycles;
    struct prt_timing_parts parts;
    uint64_t compute_cycles, memory_cycles; /* what the executing took for each */
    uint64_t first, count;                  /* warps; firings, where these follow each other */
    bool resumed;                           /* not the launch's first one */
    bool interrupted;                       /* not its last one */
    bool switched;                          /* the compute units are its stage's in the end */
};

struct prt_claim {
    uint32_t queue;
    uint64_t stage;
    struct prt_launch_work left;

    /* precedence's own */
    struct prt_piece piece;  /* the present one; when the claim is told, the one that has ended */
    uint64_t number;         /* in order of enqueuing */
    uint64_t serial_cycles;  /* where firings follow each other: of all of them */
    uint64_t done;           /* warps or firings */
    uint32_t behind;         /* in its queue */
    uint64_t compute_cycles; /* of all, if it is not interrupted; once it has begun */
    bool begun, holds;
    bool yields; /* its piece has been cut short, or ends by itself before it would be */
};

#define PRT_NO_CLAIM UINT32_MAX

struct prt_claim_line { /* of a queue: those that are present, in order */
    uint32_t first, last;
};

struct prt_precedence {
    struct prt_queue_table *queues;
    const struct devdesc *description;
    struct prt_timing_cu *cus; /* scratch: one for each compute unit */
    struct prt_claim *claims;  /* by the caller's numbers */
    struct prt_claim_line *lines;
    uint32_t line_count;
    uint32_t present;
    uint64_t arrivals;
    uint64_t now_cycles;
};

/* A line for each queue there is. */
enum prt_status prt_precedence_queues(struct prt_precedence *precedence);
/* Claims 0 to count - 1, none of them present. */
enum prt_status prt_precedence_claims(struct prt_precedence *precedence, uint32_t count);
void prt_precedence_free(struct prt_precedence *precedence);

/* The claim is enqueued now: at `now_cycles`. */
void prt_precedence_arrive(struct prt_precedence *precedence, uint32_t claim);

/* Plays up to the next moment, at most `until`, at which a piece ends, and says whose; of several at
 * once that of the launch enqueued first.  False: none ends by then; now is `until`, but for
 * UINT64_MAX. */
bool prt_precedence_next(struct prt_precedence *precedence, uint64_t until, uint32_t *claim);

/* What each compute unit of the claim's queue has computed in its piece. */
void prt_precedence_place(const struct prt_precedence *precedence, const struct prt_claim *claim,
                          struct prt_timing_cu *cus, uint64_t *busy_cycles, uint32_t *busy_cus);

/* Its piece's share of what a launch has executed that takes so long below its firings. */
struct prt_launch_share prt_precedence_share(const struct prt_claim *claim,
                                             uint64_t device_queue_cycles);

/* Warps of its piece. */
uint64_t prt_precedence_warps(const struct prt_claim *claim);

#endif
