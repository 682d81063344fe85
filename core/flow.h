/* SPDX-License-Identifier: MIT */
/*
 * flow: how many packets firings consume or append at an end whose rates may have several phases.
 *
 * Firing n has phase n modulo the number of phases.  Prefix sums give the total of any number of firings in O(1).
 * The number of firings that fit takes O(phases), so O(1) with one phase.  `numbers` is the table that holds the lists of
 * all ends.
 *
 * Units: packets and firings.
 * Requires: rates that the verifier accepted: the pops of a cycle of phases have a sum of 1 or more, and the packets
 *   of the largest batch of a stage fit 64 bits.
 * Thread-safety: no state.  Errors: none.
 */
#ifndef CORE_FLOW_H
#define CORE_FLOW_H

#include <stddef.h>
#include <stdint.h>

/* Packets of each firing. */
struct core_flow {
    uint64_t cycle;  /* sum over all phases; with one phase the rate of a firing */
    uint32_t phases; /* 1.. */
    uint32_t sums;   /* place of the phases + 1 prefix sums in `numbers`; unused with one phase */
};

/* Writes the prefix sums of the `phases` rates to `sums`, phases + 1 numbers. */
void core_flow_sum(const uint64_t *rates, uint32_t phases, uint64_t *sums);

/* The functions below for several phases.  The case of one phase is inline, because nearly all ends have one, and
 * each dispatch calls them several times. */
uint64_t core_flow_total_phased(const uint64_t *numbers, const struct core_flow *flow,
                                uint64_t first, uint64_t firings);
uint64_t core_flow_fits_phased(const uint64_t *numbers, const struct core_flow *flow,
                               uint64_t first, uint64_t packets, uint64_t most);

/* Packets of `firings` firings, the first of which has number `first`. */
static inline uint64_t core_flow_total(const uint64_t *numbers, const struct core_flow *flow,
                                       uint64_t first, uint64_t firings)
{
    return flow->phases == 1 ? firings * flow->cycle
                             : core_flow_total_phased(numbers, flow, first, firings);
}

/* The largest number of firings, at most `most`, whose total is at most `packets`. */
static inline uint64_t core_flow_fits(const uint64_t *numbers, const struct core_flow *flow,
                                      uint64_t first, uint64_t packets, uint64_t most)
{
    if (flow->cycle == 0) return most;
    if (flow->phases != 1) return core_flow_fits_phased(numbers, flow, first, packets, most);
    uint64_t firings = packets / flow->cycle;
    return firings < most ? firings : most;
}

/* The rates of an input: packets that a firing consumes (pop) and sees (peek). */
struct core_take {
    struct core_flow pop;
    uint64_t peek;  /* the maximum over the phases */
    uint32_t peeks; /* place of the peek of each phase in `numbers`; unused with one phase */
};

/* Packets that firing number `firing` sees. */
uint64_t core_take_needs(const uint64_t *numbers, const struct core_take *take, uint64_t firing);

uint64_t core_take_fits_phased(const uint64_t *numbers, const struct core_take *take,
                               uint64_t first, uint64_t packets, uint64_t most);

/* The largest number of firings, at most `most`, that an input with so many packets admits: each firing must see
 * its whole peek. */
static inline uint64_t core_take_fits(const uint64_t *numbers, const struct core_take *take,
                                      uint64_t first, uint64_t packets, uint64_t most)
{
    if (take->pop.phases != 1) return core_take_fits_phased(numbers, take, first, packets, most);
    if (packets < take->peek) return 0;
    uint64_t firings = (packets - (take->peek - take->pop.cycle)) / take->pop.cycle;
    return firings < most ? firings : most;
}

/* Packets of the input that `firings` firings see in all, the first of which has number `first`.  1 firing or more. */
uint64_t core_take_sees_phased(const uint64_t *numbers, const struct core_take *take,
                               uint64_t first, uint64_t firings);

static inline uint64_t core_take_sees(const uint64_t *numbers, const struct core_take *take,
                                      uint64_t first, uint64_t firings)
{
    return take->pop.phases == 1 ? take->pop.cycle * (firings - 1) + take->peek
                                 : core_take_sees_phased(numbers, take, first, firings);
}

/* Maximum number of packets that firings before number `next` have seen and not consumed. */
uint64_t core_take_seen(const uint64_t *numbers, const struct core_take *take, uint64_t next);

#endif
