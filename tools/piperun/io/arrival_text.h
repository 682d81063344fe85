/* SPDX-License-Identifier: MIT */
/*
 * arrival_text: rates and lists of arrivals as the command line gives them (arrive= of a port).
 *
 *     RATE   N, or N/N, packets a second, with or without a unit: Hz kHz MHz GHz.  N is decimal: 44.1
 *     list   a line for each arrival: TIME COUNT.  TIME is a whole number of cycles, or a decimal number of ns us ms s,
 *            rounded up to a cycle.  Blank lines are skipped; `#` begins a comment
 *
 * Thread-safety: no state.  Text is untrusted; all arithmetic is exact or refused.
 * Errors: PRT_E_OPEN, PRT_E_READ: the file; PRT_E_FORMAT: its text, with the line; PRT_E_NOMEM.
 */
#ifndef TOOLS_PIPERUN_IO_ARRIVAL_TEXT_H
#define TOOLS_PIPERUN_IO_ARRIVAL_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines of a list that have an arrival. */
#define ARRIVAL_LINES_MAX ((size_t)1 << 22)

/* A rate above 0, in lowest terms.  False: `text` is none, or its terms are 2^63 or more. */
bool prt_arrival_rate_parse(const char *text, size_t length, uint64_t *packets, uint64_t *seconds);

struct prt_arrival_list {
    uint64_t *cycles, *packets;
    size_t *line_numbers; /* from 1 */
    size_t count;
};

/* Reads the file for a device of that clock, which is at most INT64_MAX.  On failure *list is empty, else free it.  The
 * order of the times is not checked. */
enum prt_status prt_arrival_list_read(const char *path, uint64_t clock_hz,
                                      struct prt_arrival_list *list, struct prt_error *error);
void prt_arrival_list_free(struct prt_arrival_list *list);

#endif
