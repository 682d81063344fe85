/* SPDX-License-Identifier: MIT */
/*
 * arrivals: the cycle in which each packet of an in-port arrives on a simulated device (lang/time.md, "Arrivals").
 *
 * Packets are numbered from 0.  The end of a stream of n packets arrives like its packet n.
 *
 *     a rate   packet k arrives in cycle ceil(k x clock x seconds / packets), at `packets` packets in `seconds` seconds
 *     a list   each line has a cycle, and the packets that arrive in it.  The end arrives with the last line
 *
 * Units: cycles of the device's clock.
 * Ownership: prt_arrivals_free frees what a list has allocated.
 * Thread-safety: pure functions of const objects.  Allocation: only prt_arrivals_of_list.
 * Errors: PRT_E_USAGE, with the reason; PRT_E_NOMEM.  On failure `*arrivals` is unchanged.
 * Work: a rate: constant; a list: logarithmic in the lines.
 */
#ifndef RUNTIME_SCHED_ARRIVALS_H
#define RUNTIME_SCHED_ARRIVALS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Later cycles are not modelled. */
#define PRT_ARRIVAL_CYCLES_MAX ((uint64_t)INT64_MAX)

struct prt_arrival_line {
    uint64_t cycles;
    uint64_t end_packets; /* packets of this line and of those before it */
};

struct prt_arrivals {
    /* of a rate: cycles from one packet to the next, in lowest terms; denominator 0: a list */
    uint64_t step_numerator, step_denominator;
    struct prt_arrival_line *lines; /* of a list: both columns never fall */
    size_t line_count;
};

/* `packets` packets in `seconds` seconds of a clock of `clock_hz`.  Requires: clock_hz is at most INT64_MAX.
 * PRT_E_USAGE: one of the numbers is 0, or the cycles from packet to packet have no terms below 2^63. */
enum prt_status prt_arrivals_of_rate(uint64_t clock_hz, uint64_t packets, uint64_t seconds,
                                     struct prt_arrivals *arrivals, struct prt_error *error);

/* packets[i] packets arrive in cycle cycles[i].  PRT_E_USAGE, and *line is the index of the line, or SIZE_MAX: there is no line; a
 * cycle is earlier than the one before, or later than PRT_ARRIVAL_CYCLES_MAX; no packets in a line before the last
 * one; 2^63 packets or more. */
enum prt_status prt_arrivals_of_list(const uint64_t *cycles, const uint64_t *packets, size_t count,
                                     struct prt_arrivals *arrivals, size_t *line,
                                     struct prt_error *error);

void prt_arrivals_free(struct prt_arrivals *arrivals);

/* The cycle in which packet `number` arrives; UINT64_MAX: after PRT_ARRIVAL_CYCLES_MAX.  A packet that a list does not
 * name arrives like the end. */
uint64_t prt_arrivals_cycle(const struct prt_arrivals *arrivals, uint64_t number);

/* How many packets have arrived by that cycle, the end counted as one; UINT64_MAX: so many or more. */
uint64_t prt_arrivals_by(const struct prt_arrivals *arrivals, uint64_t cycle);

/* Does the list name no packet of that number? */
bool prt_arrivals_is_past_list(const struct prt_arrivals *arrivals, uint64_t number);

#endif
