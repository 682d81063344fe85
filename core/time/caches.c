/* SPDX-License-Identifier: MIT */
#include "core/time/caches.h"

#include "lang/hosted_assert.h"
#include "core/time/timing.h"

struct core_caches core_caches_of(const struct devdesc *description)
{
    if (description->cache_bytes_per_cycle == 0) return (struct core_caches){0};
    for (int level = 0; level < DEVDESC_LEVELS; level++) {
        uint32_t each = description->cus_per_domain[level];
        if (each > 0 && description->cache_bytes[level] > 0)
            return (struct core_caches){description->cache_bytes[level], each};
    }
    return (struct core_caches){0};
}

struct core_domains core_caches_domains(struct core_caches caches, uint32_t first_cu,
                                        uint32_t cu_count)
{
    assert(caches.cus > 0 && cu_count > 0);
    return (struct core_domains){first_cu / caches.cus, (first_cu + (cu_count - 1)) / caches.cus};
}

static uint64_t count_domains_of(struct core_domains domains)
{
    return (uint64_t)domains.last - domains.first + 1;
}

uint64_t core_caches_share(uint64_t bytes, struct core_domains domains)
{
    uint64_t count = count_domains_of(domains);
    return bytes / count + (bytes % count > 0);
}

/* A firing may be executed by any compute unit of its stage, so a packet is as likely in one domain as in another. */
uint32_t core_caches_found(struct core_domains writer, struct core_domains reader)
{
    struct core_domains both = {.first = writer.first > reader.first ? writer.first : reader.first,
                                .last = writer.last < reader.last ? writer.last : reader.last};
    if (both.first > both.last) return 0;
    uint64_t pairs = count_domains_of(writer) * count_domains_of(reader);
    return (uint32_t)(CORE_CACHES_WHOLE * count_domains_of(both) / pairs);
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
