/* SPDX-License-Identifier: MIT */
/*
 * bucket: groups items by a key into lists that lie one after the other.
 *
 * The items of key k are items[first[k]] .. items[first[k + 1] - 1], in ascending order.
 */
#ifndef PIPEC_BUCKET_H
#define PIPEC_BUCKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct buckets {
    uint32_t *first; /* by key, with one more element at the end */
    uint32_t *items;
};

/* Groups items 0 .. count - 1 of an array. Each item has `size_bytes` and a uint32_t key at
 * `key_offset`. A key is less than `key_count`, or UINT32_MAX: then the item is in no list. */
struct buckets bucket_by(struct arena *arena, const void *array, size_t size_bytes,
                         size_t key_offset, uint32_t count, uint32_t key_count);

#endif
