/* SPDX-License-Identifier: MIT */
/*
 * plural: the ending of a noun after a count: "1 packet", "3 packets".
 *
 * Ownership: a literal.  Thread-safety: pure.  Errors: none.
 */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
