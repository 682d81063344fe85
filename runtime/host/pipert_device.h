/* SPDX-License-Identifier: MIT */
/*
 * pipert_device: simulated devices, GPUs and the host's cores, for programs: their figures, and their
 * sub-devices (clCreateSubDevices of OpenCL 1.2).
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
 * model/subdevice.h, which this header includes, and lang/subdevices.md define partitions,
 * their errors, the queries and reference counting.
 *
 * Ownership: the caller of prt_device_open owns the tree.  Figures are filled in place.
 * Threads: trees are independent of each other.  Any number of threads may use one tree at the same
 *   time, but only one thread opens it, and only one destroys it after all others have finished.
 */
#ifndef RUNTIME_HOST_PIPERT_DEVICE_H
#define RUNTIME_HOST_PIPERT_DEVICE_H

#include "model/subdevice.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_device_figures {
    char name[64];
    uint32_t cu_count, lanes; /* lanes per compute unit */
    uint64_t clock_hz;
    uint64_t memory_bytes, local_bytes;
    uint64_t memory_bytes_per_cycle; /* 0: unknown */
    uint32_t schemes;                /* bit set of PRT_SCHEME_* */
    uint32_t subdevices_max;
    /* compute units per domain of each level; 0: there is no such level; on the host, of the first
     * domain */
    uint32_t cus_per_domain[PRT_LEVEL_COUNT];
    uint64_t cache_bytes[PRT_LEVEL_COUNT]; /* per domain; 0: unknown, or no cache */
};

/* Name of the i-th device that comes with the library ("sim16"), or NULL past the last. */
const char *prt_device_name(size_t i);

/* A GPU of this machine, as its driver describes it. */
struct prt_gpu_figures {
    char name[128];
    uint32_t multiprocessors;
    uint32_t capability; /* compute capability: ten times the major number plus the minor one */
    uint64_t clock_hz, memory_bytes, memory_bytes_per_second; /* of the memory's clock and width */
};

/* The GPU "cuda:NUMBER".  PRT_E_DEVICE: there is no driver, or no such GPU. */
enum prt_status prt_gpu_describe(uint32_t number, struct prt_gpu_figures *figures,
                                 struct prt_error *error);

/* Opens a device: the name of one that comes with the library, or "FILE.dev", a description.  "cpu"
 * stands for the host's cores that the calling thread may use, "cpu:N" for the first N of them.
 * There, compute units are cores in the order of the topology, and domains are the caches and
 * memories that these cores share.  "cuda:N" stands for a GPU of this machine, whose compute units are
 * its multiprocessors; "cuda" for the first one or, without a GPU, for the device that pipec compiles
 * for under that name.  `report` may be NULL.  It receives the errors and warnings about the description,
 * with `context`.  `figures` may be NULL.  PRT_E_USAGE: there is no such device.  PRT_E_DEVICE: that kind
 * of device is not supported, there is no such GPU, or the host's cores cannot be found.
 * PRT_E_OPEN, PRT_E_READ, PRT_E_FORMAT: the description cannot be read.  PRT_E_NOMEM. */
enum prt_status prt_device_open(const char *name, prt_report_callback report, void *context,
                                struct prt_device_tree **tree, struct prt_device_figures *figures,
                                struct prt_error *error);

/* Writes a device description (lang/devices.md) with the name `name` for a sub-device of the
 * simulated device `device`.  `part` is the result of a query of that sub-device.  Programs that
 * are compiled for the description run on the sub-device, and on equal ones.  Writes at most
 * `capacity` bytes, including NUL; *length is the length of the whole text.  PRT_E_USAGE: the
 * device is not simulated.  Other errors: as prt_device_open. */
enum prt_status prt_device_describe(const char *device, const struct prt_device_information *part,
                                    const char *name, char *text, size_t capacity, size_t *length,
                                    struct prt_error *error);

#ifdef __cplusplus
}
#endif

#endif
