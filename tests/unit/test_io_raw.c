/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: raw and csv, conversion by value, sources in general. */
#include "tests/test.h"

#include "tests/unit/test_io.h"

#include "tools/piperun/io/io_internal.h"

#include <locale.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>

static struct prt_error error;
static size_t count;

/* --- raw --- */

static void every_type_round_trips(void **state)
{
    (void)state;
    unsigned char bytes[64], read[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (int type = 0; type < SCALAR_COUNT; type++) {
        enum scalar_type packet = (enum scalar_type)type;
        size_t packets = sizeof bytes / scalar_width_bytes(packet);
        assert_int_equal(io_write_stream(io_path("a.raw"), "", packet, bytes, packets, 3, &error),
                         PRT_OK);
        assert_int_equal(
            io_read_stream(io_path("a.raw"), "", packet, read, packets, 5, &count, &error), PRT_OK);
        assert_int_equal(count, packets);
        if (packet == SCALAR_BOOL)
            for (size_t i = 0; i < packets; i++)
                assert_int_equal(read[i], bytes[i] != 0);
        else
            assert_memory_equal(read, bytes, packets * scalar_width_bytes(packet));
    }
}

/* The value, or nothing where the type cannot hold it. */
static void every_type_is_converted_to_every_other_or_stops(void **state)
{
    (void)state;
    static const double values[] = {0, 1, 100, -1, 200, 40000, 3e9, -3e9, 1e19, 1e30};
    for (int from = 0; from < SCALAR_COUNT; from++)
        for (int to = 0; to < SCALAR_COUNT; to++)
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                unsigned char source[8] = {0}, target[8] = {0}, direct[8] = {0};
                enum scalar_type a = (enum scalar_type)from, b = (enum scalar_type)to;
                double value = 0;
                if (prt_io_convert(source, a, &values[v], SCALAR_F64, 1) == 0) continue;
                assert_int_equal(prt_io_convert(&value, SCALAR_F64, source, a, 1), 1);
                size_t fits = prt_io_convert(direct, b, &value, SCALAR_F64, 1);
                assert_int_equal(prt_io_convert(target, b, source, a, 1), fits);
                assert_memory_equal(target, direct, scalar_width_bytes(b));
            }
    const int32_t one = 1;
    const uint32_t two = 2;
    uint16_t halves[4];
    (void)prt_io_convert(&halves[0], SCALAR_F16, &one, SCALAR_I32, 1);
    (void)prt_io_convert(&halves[1], SCALAR_BF16, &one, SCALAR_I32, 1);
    (void)prt_io_convert(&halves[2], SCALAR_F16, &two, SCALAR_U32, 1);
    (void)prt_io_convert(&halves[3], SCALAR_BF16, &two, SCALAR_U32, 1);
    assert_memory_equal(halves, ((uint16_t[]){0x3c00, 0x3f80, 0x4000, 0x4000}), sizeof halves);
    assert_int_equal(prt_io_convert(halves, SCALAR_F32, &one, SCALAR_I32, 0), 0);
}

/* In the middle of a line, of a conversion, or of nothing. */
static void a_full_device_stops_a_long_write(void **state)
{
    (void)state;
    static const struct prt_field_information lanes = {"", SCALAR_F32, 0, 4, "4", 4};
    static const struct prt_packet vector = {"f32x4", 16, &lanes, SCALAR_F32, 1};
    static const char *const items[] = {",csv", ",raw:f64", ",raw", ",wav:i16"};
    static const float packets[4 * 10000] = {0.5f};
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        struct prt_port_spec spec;
        struct prt_sink *sink = NULL;
        char text[64];
        snprintf(text, sizeof text, "y=/dev/full%s", items[i]);
        assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
        assert_int_equal(prt_sink_open_packets(&spec, &vector, NULL, &sink, &error), PRT_OK);
        assert_int_equal(prt_sink_write(sink, packets, 0, &error), PRT_OK);
        assert_int_equal(prt_sink_write(sink, packets, 4 * 10000, &error), PRT_E_WRITE);
        assert_non_null(strstr(error.message, "/dev/full: cannot write"));
        prt_sink_close(sink);
        prt_port_spec_free(&spec);
    }
}

/* A number that would be cut short is refused. */
static void a_long_number_in_a_wide_csv_line_is_refused(void **state)
{
    (void)state;
    static const struct prt_field_information lanes = {"", SCALAR_I32, 0, 32, "32", 1};
    static const struct prt_packet wide = {"i32[32]", 128, &lanes, SCALAR_I32, 1};
    char line[1200], text[200];
    int32_t read[32];
    for (int kind = 0; kind < 2; kind++) {
        struct prt_port_spec spec;
        struct prt_source *source = NULL;
        memset(line, '0', sizeof line);
        if (kind == 1) memcpy(line, "1\0002,", 4);
        io_write_file(io_path("wide.csv"), line, kind == 0 ? sizeof line : 4);
        snprintf(text, sizeof text, "x=%s", io_path("wide.csv"));
        assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
        assert_int_equal(prt_source_open_packets(&spec, &wide, NULL, &source, &error), PRT_OK);
        assert_int_equal(prt_source_read(source, read, 32, &count, &error), PRT_E_FORMAT);
        prt_source_close(source);
        prt_port_spec_free(&spec);
    }
}

/* Packets of several scalars: the count of scalars would not fit. */
static void a_generator_with_too_many_scalars_is_endless(void **state)
{
    (void)state;
    static const struct prt_field_information lanes = {"", SCALAR_F32, 0, 4, "4", 4};
    static const struct prt_packet vector = {"f32x4", 16, &lanes, SCALAR_F32, 1};
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    struct prt_source_information information;
    assert_int_equal(prt_port_spec_parse("x=gen:zeros:0x8000000000000000", &spec, &error), PRT_OK);
    assert_int_equal(prt_source_open_packets(&spec, &vector, NULL, &source, &error), PRT_OK);
    prt_source_information(source, &information);
    assert_int_equal(information.packets, PRT_PACKETS_UNKNOWN);
    prt_source_close(source);
    prt_port_spec_free(&spec);
}

/* Several packets at once are what they are one by one. */
static void many_packets_are_converted_as_one_is(void **state)
{
    (void)state;
    static const double values[] = {0, 1, 5, 100, 7};
    enum { COUNT = sizeof values / sizeof values[0] };
    for (int from = 0; from < SCALAR_COUNT; from++)
        for (int to = 0; to < SCALAR_COUNT; to++) {
            enum scalar_type a = (enum scalar_type)from, b = (enum scalar_type)to;
            unsigned char source[COUNT * 8], many[COUNT * 8] = {0}, one[8];
            assert_int_equal(prt_io_convert(source, a, values, SCALAR_F64, COUNT), COUNT);
            assert_int_equal(prt_io_convert(many, b, source, a, COUNT), COUNT);
            for (size_t i = 0; i < COUNT; i++) {
                prt_io_convert(one, b, source + i * scalar_width_bytes(a), a, 1);
                assert_memory_equal(many + i * scalar_width_bytes(b), one, scalar_width_bytes(b));
            }
        }
}

/* More than are converted at a time. */
static void long_writes_are_converted_whole(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static int32_t packets[COUNT];
    size_t length;
    for (int32_t i = 0; i < COUNT; i++)
        packets[i] = i;
    for (int big = 0; big < 2; big++) {
        const char *items = big ? ",raw:u16be" : ",raw:u16";
        assert_int_equal(
            io_write_stream(io_path("long.raw"), items, SCALAR_I32, packets, COUNT, COUNT, &error),
            PRT_OK);
        unsigned char *bytes = io_read_file(io_path("long.raw"), &length);
        assert_int_equal(length, 2 * COUNT);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(bytes[2 * i + (size_t)big] + 256 * bytes[2 * i + 1 - (size_t)big], i);
        free(bytes);
    }
}

/* Whoever opened it has read a part. */
static void standard_input_is_read_from_where_it_stands(void **state)
{
    (void)state;
    unsigned char bytes[] = {1, 2, 3, 4, 5}, read_back[8];
    for (size_t at = 0; at < 8; at += 2) { /* the last one is past its end */
        struct prt_source_information information;
        struct prt_source *source = NULL;
        size_t left = at < sizeof bytes ? sizeof bytes - at : 0;
        io_write_file(io_path("part.raw"), bytes, sizeof bytes);
        int in = io_dup(STDIN_FILENO), fd = open(io_path("part.raw"), O_RDONLY);
        assert_true(fd >= 0 && lseek(fd, (off_t)at, SEEK_SET) == (off_t)at);
        assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
        close(fd);
        assert_int_equal(io_open_source("in", "-", "", SCALAR_U8, &source, &error), PRT_OK);
        prt_source_information(source, &information);
        prt_source_close(source);
        enum prt_status status =
            io_read_stream("-", "", SCALAR_U8, read_back, 8, 8, &count, &error);
        dup2(in, STDIN_FILENO);
        close(in);
        assert_int_equal(information.packets, left);
        assert_int_equal(status, PRT_OK);
        assert_int_equal(count, left);
        if (left > 0) assert_memory_equal(read_back, bytes + at, left);
    }
}

static void a_named_pipe_is_refused_as_an_output_when_nobody_may_wait(void **state)
{
    (void)state;
    struct prt_sink *sink = NULL;
    const struct prt_io_environment environment = {.interrupt_fd = -1, .no_named_pipes = true};
    assert_int_equal(mkfifo(io_path("fifo"), 0600), 0);
    assert_int_equal(io_open_sink(io_path("fifo"), ",raw", SCALAR_U8, &environment, &sink, &error),
                     PRT_E_OPEN);
}

static void any_nonzero_byte_is_true(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0, 1, 2, 0x80, 255, 0};
    unsigned char read[6];
    io_write_file(io_path("a.bin"), bytes, sizeof bytes);
    assert_int_equal(io_read_stream(io_path("a.bin"), "", SCALAR_BOOL, read, 6, 6, &count, &error),
                     PRT_OK);
    assert_memory_equal(read, ((unsigned char[]){0, 1, 1, 1, 1, 0}), 6);
}

static void big_endian_is_turned_round(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0x01, 0x02, 0xff, 0xfe};
    int16_t read[2];
    io_write_file(io_path("a.raw"), bytes, sizeof bytes);
    assert_int_equal(
        io_read_stream(io_path("a.raw"), ",raw:i16be", SCALAR_I16, read, 2, 2, &count, &error),
        PRT_OK);
    assert_int_equal(read[0], 0x0102);
    assert_int_equal(read[1], -2);
    assert_int_equal(
        io_write_stream(io_path("b.raw"), ",raw:s16be", SCALAR_I16, read, 2, 1, &error), PRT_OK);
    size_t length;
    unsigned char *written = io_read_file(io_path("b.raw"), &length);
    assert_int_equal(length, 4);
    assert_memory_equal(written, bytes, 4);
    free(written);
}

static void a_partial_packet_is_reported_with_its_offset(void **state)
{
    (void)state;
    unsigned char bytes[4 * 1000 + 3] = {0};
    float read[1001];
    io_write_file(io_path("a.f32"), bytes, sizeof bytes);
    for (size_t step = 1; step < 1200; step += 333) {
        assert_int_equal(
            io_read_stream(io_path("a.f32"), "", SCALAR_F32, read, 1001, step, &count, &error),
            PRT_E_TRUNCATED);
        assert_int_equal(count, 1000);
        assert_int_equal(error.offset, 4000);
        assert_non_null(strstr(error.message, "byte 4000"));
        assert_non_null(strstr(error.message, "a.f32"));
    }
}

static void large_files_come_whole(void **state)
{
    (void)state;
    enum { PACKETS = 300000 };
    uint32_t *packets = malloc(PACKETS * sizeof *packets);
    uint32_t *read = malloc((PACKETS + 1) * sizeof *read);
    assert_true(packets != NULL && read != NULL);
    for (uint32_t i = 0; i < PACKETS; i++)
        packets[i] = i * 2654435761u;
    const size_t steps[] = {PACKETS + 1, 70000, 16384, 16383, 999};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(
            io_write_stream(io_path("big.u32"), "", SCALAR_U32, packets, PACKETS, steps[i], &error),
            PRT_OK);
        memset(read, 0, PACKETS * sizeof *read);
        assert_int_equal(io_read_stream(io_path("big.u32"), "", SCALAR_U32, read, PACKETS + 1,
                                        steps[i], &count, &error),
                         PRT_OK);
        assert_int_equal(count, PACKETS);
        assert_memory_equal(read, packets, PACKETS * sizeof *packets);
    }
    free(packets);
    free(read);
}

static void an_empty_file_is_an_empty_stream(void **state)
{
    (void)state;
    double read[1];
    io_write_file(io_path("e.f64"), "", 0);
    io_write_file(io_path("e.csv"), "", 0);
    assert_int_equal(io_read_stream(io_path("e.f64"), "", SCALAR_F64, read, 1, 1, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(io_read_stream(io_path("e.csv"), "", SCALAR_F64, read, 1, 1, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 0);
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    const char *formats[] = {",raw", ",npy", ",wav", ",pgm", ",png", ",csv"};
    double read[1];
    io_write_file(io_path("file"), "x", 1);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const char *paths[] = {io_path("missing"), io_folder, io_path("file/below")};
        for (size_t p = 0; p < 3; p++) {
            assert_int_equal(
                io_read_stream(paths[p], formats[i], SCALAR_F64, read, 1, 1, &count, &error),
                PRT_E_OPEN);
            assert_non_null(strstr(error.message, paths[p]));
        }
    }
}

/* --- conversion --- */

static void integers_become_floats_by_value(void **state)
{
    (void)state;
    const int16_t samples[] = {0, 1, -1, 32767, -32768};
    float read[5];
    io_write_file(io_path("a.s16"), samples, sizeof samples);
    assert_int_equal(io_read_stream(io_path("a.s16"), "", SCALAR_F32, read, 5, 2, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(read[i] == (float)samples[i]);
}

/* One value of `from`, written as it is, read as `to`. */
static enum prt_status convert(enum scalar_type from, const void *value, enum scalar_type to,
                               void *result)
{
    char items[32];
    snprintf(items, sizeof items, ",raw:%s", scalar_name(from));
    io_write_file(io_path("c.raw"), value, scalar_width_bytes(from));
    enum prt_status read =
        io_read_stream(io_path("c.raw"), items, to, result, 1, 1, &count, &error);
    /* the sink must agree */
    snprintf(items, sizeof items, ",raw:%s", scalar_name(to));
    enum prt_status written = io_write_stream(io_path("d.raw"), items, from, value, 1, 1, &error);
    assert_int_equal(read, written);
    if (written == PRT_OK) {
        size_t length;
        unsigned char *bytes = io_read_file(io_path("d.raw"), &length);
        assert_int_equal(length, scalar_width_bytes(to));
        assert_memory_equal(bytes, result, length);
        free(bytes);
    }
    return read;
}

static void floats_are_cut_towards_zero_or_refused(void **state)
{
    (void)state;
    const struct {
        double x;
        enum scalar_type to;
        bool fits;
        int64_t value;
    } rows[] = {{1.9, SCALAR_I8, true, 1},
                {-1.9, SCALAR_I8, true, -1},
                {127.99, SCALAR_I8, true, 127},
                {128.0, SCALAR_I8, false, 0},
                {-128.99, SCALAR_I8, true, -128},
                {-129.0, SCALAR_I8, false, 0},
                {-0.99, SCALAR_U8, true, 0},
                {-1.0, SCALAR_U8, false, 0},
                {255.5, SCALAR_U8, true, 255},
                {256.0, SCALAR_U8, false, 0},
                {2147483647.5, SCALAR_I32, true, 2147483647},
                {2147483648.0, SCALAR_I32, false, 0},
                {-2147483648.5, SCALAR_I32, true, INT32_MIN},
                {4294967295.5, SCALAR_U32, true, 4294967295},
                {4294967296.0, SCALAR_U32, false, 0},
                {-9223372036854775808.0, SCALAR_I64, true, INT64_MIN},
                {9223372036854775808.0, SCALAR_I64, false, 0},
                {18446744073709551616.0, SCALAR_U64, false, 0},
                {NAN, SCALAR_I32, false, 0},
                {INFINITY, SCALAR_U64, false, 0},
                {NAN, SCALAR_BOOL, true, 1},
                {-0.0, SCALAR_BOOL, true, 0},
                {1e-300, SCALAR_BOOL, true, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t result = 0;
        enum prt_status status = convert(SCALAR_F64, &rows[i].x, rows[i].to, &result);
        assert_int_equal(status, rows[i].fits ? PRT_OK : PRT_E_FORMAT);
        if (rows[i].fits)
            assert_memory_equal(&result, &rows[i].value, scalar_width_bytes(rows[i].to));
    }
}

static void integers_fit_or_are_refused(void **state)
{
    (void)state;
    const struct {
        enum scalar_type from;
        int64_t value;
        enum scalar_type to;
        bool fits;
    } rows[] = {{SCALAR_I16, 127, SCALAR_I8, true},    {SCALAR_I16, 128, SCALAR_I8, false},
                {SCALAR_I16, -128, SCALAR_I8, true},   {SCALAR_I16, -129, SCALAR_I8, false},
                {SCALAR_I8, -1, SCALAR_U64, false},    {SCALAR_U64, -1, SCALAR_I64, false},
                {SCALAR_I64, -1, SCALAR_I8, true},     {SCALAR_U32, 65536, SCALAR_U16, false},
                {SCALAR_U32, 65535, SCALAR_U16, true}, {SCALAR_BOOL, 1, SCALAR_I64, true},
                {SCALAR_I64, 256, SCALAR_BOOL, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t result = 0;
        assert_int_equal(convert(rows[i].from, &rows[i].value, rows[i].to, &result),
                         rows[i].fits ? PRT_OK : PRT_E_FORMAT);
        if (rows[i].fits && rows[i].to != SCALAR_BOOL)
            assert_memory_equal(&result, &rows[i].value, scalar_width_bytes(rows[i].to));
        if (rows[i].to == SCALAR_BOOL) assert_int_equal(result, 1);
    }
    uint64_t big = UINT64_MAX;
    float f32;
    assert_int_equal(convert(SCALAR_U64, &big, SCALAR_F32, &f32), PRT_OK);
    assert_true(f32 == 18446744073709551616.0f);
}

static void packets_before_a_refused_value_are_given(void **state)
{
    (void)state;
    int32_t values[1000];
    int8_t read[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = i == 700 ? 128 : i % 100;
    io_write_file(io_path("a.i32"), values, sizeof values);
    assert_int_equal(
        io_read_stream(io_path("a.i32"), "", SCALAR_I8, read, 1000, 1000, &count, &error),
        PRT_E_FORMAT);
    assert_int_equal(count, 700);
    assert_int_equal(error.offset, 2800);
    assert_int_equal(read[699], 99);
}

static void half_floats_are_carried_and_converted(void **state)
{
    (void)state;
    const uint16_t halves[] = {0x3c00, 0xfc00};
    double read[2];
    io_write_file(io_path("a.f16"), halves, sizeof halves);
    assert_int_equal(io_read_stream(io_path("a.f16"), "", SCALAR_F16, read, 2, 2, &count, &error),
                     PRT_OK);
    assert_memory_equal(read, halves, 4);
    float wide[2];
    assert_int_equal(io_read_stream(io_path("a.f16"), "", SCALAR_F32, wide, 2, 2, &count, &error),
                     PRT_OK);
    assert_true(wide[0] == 1 && isinf(wide[1]) && wide[1] < 0);
    io_write_file(io_path("a.csv"), "1\n-inf\n", 7);
    assert_int_equal(io_read_stream(io_path("a.csv"), "", SCALAR_F16, read, 2, 2, &count, &error),
                     PRT_OK);
    assert_memory_equal(read, halves, 4);
}

/* Every f16 and bf16 survives the way to f32 and back; between two of them the nearer is taken. */
static void half_floats_are_rounded_once(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        enum scalar_type type = which == 0 ? SCALAR_F16 : SCALAR_BF16;
        uint16_t infinity = which == 0 ? 0x7c00 : 0x7f80;
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            uint16_t half = (uint16_t)bits, back;
            double value;
            if ((half & 0x7fff) > infinity) continue;
            assert_int_equal(prt_io_convert(&value, SCALAR_F64, &half, type, 1), 1);
            assert_int_equal(prt_io_convert(&back, type, &value, SCALAR_F64, 1), 1);
            assert_int_equal(back, half);
            if ((half & 0x7fff) >= infinity - 1) continue;
            uint16_t next = (uint16_t)(half + 1);
            double above;
            assert_int_equal(prt_io_convert(&above, SCALAR_F64, &next, type, 1), 1);
            double middle = (value + above) / 2, beyond = nextafter(middle, above);
            assert_int_equal(prt_io_convert(&back, type, &middle, SCALAR_F64, 1), 1);
            assert_int_equal(back, half & 1 ? next : half);
            assert_int_equal(prt_io_convert(&back, type, &beyond, SCALAR_F64, 1), 1);
            assert_int_equal(back, next);
        }
    }
}

/* --- pipes --- */

/* A byte of an element has come when so many are wanted that they are read where they are wanted. */
static void a_part_of_an_element_is_kept(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    static uint16_t read[COUNT];
    static const unsigned char bytes[] = {1, 0, 2, 0, 3, 0, 4, 0};
    int ends[2], saved = io_dup(STDIN_FILENO);
    struct prt_source_information information;
    struct prt_source *source = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(io_open_source("in", "-", ",raw:u16", SCALAR_U16, &source, &error), PRT_OK);
    prt_source_information(source, &information);
    assert_int_equal(information.packets, PRT_PACKETS_UNKNOWN);
    size_t at = 0;
    for (size_t end = 1; end <= sizeof bytes; end += end == 1 ? 2 : 1) {
        assert_int_equal(write(ends[1], bytes + at, end - at), end - at);
        at = end;
        if (end % 2 == 0 || end == 1) continue;
        assert_int_equal(prt_source_read(source, read, COUNT, &count, &error), PRT_OK);
        assert_int_equal(count, 1);
        assert_int_equal(read[0], end / 2);
    }
    close(ends[1]);
    assert_int_equal(prt_source_read(source, read, COUNT, &count, &error), PRT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(read[0], 4);
    prt_source_close(source);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
}

static void a_pipe_gives_what_has_come(void **state)
{
    (void)state;
    int ends[2], saved = io_dup(STDIN_FILENO);
    struct prt_source *source = NULL;
    uint16_t read[8];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(io_open_source("in", "-", ",raw:u16", SCALAR_U16, &source, &error), PRT_OK);
    assert_int_equal(write(ends[1], "\1\0\2", 3), 3);
    assert_int_equal(prt_source_read(source, read, 8, &count, &error), PRT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(read[0], 1);
    assert_int_equal(write(ends[1], "\0\3", 2), 2);
    assert_int_equal(prt_source_read(source, read, 8, &count, &error), PRT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(read[0], 2);
    close(ends[1]);
    assert_int_equal(prt_source_read(source, read, 8, &count, &error), PRT_E_TRUNCATED);
    assert_int_equal(error.offset, 4);
    assert_non_null(strstr(error.message, "standard input"));
    prt_source_close(source);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
}

static void *interrupt_soon(void *argument)
{
    poll(NULL, 0, 50);
    assert_int_equal(write(*(int *)argument, "!", 1), 1);
    return NULL;
}

static void a_waiting_read_is_interrupted(void **state)
{
    (void)state;
    int ends[2], wake[2];
    char fifo[200];
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    pthread_t thread;
    uint16_t read[8];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(wake), 0);
    snprintf(fifo, sizeof fifo, "in=/dev/fd/%d,raw", ends[0]);
    const struct prt_io_environment environment = {.interrupt_fd = wake[0]};
    assert_int_equal(prt_port_spec_parse(fifo, &spec, &error), PRT_OK);
    assert_int_equal(prt_source_open(&spec, SCALAR_U16, &environment, &source, &error), PRT_OK);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, &wake[1]), 0);
    assert_int_equal(prt_source_read(source, read, 8, &count, &error), PRT_E_INTERRUPTED);
    assert_int_equal(prt_source_read(source, read, 8, &count, &error), PRT_E_INTERRUPTED);
    pthread_join(thread, NULL);
    prt_source_close(source);
    prt_port_spec_free(&spec);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(wake[i]);
    }
}

static void a_descriptor_that_does_not_block_is_waited_for(void **state)
{
    (void)state;
    int ends[2], saved = io_dup(STDIN_FILENO);
    struct prt_source *source = NULL;
    pthread_t thread;
    unsigned char read[8];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(io_open_source("in", "-", ",raw", SCALAR_U8, &source, &error), PRT_OK);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, &ends[1]), 0);
    assert_int_equal(prt_source_read(source, read, 8, &count, &error), PRT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(read[0], '!');
    pthread_join(thread, NULL);
    prt_source_close(source);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
}

/* --- csv --- */

static void csv_lines_are_numbers(void **state)
{
    (void)state;
    const char text[] = "1\n -2.5 \r\n\n\t1e3\n0x1p-2\ninf\n-7";
    double read[7];
    io_write_file(io_path("a.csv"), text, sizeof text - 1);
    assert_int_equal(io_read_stream(io_path("a.csv"), "", SCALAR_F64, read, 7, 2, &count, &error),
                     PRT_OK);
    const double expected[] = {1, -2.5, 1000, 0.25, INFINITY, -7};
    assert_int_equal(count, 6);
    assert_memory_equal(read, expected, sizeof expected);
}

static void csv_that_is_no_number_is_refused_with_its_line(void **state)
{
    (void)state;
    const struct {
        const char *text;
        enum scalar_type packet;
    } rows[] = {{"1\n2\nx\n", SCALAR_F32},
                {"1\n2\n3,4\n", SCALAR_F32},
                {"1\n2\n1.5\n", SCALAR_I32},
                {"1\n2\n128\n", SCALAR_I8},
                {"1\n2\n-129\n", SCALAR_I8},
                {"1\n2\n-1\n", SCALAR_U8},
                {"1\n2\n256\n", SCALAR_U8},
                {"1\n2\n18446744073709551616\n", SCALAR_U64},
                {"1\n2\n-9223372036854775809\n", SCALAR_I64},
                {"1\n2\n-1\n", SCALAR_U64},
                {"1\n2\nyes\n", SCALAR_BOOL},
                {"1\n2\n1 2\n", SCALAR_I16},
                {"1\n2\n-\n", SCALAR_I16},
                {"1\n2\n7x\n", SCALAR_U8},
                {"1\n2\n1,\n", SCALAR_U8},
                {"1\n2\n,1\n", SCALAR_F64}};
    uint64_t read[4];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        io_write_file(io_path("a.csv"), rows[i].text, strlen(rows[i].text));
        assert_int_equal(
            io_read_stream(io_path("a.csv"), "", rows[i].packet, read, 4, 4, &count, &error),
            PRT_E_FORMAT);
        assert_int_equal(count, 2);
        assert_in_range(error.offset, 4, 6); /* of the word, or where too many columns begin */
        assert_non_null(strstr(error.message, "a.csv:3:"));
    }
}

/* Truth by word or by number; -0 is no negative number. */
static void csv_has_words_and_signs(void **state)
{
    (void)state;
    bool truths[8];
    uint8_t bytes[4];
    static const char words[] = "true\nfalse\n0\n2\n-0.5\n0e9\n";
    io_write_file(io_path("a.csv"), words, sizeof words - 1);
    assert_int_equal(
        io_read_stream(io_path("a.csv"), "", SCALAR_BOOL, truths, 8, 3, &count, &error), PRT_OK);
    assert_int_equal(count, 6);
    assert_memory_equal(truths, ((bool[]){true, false, false, true, true, false}), 6);
    io_write_file(io_path("a.csv"), "-0\n+7\n \t\r\n 255 ", 15);
    assert_int_equal(io_read_stream(io_path("a.csv"), "", SCALAR_U8, bytes, 4, 3, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(bytes, ((uint8_t[]){0, 7, 255}), 3);
}

static void a_line_of_headings_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool heading;
    } rows[] = {{"time\n1\n", true}, {"1\ntime\n", false}, {"-\n1\n", false}};
    double read[4];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        io_write_file(io_path("a.csv"), rows[i].text, strlen(rows[i].text));
        assert_int_equal(
            io_read_stream(io_path("a.csv"), "", SCALAR_F64, read, 4, 4, &count, &error),
            PRT_E_FORMAT);
        assert_true((strstr(error.message, "if this is a line of headings, add 'headings'") !=
                     NULL) == rows[i].heading);
    }
}

/* struct { f32 a; u8 b[2]; }: three numbers in a line. */
static void csv_lines_have_the_columns_of_a_packet(void **state)
{
    (void)state;
    static const struct prt_field_information fields[] = {{"a", SCALAR_F32, 0, 1, "", 1},
                                                          {"b", SCALAR_U8, 4, 2, "2", 1}};
    static const struct prt_field_information many[] = {{"a", SCALAR_F32, 0, 1, "", 1},
                                                        {"b", SCALAR_U8, 4, 70000, "70000", 1}};
    static const struct prt_packet packet = {"abb", 8, fields, SCALAR_U8, 2};
    static const struct prt_packet wide = {"wide", 70004, many, SCALAR_U8, 2};
    static const struct {
        const char *text, *message; /* NULL: read */
    } rows[] = {
        {"1,2,3\n", NULL},
        {" 1 ,\t2,3 ", NULL},
        {"1\n", "has 1 column, not 3: write commas between them"},
        {"1,2\n", "has 2 columns, not 3"},
        {"1,2,3,4\n", "has 4 columns, not 3"},
        {"1,2,\n", "c.csv:1:5: a number of type u8 is missing; missing=VALUE would fill it in"},
        {",2,3\n", "c.csv:1:1: a number of type f32 is missing"},
        {"1, ,3\n", "c.csv:1:3: a number of type u8 is missing"},
        {"1,2,256\n", "c.csv:1:5: '256' is not a number of type u8"}};
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    char text[512];
    snprintf(text, sizeof text, "in=%s", io_path("c.csv"));
    assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char read[16], expected[8] = {0, 0, 0x80, 0x3f, 2, 3};
        io_write_file(io_path("c.csv"), rows[i].text, strlen(rows[i].text));
        assert_int_equal(prt_source_open_packets(&spec, &packet, NULL, &source, &error), PRT_OK);
        enum prt_status status = prt_source_read(source, read, 16, &count, &error);
        prt_source_close(source);
        if (rows[i].message == NULL) {
            assert_int_equal(status, PRT_OK);
            assert_int_equal(count, 8);
            assert_memory_equal(read, expected, 8);
        } else {
            assert_int_equal(status, PRT_E_FORMAT);
            if (strstr(error.message, rows[i].message) == NULL)
                print_message("%s\n", error.message);
            assert_non_null(strstr(error.message, rows[i].message));
        }
    }
    assert_int_equal(prt_source_open_packets(&spec, &wide, NULL, &source, &error), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "use raw or npy"));
    prt_port_spec_free(&spec);
}

/* Each finite f16 and bf16, in as few digits as are read back to the same bits; also no number. */
static void csv_round_trips_every_half_float(void **state)
{
    (void)state;
    static const enum scalar_type types[] = {SCALAR_F16, SCALAR_BF16};
    static uint16_t halfs[65536], read[65536];
    for (size_t t = 0; t < 2; t++) {
        unsigned exponent = t == 0 ? 0x7c00 : 0x7f80;
        size_t total = 0;
        for (unsigned bits = 0; bits < 65536; bits += 3)
            if ((bits & exponent) != exponent) halfs[total++] = (uint16_t)bits;
        halfs[total++] = (uint16_t)exponent; /* infinity */
        assert_int_equal(
            io_write_stream(io_path("h.csv"), "", types[t], halfs, total, 1000, &error), PRT_OK);
        assert_int_equal(
            io_read_stream(io_path("h.csv"), "", types[t], read, 65536, 1000, &count, &error),
            PRT_OK);
        assert_int_equal(count, total);
        assert_memory_equal(read, halfs, total * sizeof *halfs);
        halfs[0] = (uint16_t)(exponent | 1);
        assert_int_equal(io_write_stream(io_path("h.csv"), "", types[t], halfs, 1, 1, &error),
                         PRT_OK);
        size_t length;
        unsigned char *text = io_read_file(io_path("h.csv"), &length);
        assert_string_equal((char *)text, "nan\n");
        free(text);
    }
}

static void csv_writes_what_is_no_number(void **state)
{
    (void)state;
    const float f32 = -NAN;
    const double f64 = -NAN;
    const void *const packets[] = {&f32, &f64};
    for (size_t i = 0; i < 2; i++) {
        size_t length;
        assert_int_equal(io_write_stream(io_path("n.csv"), "", i == 0 ? SCALAR_F32 : SCALAR_F64,
                                         packets[i], 1, 1, &error),
                         PRT_OK);
        unsigned char *text = io_read_file(io_path("n.csv"), &length);
        assert_string_equal((char *)text, "nan\n");
        free(text);
    }
}

static void csv_lines_are_bounded(void **state)
{
    (void)state;
    char *text = malloc(200000);
    double read[4];
    assert_non_null(text);
    memset(text, '1', 200000);
    io_write_file(io_path("a.csv"), text, 200000);
    assert_int_equal(io_read_stream(io_path("a.csv"), "", SCALAR_F64, read, 4, 4, &count, &error),
                     PRT_E_FORMAT);
    memset(text, 0, 100);
    io_write_file(io_path("a.csv"), text, 100);
    assert_int_equal(io_read_stream(io_path("a.csv"), "", SCALAR_F64, read, 4, 4, &count, &error),
                     PRT_E_FORMAT);
    free(text);
}

static void csv_round_trips_every_value(void **state)
{
    (void)state;
    const double doubles[] = {0.1, -0.0, 1e308, 5e-324, 1.0 / 3, INFINITY, -INFINITY, 123456789};
    const float floats[] = {0.1f, 1e-45f, 3.4028235e38f, 16777217.0f, 1.0f / 3};
    const int64_t integers[] = {0, -1, INT64_MAX, INT64_MIN};
    const uint64_t positives[] = {0, UINT64_MAX};
    unsigned char read[64];
    const struct {
        enum scalar_type packet;
        const void *packets;
        size_t count;
    } rows[] = {{SCALAR_F64, doubles, 8},
                {SCALAR_F32, floats, 5},
                {SCALAR_I64, integers, 4},
                {SCALAR_U64, positives, 2}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(io_write_stream(io_path("r.csv"), "", rows[i].packet, rows[i].packets,
                                         rows[i].count, 3, &error),
                         PRT_OK);
        assert_int_equal(
            io_read_stream(io_path("r.csv"), "", rows[i].packet, read, 8, 3, &count, &error),
            PRT_OK);
        assert_int_equal(count, rows[i].count);
        assert_memory_equal(read, rows[i].packets, count * scalar_width_bytes(rows[i].packet));
    }
}

static void csv_ignores_the_locale(void **state)
{
    (void)state;
    const double packets[] = {0.5};
    size_t length;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        print_message("no German locale here: the default one is used\n");
    assert_int_equal(io_write_stream(io_path("l.csv"), "", SCALAR_F64, packets, 1, 1, &error),
                     PRT_OK);
    setlocale(LC_ALL, "C");
    unsigned char *bytes = io_read_file(io_path("l.csv"), &length);
    assert_string_equal((char *)bytes, "0.5\n");
    free(bytes);
}

/* --- status --- */

static void messages_do_not_drive_a_terminal(void **state)
{
    (void)state;
    struct prt_error local;
    assert_int_equal(prt_error_set(NULL, PRT_E_OPEN, "%d", 1), PRT_E_OPEN);
    assert_int_equal(prt_error_set_at(&local, PRT_E_OPEN, 7, "a\x1b[2Jb\n\x7f\xc2\x9b caf\xc3\xa9"),
                     PRT_E_OPEN);
    assert_int_equal(local.offset, 7);
    assert_string_equal(local.message, "a\\x1B[2Jb\\x0A\\x7F\\xC2\\x9B caf\xc3\xa9");
    char large[2000];
    memset(large, '\1', sizeof large - 1);
    large[sizeof large - 1] = 0;
    prt_error_set(&local, PRT_E_OPEN, "%s", large);
    assert_true(strlen(local.message) < sizeof local.message);
    assert_int_equal(local.offset, PRT_NO_OFFSET);
    prt_error_set(&local, PRT_E_OPEN, "again: %.10s", local.message);
    assert_string_equal(local.message, "again: \\x01\\x01\\x");
    assert_string_equal(prt_status_name(PRT_E_NOMEM), "PRT_E_NOMEM");
    assert_int_equal(prt_status_exit_code(PRT_E_DEVICE), 6);
}

static void scalar_names_are_exact(void **state)
{
    (void)state;
    enum scalar_type type = SCALAR_F64;
    assert_int_equal(SCALAR_COUNT, 13);
    for (int i = 0; i < SCALAR_COUNT; i++) {
        const char *name = scalar_name((enum scalar_type)i);
        assert_true(scalar_from_name(name, strlen(name), &type));
        assert_int_equal(type, i);
        assert_false(scalar_from_name(name, strlen(name) - 1, &type) && (int)type == i);
    }
    assert_false(scalar_from_name("i8x", 3, &type));
    assert_false(scalar_from_name("", 0, &type));
    assert_null(scalar_name((enum scalar_type)SCALAR_COUNT));
    assert_true(scalar_is_signed(SCALAR_F32) && !scalar_is_signed(SCALAR_BOOL));
}

/* Of a pipe: whole lines are given at once, and the beginning of the next one is kept until its end has come. */
static void a_line_that_has_not_ended_is_waited_for_when_it_is_wanted(void **state)
{
    (void)state;
    struct prt_source *source = NULL;
    char name[64];
    int ends[2];
    int32_t read[4];
    size_t got;
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "1\n2", 3), 3);
    assert_int_equal(io_open_source("in", name, ",csv", SCALAR_I32, &source, &error), PRT_OK);
    assert_int_equal(prt_source_read(source, read, 4, &got, &error), PRT_OK);
    assert_int_equal(got, 1);
    assert_int_equal(read[0], 1);
    assert_int_equal(write(ends[1], "3\n", 2), 2);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(prt_source_read(source, read, 4, &got, &error), PRT_OK);
    assert_int_equal(got, 1);
    assert_int_equal(read[0], 23);
    prt_source_close(source);
    close(ends[0]);
}

IO_TEST_MAIN(
    "io_raw", cmocka_unit_test(a_line_that_has_not_ended_is_waited_for_when_it_is_wanted),
    cmocka_unit_test(every_type_round_trips), cmocka_unit_test(any_nonzero_byte_is_true),
    cmocka_unit_test(big_endian_is_turned_round),
    cmocka_unit_test(a_partial_packet_is_reported_with_its_offset),
    cmocka_unit_test(large_files_come_whole), cmocka_unit_test(an_empty_file_is_an_empty_stream),
    cmocka_unit_test(what_cannot_be_opened_is_named),
    cmocka_unit_test(integers_become_floats_by_value),
    cmocka_unit_test(floats_are_cut_towards_zero_or_refused),
    cmocka_unit_test(integers_fit_or_are_refused),
    cmocka_unit_test(packets_before_a_refused_value_are_given),
    cmocka_unit_test(half_floats_are_carried_and_converted),
    cmocka_unit_test(half_floats_are_rounded_once), cmocka_unit_test(a_part_of_an_element_is_kept),
    cmocka_unit_test(many_packets_are_converted_as_one_is),
    cmocka_unit_test(long_writes_are_converted_whole), cmocka_unit_test(a_pipe_gives_what_has_come),
    cmocka_unit_test(a_waiting_read_is_interrupted),
    cmocka_unit_test(a_descriptor_that_does_not_block_is_waited_for),
    cmocka_unit_test(csv_lines_are_numbers),
    cmocka_unit_test(csv_that_is_no_number_is_refused_with_its_line),
    cmocka_unit_test(csv_has_words_and_signs), cmocka_unit_test(a_line_of_headings_is_named),
    cmocka_unit_test(csv_lines_have_the_columns_of_a_packet),
    cmocka_unit_test(csv_round_trips_every_half_float),
    cmocka_unit_test(csv_writes_what_is_no_number), cmocka_unit_test(csv_lines_are_bounded),
    cmocka_unit_test(every_type_is_converted_to_every_other_or_stops),
    cmocka_unit_test(a_full_device_stops_a_long_write),
    cmocka_unit_test(a_long_number_in_a_wide_csv_line_is_refused),
    cmocka_unit_test(a_generator_with_too_many_scalars_is_endless),
    cmocka_unit_test(standard_input_is_read_from_where_it_stands),
    cmocka_unit_test(a_named_pipe_is_refused_as_an_output_when_nobody_may_wait),
    cmocka_unit_test(csv_round_trips_every_value), cmocka_unit_test(csv_ignores_the_locale),
    cmocka_unit_test(messages_do_not_drive_a_terminal), cmocka_unit_test(scalar_names_are_exact))
