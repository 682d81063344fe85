/*
 * peer_tbb: the workloads as oneTBB's parallel_pipeline, a filter for each kernel.
 *
 * A token is a block of the stream, small enough that what lies between two filters stays in the
 * second-level cache; filters are parallel where kernels have no state.  A block reads from the
 * input what windows reach beyond it, so it waits for no other block.
 *
 * peer: oneTBB, parallel_pipeline (package libtbb-dev)
 * packages: tbb
 */
#include "tests/bench/bench.h"
#include "tests/bench/peers/peer_stages.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

namespace
{

/* Tokens that are alive at a time; one where the latency is measured. */
constexpr size_t TOKENS_LEAST = 8, TOKENS_OF_THREAD = 4;
constexpr size_t LATENCIES = 4000;

struct block {
    size_t at, count; /* in the unit of the workload */
    size_t kept;      /* W2: samples of each band; W5: packets */
    double begun;     /* of bench_now */
    uint8_t *scratch[2];

    float *floats(size_t which)
    {
        return reinterpret_cast<float *>(scratch[which]);
    }
    uint32_t *words(size_t which)
    {
        return reinterpret_cast<uint32_t *>(scratch[which]);
    }
};

struct stage {
    tbb::filter_mode mode;
    std::function<void(block &)> work;
};

struct pipeline {
    const uint8_t *in;
    uint8_t *out;
    size_t total, share; /* blocks have `share` of `total` */
    size_t next, order;
    std::vector<stage> stages;
    std::vector<block> blocks; /* one for each token */
    size_t scratch_bytes;      /* of each buffer of a block */
    std::vector<float> held; /* W5: kept, and too few for a group */
    size_t written;          /* W5 */
    float state;
    std::vector<double> *latencies; /* NULL: they are not asked for */

    const float *in_floats() const
    {
        return reinterpret_cast<const float *>(in);
    }
    float *out_floats() const
    {
        return reinterpret_cast<float *>(out);
    }
};

pipeline the;

void parallel(std::function<void(block &)> work)
{
    the.stages.push_back({tbb::filter_mode::parallel, std::move(work)});
}

void serial(std::function<void(block &)> work)
{
    the.stages.push_back({tbb::filter_mode::serial_in_order, std::move(work)});
}

constexpr size_t line = 64;

size_t tokens_of(size_t threads)
{
    return std::max(TOKENS_LEAST, TOKENS_OF_THREAD * threads);
}

size_t tokens = tokens_of(std::thread::hardware_concurrency());

void add_blocks()
{
    while (the.blocks.size() < tokens) {
        the.blocks.push_back(block{});
        for (uint8_t *&s : the.blocks.back().scratch) {
            s = static_cast<uint8_t *>(std::aligned_alloc(line, the.scratch_bytes));
            if (s == nullptr) throw std::bad_alloc();
        }
    }
}

/* A pipeline over `total`, in blocks of `share` that have two buffers of so many bytes. */
void make(const void *in, void *out, size_t total, size_t share, size_t scratch_bytes)
{
    the = pipeline{};
    the.in = static_cast<const uint8_t *>(in);
    the.out = static_cast<uint8_t *>(out);
    the.total = total;
    the.share = share;
    the.scratch_bytes = (scratch_bytes + line) / line * line;
    add_blocks();
}

/* The last filter is in order, so the blocks alive follow each other, and each has its own scratch. */
block *begin_block(tbb::flow_control &control)
{
    if (the.next == the.total) {
        control.stop();
        return nullptr;
    }
    block *b = &the.blocks[the.order++ % the.blocks.size()];
    b->at = the.next;
    b->count = the.total - the.next < the.share ? the.total - the.next : the.share;
    the.next += b->count;
    if (the.latencies != nullptr) b->begun = bench_now();
    return b;
}

void end_block(block *b)
{
    if (the.latencies != nullptr) the.latencies->push_back(bench_now() - b->begun);
}

void run_tokens(size_t tokens)
{
    the.next = the.order = the.written = 0;
    the.held.clear();
    the.state = 0;
    tbb::filter<void, block *> all = tbb::make_filter<void, block *>(
        tbb::filter_mode::serial_in_order,
        [](tbb::flow_control &control) { return begin_block(control); });
    for (const stage &s : the.stages)
        all &= tbb::make_filter<block *, block *>(s.mode, [&s](block *b) {
            s.work(*b);
            return b;
        });
    tbb::parallel_pipeline(tokens,
                           all & tbb::make_filter<block *, void>(tbb::filter_mode::serial_in_order,
                                                                 [](block *b) { end_block(b); }));
}

void run()
{
    run_tokens(tokens);
}

void limit_threads(unsigned threads)
{
    static std::unique_ptr<tbb::global_control> limit;
    limit.reset();
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  threads);
    tokens = tokens_of(threads);
    add_blocks();
}

void end()
{
    for (block &b : the.blocks)
        for (uint8_t *s : b.scratch)
            std::free(s);
    the = pipeline{};
}

/* Stage k of `count` in a chain: reads the input or what the one before it left, and writes the
 * output at the end.  `bytes` of a unit. */
const uint8_t *from_of(block &b, size_t k, size_t bytes)
{
    return k == 0 ? the.in + b.at * bytes : b.scratch[(k - 1) % 2];
}

uint8_t *to_of(block &b, size_t k, size_t count, size_t bytes)
{
    return k == count - 1 ? the.out + b.at * bytes : b.scratch[k % 2];
}

/* A chain of kernels that read and write the same number of floats; `of`: floats of a unit. */
using float_stage = std::function<void(const float *x, float *y, size_t n)>;

void chain(const std::vector<float_stage> &stages, size_t of)
{
    for (size_t k = 0; k < stages.size(); k++)
        parallel(
            [work = stages[k], k, count = stages.size(), bytes = of * sizeof(float)](block &b) {
                work(reinterpret_cast<const float *>(from_of(b, k, bytes)),
                     reinterpret_cast<float *>(to_of(b, k, count, bytes)), b.count);
            });
}

/* ---- W1, W7, W8 ---- */

constexpr size_t LIGHT_BLOCK = 4096;

const char *begin_light(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    make(in, out, out_bytes / sizeof(float), LIGHT_BLOCK, LIGHT_BLOCK * sizeof(float));
    std::vector<float_stage> stages;
    for (int k = 0; k < 8; k++)
        stages.push_back([a = 1 - 0.015625f * float(k), b = 0.125f * float(k + 1)](
                             const float *x, float *y, size_t n) { peer_affine(x, y, n, a, b); });
    chain(stages, 1);
    return nullptr;
}

void make_tiny(const void *in, void *out, size_t out_bytes, size_t share)
{
    make(in, out, out_bytes / sizeof(float), share, share * sizeof(float));
    std::vector<float_stage> stages;
    for (int k = 0; k < 64; k++)
        stages.push_back([c = 0.015625f * float(k + 1)](const float *x, float *y, size_t n) {
            peer_add(x, y, n, c);
        });
    chain(stages, 1);
}

const char *begin_tiny(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    make_tiny(in, out, out_bytes, 4096);
    return nullptr;
}

const char *begin_tiny_by_64(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    make_tiny(in, out, out_bytes, 64);
    return nullptr;
}

const char *begin_tiny_by_1(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    make_tiny(in, out, out_bytes, 1);
    return nullptr;
}

/* There are no cycles of filters: the loop is the state of one, which is serial. */
const char *begin_loop(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    make(in, out, out_bytes / sizeof(float), LIGHT_BLOCK, 0);
    serial([](block &b) {
        peer_iir(the.in_floats() + b.at, the.out_floats() + b.at, b.count, &the.state);
    });
    return nullptr;
}

/* ---- W2: units of one packet of each band ---- */

constexpr size_t BANK_BLOCK = 128,
                 BANK_MORE = 4 /* that the last filters reach beyond their block */;

struct peer_bank bank;

/* Of a stream of so many outputs: samples of a band that it is made of. */
size_t samples_of(size_t outputs)
{
    return (outputs + PEER_TAPS - 1) / PEER_BANK;
}

const char *begin_bank(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    constexpr size_t stride = BANK_BLOCK + BANK_MORE;
    size_t outputs = out_bytes / sizeof(float);
    peer_bank_taps(&bank);
    make(in, out, (outputs + PEER_BANK - 1) / PEER_BANK, BANK_BLOCK,
         (stride * PEER_BANK + PEER_TAPS) * PEER_BANK * sizeof(float));
    parallel([outputs](block &b) {
        b.kept = std::min(b.count + BANK_MORE, samples_of(outputs) - b.at);
        peer_fir<4, 1>(the.in_floats() + b.at * 4 * PEER_BANK, b.floats(0),
                       (b.kept - 1) * PEER_BANK + PEER_TAPS, bank.low);
    });
    parallel([](block &b) {
        for (size_t band = 0; band < PEER_BANK; band++)
            peer_fir<PEER_BANK, 1>(b.floats(0), b.floats(1) + band * stride, b.kept,
                                   bank.band[band]);
    });
    parallel([](block &b) {
        for (size_t band = 0; band < PEER_BANK; band++)
            peer_fir_stuffed(b.floats(1) + band * stride, b.floats(0) + band * b.count * PEER_BANK,
                             b.count, bank.band[band]);
    });
    parallel([outputs](block &b) {
        size_t first = b.at * PEER_BANK;
        peer_sum(b.floats(0), b.count * PEER_BANK, PEER_BANK, the.out_floats() + first,
                 std::min(b.count * PEER_BANK, outputs - first));
    });
    return nullptr;
}

/* ---- W3: units of one packet of audio ---- */

constexpr size_t RADIO_BLOCK = 1024, RADIO_STRIDE = RADIO_BLOCK + PEER_TAPS;

struct peer_radio radio;

const char *begin_radio(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    peer_radio_taps(&radio);
    make(in, out, out_bytes / sizeof(float), RADIO_BLOCK,
         RADIO_STRIDE * PEER_BANDS * sizeof(float));
    parallel([](block &b) {
        const float *rf = the.in_floats() + b.at * 8;
        peer_fir<8, 2>(rf, b.floats(0), b.count + PEER_TAPS, radio.channel);
        peer_fir<8, 2>(rf + 1, b.floats(0) + RADIO_STRIDE, b.count + PEER_TAPS, radio.channel);
    });
    parallel([](block &b) {
        peer_demodulate(b.floats(0), b.floats(0) + RADIO_STRIDE, b.floats(1),
                        b.count + PEER_TAPS - 1, 0.5f);
    });
    parallel([](block &b) {
        for (size_t band = 0; band < PEER_BANDS; band++)
            peer_fir<1, 1>(b.floats(1), b.floats(0) + band * RADIO_STRIDE, b.count,
                           radio.band[band]);
    });
    parallel([](block &b) {
        for (size_t band = 0; band < PEER_BANDS; band++)
            peer_gain(b.floats(0) + band * RADIO_STRIDE, b.count, radio.gain[band]);
    });
    parallel([](block &b) {
        peer_sum(b.floats(0), RADIO_STRIDE, PEER_BANDS, the.out_floats() + b.at, b.count);
    });
    return nullptr;
}

/* The same with one packet in a block: histories are kept, so the filters are serial. */
struct {
    float re[2], im[2], sound[PEER_TAPS], bands[PEER_BANDS];
} heard;

const char *begin_radio_by_1(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    peer_radio_taps(&radio);
    make(in, out, out_bytes / sizeof(float), 1, 0);
    serial([](block &b) {
        const float *rf = the.in_floats() + (b.at + PEER_TAPS) * 8;
        heard.re[0] = heard.re[1];
        heard.im[0] = heard.im[1];
        peer_fir<8, 2>(rf, heard.re + 1, 1, radio.channel);
        peer_fir<8, 2>(rf + 1, heard.im + 1, 1, radio.channel);
    });
    serial([](block &) {
        memmove(heard.sound, heard.sound + 1, sizeof heard.sound - sizeof *heard.sound);
        peer_demodulate(heard.re, heard.im, heard.sound + PEER_TAPS - 1, 1, 0.5f);
    });
    serial([](block &) {
        for (size_t band = 0; band < PEER_BANDS; band++)
            peer_fir<1, 1>(heard.sound, heard.bands + band, 1, radio.band[band]);
    });
    serial([](block &) {
        for (size_t band = 0; band < PEER_BANDS; band++)
            peer_gain(heard.bands + band, 1, radio.gain[band]);
    });
    serial([](block &b) { peer_sum(heard.bands, 1, PEER_BANDS, the.out_floats() + b.at, 1); });
    return nullptr;
}

/* ---- W4: units of one row ---- */

constexpr size_t PICTURE_BLOCK = 30; /* divides PEER_HEIGHT: no block has rows of two pictures */

/* Works on the rows of a block and `more` before and after it, as far as the picture has them.
 * `row_of` gives row r of the picture as the stage before left it. */
template <class FROM, class WORK>
void rows_of(block &b, size_t more, size_t to, FROM row_of, WORK work)
{
    size_t first = b.at % PEER_HEIGHT;
    size_t begin = first < more ? 0 : first - more;
    size_t end = first + b.count + more < PEER_HEIGHT ? first + b.count + more : PEER_HEIGHT;
    for (size_t r = begin; r < end; r++) {
        peer_rows rows = {row_of(r > 0 ? r - 1 : 0), row_of(r),
                          row_of(r + 1 < PEER_HEIGHT ? r + 1 : r)};
        work(&rows, b.scratch[to] + (r + 2 - first) * PEER_WIDTH);
    }
}

const char *begin_picture(size_t, const void *in, size_t, void *out, size_t out_bytes)
{
    make(in, out, out_bytes / PEER_WIDTH, PICTURE_BLOCK, (PICTURE_BLOCK + 4) * PEER_WIDTH);
    parallel([](block &b) {
        const uint8_t *picture = the.in + b.at / PEER_HEIGHT * PEER_HEIGHT * PEER_WIDTH;
        rows_of(b, 1, 0, [=](size_t r) { return picture + r * PEER_WIDTH; }, peer_box);
    });
    parallel([](block &b) {
        const uint8_t *rows = b.scratch[0];
        size_t first = b.at % PEER_HEIGHT;
        rows_of(b, 0, 1, [=](size_t r) { return rows + (r + 2 - first) * PEER_WIDTH; }, peer_sobel);
    });
    parallel([](block &b) {
        peer_threshold(b.scratch[1] + 2 * PEER_WIDTH, the.out + b.at * PEER_WIDTH,
                       b.count * PEER_WIDTH);
    });
    return nullptr;
}

/* ---- W5: units of one packet of the input ---- */

constexpr size_t KEEP_BLOCK = 8192, KEPT = PEER_GROUP / 3;

void keep_stages()
{
    parallel(
        [](block &b) { b.kept = peer_keep(the.in_floats() + b.at, b.floats(0), b.count, 0.4f); });
}

const char *begin_sums(size_t, const void *in, size_t in_bytes, void *out, size_t)
{
    make(in, out, in_bytes / sizeof(float), KEEP_BLOCK, (KEEP_BLOCK + KEPT) * 3 * sizeof(float));
    keep_stages();
    serial([](block &b) { /* whole groups; the rest is held for the next block */
                          std::vector<float> &held = the.held;
                          size_t all = held.size() + b.kept, whole = all / KEPT * KEPT;
                          if (whole == 0) {
                              held.insert(held.end(), b.floats(0), b.floats(0) + b.kept);
                          } else {
                              size_t used = whole - held.size();
                              memcpy(b.floats(1), held.data(), held.size() * sizeof(float));
                              memcpy(b.floats(1) + held.size(), b.floats(0), used * sizeof(float));
                              held.assign(b.floats(0) + used, b.floats(0) + b.kept);
                          }
                          b.at = the.written;
                          b.count = whole / KEPT;
                          the.written += b.count;
    });
    parallel([](block &b) { peer_expand(b.floats(1), b.floats(0), b.count * KEPT); });
    parallel([](block &b) { peer_reduce(b.floats(0), the.out_floats() + b.at, b.count); });
    return nullptr;
}

const char *begin_running(size_t, const void *in, size_t in_bytes, void *out, size_t)
{
    make(in, out, in_bytes / sizeof(float), KEEP_BLOCK, (KEEP_BLOCK + KEPT) * 3 * sizeof(float));
    keep_stages();
    parallel([](block &b) { peer_expand(b.floats(0), b.floats(1), b.kept); });
    serial([](block &b) {
        peer_scan(b.floats(1), the.out_floats() + the.written, 3 * b.kept, &the.state);
        the.written += 3 * b.kept;
    });
    return nullptr;
}

/* ---- W6: units of one block ---- */

constexpr size_t FOURIER_BLOCK = 16, BITONIC_BLOCK = 128;

struct peer_roots roots;

template <size_t HALF> void butterflies(const float *x, float *y, size_t n)
{
    peer_butterflies<HALF>(x, y, n, &roots);
}

const char *begin_fourier(size_t, const void *in, size_t in_bytes, void *out, size_t)
{
    constexpr size_t floats = 2 * PEER_POINTS;
    peer_roots_fill(&roots);
    make(in, out, in_bytes / (floats * sizeof(float)), FOURIER_BLOCK,
         FOURIER_BLOCK * floats * sizeof(float));
    chain({peer_reverse, butterflies<1>, butterflies<2>, butterflies<4>, butterflies<8>,
           butterflies<16>, butterflies<32>, butterflies<64>, butterflies<128>},
          floats);
    return nullptr;
}

const char *begin_bitonic(size_t, const void *in, size_t in_bytes, void *out, size_t)
{
    constexpr size_t bytes = PEER_SORTED * sizeof(float);
    make(in, out, in_bytes / bytes, BITONIC_BLOCK, BITONIC_BLOCK * bytes);
    chain({peer_compare<2, 1>, peer_compare<4, 2>, peer_compare<4, 1>, peer_compare<8, 4>,
           peer_compare<8, 2>, peer_compare<8, 1>, peer_compare<16, 8>, peer_compare<16, 4>,
           peer_compare<16, 2>, peer_compare<16, 1>, peer_compare<32, 16>, peer_compare<32, 8>,
           peer_compare<32, 4>, peer_compare<32, 2>, peer_compare<32, 1>},
          PEER_SORTED);
    return nullptr;
}

/* ---- W9: units of one block of 64 bytes ---- */

constexpr size_t CIPHER_BLOCK = 128, CIPHER_BYTES = 64, CIPHER_ROUNDS = 10;

const char *begin_cipher(size_t, const void *in, size_t in_bytes, void *out, size_t)
{
    make(in, out, in_bytes / CIPHER_BYTES, CIPHER_BLOCK, CIPHER_BLOCK * CIPHER_BYTES);
    parallel([](block &b) { peer_blocks(b.words(0), b.at, b.count); });
    for (size_t round = 0; round < CIPHER_ROUNDS; round++)
        parallel([round](block &b) {
            peer_round(b.words(round % 2), b.words((round + 1) % 2), b.count);
        });
    parallel([](block &b) {
        peer_blocks(b.words(1), b.at, b.count);
        peer_sum_words(b.words(0), b.words(1), b.count * CIPHER_BYTES / sizeof(uint32_t));
    });
    parallel([](block &b) {
        peer_mask(the.in + b.at * CIPHER_BYTES, b.scratch[0], the.out + b.at * CIPHER_BYTES,
                  b.count * CIPHER_BYTES);
    });
    return nullptr;
}

using begin_function = const char *(*)(size_t, const void *, size_t, void *, size_t);

/* The median, of blocks that come one at a time. */
template <begin_function BEGIN>
double latency(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    std::vector<double> seconds;
    BEGIN(0, in, in_bytes, out, out_bytes);
    the.total = std::min(the.total, LATENCIES);
    the.latencies = &seconds;
    run_tokens(1);
    end();
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
}

void add(const char *workload, begin_function begin,
         decltype(bench_peer::latency) latency = nullptr)
{
    /* Peers are there until the program ends. */
    bench_peer_register(
        new bench_peer{"oneTBB", workload, true, begin, run, end, latency, limit_threads, nullptr});
}

[[gnu::constructor]] void register_all()
{
    add("W1", begin_light);
    add("W2", begin_bank);
    add("W3", begin_radio, latency<begin_radio_by_1>);
    add("W4", begin_picture);
    add("W5", begin_sums);
    add("W5/run", begin_running);
    add("W6", begin_fourier);
    add("W6/sort", begin_bitonic);
    add("W7", begin_tiny);
    add("W7/64", begin_tiny_by_64);
    add("W7/1", begin_tiny_by_1, latency<begin_tiny_by_1>);
    add("W8", begin_loop);
    add("W9", begin_cipher);
}

} // namespace
