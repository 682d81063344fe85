/* SPDX-License-Identifier: MIT */
#include "base/file_publish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool file_synchronise(int descriptor)
{
    int synchronised;
    do
        synchronised = fsync(descriptor);
    while (synchronised != 0 && errno == EINTR);
    return synchronised == 0;
}

/* Opens the folder that contains `path`. -1: errno. */
static int open_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    int opened;
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    do
        opened = open(length > 0 ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (opened < 0 && errno == EINTR);
    return opened;
}

/* True also on a file system that cannot synchronise a folder. */
static bool synchronise_folder(int folder)
{
    return file_synchronise(folder) || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

/* Opens the folder first: if that fails, the earlier file still exists. */
bool file_publish(const char *temporary, const char *target, bool *renamed)
{
    int folder = open_folder_of(target);
    *renamed = false;
    if (folder < 0 && errno != EACCES && errno != EPERM) return false;
    *renamed = rename(temporary, target) == 0;
    bool good = *renamed && (folder < 0 || synchronise_folder(folder));
    int error = errno;
    if (folder >= 0) close(folder);
    errno = error;
    return good;
}
