/* SPDX-License-Identifier: MIT */
/*
 * standard_streams: makes sure that descriptors 0, 1 and 2 are open, and that output arrives.
 */
#ifndef BASE_STANDARD_STREAMS_H
#define BASE_STANDARD_STREAMS_H

/* Occupies each closed standard stream with a descriptor that fails like a closed one. Otherwise
 * the next opened file would get its number, and the output of the stream. Call it once, at the
 * start of main. */
void standard_streams_occupy(void);

/* Writes out what standard output still holds. 0, or the errno of the failure: EIO if an earlier
 * write failed, because its reason is lost. A reader that closed the pipe needs no more: 0. */
int standard_output_flush(void);

#endif
