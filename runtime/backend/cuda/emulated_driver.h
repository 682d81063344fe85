/* SPDX-License-Identifier: MIT */
/*
 * emulated_driver: a driver whose GPU is the host: for tests of the device `cuda` on machines without a GPU.
 *
 * Its multiprocessors are threads of the host.  They execute the resident scheduler, from the same source as a GPU, and the
 * kernels of the container's image for processors.  Memory of the device is memory of the host.
 *
 * Thread-safety: as a driver.  Ownership: the caller's, as with a driver.
 * Errors: PRT_CUDA_OUT_OF_MEMORY; PRT_CUDA_INVALID_PTX: the text is not PTX.
 */
#ifndef RUNTIME_BACKEND_CUDA_EMULATED_DRIVER_H
#define RUNTIME_BACKEND_CUDA_EMULATED_DRIVER_H

#include "runtime/backend/cuda/cuda_driver.h"
#include "runtime/device/device.h"

void prt_emulated_driver_open(struct prt_cuda_driver *driver);

/* Executes the entries of lang/gpu_abi.h by kernels for processors. */
struct prt_emulated_kernels;

/* For a run: the tables of `core` may change, except its rates.  The number of an entry is GPU_ENTRY of a stage, not of a
 * kernel; of a kernel that launches or is launched, it is GPU_ENTRY of its interface and the number of stages.
 * NULL: no memory. */
struct prt_emulated_kernels *prt_emulated_kernels_create(const struct prt_container *container,
                                                         const struct core *core,
                                                         const struct prt_kernel_object *objects,
                                                         uint32_t workers);
void prt_emulated_kernels_destroy(struct prt_emulated_kernels *kernels); /* NULL is allowed */

/* For the resident scheduler. */
const struct core_resident_host *
prt_emulated_kernels_host(const struct prt_emulated_kernels *kernels);

#endif
