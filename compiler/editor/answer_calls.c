/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/editor/editor_answers.h"
#include "compiler/editor/editor_view.h"
#include "compiler/syntax/token_stream.h"
#include "base/words.h"

/* Numbers of the protocol. */
enum {
    COMPLETES_FUNCTION = 3,
    COMPLETES_FIELD = 5,
    COMPLETES_VARIABLE = 6,
    COMPLETES_KEYWORD = 14,
    COMPLETES_CONSTANT = 21,
    COMPLETES_STRUCT = 22,
};

/* ---- completion ---- */

static const char *const keywords[] = {
    "import", "const",  "struct",  "fn",    "kernel",   "pipeline", "buffer",  "state", "table",
    "local",  "finish", "launch",  "stop",  "if",       "else",     "for",     "while", "do",
    "switch", "case",   "default", "break", "continue", "return",   "in",      "out",   "type",
    "x",      "of",     "init",    "child", "extern",   "pure",     "builtin", "test",  "expect",
    "bool",   "i8",     "i16",     "i32",   "i64",      "u8",       "u16",     "u32",   "u64",
    "f16",    "bf16",   "f32",     "f64",   "int",      "void"};
static const char *const attributes[] = {
    "pop",    "peek",       "window", "border",  "push",   "amplify", "group",
    "groups", "launches",   "total",  "nesting", "depth",  "rows",    "frame",
    "policy", "importance", "cost",   "from",    "within", "with",    "after"};
static const char *const functions[] = {
#define BUILTIN(enumerator, name, arity, kind) name,
#include "compiler/ir/builtins.def"
#undef BUILTIN
    "left", "done", "barrier"};

static unsigned completion_kind(enum name_kind kind)
{
    switch (kind) {
    case NAME_CONSTANT: return COMPLETES_CONSTANT;
    case NAME_STRUCT: return COMPLETES_STRUCT;
    case NAME_FIELD: return COMPLETES_FIELD;
    default: return kind < NAME_TEST ? COMPLETES_FUNCTION : COMPLETES_VARIABLE;
    }
}

static void put_completion(struct json *json, const char *label, unsigned kind, const char *detail)
{
    json_begin(json, NULL, '{');
    json_text(json, "label", label);
    json_number(json, "kind", kind);
    if (detail != NULL) json_text(json, "detail", detail);
    json_end(json, '}');
}

static void put_words(struct json *json, const char *const *words, size_t count, unsigned kind)
{
    for (size_t i = 0; i < count; i++)
        put_completion(json, words[i], kind, NULL);
}
#define PUT_WORDS(json, words, kind)                                                               \
    put_words((json), (words), sizeof(words) / sizeof *(words), kind)

/* True after the point of `value.fie|`. */
static bool is_after_point(const struct source *source, uint32_t offset)
{
    while (offset > 0 && byte_is_word(source->bytes[offset - 1]))
        offset--;
    return offset > 1 && source->bytes[offset - 1] == '.' && source->bytes[offset - 2] != '.';
}

/* Parts of an item are offered inside of it. */
static bool is_offered(const struct editor_view *view, const struct named *named, uint32_t offset,
                       bool fields)
{
    if (named->kind == NAME_FIELD || fields) return named->kind == NAME_FIELD && fields;
    if (named->kind < NAME_TEST) return true;
    const struct span *span = &named->item->span;
    return named->kind != NAME_TEST && named->kind != NAME_LABEL && span->source == view->source &&
           span->begin <= offset && offset <= span->end;
}

void answer_completion(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    uint32_t offset = editor_offset(view);
    bool fields = is_after_point(source_get(view->cx.sources, view->source), offset);
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < view->names.names.count; i++) {
        const struct named *named = &view->names.names.items[i];
        if (is_offered(view, named, offset, fields))
            put_completion(&json, named->text, completion_kind(named->kind),
                           editor_declaration(view, named));
    }
    if (!fields) {
        PUT_WORDS(&json, keywords, COMPLETES_KEYWORD);
        PUT_WORDS(&json, attributes, COMPLETES_KEYWORD);
        PUT_WORDS(&json, functions, COMPLETES_FUNCTION);
    }
    json_end(&json, ']');
}

/* ---- signature help ---- */

/* The call around a position: `name(a, b|`, `name<a|`, `name(in -> out; a|`. */
struct call {
    struct ast_name name;
    bool is_compile_time; /* inside of `<...>` */
    bool has_sections;    /* the whole list has `->` or `;` */
    bool is_past_arrow, is_past_semicolon;
    uint32_t commas; /* before the position, in its section */
};

static bool token_opens(int kind)
{
    return kind == '(' || kind == '[' || kind == '{';
}

static bool token_closes(int kind)
{
    return kind == ')' || kind == ']' || kind == '}';
}

static bool is_name_token(int kind)
{
    return kind >= TOKEN_IN && kind <= TOKEN_IDENT;
}

/* The token before `<...>`, which ends at `close`; `close` if there is none. */
static size_t before_angles(const struct token_list *list, size_t close)
{
    size_t depth = 1;
    for (size_t i = close; i-- > 0;) {
        int kind = list->tokens.items[i].kind;
        if (kind == ';' || kind == '{' || kind == '}') return close;
        depth += kind == '>';
        if (kind == '<' && --depth == 0) return i > 0 ? i - 1 : close;
    }
    return close;
}

/* Looks at what is after the position, up to the bracket that closes the call. */
static bool has_sections_after(const struct token_list *list, size_t from)
{
    size_t depth = 0;
    for (size_t i = from; i < list->tokens.count; i++) {
        int kind = list->tokens.items[i].kind;
        if (token_closes(kind) && depth-- == 0) return false;
        depth += token_opens(kind);
        if (depth == 0 && kind == TOKEN_ARROW) return true;
        if (kind == TOKEN_END) return false;
    }
    return false;
}

/* The name that stands before the bracket at `open`. */
static bool name_before(const struct editor_view *view, const struct token_list *list, size_t open,
                        struct call *call)
{
    size_t at = open - 1;
    if (open == 0) return false;
    if (list->tokens.items[at].kind == '>') at = before_angles(list, at);
    if (!is_name_token(list->tokens.items[at].kind)) return false;
    struct span span = list->tokens.items[at].span;
    const char *bytes = source_get(view->cx.sources, span.source)->bytes;
    call->name.span = span;
    call->name.text =
        intern_name(view->cx.names, bytes + span.begin, (size_t)(span.end - span.begin));
    return true;
}

/* Counts a token of the call's own level, from the position backwards. */
static void count_token(struct call *call, int kind)
{
    bool same_section = !call->is_past_arrow && !call->is_past_semicolon;
    if (kind == ',' && same_section) call->commas++;
    if (kind == ';') call->is_past_semicolon = call->has_sections = true;
    if (kind == TOKEN_ARROW) {
        call->is_past_arrow = same_section || call->is_past_arrow;
        call->has_sections = true;
    }
}

static bool is_kernel_name(const struct editor_view *view, const char *text)
{
    uint32_t named = name_table_item(&view->names, view->source, text);
    enum name_kind of = named != NAME_NONE ? view->names.names.items[named].kind : NAME_TEST;
    return of == NAME_KERNEL || of == NAME_PIPELINE;
}

/* Goes backwards from the position to the innermost bracket that is open there. */
static bool find_call(const struct editor_view *view, const struct token_list *list,
                      uint32_t offset, struct call *call)
{
    size_t end = 0, depth = 0;
    while (end < list->tokens.count && list->tokens.items[end].span.end <= offset)
        end++;
    call->has_sections = has_sections_after(list, end);
    for (size_t i = end; i-- > 0;) {
        int kind = list->tokens.items[i].kind;
        if (token_closes(kind)) depth++;
        if (depth > 0) {
            depth -= token_opens(kind);
            continue;
        }
        if (kind == '<' && i > 0 && name_before(view, list, i, call) &&
            is_kernel_name(view, call->name.text))
            return call->is_compile_time = true;
        if (kind == '>') i = before_angles(list, i);
        if (token_opens(kind)) return kind == '(' && name_before(view, list, i, call);
        count_token(call, kind);
    }
    return false;
}

/* ---- its parameters ---- */

static bool is_shown(const struct named *part, const struct call *call, bool is_out)
{
    if (call->is_compile_time) return true;
    if (call->has_sections && !call->is_past_semicolon)
        return part->kind == NAME_PORT && is_out == call->is_past_arrow;
    return part->kind == NAME_PARAMETER;
}

static bool is_compile_time_part(const struct named *part)
{
    for (const struct ast_type_param *p = part->item->signature.type_params; p != NULL; p = p->next)
        if (p->name.span.begin == part->span.begin) return true;
    return false;
}

static bool is_out_port(const struct named *part)
{
    for (const struct ast_port *p = part->item->signature.ports; p != NULL; p = p->next)
        if (p->name.span.begin == part->span.begin) return p->is_out;
    return false;
}

static const char *part_text(const struct editor_view *view, const struct named *part)
{
    const char *type = part->type != NULL ? editor_text(view, part->type->span) : "type";
    return arena_printf(view->cx.arena, "%s %s", type, part->text);
}

static void put_parameters(struct json *json, const struct editor_view *view,
                           const struct named *named, const struct call *call)
{
    json_begin(json, "parameters", '[');
    for (uint32_t i = named->first; i < named->first + named->count; i++) {
        const struct named *part = &view->names.names.items[i];
        if (part->kind == NAME_FIELD || is_compile_time_part(part) != call->is_compile_time ||
            !is_shown(part, call, is_out_port(part)))
            continue;
        json_begin(json, NULL, '{');
        json_text(json, "label", part_text(view, part));
        json_end(json, '}');
    }
    json_end(json, ']');
}

void answer_signature(const struct editor_request *request, FILE *to)
{
    struct editor_view *view = editor_view_program(request);
    struct json json = editor_json(to);
    struct token_list list = {0};
    struct call call = {0};
    uint32_t index = NAME_NONE;
    token_list_read(&view->cx, view->source, &list);
    if (find_call(view, &list, editor_offset(view), &call))
        index = name_table_item(&view->names, view->source, call.name.text);
    if (index == NAME_NONE || view->names.names.items[index].kind > NAME_FUNCTION) {
        fputs("null", to);
        return;
    }
    const struct named *named = &view->names.names.items[index];
    json_begin(&json, NULL, '{');
    json_begin(&json, "signatures", '[');
    json_begin(&json, NULL, '{');
    json_text(&json, "label", editor_declaration(view, named));
    if (named->item->documentation != NULL)
        json_text(&json, "documentation", named->item->documentation);
    put_parameters(&json, view, named, &call);
    json_end(&json, '}');
    json_end(&json, ']');
    json_number(&json, "activeSignature", 0);
    json_number(&json, "activeParameter", call.commas);
    json_end(&json, '}');
}
