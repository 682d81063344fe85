/* SPDX-License-Identifier: MIT */
/*
 * ast_build: builds one node per call, for the actions of the grammar: one function per kind of node.
 * One header because the grammar needs all of them.
 *
 * Lists of children are passed by their first node.  Each function computes the node's depth. A node
 * deeper than AST_DEPTH_MAX is reported (RULE_TOO_DEEP), becomes a leaf, and ends the file
 * (ps->stopped).
 */
#ifndef PIPEC_AST_BUILD_H
#define PIPEC_AST_BUILD_H

#include "compiler/syntax/ast.h"

struct parser;

/* Reports too deep nesting, once per file, and stops reading. */
void ast_too_deep(struct parser *ps, struct span at);

/* ---- types and declarators ---- */

struct ast_type *ast_type_with_dims(struct ast_type *type, struct span span, struct ast_expr *dims);
struct ast_type *ast_type_named(struct parser *ps, struct span span, struct ast_name name,
                                struct ast_expr *dims);
/* The type that was read as an expression: `name` or `name[a][b]`; another expression is a syntax
 * error. */
struct ast_type *ast_type_of_expr(struct parser *ps, struct ast_expr *expr);
struct ast_declarator *ast_declarator(struct parser *ps, struct span span, struct ast_name name,
                                      struct ast_expr *dims, struct ast_expr *init);

/* ---- expressions ---- */

/* A leaf of that kind. */
struct ast_expr *ast_expr(struct parser *ps, enum ast_expr_kind kind, struct span span);
struct ast_expr *ast_name_expr(struct parser *ps, struct ast_name name);
struct ast_expr *ast_unary(struct parser *ps, struct span span, struct span op_span,
                           enum ast_operator op, struct ast_expr *operand);
struct ast_expr *ast_binary(struct parser *ps, struct span span, struct span op_span,
                            enum ast_operator op, struct ast_expr *left, struct ast_expr *right);
struct ast_expr *ast_assign(struct parser *ps, struct span span, struct span op_span,
                            enum ast_operator op, struct ast_expr *left, struct ast_expr *right);
struct ast_expr *ast_increment(struct parser *ps, struct span span, struct span op_span,
                               enum ast_operator op, struct ast_expr *operand, bool postfix);
struct ast_expr *ast_conditional(struct parser *ps, struct span span, struct span op_span,
                                 struct ast_expr *condition, struct ast_expr *yes,
                                 struct ast_expr *no);
/* INDEX, COMMA, RANGE (left may be NULL), REPEAT. */
struct ast_expr *ast_pair(struct parser *ps, enum ast_expr_kind kind, struct span span,
                          struct span op_span, struct ast_expr *left, struct ast_expr *right);
struct ast_expr *ast_member(struct parser *ps, struct span span, struct span op_span,
                            struct ast_expr *left, struct ast_name name);
struct ast_expr *ast_call(struct parser *ps, struct span span, struct ast_name name,
                          struct ast_expr *arguments);
struct ast_expr *ast_construct(struct parser *ps, struct span span, struct ast_type *type,
                               struct ast_expr *arguments);
struct ast_expr *ast_cast(struct parser *ps, struct span span, struct span op_span,
                          struct ast_type *type, struct ast_expr *operand);
/* BRACES, DIMENSIONS. */
struct ast_expr *ast_list(struct parser *ps, enum ast_expr_kind kind, struct span span,
                          struct ast_expr *arguments);
struct ast_expr *ast_field_value(struct parser *ps, struct span span, struct ast_name name,
                                 struct ast_expr *value);

/* ---- statements of bodies ---- */

struct ast_stmt *ast_stmt(struct parser *ps, enum ast_stmt_kind kind, struct span span,
                          struct ast_expr *expr, struct ast_stmt *body);
struct ast_stmt *ast_block(struct parser *ps, struct span span, struct ast_stmt *body,
                           struct span end);
struct ast_stmt *ast_declare(struct parser *ps, struct span span, enum ast_qualifier qualifier,
                             struct ast_type *type, struct ast_declarator *declarators);
struct ast_stmt *ast_emit(struct parser *ps, struct span span, struct ast_expr *target,
                          struct ast_expr *value);
struct ast_stmt *ast_if(struct parser *ps, struct span span, struct ast_expr *condition,
                        struct ast_stmt *yes, struct ast_stmt *no);
struct ast_stmt *ast_for(struct parser *ps, struct span span, struct ast_stmt *init,
                         struct ast_expr *condition, struct ast_expr *step, struct ast_stmt *body);
struct ast_child *ast_child_kernel(struct parser *ps, const struct ast_node *kernel);
struct ast_child *ast_child_choice(struct parser *ps, struct span span, struct ast_expr *condition,
                                   struct ast_child *yes, struct ast_child *no);
/* Adds `groups`, `from`, `with` or `after` to the clauses before, or NULL. */
struct ast_launch *ast_launch_clause(struct parser *ps, struct ast_launch *before,
                                     struct ast_name word, struct ast_expr *arguments);
/* `order` is a result of ast_launch_clause, or NULL. */
struct ast_launch *ast_launch(struct parser *ps, struct ast_child *child,
                              struct ast_expr *arguments, struct ast_launch *order);
struct ast_stmt *ast_launch_stmt(struct parser *ps, struct span span, struct ast_launch *launch);
struct ast_stmt *ast_event_launch(struct parser *ps, struct span span, struct ast_expr *type,
                                  struct ast_declarator *event, struct ast_launch *launch);

/* ---- signatures ---- */

/* `type` is NULL for `type T`. */
struct ast_type_param *ast_type_param(struct parser *ps, struct ast_type *type,
                                      struct ast_name name);
struct ast_port *ast_port(struct parser *ps, struct span span, bool is_out, struct ast_type *type,
                          struct ast_name name, struct ast_expr *dims,
                          struct ast_attribute *attributes);
struct ast_param *ast_param(struct parser *ps, struct span span, struct ast_type *type,
                            const struct ast_declarator *declarator);
struct ast_signature *ast_signature(struct parser *ps, struct span span, struct ast_name name,
                                    struct ast_type_param *type_params, struct ast_port *ports,
                                    struct ast_param *params, struct ast_attribute *attributes);
/* Appends to the attributes that it has. */
void ast_add_attributes(struct ast_signature *signature, struct ast_attribute *first);
/* `of` may have no text.  `a x b` becomes DIMENSIONS in every attribute but `init`. */
struct ast_attribute *ast_attribute(struct parser *ps, struct span span, struct ast_name name,
                                    struct ast_expr *value, struct ast_name of);

/* ---- pipelines ---- */

struct ast_node *ast_node(struct parser *ps, struct span span, struct ast_name name);
/* A node that has only the parts in its parentheses, for ast_element. */
struct ast_node *ast_call_part(struct parser *ps, struct span span, bool has_arrow,
                               struct ast_expr *inputs, struct ast_expr *outputs,
                               struct ast_expr *arguments);
struct ast_node *ast_element(struct span span, struct ast_node *node, const struct ast_node *call,
                             struct ast_attribute *attributes);
struct ast_buffer *ast_buffer(struct parser *ps, struct span span, struct ast_name name,
                              struct ast_expr *dims, struct ast_attribute *attributes);
struct ast_net *ast_net(struct parser *ps, enum ast_net_kind kind, struct span span,
                        struct ast_net *body, struct ast_net *otherwise);
/* Completes a FOR that holds its first clause. */
struct ast_net *ast_net_for(struct parser *ps, struct span span, struct ast_net *net,
                            struct ast_expr *condition, struct ast_expr *step,
                            struct ast_net *body);

/* ---- tests ---- */

struct ast_check *ast_check(struct parser *ps, enum ast_check_kind kind, struct span span,
                            struct ast_expr *value);
/* Completes an EXPECT that has its tolerance. Without `other`, splits `a == b`. */
struct ast_check *ast_expect(struct span span, struct ast_check *check, struct ast_expr *value,
                             struct ast_expr *other);

/* ---- command lists ---- */

/* `subject`: a string, or NULL. */
struct ast_command *ast_command(struct parser *ps, enum ast_command_kind kind, struct span span,
                                struct ast_name verb, const struct ast_expr *subject);
/* The kernel's end of a connection, for ast_connect to complete. */
struct ast_command *ast_end_of_kernel(struct parser *ps, struct span span,
                                      const struct ast_expr *node, struct ast_name port,
                                      struct ast_expr *subscripts);
void ast_connect(struct parser *ps, struct ast_command *command, struct span span,
                 struct ast_name verb, const struct ast_expr *buffer);

/* ---- items ---- */

struct ast_field *ast_field(struct parser *ps, struct ast_name name, struct ast_expr *dims);
void ast_set_field_type(struct ast_field *fields, struct ast_type *type);
struct ast_item *ast_item(struct parser *ps, enum ast_item_kind kind, struct span span,
                          struct ast_name name);
struct ast_item *ast_import(struct parser *ps, struct span span, const struct ast_expr *path);
struct ast_item *ast_kernel(struct parser *ps, struct span span, enum ast_kernel_kind kind,
                            const struct ast_signature *signature, struct ast_stmt *body);
/* Appends to the file, with the documentation comment that stands before it; NULL is nothing. */
void ast_add_item(struct parser *ps, struct ast_item *item);
/* Records that the text from `from` up to `to` is left out of the tree. */
void ast_lost(struct parser *ps, struct span from, struct span to);
void ast_set_fields(struct parser *ps, struct ast_item *item, struct ast_field *fields);

#endif
