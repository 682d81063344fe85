/* SPDX-License-Identifier: MIT */
/* Shared by the tests of tools/piperun/io: a folder of their own, whole files, whole streams.
 * Included by one test program each, after tests/test.h. */
#ifndef TESTS_UNIT_TEST_IO_H
#define TESTS_UNIT_TEST_IO_H

#include "tools/piperun/io/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char io_folder[64];

/* Group set-up and tear-down. */
static inline int io_folder_make(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    snprintf(io_folder, sizeof io_folder, "/tmp/test_io.XXXXXX");
    return mkdtemp(io_folder) != NULL ? 0 : -1;
}

/* FOLDER/name, in one of four buffers. */
static inline const char *io_path(const char *name)
{
    static char paths[4][360];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", io_folder, name);
    return path;
}

/* How many entries the folder has; with `remove` they are unlinked. */
static inline size_t io_folder_entries(bool remove)
{
    DIR *folder = opendir(io_folder);
    size_t count = 0;
    if (folder == NULL) abort();
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        if (remove) unlink(io_path(entry->d_name));
    }
    closedir(folder);
    return count;
}

static inline int io_folder_remove(void **state)
{
    (void)state;
    io_folder_entries(true);
    return rmdir(io_folder);
}

static inline int io_dup(int fd)
{
    int copy = dup(fd);
    if (copy < 0) abort();
    return copy;
}

static inline void io_write_file(const char *path, const void *bytes, size_t length)
{
    if (length > 1 << 24) abort();
    FILE *file = fopen(path, "wb");
    if (file == NULL) abort();
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The whole file, malloced. */
static inline unsigned char *io_read_file(const char *path, size_t *length)
{
    enum { FILE_BYTES_MAX = 1 << 21 };
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(FILE_BYTES_MAX + 1);
    if (file == NULL || bytes == NULL) abort();
    *length = fread(bytes, 1, FILE_BYTES_MAX, file);
    if (*length > FILE_BYTES_MAX - 1) abort();
    fclose(file);
    bytes[*length] = 0;
    return bytes;
}

static inline enum prt_status io_open_source(const char *port, const char *path, const char *items,
                                             enum scalar_type packet, struct prt_source **source,
                                             struct prt_error *error)
{
    struct prt_port_spec spec;
    char text[512];
    snprintf(text, sizeof text, "%s=%s%s", port, path, items);
    enum prt_status status = prt_port_spec_parse(text, &spec, error);
    if (status != PRT_OK) return status;
    status = prt_source_open(&spec, packet, NULL, source, error);
    prt_port_spec_free(&spec);
    return status;
}

/* Reads PATH,ITEMS to its end in reads of `step` packets.  Returns the last status; `packets` holds
 * `*count` packets of at most `capacity`. */
static inline enum prt_status io_read_stream(const char *path, const char *items,
                                             enum scalar_type packet, void *packets,
                                             size_t capacity, size_t step, size_t *count,
                                             struct prt_error *error)
{
    struct prt_source *source = NULL;
    *count = 0;
    memset(error, 0, sizeof *error);
    enum prt_status status = io_open_source("in", path, items, packet, &source, error);
    if (status != PRT_OK) return status;
    for (;;) {
        size_t got = 99, want = capacity - *count < step ? capacity - *count : step;
        unsigned char *next = (unsigned char *)packets + *count * scalar_width_bytes(packet);
        unsigned char spill[8];
        if (want == 0) { /* only the end may come now */
            status = prt_source_read(source, spill, 1, &got, error);
            assert_int_equal(got, 0);
            break;
        }
        status = prt_source_read(source, next, want, &got, error);
        assert_true(got <= want);
        assert_true(status == PRT_OK || got == 0);
        if (got == 0) break;
        *count += got;
    }
    size_t again = 5;
    unsigned char none[8];
    assert_int_equal(prt_source_read(source, none, 1, &again, NULL), status); /* it stays so */
    assert_int_equal(again, 0);
    prt_source_close(source);
    return status;
}

static inline enum prt_status io_open_sink(const char *path, const char *items,
                                           enum scalar_type packet,
                                           const struct prt_io_environment *environment,
                                           struct prt_sink **sink, struct prt_error *error)
{
    struct prt_port_spec spec;
    char text[512];
    snprintf(text, sizeof text, "out=%s%s", path, items);
    enum prt_status status = prt_port_spec_parse(text, &spec, error);
    if (status != PRT_OK) return status;
    status = prt_sink_open(&spec, packet, environment, sink, error);
    prt_port_spec_free(&spec);
    return status;
}

/* Writes all packets, in writes of `step`, and finishes. */
static inline enum prt_status io_write_stream(const char *path, const char *items,
                                              enum scalar_type packet, const void *packets,
                                              size_t count, size_t step, struct prt_error *error)
{
    struct prt_sink *sink = NULL;
    memset(error, 0, sizeof *error);
    enum prt_status status = io_open_sink(path, items, packet, NULL, &sink, error);
    if (status != PRT_OK) return status;
    for (size_t done = 0; done < count && status == PRT_OK; done += step)
        status =
            prt_sink_write(sink, (const unsigned char *)packets + done * scalar_width_bytes(packet),
                           count - done < step ? count - done : step, error);
    if (status == PRT_OK) status = prt_sink_finish(sink, error);
    prt_sink_close(sink);
    return status;
}

/* Every prefix of a good file must be refused, or end in an error, with a message that names the
 * file; only `whole` is good. */
static inline void io_check_prefixes(const char *whole, const char *name, const char *items,
                                     enum scalar_type packet)
{
    size_t length, count;
    struct prt_error error;
    static double packets[4096];
    unsigned char *bytes = io_read_file(whole, &length);
    const char *path = io_path(name);
    for (size_t cut = 0; cut < length; cut++) {
        io_write_file(path, bytes, cut);
        enum prt_status status =
            io_read_stream(path, items, packet, packets, 4096, 7, &count, &error);
        if (status != PRT_E_TRUNCATED && status != PRT_E_FORMAT)
            print_message("prefix of %zu bytes: %s\n", cut, prt_status_text(status));
        assert_true(status == PRT_E_TRUNCATED || status == PRT_E_FORMAT);
        assert_non_null(strstr(error.message, path));
    }
    assert_int_equal(io_read_stream(whole, items, packet, packets, 4096, 7, &count, &error),
                     PRT_OK);
    free(bytes);
}

/* Every file that differs from a good one in one byte is read or refused, without a crash; at most
 * 4096 packets are looked at. */
static inline void io_check_flips(const char *whole, const char *name, const char *items,
                                  enum scalar_type packet)
{
    static const unsigned char masks[] = {0x01, 0x80, 0xff, 0x20};
    size_t length;
    static double packets[4096];
    unsigned char *bytes = io_read_file(whole, &length);
    const char *path = io_path(name);
    for (size_t i = 0; i < length; i++)
        for (size_t m = 0; m < sizeof masks; m++) {
            struct prt_source *source = NULL;
            struct prt_error error = {PRT_OK, 0, ""};
            size_t got = 1;
            bytes[i] ^= masks[m];
            io_write_file(path, bytes, length);
            bytes[i] ^= masks[m];
            enum prt_status status = io_open_source("in", path, items, packet, &source, &error);
            for (int reads = 0; status == PRT_OK && got > 0 && reads < 4; reads++)
                status = prt_source_read(source, packets, 4096, &got, &error);
            if (status != PRT_OK) assert_non_null(strstr(error.message, path));
            prt_source_close(source);
        }
    free(bytes);
}

#define IO_TEST_MAIN(group, ...)                                                                   \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        cmocka_set_test_filter(getenv("T"));                                                       \
        return cmocka_run_group_tests_name(group, tests, io_folder_make, io_folder_remove);        \
    }

#endif
