/* SPDX-License-Identifier: MIT */
/*
 * host_cores: the cores of the host that this process may use, and the caches and memories that they
 * share, as hwloc finds them.
 *
 * Cores are numbered from 0 in the order of the topology, so that neighbours share the nearest caches.  If
 * a system reports no cores, its processing units replace them.  Only cores within the calling thread's
 * binding and the system's groups are visible.  HWLOC_SYNTHETIC and HWLOC_XMLFILE put another topology in
 * place; threads are not bound then.
 *
 * The topology is discovered once per process, which takes about a millisecond.  Cores that are switched
 * on or granted to the process later are not seen.  The calling thread's binding is read each time.
 *
 * Ownership: the caller owns a found set; the topology is kept until the process ends.
 * Thread-safety: any thread may find cores; a found set is read-only.
 * Allocation: finding.
 */
#ifndef RUNTIME_DEVICE_HOST_CORES_H
#define RUNTIME_DEVICE_HOST_CORES_H

#include "model/subdevice.h"

struct prt_host_cores;

/* NULL: there is no memory, or the system reports no topology. */
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
