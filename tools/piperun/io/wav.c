/* wav: read through libsndfile, from files and pipes; channels are interleaved, so the frames of a
 * stereo file give left, right, left, right, ...
 *
 *   f32, f64 ports  samples scaled to [-1, 1): value / 2^(bits - 1); float samples as they are
 *   i8..i64 ports   the stored value, signed (8-bit files: value - 128), of PCM with no more bits
 *                   than the port; compressed files count as 16 bits
 *   u8 ports        8-bit files: the stored value 0..255
 *   others          refused
 *
 * The chunks are walked here, forwards only; libsndfile is given a short header made of fmt and
 * fact, and the samples.  So a pipe is as good as a file, and no size is believed: libsndfile would
 * repair those that run past the end of the file, here that is PRT_E_TRUNCATED.  The sizes
 * 0xFFFFFFFF and 0x7FFFF000, which programs write to pipes, mean: up to the end.  What stands
 * behind the samples is not looked at.
 *
 * Written: wav:TYPE with u8, i16, i32, f32 or f64, else the port's type if it is one of these;
 * rate= (PRT_WAV_RATE if not given), channels= (1).  Float packets to integer samples:
 * round(x * 2^(bits - 1)), ties to even, cut to the range, NaN is 0.  Signed packets to float samples: value / 2^(bits - 1).
 * Integers to integers: the value, PRT_E_FORMAT if it does not fit.  To a pipe the sizes are
 * 0xFFFFFFFF; a file is at most 4 GiB. */
#include "tools/piperun/io/io_internal.h"
#include "tools/piperun/io/sound_library.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS_MAX 1024u
#define CHUNKS_MAX 4096
#define ITEMS_PART ((size_t)4096)
#define SIZE_UNKNOWN 0xFFFFFFFFu
#define SIZE_UNKNOWN_SOX 0x7FFFF000u
#define UNKNOWN_DATA_BYTES (UINT64_C(1) << 50) /* what libsndfile is told */
#define COMPRESSED_BYTES_MAX ((uint64_t)INT32_MAX)
#define FMT_BYTES_MAX 1024u
#define MADE_HEADER_MAX (12 + 36 + 8 + FMT_BYTES_MAX + 12 + 8)
#define OPENING_BYTES_MAX ((size_t)1 << 18)
#define HEADER_BYTES_MAX 58
#define DATA_BYTES_MAX (UINT64_C(0xFFFFFFFF) - HEADER_BYTES_MAX)

struct wav_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct prt_sound_library library;
    SNDFILE *file;
    SF_INFO info;
    struct prt_error
        fault; /* of a read for libsndfile, which may still have given frames; its status
                               PRT_OK: none */

    /* the chunks */
    bool big_endian, rf64, compressed, open_ended;
    unsigned char fmt[FMT_BYTES_MAX];
    uint32_t fmt_bytes; /* 0: not seen */
    unsigned char fact[4];
    bool has_fact;
    uint32_t frame_bytes;
    uint64_t ds64_bytes; /* RF64: size of data */
    uint64_t data_offset, data_bytes;

    /* what libsndfile sees: made header, then the samples */
    unsigned char header[MADE_HEADER_MAX];
    size_t header_bytes;
    uint64_t position;
    uint64_t data_taken; /* bytes of samples taken from the reader */
    unsigned char
        *opening; /* the first of them, as libsndfile reads them twice; compressed alone */
    size_t opening_bytes;
    bool is_open;

    int bits; /* of a sample; 0: float */
    bool offset_binary;
    union {
        int *integers;
        float *floats;
        double *doubles;
        void *any;
    } items; /* decoded, whole frames */
    size_t items_capacity, items_used, items_count;
};

struct wav_sink {
    struct prt_sink base;
    enum scalar_type element;
    uint32_t rate, channels;
};

/* --- little-endian fields --- */

static uint32_t get_u16(const unsigned char *bytes, bool big_endian)
{
    return (uint32_t)bytes[big_endian ? 1 : 0] | (uint32_t)bytes[big_endian ? 0 : 1] << 8;
}

static uint32_t get_u32(const unsigned char *bytes, bool big_endian)
{
    uint32_t first = get_u16(bytes, big_endian), second = get_u16(bytes + 2, big_endian);
    return big_endian ? first << 16 | second : second << 16 | first;
}

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

static unsigned char *put_u64(unsigned char *next, uint64_t value)
{
    return put_u32(put_u32(next, (uint32_t)value), (uint32_t)(value >> 32));
}

static unsigned char *put_bytes(unsigned char *next, const void *bytes, size_t length)
{
    memcpy(next, bytes, length);
    return next + length;
}

/* --- the chunks --- */

static enum prt_status refuse(const struct wav_source *wav, struct prt_error *error,
                              const char *what)
{
    return prt_error_set_at(error, PRT_E_FORMAT, wav->reader.offset, "%s: wav, byte %llu: %s",
                            wav->reader.name, (unsigned long long)wav->reader.offset, what);
}

static enum prt_status take(struct wav_source *wav, unsigned char *target, size_t bytes,
                            struct prt_error *error)
{
    enum prt_status status = prt_io_reader_need(&wav->reader, bytes, error);
    if (status != PRT_OK) return status;
    if (prt_io_reader_available(&wav->reader) < bytes)
        return prt_io_reader_truncated(&wav->reader, error, "inside the wav header");
    memcpy(target, prt_io_reader_bytes(&wav->reader), bytes);
    prt_io_reader_consume(&wav->reader, bytes);
    return PRT_OK;
}

static enum prt_status skip(struct wav_source *wav, uint64_t bytes, struct prt_error *error)
{
    while (bytes > 0) {
        /* equivalent: another chunk follows those bytes */
        enum prt_status status = prt_io_reader_need(&wav->reader, 1, error);
        size_t part = prt_io_reader_available(&wav->reader);
        if (status != PRT_OK) return status;
        if (part == 0) return prt_io_reader_truncated(&wav->reader, error, "inside the wav header");
        part = part < bytes ? part : (size_t)bytes;
        prt_io_reader_consume(&wav->reader, part);
        bytes -= part;
    }
    return PRT_OK;
}

static enum prt_status read_magic(struct wav_source *wav, struct prt_error *error)
{
    static const char *const magics[] = {"RIFF", "RIFX", "RF64"};
    enum prt_status status = prt_io_reader_need(&wav->reader, 12, error);
    if (status != PRT_OK) return status;
    const unsigned char *bytes = prt_io_reader_bytes(&wav->reader);
    size_t have = prt_io_reader_available(&wav->reader);
    have = have < 12 ? have : 12;
    for (size_t i = 0; i < 3; i++) {
        if (memcmp(bytes, magics[i], have < 4 ? have : 4) != 0 ||
            (have > 8 && memcmp(bytes + 8, "WAVE", have - 8) != 0))
            continue;
        wav->big_endian = i == 1;
        wav->rf64 = i == 2;
        return skip(wav, 12, error);
    }
    return refuse(wav, error, "this is not a wav file");
}

static enum prt_status read_fmt(struct wav_source *wav, uint32_t bytes, struct prt_error *error)
{
    if (bytes < 16 || bytes > FMT_BYTES_MAX || wav->fmt_bytes != 0)
        return refuse(wav, error, "the fmt chunk is too short, too long or there twice");
    enum prt_status status = take(wav, wav->fmt, bytes, error);
    if (status != PRT_OK) return status;
    uint32_t tag = get_u16(wav->fmt, wav->big_endian);
    wav->fmt_bytes = bytes;
    wav->frame_bytes = get_u16(wav->fmt + 12, wav->big_endian);
    wav->compressed = tag != 1 && tag != 3 && tag != 6 && tag != 7 && tag != 0xFFFE;
    return wav->frame_bytes != 0 ? PRT_OK
                                 : refuse(wav, error, "the fmt chunk has a block size of 0");
}

static enum prt_status read_data(struct wav_source *wav, uint32_t bytes, struct prt_error *error)
{
    const struct prt_io_reader *reader = &wav->reader;
    uint64_t left = UINT64_MAX;
    if (wav->fmt_bytes == 0) return refuse(wav, error, "there is no fmt chunk before the data");
    if (reader->regular)
        left = reader->size_bytes > reader->offset ? reader->size_bytes - reader->offset : 0;
    wav->data_offset = reader->offset;
    wav->data_bytes = bytes;
    if (wav->rf64 && bytes == SIZE_UNKNOWN && wav->ds64_bytes != 0)
        wav->data_bytes = wav->ds64_bytes;
    else if ((bytes == SIZE_UNKNOWN || bytes == SIZE_UNKNOWN_SOX) && bytes > left)
        wav->data_bytes = left;
    else if (bytes == SIZE_UNKNOWN || bytes == SIZE_UNKNOWN_SOX)
        wav->open_ended = !reader->regular;
    if (wav->data_bytes > left)
        return prt_error_set_at(error, PRT_E_TRUNCATED, reader->size_bytes,
                                "%s: the file ends at byte %llu, before the samples that its wav "
                                "header says",
                                reader->name, (unsigned long long)reader->size_bytes);
    if (wav->compressed && (wav->open_ended || wav->data_bytes > COMPRESSED_BYTES_MAX))
        return refuse(wav, error, "compressed samples must have a length below 2 GiB");
    if (wav->data_bytes > UNKNOWN_DATA_BYTES)
        return refuse(wav, error, "the data chunk is too large");
    if (wav->open_ended) wav->data_bytes = UNKNOWN_DATA_BYTES;
    return PRT_OK;
}

static enum prt_status read_other(struct wav_source *wav, const unsigned char *name, uint32_t bytes,
                                  struct prt_error *error)
{
    unsigned char fields[16] = {0};
    uint64_t used = 0;
    enum prt_status status = PRT_OK;
    if (memcmp(name, "ds64", 4) == 0 && bytes >= 16) {
        used = 16;
        status = take(wav, fields, 16, error);
        wav->ds64_bytes = status != PRT_OK ? 0
                                           : get_u32(fields + 8, false) |
                                                 (uint64_t)get_u32(fields + 12, false) << 32;
    } else if (memcmp(name, "fact", 4) == 0 && bytes >= 4) {
        used = 4;
        status = take(wav, wav->fact, 4, error);
        wav->has_fact = status == PRT_OK;
    }
    return status != PRT_OK ? status : skip(wav, bytes - used, error);
}

/* Walks the chunks up to the samples. */
static enum prt_status read_chunks(struct wav_source *wav, struct prt_error *error)
{
    enum prt_status status = read_magic(wav, error);
    for (int i = 0; status == PRT_OK && i < CHUNKS_MAX; i++) {
        unsigned char head[8] = {0};
        status = take(wav, head, sizeof head, error);
        if (status != PRT_OK) return status;
        uint32_t bytes = get_u32(head + 4, wav->big_endian);
        if (memcmp(head, "data", 4) == 0) return read_data(wav, bytes, error);
        status = memcmp(head, "fmt ", 4) == 0 ? read_fmt(wav, bytes, error)
                                              : read_other(wav, head, bytes, error);
        if (status == PRT_OK) status = skip(wav, bytes & 1, error);
    }
    return status != PRT_OK ? status : refuse(wav, error, "there are too many chunks");
}

/* --- what libsndfile sees --- */

/* Samples in whole frames (compressed: as they are). */
static uint64_t whole_bytes(const struct wav_source *wav)
{
    return wav->compressed ? wav->data_bytes : wav->data_bytes - wav->data_bytes % wav->frame_bytes;
}

/* In the byte order of the file; RF64 where 32 bits are too few. */
static void make_source_header(struct wav_source *wav)
{
    uint64_t bytes = whole_bytes(wav);
    bool large = bytes > UINT32_MAX - MADE_HEADER_MAX;
    unsigned char sizes[8]; /* of the file, fmt, fact and data in turn, low half of each used */
    unsigned char *next = wav->header;
    next = put_bytes(next, large ? "RF64" : wav->big_endian ? "RIFX" : "RIFF", 4);
    next = put_u32(next, SIZE_UNKNOWN);
    next = put_bytes(next, "WAVE", 4);
    if (large) {
        next = put_u32(put_bytes(next, "ds64", 4), 28);
        next = put_u64(put_u64(next, bytes + MADE_HEADER_MAX), bytes);
        next = put_u32(put_u64(next, bytes / wav->frame_bytes), 0);
    }
    const uint32_t lengths[] = {wav->fmt_bytes, 4, large ? SIZE_UNKNOWN : (uint32_t)bytes};
    const char *const names[] = {"fmt ", "fact", "data"};
    const unsigned char *const contents[] = {wav->fmt, wav->fact, NULL};
    for (size_t i = 0; i < 3; i++) {
        if (i == 1 && !wav->has_fact) continue;
        (void)put_u32(sizes, lengths[i]);
        if (wav->big_endian) prt_io_swap(sizes, 4, 1);
        next = put_bytes(put_bytes(next, names[i], 4), sizes, 4);
        if (contents[i] != NULL) next = put_bytes(next, contents[i], lengths[i]);
        if (contents[i] != NULL && (lengths[i] & 1) != 0) *next++ = 0;
    }
    wav->header_bytes = (size_t)(next - wav->header);
}

static sf_count_t on_length(void *user)
{
    const struct wav_source *wav = user;
    return (sf_count_t)(wav->header_bytes + whole_bytes(wav));
}

static sf_count_t on_tell(void *user)
{
    return (sf_count_t)((const struct wav_source *)user)->position;
}

/* Only notes where to read: whether that can be read shows there. */
static sf_count_t on_seek(sf_count_t offset, int whence, void *user)
{
    struct wav_source *wav = user;
    /* uncovered: libsndfile 1.2 seeks to no such place */
    sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? on_tell(user) : on_length(user);
    sf_count_t position;
    /* uncovered: libsndfile 1.2 seeks to no such place */
    if (!__builtin_add_overflow(base, offset, &position) && position >= 0)
        wav->position = (uint64_t)position;
    return (sf_count_t)wav->position;
}

/* While libsndfile opens a compressed file it reads samples, and will read them again. */
static bool keep_opening(struct wav_source *wav, const unsigned char *bytes, size_t length)
{
    if (wav->is_open) return true;
    assert(wav->compressed); /* of others nothing is read before */
    size_t all = wav->opening_bytes + length;
    unsigned char *opening = all <= OPENING_BYTES_MAX ? realloc(wav->opening, all) : NULL;
    if (opening == NULL) {
        wav->fault.status = prt_io_no_memory(&wav->fault);
        return false;
    }
    memcpy(opening + wav->opening_bytes, bytes, length);
    wav->opening = opening;
    wav->opening_bytes = all;
    return true;
}

/* Samples from the reader: what has come, in whole frames; compressed: all of `wanted`. */
static size_t take_samples(struct wav_source *wav, unsigned char *target, size_t wanted)
{
    struct prt_io_reader *reader = &wav->reader;
    size_t unit = wav->compressed ? 1 : wav->frame_bytes;
    size_t done = 0;
    while (wanted - done >= unit && wav->fault.status == PRT_OK && (done == 0 || wav->compressed)) {
        wav->fault.status = prt_io_reader_need(reader, unit, &wav->fault);
        size_t part = prt_io_reader_available(reader);
        part = part < wanted - done ? part : wanted - done;
        part -= part % unit;
        if (wav->fault.status != PRT_OK || part == 0) break;
        if (!keep_opening(wav, prt_io_reader_bytes(reader), part)) break;
        memcpy(target + done, prt_io_reader_bytes(reader), part);
        prt_io_reader_consume(reader, part);
        done += part;
    }
    wav->data_taken += done;
    return done;
}

static sf_count_t on_read(void *target, sf_count_t count, void *user)
{
    struct wav_source *wav = user;
    uint64_t end = wav->header_bytes + whole_bytes(wav);
    const unsigned char *from = NULL;
    uint64_t have = 0;
    if (count <= 0 || wav->position >= end || wav->fault.status != PRT_OK) return 0;
    uint64_t at = wav->position - wav->header_bytes; /* wraps inside the header */
    if (wav->position < wav->header_bytes) {
        from = wav->header + wav->position;
        have = wav->header_bytes - wav->position;
    } else if (at < wav->opening_bytes) {
        from = wav->opening + at;
        have = wav->opening_bytes - at;
    } else if (at == wav->data_taken && (wav->is_open || wav->compressed)) {
        have = end - wav->position;
    }
    size_t part = have < (uint64_t)count ? (size_t)have : (size_t)count;
    if (from != NULL)
        memcpy(target, from, part);
    else
        part = take_samples(wav, target, part);
    wav->position += part;
    if (from != NULL && part > 0 && (sf_count_t)part < count) /* across the border */
        return (sf_count_t)part +
               on_read((unsigned char *)target + part, count - (sf_count_t)part, user);
    return (sf_count_t)part;
}

static sf_count_t on_write(const void *data, sf_count_t count, void *user)
{
    (void)data, (void)count, (void)user;
    return 0;
}

/* --- source --- */

static void note_samples(struct wav_source *wav)
{
    int subtype = wav->info.format & SF_FORMAT_SUBMASK;
    wav->bits = 16;
    if (subtype == SF_FORMAT_PCM_U8) /* in wav, 8 bits have no sign */
        wav->bits = 8;
    else if (subtype == SF_FORMAT_PCM_24)
        wav->bits = 24;
    else if (subtype == SF_FORMAT_PCM_32)
        wav->bits = 32;
    else if (subtype == SF_FORMAT_FLOAT || subtype == SF_FORMAT_DOUBLE)
        wav->bits = 0;
    wav->offset_binary = subtype == SF_FORMAT_PCM_U8;
}

static bool samples_fit(const struct wav_source *wav)
{
    enum scalar_type packet = wav->base.packet;
    if (scalar_is_float(packet)) return true;
    if (packet == SCALAR_U8) return wav->offset_binary;
    return scalar_kind(packet) == SCALAR_KIND_SIGNED && wav->bits != 0 &&
           wav->bits <= 8 * (int)scalar_width_bytes(packet);
}

/* The frames of the file are those that libsndfile reads: else what is left over would not be seen. */
static bool frames_agree(const struct wav_source *wav)
{
    uint32_t width_bytes = 1;
    switch (wav->info.format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_16: width_bytes = 2; break;
    case SF_FORMAT_PCM_24: width_bytes = 3; break;
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_FLOAT: width_bytes = 4; break;
    case SF_FORMAT_DOUBLE: width_bytes = 8; break;
    default: break;
    }
    return wav->compressed || wav->frame_bytes == (uint32_t)wav->info.channels * width_bytes;
}

/* libsndfile 1.2 does not check all of its allocations: it is not called when memory is short. */
static bool memory_left(void)
{
    void *volatile reserve = malloc(OPENING_BYTES_MAX);
    free(reserve);
    return reserve != NULL;
}

static enum prt_status tell_fault(const struct wav_source *wav, struct prt_error *error)
{
    if (error != NULL) *error = wav->fault;
    return wav->fault.status;
}

static enum prt_status open_sndfile(struct wav_source *wav, struct prt_error *error)
{
    SF_VIRTUAL_IO io = {on_length, on_seek, on_read, on_write, on_tell};
    make_source_header(wav);
    if (!memory_left()) return prt_io_no_memory(error);
    enum prt_status status = prt_sound_library_load(&wav->library, wav->reader.name, error);
    if (status != PRT_OK) return status;
    wav->file = wav->library.open_virtual(&io, SFM_READ, &wav->info, wav);
    wav->is_open = true;
    if (wav->fault.status != PRT_OK) return tell_fault(wav, error);
    if (wav->file == NULL)
        return prt_error_set(error, PRT_E_FORMAT, "%s: wav header: %s", wav->reader.name,
                             wav->library.error_number(wav->library.error(NULL)));
    /* uncovered: libsndfile refuses them; another version may not */
    if (wav->info.channels < 1 || wav->info.frames < 0 || wav->info.samplerate < 1)
        return refuse(wav, error, "channels, rate or length make no sense");
    if (!frames_agree(wav))
        return refuse(wav, error, "its block size is not that of its channels and samples");
    note_samples(wav);
    if (samples_fit(wav)) return PRT_OK;
    return prt_error_set(
        error, PRT_E_FORMAT,
        "%s: wav samples of %d bits%s do not fit a port of type %s: f32 and f64 take "
        "them%s",
        wav->reader.name, wav->bits != 0 ? wav->bits : 32, wav->bits != 0 ? "" : " (float)",
        scalar_name(wav->base.packet),
        wav->bits != 0 ? ", and signed integers that are wide enough" : "");
}

static enum prt_status note_stream(struct wav_source *wav, struct prt_error *error)
{
    struct prt_source_information *information = &wav->base.information;
    uint64_t channels = (uint64_t)wav->info.channels;
    information->rate_hertz = (uint32_t)wav->info.samplerate;
    information->channels = (uint32_t)channels;
    /* uncovered: libsndfile counts the frames, and there are not as many bytes */
    if (!wav->open_ended &&
        __builtin_mul_overflow((uint64_t)wav->info.frames, channels, &information->packets))
        return refuse(wav, error, "there are too many frames");
    wav->items_capacity = (ITEMS_PART / channels + 1) * channels;
    wav->items.any = calloc(wav->items_capacity, sizeof(double));
    return wav->items.any != NULL ? PRT_OK : prt_io_no_memory(error);
}

/* libsndfile gave no more frames: was that all? */
static enum prt_status check_end(struct wav_source *wav, struct prt_error *error)
{
    struct prt_io_reader *reader = &wav->reader;
    if (wav->fault.status != PRT_OK) return tell_fault(wav, error);
    int failure = wav->library.error(wav->file);
    if (failure != SF_ERR_NO_ERROR) return refuse(wav, error, wav->library.error_number(failure));
    if (!wav->open_ended && wav->data_taken < whole_bytes(wav) && reader->at_end)
        return prt_io_reader_truncated(reader, error, "before the samples that its header says");
    uint64_t part = wav->data_bytes - whole_bytes(wav);
    if (wav->open_ended) part = prt_io_reader_available(reader);
    if (part == 0) return PRT_OK;
    uint64_t offset = wav->data_offset + wav->data_taken;
    return prt_error_set_at(error, PRT_E_TRUNCATED, offset,
                            "%s: the wav samples end inside the frame at byte %llu (%llu of %u "
                            "bytes)",
                            reader->name, (unsigned long long)offset, (unsigned long long)part,
                            wav->frame_bytes);
}

static void decode_items(struct wav_source *wav)
{
    const struct prt_sound_library *library = &wav->library;
    sf_count_t frames = (sf_count_t)(wav->items_capacity / (size_t)wav->info.channels), got;
    switch (wav->base.packet) {
    case SCALAR_F32: got = library->readf_float(wav->file, wav->items.floats, frames); break;
    case SCALAR_F64: got = library->readf_double(wav->file, wav->items.doubles, frames); break;
    default: got = library->readf_int(wav->file, wav->items.integers, frames); break;
    }
    wav->items_used = 0;
    wav->items_count = got > 0 ? (size_t)got * (size_t)wav->info.channels : 0;
}

/* Hands decoded items out; libsndfile's integers stand in the high bits. */
static void take_items(struct wav_source *wav, unsigned char *packets, size_t count)
{
    enum scalar_type packet = wav->base.packet;
    size_t width = scalar_width_bytes(packet);
    if (scalar_is_float(packet)) {
        memcpy(packets, (unsigned char *)wav->items.any + wav->items_used * width, count * width);
    } else {
        for (size_t i = 0; i < count; i++) {
            int64_t value = wav->items.integers[wav->items_used + i] >> (32 - wav->bits);
            if (packet == SCALAR_U8) value += 128;
            memcpy(packets + i * width, &value, width);
        }
    }
    wav->items_used += count;
}

static enum prt_status wav_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct wav_source *wav = (struct wav_source *)source;
    size_t width = scalar_width_bytes(source->packet);
    while (*count < capacity) {
        size_t left = wav->items_count - wav->items_used;
        if (left == 0) {
            if (*count > 0 && !wav->reader.regular) return PRT_OK; /* give what has come */
            decode_items(wav);
            left = wav->items_count;
        }
        if (left == 0) return check_end(wav, error);
        size_t part = left < capacity - *count ? left : capacity - *count;
        take_items(wav, (unsigned char *)packets + *count * width, part);
        *count += part;
    }
    return PRT_OK;
}

static void wav_close(struct prt_source *source)
{
    struct wav_source *wav = (struct wav_source *)source;
    if (wav->file != NULL) (void)wav->library.close(wav->file);
    prt_sound_library_unload(&wav->library);
    prt_io_reader_close(&wav->reader);
    free(wav->opening);
    free(wav->items.any);
    free(wav);
}

static const struct prt_source_ops wav_source_ops = {wav_read, wav_close};

enum prt_status prt_wav_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    if (spec->has_element)
        return prt_error_set(error, PRT_E_USAGE, "%s: a wav file names its own type", spec->path);
    struct wav_source *wav =
        (struct wav_source *)prt_source_make(sizeof *wav, &wav_source_ops, packet, error);
    if (wav == NULL) return PRT_E_NOMEM;
    wav->base.reader = &wav->reader;
    enum prt_status status = prt_io_reader_open(&wav->reader, spec->path, environment, error);
    if (status == PRT_OK) status = read_chunks(wav, error);
    if (status == PRT_OK) status = open_sndfile(wav, error);
    if (status == PRT_OK) status = note_stream(wav, error);
    if (status != PRT_OK) {
        wav_close(&wav->base);
        return status;
    }
    *source = &wav->base;
    return PRT_OK;
}

/* --- sink --- */

/* The header for `data_bytes` of samples (SIZE_UNKNOWN: it cannot be known); returns its length. */
static size_t make_header(const struct wav_sink *wav, uint32_t data_bytes,
                          unsigned char header[HEADER_BYTES_MAX])
{
    bool is_float = scalar_is_float(wav->element);
    uint32_t width = (uint32_t)scalar_width_bytes(wav->element);
    uint32_t frame_bytes = width * wav->channels;
    uint32_t header_bytes = is_float ? 58 : 44;
    bool unknown = data_bytes == SIZE_UNKNOWN;
    unsigned char *next = put_bytes(header, "RIFF", 4);
    next = put_u32(next, unknown ? SIZE_UNKNOWN : header_bytes - 8 + data_bytes + (data_bytes & 1));
    next = put_bytes(next, "WAVEfmt ", 8);
    next = put_u32(next, is_float ? 18 : 16);
    next = put_u16(next, is_float ? 3 : 1);
    next = put_u16(next, wav->channels);
    next = put_u32(next, wav->rate);
    next = put_u32(next, wav->rate * frame_bytes); /* by check_numbers */
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

static double scale_of(enum scalar_type integer)
{
    return ldexp(1.0, 8 * (int)scalar_width_bytes(integer) - 1);
}

/* Float packets to integer samples. */
static void scale_to_integers(const struct wav_sink *wav, unsigned char *samples,
                              const unsigned char *packets, size_t count)
{
    double scale = scale_of(wav->element);
    size_t width = scalar_width_bytes(wav->element);
    for (size_t i = 0; i < count; i++) {
        double x = 0;
        (void)prt_io_convert(&x, SCALAR_F64, packets + i * scalar_width_bytes(wav->base.packet),
                             wav->base.packet, 1);
        x = isnan(x) ? 0 : nearbyint(x * scale);
        x = x < -scale ? -scale : x;
        x = x > scale - 1 ? scale - 1 : x; /* equivalent: of two equals either */
        int64_t value = (int64_t)x + (wav->element == SCALAR_U8 ? 128 : 0);
        memcpy(samples + i * width, &value, width);
    }
}

/* Signed packets to float samples. */
static void scale_to_floats(const struct wav_sink *wav, unsigned char *samples,
                            const unsigned char *packets, size_t count)
{
    double scale = scale_of(wav->base.packet);
    for (size_t i = 0; i < count; i++) {
        int64_t value = 0;
        (void)prt_io_convert(&value, SCALAR_I64, packets + i * scalar_width_bytes(wav->base.packet),
                             wav->base.packet, 1);
        double x = (double)value / scale;
        (void)prt_io_convert(samples + i * scalar_width_bytes(wav->element), wav->element, &x,
                             SCALAR_F64, 1);
    }
}

static enum prt_status check_length(const struct prt_sink *sink, const struct wav_sink *wav,
                                    size_t count, struct prt_error *error)
{
    uint64_t bytes = sink->packets;
    if (sink->writer.direct) return PRT_OK;
    if (__builtin_add_overflow(bytes, count, &bytes) ||
        __builtin_mul_overflow(bytes, scalar_width_bytes(wav->element), &bytes) ||
        bytes > DATA_BYTES_MAX)
        return prt_error_set(error, PRT_E_WRITE, "%s: a wav file cannot be larger than 4 GiB",
                             sink->writer.name);
    return PRT_OK;
}

static enum prt_status wav_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    const struct wav_sink *wav = (const struct wav_sink *)sink;
    enum { PART = 1024 };
    unsigned char samples[PART * sizeof(double)];
    bool to_float = scalar_is_float(wav->element), from_float = scalar_is_float(sink->packet);
    enum prt_status status = check_length(sink, wav, count, error);
    if (status != PRT_OK) return status;
    if (to_float == from_float)
        return prt_sink_put_elements(sink, wav->element, false, packets, count, error);
    const unsigned char *next = packets;
    for (size_t done = 0; done < count && status == PRT_OK;) {
        size_t part = count - done < PART ? count - done : PART;
        if (to_float)
            scale_to_floats(wav, samples, next, part);
        else
            scale_to_integers(wav, samples, next, part);
        status = prt_io_writer_put(&sink->writer, samples, part * scalar_width_bytes(wav->element),
                                   error);
        next += part * scalar_width_bytes(sink->packet);
        done += part;
    }
    return status;
}

static enum prt_status wav_complete(struct prt_sink *sink, struct prt_error *error)
{
    const struct wav_sink *wav = (const struct wav_sink *)sink;
    unsigned char header[HEADER_BYTES_MAX];
    if (sink->packets % wav->channels != 0)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s: %llu packets are not whole frames of %u channels",
                             sink->writer.name, (unsigned long long)sink->packets, wav->channels);
    if (sink->writer.direct) return PRT_OK;
    uint64_t bytes = sink->packets * scalar_width_bytes(wav->element); /* by check_length */
    enum prt_status status = prt_io_writer_put(&sink->writer, "", bytes & 1, error);
    if (status != PRT_OK) return status;
    size_t length = make_header(wav, (uint32_t)bytes, header);
    return prt_io_writer_patch(&sink->writer, 0, header, length, error);
}

static const struct prt_sink_ops wav_sink_ops = {wav_write, wav_complete, NULL};

/* Refuses numbers that are too large for the fields of the header. */
static enum prt_status check_numbers(const char *path, uint32_t rate, uint32_t channels,
                                     enum scalar_type element, struct prt_error *error)
{
    if (channels > CHANNELS_MAX)
        return prt_error_set(error, PRT_E_USAGE, "%s: wav has at most %u channels", path,
                             CHANNELS_MAX);
    uint32_t frame_bytes = channels * (uint32_t)scalar_width_bytes(element), rate_bytes;
    if (__builtin_mul_overflow(rate, frame_bytes, &rate_bytes))
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: wav has at most 4294967295 bytes in a second: with frames of %u "
                             "bytes, rate= is at most %u, not %u",
                             path, frame_bytes, UINT32_MAX / frame_bytes, rate);
    return PRT_OK;
}

static enum prt_status check_spec(const struct prt_port_spec *spec, enum scalar_type packet,
                                  enum scalar_type *element, struct prt_error *error)
{
    *element = spec->has_element ? spec->element : packet;
    switch (*element) {
    case SCALAR_U8:
    case SCALAR_I16:
    case SCALAR_I32:
    case SCALAR_F32:
    case SCALAR_F64: break;
    default:
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: wav has no samples of type %s: name one of wav:u8 wav:i16 "
                             "wav:i32 wav:f32 wav:f64",
                             spec->path, scalar_name(*element));
    }
    if (spec->big_endian)
        return prt_error_set(error, PRT_E_USAGE, "%s: wav is little-endian: wav:%s", spec->path,
                             scalar_name(*element));
    bool unsigned_to_float = scalar_is_float(*element) && !scalar_is_signed(packet);
    if (packet == SCALAR_BOOL || unsigned_to_float)
        return prt_error_set(error, PRT_E_USAGE, "%s: packets of type %s cannot become wav:%s",
                             spec->path, scalar_name(packet), scalar_name(*element));
    return PRT_OK;
}

enum prt_status prt_wav_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    enum scalar_type element;
    uint32_t rate = spec->rate_hertz != 0 ? spec->rate_hertz : PRT_WAV_RATE;
    uint32_t channels = prt_io_channels(spec, layout);
    enum prt_status status = check_spec(spec, packet, &element, error);
    if (status == PRT_OK) status = check_numbers(spec->path, rate, channels, element, error);
    if (status != PRT_OK) return status;
    struct wav_sink *wav =
        (struct wav_sink *)prt_sink_make(sizeof *wav, &wav_sink_ops, packet, error);
    if (wav == NULL) return PRT_E_NOMEM;
    wav->element = element;
    wav->rate = rate;
    wav->channels = channels;
    unsigned char header[HEADER_BYTES_MAX];
    size_t length = make_header(wav, SIZE_UNKNOWN, header);
    status = prt_io_writer_open(&wav->base.writer, spec->path, false, environment, error);
    if (status == PRT_OK) status = prt_io_writer_put(&wav->base.writer, header, length, error);
    if (status != PRT_OK) {
        prt_sink_close(&wav->base);
        return status;
    }
    *sink = &wav->base;
    return PRT_OK;
}
