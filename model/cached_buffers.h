/* SPDX-License-Identifier: MIT */
/*
 * cached_buffers: which part of what a kernel object moves is served by the device's caches (core/time/caches.h), from
 * the depths of the buffers, the rates of the node, and the compute units of the stages at both ends.
 *
 * Requires: the objects exist, two for each stage; the program has bound all stages.
 * Fills: their cached_parts and moved_parts.
 * Thread-safety: the thread that creates the run.  Allocation: for the call.  Errors: PRT_E_NOMEM.
 */
#ifndef MODEL_CACHED_BUFFERS_H
#define MODEL_CACHED_BUFFERS_H

#include "base/status.h"
#include "model/bindings.h"
#include "model/kernel_object.h"

/* `objects`: of the stages, then of their finishes. */
enum prt_status prt_cached_buffers_find(const struct prt_bindings *bindings,
                                        const struct devdesc *description,
                                        struct prt_kernel_object *objects);

#endif
