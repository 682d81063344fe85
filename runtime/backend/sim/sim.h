/* SPDX-License-Identifier: MIT */
/*
 * sim: the simulated GPU.  It executes kernels natively, on host threads, and models time in
 * cycles.
 *
 * Time is that of model/sim_clock.h, whose executor is sim_pool.h: host threads play no part in it.
 *
 * Allocation: open, set_kernels, queue_create.
 */
#ifndef RUNTIME_BACKEND_SIM_SIM_H
#define RUNTIME_BACKEND_SIM_SIM_H

#include "runtime/device/device.h"

extern const struct prt_device_ops prt_sim_device;

#endif
