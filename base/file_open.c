/* SPDX-License-Identifier: MIT */
#include "base/file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/output_target.h"

enum { NULL_MAJOR = 1, NULL_MINOR = 3 }; /* /dev/null, on Linux */

static int open_without_waiting(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Closes `fd` and fails with errno `error`: returns -1. */
static int close_and_fail(int fd, int error)
{
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}

static int let_wait(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0) return fd;
    return close_and_fail(fd, errno);
}

/* Returns `fd`, which is no regular file, if its name names a stream. Otherwise -1, and errno. */
static int keep_stream(int fd, const char *path, int error)
{
    struct output_target target;
    if (!output_target_find(path, &target)) return close_and_fail(fd, errno);
    bool is_named = target.path == NULL;
    free(target.path);
    return is_named ? let_wait(fd) : close_and_fail(fd, error);
}

static bool is_null_device(const struct stat *about)
{
    return S_ISCHR(about->st_mode) && about->st_rdev == makedev(NULL_MAJOR, NULL_MINOR);
}

static int kind_error(const struct stat *about)
{
    return S_ISFIFO(about->st_mode) ? FILE_IS_PIPE : FILE_IS_DEVICE;
}

int file_open_input(const char *path)
{
    struct stat about;
    int fd = open_without_waiting(path, O_RDONLY);
    if (fd < 0) return -1;
    if (fstat(fd, &about) != 0) return close_and_fail(fd, errno);
    if (S_ISREG(about.st_mode) || is_null_device(&about)) return let_wait(fd);
    if (S_ISDIR(about.st_mode)) return close_and_fail(fd, EISDIR);
    return keep_stream(fd, path, kind_error(&about));
}

FILE *file_open_input_stream(const char *path)
{
    int fd = file_open_input(path);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && file == NULL) (void)close_and_fail(fd, errno);
    return file;
}

/* Opens for writing. Without waiting, a named pipe can be opened only if it has a reader. */
static int open_output(const char *path, int flags, struct stat *about)
{
    int fd = open_without_waiting(path, O_WRONLY | flags);
    int error = errno;
    if (fd < 0) {
        bool is_pipe = error == ENXIO && stat(path, about) == 0 && S_ISFIFO(about->st_mode);
        return close_and_fail(fd, is_pipe ? FILE_IS_PIPE : error);
    }
    return fstat(fd, about) == 0 ? fd : close_and_fail(fd, errno);
}

int file_open_output_device(const char *path)
{
    struct stat about;
    int fd = open_output(path, 0, &about);
    if (fd < 0) return -1;
    return S_ISCHR(about.st_mode) ? let_wait(fd) : close_and_fail(fd, kind_error(&about));
}

FILE *file_open_output_stream(const char *path)
{
    struct stat about;
    int fd = open_output(path, O_CREAT, &about);
    if (fd < 0) return NULL;
    bool fits = S_ISREG(about.st_mode) || S_ISCHR(about.st_mode);
    fd = fits ? let_wait(fd) : keep_stream(fd, path, kind_error(&about));
    if (fd >= 0 && S_ISREG(about.st_mode) && ftruncate(fd, 0) != 0) fd = close_and_fail(fd, errno);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && file == NULL) (void)close_and_fail(fd, errno);
    return file;
}

const char *file_error_text(int error)
{
    switch (error) {
    case FILE_IS_PIPE:
        return "it is a named pipe, not a regular file (/dev/stdin and /dev/stdout name streams)";
    case FILE_IS_DEVICE:
        return "it is a device, not a regular file (/dev/stdin and /dev/stdout name streams)";
    default: return strerror(error);
    }
}
