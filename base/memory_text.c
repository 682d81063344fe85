/* SPDX-License-Identifier: MIT */
#include "base/memory_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1024 };

/* Room for `needed` bytes and a NUL. */
static bool text_grow(struct memory_text *text, size_t needed)
{
    size_t capacity = text->capacity > 0 ? text->capacity : FIRST_BYTES;
    while (capacity <= needed) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    char *moved = realloc(text->bytes, capacity);
    if (moved == NULL) return false;
    text->bytes = moved;
    text->capacity = capacity;
    return true;
}

static ssize_t append_bytes(void *cookie, const char *bytes, size_t size)
{
    struct memory_text *text = cookie;
    size_t needed;
    if (__builtin_add_overflow(text->count, size, &needed) ||
        (needed >= text->capacity && !text_grow(text, needed))) {
        text->failed = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(text->bytes + text->count, bytes, size);
    text->count = needed;
    return (ssize_t)size;
}

bool memory_text_begin(struct memory_text *text)
{
    *text = (struct memory_text){.file = NULL};
    text->file = fopencookie(text, "w", (cookie_io_functions_t){.write = append_bytes});
    return text->file != NULL;
}

size_t memory_text_bytes(struct memory_text *text)
{
    fflush(text->file);
    return text->count;
}

char *memory_text_end(struct memory_text *text, size_t *size_bytes)
{
    bool whole = ferror(text->file) == 0;
    whole = fclose(text->file) == 0 && whole && !text->failed;
    if (whole && text->bytes == NULL) whole = text_grow(text, 0);
    if (!whole) {
        free(text->bytes);
        return NULL;
    }
    text->bytes[text->count] = '\0';
    if (size_bytes != NULL) *size_bytes = text->count;
    return text->bytes;
}
