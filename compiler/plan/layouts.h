/* SPDX-License-Identifier: MIT */
/*
 * layouts: the ways in which stages could share the compute units of a device.
 *
 *   in sequence   every stage on the whole device
 *   side by side  each stage on a sub-device of its own.  The CUs are divided in proportion to the
 *                 load (repetitions x cost) by largest remainder, one at least for each stage; a
 *                 stateful stage gets one only, since its firings do not overlap
 *   in groups     the stages, in the order of an iteration, are cut into so many runs, each on a
 *                 sub-device of its own in sequence, so that the slowest group is as fast as can be:
 *                 a group of c CUs takes (work of stages that are not stateful) / c + (work of those
 *                 that are) + overhead of its launches.  Exact for the model, by dynamic programming
 *                 over the cuts for a given time, and bisection of the time; beyond ITEMS_MAX stages
 *                 the runs are cut between ITEMS_MAX neighbourhoods of about the same work
 *   equal groups  the same with so many CUs for each, all or some of the device's
 *   state apart   the stateful stages on few CUs of their own, by decreasing work each to the one
 *                 that has least to do so far; the others in sequence on the rest
 *
 *   Requires  loads, paces and batches of a plan in sequence; a device with two CUs at least.
 *   Gives     a layout in the scratch arena, or NULL where the device does not admit it.
 *   Work      O(stages log stages), and O(groups x ITEMS_MAX^2 x 64) for groups.
 *
 * Sources: partition of chains: S. H. Bokhari, "Partitioning problems in parallel, pipelined, and
 * distributed computing", IEEE Trans. Computers 37(1), 1988; decreasing work: R. L. Graham, "Bounds
 * on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969.
 */
#ifndef PIPEC_LAYOUTS_H
#define PIPEC_LAYOUTS_H

#include "compiler/plan/plan_internal.h"

struct plan_layout *layout_in_sequence(const struct placement *at);
struct plan_layout *layout_side_by_side(const struct placement *at);
/* `equal_cus` for each group; 0: as many as suit its work. */
struct plan_layout *layout_in_groups(const struct placement *at, uint32_t groups,
                                     uint32_t equal_cus);
struct plan_layout *layout_state_apart(const struct placement *at, uint32_t cus_for_state);
/* Stages that are stateful. */
uint32_t layout_stateful(const struct placement *at);

#endif
