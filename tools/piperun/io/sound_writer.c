/* SPDX-License-Identifier: MIT */
/* wav, aiff, flac as outputs.  Samples have the type of wav:TYPE and so on, else the port's if the format has it.
 *
 *   wav   u8, i16, i32, f32, f64; at most 4 GiB.  Written here, so that a pipe gets samples as they come, after a header
 *         with the sizes 0xFFFFFFFF, and so that no library is needed
 *   aiff  i16, i32, f32, f64; at most 2 GiB       } by libsndfile; to a pipe they are written at the end, from a
 *   flac  i16; at most 2^36 - 1 frames            } temporary file, because their headers have lengths
 *
 * rate= (PRT_WAV_RATE if not given), channels= (those of the packet).  Ogg is not written: it would lose bits. */
#include "tools/piperun/io/io_internal.h"
#include "tools/piperun/io/sound_library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS_MAX 1024u
#define SIZE_UNKNOWN 0xFFFFFFFFu
#define HEADER_BYTES_MAX 58
#define DATA_BYTES_MAX (UINT64_C(0xFFFFFFFF) - HEADER_BYTES_MAX)
#define AIFF_BYTES_MAX (UINT64_C(0x7FFFFFFF) - 4096) /* sizes are signed; less its header */
#define FLAC_FRAMES_MAX ((UINT64_C(1) << 36) - 1)
#define BUFFER_BYTES ((size_t)1 << 14) /* a frame of 1,024 channels fits */

struct sound_sink {
    struct prt_sink base;
    enum prt_format format;
    enum scalar_type element;
    uint32_t rate, channels;
    struct prt_sound_library library; /* aiff, flac */
    SNDFILE *file;
    uint64_t position;      /* where libsndfile writes next */
    struct prt_error fault; /* of a write of libsndfile; status PRT_OK: none */
    size_t held_bytes;      /* of samples */
    unsigned char samples[BUFFER_BYTES];
};

/* --- the header of wav --- */

static unsigned char *put_u16(unsigned char *next, uint32_t value)
{
    next[0] = (unsigned char)value;
    next[1] = (unsigned char)(value >> 8);
    return next + 2;
}

static unsigned char *put_u32(unsigned char *next, uint32_t value)
{
    return put_u16(put_u16(next, value), value >> 16);
}

static unsigned char *put_bytes(unsigned char *next, const void *bytes, size_t length)
{
    memcpy(next, bytes, length);
    return next + length;
}

/* For `data_bytes` of samples (SIZE_UNKNOWN: it cannot be known); returns its length. */
static size_t make_sound_header(const struct sound_sink *sound, uint32_t data_bytes,
                                unsigned char header[HEADER_BYTES_MAX])
{
    bool is_float = scalar_is_float(sound->element);
    uint32_t width = (uint32_t)scalar_width_bytes(sound->element);
    uint32_t frame_bytes = width * sound->channels;
    uint32_t header_bytes = is_float ? 58 : 44;
    bool unknown = data_bytes == SIZE_UNKNOWN;
    unsigned char *next = put_bytes(header, "RIFF", 4);
    next = put_u32(next, unknown ? SIZE_UNKNOWN : header_bytes - 8 + data_bytes + (data_bytes & 1));
    next = put_bytes(next, "WAVEfmt ", 8);
    next = put_u32(next, is_float ? 18 : 16);
    next = put_u16(next, is_float ? 3 : 1);
    next = put_u16(next, sound->channels);
    next = put_u32(next, sound->rate);
    next = put_u32(next, sound->rate * frame_bytes); /* by check_numbers */
    next = put_u16(next, frame_bytes);
    next = put_u16(next, width * 8);
    if (is_float) {
        next = put_u16(next, 0);
        next = put_u32(put_bytes(next, "fact", 4), 4);
        next = put_u32(next, unknown ? SIZE_UNKNOWN : data_bytes / frame_bytes);
    }
    next = put_u32(put_bytes(next, "data", 4), data_bytes);
    return (size_t)(next - header);
}

/* --- the file, for libsndfile --- */

static sf_count_t on_sink_length(void *user)
{
    return (sf_count_t)((const struct sound_sink *)user)->base.writer.offset;
}

static sf_count_t on_sink_tell(void *user)
{
    return (sf_count_t)((const struct sound_sink *)user)->position;
}

/* Goes to a place in the written part, or to its end. */
static sf_count_t on_sink_seek(sf_count_t offset, int whence, void *user)
{
    struct sound_sink *sound = user;
    /* uncovered: libsndfile 1.2 seeks from the first byte or from the end, to places in the file */
    sf_count_t base = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? on_sink_tell(user)
                                           : on_sink_length(user);
    sf_count_t position;
    /* uncovered: as above */
    if (__builtin_add_overflow(base, offset, &position) || position < 0 ||
        position > on_sink_length(user))
        return -1;
    sound->position = (uint64_t)position;
    return position;
}

static sf_count_t on_sink_write(const void *data, sf_count_t count, void *user)
{
    struct sound_sink *sound = user;
    struct prt_io_writer *writer = &sound->base.writer;
    /* uncovered: libsndfile writes at least a byte */
    if (count <= 0 || sound->fault.status != PRT_OK) return 0;
    uint64_t inside = writer->offset - sound->position;
    size_t patched = inside < (uint64_t)count ? (size_t)inside : (size_t)count;
    if (patched > 0) /* equivalent: a patch of no bytes changes none */
        sound->fault.status =
            prt_io_writer_patch(writer, sound->position, data, patched, &sound->fault);
    if (sound->fault.status == PRT_OK)
        sound->fault.status = prt_io_writer_put(writer, (const unsigned char *)data + patched,
                                                (size_t)count - patched, &sound->fault);
    if (sound->fault.status != PRT_OK) return 0;
    sound->position += (uint64_t)count;
    return count;
}

static enum prt_status report_sink_fault(const struct sound_sink *sound, struct prt_error *error)
{
    if (error != NULL) *error = sound->fault;
    return sound->fault.status;
}

static enum prt_status open_sound_library(struct sound_sink *sound, struct prt_error *error)
{
    SF_VIRTUAL_IO io = {.get_filelen = on_sink_length,
                        .seek = on_sink_seek,
                        .write = on_sink_write,
                        .tell = on_sink_tell};
    int subtype = SF_FORMAT_PCM_16;
    if (sound->element == SCALAR_I32) subtype = SF_FORMAT_PCM_32;
    if (sound->element == SCALAR_F32) subtype = SF_FORMAT_FLOAT;
    if (sound->element == SCALAR_F64) subtype = SF_FORMAT_DOUBLE;
    SF_INFO info = {.samplerate = (int)sound->rate,
                    .channels = (int)sound->channels,
                    .format = subtype |
                              (sound->format == PRT_FORMAT_FLAC ? SF_FORMAT_FLAC : SF_FORMAT_AIFF)};
    const char *path = sound->base.writer.name;
    enum prt_status status = prt_sound_library_load(&sound->library, path, error);
    if (status != PRT_OK) return status;
    sound->file = sound->library.open_virtual(&io, SFM_WRITE, &info, sound);
    /* uncovered: the header fits the writer's buffer */
    if (sound->fault.status != PRT_OK) return report_sink_fault(sound, error);
    if (sound->file == NULL)
        return prt_error_set(
            error, PRT_E_USAGE, "%s: %s cannot have %u channel%s of type %s with %u Hz: %s", path,
            prt_format_name(sound->format), sound->channels, sound->channels == 1 ? "" : "s",
            scalar_name(sound->element), sound->rate,
            prt_sound_library_reason(&sound->library, sound->library.error(NULL)));
    /* A PEAK chunk has the time of day: equal packets give equal files. */
    (void)sound->library.command(sound->file, SFC_SET_ADD_PEAK_CHUNK, NULL, SF_FALSE);
    return PRT_OK;
}

/* Gives the whole frames that are held to libsndfile. */
static enum prt_status encode_sound(struct sound_sink *sound, struct prt_error *error)
{
    const struct prt_sound_library *library = &sound->library;
    size_t width = scalar_width_bytes(sound->element);
    size_t bytes = sound->held_bytes - sound->held_bytes % (width * sound->channels);
    sf_count_t items = (sf_count_t)(bytes / width), put;
    const void *samples = sound->samples;
    switch (sound->element) {
    case SCALAR_I32: put = library->write_int(sound->file, samples, items); break;
    case SCALAR_F32: put = library->write_float(sound->file, samples, items); break;
    case SCALAR_F64: put = library->write_double(sound->file, samples, items); break;
    default: put = library->write_short(sound->file, samples, items); break;
    }
    if (sound->fault.status != PRT_OK) return report_sink_fault(sound, error);
    /* uncovered: libsndfile takes every sample unless the file has a fault */
    if (put != items)
        return prt_error_set(error, PRT_E_WRITE, "%s: cannot encode %s: %s",
                             sound->base.writer.name, prt_format_name(sound->format),
                             prt_sound_library_reason(library, library->error(sound->file)));
    sound->held_bytes -= bytes;
    memmove(sound->samples, sound->samples + bytes, sound->held_bytes);
    return PRT_OK;
}

/* --- samples --- */

/* Floats become integers as round(x * 2^(bits - 1)), ties to even, cut to the range, NaN is 0; signed integers become
 * floats as value / 2^(bits - 1); others keep their value.  Returns how many were converted: fewer than `count` if the
 * next one does not fit. */
static size_t convert_packets(const struct sound_sink *sound, unsigned char *samples,
                              const unsigned char *packets, size_t count)
{
    enum scalar_type packet = sound->base.packet, element = sound->element;
    size_t packet_width = scalar_width_bytes(packet), width = scalar_width_bytes(element);
    if (scalar_is_float(packet) == scalar_is_float(element))
        return prt_io_convert(samples, element, packets, packet, count);
    double scale =
        ldexp(1.0, 8 * (int)scalar_width_bytes(scalar_is_float(element) ? packet : element) - 1);
    for (size_t i = 0; i < count; i++) {
        double x = 0;
        (void)prt_io_convert(&x, SCALAR_F64, packets + i * packet_width, packet, 1);
        if (scalar_is_float(element)) {
            x /= scale;
            (void)prt_io_convert(samples + i * width, element, &x, SCALAR_F64, 1);
            continue;
        }
        x = isnan(x) ? 0 : nearbyint(x * scale);
        x = x < -scale ? -scale : x;
        x = x > scale - 1 ? scale - 1 : x; /* equivalent: of two equals either */
        int64_t value = (int64_t)x + (element == SCALAR_U8 ? 128 : 0);
        memcpy(samples + i * width, &value, width);
    }
    return count;
}

/* A pipe of wav has no limit. */
static enum prt_status check_length(const struct sound_sink *sound, size_t count,
                                    struct prt_error *error)
{
    uint64_t packets, bytes;
    uint64_t frame_bytes = sound->channels * scalar_width_bytes(sound->element);
    uint64_t bytes_max = DATA_BYTES_MAX;
    const char *limit = "be larger than 4 GiB";
    if (sound->format == PRT_FORMAT_WAV && sound->base.writer.direct) return PRT_OK;
    if (sound->format == PRT_FORMAT_AIFF)
        bytes_max = AIFF_BYTES_MAX, limit = "be larger than 2 GiB";
    if (sound->format == PRT_FORMAT_FLAC)
        bytes_max = FLAC_FRAMES_MAX * frame_bytes, limit = "have 2^36 frames";
    if (!__builtin_add_overflow(sound->base.packets, count, &packets) &&
        !__builtin_mul_overflow(packets, scalar_width_bytes(sound->element), &bytes) &&
        bytes <= bytes_max)
        return PRT_OK;
    return prt_error_set(error, PRT_E_WRITE, "%s: %s %s file cannot %s", sound->base.writer.name,
                         sound->format == PRT_FORMAT_AIFF ? "an" : "a",
                         prt_format_name(sound->format), limit);
}

static enum prt_status sound_write(struct prt_sink *sink, const void *packets, size_t count,
                                   struct prt_error *error)
{
    struct sound_sink *sound = (struct sound_sink *)sink;
    const unsigned char *next = packets;
    size_t width = scalar_width_bytes(sound->element);
    enum prt_status status = check_length(sound, count, error);
    if (status != PRT_OK) return status;
    if (sound->file == NULL && sound->element == sink->packet)
        return prt_io_writer_put(&sink->writer, packets, count * width, error);
    for (size_t done = 0; done < count && status == PRT_OK;) {
        size_t room = (BUFFER_BYTES - sound->held_bytes) / width;
        size_t part = count - done < room ? count - done : room;
        size_t fitted = convert_packets(sound, sound->samples + sound->held_bytes, next, part);
        sound->held_bytes += fitted * width;
        done += fitted;
        if (fitted < part)
            return prt_error_set(error, PRT_E_FORMAT, "%s: packet %llu does not fit the type %s",
                                 sink->writer.name, (unsigned long long)sink->packets + done,
                                 scalar_name(sound->element));
        if (sound->file != NULL) {
            status = encode_sound(sound, error);
        } else {
            status = prt_io_writer_put(&sink->writer, sound->samples, sound->held_bytes, error);
            sound->held_bytes = 0;
        }
        next += part * scalar_width_bytes(sink->packet);
    }
    return status;
}

/* --- the end --- */

static enum prt_status close_library(struct sound_sink *sound, struct prt_error *error)
{
    int failure = sound->library.close(sound->file);
    sound->file = NULL;
    if (sound->fault.status != PRT_OK) return report_sink_fault(sound, error);
    /* uncovered: as in encode */
    if (failure == SF_ERR_NO_ERROR) return PRT_OK;
    return prt_error_set(error, PRT_E_WRITE, "%s: cannot encode %s: %s", sound->base.writer.name,
                         prt_format_name(sound->format),
                         prt_sound_library_reason(&sound->library, failure));
}

static enum prt_status sound_complete(struct prt_sink *sink, struct prt_error *error)
{
    struct sound_sink *sound = (struct sound_sink *)sink;
    unsigned char header[HEADER_BYTES_MAX];
    if (sink->packets % sound->channels != 0)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: %llu packets are not whole frames of %u channels",
                             sink->writer.name, (unsigned long long)sink->packets, sound->channels);
    if (sound->file != NULL) return close_library(sound, error);
    if (sink->writer.direct) return PRT_OK;
    uint64_t bytes = sink->packets * scalar_width_bytes(sound->element); /* by check_length */
    enum prt_status status = prt_io_writer_put(&sink->writer, "", bytes & 1, error);
    /* uncovered: the buffer has room for a byte, or its flush below fails as well */
    if (status != PRT_OK) return status;
    size_t length = make_sound_header(sound, (uint32_t)bytes, header);
    return prt_io_writer_patch(&sink->writer, 0, header, length, error);
}

/* The file is gone, so the writes of libsndfile at its closing are dropped. */
static void sound_release(struct prt_sink *sink)
{
    struct sound_sink *sound = (struct sound_sink *)sink;
    sound->fault.status = PRT_E_WRITE;
    if (sound->file != NULL) (void)sound->library.close(sound->file);
    prt_sound_library_unload(&sound->library);
}

static const struct prt_sink_ops sound_sink_ops = {sound_write, sound_complete, sound_release};

/* --- opening --- */

/* Refuses numbers that are too large for the fields of the wav header, or for the buffer. */
static enum prt_status check_numbers(const char *path, enum prt_format format, uint32_t rate,
                                     uint32_t channels, enum scalar_type element,
                                     struct prt_error *error)
{
    if (channels > CHANNELS_MAX)
        return prt_error_set(error, PRT_E_USAGE, "%s: %s has at most %u channels", path,
                             prt_format_name(format), CHANNELS_MAX);
    uint32_t frame_bytes = channels * (uint32_t)scalar_width_bytes(element), rate_bytes;
    if (format == PRT_FORMAT_WAV && __builtin_mul_overflow(rate, frame_bytes, &rate_bytes))
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: wav has at most 4294967295 bytes in a second: with frames of %u "
                             "bytes, rate= is at most %u, not %u",
                             path, frame_bytes, UINT32_MAX / frame_bytes, rate);
    return PRT_OK;
}

static enum prt_status check_spec(const struct prt_port_spec *spec, enum scalar_type packet,
                                  enum scalar_type *element, struct prt_error *error)
{
    static const struct {
        uint32_t types;
        const char *names;
    } formats[] = {[PRT_FORMAT_WAV] = {1u << SCALAR_U8 | 1u << SCALAR_I16 | 1u << SCALAR_I32 |
                                           1u << SCALAR_F32 | 1u << SCALAR_F64,
                                       "wav:u8 wav:i16 wav:i32 wav:f32 wav:f64"},
                   [PRT_FORMAT_AIFF] = {1u << SCALAR_I16 | 1u << SCALAR_I32 | 1u << SCALAR_F32 |
                                            1u << SCALAR_F64,
                                        "aiff:i16 aiff:i32 aiff:f32 aiff:f64"},
                   [PRT_FORMAT_FLAC] = {1u << SCALAR_I16, "flac:i16"}};
    const char *name = prt_format_name(spec->format);
    *element = spec->has_element ? spec->element : packet;
    if ((formats[spec->format].types >> *element & 1) == 0)
        return prt_error_set(error, PRT_E_USAGE, "%s: %s has no samples of type %s: name one of %s",
                             spec->path, name, scalar_name(*element), formats[spec->format].names);
    if (spec->has_element && spec->big_endian)
        return prt_error_set(error, PRT_E_USAGE, "%s: %s has its own order of bytes: %s:%s",
                             spec->path, name, name, scalar_name(*element));
    bool unsigned_to_float = scalar_is_float(*element) && !scalar_is_signed(packet);
    if (packet == SCALAR_BOOL || unsigned_to_float)
        return prt_error_set(error, PRT_E_USAGE, "%s: packets of type %s cannot become %s:%s",
                             spec->path, scalar_name(packet), name, scalar_name(*element));
    return PRT_OK;
}

enum prt_status prt_sound_sink_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type element;
    uint32_t rate = spec->rate_hertz != 0 ? spec->rate_hertz : PRT_WAV_RATE;
    uint32_t channels = prt_io_channels(spec, layout);
    enum prt_status status = check_spec(spec, layout->scalar, &element, error);
    if (status == PRT_OK)
        status = check_numbers(spec->path, spec->format, rate, channels, element, error);
    if (status != PRT_OK) return status;
    struct sound_sink *sound =
        (struct sound_sink *)prt_sink_make(sizeof *sound, &sound_sink_ops, layout->scalar, error);
    if (sound == NULL) return PRT_E_NOMEM;
    sound->format = spec->format;
    sound->element = element;
    sound->rate = rate;
    sound->channels = channels;
    bool wav = spec->format == PRT_FORMAT_WAV;
    unsigned char header[HEADER_BYTES_MAX];
    size_t length = make_sound_header(sound, SIZE_UNKNOWN, header);
    status = prt_io_writer_open(&sound->base.writer, spec->path, !wav, environment, error);
    if (status == PRT_OK)
        status = wav ? prt_io_writer_put(&sound->base.writer, header, length, error)
                     : open_sound_library(sound, error);
    if (status != PRT_OK) {
        prt_sink_close(&sound->base);
        return status;
    }
    *sink = &sound->base;
    return PRT_OK;
}
