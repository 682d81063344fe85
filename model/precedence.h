/* SPDX-License-Identifier: MIT */
/*
 * precedence: which launch has the compute units where queues of different importance share them,
 * from moment to moment (lang/time.md, "Importance").
 *
 * A launch is *present* from its enqueuing to its end.  Of two present launches whose sub-devices
 * share a compute unit the more important one comes first, of equal ones the one enqueued first.  A
 * launch *holds* its compute units while all launches before it there have ended and all launches
 * after it have yielded.
 *
 * When a launch arrives that precedes the holder of its compute units, the holder begins no further
 * work-group: it yields when the work-groups that have begun have ended.  It does the rest when
 * it holds the units again: first a switch, then the rest of each part.  A *piece* is the work of a
 * launch between begin and yield, or end.
 *
 * The bytes of a piece *flow* from when its first ones have come, as fast as its share says; where launches share the
 * bandwidth, only as fast as those that precede it leave bandwidth, and then its end moves when one of these begins or
 * ends to flow.
 *
 * So the future of the device follows from the present launches, as long as nothing arrives; arrivals
 * come in order of time.  prt_precedence_next plays it from piece to piece up to a moment; at that
 * moment itself nothing begins, so a launch that arrives then is seen first.
 *
 * Requires: of a claim that arrives: queue, stage, left; at a moment that has been played up to.
 * Ownership: prt_precedence_free frees claims and lines; queues are the caller's.
 * Work: for each piece, one look at each pair of queues that share compute units.
 * Thread-safety: the scheduler thread only.  Allocation: the calls that return PRT_E_NOMEM.
 */
#ifndef MODEL_PRECEDENCE_H
#define MODEL_PRECEDENCE_H

#include "model/launch_time.h"

struct prt_piece {
    uint64_t begin_cycles, end_cycles;
    struct core_timing_parts parts;
    uint64_t both_ways_cycles, compute_cycles; /* of the execution */
    uint64_t flow_cycles;                      /* in which its bytes have flowed so far */
    uint64_t first, count;                     /* warps; or firings, if these follow each other */
    bool resumed;                              /* not the launch's first piece */
    bool interrupted;                          /* not its last piece */
    bool switched;                             /* the compute units are its stage's in the end */
};

struct prt_claim {
    uint32_t queue;
    uint64_t stage;
    struct prt_launch_work left;

    /* precedence's own */
    struct prt_piece
        piece;       /* the current one; once the claim is returned, the one that has ended */
    uint64_t number; /* in order of enqueuing */
    uint64_t serial_cycles;      /* if firings follow each other: of all of them */
    uint64_t done;               /* warps or firings */
    uint32_t behind;             /* the next claim of its queue */
    uint64_t compute_cycles;     /* of all without an interruption; set when it begins */
    unsigned __int128 flow_left; /* share x cycles */
    uint64_t flow_from_cycles;   /* when the bytes of the piece begin to flow; UINT64_MAX: never */
    uint64_t flow_rate;          /* of flow_left, in each cycle by now */
    bool begun, holds;
    bool handed; /* its compute units have it: enqueue and processing are over */
    uint64_t
        processed_cycles; /* where the processor works ahead: when its packet has been processed */
    bool yields;          /* its piece has been cut short, or ends by itself before the cut */
};

#define PRT_NO_CLAIM UINT32_MAX

struct prt_claim_line { /* the present claims of a queue, in order */
    uint32_t first, last;
};

struct prt_precedence {
    struct prt_queue_table *queues;
    const struct devdesc *description;
    struct core_timing_cu *cus; /* scratch: one for each core */
    struct prt_claim *claims;   /* by the caller's numbers */
    struct prt_claim_line *lines;
    struct prt_claim **flowing; /* scratch: one for each line */
    uint32_t line_count;
    uint32_t present;
    uint64_t arrivals;
    uint64_t now_cycles;
};

/* Makes a line for each queue. */
enum prt_status prt_precedence_queues(struct prt_precedence *precedence);
/* Makes claims 0 to count - 1, none of them present. */
enum prt_status prt_precedence_claims(struct prt_precedence *precedence, uint32_t count);
void prt_precedence_free(struct prt_precedence *precedence);

/* Enqueues the claim at `now_cycles`. */
void prt_precedence_arrive(struct prt_precedence *precedence, uint32_t claim);

/* Plays up to the next moment, at most `until`, at which a piece ends, and returns its claim; of several
 * at once that of the launch enqueued first.  False: no piece ends by then; now is `until`, unless it is
 * UINT64_MAX. */
bool prt_precedence_next(struct prt_precedence *precedence, uint64_t until, uint32_t *claim);

/* Fills the cycles that each compute unit of the claim's queue has computed in its piece. */
void prt_precedence_place(const struct prt_precedence *precedence, const struct prt_claim *claim,
                          struct core_timing_cu *cus, uint64_t *busy_cycles, uint32_t *busy_cus);

/* The piece's share of an execution that spends `device_queue_cycles` on launched firings. */
struct prt_launch_share prt_precedence_share(const struct prt_claim *claim,
                                             uint64_t device_queue_cycles);

/* Warps of its piece. */
uint64_t prt_precedence_warps(const struct prt_claim *claim);

#endif
