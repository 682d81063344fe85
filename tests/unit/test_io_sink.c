/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: how outputs appear, whole or not at all. */
#include "tests/test.h"

#include <malloc.h>

#include "tests/unit/test_io.h"

#include <sys/resource.h>

static struct prt_error error;
static const uint8_t data[] = {1, 2, 3, 4, 5, 6};

static const char *const every_format[] = {",raw",         ",npy",         ",wav",
                                           ",pgm,width=3", ",png,width=3", ",csv"};
enum { FORMATS = 6 };

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void check_content(const char *path, const char *expected)
{
    size_t length;
    unsigned char *bytes = io_read_file(path, &length);
    assert_string_equal((char *)bytes, expected);
    free(bytes);
}

static void outputs_appear_by_finish_alone(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        struct prt_sink *sink = NULL;
        const char *path = io_path("new");
        io_folder_entries(true);
        assert_int_equal(io_open_sink(path, every_format[f], SCALAR_U8, NULL, &sink, &error),
                         PRT_OK);
        assert_int_equal(prt_sink_write(sink, data, 6, &error), PRT_OK);
        assert_false(exists(path));
        assert_non_null(prt_sink_temporary(sink));
        assert_int_equal(io_folder_entries(false), 1);
        assert_int_equal(prt_sink_prepare(sink, &error), PRT_OK);
        assert_int_equal(prt_sink_prepare(sink, &error), PRT_OK);
        assert_false(exists(path));
        assert_int_equal(prt_sink_write(sink, data, 6, &error), PRT_E_USAGE);
        assert_int_equal(prt_sink_finish(sink, &error), PRT_OK);
        assert_true(exists(path));
        assert_null(prt_sink_temporary(sink));
        assert_int_equal(io_folder_entries(false), 1);
        assert_int_equal(prt_sink_finish(sink, &error), PRT_E_USAGE);
        prt_sink_abort(sink); /* does nothing any more */
        assert_true(exists(path));
        prt_sink_close(sink);
        assert_true(exists(path));
    }
}

static void abort_and_close_leave_the_old_file(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++)
        for (int how = 0; how < 3; how++) {
            struct prt_sink *sink = NULL;
            const char *path = io_path("old");
            io_folder_entries(true);
            io_write_file(path, "old", 3);
            assert_int_equal(io_open_sink(path, every_format[f], SCALAR_U8, NULL, &sink, &error),
                             PRT_OK);
            assert_int_equal(prt_sink_write(sink, data, 6, &error), PRT_OK);
            if (how == 2) assert_int_equal(prt_sink_prepare(sink, &error), PRT_OK);
            if (how >= 1) {
                prt_sink_abort(sink);
                assert_int_equal(io_folder_entries(false), 1);
                prt_sink_abort(sink);
                assert_int_equal(prt_sink_write(sink, data, 6, &error), PRT_E_USAGE);
                assert_int_equal(prt_sink_finish(sink, &error), PRT_E_USAGE);
            }
            prt_sink_close(sink);
            assert_int_equal(io_folder_entries(false), 1);
            check_content(path, "old");
        }
    prt_sink_abort(NULL);
    prt_sink_close(NULL);
}

static void a_full_device_is_a_write_error(void **state)
{
    (void)state;
    static uint8_t many[6 * 100000];
    for (int f = 0; f < FORMATS; f++)
        for (int large = 0; large < 2; large++) {
            assert_int_equal(io_write_stream("/dev/full", every_format[f], SCALAR_U8,
                                             large != 0 ? many : data, large != 0 ? sizeof many : 6,
                                             60000, &error),
                             PRT_E_WRITE);
            assert_non_null(strstr(error.message, "/dev/full"));
            assert_non_null(strstr(error.message, "No space left"));
        }
}

static void the_null_device_takes_everything(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++)
        assert_int_equal(
            io_write_stream("/dev/null", every_format[f], SCALAR_U8, data, 6, 2, &error), PRT_OK);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void places_that_cannot_be_written_are_named(void **state)
{
    (void)state;
    io_write_file(io_path("plain"), "x", 1);
    const char *paths[] = {io_path("plain/below"), io_path("missing/below"), io_folder, "/"};
    for (int f = 0; f < FORMATS; f++)
        for (size_t p = 0; p < 4; p++) {
            assert_int_equal(
                io_write_stream(paths[p], every_format[f], SCALAR_U8, data, 6, 6, &error),
                PRT_E_OPEN);
            assert_non_null(strstr(error.message, paths[p]));
        }
}

/* Past the file size limit write(2) fails with EFBIG: the same path as ENOSPC, on a real file. */
static void a_failing_write_leaves_the_old_file(void **state)
{
    (void)state;
    static uint8_t many[6 * 100000];
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    for (int f = 0; f < FORMATS; f++) {
        const char *path = io_path("big");
        for (size_t i = 0; i < sizeof many; i++)
            many[i] = (uint8_t)(i * i * i >> 5); /* must not compress away */
        io_folder_entries(true);
        io_write_file(path, "old", 3);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        enum prt_status status =
            io_write_stream(path, every_format[f], SCALAR_U8, many, sizeof many, 600, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, PRT_E_WRITE);
        assert_non_null(strstr(error.message, strerror(EFBIG)));
        assert_int_equal(io_folder_entries(false), 1);
        check_content(path, "old");
    }
}

static void the_mode_follows_the_umask(void **state)
{
    (void)state;
    struct stat status;
    mode_t before = umask(027);
    io_folder_entries(true);
    assert_int_equal(io_write_stream(io_path("m.raw"), "", SCALAR_U8, data, 6, 6, &error), PRT_OK);
    umask(before);
    assert_int_equal(stat(io_path("m.raw"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    struct stat status;
    io_folder_entries(true);
    io_write_file(io_path("target.raw"), "old", 3);
    assert_int_equal(symlink("target.raw", io_path("link.raw")), 0);
    assert_int_equal(io_write_stream(io_path("link.raw"), "", SCALAR_U8, "new", 3, 3, &error),
                     PRT_OK);
    assert_int_equal(lstat(io_path("link.raw"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_content(io_path("target.raw"), "new");
    assert_int_equal(symlink("nowhere.raw", io_path("dangling.raw")), 0);
    assert_int_equal(io_write_stream(io_path("dangling.raw"), "", SCALAR_U8, "new", 3, 3, &error),
                     PRT_OK);
    check_content(io_path("dangling.raw"), "new");
    assert_int_equal(lstat(io_path("dangling.raw"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_content(io_path("nowhere.raw"), "new");
    assert_int_equal(symlink("circle.raw", io_path("circle.raw")), 0);
    assert_int_equal(io_write_stream(io_path("circle.raw"), "", SCALAR_U8, "new", 3, 3, &error),
                     PRT_E_OPEN);
}

/* A name in /proc of a file cannot be replaced, least of all where nothing else has the file. */
static void a_descriptor_is_written_by_its_name(void **state)
{
    (void)state;
    struct stat status;
    char named[64], written[16] = "";
    io_folder_entries(true);
    int file = open(io_path("open.raw"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    snprintf(named, sizeof named, "/proc/self/fd/%d", file);
    assert_int_equal(symlink(named, io_path("by_name")), 0);
    assert_int_equal(write(file, "old", 3), 3);
    assert_int_equal(io_write_stream(io_path("by_name"), ",raw", SCALAR_U8, "new", 3, 3, &error),
                     PRT_OK);
    check_content(io_path("open.raw"), "oldnew");
    assert_int_equal(unlink(io_path("open.raw")), 0);
    assert_int_equal(io_write_stream(io_path("by_name"), ",raw", SCALAR_U8, "it", 2, 2, &error),
                     PRT_OK);
    assert_int_equal(lstat(io_path("by_name"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(pread(file, written, sizeof written, 0), 8);
    assert_memory_equal(written, "oldnewit", 8);
    close(file);
    assert_int_equal(io_write_stream(io_path("by_name"), ",raw", SCALAR_U8, "it", 2, 2, &error),
                     PRT_E_OPEN);
}

static void long_names_are_written(void **state)
{
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    memcpy(name + 251, ".raw", 5);
    char path[400];
    snprintf(path, sizeof path, "%s/%s", io_folder, name);
    assert_int_equal(io_write_stream(path, "", SCALAR_U8, data, 6, 6, &error), PRT_OK);
    assert_true(exists(path));
}

static void a_closed_pipe_has_its_own_status(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        int ends[2];
        char path[64];
        assert_int_equal(pipe(ends), 0);
        close(ends[0]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        assert_int_equal(io_write_stream(path, every_format[f], SCALAR_U8, data, 6, 6, &error),
                         PRT_E_CLOSED_PIPE);
        close(ends[1]);
    }
}

static void a_pipe_gets_packets_at_once(void **state)
{
    (void)state;
    int ends[2];
    char path[64];
    unsigned char got[8];
    struct prt_sink *sink = NULL;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_int_equal(io_open_sink(path, ",raw", SCALAR_U8, NULL, &sink, &error), PRT_OK);
    assert_int_equal(prt_sink_write(sink, data, 2, &error), PRT_OK);
    assert_int_equal(read(ends[0], got, sizeof got), 2);
    assert_null(prt_sink_temporary(sink));
    assert_int_equal(prt_sink_finish(sink, &error), PRT_OK);
    prt_sink_close(sink);
    close(ends[0]);
    close(ends[1]);
}

/* Whatever the format, a device gets the very bytes a file gets (wav: but for its lengths). */
static void pipes_and_files_get_the_same_bytes(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        int ends[2];
        char path[64];
        unsigned char got[1024];
        size_t length;
        assert_int_equal(pipe(ends), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        assert_int_equal(io_write_stream(path, every_format[f], SCALAR_U8, data, 6, 4, &error),
                         PRT_OK);
        close(ends[1]);
        ssize_t count = read(ends[0], got, sizeof got);
        close(ends[0]);
        assert_int_equal(
            io_write_stream(io_path("same"), every_format[f], SCALAR_U8, data, 6, 4, &error),
            PRT_OK);
        unsigned char *bytes = io_read_file(io_path("same"), &length);
        assert_int_equal(count, length);
        if (strcmp(every_format[f], ",wav") == 0) {
            memset(bytes + 4, 255, 4);
            memset(bytes + 40, 255, 4);
        }
        assert_memory_equal(got, bytes, length);
        free(bytes);
    }
}

static void temporaries_are_removed_from_a_handler(void **state)
{
    (void)state;
    struct prt_temporaries *registry = NULL;
    struct prt_sink *sinks[3] = {NULL};
    mallopt(M_PERTURB, 0xff); /* new memory is zero */
    assert_int_equal(prt_temporaries_create(&registry), PRT_OK);
    const struct prt_io_environment environment = {.temporaries = registry, .interrupt_fd = -1};
    io_folder_entries(true);
    const char *names[] = {"one.raw", "two.npy", "three.csv"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            io_open_sink(io_path(names[i]), "", SCALAR_U8, &environment, &sinks[i], &error),
            PRT_OK);
        assert_int_equal(prt_sink_write(sinks[i], data, 6, &error), PRT_OK);
    }
    assert_int_equal(io_folder_entries(false), 3);
    assert_int_equal(prt_sink_finish(sinks[0], &error), PRT_OK);
    prt_temporaries_remove(registry);
    assert_int_equal(io_folder_entries(false), 1);
    assert_true(exists(io_path("one.raw")));
    /* a sink whose temporary is gone cannot pretend to have published */
    assert_int_equal(prt_sink_finish(sinks[1], &error), PRT_E_WRITE);
    prt_sink_abort(sinks[2]);
    prt_temporaries_remove(registry);
    assert_int_equal(io_folder_entries(false), 1);
    for (size_t i = 0; i < 3; i++)
        prt_sink_close(sinks[i]);
    prt_temporaries_destroy(registry);
    prt_temporaries_destroy(NULL);
    mallopt(M_PERTURB, 0);
}

static void a_failed_write_cannot_be_finished(void **state)
{
    (void)state;
    struct prt_sink *sink = NULL;
    const int32_t packets[] = {1, 300};
    io_folder_entries(true);
    assert_int_equal(io_open_sink(io_path("f.u8"), "", SCALAR_I32, NULL, &sink, &error), PRT_OK);
    assert_int_equal(prt_sink_write(sink, packets, 2, &error), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "packet 1"));
    assert_int_equal(prt_sink_finish(sink, &error), PRT_E_USAGE);
    assert_int_equal(io_folder_entries(false), 0);
    prt_sink_close(sink);
}

IO_TEST_MAIN("io_sink", cmocka_unit_test(outputs_appear_by_finish_alone),
             cmocka_unit_test(abort_and_close_leave_the_old_file),
             cmocka_unit_test(a_full_device_is_a_write_error),
             cmocka_unit_test(the_null_device_takes_everything),
             cmocka_unit_test(places_that_cannot_be_written_are_named),
             cmocka_unit_test(a_failing_write_leaves_the_old_file),
             cmocka_unit_test(the_mode_follows_the_umask), cmocka_unit_test(a_link_stays_a_link),
             cmocka_unit_test(a_descriptor_is_written_by_its_name),
             cmocka_unit_test(long_names_are_written),
             cmocka_unit_test(a_closed_pipe_has_its_own_status),
             cmocka_unit_test(a_pipe_gets_packets_at_once),
             cmocka_unit_test(pipes_and_files_get_the_same_bytes),
             cmocka_unit_test(temporaries_are_removed_from_a_handler),
             cmocka_unit_test(a_failed_write_cannot_be_finished))
