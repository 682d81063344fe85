/* SPDX-License-Identifier: MIT */
#include "compiler/format/format.h"

#include <string.h>

#include "compiler/format/format_internal.h"
#include "base/utf8.h"
#include "compiler/syntax/parser.h"

enum { ROUNDS_MAX = 8 };

/* ---- the source as tokens and the comments between them ---- */

static uint32_t count_newlines(const char *bytes, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++)
        count += bytes[i] == '\n';
    return count;
}

uint32_t format_columns(const char *text, size_t size)
{
    uint32_t columns = 0, code;
    for (size_t i = 0; i < size; columns++) {
        size_t length = utf8_decode(text + i, size - i, &code);
        i += length > 0 ? length : 1;
    }
    return columns;
}

/* The size without the blanks at the end. */
static uint32_t trimmed_size(const char *text, uint32_t size)
{
    while (size > 0 && strchr(" \t\r\v\f", text[size - 1]) != NULL && text[size - 1] != '\0')
        size--;
    return size;
}

static void fill_comment(struct format_comment *comment, const char *bytes, struct span span,
                         uint32_t behind)
{
    const char *text = bytes + span.begin;
    uint32_t size = span.end - span.begin;
    comment->text = text;
    comment->is_line = text[1] == '/';
    comment->size_bytes = comment->is_line ? trimmed_size(text, size) : size;
    comment->newlines = count_newlines(bytes, behind, span.begin);
    uint32_t begin = span.begin;
    while (begin > 0 && bytes[begin - 1] != '\n')
        begin--;
    comment->column = format_columns(bytes + begin, span.begin - begin);
    comment->several_lines = memchr(text, '\n', size) != NULL;
}

static struct formatted format_once(struct compile *cx, uint32_t source)
{
    struct format_file file = {.cx = cx};
    const char *bytes = source_get(cx->sources, source)->bytes;
    struct token_list list = {0};
    token_list_read(cx, source, &list);
    file.token_count = (uint32_t)list.tokens.count;
    file.tokens = ARENA_ARRAY(cx->arena, struct format_token, list.tokens.count + 1);
    file.comments = ARENA_ARRAY(cx->arena, struct format_comment, list.comments.count + 1);
    uint32_t behind = 0, comment = 0;
    for (uint32_t i = 0; i < file.token_count; i++) {
        file.tokens[i].comment_first = comment;
        for (; comment < list.comments.count && list.comments.items[comment].before == i;
             comment++) {
            fill_comment(&file.comments[comment], bytes, list.comments.items[comment].span, behind);
            behind = list.comments.items[comment].span.end;
        }
        file.tokens[i].comment_behind = comment;
        struct format_token *token = &file.tokens[i];
        const struct list_token *listed = &list.tokens.items[i];
        token->kind = listed->kind;
        token->text = bytes + listed->span.begin;
        token->size_bytes = listed->span.end - listed->span.begin;
        token->columns = format_columns(token->text, token->size_bytes);
        if (listed->span.begin > behind)
            token->newlines = count_newlines(bytes, behind, listed->span.begin);
        behind = list.tokens.items[i].span.end;
    }
    format_tree(&file);
    return format_layout(&file);
}

/* Formats until nothing changes, which is usually the second round. The column of a comment
 * decides what it belongs to, and formatting can move a comment under another one by chance. */
struct formatted format_source(struct compile *cx, uint32_t source)
{
    struct formatted before, after = format_once(cx, source);
    int rounds = 0;
    do {
        before = after;
        after =
            format_once(cx, source_add(cx->sources, "formatted", before.text, before.size_bytes));
    } while (++rounds < ROUNDS_MAX && (after.size_bytes != before.size_bytes ||
                                       memcmp(after.text, before.text, after.size_bytes) != 0));
    return after;
}

/* ---- comparison: tokens and comments may not change ---- */

static const char *text_at_span(const struct compile *cx, struct span span)
{
    return source_get(cx->sources, span.source)->bytes + span.begin;
}

static bool is_blank_in_line(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The end of the line without its blanks. *next: the next byte that is not blank. */
static uint32_t find_line_end(const char *text, uint32_t at, uint32_t size, uint32_t *next)
{
    uint32_t end = at;
    while (end < size && text[end] != '\n')
        end++;
    *next = end < size ? end + 1 : end;
    while (*next < size && is_blank_in_line(text[*next]))
        (*next)++;
    while (end > at && is_blank_in_line(text[end - 1]))
        end--;
    return end;
}

static bool same_comment(const char *one, uint32_t one_size, const char *other, uint32_t other_size)
{
    uint32_t i = 0, j = 0;
    while (i < one_size && j < other_size) {
        uint32_t i_next, j_next;
        uint32_t length = find_line_end(one, i, one_size, &i_next) - i;
        if (find_line_end(other, j, other_size, &j_next) - j != length ||
            memcmp(one + i, other + j, length) != 0)
            return false;
        i = i_next;
        j = j_next;
    }
    return i == one_size && j == other_size;
}

bool format_is_same(struct compile *cx, uint32_t one, uint32_t other)
{
    struct token_list a = {0}, b = {0};
    token_list_read(cx, one, &a);
    token_list_read(cx, other, &b);
    if (a.tokens.count != b.tokens.count || a.comments.count != b.comments.count) return false;
    for (size_t i = 0; i < a.tokens.count; i++) {
        struct span x = a.tokens.items[i].span, y = b.tokens.items[i].span;
        if (a.tokens.items[i].kind != b.tokens.items[i].kind ||
            x.end - x.begin != y.end - y.begin ||
            memcmp(text_at_span(cx, x), text_at_span(cx, y), x.end - x.begin) != 0)
            return false;
    }
    for (size_t i = 0; i < a.comments.count; i++) {
        struct span x = a.comments.items[i].span, y = b.comments.items[i].span;
        if (a.comments.items[i].before != b.comments.items[i].before ||
            !same_comment(text_at_span(cx, x), x.end - x.begin, text_at_span(cx, y),
                          y.end - y.begin))
            return false;
    }
    return true;
}
