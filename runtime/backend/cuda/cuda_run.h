/* SPDX-License-Identifier: MIT */
/*
 * cuda_run: the memory and the kernel of one run on a GPU.
 *
 * Memory:
 *
 *     arena       on the device: struct core_resident, the block of the core, tables, scratch memory
 *     blocks      on the device: arguments, tables and state of the nodes
 *     rings       of inner buffers: on the device, mapped twice.  Of ports: the rings of the host, which the device accesses
 *     mail        on the host, which the device accesses: struct core_mail, and the image of the block
 *
 * Requires: a driver and a current context.  Ownership: prt_cuda_run_end frees everything, whatever has failed before.
 * Errors: PRT_E_DEVICE, PRT_E_NOMEM.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_RUN_H
#define RUNTIME_BACKEND_CUDA_CUDA_RUN_H

#include "runtime/backend/cuda/cuda_driver.h"
#include "runtime/backend/cuda/cuda_log.h"
#include "runtime/backend/cuda/cuda_stations.h"
#include "runtime/backend/cuda/cuda_trees.h"
#include "runtime/backend/cuda/emulated_driver.h"
#include "runtime/device/device.h"

struct prt_cuda_ring {
    prt_cuda_address address;
    uint64_t bytes;   /* of one of the two mappings; 0: none has been made */
    uint64_t handle;  /* of its memory */
    void *registered; /* memory of the host, of a port; NULL: it is memory of the device */
    bool created;
    uint32_t mapped; /* of the two */
};

/* One struct because all of it begins and ends with the run. */
struct prt_cuda_run {
    const struct prt_cuda_driver *driver;
    const struct prt_kernel_object *objects;
    const struct container_image *image; /* that the GPU executes */
    const struct prt_resident_run *work; /* during prt_cuda_run_begin */
    int device;                          /* the driver's number of the GPU */
    struct prt_queue_table *queues;
    uint32_t multiprocessors;                            /* of the GPU */
    uint32_t first_multiprocessor, multiprocessor_count; /* that the run uses */
    uint32_t cu_count;                                   /* of the program's device */
    uint32_t threads;                                    /* of a block: found */
    uint32_t tile_bytes; /* of a block, in the memory that it shares: found */
    struct prt_cuda_stations stations;
    struct prt_cuda_trees trees;

    void *link, *module, *function, *stream;
    void *cubin; /* the compiled code: the link's */
    size_t cubin_bytes;
    prt_cuda_address arena, blocks;
    struct prt_cuda_ring *rings; /* by buffer */
    uint32_t ring_count;
    struct core_mail *mail;
    uint8_t *letter; /* the image of the block */
    prt_cuda_address mail_address;
    struct prt_emulated_kernels *emulated;
    struct prt_cuda_log log; /* `observe` is given; NULL: the run is not measured */

    /* Which multiprocessor each block is on; from `executed_at` on, the blocks that have executed each stage; from `counts_at`
     * on, the launches of child kernels. */
    prt_cuda_address used;
    size_t used_bytes, executed_at, counts_at;
    uint32_t
        counted_children; /* interfaces with counts, from `counts_at` on; 0: the run is not measured */
    uint8_t *uses;        /* the host's copy; NULL: the run has not ended */

    uint64_t go;
    bool launched; /* the kernel may still be there */
    bool awaiting; /* the device has not answered yet */
    uint64_t beats, beat_nanoseconds, asked_nanoseconds;
    uint64_t launches;
};

/* `run` has the members from `driver` to `cu_count` but `work`. */
enum prt_status prt_cuda_run_begin(struct prt_cuda_run *run, const struct prt_resident_run *work,
                                   struct prt_error *error);
enum prt_status prt_cuda_run_resume(struct prt_cuda_run *run, struct core *core,
                                    enum core_outcome *outcome, struct prt_error *error);
void prt_cuda_run_end(struct prt_cuda_run *run);

/* Has the multiprocessor of that number executed firings of the stage?  False until the run has ended. */
bool prt_cuda_run_used(const struct prt_cuda_run *run, uint32_t stage, uint32_t multiprocessor);

/* Adds the launches of the child kernel of that interface.  None until the run has ended, or if it is not measured. */
void prt_cuda_run_count_child(const struct prt_cuda_run *run, uint32_t interface,
                              struct core_child_count *sum);

/* The error of a call, with its cause and what was done. */
enum prt_status prt_cuda_refuse(const struct prt_cuda_driver *driver, int result, const char *deed,
                                struct prt_error *error);

#endif
