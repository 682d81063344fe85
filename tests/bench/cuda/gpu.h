/* SPDX-License-Identifier: MIT */
/*
 * gpu: NVIDIA's driver for the hand-written code of the part "cuda" of `make bench`.
 *
 * A job is a list of launches in the order of a stream, made before the clock runs.  It can be executed launch by launch, as
 * a CUDA graph, and as a graph with programmatic dependent launch (its kernels are those of another module, which wait for
 * the kernel before them by themselves).
 *
 * Each call ends the program with the driver's name of the error if it fails.
 */
#ifndef TESTS_BENCH_CUDA_GPU_H
#define TESTS_BENCH_CUDA_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t gpu_address;

enum { GPU_LAUNCHES_MAX = 4096, GPU_VALUES_MAX = 6, GPU_MEMORY_MAX = 64, GPU_STREAMS_MAX = 16 };

struct gpu_launch {
    void *kernels[2]; /* of launches, and with dependent launch; the same one: it cannot depend */
    unsigned blocks[3], threads;     /* of a block */
    uint64_t values[GPU_VALUES_MAX]; /* the arguments */
    unsigned stream;                 /* launches of different streams are independent */
};

struct gpu_job {
    struct gpu_launch launches[GPU_LAUNCHES_MAX];
    size_t launch_count;
    gpu_address memory[GPU_MEMORY_MAX];
    size_t memory_count;
    unsigned streams; /* 1, or more */
};

/* How a job is executed. */
enum gpu_way { GPU_LAUNCHED, GPU_GRAPH, GPU_DEPENDENT, GPU_WAYS };

/* NULL: the GPU is ready; else why it is not: there is no driver, or no GPU. */
const char *gpu_open(void);
const char *gpu_name(void);
int gpu_multiprocessors(void);

/* Loads FOLDER/hand.ptx, stages.ptx and dependent.ptx. */
void gpu_load(const char *folder);
/* Seconds that the driver takes to compile and load the PTX of the file once more. */
double gpu_load_seconds(const char *path);

/* Zeroed memory, freed with the job; some MiB may be accessed past its end. */
gpu_address gpu_reserve(struct gpu_job *job, size_t bytes);
gpu_address gpu_reserve_copy(struct gpu_job *job, const void *values, size_t bytes);
void gpu_free_job(struct gpu_job *job);

/* Adds a launch of `items` threads or a few more, in blocks of `threads`.  The caller may set its other numbers of blocks, and
 * its stream.  `types` has a letter for each argument that follows: 'm' gpu_address, 'f' double (as float), 'u' unsigned, 'z'
 * size_t. */
struct gpu_launch *gpu_add(struct gpu_job *job, const char *kernel, size_t items, unsigned threads,
                           const char *types, ...);

/* Copies, and executes, in order, on the stream of that number; gpu_wait waits for all. */
void gpu_copy_in(gpu_address to, const void *from, size_t bytes, unsigned stream);
void gpu_copy_out(void *to, gpu_address from, size_t bytes, unsigned stream);
void gpu_copy_within(gpu_address to, gpu_address from, size_t bytes);
void gpu_execute(const struct gpu_job *job, unsigned stream);
void gpu_wait(void);

/* Seconds that the job takes on the GPU: the smallest of some repeats, each of which is so long that its beginning does not
 * count. */
double gpu_seconds(const struct gpu_job *job, enum gpu_way way);
/* From beginning the job until the host knows that it has ended: the median. */
double gpu_latency(const struct gpu_job *job, enum gpu_way way);
/* Bytes a second, read and written, of a copy from memory of the GPU to memory of the GPU. */
double gpu_copy_rate(size_t bytes);

/* The GPU can copy from and to this memory by itself. */
void gpu_pin(void *memory, size_t bytes);
void gpu_unpin(void *memory);

#endif
