/* SPDX-License-Identifier: MIT */
/*
 * indices: the packed indices of all kernels with work-items, made when a run is created
 * (lang/index_generator.md).
 *
 * Requires: a verified container.
 * Ownership: prt_indices_free; a configuration lives as long, and as the container.
 * Thread-safety: read-only once created.
 * Errors: PRT_E_NOMEM; PRT_E_DEVICE: the device's index memory or registers are too small.
 */
#ifndef RUNTIME_SCHED_INDICES_H
#define RUNTIME_SCHED_INDICES_H

#include "runtime/device/device.h"
#include "runtime/load/reader.h"

struct prt_indices {
    struct prt_index_configuration *configurations; /* in order of the container's records */
    uint8_t *registers;                             /* of all of them, one behind the other */
};

/* A zeroed *indices may be freed whatever comes of it. */
enum prt_status prt_indices_create(const struct prt_container *container,
                                   const struct prt_device_info *info, struct prt_indices *indices,
                                   struct prt_error *error);
void prt_indices_free(struct prt_indices *indices);

/* Of a kernel of the image; NULL: it has no work-items. */
const struct prt_index_configuration *prt_indices_find(const struct prt_container *container,
                                                       const struct prt_indices *indices,
                                                       uint32_t kernel);

#endif
