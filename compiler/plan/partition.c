/* SPDX-License-Identifier: MIT */
/*
 * partition: by which scheme the sub-devices of a plan are made.
 *
 * By affinity if the shares are domains of a level, the first ones or all: then the CUs of a stage share a cache that no
 * other stage uses.  Of several levels with the same domains, the narrowest one.  Otherwise equally, if that makes the right number
 * of sub-devices, else by counts.
 */
#include "compiler/plan/plan_internal.h"

#include <inttypes.h>

/* DEVDESC_LEVELS: no level has these domains.  Some of them are enough only where caches count for time. */
static enum devdesc_level level_of_shares(const struct plan *plan)
{
    const struct devdesc *device = plan->device;
    uint32_t cus = plan->sub_devices[0], domains = device->cu_count / cus;
    if (!(device->schemes & DEVDESC_BY_AFFINITY) || plan->sub_device_count < 2 ||
        domains > device->max_sub_devices || device->cu_count % cus != 0 ||
        (plan->sub_device_count < domains && device->cache_bytes_per_cycle == 0))
        return DEVDESC_LEVELS;
    for (int level = DEVDESC_LEVELS; level-- > 0;)
        if (device->cus_per_domain[level] == cus) return (enum devdesc_level)level;
    return DEVDESC_LEVELS;
}

/* partition_equally makes as many sub-devices as fit, and at least two: only where that is the number
 * wanted. */
static bool equally_covers(const struct plan *plan)
{
    return (plan->device->schemes & DEVDESC_EQUALLY) != 0 && plan->sub_device_count >= 2 &&
           plan->device->cu_count / plan->sub_devices[0] == plan->sub_device_count;
}

void plan_choose_partition(struct plan *plan)
{
    plan->partition = PLAN_PARTITION_NONE;
    if (plan->sub_device_count == 0) return;
    plan->partition = PLAN_PARTITION_COUNTS;
    for (uint32_t i = 1; i < plan->sub_device_count; i++)
        if (plan->sub_devices[i] != plan->sub_devices[0]) return;
    plan->level = level_of_shares(plan);
    if (plan->level != DEVDESC_LEVELS)
        plan->partition = PLAN_PARTITION_AFFINITY;
    else if (equally_covers(plan))
        plan->partition = PLAN_PARTITION_EQUALLY;
}

static const char *const level_words[DEVDESC_LEVELS] = {"numa", "l4", "l3", "l2", "l1"};
static const char *const level_names[DEVDESC_LEVELS] = {"NUMA domain", "L4 cache", "L3 cache",
                                                        "L2 cache", "L1 cache"};

const char *plan_partition_text(struct arena *arena, const struct plan *plan)
{
    switch (plan->partition) {
    case PLAN_PARTITION_NONE: break;
    case PLAN_PARTITION_COUNTS: return "by-counts";
    case PLAN_PARTITION_EQUALLY:
        return arena_printf(arena, "equally %" PRIu32, plan->sub_devices[0]);
    case PLAN_PARTITION_AFFINITY:
        return arena_printf(arena, "by-affinity %s", level_words[plan->level]);
    }
    return NULL;
}

const char *plan_shared_by(const struct plan *plan)
{
    return plan->partition == PLAN_PARTITION_AFFINITY ? level_names[plan->level] : NULL;
}
