/* SPDX-License-Identifier: MIT */
#include "compiler/sema/pipeline_argument.h"

#include <inttypes.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/nearest.h"
#include "compiler/ir/arith.h"
#include "lang/scalar_text.h"

/* ---- values of -D ---- */

/* The values of `text`, or NULL: reported. */
static const struct scalar_value *defined_values(struct elaboration *el,
                                                 const struct variable *variable, const char *text)
{
    char why[SCALAR_WHY_BYTES + 32];
    uint64_t count = type_scalar_count(variable->type);
    enum scalar_type scalar = type_base(variable->type)->scalar;
    if (count > CONSTEVAL_MAX_SCALARS) {
        diag_report(el->cx->diags, RULE_TOO_LARGE, variable->span,
                    "-D %s: an argument of more than 4,194,304 values gets them when it runs",
                    variable->name);
        return NULL;
    }
    uint64_t *bits = ARENA_ARRAY(el->cx->arena, uint64_t, (size_t)count);
    struct scalar_value *values = ARENA_ARRAY(el->cx->arena, struct scalar_value, (size_t)count);
    if (text[0] == '@') {
        struct diag *d = diag_report(el->cx->diags, RULE_CONSTANT_RANGE, variable->span,
                                     "-D %s: files are read when the program runs", variable->name);
        diag_help(d, "give it then: piperun FILE.pbc %s=%s", variable->name, text);
        return NULL;
    }
    if (!scalar_list_parse(text, scalar, count, bits, why, sizeof why)) {
        diag_report(el->cx->diags, RULE_CONSTANT_RANGE, variable->span, "-D %s: %s", variable->name,
                    why);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++)
        values[i] = (struct scalar_value){scalar, bits[i]};
    return values;
}

/* The last definition counts. */
static void define_argument(struct elaboration *el, struct graph_argument *argument)
{
    const struct compile_options *options = &el->cx->options;
    for (size_t i = 0; i < options->definition_count; i++) {
        const struct definition *d = &options->definitions[i];
        if (strcmp(d->name, argument->variable->name) != 0) continue;
        argument->values = defined_values(el, argument->variable, d->value);
        argument->has_default = argument->values != NULL;
    }
}

/* ---- what an input knows ---- */

static const struct ast_expr *property_port(const struct ast_expr *e)
{
    while (e->kind == AST_EXPR_INDEX)
        e = e->left;
    return e;
}

/* Whether there is such a port.  In a command list, which has its ports later: whether nothing else has that name. */
static bool is_port_name(const struct ast_signature *signature, struct scope *scope,
                         const char *name)
{
    if (signature == NULL) return scope_find(scope, name) == NULL;
    for (const struct ast_port *p = signature->ports; p != NULL; p = p->next)
        if (p->name.text == name) return true;
    return false;
}

bool is_input_property(const struct ast_signature *signature, struct scope *scope,
                       const struct ast_expr *value)
{
    if (value->kind != AST_EXPR_MEMBER) return false;
    const struct ast_expr *port = property_port(value->left);
    return port->kind == AST_EXPR_NAME && is_port_name(signature, scope, port->name.text);
}

/* The name of the port, or of the element of a port array, in the graph; NULL after an error. */
static const char *whole_port_name(struct elaboration *el, struct scope *scope,
                                   const struct ast_expr *e)
{
    int64_t index;
    if (e->kind == AST_EXPR_NAME) return e->name.text;
    const char *name = whole_port_name(el, scope, e->left);
    if (name == NULL || !sema_integer(el->sema, scope, e->right, &index)) return NULL;
    return arena_printf(el->cx->arena, "%s[%" PRId64 "]", name, index);
}

static const struct graph_buffer *find_outer(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *b = &graph->buffers.items[i];
        if (b->outer != GRAPH_INNER && strcmp(b->name, name) == 0) return b;
    }
    return NULL;
}

/* `x.rate`, `x[1].rate`: false after an error. */
static bool bind_property(struct elaboration *el, struct scope *scope, const struct ast_expr *value,
                          struct graph_argument *argument)
{
    struct diags *diags = el->cx->diags;
    const struct type *type = argument->variable->type;
    const char *name = whole_port_name(el, scope, value->left);
    if (name == NULL) return false;
    const struct graph_buffer *port = find_outer(el->graph, name);
    if (!graph_property_named(value->name.text, &argument->property)) {
        struct diag *d = diag_report(diags, RULE_UNKNOWN_NAME, value->name.span,
                                     "an input has no '%s'", value->name.text);
        diag_help(d, "it may know its 'rate', 'width', 'height' and 'channels'");
        return false;
    }
    if (port == NULL || port->outer != GRAPH_OUTER_IN) {
        struct diag *d = diag_report(
            diags, port == NULL ? RULE_UNKNOWN_BUFFER : RULE_WRONG_KIND_OF_NAME, value->left->span,
            port == NULL ? "there is no in-port '%s'"
                         : "'%s' is an out-port: only an input knows its %s",
            name, value->name.text);
        if (port != NULL) diag_label(d, port->span, "declared here");
        return false;
    }
    if (!type_is_scalar(type) || type_is_bool(type)) {
        diag_report(diags, RULE_TYPE_MISMATCH, value->span,
                    "the %s of an input is a number, and '%s' is %s", value->name.text,
                    argument->variable->name, type_text(el->cx->arena, type));
        return false;
    }
    argument->port = port->name;
    return true;
}

void bind_properties(struct elaboration *el, struct scope *scope)
{
    for (size_t i = 0; i < el->properties.count; i++) {
        const struct property_use *use = &el->properties.items[i];
        struct graph_argument *argument = &el->graph->arguments.items[use->argument];
        if (!bind_property(el, scope, use->value, argument)) el->incomplete = true;
    }
}

/* ---- declarations ---- */

struct variable *argument_variable(struct elaboration *el, struct scope *scope,
                                   const struct ast_param *param)
{
    const struct type *type = sema_type(el->sema, scope, param->type, param->dims);
    if (type == NULL || sema_check_argument_type(el->cx, param, type)) return NULL;
    struct variable *variable = ARENA_NEW(el->cx->arena, struct variable);
    *variable = (struct variable){.kind = VARIABLE_ARGUMENT,
                                  .name = param->name.text,
                                  .span = param->name.span,
                                  .type = type};
    scope_declare(scope, (struct symbol){.kind = SYMBOL_VARIABLE,
                                         .name = param->name.text,
                                         .span = param->name.span,
                                         .variable = variable});
    return variable;
}

/* False: reported. */
static bool place_argument(struct elaboration *el, struct variable *variable,
                           uint64_t *offset_bytes)
{
    variable->offset_bytes = align_up(*offset_bytes, variable->type->alignment_bytes);
    *offset_bytes = variable->offset_bytes + variable->type->width_bytes;
    if (*offset_bytes <= SEMA_MAX_NODE_BYTES) return true;
    diag_report(el->cx->diags, RULE_TOO_LARGE, variable->span,
                "the run-time arguments of '%s' take more than 1 GiB", el->graph->name);
    return false;
}

void declare_argument(struct elaboration *el, struct scope *scope, const struct ast_param *param,
                      uint64_t *offset_bytes)
{
    struct variable *variable = argument_variable(el, scope, param);
    if (variable == NULL || !place_argument(el, variable, offset_bytes)) return;
    const struct ast_item *pipeline = el->frame->pipeline;
    const struct ast_signature *signature = pipeline != NULL ? &pipeline->signature : NULL;
    struct graph_argument argument = {.variable = variable};
    if (param->value != NULL && is_input_property(signature, scope, param->value)) {
        vec_push(el->cx->arena, &el->properties,
                 (struct property_use){el->graph->arguments.count, param->value});
    } else if (param->value != NULL) {
        uint64_t count;
        argument.values = sema_values(el->sema, scope, param->value, variable->type, &count);
        argument.has_default = argument.values != NULL;
    }
    if (el->is_top) define_argument(el, &argument);
    vec_push(el->cx->arena, &el->graph->arguments, argument);
}

/* ---- names that -D may define ---- */

struct definable {
    VEC(const char *) names;
};

/* The names that -D may define: of a signature, or, without one, those that were declared. */
static struct definable definable_names(const struct elaboration *el)
{
    struct definable d = {0};
    struct arena *arena = el->cx->arena;
    const struct ast_item *pipeline = el->frame->pipeline;
    if (pipeline == NULL)
        for (size_t i = 0; i < el->graph->arguments.count; i++)
            vec_push(arena, &d.names, el->graph->arguments.items[i].variable->name);
    else {
        for (const struct ast_type_param *p = pipeline->signature.type_params; p != NULL;
             p = p->next)
            vec_push(arena, &d.names, p->name.text);
        for (const struct ast_param *p = pipeline->signature.params; p != NULL; p = p->next)
            vec_push(arena, &d.names, p->name.text);
    }
    return d;
}

static bool is_definable(const struct definable *d, const char *name)
{
    for (size_t i = 0; i < d->names.count; i++)
        if (strcmp(d->names.items[i], name) == 0) return true;
    return false;
}

/* Adds the nearest name as help, or all names if they are few. */
static void help_definition(struct elaboration *el, const struct definable *d, const char *name,
                            struct diag *diag)
{
    enum { LISTED_MAX = 8 };
    const char *nearest = nearest_name(name, d->names.items, d->names.count);
    const struct symbol *symbol = scope_find(el->sema->globals, intern_string(el->cx->names, name));
    if (symbol != NULL && (symbol->kind == SYMBOL_INTEGER || symbol->kind == SYMBOL_CONSTANT ||
                           symbol->kind == SYMBOL_LAZY_CONSTANT))
        diag_label(diag, symbol->span, "a constant has the value that is written here");
    if (nearest != NULL) {
        diag_help(diag, "did you mean '%s'?", nearest);
        return;
    }
    if (d->names.count == 0)
        diag_help(diag,
                  "it has no parameters and no arguments; one is declared so: "
                  "'pipeline %s(...; TYPE NAME = VALUE)'",
                  el->graph->name);
    else if (d->names.count <= LISTED_MAX)
        diag_help(diag, "it has %s",
                  arena_quoted_list(el->cx->arena, d->names.items, d->names.count));
}

void check_definitions(struct elaboration *el)
{
    const struct compile_options *options = &el->cx->options;
    if (options->definitions_shared) return;
    struct definable known = definable_names(el);
    for (size_t d = 0; d < options->definition_count; d++) {
        const char *name = options->definitions[d].name;
        if (is_definable(&known, name)) continue;
        struct diag *diag = diag_report(el->cx->diags, RULE_UNKNOWN_ARGUMENT, el->graph->span,
                                        "-D %s: pipeline '%s' has no parameter or argument '%s'",
                                        name, el->graph->name, name);
        help_definition(el, &known, name, diag);
    }
}
