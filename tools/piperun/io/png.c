/* SPDX-License-Identifier: MIT */
/* png: through libpng.  Grey images give one packet a pixel, colour and palette images r, g, b as
 * successive packets; an alpha channel is left out.  Depths below 8 are expanded to 8 bits, so the
 * greatest sample is 255, or 65535 at depth 16; prt_io_image_unpack makes the packets.
 * Rows are decoded one at a time; an interlaced image is held whole, up to INTERLACED_BYTES_MAX.
 * Written: 8 bits, grey or (channels=3) rgb, by prt_io_image_pack; width= is needed.  The samples
 * wait in a spool, because the header needs the height. */
#include "tools/piperun/io/io_internal.h"

#include <png.h>
#include <setjmp.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH_MAX 1000000u
#define INTERLACED_BYTES_MAX ((size_t)64 << 20)
#define CHUNK_BYTES_MAX ((png_alloc_size_t)4 << 20)
#define SAMPLES_PART ((size_t)1024)

/* A fault inside a callback of libpng, which leaves through longjmp. */
struct fault {
    enum prt_status status; /* PRT_OK: libpng's own finding */
    bool no_memory;
    const struct prt_io_reader *reader; /* NULL when writing */
    const char *name;
    struct prt_error *error; /* of the call in progress */
};

struct png_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct fault fault;
    png_structp png;
    png_infop info;
    uint32_t sample_max;
    unsigned char *rows; /* one row; interlaced: all */
    size_t row_bytes;
    bool interlaced, decoded; /* decoded: the interlaced image is in rows */
    size_t row_samples;       /* in a row */
    size_t used_samples;      /* of the current row */
    uint64_t rows_left;       /* the current one included */
    bool row_ready;
};

struct png_sink {
    struct prt_sink base;
    struct fault fault;
    uint32_t width, channels;
    int spool_fd;
};

/* --- callbacks --- */

static void on_error(png_structp png, png_const_charp message)
{
    struct fault *fault = png_get_error_ptr(png);
    if (fault->status == PRT_OK && fault->no_memory) fault->status = prt_io_no_memory(fault->error);
    /* uncovered: libpng finds no error in this output */
    if (fault->status == PRT_OK && fault->reader != NULL)
        fault->status = prt_error_set_at(fault->error, PRT_E_FORMAT, fault->reader->offset,
                                         "%s: png, at byte %llu: %s", fault->name,
                                         (unsigned long long)fault->reader->offset, message);
    /* uncovered: as above */
    if (fault->status == PRT_OK)
        fault->status =
            prt_error_set(fault->error, PRT_E_INTERNAL, "%s: png: %s", fault->name, message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) ((struct fault *)png_get_mem_ptr(png))->no_memory = true;
    return memory;
}

static void on_free(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void on_png_read(png_structp png, png_bytep target, size_t bytes)
{
    struct png_source *source = png_get_io_ptr(png);
    struct prt_io_reader *reader = &source->reader;
    while (bytes > 0) {
        source->fault.status = prt_io_reader_need(reader, 1, source->fault.error);
        size_t part = prt_io_reader_available(reader);
        if (source->fault.status == PRT_OK && part == 0)
            source->fault.status =
                prt_io_reader_truncated(reader, source->fault.error, "inside the png image");
        if (source->fault.status != PRT_OK) png_error(png, "read");
        part = part < bytes ? part : bytes;
        memcpy(target, prt_io_reader_bytes(reader), part);
        prt_io_reader_consume(reader, part);
        target += part;
        bytes -= part;
    }
}

static void on_png_write(png_structp png, png_bytep data, size_t bytes)
{
    struct png_sink *sink = png_get_io_ptr(png);
    sink->fault.status = prt_io_writer_put(&sink->base.writer, data, bytes, sink->fault.error);
    if (sink->fault.status != PRT_OK) png_error(png, "write");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* --- source --- */

static enum prt_status note_image_information(struct png_source *source, struct prt_error *error)
{
    struct prt_source_information *information = &source->base.information;
    information->width_packets = png_get_image_width(source->png, source->info);
    information->height_packets = png_get_image_height(source->png, source->info);
    information->channels = png_get_channels(source->png, source->info);
    source->row_samples = (size_t)information->width_packets * information->channels;
    source->row_bytes = png_get_rowbytes(source->png, source->info);
    source->rows_left = information->height_packets;
    source->sample_max = png_get_bit_depth(source->png, source->info) == 16 ? 65535 : 255;
    information->packets = (uint64_t)source->row_samples * information->height_packets;
    assert(source->row_bytes >= source->row_samples * (source->sample_max > 255 ? 2 : 1));
    enum prt_status status = prt_io_image_check_packet(source->reader.name, source->base.packet,
                                                       source->sample_max, error);
    if (status != PRT_OK) return status;
    size_t bytes = source->row_bytes;
    if (source->interlaced)
        bytes *= information->height_packets; /* less than 2^24 bytes a row, 2^31 rows */
    if (source->interlaced && bytes > INTERLACED_BYTES_MAX)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: png: an interlaced image above %zu bytes is not read",
                             source->reader.name, INTERLACED_BYTES_MAX);
    source->rows = malloc(bytes);
    return source->rows != NULL ? PRT_OK : prt_io_no_memory(error);
}

static enum prt_status start_reading(struct png_source *source, struct prt_error *error)
{
    source->fault =
        (struct fault){.reader = &source->reader, .name = source->reader.name, .error = error};
    source->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &source->fault, on_error,
                                           on_warning, &source->fault, on_malloc, on_free);
    source->info = source->png != NULL ? png_create_info_struct(source->png) : NULL;
    if (source->info == NULL) return prt_io_no_memory(error);
    if (setjmp(png_jmpbuf(source->png)) != 0) return source->fault.status;
    png_set_read_fn(source->png, source, on_png_read);
    png_set_user_limits(source->png, WIDTH_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(source->png, CHUNK_BYTES_MAX);
    png_set_keep_unknown_chunks(source->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_structp png = source->png;
    png_infop info = source->info;
    png_read_info(png, info);
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (png_get_bit_depth(png, info) < 8) png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_bit_depth(png, info) == 16) png_set_swap(png); /* to little-endian */
    png_set_strip_alpha(png);
    source->interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, info);
    return PRT_OK;
}

/* Decodes the next row, or the whole interlaced image. */
static enum prt_status decode_row(struct png_source *source, struct prt_error *error)
{
    source->fault.error = error;
    if (setjmp(png_jmpbuf(source->png)) != 0) return source->fault.status;
    if (!source->interlaced) {
        png_read_row(source->png, source->rows, NULL);
    } else if (!source->decoded) {
        memset(source->rows, 0, source->row_bytes * source->rows_left);
        for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
            for (size_t row = 0; row < source->rows_left; row++)
                png_read_row(source->png, source->rows + row * source->row_bytes, NULL);
        source->decoded = true;
    }
    source->row_ready = true;
    source->used_samples = 0;
    return PRT_OK;
}

/* Reads on to IEND, and checks the chunks before it. */
static enum prt_status check_png_end(struct png_source *source, struct prt_error *error)
{
    source->fault.error = error;
    if (setjmp(png_jmpbuf(source->png)) != 0) return source->fault.status;
    png_read_end(source->png, NULL);
    return PRT_OK;
}

static const unsigned char *current_row(const struct png_source *source)
{
    if (!source->interlaced) return source->rows;
    uint64_t row = source->base.information.packets / source->row_samples - source->rows_left;
    return source->rows + (size_t)row * source->row_bytes;
}

/* Converts up to SAMPLES_PART samples of the current row to packets; returns their number. */
static size_t take_samples(struct png_source *source, void *packets, size_t capacity)
{
    uint16_t samples[SAMPLES_PART];
    size_t part = source->row_samples - source->used_samples;
    part = part < capacity ? part : capacity;
    part = part < SAMPLES_PART ? part : SAMPLES_PART;
    const unsigned char *row = current_row(source);
    if (source->sample_max > 255)
        memcpy(samples, row + source->used_samples * 2, part * 2);
    else
        for (size_t i = 0; i < part; i++)
            samples[i] = row[source->used_samples + i];
    prt_io_image_unpack(packets, source->base.packet, samples, source->sample_max, part);
    source->used_samples += part;
    if (source->used_samples == source->row_samples) {
        source->row_ready = false;
        source->rows_left--;
    }
    return part;
}

static enum prt_status png_read_packets(struct prt_source *base, void *packets, size_t capacity,
                                        size_t *count, struct prt_error *error)
{
    struct png_source *source = (struct png_source *)base;
    size_t width = scalar_width_bytes(base->packet);
    if (source->rows_left == 0) return check_png_end(source, error);
    while (*count < capacity && source->rows_left > 0) {
        if (!source->row_ready) {
            if (*count > 0 && !source->reader.regular) return PRT_OK; /* samples so far */
            enum prt_status status = decode_row(source, error);
            if (status != PRT_OK) return status;
        }
        *count +=
            take_samples(source, (unsigned char *)packets + *count * width, capacity - *count);
    }
    return PRT_OK;
}

static void png_close(struct prt_source *base)
{
    struct png_source *source = (struct png_source *)base;
    if (source->png != NULL) png_destroy_read_struct(&source->png, &source->info, NULL);
    prt_io_reader_close(&source->reader);
    free(source->rows);
    free(source);
}

static const struct prt_source_ops png_source_ops = {png_read_packets, png_close};

enum prt_status prt_png_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    struct png_source *made =
        (struct png_source *)prt_source_make(sizeof *made, &png_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    made->base.reader = &made->reader;
    enum prt_status status = prt_io_reader_open(&made->reader, spec->path, environment, error);
    if (status == PRT_OK) status = start_reading(made, error);
    if (status == PRT_OK) status = note_image_information(made, error);
    if (status != PRT_OK) {
        png_close(&made->base);
        return status;
    }
    *source = &made->base;
    return PRT_OK;
}

/* --- sink --- */

static enum prt_status png_write_packets(struct prt_sink *sink, const void *packets, size_t count,
                                         struct prt_error *error)
{
    const struct png_sink *png = (const struct png_sink *)sink;
    const unsigned char *next = packets;
    uint8_t samples[SAMPLES_PART * 16];
    for (size_t done = 0; done < count;) {
        size_t part = count - done < sizeof samples ? count - done : sizeof samples;
        size_t packed = prt_io_image_pack(samples, next, sink->packet, part);
        if (packed < part)
            return prt_error_set(
                error, PRT_E_FORMAT, "%s: packet %llu is outside 0 to 255, the samples of an image",
                sink->writer.name, (unsigned long long)sink->packets + done + packed);
        enum prt_status status = prt_io_spool_write(png->spool_fd, samples, part, error);
        if (status != PRT_OK) return status;
        next += part * scalar_width_bytes(sink->packet);
        done += part;
    }
    return PRT_OK;
}

/* With `png`, `info` and `row` made, so that nothing changes between setjmp and longjmp. */
static enum prt_status encode_png(struct png_sink *sink, png_structp png, png_infop info,
                                  unsigned char *row, uint32_t height, struct prt_error *error)
{
    size_t row_bytes = (size_t)sink->width * sink->channels;
    if (setjmp(png_jmpbuf(png)) != 0) return sink->fault.status;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, sink, on_png_write, on_flush);
    png_set_IHDR(png, info, sink->width, height, 8,
                 sink->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++) {
        sink->fault.status =
            prt_io_spool_read(sink->spool_fd, (uint64_t)y * row_bytes, row, row_bytes, error);
        if (sink->fault.status != PRT_OK) return sink->fault.status;
        png_write_row(png, row);
    }
    png_write_end(png, info);
    return PRT_OK;
}

static enum prt_status png_complete(struct prt_sink *base, struct prt_error *error)
{
    struct png_sink *sink = (struct png_sink *)base;
    uint32_t height = 0;
    enum prt_status status = prt_io_image_height(base->writer.name, base->packets, sink->width,
                                                 sink->channels, &height, error);
    if (status != PRT_OK) return status;
    sink->fault = (struct fault){.name = base->writer.name, .error = error};
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &sink->fault, on_error,
                                                on_warning, &sink->fault, on_malloc, on_free);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    unsigned char *row = malloc((size_t)sink->width * sink->channels);
    status = info == NULL || row == NULL ? prt_io_no_memory(error)
                                         : encode_png(sink, png, info, row, height, error);
    free(row);
    png_destroy_write_struct(&png, &info);
    return status;
}

static void png_release(struct prt_sink *base)
{
    const struct png_sink *sink = (const struct png_sink *)base;
    if (sink->spool_fd >= 0) (void)close(sink->spool_fd);
}

static const struct prt_sink_ops png_sink_ops = {png_write_packets, png_complete, png_release};

enum prt_status prt_png_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    enum prt_status status = prt_io_image_check_spec(spec, layout, error);
    if (status != PRT_OK) return status;
    if (spec->width_packets > WIDTH_MAX)
        return prt_error_set(error, PRT_E_USAGE, "%s: a png row has at most %u pixels", spec->path,
                             WIDTH_MAX);
    struct png_sink *made =
        (struct png_sink *)prt_sink_make(sizeof *made, &png_sink_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    made->width = spec->width_packets;
    made->channels = prt_io_channels(spec, layout);
    made->spool_fd = -1;
    status = prt_io_spool_open(&made->spool_fd, error);
    if (status == PRT_OK)
        status = prt_io_writer_open(&made->base.writer, spec->path, false, environment, error);
    if (status != PRT_OK) {
        prt_sink_close(&made->base);
        return status;
    }
    *sink = &made->base;
    return PRT_OK;
}
