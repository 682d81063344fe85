/* SPDX-License-Identifier: MIT */
/*
 * choose: the layout and the selection that take the shortest time, by trials.
 *
 * The candidates are the layouts of layouts.h that the device admits: in sequence, side by side, in up to
 * GROUPS_MOST groups, in as many equal groups as a level has domains, and stages with state apart.  There is one
 * candidate and no trial if others cannot be faster: with one stage, one CU, a device that does not partition by
 * counts, stages that take turns, or in debug mode.  Of more than STAGES_TRIED stages only some numbers of groups are
 * tried.  A candidate replaces an earlier one if it is faster by more than a hundredth.  So the simpler layout stays
 * if the difference is small, and domains of a cache come before other groups.
 *
 * Batches are doubled where that makes long streams faster (choose_batch.h).  Then the layouts are tried again.
 *
 * The three selections are tried on the chosen layout, unless the author has named one.  Round robin stays unless
 * another one is faster by more than a hundredth.
 *
 * Then a static schedule is tried (choose_schedule.h).
 *
 *   Requires  stages with loads, what cycles admit, the depths of the analyses.
 *   Fills     the plan as laid out, mode_reason, selection, policy_reason, schedule.
 *   Fails     as depths.c does.
 */
#ifndef PIPEC_CHOOSE_H
#define PIPEC_CHOOSE_H

#include "compiler/plan/plan_internal.h"

void plan_choose(struct placement *at);

#endif
