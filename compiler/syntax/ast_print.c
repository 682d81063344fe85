/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/ast_print.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/diagnostics/diag.h"
#include "base/terminal_text.h"
#include "base/quote.h"

/* Deeper levels are not indented further: 1,000 of them would make most of the text blanks. */
enum { INDENTED_MAX = 40 };

static const char *operator_text(enum ast_operator op)
{
    static const char *const texts[] = {
        [AST_OP_ADD] = "+",        [AST_OP_SUB] = "-",          [AST_OP_MUL] = "*",
        [AST_OP_DIV] = "/",        [AST_OP_REM] = "%",          [AST_OP_SHL] = "<<",
        [AST_OP_SHR] = ">>",       [AST_OP_AND] = "&",          [AST_OP_OR] = "|",
        [AST_OP_XOR] = "^",        [AST_OP_LT] = "<",           [AST_OP_GT] = ">",
        [AST_OP_LE] = "<=",        [AST_OP_GE] = ">=",          [AST_OP_EQ] = "==",
        [AST_OP_NE] = "!=",        [AST_OP_LOGICAL_AND] = "&&", [AST_OP_LOGICAL_OR] = "||",
        [AST_OP_NEGATE] = "-",     [AST_OP_PLUS] = "+",         [AST_OP_NOT] = "!",
        [AST_OP_COMPLEMENT] = "~", [AST_OP_NONE] = "",
    };
    return texts[op];
}

/* ---- expressions ---- */

static void print_name(FILE *to, struct ast_name name)
{
    if (name.text) terminal_text_print(to, name.text);
}

static void print_exprs(FILE *to, const struct ast_expr *list)
{
    for (const struct ast_expr *expr = list; expr; expr = expr->next) {
        if (expr != list) fputs(", ", to);
        ast_print_expr(to, expr);
    }
}

static void print_dims(FILE *to, const struct ast_expr *dims)
{
    for (; dims; dims = dims->next) {
        fputc('[', to);
        ast_print_expr(to, dims);
        fputc(']', to);
    }
}

static void print_type(FILE *to, const struct ast_type *type)
{
    print_name(to, type->name);
    print_dims(to, type->dims);
}

static void print_operation(FILE *to, const struct ast_expr *expr, const char *op)
{
    fputc('(', to);
    if (expr->left) ast_print_expr(to, expr->left);
    fprintf(to, " %s ", op);
    ast_print_expr(to, expr->right);
    fputc(')', to);
}

static void print_increment(FILE *to, const struct ast_expr *expr)
{
    const char *op = expr->op == AST_OP_ADD ? "++" : "--";
    fprintf(to, "(%s", expr->postfix ? "" : op);
    ast_print_expr(to, expr->left);
    fprintf(to, "%s)", expr->postfix ? op : "");
}

static void print_conditional(FILE *to, const struct ast_expr *expr)
{
    fputc('(', to);
    ast_print_expr(to, expr->left);
    fputs(" ? ", to);
    ast_print_expr(to, expr->right);
    fputs(" : ", to);
    ast_print_expr(to, expr->third);
    fputc(')', to);
}

static void print_dimensions(FILE *to, const struct ast_expr *list)
{
    for (const struct ast_expr *expr = list; expr; expr = expr->next) {
        if (expr != list) fputs(" x ", to);
        ast_print_expr(to, expr);
    }
}

void ast_print_expr(FILE *to, const struct ast_expr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_NAME: print_name(to, expr->name); break;
    case AST_EXPR_INTEGER:
        fprintf(to, "%" PRIu64 "%s%s", expr->integer.value, expr->integer.is_unsigned ? "u" : "",
                expr->integer.is_long ? "L" : "");
        break;
    case AST_EXPR_FLOAT: /* hexadecimal: exact, and no locale writes a comma in it */
        fprintf(to, "%a%s", expr->floating.value, expr->floating.is_f32 ? "f" : "");
        break;
    case AST_EXPR_STRING: quote_print(to, expr->string.bytes, expr->string.size_bytes); break;
    case AST_EXPR_UNARY:
        fprintf(to, "(%s", operator_text(expr->op));
        ast_print_expr(to, expr->left);
        fputc(')', to);
        break;
    case AST_EXPR_BINARY: print_operation(to, expr, operator_text(expr->op)); break;
    case AST_EXPR_CONDITIONAL: print_conditional(to, expr); break;
    case AST_EXPR_ASSIGN: {
        char op[8];
        snprintf(op, sizeof op, "%s=", operator_text(expr->op));
        print_operation(to, expr, op);
        break;
    }
    case AST_EXPR_INCREMENT: print_increment(to, expr); break;
    case AST_EXPR_INDEX:
        ast_print_expr(to, expr->left);
        fputc('[', to);
        ast_print_expr(to, expr->right);
        fputc(']', to);
        break;
    case AST_EXPR_MEMBER:
        ast_print_expr(to, expr->left);
        fputc('.', to);
        print_name(to, expr->name);
        break;
    case AST_EXPR_CALL:
        print_name(to, expr->name);
        fputc('(', to);
        print_exprs(to, expr->arguments);
        fputc(')', to);
        break;
    case AST_EXPR_CONSTRUCT:
        print_type(to, expr->type);
        fputc('(', to);
        print_exprs(to, expr->arguments);
        fputc(')', to);
        break;
    case AST_EXPR_CAST:
        fputs("((", to);
        print_type(to, expr->type);
        fputc(')', to);
        ast_print_expr(to, expr->left);
        fputc(')', to);
        break;
    case AST_EXPR_COMMA: print_operation(to, expr, ","); break;
    case AST_EXPR_BRACES:
        fputc('{', to);
        print_exprs(to, expr->arguments);
        fputc('}', to);
        break;
    case AST_EXPR_FIELD:
        fputc('.', to);
        print_name(to, expr->name);
        fputs(" = ", to);
        ast_print_expr(to, expr->left);
        break;
    case AST_EXPR_RANGE: print_operation(to, expr, ".."); break;
    case AST_EXPR_REPEAT: print_operation(to, expr, "x"); break;
    case AST_EXPR_DIMENSIONS: print_dimensions(to, expr->arguments); break;
    }
}

/* ---- lines ---- */

static void print_indent(FILE *to, int level)
{
    fprintf(to, "%*s", 2 * (level < INDENTED_MAX ? level : INDENTED_MAX), "");
}

static void print_line(FILE *to, int level, const char *text)
{
    print_indent(to, level);
    fprintf(to, "%s\n", text);
}

/* Prints `word expression`, or nothing for NULL. */
static void print_clause(FILE *to, int level, const char *word, const struct ast_expr *expr)
{
    if (!expr) return;
    print_indent(to, level);
    fprintf(to, "%s ", word);
    ast_print_expr(to, expr);
    fputc('\n', to);
}

static void print_attributes(FILE *to, int level, const struct ast_attribute *attribute)
{
    for (; attribute; attribute = attribute->next) {
        print_indent(to, level);
        fputs("attribute ", to);
        print_name(to, attribute->name);
        fputc(' ', to);
        ast_print_expr(to, attribute->value);
        if (attribute->of.text) fputs(" of ", to);
        print_name(to, attribute->of);
        fputc('\n', to);
    }
}

static void print_declarators(FILE *to, int level, const char *word, const struct ast_type *type,
                              const struct ast_declarator *declarator)
{
    for (; declarator; declarator = declarator->next) {
        print_indent(to, level);
        fprintf(to, "%s ", word);
        print_type(to, type);
        fputc(' ', to);
        print_name(to, declarator->name);
        print_dims(to, declarator->dims);
        if (declarator->init) {
            fputs(" = ", to);
            ast_print_expr(to, declarator->init);
        }
        fputc('\n', to);
    }
}

/* ---- bodies ---- */

static void print_stmts(FILE *to, int level, const struct ast_stmt *stmt);

static void print_launch(FILE *to, int level, const struct ast_stmt *stmt)
{
    const struct ast_launch *launch = stmt->launch;
    print_declarators(to, level, "event", stmt->type, stmt->declarators);
    print_indent(to, level);
    fputs("launch ", to);
    print_name(to, launch->kernel);
    fputc('<', to);
    print_exprs(to, launch->type_arguments);
    fputs(">(", to);
    print_exprs(to, launch->arguments);
    fputc(')', to);
    if (launch->order.text) {
        fputc(' ', to);
        print_name(to, launch->order);
        fputc(' ', to);
        print_exprs(to, launch->order_arguments);
    }
    fputc('\n', to);
}

static const char *qualifier_text(enum ast_qualifier qualifier)
{
    static const char *const texts[] = {"var", "const", "state", "table", "local"};
    return texts[qualifier];
}

static const char *stmt_text(enum ast_stmt_kind kind)
{
    static const char *const texts[] = {
        [AST_STMT_BLOCK] = "block",   [AST_STMT_EMPTY] = "empty",
        [AST_STMT_EXPR] = "eval",     [AST_STMT_DECLARE] = "declare",
        [AST_STMT_EMIT] = "emit",     [AST_STMT_IF] = "if",
        [AST_STMT_WHILE] = "while",   [AST_STMT_DO] = "do",
        [AST_STMT_FOR] = "for",       [AST_STMT_SWITCH] = "switch",
        [AST_STMT_CASE] = "case",     [AST_STMT_DEFAULT] = "default",
        [AST_STMT_BREAK] = "break",   [AST_STMT_CONTINUE] = "continue",
        [AST_STMT_RETURN] = "return", [AST_STMT_STOP] = "stop",
        [AST_STMT_LAUNCH] = "launch", [AST_STMT_INIT] = "init",
        [AST_STMT_FINISH] = "finish", [AST_STMT_ERROR] = "error",
    };
    return texts[kind];
}

static void print_stmt(FILE *to, int level, const struct ast_stmt *stmt)
{
    switch (stmt->kind) {
    case AST_STMT_DECLARE:
        print_declarators(to, level, qualifier_text(stmt->qualifier), stmt->type,
                          stmt->declarators);
        return;
    case AST_STMT_EMIT:
        print_indent(to, level);
        fputs("emit ", to);
        ast_print_expr(to, stmt->target);
        fputs(" <- ", to);
        ast_print_expr(to, stmt->expr);
        fputc('\n', to);
        return;
    case AST_STMT_FOR:
        print_line(to, level, "for");
        if (stmt->init) {
            print_line(to, level + 1, "first");
            print_stmts(to, level + 2, stmt->init);
        }
        print_clause(to, level + 1, "while", stmt->expr);
        print_clause(to, level + 1, "step", stmt->step);
        print_stmts(to, level + 1, stmt->body);
        return;
    case AST_STMT_LAUNCH: print_launch(to, level, stmt); return;
    default: break;
    }
    if (stmt->expr)
        print_clause(to, level, stmt_text(stmt->kind), stmt->expr);
    else
        print_line(to, level, stmt_text(stmt->kind));
    print_attributes(to, level + 1, stmt->attributes);
    print_stmts(to, level + 1, stmt->body);
    if (stmt->otherwise) {
        print_line(to, level, "else");
        print_stmts(to, level + 1, stmt->otherwise);
    }
}

static void print_stmts(FILE *to, int level, const struct ast_stmt *stmt)
{
    for (; stmt; stmt = stmt->next)
        print_stmt(to, level, stmt);
}

/* ---- pipelines ---- */

static void print_node(FILE *to, const struct ast_node *node)
{
    if (node->label.text) {
        print_name(to, node->label);
        fputs(": ", to);
    }
    print_name(to, node->name);
    if (node->has_type_arguments) {
        fputc('<', to);
        print_exprs(to, node->type_arguments);
        fputc('>', to);
    }
    print_dims(to, node->subscripts);
    if (!node->has_call) return;
    fputc('(', to);
    print_exprs(to, node->inputs);
    if (node->has_arrow) fputs(" -> ", to);
    print_exprs(to, node->outputs);
    if (node->arguments) fputs("; ", to);
    print_exprs(to, node->arguments);
    fputc(')', to);
}

static void print_nodes(FILE *to, int level, const struct ast_node *node)
{
    for (; node; node = node->next) {
        print_indent(to, level);
        fputs("node ", to);
        print_node(to, node);
        fputc('\n', to);
        print_attributes(to, level + 1, node->attributes);
    }
}

static void print_buffers(FILE *to, int level, const struct ast_net *net)
{
    for (const struct ast_buffer *buffer = net->buffers; buffer; buffer = buffer->next) {
        print_indent(to, level);
        fputs("buffer ", to);
        print_type(to, net->type);
        fputc(' ', to);
        print_name(to, buffer->name);
        print_dims(to, buffer->dims);
        fputc('\n', to);
        print_attributes(to, level + 1, buffer->attributes);
    }
}

static void print_nets(FILE *to, int level, const struct ast_net *net);

static void print_net(FILE *to, int level, const struct ast_net *net)
{
    switch (net->kind) {
    case AST_NET_BLOCK: print_line(to, level, "block"); break;
    case AST_NET_EMPTY: print_line(to, level, "empty"); break;
    case AST_NET_BUFFER: print_buffers(to, level, net); break;
    case AST_NET_CONST: print_declarators(to, level, "const", net->type, net->declarators); break;
    case AST_NET_CHAIN:
        print_line(to, level, "chain");
        print_nodes(to, level + 1, net->chain);
        break;
    case AST_NET_FOR:
        print_line(to, level, "for");
        print_declarators(to, level + 1, "first", net->type, net->declarators);
        print_clause(to, level + 1, "first", net->init_expr);
        print_clause(to, level + 1, "while", net->condition);
        print_clause(to, level + 1, "step", net->step);
        break;
    case AST_NET_IF: print_clause(to, level, "if", net->condition); break;
    case AST_NET_ERROR: print_line(to, level, "error"); break;
    }
    print_nets(to, level + 1, net->body);
    if (net->otherwise) {
        print_line(to, level, "else");
        print_nets(to, level + 1, net->otherwise);
    }
}

static void print_nets(FILE *to, int level, const struct ast_net *net)
{
    for (; net; net = net->next)
        print_net(to, level, net);
}

/* ---- items ---- */

static void print_params(FILE *to, int level, const struct ast_param *param)
{
    for (; param; param = param->next) {
        struct ast_declarator declarator = {
            .name = param->name, .dims = param->dims, .init = param->value};
        print_declarators(to, level, "param", param->type, &declarator);
    }
}

static void print_signature(FILE *to, int level, const struct ast_signature *signature)
{
    for (const struct ast_type_param *param = signature->type_params; param; param = param->next) {
        print_indent(to, level);
        fputs("generic ", to);
        if (param->is_type)
            fputs("type", to);
        else
            print_type(to, param->type);
        fputc(' ', to);
        print_name(to, param->name);
        fputc('\n', to);
    }
    for (const struct ast_port *port = signature->ports; port; port = port->next) {
        struct ast_declarator declarator = {.name = port->name, .dims = port->dims};
        print_declarators(to, level, port->is_out ? "out" : "in", port->type, &declarator);
        print_attributes(to, level + 1, port->attributes);
    }
    print_params(to, level, signature->params);
    print_attributes(to, level, signature->attributes);
}

static void print_check(FILE *to, int level, const struct ast_check *check)
{
    print_indent(to, level);
    fputs(check->kind == AST_CHECK_SET     ? "set "
          : check->kind == AST_CHECK_ERROR ? "error"
                                           : "expect ",
          to);
    print_name(to, check->name);
    print_dims(to, check->dims);
    if (check->name.text && check->value) fputc(' ', to);
    if (check->value) ast_print_expr(to, check->value);
    if (check->other) {
        fputs(" == ", to);
        ast_print_expr(to, check->other);
    }
    if (check->tolerance.text) {
        fputc(' ', to);
        print_name(to, check->tolerance);
        fputc(' ', to);
        ast_print_expr(to, check->tolerance_value);
        if (check->tolerance_unit.text) fputc(' ', to);
        print_name(to, check->tolerance_unit);
    }
    fputc('\n', to);
}

static void print_item_name(FILE *to, int level, const char *word, const struct ast_item *item)
{
    print_indent(to, level);
    fprintf(to, "%s ", word);
    if (item->kind == AST_ITEM_IMPORT) quote_print(to, item->path, (uint32_t)strlen(item->path));
    print_name(to, item->name);
    if (item->kind == AST_ITEM_FN) {
        fputs(" -> ", to);
        print_type(to, item->type);
    }
    if (item->kind == AST_ITEM_TEST) {
        fputs(" of ", to);
        print_node(to, item->subject);
    }
    fputc('\n', to);
}

static void print_item(FILE *to, int level, const struct ast_item *item)
{
    static const char *const kernel_words[] = {"kernel", "child kernel", "extern kernel",
                                               "builtin kernel"};
    const char *text = item->documentation;
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        print_indent(to, level);
        fputs(length ? "/// " : "///", to);
        terminal_bytes_print(to, text, length);
        fputc('\n', to);
        text += length + (text[length] != '\0');
    }
    switch (item->kind) {
    case AST_ITEM_IMPORT: print_item_name(to, level, "import", item); return;
    case AST_ITEM_CONST:
        print_declarators(to, level, "const", item->type, item->declarators);
        return;
    case AST_ITEM_STRUCT: print_item_name(to, level, "struct", item); break;
    case AST_ITEM_FN: print_item_name(to, level, "fn", item); break;
    case AST_ITEM_KERNEL: print_item_name(to, level, kernel_words[item->kernel_kind], item); break;
    case AST_ITEM_PIPELINE: print_item_name(to, level, "pipeline", item); break;
    case AST_ITEM_TEST: print_item_name(to, level, "test", item); break;
    }
    const struct ast_field *field = item->fields;
    for (; field; field = field->next) {
        struct ast_declarator declarator = {.name = field->name, .dims = field->dims};
        print_declarators(to, level + 1, "field", field->type, &declarator);
    }
    print_params(to, level + 1, item->params);
    print_signature(to, level + 1, &item->signature);
    print_stmts(to, level + 1, item->body);
    print_nets(to, level + 1, item->net);
    for (const struct ast_check *check = item->checks; check; check = check->next)
        print_check(to, level + 1, check);
}

void ast_print(FILE *to, const struct ast_program *program)
{
    for (const struct ast_file *file = program->files; file; file = file->next) {
        fputs("file\n", to);
        for (const struct ast_item *item = file->items; item; item = item->next)
            print_item(to, 1, item);
    }
}
