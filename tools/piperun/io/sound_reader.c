/* SPDX-License-Identifier: MIT */
/* wav, aiff, flac, ogg: decoded by libsndfile.  The content decides which of them a file is.  Channels are interleaved, so
 * the frames of a stereo file give left, right, left, right, ...
 *
 *   f32, f64 ports  samples scaled to [-1, 1): value / 2^(bits - 1); float samples and those of ogg as they are
 *   i8..i64 ports   the stored value, signed (of 8-bit wav files: value - 128), of PCM with no more bits than the port;
 *                   other compressed samples count as 16 bits
 *   u8 ports        samples of 8 bits without sign: the stored value 0..255
 *   others          refused
 *
 * libsndfile sees the body of sound_header.h through callbacks: plain WAV samples in order, from a pipe as they come.
 * Everything else must be sought in, so a pipe of it is first copied to a temporary file, to its end. */
#include "tools/piperun/io/sound_header.h"
#include "tools/piperun/io/sound_library.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_PART ((size_t)4096)
#define FRAMES_MAX (INT64_C(1) << 52) /* libsndfile says more if a header does not say how many */

struct sound_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct prt_sound_layout layout;
    struct prt_sound_library library;
    SNDFILE *file;
    SF_INFO info;
    struct prt_error
        fault; /* of a read for libsndfile, which may still have given frames; status PRT_OK: none */
    uint64_t position; /* in the body: where libsndfile reads next */
    uint64_t frames_decoded;
    int failure; /* of libsndfile, in decoding */
    int bits;    /* of a sample; 0: float */
    bool offset_binary;
    union {
        int *integers;
        float *floats;
        double *doubles;
        void *any;
    } items; /* decoded, whole frames */
    size_t items_capacity, items_used, items_count;
};

static enum prt_status refuse_sound(const struct sound_source *sound, struct prt_error *error,
                                    const char *what)
{
    return prt_error_set_at(error, PRT_E_FORMAT, sound->reader.offset, "%s: %s, byte %llu: %s",
                            sound->reader.name, sound->layout.format,
                            (unsigned long long)sound->reader.offset, what);
}

/* --- the body, for libsndfile --- */

static sf_count_t on_source_length(void *user)
{
    return (sf_count_t)((const struct sound_source *)user)->layout.body_bytes;
}

static sf_count_t on_source_tell(void *user)
{
    return (sf_count_t)((const struct sound_source *)user)->position;
}

/* Only notes where to read: the next read shows whether that is possible. */
static sf_count_t on_source_seek(sf_count_t offset, int whence, void *user)
{
    struct sound_source *sound = user;
    /* uncovered: libsndfile 1.2 seeks from the first byte or from where it is, to places in the file */
    sf_count_t base = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? on_source_tell(user)
                                           : on_source_length(user);
    sf_count_t position;
    /* uncovered: as above */
    if (__builtin_add_overflow(base, offset, &position) || position < 0) return -1;
    sound->position = (uint64_t)position;
    return position;
}

/* Fills `target`; of a pipe it gives the frames that have come. */
static sf_count_t on_source_read(void *target, sf_count_t count, void *user)
{
    struct sound_source *sound = user;
    struct prt_io_reader *reader = &sound->reader;
    const struct prt_sound_layout *layout = &sound->layout;
    /* uncovered: libsndfile asks for at least a byte; equivalent: and what it asks for there is no byte */
    if (count <= 0 || sound->position >= layout->body_bytes || sound->fault.status != PRT_OK)
        return 0;
    uint64_t left = layout->body_bytes - sound->position;
    size_t wanted = left < (uint64_t)count ? (size_t)left : (size_t)count, done = 0;
    size_t unit = layout->raw_format != 0 ? layout->frame_bytes : 1;
    if (reader->offset != layout->body_offset + sound->position)
        sound->fault.status =
            prt_io_reader_seek(reader, layout->body_offset + sound->position, &sound->fault);
    while (wanted - done >= unit && sound->fault.status == PRT_OK &&
           (done == 0 || reader->regular)) {
        sound->fault.status = prt_io_reader_need(reader, unit, &sound->fault);
        size_t part = prt_io_reader_available(reader);
        part = part < wanted - done ? part : wanted - done;
        part -= part % unit;
        if (sound->fault.status != PRT_OK || part == 0) break;
        memcpy((unsigned char *)target + done, prt_io_reader_bytes(reader), part);
        prt_io_reader_consume(reader, part);
        done += part;
    }
    sound->position += done;
    return (sf_count_t)done;
}

/* --- opening --- */

static void note_samples(struct sound_source *sound)
{
    int subtype = sound->info.format & SF_FORMAT_SUBMASK;
    sound->offset_binary = subtype == SF_FORMAT_PCM_U8;
    switch (subtype) {
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_PCM_S8: sound->bits = 8; break;
    case SF_FORMAT_PCM_24: sound->bits = 24; break;
    case SF_FORMAT_PCM_32: sound->bits = 32; break;
    case SF_FORMAT_FLOAT:
    case SF_FORMAT_DOUBLE: sound->bits = 0; break;
    default:
        sound->bits = (sound->info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_OGG ? 0 : 16;
        break;
    }
}

static enum prt_status check_samples(const struct sound_source *sound, struct prt_error *error)
{
    enum scalar_type packet = sound->base.packet;
    bool wide = scalar_kind(packet) == SCALAR_KIND_SIGNED && sound->bits != 0 &&
                sound->bits <= 8 * (int)scalar_width_bytes(packet);
    if (scalar_is_float(packet) || wide || (packet == SCALAR_U8 && sound->offset_binary))
        return PRT_OK;
    return prt_error_set(
        error, PRT_E_FORMAT,
        "%s: %s samples of %d bits%s do not fit a port of type %s: f32 and f64 take them%s",
        sound->reader.name, sound->layout.format, sound->bits != 0 ? sound->bits : 32,
        sound->bits != 0 ? "" : " (float)", scalar_name(packet),
        sound->bits != 0 ? ", and signed integers that are wide enough" : "");
}

static enum prt_status report_source_fault(const struct sound_source *sound,
                                           struct prt_error *error)
{
    if (error != NULL) *error = sound->fault;
    return sound->fault.status;
}

static enum prt_status open_body(struct sound_source *sound, struct prt_error *error)
{
    SF_VIRTUAL_IO io = {.get_filelen = on_source_length,
                        .seek = on_source_seek,
                        .read = on_source_read,
                        .tell = on_source_tell};
    enum prt_status status = prt_sound_library_load(&sound->library, sound->reader.name, error);
    if (status != PRT_OK) return status;
    if (sound->layout.raw_format != 0)
        sound->info = (SF_INFO){.format = sound->layout.raw_format,
                                .channels = (int)sound->layout.channels,
                                .samplerate = (int)sound->layout.rate_hertz};
    sound->file = sound->library.open_virtual(&io, SFM_READ, &sound->info, sound);
    if (sound->fault.status != PRT_OK) return report_source_fault(sound, error);
    if (sound->file == NULL)
        return prt_error_set(error, PRT_E_FORMAT, "%s: %s header: %s", sound->reader.name,
                             sound->layout.format,
                             prt_sound_library_reason(&sound->library, sound->library.error(NULL)));
    /* uncovered: libsndfile 1.2 refuses them; another version may not */
    if (sound->info.channels < 1 || sound->info.samplerate < 1 || sound->info.frames < 0)
        return refuse_sound(sound, error, "its channels, rate or length make no sense");
    if (sound->info.frames > FRAMES_MAX)
        return refuse_sound(
            sound, error,
            "its header does not say how many samples there are, so a missing end would "
            "not be noticed: encode it into a file, not into a pipe");
    if (sound->layout.frames != PRT_PACKETS_UNKNOWN &&
        sound->layout.frames != (uint64_t)sound->info.frames)
        return refuse_sound(sound, error,
                            "its header says another number of samples than there are");
    note_samples(sound);
    return check_samples(sound, error);
}

static enum prt_status note_stream(struct sound_source *sound, struct prt_error *error)
{
    struct prt_source_information *information = &sound->base.information;
    uint64_t channels = (uint64_t)sound->info.channels;
    information->rate_hertz = (uint32_t)sound->info.samplerate;
    information->channels = (uint32_t)channels;
    if (!sound->layout.open_ended) /* FRAMES_MAX, and libsndfile has at most 1,024 channels */
        information->packets = (uint64_t)sound->info.frames * channels;
    sound->items_capacity = (ITEMS_PART / channels + 1) * channels;
    sound->items.any = calloc(sound->items_capacity, sizeof(double));
    return sound->items.any != NULL ? PRT_OK : prt_io_no_memory(error);
}

/* --- reading --- */

/* libsndfile gave no more frames: was that all? */
static enum prt_status check_sound_end(struct sound_source *sound, struct prt_error *error)
{
    const struct prt_sound_layout *layout = &sound->layout;
    const struct prt_io_reader *reader = &sound->reader;
    if (sound->fault.status != PRT_OK) return report_source_fault(sound, error);
    if (sound->failure != SF_ERR_NO_ERROR)
        return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                "%s: the %s samples are damaged or cut off before byte %llu: %s",
                                reader->name, layout->format, (unsigned long long)reader->offset,
                                prt_sound_library_reason(&sound->library, sound->failure));
    if (!layout->open_ended && sound->frames_decoded < (uint64_t)sound->info.frames)
        return prt_io_reader_truncated(reader, error, "before the samples that its header says");
    uint64_t part = layout->open_ended ? prt_io_reader_available(reader) : layout->rest_bytes;
    if (part == 0) return PRT_OK;
    uint64_t offset = layout->body_offset + sound->position;
    return prt_error_set_at(error, PRT_E_TRUNCATED, offset,
                            "%s: the wav samples end inside the frame at byte %llu (%llu of %u "
                            "bytes)",
                            reader->name, (unsigned long long)offset, (unsigned long long)part,
                            layout->frame_bytes);
}

/* After a failure libsndfile does not say which of the frames are good: none of them is used. */
static void decode_items(struct sound_source *sound)
{
    const struct prt_sound_library *library = &sound->library;
    sf_count_t frames = (sf_count_t)(sound->items_capacity / (size_t)sound->info.channels), got;
    sound->items_used = 0;
    sound->items_count = 0;
    switch (sound->base.packet) {
    case SCALAR_F32: got = library->readf_float(sound->file, sound->items.floats, frames); break;
    case SCALAR_F64: got = library->readf_double(sound->file, sound->items.doubles, frames); break;
    default: got = library->readf_int(sound->file, sound->items.integers, frames); break;
    }
    sound->failure = library->error(sound->file);
    if (got <= 0 || sound->failure != SF_ERR_NO_ERROR) return;
    sound->frames_decoded += (uint64_t)got;
    sound->items_count = (size_t)got * (size_t)sound->info.channels;
}

/* Hands decoded items out; libsndfile's integers stand in the high bits. */
static void take_items(struct sound_source *sound, unsigned char *packets, size_t count)
{
    enum scalar_type packet = sound->base.packet;
    size_t width = scalar_width_bytes(packet);
    if (scalar_is_float(packet)) {
        memcpy(packets, (unsigned char *)sound->items.any + sound->items_used * width,
               count * width);
    } else {
        for (size_t i = 0; i < count; i++) {
            int64_t value = sound->items.integers[sound->items_used + i] >> (32 - sound->bits);
            if (packet == SCALAR_U8) value += 128;
            memcpy(packets + i * width, &value, width);
        }
    }
    sound->items_used += count;
}

static enum prt_status sound_read(struct prt_source *source, void *packets, size_t capacity,
                                  size_t *count, struct prt_error *error)
{
    struct sound_source *sound = (struct sound_source *)source;
    size_t width = scalar_width_bytes(source->packet);
    while (*count < capacity) {
        size_t left = sound->items_count - sound->items_used;
        if (left == 0) {
            if (*count > 0 && !sound->reader.regular)
                return PRT_OK; /* deliver the packets read so far */
            decode_items(sound);
            left = sound->items_count;
        }
        if (left == 0) return check_sound_end(sound, error);
        size_t part = left < capacity - *count ? left : capacity - *count;
        take_items(sound, (unsigned char *)packets + *count * width, part);
        *count += part;
    }
    return PRT_OK;
}

static void sound_close(struct prt_source *source)
{
    struct sound_source *sound = (struct sound_source *)source;
    if (sound->file != NULL) (void)sound->library.close(sound->file);
    prt_sound_library_unload(&sound->library);
    prt_io_reader_close(&sound->reader);
    free(sound->items.any);
    free(sound);
}

static const struct prt_source_ops sound_source_ops = {sound_read, sound_close};

static enum prt_status open_sound(struct sound_source *sound, const char *path,
                                  const struct prt_io_environment *environment,
                                  struct prt_error *error)
{
    bool can_stream = true;
    enum prt_status status = prt_io_reader_open(&sound->reader, path, environment, error);
    if (status == PRT_OK && !sound->reader.regular)
        status = prt_sound_can_stream(&sound->reader, &can_stream, error);
    if (status == PRT_OK && !can_stream) status = prt_io_reader_spool(&sound->reader, error);
    if (status == PRT_OK) status = prt_sound_layout_read(&sound->reader, &sound->layout, error);
    if (status == PRT_OK) status = open_body(sound, error);
    return status == PRT_OK ? note_stream(sound, error) : status;
}

enum prt_status prt_sound_source_open(const struct prt_port_spec *spec,
                                      const struct prt_packet *layout,
                                      const struct prt_io_environment *environment,
                                      struct prt_source **source, struct prt_error *error)
{
    if (spec->has_element)
        return prt_error_set(error, PRT_E_USAGE, "%s: a sound file names its own type", spec->path);
    struct sound_source *sound = (struct sound_source *)prt_source_make(
        sizeof *sound, &sound_source_ops, layout->scalar, error);
    if (sound == NULL) return PRT_E_NOMEM;
    sound->base.reader = &sound->reader;
    enum prt_status status = open_sound(sound, spec->path, environment, error);
    if (status != PRT_OK) {
        sound_close(&sound->base);
        return status;
    }
    *source = &sound->base;
    return PRT_OK;
}
