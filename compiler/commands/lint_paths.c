/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/commands/command_lint.h"
#include "compiler/driver/driver_files.h"
#include "compiler/support/source_paths.h"

struct finder {
    struct lint_paths *paths;
    struct arena *arena;
};

static void cannot_read(struct finder *finder, const char *path)
{
    file_failure("read", path);
    finder->paths->failed = true;
}

static void add_lint_path(struct finder *finder, const char *path, const struct stat *info)
{
    struct lint_path item = {path, info->st_dev, info->st_ino};
    vec_push(finder->arena, &finder->paths->items, item);
}

static bool is_lintable_name(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".pipe") == 0;
}

/* Holds the names of one folder in memory, and opens subfolders one at a time. */
static void visit_folder(struct finder *finder, const char *path, unsigned depth);

static void visit_entry(struct finder *finder, const char *folder, const char *name, unsigned depth)
{
    struct stat info;
    const char *path = strcmp(folder, ".") == 0
                           ? arena_string(finder->arena, name, strlen(name))
                           : arena_printf(finder->arena, "%s/%s", folder, name);
    if (lstat(path, &info) != 0) return; /* removed in the meantime */
    if (S_ISDIR(info.st_mode)) {
        visit_folder(finder, path, depth + 1);
        return;
    }
    if (!is_lintable_name(name)) return;
    if (S_ISLNK(info.st_mode) && stat(path, &info) != 0) return;
    if (S_ISREG(info.st_mode)) add_lint_path(finder, path, &info);
}

static void visit_folder(struct finder *finder, const char *path, unsigned depth)
{
    if (depth >= SOURCE_FOLDERS_MAX) {
        folder_too_deep(path);
        finder->paths->failed = true;
        return;
    }
    DIR *folder = opendir(path);
    if (folder == NULL) {
        cannot_read(finder, path);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') visit_entry(finder, path, entry->d_name, depth);
    closedir(folder);
}

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

static void visit_name(struct finder *finder, const char *name)
{
    struct stat info = {0};
    if (strcmp(name, "-") == 0) {
        add_lint_path(finder, name, &info);
        return;
    }
    name = plain_name(finder->arena, name);
    if (stat(name, &info) != 0)
        cannot_read(finder, name);
    else if (S_ISDIR(info.st_mode))
        visit_folder(finder, name, 0);
    else
        add_lint_path(finder, name, &info);
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
    struct finder finder = {paths, arena};
    for (size_t i = 0; i < count; i++)
        visit_name(&finder, names[i]);
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
