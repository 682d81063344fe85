#include "runtime/observe/text_table.h"

#include <stdbool.h>

/* A character of a name as it is shown. */
struct shown {
    char text[8];
    int columns; /* 0: it belongs to the character before */
};

static bool is_control(const unsigned char *at, const unsigned char *begin)
{
    if (*at < 0x20 || *at == 0x7f) return true;
    return *at >= 0x80 && *at <= 0x9f && at != begin && at[-1] == 0xc2;
}

static struct shown show(const unsigned char *at, const unsigned char *begin)
{
    struct shown shown = {.columns = (*at & 0xc0) != 0x80};
    if (is_control(at, begin)) {
        snprintf(shown.text, sizeof shown.text, "\\x%02x", *at);
        shown.columns = 4;
    } else {
        shown.text[0] = (char)*at;
    }
    return shown;
}

/* Prints the characters that fit; returns the columns they take. */
static int print_part(FILE *to, const char *name, int width)
{
    const unsigned char *begin = (const unsigned char *)name;
    int used = 0;
    for (const unsigned char *at = begin; *at != '\0'; at++) {
        struct shown shown = show(at, begin);
        if (used + shown.columns > width) break;
        fputs(shown.text, to);
        used += shown.columns;
    }
    return used;
}

int prt_text_columns(const char *name)
{
    const unsigned char *begin = (const unsigned char *)name;
    int columns = 0;
    for (const unsigned char *at = begin; *at != '\0'; at++)
        columns += show(at, begin).columns;
    return columns;
}

void prt_text_name(FILE *to, const char *name)
{
    const unsigned char *begin = (const unsigned char *)name;
    for (const unsigned char *at = begin; *at != '\0'; at++)
        fputs(show(at, begin).text, to);
}

void prt_text_cell(FILE *to, const char *name, int width)
{
    bool cut = prt_text_columns(name) > width;
    int used = print_part(to, name, cut ? width - 2 : width);
    if (cut) {
        fputs("..", to);
        used += 2;
    }
    for (; used < width; used++)
        fputc(' ', to);
}

double prt_text_percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}
