/*
 * type: the types of values and packets after checking.
 *
 * Types are interned per compilation: equal types are the same pointer.  Scalars and arrays exist
 * now; vectors and structs join the enumeration.  Layout is the runtime's: scalars at their width
 * (bool is one byte, 0 or 1), arrays contiguous, alignment that of the element.
 */
#ifndef PIPEC_TYPE_H
#define PIPEC_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/support/arena.h"
#include "lang/scalar.h"

enum type_kind { TYPE_VOID, TYPE_SCALAR, TYPE_ARRAY };

struct type {
    enum type_kind kind;
    enum scalar_type scalar;    /* TYPE_SCALAR */
    const struct type *element; /* TYPE_ARRAY */
    uint64_t length;            /* TYPE_ARRAY */
    uint64_t width_bytes;       /* whole value */
    uint32_t alignment_bytes;
};

struct types;

struct types *types_create(struct arena *arena);
const struct type *type_void(struct types *types);
const struct type *type_scalar(struct types *types, enum scalar_type scalar);
/* NULL when the size overflows 63 bits. */
const struct type *type_array(struct types *types, const struct type *element, uint64_t length);
/* As the user writes it: `i32`, `f32[3][4]` (outermost dimension first). */
const char *type_text(struct arena *arena, const struct type *type);
/* The scalar (or void) that an array is made of, through all its dimensions. */
const struct type *type_base(const struct type *type);
/* Scalars in a value: 1 for a scalar, the product of the lengths for an array. */
uint64_t type_scalar_count(const struct type *type);

static inline bool type_is_scalar(const struct type *t)
{
    return t->kind == TYPE_SCALAR;
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
 * their type. f32: its 32 bits in the low half.  f64: its 64 bits.  Never compare floats by `bits`
 * for arithmetic. */
struct scalar_value {
    enum scalar_type type;
    uint64_t bits;
};

#endif
