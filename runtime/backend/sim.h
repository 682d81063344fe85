/*
 * sim: the simulated GPU.  It executes kernels natively, on host threads, and models time in
 * cycles.
 *
 * Time.  A dispatch of n firings on a sub-device of C compute units with L lanes takes
 *
 *     enqueue + process + clean-up            launch overhead of the device description
 *     + switch                                if another stage was the last on these compute units
 *     + ceil(n / (L x C)) x cost              execution; a stateful kernel: n x cost; `finish`:
 * cost
 *
 * and begins when the compute units are free: max(now, end of what was enqueued on them before).
 * Host threads play no part in it, so cycles depend on the packets enqueued and on what sources
 * that stop have done: of those n is the firings that count, and they execute as they are enqueued.
 *
 * Host threads.  With 1, kernels execute in the scheduler's thread as they are enqueued.  With
 * more, large dispatches go to a pool; those without state, phases and bounded rates are cut into
 * ranges of firings, whose windows follow from the exact rates.  The scheduler's thread executes
 * too while it waits. Threads that cannot be started are done without.
 *
 * Allocation: open, set_kernels, queue_create.
 */
#ifndef RUNTIME_BACKEND_SIM_H
#define RUNTIME_BACKEND_SIM_H

#include "runtime/device/device.h"

extern const struct prt_device_ops prt_sim_device;

#endif
