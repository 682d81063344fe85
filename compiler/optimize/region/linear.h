/* SPDX-License-Identifier: MIT */
/*
 * linear: makes one filter of chains and split-joins of filters.  With --fast-math only, because sums are
 * computed in another order.
 *
 * A region (region.h) is *linear* if each scalar that it writes is a constant plus a sum of the scalars that it
 * reads, each times a factor that does not depend on packets (Lamb, Thies and Amarasinghe, "Linear analysis and
 * optimization of stream programs", PLDI 2003).  The factors are computed in f64 from the operations on packets.
 * A sum of products replaces these operations, with factors rounded to the type of the packets.  Factors that
 * depend on run-time arguments are a table, computed when the program starts.
 *
 * A filter with many factors, all known when compiling, works in the frequency domain if this is clearly less
 * work (overlap_save.h).  This applies to single nodes, too.
 *
 * A region consists of a node and nodes before it that write only for the region, with one buffer as input.  Of
 * all such regions, the one with the fewest operations is chosen, if it leaves out more than a quarter.
 */
#ifndef PIPEC_LINEAR_H
#define PIPEC_LINEAR_H

#include "compiler/optimize/region/dead_work.h"

/* The graph with collapsed filters, not analysed yet, its `reductions` filled; NULL if there is nothing to
 * collapse.  `in_spectra`: filters may work in the frequency domain.
 * Requires  analyse_graph without error.
 * Never reports to cx->diags. */
struct graph *linear_collapse(struct compile *cx, const struct graph *graph, bool in_spectra);

#endif
