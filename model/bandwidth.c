/* SPDX-License-Identifier: MIT */
#include "model/bandwidth.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A launch begins a step, and its last two cycles may each begin one. */
enum { STEPS_OF_LAUNCH = 3 };

enum prt_status prt_bandwidth_reserve(struct prt_bandwidth *b, uint32_t launches)
{
    size_t capacity = (size_t)launches * STEPS_OF_LAUNCH + 1;
    if (capacity <= b->capacity) return PRT_OK;
    struct prt_bandwidth_step *steps = realloc(b->steps, capacity * sizeof *steps);
    if (steps == NULL) return PRT_E_NOMEM;
    b->steps = steps;
    b->capacity = capacity;
    return PRT_OK;
}

void prt_bandwidth_free(struct prt_bandwidth *b)
{
    free(b->steps);
    *b = (struct prt_bandwidth){0};
}

void prt_bandwidth_forget(struct prt_bandwidth *b, uint64_t before_cycles)
{
    size_t past = 0;
    if (b->count > 0 && b->steps[b->count - 1].from_cycles <= before_cycles) b->count = 0;
    while (past + 1 < b->count && b->steps[past + 1].from_cycles <= before_cycles)
        past++;
    if (past == 0) return;
    b->count -= past;
    memmove(b->steps, b->steps + past, b->count * sizeof *b->steps);
}

/* Begins a step at that moment, if none does; its index.  `from`: an index at or before it. */
static size_t begin_step(struct prt_bandwidth *b, size_t from, uint64_t cycles)
{
    size_t at = from;
    while (at < b->count && b->steps[at].from_cycles < cycles)
        at++;
    if (at < b->count && b->steps[at].from_cycles == cycles) return at;
    assert(b->count < b->capacity);
    memmove(b->steps + at + 1, b->steps + at, (b->count - at) * sizeof *b->steps);
    b->steps[at] = (struct prt_bandwidth_step){cycles, at > 0 ? b->steps[at - 1].used : 0};
    b->count++;
    return at;
}

/* Takes the rest within a step that begins with `at`, at that rate; the last cycle may need less. */
static uint64_t take_rest(struct prt_bandwidth *b, size_t at, unsigned __int128 left, uint64_t rate)
{
    uint64_t from = b->steps[at].from_cycles;
    unsigned __int128 before = (left - 1) / rate;
    if (before >= UINT64_MAX - from) return UINT64_MAX;
    uint64_t last = from + (uint64_t)before;
    (void)begin_step(b, at, last + 1);
    size_t of_last = begin_step(b, at, last);
    b->steps[of_last].used += (uint64_t)(left - before * rate);
    if (of_last > at) b->steps[at].used += rate;
    return last + 1;
}

/* The bytes flow by themselves: nothing is in use from that moment on. */
static uint64_t take_unused(struct prt_bandwidth *b, uint64_t there_cycles,
                            const struct core_timing_flow *flow)
{
    if (flow->cycles >= UINT64_MAX - there_cycles) return UINT64_MAX;
    uint64_t end = there_cycles + flow->cycles;
    if (b->count > 0 && b->steps[b->count - 1].from_cycles == there_cycles) b->count--;
    assert(b->count + 1 < b->capacity);
    b->steps[b->count++] = (struct prt_bandwidth_step){there_cycles, flow->share};
    b->steps[b->count++] = (struct prt_bandwidth_step){end, 0};
    return end;
}

uint64_t prt_bandwidth_take(struct prt_bandwidth *b, uint64_t there_cycles,
                            const struct core_timing_flow *flow)
{
    if (b->count == 0 || b->steps[b->count - 1].from_cycles <= there_cycles)
        return take_unused(b, there_cycles, flow);
    unsigned __int128 left = (unsigned __int128)flow->share * flow->cycles;
    for (size_t at = begin_step(b, 0, there_cycles);; at++) {
        struct prt_bandwidth_step *step = &b->steps[at];
        uint64_t free = CORE_TIMING_WHOLE - step->used;
        uint64_t rate = flow->share < free ? flow->share : free;
        if (at + 1 == b->count) return take_rest(b, at, left, rate);
        uint64_t cycles = step[1].from_cycles - step->from_cycles;
        unsigned __int128 taken = (unsigned __int128)rate * cycles;
        if (left <= taken) return take_rest(b, at, left, rate);
        left -= taken;
        step->used += rate;
    }
}
