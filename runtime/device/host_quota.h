/*
 * host_quota: how much of the host's processors the system grants the process: a container may have
 * the time of two of them, on any of a hundred.
 *
 * Read are the limits of control groups, version 2, as the process sees them (`cpu.max`): of its own
 * group, and of those that this one is in.
 *
 * Thread-safety: none needed.  Allocation: none that stays.
 */
#ifndef RUNTIME_DEVICE_HOST_QUOTA_H
#define RUNTIME_DEVICE_HOST_QUOTA_H

#include <stdint.h>

#define PRT_HOST_GROUPS "/proc/self/cgroup"
#define PRT_HOST_GROUPS_MOUNT "/sys/fs/cgroup"

/* In processors, rounded up: 1 or more; UINT32_MAX: there is no limit, or the system does not tell.
 * `groups`: the file that names the process's groups; `mount`: where their folders are. */
uint32_t prt_host_quota(const char *groups, const char *mount);

#endif
