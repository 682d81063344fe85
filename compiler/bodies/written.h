/* SPDX-License-Identifier: MIT */
/*
 * written: out-ports of which every firing writes every packet by index, for all data.
 *
 * Packets that no `y[j] = v` writes are zero, so the windows of such ports are cleared before a firing.  If every
 * packet is written, nothing has to be cleared.  The proof looks at statements that are always executed, in loops that count
 * from constants to constants, with indices that follow from counters and constants.
 */
#ifndef PIPEC_WRITTEN_H
#define PIPEC_WRITTEN_H

#include "compiler/ir/kernel.h"
#include "base/arena.h"

/* Of an out-port that is written by index.  Requires the rates of the kernel. */
bool written_wholly(struct arena *scratch, const struct kernel *kernel, uint32_t port);

#endif
