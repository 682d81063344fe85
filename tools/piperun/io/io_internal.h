/* SPDX-License-Identifier: MIT */
/* Shared by the formats under tools/piperun/io: buffered files, conversions, the two ops tables.
 *
 * It is one header, because each format needs most of it.
 *
 * Requires: only tools/piperun/io includes it.
 * Ownership: a reader or writer owns its descriptor, name and buffer from a successful _open to its
 *   _close.  A zeroed reader or writer may be closed.
 * Thread-safety: one object, one thread at a time.
 * Errors: as tools/piperun/io/stream.h; each function fills `error`.
 * Rule: tools/piperun/io/stream.h.
 */
#ifndef TOOLS_PIPERUN_IO_IO_INTERNAL_H
#define TOOLS_PIPERUN_IO_IO_INTERNAL_H

#include "tools/piperun/io/stream.h"

#define PRT_IO_BUFFER_BYTES ((size_t)1 << 16)

/* Enlarges the buffer of a pipe where the system permits it, so that each side works longer without
 * waiting: the usual 64 KiB fill quickly.  Other descriptors stay as they are. */
void prt_io_widen_pipe(int fd);

/* --- reader: a file or pipe, read forward through one buffer --- */

/* Files are read with read(2), past the buffer into the caller's memory, and not mapped.  If another
 * process makes a mapped file shorter, the first access past its new end raises SIGBUS inside a
 * kernel, where nothing can name the last packet.  read(2) gives fewer bytes instead.  A regular file
 * that ends before the size it had when it was opened, and is shorter now, is PRT_E_TRUNCATED in every
 * format, so that no stream ends there as if it were whole.  Mapping would save one copy; the thread
 * that reads ahead makes that copy, into memory that is then in the cache. */

struct prt_io_reader {
    bool is_open;
    int fd;
    bool regular;
    int interrupt_fd;    /* -1: none */
    char *name;          /* for messages */
    uint64_t size_bytes; /* of a regular file when it was opened, less `began_at` */
    uint64_t began_at;   /* of a regular file: the offset at which reading began */
    uint64_t read_bytes; /* read with read(2) so far */
    uint64_t offset;     /* bytes consumed: the place of data[begin] in the file */
    unsigned char *data;
    size_t begin, end; /* unread bytes of data */
    bool at_end;       /* the file has no bytes past the buffer */
};

enum prt_status prt_io_reader_open(struct prt_io_reader *reader, const char *path,
                                   const struct prt_io_environment *environment,
                                   struct prt_error *error);
void prt_io_reader_close(struct prt_io_reader *reader);

/* Reads until `bytes` (at most PRT_IO_BUFFER_BYTES) are in the buffer or the file is at its end. */
enum prt_status prt_io_reader_need(struct prt_io_reader *reader, size_t bytes,
                                   struct prt_error *error);

static inline size_t prt_io_reader_available(const struct prt_io_reader *reader)
{
    return reader->end - reader->begin;
}

static inline const unsigned char *prt_io_reader_bytes(const struct prt_io_reader *reader)
{
    return reader->data + reader->begin;
}

/* `bytes` is at most the number of available bytes. */
static inline void prt_io_reader_consume(struct prt_io_reader *reader, size_t bytes)
{
    reader->begin += bytes;
    reader->offset += bytes;
}

/* Finds the first newline from byte `from` of the buffer on, and reads as far as that takes.  `*length` is the number of bytes
 * before it; without one (`*has_newline` is false), of all bytes up to the end of the file, or more than
 * `most`, which is below PRT_IO_BUFFER_BYTES. */
enum prt_status prt_io_reader_line(struct prt_io_reader *reader, size_t from, size_t most,
                                   size_t *length, bool *has_newline, struct prt_error *error);

/* Continues at this byte, counted from the place at which reading began.  Of a pipe, only bytes in the
 * buffer can be read again. */
enum prt_status prt_io_reader_seek(struct prt_io_reader *reader, uint64_t position,
                                   struct prt_error *error);

/* Copies a pipe, to its end, to an unlinked temporary file, which can be sought in, and continues at its
 * first byte.  Requires: everything that was read is still in the buffer. */
enum prt_status prt_io_reader_spool(struct prt_io_reader *reader, struct prt_error *error);

/* PRT_E_TRUNCATED at the end of the file: "NAME: ends at byte N, WHAT". */
enum prt_status prt_io_reader_truncated(const struct prt_io_reader *reader, struct prt_error *error,
                                        const char *what);

/* --- elements: shared by raw and npy --- */

struct prt_io_elements {
    enum scalar_type type;
    bool big_endian;
    uint64_t remaining; /* elements still to come; PRT_PACKETS_UNKNOWN: until the file ends */
};

/* Reads up to `capacity` elements and converts them to `packet`.  With `remaining` known, a file
 * that ends earlier is PRT_E_TRUNCATED.  `*count` is valid even if an error is returned. */
enum prt_status prt_io_elements_read(struct prt_io_reader *reader, struct prt_io_elements *elements,
                                     enum scalar_type packet, void *packets, size_t capacity,
                                     size_t *count, struct prt_error *error);

/* --- conversion by value --- */

/* Converts `count` values in host order, by the rules in stream.h.  Returns the number of values that
 * were converted: less than `count` if the next one does not fit `to`.  No overlap, any alignment. */
size_t prt_io_convert(void *target, enum scalar_type to, const void *source, enum scalar_type from,
                      size_t count);

/* Reverses the bytes of each of `count` elements in place. */
void prt_io_swap(void *elements, size_t width_bytes, size_t count);

/* --- images --- */

/* True if image samples up to `sample_max` can become packets of this type, which is no 16-bit float:
 * u8, bool, f32, f64 always, other integers if they hold sample_max. */
bool prt_io_image_packet_ok(enum scalar_type packet, uint32_t sample_max);

/* PRT_E_FORMAT unless that is so; `name` is the file. */
enum prt_status prt_io_image_check_packet(const char *name, enum scalar_type packet,
                                          uint32_t sample_max, struct prt_error *error);

/* Image samples 0..sample_max to packets:
 *   f32, f64  sample / sample_max        bool  sample != 0
 *   u8        the sample; with sample_max above 255 round(sample * 255 / sample_max)
 *   others    the sample */
void prt_io_image_unpack(void *packets, enum scalar_type packet, const uint16_t *samples,
                         uint32_t sample_max, size_t count);

/* Packets to image samples 0..255; returns how many were converted.
 *   f32, f64  round(255 * x), x cut to 0..1, NaN is 0        bool  0 or 255
 *   integers  the value; one outside 0..255 stops the conversion */
size_t prt_io_image_pack(uint8_t *samples, const void *packets, enum scalar_type packet,
                         size_t count);

/* The rows that `packets` packets make; PRT_E_FORMAT if they are none or not whole rows, or too
 * many for a file format. */
enum prt_status prt_io_image_height(const char *name, uint64_t packets, uint32_t width_pixels,
                                    uint32_t channels, uint32_t *height_pixels,
                                    struct prt_error *error);

/* Checks what a spec says of an image output: a width, 1 or 3 channels (0: the packet's), the
 * port's type. */
enum prt_status prt_io_image_check_spec(const struct prt_port_spec *spec,
                                        const struct prt_packet *layout, struct prt_error *error);

/* --- writer: a file, pipe or device, written forward through one buffer --- */

struct prt_temporary; /* a record of the registry */

enum prt_io_writer_state {
    PRT_IO_WRITER_CLOSED,
    PRT_IO_WRITER_OPEN,
    PRT_IO_WRITER_PREPARED /* whole on disk, not yet published */
};

struct prt_io_writer {
    enum prt_io_writer_state state;
    int fd;          /* target of _put: the temporary, the device, or the spool */
    int final_fd;    /* with a spool: the device; else -1 */
    bool direct;     /* device, pipe or `-`: nothing to publish */
    char *name;      /* for messages */
    char *target;    /* regular file: the path to rename to */
    char *temporary; /* regular file: the path written to, NULL when it is gone */
    struct prt_temporary *record;
    uint64_t offset; /* bytes put */
    unsigned char *data;
    size_t used;
};

/* `patched`: _patch will be used; a device or pipe is then written at _prepare, from a spool. */
enum prt_status prt_io_writer_open(struct prt_io_writer *writer, const char *path, bool patched,
                                   const struct prt_io_environment *environment,
                                   struct prt_error *error);
enum prt_status prt_io_writer_put(struct prt_io_writer *writer, const void *data, size_t bytes,
                                  struct prt_error *error);
enum prt_status prt_io_writer_flush(struct prt_io_writer *writer, struct prt_error *error);
/* Overwrites bytes that were put before. */
enum prt_status prt_io_writer_patch(struct prt_io_writer *writer, uint64_t offset, const void *data,
                                    size_t bytes, struct prt_error *error);
enum prt_status prt_io_writer_prepare(struct prt_io_writer *writer, struct prt_error *error);
enum prt_status prt_io_writer_publish(struct prt_io_writer *writer, struct prt_error *error);
/* Closes; removes an unpublished file. */
void prt_io_writer_close(struct prt_io_writer *writer);

/* An unlinked temporary file in TMPDIR (or /tmp), open for reading and writing. */
enum prt_status prt_io_spool_open(int *fd, struct prt_error *error);
enum prt_status prt_io_spool_write(int fd, const void *data, size_t bytes, struct prt_error *error);
/* Reads exactly `bytes` at `offset`. */
enum prt_status prt_io_spool_read(int fd, uint64_t offset, void *data, size_t bytes,
                                  struct prt_error *error);

/* --- temporaries --- */

/* Records `path` as a temporary from now on.  The record stays with the registry. */
enum prt_status prt_temporary_add(struct prt_temporaries *registry, const char *path,
                                  struct prt_temporary **record);
void prt_temporary_forget(struct prt_temporary *record); /* NULL is allowed */

/* --- ops tables --- */

struct prt_source_ops {
    /* As prt_source_read, but `*count` is valid even if an error is returned.  `*count` is
     * 0 on entry.  Required. */
    enum prt_status (*read)(struct prt_source *source, void *packets, size_t capacity,
                            size_t *count, struct prt_error *error);
    /* Frees the format's memory and the source.  Required. */
    void (*close)(struct prt_source *source);
};

/* Formats embed this as their first member. */
struct prt_source {
    const struct prt_source_ops *ops;
    enum scalar_type packet;
    struct prt_source_information information;
    const struct prt_io_reader *reader; /* of the format; NULL: nothing is read */
    bool waits;                         /* for a device, without a reader */
    uint64_t losses; /* times that a device lost packets before they could be read */
    bool ended;
    enum prt_status failed;   /* PRT_OK: not yet */
    struct prt_error pending; /* the error of `failed` */
};

struct prt_sink_ops {
    enum prt_status (*write)(struct prt_sink *sink, const void *packets, size_t count,
                             struct prt_error *error);
    /* All packets were written: puts the rest, patches headers.  NULL: nothing to do. */
    enum prt_status (*complete)(struct prt_sink *sink, struct prt_error *error);
    /* Frees the format's memory besides writer and sink.  NULL: none. */
    void (*release)(struct prt_sink *sink);
};

enum prt_sink_state { PRT_SINK_OPEN, PRT_SINK_PREPARED, PRT_SINK_DONE, PRT_SINK_FAILED };

struct prt_sink {
    const struct prt_sink_ops *ops;
    enum scalar_type packet;
    enum prt_sink_state state;
    uint64_t packets; /* written so far */
    uint64_t losses;  /* times that a device had no packets in time */
    struct prt_io_writer writer;
};

/* One pair per format: makes the object for a checked spec.  Only raw, npy, csv, jsonl, null and gen:zeros
 * get records; images and wav get no f16 and bf16. */
typedef enum prt_status prt_source_opener(const struct prt_port_spec *spec,
                                          const struct prt_packet *layout,
                                          const struct prt_io_environment *environment,
                                          struct prt_source **source, struct prt_error *error);
typedef enum prt_status prt_sink_opener(const struct prt_port_spec *spec,
                                        const struct prt_packet *layout,
                                        const struct prt_io_environment *environment,
                                        struct prt_sink **sink, struct prt_error *error);

prt_source_opener prt_raw_source_open, prt_npy_source_open, prt_sound_source_open,
    prt_pgm_source_open, prt_png_source_open, prt_y4m_source_open, prt_live_source_open,
    prt_csv_source_open, prt_jsonl_source_open, prt_null_source_open, prt_generator_open;
prt_sink_opener prt_raw_sink_open, prt_npy_sink_open, prt_wav_sink_open, prt_sound_sink_open,
    prt_pgm_sink_open, prt_png_sink_open, prt_y4m_sink_open, prt_live_sink_open, prt_csv_sink_open,
    prt_jsonl_sink_open, prt_null_sink_open;

/* calloc for `bytes` with the ops and the type filled; NULL and `error` on failure. */
struct prt_source *prt_source_make(size_t bytes, const struct prt_source_ops *ops,
                                   enum scalar_type packet, struct prt_error *error);
struct prt_sink *prt_sink_make(size_t bytes, const struct prt_sink_ops *ops,
                               enum scalar_type packet, struct prt_error *error);

/* The type of the numbers in the file: the spec's, else the port's.  PRT_E_USAGE
 * if the packet is a record and the spec has a type to convert to. */
enum prt_status prt_io_element(const struct prt_port_spec *spec, const struct prt_packet *layout,
                               enum scalar_type *element, struct prt_error *error);
/* The channels of an output: the spec's, else the packet's. */
uint32_t prt_io_channels(const struct prt_port_spec *spec, const struct prt_packet *layout);

/* Converts packets to `element` and puts them. */
enum prt_status prt_sink_put_elements(struct prt_sink *sink, enum scalar_type element,
                                      bool big_endian, const void *packets, size_t count,
                                      struct prt_error *error);

/* PRT_E_NOMEM with its message. */
enum prt_status prt_io_no_memory(struct prt_error *error);

#endif
