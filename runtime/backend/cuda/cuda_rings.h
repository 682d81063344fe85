/* SPDX-License-Identifier: MIT */
/*
 * cuda_rings: the memory of the buffers of a run, as the device sees it.
 *
 * As on the host (runtime/device/ring.h), a ring is mapped twice, so a window never wraps.  The size of a ring on the device
 * is a multiple of the driver's granularity (2 MiB), and the positions of the buffer follow.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_RINGS_H
#define RUNTIME_BACKEND_CUDA_CUDA_RINGS_H

#include "runtime/backend/cuda/cuda_run.h"

/* Makes the rings of inner buffers, with their initial packets, and gives the device access to those of ports. */
enum prt_status prt_cuda_rings_create(struct prt_cuda_run *run, struct prt_error *error);
void prt_cuda_rings_destroy(struct prt_cuda_run *run);

#endif
