/*
 * plan_internal: what the files of plan share.
 */
#ifndef PIPEC_PLAN_INTERNAL_H
#define PIPEC_PLAN_INTERNAL_H

#include "compiler/plan/plan.h"

/* Fills the load of every stage (one for each node), in units that are the same for all. */
void plan_loads(struct arena *arena, const struct graph *graph, struct plan *plan);

/* Fills the indices of all kernels with work-items.  Requires: thresholds.  Fails: RULE_TOO_LARGE,
 * where the device cannot hold a group's. */
void plan_indices(struct compile *cx, struct arena *arena, const struct graph *graph,
                  struct plan *plan);

/* Fills how the sub-devices are made.  Requires: sub_devices, device. */
void plan_choose_partition(struct plan *plan);
/* What the CUs of one sub-device share, and those of no other: "L3 cache"; NULL: not by affinity.
 */
const char *plan_shared_by(const struct plan *plan);

/* queue_room.c: the device queue holds the launches of one firing of each kernel that launches.
 * Fails: RULE_DEVICE_QUEUE. */
void plan_check_queue(struct compile *cx, const struct graph *graph, const struct devdesc *device);

#endif
