/* SPDX-License-Identifier: MIT */
#include "core/flow.h"

void core_flow_sum(const uint64_t *rates, uint32_t phases, uint64_t *sums)
{
    sums[0] = 0;
    for (uint32_t i = 0; i < phases; i++)
        sums[i + 1] = sums[i] + rates[i];
}

/* Packets of `count` firings from `phase` on; `count` is at most the number of phases. */
static uint64_t sum_part(const uint64_t *numbers, const struct core_flow *flow, uint64_t phase,
                         uint64_t count)
{
    const uint64_t *sums = numbers + flow->sums;
    uint64_t end = phase + count;
    if (end <= flow->phases) return sums[end] - sums[phase];
    return flow->cycle - sums[phase] + sums[end - flow->phases];
}

uint64_t core_flow_total_phased(const uint64_t *numbers, const struct core_flow *flow,
                                uint64_t first, uint64_t firings)
{
    return firings / flow->phases * flow->cycle +
           sum_part(numbers, flow, first % flow->phases, firings % flow->phases);
}

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t core_flow_fits_phased(const uint64_t *numbers, const struct core_flow *flow,
                               uint64_t first, uint64_t packets, uint64_t most)
{
    uint64_t cycles = smaller_of(packets / flow->cycle, most / flow->phases);
    packets -= cycles * flow->cycle;
    uint64_t phase = first % flow->phases, more = 0;
    while (more < flow->phases && sum_part(numbers, flow, phase, more + 1) <= packets)
        more++;
    return smaller_of(cycles * flow->phases + more, most);
}

uint64_t core_take_needs(const uint64_t *numbers, const struct core_take *take, uint64_t firing)
{
    if (take->pop.phases == 1) return take->peek;
    return numbers[take->peeks + firing % take->pop.phases];
}

/* Packets that the input must hold at a firing of that phase, so that the firing `ahead` firings later sees its peek. */
static uint64_t needs_ahead(const uint64_t *numbers, const struct core_take *take, uint64_t phase,
                            uint64_t ahead)
{
    return sum_part(numbers, &take->pop, phase, ahead) +
           numbers[take->peeks + (phase + ahead) % take->pop.phases];
}

/* A firing sees no further than the one a cycle of phases later. */
uint64_t core_take_sees_phased(const uint64_t *numbers, const struct core_take *take,
                               uint64_t first, uint64_t firings)
{
    const struct core_flow *pop = &take->pop;
    uint64_t furthest = 0;
    for (uint64_t i = firings - smaller_of(firings, pop->phases); i < firings; i++) {
        uint64_t end = core_flow_total_phased(numbers, pop, first, i) +
                       core_take_needs(numbers, take, first + i);
        if (end > furthest) furthest = end;
    }
    return furthest;
}

/* Whole cycles of phases first: all firings of the last cycle must see their peeks. */
uint64_t core_take_fits_phased(const uint64_t *numbers, const struct core_take *take,
                               uint64_t first, uint64_t packets, uint64_t most)
{
    const struct core_flow *pop = &take->pop;
    uint64_t phase = first % pop->phases, highest = 0;
    for (uint64_t i = 0; i < pop->phases; i++) {
        uint64_t needs = needs_ahead(numbers, take, phase, i);
        if (needs > highest) highest = needs;
    }
    uint64_t cycles = packets < highest ? 0 : (packets - highest) / pop->cycle + 1;
    cycles = smaller_of(cycles, most / pop->phases);
    packets -= cycles * pop->cycle;
    uint64_t more = 0;
    while (more < pop->phases && needs_ahead(numbers, take, phase, more) <= packets)
        more++;
    return smaller_of(cycles * pop->phases + more, most);
}

/* The firings of the last cycle suffice: those of earlier cycles have seen no later packets. */
uint64_t core_take_seen(const uint64_t *numbers, const struct core_take *take, uint64_t next)
{
    const struct core_flow *pop = &take->pop;
    if (pop->phases == 1) return next > 0 ? take->peek - pop->cycle : 0;
    uint64_t highest = 0;
    for (uint64_t back = 1; back <= smaller_of(next, pop->phases); back++) {
        uint64_t taken = core_flow_total(numbers, pop, next - back, back);
        uint64_t seen = core_take_needs(numbers, take, next - back);
        if (seen > taken && seen - taken > highest) highest = seen - taken;
    }
    return highest;
}
