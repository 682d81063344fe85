/* SPDX-License-Identifier: MIT */
#include "base/terminal_text.h"

#include <string.h>

#include "base/utf8.h"

static const struct code_range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C},   {0x0941, 0x0948}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};
static const struct code_range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD},
};

enum { ESCAPE_BYTES = 4 }; /* \xNN */

struct glyph glyph_at(const char *text, size_t available)
{
    if (*text >= 0x20 && *text < 0x7F) return (struct glyph){1, 1, false};
    uint32_t code;
    size_t length = utf8_decode(text, available, &code);
    if (length == 0 || utf8_is_unprintable(code)) return (struct glyph){1, ESCAPE_BYTES, true};
    unsigned columns = IN_RANGES(combining, code) ? 0 : IN_RANGES(wide, code) ? 2 : 1;
    return (struct glyph){length, columns, false};
}

void glyph_print(FILE *to, const char *text, struct glyph glyph)
{
    if (glyph.is_escaped)
        fprintf(to, "\\x%02X", (unsigned char)*text);
    else
        fwrite(text, 1, glyph.length, to);
}

void terminal_bytes_print(FILE *to, const char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes;) {
        struct glyph glyph = glyph_at(bytes + i, size_bytes - i);
        glyph_print(to, bytes + i, glyph);
        i += glyph.length;
    }
}

void terminal_text_print(FILE *to, const char *text)
{
    terminal_bytes_print(to, text, strlen(text));
}

unsigned terminal_text_columns(const char *text)
{
    unsigned columns = 0;
    for (size_t i = 0, length = strlen(text); i < length;) {
        struct glyph glyph = glyph_at(text + i, length - i);
        columns += glyph.columns;
        i += glyph.length;
    }
    return columns;
}

void terminal_text_copy(char *to, size_t size, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0, length = strlen(text);
    for (size_t i = 0; i < length;) {
        struct glyph glyph = glyph_at(text + i, length - i);
        size_t needed = glyph.is_escaped ? ESCAPE_BYTES : glyph.length;
        unsigned byte = (unsigned char)text[i];
        if (needed >= size - used) break;
        if (glyph.is_escaped)
            memcpy(to + used, (char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, needed);
        else
            memcpy(to + used, text + i, needed);
        used += needed;
        i += glyph.length;
    }
    to[used] = '\0';
}
