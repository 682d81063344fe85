/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/commands/command_lint.h"
#include "compiler/driver/driver_files.h"

/* "./a/" becomes "a", and "./" becomes ".". */
static const char *plain_name(struct arena *arena, const char *name)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        length--;
    while (length > 2 && name[0] == '.' && name[1] == '/') {
        name += 2;
        length -= 2;
    }
    return arena_string(arena, name, length);
}

static void add_named(struct lint_paths *paths, struct arena *arena, const char *name)
{
    struct source_paths found = {0};
    source_paths_add(&found, arena, plain_name(arena, name));
    if (unread_folders(&found) != EXIT_DONE) paths->failed = true;
    for (size_t i = 0; i < found.items.count; i++) {
        const char *path = plain_name(arena, found.items.items[i]);
        struct stat info = {0};
        if (strcmp(path, "-") != 0 && stat(path, &info) != 0) {
            file_failure("read", path);
            paths->failed = true;
        } else {
            struct lint_path item = {path, info.st_dev, info.st_ino};
            vec_push(arena, &paths->items, item);
        }
    }
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct lint_path *)a)->path, ((const struct lint_path *)b)->path);
}

static int compare_files(const void *a, const void *b)
{
    const struct lint_path *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
    return strcmp(x->path, y->path);
}

void lint_paths_find(struct lint_paths *paths, struct arena *arena, const char *const *names,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_named(paths, arena, names[i]);
    if (paths->items.count == 0) return;
    qsort(paths->items.items, paths->items.count, sizeof(struct lint_path), compare_files);
    /* Of several names of one file, keeps the first in order. */
    size_t kept = 0;
    for (size_t i = 0; i < paths->items.count; i++) {
        struct lint_path *item = &paths->items.items[i];
        struct lint_path *last = kept > 0 ? &paths->items.items[kept - 1] : NULL;
        if (last != NULL && last->device == item->device && last->inode == item->inode) continue;
        paths->items.items[kept++] = *item;
    }
    paths->items.count = kept;
    qsort(paths->items.items, paths->items.count, sizeof(struct lint_path), compare_paths);
}
