/* SPDX-License-Identifier: MIT */
/*
 * analysis: what is proven about a graph.  Each pass reports to cx->diags and fills named fields.
 */
#ifndef PIPEC_ANALYSIS_H
#define PIPEC_ANALYSIS_H

#include "compiler/ir/graph.h"

/* bodies/operations: the size of kernels and functions.  RULE_TOO_LARGE; false after one. */
bool operations_check_bodies(struct compile *cx, const struct graph *graph);

/* bodies/range_check: proves accesses in range.
 * Fills   `check`, `element_check` of every access in kernels and functions, `may_wrap` of every
 *         operation, `unbounded` of loops.
 * Fails   RULE_OUT_OF_WINDOW, RULE_OUT_OF_RANGE where an access is certainly outside.
 * Method  abstract execution (ranges.h). */
void range_check_bodies(struct compile *cx, struct graph *graph);

/* bodies/wraps: narrow arithmetic that may wrap, and whose result is used as if it did not.
 * Requires range_check_bodies.
 * Warns   RULE_WRAPS_BEFORE_USE. */
void wraps_check_bodies(struct compile *cx, const struct graph *graph);

/* liveness/shape: rows and frames of buffers, and the windows on them.
 * Requires the rates of kernels' ports.
 * Fills   buffer->shape where it is not declared.
 * Fails   RULE_SHAPE_MISMATCH, RULE_SHAPE_MISSING, RULE_TOO_LARGE. */
void shape_infer(struct compile *cx, struct graph *graph);
/* Packets before and behind the one consumed that a firing of the port's window may see; 0 where
 * there is no shape. */
uint64_t graph_window_reach(const struct kernel_port *port, const struct graph_shape *shape);

/* bodies/amplify: how many packets a firing appends.
 * Fills   port->push (and push_least, by phase) where not declared or where the proof is narrower,
 *         port->finish_max, ks->count_proven, kernel->steps; then the ends of the graph.
 * Fails   RULE_RATE_MISMATCH where the body certainly appends another number than declared,
 *         RULE_INVALID_RATE where nothing is declared and the body shows no bound,
 *         RULE_ENDLESS_FIRING; RULE_RATE_UNPROVEN is a warning: appends are then checked while
 *         running. */
void amplify_infer_rates(struct compile *cx, struct graph *graph);

/* bodies/divergence and bodies/race: kernels with work-items (`group`).
 * Requires range_check_bodies.
 * Fills   ks->together, variable->per_item, kernel->items_leave.
 * Fails   RULE_DIVERGENT_BARRIER where some items may come to a barrier (or `stop`) that others do
 *         not, RULE_DATA_RACE where two items may touch one location between barriers, one of them
 *         writing, RULE_TOO_LARGE where the items' variables do not fit. */
void group_check_bodies(struct compile *cx, struct graph *graph);

/* bodies/cost: cycles of one firing, estimated on the typed body.
 * Fills   kernel->cost_cycles, node->cost_cycles. */
void cost_estimate(struct compile *cx, struct graph *graph);

/* liveness/rate: the repetition vector (Lee & Messerschmitt 1987), exact, in checked 64-bit
 *         arithmetic.
 * Fills   node->repetitions, node->component, graph->component_count.
 * Fails   RULE_INCONSISTENT_RATES with the balance equation that breaks and the undirected cycle,
 *         RULE_RATE_OVERFLOW. */
void rate_solve(struct compile *cx, struct graph *graph);

/* liveness/bounded: buffers of bounded rates stand where no other way leads round them.
 * Requires repetitions.
 * Fills   graph->unproven, buffer->unproven_reason where a comment accepts it.
 * Fails   RULE_LIVENESS_UNPROVEN, once for each part of the graph, with the way round hop by hop; an
 *         author may accept it, and the program then finds stalls while it runs. */
void bounded_check(struct compile *cx, struct graph *graph);

/* liveness/deadlock: a schedule exists that never waits for ever, with unbounded inner buffers.
 * Requires repetitions.
 * Fails   RULE_DEADLOCK (the cycle, who waits for what, and the least number of initial packets
 *         that cures it), RULE_LIVENESS_UNDECIDED beyond the budget. */
void deadlock_check(struct compile *cx, struct graph *graph);

/* pace/bufsize: depths.
 * Requires deadlock_check without error.
 * Fills   depth_packets and depth_min_packets of undeclared buffers, depth_reason of all,
 *         graph->memory_bytes.  The depths are sufficient for an infinite schedule, including what
 *         `finish` appends.
 * Fails   RULE_BUFFER_BELOW_BURST, RULE_INITIAL_BEYOND_DEPTH, RULE_DEPTH_TOO_SMALL (who is blocked
 *         on what, and the least depth that works), RULE_MEMORY_LIMIT, RULE_LIVENESS_UNDECIDED. */
void bufsize_assign(struct compile *cx, struct graph *graph);

/* pace/debug_depths: debug mode.
 * Requires depths without an error.
 * Fills   the depths anew, declared ones too: the least memory that is free of deadlock, where no
 *         declared depth grows; depth_declared of those that were cut, depth_reason; sets the mode
 *         of undeclared depths to --buffers=min.  Leaves a graph whose liveness is not proven as it
 *         is. */
void debug_cut_depths(struct compile *cx, struct graph *graph);

/* liveness/certify: the proof that travels with the program (lang/container.md, "Certificate").
 * Requires depths as they will be: nothing may change them afterwards.
 * Fills   graph->certificate; raises undeclared depths, and says so, where a proof for those given
 *         is too long to be written down.
 * Fails   RULE_LIVENESS_UNDECIDED, RULE_MEMORY_LIMIT. */
void certify_graph(struct compile *cx, struct graph *graph);

#endif
