/* SPDX-License-Identifier: MIT */
/*
 * baseline_internal: what is in a baseline; for baseline.c and baseline_read.c.
 */
#ifndef PIPEC_BASELINE_INTERNAL_H
#define PIPEC_BASELINE_INTERNAL_H

#include "compiler/lint/baseline.h"

enum { BASELINE_VERSION = 1 };

struct entry {
    const char *file, *rule, *line;
    uint64_t count; /* that are accepted */
    uint64_t found;
    bool examined;
};

struct baseline {
    const char *path;
    struct entry *entries; /* sorted */
    size_t count;
};

/* Sorts; equal entries become one. */
void baseline_sort(struct baseline *baseline);

#endif
