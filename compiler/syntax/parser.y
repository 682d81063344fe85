/* SPDX-License-Identifier: MIT */
/*
 * The grammar of the pipeline language: LALR(1) without conflicts, no feedback to the lexer.  Words that are
 * keywords only in their places are tokens which `name` takes back.  Actions build one node and check nothing.
 *
 * Recovery: `error` is always followed by RESYNC, which the token stream makes up once it has skipped to a place
 * where the enclosing list goes on (token_stream.c).
 */
%define api.pure full
%define api.prefix {pipe_}
%define api.token.prefix {TOKEN_}
%define parse.error custom
%define parse.lac full
%locations
%define api.location.type {struct span}
%expect 0
%param {struct parser *ps}

%code requires {
#include "compiler/syntax/ast.h"
struct parser;
}

%union {
    struct ast_name name;
    struct ast_type *type;
    struct ast_expr *expr;
    struct ast_stmt *stmt;
    struct ast_launch *launch;
    struct ast_child *child;
    struct ast_node *node;
    struct ast_net *net;
    struct ast_check *check;
    struct ast_command *command;
    struct ast_item *item;
    struct ast_signature *signature;
    struct ast_declarator *declarator;
    struct ast_attribute *attribute;
    struct ast_buffer *buffer;
    struct ast_port *port;
    struct ast_param *param;
    struct ast_type_param *type_param;
    enum ast_operator op;
    struct { struct ast_expr *first, *last; } exprs;
    struct { struct ast_stmt *first, *last; } stmts;
    struct { struct ast_declarator *first, *last; } declarators;
    struct { struct ast_attribute *first, *last; } attributes;
    struct { struct ast_field *first, *last; } fields;
    struct { struct ast_param *first, *last; } params;
    struct { struct ast_port *first, *last; } ports;
    struct { struct ast_type_param *first, *last; } type_params;
    struct { struct ast_buffer *first, *last; } buffers;
    struct { struct ast_node *first, *last; } nodes;
    struct { struct ast_net *first, *last; } nets;
    struct { struct ast_check *first, *last; } checks;
    struct { struct ast_command *first, *last; } commands;
}

%code {
#include <stdlib.h>

#include "compiler/syntax/ast_build.h"
#include "compiler/syntax/token_stream.h"

#define YYLLOC_DEFAULT(current, rhs, count) ((current) = span_of_rhs((rhs), (count)))
#define YYMAXDEPTH PARSER_STACK_MAX
#define YYMALLOC(size) token_stream_memory(NULL, (size))
#define YYFREE free

static struct span span_of_rhs(const struct span *rhs, int count);
static void yyerror(const struct span *at, struct parser *ps, const char *message);
static struct ast_name no_name(void);

#define APPEND(list, node)                                                                         \
    ((list).last ? (void)((list).last->next = (node)) : (void)((list).first = (node)),            \
     (void)((list).last = (node)))
#define ONE(list, node) ((list).first = (list).last = (node))
#define NONE(list) ((list).first = (list).last = NULL)
}

/* reserved */
%token IMPORT "import" CONST "const" STRUCT "struct" FN "fn" KERNEL "kernel" PIPELINE "pipeline"
%token BUFFER "buffer" STATE "state" TABLE "table" LOCAL "local" FINISH "finish" LAUNCH "launch" STOP "stop"
%token IF "if" ELSE "else" FOR "for" WHILE "while" DO "do" SWITCH "switch" CASE "case" DEFAULT "default"
%token BREAK "break" CONTINUE "continue" RETURN "return"
%token <type> TYPE "a built-in type"
/* contextual: also names */
%token <name> IN "in" OUT "out" TYPEKW "type" X "x" OF "of" INIT "init" CHILD "child" EXTERN "extern"
%token <name> PURE "pure"
%token <name> BUILTIN "builtin" TEST "test" EXPECT "expect" IDENT "a name"
%token <expr> NUMBER "a number" DIM "dimensions" STRING "a string"
%token <op> ASSIGN_OP "an assignment operator"
%token EMIT "<-" ARROW "->" DOTS ".."
%token SHL "<<" SHR ">>" LE "<=" GE ">=" EQ "==" NE "!=" ANDAND "&&" OROR "||" INC "++" DEC "--"
%token RESYNC "the end of a statement"
%token COMMANDS "a command list" /* inserted: the file is a command list */
%token NO_WHILE "the end of a loop" /* inserted after RESYNC: a `do` without its `while` */
%token END 0 "the end of the file"

%type <name> name attribute_name extern_name
%type <type> type
%type <exprs> dims items args args_opt type_args subscripts
%type <expr> value braces item_value attribute_value repeat factor primary postfix unary cast
%type <expr> multiplicative additive shift relational equality and xor or and_then or_else
%type <expr> conditional assignment expression expression_opt type_arg
%type <declarators> inits
%type <declarator> init_name
%type <fields> fields names
%type <params> params params_opt
%type <param> param
%type <signature> signature
%type <type_params> type_params type_params_opt
%type <type_param> type_param
%type <ports> ports ports_opt
%type <port> port
%type <attributes> attributes extern_attributes
%type <attribute> attribute
%type <stmts> statements
%type <stmt> block statement declaration for_init
%type <launch> launch order
%type <child> child
%type <nets> net_statements
%type <net> net_block net_statement net_for_init
%type <buffers> buffers
%type <buffer> buffer_name
%type <nodes> chain
%type <node> node element element_ref call
%type <checks> checks
%type <check> check tolerance
%type <item> item
%type <commands> commands
%type <command> command end_of_kernel

%printer { fprintf(yyo, "%s", $$.text ? $$.text : ""); } <name>

%precedence THEN          /* the dangling else, as in C */
%precedence "else"

%%
program: file
       | file COMMANDS commands                     { ps->file->commands = $commands.first; }
       ;

file: %empty
    | file item                                     { ast_add_item(ps, $item); }
    ;

item: "import" STRING[path] ';'                     { $$ = ast_import(ps, @$, $path); }
    | "const" type inits ';'                        { $$ = ast_item(ps, AST_ITEM_CONST, @$, no_name());
                                                      $$->type = $type; $$->declarators = $inits.first; }
    | "struct" name '{' fields '}' ';'              { $$ = ast_item(ps, AST_ITEM_STRUCT, @$, $name);
                                                      ast_set_fields(ps, $$, $fields.first); }
    | "struct" name '{' fields '}' error RESYNC     { $$ = ast_item(ps, AST_ITEM_STRUCT, @$, $name);
                                                      ast_set_fields(ps, $$, $fields.first); yyerrok; }
    | "fn" type name '(' params_opt ')' block       { $$ = ast_item(ps, AST_ITEM_FN, @$, $name);
                                                      $$->type = $type; $$->params = $params_opt.first;
                                                      $$->body = $block; }
    | "kernel" signature block                      { $$ = ast_kernel(ps, @$, AST_KERNEL_PLAIN, $signature, $block); }
    | "child" "kernel" signature block              { $$ = ast_kernel(ps, @$, AST_KERNEL_CHILD, $signature, $block); }
    | "extern" "kernel" signature extern_attributes ';'
                                                    { ast_add_attributes($signature, $extern_attributes.first);
                                                      $$ = ast_kernel(ps, @$, AST_KERNEL_EXTERN, $signature, NULL); }
    | "extern" "pure" "kernel" signature extern_attributes ';'
                                                    { ast_add_attributes($signature, $extern_attributes.first);
                                                      $$ = ast_kernel(ps, @$, AST_KERNEL_EXTERN, $signature, NULL);
                                                      $$->is_pure = true; }
    | "builtin" "kernel" signature ';'              { $$ = ast_kernel(ps, @$, AST_KERNEL_BUILTIN, $signature, NULL); }
    | "builtin" "kernel" signature "else" element_ref ';'
                                                    { $$ = ast_kernel(ps, @$, AST_KERNEL_BUILTIN, $signature, NULL);
                                                      $$->fallback = $element_ref; }
    | "pipeline" signature net_block                { $$ = ast_item(ps, AST_ITEM_PIPELINE, @$, $signature->name);
                                                      $$->signature = *$signature; $$->net = $net_block; }
    | "test" name "of" element_ref '{' checks '}'   { $$ = ast_item(ps, AST_ITEM_TEST, @$, $name);
                                                      $$->subject = $element_ref; $$->checks = $checks.first; }
    | "test" name "of" element_ref '(' args_opt ')' '{' checks '}'
                                                    { $$ = ast_item(ps, AST_ITEM_TEST, @$, $name);
                                                      $$->subject = $element_ref; $$->checks = $checks.first;
                                                      $$->subject->has_call = true;
                                                      $$->subject->inputs = $args_opt.first; }
    | ';'                                           { $$ = NULL; }
    | error RESYNC                                  { $$ = NULL; ast_lost(ps, @error, @RESYNC); yyerrok; }
    ;

/* ---- names and types ---- */

name: IDENT | "in" | "out" | "type" | "x" | "of" | "init" | "child" | "extern" | "pure" | "builtin" | "test" | "expect" ;

type: TYPE dims                                     { $$ = ast_type_with_dims($TYPE, @$, $dims.first); }
    | name dims                                     { $$ = ast_type_named(ps, @$, $name, $dims.first); }
    ;
dims: %empty                                        { NONE($$); }
    | dims '[' conditional ']'                      { $$ = $1; APPEND($$, $conditional); }
    ;

inits: init_name                                    { ONE($$, $init_name); }
     | inits ',' init_name                          { $$ = $1; APPEND($$, $init_name); }
     ;
init_name: name dims                                { $$ = ast_declarator(ps, @$, $name, $dims.first, NULL); }
         | name dims '=' value                      { $$ = ast_declarator(ps, @$, $name, $dims.first, $value); }
         ;
value: assignment | braces ;
braces: '{' '}'                                     { $$ = ast_list(ps, AST_EXPR_BRACES, @$, NULL); }
      | '{' items '}'                               { $$ = ast_list(ps, AST_EXPR_BRACES, @$, $items.first); }
      | '{' items ',' '}'                           { $$ = ast_list(ps, AST_EXPR_BRACES, @$, $items.first); }
      ;
items: item_value                                   { ONE($$, $1); }
     | items ',' item_value                         { $$ = $1; APPEND($$, $item_value); }
     ;
item_value: value
          | '.' name '=' value                      { $$ = ast_field_value(ps, @$, $name, $value); }
          | conditional[from] ".." conditional[to]  { $$ = ast_pair(ps, AST_EXPR_RANGE, @$, @2, $from, $to); }
          | ".." conditional[to]                    { $$ = ast_pair(ps, AST_EXPR_RANGE, @$, @1, NULL, $to); }
          ;

fields: %empty                                      { NONE($$); }
      | fields[list] type names ';'                 { $$ = $list; ast_set_field_type($names.first, $type);
                                                      APPEND($$, $names.first); $$.last = $names.last; }
      | fields[list] error RESYNC                   { $$ = $list; ps->fields_missing = true;
                                                      ast_lost(ps, @error, @RESYNC); yyerrok; }
      ;
names: name dims                                    { struct ast_field *field = ast_field(ps, $name, $dims.first);
                                                      ONE($$, field); }
     | names[list] ',' name dims                    { struct ast_field *field = ast_field(ps, $name, $dims.first);
                                                      $$ = $list; APPEND($$, field); }
     ;

params_opt: %empty                                  { NONE($$); }
          | params
          ;
params: param                                       { ONE($$, $param); }
      | params[list] ',' param                      { $$ = $list; APPEND($$, $param); }
      ;
param: type init_name                               { $$ = ast_param(ps, @$, $type, $init_name); } ;

/* ---- signatures ---- */

signature: name type_params_opt '(' ports_opt ')' attributes
                                                    { $$ = ast_signature(ps, @$, $name, $type_params_opt.first,
                                                           $ports_opt.first, NULL, $attributes.first); }
         | name type_params_opt '(' ports_opt ';' params_opt ')' attributes
                                                    { $$ = ast_signature(ps, @$, $name, $type_params_opt.first,
                                                           $ports_opt.first, $params_opt.first, $attributes.first); }
         ;
type_params_opt: %empty                             { NONE($$); }
               | '<' type_params '>'                { $$ = $type_params; }
               ;
type_params: type_param                             { ONE($$, $1); }
           | type_params[list] ',' type_param       { $$ = $list; APPEND($$, $type_param); }
           ;
type_param: TYPE name                               { $$ = ast_type_param(ps, $TYPE, $name); }
          | "type" name                             { $$ = ast_type_param(ps, NULL, $name); }
          ;
ports_opt: %empty                                   { NONE($$); }
         | ports
         ;
ports: port                                         { ONE($$, $port); }
     | ports[list] ',' port                         { $$ = $list; APPEND($$, $port); }
     ;
port: "in" type name dims attributes                { $$ = ast_port(ps, @$, false, $type, $name, $dims.first,
                                                           $attributes.first); }
    | "out" type name dims attributes               { $$ = ast_port(ps, @$, true, $type, $name, $dims.first,
                                                           $attributes.first); }
    ;

/* No attribute is a keyword, except `init`: sema knows their names. */
attributes: %empty                                  { NONE($$); }
          | attributes[list] attribute              { $$ = $list; APPEND($$, $attribute); }
          ;
attribute: attribute_name attribute_value[value]    { $$ = ast_attribute(ps, @$, $1, $value, no_name()); }
         | attribute_name attribute_value[value] "of" name
                                                    { $$ = ast_attribute(ps, @$, $1, $value, $name); }
         ;
attribute_name: IDENT | "init" ;
/* Of extern kernels: from the first one that begins with a reserved word on. */
extern_attributes: %empty                           { NONE($$); }
                 | extern_attributes[list] extern_name attribute_value[value] attributes[more]
                                                    { struct ast_attribute *first = ast_attribute(ps, span_join(@2, @value),
                                                          $extern_name, $value, no_name());
                                                      $$ = $list; APPEND($$, first);
                                                      if ($more.first) { APPEND($$, $more.first); $$.last = $more.last; } }
                 ;
extern_name: "finish"                               { $$.text = intern_string(ps->cx->names, "finish"); $$.span = @$; }
           | "state"                                { $$.text = intern_string(ps->cx->names, "state"); $$.span = @$; }
           ;
attribute_value: conditional
               | DIM
               | repeat
               | conditional[from] ".." conditional[to]
                                                    { $$ = ast_pair(ps, AST_EXPR_RANGE, @$, @2, $from, $to); }
               | ".." conditional[to]               { $$ = ast_pair(ps, AST_EXPR_RANGE, @$, @1, NULL, $to); }
               | braces
               ;
repeat: conditional "x" factor                      { $$ = ast_pair(ps, AST_EXPR_REPEAT, @$, @2, $1, $factor); }
      | repeat[left] "x" factor                     { $$ = ast_pair(ps, AST_EXPR_REPEAT, @$, @2, $left, $factor); }
      ;
factor: conditional | braces ;

/* ---- bodies ---- */

block: '{' statements '}'                           { $$ = ast_block(ps, @$, $statements.first, @3); } ;
statements: %empty                                  { NONE($$); }
          | statements[list] statement              { $$ = $list; APPEND($$, $statement); }
          ;
statement: block
         | ';'                                      { $$ = ast_stmt(ps, AST_STMT_EMPTY, @$, NULL, NULL); }
         | expression ';'                           { $$ = ast_stmt(ps, AST_STMT_EXPR, @$, $expression, NULL); }
         | declaration
         | postfix "<-" assignment ';'              { $$ = ast_emit(ps, @$, $postfix, $assignment); }
         | "if" '(' expression ')' statement[yes] %prec THEN
                                                    { $$ = ast_if(ps, @$, $expression, $yes, NULL); }
         | "if" '(' expression ')' statement[yes] "else" statement[no]
                                                    { $$ = ast_if(ps, @$, $expression, $yes, $no); }
         | "while" '(' expression ')' statement[body]
                                                    { $$ = ast_stmt(ps, AST_STMT_WHILE, @$, $expression, $body); }
         | "do" statement[body] "while" '(' expression ')' ';'
                                                    { $$ = ast_stmt(ps, AST_STMT_DO, @$, $expression, $body); }
         | "do" statement[body] error RESYNC        { $$ = ast_stmt(ps, AST_STMT_DO, @$, NULL, $body);
                                                      ast_lost(ps, @error, @RESYNC); yyerrok; }
         | "do" statement[body] NO_WHILE            { $$ = ast_stmt(ps, AST_STMT_DO, @$, NULL, $body); }
         | "for" '(' for_init expression_opt[while] ';' expression_opt[step] ')' statement[body]
                                                    { $$ = ast_for(ps, @$, $for_init, $while, $step, $body); }
         | "switch" '(' expression ')' statement[body]
                                                    { $$ = ast_stmt(ps, AST_STMT_SWITCH, @$, $expression, $body); }
         | "case" conditional ':' statement[body]   { $$ = ast_stmt(ps, AST_STMT_CASE, @$, $conditional, $body); }
         | "default" ':' statement[body]            { $$ = ast_stmt(ps, AST_STMT_DEFAULT, @$, NULL, $body); }
         | "break" ';'                              { $$ = ast_stmt(ps, AST_STMT_BREAK, @$, NULL, NULL); }
         | "continue" ';'                           { $$ = ast_stmt(ps, AST_STMT_CONTINUE, @$, NULL, NULL); }
         | "return" expression_opt ';'              { $$ = ast_stmt(ps, AST_STMT_RETURN, @$, $expression_opt, NULL); }
         | "stop" ';'                               { $$ = ast_stmt(ps, AST_STMT_STOP, @$, NULL, NULL); }
         | launch ';'                               { $$ = ast_launch_stmt(ps, @$, $launch); }
         | "init" block                             { $$ = ast_stmt(ps, AST_STMT_INIT, @$, NULL, $block); }
         | "finish" attributes block                { $$ = ast_stmt(ps, AST_STMT_FINISH, @$, NULL, $block);
                                                      $$->attributes = $attributes.first; }
         | error RESYNC                             { $$ = ast_stmt(ps, AST_STMT_ERROR, @$, NULL, NULL);
                                                      ast_lost(ps, @error, @RESYNC); yyerrok; }
         ;
declaration: TYPE dims inits ';'                    { struct ast_type *type = ast_type_with_dims(
                                                          $TYPE, span_join(@1, @2), $dims.first);
                                                      $$ = ast_declare(ps, @$, AST_PLAIN, type, $inits.first); }
           | postfix inits ';'                      { struct ast_type *type = ast_type_of_expr(ps, $postfix);
                                                      $$ = ast_declare(ps, @$, AST_PLAIN, type, $inits.first); }
           | postfix name dims '=' launch ';'       { $$ = ast_event_launch(ps, @$, $postfix, ast_declarator(ps,
                                                           span_join(@name, @dims), $name, $dims.first, NULL), $launch); }
           | "const" type inits ';'                 { $$ = ast_declare(ps, @$, AST_CONST, $type, $inits.first); }
           | "state" type inits ';'                 { $$ = ast_declare(ps, @$, AST_STATE, $type, $inits.first); }
           | "table" type inits ';'                 { $$ = ast_declare(ps, @$, AST_TABLE, $type, $inits.first); }
           | "local" type inits ';'                 { $$ = ast_declare(ps, @$, AST_LOCAL, $type, $inits.first); }
           ;
launch: "launch" child '(' args_opt ')' order       { $$ = ast_launch(ps, $child, $args_opt.first, $order); } ;
child: element_ref                                  { $$ = ast_child_kernel(ps, $element_ref); }
     | '(' or_else[if] '?' child[yes] ':' child[no] ')'
                                                    { $$ = ast_child_choice(ps, @$, $if, $yes, $no); }
     ;
order: %empty                                       { $$ = NULL; }
     | order[before] IDENT args                     { $$ = ast_launch_clause(ps, $before, $IDENT, $args.first); }
     ;
for_init: ';'                                       { $$ = NULL; }
        | expression ';'                            { $$ = ast_stmt(ps, AST_STMT_EXPR, @$, $expression, NULL); }
        | declaration
        ;
expression_opt: %empty                              { $$ = NULL; }
              | expression
              ;

/* ---- expressions: C without pointers, casts to built-in types only ---- */

primary: name                                       { $$ = ast_name_expr(ps, $name); }
       | NUMBER
       | STRING
       | '(' expression ')'                         { $$ = $expression; $$->parenthesised = true; $$->span = @$; }
       ;
postfix: primary
       | postfix[left] '[' expression[at] ']'       { $$ = ast_pair(ps, AST_EXPR_INDEX, @$, @2, $left, $at); }
       | postfix[left] '.' name                     { $$ = ast_member(ps, @$, @2, $left, $name); }
       | postfix[left] "++"                         { $$ = ast_increment(ps, @$, @2, AST_OP_ADD, $left, true); }
       | postfix[left] "--"                         { $$ = ast_increment(ps, @$, @2, AST_OP_SUB, $left, true); }
       | name '(' args_opt ')'                      { $$ = ast_call(ps, @$, $name, $args_opt.first); }
       | TYPE '(' args_opt ')'                      { $$ = ast_construct(ps, @$, $TYPE, $args_opt.first); }
       ;
args_opt: %empty                                    { NONE($$); }
        | args
        ;
args: value                                         { ONE($$, $1); }
    | args[list] ',' value                          { $$ = $list; APPEND($$, $value); }
    ;
unary: postfix
     | "++" unary[right]                            { $$ = ast_increment(ps, @$, @1, AST_OP_ADD, $right, false); }
     | "--" unary[right]                            { $$ = ast_increment(ps, @$, @1, AST_OP_SUB, $right, false); }
     | '+' cast                                     { $$ = ast_unary(ps, @$, @1, AST_OP_PLUS, $cast); }
     | '-' cast                                     { $$ = ast_unary(ps, @$, @1, AST_OP_NEGATE, $cast); }
     | '!' cast                                     { $$ = ast_unary(ps, @$, @1, AST_OP_NOT, $cast); }
     | '~' cast                                     { $$ = ast_unary(ps, @$, @1, AST_OP_COMPLEMENT, $cast); }
     ;
cast: unary
    | '(' TYPE dims ')' cast[right]                 { $$ = ast_cast(ps, @$, @1, ast_type_with_dims($TYPE,
                                                           span_join(@2, @3), $dims.first), $right); }
    ;
multiplicative: cast
    | multiplicative[l] '*' cast[r]                 { $$ = ast_binary(ps, @$, @2, AST_OP_MUL, $l, $r); }
    | multiplicative[l] '/' cast[r]                 { $$ = ast_binary(ps, @$, @2, AST_OP_DIV, $l, $r); }
    | multiplicative[l] '%' cast[r]                 { $$ = ast_binary(ps, @$, @2, AST_OP_REM, $l, $r); }
    ;
additive: multiplicative
    | additive[l] '+' multiplicative[r]             { $$ = ast_binary(ps, @$, @2, AST_OP_ADD, $l, $r); }
    | additive[l] '-' multiplicative[r]             { $$ = ast_binary(ps, @$, @2, AST_OP_SUB, $l, $r); }
    ;
shift: additive
    | shift[l] "<<" additive[r]                     { $$ = ast_binary(ps, @$, @2, AST_OP_SHL, $l, $r); }
    | shift[l] ">>" additive[r]                     { $$ = ast_binary(ps, @$, @2, AST_OP_SHR, $l, $r); }
    ;
relational: shift
    | relational[l] '<' shift[r]                    { $$ = ast_binary(ps, @$, @2, AST_OP_LT, $l, $r); }
    | relational[l] '>' shift[r]                    { $$ = ast_binary(ps, @$, @2, AST_OP_GT, $l, $r); }
    | relational[l] "<=" shift[r]                   { $$ = ast_binary(ps, @$, @2, AST_OP_LE, $l, $r); }
    | relational[l] ">=" shift[r]                   { $$ = ast_binary(ps, @$, @2, AST_OP_GE, $l, $r); }
    ;
equality: relational
    | equality[l] "==" relational[r]                { $$ = ast_binary(ps, @$, @2, AST_OP_EQ, $l, $r); }
    | equality[l] "!=" relational[r]                { $$ = ast_binary(ps, @$, @2, AST_OP_NE, $l, $r); }
    ;
and: equality
    | and[l] '&' equality[r]                        { $$ = ast_binary(ps, @$, @2, AST_OP_AND, $l, $r); }
    ;
xor: and
    | xor[l] '^' and[r]                             { $$ = ast_binary(ps, @$, @2, AST_OP_XOR, $l, $r); }
    ;
or: xor
    | or[l] '|' xor[r]                              { $$ = ast_binary(ps, @$, @2, AST_OP_OR, $l, $r); }
    ;
and_then: or
    | and_then[l] "&&" or[r]                        { $$ = ast_binary(ps, @$, @2, AST_OP_LOGICAL_AND, $l, $r); }
    ;
or_else: and_then
    | or_else[l] "||" and_then[r]                   { $$ = ast_binary(ps, @$, @2, AST_OP_LOGICAL_OR, $l, $r); }
    ;
conditional: or_else
    | or_else[if] '?' expression[yes] ':' conditional[no]
                                                    { $$ = ast_conditional(ps, @$, @2, $if, $yes, $no); }
    ;
assignment: conditional
    | unary '=' assignment[right]                   { $$ = ast_assign(ps, @$, @2, AST_OP_NONE, $unary, $right); }
    | unary ASSIGN_OP assignment[right]             { $$ = ast_assign(ps, @$, @2, $ASSIGN_OP, $unary, $right); }
    ;
expression: assignment
    | expression[left] ',' assignment               { $$ = ast_pair(ps, AST_EXPR_COMMA, @$, @2, $left, $assignment); }
    ;

/* ---- pipelines ---- */

net_block: '{' net_statements '}'                   { $$ = ast_net(ps, AST_NET_BLOCK, @$, $net_statements.first, NULL); } ;
net_statements: %empty                              { NONE($$); }
              | net_statements[list] net_statement  { $$ = $list; APPEND($$, $net_statement); }
              ;
net_statement: net_block
             | ';'                                  { $$ = ast_net(ps, AST_NET_EMPTY, @$, NULL, NULL); }
             | "buffer" type buffers ';'            { $$ = ast_net(ps, AST_NET_BUFFER, @$, NULL, NULL);
                                                      $$->type = $type; $$->buffers = $buffers.first; }
             | "const" type inits ';'               { $$ = ast_net(ps, AST_NET_CONST, @$, NULL, NULL);
                                                      $$->type = $type; $$->declarators = $inits.first; }
             | chain ';'                            { $$ = ast_net(ps, AST_NET_CHAIN, @$, NULL, NULL);
                                                      $$->chain = $chain.first; }
             | "for" '(' net_for_init expression_opt[while] ';' expression_opt[step] ')' net_statement[body]
                                                    { $$ = ast_net_for(ps, @$, $net_for_init, $while, $step, $body); }
             | "if" '(' expression ')' net_statement[yes] %prec THEN
                                                    { $$ = ast_net(ps, AST_NET_IF, @$, $yes, NULL);
                                                      $$->condition = $expression; }
             | "if" '(' expression ')' net_statement[yes] "else" net_statement[no]
                                                    { $$ = ast_net(ps, AST_NET_IF, @$, $yes, $no);
                                                      $$->condition = $expression; }
             | error RESYNC                         { $$ = ast_net(ps, AST_NET_ERROR, @$, NULL, NULL);
                                                      ast_lost(ps, @error, @RESYNC); yyerrok; }
             ;
net_for_init: ';'                                   { $$ = ast_net(ps, AST_NET_FOR, @$, NULL, NULL); }
            | expression ';'                        { $$ = ast_net(ps, AST_NET_FOR, @$, NULL, NULL);
                                                      $$->init_expr = $expression; }
            | TYPE inits ';'                        { $$ = ast_net(ps, AST_NET_FOR, @$, NULL, NULL);
                                                      $$->type = $TYPE; $$->declarators = $inits.first; }
            ;
buffers: buffer_name                                { ONE($$, $1); }
       | buffers[list] ',' buffer_name              { $$ = $list; APPEND($$, $buffer_name); }
       ;
buffer_name: name dims attributes                   { $$ = ast_buffer(ps, @$, $name, $dims.first, $attributes.first); } ;
chain: node                                         { ONE($$, $node); }
     | chain[list] "->" node                        { $$ = $list; APPEND($$, $node); }
     ;
node: element
    | name ':' element                              { $$ = $element; $$->label = $name; $$->span = @$; }
    ;
element: element_ref attributes                     { $$ = $1; $$->attributes = $attributes.first; $$->span = @$; }
       | element_ref call attributes                { $$ = ast_element(@$, $1, $call, $attributes.first); }
       | name subscripts                            { $$ = ast_node(ps, @$, $name);
                                                      $$->subscripts = $subscripts.first; }
       ;
subscripts: '[' conditional ']'                     { ONE($$, $conditional); }
          | subscripts[list] '[' conditional ']'    { $$ = $list; APPEND($$, $conditional); }
          ;
element_ref: name                                   { $$ = ast_node(ps, @$, $name); }
           | name '<' type_args '>'                 { $$ = ast_node(ps, @$, $name);
                                                      $$->has_type_arguments = true;
                                                      $$->type_arguments = $type_args.first; }
           ;
call: '(' args_opt[in] ')'                          { $$ = ast_call_part(ps, @$, false, $in.first, NULL, NULL); }
    | '(' args_opt[in] "->" args_opt[out] ')'       { $$ = ast_call_part(ps, @$, true, $in.first, $out.first, NULL); }
    | '(' args_opt[in] "->" args_opt[out] ';' args_opt[rest] ')'
                                                    { $$ = ast_call_part(ps, @$, true, $in.first, $out.first,
                                                           $rest.first); }
    ;
type_args: type_arg                                 { ONE($$, $1); }
         | type_args[list] ',' type_arg             { $$ = $list; APPEND($$, $type_arg); }
         ;
type_arg: additive
        | TYPE dims                                 { $$ = ast_construct(ps, @$, ast_type_with_dims($TYPE, @$,
                                                           $dims.first), NULL); }
        ;

/* ---- command lists ---- */

commands: %empty                                    { NONE($$); }
        | commands[list] command                    { $$ = $list; APPEND($$, $command); }
        | commands[list] item                       { $$ = $list; ast_add_item(ps, $item); }
        ;
command: IDENT STRING attributes ';'                { $$ = ast_command(ps, AST_COMMAND_SET, @$, $IDENT, $STRING);
                                                      $$->attributes = $attributes.first; }
       | "pipeline" STRING attributes ';'           { $$ = ast_command(ps, AST_COMMAND_PIPELINE, @$, no_name(), $STRING);
                                                      $$->attributes = $attributes.first; }
       | IDENT TYPE dims init_name ';'              { $$ = ast_command(ps, AST_COMMAND_ARGUMENT, @$, $IDENT, NULL);
                                                      $$->param = ast_param(ps, @$, ast_type_with_dims($TYPE, @$,
                                                                            $dims.first), $init_name); }
       | IDENT "buffer" STRING type ';'             { $$ = ast_command(ps, AST_COMMAND_BUFFER, @$, $IDENT, $STRING);
                                                      $$->type = $type; }
       | IDENT "in" STRING type ';'                 { $$ = ast_command(ps, AST_COMMAND_BUFFER, @$, $IDENT, $STRING);
                                                      $$->type = $type; $$->is_in = true; }
       | IDENT "out" STRING type ';'                { $$ = ast_command(ps, AST_COMMAND_BUFFER, @$, $IDENT, $STRING);
                                                      $$->type = $type; $$->is_out = true; }
       | IDENT "kernel" STRING element ';'          { $$ = ast_command(ps, AST_COMMAND_KERNEL, @$, $IDENT, $STRING);
                                                      $$->element = $element; }
       | IDENT STRING[buffer] "->" end_of_kernel[end] ';'
                                                    { $$ = $end; ast_connect(ps, $$, @$, $IDENT, $buffer); }
       | IDENT end_of_kernel[end] "->" STRING[buffer] ';'
                                                    { $$ = $end; $$->is_out = true;
                                                      ast_connect(ps, $$, @$, $IDENT, $buffer); }
       ;
end_of_kernel: STRING '.' name dims                 { $$ = ast_end_of_kernel(ps, @$, $STRING, $name, $dims.first); } ;

/* ---- tests ---- */

checks: %empty                                      { NONE($$); }
      | checks[list] check                          { $$ = $list; APPEND($$, $check); }
      ;
check: name dims '=' value ';'                      { $$ = ast_check(ps, AST_CHECK_SET, @$, $value);
                                                      $$->name = $name; $$->dims = $dims.first; }
     | "expect" conditional tolerance ';'           { $$ = ast_expect(@$, $tolerance, $conditional, NULL); }
     | "expect" equality "==" braces tolerance ';'  { $$ = ast_expect(@$, $tolerance, $equality, $braces); }
     | "expect" name STRING ';'                     { $$ = ast_check(ps, AST_CHECK_EXPECT_NAMED, @$, $STRING);
                                                      $$->name = $name; }
     | error RESYNC                                 { $$ = ast_check(ps, AST_CHECK_ERROR, @$, NULL); yyerrok; }
     ;
tolerance: %empty                                   { $$ = ast_check(ps, AST_CHECK_EXPECT, @$, NULL); }
         | IDENT conditional                        { $$ = ast_check(ps, AST_CHECK_EXPECT, @$, NULL);
                                                      $$->tolerance = $IDENT; $$->tolerance_value = $conditional; }
         | IDENT[word] conditional IDENT[unit]      { $$ = ast_check(ps, AST_CHECK_EXPECT, @$, NULL);
                                                      $$->tolerance = $word; $$->tolerance_value = $conditional;
                                                      $$->tolerance_unit = $unit; }
         ;
%%

/* From the first to the last symbol that is not empty. An empty rule stands where the one before
 * it ends, in rhs[0], and an inserted token where it is: in recovery there is no rhs[0]. */
static struct span span_of_rhs(const struct span *rhs, int count)
{
    struct span span = count == 0 ? (struct span){rhs[0].source, rhs[0].end, rhs[0].end} : rhs[1];
    int first = 1, last = count;
    while (first <= count && rhs[first].begin == rhs[first].end)
        first++;
    if (first > count) return span;
    while (rhs[last].begin == rhs[last].end)
        last--;
    return (struct span){rhs[first].source, rhs[first].begin, rhs[last].end};
}

static struct ast_name no_name(void)
{
    return (struct ast_name){0};
}

static bool is_list_in_braces(yysymbol_kind_t kind)
{
    return kind == YYSYMBOL_statements || kind == YYSYMBOL_net_statements || kind == YYSYMBOL_fields ||
           kind == YYSYMBOL_checks;
}

/* Describes the open constructs on the parser's stack, from the innermost list of statements
 * outwards: state 0 is the bottom. */
static void describe_stack(const yypcontext_t *context, struct syntax_error *error)
{
    error->after = yysymbol_name(YY_ACCESSING_SYMBOL(*context->yyssp));
    size_t count = 0;
    for (const yy_state_t *state = context->yyssp; *state != 0; state--) {
        yysymbol_kind_t kind = YY_ACCESSING_SYMBOL(*state);
        yysymbol_kind_t below = state[-1] != 0 ? YY_ACCESSING_SYMBOL(state[-1]) : YYSYMBOL_YYEMPTY;
        char bracket = 0;
        if (strcmp(yysymbol_name(kind), "'}'") == 0) break; /* the `}` of a struct */
        if (kind == YYSYMBOL_DO && state + 1 < context->yyssp) error->inside_do = true;
        if (is_list_in_braces(kind)) {
            error->in_block = true;
            error->in_net = kind == YYSYMBOL_net_statements;
            error->in_body = kind == YYSYMBOL_statements;
            break;
        }
        if (yysymbol_name(kind)[0] == '\'') bracket = yysymbol_name(kind)[1];
        if (bracket == '(' && below == YYSYMBOL_type_params_opt) bracket = BRACKET_SIGNATURE;
        if (bracket == '(' && (below == YYSYMBOL_FOR || below == YYSYMBOL_element_ref)) bracket = BRACKET_WITH_SEMICOLONS;
        if (bracket == '=' || kind == YYSYMBOL_ASSIGN_OP || kind == YYSYMBOL_EMIT) error->after_assignment = true;
        if (bracket && strchr("([{" BRACKETS_SPECIAL, bracket) && count < SYNTAX_OPEN_MAX)
            error->open[count++] = bracket;
    }
    for (size_t i = 0; i < count / 2; i++) { /* outermost first */
        char swapped = error->open[i];
        error->open[i] = error->open[count - 1 - i];
        error->open[count - 1 - i] = swapped;
    }
    error->open_count = count;
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *ps)
{
    struct syntax_error error = {0};
    describe_stack(context, &error);
    if (token_stream_wants_expected(ps)) {
        yysymbol_kind_t expected[YYNTOKENS];
        int count = yypcontext_expected_tokens(context, expected, YYNTOKENS);
        for (int i = 0; i < count; i++)
            if (expected[i] != YYSYMBOL_RESYNC && expected[i] != YYSYMBOL_COMMANDS && expected[i] != YYSYMBOL_NO_WHILE)
                error.expected[error.expected_count++] = yysymbol_name(expected[i]);
    }
    syntax_error_report(ps, &error);
    return 0;
}

/* The only error of Bison itself: its stack has reached YYMAXDEPTH. */
static void yyerror(const struct span *at, struct parser *ps, const char *message)
{
    (void)message;
    ast_too_deep(ps, *at);
}
