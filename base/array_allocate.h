/* SPDX-License-Identifier: MIT */
/*
 * array_allocate: zeroed memory for an array whose count may be 0.
 *
 * Ownership: the caller frees it.  Thread-safety: that of calloc.  Errors: NULL, if the size overflows or there is too
 * little memory.  With count 0 it returns memory, too.
 */
#ifndef BASE_ARRAY_ALLOCATE_H
#define BASE_ARRAY_ALLOCATE_H

#include <stddef.h>
#include <stdlib.h>

static inline void *array_allocate(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

#endif
