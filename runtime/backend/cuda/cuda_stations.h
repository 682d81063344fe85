/* SPDX-License-Identifier: MIT */
/*
 * cuda_stations: the sets of workers of a run (core/resident/resident.h), from the sub-devices of its queues.
 *
 * Stages whose sub-devices have compute units in common are at one station.
 *
 * Requires: each stage has its queue.  Ownership: the caller frees `ranges` and `of_stage` with prt_cuda_stations_free.
 * Errors: PRT_E_NOMEM.  Thread-safety: no state.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_STATIONS_H
#define RUNTIME_BACKEND_CUDA_CUDA_STATIONS_H

#include "core/core.h"
#include "model/queue.h"

struct prt_cuda_range {
    uint32_t first_cu, end_cu; /* of the program's device */
    uint32_t stages;
};

struct prt_cuda_stations {
    struct prt_cuda_range *ranges; /* in the order of compute units */
    uint32_t *of_stage;
    uint32_t count;
};

enum prt_status prt_cuda_stations_find(const struct core *core, struct prt_queue_table *queues,
                                       struct prt_cuda_stations *stations);
void prt_cuda_stations_free(struct prt_cuda_stations *stations);

#endif
