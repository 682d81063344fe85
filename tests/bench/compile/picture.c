/* SPDX-License-Identifier: MIT */
/* picture.pipe by hand. */
#include <stdint.h>

enum { WIDTH = 1920, HEIGHT = 1080 };

static int clamp(int i, int size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

static int at(const uint8_t *x, int row, int column)
{
    return x[clamp(row, HEIGHT) * WIDTH + clamp(column, WIDTH)];
}

static void blur(const uint8_t *restrict x, uint8_t *restrict y)
{
    static const int weights[5] = {1, 4, 6, 4, 1};
    for (int r = 0; r < HEIGHT; r++)
        for (int c = 0; c < WIDTH; c++) {
            int sum = 0;
            for (int i = -2; i <= 2; i++)
                for (int j = -2; j <= 2; j++)
                    sum += weights[i + 2] * weights[j + 2] * at(x, r + i, c + j);
            y[r * WIDTH + c] = (uint8_t)(sum / 256);
        }
}

static void edges(const uint8_t *restrict x, uint8_t *restrict y)
{
    for (int r = 0; r < HEIGHT; r++)
        for (int c = 0; c < WIDTH; c++) {
            int h = at(x, r - 1, c + 1) + 2 * at(x, r, c + 1) + at(x, r + 1, c + 1) -
                    at(x, r - 1, c - 1) - 2 * at(x, r, c - 1) - at(x, r + 1, c - 1);
            int v = at(x, r + 1, c - 1) + 2 * at(x, r + 1, c) + at(x, r + 1, c + 1) -
                    at(x, r - 1, c - 1) - 2 * at(x, r - 1, c) - at(x, r - 1, c + 1);
            int sum = (h < 0 ? -h : h) + (v < 0 ? -v : v);
            y[r * WIDTH + c] = sum >= 32 ? 255 : 0;
        }
}

void picture(uint8_t *x, uint8_t *y)
{
    for (int i = 0; i < N; i++) {
        blur(x, y);
        uint8_t *before = x;
        x = y;
        y = before;
    }
    edges(x, y);
}
