/* SPDX-License-Identifier: MIT */
/*
 * linear: chains and split-joins of filters become one filter.  For --fast-math only: sums are taken in
 * another order.
 *
 * A region (region.h) is *linear* where each scalar that it writes is a sum of the scalars that it reads,
 * each times a factor that no packet decides, and a constant (Lamb, Thies and Amarasinghe, "Linear
 * analysis and optimization of stream programs", PLDI 2003).  The factors follow from the operations on
 * packets, in f64; a sum of products takes their place, with factors rounded to the type of the packets.
 * Factors that arguments of the run decide are a table, computed when the program starts.
 *
 * A filter of many factors that are known when compiling works in the frequency domain, where that is
 * clearly less work (overlap_save.h); that may be one node.
 *
 * Taken together are the nodes before a node, as far as they are linear and write for it alone, where one
 * buffer goes in: of all such regions the one that leaves the fewest operations, if that leaves out more
 * than a quarter.
 */
#ifndef PIPEC_LINEAR_H
#define PIPEC_LINEAR_H

#include "compiler/optimize/region/dead_work.h"

/* The graph with filters collapsed, in the frequency domain too where `in_spectra`, not analysed yet, its `reductions` filled; NULL where there is nothing to
 * collapse.
 * Requires  analyse_graph without error.
 * Never reports to cx->diags. */
struct graph *linear_collapse(struct compile *cx, const struct graph *graph, bool in_spectra);

#endif
