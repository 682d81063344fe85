#include "lang/scalar_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/half.h"

static bool parse_bool(const char *text, uint64_t *bits)
{
    *bits = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *bits != 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool parse_signed(const char *text, size_t width_bytes, uint64_t *bits)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    int64_t limit = (int64_t)(UINT64_MAX >> 1 >> (64 - 8 * width_bytes));
    if (end == text || *end != '\0' || errno != 0) return false;
    *bits = (uint64_t)value;
    return value <= limit && value >= -limit - 1;
}

static bool parse_unsigned(const char *text, size_t width_bytes, uint64_t *bits)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-') return false;
    *bits = value;
    return value <= UINT64_MAX >> (64 - 8 * width_bytes);
}

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
    case SCALAR_KIND_BOOL: return parse_bool(text, bits);
    case SCALAR_KIND_SIGNED: return parse_signed(text, scalar_width_bytes(type), bits);
    case SCALAR_KIND_UNSIGNED: return parse_unsigned(text, scalar_width_bytes(type), bits);
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
