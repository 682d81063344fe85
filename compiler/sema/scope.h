/* SPDX-License-Identifier: MIT */
/*
 * scope: the meaning of names.  Private to sema.
 *
 * A scope is a list of symbols with an outer scope; a name is looked up from the innermost scope outwards.
 * The outermost scopes are the program's, with the items of all its files in any order, and around it the
 * library's.  Names are interned.
 */
#ifndef PIPEC_SCOPE_H
#define PIPEC_SCOPE_H

#include "compiler/ir/kernel.h"
#include "compiler/context/context.h"
#include "compiler/syntax/ast.h"

enum symbol_kind {
    SYMBOL_INTEGER,  /* `integer`: compile-time int (const int, <int N>, a loop variable of a
                        pipeline) */
    SYMBOL_CONSTANT, /* `value`: a scalar `const` with a type */
    SYMBOL_VARIABLE, /* `variable`: locals, arguments, tables, states, constant arrays */
    SYMBOL_IN_PORT,  /* of a kernel: `port` indexes kernel->in */
    SYMBOL_OUT_PORT,
    SYMBOL_BUFFER,        /* in a pipeline, ports of the pipeline included: `buffer` */
    SYMBOL_LAZY_CONSTANT, /* an item `const`, not evaluated yet: `item`, `declarator` (becomes one
                             of the above) */
    SYMBOL_FN,
    SYMBOL_KERNEL,
    SYMBOL_PIPELINE,
    SYMBOL_STRUCT,     /* `item`; `type` once it is known (sema_struct) */
    SYMBOL_TYPE_PARAM, /* `type` */
    SYMBOL_EVENT,      /* of a launch: `variable`, `event` */
    SYMBOL_POISON, /* declared with an error that has been reported: uses of it fail without a report */
};

struct symbol {
    enum symbol_kind kind;
    const char *name;
    struct span span; /* of the declaration */
    int64_t integer;
    struct scalar_value value;
    struct variable *variable;
    const struct type *type;
    uint32_t port;
    struct body_event *event;
    struct net_buffer *buffer; /* elaborate.c's */
    const struct ast_item *item;
    const struct ast_declarator *declarator;
    bool evaluating; /* LAZY_CONSTANT, STRUCT: detects cycles */
    bool used;
    bool elaborated; /* PIPELINE: elaborated as a kernel of another one */
};

struct scope;

struct scope *scope_create(struct compile *cx, struct scope *outer);
/* True if `scope` is `outer`, or lies within it. */
bool scope_is_within(const struct scope *scope, const struct scope *outer);
/* Adds a symbol; reports RULE_DUPLICATE_NAME (with the earlier place) if this same scope has the
 * name already. The pointer is stable. */
struct symbol *scope_declare(struct scope *scope, struct symbol symbol);
/* Innermost meaning of a name, or NULL; nothing is reported. */
struct symbol *scope_find(struct scope *scope, const char *name);
/* Like scope_find, but reports RULE_UNKNOWN_NAME ("there is no %s '%s'", with the nearest
 * candidate as help), once in a body. */
struct symbol *scope_lookup(struct scope *scope, struct ast_name name, const char *what);
/* `W x H` for a name such as WxH, whose parts are known names or numbers; else NULL. */
const char *scope_dimensions(struct scope *scope, const char *name);
/* Adds the help and the edit that write the name as `dimensions`. */
void scope_help_dimensions(struct diag *diag, struct ast_name name, const char *dimensions);
/* After the report of an unknown item: it is not reported again, anywhere in the program. */
void scope_poison(struct scope *scope, struct ast_name name);
/* Calls visit for every visible symbol, innermost first. */
void scope_each(struct scope *scope, void (*visit)(const struct symbol *, void *), void *data);

#endif
