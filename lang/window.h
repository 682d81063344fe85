/* SPDX-License-Identifier: MIT */
/*
 * window: the arithmetic of 2-D windows, shared by compiler and runtime (lang/container.md,
 * "Windows").
 *
 * A *place* is the number of a packet within its frame, 0..: row x row length + column.  A stream
 * of a shape without a frame height is one frame without an end.  Pure functions; sizes are odd,
 * row lengths at least 1; where a size is without an end it is UINT64_MAX.
 */
#ifndef LANG_WINDOW_H
#define LANG_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/container.h"

#define WINDOW_MAX_SIDE 1023u /* width and height of a window */
/* Packets of a row, rows of a frame, packets of a frame. */
#define WINDOW_MAX_FRAME ((uint64_t)1 << 31)

struct window_shape {
    uint64_t row_packets; /* W */
    uint64_t frame_rows;  /* H; 0: without end */
};

struct window {
    uint32_t width, height;
    uint32_t border; /* enum container_border */
};

/* Packets of a frame. */
static inline uint64_t window_frame(struct window_shape shape)
{
    return shape.frame_rows == 0 ? UINT64_MAX : shape.row_packets * shape.frame_rows;
}

/* The packets that `wrap` goes round in: the frame; of a window of one row, the row. */
static inline uint64_t window_round(struct window window, struct window_shape shape)
{
    return window.height == 1 ? shape.row_packets : window_frame(shape);
}

/* L: packets before and after the consumed one that a firing may see, whatever its place. */
static inline uint64_t window_reach(struct window window, struct window_shape shape)
{
    if (window.border == CONTAINER_BORDER_WRAP) return window_round(window, shape) - 1;
    uint64_t reach = window.height / 2 * shape.row_packets + window.width / 2;
    uint64_t frame = window_frame(shape);
    return reach < frame ? reach : frame - 1;
}

/* The oldest place that the firing at `place` may see: what is before it is not needed any more. */
static inline uint64_t window_first(struct window window, struct window_shape shape, uint64_t place)
{
    if (window.border == CONTAINER_BORDER_WRAP) return place - place % window_round(window, shape);
    uint64_t reach = window_reach(window, shape);
    return place > reach ? place - reach : 0;
}

/* How many firings from `place` on one batch can have where the stream has brought `held` packets
 * of their frame (counted from its place 0; those of later frames left out) and, where `closed`,
 * will bring no more.  Fills `rows` for the batch: they are the same for all its
 * firings.  Not closed: 0 means wait.  Closed: 0 means that no firing at `place` ever happens. */
static inline uint64_t window_firings(struct window window, struct window_shape shape,
                                      uint64_t place, uint64_t held, bool closed, uint64_t *rows)
{
    uint64_t frame = window_frame(shape), end = 0;
    bool wraps = window.border == CONTAINER_BORDER_WRAP;
    *rows = UINT64_MAX;
    if (held >= frame) {
        *rows = shape.frame_rows;
        return place < frame ? frame - place : 0;
    }
    uint64_t whole_rows = held / shape.row_packets;
    if (!wraps) {
        uint64_t reach = window_reach(window, shape);
        end = held > reach ? held - reach : 0;
    } else if (window.height == 1) {
        end = whole_rows * shape.row_packets;
    }
    if (end > place) return end - place;
    if (!closed) return 0;
    *rows = whole_rows;
    end = whole_rows * shape.row_packets;
    return end > place ? end - place : 0;
}

/* The row or column that stands for `at`, which may be outside of 0 .. size - 1; -1: a packet of
 * zero bits. */
static inline int64_t window_border(int64_t at, uint64_t size, uint32_t border)
{
    if (at >= 0 && (uint64_t)at < size) return at;
    int64_t last = (int64_t)size - 1;
    switch (border) {
    case CONTAINER_BORDER_CLAMP: return at < 0 ? 0 : last;
    case CONTAINER_BORDER_WRAP: {
        int64_t rest = at % (last + 1);
        return rest < 0 ? rest + last + 1 : rest;
    }
    case CONTAINER_BORDER_MIRROR: {
        if (last == 0) return 0;
        int64_t rest = at % (2 * last);
        if (rest < 0) rest += 2 * last;
        return rest > last ? 2 * last - rest : rest;
    }
    default: return -1;
    }
}

#endif
