/* SPDX-License-Identifier: MIT */
#include "tests/bench/cuda/cuda_jobs.h"

#include "tests/bench/peers/peer_taps.h"

#include <math.h>
#include <string.h>

enum { THREADS = 256 };

/* The input and the output of stage k of `count` in a chain that alternates between two buffers. */
static gpu_address stage_in(const struct job_part *part, const gpu_address *between, int k)
{
    return k == 0 ? part->in : between[(k - 1) % 2];
}

static gpu_address stage_out(const struct job_part *part, const gpu_address *between, int k,
                             int count)
{
    return k == count - 1 ? part->out : between[k % 2];
}

/* ---- W1, W7 ---- */

enum { LIGHT = 8, TINY = 64, CHAIN_UNIT = 1024 };

static void job_light(struct gpu_job *job, const struct job_part *part)
{
    float factors[2 * LIGHT];
    for (int k = 0; k < LIGHT; k++) {
        factors[k] = 1 - 0.015625f * (float)k;
        factors[LIGHT + k] = 0.125f * (float)(k + 1);
    }
    gpu_add(job, "hand_light", part->units * CHAIN_UNIT / 4, THREADS, "mmm", part->in, part->out,
            gpu_reserve_copy(job, factors, sizeof factors));
}

static void job_light_stages(struct gpu_job *job, const struct job_part *part)
{
    size_t bytes = part->units * CHAIN_UNIT * sizeof(float);
    gpu_address between[2] = {gpu_reserve(job, bytes), gpu_reserve(job, bytes)};
    for (int k = 0; k < LIGHT; k++)
        gpu_add(job, "affine", part->units * CHAIN_UNIT, THREADS, "mmff",
                stage_in(part, between, k), stage_out(part, between, k, LIGHT), 1 - 0.015625 * k,
                0.125 * (k + 1));
}

static void job_tiny(struct gpu_job *job, const struct job_part *part)
{
    float terms[TINY];
    for (int k = 0; k < TINY; k++)
        terms[k] = 0.015625f * (float)(k + 1);
    gpu_add(job, "hand_tiny", part->units * CHAIN_UNIT / 4, THREADS, "mmm", part->in, part->out,
            gpu_reserve_copy(job, terms, sizeof terms));
}

static void job_tiny_stages(struct gpu_job *job, const struct job_part *part)
{
    size_t bytes = part->units * CHAIN_UNIT * sizeof(float);
    gpu_address between[2] = {gpu_reserve(job, bytes), gpu_reserve(job, bytes)};
    for (int k = 0; k < TINY; k++)
        gpu_add(job, "add", part->units * CHAIN_UNIT, THREADS, "mmf", stage_in(part, between, k),
                stage_out(part, between, k, TINY), 0.015625 * (k + 1));
}

/* ---- W2, W3 ---- */

static size_t whole_blocks(size_t items)
{
    return (items + THREADS - 1) / THREADS * THREADS;
}

static void job_bank(struct gpu_job *job, const struct job_part *part)
{
    enum { PACKETS = 1024 /* of a block */ };
    static struct peer_bank bank;
    size_t packets = bench_bank.shape(part->units).out_bytes / sizeof(float);
    peer_bank_taps(&bank);
    gpu_add(job, "hand_bank", (packets + PACKETS - 1) / PACKETS * THREADS, THREADS, "mmmu",
            part->in, part->out, gpu_reserve_copy(job, &bank, sizeof bank), (unsigned)packets);
}

/* Streams of bands lie so far apart that threads past the end write between them. */
static void job_bank_stages(struct gpu_job *job, const struct job_part *part)
{
    static struct peer_bank bank;
    size_t packets = bench_bank.shape(part->units).out_bytes / sizeof(float);
    size_t sampled = packets / PEER_BANK + 4, slow = (sampled - 1) * PEER_BANK + PEER_TAPS;
    size_t apart = whole_blocks(sampled), wide = whole_blocks(packets);
    peer_bank_taps(&bank);
    gpu_address low = gpu_reserve_copy(job, bank.low, sizeof bank.low);
    gpu_address taps = gpu_reserve_copy(job, bank.band, sizeof bank.band);
    gpu_address slowed = gpu_reserve(job, whole_blocks(slow) * sizeof(float) + sizeof bank);
    gpu_address samples = gpu_reserve(job, apart * PEER_BANK * sizeof(float));
    gpu_address parts = gpu_reserve(job, wide * PEER_BANK * sizeof(float));
    gpu_add(job, "fir4", slow, THREADS, "mmm", part->in, slowed, low);
    gpu_add(job, "fir16_bands", sampled, THREADS, "mmmz", slowed, samples, taps, apart)->blocks[1] =
        PEER_BANK;
    gpu_add(job, "fir_stuffed", packets, THREADS, "mmmzz", samples, parts, taps, apart, wide)
        ->blocks[1] = PEER_BANK;
    gpu_add(job, "sum_bands", packets, THREADS, "mmzu", parts, part->out, wide,
            (unsigned)PEER_BANK);
}

static void job_radio(struct gpu_job *job, const struct job_part *part)
{
    enum { PACKETS = 512, RADIO_THREADS = 128 /* of a block */ };
    static struct peer_radio radio;
    size_t audio = bench_radio.shape(part->units).out_bytes / sizeof(float);
    peer_radio_taps(&radio);
    gpu_add(job, "hand_radio", audio / PACKETS * RADIO_THREADS, RADIO_THREADS, "mmm", part->in,
            part->out, gpu_reserve_copy(job, &radio, sizeof radio));
}

static void job_radio_stages(struct gpu_job *job, const struct job_part *part)
{
    static struct peer_radio radio;
    size_t audio = bench_radio.shape(part->units).out_bytes / sizeof(float);
    size_t sound = audio + PEER_TAPS - 1, base = sound + 1;
    peer_radio_taps(&radio);
    gpu_address channel = gpu_reserve_copy(job, radio.channel, sizeof radio.channel);
    gpu_address taps = gpu_reserve_copy(job, radio.band, sizeof radio.band);
    gpu_address gains = gpu_reserve_copy(job, radio.gain, sizeof radio.gain);
    gpu_address based = gpu_reserve(job, whole_blocks(base) * 2 * sizeof(float));
    gpu_address sounds = gpu_reserve(job, whole_blocks(sound) * sizeof(float));
    gpu_address bands = gpu_reserve(job, audio * PEER_BANDS * sizeof(float));
    gpu_add(job, "channel_filter", base, THREADS, "mmm", part->in, based, channel);
    gpu_add(job, "demodulate", sound, THREADS, "mmf", based, sounds, 0.5);
    gpu_add(job, "fir_bands", audio, THREADS, "mmmz", sounds, bands, taps, audio)->blocks[1] =
        PEER_BANDS;
    gpu_add(job, "gain_bands", audio, THREADS, "mmz", bands, gains, audio)->blocks[1] = PEER_BANDS;
    gpu_add(job, "sum_bands", audio, THREADS, "mmzu", bands, part->out, audio,
            (unsigned)PEER_BANDS);
}

/* ---- W4 ---- */

enum { WIDTH = 1920, HEIGHT = 1080 };

static void job_picture(struct gpu_job *job, const struct job_part *part)
{
    enum { COLUMNS = 4, ROWS = 27, PICTURE_THREADS = 96 /* of a block */ };
    struct gpu_launch *l =
        gpu_add(job, "hand_picture", WIDTH / COLUMNS, PICTURE_THREADS, "mm", part->in, part->out);
    l->blocks[1] = HEIGHT / ROWS;
    l->blocks[2] = (unsigned)part->units;
}

static void job_picture_stages(struct gpu_job *job, const struct job_part *part)
{
    enum { ROW_THREADS = 128 };
    size_t bytes = part->units * WIDTH * HEIGHT;
    gpu_address smooth = gpu_reserve(job, bytes), edges = gpu_reserve(job, bytes);
    struct gpu_launch *pixels[2];
    pixels[0] = gpu_add(job, "box3", WIDTH, ROW_THREADS, "mm", part->in, smooth);
    pixels[1] = gpu_add(job, "sobel", WIDTH, ROW_THREADS, "mm", smooth, edges);
    for (int i = 0; i < 2; i++) {
        pixels[i]->blocks[1] = HEIGHT;
        pixels[i]->blocks[2] = (unsigned)part->units;
    }
    gpu_add(job, "threshold", bytes, THREADS, "mm", edges, part->out);
}

/* ---- W5 ---- */

enum { KEEP_UNIT = 4096, KEPT = 512 /* packets of a sum */ };
#define ABOVE 0.4f

static void job_sums(struct gpu_job *job, const struct job_part *part)
{
    enum { SUM_THREADS = 128, PLACE_THREADS = 1024 };
    size_t packets = part->units * KEEP_UNIT;
    gpu_address counts = gpu_reserve(job, (part->units + 1) * sizeof(uint32_t));
    gpu_address kept = gpu_reserve(job, packets * sizeof(float));
    gpu_add(job, "hand_keep_count", part->units * THREADS, THREADS, "mm", part->in, counts);
    gpu_add(job, "hand_keep_place", PLACE_THREADS, PLACE_THREADS, "mu", counts,
            (unsigned)part->units);
    gpu_add(job, "hand_keep_write", part->units * THREADS, THREADS, "mmm", part->in, kept, counts);
    gpu_add(job, "hand_keep_sums", packets / KEPT, SUM_THREADS, "mmmu", kept, part->out, counts,
            (unsigned)part->units);
}

static size_t count_above(const struct job_part *part)
{
    const float *x = part->host_in;
    size_t count = 0;
    for (size_t i = 0; i < part->units * KEEP_UNIT; i++)
        count += x[i] > ABOVE;
    return count;
}

/* The numbers of packets are known before: a program would have to read them first. */
static void job_sums_stages(struct gpu_job *job, const struct job_part *part)
{
    enum { PIECE = 1024 };
    size_t packets = part->units * KEEP_UNIT, pieces = packets / PIECE, kept = count_above(part);
    gpu_address counts = gpu_reserve(job, (whole_blocks(pieces) + 1) * sizeof(uint32_t));
    gpu_address some = gpu_reserve(job, packets * sizeof(float));
    gpu_address more = gpu_reserve(job, 3 * packets * sizeof(float));
    gpu_add(job, "keep_count", pieces, PIECE / 32, "mmf", part->in, counts, (double)ABOVE);
    gpu_add(job, "keep_place", 1, 1, "mu", counts, (unsigned)pieces);
    gpu_add(job, "keep_write", pieces, PIECE / 32, "mmmf", part->in, some, counts, (double)ABOVE);
    gpu_add(job, "expand", kept, THREADS, "mm", some, more);
    gpu_add(job, "reduce", kept / KEPT, PIECE / 32, "mm", more, part->out);
}

static void job_running(struct gpu_job *job, const struct job_part *part)
{
    gpu_add(job, "hand_running", 32, 32, "mmmz", part->in, part->out,
            gpu_reserve(job, sizeof(uint32_t)), part->units * KEEP_UNIT);
}

/* ---- W6 ---- */

enum { BLOCKS = 16 /* of a unit */, POINTS = 256, SORTED = 32 };

/* Of butterflies over `half` points, from [half] on. */
static void fill_roots(float re[POINTS], float im[POINTS])
{
    re[0] = im[0] = 0;
    for (int half = 1; half < POINTS; half *= 2)
        for (int k = 0; k < half; k++) {
            re[half + k] = (float)cos(taps_pi * (double)k / half);
            im[half + k] = (float)-sin(taps_pi * (double)k / half);
        }
}

static void job_fourier(struct gpu_job *job, const struct job_part *part)
{
    enum { FOURIER_THREADS = 128 /* of a block, a warp for each transform */ };
    float re[POINTS], im[POINTS], roots[2 * POINTS];
    fill_roots(re, im);
    for (int i = 0; i < POINTS; i++) {
        roots[2 * i] = re[i];
        roots[2 * i + 1] = im[i];
    }
    gpu_add(job, "hand_fourier", part->units * BLOCKS * 32, FOURIER_THREADS, "mmm", part->in,
            part->out, gpu_reserve_copy(job, roots, sizeof roots));
}

static void job_fourier_stages(struct gpu_job *job, const struct job_part *part)
{
    enum { STAGES = 9 };
    float re[POINTS], im[POINTS];
    size_t points = part->units * BLOCKS * POINTS, bytes = points * 2 * sizeof(float);
    fill_roots(re, im);
    gpu_address between[2] = {gpu_reserve(job, bytes), gpu_reserve(job, bytes)};
    gpu_address roots[2] = {gpu_reserve_copy(job, re, sizeof re),
                            gpu_reserve_copy(job, im, sizeof im)};
    gpu_add(job, "reverse", points, THREADS, "mm", part->in, between[0]);
    for (int k = 1; k < STAGES; k++)
        gpu_add(job, "butterfly", points / 2, THREADS, "mmmmu", stage_in(part, between, k),
                stage_out(part, between, k, STAGES), roots[0], roots[1], 1u << (k - 1));
}

static void job_bitonic(struct gpu_job *job, const struct job_part *part)
{
    gpu_add(job, "hand_bitonic", part->units * BLOCKS * SORTED / 4, THREADS, "mm", part->in,
            part->out);
}

static void job_bitonic_stages(struct gpu_job *job, const struct job_part *part)
{
    enum { STEPS = 15 };
    size_t packets = part->units * BLOCKS * SORTED, bytes = packets * sizeof(float);
    gpu_address between[2] = {gpu_reserve(job, bytes), gpu_reserve(job, bytes)};
    int step = 0;
    for (unsigned run = 2; run <= SORTED; run *= 2)
        for (unsigned apart = run / 2; apart > 0; apart /= 2, step++)
            gpu_add(job, "compare", packets, THREADS, "mmuu", stage_in(part, between, step),
                    stage_out(part, between, step, STEPS), run, apart);
}

/* ---- W8 ---- */

static void job_loop(struct gpu_job *job, const struct job_part *part)
{
    gpu_add(job, "hand_loop", 32, 32, "mmz", part->in, part->out, part->units * CHAIN_UNIT);
}

/* ---- W9 ---- */

enum { CIPHER_WORDS = 16 };

/* The key of examples/cipher/chacha20.pipe. */
static const uint32_t cipher_start[CIPHER_WORDS] = {
    0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
    0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 1,          0,          0x4a000000, 0};

static void job_cipher(struct gpu_job *job, const struct job_part *part)
{
    gpu_add(job, "hand_cipher", part->units * BLOCKS, THREADS, "mmmu", part->in, part->out,
            gpu_reserve_copy(job, cipher_start, sizeof cipher_start),
            (unsigned)(part->first * BLOCKS));
}

static void job_cipher_stages(struct gpu_job *job, const struct job_part *part)
{
    size_t count = part->units * BLOCKS * CIPHER_WORDS, bytes = count * sizeof(uint32_t);
    gpu_address start = gpu_reserve_copy(job, cipher_start, sizeof cipher_start);
    gpu_address first = gpu_reserve(job, bytes);
    gpu_address state[2] = {gpu_reserve(job, bytes), gpu_reserve(job, bytes)};
    gpu_add(job, "cipher_blocks", count, THREADS, "mm", first, start);
    for (int round = 0; round < 10; round++)
        gpu_add(job, "cipher_round", count / CIPHER_WORDS, THREADS, "mm",
                round == 0 ? first : state[(round + 1) % 2], state[round % 2]);
    gpu_add(job, "cipher_sum", count, THREADS, "mmm", state[1], first, state[0]);
    gpu_add(job, "cipher_mask", bytes, THREADS, "mmm", part->in, state[0], part->out);
}

/* ---- batches ---- */

static void add_batch(struct gpu_job *job, size_t floats, const gpu_address *memory, unsigned chain,
                      bool with_state)
{
    enum { BLOCK = 64 };
    const gpu_address *between = memory, numbers = memory[2], totals = memory[3];
    gpu_add(job, "make_batch", floats, THREADS, "mm", numbers, between[0])->stream = chain;
    for (int k = 0; k < LIGHT; k++) {
        gpu_address from = between[k % 2], to = between[(k + 1) % 2];
        if (with_state)
            gpu_add(job, "smooth_batch", 1, 1, "mmmu", from, to,
                    memory[4] + (size_t)k * sizeof(float), (unsigned)floats)
                ->stream = chain;
        else
            gpu_add(job, "affine", floats, THREADS, "mmff", from, to, 1 - 0.015625 * k,
                    0.125 * (k + 1))
                ->stream = chain;
    }
    gpu_add(job, "total_batch", floats / BLOCK, BLOCK, "mm", between[LIGHT % 2], totals)->stream =
        chain;
}

void job_add_batches(struct gpu_job *job, size_t floats, unsigned chains, unsigned batches,
                     bool with_state)
{
    enum { MEMORIES = 5 };
    gpu_address memory[GPU_STREAMS_MAX][MEMORIES];
    size_t bytes = floats * sizeof(float), all = (bytes + 4096) * MEMORIES;
    job->streams = chains;
    for (unsigned c = 0; c < chains; c++) {
        memory[c][0] = gpu_reserve(job, all);
        for (unsigned i = 1; i < MEMORIES; i++)
            memory[c][i] = memory[c][i - 1] + (bytes + 4095) / 4096 * 4096;
    }
    for (unsigned b = 0; b < batches; b++)
        for (unsigned c = 0; c < chains; c++)
            add_batch(job, floats, memory[c], c, with_state);
}

/* ---- all ---- */

enum { SERIAL_UNITS = 64 };
#define CHUNKED(units, in, out)                                                                    \
    .chunk_units = (units), .in_unit_bytes = (in), .out_unit_bytes = (out)

const struct cuda_work cuda_works[CUDA_WORKS] = {
    {&bench_chain8, CHUNKED(8192, 4096, 4096), .hand = job_light, .stages = job_light_stages},
    {&bench_bank, CHUNKED(4096, 8192, 2048), .hand = job_bank, .stages = job_bank_stages},
    {&bench_radio, CHUNKED(4096, 8192, 1024), .hand = job_radio, .stages = job_radio_stages},
    {&bench_picture, CHUNKED(8, WIDTH *HEIGHT, WIDTH *HEIGHT), .hand = job_picture,
     .stages = job_picture_stages},
    {&bench_sums, .hand = job_sums, .stages = job_sums_stages},
    {&bench_running, .units = SERIAL_UNITS, .hand = job_running},
    {&bench_fourier, CHUNKED(512, 32768, 32768), .hand = job_fourier, .stages = job_fourier_stages},
    {&bench_bitonic, CHUNKED(8192, 2048, 2048), .hand = job_bitonic, .stages = job_bitonic_stages},
    {&bench_chain64, CHUNKED(2048, 4096, 4096), .hand = job_tiny, .stages = job_tiny_stages},
    {&bench_loop, .units = SERIAL_UNITS, .hand = job_loop},
    {&bench_cipher, CHUNKED(32768, 1024, 1024), .hand = job_cipher, .stages = job_cipher_stages},
};
