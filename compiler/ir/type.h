/* SPDX-License-Identifier: MIT */
/*
 * type: the types of values and packets after checking.
 *
 * Types are interned per compilation: equal types are the same pointer; each declaration of a
 * struct is a type of its own.  Layout is the runtime's: scalars at their width (bool is one byte,
 * 0 or 1); arrays and vectors contiguous, alignment that of the element; structs as in C: fields in
 * order, each at the next multiple of its alignment, the size a multiple of the largest alignment.
 * Padding between fields is zero wherever it is visible.
 *
 * The scalars of a value in order (arrays and vectors by index, structs by field) are its
 * *flattened* form, which constants use.
 */
#ifndef PIPEC_TYPE_H
#define PIPEC_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "compiler/support/source.h"
#include "lang/scalar.h"

enum type_kind { TYPE_VOID, TYPE_SCALAR, TYPE_ARRAY, TYPE_VECTOR, TYPE_STRUCT };

struct type_field {
    const char *name; /* interned */
    struct span span;
    const struct type *type;
    uint64_t offset_bytes;
    uint64_t first_scalar; /* in the flattened form */
};

struct type {
    enum type_kind kind;
    enum scalar_type scalar;         /* TYPE_SCALAR */
    const struct type *element;      /* TYPE_ARRAY, TYPE_VECTOR (a scalar) */
    uint64_t length;                 /* TYPE_ARRAY, TYPE_VECTOR */
    const char *name;                /* TYPE_STRUCT */
    struct span span;                /* TYPE_STRUCT: of its name where it is declared */
    const struct type_field *fields; /* TYPE_STRUCT */
    uint32_t field_count;            /* TYPE_STRUCT, 1.. */
    uint64_t width_bytes;            /* whole value */
    uint64_t scalar_count;           /* in the flattened form */
    uint32_t alignment_bytes;
    bool has_floats;  /* f16, bf16, f32 or f64 anywhere */
    bool has_padding; /* bytes that belong to no field */
};

struct types;

struct types *types_create(struct arena *arena);
const struct type *type_void(struct types *types);
const struct type *type_scalar(struct types *types, enum scalar_type scalar);
/* NULL when the size overflows 63 bits. */
const struct type *type_array(struct types *types, const struct type *element, uint64_t length);
/* `element` is a scalar, `length` 2, 3, 4, 8 or 16. */
const struct type *type_vector(struct types *types, const struct type *element, uint64_t length);
/* A new struct; keeps `fields` and fills their offsets.  NULL when the size overflows. */
const struct type *type_struct(struct types *types, const char *name, struct span span,
                               struct type_field *fields, uint32_t field_count);
/* As the user writes it: `i32`, `f32[3][4]` (outermost dimension first). */
const char *type_text(struct arena *arena, const struct type *type);
/* The scalar, struct or void that an array or vector is made of, through all its dimensions. */
const struct type *type_base(const struct type *type);
/* Calls `visit` for every scalar of a value with its place in bytes, in flattened order. */
typedef void type_visit(enum scalar_type scalar, uint64_t offset_bytes, void *data);
void type_each_scalar(const struct type *type, type_visit *visit, void *data);

static inline uint64_t type_scalar_count(const struct type *type)
{
    return type->scalar_count;
}

static inline bool type_is_scalar(const struct type *t)
{
    return t->kind == TYPE_SCALAR;
}
static inline bool type_is_vector(const struct type *t)
{
    return t->kind == TYPE_VECTOR;
}
/* Values in memory, not in a register: arrays, vectors, structs. */
static inline bool type_is_aggregate(const struct type *t)
{
    return t->kind == TYPE_ARRAY || t->kind == TYPE_VECTOR || t->kind == TYPE_STRUCT;
}
/* Types whose values take an index. */
static inline bool type_is_indexed(const struct type *t)
{
    return t->kind == TYPE_ARRAY || t->kind == TYPE_VECTOR;
}
/* Types that run-time arguments may have: scalars, vectors, and arrays of them. */
static inline bool type_is_of_scalars(const struct type *t)
{
    while (type_is_indexed(t))
        t = t->element;
    return t->kind == TYPE_SCALAR;
}
/* The type of one operation: a vector's element, a scalar itself. */
static inline const struct type *type_item(const struct type *t)
{
    return t->kind == TYPE_VECTOR ? t->element : t;
}
/* f16, bf16: stored only, computed with as f32. */
static inline bool type_is_half(const struct type *t)
{
    return t->kind == TYPE_SCALAR && (t->scalar == SCALAR_F16 || t->scalar == SCALAR_BF16);
}
static inline bool type_is_float(const struct type *t)
{
    return t->kind == TYPE_SCALAR && scalar_is_float(t->scalar);
}
static inline bool type_is_bool(const struct type *t)
{
    return t->kind == TYPE_SCALAR && t->scalar == SCALAR_BOOL;
}
static inline bool type_is_integer(const struct type *t)
{
    return t->kind == TYPE_SCALAR && !scalar_is_float(t->scalar) && t->scalar != SCALAR_BOOL;
}

/* A scalar value.  Integers and bool: two's complement in `bits`, sign- or zero-extended to 64 by
 * their type. f32: its 32 bits in the low half, f16 and bf16: their 16 bits.  f64: its 64 bits.
 * Never compare floats by `bits` for arithmetic. */
struct scalar_value {
    enum scalar_type type;
    uint64_t bits;
};

#endif
