/* SPDX-License-Identifier: MIT */
/*
 * peer_opencl: the workloads as OpenCL kernels (peer_kernels.cl), one after the other over whole
 * buffers, on the first CPU device: PoCL where that is what is installed.
 *
 * A workload is a list of launches in the order of an in-order queue; kernels are made and have
 * their arguments before the clock runs.
 *
 * peer: PoCL, kernel by kernel (packages ocl-icd-opencl-dev, pocl-opencl-icd)
 * packages: OpenCL
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "tests/bench/bench.h"
#include "tests/bench/peers/peer_taps.h"

#include <CL/cl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES_MAX = 256, BUFFERS_MAX = 16, GROUP = 64 /* work-items, where they are many */ };

struct launch {
    cl_kernel kernel;
    size_t offset, items[3];
    bool rest;      /* of a launch that comes before it */
    size_t lead;    /* for the latency: packets that it is before what comes out */
    size_t counted; /* dimension 0 is what W5 keeps by so many; 0: it is as said */
};

static struct {
    cl_context context;
    cl_device_id device;
    cl_program program;
} cl;

static struct {
    cl_command_queue queue;
    cl_mem in, out, made[BUFFERS_MAX];
    size_t made_count;
    struct launch launches[LAUNCHES_MAX];
    size_t launch_count;
    cl_mem kept; /* W5: the number of packets that are kept, after all others */
    size_t kept_at;
    size_t chunk, chunks; /* W7: the launches are done for each chunk of so many packets */
} job;

static void check(cl_int status, const char *what)
{
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "bench: OpenCL: %s failed (%d)\n", what, status);
    exit(3);
}

/* ---- the device ---- */

/* peer_kernels.cl, which lies beside this file. */
static char *read_source(void)
{
    enum { MOST = 65536 };
    static const char name[] = "peer_kernels.cl";
    char path[4096];
    const char *slash = strrchr(__FILE__, '/');
    int folder = slash == NULL ? 0 : (int)(slash - __FILE__) + 1;
    snprintf(path, sizeof path, "%.*s%s", folder, __FILE__, name);
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MOST);
    if (file == NULL || text == NULL || fread(text, 1, MOST - 1, file) == 0) {
        fprintf(stderr, "bench: cannot read %s\n", path);
        exit(3);
    }
    fclose(file);
    return text;
}

static bool find_device(void)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < count && i < 8; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl.device, NULL) == CL_SUCCESS)
            return true;
    return false;
}

/* NULL: it is ready. */
static const char *open_device(void)
{
    if (cl.program != NULL) return NULL;
    if (!find_device()) return "no OpenCL device that is a processor";
    cl_int status;
    cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &status);
    check(status, "clCreateContext");
    char *source = read_source();
    cl.program =
        clCreateProgramWithSource(cl.context, 1, (const char **)(void *)&source, NULL, &status);
    check(status, "clCreateProgramWithSource");
    free(source);
    if (clBuildProgram(cl.program, 1, &cl.device, "", NULL, NULL) != CL_SUCCESS) {
        static char log[8192];
        clGetProgramBuildInfo(cl.program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "bench: %s\n", log);
        exit(3);
    }
    return NULL;
}

/* ---- a job ---- */

static cl_mem buffer(size_t bytes)
{
    cl_int status;
    cl_mem made = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    check(status, "clCreateBuffer");
    return job.made[job.made_count++] = made;
}

static cl_mem buffer_of(const void *values, size_t bytes)
{
    cl_mem made = buffer(bytes);
    check(clEnqueueWriteBuffer(job.queue, made, CL_TRUE, 0, bytes, values, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
    return made;
}

static cl_mem buffer_at(const void *memory, size_t bytes)
{
    cl_int status;
    cl_mem made = clCreateBuffer(cl.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                 (void *)(uintptr_t)memory, &status);
    check(status, "clCreateBuffer");
    return job.made[job.made_count++] = made;
}

static const char *open_job(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    const char *reason = open_device();
    if (reason != NULL) return reason;
    cl_int status;
    memset(&job, 0, sizeof job);
    job.queue = clCreateCommandQueue(cl.context, cl.device, 0, &status);
    check(status, "clCreateCommandQueue");
    job.in = buffer_at(in, in_bytes);
    job.out = buffer_at(out, out_bytes);
    job.chunks = 1;
    return NULL;
}

/* Adds a launch.  `types` has a letter for each argument that follows: 'm' cl_mem, 'f' double (as
 * float), 'u' unsigned, 'z' size_t (as ulong). */
static struct launch *launch(const char *kernel, size_t offset, size_t x, size_t y,
                             const char *types, va_list arguments)
{
    struct launch *l = &job.launches[job.launch_count++];
    cl_int status;
    *l = (struct launch){.offset = offset, .items = {x, y, 1}};
    l->kernel = clCreateKernel(cl.program, kernel, &status);
    check(status, kernel);
    for (cl_uint i = 0; types[i] != '\0'; i++) {
        union {
            cl_mem memory;
            cl_float number;
            cl_uint word;
            cl_ulong size;
        } value;
        size_t bytes = 0;
        switch (types[i]) {
        case 'm': value.memory = va_arg(arguments, cl_mem), bytes = sizeof value.memory; break;
        case 'f':
            value.number = (float)va_arg(arguments, double), bytes = sizeof value.number;
            break;
        case 'u': value.word = va_arg(arguments, unsigned), bytes = sizeof value.word; break;
        default: value.size = va_arg(arguments, size_t), bytes = sizeof value.size; break;
        }
        check(clSetKernelArg(l->kernel, i, bytes, &value), kernel);
    }
    return l;
}

/* A launch of x by y work-items, in groups of many and, if x is not a multiple, one more of the rest. */
static struct launch *call(const char *kernel, size_t x, size_t y, const char *types, ...)
{
    struct launch *last = NULL;
    size_t whole = x / GROUP * GROUP;
    for (int rest = 0; rest < 2; rest++) {
        size_t items = rest ? x - whole : whole;
        va_list arguments;
        va_start(arguments, types);
        if (items > 0) {
            last = launch(kernel, rest ? whole : 0, items, y, types, arguments);
            last->rest = rest && whole > 0;
        }
        va_end(arguments);
    }
    return last;
}

static void enqueue(const struct launch *l, size_t at)
{
    size_t offset[3] = {l->offset + at}, items[3] = {l->items[0], l->items[1], l->items[2]};
    if (l->counted != 0) {
        cl_uint kept;
        check(clEnqueueReadBuffer(job.queue, job.kept, CL_TRUE, job.kept_at, sizeof kept, &kept, 0,
                                  NULL, NULL),
              "clEnqueueReadBuffer");
        items[0] = kept / l->counted;
    }
    if (items[0] == 0) return;
    check(clEnqueueNDRangeKernel(job.queue, l->kernel, 3, offset, items, NULL, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
}

static void run(void)
{
    for (size_t c = 0; c < job.chunks; c++) {
        for (size_t i = 0; i < job.launch_count; i++)
            enqueue(&job.launches[i], c * job.chunk);
        check(clFinish(job.queue), "clFinish");
    }
}

static void end(void)
{
    for (size_t i = 0; i < job.launch_count; i++)
        clReleaseKernel(job.launches[i].kernel);
    for (size_t i = 0; i < job.made_count; i++)
        clReleaseMemObject(job.made[i]);
    clReleaseCommandQueue(job.queue);
}

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The job again, packet by packet, each waited for: the median in seconds. */
static double latency_of_job(void)
{
    enum { LATENCIES = 400 };
    double seconds[LATENCIES];
    for (size_t at = 0; at < LATENCIES; at++) {
        double begin = bench_now();
        for (size_t i = 0; i < job.launch_count; i++) {
            struct launch one = job.launches[i];
            one.items[0] = 1;
            if (!one.rest) enqueue(&one, at + one.lead);
        }
        check(clFinish(job.queue), "clFinish");
        seconds[at] = bench_now() - begin;
    }
    qsort(seconds, LATENCIES, sizeof *seconds, compare_doubles);
    return seconds[LATENCIES / 2];
}

/* The input and the output of stage k of `count` in a chain that alternates between two buffers. */
static cl_mem from_of(const cl_mem *between, int k)
{
    return k == 0 ? job.in : between[(k - 1) % 2];
}

static cl_mem to_of(const cl_mem *between, int k, int count)
{
    return k == count - 1 ? job.out : between[k % 2];
}

/* ---- W1, W7 ---- */

static const char *begin_light(size_t units, const void *in, size_t in_bytes, void *out,
                               size_t out_bytes)
{
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    cl_mem between[2] = {buffer(out_bytes), buffer(out_bytes)};
    for (int k = 0; k < 8; k++)
        call("affine", out_bytes / sizeof(float), 1, "mmff", from_of(between, k),
             to_of(between, k, 8), 1 - 0.015625 * k, 0.125 * (k + 1));
    return NULL;
}

/* In batches of 4,096 packets: shorter ones would measure launches for minutes. */
static const char *begin_tiny(size_t units, const void *in, size_t in_bytes, void *out,
                              size_t out_bytes)
{
    enum { BATCH = 4096 };
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    cl_mem between[2] = {buffer(out_bytes), buffer(out_bytes)};
    job.chunk = BATCH;
    job.chunks = out_bytes / sizeof(float) / BATCH;
    for (int k = 0; k < 64; k++)
        call("add", BATCH, 1, "mmf", from_of(between, k), to_of(between, k, 64),
             0.015625 * (k + 1));
    return NULL;
}

static double latency_of_tiny(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    if (begin_tiny(0, in, in_bytes, out, out_bytes) != NULL) return 0;
    double seconds = latency_of_job();
    end();
    return seconds;
}

/* ---- W2, W3 ---- */

static const char *begin_bank(size_t units, const void *in, size_t in_bytes, void *out,
                              size_t out_bytes)
{
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    static struct peer_bank bank;
    peer_bank_taps(&bank);
    size_t packets = out_bytes / sizeof(float), sampled = packets / PEER_BANK + 4;
    size_t slow = (sampled - 1) * PEER_BANK + PEER_TAPS;
    cl_mem low = buffer_of(bank.low, sizeof bank.low),
           taps = buffer_of(bank.band, sizeof bank.band);
    cl_mem slowed = buffer(slow * sizeof(float)),
           samples = buffer(sampled * PEER_BANK * sizeof(float));
    cl_mem parts = buffer(out_bytes * PEER_BANK);
    call("fir4", slow, 1, "mmm", job.in, slowed, low);
    call("fir16_bands", sampled, PEER_BANK, "mmmz", slowed, samples, taps, sampled);
    call("fir_stuffed", packets, PEER_BANK, "mmmzz", samples, parts, taps, sampled, packets);
    call("sum_bands", packets, 1, "mmzu", parts, job.out, packets, (unsigned)PEER_BANK);
    return NULL;
}

static const char *begin_radio(size_t units, const void *in, size_t in_bytes, void *out,
                               size_t out_bytes)
{
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    static struct peer_radio radio;
    peer_radio_taps(&radio);
    size_t audio = out_bytes / sizeof(float), sound = audio + PEER_TAPS - 1, base = sound + 1;
    cl_mem channel = buffer_of(radio.channel, sizeof radio.channel),
           taps = buffer_of(radio.band, sizeof radio.band);
    cl_mem gains = buffer_of(radio.gain, sizeof radio.gain),
           based = buffer(base * 2 * sizeof(float));
    cl_mem sounds = buffer(sound * sizeof(float)), bands = buffer(out_bytes * PEER_BANDS);
    call("channel_filter", base, 1, "mmm", job.in, based, channel)->lead = PEER_TAPS;
    call("demodulate", sound, 1, "mmf", based, sounds, 0.5)->lead = PEER_TAPS - 1;
    call("fir_bands", audio, PEER_BANDS, "mmmz", sounds, bands, taps, audio);
    call("gain_bands", audio, PEER_BANDS, "mmz", bands, gains, audio);
    call("sum_bands", audio, 1, "mmzu", bands, job.out, audio, (unsigned)PEER_BANDS);
    return NULL;
}

static double latency_of_radio(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    if (begin_radio(0, in, in_bytes, out, out_bytes) != NULL) return 0;
    run(); /* histories are there */
    double seconds = latency_of_job();
    end();
    return seconds;
}

/* ---- W4 ---- */

static const char *begin_picture(size_t units, const void *in, size_t in_bytes, void *out,
                                 size_t out_bytes)
{
    enum { WIDTH = 1920, HEIGHT = 1080 };
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    size_t pictures = out_bytes / (WIDTH * HEIGHT);
    cl_mem smooth = buffer(out_bytes), edges = buffer(out_bytes);
    call("box3", WIDTH, HEIGHT, "mm", job.in, smooth)->items[2] = pictures;
    call("sobel", WIDTH, HEIGHT, "mm", smooth, edges)->items[2] = pictures;
    call("threshold", out_bytes, 1, "mm", edges, job.out);
    return NULL;
}

/* ---- W5 ---- */

static const char *begin_sums(size_t units, const void *in, size_t in_bytes, void *out,
                              size_t out_bytes)
{
    enum { PIECE = 1024, KEPT = 512 };
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    size_t packets = in_bytes / sizeof(float), pieces = packets / PIECE;
    if (packets % PIECE != 0) return "the input is no multiple of 1,024 packets";
    cl_mem counts = buffer((pieces + 1) * sizeof(cl_uint)), kept = buffer(in_bytes),
           more = buffer(3 * in_bytes);
    call("keep_count", pieces, 1, "mmf", job.in, counts, 0.4);
    call("keep_place", 1, 1, "mu", counts, (unsigned)pieces);
    call("keep_write", pieces, 1, "mmmf", job.in, kept, counts, 0.4);
    call("expand", 1, 1, "mm", kept, more)->counted = 1;
    call("reduce", 1, 1, "mm", more, job.out)->counted = KEPT;
    job.kept = counts;
    job.kept_at = pieces * sizeof(cl_uint);
    return NULL;
}

/* ---- W6 ---- */

static const char *begin_fourier(size_t units, const void *in, size_t in_bytes, void *out,
                                 size_t out_bytes)
{
    enum { POINTS = 256, STAGES = 9 };
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    static float re[POINTS], im[POINTS];
    for (int half = 1; half < POINTS; half *= 2)
        for (int k = 0; k < half; k++) {
            re[half + k] = (float)cos(taps_pi * (double)k / half);
            im[half + k] = (float)-sin(taps_pi * (double)k / half);
        }
    size_t points = in_bytes / (2 * sizeof(float));
    cl_mem between[2] = {buffer(in_bytes), buffer(in_bytes)};
    cl_mem roots[2] = {buffer_of(re, sizeof re), buffer_of(im, sizeof im)};
    call("reverse", points, 1, "mm", from_of(between, 0), to_of(between, 0, STAGES));
    for (int k = 1; k < STAGES; k++)
        call("butterfly", points / 2, 1, "mmmmu", from_of(between, k), to_of(between, k, STAGES),
             roots[0], roots[1], 1U << (k - 1));
    return NULL;
}

static const char *begin_bitonic(size_t units, const void *in, size_t in_bytes, void *out,
                                 size_t out_bytes)
{
    enum { STEPS = 15 };
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    cl_mem between[2] = {buffer(in_bytes), buffer(in_bytes)};
    int step = 0;
    for (unsigned run_length = 2; run_length <= 32; run_length *= 2)
        for (unsigned apart = run_length / 2; apart > 0; apart /= 2, step++)
            call("compare", in_bytes / sizeof(float), 1, "mmuu", from_of(between, step),
                 to_of(between, step, STEPS), run_length, apart);
    return NULL;
}

/* ---- W9 ---- */

static const char *begin_cipher(size_t units, const void *in, size_t in_bytes, void *out,
                                size_t out_bytes)
{
    /* The key of examples/cipher/chacha20.pipe. */
    static const cl_uint words[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
                                      0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
                                      0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c,
                                      1,          0,          0x4a000000, 0};
    (void)units;
    const char *reason = open_job(in, in_bytes, out, out_bytes);
    if (reason != NULL) return reason;
    size_t count = in_bytes / sizeof(cl_uint);
    cl_mem start = buffer_of(words, sizeof words), first = buffer(in_bytes);
    cl_mem state[2] = {buffer(in_bytes), buffer(in_bytes)};
    call("cipher_blocks", count, 1, "mm", first, start);
    for (int round = 0; round < 10; round++)
        call("cipher_round", count / 16, 1, "mm", round == 0 ? first : state[(round + 1) % 2],
             state[round % 2]);
    call("cipher_sum", count, 1, "mmm", state[1], first, state[0]);
    call("cipher_mask", in_bytes, 1, "mmm", job.in, state[0], job.out);
    return NULL;
}

#define PEER(word, function)                                                                       \
    .name = "PoCL", .workload = (word), .same_bits = true, .begin = (function), .run = run,        \
    .end = end

static struct bench_peer peers[] = {
    {PEER("W1", begin_light)},
    {PEER("W2", begin_bank)},
    {PEER("W3", begin_radio), .latency = latency_of_radio},
    {PEER("W4", begin_picture)},
    {PEER("W5", begin_sums)},
    {PEER("W6", begin_fourier)},
    {PEER("W6/sort", begin_bitonic)},
    {PEER("W7", begin_tiny)},
    {.name = "PoCL", .workload = "W7/1", .same_bits = true, .latency = latency_of_tiny},
    {PEER("W9", begin_cipher)},
};

__attribute__((constructor)) static void register_all(void)
{
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++)
        bench_peer_register(&peers[i]);
}
