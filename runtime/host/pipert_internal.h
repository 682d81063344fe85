/* SPDX-License-Identifier: MIT */
/*
 * pipert_internal: a program whose kernels are linked into the executable, for tests (runtime/load/image.h).
 */
#ifndef RUNTIME_HOST_PIPERT_INTERNAL_H
#define RUNTIME_HOST_PIPERT_INTERNAL_H

#include "runtime/load/image.h"
#include "runtime/host/pipert.h"

/* As prt_program_load_memory, but ignores the container's image.  `nodes` has one record per node,
 * and is copied. */
enum prt_status prt_program_load_with_entries(const void *bytes, size_t size,
                                              const struct prt_image_kernel *nodes,
                                              kernel_arguments_entry arguments,
                                              struct prt_program **program,
                                              struct prt_error *error);

#endif
