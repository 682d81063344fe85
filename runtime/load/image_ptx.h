/* SPDX-License-Identifier: MIT */
/*
 * image_ptx: an image for NVIDIA GPUs, checked before a driver is asked to compile it.
 *
 * An image that is accepted is text of one line or more (printable ASCII characters, tabs, line ends) with one NUL,
 * its last byte. So a reader that gets only its address stops there. It has every entry that the container's nodes and
 * interfaces need (lang/gpu_abi.h). Nothing here compiles it: a container is trusted as an executable is.
 *
 * Work: linear in the image. PRT_E_FORMAT, PRT_E_NOMEM.
 */
#ifndef RUNTIME_LOAD_IMAGE_PTX_H
#define RUNTIME_LOAD_IMAGE_PTX_H

#include "base/status.h"
#include "runtime/load/reader.h"

#include <stdbool.h>

/* Are the firings of the node executed by different threads (lang/gpu_abi.h)? */
bool prt_image_ptx_has_threads(const struct prt_container *container,
                               const struct container_node *node);

/* The best image for GPUs of that compute capability (ten times the major number plus the minor one); NULL: there is
 * none. */
const struct container_image *prt_image_ptx_find(const struct prt_container *container,
                                                 uint64_t capability);

enum prt_status prt_image_ptx_verify(const struct prt_container *container,
                                     const struct container_image *image, struct prt_error *error);

#endif
