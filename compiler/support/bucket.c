/* SPDX-License-Identifier: MIT */
#include "compiler/support/bucket.h"

#include <string.h>

struct buckets bucket_by(struct arena *arena, const void *array, size_t size_bytes,
                         size_t key_offset, uint32_t count, uint32_t key_count)
{
    struct buckets made = {ARENA_ARRAY(arena, uint32_t, (size_t)key_count + 2),
                           ARENA_ARRAY(arena, uint32_t, (size_t)count + 1)};
    uint32_t *keys = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    uint32_t *fill =
        made.first + 1; /* where the next item of a key goes; finally the end of its list */
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&keys[i], (const char *)array + i * size_bytes + key_offset, sizeof keys[i]);
        if (keys[i] != UINT32_MAX) made.first[keys[i] + 2]++;
    }
    for (uint32_t k = 0; k < key_count; k++)
        made.first[k + 2] += made.first[k + 1];
    for (uint32_t i = 0; i < count; i++)
        if (keys[i] != UINT32_MAX) made.items[fill[keys[i]]++] = i;
    return made;
}
