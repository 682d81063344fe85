/* SPDX-License-Identifier: MIT */
/*
 * utf8: characters of text that may not be valid UTF-8.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the character at `text`, and *code; 0 if it is not UTF-8. At least one byte
 * is available. */
size_t utf8_decode(const char *text, size_t available, uint32_t *code);

/* If utf8_decode returns 0: the number of bytes that a decoder replaces by one U+FFFD. They are
 * the longest incomplete character, or one byte. */
size_t utf8_broken_length(const char *text, size_t available);

/* The bytes of the line's first `units` UTF-16 code units, or of the whole line if it is shorter. A character that is
 * cut counts as a whole. */
size_t utf16_prefix_bytes(const char *line, size_t available, size_t units);

/* Controls, line separators, and characters that reorder or hide text. */
bool utf8_is_unprintable(uint32_t code);

struct code_range {
    uint32_t first, last;
};
bool utf8_in_ranges(const struct code_range *ranges, size_t count, uint32_t code);
#define IN_RANGES(table, code) utf8_in_ranges((table), sizeof(table) / sizeof *(table), (code))

#endif
