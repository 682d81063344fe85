/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/ast_build.h"

#include <string.h>

#include "compiler/syntax/token_stream.h"

#define NEW(type) ARENA_NEW(ps->cx->arena, type)

void ast_too_deep(struct parser *ps, struct span at)
{
    if (!ps->stopped)
        diag_report(ps->cx->diags, RULE_TOO_DEEP, at, "nesting is deeper than %d levels",
                    AST_DEPTH_MAX);
    ps->stopped = true;
    if (ps->file != NULL) ps->file->names_missing = true;
}

/* ---- types and declarators ---- */

struct ast_type *ast_type_with_dims(struct ast_type *type, struct span span, struct ast_expr *dims)
{
    type->dims = dims;
    type->span = span;
    return type;
}

struct ast_type *ast_type_named(struct parser *ps, struct span span, struct ast_name name,
                                struct ast_expr *dims)
{
    struct ast_type *type = NEW(struct ast_type);
    type->kind = AST_TYPE_NAMED;
    type->lanes = 1;
    type->name = name;
    return ast_type_with_dims(type, span, dims);
}

struct ast_type *ast_type_of_expr(struct parser *ps, struct ast_expr *expr)
{
    struct ast_expr *dims = NULL, *at = expr;
    while (at->kind == AST_EXPR_INDEX && !at->parenthesised) {
        at->right->next = dims;
        dims = at->right;
        at = at->left;
    }
    struct ast_name name = at->name;
    if (at->kind != AST_EXPR_NAME || at->parenthesised) {
        name = (struct ast_name){intern_string(ps->cx->names, "?"), at->span};
        if (!ps->stopped)
            diag_report(ps->cx->diags, RULE_SYNTAX, expr->span,
                        "expected a type at the beginning of a declaration");
    }
    return ast_type_named(ps, expr->span, name, dims);
}

struct ast_declarator *ast_declarator(struct parser *ps, struct span span, struct ast_name name,
                                      struct ast_expr *dims, struct ast_expr *init)
{
    struct ast_declarator *declarator = NEW(struct ast_declarator);
    *declarator = (struct ast_declarator){.name = name, .dims = dims, .init = init, .span = span};
    return declarator;
}

/* ---- expressions ---- */

struct ast_expr *ast_expr(struct parser *ps, enum ast_expr_kind kind, struct span span)
{
    struct ast_expr *expr = NEW(struct ast_expr);
    expr->kind = kind;
    expr->span = span;
    expr->depth = 1;
    return expr;
}

static uint32_t deeper_depth(uint32_t depth, const struct ast_expr *child)
{
    return child && child->depth > depth ? child->depth : depth;
}

static uint32_t deepest_expr(uint32_t depth, const struct ast_expr *list)
{
    for (; list; list = list->next)
        depth = deeper_depth(depth, list);
    return depth;
}

/* Computes the depth of a node whose children are set; beyond the limit the result is a leaf
 * instead. */
static struct ast_expr *finish_expr(struct parser *ps, struct ast_expr *expr)
{
    uint32_t depth = deepest_expr(0, expr->arguments);
    if (expr->type) depth = deepest_expr(depth, expr->type->dims);
    depth = deeper_depth(deeper_depth(deeper_depth(depth, expr->left), expr->right), expr->third);
    expr->depth = depth + 1;
    if (expr->depth <= AST_DEPTH_MAX) return expr;
    ast_too_deep(ps, expr->op_span.source ? expr->op_span : expr->span);
    return ast_expr(ps, AST_EXPR_INTEGER, expr->span);
}

struct ast_expr *ast_name_expr(struct parser *ps, struct ast_name name)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_NAME, name.span);
    expr->name = name;
    return expr;
}

static struct ast_expr *operation_expr(struct parser *ps, enum ast_expr_kind kind, struct span span,
                                       struct span op_span, enum ast_operator op,
                                       struct ast_expr *left, struct ast_expr *right)
{
    struct ast_expr *expr = ast_expr(ps, kind, span);
    expr->op = op;
    expr->op_span = op_span;
    expr->left = left;
    expr->right = right;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_unary(struct parser *ps, struct span span, struct span op_span,
                           enum ast_operator op, struct ast_expr *operand)
{
    return operation_expr(ps, AST_EXPR_UNARY, span, op_span, op, operand, NULL);
}

struct ast_expr *ast_binary(struct parser *ps, struct span span, struct span op_span,
                            enum ast_operator op, struct ast_expr *left, struct ast_expr *right)
{
    return operation_expr(ps, AST_EXPR_BINARY, span, op_span, op, left, right);
}

struct ast_expr *ast_assign(struct parser *ps, struct span span, struct span op_span,
                            enum ast_operator op, struct ast_expr *left, struct ast_expr *right)
{
    return operation_expr(ps, AST_EXPR_ASSIGN, span, op_span, op, left, right);
}

struct ast_expr *ast_increment(struct parser *ps, struct span span, struct span op_span,
                               enum ast_operator op, struct ast_expr *operand, bool postfix)
{
    struct ast_expr *expr =
        operation_expr(ps, AST_EXPR_INCREMENT, span, op_span, op, operand, NULL);
    expr->postfix = postfix;
    return expr;
}

struct ast_expr *ast_conditional(struct parser *ps, struct span span, struct span op_span,
                                 struct ast_expr *condition, struct ast_expr *yes,
                                 struct ast_expr *no)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_CONDITIONAL, span);
    expr->op_span = op_span;
    expr->left = condition;
    expr->right = yes;
    expr->third = no;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_pair(struct parser *ps, enum ast_expr_kind kind, struct span span,
                          struct span op_span, struct ast_expr *left, struct ast_expr *right)
{
    return operation_expr(ps, kind, span, op_span, AST_OP_NONE, left, right);
}

struct ast_expr *ast_member(struct parser *ps, struct span span, struct span op_span,
                            struct ast_expr *left, struct ast_name name)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_MEMBER, span);
    expr->op_span = op_span;
    expr->left = left;
    expr->name = name;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_call(struct parser *ps, struct span span, struct ast_name name,
                          struct ast_expr *arguments)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_CALL, span);
    expr->name = name;
    expr->arguments = arguments;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_construct(struct parser *ps, struct span span, struct ast_type *type,
                               struct ast_expr *arguments)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_CONSTRUCT, span);
    expr->type = type;
    expr->arguments = arguments;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_cast(struct parser *ps, struct span span, struct span op_span,
                          struct ast_type *type, struct ast_expr *operand)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_CAST, span);
    expr->op_span = op_span;
    expr->type = type;
    expr->left = operand;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_list(struct parser *ps, enum ast_expr_kind kind, struct span span,
                          struct ast_expr *arguments)
{
    struct ast_expr *expr = ast_expr(ps, kind, span);
    expr->arguments = arguments;
    return finish_expr(ps, expr);
}

struct ast_expr *ast_field_value(struct parser *ps, struct span span, struct ast_name name,
                                 struct ast_expr *value)
{
    struct ast_expr *expr = ast_expr(ps, AST_EXPR_FIELD, span);
    expr->name = name;
    expr->left = value;
    return finish_expr(ps, expr);
}

/* ---- statements of bodies ---- */

static struct ast_stmt *finish_stmt(struct parser *ps, struct ast_stmt *stmt)
{
    uint32_t depth = stmt->otherwise ? stmt->otherwise->depth : 0;
    for (const struct ast_stmt *child = stmt->body; child; child = child->next)
        if (child->depth > depth) depth = child->depth;
    stmt->depth = depth + 1;
    if (stmt->depth <= AST_DEPTH_MAX) return stmt;
    ast_too_deep(ps, (struct span){stmt->span.source, stmt->span.begin, stmt->span.begin + 1});
    struct ast_stmt *leaf = NEW(struct ast_stmt);
    *leaf = (struct ast_stmt){.kind = AST_STMT_ERROR, .span = stmt->span, .depth = 1};
    return leaf;
}

static struct ast_stmt *new_stmt(struct parser *ps, enum ast_stmt_kind kind, struct span span)
{
    struct ast_stmt *stmt = NEW(struct ast_stmt);
    stmt->kind = kind;
    stmt->span = span;
    stmt->depth = 1;
    return stmt;
}

struct ast_stmt *ast_stmt(struct parser *ps, enum ast_stmt_kind kind, struct span span,
                          struct ast_expr *expr, struct ast_stmt *body)
{
    struct ast_stmt *stmt = new_stmt(ps, kind, span);
    stmt->expr = expr;
    stmt->body = body;
    return finish_stmt(ps, stmt);
}

struct ast_stmt *ast_block(struct parser *ps, struct span span, struct ast_stmt *body,
                           struct span end)
{
    struct ast_stmt *stmt = ast_stmt(ps, AST_STMT_BLOCK, span, NULL, body);
    stmt->end = end;
    return stmt;
}

struct ast_stmt *ast_declare(struct parser *ps, struct span span, enum ast_qualifier qualifier,
                             struct ast_type *type, struct ast_declarator *declarators)
{
    struct ast_stmt *stmt = new_stmt(ps, AST_STMT_DECLARE, span);
    stmt->qualifier = qualifier;
    stmt->type = type;
    stmt->declarators = declarators;
    return stmt;
}

struct ast_stmt *ast_emit(struct parser *ps, struct span span, struct ast_expr *target,
                          struct ast_expr *value)
{
    struct ast_stmt *stmt = new_stmt(ps, AST_STMT_EMIT, span);
    stmt->target = target;
    stmt->expr = value;
    return stmt;
}

struct ast_stmt *ast_if(struct parser *ps, struct span span, struct ast_expr *condition,
                        struct ast_stmt *yes, struct ast_stmt *no)
{
    struct ast_stmt *stmt = new_stmt(ps, AST_STMT_IF, span);
    stmt->expr = condition;
    stmt->body = yes;
    stmt->otherwise = no;
    return finish_stmt(ps, stmt);
}

struct ast_stmt *ast_for(struct parser *ps, struct span span, struct ast_stmt *init,
                         struct ast_expr *condition, struct ast_expr *step, struct ast_stmt *body)
{
    struct ast_stmt *stmt = new_stmt(ps, AST_STMT_FOR, span);
    stmt->init = init;
    stmt->expr = condition;
    stmt->step = step;
    stmt->body = body;
    return finish_stmt(ps, stmt);
}

struct ast_child *ast_child_kernel(struct parser *ps, const struct ast_node *kernel)
{
    struct ast_child *child = NEW(struct ast_child);
    child->kernel = kernel->name;
    child->type_arguments = kernel->type_arguments;
    child->span = kernel->span;
    return child;
}

struct ast_child *ast_child_choice(struct parser *ps, struct span span, struct ast_expr *condition,
                                   struct ast_child *yes, struct ast_child *no)
{
    struct ast_child *child = NEW(struct ast_child);
    child->condition = condition;
    child->yes = yes;
    child->no = no;
    child->span = span;
    return child;
}

struct ast_launch *ast_launch_clause(struct parser *ps, struct ast_launch *before,
                                     struct ast_name word, struct ast_expr *arguments)
{
    struct ast_launch *launch = before ? before : NEW(struct ast_launch);
    struct ast_clause *clause = strcmp(word.text, "groups") == 0 ? &launch->groups
                                : strcmp(word.text, "from") == 0 ? &launch->from
                                                                 : &launch->order;
    if (!clause->word.text)
        *clause = (struct ast_clause){word, arguments};
    else if (!launch->repeated.text)
        launch->repeated = word;
    return launch;
}

struct ast_launch *ast_launch(struct parser *ps, struct ast_child *child,
                              struct ast_expr *arguments, struct ast_launch *order)
{
    struct ast_launch *launch = order ? order : NEW(struct ast_launch);
    launch->child = child;
    launch->arguments = arguments;
    return launch;
}

struct ast_stmt *ast_launch_stmt(struct parser *ps, struct span span, struct ast_launch *launch)
{
    struct ast_stmt *stmt = new_stmt(ps, AST_STMT_LAUNCH, span);
    stmt->launch = launch;
    return stmt;
}

struct ast_stmt *ast_event_launch(struct parser *ps, struct span span, struct ast_expr *type,
                                  struct ast_declarator *event, struct ast_launch *launch)
{
    struct ast_stmt *stmt = ast_launch_stmt(ps, span, launch);
    launch->event = event->name;
    stmt->type = ast_type_of_expr(ps, type);
    stmt->declarators = event;
    return stmt;
}

/* ---- signatures ---- */

struct ast_type_param *ast_type_param(struct parser *ps, struct ast_type *type,
                                      struct ast_name name)
{
    struct ast_type_param *param = NEW(struct ast_type_param);
    param->is_type = !type;
    param->type = type;
    param->name = name;
    return param;
}

struct ast_port *ast_port(struct parser *ps, struct span span, bool is_out, struct ast_type *type,
                          struct ast_name name, struct ast_expr *dims,
                          struct ast_attribute *attributes)
{
    struct ast_port *port = NEW(struct ast_port);
    *port = (struct ast_port){.is_out = is_out,
                              .type = type,
                              .name = name,
                              .dims = dims,
                              .attributes = attributes,
                              .span = span};
    return port;
}

struct ast_param *ast_param(struct parser *ps, struct span span, struct ast_type *type,
                            const struct ast_declarator *declarator)
{
    struct ast_param *param = NEW(struct ast_param);
    *param = (struct ast_param){.type = type,
                                .name = declarator->name,
                                .dims = declarator->dims,
                                .value = declarator->init,
                                .span = span};
    return param;
}

struct ast_signature *ast_signature(struct parser *ps, struct span span, struct ast_name name,
                                    struct ast_type_param *type_params, struct ast_port *ports,
                                    struct ast_param *params, struct ast_attribute *attributes)
{
    struct ast_signature *signature = NEW(struct ast_signature);
    *signature = (struct ast_signature){.name = name,
                                        .type_params = type_params,
                                        .ports = ports,
                                        .params = params,
                                        .attributes = attributes,
                                        .span = span};
    return signature;
}

/* `a x b x c` was read as a left-deep chain of REPEAT; its operands in order. */
static struct ast_expr *repeat_operands(struct ast_expr *chain)
{
    struct ast_expr *operands = NULL;
    while (chain->kind == AST_EXPR_REPEAT) {
        chain->right->next = operands;
        operands = chain->right;
        chain = chain->left;
    }
    chain->next = operands;
    return chain;
}

struct ast_attribute *ast_attribute(struct parser *ps, struct span span, struct ast_name name,
                                    struct ast_expr *value, struct ast_name of)
{
    struct ast_attribute *attribute = NEW(struct ast_attribute);
    if (value->kind == AST_EXPR_REPEAT && strcmp(name.text, "init") != 0)
        value = ast_list(ps, AST_EXPR_DIMENSIONS, value->span, repeat_operands(value));
    *attribute = (struct ast_attribute){.name = name, .value = value, .of = of, .span = span};
    return attribute;
}

/* ---- pipelines ---- */

struct ast_node *ast_node(struct parser *ps, struct span span, struct ast_name name)
{
    struct ast_node *node = NEW(struct ast_node);
    node->name = name;
    node->span = span;
    return node;
}

struct ast_node *ast_call_part(struct parser *ps, struct span span, bool has_arrow,
                               struct ast_expr *inputs, struct ast_expr *outputs,
                               struct ast_expr *arguments)
{
    struct ast_node *node = ast_node(ps, span, (struct ast_name){0});
    node->has_arrow = has_arrow;
    node->inputs = inputs;
    node->outputs = outputs;
    node->arguments = arguments;
    return node;
}

struct ast_node *ast_element(struct span span, struct ast_node *node, const struct ast_node *call,
                             struct ast_attribute *attributes)
{
    node->has_call = true;
    node->has_arrow = call->has_arrow;
    node->inputs = call->inputs;
    node->outputs = call->outputs;
    node->arguments = call->arguments;
    node->attributes = attributes;
    node->span = span;
    return node;
}

struct ast_buffer *ast_buffer(struct parser *ps, struct span span, struct ast_name name,
                              struct ast_expr *dims, struct ast_attribute *attributes)
{
    struct ast_buffer *buffer = NEW(struct ast_buffer);
    *buffer =
        (struct ast_buffer){.name = name, .dims = dims, .attributes = attributes, .span = span};
    return buffer;
}

static struct ast_net *finish_net(struct parser *ps, struct ast_net *net)
{
    uint32_t depth = net->otherwise ? net->otherwise->depth : 0;
    for (const struct ast_net *child = net->body; child; child = child->next)
        if (child->depth > depth) depth = child->depth;
    net->depth = depth + 1;
    if (net->depth <= AST_DEPTH_MAX) return net;
    ast_too_deep(ps, (struct span){net->span.source, net->span.begin, net->span.begin + 1});
    struct ast_net *leaf = NEW(struct ast_net);
    *leaf = (struct ast_net){.kind = AST_NET_ERROR, .span = net->span, .depth = 1};
    return leaf;
}

struct ast_net *ast_net(struct parser *ps, enum ast_net_kind kind, struct span span,
                        struct ast_net *body, struct ast_net *otherwise)
{
    struct ast_net *net = NEW(struct ast_net);
    net->kind = kind;
    net->span = span;
    net->body = body;
    net->otherwise = otherwise;
    return finish_net(ps, net);
}

struct ast_net *ast_net_for(struct parser *ps, struct span span, struct ast_net *net,
                            struct ast_expr *condition, struct ast_expr *step, struct ast_net *body)
{
    net->span = span;
    net->condition = condition;
    net->step = step;
    net->body = body;
    return finish_net(ps, net);
}

/* ---- tests ---- */

struct ast_check *ast_check(struct parser *ps, enum ast_check_kind kind, struct span span,
                            struct ast_expr *value)
{
    struct ast_check *check = NEW(struct ast_check);
    check->kind = kind;
    check->span = span;
    check->value = value;
    return check;
}

struct ast_check *ast_expect(struct span span, struct ast_check *check, struct ast_expr *value,
                             struct ast_expr *other)
{
    if (!other && value->kind == AST_EXPR_BINARY && value->op == AST_OP_EQ &&
        !value->parenthesised) {
        other = value->right;
        value = value->left;
    }
    check->span = span;
    check->value = value;
    check->other = other;
    return check;
}

/* ---- items ---- */

struct ast_field *ast_field(struct parser *ps, struct ast_name name, struct ast_expr *dims)
{
    struct ast_field *field = NEW(struct ast_field);
    field->name = name;
    field->dims = dims;
    return field;
}

void ast_set_field_type(struct ast_field *fields, struct ast_type *type)
{
    for (; fields; fields = fields->next)
        fields->type = type;
}

struct ast_item *ast_item(struct parser *ps, enum ast_item_kind kind, struct span span,
                          struct ast_name name)
{
    struct ast_item *item = NEW(struct ast_item);
    item->kind = kind;
    item->span = span;
    item->name = name;
    return item;
}

struct ast_item *ast_import(struct parser *ps, struct span span, const struct ast_expr *path)
{
    struct ast_item *item = ast_item(ps, AST_ITEM_IMPORT, span, (struct ast_name){0});
    item->path = path->string.bytes;
    item->path_span = path->span;
    if (strlen(path->string.bytes) != path->string.size_bytes)
        lexer_error(ps, RULE_INVALID_CHARACTER, path->span, "a path holds no NUL byte");
    return item;
}

void ast_add_attributes(struct ast_signature *signature, struct ast_attribute *first)
{
    struct ast_attribute **end = &signature->attributes;
    while (*end)
        end = &(*end)->next;
    *end = first;
}

struct ast_item *ast_kernel(struct parser *ps, struct span span, enum ast_kernel_kind kind,
                            const struct ast_signature *signature, struct ast_stmt *body)
{
    struct ast_item *item = ast_item(ps, AST_ITEM_KERNEL, span, signature->name);
    item->kernel_kind = kind;
    item->signature = *signature;
    item->body = body;
    return item;
}

void ast_lost(struct parser *ps, struct span from, struct span to)
{
    struct ast_lost *lost = NEW(struct ast_lost);
    uint32_t end = to.begin > from.end ? to.begin : from.end;
    *lost = (struct ast_lost){.next = ps->file->lost, .span = {from.source, from.begin, end}};
    ps->file->lost = lost;
}

void ast_set_fields(struct parser *ps, struct ast_item *item, struct ast_field *fields)
{
    item->fields = fields;
    item->fields_missing = ps->fields_missing;
    ps->fields_missing = false;
}

void ast_add_item(struct parser *ps, struct ast_item *item)
{
    if (!item) return;
    item->documentation = token_stream_documentation(ps, item->span.begin);
    if (ps->last_item)
        ps->last_item->next = item;
    else
        ps->file->items = item;
    ps->last_item = item;
}

/* ---- command lists ---- */

static struct ast_name name_of_string(struct parser *ps, const struct ast_expr *string)
{
    struct ast_name name = {.span = string->span};
    name.text = intern_name(ps->cx->names, string->string.bytes, string->string.size_bytes);
    return name;
}

struct ast_command *ast_command(struct parser *ps, enum ast_command_kind kind, struct span span,
                                struct ast_name verb, const struct ast_expr *subject)
{
    struct ast_command *command = NEW(struct ast_command);
    *command = (struct ast_command){.kind = kind, .span = span, .verb = verb};
    if (subject != NULL) command->subject = name_of_string(ps, subject);
    return command;
}

struct ast_command *ast_end_of_kernel(struct parser *ps, struct span span,
                                      const struct ast_expr *node, struct ast_name port,
                                      struct ast_expr *subscripts)
{
    struct ast_command *command = NEW(struct ast_command);
    *command = (struct ast_command){.kind = AST_COMMAND_CONNECT,
                                    .span = span,
                                    .object = name_of_string(ps, node),
                                    .port = port,
                                    .subscripts = subscripts};
    return command;
}

void ast_connect(struct parser *ps, struct ast_command *command, struct span span,
                 struct ast_name verb, const struct ast_expr *buffer)
{
    command->span = span;
    command->verb = verb;
    command->subject = name_of_string(ps, buffer);
}
