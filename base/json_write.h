/* SPDX-License-Identifier: MIT */
/*
 * json_write: JSON text, value by value.  Every JSON text of pipec and piperun is written here.
 *
 *     struct json json = {.to = file};
 *     json_begin(&json, NULL, '{');
 *     json_text(&json, "name", name);
 *     json_begin_line(&json, "list", '[');    its elements stand on one line
 *     json_number(&json, NULL, 7);            elements of arrays have no key
 *     json_end(&json, ']');
 *     json_end(&json, '}');
 *
 * The module writes commas, indentation and escapes. The text is UTF-8. A byte that is not UTF-8 becomes
 * the four characters \xNN. Control characters, and characters that hide or reorder text, are escaped.
 *
 * Errors: those of the file; the caller checks ferror. Allocation: none.
 */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *to;
    bool compact; /* everything on one line, without blanks */
    unsigned depth;
    unsigned line_depth; /* values at this depth or deeper stand on one line; 0: none */
    bool has_members;    /* of the innermost open object or array */
};

void json_begin(struct json *json, const char *key, char bracket);
void json_begin_line(struct json *json, const char *key, char bracket);
void json_end(struct json *json, char bracket);
/* A NULL text is null. */
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t number);
/* An array of `count` numbers; if `numbers` is NULL, the number `single`. */
void json_numbers(struct json *json, const char *key, uint64_t single, const uint64_t *numbers,
                  size_t count);
/* number / 10^`decimals`, as a decimal fraction with that many places; decimals 1 to 9. */
void json_fraction(struct json *json, const char *key, uint64_t number, unsigned decimals);
void json_boolean(struct json *json, const char *key, bool value);
/* A value that is JSON already, on one line. */
void json_literal(struct json *json, const char *key, const char *value);
/* The text in quotes, escaped. */
void json_print_string(FILE *to, const char *text);

#endif
