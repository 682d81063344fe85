/* SPDX-License-Identifier: MIT */
/*
 * cuda_frames: how much stack the functions of a compiled program for GPUs take.
 *
 * The program is an ELF file.  Its section `.nv.info` is a list of attributes; that of kind EIATTR_FRAME_SIZE names a function
 * and the bytes of its frame: arrays, spilled registers, and all that it saves for its caller.  The assembler writes one for each
 * function that it has not inlined; `ptxas -v` shows the same numbers.
 *
 * Allocation: none.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_FRAMES_H
#define RUNTIME_BACKEND_CUDA_CUDA_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes.  A chain of calls in which no function occurs twice takes at most `others + body`, if entries of kernels (lang/gpu_abi.h)
 * do not call each other. */
struct prt_cuda_frames {
    uint64_t body;   /* the largest frame of an entry of a kernel */
    uint64_t others; /* of all other functions together */
};

/* Reads `bytes` at most.  False: it is no such file, or names no function. */
bool prt_cuda_frames_read(const void *program, size_t bytes, struct prt_cuda_frames *frames);

#endif
