/* SPDX-License-Identifier: MIT */
/*
 * clock_draw: pipelines for the oracle of time, drawn at random: chains with rates of their own,
 * and splits that join again; every depth, batch and threshold admits a run to the end.
 */
#ifndef TESTS_REFERENCE_CLOCK_DRAW_H
#define TESTS_REFERENCE_CLOCK_DRAW_H

#include "tests/reference/clockwork.h"

#include <stdint.h>

struct clock_random {
    uint64_t state;
};

/* low..high */
long clock_number(struct clock_random *random, long low, long high);

struct clock_device {
    long cus, cores, lanes, bytes_per_cycle;
    long enqueue, process, cleanup, change; /* cycles */
    bool ahead;                             /* packets are processed while launches execute */
    long latency, in_flight, cache_bytes, cache_cus, cache_bytes_per_cycle;
    long held, residence, between;
    bool overlap, shared;
};

/* `side_by_side`: each stage on a compute unit of its own; else all on the whole device. */
void clock_draw(struct clock_pipeline *pipeline, struct clock_random *random,
                const struct clock_device *device, bool side_by_side);

#endif
