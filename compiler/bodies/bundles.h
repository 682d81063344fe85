/* SPDX-License-Identifier: MIT */
/*
 * bundles: outputs that a kernel always writes in step.
 *
 * Where each firing appends k x a packets to one output and k x b to another, with a k that depends
 * on the data and fixed shares a : b, the two are one stream of bundles, cut in two: their readers
 * may join again (bounded.c).  The relations come from the body (relation.h).  They hold for every
 * firing of every phase that comes to its end; a firing that stops drops its packets.  Packets that
 * `finish` appends need not be in step: no node waits for more of them (bufsize.c, "Finish").
 */
#ifndef PIPEC_BUNDLES_H
#define PIPEC_BUNDLES_H

#include "compiler/bodies/ranges.h"

/* Whether the kernel may have a bundle, so that a search for relations is useful. */
bool bundles_possible(const struct kernel *kernel);
/* Fills kernel->steps from the relation of its counts. */
void bundles_of_kernel(struct compile *cx, struct kernel *kernel, const struct relation *relation);
/* Requires rates and kernel->steps.  Fills bundle and share of the outputs.  Widens the ranges of a
 * bundle's rates until all of them stand for the same numbers of shares. */
void bundles_of_graph(struct compile *cx, struct graph *graph);

#endif
