/* SPDX-License-Identifier: MIT */
/*
 * kernel_image: compiled kernels, loaded into the test.
 */
#ifndef TESTS_KERNEL_IMAGE_H
#define TESTS_KERNEL_IMAGE_H

#include "compiler/codegen/common/codegen.h"

/* A handle of dlopen.  *opened stays open as long as the library: dlopen takes libraries of one name
 * for the same. */
void *kernel_image_open(const struct kernel_image *image, int *opened);
/* So many bytes, zero, aligned as the blocks of a node are; the caller frees. */
void *kernel_block_create(uint64_t size);

#endif
