/* SPDX-License-Identifier: MIT */
/*
 * format: one canonical layout of a source's tokens and comments.
 *
 * Requires  a file without syntax errors.
 * Returns   the text: the same tokens and comments in the same order, laid out anew; so it has the
 *           same meaning.  Formatting it again changes nothing.
 *
 * The layout follows from the tokens, and from where the author began a new line in a few places:
 * a block or a statement's body that was written on one line stays there where it fits; the rows of
 * a list in braces stay rows; one blank line stays between statements, fields and items.
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
/* Whether two sources have the same tokens and the same comments, blanks at the ends of their lines
 * and before them apart: what formatting may not change. */
bool format_is_same(struct compile *cx, uint32_t one, uint32_t other);

#endif
