/* SPDX-License-Identifier: MIT */
#include "compiler/commands/edit_work.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/commands/command_lint.h"
#include "compiler/commands/lsp_work.h"
#include "compiler/describe/graph_svg.h"
#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/driver/passes.h"
#include "compiler/editor/edit_operations.h"
#include "compiler/editor/editor_view.h"
#include "compiler/support/arena_text.h"
#include "compiler/syntax/parse.h"

/* One compilation of the text. */
struct edited {
    const struct editor_request *request;
    struct compile cx;
    uint32_t source; /* 0: it cannot be read */
    struct passes passes;
    const struct ast_file *file;
    struct net_parts parts;
    struct svg_boxes boxes;
};

static struct edited *compile_text(const struct editor_request *request)
{
    struct arena *arena = request->arena;
    const char **words = ARENA_ARRAY(arena, const char *, request->word_count + 3);
    struct edited *edited = ARENA_NEW(arena, struct edited);
    size_t count = 0;
    words[count++] = "lint";
    for (size_t i = 0; i < request->word_count; i++)
        words[count++] = request->words[i];
    words[count++] = request->document->path;
    edited->request = request;
    edited->cx = compile_begin(arena, command_lint_line(arena, (int)count, (char **)words).options);
    edited->cx.options.pipeline = request->pipeline;
    editor_add_overlays((void *)request, edited->cx.sources);
    if (source_read(edited->cx.sources, request->document->path, &edited->source) != SOURCE_OK)
        edited->source = 0;
    if (edited->source == 0) return edited;
    edited->passes = passes_of_source(&edited->cx, edited->source);
    passes_run(&edited->passes, PASS_DEPTHS);
    edited->file = edited->passes.program->files;
    edited->parts = net_parts_of_file(arena, edited->file);
    return edited;
}

/* ---- the parts of the source ---- */

static const char *text_between(const struct edited *edited, uint32_t begin, uint32_t end)
{
    const struct source *source = source_get(edited->cx.sources, edited->source);
    return begin < end ? arena_string(edited->request->arena, source->bytes + begin, end - begin)
                       : "";
}

static const char *list_text(const struct edited *edited, const struct ast_expr *first)
{
    const struct ast_expr *last = first;
    if (first == NULL) return "";
    while (last->next != NULL)
        last = last->next;
    return text_between(edited, first->span.begin, last->span.end);
}

static const char *attributes_text(const struct edited *edited, const struct ast_attribute *first)
{
    const struct ast_attribute *last = first;
    if (first == NULL) return "";
    while (last->next != NULL)
        last = last->next;
    return text_between(edited, first->span.begin, last->span.end);
}

static void put_bound(struct json *json, const char *key, const struct edited *edited,
                      const struct ast_expr *bound)
{
    json_begin(json, key, '[');
    for (; bound != NULL; bound = bound->next)
        json_text(json, NULL, text_between(edited, bound->span.begin, bound->span.end));
    json_end(json, ']');
}

static void put_element(struct json *json, const struct edited *edited, const struct net_part *part)
{
    const struct ast_node *element = part->element;
    bool is_use = net_part_is_use(&edited->parts, part->item, element);
    json_text(json, "kind", is_use ? "use" : "kernel");
    json_text(json, "name", element->name.text);
    json_text(json, "label", element->label.text != NULL ? element->label.text : "");
    json_text(json, "parameters", list_text(edited, element->type_arguments));
    json_text(json, "arguments",
              list_text(edited, element->has_arrow ? element->arguments : element->inputs));
    json_text(json, "attributes", attributes_text(edited, element->attributes));
    json_boolean(json, "bound", element->has_arrow);
    put_bound(json, "inputs", edited, element->has_arrow ? element->inputs : NULL);
    put_bound(json, "outputs", edited, element->outputs);
}

static void put_net_parts(struct json *json, const struct edited *edited)
{
    const struct source *source = source_get(edited->cx.sources, edited->source);
    json_begin(json, "parts", '[');
    for (size_t i = 0; i < edited->parts.items.count; i++) {
        const struct net_part *part = &edited->parts.items.items[i];
        uint32_t line, column;
        source_locate(source, part->at, &line, &column);
        json_begin(json, NULL, '{');
        json_number(json, "at", part->at);
        json_number(json, "line", line);
        json_text(json, "pipeline", part->item->name.text);
        if (part->element != NULL) {
            put_element(json, edited, part);
        } else if (part->buffer != NULL) {
            json_text(json, "kind", "buffer");
            json_text(json, "name", part->buffer->name.text);
            json_text(json, "attributes", attributes_text(edited, part->buffer->attributes));
        } else {
            json_text(json, "kind", part->port->is_out ? "out" : "in");
            json_text(json, "name", part->port->name.text);
        }
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* ---- the picture ---- */

/* The place of a part that begins at the span; without one, it is in another file, or not written. */
static void put_part_place(struct json *json, const struct edited *edited, struct span span)
{
    span = source_origin(edited->cx.sources, span);
    if (span.source == edited->source && net_part_at(&edited->parts, span.begin) != NULL)
        json_number(json, "at", span.begin);
}

static void put_graph(struct json *json, const struct edited *edited, const struct graph *graph)
{
    static const char *const kinds[] = {"buffer", "in", "out"};
    json_begin(json, "nodes", '[');
    for (size_t n = 0; n < graph->nodes.count; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        json_begin(json, NULL, '{');
        json_text(json, "name", node->name);
        json_text(json, "kernel", node->kernel->title);
        put_part_place(json, edited, node->span);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_begin(json, "buffers", '[');
    for (size_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        json_begin(json, NULL, '{');
        json_text(json, "name", buffer->name);
        json_text(json, "kind", kinds[buffer->outer]);
        json_text(json, "type", type_text(edited->request->arena, buffer->type));
        if (buffer->outer == GRAPH_INNER) json_number(json, "depth", buffer->depth_packets);
        json_text(json, "why", buffer->depth_reason);
        json_number(json, "bundle", edited->boxes.bundle[b]);
        put_part_place(json, edited, buffer->span);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_edited_picture(struct json *json, struct edited *edited)
{
    struct memory_text text;
    const struct graph *graph = edited->passes.written;
    if (graph == NULL) {
        json_text(json, "picture", NULL);
        return;
    }
    arena_text_begin(&text);
    struct picture_look look = {.untitled = true};
    graph_svg(text.file, edited->request->arena, &edited->cx, graph, &look, &edited->boxes);
    json_text(json, "picture", arena_text_end(edited->request->arena, &text, NULL));
    json_text(json, "shown", graph->name);
    put_graph(json, edited, graph);
}

/* ---- the state ---- */

/* Of this file, and of those that it imports. */
static void put_kernel_names(struct json *json, const struct edited *edited)
{
    json_begin(json, "kernels", '[');
    for (const struct ast_file *file = edited->passes.program->files; file != NULL;
         file = file->next)
        for (const struct ast_item *item = file->items; item != NULL; item = item->next)
            if ((item->kind == AST_ITEM_KERNEL && item->kernel_kind != AST_KERNEL_CHILD) ||
                item->kind == AST_ITEM_PIPELINE)
                json_text(json, NULL, item->name.text);
    json_end(json, ']');
}

static void put_lsp_diagnostics(struct json *json, const struct editor_request *request)
{
    struct memory_text text;
    size_t size;
    arena_text_begin(&text);
    lsp_diagnostics(request, text.file);
    const char *list = arena_text_end(request->arena, &text, &size);
    json_literal(
        json, "diagnostics",
        arena_string(request->arena, list, size > 0 && list[size - 1] == '\n' ? size - 1 : size));
}

static void put_edit_state(const struct editor_request *request, struct edited *edited, FILE *to)
{
    struct json json = editor_json(to);
    json_begin(&json, NULL, '{');
    json_text(&json, "file", request->document->path);
    if (edited->source == 0 || edited->file->is_commands) {
        json_text(&json, "refused",
                  edited->source == 0 ? "the file cannot be read"
                                      : "the file is a command list: 'pipec edit' edits sources");
        json_end(&json, '}');
        return;
    }
    json_text(&json, "source", source_get(edited->cx.sources, edited->source)->bytes);
    put_edited_picture(&json, edited);
    put_net_parts(&json, edited);
    put_kernel_names(&json, edited);
    put_lsp_diagnostics(&json, request);
    json_end(&json, '}');
}

void edit_state(const struct editor_request *request, FILE *to)
{
    put_edit_state(request, compile_text(request), to);
}

/* ---- operations ---- */

static void refuse_edit(FILE *to, const char *reason, const struct source *source,
                        const uint32_t *at)
{
    struct json json = editor_json(to);
    uint32_t line, column;
    fputs("0\n", to);
    json_begin(&json, NULL, '{');
    json_text(&json, "refused", reason);
    if (at != NULL) {
        source_locate(source, *at, &line, &column);
        json_number(&json, "line", line);
        json_number(&json, "column", column);
    }
    json_end(&json, '}');
}

/* The first error of the syntax and its place, or NULL. */
static const char *syntax_error_of(struct arena *arena, const char *bytes, size_t size,
                                   const struct source **source, uint32_t *at)
{
    struct compile cx = compile_begin(arena, (struct compile_options){0});
    uint32_t id = source_add(cx.sources, "text", bytes, size);
    parse_one_file(&cx, id);
    *source = source_get(cx.sources, id);
    for (size_t i = 0; i < diag_kept_count(cx.diags); i++) {
        const struct diag *diag = diag_at(cx.diags, i);
        if (diag_level(diag) < DIAG_ERROR) continue;
        *at = diag_span(diag).begin;
        return diag_message(diag);
    }
    return NULL;
}

void edit_apply(const struct editor_request *request, FILE *to)
{
    struct arena *arena = request->arena;
    struct editor_document document = *request->document;
    const struct source *place;
    uint32_t at;
    const char *problem = syntax_error_of(arena, document.text, document.size_bytes, &place, &at);
    if (problem != NULL) {
        refuse_edit(to, arena_printf(arena, "the file has a syntax error: %s", problem), place,
                    &at);
        return;
    }
    struct edited *edited = compile_text(request);
    const struct source *source = source_get(edited->cx.sources, edited->source);
    if (source == NULL || edited->file->is_commands) {
        refuse_edit(to, "the file is no source that can be read", NULL, NULL);
        return;
    }
    struct source_edit edit = {.arena = arena, .source = source};
    struct edit_subject subject = {arena, source, edited->source, &edited->parts,
                                   edited->passes.written};
    struct edit_refusal refusal = edit_operation(&subject, request->text, &edit);
    if (refusal.reason != NULL) {
        refuse_edit(to, refusal.reason, source, refusal.has_place ? &refusal.at : NULL);
        return;
    }
    if (!source_edit_result(&edit, &document.text, &document.size_bytes)) {
        refuse_edit(to, "the file would be too large, or two edits overlap", NULL, NULL);
        return;
    }
    if (document.size_bytes == request->document->size_bytes &&
        memcmp(document.text, request->document->text, document.size_bytes) == 0) {
        refuse_edit(to, "nothing changes", NULL, NULL);
        return;
    }
    problem = syntax_error_of(arena, document.text, document.size_bytes, &place, &at);
    if (problem != NULL) {
        refuse_edit(to, arena_printf(arena, "the file would have a syntax error: %s", problem),
                    place, &at);
        return;
    }
    struct editor_request next = *request;
    next.document = next.documents = &document;
    next.document_count = next.open_count = 1;
    fprintf(to, "%zu\n", document.size_bytes);
    fwrite(document.text, 1, document.size_bytes, to);
    put_edit_state(&next, compile_text(&next), to);
}
