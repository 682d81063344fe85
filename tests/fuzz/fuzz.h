/* SPDX-License-Identifier: MIT */
/* The entry of a fuzz target: libFuzzer calls it in `make fuzz`, replay.c in `make check`. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs the code under test over these bytes; returns 0.  A finding crashes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
