/* SPDX-License-Identifier: MIT */
#include "model/index_filter.h"

#include <string.h>

static bool is_same(const struct prt_index_key *a, const struct prt_index_key *b)
{
    return a->address_bytes == b->address_bytes &&
           memcmp(a->extents, b->extents, sizeof a->extents) == 0;
}

/* Its number, or `count`. */
static uint32_t find_key(const struct prt_index_filter *filter, const struct prt_index_key *key)
{
    uint32_t at = 0;
    while (at < filter->count && !is_same(&filter->entries[at].key, key))
        at++;
    return at;
}

/* A new entry replaces the entry at the same address. */
static void overwrite_entries(struct prt_index_filter *filter, uint32_t address_bytes)
{
    for (uint32_t i = 0; i < filter->count; i++)
        if (filter->entries[i].key.address_bytes == address_bytes)
            filter->entries[i].resident = false;
}

enum prt_index_outcome prt_index_filter_ask(struct prt_index_filter *filter,
                                            const struct prt_index_key *key)
{
    uint32_t at = find_key(filter, key);
    bool known = at < filter->count, resident = known && filter->entries[at].resident;
    if (!resident) overwrite_entries(filter, key->address_bytes);
    if (!known && filter->count < filter->capacity) filter->count++;
    if (at == filter->capacity) at--;
    memmove(filter->entries + 1, filter->entries, at * sizeof filter->entries[0]);
    filter->entries[0] = (struct prt_index_entry){.key = *key, .resident = true};
    if (resident) return PRT_INDEX_RESIDENT;
    return known ? PRT_INDEX_HIT : PRT_INDEX_MISS;
}
