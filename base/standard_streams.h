/* SPDX-License-Identifier: MIT */
/*
 * standard_streams: what a command needs of the three that it is started with.
 */
#ifndef BASE_STANDARD_STREAMS_H
#define BASE_STANDARD_STREAMS_H

/* Opens something where one of them is closed, which fails as a closed one does: else the next file to be opened would
 * take its number, and what is meant for the one would go to the other.  Once, at the start of main. */
void standard_streams_occupy(void);

#endif
