/* SPDX-License-Identifier: MIT */
/*
 * pipert_device: devices inside a program, the simulated ones and the host's cores: their figures,
 * and their sub-devices (clCreateSubDevices of OpenCL 1.2).
 *
 *     struct prt_device_tree *tree;
 *     struct prt_device_figures figures;
 *     struct prt_error error;
 *     if (prt_device_open("sim16", NULL, NULL, &tree, &figures, &error) != PRT_OK) ...
 *     const int64_t halves[] = {PRT_PARTITION_EQUALLY, figures.cu_count / 2, 0};
 *     struct prt_device_handle half[2];
 *     status = prt_create_sub_devices(tree, prt_device_tree_root(tree), halves, 2, half, NULL);
 *     prt_device_query(tree, half[0], &information);
 *     prt_device_release(tree, half[0]);
 *     prt_device_tree_destroy(tree);
 *
 * What partitions mean, their errors, the queries, and how references are counted stands in
 * runtime/device/subdevice.h, which this includes, and in lang/subdevices.md.
 *
 * Ownership: a tree belongs to who opened it; figures are filled in place.
 * Threads: trees are independent of each other; the calls on one tree may come from any number of
 *   threads, but for opening and destroying it.
 */
#ifndef RUNTIME_HOST_PIPERT_DEVICE_H
#define RUNTIME_HOST_PIPERT_DEVICE_H

#include "runtime/device/subdevice.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_device_figures {
    char name[64];
    uint32_t cu_count, lanes; /* lanes: of a compute unit */
    uint64_t clock_hz;
    uint64_t memory_bytes, local_bytes;
    uint64_t memory_bytes_per_cycle; /* 0: not known */
    uint32_t schemes;                /* set of PRT_SCHEME_* */
    uint32_t subdevices_max;
    /* 0: there is no such level; of the host, of the first domain */
    uint32_t cus_per_domain[PRT_LEVEL_COUNT];
    uint64_t cache_bytes[PRT_LEVEL_COUNT]; /* of one domain; 0: not known, or none */
};

/* Name of the i-th device that comes with the library ("sim16"), or NULL past the last. */
const char *prt_device_name(size_t i);

/* Opens a device: the name of one that comes with the library, or "FILE.dev", a description.
 * "cpu" is the host's cores that the calling thread may use, "cpu:N" the first N of them; compute
 * units are cores in the order of the topology, and domains what these cores share.
 * `report` (or NULL) gets what the description has against it, errors and warnings, with `context`.
 * `figures` may be NULL.  PRT_E_USAGE: there is no such device; PRT_E_DEVICE: it is of a kind that
 * this version does not have; PRT_E_OPEN, PRT_E_READ, PRT_E_FORMAT: the description;
 * PRT_E_NOMEM. */
enum prt_status prt_device_open(const char *name, prt_report_callback report, void *context,
                                struct prt_device_tree **tree, struct prt_device_figures *figures,
                                struct prt_error *error);

/* The text of a description (lang/devices.md), called `name`, of a sub-device of the simulated device
 * `device` by what a query says of it: a program that is compiled for it runs on it, and on any other
 * like it.  Writes at most `capacity` bytes, NUL included; *length is that of the whole.  PRT_E_USAGE:
 * it is not a simulated device; else as prt_device_open. */
enum prt_status prt_device_describe(const char *device, const struct prt_device_information *part,
                                    const char *name, char *text, size_t capacity, size_t *length,
                                    struct prt_error *error);

#ifdef __cplusplus
}
#endif

#endif
