/* SPDX-License-Identifier: MIT */
/* devdesc: the format of lang/devices.md, its errors, and the embedded descriptions. */
#include "tests/test.h"

#include "lang/devdesc.h"
#include "lang/embedded.h"
#include "runtime/device/finding_text.h"

#include <stdio.h>

#define REQUIRED                                                                                   \
    "name = d\ncu_count = 4\nlanes = 8\nclock = 1 GHz\nmemory = 1 MiB\nmemory_bytes_per_cycle = "  \
    "1\n"

static struct devdesc_findings found;

static bool parse(const char *text, struct devdesc *out)
{
    return devdesc_parse(text, strlen(text), out, &found);
}

/* One of what is found is this, where `marked` stands. */
static void expect_finding(const char *text, enum devdesc_severity severity, uint32_t line,
                           uint32_t column, const char *marked, const char *message)
{
    struct devdesc out;
    bool valid = parse(text, &out);
    if (severity == DEVDESC_ERROR) assert_false(valid);
    assert_true(found.count >= 1);
    for (size_t i = 0; i < found.count; i++) {
        const struct devdesc_finding *f = &found.items[i];
        if (f->severity != severity || f->place.line != line || f->place.column != column ||
            !strstr(f->message, message))
            continue;
        assert_int_equal(f->place.end - f->place.begin, strlen(marked));
        assert_memory_equal(text + f->place.begin, marked, strlen(marked));
        return;
    }
    for (size_t i = 0; i < found.count; i++)
        print_message("%u:%u: %s\n", found.items[i].place.line, found.items[i].place.column,
                      found.items[i].message);
    fail_msg("not found: %s", message);
}

static void expect_error(const char *text, uint32_t line, uint32_t column, const char *marked,
                         const char *message)
{
    expect_finding(text, DEVDESC_ERROR, line, column, marked, message);
}

static void expect_warning(const char *text, uint32_t line, uint32_t column, const char *marked,
                           const char *message)
{
    expect_finding(text, DEVDESC_WARNING, line, column, marked, message);
}

static void required_keys_are_enough_and_defaults_fill_the_rest(void **state)
{
    (void)state;
    struct devdesc d;
    assert_true(parse(REQUIRED, &d));
    assert_int_equal(found.count, 0);
    assert_string_equal(d.name, "d");
    assert_int_equal(d.cu_count, 4);
    assert_int_equal(d.clock_hz, 1000000000);
    assert_int_equal(d.memory_bytes, 1 << 20);
    assert_int_equal(d.local_bytes, 32768);
    assert_int_equal(d.schemes, DEVDESC_EQUALLY | DEVDESC_BY_COUNTS | DEVDESC_BY_AFFINITY);
    assert_int_equal(d.reference_entries, 8);
    assert_int_equal(d.launch_process_cycles, 400);
    assert_int_equal(d.cus_per_domain[DEVDESC_L2], 0);
}

static void units_blanks_and_comments_are_read(void **state)
{
    (void)state;
    struct devdesc d;
    const char *text = "# a device\r\n\n\tname=a-b.c_1# its name\ncu_count = 8\nlanes=8\n"
                       "clock = 1500MHz\nmemory = 2 GiB   # much\nmemory_bytes_per_cycle = 16\n"
                       "cache_l2 = 512KiB\ncus_per_l2 = 2\nschemes = equally by_counts";
    assert_true(parse(text, &d));
    assert_int_equal(found.count, 0);
    assert_string_equal(d.name, "a-b.c_1");
    assert_int_equal(d.clock_hz, 1500000000);
    assert_int_equal(d.memory_bytes, UINT64_C(2) << 30);
    assert_int_equal(d.cache_bytes[DEVDESC_L2], 512 << 10);
    assert_int_equal(d.cus_per_domain[DEVDESC_L2], 2);
    assert_int_equal(d.schemes, DEVDESC_EQUALLY | DEVDESC_BY_COUNTS);
}

static void errors_have_a_place_and_a_reason(void **state)
{
    (void)state;
    expect_error("lanse = 8\n", 1, 1, "lanse", "unknown key 'lanse'");
    assert_string_equal(found.items[0].help, "did you mean 'lanes'?");
    expect_error("zebra = 8\n", 1, 1, "zebra", "unknown key 'zebra'");
    expect_error("lanes = 1025\n", 1, 9, "1025", "'lanes' must be between 1 and 1024");
    expect_error("lanes = 0\n", 1, 9, "0", "must be between");
    expect_error("lanes = -1\n", 1, 9, "-1", "whole number");
    expect_error("lanes = $\n", 1, 9, "$", "whole number");
    expect_error("lanes = 99999999999999999999\n", 1, 9, "99999999999999999999", "must be between");
    expect_error("memory = 99999999999 TiB # x\n", 1, 10, "99999999999 TiB",
                 "must be between 64 KiB and 1024 TiB");
    expect_error("clock = 999\n", 1, 9, "999", "must be between 1 kHz and 100 GHz");
    expect_error("clock = 1.5 GHz\n", 1, 9, "1.5", "whole number");
    expect_error("lanes = 0x10\n", 1, 9, "0x10", "whole number");
    expect_error("memory = 1 MB\n", 1, 12, "MB", "unknown unit 'MB'");
    expect_error("lanes = 8 KiB\n", 1, 11, "KiB", "nothing may follow");
    expect_error("lanes = 8KiB\n", 1, 10, "KiB", "takes no unit");
    expect_error("memory_bytes_per_cycle = 256GB/s\n", 1, 29, "GB", "takes no unit");
    expect_error("lanes 8 \n", 1, 7, "8", "'=' expected");
    expect_error("lanes =\n", 1, 8, "", "has no value");
    expect_error("= 8\n", 1, 1, "= 8", "key = value");
    expect_error("name = \xff\n", 1, 8, "\xff", "has other characters than these");
    expect_error("schemes = equaly\n", 1, 11, "equaly", "no scheme");
    expect_error("schemes = equally, by_counts\n", 1, 18, ", by_counts", "a scheme expected");
    expect_error("schemes = none equally\n", 1, 11, "none", "excludes schemes");
    expect_error("name = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 1, 8,
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                 "longer than 63");
    expect_error(REQUIRED "cus_per_l2 = 3\n", 7, 14, "3", "must divide the 4 CUs of 'cu_count'");
    assert_int_equal(found.items[0].other.line, 2);
    expect_error(REQUIRED "cus_per_l1 = 4\ncus_per_l2 = 2\n", 7, 14, "4",
                 "must divide the 2 CUs of 'cus_per_l2'");
    expect_error("cus_per_l1 = 4\ncus_per_l2 = 2\n", 1, 14, "4", "must divide the 2 CUs");
}

static void a_key_given_twice_names_the_first(void **state)
{
    (void)state;
    struct devdesc out;
    const char *text = REQUIRED "\n  lanes = 8\n";
    assert_false(parse(text, &out));
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].message, "'lanes' is given twice");
    assert_int_equal(found.items[0].place.line, 8);
    assert_int_equal(found.items[0].place.column, 3);
    assert_int_equal(found.items[0].other.line, 3);
    assert_memory_equal(text + found.items[0].other.begin, "lanes = 8", 9);
}

static void missing_keys_are_one_finding(void **state)
{
    (void)state;
    struct devdesc out;
    assert_false(parse("", &out));
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].place.line, 1);
    assert_int_equal(found.items[0].place.end, 0);
    assert_string_equal(found.items[0].message,
                        "'name', 'cu_count', 'lanes', 'clock', 'memory' and "
                        "'memory_bytes_per_cycle' are missing");
    assert_false(parse("# d\nname = d\nlanes = 8\nclock = 1 GHz\nmemory = 1 MiB\n"
                       "memory_bytes_per_cycle = 1\n",
                       &out));
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].message, "'cu_count' is missing");
    assert_int_equal(found.items[0].place.line, 2);
    assert_string_equal(found.items[0].help, "'cu_count' is a whole number from 1 to 65536");
    /* what was meant is not missing as well */
    assert_false(parse("name = d\ncu_cout = 4\nlanes = 8\nclock = 1 GHz\nmemory = 1 MiB\n"
                       "memory_bytes_per_cycle = 1\n",
                       &out));
    assert_int_equal(found.count, 1);
}

static void several_errors_are_found_in_one_run(void **state)
{
    (void)state;
    struct devdesc out;
    assert_false(parse("name = d e\nlanes = 0\nclock = soon\nmemory = 1 MiB\nlaenes = 1\n"
                       "memory_bytes_per_cycle = 1\ncu_count = 4\nswitch =\n",
                       &out));
    assert_int_equal(found.count, 5);
    for (size_t i = 1; i < found.count; i++)
        assert_true(found.items[i - 1].place.begin < found.items[i].place.begin);
    char many[30 * 4 + 1] = "";
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = "a=1\n"[i % 4];
    assert_false(parse(many, &out));
    assert_int_equal(found.count, DEVDESC_FINDINGS_MAX);
    assert_int_equal(found.left_out, 30 + 1 - DEVDESC_FINDINGS_MAX);
}

static void what_does_not_fit_together_is_a_warning(void **state)
{
    (void)state;
    struct devdesc out;
    expect_warning(REQUIRED "cache_l2 = 1 KiB\n", 7, 12, "1 KiB", "no CU has this cache");
    expect_warning(REQUIRED "cache_l2 = 1 KiB\ncus_per_l2 = 2\ncache_l1 = 2 KiB\ncus_per_l1 = 1\n",
                   7, 12, "1 KiB", "smaller than an L1 cache");
    expect_warning(REQUIRED "max_sub_devices = 5\n", 7, 19, "5", "more sub-devices than the 4");
    expect_warning(REQUIRED "schemes = by_affinity\n", 7, 11, "by_affinity", "nothing to go by");
    expect_warning(REQUIRED "schemes = by_affinity\ncus_per_l2 = 4\n", 7, 11, "by_affinity",
                   "nothing to go by");
    expect_warning(REQUIRED "schemes = equally equally\n", 7, 19, "equally", "named twice");
    expect_warning(REQUIRED "schemes = equally\nmax_sub_devices = 1\n", 8, 19, "1",
                   "fewer than two");
    expect_warning(REQUIRED "max_group_items = 7\n", 7, 19, "7", "can fill the 8 lanes");
    expect_warning(REQUIRED "local_memory = 1 MiB\n", 7, 16, "1 MiB", "as large as the memory");
    expect_warning(REQUIRED "memory_in_flight = 9\n", 7, 20, "9",
                   "limit nothing without a latency");
    expect_warning(REQUIRED "registers_per_cu = 9\n", 7, 20, "9", "where a CU holds any number");
    expect_warning(REQUIRED "register_unit = 9\n", 7, 17, "9", "for any number of warps");
    expect_warning(REQUIRED "registers_per_item = 9\n", 7, 22, "9", "for any number of warps");
    expect_warning(REQUIRED "cache_bytes_per_cycle = 9\n", 7, 25, "9",
                   "no cache with this bandwidth");
    assert_true(parse(REQUIRED "local_memory = 1 MiB\n", &out)); /* and is taken */
    assert_int_equal(out.local_bytes, 1 << 20);
    assert_true(parse(REQUIRED "schemes = by_affinity\ncus_per_l2 = 2\nmax_sub_devices = 4\n"
                               "max_group_items = 8\n",
                      &out));
    assert_int_equal(found.count, 0);
}

static size_t findings_of_embedded(const char *name)
{
    struct devdesc d;
    const struct embedded_file *file = embedded_device_files;
    while (strcmp(file->name, name) != 0)
        file++;
    devdesc_parse((const char *)file->bytes, file->size, &d, &found);
    return found.count;
}

static void embedded_descriptions_are_valid_and_named_as_their_files(void **state)
{
    (void)state;
    struct devdesc d;
    size_t count = 0;
    for (; devdesc_builtin_name(count); count++) {
        assert_true(devdesc_builtin(devdesc_builtin_name(count), &d));
        assert_string_equal(d.name, devdesc_builtin_name(count));
        assert_int_equal(findings_of_embedded(devdesc_builtin_name(count)), 0);
    }
    assert_true(count >= 3);
    assert_null(devdesc_builtin_name(count + 7));
    assert_true(devdesc_builtin("sim16", &d));
    assert_int_equal(d.cu_count, 16);
    assert_int_equal(d.lanes, 8);
    assert_false(devdesc_builtin("sim17", &d));
}

/* No control character comes out, but for ends of lines. */
static void print_findings(const char *text, size_t size)
{
    char *lines = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&lines, &length);
    assert_non_null(to);
    for (size_t k = 0; k < found.count; k++)
        prt_finding_print(to, "any.dev", text, size, &found.items[k]);
    fclose(to);
    for (size_t k = 0; k < length; k++)
        assert_true(lines[k] == '\n' || (unsigned char)lines[k] >= ' ');
    free(lines);
}

static void damaged_text_never_does_harm(void **state)
{
    (void)state;
    const char *seed_text = REQUIRED "schemes = equally by_counts\ncache_l2 = 4 KiB # x\n";
    unsigned seed = 42;
    size_t size = strlen(seed_text);
    for (int i = 0; i < 20000; i++) {
        char *text = malloc(size); /* exactly: the sanitizer sees a read past the end */
        for (size_t k = 0; k < size; k++)
            text[k] = seed_text[k];
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            text[(seed >> 8) % size] = (char)(seed >> 3);
        }
        struct devdesc d;
        size_t used = size - (seed >> 8) % 8;
        bool valid = devdesc_parse(text, used, &d, &found);
        assert_true(valid == !found.failed);
        print_findings(text, used);
        for (size_t k = 0; k < found.count; k++) {
            const struct devdesc_finding *f = &found.items[k];
            assert_true(f->place.line >= 1 && f->place.line <= 9 && f->place.column >= 1);
            assert_true(f->place.begin <= f->place.end && f->place.end <= used);
            assert_true(f->message[0] != 0);
        }
        free(text);
    }
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    struct devdesc d, again;
    char text[4096];
    for (size_t i = 0; devdesc_builtin_name(i); i++) {
        assert_true(devdesc_builtin(devdesc_builtin_name(i), &d));
        size_t length = devdesc_write(&d, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_true(devdesc_parse(text, length, &again, &found));
        assert_int_equal(found.count, 0);
        assert_int_equal(devdesc_hash(&again), devdesc_hash(&d));
        char part[16] = "";
        assert_int_equal(devdesc_write(&d, part, sizeof part), length);
        assert_memory_equal(part, text, sizeof part - 1);
    }
    d.schemes = 0;
    assert_true(devdesc_parse(text, devdesc_write(&d, text, sizeof text), &again, &found));
    assert_int_equal(again.schemes, 0);
}

/* Every part of sim16 is a description without a finding, and has whole domains. */
static void a_part_has_whole_domains_and_its_share(void **state)
{
    (void)state;
    struct devdesc whole, part, again;
    char text[4096];
    assert_true(devdesc_builtin("sim16", &whole));
    for (uint32_t first = 0; first < 16; first++)
        for (uint32_t count = 1; first + count <= 16; count++) {
            devdesc_part(&whole, first, count, "part", &part);
            size_t length = devdesc_write(&part, text, sizeof text);
            assert_true(devdesc_parse(text, length, &again, &found));
            assert_int_equal(found.count, 0);
            assert_int_equal(devdesc_hash(&again), devdesc_hash(&part));
            assert_int_equal(part.cu_count, count);
            assert_int_equal(part.memory_bytes_per_cycle, 16 * count);
            bool halves = first % 8 == 0 && count % 8 == 0, quarters = first % 4 + count % 4 == 0;
            assert_int_equal(part.cus_per_domain[DEVDESC_L3], halves ? 8 : 0);
            assert_int_equal(part.cache_bytes[DEVDESC_L3], halves ? 8 << 20 : 0);
            assert_int_equal(part.cus_per_domain[DEVDESC_L2], quarters ? 4 : 0);
            assert_int_equal(part.cus_per_domain[DEVDESC_L1], 1);
            assert_int_equal(part.schemes, count > 1 ? 7 : 3);
            assert_int_equal(part.max_sub_devices, count);
        }
    whole.memory_bytes_per_cycle = whole.cache_bytes_per_cycle = 2;
    devdesc_part(&whole, 0, 3,
                 "a-name-that-is-longer-than-all-the-room-that-there-is-for-one-in-it", &part);
    assert_int_equal(part.memory_bytes_per_cycle, 1);
    assert_int_equal(part.cache_bytes_per_cycle, 1);
    assert_int_equal(strlen(part.name), 63);
}

TEST_MAIN("devdesc", cmocka_unit_test(required_keys_are_enough_and_defaults_fill_the_rest),
          cmocka_unit_test(units_blanks_and_comments_are_read),
          cmocka_unit_test(errors_have_a_place_and_a_reason),
          cmocka_unit_test(a_key_given_twice_names_the_first),
          cmocka_unit_test(missing_keys_are_one_finding),
          cmocka_unit_test(several_errors_are_found_in_one_run),
          cmocka_unit_test(what_does_not_fit_together_is_a_warning),
          cmocka_unit_test(embedded_descriptions_are_valid_and_named_as_their_files),
          cmocka_unit_test(what_is_written_is_read_back),
          cmocka_unit_test(a_part_has_whole_domains_and_its_share),
          cmocka_unit_test(damaged_text_never_does_harm))
