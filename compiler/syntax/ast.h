/* SPDX-License-Identifier: MIT */
/*
 * ast: the tree of a source file, as written.
 *
 * The parser builds it and checks only the syntax. Names of attributes, places of statements and all
 * meanings are checked by sema.  All nodes live in the compilation's arena; names are interned (compare
 * by pointer). Lists are singly linked through `next` in source order, and walked with loops.  Nesting is
 * at most AST_DEPTH_MAX levels deep (the parser refuses more), so recursion over it is safe.  Besides
 * sema, only lint reads the tree; later passes know only the graph.
 */
#ifndef PIPEC_AST_H
#define PIPEC_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/support/source.h"
#include "lang/scalar.h"

/* The maximum of nested expressions, and of nested statements (each `else if` is one more level). */
enum { AST_DEPTH_MAX = 1000 };

struct ast_name {
    const char *text; /* interned */
    struct span span;
};

/* ---- types ---- */

enum ast_type_kind {
    AST_TYPE_SCALAR, /* i32, f32, ...; `lanes` > 1: f32x4 */
    AST_TYPE_INT,    /* int: compile-time */
    AST_TYPE_VOID,
    AST_TYPE_NAMED, /* a struct or a type parameter; also `event` */
};

struct ast_type {
    enum ast_type_kind kind;
    enum scalar_type scalar;
    uint32_t lanes;        /* 1, 2, 3, 4, 8, 16 */
    struct ast_name name;  /* AST_TYPE_NAMED; for built-in types their spelling */
    struct ast_expr *dims; /* `[a][b]`: outermost first, linked */
    struct span span;
};

/* ---- expressions ---- */

enum ast_operator {
    AST_OP_ADD,
    AST_OP_SUB,
    AST_OP_MUL,
    AST_OP_DIV,
    AST_OP_REM,
    AST_OP_SHL,
    AST_OP_SHR,
    AST_OP_AND,
    AST_OP_OR,
    AST_OP_XOR,
    AST_OP_LT,
    AST_OP_GT,
    AST_OP_LE,
    AST_OP_GE,
    AST_OP_EQ,
    AST_OP_NE,
    AST_OP_LOGICAL_AND,
    AST_OP_LOGICAL_OR,
    AST_OP_NEGATE,
    AST_OP_PLUS,
    AST_OP_NOT,
    AST_OP_COMPLEMENT,
    AST_OP_NONE, /* plain `=` */
};

enum ast_expr_kind {
    AST_EXPR_NAME,        /* name */
    AST_EXPR_INTEGER,     /* integer */
    AST_EXPR_FLOAT,       /* floating */
    AST_EXPR_STRING,      /* string */
    AST_EXPR_UNARY,       /* op, left */
    AST_EXPR_BINARY,      /* op, left, right */
    AST_EXPR_CONDITIONAL, /* left ? right : third */
    AST_EXPR_ASSIGN,      /* left op= right; op AST_OP_NONE: left = right */
    AST_EXPR_INCREMENT,   /* ++/--: op ADD or SUB, left, postfix */
    AST_EXPR_INDEX,       /* left[right] */
    AST_EXPR_MEMBER,      /* left.name */
    AST_EXPR_CALL,        /* name(arguments) */
    AST_EXPR_CONSTRUCT,   /* type(arguments): a built-in type's name as a function, f32x4(...) or
                             i32(x) */
    AST_EXPR_CAST,        /* (type)left */
    AST_EXPR_COMMA,       /* left, right */
    AST_EXPR_BRACES,      /* {arguments}: initialisers, attribute values, tests */
    AST_EXPR_FIELD,       /* .name = left, inside braces */
    AST_EXPR_RANGE,       /* left .. right; left may be NULL */
    AST_EXPR_REPEAT,      /* left x right: the value of attribute `init` only */
    AST_EXPR_DIMENSIONS,  /* 640x480, or W x H in every other attribute: arguments, width first */
};

/* One struct for all kinds, so that one visitor suffices; the kinds above name the members they use. */
struct ast_expr {
    enum ast_expr_kind kind;
    struct span span;
    struct ast_expr *next; /* in a list */
    uint32_t depth;        /* 1 + the deepest operand; never above AST_DEPTH_MAX */
    enum ast_operator op;
    bool postfix;
    bool parenthesised;
    struct span op_span;
    struct ast_expr *left, *right, *third;
    struct ast_expr *arguments; /* linked */
    struct ast_name name;
    struct ast_type *type;
    struct {
        uint64_t value;
        bool is_unsigned, is_long; /* suffixes u, L */
        bool too_large;            /* does not fit 64 bits: the lexer has reported it */
        uint8_t base;              /* 8, 10 or 16, as written; 10 for 0 */
    } integer;
    struct {
        double value;
        float value_f32; /* the text rounded once to f32; infinite where it does not fit */
        bool is_f32;     /* suffix f: `value` is `value_f32` */
    } floating;
    struct {
        const char *bytes; /* escapes resolved */
        uint32_t size_bytes;
    } string;
};

/* ---- declarators: `i32 a = 1, b[3] = {..}` ---- */

struct ast_declarator {
    struct ast_declarator *next;
    struct ast_name name;
    struct ast_expr *dims; /* `[a][b]` after the name */
    struct ast_expr *init; /* or NULL */
    struct span span;
};

/* ---- attributes: a name and a value ---- */

struct ast_attribute {
    struct ast_attribute *next;
    struct ast_name name;
    struct ast_expr *value; /* plain, AST_EXPR_RANGE, _REPEAT, _DIMENSIONS or _BRACES */
    struct ast_name of;     /* amplify A of PORT; text NULL where absent */
    struct span span;
};

/* ---- statements of bodies ---- */

enum ast_stmt_kind {
    AST_STMT_BLOCK, /* body */
    AST_STMT_EMPTY,
    AST_STMT_EXPR,    /* expr */
    AST_STMT_DECLARE, /* qualifier, type, declarators */
    AST_STMT_EMIT,    /* target <- expr */
    AST_STMT_IF,      /* expr, body, otherwise */
    AST_STMT_WHILE,   /* expr, body */
    AST_STMT_DO,      /* body, expr (NULL after a syntax error) */
    AST_STMT_FOR,     /* init, expr, step, body */
    AST_STMT_SWITCH,  /* expr, body */
    AST_STMT_CASE,    /* expr, body */
    AST_STMT_DEFAULT, /* body */
    AST_STMT_BREAK,
    AST_STMT_CONTINUE,
    AST_STMT_RETURN, /* expr or NULL */
    AST_STMT_STOP,
    AST_STMT_LAUNCH, /* launch */
    AST_STMT_INIT,   /* init { }: body */
    AST_STMT_FINISH, /* finish attributes { }: body, attributes */
    AST_STMT_ERROR,  /* recovered: already reported */
};

enum ast_qualifier { AST_PLAIN, AST_CONST, AST_STATE, AST_TABLE, AST_LOCAL };

/* The child that a launch starts, or two of which a condition chooses one. */
struct ast_child {
    struct ast_name kernel;          /* text NULL: there are two */
    struct ast_expr *type_arguments; /* see struct ast_node */
    struct ast_expr *condition;      /* NULL: there is one */
    struct ast_child *yes, *no;
    struct span span;
};

struct ast_clause {
    struct ast_name word; /* text NULL where absent */
    struct ast_expr *arguments;
};

struct ast_launch {
    struct ast_child *child;
    struct ast_expr *arguments;
    struct ast_clause groups, from, order; /* order: `with` or `after` */
    struct ast_name repeated; /* the first clause of a kind that has come before; text NULL: none */
    struct ast_name event;    /* `event e = launch ...`; text NULL where absent */
};

struct ast_stmt {
    enum ast_stmt_kind kind;
    struct span span;
    struct ast_stmt *next;
    uint32_t depth;
    struct ast_expr *expr, *target, *step;
    struct ast_stmt *init, *body, *otherwise; /* a block's `body` is its first statement */
    enum ast_qualifier qualifier;
    struct ast_type *type;
    struct ast_declarator *declarators;
    struct ast_attribute *attributes;
    struct ast_launch *launch; /* `event e[2] = launch ...` also fills type and one declarator */
    struct span end;           /* closing brace of a block */
};

/* ---- signatures ---- */

struct ast_type_param { /* <int N, type T> */
    struct ast_type_param *next;
    bool is_type;
    struct ast_type *type; /* what stands before the name where it is not `type` */
    struct ast_name name;
};

struct ast_port {
    struct ast_port *next;
    bool is_out;
    struct ast_type *type;
    struct ast_name name;
    struct ast_expr *dims; /* port array */
    struct ast_attribute *attributes;
    struct span span;
};

struct ast_param { /* run-time arguments, parameters of fn */
    struct ast_param *next;
    struct ast_type *type;
    struct ast_name name;
    struct ast_expr *dims;
    struct ast_expr *value; /* default, or NULL */
    struct span span;
};

struct ast_signature {
    struct ast_name name;
    struct ast_type_param *type_params;
    struct ast_port *ports;
    struct ast_param *params;
    struct ast_attribute *attributes;
    struct span span;
};

/* ---- pipelines ---- */

/* One element of a chain: `[label:] name[<...>][(...)] attributes`, or a buffer `name[i][j]`. */
struct ast_node {
    struct ast_node *next; /* the next element after `->` */
    struct ast_name label; /* text NULL where absent */
    struct ast_name name;
    bool has_type_arguments; /* `<...>` was written */
    /* linked; a type argument is AST_EXPR_CONSTRUCT with no call: `type` set */
    struct ast_expr *type_arguments;
    bool has_call;  /* `(...)` was written */
    bool has_arrow; /* `(a -> b ...)` was written */
    /* Without an arrow the list before the first `;` is `inputs`: run-time arguments in a chain. */
    struct ast_expr *inputs, *outputs, *arguments;
    struct ast_expr *subscripts; /* `[i][j]` after a buffer's name */
    struct ast_attribute *attributes;
    struct span span;
};

struct ast_buffer {
    struct ast_buffer *next;
    struct ast_name name;
    struct ast_expr *dims; /* array of buffers */
    struct ast_attribute *attributes;
    struct span span;
};

enum ast_net_kind {
    AST_NET_BLOCK, /* body */
    AST_NET_EMPTY,
    AST_NET_BUFFER, /* type, buffers */
    AST_NET_CONST,  /* type, declarators */
    AST_NET_CHAIN,  /* chain */
    AST_NET_FOR,    /* type and declarators, or init_expr; condition; step; body */
    AST_NET_IF,     /* condition, body, otherwise */
    AST_NET_ERROR,
};

struct ast_net {
    enum ast_net_kind kind;
    struct span span;
    struct ast_net *next;
    uint32_t depth;
    struct ast_net *body, *otherwise;
    struct ast_type *type;
    struct ast_declarator *declarators;
    struct ast_buffer *buffers;
    struct ast_node *chain;
    struct ast_expr *init_expr, *condition, *step;
};

/* ---- tests ---- */

enum ast_check_kind {
    AST_CHECK_SET,          /* name[dims] = value */
    AST_CHECK_EXPECT,       /* expect value; or expect value == other, with a tolerance */
    AST_CHECK_EXPECT_NAMED, /* expect fault|error "id" */
    AST_CHECK_ERROR,
};

struct ast_check {
    struct ast_check *next;
    enum ast_check_kind kind;
    struct ast_name name; /* SET: port or argument; EXPECT_NAMED: fault, error */
    struct ast_expr *dims;
    struct ast_expr *value, *other;
    struct ast_name tolerance, tolerance_unit; /* within .. [ulp] */
    struct ast_expr *tolerance_value;
    struct span span;
};

/* ---- files ---- */

enum ast_item_kind {
    AST_ITEM_IMPORT,   /* path */
    AST_ITEM_CONST,    /* type, declarators */
    AST_ITEM_STRUCT,   /* name, fields */
    AST_ITEM_FN,       /* name, type, params, body */
    AST_ITEM_KERNEL,   /* signature, body (NULL for extern and builtin) */
    AST_ITEM_PIPELINE, /* signature, net */
    AST_ITEM_TEST,     /* name, subject, checks */
};

enum ast_kernel_kind { AST_KERNEL_PLAIN, AST_KERNEL_CHILD, AST_KERNEL_EXTERN, AST_KERNEL_BUILTIN };

struct ast_field {
    struct ast_field *next;
    struct ast_type *type;
    struct ast_name name;
    struct ast_expr *dims;
};

struct ast_item {
    enum ast_item_kind kind;
    struct span span;
    struct ast_item *next;
    struct ast_name name; /* fn, struct, test; for kernels and pipelines = signature.name */
    const char *path;     /* import */
    struct span path_span;
    struct ast_type *type;
    struct ast_declarator *declarators;
    struct ast_field *fields;
    bool fields_missing; /* a syntax error left out a field */
    struct ast_param *params;
    struct ast_stmt *body; /* AST_STMT_BLOCK */
    enum ast_kernel_kind kernel_kind;
    bool is_pure; /* `extern pure kernel` */
    struct ast_signature signature;
    struct ast_net *net;      /* AST_NET_BLOCK */
    struct ast_node *subject; /* test NAME of SUBJECT<...>(...): the arguments are its `inputs` */
    struct ast_check *checks;
    struct ast_node *fallback; /* builtin kernel .. else NAME<...>; or NULL */
    const char *documentation; /* the `///` comment lines before it, or NULL */
};

/* ---- command lists (lang/commands.md): a topology by its parts ---- */

enum ast_command_kind {
    AST_COMMAND_SET,      /* verb, subject, attributes; also `source`: no attributes */
    AST_COMMAND_PIPELINE, /* subject, attributes */
    AST_COMMAND_ARGUMENT, /* verb, param */
    AST_COMMAND_BUFFER,   /* verb, subject, type; outer: `in`, `out`, or a plain buffer */
    AST_COMMAND_KERNEL,   /* verb, subject, element: its run-time arguments are `inputs` */
    AST_COMMAND_CONNECT,  /* verb, subject: the buffer, object: the node, port, subscripts */
};

struct ast_command {
    struct ast_command *next;
    enum ast_command_kind kind;
    struct span span;
    struct ast_name verb;            /* the first word, as written */
    struct ast_name subject, object; /* texts of strings, interned */
    bool is_in, is_out;              /* BUFFER: a port; CONNECT: is_out: the node writes */
    struct ast_type *type;
    struct ast_param *param;
    struct ast_node *element;
    struct ast_attribute *attributes;
    struct ast_name port;
    struct ast_expr *subscripts;
};

/* Parts that a syntax error left out of the tree. */
struct ast_lost {
    struct ast_lost *next;
    struct span span;
};

struct ast_file {
    struct ast_file *next;
    uint32_t source;
    struct ast_lost *lost;
    bool names_missing; /* any name may be declared in the lost parts */
    bool is_commands;   /* a command list: `commands`, and the items in its own text */
    struct ast_item *items;
    struct ast_command *commands;
};

/* All files of a program: the one named on the command line first, then its imports in order of
 * first mention. */
struct ast_program {
    struct ast_file *files;
};

#endif
