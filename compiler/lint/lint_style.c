/* SPDX-License-Identifier: MIT */
/* Names, documentation and depths.  The findings are notes: the program is right. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "compiler/lint/lint_internal.h"

static const enum rule rules[] = {RULE_NAMING_STYLE, RULE_MISSING_DOCUMENTATION, RULE_MAGIC_DEPTH};

/* ---- names ---- */

/* Whether a letter has the case. */
static bool has_case(const char *text, bool upper)
{
    for (; *text; text++)
        if (upper ? isupper((unsigned char)*text) : islower((unsigned char)*text)) return true;
    return false;
}

/* lowPass, LowPass, low_Pass: low_pass.  low_pass: LOW_PASS where `upper`. */
static const char *restyle_name(struct arena *arena, const char *text, bool upper)
{
    char *to = arena_alloc(arena, strlen(text) * 2 + 1), *at = to;
    for (size_t i = 0; text[i]; i++) {
        bool word = i > 0 && isupper((unsigned char)text[i]) && islower((unsigned char)text[i - 1]);
        if (word) *at++ = '_';
        *at++ = (char)(upper ? toupper((unsigned char)text[i]) : tolower((unsigned char)text[i]));
    }
    return to;
}

static void check_style(struct compile *cx, struct ast_name name, bool upper, const char *what)
{
    if (name.text == NULL || !has_case(name.text, !upper)) return;
    struct diag *d =
        diag_report(cx->diags, RULE_NAMING_STYLE, name.span, "names of %s are written in %s: '%s'",
                    what, upper ? "upper case" : "lower case", name.text);
    diag_help(d, "call it '%s'", restyle_name(cx->arena, name.text, upper));
}

/* A name of one letter may be a capital, as in mathematics. */
static void check_lower(struct compile *cx, struct ast_name name, const char *what)
{
    if (name.text != NULL && name.text[1] != '\0') check_style(cx, name, false, what);
}

static void lint_variable_style(void *data, const struct ast_stmt *s)
{
    if (s->kind != AST_STMT_DECLARE || s->qualifier == AST_CONST || s->qualifier == AST_TABLE)
        return;
    for (const struct ast_declarator *d = s->declarators; d != NULL; d = d->next)
        check_lower(data, d->name, "variables");
}

static void check_nets(struct compile *cx, const struct ast_net *first)
{
    for (const struct ast_net *n = first; n != NULL; n = n->next) {
        for (const struct ast_buffer *b = n->buffers; b != NULL; b = b->next)
            check_lower(cx, b->name, "buffers");
        for (const struct ast_node *node = n->chain; node != NULL; node = node->next)
            check_lower(cx, node->label, "nodes");
        check_nets(cx, n->body);
        check_nets(cx, n->otherwise);
    }
}

static void check_signature(struct compile *cx, const struct ast_signature *s, const char *what)
{
    check_lower(cx, s->name, what);
    for (const struct ast_type_param *p = s->type_params; p != NULL; p = p->next)
        check_style(cx, p->name, true, "compile-time parameters");
    for (const struct ast_port *p = s->ports; p != NULL; p = p->next)
        check_lower(cx, p->name, "ports");
    for (const struct ast_param *p = s->params; p != NULL; p = p->next)
        check_lower(cx, p->name, "arguments");
}

static void check_names(struct compile *cx, const struct ast_item *item)
{
    struct lint_visitor visitor = {.data = cx, .stmt = lint_variable_style};
    switch (item->kind) {
    case AST_ITEM_CONST:
        for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next)
            check_style(cx, d->name, true, "constants");
        break;
    case AST_ITEM_STRUCT: check_lower(cx, item->name, "structs"); break;
    case AST_ITEM_FN:
        check_lower(cx, item->name, "functions");
        for (const struct ast_param *p = item->params; p != NULL; p = p->next)
            check_lower(cx, p->name, "parameters");
        break;
    case AST_ITEM_KERNEL: check_signature(cx, &item->signature, "kernels"); break;
    case AST_ITEM_PIPELINE: check_signature(cx, &item->signature, "pipelines"); break;
    default: break;
    }
    lint_visit_stmts(&visitor, item->body);
    check_nets(cx, item->net);
}

/* ---- documentation ---- */

static bool is_library_file(const struct ast_file *file)
{
    for (const struct ast_item *item = file->items; item != NULL; item = item->next)
        if (item->kind == AST_ITEM_PIPELINE) return false;
    return true;
}

/* A comment ends in the line before the item. */
static bool has_comment(const struct compile *cx, const struct ast_item *item)
{
    const struct source *source = source_get(cx->sources, item->span.source);
    uint32_t at = item->span.begin;
    if (item->documentation != NULL) return true;
    while (at > 0 && isblank((unsigned char)source->bytes[at - 1]))
        at--;
    if (at == 0) return false;
    uint32_t end = at - 1, begin = end;
    while (begin > 0 && source->bytes[begin - 1] != '\n')
        begin--;
    while (begin < end && isblank((unsigned char)source->bytes[begin]))
        begin++;
    if (end - begin < 2) return false;
    return memcmp(source->bytes + begin, "//", 2) == 0 ||
           memmem(source->bytes + begin, end - begin, "*/", 2) != NULL;
}

static void check_documentation(struct compile *cx, const struct ast_item *item)
{
    bool kernel = item->kind == AST_ITEM_KERNEL;
    if ((!kernel && item->kind != AST_ITEM_FN) || has_comment(cx, item)) return;
    struct ast_name name = kernel ? item->signature.name : item->name;
    struct diag *d = diag_report(cx->diags, RULE_MISSING_DOCUMENTATION, name.span,
                                 "nothing says what '%s' does", name.text);
    diag_help(d, "put a comment '/// ...' before it: 'pipec explain' shows those of the library");
}

/* ---- depths ---- */

enum { DEPTH_PLAIN_MAX = 16 };

static void check_depth_attribute(struct compile *cx, const struct ast_attribute *a)
{
    if (strcmp(a->name.text, "depth") != 0 || a->value == NULL) return;
    if (a->value->kind != AST_EXPR_INTEGER || a->value->integer.value <= DEPTH_PLAIN_MAX) return;
    struct diag *d =
        diag_report(cx->diags, RULE_MAGIC_DEPTH, a->value->span,
                    "nothing says why this depth is %" PRIu64, a->value->integer.value);
    diag_help(d,
              "give it a name, 'const int ... = %" PRIu64 ";', or leave the depth out: pipec "
              "chooses one that is enough",
              a->value->integer.value);
}

static void check_port_depths(struct compile *cx, const struct ast_item *item)
{
    if (item->kind != AST_ITEM_PIPELINE) return;
    for (const struct ast_port *port = item->signature.ports; port != NULL; port = port->next)
        for (const struct ast_attribute *a = port->attributes; a != NULL; a = a->next)
            check_depth_attribute(cx, a);
}

static void check_depths(struct compile *cx, const struct ast_net *first)
{
    for (const struct ast_net *n = first; n != NULL; n = n->next) {
        for (const struct ast_buffer *b = n->buffers; b != NULL; b = b->next)
            for (const struct ast_attribute *a = b->attributes; a != NULL; a = a->next)
                check_depth_attribute(cx, a);
        check_depths(cx, n->body);
        check_depths(cx, n->otherwise);
    }
}

/* ---- the family ---- */

void lint_style(struct compile *cx, const struct ast_file *file)
{
    if (!lint_wants(cx, rules, sizeof rules / sizeof rules[0])) return;
    bool library = is_library_file(file);
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        check_names(cx, item);
        check_port_depths(cx, item);
        check_depths(cx, item->net);
        if (library) check_documentation(cx, item);
    }
}
