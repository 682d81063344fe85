/* SPDX-License-Identifier: MIT */
#include "base/caret_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/terminal_text.h"

enum {
    TAB_COLUMNS = 8,
    LINE_WHOLE_BYTES = 240, /* longer lines are cut to a window around the mark */
    WINDOW_BEFORE_BYTES = 70,
    WINDOW_AFTER_BYTES = 100,
    CHARACTER_REST_BYTES = 3, /* of UTF-8, after the first byte */
};

struct caret_line caret_line_at(const char *text, size_t size_bytes, size_t begin, size_t end)
{
    if (begin > size_bytes) begin = size_bytes;
    size_t from = begin, to = begin;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    while (to < size_bytes && text[to] != '\n')
        to++;
    bool reaches_next_line = end > to;
    if (to > from && to < size_bytes && text[to - 1] == '\r') to--;
    struct caret_line line = {.bytes = text + from, .length = to - from};
    line.mark_begin = begin < to ? begin - from : line.length;
    line.mark_end = end < to ? end - from : line.length;
    while (reaches_next_line && line.mark_end > line.mark_begin + 1 &&
           isspace((unsigned char)line.bytes[line.mark_end - 1]))
        line.mark_end--;
    return line;
}

/* The first byte of the character that the byte `at` belongs to. */
static size_t character_begin(const struct caret_line *line, size_t at)
{
    for (int i = 0; i < CHARACTER_REST_BYTES && at > 0 && at < line->length; i++) {
        if (((unsigned char)line->bytes[at] & 0xC0) != 0x80) break;
        at--;
    }
    return at;
}

struct caret_columns caret_line_print(FILE *to, const struct caret_line *line)
{
    size_t begin = 0, end = line->length;
    if (line->length > LINE_WHOLE_BYTES) {
        size_t mark = line->mark_begin;
        begin = character_begin(line, mark > WINDOW_BEFORE_BYTES ? mark - WINDOW_BEFORE_BYTES : 0);
        if (line->length - mark > WINDOW_AFTER_BYTES)
            end = character_begin(line, mark + WINDOW_AFTER_BYTES);
    }
    struct caret_columns mark = {0};
    unsigned column = 0;
    bool has_begun = false, has_ended = false;
    if (begin > 0) {
        fputs("...", to);
        column = 3;
    }
    for (size_t i = begin; i < end;) {
        struct glyph glyph = glyph_at(line->bytes + i, end - i);
        if (!has_begun && i + glyph.length > line->mark_begin) {
            mark.first = column;
            has_begun = true;
        }
        if (!has_ended && i >= line->mark_end) {
            mark.last = column;
            has_ended = true;
        }
        if (line->bytes[i] == '\t') {
            glyph.columns = TAB_COLUMNS - column % TAB_COLUMNS;
            fprintf(to, "%*s", (int)glyph.columns, "");
        } else {
            glyph_print(to, line->bytes + i, glyph);
        }
        column += glyph.columns;
        i += glyph.length;
    }
    if (!has_begun) mark.first = column;
    if (!has_ended) mark.last = column;
    if (end < line->length) fputs("...", to);
    return mark;
}

void caret_snippet_print(FILE *to, const struct caret_snippet *snippet)
{
    fprintf(to, "%*" PRIu32 " | ", snippet->gutter_columns, snippet->line_number);
    struct caret_columns mark = caret_line_print(to, &snippet->line);
    fprintf(to, "\n%*s | %*s", snippet->gutter_columns, "", (int)mark.first, "");
    if (snippet->colour != NULL) fputs(snippet->colour, to);
    unsigned column = mark.first;
    do
        fputc(snippet->mark, to);
    while (++column < mark.last);
    if (snippet->label != NULL && snippet->label[0] != '\0') {
        fputc(' ', to);
        terminal_text_print(to, snippet->label);
    }
    if (snippet->colour != NULL) fputs("\033[0m", to);
    fputc('\n', to);
}
