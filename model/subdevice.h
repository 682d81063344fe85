/* SPDX-License-Identifier: MIT */
/* Sub-devices: partitioning a device's compute units as OpenCL 1.2+ does (clCreateSubDevices).
 *
 * A *tree* holds one root device and every sub-device made from it, directly or through others.
 * Devices are named by handles: a slot and a generation.  A handle outlives its device safely: it
 * is compared, never dereferenced.
 *
 * Requires: nothing of the description once the tree is made (it is copied).
 * Ownership: the tree owns everything; prt_device_tree_destroy ends all devices and handles for the caller.  Runs and
 *   command queues that were made on a handle keep what they use of the tree until they are destroyed.
 *   A sub-device starts with reference count 1.  At count 0 it is released: it lives on while a
 *   sub-device of it or an attachment (a queue) exists, and then goes.  Until then queries answer,
 *   with reference count 0; retain, release, attach and partition refuse it.  A caller need not
 *   retain a parent for the sake of its children.
 *   The root is never counted: retain and release accept it and change nothing.
 * Thread-safety: every function but prt_device_tree_create/_destroy may be called from any number
 *   of threads; one mutex per tree, held for the call, no callback under it.  Create and destroy
 *   need the tree to themselves.
 * Errors: a failed call changes nothing and writes to none of its out-parameters.
 * Rule: OpenCL 1.2 specification, section 4.3.
 */
#ifndef MODEL_SUBDEVICE_H
#define MODEL_SUBDEVICE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Partition properties: the values of cl_device_partition_property. */
#define PRT_PARTITION_EQUALLY INT64_C(0x1086)            /* , n, 0 */
#define PRT_PARTITION_BY_COUNTS INT64_C(0x1087)          /* , c1, c2, ..., LIST_END, 0 */
#define PRT_PARTITION_BY_COUNTS_LIST_END INT64_C(0)      /* ends the counts */
#define PRT_PARTITION_BY_AFFINITY_DOMAIN INT64_C(0x1088) /* , one PRT_AFFINITY_*, 0 */

/* Affinity domains: the values of cl_device_affinity_domain. */
#define PRT_AFFINITY_NUMA INT64_C(0x01)
#define PRT_AFFINITY_L4 INT64_C(0x02)
#define PRT_AFFINITY_L3 INT64_C(0x04)
#define PRT_AFFINITY_L2 INT64_C(0x08)
#define PRT_AFFINITY_L1 INT64_C(0x10)
#define PRT_AFFINITY_NEXT_PARTITIONABLE INT64_C(0x20)

/* Sets of schemes, for descriptions and queries. */
#define PRT_SCHEME_EQUALLY 0x1u
#define PRT_SCHEME_BY_COUNTS 0x2u
#define PRT_SCHEME_BY_AFFINITY_DOMAIN 0x4u

enum prt_affinity_level {
    PRT_LEVEL_NUMA,
    PRT_LEVEL_L4,
    PRT_LEVEL_L3,
    PRT_LEVEL_L2,
    PRT_LEVEL_L1,
    PRT_LEVEL_COUNT
};

#define PRT_DEVICE_CUS_MAX 65536u

struct prt_device_description {
    uint32_t cu_count;       /* 1 to PRT_DEVICE_CUS_MAX */
    uint32_t schemes;        /* set of PRT_SCHEME_* the device supports */
    uint32_t subdevices_max; /* maximum of sub-devices of one partition; above cu_count: cu_count */
    uint32_t live_devices_max;                /* maximum of devices alive in the tree; 0: 65536 */
    uint32_t cus_per_domain[PRT_LEVEL_COUNT]; /* CUs that share one domain; 0: level absent */
    /* Where domains are of several sizes: the number of the domain that each CU is in, from 0 on, of
     * the next CU the same or one more; copied.  NULL: as cus_per_domain says. */
    const uint32_t *domain_of_cu[PRT_LEVEL_COUNT];
};

struct prt_device_handle {
    uint32_t slot;
    uint32_t generation; /* 0 is never valid: a zeroed handle names no device */
};

struct prt_device_information {
    uint32_t first_cu, cu_count; /* its CUs are a run of the root's */
    uint32_t subdevices_max;     /* min(the root's, cu_count) */
    uint32_t schemes;         /* those that can split this device into two or more; 0: none can */
    int64_t affinity_domains; /* set of PRT_AFFINITY_* along which it can be split; with any,
                                 NEXT_PARTITIONABLE */
    uint32_t domains[PRT_LEVEL_COUNT]; /* of each level that its CUs are in; 0: no such level */
    uint32_t reference_count;          /* 1 for the root; 0: released, and something keeps it */
    uint32_t depth;                    /* 0 for the root */
    uint32_t index; /* among the sub-devices of its partition, from 0; 0 for the root */
    struct prt_device_handle parent; /* zeroed for the root; it lives as long as this device */
};

/* One step from a device down to a sub-device: the device is partitioned by `properties`, and the
 * sub-device number `index`, from 0, is the next device. */
struct prt_sub_device_step {
    const int64_t *properties;
    uint32_t index;
};

struct prt_device_tree;

/* Makes a tree with its root.  PRT_E_INVALID_VALUE: description NULL, CU count, schemes or domains
 * out of range.  PRT_E_OUT_OF_HOST_MEMORY. */
enum prt_status prt_device_tree_create(const struct prt_device_description *description,
                                       struct prt_device_tree **tree);

/* NULL is allowed.  The caller's handles are not used any more. */
void prt_device_tree_destroy(struct prt_device_tree *tree);

struct prt_device_handle prt_device_tree_root(const struct prt_device_tree *tree);

/* The number of devices alive, root and released ones included. */
size_t prt_device_tree_live(struct prt_device_tree *tree);

bool prt_device_equal(struct prt_device_handle a, struct prt_device_handle b);

/* Partitions `device` by `properties`: exactly one scheme, the list ended by 0.
 *
 *   EQUALLY n              floor(CUs / n) sub-devices of n CUs; the last CUs stay unused
 *   BY_COUNTS c1, ..., 0   one sub-device of c CUs for each count, in order, from the lowest CU on
 *   BY_AFFINITY_DOMAIN d   one sub-device for each set of CUs that share a domain of that level;
 *                          NEXT_PARTITIONABLE: the first of NUMA, L4, L3, L2, L1 with two or more
 *
 * `out_devices` NULL only counts, and `num_devices` is then ignored; else `num_devices` is its
 * length.  `num_devices_ret` may be NULL.  The list is read no further than its meaning needs: a
 * value that is refused ends the reading, and at most subdevices_max + 1 counts are read.
 *
 * PRT_E_INVALID_DEVICE                  no such device, or released
 * PRT_E_INVALID_VALUE                   properties NULL or empty; scheme or domain unknown, more
 *                                       than one, or not supported; EQUALLY n < 1; no count;
 *                                       num_devices less than the sub-devices to be made
 * PRT_E_INVALID_DEVICE_PARTITION_COUNT  EQUALLY n above the CUs; BY_COUNTS: more counts than
 *                                       subdevices_max or than CUs, a sum above the CUs, a negative
 *                                       count
 * PRT_E_DEVICE_PARTITION_FAILED         scheme supported, but: EQUALLY n, up to the CUs, that makes
 *                                       fewer than two sub-devices; by counts, one CU or a
 *                                       subdevices_max below 2; the level has one domain here
 *                                       (NEXT_PARTITIONABLE: every level has); more sub-devices
 *                                       than subdevices_max would come of it
 * PRT_E_OUT_OF_RESOURCES                live_devices_max would be passed
 * PRT_E_OUT_OF_HOST_MEMORY
 * Order of checks: the device; the scheme and its arguments; the end of the list; the scheme's own
 * conditions; num_devices; EQUALLY, more than subdevices_max; resources.  (Counts are checked as they
 * are read, so a bad count precedes a bad end of the list.)
 * Limits OpenCL leaves open: EQUALLY that would pass subdevices_max is refused, not cut short. */
enum prt_status prt_create_sub_devices(struct prt_device_tree *tree,
                                       struct prt_device_handle device, const int64_t *properties,
                                       uint32_t num_devices, struct prt_device_handle *out_devices,
                                       uint32_t *num_devices_ret);

/* PRT_E_INVALID_DEVICE: no such device, or its count is 0.  PRT_E_OUT_OF_RESOURCES: the count
 * would pass 2^32 - 1. */
enum prt_status prt_device_retain(struct prt_device_tree *tree, struct prt_device_handle device);

/* PRT_E_INVALID_DEVICE: no such device, or released as often as it was retained. */
enum prt_status prt_device_release(struct prt_device_tree *tree, struct prt_device_handle device);

/* Attaches something that executes on the device (a queue): the device stays until it is detached,
 * whatever its count.  Detach takes the handle even when the count is 0 by then.
 * PRT_E_INVALID_DEVICE: attach: as retain; detach: no such device, or nothing attached. */
enum prt_status prt_device_attach(struct prt_device_tree *tree, struct prt_device_handle device);
enum prt_status prt_device_detach(struct prt_device_tree *tree, struct prt_device_handle device);

/* Fills `*information`.  This and the other queries below answer for a released device, too, while
 * it lives.  PRT_E_INVALID_DEVICE: no such device. */
enum prt_status prt_device_query(struct prt_device_tree *tree, struct prt_device_handle device,
                                 struct prt_device_information *information);

/* The properties `device` was made with, LIST_END and final 0 included; NEXT_PARTITIONABLE is
 * replaced by the level that was taken.  The root has none: `*length` = 0.  With `properties` NULL
 * only `*length` is filled.  PRT_E_INVALID_VALUE: `capacity` (in elements) is below the length. */
enum prt_status prt_device_partition_type(struct prt_device_tree *tree,
                                          struct prt_device_handle device, int64_t *properties,
                                          size_t capacity, size_t *length);

/* Words of a CU set of `cu_count` CUs. */
static inline size_t prt_cu_set_words(uint32_t cu_count)
{
    return ((size_t)cu_count + 63) / 64;
}

static inline bool prt_cu_set_has(const uint64_t *words, uint32_t cu)
{
    return (words[cu / 64] >> (cu % 64) & 1) != 0;
}

/* Fills `words` with the device's CUs (bit n % 64 of word n / 64 is CU n of the root).
 * `word_count` is at least prt_cu_set_words(the root's CUs), else PRT_E_INVALID_VALUE; words past
 * that are zeroed. */
enum prt_status prt_device_cu_set(struct prt_device_tree *tree, struct prt_device_handle device,
                                  uint64_t *words, size_t word_count);

/* True if the two devices are alive and share a CU (a stage on one must not overlap one on the
 * other); false otherwise. */
bool prt_device_overlap(struct prt_device_tree *tree, struct prt_device_handle a,
                        struct prt_device_handle b);

#ifdef __cplusplus
}
#endif

#endif
