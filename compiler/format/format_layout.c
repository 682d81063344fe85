/* SPDX-License-Identifier: MIT */
/*
 * format_layout: statements to lines of at most LINE_COLUMNS columns, if possible.
 *
 * A run that does not fit is cut at its outermost breaks. Each piece stays on the line if it fits there.
 * Otherwise it gets a line of its own if it fits there. Otherwise it is cut further. Comments after the
 * code of consecutive lines stand in one column.
 */
#include <string.h>

#include "compiler/format/format_internal.h"
#include "compiler/syntax/parser.h"

enum {
    LINE_COLUMNS = 100,
    INDENT = 4,
    UNDER_MAX = 60,  /* further right nothing is aligned under a token: too little room is left */
    INDENT_MAX = 60, /* deeper levels are not indented further */
    GAP = 2,         /* between code and the comment after it */
};

struct line {
    size_t begin, comment; /* offsets in the text; comment: of the one after the code, or 0 */
    uint32_t indent, code_columns;
    bool continues; /* only a comment, aligned under the one of the line above */
};

struct layout {
    const struct format_file *file;
    const struct format_token *tokens;
    struct arena *arena;
    /* Prefix sums over the tokens: columns on one line, breaks that comments and rows force, and
     * line breaks of the author in places that may stay on one line. */
    uint64_t *columns;
    uint32_t *forced, *broken;
    uint32_t *column_of;    /* where a token was put */
    uint32_t *line_of;      /* the indentation of the line it was put on */
    uint32_t base;          /* indentation of the statement's line */
    uint32_t line, column;  /* of the current line: its indentation, and the next column */
    bool fresh;             /* the current line is empty */
    uint32_t comment_under; /* column + 1 in the source of the comment after the code above */
    VEC(char) text;
    VEC(struct line) lines;
};

/* ---- text ---- */

static void put_text_bytes(struct layout *l, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        vec_push(l->arena, &l->text, bytes[i]);
}

static void put_blanks(struct layout *l, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        vec_push(l->arena, &l->text, ' ');
}

static struct line *last_line(struct layout *l)
{
    return &l->lines.items[l->lines.count - 1];
}

static void end_layout_line(struct layout *l)
{
    if (l->lines.count == 0) return;
    if (last_line(l)->comment == 0) last_line(l)->code_columns = l->column;
    vec_push(l->arena, &l->text, '\n');
}

static void begin_line(struct layout *l, uint32_t indent)
{
    end_layout_line(l);
    l->line = l->column = indent;
    l->fresh = true;
    vec_push(l->arena, &l->lines, (struct line){.begin = l->text.count, .indent = indent});
}

static void blank_line(struct layout *l)
{
    if (l->lines.count > 0) begin_line(l, 0);
}

static void put_layout_text(struct layout *l, const char *text, size_t size, uint32_t columns)
{
    if (l->fresh) put_blanks(l, l->line);
    l->fresh = false;
    put_text_bytes(l, text, size);
    l->column += columns;
}

/* ---- comments ---- */

/* Writes a further line of a comment. A line that begins with `*` is aligned under the first line;
 * the others move by as much as the first line. */
static void put_comment_line(struct layout *l, const struct format_comment *comment,
                             const char *line, size_t size, uint32_t at)
{
    uint32_t lead = 0;
    size_t skip = 0;
    for (; skip < size && (line[skip] == ' ' || line[skip] == '\t'); skip++)
        lead = line[skip] == '\t' ? (lead / 8 + 1) * 8 : lead + 1;
    while (size > skip && strchr(" \t\r\v\f", line[size - 1]) != NULL && line[size - 1] != '\0')
        size--;
    if (skip >= size) return;
    int64_t column =
        line[skip] == '*' ? (int64_t)at + 1 : (int64_t)lead - comment->column + (int64_t)at;
    put_blanks(l, column > 0 ? (uint32_t)column : 0);
    put_text_bytes(l, line + skip, size - skip);
    l->column = (column > 0 ? (uint32_t)column : 0) + format_columns(line + skip, size - skip);
}

static void put_comment(struct layout *l, const struct format_comment *comment)
{
    const char *text = comment->text, *end = text + comment->size_bytes;
    uint32_t at = l->fresh ? l->line : l->column;
    const char *newline = memchr(text, '\n', comment->size_bytes);
    size_t first = newline != NULL ? (size_t)(newline - text) : comment->size_bytes;
    while (first > 0 && strchr(" \t\r\v\f", text[first - 1]) != NULL && text[first - 1] != '\0')
        first--;
    put_layout_text(l, text, first, format_columns(text, first));
    while (newline != NULL) {
        const char *line = newline + 1;
        newline = memchr(line, '\n', (size_t)(end - line));
        vec_push(l->arena, &l->text, '\n');
        put_comment_line(l, comment, line, (size_t)((newline != NULL ? newline : end) - line), at);
    }
}

static const struct format_comment *comment_at(const struct layout *l, uint32_t index)
{
    return &l->file->comments[index];
}

/* True if a line ends after comment `i` of those before the token. */
static bool line_ends_behind(const struct layout *l, const struct format_token *token, uint32_t i)
{
    if (comment_at(l, i)->is_line) return true;
    if (i + 1 < token->comment_behind) return comment_at(l, i + 1)->newlines > 0;
    return token->newlines > 0;
}

/* The end of the comments before the token that stand after earlier code. */
static uint32_t trailing_end(const struct layout *l, const struct format_token *token)
{
    uint32_t i = token->comment_first;
    if (i == token->comment_behind || comment_at(l, i)->newlines > 0 || token == l->tokens)
        return i;
    while (i < token->comment_behind && !line_ends_behind(l, token, i))
        i++;
    return i < token->comment_behind ? i + 1 : token->comment_first;
}

/* The first of the comments that stand before the token on its own line. */
static uint32_t leading_begin(const struct layout *l, const struct format_token *token)
{
    uint32_t i = token->comment_behind;
    while (i > token->comment_first && !line_ends_behind(l, token, i - 1))
        i--;
    return i;
}

static bool comments_force_break(const struct layout *l, const struct format_token *token)
{
    for (uint32_t i = token->comment_first; i < token->comment_behind; i++)
        if (line_ends_behind(l, token, i) || comment_at(l, i)->several_lines) return true;
    return false;
}

static void put_trailing(struct layout *l, const struct format_token *token)
{
    uint32_t end = trailing_end(l, token);
    for (uint32_t i = token->comment_first; i < end; i++) {
        const struct format_comment *comment = comment_at(l, i);
        struct line *line = last_line(l);
        bool first = line->comment == 0 && !comment->several_lines && i + 1 == end;
        if (first) {
            line->code_columns = l->column;
            put_blanks(l, GAP);
            line->comment = l->text.count;
            l->column += GAP;
            l->comment_under = comment->is_line ? comment->column + 1 : 0;
        } else {
            put_layout_text(l, " ", 1, 1);
        }
        put_comment(l, comment);
    }
}

/* True if the comment continues the one after the code of the line above. */
static bool continues_above(const struct layout *l, const struct format_comment *comment)
{
    if (!comment->is_line || comment->newlines != 1 || l->comment_under != comment->column + 1 ||
        l->lines.count == 0)
        return false;
    size_t above = l->lines.count - 1;
    while (l->lines.items[above].continues)
        above--;
    return l->lines.items[above].code_columns <= LINE_COLUMNS;
}

/* Writes the comments before a token that stand on lines of their own, at `indent`. `first`:
 * without a blank line before the next text. */
static void put_own(struct layout *l, const struct format_token *token, uint32_t indent,
                    bool *first)
{
    uint32_t end = leading_begin(l, token);
    for (uint32_t i = trailing_end(l, token); i < end; i++) {
        const struct format_comment *comment = comment_at(l, i);
        if (continues_above(l, comment)) {
            begin_line(l, 0);
            struct line *line = last_line(l);
            line->continues = true;
            line->comment = l->text.count;
            put_comment(l, comment);
            continue;
        }
        l->comment_under = 0;
        if (i > 0 && comment->newlines == 0 && !l->fresh && i > token->comment_first) {
            put_layout_text(l, " ", 1, 1);
        } else {
            if (comment->newlines > 1 && !*first) blank_line(l);
            begin_line(l, indent);
        }
        put_comment(l, comment);
        *first = false;
    }
    l->comment_under = 0;
}

/* Begins the line of a token that begins a statement or closes a block. The comments before it go
 * to `indent`, the token to `column`. `first`: no blank line above. */
static void open_line(struct layout *l, uint32_t index, uint32_t indent, uint32_t column,
                      bool first)
{
    const struct format_token *token = &l->tokens[index];
    put_trailing(l, token);
    put_own(l, token, indent, &first);
    uint32_t leading = leading_begin(l, token);
    if (trailing_end(l, token) > leading) leading = trailing_end(l, token);
    uint32_t newlines =
        leading < token->comment_behind ? comment_at(l, leading)->newlines : token->newlines;
    if (newlines > 1 && !first) blank_line(l);
    begin_line(l, column);
    for (uint32_t i = leading; i < token->comment_behind; i++) {
        put_comment(l, comment_at(l, i));
        if (token->kind != TOKEN_END) put_layout_text(l, " ", 1, 1);
    }
}

/* ---- tokens ---- */

static bool is_source_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80 || c == '"' || c == '\'';
}

/* True if the two tokens would merge without a blank between them. */
static bool would_merge(const struct format_token *left, const struct format_token *right)
{
    if (left->size_bytes == 0 || right->size_bytes == 0) return false;
    char a = left->text[left->size_bytes - 1], b = right->text[0];
    if (is_source_word_byte(a) && is_source_word_byte(b)) return true;
    if (left->kind == TOKEN_NUMBER && b == '.')
        return memchr(left->text, '.', left->size_bytes) != NULL;
    if (a == '.' && b == '.') return true;
    if (a == '!' || a == '~') return b == '=';
    return strchr("+-*/%<>=&|^", a) != NULL && strchr("+-*/%<>=&|^", b) != NULL;
}

static bool has_space(const struct layout *l, uint32_t index)
{
    return l->tokens[index].space ||
           (index > 0 && would_merge(&l->tokens[index - 1], &l->tokens[index]));
}

static uint32_t inline_comment_columns(const struct layout *l, const struct format_token *token)
{
    uint32_t columns = 0;
    for (uint32_t i = token->comment_first; i < token->comment_behind; i++)
        columns += comment_at(l, i)->size_bytes + 1;
    return columns;
}

static uint32_t aligned_column(const struct layout *l, const struct format_token *token)
{
    uint32_t column = l->base + INDENT;
    switch (token->align) {
    case ALIGN_LINE: break;
    case ALIGN_HEADER: return l->base + 2 * INDENT;
    case ALIGN_TOKEN:
        if (token->level > 0 && l->column_of[token->under] <= UNDER_MAX)
            column = l->column_of[token->under];
        break;
    case ALIGN_IN_BRACE: return l->line_of[token->under] + INDENT;
    case ALIGN_OUT_BRACE: return l->line_of[token->under];
    }
    return column;
}

/* Writes the token; `on_new_line`: on a new line. */
static void put_token(struct layout *l, uint32_t index, bool on_new_line)
{
    const struct format_token *token = &l->tokens[index];
    if (comments_force_break(l, token) || token->row || on_new_line) {
        open_line(l, index, aligned_column(l, token), aligned_column(l, token), true);
    } else {
        for (uint32_t i = token->comment_first; i < token->comment_behind; i++) {
            if (!l->fresh && (has_space(l, index) || i > token->comment_first ||
                              !strchr("([{", l->tokens[index - 1].text[0])))
                put_layout_text(l, " ", 1, 1);
            put_comment(l, comment_at(l, i));
        }
        bool commented = token->comment_first < token->comment_behind;
        bool tight = strchr(",;)]", token->text[0]) != NULL && !token->space;
        if (!l->fresh && (commented ? !tight : has_space(l, index))) put_layout_text(l, " ", 1, 1);
    }
    l->line_of[index] = l->line;
    l->column_of[index] = l->column;
    put_layout_text(l, token->text, token->size_bytes, token->columns);
}

/* Writes the first token of a statement at the current position. */
static void put_first_token(struct layout *l, uint32_t index)
{
    const struct format_token *token = &l->tokens[index];
    l->line_of[index] = l->line;
    l->column_of[index] = l->column;
    put_layout_text(l, token->text, token->size_bytes, token->columns);
}

/* ---- runs ---- */

/* The columns of tokens first .. last on one line, without the blank before the first. */
static uint64_t tokens_width(const struct layout *l, uint32_t first, uint32_t last)
{
    uint64_t all = l->columns[last + 1] - l->columns[first + 1];
    return all + l->tokens[first].columns;
}

static bool is_forced(const struct layout *l, uint32_t first, uint32_t last)
{
    return l->forced[last + 1] != l->forced[first + 1];
}

static bool forces_break(const struct layout *l, uint32_t index)
{
    return l->forced[index + 1] != l->forced[index];
}

/* The columns of the first token and the tokens that no break separates from it. */
static uint64_t head_width(const struct layout *l, uint32_t first, uint32_t last)
{
    uint32_t i = first;
    while (i < last && l->tokens[i + 1].level == 0 && !forces_break(l, i + 1))
        i++;
    return tokens_width(l, first, i);
}

static void put_rest(struct layout *l, uint32_t first, uint32_t last, uint64_t tail);

/* Writes a piece of a run, from its first token on. `tail` columns have to follow it on its last
 * line. */
static void put_flat_piece(struct layout *l, uint32_t first, uint32_t last, uint64_t tail)
{
    bool whole = !is_forced(l, first, last);
    uint64_t columns = tokens_width(l, first, last) + tail;
    uint64_t here = l->column + has_space(l, first);
    if (forces_break(l, first) || (whole && here + columns <= LINE_COLUMNS)) {
        put_token(l, first, false);
    } else {
        bool fits_below = whole && aligned_column(l, &l->tokens[first]) + columns <= LINE_COLUMNS;
        bool begins_here = here + head_width(l, first, last) <= LINE_COLUMNS;
        bool gains = aligned_column(l, &l->tokens[first]) < here;
        put_token(l, first, gains && (fits_below || !begins_here));
    }
    put_rest(l, first, last, tail);
}

/* Writes the tokens after `first`, which has been written. */
static void put_rest(struct layout *l, uint32_t first, uint32_t last, uint64_t tail)
{
    uint64_t columns = tokens_width(l, first, last) - l->tokens[first].columns + tail;
    uint32_t level = 0;
    for (uint32_t i = first + 1; i <= last; i++)
        if (l->tokens[i].level > 0 && (level == 0 || l->tokens[i].level < level))
            level = l->tokens[i].level;
    bool fits = !is_forced(l, first, last) && l->column + columns <= LINE_COLUMNS;
    if (fits || level == 0) {
        for (uint32_t i = first + 1; i <= last; i++)
            put_token(l, i, false);
        return;
    }
    uint32_t begin = first;
    for (uint32_t i = first + 1; i <= last + 1; i++) {
        if (i <= last && l->tokens[i].level != level) continue;
        uint64_t behind = i > last ? tail : 0;
        if (begin == first)
            put_rest(l, begin, i - 1, behind);
        else
            put_flat_piece(l, begin, i - 1, behind);
        begin = i;
    }
}

/* ---- statements ---- */

static void put_statement(struct layout *l, const struct format_statement *s, uint32_t indent,
                          bool flat_allowed);

static uint32_t deeper_indent(uint32_t indent)
{
    return indent < INDENT_MAX ? indent + INDENT : indent;
}

/* True if the tokens were written on one line, and may stay on one line if they fit. */
static bool is_one_line(const struct layout *l, uint32_t first, uint32_t last)
{
    return l->broken[last + 1] == l->broken[first + 1] && !is_forced(l, first, last);
}

static bool fits_here(const struct layout *l, uint32_t first, uint32_t last)
{
    return l->column + 1 + tokens_width(l, first, last) <= LINE_COLUMNS;
}

static void put_flat(struct layout *l, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        put_token(l, i, false);
}

static bool is_labelled(const struct layout *l, const struct format_statement *s)
{
    int kind = l->tokens[s->first].kind;
    return kind == TOKEN_CASE || kind == TOKEN_DEFAULT;
}

/* Writes a list of statements. Labels are aligned with the brace. */
static void put_statements(struct layout *l, const struct format_statement *list, uint32_t indent,
                           bool first)
{
    for (const struct format_statement *s = list; s != NULL; s = s->next) {
        uint32_t column = is_labelled(l, s) ? indent : deeper_indent(indent);
        open_line(l, s->first, column, column, first);
        put_first_token(l, s->first);
        put_statement(l, s, column, true);
        first = false;
    }
}

/* Writes a token on the current line, unless comments before it end the line. */
static void put_behind(struct layout *l, uint32_t index, uint32_t indent)
{
    if (!forces_break(l, index)) {
        put_token(l, index, false);
        return;
    }
    open_line(l, index, indent, indent, true);
    put_first_token(l, index);
}

/* Writes the list between the braces, and the closing brace. */
static void put_inside(struct layout *l, const struct format_part *part, uint32_t indent)
{
    if (part->list == NULL && !forces_break(l, part->last)) {
        put_token(l, part->last, false);
        return;
    }
    put_statements(l, part->list, indent, true);
    open_line(l, part->last, deeper_indent(indent), indent, true);
    put_first_token(l, part->last);
}

static void put_block(struct layout *l, const struct format_part *part, uint32_t indent,
                      bool flat_allowed)
{
    bool has_semicolon = part->next != NULL && part->next->first == part->next->last;
    uint32_t last = has_semicolon ? part->next->last : part->last;
    if (flat_allowed && !forces_break(l, part->first) && is_one_line(l, part->first, part->last) &&
        fits_here(l, part->first, last)) {
        put_flat(l, part->first, part->last);
        return;
    }
    put_behind(l, part->first, indent);
    put_inside(l, part, indent);
}

/* True if a body that is too long may begin on the line of its statement: a loop or a condition
 * whose head fits there. */
static bool statement_may_follow(const struct layout *l, const struct format_statement *s)
{
    const struct format_part *run = s->parts, *carried = run->next;
    if (run->kind != PART_RUN || carried == NULL || carried->next != NULL) return false;
    if (carried->kind != PART_BLOCK && carried->kind != PART_BODY) return false;
    return !is_forced(l, run->first, run->last) && fits_here(l, run->first, carried->first);
}

/* True if the author began the part on the line of its statement. */
static bool is_together(const struct layout *l, const struct format_part *part)
{
    return l->tokens[part->first].newlines == 0 && !forces_break(l, part->first);
}

static void put_body(struct layout *l, const struct format_part *part, uint32_t indent)
{
    bool together = is_together(l, part);
    if (together && is_one_line(l, part->first, part->last) &&
        fits_here(l, part->first, part->last)) {
        put_flat(l, part->first, part->last);
    } else if (together && statement_may_follow(l, part->list)) {
        put_token(l, part->first, false);
        put_statement(l, part->list, indent, true);
    } else {
        open_line(l, part->first, deeper_indent(indent), deeper_indent(indent), true);
        put_first_token(l, part->first);
        put_statement(l, part->list, deeper_indent(indent), true);
    }
}

static void put_cases(struct layout *l, const struct format_part *part, uint32_t indent)
{
    const struct format_statement *list = part->list;
    bool together = is_together(l, part);
    if (together && is_one_line(l, part->first, part->last) &&
        fits_here(l, part->first, part->last)) {
        put_flat(l, part->first, part->last);
        return;
    }
    if (together && list->parts->kind == PART_BLOCK) {
        put_token(l, list->first, false);
        put_statement(l, list, indent, true);
        list = list->next;
    }
    put_statements(l, list, indent, list == part->list);
}

/* Writes `else`, the `while` of a `do`, or the `;` of a struct. */
static void put_middle(struct layout *l, const struct format_part *part, enum part_kind before,
                       uint32_t indent, bool flat)
{
    if (before == PART_BLOCK || flat) {
        put_behind(l, part->first, indent);
        return;
    }
    open_line(l, part->first, indent, indent, true);
    put_first_token(l, part->first);
}

static bool part_carries(const struct format_part *part)
{
    return part->kind == PART_BLOCK || part->kind == PART_BODY;
}

/* A single block keeps the author's form. Of several parts, either all stay on one line or none. */
static bool statement_has_one_block(const struct format_statement *s)
{
    const struct format_part *second = s->parts->next, *third = second ? second->next : NULL;
    return second == NULL || third == NULL ||
           (part_carries(second) && third->first == third->last && third->next == NULL);
}

/* Writes a statement, whose first token has been written. */
static void put_statement(struct layout *l, const struct format_statement *s, uint32_t indent,
                          bool flat_allowed)
{
    enum part_kind before = PART_RUN;
    uint32_t base = l->base;
    bool flat = is_one_line(l, s->first, s->last) &&
                l->column_of[s->first] + tokens_width(l, s->first, s->last) <= LINE_COLUMNS;
    flat_allowed &= flat || statement_has_one_block(s);
    for (const struct format_part *part = s->parts; part != NULL; part = part->next) {
        bool first = part == s->parts;
        l->base = indent;
        switch (part->kind) {
        case PART_RUN:
            if (!first) put_middle(l, part, before, indent, flat);
            put_rest(l, part->first, part->last,
                     part->next != NULL && part->next->kind == PART_BLOCK ? 2 : 0);
            break;
        case PART_BLOCK:
            if (first) {
                /* After the brace of a block that is a statement. */
                uint64_t rest = tokens_width(l, part->first, part->last) - 1;
                if (flat_allowed && is_one_line(l, part->first, part->last) &&
                    l->column + rest <= LINE_COLUMNS)
                    put_flat(l, part->first + 1, part->last);
                else
                    put_inside(l, part, indent);
            } else
                put_block(l, part, indent, flat_allowed);
            break;
        case PART_BODY:
            if (l->tokens[part->first].kind == TOKEN_IF &&
                l->tokens[part->first - 1].kind == TOKEN_ELSE && !forces_break(l, part->first)) {
                put_token(l, part->first, false);
                put_statement(l, part->list, indent, flat_allowed);
            } else {
                put_body(l, part, indent);
            }
            break;
        case PART_CASES: put_cases(l, part, indent); break;
        }
        before = part->kind;
    }
    l->base = base;
}

/* ---- the comments after the code, in columns ---- */

/* The end of the lines from `first` on that have comments after code with equal indentation. */
static size_t column_end(const struct layout *l, size_t first, uint32_t *column)
{
    size_t i = first;
    *column = 0;
    for (; i < l->lines.count; i++) {
        const struct line *line = &l->lines.items[i];
        if (line->comment == 0) break;
        if (line->continues) continue;
        if (line->indent != l->lines.items[first].indent) break;
        if (line->code_columns > *column) *column = line->code_columns;
    }
    return i;
}

static size_t line_text_end(const struct layout *l, size_t index)
{
    return index + 1 < l->lines.count ? l->lines.items[index + 1].begin : l->text.count;
}

/* True if all comments of the lines fit with their column at `column`. */
static bool column_fits(const struct layout *l, size_t first, size_t end, uint32_t column)
{
    for (size_t i = first; i < end; i++) {
        size_t comment = line_text_end(l, i) - 1 - l->lines.items[i].comment;
        if (column + GAP + comment > LINE_COLUMNS) return false;
    }
    return true;
}

static void copy_text_range(struct layout *l, size_t from, size_t to, char *text, size_t *size)
{
    memcpy(text + *size, l->text.items + from, to - from);
    *size += to - from;
}

static struct formatted align_comments(struct layout *l)
{
    struct formatted out = {0};
    size_t most = l->text.count + l->lines.count * (LINE_COLUMNS * 2 + 1) + 1;
    char *text = arena_alloc(l->arena, most);
    for (size_t i = 0; i < l->lines.count;) {
        uint32_t column;
        size_t end = column_end(l, i, &column);
        bool together = column_fits(l, i, end, column);
        uint32_t above = 0;
        for (size_t k = i; k < end; k++) {
            const struct line *line = &l->lines.items[k];
            size_t code = line->continues ? line->begin : line->comment - GAP;
            uint32_t to = together ? column : line->continues ? above : line->code_columns;
            copy_text_range(l, line->begin, code, text, &out.size_bytes);
            for (uint32_t c = line->continues ? 0 : line->code_columns; c < to + GAP; c++)
                text[out.size_bytes++] = ' ';
            copy_text_range(l, line->comment, line_text_end(l, k), text, &out.size_bytes);
            above = to;
        }
        if (end == i) {
            copy_text_range(l, l->lines.items[i].begin, line_text_end(l, i), text, &out.size_bytes);
            end++;
        }
        i = end;
    }
    text[out.size_bytes] = '\0';
    out.text = text;
    return out;
}

/* ---- the file ---- */

struct formatted format_layout(const struct format_file *file)
{
    struct layout l = {.file = file, .tokens = file->tokens, .arena = file->cx->arena};
    uint32_t count = l.file->token_count;
    l.columns = ARENA_ARRAY(l.arena, uint64_t, count + 1);
    l.forced = ARENA_ARRAY(l.arena, uint32_t, count + 1);
    l.broken = ARENA_ARRAY(l.arena, uint32_t, count + 1);
    l.column_of = ARENA_ARRAY(l.arena, uint32_t, count);
    l.line_of = ARENA_ARRAY(l.arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct format_token *token = &l.tokens[i];
        l.columns[i + 1] =
            l.columns[i] + has_space(&l, i) + token->columns + inline_comment_columns(&l, token);
        l.forced[i + 1] = l.forced[i] + (comments_force_break(&l, token) || token->row);
        l.broken[i + 1] = l.broken[i] + (token->structural && token->newlines > 0);
    }
    for (const struct format_statement *s = file->items; s != NULL; s = s->next) {
        open_line(&l, s->first, 0, 0, s == file->items);
        put_first_token(&l, s->first);
        put_statement(&l, s, 0, true);
    }
    /* the comments after the last item; the end itself has no line */
    const struct format_token *end = &file->tokens[file->token_count - 1];
    bool first = file->items == NULL;
    put_trailing(&l, end);
    put_own(&l, end, 0, &first);
    uint32_t leading = leading_begin(&l, end);
    if (trailing_end(&l, end) > leading) leading = trailing_end(&l, end);
    for (uint32_t i = leading; i < end->comment_behind; i++) {
        begin_line(&l, 0);
        put_comment(&l, comment_at(&l, i));
    }
    end_layout_line(&l);
    return align_comments(&l);
}
