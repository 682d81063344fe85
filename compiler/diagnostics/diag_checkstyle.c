/* SPDX-License-Identifier: MIT */
/* The XML of Checkstyle, which most review tools read. */
#include <inttypes.h>
#include <string.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/utf8.h"

static const char *const severities[] = {"", "info", "warning", "error"};

/* Characters that XML 1.0 cannot contain, even as references, are shown as \xNN. */
static bool is_xml_character(uint32_t code)
{
    if (code == '\t' || code == '\n' || code == '\r') return true;
    return !utf8_is_unprintable(code) && code != 0xFFFE && code != 0xFFFF;
}

static void print_attribute(FILE *to, const char *name, const char *text)
{
    const char *end = text + strlen(text);
    fprintf(to, " %s=\"", name);
    while (text < end) {
        uint32_t code;
        size_t length = utf8_decode(text, (size_t)(end - text), &code);
        if (length == 0 || !is_xml_character(code)) {
            fprintf(to, "\\x%02X", (unsigned char)*text);
            length = 1;
        } else if (code < ' ' || strchr("&<>\"'", (int)code)) {
            fprintf(to, "&#%" PRIu32 ";", code);
        } else {
            fwrite(text, 1, length, to);
        }
        text += length;
    }
    fputc('"', to);
}

static void print_error(const struct report *report, FILE *to, const struct diag *diag,
                        const struct extent *extent)
{
    fputs("    <error", to);
    if (extent != NULL)
        fprintf(to, " line=\"%" PRIu32 "\" column=\"%" PRIu32 "\"", extent->begin.line,
                extent->begin.character);
    print_attribute(to, "severity", severities[diag->level]);
    print_attribute(to, "message", diag_full_text(report, diag, true));
    fprintf(to, " source=\"pipec.%s\"/>\n", rule_id(diag->rule));
}

/* Diagnostics without a place are listed under the file that was given. */
void diag_print_checkstyle(const struct report *report, FILE *to)
{
    struct locator locator = {.sources = report->sources};
    uint32_t open = 0;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n", to);
    for (size_t i = 0; i < report->count; i++) {
        const struct diag *diag = report->items[i];
        struct extent extent;
        bool placed = locate_span(&locator, diag->primary.span, &extent);
        uint32_t id = placed ? diag->primary.span.source : 1;
        const struct source *source = source_get(report->sources, id);
        if (id != open) {
            if (open) fputs("  </file>\n", to);
            fputs("  <file", to);
            print_attribute(to, "name", source != NULL ? plain_path(source->name) : "pipec");
            fputs(">\n", to);
        }
        open = id;
        print_error(report, to, diag, placed ? &extent : NULL);
    }
    fputs(open ? "  </file>\n</checkstyle>\n" : "</checkstyle>\n", to);
}
