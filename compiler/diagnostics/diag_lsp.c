/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/diag_lsp.h"

#include "compiler/diagnostics/diag_internal.h"

const char *lsp_uri(struct arena *arena, const char *path)
{
    return uri_encoded(arena, "file://", path);
}

static void put_place(struct json *json, const char *key, const struct position *position)
{
    json_begin(json, key, '{');
    json_number(json, "line", position->line - 1);
    json_number(json, "character", position->utf16 - 1);
    json_end(json, '}');
}

void lsp_put_range(struct json *json, const char *key, const struct sources *sources,
                   struct span span)
{
    struct locator locator = {.sources = sources};
    struct extent extent;
    if (!locate_span(&locator, span, &extent))
        extent.begin = extent.end = (struct position){1, 1, 1, 1};
    json_begin(json, key, '{');
    put_place(json, "start", &extent.begin);
    put_place(json, "end", &extent.end);
    json_end(json, '}');
}

void lsp_put_place(struct json *json, const char *key, const struct sources *sources,
                   struct span span)
{
    struct locator locator = {.sources = sources};
    struct extent extent = {0};
    if (!locate_span(&locator, span, &extent)) extent.end = (struct position){1, 1, 1, 1};
    put_place(json, key, &extent.end);
}

void lsp_put_tokens(struct json *json, const char *key, const struct sources *sources,
                    const struct lsp_token *tokens, size_t count)
{
    struct locator locator = {.sources = sources};
    struct position last = {.line = 1, .utf16 = 1};
    struct extent extent;
    json_begin(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        if (!locate_span(&locator, tokens[i].span, &extent)) continue;
        bool same_line = extent.begin.line == last.line;
        json_number(json, NULL, extent.begin.line - last.line);
        json_number(json, NULL, extent.begin.utf16 - (same_line ? last.utf16 : 1));
        json_number(json, NULL, extent.end.utf16 - extent.begin.utf16);
        json_number(json, NULL, tokens[i].type);
        json_number(json, NULL, tokens[i].modifiers);
        last = extent.begin;
    }
    json_end(json, ']');
}

static const char *whole_message(struct arena *arena, const struct diag *diag)
{
    const char *text = diag->message;
    for (size_t i = 0; i < diag->remarks.count; i++)
        text = arena_printf(arena, "%s\n%s: %s", text,
                            diag->remarks.items[i].is_help ? "help" : "note",
                            diag->remarks.items[i].text);
    return text;
}

static void put_labels(struct json *json, struct arena *arena, const struct sources *sources,
                       const struct diag *diag)
{
    json_begin(json, "relatedInformation", '[');
    for (size_t i = 0; i < diag->labels.count; i++) {
        struct place place = diag->labels.items[i];
        if (place.span.source == 0 || source_is_library(sources, place.span.source)) continue;
        json_begin(json, NULL, '{');
        json_begin(json, "location", '{');
        json_text(json, "uri", lsp_uri(arena, source_get(sources, place.span.source)->name));
        lsp_put_range(json, "range", sources, place.span);
        json_end(json, '}');
        json_text(json, "message", place.text != NULL ? place.text : "here");
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_fix(struct json *json, struct arena *arena, const struct sources *sources,
                    const struct diag *diag)
{
    size_t count = diag_is_fixable(sources, diag) ? diag->edits.count : 0;
    json_begin(json, "data", '[');
    for (size_t i = 0; i < count; i++) {
        struct span span = diag->edits.items[i].span;
        json_begin(json, NULL, '{');
        json_text(json, "uri", lsp_uri(arena, source_get(sources, span.source)->name));
        lsp_put_range(json, "range", sources, span);
        json_text(json, "newText", diag->edits.items[i].text);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_diagnostic(struct json *json, struct arena *arena, const struct sources *sources,
                           const struct diag *diag)
{
    static const unsigned severities[] = {
        [DIAG_OFF] = 4, [DIAG_NOTE] = 3, [DIAG_WARNING] = 2, [DIAG_ERROR] = 1};
    json_begin(json, NULL, '{');
    lsp_put_range(json, "range", sources, diag->primary.span);
    json_number(json, "severity", severities[diag->level]);
    json_text(json, "code", rule_id(diag->rule));
    json_text(json, "source", "pipec");
    json_text(json, "message", whole_message(arena, diag));
    put_labels(json, arena, sources, diag);
    put_fix(json, arena, sources, diag);
    json_end(json, '}');
}

void lsp_put_diagnostics(struct json *json, const char *key, struct arena *arena,
                         const struct diags *diags, const struct sources *sources, uint32_t source)
{
    json_begin(json, key, '[');
    for (size_t i = 0; i < diag_kept_count(diags); i++) {
        const struct diag *diag = diag_at(diags, i);
        if (diag->primary.span.source == source) put_diagnostic(json, arena, sources, diag);
    }
    json_end(json, ']');
}
