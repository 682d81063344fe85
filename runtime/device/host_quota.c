#include "runtime/device/host_quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one group: "QUOTA PERIOD", in microseconds, or "max PERIOD". */
static uint32_t limit_of(const char *file)
{
    char line[128], *behind;
    FILE *opened = fopen(file, "re");
    if (opened == NULL) return UINT32_MAX;
    bool told = fgets(line, sizeof line, opened) != NULL;
    fclose(opened);
    if (!told) return UINT32_MAX;
    unsigned long long quota = strtoull(line, &behind, 10);
    unsigned long long period = behind == line ? 0 : strtoull(behind, NULL, 10);
    if (period == 0) return UINT32_MAX;
    unsigned long long processors = quota / period + (quota % period > 0);
    if (processors == 0) processors = 1;
    return processors < UINT32_MAX ? (uint32_t)processors : UINT32_MAX;
}

/* The path of the process's group of version 2; false: it has none. */
static bool find_group(const char *groups, char *path, int size)
{
    FILE *opened = fopen(groups, "re");
    bool found = false;
    if (opened == NULL) return false;
    while (!found && fgets(path, size, opened) != NULL)
        found = strncmp(path, "0::/", 4) == 0;
    fclose(opened);
    if (!found) return false;
    memmove(path, path + 3, strlen(path + 3) + 1);
    path[strcspn(path, "\n")] = '\0';
    return true;
}

uint32_t prt_host_quota(const char *groups, const char *mount)
{
    char path[PATH_MAX], file[PATH_MAX + 256];
    uint32_t least = UINT32_MAX;
    if (!find_group(groups, path, sizeof path)) return least;
    for (char *end = path + strlen(path); end != NULL; end = strrchr(path, '/')) {
        *end = '\0';
        int length = snprintf(file, sizeof file, "%s%s/cpu.max", mount, path);
        if (length < 0 || (size_t)length >= sizeof file) continue;
        uint32_t limit = limit_of(file);
        if (limit < least) least = limit;
    }
    return least;
}
