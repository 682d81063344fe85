/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over files, without libFuzzer: `make check` replays every seed, so neither a
 * past finding nor the target itself rots.  Prints one TAP line per file; a crash ends the run.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the whole file into a block of exactly its size, so that a sanitizer sees any byte read too
 * many. */
static uint8_t *read_file(FILE *file, size_t *size_bytes)
{
    if (fseek(file, 0, SEEK_END) != 0) return NULL;
    long length = ftell(file);
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0) return NULL;
    *size_bytes = (size_t)length;
    uint8_t *data = malloc(*size_bytes ? *size_bytes : 1);
    if (data && fread(data, 1, *size_bytes, file) == *size_bytes) return data;
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t size_bytes = 0;
        FILE *file = fopen(argv[i], "rb");
        uint8_t *data = file ? read_file(file, &size_bytes) : NULL;
        if (file) fclose(file);
        if (!data) {
            fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
            return 2;
        }
        const char *slash = strrchr(argv[i], '/');
        LLVMFuzzerTestOneInput(data, size_bytes);
        free(data);
        printf("ok %s\n", slash ? slash + 1 : argv[i]);
        fflush(stdout);
    }
    return 0;
}
