/* SPDX-License-Identifier: MIT */
/* csv of other programs: headings, separators, quotes, comments, missing values, times. */
#include "tests/test.h"
#include "tests/unit/test_io.h"

#include "tools/piperun/io/timestamp.h"

static struct prt_error error;

/* struct { i32 id; f32 at[2]; f64 t; } */
struct reading {
    int32_t id;
    float at[2];
    int32_t unused;
    double t;
};
static const struct prt_field_information fields[] = {{"id", SCALAR_I32, 0, 1, "", 1},
                                                      {"at", SCALAR_F32, 4, 2, "2", 2},
                                                      {"t", SCALAR_F64, 16, 1, "", 1}};
static const struct prt_packet reading = {"reading", 24, fields, SCALAR_U8, 3};

static struct reading got[16];
static size_t got_count;

/* Reads the text with these items; returns the status.  Packets that came before an error are in `got`. */
static enum prt_status read_text(const char *items, const char *text)
{
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    char word[512];
    io_write_file(io_path("a.csv"), text, strlen(text));
    snprintf(word, sizeof word, "x=%s,csv%s", io_path("a.csv"), items);
    error = (struct prt_error){PRT_OK, 0, ""};
    got_count = 0;
    enum prt_status status = prt_port_spec_parse(word, &spec, &error);
    if (status != PRT_OK) return status;
    status = prt_source_open_packets(&spec, &reading, NULL, &source, &error);
    for (size_t count = 1; status == PRT_OK && count > 0; got_count += count / sizeof *got)
        status = prt_source_read(source, got + got_count, (16 - got_count) * sizeof *got, &count,
                                 &error);
    prt_source_close(source);
    prt_port_spec_free(&spec);
    return status;
}

/* Each text has these two packets. */
static void reads_two(const char *items, const char *text)
{
    if (read_text(items, text) != PRT_OK) print_message("%s\n%s\n", text, error.message);
    assert_int_equal(error.status, PRT_OK);
    assert_int_equal(got_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(got[i].id, i == 0 ? 1 : -7);
        assert_true(got[i].at[0] == 2.0f && got[i].at[1] == 3.0f && got[i].t == 4.0);
    }
}

/* The place, LINE:COLUMN, and a part of the message. */
static void refuses(const char *items, const char *text, const char *place, const char *message)
{
    char begin[64];
    assert_int_equal(read_text(items, text), PRT_E_FORMAT);
    snprintf(begin, sizeof begin, "a.csv:%s: ", place);
    if (strstr(error.message, begin) == NULL || strstr(error.message, message) == NULL)
        print_message("%s\n%s\n", text, error.message);
    assert_non_null(strstr(error.message, begin));
    assert_non_null(strstr(error.message, message));
}

static void headings_name_columns_in_any_order(void **state)
{
    (void)state;
    reads_two("", "1,2,3,4\n-7,2,3,4\n");
    reads_two(",headings", "id,at[0],at[1],t\n1,2,3,4\n-7,2,3,4");
    reads_two(",headings", "t,at[1],at[0],id\n4,3,2,1\n4,3,2,-7\n");
    reads_two(",headings", "\n \nt,  at[1] ,at[0],id\r\n4,3,2,1\r\n\r\n4,3,2,-7\r\n");
    reads_two(",headings", "\xef\xbb\xbfid,at[0],at[1],t\n1,2,3,4\n-7,2,3,4");
}

static void columns_without_a_field_are_left_out(void **state)
{
    (void)state;
    reads_two(",headings", "name,id,at[0],note,at[1],t,\na,1,2,b,3,4,\n,-7,2,,3,4,x\n");
    reads_two(",headings", "id,at[0],at[1],t,text\n1,2,3,4,\"two\nlines, \"\"quoted\"\"\"\n"
                           "-7,2,3,4,5\" pipe\n");
}

static void a_heading_that_is_missing_or_doubled_is_refused(void **state)
{
    (void)state;
    refuses(",headings", "id,at[0],t\n", "1:11", "no column has the heading 'at[1]'");
    refuses(",headings", "\nid,at[0],at[1],t,id\n", "2:1",
            "more than one column has the heading 'id'");
    refuses(",headings", "id,at[0],at[1],t\n1,2,3\n", "2:6", "the line has 3 columns, not 4");
    refuses(",headings", "id,at[0],at[1],t\n1,2,3,4,5\n", "2:9", "the line has 5 columns, not 4");
    refuses("", "id,at[0],at[1],t\n", "1:1",
            "'id' is not a number of type i32; if this is a line "
            "of headings, add 'headings'");
}

static void a_file_with_only_headings_or_nothing_is_an_empty_stream(void **state)
{
    (void)state;
    assert_int_equal(read_text(",headings", "id,at[0],at[1],t\n"), PRT_OK);
    assert_int_equal(got_count, 0);
    assert_int_equal(read_text(",headings", ""), PRT_OK);
    assert_int_equal(got_count, 0);
}

static void separators_are_one_character(void **state)
{
    (void)state;
    reads_two(",separator=;", "1;2;3;4\n-7; 2 ;3;4\n");
    reads_two(",separator=tab", "1\t2\t3\t4\n-7\t 2\t3\t4\n");
    reads_two(",headings,separator=|", "at[0]|at[1]|id|t\n2|3|1|4\n2|3|-7|4\n");
    refuses(",separator=tab", "1\t\t3\t4\n", "1:3", "a number of type f32 is missing");
    refuses(",separator=tab", "\t\t\t\n", "1:1", "a number of type i32 is missing");
    refuses(",separator=;", "1,2,3,4\n", "1:8", "the line has 1 column, not 4");
}

static void quotes_are_those_of_rfc_4180(void **state)
{
    (void)state;
    reads_two("", "\"1\",\"2\", \"3\" ,\"4\"\r\n\"-7\",2,3,4\n");
    reads_two(",headings",
              "\"id\",\"at[0]\",\"at[1]\",t,\"a \"\"b\"\"\"\n1,2,3,4,\"x\"\"\"\n-7,2,3,4,\"\"\n");
    refuses("", "1,2,3,4\n1,\"2,3,4\n", "2:3", "the quotes that begin here have no end");
    refuses("", "1,\"2\"x,3,4\n", "1:6", "a separator is missing after the quotes");
    refuses("", "1,2\",3,4\n", "1:3", "'2\"' is not a number");
    refuses(",headings", "id,at[0],at[1],t,n\n1,2,3,4,\"a\n\nb\"\nx,2,3,4,5\n", "5:1",
            "'x' is not a number");
    refuses(",headings", "id,at[0],at[1],n,t\n1,2,3,\"a\n\nb\",x\n", "4:4", "'x' is not a number");
}

static void comments_are_lines(void **state)
{
    (void)state;
    reads_two(",comment=#", "# \"a log\n1,2,3,4\n  # 5\n-7,2,3,4\n#");
    reads_two(",comment=#,headings", "#\nid,at[0],at[1],t\n#x\n1,2,3,4\n-7,2,3,4\n");
    refuses(",comment=#", "1,2,3,4 # x\n", "1:7", "'4 # x' is not a number");
    refuses("", "# a log\n", "1:8", "the line has 1 column");
}

static void a_missing_number_is_an_error_or_has_a_value(void **state)
{
    (void)state;
    refuses("", "1,2,3,4\n1,2,,4\n", "2:5",
            "a number of type f32 is missing; missing=VALUE would fill it in");
    refuses("", "1,2,\"\",4\n", "1:5", "is missing");
    reads_two(",missing=2", "1,,3,4\n-7,\"\",3,4\n");
    refuses(",missing=nan", "1,2,3,\n,2,3,4\n", "2:1",
            "a number is missing, and 'nan' of missing= is not one of type i32");
    assert_int_equal(got_count, 1);
    assert_true(got[0].t != got[0].t);
}

static void words_that_are_no_options_are_refused(void **state)
{
    (void)state;
    static const char *const items[][2] = {
        {",separator=", "separator= takes one character, such as ';', or tab, not ''"},
        {",separator=ab", "not 'ab'"},
        {",separator=a", "not 'a'"},
        {",separator=\"", "not '\"'"},
        {",comment=-", "comment= takes one character, such as '#'"},
        {",comment=#,comment=#", "comment= is given twice"},
        {",separator=;,separator=;", "separator= is given twice"},
        {",separator=#,comment=#", "separator= and comment= are the same character"},
        {",missing=", "missing= takes a number"},
        {",missing=1,missing=1", "missing= is given twice"},
        {",heading", "did you mean 'headings'?"},
        {",seperator=;", "did you mean 'separator='?"}};
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        assert_int_equal(read_text(items[i][0], ""), PRT_E_USAGE);
        if (strstr(error.message, items[i][1]) == NULL) print_message("%s\n", error.message);
        assert_non_null(strstr(error.message, items[i][1]));
    }
}

static void options_of_csv_belong_to_csv(void **state)
{
    (void)state;
    static const char *const words[] = {"x=a.raw,headings", "x=a.npy,separator=;",
                                        "x=a.wav,comment=#", "x=gen:zeros,missing=1",
                                        "x=null,headings"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct prt_port_spec spec;
        struct prt_source *source;
        if (prt_port_spec_parse(words[i], &spec, &error) == PRT_OK) {
            assert_int_equal(prt_source_open(&spec, SCALAR_U8, NULL, &source, &error), PRT_E_USAGE);
            prt_port_spec_free(&spec);
        }
        assert_non_null(strstr(error.message, i < 3 ? "belongs to csv" : ""));
    }
    struct prt_port_spec spec;
    struct prt_sink *sink;
    assert_int_equal(prt_port_spec_parse("y=a.csv,missing=1", &spec, &error), PRT_OK);
    assert_int_equal(prt_sink_open(&spec, SCALAR_U8, NULL, &sink, &error), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "'missing=' is for in-ports"));
    prt_port_spec_free(&spec);
}

static void writes(const char *port, const char *items, const struct prt_packet *packet,
                   const void *packets, size_t count, const char *expected)
{
    struct prt_port_spec spec;
    struct prt_sink *sink;
    char word[512];
    size_t length;
    snprintf(word, sizeof word, "%s=%s,csv%s", port, io_path("b.csv"), items);
    assert_int_equal(prt_port_spec_parse(word, &spec, &error), PRT_OK);
    assert_int_equal(prt_sink_open_packets(&spec, packet, NULL, &sink, &error), PRT_OK);
    assert_int_equal(prt_sink_write(sink, packets, count * prt_packet_units(packet), &error),
                     PRT_OK);
    assert_int_equal(prt_sink_finish(sink, &error), PRT_OK);
    prt_sink_close(sink);
    prt_port_spec_free(&spec);
    unsigned char *bytes = io_read_file(io_path("b.csv"), &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(bytes, expected, length);
    free(bytes);
}

static void headings_are_written(void **state)
{
    (void)state;
    static const struct reading packets[] = {{1, {2, 3}, 0, 4}, {-7, {2, 0.5f}, 0, 4}};
    static const struct prt_field_information matrix = {"", SCALAR_U8, 0, 4, "2, 2", 1};
    static const struct prt_packet block = {"u8[2][2]", 4, &matrix, SCALAR_U8, 1};
    static const struct prt_packet scalar = {"u8", 1, NULL, SCALAR_U8, 0};
    writes("y", ",headings", &reading, packets, 2, "id,at[0],at[1],t\n1,2,3,4\n-7,2,0.5,4\n");
    writes("y", ",headings,separator=;", &reading, packets, 1, "id;at[0];at[1];t\n1;2;3;4\n");
    writes("y", ",separator=tab", &reading, packets, 1, "1\t2\t3\t4\n");
    writes("y", ",headings", &reading, packets, 0, "id,at[0],at[1],t\n");
    writes("y", ",headings", &block, "\1\2\3\4", 1, "y[0][0],y[0][1],y[1][0],y[1][1]\n1,2,3,4\n");
    writes("y[3]", ",headings", &scalar, "\5", 1, "y[3]\n5\n");
    writes("y[3]", ",headings,separator=[", &scalar, "\5", 1, "\"y[3]\"\n5\n");
}

static void long_lines_with_headings_are_read_and_longer_ones_refused(void **state)
{
    (void)state;
    static char text[70000];
    for (size_t length = 60000; length <= 66000; length += 6000) {
        size_t used = (size_t)snprintf(text, sizeof text, "id,at[0],at[1],t,n\n1,2,3,4,");
        memset(text + used, 'a', length);
        snprintf(text + used + length, sizeof text - used - length, "\n-7,2,3,4,\n");
        if (length < 65535)
            reads_two(",headings", text);
        else
            assert_int_equal(read_text(",headings", text), PRT_E_FORMAT);
    }
}

/* ---- times ---- */

static bool time_is(const char *text, int64_t nanoseconds)
{
    const int64_t second = 1000000000, seconds = nanoseconds / second;
    int64_t whole = -1;
    double read = -1;
    return prt_timestamp_parse(text, SCALAR_I64, &whole) && whole == nanoseconds &&
           prt_timestamp_parse(text, SCALAR_F64, &read) &&
           read == (double)seconds + (double)(nanoseconds % second) / 1e9;
}

static void times_are_those_of_rfc_3339(void **state)
{
    (void)state;
    assert_true(time_is("1970-01-01T00:00:00Z", 0));
    assert_true(time_is("1970-01-01", 0));
    assert_true(time_is("2026-11-29 22:10:00.25", 1795990200250000000));
    assert_true(time_is("2026-11-29t23:10:00.250000000+01:00", 1795990200250000000));
    assert_true(time_is("2026-11-29T17:40:00.25-04:30", 1795990200250000000));
    assert_true(time_is("2000-02-29T12:00:00z", 951825600000000000));
    assert_true(time_is("1969-12-31T23:59:59Z", -1000000000));
    assert_true(time_is("1900-03-01T00:00:00Z", -2203891200000000000));
    double early;
    assert_true(prt_timestamp_parse("0000-01-01", SCALAR_F64, &early) && early == -62167219200.0);
    assert_true(prt_timestamp_parse("0000-12-31", SCALAR_F64, &early) && early == -62135683200.0);
    assert_true(prt_timestamp_parse("9999-12-31", SCALAR_F64, &early) && early == 253402214400.0);
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "2026",
                                        "2026-11",
                                        "2026-11-2",
                                        "2026-00-01",
                                        "2026-13-01",
                                        "2026-11-31",
                                        "2026-02-29",
                                        "1900-02-29",
                                        "2026-11-00",
                                        "2026-11-29T",
                                        "2026-11-29X00:00:00",
                                        "2026-11-29T24:00:00",
                                        "2026-11-29T23:60:00",
                                        "2026-11-29T23:59:60",
                                        "2026-11-29T22:10",
                                        "2026-11-29T22:10:00.",
                                        "2026-11-29T22:10:00.1234567890",
                                        "2026-11-29T22:10:00+1",
                                        "2026-11-29T22:10:00+24:00",
                                        "2026-11-29T22:10:00+01:60",
                                        "2026-11-29T22:10:00ZZ",
                                        "2026-11-29T22:10:00 Z",
                                        "2026-11-29Z",
                                        "1600-01-01",
                                        "2300-01-01",
                                        "a026-11-29"};
    int64_t value = 5;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(prt_timestamp_parse(texts[i], SCALAR_I64, &value));
    assert_false(prt_timestamp_parse("1969-12-31", SCALAR_U64, &value));
    assert_false(prt_timestamp_parse("2026-11-29", SCALAR_I32, &value));
    assert_false(prt_timestamp_parse("2026-11-29", SCALAR_F32, &value));
    assert_int_equal(value, 5);
    assert_true(prt_timestamp_parse("1970-01-02", SCALAR_U64, &value));
    assert_int_equal(value, 86400000000000);
}

static void times_are_read_from_csv(void **state)
{
    (void)state;
    assert_int_equal(read_text("", "1,2,3,1970-01-01T00:00:04.5Z\n1,2,3,\"1970-01-01 00:00:05\"\n"),
                     PRT_OK);
    assert_int_equal(got_count, 2);
    assert_true(got[0].t == 4.5 && got[1].t == 5);
    refuses("", "1970-01-01,2,3,4\n", "1:1", "'1970-01-01' is not a number of type i32");
}

TEST_MAIN("io_csv", cmocka_unit_test(headings_name_columns_in_any_order),
          cmocka_unit_test(columns_without_a_field_are_left_out),
          cmocka_unit_test(a_heading_that_is_missing_or_doubled_is_refused),
          cmocka_unit_test(a_file_with_only_headings_or_nothing_is_an_empty_stream),
          cmocka_unit_test(separators_are_one_character),
          cmocka_unit_test(quotes_are_those_of_rfc_4180), cmocka_unit_test(comments_are_lines),
          cmocka_unit_test(a_missing_number_is_an_error_or_has_a_value),
          cmocka_unit_test(words_that_are_no_options_are_refused),
          cmocka_unit_test(options_of_csv_belong_to_csv), cmocka_unit_test(headings_are_written),
          cmocka_unit_test(long_lines_with_headings_are_read_and_longer_ones_refused),
          cmocka_unit_test(times_are_those_of_rfc_3339),
          cmocka_unit_test(what_is_no_time_is_refused), cmocka_unit_test(times_are_read_from_csv))
