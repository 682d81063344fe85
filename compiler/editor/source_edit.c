/* SPDX-License-Identifier: MIT */
#include "compiler/editor/source_edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"

/* ---- edits ---- */

void source_edit_put(struct source_edit *edit, uint32_t begin, uint32_t end, const char *text)
{
    size_t size = strlen(text);
    struct text_edit one = {begin, end, arena_string(edit->arena, text, size), size};
    vec_push(edit->arena, &edit->edits, one);
}

void source_edit_put_part(struct source_edit *edit, uint32_t at, uint32_t begin, uint32_t end)
{
    struct text_edit one = {at, at, edit->source->bytes + begin, end - begin};
    vec_push(edit->arena, &edit->edits, one);
}

/* Few: insertion keeps the order of edits at one place. */
static void sort_edits(struct text_edit *edits, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && edits[k].begin < edits[k - 1].begin; k--) {
            struct text_edit moved = edits[k];
            edits[k] = edits[k - 1];
            edits[k - 1] = moved;
        }
}

bool source_edit_result(struct source_edit *edit, const char **bytes, size_t *size_bytes)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const struct source *source = edit->source;
    size_t size = source->size_bytes + (source->has_mark ? 3 : 0), added = 0;
    sort_edits(edit->edits.items, edit->edits.count);
    for (size_t i = 0; i < edit->edits.count; i++) {
        const struct text_edit *one = &edit->edits.items[i];
        if (i > 0 && one->begin < one[-1].end) return false;
        if (__builtin_add_overflow(added, one->size_bytes, &added)) return false;
        size -= one->end - one->begin;
    }
    if (added > SOURCE_MAX_BYTES || size + added > SOURCE_MAX_BYTES) return false;
    char *result = arena_alloc(edit->arena, size + added + 1), *to = result;
    if (source->has_mark) to = mempcpy(to, mark, 3);
    uint32_t at = 0;
    for (size_t i = 0; i < edit->edits.count; i++) {
        const struct text_edit *one = &edit->edits.items[i];
        to = mempcpy(to, source->bytes + at, one->begin - at);
        to = mempcpy(to, one->text, one->size_bytes);
        at = one->end;
    }
    to = mempcpy(to, source->bytes + at, source->size_bytes - at);
    *to = '\0';
    *bytes = result;
    *size_bytes = size + added;
    return true;
}

/* ---- places ---- */

/* The end of a comment that begins at `at`; `at` itself: none begins there. */
static uint32_t skip_comment(const struct source *source, uint32_t at)
{
    const char *bytes = source->bytes + at, *limit = source->bytes + source->size_bytes;
    if (limit - bytes < 2 || bytes[0] != '/' || (bytes[1] != '/' && bytes[1] != '*')) return at;
    const char *end;
    if (bytes[1] == '/') {
        end = memchr(bytes, '\n', (size_t)(limit - bytes));
        return (uint32_t)((end != NULL ? end : limit) - source->bytes);
    }
    end = memmem(bytes + 2, (size_t)(limit - bytes - 2), "*/", 2);
    return (uint32_t)((end != NULL ? end + 2 : limit) - source->bytes);
}

uint32_t source_skip_blanks(const struct source *source, uint32_t at)
{
    for (uint32_t next; at < source->size_bytes; at = next) {
        next = byte_is_blank(source->bytes[at]) ? at + 1 : skip_comment(source, at);
        if (next == at) break;
    }
    return at;
}

bool source_is_gap(const struct source *source, uint32_t begin, uint32_t end,
                   const char *separators)
{
    for (; begin < end; begin++) {
        char byte = source->bytes[begin];
        if (!byte_is_blank(byte) && (byte == '\0' || strchr(separators, byte) == NULL))
            return false;
    }
    return true;
}

static uint32_t skip_string(const struct source *source, uint32_t at)
{
    for (at++; at < source->size_bytes && source->bytes[at] != '"'; at++)
        if (source->bytes[at] == '\\') at++;
    return at < source->size_bytes ? at + 1 : source->size_bytes;
}

bool source_match_bracket(const struct source *source, uint32_t open, struct bracket_list *list)
{
    uint32_t depth = 0;
    char own = source->bytes[open] == '<' ? '>' : '\0';
    *list = (struct bracket_list){0};
    for (uint32_t at = open + 1, next; at < source->size_bytes; at = next) {
        char byte = source->bytes[at];
        next = byte == '"' ? skip_string(source, at) : skip_comment(source, at);
        if (next != at) continue;
        next = at + 1;
        if (depth == 0 && byte == ';' && list->semicolon == 0) list->semicolon = at;
        if (byte != '\0' && strchr("([{", byte) != NULL) depth++;
        bool closes = byte != '\0' && strchr(")]}", byte) != NULL;
        if (depth == 0 && (own != '\0' ? byte == own : closes)) {
            list->close = at;
            return true;
        }
        if (closes && depth-- == 0) return false;
    }
    return false;
}

bool source_is_part(const char *text)
{
    enum { DEPTH_MAX = 64 };
    char open[DEPTH_MAX];
    size_t depth = 0;
    bool blank = true;
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == '"' || (unsigned char)*text == 0x7f)
            return false;
        if (text[0] == '/' && (text[1] == '/' || text[1] == '*')) return false;
        if (depth == 0 && (*text == ';' || (text[0] == '-' && text[1] == '>'))) return false;
        blank = blank && *text == ' ';
        if (strchr("([{", *text) != NULL) {
            if (depth == DEPTH_MAX) return false;
            open[depth++] = *text;
        } else if (strchr(")]}", *text) != NULL) {
            if (depth == 0) return false;
            char opened = open[--depth];
            if (*text != (opened == '(' ? ')' : opened == '[' ? ']' : '}')) return false;
        }
    }
    return depth == 0 && !blank;
}

bool source_own_lines(const struct source *source, uint32_t begin, uint32_t end,
                      struct source_lines *lines)
{
    const char *bytes = source->bytes;
    while (begin > 0 && bytes[begin - 1] != '\n' && byte_is_blank(bytes[begin - 1]))
        begin--;
    if (begin > 0 && bytes[begin - 1] != '\n') return false;
    while (end < source->size_bytes && bytes[end] != '\n' && byte_is_blank(bytes[end]))
        end++;
    lines->has_comment = end + 1 < source->size_bytes && bytes[end] == '/' && bytes[end + 1] == '/';
    if (lines->has_comment) end = skip_comment(source, end);
    if (end >= source->size_bytes || bytes[end] != '\n') return false;
    lines->begin = begin;
    lines->end = end + 1;
    return true;
}

const char *source_indent(struct arena *arena, const struct source *source, uint32_t at)
{
    while (at > 0 && source->bytes[at - 1] != '\n')
        at--;
    uint32_t end = at;
    while (end < source->size_bytes && (source->bytes[end] == ' ' || source->bytes[end] == '\t'))
        end++;
    return arena_string(arena, source->bytes + at, end - at);
}

const char *source_newline(const struct source *source)
{
    const char *first = memchr(source->bytes, '\n', source->size_bytes);
    return first != NULL && first > source->bytes && first[-1] == '\r' ? "\r\n" : "\n";
}

static bool has_word(const struct source *source, const char *word)
{
    size_t length = strlen(word);
    const char *end = source->bytes + source->size_bytes, *found = source->bytes;
    while ((found = memmem(found, (size_t)(end - found), word, length)) != NULL) {
        bool begins = found == source->bytes || !byte_is_word(found[-1]);
        if (begins && !byte_is_word(found[length])) return true;
        found++;
    }
    return false;
}

const char *source_new_word(struct arena *arena, const struct source *source, const char *base)
{
    const char *word = base;
    for (unsigned number = 2; has_word(source, word); number++)
        word = arena_printf(arena, "%s%u", base, number);
    return word;
}
