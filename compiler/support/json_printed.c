/* SPDX-License-Identifier: MIT */
#include "compiler/support/json_printed.h"

#include "base/arena.h"

#include <stdlib.h>

void json_printed_end(struct json *json, const char *key, struct memory_text *text)
{
    char *bytes = memory_text_end(text, NULL);
    if (bytes == NULL) arena_out_of_memory();
    json_text(json, key, bytes);
    free(bytes);
}
