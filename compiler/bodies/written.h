/* SPDX-License-Identifier: MIT */
/*
 * written: out-ports of which every firing writes every packet by index, whatever data decide.
 *
 * Packets that `y[j] = v` does not name are zero, so the windows of such ports are cleared before a firing.  Where it
 * is shown that none is left out, nothing has to be cleared.  Shown it is of statements that are always executed, in
 * loops that count from constants to constants, with indices that follow from the counters.
 */
#ifndef PIPEC_WRITTEN_H
#define PIPEC_WRITTEN_H

#include "compiler/ir/kernel.h"
#include "base/arena.h"

/* Of an out-port that is written by index.  Requires the rates of the kernel. */
bool written_wholly(struct arena *scratch, const struct kernel *kernel, uint32_t port);

#endif
