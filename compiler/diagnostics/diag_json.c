/* SPDX-License-Identifier: MIT */
/* The format of pipec itself: one object, or one line for each diagnostic. */
#include "compiler/diagnostics/diag_internal.h"
#include "base/json_write.h"

enum { JSON_VERSION = 1 };

static void put_position(struct json *json, const char *key, const struct position *position)
{
    json_begin(json, key, '{');
    json_number(json, "line", position->line);
    json_number(json, "column", position->byte);
    json_number(json, "character", position->character);
    json_end(json, '}');
}

static void put_json_location(struct json *json, struct locator *locator, struct span span)
{
    struct extent extent;
    if (!locate_span(locator, span, &extent)) {
        json_text(json, "location", NULL);
        return;
    }
    json_begin(json, "location", '{');
    json_text(json, "file", extent.source->name);
    put_position(json, "begin", &extent.begin);
    put_position(json, "end", &extent.end);
    json_end(json, '}');
}

static void put_remarks(struct json *json, const char *key, const struct diag *diag, bool is_help)
{
    json_begin(json, key, '[');
    for (size_t i = 0; i < diag->remarks.count; i++)
        if (diag->remarks.items[i].is_help == is_help)
            json_text(json, NULL, diag->remarks.items[i].text);
    json_end(json, ']');
}

static void put_edits(struct json *json, const struct sources *sources, const struct diag *diag)
{
    json_begin(json, "fix", '[');
    size_t count = diag_is_fixable(sources, diag) ? diag->edits.count : 0;
    for (size_t i = 0; i < count; i++) {
        struct locator locator = {.sources = sources};
        json_begin(json, NULL, '{');
        json_text(json, "text", diag->edits.items[i].text);
        put_json_location(json, &locator, diag->edits.items[i].span);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_diag(struct json *json, struct locator *locator, const struct diag *diag)
{
    json_text(json, "rule", rule_id(diag->rule));
    json_text(json, "group", rule_group(diag->rule));
    json_text(json, "level", diag_level_name(diag->level));
    json_text(json, "message", diag->message);
    put_json_location(json, locator, diag->primary.span);
    json_text(json, "label", diag->primary.text);
    json_begin(json, "labels", '[');
    for (size_t i = 0; i < diag->labels.count; i++) {
        struct locator other = {.sources = locator->sources};
        json_begin(json, NULL, '{');
        json_text(json, "message", diag->labels.items[i].text);
        put_json_location(json, &other, diag->labels.items[i].span);
        json_end(json, '}');
    }
    json_end(json, ']');
    put_remarks(json, "notes", diag, false);
    put_remarks(json, "help", diag, true);
    put_edits(json, locator->sources, diag);
}

void report_list_json(const struct report *report, struct json *json, const char *key)
{
    struct locator locator = {.sources = report->sources};
    json_begin(json, key, '[');
    for (size_t i = 0; i < report->count; i++) {
        json_begin(json, NULL, '{');
        put_diag(json, &locator, report->items[i]);
        json_end(json, '}');
    }
    json_end(json, ']');
}

void diag_print_json(const struct report *report, FILE *to)
{
    struct json json = {.to = to};
    json_begin(&json, NULL, '{');
    json_number(&json, "version", JSON_VERSION);
    json_text(&json, "tool", "pipec " PIPEC_VERSION);
    json_boolean(&json, "finished", report->finished);
    json_number(&json, "errors", report->error_count);
    json_number(&json, "warnings", report->warning_count);
    json_number(&json, "not_shown", report->lost_count);
    report_list_json(report, &json, "diagnostics");
    json_end(&json, '}');
}

void diag_print_jsonl(const struct report *report, FILE *to)
{
    struct json json = {.to = to, .compact = true};
    struct locator locator = {.sources = report->sources};
    for (size_t i = 0; i < report->count; i++) {
        json_begin(&json, NULL, '{');
        json_number(&json, "version", JSON_VERSION);
        put_diag(&json, &locator, report->items[i]);
        json_end(&json, '}');
    }
}
