/* SPDX-License-Identifier: MIT */
#include "compiler/commands/piperun_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *piperun_path(struct arena *arena, const char *wanted)
{
    char self[PATH_MAX];
    if (wanted != NULL) {
        char *whole = strchr(wanted, '/') != NULL ? realpath(wanted, NULL) : NULL;
        const char *path = whole != NULL ? arena_printf(arena, "%s", whole) : wanted;
        free(whole);
        return path;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        char *slash = strrchr(self, '/');
        const char *beside = arena_printf(arena, "%.*s/piperun", (int)(slash - self), self);
        if (access(beside, X_OK) == 0) return beside;
    }
    return "piperun";
}
