/* SPDX-License-Identifier: MIT */
/*
 * timing: how long a launch takes, in cycles: the formulas of lang/time.md, and nothing else.  The
 * simulated GPU and the compiler's trials compute with them.
 *
 * A *warp* is a set of `lanes` work-items that a compute unit executes in lock step.  A launch on a
 * sub-device of C compute units takes
 *
 *     launch + switch + index + execute + device queue          one after the other
 *     execute = 2 x L + max(compute, flow)                      the roofline; without bytes compute
 *     memory  = 2 x L + flow, 0 without bytes; flow is the greatest of
 *               ceil(missed x D / (B x C))    share of the bandwidth B of D compute units; D is C where
 *                                             launches share it as they need it
 *               ceil(bytes x D / (K x C))     share of the caches' bandwidth K, if it counts
 *               ceil(bytes x L / (F x U)) + ceil(missed x D / (K x C))
 *                                             F bytes under way on each of U compute units at work
 *               ceil((W - N) x T / N)         N warps at a time, each for T cycles at least
 *               missed: bytes that caches do not serve; L: latency; U = min(C, W); N = min(W, R x U),
 *               R: warps that a compute unit holds; serial work has U = 1 and N = W; 0 is no limit
 *     compute = max(issue, Y x longest warp, ceil(Y x sum of the warps / N)), Y: cycles from one
 *               instruction of a warp to its next one; of serial work Y x the sum
 *     issue   = the end of the last warp, warps going in order, each to the place that is free first
 *               (of several, that of the lowest compute unit): list scheduling.  A compute unit has a
 *               place for each of its P cores.  Place p is free from cycle p on, and a warp of k cycles
 *               keeps it for P x ceil(k / P) of them.  For W warps of k cycles, with n = ceil(W / C),
 *               that is floor((n - 1) / P) x P x ceil(k / P) + (n - 1) mod P + k; with one core,
 *               n x k.  No warp is looked at
 *
 * Why places: instruction i of warp w goes to core i modulo P in cycle w + i (incremental mode,
 * lang/index_generator.md).  Of two warps that begin at different cycles modulo P, no instructions
 * meet on one core; of two that begin at the same one, they do until the first has ended.
 *
 * Firings with state, and a finish, execute one after the other on one lane of one compute unit.
 *
 * Launches that do not depend on each other may overlap: core_timing_executed.
 *
 * Theorem (monotonicity).  For a launch of independent firings, more compute units (with at least
 * the share of the bandwidth), more bandwidth, or warps that cost no more never give more cycles.
 *
 * Proof.  memory: B x C / D is the share and stands in a denominator, as do U and N, which grow with C; so does N in
 * compute, whose other terms grow with the warps.  issue: let l(1) <= ...
 * <= l(m) be the loads of m compute units, sorted, and l'(1) <= ... <= l'(m') those of m' >= m of
 * them whose warps cost p'(j) <= p(j).  Claim: before each warp l'(i) <= l(i) for i = 1..m.  At
 * first all are 0.  Warp j turns l(1) into l(1) + p(j) and l'(1) into l'(1) + p'(j), so that the m
 * numbers l'(1) + p'(j), l'(2), ..., l'(m) are one by one at most l(1) + p(j), l(2), ..., l(m),
 * thus also when both are sorted; and the m least of all m' loads are at most the m least of these.
 * Hence each warp ends at l'(1) + p'(j) <= l(1) + p(j), and so does the last one to end.  max keeps
 * the order.  (The warps have to come in the same order.)  With P cores the loads are those of places:
 * at first p for each place p of each compute unit, and a warp adds P x ceil(p(j) / P), which is
 * monotone in p(j); it ends at l(1) + p(j).  More cores can take longer, by that rounding.
 * For a whole run see lang/time.md: there it is no theorem.
 *
 * Source: list scheduling: R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J.
 * Appl. Math. 17 (1969), which also has the anomalies of dependent jobs.  Roofline: S. Williams, A.
 * Waterman, D. Patterson, "Roofline", CACM 52 (2009).
 *
 * Requires: 1 <= cu_count <= description->cu_count; cores_per_cu is 1 or more.
 * Thread-safe: no state.  Allocation: none.  Errors: none; sums and products beyond 64 bits are
 * UINT64_MAX.
 */
#ifndef CORE_TIME_TIMING_H
#define CORE_TIME_TIMING_H

#include "lang/devdesc.h"

#include <stdbool.h>
#include <stdint.h>

/* How firings fill warps (lang/time.md, "Cost of a kernel"): either is 1. */
struct core_warp_shape {
    uint32_t firings_per_warp, warps_per_firing;
};

/* Warps that so many firings make. */
uint64_t core_timing_warps(struct core_warp_shape shape, uint64_t firings);

/* The work of a launch. */
struct core_timing_work {
    uint64_t warps;
    uint64_t warp_cycles;  /* of each warp */
    const uint64_t *each;  /* of warp i: each[i]; NULL: all cost `warp_cycles` */
    bool serial;           /* one warp after the other, on one compute unit */
    uint64_t memory_bytes; /* read from and written to buffers */
    uint64_t cached_bytes; /* of those, what the caches serve */
    uint32_t resident;     /* warps that a compute unit holds; 0: any number */
};

/* Of a compute unit, for a kernel. */
struct core_timing_room {
    uint64_t local_bytes; /* of a work-group; 0: none */
    uint32_t registers;   /* of a work-item; 0: not known */
};

/* Warps of a kernel that a compute unit holds at a time: as many as the description says, and as whole work-groups as have
 * room, at least one.  0: any number. */
uint32_t core_timing_resident(const struct devdesc *description, struct core_warp_shape shape,
                              struct core_timing_room room);

/* How the bytes of a launch draw on the bandwidth of the device. */
#define CORE_TIMING_WHOLE (UINT64_C(1) << 32)
struct core_timing_flow {
    uint64_t cycles; /* that they take by themselves */
    /* Of CORE_TIMING_WHOLE, what they take of the bandwidth in each of these cycles; 0: of a share of its own, which others
     * do not touch. */
    uint64_t share;
};

struct core_timing_execution {
    uint64_t issue_cycles; /* compute without the latency of instructions */
    uint64_t compute_cycles, memory_cycles;
    uint64_t both_ways_cycles; /* of memory, the latency of the first bytes and of the last ones */
    struct core_timing_flow flow; /* of memory, the rest */
    uint64_t execute_cycles;      /* these, and the greater of compute and the rest of memory */
    uint64_t busy_cycles;         /* of all compute units together, while they compute */
    uint32_t busy_cus;            /* those that get a warp: the lowest ones of the sub-device */
};

/* A compute unit of the sub-device, and while warps are assigned, a place of one. */
struct core_timing_cu {
    uint64_t busy_cycles; /* the end of its last warp, from the begin of the execution on */
    uint64_t free_cycles; /* of a place: when the next warp can begin */
    uint64_t warps;
    uint32_t number; /* within the sub-device */
};

/* Time of the work on `cu_count` compute units of the device.  `cus` has room for all cores of these
 * and receives the work of each compute unit, in order of their numbers; it may be NULL where `each`
 * is NULL or the work is serial. */
struct core_timing_execution core_timing_execute(const struct devdesc *description,
                                                 uint32_t cu_count,
                                                 const struct core_timing_work *work,
                                                 struct core_timing_cu *cus);

/* The same figures, faster, without the work of each compute unit.  `scratch` has room as `cus` has;
 * it may be NULL where `cus` may be. */
struct core_timing_execution core_timing_execute_in_all(const struct devdesc *description,
                                                        uint32_t cu_count,
                                                        const struct core_timing_work *work,
                                                        struct core_timing_cu *scratch);

/* An interruption of work that is not serial: the warps that have begun by then, with the others of
 * their work-groups, and the end of the last of them. */
struct core_timing_cut {
    uint64_t warps, cycles;
};

/* Interrupts `at_cycles` after the begin; `group_warps` (1..) warps are a work-group, and the first of
 * them is the first warp of the work.  `cus` as in core_timing_execute_in_all. */
struct core_timing_cut core_timing_cut(const struct devdesc *description, uint32_t cu_count,
                                       const struct core_timing_work *work, uint32_t group_warps,
                                       uint64_t at_cycles, struct core_timing_cu *cus);

/* Cycles that the bytes of the work take to and from memory. */
uint64_t core_timing_memory(const struct devdesc *description, uint32_t cu_count,
                            const struct core_timing_work *work);

/* Of those, the latency of the first bytes and of the last ones: 0 without bytes. */
uint64_t core_timing_both_ways(const struct devdesc *description,
                               const struct core_timing_work *work);

/* Of the rest of memory time, the cycles by themselves and the part of the bandwidth, 2^32 x m / cycles rounded up: m is what
 * the bandwidths of memory and caches ask for, the greater. */
struct core_timing_flow core_timing_flow_of(const struct devdesc *description, uint32_t cu_count,
                                            const struct core_timing_work *work);

/* When the first bytes have come of an execution that begins at `start_cycles`. */
uint64_t core_timing_there(uint64_t start_cycles, const struct core_timing_execution *execution);

/* The end of an execution whose first bytes have come at `there_cycles` and the last ones at `flowed_cycles` (0: none).
 * Compute units issue the instructions of one launch of a queue after those of another:
 *     issued' = max(there, issued) + issue
 *     end     = L + max(there + compute, issued', flowed)        without bytes L is 0 here */
uint64_t core_timing_executed(uint64_t there_cycles, const struct core_timing_execution *execution,
                              uint64_t flowed_cycles, uint64_t *issued_cycles);

/* The parts of a launch, in order. */
struct core_timing_parts {
    uint64_t launch_cycles; /* enqueue and processing, as far as this launch pays for them */
    uint64_t switch_cycles; /* the compute units switch from another stage */
    uint64_t index_cycles;  /* until the first indices are generated */
    uint64_t execute_cycles;
    uint64_t device_queue_cycles; /* kernels that it has launched */
    uint64_t cleanup_cycles;      /* release scope, completion signal */
};

/* The end of a launch that begins at `begin_cycles`. */
uint64_t core_timing_end(uint64_t begin_cycles, const struct core_timing_parts *parts);

/* Saturating arithmetic for sums of cycles. */
static inline uint64_t core_cycles_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t core_cycles_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
