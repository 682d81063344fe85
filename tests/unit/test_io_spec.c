/* SPDX-License-Identifier: MIT */
/* tools/piperun/io: specs of ports, generators, null. */
#include "tests/test.h"

#include "lang/generate.h"
#include "tests/unit/test_io.h"

static struct prt_error error;
static size_t count;

static void arrivals_are_items_of_a_port(void **state)
{
    (void)state;
    struct prt_port_spec spec;
    assert_int_equal(prt_port_spec_parse("in=a.wav,arrive=44.1kHz,rate=44100", &spec, &error),
                     PRT_OK);
    assert_int_equal(spec.arrive_packets, 44100);
    assert_int_equal(spec.arrive_seconds, 1);
    assert_int_equal(spec.rate_hertz, 44100);
    assert_true(spec.arrive_path == NULL && !spec.full && spec.format == PRT_FORMAT_WAV);
    prt_port_spec_free(&spec);
    assert_int_equal(prt_port_spec_parse("in=gen:ramp:8,full,arrive=@a/t.txt", &spec, &error),
                     PRT_OK);
    assert_string_equal(spec.arrive_path, "a/t.txt");
    assert_true(spec.full && spec.arrive_packets == 0 && spec.format == PRT_FORMAT_RAMP);
    prt_port_spec_free(&spec);
    assert_null(spec.arrive_path);
}

static void specs_are_parsed(void **state)
{
    (void)state;
    const struct {
        const char *text, *port, *path;
        enum prt_format format;
        int element; /* -1: none */
        bool big_endian;
        uint32_t rate, width, channels;
    } rows[] = {
        {"in=a.raw", "in", "a.raw", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=a.bin", "in", "a.bin", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=a.f32", "in", "a.f32", PRT_FORMAT_RAW, SCALAR_F32, false, 0, 0, 0},
        {"in=a.S16", "in", "a.S16", PRT_FORMAT_RAW, SCALAR_I16, false, 0, 0, 0},
        {"in=a.s16be", "in", "a.s16be", PRT_FORMAT_RAW, SCALAR_I16, true, 0, 0, 0},
        {"in=a.u8", "in", "a.u8", PRT_FORMAT_RAW, SCALAR_U8, false, 0, 0, 0},
        {"x[0]=d/e.npy", "x[0]", "d/e.npy", PRT_FORMAT_NPY, -1, false, 0, 0, 0},
        {"in=A.WAV", "in", "A.WAV", PRT_FORMAT_WAV, -1, false, 0, 0, 0},
        {"in=a.aiff", "in", "a.aiff", PRT_FORMAT_AIFF, -1, false, 0, 0, 0},
        {"in=a.aif", "in", "a.aif", PRT_FORMAT_AIFF, -1, false, 0, 0, 0},
        {"in=a.flac", "in", "a.flac", PRT_FORMAT_FLAC, -1, false, 0, 0, 0},
        {"in=a.OGG", "in", "a.OGG", PRT_FORMAT_OGG, -1, false, 0, 0, 0},
        {"in=a,flac:s16,rate=8000", "in", "a", PRT_FORMAT_FLAC, SCALAR_I16, false, 8000, 0, 0},
        {"in=a,aiff:f64", "in", "a", PRT_FORMAT_AIFF, SCALAR_F64, false, 0, 0, 0},
        {"in=a.pgm", "in", "a.pgm", PRT_FORMAT_PGM, -1, false, 0, 0, 0},
        {"in=a.pnm", "in", "a.pnm", PRT_FORMAT_PGM, -1, false, 0, 0, 0},
        {"in=a.ppm", "in", "a.ppm", PRT_FORMAT_PGM, -1, false, 0, 0, 3},
        {"in=a.ppm,channels=1", "in", "a.ppm", PRT_FORMAT_PGM, -1, false, 0, 0, 1},
        {"in=a.png,width=640", "in", "a.png", PRT_FORMAT_PNG, -1, false, 0, 640, 0},
        {"in=a.csv", "in", "a.csv", PRT_FORMAT_CSV, -1, false, 0, 0, 0},
        {"in=a.txt", "in", "a.txt", PRT_FORMAT_CSV, -1, false, 0, 0, 0},
        {"in=a,csv", "in", "a", PRT_FORMAT_CSV, -1, false, 0, 0, 0},
        {"in=a.csv,raw:f64le", "in", "a.csv", PRT_FORMAT_RAW, SCALAR_F64, false, 0, 0, 0},
        {"in=a,rate=8000,wav:s16,channels=2", "in", "a", PRT_FORMAT_WAV, SCALAR_I16, false, 8000, 0,
         2},
        {"in=-", "in", "-", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=-,npy", "in", "-", PRT_FORMAT_NPY, -1, false, 0, 0, 0},
        {"in=/dev/full", "in", "/dev/full", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=a=b.raw", "in", "a=b.raw", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=a.jsonl", "in", "a.jsonl", PRT_FORMAT_JSONL, -1, false, 0, 0, 0},
        {"in=a.ndjson", "in", "a.ndjson", PRT_FORMAT_JSONL, -1, false, 0, 0, 0},
        {"in=a.y4m,rate=24/2", "in", "a.y4m", PRT_FORMAT_Y4M, -1, false, 24, 0, 0},
        {"in=alsa:hw:1,rate=8000", "in", "alsa:hw:1", PRT_FORMAT_LIVE, -1, false, 8000, 0, 0},
        {"in=pipewire:", "in", "pipewire:", PRT_FORMAT_LIVE, -1, false, 0, 0, 0},
        {"in=./jack:,raw", "in", "./jack:", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=null", "in", NULL, PRT_FORMAT_NULL, -1, false, 0, 0, 0},
        {"in=./null,raw", "in", "./null", PRT_FORMAT_RAW, -1, false, 0, 0, 0},
        {"in=x,null", "in", "x", PRT_FORMAT_NULL, -1, false, 0, 0, 0},
        {"in=a,raw:bool", "in", "a", PRT_FORMAT_RAW, SCALAR_BOOL, false, 0, 0, 0},
        {"in=a,raw:bf16", "in", "a", PRT_FORMAT_RAW, SCALAR_BF16, false, 0, 0, 0},
        {"in=a,ppm,channels=1", "in", "a", PRT_FORMAT_PGM, -1, false, 0, 0, 1},
        {"in=a,channels=1,ppm", "in", "a", PRT_FORMAT_PGM, -1, false, 0, 0, 1},
        {"in=gen:ramp,rate=5", "in", NULL, PRT_FORMAT_RAMP, -1, false, 5, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prt_port_spec spec;
        assert_int_equal(prt_port_spec_parse(rows[i].text, &spec, &error), PRT_OK);
        assert_string_equal(spec.port, rows[i].port);
        assert_int_equal(spec.path == NULL, rows[i].path == NULL);
        if (spec.path != NULL) assert_string_equal(spec.path, rows[i].path);
        assert_int_equal(spec.format, rows[i].format);
        assert_int_equal(spec.has_element, rows[i].element >= 0);
        if (spec.has_element) assert_int_equal(spec.element, rows[i].element);
        assert_int_equal(spec.big_endian, rows[i].big_endian);
        assert_int_equal(spec.rate_hertz, rows[i].rate);
        assert_int_equal(spec.width_packets, rows[i].width);
        assert_int_equal(spec.channels, rows[i].channels);
        assert_int_equal(prt_port_spec_is_standard(&spec),
                         spec.path != NULL && strcmp(spec.path, "-") == 0);
        prt_port_spec_free(&spec);
        prt_port_spec_free(&spec);
    }
}

static void generators_are_parsed(void **state)
{
    (void)state;
    const struct {
        const char *text;
        enum prt_format format;
        bool has_count;
        uint64_t seed, count;
    } rows[] = {{"a=gen:ramp", PRT_FORMAT_RAMP, false, 0, 0},
                {"a=gen:ramp:0", PRT_FORMAT_RAMP, true, 0, 0},
                {"a=gen:ramp:1000", PRT_FORMAT_RAMP, true, 0, 1000},
                {"a=gen:zeros", PRT_FORMAT_ZEROS, false, 0, 0},
                {"a=gen:zeros:0x10", PRT_FORMAT_ZEROS, true, 0, 16},
                {"a=gen:noise:7", PRT_FORMAT_NOISE, false, 7, 0},
                {"a=gen:noise:18446744073709551615:3", PRT_FORMAT_NOISE, true, UINT64_MAX, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prt_port_spec spec;
        assert_int_equal(prt_port_spec_parse(rows[i].text, &spec, &error), PRT_OK);
        assert_int_equal(spec.format, rows[i].format);
        assert_int_equal(spec.seed, rows[i].seed);
        assert_int_equal(spec.has_count, rows[i].has_count);
        assert_int_equal(spec.count_packets, rows[i].count);
        prt_port_spec_free(&spec);
    }
}

static void specs_that_say_nothing_clear_are_usage_errors(void **state)
{
    (void)state;
    const char *texts[] = {"",
                           "in",
                           "=a.raw",
                           "in=",
                           "in=,raw",
                           "in=a",
                           "in=a.xyz",
                           "in=dir.raw/file",
                           "in=a.",
                           "in=a.raw,",
                           "in=a.raw,,raw",
                           "in=a.raw,mp3",
                           "in=a.raw,raw:i24",
                           "in=a.raw,raw:",
                           "in=a.raw,raw:f32xe",
                           "in=a.raw,raw:le",
                           "in=a.raw,raw:f32lele",
                           "in=a.raw,csv:f32",
                           "in=a.raw,raw,npy",
                           "in=a.raw,raw,raw",
                           "in=a.raw,channels=1,channels=1",
                           "in=a.raw,rate=0",
                           "in=a.raw,rate=-1",
                           "in=a.raw,rate=",
                           "in=a.raw,rate=1k",
                           "in=a.raw,rate=2147483648",
                           "in=a.raw,width=99999999999999999999999",
                           "in=a.raw,height=x",
                           "in=gen:",
                           "in=gen:sine",
                           "in=gen:noise",
                           "in=gen:noise:",
                           "in=gen:noise::5",
                           "in=gen:noise:-1",
                           "in=gen:noise:1:2:3",
                           "in=gen:noise:18446744073709551616",
                           "in=gen:ramp:",
                           "in=gen:ramp:x",
                           "in=gen:ramp:18446744073709551615",
                           "in=gen:ramp:0x",
                           "in=gen:ramp,raw",
                           "in=null,raw"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct prt_port_spec spec = {0};
        if (prt_port_spec_parse(texts[i], &spec, &error) != PRT_E_USAGE)
            print_message("'%s'\n", texts[i]);
        assert_int_equal(prt_port_spec_parse(texts[i], &spec, &error), PRT_E_USAGE);
        assert_null(spec.port);
        assert_true(error.message[0] != '\0');
    }
}

static void what_is_wrong_is_said_with_its_mend(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } rows[] = {
        {"y=a.wav,rate=0", "port 'y': rate= takes a whole number from 1 to 2147483647, not '0'"},
        {"y=a.wav,rate=44.1k",
         "port 'y': rate= takes a whole number from 1 to 2147483647, not '44.1k'"},
        {"y=a.pgm,width=-1",
         "port 'y': width= takes a whole number from 1 to 2147483647, not '-1'"},
        {"y=a.pgm,width",
         "port 'y': width= takes a whole number from 1 to 2147483647, and there is none"},
        {"y=a.pgm,width=5,width=6", "port 'y': width= is given twice"},
        {"y=a,raw:f31", "port 'y': raw has no type 'f31'; did you mean 'raw:f32'?"},
        {"y=a,wav:i12", "port 'y': wav has no type 'i12'; did you mean 'wav:i16'?"},
        {"y=a,wav:int", "port 'y': wav has no type 'int': its types are u8 i16 i32 f32 f64 (s16 is "
                        "i16; with le or "
                        "be after it)"},
        {"y=a,csv:f32", "port 'y': 'csv:f32': csv takes no type; raw:TYPE, npy:TYPE, wav:TYPE, "
                        "aiff:TYPE and flac:TYPE do"},
        {"y=a.wav,raet=8000", "port 'y': there is no option 'raet'; did you mean 'rate='?"},
        {"y=a,cvs", "port 'y': there is no format 'cvs'; did you mean 'csv'?"},
        {"y=-,s16le",
         "port 'y': 's16le' is a type, and a port needs a format; did you mean 'raw:s16le'?"},
        {"y=a,F32",
         "port 'y': 'F32' is a type, and a port needs a format; did you mean 'raw:F32'?"},
        {"y=a,mp3", "port 'y': 'mp3' is no format and no option of a port: raw raw:TYPE npy wav "
                    "aiff flac ogg pgm ppm png "
                    "y4m csv jsonl null rate=N width=N height=N channels=N arrive=RATE "
                    "arrive=@FILE full headings "
                    "separator=C comment=C missing=VALUE (a path "
                    "ends at its first comma)"},
        {"y=a.raw,", "port 'y': nothing follows a comma: leave it out, or name a format"},
        {"y=gen:ramp:0x12345678123456789", "port 'y': the packets of gen:ramp are a whole number "
                                           "below 2^64 - 1, not '0x12345678123456789'"},
        {"y=a,raw:averylongtype",
         "port 'y': raw has no type 'averylongtype': its types are bool i8 u8 i16 u16 i32 u32 i64 "
         "u64 f16 bf16 f32 f64 (s16 is i16; with le or be after it)"},
        {"y=a,an_item_that_is_longer_than_32_bytes",
         "port 'y': 'an_item_that_is_longer_than_32_bytes' is no format and no option of a port: "
         "raw raw:TYPE npy wav aiff flac ogg pgm ppm png y4m csv jsonl null rate=N width=N "
         "height=N channels=N "
         "arrive=RATE arrive=@FILE full headings separator=C comment=C missing=VALUE (a path ends "
         "at its first comma)"},
        {"x=a,arrive",
         "port 'x': arrive= takes the packets that arrive in a second, such as 48000, "
         "44.1kHz or 30000/1001, or @FILE with a line for each arrival, not ''"},
        {"x=a,arrive=48k", "port 'x': arrive= takes the packets that arrive in a second, such as "
                           "48000, 44.1kHz or 30000/1001, or @FILE with a line for each arrival, "
                           "not '48k'"},
        {"x=a,arrive=@", "port 'x': arrive= takes the packets that arrive in a second, such as "
                         "48000, 44.1kHz or 30000/1001, or @FILE with a line for each arrival, not "
                         "'@'"},
        {"x=a,arrive=1,arrive=1", "port 'x': arrive= is given twice"},
        {"x=a,arrive=@t,arrive=1", "port 'x': arrive= is given twice"},
        {"x=a,arive=1", "port 'x': there is no option 'arive'; did you mean 'arrive='?"},
        {"x=a,ful", "port 'x': there is no format 'ful'; did you mean 'full'?"},
        {"y=a,csv,npy", "port 'y': 'csv' and 'npy' are two formats: a port has one"},
        {"y=null,csv", "port 'y': 'null' and 'csv' contradict each other: null has no format (a "
                       "file of that name "
                       "is './null')"},
        {"y=a.mp3", "port 'y': the ending of 'a.mp3' names no format, as .raw .bin .npy .wav .aiff "
                    ".aif .flac .ogg .pgm "
                    ".pnm .ppm .png "
                    ".y4m .csv .txt .jsonl .ndjson and those of types do (.f32 .s16le): name one, "
                    "as in y=a.mp3,raw"},
        {"y=gen:rmap:5", "port 'y': there is no generator 'gen:rmap'; did you mean 'gen:ramp'?"},
        {"y=gen:sine",
         "port 'y': 'gen:sine' is no generator: gen:ramp[:COUNT] gen:noise:SEED[:COUNT] "
         "gen:zeros[:COUNT]"},
        {"y=gen:noise",
         "port 'y': gen:noise needs a seed: gen:noise:SEED[:COUNT], or gen:noise and --seed"},
        {"y=gen:noise:x:3",
         "port 'y': the seed of gen:noise is a whole number below 2^64, not 'x'"},
        {"y=gen:noise:3:x",
         "port 'y': the packets of gen:noise are a whole number below 2^64 - 1, not 'x'"},
        {"y=gen:ramp:1e6",
         "port 'y': the packets of gen:ramp are a whole number below 2^64 - 1, not '1e6'"},
        {"y=gen:ramp:3,csv",
         "port 'y': 'gen:ramp:3' and 'csv' contradict each other: a generator has no format, it "
         "makes packets of the port's type"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct prt_port_spec spec;
        assert_int_equal(prt_port_spec_parse(rows[i].text, &spec, &error), PRT_E_USAGE);
        assert_string_equal(error.message, rows[i].message);
    }
}

static void four_formats_are_sound(void **state)
{
    (void)state;
    static const char *const formats[] = {"raw", "csv",  "npy",  "pgm", "png",
                                          "wav", "aiff", "flac", "ogg"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct prt_port_spec spec;
        char text[32];
        snprintf(text, sizeof text, "in=file,%s", formats[i]);
        assert_int_equal(prt_port_spec_parse(text, &spec, &error), PRT_OK);
        assert_string_equal(prt_format_name(spec.format), formats[i]);
        assert_int_equal(prt_format_is_sound(spec.format), i >= 5);
        prt_port_spec_free(&spec);
    }
}

/* --- generators --- */

static enum prt_status generate(const char *path, enum scalar_type packet, void *packets,
                                size_t capacity, size_t step)
{
    return io_read_stream(path, "", packet, packets, capacity, step, &count, &error);
}

static void ramps_wrap_at_the_width(void **state)
{
    (void)state;
    uint8_t u8[600];
    int8_t i8[600];
    bool b[600];
    float f32[600];
    double f64[600];
    uint16_t u16[600], f16[600], bf16[600];
    assert_int_equal(generate("gen:ramp:600", SCALAR_U8, u8, 600, 77), PRT_OK);
    assert_int_equal(count, 600);
    assert_int_equal(generate("gen:ramp:600", SCALAR_I8, i8, 600, 600), PRT_OK);
    assert_int_equal(generate("gen:ramp:600", SCALAR_BOOL, b, 600, 13), PRT_OK);
    assert_int_equal(generate("gen:ramp:600", SCALAR_F32, f32, 600, 13), PRT_OK);
    assert_int_equal(generate("gen:ramp:600", SCALAR_F64, f64, 600, 13), PRT_OK);
    assert_int_equal(generate("gen:ramp:600", SCALAR_U16, u16, 600, 13), PRT_OK);
    assert_int_equal(generate("gen:ramp:600", SCALAR_F16, f16, 600, 13), PRT_OK);
    assert_int_equal(generate("gen:ramp:600", SCALAR_BF16, bf16, 600, 13), PRT_OK);
    for (int n = 0; n < 600; n++) {
        assert_int_equal(u8[n], n % 256);
        assert_int_equal(i8[n], (n + 128) % 256 - 128);
        assert_int_equal(b[n], n % 2);
        assert_true(f32[n] == (float)n && f64[n] == (double)n);
        assert_int_equal(u16[n], n);
        assert_true(half_from_f16(f16[n]) == (float)n);
    }
    const float even[] = {256, 256, 258, 260, 260}; /* bf16 has 8 bits */
    for (int i = 0; i < 5; i++)
        assert_true(half_from_bf16(bf16[256 + i]) == even[i]);
    assert_int_equal(generate_ramp(SCALAR_F16, 65519), 0x7bff);
    assert_int_equal(generate_ramp(SCALAR_F16, 65520), 0x7c00);
    assert_int_equal(generate_ramp(SCALAR_BF16, UINT64_C(0x8080000000000001)), 0x5f01);
}

/* SplitMix64 as its author publishes it: a state that is stepped, seed 1234567. */
static void noise_is_splitmix64(void **state)
{
    (void)state;
    const uint64_t published[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                  UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                  UINT64_C(16408922859458223821)};
    uint64_t u64[6];
    int64_t i64[5];
    uint16_t u16[5], f16[5], bf16[5];
    int8_t i8[5];
    bool b[5];
    float f32[5];
    double f64[5];
    assert_int_equal(generate("gen:noise:1234567:5", SCALAR_U64, u64, 6, 2), PRT_OK);
    assert_int_equal(count, 5);
    assert_memory_equal(u64, published, sizeof published);
    generate("gen:noise:1234567:5", SCALAR_I64, i64, 5, 5);
    generate("gen:noise:1234567:5", SCALAR_U16, u16, 5, 5);
    generate("gen:noise:1234567:5", SCALAR_I8, i8, 5, 5);
    generate("gen:noise:1234567:5", SCALAR_BOOL, b, 5, 5);
    generate("gen:noise:1234567:5", SCALAR_F32, f32, 5, 1);
    generate("gen:noise:1234567:5", SCALAR_F64, f64, 5, 3);
    generate("gen:noise:1234567:5", SCALAR_F16, f16, 5, 2);
    generate("gen:noise:1234567:5", SCALAR_BF16, bf16, 5, 2);
    for (int n = 0; n < 5; n++) {
        uint64_t z = published[n];
        assert_int_equal(i64[n], (int64_t)z);
        assert_int_equal(u16[n], z >> 48);
        assert_int_equal(i8[n], (int8_t)(z >> 56));
        assert_int_equal(b[n], z >> 63);
        assert_true((double)f32[n] == ((double)(z >> 40) - 8388608.0) / 8388608.0);
        assert_true(f64[n] == ((double)(z >> 11) - 4503599627370496.0) / 4503599627370496.0);
        assert_true(f64[n] >= -1 && f64[n] < 1);
        assert_true(half_from_f16(f16[n]) == ((float)(z >> 53) - 1024) / 1024);
        assert_true(half_from_bf16(bf16[n]) == ((float)(z >> 56) - 128) / 128);
    }
}

static void an_endless_generator_fills_every_read(void **state)
{
    (void)state;
    struct prt_source *source = NULL;
    struct prt_source_information information;
    static float packets[10000];
    assert_int_equal(io_open_source("in", "gen:zeros", "", SCALAR_F32, &source, &error), PRT_OK);
    prt_source_information(source, &information);
    assert_true(information.packets == PRT_PACKETS_UNKNOWN);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(prt_source_read(source, packets, 10000, &count, &error), PRT_OK);
        assert_int_equal(count, 10000);
    }
    assert_true(packets[77] == 0);
    assert_int_equal(prt_source_read(source, packets, 0, &count, &error), PRT_E_USAGE);
    prt_source_close(source);
    prt_source_close(NULL);
}

static void null_is_empty_and_takes_everything(void **state)
{
    (void)state;
    uint32_t packets[4] = {1, 2, 3, 4};
    size_t before = io_folder_entries(false);
    assert_int_equal(generate("null", SCALAR_U32, packets, 4, 4), PRT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(io_write_stream("null", "", SCALAR_U32, packets, 4, 3, &error), PRT_OK);
    assert_int_equal(io_write_stream(io_path("x"), ",null", SCALAR_U32, packets, 4, 3, &error),
                     PRT_OK);
    assert_int_equal(io_folder_entries(false), before);
}

static void generators_are_no_outputs(void **state)
{
    (void)state;
    uint32_t packets[1] = {0};
    assert_int_equal(io_write_stream("gen:ramp", "", SCALAR_U32, packets, 1, 1, &error),
                     PRT_E_USAGE);
}

static void null_is_no_standard_stream(void **state)
{
    (void)state;
    struct prt_port_spec spec;
    assert_int_equal(prt_port_spec_parse("y=-,null", &spec, &error), PRT_OK);
    assert_false(prt_port_spec_is_standard(&spec));
    prt_port_spec_free(&spec);
    assert_int_equal(prt_port_spec_parse("y=-,raw", &spec, &error), PRT_OK);
    assert_true(prt_port_spec_is_standard(&spec));
    prt_port_spec_free(&spec);
    prt_port_spec_free(NULL);
}

/* Equal scalars with a gap between them are no channels. */
static void a_gap_makes_a_record(void **state)
{
    (void)state;
    static const struct prt_field_information fields[] = {{"a", SCALAR_U8, 0, 1, "", 1},
                                                          {"b", SCALAR_U8, 1, 1, "", 1},
                                                          {"b", SCALAR_U8, 2, 1, "", 1}};
    const struct prt_field_information gap[] = {fields[0], fields[2]};
    const struct prt_packet pair = {"pair", 2, fields, SCALAR_U8, 2};
    const struct prt_packet apart = {"apart", 3, gap, SCALAR_U8, 2};
    assert_false(prt_packet_is_record(&pair));
    assert_int_equal(prt_packet_channels(&pair), 2);
    assert_true(prt_packet_is_record(&apart));
    assert_int_equal(prt_packet_channels(&apart), 1);
}

IO_TEST_MAIN("io_spec", cmocka_unit_test(a_gap_makes_a_record),
             cmocka_unit_test(null_is_no_standard_stream), cmocka_unit_test(specs_are_parsed),
             cmocka_unit_test(arrivals_are_items_of_a_port),
             cmocka_unit_test(four_formats_are_sound), cmocka_unit_test(generators_are_parsed),
             cmocka_unit_test(specs_that_say_nothing_clear_are_usage_errors),
             cmocka_unit_test(what_is_wrong_is_said_with_its_mend),
             cmocka_unit_test(ramps_wrap_at_the_width), cmocka_unit_test(noise_is_splitmix64),
             cmocka_unit_test(an_endless_generator_fills_every_read),
             cmocka_unit_test(null_is_empty_and_takes_everything),
             cmocka_unit_test(generators_are_no_outputs))
