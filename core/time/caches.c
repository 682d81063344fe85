/* SPDX-License-Identifier: MIT */
#include "core/time/caches.h"

#include "core/time/timing.h"

uint64_t core_caches_capacity(const struct devdesc *description)
{
    if (description->cache_bytes_per_cycle == 0) return 0;
    for (int level = 0; level < DEVDESC_LEVELS; level++) {
        uint32_t each = description->cus_per_domain[level];
        if (each > 0 && description->cache_bytes[level] > 0)
            return core_cycles_multiply(description->cache_bytes[level],
                                        description->cu_count / each);
    }
    return 0;
}

static uint64_t sum_up_to(uint64_t largest, const uint64_t *bytes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] <= largest) sum = core_cycles_add(sum, bytes[i]);
    return sum;
}

/* The sum grows with the size: a search by halves. */
uint64_t core_caches_largest(uint64_t capacity, const uint64_t *bytes, size_t count)
{
    uint64_t fits = 0, beyond = capacity;
    if (sum_up_to(capacity, bytes, count) <= capacity) return capacity;
    while (beyond - fits > 1) {
        uint64_t middle = fits + (beyond - fits) / 2;
        if (sum_up_to(middle, bytes, count) <= capacity)
            fits = middle;
        else
            beyond = middle;
    }
    return fits;
}

uint64_t core_caches_part(uint64_t bytes, uint64_t cached, uint64_t all)
{
    if (cached >= all) return cached > 0 ? bytes : 0;
    return (uint64_t)((unsigned __int128)bytes * cached / all);
}
