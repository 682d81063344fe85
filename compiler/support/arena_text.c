/* SPDX-License-Identifier: MIT */
#include "compiler/support/arena_text.h"

#include <stdlib.h>

void arena_text_begin(struct memory_text *text)
{
    if (!memory_text_begin(text)) arena_out_of_memory();
}

const char *arena_text_end(struct arena *arena, struct memory_text *text, size_t *size_bytes)
{
    size_t size;
    char *bytes = memory_text_end(text, &size);
    if (bytes == NULL) arena_out_of_memory();
    const char *kept = arena_string(arena, bytes, size);
    free(bytes);
    if (size_bytes != NULL) *size_bytes = size;
    return kept;
}
