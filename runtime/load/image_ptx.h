/* SPDX-License-Identifier: MIT */
/*
 * image_ptx: an image for NVIDIA GPUs, checked before a driver is asked to compile it.
 *
 * An image that is accepted is text of one line or more (printable ASCII characters, tabs, line ends) with one NUL,
 * its last byte. So whoever gets its address reads no further. It has every entry that the container's nodes and
 * interfaces need (lang/gpu_abi.h). Nothing here compiles it: a container is trusted as an executable is.
 *
 * Work: linear in the image. PRT_E_FORMAT, PRT_E_NOMEM.
 */
#ifndef RUNTIME_LOAD_IMAGE_PTX_H
#define RUNTIME_LOAD_IMAGE_PTX_H

#include "base/status.h"
#include "runtime/load/reader.h"

enum prt_status prt_image_ptx_verify(const struct prt_container *container,
                                     const struct container_image *image, struct prt_error *error);

#endif
