/* SPDX-License-Identifier: MIT */
/*
 * source_map: the places in sources that a container names (lang/container.md, "Debug information"),
 * each once, in order of first use.
 *
 * Requires: sources whose numbers are final.
 * Ownership: everything in the arena that the table was made with.
 */
#ifndef PIPEC_SOURCE_MAP_H
#define PIPEC_SOURCE_MAP_H

#include "compiler/context/context.h"
#include "base/vec.h"
#include "lang/container.h"

struct place_table {
    struct arena *arena;
    const struct sources *sources;
    VEC(struct container_place) items;
    VEC(struct span) spans; /* parallel */
    uint32_t *slots;        /* hash table: 1 + index; 0: free */
    size_t slot_count;
};

struct place_table *places_create(struct arena *arena, const struct sources *sources);
/* Index of where the span begins; CONTAINER_NONE: it is no place. */
uint32_t places_add(struct place_table *places, struct span span);

#endif
