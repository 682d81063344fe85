/* SPDX-License-Identifier: MIT */
/*
 * gpu_abi: the contract between kernels as PTX and the kernel on the GPU that calls them.
 *
 * The text of an image (lang/container.h, CONTAINER_IMAGE_PTX) is one PTX module. It has no `.entry`: the caller, for
 * example a resident scheduler, adds one and compiles both together. All addresses are generic
 * ones of 64 bits. No load uses the non-coherent cache (`ld.global.nc`), so the memory of buffers may change while
 * the kernel that calls lives.
 *
 * Functions, as C writes them:
 *
 *   int32_t pipe_kN_run(const struct kernel_batch *batch, uint32_t block, uint32_t blocks, void *local);
 *   int32_t pipe_kN_init(...), pipe_kN_finish(...)      the same parameters, where kernel N has them
 *   int32_t pipe_arguments(const void *pipeline, void *const *nodes, struct kernel_fault *fault);
 *   int32_t pipe_call(uint32_t entry, const struct kernel_batch *batch, uint32_t block, uint32_t blocks,
 *                     void *local);                     calls the entry of that number, GPU_ENTRY below
 *
 * N is container_node.kernel, as in lang/kernel_abi.h. pipe_call is a switch over direct calls, so the assembler
 * knows how many registers each entry takes. pipe_arguments is for one thread.
 *
 * Threads. A batch is executed by `blocks` blocks of whole warps, which are one-dimensional and of equal size. All
 * threads of a block make the call together, with the block's number among those `blocks`. A thread finds its own
 * part: `%tid.x` and `%ntid.x` are its number in the block and the size of the block. A thread returns when its
 * part is done; the reader of the output waits for all threads. Threads of other blocks are never waited for.
 *
 * Two kinds of entries differ in the threads that execute a firing:
 *
 *   one thread     init, finish, kernels with `state`, kernels that launch, child kernels, kernels of more than
 *                  GPU_ENDS_MAX ends, and everything that is compiled in debug mode. Thread 0 of block 0 executes all
 *                  firings in order, and the contract is that of lang/kernel_abi.h. The others return KERNEL_OK.
 *   threads        The firings of the batch are divided among all threads, so that the lanes of a warp, GPU_WARP
 *                  threads, execute neighbouring firings. The warps of the blocks have firings in turn: first the
 *                  first one of each block, then the second. A firing may be executed twice: both times it writes the
 *                  same. Of a kernel with `group`, a thread executes the work-items one after the other. One
 *                  firing is executed by thread 0 of block 0, and the other threads need not be there.
 *
 * Tiles. Where a firing pops or pushes a block of packets, the lanes of a warp may copy the packets of their firings
 * together, to memory that the block shares and from there. If an image has such kernels, its text declares
 * `.extern .shared pipe_tiles`, and the caller gives each block at least GPU_TILE_BYTES of shared memory when it launches
 * (`%dynamic_smem_size`). With more of it, more warps work at the same time.
 *
 * In the second kind, `struct kernel_batch` differs from lang/kernel_abi.h in this:
 *
 *   out        Firing i appends from a place on that is the sum of the maxima of the firings before it
 *              (container_output.push and its phases). Where all rates are exact, the packets are contiguous.
 *              Otherwise the caller moves them together. That never moves a packet to a higher place.
 *   produced   One number for each output and firing: firing i writes produced[i x outputs + q]. Not used where
 *              all rates are exact; else not NULL.
 *   completed  The caller has stored `count` there. A firing that stops or faults lowers it to its own number in
 *              the batch, by an atomic minimum. In the end it is the number of firings before the first of these.
 *              The output of later ones has no meaning.
 *   fault      NULL while several threads execute a batch: the return values tell nothing then. If `completed`
 *              is below `count`, the caller repeats that one firing with a record of faults (`count` 1, `blocks`
 *              1). The status that is not KERNEL_OK, of one thread of the block, is that of the batch.
 *   left, most, warp_cycles, origins, indices, launches, past_caches   Not used.
 *
 * Of the first kind, a caller may let the first thread of any block execute a kernel that launches or is launched, as
 * block 0 of 1: it then gives the list of launches (`launches`), whose `done` is a function of the caller.
 *
 * `local` is not used, and is NULL.
 */
#ifndef LANG_GPU_ABI_H
#define LANG_GPU_ABI_H

#include "lang/kernel_abi.h"

enum gpu_entry { GPU_ENTRY_RUN, GPU_ENTRY_INIT, GPU_ENTRY_FINISH, GPU_ENTRY_KINDS };

#define GPU_WARP UINT32_C(32)

/* The memory for tiles, and its least size in bytes. */
#define GPU_TILES "pipe_tiles"
#define GPU_TILE_BYTES UINT32_C(32768)

/* A kernel of more ends is executed by one thread. */
#define GPU_ENDS_MAX UINT32_C(1024)

/* The number of an entry of kernel N, for pipe_call. */
#define GPU_ENTRY(kernel, entry) ((uint32_t)(kernel) * GPU_ENTRY_KINDS + (uint32_t)(entry))

#endif
