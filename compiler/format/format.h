/* SPDX-License-Identifier: MIT */
/*
 * format: one canonical layout of a source's tokens and comments.
 *
 * Requires  a file without syntax errors.
 * Returns   the text: the same tokens and comments in the same order, so it has the same meaning.
 *           Formatting it again changes nothing.
 *
 * The layout follows from the tokens. In a few places it also follows from the author's line breaks: a
 * block or a body that was written on one line stays there if it fits; the rows of a list in braces stay
 * rows; one blank line stays between statements, fields and items.
 *
 *   format_tree.c    tokens to statements, blocks and runs; where blanks and breaks may stand
 *   format_layout.c  lines
 */
#ifndef PIPEC_FORMAT_H
#define PIPEC_FORMAT_H

#include <stddef.h>

#include "compiler/context/context.h"

struct formatted {
    char *text; /* in cx->arena, NUL-terminated */
    size_t size_bytes;
};

struct formatted format_source(struct compile *cx, uint32_t source);
/* True if two sources have the same tokens and comments. Blanks at both ends of the lines of
 * comments may differ: formatting may change only these. */
bool format_is_same(struct compile *cx, uint32_t one, uint32_t other);

#endif
