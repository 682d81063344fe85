/* SPDX-License-Identifier: MIT */
/* Sizes that are not believed: 0xFFFFFFFF and 0x7FFFF000, which programs write to pipes, mean: up to the end.  Bytes after
 * the samples of WAV are not looked at. */
#include "tools/piperun/io/sound_header.h"

#include <sndfile.h>
#include <string.h>

#define CHANNELS_MAX 1024u
#define CHUNKS_MAX 4096
#define SIZE_UNKNOWN 0xFFFFFFFFu
#define SIZE_UNKNOWN_SOX 0x7FFFF000u
#define UNKNOWN_DATA_BYTES                                                                         \
    (UINT64_C(1) << 50) /* the length of an endless stream, as libsndfile sees it */
#define FMT_BYTES_MAX 1024u
#define FMT_USED_BYTES 40u /* of the extensible form */

/* The state of walking chunks. */
struct walk {
    struct prt_io_reader *reader;
    struct prt_sound_layout *layout;
    bool big_endian, rf64, has_fmt, has_comm, has_samples;
    uint64_t ds64_bytes; /* RF64: size of data */
};

static uint32_t get_u16(const unsigned char *bytes, bool big_endian)
{
    return (uint32_t)bytes[big_endian ? 1 : 0] | (uint32_t)bytes[big_endian ? 0 : 1] << 8;
}

static uint32_t get_u32(const unsigned char *bytes, bool big_endian)
{
    uint32_t first = get_u16(bytes, big_endian), second = get_u16(bytes + 2, big_endian);
    return big_endian ? first << 16 | second : second << 16 | first;
}

static enum prt_status refuse_sound_header(const struct walk *walk, struct prt_error *error,
                                           const char *what)
{
    const struct prt_io_reader *reader = walk->reader;
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset, "%s: %s, byte %llu: %s",
                            reader->name, walk->layout->format, (unsigned long long)reader->offset,
                            what);
}

static enum prt_status take_header_bytes(struct walk *walk, unsigned char *target, size_t bytes,
                                         struct prt_error *error)
{
    enum prt_status status = prt_io_reader_need(walk->reader, bytes, error);
    if (status != PRT_OK) return status;
    if (prt_io_reader_available(walk->reader) < bytes)
        return prt_io_reader_truncated(walk->reader, error, "inside the header");
    memcpy(target, prt_io_reader_bytes(walk->reader), bytes);
    prt_io_reader_consume(walk->reader, bytes);
    return PRT_OK;
}

static enum prt_status skip_bytes(struct walk *walk, uint64_t bytes, struct prt_error *error)
{
    while (bytes > 0) {
        /* equivalent: another chunk follows those bytes */
        enum prt_status status = prt_io_reader_need(walk->reader, 1, error);
        size_t part = prt_io_reader_available(walk->reader);
        if (status != PRT_OK) return status;
        if (part == 0) return prt_io_reader_truncated(walk->reader, error, "inside the header");
        part = part < bytes ? part : (size_t)bytes;
        prt_io_reader_consume(walk->reader, part);
        bytes -= part;
    }
    return PRT_OK;
}

/* --- WAV --- */

/* The format of samples that are plain numbers, as libsndfile names it; 0: others. */
static int plain_format(const unsigned char *fmt, uint32_t bytes, bool big_endian)
{
    static const unsigned char extensible[14] = {0,    0,    0,    0,    0x10, 0,    0x80,
                                                 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71};
    static const struct {
        uint32_t tag, bits;
        int format;
    } plain[] = {{1, 8, SF_FORMAT_PCM_U8},  {1, 16, SF_FORMAT_PCM_16}, {1, 24, SF_FORMAT_PCM_24},
                 {1, 32, SF_FORMAT_PCM_32}, {3, 32, SF_FORMAT_FLOAT},  {3, 64, SF_FORMAT_DOUBLE},
                 {6, 8, SF_FORMAT_ALAW},    {7, 8, SF_FORMAT_ULAW}};
    uint32_t tag = get_u16(fmt, big_endian), bits = get_u16(fmt + 14, big_endian);
    if (tag == 0xFFFE && bytes >= FMT_USED_BYTES && memcmp(fmt + 26, extensible, 14) == 0)
        tag = get_u16(fmt + 24, big_endian);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (plain[i].tag == tag && plain[i].bits == bits)
            return SF_FORMAT_RAW | plain[i].format |
                   (big_endian ? SF_ENDIAN_BIG : SF_ENDIAN_LITTLE);
    return 0;
}

static enum prt_status read_fmt(struct walk *walk, uint32_t bytes, struct prt_error *error)
{
    struct prt_sound_layout *layout = walk->layout;
    unsigned char fmt[FMT_BYTES_MAX] = {0};
    if (bytes < 16 || bytes > FMT_BYTES_MAX || walk->has_fmt)
        return refuse_sound_header(walk, error,
                                   "the fmt chunk is too short, too long, or occurs twice");
    enum prt_status status = take_header_bytes(walk, fmt, bytes, error);
    if (status != PRT_OK) return status;
    walk->has_fmt = true;
    layout->raw_format = plain_format(fmt, bytes, walk->big_endian);
    layout->channels = get_u16(fmt + 2, walk->big_endian);
    layout->rate_hertz = get_u32(fmt + 4, walk->big_endian);
    layout->frame_bytes = get_u16(fmt + 12, walk->big_endian);
    if (layout->raw_format == 0) return PRT_OK;
    if (layout->channels < 1 || layout->channels > CHANNELS_MAX || layout->rate_hertz < 1 ||
        layout->rate_hertz > INT32_MAX)
        return refuse_sound_header(walk, error, "its channels or its rate make no sense");
    if (layout->frame_bytes != layout->channels * (get_u16(fmt + 14, walk->big_endian) / 8))
        return refuse_sound_header(walk, error,
                                   "its block size is not that of its channels and samples");
    return PRT_OK;
}

static enum prt_status read_data(struct walk *walk, uint32_t bytes, struct prt_error *error)
{
    const struct prt_io_reader *reader = walk->reader;
    struct prt_sound_layout *layout = walk->layout;
    if (!walk->has_fmt)
        return refuse_sound_header(walk, error, "there is no fmt chunk before the data");
    uint64_t left = UINT64_MAX, data_bytes = bytes;
    if (reader->regular)
        left = reader->size_bytes > reader->offset ? reader->size_bytes - reader->offset : 0;
    bool unknown = bytes == SIZE_UNKNOWN || bytes == SIZE_UNKNOWN_SOX;
    if (walk->rf64 && bytes == SIZE_UNKNOWN && walk->ds64_bytes != 0)
        data_bytes = walk->ds64_bytes;
    else if (unknown && bytes > left)
        data_bytes = left;
    else if (unknown)
        layout->open_ended = !reader->regular;
    if (data_bytes > left)
        return prt_error_set_at(error, PRT_E_TRUNCATED, reader->size_bytes,
                                "%s: the file ends at byte %llu, before the samples that its wav "
                                "header says",
                                reader->name, (unsigned long long)reader->size_bytes);
    if (data_bytes > UNKNOWN_DATA_BYTES)
        return refuse_sound_header(walk, error, "the data chunk is too large");
    walk->has_samples = true;
    if (layout->raw_format == 0) return PRT_OK;
    if (layout->open_ended) data_bytes = UNKNOWN_DATA_BYTES;
    layout->rest_bytes = data_bytes % layout->frame_bytes;
    layout->body_bytes = data_bytes - layout->rest_bytes;
    layout->body_offset = reader->offset;
    return PRT_OK;
}

static enum prt_status read_ds64(struct walk *walk, uint32_t bytes, struct prt_error *error)
{
    unsigned char fields[16];
    if (bytes < sizeof fields) return skip_bytes(walk, bytes, error);
    enum prt_status status = take_header_bytes(walk, fields, sizeof fields, error);
    if (status != PRT_OK) return status;
    walk->ds64_bytes = get_u32(fields + 8, false) | (uint64_t)get_u32(fields + 12, false) << 32;
    return skip_bytes(walk, bytes - sizeof fields, error);
}

/* --- AIFF --- */

static enum prt_status read_comm(struct walk *walk, uint32_t bytes, struct prt_error *error)
{
    unsigned char comm[18];
    if (bytes < sizeof comm || walk->has_comm)
        return refuse_sound_header(walk, error, "the COMM chunk is too short, or occurs twice");
    enum prt_status status = take_header_bytes(walk, comm, sizeof comm, error);
    if (status != PRT_OK) return status;
    walk->has_comm = true;
    walk->layout->frames = get_u32(comm + 2, true);
    return skip_bytes(walk, bytes - sizeof comm, error);
}

static enum prt_status read_ssnd(struct walk *walk, uint32_t bytes, struct prt_error *error)
{
    const struct prt_io_reader *reader = walk->reader;
    if (bytes > reader->size_bytes || reader->offset > reader->size_bytes - bytes)
        return prt_error_set_at(error, PRT_E_TRUNCATED, reader->size_bytes,
                                "%s: the file ends at byte %llu, before the samples that its aiff "
                                "header says",
                                reader->name, (unsigned long long)reader->size_bytes);
    walk->has_samples = true;
    return walk->has_comm ? PRT_OK : skip_bytes(walk, bytes, error);
}

/* --- chunks --- */

static enum prt_status read_chunk(struct walk *walk, const unsigned char *name, uint32_t bytes,
                                  struct prt_error *error)
{
    bool wav = strcmp(walk->layout->format, "wav") == 0;
    if (wav && memcmp(name, "fmt ", 4) == 0) return read_fmt(walk, bytes, error);
    if (wav && memcmp(name, "data", 4) == 0) return read_data(walk, bytes, error);
    if (wav && memcmp(name, "ds64", 4) == 0) return read_ds64(walk, bytes, error);
    if (!wav && memcmp(name, "COMM", 4) == 0) return read_comm(walk, bytes, error);
    if (!wav && memcmp(name, "SSND", 4) == 0) return read_ssnd(walk, bytes, error);
    return skip_bytes(walk, bytes, error);
}

/* Walks up to the samples; of AIFF also past them, if the COMM chunk follows. */
static enum prt_status read_chunks(struct walk *walk, struct prt_error *error)
{
    bool aiff = strcmp(walk->layout->format, "aiff") == 0;
    enum prt_status status = skip_bytes(walk, 12, error);
    for (int i = 0; status == PRT_OK && i < CHUNKS_MAX; i++) {
        unsigned char head[8] = {0};
        status = take_header_bytes(walk, head, sizeof head, error);
        if (status != PRT_OK) return status;
        uint32_t bytes = get_u32(head + 4, walk->big_endian);
        status = read_chunk(walk, head, bytes, error);
        if (status == PRT_OK && walk->has_samples && (!aiff || walk->has_comm)) return PRT_OK;
        if (status == PRT_OK) status = skip_bytes(walk, bytes & 1, error);
    }
    return status != PRT_OK ? status
                            : refuse_sound_header(walk, error, "there are too many chunks");
}

/* --- Ogg --- */

/* The bytes of the page at `page`, of which `length` are there; 0: there is no whole page. */
static size_t ogg_page_bytes(const unsigned char *page, size_t length)
{
    if (length < 27 || memcmp(page, "OggS", 4) != 0 || length < 27 + (size_t)page[26]) return 0;
    size_t bytes = 27 + (size_t)page[26];
    for (size_t i = 0; i < page[26]; i++)
        bytes += page[27 + i];
    return bytes <= length ? bytes : 0;
}

/* libsndfile reads up to the last page that is there: here it must be the last one of the one stream. */
static enum prt_status check_ogg_end(struct walk *walk, struct prt_error *error)
{
    enum { SERIAL_AT = 14, SERIAL_BYTES = 4, LAST_PAGE = 4 };
    struct prt_io_reader *reader = walk->reader;
    unsigned char first[27];
    enum prt_status status = take_header_bytes(walk, first, sizeof first, error);
    if (status != PRT_OK) return status;
    uint64_t size = reader->size_bytes;
    uint64_t tail = size > PRT_IO_BUFFER_BYTES ? size - PRT_IO_BUFFER_BYTES : 0;
    status = prt_io_reader_seek(reader, tail, error);
    if (status == PRT_OK) status = prt_io_reader_need(reader, (size_t)(size - tail), error);
    if (status != PRT_OK) return status;
    const unsigned char *bytes = prt_io_reader_bytes(reader);
    size_t length = prt_io_reader_available(reader);
    for (size_t at = length; at-- > 0;) {
        if (ogg_page_bytes(bytes + at, length - at) != length - at) continue;
        if (memcmp(bytes + at + SERIAL_AT, first + SERIAL_AT, SERIAL_BYTES) != 0)
            return refuse_sound_header(walk, error,
                                       "there are several streams, and only one is read");
        if ((bytes[at + 5] & LAST_PAGE) != 0) return PRT_OK;
        break;
    }
    prt_io_reader_consume(reader, length);
    return prt_io_reader_truncated(reader, error, "before the end of its ogg stream");
}

/* --- all --- */

/* The format that the first bytes name; NULL: none, or too few bytes. */
static const char *format_of(const unsigned char *bytes, size_t length)
{
    static const struct {
        const char *magic, *kind, *format;
    } magics[] = {{"RIFF", "WAVE", "wav"},  {"RIFX", "WAVE", "wav"},  {"RF64", "WAVE", "wav"},
                  {"FORM", "AIFF", "aiff"}, {"FORM", "AIFC", "aiff"}, {"fLaC", "", "flac"},
                  {"OggS", "", "ogg"}};
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (length >= 12 && memcmp(bytes, magics[i].magic, 4) == 0 &&
            memcmp(bytes + 8, magics[i].kind, strlen(magics[i].kind)) == 0)
            return magics[i].format;
    return NULL;
}

enum prt_status prt_sound_can_stream(struct prt_io_reader *reader, bool *can_stream,
                                     struct prt_error *error)
{
    *can_stream = false;
    enum prt_status status = prt_io_reader_need(reader, 12, error);
    if (status != PRT_OK) return status;
    const char *format = format_of(prt_io_reader_bytes(reader), prt_io_reader_available(reader));
    if (format == NULL || strcmp(format, "wav") != 0) return PRT_OK;
    bool big_endian = prt_io_reader_bytes(reader)[3] == 'X';
    size_t at = 12;
    for (uint64_t bytes = 0; at + 8 + FMT_USED_BYTES <= PRT_IO_BUFFER_BYTES; at += (size_t)bytes) {
        status = prt_io_reader_need(reader, at + 8, error);
        if (status != PRT_OK) return status;
        const unsigned char *head = prt_io_reader_bytes(reader) + at;
        *can_stream = true; /* a header without a fmt chunk is refused without reading on */
        if (prt_io_reader_available(reader) < at + 8 || memcmp(head, "data", 4) == 0) return PRT_OK;
        *can_stream = false;
        bytes = get_u32(head + 4, big_endian);
        if (memcmp(head, "fmt ", 4) == 0) break;
        bytes += 8 + (bytes & 1);
        if (bytes > PRT_IO_BUFFER_BYTES) return PRT_OK;
    }
    if (at + 8 + FMT_USED_BYTES > PRT_IO_BUFFER_BYTES) return PRT_OK;
    uint32_t bytes = get_u32(prt_io_reader_bytes(reader) + at + 4, big_endian);
    size_t used = bytes < FMT_USED_BYTES ? bytes : FMT_USED_BYTES;
    status = prt_io_reader_need(reader, at + 8 + used, error);
    if (status != PRT_OK) return status;
    const unsigned char *fmt = prt_io_reader_bytes(reader) + at + 8;
    *can_stream = used < 16 || prt_io_reader_available(reader) < at + 8 + used ||
                  plain_format(fmt, bytes, big_endian) != 0;
    return PRT_OK;
}

enum prt_status prt_sound_layout_read(struct prt_io_reader *reader, struct prt_sound_layout *layout,
                                      struct prt_error *error)
{
    struct walk walk = {.reader = reader, .layout = layout};
    *layout = (struct prt_sound_layout){
        .format = "sound", .body_bytes = reader->size_bytes, .frames = PRT_PACKETS_UNKNOWN};
    enum prt_status status = prt_io_reader_need(reader, 12, error);
    if (status != PRT_OK) return status;
    const unsigned char *bytes = prt_io_reader_bytes(reader);
    size_t length = prt_io_reader_available(reader);
    if (length < 12) return prt_io_reader_truncated(reader, error, "inside the header");
    const char *format = format_of(bytes, length);
    if (format == NULL)
        return refuse_sound_header(&walk, error, "this is no wav, aiff, flac or ogg file");
    layout->format = format;
    walk.rf64 = memcmp(bytes, "RF64", 4) == 0;
    walk.big_endian = bytes[3] == 'X' || bytes[0] == 'F';
    if (strcmp(format, "ogg") == 0) return check_ogg_end(&walk, error);
    return strcmp(format, "flac") == 0 ? PRT_OK : read_chunks(&walk, error);
}
