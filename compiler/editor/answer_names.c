/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/editor/editor_answers.h"
#include "compiler/editor/editor_view.h"
#include "compiler/syntax/token_stream.h"
#include "base/words.h"

/* Numbers of the protocol. */
enum {
    SYMBOL_IS_MODULE = 2,
    SYMBOL_IS_METHOD = 6,
    SYMBOL_IS_FUNCTION = 12,
    SYMBOL_IS_CONSTANT = 14,
    SYMBOL_IS_STRUCT = 23,
    SYMBOL_IS_EVENT = 24,
};

static const struct named *named_of(const struct editor_view *view, const struct name_use *use)
{
    return use != NULL && use->named != NAME_NONE ? &view->names.names.items[use->named] : NULL;
}

static bool is_library(const struct editor_view *view, const struct named *named)
{
    return source_is_library(view->cx.sources, named->span.source);
}

/* ---- definition, references ---- */

void answer_definition(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    const struct named *named = named_of(view, editor_use(view));
    if (named != NULL && !is_library(view, named))
        editor_put_location(&json, NULL, view, named->span);
    else
        fputs("null", to);
}

void answer_references(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_project(request);
    struct json json = editor_json(to);
    const struct name_use *at = editor_use(view);
    json_begin(&json, NULL, '[');
    for (size_t i = 0; named_of(view, at) != NULL && i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->named == at->named && (request->with_declaration || !use->declares))
            editor_put_location(&json, NULL, view, use->span);
    }
    json_end(&json, ']');
}

void answer_highlight(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    const struct name_use *at = editor_use(view);
    json_begin(&json, NULL, '[');
    for (size_t i = 0; named_of(view, at) != NULL && i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->named != at->named || use->span.source != view->source) continue;
        json_begin(&json, NULL, '{');
        lsp_put_range(&json, "range", view->cx.sources, use->span);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}

/* ---- rename ---- */

/* The reason why the name at the position cannot be renamed, or NULL. */
static const char *rename_obstacle(const struct editor_view *view)
{
    const struct name_use *use = editor_use(view);
    const struct named *named = named_of(view, use);
    if (use == NULL) return "there is no name here";
    if (named == NULL)
        return arena_printf(view->cx.arena, "the declaration of '%s' is not known", use->text);
    if (is_library(view, named))
        return arena_printf(view->cx.arena, "'%s' is declared in the library", named->text);
    return NULL;
}

static bool is_plain_name(struct editor_view *view, const char *text)
{
    struct token_list list = {0};
    uint32_t source = source_add(view->cx.sources, "name", text, strlen(text));
    for (const char *byte = text; *byte != '\0'; byte++)
        if (!byte_is_word(*byte)) return false;
    token_list_read(&view->cx, source, &list);
    return list.tokens.count == 2 && list.tokens.items[0].kind == TOKEN_IDENT;
}

static bool span_has_word(const char *bytes, struct span span, const char *word)
{
    size_t length = strlen(word);
    for (uint32_t i = span.begin; i + length <= span.end; i++)
        if (memcmp(bytes + i, word, length) == 0 && (i == 0 || !byte_is_word(bytes[i - 1])) &&
            !byte_is_word(bytes[i + length]))
            return true;
    return false;
}

static const char *place_of(const struct editor_view *view, struct span span)
{
    uint32_t line, column;
    const struct source *source = source_get(view->cx.sources, span.source);
    source_locate(source, span.begin, &line, &column);
    return arena_printf(view->cx.arena, "%s:%u", source->name, line);
}

/* A use that may mean this name, and was not read. */
static const char *unread_use(const struct editor_view *view, const struct named *named)
{
    for (size_t i = 0; i < view->names.files.count; i++)
        for (const struct ast_lost *lost = view->names.files.items[i].file->lost; lost != NULL;
             lost = lost->next)
            if (span_has_word(source_get(view->cx.sources, lost->span.source)->bytes, lost->span,
                              named->text))
                return arena_printf(view->cx.arena, "a syntax error hides a use of '%s' at %s",
                                    named->text, place_of(view, lost->span));
    for (size_t i = 0; named->kind == NAME_FIELD && i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->named == NAME_NONE && use->is_member && use->text == named->text)
            return arena_printf(view->cx.arena, "the type before '.%s' at %s is not known",
                                named->text, place_of(view, use->span));
    }
    return NULL;
}

/* Another declaration that has the new name already, where the two would meet. */
static const char *name_clash(const struct editor_view *view, const struct named *named,
                              const char *text)
{
    const struct name_table *names = &view->names;
    for (size_t i = 0; i < names->names.count; i++) {
        const struct named *other = &names->names.items[i];
        bool same_item = named->kind > NAME_TEST && other->item == named->item;
        bool both_items = named->kind <= NAME_TEST && other->kind <= NAME_TEST;
        if (strcmp(other->text, text) != 0 || !(same_item || both_items)) continue;
        if (both_items && name_table_item(names, named->span.source, other->text) == NAME_NONE)
            continue;
        return arena_printf(view->cx.arena, "'%s' is already declared at %s", text,
                            place_of(view, other->span));
    }
    return NULL;
}

/* The text of the source after the rename. */
static struct editor_document rename_in_text(const struct editor_view *view, uint32_t source,
                                             uint32_t named, const char *text)
{
    const struct source *from = source_get(view->cx.sources, source);
    struct memory_text out;
    uint32_t at = 0;
    arena_text_begin(&out);
    for (size_t i = 0; i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->named != named || use->span.source != source) continue;
        fwrite(from->bytes + at, 1, use->span.begin - at, out.file);
        fputs(text, out.file);
        at = use->span.end;
    }
    fwrite(from->bytes + at, 1, from->size_bytes - at, out.file);
    struct editor_document document = {editor_uri(view, source), from->name, NULL, 0};
    document.text = arena_text_end(view->cx.arena, &out, &document.size_bytes);
    return document;
}

/* The request with the texts after the rename. */
static struct editor_request renamed_request(const struct editor_view *view, uint32_t named,
                                             const char *text)
{
    VEC(struct editor_document) documents = {0}; /* its items belong to the arena */
    struct editor_request request = *view->request;
    size_t current = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < request.document_count; i++) {
        if (&request.documents[i] == request.document) current = i;
        vec_push(view->cx.arena, &documents, request.documents[i]);
    }
    for (size_t i = 0; i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->named != named || use->span.source == last) continue;
        last = use->span.source;
        struct editor_document document = rename_in_text(view, last, named, text);
        size_t at = 0;
        while (at < documents.count && strcmp(documents.items[at].uri, document.uri) != 0)
            at++;
        if (at < documents.count)
            documents.items[at] = document;
        else
            vec_push(view->cx.arena, &documents, document);
    }
    request.documents = documents.items;
    request.document_count = documents.count;
    request.document = &documents.items[current];
    // cppcheck-suppress returnDanglingLifetime
    return request;
}

/* Resolves the names of the new texts: every use must mean what it meant. */
static const char *changed_meaning(const struct editor_view *view, uint32_t named, const char *text)
{
    struct editor_request request = renamed_request(view, named, text);
    const struct editor_view *after = editor_view_project(&request);
    size_t count = view->names.uses.count;
    for (size_t i = 0; i < count && i < after->names.uses.count; i++)
        if (view->names.uses.items[i].named != after->names.uses.items[i].named)
            return arena_printf(view->cx.arena, "'%s' would have another meaning at %s", text,
                                place_of(view, view->names.uses.items[i].span));
    return count == after->names.uses.count ? NULL : "the texts have changed meanwhile";
}

static const char *new_name_obstacle(struct editor_view *view, const struct named *named,
                                     const char *text)
{
    if (text == NULL || !is_plain_name(view, text))
        return arena_printf(view->cx.arena, "'%s' is not a name", text != NULL ? text : "");
    if (view->project_cut)
        return arena_printf(view->cx.arena, "the folder has more than %d sources or %d files",
                            PROJECT_FILES_MAX, PROJECT_VISITS_MAX);
    const char *reason = unread_use(view, named);
    if (reason == NULL) reason = name_clash(view, named, text);
    return reason;
}

static void put_rename(struct json *json, const struct editor_view *view, uint32_t named,
                       const char *text)
{
    uint32_t last = 0;
    json_begin(json, NULL, '{');
    json_begin(json, "changes", '{');
    for (size_t i = 0; i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->named != named) continue;
        if (use->span.source != last) {
            if (last != 0) json_end(json, ']');
            json_begin(json, editor_uri(view, use->span.source), '[');
        }
        last = use->span.source;
        json_begin(json, NULL, '{');
        lsp_put_range(json, "range", view->cx.sources, use->span);
        json_text(json, "newText", text);
        json_end(json, '}');
    }
    if (last != 0) json_end(json, ']');
    json_end(json, '}');
    json_end(json, '}');
}

void answer_prepare_rename(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    const char *reason = rename_obstacle(view);
    if (reason != NULL) {
        editor_refuse(to, reason);
        return;
    }
    const struct name_use *use = editor_use(view);
    json_begin(&json, NULL, '{');
    lsp_put_range(&json, "range", view->cx.sources, use->span);
    json_text(&json, "placeholder", use->text);
    json_end(&json, '}');
}

void answer_rename(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_project(request);
    struct json json = editor_json(to);
    const char *text = request->text;
    const char *reason = rename_obstacle(view);
    uint32_t named = reason == NULL ? editor_use(view)->named : NAME_NONE;
    if (reason == NULL) reason = new_name_obstacle(view, &view->names.names.items[named], text);
    if (reason == NULL) reason = changed_meaning(view, named, text);
    if (reason != NULL)
        editor_refuse(to, reason);
    else
        put_rename(&json, view, named, text);
}

/* ---- symbols ---- */

static unsigned symbol_kind(enum name_kind kind)
{
    static const unsigned kinds[] = {
        [NAME_KERNEL] = SYMBOL_IS_METHOD,     [NAME_PIPELINE] = SYMBOL_IS_MODULE,
        [NAME_FUNCTION] = SYMBOL_IS_FUNCTION, [NAME_CONSTANT] = SYMBOL_IS_CONSTANT,
        [NAME_STRUCT] = SYMBOL_IS_STRUCT,     [NAME_TEST] = SYMBOL_IS_EVENT,
    };
    return kinds[kind];
}

void answer_symbols(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < view->names.names.count; i++) {
        const struct named *named = &view->names.names.items[i];
        if (named->kind > NAME_TEST || named->span.source != view->source) continue;
        json_begin(&json, NULL, '{');
        json_text(&json, "name", named->text);
        json_text(&json, "detail", editor_declaration(view, named));
        json_number(&json, "kind", symbol_kind(named->kind));
        lsp_put_range(&json, "range", view->cx.sources, named->item->span);
        lsp_put_range(&json, "selectionRange", view->cx.sources, named->span);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}

void answer_workspace_symbols(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_project(request);
    struct json json = editor_json(to);
    const char *query = request->text;
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < view->names.names.count; i++) {
        const struct named *named = &view->names.names.items[i];
        if (named->kind > NAME_TEST || is_library(view, named)) continue;
        if (query != NULL && strcasestr(named->text, query) == NULL) continue;
        json_begin(&json, NULL, '{');
        json_text(&json, "name", named->text);
        json_number(&json, "kind", symbol_kind(named->kind));
        editor_put_location(&json, "location", view, named->span);
        json_end(&json, '}');
    }
    json_end(&json, ']');
}
