/*
 * The kernels of tests/bench/pipes for OpenCL: a work-item for each packet or block that comes out,
 * with the bits of ours.  Filters have 64 taps.
 */
#pragma OPENCL FP_CONTRACT OFF

/* ---- W1, W7 ---- */

kernel void affine(global const float *restrict x, global float *restrict y, float a, float b)
{
    size_t i = get_global_id(0);
    y[i] = x[i] * a + b;
}

kernel void add(global const float *restrict x, global float *restrict y, float c)
{
    size_t i = get_global_id(0);
    y[i] = x[i] + c;
}

/* ---- filters: W2, W3.  Dimension 1 is the band; streams of bands are `distance` apart. ---- */

kernel void fir4(global const float *restrict x, global float *restrict y, constant float *taps)
{
    size_t i = get_global_id(0);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; k++)
        sum = fma(x[4 * i + k], taps[k], sum);
    y[i] = sum;
}

kernel void fir16_bands(global const float *restrict x, global float *restrict y, constant float *taps, ulong distance)
{
    size_t i = get_global_id(0), band = get_global_id(1);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; k++)
        sum = fma(x[16 * i + k], taps[64 * band + k], sum);
    y[distance * band + i] = sum;
}

/* The filter over packets with 15 zeros behind each. */
kernel void fir_stuffed(global const float *restrict x, global float *restrict y, constant float *taps,
                        ulong x_distance, ulong y_distance)
{
    size_t i = get_global_id(0), band = get_global_id(1);
    size_t phase = i % 16, first = band * x_distance + (i + 15) / 16, tap = 64 * band + (16 - phase) % 16;
    float sum = 0;
    for (int t = 0; t < 4; t++)
        sum = fma(x[first + t], taps[tap + 16 * t], sum);
    y[y_distance * band + i] = sum;
}

kernel void fir_bands(global const float *restrict x, global float *restrict y, constant float *taps, ulong distance)
{
    size_t i = get_global_id(0), band = get_global_id(1);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; k++)
        sum = fma(x[i + k], taps[64 * band + k], sum);
    y[distance * band + i] = sum;
}

kernel void gain_bands(global float *x, constant float *factors, ulong distance)
{
    size_t i = get_global_id(0), band = get_global_id(1);
    x[distance * band + i] = factors[band] * x[distance * band + i];
}

kernel void sum_bands(global const float *restrict x, global float *restrict y, ulong distance, uint bands)
{
    size_t i = get_global_id(0);
    float sum = 0;
    for (uint b = 0; b < bands; b++)
        sum += x[distance * b + i];
    y[i] = sum;
}

kernel void channel_filter(global const float2 *restrict x, global float2 *restrict y, constant float *taps)
{
    size_t i = get_global_id(0);
    float re = 0, im = 0;
#pragma unroll
    for (int k = 0; k < 64; k++) {
        re = fma(x[4 * i + k].x, taps[k], re);
        im = fma(x[4 * i + k].y, taps[k], im);
    }
    y[i] = (float2)(re, im);
}

/* atan2 of lang/std/math.pipe, but for NaN. */
float angle(float y4, float x4)
{
    double x = x4, y = y4, ax = fabs(x), ay = fabs(y);
    bool steep = ay > ax;
    double above = steep ? ax : ay, below = steep ? ay : ax, t = above / below;
    t = above == below ? 1.0 : t;
    t = below == 0 ? 0.0 : t;
    double z = t * t, p = 0.00017046040466188239;
    p = fma(p, z, -0.0014666686334116588);
    p = fma(p, z, 0.0059363765964521222);
    p = fma(p, z, -0.01523249190907656);
    p = fma(p, z, 0.028410612112699588);
    p = fma(p, z, -0.042324616793255394);
    p = fma(p, z, 0.054582394542429476);
    p = fma(p, z, -0.065362288118493733);
    p = fma(p, z, 0.076631773577540779);
    p = fma(p, z, -0.090863606607273315);
    p = fma(p, z, 0.11110640790649381);
    p = fma(p, z, -0.14285684661254053);
    p = fma(p, z, 0.1999999901342103);
    p = fma(p, z, -0.3333333332025471);
    p = fma(p, z, 0.99999999999971001);
    p = t * p;
    p = steep ? 1.5707963267948966 - p : p;
    p = signbit(x) ? 3.141592653589793 - p : p;
    return (float)copysign(p, y);
}

kernel void demodulate(global const float2 *restrict x, global float *restrict y, float factor)
{
    size_t i = get_global_id(0);
    float2 a = x[i], b = x[i + 1];
    y[i] = factor * angle(fma(b.y, a.x, -(b.x * a.y)), fma(b.x, a.x, b.y * a.y));
}

/* ---- pictures: W4.  Dimensions: pixel, row, picture. ---- */

#define WIDTH 1920
#define HEIGHT 1080

#define NEIGHBOURS                                                                                                     \
    int column = get_global_id(0), row = get_global_id(1);                                                             \
    size_t picture = get_global_id(2) * (size_t)(WIDTH * HEIGHT);                                                      \
    int w = max(column - 1, 0), e = min(column + 1, WIDTH - 1);                                                        \
    global const uchar *here = x + picture + row * WIDTH, *above = x + picture + max(row - 1, 0) * WIDTH,              \
                       *below = x + picture + min(row + 1, HEIGHT - 1) * WIDTH

kernel void box3(global const uchar *restrict x, global uchar *restrict y)
{
    NEIGHBOURS;
    uint sum = above[w] + above[column] + above[e] + here[w] + here[column] + here[e] + below[w] + below[column] + below[e];
    y[picture + row * WIDTH + column] = (uchar)((sum + 4) / 9);
}

kernel void sobel(global const uchar *restrict x, global uchar *restrict y)
{
    NEIGHBOURS;
    int dx = above[e] + 2 * here[e] + below[e] - above[w] - 2 * here[w] - below[w];
    int dy = below[w] + 2 * below[column] + below[e] - above[w] - 2 * above[column] - above[e];
    y[picture + row * WIDTH + column] = (uchar)min(abs(dx) + abs(dy), 255u);
}

kernel void threshold(global const uchar *restrict x, global uchar *restrict y)
{
    size_t i = get_global_id(0);
    y[i] = x[i] >= 32 ? 255 : 0;
}

/* ---- W5: pieces of 1,024 packets are counted, places are given to them, and they are written there ---- */

#define PIECE 1024

kernel void keep_count(global const float *restrict x, global uint *restrict counts, float above)
{
    size_t piece = get_global_id(0);
    uint kept = 0;
    for (int i = 0; i < PIECE; i++)
        kept += x[piece * PIECE + i] > above;
    counts[piece] = kept;
}

/* One work-item; counts[pieces] is all that are kept. */
kernel void keep_place(global uint *counts, uint pieces)
{
    uint at = 0;
    if (get_global_id(0) != 0) return;
    for (uint piece = 0; piece < pieces; piece++) {
        uint kept = counts[piece];
        counts[piece] = at;
        at += kept;
    }
    counts[pieces] = at;
}

kernel void keep_write(global const float *restrict x, global float *restrict y, global const uint *restrict places,
                       float above)
{
    size_t piece = get_global_id(0);
    uint at = places[piece];
    for (int i = 0; i < PIECE; i++) {
        float v = x[piece * PIECE + i];
        if (v > above) y[at++] = v;
    }
}

kernel void expand(global const float *restrict x, global float *restrict y)
{
    size_t i = get_global_id(0);
    float v = x[i];
    y[3 * i] = v;
    y[3 * i + 1] = v * 0.5f + 0.1f;
    y[3 * i + 2] = v * v;
}

kernel void reduce(global const float *restrict x, global float *restrict y)
{
    size_t group = get_global_id(0);
    float sum = x[group * 1536];
    for (int i = 1; i < 1536; i++)
        sum += x[group * 1536 + i];
    y[group] = sum;
}

/* ---- W6 ---- */

kernel void reverse(global const float2 *restrict x, global float2 *restrict y)
{
    size_t i = get_global_id(0);
    uint place = i % 256, other = 0;
    for (uint bit = 1; bit < 256; bit *= 2)
        other = 2 * other + ((place & bit) != 0);
    y[i] = x[i - place + other];
}

/* Roots of `half` are at [half]. */
kernel void butterfly(global const float2 *restrict x, global float2 *restrict y, constant float *re, constant float *im,
                      uint half_block)
{
    size_t i = get_global_id(0), k = i & (half_block - 1), p = 2 * (i - k) + k;
    float2 a = x[p], b = x[p + half_block];
    float c = re[half_block + k], s = im[half_block + k];
    float2 t = (float2)(fma(c, b.x, -(s * b.y)), fma(c, b.y, s * b.x));
    y[p] = a + t;
    y[p + half_block] = a - t;
}

kernel void compare(global const float *restrict x, global float *restrict y, uint run, uint apart)
{
    size_t i = get_global_id(0);
    uint place = i % 32;
    float a = x[i], b = x[i ^ apart];
    bool least = ((place & apart) == 0) == ((place & run) == 0);
    y[i] = least ? fmin(a, b) : fmax(a, b);
}

/* ---- W9: blocks of 16 words ---- */

kernel void cipher_blocks(global uint *restrict y, constant uint *start)
{
    size_t i = get_global_id(0);
    y[i] = start[i % 16] + (i % 16 == 12 ? (uint)(i / 16) : 0u);
}

#define QUARTER(a, b, c, d)                                                                                            \
    a += b, d = rotate(d ^ a, 16u), c += d, b = rotate(b ^ c, 12u), a += b, d = rotate(d ^ a, 8u), c += d,             \
        b = rotate(b ^ c, 7u)

kernel void cipher_round(global const uint *restrict x, global uint *restrict y)
{
    size_t block = get_global_id(0);
    uint s[16];
    for (int i = 0; i < 16; i++)
        s[i] = x[16 * block + i];
    QUARTER(s[0], s[4], s[8], s[12]);
    QUARTER(s[1], s[5], s[9], s[13]);
    QUARTER(s[2], s[6], s[10], s[14]);
    QUARTER(s[3], s[7], s[11], s[15]);
    QUARTER(s[0], s[5], s[10], s[15]);
    QUARTER(s[1], s[6], s[11], s[12]);
    QUARTER(s[2], s[7], s[8], s[13]);
    QUARTER(s[3], s[4], s[9], s[14]);
    for (int i = 0; i < 16; i++)
        y[16 * block + i] = s[i];
}

kernel void cipher_sum(global const uint *restrict x, global const uint *restrict start, global uint *restrict y)
{
    size_t i = get_global_id(0);
    y[i] = x[i] + start[i];
}

kernel void cipher_mask(global const uchar *restrict text, global const uchar *restrict key, global uchar *restrict y)
{
    size_t i = get_global_id(0);
    y[i] = text[i] ^ key[i];
}
