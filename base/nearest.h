/* SPDX-License-Identifier: MIT */
/*
 * nearest: of several names the one most like another, for "did you mean".
 *
 * Ownership: names are borrowed.  Thread-safety: pure.  Errors: none.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/* Begins as {.wanted = WORD}. */
struct nearest {
    const char *wanted;
    const char *name;        /* the nearest candidate, however far; NULL while there was none */
    bool near;               /* near enough to be what was meant */
    size_t distance, folded; /* edits from `wanted` to `name`; where case does not count */
};

/* Names of more than 128 bytes are passed over. */
void nearest_consider(struct nearest *nearest, const char *candidate);
/* The candidate that is near enough to be what was meant, or NULL. */
const char *nearest_name(const char *wanted, const char *const *candidates, size_t count);
/* The same for an option as it was written: `--devcie=x`, `-device`; `options` ends with zeros.
 * NULL for a single letter. */
const char *nearest_option(const char *written, const struct option *options);
/* The argument that getopt_long has just called unknown: of a cluster of letters (`-xvf`) all. */
const char *unknown_option(char *const *argv);

#endif
