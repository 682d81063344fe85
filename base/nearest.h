/* SPDX-License-Identifier: MIT */
/*
 * nearest: the name of several that is most similar to another one, for "did you mean".
 *
 * Ownership: names are borrowed.  Thread-safety: pure.  Errors: none.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/* Longer names are not compared. */
enum { NAME_COMPARED_MAX = 128 };

/* Damerau-Levenshtein: insertions, deletions, replacements, and exchanges of neighbours. The lengths are at most
 * NAME_COMPARED_MAX. `fold`: without regard to case. */
size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length, bool fold);

/* Begins as {.wanted = WORD}. */
struct nearest {
    const char *wanted;
    const char *name;        /* the nearest candidate at any distance; NULL: no candidate yet */
    bool near;               /* near enough for "did you mean" */
    size_t distance, folded; /* edits from `wanted` to `name`, with and without regard to case */
};

/* Ignores names of more than NAME_COMPARED_MAX bytes. */
void nearest_consider(struct nearest *nearest, const char *candidate);
/* The candidate that is near enough for "did you mean", or NULL. */
const char *nearest_name(const char *wanted, const char *const *candidates, size_t count);
/* As nearest_name, for an option as written: `--devcie=x`, `-device`. `options` ends with zeros.
 * NULL for a single letter. */
const char *nearest_option(const char *written, const struct option *options);
/* The argument that getopt_long has just reported as unknown. Of a cluster of letters (`-xvf`):
 * all of it. */
const char *unknown_option(char *const *argv);

#endif
