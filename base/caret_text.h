/* SPDX-License-Identifier: MIT */
/*
 * caret_text: a line of a text with a mark under a part of it.
 *
 *     3 | lanes = 2048
 *       |         ^^^^ at most 1024
 *
 * A tab becomes spaces, and bytes are printed as base/terminal_text.h describes. Of a long line only a
 * window around the mark is printed, with "..." where it is cut.
 *
 * Thread-safety: no state.
 */
#ifndef BASE_CARET_TEXT_H
#define BASE_CARET_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct caret_line {
    const char *bytes; /* without the end of the line */
    size_t length;
    size_t mark_begin, mark_end; /* within the line, half open; may be empty */
};

/* The line with the byte `begin` of `text`, and in it the mark from `begin` to `end`. A mark that
 * reaches into the next line ends with the last byte of this line that is not blank. An offset
 * past the text counts as its end. */
struct caret_line caret_line_at(const char *text, size_t size_bytes, size_t begin, size_t end);

struct caret_columns {
    unsigned first, last; /* from 0, half open */
};

/* Prints the line without a newline; returns the columns of its mark. */
struct caret_columns caret_line_print(FILE *to, const struct caret_line *line);

struct caret_snippet {
    struct caret_line line;
    uint32_t line_number;
    int gutter_columns; /* of the line number */
    char mark;          /* '^' or '-' */
    const char *label;  /* beside the mark; NULL or "": none */
    const char *colour; /* escape sequence for mark and label, reset at the end; NULL: none */
};

/* Prints both lines, each with its newline. */
void caret_snippet_print(FILE *to, const struct caret_snippet *snippet);

#endif
