/* SPDX-License-Identifier: MIT */
/*
 * target: all that the compiler decides by the kind of device.
 *
 * A target is a row of data: parameters for the decisions of analyses, fusion and plan, and the
 * instruction sets, each of which has its code generator. A new target is a new row in target.c and
 * perhaps a new code generator; no other module asks which kind of device it compiles for.
 */
#ifndef PIPEC_TARGET_H
#define PIPEC_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/devdesc.h"

struct code_generator; /* codegen/common/code_generator.h */
extern const struct code_generator code_generator_x86, code_generator_ptx;

/* The executor of builtin kernels. */
enum target_units {
    TARGET_UNITS_NONE,
    TARGET_UNITS_OF_DEVICE,  /* fixed-function units that the description names */
    TARGET_UNITS_IN_SOFTWARE /* the kernels of std/units.pipe */
};

struct target {
    enum target_units units;

    /* ---- costs ---- */
    bool counts_cycles; /* time is a model: kernels count the cycles that depend on data */
    uint32_t
        cycles_per_time; /* estimated cycles of kernels that take one unit of a launch's time */

    /* ---- fusion ---- */
    bool makes_strands; /* parts of blocks are computed side by side (optimize/region/strands.h) */
    uint32_t registers_a_lane; /* that a firing's scalars may take in a composite; 0: no limit */

    /* ---- plan ---- */
    bool loops_fill_lanes; /* kernels of regular rates need no threshold to fill the lanes */
    bool cuts_batches;     /* cores share a batch: only depths bound it */
    bool fills_rounds;     /* a buffer of a cycle holds a round beside its proven depth */
    /* Bytes for which a dispatch is worth its fixed cost, and which caches still hold. */
    struct target_batch {
        uint64_t port_bytes; /* of a buffer at a port of the pipeline */
        uint64_t
            inner_bytes; /* of an inner buffer, or its share of the L2 cache, if that is less, ... */
        uint64_t rows_bytes;        /* ... in place of inner_bytes if a reader has a 2-D window */
        uint64_t inner_least_bytes; /* an inner buffer gets so much whatever its share is */
        uint64_t packets_max;
        uint64_t firings_max; /* of a dispatch */
        /* Where a launch costs much, bytes, packets and firings are doubled so often at most. */
        uint32_t doublings_max;
    } batch;

    const char *instruction_sets; /* that images are made for, unless --march names others */
};

/* The target of a device; NULL is a simulated one. */
const struct target *target_of(const struct devdesc *device);

#endif
