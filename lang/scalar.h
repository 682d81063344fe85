/* SPDX-License-Identifier: MIT */
/* Scalar types: what compiler and runtime agree on about the elements of packets.
 *
 * Requires: nothing (libc headers only; every function is static inline, so both halves include it
 *   without sharing an object file).
 * Ownership: returned strings are literals.
 * Thread-safety: pure functions.
 * Errors: a value outside the enum gives NULL, 0 or false; scalar_from_name says whether it found.
 * Rule: lang/scalars.def; reference manual, "Buffers" (TYPE is the width).
 */
#ifndef LANG_SCALAR_H
#define LANG_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum scalar_type {
#define X(suffix, name, width_bytes, kind) SCALAR_##suffix,
#include "lang/scalars.def"
#undef X
};

enum scalar_kind {
    SCALAR_KIND_NONE, /* not a scalar type */
    SCALAR_KIND_BOOL,
    SCALAR_KIND_SIGNED,
    SCALAR_KIND_UNSIGNED,
    SCALAR_KIND_FLOAT
};

#define X(suffix, name, width_bytes, kind) +1
enum {
    SCALAR_COUNT = 0
#include "lang/scalars.def"
};
#undef X

/* The language's name of `type`, NULL outside the enum. */
static inline const char *scalar_name(enum scalar_type type)
{
    switch (type) {
#define X(suffix, name, width_bytes, kind)                                                         \
    case SCALAR_##suffix: return name;
#include "lang/scalars.def"
#undef X
    }
    return NULL;
}

/* Bytes of one packet of `type`, 0 outside the enum. */
static inline size_t scalar_width_bytes(enum scalar_type type)
{
    switch (type) {
#define X(suffix, name, width_bytes, kind)                                                         \
    case SCALAR_##suffix: return width_bytes;
#include "lang/scalars.def"
#undef X
    }
    return 0;
}

static inline enum scalar_kind scalar_kind(enum scalar_type type)
{
    switch (type) {
#define X(suffix, name, width_bytes, kind)                                                         \
    case SCALAR_##suffix: return SCALAR_KIND_##kind;
#include "lang/scalars.def"
#undef X
    }
    return SCALAR_KIND_NONE;
}

static inline bool scalar_is_float(enum scalar_type type)
{
    return scalar_kind(type) == SCALAR_KIND_FLOAT;
}

/* True for i8..i64 and the floats: the types that hold negative values. */
static inline bool scalar_is_signed(enum scalar_type type)
{
    return scalar_kind(type) == SCALAR_KIND_SIGNED || scalar_is_float(type);
}

/* True for i8..i64 and u8..u64; bool is no integer. */
static inline bool scalar_is_integer(enum scalar_type type)
{
    return scalar_kind(type) == SCALAR_KIND_SIGNED || scalar_kind(type) == SCALAR_KIND_UNSIGNED;
}

/* Finds the type written as the `length` bytes at `name` (exact, not NUL-terminated).  Fills
 * `*type` and returns true, or returns false and leaves it. */
static inline bool scalar_from_name(const char *name, size_t length, enum scalar_type *type)
{
#define X(suffix, spelling, width_bytes, kind)                                                     \
    if (length == sizeof(spelling) - 1 && memcmp(name, spelling, length) == 0) {                   \
        *type = SCALAR_##suffix;                                                                   \
        return true;                                                                               \
    }
#include "lang/scalars.def"
#undef X
    return false;
}

#endif
