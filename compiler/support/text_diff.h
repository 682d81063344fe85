/* SPDX-License-Identifier: MIT */
/*
 * text_diff: the unified diff of two texts, with three lines of context around each change.
 *
 * The number of changed lines is the minimum, up to some thousands. Beyond that, the text between the
 * common beginning and the common end is shown as one change.
 */
#ifndef PIPEC_TEXT_DIFF_H
#define PIPEC_TEXT_DIFF_H

#include <stddef.h>
#include <stdio.h>

struct text {
    const char *name, *bytes;
    size_t size_bytes;
};

/* Prints nothing if the texts are equal. */
void text_diff(FILE *to, const struct text *before, const struct text *after);

#endif
