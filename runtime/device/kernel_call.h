/* SPDX-License-Identifier: MIT */
/*
 * kernel_call: executes the firings of a launch, for every backend that executes kernels.
 *
 * Thread-safety: calls for different launches are independent.
 * Allocation: only in the calls that return PRT_E_NOMEM.
 */
#ifndef RUNTIME_DEVICE_KERNEL_CALL_H
#define RUNTIME_DEVICE_KERNEL_CALL_H

#include "model/kernel_object.h"
#include "base/status.h"

/* Working memory of a thread that executes firings: room for as many inputs and outputs as any
 * object has. */
struct prt_kernel_scratch {
    const void **in;
    void **out;
    uint64_t *produced;
    struct kernel_window *windows;
};

/* Allocates it for these objects; on failure (PRT_E_NOMEM) it can be freed, as when zeroed. */
enum prt_status prt_kernel_scratch_create(const struct prt_kernel_object *objects, uint32_t count,
                                          struct prt_kernel_scratch *scratch);
void prt_kernel_scratch_free(struct prt_kernel_scratch *scratch);

/* Executes firings [first, first + count) of a dispatch whose windows begin at its firing `origin`,
 * on the calling thread; a finish once, a WHOLE object completely.  `warp_cycles`: receives the cost
 * of the warps of these firings, of a COUNTED kernel; NULL: not wanted.  Returns its status. */
enum kernel_status prt_kernel_execute(const struct prt_kernel_object *object, uint64_t origin,
                                      uint64_t first, uint64_t count,
                                      const struct prt_kernel_scratch *scratch,
                                      uint64_t *warp_cycles, struct kernel_fault *fault);

/* The same for firings of an APART object: their packets go `begin` packets after the begin of
 * the dispatch's window, at most up to the begin of their own room.  `produced` receives the number of
 * packets per output, and `most`, if not NULL, the maximum of one firing. */
enum kernel_status prt_kernel_execute_apart(const struct prt_kernel_object *object, uint64_t origin,
                                            uint64_t first, uint64_t count,
                                            const struct prt_kernel_scratch *scratch,
                                            const uint64_t *begin, uint64_t *produced,
                                            uint64_t *most, struct kernel_fault *fault);

/* Calls a kernel's `run` for the object, on the calling thread, inside of another such call too. */
enum kernel_status prt_kernel_call(const struct prt_kernel_object *object, kernel_entry run,
                                   const struct kernel_batch *batch);

/* Executes an `init` entry of the object's kernel, on the calling thread. */
enum kernel_status prt_kernel_init(const struct prt_kernel_object *object, kernel_entry init,
                                   struct kernel_fault *fault);

/* The firings that the calling thread is executing: for handlers of SIGSEGV and the like.  False: none.
 * *count 0: its finish or, of an object without that flag, its init.  Async-signal-safe. */
bool prt_kernel_executing(const struct prt_kernel_object **object, uint64_t *first,
                          uint64_t *count);

#endif
