/*
 * instance: chains and instances of kernels: which kernel, which buffers on which ports, which
 * arguments.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/elaborate_internal.h"

/* One binding of a port list: a buffer, or what is left of an array of buffers after its
 * subscripts. */
struct binding {
    const struct net_buffer *buffer;
    uint32_t first;
    uint64_t count; /* buffers */
    bool is_array;
    struct span span;
    const char *text; /* as written */
};

/* ---- buffers named in a statement ---- */

const struct net_buffer *elaborate_find_buffer(struct elaboration *el, struct scope *scope,
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
    if (nearest != NULL)
        diag_help(d, "did you mean '%s'?", nearest);
    else
        diag_help(d, "declare it: 'buffer TYPE %s;'", name.text);
    return NULL;
}

/* Narrows a binding by one subscript; false after an error. */
static bool subscript(struct elaboration *el, struct scope *scope, const struct ast_expr *index,
                      uint64_t length, struct binding *binding)
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
    binding->first += (uint32_t)((uint64_t)value * binding->count);
    return true;
}

static bool bind_name(struct elaboration *el, struct scope *scope, struct ast_name name,
                      const struct ast_expr *const *subscripts, size_t subscript_count,
                      struct binding *binding)
{
    const struct net_buffer *buffer = elaborate_find_buffer(el, scope, name);
    if (buffer == NULL) return false;
    *binding = (struct binding){
        .buffer = buffer, .first = buffer->first, .count = buffer->total, .text = name.text};
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
        if (!subscript(el, scope, subscripts[i], buffer->dims.items[i], binding)) {
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
        el->incomplete = true;
        return false;
    }
    const struct ast_expr *walk = e;
    for (size_t i = count; i-- > 0; walk = walk->left)
        subscripts[i] = walk->right;
    if (!bind_name(el, scope, base->name, subscripts, count, binding)) return false;
    binding->span = e->span;
    return true;
}

static bool bind_element(struct elaboration *el, struct scope *scope, const struct ast_node *node,
                         struct binding *binding)
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

/* ---- the kernel of an instance ---- */

static const struct ast_item *find_kernel(struct elaboration *el, struct scope *scope,
                                          struct ast_name name)
{
    struct symbol *symbol = scope_find(scope, name.text);
    struct diag *d;
    if (symbol != NULL && symbol->kind == SYMBOL_KERNEL) {
        symbol->used = true;
        return symbol->item;
    }
    if (symbol == NULL) {
        d = diag_report(el->cx->diags, RULE_UNKNOWN_NAME, name.span, "there is no kernel '%s'",
                        name.text);
        const char *nearest = nearest_kernel(el, scope, name.text);
        if (nearest != NULL) diag_help(d, "did you mean '%s'?", nearest);
    } else if (symbol->kind == SYMBOL_PIPELINE) {
        diag_report(el->cx->diags, RULE_UNSUPPORTED, name.span,
                    "using pipeline '%s' as a kernel is not supported yet", name.text);
    } else {
        d = diag_report(el->cx->diags, RULE_WRONG_KIND_OF_NAME, name.span, "'%s' is not a kernel",
                        name.text);
        diag_label(d, symbol->span, "declared here");
    }
    return NULL;
}

/* The kernel that `node` names, specialised by its `<...>` and by what is bound to it. */
static struct kernel *specialise(struct elaboration *el, struct scope *scope,
                                 const struct ast_node *node, const struct bound_ports *bound)
{
    size_t count;
    const struct ast_item *item = find_kernel(el, scope, node->name);
    if (item == NULL) return NULL;
    const struct compile_argument *params =
        elaborate_parameters(el, scope, node, &item->signature, bound, &count);
    return params != NULL ? sema_kernel(el->sema, item, params, count) : NULL;
}

/* ---- arguments and attributes ---- */

static bool instance_arguments(struct elaboration *el, struct scope *scope,
                               const struct ast_node *node, const struct ast_expr *values,
                               struct graph_node *out)
{
    const struct kernel *kernel = out->kernel;
    out->arguments = ARENA_ARRAY(el->cx->arena, struct kx *, kernel->argument_count + 1);
    uint32_t n = 0;
    bool ok = true;
    for (const struct ast_expr *e = values; e != NULL; e = e->next, n++) {
        if (n >= kernel->argument_count) continue;
        out->arguments[n] = sema_argument(el->sema, scope, e, kernel->arguments[n]->type);
        ok &= out->arguments[n] != NULL;
    }
    if (n > kernel->argument_count) {
        struct diag *d = diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, node->span,
                                     "'%s' takes %u run-time arguments, not %u", kernel->title,
                                     kernel->argument_count, n);
        diag_label(d, kernel->span, "declared here");
        return false;
    }
    for (; n < kernel->argument_count; n++) {
        out->arguments[n] = kernel->argument_defaults[n];
        if (out->arguments[n] != NULL) continue;
        struct diag *d = diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, node->span,
                                     "'%s' needs a value for its run-time argument '%s'",
                                     kernel->title, kernel->arguments[n]->name);
        diag_label(d, kernel->arguments[n]->span, "it has no default");
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
                               const struct ast_attribute *a, struct graph_node *out)
{
    static const char *const known[] = {"importance", "cost"};
    int64_t value;
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

static bool instance_attributes(struct elaboration *el, struct scope *scope,
                                const struct ast_node *node, struct graph_node *out)
{
    bool ok = true;
    for (const struct ast_attribute *a = node->attributes; a != NULL; a = a->next)
        ok = !repeated_attribute(el, node->attributes, a) &&
             instance_attribute(el, scope, a, out) && ok;
    return ok;
}

/* ---- names of nodes ---- */

static const char *node_name(struct elaboration *el, const struct ast_node *node)
{
    struct compile *cx = el->cx;
    bool labelled = node->label.text != NULL;
    struct span span = labelled ? node->label.span : node->name.span;
    const char *text =
        labelled ? arena_printf(cx->arena, "%s%s", node->label.text, el->suffix) : node->name.text;
    struct node_name *entry = node_name_entry(el, intern_string(cx->names, text));
    if (labelled && entry->count > 0) {
        struct diag *d = diag_report(cx->diags, RULE_DUPLICATE_NAME, span,
                                     "two instances are called '%s'", text);
        diag_label(d, entry->span, "the first one");
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

/* Adds the node of an instance without its ports; GRAPH_NONE after an error. */
static uint32_t add_instance(struct elaboration *el, struct scope *scope,
                             const struct ast_node *node, const struct bound_ports *bound,
                             const struct ast_expr *arguments)
{
    struct graph_node instance = {.kernel = specialise(el, scope, node, bound)};
    if (el->graph->nodes.count >= ELABORATE_MAX_PARTS) {
        if (!el->overfull)
            diag_report(el->cx->diags, RULE_TOO_LARGE, node->span,
                        "the pipeline has more than %d nodes", ELABORATE_MAX_PARTS);
        el->overfull = true;
        return GRAPH_NONE;
    }
    bool ok = instance.kernel != NULL;
    ok = ok && instance_arguments(el, scope, node, arguments, &instance);
    ok = instance_attributes(el, scope, node, &instance) && ok;
    if (!ok) {
        el->incomplete = true;
        return GRAPH_NONE;
    }
    instance.name = node_name(el, node);
    instance.span = node->label.text != NULL ? node->label.span : node->name.span;
    instance.stateful = instance.kernel->states.count > 0;
    return graph_add_node(el->cx, el->graph, instance);
}

/* ---- ports ---- */

static const char *end_name(struct elaboration *el, const struct kernel_port *port,
                            uint32_t element)
{
    return port->is_array ? arena_printf(el->cx->arena, "%s[%u]", port->name, element) : port->name;
}

static bool check_packet_type(struct elaboration *el, const struct graph_node *node,
                              const struct kernel_port *port, const struct graph_buffer *buffer,
                              struct span span)
{
    if (port->type == buffer->type) return true;
    struct arena *arena = el->cx->arena;
    struct diag *d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, span,
                                 "port '%s' of '%s' takes packets of type %s, buffer '%s' holds %s",
                                 port->name, node->name, type_text(arena, port->type), buffer->name,
                                 type_text(arena, buffer->type));
    diag_label(d, buffer->span, "%s", type_text(arena, buffer->type));
    diag_label(d, port->span, "%s", type_text(arena, port->type));
    el->incomplete = true;
    return false;
}

static bool connect_input(struct elaboration *el, uint32_t node, uint32_t port_index,
                          uint32_t element, uint32_t buffer, struct span span)
{
    struct graph_node *n = &el->graph->nodes.items[node];
    const struct kernel_port *port = &n->kernel->in[port_index];
    const struct graph_buffer *b = &el->graph->buffers.items[buffer];
    if (!check_packet_type(el, n, port, b, span)) return false;
    if (b->outer == GRAPH_OUTER_OUT) {
        struct diag *d =
            diag_report(el->cx->diags, RULE_WRONG_KIND_OF_NAME, span,
                        "'%s' is an out-port of the pipeline: it cannot be read inside", b->name);
        diag_help(d, "write to a buffer, read that, and copy it to '%s'", b->name);
        el->incomplete = true;
        return false;
    }
    graph_connect_input(el->cx, el->graph, node,
                        (struct graph_input){.port = end_name(el, port, element),
                                             .kernel_port = port_index,
                                             .element = element,
                                             .span = span,
                                             .buffer = buffer});
    return true;
}

static void report_second_writer(struct elaboration *el, const struct graph_buffer *b,
                                 struct span span)
{
    struct diag *d;
    el->incomplete = true;
    if (b->outer == GRAPH_OUTER_IN) {
        d = diag_report(el->cx->diags, RULE_WRONG_KIND_OF_NAME, span,
                        "'%s' is an in-port of the pipeline: it cannot be written inside", b->name);
        diag_label(d, b->span, "declared here");
        return;
    }
    const struct graph_node *writer = &el->graph->nodes.items[b->writer_node];
    d = diag_report(el->cx->diags, RULE_SEVERAL_PRODUCERS, span, "buffer '%s' has two producers",
                    b->name);
    diag_label(d, writer->outputs.items[b->writer_output].span, "'%s' writes it already",
               writer->name);
    diag_help(d,
              "give each producer a buffer of its own and join them in a kernel with two in-ports");
}

static bool connect_output(struct elaboration *el, uint32_t node, uint32_t port_index,
                           uint32_t element, uint32_t buffer, struct span span)
{
    struct graph_node *n = &el->graph->nodes.items[node];
    const struct kernel_port *port = &n->kernel->out[port_index];
    const struct graph_buffer *b = &el->graph->buffers.items[buffer];
    if (!check_packet_type(el, n, port, b, span)) return false;
    if (b->outer == GRAPH_OUTER_IN || b->writer_node != GRAPH_NONE) {
        report_second_writer(el, b, span);
        return false;
    }
    graph_connect_output(el->cx, el->graph, node,
                         (struct graph_output){.port = end_name(el, port, element),
                                               .kernel_port = port_index,
                                               .element = element,
                                               .span = span,
                                               .buffer = buffer});
    return true;
}

/* Walks the written list beside the ports: a port array takes one array of its size, or as many
 * single buffers. */
struct port_walk {
    const struct kernel_port *ports;
    uint32_t port_count;
    uint32_t port, element; /* where the next binding goes */
};

static void report_port_count(struct elaboration *el, const struct graph_node *node,
                              const struct port_walk *walk, struct span span, const char *direction,
                              uint64_t given)
{
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < walk->port_count; i++)
        wanted += walk->ports[i].arity;
    struct diag *d = diag_report(el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, span,
                                 "'%s' has %" PRIu64 " %s-ports, %" PRIu64 " are bound", node->name,
                                 wanted, direction, given);
    diag_label(d, node->kernel->span, "'%s' is declared here", node->kernel->name);
    el->incomplete = true;
}

static bool check_array_fits(struct elaboration *el, const struct port_walk *walk,
                             const struct binding *binding)
{
    if (walk->port >= walk->port_count) return true; /* counted and reported by the caller */
    const struct kernel_port *port = &walk->ports[walk->port];
    bool fits = port->is_array && walk->element == 0 && binding->count == port->arity;
    if (!binding->is_array || fits) return true;
    struct diag *d;
    if (port->is_array)
        d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, binding->span,
                        "port '%s' takes %" PRIu64 " buffers, '%s' is %" PRIu64, port->name,
                        port->arity, binding->text, binding->count);
    else
        d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, binding->span,
                        "port '%s' takes one buffer, '%s' is an array of %" PRIu64, port->name,
                        binding->text, binding->count);
    diag_label(d, port->span, "declared here");
    el->incomplete = true;
    return false;
}

typedef bool connect_end(struct elaboration *, uint32_t, uint32_t, uint32_t, uint32_t, struct span);

static bool connect_binding(struct elaboration *el, uint32_t node, struct port_walk *walk,
                            const struct binding *binding, connect_end *connect)
{
    for (uint64_t i = 0; i < binding->count; i++) {
        if (walk->port >= walk->port_count) return true;
        uint32_t buffer = binding->first + (uint32_t)i;
        if (!connect(el, node, walk->port, walk->element, buffer, binding->span)) return false;
        if (++walk->element >= walk->ports[walk->port].arity) {
            walk->element = 0;
            walk->port++;
        }
    }
    return true;
}

static void connect_ports(struct elaboration *el, struct scope *scope, uint32_t node,
                          const struct ast_node *ast, const struct ast_expr *list, bool is_out)
{
    const struct kernel *kernel = el->graph->nodes.items[node].kernel;
    struct port_walk walk = {.ports = is_out ? kernel->out : kernel->in,
                             .port_count = is_out ? kernel->out_count : kernel->in_count};
    uint64_t given = 0;
    for (const struct ast_expr *e = list; e != NULL; e = e->next) {
        struct binding binding;
        if (!bind_expression(el, scope, e, &binding)) return;
        if (!check_array_fits(el, &walk, &binding)) return;
        given += binding.count;
        if (!connect_binding(el, node, &walk, &binding, is_out ? connect_output : connect_input))
            return;
    }
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < walk.port_count; i++)
        wanted += walk.ports[i].arity;
    if (given != wanted)
        report_port_count(el, &el->graph->nodes.items[node], &walk, ast->name.span,
                          is_out ? "out" : "in", given);
}

/* ---- statements ---- */

/* `label: kernel<...>(in, in -> out; arguments) attributes;` */
static void elaborate_instance(struct elaboration *el, struct scope *scope,
                               const struct ast_node *ast)
{
    if (!ast->has_arrow) {
        struct symbol *symbol = scope_find(scope, ast->name.text);
        bool buffer = symbol != NULL && symbol->kind == SYMBOL_BUFFER;
        struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->span,
                                     buffer ? "a buffer alone is not a statement"
                                            : "'%s' is not bound to any buffer",
                                     ast->name.text);
        if (!buffer) diag_help(d, "bind its ports: %s(in -> out)", ast->name.text);
        el->incomplete = true;
        return;
    }
    struct bound_ports bound = {.in = {.list = ast->inputs}, .out = {.list = ast->outputs}};
    uint32_t node = add_instance(el, scope, ast, &bound, ast->arguments);
    if (node == GRAPH_NONE) return;
    connect_ports(el, scope, node, ast, ast->inputs, false);
    connect_ports(el, scope, node, ast, ast->outputs, true);
}

/* What is not declared counts as a buffer at the ends of a chain, where buffers stand. */
static bool is_buffer_element(struct scope *scope, const struct ast_node *node, bool at_end)
{
    struct symbol *symbol = scope_find(scope, node->name.text);
    if (node->subscripts != NULL) return true;
    if (symbol == NULL) return at_end && !node->has_call && !node->has_type_arguments;
    return symbol->kind == SYMBOL_BUFFER || symbol->kind == SYMBOL_POISON;
}

static bool check_chain_kernel(struct elaboration *el, uint32_t node, const struct ast_node *ast,
                               bool first, bool last)
{
    const struct kernel *k = el->graph->nodes.items[node].kernel;
    bool one_in = k->in_count == 1 && k->in[0].arity == 1;
    bool one_out = k->out_count == 1 && k->out[0].arity == 1;
    if ((one_in || first) && (one_out || last)) return true;
    struct diag *d = diag_report(
        el->cx->diags, RULE_WRONG_ARGUMENT_COUNT, ast->name.span,
        "a kernel inside a chain has one in-port and one out-port; '%s' does not", k->title);
    diag_label(d, k->span, "declared here");
    diag_help(d, "write it as an instance: %s(in -> out)", ast->name.text);
    el->incomplete = true;
    return false;
}

/* The buffer between two kernels of a chain, or the one that is named there. */
static uint32_t unnamed_buffer(struct elaboration *el, uint32_t from, const char *to)
{
    const struct graph_node *writer = &el->graph->nodes.items[from];
    const struct type *type = writer->kernel->out[0].type;
    struct graph_buffer buffer = {.name = arena_printf(el->cx->arena, "%s->%s", writer->name, to),
                                  .span = writer->span,
                                  .type = type,
                                  .width_bytes = type->width_bytes,
                                  .writer_node = GRAPH_NONE,
                                  .writer_output = GRAPH_NONE};
    return graph_add_buffer(el->cx, el->graph, buffer);
}

struct chain {     /* what stands to the left of the element in hand */
    uint32_t node; /* a kernel whose out-port is to be bound, or GRAPH_NONE */
    bool has_buffer;
    struct binding buffer;
};

static bool single_buffer(struct elaboration *el, const struct binding *binding)
{
    if (!binding->is_array) return true;
    struct diag *d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, binding->span,
                                 "a chain goes through one buffer; '%s' is an array of %" PRIu64,
                                 binding->text, binding->count);
    diag_label(d, binding->buffer->span, "declared here");
    el->incomplete = true;
    return false;
}

static bool chain_buffer(struct elaboration *el, struct scope *scope, const struct ast_node *ast,
                         struct chain *chain)
{
    struct binding binding;
    if (!bind_element(el, scope, ast, &binding) || !single_buffer(el, &binding)) return false;
    if (chain->has_buffer) {
        struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->span,
                                     "two buffers follow each other in a chain");
        diag_help(d, "put a kernel between '%s' and '%s'", chain->buffer.text, binding.text);
        el->incomplete = true;
        return false;
    }
    if (chain->node != GRAPH_NONE &&
        !connect_output(el, chain->node, 0, 0, binding.first, binding.span))
        return false;
    *chain = (struct chain){.node = GRAPH_NONE, .has_buffer = true, .buffer = binding};
    return true;
}

/* The types of the packets on both sides of a kernel in a chain, where they are known. */
static struct bound_ports chain_types(struct elaboration *el, struct scope *scope,
                                      const struct ast_node *ast, const struct chain *chain)
{
    struct bound_ports bound = {0};
    if (chain->has_buffer) {
        bound.in.type = chain->buffer.buffer->type;
        bound.in.span = chain->buffer.span;
    } else if (chain->node != GRAPH_NONE) {
        const struct graph_node *before = &el->graph->nodes.items[chain->node];
        if (before->kernel->out_count > 0) bound.in.type = before->kernel->out[0].type;
        bound.in.span = before->span;
    }
    const struct symbol *after = ast->next ? scope_find(scope, ast->next->name.text) : NULL;
    if (after != NULL && after->kind == SYMBOL_BUFFER) {
        bound.out.type = after->buffer->type;
        bound.out.span = ast->next->name.span;
    }
    return bound;
}

static bool chain_kernel(struct elaboration *el, struct scope *scope, const struct ast_node *ast,
                         struct chain *chain, bool first)
{
    if (ast->has_arrow) {
        diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->span,
                    "a kernel inside a chain is bound by the chain: its parentheses hold run-time "
                    "arguments only");
        el->incomplete = true;
        return false;
    }
    struct bound_ports bound = chain_types(el, scope, ast, chain);
    uint32_t node = add_instance(el, scope, ast, &bound, ast->inputs);
    if (node == GRAPH_NONE || !check_chain_kernel(el, node, ast, first, ast->next == NULL))
        return false;
    if (first && el->graph->nodes.items[node].kernel->in_count > 0) {
        struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, ast->name.span,
                                     "this chain begins with a kernel whose in-port is not bound");
        diag_help(d, "begin with a buffer: in -> %s -> ...", ast->name.text);
        el->incomplete = true;
        return false;
    }
    if (chain->has_buffer) {
        if (!connect_input(el, node, 0, 0, chain->buffer.first, chain->buffer.span)) return false;
    } else if (chain->node != GRAPH_NONE) {
        uint32_t between = unnamed_buffer(el, chain->node, el->graph->nodes.items[node].name);
        if (!connect_output(el, chain->node, 0, 0, between, ast->span) ||
            !connect_input(el, node, 0, 0, between, ast->span))
            return false;
    }
    *chain = (struct chain){.node = node};
    return true;
}

static void check_chain_end(struct elaboration *el, const struct chain *chain,
                            const struct ast_node *last)
{
    if (chain->node == GRAPH_NONE || el->graph->nodes.items[chain->node].kernel->out_count == 0)
        return;
    struct diag *d = diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, last->name.span,
                                 "this chain ends with a kernel whose out-port is not bound");
    diag_help(d, "end with a buffer: ... -> %s -> out", last->name.text);
    el->incomplete = true;
}

void elaborate_chain(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    const struct ast_node *first = net->chain, *last = first;
    if (first->next == NULL) {
        elaborate_instance(el, scope, first);
        return;
    }
    struct chain chain = {.node = GRAPH_NONE};
    for (const struct ast_node *n = first; n != NULL; n = n->next) {
        bool at_end = n == first || n->next == NULL;
        bool ok = is_buffer_element(scope, n, at_end)
                      ? chain_buffer(el, scope, n, &chain)
                      : chain_kernel(el, scope, n, &chain, n == first);
        if (!ok) return;
        last = n;
    }
    check_chain_end(el, &chain, last);
}
