/* SPDX-License-Identifier: MIT */
/* The values of literals, from their text. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/syntax/ast_build.h"
#include "compiler/syntax/token_stream.h"

static const char *literal_text(const struct parser *ps, struct span span)
{
    return ps->source->bytes + span.begin;
}

static struct ast_expr *integer_expr(struct parser *ps, struct span span, uint64_t value)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_INTEGER, span);
    expr->integer.value = value;
    expr->integer.base = 10;
    return expr;
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* Reads the digits at *at, up to `end`; false when the value does not fit 64 bits. */
static bool read_number_digits(const char **at, const char *end, unsigned base, uint64_t *value)
{
    bool fits = true;
    for (*value = 0; *at < end && digit_value(**at) < (int)base; ++*at) {
        fits = fits && !__builtin_mul_overflow(*value, (uint64_t)base, value) &&
               !__builtin_add_overflow(*value, (uint64_t)digit_value(**at), value);
    }
    if (!fits) *value = UINT64_MAX;
    return fits;
}

struct ast_expr *literal_integer(struct parser *ps, struct span span)
{
    const char *at = literal_text(ps, span), *end = at + (span.end - span.begin);
    struct ast_expr *expr = integer_expr(ps, span, 0);
    uint8_t base = 10;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    } else if (end - at > 2 && at[0] == '0' && (at[1] == 'b' || at[1] == 'B')) {
        base = 2;
        at += 2;
    } else if (end - at > 1 && at[0] == '0') {
        base = 8;
    }
    expr->integer.base = base;
    expr->integer.too_large = !read_number_digits(&at, end, base, &expr->integer.value);
    if (expr->integer.too_large)
        lexer_error(ps, RULE_INVALID_NUMBER, span, "this number does not fit 64 bits");
    if (at < end && (*at == '8' || *at == '9'))
        diag_note(
            lexer_error(ps, RULE_INVALID_NUMBER, span, "an octal number has no digits 8 and 9"),
            "a number that begins with 0 is octal");
    for (; at < end; at++) {
        if (*at == 'u' || *at == 'U') expr->integer.is_unsigned = true;
        if (*at == 'l' || *at == 'L') expr->integer.is_long = true;
    }
    return expr;
}

struct ast_expr *literal_float(struct parser *ps, struct span span)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_FLOAT, span);
    const char *text = literal_text(ps, span);
    char last = text[span.end - span.begin - 1];
    /* The text ends at a byte that cannot continue a number, but a copy also keeps `0x` and the
     * like apart. */
    const char *copy = arena_string(ps->cx->arena, text, span.end - span.begin);
    expr->floating.is_f32 = last == 'f' || last == 'F';
    expr->floating.value_f32 = strtof_l(copy, NULL, ps->c_locale);
    expr->floating.value = expr->floating.is_f32 ? (double)expr->floating.value_f32
                                                 : strtod_l(copy, NULL, ps->c_locale);
    if (isinf(expr->floating.value))
        lexer_error(ps, RULE_INVALID_NUMBER, span,
                    expr->floating.is_f32 ? "this number does not fit an f32"
                                          : "this number does not fit an f64");
    return expr;
}

/* `0x3x4`, `03x3`: dimensions of which one begins with 0. */
static bool looks_like_dimensions(const char *text, size_t length)
{
    size_t at = 0, extents = 0;
    while (at < length) {
        size_t digits = strspn(text + at, "0123456789");
        if (digits == 0 || at + digits > length) return false;
        at += digits;
        extents++;
        if (at < length && text[at] != 'x') return false;
        at++;
    }
    return extents > 1 && text[length - 1] != 'x';
}

static const char *without_underscores(struct parser *ps, const char *text, size_t length)
{
    char *copy = arena_alloc(ps->cx->arena, length + 1), *to = copy;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '_') *to++ = text[i];
    *to = '\0';
    return copy;
}

struct ast_expr *literal_malformed_number(struct parser *ps, struct span span)
{
    const char *text = literal_text(ps, span);
    size_t length = span.end - span.begin;
    size_t digits = strspn(text, "0123456789");
    struct diag *diag = lexer_error(ps, RULE_INVALID_NUMBER, span, "this number is malformed");
    if (looks_like_dimensions(text, length))
        diag_help(diag, "dimensions are decimal numbers from 1 on, without a 0 in front: '3x4'");
    else if (text[0] == '0' && length > 1 && (text[1] == 'x' || text[1] == 'X'))
        diag_primary(diag, "hexadecimal digits follow '0x'");
    else if (text[0] == '0' && length > 1 && (text[1] == 'b' || text[1] == 'B'))
        diag_primary(diag, "the digits 0 and 1 follow '0b'");
    else if (text[0] == '0' && length > 1 && (text[1] == 'o' || text[1] == 'O'))
        diag_help(diag, "octal digits follow '0': write '0%.*s'", (int)(length - 2), text + 2);
    else if (memchr(text, '_', length) != NULL)
        diag_help(diag, "digits stand side by side: write '%s'",
                  without_underscores(ps, text, length));
    else if (digits + 1 == length && text[digits] == 'x')
        diag_help(diag, "set 'x' apart ('2 x 3'), or write both numbers without spaces ('2x3')");
    return integer_expr(ps, span, 1);
}

struct ast_expr *literal_dimensions(struct parser *ps, struct span span)
{
    const char *begin = literal_text(ps, span), *end = begin + (span.end - span.begin);
    struct ast_expr *first = NULL, **link = &first;
    bool fits = true;
    for (const char *at = begin; at < end; at++) {
        const char *number = at;
        uint64_t value;
        fits = read_number_digits(&at, end, 10, &value) && fits;
        struct span part = {span.source, span.begin + (uint32_t)(number - begin),
                            span.begin + (uint32_t)(at - begin)};
        *link = integer_expr(ps, part, value);
        link = &(*link)->next;
    }
    if (!fits) lexer_error(ps, RULE_INVALID_NUMBER, span, "this number does not fit 64 bits");
    return ast_list(ps, AST_EXPR_DIMENSIONS, span, first);
}

/* Reads the character or escape sequence at *at, which is before `end`. */
static unsigned char read_character(struct parser *ps, const char **at, const char *end)
{
    static const char letters[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    const char *begin = *at;
    if (*begin != '\\') return (unsigned char)*(*at)++;
    const char *escape = begin + 1;
    *at = escape + 1;
    const char *letter = *escape ? strchr(letters, *escape) : NULL;
    if (letter) return (unsigned char)values[letter - letters];
    unsigned value = 0;
    int digits = 0;
    if (*escape == 'x') {
        for (; *at < end && digits < 3 && digit_value(**at) < 16; digits++)
            value = value * 16 + (unsigned)digit_value(*(*at)++);
    } else {
        for (*at = escape; *at < end && digits < 3 && digit_value(**at) < 8; digits++)
            value = value * 8 + (unsigned)digit_value(*(*at)++);
    }
    if (digits > 0 && value < 256) return (unsigned char)value;
    if (digits == 0) *at = escape + 1;
    uint32_t offset = (uint32_t)(begin - ps->source->bytes);
    struct span span = {ps->source_id, offset, offset + (uint32_t)(*at - begin)};
    struct diag *diag = lexer_error(ps, RULE_INVALID_CHARACTER, span,
                                    digits ? "this escape sequence does not fit a byte"
                                           : "this escape sequence does not exist");
    if (!digits) diag_help(diag, "a backslash itself is written '\\\\'");
    return 0;
}

/* True when the literal ends with the quote that it begins with. */
static bool is_terminated(const char *text, size_t length)
{
    size_t i = 1;
    while (i < length && text[i] != text[0])
        i += text[i] == '\\' ? 2 : 1;
    return i + 1 == length;
}

struct ast_expr *literal_character(struct parser *ps, struct span span)
{
    const char *text = literal_text(ps, span), *at = text + 1;
    size_t length = span.end - span.begin;
    struct ast_expr *expr = integer_expr(ps, span, 0);
    if (!is_terminated(text, length)) {
        lexer_error(ps, RULE_UNTERMINATED, (struct span){span.source, span.begin, span.begin + 1},
                    "this character constant does not end");
        return expr;
    }
    const char *end = text + length - 1;
    if (at < end) expr->integer.value = read_character(ps, &at, end);
    if (at < end || length == 2 || (text[1] != '\\' && expr->integer.value >= 128))
        lexer_error(ps, RULE_INVALID_CHARACTER, span,
                    "a character constant holds exactly one ASCII character");
    return expr;
}

struct ast_expr *literal_string(struct parser *ps, struct span span)
{
    const char *text = literal_text(ps, span), *at = text + 1;
    size_t length = span.end - span.begin;
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_STRING, span);
    expr->string.bytes = "";
    if (!is_terminated(text, length)) {
        lexer_error(ps, RULE_UNTERMINATED, (struct span){span.source, span.begin, span.begin + 1},
                    "this string does not end");
        return expr;
    }
    char *bytes = arena_alloc(ps->cx->arena, length);
    uint32_t size_bytes = 0;
    for (const char *end = text + length - 1; at < end;)
        bytes[size_bytes++] = (char)read_character(ps, &at, end);
    expr->string.bytes = bytes;
    expr->string.size_bytes = size_bytes;
    return expr;
}

struct ast_type *literal_type(struct parser *ps, struct span span)
{
    const char *text = literal_text(ps, span);
    size_t length = span.end - span.begin;
    struct ast_type *type = ARENA_NEW(ps->cx->arena, struct ast_type);
    type->span = span;
    type->lanes = 1;
    type->name = (struct ast_name){intern_name(ps->cx->names, text, length), span};
    if (strcmp(type->name.text, "int") == 0) {
        type->kind = AST_TYPE_INT;
    } else if (strcmp(type->name.text, "void") == 0) {
        type->kind = AST_TYPE_VOID;
    } else {
        const char *x = memchr(text, 'x', length);
        if (x) type->lanes = (uint32_t)strtoul(x + 1, NULL, 10);
        type->kind = AST_TYPE_SCALAR;
        scalar_from_name(text, x ? (size_t)(x - text) : length, &type->scalar);
    }
    return type;
}
