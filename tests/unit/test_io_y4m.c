/* SPDX-License-Identifier: MIT */
/* y4m: samples of every layout, what is refused, what is written. */
#include "tests/test.h"
#include "tests/unit/test_io.h"

static struct prt_error error;
static const struct prt_field_information pixel_field = {"", SCALAR_U8, 0, 3, "3", 3};
static const struct prt_packet grey = {"u8", 1, NULL, SCALAR_U8, 0};
static const struct prt_packet colour = {"u8x3", 3, &pixel_field, SCALAR_U8, 1};
static const struct prt_packet narrow = {"i8", 1, NULL, SCALAR_I8, 0};

static unsigned char got[1 << 12];
static size_t got_count;
static struct prt_source_information information;

static enum prt_status read_bytes(const struct prt_packet *packet, const char *items,
                                  const void *bytes, size_t length)
{
    struct prt_port_spec spec;
    struct prt_source *source = NULL;
    char word[512];
    io_write_file(io_path("a.y4m"), bytes, length);
    snprintf(word, sizeof word, "x=%s%s", io_path("a.y4m"), items);
    error = (struct prt_error){PRT_OK, 0, ""};
    got_count = 0;
    enum prt_status status = prt_port_spec_parse(word, &spec, &error);
    if (status != PRT_OK) return status;
    status = prt_source_open_packets(&spec, packet, NULL, &source, &error);
    if (status == PRT_OK) prt_source_information(source, &information);
    for (size_t count = 1; status == PRT_OK && count > 0; got_count += count)
        status = prt_source_read(source, got + got_count, 7, &count, &error); /* odd pieces */
    prt_source_close(source);
    prt_port_spec_free(&spec);
    return status;
}

/* A header, and frames whose samples count up from 0. */
static size_t make_video(unsigned char *bytes, const char *words, size_t frames, size_t samples)
{
    size_t used = (size_t)sprintf((char *)bytes, "YUV4MPEG2 %s\n", words);
    for (size_t f = 0; f < frames; f++) {
        used += (size_t)sprintf((char *)bytes + used, f == 0 ? "FRAME\n" : "FRAME Ip\n");
        for (size_t i = 0; i < samples; i++)
            bytes[used++] = (unsigned char)(f * samples + i);
    }
    return used;
}

/* The samples of a picture of 3x3 pixels, frame by frame. */
static void reads(const char *words, size_t samples, const struct prt_packet *packet,
                  const unsigned char *wanted, size_t count)
{
    unsigned char bytes[512];
    size_t length = make_video(bytes, words, 2, samples);
    if (read_bytes(packet, "", bytes, length) != PRT_OK) print_message("%s\n", error.message);
    assert_int_equal(error.status, PRT_OK);
    assert_int_equal(got_count, 2 * count);
    assert_memory_equal(got, wanted, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(got[count + i], wanted[i] + samples);
    assert_int_equal(information.width_packets, 3);
    assert_int_equal(information.height_packets, 3);
}

static void samples_come_pixel_by_pixel(void **state)
{
    (void)state;
    static const unsigned char mono[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const unsigned char full[] = {0,  9, 18, 1,  10, 19, 2,  11, 20, 3,  12, 21, 4, 13,
                                         22, 5, 14, 23, 6,  15, 24, 7,  16, 25, 8,  17, 26};
    static const unsigned char halves[] = {0,  9, 15, 1,  9, 15, 2,  10, 16, 3,  11, 17, 4, 11,
                                           17, 5, 12, 18, 6, 13, 19, 7,  13, 19, 8,  14, 20};
    static const unsigned char quarters[] = {0,  9, 13, 1,  9, 13, 2,  10, 14, 3,  9, 13, 4, 9,
                                             13, 5, 10, 14, 6, 11, 15, 7,  11, 15, 8, 12, 16};
    reads("W3 H3 F25:1 Ip A1:1 Cmono", 9, &grey, mono, sizeof mono);
    assert_true(information.rate_hertz == 25 && information.rate_divisor == 1);
    reads("W3 H3 F30000:1001 C444 XCOLORRANGE=LIMITED", 27, &colour, full, sizeof full);
    assert_true(information.rate_hertz == 30000 && information.rate_divisor == 1001);
    reads("C422 H3 I? W3 F0:0", 21, &colour, halves, sizeof halves);
    assert_true(information.rate_hertz == 0 && information.rate_divisor == 1);
    reads("W3 H3 C420paldv", 17, &colour, quarters, sizeof quarters);
    reads("W3 H3", 17, &colour, quarters, sizeof quarters);
}

static void refuses(const struct prt_packet *packet, const char *items, const char *words,
                    const char *message)
{
    unsigned char bytes[512];
    assert_int_not_equal(read_bytes(packet, items, bytes, make_video(bytes, words, 1, 9)), PRT_OK);
    if (strstr(error.message, message) == NULL) print_message("%s\n%s\n", words, error.message);
    assert_non_null(strstr(error.message, message));
}

static void headers_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    refuses(&grey, "", "W3", "the header has no width or no height");
    refuses(&grey, "", "W0 H3", "y4m header: 'W0' is wrong");
    refuses(&grey, "", "W3 H3x", "'H3x' is wrong");
    refuses(&grey, "", "W3 H99999999999", "'H99999999999' is wrong");
    refuses(&grey, "", "W3 H3 F25", "'F25' is wrong");
    refuses(&grey, "", "W3 H3 F25:0", "'F25:0' is wrong");
    refuses(&grey, "", "W3 H3 It Cmono", "interlaced video is not read");
    refuses(&grey, "", "W3 H3 C420p10", "y4m has samples as '420p10'");
    refuses(&grey, "", "W2147483647 H2147483647 Cmono", "has more than 134217728 bytes");
    refuses(&narrow, "", "W3 H3 Cmono", "samples up to 255 do not fit a port of type i8");
    refuses(&grey, ",rate=24", "W3 H3 F25:1 Cmono", "the file has 25/1 frames a second, not 24/1");
    refuses(&grey, ",rate=24/0", "W3 H3 F25:1 Cmono", "rate= takes a whole number from 1");
    refuses(&grey, ",height=4", "W3 H3 Cmono", "the video is 3 pixels high, not 4");
    refuses(&grey, ",width=4", "W3 H3 Cmono", "the image is 3 pixels wide, not 4");
    refuses(&colour, "", "W3 H3 Cmono", "the file has 1 channel, a packet of type u8x3 holds 3");
    refuses(&grey, ",raw,height=3", "W3 H3 Cmono", "'height=' belongs to y4m, and this is raw");
    refuses(&grey, ",wav,rate=3/2", "W3 H3 Cmono", "'rate=N/M' belongs to y4m, and this is wav");
}

static void refuses_bytes(const char *bytes, size_t length, enum prt_status wanted,
                          const char *message)
{
    assert_int_equal(read_bytes(&grey, "", bytes, length), wanted);
    if (strstr(error.message, message) == NULL) print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, message));
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const char two[] = "YUV4MPEG2 W2 H1 Cmono\nFRAME\nabFRAME\ncd";
    static char endless[3000] = "YUV4MPEG2 ";
    memset(endless + 10, 'X', sizeof endless - 10);
    refuses_bytes("", 0, PRT_E_TRUNCATED, "and has no y4m header");
    refuses_bytes("RIFF", 4, PRT_E_FORMAT, "byte 0: 'YUV4MPEG2' is expected");
    refuses_bytes("YUV4MPEG2", 9, PRT_E_TRUNCATED, "inside a line of y4m");
    refuses_bytes("YUV4MPEG2x W2 H1\n", 17, PRT_E_FORMAT, "'YUV4MPEG2' is expected");
    refuses_bytes("YUV4MPEG2 W2\0H1\n", 16, PRT_E_FORMAT, "a line has a NUL");
    refuses_bytes(endless, sizeof endless, PRT_E_FORMAT, "the line has no end");
    refuses_bytes(two, sizeof two - 2, PRT_E_TRUNCATED, "");
    assert_int_equal(got_count, 2); /* the first frame */
    refuses_bytes(two, sizeof two - 5, PRT_E_TRUNCATED, "inside a line of y4m");
    refuses_bytes("YUV4MPEG2 W2 H1 Cmono\nFRAME\nabcFRAME\ncd", 39, PRT_E_FORMAT,
                  "byte 30: 'FRAME' is expected");
}

static enum prt_status write_bytes(const struct prt_packet *packet, const char *items,
                                   const void *samples, size_t count)
{
    struct prt_port_spec spec;
    struct prt_sink *sink = NULL;
    char word[512];
    snprintf(word, sizeof word, "y=%s%s", io_path("b.y4m"), items);
    assert_int_equal(prt_port_spec_parse(word, &spec, &error), PRT_OK);
    enum prt_status status = prt_sink_open_packets(&spec, packet, NULL, &sink, &error);
    for (size_t i = 0; status == PRT_OK && i < count; i += 5)
        status =
            prt_sink_write(sink, (const char *)samples + i, count - i < 5 ? count - i : 5, &error);
    if (status == PRT_OK) status = prt_sink_finish(sink, &error);
    prt_sink_close(sink);
    prt_port_spec_free(&spec);
    return status;
}

static void expect_file(const char *wanted, size_t length)
{
    char found[512];
    FILE *file = fopen(io_path("b.y4m"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(found, 1, sizeof found, file), length);
    (void)fclose(file);
    assert_memory_equal(found, wanted, length);
}

static void videos_are_written_as_mono_or_444(void **state)
{
    (void)state;
    static const char mono[] = "YUV4MPEG2 W2 H2 F25:1 Ip A1:1 Cmono\nFRAME\nabcdFRAME\nefgh";
    static const char full[] =
        "YUV4MPEG2 W2 H1 F30000:1001 Ip A1:1 C444\nFRAME\nadbecfFRAME\ngjhkil";
    assert_int_equal(write_bytes(&grey, ",width=2,height=2", "abcdefgh", 8), PRT_OK);
    expect_file(mono, sizeof mono - 1);
    assert_int_equal(write_bytes(&colour, ",width=2,height=1,rate=30000/1001", "abcdefghijkl", 12),
                     PRT_OK);
    expect_file(full, sizeof full - 1);
    assert_int_equal(
        write_bytes(&grey, ",width=2,height=1,channels=3,rate=30000/1001", "abcdefghijkl", 12),
        PRT_OK);
    expect_file(full, sizeof full - 1);
}

static void videos_that_cannot_be_written_are_refused(void **state)
{
    (void)state;
    assert_int_equal(write_bytes(&grey, ",width=2", "", 0), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "a video needs the height of its frames: add height=N"));
    assert_int_equal(write_bytes(&grey, ",height=2", "", 0), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "an image needs its width: add width=N"));
    assert_int_equal(write_bytes(&grey, ",width=2,height=2,channels=2", "", 0), PRT_E_USAGE);
    assert_int_equal(write_bytes(&grey, ",width=100000,height=100000", "", 0), PRT_E_FORMAT);
    assert_int_equal(write_bytes(&grey, ",width=2,height=2", "abcdef", 6), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "the last frame has 2 of 4 samples"));
    assert_int_equal(write_bytes(&narrow, ",width=2,height=1", "ab\xff", 3), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "packet 2 is outside 0 to 255, the samples of a video"));
}

TEST_MAIN("io_y4m", cmocka_unit_test(samples_come_pixel_by_pixel),
          cmocka_unit_test(headers_that_cannot_be_read_are_refused),
          cmocka_unit_test(damaged_files_are_refused),
          cmocka_unit_test(videos_are_written_as_mono_or_444),
          cmocka_unit_test(videos_that_cannot_be_written_are_refused))
