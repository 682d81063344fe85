/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: aiff, flac and ogg, and what all sound files have in common.  test_io_wav.c has wav. */
#include "tests/test.h"

#include "tests/unit/test_io.h"
#include "tools/piperun/io/sound_library.h"

#include <math.h>
#include <signal.h>
#include <sndfile.h>
#include <sys/resource.h>

static struct prt_error error;
static size_t count;

enum { FRAMES = 20000 };

/* Makes a file with libsndfile, independently of the sink. */
static void make_sound(const char *path, int format, int channels, size_t frames)
{
    SF_INFO info = {.samplerate = 48000, .channels = channels, .format = format};
    SNDFILE *file = sf_open(path, SFM_WRITE, &info);
    double *samples = calloc(frames * (size_t)channels + 1, sizeof *samples);
    assert_non_null(file);
    assert_non_null(samples);
    for (size_t i = 0; i < frames * (size_t)channels; i++)
        samples[i] = 0.7 * sin(0.011 * (double)i) + 0.2 * sin(0.37 * (double)i) +
                     0.1 * sin(1e-3 * (double)i * (double)i);
    assert_int_equal(sf_writef_double(file, samples, (sf_count_t)frames), (sf_count_t)frames);
    assert_int_equal(sf_close(file), 0);
    free(samples);
}

/* Reads PATH through a pipe, as FORMAT. */
static enum prt_status read_piped(const char *path, const char *format, enum scalar_type packet,
                                  void *packets, size_t capacity)
{
    char command[256], name[64];
    snprintf(command, sizeof command, "cat '%s'", path);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(from));
    enum prt_status status =
        io_read_stream(name, format, packet, packets, capacity, 777, &count, &error);
    (void)pclose(from);
    return status;
}

static void assert_says(const char *words)
{
    if (strstr(error.message, words) == NULL) print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, words));
}

static void every_format_is_read_as_libsndfile_reads_it_from_files_and_pipes(void **state)
{
    (void)state;
    static const struct {
        int format;
        const char *item;
    } rows[] = {{SF_FORMAT_AIFF | SF_FORMAT_PCM_S8, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_PCM_U8, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_PCM_16, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_PCM_24, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_PCM_32, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_FLOAT, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_DOUBLE, ",aiff"},
                {SF_FORMAT_AIFF | SF_FORMAT_ULAW, ",aiff"},
                {SF_FORMAT_FLAC | SF_FORMAT_PCM_S8, ",flac"},
                {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, ",flac"},
                {SF_FORMAT_FLAC | SF_FORMAT_PCM_24, ",flac"},
                {SF_FORMAT_OGG | SF_FORMAT_VORBIS, ",ogg"},
                {SF_FORMAT_OGG | SF_FORMAT_OPUS, ",ogg"},
                {SF_FORMAT_WAV | SF_FORMAT_ULAW, ",wav"},
                {SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, ",wav"},
                {SF_FORMAT_WAV | SF_FORMAT_GSM610, ",wav"},
                {SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, ",wav"},
                {SF_FORMAT_WAVEX | SF_FORMAT_ULAW, ",wav"}};
    static float expected[2 * FRAMES + 2000], got[2 * FRAMES + 2000];
    enum { CAPACITY = sizeof got / sizeof got[0] };
    for (size_t f = 0; f < sizeof rows / sizeof rows[0]; f++)
        for (int channels = 1; channels <= 2; channels++) {
            SF_INFO info = {.samplerate = 48000, .channels = channels, .format = rows[f].format};
            const char *path = io_path("every");
            if (!sf_format_check(&info)) continue; /* GSM has one channel; Opus may be missing */
            make_sound(path, rows[f].format, channels, FRAMES);
            info = (SF_INFO){0};
            SNDFILE *file = sf_open(path, SFM_READ, &info);
            assert_non_null(file);
            sf_count_t frames = sf_readf_float(file, expected, CAPACITY / channels);
            sf_close(file);
            for (int piped = 0; piped < 2; piped++) {
                memset(got, 0, sizeof got);
                enum prt_status status =
                    piped != 0 ? read_piped(path, rows[f].item, SCALAR_F32, got, CAPACITY)
                               : io_read_stream(path, rows[f].item, SCALAR_F32, got, CAPACITY, 999,
                                                &count, &error);
                if (status != PRT_OK) print_message("%x: %s\n", rows[f].format, error.message);
                assert_int_equal(status, PRT_OK);
                assert_int_equal(count, frames * channels);
                assert_memory_equal(got, expected, count * sizeof *got);
            }
        }
}

static void integer_ports_get_the_stored_values_of_each_format(void **state)
{
    (void)state;
    static const struct {
        int format, bits;
    } rows[] = {{SF_FORMAT_AIFF | SF_FORMAT_PCM_S8, 8},  {SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 16},
                {SF_FORMAT_AIFF | SF_FORMAT_PCM_24, 24}, {SF_FORMAT_AIFF | SF_FORMAT_PCM_32, 32},
                {SF_FORMAT_FLAC | SF_FORMAT_PCM_S8, 8},  {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16},
                {SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 24}};
    static const struct {
        enum scalar_type packet;
        int bits;
    } ports[] = {{SCALAR_I8, 8}, {SCALAR_I16, 16}, {SCALAR_I32, 32}, {SCALAR_I64, 64}};
    for (size_t f = 0; f < sizeof rows / sizeof rows[0]; f++) {
        const char *path = io_path("stored");
        SF_INFO info = {.samplerate = 8000, .channels = 1, .format = rows[f].format};
        const int stored[] = {-(1 << (rows[f].bits - 2)), -1, 1, (1 << (rows[f].bits - 2)) - 1};
        int shifted[4];
        for (int i = 0; i < 4; i++)
            shifted[i] = stored[i] * (1 << (32 - rows[f].bits));
        SNDFILE *file = sf_open(path, SFM_WRITE, &info);
        assert_non_null(file);
        assert_int_equal(sf_write_int(file, shifted, 4), 4);
        sf_close(file);
        for (size_t p = 0; p < sizeof ports / sizeof ports[0]; p++) {
            unsigned char read[64];
            enum prt_status status =
                io_read_stream(path, ",flac", ports[p].packet, read, 8, 2, &count, &error);
            if (ports[p].bits < rows[f].bits) {
                assert_int_equal(status, PRT_E_FORMAT);
                assert_says("f32 and f64 take them, and signed integers that are wide enough");
                continue;
            }
            assert_int_equal(status, PRT_OK);
            assert_int_equal(count, 4);
            for (int i = 0; i < 4; i++) {
                int64_t value = stored[i];
                assert_memory_equal(read + i * ports[p].bits / 8, &value,
                                    (size_t)ports[p].bits / 8);
            }
        }
        double none[8];
        assert_int_equal(io_read_stream(path, ",aiff", SCALAR_U8, none, 8, 8, &count, &error),
                         PRT_E_FORMAT);
    }
    make_sound(io_path("v.ogg"), SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, 500);
    int32_t none[1];
    assert_int_equal(io_read_stream(io_path("v.ogg"), "", SCALAR_I32, none, 1, 1, &count, &error),
                     PRT_E_FORMAT);
    assert_says("ogg samples of 32 bits (float) do not fit a port of type i32");
}

static void the_content_and_not_the_name_says_which_format_it_is(void **state)
{
    (void)state;
    float read[8];
    struct prt_source *source = NULL;
    struct prt_source_information information;
    make_sound(io_path("name.wav"), SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 2, 4);
    assert_int_equal(
        io_open_source("in", io_path("name.wav"), ",channels=2", SCALAR_F32, &source, &error),
        PRT_OK);
    prt_source_information(source, &information);
    prt_source_close(source);
    assert_true(information.packets == 8 && information.rate_hertz == 48000 &&
                information.channels == 2 && information.at_hand);
    static const char *const files[] = {"FORM0000AIFXxxxx", "RIFF0000WAVXxxxx", "OggX00000000xxxx",
                                        "................"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        io_write_file(io_path("name.flac"), files[i], 16);
        assert_int_equal(
            io_read_stream(io_path("name.flac"), "", SCALAR_F32, read, 8, 8, &count, &error),
            PRT_E_FORMAT);
        assert_says("byte 0: this is no wav, aiff, flac or ogg file");
    }
    assert_int_equal(
        io_read_stream(io_path("name.flac"), ",flac:i16", SCALAR_I16, read, 8, 8, &count, &error),
        PRT_E_USAGE);
    assert_says("a sound file names its own type");
}

static void every_prefix_of_a_sound_file_is_refused(void **state)
{
    (void)state;
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("whole"));
    make_sound(whole, SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 2, 20);
    io_check_prefixes(whole, "cut", ",aiff", SCALAR_I16);
    make_sound(whole, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, 500);
    io_check_prefixes(whole, "cut", ",flac", SCALAR_I16);
    make_sound(whole, SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, 500);
    size_t length;
    float read[600];
    unsigned char *bytes = io_read_file(whole, &length);
    for (size_t cut = 0; cut < length; cut += cut < 100 || cut > length - 100 ? 1 : 37) {
        io_write_file(io_path("cut"), bytes, cut);
        assert_int_equal(
            io_read_stream(io_path("cut"), ",ogg", SCALAR_F32, read, 600, 600, &count, &error),
            PRT_E_TRUNCATED);
    }
    free(bytes);
}

static void no_changed_byte_of_a_sound_file_is_a_crash(void **state)
{
    (void)state;
    char whole[160];
    snprintf(whole, sizeof whole, "%s", io_path("whole"));
    make_sound(whole, SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 2, 20);
    io_check_flips(whole, "flip", ",aiff", SCALAR_F32);
    make_sound(whole, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, 100);
    io_check_flips(whole, "flip", ",flac", SCALAR_F32);
}

/* A damaged frame would be silence, were libsndfile's account of it ignored. */
static void damaged_flac_samples_are_refused(void **state)
{
    (void)state;
    static int16_t whole[FRAMES], read[FRAMES + 1];
    size_t length;
    const char *path = io_path("damaged.flac");
    make_sound(path, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, FRAMES);
    assert_int_equal(io_read_stream(path, "", SCALAR_I16, whole, FRAMES, FRAMES, &count, &error),
                     PRT_OK);
    unsigned char *bytes = io_read_file(path, &length);
    for (size_t at = length / 4; at < length; at += length / 7) {
        bytes[at] ^= 0x10;
        io_write_file(path, bytes, length);
        bytes[at] ^= 0x10;
        assert_int_equal(
            io_read_stream(path, "", SCALAR_I16, read, FRAMES + 1, 333, &count, &error),
            PRT_E_FORMAT);
        assert_says("damaged or cut off");
        assert_memory_equal(read, whole, count * sizeof *read);
    }
    free(bytes);
}

/* Encoders that write to a pipe leave the number of samples open: a cut between frames would not be seen. */
static void flac_without_its_number_of_samples_is_refused(void **state)
{
    (void)state;
    size_t length;
    int16_t read[8];
    make_sound(io_path("open.flac"), SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, 100);
    unsigned char *bytes = io_read_file(io_path("open.flac"), &length);
    assert_int_equal(bytes[25], 100);
    bytes[25] = 0;
    io_write_file(io_path("open.flac"), bytes, length);
    free(bytes);
    assert_int_equal(
        io_read_stream(io_path("open.flac"), "", SCALAR_I16, read, 8, 8, &count, &error),
        PRT_E_FORMAT);
    assert_says("does not say how many samples");
}

/* The last page says that it is the last, ends with the file, and belongs to the first stream. */
static void an_ogg_file_has_one_stream_and_its_end(void **state)
{
    (void)state;
    size_t length, again;
    float read[600];
    const char *path = io_path("end.ogg");
    make_sound(path, SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, 500);
    unsigned char *one = io_read_file(path, &length), *two = malloc(2 * length + 1);
    make_sound(path, SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, 500);
    unsigned char *other = io_read_file(path, &again);
    assert_non_null(two);
    memcpy(two, one, length);
    memcpy(two + length, other, again < length ? again : length);
    two[length + 14] ^= 1; /* were the serial numbers equal by chance */
    assert_int_equal(length, again);
    for (size_t at = length; at + 4 < 2 * length; at++)
        if (memcmp(two + at, "OggS", 4) == 0) memcpy(two + at + 14, "\1\2\3\4", 4);
    io_write_file(path, two, 2 * length);
    assert_int_equal(io_read_stream(path, "", SCALAR_F32, read, 600, 600, &count, &error),
                     PRT_E_FORMAT);
    assert_says("there are several streams, and only one is read");
    memcpy(two, one, length);
    two[length] = 'x';
    io_write_file(path, two, length + 1);
    assert_int_equal(io_read_stream(path, "", SCALAR_F32, read, 600, 600, &count, &error),
                     PRT_E_TRUNCATED);
    for (size_t at = length - 27; at > 0; at--)
        if (memcmp(two + at, "OggS", 4) == 0) {
            two[at + 5] = 0;
            break;
        }
    io_write_file(path, two, length);
    assert_int_equal(io_read_stream(path, "", SCALAR_F32, read, 600, 600, &count, &error),
                     PRT_E_TRUNCATED);
    assert_says("before the end of its ogg stream");
    free(one);
    free(two);
    free(other);
}

/* Longer than the buffer in which the last page is looked for. */
static void a_long_ogg_file_is_read_to_its_end(void **state)
{
    (void)state;
    enum { LONG = 600000 };
    float *read = malloc((LONG + 1) * sizeof *read);
    size_t length;
    assert_non_null(read);
    make_sound(io_path("long.ogg"), SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, LONG);
    free(io_read_file(io_path("long.ogg"), &length));
    assert_true(length > 65536);
    assert_int_equal(
        io_read_stream(io_path("long.ogg"), "", SCALAR_F32, read, LONG + 1, 5000, &count, &error),
        PRT_OK);
    assert_int_equal(count, LONG);
    free(read);
}

/* ---- aiff made by hand ---- */

static unsigned char made[400];
static size_t made_bytes;

static void add_chunk(const char *name, uint32_t says, const void *content, size_t length)
{
    unsigned char *at = made + made_bytes;
    assert_true(made_bytes + 8 + length <= sizeof made);
    memcpy(at, name, 4);
    for (int i = 0; i < 4; i++)
        at[4 + i] = (unsigned char)(says >> (24 - 8 * i));
    memcpy(at + 8, content, length);
    made_bytes += 8 + length;
}

/* one channel, 4 frames of 16 bits, 8000 Hz as an 80-bit float */
static const unsigned char comm[18] = {0, 1, 0, 0, 0, 4, 0, 16, 0x40, 0x0b, 0xfa};
static const unsigned char ssnd[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4};

static void begin_aiff(void)
{
    memcpy(made, "FORM\0\0\1\0AIFF", 12);
    made_bytes = 12;
}

static enum prt_status read_made(int16_t read[8])
{
    io_write_file(io_path("made.aif"), made, made_bytes);
    return io_read_stream(io_path("made.aif"), "", SCALAR_I16, read, 8, 8, &count, &error);
}

static void the_chunks_of_aiff_come_in_any_order(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        int16_t read[8];
        begin_aiff();
        if (order == 2) add_chunk("NAME", 3, "abc\0", 4);
        if (order != 1) add_chunk("COMM", 18, comm, 18);
        if (order == 2) add_chunk("ANNO", 2, "ab", 2);
        add_chunk("SSND", 16, ssnd, 16);
        if (order == 1) add_chunk("COMM", 18, comm, 18);
        made[7] = (unsigned char)(made_bytes - 8);
        made[6] = 0;
        assert_int_equal(read_made(read), PRT_OK);
        assert_int_equal(count, 4);
        assert_memory_equal(read, ((int16_t[]){1, 2, 3, 4}), 8);
    }
}

static void what_aiff_says_and_has_not_is_refused(void **state)
{
    (void)state;
    int16_t read[8];
    begin_aiff();
    add_chunk("COMM", 17, comm, 18);
    assert_int_equal(read_made(read), PRT_E_FORMAT);
    assert_says("COMM chunk is too short, or occurs twice");
    begin_aiff();
    add_chunk("COMM", 18, comm, 18);
    add_chunk("COMM", 18, comm, 18);
    assert_int_equal(read_made(read), PRT_E_FORMAT);
    assert_says("COMM chunk is too short, or occurs twice");
    begin_aiff();
    add_chunk("COMM", 18, comm, 18);
    add_chunk("SSND", 17, ssnd, 16);
    assert_int_equal(read_made(read), PRT_E_TRUNCATED);
    assert_says("before the samples that its aiff header says");
    begin_aiff();
    add_chunk("COMM", 18, comm, 18);
    add_chunk("SSND", UINT32_MAX, ssnd, 16);
    assert_int_equal(read_made(read), PRT_E_TRUNCATED);
    begin_aiff();
    add_chunk("COMM", 18, comm, 18);
    made[12 + 8 + 5] = 5; /* frames */
    add_chunk("SSND", 16, ssnd, 16);
    assert_int_equal(read_made(read), PRT_E_FORMAT);
    assert_says("another number of samples");
    begin_aiff();
    add_chunk("COMM", 18, comm, 18);
    assert_int_equal(read_made(read), PRT_E_TRUNCATED);
    assert_says("inside the header");
}

/* ---- pipes ---- */

/* A format that needs seeking goes through a temporary file when it comes from a pipe, however long its header is. */
static void a_pipe_whose_samples_must_be_sought_is_copied_first(void **state)
{
    (void)state;
    enum { LIST_BYTES = 70000 };
    static unsigned char long_header[LIST_BYTES + 200];
    size_t length;
    int16_t expected[4096], read[4096];
    make_sound(io_path("a.wav"), SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1, 8);
    unsigned char *bytes = io_read_file(io_path("a.wav"), &length);
    memcpy(long_header, bytes, 12);
    memcpy(long_header + 12, "LIST\x70\x11\x01\0", 8);
    memcpy(long_header + 20 + LIST_BYTES, bytes + 12, length - 12);
    io_write_file(io_path("long.wav"), long_header, LIST_BYTES + 8 + length);
    free(bytes);
    assert_int_equal(
        io_read_stream(io_path("a.wav"), "", SCALAR_I16, expected, 9, 9, &count, &error), PRT_OK);
    assert_int_equal(read_piped(io_path("long.wav"), ",wav", SCALAR_I16, read, 9), PRT_OK);
    assert_int_equal(count, 8);
    assert_memory_equal(read, expected, 16);
    /* compressed, with a length that was not known when the header was written */
    make_sound(io_path("a.wav"), SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 1, 1000);
    bytes = io_read_file(io_path("a.wav"), &length);
    for (size_t i = 12; i + 8 < length; i++)
        if (memcmp(bytes + i, "data", 4) == 0) memset(bytes + i + 4, 0xff, 4);
    io_write_file(io_path("b.wav"), bytes, length);
    free(bytes);
    assert_int_equal(
        io_read_stream(io_path("a.wav"), "", SCALAR_I16, expected, 4096, 99, &count, &error),
        PRT_OK);
    size_t packets = count;
    assert_int_equal(read_piped(io_path("b.wav"), ",wav", SCALAR_I16, read, 4096), PRT_OK);
    assert_int_equal(count, packets);
    assert_memory_equal(read, expected, packets * sizeof *read);
}

static void a_pipe_that_cannot_be_copied_is_refused(void **state)
{
    (void)state;
    int16_t read[8];
    make_sound(io_path("t.flac"), SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, 8);
    assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
    assert_int_equal(read_piped(io_path("t.flac"), ",flac", SCALAR_I16, read, 8), PRT_E_OPEN);
    assert_says("/nonexistent: cannot make a temporary file");
    static char far[5000];
    memset(far, 'd', sizeof far - 1);
    assert_int_equal(setenv("TMPDIR", far, 1), 0);
    assert_int_equal(read_piped(io_path("t.flac"), ",flac", SCALAR_I16, read, 8), PRT_E_OPEN);
    assert_says("TMPDIR is too long");
    assert_int_equal(setenv("TMPDIR", "", 1), 0); /* as if it were not set */
    assert_int_equal(read_piped(io_path("t.flac"), ",flac", SCALAR_I16, read, 8), PRT_OK);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(read_piped(io_path("t.flac"), ",flac", SCALAR_I16, read, 8), PRT_OK);
}

/* A header that is not as usual is decided upon in a pipe as in a file. */
static void unusual_wav_headers_are_decided_upon_in_pipes_as_in_files(void **state)
{
    (void)state;
    static const unsigned char guid[16] = {1,    0, 0, 0,    0, 0,    0x10, 0,
                                           0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    static const struct {
        unsigned tag, rate, fmt_bytes, list_bytes;
        bool data_first, other_guid;
        const char *message; /* NULL: 4 packets */
    } rows[] = {{1, 8000, 16, 0, false, false, NULL},
                {1, 0, 16, 0, false, false, "its channels or its rate make no sense"},
                {1, 8000, 8, 0, false, false, "too short, too long, or occurs twice"},
                {1, 8000, 16, 0, true, false, "no fmt chunk before the data"},
                {1, 8000, 16, 65480, false, false, NULL},
                {0xFFFE, 8000, 40, 0, false, false, NULL},
                {0xFFFE, 8000, 40, 0, false, true, ""},
                {0xFFFE, 8000, 18, 0, false, false, ""},
                {2, 8000, 16, 0, false, false, ""}};
    static unsigned char file[70000];
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        unsigned char fmt[40] = {0, 0, 1, 0,  0, 0,  0, 0,  0x80, 0x3e, 0,
                                 0, 2, 0, 16, 0, 22, 0, 16, 0,    4};
        size_t at = 12;
        fmt[0] = (unsigned char)rows[r].tag;
        fmt[1] = (unsigned char)(rows[r].tag >> 8);
        fmt[4] = (unsigned char)rows[r].rate;
        fmt[5] = (unsigned char)(rows[r].rate >> 8);
        memcpy(fmt + 24, guid, 16);
        if (rows[r].other_guid) fmt[39] = 0;
        memcpy(file, "RIFF\xff\xff\xff\xffWAVE", 12);
        if (rows[r].list_bytes > 0) {
            memset(file + at, 0, 8 + rows[r].list_bytes);
            memcpy(file + at, "LIST", 4);
            file[at + 4] = (unsigned char)rows[r].list_bytes;
            file[at + 5] = (unsigned char)(rows[r].list_bytes >> 8);
            at += 8 + rows[r].list_bytes;
        }
        if (!rows[r].data_first) {
            memcpy(file + at, "fmt \0\0\0\0", 8);
            file[at + 4] = (unsigned char)rows[r].fmt_bytes;
            memcpy(file + at + 8, fmt, rows[r].fmt_bytes);
            at += 8 + rows[r].fmt_bytes;
        }
        memcpy(file + at, "data\x08\0\0\0\1\0\2\0\3\0\4\0", 16);
        io_write_file(io_path("u.wav"), file, at + 16);
        for (int piped = 0; piped < 2; piped++) {
            int16_t read[8];
            enum prt_status status =
                piped != 0
                    ? read_piped(io_path("u.wav"), ",wav", SCALAR_I16, read, 8)
                    : io_read_stream(io_path("u.wav"), "", SCALAR_I16, read, 8, 8, &count, &error);
            if (rows[r].message == NULL) {
                assert_int_equal(status, PRT_OK);
                assert_int_equal(count, 4);
                assert_memory_equal(read, ((int16_t[]){1, 2, 3, 4}), 8);
                continue;
            }
            assert_true(status == PRT_E_FORMAT || status == PRT_E_TRUNCATED);
            assert_says(rows[r].message);
        }
    }
}

/* ---- outputs ---- */

static void what_is_written_is_read_back_and_equal_packets_give_equal_files(void **state)
{
    (void)state;
    static int16_t i16[FRAMES];
    static int32_t i32[FRAMES];
    static float f32[FRAMES];
    static double f64[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        i16[i] = (int16_t)(i * 7 - 32768);
        i32[i] = i * 104729 - INT32_MAX / 2;
        f32[i] = (float)i / 3 - 2.5f;
        f64[i] = (double)i / 3 - 2.5;
    }
    const struct {
        const char *name;
        enum scalar_type packet;
        const void *packets;
    } rows[] = {{"w.flac", SCALAR_I16, i16},
                {"w.aiff", SCALAR_I16, i16},
                {"w.aif", SCALAR_I32, i32},
                {"w.aiff", SCALAR_F32, f32},
                {"w.aiff", SCALAR_F64, f64}};
    static unsigned char read[(FRAMES + 1) * sizeof(double)];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[160], piped[160];
        size_t lengths[3];
        unsigned char *bytes[3];
        SF_INFO info = {0};
        snprintf(path, sizeof path, "%s", io_path(rows[i].name));
        for (int time = 0; time < 2; time++) { /* in pieces that are no whole frames */
            assert_int_equal(io_write_stream(path, ",rate=11025,channels=2", rows[i].packet,
                                             rows[i].packets, FRAMES, time == 0 ? 4999 : FRAMES,
                                             &error),
                             PRT_OK);
            bytes[time] = io_read_file(path, &lengths[time]);
        }
        int out = io_dup(STDOUT_FILENO);
        snprintf(piped, sizeof piped, "%s", io_path("piped"));
        fflush(stdout);
        FILE *to = fopen(piped, "wb");
        assert_non_null(to);
        assert_int_equal(dup2(fileno(to), STDOUT_FILENO), STDOUT_FILENO);
        char items[64];
        snprintf(items, sizeof items, ",%s,rate=11025,channels=2", i == 0 ? "flac" : "aiff");
        enum prt_status status =
            io_write_stream("-", items, rows[i].packet, rows[i].packets, FRAMES, 333, &error);
        dup2(out, STDOUT_FILENO);
        close(out);
        fclose(to);
        assert_int_equal(status, PRT_OK);
        bytes[2] = io_read_file(piped, &lengths[2]);
        for (int k = 1; k < 3; k++) {
            assert_int_equal(lengths[k], lengths[0]);
            assert_memory_equal(bytes[k], bytes[0], lengths[0]);
        }
        for (int k = 0; k < 3; k++)
            free(bytes[k]);
        assert_int_equal(io_read_stream(path, ",channels=2", rows[i].packet, read, FRAMES + 1, 500,
                                        &count, &error),
                         PRT_OK);
        assert_int_equal(count, FRAMES);
        assert_memory_equal(read, rows[i].packets, FRAMES * scalar_width_bytes(rows[i].packet));
        SNDFILE *file = sf_open(path, SFM_READ, &info);
        assert_non_null(file);
        assert_true(info.frames == FRAMES / 2 && info.samplerate == 11025 && info.channels == 2);
        sf_close(file);
    }
    assert_int_equal(io_write_stream(io_path("empty.flac"), "", SCALAR_I16, i16, 0, 1, &error),
                     PRT_OK);
}

/* The time of day is in the PEAK chunk that libsndfile would write. */
static void no_output_has_the_time_of_day(void **state)
{
    (void)state;
    size_t length;
    const float packets[] = {0.5f, -0.5f};
    assert_int_equal(io_write_stream(io_path("p.aiff"), "", SCALAR_F32, packets, 2, 2, &error),
                     PRT_OK);
    unsigned char *bytes = io_read_file(io_path("p.aiff"), &length);
    assert_null(memmem(bytes, length, "PEAK", 4));
    free(bytes);
}

static void floats_become_samples_when_asked(void **state)
{
    (void)state;
    const float packets[] = {0, 0.5f, -1, 1, 2, -3, 1.5f / 32768, 2.5f / 32768, NAN};
    const int16_t expected[] = {0, 16384, -32768, 32767, 32767, -32768, 2, 2, 0};
    static const char *const names[] = {"x.flac", "x.aiff"};
    static const char *const items[] = {",flac:i16", ",aiff:s16"};
    for (size_t i = 0; i < 2; i++) {
        int16_t read[10];
        assert_int_equal(
            io_write_stream(io_path(names[i]), items[i], SCALAR_F32, packets, 9, 4, &error),
            PRT_OK);
        assert_int_equal(
            io_read_stream(io_path(names[i]), "", SCALAR_I16, read, 10, 10, &count, &error),
            PRT_OK);
        assert_int_equal(count, 9);
        assert_memory_equal(read, expected, sizeof expected);
    }
}

static void sound_outputs_that_would_lose_something_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *items;
        enum scalar_type packet;
        const char *message;
    } rows[] = {
        {"n.flac", "", SCALAR_F32, "flac has no samples of type f32: name one of flac:i16"},
        {"n.flac", "", SCALAR_I32, "flac has no samples of type i32"},
        {"n.flac", "", SCALAR_U8, "flac has no samples of type u8"},
        {"n.aiff", "", SCALAR_U8, "aiff has no samples of type u8: name one of aiff:i16 aiff:i32"},
        {"n.aiff", ",aiff:i16le", SCALAR_I16, NULL},
        {"n.aiff", ",aiff:i16be", SCALAR_I16, "aiff has its own order of bytes: aiff:i16"},
        {"n.aiff", ",aiff:f32", SCALAR_U16, "packets of type u16 cannot become aiff:f32"},
        {"n.aiff", ",aiff:i16", SCALAR_BOOL, "packets of type bool cannot become aiff:i16"},
        {"n.aiff", ",channels=1025", SCALAR_I16, "aiff has at most 1024 channels"},
        {"n.ogg", "", SCALAR_F32, "ogg is not written, because it would change the samples"},
        {"n.flac", ",channels=9", SCALAR_I16,
         "flac cannot have 9 channels of type i16 with 48000 Hz"},
        {"n.flac", ",rate=2000000", SCALAR_I16,
         "flac cannot have 1 channel of type i16 with 2000000 Hz"}};
    const double packets[2] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum prt_status status = io_write_stream(io_path(rows[i].name), rows[i].items,
                                                 rows[i].packet, packets, 1, 1, &error);
        assert_int_equal(status, rows[i].message == NULL ? PRT_OK : PRT_E_USAGE);
        if (rows[i].message != NULL) assert_says(rows[i].message);
        assert_int_equal(access(io_path(rows[i].name), F_OK), rows[i].message == NULL ? 0 : -1);
        (void)unlink(io_path(rows[i].name));
    }
    const int32_t wide[] = {1, 2, 40000};
    assert_int_equal(
        io_write_stream(io_path("n.flac"), ",flac:i16", SCALAR_I32, wide, 3, 3, &error),
        PRT_E_FORMAT);
    assert_says("packet 2 does not fit the type i16");
    assert_int_equal(
        io_write_stream(io_path("n.aiff"), ",channels=2", SCALAR_I32, wide, 3, 3, &error),
        PRT_E_FORMAT);
    assert_says("3 packets are not whole frames of 2 channels");
    assert_int_equal(access(io_path("n.flac"), F_OK), -1);
    assert_int_equal(access(io_path("n.aiff"), F_OK), -1);
}

/* Before anything of them is looked at: the packets of the second write are not there. */
static void sound_files_are_no_longer_than_their_headers_can_say(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum scalar_type packet;
        size_t more;
        const char *message;
    } rows[] = {
        {"g.aiff", SCALAR_I16, (size_t)1 << 30, "an aiff file cannot be larger than 2 GiB"},
        {"g.aiff", SCALAR_I32, SIZE_MAX, "an aiff file cannot be larger than 2 GiB"},
        {"g.flac", SCALAR_I16, ((size_t)1 << 36) - 4, "a flac file cannot have 2^36 frames"}};
    static const double packets[4] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prt_sink *sink = NULL;
        assert_int_equal(
            io_open_sink(io_path(rows[i].name), "", rows[i].packet, NULL, &sink, &error), PRT_OK);
        assert_int_equal(prt_sink_write(sink, packets, 4, &error), PRT_OK);
        assert_int_equal(prt_sink_write(sink, packets, rows[i].more, &error), PRT_E_WRITE);
        assert_says(rows[i].message);
        prt_sink_close(sink);
        assert_int_equal(access(io_path(rows[i].name), F_OK), -1);
    }
}

static void a_full_device_is_told_at_the_end(void **state)
{
    (void)state;
    static const int16_t packets[FRAMES] = {0};
    assert_int_equal(
        io_write_stream("/dev/full", ",flac", SCALAR_I16, packets, FRAMES, FRAMES, &error),
        PRT_E_WRITE);
    assert_says("/dev/full: cannot write");
}

/* Files may have 100,000 bytes: the encoder's write fails, and nothing stays. */
static void a_write_that_fails_while_encoding_is_told(void **state)
{
    (void)state;
    static float packets[100000];
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){100000, before.rlim_max};
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum prt_status status =
        io_write_stream(io_path("big.aiff"), "", SCALAR_F32, packets, 100000, 100000, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, PRT_E_WRITE);
    assert_says("big.aiff: cannot write");
    assert_int_equal(access(io_path("big.aiff"), F_OK), -1);
}

static const char *say_error(int number)
{
    static const char *const texts[] = {"Error : the file is short.", "No Error.", "Error : "};
    return texts[number];
}

static void reasons_do_not_begin_with_error(void **state)
{
    (void)state;
    const struct prt_sound_library library = {.error_number = say_error};
    assert_string_equal(prt_sound_library_reason(&library, 0), "the file is short.");
    assert_string_equal(prt_sound_library_reason(&library, 1), "No Error.");
    assert_string_equal(prt_sound_library_reason(&library, 2), "");
}

IO_TEST_MAIN("io_sound", cmocka_unit_test(reasons_do_not_begin_with_error),
             cmocka_unit_test(a_write_that_fails_while_encoding_is_told),
             cmocka_unit_test(unusual_wav_headers_are_decided_upon_in_pipes_as_in_files),
             cmocka_unit_test(every_format_is_read_as_libsndfile_reads_it_from_files_and_pipes),
             cmocka_unit_test(integer_ports_get_the_stored_values_of_each_format),
             cmocka_unit_test(the_content_and_not_the_name_says_which_format_it_is),
             cmocka_unit_test(every_prefix_of_a_sound_file_is_refused),
             cmocka_unit_test(no_changed_byte_of_a_sound_file_is_a_crash),
             cmocka_unit_test(damaged_flac_samples_are_refused),
             cmocka_unit_test(flac_without_its_number_of_samples_is_refused),
             cmocka_unit_test(an_ogg_file_has_one_stream_and_its_end),
             cmocka_unit_test(a_long_ogg_file_is_read_to_its_end),
             cmocka_unit_test(the_chunks_of_aiff_come_in_any_order),
             cmocka_unit_test(what_aiff_says_and_has_not_is_refused),
             cmocka_unit_test(a_pipe_whose_samples_must_be_sought_is_copied_first),
             cmocka_unit_test(a_pipe_that_cannot_be_copied_is_refused),
             cmocka_unit_test(what_is_written_is_read_back_and_equal_packets_give_equal_files),
             cmocka_unit_test(no_output_has_the_time_of_day),
             cmocka_unit_test(floats_become_samples_when_asked),
             cmocka_unit_test(sound_outputs_that_would_lose_something_are_refused),
             cmocka_unit_test(sound_files_are_no_longer_than_their_headers_can_say),
             cmocka_unit_test(a_full_device_is_told_at_the_end))
