/* SPDX-License-Identifier: MIT */
/*
 * caches: which buffers stay in the caches of a device, and which part of a launch's bytes these serve
 * (lang/time.md, "Caches").
 *
 * The capacity is that of all caches of the widest level that has any.  Buffers inside a program stay there from the
 * smallest on, as long as they fit together; of buffers of one size all or none.  A port never stays: its
 * packets come from the host and go there.
 *
 * Thread-safe: no state.  Allocation: none.  Errors: none; sums beyond 64 bits are UINT64_MAX.
 */
#ifndef CORE_TIME_CACHES_H
#define CORE_TIME_CACHES_H

#include "lang/devdesc.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the caches; 0: they do not count, because the description has no bandwidth of caches. */
uint64_t core_caches_capacity(const struct devdesc *description);

/* The size up to which buffers stay in `capacity` bytes: those of that size and less fit together.  `bytes`: of each
 * buffer that may stay, 0 of a port. */
uint64_t core_caches_largest(uint64_t capacity, const uint64_t *bytes, size_t count);

/* The part of `bytes` that the caches serve, if they serve `cached` of `all` (0: of nothing): rounded down. */
uint64_t core_caches_part(uint64_t bytes, uint64_t cached, uint64_t all);

#endif
