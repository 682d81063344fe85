/* SPDX-License-Identifier: MIT */
/* cuda_jobs: the workloads as launches of kernels: fused by hand (hand_kernels.cl), and a kernel for each stage (stages.cl). */
#ifndef TESTS_BENCH_CUDA_CUDA_JOBS_H
#define TESTS_BENCH_CUDA_CUDA_JOBS_H

#include "tests/bench/bench.h"
#include "tests/bench/cuda/gpu.h"

/* A part of a stream that begins at unit `first`: its input in memory of the host and of the GPU, and its output. */
struct job_part {
    size_t first, units;
    const void *host_in;
    gpu_address in, out;
};

struct cuda_work {
    const struct bench_workload *workload;
    size_t units;       /* of the stream; 0: as many as the workload has */
    size_t chunk_units; /* units that are copied together by hand, beside the others; 0: all */
    size_t in_unit_bytes, out_unit_bytes; /* from a chunk to the next one */
    void (*hand)(struct gpu_job *job, const struct job_part *part);
    void (*stages)(struct gpu_job *job, const struct job_part *part); /* NULL: there are none */
};

enum { CUDA_WORKS = 11 };
extern const struct cuda_work cuda_works[CUDA_WORKS];

/* Batches of so many floats through eight stages, on independent chains: as batches.pipe has them. */
void job_add_batches(struct gpu_job *job, size_t floats, unsigned chains, unsigned batches,
                     bool with_state);

#endif
