/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

void *vec_grow(struct arena *arena, void *items, size_t *capacity, size_t needed, size_t size_bytes)
{
    if (needed <= *capacity) return items;
    size_t wanted = *capacity ? *capacity : 4;
    while (wanted < needed)
        wanted = wanted > SIZE_MAX / 2 ? SIZE_MAX : wanted * 2;
    void *moved = arena_array(arena, wanted, size_bytes);
    if (*capacity) memcpy(moved, items, *capacity * size_bytes);
    *capacity = wanted;
    return moved;
}
