/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: pgm and png. */
#include "tests/test.h"

#include "tools/piperun/io/io_internal.h"
#include "tests/unit/test_io.h"

#include <png.h>

static struct prt_error error;
static size_t count;

static enum prt_status read_text(const char *name, const char *text, size_t length,
                                 enum scalar_type packet, void *packets, size_t capacity)
{
    io_write_file(io_path(name), text, length);
    return io_read_stream(io_path(name), "", packet, packets, capacity, 3, &count, &error);
}

#define READ(name, text, packet, packets)                                                          \
    read_text(name, text, sizeof(text) - 1, packet, packets, sizeof(packets) / sizeof(packets)[0])

/* Makes a PNG with libpng, independently of the sink. */
static void make_png(const char *path, int color, int depth, int interlace, uint32_t width,
                     uint32_t height, const unsigned char *samples, size_t row_bytes)
{
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_bytep rows[64];
    png_color palette[4] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    if (file == NULL) abort();
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, depth, color, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 4);
    for (uint32_t y = 0; y < height; y++)
        rows[y] = (png_bytep)(uintptr_t)(samples + y * row_bytes);
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* --- pgm --- */

static void the_four_kinds_are_read(void **state)
{
    (void)state;
    uint8_t u8[12], expected[] = {0, 127, 255, 1, 2, 3};
    assert_int_equal(READ("a.pgm", "P2\n# a comment\n3 2\n255\n0 127 255\n1 2 3\n", SCALAR_U8, u8),
                     PRT_OK);
    assert_int_equal(count, 6);
    assert_memory_equal(u8, expected, 6);
    assert_int_equal(READ("a.pgm", "P5 3 #x\n2 255\n\0\177\377\1\2\3", SCALAR_U8, u8), PRT_OK);
    assert_int_equal(count, 6);
    assert_memory_equal(u8, expected, 6);
    assert_int_equal(READ("a.ppm", "P3 1 2 255 0 127 255 1 2 3", SCALAR_U8, u8), PRT_OK);
    assert_int_equal(count, 6);
    assert_memory_equal(u8, expected, 6);
    assert_int_equal(READ("a.ppm", "P6\n2 1\n255\n\0\177\377\1\2\3", SCALAR_U8, u8), PRT_OK);
    assert_int_equal(count, 6);
    assert_memory_equal(u8, expected, 6);
    assert_int_equal(READ("a.ppm", "P5\n2 1\n255\n\0\177", SCALAR_U8, u8), PRT_E_FORMAT);
    assert_int_equal(READ("a.pnm", "P5\n2 1\n255\n\0\177", SCALAR_U8, u8), PRT_OK);
}

static void samples_are_scaled_by_the_greatest(void **state)
{
    (void)state;
    float f32[4];
    double f64[4];
    uint8_t u8[4];
    uint16_t u16[4];
    int16_t i16[4];
    bool b[4];
    const char wide[] = "P5 4 1 65535 \0\0\x80\0\xff\xff\0\1";
    assert_int_equal(READ("b.pgm", "P2 4 1 100 0 50 100 25", SCALAR_F32, f32), PRT_OK);
    assert_true(f32[0] == 0 && f32[1] == 0.5f && f32[2] == 1 && f32[3] == 0.25f);
    assert_int_equal(READ("b.pgm", "P2 4 1 100 0 50 100 25", SCALAR_U8, u8), PRT_OK);
    assert_true(u8[0] == 0 && u8[1] == 50 && u8[2] == 100 && u8[3] == 25);
    assert_int_equal(READ("b.pgm", "P2 4 1 100 0 50 100 25", SCALAR_BOOL, b), PRT_OK);
    assert_true(!b[0] && b[1] && b[2] && b[3]);
    assert_int_equal(READ("b.pgm", wide, SCALAR_U16, u16), PRT_OK);
    assert_true(u16[0] == 0 && u16[1] == 0x8000 && u16[2] == 65535 && u16[3] == 1);
    assert_int_equal(READ("b.pgm", wide, SCALAR_U8, u8), PRT_OK);
    assert_true(u8[0] == 0 && u8[1] == 128 && u8[2] == 255 && u8[3] == 0);
    assert_int_equal(READ("b.pgm", wide, SCALAR_F64, f64), PRT_OK);
    assert_true(f64[1] == 32768.0 / 65535 && f64[2] == 1);
    assert_int_equal(READ("b.pgm", wide, SCALAR_I16, i16), PRT_E_FORMAT);
}

static void hostile_pgm_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t length;
        enum prt_status status;
    } rows[] = {
#define ROW(text, status) {text, sizeof(text) - 1, status}
        ROW("", PRT_E_TRUNCATED),
        ROW("P", PRT_E_TRUNCATED),
        ROW("P4 1 1 \0", PRT_E_FORMAT),
        ROW("P1 1 1 0", PRT_E_FORMAT),
        ROW("Q5 1 1 255 \0", PRT_E_FORMAT),
        ROW("P\0 1 1 255 \0", PRT_E_FORMAT),
        ROW("P5 -1 1 255 \0", PRT_E_FORMAT),
        ROW("P5 0 1 255 ", PRT_E_FORMAT),
        ROW("P5 1 0 255 ", PRT_E_FORMAT),
        ROW("P5 1 1 0 \0", PRT_E_FORMAT),
        ROW("P5 1 1 65536 \0\0", PRT_E_FORMAT),
        ROW("P5 99999999999999999999 1 255 ", PRT_E_FORMAT),
        ROW("P5 2147483648 1 255 ", PRT_E_FORMAT),
        ROW("P5 2147483647 2147483647 255 ab", PRT_E_TRUNCATED),
        ROW("P6 2147483647 2147483647 65535 ab", PRT_E_TRUNCATED),
        ROW("P5 1 1 255x", PRT_E_FORMAT),
        ROW("P5 1 1 100 \xff", PRT_E_FORMAT),
        ROW("P2 1 1 100 101", PRT_E_FORMAT),
        ROW("P2 1 1 100 x", PRT_E_FORMAT),
        ROW("P5 1 1 255 ab", PRT_E_FORMAT), /* more bytes follow */
        ROW("P2 1 1 255 1 2", PRT_E_FORMAT),
        ROW("P5 # no end", PRT_E_TRUNCATED),
#undef ROW
    };
    uint8_t u8[16];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum prt_status status =
            read_text("h.pgm", rows[i].text, rows[i].length, SCALAR_U8, u8, 16);
        if (status != rows[i].status) print_message("'%s': %s\n", rows[i].text, error.message);
        assert_int_equal(status, rows[i].status);
        assert_non_null(strstr(error.message, "h.pgm"));
    }
}

static void every_prefix_of_a_pgm_is_refused(void **state)
{
    (void)state;
    const uint8_t packets[] = {1, 2, 3, 4, 5, 6};
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("whole.pgm"));
    assert_int_equal(io_write_stream(whole, ",width=3", SCALAR_U8, packets, 6, 6, &error), PRT_OK);
    io_check_prefixes(whole, "cut.pgm", "", SCALAR_U8);
    io_check_flips(whole, "flip.pgm", "", SCALAR_F32);
    io_write_file(whole, "P2 2 2 255\n1 2 3 4\n", 19);
    io_check_flips(whole, "flip.pgm", "", SCALAR_F32);
}

/* --- outputs of both --- */

static void images_round_trip(void **state)
{
    (void)state;
    enum { PACKETS = 3 * 700 * 3 };
    static uint8_t packets[PACKETS], read[PACKETS + 1];
    static const char *const items[] = {",width=700", ",width=700,channels=3", ",width=2100"};
    for (size_t i = 0; i < PACKETS; i++)
        packets[i] = (uint8_t)(i * i >> 3);
    const char *names[] = {"r.pgm", "r.png"};
    for (size_t n = 0; n < 2; n++)
        for (size_t i = 0; i < 3; i++) {
            struct prt_source *source = NULL;
            struct prt_source_information information;
            assert_int_equal(io_write_stream(io_path(names[n]), items[i], SCALAR_U8, packets,
                                             PACKETS, 1000, &error),
                             PRT_OK);
            assert_int_equal(io_read_stream(io_path(names[n]), "", SCALAR_U8, read, PACKETS + 1,
                                            1111, &count, &error),
                             PRT_OK);
            assert_int_equal(count, PACKETS);
            assert_memory_equal(read, packets, PACKETS);
            assert_int_equal(
                io_open_source("in", io_path(names[n]), "", SCALAR_U8, &source, &error), PRT_OK);
            prt_source_information(source, &information);
            assert_int_equal(information.width_packets, i == 2 ? 2100 : 700);
            assert_int_equal(information.channels, i == 1 ? 3 : 1);
            assert_int_equal(information.height_packets, i == 0 ? 9 : 3);
            assert_int_equal(information.packets, PACKETS);
            prt_source_close(source);
        }
}

static void other_packets_become_samples(void **state)
{
    (void)state;
    const float f32[] = {0, 1, 0.5f, -3, 7, 1.0f / 255};
    const bool bools[] = {false, true};
    const int32_t i32[] = {0, 255}, large[] = {0, 256};
    uint8_t u8[6];
    const char *names[] = {"o.pgm", "o.png"};
    for (size_t n = 0; n < 2; n++) {
        const char *name = names[n];
        assert_int_equal(io_write_stream(io_path(name), ",width=6", SCALAR_F32, f32, 6, 6, &error),
                         PRT_OK);
        assert_int_equal(io_read_stream(io_path(name), "", SCALAR_U8, u8, 6, 6, &count, &error),
                         PRT_OK);
        assert_memory_equal(u8, ((uint8_t[]){0, 255, 128, 0, 255, 1}), 6);
        assert_int_equal(
            io_write_stream(io_path(name), ",width=2", SCALAR_BOOL, bools, 2, 2, &error), PRT_OK);
        assert_int_equal(io_read_stream(io_path(name), "", SCALAR_U8, u8, 6, 6, &count, &error),
                         PRT_OK);
        assert_memory_equal(u8, ((uint8_t[]){0, 255}), 2);
        assert_int_equal(io_write_stream(io_path(name), ",width=2", SCALAR_I32, i32, 2, 2, &error),
                         PRT_OK);
        assert_int_equal(
            io_write_stream(io_path(name), ",width=2", SCALAR_I32, large, 2, 2, &error),
            PRT_E_FORMAT);
        assert_non_null(strstr(error.message, "packet 1"));
    }
}

static void images_need_whole_rows(void **state)
{
    (void)state;
    const uint8_t packets[] = {1, 2, 3, 4, 5, 6, 7};
    const char *names[] = {"n.pgm", "n.png"};
    for (size_t n = 0; n < 2; n++) {
        const char *path = io_path(names[n]);
        assert_int_equal(io_write_stream(path, "", SCALAR_U8, packets, 7, 7, &error), PRT_E_USAGE);
        assert_non_null(strstr(error.message, "width=N"));
        assert_int_equal(io_write_stream(path, ",width=3", SCALAR_U8, packets, 7, 7, &error),
                         PRT_E_FORMAT);
        assert_int_equal(io_write_stream(path, ",width=3", SCALAR_U8, packets, 0, 7, &error),
                         PRT_E_FORMAT);
        assert_int_equal(
            io_write_stream(path, ",width=3,channels=2", SCALAR_U8, packets, 6, 6, &error),
            PRT_E_USAGE);
        assert_int_equal(io_write_stream(path, ",width=1", SCALAR_F16, packets, 1, 1, &error),
                         PRT_E_USAGE);
        assert_int_equal(access(path, F_OK), -1);
    }
}

/* --- png --- */

static void every_kind_of_png_is_read(void **state)
{
    (void)state;
    unsigned char samples[8 * 8 * 8];
    uint8_t u8[300];
    uint16_t u16[300];
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (unsigned char)(i * 7 + 3);
    for (int interlace = PNG_INTERLACE_NONE; interlace <= PNG_INTERLACE_ADAM7; interlace++) {
        const char *path = io_path("k.png");
        make_png(path, PNG_COLOR_TYPE_GRAY, 8, interlace, 8, 8, samples, 8);
        assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 300, 5, &count, &error), PRT_OK);
        assert_int_equal(count, 64);
        assert_memory_equal(u8, samples, 64);
        make_png(path, PNG_COLOR_TYPE_RGB, 8, interlace, 8, 8, samples, 24);
        assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 300, 64, &count, &error), PRT_OK);
        assert_int_equal(count, 192);
        assert_memory_equal(u8, samples, 192);
        make_png(path, PNG_COLOR_TYPE_RGB_ALPHA, 8, interlace, 8, 8, samples, 32);
        assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 300, 64, &count, &error), PRT_OK);
        assert_int_equal(count, 192);
        for (size_t i = 0; i < 192; i++)
            assert_int_equal(u8[i], samples[i / 3 * 4 + i % 3]);
        make_png(path, PNG_COLOR_TYPE_GRAY, 1, interlace, 8, 8, samples, 1);
        assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 300, 64, &count, &error), PRT_OK);
        assert_int_equal(count, 64);
        for (size_t i = 0; i < 64; i++)
            assert_int_equal(u8[i], (samples[i / 8] >> (7 - i % 8) & 1) * 255);
        make_png(path, PNG_COLOR_TYPE_PALETTE, 2, interlace, 8, 8, samples, 2);
        assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 300, 64, &count, &error), PRT_OK);
        assert_int_equal(count, 192);
        for (size_t i = 0; i < 192; i++) {
            size_t pixel = i / 3, index = samples[pixel / 4] >> (6 - pixel % 4 * 2) & 3;
            assert_int_equal(u8[i], index * 3 + i % 3 + 1);
        }
        unsigned char indices[64];
        for (size_t i = 0; i < 64; i++)
            indices[i] = samples[i] & 3;
        make_png(path, PNG_COLOR_TYPE_PALETTE, 8, interlace, 8, 8, indices, 8);
        assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 300, 64, &count, &error), PRT_OK);
        assert_int_equal(count, 192);
        for (size_t i = 0; i < 192; i++)
            assert_int_equal(u8[i], indices[i / 3] * 3 + i % 3 + 1);
        make_png(path, PNG_COLOR_TYPE_GRAY, 16, interlace, 8, 8, samples, 16);
        assert_int_equal(io_read_stream(path, "", SCALAR_U16, u16, 300, 64, &count, &error),
                         PRT_OK);
        assert_int_equal(count, 64);
        for (size_t i = 0; i < 64; i++)
            assert_int_equal(u16[i], samples[2 * i] << 8 | samples[2 * i + 1]);
        assert_int_equal(io_read_stream(path, "", SCALAR_I16, u16, 300, 64, &count, &error),
                         PRT_E_FORMAT);
    }
}

static void every_prefix_of_a_png_is_refused(void **state)
{
    (void)state;
    unsigned char samples[192];
    char whole[160];
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (unsigned char)(i * i);
    snprintf(whole, sizeof whole, "%s", io_path("whole.png"));
    for (int interlace = PNG_INTERLACE_NONE; interlace <= PNG_INTERLACE_ADAM7; interlace++) {
        make_png(whole, PNG_COLOR_TYPE_RGB, 8, interlace, 8, 8, samples, 24);
        io_check_prefixes(whole, "cut.png", "", SCALAR_U8);
        io_check_flips(whole, "flip.png", "", SCALAR_F32);
    }
}

/* IHDR with these fields and a right checksum, and nothing after it. */
static enum prt_status read_ihdr(uint32_t width, uint32_t height, int depth, int color,
                                 int interlace)
{
    unsigned char bytes[33] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                               0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    uint8_t u8[4];
    png_save_uint_32(bytes + 16, width);
    png_save_uint_32(bytes + 20, height);
    bytes[24] = (unsigned char)depth;
    bytes[25] = (unsigned char)color;
    bytes[28] = (unsigned char)interlace;
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 12; i < 29; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320 & (0u - (crc & 1)));
    }
    png_save_uint_32(bytes + 29, ~crc);
    io_write_file(io_path("i.png"), bytes, sizeof bytes);
    return io_read_stream(io_path("i.png"), "", SCALAR_U8, u8, 4, 4, &count, &error);
}

static void hostile_png_headers_are_refused(void **state)
{
    (void)state;
    assert_int_equal(read_ihdr(8, 8, 8, 0, 0), PRT_E_TRUNCATED); /* the header is good */
    assert_int_equal(read_ihdr(0, 8, 8, 0, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(8, 0, 8, 0, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(0xFFFFFFFF, 8, 8, 0, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(0x7FFFFFFF, 0x7FFFFFFF, 16, 6, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(8, 8, 7, 0, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(8, 8, 255, 0, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(8, 8, 8, 1, 0), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(8, 8, 8, 0, 9), PRT_E_FORMAT);
    assert_int_equal(read_ihdr(8, 8, 4, 2, 0), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "i.png"));
}

static void a_giant_interlaced_png_is_refused(void **state)
{
    (void)state;
    static unsigned char row[1];
    uint8_t u8[4];
    const char *path = io_path("giant.png");
    /* a small interlaced image whose IHDR then says 900000 x 900000 */
    make_png(path, PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_ADAM7, 1, 1, row, 1);
    size_t length;
    unsigned char *bytes = io_read_file(path, &length);
    png_save_uint_32(bytes + 16, 900000);
    png_save_uint_32(bytes + 20, 900000);
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 12; i < 29; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320 & (0u - (crc & 1)));
    }
    png_save_uint_32(bytes + 29, ~crc);
    io_write_file(path, bytes, length);
    assert_int_equal(io_read_stream(path, "", SCALAR_U8, u8, 4, 4, &count, &error), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "interlaced"));
    bytes[28] = 0; /* not interlaced: one row at a time, until the data end */
    crc = 0xFFFFFFFF;
    for (size_t i = 12; i < 29; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320 & (0u - (crc & 1)));
    }
    png_save_uint_32(bytes + 29, ~crc);
    io_write_file(path, bytes, length);
    assert_int_not_equal(io_read_stream(path, "", SCALAR_U8, u8, 4, 4, &count, &error), PRT_OK);
    free(bytes);
}

static void comments_of_a_pgm_end_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum prt_status status;
    } rows[] = {{"P2# a\n2# 9 9\n1 255\n7 8\n", PRT_OK},
                {"P2# a\r2# 9 9\r1 255\r7 8\r", PRT_OK},
                {"P2 2 1 255\n7 # 9\n8", PRT_OK},
                {"P", PRT_E_TRUNCATED},
                {"", PRT_E_TRUNCATED},
                {"x", PRT_E_FORMAT},
                {"P2# 2 1 255 7 8", PRT_E_TRUNCATED},
                {"P2 2 1 255\n7 8 9", PRT_E_FORMAT},
                {"P2 2 1 255\n7", PRT_E_TRUNCATED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t read[4];
        enum prt_status status =
            read_text("c.pgm", rows[i].text, strlen(rows[i].text), SCALAR_U8, read, 4);
        if (status != rows[i].status) print_message("%s: %s\n", rows[i].text, error.message);
        assert_int_equal(status, rows[i].status);
        if (status == PRT_OK) assert_true(count == 2 && read[0] == 7 && read[1] == 8);
    }
}

/* 2^31 - 1 a side, three channels: the product has room in 64 bits, and the file does not hold it. */
static void the_largest_sides_of_a_pgm_do_not_overflow(void **state)
{
    (void)state;
    struct prt_source *source = NULL;
    struct prt_source_information information;
    static const char text[] = "P6 2147483647 2147483647 255\n";
    uint8_t read[4];
    assert_int_equal(read_text("l.ppm", text, sizeof text - 1, SCALAR_U8, read, 4),
                     PRT_E_TRUNCATED);
    assert_int_equal(io_open_source("in", io_path("l.ppm"), "", SCALAR_U8, &source, &error),
                     PRT_OK);
    prt_source_information(source, &information);
    assert_true(information.packets == UINT64_C(3) * 2147483647 * 2147483647);
    prt_source_close(source);
}

/* A vector's lanes, or the fields of a struct of one type, are the channels of a file. */
static void channels_are_those_of_a_packet(void **state)
{
    (void)state;
    static const struct prt_field_information lanes = {"", SCALAR_U8, 0, 3, "3", 3};
    static const struct prt_field_information rgb[] = {{"r", SCALAR_U8, 0, 1, "", 1},
                                                       {"g", SCALAR_U8, 1, 1, "", 1},
                                                       {"b", SCALAR_U8, 2, 1, "", 1}};
    static const struct prt_field_information uneven[] = {{"r", SCALAR_U8, 0, 1, "", 1},
                                                          {"gb", SCALAR_U8, 1, 2, "2", 1}};
    static const struct prt_field_information two = {"", SCALAR_U8, 0, 2, "2", 2};
    static const struct prt_packet vector = {"u8x3", 3, &lanes, SCALAR_U8, 1};
    static const struct prt_packet fields = {"rgb", 3, rgb, SCALAR_U8, 3};
    static const struct prt_packet none = {"u8[3]", 3, uneven, SCALAR_U8, 2};
    static const struct prt_packet pair = {"u8x2", 2, &two, SCALAR_U8, 1};
    static const struct {
        const struct prt_packet *packet;
        const char *text, *message; /* NULL: it is read, or written */
    } rows[] = {
        {&vector, "in=c.ppm", NULL},
        {&fields, "in=c.ppm", NULL},
        {&none, "in=c.ppm", NULL},
        {&none, "in=g.pgm", NULL},
        {&vector, "in=c.ppm,channels=3", NULL},
        {&vector, "in=c.ppm,channels=1", "the file has 3 channels, not 1: leave channels= out"},
        {&none, "in=g.pgm,channels=3", "the file has 1 channel, not 3: leave channels= out"},
        {&vector, "in=g.pgm", "the file has 1 channel, a packet of type u8x3 holds 3"},
        {&pair, "in=c.ppm", "the file has 3 channels, a packet of type u8x2 holds 2"},
        {&vector, "out=o.png,width=1,channels=3", NULL},
        {&fields, "out=o.ppm,width=1", NULL},
        {&none, "out=o.pgm,width=3,channels=1", NULL},
        {&vector, "out=o.png,width=1,channels=1",
         "channels= says 1 channel, and a packet of type u8x3 holds 3: leave it out"},
        {&pair, "out=o.wav,channels=3",
         "channels= says 3 channels, and a packet of type u8x2 holds 2: leave it out"},
        {&pair, "out=o.ppm,width=1",
         "ppm has 3 channels, and a packet of type u8x2 holds 2: no image can have these"},
    };
    io_write_file(io_path("c.ppm"), "P6 1 1 255\nabc", 14);
    io_write_file(io_path("g.pgm"), "P5 3 1 255\nabc", 14);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prt_port_spec spec;
        struct prt_source *source = NULL;
        struct prt_sink *sink = NULL;
        char text[512];
        const char *name = strchr(rows[i].text, '=') + 1;
        snprintf(text, sizeof text, "%.*s%s", (int)(name - rows[i].text), rows[i].text,
                 io_path(name));
        assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
        enum prt_status status =
            rows[i].text[0] == 'i'
                ? prt_source_open_packets(&spec, rows[i].packet, NULL, &source, &error)
                : prt_sink_open_packets(&spec, rows[i].packet, NULL, &sink, &error);
        if ((status == PRT_OK) != (rows[i].message == NULL))
            print_message("%s: %s\n", rows[i].text, error.message);
        assert_true((status == PRT_OK) == (rows[i].message == NULL));
        if (status != PRT_OK) assert_non_null(strstr(error.message, rows[i].message));
        prt_source_close(source);
        prt_sink_close(sink);
        prt_port_spec_free(&spec);
    }
}

static void pictures_have_sides_that_their_headers_can_say(void **state)
{
    (void)state;
    uint32_t height;
    const double grey[] = {0, 0.5, 1, 2};
    int8_t read[5];
    size_t got;
    assert_int_equal(prt_io_image_height("p", UINT64_C(1) << 32, 1, 1, &height, &error),
                     PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "too many rows"));
    assert_int_equal(
        io_write_stream(io_path("w.png"), ",width=1000001", SCALAR_F64, grey, 4, 4, &error),
        PRT_E_USAGE);
    assert_non_null(strstr(error.message, "a png row has at most 1000000 pixels"));
    assert_int_equal(io_write_stream(io_path("d.pgm"), ",width=2", SCALAR_F64, grey, 4, 4, &error),
                     PRT_OK);
    uint8_t bytes[5];
    assert_int_equal(io_read_stream(io_path("d.pgm"), "", SCALAR_U8, bytes, 5, 5, &got, &error),
                     PRT_OK);
    assert_memory_equal(bytes, ((uint8_t[]){0, 128, 255, 255}), 4);
    assert_int_equal(io_read_stream(io_path("d.pgm"), "", SCALAR_I8, read, 5, 5, &got, &error),
                     PRT_E_FORMAT);
    io_write_file(io_path("e.pgm"), "P2 2 1 127 7 127", 16);
    assert_int_equal(io_read_stream(io_path("e.pgm"), "", SCALAR_I8, read, 5, 5, &got, &error),
                     PRT_OK);
    assert_true(got == 2 && read[0] == 7 && read[1] == 127);
}

IO_TEST_MAIN("io_image", cmocka_unit_test(comments_of_a_pgm_end_with_their_line),
             cmocka_unit_test(the_largest_sides_of_a_pgm_do_not_overflow),
             cmocka_unit_test(channels_are_those_of_a_packet),
             cmocka_unit_test(the_four_kinds_are_read),
             cmocka_unit_test(samples_are_scaled_by_the_greatest),
             cmocka_unit_test(hostile_pgm_is_refused),
             cmocka_unit_test(every_prefix_of_a_pgm_is_refused),
             cmocka_unit_test(images_round_trip), cmocka_unit_test(other_packets_become_samples),
             cmocka_unit_test(images_need_whole_rows), cmocka_unit_test(every_kind_of_png_is_read),
             cmocka_unit_test(every_prefix_of_a_png_is_refused),
             cmocka_unit_test(hostile_png_headers_are_refused),
             cmocka_unit_test(pictures_have_sides_that_their_headers_can_say),
             cmocka_unit_test(a_giant_interlaced_png_is_refused))
