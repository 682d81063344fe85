/* SPDX-License-Identifier: MIT */
/* JSON lines: numbers, arrays, nested structs; what is refused; the same bits back. */
#include "tests/test.h"
#include "tests/unit/test_io.h"

#include <math.h>

static struct prt_error error;

/* struct { i32 id; struct { f32 b[2]; bool ok; } parts[2]; f64 t; } */
struct record {
    int32_t id;
    struct {
        float b[2];
        bool ok;
    } parts[2];
    double t;
};
static const struct prt_field_information fields[] = {{"id", SCALAR_I32, 0, 1, "", 1},
                                                      {"parts[0].b", SCALAR_F32, 4, 2, "2", 1},
                                                      {"parts[0].ok", SCALAR_BOOL, 12, 1, "", 1},
                                                      {"parts[1].b", SCALAR_F32, 16, 2, "2", 1},
                                                      {"parts[1].ok", SCALAR_BOOL, 24, 1, "", 1},
                                                      {"t", SCALAR_F64, 32, 1, "", 1}};
static const struct prt_packet record = {"record", sizeof(struct record), fields, SCALAR_U8, 6};

/* i16[2][3] */
static const struct prt_field_information block_field = {"", SCALAR_I16, 0, 6, "2, 3", 1};
static const struct prt_packet block = {"i16[2][3]", 12, &block_field, SCALAR_I16, 1};

static const struct prt_packet number = {"f32", 4, NULL, SCALAR_F32, 0};
static const struct prt_packet wide = {"u64", 8, NULL, SCALAR_U64, 0};
static const struct prt_packet truth = {"bool", 1, NULL, SCALAR_BOOL, 0};

static unsigned char got[1 << 16];
static size_t got_bytes;

static enum prt_status read_text(const struct prt_packet *packet, const char *items,
                                 const char *text)
{
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    char word[512];
    io_write_file(io_path("a.jsonl"), text, strlen(text));
    snprintf(word, sizeof word, "x=%s%s", io_path("a.jsonl"), items);
    error = (struct prt_error){PRT_OK, 0, ""};
    got_bytes = 0;
    enum prt_status status = prt_port_spec_parse(word, &spec, &error);
    if (status != PRT_OK) return status;
    size_t width = scalar_width_bytes(packet->scalar);
    status = prt_source_open_packets(&spec, packet, NULL, &source, &error);
    for (size_t count = 1; status == PRT_OK && count > 0; got_bytes += count * width)
        status = prt_source_read(source, got + got_bytes, (sizeof got - got_bytes) / width, &count,
                                 &error);
    prt_source_close(source);
    prt_port_spec_free(&spec);
    return status;
}

static void reads(const struct prt_packet *packet, const char *items, const char *text)
{
    if (read_text(packet, items, text) != PRT_OK) print_message("%s\n%s\n", text, error.message);
    assert_int_equal(error.status, PRT_OK);
}

static void refuses(const struct prt_packet *packet, const char *items, const char *text, int line,
                    const char *message)
{
    char begin[64];
    assert_int_equal(read_text(packet, items, text), PRT_E_FORMAT);
    snprintf(begin, sizeof begin, "a.jsonl:%d: ", line);
    if (strstr(error.message, begin) == NULL || strstr(error.message, message) == NULL)
        print_message("%s\n%s\n", text, error.message);
    assert_non_null(strstr(error.message, begin));
    assert_non_null(strstr(error.message, message));
}

/* The text of the packets as JSON lines. */
static const char *write_text(const struct prt_packet *packet, const void *packets, size_t bytes)
{
    static char text[1 << 16];
    struct prt_port_spec spec;
    struct prt_sink *sink = NULL;
    char word[512];
    snprintf(word, sizeof word, "y=%s", io_path("b.ndjson"));
    assert_int_equal(prt_port_spec_parse(word, &spec, &error), PRT_OK);
    assert_int_equal(prt_sink_open_packets(&spec, packet, NULL, &sink, &error), PRT_OK);
    assert_int_equal(
        prt_sink_write(sink, packets, bytes / scalar_width_bytes(packet->scalar), &error), PRT_OK);
    assert_int_equal(prt_sink_finish(sink, &error), PRT_OK);
    prt_sink_close(sink);
    prt_port_spec_free(&spec);
    FILE *file = fopen(io_path("b.ndjson"), "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    return text;
}

#define LINE                                                                                       \
    "{\"id\":-7,\"parts\":[{\"b\":[1,2.5],\"ok\":true},{\"b\":[-0.0,\"inf\"],\"ok\":false}],"      \
    "\"t\":1e+300}\n"

static void a_struct_is_an_object_of_objects_and_arrays(void **state)
{
    (void)state;
    const struct record wanted = {-7, {{{1, 2.5f}, true}, {{-0.0f, INFINITY}, false}}, 1e300};
    const struct record *read = (const struct record *)(const void *)got;
    reads(&record, "", LINE);
    assert_int_equal(got_bytes, sizeof wanted);
    assert_int_equal(read->id, -7);
    assert_memory_equal(read->parts[0].b, wanted.parts[0].b, sizeof wanted.parts[0].b);
    assert_memory_equal(read->parts[1].b, wanted.parts[1].b, sizeof wanted.parts[1].b);
    assert_true(read->parts[0].ok && !read->parts[1].ok && read->t == 1e300);
    assert_string_equal(write_text(&record, got, got_bytes), LINE);
}

static void members_stand_in_any_order_beside_others(void **state)
{
    (void)state;
    reads(
        &record, "",
        "\n{\"t\": 1e300, \"name\": {\"x\": [null]},\t\"parts\": [{\"ok\": true, \"b\": [1, 2.5]}, "
        "{\"b\": [-0.0, \"inf\"], \"ok\": false, \"c\": 1}], \"id\": -7}\r\n \n");
    assert_int_equal(got_bytes, sizeof(struct record));
    assert_string_equal(write_text(&record, got, got_bytes), LINE);
}

static void packets_without_fields_are_numbers_or_arrays(void **state)
{
    (void)state;
    reads(&number, "", "1\n{\"x\": 2.5, \"y\": 3}\n\"nan\"\n-1e-3");
    assert_int_equal(got_bytes, 16);
    assert_string_equal(write_text(&number, got, got_bytes), "1\n2.5\n\"nan\"\n-0.001\n");
    reads(&block, "", "[[1,2,3],[4,5,-6]]\n{\"x\":[[1,2,3],[4,5,6]]}\n");
    assert_string_equal(write_text(&block, got, got_bytes),
                        "[[1,2,3],[4,5,-6]]\n[[1,2,3],[4,5,6]]\n");
    reads(&truth, "", "true\nfalse\n");
    assert_string_equal(write_text(&truth, got, got_bytes), "true\nfalse\n");
    reads(&number, "", "");
    assert_int_equal(got_bytes, 0);
}

static void whole_numbers_past_2_63_are_strings(void **state)
{
    (void)state;
    static const char text[] = "9223372036854775807\n\"9223372036854775808\"\n";
    reads(&wide, "", text);
    assert_string_equal(write_text(&wide, got, got_bytes), text);
    refuses(&wide, "", "9223372036854775808\n", 1, "(write it as a string)");
}

static void times_are_strings(void **state)
{
    (void)state;
    reads(&wide, "", "\"1970-01-01T00:00:01Z\"\n");
    assert_string_equal(write_text(&wide, got, got_bytes), "1000000000\n");
}

static void missing_numbers_are_errors_or_have_a_value(void **state)
{
    (void)state;
    refuses(&number, "", "1\n\nnull\n", 3, "'x': a number of type f32 is missing; missing=VALUE");
    refuses(&record, "", "{\"id\":1}", 1, "'parts[0].b[0]': a number of type f32 is missing");
    refuses(&number, ",missing=a", "null", 1, "'a' of missing= is not one of type f32");
    reads(&number, ",missing=nan", "null\n{}\n");
    assert_string_equal(write_text(&number, got, got_bytes), "\"nan\"\n\"nan\"\n");
    reads(&record, ",missing=0", "{}");
    assert_string_equal(
        write_text(&record, got, got_bytes),
        "{\"id\":0,\"parts\":[{\"b\":[0,0],\"ok\":false},{\"b\":[0,0],\"ok\":false}],"
        "\"t\":0}\n");
}

static void values_of_another_kind_are_refused(void **state)
{
    (void)state;
    refuses(&number, "", "1\ntrue", 2, "'x': true or false is not a number of type f32");
    refuses(&number, "", "[1]", 1, "'x': an array is not a number of type f32");
    refuses(&number, "", "\"1 x\"", 1, "'x': '1 x' is not a number of type f32");
    refuses(&number, "", "\"1\\u0000\"", 1, "'x': '1' is not a number of type f32");
    refuses(&truth, "", "1", 1, "'x': 1 is not a number of type bool");
    refuses(&wide, "", "1.5", 1, "'x': 1.5 is not a number of type u64");
    refuses(&wide, "", "-1", 1, "'x': -1 is not a number of type u64");
    refuses(&block, "", "[[1,2,3],[4,5,32768]]", 1, "'x[1][2]': 32768 is not a number of type i16");
    refuses(&block, "", "[[1,2,3]]", 1, "'x[0][0]': the array has 1 value, not 2");
    refuses(&block, "", "[[1,2],[3,4]]", 1, "'x[0][0]': the array has 2 values, not 3");
    refuses(&block, "", "7", 1, "'x[0][0]': an array of 2 values is expected, not a number");
    refuses(&record, "", "7", 1, "'id': an object with 'id' is expected, not a number");
    refuses(&record, "", "{\"id\":1,\"parts\":[{},{},{}]}", 1, "the array has 3 values, not 2");
}

static void text_that_is_no_json_is_refused(void **state)
{
    (void)state;
    refuses(&number, "", "{\"x\":1", 1, "this is no JSON: '}' expected near end of file");
    refuses(&number, "", "1\n1 2", 2, "this is no JSON");
    refuses(&number, "", "nan", 1, "this is no JSON");
    refuses(&number, "", "{\"x\":1,\"x\":2}", 1, "this is no JSON: duplicate object key");
    refuses(&number, "", "1e999", 1, "(write it as a string)");
    refuses(&number, "", "\"\xff\"", 1, "this is no JSON");
}

static void long_lines_are_read_and_longer_ones_refused(void **state)
{
    (void)state;
    static char text[66000];
    memset(text, ' ', sizeof text - 1);
    text[65534] = '7';
    text[65535] = '\0';
    reads(&number, "", text);
    assert_int_equal(got_bytes, 4);
    memcpy(text + 65534, " 7", 3);
    refuses(&number, "", text, 1, "the line is longer than 65535 bytes");
}

static void a_wrong_option_is_refused(void **state)
{
    (void)state;
    assert_int_equal(read_text(&number, ",headings", "1"), PRT_E_USAGE);
    assert_string_equal(error.message, "port 'x': 'headings' belongs to csv, and this is jsonl");
    assert_int_equal(read_text(&number, ",raw,missing=1", "1"), PRT_E_USAGE);
    assert_string_equal(error.message,
                        "port 'x': 'missing=' belongs to csv and jsonl, and this is raw");
}

/* Every value comes back, from all exponents. */
static void numbers_come_back_with_the_same_bits(void **state)
{
    (void)state;
    enum { COUNT = 512 };
    static const struct prt_packet types[] = {{"f32", 4, NULL, SCALAR_F32, 0},
                                              {"f64", 8, NULL, SCALAR_F64, 0},
                                              {"f16", 2, NULL, SCALAR_F16, 0},
                                              {"i64", 8, NULL, SCALAR_I64, 0},
                                              {"u64", 8, NULL, SCALAR_U64, 0}};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        static uint64_t numbers[COUNT];
        size_t bytes = COUNT * (size_t)types[t].width_bytes;
        uint64_t bits = 88172645463325252;
        for (size_t i = 0; i < COUNT; i++) {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            numbers[i] = bits;
        }
        if (types[t].scalar == SCALAR_F16)
            for (size_t i = 0; i < COUNT; i++) /* no NaN: exponents below the highest */
                numbers[i] &= 0xbfffbfffbfffbfff;
        for (size_t i = 0; i < COUNT; i++) {
            float narrow[2];
            double number_64;
            memcpy(narrow, &numbers[i], sizeof narrow);
            memcpy(&number_64, &numbers[i], sizeof number_64);
            if (types[t].scalar == SCALAR_F32 && (isnan(narrow[0]) || isnan(narrow[1])))
                numbers[i] = 0x8000000000000001;
            if (types[t].scalar == SCALAR_F64 && isnan(number_64)) numbers[i] = 1;
        }
        reads(&types[t], "", write_text(&types[t], numbers, bytes));
        assert_int_equal(got_bytes, bytes);
        assert_memory_equal(got, numbers, bytes);
    }
}

TEST_MAIN("io_jsonl", cmocka_unit_test(a_struct_is_an_object_of_objects_and_arrays),
          cmocka_unit_test(members_stand_in_any_order_beside_others),
          cmocka_unit_test(packets_without_fields_are_numbers_or_arrays),
          cmocka_unit_test(whole_numbers_past_2_63_are_strings),
          cmocka_unit_test(times_are_strings),
          cmocka_unit_test(missing_numbers_are_errors_or_have_a_value),
          cmocka_unit_test(values_of_another_kind_are_refused),
          cmocka_unit_test(text_that_is_no_json_is_refused),
          cmocka_unit_test(long_lines_are_read_and_longer_ones_refused),
          cmocka_unit_test(a_wrong_option_is_refused),
          cmocka_unit_test(numbers_come_back_with_the_same_bits))
