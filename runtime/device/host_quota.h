/* SPDX-License-Identifier: MIT */
/*
 * host_quota: the processor time and the memory that the system grants the process.  A container may have the time of
 * two processors, on any of a hundred.
 *
 * Reads the limits of control groups as the process sees them, of its own group and of the groups that contain it:
 *   - version 2: `cpu.max` and `memory.max`;
 *   - version 1: `cpu.cfs_quota_us` with `cpu.cfs_period_us`, and `memory.limit_in_bytes`, if the controllers `cpu` and
 *     `memory` are mounted.
 * The smallest limit counts.  A limit that cannot be read is no limit.
 *
 * `groups` is the file that names the groups of the process; `mounts` is the file that says where their folders are.
 * Both have the form of proc(5).
 *
 * Thread-safety: none needed.  Allocation: none that stays.
 */
#ifndef RUNTIME_DEVICE_HOST_QUOTA_H
#define RUNTIME_DEVICE_HOST_QUOTA_H

#include <stdint.h>

#define PRT_HOST_GROUPS "/proc/self/cgroup"
#define PRT_HOST_MOUNTS "/proc/self/mountinfo"

/* In processors, rounded up: 1 or more; UINT32_MAX: there is no limit, or the system does not tell. */
uint32_t prt_host_quota_processors(const char *groups, const char *mounts);

/* UINT64_MAX: there is no limit, or the system does not tell. */
uint64_t prt_host_quota_memory_bytes(const char *groups, const char *mounts);

#endif
