/* SPDX-License-Identifier: MIT */
/*
 * indices: the packed indices of all kernels with work-items, made when a run is created
 * (lang/index_generator.md).
 *
 * Requires: a verified container.
 * Ownership: prt_indices_free.  Configurations point into the indices and into the container, which outlives them.
 * Thread-safety: read-only once created.
 * Errors: PRT_E_NOMEM; PRT_E_DEVICE: the device's index memory or registers are too small.
 */
#ifndef RUNTIME_SCHED_INDICES_H
#define RUNTIME_SCHED_INDICES_H

#include "runtime/device/device.h"
#include "runtime/load/reader.h"

struct prt_indices {
    struct prt_index_configuration *configurations; /* in order of the container's records */
    uint8_t *registers;                             /* of all of them, one after the other */
};

/* After success and failure, *indices may be freed; so may a zeroed one. */
enum prt_status prt_indices_create(const struct prt_container *container,
                                   const struct prt_device_info *info, struct prt_indices *indices,
                                   struct prt_error *error);
void prt_indices_free(struct prt_indices *indices);

/* The configuration of a kernel of the container; NULL: the kernel has no work-items. */
const struct prt_index_configuration *prt_indices_find(const struct prt_container *container,
                                                       const struct prt_indices *indices,
                                                       uint32_t kernel);

#endif
