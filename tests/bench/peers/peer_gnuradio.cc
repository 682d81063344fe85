/*
 * peer_gnuradio: the workloads for which GNU Radio has stock blocks, as flow graphs of these, between
 * a block that brings the input from memory and one that puts the output there.
 *
 * A filter of GNU Radio begins as soon as it has one sample, with zeros before it, and a filter of
 * ours with the first full window: the source begins with zeros, so that decimation hits the same
 * samples, and the sink skips what comes before the first full window.  Sums are made in another
 * order and angles by a table, so only W1 and W7 have our bits.
 *
 * peer: GNU Radio, stock blocks (package gnuradio-dev)
 * packages: gnuradio-runtime gnuradio-blocks gnuradio-filter gnuradio-analog gnuradio-fft spdlog fmt
 */
#include "tests/bench/bench.h"
#include "tests/bench/peers/peer_taps.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include <gnuradio/analog/quadrature_demod_cf.h>
#include <gnuradio/blocks/add_blk.h>
#include <gnuradio/blocks/add_const_ff.h>
#include <gnuradio/blocks/multiply_const.h>
#include <gnuradio/fft/fft_v.h>
#include <gnuradio/filter/fir_filter_blk.h>
#include <gnuradio/filter/iir_filter_ffd.h>
#include <gnuradio/filter/interp_fir_filter.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/logger.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

namespace
{

/* For the latency: the source brings a batch of packets when the one before has brought a packet. */
class gate
{
    static constexpr size_t LATENCIES = 300;
    std::mutex d_lock;
    std::condition_variable d_changed;
    size_t d_batch, d_given = 0, d_taken = 0;
    double d_begin = 0;
    std::vector<double> d_seconds;

  public:
    explicit gate(size_t batch) : d_batch(batch)
    {
    }

    /* Gives how many packets may come now; 0: nobody wants more. */
    size_t wait()
    {
        std::unique_lock<std::mutex> held(d_lock);
        d_changed.wait(held, [this] { return d_given == d_taken; });
        if (d_seconds.size() == LATENCIES) return 0;
        d_given++;
        d_begin = bench_now();
        return d_batch;
    }

    /* False: that was the last one. */
    bool take()
    {
        double now = bench_now();
        std::lock_guard<std::mutex> held(d_lock);
        d_seconds.push_back(now - d_begin);
        d_taken++;
        d_changed.notify_one();
        return d_seconds.size() < LATENCIES;
    }

    double median()
    {
        std::sort(d_seconds.begin(), d_seconds.end());
        return d_seconds[d_seconds.size() / 2];
    }
};

/* Zeros, then the packets in memory, then zeros until nobody wants more. */
class memory_source : public gr::sync_block
{
    const uint8_t *d_bytes;
    size_t d_size, d_item, d_zeros, d_at = 0;
    gate *d_gate;

  public:
    memory_source(const uint8_t *bytes, size_t size, size_t item, size_t zeros, gate *latencies)
        : gr::sync_block("memory_source", gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, int(item))),
          d_bytes(bytes), d_size(size), d_item(item), d_zeros(zeros * item), d_gate(latencies)
    {
    }

    bool start() override
    {
        d_at = 0;
        return true;
    }

    int work(int items, gr_vector_const_void_star &, gr_vector_void_star &outputs) override
    {
        uint8_t *to = static_cast<uint8_t *>(outputs[0]);
        if (d_gate != nullptr) items = int(std::min(size_t(items), d_gate->wait()));
        if (items == 0) return WORK_DONE;
        size_t wanted = size_t(items) * d_item,
               zeros = d_at < d_zeros ? std::min(d_zeros - d_at, wanted) : 0;
        std::memset(to, 0, zeros);
        size_t from = d_at + zeros - d_zeros, left = from < d_size ? d_size - from : 0;
        size_t copied = std::min(wanted - zeros, left);
        std::memcpy(to + zeros, d_bytes + from, copied);
        std::memset(to + zeros + copied, 0, wanted - zeros - copied);
        d_at += wanted;
        return items;
    }
};

/* Skips some packets, then fills the memory, then is done, which ends the flow graph. */
class memory_sink : public gr::sync_block
{
    uint8_t *d_bytes;
    size_t d_size, d_item, d_skip, d_at = 0;
    gate *d_gate;

  public:
    memory_sink(uint8_t *bytes, size_t size, size_t item, size_t skip, gate *latencies)
        : gr::sync_block("memory_sink", gr::io_signature::make(1, 1, int(item)),
                         gr::io_signature::make(0, 0, 0)),
          d_bytes(bytes), d_size(size), d_item(item), d_skip(skip * item), d_gate(latencies)
    {
    }

    bool start() override
    {
        d_at = 0;
        return true;
    }

    int work(int items, gr_vector_const_void_star &inputs, gr_vector_void_star &) override
    {
        const uint8_t *from = static_cast<const uint8_t *>(inputs[0]);
        if (d_gate != nullptr && !d_gate->take()) return WORK_DONE;
        size_t came = size_t(items) * d_item,
               skipped = d_at < d_skip ? std::min(d_skip - d_at, came) : 0;
        size_t place = d_at + skipped - d_skip, room = place < d_size ? d_size - place : 0;
        std::memcpy(d_bytes + place, from + skipped, std::min(came - skipped, room));
        d_at += came;
        return d_at >= d_skip + d_size ? WORK_DONE : items;
    }
};

struct memory {
    const void *in;
    size_t in_bytes;
    void *out;
    size_t out_bytes;
    gate *latencies; /* NULL: they are not asked for */
};

gr::top_block_sptr top;

gr::basic_block_sptr source_of(const memory &m, size_t item, size_t zeros)
{
    return gnuradio::make_block_sptr<memory_source>(static_cast<const uint8_t *>(m.in), m.in_bytes,
                                                    item, zeros, m.latencies);
}

gr::basic_block_sptr sink_of(const memory &m, size_t item, size_t skip)
{
    return gnuradio::make_block_sptr<memory_sink>(static_cast<uint8_t *>(m.out), m.out_bytes, item,
                                                  skip, m.latencies);
}

void chain(const std::vector<gr::basic_block_sptr> &blocks)
{
    for (size_t i = 1; i < blocks.size(); i++)
        top->connect(blocks[i - 1], 0, blocks[i], 0);
}

/* A filter of ours multiplies the oldest sample with tap 0, theirs the newest. */
std::vector<float> turned(const float *taps)
{
    return std::vector<float>(std::reverse_iterator<const float *>(taps + PEER_TAPS),
                              std::reverse_iterator<const float *>(taps));
}

void connect_light(const memory &m)
{
    std::vector<gr::basic_block_sptr> blocks = {source_of(m, sizeof(float), 0)};
    for (int k = 0; k < 8; k++) {
        blocks.push_back(gr::blocks::multiply_const_ff::make(1 - 0.015625f * float(k)));
        blocks.push_back(gr::blocks::add_const_ff::make(0.125f * float(k + 1)));
    }
    blocks.push_back(sink_of(m, sizeof(float), 0));
    chain(blocks);
}

void connect_tiny(const memory &m)
{
    std::vector<gr::basic_block_sptr> blocks = {source_of(m, sizeof(float), 0)};
    for (int k = 0; k < 64; k++)
        blocks.push_back(gr::blocks::add_const_ff::make(0.015625f * float(k + 1)));
    blocks.push_back(sink_of(m, sizeof(float), 0));
    chain(blocks);
}

/* The first full window of the low-pass filter ends at packet 63, which has to be a multiple of 4
 * after the zeros, and that of a band at packet 16 j + 63 of the slower stream.  With 5 zeros these
 * are the packets 17 + 63 and 80; 5 of each band come before, and then 5 * 16 + 63 of the sum. */
void connect_bank(const memory &m)
{
    constexpr size_t zeros = 5, junk = 5 * PEER_BANK + PEER_TAPS - 1;
    struct peer_bank bank;
    peer_bank_taps(&bank);
    auto low = gr::filter::fir_filter_fff::make(4, turned(bank.low));
    auto sum = gr::blocks::add_ff::make();
    chain({source_of(m, sizeof(float), zeros), low});
    for (int b = 0; b < PEER_BANK; b++) {
        auto sampled = gr::filter::fir_filter_fff::make(PEER_BANK, turned(bank.band[b]));
        auto band = gr::filter::interp_fir_filter_fff::make(PEER_BANK, turned(bank.band[b]));
        chain({low, sampled, band});
        top->connect(band, 0, sum, b);
    }
    chain({sum, sink_of(m, sizeof(float), junk)});
}

/* One zero: the first full window of the channel's filter ends at 64, after 16 others.  The angle
 * wants one more, and the bands 63. */
void connect_radio(const memory &m)
{
    constexpr size_t zeros = 1, junk = 16 + 1 + PEER_TAPS - 1;
    struct peer_radio radio;
    peer_radio_taps(&radio);
    auto sound = gr::analog::quadrature_demod_cf::make(0.5f);
    auto sum = gr::blocks::add_ff::make();
    chain({source_of(m, 2 * sizeof(float), zeros),
           gr::filter::fir_filter_ccf::make(4, turned(radio.channel)), sound});
    for (int b = 0; b < PEER_BANDS; b++) {
        auto loud = gr::blocks::multiply_const_ff::make(radio.gain[b]);
        chain({sound, gr::filter::fir_filter_fff::make(1, turned(radio.band[b])), loud});
        top->connect(loud, 0, sum, b);
    }
    chain({sum, sink_of(m, sizeof(float), junk)});
}

void connect_fourier(const memory &m)
{
    constexpr int points = 256;
    constexpr size_t item = points * 2 * sizeof(float);
    chain({source_of(m, item, 0),
           gr::fft::fft_v<gr_complex, true>::make(points, std::vector<float>(), false),
           sink_of(m, item, 0)});
}

void connect_loop(const memory &m)
{
    chain({source_of(m, sizeof(float), 0), gr::filter::iir_filter_ffd::make({1}, {1, 0.75}),
           sink_of(m, sizeof(float), 0)});
}

template <void (*CONNECT)(const memory &)>
const char *begin(size_t, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    gr::logging::singleton().set_default_level(spdlog::level::err);
    top = gr::make_top_block("bench");
    CONNECT(memory{in, in_bytes, out, out_bytes, nullptr});
    return nullptr;
}

void run()
{
    top->run();
}

void end()
{
    top.reset();
}

/* `batch` packets bring one. */
template <void (*CONNECT)(const memory &), size_t BATCH>
double latency(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    gate latencies(BATCH);
    gr::logging::singleton().set_default_level(spdlog::level::err);
    top = gr::make_top_block("bench");
    CONNECT(memory{in, in_bytes, out, out_bytes, &latencies});
    run();
    end();
    return latencies.median();
}

template <void (*CONNECT)(const memory &)>
void add(const char *workload, bool same_bits, decltype(bench_peer::latency) latency = nullptr)
{
    /* Peers are there until the program ends. */
    bench_peer_register(new bench_peer{"GNU Radio", workload, same_bits, begin<CONNECT>, run, end,
                                       latency, nullptr, nullptr});
}

[[gnu::constructor]] void register_all()
{
    add<connect_light>("W1", true);
    add<connect_bank>("W2", false);
    add<connect_radio>("W3", false, latency<connect_radio, 4>);
    add<connect_fourier>("W6", false);
    add<connect_tiny>("W7", true);
    add<connect_loop>("W8", false);
    /* W7/1, of which it has the latency alone. */
    bench_peer_register(new bench_peer{"GNU Radio", "W7/1", true, nullptr, nullptr, nullptr,
                                       latency<connect_tiny, 1>, nullptr,
                                       nullptr});
}

} // namespace
