/* SPDX-License-Identifier: MIT */
/*
 * watch_text: lines about a run that goes on: its progress, the table of --top, and the scope of --watch.
 *
 * A frame is a list of lines that fit a terminal: no line is as wide as it, so none wraps.  Names of nodes and buffers
 * come from files: what could drive a terminal is escaped.
 *
 * Everything here follows from its arguments: time is in the samples.
 *
 * Ownership: the caller's.  Thread-safety: no state.  Allocation: none.  Errors: what does not fit is left out.
 */
#ifndef TOOLS_PIPERUN_WATCH_WATCH_TEXT_H
#define TOOLS_PIPERUN_WATCH_WATCH_TEXT_H

#include "base/status.h"
#include "tools/piperun/watch/watch_sample.h"

enum {
    WATCH_COLUMNS_LEAST = 20, /* on a narrower terminal nothing is drawn */
    WATCH_LINE_BYTES = 1024,
};

struct watch_frame {
    uint32_t columns, rows; /* of the terminal */
    bool colour;            /* bold and faint text */
    uint32_t lines;         /* so far */
    size_t used, size;      /* of `text`, which a line that does not fit leaves as it is */
    char *text;
};

/* No lines, in memory of the caller.  Escapes of the terminal are written with the lines: each begins where the cursor
 * is, erases the rest of its row, and ends with a line feed. */
void watch_frame_begin(struct watch_frame *frame, uint32_t columns, uint32_t rows, bool colour,
                       char *text, size_t size);
/* Adds a line: as much of it as fits; nothing if the terminal has no row left for it. */
void watch_frame_line(struct watch_frame *frame, bool strong, const char *line);

/* "43 %, 12.9 M of 30.0 M packets of 'x', 1.21 M/s, 0:14 left, slowest stage 'fir' (71 % busy)": as many of these parts as
 * fit `columns`.  The position is that of the in-port of which most is left; without in-ports that of an out-port, or
 * firings.  The rate and the slowest stage are those since `before`, the time left follows from the rate since `first`. */
void watch_progress_text(const struct watch_sample *first, const struct watch_sample *before,
                         const struct watch_sample *now, uint32_t columns, char *text, size_t size);

struct watch_weight {
    uint32_t index;
    double weight;
};

/* The table of stages and buffers.  If the terminal has too few rows, it has the busiest stages and the fullest buffers.
 * `weights` is room for as many as there are stages, and as there are buffers. */
void watch_table(struct watch_frame *frame, const struct watch_sample *before,
                 const struct watch_sample *now, struct watch_weight *weights);

/* The last values of a stream, the oldest first, as a curve; `braille`: with two by four dots a character.
 * A column of dots shows the range of its values; values that are not finite are left out.  `title` is safe for a
 * terminal.  Requires: rows > 1. */
void watch_scope(struct watch_frame *frame, const char *title, const double *values, size_t count,
                 uint32_t rows, bool braille);

#endif
