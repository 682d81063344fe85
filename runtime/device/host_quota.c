/* SPDX-License-Identifier: MIT */
#include "runtime/device/host_quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_LIMIT UINT64_MAX

enum resource { PROCESSORS, MEMORY };

/* A hierarchy of groups that limits a resource, and the process's group in it. */
struct hierarchy {
    enum resource resource;
    bool is_first; /* version 1 */
    char group[PATH_MAX];
};

/* Where its folders are: those of `root` and of the groups in it. */
struct place {
    char root[PATH_MAX], folder[PATH_MAX];
};

/* ---- one group ---- */

/* The start of a file; "": it cannot be read. */
static void read_start(const char *folder, const char *name, char *text, int size)
{
    char path[PATH_MAX + 32];
    text[0] = '\0';
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) return;
    FILE *opened = fopen(path, "re");
    if (opened == NULL) return;
    if (fgets(text, size, opened) == NULL) text[0] = '\0';
    fclose(opened);
}

/* The number that begins the text, and the text after it; false: no number begins it. */
static bool read_number(const char *text, uint64_t *number, char **rest)
{
    if (text[0] < '0' || text[0] > '9') return false;
    *number = strtoull(text, rest, 10);
    return true;
}

/* Microseconds of processors in a period: "QUOTA PERIOD", or "max PERIOD"; in version 1 in two files, -1 for no
 * limit. */
static uint64_t processors_of(const char *folder, bool is_first)
{
    char quota_text[128], period_text[128], *rest;
    uint64_t quota, period;
    read_start(folder, is_first ? "cpu.cfs_quota_us" : "cpu.max", quota_text, sizeof quota_text);
    if (is_first) read_start(folder, "cpu.cfs_period_us", period_text, sizeof period_text);
    if (!read_number(quota_text, &quota, &rest)) return NO_LIMIT;
    const char *second = is_first ? period_text : rest + strspn(rest, " ");
    if (!read_number(second, &period, &rest) || period == 0) return NO_LIMIT;
    uint64_t processors = quota / period + (quota % period > 0);
    return processors > 0 ? processors : 1;
}

/* "BYTES", or "max"; in version 1 no limit is a number beyond any memory. */
static uint64_t memory_of(const char *folder, bool is_first)
{
    char text[128], *rest;
    uint64_t bytes;
    read_start(folder, is_first ? "memory.limit_in_bytes" : "memory.max", text, sizeof text);
    if (!read_number(text, &bytes, &rest)) return NO_LIMIT;
    return *rest == '\0' || *rest == '\n' ? bytes : NO_LIMIT;
}

static const char *controller_of(const struct hierarchy *hierarchy)
{
    return hierarchy->resource == MEMORY ? "memory" : "cpu";
}

/* ---- which groups ---- */

static bool list_has_word(const char *list, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at < list + length; at += strcspn(at, ",") + 1)
        if (strcspn(at, ",:\n ") == size && strncmp(at, word, size) == 0) return true;
    return false;
}

static void end_line(char *line)
{
    char *end = strchr(line, '\n');
    if (end != NULL) *end = '\0';
}

/* A line "ID:CONTROLLERS:PATH": of version 2 "0::PATH". */
static bool read_group(char *line, struct hierarchy *hierarchy)
{
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL || group[1] != '/') return false;
    size_t length = (size_t)(group - controllers - 1);
    if (hierarchy->is_first ? !list_has_word(controllers + 1, length, controller_of(hierarchy))
                            : strncmp(line, "0::", 3) != 0)
        return false;
    end_line(line);
    memcpy(hierarchy->group, group + 1, strlen(group + 1) + 1);
    return true;
}

static bool find_group(const char *groups, struct hierarchy *hierarchy)
{
    char line[PATH_MAX];
    FILE *opened = fopen(groups, "re");
    bool found = false;
    if (opened == NULL) return false;
    while (!found && fgets(line, sizeof line, opened) != NULL)
        found = read_group(line, hierarchy);
    fclose(opened);
    return found;
}

/* ---- where they are ---- */

/* In place: a space, a tab, a line's end and a backslash stand there as \NNN, in octal. */
static void unescape_octal(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        char digits[4] = "";
        if (*from == '\\') memcpy(digits, from + 1, strnlen(from + 1, 3));
        if (strlen(digits) == 3 && strspn(digits, "01234567") == 3) {
            *to = (char)strtoul(digits, NULL, 8);
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* A line "ID PARENT DEVICE ROOT FOLDER OPTIONS [FIELD...] - TYPE SOURCE OPTIONS". */
static bool read_mount(char *line, const struct hierarchy *hierarchy, struct place *place)
{
    char type[16], *separator = strstr(line, " - ");
    int at = 0;
    end_line(line);
    if (separator == NULL) return false;
    if (sscanf(separator, " - %15s %*s %n", type, &at) != 1 || at == 0) return false;
    const char *options = separator + at;
    if (strcmp(type, hierarchy->is_first ? "cgroup" : "cgroup2") != 0) return false;
    if (hierarchy->is_first && !list_has_word(options, strlen(options), controller_of(hierarchy)))
        return false;
    *separator = '\0';
    /* The widths are those of `struct place`: PATH_MAX with the byte that ends a path. */
    if (sscanf(line, "%*s %*s %*s %4095s %4095s", place->root, place->folder) != 2) return false;
    unescape_octal(place->root);
    unescape_octal(place->folder);
    return true;
}

/* The path of the group below the mounted folder; NULL: it is not in there. */
static const char *path_below(const struct hierarchy *hierarchy, const char *root)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    const char *path = hierarchy->group + length;
    if (strncmp(hierarchy->group, root, length) != 0) return NULL;
    return *path == '/' || *path == '\0' ? path : NULL;
}

/* The minimum over the group and the groups that contain it, as far as they are mounted. */
static uint64_t least_of_groups(const struct hierarchy *hierarchy, const struct place *place)
{
    char folder[2 * PATH_MAX];
    uint64_t least = NO_LIMIT;
    const char *path = path_below(hierarchy, place->root);
    if (path == NULL) return least;
    size_t base = strlen(place->folder);
    snprintf(folder, sizeof folder, "%s%s", place->folder, path);
    for (char *end = folder + strlen(folder); end != NULL; end = strrchr(folder + base, '/')) {
        *end = '\0';
        uint64_t limit = hierarchy->resource == MEMORY ? memory_of(folder, hierarchy->is_first)
                                                       : processors_of(folder, hierarchy->is_first);
        if (limit < least) least = limit;
    }
    return least;
}

static uint64_t quota_of(const char *groups, const char *mounts, enum resource resource,
                         bool is_first)
{
    struct hierarchy hierarchy = {.resource = resource, .is_first = is_first};
    struct place place;
    char line[4 * PATH_MAX];
    uint64_t least = NO_LIMIT;
    if (!find_group(groups, &hierarchy)) return least;
    FILE *opened = fopen(mounts, "re");
    if (opened == NULL) return least;
    while (fgets(line, sizeof line, opened) != NULL) {
        if (!read_mount(line, &hierarchy, &place)) continue;
        uint64_t limit = least_of_groups(&hierarchy, &place);
        if (limit < least) least = limit;
    }
    fclose(opened);
    return least;
}

static uint64_t least_of_versions(const char *groups, const char *mounts, enum resource resource)
{
    uint64_t first = quota_of(groups, mounts, resource, true);
    uint64_t second = quota_of(groups, mounts, resource, false);
    return first < second ? first : second;
}

uint32_t prt_host_quota_processors(const char *groups, const char *mounts)
{
    uint64_t processors = least_of_versions(groups, mounts, PROCESSORS);
    return processors < UINT32_MAX ? (uint32_t)processors : UINT32_MAX;
}

uint64_t prt_host_quota_memory_bytes(const char *groups, const char *mounts)
{
    return least_of_versions(groups, mounts, MEMORY);
}
