/* SPDX-License-Identifier: MIT */
/* Each call for memory or of the system that reading and writing files makes fails in its turn: a status and a message
 * say so, a step that is reported as done is done, and nothing is lost or left.  The linker leads these calls here (Makefile:
 * IO_FAULTS_LD). */
#include "tests/test.h"

#include "tests/unit/failing_calls.h"
#include "tests/unit/test_io.h"

#include "base/file_publish.h"
#include "tools/piperun/io/arrival_text.h"

#include <poll.h>
#include <sndfile.h>
#include <sys/random.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

/* ---- faults ---- */

/* One that a signal may interrupt, too. */
static bool stops(int why)
{
    if (faults.fault != FAULT_FAILS && faults.fault != FAULT_INTERRUPTED) return false;
    if (!is_hit()) return false;
    errno = faults.fault == FAULT_FAILS ? why : EINTR;
    return true;
}

/* One that moves bytes: how many it is to move; -1: it fails. */
static ssize_t moves(size_t size, int why)
{
    if (faults.armed && faults.bytewise && size > 1) size = 1;
    if (!is_hit()) return (ssize_t)size;
    if (faults.fault == FAULT_SHORT) return size > 1 ? 1 : (ssize_t)size;
    errno = faults.fault == FAULT_FAILS ? why : faults.fault == FAULT_AGAIN ? EAGAIN : EINTR;
    return -1;
}

/* NOLINTBEGIN(bugprone-reserved-identifier,misc-use-internal-linkage): the linker's names */
/* Without random numbers the name of a temporary is less random. */
REAL(ssize_t, getrandom, void *bytes, size_t size, unsigned flags)
{
    return fails(ENOSYS) ? -1 : __real_getrandom(bytes, size, flags);
}

REAL(int, open, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    if (faults.fault == FAULT_AGAIN && (flags & O_EXCL) != 0 && is_hit()) {
        errno = EEXIST; /* another process has taken this name */
        return -1;
    }
    return stops(EMFILE) ? -1 : __real_open(path, flags, mode);
}

REAL(int, fcntl, int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    int argument = va_arg(more, int);
    va_end(more);
    return fails(EMFILE) ? -1 : __real_fcntl(fd, command, argument);
}

/* Having closed, as on Linux. */
REAL(int, close, int fd)
{
    int status = __real_close(fd);
    return stops(EIO) ? -1 : status;
}

REAL(int, fstat, int fd, struct stat *about)
{
    return fails(EIO) ? -1 : __real_fstat(fd, about);
}

REAL(int, stat, const char *path, struct stat *about)
{
    return fails(EACCES) ? -1 : __real_stat(path, about);
}

REAL(int, access, const char *path, int mode)
{
    return fails(EACCES) ? -1 : __real_access(path, mode);
}

REAL(off_t, lseek, int fd, off_t offset, int whence)
{
    return fails(ESPIPE) ? -1 : __real_lseek(fd, offset, whence);
}

REAL(int, poll, struct pollfd *polled, nfds_t count, int timeout)
{
    return stops(EINVAL) ? -1 : __real_poll(polled, count, timeout);
}

/* Nothing of this has to survive the machine. */
REAL(int, fsync, int fd)
{
    return stops(EIO) ? -1 : __real_fcntl(fd, F_GETFD) >= 0 ? 0 : -1;
}

REAL(int, rename, const char *from, const char *to)
{
    return fails(EXDEV) ? -1 : __real_rename(from, to);
}

REAL(int, mkostemp, char *path, int flags)
{
    return fails(ENOSPC) ? -1 : __real_mkostemp(path, flags);
}

REAL(ssize_t, read, int fd, void *bytes, size_t size)
{
    ssize_t part = moves(size, EIO);
    return part < 0 ? -1 : __real_read(fd, bytes, (size_t)part);
}

/* Of a regular file: it is always there. */
REAL(ssize_t, pread, int fd, void *bytes, size_t size, off_t offset)
{
    if (faults.fault == FAULT_AGAIN) return __real_pread(fd, bytes, size, offset);
    ssize_t part = moves(size, EIO);
    return part < 0 ? -1 : __real_pread(fd, bytes, (size_t)part, offset);
}

REAL(ssize_t, write, int fd, const void *bytes, size_t size)
{
    ssize_t part = moves(size, ENOSPC);
    return part < 0 ? -1 : __real_write(fd, bytes, (size_t)part);
}

REAL(ssize_t, pwrite, int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t part = moves(size, ENOSPC);
    return part < 0 ? -1 : __real_pwrite(fd, bytes, (size_t)part, offset);
}
/* NOLINTEND(bugprone-reserved-identifier,misc-use-internal-linkage) */

/* ---- what is read and written ---- */

enum { PACKETS = 3000, CALLS_MAX = 4000 };

/* struct { u8 id; f64 pos[3]; i16x2 pair; } */
static const struct prt_field_information record_fields[] = {
    {"id", SCALAR_U8, 0, 1, "", 1},
    {"pos", SCALAR_F64, 8, 3, "3", 1},
    {"pair", SCALAR_I16, 32, 2, "2", 2},
};
static const struct prt_packet record = {"record", 40, record_fields, SCALAR_U8, 3};
static const struct prt_packet scalars[] = {{"f32", 4, NULL, SCALAR_F32, 0},
                                            {"i16", 2, NULL, SCALAR_I16, 0},
                                            {"u8", 1, NULL, SCALAR_U8, 0},
                                            {"f64", 8, NULL, SCALAR_F64, 0}};
enum { F32, I16, U8, F64 };

static const struct row {
    const char *name, *items; /* of a file of the folder */
    const struct prt_packet *packet;
} rows[] = {
    {"a.raw", "", &scalars[F32]},
    {"b.raw", ",raw:i16be", &scalars[F32]},
    {"c.npy", "", &scalars[F64]},
    {"d.npy", ",npy:i16", &scalars[F32]},
    {"e.npy", "", &record},
    {"f.wav", ",wav:i16", &scalars[F32]},
    {"g.wav", "", &scalars[F32]},
    {"h.wav", ",channels=2", &scalars[I16]},
    {"i.wav", ",wav:u8", &scalars[U8]},
    {"j.pgm", ",width=50", &scalars[U8]},
    {"k.ppm", ",width=20", &scalars[U8]},
    {"l.png", ",width=60", &scalars[U8]},
    {"m.png", ",width=50,channels=3", &scalars[U8]},
    {"n.csv", "", &scalars[F32]},
    {"o.csv", "", &record},
    {"s.jsonl", "", &scalars[F32]},
    {"t.jsonl", "", &record},
    {"u.y4m", ",width=50,height=20", &scalars[U8]},
    {"v.y4m", ",width=20,height=50,channels=3", &scalars[U8]},
    {"p.flac", "", &scalars[I16]},
    {"q.aiff", ",channels=2", &scalars[F32]},
    {"r.wav", ",wav:i32,channels=2", &scalars[F32]},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static unsigned char packets[PACKETS * 40], found[PACKETS * 40 + 64];

/* Numbers that every type and format holds exactly. */
static void make_packets(const struct row *row)
{
    memset(packets, 0, sizeof packets);
    for (size_t i = 0; i < PACKETS; i++) {
        unsigned char *at = packets + i * (size_t)row->packet->width_bytes;
        const float f = strstr(row->items, "wav") != NULL || strstr(row->name, "wav") != NULL
                            ? (float)(i % 128) / 128
                            : (float)(i % 128);
        const double d = f;
        const int16_t s = (int16_t)(i % 128);
        const unsigned char b = (unsigned char)(i % 128);
        if (row->packet == &scalars[F32]) memcpy(at, &f, sizeof f);
        if (row->packet == &scalars[F64]) memcpy(at, &d, sizeof d);
        if (row->packet == &scalars[I16]) memcpy(at, &s, sizeof s);
        if (row->packet == &scalars[U8] || row->packet == &record) at[0] = b;
        if (row->packet == &record) memcpy(at + 8, &d, sizeof d);
        if (row->packet == &record) memcpy(at + 32, &s, sizeof s);
    }
}

static enum prt_status parse(const char *port, const char *path, const char *items,
                             struct prt_port_spec *spec, struct prt_error *error)
{
    char text[512];
    snprintf(text, sizeof text, "%s=%s%s", port, path, items);
    return prt_port_spec_parse(text, spec, error);
}

static enum prt_status write_to(const char *path, const struct row *row,
                                const struct prt_io_environment *environment,
                                struct prt_error *error)
{
    struct prt_port_spec spec;
    struct prt_sink *sink = NULL;
    enum prt_status status = parse("out", path, row->items, &spec, error);
    if (status != PRT_OK) return status;
    status = prt_sink_open_packets(&spec, row->packet, environment, &sink, error);
    for (size_t done = 0; done < PACKETS && status == PRT_OK; done += 1000)
        status = prt_sink_write(sink, packets + done * (size_t)row->packet->width_bytes,
                                1000 * prt_packet_units(row->packet), error);
    if (status == PRT_OK) status = prt_sink_finish(sink, error);
    prt_sink_close(sink);
    prt_port_spec_free(&spec);
    return status;
}

/* The items of an input: those of the output without the types, which inputs read from the file. */
static const char *items_of_input(const struct row *row)
{
    if (strncmp(row->items, ",raw", 4) == 0) return row->items;
    return strstr(row->items, "channels=2") != NULL ? ",channels=2" : "";
}

static enum prt_status read_from(const char *path, const char *items,
                                 const struct prt_packet *packet,
                                 const struct prt_io_environment *environment, size_t *count,
                                 struct prt_error *error)
{
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    *count = 0;
    enum prt_status status = parse("in", path, items, &spec, error);
    if (status != PRT_OK) return status;
    status = prt_source_open_packets(&spec, packet, environment, &source, error);
    size_t scalars_each = prt_packet_units(packet), got = 1;
    size_t width = (size_t)packet->width_bytes / scalars_each;
    while (status == PRT_OK && got > 0) { /* to the end: one packet too many would be seen */
        status = prt_source_read(source, found + *count * width,
                                 PACKETS * scalars_each - *count + 1, &got, error);
        assert_true(*count + got <= PACKETS * scalars_each);
        *count += got;
    }
    prt_source_close(source);
    prt_port_spec_free(&spec);
    return status;
}

static void check_message(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    assert_int_equal(error->status, status);
    assert_true(error->message[0] != '\0');
}

/* ---- files ---- */

/* Whatever fails: the file is the old one or the new one, and only a whole file is reported as done. */
static void outputs_are_whole_or_not_there(void **state)
{
    (void)state;
    static const char old[] = "what was there before";
    for (size_t r = 0; r < ROWS; r++) {
        struct prt_error error = {0};
        size_t whole_bytes, there_bytes;
        const char *path = io_path(rows[r].name);
        make_packets(&rows[r]);
        assert_int_equal(write_to(path, &rows[r], NULL, &error), PRT_OK);
        unsigned char *whole = io_read_file(path, &whole_bytes);
        for (int fault = 0; fault < FAULT_KINDS; fault++) {
            bool hit = true;
            for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
                struct prt_io_environment environment = {.interrupt_fd = -1};
                assert_int_equal(prt_temporaries_create(&environment.temporaries), PRT_OK);
                io_write_file(path, old, sizeof old);
                arm((enum fault)fault, call);
                enum prt_status status = write_to(path, &rows[r], &environment, &error);
                hit = disarm();
                int64_t blocks = faults.blocks;
                prt_temporaries_remove(environment.temporaries);
                prt_temporaries_destroy(environment.temporaries);
                check_message(status, &error);
                unsigned char *there = io_read_file(path, &there_bytes);
                bool is_new = there_bytes == whole_bytes && memcmp(there, whole, whole_bytes) == 0;
                bool is_old = there_bytes == sizeof old && memcmp(there, old, sizeof old) == 0;
                bool in_doubt = strstr(error.message, "its folder cannot be synchronised") != NULL;
                assert_true(status == PRT_OK || in_doubt ? is_new : is_old);
                if (fault != FAULT_FAILS) assert_int_equal(status, PRT_OK);
                /* The registry has a record of each name; after EEXIST there are two. */
                assert_true(blocks <= (fault == FAULT_AGAIN ? 2 : 1));
                free(there);
                memset(&error, 0, sizeof error);
            }
            assert_false(hit);
        }
        free(whole);
        unlink(path);
        assert_int_equal(io_folder_entries(false), 0);
    }
}

/* Packets that were read are right, and an end is reported only at the end of the file. */
static void inputs_are_read_or_refused(void **state)
{
    (void)state;
    int idle[2]; /* never interrupted */
    assert_int_equal(pipe(idle), 0);
    const struct prt_io_environment environment = {.interrupt_fd = idle[0]};
    for (size_t r = 0; r < ROWS; r++) {
        const struct row *row = &rows[r];
        struct prt_error error = {0};
        size_t count, expected;
        const char *path = io_path(row->name);
        make_packets(row);
        assert_int_equal(write_to(path, row, NULL, &error), PRT_OK);
        assert_int_equal(read_from(path, items_of_input(row), row->packet, NULL, &expected, &error),
                         PRT_OK);
        assert_int_equal(expected, PACKETS * prt_packet_units(row->packet));
        size_t bytes = PACKETS * (size_t)row->packet->width_bytes;
        assert_memory_equal(found, packets, bytes);
        for (int fault = 0; fault < FAULT_KINDS; fault++) {
            bool hit = true;
            for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
                memset(found, 0xee, sizeof found);
                arm((enum fault)fault, call);
                enum prt_status status =
                    read_from(path, items_of_input(row), row->packet, &environment, &count, &error);
                hit = disarm();
                check_message(status, &error);
                assert_true(faults.blocks <= 0);
                if (fault != FAULT_FAILS) assert_int_equal(status, PRT_OK);
                if (status == PRT_OK) assert_int_equal(count, expected);
                assert_memory_equal(found, packets, count * (bytes / expected));
            }
            assert_false(hit);
        }
        unlink(path);
    }
    __real_close(idle[0]);
    __real_close(idle[1]);
}

static void lists_of_arrivals_are_read_or_memory_is_missing(void **state)
{
    (void)state;
    enum { LINES = 300 }; /* more than a list has room for at first */
    static char text[LINES * 4 + 1];
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + i * 4, "1 2\n", 4);
    const char *path = io_path("arrivals");
    io_write_file(path, text, LINES * 4);
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        struct prt_error error = {0};
        struct prt_port_spec spec = {0};
        struct prt_arrival_list list = {0};
        char items[256];
        snprintf(items, sizeof items, ",arrive=@%s", path);
        arm(FAULT_FAILS, call);
        enum prt_status status = parse("in", "x.raw", items, &spec, &error);
        if (status == PRT_OK) status = prt_arrival_list_read(spec.arrive_path, 1000, &list, &error);
        prt_arrival_list_free(&list);
        prt_port_spec_free(&spec);
        hit = disarm();
        check_message(status, &error);
        if (status != PRT_E_OPEN) assert_int_equal(status, hit ? PRT_E_NOMEM : PRT_OK);
        assert_true(faults.blocks <= 0);
    }
    unlink(path);
}

/* More than a writer keeps: what fails is a write in the middle of a line, of a picture, of sound.  Every second error is
 * not asked for. */
static void large_outputs_fail_where_they_are_written(void **state)
{
    (void)state;
    static const struct row large[] = {{"l.png", ",width=400", &scalars[U8]},
                                       {"q.aiff", "", &scalars[F32]},
                                       {"o.csv", "", &record},
                                       {"t.jsonl", "", &record}};
    for (size_t r = 0; r < sizeof large / sizeof large[0]; r++) {
        const struct row *row = &large[r];
        uint32_t noise = 1;
        make_packets(row);
        for (size_t i = 0; i < sizeof packets && row->packet != &record; i++) {
            noise = noise * 1664525 + 1013904223;
            packets[i] = (unsigned char)(noise >> 24);
            if (row->packet == &scalars[F32] && i % 4 == 3) packets[i] = 0x3e; /* 0.1 to 0.3 */
        }
        size_t count = sizeof packets / (size_t)row->packet->width_bytes;
        bool hit = true;
        for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
            struct prt_io_environment environment = {.interrupt_fd = -1};
            struct prt_error error = {0}, *told = call % 2 == 0 ? &error : NULL;
            struct prt_port_spec spec;
            struct prt_sink *sink = NULL;
            assert_int_equal(prt_temporaries_create(&environment.temporaries), PRT_OK);
            assert_int_equal(parse("out", io_path(row->name), row->items, &spec, &error), PRT_OK);
            arm(FAULT_FAILS, call);
            enum prt_status status =
                prt_sink_open_packets(&spec, row->packet, &environment, &sink, told);
            for (int times = 0; times < (row->packet == &record ? 8 : 2) && status == PRT_OK;
                 times++)
                status = prt_sink_write(sink, packets, count * prt_packet_units(row->packet), told);
            if (status == PRT_OK) status = prt_sink_finish(sink, told);
            prt_sink_close(sink);
            hit = disarm();
            prt_temporaries_remove(environment.temporaries);
            prt_temporaries_destroy(environment.temporaries);
            prt_port_spec_free(&spec);
            if (!hit) assert_int_equal(status, PRT_OK);
            if (told != NULL) check_message(status, &error);
        }
        assert_false(hit);
        assert_int_equal(io_folder_entries(true), 1);
    }
}

/* Each place in the first bytes of a file, the header among them, is where a read fails. */
static void a_read_that_fails_inside_a_header_is_reported(void **state)
{
    (void)state;
    enum { BYTES = 300 };
    for (size_t r = 0; r < ROWS; r++) {
        const struct row *row = &rows[r];
        struct prt_error error = {0};
        size_t count, width = (size_t)row->packet->width_bytes / prt_packet_units(row->packet);
        const char *path = io_path(row->name);
        make_packets(row);
        assert_int_equal(write_to(path, row, NULL, &error), PRT_OK);
        for (uint64_t call = 0; call < BYTES; call++) {
            arm(FAULT_FAILS, call);
            faults.bytewise = true;
            enum prt_status status =
                read_from(path, items_of_input(row), row->packet, NULL, &count, &error);
            bool hit = disarm();
            check_message(status, &error);
            assert_true(faults.blocks <= 0);
            if (!hit) assert_int_equal(status, PRT_OK);
            assert_memory_equal(found, packets, count * width);
            arm(FAULT_FAILS, call); /* and an error that is not asked for */
            faults.bytewise = true;
            (void)read_from(path, items_of_input(row), row->packet, NULL, &count, NULL);
            assert_int_equal(disarm(), hit);
        }
        unlink(path);
    }
}

/* The blanks after a picture of text, and all of a sound file, which is read to its end first. */
static void a_read_that_fails_before_the_end_is_reported(void **state)
{
    (void)state;
    static const char picture[] = "P2 2 1 255 7 9 \n\n";
    static float samples[2900];
    SF_INFO info = {.samplerate = 8000, .channels = 1, .format = SF_FORMAT_OGG | SF_FORMAT_VORBIS};
    io_write_file(io_path("t.pgm"), picture, sizeof picture - 1);
    SNDFILE *file = sf_open(io_path("b.ogg"), SFM_WRITE, &info);
    assert_non_null(file);
    static char comment[200000]; /* so that the end is not read with the beginning */
    memset(comment, 'c', sizeof comment - 1);
    assert_int_equal(sf_set_string(file, SF_STR_COMMENT, comment), 0);
    assert_int_equal(sf_write_float(file, samples, 2900), 2900);
    sf_close(file);
    for (int sound = 0; sound < 2; sound++) {
        bool hit = true;
        for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
            struct prt_error error = {0};
            size_t count;
            arm(FAULT_FAILS, call);
            faults.bytewise = call < 200;
            enum prt_status status = read_from(io_path(sound ? "b.ogg" : "t.pgm"), "",
                                               &scalars[sound ? F32 : U8], NULL, &count, &error);
            hit = disarm();
            check_message(status, &error);
            if (status == PRT_OK) assert_int_equal(count, sound ? 2900 : 2);
        }
        assert_false(hit);
    }
    assert_int_equal(io_folder_entries(true), 2);
}

/* ---- pipes ---- */

struct given {
    int fd;
    const unsigned char *bytes;
    size_t size;
};

static void *feed(void *context)
{
    struct given *given = context;
    FILE *file = fdopen(given->fd, "wb");
    if (file == NULL) return NULL;
    (void)fwrite(given->bytes, 1, given->size, file);
    (void)fclose(file);
    return NULL;
}

/* Only a few faults of each kind: reader and writer of a pipe wait for each other, so calls vary from run to run. */
static void pipes_are_read_or_refused(void **state)
{
    (void)state;
    for (size_t r = 0; r < ROWS; r++) {
        const struct row *row = &rows[r];
        struct prt_error error = {0};
        size_t size, count,
            width = (size_t)row->packet->width_bytes / prt_packet_units(row->packet);
        const char *path = io_path(row->name);
        make_packets(row);
        assert_int_equal(write_to(path, row, NULL, &error), PRT_OK);
        unsigned char *bytes = io_read_file(path, &size);
        unlink(path);
        for (int fault = 0; fault < FAULT_SHORT; fault++) {
            for (uint64_t call = 0; call < 12; call++) {
                char name[64], items[64];
                int ends[2];
                pthread_t thread;
                const char *dot = strrchr(row->name, '.');
                const char *given_items = items_of_input(row);
                const char *format = strcmp(dot, ".ppm") == 0 ? "pgm" : dot + 1;
                assert_int_equal(pipe(ends), 0);
                struct given given = {ends[1], bytes, size};
                snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
                if (strstr(given_items, "raw:") != NULL)
                    snprintf(items, sizeof items, "%s", given_items);
                else
                    snprintf(items, sizeof items, ",%s%s", format, given_items);
                assert_int_equal(pthread_create(&thread, NULL, feed, &given), 0);
                arm((enum fault)fault, call * 3);
                enum prt_status status = read_from(name, items, row->packet, NULL, &count, &error);
                (void)disarm();
                check_message(status, &error);
                assert_true(count <= PACKETS * prt_packet_units(row->packet));
                assert_memory_equal(found, packets, count * width);
                __real_close(ends[0]);
                pthread_join(thread, NULL);
            }
        }
        free(bytes);
    }
}

/* A sink that writes to a pipe: whole, or an error; a file whose header comes last waits in a file of $TMPDIR. */
static void pipes_are_written_or_an_error_says_so(void **state)
{
    (void)state;
    for (size_t r = 0; r < ROWS; r++) {
        const struct row *row = &rows[r];
        make_packets(row);
        for (int fault = 0; fault < FAULT_KINDS; fault++) {
            bool hit = true;
            for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
                struct prt_error error = {0};
                char name[64], items[64];
                const char *format = strcmp(strrchr(row->name, '.'), ".ppm") == 0
                                         ? "ppm"
                                         : strrchr(row->name, '.') + 1;
                struct row to = *row;
                FILE *all = tmpfile();
                assert_non_null(all);
                snprintf(name, sizeof name, "/dev/fd/%d", fileno(all));
                bool has_format =
                    row->items[0] == ',' && strncmp(row->items + 1, format, strlen(format)) == 0;
                snprintf(items, sizeof items, "%s%s%s", has_format ? "" : ",",
                         has_format ? "" : format, row->items);
                to.items = items;
                arm((enum fault)fault, call);
                enum prt_status status = write_to(name, &to, NULL, &error);
                hit = disarm();
                check_message(status, &error);
                assert_true(faults.blocks <= 0);
                if (fault != FAULT_FAILS) assert_int_equal(status, PRT_OK);
                fclose(all);
            }
            assert_false(hit);
        }
    }
}

/* ---- names ---- */

/* Nothing of these is read from files: only memory can be missing. */
static void generators_are_made_or_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"gen:ramp:5", "gen:noise:3:5", "gen:zeros:5", "null"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (int output = 0; output < (i == 3 ? 2 : 1); output++) {
            bool hit = true;
            for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
                struct prt_error error = {0};
                size_t count;
                struct row row = {paths[i], "", &scalars[F32]};
                arm(FAULT_FAILS, call);
                enum prt_status status =
                    output != 0 ? write_to(paths[i], &row, NULL, &error)
                                : read_from(paths[i], "", row.packet, NULL, &count, &error);
                hit = disarm();
                assert_int_equal(status, hit ? PRT_E_NOMEM : PRT_OK);
                assert_true(faults.blocks <= 0);
            }
        }
    struct prt_temporaries *registry = NULL;
    arm(FAULT_FAILS, 0);
    enum prt_status status = prt_temporaries_create(&registry);
    (void)disarm();
    assert_int_equal(status, PRT_E_NOMEM);
    assert_null(registry);
}

/* A device is opened by its name, and written as it is. */
static void devices_are_opened_or_refused(void **state)
{
    (void)state;
    struct row row = {"/dev/null", ",raw", &scalars[F32]};
    make_packets(&row);
    for (int fault = 0; fault < FAULT_AGAIN; fault++) {
        bool hit = true;
        for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
            struct prt_error error = {0};
            arm((enum fault)fault, call);
            enum prt_status status = write_to("/dev/null", &row, NULL, &error);
            hit = disarm();
            check_message(status, &error);
            if (fault != FAULT_FAILS) assert_int_equal(status, PRT_OK);
        }
    }
}

/* Sound that is not written here, from a file and from a pipe that holds all of it; with an error that is not asked for. */
static void other_sound_is_read_or_refused(void **state)
{
    (void)state;
    static float samples[4096], whole[4200];
    SF_INFO info = {.samplerate = 8000, .channels = 1, .format = SF_FORMAT_OGG | SF_FORMAT_VORBIS};
    for (size_t i = 0; i < 4096; i++)
        samples[i] = (float)(i % 50) / 60;
    SNDFILE *file = sf_open(io_path("a.ogg"), SFM_WRITE, &info);
    assert_non_null(file);
    assert_int_equal(sf_write_float(file, samples, 2900), 2900);
    sf_close(file);
    size_t size, count, expected;
    struct prt_error error = {0};
    unsigned char *bytes = io_read_file(io_path("a.ogg"), &size);
    assert_int_equal(read_from(io_path("a.ogg"), "", &scalars[F32], NULL, &expected, &error),
                     PRT_OK);
    assert_int_equal(expected, 2900);
    memcpy(whole, found, expected * sizeof(float));
    for (int piped = 0; piped < 2; piped++) {
        bool hit = true;
        for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
            char name[64];
            int ends[2];
            assert_int_equal(pipe(ends), 0);
            assert_int_equal(__real_write(ends[1], bytes, size), (ssize_t)size);
            __real_close(ends[1]);
            snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
            arm(FAULT_FAILS, call);
            enum prt_status status = read_from(piped != 0 ? name : io_path("a.ogg"), ",ogg",
                                               &scalars[F32], NULL, &count, NULL);
            hit = disarm();
            assert_true(faults.blocks <= 0);
            assert_memory_equal(found, whole, count * sizeof(float));
            if (status == PRT_OK) assert_int_equal(count, expected);
            __real_close(ends[0]);
        }
        assert_false(hit);
    }
    free(bytes);
    /* each byte of a header in a pipe */
    static const struct row wav = {"h.wav", "", &scalars[I16]};
    make_packets(&wav);
    assert_int_equal(write_to(io_path("h.wav"), &wav, NULL, &error), PRT_OK);
    bytes = io_read_file(io_path("h.wav"), &size);
    for (uint64_t call = 0; call < 200; call++) {
        char name[64];
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(__real_write(ends[1], bytes, size), (ssize_t)size);
        __real_close(ends[1]);
        snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
        arm(FAULT_FAILS, call);
        faults.bytewise = true;
        enum prt_status status = read_from(name, ",wav", &scalars[I16], NULL, &count, &error);
        bool hit = disarm();
        check_message(status, &error);
        if (!hit) assert_int_equal(status, PRT_OK);
        assert_memory_equal(found, packets, count * sizeof(int16_t));
        __real_close(ends[0]);
    }
    free(bytes);
    unlink(io_path("a.ogg"));
    unlink(io_path("h.wav"));
}

static void a_file_gets_its_name_or_keeps_the_old_one(void **state)
{
    (void)state;
    for (int fault = 0; fault < FAULT_AGAIN; fault++) {
        bool hit = true;
        for (uint64_t call = 0; hit && call < CALLS_MAX; call++) {
            bool renamed;
            io_write_file(io_path("new"), "new", 3);
            io_write_file(io_path("old"), "old", 3);
            arm((enum fault)fault, call);
            bool good = file_publish(io_path("new"), io_path("old"), &renamed);
            hit = disarm();
            size_t size;
            unsigned char *bytes = io_read_file(io_path("old"), &size);
            assert_memory_equal(bytes, renamed ? "new" : "old", 3);
            assert_true(renamed || !good);
            if (!hit || fault == FAULT_INTERRUPTED) assert_true(good);
            free(bytes);
        }
        assert_false(hit);
    }
    io_folder_entries(true);
    bool renamed;
    char name[5000];
    memset(name, 'n', sizeof name);
    name[4500] = '/';
    name[sizeof name - 1] = '\0';
    assert_false(file_publish("new", name, &renamed));
    assert_int_equal(errno, ENAMETOOLONG);
    assert_false(renamed);
}

IO_TEST_MAIN("io_faults", cmocka_unit_test(generators_are_made_or_refused),
             cmocka_unit_test(devices_are_opened_or_refused),
             cmocka_unit_test(other_sound_is_read_or_refused),
             cmocka_unit_test(outputs_are_whole_or_not_there),
             cmocka_unit_test(inputs_are_read_or_refused),
             cmocka_unit_test(lists_of_arrivals_are_read_or_memory_is_missing),
             cmocka_unit_test(a_read_that_fails_inside_a_header_is_reported),
             cmocka_unit_test(a_read_that_fails_before_the_end_is_reported),
             cmocka_unit_test(large_outputs_fail_where_they_are_written),
             cmocka_unit_test(pipes_are_read_or_refused),
             cmocka_unit_test(pipes_are_written_or_an_error_says_so),
             cmocka_unit_test(a_file_gets_its_name_or_keeps_the_old_one))
