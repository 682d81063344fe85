/* SPDX-License-Identifier: MIT */
/*
 * bundles: outputs that a kernel always writes in step.
 *
 * Where each firing appends k x a packets to one output and k x b to another, with a k that depends
 * on the data and fixed shares a : b, the two are one stream of bundles, cut in two: what reads
 * them may meet again (bounded.c).  Relations come of the body (relation.h), and hold for every
 * firing of every phase that comes to its end; one that stops drops its packets.  What `finish`
 * appends need not be in step: nobody waits for more of it (bufsize.c, "Finish").
 */
#ifndef PIPEC_BUNDLES_H
#define PIPEC_BUNDLES_H

#include "compiler/bodies/ranges.h"

/* Is it worth while to look for relations of the kernel? */
bool bundles_possible(const struct kernel *kernel);
/* Fills kernel->steps from the relation of its counts. */
void bundles_of_kernel(struct compile *cx, struct kernel *kernel, const struct relation *relation);
/* Requires rates and kernel->steps.  Fills bundle and share of the outputs.  Widens the ranges of a
 * bundle's rates until all of them are the same numbers of shares. */
void bundles_of_graph(struct compile *cx, struct graph *graph);

#endif
