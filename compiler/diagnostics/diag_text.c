/* SPDX-License-Identifier: MIT */
/* The form for people: the GNU first line, then the snippets. */

#include "compiler/diagnostics/diag_internal.h"
#include "base/caret_text.h"
#include "base/terminal_text.h"

struct printer {
    const struct sources *sources;
    FILE *to;
    bool colour;
    int gutter_columns;
    uint32_t shown_source; /* the source of the snippets above */
};

#define BOLD "\033[1m"
#define RESET "\033[0m"
#define CARET_COLOUR "\033[1;32m"
#define LABEL_COLOUR "\033[1;34m"
static const char *const level_colours[] = {"", "\033[1;36m", "\033[1;35m", "\033[1;31m"};

static void set_colour(const struct printer *printer, const char *colour)
{
    if (printer->colour) fputs(colour, printer->to);
}

static void print_marked_lines(struct printer *printer, const struct place *place, bool is_primary)
{
    const struct source *source = source_get(printer->sources, place->span.source);
    if (!source) {
        if (place->text) {
            fprintf(printer->to, "%*s | ", printer->gutter_columns, "");
            terminal_text_print(printer->to, place->text);
            fputc('\n', printer->to);
        }
        return;
    }
    uint32_t line, column;
    source_locate(source, place->span.begin, &line, &column);
    if (place->span.source != printer->shown_source) {
        terminal_text_print(printer->to, source->name);
        fprintf(printer->to, ":%u:%u:\n", line, column);
        printer->shown_source = place->span.source;
    }
    const char *colour = is_primary ? CARET_COLOUR : LABEL_COLOUR;
    struct caret_snippet snippet = {
        .line =
            caret_line_at(source->bytes, source->size_bytes, place->span.begin, place->span.end),
        .line_number = line,
        .gutter_columns = printer->gutter_columns,
        .mark = is_primary ? '^' : '-',
        .label = place->text,
        .colour = printer->colour ? colour : NULL,
    };
    caret_snippet_print(printer->to, &snippet);
}

static void print_diag_head(struct printer *printer, const struct diag *diag)
{
    const struct source *source = source_get(printer->sources, diag->primary.span.source);
    FILE *to = printer->to;
    set_colour(printer, BOLD);
    if (source) {
        uint32_t line, column;
        source_locate(source, diag->primary.span.begin, &line, &column);
        terminal_text_print(to, source->name);
        fprintf(to, ":%u:%u: ", line, column);
    } else {
        fputs("pipec: ", to);
    }
    set_colour(printer, level_colours[diag->level]);
    fprintf(to, "%s: ", diag_level_name(diag->level));
    set_colour(printer, RESET BOLD);
    terminal_text_print(to, diag->message);
    set_colour(printer, RESET);
    fprintf(to, " [%s]\n", rule_id(diag->rule));
}

static void print_diag(struct printer *printer, const struct diag *diag)
{
    int widest = 5;
    for (size_t i = 0; i <= diag->labels.count; i++) {
        struct span span = i ? diag->labels.items[i - 1].span : diag->primary.span;
        const struct source *source = source_get(printer->sources, span.source);
        uint32_t line, column;
        if (!source) continue;
        source_locate(source, span.begin, &line, &column);
        uint32_t number = line;
        int digits = 1;
        while (number /= 10)
            digits++;
        if (digits > widest) widest = digits;
    }
    printer->gutter_columns = widest;
    printer->shown_source = diag->primary.span.source;
    print_diag_head(printer, diag);
    print_marked_lines(printer, &diag->primary, true);
    for (size_t i = 0; i < diag->labels.count; i++)
        print_marked_lines(printer, &diag->labels.items[i], false);
    for (size_t i = 0; i < diag->remarks.count; i++) {
        const struct remark *remark = &diag->remarks.items[i];
        set_colour(printer, remark->is_help ? CARET_COLOUR : level_colours[DIAG_NOTE]);
        fputs(remark->is_help ? "help: " : "note: ", printer->to);
        set_colour(printer, RESET);
        terminal_text_print(printer->to, remark->text);
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
    print_diags(report, to, print_diag_head);
}
