/* SPDX-License-Identifier: MIT */
/*
 * output_target: the target of a path that is written as a new file, which is renamed when it is complete.
 *
 * Links are followed, and so are kept, whether or not their target exists. /dev/stdout, /dev/fd/3,
 * /proc/self/fd/3, and links to these are descriptors: a rename would replace the entry of /dev.
 *
 * Ownership: the caller frees `path`.  Thread-safety: yes.
 */
#ifndef BASE_OUTPUT_TARGET_H
#define BASE_OUTPUT_TARGET_H

#include <stdbool.h>

struct output_target {
    char *path;     /* NULL: the target is a descriptor */
    int descriptor; /* of this process; -1: the target is `path` */
};

/* False: no memory, or a cycle of links (errno). */
bool output_target_find(const char *path, struct output_target *target);

#endif
