/*
 * bench: what the programs of `make bench` share.
 *
 * A workload is one pipeline and C written by hand that computes the same bits.  The hand-written
 * code is what somebody would write who knows the machine: fused, vectorised, in strips that stay
 * in the first-level cache; `part` of `parts` is what one thread does.  The unfused code goes
 * kernel by kernel over whole buffers, on one thread.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_UNFUSED_MAX = 12 }; /* buffers for the unfused code */

enum bench_bound { BENCH_FLOATS, BENCH_INTEGERS, BENCH_LATENCY };

struct bench_workload {
    const char *name, *container;
    size_t packets; /* of the in-port: what rates are given for */
    size_t in_bytes, out_bytes;
    double operations; /* floating point: an fma is two; integers: of one lane each */
    enum bench_bound bound;
    bool serial; /* no second thread can help */
    void (*prepare)(void *in);
    void (*hand)(const void *in, void *out, unsigned part, unsigned parts);
    void (*unfused)(const void *in, void *out);
};

extern const struct bench_workload bench_chain8, bench_chain1, bench_fir4, bench_radio,
    bench_chain64, bench_loop, bench_loop1, bench_cipher;

/* ---- time and memory ---- */

double bench_now(void);
/* Of the calling thread: as bench_now, but stands still while others have the processor. */
double bench_processor_now(void);
/* Zeroed, in huge pages where the system has them; ends the program where there is no memory. */
void *bench_allocate(size_t bytes);
void bench_free(void *memory, size_t bytes);
/* Packets in [-1, 1), always the same. */
void bench_noise(float *to, size_t count);

/* ---- the machine's limits ---- */

struct bench_limits { /* [0]: one thread, [1]: two */
    double
        copy_bytes[2]; /* read and written, a second; the larger of plain and non-temporal stores */
    double float_operations[2];   /* f32 a second, an fma is two */
    double integer_operations[2]; /* u32 additions a second */
    double step_seconds;          /* an addition and a product, each waiting for the other */
};

/* Measures once more and keeps the best of each. */
void bench_measure_limits(struct bench_limits *limits);

/* Calls work(context, part, 2) on two threads at once. */
void bench_two_threads(void (*work)(void *context, unsigned part, unsigned parts), void *context);

/* ---- our pipelines ---- */

struct bench_program;

struct bench_counts {
    uint64_t dispatches, firings;
    uint32_t stages;
};

/* Ends the program with a message where something fails. */
struct bench_program *bench_load(const char *container);
void bench_unload(struct bench_program *program);
/* One run from the beginning to the end of the stream.  `device` NULL: the simulated GPU; "null":
 * no kernel is executed.  `counts` may be NULL. */
void bench_run(const struct bench_program *program, const char *device, uint32_t threads,
               const void *in, size_t in_bytes, void *out, size_t out_bytes,
               struct bench_counts *counts);

#endif
