/* SPDX-License-Identifier: MIT */
/*
 * bench: what the programs of `make bench` share.
 *
 * A workload is one pipeline (tests/bench/pipes) and C written by hand that computes the same bits.
 * The hand-written code is an expert's code for the machine: fused, vectorised, in
 * strips that stay in the first-level cache.  The unfused code goes kernel by kernel over whole
 * buffers, on one thread.  A peer (tests/bench/peers) is a library that could be used instead of
 * pipec: it registers itself before main, and is built where its package is installed.
 *
 * Sizes are in units of a workload: what one part may work on by itself, and every part gets whole
 * units.  A stream of n units has `shape(n)`.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bench_bound { BENCH_FLOATS, BENCH_INTEGERS, BENCH_SERIAL };

struct bench_shape {
    size_t packets; /* of the in-port: what rates are given for */
    size_t in_bytes;
    size_t out_bytes; /* the maximum, if the data decide */
    /* That have to be executed one way or the other, of one lane each: BENCH_FLOATS: f32, an fma is
     * two; BENCH_INTEGERS: u32; BENCH_SERIAL: an addition and a product, each waiting for the one
     * before it. */
    double operations;
};

struct bench_workload {
    const char *name;      /* begins with a word that no other workload has: "W2 filter bank" */
    const char *container; /* file name, of the pipeline */
    size_t units;          /* of the benchmark */
    size_t check_units;    /* of the comparison of bits: a fraction of a second everywhere */
    enum bench_bound bound;
    bool serial;  /* no second thread can help: there is no hand-written code for two */
    bool extra;   /* explains another row, and has no goal */
    bool program; /* measured by the part "programs", and by its own name, only */
    bool near;    /* by hand other arithmetic: f32 packets that are near to ours, no more */
    double goal;  /* ours is at most so many times as slow as the hand-written code */
    size_t batch; /* packets that the host gives at a time, by a call; 0: they lie in memory */
    struct bench_shape (*shape)(size_t units);
    void (*prepare)(size_t units, void *in);
    /* Executes part `part` of `parts`; all parts run at once, each in a thread.  Returns
     * the end of its output, in bytes; the last of all ends is that of the stream.  NULL: there is no
     * hand-written code; bench_cores.c allows this. */
    size_t (*hand)(size_t units, const void *in, void *out, unsigned part, unsigned parts);
    void (*unfused)(size_t units, const void *in, void *out); /* NULL: there is none */
    /* For the latency, NULL: it has no such row.  `one` gets the next `one_in` packets of a stream
     * and gives how many came out, 1 once its history is full; NULL forgets the history. */
    size_t (*one)(const void *in, void *out);
    size_t one_in;
};

extern const struct bench_workload bench_chain8, bench_chain1, bench_bank, bench_radio,
    bench_radio_fast, bench_picture, bench_sums, bench_running, bench_fourier, bench_bitonic,
    bench_chain64, bench_chain64_by_4096, bench_chain64_by_64, bench_chain64_by_1, bench_loop,
    bench_loop1, bench_cipher, bench_graph60, bench_graph200, bench_graph500, bench_products,
    bench_transforms, bench_chains12, bench_lattice, bench_correlate, bench_fourier16,
    bench_matrices, bench_round, bench_recursive;

/* ---- peers ---- */

struct bench_peer {
    const char *name;     /* "oneTBB parallel_pipeline": rows are called so */
    const char *workload; /* first word of its name: "W1" */
    bool same_bits;       /* false: other arithmetic; a row of its own that no goal counts */
    /* Makes ready to work on these; NULL: it is; else why it cannot ("no OpenCL device").  The
     * memory is that of the workload and stays until `end`. */
    const char *(*begin)(size_t units, const void *in, size_t in_bytes, void *out,
                         size_t out_bytes);
    void (*run)(
        void); /* from all of `in` to all of `out`, with as many threads as there are CPUs */
    void (*end)(void); /* NULL: nothing to be done */
    /* From giving the packets that one needs to getting it, one after the other: the median in
     * seconds; 0: it cannot.  By itself, neither before nor after it `begin`.  NULL: it is not
     * measured; where it is all that is measured, the three above are NULL. */
    double (*latency)(const void *in, size_t in_bytes, void *out, size_t out_bytes);
    /* So many threads for each `run` from now on.  NULL: the peer decides. */
    void (*limit_threads)(unsigned threads);
    struct bench_peer *next; /* of bench_peer_register */
};

/* Called by a constructor (`__attribute__((constructor))`) of the file that defines the peer, for
 * each workload that it does; keeps the pointer. */
void bench_peer_register(struct bench_peer *peer);
/* The first one of a workload after `after`, or with NULL the first; NULL: there is no other. */
const struct bench_peer *bench_peer_of(const struct bench_workload *workload,
                                       const struct bench_peer *after);

/* ---- time and memory ---- */

double bench_now(void);
/* Of all threads of this process together: as bench_now for one thread, but stopped while
 * others have the processor. */
double bench_processor_now(void);
/* Zeroed, in huge pages where the system has them, 4 KiB may be read past its end; ends the program
 * where there is no memory. */
void *bench_allocate(size_t bytes);
/* The same, not yet touched: each page comes to be where it is written first. */
void *bench_reserve(size_t bytes);
void bench_free(void *memory, size_t bytes);
/* Packets in [-1, 1), always the same. */
void bench_noise(float *to, size_t count);
/* For the code that is not fused: one of six buffers of at least so many bytes, kept from call to
 * call; what is in it is whatever was there. */
void *bench_spare(unsigned number, size_t bytes);
/* Frees all of them. */
void bench_spare_free(void);

/* ---- two threads ---- */

/* Calls work(context, part, 2) on two threads at once: the second one waits for it by spinning
 * after a while of sleep, which is not counted (call bench_two_threads_ready before the clock). */
void bench_two_threads(void (*work)(void *context, unsigned part, unsigned parts), void *context);
void bench_two_threads_ready(void);
/* From both parts: goes on when both have come here, and what each did before is seen by both. */
void bench_meet(unsigned parts);

/* ---- the machine's limits ---- */

struct bench_limits { /* [0]: one thread, [1]: two */
    double
        bytes[2]; /* read and written, a second: the maximum of reading, copying, copying past the
                        caches */
    double float_operations[2];   /* f32 a second, an fma is two */
    double integer_operations[2]; /* u32 additions a second */
    double step_seconds;          /* an addition and a product, each waiting for the other */
};

/* Measures once more and keeps the best of each. */
void bench_measure_limits(struct bench_limits *limits);

/* ---- our pipelines ---- */

struct bench_program;

struct bench_counts {
    uint64_t dispatches, firings;
    uint32_t stages;
};

/* Ends the program with a message where something fails. */
struct bench_program *bench_load(const char *container);
void bench_unload(struct bench_program *program);
/* One run from the beginning to the end of the stream; returns the number of output bytes.  Each in-port has
 * an equal part of `in`, and each out-port of `out`, in their order.  `device` NULL: the one the container was compiled for; "null": no kernel is executed.  `batch`: the maximum of
 * packets that the host gives at a time, by a callback; 0: they are read where they lie.  `counts`
 * may be NULL. */
size_t bench_run(const struct bench_program *program, const char *device, uint32_t threads,
                 size_t batch, const void *in, size_t in_bytes, void *out, size_t out_bytes,
                 struct bench_counts *counts);
/* The same on a device whose cycles are nanoseconds, with one thread, measured: the seconds in which stages were busy, of those
 * whose kernel counts. */
double bench_run_busy(const struct bench_program *program, const char *device, const void *in,
                      size_t in_bytes, void *out, size_t out_bytes,
                      bool (*counts)(const char *kernel));
/* The runs of the program that follow have this `depth_factor` (pipert.h; default 0). */
void bench_set_depths(struct bench_program *program, uint32_t factor);
/* One run with one thread over `bytes` bytes: the host gives `in` again and again, and takes what
 * comes out to `out` as often; both have ring_bytes. */
void bench_run_long(const struct bench_program *program, size_t bytes, const void *in, void *out,
                    size_t ring_bytes);
/* A run with one thread of which the host gives `batch` packets at a time, and gets one for
 * them before it gives more: the mean of the times in between, in seconds. */
double bench_latency(const struct bench_program *program, size_t batch, const void *in,
                     size_t in_bytes, void *out, size_t out_bytes);

#ifdef __cplusplus
}
#endif

#endif
