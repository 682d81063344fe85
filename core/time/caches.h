/* SPDX-License-Identifier: MIT */
/*
 * caches: which buffers stay in the caches of a device, and which part of a launch's bytes these serve
 * (lang/time.md, "Caches").
 *
 * The caches are those of the widest level that has any: each domain of that level has one.  A buffer inside a program
 * lies in the domains in which its writer has compute units, in equal parts.  It stays there if its part fits in each of them,
 * together with all parts there that are no larger.  A port never stays: its packets come from the host and go there.
 *
 * A packet that one domain has written and another one reads goes through memory.
 *
 * Thread-safe: no state.  Allocation: none.  Errors: none; sums beyond 64 bits are UINT64_MAX.
 */
#ifndef CORE_TIME_CACHES_H
#define CORE_TIME_CACHES_H

#include "lang/devdesc.h"

#include <stddef.h>
#include <stdint.h>

/* The cache of each domain, and its compute units: domain d has those from d x cus on. */
struct core_caches {
    uint64_t bytes; /* 0: caches do not count, because the description has no bandwidth of theirs */
    uint32_t cus;
};

struct core_caches core_caches_of(const struct devdesc *description);

/* Domains that follow each other: those in which a stage has compute units. */
struct core_domains {
    uint32_t first, last;
};

/* Requires: caches that count; cu_count is 1 or more. */
struct core_domains core_caches_domains(struct core_caches caches, uint32_t first_cu,
                                        uint32_t cu_count);

/* The part of a buffer's bytes in each domain, rounded up. */
uint64_t core_caches_share(uint64_t bytes, struct core_domains domains);

/* Of CORE_CACHES_WHOLE packets, so many are read in the domain in which they were written, rounded down. */
enum { CORE_CACHES_WHOLE = 65536 };
uint32_t core_caches_found(struct core_domains writer, struct core_domains reader);

/* The size up to which parts stay in `capacity` bytes: those of that size and less fit together. */
uint64_t core_caches_largest(uint64_t capacity, const uint64_t *bytes, size_t count);

/* The part of `bytes` that the caches serve, if they serve `cached` of `all` (0: of nothing): rounded down. */
uint64_t core_caches_part(uint64_t bytes, uint64_t cached, uint64_t all);

#endif
