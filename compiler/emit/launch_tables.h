/* SPDX-License-Identifier: MIT */
/*
 * launch_tables: the interface table of the device queue, and which node launches which kernel
 * (lang/device_queue.md), as records of the container.
 *
 * Requires  a graph after all analyses; an image whose numbers of kernels are final.
 * Fills     in `arena`, an interface for each node that launches, in order, then one for each child
 *           kernel; `titles` instead of the records' strings.  Nothing if no kernel launches.
 * Fails     never.  The caller counts the records and checks that the numbers fit.
 */
#ifndef PIPEC_LAUNCH_TABLES_H
#define PIPEC_LAUNCH_TABLES_H

#include "compiler/codegen/common/codegen.h"
#include "lang/container.h"

struct launch_tables {
    VEC(struct container_interface) interfaces;
    VEC(const char *) titles; /* parallel */
    VEC(struct container_interface_port) ports;
    VEC(struct container_launch) launches;
};

struct launch_tables launch_tables_build(struct compile *cx, struct arena *arena,
                                         const struct graph *graph, const struct plan *plan,
                                         const struct kernel_image *image);

#endif
