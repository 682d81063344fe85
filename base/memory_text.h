/* SPDX-License-Identifier: MIT */
/*
 * memory_text: a FILE whose text stays in memory.
 *
 * As open_memstream, which forgets that there was no memory: with the C library of Debian 12 the text is
 * then cut or empty, and nothing says so.
 *
 *     struct memory_text text;
 *     if (!memory_text_begin(&text)) ...          no memory
 *     fprintf(text.file, ...);
 *     char *bytes = memory_text_end(&text, &size);  the caller's, to free; NULL: no memory
 *
 * Threads: a text is used by one at a time, and does not move while it is open.
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
/* How much has been written so far. */
size_t memory_text_bytes(struct memory_text *text);
/* Closes the file.  The text ends with a NUL, which *size_bytes (may be NULL) does not count. */
char *memory_text_end(struct memory_text *text, size_t *size_bytes);

#endif
