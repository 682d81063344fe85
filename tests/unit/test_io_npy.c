/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: npy. */
#include "tests/test.h"

#include "tests/unit/test_io.h"

static struct prt_error error;
static size_t count;

/* A file of version `major` with this header text and `data`. */
static void write_npy(const char *path, int major, const char *header, const void *data,
                      size_t data_bytes)
{
    unsigned char bytes[1024] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0};
    size_t length = strlen(header), at = 8;
    bytes[at++] = (unsigned char)length;
    bytes[at++] = (unsigned char)(length >> 8);
    if (major > 1) at += 2;
    for (size_t i = 0; i < length; i++)
        bytes[at + i] = (unsigned char)header[i];
    if (data_bytes > 0) memcpy(bytes + at + length, data, data_bytes);
    io_write_file(path, bytes, at + length + data_bytes);
}

static enum prt_status read_header(const char *header)
{
    int16_t read[64];
    unsigned char data[128] = {0};
    write_npy(io_path("h.npy"), 1, header, data, 12);
    return io_read_stream(io_path("h.npy"), "", SCALAR_I16, read, 64, 64, &count, &error);
}

static void arrays_round_trip(void **state)
{
    (void)state;
    const enum scalar_type types[] = {SCALAR_BOOL, SCALAR_I8,  SCALAR_U8,  SCALAR_I16,
                                      SCALAR_U16,  SCALAR_I32, SCALAR_U32, SCALAR_I64,
                                      SCALAR_U64,  SCALAR_F16, SCALAR_F32, SCALAR_F64};
    unsigned char bytes[800], read[808];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = i % 3 != 0;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t packets = 0; packets <= 100; packets += 50) {
            assert_int_equal(
                io_write_stream(io_path("a.npy"), "", types[t], bytes, packets, 9, &error), PRT_OK);
            assert_int_equal(
                io_read_stream(io_path("a.npy"), "", types[t], read, 101, 13, &count, &error),
                PRT_OK);
            assert_int_equal(count, packets);
            assert_memory_equal(read, bytes, packets * scalar_width_bytes(types[t]));
        }
}

static void the_written_header_is_numpys(void **state)
{
    (void)state;
    const float packets[] = {1, 2, 3};
    const char expected[] = "\x93NUMPY\x01\x00\x76\x00"
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    size_t length;
    assert_int_equal(io_write_stream(io_path("a.npy"), "", SCALAR_F32, packets, 3, 1, &error),
                     PRT_OK);
    unsigned char *bytes = io_read_file(io_path("a.npy"), &length);
    assert_int_equal(length, 128 + 12);
    assert_memory_equal(bytes, expected, sizeof expected - 1);
    for (size_t i = sizeof expected - 1; i < 127; i++)
        assert_int_equal(bytes[i], ' ');
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, packets, 12);
    free(bytes);
}

static void versions_orders_and_shapes_are_read(void **state)
{
    (void)state;
    const unsigned char data[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
    int32_t read[8];
    const char *headers[] = {
        "{'descr': '>i2', 'fortran_order': False, 'shape': (6,), }\n",
        "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }",
        "{\"shape\":(1,2,3,1),\"descr\":\">u2\",\"fortran_order\":False}",
        "{'descr': '>i2', 'fortran_order': True, 'shape': (6,), }",
        "{'descr': '>i2', 'fortran_order': True, 'shape': (1, 6, 1), }  \n",
        "{'descr': '>i2', 'fortran_order': False, 'shape': (6L,)}",
        "{'descr'\t: '>i2',\r\n\t'fortran_order':\nFalse, 'shape': (\r6,)}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        for (int major = 1; major <= 3; major++) {
            write_npy(io_path("v.npy"), major, headers[i], data, sizeof data);
            assert_int_equal(
                io_read_stream(io_path("v.npy"), "", SCALAR_I32, read, 8, 4, &count, &error),
                PRT_OK);
            assert_int_equal(count, 6);
            for (int k = 0; k < 6; k++)
                assert_int_equal(read[k], k + 1);
        }
}

static void scalars_and_empty_arrays_are_read(void **state)
{
    (void)state;
    const int16_t value = 513;
    int16_t read[4];
    write_npy(io_path("s.npy"), 1, "{'descr': '<i2', 'fortran_order': False, 'shape': ()}", &value,
              2);
    assert_int_equal(io_read_stream(io_path("s.npy"), "", SCALAR_I16, read, 4, 4, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(read[0], 513);
    write_npy(io_path("s.npy"), 1,
              "{'descr': '<i2', 'fortran_order': False, 'shape': (5, 0, 99999999999999999)}", "",
              0);
    assert_int_equal(io_read_stream(io_path("s.npy"), "", SCALAR_I16, read, 4, 4, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 0);
}

/* The product is 0, 6 and 12 modulo 2^64, and the file has as many elements: only the overflow refuses it. */
static void shapes_whose_product_overflows_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        size_t packets;
    } rows[] = {{"4294967296, 4294967296", 0},
                {"2, 9223372036854775808", 0},
                {"9223372036854775811, 2", 6},
                {"3, 4, 6148914691236517206, 2", 4 * 4},
                {"4294967296, 4294967296, 7", 0}};
    const int16_t data[16] = {0};
    int16_t read[16];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char header[160];
        snprintf(header, sizeof header, "{'descr': '<i2', 'fortran_order': False, 'shape': (%s)}",
                 rows[i].shape);
        write_npy(io_path("o.npy"), 1, header, data, rows[i].packets * sizeof *data);
        assert_int_equal(
            io_read_stream(io_path("o.npy"), "", SCALAR_I16, read, 16, 16, &count, &error),
            PRT_E_FORMAT);
        assert_non_null(strstr(error.message, "shape is too large"));
    }
    /* A length of 0 makes it empty, wherever it stands. */
    write_npy(io_path("o.npy"), 1,
              "{'descr': '<i2', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}", "",
              0);
    assert_int_equal(io_read_stream(io_path("o.npy"), "", SCALAR_I16, read, 4, 4, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 0);
}

/* Element counts beyond the file's size are refused by its bytes: 2^63 - 1 and more of them. */
static void shapes_whose_bytes_overflow_are_refused(void **state)
{
    (void)state;
    static const char *const shapes[] = {"4611686018427387904", "9223372036854775808",
                                         "18446744073709551615"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char header[160];
        snprintf(header, sizeof header, "{'descr': '<i2', 'fortran_order': False, 'shape': (%s,)}",
                 shapes[i]);
        assert_int_equal(read_header(header), PRT_E_FORMAT);
        assert_non_null(strstr(error.message, "shape is too large"));
    }
}

/* struct { u8 id; f64 pos[3]; i16x2 pair; } */
static const struct prt_field_information record_fields[] = {
    {"id", SCALAR_U8, 0, 1, "", 1},
    {"pos", SCALAR_F64, 8, 3, "3", 1},
    {"pair", SCALAR_I16, 32, 2, "2", 2},
};
static const struct prt_packet record = {"record", 40, record_fields, SCALAR_U8, 3};
static const struct prt_packet scalar_packet = {"i16", 2, NULL, SCALAR_I16, 0};

/* Opens a file with this header and `bytes` zeros, the first of them a 7, and reads it. */
static enum prt_status read_packets(const struct prt_packet *layout, const char *header,
                                    size_t bytes, size_t *count)
{
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    unsigned char data[256] = {7}, read[512];
    char text[512];
    *count = 0;
    assert_true(bytes <= sizeof data);
    write_npy(io_path("r.npy"), 1, header, data, bytes);
    snprintf(text, sizeof text, "in=%s", io_path("r.npy"));
    assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
    enum prt_status status = prt_source_open_packets(&spec, layout, NULL, &source, &error);
    if (status == PRT_OK) {
        status = prt_source_read(source, read, 256, count, &error);
        assert_memory_equal(read, data, bytes);
    }
    prt_source_close(source);
    prt_port_spec_free(&spec);
    return status;
}

static enum prt_status read_record(const char *descr)
{
    char header[600];
    size_t count;
    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (1,), }",
             descr);
    enum prt_status status = read_packets(&record, header, 40, &count);
    if (status == PRT_OK) assert_int_equal(count, 40);
    return status;
}

static void structured_types_are_the_fields_of_the_port(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "'|u1'",
        "[]",
        "[('id', '|u1')]",
        "[('id', '|u1'), ('pos', '<f8', (3,)), ('', '|V7'), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('no', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|i1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'), ('pos', '>f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (2,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'), ('pos', '<f8'), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,))]",
        ("[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4'), "
         "('more', '|u1')]"),
        "[('id', '|u1'), ('', '|V99999999999999999999'), ('pos', '<f8', (3,))",
        "[('id', '|u1'",
        "[('id', '|u1'; ('', '|V7')]",
        "[(",
        "[('",
        "[5]",
        "[(id, '|u1')]",
        "[('id' '|u1')]",
        "[('id', 5)]",
        "[('id', '|x1')]",
        "[('id', '|u1', 5)]",
        "[('id', '|u1', (5))]",
        "[('id', '|u1']",
        "[('id', '|u1') ('', '|V7')]",
        "[('id', '|u1'), ('' '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', 7), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', 'V7'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'], ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3 4)), ('pair', '<i2', (2,)), ('', '|V4')]",
        "[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (",
    };
    static const char *const read_too[] = {
        "[('id', '|u1', ), ('', '|V7'), ('pos', '<f8', 3), ('pair', '<i2', (2)), ('', '|V4'), ]",
        "[(\"id\", "
        "\"|u1\"),(\"\",\"|V7\"),(\"pos\",\"<f8\",(3,)),(\"pair\",\"<i2\",(2,)),(\"\",\"|V4\")]",
        "[('id', '|u1'), ('', '|V3'), ('', '|V4'), ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), "
        "('', '|V4')]",
    };
    for (size_t i = 0; i < sizeof read_too / sizeof read_too[0]; i++)
        assert_int_equal(read_record(read_too[i]), PRT_OK);
    assert_int_equal(read_record("[('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', "
                                 "'<i2', (2,)), ('', '|V4')]"),
                     PRT_OK);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (read_record(refused[i]) != PRT_E_FORMAT) print_message("descr: %s\n", refused[i]);
        assert_int_equal(read_record(refused[i]), PRT_E_FORMAT);
    }
}

/* Each was taken as the gap of 7 bytes: the sum modulo 2^64, or the digits before something else. */
static void gaps_between_fields_are_lengths_in_bytes(void **state)
{
    (void)state;
    static const char *const refused[] = {"('', '|V18446744073709551615'), ('', '|V8')",
                                          "('', '|V-1'), ('', '|V8')",
                                          "('', '|V18446744073709551623')",
                                          "('', '|V7x')",
                                          "('', '|V+7')",
                                          "('', '|V 7')",
                                          "('', '|V'), ('', '|V7')",
                                          "('', '|V7L')"};
    static const char form[] =
        "[('id', '|u1'), %s, ('pos', '<f8', (3,)), ('pair', '<i2', (2,)), ('', '|V4')]";
    char descr[300];
    snprintf(descr, sizeof descr, form, "('', '|V007')");
    assert_int_equal(read_record(descr), PRT_OK);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        snprintf(descr, sizeof descr, form, refused[i]);
        assert_int_equal(read_record(descr), PRT_E_FORMAT);
    }
}

static void shapes_have_up_to_64_dimensions(void **state)
{
    (void)state;
    for (size_t dimensions = 63; dimensions <= 65; dimensions++) {
        char header[300], shape[140] = "";
        for (size_t i = 0; i < dimensions; i++)
            memcpy(shape + 2 * i, i == 5 ? "6," : "1,", 3);
        snprintf(header, sizeof header, "{'descr': '<i2', 'fortran_order': False, 'shape': (%s)}",
                 shape);
        assert_int_equal(read_header(header), dimensions <= 64 ? PRT_OK : PRT_E_FORMAT);
        if (dimensions > 64)
            assert_non_null(strstr(error.message, "too many dimensions"));
        else
            assert_int_equal(count, 6);
    }
}

/* f32[2][3] and the like, which files need not have as dimensions, but if they have some, these. */
static void the_last_dimensions_are_those_of_a_packet(void **state)
{
    (void)state;
    static const struct prt_field_information fields[] = {{"", SCALAR_I16, 0, 6, "2, 3", 1},
                                                          {"", SCALAR_I16, 0, 6, "6", 1},
                                                          {"", SCALAR_I16, 0, 6, "1, 2, 3", 1},
                                                          {"", SCALAR_I16, 0, 1, "", 1}};
    static const struct prt_packet deep = {"i16[1][2][3]", 12, &fields[2], SCALAR_I16, 1};
    static const struct prt_packet one = {"one", 2, &fields[3], SCALAR_I16, 1};
    static const struct prt_packet block = {"i16[2][3]", 12, &fields[0], SCALAR_I16, 1};
    static const struct prt_packet row = {"i16[6]", 12, &fields[1], SCALAR_I16, 1};
    static const struct {
        const struct prt_packet *layout;
        const char *shape;
        enum prt_status status;
    } rows[] = {
        {&block, "12,", PRT_OK},          {&block, "2, 2, 3", PRT_OK},
        {&block, "1, 2, 2, 3", PRT_OK},   {&block, "2, 3, 2", PRT_E_FORMAT},
        {&block, "4, 3", PRT_E_FORMAT},   {&block, "2, 6", PRT_E_FORMAT},
        {&block, "3, 4", PRT_E_FORMAT},   {&row, "2, 6", PRT_OK},
        {&deep, "2, 6", PRT_E_FORMAT},    {&one, "3, 4", PRT_OK},
        {&row, "12, 1", PRT_E_FORMAT},    {&row, "12", PRT_OK},
        {&scalar_packet, "3, 4", PRT_OK}, {&scalar_packet, "12, 1", PRT_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char header[160];
        size_t count;
        snprintf(header, sizeof header, "{'descr': '<i2', 'fortran_order': False, 'shape': (%s)}",
                 rows[i].shape);
        assert_int_equal(read_packets(rows[i].layout, header, 24, &count), rows[i].status);
        if (rows[i].status == PRT_OK)
            assert_int_equal(count, 12);
        else
            assert_non_null(strstr(error.message, "the last dimensions of the npy array are not"));
    }
    size_t count;
    static const char list[] = "{'descr': [('x', '<i2')], 'fortran_order': False, 'shape': (12,)}";
    assert_int_equal(read_packets(&row, list, 24, &count), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "more fields than the port has"));
}

/* Of a structured type the elements are its scalars or bytes. */
static void record_shapes_that_overflow_are_refused(void **state)
{
    (void)state;
    static const char *const shapes[] = {"461168601842738791", "9223372036854775807"};
    for (size_t i = 0; i < 2; i++) {
        char header[300];
        size_t count;
        snprintf(header, sizeof header,
                 "{'descr': [('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', '<i2', "
                 "(2,)), ('', '|V4')], 'fortran_order': False, 'shape': (%s,)}",
                 shapes[i]);
        assert_int_equal(read_packets(&record, header, 40, &count), PRT_E_FORMAT);
        assert_non_null(strstr(error.message, "shape is too large"));
    }
}

static enum prt_status write_packets(const struct prt_packet *layout, const char *items,
                                     const void *packets, size_t count)
{
    struct prt_port_spec spec;
    struct prt_sink *sink = NULL;
    char text[512];
    snprintf(text, sizeof text, "out=%s%s", io_path("w.npy"), items);
    assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
    enum prt_status status = prt_sink_open_packets(&spec, layout, NULL, &sink, &error);
    if (status == PRT_OK)
        status = prt_sink_write(sink, packets, count * prt_packet_units(layout), &error);
    if (status == PRT_OK) status = prt_sink_finish(sink, &error);
    prt_sink_close(sink);
    prt_port_spec_free(&spec);
    return status;
}

static void packets_are_written_with_their_shape_or_fields(void **state)
{
    (void)state;
    static const struct prt_field_information block_field = {"", SCALAR_F32, 0, 6, "2, 3", 1};
    static const struct prt_field_information matrix[] = {{"id", SCALAR_U8, 0, 1, "", 1},
                                                          {"m", SCALAR_I16, 2, 4, "2, 2", 1}};
    static const struct prt_field_information pair[] = {{"a", SCALAR_F32, 0, 1, "", 1},
                                                        {"b", SCALAR_F32, 4, 1, "", 1}};
    static const struct prt_field_information brain[] = {{"a", SCALAR_BF16, 0, 1, "", 1},
                                                         {"b", SCALAR_F32, 4, 1, "", 1}};
    static const struct prt_field_information far = {"a", SCALAR_F32, 4, 1, "", 1};
    static struct prt_field_information fields[3000];
    for (size_t i = 0; i < 3000; i++)
        fields[i] =
            (struct prt_field_information){"a_field_with_a_long_name", SCALAR_U8, i, 1, "", 1};
    static const struct prt_packet block = {"f32[2][3]", 24, &block_field, SCALAR_F32, 1};
    static const struct prt_packet behind = {"far", 8, &far, SCALAR_U8, 1};
    static const struct prt_packet padded = {"padded", 8, pair, SCALAR_F32, 1};
    static const struct prt_packet wide = {"wide", 3000, fields, SCALAR_U8, 3000};
    static const struct prt_packet with_matrix = {"m", 10, matrix, SCALAR_U8, 2};
    static const struct prt_packet two = {"pair", 8, pair, SCALAR_F32, 2};
    static const struct prt_packet with_brain = {"brain", 8, brain, SCALAR_U8, 2};
    static const struct {
        const struct prt_packet *layout;
        const char *items, *header; /* or the message */
        bool refused;
    } rows[] = {
        {&block, "", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 3,), }", false},
        {&block, ",npy:f64be", "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2, 3,), }",
         false},
        {&with_matrix, "",
         "{'descr': [('id', '|u1'), ('', '|V1'), ('m', '<i2', (2, 2)), ], 'fortran_order': False, "
         "'shape': (2,), }",
         false},
        {&two, "",
         "{'descr': [('a', '<f4'), ('b', '<f4'), ], 'fortran_order': False, 'shape': (2,), }",
         false},
        {&two, ",npy:f64", "have fields, they are not converted", true},
        {&two, ",npy:f32be", "have fields, they are not converted", true},
        {&with_brain, "", "npy has no type bf16", true},
        {&behind, "", "{'descr': [('', '|V4'), ('a', '<f4'), ], ", false},
        {&padded, "", "{'descr': [('a', '<f4'), ('', '|V4'), ], ", false},
        {&wide, "", "packets of type wide have too many fields", true},
        {&behind, ",npy:f32", "packets of type far have fields", true},
        {&behind, ",raw:f32", "packets of type far have fields", true},
    };
    static const unsigned char packets[6000] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum prt_status status = write_packets(rows[i].layout, rows[i].items, packets, 2);
        assert_int_equal(status, rows[i].refused ? PRT_E_USAGE : PRT_OK);
        if (rows[i].refused) {
            assert_non_null(strstr(error.message, rows[i].header));
            continue;
        }
        size_t length;
        unsigned char *bytes = io_read_file(io_path("w.npy"), &length);
        assert_true(length > 10 + strlen(rows[i].header));
        assert_memory_equal(bytes + 10, rows[i].header, strlen(rows[i].header));
        free(bytes);
    }
}

static void hostile_headers_are_refused(void **state)
{
    (void)state;
    char ones[141] = "", many[256];
    for (size_t i = 0; i < 140; i++)
        ones[i] = i % 2 == 0 ? '1' : ',';
    snprintf(many, sizeof many, "{'descr': '<i2', 'fortran_order': False, 'shape': (%s6)}", ones);
    const char *headers[] = {
        "",
        "{",
        "}",
        "[]",
        "{}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (-6,), }",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6", /* no end */
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6,)",
        "{'descr': '<i2', 'fortran_order': False, 'shape': 6}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6 6)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6.0,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (18446744073709551616,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807,)}",
        "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}",
        "{'descr': '<i2', 'fortran_order': Maybe, 'shape': (6,)}",
        "{'descr': '<i2', 'fortran_order': False}",
        "{'descr': '<i2', 'shape': (6,)}",
        "{'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<i2', 'descr': '<i2', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), 'more': 1}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6,)} x",
        "{'descr': '<i3', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<U4', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|i2', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': [('x', '<i2')], 'fortran_order': False, 'shape': (6,)}",
        "{'descr': 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii', 'shape': (6,)}",
        "{'descr' '<i2', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (5,)}", /* more bytes follow */
        "{'desc",
        "{'descr': [(",
        "{'shape': (6,), 'descr': '<i2', 'fortran_order': Tr",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (184467440737095516160,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6",
        many,
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (read_header(headers[i]) != PRT_E_FORMAT) print_message("header: %s\n", headers[i]);
        assert_int_equal(read_header(headers[i]), PRT_E_FORMAT);
        assert_non_null(strstr(error.message, "h.npy"));
    }
    /* a giant shape: the file is too short for it, and nothing is allocated for it */
    assert_int_equal(
        read_header("{'descr': '<i2', 'fortran_order': False, 'shape': (1000000000000000,)}"),
        PRT_E_TRUNCATED);
    assert_int_equal(count, 0);
}

static void giant_header_lengths_are_refused(void **state)
{
    (void)state;
    const unsigned char giant[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 255, 255, 255, 255, '{'};
    const unsigned char version[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 9, 0, 5, 0, '{', '}'};
    int16_t read[1];
    io_write_file(io_path("g.npy"), giant, sizeof giant);
    assert_int_equal(io_read_stream(io_path("g.npy"), "", SCALAR_I16, read, 1, 1, &count, &error),
                     PRT_E_FORMAT);
    io_write_file(io_path("g.npy"), version, sizeof version);
    assert_int_equal(io_read_stream(io_path("g.npy"), "", SCALAR_I16, read, 1, 1, &count, &error),
                     PRT_E_FORMAT);
    assert_int_equal(error.offset, 6);
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    const double packets[] = {1, 2, 3, 4, 5};
    assert_int_equal(io_write_stream(io_path("w.npy"), "", SCALAR_F64, packets, 5, 5, &error),
                     PRT_OK);
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("w.npy"));
    io_check_prefixes(whole, "p.npy", "", SCALAR_F64);
}

static void no_changed_byte_is_a_crash(void **state)
{
    (void)state;
    const double packets[] = {1, 2, 3, 4, 5};
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("w.npy"));
    assert_int_equal(io_write_stream(whole, "", SCALAR_F64, packets, 5, 5, &error), PRT_OK);
    io_check_flips(whole, "f.npy", "", SCALAR_F64);
}

/* `cat` of a whole file into a pipe, read from standard input. */
static void a_pipe_is_read_and_written(void **state)
{
    (void)state;
    const float packets[] = {1, 2, 3};
    float read[4] = {0};
    int ends[2], in = io_dup(STDIN_FILENO), out = io_dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    close(ends[1]);
    enum prt_status written = io_write_stream("-", ",npy", SCALAR_F32, packets, 3, 2, &error);
    dup2(out, STDOUT_FILENO);
    close(out);
    assert_int_equal(written, PRT_OK);
    assert_int_equal(io_read_stream("-", ",npy", SCALAR_F32, read, 4, 4, &count, &error), PRT_OK);
    assert_int_equal(count, 3); /* the length is right although a pipe cannot be patched */
    assert_memory_equal(read, packets, sizeof packets);
    dup2(in, STDIN_FILENO);
    close(in);
    close(ends[0]);
}

/* The text ends where its length says, without blanks that would be in the way. */
static void every_end_of_a_header_is_found(void **state)
{
    (void)state;
    static const char text[] =
        "{'descr': [('id', '|u1'), ('', '|V7'), ('pos', '<f8', (3,)), ('pair', "
        "'<i2', (2,)), ('', '|V4')], 'fortran_order': False, 'shape': (1,)}";
    for (size_t length = 0; length < sizeof text - 1; length++) {
        unsigned char file[400] = "\x93NUMPY\1\0";
        struct prt_port_spec spec;
        struct prt_source *source = NULL;
        char name[200];
        file[8] = (unsigned char)length;
        memcpy(file + 10, text, length);
        io_write_file(io_path("e.npy"), file, 10 + length);
        snprintf(name, sizeof name, "in=%s", io_path("e.npy"));
        assert_int_equal(prt_port_spec_parse(name, &spec, &error), PRT_OK);
        assert_int_equal(prt_source_open_packets(&spec, &record, NULL, &source, &error),
                         PRT_E_FORMAT);
        prt_port_spec_free(&spec);
    }
}

/* A pipe does not say how long it is: the end comes too early. */
static void an_array_that_is_cut_in_a_pipe_is_noticed(void **state)
{
    (void)state;
    const int16_t packets[] = {1, 2, 3, 4, 5, 6};
    int16_t read_back[8];
    size_t length, count;
    assert_int_equal(io_write_stream(io_path("cut.npy"), "", SCALAR_I16, packets, 6, 6, &error),
                     PRT_OK);
    unsigned char *bytes = io_read_file(io_path("cut.npy"), &length);
    for (size_t cut = 0; cut <= length; cut++) {
        char name[64];
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], bytes, cut), (ssize_t)cut);
        close(ends[1]);
        snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
        enum prt_status status =
            io_read_stream(name, ",npy", SCALAR_I16, read_back, 8, 8, &count, &error);
        close(ends[0]);
        assert_int_equal(status, cut == length ? PRT_OK : PRT_E_TRUNCATED);
        assert_memory_equal(read_back, packets, count * sizeof *packets);
    }
    free(bytes);
}

static void types_can_be_named_for_outputs_alone(void **state)
{
    (void)state;
    const int32_t packets[] = {1, -2};
    double read[2] = {0};
    assert_int_equal(
        io_write_stream(io_path("t.npy"), ",npy:f64", SCALAR_I32, packets, 2, 2, &error), PRT_OK);
    assert_int_equal(io_read_stream(io_path("t.npy"), "", SCALAR_F64, read, 2, 2, &count, &error),
                     PRT_OK);
    assert_true(read[0] == 1 && read[1] == -2);
    assert_int_equal(
        io_read_stream(io_path("t.npy"), ",npy:f64", SCALAR_F64, read, 2, 2, &count, &error),
        PRT_E_USAGE);
    assert_int_equal(io_write_stream(io_path("t.npy"), "", SCALAR_BF16, packets, 2, 2, &error),
                     PRT_E_USAGE);
}

IO_TEST_MAIN("io_npy", cmocka_unit_test(arrays_round_trip),
             cmocka_unit_test(the_written_header_is_numpys),
             cmocka_unit_test(versions_orders_and_shapes_are_read),
             cmocka_unit_test(scalars_and_empty_arrays_are_read),
             cmocka_unit_test(structured_types_are_the_fields_of_the_port),
             cmocka_unit_test(shapes_whose_product_overflows_are_refused),
             cmocka_unit_test(shapes_whose_bytes_overflow_are_refused),
             cmocka_unit_test(gaps_between_fields_are_lengths_in_bytes),
             cmocka_unit_test(shapes_have_up_to_64_dimensions),
             cmocka_unit_test(the_last_dimensions_are_those_of_a_packet),
             cmocka_unit_test(record_shapes_that_overflow_are_refused),
             cmocka_unit_test(packets_are_written_with_their_shape_or_fields),
             cmocka_unit_test(hostile_headers_are_refused),
             cmocka_unit_test(giant_header_lengths_are_refused),
             cmocka_unit_test(every_end_of_a_header_is_found),
             cmocka_unit_test(an_array_that_is_cut_in_a_pipe_is_noticed),
             cmocka_unit_test(every_prefix_is_refused),
             cmocka_unit_test(no_changed_byte_is_a_crash),
             cmocka_unit_test(a_pipe_is_read_and_written),
             cmocka_unit_test(types_can_be_named_for_outputs_alone))
