/* SPDX-License-Identifier: MIT */
#include "compiler/support/output.h"

#include "base/ending_signals.h"
#include "base/file_open.h"
#include "base/file_publish.h"
#include "base/output_target.h"
#include "base/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- cleanup: one table for the process, because a signal handler gets no argument ---- */

#define CLEANUP_MAX 16

static struct cleanup {
    char path[4096];
    volatile sig_atomic_t in_use;
    bool is_folder;
} cleanups[CLEANUP_MAX];

bool cleanup_add(const char *path, bool is_folder)
{
    size_t length = strlen(path);
    for (int i = 0; i < CLEANUP_MAX; i++) {
        if (cleanups[i].in_use || length >= sizeof cleanups[i].path) continue;
        memcpy(cleanups[i].path, path, length + 1);
        cleanups[i].is_folder = is_folder;
        cleanups[i].in_use = 1;
        return true;
    }
    return false;
}

void cleanup_forget(const char *path)
{
    for (int i = 0; i < CLEANUP_MAX; i++)
        if (cleanups[i].in_use && strcmp(cleanups[i].path, path) == 0) cleanups[i].in_use = 0;
}

void cleanup_remove(const char *path)
{
    int error = errno;
    bool gone = remove(path) == 0 || errno == ENOENT;
    errno = error;
    if (gone) cleanup_forget(path);
}

void cleanup_disown(void)
{
    for (int i = 0; i < CLEANUP_MAX; i++)
        if (cleanups[i].in_use) cleanups[i].in_use = 0; /* unused pages stay shared */
}

/* Blocks signals while a file is created that is not in the table yet. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, before);
}

static void let_signals(const sigset_t *before)
{
    int error = errno;
    sigprocmask(SIG_SETMASK, before, NULL);
    errno = error;
}

/* As mkstemp. The new path enters the table before a signal can be handled. */
static int make_temporary_file(char *pattern)
{
    sigset_t before;
    hold_signals(&before);
    int fd = mkstemp(pattern);
    if (fd >= 0) cleanup_add(pattern, false);
    let_signals(&before);
    return fd;
}

bool cleanup_make_folder(char *pattern)
{
    sigset_t before;
    hold_signals(&before);
    bool made = mkdtemp(pattern) != NULL;
    if (made) cleanup_add(pattern, true);
    let_signals(&before);
    return made;
}

/* Async-signal-safe. Uses getdents64, because readdir allocates memory. */
static void empty_folder(const char *path)
{
    struct entry { /* of getdents64 */
        uint64_t inode, next;
        unsigned short size_bytes;
        unsigned char kind;
        char name[];
    };
    _Alignas(struct entry) char entries[4096];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    long size;
    while (folder >= 0 && (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < size;) {
            const struct entry *entry = (const void *)(entries + at);
            unlinkat(folder, entry->name, 0);
            at += entry->size_bytes;
        }
    if (folder >= 0) close(folder);
}

/* Async-signal-safe. Removes files before the folders that contain them. */
static void cleanup_run(void)
{
    for (int folders = 0; folders < 2; folders++) {
        for (int i = CLEANUP_MAX - 1; i >= 0; i--) {
            if (!cleanups[i].in_use || cleanups[i].is_folder != folders) continue;
            if (folders) {
                const char *path = cleanups[i].path;
                if (rmdir(path) != 0) {
                    empty_folder(path);
                    rmdir(path);
                }
            } else
                unlink(cleanups[i].path);
            cleanups[i].in_use = 0;
        }
    }
}

static void on_signal(int number)
{
    cleanup_run();
    ending_signal_default(number);
}

void cleanup_install(void)
{
    atexit(cleanup_run);
    signal(SIGXFSZ, SIG_IGN);
    ending_signals_handle(on_signal);
}

/* ---- output ---- */

static void forget_temporary(struct output *output)
{
    free(output->temporary);
    free(output->target);
    output->temporary = output->target = NULL;
}

static bool open_temporary_output(struct output *output, mode_t mode)
{
    size_t size = strlen(output->target) + sizeof ".XXXXXX";
    output->temporary = malloc(size);
    if (output->temporary == NULL) return false;
    snprintf(output->temporary, size, "%s.XXXXXX", output->target);
    int fd = make_temporary_file(output->temporary);
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
        return false;
    }
    fchmod(fd, mode);
    output->file = fdopen(fd, "wb");
    if (output->file != NULL) return true;
    close(fd);
    output_abandon(output);
    return false;
}

/* Takes over `fd`; -1: opening it failed (errno). */
static bool write_through(struct output *output, int fd)
{
    output->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (output->file == NULL && fd >= 0) close(fd);
    return output->file != NULL;
}

bool output_open(struct output *output, const char *path)
{
    struct stat status;
    *output = (struct output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    mode_t mask = umask(0);
    umask(mask);
    bool writes_directly = exists && !S_ISREG(status.st_mode);
    /* Opens a descriptor by name, a device, a regular file, or a file that does not exist yet. */
    struct output_target target;
    if (!output_target_find(output->path, &target)) return false;
    if (target.path == NULL)
        return write_through(output, fcntl(target.descriptor, F_DUPFD_CLOEXEC, 3));
    if (writes_directly) {
        free(target.path);
        return write_through(output, file_open_output_device(output->path));
    }
    output->target = target.path;
    if (open_temporary_output(output, exists ? status.st_mode & 07777 : 0666 & ~mask)) return true;
    forget_temporary(output);
    return false;
}

static bool complete_file(FILE *file, bool sync)
{
    errno = stream_flush(file);
    bool good = errno == 0;
    if (good && sync) good = file_synchronise(fileno(file));
    return good;
}

/* Keeps errno. */
static bool fail_output(struct output *output)
{
    int error = errno;
    output_abandon(output);
    errno = error;
    return false;
}

bool output_complete(struct output *output)
{
    if (output->file == stdout) {
        bool written = complete_file(stdout, false);
        int reason = errno;
        clearerr(stdout); /* this failure is reported now, and not again when the command ends */
        errno = reason;
        return written;
    }
    bool good = complete_file(output->file, output->temporary != NULL);
    int error = errno;
    if (fclose(output->file) != 0 && good) {
        good = false;
        error = errno;
    }
    output->file = NULL;
    errno = error;
    return good || fail_output(output);
}

static bool same_bytes(FILE *one, FILE *other)
{
    char a[1 << 14], b[1 << 14];
    size_t size;
    do {
        size = fread(a, 1, sizeof a, one);
        if (fread(b, 1, sizeof b, other) != size || memcmp(a, b, size) != 0) return false;
    } while (size == sizeof a);
    return !ferror(one) && !ferror(other);
}

static bool is_there_already(const struct output *output)
{
    FILE *one = fopen(output->temporary, "rbe"), *other = fopen(output->target, "rbe");
    bool same = one != NULL && other != NULL && same_bytes(one, other);
    if (one != NULL) fclose(one);
    if (other != NULL) fclose(other);
    return same;
}

bool output_publish(struct output *output)
{
    if (output->temporary == NULL) return true;
    if (output->keep_equal && is_there_already(output)) {
        output_abandon(output);
        return true;
    }
    bool renamed, good = file_publish(output->temporary, output->target, &renamed);
    if (!renamed) return fail_output(output);
    int error = errno;
    cleanup_forget(output->temporary);
    forget_temporary(output);
    errno = error;
    return good;
}

bool output_close(struct output *output)
{
    return output_complete(output) && output_publish(output);
}

void output_abandon(struct output *output)
{
    if (output->file != NULL && output->file != stdout) fclose(output->file);
    output->file = NULL;
    if (output->temporary == NULL) return;
    cleanup_remove(output->temporary);
    forget_temporary(output);
}
