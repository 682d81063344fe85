/* SPDX-License-Identifier: MIT */
/* pgm: Netpbm's P2, P5 (grey) and P3, P6 (r, g, b as successive packets), one image, samples up to
 * 65535 (two bytes, the high one first).  Samples become packets as prt_io_image_unpack says.
 * Written: P5, or P6 with channels=3, samples up to 255, by prt_io_image_pack; width= is needed,
 * and the packets must make whole rows. */
#include "tools/piperun/io/io_internal.h"
#include "base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_PART ((size_t)1024)
#define SIDE_MAX ((uint64_t)INT32_MAX)
#define HEADER_BYTES 29 /* as written: "P5\n" 10 digits " " 10 digits "\n255\n" */

struct pgm_source {
    struct prt_source base;
    struct prt_io_reader reader;
    bool text;
    uint32_t sample_max;
    uint64_t remaining; /* samples */
};

struct pgm_sink {
    struct prt_sink base;
    uint32_t width, channels;
};

/* --- shared by all images --- */

enum prt_status prt_io_image_height(const char *name, uint64_t packets, uint32_t width_pixels,
                                    uint32_t channels, uint32_t *height_pixels,
                                    struct prt_error *error)
{
    uint64_t row = (uint64_t)width_pixels * channels;
    if (packets == 0)
        return prt_error_set(error, PRT_E_FORMAT, "%s: an image needs at least one row of packets",
                             name);
    if (packets % row != 0)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: %llu packets are not whole rows of %llu (width %u, channels %u)",
                             name, (unsigned long long)packets, (unsigned long long)row,
                             width_pixels, channels);
    if (packets / row > SIDE_MAX)
        return prt_error_set(error, PRT_E_FORMAT, "%s: too many rows for an image", name);
    *height_pixels = (uint32_t)(packets / row);
    return PRT_OK;
}

enum prt_status prt_io_image_check_spec(const struct prt_port_spec *spec,
                                        const struct prt_packet *layout, struct prt_error *error)
{
    uint32_t channels = prt_io_channels(spec, layout);
    if (spec->width_packets == 0)
        return prt_error_set(
            error, PRT_E_USAGE,
            "%s: an image needs its width: add width=N, or give port '%s' a shape in "
            "the source (rows N, frame NxM)",
            spec->path, spec->port);
    if (channels != 1 && channels != 3)
        return prt_error_set(error, PRT_E_USAGE, "%s: an image has 1 or 3 channels, not %u",
                             spec->path, channels);
    return PRT_OK;
}

enum prt_status prt_io_image_check_packet(const char *name, enum scalar_type packet,
                                          uint32_t sample_max, struct prt_error *error)
{
    if (prt_io_image_packet_ok(packet, sample_max)) return PRT_OK;
    return prt_error_set(error, PRT_E_FORMAT, "%s: samples up to %u do not fit a port of type %s",
                         name, sample_max, scalar_name(packet));
}

/* --- header --- */

static enum prt_status refuse_pgm(const struct prt_io_reader *reader, struct prt_error *error,
                                  const char *what)
{
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset, "%s: pgm, byte %llu: %s",
                            reader->name, (unsigned long long)reader->offset, what);
}

/* Looks at the next byte without taking it; -1 at the end of the file. */
static enum prt_status peek_byte(struct prt_io_reader *reader, int *byte, struct prt_error *error)
{
    enum prt_status status = prt_io_reader_need(reader, 1, error);
    if (status == PRT_OK)
        *byte = prt_io_reader_available(reader) > 0 ? *prt_io_reader_bytes(reader) : -1;
    return status;
}

/* Skips blanks, and comments from # to the end of the line. */
static enum prt_status skip_pgm_blanks(struct prt_io_reader *reader, struct prt_error *error)
{
    bool comment = false;
    for (;;) {
        int byte = -1;
        enum prt_status status = peek_byte(reader, &byte, error);
        if (status != PRT_OK || byte < 0) return status;
        if (byte == '#')
            comment = true;
        else if (byte == '\n' || byte == '\r')
            comment = false;
        else if (!comment && !byte_is_blank((char)byte))
            return PRT_OK;
        prt_io_reader_consume(reader, 1);
    }
}

static enum prt_status read_pgm_number(struct prt_io_reader *reader, uint64_t highest,
                                       uint64_t *number, struct prt_error *error)
{
    enum prt_status status = skip_pgm_blanks(reader, error);
    uint64_t value = 0;
    for (int digits = 0; status == PRT_OK; digits++) {
        int byte = -1;
        status = peek_byte(reader, &byte, error);
        if (status != PRT_OK) return status;
        if (byte < 0 && digits == 0)
            return prt_io_reader_truncated(reader, error, "where a number is expected");
        if (byte < '0' || byte > '9') {
            if (digits == 0) return refuse_pgm(reader, error, "a number is expected");
            *number = value;
            return PRT_OK;
        }
        value = value * 10 + (uint64_t)(byte - '0');
        if (value > highest) return refuse_pgm(reader, error, "a number is too large");
        prt_io_reader_consume(reader, 1);
    }
    return status;
}

static enum prt_status read_magic(struct pgm_source *pgm, struct prt_error *error)
{
    struct prt_io_reader *reader = &pgm->reader;
    enum prt_status status = prt_io_reader_need(reader, 2, error);
    if (status != PRT_OK) return status;
    const unsigned char *bytes = prt_io_reader_bytes(reader);
    size_t available = prt_io_reader_available(reader);
    if (available == 0 || (available == 1 && bytes[0] == 'P'))
        return prt_io_reader_truncated(reader, error, "inside the pgm header");
    if (bytes[0] != 'P' || strchr("2356", bytes[1]) == NULL || bytes[1] == '\0')
        return refuse_pgm(reader, error, "this is none of P2, P5, P3, P6");
    pgm->text = bytes[1] == '2' || bytes[1] == '3';
    pgm->base.information.channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
    prt_io_reader_consume(reader, 2);
    return PRT_OK;
}

static enum prt_status read_pgm_header(struct pgm_source *pgm, struct prt_error *error)
{
    struct prt_io_reader *reader = &pgm->reader;
    struct prt_source_information *information = &pgm->base.information;
    uint64_t width = 0, height = 0, sample_max = 0;
    enum prt_status status = read_magic(pgm, error);
    if (status == PRT_OK) status = read_pgm_number(reader, SIDE_MAX, &width, error);
    if (status == PRT_OK) status = read_pgm_number(reader, SIDE_MAX, &height, error);
    if (status == PRT_OK) status = read_pgm_number(reader, UINT16_MAX, &sample_max, error);
    if (status != PRT_OK) return status;
    if (width == 0 || height == 0 || sample_max == 0)
        return refuse_pgm(reader, error, "width, height or greatest sample is 0");
    pgm->remaining = width * information->channels * height; /* below 3 x 2^62 */
    information->width_packets = (uint32_t)width;
    information->height_packets = (uint32_t)height;
    information->packets = pgm->remaining;
    pgm->sample_max = (uint32_t)sample_max;
    /* To find the end of the number, the reader has looked at the byte after it. */
    if (prt_io_reader_available(reader) == 0)
        return prt_io_reader_truncated(reader, error, "after the pgm header");
    int byte = *prt_io_reader_bytes(reader);
    if (!byte_is_blank((char)byte))
        return refuse_pgm(reader, error, "a blank is expected after the greatest sample");
    prt_io_reader_consume(reader, 1);
    return PRT_OK;
}

/* --- samples --- */

static enum prt_status too_bright(const struct prt_io_reader *reader, struct prt_error *error)
{
    return refuse_pgm(reader, error, "a sample is above the greatest that the header allows");
}

static enum prt_status read_pgm_text(struct pgm_source *pgm, uint16_t *samples, size_t wanted,
                                     size_t *count, struct prt_error *error)
{
    for (*count = 0; *count < wanted; ++*count) {
        uint64_t number = 0;
        enum prt_status status = read_pgm_number(&pgm->reader, UINT16_MAX, &number, error);
        if (status != PRT_OK) return status;
        if (number > pgm->sample_max) return too_bright(&pgm->reader, error);
        samples[*count] = (uint16_t)number;
    }
    return PRT_OK;
}

static enum prt_status read_binary(struct pgm_source *pgm, uint16_t *samples, size_t wanted,
                                   size_t *count, struct prt_error *error)
{
    struct prt_io_reader *reader = &pgm->reader;
    size_t width = pgm->sample_max > UINT8_MAX ? 2 : 1;
    enum prt_status status = prt_io_reader_need(reader, width, error);
    size_t available = prt_io_reader_available(reader) / width;
    if (status != PRT_OK) return status;
    if (available == 0)
        return prt_io_reader_truncated(reader, error, "before the last sample of the image");
    for (*count = 0; *count < wanted && *count < available; ++*count) {
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        uint32_t sample = width == 1 ? bytes[0] : (uint32_t)bytes[0] << 8 | bytes[1];
        if (sample > pgm->sample_max) return too_bright(reader, error);
        samples[*count] = (uint16_t)sample;
        prt_io_reader_consume(reader, width);
    }
    return PRT_OK;
}

/* Only blanks may follow the image, and only in a text file. */
static enum prt_status check_pgm_end(struct pgm_source *pgm, struct prt_error *error)
{
    enum prt_status status = pgm->text ? skip_pgm_blanks(&pgm->reader, error) : PRT_OK;
    int byte = -1;
    if (status == PRT_OK) status = peek_byte(&pgm->reader, &byte, error);
    if (status != PRT_OK || byte < 0) return status;
    return refuse_pgm(&pgm->reader, error, "there is more after the image");
}

static enum prt_status pgm_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct pgm_source *pgm = (struct pgm_source *)source;
    unsigned char *target = packets;
    uint16_t samples[SAMPLES_PART];
    if (pgm->remaining == 0) return check_pgm_end(pgm, error);
    if (capacity > pgm->remaining) capacity = (size_t)pgm->remaining;
    while (*count < capacity) {
        size_t wanted = capacity - *count < SAMPLES_PART ? capacity - *count : SAMPLES_PART;
        size_t got = 0;
        if (*count > 0 && !pgm->reader.regular) return PRT_OK; /* samples so far */
        enum prt_status status = pgm->text ? read_pgm_text(pgm, samples, wanted, &got, error)
                                           : read_binary(pgm, samples, wanted, &got, error);
        prt_io_image_unpack(target + *count * scalar_width_bytes(source->packet), source->packet,
                            samples, pgm->sample_max, got);
        *count += got;
        pgm->remaining -= got;
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

static void pgm_close(struct prt_source *source)
{
    prt_io_reader_close(&((struct pgm_source *)source)->reader);
    free(source);
}

static const struct prt_source_ops pgm_source_ops = {pgm_read, pgm_close};

enum prt_status prt_pgm_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    struct pgm_source *pgm =
        (struct pgm_source *)prt_source_make(sizeof *pgm, &pgm_source_ops, packet, error);
    if (pgm == NULL) return PRT_E_NOMEM;
    pgm->base.reader = &pgm->reader;
    enum prt_status status = prt_io_reader_open(&pgm->reader, spec->path, environment, error);
    if (status == PRT_OK) status = read_pgm_header(pgm, error);
    if (status == PRT_OK)
        status = prt_io_image_check_packet(spec->path, packet, pgm->sample_max, error);
    if (status != PRT_OK) {
        pgm_close(&pgm->base);
        return status;
    }
    *source = &pgm->base;
    return PRT_OK;
}

/* --- sink --- */

static enum prt_status pgm_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    const unsigned char *next = packets;
    uint8_t samples[SAMPLES_PART];
    for (size_t done = 0; done < count;) {
        size_t part = count - done < SAMPLES_PART ? count - done : SAMPLES_PART;
        size_t packed = prt_io_image_pack(samples, next, sink->packet, part);
        if (packed < part)
            return prt_error_set(
                error, PRT_E_FORMAT, "%s: packet %llu is outside 0 to 255, the samples of an image",
                sink->writer.name, (unsigned long long)sink->packets + done + packed);
        enum prt_status status = prt_io_writer_put(&sink->writer, samples, part, error);
        if (status != PRT_OK) return status;
        next += part * scalar_width_bytes(sink->packet);
        done += part;
    }
    return PRT_OK;
}

static void make_pgm_header(const struct pgm_sink *pgm, uint32_t height,
                            char header[HEADER_BYTES + 1])
{
    snprintf(header, HEADER_BYTES + 1, "P%c\n%10u %10u\n255\n", pgm->channels == 3 ? '6' : '5',
             pgm->width, height);
}

static enum prt_status pgm_complete(struct prt_sink *sink, struct prt_error *error)
{
    const struct pgm_sink *pgm = (const struct pgm_sink *)sink;
    char header[HEADER_BYTES + 1];
    uint32_t height = 0;
    enum prt_status status = prt_io_image_height(sink->writer.name, sink->packets, pgm->width,
                                                 pgm->channels, &height, error);
    if (status != PRT_OK) return status;
    make_pgm_header(pgm, height, header);
    return prt_io_writer_patch(&sink->writer, 0, header, HEADER_BYTES, error);
}

static const struct prt_sink_ops pgm_sink_ops = {pgm_write, pgm_complete, NULL};

enum prt_status prt_pgm_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    enum prt_status status = prt_io_image_check_spec(spec, layout, error);
    if (status != PRT_OK) return status;
    struct pgm_sink *pgm =
        (struct pgm_sink *)prt_sink_make(sizeof *pgm, &pgm_sink_ops, packet, error);
    if (pgm == NULL) return PRT_E_NOMEM;
    pgm->width = spec->width_packets;
    pgm->channels = prt_io_channels(spec, layout);
    char header[HEADER_BYTES + 1];
    make_pgm_header(pgm, 0, header);
    status = prt_io_writer_open(&pgm->base.writer, spec->path, true, environment, error);
    if (status == PRT_OK)
        status = prt_io_writer_put(&pgm->base.writer, header, HEADER_BYTES, error);
    if (status != PRT_OK) {
        prt_sink_close(&pgm->base);
        return status;
    }
    *sink = &pgm->base;
    return PRT_OK;
}
