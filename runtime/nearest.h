/*
 * nearest: of several names the one most like another, for "did you mean".
 *
 * Ownership: names are borrowed.  Thread-safety: pure.  Errors: none.
 */
#ifndef RUNTIME_NEAREST_H
#define RUNTIME_NEAREST_H

#include <stddef.h>

/* The candidate nearest to `wanted`, for "did you mean": name NULL while there was none. */
struct prt_nearest {
    const char *wanted, *name;
    size_t distance;
};

void prt_nearest_consider(struct prt_nearest *nearest, const char *candidate);

/* The nearest candidate if it is so near that it may have been meant: a letter in three at most is
 * another one.  Else NULL. */
const char *prt_nearest_close(const struct prt_nearest *nearest);

#endif
