/* SPDX-License-Identifier: MIT */
/* The report format of GitLab's Code Quality. */
#include <inttypes.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/json_write.h"

static const char *const severities[] = {"", "info", "minor", "major"};

void diag_print_gitlab(const struct report *report, FILE *to)
{
    struct json json = {.to = to};
    struct locator locator = {.sources = report->sources};
    const uint64_t *fingerprints = diag_fingerprints(report);
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < report->count; i++) {
        const struct diag *diag = report->items[i];
        char digits[17];
        snprintf(digits, sizeof digits, "%016" PRIx64, fingerprints[i]);
        json_begin(&json, NULL, '{');
        json_text(&json, "description", diag_full_text(report, diag, false));
        json_text(&json, "check_name", rule_id(diag->rule));
        json_text(&json, "fingerprint", digits);
        json_text(&json, "severity", severities[diag->level]);
        /* A place is required: a diagnostic without one gets the first line of the file that was
         * given. */
        struct extent extent;
        bool placed = locate_span(&locator, diag->primary.span, &extent);
        const struct source *source = placed ? extent.source : source_get(report->sources, 1);
        json_begin(&json, "location", '{');
        json_text(&json, "path", source != NULL ? plain_path(source->name) : "pipec");
        json_begin(&json, "lines", '{');
        json_number(&json, "begin", placed ? extent.begin.line : 1);
        json_end(&json, '}');
        json_end(&json, '}');
        json_end(&json, '}');
    }
    json_end(&json, ']');
}
