/* SPDX-License-Identifier: MIT */
/*
 * source_paths: the sources that a command's arguments name.
 *
 * A folder stands for every file *.pipe in it and in its subfolders, in order of name. Files and folders
 * whose names begin with a dot, and links to folders, are skipped. Any other argument stands for itself,
 * "-" included.
 */
#ifndef PIPEC_SOURCE_PATHS_H
#define PIPEC_SOURCE_PATHS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"

enum { SOURCE_FOLDERS_MAX = 200 }; /* nested, the named one included */

struct unread_folder {
    const char *path;
    int error; /* errno; 0: too many nested folders */
};

struct source_paths {
    VEC(const char *) items;
    VEC(struct unread_folder) unread; /* folders that could not be read, or not as a whole */
    size_t visits_max;                /* of files and folders of any name; 0: any number */
    size_t visits;
    bool cut; /* there are more */
};

void source_paths_add(struct source_paths *paths, struct arena *arena, const char *argument);

#endif
