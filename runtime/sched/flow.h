/* SPDX-License-Identifier: MIT */
/*
 * flow: how many packets firings take and give at an end whose rates may have several phases.
 *
 * A firing has the phase (its absolute number) modulo the phases.  Prefix sums make the total of
 * any number of firings O(1); how many firings fit is O(phases), and O(1) with one phase.
 *
 * Requires: rates that verify.h accepted: the sum over a cycle of pops is 1 or more, and what a
 *   batch of a stage takes or gives fits 64 bits.
 * Thread-safety: no state.  Errors: none.
 */
#ifndef RUNTIME_SCHED_FLOW_H
#define RUNTIME_SCHED_FLOW_H

#include <stddef.h>
#include <stdint.h>

/* Packets of each firing. */
struct prt_flow {
    uint64_t cycle;       /* of all phases together; of one firing where there is one phase */
    uint32_t phases;      /* 1.. */
    const uint64_t *sums; /* phases + 1 prefix sums; NULL with one phase */
};

/* Writes the prefix sums of the `phases` rates to `sums`, phases + 1 numbers. */
void prt_flow_sum(const uint64_t *rates, uint32_t phases, uint64_t *sums);

/* The functions below for several phases; one phase, which nearly all ends have, is decided in
 * line: they are asked several times a dispatch. */
uint64_t prt_flow_total_phased(const struct prt_flow *flow, uint64_t first, uint64_t firings);
uint64_t prt_flow_fits_phased(const struct prt_flow *flow, uint64_t first, uint64_t packets,
                              uint64_t most);

/* Packets of `firings` firings, the first of which has that absolute number. */
static inline uint64_t prt_flow_total(const struct prt_flow *flow, uint64_t first, uint64_t firings)
{
    return flow->phases == 1 ? firings * flow->cycle : prt_flow_total_phased(flow, first, firings);
}

/* The most firings, up to `most`, whose total is at most `packets`. */
static inline uint64_t prt_flow_fits(const struct prt_flow *flow, uint64_t first, uint64_t packets,
                                     uint64_t most)
{
    if (flow->cycle == 0) return most;
    if (flow->phases != 1) return prt_flow_fits_phased(flow, first, packets, most);
    uint64_t firings = packets / flow->cycle;
    return firings < most ? firings : most;
}

/* An input: what a firing consumes, and what it sees. */
struct prt_take {
    struct prt_flow pop;
    uint64_t peek;         /* the largest of a phase */
    const uint64_t *peeks; /* of each phase; NULL with one */
};

/* Packets that the firing of that number sees. */
uint64_t prt_take_needs(const struct prt_take *take, uint64_t firing);

uint64_t prt_take_fits_phased(const struct prt_take *take, uint64_t first, uint64_t packets,
                              uint64_t most);

/* The most firings, up to `most`, that an input holding so many packets admits: each has to see
 * what it needs. */
static inline uint64_t prt_take_fits(const struct prt_take *take, uint64_t first, uint64_t packets,
                                     uint64_t most)
{
    if (take->pop.phases != 1) return prt_take_fits_phased(take, first, packets, most);
    if (packets < take->peek) return 0;
    uint64_t firings = (packets - (take->peek - take->pop.cycle)) / take->pop.cycle;
    return firings < most ? firings : most;
}

/* Packets in front of an input that a firing before number `next` has seen, not consumed. */
uint64_t prt_take_seen(const struct prt_take *take, uint64_t next);

#endif
