/* SPDX-License-Identifier: MIT */
/*
 * cuda_log: the launches of a measured run, from the log of the resident scheduler (core/resident/launch_log.h) to the
 * observer of the device.
 *
 * Times of the device's clock become times since the device was opened.
 *
 * Ownership: the log lies in memory that the run has allocated.  Thread-safety: the thread of the run.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_LOG_H
#define RUNTIME_BACKEND_CUDA_CUDA_LOG_H

#include "core/resident/launch_log.h"
#include "model/queue.h"
#include "runtime/device/device.h"

struct prt_cuda_log {
    struct core_log *memory; /* NULL: the run is not measured */
    prt_launch_observer observe;
    void *observe_context;
    const struct prt_kernel_object *objects; /* by stage */
    const struct prt_queue_table *queues;
    uint64_t origin_nanoseconds; /* of the host's clock: time 0 */
    uint64_t clock, clock_host;  /* the same moment by both clocks; 0: not known yet */
};

/* Bytes of the log of a run of that block. */
uint64_t prt_cuda_log_bytes(const struct core *core);

/* Makes a log of zeroed memory. */
void prt_cuda_log_create(struct core_log *memory, const struct core *core);

/* Shows the observer the launches that are new.  The numbers of packets that each has appended are in the host's copy of the
 * block then. */
void prt_cuda_log_take(struct prt_cuda_log *log, struct core *core);

#endif
