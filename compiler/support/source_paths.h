/* SPDX-License-Identifier: MIT */
/*
 * source_paths: the sources that a command's arguments name.
 *
 * A folder stands for every file *.pipe in it and below it, in order of name; folders and files
 * whose names begin with a dot are passed over, and so are links to folders.  Any other argument
 * stands for itself, "-" included.  Folders within each other are counted with the one that is named.
 */
#ifndef PIPEC_SOURCE_PATHS_H
#define PIPEC_SOURCE_PATHS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"

enum { SOURCE_FOLDERS_MAX = 200 }; /* within each other */

struct source_paths {
    VEC(const char *) items;
    const char *failed; /* a folder that could not be read, or NULL */
    bool too_deep;      /* because there are too many around it; else errno says why */
};

/* False: `failed` cannot be read; what was found before it is in the list. */
bool source_paths_add(struct source_paths *paths, struct arena *arena, const char *argument);

#endif
