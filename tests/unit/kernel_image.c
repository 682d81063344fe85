/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel_image.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/test.h"

void *kernel_image_open(const struct kernel_image *image, int *opened)
{
    char path[64];
    int file = memfd_create("image", MFD_CLOEXEC);
    assert_true(file >= 0);
    const struct kernel_object *object = &image->objects[0];
    assert_int_equal(write(file, object->bytes, object->size_bytes), (ssize_t)object->size_bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) print_message("%s\n", dlerror());
    assert_non_null(library);
    *opened = file;
    return library;
}

void *kernel_block_create(uint64_t size)
{
    void *bytes = aligned_alloc(64, (size_t)(size + 64) / 64 * 64);
    memset(bytes, 0, (size_t)(size + 64) / 64 * 64);
    return bytes;
}
