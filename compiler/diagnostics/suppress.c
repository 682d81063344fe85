/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/suppress.h"
#include "base/words.h"

#include <string.h>

static const char mark[] = "pipec:";

struct scanner {
    struct arena *arena;
    const struct source *source;
    uint32_t id;
    struct suppressions *found;
};

/* ---- parts of a source ---- */

static bool text_begins_at(const struct source *source, uint32_t at, const char *text)
{
    size_t length = strlen(text);
    return source->size_bytes - at >= length && memcmp(source->bytes + at, text, length) == 0;
}

/* The offset after a string or character constant that begins at `at`. */
static uint32_t skip_quoted(const struct source *source, uint32_t at)
{
    char quote = source->bytes[at++];
    while (at < source->size_bytes && source->bytes[at] != quote && source->bytes[at] != '\n')
        at += source->bytes[at] == '\\' && at + 1 < source->size_bytes ? 2 : 1;
    return at < source->size_bytes ? at + 1 : source->size_bytes;
}

static uint32_t skip_block_comment(const struct source *source, uint32_t at)
{
    for (at += 2; at < source->size_bytes; at++)
        if (text_begins_at(source, at, "*/")) return at + 2;
    return source->size_bytes;
}

/* The offset after the comment or constant at `at`, or after one byte. */
static uint32_t skip_one(const struct source *source, uint32_t at)
{
    if (text_begins_at(source, at, "//")) {
        const char *end = memchr(source->bytes + at, '\n', source->size_bytes - at);
        return end != NULL ? (uint32_t)(end - source->bytes) : source->size_bytes;
    }
    if (text_begins_at(source, at, "/*")) return skip_block_comment(source, at);
    if (source->bytes[at] == '"' || source->bytes[at] == '\'') return skip_quoted(source, at);
    return at + 1;
}

static bool is_comment(const struct source *source, uint32_t at)
{
    return text_begins_at(source, at, "//") || text_begins_at(source, at, "/*");
}

static uint32_t skip_to_code(const struct source *source, uint32_t at)
{
    while (at < source->size_bytes) {
        if (is_comment(source, at))
            at = skip_one(source, at);
        else if (byte_is_blank(source->bytes[at]))
            at++;
        else
            break;
    }
    return at;
}

/* The end of the statement that begins at `at`. */
static uint32_t statement_end(const struct source *source, uint32_t at)
{
    int depth = 0;
    while (at < source->size_bytes) {
        char byte = is_comment(source, at) ? ' ' : source->bytes[at];
        if (byte == '(' || byte == '[') depth++;
        if ((byte == ')' || byte == ']') && depth > 0) depth--;
        if (depth == 0 && (byte == ';' || byte == '{')) return at + 1;
        if (depth == 0 && byte == '}') return at;
        at = skip_one(source, at);
    }
    return at;
}

/* ---- one comment ---- */

static void cover_lines(const struct source *source, struct suppression *s)
{
    uint32_t at = s->comment.begin;
    while (at > 0 && byte_is_blank(source->bytes[at - 1]) && source->bytes[at - 1] != '\n')
        at--;
    if (at == 0 || source->bytes[at - 1] == '\n') {
        s->begin = skip_to_code(source, s->comment.end);
        s->end = statement_end(source, s->begin);
        return;
    }
    uint32_t line, column;
    source_locate(source, s->comment.begin, &line, &column);
    s->begin = source->line_begin[line - 1];
    s->end = s->comment.end;
}

/* The rest of a text, up to `end`. */
struct cursor {
    const char *bytes;
    uint32_t at, end;
};

static void skip_comment_blanks(struct cursor *c)
{
    while (c->at < c->end && byte_is_blank(c->bytes[c->at]))
        c->at++;
}

static bool take_text(struct cursor *c, const char *text)
{
    size_t length = strlen(text);
    skip_comment_blanks(c);
    if (c->end - c->at < length || memcmp(c->bytes + c->at, text, length) != 0) return false;
    c->at += (uint32_t)length;
    return true;
}

/* Reads reason="..." or nothing. A blank reason counts as none. */
static bool take_reason(struct cursor *c, struct span *reason, bool *has_reason)
{
    *has_reason = false;
    skip_comment_blanks(c);
    if (c->at == c->end) return true;
    if (!take_text(c, "reason") || !take_text(c, "=") || !take_text(c, "\"")) return false;
    reason->begin = c->at;
    for (; c->at < c->end && c->bytes[c->at] != '"'; c->at++)
        *has_reason |= !byte_is_blank(c->bytes[c->at]);
    reason->end = c->at;
    if (!take_text(c, "\"")) return false;
    skip_comment_blanks(c);
    return c->at == c->end;
}

static bool read_comment(struct scanner *scanner, struct cursor *c, struct suppression s)
{
    size_t first = scanner->found->items.count;
    bool has_reason;
    struct span reason = {.source = scanner->id};
    if (!take_text(c, "allow") || !take_text(c, "(")) return false;
    do {
        skip_comment_blanks(c);
        uint32_t begin = c->at;
        while (c->at < c->end && !byte_is_blank(c->bytes[c->at]) &&
               strchr(",()", c->bytes[c->at]) == NULL)
            c->at++;
        if (c->at == begin) return false;
        s.name = (struct span){scanner->id, begin, c->at};
        s.rule = rule_find(arena_string(scanner->arena, c->bytes + begin, c->at - begin));
        vec_push(scanner->arena, &scanner->found->items, s);
    } while (take_text(c, ","));
    if (!take_text(c, ")") || !take_reason(c, &reason, &has_reason)) return false;
    for (size_t i = first; i < scanner->found->items.count; i++) {
        scanner->found->items.items[i].reason = reason;
        scanner->found->items.items[i].has_reason = has_reason;
    }
    return true;
}

static void visit_comment(struct scanner *scanner, uint32_t begin, uint32_t end)
{
    struct cursor c = {scanner->source->bytes, begin + 2, end};
    size_t count = scanner->found->items.count;
    if (!take_text(&c, mark)) return;
    while (end > begin && byte_is_blank(c.bytes[end - 1]))
        end--;
    c.end = end;
    struct suppression s = {.comment = {scanner->id, begin, end}};
    cover_lines(scanner->source, &s);
    if (read_comment(scanner, &c, s)) return;
    scanner->found->items.count = count;
    vec_push(scanner->arena, &scanner->found->malformed, s.comment);
}

struct suppressions *suppressions_read(struct arena *arena, const struct source *source,
                                       uint32_t id)
{
    struct scanner scanner = {arena, source, id, ARENA_NEW(arena, struct suppressions)};
    if (memmem(source->bytes, source->size_bytes, mark, sizeof mark - 1) == NULL)
        return scanner.found;
    for (uint32_t at = 0; at < source->size_bytes;) {
        uint32_t next = skip_one(source, at);
        if (text_begins_at(source, at, "//")) visit_comment(&scanner, at, next);
        at = next;
    }
    return scanner.found;
}
