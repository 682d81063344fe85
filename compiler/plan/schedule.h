/* SPDX-License-Identifier: MIT */
/*
 * schedule: the part of a plan that a static schedule executes, and that schedule.
 *
 * An *island* is a set of stages that buffers of exact rates connect.  If it can be the whole pipeline, an in-port that
 * they read at one pace connects stages, too.  Its *round* is a looped schedule: a number of firings of one stage
 * after a number of another.  It leaves every inner buffer as it was.  It is as long as depths and batches admit, or as
 * requested, because launches are expensive.  A prologue makes once the packets that a firing sees and does not consume.
 * Guards test the outer ports, and the buffers to stages outside of the island, once a round.
 *
 * An island whose stages share one queue has one level.  Otherwise it has as many as queues follow one another, and is
 * software-pipelined: a pass of the loop executes the levels from the last to the first, each for a round of
 * its own.  So all of them work at the same time.
 *
 *   Requires  a plan whose depths, batches, sub-devices and packs are final; repetitions.
 *   Gives     NULL never: a schedule without islands says why everything is dispatched by guards.
 *             All in cx->arena; neither graph nor plan is changed.
 *   Size      of every schedule: O(stages + ends of buffers), whatever the repetition counts.
 *   Work      O((stages + buffers) x depth of the loops), and a bounded simulation of cycles.
 *
 * Sources: E. A. Lee, D. G. Messerschmitt, "Static scheduling of synchronous data flow programs for
 * digital signal processing", IEEE Trans. Computers C-36(1), 1987; S. S. Bhattacharyya, P. K.
 * Murthy, E. A. Lee, "Software synthesis from dataflow graphs", Kluwer, 1996 (looped
 * single-appearance schedules, clustering by common divisors).
 */
#ifndef PIPEC_SCHEDULE_H
#define PIPEC_SCHEDULE_H

#include "compiler/plan/plan.h"

enum schedule_op_kind {
    SCHEDULE_RUN,    /* `count` firings of `stage` */
    SCHEDULE_REPEAT, /* what follows, up to the matching SCHEDULE_AGAIN, `count` times */
    SCHEDULE_AGAIN,
};

struct schedule_op {
    enum schedule_op_kind kind;
    uint32_t stage, count;
};

enum schedule_guard_kind {
    SCHEDULE_HAS_PACKETS, /* input `port` of `stage` holds `count` packets */
    SCHEDULE_HAS_ROOM,    /* output `port` of `stage` has room for `count` packets */
    SCHEDULE_GOES_ON,     /* `stage`, which no in-port feeds, may fire `count` times more */
};

struct schedule_guard {
    enum schedule_guard_kind kind;
    uint32_t stage, port, count;
};

struct schedule_part { /* may be executed when all of its guards hold */
    const struct schedule_guard *guards;
    uint32_t guard_count;
    const struct schedule_op *ops;
    uint32_t op_count;
};

struct schedule_island {
    const uint32_t *stages; /* in the order of the round */
    uint32_t stage_count;
    struct schedule_part prologue;      /* without ops: there is nothing to prime */
    const struct schedule_part *levels; /* from the first to the last */
    uint32_t level_count;
    uint64_t firings; /* of the first stage in a round */
    uint64_t periods; /* a round has this number of times the minimum repetition counts */
};

struct schedule {
    const struct schedule_island *islands; /* none: guarded dispatch of everything */
    uint32_t island_count;
    uint32_t static_count; /* stages in islands */
    /* By stage: why it is in no island; NULL: it is. */
    const char *const *obstacles;
    const char *reason; /* one clause: why nothing or not everything is static; NULL: all is */
};

/* The length of a round.  The fastest one depends on launches, packets and batches, so a trial finds it. */
enum schedule_length {
    SCHEDULE_LONGEST, /* the largest batch decides: others are cut into launches */
    SCHEDULE_BATCHES, /* no stage has more than one launch, where the depths admit that */
    SCHEDULE_FULL_LANES, /* and that of the stage with most work fills the lanes of its compute units */
    SCHEDULE_HALVES,     /* half of the longest */
    SCHEDULE_FLAT,       /* without loops */
    SCHEDULE_LENGTHS
};

enum { SCHEDULE_NEST_MAX = 8 }; /* loops in loops; the machine admits no more */
/* Of all parts.  After each part the loader follows all buffers anew.  The size of the file bounds its work (`work` of
 * lang/container.md), which admits at least half as many again. */
enum { SCHEDULE_GUARDS_MAX = 768 };

const struct schedule *plan_schedule(struct compile *cx, const struct graph *graph,
                                     const struct plan *plan, enum schedule_length length);
/* Everything is dispatched as it is ready, for that reason: one clause. */
const struct schedule *plan_schedule_none(struct compile *cx, const struct plan *plan,
                                          const char *reason);

#endif
