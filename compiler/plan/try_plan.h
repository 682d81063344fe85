/* SPDX-License-Identifier: MIT */
/*
 * try_plan: a trial (trial.h) of the plan as it is laid out, with memory of its own.  Its time is reported as that of trials.
 *
 * plan_try
 *   Requires  and Gives: those of trial_run.
 */
#ifndef PIPEC_TRY_PLAN_H
#define PIPEC_TRY_PLAN_H

#include "compiler/plan/plan_internal.h"
#include "compiler/plan/trial.h"

struct trial plan_try(const struct placement *at, const struct schedule *schedule,
                      enum graph_policy selection, struct trial_size size);

#endif
