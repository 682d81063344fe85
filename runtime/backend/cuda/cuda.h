/* SPDX-License-Identifier: MIT */
/*
 * cuda: NVIDIA GPUs.  The scheduler is resident on the GPU (core/resident): one kernel executes the whole run.
 *
 *     open       opens the driver and takes a GPU
 *     begin      joins the kernels of the container, as PTX, with the scheduler, to one kernel; allocates all memory;
 *                copies arguments, tables, state and initial packets; launches the kernel (cuda_run.h)
 *     resume     exchanges letters with the kernel in memory that both can access.  It asks the driver only if the
 *                kernel gives no sign of life
 *     close      waits for the kernel, frees everything
 *
 * The program's compute units are names, as those of the host's cores: its device, and each of its sub-devices, has a share
 * of the multiprocessors of the run.  These are all of the GPU, or those of one of its parts, and one of them executes the
 * scheduler.  Arguments and `init` are evaluated by the host, by the container's image for processors.
 *
 * `prt_cuda_emulated_device` is the same with emulated_driver.h, for tests.
 *
 * Refused (PRT_E_DEVICE): a container without an image for GPUs; a GPU that cannot launch cooperative kernels.
 *
 * Errors: PRT_E_DEVICE with the driver's name of the error; PRT_E_NOMEM.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_H
#define RUNTIME_BACKEND_CUDA_CUDA_H

#include "runtime/device/device.h"

extern const struct prt_device_ops prt_cuda_device;
extern const struct prt_device_ops prt_cuda_emulated_device;

/* A GPU, as its driver describes it. */
struct prt_cuda_figures {
    char name[128];
    uint32_t multiprocessors;
    uint32_t capability; /* ten times the major number plus the minor one */
    uint64_t clock_hz, memory_bytes, memory_bytes_per_second, l2_bytes;
};

/* The GPU of that number.  PRT_E_DEVICE: there is no driver, or no such GPU. */
enum prt_status prt_cuda_describe(uint32_t number, struct prt_cuda_figures *figures,
                                  struct prt_error *error);

/* The GPU of that name (prt_cuda_find_name), as a device whose compute units are its multiprocessors.  Figures
 * that its driver does not report are those of the description `cuda`.  PRT_E_DEVICE: as above. */
enum prt_status prt_cuda_describe_device(const char *name, struct devdesc *description,
                                         struct prt_error *error);

/* PRT_E_DEVICE: the container cannot run on any GPU. */
enum prt_status prt_cuda_check_container(const struct prt_container *container,
                                         struct prt_error *error);

/* "cuda", "cuda:3": is it the name of a GPU?  "cuda-emulated": of the emulated one.  *number: from 0. */
enum prt_cuda_kind { PRT_CUDA_NONE, PRT_CUDA_REAL, PRT_CUDA_EMULATED };
enum prt_cuda_kind prt_cuda_find_name(const char *name, uint32_t *number);

#endif
