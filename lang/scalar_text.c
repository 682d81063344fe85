/* SPDX-License-Identifier: MIT */
#include "lang/scalar_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/half.h"

/* A decimal that rounds to infinity is out of range; "inf" is not. */
static bool parse_float(const char *text, size_t width_bytes, bool is_bf16, uint64_t *bits)
{
    char *end;
    bool beyond;
    *bits = 0;
    errno = 0;
    if (width_bytes == 4) {
        float value = strtof(text, &end);
        beyond = errno == ERANGE && isinf(value);
        memcpy(bits, &value, sizeof value);
    } else if (width_bytes == 8) {
        double value = strtod(text, &end);
        beyond = errno == ERANGE && isinf(value);
        memcpy(bits, &value, sizeof value);
    } else {
        double value = strtod(text, &end);
        uint16_t half = half_of_f64(value, is_bf16);
        float stored = is_bf16 ? half_from_bf16(half) : half_from_f16(half);
        beyond = isinf(stored) && !isinf(value);
        *bits = half;
    }
    return end != text && *end == '\0' && !beyond;
}

bool scalar_parse(const char *text, enum scalar_type type, uint64_t *bits)
{
    if (text[0] == '\0' || isspace((unsigned char)text[0])) return false;
    switch (scalar_kind(type)) {
    case SCALAR_KIND_BOOL:
        *bits = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        return *bits != 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    case SCALAR_KIND_SIGNED: {
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 0);
        int64_t limit = (int64_t)(UINT64_MAX >> 1 >> (64 - 8 * scalar_width_bytes(type)));
        if (end == text || *end != '\0' || errno != 0) return false;
        *bits = (uint64_t)value;
        return value <= limit && value >= -limit - 1;
    }
    case SCALAR_KIND_UNSIGNED: {
        char *end;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 0);
        if (end == text || *end != '\0' || errno != 0 || text[0] == '-') return false;
        *bits = value;
        return value <= UINT64_MAX >> (64 - 8 * scalar_width_bytes(type));
    }
    case SCALAR_KIND_FLOAT:
        return parse_float(text, scalar_width_bytes(type), type == SCALAR_BF16, bits);
    case SCALAR_KIND_NONE: break;
    }
    return false;
}

static void format_f32(float value, char *out, size_t out_bytes)
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(out, out_bytes, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value) return;
    }
}

static void format_half(uint16_t half, bool is_bf16, char *out, size_t out_bytes)
{
    double value = (double)(is_bf16 ? half_from_bf16(half) : half_from_f16(half));
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, out_bytes, "%.*g", digits, value);
        if (half_of_f64(strtod(out, NULL), is_bf16) == half) return;
    }
}

static void format_f64(double value, char *out, size_t out_bytes)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, out_bytes, "%.*g", digits, value);
        if (strtod(out, NULL) == value) return;
    }
}

void scalar_format(enum scalar_type type, uint64_t bits, char *out, size_t out_bytes)
{
    float single;
    double whole;
    switch (scalar_kind(type)) {
    case SCALAR_KIND_BOOL: snprintf(out, out_bytes, "%s", bits != 0 ? "true" : "false"); break;
    case SCALAR_KIND_SIGNED: snprintf(out, out_bytes, "%" PRId64, (int64_t)bits); break;
    case SCALAR_KIND_UNSIGNED: snprintf(out, out_bytes, "%" PRIu64, bits); break;
    case SCALAR_KIND_FLOAT:
        if (type == SCALAR_F16 || type == SCALAR_BF16) {
            format_half((uint16_t)bits, type == SCALAR_BF16, out, out_bytes);
        } else if (type == SCALAR_F32) {
            memcpy(&single, &bits, sizeof single);
            format_f32(single, out, out_bytes);
        } else {
            memcpy(&whole, &bits, sizeof whole);
            format_f64(whole, out, out_bytes);
        }
        break;
    case SCALAR_KIND_NONE: snprintf(out, out_bytes, "?"); break;
    }
}

/* ---- what is wrong with a text ---- */

/* The greatest and the smallest finite value; those of f16 and bf16 are values of f32. */
static void format_range(enum scalar_type type, char *low, char *high, size_t bytes)
{
    static const uint64_t greatest_f32[SCALAR_COUNT] = {
        [SCALAR_F16] = 0x477fe000, [SCALAR_BF16] = 0x7f7f0000, [SCALAR_F32] = 0x7f7fffff};
    bool is_float = scalar_is_float(type), is_signed = scalar_is_signed(type);
    if (is_float && type != SCALAR_F64) {
        scalar_format(SCALAR_F32, greatest_f32[type], high, bytes);
        scalar_format(SCALAR_F32, greatest_f32[type] | UINT32_C(1) << 31, low, bytes);
        return;
    }
    size_t width_bits = 8 * scalar_width_bytes(type);
    uint64_t greatest = UINT64_MAX >> (64 - width_bits) >> is_signed;
    if (is_float) greatest = UINT64_C(0x7fefffffffffffff);
    scalar_format(type, greatest, high, bytes);
    scalar_format(type,
                  is_float    ? greatest | UINT64_C(1) << 63
                  : is_signed ? ~greatest
                              : 0,
                  low, bytes);
}

/* A number that scalar_parse refuses only for its size. */
static bool is_beyond(const char *text, enum scalar_type type, const char *low, const char *high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0])) return false;
    if (scalar_is_float(type) || value < strtod(low, NULL) || value > strtod(high, NULL))
        return true;
    strtoull(text, &end, 0);
    return *end == '\0';
}

void scalar_explain(const char *text, enum scalar_type type, char *out, size_t out_bytes)
{
    enum { SHOWN_BYTES = 40 };
    char low[32], high[32];
    const char *name = scalar_name(type);
    int shown = (int)strnlen(text, SHOWN_BYTES);
    const char *rest = text[shown] != '\0' ? "..." : "";
    if (text[0] == '\0') {
        snprintf(out, out_bytes, "there is no value; its type is %s", name);
        return;
    }
    if (!scalar_is_integer(type) && !scalar_is_float(type)) {
        snprintf(out, out_bytes, "'%.*s%s' is not a value of type %s: true or false", shown, text,
                 rest, name);
        return;
    }
    format_range(type, low, high, sizeof low);
    if (is_beyond(text, type, low, high))
        snprintf(out, out_bytes, "'%.*s%s' is outside of %s: %s to %s", shown, text, rest, name,
                 low, high);
    else
        snprintf(out, out_bytes, "'%.*s%s' is not a value of type %s: a %snumber, %s to %s", shown,
                 text, rest, name, scalar_is_integer(type) ? "whole " : "", low, high);
}

/* ---- lists ---- */

bool scalar_list_parse(const char *text, enum scalar_type type, uint64_t count, uint64_t *bits,
                       char *why, size_t why_bytes)
{
    enum { WORD_BYTES = 1200 }; /* of all digits of an f64 */
    char word[WORD_BYTES], reason[SCALAR_WHY_BYTES];
    if (count == 1) { /* no list */
        if (scalar_parse(text, type, bits)) return true;
        scalar_explain(text, type, why, why_bytes);
        return false;
    }
    uint64_t given = text[0] != '\0';
    for (const char *c = text; *c != '\0'; c++)
        given += *c == ',';
    if (given != count) {
        snprintf(why, why_bytes, "%" PRIu64 " value%s, not %" PRIu64, given, given == 1 ? "" : "s",
                 count);
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        text += i > 0 ? strspn(text, " ") : 0;
        size_t length = strcspn(text, ",");
        size_t kept = length < WORD_BYTES ? length : WORD_BYTES - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        if (kept < length || !scalar_parse(word, type, &bits[i])) {
            scalar_explain(word, type, reason, sizeof reason);
            snprintf(why, why_bytes, "value %" PRIu64 " of %" PRIu64 ": %s", i + 1, count, reason);
            return false;
        }
        text += length + 1;
    }
    return true;
}
