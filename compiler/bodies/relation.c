/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/relation.h"

#include <assert.h>
#include <string.h>

#include "compiler/ir/ratio.h"

struct relation relation_create(struct arena *arena, uint32_t ends)
{
    return (struct relation){.ends = ends,
                             .point = ARENA_ARRAY(arena, int64_t, ends),
                             .directions = ARENA_ARRAY(arena, int64_t, (size_t)ends *ends)};
}

void relation_clear(struct relation *r)
{
    r->direction_count = 0;
    r->any = false;
    memset(r->point, 0, r->ends * sizeof *r->point);
}

static int64_t *direction_row(const struct relation *r, uint32_t index)
{
    return r->directions + (size_t)index * r->ends;
}

void relation_copy(struct relation *to, const struct relation *from)
{
    to->any = from->any;
    to->direction_count = from->direction_count;
    memcpy(to->point, from->point, to->ends * sizeof *to->point);
    memcpy(to->directions, from->directions,
           (size_t)from->direction_count * to->ends * sizeof *to->directions);
}

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void divide_out(int64_t *vector, uint32_t count)
{
    uint64_t common = 0;
    for (uint32_t i = 0; i < count; i++)
        common = gcd64(common, magnitude_of(vector[i]));
    if (common < 2 || common > INT64_MAX) return;
    for (uint32_t i = 0; i < count; i++)
        vector[i] /= (int64_t)common;
}

static uint32_t first_nonzero(const int64_t *vector, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && vector[i] == 0)
        i++;
    return i;
}

/* vector := vector x row[pivot] - row x vector[pivot]; false on overflow. */
static bool eliminate_pivot(int64_t *vector, const int64_t *row, uint32_t count)
{
    uint32_t pivot = first_nonzero(row, count);
    assert(pivot < count);
    int64_t keep = row[pivot], take = vector[pivot];
    if (take == 0) return true;
    for (uint32_t i = 0; i < count; i++) {
        int64_t kept, taken;
        if (__builtin_mul_overflow(vector[i], keep, &kept) ||
            __builtin_mul_overflow(row[i], take, &taken) ||
            __builtin_sub_overflow(kept, taken, &vector[i]))
            return false;
    }
    divide_out(vector, count);
    return true;
}

static void add_direction(struct relation *r, int64_t *vector)
{
    divide_out(vector, r->ends);
    for (uint32_t i = 0; i < r->direction_count; i++) {
        if (eliminate_pivot(vector, direction_row(r, i), r->ends)) continue;
        r->any = true;
        return;
    }
    if (first_nonzero(vector, r->ends) == r->ends) return;
    memcpy(direction_row(r, r->direction_count++), vector, r->ends * sizeof *vector);
}

static void add_directions(struct relation *to, const struct relation *from)
{
    int64_t vector[RELATION_ENDS_MAX];
    for (uint32_t i = 0; i < from->direction_count && !to->any; i++) {
        memcpy(vector, direction_row(from, i), to->ends * sizeof *vector);
        add_direction(to, vector);
    }
}

/* The direction from one point to another. */
static void add_difference(struct relation *to, const int64_t *from, const int64_t *until)
{
    int64_t vector[RELATION_ENDS_MAX];
    for (uint32_t i = 0; i < to->ends; i++) {
        if (!__builtin_sub_overflow(until[i], from[i], &vector[i])) continue;
        to->any = true;
        return;
    }
    add_direction(to, vector);
}

void relation_append(struct relation *r, uint32_t first, uint32_t last)
{
    if (r->any || first > last) return;
    if (__builtin_add_overflow(r->point[first], 1, &r->point[first])) r->any = true;
    for (uint32_t end = first + 1; end <= last && !r->any; end++) {
        int64_t vector[RELATION_ENDS_MAX] = {0};
        vector[first] = -1;
        vector[end] = 1;
        add_direction(r, vector);
    }
}

void relation_join(struct relation *to, const struct relation *from)
{
    to->any |= from->any;
    if (to->any) return;
    add_difference(to, to->point, from->point);
    add_directions(to, from);
}

void relation_repeat(struct relation *left, const struct relation *begin,
                     const struct relation *next)
{
    left->any |= begin->any || next->any;
    if (left->any) return;
    add_difference(left, begin->point, next->point);
    add_directions(left, next);
}

bool relation_in_step(const struct relation *r, uint32_t a, uint32_t b, uint64_t *share_a,
                      uint64_t *share_b)
{
    int64_t at_a = 0, at_b = 0;
    if (r->any) return false;
    for (uint32_t i = 0; i < r->direction_count; i++) {
        const int64_t *row = direction_row(r, i);
        if (at_a == 0 && at_b == 0) {
            at_a = row[a];
            at_b = row[b];
        }
        if ((int128)row[a] * at_b != (int128)row[b] * at_a) return false;
    }
    if (at_a == 0 || at_b == 0 || (at_a < 0) != (at_b < 0)) return false;
    uint64_t common = gcd64(magnitude_of(at_a), magnitude_of(at_b));
    *share_a = magnitude_of(at_a) / common;
    *share_b = magnitude_of(at_b) / common;
    return true;
}
