/* SPDX-License-Identifier: MIT */
/*
 * arena_text: a text that is printed to a file and kept on an arena.
 *
 *     struct memory_text text;
 *     arena_text_begin(&text);
 *     graph_print_rate(text.file, ...);
 *     const char *kept = arena_text_end(arena, &text, NULL);
 *
 * Without memory the process ends (base/arena.h).
 */
#ifndef PIPEC_ARENA_TEXT_H
#define PIPEC_ARENA_TEXT_H

#include "base/arena.h"
#include "base/memory_text.h"

void arena_text_begin(struct memory_text *text);
/* The text ends with a NUL, which *size_bytes (may be NULL) does not count. */
const char *arena_text_end(struct arena *arena, struct memory_text *text, size_t *size_bytes);

#endif
