/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: wav. */
#include "tests/test.h"

#include "tests/unit/test_io.h"
#include "tools/piperun/io/sound_header.h"

#include <math.h>
#include <sndfile.h>

static struct prt_error error;
static size_t count;

/* Makes a file with libsndfile, independently of the sink. */
static void make_wav(const char *path, int format, int channels, const double *samples,
                     size_t frames)
{
    SF_INFO info = {.samplerate = 8000, .channels = channels, .format = format};
    SNDFILE *file = sf_open(path, SFM_WRITE, &info);
    assert_non_null(file);
    assert_int_equal(sf_writef_double(file, samples, (sf_count_t)frames), (sf_count_t)frames);
    assert_int_equal(sf_close(file), 0);
}

static void samples_are_scaled_for_float_ports(void **state)
{
    (void)state;
    const double samples[] = {0, 0.5, -0.5, -1.0, 0.25, -0.125};
    const int formats[] = {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24,
                           SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,  SF_FORMAT_DOUBLE};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        float floats[8];
        double doubles[8];
        make_wav(io_path("a.wav"), SF_FORMAT_WAV | formats[f], 1, samples, 6);
        assert_int_equal(
            io_read_stream(io_path("a.wav"), "", SCALAR_F32, floats, 8, 4, &count, &error), PRT_OK);
        assert_int_equal(count, 6);
        assert_int_equal(
            io_read_stream(io_path("a.wav"), "", SCALAR_F64, doubles, 8, 1, &count, &error),
            PRT_OK);
        assert_int_equal(count, 6);
        for (size_t i = 0; i < 6; i++) {
            /* libsndfile writes 0x7fff.. for 1.0: the scale is off by 2^-(bits-1) */
            assert_true(fabs(doubles[i] - samples[i]) < 0.009);
            assert_true((double)floats[i] == doubles[i] ||
                        fabs((double)floats[i] - doubles[i]) < 1e-7);
        }
    }
}

static void integer_ports_get_the_stored_values(void **state)
{
    (void)state;
    static const unsigned char pcm16[] = {
        'R', 'I', 'F', 'F', 42,  0,   0, 0,    'W',  'A', 'V',  'E',  'f',  'm',  't',  ' ', 16,
        0,   0,   0,   1,   0,   1,   0, 0x40, 0x1f, 0,   0,    0x80, 0x3e, 0,    0,    2,   0,
        16,  0,   'd', 'a', 't', 'a', 6, 0,    0,    0,   0x00, 0x80, 0xff, 0x7f, 0x01, 0x00};
    static const unsigned char pcm8[] = {
        'R', 'I', 'F', 'F', 40,  0,   0,   0,   'W',  'A',  'V', 'E', 'f',  'm',  't', ' ',
        16,  0,   0,   0,   1,   0,   1,   0,   0x40, 0x1f, 0,   0,   0x40, 0x1f, 0,   0,
        1,   0,   8,   0,   'd', 'a', 't', 'a', 4,    0,    0,   0,   0,    127,  128, 255};
    int16_t i16[4];
    int64_t i64[4];
    int8_t i8[4];
    uint8_t u8[4];
    float f32[4];
    io_write_file(io_path("b.wav"), pcm16, sizeof pcm16);
    assert_int_equal(io_read_stream(io_path("b.wav"), "", SCALAR_I16, i16, 4, 4, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 3);
    assert_true(i16[0] == -32768 && i16[1] == 32767 && i16[2] == 1);
    assert_int_equal(io_read_stream(io_path("b.wav"), "", SCALAR_I64, i64, 4, 4, &count, &error),
                     PRT_OK);
    assert_true(i64[0] == -32768 && i64[1] == 32767 && i64[2] == 1);
    assert_int_equal(io_read_stream(io_path("b.wav"), "", SCALAR_F32, f32, 4, 4, &count, &error),
                     PRT_OK);
    assert_true(f32[0] == -1.0f && f32[1] == 32767.0f / 32768 && f32[2] == 1.0f / 32768);
    io_write_file(io_path("c.wav"), pcm8, sizeof pcm8);
    assert_int_equal(io_read_stream(io_path("c.wav"), "", SCALAR_U8, u8, 4, 4, &count, &error),
                     PRT_OK);
    assert_memory_equal(u8, ((uint8_t[]){0, 127, 128, 255}), 4);
    assert_int_equal(io_read_stream(io_path("c.wav"), "", SCALAR_I8, i8, 4, 4, &count, &error),
                     PRT_OK);
    assert_memory_equal(i8, ((int8_t[]){-128, -1, 0, 127}), 4);
    const enum scalar_type refused[] = {SCALAR_I8, SCALAR_U8, SCALAR_U16, SCALAR_U32, SCALAR_BOOL};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(
            io_read_stream(io_path("b.wav"), "", refused[i], i64, 4, 4, &count, &error),
            PRT_E_FORMAT);
    make_wav(io_path("d.wav"), SF_FORMAT_WAV | SF_FORMAT_FLOAT, 1, (double[]){0.5}, 1);
    assert_int_equal(io_read_stream(io_path("d.wav"), "", SCALAR_I32, i64, 4, 4, &count, &error),
                     PRT_E_FORMAT);
}

static void channels_are_interleaved(void **state)
{
    (void)state;
    const double samples[] = {0.5, -0.5, 0.25, -0.25, 0.125, -0.125};
    double read[8];
    struct prt_source *source = NULL;
    struct prt_source_information information;
    make_wav(io_path("s.wav"), SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 2, samples, 3);
    for (size_t step = 1; step < 8; step += 3) {
        assert_int_equal(io_read_stream(io_path("s.wav"), ",channels=2,rate=8000", SCALAR_F64, read,
                                        8, step, &count, &error),
                         PRT_OK);
        assert_int_equal(count, 6);
        assert_memory_equal(read, samples, sizeof samples);
    }
    assert_int_equal(
        io_open_source("in", io_path("s.wav"), ",channels=2", SCALAR_F64, &source, &error), PRT_OK);
    prt_source_information(source, &information);
    assert_int_equal(information.channels, 2);
    assert_int_equal(information.rate_hertz, 8000);
    assert_int_equal(information.packets, 6);
    prt_source_close(source);
    assert_int_equal(
        io_open_source("in", io_path("s.wav"), ",channels=1", SCALAR_F64, &source, &error),
        PRT_E_FORMAT);
}

static void what_a_file_says_is_not_said_otherwise(void **state)
{
    (void)state;
    static const struct {
        const char *file, *items, *message;
    } rows[] = {
        {"r.wav", ",rate=44100", "the file has 8000 Hz, not 44100"},
        {"r.wav", ",width=3", "'width=' belongs to pgm, ppm, png and y4m, and this is wav"},
        {"r.pgm", ",width=3", "the image is 2 pixels wide, not 3"},
        {"r.pgm", ",rate=8000", "'rate=' belongs to sound and y4m, and this is pgm"},
        {"r.csv", ",channels=2", "'channels=' belongs to sound and images, and this is csv"}};
    struct prt_source *source = NULL;
    make_wav(io_path("r.wav"), SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1, (double[]){0.5}, 1);
    io_write_file(io_path("r.pgm"), "P2 2 1 255 7 8", 14);
    io_write_file(io_path("r.csv"), "1\n", 2);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_not_equal(
            io_open_source("in", io_path(rows[i].file), rows[i].items, SCALAR_F32, &source, &error),
            PRT_OK);
        assert_non_null(strstr(error.message, rows[i].message));
    }
    assert_int_equal(
        io_open_source("in", io_path("r.pgm"), ",width=2", SCALAR_F32, &source, &error), PRT_OK);
    prt_source_close(source);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    const int16_t i16[] = {-32768, -1, 0, 1, 32767};
    const uint8_t u8[] = {0, 1, 128, 255, 7};
    const int32_t i32[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    const float f32[] = {-2.5f, 0, 1e-30f, 0.3f, 1};
    const double f64[] = {-2.5, 0, 1e-300, 0.3, 1};
    const struct {
        enum scalar_type packet;
        const void *packets;
    } rows[] = {{SCALAR_I16, i16},
                {SCALAR_U8, u8},
                {SCALAR_I32, i32},
                {SCALAR_F32, f32},
                {SCALAR_F64, f64}};
    for (size_t i = 0; i < 5; i++) {
        unsigned char read[64];
        SF_INFO info = {0};
        assert_int_equal(io_write_stream(io_path("w.wav"), ",rate=11025", rows[i].packet,
                                         rows[i].packets, 5, 2, &error),
                         PRT_OK);
        assert_int_equal(
            io_read_stream(io_path("w.wav"), "", rows[i].packet, read, 6, 6, &count, &error),
            PRT_OK);
        assert_int_equal(count, 5);
        assert_memory_equal(read, rows[i].packets, 5 * scalar_width_bytes(rows[i].packet));
        SNDFILE *file = sf_open(io_path("w.wav"), SFM_READ, &info);
        assert_non_null(file);
        assert_int_equal(info.frames, 5);
        assert_int_equal(info.samplerate, 11025);
        sf_close(file);
    }
}

static void float_packets_become_16_bits_when_asked(void **state)
{
    (void)state;
    const float packets[] = {0, 0.5f, -1, 1, 2, -3, 1.5f / 32768, 2.5f / 32768, NAN};
    const int16_t expected[] = {0, 16384, -32768, 32767, 32767, -32768, 2, 2, 0};
    const int16_t back[] = {-32768, 16384};
    int16_t read[10];
    float floats[2];
    assert_int_equal(
        io_write_stream(io_path("x.wav"), ",wav:s16", SCALAR_F32, packets, 9, 4, &error), PRT_OK);
    assert_int_equal(io_read_stream(io_path("x.wav"), "", SCALAR_I16, read, 10, 10, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 9);
    assert_memory_equal(read, expected, sizeof expected);
    assert_int_equal(io_write_stream(io_path("x.wav"), ",wav:f32", SCALAR_I16, back, 2, 2, &error),
                     PRT_OK);
    assert_int_equal(io_read_stream(io_path("x.wav"), "", SCALAR_F32, floats, 2, 2, &count, &error),
                     PRT_OK);
    assert_true(floats[0] == -1.0f && floats[1] == 0.5f);
}

static void outputs_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const int32_t packets[] = {1, 2, 40000};
    const enum scalar_type none[] = {SCALAR_BOOL, SCALAR_I8, SCALAR_U16, SCALAR_I64};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(io_write_stream(io_path("n.wav"), "", none[i], packets, 1, 1, &error),
                         PRT_E_USAGE);
    assert_int_equal(
        io_write_stream(io_path("n.wav"), ",wav:f32", SCALAR_U8, packets, 1, 1, &error),
        PRT_E_USAGE);
    assert_int_equal(
        io_write_stream(io_path("n.wav"), ",wav:s16", SCALAR_I32, packets, 3, 3, &error),
        PRT_E_FORMAT);
    assert_int_equal(
        io_write_stream(io_path("n.wav"), ",channels=2", SCALAR_I32, packets, 3, 3, &error),
        PRT_E_FORMAT);
    assert_int_equal(access(io_path("n.wav"), F_OK), -1);
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    const int16_t i16[] = {1, 2, 3, 4, 5, 6};
    const float f32[] = {1, 2, 3, 4, 5, 6};
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("whole.wav"));
    assert_int_equal(io_write_stream(whole, "", SCALAR_I16, i16, 6, 6, &error), PRT_OK);
    io_check_prefixes(whole, "cut.wav", "", SCALAR_F32);
    assert_int_equal(io_write_stream(whole, "", SCALAR_F32, f32, 6, 6, &error), PRT_OK);
    io_check_prefixes(whole, "cut.wav", "", SCALAR_F64);
    make_wav(whole, SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 2, (double[]){.1, .2, .3, .4}, 2);
    io_check_prefixes(whole, "cut.wav", "", SCALAR_I32);
    make_wav(whole, SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 1, (double[]){.1, .2, .3, .4}, 4);
    io_check_prefixes(whole, "cut.wav", "", SCALAR_I16);
}

static void no_changed_byte_is_a_crash(void **state)
{
    (void)state;
    const int16_t i16[] = {1, 2, 3, 4, 5, 6};
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("whole.wav"));
    assert_int_equal(io_write_stream(whole, "", SCALAR_I16, i16, 6, 6, &error), PRT_OK);
    io_check_flips(whole, "flip.wav", "", SCALAR_F32);
    make_wav(whole, SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 1, (double[64]){.1}, 64);
    io_check_flips(whole, "flip.wav", "", SCALAR_F32);
}

static void a_part_of_a_frame_is_reported(void **state)
{
    (void)state;
    const int16_t i16[] = {1, 2, 3};
    int16_t read[4];
    size_t length;
    assert_int_equal(io_write_stream(io_path("q.wav"), "", SCALAR_I16, i16, 3, 3, &error), PRT_OK);
    unsigned char *bytes = io_read_file(io_path("q.wav"), &length);
    bytes[40] = 5; /* data says 5 bytes: two packets and a half */
    bytes[length - 1] = 0;
    io_write_file(io_path("q.wav"), bytes, length);
    assert_int_equal(io_read_stream(io_path("q.wav"), "", SCALAR_I16, read, 4, 4, &count, &error),
                     PRT_E_TRUNCATED);
    assert_int_equal(count, 2);
    assert_int_equal(error.offset, 48);
    free(bytes);
}

/* Else what is left over of a frame that libsndfile does not read would be dropped in silence. */
static void a_block_size_that_is_not_of_the_samples_is_refused(void **state)
{
    (void)state;
    const int16_t i16[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int16_t read[8];
    size_t length;
    assert_int_equal(
        io_write_stream(io_path("b.wav"), ",channels=4", SCALAR_I16, i16, 8, 8, &error), PRT_OK);
    unsigned char *bytes = io_read_file(io_path("b.wav"), &length);
    assert_int_equal(bytes[32], 8); /* bytes of a block */
    for (int block = 0; block < 256; block++) {
        bytes[32] = (unsigned char)block;
        io_write_file(io_path("b.wav"), bytes, length);
        assert_int_equal(
            io_read_stream(io_path("b.wav"), ",channels=4", SCALAR_I16, read, 8, 8, &count, &error),
            block == 8 ? PRT_OK : PRT_E_FORMAT);
        if (block != 8) assert_non_null(strstr(error.message, "block size"));
    }
    free(bytes);
}

/* The sink's output to a pipe has no length in its header: it is read to the end, from a pipe
 * and from a file. */
static void pipes_have_no_length(void **state)
{
    (void)state;
    const float packets[] = {0.5f, -0.5f, 0.25f};
    for (int kind = 0; kind < 2; kind++) {
        float packets_read[4];
        unsigned char bytes[256];
        int ends[2], in = io_dup(STDIN_FILENO), out = io_dup(STDOUT_FILENO);
        const char *items = kind == 0 ? ",wav" : ",wav:s16";
        assert_int_equal(pipe(ends), 0);
        fflush(stdout);
        assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
        enum prt_status written = io_write_stream("-", items, SCALAR_F32, packets, 3, 1, &error);
        dup2(out, STDOUT_FILENO);
        close(out);
        assert_int_equal(written, PRT_OK);
        close(ends[1]);
        ssize_t length = 0;
        for (ssize_t got = 1; got > 0; length += got) {
            got = read(ends[0], bytes + length, sizeof bytes - (size_t)length);
            assert_true(got >= 0);
        }
        close(ends[0]);
        io_write_file(io_path("pipe.wav"), bytes, (size_t)length);
        assert_int_equal(
            io_read_stream(io_path("pipe.wav"), "", SCALAR_F32, packets_read, 4, 4, &count, &error),
            PRT_OK);
        assert_int_equal(count, 3);
        assert_memory_equal(packets_read, packets, sizeof packets);
        memset(packets_read, 0, sizeof packets_read);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], bytes, (size_t)length), length);
        close(ends[1]);
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
        enum prt_status status =
            io_read_stream("-", ",wav", SCALAR_F32, packets_read, 4, 4, &count, &error);
        dup2(in, STDIN_FILENO);
        close(in);
        assert_int_equal(status, PRT_OK);
        assert_int_equal(count, 3);
        assert_memory_equal(packets_read, packets, sizeof packets);
    }
}

/* A file with a length, cut, through a pipe. */
static void a_cut_file_is_noticed_in_a_pipe(void **state)
{
    (void)state;
    const int16_t i16[] = {1, 2, 3, 4};
    int16_t read[8];
    size_t length;
    assert_int_equal(io_write_stream(io_path("z.wav"), "", SCALAR_I16, i16, 4, 4, &error), PRT_OK);
    unsigned char *bytes = io_read_file(io_path("z.wav"), &length);
    for (size_t cut = 0; cut <= length; cut++) {
        int ends[2], in = io_dup(STDIN_FILENO);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], bytes, cut), (ssize_t)cut);
        close(ends[1]);
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
        enum prt_status status =
            io_read_stream("-", ",wav", SCALAR_I16, read, 8, 8, &count, &error);
        dup2(in, STDIN_FILENO);
        close(in);
        if (cut == length)
            assert_int_equal(status, PRT_OK);
        else
            assert_true(status == PRT_E_TRUNCATED || status == PRT_E_FORMAT);
    }
    free(bytes);
}

static void other_files_are_not_wav(void **state)
{
    (void)state;
    float read[1];
    io_write_file(io_path("o.wav"), "", 0);
    assert_int_equal(io_read_stream(io_path("o.wav"), "", SCALAR_F32, read, 1, 1, &count, &error),
                     PRT_E_TRUNCATED);
    io_write_file(io_path("o.wav"), "fLaC0000000000000000", 20);
    assert_int_equal(io_read_stream(io_path("o.wav"), "", SCALAR_F32, read, 1, 1, &count, &error),
                     PRT_E_FORMAT);
    io_write_file(io_path("o.wav"), "RIFF\4\0\0\0AVI LIST", 16);
    assert_int_equal(io_read_stream(io_path("o.wav"), "", SCALAR_F32, read, 1, 1, &count, &error),
                     PRT_E_FORMAT);
}

/* Compressed formats, more than one buffer of them: what libsndfile itself reads. */
static void any_sample_format_is_read_as_libsndfile_reads_it(void **state)
{
    (void)state;
    const size_t frames_made = 30000;
    const int formats[] = {SF_FORMAT_ULAW,     SF_FORMAT_ALAW,   SF_FORMAT_IMA_ADPCM,
                           SF_FORMAT_MS_ADPCM, SF_FORMAT_GSM610, SF_FORMAT_PCM_16,
                           SF_FORMAT_PCM_24,   SF_FORMAT_DOUBLE};
    double *samples = malloc(frames_made * sizeof *samples);
    float *expected = malloc(2 * frames_made * sizeof *expected);
    float *got = malloc(2 * frames_made * sizeof *got);
    assert_true(samples != NULL && expected != NULL && got != NULL);
    for (size_t i = 0; i < frames_made; i++)
        samples[i] = 0.9 * sin(0.01 * (double)i);
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (int endian = 0; endian < 2; endian++) {
            int format = SF_FORMAT_WAV | formats[f] | (endian != 0 ? SF_ENDIAN_BIG : 0);
            SF_INFO info = {0};
            make_wav(io_path("k.wav"), format, 1, samples, frames_made);
            SNDFILE *file = sf_open(io_path("k.wav"), SFM_READ, &info);
            assert_non_null(file);
            sf_count_t frames = sf_readf_float(file, expected, (sf_count_t)(2 * frames_made));
            sf_close(file);
            assert_int_equal(io_read_stream(io_path("k.wav"), "", SCALAR_F32, got, 2 * frames_made,
                                            7777, &count, &error),
                             PRT_OK);
            assert_int_equal(count, frames);
            assert_memory_equal(got, expected, count * sizeof *got);
        }
    free(samples);
    free(expected);
    free(got);
}

/* ---- files made by hand ---- */

enum { MADE_BYTES_MAX = 40000 };
static unsigned char made[MADE_BYTES_MAX];
static size_t made_bytes;

static void begin_wav(const char *magic)
{
    memcpy(made, magic, 4);
    memcpy(made + 4, "\xff\xff\xff\xffWAVE", 8);
    made_bytes = 12;
}

/* A chunk that says `says` bytes and has `has` of them, zeros after those of `content`. */
static void add_chunk(const char *name, uint32_t says, const void *content, size_t length,
                      size_t has)
{
    unsigned char *at = made + made_bytes;
    assert_true(made_bytes + 8 + has <= sizeof made && length <= has);
    memset(at, 0, 8 + has);
    memcpy(at, name, 4);
    for (int i = 0; i < 4; i++)
        at[4 + i] = (unsigned char)(says >> 8 * i);
    if (length > 0) memcpy(at + 8, content, length);
    made_bytes += 8 + has;
}

/* tag, one channel, 8000 Hz, 16 bits */
static const unsigned char pcm[16] = {1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0};
static const unsigned char adpcm[20] = {0x11, 0, 1, 0, 0x40, 0x1f, 0, 0, 0xd7, 0x0f,
                                        0,    0, 0, 1, 4,    0,    2, 0, 0xf9, 1};
static const unsigned char samples16[8] = {1, 0, 2, 0, 3, 0, 4, 0};

static enum prt_status read_made(bool piped, int16_t read[8])
{
    char name[64];
    int ends[2];
    if (!piped) {
        io_write_file(io_path("m.wav"), made, made_bytes);
        return io_read_stream(io_path("m.wav"), "", SCALAR_I16, read, 8, 8, &count, &error);
    }
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], made, made_bytes), (ssize_t)made_bytes);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    enum prt_status status = io_read_stream(name, ",wav", SCALAR_I16, read, 8, 8, &count, &error);
    close(ends[0]);
    return status;
}

static void check_refused(bool piped, const char *message)
{
    int16_t read[8];
    assert_int_equal(read_made(piped, read), PRT_E_FORMAT);
    if (strstr(error.message, message) == NULL) print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, message));
}

static void check_samples(bool piped)
{
    int16_t read[8];
    assert_int_equal(read_made(piped, read), PRT_OK);
    assert_int_equal(count, 4);
    assert_memory_equal(read, samples16, sizeof samples16);
}

static void a_fmt_chunk_is_there_once_and_has_its_length(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 15, 1025, UINT32_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        begin_wav("RIFF");
        add_chunk("fmt ", lengths[i], pcm, sizeof pcm, 1026);
        add_chunk("data", 8, samples16, 8, 8);
        check_refused(false, "too short, too long, or occurs twice");
    }
    begin_wav("RIFF");
    add_chunk("fmt ", 16, pcm, 16, 16);
    add_chunk("fmt ", 16, pcm, 16, 16);
    add_chunk("data", 8, samples16, 8, 8);
    check_refused(false, "too short, too long, or occurs twice");
    begin_wav("RIFF");
    add_chunk("data", 8, samples16, 8, 8);
    check_refused(false, "no fmt chunk before the data");
}

/* As long as 1024 bytes, and with an odd length, after which a byte is left out. */
static void long_and_odd_fmt_chunks_are_read(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {16, 17, 18, 1023, 1024};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        begin_wav("RIFF");
        add_chunk("fmt ", lengths[i], pcm, sizeof pcm, lengths[i] + lengths[i] % 2);
        add_chunk("data", 8, samples16, 8, 8);
        check_samples(false);
        check_samples(true);
    }
}

/* Where chunks of these lengths come before the fmt chunk. */
static void a_wav_can_stream_whatever_precedes_its_format(void **state)
{
    (void)state;
    static const unsigned char zeros[16] = {0};
    for (uint32_t first = 0; first < 12; first++)
        for (uint32_t second = 0; second < 3; second++) {
            struct prt_io_reader reader;
            bool can_stream = false;
            begin_wav("RIFF");
            add_chunk("LIST", first, zeros, first, first + first % 2);
            add_chunk("junk", second, zeros, second, second + second % 2);
            add_chunk("fmt ", 16, pcm, sizeof pcm, 16);
            add_chunk("data", 8, samples16, 8, 8);
            io_write_file(io_path("stream.wav"), made, made_bytes);
            assert_int_equal(prt_io_reader_open(&reader, io_path("stream.wav"), NULL, &error),
                             PRT_OK);
            assert_int_equal(prt_sound_can_stream(&reader, &can_stream, &error), PRT_OK);
            assert_true(can_stream);
            assert_int_equal(reader.offset, 0); /* nothing is consumed */
            prt_io_reader_close(&reader);
        }
}

static void chunks_before_the_samples_are_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *magic, *name;
        uint32_t bytes, data_says;
        unsigned char content[28];
    } rows[] = {
        {"RIFF", "LIST", 0, 8, {0}},
        {"RIFF", "LIST", 7, 8, {0}},
        {"RIFF", "fact", 2, 8, {9, 9}},
        {"RIFF", "fact", 3, 8, {9, 9, 9}},
        {"RIFF", "fact", 4, 8, {4, 0, 0, 0}},
        {"RF64", "ds64", 15, UINT32_MAX, {0, 0, 0, 0, 0, 0, 0, 0, 6}}, /* too short to be read */
        {"RF64", "ds64", 16, UINT32_MAX, {0, 0, 0, 0, 0, 0, 0, 0, 8}},
        {"RF64", "ds64", 28, UINT32_MAX, {0, 0, 0, 0, 0, 0, 0, 0, 8}},
        {"RF64", "ds64", 28, 8, {0, 0, 0, 0, 0, 0, 0, 0, 6}},          /* the 32 bits are enough */
        {"RIFF", "ds64", 28, UINT32_MAX, {0, 0, 0, 0, 0, 0, 0, 0, 6}}, /* belongs to RF64 */
        {"RF64", "LIST", 0, UINT32_MAX, {0}},
        {"RIFF", "LIST", 0, 0x7FFFF000, {0}}, /* sox to a pipe */
        {"RIFF", "LIST", 0, UINT32_MAX, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int piped = 0; piped < 2; piped++) {
            uint32_t bytes = rows[i].bytes;
            begin_wav(rows[i].magic);
            add_chunk(rows[i].name, bytes, rows[i].content, bytes, bytes + bytes % 2);
            add_chunk("fmt ", 16, pcm, 16, 16);
            add_chunk("data", rows[i].data_says, samples16, 8, 8);
            check_samples(piped != 0);
        }
}

static void up_to_4096_chunks_are_read(void **state)
{
    (void)state;
    for (size_t chunks = 4095; chunks <= 4097; chunks++) {
        begin_wav("RIFF");
        add_chunk("fmt ", 16, pcm, 16, 16);
        for (size_t i = 2; i < chunks; i++)
            add_chunk("LIST", 0, "", 0, 0);
        add_chunk("data", 8, samples16, 8, 8);
        if (chunks <= 4096)
            check_samples(false);
        else
            check_refused(false, "there are too many chunks");
    }
}

/* A pipe does not tell how much there is: what a header says is limited. */
static void lengths_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *magic;
        uint32_t data_says;
        unsigned char size[16]; /* of ds64 */
        const char *message;
    } rows[] = {
        {"RF64", UINT32_MAX, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4}, "is too large"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin_wav(rows[i].magic);
        add_chunk("ds64", 16, rows[i].size, 16, 16);
        add_chunk("fmt ", 16, pcm, 16, 16);
        add_chunk("data", rows[i].data_says, samples16, 8, 8);
        check_refused(true, rows[i].message);
    }
    int16_t read[8];
    begin_wav("RIFF");
    add_chunk("fmt ", 20, adpcm, 20, 20);
    add_chunk("data", 0x80000000, samples16, 8, 8);
    assert_int_equal(read_made(false, read), PRT_E_TRUNCATED);
    assert_int_equal(read_made(true, read), PRT_E_TRUNCATED);
    begin_wav("RIFF");
    add_chunk("fmt ", 16, pcm, 16, 16);
    add_chunk("data", 9, samples16, 8, 8);
    assert_int_equal(read_made(false, read), PRT_E_TRUNCATED);
    assert_int_equal(read_made(true, read), PRT_E_TRUNCATED);
}

/* The header has 32 bits for the bytes of a second. */
static void a_rate_whose_bytes_overflow_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *items;
        enum scalar_type packet;
        bool fits;
    } rows[] = {
        {",rate=2147483647", SCALAR_U8, true},
        {",rate=2147483647", SCALAR_I16, true}, /* 2^32 - 2 */
        {",rate=2147483647,channels=2", SCALAR_U8, true},
        {",rate=1073741824", SCALAR_F32, false}, /* 2^32, which is 0 in 32 bits */
        {",rate=1073741823", SCALAR_F32, true},
        {",rate=2147483647", SCALAR_F64, false},
        {",rate=715827883,channels=3", SCALAR_I16, false},
        {",rate=715827882,channels=3", SCALAR_I16, true},
        {",rate=524288,channels=1024", SCALAR_F64, false},
        {",rate=524287,channels=1024", SCALAR_F64, true},
        {",channels=1025", SCALAR_U8, false},
    };
    static const double packets[1024] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum prt_status status = io_write_stream(io_path("h.wav"), rows[i].items, rows[i].packet,
                                                 packets, 1020, 1020, &error);
        if (!rows[i].fits) {
            assert_int_equal(status, PRT_E_USAGE);
            assert_non_null(strstr(error.message, "wav has at most"));
            assert_int_equal(access(io_path("h.wav"), F_OK), -1);
            continue;
        }
        size_t length;
        bool is_whole = strstr(rows[i].items, "=1024") == NULL;
        assert_int_equal(status, is_whole ? PRT_OK : PRT_E_FORMAT); /* 1020 are no whole frame */
        if (!is_whole) continue;
        unsigned char *bytes = io_read_file(io_path("h.wav"), &length);
        uint64_t rate = 0, rate_bytes = 0;
        for (int k = 3; k >= 0; k--) {
            rate = rate << 8 | bytes[24 + k];
            rate_bytes = rate_bytes << 8 | bytes[28 + k];
        }
        assert_int_equal(rate_bytes, rate * (bytes[32] | (uint64_t)bytes[33] << 8));
        free(bytes);
        unlink(io_path("h.wav"));
    }
}

/* Before anything of them is looked at: the packets of the second write are not there. */
static void a_file_above_4_gib_is_refused(void **state)
{
    (void)state;
    static const struct {
        enum scalar_type packet;
        size_t more;
    } rows[] = {{SCALAR_U8, SIZE_MAX},
                {SCALAR_F32, SIZE_MAX / 2},
                {SCALAR_F64, (size_t)1 << 29},
                {SCALAR_U8, (size_t)UINT32_MAX - 58 - 4 + 1}};
    static const double packets[4] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prt_sink *sink = NULL;
        assert_int_equal(io_open_sink(io_path("g.wav"), "", rows[i].packet, NULL, &sink, &error),
                         PRT_OK);
        assert_int_equal(prt_sink_write(sink, packets, 4, &error), PRT_OK);
        assert_int_equal(prt_sink_write(sink, packets, rows[i].more, &error), PRT_E_WRITE);
        assert_non_null(strstr(error.message, "cannot be larger than 4 GiB"));
        prt_sink_close(sink);
    }
}

static void outputs_wav_has_no_form_for_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *items;
        enum scalar_type packet;
        const char *message;
    } rows[] = {{",wav:i16be", SCALAR_I16, "wav has its own order of bytes: wav:i16"},
                {",wav:i16", SCALAR_BOOL, "cannot become"},
                {",wav:f32", SCALAR_U16, "cannot become"},
                {",wav:i8", SCALAR_I16, "no samples of type"}};
    const int32_t packets[] = {1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            io_write_stream(io_path("n.wav"), rows[i].items, rows[i].packet, packets, 1, 1, &error),
            PRT_E_USAGE);
        assert_non_null(strstr(error.message, rows[i].message));
    }
    struct prt_source *source = NULL;
    make_wav(io_path("t.wav"), SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1, (double[]){0.5}, 1);
    assert_int_equal(
        io_open_source("in", io_path("t.wav"), ",wav:i16", SCALAR_I16, &source, &error),
        PRT_E_USAGE);
    assert_non_null(strstr(error.message, "names its own type"));
}

/* More packets than one part of the conversion, the first of them on its border. */
static void long_writes_are_scaled_in_parts(void **state)
{
    (void)state;
    static float floats[2049], found[2050];
    static int16_t integers[2049], read[2050];
    for (size_t i = 0; i < 2049; i++) {
        integers[i] = (int16_t)(16 * (int)i - 16384);
        floats[i] = (float)integers[i] / 32768;
    }
    for (size_t total = 1023; total <= 2049; total += total == 1024 ? 1024 : 1) {
        assert_int_equal(
            io_write_stream(io_path("p.wav"), ",wav:i16", SCALAR_F32, floats, total, total, &error),
            PRT_OK);
        assert_int_equal(
            io_read_stream(io_path("p.wav"), "", SCALAR_I16, read, 2050, 999, &count, &error),
            PRT_OK);
        assert_int_equal(count, total);
        assert_memory_equal(read, integers, total * sizeof *read);
        assert_int_equal(io_write_stream(io_path("p.wav"), ",wav:f32", SCALAR_I16, integers, total,
                                         total, &error),
                         PRT_OK);
        assert_int_equal(
            io_read_stream(io_path("p.wav"), "", SCALAR_F32, found, 2050, 999, &count, &error),
            PRT_OK);
        assert_int_equal(count, total);
        assert_memory_equal(found, floats, total * sizeof *found);
    }
    /* 8 bits: the middle is 128 */
    const float levels[] = {-1, -0.5f, 0, 0.5f, 2};
    uint8_t bytes[6];
    assert_int_equal(io_write_stream(io_path("p.wav"), ",wav:u8", SCALAR_F32, levels, 5, 5, &error),
                     PRT_OK);
    assert_int_equal(io_read_stream(io_path("p.wav"), "", SCALAR_U8, bytes, 6, 6, &count, &error),
                     PRT_OK);
    assert_int_equal(count, 5);
    assert_memory_equal(bytes, ((uint8_t[]){0, 64, 128, 192, 255}), 5);
}

IO_TEST_MAIN("io_wav", cmocka_unit_test(samples_are_scaled_for_float_ports),
             cmocka_unit_test(integer_ports_get_the_stored_values),
             cmocka_unit_test(channels_are_interleaved),
             cmocka_unit_test(what_a_file_says_is_not_said_otherwise),
             cmocka_unit_test(what_is_written_is_read_back),
             cmocka_unit_test(float_packets_become_16_bits_when_asked),
             cmocka_unit_test(outputs_that_make_no_sense_are_refused),
             cmocka_unit_test(every_prefix_is_refused),
             cmocka_unit_test(no_changed_byte_is_a_crash),
             cmocka_unit_test(a_part_of_a_frame_is_reported),
             cmocka_unit_test(a_block_size_that_is_not_of_the_samples_is_refused),
             cmocka_unit_test(pipes_have_no_length),
             cmocka_unit_test(a_cut_file_is_noticed_in_a_pipe),
             cmocka_unit_test(other_files_are_not_wav),
             cmocka_unit_test(a_fmt_chunk_is_there_once_and_has_its_length),
             cmocka_unit_test(long_and_odd_fmt_chunks_are_read),
             cmocka_unit_test(a_wav_can_stream_whatever_precedes_its_format),
             cmocka_unit_test(chunks_before_the_samples_are_passed_over),
             cmocka_unit_test(up_to_4096_chunks_are_read),
             cmocka_unit_test(lengths_that_cannot_be_are_refused),
             cmocka_unit_test(a_rate_whose_bytes_overflow_is_refused),
             cmocka_unit_test(a_file_above_4_gib_is_refused),
             cmocka_unit_test(outputs_wav_has_no_form_for_are_refused),
             cmocka_unit_test(long_writes_are_scaled_in_parts),
             cmocka_unit_test(any_sample_format_is_read_as_libsndfile_reads_it))
