/* SPDX-License-Identifier: MIT */
/*
 * host_quota: the processor time that the system grants the process.  A container may have the time of two
 * processors, on any of a hundred.
 *
 * Reads the limits of control groups as the process sees them, of its own group and of the groups that
 * contain it: `cpu.max` of version 2; `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1, if its
 * controller `cpu` is mounted.  If both exist, the smaller limit counts.
 *
 * Thread-safety: none needed.  Allocation: none that stays.
 */
#ifndef RUNTIME_DEVICE_HOST_QUOTA_H
#define RUNTIME_DEVICE_HOST_QUOTA_H

#include <stdint.h>

#define PRT_HOST_GROUPS "/proc/self/cgroup"
#define PRT_HOST_MOUNTS "/proc/self/mountinfo"

/* In processors, rounded up: 1 or more; UINT32_MAX: there is no limit, or the system does not tell.
 * `groups`: the file that names the process's groups; `mounts`: the one that says where their
 * folders are; both as proc(5) has them. */
uint32_t prt_host_quota(const char *groups, const char *mounts);

#endif
