/* SPDX-License-Identifier: MIT */
/* W4: the edges of pictures (picture.pipe): mean of 3x3, Sobel's operator, threshold. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { WIDTH = 1920, HEIGHT = 1080, LEVEL = 32, PAD = 64 };

#define FRAME ((size_t)WIDTH * HEIGHT)

static struct bench_shape shape(size_t units)
{
    size_t bytes = units * FRAME;
    /* Additions and the like of 8 or 16 bits: two of a lane of 32. */
    return (struct bench_shape){bytes, bytes, bytes, 24.0 / 2 * (double)bytes};
}

static void prepare(size_t units, void *in)
{
    uint8_t *x = in;
    uint32_t noise = 1;
    for (size_t i = 0; i < units * FRAME; i++) {
        size_t row = i / WIDTH % HEIGHT, column = i % WIDTH, frame = i / FRAME;
        noise = noise * 1664525 + 1013904223;
        x[i] = (uint8_t)(((row / 40 + column / 60 + frame) % 2) * 120 + (noise >> 26));
    }
}

/* ---- by hand: three rows of the smoothed picture at a time ---- */

/* A row of 16-bit numbers with a place on both sides. */
typedef uint16_t row16[PAD + WIDTH + PAD];

static void clamp_ends(uint16_t *row)
{
    row[PAD - 1] = row[PAD];
    row[PAD + WIDTH] = row[PAD + WIDTH - 1];
}

/* floor(s / 9) for s < 32768 is floor(s * 7282 / 65536). */
static __attribute__((noinline)) void smooth_row(const uint8_t *restrict a,
                                                 const uint8_t *restrict b,
                                                 const uint8_t *restrict c, uint16_t *restrict to)
{
    row16 sum;
    for (size_t x = 0; x < WIDTH; x++)
        sum[PAD + x] = (uint16_t)(a[x] + b[x] + c[x]);
    clamp_ends(sum);
    for (size_t x = 0; x < WIDTH; x++) {
        uint16_t s = (uint16_t)(sum[PAD + x - 1] + sum[PAD + x] + sum[PAD + x + 1] + 4);
        to[PAD + x] = (uint16_t)((uint32_t)s * 7282 >> 16);
    }
    clamp_ends(to);
}

/* |dx| + |dy| is at least LEVEL: 255, else 0.  Down the columns first, then along the rows. */
static __attribute__((noinline)) void edge_row(const uint16_t *restrict a,
                                               const uint16_t *restrict b,
                                               const uint16_t *restrict c, uint8_t *restrict to)
{
    row16 across, down;
    for (size_t x = 0; x < PAD + WIDTH + PAD; x++) {
        across[x] = (uint16_t)(a[x] + 2 * b[x] + c[x]);
        down[x] = (uint16_t)(c[x] - a[x]);
    }
    for (size_t x = PAD; x < PAD + WIDTH; x++) {
        int16_t dx = (int16_t)(across[x + 1] - across[x - 1]);
        int16_t dy = (int16_t)(down[x - 1] + 2 * down[x] + down[x + 1]);
        dx = (int16_t)(dx < 0 ? -dx : dx);
        dy = (int16_t)(dy < 0 ? -dy : dy);
        to[x - PAD] = (int16_t)(dx + dy) >= LEVEL ? 255 : 0;
    }
}

static const uint8_t *row_of(const uint8_t *frame, int row)
{
    return frame + WIDTH * (size_t)(row < 0 ? 0 : row >= HEIGHT ? HEIGHT - 1 : row);
}

static void one_frame(const uint8_t *in, uint8_t *out)
{
    row16 smooth[3] = {0};
    uint16_t *above = smooth[0], *here = smooth[1], *below = smooth[2];
    smooth_row(row_of(in, -1), row_of(in, 0), row_of(in, 1), here);
    memcpy(above, here, sizeof(row16));
    for (int row = 0; row < HEIGHT; row++) {
        if (row + 1 < HEIGHT)
            smooth_row(row_of(in, row), row_of(in, row + 1), row_of(in, row + 2), below);
        else
            memcpy(below, here, sizeof(row16));
        edge_row(above, here, below, out + WIDTH * (size_t)row);
        uint16_t *oldest = above;
        above = here;
        here = below;
        below = oldest;
    }
}

static size_t hand(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    for (size_t f = units * part / parts; f < units * (part + 1) / parts; f++)
        one_frame((const uint8_t *)in + f * FRAME, (uint8_t *)out + f * FRAME);
    return units * FRAME;
}

/* ---- kernel by kernel ---- */

static const uint8_t *pixel(const uint8_t *frame, int row, int column)
{
    return row_of(frame, row) + (column < 0 ? 0 : column >= WIDTH ? WIDTH - 1 : column);
}

static int sum9(const uint8_t *in, int row, int column)
{
    int sum = 0;
    for (int r = -1; r <= 1; r++)
        for (int c = -1; c <= 1; c++)
            sum += *pixel(in, row + r, column + c);
    return sum;
}

static int slope(const uint8_t *in, int row, int column)
{
    int nw = *pixel(in, row - 1, column - 1), n = *pixel(in, row - 1, column);
    int ne = *pixel(in, row - 1, column + 1), w = *pixel(in, row, column - 1);
    int e = *pixel(in, row, column + 1), sw = *pixel(in, row + 1, column - 1);
    int s = *pixel(in, row + 1, column), se = *pixel(in, row + 1, column + 1);
    int dx = ne + 2 * e + se - nw - 2 * w - sw, dy = sw + 2 * s + se - nw - 2 * n - ne;
    int sum = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
    return sum > 255 ? 255 : sum;
}

static void whole_box(const uint8_t *in, uint8_t *out)
{
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++)
            *out++ = (uint8_t)((sum9(in, row, column) + 4) / 9);
}

static void whole_sobel(const uint8_t *in, uint8_t *out)
{
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++)
            *out++ = (uint8_t)slope(in, row, column);
}

static void unfused(size_t units, const void *in, void *out)
{
    uint8_t *smooth = bench_spare(0, units * FRAME), *slopes = bench_spare(1, units * FRAME);
    uint8_t *edges = out;
    for (size_t f = 0; f < units; f++)
        whole_box((const uint8_t *)in + f * FRAME, smooth + f * FRAME);
    for (size_t f = 0; f < units; f++)
        whole_sobel(smooth + f * FRAME, slopes + f * FRAME);
    for (size_t i = 0; i < units * FRAME; i++)
        edges[i] = slopes[i] >= LEVEL ? 255 : 0;
}

const struct bench_workload bench_picture = {
    .name = "W4 blur, Sobel, threshold",
    .container = "picture.pbc",
    .units = 64,
    .check_units = 2,
    .bound = BENCH_INTEGERS,
    .goal = 1.1,
    .shape = shape,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
