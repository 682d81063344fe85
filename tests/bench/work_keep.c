/* SPDX-License-Identifier: MIT */
/* W5: some packets are kept, each becomes three, and these are added up (keep.pipe, running.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum {
    GROUP = 512,          /* kept packets of a sum */
    FULL = LANES * GROUP, /* a group for each lane */
    CHUNK = 2048,         /* packets that are looked at before the sums are */
    COMING = 256          /* packets that are fetched for each step of the sums */
};

#define UNIT ((size_t)4096) /* packets */
#define ABOVE 0.4f

static struct bench_shape shape_sums(size_t units)
{
    size_t packets = units * UNIT;
    return (struct bench_shape){packets, packets * sizeof(float),
                                (packets / GROUP + 1) * sizeof(float), 2.1 * (double)packets};
}

static void prepare(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
}

/* ---- keeping ---- */

#ifdef __AVX512F__
/* Writes whole vectors: LANES packets of `to` are not kept. */
LANES_INLINE size_t keep_vector(float *to, lanes v)
{
    __mmask16 mask = _mm512_cmp_ps_mask(v, _mm512_set1_ps(ABOVE), _CMP_GT_OQ);
    lanes_store(to, _mm512_maskz_compress_ps(mask, v));
    return (size_t)_mm_popcnt_u32(mask);
}

LANES_INLINE size_t count_vector(lanes v)
{
    return (size_t)_mm_popcnt_u32(_mm512_cmp_ps_mask(v, _mm512_set1_ps(ABOVE), _CMP_GT_OQ));
}
#else
/* The places of the set bits of a byte, each in four bits: pext moves them together. */
LANES_INLINE size_t keep_vector(float *to, lanes v)
{
    unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(v, lanes_all(ABOVE), _CMP_GT_OQ));
    uint64_t bytes = _pdep_u64(mask, 0x0101010101010101) * 0xff;
    uint64_t places = _pext_u64(0x0706050403020100, bytes);
    __m256i to_front = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)places));
    lanes_store(to, _mm256_permutevar8x32_ps(v, to_front));
    return (size_t)_mm_popcnt_u32(mask);
}

LANES_INLINE size_t count_vector(lanes v)
{
    return (size_t)_mm_popcnt_u32(
        (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(v, lanes_all(ABOVE), _CMP_GT_OQ)));
}
#endif

static size_t keep(float *to, const float *x, size_t count)
{
    float *at = to;
    for (size_t i = 0; i < count; i += LANES)
        at += keep_vector(at, lanes_load(x + i));
    return (size_t)(at - to);
}

static size_t count_kept(const float *x, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i += LANES)
        kept += count_vector(lanes_load(x + i));
    return kept;
}

/* ---- by hand: a group in each lane ---- */

/* The sums of `count` groups; memory past them may be read.  Meanwhile `next` is prefetched. */
static __attribute__((noinline)) void add_up(const float *kept, float *sums, size_t count,
                                             const float *next)
{
    lanes sum = {0};
    for (size_t i = 0; i < GROUP; i += LANES) {
        lanes v[LANES];
        for (size_t n = 0; n < COMING; n += LANES)
            _mm_prefetch((const char *)(next + COMING / LANES * i + n), _MM_HINT_T1);
        lanes_gather(v, kept + i, GROUP, LANES);
        for (size_t n = 0; n < LANES; n++) {
            lanes x = v[n], y = x * 0.5f + 0.1f, z = x * x;
            sum = i + n == 0 ? x : sum + x;
            sum = sum + y;
            sum = sum + z;
        }
    }
    memcpy(sums, &sum, count * sizeof *sums);
}

struct sums {
    float kept[FULL + CHUNK + LANES]; /* what no sum has yet */
    size_t have;
    float *to;
    size_t wanted; /* groups */
};

static void add_up_full(struct sums *s, const float *next)
{
    size_t groups = LANES < s->wanted ? LANES : s->wanted;
    add_up(s->kept, s->to, groups, next);
    s->to += groups;
    s->wanted -= groups;
    s->have -= FULL;
    memmove(s->kept, s->kept + FULL, s->have * sizeof(float));
}

/* Each part needs to know how many packets are kept before its own. */
static size_t hand_sums(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    static size_t counted[2];
    size_t packets = units * UNIT, share = packets / parts;
    const float *x = in;
    size_t before = 0, end = SIZE_MAX; /* groups */
    struct sums s = {.have = 0};
    size_t at = share * part;
    if (parts == 2) {
        counted[part] = count_kept(x + share / 2 * part, share / 2);
        bench_meet(parts);
        size_t first_half = counted[0] + counted[1];
        size_t groups = (first_half + GROUP - 1) / GROUP;
        if (part == 0) {
            end = groups;
        } else {
            size_t skip = groups * GROUP - first_half, have = 0;
            for (; have < skip; at += LANES)
                have += keep(s.kept + have, x + at, LANES);
            s.have = have - skip;
            memmove(s.kept, s.kept + skip, s.have * sizeof(float));
            before = groups;
        }
    }
    s.to = (float *)out + before;
    s.wanted = end - before;
    while (at < packets && s.have / GROUP < s.wanted) {
        size_t count = CHUNK < packets - at ? CHUNK : packets - at;
        s.have += keep(s.kept + s.have, x + at, count);
        at += count;
        if (s.have >= FULL) add_up_full(&s, x + at);
    }
    size_t rest = s.have / GROUP < s.wanted ? s.have / GROUP : s.wanted;
    if (rest > 0) add_up(s.kept, s.to, rest, x);
    return (size_t)((char *)(s.to + rest) - (char *)out);
}

/* ---- by hand: one sum over all ---- */

static struct bench_shape shape_running(size_t units)
{
    size_t packets = units * UNIT;
    return (struct bench_shape){packets, packets * sizeof(float), 3 * packets * sizeof(float),
                                0.9 / 2 * (double)packets};
}

static size_t hand_running(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    (void)part, (void)parts;
    const float *x = in;
    float *y = out, kept[CHUNK + LANES], sum = 0;
    for (size_t at = 0; at < units * UNIT; at += CHUNK) {
        size_t count = keep(kept, x + at, CHUNK);
        for (size_t i = 0; i < count; i++, y += 3) {
            float v = kept[i];
            y[0] = sum + v;
            y[1] = y[0] + (v * 0.5f + 0.1f);
            y[2] = sum = y[1] + v * v;
        }
    }
    return (size_t)((char *)y - (char *)out);
}

/* ---- kernel by kernel ---- */

static size_t whole_keep(const float *restrict x, float *restrict y, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (x[i] > ABOVE) y[kept++] = x[i];
    return kept;
}

static __attribute__((noinline)) void whole_expand(const float *restrict x, float *restrict y,
                                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[3 * i] = x[i];
        y[3 * i + 1] = x[i] * 0.5f + 0.1f;
        y[3 * i + 2] = x[i] * x[i];
    }
}

static size_t keep_and_expand(size_t units, const void *in, float **expanded)
{
    float *kept = bench_spare(0, units * UNIT * sizeof(float));
    size_t count = whole_keep(in, kept, units * UNIT);
    *expanded = bench_spare(1, 3 * count * sizeof(float));
    whole_expand(kept, *expanded, count);
    return count;
}

static void unfused_sums(size_t units, const void *in, void *out)
{
    float *expanded, *to = out;
    size_t groups = keep_and_expand(units, in, &expanded) / GROUP;
    for (size_t g = 0; g < groups; g++, expanded += 3 * (size_t)GROUP) {
        float sum = expanded[0];
        for (size_t i = 1; i < 3 * (size_t)GROUP; i++)
            sum += expanded[i];
        to[g] = sum;
    }
}

static void unfused_running(size_t units, const void *in, void *out)
{
    float *expanded, *to = out, sum = 0;
    size_t count = keep_and_expand(units, in, &expanded);
    for (size_t i = 0; i < 3 * count; i++) {
        sum += expanded[i];
        to[i] = sum;
    }
}

const struct bench_workload bench_sums = {
    .name = "W5 keep 30 %, expand, sums",
    .container = "keep.pbc",
    .units = (size_t)16 << 10,
    .check_units = 40,
    .goal = 1.1,
    .shape = shape_sums,
    .prepare = prepare,
    .hand = hand_sums,
    .unfused = unfused_sums,
};

const struct bench_workload bench_running = {
    .name = "W5/run a running sum",
    .container = "running.pbc",
    .units = (size_t)16 << 10,
    .check_units = 40,
    .bound = BENCH_SERIAL,
    .serial = true,
    .goal = 1.1,
    .shape = shape_running,
    .prepare = prepare,
    .hand = hand_running,
    .unfused = unfused_running,
};
