/* SPDX-License-Identifier: MIT */
/*
 * lateness: how long after its input an output is there, on a simulated device where packets arrive in the course of the
 * run (lang/reports.md, "Arrivals").
 *
 * Each packet of a buffer carries the arrival of the last packet that it depends on:
 *
 *     a packet of an in-port with arrivals   the cycle of its arrival
 *     a packet that a firing appends         the latest of the packets that this firing and the ones before it saw
 *     a packet of a `finish`                 the latest of these, and of the ends of the inputs that have ended
 *
 * Packets that depend on no arrival carry none.  If the kernel decides how many packets a firing appends, all packets
 * of the launch carry the arrival of its first firing: their lateness is an upper bound.
 *
 * When packets are given to the host, their lateness is the clock less that arrival.
 *
 * Units: cycles of the device's clock.
 * Requires: a run that is measured.
 * Memory: eight bytes for each packet of depth of each inner buffer and out-port.
 * Thread-safety: the scheduler's thread.  Allocation: only at creation.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_LATENESS_H
#define RUNTIME_SCHED_LATENESS_H

#include "runtime/sched/sched.h"

struct prt_lateness;

/* Of an out-port.  0 packets: no packet of it depends on an arrival. */
struct prt_late_packets {
    uint64_t packets;
    uint64_t cycles; /* the sum over them */
    uint64_t least_cycles, most_cycles;
};

/* *lateness is NULL if the run has no in-port with arrivals. */
enum prt_status prt_lateness_create(const struct prt_sched *sched, struct prt_lateness **lateness,
                                    struct prt_error *error);
void prt_lateness_destroy(struct prt_lateness *lateness); /* NULL is allowed */

/* The stage is about to fire stage->batch times, or to finish.  Requires: its inputs are not freed yet, and no packet of
 * this launch is committed. */
void prt_lateness_dispatched(struct prt_lateness *lateness, const struct prt_sched *sched,
                             const struct core_stage *stage);
/* The stage has ended, and so have its outputs. */
void prt_lateness_ended(struct prt_lateness *lateness, const struct prt_sched *sched,
                        const struct core_stage *stage);
/* The last `packets` packets of the out-port are given to the host now. */
void prt_lateness_delivered(struct prt_lateness *lateness, const struct prt_sched *sched,
                            const struct prt_buffer *buffer, uint64_t packets);

struct prt_late_packets prt_lateness_of(const struct prt_lateness *lateness, uint32_t buffer);

#endif
