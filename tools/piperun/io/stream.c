/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/io_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct format_row {
    const char *name;
    prt_source_opener *open_source;
    prt_sink_opener *open_sink; /* NULL: for sources only */
};

static const struct format_row formats[] = {
    [PRT_FORMAT_RAW] = {"raw", prt_raw_source_open, prt_raw_sink_open},
    [PRT_FORMAT_NPY] = {"npy", prt_npy_source_open, prt_npy_sink_open},
    [PRT_FORMAT_WAV] = {"wav", prt_sound_source_open, prt_sound_sink_open},
    [PRT_FORMAT_AIFF] = {"aiff", prt_sound_source_open, prt_sound_sink_open},
    [PRT_FORMAT_FLAC] = {"flac", prt_sound_source_open, prt_sound_sink_open},
    [PRT_FORMAT_OGG] = {"ogg", prt_sound_source_open, NULL},
    [PRT_FORMAT_PGM] = {"pgm", prt_pgm_source_open, prt_pgm_sink_open},
    [PRT_FORMAT_PNG] = {"png", prt_png_source_open, prt_png_sink_open},
    [PRT_FORMAT_Y4M] = {"y4m", prt_y4m_source_open, prt_y4m_sink_open},
    [PRT_FORMAT_CSV] = {"csv", prt_csv_source_open, prt_csv_sink_open},
    [PRT_FORMAT_JSONL] = {"jsonl", prt_jsonl_source_open, prt_jsonl_sink_open},
    [PRT_FORMAT_LIVE] = {"live sound", prt_live_source_open, prt_live_sink_open},
    [PRT_FORMAT_NULL] = {"null", prt_null_source_open, prt_null_sink_open},
    [PRT_FORMAT_RAMP] = {"gen:ramp", prt_generator_open, NULL},
    [PRT_FORMAT_NOISE] = {"gen:noise", prt_generator_open, NULL},
    [PRT_FORMAT_ZEROS] = {"gen:zeros", prt_generator_open, NULL},
};

static const struct format_row *find_format(enum prt_format format)
{
    assert((size_t)format < sizeof formats / sizeof formats[0]);
    return &formats[format];
}

const char *prt_format_name(enum prt_format format)
{
    return find_format(format)->name;
}

bool prt_format_is_sound(enum prt_format format)
{
    return format == PRT_FORMAT_WAV || format == PRT_FORMAT_AIFF || format == PRT_FORMAT_FLAC ||
           format == PRT_FORMAT_OGG || format == PRT_FORMAT_LIVE;
}

bool prt_format_is_picture(enum prt_format format)
{
    return format == PRT_FORMAT_PGM || format == PRT_FORMAT_PNG || format == PRT_FORMAT_Y4M;
}

/* --- parts of a packet --- */

size_t prt_packet_units(const struct prt_packet *packet)
{
    return (size_t)packet->width_bytes / scalar_width_bytes(packet->scalar);
}

bool prt_packet_is_record(const struct prt_packet *packet)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < packet->field_count; i++) {
        const struct prt_field_information *field = &packet->fields[i];
        if (field->scalar != packet->scalar || field->offset_bytes != end) return true;
        end += field->count * scalar_width_bytes(field->scalar);
    }
    return packet->field_count > 0 && end != packet->width_bytes;
}

uint32_t prt_packet_channels(const struct prt_packet *packet)
{
    if (packet->field_count == 0 || prt_packet_is_record(packet)) return 1;
    if (packet->field_count == 1) return packet->fields[0].lanes;
    return prt_packet_units(packet) == packet->field_count ? packet->field_count : 1;
}

/* Which formats carry records, and the 16-bit floats. */
static enum prt_status check_packet(enum prt_format format, const struct prt_packet *packet,
                                    struct prt_error *error)
{
    bool half = packet->scalar == SCALAR_F16 || packet->scalar == SCALAR_BF16;
    bool record = prt_packet_is_record(packet);
    bool exact = format == PRT_FORMAT_RAW || format == PRT_FORMAT_NPY || format == PRT_FORMAT_CSV ||
                 format == PRT_FORMAT_JSONL || format == PRT_FORMAT_NULL ||
                 format == PRT_FORMAT_ZEROS;
    bool made = format == PRT_FORMAT_RAMP || format == PRT_FORMAT_NOISE;
    if ((record || (half && !made)) && !exact)
        return prt_error_set(error, PRT_E_USAGE,
                             "%s cannot carry packets of type %s: use raw, npy, csv or jsonl",
                             prt_format_name(format), packet->type);
    return PRT_OK;
}

uint32_t prt_io_channels(const struct prt_port_spec *spec, const struct prt_packet *layout)
{
    return spec->channels != 0 ? spec->channels : prt_packet_channels(layout);
}

/* --- sources --- */

struct prt_source *prt_source_make(size_t bytes, const struct prt_source_ops *ops,
                                   enum scalar_type packet, struct prt_error *error)
{
    struct prt_source *source = calloc(1, bytes);
    if (source == NULL) {
        (void)prt_io_no_memory(error);
        return NULL;
    }
    source->ops = ops;
    source->packet = packet;
    source->information.packets = PRT_PACKETS_UNKNOWN;
    source->information.rate_divisor = 1;
    return source;
}

/* A packet that is one scalar. */
static const struct prt_packet *scalar_packet(enum scalar_type scalar)
{
    static const struct prt_packet packets[] = {
#define X(suffix, name, width, kind) {name, width, NULL, SCALAR_##suffix, 0},
#include "lang/scalars.def"
#undef X
    };
    assert((size_t)scalar < SCALAR_COUNT);
    return &packets[scalar];
}

enum prt_status prt_source_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                const struct prt_io_environment *environment,
                                struct prt_source **source, struct prt_error *error)
{
    return prt_source_open_packets(spec, scalar_packet(packet), environment, source, error);
}

/* rate= is for sound and video, width= for pictures, channels= for both: other formats would ignore them. */
static enum prt_status check_options(const struct prt_port_spec *spec, struct prt_error *error)
{
    bool audio = prt_format_is_sound(spec->format);
    bool image = prt_format_is_picture(spec->format), video = spec->format == PRT_FORMAT_Y4M;
    const char *option = NULL, *wanted = NULL;
    if (spec->rate_hertz != 0 && !audio && !video) option = "rate=", wanted = "sound and y4m";
    if (spec->rate_divisor > 1 && audio) option = "rate=N/M", wanted = "y4m";
    if (spec->width_packets != 0 && !image) option = "width=", wanted = "pgm, ppm, png and y4m";
    if (spec->height_packets != 0 && !video) option = "height=", wanted = "y4m";
    if (spec->channels != 0 && !audio && !image) option = "channels=", wanted = "sound and images";
    if (spec->format != PRT_FORMAT_CSV) {
        if (spec->headings) option = "headings", wanted = "csv";
        if (spec->separator != '\0') option = "separator=", wanted = "csv";
        if (spec->comment != '\0') option = "comment=", wanted = "csv";
        if (spec->missing != NULL && spec->format != PRT_FORMAT_JSONL)
            option = "missing=", wanted = "csv and jsonl";
    }
    if (option == NULL) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE, "port '%s': '%s' belongs to %s, and this is %s",
                         spec->port, option, wanted, prt_format_name(spec->format));
}

/* Options must not contradict the header of an input file. */
static enum prt_status check_input_header(const struct prt_port_spec *spec,
                                          const struct prt_source_information *file,
                                          struct prt_error *error)
{
    if (spec->format == PRT_FORMAT_Y4M && spec->rate_hertz != 0 &&
        (uint64_t)spec->rate_hertz * file->rate_divisor !=
            (uint64_t)file->rate_hertz * spec->rate_divisor)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: the file has %u/%u frames a second, not %u/%u: leave rate= out",
                             spec->path, file->rate_hertz, file->rate_divisor, spec->rate_hertz,
                             spec->rate_divisor);
    if (spec->height_packets != 0 && spec->height_packets != file->height_packets)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: the video is %u pixels high, not %u: leave height= out",
                             spec->path, file->height_packets, spec->height_packets);
    if (spec->format != PRT_FORMAT_Y4M && spec->rate_hertz != 0 &&
        spec->rate_hertz != file->rate_hertz)
        return prt_error_set(error, PRT_E_FORMAT, "%s: the file has %u Hz, not %u: leave rate= out",
                             spec->path, file->rate_hertz, spec->rate_hertz);
    if (spec->width_packets != 0 && spec->width_packets != file->width_packets)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: the image is %u pixels wide, not %u: leave width= out",
                             spec->path, file->width_packets, spec->width_packets);
    return PRT_OK;
}

/* Channels that are interleaved in the file must be so in the packets. */
static enum prt_status check_channels(const struct prt_port_spec *spec,
                                      const struct prt_packet *packet, uint32_t channels,
                                      struct prt_error *error)
{
    uint32_t wanted = prt_packet_channels(packet);
    if (channels == 0) return PRT_OK;
    if (spec->channels != 0 && spec->channels != channels)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: the file has %u channel%s, not %u: leave channels= out",
                             spec->path, channels, channels == 1 ? "" : "s", spec->channels);
    if (wanted > 1 && wanted != channels)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: the file has %u channel%s, a packet of type %s holds %u",
                             spec->path, channels, channels == 1 ? "" : "s", packet->type, wanted);
    return PRT_OK;
}

/* channels= of an output must agree with its packets. */
static enum prt_status check_given_channels(const struct prt_port_spec *spec,
                                            const struct prt_packet *packet,
                                            struct prt_error *error)
{
    uint32_t wanted = prt_packet_channels(packet);
    if (spec->channels == 0 || wanted <= 1 || wanted == spec->channels) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE,
                         "%s: %s %u channel%s, and a packet of type %s holds %u: %s", spec->path,
                         spec->channels_implied ? "ppm has" : "channels= says", spec->channels,
                         spec->channels == 1 ? "" : "s", packet->type, wanted,
                         spec->channels_implied ? "no image can have these" : "leave it out");
}

enum prt_status prt_source_open_packets(const struct prt_port_spec *spec,
                                        const struct prt_packet *packet,
                                        const struct prt_io_environment *environment,
                                        struct prt_source **source, struct prt_error *error)
{
    enum prt_status status = check_packet(spec->format, packet, error);
    if (status == PRT_OK) status = check_options(spec, error);
    if (status != PRT_OK) return status;
    struct prt_source *opened = NULL;
    status = find_format(spec->format)->open_source(spec, packet, environment, &opened, error);
    if (status != PRT_OK) return status;
    status = check_channels(spec, packet, opened->information.channels, error);
    if (status == PRT_OK) status = check_input_header(spec, &opened->information, error);
    if (status != PRT_OK) {
        prt_source_close(opened);
        return status;
    }
    opened->information.at_hand = opened->reader != NULL ? opened->reader->regular : !opened->waits;
    if (opened->reader != NULL && opened->reader->regular)
        opened->information.bytes = opened->reader->size_bytes;
    *source = opened;
    return PRT_OK;
}

static enum prt_status repeat_failure(const struct prt_source *source, struct prt_error *error)
{
    if (error != NULL) *error = source->pending;
    return source->failed;
}

enum prt_status prt_source_read(struct prt_source *source, void *packets, size_t capacity_packets,
                                size_t *count, struct prt_error *error)
{
    *count = 0;
    if (source->failed != PRT_OK) return repeat_failure(source, error);
    if (source->ended) return PRT_OK;
    if (capacity_packets == 0) return prt_error_set(error, PRT_E_USAGE, "a read of 0 packets");
    source->failed = source->ops->read(source, packets, capacity_packets, count, &source->pending);
    if (*count > 0) return PRT_OK; /* a failure waits for the next call */
    source->ended = true;
    return source->failed == PRT_OK ? PRT_OK : repeat_failure(source, error);
}

uint64_t prt_source_offset(const struct prt_source *source)
{
    return source->reader != NULL ? source->reader->offset : 0;
}

void prt_source_information(const struct prt_source *source,
                            struct prt_source_information *information)
{
    *information = source->information;
}

uint64_t prt_source_losses(const struct prt_source *source)
{
    return source->losses;
}

void prt_source_close(struct prt_source *source)
{
    if (source != NULL) source->ops->close(source);
}

/* --- sinks --- */

struct prt_sink *prt_sink_make(size_t bytes, const struct prt_sink_ops *ops,
                               enum scalar_type packet, struct prt_error *error)
{
    struct prt_sink *sink = calloc(1, bytes);
    if (sink == NULL) {
        (void)prt_io_no_memory(error);
        return NULL;
    }
    sink->ops = ops;
    sink->packet = packet;
    sink->writer.fd = -1;
    sink->writer.final_fd = -1;
    return sink;
}

enum prt_status prt_sink_open(const struct prt_port_spec *spec, enum scalar_type packet,
                              const struct prt_io_environment *environment, struct prt_sink **sink,
                              struct prt_error *error)
{
    return prt_sink_open_packets(spec, scalar_packet(packet), environment, sink, error);
}

enum prt_status prt_sink_open_packets(const struct prt_port_spec *spec,
                                      const struct prt_packet *packet,
                                      const struct prt_io_environment *environment,
                                      struct prt_sink **sink, struct prt_error *error)
{
    enum prt_status status = check_packet(spec->format, packet, error);
    if (status != PRT_OK) return status;
    if (spec->format == PRT_FORMAT_OGG)
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: ogg is not written, because it would change the samples: write "
                             "flac or wav",
                             spec->path);
    if (find_format(spec->format)->open_sink == NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': %s only makes packets: it cannot be an output", spec->port,
                             prt_format_name(spec->format));
    status = check_options(spec, error);
    if (status == PRT_OK && (spec->comment != '\0' || spec->missing != NULL))
        status = prt_error_set(error, PRT_E_USAGE, "port '%s': '%s' is for in-ports", spec->port,
                               spec->comment != '\0' ? "comment=" : "missing=");
    if (status == PRT_OK) status = check_given_channels(spec, packet, error);
    if (status != PRT_OK) return status;
    return find_format(spec->format)->open_sink(spec, packet, environment, sink, error);
}

static enum prt_status refuse_state(const struct prt_sink *sink, struct prt_error *error)
{
    return prt_error_set(error, PRT_E_USAGE, "the output %s",
                         sink->state == PRT_SINK_FAILED ? "has failed or was aborted"
                                                        : "is finished");
}

/* After a failure no part of the output may stay. */
static enum prt_status settle_sink(struct prt_sink *sink, enum prt_status status)
{
    if (status != PRT_OK) prt_sink_abort(sink);
    return status;
}

enum prt_status prt_sink_write(struct prt_sink *sink, const void *packets, size_t count_packets,
                               struct prt_error *error)
{
    if (sink->state != PRT_SINK_OPEN) return refuse_state(sink, error);
    if (count_packets == 0) return PRT_OK;
    enum prt_status status = sink->ops->write(sink, packets, count_packets, error);
    sink->packets += count_packets;
    if (status == PRT_OK && sink->writer.direct && sink->writer.final_fd < 0)
        status = prt_io_writer_flush(&sink->writer, error);
    return settle_sink(sink, status);
}

enum prt_status prt_sink_prepare(struct prt_sink *sink, struct prt_error *error)
{
    if (sink->state == PRT_SINK_PREPARED) return PRT_OK;
    if (sink->state != PRT_SINK_OPEN) return refuse_state(sink, error);
    enum prt_status status =
        sink->ops->complete != NULL ? sink->ops->complete(sink, error) : PRT_OK;
    if (status == PRT_OK) status = prt_io_writer_prepare(&sink->writer, error);
    if (status == PRT_OK) sink->state = PRT_SINK_PREPARED;
    return settle_sink(sink, status);
}

enum prt_status prt_sink_finish(struct prt_sink *sink, struct prt_error *error)
{
    enum prt_status status = prt_sink_prepare(sink, error);
    if (status != PRT_OK) return status;
    status = settle_sink(sink, prt_io_writer_publish(&sink->writer, error));
    if (status == PRT_OK) sink->state = PRT_SINK_DONE;
    return status;
}

void prt_sink_abort(struct prt_sink *sink)
{
    if (sink == NULL || sink->state == PRT_SINK_DONE) return;
    prt_io_writer_close(&sink->writer);
    sink->state = PRT_SINK_FAILED;
}

void prt_sink_close(struct prt_sink *sink)
{
    if (sink == NULL) return;
    prt_sink_abort(sink);
    prt_io_writer_close(&sink->writer);
    if (sink->ops->release != NULL) sink->ops->release(sink);
    free(sink);
}

uint64_t prt_sink_losses(const struct prt_sink *sink)
{
    return sink->losses;
}

const char *prt_sink_temporary(const struct prt_sink *sink)
{
    return sink->writer.temporary;
}

enum prt_status prt_io_element(const struct prt_port_spec *spec, const struct prt_packet *layout,
                               enum scalar_type *element, struct prt_error *error)
{
    *element = spec->has_element ? spec->element : layout->scalar;
    if (!spec->has_element || !prt_packet_is_record(layout)) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE,
                         "%s: packets of type %s have fields, they are not converted to %s",
                         spec->path, layout->type, scalar_name(*element));
}

enum prt_status prt_sink_put_elements(struct prt_sink *sink, enum scalar_type element,
                                      bool big_endian, const void *packets, size_t count,
                                      struct prt_error *error)
{
    if (element == sink->packet && !big_endian && element != SCALAR_BOOL)
        return prt_io_writer_put(&sink->writer, packets, count * scalar_width_bytes(element),
                                 error);
    enum { PART = 1024 };
    unsigned char converted[PART * sizeof(uint64_t)];
    const unsigned char *next = packets;
    size_t width = scalar_width_bytes(element);
    for (size_t done = 0; done < count;) {
        size_t part = count - done < PART ? count - done : PART;
        size_t fitted = prt_io_convert(converted, element, next, sink->packet, part);
        if (fitted < part)
            return prt_error_set(
                error, PRT_E_FORMAT, "%s: packet %llu does not fit the type %s", sink->writer.name,
                (unsigned long long)sink->packets + done + fitted, scalar_name(element));
        if (big_endian) prt_io_swap(converted, width, part);
        enum prt_status status = prt_io_writer_put(&sink->writer, converted, part * width, error);
        if (status != PRT_OK) return status;
        next += part * scalar_width_bytes(sink->packet);
        done += part;
    }
    return PRT_OK;
}
