/* Time, memory, and what the machine can do at most. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_processor_now(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

#define HUGE_PAGE ((size_t)2 << 20)

static size_t whole_pages(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *bench_allocate(size_t bytes)
{
    void *memory =
        mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bench: mmap");
        exit(3);
    }
    madvise(memory, whole_pages(bytes), MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)memory)[i] = 0;
    return memory;
}

void bench_free(void *memory, size_t bytes)
{
    munmap(memory, whole_pages(bytes));
}

void bench_noise(float *to, size_t count)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < count; i++) {
        x = x * 1664525 + 1013904223;
        to[i] = (float)(x >> 8) * 0x1p-23f - 1;
    }
}

/* ---- two threads ---- */

struct half {
    void (*work)(void *context, unsigned part, unsigned parts);
    void *context;
};

static void *second_half(void *argument)
{
    const struct half *half = argument;
    half->work(half->context, 1, 2);
    return NULL;
}

void bench_two_threads(void (*work)(void *context, unsigned part, unsigned parts), void *context)
{
    struct half half = {work, context};
    pthread_t thread;
    if (pthread_create(&thread, NULL, second_half, &half) != 0) {
        perror("bench: pthread_create");
        exit(3);
    }
    work(context, 0, 2);
    pthread_join(thread, NULL);
}

/* ---- limits ---- */

enum { CHAINS = 12 /* hide the latency */, TRIES = 4 };

#define COPY_FLOATS ((size_t)16 << 20) /* each of the two beyond the caches */
#define FLOAT_STEPS ((size_t)1000000)
#define INTEGER_STEPS ((size_t)1000000)
#define SERIAL_STEPS ((size_t)1 << 20)

struct copy {
    const float *from;
    float *to;
    bool past_caches;
};

static void copy_part(void *context, unsigned part, unsigned parts)
{
    const struct copy *copy = context;
    size_t share = COPY_FLOATS / parts, first = share * part;
    for (size_t i = first; i < first + share; i += 32) {
        __m256 v[4];
        for (size_t n = 0; n < 4; n++)
            v[n] = _mm256_load_ps(copy->from + i + 8 * n);
        for (size_t n = 0; n < 4; n++) {
            if (copy->past_caches)
                _mm256_stream_ps(copy->to + i + 8 * n, v[n]);
            else
                _mm256_store_ps(copy->to + i + 8 * n, v[n]);
        }
    }
    _mm_sfence();
}

static void float_part(void *context, unsigned part, unsigned parts)
{
    (void)context, (void)part, (void)parts;
    __m256 v[CHAINS], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.1f);
    for (int n = 0; n < CHAINS; n++)
        v[n] = _mm256_set1_ps((float)n);
    for (size_t i = 0; i < FLOAT_STEPS; i++) {
#pragma GCC unroll 12
        for (int n = 0; n < CHAINS; n++) {
            v[n] = _mm256_fmadd_ps(v[n], a, b);
            __asm__ volatile("" : "+x"(v[n]));
        }
    }
}

static void integer_part(void *context, unsigned part, unsigned parts)
{
    (void)context, (void)part, (void)parts;
    __m256i v[CHAINS], a = _mm256_set1_epi32(12345);
    for (int n = 0; n < CHAINS; n++)
        v[n] = _mm256_set1_epi32(n);
    for (size_t i = 0; i < INTEGER_STEPS; i++) {
#pragma GCC unroll 12
        for (int n = 0; n < CHAINS; n++) {
            v[n] = _mm256_add_epi32(v[n], a);
            __asm__ volatile("" : "+x"(v[n]));
        }
    }
}

static double seconds(void (*work)(void *context, unsigned part, unsigned parts), void *context,
                      unsigned threads)
{
    double begin = bench_now();
    if (threads == 1)
        work(context, 0, 1);
    else
        bench_two_threads(work, context);
    return bench_now() - begin;
}

static void keep_most(double *most, double value)
{
    if (value > *most) *most = value;
}

static void serial_part(void *context, unsigned part, unsigned parts)
{
    (void)part, (void)parts;
    float back = *(float *)context;
    for (size_t i = 0; i < SERIAL_STEPS; i++) {
        back = (1 + back) * 0.75f;
        __asm__ volatile("" : "+x"(back));
    }
    *(float *)context = back;
}

static void measure_once(struct bench_limits *limits)
{
    static struct copy copy;
    float back = 0;
    if (copy.from == NULL) {
        copy.from = bench_allocate(COPY_FLOATS * sizeof(float));
        copy.to = bench_allocate(COPY_FLOATS * sizeof(float));
    }
    for (unsigned t = 0; t < 2; t++) {
        double lanes_each = 8.0 * CHAINS * (t + 1);
        for (int past = 0; past < 2; past++) {
            copy.past_caches = past == 1;
            keep_most(&limits->copy_bytes[t],
                      2.0 * sizeof(float) * COPY_FLOATS / seconds(copy_part, &copy, t + 1));
        }
        keep_most(&limits->float_operations[t],
                  2 * lanes_each * FLOAT_STEPS / seconds(float_part, NULL, t + 1));
        keep_most(&limits->integer_operations[t],
                  lanes_each * INTEGER_STEPS / seconds(integer_part, NULL, t + 1));
    }
    double step = seconds(serial_part, &back, 1) / SERIAL_STEPS;
    if (limits->step_seconds == 0 || step < limits->step_seconds) limits->step_seconds = step;
}

/* Several short times: the best of them is undisturbed. */
void bench_measure_limits(struct bench_limits *limits)
{
    for (int i = 0; i < TRIES; i++)
        measure_once(limits);
}
