/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/editor/editor_answers.h"
#include "compiler/editor/editor_view.h"

/* Indices into token_types, and bits of token_modifiers. */
enum {
    TOKEN_IS_KEYWORD,
    TOKEN_IS_STRUCT,
    TOKEN_IS_TYPE_PARAMETER,
    TOKEN_IS_PARAMETER,
    TOKEN_IS_VARIABLE,
    TOKEN_IS_PROPERTY,
    TOKEN_IS_FUNCTION,
    TOKEN_IS_KERNEL,
    TOKEN_IS_PIPELINE,
    TOKEN_IS_EVENT,
    DECLARES = 1,
    IS_READ_ONLY = 2,
    IS_OF_LIBRARY = 4,
};
const char *const token_types[] = {"keyword",  "struct",   "typeParameter", "parameter", "variable",
                                   "property", "function", "method",        "namespace", "event",
                                   NULL};
const char *const token_modifiers[] = {"declaration", "readonly", "defaultLibrary", NULL};

static unsigned token_type(enum name_kind kind)
{
    static const unsigned types[] = {
        [NAME_KERNEL] = TOKEN_IS_KERNEL,       [NAME_PIPELINE] = TOKEN_IS_PIPELINE,
        [NAME_FUNCTION] = TOKEN_IS_FUNCTION,   [NAME_CONSTANT] = TOKEN_IS_VARIABLE,
        [NAME_STRUCT] = TOKEN_IS_STRUCT,       [NAME_TEST] = TOKEN_IS_FUNCTION,
        [NAME_FIELD] = TOKEN_IS_PROPERTY,      [NAME_TYPE] = TOKEN_IS_TYPE_PARAMETER,
        [NAME_PARAMETER] = TOKEN_IS_PARAMETER, [NAME_PORT] = TOKEN_IS_PARAMETER,
        [NAME_BUFFER] = TOKEN_IS_VARIABLE,     [NAME_LABEL] = TOKEN_IS_VARIABLE,
        [NAME_VARIABLE] = TOKEN_IS_VARIABLE,   [NAME_EVENT] = TOKEN_IS_EVENT,
    };
    return types[kind];
}

static struct lsp_token token_of_use(const struct editor_view *view, const struct name_use *use)
{
    const struct named *named = &view->names.names.items[use->named];
    struct lsp_token token = {use->span, token_type(named->kind), use->declares ? DECLARES : 0};
    if (named->kind == NAME_CONSTANT) token.modifiers |= IS_READ_ONLY;
    if (source_is_library(view->cx.sources, named->span.source)) token.modifiers |= IS_OF_LIBRARY;
    return token;
}

static int compare_tokens(const void *a, const void *b)
{
    const struct span *x = &((const struct lsp_token *)a)->span;
    const struct span *y = &((const struct lsp_token *)b)->span;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Names that are resolved, and words that are keywords in their places only. Fixed keywords, numbers and comments are
 * left to the grammar of the editor. */
void answer_tokens(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    VEC(struct lsp_token) tokens = {0};
    for (size_t i = 0; i < view->names.uses.count; i++) {
        const struct name_use *use = &view->names.uses.items[i];
        if (use->span.source == view->source && use->named != NAME_NONE)
            vec_push(request->arena, &tokens, token_of_use(view, use));
    }
    for (size_t i = 0; i < view->names.words.count; i++)
        if (view->names.words.items[i].source == view->source)
            vec_push(request->arena, &tokens,
                     (struct lsp_token){view->names.words.items[i], TOKEN_IS_KEYWORD, 0});
    if (tokens.count > 1) qsort(tokens.items, tokens.count, sizeof *tokens.items, compare_tokens);
    json_begin(&json, NULL, '{');
    lsp_put_tokens(&json, "data", view->cx.sources, tokens.items, tokens.count);
    json_end(&json, '}');
}
