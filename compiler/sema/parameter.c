/* SPDX-License-Identifier: MIT */
/*
 * parameter: the compile-time parameters of an instance.
 *
 * Requires  the buffers that are bound to the instance are declared.
 * Gives     a value for each parameter of the signature: those of `<...>` in order, and omitted types,
 *           which follow from the packets of the buffers that are bound to the ports.
 * Fails     if the number or kind of a written value does not match; if a type does not follow, or two
 *           different types follow. Every failure is reported.
 */
#include <inttypes.h>

#include "compiler/sema/elaborate_internal.h"

struct inference {
    struct elaboration *el;
    struct scope *scope;      /* of the instance */
    struct scope *parameters; /* the known integers, for the sizes of port arrays */
    const struct ast_node *node;
    const struct ast_signature *signature;
    size_t count;
    struct compile_argument *values;
    bool *known;
    struct span *spans;            /* where each type was found */
    const struct ast_name **ports; /* and at which port */
};

static struct arena *arena_of(const struct inference *inf)
{
    return inf->el->cx->arena;
}

static struct diag *report_parameter(struct inference *inf, enum rule rule, struct span span,
                                     const char *text)
{
    struct diag *d = diag_report(inf->el->cx->diags, rule, span, "%s", text);
    inf->el->incomplete = true;
    return d;
}

/* ---- values written between < and > ---- */

/* The name at the root of `pixel` or `pixel[4]`, or NULL. */
static const struct ast_expr *root_name(const struct ast_expr *e)
{
    while (e->kind == AST_EXPR_INDEX)
        e = e->left;
    return e->kind == AST_EXPR_NAME ? e : NULL;
}

static bool is_type(const struct inference *inf, const struct ast_expr *e)
{
    if (e->kind == AST_EXPR_CONSTRUCT && e->type != NULL) return true;
    const struct ast_expr *root = root_name(e);
    const struct symbol *symbol = root ? scope_find(inf->scope, root->name.text) : NULL;
    return symbol != NULL && (symbol->kind == SYMBOL_STRUCT || symbol->kind == SYMBOL_TYPE_PARAM);
}

/* `pixel[4][2]` as a type: its indices are the dimensions, outermost first. */
static const struct type *named_type(struct inference *inf, const struct ast_expr *e)
{
    struct ast_expr *dims = NULL;
    for (; e->kind == AST_EXPR_INDEX; e = e->left) {
        struct ast_expr *dim = ARENA_NEW(arena_of(inf), struct ast_expr);
        *dim = *e->right;
        dim->next = dims;
        dims = dim;
    }
    struct ast_type type = {
        .kind = AST_TYPE_NAMED, .lanes = 1, .name = e->name, .dims = dims, .span = e->span};
    return sema_type(inf->el->sema, inf->scope, &type, NULL);
}

static const struct type *written_type(struct inference *inf, const struct ast_expr *e)
{
    const struct type *type = e->kind == AST_EXPR_CONSTRUCT
                                  ? sema_type(inf->el->sema, inf->scope, e->type, NULL)
                                  : named_type(inf, e);
    if (type == NULL || type->kind != TYPE_VOID) return type;
    report_parameter(inf, RULE_TYPE_MISMATCH, e->span, "packets are not void");
    return NULL;
}

static bool write_value(struct inference *inf, const struct ast_expr *e,
                        const struct ast_type_param *param, size_t at)
{
    struct compile_argument *value = &inf->values[at];
    const struct ast_expr *root = root_name(e);
    bool unknown = root != NULL && scope_find(inf->scope, root->name.text) == NULL;
    if (!unknown && is_type(inf, e) != param->is_type) {
        struct diag *d = report_parameter(
            inf, RULE_TYPE_MISMATCH, e->span,
            arena_printf(arena_of(inf), "'%s' of '%s' is %s, and this is %s", param->name.text,
                         inf->signature->name.text, param->is_type ? "a type" : "an integer",
                         param->is_type ? "a value" : "a type"));
        diag_label(d, param->name.span, "declared here");
        return false;
    }
    inf->known[at] = true;
    if (!param->is_type) return sema_integer(inf->el->sema, inf->scope, e, &value->integer);
    inf->spans[at] = e->span;
    value->type = written_type(inf, e);
    return value->type != NULL;
}

/* True if only integers are written, one for each integer parameter. */
static bool writes_integers_only(const struct inference *inf, size_t given)
{
    size_t integers = 0;
    for (const struct ast_type_param *p = inf->signature->type_params; p != NULL; p = p->next)
        integers += !p->is_type;
    if (given != integers) return false;
    for (const struct ast_expr *e = inf->node->type_arguments; e != NULL; e = e->next)
        if (is_type(inf, e)) return false;
    return true;
}

static bool read_written(struct inference *inf)
{
    size_t given = 0, at = 0;
    for (const struct ast_expr *e = inf->node->type_arguments; e != NULL; e = e->next)
        given++;
    bool skip_types = given < inf->count && writes_integers_only(inf, given);
    const struct ast_expr *e = inf->node->type_arguments;
    bool fits = given <= inf->count, good = true;
    for (const struct ast_type_param *p = inf->signature->type_params; fits && p != NULL;
         p = p->next, at++) {
        if (p->is_type && (skip_types || e == NULL)) continue;
        if (e == NULL) {
            fits = false;
            break;
        }
        good = write_value(inf, e, p, at) && good;
        e = e->next;
    }
    if (fits) return good;
    struct diag *d = report_parameter(
        inf, RULE_WRONG_ARGUMENT_COUNT, inf->node->name.span,
        arena_printf(arena_of(inf), "'%s' takes %zu compile-time parameter%s, not %zu",
                     inf->node->name.text, inf->count, inf->count == 1 ? "" : "s", given));
    diag_label(d, inf->signature->name.span, "declared here");
    if (given == 0 && (inf->node->arguments != NULL || inf->node->inputs != NULL))
        diag_help(d, "compile-time parameters stand in angle brackets: %s<...>",
                  inf->node->name.text);
    return false;
}

/* ---- types that follow from the ports ---- */

/* The parameter that is the type of a port, or a part of it; `count` if none is. */
static size_t parameter_of(const struct inference *inf, const struct ast_type *type)
{
    size_t at = 0;
    if (type->kind != AST_TYPE_NAMED) return inf->count;
    for (const struct ast_type_param *p = inf->signature->type_params; p != NULL; p = p->next, at++)
        if (p->is_type && p->name.text == type->name.text) return at;
    return inf->count;
}

static bool report_contradiction(struct inference *inf, size_t at, const struct ast_port *port,
                                 const struct type *type, struct span span)
{
    struct arena *arena = arena_of(inf);
    const char *name = port->type->name.text;
    struct diag *d = report_parameter(
        inf, RULE_TYPE_MISMATCH, span,
        arena_printf(arena, "'%s' of '%s' is %s here, for the port '%s', and %s for the port '%s'",
                     name, inf->signature->name.text, type_text(arena, type), port->name.text,
                     type_text(arena, inf->values[at].type), inf->ports[at]->text));
    diag_label(d, inf->spans[at], "%s", type_text(arena, inf->values[at].type));
    diag_label(d, port->type->name.span, "one type for both");
    return false;
}

/* Derives the parameter of the port from `type`, the type of the bound packets. */
static bool bind_type(struct inference *inf, const struct ast_port *port, const struct type *type,
                      struct span span)
{
    size_t at = parameter_of(inf, port->type);
    if (at == inf->count) return true;
    for (const struct ast_expr *dim = port->type->dims; dim != NULL; dim = dim->next) {
        if (type->kind != TYPE_ARRAY) return true; /* does not match; reported at the connection */
        type = type->element;
    }
    if (!inf->known[at]) {
        inf->known[at] = true;
        inf->values[at].type = type;
        inf->spans[at] = span;
        inf->ports[at] = &port->name;
        return true;
    }
    if (inf->values[at].type == type || inf->ports[at] == NULL) return true;
    return report_contradiction(inf, at, port, type, span);
}

/* Walks the ports of one direction in parallel with the bound list. */
static bool bind_list(struct inference *inf, bool is_out, const struct ast_expr *list)
{
    for (const struct ast_port *port = inf->signature->ports; port != NULL; port = port->next) {
        uint64_t wanted;
        if (port->is_out != is_out) continue;
        /* The number of elements of a port array, from the known integers. */
        int64_t arity = 1;
        if (port->dims != NULL && !sema_integer(inf->el->sema, inf->parameters, port->dims, &arity))
            return false;
        wanted = arity > 0 ? (uint64_t)arity : 1;
        while (wanted > 0 && list != NULL) {
            const struct ast_expr *root = root_name(list);
            if (root == NULL) return true; /* reported at the connection */
            const struct net_buffer *buffer =
                elaborate_find_buffer(inf->el, inf->scope, root->name);
            if (buffer == NULL || !bind_type(inf, port, buffer->type, list->span)) return false;
            /* The number of buffers that `name[i]` names. */
            const struct ast_expr *e = list;
            size_t subscripts = 0;
            uint64_t given = 1;
            for (; e->kind == AST_EXPR_INDEX; e = e->left)
                subscripts++;
            for (size_t i = subscripts; i < buffer->dims.count; i++)
                given *= buffer->dims.items[i];
            wanted -= given < wanted ? given : wanted;
            list = list->next;
        }
    }
    return true;
}

static bool bind_listed_ports(struct inference *inf, bool is_out, const struct bound_end *end)
{
    uint32_t at = 0;
    for (const struct ast_port *port = inf->signature->ports; port != NULL; port = port->next) {
        if (port->is_out != is_out || at == end->port_count) continue;
        if (!bind_type(inf, port, end->ports[at++].type, end->span)) return false;
    }
    return true;
}

/* A chain passes through one port of each direction. */
static bool bind_end(struct inference *inf, bool is_out, const struct bound_end *end)
{
    if (end->ports != NULL) return bind_listed_ports(inf, is_out, end);
    if (end->type == NULL) return bind_list(inf, is_out, end->list);
    for (const struct ast_port *port = inf->signature->ports; port != NULL; port = port->next)
        if (port->is_out == is_out) return bind_type(inf, port, end->type, end->span);
    return true;
}

static bool check_all_known(struct inference *inf)
{
    size_t at = 0;
    bool good = true;
    for (const struct ast_type_param *p = inf->signature->type_params; p != NULL;
         p = p->next, at++) {
        if (inf->known[at]) continue;
        struct diag *d = report_parameter(
            inf, RULE_TYPE_MISMATCH, inf->node->name.span,
            arena_printf(arena_of(inf), "the type '%s' of '%s' does not follow from what is bound",
                         p->name.text, inf->signature->name.text));
        diag_label(d, p->name.span, "declared here");
        diag_help(d, "name it: %s<...>", inf->node->name.text);
        good = false;
    }
    return good;
}

static bool infer_types(struct inference *inf, const struct bound_ports *bound)
{
    bool all = true;
    for (size_t i = 0; i < inf->count; i++)
        all = all && inf->known[i];
    if (all) return true;
    size_t at = 0;
    inf->parameters = scope_create(inf->el->cx, inf->el->sema->globals);
    for (const struct ast_type_param *p = inf->signature->type_params; p != NULL; p = p->next, at++)
        scope_declare(inf->parameters,
                      (struct symbol){.kind = p->is_type ? SYMBOL_POISON : SYMBOL_INTEGER,
                                      .name = p->name.text,
                                      .span = p->name.span,
                                      .integer = inf->values[at].integer});
    return bind_end(inf, false, &bound->in) && bind_end(inf, true, &bound->out) &&
           check_all_known(inf);
}

struct compile_argument *elaborate_parameters(struct elaboration *el, struct scope *scope,
                                              const struct ast_node *node,
                                              const struct ast_signature *signature,
                                              const struct bound_ports *bound, size_t *count)
{
    struct inference inf = {.el = el, .scope = scope, .node = node, .signature = signature};
    for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next)
        inf.count++;
    *count = inf.count;
    inf.values = ARENA_ARRAY(el->cx->arena, struct compile_argument, inf.count + 1);
    inf.known = ARENA_ARRAY(el->cx->arena, bool, inf.count + 1);
    inf.spans = ARENA_ARRAY(el->cx->arena, struct span, inf.count + 1);
    inf.ports = ARENA_ARRAY(el->cx->arena, const struct ast_name *, inf.count + 1);
    return read_written(&inf) && infer_types(&inf, bound) ? inf.values : NULL;
}
