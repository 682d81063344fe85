/* SPDX-License-Identifier: MIT */
/* SARIF 2.1.0. `fixes` has the edits of diag_fix; a help is a sentence, not an edit. */
#include <inttypes.h>
#include <string.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/json_write.h"
#include "compiler/diagnostics/rule_page.h"

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* Doubles literal braces (3.11.5), and separates "](", which would be a link (3.11.6). */
static const char *message_string(struct arena *arena, const char *text)
{
    char *escaped = arena_alloc(arena, strlen(text) * 2 + 1), *to = escaped;
    for (; *text; text++) {
        if (*text == '{' || *text == '}') *to++ = *text;
        if (text[0] == ']' && text[1] == '(') *to++ = '\\';
        *to++ = *text;
    }
    return escaped;
}

static void put_message(const struct report *report, struct json *json, const char *key,
                        const char *text)
{
    json_begin(json, key, '{');
    json_text(json, "text", message_string(report->arena, text));
    json_end(json, '}');
}

/* A reference relative to the folder of the run, or an absolute file URI, percent-encoded. */
static const char *file_uri(struct arena *arena, const char *name)
{
    return uri_encoded(arena, name[0] == '/' ? "file://" : "", plain_path(name));
}

static void put_artifact(const struct report *report, struct json *json,
                         const struct source *source)
{
    json_begin(json, "artifactLocation", '{');
    json_text(json, "uri", file_uri(report->arena, source->name));
    json_end(json, '}');
}

static void put_region(struct json *json, const char *key, const struct extent *extent)
{
    json_begin(json, key, '{');
    json_number(json, "startLine", extent->begin.line);
    json_number(json, "startColumn", extent->begin.utf16);
    json_number(json, "endLine", extent->end.line);
    json_number(json, "endColumn", extent->end.utf16);
    json_end(json, '}');
}

static void put_physical_location(const struct report *report, struct json *json,
                                  const struct extent *extent)
{
    json_begin(json, "physicalLocation", '{');
    put_artifact(report, json, extent->source);
    put_region(json, "region", extent);
    json_end(json, '}');
}

static void put_sarif_location(const struct report *report, struct json *json,
                               struct locator *locator, const struct diag *diag)
{
    struct extent extent;
    if (!locate_span(locator, diag->primary.span, &extent)) return;
    json_begin(json, "locations", '[');
    json_begin(json, NULL, '{');
    put_physical_location(report, json, &extent);
    if (diag->primary.text != NULL && *diag->primary.text)
        put_message(report, json, "message", diag->primary.text);
    json_end(json, '}');
    json_end(json, ']');
}

static void put_related_locations(const struct report *report, struct json *json,
                                  const struct diag *diag)
{
    struct extent extent;
    if (diag->labels.count == 0) return;
    json_begin(json, "relatedLocations", '[');
    for (size_t i = 0; i < diag->labels.count; i++) {
        struct locator locator = {.sources = report->sources};
        if (!locate_span(&locator, diag->labels.items[i].span, &extent)) continue;
        json_begin(json, NULL, '{');
        json_number(json, "id", i + 1);
        put_physical_location(report, json, &extent);
        put_message(report, json, "message", diag->labels.items[i].text);
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* One fix with all edits. */
static void put_fixes(const struct report *report, struct json *json, const struct diag *diag)
{
    if (!diag_is_fixable(report->sources, diag)) return;
    json_begin(json, "fixes", '[');
    json_begin(json, NULL, '{');
    json_begin(json, "artifactChanges", '[');
    for (size_t i = 0; i < diag->edits.count; i++) {
        struct locator locator = {.sources = report->sources};
        struct extent extent;
        if (!locate_span(&locator, diag->edits.items[i].span, &extent)) continue;
        json_begin(json, NULL, '{');
        put_artifact(report, json, extent.source);
        json_begin(json, "replacements", '[');
        json_begin(json, NULL, '{');
        put_region(json, "deletedRegion", &extent);
        json_begin(json, "insertedContent", '{');
        json_text(json, "text", diag->edits.items[i].text);
        json_end(json, '}');
        json_end(json, '}');
        json_end(json, ']');
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
    json_end(json, ']');
}

static void put_result(const struct report *report, struct json *json, struct locator *locator,
                       const struct diag *diag, uint64_t fingerprint)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, fingerprint);
    json_begin(json, NULL, '{');
    json_text(json, "ruleId", rule_id(diag->rule));
    json_number(json, "ruleIndex", diag->rule);
    json_text(json, "level", diag_level_name(diag->level));
    put_message(report, json, "message", diag_full_text(report, diag, false));
    put_sarif_location(report, json, locator, diag);
    put_related_locations(report, json, diag);
    put_fixes(report, json, diag);
    json_begin(json, "partialFingerprints", '{');
    json_text(json, "pipec/v1", digits);
    json_end(json, '}');
    json_end(json, '}');
}

static const char *example_text(const struct report *report, const char *title,
                                const struct rule_example *example)
{
    if (example->text == NULL) return "";
    return arena_printf(report->arena, "\n\n%s%s%s:\n\n%s", title,
                        *example->options ? ", with " : "", example->options, example->text);
}

static void put_rule(const struct report *report, struct json *json, enum rule rule)
{
    json_begin(json, NULL, '{');
    json_text(json, "id", rule_id(rule));
    put_message(report, json, "shortDescription", rule_summary(rule));
    struct rule_page page = rule_page(report->arena, rule);
    put_message(report, json, "fullDescription", page.explanation);
    put_message(report, json, "help",
                arena_printf(report->arena, "%s%s%s", page.explanation,
                             example_text(report, "Fails", &page.fails),
                             example_text(report, "Fixed", &page.fixed)));
    json_begin(json, "defaultConfiguration", '{');
    json_text(json, "level", diag_level_name(rule_level(rule)));
    if (rule_is_lint(rule)) json_boolean(json, "enabled", false);
    json_end(json, '}');
    json_begin(json, "properties", '{');
    json_begin(json, "tags", '[');
    json_text(json, NULL, rule_group(rule));
    json_end(json, ']');
    json_end(json, '}');
    json_end(json, '}');
}

void diag_print_sarif(const struct report *report, FILE *to)
{
    struct json json = {.to = to};
    json_begin(&json, NULL, '{');
    json_text(&json, "$schema", SCHEMA);
    json_text(&json, "version", "2.1.0");
    json_begin(&json, "runs", '[');
    struct locator locator = {.sources = report->sources};
    const uint64_t *fingerprints = diag_fingerprints(report);
    json_begin(&json, NULL, '{');
    json_begin(&json, "tool", '{');
    json_begin(&json, "driver", '{');
    json_text(&json, "name", "pipec");
    json_text(&json, "version", PIPEC_VERSION);
    json_begin(&json, "rules", '[');
    for (int i = 0; i < RULE_COUNT; i++)
        put_rule(report, &json, (enum rule)i);
    json_end(&json, ']');
    json_end(&json, '}');
    json_end(&json, '}');
    json_begin(&json, "invocations", '[');
    json_begin(&json, NULL, '{');
    json_boolean(&json, "executionSuccessful", report->finished);
    json_end(&json, '}');
    json_end(&json, ']');
    json_text(&json, "columnKind", "utf16CodeUnits");
    json_text(&json, "defaultEncoding", "UTF-8");
    json_begin(&json, "results", '[');
    for (size_t i = 0; i < report->count; i++)
        put_result(report, &json, &locator, report->items[i], fingerprints[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    json_end(&json, ']');
    json_end(&json, '}');
}
