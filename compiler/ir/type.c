/* SPDX-License-Identifier: MIT */
#include "compiler/ir/type.h"

#include "base/arithmetic.h"
#include "base/vec.h"

struct list_entry { /* an array or a vector */
    struct list_entry *next;
    struct type type;
};

enum { BUCKET_COUNT = 256 };

struct types {
    struct arena *arena;
    struct type void_type;
    struct type scalars[SCALAR_COUNT];
    struct list_entry *lists[BUCKET_COUNT];
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
                                          .scalar_count = 1,
                                          .alignment_bytes = (uint32_t)width_bytes,
                                          .has_floats = scalar_is_float((enum scalar_type)i)};
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

static const struct type *list_type(struct types *types, enum type_kind kind,
                                    const struct type *element, uint64_t length)
{
    uint64_t width_bytes;
    if (__builtin_mul_overflow(element->width_bytes, length, &width_bytes) ||
        width_bytes > INT64_MAX)
        return NULL;
    uint64_t hash = ((uint64_t)(uintptr_t)element >> 4) * 0x9e3779b97f4a7c15u + length * 31;
    struct list_entry **bucket = &types->lists[(hash ^ hash >> 32) % BUCKET_COUNT];
    for (struct list_entry *entry = *bucket; entry; entry = entry->next)
        if (entry->type.kind == kind && entry->type.element == element &&
            entry->type.length == length)
            return &entry->type;
    struct list_entry *entry = ARENA_NEW(types->arena, struct list_entry);
    entry->type = (struct type){.kind = kind,
                                .element = element,
                                .length = length,
                                .width_bytes = width_bytes,
                                .scalar_count = element->scalar_count * length,
                                .alignment_bytes = element->alignment_bytes,
                                .has_floats = element->has_floats,
                                .has_padding = element->has_padding};
    entry->next = *bucket;
    *bucket = entry;
    return &entry->type;
}

const struct type *type_array(struct types *types, const struct type *element, uint64_t length)
{
    return list_type(types, TYPE_ARRAY, element, length);
}

const struct type *type_vector(struct types *types, const struct type *element, uint64_t length)
{
    return list_type(types, TYPE_VECTOR, element, length);
}

const struct type *type_struct(struct types *types, const char *name, struct span span,
                               struct type_field *fields, uint32_t field_count)
{
    struct type *type = ARENA_NEW(types->arena, struct type);
    uint64_t end = 0, used = 0;
    *type = (struct type){.kind = TYPE_STRUCT,
                          .name = name,
                          .span = span,
                          .fields = fields,
                          .field_count = field_count,
                          .alignment_bytes = 1};
    for (uint32_t i = 0; i < field_count; i++) {
        const struct type *field = fields[i].type;
        if (!align_checked(end, field->alignment_bytes, &end)) return NULL;
        fields[i].offset_bytes = end;
        fields[i].first_scalar = type->scalar_count;
        if (__builtin_add_overflow(end, field->width_bytes, &end)) return NULL;
        used += field->width_bytes;
        type->scalar_count += field->scalar_count;
        type->has_floats |= field->has_floats;
        type->has_padding |= field->has_padding;
        if (field->alignment_bytes > type->alignment_bytes)
            type->alignment_bytes = field->alignment_bytes;
    }
    if (!align_checked(end, type->alignment_bytes, &end) || end > INT64_MAX) return NULL;
    type->width_bytes = end;
    type->has_padding |= used != end;
    return type;
}

const struct type *type_base(const struct type *type)
{
    while (type_is_indexed(type))
        type = type->element;
    return type;
}

static void each_scalar(const struct type *type, uint64_t offset_bytes, type_visit *visit,
                        void *data)
{
    switch (type->kind) {
    case TYPE_VOID: break;
    case TYPE_SCALAR: visit(type->scalar, offset_bytes, data); break;
    case TYPE_ARRAY:
    case TYPE_VECTOR:
        for (uint64_t i = 0; i < type->length; i++)
            each_scalar(type->element, offset_bytes + i * type->element->width_bytes, visit, data);
        break;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < type->field_count; i++)
            each_scalar(type->fields[i].type, offset_bytes + type->fields[i].offset_bytes, visit,
                        data);
        break;
    }
}

void type_each_scalar(const struct type *type, type_visit *visit, void *data)
{
    each_scalar(type, 0, visit, data);
}

static const char *base_text(struct arena *arena, const struct type *type)
{
    switch (type->kind) {
    case TYPE_VOID: return "void";
    case TYPE_STRUCT: return type->name;
    case TYPE_VECTOR:
        return arena_printf(arena, "%sx%llu", scalar_name(type->element->scalar),
                            (unsigned long long)type->length);
    default: return scalar_name(type->scalar);
    }
}

const char *type_text(struct arena *arena, const struct type *type)
{
    const struct type *base = type;
    while (base->kind == TYPE_ARRAY)
        base = base->element;
    const char *text = base_text(arena, base);
    for (; type->kind == TYPE_ARRAY; type = type->element)
        text = arena_printf(arena, "%s[%llu]", text, (unsigned long long)type->length);
    return text;
}
