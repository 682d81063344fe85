/* SPDX-License-Identifier: MIT */
#include "compiler/target/target.h"

#define KIB UINT64_C(1024)

/* Trials on the device's clock enlarge the batches (compiler/plan/choose_batch.h); these are the smallest. Ten doublings
 * make 32 MiB of 32 KiB, half of what all buffers together are given. */
static const struct target simulated = {
    .units = TARGET_UNITS_OF_DEVICE,
    .counts_cycles = true,
    .cycles_per_time = 1,
    .batch = {.port_bytes = 32 * KIB,
              .inner_bytes = 32 * KIB,
              .rows_bytes = 32 * KIB,
              .inner_least_bytes = 32 * KIB,
              .packets_max = 16384,
              .firings_max = UINT64_C(1) << 23,
              .doublings_max = 10},
    .instruction_sets = "x86-64-v3",
};

/* The processor that the runtime itself runs on. Times are nanoseconds: estimated four cycles take a core
 * one or less.
 *
 * Caches decide the batches: a packet that is written into an inner buffer should be in the core's L2 cache
 * when it is read, with everything else that a round of all stages touches. The packets of a port are
 * streamed once, and a dispatch of them should be worth cutting for several cores. Of a chain, the FM
 * receiver and the filter bank of `make bench`, 16 to 64 KiB inside and 32 to 256 KiB at ports are equal to
 * some hundredths; 1 MiB at ports costs the chain a quarter. So these are the maxima that cost nothing.
 * Stages that look at rows are not fused however light they are: 64 KiB of a picture take five
 * microseconds, which is hardly worth cutting, and only a few rows of the buffer are in the first-level
 * cache anyway. */
static const struct target host = {
    .units = TARGET_UNITS_IN_SOFTWARE,
    .counts_cycles = false,
    .cycles_per_time = 4,
    .makes_strands = true,
    .registers_a_lane = 2,
    .loops_fill_lanes = true,
    .cuts_batches = true,
    .fills_rounds = true,
    .batch = {.port_bytes = 256 * KIB,
              .inner_bytes = 64 * KIB,
              .rows_bytes = 256 * KIB,
              .inner_least_bytes = 4 * KIB,
              .packets_max = UINT64_MAX,
              .firings_max = UINT64_C(1) << 20},
    .instruction_sets = "x86-64-v3",
};

/* A GPU. Firings fill threads, so kernels need no threshold to fill lanes, and a batch is worth its dispatch when
 * it has some firings for each thread. A packet that stays in a register of a thread saves two passes over
 * device memory. A thread has 255 registers of 32 bits, 64 of which leave room for enough threads. */
static const struct target gpu = {
    .counts_cycles = false,
    .cycles_per_time = 1,
    .registers_a_lane = 64,
    .loops_fill_lanes = true,
    .cuts_batches = true,
    .batch = {.port_bytes = 4096 * KIB,
              .inner_bytes = 1024 * KIB,
              .rows_bytes = 4096 * KIB,
              .inner_least_bytes = 32 * KIB,
              .packets_max = UINT64_MAX,
              .firings_max = UINT64_C(1) << 20},
    .instruction_sets = "x86-64-v3,sm_80",
};

const struct target *target_of(const struct devdesc *device)
{
    if (device == NULL) return &simulated;
    if (device->cuda != 0) return &gpu;
    return device->host != 0 ? &host : &simulated;
}
