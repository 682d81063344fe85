/* SPDX-License-Identifier: MIT */
/*
 * damage STRIDE FILE...: every prefix and every single-bit flip of these containers.  As they are, all
 * of them are refused, by length and checksum; with these put right, the fuzz target of containers
 * takes them (fuzz_container.c): what is accepted runs safely.  STRIDE n above 1: only every n-th of
 * the latter, the first ones by turns.  Prints one TAP line per file; a finding ends the run.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/load/reader.h"

static void expect_refusal(const uint8_t *bytes, size_t size, const char *what, size_t number)
{
    struct prt_container c;
    struct prt_error error = {0};
    if (prt_container_read_memory(bytes, size, &c, &error) != PRT_OK) return;
    fprintf(stderr, "accepted with %s %zu\n", what, number);
    abort();
}

/* In a block of its own size, so that a sanitizer sees any byte read too many. */
static void damage_prefixes(const uint8_t *bytes, size_t size, size_t stride, size_t turn)
{
    for (size_t length = 0; length < size; length++) {
        uint8_t *prefix = malloc(length > 0 ? length : 1);
        if (prefix == NULL) abort();
        memcpy(prefix, bytes, length);
        expect_refusal(prefix, length, "a length of", length);
        if (length % stride == turn % stride) (void)LLVMFuzzerTestOneInput(prefix, length);
        free(prefix);
    }
}

static void damage_bits(uint8_t *bytes, size_t size, size_t stride, size_t turn)
{
    for (size_t bit = 0; bit < 8 * size; bit++) {
        uint8_t mask = (uint8_t)(1u << bit % 8);
        bytes[bit / 8] ^= mask;
        expect_refusal(bytes, size, "another bit", bit);
        if (bit % stride == turn % stride) (void)LLVMFuzzerTestOneInput(bytes, size);
        bytes[bit / 8] ^= mask;
    }
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long length = ftell(file);
        rewind(file);
        *size = length > 0 ? (size_t)length : 0;
        bytes = malloc(*size + 1);
        if (bytes != NULL && fread(bytes, 1, *size, file) != *size) *size = 0;
    }
    if (file != NULL) fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    size_t stride = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (stride == 0 || argc < 3) {
        fprintf(stderr, "usage: damage STRIDE FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        size_t size = 0;
        uint8_t *bytes = read_file(argv[i], &size);
        if (bytes == NULL || size == 0) {
            perror(argv[i]);
            return 2;
        }
        /* The checksum of a seed may be left to the fuzz target. */
        struct container_header header;
        if (size < sizeof header) return 2;
        memcpy(&header, bytes, sizeof header);
        header.checksum = prt_container_checksum(bytes, size);
        memcpy(bytes, &header, sizeof header);
        damage_prefixes(bytes, size, stride, (size_t)i);
        damage_bits(bytes, size, stride, (size_t)i);
        free(bytes);
        printf("ok %zu prefixes, %zu bits of %s\n", size, 8 * size, argv[i]);
        fflush(stdout);
    }
    return 0;
}
