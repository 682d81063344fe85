/* SPDX-License-Identifier: MIT */
/* Limits of descriptions, scheduler programs and streams at n - 1, n and n + 1 (lang/limits.md): the
 * first two are accepted, the third is refused. */
#include "tests/test.h"

#include "tests/unit/test_io.h"

#include <inttypes.h>

#include "lang/devdesc.h"
#include "lang/dispatch.h"
#include "lang/sched_code.h"

static struct prt_error error;

/* ---- devices ---- */

static bool describes(const char *key, uint64_t value)
{
    char text[512];
    struct devdesc description;
    struct devdesc_findings findings;
    const struct {
        const char *key;
        uint64_t value;
    } fields[] = {{"cu_count", 65536},
                  {"lanes", 8},
                  {"clock", 1000},
                  {"memory", 1 << 20},
                  {"memory_bytes_per_cycle", 64}};
    int used = snprintf(text, sizeof text, "name = edge\n");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].key, key) != 0)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s = %" PRIu64 "\n",
                             fields[i].key, fields[i].value);
    used += snprintf(text + used, sizeof text - (size_t)used, "%s = %" PRIu64 "\n", key, value);
    return devdesc_parse(text, (size_t)used, &description, &findings);
}

static void devices_are_as_large_as_they_may_be(void **state)
{
    (void)state;
    const struct {
        const char *key;
        uint64_t most;
    } rows[] = {{"cu_count", 65536},
                {"max_sub_devices", 65536},
                {"cost_integer", 65536},
                {"cost_barrier", 65536},
                {"memory", UINT64_C(1) << 50},
                {"reference_entries", DISPATCH_ENTRIES_MAX},
                {"lanes", 1024},
                {"max_group_items", 65535},
                {"cores_per_cu", 64},
                {"memory_bytes_per_cycle", 1 << 20},
                {"memory_latency", 1 << 20},
                {"memory_in_flight", 1 << 30},
                {"cache_bytes_per_cycle", 1 << 20},
                {"resident_warps", 65536},
                {"registers_per_cu", 1 << 24},
                {"registers_per_item", 65536},
                {"register_unit", 65536},
                {"warp_residence", 1 << 20},
                {"instruction_latency", 1024},
                {"load_line", 4096},
                {"store_line", 4096},
                {"cost_line", 65536},
                {"unrolled_rounds", 65536},
                {"launch_enqueue", 1 << 24},
                {"device_queue_entries", 1 << 24},
                {"child_start", 1 << 24},
                {"index_dedicated_launches", 1 << 24}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(describes(rows[i].key, rows[i].most - 1));
        assert_true(describes(rows[i].key, rows[i].most));
        assert_false(describes(rows[i].key, rows[i].most + 1));
    }
}

/* ---- scheduler programs ---- */

static bool assembles(const char *text)
{
    struct sched_program program;
    struct sched_error found;
    bool good = sched_assemble(text, strlen(text), &program, &found);
    if (good) sched_program_free(&program);
    return good;
}

static void scheduler_programs_are_as_large_as_they_may_be(void **state)
{
    (void)state;
    char text[64];
    for (int at = -1; at <= 1; at++) {
        snprintf(text, sizeof text, ".stages %d\n halt\n", (int)SCHED_MAX_STAGES + at);
        assert_int_equal(assembles(text), at <= 0);
        /* sets are numbered from 0 on, without gaps */
        int wanted = (int)SCHED_MAX_SETS + at;
        size_t sets = (size_t)wanted, used;
        char *many = malloc(sets * 20 + 64);
        assert_non_null(many);
        used = (size_t)sprintf(many, ".stages 1\n");
        for (size_t i = 0; i < sets; i++)
            used += (size_t)sprintf(many + used, ".set %zu: 0\n", i);
        sprintf(many + used, " halt\n");
        assert_int_equal(assembles(many), at <= 0);
        free(many);
    }
}

static void code_is_as_long_as_it_may_be(void **state)
{
    (void)state;
    for (int at = -1; at <= 1; at++) {
        struct sched_builder builder = {0};
        for (uint32_t i = 0; i < SCHED_MAX_CODE_BYTES + (uint32_t)at; i++) /* of one byte each */
            (void)sched_build(&builder, SCHED_ENDS, NULL, NULL);
        assert_int_equal(builder.failed, at > 0);
        free(builder.code);
    }
}

/* ---- streams ---- */

static enum prt_status read_bytes(const char *name, const char *items, enum scalar_type packet,
                                  const void *bytes, size_t size)
{
    double packets[16];
    size_t count;
    char path[160];
    snprintf(path, sizeof path, "%s", io_path(name));
    io_write_file(path, bytes, size);
    return io_read_stream(path, items, packet, packets, 16, 16, &count, &error);
}

static void numbers_of_options_have_31_bits(void **state)
{
    (void)state;
    for (int at = -1; at <= 1; at++) {
        char text[64];
        struct prt_port_spec spec;
        snprintf(text, sizeof text, "in=a.raw,rate=%" PRId64, (int64_t)INT32_MAX + at);
        enum prt_status status = prt_port_spec_parse(text, &spec, &error);
        assert_int_equal(status, at <= 0 ? PRT_OK : PRT_E_USAGE);
        if (at <= 0) prt_port_spec_free(&spec);
    }
}

static void lines_of_csv_have_1024_bytes(void **state)
{
    (void)state;
    for (int at = -1; at <= 1; at++) {
        char line[1100];
        int length = 1024 + at;
        memset(line, ' ', sizeof line);
        line[0] = '7';
        line[length] = '\n';
        assert_int_equal(read_bytes("line.csv", "", SCALAR_I32, line, (size_t)length + 1),
                         at <= 0 ? PRT_OK : PRT_E_FORMAT);
    }
}

static void npy_has_64_dimensions(void **state)
{
    (void)state;
    for (int dimensions = 63; dimensions <= 65; dimensions++) {
        char file[1024] = "\x93NUMPY\x01\x00";
        char *header = file + 10;
        int used = sprintf(header, "{'descr': '|u1', 'fortran_order': False, 'shape': (");
        for (int i = 0; i < dimensions; i++)
            used += sprintf(header + used, "1,");
        used += sprintf(header + used, "), }");
        while ((10 + used + 1) % 64 != 0)
            header[used++] = ' ';
        header[used++] = '\n';
        file[8] = (char)(used & 255);
        file[9] = (char)(used >> 8);
        header[used] = 7;
        assert_int_equal(read_bytes("a.npy", "", SCALAR_U8, file, (size_t)used + 11),
                         dimensions <= 64 ? PRT_OK : PRT_E_FORMAT);
    }
}

/* Bytes that are no text. */
static void put(char *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
}

static void npy_headers_have_60000_bytes(void **state)
{
    (void)state;
    char *file = calloc(1, 70000);
    assert_non_null(file);
    for (int at = -1; at <= 1; at++) {
        int length = 60000 + at;
        put(file, "\x93NUMPY\x02\x00", 8);
        memset(file + 12, ' ', (size_t)length);
        put(file + 12, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 57);
        file[12 + length - 1] = '\n';
        file[8] = (char)(length & 255);
        file[9] = (char)(length >> 8);
        file[12 + length] = 7;
        assert_int_equal(read_bytes("b.npy", "", SCALAR_U8, file, (size_t)length + 13),
                         at <= 0 ? PRT_OK : PRT_E_FORMAT);
    }
    free(file);
}

static void wav_has_4096_chunks(void **state)
{
    (void)state;
    static const char fmt[] = "fmt \x10\0\0\0\x01\0\x01\0\x80\xbb\0\0\0\x77\x01\0\x02\0\x10\0";
    static const char data[] = "data\x02\0\0\0\x07\0";
    char *file = calloc(4200, 8);
    assert_non_null(file);
    for (int chunks = 4095; chunks <= 4097; chunks++) {
        size_t used = 12;
        put(file, "RIFF\0\0\0\0WAVE", 12);
        put(file + used, fmt, 24);
        used += 24;
        for (int i = 2; i < chunks; i++, used += 8) /* empty ones */
            put(file + used, "LIST\0\0\0\0", 8);
        put(file + used, data, 10);
        used += 10;
        assert_int_equal(read_bytes("a.wav", "", SCALAR_I16, file, used),
                         chunks <= 4096 ? PRT_OK : PRT_E_FORMAT);
    }
    free(file);
}

static void sides_of_pictures_have_31_bits(void **state)
{
    (void)state;
    for (int at = -1; at <= 1; at++) {
        char text[64];
        int length = snprintf(text, sizeof text, "P5 %" PRId64 " 1 255\n", (int64_t)INT32_MAX + at);
        enum prt_status status = read_bytes("a.pgm", "", SCALAR_U8, text, (size_t)length);
        assert_int_equal(status, at <= 0 ? PRT_E_TRUNCATED : PRT_E_FORMAT);
    }
}

IO_TEST_MAIN("limits", cmocka_unit_test(devices_are_as_large_as_they_may_be),
             cmocka_unit_test(scheduler_programs_are_as_large_as_they_may_be),
             cmocka_unit_test(code_is_as_long_as_it_may_be),
             cmocka_unit_test(numbers_of_options_have_31_bits),
             cmocka_unit_test(lines_of_csv_have_1024_bytes),
             cmocka_unit_test(npy_has_64_dimensions),
             cmocka_unit_test(npy_headers_have_60000_bytes), cmocka_unit_test(wav_has_4096_chunks),
             cmocka_unit_test(sides_of_pictures_have_31_bits))
