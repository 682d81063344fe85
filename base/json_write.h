/*
 * json_write: JSON text, value by value.
 *
 *     struct json json = {.to = file};
 *     json_begin(&json, NULL, '{');
 *     json_text(&json, "name", name);
 *     json_begin(&json, "list", '[');
 *     json_number(&json, NULL, 7);            elements of arrays have no key
 *     json_end(&json, ']');
 *     json_end(&json, '}');
 *
 * Commas, indentation and escapes are put here.  All output is UTF-8: a byte that is not becomes
 * the four characters \xNN.
 */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory_text.h"

struct json {
    FILE *to;
    bool compact; /* all on one line */
    unsigned depth;
    bool has_members; /* of what is open */
};

void json_begin(struct json *json, const char *key, char bracket);
void json_end(struct json *json, char bracket);
/* A NULL text is null. */
void json_text(struct json *json, const char *key, const char *text);
/* What is printed to `text->file` between the two is a text.  Without memory the process ends
 * (base/arena.h). */
void json_printed_begin(struct memory_text *text);
void json_printed_end(struct json *json, const char *key, struct memory_text *text);
void json_number(struct json *json, const char *key, uint64_t number);
/* An array of `count` numbers; where `numbers` is NULL, `single` alone. */
void json_numbers(struct json *json, const char *key, uint64_t single, const uint64_t *numbers,
                  size_t count);
void json_boolean(struct json *json, const char *key, bool value);
/* The text in quotes, escaped. */
void json_print_string(FILE *to, const char *text);

#endif
