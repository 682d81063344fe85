/* SPDX-License-Identifier: MIT */
/* y4m: YUV4MPEG2, the uncompressed video of ffmpeg, mpv and mjpegtools (yuv4mpeg(5)): a line with the size and the rate, then
 * frames, each with a line of its own and planes of 8-bit samples.
 *
 * Read: mono (one channel), 444, 422 and 420 (three channels: Y, Cb, Cr of each pixel one after the other, as they stand in the
 * file; a colour sample that several pixels share is repeated).  Interlaced video and more bits are refused.
 * Written: mono or 444.  Samples become packets and back as those of images (io_internal.h). */
#include "tools/piperun/io/io_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024 /* of a stream's header, or of a frame's */
#define SIDE_MAX ((uint64_t)INT32_MAX)
#define FRAME_BYTES_MAX ((uint64_t)1 << 27)
#define SAMPLES_PART ((size_t)1024)
#define HERTZ_DEFAULT 25

static const char magic[] = "YUV4MPEG2", frame_magic[] = "FRAME";

/* How many pixels share a colour sample, as shifts. */
static const struct chroma {
    const char *name;
    uint8_t channels, across, down;
} chromas[] = {{"mono", 1, 0, 0},    {"444", 3, 0, 0},      {"422", 3, 1, 0},     {"420", 3, 1, 1},
               {"420jpeg", 3, 1, 1}, {"420mpeg2", 3, 1, 1}, {"420paldv", 3, 1, 1}};

/* Where the samples of a frame are. */
struct planes {
    uint8_t *bytes; /* owned; the planes one after the other */
    size_t size;    /* of all of them */
    size_t width, height;
    size_t colour_width, colour_bytes; /* of a colour plane */
    uint8_t channels, across, down;
};

struct y4m_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct planes planes;
    size_t next, samples; /* of the frame at hand */
};

struct y4m_sink {
    struct prt_sink base;
    struct planes planes;
    size_t next; /* sample of the frame at hand */
};

/* Sets the sizes and gets the memory. */
static enum prt_status make_planes(struct planes *planes, const char *name, uint32_t width,
                                   uint32_t height, const struct chroma *chroma,
                                   struct prt_error *error)
{
    *planes = (struct planes){.width = width,
                              .height = height,
                              .channels = chroma->channels,
                              .across = chroma->across,
                              .down = chroma->down};
    uint64_t bytes = (uint64_t)width * height; /* below 2^62 */
    if (chroma->channels == 3) {
        planes->colour_width = (planes->width + chroma->across) >> chroma->across;
        planes->colour_bytes =
            planes->colour_width * ((planes->height + chroma->down) >> chroma->down);
        bytes += 2 * planes->colour_bytes;
    }
    if (bytes > FRAME_BYTES_MAX)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: a frame of %" PRIu32 "x%" PRIu32 " has more than %" PRIu64
                             " bytes",
                             name, width, height, FRAME_BYTES_MAX);
    planes->size = (size_t)bytes;
    planes->bytes = malloc(planes->size + 1);
    return planes->bytes != NULL ? PRT_OK : prt_io_no_memory(error);
}

/* Sample `index` of a frame, pixel by pixel. */
static uint8_t *find_sample(const struct planes *planes, size_t index)
{
    size_t pixel = index / planes->channels, channel = index % planes->channels;
    if (channel == 0) return planes->bytes + pixel;
    size_t row = pixel / planes->width >> planes->down;
    size_t column = pixel % planes->width >> planes->across;
    return planes->bytes + planes->width * planes->height + (channel - 1) * planes->colour_bytes +
           row * planes->colour_width + column;
}

/* --- source --- */

static enum prt_status refuse_y4m(const struct prt_io_reader *reader, struct prt_error *error,
                                  const char *what)
{
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset, "%s: y4m, byte %llu: %s",
                            reader->name, (unsigned long long)reader->offset, what);
}

/* Reads a line that begins with this word: `text` is the rest of it.  `*at_end`: the file has no more bytes. */
static enum prt_status read_y4m_line(struct prt_io_reader *reader, const char *word,
                                     char text[LINE_BYTES], bool *at_end, struct prt_error *error)
{
    size_t length = strlen(word), searched = 0;
    const unsigned char *newline = NULL;
    while (newline == NULL) {
        size_t available = prt_io_reader_available(reader);
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        size_t compared = available < length ? available : length;
        *at_end = available == 0 && reader->at_end;
        if (*at_end) return PRT_OK;
        if (memcmp(bytes, word, compared) != 0 ||
            (available > length && bytes[length] != ' ' && bytes[length] != '\n'))
            return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                    "%s: y4m, byte %llu: '%s' is expected", reader->name,
                                    (unsigned long long)reader->offset, word);
        newline = memchr(bytes + searched, '\n', available - searched);
        searched = available;
        if (newline != NULL ? newline - bytes >= LINE_BYTES : available >= LINE_BYTES)
            return refuse_y4m(reader, error, "the line has no end");
        if (newline == NULL && reader->at_end)
            return prt_io_reader_truncated(reader, error, "inside a line of y4m");
        enum prt_status status =
            newline != NULL ? PRT_OK : prt_io_reader_need(reader, available + 1, error);
        if (status != PRT_OK) return status;
    }
    const unsigned char *bytes = prt_io_reader_bytes(reader);
    size_t line = (size_t)(newline - bytes);
    memcpy(text, bytes + length, line - length);
    text[line - length] = '\0';
    if (strlen(text) != line - length) return refuse_y4m(reader, error, "a line has a NUL");
    prt_io_reader_consume(reader, line + 1);
    return PRT_OK;
}

/* A whole number from 1, and what follows it. */
static bool cut_number(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    const char *first = *text;
    for (; **text >= '0' && **text <= '9' && value <= SIDE_MAX; (*text)++)
        value = value * 10 + (uint64_t)(**text - '0');
    *number = (uint32_t)value;
    return *text > first && value > 0 && value <= SIDE_MAX;
}

/* The words of the header that matter. */
struct y4m_header {
    uint32_t width, height, hertz, divisor;
    const struct chroma *chroma;
};

static enum prt_status take_header_word(const struct prt_io_reader *reader, const char *word,
                                        struct y4m_header *header, struct prt_error *error)
{
    const char *value = word + 1;
    bool good = true;
    switch (word[0]) {
    case 'W': good = cut_number(&value, &header->width) && *value == '\0'; break;
    case 'H': good = cut_number(&value, &header->height) && *value == '\0'; break;
    case 'F':
        if (strcmp(value, "0:0") == 0) break; /* unknown */
        good = cut_number(&value, &header->hertz) && *value == ':';
        if (good) value++;
        good = good && cut_number(&value, &header->divisor) && *value == '\0';
        break;
    case 'I':
        if (strcmp(value, "p") == 0 || strcmp(value, "?") == 0) break;
        return refuse_y4m(reader, error,
                          "interlaced video is not read: deinterlace it before (ffmpeg -vf yadif)");
    case 'C':
        header->chroma = NULL;
        for (size_t i = 0; i < sizeof chromas / sizeof chromas[0]; i++)
            if (strcmp(value, chromas[i].name) == 0) header->chroma = &chromas[i];
        if (header->chroma != NULL) break;
        return prt_error_set_at(
            error, PRT_E_FORMAT, reader->offset,
            "%s: y4m has samples as '%.32s': mono, 420, 422 and 444 with 8 bits "
            "are read (ffmpeg -pix_fmt gray or yuv444p)",
            reader->name, value);
    default: break; /* A, the shape of pixels; X, comments */
    }
    if (good) return PRT_OK;
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset, "%s: y4m header: '%.40s' is wrong",
                            reader->name, word);
}

static enum prt_status read_y4m_header(struct y4m_source *y4m, struct prt_error *error)
{
    struct prt_io_reader *reader = &y4m->reader;
    struct prt_source_information *information = &y4m->base.information;
    struct y4m_header header = {.chroma = &chromas[3]}; /* without a word: 420 */
    char line[LINE_BYTES], *rest = line;
    bool at_end;
    enum prt_status status = read_y4m_line(reader, magic, line, &at_end, error);
    if (status == PRT_OK && at_end)
        status = prt_io_reader_truncated(reader, error, "and has no y4m header");
    for (char *word; status == PRT_OK && (word = strtok_r(rest, " ", &rest)) != NULL;)
        status = take_header_word(reader, word, &header, error);
    if (status != PRT_OK) return status;
    if (header.width == 0 || header.height == 0)
        return refuse_y4m(reader, error, "the header has no width or no height");
    information->width_packets = header.width;
    information->height_packets = header.height;
    information->channels = header.chroma->channels;
    information->rate_hertz = header.hertz;
    information->rate_divisor = header.hertz > 0 ? header.divisor : 1;
    status =
        make_planes(&y4m->planes, reader->name, header.width, header.height, header.chroma, error);
    y4m->samples = y4m->planes.width * y4m->planes.height * y4m->planes.channels;
    y4m->next = y4m->samples;
    return status;
}

/* Reads the next frame; at the end of the file `*at_end`. */
static enum prt_status read_frame(struct y4m_source *y4m, bool *at_end, struct prt_error *error)
{
    char line[LINE_BYTES];
    struct prt_io_elements elements = {SCALAR_U8, false, y4m->planes.size};
    enum prt_status status = read_y4m_line(&y4m->reader, frame_magic, line, at_end, error);
    if (status != PRT_OK || *at_end) return status;
    for (size_t done = 0, count = 0; done < y4m->planes.size; done += count, count = 0) {
        status = prt_io_elements_read(&y4m->reader, &elements, SCALAR_U8, y4m->planes.bytes + done,
                                      y4m->planes.size - done, &count, error);
        if (status != PRT_OK) return status;
    }
    y4m->next = 0;
    return PRT_OK;
}

static enum prt_status y4m_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct y4m_source *y4m = (struct y4m_source *)source;
    unsigned char *target = packets;
    uint16_t samples[SAMPLES_PART];
    while (*count < capacity) {
        bool at_end = false;
        if (y4m->next == y4m->samples) {
            if (*count > 0 && !y4m->reader.regular) return PRT_OK; /* samples so far */
            enum prt_status status = read_frame(y4m, &at_end, error);
            if (status != PRT_OK || at_end) return status;
        }
        size_t part = capacity - *count < SAMPLES_PART ? capacity - *count : SAMPLES_PART;
        if (part > y4m->samples - y4m->next) part = y4m->samples - y4m->next;
        for (size_t i = 0; i < part; i++)
            samples[i] = *find_sample(&y4m->planes, y4m->next + i);
        prt_io_image_unpack(target + *count * scalar_width_bytes(source->packet), source->packet,
                            samples, UINT8_MAX, part);
        y4m->next += part;
        *count += part;
    }
    return PRT_OK;
}

static void y4m_close(struct prt_source *source)
{
    struct y4m_source *y4m = (struct y4m_source *)source;
    prt_io_reader_close(&y4m->reader);
    free(y4m->planes.bytes);
    free(source);
}

static const struct prt_source_ops y4m_source_ops = {y4m_read, y4m_close};

enum prt_status prt_y4m_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    struct y4m_source *y4m =
        (struct y4m_source *)prt_source_make(sizeof *y4m, &y4m_source_ops, layout->scalar, error);
    if (y4m == NULL) return PRT_E_NOMEM;
    y4m->base.reader = &y4m->reader;
    enum prt_status status = prt_io_reader_open(&y4m->reader, spec->path, environment, error);
    if (status == PRT_OK) status = read_y4m_header(y4m, error);
    if (status == PRT_OK)
        status = prt_io_image_check_packet(spec->path, layout->scalar, UINT8_MAX, error);
    if (status != PRT_OK) {
        y4m_close(&y4m->base);
        return status;
    }
    *source = &y4m->base;
    return PRT_OK;
}

/* --- sink --- */

static enum prt_status put_frame(struct y4m_sink *y4m, struct prt_error *error)
{
    struct prt_io_writer *writer = &y4m->base.writer;
    enum prt_status status = prt_io_writer_put(writer, "FRAME\n", sizeof frame_magic, error);
    y4m->next = 0;
    return status == PRT_OK ? prt_io_writer_put(writer, y4m->planes.bytes, y4m->planes.size, error)
                            : status;
}

static enum prt_status y4m_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    struct y4m_sink *y4m = (struct y4m_sink *)sink;
    const unsigned char *next = packets;
    uint8_t samples[SAMPLES_PART];
    for (size_t done = 0; done < count;) {
        size_t part = count - done < SAMPLES_PART ? count - done : SAMPLES_PART;
        size_t packed = prt_io_image_pack(samples, next, sink->packet, part);
        if (packed < part)
            return prt_error_set(
                error, PRT_E_FORMAT, "%s: packet %llu is outside 0 to 255, the samples of a video",
                sink->writer.name, (unsigned long long)sink->packets + done + packed);
        for (size_t i = 0; i < part; i++) {
            *find_sample(&y4m->planes, y4m->next++) = samples[i];
            if (y4m->next < y4m->planes.size) continue;
            enum prt_status status = put_frame(y4m, error);
            if (status != PRT_OK) return status;
        }
        next += part * scalar_width_bytes(sink->packet);
        done += part;
    }
    return PRT_OK;
}

static enum prt_status y4m_complete(struct prt_sink *sink, struct prt_error *error)
{
    const struct y4m_sink *y4m = (const struct y4m_sink *)sink;
    if (y4m->next == 0) return PRT_OK;
    return prt_error_set(error, PRT_E_FORMAT, "%s: the last frame has %zu of %zu samples",
                         sink->writer.name, y4m->next, y4m->planes.size);
}

static void y4m_release(struct prt_sink *sink)
{
    free(((struct y4m_sink *)sink)->planes.bytes);
}

static const struct prt_sink_ops y4m_sink_ops = {y4m_write, y4m_complete, y4m_release};

enum prt_status prt_y4m_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum prt_status status = prt_io_image_check_spec(spec, layout, error);
    if (status == PRT_OK && spec->height_packets == 0)
        status = prt_error_set(error, PRT_E_USAGE,
                               "%s: a video needs the height of its frames: add height=N, or give "
                               "port '%s' frames in the source (frame NxM)",
                               spec->path, spec->port);
    if (status != PRT_OK) return status;
    struct y4m_sink *y4m =
        (struct y4m_sink *)prt_sink_make(sizeof *y4m, &y4m_sink_ops, layout->scalar, error);
    if (y4m == NULL) return PRT_E_NOMEM;
    const struct chroma *chroma = &chromas[prt_io_channels(spec, layout) == 1 ? 0 : 1];
    char header[LINE_BYTES];
    int length = snprintf(header, sizeof header,
                          "%s W%" PRIu32 " H%" PRIu32 " F%" PRIu32 ":%" PRIu32 " Ip A1:1 C%s\n",
                          magic, spec->width_packets, spec->height_packets,
                          spec->rate_hertz > 0 ? spec->rate_hertz : HERTZ_DEFAULT,
                          spec->rate_divisor > 0 ? spec->rate_divisor : 1, chroma->name);
    status = make_planes(&y4m->planes, spec->path, spec->width_packets, spec->height_packets,
                         chroma, error);
    if (status == PRT_OK)
        status = prt_io_writer_open(&y4m->base.writer, spec->path, false, environment, error);
    if (status == PRT_OK)
        status = prt_io_writer_put(&y4m->base.writer, header, (size_t)length, error);
    if (status != PRT_OK) {
        prt_sink_close(&y4m->base);
        return status;
    }
    *sink = &y4m->base;
    return PRT_OK;
}
