/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes as a file that is bound to an in-port.  The first four choose the format, the type
 * of a packet, an option of the port, and the size of pieces; the rest is the file.  It is read at
 * once, in pieces, and from a pipe: all three give the same packets and come to the same end.
 */
#include "tests/fuzz/fuzz.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/piperun/io/stream.h"

enum { CHOICES = 4, FILE_BYTES_MAX = 60000, STREAM_BYTES_MAX = 1 << 18 };

static void expect(bool holds)
{
    if (!holds) abort();
}

/* The bytes that a reader has given, up to STREAM_BYTES_MAX. */
struct stream {
    enum prt_status opened, ended;
    struct prt_source_information information;
    size_t packets;
    uint8_t bytes[STREAM_BYTES_MAX];
};

static const struct {
    const char *name;
    enum scalar_type scalar;
    size_t width_bytes;
} types[] = {{"u8", SCALAR_U8, 1},   {"i16", SCALAR_I16, 2}, {"i32", SCALAR_I32, 4},
             {"f32", SCALAR_F32, 4}, {"f64", SCALAR_F64, 8}, {"bool", SCALAR_BOOL, 1},
             {"u64", SCALAR_U64, 8}, {"f16", SCALAR_F16, 2}};

static const char *const formats[] = {"wav",
                                      "npy",
                                      "pgm",
                                      "png", /* wav: any sound */
                                      "csv",
                                      "raw",
                                      "raw:i16be",
                                      "raw:f64",
                                      "csv,headings,missing=0",
                                      "csv,separator=;,comment=#",
                                      "jsonl",
                                      "jsonl,missing=0",
                                      "y4m"};
static const char *const options[] = {"", ",rate=48000", ",width=4", ",channels=2"};

/* Reads until the end, an error, or there is enough. */
static void read_all(struct prt_source *source, size_t width_bytes, size_t piece_packets,
                     struct stream *stream)
{
    size_t most = STREAM_BYTES_MAX / width_bytes;
    while (stream->packets < most) {
        struct prt_error error = {0};
        size_t count = SIZE_MAX, capacity = most - stream->packets;
        if (piece_packets > 0 && capacity > piece_packets) capacity = piece_packets;
        /* A block of just that size, so that a sanitizer sees a packet too many. */
        uint8_t *room = malloc(capacity * width_bytes);
        expect(room != NULL);
        stream->ended = prt_source_read(source, room, capacity, &count, &error);
        expect(count <= capacity);
        expect(stream->ended == PRT_OK || (count == 0 && error.message[0] != '\0'));
        memcpy(stream->bytes + stream->packets * width_bytes, room, count * width_bytes);
        stream->packets += count;
        free(room);
        if (count == 0) return;
    }
    stream->ended = PRT_OK;
}

/* The stream of the descriptor's file, in pieces of so many packets; 0: as they come. */
static struct stream *read_stream(int fd, const uint8_t choices[CHOICES], size_t piece_packets)
{
    char text[64];
    size_t type = choices[1] % (sizeof types / sizeof *types);
    struct prt_port_spec spec;
    struct prt_error error = {0};
    struct prt_source *source = NULL;
    struct stream *stream = calloc(1, sizeof *stream);
    expect(stream != NULL);
    snprintf(text, sizeof text, "x=/proc/self/fd/%d,%s%s", fd,
             formats[choices[0] % (sizeof formats / sizeof *formats)],
             options[choices[2] % (sizeof options / sizeof *options)]);
    expect(prt_port_spec_parse(text, &spec, &error) == PRT_OK);
    stream->opened = prt_source_open(&spec, types[type].scalar, NULL, &source, &error);
    expect(stream->opened == PRT_OK || error.message[0] != '\0');
    if (stream->opened == PRT_OK) {
        prt_source_information(source, &stream->information);
        read_all(source, types[type].width_bytes, piece_packets, stream);
        prt_source_close(source);
    }
    prt_port_spec_free(&spec);
    return stream;
}

static int make_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);
    expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

/* The read end of a pipe that holds all of it, and whose writer has gone. */
static int make_pipe(const uint8_t *data, size_t size)
{
    int ends[2];
    expect(pipe(ends) == 0 && write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    return ends[0];
}

/* A regular file that is shorter than its header says is refused at once, a pipe when it has come to
 * its end, or for another reason before.  Frees `b`. */
static void expect_same_from_pipe(const struct stream *a, struct stream *b, size_t width_bytes)
{
    if (a->opened != PRT_OK) {
        expect(b->opened != PRT_OK || b->ended != PRT_OK);
    } else {
        expect(b->opened == PRT_OK && a->ended == b->ended && a->packets == b->packets);
        expect(memcmp(a->bytes, b->bytes, a->packets * width_bytes) == 0);
    }
    free(b);
}

/* Frees `b`. */
static void expect_same(const struct stream *a, struct stream *b, size_t width_bytes)
{
    expect(a->opened == b->opened && a->ended == b->ended && a->packets == b->packets);
    expect(memcmp(a->bytes, b->bytes, a->packets * width_bytes) == 0);
    free(b);
}

/* A regular file that says how many packets it has, has them. */
static void check_information(const struct stream *stream)
{
    if (stream->opened != PRT_OK || stream->ended != PRT_OK) return;
    uint64_t packets = stream->information.packets;
    expect(packets == PRT_PACKETS_UNKNOWN || stream->packets <= packets);
}

/* libvorbis below libsndfile loses a block for each malformed Ogg stream.  It stays loaded, so that the sanitizer knows whose block it is. */
// NOLINTBEGIN(bugprone-reserved-identifier,misc-use-internal-linkage): its name
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
// NOLINTEND(bugprone-reserved-identifier,misc-use-internal-linkage)
{
    return "leak:vorbis_info_init\n";
}

static void keep_sound_library(void)
{
    static bool kept;
    if (!kept) (void)dlopen("libsndfile.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    kept = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    keep_sound_library();
    if (size < CHOICES || size > FILE_BYTES_MAX) return 0;
    size_t width_bytes = types[data[1] % (sizeof types / sizeof *types)].width_bytes;
    int file = make_file(data + CHOICES, size - CHOICES);
    int pipe_end = make_pipe(data + CHOICES, size - CHOICES);
    struct stream *whole = read_stream(file, data, 0);
    check_information(whole);
    expect_same(whole, read_stream(file, data, 1 + data[3] % 100), width_bytes);
    expect_same_from_pipe(whole, read_stream(pipe_end, data, 0), width_bytes);
    free(whole);
    close(file);
    close(pipe_end);
    return 0;
}
