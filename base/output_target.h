/* SPDX-License-Identifier: MIT */
/*
 * output_target: what a path leads to that is to be written as a new file and renamed when it is whole.
 *
 * Links are followed, so that they stay: to a file that is there, or is not there yet.  /dev/stdout, /dev/fd/3,
 * /proc/self/fd/3, and links to them, are descriptors: a rename would replace the entry of /dev itself.
 *
 * Ownership: `path` is the caller's to free.  Thread-safety: yes.
 */
#ifndef BASE_OUTPUT_TARGET_H
#define BASE_OUTPUT_TARGET_H

#include <stdbool.h>

struct output_target {
    char *path;     /* NULL: a descriptor */
    int descriptor; /* of this process; -1: `path` */
};

/* False: no memory, or links without an end (errno). */
bool output_target_find(const char *path, struct output_target *target);

#endif
