/* SPDX-License-Identifier: MIT */
/*
 * cpu: the host's own cores.  They execute kernels in real time, as fast as they can.
 *
 * The device has as many compute units as the program was compiled for, whatever the number of threads:
 *
 *     as many threads, or more     each compute unit is a range of threads; the threads of its sub-device, and no others,
 *                                  execute a queue
 *     fewer threads                compute units are only names; every thread serves every queue
 *
 * cpu_pool.h says how launches get to threads.  They go with dispatch packets, or without, which costs less.
 *
 * Threads of the pool are bound to their cores (host_cores.h) if the host allows it.  The caller's thread, which is
 * the first of them, is not bound.
 *
 * Allocation: open, set_kernels, queue_create.
 */
#ifndef RUNTIME_BACKEND_CPU_CPU_H
#define RUNTIME_BACKEND_CPU_CPU_H

#include "runtime/device/device.h"

/* `host_threads` 0: a thread for each core that this process may use. */
extern const struct prt_device_ops prt_cpu_device;

#endif
