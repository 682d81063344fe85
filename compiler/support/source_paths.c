/* SPDX-License-Identifier: MIT */
#include "compiler/support/source_paths.h"
#include "base/words.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_source_name(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".pipe") == 0;
}

/* Counts the visit. */
static bool is_visited(struct source_paths *paths, const char *name)
{
    if (name[0] == '.') return false;
    paths->cut |= paths->visits_max != 0 && paths->visits == paths->visits_max;
    if (!paths->cut) paths->visits++;
    return !paths->cut;
}

static void add_source_folder(struct source_paths *paths, struct arena *arena, const char *folder,
                              unsigned depth)
{
    VEC(const char *) names = {0};
    struct dirent *entry;
    errno = 0;
    DIR *open = depth < SOURCE_FOLDERS_MAX ? opendir(folder) : NULL;
    while (open != NULL && (errno = 0, entry = readdir(open)) != NULL)
        if (is_visited(paths, entry->d_name))
            vec_push(arena, &names, arena_string(arena, entry->d_name, strlen(entry->d_name)));
    if (open == NULL || errno != 0)
        vec_push(arena, &paths->unread, (struct unread_folder){folder, errno});
    if (open != NULL) closedir(open);
    if (names.count > 1) qsort(names.items, names.count, sizeof *names.items, words_compare);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < names.count; i++) {
        const char *path = arena_printf(arena, "%s%s%s", folder, slash, names.items[i]);
        struct stat status;
        if (lstat(path, &status) != 0) continue; /* removed in the meantime */
        if (S_ISDIR(status.st_mode))
            add_source_folder(paths, arena, path, depth + 1);
        else if (is_source_name(path) && stat(path, &status) == 0 && S_ISREG(status.st_mode))
            vec_push(arena, &paths->items, path);
    }
}

void source_paths_add(struct source_paths *paths, struct arena *arena, const char *argument)
{
    struct stat status;
    bool is_folder = strcmp(argument, "-") != 0 && argument[0] != '\0' &&
                     stat(argument, &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder)
        add_source_folder(paths, arena, argument, 0);
    else
        vec_push(arena, &paths->items, argument);
}
