/* SPDX-License-Identifier: MIT */
/*
 * clockwork: an oracle of time.  It plays a run of a small pipeline of exact rates by hand, from
 * lang/scheduler.md and lang/time.md, and shares nothing with the runtime: full packets, guarded
 * dispatch of one set in turn, each stage on a queue of its own or several on one.  Time is counted
 * cycle by cycle where a launch executes.
 */
#ifndef TESTS_REFERENCE_CLOCKWORK_H
#define TESTS_REFERENCE_CLOCKWORK_H

#include "tests/reference/clock_cus.h"

#include <stdbool.h>

enum { CLOCK_STAGES = 6, CLOCK_ENDS = 2, CLOCK_BUFFERS = 10 };

struct clock_stage {
    int input_count, output_count;
    int inputs[CLOCK_ENDS], outputs[CLOCK_ENDS]; /* buffers */
    long pops[CLOCK_ENDS], pushes[CLOCK_ENDS];
    bool state;
    bool counted; /* what a warp costs depends on its first firing: clock_counted */
    long warp_cycles, warp_firings;
    long threshold, batch_max;
    int queue; /* units that it shares with others of the same */
    long importance;
};

struct clock_buffer {
    long depth, width_bytes;
    bool in_port, out_port; /* an in-port has one reader; an inner buffer one of each */
};

struct clock_pipeline {
    int stage_count, buffer_count, queue_count;
    struct clock_stage stages[CLOCK_STAGES];
    struct clock_buffer buffers[CLOCK_BUFFERS];
    long queue_cus[CLOCK_STAGES];
    long cus, bytes_per_cycle; /* of the device; at most CLOCK_CUS */
    long cores;                /* of a compute unit; at most CLOCK_CORES */
    long latency, in_flight;   /* cycles of an access; bytes under way of a unit, 0: any number */
    long cache_bytes, cache_bytes_per_cycle; /* of all caches; 0: they do not count */
    long enqueue, process, cleanup;          /* of a full packet */
    bool ahead;                              /* packets are processed while launches execute */
    long change;                             /* of going over to another stage */
    bool ranked;   /* some importances differ: clock_units.h computes the time */
    long packets;  /* that the host has for each in-port */
    long prologue; /* instructions before the loop */
};

struct clock_times {
    long total;
    long dispatches[CLOCK_STAGES], execute[CLOCK_STAGES], changes[CLOCK_STAGES];
    long launch[CLOCK_STAGES]; /* with clean-up */
};

/* Cycles of a counted warp that begins with that firing; with state: of the firing. */
static inline long clock_counted(long firing)
{
    return 10 + firing * 7919 % 97;
}

/* An inner buffer stays in the caches if all inner ones that are no larger fit together. */
static inline bool clock_is_cached(const struct clock_pipeline *p, int buffer)
{
    const struct clock_buffer *b = &p->buffers[buffer];
    long size = b->depth * b->width_bytes, sum = 0;
    for (int i = 0; i < p->buffer_count; i++) {
        const struct clock_buffer *other = &p->buffers[i];
        long other_size = other->depth * other->width_bytes;
        if (!other->in_port && !other->out_port && other_size <= size) sum += other_size;
    }
    return p->cache_bytes_per_cycle > 0 && !b->in_port && !b->out_port && sum <= p->cache_bytes;
}

/* Bytes that so many firings move, in all or in buffers that do not stay in the caches. */
static inline long clock_bytes(const struct clock_pipeline *p, const struct clock_stage *stage,
                               long firings, bool all)
{
    long bytes = 0;
    for (int i = 0; i < stage->input_count; i++)
        if (all || !clock_is_cached(p, stage->inputs[i]))
            bytes += firings * stage->pops[i] * p->buffers[stage->inputs[i]].width_bytes;
    for (int i = 0; i < stage->output_count; i++)
        if (all || !clock_is_cached(p, stage->outputs[i]))
            bytes += firings * stage->pushes[i] * p->buffers[stage->outputs[i]].width_bytes;
    return bytes;
}

/* Compute units on which a launch of so many firings has warps, of `cus`. */
static inline long clock_at_work(const struct clock_stage *stage, long cus, long firings)
{
    long warps = 0;
    for (long begun = 0; begun < firings; begun += stage->warp_firings)
        warps++;
    if (stage->state || warps == 0) return 1;
    return warps < cus ? warps : cus;
}

/* Between stages of one queue packets change hands as launches are dispatched: they execute in that
 * order. */
bool clock_is_in_order(const struct clock_pipeline *p, int buffer);

/* Such a buffer is at the stage: its packets have a barrier. */
static inline bool clock_has_barrier(const struct clock_pipeline *p,
                                     const struct clock_stage *stage)
{
    for (int i = 0; i < stage->input_count; i++)
        if (clock_is_in_order(p, stage->inputs[i])) return true;
    for (int i = 0; i < stage->output_count; i++)
        if (clock_is_in_order(p, stage->outputs[i])) return true;
    return false;
}

struct clock_times clock_run(const struct clock_pipeline *pipeline);

#endif
