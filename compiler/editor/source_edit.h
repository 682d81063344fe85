/* SPDX-License-Identifier: MIT */
/*
 * source_edit: edits of a text at known places, and the words and brackets around them.
 */
#ifndef PIPEC_SOURCE_EDIT_H
#define PIPEC_SOURCE_EDIT_H

#include "base/arena.h"
#include "base/vec.h"
#include "compiler/support/source.h"

struct text_edit {
    uint32_t begin, end;
    const char *text;
    size_t size_bytes;
};

struct source_edit {
    struct arena *arena;
    const struct source *source;
    VEC(struct text_edit) edits;
};

/* Replaces [begin, end) by the text, which is copied; by a part of the source. Insertions at one place follow each other. */
void source_edit_put(struct source_edit *edit, uint32_t begin, uint32_t end, const char *text);
void source_edit_put_part(struct source_edit *edit, uint32_t at, uint32_t begin, uint32_t end);
/* The edited source, with its byte-order mark; false: two edits overlap, or the result is larger than SOURCE_MAX_BYTES. */
bool source_edit_result(struct source_edit *edit, const char **bytes, size_t *size_bytes);

/* The offset of the first byte from `at` on that is no blank, and is in no comment. */
uint32_t source_skip_blanks(const struct source *source, uint32_t at);
/* True if the bytes are blanks and bytes of `separators` only: no comment. */
bool source_is_gap(const struct source *source, uint32_t begin, uint32_t end,
                   const char *separators);
/* Of a list in brackets that opens at `open`: the closing bracket, and the first ';' in between (0: none). False: it does
 * not close. Comments, strings and inner brackets are skipped. */
struct bracket_list {
    uint32_t close, semicolon;
};
bool source_match_bracket(const struct source *source, uint32_t open, struct bracket_list *list);
/* True if the text is one part of a list or a chain: brackets match; outside of them there is no ';' and no "->"; nowhere a
 * comment, a string, a line feed or another control character; and it is not blank. */
bool source_is_part(const char *text);
/* The lines that a statement at [begin, end) has for itself, with a comment after it; false: others share them. */
struct source_lines {
    uint32_t begin, end; /* `end` is after the line feed */
    bool has_comment;
};
bool source_own_lines(const struct source *source, uint32_t begin, uint32_t end,
                      struct source_lines *lines);
/* The blanks before the first word of the line of `at`. */
const char *source_indent(struct arena *arena, const struct source *source, uint32_t at);
/* How the source ends its lines. */
const char *source_newline(const struct source *source);
/* `base`, or with a number, such that the source has no such word. */
const char *source_new_word(struct arena *arena, const struct source *source, const char *base);

#endif
