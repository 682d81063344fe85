#include "compiler/sema/type.h"

#include "compiler/support/vec.h"

struct array_entry {
    struct array_entry *next;
    struct type type;
};

enum { BUCKET_COUNT = 256 };

struct types {
    struct arena *arena;
    struct type void_type;
    struct type scalars[SCALAR_COUNT];
    struct array_entry *arrays[BUCKET_COUNT];
};

struct types *types_create(struct arena *arena)
{
    struct types *types = ARENA_NEW(arena, struct types);
    types->arena = arena;
    types->void_type = (struct type){.kind = TYPE_VOID, .alignment_bytes = 1};
    for (int i = 0; i < SCALAR_COUNT; i++) {
        uint64_t width_bytes = scalar_width_bytes((enum scalar_type)i);
        types->scalars[i] = (struct type){.kind = TYPE_SCALAR,
                                          .scalar = (enum scalar_type)i,
                                          .width_bytes = width_bytes,
                                          .alignment_bytes = (uint32_t)width_bytes};
    }
    return types;
}

const struct type *type_void(struct types *types)
{
    return &types->void_type;
}

const struct type *type_scalar(struct types *types, enum scalar_type scalar)
{
    return &types->scalars[scalar];
}

const struct type *type_array(struct types *types, const struct type *element, uint64_t length)
{
    uint64_t width_bytes;
    if (__builtin_mul_overflow(element->width_bytes, length, &width_bytes) ||
        width_bytes > INT64_MAX)
        return NULL;
    uint64_t hash = ((uint64_t)(uintptr_t)element >> 4) * 0x9e3779b97f4a7c15u + length * 31;
    struct array_entry **bucket = &types->arrays[(hash ^ hash >> 32) % BUCKET_COUNT];
    for (struct array_entry *entry = *bucket; entry; entry = entry->next)
        if (entry->type.element == element && entry->type.length == length) return &entry->type;
    struct array_entry *entry = ARENA_NEW(types->arena, struct array_entry);
    entry->type = (struct type){.kind = TYPE_ARRAY,
                                .element = element,
                                .length = length,
                                .width_bytes = width_bytes,
                                .alignment_bytes = element->alignment_bytes};
    entry->next = *bucket;
    *bucket = entry;
    return &entry->type;
}

const struct type *type_base(const struct type *type)
{
    while (type->kind == TYPE_ARRAY)
        type = type->element;
    return type;
}

uint64_t type_scalar_count(const struct type *type)
{
    uint64_t count = type->kind == TYPE_VOID ? 0 : 1;
    for (; type->kind == TYPE_ARRAY; type = type->element)
        count *= type->length;
    return count;
}

const char *type_text(struct arena *arena, const struct type *type)
{
    const struct type *base = type_base(type);
    const char *text = base->kind == TYPE_VOID ? "void" : scalar_name(base->scalar);
    for (; type->kind == TYPE_ARRAY; type = type->element)
        text = arena_printf(arena, "%s[%llu]", text, (unsigned long long)type->length);
    return text;
}
