/* SPDX-License-Identifier: MIT */
/*
 * watch_sample: the state of a run at one time, for pictures of it.
 *
 * Ownership: watch_sample_create allocates the tables; names belong to the run.
 * Thread-safety: one thread at a time.  watch_sample_take is async-signal-safe.
 */
#ifndef TOOLS_PIPERUN_WATCH_WATCH_SAMPLE_H
#define TOOLS_PIPERUN_WATCH_WATCH_SAMPLE_H

#include "runtime/host/pipert.h"

/* The length of the stream of an in-port.  0: it is not known. */
struct watch_length {
    uint64_t packets;
    uint64_t bytes; /* of its file; used if the packets are not known */
};

struct watch_port {
    struct prt_buffer_moment buffer;
    bool input;
    struct watch_length whole;
    uint64_t read_bytes; /* of the file */
};

struct watch_sample {
    uint64_t time_ns; /* of any clock that never goes back */
    uint64_t cycles;  /* of the device's clock */
    struct prt_stage_moment *stages;
    struct prt_buffer_moment *buffers;
    struct watch_port *ports;
    uint32_t stage_count, buffer_count, port_count;
};

/* Tables of the size of the run's program.  False: no memory; destroy it nevertheless. */
bool watch_sample_create(struct watch_sample *sample, const struct prt_program *program);
void watch_sample_destroy(struct watch_sample *sample);

/* In a visit: everything but the time, `whole` and `read_bytes`. */
void watch_sample_take(struct watch_sample *sample, const struct prt_run *run);

/* The share of the time between two samples in which the stage was busy, in per cent; -1: it is not known. */
int watch_busy_percent(const struct watch_sample *before, const struct watch_sample *now,
                       uint32_t stage);
/* The stage that was busy longest; UINT32_MAX: it is not known. */
uint32_t watch_busiest_stage(const struct watch_sample *before, const struct watch_sample *now);
/* So many things a second, from a difference between the two; 0 if no time has passed. */
double watch_per_second(const struct watch_sample *before, const struct watch_sample *now,
                        uint64_t difference);

#endif
