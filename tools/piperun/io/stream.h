/* SPDX-License-Identifier: MIT */
/* Streams of packets between the outer ports of a pipeline and files, pipes and generators.
 *
 * A *source* is pulled, a *sink* is pushed; both carry packets in the host's memory layout
 * (little-endian, bool as one byte 0 or 1).  Where all scalars of a packet have one type they are
 * carried one by one: a "packet" below is such a scalar.  A *record*, a packet of different scalars
 * or with bytes between them, is carried as its bytes.  A *spec* is the text of the command line
 * for one port: PORT=PATH[,ITEM...].
 *
 * Requires: the process ignores SIGPIPE (else a closed output pipe kills it before it is
 *   reported).  The locale does not matter.
 * Ownership: specs, sources and sinks are made here and freed by their _free/_close.  Paths are
 *   copied.  `struct prt_io_environment` and the objects it points to belong to the caller and outlive
 *   the streams opened with them.
 * Thread-safety: one object, one thread at a time; different objects are independent.  The registry
 *   of temporaries may be shared by all; prt_temporaries_remove is async-signal-safe.
 * Errors: every message names the file, and the byte offset or the field if there is one.
 *   After an error a source gives no more packets and a sink can only be aborted.
 *     PRT_E_USAGE        a spec that is wrong, or asks for something impossible
 *     PRT_E_OPEN         missing, unreadable, a directory, cannot be created
 *     PRT_E_READ         EIO and the like
 *     PRT_E_FORMAT       content refused
 *     PRT_E_TRUNCATED    the file ends inside a header or a packet, or before the size in its header
 *     PRT_E_WRITE        ENOSPC, EIO, failing fsync, close or rename, ...
 *     PRT_E_CLOSED_PIPE  EPIPE
 *     PRT_E_INTERRUPTED  the interrupt descriptor became readable
 *     PRT_E_NOMEM
 * Memory: bounded by the stream's own buffers (some 128 KiB; images: one row more),
 *   never by the length of the file; an interlaced PNG is held whole, up to 64 MiB of samples.
 * Rule: piperun(1), "PORTS".
 *
 * Formats (io/FORMAT.c has the details):
 *   raw   packets one after the other; raw:TYPE converts by value
 *   npy   NumPy 1.0/2.0/3.0, any dimensions in C order, read flat; written with the dimensions of a
 *         packet after the number of packets; structs as structured types
 *   wav, aiff, flac, ogg   through libsndfile; an input's content decides its format; ogg is only read;
 *         channels are interleaved: successive packets
 *   pgm   P2, P5 (and P3, P6: r, g, b successive); written P5, P6 with channels=3
 *   y4m   video, as Y or Y, Cb, Cr successive
 *   png   grey or r, g, b successive
 *   csv   a packet a line, its scalars separated by commas
 *   jsonl a packet a line, as a value of JSON
 *   live  sound devices: alsa:NAME, pipewire:[NODE], jack: (live_sound.c)
 *   null  an empty source; a sink that takes everything
 *   gen   only a source: ramp, noise:SEED, zeros, each endless or with :COUNT
 *
 * Conversion by value (raw, npy):
 *   to the same type          a copy (bool: any nonzero byte is 1)
 *   integer or bool to float  nearest, ties to even
 *   f64 to f32                nearest, ties to even; too large is infinite
 *   integer to integer        the value; PRT_E_FORMAT where the type cannot hold it
 *   float to integer          towards zero; PRT_E_FORMAT where the type cannot hold it, and for NaN
 *   anything to bool          1 if it is not zero (NaN is 1); bool to a number: 0 or 1
 *   f16, bf16                 as floats: widened exactly, narrowed to nearest, ties to even, once
 */
#ifndef TOOLS_PIPERUN_IO_STREAM_H
#define TOOLS_PIPERUN_IO_STREAM_H

#include "lang/scalar.h"
#include "runtime/host/field.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRT_PACKETS_UNKNOWN UINT64_MAX
#define PRT_WAV_RATE 48000u /* hertz of a sound output without a rate of its own */

enum prt_format {
    PRT_FORMAT_RAW,
    PRT_FORMAT_NPY,
    PRT_FORMAT_WAV,
    PRT_FORMAT_AIFF,
    PRT_FORMAT_FLAC,
    PRT_FORMAT_OGG,
    PRT_FORMAT_PGM,
    PRT_FORMAT_PNG,
    PRT_FORMAT_Y4M,
    PRT_FORMAT_CSV,
    PRT_FORMAT_JSONL,
    PRT_FORMAT_LIVE,
    PRT_FORMAT_NULL,
    PRT_FORMAT_RAMP,
    PRT_FORMAT_NOISE,
    PRT_FORMAT_ZEROS
};

/* The type of a port's packets. */
struct prt_packet {
    const char *type; /* for messages: "f32x2" */
    uint64_t width_bytes;
    const struct prt_field_information *fields;
    enum scalar_type scalar; /* of the elements that streams carry: u8 for a record */
    uint32_t field_count;    /* 0: one scalar, or several of the one type */
};

/* The number of elements that make one packet. */
size_t prt_packet_units(const struct prt_packet *packet);
/* Is it carried as bytes? */
bool prt_packet_is_record(const struct prt_packet *packet);
/* The number of channels of which one packet holds a frame: a vector's lanes, the fields of a
 * struct of scalars of one type; else 1. */
uint32_t prt_packet_channels(const struct prt_packet *packet);

/* A scalar in memory, as an f64 that is nearest to it. */
double prt_scalar_value(enum scalar_type type, const void *scalar);

/* One PORT=PATH[,ITEM...].  Fields not given are zero. */
struct prt_port_spec {
    char *port;
    char *path; /* NULL for generators and null; of live sound the device, "alsa:default" */
    enum prt_format format;
    bool has_element;         /* raw:TYPE, npy:TYPE, wav:TYPE, aiff:TYPE, flac:TYPE */
    enum scalar_type element; /* the type in the file */
    bool big_endian;          /* of raw:TYPEbe */
    uint32_t rate_hertz;      /* rate=N or rate=N/M */
    uint32_t rate_divisor;    /* M, else 1; 0 without rate= */
    uint32_t width_packets;   /* width=N: pixels of a row */
    uint32_t height_packets;  /* height=N: rows of a frame */
    uint32_t channels;        /* channels=N, or what ppm implies */
    bool channels_implied;
    bool has_count; /* gen:...:COUNT */
    uint64_t count_packets;
    uint64_t seed; /* gen:noise:SEED */
    /* arrive=RATE: packets in so many seconds; 0: no rate */
    uint64_t arrive_packets, arrive_seconds;
    char *arrive_path; /* arrive=@FILE; NULL: no list */
    bool full;         /* the in-port is not eager */
    /* Of csv. */
    bool headings;  /* the first line has names of columns */
    char separator; /* separator=C; 0: a comma */
    char comment;   /* comment=C; 0: there are none */
    char *missing;  /* missing=TEXT, of jsonl, too; NULL: a missing number is an error */
};

/* Parses `text`: PORT=PATH[,ITEM...].
 *   PATH   a file; `-` standard input or output; `null`; a sound device, alsa:NAME, pipewire:[NODE], jack:; gen:ramp[:COUNT], gen:noise:SEED[:COUNT],
 *          gen:zeros[:COUNT].  It ends at the first comma.  `./null` names a file of that name.
 *   ITEM   raw  raw:TYPE  npy  wav  wav:TYPE  aiff  aiff:TYPE  flac  flac:TYPE  ogg  pgm  ppm  png  y4m  csv  jsonl  null  rate=N  rate=N/M
 *          width=N  height=N  channels=N
 *          arrive=RATE  arrive=@FILE (arrival_text.h)  full  headings  separator=C  comment=C  missing=TEXT
 *   TYPE   bool i8..i64 u8..u64 f16 bf16 f32 f64, aliases s8..s64, each with le or be after it
 *   N      decimal, 1 to 2^31 - 1; COUNT and SEED decimal or 0x hexadecimal, below 2^64
 * Without a format the file's ending decides: .raw .bin .npy .wav .aiff .aif .flac .ogg .pgm .ppm .pnm .png
 * .y4m .csv .txt .jsonl .ndjson, or a TYPE (.f32, .s16le, .u8); `-` and paths under /dev/ are raw.  channels= overrides the
 * number that ppm implies.  A second format, an option given twice, an unknown item, or an unknown ending
 * is PRT_E_USAGE, and the message lists the right ones.  On failure `*spec` is zeroed, else free it with
 * prt_port_spec_free. */
enum prt_status prt_port_spec_parse(const char *text, struct prt_port_spec *spec,
                                    struct prt_error *error);

/* Frees the strings and zeroes the spec. */
void prt_port_spec_free(struct prt_port_spec *spec);

/* True if the spec reads standard input or writes standard output. */
bool prt_port_spec_is_standard(const struct prt_port_spec *spec);

/* The name of the format as a spec writes it: a literal. */
const char *prt_format_name(enum prt_format format);
bool prt_format_is_sound(enum prt_format format);   /* wav, aiff, flac, ogg, live sound */
bool prt_format_is_picture(enum prt_format format); /* pgm, png, y4m */

/* --- temporaries: so that a signal handler can remove them --- */

struct prt_temporaries;

/* A registry; it keeps one small record for each sink opened with it.  Destroy it after the sinks.
 */
enum prt_status prt_temporaries_create(struct prt_temporaries **registry);
void prt_temporaries_destroy(struct prt_temporaries *registry);

/* Unlinks every temporary that is still one.  Async-signal-safe, callable at any time from any
 * thread (in a handler: call _exit afterwards). */
void prt_temporaries_remove(struct prt_temporaries *registry);

struct prt_io_environment {
    struct prt_temporaries *temporaries; /* NULL: none kept */
    int interrupt_fd; /* becomes readable when reading is to stop (self-pipe, eventfd); -1: none.
                         A source that waits for a pipe or terminal, or begins a read, then returns
                         PRT_E_INTERRUPTED, and does so at every further call. */
    bool
        no_named_pipes; /* a sink that leads to a named pipe is PRT_E_OPEN: its opening would wait for a reader */
};

/* --- sources --- */

struct prt_source;

struct prt_source_information {
    uint64_t packets;       /* in all, PRT_PACKETS_UNKNOWN if the format does not say */
    uint32_t rate_hertz;    /* of sound: frames, of video: pictures a second; 0: unknown */
    uint32_t rate_divisor;  /* the rate is rate_hertz / rate_divisor */
    uint32_t width_packets; /* pixels of a row */
    uint32_t height_packets;
    uint32_t channels; /* 0 if the format has none */
    uint64_t bytes;    /* of a regular file; else 0 */
    /* of a npy array, the outermost first; the source owns them; NULL: other formats */
    const uint64_t *dimensions;
    uint32_t dimension_count;
    bool structured; /* each element of the array is a packet */
    bool at_hand;    /* reading never waits: a regular file, a generator; not a pipe */
};

/* Opens what `spec` names for a port of type `packet`, and reads the header.  `environment` NULL:
 * no registry, no interrupt.  Fills `*source` on success only. */
enum prt_status prt_source_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                const struct prt_io_environment *environment,
                                struct prt_source **source, struct prt_error *error);

/* The same for packets of any type; `packet` and what it points to outlive the source. */
enum prt_status prt_source_open_packets(const struct prt_port_spec *spec,
                                        const struct prt_packet *packet,
                                        const struct prt_io_environment *environment,
                                        struct prt_source **source, struct prt_error *error);

/* Reads up to `capacity_packets` (at least 1) packets into `packets`, and stores their number in
 * `*count`.  0 with PRT_OK is the end of the stream, and only then.  From a pipe or a terminal it
 * returns as soon as one packet has come; from a file it may return fewer too.
 * Packets before a fault are delivered first: with an error `*count` is always 0.  A partial last
 * packet is PRT_E_TRUNCATED with its byte offset: the caller decides if that is an error
 * or a note; it is never dropped in silence. */
enum prt_status prt_source_read(struct prt_source *source, void *packets, size_t capacity_packets,
                                size_t *count, struct prt_error *error);

/* The information of the header.  (rate=, width= and channels= of an input are compared with it: other
 * numbers are PRT_E_FORMAT.  Formats without such a field are PRT_E_USAGE.) */
void prt_source_information(const struct prt_source *source,
                            struct prt_source_information *information);

/* The bytes of the file before the next packet; roughly, where a format is compressed. */
uint64_t prt_source_offset(const struct prt_source *source);

/* How often a live device has lost packets because they were not read in time. */
uint64_t prt_source_losses(const struct prt_source *source);

/* NULL is allowed. */
void prt_source_close(struct prt_source *source);

/* --- sinks --- */

struct prt_sink;

/* Opens the file that `spec` names for packets of type `packet`.  A regular file, existing or not, is
 * written under a temporary name in the same directory (through a symbolic link: that of its
 * target), created 0666 less the umask.  Any other existing file (/dev/null, /dev/full, pipes,
 * terminals), descriptors by name (/dev/stdout, whatever it refers to), and `-`, are written
 * directly and at once: each prt_sink_write writes all its packets.
 * `generator` formats are PRT_E_USAGE. */
enum prt_status prt_sink_open(const struct prt_port_spec *spec, enum scalar_type packet,
                              const struct prt_io_environment *environment, struct prt_sink **sink,
                              struct prt_error *error);

/* The same for packets of any type; `packet` and what it points to outlive the sink. */
enum prt_status prt_sink_open_packets(const struct prt_port_spec *spec,
                                      const struct prt_packet *packet,
                                      const struct prt_io_environment *environment,
                                      struct prt_sink **sink, struct prt_error *error);

/* Appends `count_packets` packets. */
enum prt_status prt_sink_write(struct prt_sink *sink, const void *packets, size_t count_packets,
                               struct prt_error *error);

/* First half of prt_sink_finish: everything written, patched, fsynced and closed, but not yet
 * visible under its name.  With several outputs prepare all, then finish all.  Optional. */
enum prt_status prt_sink_prepare(struct prt_sink *sink, struct prt_error *error);

/* Publishes: prepares if that was not done, then renames over the target and synchronises the
 * folder.  On failure nothing is left and the old file is untouched; if only the folder could not be
 * synchronised, the new file stays, and the message says so.  Once only. */
enum prt_status prt_sink_finish(struct prt_sink *sink, struct prt_error *error);

/* Leaves nothing: the temporary is unlinked, the old file untouched.  Bytes written to a pipe or
 * device stay written.  After finish, or a second time, it does nothing.  NULL is allowed. */
void prt_sink_abort(struct prt_sink *sink);

/* Frees the sink; aborts first if it was not finished.  NULL is allowed. */
void prt_sink_close(struct prt_sink *sink);

/* How often a live device has had a gap because no packets came in time. */
uint64_t prt_sink_losses(const struct prt_sink *sink);

/* The temporary's path while there is one, else NULL.  Valid until finish, abort or close. */
const char *prt_sink_temporary(const struct prt_sink *sink);

#endif
