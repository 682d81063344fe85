/* SPDX-License-Identifier: MIT */
/*
 * host_cores: the cores of the host that this process may use, and the caches and memory that they
 * share, as hwloc finds them.
 *
 * Cores are numbered from 0 in the order of the topology, so that neighbours share what is nearest.
 * Where a system tells of no cores, its processing units stand for them.  What the calling thread is
 * bound to, and what the system's groups allow, is all that is seen.  HWLOC_SYNTHETIC and
 * HWLOC_XMLFILE put another topology in place; threads are not bound then.
 *
 * The system is asked once in a process, which takes about a millisecond; cores that are switched on
 * or given to the process later are not seen.  What the calling thread is bound to is looked at each
 * time.
 *
 * Ownership: the caller's; what the system has told is kept until the process ends.
 * Thread-safety: finding is for all; a found set is read-only.
 * Allocation: finding.
 */
#ifndef RUNTIME_DEVICE_HOST_CORES_H
#define RUNTIME_DEVICE_HOST_CORES_H

#include "runtime/device/subdevice.h"

struct prt_host_cores;

/* NULL: there is no memory, or the system tells nothing. */
struct prt_host_cores *prt_host_cores_find(void);
/* NULL is allowed. */
void prt_host_cores_free(struct prt_host_cores *cores);

/* 1 or more. */
uint32_t prt_host_cores_count(const struct prt_host_cores *cores);

/* Binds the calling thread to the core; where that is not allowed it goes on as it is.  Where the
 * core is that of processor `taken`, as the system numbers them, it is core 0 instead, which the
 * thread that is there has left; negative: none is. */
void prt_host_cores_bind(const struct prt_host_cores *cores, uint32_t core, int taken);

/* The number of the domain of that level that each core is in, from 0 on in order; NULL: there is
 * no such level. */
const uint32_t *prt_host_cores_domains(const struct prt_host_cores *cores,
                                       enum prt_affinity_level level);
/* Of one domain of that level: bytes of the cache, or of NUMA memory; 0: not known. */
uint64_t prt_host_cores_bytes(const struct prt_host_cores *cores, enum prt_affinity_level level);
/* Of the host; 0: not known. */
uint64_t prt_host_cores_memory_bytes(const struct prt_host_cores *cores);

#endif
