/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

static size_t sequence_length(unsigned char lead)
{
    if (lead > 0xF4) return 0;
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
}

size_t utf8_decode(const char *text, size_t available, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    if (*p < 0x80) {
        *code = *p;
        return 1;
    }
    size_t length = sequence_length(*p);
    if (length == 0 || length > available) return 0;
    uint32_t value = *p & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
    *code = value;
    return length;
}

/* Overlong forms, surrogates and characters above U+10FFFF are visible in the second byte. */
static bool may_follow(unsigned char lead, unsigned char second)
{
    unsigned char first = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char last = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return second >= first && second <= last;
}

size_t utf8_broken_length(const char *text, size_t available)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t length = sequence_length(*p), i = 1;
    if (length == 0 || available < 2 || !may_follow(p[0], p[1])) return 1;
    while (i < length && i < available && (p[i] & 0xC0) == 0x80)
        i++;
    return i;
}

bool utf8_in_ranges(const struct code_range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}

size_t utf16_prefix_bytes(const char *line, size_t available, size_t units)
{
    size_t at = 0;
    for (size_t passed = 0; passed < units && at < available && line[at] != '\n';) {
        uint32_t code = 0;
        size_t length = utf8_decode(line + at, available - at, &code);
        if (length == 0) length = utf8_broken_length(line + at, available - at);
        at += length;
        passed += code >= 0x10000 ? 2 : 1;
    }
    return at;
}

bool utf8_is_unprintable(uint32_t code)
{
    static const struct code_range unprintable[] = {
        {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},       {0x061C, 0x061C},
        {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
        {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF},
    };
    return IN_RANGES(unprintable, code);
}
