/* SPDX-License-Identifier: MIT */
/* sound_header: where the samples of a WAV, AIFF, FLAC or Ogg stream lie, and whether all of them are there.
 *
 * libsndfile (sound_reader.c) decodes samples and reads headers.  It cannot do two things, so this module does them:
 *   - It corrects sizes in headers in silence.  Here a file that ends before what its header says is PRT_E_TRUNCATED.
 *   - It needs to know the length and to go back.  So WAV samples that are plain numbers are found here: libsndfile gets
 *     them without a header, from pipes too, however many there are.
 *
 * Requires: a reader at its first byte.
 * Errors: PRT_E_FORMAT, PRT_E_TRUNCATED, and those of the reader; each message has the byte.
 */
#ifndef TOOLS_PIPERUN_IO_SOUND_HEADER_H
#define TOOLS_PIPERUN_IO_SOUND_HEADER_H

#include "tools/piperun/io/io_internal.h"

struct prt_sound_layout {
    const char *format; /* "wav", "aiff", "flac", "ogg" */
    /* SF_FORMAT_RAW with subtype and byte order: the body is samples.  0: the body is the whole file. */
    int raw_format;
    uint32_t channels, rate_hertz, frame_bytes; /* with raw_format only */
    uint64_t body_offset, body_bytes;           /* with raw_format: in whole frames */
    uint64_t rest_bytes;                        /* after the body: a part of a frame */
    bool open_ended; /* a pipe whose samples go on to its end: body_bytes is a bound */
    uint64_t frames; /* as the header of AIFF says; else PRT_PACKETS_UNKNOWN */
};

/* Whether the samples can be read from a pipe as they come: WAV, PCM or float, with its fmt chunk in the first 64 KiB.
 * Consumes nothing. */
enum prt_status prt_sound_can_stream(struct prt_io_reader *reader, bool *can_stream,
                                     struct prt_error *error);

/* Reads the header.  Of a pipe it consumes all before the samples; a regular file can be anywhere afterwards. */
enum prt_status prt_sound_layout_read(struct prt_io_reader *reader, struct prt_sound_layout *layout,
                                      struct prt_error *error);

#endif
