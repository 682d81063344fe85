/* SPDX-License-Identifier: MIT */
/*
 * array_allocate: zeroed memory for an array whose count may be 0.
 *
 * Ownership: the caller frees it.  Thread-safety: as calloc.  Errors: NULL: there is not so much memory, or the size
 * does not fit.  It is never NULL because the count is 0.
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
