/* SPDX-License-Identifier: MIT */
/*
 * built_container: what pipec writes for a program in memory, and the loader reads.
 */
#ifndef TESTS_BUILT_CONTAINER_H
#define TESTS_BUILT_CONTAINER_H

#include "runtime/load/reader.h"

/* The bytes of the container of a pipeline (NULL: the only one) for a built-in device; malloc'ed.
 * Whatever goes wrong fails the test. */
uint8_t *built_container_bytes(const char *text, const char *pipeline, const char *device,
                               size_t *size);
/* The same with the smallest buffers. */
uint8_t *built_small_container_bytes(const char *text, const char *pipeline, const char *device,
                                     size_t *size);
/* The same in debug mode. */
uint8_t *built_debug_container_bytes(const char *text, const char *pipeline, const char *device,
                                     size_t *size);
/* Read from them, and verified. */
struct prt_container built_container(const char *text, const char *pipeline, const char *device);

#endif
