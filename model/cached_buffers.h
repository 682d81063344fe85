/* SPDX-License-Identifier: MIT */
/*
 * cached_buffers: which part of what a kernel object moves is served by the device's caches (core/time/caches.h), from
 * the depths of the buffers and the rates of the node.
 *
 * Requires: the objects exist, two for each stage.  Fills: their cached_bytes and moved_bytes.
 * Thread-safety: the thread that creates the run.  Allocation: for the call.  Errors: PRT_E_NOMEM.
 */
#ifndef MODEL_CACHED_BUFFERS_H
#define MODEL_CACHED_BUFFERS_H

#include "base/status.h"
#include "model/container_tables.h"
#include "model/kernel_object.h"

/* `objects`: of the stages, then of their finishes. */
enum prt_status prt_cached_buffers_find(const struct prt_container *container,
                                        const struct devdesc *description,
                                        struct prt_kernel_object *objects);

#endif
