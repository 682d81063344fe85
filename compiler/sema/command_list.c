/* SPDX-License-Identifier: MIT */
/*
 * command_list: the graph that a command list builds (lang/commands.md).
 *
 * Names of nodes and of buffers are any strings, each kind in a scope of its own.  Connections may come in
 * any order. They are made at the end, node by node in the order of the kernel's ports, so that the same
 * topology gives the same graph.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/sema/pipeline_argument.h"
#include "base/nearest.h"
#include "base/plural.h"

struct connection {
    uint32_t node; /* index into the builder's instances */
    struct net_buffer *buffer;
    bool is_out;
    uint32_t port;
    uint64_t element;
    struct span span;
    size_t order; /* of the command */
};

struct builder {
    struct elaboration el;
    struct scope *arguments, *buffers, *nodes; /* a node is a SYMBOL_INTEGER: its index */
    struct scope *set; /* "name attribute" of the attributes that were set */
    uint64_t arguments_bytes;
    bool has_pipeline;
    bool nodes_doubtful; /* it is not known which nodes a refused connection names */
    VEC(struct instance) instances;
    VEC(struct connection) connections;
};

static struct diags *diags_of(const struct builder *b)
{
    return b->el.cx->diags;
}

/* ---- names ---- */

static struct net_buffer *find_buffer(struct builder *b, struct ast_name name)
{
    const struct symbol *symbol = scope_find(b->buffers, name.text);
    if (symbol != NULL && symbol->kind == SYMBOL_BUFFER) return symbol->buffer;
    b->el.incomplete = true;
    if (symbol != NULL && symbol->kind == SYMBOL_POISON) return NULL; /* reported */
    struct diag *d = diag_report(diags_of(b), RULE_UNKNOWN_BUFFER, name.span,
                                 "there is no buffer '%s'", name.text);
    const char *nearest = nearest_buffer(&b->el, b->buffers, name.text);
    if (nearest != NULL) diag_help(d, "did you mean '%s'?", nearest);
    doubt_nearest(&b->el, b->buffers, nearest);
    return NULL;
}

static bool find_node(struct builder *b, struct ast_name name, uint32_t *index)
{
    const struct symbol *symbol = scope_find(b->nodes, name.text);
    if (symbol != NULL && symbol->kind == SYMBOL_INTEGER) {
        *index = (uint32_t)symbol->integer;
        return true;
    }
    b->el.incomplete = true;
    if (symbol != NULL) return false; /* reported */
    b->nodes_doubtful = true;
    diag_report(diags_of(b), RULE_UNKNOWN_NAME, name.span, "no kernel is called '%s'", name.text);
    return false;
}

static bool is_verb(struct builder *b, const struct ast_command *command, const char *verb)
{
    if (strcmp(command->verb.text, verb) == 0) return true;
    static const char *const verbs[] = {"source", "argument", "create", "set", "connect"};
    struct diag *d = diag_report(diags_of(b), RULE_SYNTAX, command->verb.span,
                                 "'%s' is not a command that is written so", command->verb.text);
    const char *nearest = nearest_name(command->verb.text, verbs, 5);
    if (nearest != NULL && strcmp(nearest, command->verb.text) != 0)
        diag_suggest(d, command->verb.span, nearest);
    else
        diag_help(d, "the commands are source, pipeline, argument, create, set and connect");
    b->el.incomplete = b->el.all_doubtful = b->nodes_doubtful = true;
    return false;
}

/* ---- create ---- */

static void create_buffer(struct builder *b, const struct ast_command *command)
{
    if (!is_verb(b, command, "create")) return;
    if (command->is_in || command->is_out) {
        struct ast_port port = {.is_out = command->is_out,
                                .type = command->type,
                                .name = command->subject,
                                .span = command->span};
        declare_port(&b->el, b->buffers, &port);
        return;
    }
    struct ast_buffer buffer = {.name = command->subject, .span = command->span};
    const struct type *type = sema_type(b->el.sema, b->buffers, command->type, NULL);
    if (type != NULL) declare_buffer(&b->el, b->buffers, type, &buffer);
    if (type != NULL) return;
    b->el.incomplete = true;
    scope_declare(b->buffers, (struct symbol){.kind = SYMBOL_POISON,
                                              .name = command->subject.text,
                                              .span = command->subject.span});
}

static void create_kernel(struct builder *b, const struct ast_command *command)
{
    struct ast_node node = *command->element;
    struct bound_ports nothing = {0};
    if (!is_verb(b, command, "create")) return;
    bool has_ports = node.has_arrow || node.subscripts != NULL;
    if (has_ports) {
        diag_report(diags_of(b), RULE_SYNTAX, node.span,
                    "the parentheses of a kernel hold its run-time arguments; 'connect' binds its "
                    "ports");
        b->el.incomplete = true;
    }
    node.label = command->subject;
    struct instance instance;
    bool added =
        !has_ports && add_instance(&b->el, b->arguments, &node, &nothing, node.inputs, &instance);
    if (added && instance.callee.pipeline != NULL) {
        diag_report(diags_of(b), RULE_WRONG_KIND_OF_NAME, node.name.span,
                    "'%s' is a pipeline: a command list is flat, its nodes are kernels",
                    node.name.text);
        b->el.incomplete = true;
        added = false;
    }
    struct symbol symbol = {.kind = added ? SYMBOL_INTEGER : SYMBOL_POISON,
                            .name = command->subject.text,
                            .span = command->subject.span,
                            .integer = (int64_t)b->instances.count};
    if (added) vec_push(b->el.cx->arena, &b->instances, instance);
    if (scope_find(b->nodes, symbol.name) == NULL) scope_declare(b->nodes, symbol);
}

/* ---- set ---- */

static bool is_set_twice(struct builder *b, struct ast_name name, const struct ast_attribute *a)
{
    struct compile *cx = b->el.cx;
    const char *key =
        intern_string(cx->names, arena_printf(cx->arena, "%s %s", name.text, a->name.text));
    const struct symbol *before = scope_find(b->set, key);
    if (before == NULL) {
        scope_declare(b->set,
                      (struct symbol){.kind = SYMBOL_INTEGER, .name = key, .span = a->name.span});
        return false;
    }
    struct diag *d = diag_report(cx->diags, RULE_DUPLICATE_NAME, a->name.span,
                                 "'%s' of '%s' is set twice", a->name.text, name.text);
    diag_label(d, before->span, "the first time");
    b->el.incomplete = true;
    return true;
}

/* `unproven "why"`: a comment of the source that becomes a part of the topology. */
static bool set_unproven(struct builder *b, const struct ast_attribute *a,
                         struct graph_buffer *buffer)
{
    const struct ast_expr *reason = a->value;
    bool says_why = false;
    if (reason->kind == AST_EXPR_STRING)
        for (size_t i = 0; i < reason->string.size_bytes; i++)
            says_why |= (unsigned char)reason->string.bytes[i] > ' ';
    if (!says_why) {
        diag_report(diags_of(b), RULE_SUPPRESSION_WITHOUT_REASON, reason->span,
                    "'unproven' takes a string that says why a varying rate is accepted");
        return true; /* the rate is not accepted, and refused as one without the attribute */
    }
    buffer->unproven_reason =
        arena_string(b->el.cx->arena, reason->string.bytes, reason->string.size_bytes);
    return true;
}

static bool set_attribute(struct builder *b, const struct ast_attribute *a,
                          struct graph_buffer *buffer)
{
    if (buffer->outer == GRAPH_INNER && strcmp(a->name.text, "unproven") == 0)
        return set_unproven(b, a, buffer);
    if (buffer->outer == GRAPH_INNER)
        return buffer_attribute(&b->el, b->arguments, a, buffer->type, buffer);
    return port_attribute(&b->el, b->arguments, a, buffer);
}

static void set_command_buffer(struct builder *b, const struct ast_command *command,
                               const struct net_buffer *net)
{
    struct graph_buffer *buffer = &b->el.graph->buffers.items[net_element(net, 0)];
    for (const struct ast_attribute *a = command->attributes; a != NULL; a = a->next) {
        if (is_set_twice(b, command->subject, a)) continue;
        if (!set_attribute(b, a, buffer)) b->el.incomplete = true;
    }
}

static void set_kernel(struct builder *b, const struct ast_command *command, uint32_t index)
{
    struct ast_node attributes = {.attributes = command->attributes, .span = command->span};
    assert(index < b->instances.count);
    struct instance values = b->instances.items[index];
    struct graph_node *node = &b->el.graph->nodes.items[values.node];
    for (const struct ast_attribute *a = command->attributes; a != NULL; a = a->next)
        if (is_set_twice(b, command->subject, a)) return;
    values.ast = &attributes;
    if (!instance_attributes(&b->el, b->arguments, &values)) b->el.incomplete = true;
    for (const struct ast_attribute *a = command->attributes; a != NULL; a = a->next)
        if (strcmp(a->name.text, "importance") == 0) node->importance = values.importance;
    node->cost_declared = values.cost_declared;
    node->cost_cycles = values.cost_cycles;
    b->instances.items[index].cost_declared = values.cost_declared;
    b->instances.items[index].cost_cycles = values.cost_cycles;
}

static void set_command(struct builder *b, const struct ast_command *command)
{
    uint32_t index;
    if (strcmp(command->verb.text, "source") == 0) {
        if (command->attributes != NULL)
            diag_report(diags_of(b), RULE_SYNTAX, command->attributes->span,
                        "a source has no attributes");
        return; /* the parser has processed it */
    }
    if (!is_verb(b, command, "set")) return;
    if (command->attributes == NULL)
        diag_report(diags_of(b), RULE_SYNTAX, command->span,
                    "'set' needs an attribute and a value");
    const struct symbol *node = scope_find(b->nodes, command->subject.text);
    const struct symbol *buffer = scope_find(b->buffers, command->subject.text);
    bool as_node = node != NULL && (buffer == NULL || buffer->kind != SYMBOL_BUFFER ||
                                    (command->attributes != NULL &&
                                     (strcmp(command->attributes->name.text, "importance") == 0 ||
                                      strcmp(command->attributes->name.text, "cost") == 0)));
    if (as_node) {
        if (find_node(b, command->subject, &index)) set_kernel(b, command, index);
    } else {
        const struct net_buffer *found = find_buffer(b, command->subject);
        if (found != NULL) set_command_buffer(b, command, found);
    }
}

/* ---- connect ---- */

static bool find_command_port(struct builder *b, const struct ast_command *command,
                              struct connection *connection)
{
    assert(connection->node < b->instances.count && b->instances.items != NULL);
    const struct kernel *kernel = b->instances.items[connection->node].callee.kernel;
    const struct kernel_port *ports = command->is_out ? kernel->out : kernel->in;
    uint32_t count = command->is_out ? kernel->out_count : kernel->in_count;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(ports[i].name, command->port.text) != 0) continue;
        connection->port = i;
        return true;
    }
    struct diag *d =
        diag_report(diags_of(b), RULE_UNKNOWN_NAME, command->port.span, "'%s' has no %s-port '%s'",
                    kernel->title, command->is_out ? "out" : "in", command->port.text);
    diag_label(d, kernel->span, "declared here");
    return false;
}

static bool find_element(struct builder *b, const struct ast_command *command,
                         struct connection *connection)
{
    assert(connection->node < b->instances.count && b->instances.items != NULL);
    const struct kernel *kernel = b->instances.items[connection->node].callee.kernel;
    const struct kernel_port *port =
        &(command->is_out ? kernel->out : kernel->in)[connection->port];
    const struct ast_expr *subscript = command->subscripts;
    int64_t element = 0;
    if ((subscript != NULL) != port->is_array || (subscript != NULL && subscript->next != NULL)) {
        diag_report(diags_of(b), RULE_TYPE_MISMATCH, command->port.span,
                    port->is_array ? "port '%s' is an array: say which element"
                                   : "port '%s' is not an array",
                    port->name);
        return false;
    }
    if (subscript != NULL && !sema_integer(b->el.sema, b->arguments, subscript, &element))
        return false;
    if (subscript != NULL && (element < 0 || (uint64_t)element >= port->arity)) {
        diag_report(diags_of(b), RULE_UNKNOWN_NAME, subscript->span,
                    "port '%s' has no element %" PRId64 ": it has %" PRIu64, port->name, element,
                    port->arity);
        return false;
    }
    connection->element = (uint64_t)element;
    return true;
}

/* A refused connection leaves a port of its node and an end of its buffer open. */
static void refuse_connection(struct builder *b, const struct connection *connection, bool has_node)
{
    b->el.incomplete = true;
    if (connection->buffer != NULL) doubt_buffer(&b->el, connection->buffer);
    if (has_node) b->instances.items[connection->node].doubtful = true;
}

static void connect_command(struct builder *b, const struct ast_command *command)
{
    struct connection connection = {
        .is_out = command->is_out, .span = command->subject.span, .order = b->connections.count};
    if (!is_verb(b, command, "connect")) return;
    connection.buffer = find_buffer(b, command->subject);
    bool has_node = find_node(b, command->object, &connection.node);
    if (has_node && find_command_port(b, command, &connection) &&
        find_element(b, command, &connection) && connection.buffer != NULL)
        vec_push(b->el.cx->arena, &b->connections, connection);
    else
        refuse_connection(b, &connection, has_node);
}

static int compare_connections(const void *one, const void *other)
{
    const struct connection *a = one, *b = other;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    if (a->is_out != b->is_out) return a->is_out ? 1 : -1;
    if (a->port != b->port) return a->port < b->port ? -1 : 1;
    if (a->element != b->element) return a->element < b->element ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static bool same_end(const struct connection *a, const struct connection *b)
{
    return a->node == b->node && a->is_out == b->is_out && a->port == b->port &&
           a->element == b->element;
}

static void make_connections(struct builder *b)
{
    struct connection *items = b->connections.items;
    size_t count = b->connections.count;
    if (count > 1) qsort(items, count, sizeof *items, compare_connections);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && same_end(&items[i], &items[i - 1])) {
            struct diag *d = diag_report(diags_of(b), RULE_DUPLICATE_NAME, items[i].span,
                                         "this port is connected twice");
            diag_label(d, items[i - 1].span, "the first time");
            refuse_connection(b, &items[i], true);
            continue;
        }
        bool made = connect_element(&b->el, &b->instances.items[items[i].node], items[i].is_out,
                                    items[i].port, (uint32_t)items[i].element, items[i].buffer,
                                    items[i].span);
        if (!made) refuse_connection(b, &items[i], true);
    }
}

static bool check_listed_node(struct builder *b, const struct graph_node *node)
{
    const struct kernel *kernel = node->kernel;
    uint64_t wanted = kernel_end_count(kernel->in, kernel->in_count) +
                      kernel_end_count(kernel->out, kernel->out_count);
    uint64_t given = node->inputs.count + node->outputs.count;
    if (given == wanted) return true;
    struct diag *d =
        diag_report(diags_of(b), RULE_WRONG_ARGUMENT_COUNT, node->span,
                    "'%s' has %" PRIu64 " port%s, %" PRIu64 " %s connected", node->name, wanted,
                    plural(wanted), given, given == 1 ? "is" : "are");
    diag_label(d, kernel->span, "declared here");
    b->el.incomplete = true;
    return false;
}

/* False if a port is open: the missing command would have given a buffer its end, too. */
static bool check_listed_nodes(struct builder *b)
{
    bool whole = true;
    if (b->nodes_doubtful) return true;
    for (size_t i = 0; i < b->instances.count; i++) {
        const struct instance *instance = &b->instances.items[i];
        if (!instance->doubtful)
            whole &= check_listed_node(b, &b->el.graph->nodes.items[instance->node]);
    }
    return whole;
}

/* ---- the list ---- */

/* Reports items that a list cannot contain: the list builds its pipeline itself, and has `source`
 * in the place of `import`. */
static void refuse_listed_item(struct builder *b, const struct ast_item *item)
{
    if (item->kind == AST_ITEM_IMPORT) {
        struct diag *d = diag_report(diags_of(b), RULE_SYNTAX, item->span,
                                     "a command list names the files that it needs by 'source'");
        diag_help(d, "write 'source' in place of 'import'");
    } else if (item->kind == AST_ITEM_PIPELINE || item->kind == AST_ITEM_TEST) {
        diag_report(
            diags_of(b), RULE_SYNTAX, item->span,
            "a command list makes one pipeline, by commands: it holds no %s of the language",
            item->kind == AST_ITEM_TEST ? "test" : "pipeline");
    }
}

static void set_pipeline(struct builder *b, const struct ast_command *command)
{
    struct ast_signature signature = {.name = command->subject, .attributes = command->attributes};
    struct graph *graph = b->el.graph;
    if (b->has_pipeline) {
        struct diag *d = diag_report(diags_of(b), RULE_DUPLICATE_NAME, command->span,
                                     "a command list makes one pipeline");
        diag_label(d, graph->span, "the first one");
        return;
    }
    b->has_pipeline = true;
    graph->name = command->subject.text;
    graph->span = command->subject.span;
    pipeline_attributes(&b->el, &signature);
}

static void run_command(struct builder *b, const struct ast_command *command)
{
    switch (command->kind) {
    case AST_COMMAND_SET: set_command(b, command); break;
    case AST_COMMAND_PIPELINE: set_pipeline(b, command); break;
    case AST_COMMAND_ARGUMENT:
        if (is_verb(b, command, "argument"))
            declare_argument(&b->el, b->arguments, command->param, &b->arguments_bytes);
        break;
    case AST_COMMAND_BUFFER: create_buffer(b, command); break;
    case AST_COMMAND_KERNEL: create_kernel(b, command); break;
    case AST_COMMAND_CONNECT: connect_command(b, command); break;
    }
}

static void finish_graph(struct builder *b)
{
    struct graph *graph = b->el.graph;
    make_connections(b);
    bind_properties(&b->el, b->arguments);
    check_definitions(&b->el);
    if (check_listed_nodes(b)) check_all_ends(&b->el);
    if (graph->nodes.count == 0 && !b->el.incomplete && !diag_failed(diags_of(b)))
        diag_report(diags_of(b), RULE_NO_PIPELINE, graph->span, "the command list has no kernels");
}

struct graph *sema_elaborate_commands(struct sema *sema, const struct ast_file *file)
{
    struct compile *cx = sema->cx;
    struct span start = {file->source, 0, 0};
    struct graph *graph = ARENA_NEW(cx->arena, struct graph);
    graph->name = "main";
    graph->span = start;
    graph->types = sema->types;
    struct frame frame = {.span = start};
    struct builder b = {
        .el =
            {.cx = cx, .sema = sema, .graph = graph, .frame = &frame, .prefix = "", .is_top = true},
        .arguments = scope_create(cx, sema_scope_at(sema, start)),
        .nodes = scope_create(cx, NULL),
        .set = scope_create(cx, NULL)};
    /* types are looked up through it, so the program's scope is its outer scope */
    b.buffers = scope_create(cx, sema_scope_at(sema, start));
    struct diags *all = cx->diags;
    struct diags *own = cx->diags = diags_fork(cx->arena, all);
    for (const struct ast_item *item = file->items; item != NULL; item = item->next)
        refuse_listed_item(&b, item);
    for (const struct ast_command *c = file->commands; c != NULL; c = c->next)
        run_command(&b, c);
    finish_graph(&b);
    bool failed = diag_failed(own) || b.el.incomplete;
    cx->diags = all;
    diag_take(all, own);
    return failed ? NULL : graph;
}
