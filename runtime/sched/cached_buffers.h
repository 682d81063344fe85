/* SPDX-License-Identifier: MIT */
/*
 * cached_buffers: which part of what a kernel object moves is served by the device's caches (core/time/caches.h), from
 * the depths of the buffers and the rates of the node.
 *
 * Requires: the objects exist, two for each stage.  Fills: their cached_bytes and moved_bytes.
 * Thread-safety: the thread that creates the run.  Allocation: for the call.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_CACHED_BUFFERS_H
#define RUNTIME_SCHED_CACHED_BUFFERS_H

#include "runtime/sched/sched.h"

enum prt_status prt_cached_buffers_find(struct prt_sched *s);

#endif
