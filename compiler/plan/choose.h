/* SPDX-License-Identifier: MIT */
/*
 * choose: the layout and the selection that take the least time, by trials.
 *
 * Candidates are the layouts of layouts.h that the device admits: in sequence, side by side, in up to
 * GROUPS_MOST groups, in as many equal groups as a level has domains, and the stateful stages apart.
 * Where nothing can be won (one stage, one CU, a device that does not partition by counts, stages that
 * take turns) there is one candidate and no trial.  Beyond STAGES_TRIED stages only some numbers of groups
 * are tried, each for a shorter time.  A candidate replaces one before it if it is faster by more than a
 * hundredth: so the plainer one stays where it does not matter, and the one whose shares are domains
 * of a cache comes before others.
 *
 * On the layout that was chosen the three selections are tried, unless the author has named one; in
 * turn stays where none is faster by more than a hundredth.
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
