/* SPDX-License-Identifier: MIT */
/*
 * device_need: the memory that a container needs on a device (lang/devices.md, "Memory"), computed from
 * its records only.
 *
 * Requires: a container that prt_verify_graph accepts.
 * A sum that overflows is UINT64_MAX.  Thread-safety: no state.  Allocation: none.
 */
#ifndef RUNTIME_LOAD_DEVICE_NEED_H
#define RUNTIME_LOAD_DEVICE_NEED_H

#include "lang/devdesc.h"
#include "runtime/load/reader.h"

struct prt_device_need {
    uint64_t buffers, ports; /* depth x width, inside the pipeline and of its ports */
    uint64_t blocks;         /* arguments, tables and state of the nodes */
    uint64_t indices;        /* index memory of all compute units */
    uint64_t device_queue;   /* its entries, indices of children, packets that are kept aside */
    uint64_t launching;      /* dispatch packets, one for each stage; the reference table */
    uint64_t total;
};

struct prt_device_need prt_device_need(const struct prt_container *container,
                                       const struct devdesc *device);

#endif
