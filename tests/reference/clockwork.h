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
    long registers; /* of a lane; 0: they do not count */
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
    long queue_first[CLOCK_STAGES], queue_cus[CLOCK_STAGES]; /* the lowest compute unit; how many */
    long cus, bytes_per_cycle;                               /* of the device; at most CLOCK_CUS */
    long cores;                  /* of a compute unit; at most CLOCK_CORES */
    long latency, in_flight;     /* cycles of an access; bytes under way of a unit, 0: any number */
    long cache_bytes, cache_cus; /* of a domain: its cache, its compute units */
    long cache_bytes_per_cycle;  /* of all caches; 0: they do not count */
    long held, residence;        /* warps on a unit, 0: any number; cycles of each at least */
    long lanes;                  /* of a warp */
    long file, file_unit;        /* registers of a unit, 0: any number; that a warp gets together */
    long file_lane;              /* registers that a lane has at most; 0: any number */
    long between;                /* from an instruction of a warp to its next one */
    bool overlap;                /* launches that do not depend on each other */
    bool shared;                 /* launches take of the bandwidth what others leave */
    long enqueue, process, cleanup; /* of a full packet */
    bool ahead;                     /* packets are processed while launches execute */
    long change;                    /* of going over to another stage */
    bool ranked;                    /* some importances differ: clock_units.h computes the time */
    long packets;                   /* that the host has for each in-port */
    long prologue;                  /* instructions before the loop */
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

/* Some compute unit of the stage is in that domain of the caches. */
static inline bool clock_touches(const struct clock_pipeline *p, const struct clock_stage *stage,
                                 long domain)
{
    for (long cu = 0; cu < p->queue_cus[stage->queue]; cu++)
        if ((p->queue_first[stage->queue] + cu) / p->cache_cus == domain) return true;
    return false;
}

static inline bool clock_has_end(const int *buffers, int count, int buffer)
{
    for (int i = 0; i < count; i++)
        if (buffers[i] == buffer) return true;
    return false;
}

/* The writer or the reader of a buffer; NULL: the host. */
static inline const struct clock_stage *clock_end_of(const struct clock_pipeline *p, int buffer,
                                                     bool writes)
{
    for (int s = 0; s < p->stage_count; s++) {
        const struct clock_stage *stage = &p->stages[s];
        if (writes ? clock_has_end(stage->outputs, stage->output_count, buffer)
                   : clock_has_end(stage->inputs, stage->input_count, buffer))
            return stage;
    }
    return (void *)0;
}

/* Of 65,536 packets, those that are written and read in one domain, if each lies in any of the writer's and
 * is read in any of the reader's.  A port has none. */
static inline long clock_met(const struct clock_pipeline *p, int buffer)
{
    const struct clock_stage *writer = clock_end_of(p, buffer, true);
    const struct clock_stage *reader = clock_end_of(p, buffer, false);
    long pairs = 0, same = 0;
    if (p->buffers[buffer].in_port || p->buffers[buffer].out_port) return 0;
    for (long d = 0; d < CLOCK_CUS; d++)
        for (long e = 0; e < CLOCK_CUS; e++) {
            bool is_pair = clock_touches(p, writer, d) && clock_touches(p, reader, e);
            pairs += is_pair;
            same += is_pair && d == e;
        }
    return 65536 * same / pairs;
}

/* Bytes of the buffer in each domain of its writer. */
static inline long clock_share(const struct clock_pipeline *p, int buffer)
{
    long bytes = p->buffers[buffer].depth * p->buffers[buffer].width_bytes, domains = 0;
    for (long d = 0; d < CLOCK_CUS; d++)
        domains += clock_touches(p, clock_end_of(p, buffer, true), d);
    return (bytes + domains - 1) / domains;
}

/* It stays if in each of these domains all shares that are no larger fit together. */
static inline bool clock_stays(const struct clock_pipeline *p, int buffer)
{
    for (long d = 0; d < CLOCK_CUS; d++) {
        long sum = 0;
        if (!clock_touches(p, clock_end_of(p, buffer, true), d)) continue;
        for (int i = 0; i < p->buffer_count; i++)
            if (clock_met(p, i) > 0 && clock_touches(p, clock_end_of(p, i, true), d) &&
                clock_share(p, i) <= clock_share(p, buffer))
                sum += clock_share(p, i);
        if (sum > p->cache_bytes) return false;
    }
    return true;
}

/* Bytes that so many firings move. */
static inline long clock_bytes(const struct clock_pipeline *p, const struct clock_stage *stage,
                               long firings)
{
    long bytes = 0;
    for (int i = 0; i < stage->input_count; i++)
        bytes += firings * stage->pops[i] * p->buffers[stage->inputs[i]].width_bytes;
    for (int i = 0; i < stage->output_count; i++)
        bytes += firings * stage->pushes[i] * p->buffers[stage->outputs[i]].width_bytes;
    return bytes;
}

/* Of these, those that come from memory or go there. */
static inline long clock_missed(const struct clock_pipeline *p, const struct clock_stage *stage,
                                long firings)
{
    long bytes = clock_bytes(p, stage, firings), one = clock_bytes(p, stage, 1), parts = 0;
    if (p->cache_bytes_per_cycle == 0 || bytes == 0) return bytes;
    for (int i = 0; i < stage->input_count + stage->output_count; i++) {
        bool reads = i < stage->input_count;
        int end = reads ? i : i - stage->input_count;
        int buffer = reads ? stage->inputs[end] : stage->outputs[end];
        long packets = reads ? stage->pops[end] : stage->pushes[end];
        if (clock_met(p, buffer) > 0 && clock_stays(p, buffer))
            parts += packets * p->buffers[buffer].width_bytes * clock_met(p, buffer);
    }
    return bytes - bytes * parts / (one * 65536);
}

static inline long clock_warps(const struct clock_stage *stage, long firings)
{
    long warps = 0;
    for (long begun = 0; begun < firings; begun += stage->state ? 1 : stage->warp_firings)
        warps++;
    return warps;
}

/* Compute units on which a launch of so many firings has warps, of `cus`. */
static inline long clock_at_work(const struct clock_stage *stage, long cus, long firings)
{
    long warps = clock_warps(stage, firings);
    if (stage->state || warps == 0) return 1;
    return warps < cus ? warps : cus;
}

/* Warps of the stage on a unit: each core gives away its registers as long as they are enough. */
static inline long clock_places(const struct clock_pipeline *p, const struct clock_stage *stage)
{
    long of_lane = stage->registers, of_warp = 0, places = 0;
    if (p->file == 0 || of_lane == 0) return p->held;
    if (p->file_lane > 0 && of_lane > p->file_lane) of_lane = p->file_lane;
    while (of_warp < of_lane * p->lanes)
        of_warp += p->file_unit;
    for (long core = 0; core < p->cores; core++)
        for (long left = p->file / p->cores; left >= of_warp; left -= of_warp)
            places++;
    if (places == 0) return 1;
    return places < p->held ? places : p->held;
}

/* Of so many warps, those that have places at first: one by one on the units in turn, while there are places. */
static inline long clock_there(const struct clock_pipeline *p, const struct clock_stage *stage,
                               long cus, long warps)
{
    const long places = clock_places(p, stage);
    long on[CLOCK_CUS] = {0}, there = 0;
    if (p->held == 0 || stage->state) return warps;
    for (long w = 0; w < warps && on[w % cus] < places; w++) {
        on[w % cus]++;
        there++;
    }
    return there;
}

/* Cycles until warps with that sum and that maximum of instructions have executed them, each with a pause after each
 * instruction, so many at a time. */
static inline long clock_pauses(const struct clock_pipeline *p, long there, long sum, long longest)
{
    long cycles = 0;
    for (long left = sum * p->between; left > 0; left -= there)
        cycles++;
    return cycles > longest * p->between ? cycles : longest * p->between;
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

/* Of the bandwidth in each cycle. */
enum { CLOCK_WHOLE_BITS = 32 };
#define CLOCK_WHOLE (1L << CLOCK_WHOLE_BITS)

struct clock_flow {
    long cycles; /* that the bytes take between the first and the last latency, by themselves */
    long share,
        left; /* where the bandwidth is shared: the maximum in a cycle; all that they take */
};

struct clock_flow clock_flow_of(const struct clock_pipeline *p, const struct clock_stage *stage,
                                long firings);

struct clock_times clock_run(const struct clock_pipeline *pipeline);

#endif
