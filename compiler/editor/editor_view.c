/* SPDX-License-Identifier: MIT */
#include "compiler/editor/editor_view.h"

#include <string.h>

#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/support/source_paths.h"
#include "base/utf8.h"
#include "base/words.h"

/* ---- views ---- */

void editor_add_overlays(void *data, struct sources *sources)
{
    const struct editor_request *request = data;
    for (size_t i = 0; i < request->document_count; i++)
        source_overlay(sources, request->documents[i].path, request->documents[i].text,
                       request->documents[i].size_bytes);
}

/* A document that is no file yet has no folder, so it can import from the library only. */
struct editor_view *editor_view_document(const struct editor_request *request)
{
    struct editor_view *view = ARENA_NEW(request->arena, struct editor_view);
    const struct editor_document *document = request->document;
    view->request = request;
    view->cx = compile_begin(request->arena, (struct compile_options){0});
    view->names.cx = &view->cx;
    editor_add_overlays((void *)request, view->cx.sources);
    if (document == NULL) return view;
    if (source_read(view->cx.sources, document->path, &view->source) != SOURCE_OK)
        view->source =
            source_add(view->cx.sources, document->uri, document->text, document->size_bytes);
    name_table_add(&view->names, view->source);
    return view;
}

struct editor_view *editor_view_program(const struct editor_request *request)
{
    struct editor_view *view = editor_view_document(request);
    name_table_resolve(&view->names);
    return view;
}

static void add_file(struct editor_view *view, const char *path)
{
    uint32_t source;
    if (source_read(view->cx.sources, path, &source) == SOURCE_OK)
        name_table_add(&view->names, source);
}

static void add_folder(struct editor_view *view, const char *folder)
{
    struct source_paths paths = {.visits_max = PROJECT_VISITS_MAX};
    source_paths_add(&paths, view->cx.arena, folder);
    view->project_cut |= paths.cut || paths.items.count > PROJECT_FILES_MAX;
    for (size_t i = 0; i < paths.items.count && i < PROJECT_FILES_MAX; i++)
        add_file(view, paths.items.items[i]);
}

struct editor_view *editor_view_project(const struct editor_request *request)
{
    struct editor_view *view = editor_view_document(request);
    for (size_t i = 0; i < request->open_count; i++)
        add_file(view, request->documents[i].path);
    for (size_t i = 0; i < request->folder_count; i++)
        add_folder(view, request->folders[i]);
    if (request->folder_count == 0 && request->document != NULL) {
        const char *path = request->document->path, *slash = strrchr(path, '/');
        if (slash > path)
            add_folder(view, arena_string(view->cx.arena, path, (size_t)(slash - path)));
    }
    name_table_resolve(&view->names);
    return view;
}

/* ---- places ---- */

struct json editor_json(FILE *to)
{
    return (struct json){.to = to, .compact = true};
}

static uint32_t editor_offset_at(const struct source *source, unsigned line, unsigned character)
{
    if (line >= source->line_count) return source->size_bytes;
    return source->line_begin[line] +
           (uint32_t)utf16_prefix_bytes(source->bytes + source->line_begin[line],
                                        source->size_bytes - source->line_begin[line], character);
}

uint32_t editor_offset(const struct editor_view *view)
{
    return editor_offset_at(source_get(view->cx.sources, view->source), view->request->line,
                            view->request->character);
}

const struct name_use *editor_use(const struct editor_view *view)
{
    return name_table_at(&view->names, view->source, editor_offset(view));
}

const char *editor_uri(const struct editor_view *view, uint32_t source)
{
    const struct editor_request *request = view->request;
    const char *name = source_get(view->cx.sources, source)->name;
    if (source == view->source) return request->document->uri;
    for (size_t i = 0; i < request->document_count; i++)
        if (strcmp(request->documents[i].path, name) == 0) return request->documents[i].uri;
    return lsp_uri(view->cx.arena, name);
}

void editor_put_location(struct json *json, const char *key, const struct editor_view *view,
                         struct span span)
{
    json_begin(json, key, '{');
    json_text(json, "uri", editor_uri(view, span.source));
    lsp_put_range(json, "range", view->cx.sources, span);
    json_end(json, '}');
}

/* ---- texts ---- */

const char *editor_text(const struct editor_view *view, struct span span)
{
    const char *bytes = source_get(view->cx.sources, span.source)->bytes;
    char *text = arena_alloc(view->cx.arena, span.end - span.begin + 1), *to = text;
    for (uint32_t i = span.begin; i < span.end; i++) {
        bool blank = byte_is_blank(bytes[i]);
        if (!blank || (to > text && to[-1] != ' ')) *to++ = blank ? ' ' : bytes[i];
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    return text;
}

static const char *kind_word(enum name_kind kind)
{
    static const char *const words[] = {
        [NAME_KERNEL] = "kernel",     [NAME_PIPELINE] = "pipeline", [NAME_FUNCTION] = "fn",
        [NAME_CONSTANT] = "const",    [NAME_STRUCT] = "struct",     [NAME_TEST] = "test",
        [NAME_FIELD] = "field",       [NAME_TYPE] = "type",         [NAME_PARAMETER] = "parameter",
        [NAME_PORT] = "port",         [NAME_BUFFER] = "buffer",     [NAME_LABEL] = "node",
        [NAME_VARIABLE] = "variable", [NAME_EVENT] = "event",
    };
    return words[kind];
}

const char *editor_declaration(const struct editor_view *view, const struct named *named)
{
    const struct ast_item *item = named->item;
    if (named->kind <= NAME_TEST) {
        struct span span = item->span;
        if (item->body != NULL) span.end = item->body->span.begin;
        if (item->net != NULL) span.end = item->net->span.begin;
        return editor_text(view, span);
    }
    const char *type = named->type != NULL ? editor_text(view, named->type->span) : "";
    return arena_printf(view->cx.arena, "%s%s%s %s", kind_word(named->kind), *type ? " " : "", type,
                        named->text);
}

void editor_refuse(FILE *to, const char *reason)
{
    struct json json = editor_json(to);
    json_begin(&json, NULL, '{');
    json_text(&json, "refused", reason);
    json_end(&json, '}');
}
