/* SPDX-License-Identifier: MIT */
/* Workflow commands of GitHub: annotations on the lines of a change. */
#include <inttypes.h>
#include <string.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/utf8.h"

static const char *const commands[] = {"", "notice", "warning", "error"};

/* Escapes '%', CR and LF, which end or begin a command, and in properties also ':' and ','. */
static void print_command_text(FILE *to, const char *text, bool is_property)
{
    const char *end = text + strlen(text);
    while (text < end) {
        uint32_t code;
        size_t length = utf8_decode(text, (size_t)(end - text), &code);
        if (length > 0 && (strchr("%\r\n", *text) || (is_property && strchr(":,", *text)))) {
            fprintf(to, "%%%02X", (unsigned char)*text);
        } else if (length == 0 || utf8_is_unprintable(code)) {
            fprintf(to, "\\x%02X", (unsigned char)*text);
            length = 1;
        } else {
            fwrite(text, 1, length, to);
        }
        text += length;
    }
}

void diag_print_github(const struct report *report, FILE *to)
{
    struct locator locator = {.sources = report->sources};
    for (size_t i = 0; i < report->count; i++) {
        const struct diag *diag = report->items[i];
        struct extent extent;
        fprintf(to, "::%s ", commands[diag->level]);
        if (locate_span(&locator, diag->primary.span, &extent)) {
            fputs("file=", to);
            print_command_text(to, plain_path(extent.source->name), true);
            fprintf(to, ",line=%" PRIu32 ",endLine=%" PRIu32 ",col=%" PRIu32 ",", extent.begin.line,
                    extent.end.line, extent.begin.character);
        }
        fputs("title=", to);
        print_command_text(to, rule_id(diag->rule), true);
        fputs("::", to);
        print_command_text(to, diag_full_text(report, diag, true), false);
        fputc('\n', to);
    }
}
