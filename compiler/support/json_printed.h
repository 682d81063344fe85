/* SPDX-License-Identifier: MIT */
/*
 * json_printed: a JSON text whose content is printed to a file.
 *
 *     struct memory_text text;
 *     arena_text_begin(&text);
 *     scalar_value_print(text.file, value);
 *     json_printed_end(&json, "value", &text);
 *
 * Without memory the process ends (base/arena.h).
 */
#ifndef PIPEC_JSON_PRINTED_H
#define PIPEC_JSON_PRINTED_H

#include "base/json_write.h"
#include "compiler/support/arena_text.h"

void json_printed_end(struct json *json, const char *key, struct memory_text *text);

#endif
