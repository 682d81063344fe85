/* SPDX-License-Identifier: MIT */
#include "base/output_target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* the limit of Linux */

/* The N of /proc/self/fd/N and /dev/fd/N; -1 for other paths. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/proc/self/fd/", "/dev/fd/"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) != 0) continue;
        if (path[length] < '0' || path[length] > '9') continue;
        long number = strtol(path + length, &end, 10);
        if (*end == '\0' && number <= INT_MAX) return (int)number;
    }
    return -1;
}

/* The path that the link at `path` names; NULL: no memory. */
static char *link_target(const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    char *whole;
    if (text[0] == '/' || slash == NULL) return strdup(text);
    return asprintf(&whole, "%.*s%s", (int)(slash - path) + 1, path, text) < 0 ? NULL : whole;
}

bool output_target_find(const char *path, struct output_target *target)
{
    char text[PATH_MAX];
    *target = (struct output_target){strdup(path), -1};
    for (int links = 0; target->path != NULL; links++) {
        target->descriptor = descriptor_of(target->path);
        ssize_t length =
            target->descriptor < 0 ? readlink(target->path, text, sizeof text - 1) : -1;
        if (length < 0) break;
        text[length] = '\0';
        char *next = links < LINKS_MAX ? link_target(target->path, text) : NULL;
        int error = links < LINKS_MAX ? ENOMEM : ELOOP;
        free(target->path);
        target->path = next;
        errno = error;
    }
    if (target->path == NULL) return false;
    if (target->descriptor >= 0) {
        free(target->path);
        target->path = NULL;
    }
    return true;
}
