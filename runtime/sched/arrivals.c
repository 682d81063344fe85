/* SPDX-License-Identifier: MIT */
#include "runtime/sched/arrivals.h"

#include "lang/rational.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

enum prt_status prt_arrivals_of_rate(uint64_t clock_hz, uint64_t packets, uint64_t seconds,
                                     struct prt_arrivals *arrivals, struct prt_error *error)
{
    struct rational step;
    assert(clock_hz <= INT64_MAX);
    if (packets == 0 || seconds == 0)
        return prt_error_set(error, PRT_E_USAGE, "a rate of %" PRIu64 "/%" PRIu64 " is not above 0",
                             packets, seconds);
    if (!rational_scale((struct rational){(int64_t)clock_hz, 1}, seconds, packets, &step))
        return prt_error_set(error, PRT_E_USAGE,
                             "the rate %" PRIu64 "/%" PRIu64 " is not exact for a clock of %" PRIu64
                             " Hz: the cycles from packet to packet have no terms below 2^63",
                             packets, seconds, clock_hz);
    *arrivals = (struct prt_arrivals){.step_numerator = (uint64_t)step.numerator,
                                      .step_denominator = (uint64_t)step.denominator};
    return PRT_OK;
}

/* Is the line wrong?  Sets the error. */
static enum prt_status check_line(uint64_t cycle, uint64_t before, uint64_t packets, uint64_t sum,
                                  bool last, struct prt_error *error)
{
    if (cycle > PRT_ARRIVAL_CYCLES_MAX)
        return prt_error_set(error, PRT_E_USAGE, "cycle %" PRIu64 " is not below 2^63", cycle);
    if (cycle < before)
        return prt_error_set(error, PRT_E_USAGE,
                             "cycle %" PRIu64 " is earlier than cycle %" PRIu64
                             " of the line before",
                             cycle, before);
    if (packets == 0 && !last)
        return prt_error_set(error, PRT_E_USAGE,
                             "no packet arrives: only the last line may have 0, for the end of the "
                             "stream");
    if (packets > (uint64_t)INT64_MAX - sum)
        return prt_error_set(error, PRT_E_USAGE, "2^63 packets or more in all");
    return PRT_OK;
}

enum prt_status prt_arrivals_of_list(const uint64_t *cycles, const uint64_t *packets, size_t count,
                                     struct prt_arrivals *arrivals, size_t *line,
                                     struct prt_error *error)
{
    uint64_t sum = 0;
    *line = SIZE_MAX;
    if (count == 0) return prt_error_set(error, PRT_E_USAGE, "a list of arrivals has no line");
    struct prt_arrival_line *lines = calloc(count, sizeof *lines);
    if (lines == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        uint64_t before = i > 0 ? cycles[i - 1] : 0;
        enum prt_status status =
            check_line(cycles[i], before, packets[i], sum, i + 1 == count, error);
        if (status != PRT_OK) {
            *line = i;
            free(lines);
            return status;
        }
        sum += packets[i];
        lines[i] = (struct prt_arrival_line){cycles[i], sum};
    }
    *arrivals = (struct prt_arrivals){.lines = lines, .line_count = count};
    return PRT_OK;
}

void prt_arrivals_free(struct prt_arrivals *arrivals)
{
    free(arrivals->lines);
    arrivals->lines = NULL;
}

uint64_t prt_arrivals_cycle(const struct prt_arrivals *a, uint64_t number)
{
    if (a->step_denominator > 0) {
        wide cycles =
            ((wide)number * a->step_numerator + (a->step_denominator - 1)) / a->step_denominator;
        return cycles > PRT_ARRIVAL_CYCLES_MAX ? UINT64_MAX : (uint64_t)cycles;
    }
    size_t low = 0, high = a->line_count - 1; /* the first line that ends after it, or the last */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->lines[middle].end_packets > number)
            high = middle;
        else
            low = middle + 1;
    }
    return a->lines[low].cycles;
}

uint64_t prt_arrivals_by(const struct prt_arrivals *a, uint64_t cycle)
{
    if (a->step_denominator > 0) {
        wide packets = (wide)cycle * a->step_denominator / a->step_numerator;
        return packets >= UINT64_MAX ? UINT64_MAX : (uint64_t)packets + 1;
    }
    size_t low = 0, high = a->line_count; /* the lines before `low` have arrived */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->lines[middle].cycles <= cycle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return 0;
    return a->lines[low - 1].end_packets + (low == a->line_count);
}

bool prt_arrivals_is_past_list(const struct prt_arrivals *a, uint64_t number)
{
    return a->step_denominator == 0 && number >= a->lines[a->line_count - 1].end_packets;
}
