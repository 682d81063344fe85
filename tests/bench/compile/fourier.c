/* SPDX-License-Identifier: MIT */
/* fourier.pipe by hand. */
#include <math.h>

static float re[N], im[N]; /* of a size, from that size / 2 on */

void prepare(void)
{
    for (int size = 2; size <= N; size *= 2)
        for (int k = 0; k < size / 2; k++) {
            re[size / 2 + k] = (float)cos(2 * 3.14159265358979323846 * k / size);
            im[size / 2 + k] = (float)-sin(2 * 3.14159265358979323846 * k / size);
        }
}

static void reorder(const float *restrict x, float *restrict y, int size)
{
    int at = 0;
    for (int i = 0; i < 2 * size; i += 4) {
        y[at++] = x[i];
        y[at++] = x[i + 1];
    }
    for (int i = 2; i < 2 * size; i += 4) {
        y[at++] = x[i];
        y[at++] = x[i + 1];
    }
}

static void combine(float *x, int size)
{
    for (int k = 0; k < size / 2; k++) {
        float *p = x + 2 * k, *q = x + size + 2 * k;
        float u = re[size / 2 + k], v = im[size / 2 + k];
        float a = p[0], b = p[1], e = q[0] * u - q[1] * v, f = q[0] * v + q[1] * u;
        p[0] = a + e;
        p[1] = b + f;
        q[0] = a - e;
        q[1] = b - f;
    }
}

void fourier(const float *restrict x, float *restrict y)
{
    float other[2 * N];
    for (int i = 0; i < 2 * N; i++)
        y[i] = x[i];
    for (int size = N; size > 2; size /= 2) {
        for (int i = 0; i < 2 * N; i++)
            other[i] = y[i];
        for (int block = 0; block < 2 * N; block += 2 * size)
            reorder(other + block, y + block, size);
    }
    for (int size = 2; size <= N; size *= 2)
        for (int block = 0; block < 2 * N; block += 2 * size)
            combine(y + block, size);
}
