#include "runtime/device/finding_text.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

enum {
    GUTTER_COLUMNS = 5,
    TAB_COLUMNS = 8,
    LINE_WHOLE_BYTES = 240, /* longer lines are cut to a window round the mark */
    WINDOW_BEFORE_BYTES = 70,
    WINDOW_AFTER_BYTES = 100,
};

/* Prints the character at `text`; its bytes, and the columns it takes. */
static size_t print_character(FILE *to, const char *text, size_t available, unsigned *columns)
{
    uint32_t code;
    size_t length = utf8_decode(text, available, &code);
    if (length == 0 || utf8_is_unprintable(code)) {
        *columns += 4;
        fprintf(to, "\\x%02X", (unsigned char)*text);
        return 1;
    }
    *columns += 1;
    fwrite(text, 1, length, to);
    return length;
}

static void print_escaped(FILE *to, const char *text)
{
    unsigned columns = 0;
    for (size_t i = 0, length = strlen(text); i < length;)
        i += print_character(to, text + i, length - i, &columns);
}

struct line {
    const char *bytes;
    size_t begin, end; /* what is shown of it */
    size_t length;
    size_t mark_begin, mark_end;
};

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static struct line find_line(const char *text, size_t size, struct devdesc_place place)
{
    size_t begin = place.begin, end = place.begin;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    while (end < size && text[end] != '\n')
        end++;
    if (end > begin && end < size && text[end - 1] == '\r') end--;
    struct line line = {.bytes = text + begin, .end = end - begin, .length = end - begin};
    line.mark_begin = place.begin - begin < line.length ? place.begin - begin : line.length;
    line.mark_end = place.end - begin < line.length ? place.end - begin : line.length;
    if (line.length <= LINE_WHOLE_BYTES) return line;
    if (line.mark_begin > WINDOW_BEFORE_BYTES) line.begin = line.mark_begin - WINDOW_BEFORE_BYTES;
    if (line.length - line.mark_begin > WINDOW_AFTER_BYTES)
        line.end = line.mark_begin + WINDOW_AFTER_BYTES;
    for (int i = 0; i < 3 && line.begin > 0 && continues_character(line.bytes[line.begin]); i++)
        line.begin--;
    for (int i = 0; i < 3 && line.end < line.length && continues_character(line.bytes[line.end]);
         i++)
        line.end--;
    return line;
}

/* Columns at which the mark begins and ends. */
static void print_line(FILE *to, const struct line *line, unsigned *first, unsigned *last)
{
    unsigned column = 0;
    if (line->begin > 0) {
        fputs("...", to);
        column = 3;
    }
    *first = *last = UINT32_MAX;
    for (size_t i = line->begin; i < line->end;) {
        if (*first == UINT32_MAX && i >= line->mark_begin) *first = column;
        if (*last == UINT32_MAX && i >= line->mark_end) *last = column;
        if (line->bytes[i] == '\t') {
            unsigned blanks = TAB_COLUMNS - column % TAB_COLUMNS;
            fprintf(to, "%*s", (int)blanks, "");
            column += blanks;
            i++;
        } else {
            i += print_character(to, line->bytes + i, line->end - i, &column);
        }
    }
    if (*first == UINT32_MAX) *first = column;
    if (*last == UINT32_MAX) *last = column;
    if (line->end < line->length) fputs("...", to);
}

static void print_snippet(FILE *to, const char *text, size_t size, struct devdesc_place place,
                          char mark, const char *beside)
{
    struct line line = find_line(text, size, place);
    unsigned first, last;
    fprintf(to, "%*" PRIu32 " | ", GUTTER_COLUMNS, place.line);
    print_line(to, &line, &first, &last);
    fprintf(to, "\n%*s | %*s", GUTTER_COLUMNS, "", (int)first, "");
    unsigned i = first;
    do
        fputc(mark, to);
    while (++i < last);
    if (beside[0]) {
        fputc(' ', to);
        print_escaped(to, beside);
    }
    fputc('\n', to);
}

static void print_remark(FILE *to, const char *kind, const char *text)
{
    if (text[0] == '\0') return;
    fprintf(to, "%s: ", kind);
    print_escaped(to, text);
    fputc('\n', to);
}

void prt_finding_print(FILE *to, const char *path, const char *text, size_t size,
                       const struct devdesc_finding *finding)
{
    bool error = finding->severity == DEVDESC_ERROR;
    print_escaped(to, path);
    fprintf(to, ":%" PRIu32 ":%" PRIu32 ": %s: ", finding->place.line, finding->place.column,
            error ? "error" : "warning");
    print_escaped(to, finding->message);
    fprintf(to, " [%s]\n", error ? "device-description" : "doubtful-device");
    print_snippet(to, text, size, finding->place, '^', finding->caret);
    if (finding->other.line)
        print_snippet(to, text, size, finding->other, '-', finding->other_text);
    print_remark(to, "note", finding->note);
    print_remark(to, "help", finding->help);
}
