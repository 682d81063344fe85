/* For people: the GNU first line, then the snippets. */
#include <ctype.h>
#include <string.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/utf8.h"

enum {
    TAB_COLUMNS = 8,
    LINE_WHOLE_BYTES = 240, /* longer lines are cut to a window round the caret */
    WINDOW_BEFORE_BYTES = 70,
    WINDOW_AFTER_BYTES = 100,
};

/* ---- characters on a terminal ---- */

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

/* One character of a text as it is shown: some source bytes, and the columns they take. */
struct glyph {
    size_t length;
    unsigned columns;
    bool escaped; /* one byte, shown as \xNN */
};

static struct glyph glyph_at(const char *text, size_t available)
{
    if (*text >= 0x20 && *text < 0x7F) return (struct glyph){1, 1, false};
    uint32_t code;
    size_t length = utf8_decode(text, available, &code);
    if (length == 0 || utf8_is_unprintable(code)) return (struct glyph){1, 4, true};
    unsigned columns = IN_RANGES(combining, code) ? 0 : IN_RANGES(wide, code) ? 2 : 1;
    return (struct glyph){length, columns, false};
}

static void print_glyph(FILE *to, const char *text, struct glyph glyph)
{
    if (glyph.escaped)
        fprintf(to, "\\x%02X", (unsigned char)*text);
    else
        fwrite(text, 1, glyph.length, to);
}

void diag_print_escaped(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        struct glyph glyph = glyph_at(text + i, length - i);
        print_glyph(to, text + i, glyph);
        i += glyph.length;
    }
}

static void print_escaped(FILE *to, const char *text)
{
    diag_print_escaped(to, text, strlen(text));
}

/* ---- showing ---- */

struct printer {
    const struct sources *sources;
    FILE *to;
    bool colour;
    int gutter_columns;
    uint32_t shown_source; /* whose snippets are being shown */
};

#define BOLD "\033[1m"
#define RESET "\033[0m"
#define CARET_COLOUR "\033[1;32m"
#define LABEL_COLOUR "\033[1;34m"
static const char *const level_colours[] = {"", "\033[1;36m", "\033[1;35m", "\033[1;31m"};

static void paint(const struct printer *printer, const char *colour)
{
    if (printer->colour) fputs(colour, printer->to);
}

static void print_spaces(FILE *to, unsigned count)
{
    fprintf(to, "%*s", (int)count, "");
}

/* The bytes of the line that are shown: the whole line, or a window round the caret. */
struct excerpt {
    const char *bytes;
    uint32_t begin, end; /* within the line */
    uint32_t line_length;
    uint32_t mark_begin, mark_end; /* within the line */
};

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static struct excerpt choose_excerpt(const struct source *source, uint32_t line, struct span span)
{
    uint32_t begin = source->line_begin[line - 1];
    uint32_t end = line < source->line_count ? source->line_begin[line] - 1 : source->size_bytes;
    const char *text = source->bytes + begin;
    uint32_t length = end - begin;
    if (length > 0 && text[length - 1] == '\r' && line < source->line_count) length--;
    struct excerpt excerpt = {.bytes = text, .end = length, .line_length = length};
    excerpt.mark_begin = span.begin - begin < length ? span.begin - begin : length;
    excerpt.mark_end = span.end < end ? span.end - begin : length;
    if (excerpt.mark_end > length) excerpt.mark_end = length;
    if (excerpt.mark_end < excerpt.mark_begin) excerpt.mark_end = excerpt.mark_begin;
    if (span.end > end)
        while (excerpt.mark_end > excerpt.mark_begin + 1 &&
               isspace((unsigned char)text[excerpt.mark_end - 1]))
            excerpt.mark_end--;
    if (length <= LINE_WHOLE_BYTES) return excerpt;
    uint32_t mark = excerpt.mark_begin;
    excerpt.begin = mark > WINDOW_BEFORE_BYTES ? mark - WINDOW_BEFORE_BYTES : 0;
    excerpt.end = length - mark > WINDOW_AFTER_BYTES ? mark + WINDOW_AFTER_BYTES : length;
    for (int i = 0; i < 3 && excerpt.begin > 0 && continues_character(text[excerpt.begin]); i++)
        excerpt.begin--;
    for (int i = 0; i < 3 && excerpt.end < length && continues_character(text[excerpt.end]); i++)
        excerpt.end--;
    if (excerpt.mark_end > excerpt.end) excerpt.mark_end = excerpt.end;
    return excerpt;
}

/* Prints the excerpt; fills the columns where its mark begins and ends. */
static void print_excerpt(FILE *to, const struct excerpt *excerpt, unsigned *first, unsigned *last)
{
    unsigned column = 0;
    bool begun = false, ended = false;
    if (excerpt->begin > 0) {
        fputs("...", to);
        column = 3;
    }
    for (uint32_t i = excerpt->begin; i < excerpt->end;) {
        struct glyph glyph = glyph_at(excerpt->bytes + i, excerpt->end - i);
        if (!begun && i + glyph.length > excerpt->mark_begin) {
            *first = column;
            begun = true;
        }
        if (!ended && i >= excerpt->mark_end) {
            *last = column;
            ended = true;
        }
        if (excerpt->bytes[i] == '\t') {
            glyph.columns = TAB_COLUMNS - column % TAB_COLUMNS;
            print_spaces(to, glyph.columns);
        } else {
            print_glyph(to, excerpt->bytes + i, glyph);
        }
        column += glyph.columns;
        i += (uint32_t)glyph.length;
    }
    if (!begun) *first = column;
    if (!ended) *last = column;
    if (excerpt->end < excerpt->line_length) fputs("...", to);
}

static void print_gutter(const struct printer *printer, uint32_t line)
{
    if (line)
        fprintf(printer->to, "%*u | ", printer->gutter_columns, line);
    else
        fprintf(printer->to, "%*s | ", printer->gutter_columns, "");
}

static void print_snippet(struct printer *printer, const struct place *place, bool is_primary)
{
    const struct source *source = source_get(printer->sources, place->span.source);
    FILE *to = printer->to;
    if (!source) {
        if (place->text) {
            print_gutter(printer, 0);
            print_escaped(to, place->text);
            fputc('\n', to);
        }
        return;
    }
    uint32_t line, column;
    source_locate(source, place->span.begin, &line, &column);
    if (place->span.source != printer->shown_source) {
        print_escaped(to, source->name);
        fprintf(to, ":%u:%u:\n", line, column);
        printer->shown_source = place->span.source;
    }
    struct excerpt excerpt = choose_excerpt(source, line, place->span);
    unsigned first = 0, last = 0;
    print_gutter(printer, line);
    print_excerpt(to, &excerpt, &first, &last);
    fputc('\n', to);
    print_gutter(printer, 0);
    print_spaces(to, first);
    paint(printer, is_primary ? CARET_COLOUR : LABEL_COLOUR);
    unsigned i = first;
    do
        fputc(is_primary ? '^' : '-', to);
    while (++i < last);
    if (place->text && *place->text) {
        fputc(' ', to);
        print_escaped(to, place->text);
    }
    paint(printer, RESET);
    fputc('\n', to);
}

static int count_digits(uint32_t number)
{
    int digits = 1;
    while (number /= 10)
        digits++;
    return digits;
}

static int widest_line_number(const struct printer *printer, const struct diag *diag)
{
    int widest = 5;
    for (size_t i = 0; i <= diag->labels.count; i++) {
        struct span span = i ? diag->labels.items[i - 1].span : diag->primary.span;
        const struct source *source = source_get(printer->sources, span.source);
        uint32_t line, column;
        if (!source) continue;
        source_locate(source, span.begin, &line, &column);
        int digits = count_digits(line);
        if (digits > widest) widest = digits;
    }
    return widest;
}

static void print_head(struct printer *printer, const struct diag *diag)
{
    const struct source *source = source_get(printer->sources, diag->primary.span.source);
    FILE *to = printer->to;
    paint(printer, BOLD);
    if (source) {
        uint32_t line, column;
        source_locate(source, diag->primary.span.begin, &line, &column);
        print_escaped(to, source->name);
        fprintf(to, ":%u:%u: ", line, column);
    } else {
        fputs("pipec: ", to);
    }
    paint(printer, level_colours[diag->level]);
    fprintf(to, "%s: ", diag_level_name(diag->level));
    paint(printer, RESET BOLD);
    print_escaped(to, diag->message);
    paint(printer, RESET);
    fprintf(to, " [%s]\n", rule_id(diag->rule));
}

static void print_diag(struct printer *printer, const struct diag *diag)
{
    printer->gutter_columns = widest_line_number(printer, diag);
    printer->shown_source = diag->primary.span.source;
    print_head(printer, diag);
    print_snippet(printer, &diag->primary, true);
    for (size_t i = 0; i < diag->labels.count; i++)
        print_snippet(printer, &diag->labels.items[i], false);
    for (size_t i = 0; i < diag->remarks.count; i++) {
        const struct remark *remark = &diag->remarks.items[i];
        paint(printer, remark->is_help ? CARET_COLOUR : level_colours[DIAG_NOTE]);
        fputs(remark->is_help ? "help: " : "note: ", printer->to);
        paint(printer, RESET);
        print_escaped(printer->to, remark->text);
        fputc('\n', printer->to);
    }
}

static void print_diags(const struct report *report, FILE *to,
                        void (*print)(struct printer *printer, const struct diag *diag))
{
    struct printer printer = {.sources = report->sources, .to = to, .colour = report->colour};
    size_t shown = 0, shown_errors = 0;
    for (; shown < report->count && (report->all || shown_errors < report->error_limit); shown++) {
        if (report->items[shown]->level == DIAG_ERROR) shown_errors++;
        print(&printer, report->items[shown]);
    }
    size_t hidden = report->count - shown + report->lost_count;
    if (hidden > 0)
        fprintf(to, "pipec: note: %zu more message%s not shown\n", hidden,
                hidden == 1 ? " is" : "s are");
}

void diag_print_text(const struct report *report, FILE *to)
{
    print_diags(report, to, print_diag);
}

void diag_print_short(const struct report *report, FILE *to)
{
    print_diags(report, to, print_head);
}
