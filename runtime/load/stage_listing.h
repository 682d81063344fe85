/* SPDX-License-Identifier: MIT */
/*
 * stage_listing: the meaning of the numbers in a scheduler program, as comments of its assembly: for each stage its name,
 * batches and threshold, and its ends with the packets that a firing pops, peeks and pushes.
 *
 *     # stage 0: 'scale', batches of at most 64, dispatched from 8 firings on
 *     #   input 0: 'x', in-port, 128 packets; pops 1, peeks 2
 *     #   output 0: 't', 64 packets; pushes 1
 *
 * Names are shown with anything that could end a comment replaced: the text assembles to the same
 * program with and without them.
 *
 * Requires: a container whose graph prt_verify_graph has accepted.  No state; thread-safe.  Errors:
 * those of the stream.
 */
#ifndef RUNTIME_LOAD_STAGE_LISTING_H
#define RUNTIME_LOAD_STAGE_LISTING_H

#include "runtime/load/reader.h"

#include <stdio.h>

void prt_stage_listing(FILE *to, const struct prt_container *container);

#endif
