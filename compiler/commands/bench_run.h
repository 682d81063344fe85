/* SPDX-License-Identifier: MIT */
/*
 * bench_run: runs of one pipeline on several devices, and their comparison.
 *
 * A run is a process of piperun whose report is read. The times of a device are those of its fastest run.
 */
#ifndef PIPEC_BENCH_RUN_H
#define PIPEC_BENCH_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

struct bench_stage {
    const char *name;
    double busy_seconds; /* of all compute units together */
    uint64_t firings;
};

struct bench_device {
    const char *name;
    bool is_wanted; /* by name: then it is an error if it is not there */
    bool is_there;
    bool is_real;        /* else its time is simulated */
    double run_seconds;  /* from the first packet to the last */
    double host_seconds; /* of it the device waits for inputs and outputs */
    VEC(struct bench_stage) stages;
};

/* Fills in the times of `device`. `arguments`: of piperun, up to its options. Returns an exit status; reported unless it is
 * EXIT_DONE. A device that is not there, and not wanted by name, is no error. */
int bench_run(struct arena *arena, struct bench_device *device, const char *const *arguments,
              size_t argument_count, unsigned rounds);
void bench_print_text(FILE *to, struct arena *arena, const struct bench_device *devices,
                      size_t count);
/* The array "devices". */
struct json;
void bench_put_json(struct json *json, const struct bench_device *devices, size_t count);

#endif
