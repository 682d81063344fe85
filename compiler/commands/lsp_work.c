/* SPDX-License-Identifier: MIT */
#include "compiler/commands/lsp_work.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "compiler/commands/command_explain.h"
#include "compiler/commands/command_lint.h"
#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/driver/command_line.h"
#include "compiler/format/format.h"
#include "compiler/syntax/parse.h"
#include "base/json_write.h"
#include "base/memory_text.h"
#include "base/utf8.h"
#include "base/words.h"

/* Numbers of the protocol. */
enum {
    SYMBOL_IS_MODULE = 2,
    SYMBOL_IS_METHOD = 6,
    SYMBOL_IS_FUNCTION = 12,
    SYMBOL_IS_CONSTANT = 14,
    SYMBOL_IS_STRUCT = 23,
    SYMBOL_IS_EVENT = 24,
    COMPLETES_FUNCTION = 3,
    COMPLETES_KEYWORD = 14,
    COMPLETES_CONSTANT = 21,
    COMPLETES_STRUCT = 22,
};

struct view {
    const struct lsp_request *request;
    struct compile cx;
    uint32_t source;
    const struct ast_file *files; /* the document, then its imports; NULL: it is no file */
};

static void add_overlays(void *data, struct sources *sources)
{
    const struct lsp_request *request = data;
    for (size_t i = 0; i < request->document_count; i++)
        source_overlay(sources, request->documents[i].path, request->documents[i].text,
                       request->documents[i].size_bytes);
}

/* Reads the document. One that is no file yet is read without its imports' folder. */
static struct view view_begin(const struct lsp_request *request)
{
    struct view view = {.request = request,
                        .cx = compile_begin(arena_create(), (struct compile_options){0})};
    add_overlays((void *)request, view.cx.sources);
    if (source_read(view.cx.sources, request->document->path, &view.source) != SOURCE_OK)
        view.source = source_add(view.cx.sources, request->document->uri, request->document->text,
                                 request->document->size_bytes);
    return view;
}

static struct view view_parsed(const struct lsp_request *request)
{
    struct view view = view_begin(request);
    view.files = parse_program(&view.cx, view.source)->files;
    return view;
}

/* ---- items ---- */

static const struct ast_name *item_name_of(const struct ast_item *item)
{
    if (item->kind == AST_ITEM_KERNEL || item->kind == AST_ITEM_PIPELINE)
        return &item->signature.name;
    if (item->kind == AST_ITEM_CONST) return &item->declarators->name;
    return item->kind == AST_ITEM_IMPORT ? NULL : &item->name;
}

static const struct ast_item *item_find(const struct view *view, const char *name)
{
    for (const struct ast_file *file = view->files; file != NULL; file = file->next)
        for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
            const struct ast_name *own = item_name_of(item);
            if (own != NULL && item->kind != AST_ITEM_TEST && own->text != NULL &&
                strcmp(own->text, name) == 0)
                return item;
        }
    return NULL;
}

/* The declaration up to its body, on one line. */
static const char *item_declaration(const struct view *view, const struct ast_item *item)
{
    const char *bytes = source_get(view->cx.sources, item->span.source)->bytes;
    uint32_t end = item->span.end;
    if (item->body != NULL) end = item->body->span.begin;
    if (item->net != NULL) end = item->net->span.begin;
    char *text = arena_alloc(view->cx.arena, end - item->span.begin + 1), *to = text;
    for (uint32_t i = item->span.begin; i < end; i++) {
        bool blank = isspace((unsigned char)bytes[i]) != 0;
        if (!blank || (to > text && to[-1] != ' ')) *to++ = blank ? ' ' : bytes[i];
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    return text;
}

/* ---- places ---- */

/* The offset of a position: the end of its line if it is past it. */
static uint32_t offset_of(const struct source *source, unsigned line, unsigned character)
{
    if (line >= source->line_count) return source->size_bytes;
    uint32_t at = source->line_begin[line];
    for (unsigned units = 0; units < character && at < source->size_bytes;) {
        uint32_t code = 0;
        const char *text = source->bytes + at;
        if (*text == '\n') break;
        size_t length = utf8_decode(text, source->size_bytes - at, &code);
        if (length == 0) length = utf8_broken_length(text, source->size_bytes - at);
        at += (uint32_t)length;
        units += code >= 0x10000 ? 2 : 1;
    }
    return at;
}

/* The word around the position, or "". */
static const char *word_at(const struct view *view)
{
    const struct source *source = source_get(view->cx.sources, view->source);
    uint32_t begin = offset_of(source, view->request->line, view->request->character), end = begin;
    while (begin > 0 && byte_is_word(source->bytes[begin - 1]))
        begin--;
    while (end < source->size_bytes && byte_is_word(source->bytes[end]))
        end++;
    return arena_string(view->cx.arena, source->bytes + begin, end - begin);
}

static struct json line_of_json(FILE *to)
{
    return (struct json){.to = to, .compact = true};
}

/* ---- the answers ---- */

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

void lsp_diagnostics(const struct lsp_request *request, FILE *to)
{
    struct arena *arena = arena_create();
    const char *words[] = {"lint", request->document->path, NULL};
    struct command_line line = command_lint_line(arena, 2, (char **)words);
    struct lint_paths paths = {0};
    struct lint_run run = {
        .line = &line, .paths = &paths, .prepare = add_overlays, .prepare_data = (void *)request};
    struct json json = line_of_json(to);
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
    if (!is_found) put_no_diagnostics(&json, lsp_uri(arena, request->document->path));
    json_end(&json, ']');
}

static unsigned symbol_kind(const struct ast_item *item)
{
    static const unsigned kinds[] = {
        [AST_ITEM_IMPORT] = SYMBOL_IS_MODULE, [AST_ITEM_CONST] = SYMBOL_IS_CONSTANT,
        [AST_ITEM_STRUCT] = SYMBOL_IS_STRUCT, [AST_ITEM_FN] = SYMBOL_IS_FUNCTION,
        [AST_ITEM_KERNEL] = SYMBOL_IS_METHOD, [AST_ITEM_PIPELINE] = SYMBOL_IS_MODULE,
        [AST_ITEM_TEST] = SYMBOL_IS_EVENT,
    };
    return kinds[item->kind];
}

void lsp_symbols(const struct lsp_request *request, FILE *to)
{
    struct view view = view_parsed(request);
    struct json json = line_of_json(to);
    json_begin(&json, NULL, '[');
    for (const struct ast_item *item = view.files->items; item != NULL; item = item->next) {
        const struct ast_name *name = item_name_of(item);
        if (name == NULL || name->text == NULL || name->text[0] == '\0') continue;
        json_begin(&json, NULL, '{');
        json_text(&json, "name", name->text);
        json_text(&json, "detail", item_declaration(&view, item));
        json_number(&json, "kind", symbol_kind(item));
        lsp_put_range(&json, "range", view.cx.sources, item->span);
        lsp_put_range(&json, "selectionRange", view.cx.sources, name->span);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}

static void put_hover(struct json *json, const char *text)
{
    json_begin(json, NULL, '{');
    json_begin(json, "contents", '{');
    json_text(json, "kind", "markdown");
    json_text(json, "value", text);
    json_end(json, '}');
    json_end(json, '}');
}

/* The text of `pipec explain WORD`, for an item of the library that the program does not import. */
static const char *library_text(struct arena *arena, const char *word)
{
    struct memory_text text;
    if (*word == '\0' || strcmp(word, "std") == 0 || !explain_is_library(word) ||
        !memory_text_begin(&text))
        return NULL;
    explain_library(text.file, &word, 1, false);
    char *bytes = memory_text_end(&text, NULL);
    return bytes != NULL ? arena_printf(arena, "```pipe\n%s```", bytes) : NULL;
}

void lsp_hover(const struct lsp_request *request, FILE *to)
{
    struct view view = view_parsed(request);
    struct json json = line_of_json(to);
    const char *word = word_at(&view);
    const struct ast_item *item = item_find(&view, word);
    const char *text = item == NULL ? library_text(view.cx.arena, word)
                                    : arena_printf(view.cx.arena, "```pipe\n%s\n```\n%s",
                                                   item_declaration(&view, item),
                                                   item->documentation ? item->documentation : "");
    if (text != NULL)
        put_hover(&json, text);
    else
        fputs("null", to);
}

void lsp_definition(const struct lsp_request *request, FILE *to)
{
    struct view view = view_parsed(request);
    struct json json = line_of_json(to);
    const struct ast_item *item = item_find(&view, word_at(&view));
    if (item == NULL || source_is_library(view.cx.sources, item->span.source)) {
        fputs("null", to);
        return;
    }
    const char *name = source_get(view.cx.sources, item->span.source)->name;
    bool own = item->span.source == view.source;
    json_begin(&json, NULL, '{');
    json_text(&json, "uri", own ? request->document->uri : lsp_uri(view.cx.arena, name));
    lsp_put_range(&json, "range", view.cx.sources, item_name_of(item)->span);
    json_end(&json, '}');
}

static void put_completion(struct json *json, const char *label, unsigned kind, const char *detail)
{
    json_begin(json, NULL, '{');
    json_text(json, "label", label);
    json_number(json, "kind", kind);
    if (detail != NULL) json_text(json, "detail", detail);
    json_end(json, '}');
}

void lsp_completion(const struct lsp_request *request, FILE *to)
{
    static const char *const keywords[] = {
        "import", "const",  "struct",  "fn",     "kernel",   "pipeline", "buffer", "state", "table",
        "local",  "finish", "launch",  "stop",   "if",       "else",     "for",    "while", "do",
        "switch", "case",   "default", "break",  "continue", "return",   "in",     "out",   "init",
        "pop",    "peek",   "push",    "window", "border",   "frame",    "rows",   "depth", "group",
        "test",   "expect", "bool",    "i8",     "i16",      "i32",      "i64",    "u8",    "u16",
        "u32",    "u64",    "f16",     "bf16",   "f32",      "f64",      "int",    "void"};
    struct view view = view_parsed(request);
    struct json json = line_of_json(to);
    json_begin(&json, NULL, '[');
    for (const struct ast_file *file = view.files; file != NULL; file = file->next)
        for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
            const struct ast_name *name = item_name_of(item);
            unsigned kind = item->kind == AST_ITEM_CONST    ? COMPLETES_CONSTANT
                            : item->kind == AST_ITEM_STRUCT ? COMPLETES_STRUCT
                                                            : COMPLETES_FUNCTION;
            if (name == NULL || name->text == NULL || item->kind == AST_ITEM_TEST) continue;
            put_completion(&json, name->text, kind, item_declaration(&view, item));
        }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        put_completion(&json, keywords[i], COMPLETES_KEYWORD, NULL);
    json_end(&json, ']');
}

void lsp_formatting(const struct lsp_request *request, FILE *to)
{
    struct view view = view_begin(request);
    struct json json = line_of_json(to);
    const struct source *source = source_get(view.cx.sources, view.source);
    const struct ast_file *file = parse_one_file(&view.cx, view.source);
    if (file->is_commands || diag_failed(view.cx.diags)) {
        fputs("null", to);
        return;
    }
    struct formatted formatted = format_source(&view.cx, view.source);
    uint32_t copy = source_add(view.cx.sources, "formatted", formatted.text, formatted.size_bytes);
    json_begin(&json, NULL, '[');
    if (format_is_same(&view.cx, view.source, copy) && strcmp(formatted.text, source->bytes) != 0) {
        json_begin(&json, NULL, '{');
        lsp_put_range(&json, "range", view.cx.sources,
                      (struct span){view.source, 0, source->size_bytes});
        json_text(&json, "newText", formatted.text);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}
