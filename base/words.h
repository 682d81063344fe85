/* SPDX-License-Identifier: MIT */
/*
 * words: bytes and words of ASCII text, in every locale.  Pure functions.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool byte_is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static inline bool byte_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Letters, digits and '_'. */
static inline bool byte_is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte_is_digit(byte) ||
           byte == '_';
}

/* The index of the first of `words` that is `word`; `count` if none is. */
static inline size_t word_index(const char *word, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(words[i], word) != 0)
        i++;
    return i;
}
#define WORD_INDEX(word, words) word_index((word), (words), sizeof(words) / sizeof *(words))

/* For qsort and bsearch over an array of texts. */
static inline int words_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#endif
