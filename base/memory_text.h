/* SPDX-License-Identifier: MIT */
/*
 * memory_text: a FILE whose text stays in memory.
 *
 * Unlike open_memstream, it reports that memory ran out. With the C library of Debian 12 open_memstream
 * then returns a cut or empty text without an error.
 *
 *     struct memory_text text;
 *     if (!memory_text_begin(&text)) ...          no memory
 *     fprintf(text.file, ...);
 *     char *bytes = memory_text_end(&text, &size);  freed by the caller; NULL: no memory
 *
 * Thread-safety: one thread at a time uses a text. A text does not move while it is open.
 */
#ifndef BASE_MEMORY_TEXT_H
#define BASE_MEMORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct memory_text {
    FILE *file; /* write here */
    char *bytes;
    size_t count, capacity;
    bool failed;
};

bool memory_text_begin(struct memory_text *text);
/* The number of bytes written so far. */
size_t memory_text_bytes(struct memory_text *text);
/* Closes the file.  The text ends with a NUL, which *size_bytes (may be NULL) does not count. */
char *memory_text_end(struct memory_text *text, size_t *size_bytes);

#endif
