/* SPDX-License-Identifier: MIT */
/*
 * stages: a kernel for each stage, for GPUs: those of the workloads, and those of batches.pipe.
 */
#include "tests/bench/peers/peer_kernels.cl"

/* ---- a stage with state: one thread; *state is kept from batch to batch ---- */

kernel void smooth_batch(global const float *restrict x, global float *restrict y, global float *state, uint count)
{
    if (get_global_id(0) != 0) return;
    float s = *state;
    for (uint i = 0; i < count; i++) {
        s = s * 0.5f + x[i];
        y[i] = s;
    }
    *state = s;
}

/* ---- the ends of batches.pipe (ends.pipe) ---- */

kernel void make_batch(global const uint *restrict block, global float *restrict y)
{
    size_t i = get_global_id(0);
    uint v = (block[i / 64] * 64 + (uint)(i % 64)) * 2654435761u;
    v = (v ^ v >> 15) * 2246822519u;
    v ^= v >> 13;
    y[i] = (float)(v >> 8) / 8388608 - 1;
}

kernel void total_batch(global const float *restrict x, global float *restrict sums)
{
    size_t i = get_global_id(0);
    float s = 0;
#pragma unroll 16
    for (int k = 0; k < 64; k++)
        s += x[64 * i + k];
    sums[i] = s;
}
