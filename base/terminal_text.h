/* SPDX-License-Identifier: MIT */
/*
 * terminal_text: text from files and arguments in a form that is safe for a terminal.
 *
 * A byte that is not UTF-8, a control character, and a character that hides or reorders text become
 * \xNN, byte by byte.
 *
 * Thread-safety: no state.
 */
#ifndef BASE_TERMINAL_TEXT_H
#define BASE_TERMINAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes that are shown as one unit, and their columns. */
struct glyph {
    size_t length;
    unsigned columns; /* 0: a combining mark */
    bool is_escaped;  /* one byte, shown as \xNN */
};

/* Requires: available > 0. */
struct glyph glyph_at(const char *text, size_t available);
void glyph_print(FILE *to, const char *text, struct glyph glyph);

void terminal_text_print(FILE *to, const char *text);
void terminal_bytes_print(FILE *to, const char *bytes, size_t size_bytes);
unsigned terminal_text_columns(const char *text);
/* Writes whole glyphs to `to` while they fit in `size` bytes with a NUL. */
void terminal_text_copy(char *to, size_t size, const char *text);

#endif
