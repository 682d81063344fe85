/* SPDX-License-Identifier: MIT */
/*
 * text_diff: the unified diff of two texts, three lines of context around each change.
 *
 * The changes are the fewest, as long as there are not more than some thousands; else what lies
 * between the common beginning and the common end is shown as one change.
 */
#ifndef PIPEC_TEXT_DIFF_H
#define PIPEC_TEXT_DIFF_H

#include <stddef.h>
#include <stdio.h>

struct text {
    const char *name, *bytes;
    size_t size_bytes;
};

/* Nothing is printed where they are equal. */
void text_diff(FILE *to, const struct text *before, const struct text *after);

#endif
