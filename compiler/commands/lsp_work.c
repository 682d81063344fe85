/* SPDX-License-Identifier: MIT */
#include "compiler/commands/lsp_work.h"

#include <string.h>
#include <unistd.h>

#include "compiler/commands/command_explain.h"
#include "compiler/commands/command_lint.h"
#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/driver/command_line.h"
#include "compiler/editor/editor_view.h"
#include "compiler/format/format.h"
#include "compiler/syntax/parse.h"
#include "base/words.h"

static void put_source_diagnostics(struct json *json, struct arena *arena,
                                   const struct lint_run *run, uint32_t id)
{
    json_begin(json, NULL, '{');
    json_text(json, "uri", lsp_uri(arena, source_get(run->sources, id)->name));
    lsp_put_diagnostics(json, "diagnostics", arena, run->diags, run->sources, id);
    json_end(json, '}');
}

static void put_no_diagnostics(struct json *json, const char *uri)
{
    json_begin(json, NULL, '{');
    json_text(json, "uri", uri);
    json_begin(json, "diagnostics", '[');
    json_end(json, ']');
    json_end(json, '}');
}

void lsp_diagnostics(const struct editor_request *request, FILE *to)
{
    struct arena *arena = request->arena;
    size_t count = 0;
    const char **words = ARENA_ARRAY(arena, const char *, request->word_count + 3);
    words[count++] = "lint";
    for (size_t i = 0; i < request->word_count; i++)
        words[count++] = request->words[i];
    words[count++] = request->document->path;
    struct command_line line = command_lint_line(arena, (int)count, (char **)words);
    struct lint_paths paths = {0};
    struct lint_run run = {.line = &line,
                           .paths = &paths,
                           .prepare = editor_add_overlays,
                           .prepare_data = (void *)request};
    struct json json = editor_json(to);
    bool is_found = false, is_file = access(request->document->path, R_OK) == 0;
    if (is_file) lint_paths_find(&paths, arena, &request->document->path, 1);
    bool is_examined = is_file && !paths.failed && lint_find(&run, arena);
    json_begin(&json, NULL, '[');
    for (uint32_t id = 1; is_examined && id <= source_count(run.sources); id++) {
        if (source_is_library(run.sources, id)) continue;
        put_source_diagnostics(&json, arena, &run, id);
        const char *name = source_get(run.sources, id)->name;
        is_found = is_found || strcmp(name, request->document->path) == 0;
    }
    if (!is_found) put_no_diagnostics(&json, request->document->uri);
    json_end(&json, ']');
}

/* The text of `pipec explain WORD`, for an item of the library that the program does not import. */
static const char *library_text(struct arena *arena, const char *word)
{
    struct memory_text text;
    if (*word == '\0' || strcmp(word, "std") == 0 || !explain_is_library(word)) return NULL;
    arena_text_begin(&text);
    explain_library(text.file, &word, 1, false);
    return arena_printf(arena, "```pipe\n%s```", arena_text_end(arena, &text, NULL));
}

/* The word around the position, or "". */
static const char *word_at(const struct editor_view *view)
{
    const struct source *source = source_get(view->cx.sources, view->source);
    uint32_t begin = editor_offset(view), end = begin;
    while (begin > 0 && byte_is_word(source->bytes[begin - 1]))
        begin--;
    while (end < source->size_bytes && byte_is_word(source->bytes[end]))
        end++;
    return arena_string(view->cx.arena, source->bytes + begin, end - begin);
}

/* The declaration, its comment if it is an item, and what the analyses know at the place. */
static const char *hover_text(struct editor_view *view)
{
    const struct name_use *use = editor_use(view);
    if (use == NULL || use->named == NAME_NONE) return library_text(view->cx.arena, word_at(view));
    const struct named *named = &view->names.names.items[use->named];
    const char *comment = named->kind <= NAME_TEST ? named->item->documentation : NULL;
    const char *rates = rates_text(view);
    return arena_printf(view->cx.arena, "```pipe\n%s\n```\n%s%s%s%s",
                        editor_declaration(view, named), comment != NULL ? comment : "",
                        rates != NULL ? "\n```\n" : "", rates != NULL ? rates : "",
                        rates != NULL ? "```\n" : "");
}

void lsp_hover(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    const char *text = hover_text(view);
    if (text == NULL) {
        fputs("null", to);
        return;
    }
    json_begin(&json, NULL, '{');
    json_begin(&json, "contents", '{');
    json_text(&json, "kind", "markdown");
    json_text(&json, "value", text);
    json_end(&json, '}');
    json_end(&json, '}');
}

void lsp_formatting(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_document(request);
    struct json json = editor_json(to);
    const struct source *source = source_get(view->cx.sources, view->source);
    const struct ast_file *file = parse_one_file(&view->cx, view->source);
    if (file->is_commands || diag_failed(view->cx.diags)) {
        fputs("null", to);
        return;
    }
    struct formatted formatted = format_source(&view->cx, view->source);
    uint32_t copy = source_add(view->cx.sources, "formatted", formatted.text, formatted.size_bytes);
    json_begin(&json, NULL, '[');
    if (format_is_same(&view->cx, view->source, copy) &&
        strcmp(formatted.text, source->bytes) != 0) {
        json_begin(&json, NULL, '{');
        lsp_put_range(&json, "range", view->cx.sources,
                      (struct span){view->source, 0, source->size_bytes});
        json_text(&json, "newText", formatted.text);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}
