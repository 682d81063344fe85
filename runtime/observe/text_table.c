/* SPDX-License-Identifier: MIT */
#include "runtime/observe/text_table.h"

#include "base/terminal_text.h"

#include <string.h>

void prt_text_cell(FILE *to, const char *name, unsigned width)
{
    bool is_cut = terminal_text_columns(name) > width;
    unsigned used = 0, room = is_cut ? width - 2 : width;
    for (size_t i = 0, length = strlen(name); i < length;) {
        struct glyph glyph = glyph_at(name + i, length - i);
        if (used + glyph.columns > room) break;
        glyph_print(to, name + i, glyph);
        used += glyph.columns;
        i += glyph.length;
    }
    if (is_cut) fputs("..", to);
    fprintf(to, "%*s", (int)(room - used), "");
}

double prt_text_percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}
