/* SPDX-License-Identifier: MIT */
/*
 * hand_kernels: the workloads as one writes them by hand for a GPU: fused, packets between kernels in registers or in memory
 * that a block shares, neighbouring threads at neighbouring addresses; with the bits of ours.
 *
 * W5 counts first, gives places, and writes then, which takes four kernels.  W5/run and W8 are executed by one warp, because
 * each packet waits for the one before.
 */
#pragma OPENCL FP_CONTRACT OFF

typedef float __attribute__((ext_vector_type(4))) float4;
typedef uint __attribute__((ext_vector_type(4))) uint4;
typedef unsigned short ushort;

#define ALL_LANES 0xffffffffu
#define THREAD ((uint)__nvvm_read_ptx_sreg_tid_x())
#define THREADS ((uint)__nvvm_read_ptx_sreg_ntid_x())
#define BLOCK ((uint)__nvvm_read_ptx_sreg_ctaid_x())
#define BLOCKS ((uint)__nvvm_read_ptx_sreg_nctaid_x())
#define MEET() __syncthreads()

OVERLOADED float lane_float(float v, uint lane) { return __nvvm_shfl_sync_idx_f32(ALL_LANES, v, (int)lane, 31); }
OVERLOADED float lane_across(float v, uint mask) { return __nvvm_shfl_sync_bfly_f32(ALL_LANES, v, (int)mask, 31); }
OVERLOADED uint lanes_with(bool yes) { return (uint)__nvvm_vote_ballot_sync(ALL_LANES, yes); }
OVERLOADED uint ones_in(uint v) { return (uint)__builtin_popcount(v); }

/* ---- W1, W7: four packets a thread ---- */

kernel void hand_light(global const float4 *restrict x, global float4 *restrict y, global const float *restrict ab)
{
    size_t i = get_global_id(0);
    float4 v = x[i];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v = v * ab[k] + ab[8 + k];
    y[i] = v;
}

kernel void hand_tiny(global const float4 *restrict x, global float4 *restrict y, global const float *restrict c)
{
    size_t i = get_global_id(0);
    float4 v = x[i];
#pragma unroll
    for (int k = 0; k < 64; k++)
        v += c[k];
    y[i] = v;
}

/* ---- W2: a block makes 1,024 packets, from 68 samples of each band, from 1,136 packets of the slower stream ---- */

enum { BANK = 16, SAMPLES = 68, SLOWED = SAMPLES * 16 + 48, SLOW_ROW = 73, FAST_ROW = SLOWED + 17 };

/* Each array is laid out by phases, so that the lanes of a warp, which want every 4th or 16th packet, read neighbours.
 * taps: 64 of the low-pass filter, then 64 of each band. */
kernel void hand_bank(global const float *restrict x, global float *restrict y, global const float *restrict taps, uint count)
{
    local float fast[4 * FAST_ROW], slow[16 * SLOW_ROW], sample[BANK * SAMPLES], tap[64 + 64 * BANK];
    size_t first = (size_t)BLOCK * 1024;
    x += 4 * first;
    for (uint i = THREAD; i < 64 + 64 * BANK; i += THREADS)
        tap[i] = taps[i];
    for (uint i = THREAD; i < 4 * SLOWED + 60; i += THREADS)
        fast[i % 4 * FAST_ROW + i / 4] = x[i];
    MEET();
    for (uint i = THREAD; i < SLOWED; i += THREADS) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 64; k++)
            sum = fma(fast[k % 4 * FAST_ROW + i + k / 4], tap[k], sum);
        slow[i % 16 * SLOW_ROW + i / 16] = sum;
    }
    MEET();
    for (uint i = THREAD; i < SAMPLES * 4; i += THREADS) {
        uint q = i % SAMPLES, b = i / SAMPLES * 4;
        float sum[4] = {0, 0, 0, 0};
#pragma unroll 16
        for (int k = 0; k < 64; k++) {
            float v = slow[k % 16 * SLOW_ROW + q + k / 16];
#pragma unroll
            for (int n = 0; n < 4; n++)
                sum[n] = fma(v, tap[64 + 64 * (b + n) + k], sum[n]);
        }
        for (int n = 0; n < 4; n++)
            sample[(b + n) * SAMPLES + q] = sum[n];
    }
    MEET();
    for (uint i = THREAD; i < 1024 && first + i < count; i += THREADS) {
        uint q = (i + 15) / 16, at = (16 - i % 16) % 16;
        float all = 0;
#pragma unroll 4
        for (int b = 0; b < BANK; b++) {
            float sum = 0;
#pragma unroll
            for (int t = 0; t < 4; t++)
                sum = fma(sample[b * SAMPLES + q + t], tap[64 + 64 * b + at + 16 * t], sum);
            all += sum;
        }
        y[first + i] = all;
    }
}

/* ---- W3: a block of 128 threads makes 512 packets, four a thread ---- */

enum { BANDS = 10, AUDIO = 512, SOUND = AUDIO + 63, BASE = SOUND + 1, RF = 4 * (BASE - 1) + 64, RF_ROW = RF / 4 + 1 };

float hand_angle(float y4, float x4)
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

/* taps: 64 of the channel, 64 of each band, the gains. */
kernel void hand_radio(global const float2 *restrict rf, global float *restrict audio, global const float *restrict taps)
{
    local float2 fast[4 * RF_ROW], base[BASE];
    local float sound[SOUND + 1], channel[64], band[64 * 12];
    size_t first = (size_t)BLOCK * AUDIO;
    rf += 4 * first;
    if (THREAD < 64) channel[THREAD] = taps[THREAD];
    for (uint i = THREAD; i < 64 * BANDS; i += THREADS)
        band[i % 64 * 12 + i / 64] = taps[64 + i];
    for (uint i = THREAD; i < RF; i += THREADS)
        fast[i % 4 * RF_ROW + i / 4] = rf[i];
    MEET();
    for (uint i = THREAD; i < BASE; i += THREADS) {
        float2 sum = (float2)(0, 0);
#pragma unroll
        for (int k = 0; k < 64; k++) {
            float2 v = fast[k % 4 * RF_ROW + i + k / 4];
            sum = (float2)(fma(v.x, channel[k], sum.x), fma(v.y, channel[k], sum.y));
        }
        base[i] = sum;
    }
    MEET();
    for (uint i = THREAD; i < SOUND; i += THREADS) {
        float2 a = base[i], b = base[i + 1];
        sound[i] = 0.5f * hand_angle(fma(b.y, a.x, -(b.x * a.y)), fma(b.x, a.x, b.y * a.y));
    }
    MEET();
    float sum[BANDS][4];
#pragma unroll
    for (int b = 0; b < BANDS; b++)
        for (int n = 0; n < 4; n++)
            sum[b][n] = 0;
#pragma unroll 4
    for (int k = 0; k < 64; k++)
#pragma unroll
        for (int b = 0; b < BANDS; b++) {
            float tap = band[k * 12 + b];
#pragma unroll
            for (int n = 0; n < 4; n++)
                sum[b][n] = fma(sound[128 * n + THREAD + k], tap, sum[b][n]);
        }
#pragma unroll
    for (int n = 0; n < 4; n++) {
        float all = 0;
        for (int b = 0; b < BANDS; b++)
            all += taps[64 + 64 * BANDS + b] * sum[b][n];
        audio[first + 128 * n + THREAD] = all;
    }
}

/* ---- W4: a thread makes four columns of 27 rows; its neighbours' columns come from the cache ---- */

enum { WIDTH = 1920, HEIGHT = 1080, ROWS = 27, LEVEL = 32 };

/* The sums of three rows, of the columns from 4 before to 7 after: two of 16 bits in a word, even ones and odd ones. */
OVERLOADED void three_rows(global const uchar *picture, int row, int column, uint *even, uint *odd)
{
    even[0] = even[1] = even[2] = odd[0] = odd[1] = odd[2] = 0;
    for (int r = row - 1; r <= row + 1; r++) {
        global const uint *at = (global const uint *)(picture + min(max(r, 0), HEIGHT - 1) * WIDTH + column);
        uint here = at[0], before = column > 0 ? at[-1] : (here & 0xff) * 0x01010101;
        uint after = column < WIDTH - 4 ? at[1] : (here >> 24) * 0x01010101;
        even[0] += before & 0xff00ff, odd[0] += before >> 8 & 0xff00ff;
        even[1] += here & 0xff00ff, odd[1] += here >> 8 & 0xff00ff;
        even[2] += after & 0xff00ff, odd[2] += after >> 8 & 0xff00ff;
    }
}

/* The means of columns from 1 before to 4 after. */
OVERLOADED void smooth_columns(global const uchar *picture, int row, int column, int *mean)
{
    uint even[3], odd[3];
    int sum[8];
    row = min(max(row, 0), HEIGHT - 1);
    three_rows(picture, row, column, even, odd);
    sum[0] = even[0] >> 16, sum[1] = odd[0] >> 16;
    sum[2] = even[1] & 0xffff, sum[3] = odd[1] & 0xffff, sum[4] = even[1] >> 16, sum[5] = odd[1] >> 16;
    sum[6] = even[2] & 0xffff, sum[7] = odd[2] & 0xffff;
#pragma unroll
    for (int i = 0; i < 6; i++)
        mean[i] = (sum[i] + sum[i + 1] + sum[i + 2] + 4) * 7282 >> 16;
    if (column == 0) mean[0] = mean[1];
    if (column == WIDTH - 4) mean[5] = mean[4];
}

kernel void hand_picture(global const uchar *restrict x, global uchar *restrict y)
{
    int column = (int)(BLOCK * THREADS + THREAD) * 4, row = (int)get_global_id(1) * ROWS;
    if (column >= WIDTH) return;
    size_t picture = get_global_id(2) * (size_t)(WIDTH * HEIGHT);
    int a[6], b[6], c[6];
    smooth_columns(x + picture, row - 1, column, a);
    smooth_columns(x + picture, row, column, b);
    for (int r = row; r < row + ROWS; r++) {
        uint edges = 0;
        int across[6], down[6];
        smooth_columns(x + picture, r + 1, column, c);
#pragma unroll
        for (int i = 0; i < 6; i++)
            across[i] = a[i] + 2 * b[i] + c[i], down[i] = c[i] - a[i];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint slope = abs(across[i + 2] - across[i]) + abs(down[i] + 2 * down[i + 1] + down[i + 2]);
            edges |= (slope >= LEVEL ? 0xffu : 0u) << 8 * i;
        }
        *(global uint *)(y + picture + r * WIDTH + column) = edges;
#pragma unroll
        for (int i = 0; i < 6; i++)
            a[i] = b[i], b[i] = c[i];
    }
}

/* ---- W5: a block of 256 threads looks at 4,096 packets ---- */

enum { LOOKS = 16, KEPT_GROUP = 512 };
#define ABOVE 0.4f

kernel void hand_keep_count(global const float *restrict x, global uint *restrict counts)
{
    local uint sums[8];
    uint kept = 0;
    x += (size_t)BLOCK * 256 * LOOKS;
#pragma unroll
    for (int i = 0; i < LOOKS; i++)
        kept += ones_in(lanes_with(x[256 * i + THREAD] > ABOVE));
    if (THREAD % 32 == 0) sums[THREAD / 32] = kept;
    MEET();
    if (THREAD == 0) counts[BLOCK] = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

/* One block of 1,024 threads; counts[pieces] becomes the number of all. */
kernel void hand_keep_place(global uint *counts, uint pieces)
{
    local uint sums[1024];
    uint share = (pieces + 1023) / 1024, from = THREAD * share, to = min(from + share, pieces), own = 0;
    for (uint i = from; i < to; i++)
        own += counts[i];
    sums[THREAD] = own;
    MEET();
    for (uint apart = 1; apart < 1024; apart *= 2) {
        uint more = THREAD >= apart ? sums[THREAD - apart] : 0;
        MEET();
        sums[THREAD] += more;
        MEET();
    }
    uint at = sums[THREAD] - own;
    for (uint i = from; i < to; i++) {
        uint kept = counts[i];
        counts[i] = at;
        at += kept;
    }
    if (THREAD == 1023) counts[pieces] = sums[1023];
}

/* A warp writes the packets that it keeps after those of the warps before it. */
kernel void hand_keep_write(global const float *restrict x, global float *restrict y, global const uint *restrict places)
{
    local uint sums[8];
    uint warp = THREAD / 32, lane = THREAD % 32, kept = 0;
    float v[LOOKS];
    x += (size_t)BLOCK * 256 * LOOKS + warp * 32 * LOOKS + lane;
#pragma unroll
    for (int i = 0; i < LOOKS; i++) {
        v[i] = x[32 * i];
        kept += ones_in(lanes_with(v[i] > ABOVE));
    }
    if (lane == 0) sums[warp] = kept;
    MEET();
    uint at = places[BLOCK];
    for (uint w = 0; w < warp; w++)
        at += sums[w];
#pragma unroll
    for (int i = 0; i < LOOKS; i++) {
        uint mask = lanes_with(v[i] > ABOVE);
        if (v[i] > ABOVE) y[at + ones_in(mask & ((1u << lane) - 1))] = v[i];
        at += ones_in(mask);
    }
}

/* A warp adds up 32 groups, each lane its own; the packets come through memory that the warp shares. */
kernel void hand_keep_sums(global const float *restrict kept, global float *restrict y, global const uint *restrict counts,
                           uint pieces)
{
    local float all[4][32 * 33];
    local float *tile = all[THREAD / 32];
    uint lane = THREAD % 32, groups = counts[pieces] / KEPT_GROUP, first = (BLOCK * 4 + THREAD / 32) * 32;
    float sum = 0;
    if (first >= groups) return;
    for (uint i = 0; i < KEPT_GROUP; i += 32) {
        for (uint g = 0; g < 32; g++)
            tile[g * 33 + lane] = first + g < groups ? kept[(size_t)(first + g) * KEPT_GROUP + i + lane] : 0;
        __nvvm_bar_warp_sync(ALL_LANES);
        for (uint n = 0; n < 32; n++) {
            float v = tile[lane * 33 + n];
            sum = i + n == 0 ? v : sum + v;
            sum += v * 0.5f + 0.1f;
            sum += v * v;
        }
        __nvvm_bar_warp_sync(ALL_LANES);
    }
    if (first + lane < groups) y[first + lane] = sum;
}

/* One warp.  count: a multiple of 32.  *end: how many came out. */
kernel void hand_running(global const float *restrict x, global float *restrict y, global uint *restrict end, ulong count)
{
    uint lane = THREAD, out = 0;
    float sum = 0, v = x[lane];
    for (size_t i = 0; i < count; i += 32) {
        float next = i + 32 < count ? x[i + 32 + lane] : 0, a = 0, b = 0, c = 0;
        uint mask = lanes_with(v > ABOVE);
        for (uint rest = mask; rest != 0; rest &= rest - 1) {
            uint from = (uint)__builtin_ctz(rest);
            float w = lane_float(v, from), first = sum + w, second = first + (w * 0.5f + 0.1f);
            sum = second + w * w;
            if (lane == from) a = first, b = second, c = sum;
        }
        if (v > ABOVE) {
            global float *to = y + out + 3 * ones_in(mask & ((1u << lane) - 1));
            to[0] = a, to[1] = b, to[2] = c;
        }
        out += 3 * ones_in(mask);
        v = next;
    }
    if (lane == 0) *end = out;
}

/* ---- W6: a warp transforms 256 points, eight a lane ---- */

OVERLOADED void butterfly_of(float2 *a, float2 *b, float2 root)
{
    float2 t = (float2)(fma(root.x, b->x, -(root.y * b->y)), fma(root.x, b->y, root.y * b->x)), v = *a;
    *a = v + t;
    *b = v - t;
}

/* roots: of butterflies over `half` points, from [half] on.  A block has 4 warps. */
kernel void hand_fourier(global const float2 *restrict x, global float2 *restrict y, global const float2 *restrict roots)
{
    local float2 all[4][256 + 32], root[256];
    local float2 *tile = all[THREAD / 32];
    uint lane = THREAD % 32, other = 0, high = lane / 8 * 64 + lane % 8;
    size_t first = ((size_t)BLOCK * 4 + THREAD / 32) * 256;
    float2 p[8];
    root[THREAD] = roots[THREAD], root[THREAD + 128] = roots[THREAD + 128];
#pragma unroll
    for (uint bit = 0; bit < 5; bit++)
        other |= (lane >> bit & 1) << (4 - bit);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        p[j] = x[first + ((j & 1) << 7 | (j & 2) << 5 | (j & 4) << 3) + other];
    MEET();
#pragma unroll
    for (uint half_block = 1; half_block < 8; half_block *= 2)
#pragma unroll
        for (uint j = 0; j < 8; j++)
            if ((j & half_block) == 0) butterfly_of(&p[j], &p[j + half_block], root[half_block + (j & (half_block - 1))]);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        tile[9 * lane + j] = p[j]; /* point i is at i + i / 8 */
    __nvvm_bar_warp_sync(ALL_LANES);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        p[j] = tile[high + 8 * j + (high + 8 * j) / 8];
#pragma unroll
    for (uint step = 1; step < 8; step *= 2)
#pragma unroll
        for (uint j = 0; j < 8; j++)
            if ((j & step) == 0)
                butterfly_of(&p[j], &p[j + step], root[8 * step + ((high + 8 * j) & (8 * step - 1))]);
    __nvvm_bar_warp_sync(ALL_LANES);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        tile[high + 8 * j + (high + 8 * j) / 8] = p[j];
    __nvvm_bar_warp_sync(ALL_LANES);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        p[j] = tile[lane + 32 * j + (lane + 32 * j) / 8];
#pragma unroll
    for (uint step = 2; step < 8; step *= 2)
#pragma unroll
        for (uint j = 0; j < 8; j++)
            if ((j & step) == 0)
                butterfly_of(&p[j], &p[j + step], root[32 * step + ((lane + 32 * j) & (32 * step - 1))]);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        y[first + lane + 32 * j] = p[j];
}

/* ---- W6/sort: eight lanes sort 32 packets, four a lane ---- */

OVERLOADED void order_pair(float *a, float *b, bool up)
{
    float least = fmin(*a, *b), most = fmax(*a, *b);
    *a = up ? least : most;
    *b = up ? most : least;
}

kernel void hand_bitonic(global const float4 *restrict x, global float4 *restrict y)
{
    size_t at = get_global_id(0);
    uint lane = (uint)at & 7;
    float4 packets = x[at];
    float v[4] = {packets.x, packets.y, packets.z, packets.w};
#pragma unroll
    for (uint run = 2; run <= 32; run *= 2)
#pragma unroll
        for (uint apart = run / 2; apart > 0; apart /= 2) {
            if (apart >= 4) {
                bool keeps_least = ((lane & apart / 4) == 0) == ((4 * lane & run) == 0);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float theirs = lane_across(v[i], apart / 4);
                    v[i] = keeps_least ? fmin(v[i], theirs) : fmax(v[i], theirs);
                }
            } else if (apart == 2) {
                order_pair(&v[0], &v[2], (4 * lane & run) == 0);
                order_pair(&v[1], &v[3], (4 * lane & run) == 0);
            } else {
                order_pair(&v[0], &v[1], (4 * lane & run) == 0);
                order_pair(&v[2], &v[3], ((4 * lane + 2) & run) == 0);
            }
        }
    y[at] = (float4)(v[0], v[1], v[2], v[3]);
}

/* ---- W8: one warp.  count: a multiple of 32 ---- */

kernel void hand_loop(global const float *restrict x, global float *restrict y, ulong count)
{
    uint lane = THREAD;
    float back = 0, v = x[lane];
    for (size_t i = 0; i < count; i += 32) {
        float next = i + 32 < count ? x[i + 32 + lane] : 0, own = 0;
#pragma unroll
        for (uint n = 0; n < 32; n++) {
            float s = lane_float(v, n) + back;
            if (lane == n) own = s;
            back = 0.75f * s;
        }
        y[i + lane] = own;
        v = next;
    }
}

/* ---- W9: a thread masks a block of 64 bytes ---- */

#define HAND_QUARTER(a, b, c, d)                                                                                       \
    a += b, d = rotate(d ^ a, 16u), c += d, b = rotate(b ^ c, 12u), a += b, d = rotate(d ^ a, 8u), c += d,             \
        b = rotate(b ^ c, 7u)

kernel void hand_cipher(global const uint4 *restrict text, global uint4 *restrict cipher, global const uint *restrict start,
                        uint first)
{
    size_t block = get_global_id(0);
    uint s[16], begun[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        begun[i] = start[i];
    begun[12] += first + (uint)block;
#pragma unroll
    for (int i = 0; i < 16; i++)
        s[i] = begun[i];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        HAND_QUARTER(s[0], s[4], s[8], s[12]);
        HAND_QUARTER(s[1], s[5], s[9], s[13]);
        HAND_QUARTER(s[2], s[6], s[10], s[14]);
        HAND_QUARTER(s[3], s[7], s[11], s[15]);
        HAND_QUARTER(s[0], s[5], s[10], s[15]);
        HAND_QUARTER(s[1], s[6], s[11], s[12]);
        HAND_QUARTER(s[2], s[7], s[8], s[13]);
        HAND_QUARTER(s[3], s[4], s[9], s[14]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint4 key = (uint4)(s[4 * i] + begun[4 * i], s[4 * i + 1] + begun[4 * i + 1], s[4 * i + 2] + begun[4 * i + 2],
                            s[4 * i + 3] + begun[4 * i + 3]);
        cipher[4 * block + i] = text[4 * block + i] ^ key;
    }
}
