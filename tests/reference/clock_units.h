/* SPDX-License-Identifier: MIT */
/*
 * clock_units: the compute units of an oracle of time (clockwork.h), on which a cycle passes at a
 * time, for stages of different importance: launches overtake, interrupt, yield and go on, as
 * lang/time.md says ("Importance").  Where one stands is what it has left; nothing is computed ahead.
 */
#ifndef TESTS_REFERENCE_CLOCK_UNITS_H
#define TESTS_REFERENCE_CLOCK_UNITS_H

#include "tests/reference/clockwork.h"

struct clock_launch { /* of a stage: it has one at a time */
    bool present, holds, yields, begun, on_units, ended;
    bool handed;           /* its compute units have had it after enqueue and processing */
    long number;           /* in order of coming */
    long enqueue, process; /* before the compute units have it */
    long change, behind;   /* switch and clean-up */
    /* Transfers: both ways; bytes from memory and through the caches, x the device's units; under way, x
     * the latency; units with warps. */
    long latency, missed, through, under_way, at_work;
    /* Where the bandwidth is shared instead: what it has to take, at most in a cycle, and takes in this one. */
    long flow, share, flows;
    long then, waiting,
        there; /* missed, after it was under way; warps without a place, x their time; those with one */
    long ran, begun_warps, sum, longest; /* of the warps since it has had the units: cycles */
    long first, firings, next;           /* the next one to begin */
    struct clock_cu cus[CLOCK_CUS];
};

struct clock_units {
    const struct clock_pipeline *pipeline;
    struct clock_times *times;
    struct clock_launch launches[CLOCK_STAGES];
    int last[CLOCK_STAGES]; /* of each queue: the stage on its units, -1: none yet */
    long now, count;
};

void clock_units_open(struct clock_units *units, const struct clock_pipeline *pipeline,
                      struct clock_times *times);
/* So many firings of the stage come at that moment, no earlier than what came before. */
void clock_units_enqueue(struct clock_units *u, int index, long at, long first, long firings);
/* Plays on, to that moment at least, until some launch has ended.  False: none is there. */
bool clock_units_wait(struct clock_units *units, long at);

#endif
