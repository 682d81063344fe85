/* SPDX-License-Identifier: MIT */
/*
 * cpu: the host itself.  It executes kernels on its cores, as fast as it can, in real time.
 *
 * A compute unit of the device stands for a core, or for a thread where more are asked for than
 * there are cores.  A program that was compiled for another number of compute units than there are
 * threads sees that number all the same:
 *
 *     as many or more threads      each compute unit is a run of threads; a queue is executed by
 *                                  those of its sub-device alone
 *     fewer                        compute units are no more than names: each thread serves all
 *
 * Launches go to threads as cpu_pool.h says, with packets or, which costs less, without.
 *
 * Threads of the pool are bound to their cores (host_cores.h) where the host allows it; the
 * caller's thread, which is the first of them, stays as it is.
 *
 * Allocation: open, set_kernels, queue_create.
 */
#ifndef RUNTIME_BACKEND_CPU_CPU_H
#define RUNTIME_BACKEND_CPU_CPU_H

#include "runtime/device/device.h"

/* `host_threads` 0: one per core that this process may use. */
extern const struct prt_device_ops prt_cpu_device;

#endif
