/* SPDX-License-Identifier: MIT */
/*
 * stamped: runs an accepted container with kernels that are made up for it, on the devices that
 * execute: the simulated GPU and the host's cores with one and with several threads.
 *
 * Every byte of every packet is a function of its buffer and of its place in the stream of that
 * buffer.  A kernel compares each packet of its in-windows with that before and after it works, fills the
 * whole room of its out-windows with other bytes, and stamps the packets that it appends.  How many
 * these are is drawn from the number of the firing, within the rates.  So the following ends the
 * process with a message:
 *   - a window at the wrong place of its stream: packets lost, doubled, or in another order
 *   - room for a firing that overlaps packets that are still read or room that is still claimed
 *   - a window that is shorter than the container says (with a sanitizer, or by what it overwrites)
 *   - a firing that is executed twice or not at all, or, of a stateful kernel, out of order
 *   - a run that an accepted program must not end with
 *   - other packets at an out-port, or another number of them, on another device
 *
 * Packets of kernels that launch others are not compared, but for those at out-ports between
 * devices.  Of 2-D windows that wrap the packets that firings consume are compared.
 *
 * One run at a time.
 */
#ifndef TESTS_FUZZ_STAMPED_H
#define TESTS_FUZZ_STAMPED_H

#include "runtime/load/reader.h"

#include <stdbool.h>

struct stamped_options {
    const char *text;            /* printed with a finding; NULL: nothing */
    uint64_t packets_in;         /* that come in at each in-port */
    uint64_t piece;              /* at most so many at a time; 0: any number */
    uint64_t firings;            /* of a source at most */
    uint64_t stop_after;         /* firings of a node that may stop */
    uint64_t interrupt_at;       /* packets that have gone out; UINT64_MAX: never */
    unsigned alarm_milliseconds; /* interrupted then; 0: never */
    bool may_stall;              /* its author accepts that */
};

/* Requires: a verified container. */
void stamped_run(const struct prt_container *container, const struct stamped_options *options);

#endif
