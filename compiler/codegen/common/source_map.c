/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/common/source_map.h"

struct place_table *places_create(struct arena *arena, const struct sources *sources)
{
    struct place_table *places = ARENA_NEW(arena, struct place_table);
    places->arena = arena;
    places->sources = sources;
    return places;
}

static uint32_t *find_place_slot(const struct place_table *places, struct span span)
{
    size_t mask = places->slot_count - 1;
    uint64_t mixed = ((uint64_t)span.source << 32 | span.begin) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = (size_t)(mixed >> 32) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &places->slots[i];
        if (*slot == 0) return slot;
        const struct span *other = &places->spans.items[*slot - 1];
        if (other->source == span.source && other->begin == span.begin) return slot;
    }
}

uint32_t places_add(struct place_table *places, struct span span)
{
    if (span.source == 0 || span.source > source_count(places->sources)) return CONTAINER_NONE;
    if (places->items.count * 2 >= places->slot_count) {
        places->slot_count = places->slot_count > 0 ? places->slot_count * 2 : 64;
        places->slots = ARENA_ARRAY(places->arena, uint32_t, places->slot_count);
        for (size_t i = 0; i < places->spans.count; i++)
            *find_place_slot(places, places->spans.items[i]) = (uint32_t)i + 1;
    }
    span = source_origin(places->sources, span);
    uint32_t *slot = find_place_slot(places, span);
    if (*slot != 0) return *slot - 1;
    struct container_place place = {.source = span.source - 1};
    source_locate(source_get(places->sources, span.source), span.begin, &place.line, &place.column);
    vec_push(places->arena, &places->items, place);
    vec_push(places->arena, &places->spans, span);
    *slot = (uint32_t)places->items.count;
    return *slot - 1;
}
