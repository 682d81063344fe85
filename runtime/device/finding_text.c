/* SPDX-License-Identifier: MIT */
#include "runtime/device/finding_text.h"

#include "base/caret_text.h"
#include "base/terminal_text.h"

#include <inttypes.h>

static void print_snippet(FILE *to, const char *text, size_t size, struct devdesc_place place,
                          char mark, const char *label)
{
    struct caret_snippet snippet = {
        .line = caret_line_at(text, size, place.begin, place.end),
        .line_number = place.line,
        .gutter_columns = 5,
        .mark = mark,
        .label = label,
    };
    caret_snippet_print(to, &snippet);
}

static void print_remark(FILE *to, const char *kind, const char *text)
{
    if (text[0] == '\0') return;
    fprintf(to, "%s: ", kind);
    terminal_text_print(to, text);
    fputc('\n', to);
}

void prt_finding_print(FILE *to, const char *path, const char *text, size_t size,
                       const struct devdesc_finding *finding)
{
    bool error = finding->severity == DEVDESC_ERROR;
    terminal_text_print(to, path);
    fprintf(to, ":%" PRIu32 ":%" PRIu32 ": %s: ", finding->place.line, finding->place.column,
            error ? "error" : "warning");
    terminal_text_print(to, finding->message);
    fprintf(to, " [%s]\n", error ? "device-description" : "doubtful-device");
    print_snippet(to, text, size, finding->place, '^', finding->caret);
    if (finding->other.line)
        print_snippet(to, text, size, finding->other, '-', finding->other_text);
    print_remark(to, "note", finding->note);
    print_remark(to, "help", finding->help);
}
