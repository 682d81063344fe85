/* SPDX-License-Identifier: MIT */
#include "tests/bench/cuda/gpu.h"

#include "tests/bench/bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLACK_BYTES = 8 << 20,
    NON_BLOCKING = 1,
    DEPENDENT_ATTRIBUTE = 6, /* programmatic stream serialization */
    MULTIPROCESSORS_ATTRIBUTE = 16,
    REPEATS = 7
};
#define SAMPLE_SECONDS 0.01 /* a sample of a job takes about so long */

struct launch_attribute {
    int id, padding;
    union {
        int allowed;
        uint8_t bytes[64];
    } value;
};

struct launch_configuration {
    unsigned blocks[3], threads[3], shared_bytes;
    void *stream;
    struct launch_attribute *attributes;
    unsigned attribute_count;
};

/* Types as in NVIDIA's cuda.h. */
#define CALLS(CALL)                                                                                \
    CALL(init, "cuInit", (unsigned))                                                               \
    CALL(device_count, "cuDeviceGetCount", (int *))                                                \
    CALL(device_get, "cuDeviceGet", (int *, int))                                                  \
    CALL(device_name, "cuDeviceGetName", (char *, int, int))                                       \
    CALL(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                              \
    CALL(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                               \
    CALL(context_set, "cuCtxSetCurrent", (void *))                                                 \
    CALL(module_load, "cuModuleLoadData", (void **, const void *))                                 \
    CALL(module_unload, "cuModuleUnload", (void *))                                                \
    CALL(function_get, "cuModuleGetFunction", (void **, void *, const char *))                     \
    CALL(allocate, "cuMemAlloc_v2", (gpu_address *, size_t))                                       \
    CALL(release, "cuMemFree_v2", (gpu_address))                                                   \
    CALL(fill, "cuMemsetD8_v2", (gpu_address, unsigned char, size_t))                              \
    CALL(to_device, "cuMemcpyHtoD_v2", (gpu_address, const void *, size_t))                        \
    CALL(to_device_later, "cuMemcpyHtoDAsync_v2", (gpu_address, const void *, size_t, void *))     \
    CALL(to_host_later, "cuMemcpyDtoHAsync_v2", (void *, gpu_address, size_t, void *))             \
    CALL(within_later, "cuMemcpyDtoDAsync_v2", (gpu_address, gpu_address, size_t, void *))         \
    CALL(host_register, "cuMemHostRegister_v2", (void *, size_t, unsigned))                        \
    CALL(host_unregister, "cuMemHostUnregister", (void *))                                         \
    CALL(stream_create, "cuStreamCreate", (void **, unsigned))                                     \
    CALL(context_wait, "cuCtxSynchronize", (void))                                                 \
    CALL(event_create, "cuEventCreate", (void **, unsigned))                                       \
    CALL(event_record, "cuEventRecord", (void *, void *))                                          \
    CALL(event_elapsed, "cuEventElapsedTime", (float *, void *, void *))                           \
    CALL(stream_wait_event, "cuStreamWaitEvent", (void *, void *, unsigned))                       \
    CALL(launch, "cuLaunchKernelEx",                                                               \
         (const struct launch_configuration *, void *, void **, void **))                          \
    CALL(capture_begin, "cuStreamBeginCapture_v2", (void *, int))                                  \
    CALL(capture_end, "cuStreamEndCapture", (void *, void **))                                     \
    CALL(graph_instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long))  \
    CALL(graph_launch, "cuGraphLaunch", (void *, void *))                                          \
    CALL(graph_forget, "cuGraphExecDestroy", (void *))                                             \
    CALL(graph_destroy, "cuGraphDestroy", (void *))                                                \
    CALL(error_name, "cuGetErrorName", (int, const char **))

#define MEMBER(member, name, parameters) int(*member) parameters;
static struct {
    CALLS(MEMBER)
} driver;
#undef MEMBER

static struct {
    int device, multiprocessors;
    char name[128];
    void *modules[3];
    void *streams[GPU_STREAMS_MAX], *forked[GPU_STREAMS_MAX + 1], *events[2];
} gpu;

enum module { BY_HAND, STAGES, DEPENDENT_STAGES };

static void must(int result, const char *call)
{
    const char *name = "?";
    if (result == 0) return;
    driver.error_name(result, &name);
    fprintf(stderr, "bench: %s: %s\n", call, name);
    exit(3);
}
#define MUST(call) must(driver.call, #call)

/* ---- the GPU ---- */

static bool find_functions(void)
{
#define ROW(member, name, parameters) {name, &driver.member},
    static const struct {
        const char *name;
        void *function;
    } rows[] = {CALLS(ROW)};
#undef ROW
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *address = library == NULL ? NULL : dlsym(library, rows[i].name);
        if (address == NULL) return false;
        memcpy(rows[i].function, &address, sizeof address);
    }
    return true;
}

const char *gpu_open(void)
{
    int count = 0;
    void *context;
    if (!find_functions()) return "there is no driver for NVIDIA GPUs, or it is older than CUDA 12";
    if (driver.init(0) != 0 || driver.device_count(&count) != 0 || count == 0)
        return "there is no NVIDIA GPU";
    MUST(device_get(&gpu.device, 0));
    MUST(device_name(gpu.name, sizeof gpu.name, gpu.device));
    MUST(device_attribute(&gpu.multiprocessors, MULTIPROCESSORS_ATTRIBUTE, gpu.device));
    MUST(context_retain(&context, gpu.device));
    MUST(context_set(context));
    for (int i = 0; i < GPU_STREAMS_MAX; i++)
        MUST(stream_create(&gpu.streams[i], NON_BLOCKING));
    for (int i = 0; i <= GPU_STREAMS_MAX; i++)
        MUST(event_create(&gpu.forked[i], 0));
    for (int i = 0; i < 2; i++)
        MUST(event_create(&gpu.events[i], 0));
    return NULL;
}

const char *gpu_name(void)
{
    return gpu.name;
}

int gpu_multiprocessors(void)
{
    return gpu.multiprocessors;
}

static char *read_code(const char *path)
{
    enum { MOST = 4 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MOST);
    if (file == NULL || text == NULL || fread(text, 1, MOST - 1, file) == 0) {
        fprintf(stderr, "bench: cannot read %s\n", path);
        exit(3);
    }
    fclose(file);
    return text;
}

static void *load_module(const char *path)
{
    char *text = read_code(path);
    void *module;
    MUST(module_load(&module, text));
    free(text);
    return module;
}

void gpu_load(const char *folder)
{
    static const char *const names[] = {"hand", "stages", "dependent"};
    for (int i = 0; i < 3; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.ptx", folder, names[i]);
        gpu.modules[i] = load_module(path);
    }
}

double gpu_load_seconds(const char *path)
{
    double begin = bench_now();
    void *module = load_module(path);
    double seconds = bench_now() - begin;
    MUST(module_unload(module));
    return seconds;
}

/* ---- jobs ---- */

gpu_address gpu_reserve(struct gpu_job *job, size_t bytes)
{
    gpu_address *made = &job->memory[job->memory_count++];
    MUST(allocate(made, bytes + SLACK_BYTES));
    MUST(fill(*made, 0, bytes + SLACK_BYTES));
    return *made;
}

gpu_address gpu_reserve_copy(struct gpu_job *job, const void *values, size_t bytes)
{
    gpu_address made = gpu_reserve(job, bytes);
    MUST(to_device(made, values, bytes));
    return made;
}

void gpu_free_job(struct gpu_job *job)
{
    for (size_t i = 0; i < job->memory_count; i++)
        MUST(release(job->memory[i]));
    job->memory_count = job->launch_count = 0;
}

static void find_kernels(const char *name, void *kernels[2])
{
    if (driver.function_get(&kernels[0], gpu.modules[BY_HAND], name) == 0) {
        kernels[1] = kernels[0];
        return;
    }
    MUST(function_get(&kernels[0], gpu.modules[STAGES], name));
    MUST(function_get(&kernels[1], gpu.modules[DEPENDENT_STAGES], name));
}

struct gpu_launch *gpu_add(struct gpu_job *job, const char *kernel, size_t items, unsigned threads,
                           const char *types, ...)
{
    struct gpu_launch *l = &job->launches[job->launch_count++];
    size_t blocks = (items + threads - 1) / threads;
    va_list arguments;
    if (job->launch_count > GPU_LAUNCHES_MAX) abort();
    *l = (struct gpu_launch){.blocks = {(unsigned)blocks, 1, 1}, .threads = threads};
    find_kernels(kernel, l->kernels);
    va_start(arguments, types);
    for (int i = 0; types[i] != '\0'; i++) {
        float number;
        switch (types[i]) {
        case 'm': l->values[i] = va_arg(arguments, gpu_address); break;
        case 'f':
            number = (float)va_arg(arguments, double);
            memcpy(&l->values[i], &number, sizeof number);
            break;
        case 'u': l->values[i] = va_arg(arguments, unsigned); break;
        default: l->values[i] = va_arg(arguments, size_t); break;
        }
    }
    va_end(arguments);
    return l;
}

static void launch_one(const struct gpu_launch *l, bool dependent, void *stream)
{
    struct launch_attribute attribute = {.id = DEPENDENT_ATTRIBUTE, .value.allowed = 1};
    struct launch_configuration configuration = {
        .blocks = {l->blocks[0], l->blocks[1], l->blocks[2]},
        .threads = {l->threads, 1, 1},
        .stream = stream,
        .attributes = &attribute,
        .attribute_count = dependent && l->kernels[0] != l->kernels[1]};
    void *values[GPU_VALUES_MAX];
    for (int i = 0; i < GPU_VALUES_MAX; i++)
        values[i] = (void *)(uintptr_t)&l->values[i];
    MUST(launch(&configuration, l->kernels[dependent], values, NULL));
}

/* On this stream, and others beside it. */
static void launch_all(const struct gpu_job *job, bool dependent, unsigned stream)
{
    unsigned streams = job->streams > 1 ? job->streams : 1;
    if (streams > 1) MUST(event_record(gpu.forked[GPU_STREAMS_MAX], gpu.streams[stream]));
    for (unsigned i = 1; i < streams; i++)
        MUST(stream_wait_event(gpu.streams[stream + i], gpu.forked[GPU_STREAMS_MAX], 0));
    for (size_t i = 0; i < job->launch_count; i++)
        launch_one(&job->launches[i], dependent, gpu.streams[stream + job->launches[i].stream]);
    for (unsigned i = 1; i < streams; i++) {
        MUST(event_record(gpu.forked[i], gpu.streams[stream + i]));
        MUST(stream_wait_event(gpu.streams[stream], gpu.forked[i], 0));
    }
}

void gpu_execute(const struct gpu_job *job, unsigned stream)
{
    launch_all(job, false, stream);
}

void gpu_copy_in(gpu_address to, const void *from, size_t bytes, unsigned stream)
{
    MUST(to_device_later(to, from, bytes, gpu.streams[stream]));
}

void gpu_copy_out(void *to, gpu_address from, size_t bytes, unsigned stream)
{
    MUST(to_host_later(to, from, bytes, gpu.streams[stream]));
}

void gpu_copy_within(gpu_address to, gpu_address from, size_t bytes)
{
    MUST(within_later(to, from, bytes, gpu.streams[0]));
}

void gpu_wait(void)
{
    MUST(context_wait());
}

void gpu_pin(void *memory, size_t bytes)
{
    MUST(host_register(memory, bytes, 0));
}

void gpu_unpin(void *memory)
{
    MUST(host_unregister(memory));
}

/* ---- time ---- */

static void *capture_graph(const struct gpu_job *job, bool dependent)
{
    enum { RELAXED = 2 };
    void *graph, *made;
    MUST(capture_begin(gpu.streams[0], RELAXED));
    launch_all(job, dependent, 0);
    MUST(capture_end(gpu.streams[0], &graph));
    MUST(graph_instantiate(&made, graph, 0));
    MUST(graph_destroy(graph));
    return made;
}

struct timed { /* a job or a copy */
    const struct gpu_job *job;
    void *graph; /* NULL: launch by launch */
    gpu_address to, from;
    size_t bytes;
};

static void begin_timed(const struct timed *t)
{
    if (t->bytes > 0)
        gpu_copy_within(t->to, t->from, t->bytes);
    else if (t->graph != NULL)
        MUST(graph_launch(t->graph, gpu.streams[0]));
    else
        launch_all(t->job, false, 0);
}

static double time_repeats(const struct timed *t, int repeats)
{
    float milliseconds;
    MUST(event_record(gpu.events[0], gpu.streams[0]));
    for (int i = 0; i < repeats; i++)
        begin_timed(t);
    MUST(event_record(gpu.events[1], gpu.streams[0]));
    gpu_wait();
    MUST(event_elapsed(&milliseconds, gpu.events[0], gpu.events[1]));
    return (double)milliseconds / 1000 / repeats;
}

static double time_least(const struct timed *t)
{
    time_repeats(t, 1);
    double least = time_repeats(t, 1);
    int repeats = (int)fmin(1000, fmax(1, SAMPLE_SECONDS / least));
    for (int i = 0; i < REPEATS; i++)
        least = fmin(least, time_repeats(t, repeats));
    return least;
}

double gpu_seconds(const struct gpu_job *job, enum gpu_way way)
{
    struct timed t = {.job = job};
    if (way != GPU_LAUNCHED) t.graph = capture_graph(job, way == GPU_DEPENDENT);
    double seconds = time_least(&t);
    if (t.graph != NULL) MUST(graph_forget(t.graph));
    return seconds;
}

static int compare_seconds(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

double gpu_latency(const struct gpu_job *job, enum gpu_way way)
{
    enum { LATENCIES = 201 };
    double seconds[LATENCIES];
    struct timed t = {.job = job};
    if (way != GPU_LAUNCHED) t.graph = capture_graph(job, way == GPU_DEPENDENT);
    for (int i = 0; i < LATENCIES; i++) {
        double begin = bench_now();
        begin_timed(&t);
        gpu_wait();
        seconds[i] = bench_now() - begin;
    }
    if (t.graph != NULL) MUST(graph_forget(t.graph));
    qsort(seconds, LATENCIES, sizeof *seconds, compare_seconds);
    return seconds[LATENCIES / 2];
}

double gpu_copy_rate(size_t bytes)
{
    struct gpu_job memory = {.launch_count = 0};
    struct timed t = {
        .from = gpu_reserve(&memory, bytes), .to = gpu_reserve(&memory, bytes), .bytes = bytes};
    double seconds = time_least(&t);
    gpu_free_job(&memory);
    return 2 * (double)bytes / seconds;
}
