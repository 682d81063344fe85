/* SPDX-License-Identifier: MIT */
/*
 * vec: growable arrays on an arena.
 *
 *     VEC(struct thing) things = {0};
 *     vec_push(arena, &things, thing);
 *     for (size_t i = 0; i < things.count; i++) use(&things.items[i]);
 *
 * Growth doubles and leaves the old array to the arena; pointers into `items` do not survive a
 * push.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* Returns the array to use for `needed` items of `size_bytes`, moved if it had to grow. */
void *vec_grow(struct arena *arena, void *items, size_t *capacity, size_t needed,
               size_t size_bytes);

#define vec_push(arena, vec, ...)                                                                  \
    ((vec)->items = vec_grow((arena), (vec)->items, &(vec)->capacity, (vec)->count + 1,            \
                             sizeof *(vec)->items),                                                \
     (void)((vec)->items[(vec)->count] = __VA_ARGS__), (vec)->count++)

#endif
