/* SPDX-License-Identifier: MIT */
/*
 * subpipeline: pipelines that are used as kernels.
 *
 * Their statements are elaborated into the current graph.  A port is the buffer that is bound to it, so it
 * has no depth and no initial packets of its own; a shape that it declares is the buffer's.  The name of
 * the instance becomes a prefix: node `rx.lp`, buffer `rx.base`.  Run-time arguments are expressions over
 * those of the whole graph.
 *
 * Fails  RULE_RECURSION if a pipeline uses itself; the limits of elaborate_internal.h.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/pipeline_argument.h"

/* ---- ports and arguments, from outside ---- */

static bool inner_port(struct elaboration *el, const struct ast_port *ast, struct scope *scope,
                       struct net_buffer *net, struct kernel_port *port)
{
    const struct type *type = sema_type(el->sema, scope, ast->type, NULL);
    *net = (struct net_buffer){.name = ast->name.text,
                               .span = ast->name.span,
                               .type = type,
                               .outer = ast->is_out ? GRAPH_OUTER_OUT : GRAPH_OUTER_IN};
    if (type == NULL || !array_dims(el, scope, ast->dims, net)) return false;
    *port = (struct kernel_port){.name = ast->name.text,
                                 .span = ast->name.span,
                                 .type = type,
                                 .is_array = ast->dims != NULL,
                                 .arity = net->total};
    return true;
}

static bool inner_arguments(struct elaboration *el, const struct ast_signature *signature,
                            struct callee *callee)
{
    uint32_t count = 0;
    for (const struct ast_param *p = signature->params; p != NULL; p = p->next)
        count++;
    callee->arguments = ARENA_ARRAY(el->cx->arena, struct variable *, count + 1);
    callee->argument_defaults = ARENA_ARRAY(el->cx->arena, struct kx *, count + 1);
    for (const struct ast_param *p = signature->params; p != NULL; p = p->next) {
        struct scope *before = scope_create(el->cx, callee->scope);
        struct variable *variable = argument_variable(el, before, p);
        if (variable == NULL) return false;
        uint32_t n = callee->argument_count++;
        callee->arguments[n] = variable;
        /* A property of an input is the default of the pipeline that is compiled. */
        if (p->value == NULL || is_input_property(signature, callee->scope, p->value)) continue;
        callee->argument_defaults[n] =
            sema_argument(el->sema, callee->scope, p->value, variable->type);
        if (callee->argument_defaults[n] == NULL) return false;
    }
    return true;
}

bool inner_callee(struct elaboration *el, const struct ast_item *pipeline, struct scope *parameters,
                  struct callee *callee)
{
    const struct ast_signature *signature = &pipeline->signature;
    callee->pipeline = pipeline;
    callee->scope = parameters;
    callee->name = signature->name.text;
    callee->span = signature->name.span;
    uint32_t count = 0;
    for (const struct ast_port *p = signature->ports; p != NULL; p = p->next)
        count++;
    struct kernel_port *in = ARENA_ARRAY(el->cx->arena, struct kernel_port, count + 1);
    struct kernel_port *out = ARENA_ARRAY(el->cx->arena, struct kernel_port, count + 1);
    callee->nets = ARENA_ARRAY(el->cx->arena, struct net_buffer, count + 1);
    callee->in = in;
    callee->out = out;
    bool ok = true;
    for (const struct ast_port *p = signature->ports; p != NULL; p = p->next) {
        struct kernel_port *port = p->is_out ? &out[callee->out_count++] : &in[callee->in_count++];
        ok &= inner_port(el, p, callee->scope, &callee->nets[callee->net_count++], port);
    }
    return ok && inner_arguments(el, signature, callee);
}

/* ---- arguments ---- */

struct substitution {
    struct elaboration *el;
    uint32_t operations;
};

static struct kx *argument_value_of(const struct frame *frame, const struct variable *variable)
{
    for (uint32_t i = 0; i < frame->argument_count; i++)
        if (frame->variables[i] == variable) return frame->values[i];
    return NULL;
}

/* `{a, b}[1]` is `b`. */
static struct kx *element_of_values(const struct kx *x)
{
    const struct kx *array = x->left;
    if (x->kind != KX_INDEX || array->kind != KX_AGGREGATE || x->right->kind != KX_CONSTANT)
        return NULL;
    uint64_t index = x->right->value.bits;
    bool simple = array->type->kind == TYPE_ARRAY && index < array->argument_count;
    return simple ? array->arguments[index] : NULL;
}

/* Copies the expression, and replaces the frame's arguments by copies of their values, which do
 * not refer to the frame. The result is a tree. Beyond the limit it is incomplete, and the caller
 * reports. */
static struct kx *substitute_arguments(const struct kx *x, void *data)
{
    struct substitution *s = data;
    const struct kx *value =
        x->kind == KX_VARIABLE ? argument_value_of(s->el->frame, x->variable) : NULL;
    if (++s->operations > ELABORATE_MAX_OPERATIONS) return (struct kx *)x;
    struct kx *copy = kx_copy(s->el->cx->arena, value != NULL ? value : x, substitute_arguments, s);
    struct kx *element = element_of_values(copy);
    return element != NULL ? element : copy;
}

/* An array that is made of values, or a constant one without a name: a command list can write it only as a whole. */
static bool is_made_array(const struct kx *x)
{
    if (x->type->kind != TYPE_ARRAY) return false;
    return x->kind == KX_AGGREGATE || (kx_is_constant(x) && x->variable->name[0] == '\0');
}

static bool is_made_array_test(const struct kx *x, void *data)
{
    (void)data;
    return is_made_array(x);
}

/* One below an operation, or NULL. */
static const struct kx *buried_array(const struct kx *x)
{
    if (!is_made_array(x)) return kx_find(x, is_made_array_test, NULL);
    for (uint32_t i = 0; i < x->argument_count; i++) {
        const struct kx *found = x->arguments[i] != NULL ? buried_array(x->arguments[i]) : NULL;
        if (found != NULL) return found;
    }
    return NULL;
}

struct kx *inner_argument(struct elaboration *el, struct kx *argument)
{
    if (argument == NULL || el->frame->argument_count == 0) return argument;
    struct substitution substitution = {.el = el};
    struct kx *whole = substitute_arguments(argument, &substitution);
    if (substitution.operations > ELABORATE_MAX_OPERATIONS) {
        diag_report(el->cx->diags, RULE_TOO_LARGE, argument->span,
                    "this argument has more than %d operations, with those of the pipelines around",
                    ELABORATE_MAX_OPERATIONS);
        return NULL;
    }
    whole = sema_folded(el->sema, whole);
    const struct kx *buried = whole != NULL ? buried_array(whole) : NULL;
    if (buried == NULL) return whole;
    struct diag *d = diag_report(
        el->cx->diags, RULE_UNSUPPORTED, argument->span,
        "this argument computes with an array that the pipeline gets as a list of values");
    diag_label(d, buried->span, "the list");
    diag_help(d, "give the list a name: a constant of the program, or a function that returns it");
    return NULL;
}

/* ---- recursion ---- */

static const char *cycle_text(struct elaboration *el, const struct frame *frame,
                              const struct ast_item *pipeline)
{
    const char *text = pipeline->signature.name.text;
    for (; frame->pipeline != pipeline; frame = frame->outer)
        text = arena_printf(el->cx->arena, "%s -> %s", frame->pipeline->signature.name.text, text);
    return arena_printf(el->cx->arena, "%s -> %s", pipeline->signature.name.text, text);
}

static void report_recursion(struct elaboration *el, const struct ast_item *pipeline,
                             struct span span)
{
    for (size_t i = 0; i < el->sema->recursive.count; i++)
        if (el->sema->recursive.items[i] == pipeline) return;
    struct diag *d =
        diag_report(el->cx->diags, RULE_RECURSION, span, "pipeline '%s' uses itself: %s",
                    pipeline->signature.name.text, cycle_text(el, el->frame, pipeline));
    for (const struct frame *f = el->frame; f->pipeline != pipeline; f = f->outer) {
        diag_label(d, f->span, "'%s' is used here", f->pipeline->signature.name.text);
        vec_push(el->cx->arena, &el->sema->recursive, f->pipeline);
    }
    diag_label(d, pipeline->signature.name.span, "declared here");
    vec_push(el->cx->arena, &el->sema->recursive, pipeline);
}

static bool may_enter(struct elaboration *el, const struct instance *instance)
{
    const struct ast_item *pipeline = instance->callee.pipeline;
    struct span span = instance->ast->name.span;
    for (const struct frame *f = el->frame; f != NULL; f = f->outer) {
        if (f->pipeline != pipeline) continue;
        report_recursion(el, pipeline, span);
        return false;
    }
    if (el->depth >= ELABORATE_MAX_DEPTH) {
        if (el->sema->too_deep) return false; /* reported once for a tower of pipelines */
        el->sema->too_deep = true;
        diag_report(el->cx->diags, RULE_TOO_DEEP, span,
                    "pipelines in pipelines go beyond %d levels", ELABORATE_MAX_DEPTH);
        return false;
    }
    struct symbol *symbol = scope_find(el->sema->globals, pipeline->signature.name.text);
    if (symbol != NULL && symbol->item == pipeline) symbol->elaborated = true;
    if (++el->inner_count <= ELABORATE_MAX_INNER) return true;
    if (!el->overfull)
        diag_report(el->cx->diags, RULE_TOO_LARGE, span, "the pipeline uses more than %d pipelines",
                    ELABORATE_MAX_INNER);
    el->overfull = true;
    return false;
}

/* ---- ports, from inside ---- */

static void bind_shape(struct elaboration *el, const struct net_buffer *net,
                       const struct graph_shape *shape)
{
    for (uint64_t i = 0; i < net->total && shape->row_packets > 0; i++) {
        struct graph_buffer *b = &el->graph->buffers.items[net->bound[i]];
        if (b->shape.row_packets == 0) b->shape = *shape;
        if (b->shape.row_packets == shape->row_packets && b->shape.frame_rows == shape->frame_rows)
            continue;
        struct diag *d =
            diag_report(el->cx->diags, RULE_SHAPE_MISMATCH, shape->span,
                        "port '%s' of '%.*s' declares another shape than buffer '%s' has",
                        net->name, (int)strlen(el->prefix) - 1, el->prefix, b->name);
        diag_label(d, b->shape.span, "the shape of '%s'", b->name);
        diag_label(d, el->frame->span, "bound here");
        el->incomplete = true;
    }
}

/* Makes each port a name for its bound buffers; `in` and `out` are walked port by port. */
static void bind_inner_ports(struct elaboration *el, const struct instance *instance,
                             struct scope *scope)
{
    const struct callee *callee = &instance->callee;
    const struct ast_port *port = callee->pipeline->signature.ports;
    const uint32_t *in = instance->in, *out = instance->out;
    for (uint32_t i = 0; i < callee->net_count; i++, port = port->next) {
        struct net_buffer *net = &callee->nets[i];
        struct graph_buffer declared = {0};
        const uint32_t **bound = net->outer == GRAPH_OUTER_IN ? &in : &out;
        net->bound = *bound;
        net->touched = ARENA_ARRAY(el->cx->arena, bool, net->total + 1);
        *bound += net->total;
        port_attributes(el, callee->scope, port, &declared);
        bind_shape(el, net, &declared.shape);
        declare_net(el, scope, net);
    }
}

static void check_subpipeline_port(struct elaboration *el, const struct net_buffer *net)
{
    const char **names = ARENA_ARRAY(el->cx->arena, const char *, net->total);
    bool is_in = net->outer == GRAPH_OUTER_IN;
    size_t count = 0;
    for (uint64_t e = 0; e < net->total; e++) {
        if (net->touched[e]) continue;
        vec_push(el->cx->arena, &el->doubtful, net_element(net, e));
        names[count++] = element_name(el, net, e);
    }
    if (count == 0) return;
    diag_report(el->cx->diags, is_in ? RULE_NO_CONSUMER : RULE_NO_PRODUCER, net->span,
                "%s-port%s %s %s %s by nothing", is_in ? "in" : "out", count == 1 ? "" : "s",
                sema_list_names(el->cx, names, count), count == 1 ? "is" : "are",
                is_in ? "read" : "written");
}

/* ---- the pipeline ---- */

static void elaborate_inside(struct elaboration *el, const struct instance *instance)
{
    const struct callee *callee = &instance->callee;
    struct scope *scope = scope_create(el->cx, callee->scope);
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        struct variable *variable = callee->arguments[i];
        scope_declare(scope, (struct symbol){.kind = SYMBOL_VARIABLE,
                                             .name = variable->name,
                                             .span = variable->span,
                                             .variable = variable});
    }
    bind_inner_ports(el, instance, scope);
    /* Reports a policy: the scheduler follows only that of the whole graph. */
    const struct ast_signature *signature = &instance->callee.pipeline->signature;
    for (const struct ast_attribute *a = signature->attributes; a != NULL; a = a->next) {
        enum graph_policy policy = POLICY_AUTO;
        bool known = strcmp(a->name.text, "policy") == 0 && policy_attribute(el, a, &policy);
        if (!known || policy == POLICY_AUTO || policy == el->graph->policy) continue;
        struct diag *d = diag_report(
            el->cx->diags, RULE_POLICY_IGNORED, instance->ast->name.span,
            "'%s' has the policy '%s', and the pipeline that is compiled, '%s', has '%s'",
            signature->name.text, graph_policy_name(policy), el->graph->name,
            graph_policy_name(el->graph->policy));
        diag_label(d, a->span, "it has no effect here");
        diag_help(d, "give it to '%s' if it is meant for the whole", el->graph->name);
    }
    if (callee->pipeline->net != NULL)
        elaborate_statements(el, scope_create(el->cx, scope), callee->pipeline->net->body);
}

/* The buffers of an instance whose statements are not elaborated. */
static void doubt_bound(struct elaboration *el, const struct kernel_port *ports, uint32_t count,
                        const uint32_t *bound)
{
    for (uint32_t p = 0; p < count; bound += ports[p++].arity)
        for (uint64_t i = 0; i < ports[p].arity; i++)
            vec_push(el->cx->arena, &el->doubtful, bound[i]);
}

void inner_elaborate(struct elaboration *el, const struct instance *instance)
{
    const struct callee *callee = &instance->callee;
    if (!may_enter(el, instance)) {
        el->incomplete = true;
        doubt_bound(el, callee->in, callee->in_count, instance->in);
        doubt_bound(el, callee->out, callee->out_count, instance->out);
        return;
    }
    struct frame frame = {.outer = el->frame,
                          .pipeline = callee->pipeline,
                          .span = instance->ast->name.span,
                          .variables = callee->arguments,
                          .values = instance->arguments,
                          .argument_count = callee->argument_count,
                          .use = elaborate_use(el, instance->ast, callee->pipeline, callee->title)};
    const char *prefix = el->prefix;
    const struct loop_round *round = el->round;
    uint32_t importance = el->importance;
    el->frame = &frame;
    el->prefix = arena_printf(el->cx->arena, "%s.", instance->name);
    el->round = NULL;
    el->importance = instance->importance;
    el->depth++;
    if (el->is_top) vec_push(el->cx->arena, &el->sema->inner, callee->pipeline);
    size_t kept = diag_kept_count(el->cx->diags);
    elaborate_inside(el, instance);
    el->depth--;
    el->importance = importance;
    el->round = round;
    el->prefix = prefix;
    el->frame = frame.outer;
    elaborate_trace(el, frame.use, kept);
    if (el->overfull || el->all_doubtful) return;
    for (uint32_t i = 0; i < callee->net_count; i++)
        check_subpipeline_port(el, &callee->nets[i]);
}
