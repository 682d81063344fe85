/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/io_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum prt_status prt_io_no_memory(struct prt_error *error)
{
    return prt_error_set(error, PRT_E_NOMEM, "out of memory");
}

/* --- opening --- */

void prt_io_widen_pipe(int fd)
{
    enum { PIPE_BYTES = 1 << 20 }; /* what an unprivileged process may have */
    int bytes = fcntl(fd, F_GETPIPE_SZ);
    if (bytes >= 0 && bytes < PIPE_BYTES) (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
}

static int open_retrying(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Looks at what was opened: its kind, and the bytes it has from where reading begins. */
static enum prt_status examine_reader(struct prt_io_reader *reader, struct prt_error *error)
{
    struct stat status;
    if (fstat(reader->fd, &status) != 0)
        return prt_error_set(error, PRT_E_OPEN, "%s: cannot open: %s", reader->name,
                             strerror(errno));
    if (S_ISDIR(status.st_mode))
        return prt_error_set(error, PRT_E_OPEN, "%s: cannot open: is a directory", reader->name);
    reader->regular = S_ISREG(status.st_mode);
    reader->size_bytes = UINT64_MAX;
    if (!reader->regular) {
        prt_io_widen_pipe(reader->fd);
        return PRT_OK;
    }
    off_t at = lseek(reader->fd, 0, SEEK_CUR);
    if (at < 0)
        return prt_error_set(error, PRT_E_OPEN, "%s: cannot open: %s", reader->name,
                             strerror(errno));
    reader->began_at = (uint64_t)at;
    reader->size_bytes = status.st_size > at ? (uint64_t)(status.st_size - at) : 0;
    return PRT_OK;
}

enum prt_status prt_io_reader_open(struct prt_io_reader *reader, const char *path,
                                   const struct prt_io_environment *environment,
                                   struct prt_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    *reader = (struct prt_io_reader){
        .fd = -1, .interrupt_fd = environment != NULL ? environment->interrupt_fd : -1};
    reader->name = strdup(standard ? "standard input" : path);
    reader->data = malloc(PRT_IO_BUFFER_BYTES);
    enum prt_status status = PRT_OK;
    if (reader->name == NULL || reader->data == NULL) {
        status = prt_io_no_memory(error);
    } else {
        reader->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open_retrying(path);
        status = reader->fd < 0 ? prt_error_set(error, PRT_E_OPEN, "%s: cannot open: %s",
                                                reader->name, strerror(errno))
                                : examine_reader(reader, error);
    }
    reader->is_open = true;
    if (status != PRT_OK) prt_io_reader_close(reader);
    return status;
}

void prt_io_reader_close(struct prt_io_reader *reader)
{
    if (!reader->is_open) return;
    if (reader->fd >= 0) close(reader->fd);
    free(reader->name);
    free(reader->data);
    *reader = (struct prt_io_reader){.fd = -1};
}

/* --- reading --- */

static enum prt_status report_read_failure(const struct prt_io_reader *reader,
                                           struct prt_error *error)
{
    return prt_error_set_at(error, PRT_E_READ, reader->offset, "%s: cannot read at byte %llu: %s",
                            reader->name, (unsigned long long)reader->offset, strerror(errno));
}

/* Waits until there is something to read (a regular file always has) or reading is to stop. */
static enum prt_status wait_readable(const struct prt_io_reader *reader, bool must_wait,
                                     struct prt_error *error)
{
    if (reader->interrupt_fd < 0 && !must_wait) return PRT_OK;
    struct pollfd polled[2] = {{reader->fd, POLLIN, 0}, {reader->interrupt_fd, POLLIN, 0}};
    for (;;) {
        int ready = poll(polled, 2, reader->regular ? 0 : -1);
        if (ready < 0 && errno != EINTR) return report_read_failure(reader, error);
        if (ready < 0) continue;
        if ((polled[1].revents & (POLLIN | POLLHUP)) != 0)
            return prt_error_set(error, PRT_E_INTERRUPTED, "%s: reading was interrupted",
                                 reader->name);
        return PRT_OK;
    }
}

/* Called at the end.  A file of /proc or /sys may end before the size that the system reports.  So a file has shrunk only if
 * its size has changed. */
static enum prt_status examine_end(const struct prt_io_reader *reader, struct prt_error *error)
{
    struct stat status;
    if (!reader->regular || reader->read_bytes >= reader->size_bytes) return PRT_OK;
    /* uncovered: it could be asked when it was opened */
    if (fstat(reader->fd, &status) != 0) return report_read_failure(reader, error);
    uint64_t opened_bytes = reader->began_at + reader->size_bytes;
    if ((uint64_t)status.st_size >= opened_bytes) return PRT_OK;
    return prt_error_set_at(error, PRT_E_TRUNCATED, reader->read_bytes,
                            "%s: the file shrank while it was read: it had %llu bytes when it was "
                            "opened, it has %lld now",
                            reader->name, (unsigned long long)opened_bytes,
                            (long long)status.st_size);
}

/* One read(2) of up to `bytes` into `target`, past the (empty) buffer.  0: the end; of a regular file
 * that has become shorter before it was read PRT_E_TRUNCATED. */
static enum prt_status read_directly(struct prt_io_reader *reader, void *target, size_t bytes,
                                     size_t *count, struct prt_error *error)
{
    bool must_wait = false;
    assert(bytes > 0);
    *count = 0;
    for (;;) {
        enum prt_status status = wait_readable(reader, must_wait, error);
        if (status != PRT_OK) return status;
        ssize_t got = read(reader->fd, target, bytes);
        if (got >= 0) {
            *count = (size_t)got;
            reader->read_bytes += (size_t)got;
            reader->at_end = got == 0;
            return got == 0 ? examine_end(reader, error) : PRT_OK;
        }
        if (errno != EINTR && errno != EAGAIN) return report_read_failure(reader, error);
        must_wait = errno != EINTR; /* a descriptor that was opened elsewhere with O_NONBLOCK */
    }
}

enum prt_status prt_io_reader_need(struct prt_io_reader *reader, size_t bytes,
                                   struct prt_error *error)
{
    if (prt_io_reader_available(reader) >= bytes || reader->at_end) return PRT_OK;
    memmove(reader->data, reader->data + reader->begin, prt_io_reader_available(reader));
    reader->end -= reader->begin;
    reader->begin = 0;
    while (reader->end < bytes && !reader->at_end) {
        size_t got;
        enum prt_status status = read_directly(reader, reader->data + reader->end,
                                               PRT_IO_BUFFER_BYTES - reader->end, &got, error);
        if (status != PRT_OK) return status;
        reader->end += got;
    }
    return PRT_OK;
}

enum prt_status prt_io_reader_line(struct prt_io_reader *reader, size_t from, size_t most,
                                   size_t *length, bool *has_newline, struct prt_error *error)
{
    assert(most < PRT_IO_BUFFER_BYTES);
    for (;;) {
        size_t available = prt_io_reader_available(reader);
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        const unsigned char *newline = memchr(bytes + from, '\n', available - from);
        *has_newline = newline != NULL;
        *length = newline != NULL ? (size_t)(newline - bytes) : available;
        if (newline != NULL || available > most || reader->at_end) return PRT_OK;
        from = available;
        enum prt_status status = prt_io_reader_need(reader, available + 1, error);
        if (status != PRT_OK) return status;
    }
}

enum prt_status prt_io_reader_truncated(const struct prt_io_reader *reader, struct prt_error *error,
                                        const char *what)
{
    uint64_t end = reader->offset + prt_io_reader_available(reader);
    return prt_error_set_at(error, PRT_E_TRUNCATED, end, "%s: the file ends at byte %llu, %s",
                            reader->name, (unsigned long long)end, what);
}

/* --- places --- */

enum prt_status prt_io_reader_seek(struct prt_io_reader *reader, uint64_t position,
                                   struct prt_error *error)
{
    uint64_t first = reader->offset - reader->begin; /* where data[0] stands */
    if (position >= first && position <= first + reader->end) {
        reader->begin = (size_t)(position - first);
        reader->offset = position;
        return PRT_OK;
    }
    /* Places in a file fit off_t. */
    if (lseek(reader->fd, (off_t)(reader->began_at + position), SEEK_SET) < 0)
        return report_read_failure(reader, error);
    reader->begin = reader->end = 0;
    reader->offset = reader->read_bytes = position;
    reader->at_end = false;
    return PRT_OK;
}

enum prt_status prt_io_reader_spool(struct prt_io_reader *reader, struct prt_error *error)
{
    int fd = -1;
    uint64_t bytes = 0;
    enum prt_status status = prt_io_spool_open(&fd, error);
    while (status == PRT_OK) {
        size_t part = prt_io_reader_available(reader);
        status = prt_io_spool_write(fd, prt_io_reader_bytes(reader), part, error);
        bytes += part;
        prt_io_reader_consume(reader, part);
        if (status == PRT_OK && reader->at_end) break;
        if (status == PRT_OK) status = prt_io_reader_need(reader, 1, error);
    }
    if (status != PRT_OK) {
        if (fd >= 0) close(fd);
        return status;
    }
    close(reader->fd);
    reader->fd = fd;
    reader->regular = true;
    reader->size_bytes = bytes;
    reader->began_at = 0;
    reader->read_bytes = bytes; /* where the new descriptor stands */
    return prt_io_reader_seek(reader, 0, error);
}

/* --- elements --- */

static enum prt_status not_convertible(const struct prt_io_reader *reader,
                                       const struct prt_io_elements *elements,
                                       enum scalar_type packet, struct prt_error *error)
{
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                            "%s: the %s value at byte %llu does not fit the type %s", reader->name,
                            scalar_name(elements->type), (unsigned long long)reader->offset,
                            scalar_name(packet));
}

/* Takes whole elements out of the buffer. */
static enum prt_status take_buffered(struct prt_io_reader *reader, struct prt_io_elements *elements,
                                     enum scalar_type packet, void *packets, size_t count,
                                     size_t *taken, struct prt_error *error)
{
    size_t width = scalar_width_bytes(elements->type);
    unsigned char *bytes = reader->data + reader->begin;
    if (elements->big_endian) prt_io_swap(bytes, width, count);
    *taken = prt_io_convert(packets, packet, bytes, elements->type, count);
    prt_io_reader_consume(reader, *taken * width);
    return *taken == count ? PRT_OK : not_convertible(reader, elements, packet, error);
}

/* Reads a large run of elements that need no conversion past the buffer; the part of an element
 * that may stand at its end goes to the buffer. */
static enum prt_status take_direct(struct prt_io_reader *reader, size_t width, void *packets,
                                   size_t count, size_t *taken, struct prt_error *error)
{
    size_t got;
    enum prt_status status = read_directly(reader, packets, count * width, &got, error);
    if (status != PRT_OK) return status;
    size_t part = got % width;
    memcpy(reader->data, (unsigned char *)packets + got - part, part);
    reader->begin = 0;
    reader->end = part;
    reader->offset += got - part;
    *taken = got / width;
    return PRT_OK;
}

static enum prt_status at_end_of_elements(const struct prt_io_reader *reader,
                                          const struct prt_io_elements *elements,
                                          struct prt_error *error)
{
    size_t part = prt_io_reader_available(reader);
    if (elements->remaining != PRT_PACKETS_UNKNOWN)
        return prt_io_reader_truncated(reader, error, "before the last element its header says");
    if (part == 0) return PRT_OK;
    return prt_error_set_at(
        error, PRT_E_TRUNCATED, reader->offset,
        "%s: the file ends inside the %s packet at byte %llu (%zu of %zu bytes)", reader->name,
        scalar_name(elements->type), (unsigned long long)reader->offset, part,
        scalar_width_bytes(elements->type));
}

enum prt_status prt_io_elements_read(struct prt_io_reader *reader, struct prt_io_elements *elements,
                                     enum scalar_type packet, void *packets, size_t capacity,
                                     size_t *count, struct prt_error *error)
{
    size_t width = scalar_width_bytes(elements->type);
    bool as_it_is = elements->type == packet && !elements->big_endian && packet != SCALAR_BOOL;
    unsigned char *target = packets;
    if (capacity > elements->remaining) capacity = (size_t)elements->remaining;
    *count = 0;
    while (*count < capacity) {
        size_t wanted = capacity - *count, taken = 0;
        size_t buffered = prt_io_reader_available(reader) / width;
        size_t part = buffered < wanted ? buffered : wanted; /* equivalent: of two equals either */
        void *next = target + *count * scalar_width_bytes(packet);
        enum prt_status status = PRT_OK;
        if (buffered == 0 && *count > 0 && !reader->regular)
            return PRT_OK; /* deliver the packets read so far */
        if (buffered > 0)
            status = take_buffered(reader, elements, packet, next, part, &taken, error);
        else if (as_it_is && prt_io_reader_available(reader) == 0 && !reader->at_end &&
                 wanted >= PRT_IO_BUFFER_BYTES / width)
            status = take_direct(reader, width, next, wanted, &taken, error);
        else if (reader->at_end)
            return at_end_of_elements(reader, elements, error);
        else
            status = prt_io_reader_need(reader, width, error);
        *count += taken;
        if (elements->remaining != PRT_PACKETS_UNKNOWN) elements->remaining -= taken;
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}
