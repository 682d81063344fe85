/* SPDX-License-Identifier: MIT */
/*
 * standard_streams: makes sure that descriptors 0, 1 and 2 are open, and that output has been written.
 */
#ifndef BASE_STANDARD_STREAMS_H
#define BASE_STANDARD_STREAMS_H

#include <stdio.h>

/* Occupies each closed standard stream with a descriptor that fails like a closed one. Otherwise
 * the next opened file would get its number, and the output of the stream. Call it once, at the
 * start of main. */
void standard_streams_occupy(void);

/* Flushes. Returns 0 if everything that was printed has been written, else the error. EPIPE: the reader has
 * gone. EIO: an earlier write failed, and its error is unknown by now. */
int stream_flush(FILE *stream);

#endif
