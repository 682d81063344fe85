/* SPDX-License-Identifier: MIT */
/*
 * quote: bytes as a string literal of the language, which the lexer reads back as the same bytes.
 */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stddef.h>
#include <stdio.h>

void quote_print(FILE *to, const char *bytes, size_t size_bytes);

#endif
