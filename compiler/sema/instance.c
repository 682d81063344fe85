/* SPDX-License-Identifier: MIT */
/*
 * instance: chains and instances of kernels: finds the kernel, the buffers of its ports, and its
 * arguments.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/pipeline_argument.h"
#include "compiler/sema/import_fix.h"
#include "compiler/context/embedded_library.h"
#include "base/plural.h"

/* One binding of a port list: a buffer, or the rest of an array of buffers after its subscripts. */
struct binding {
    struct net_buffer *buffer;
    uint64_t first; /* element of `buffer` */
    uint64_t count; /* buffers */
    bool is_array;
    struct span span;
    const char *text; /* as written */
};

/* ---- buffers that a statement names ---- */

struct net_buffer *elaborate_find_buffer(struct elaboration *el, struct scope *scope,
                                         struct ast_name name)
{
    struct symbol *symbol = scope_find(scope, name.text);
    if (symbol != NULL && symbol->kind == SYMBOL_BUFFER) {
        symbol->used = true;
        return symbol->buffer;
    }
    el->incomplete = true;
    if (symbol != NULL && symbol->kind == SYMBOL_POISON) return NULL; /* reported */
    struct diag *d =
        diag_report(el->cx->diags, RULE_UNKNOWN_BUFFER, name.span,
                    symbol == NULL ? "there is no buffer '%s'" : "'%s' is not a buffer", name.text);
    if (symbol != NULL) {
        diag_label(d, symbol->span, "declared here");
        return NULL;
    }
    const char *nearest = nearest_buffer(el, scope, name.text);
    scope_declare(scope,
                  (struct symbol){.kind = SYMBOL_POISON, .name = name.text, .span = name.span});
    const char *file = library_file_of_kernel(name.text);
    if (file != NULL) {
        diag_help(d, "the kernel '%s' is in the standard library: import \"%s\";", name.text, file);
        import_fix(el->cx, d, name.span, file);
    } else if (nearest != NULL)
        diag_suggest(d, name.span, nearest);
    else
        diag_help(d, "declare it: 'buffer TYPE %s;'", name.text);
    if (file == NULL) doubt_nearest(el, scope, nearest);
    return NULL;
}

/* Narrows a binding by one subscript; false after an error. */
static bool bind_subscript(struct elaboration *el, struct scope *scope,
                           const struct ast_expr *index, uint64_t length, struct binding *binding)
{
    int64_t value;
    if (!sema_integer(el->sema, scope, index, &value)) return false;
    if (value < 0 || (uint64_t)value >= length) {
        struct diag *d =
            diag_report(el->cx->diags, RULE_UNKNOWN_BUFFER, index->span,
                        "'%s' has no element %" PRId64 ": its elements are 0 to %" PRId64,
                        binding->buffer->name, value, (int64_t)length - 1);
        diag_label(d, binding->buffer->span, "declared here");
        return false;
    }
    binding->count /= length;
    binding->first += (uint64_t)value * binding->count;
    return true;
}

static bool bind_name(struct elaboration *el, struct scope *scope, struct ast_name name,
                      const struct ast_expr *const *subscripts, size_t subscript_count,
                      struct binding *binding)
{
    struct net_buffer *buffer = elaborate_find_buffer(el, scope, name);
    if (buffer == NULL) return false;
    *binding = (struct binding){.buffer = buffer, .count = buffer->total, .text = name.text};
    if (subscript_count > buffer->dims.count) {
        struct diag *d =
            diag_report(el->cx->diags, RULE_TYPE_MISMATCH, name.span,
                        buffer->dims.count == 0 ? "buffer '%s' is not an array"
                                                : "too many subscripts for buffer '%s'",
                        name.text);
        diag_label(d, buffer->span, "declared here");
        el->incomplete = true;
        return false;
    }
    for (size_t i = 0; i < subscript_count; i++)
        if (!bind_subscript(el, scope, subscripts[i], buffer->dims.items[i], binding)) {
            el->incomplete = true;
            return false;
        }
    binding->is_array = subscript_count < buffer->dims.count;
    return true;
}

#define MAX_SUBSCRIPTS 16

/* A port's binding as an expression: `name`, `name[i]`, `name[i][j]`. */
static bool bind_expression(struct elaboration *el, struct scope *scope, const struct ast_expr *e,
                            struct binding *binding)
{
    const struct ast_expr *subscripts[MAX_SUBSCRIPTS];
    size_t count = 0;
    const struct ast_expr *base = e;
    while (base->kind == AST_EXPR_INDEX && count < MAX_SUBSCRIPTS) {
        count++;
        base = base->left;
    }
    if (base->kind != AST_EXPR_NAME) {
        struct diag *d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, e->span,
                                     "a port is bound to a buffer, not to a value");
        diag_help(d, "run-time arguments stand after a ';': kernel(in -> out; argument)");
        el->incomplete = el->all_doubtful = true;
        return false;
    }
    const struct ast_expr *walk = e;
    for (size_t i = count; i-- > 0; walk = walk->left)
        subscripts[i] = walk->right;
    if (!bind_name(el, scope, base->name, subscripts, count, binding)) return false;
    binding->span = e->span;
    return true;
}

static bool bind_port_element(struct elaboration *el, struct scope *scope,
                              const struct ast_node *node, struct binding *binding)
{
    const struct ast_expr *subscripts[MAX_SUBSCRIPTS];
    size_t count = 0;
    for (const struct ast_expr *s = node->subscripts; s != NULL && count < MAX_SUBSCRIPTS;
         s = s->next)
        subscripts[count++] = s;
    if (!bind_name(el, scope, node->name, subscripts, count, binding)) return false;
    binding->span = node->span;
    return true;
}

/* ---- the callee of an instance ---- */

static const struct symbol *find_callee(struct elaboration *el, struct scope *scope,
                                        struct ast_name name)
{
    struct symbol *symbol = scope_find(scope, name.text);
    struct diag *d;
    if (symbol != NULL && (symbol->kind == SYMBOL_KERNEL || symbol->kind == SYMBOL_PIPELINE)) {
        symbol->used = true;
        return symbol;
    }
    if (symbol == NULL) {
        d = diag_report(el->cx->diags, RULE_UNKNOWN_NAME, name.span, "there is no kernel '%s'",
                        name.text);
        const char *nearest = nearest_kernel(el, scope, name.text);
        const char *file = library_file_of_kernel(name.text);
        if (file != NULL) {
            diag_help(d, "'%s' is in the standard library: import \"%s\";", name.text, file);
            import_fix(el->cx, d, name.span, file);
        } else if (nearest != NULL)
            diag_suggest(d, name.span, nearest);
        scope_poison(scope, name);
    } else if (symbol->kind != SYMBOL_POISON) {
        d = diag_report(el->cx->diags, RULE_WRONG_KIND_OF_NAME, name.span, "'%s' is not a kernel",
                        name.text);
        diag_label(d, symbol->span, "declared here");
    }
    return NULL;
}

const struct kernel_use *elaborate_use(struct elaboration *el, const struct ast_node *node,
                                       const struct ast_item *item, const char *title)
{
    const struct sources *sources = el->cx->sources;
    bool enters = source_is_library(sources, item->span.source) &&
                  !source_is_library(sources, node->span.source);
    if (item->signature.type_params == NULL && !enters) return el->frame->use;
    struct kernel_use *use = ARENA_NEW(el->cx->arena, struct kernel_use);
    *use = (struct kernel_use){node->name.span, title, el->frame->use};
    return use;
}

/* The outer uses are added when the outer pipelines are done. */
void elaborate_trace(struct elaboration *el, const struct kernel_use *use, size_t kept)
{
    if (use != el->frame->use) diag_trace(el->cx->diags, kept, use->span, use->title);
}

static bool kernel_callee(struct elaboration *el, const struct ast_item *item,
                          const struct compile_argument *params, size_t count,
                          struct callee *callee)
{
    struct kernel *kernel = sema_kernel(el->sema, item, params, count);
    if (kernel == NULL) return false;
    *callee = (struct callee){.kernel = kernel,
                              .name = kernel->name,
                              .title = kernel->title,
                              .span = kernel->span,
                              .in = kernel->in,
                              .out = kernel->out,
                              .in_count = kernel->in_count,
                              .out_count = kernel->out_count,
                              .arguments = kernel->arguments,
                              .argument_defaults = kernel->argument_defaults,
                              .argument_count = kernel->argument_count};
    return true;
}

static bool pipeline_callee(struct elaboration *el, const struct ast_item *item,
                            const struct compile_argument *params, size_t count,
                            struct callee *callee)
{
    struct scope *scope = scope_create(el->cx, sema_scope_at(el->sema, item->signature.name.span));
    if (!sema_declare_parameters(el->sema, scope, &item->signature, params, count)) return false;
    callee->title = sema_title(el->cx->arena, item->signature.name.text, params, count);
    return inner_callee(el, item, scope, callee);
}

struct parameters { /* the values of compile-time parameters */
    const struct compile_argument *values;
    size_t count;
};

/* Reports an instance of a child kernel: children are only launched, and nothing in a pipeline
 * would fire them. */
static bool may_instantiate(struct elaboration *el, const struct ast_node *node,
                            const struct symbol *symbol)
{
    bool is_kernel = symbol->kind == SYMBOL_KERNEL;
    if (!is_kernel || symbol->item->kernel_kind != AST_KERNEL_CHILD) return true;
    struct diag *d =
        diag_report(el->cx->diags, RULE_CHILD_KERNEL, node->name.span,
                    "'%s' is a child kernel: pipelines do not instantiate it", node->name.text);
    diag_label(d, symbol->span, "declared here");
    diag_help(d, "launch it from a kernel: launch %s(...); or declare it without 'child'",
              node->name.text);
    return false;
}

/* The callee of `node`, which names `symbol`, specialised by its `<...>` and by the buffers that are bound to it.
 * *params gets its compile-time parameters. */
static bool specialise_symbol(struct elaboration *el, struct scope *scope,
                              const struct ast_node *node, const struct symbol *symbol,
                              const struct bound_ports *bound, struct parameters *params,
                              struct callee *callee)
{
    if (!may_instantiate(el, node, symbol)) return false;
    const struct ast_item *item = symbol->item;
    params->values = elaborate_parameters(el, scope, node, &item->signature, bound, &params->count);
    if (params->values == NULL) return false;
    size_t kept = diag_kept_count(el->cx->diags);
    bool done = symbol->kind == SYMBOL_KERNEL
                    ? kernel_callee(el, item, params->values, params->count, callee)
                    : pipeline_callee(el, item, params->values, params->count, callee);
    if (done && (callee->kernel == NULL || callee->kernel->use != NULL)) return true;
    const struct kernel_use *use = elaborate_use(
        el, node, item,
        sema_title(el->cx->arena, item->signature.name.text, params->values, params->count));
    if (done)
        callee->kernel->use = use;
    else
        elaborate_trace(el, use, kept);
    return done;
}

/* ---- builtin kernels that the device does not have ---- */

static void report_no_unit(struct elaboration *el, const struct ast_node *node,
                           const struct ast_item *item, const struct kernel *kernel)
{
    const char *unit = devdesc_unit_name(kernel->unit->kind);
    struct diag *d = diag_report(el->cx->diags, RULE_BUILTIN_KERNEL, node->name.span,
                                 "device '%s' has no unit '%s' for '%s', which has no fallback",
                                 compile_device(el->cx)->name, unit, kernel->name);
    diag_label(d, item->signature.name.span, "declared here");
    diag_help(d,
              "name a kernel or a pipeline that does the same: 'else NAME' before the ';' of its "
              "declaration");
}

static bool same_type_and_arity(const struct kernel_port *a, const struct kernel_port *b)
{
    return a->type == b->type && a->arity == b->arity && a->is_array == b->is_array;
}

/* The rates of a pipeline follow from its inside, and those of an out-port perhaps from its body. */
static bool is_like(const struct callee *fallback, const struct kernel *kernel)
{
    if (fallback->in_count != 1 || fallback->out_count != 1 || fallback->argument_count > 0)
        return false;
    const struct kernel_port *in = &fallback->in[0], *out = &fallback->out[0];
    if (!same_type_and_arity(in, &kernel->in[0]) || !same_type_and_arity(out, &kernel->out[0]))
        return false;
    if (fallback->kernel == NULL) return true;
    bool in_fits =
        in->pop == kernel->in[0].pop && in->peek == kernel->in[0].peek && in->window_width == 0;
    bool out_fits =
        !out->rate_declared || (out->push == kernel->out[0].push && out->push_least == out->push);
    return in_fits && out_fits;
}

static bool check_fallback(struct elaboration *el, const struct ast_node *fallback,
                           const struct kernel *kernel, const struct callee *callee)
{
    if (is_like(callee, kernel)) return true;
    struct diag *d =
        diag_report(el->cx->diags, RULE_BUILTIN_KERNEL, fallback->name.span,
                    "'%s' cannot stand for '%s': their ports differ", callee->title, kernel->name);
    diag_label(d, callee->span, "declared here");
    diag_label(d, kernel->span, "this is to be replaced");
    diag_help(d, "give both one in-port and one out-port with the same types and rates, and no "
                 "run-time arguments");
    return false;
}

/* Replaces the callee, a kernel without a body, by what its declaration names after `else`. */
static bool fallback_callee(struct elaboration *el, const struct ast_node *node,
                            const struct ast_item *item, const struct bound_ports *bound,
                            const struct parameters *params, struct callee *callee)
{
    const struct kernel *kernel = callee->kernel;
    const struct ast_node *fallback = item->fallback;
    if (fallback == NULL) {
        report_no_unit(el, node, item, kernel);
        return false;
    }
    struct scope *scope = scope_create(el->cx, sema_scope_at(el->sema, item->span));
    if (!sema_declare_parameters(el->sema, scope, &item->signature, params->values, params->count))
        return false;
    const struct symbol *symbol = find_callee(el, scope, fallback->name);
    if (symbol == NULL) return false;
    if (symbol->kind == SYMBOL_KERNEL && symbol->item->kernel_kind == AST_KERNEL_BUILTIN) {
        struct diag *d = diag_report(el->cx->diags, RULE_BUILTIN_KERNEL, fallback->name.span,
                                     "'%s' is a builtin kernel, too", fallback->name.text);
        diag_help(d, "name a kernel with a body, or a pipeline");
        return false;
    }
    struct parameters own;
    *callee = (struct callee){0};
    return specialise_symbol(el, scope, fallback, symbol, bound, &own, callee) &&
           check_fallback(el, fallback, kernel, callee);
}

static bool specialise_callee(struct elaboration *el, struct scope *scope,
                              const struct ast_node *node, const struct bound_ports *bound,
                              struct callee *callee)
{
    struct parameters params;
    const struct symbol *symbol = find_callee(el, scope, node->name);
    if (symbol == NULL || !specialise_symbol(el, scope, node, symbol, bound, &params, callee))
        return false;
    if (callee->kernel == NULL || callee->kernel->body != NULL) return true;
    return fallback_callee(el, node, symbol->item, bound, &params, callee);
}

/* ---- the text of an instance, for helps ---- */

/* mix(a, b -> y) */
static const char *ports_text(struct elaboration *el, const char *name,
                              const struct ast_signature *signature)
{
    const char *lists[2] = {"", ""};
    for (const struct ast_port *p = signature->ports; p != NULL; p = p->next) {
        const char **list = &lists[p->is_out];
        *list = arena_printf(el->cx->arena, "%s%s%s", *list, **list ? ", " : "", p->name.text);
    }
    return arena_printf(el->cx->arena, "%s(%s%s->%s%s)", name, lists[0], *lists[0] ? " " : "",
                        *lists[1] ? " " : "", lists[1]);
}

static const char *list_ports(struct elaboration *el, const struct kernel_port *ports,
                              uint32_t count)
{
    const char *list = "";
    for (uint32_t i = 0; i < count; i++)
        list = arena_printf(el->cx->arena, "%s%s%s", list, i > 0 ? ", " : "", ports[i].name);
    return list;
}

static const char *callee_text(struct elaboration *el, const struct callee *k)
{
    return arena_printf(el->cx->arena, "%s(%s%s->%s%s)", k->name,
                        list_ports(el, k->in, k->in_count), k->in_count > 0 ? " " : "",
                        k->out_count > 0 ? " " : "", list_ports(el, k->out, k->out_count));
}

/* ---- arguments and attributes ---- */

/* gain(by), mix(... -> ...; by) */
static void help_arguments(struct elaboration *el, const struct instance *instance, struct diag *d)
{
    const struct callee *callee = &instance->callee;
    const char *list = "";
    for (uint32_t i = 0; i < callee->argument_count; i++)
        list = arena_printf(el->cx->arena, "%s%s%s", list, i > 0 ? ", " : "",
                            callee->arguments[i]->name);
    if (callee->argument_count > 0)
        diag_help(d, "values stand in the order of declaration: '%s(%s%s)'", callee->title,
                  instance->ast->has_arrow ? "... -> ...; " : "", list);
}

static bool is_buffer(struct scope *scope, const char *name)
{
    const struct symbol *symbol = scope_find(scope, name);
    return symbol != NULL && symbol->kind == SYMBOL_BUFFER;
}

static bool is_property_argument(const struct callee *callee, uint32_t number)
{
    const struct ast_signature *signature = &callee->pipeline->signature;
    const struct ast_param *param = signature->params;
    while (number-- > 0)
        param = param->next;
    return param->value != NULL && is_input_property(signature, callee->scope, param->value);
}

static bool instance_arguments(struct elaboration *el, struct scope *scope,
                               const struct ast_expr *values, struct instance *out)
{
    const struct callee *callee = &out->callee;
    out->arguments = ARENA_ARRAY(el->cx->arena, struct kx *, callee->argument_count + 1);
    uint32_t n = 0;
    bool ok = true;
    for (const struct ast_expr *e = values; e != NULL; e = e->next, n++) {
        if (n >= callee->argument_count) continue;
        out->arguments[n] =
            inner_argument(el, sema_argument(el->sema, scope, e, callee->arguments[n]->type));
        ok &= out->arguments[n] != NULL;
    }
    if (n > callee->argument_count) {
        struct diag *d =
            diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, out->ast->span,
                        "'%s' takes %u run-time argument%s, not %u", callee->title,
                        callee->argument_count, callee->argument_count == 1 ? "" : "s", n);
        diag_label(d, callee->span, "declared here");
        if (values->kind == AST_EXPR_NAME && is_buffer(scope, values->name.text))
            diag_help(d, "buffers are bound by a chain, '%s -> %s -> ...', or with an arrow: %s",
                      values->name.text, callee->name, callee_text(el, callee));
        else
            help_arguments(el, out, d);
        return false;
    }
    for (; n < callee->argument_count; n++) {
        out->arguments[n] = callee->argument_defaults[n];
        if (out->arguments[n] != NULL) continue;
        struct diag *d = diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, out->ast->span,
                                     "'%s' needs a value for its run-time argument '%s'",
                                     callee->title, callee->arguments[n]->name);
        diag_label(d, callee->arguments[n]->span,
                   callee->kernel == NULL && is_property_argument(callee, n)
                       ? "its default holds where this pipeline itself is compiled"
                       : "it has no default");
        help_arguments(el, out, d);
        return false;
    }
    return ok;
}

/* `importance N`, `cost N`: the value of an attribute, in `least` .. `most`. */
static bool ranged_attribute(struct elaboration *el, struct scope *scope,
                             const struct ast_attribute *a, const char *what, int64_t least,
                             int64_t most, int64_t *value)
{
    if (!sema_whole(el->sema, scope, a->value, what, value)) return false;
    if (*value >= least && *value <= most) return true;
    diag_report(el->cx->diags, RULE_CONSTANT_RANGE, a->value->span,
                "%s is %" PRId64 " to %" PRId64 ", not %" PRId64, what, least, most, *value);
    return false;
}

static bool instance_attribute(struct elaboration *el, struct scope *scope,
                               const struct ast_attribute *a, struct instance *out)
{
    static const char *const known[] = {"importance", "cost"};
    int64_t value;
    if (strcmp(a->name.text, "cost") == 0 && out->callee.pipeline != NULL) {
        struct diag *d = diag_report(el->cx->diags, RULE_UNKNOWN_ATTRIBUTE, a->name.span,
                                     "'%s' is a pipeline: a cost is a kernel's", out->callee.title);
        diag_help(d, "write it on the instances in '%s'", out->callee.name);
        return false;
    }
    if (strcmp(a->name.text, "cost") == 0) {
        if (!ranged_attribute(el, scope, a, "a cost", 1, GRAPH_COST_MAX, &value)) return false;
        out->cost_declared = true;
        out->cost_cycles = (uint64_t)value;
        return true;
    }
    if (strcmp(a->name.text, "importance") == 0) {
        if (!ranged_attribute(el, scope, a, "an importance", 0, 255, &value)) return false;
        out->importance = (uint32_t)value;
        return true;
    }
    unknown_attribute(el, a, "an instance", known, 2);
    return false;
}

bool instance_attributes(struct elaboration *el, struct scope *scope, struct instance *out)
{
    const struct ast_attribute *first = out->ast->attributes;
    bool ok = true;
    out->importance = el->importance;
    for (const struct ast_attribute *a = first; a != NULL; a = a->next)
        ok = !repeated_attribute(el, first, a) && instance_attribute(el, scope, a, out) && ok;
    return ok;
}

/* ---- names of nodes ---- */

/* The rounds of nested loops, outermost first, as "[1][2]". */
static const char *rounds_text(struct compile *cx, const struct loop_round *round)
{
    if (round == NULL) return "";
    return arena_printf(cx->arena, "%s[%" PRId64 "]", rounds_text(cx, round->outer), round->value);
}

static const char *instance_node_name(struct elaboration *el, const struct ast_node *node)
{
    struct compile *cx = el->cx;
    bool labelled = node->label.text != NULL;
    struct span span = labelled ? node->label.span : node->name.span;
    const char *text =
        arena_printf(cx->arena, "%s%s%s", el->prefix, labelled ? node->label.text : node->name.text,
                     labelled ? rounds_text(cx, el->round) : "");
    struct node_name *entry = node_name_entry(el, intern_string(cx->names, text));
    if (labelled && entry->count > 0) {
        size_t errors = diag_error_count(cx->diags);
        struct diag *d = diag_report(cx->diags, RULE_DUPLICATE_NAME, span,
                                     "two instances are called '%s'", text);
        diag_label(d, entry->span, "the first one");
        el->end_errors += diag_error_count(cx->diags) - errors;
    }
    if (entry->count++ == 0) {
        entry->span = span;
        return entry->name;
    }
    for (uint64_t n = entry->count;; n++) {
        const char *numbered = arena_printf(cx->arena, "%s#%" PRIu64, text, n);
        struct node_name *other = node_name_entry(el, intern_string(cx->names, numbered));
        if (other->count > 0) continue;
        other->count = 1;
        other->span = span;
        node_name_entry(el, intern_string(cx->names, text))->count = n;
        return other->name;
    }
}

static void add_instance_node(struct elaboration *el, struct instance *instance)
{
    struct graph_node node = {.name = instance->name,
                              .span = instance->span,
                              .kernel = instance->callee.kernel,
                              .arguments = instance->arguments,
                              .importance = instance->importance,
                              .stateful = kernel_is_stateful(instance->callee.kernel),
                              .cost_declared = instance->cost_declared,
                              .cost_cycles = instance->cost_cycles};
    instance->node = graph_add_node(el->cx, el->graph, node);
}

static uint32_t *unbound_elements(struct elaboration *el, const struct kernel_port *ports,
                                  uint32_t count)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < count; i++)
        elements += ports[i].arity;
    uint32_t *bound = ARENA_ARRAY(el->cx->arena, uint32_t, elements + 1);
    for (uint64_t i = 0; i < elements; i++)
        bound[i] = GRAPH_NONE;
    return bound;
}

static bool room_for_nodes(struct elaboration *el, const struct ast_node *node)
{
    if (el->graph->nodes.count < ELABORATE_MAX_PARTS) return true;
    if (!el->overfull)
        diag_report(el->cx->diags, RULE_TOO_LARGE, node->span,
                    "the pipeline has more than %d nodes", ELABORATE_MAX_PARTS);
    el->overfull = true;
    return false;
}

/* Adds an instance whose ports are not bound yet; a kernel's node is then in the graph.  False
 * after an error. */
bool add_instance(struct elaboration *el, struct scope *scope, const struct ast_node *node,
                  const struct bound_ports *bound, const struct ast_expr *arguments,
                  struct instance *instance)
{
    *instance = (struct instance){.ast = node, .node = GRAPH_NONE};
    bool ok =
        room_for_nodes(el, node) && specialise_callee(el, scope, node, bound, &instance->callee);
    ok = ok && instance_arguments(el, scope, arguments, instance);
    ok = instance_attributes(el, scope, instance) && ok;
    if (!ok) {
        el->incomplete = true;
        return false;
    }
    const struct callee *callee = &instance->callee;
    instance->name = instance_node_name(el, node);
    instance->span = node->label.text != NULL ? node->label.span : node->name.span;
    if (callee->kernel != NULL) {
        add_instance_node(el, instance);
        return true;
    }
    instance->in = unbound_elements(el, callee->in, callee->in_count);
    instance->out = unbound_elements(el, callee->out, callee->out_count);
    return true;
}

/* Completes an instance after every port is bound. */
static void complete_instance(struct elaboration *el, const struct instance *instance)
{
    if (instance->callee.pipeline != NULL) inner_elaborate(el, instance);
}

/* ---- ports ---- */

static const char *end_name(struct elaboration *el, const struct kernel_port *port,
                            uint32_t element)
{
    return port->is_array ? arena_printf(el->cx->arena, "%s[%u]", port->name, element) : port->name;
}

/* One buffer that is bound to one element of a port. */
struct end {
    const struct net_buffer *net; /* NULL: the unnamed one of a chain */
    uint64_t element;
    uint32_t buffer;
    struct span span;
};

static struct end end_of(const struct binding *binding, uint64_t element)
{
    return (struct end){.net = binding->buffer,
                        .element = binding->first + element,
                        .buffer = net_element(binding->buffer, binding->first + element),
                        .span = binding->span};
}

static bool types_convert(const struct type *from, const struct type *to)
{
    bool scalars = from->kind == TYPE_SCALAR && to->kind == TYPE_SCALAR;
    bool vectors = from->kind == TYPE_VECTOR && to->kind == TYPE_VECTOR;
    return scalars || (vectors && from->length == to->length);
}

/* The name of a kernel that converts packets of `from` to those of `to`, or NULL. *declared: its
 * declaration, if the library has none. */
static const char *find_converter(struct arena *arena, const struct type *from,
                                  const struct type *to, const char **declared)
{
    const char *from_text = type_text(arena, from), *to_text = type_text(arena, to);
    *declared = NULL;
    if (from->kind == TYPE_ARRAY && from->element == to)
        return arena_printf(arena, "unbatch<%" PRIu64 ">", from->length);
    if (to->kind == TYPE_ARRAY && to->element == from)
        return arena_printf(arena, "batch<%" PRIu64 ">", to->length);
    if (!types_convert(from, to)) return NULL;
    const char *name = arena_printf(arena, "to_%s", to_text);
    *declared = arena_printf(arena, "kernel %s(in %s x, out %s y) { y <- %s(x); }", name, from_text,
                             to_text, to_text);
    return name;
}

/* Suggests a kernel between the buffer and the port that converts the packets. */
static void help_conversion(struct elaboration *el, const struct instance *instance,
                            const struct kernel_port *port, const struct graph_buffer *buffer,
                            bool is_out, struct diag *d)
{
    struct arena *arena = el->cx->arena;
    const struct callee *callee = &instance->callee;
    const char *declared;
    const char *by = find_converter(arena, is_out ? port->type : buffer->type,
                                    is_out ? buffer->type : port->type, &declared);
    if (by == NULL) return;
    bool chained = callee->in_count == 1 && callee->out_count == 1;
    const char *port_side = chained ? callee->name : "NAME", *arrow = strstr(buffer->name, "->");
    const char *buffer_side =
        arrow == NULL ? buffer->name /* otherwise it is between two nodes of a chain */
                      : arena_string(arena, buffer->name, (size_t)(arrow - buffer->name));
    const char *chain = arena_printf(arena, "%s -> %s -> %s", is_out ? port_side : buffer_side, by,
                                     is_out ? buffer_side : port_side);
    const char *rest =
        chained ? "" : arena_printf(arena, ", with the buffer NAME bound to '%s'", port->name);
    if (declared != NULL)
        diag_help(d, "a kernel converts: '%s', and '%s'%s", declared, chain, rest);
    else
        diag_help(d, "blocks and single packets, with std/streams.pipe: '%s'%s", chain, rest);
}

static bool check_packet_type(struct elaboration *el, const struct instance *instance,
                              const struct kernel_port *port, const struct graph_buffer *buffer,
                              bool is_out, struct span span)
{
    if (port->type == buffer->type) return true;
    struct arena *arena = el->cx->arena;
    struct diag *d =
        diag_report(el->cx->diags, RULE_TYPE_MISMATCH, span,
                    "port '%s' of '%s' %s packets of type %s, buffer '%s' holds %s", port->name,
                    instance->name, is_out ? "writes" : "takes", type_text(arena, port->type),
                    buffer->name, type_text(arena, buffer->type));
    diag_label(d, buffer->span, "%s", type_text(arena, buffer->type));
    diag_label(d, port->span, "%s", type_text(arena, port->type));
    help_conversion(el, instance, port, buffer, is_out, d);
    return false;
}

static bool may_read(struct elaboration *el, const struct end *end)
{
    if (end->net == NULL || end->net->outer != GRAPH_OUTER_OUT) return true;
    const char *name = element_name(el, end->net, end->element);
    struct diag *d =
        diag_report(el->cx->diags, RULE_WRONG_KIND_OF_NAME, end->span,
                    "'%s' is an out-port of the pipeline: it cannot be read inside", name);
    diag_help(d,
              "write to a buffer, read that, and copy it to '%s' ('copy' of \"std/streams.pipe\")",
              name);
    return false;
}

static void report_second_writer(struct elaboration *el, const struct graph_buffer *b,
                                 struct span span)
{
    const struct graph_node *writer = &el->graph->nodes.items[b->writer_node];
    struct diag *d = diag_report(el->cx->diags, RULE_SEVERAL_PRODUCERS, span,
                                 "buffer '%s' has two producers", b->name);
    diag_label(d, writer->outputs.items[b->writer_output].span, "'%s' writes it already",
               writer->name);
    diag_help(d,
              "give each producer a buffer of its own and join them in a kernel with two in-ports");
}

static bool may_write(struct elaboration *el, const struct end *end)
{
    if (end->net != NULL && end->net->outer == GRAPH_OUTER_IN) {
        struct diag *d =
            diag_report(el->cx->diags, RULE_WRONG_KIND_OF_NAME, end->span,
                        "'%s' is an in-port of the pipeline: it cannot be written inside",
                        element_name(el, end->net, end->element));
        diag_label(d, end->net->span, "declared here");
        return false;
    }
    return true;
}

/* Binds one element of a port of a pipeline that is used as a kernel. */
static bool bind_inner(struct elaboration *el, const struct instance *instance, bool is_out,
                       uint64_t flat, const struct end *end)
{
    for (uint64_t i = 0; is_out && i < flat; i++) {
        if (instance->out[i] != end->buffer) continue;
        struct diag *d = diag_report(el->cx->diags, RULE_SEVERAL_PRODUCERS, end->span,
                                     "two out-ports of '%s' are bound to buffer '%s'",
                                     instance->name, el->graph->buffers.items[end->buffer].name);
        diag_label(d, instance->callee.span, "declared here");
        return false;
    }
    (is_out ? instance->out : instance->in)[flat] = end->buffer;
    return true;
}

static void bind_kernel(struct elaboration *el, const struct instance *instance, bool is_out,
                        uint32_t port, uint32_t element, const struct end *end)
{
    const struct callee *callee = &instance->callee;
    const char *name = end_name(el, is_out ? &callee->out[port] : &callee->in[port], element);
    if (is_out)
        graph_connect_output(el->cx, el->graph, instance->node,
                             (struct graph_output){.port = name,
                                                   .kernel_port = port,
                                                   .element = element,
                                                   .span = end->span,
                                                   .buffer = end->buffer});
    else
        graph_connect_input(el->cx, el->graph, instance->node,
                            (struct graph_input){.port = name,
                                                 .kernel_port = port,
                                                 .element = element,
                                                 .span = end->span,
                                                 .buffer = end->buffer});
}

/* The destination of a binding: element `element` of port `port`, the `flat`th of all elements. */
struct place {
    bool is_out;
    uint32_t port, element;
    uint64_t flat;
};

static bool connect_port(struct elaboration *el, const struct instance *instance,
                         const struct place *at, const struct end *end)
{
    const struct callee *callee = &instance->callee;
    const struct kernel_port *port = at->is_out ? &callee->out[at->port] : &callee->in[at->port];
    const struct graph_buffer *b = &el->graph->buffers.items[end->buffer];
    size_t errors = diag_error_count(el->cx->diags);
    bool ok = at->is_out ? may_write(el, end) : may_read(el, end);
    bool fits = ok && check_packet_type(el, instance, port, b, at->is_out, end->span);
    bool second = fits && at->is_out && b->writer_node != GRAPH_NONE;
    if (second) report_second_writer(el, b, end->span);
    if (ok && callee->pipeline != NULL)
        ok = fits && !second && bind_inner(el, instance, at->is_out, at->flat, end);
    if (!ok) {
        el->incomplete = true;
        return false;
    }
    if (end->net != NULL && end->net->touched != NULL) end->net->touched[end->element] = true;
    if (callee->kernel == NULL) return true;
    el->end_errors += diag_error_count(el->cx->diags) - errors;
    if (!second) bind_kernel(el, instance, at->is_out, at->port, at->element, end);
    return true;
}

bool connect_element(struct elaboration *el, const struct instance *instance, bool is_out,
                     uint32_t port, uint32_t element, const struct net_buffer *net,
                     struct span span)
{
    struct place at = {.is_out = is_out, .port = port, .element = element};
    struct end end = {.net = net, .buffer = net_element(net, 0), .span = span};
    return connect_port(el, instance, &at, &end);
}

/* `'b'`, `'b' and 'c'`, `'taps[2]' and 6 others`: the ports from number `given` of `wanted` on. */
static const char *unbound_text(struct elaboration *el, const struct kernel_port *ports,
                                uint64_t given, uint64_t wanted)
{
    struct arena *arena = el->cx->arena;
    const char *text = "";
    uint64_t shown = wanted - given == 2 ? 2 : 1, at = given;
    for (uint64_t i = 0; i < shown; i++, at++) {
        uint64_t element = at;
        const struct kernel_port *port = ports;
        for (; element >= port->arity; port++)
            element -= port->arity;
        text = arena_printf(arena, port->is_array ? "%s%s'%s[%" PRIu64 "]'" : "%s%s'%s'", text,
                            i > 0 ? " and " : "", port->name, element);
    }
    if (wanted - given <= 2) return text;
    return arena_printf(arena, "%s and %" PRIu64 " others", text, wanted - given - 1);
}

/* Walks the written list in parallel with the ports: a port array takes one array of its size, or
 * as many single buffers. */
struct port_walk {
    const struct kernel_port *ports;
    uint32_t port_count;
    struct place at; /* the destination of the next binding */
};

static void report_port_count(struct elaboration *el, const struct instance *instance,
                              uint64_t wanted, bool is_out, uint64_t given)
{
    struct diag *d = diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, instance->ast->name.span,
                                 "'%s' has %" PRIu64 " %s-port%s, %" PRIu64 " %s bound",
                                 instance->name, wanted, is_out ? "out" : "in",
                                 wanted == 1 ? "" : "s", given, given == 1 ? "is" : "are");
    const struct callee *callee = &instance->callee;
    diag_label(d, callee->span, "'%s' is declared here", callee->name);
    if (given < wanted)
        diag_note(d, "nothing is bound to %s",
                  unbound_text(el, is_out ? callee->out : callee->in, given, wanted));
    diag_help(d, "bind a buffer to each port: %s", callee_text(el, callee));
    el->incomplete = true;
}

/* `buffer f32 t[16]` may have been meant as a depth. */
static void help_array(struct elaboration *el, struct diag *d, struct net_buffer *buffer)
{
    if (buffer->outer != GRAPH_INNER || buffer->dims.count != 1) {
        diag_help(d, "choose one of them: '%s[0]'", buffer->name);
        return;
    }
    diag_help(d,
              "'%s[%" PRIu64 "]' is %" PRIu64
              " buffers: a length in packets is 'buffer %s %s depth %" PRIu64
              "', one of the buffers is '%s[0]'",
              buffer->name, buffer->total, buffer->total, type_text(el->cx->arena, buffer->type),
              buffer->name, buffer->total, buffer->name);
    buffer->depth_meant = true;
    const struct span dims = buffer->dims_span;
    if (dims.source != 0) diag_fix(d, dims, " depth %" PRIu64, buffer->total);
}

/* Says nothing where the declaration of the array has been reported: one edit of it fixes all of its uses. */
static bool is_array_explained(struct elaboration *el, const struct binding *binding)
{
    if (!binding->buffer->depth_meant) return false;
    el->incomplete = true;
    return true;
}

static bool check_array_fits(struct elaboration *el, const struct port_walk *walk,
                             const struct binding *binding)
{
    if (walk->at.port >= walk->port_count) return true; /* counted and reported by the caller */
    const struct kernel_port *port = &walk->ports[walk->at.port];
    bool fits = port->is_array && walk->at.element == 0 && binding->count == port->arity;
    if (!binding->is_array || fits) return true;
    if (!port->is_array && is_array_explained(el, binding)) return false;
    struct diag *d;
    if (port->is_array)
        d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, binding->span,
                        "port '%s' takes %" PRIu64 " buffer%s, '%s' is %" PRIu64, port->name,
                        port->arity, plural(port->arity), binding->text, binding->count);
    else
        d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, binding->span,
                        "port '%s' takes one buffer, '%s' is an array of %" PRIu64, port->name,
                        binding->text, binding->count);
    if (!port->is_array) help_array(el, d, binding->buffer);
    diag_label(d, port->span, "declared here");
    el->incomplete = true;
    return false;
}

static bool connect_binding(struct elaboration *el, const struct instance *instance,
                            struct port_walk *walk, const struct binding *binding)
{
    struct place *at = &walk->at;
    for (uint64_t i = 0; i < binding->count; i++) {
        if (at->port >= walk->port_count) return true;
        struct end end = end_of(binding, i);
        if (!connect_port(el, instance, at, &end)) return false;
        at->flat++;
        if (++at->element < walk->ports[at->port].arity) continue;
        at->element = 0;
        at->port++;
    }
    return true;
}

static bool connect_ports(struct elaboration *el, struct scope *scope,
                          const struct instance *instance, const struct ast_expr *list, bool is_out)
{
    const struct callee *callee = &instance->callee;
    struct port_walk walk = {.ports = is_out ? callee->out : callee->in,
                             .port_count = is_out ? callee->out_count : callee->in_count,
                             .at = {.is_out = is_out}};
    uint64_t given = 0, wanted = 0;
    for (const struct ast_expr *e = list; e != NULL; e = e->next) {
        struct binding binding;
        if (!bind_expression(el, scope, e, &binding)) return false;
        if (!check_array_fits(el, &walk, &binding)) return false;
        given += binding.count;
        if (!connect_binding(el, instance, &walk, &binding)) return false;
    }
    for (uint32_t i = 0; i < walk.port_count; i++)
        wanted += walk.ports[i].arity;
    if (given != wanted) report_port_count(el, instance, wanted, is_out, given);
    return given == wanted;
}

/* ---- statements ---- */

/* `label: kernel<...>(in, in -> out; arguments) attributes;` */
static void elaborate_instance(struct elaboration *el, struct scope *scope,
                               const struct ast_node *ast)
{
    if (!ast->has_arrow) {
        struct symbol *symbol = scope_find(scope, ast->name.text);
        el->incomplete = true;
        if (symbol == NULL) {
            find_callee(el, scope, ast->name);
            return;
        }
        bool buffer = symbol->kind == SYMBOL_BUFFER;
        struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->span,
                                     buffer ? "a buffer by itself is not a statement"
                                            : "'%s' is not bound to any buffer",
                                     ast->name.text);
        bool has_ports = symbol != NULL && symbol->item != NULL &&
                         (symbol->kind == SYMBOL_KERNEL || symbol->kind == SYMBOL_PIPELINE);
        const struct ast_signature *signature = has_ports ? &symbol->item->signature : NULL;
        if (signature != NULL)
            diag_help(d, "bind its ports: %s", ports_text(el, ast->name.text, signature));
        return;
    }
    struct bound_ports bound = {.in = {.list = ast->inputs}, .out = {.list = ast->outputs}};
    struct instance instance;
    if (!add_instance(el, scope, ast, &bound, ast->arguments, &instance)) return;
    bool in = connect_ports(el, scope, &instance, ast->inputs, false);
    bool out = connect_ports(el, scope, &instance, ast->outputs, true);
    if (in && out) complete_instance(el, &instance);
}

/* At the ends of a chain, where buffers stand, an undeclared name counts as a buffer. */
static bool is_buffer_element(struct scope *scope, const struct ast_node *node, bool at_end)
{
    struct symbol *symbol = scope_find(scope, node->name.text);
    if (node->subscripts != NULL) return true;
    if (symbol == NULL) return at_end && !node->has_call && !node->has_type_arguments;
    return symbol->kind == SYMBOL_BUFFER || symbol->kind == SYMBOL_POISON;
}

/* Notes that `in i32 x[4]` is an array of ports, if four packets of one port may have been meant. */
static void note_port_array(struct elaboration *el, struct diag *d, const struct kernel_port *port,
                            const char *direction, const char *rate)
{
    if (port->arity < 2) return;
    const char *type = type_text(el->cx->arena, port->type);
    diag_note(d,
              "'%s' is an array of %" PRIu64 " ports; one port with as many packets a firing is "
              "'%s %s %s %s %" PRIu64 "'",
              port->name, port->arity, direction, type, port->name, rate, port->arity);
}

static bool check_chain_instance(struct elaboration *el, const struct instance *instance,
                                 bool first, bool last)
{
    const struct callee *k = &instance->callee;
    bool one_in = k->in_count == 1 && k->in[0].arity == 1;
    bool one_out = k->out_count == 1 && k->out[0].arity == 1;
    if ((one_in || first) && (one_out || last)) return true;
    struct diag *d =
        diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, instance->ast->name.span,
                    "a %s inside a chain has one in-port and one out-port; '%s' does not",
                    k->kernel != NULL ? "kernel" : "pipeline", k->title);
    diag_label(d, k->span, "declared here");
    diag_help(d, "write it as an instance: %s", callee_text(el, k));
    if (k->in_count == 1) note_port_array(el, d, &k->in[0], "in", "pop");
    if (k->out_count == 1) note_port_array(el, d, &k->out[0], "out", "push");
    el->incomplete = true;
    return false;
}

struct chain {         /* the part of a chain to the left of the current element */
    bool has_instance; /* whose out-port is to be bound */
    struct instance instance;
    bool has_buffer;
    struct binding buffer;
};

static const struct place first_in = {.is_out = false}, first_out = {.is_out = true};

static bool single_buffer(struct elaboration *el, const struct binding *binding)
{
    if (!binding->is_array) return true;
    if (is_array_explained(el, binding)) return false;
    struct diag *d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, binding->span,
                                 "a chain goes through one buffer; '%s' is an array of %" PRIu64,
                                 binding->text, binding->count);
    diag_label(d, binding->buffer->span, "declared here");
    help_array(el, d, binding->buffer);
    el->incomplete = true;
    return false;
}

/* Connects the out-port of the instance on the left to `end`. */
static bool chain_output(struct elaboration *el, const struct chain *chain, const struct end *end)
{
    if (!connect_port(el, &chain->instance, &first_out, end)) return false;
    complete_instance(el, &chain->instance);
    return true;
}

/* Reports a part of a buffer in a chain that only a kernel can have. */
static struct diag *report_kernels_own(struct elaboration *el, const struct ast_node *ast,
                                       const struct binding *binding, struct span span,
                                       const char *what)
{
    struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, span,
                                 "'%s' is a buffer: %s a kernel", ast->name.text, what);
    diag_label(d, binding->buffer->span, "declared here");
    el->incomplete = true;
    return d;
}

static void report_label(struct elaboration *el, struct scope *scope, const struct ast_node *ast,
                         const struct ast_node *before, const struct binding *binding)
{
    const char *label = ast->label.text, *buffer = ast->name.text;
    const struct ast_node *after = ast->next;
    struct diag *d = report_kernels_own(el, ast, binding, ast->label.span, "a label belongs to");
    if (after != NULL && after->label.text == NULL && !is_buffer_element(scope, after, false))
        diag_help(d, "write '%s -> %s: %s'", buffer, label, after->name.text);
    else if (before != NULL && before->label.text == NULL &&
             !is_buffer_element(scope, before, false))
        diag_help(d, "write '%s: %s -> %s'", label, before->name.text, buffer);
}

/* Reports parameters of a buffer, which has none, and the kernel that its name hides. */
static void report_parameters(struct elaboration *el, const struct ast_node *ast,
                              const struct binding *binding, struct span span, const char *what)
{
    struct diag *d = report_kernels_own(el, ast, binding, span, what);
    const struct symbol *hidden = scope_find(el->sema->globals, ast->name.text);
    if (hidden == NULL || (hidden->kind != SYMBOL_KERNEL && hidden->kind != SYMBOL_PIPELINE))
        return;
    diag_help(d, "give the buffer another name: it hides the %s '%s'",
              hidden->kind == SYMBOL_KERNEL ? "kernel" : "pipeline", ast->name.text);
}

static void check_bare_buffer(struct elaboration *el, struct scope *scope,
                              const struct ast_node *ast, const struct ast_node *before,
                              const struct binding *binding)
{
    if (ast->label.text != NULL) report_label(el, scope, ast, before, binding);
    if (ast->has_type_arguments)
        report_parameters(el, ast, binding,
                          ast->type_arguments != NULL ? ast->type_arguments->span : ast->span,
                          "compile-time parameters belong to");
    if (ast->has_call)
        report_parameters(el, ast, binding, ast->inputs != NULL ? ast->inputs->span : ast->span,
                          "arguments belong to");
    for (const struct ast_attribute *a = ast->attributes; a != NULL; a = a->next) {
        struct diag *d =
            report_kernels_own(el, ast, binding, a->span,
                               arena_printf(el->cx->arena, "'%s' belongs to", a->name.text));
        diag_help(d, "write it after the kernel, before the '->'");
    }
}

static bool chain_buffer(struct elaboration *el, struct scope *scope, const struct ast_node *ast,
                         const struct ast_node *before, struct chain *chain)
{
    struct binding binding;
    if (!bind_port_element(el, scope, ast, &binding)) return false;
    check_bare_buffer(el, scope, ast, before, &binding);
    if (!single_buffer(el, &binding)) return false;
    if (chain->has_buffer) {
        struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->span,
                                     "two buffers follow each other in a chain");
        diag_help(d, "put a kernel between '%s' and '%s' ('copy' of \"std/streams.pipe\" is one)",
                  chain->buffer.text, binding.text);
        el->incomplete = true;
        return false;
    }
    struct end end = end_of(&binding, 0);
    if (chain->has_instance && !chain_output(el, chain, &end)) return false;
    *chain = (struct chain){.has_buffer = true, .buffer = binding};
    return true;
}

/* The types of the packets on both sides of a kernel in a chain, where they are known. */
static struct bound_ports chain_types(struct scope *scope, const struct ast_node *ast,
                                      const struct chain *chain)
{
    struct bound_ports bound = {0};
    if (chain->has_buffer) {
        bound.in.type = chain->buffer.buffer->type;
        bound.in.span = chain->buffer.span;
    } else if (chain->has_instance) {
        const struct callee *before = &chain->instance.callee;
        if (before->out_count > 0) bound.in.type = before->out[0].type;
        bound.in.span = chain->instance.span;
    }
    const struct symbol *after = ast->next ? scope_find(scope, ast->next->name.text) : NULL;
    if (after != NULL && after->kind == SYMBOL_BUFFER) {
        bound.out.type = after->buffer->type;
        bound.out.span = ast->next->name.span;
    }
    return bound;
}

/* The buffer between two instances of a chain; it gets a name from both: `squelch->gain`. */
static uint32_t unnamed_buffer(struct elaboration *el, const struct instance *from)
{
    const struct type *type = from->callee.out[0].type;
    struct graph_buffer buffer = {.name = from->name,
                                  .span = from->span,
                                  .type = type,
                                  .width_bytes = type->width_bytes,
                                  .writer_node = GRAPH_NONE,
                                  .writer_output = GRAPH_NONE};
    return graph_add_buffer(el->cx, el->graph, buffer);
}

static bool check_chain_begin(struct elaboration *el, const struct instance *instance, bool first)
{
    if (!first || instance->callee.in_count == 0) return true;
    const struct ast_name *name = &instance->ast->name;
    struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, name->span,
                                 "this chain begins with a %s whose in-port is not bound",
                                 instance->callee.kernel != NULL ? "kernel" : "pipeline");
    diag_help(d, "begin with a buffer: in -> %s -> ...", name->text);
    el->incomplete = true;
    return false;
}

/* Adds the instance that reads `end`.  The one on the left is completed first: nodes are in order. */
static bool add_chain_instance(struct elaboration *el, struct scope *scope,
                               const struct ast_node *ast, struct chain *chain,
                               const struct end *end)
{
    bool first = !chain->has_instance && !chain->has_buffer;
    struct bound_ports bound = chain_types(scope, ast, chain);
    struct instance instance;
    if (chain->has_instance && !chain_output(el, chain, end)) return false;
    if (!add_instance(el, scope, ast, &bound, ast->inputs, &instance) ||
        !check_chain_instance(el, &instance, first, ast->next == NULL) ||
        !check_chain_begin(el, &instance, first))
        return false;
    if (chain->has_instance)
        el->graph->buffers.items[end->buffer].name = arena_printf(
            el->cx->arena, "%s->%s", chain->instance.name, instance.name + strlen(el->prefix));
    if (!first && !connect_port(el, &instance, &first_in, end)) return false;
    if (instance.callee.out_count == 0) complete_instance(el, &instance);
    *chain = (struct chain){.has_instance = true, .instance = instance};
    return true;
}

static bool chain_instance(struct elaboration *el, struct scope *scope, const struct ast_node *ast,
                           struct chain *chain)
{
    if (ast->has_arrow) {
        diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->span,
                    "a kernel inside a chain is bound by the chain: its parentheses hold run-time "
                    "arguments only");
        el->incomplete = true;
        return false;
    }
    bool is_unnamed = chain->has_instance;
    struct end end = {.span = ast->span};
    if (is_unnamed)
        end.buffer = unnamed_buffer(el, &chain->instance);
    else if (chain->has_buffer)
        end = end_of(&chain->buffer, 0);
    if (add_chain_instance(el, scope, ast, chain, &end)) return true;
    if (is_unnamed) vec_push(el->cx->arena, &el->doubtful, end.buffer);
    return false;
}

static void check_chain_end(struct elaboration *el, const struct chain *chain,
                            const struct ast_node *last)
{
    if (!chain->has_instance || chain->instance.callee.out_count == 0) return;
    struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, last->name.span,
                                 "this chain ends with a %s whose out-port is not bound",
                                 chain->instance.callee.kernel != NULL ? "kernel" : "pipeline");
    diag_help(d, "end with a buffer: ... -> %s -> out", last->name.text);
    el->incomplete = true;
}

/* Checks the elements after a refused one for errors of their own: unknown names, and bodies of kernels
 * whose parameters are written. */
static void check_rest(struct elaboration *el, struct scope *scope, const struct ast_node *node)
{
    static const struct bound_ports unknown = {0};
    for (; node != NULL; node = node->next) {
        struct binding binding;
        struct callee callee;
        if (is_buffer_element(scope, node, node->next == NULL)) {
            (void)bind_port_element(el, scope, node, &binding);
            continue;
        }
        const struct symbol *symbol = find_callee(el, scope, node->name);
        if (symbol == NULL || symbol->kind != SYMBOL_KERNEL) continue;
        if (symbol->item->signature.type_params == NULL || node->has_type_arguments)
            (void)specialise_callee(el, scope, node, &unknown, &callee);
    }
}

void elaborate_chain(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    const struct ast_node *first = net->chain, *last = first;
    if (first->next == NULL) {
        elaborate_instance(el, scope, first);
        return;
    }
    struct chain chain = {0};
    for (const struct ast_node *n = first; n != NULL; n = n->next) {
        bool at_end = n == first || n->next == NULL;
        bool ok = is_buffer_element(scope, n, at_end)
                      ? chain_buffer(el, scope, n, n != first ? last : NULL, &chain)
                      : chain_instance(el, scope, n, &chain);
        if (!ok && !el->overfull) check_rest(el, scope, n->next);
        if (!ok || el->overfull) return;
        last = n;
    }
    check_chain_end(el, &chain, last);
}
