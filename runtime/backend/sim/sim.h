/* SPDX-License-Identifier: MIT */
/*
 * sim: the simulated GPU.  It executes kernels natively, on host threads, and models time in
 * cycles.
 *
 * Time is the model of lang/time.md.  A launch's end is known when it has been executed, for what
 * it costs and appends may depend on data: `enqueue` gives its firings to the host threads
 * (sim_pool.h), and `wait` settles (launch_time.h), in order of enqueuing, what has been launched
 * since the last one, before it delivers in order of ends.  So host threads play no part in time.
 * Where queues of different importance share compute units, launches may interrupt each other, and
 * `wait` plays what happens up to the next end (precedence.h).  Which of the two it is, is decided
 * when something is enqueued and nothing is in flight.
 *
 * Allocation: open, set_kernels, queue_create.
 */
#ifndef RUNTIME_BACKEND_SIM_SIM_H
#define RUNTIME_BACKEND_SIM_SIM_H

#include "runtime/device/device.h"

extern const struct prt_device_ops prt_sim_device;

#endif
