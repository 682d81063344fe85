/* SPDX-License-Identifier: MIT */
/*
 * utf8: characters of text that need not be UTF-8.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text` (at least one is available), or 0 where it is not UTF-8; *code
 * is the character. */
size_t utf8_decode(const char *text, size_t available, uint32_t *code);

/* Where utf8_decode gives 0: the bytes that a decoder replaces with one U+FFFD, which are the
 * longest beginning of a character, or one byte. */
size_t utf8_broken_length(const char *text, size_t available);

/* Controls, line separators and what reorders or hides text. */
bool utf8_is_unprintable(uint32_t code);

struct code_range {
    uint32_t first, last;
};
bool utf8_in_ranges(const struct code_range *ranges, size_t count, uint32_t code);
#define IN_RANGES(table, code) utf8_in_ranges((table), sizeof(table) / sizeof *(table), (code))

#endif
