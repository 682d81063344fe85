/* SPDX-License-Identifier: MIT */
/*
 * elaborate: elaborates one pipeline to a flat graph.  Compile-time loops and conditions run here; arrays
 * of buffers and port arrays are flattened in row-major order.
 *
 * Limits (RULE_TOO_LARGE): ELABORATE_MAX_PARTS nodes and as many buffers, ELABORATE_MAX_STEPS rounds of
 * loops.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arithmetic.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/sema/pipeline_argument.h"
#include "base/nearest.h"
#include "lang/scalar_text.h"

/* ---- names of nodes ---- */

static size_t name_slot(const struct elaboration *el, const char *name)
{
    size_t mask = el->name_capacity - 1;
    size_t slot = ((uintptr_t)name >> 4) * 0x9E3779B97F4A7C15u >> 20 & mask;
    while (el->node_names[slot].name != NULL && el->node_names[slot].name != name)
        slot = (slot + 1) & mask;
    return slot;
}

static void grow_names(struct elaboration *el)
{
    struct node_name *old = el->node_names;
    size_t old_capacity = el->name_capacity;
    el->name_capacity = old_capacity == 0 ? 64 : old_capacity * 2;
    el->node_names = ARENA_ARRAY(el->cx->arena, struct node_name, el->name_capacity);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].name != NULL) el->node_names[name_slot(el, old[i].name)] = old[i];
}

struct node_name *node_name_entry(struct elaboration *el, const char *name)
{
    if (el->name_count * 2 >= el->name_capacity) grow_names(el);
    struct node_name *entry = &el->node_names[name_slot(el, name)];
    if (entry->name == NULL) {
        entry->name = name;
        el->name_count++;
    }
    return entry;
}

/* ---- candidates for messages ---- */

struct candidates {
    struct arena *arena;
    enum symbol_kind kind;
    VEC(const char *) names;
};

static void add_definable_name(const struct symbol *symbol, void *data)
{
    struct candidates *candidates = data;
    if (symbol->kind == candidates->kind)
        vec_push(candidates->arena, &candidates->names, symbol->name);
}

static const char *nearest_of(struct elaboration *el, struct scope *scope, const char *name,
                              enum symbol_kind kind)
{
    struct candidates candidates = {.arena = el->cx->arena, .kind = kind};
    scope_each(scope, add_definable_name, &candidates);
    return nearest_name(name, candidates.names.items, candidates.names.count);
}

const char *nearest_buffer(struct elaboration *el, struct scope *scope, const char *name)
{
    return nearest_of(el, scope, name, SYMBOL_BUFFER);
}

const char *nearest_kernel(struct elaboration *el, struct scope *scope, const char *name)
{
    const char *kernel = nearest_of(el, scope, name, SYMBOL_KERNEL);
    if (kernel != NULL) return kernel;
    const char *pipeline = nearest_of(el, scope, name, SYMBOL_PIPELINE);
    /* No pipeline uses itself. */
    bool is_self = pipeline != NULL && el->frame->pipeline != NULL &&
                   strcmp(pipeline, el->frame->pipeline->signature.name.text) == 0;
    return is_self ? NULL : pipeline;
}

/* ---- doubtful buffers: a refused statement may have bound them ---- */

void doubt_buffer(struct elaboration *el, struct net_buffer *buffer)
{
    if (buffer->doubtful) return;
    buffer->doubtful = true;
    for (uint64_t i = 0; i < buffer->total; i++) {
        vec_push(el->cx->arena, &el->doubtful, net_element(buffer, i));
        if (buffer->touched != NULL) buffer->touched[i] = true;
    }
}

static void doubt_name(struct elaboration *el, struct scope *scope, const char *name)
{
    struct symbol *symbol = scope_find(scope, name);
    if (symbol != NULL && symbol->kind == SYMBOL_BUFFER) doubt_buffer(el, symbol->buffer);
}

void doubt_nearest(struct elaboration *el, struct scope *scope, const char *nearest)
{
    if (nearest == NULL)
        el->all_doubtful = true;
    else
        doubt_name(el, scope, nearest);
}

static void doubt_list(struct elaboration *el, struct scope *scope, const struct ast_expr *list)
{
    for (; list != NULL; list = list->next) {
        const struct ast_expr *base = list;
        while (base->kind == AST_EXPR_INDEX)
            base = base->left;
        if (base->kind == AST_EXPR_NAME) doubt_name(el, scope, base->name.text);
    }
}

static void doubt_statements(struct elaboration *el, struct scope *scope,
                             const struct ast_net *net);

/* The statement was refused, or not elaborated to its end: doubts whole arrays, because its
 * subscripts may be what was refused. */
static void doubt_statement(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    el->incomplete = true;
    for (const struct ast_node *n = net->chain; n != NULL; n = n->next) {
        doubt_name(el, scope, n->name.text);
        doubt_list(el, scope, n->inputs);
        doubt_list(el, scope, n->outputs);
    }
    doubt_statements(el, scope, net->body);
    doubt_statements(el, scope, net->otherwise);
}

static void doubt_statements(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    for (; net != NULL; net = net->next)
        doubt_statement(el, scope, net);
}

/* The errors that may leave a buffer without ends. */
static size_t doubt_errors(const struct elaboration *el)
{
    return diag_error_count(el->cx->diags) - el->end_errors;
}

/* ---- buffers and ports ---- */

bool array_dims(struct elaboration *el, struct scope *scope, const struct ast_expr *dims,
                struct net_buffer *buffer)
{
    buffer->total = 1;
    for (const struct ast_expr *e = dims; e != NULL; e = e->next) {
        int64_t length;
        if (!sema_integer(el->sema, scope, e, &length)) return false;
        if (length < 0) {
            diag_report(el->cx->diags, RULE_CONSTANT_RANGE, e->span,
                        "an array of buffers cannot have %" PRId64 " elements", length);
            return false;
        }
        if (__builtin_mul_overflow(buffer->total, (uint64_t)length, &buffer->total) ||
            buffer->total > ELABORATE_MAX_PARTS) {
            diag_report(el->cx->diags, RULE_TOO_LARGE, e->span, "an array of more than %d buffers",
                        ELABORATE_MAX_PARTS);
            return false;
        }
        vec_push(el->cx->arena, &buffer->dims, (uint64_t)length);
    }
    return true;
}

const char *element_name(struct elaboration *el, const struct net_buffer *buffer, uint64_t flat)
{
    const char *text = "";
    for (size_t d = buffer->dims.count; d-- > 0;) {
        uint64_t length = buffer->dims.items[d];
        text = arena_printf(el->cx->arena, "[%" PRIu64 "]%s", flat % length, text);
        flat /= length;
    }
    return arena_printf(el->cx->arena, "%s%s", buffer->name, text);
}

void declare_net(struct elaboration *el, struct scope *scope, struct net_buffer *buffer)
{
    const struct symbol *before = scope_find(scope, buffer->name);
    bool used_before = before != NULL && before->kind == SYMBOL_POISON;
    const struct symbol *declared = scope_declare(scope, (struct symbol){.kind = SYMBOL_BUFFER,
                                                                         .name = buffer->name,
                                                                         .span = buffer->span,
                                                                         .buffer = buffer});
    bool is_second = scope_find(scope, buffer->name) != declared;
    if (used_before || is_second) doubt_buffer(el, buffer);
}

static bool room_for_buffers(struct elaboration *el, struct span span, uint64_t more)
{
    if (el->graph->buffers.count + more <= ELABORATE_MAX_PARTS) return true;
    if (!el->overfull)
        diag_report(el->cx->diags, RULE_TOO_LARGE, span, "the pipeline has more than %d buffers",
                    ELABORATE_MAX_PARTS);
    el->overfull = true;
    return false;
}

/* Adds the graph's buffers for a declaration, one per element, and declares its name. */
static void add_buffers(struct elaboration *el, struct scope *scope, struct net_buffer *buffer,
                        struct graph_buffer model)
{
    if (!room_for_buffers(el, buffer->span, buffer->total)) return;
    buffer->first = (uint32_t)el->graph->buffers.count;
    for (uint64_t i = 0; i < buffer->total; i++) {
        model.name = arena_printf(el->cx->arena, "%s%s", el->prefix, element_name(el, buffer, i));
        graph_add_buffer(el->cx, el->graph, model);
    }
    declare_net(el, scope, buffer);
}

static struct graph_buffer buffer_model(struct span span, const struct type *type)
{
    return (struct graph_buffer){.span = span,
                                 .type = type,
                                 .width_bytes = type->width_bytes,
                                 .writer_node = GRAPH_NONE,
                                 .writer_output = GRAPH_NONE};
}

/* Declares a name with an error, so that uses of it are not reported. */
static void declare_refused(struct scope *scope, struct ast_name name)
{
    scope_declare(scope,
                  (struct symbol){.kind = SYMBOL_POISON, .name = name.text, .span = name.span});
}

static bool depth_attribute(struct elaboration *el, struct scope *scope,
                            const struct ast_attribute *a, struct graph_buffer *model)
{
    int64_t depth;
    if (!sema_whole(el->sema, scope, a->value, "a depth", &depth)) return false;
    if (depth < 1 || depth > ELABORATE_MAX_PACKETS) {
        diag_report(el->cx->diags, RULE_CONSTANT_RANGE, a->value->span,
                    "a depth is 1 to %" PRId64 " packets, not %" PRId64, ELABORATE_MAX_PACKETS,
                    depth);
        return false;
    }
    model->depth_declared = true;
    model->depth_packets = (uint64_t)depth;
    model->depth_span = a->value->span;
    return true;
}

bool port_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                    struct graph_buffer *model)
{
    if (is_shape_attribute(a)) return shape_attribute(el, scope, a, &model->shape);
    if (strcmp(a->name.text, "depth") == 0) return depth_attribute(el, scope, a, model);
    diag_report(el->cx->diags, RULE_UNKNOWN_ATTRIBUTE, a->name.span,
                "a port of a pipeline takes no attribute '%s', only 'depth D' and its shape: "
                "'rows W' or 'frame WxH'",
                a->name.text);
    return false;
}

void port_attributes(struct elaboration *el, struct scope *scope, const struct ast_port *port,
                     struct graph_buffer *model)
{
    for (const struct ast_attribute *a = port->attributes; a != NULL; a = a->next) {
        if (repeated_attribute(el, port->attributes, a)) continue;
        if (!port_attribute(el, scope, a, model)) el->incomplete = true;
    }
}

void declare_port(struct elaboration *el, struct scope *scope, const struct ast_port *port)
{
    struct graph_buffer declared = {0};
    port_attributes(el, scope, port, &declared);
    const struct type *type = sema_type(el->sema, scope, port->type, NULL);
    struct net_buffer *buffer = ARENA_NEW(el->cx->arena, struct net_buffer);
    *buffer = (struct net_buffer){.name = port->name.text,
                                  .span = port->name.span,
                                  .type = type,
                                  .outer = port->is_out ? GRAPH_OUTER_OUT : GRAPH_OUTER_IN};
    if (type == NULL || !array_dims(el, scope, port->dims, buffer)) {
        declare_refused(scope, port->name);
        return;
    }
    struct graph_buffer model = buffer_model(buffer->span, type);
    model.outer = buffer->outer;
    model.shape = declared.shape;
    model.depth_declared = declared.depth_declared;
    model.depth_packets = declared.depth_packets;
    model.depth_span = declared.depth_span;
    add_buffers(el, scope, buffer, model);
}

/* `init N x VALUE` */
static bool initial_repeat(struct elaboration *el, struct scope *scope,
                           const struct ast_expr *value, const struct type *type,
                           struct graph_initial *initial)
{
    int64_t packets;
    if (!sema_integer(el->sema, scope, value->left, &packets)) return false;
    if (packets < 0 || packets > ELABORATE_MAX_PACKETS) {
        diag_report(el->cx->diags, RULE_CONSTANT_RANGE, value->left->span,
                    "a buffer takes 0 to %" PRId64 " initial packets, not %" PRId64,
                    ELABORATE_MAX_PACKETS, packets);
        return false;
    }
    initial->packets = (uint64_t)packets;
    initial->values = sema_values(el->sema, scope, value->right, type, &initial->value_count);
    return initial->values != NULL;
}

/* `init {a, b, c}` */
static bool initial_list(struct elaboration *el, struct scope *scope, const struct ast_expr *value,
                         const struct type *type, struct graph_initial *initial)
{
    const struct ast_expr *list = value->arguments;
    uint64_t n = 0;
    for (; list != NULL; list = list->next)
        n++;
    initial->packets = n;
    if (initial->packets == 0) return true;
    const struct type *all = type_array(el->sema->types, type, initial->packets);
    if (all == NULL) return false;
    initial->values = sema_values(el->sema, scope, value, all, &initial->value_count);
    return initial->values != NULL;
}

/* The text of an expression that is one short word, or NULL. */
static const char *expr_word(struct elaboration *el, const struct ast_expr *e)
{
    enum { WORD_BYTES_MAX = 24 };
    const struct source *source = source_get(el->cx->sources, e->span.source);
    size_t length = e->span.end - e->span.begin;
    if (source == NULL || length > WORD_BYTES_MAX) return NULL;
    const char *word = arena_string(el->cx->arena, source->bytes + e->span.begin, length);
    return word[strcspn(word, " \t\r\n\v\f/")] == '\0' ? word : NULL;
}

/* `init 66x0`, `init 0x10`, `init 7` */
static void refuse_initial(struct elaboration *el, const struct ast_expr *value)
{
    const char *word = expr_word(el, value);
    const struct ast_expr *first = value->arguments;
    if (value->kind == AST_EXPR_INTEGER && word != NULL && word[strlen(word) - 1] == 'x')
        return; /* `66x`: the lexer has reported it */
    struct diag *d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, value->span,
                                 "initial packets are a list, or a count and a value");
    if (value->kind == AST_EXPR_DIMENSIONS && first->next->next == NULL) {
        diag_primary(d, "without blanks, the dimensions of a frame");
        diag_help(d, "write 'init %" PRIu64 " x %" PRIu64 "', with blanks around the x",
                  first->integer.value, first->next->integer.value);
        return;
    }
    if (value->kind == AST_EXPR_INTEGER && word != NULL && strncmp(word, "0x", 2) == 0)
        diag_primary(d, "one hexadecimal number");
    else if (value->kind == AST_EXPR_NAME && word != NULL && word[0] == 'x')
        diag_primary(d, "one name: the count before the x is missing");
    else
        diag_primary(d, "one value");
    if (word != NULL)
        diag_help(d, "write 'init {%s}' for one packet, 'init N x %s' for N of them", word, word);
    else
        diag_help(d, "write 'init {1, 2, 3}', or 'init 8 x 0' for 8 packets of 0");
}

void unknown_attribute(struct elaboration *el, const struct ast_attribute *a, const char *of,
                       const char *const *known, size_t count)
{
    struct diag *d = diag_report(el->cx->diags, RULE_UNKNOWN_ATTRIBUTE, a->name.span,
                                 "%s has no attribute '%s'", of, a->name.text);
    const char *nearest = nearest_name(a->name.text, known, count);
    if (nearest != NULL) diag_suggest(d, a->name.span, nearest);
}

bool repeated_attribute(struct elaboration *el, const struct ast_attribute *first,
                        const struct ast_attribute *a)
{
    for (const struct ast_attribute *e = first; e != a; e = e->next) {
        if (e->name.text != a->name.text) continue;
        struct diag *d = diag_report(el->cx->diags, RULE_DUPLICATE_NAME, a->span,
                                     "'%s' is given twice", a->name.text);
        diag_label(d, e->span, "the first time");
        return true;
    }
    return false;
}

bool buffer_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                      const struct type *type, struct graph_buffer *model)
{
    static const char *const known[] = {"depth", "init", "rows", "frame"};
    if (strcmp(a->name.text, "depth") == 0) return depth_attribute(el, scope, a, model);
    if (strcmp(a->name.text, "init") == 0) {
        model->initial.span = a->span;
        if (a->value->kind == AST_EXPR_REPEAT)
            return initial_repeat(el, scope, a->value, type, &model->initial);
        if (a->value->kind == AST_EXPR_BRACES)
            return initial_list(el, scope, a->value, type, &model->initial);
        refuse_initial(el, a->value);
        return false;
    }
    if (is_shape_attribute(a)) return shape_attribute(el, scope, a, &model->shape);
    unknown_attribute(el, a, "a buffer", known, 4);
    return false;
}

/* The span of `[16]` after the name. */
static struct span bracket_span(const struct elaboration *el, const struct ast_buffer *ast)
{
    const struct ast_expr *length = ast->dims;
    if (length == NULL || length->kind != AST_EXPR_INTEGER || length->next != NULL)
        return (struct span){0};
    const struct source *source = source_get(el->cx->sources, length->span.source);
    struct span span = {length->span.source, ast->name.span.end, length->span.end + 1};
    bool whole = source->bytes[span.begin] == '[' && span.begin + 1 == length->span.begin &&
                 source->bytes[span.end - 1] == ']';
    return whole ? span : (struct span){0};
}

void declare_buffer(struct elaboration *el, struct scope *scope, const struct type *type,
                    const struct ast_buffer *ast)
{
    struct net_buffer *buffer = ARENA_NEW(el->cx->arena, struct net_buffer);
    *buffer = (struct net_buffer){.name = ast->name.text, .span = ast->name.span, .type = type};
    if (!array_dims(el, scope, ast->dims, buffer)) {
        declare_refused(scope, ast->name);
        return;
    }
    buffer->dims_span = bracket_span(el, ast);
    struct graph_buffer model = buffer_model(buffer->span, type);
    for (const struct ast_attribute *a = ast->attributes; a != NULL; a = a->next)
        if (repeated_attribute(el, ast->attributes, a) ||
            !buffer_attribute(el, scope, a, type, &model))
            el->incomplete = true;
    add_buffers(el, scope, buffer, model);
}

/* ---- compile-time statements ---- */

static struct symbol *loop_integer(struct elaboration *el, struct scope *scope,
                                   const struct ast_expr *target)
{
    if (target->kind != AST_EXPR_NAME) {
        diag_report(el->cx->diags, RULE_NOT_ASSIGNABLE, target->span,
                    "a loop of a pipeline counts with a variable of type int");
        return NULL;
    }
    struct symbol *symbol = scope_lookup(scope, target->name, "variable");
    if (symbol == NULL || (symbol->kind == SYMBOL_INTEGER && symbol->buffer == &el->loop_mark))
        return symbol;
    struct diag *d = diag_report(el->cx->diags, RULE_NOT_ASSIGNABLE, target->span,
                                 "'%s' is not a variable of a loop", target->name.text);
    diag_label(d, symbol->span, "declared here");
    return NULL;
}

static bool apply_integer(enum ast_operator op, int64_t left, int64_t right, int64_t *out)
{
    switch (op) {
    case AST_OP_NONE: *out = right; return true;
    case AST_OP_ADD: return !__builtin_add_overflow(left, right, out);
    case AST_OP_SUB: return !__builtin_sub_overflow(left, right, out);
    case AST_OP_MUL: return !__builtin_mul_overflow(left, right, out);
    case AST_OP_DIV:
        if (right == 0 || (left == INT64_MIN && right == -1)) return false;
        *out = left / right;
        return true;
    case AST_OP_SHL:
        if (right < 0 || right > 62) return false;
        return !__builtin_mul_overflow(left, (int64_t)1 << right, out);
    case AST_OP_SHR:
        if (right < 0 || right > 62) return false;
        *out = left >> right;
        return true;
    default: return false;
    }
}

static bool run_step(struct elaboration *el, struct scope *scope, const struct ast_expr *e)
{
    if (e == NULL) return true;
    if (e->kind == AST_EXPR_COMMA)
        return run_step(el, scope, e->left) && run_step(el, scope, e->right);
    if (e->kind == AST_EXPR_ASSIGN || e->kind == AST_EXPR_INCREMENT) {
        struct symbol *symbol = loop_integer(el, scope, e->left);
        int64_t right = 1;
        if (symbol == NULL) return false;
        if (e->kind == AST_EXPR_ASSIGN && !sema_integer(el->sema, scope, e->right, &right))
            return false;
        if (apply_integer(e->op, symbol->integer, right, &symbol->integer)) return true;
        diag_report(el->cx->diags, RULE_CONSTANT_RANGE, e->span,
                    "the loop variable '%s' cannot be stepped this way", symbol->name);
        return false;
    }
    diag_report(el->cx->diags, RULE_MISPLACED_STATEMENT, e->span, "this does not step a loop");
    return false;
}

static bool declare_loop_variables(struct elaboration *el, struct scope *scope,
                                   const struct ast_net *net)
{
    if (net->type->kind != AST_TYPE_INT) {
        struct diag *d =
            diag_report(el->cx->diags, RULE_TYPE_MISMATCH, net->type->span,
                        "loops of a pipeline run when compiling: their variables are int");
        diag_help(d, "write 'int' in place of '%s'", net->type->name.text);
        diag_fix(d, net->type->name.span, "int");
        return false;
    }
    for (const struct ast_declarator *v = net->declarators; v != NULL; v = v->next) {
        int64_t value = 0;
        if (v->init != NULL && !sema_integer(el->sema, scope, v->init, &value)) return false;
        scope_declare(scope, (struct symbol){.kind = SYMBOL_INTEGER,
                                             .name = v->name.text,
                                             .span = v->name.span,
                                             .integer = value,
                                             .buffer = &el->loop_mark});
    }
    return true;
}

static bool loop_goes_on(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    bool go = true;
    if (net->condition != NULL && !sema_condition(el->sema, scope, net->condition, &go)) {
        doubt_statement(el, scope, net);
        return false;
    }
    if (!go || el->overfull) return false;
    if (++el->steps <= ELABORATE_MAX_STEPS) return true;
    if (el->steps == ELABORATE_MAX_STEPS + 1)
        diag_report(el->cx->diags, RULE_TOO_LARGE, net->span,
                    "the loops of this pipeline run for more than %d rounds", ELABORATE_MAX_STEPS);
    return false;
}

/* True if the statements may declare names. Only then a round of a loop needs a scope, which costs
 * memory. */
static bool may_declare(const struct ast_net *net)
{
    for (; net != NULL; net = net->next)
        if (net->kind != AST_NET_EMPTY && net->kind != AST_NET_FOR && net->kind != AST_NET_IF &&
            net->kind != AST_NET_BLOCK)
            return true;
    return false;
}

static void elaborate_for(struct elaboration *el, struct scope *outer, const struct ast_net *net)
{
    struct scope *scope = scope_create(el->cx, outer);
    bool begins = net->type != NULL ? declare_loop_variables(el, scope, net)
                                    : run_step(el, scope, net->init_expr);
    if (!begins) {
        doubt_statement(el, scope, net);
        return;
    }
    const char *variable =
        net->type != NULL && net->declarators != NULL ? net->declarators->name.text : NULL;
    const struct loop_round *outer_round = el->round;
    size_t errors = diag_error_count(el->cx->diags);
    bool declares = may_declare(net->body);
    while (loop_goes_on(el, scope, net)) {
        struct loop_round round = {.outer = outer_round};
        if (variable != NULL) {
            round.value = scope_find(scope, variable)->integer;
            el->round = &round;
        }
        elaborate_statements(el, declares ? scope_create(el->cx, scope) : scope, net->body);
        el->round = outer_round;
        if (diag_error_count(el->cx->diags) == errors && run_step(el, scope, net->step)) continue;
        doubt_statement(el, scope, net);
        break;
    }
}

static void elaborate_if(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    bool taken;
    if (!sema_condition(el->sema, scope, net->condition, &taken))
        doubt_statement(el, scope, net);
    else if (taken)
        elaborate_statements(el, scope_create(el->cx, scope), net->body);
    else if (net->otherwise != NULL)
        elaborate_statements(el, scope_create(el->cx, scope), net->otherwise);
}

static void elaborate_bindings(struct elaboration *el, struct scope *scope,
                               const struct ast_net *net)
{
    bool incomplete = el->incomplete;
    size_t errors = doubt_errors(el);
    el->incomplete = false;
    elaborate_chain(el, scope, net);
    if (el->incomplete || doubt_errors(el) != errors) doubt_statement(el, scope, net);
    el->incomplete |= incomplete;
}

void elaborate_statements(struct elaboration *el, struct scope *scope, const struct ast_net *net)
{
    for (; net != NULL && !el->overfull; net = net->next) {
        const struct type *type;
        switch (net->kind) {
        case AST_NET_BLOCK: elaborate_statements(el, scope_create(el->cx, scope), net->body); break;
        case AST_NET_BUFFER:
            type = sema_type(el->sema, scope, net->type, NULL);
            if (type == NULL) el->incomplete = true;
            for (const struct ast_buffer *b = net->buffers; b != NULL; b = b->next)
                if (type != NULL)
                    declare_buffer(el, scope, type, b);
                else
                    declare_refused(scope, b->name);
            break;
        case AST_NET_CONST:
            sema_const_declaration(el->sema, scope, net->type, net->declarators);
            break;
        case AST_NET_CHAIN: elaborate_bindings(el, scope, net); break;
        case AST_NET_FOR: elaborate_for(el, scope, net); break;
        case AST_NET_IF: elaborate_if(el, scope, net); break;
        case AST_NET_EMPTY: break;
        case AST_NET_ERROR: el->incomplete = el->all_doubtful = true; break;
        }
    }
}

/* ---- attributes of the pipeline ---- */

bool policy_attribute(struct elaboration *el, const struct ast_attribute *a, enum graph_policy *out)
{
    static const enum graph_policy policies[] = {POLICY_AUTO, POLICY_ROUND_ROBIN, POLICY_PRIORITY,
                                                 POLICY_FULLEST};
    const char *names[4];
    const char *policy = a->value->kind == AST_EXPR_NAME ? a->value->name.text : "";
    for (size_t i = 0; i < 4; i++) {
        names[i] = graph_policy_name(policies[i]);
        if (strcmp(policy, names[i]) != 0) continue;
        *out = policies[i];
        return true;
    }
    struct diag *d = diag_report(el->cx->diags, RULE_UNKNOWN_NAME, a->value->span,
                                 "a policy is auto, round_robin, priority or fullest");
    const char *nearest = nearest_name(policy, names, 4);
    if (nearest != NULL) diag_suggest(d, a->value->span, nearest);
    return false;
}

void pipeline_attributes(struct elaboration *el, const struct ast_signature *signature)
{
    static const char *const known[] = {"policy"};
    for (const struct ast_attribute *a = signature->attributes; a != NULL; a = a->next) {
        if (repeated_attribute(el, signature->attributes, a)) continue;
        if (strcmp(a->name.text, "policy") == 0)
            policy_attribute(el, a, &el->graph->policy);
        else
            unknown_attribute(el, a, "a pipeline", known, 1);
    }
}

/* ---- the ends of every buffer ---- */

enum lacking { LACKS_NOTHING, LACKS_WRITER, LACKS_READERS, LACKS_BOTH, LACKING_COUNT };

static enum lacking lacking_ends(const struct graph_buffer *b)
{
    bool written = b->writer_node != GRAPH_NONE || b->outer == GRAPH_OUTER_IN;
    bool read = b->readers.count > 0 || b->outer == GRAPH_OUTER_OUT;
    return (written ? LACKS_NOTHING : LACKS_WRITER) | (read ? LACKS_NOTHING : LACKS_READERS);
}

/* One declaration's buffers that lack the same; the first one stands for all. */
struct lacking_buffers {
    const struct graph_buffer *first;
    const char *names;
    bool several;
};

static void report_ports(struct elaboration *el, const struct lacking_buffers *b)
{
    bool is_in = b->first->outer == GRAPH_OUTER_IN;
    diag_report(el->cx->diags, is_in ? RULE_NO_CONSUMER : RULE_NO_PRODUCER, b->first->span,
                "%s-port%s %s %s %s by nothing", is_in ? "in" : "out", b->several ? "s" : "",
                b->names, b->several ? "are" : "is", is_in ? "read" : "written");
}

static void report_unwritten(struct elaboration *el, const struct lacking_buffers *b)
{
    const struct graph_reader *r = &b->first->readers.items[0];
    const struct graph_node *n = &el->graph->nodes.items[r->node];
    struct diag *d =
        diag_report(el->cx->diags, RULE_NO_PRODUCER, b->first->span,
                    b->several ? "buffers %s have no producer: their readers would wait forever"
                               : "buffer %s has no producer: its readers would wait forever",
                    b->names);
    diag_label(d, n->inputs.items[r->input].span, "'%s' reads it here", n->name);
    diag_help(d, "bind the out-port of a kernel to '%s', or make it an in-port of the pipeline",
              b->first->name);
}

static void report_unread(struct elaboration *el, const struct lacking_buffers *b)
{
    const struct graph_node *n = &el->graph->nodes.items[b->first->writer_node];
    struct diag *d = diag_report(
        el->cx->diags, RULE_NO_CONSUMER, b->first->span,
        b->several ? "buffers %s have no consumer: their writers would stop when they are full"
                   : "buffer %s has no consumer: its writer would stop when it is full",
        b->names);
    diag_label(d, n->outputs.items[b->first->writer_output].span, "'%s' writes it here", n->name);
    diag_help(d, "to drop its packets, write it to 'discard' of std/streams.pipe: %s -> discard;",
              b->first->name);
}

static void report_unbound(struct elaboration *el, const struct lacking_buffers *b)
{
    struct diag *d =
        diag_report(el->cx->diags, RULE_UNUSED_BUFFER, b->first->span,
                    "no kernel is bound to buffer%s %s", b->several ? "s" : "", b->names);
    diag_help(d, b->several ? "remove them" : "remove it");
}

/* Of the `count` buffers of one declaration, those that lack this. */
static void check_ends(struct elaboration *el, const struct graph_buffer *declared, size_t count,
                       const bool *doubtful, enum lacking lacking)
{
    struct lacking_buffers lack = {0};
    const char **names = ARENA_ARRAY(el->cx->arena, const char *, count);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (doubtful[i] || lacking_ends(&declared[i]) != lacking) continue;
        if (found == 0) lack.first = &declared[i];
        names[found++] = declared[i].name;
    }
    if (found == 0) return;
    lack.names = sema_list_names(el->cx, names, found);
    lack.several = found > 1;
    if (declared->outer != GRAPH_INNER)
        report_ports(el, &lack);
    else if (lacking == LACKS_WRITER)
        report_unwritten(el, &lack);
    else if (lacking == LACKS_READERS)
        report_unread(el, &lack);
    else
        report_unbound(el, &lack);
}

static bool declared_together(const struct graph_buffer *a, const struct graph_buffer *b)
{
    return a->span.source == b->span.source && a->span.begin == b->span.begin;
}

void check_all_ends(struct elaboration *el)
{
    const struct graph_buffer *buffers = el->graph->buffers.items;
    size_t count = el->graph->buffers.count, next;
    if (el->overfull || el->all_doubtful) return;
    bool *doubtful = ARENA_ARRAY(el->cx->arena, bool, count + 1);
    for (size_t i = 0; i < el->doubtful.count; i++)
        doubtful[el->doubtful.items[i]] = true;
    for (size_t i = 0; i < count; i = next) {
        bool whole = true;
        for (next = i; next < count && declared_together(&buffers[next], &buffers[i]); next++)
            whole &= doubtful[next] || lacking_ends(&buffers[next]) == LACKS_NOTHING;
        for (enum lacking l = LACKS_WRITER; !whole && l < LACKING_COUNT; l++)
            check_ends(el, &buffers[i], next - i, &doubtful[i], l);
    }
}

/* Declares the parameters with the values of `<...>`, evaluated in `from`, or of -D. */
static bool outer_parameters(struct elaboration *el, struct scope *from, struct scope *to,
                             const struct ast_signature *signature, const struct ast_node *instance)
{
    static const struct bound_ports nothing = {0};
    size_t count;
    if (signature->type_params == NULL && (instance == NULL || instance->type_arguments == NULL))
        return true;
    const struct compile_argument *values =
        instance == NULL ? defined_parameters(el, to, signature, &count)
                         : elaborate_parameters(el, from, instance, signature, &nothing, &count);
    return values != NULL && sema_declare_parameters(el->sema, to, signature, values, count);
}

static void elaborate_whole(struct elaboration *el, struct scope *scope, struct scope *outside,
                            const struct ast_item *pipeline, const struct ast_node *parameters)
{
    struct graph *graph = el->graph;
    struct diags *diags = el->cx->diags;
    if (el->is_top) check_definitions(el);
    if (!outer_parameters(el, scope, outside, &pipeline->signature, parameters)) return;
    const struct ast_signature *signature = &pipeline->signature;
    uint64_t arguments_bytes = 0;
    for (const struct ast_param *p = signature->params; p != NULL; p = p->next)
        declare_argument(el, outside, p, &arguments_bytes);
    for (const struct ast_port *p = signature->ports; p != NULL; p = p->next)
        declare_port(el, outside, p);
    bind_properties(el, outside);
    pipeline_attributes(el, signature);
    if (pipeline->net != NULL)
        elaborate_statements(el, scope_create(el->cx, outside), pipeline->net->body);
    check_all_ends(el);
    if (graph->nodes.count == 0 && !el->incomplete && !diag_failed(diags))
        diag_report(diags, RULE_NO_PIPELINE, graph->span, "pipeline '%s' has no kernels",
                    graph->name);
}

struct graph *sema_elaborate_pipeline(struct sema *sema, const struct ast_item *pipeline,
                                      struct scope *scope, const struct ast_node *parameters,
                                      bool is_top)
{
    struct graph *graph = ARENA_NEW(sema->cx->arena, struct graph);
    const struct ast_signature *signature = &pipeline->signature;
    graph->name = signature->name.text;
    graph->span = signature->name.span;
    graph->types = sema->types;
    struct elaboration el = {.cx = sema->cx,
                             .sema = sema,
                             .graph = graph,
                             .frame = &(struct frame){.pipeline = pipeline, .span = graph->span},
                             .prefix = "",
                             .is_top = is_top};
    struct scope *outside = scope_create(sema->cx, sema_scope_at(sema, graph->span));
    struct diags *all = sema->cx->diags;
    struct diags *own = sema->cx->diags = diags_fork(sema->cx->arena, all);
    elaborate_whole(&el, scope, outside, pipeline, parameters);
    bool failed = diag_failed(own) || el.incomplete;
    sema->cx->diags = all;
    diag_take(all, own);
    return failed ? NULL : graph;
}
