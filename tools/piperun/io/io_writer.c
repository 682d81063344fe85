/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/io_internal.h"

#include "base/file_open.h"
#include "base/file_publish.h"
#include "base/output_target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_TRIES 64
#define BASE_BYTES_MAX 200 /* of the target's name in the temporary's: NAME_MAX is 255 */

/* --- system calls, whole --- */

static enum prt_status refuse_write(const char *name, int code, struct prt_error *error)
{
    if (code == EPIPE)
        return prt_error_set(error, PRT_E_CLOSED_PIPE, "%s: the reader has closed the pipe", name);
    return prt_error_set(error, PRT_E_WRITE, "%s: cannot write: %s", name, strerror(code));
}

/* Writes all bytes; at `offset`, or at the file's position if that is negative. */
static enum prt_status write_all_bytes(int fd, const char *name, const void *data, size_t bytes,
                                       off_t offset, struct prt_error *error)
{
    const unsigned char *next = data;
    while (bytes > 0) {
        ssize_t put = offset < 0 ? write(fd, next, bytes) : pwrite(fd, next, bytes, offset);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) {
            struct pollfd polled = {fd, POLLOUT, 0};
            (void)poll(&polled, 1, -1); /* if it fails, the next write returns the error */
            continue;
        }
        /* uncovered: Linux writes some of the bytes or gives the cause */
        if (put <= 0) return refuse_write(name, put < 0 ? errno : EIO, error);
        next += put;
        bytes -= (size_t)put;
        offset = offset < 0 ? offset : offset + put;
    }
    return PRT_OK;
}

/* close(2) returns late write errors; on Linux the descriptor is closed even after EINTR. */
static int close_once(int *fd)
{
    int closed = *fd >= 0 ? close(*fd) : 0;
    *fd = -1;
    return closed != 0 && errno != EINTR ? errno : 0;
}

/* --- spool --- */

enum prt_status prt_io_spool_open(int *fd, struct prt_error *error)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];
    if (directory == NULL || directory[0] == '\0') directory = "/tmp";
    int length = snprintf(path, sizeof path, "%s/piperun.XXXXXX", directory);
    if ((size_t)length >= sizeof path)
        return prt_error_set(error, PRT_E_OPEN, "TMPDIR is too long");
    int made = mkostemp(path, O_CLOEXEC);
    if (made < 0)
        return prt_error_set(error, PRT_E_OPEN, "%s: cannot make a temporary file: %s", directory,
                             strerror(errno));
    (void)unlink(path);
    *fd = made;
    return PRT_OK;
}

enum prt_status prt_io_spool_write(int fd, const void *data, size_t bytes, struct prt_error *error)
{
    return write_all_bytes(fd, "temporary file", data, bytes, -1, error);
}

enum prt_status prt_io_spool_read(int fd, uint64_t offset, void *data, size_t bytes,
                                  struct prt_error *error)
{
    unsigned char *next = data;
    while (bytes > 0) {
        ssize_t got = pread(fd, next, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        /* uncovered: the file has no name, so no other process makes it shorter */
        if (got <= 0)
            return prt_error_set(error, PRT_E_READ, "temporary file: cannot read: %s",
                                 got < 0 ? strerror(errno) : "it is too short");
        next += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return PRT_OK;
}

/* --- opening --- */

static enum prt_status open_failed(const char *name, struct prt_error *error)
{
    return prt_error_set(error, PRT_E_OPEN, "%s: cannot open for writing: %s", name,
                         file_error_text(errno));
}

/* A device or pipe, written directly through `fd`; -1: it could not be opened. */
static enum prt_status take_descriptor(struct prt_io_writer *writer, int fd, bool patched,
                                       struct prt_error *error)
{
    writer->direct = true;
    writer->fd = fd;
    if (writer->fd < 0) return open_failed(writer->name, error);
    prt_io_widen_pipe(writer->fd);
    if (!patched) return PRT_OK;
    writer->final_fd = writer->fd;
    writer->fd = -1;
    return prt_io_spool_open(&writer->fd, error);
}

static enum prt_status open_descriptor(struct prt_io_writer *writer, int descriptor, bool patched,
                                       struct prt_error *error)
{
    return take_descriptor(writer, fcntl(descriptor, F_DUPFD_CLOEXEC, 3), patched, error);
}

/* The opening of a named pipe waits for a reader. */
static int open_writer_output(const char *path, const struct prt_io_environment *environment)
{
    int fd;
    if (environment != NULL && environment->no_named_pipes) return file_open_output_device(path);
    do
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* The temporary's path: DIRECTORY/.NAME.RANDOM.tmp, beside the target. */
static char *temporary_path(const char *target)
{
    const char *slash = strrchr(target, '/');
    const char *base = slash != NULL ? slash + 1 : target;
    uint64_t number = 0;
    char *path = NULL;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)(uintptr_t)&number ^ (uint64_t)getpid();
    if (asprintf(&path, "%.*s.%.*s.%016" PRIx64 ".tmp", (int)(base - target), target,
                 BASE_BYTES_MAX, base, number) < 0)
        return NULL;
    return path;
}

/* Makes one try.  It records the name before it makes the file, so no signal can leave an unrecorded file. */
static enum prt_status try_temporary(struct prt_io_writer *writer, struct prt_temporaries *registry,
                                     struct prt_error *error)
{
    writer->temporary = temporary_path(writer->target);
    if (writer->temporary == NULL) return prt_io_no_memory(error);
    if (registry != NULL &&
        prt_temporary_add(registry, writer->temporary, &writer->record) != PRT_OK) {
        free(writer->temporary);
        writer->temporary = NULL;
        return prt_io_no_memory(error);
    }
    do
        writer->fd = open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    while (writer->fd < 0 && errno == EINTR);
    if (writer->fd >= 0) return PRT_OK;
    int code = errno;
    prt_temporary_forget(writer->record);
    writer->record = NULL;
    free(writer->temporary);
    writer->temporary = NULL;
    errno = code;
    return code == EEXIST ? PRT_E_BUSY : open_failed(writer->name, error);
}

static enum prt_status open_temporary(struct prt_io_writer *writer,
                                      const struct prt_io_environment *environment,
                                      struct prt_error *error)
{
    struct prt_temporaries *registry = environment != NULL ? environment->temporaries : NULL;
    enum prt_status status = PRT_E_BUSY;
    /* uncovered: so many names of 64 random bits are not all taken */
    for (int i = 0; i < NAME_TRIES && status == PRT_E_BUSY; i++)
        status = try_temporary(writer, registry, error);
    /* uncovered: as above */
    return status == PRT_E_BUSY ? open_failed(writer->name, error) : status;
}

/* Finds the kind of file at `path`: a device or pipe (true in *direct), a regular file that may be
 * replaced, or none. */
static enum prt_status examine_target(const char *path, bool *direct, struct prt_error *error)
{
    struct stat status;
    *direct = false;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT) return PRT_OK;
        return open_failed(path, error);
    }
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return open_failed(path, error);
    }
    *direct = !S_ISREG(status.st_mode);
    if (!*direct && access(path, W_OK) != 0) return open_failed(path, error);
    return PRT_OK;
}

static enum prt_status open_by_kind(struct prt_io_writer *writer, const char *path, bool patched,
                                    const struct prt_io_environment *environment,
                                    struct prt_error *error)
{
    bool direct;
    struct output_target target;
    if (strcmp(path, "-") == 0) return open_descriptor(writer, STDOUT_FILENO, patched, error);
    enum prt_status status = examine_target(path, &direct, error);
    if (status != PRT_OK) return status;
    /* uncovered: stat has followed the same links */
    if (!output_target_find(path, &target))
        return errno == ENOMEM ? prt_io_no_memory(error) : open_failed(path, error);
    if (target.path == NULL) return open_descriptor(writer, target.descriptor, patched, error);
    if (direct) {
        free(target.path);
        return take_descriptor(writer, open_writer_output(path, environment), patched, error);
    }
    writer->target = target.path;
    return open_temporary(writer, environment, error);
}

enum prt_status prt_io_writer_open(struct prt_io_writer *writer, const char *path, bool patched,
                                   const struct prt_io_environment *environment,
                                   struct prt_error *error)
{
    *writer = (struct prt_io_writer){.state = PRT_IO_WRITER_OPEN, .fd = -1, .final_fd = -1};
    writer->name = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    writer->data = malloc(PRT_IO_BUFFER_BYTES);
    enum prt_status status = writer->name == NULL || writer->data == NULL
                                 ? prt_io_no_memory(error)
                                 : open_by_kind(writer, path, patched, environment, error);
    if (status != PRT_OK) prt_io_writer_close(writer);
    return status;
}

/* --- writing --- */

enum prt_status prt_io_writer_flush(struct prt_io_writer *writer, struct prt_error *error)
{
    enum prt_status status =
        write_all_bytes(writer->fd, writer->name, writer->data, writer->used, -1, error);
    writer->used = 0;
    return status;
}

enum prt_status prt_io_writer_put(struct prt_io_writer *writer, const void *data, size_t bytes,
                                  struct prt_error *error)
{
    if (bytes == 0) return PRT_OK;
    writer->offset += bytes; /* no file has 2^64 bytes */
    if (bytes > PRT_IO_BUFFER_BYTES - writer->used) {
        enum prt_status status = prt_io_writer_flush(writer, error);
        if (status != PRT_OK) return status;
    }
    if (bytes >= PRT_IO_BUFFER_BYTES)
        return write_all_bytes(writer->fd, writer->name, data, bytes, -1, error);
    memcpy(writer->data + writer->used, data, bytes);
    writer->used += bytes;
    return PRT_OK;
}

enum prt_status prt_io_writer_patch(struct prt_io_writer *writer, uint64_t offset, const void *data,
                                    size_t bytes, struct prt_error *error)
{
    enum prt_status status = prt_io_writer_flush(writer, error);
    if (status != PRT_OK) return status;
    return write_all_bytes(writer->fd, writer->name, data, bytes, (off_t)offset, error);
}

/* --- the end --- */

static enum prt_status copy_spool(struct prt_io_writer *writer, struct prt_error *error)
{
    for (uint64_t done = 0; done < writer->offset;) {
        uint64_t left = writer->offset - done;
        size_t part = left < PRT_IO_BUFFER_BYTES ? (size_t)left : PRT_IO_BUFFER_BYTES;
        enum prt_status status = prt_io_spool_read(writer->fd, done, writer->data, part, error);
        if (status == PRT_OK)
            status = write_all_bytes(writer->final_fd, writer->name, writer->data, part, -1, error);
        if (status != PRT_OK) return status;
        done += part;
    }
    return PRT_OK;
}

enum prt_status prt_io_writer_prepare(struct prt_io_writer *writer, struct prt_error *error)
{
    if (writer->state != PRT_IO_WRITER_OPEN) return PRT_OK;
    enum prt_status status = prt_io_writer_flush(writer, error);
    if (status == PRT_OK && writer->final_fd >= 0) status = copy_spool(writer, error);
    bool synchronised = status != PRT_OK || writer->direct || file_synchronise(writer->fd);
    int code = synchronised ? 0 : errno;
    int *last_fd = writer->final_fd >= 0 ? &writer->final_fd : &writer->fd;
    int close_code = close_once(last_fd);
    if (status != PRT_OK) return status;
    if (code != 0 || close_code != 0)
        return refuse_write(writer->name, code != 0 ? code : close_code, error);
    writer->state = PRT_IO_WRITER_PREPARED;
    return PRT_OK;
}

enum prt_status prt_io_writer_publish(struct prt_io_writer *writer, struct prt_error *error)
{
    if (writer->temporary == NULL) return PRT_OK;
    bool renamed, good = file_publish(writer->temporary, writer->target, &renamed);
    int code = errno;
    if (!renamed) return refuse_write(writer->name, code, error);
    prt_temporary_forget(writer->record);
    writer->record = NULL;
    free(writer->temporary);
    writer->temporary = NULL;
    if (good) return PRT_OK;
    return prt_error_set(error, PRT_E_WRITE,
                         "%s: the file is complete, but its folder cannot be synchronised: %s",
                         writer->name, strerror(code));
}

void prt_io_writer_close(struct prt_io_writer *writer)
{
    if (writer->state == PRT_IO_WRITER_CLOSED) return;
    (void)close_once(&writer->fd);
    (void)close_once(&writer->final_fd);
    if (writer->temporary != NULL) (void)unlink(writer->temporary);
    prt_temporary_forget(writer->record);
    free(writer->temporary);
    free(writer->target);
    free(writer->name);
    free(writer->data);
    *writer = (struct prt_io_writer){.fd = -1, .final_fd = -1};
}
