/* SPDX-License-Identifier: MIT */
/*
 * plan_internal: declarations that the files of plan share.
 *
 * A *layout* says which stages share which compute units.  plan_lay_out fills depths, thresholds, batches and packs from
 * it.  It is called for each layout that is tried, and last for the one that is chosen, with `is_final`: then it fills
 * reasons, and reports messages.
 */
#ifndef PIPEC_PLAN_INTERNAL_H
#define PIPEC_PLAN_INTERNAL_H

#include "compiler/plan/plan.h"

struct placement {
    struct compile *cx;
    struct graph *graph;
    const struct devdesc *device;
    struct plan *plan;
    struct arena *arena; /* scratch */
    /* By node: firings that a cycle lets be ready at once; UINT64_MAX where it is in none. */
    uint64_t *ready_max;
    bool *ready_is_bound; /* by node: it was not followed to the end, ready_max is a lower bound */
    uint32_t *component;  /* strongly connected component of each node */
    uint64_t *depths;     /* by buffer: as the analyses have left them */
    uint64_t *most;       /* by buffer: no raise goes beyond it; NULL: there is no such limit */
    uint32_t doublings;   /* of the batches of the target (choose_batch.h) */
    uint64_t inner_buffers;
    bool *shared; /* by buffer, while thresholds are filled: several queues work on it at a time */
    bool is_final;
};

/* Which stages share which sub-devices. */
struct plan_layout {
    enum plan_mode mode;
    uint32_t *sub_device; /* by stage; GRAPH_NONE: the whole device */
    uint32_t *cus;        /* by sub-device */
    uint32_t count;       /* of sub-devices */
};

/* Fills the load and the pace of every stage (one for each node), in units that are the same for
 * all. */
void plan_loads(struct arena *arena, const struct graph *graph, struct plan *plan);

/* Fills all members that follow from the layout. */
void plan_lay_out(struct placement *at, const struct plan_layout *layout);
/* Fills plan->stages, except the members that plan_lay_out fills.  Requires the device. */
void plan_stages(struct placement *at);

/* depths.c: raises depths that are not declared. */
/* The purpose of the depths that it raises: BUFFERS_DEFAULT also where the clock takes room away afterwards. */
enum buffers_mode plan_raising_mode(const struct placement *at);
void plan_raise_depths(const struct placement *at);

/* thresholds.c: fills thresholds and batches. */
void plan_thresholds(struct placement *at);
/* Compute units that a launch of the stage can use. */
uint64_t plan_stage_cus(const struct placement *at, uint32_t node);
/* Firings that fill the lanes of one core: of a kernel with work-items, its groups. */
uint64_t plan_firings_of_lanes(const struct placement *at, uint32_t node);

/* Fills the indices of all kernels with work-items, in cx->arena; `cx` NULL: in `arena`, for a trial, which reports
 * nothing.  Requires: thresholds.  Fails: RULE_TOO_LARGE,
 * where the device cannot hold a group's. */
void plan_indices(struct compile *cx, struct arena *arena, const struct graph *graph,
                  struct plan *plan);

/* Fills how the sub-devices are made.  Requires: sub_devices, device. */
void plan_choose_partition(struct plan *plan);
/* The cache or memory that the CUs of a sub-device share with no other: "L3 cache"; NULL: not by affinity. */
const char *plan_shared_by(const struct plan *plan);

/* queue_room.c: the device queue holds the launches of one firing of each kernel that launches.
 * Fails: RULE_DEVICE_QUEUE. */
void plan_check_queue(struct compile *cx, const struct graph *graph, const struct devdesc *device);

/* device_memory.c.  Before plan_indices index memory counts with the most that it can be. */
struct plan_memory plan_memory_of(const struct graph *graph, const struct plan *plan);
/* Fails: RULE_LOCAL_MEMORY. */
void plan_check_local_memory(struct compile *cx, const struct graph *graph,
                             const struct devdesc *device);

#endif
