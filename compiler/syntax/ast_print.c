/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/ast_print.h"

#include <inttypes.h>
#include <stdarg.h>
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

static void print_exprs(FILE *to, const struct ast_expr *list, const char *separator)
{
    for (const struct ast_expr *expr = list; expr; expr = expr->next) {
        if (expr != list) fputs(separator, to);
        ast_print_expr(to, expr);
    }
}

static void print_ast_name(FILE *to, struct ast_name name)
{
    if (name.text) terminal_text_print(to, name.text);
}

static void print_dims(FILE *to, const struct ast_expr *dims)
{
    for (; dims; dims = dims->next) {
        fputc('[', to);
        ast_print_expr(to, dims);
        fputc(']', to);
    }
}

static void print_child(FILE *to, const struct ast_child *child)
{
    if (child->condition) {
        fputc('(', to);
        ast_print_expr(to, child->condition);
        fputs(" ? ", to);
        print_child(to, child->yes);
        fputs(" : ", to);
        print_child(to, child->no);
        fputc(')', to);
        return;
    }
    print_ast_name(to, child->kernel);
    fputc('<', to);
    print_exprs(to, child->type_arguments, ", ");
    fputc('>', to);
}

static void print_launch_clause(FILE *to, const struct ast_clause *clause)
{
    if (!clause->word.text) return;
    fputc(' ', to);
    print_ast_name(to, clause->word);
    fputc(' ', to);
    print_exprs(to, clause->arguments, ", ");
}

/* Prints `format` with: %s a string, %n a struct ast_name, %e an expression, %l a list of them with
 * commas, %d dimensions, each in brackets, %t a type, %c a child, %w a clause of a launch. Nothing for NULL. */
static void put_parts(FILE *to, const char *format, va_list parts)
{
    for (; *format; format++) {
        if (*format != '%') {
            fputc(*format, to);
            continue;
        }
        switch (*++format) {
        case 's': fputs(va_arg(parts, const char *), to); break;
        case 'n': print_ast_name(to, va_arg(parts, struct ast_name)); break;
        case 'd': print_dims(to, va_arg(parts, const struct ast_expr *)); break;
        case 'c': print_child(to, va_arg(parts, const struct ast_child *)); break;
        case 'w': print_launch_clause(to, va_arg(parts, const struct ast_clause *)); break;
        case 'l': print_exprs(to, va_arg(parts, const struct ast_expr *), ", "); break;
        case 't': {
            const struct ast_type *type = va_arg(parts, const struct ast_type *);
            print_ast_name(to, type->name);
            print_dims(to, type->dims);
            break;
        }
        default: {
            const struct ast_expr *expr = va_arg(parts, const struct ast_expr *);
            if (expr) ast_print_expr(to, expr);
        }
        }
    }
}

static void put_in_line(FILE *to, const char *format, ...)
{
    va_list parts;
    va_start(parts, format);
    put_parts(to, format, parts);
    va_end(parts);
}

void ast_print_expr(FILE *to, const struct ast_expr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_NAME: print_ast_name(to, expr->name); break;
    case AST_EXPR_INTEGER:
        fprintf(to, "%" PRIu64 "%s%s", expr->integer.value, expr->integer.is_unsigned ? "u" : "",
                expr->integer.is_long ? "L" : "");
        break;
    case AST_EXPR_FLOAT: /* hexadecimal: exact, and no locale writes a comma in it */
        fprintf(to, "%a%s", expr->floating.value, expr->floating.is_f32 ? "f" : "");
        break;
    case AST_EXPR_STRING: quote_print(to, expr->string.bytes, expr->string.size_bytes); break;
    case AST_EXPR_UNARY: put_in_line(to, "(%s%e)", operator_text(expr->op), expr->left); break;
    case AST_EXPR_BINARY:
        put_in_line(to, "(%e %s %e)", expr->left, operator_text(expr->op), expr->right);
        break;
    case AST_EXPR_CONDITIONAL:
        put_in_line(to, "(%e ? %e : %e)", expr->left, expr->right, expr->third);
        break;
    case AST_EXPR_ASSIGN:
        put_in_line(to, "(%e %s= %e)", expr->left, operator_text(expr->op), expr->right);
        break;
    case AST_EXPR_INCREMENT: {
        const char *op = expr->op == AST_OP_ADD ? "++" : "--";
        put_in_line(to, "(%s%e%s)", expr->postfix ? "" : op, expr->left, expr->postfix ? op : "");
        break;
    }
    case AST_EXPR_INDEX: put_in_line(to, "%e[%e]", expr->left, expr->right); break;
    case AST_EXPR_MEMBER: put_in_line(to, "%e.%n", expr->left, expr->name); break;
    case AST_EXPR_CALL: put_in_line(to, "%n(%l)", expr->name, expr->arguments); break;
    case AST_EXPR_CONSTRUCT: put_in_line(to, "%t(%l)", expr->type, expr->arguments); break;
    case AST_EXPR_CAST: put_in_line(to, "((%t)%e)", expr->type, expr->left); break;
    case AST_EXPR_COMMA: put_in_line(to, "(%e , %e)", expr->left, expr->right); break;
    case AST_EXPR_BRACES: put_in_line(to, "{%l}", expr->arguments); break;
    case AST_EXPR_FIELD: put_in_line(to, ".%n = %e", expr->name, expr->left); break;
    case AST_EXPR_RANGE: put_in_line(to, "(%e .. %e)", expr->left, expr->right); break;
    case AST_EXPR_REPEAT: put_in_line(to, "(%e x %e)", expr->left, expr->right); break;
    case AST_EXPR_DIMENSIONS: print_exprs(to, expr->arguments, " x "); break;
    }
}

/* ---- lines ---- */

static void print_indent(FILE *to, int level)
{
    fprintf(to, "%*s", 2 * (level < INDENTED_MAX ? level : INDENTED_MAX), "");
}

/* A line of its own, as `put`. */
static void put_line(FILE *to, int level, const char *format, ...)
{
    va_list parts;
    va_start(parts, format);
    print_indent(to, level);
    put_parts(to, format, parts);
    fputc('\n', to);
    va_end(parts);
}

/* Prints `word expression`, or nothing for NULL. */
static void print_clause(FILE *to, int level, const char *word, const struct ast_expr *expr)
{
    if (expr) put_line(to, level, "%s %e", word, expr);
}

static void print_attributes(FILE *to, int level, const struct ast_attribute *attribute)
{
    for (; attribute; attribute = attribute->next)
        put_line(to, level, "attribute %n %e%s%n", attribute->name, attribute->value,
                 attribute->of.text ? " of " : "", attribute->of);
}

static void print_declarators(FILE *to, int level, const char *word, const struct ast_type *type,
                              const struct ast_declarator *declarator)
{
    for (; declarator; declarator = declarator->next)
        put_line(to, level, "%s %t %n%d%s%e", word, type, declarator->name, declarator->dims,
                 declarator->init ? " = " : "", declarator->init);
}

/* ---- bodies ---- */

static void print_stmts(FILE *to, int level, const struct ast_stmt *stmt);

static void print_launch(FILE *to, int level, const struct ast_stmt *stmt)
{
    const struct ast_launch *launch = stmt->launch;
    print_declarators(to, level, "event", stmt->type, stmt->declarators);
    put_line(to, level, "launch %c(%l)%w%w%w", launch->child, launch->arguments, &launch->groups,
             &launch->from, &launch->order);
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
    static const char *const qualifiers[] = {"var", "const", "state", "table", "local"};
    switch (stmt->kind) {
    case AST_STMT_DECLARE:
        print_declarators(to, level, qualifiers[stmt->qualifier], stmt->type, stmt->declarators);
        return;
    case AST_STMT_EMIT: put_line(to, level, "emit %e <- %e", stmt->target, stmt->expr); return;
    case AST_STMT_FOR:
        put_line(to, level, "for");
        if (stmt->init) {
            put_line(to, level + 1, "first");
            print_stmts(to, level + 2, stmt->init);
        }
        print_clause(to, level + 1, "while", stmt->expr);
        print_clause(to, level + 1, "step", stmt->step);
        print_stmts(to, level + 1, stmt->body);
        return;
    case AST_STMT_LAUNCH: print_launch(to, level, stmt); return;
    default: break;
    }
    put_line(to, level, "%s%s%e", stmt_text(stmt->kind), stmt->expr ? " " : "", stmt->expr);
    print_attributes(to, level + 1, stmt->attributes);
    print_stmts(to, level + 1, stmt->body);
    if (stmt->otherwise) {
        put_line(to, level, "else");
        print_stmts(to, level + 1, stmt->otherwise);
    }
}

static void print_stmts(FILE *to, int level, const struct ast_stmt *stmt)
{
    for (; stmt; stmt = stmt->next)
        print_stmt(to, level, stmt);
}

/* ---- pipelines ---- */

static void print_ast_node(FILE *to, const struct ast_node *node)
{
    put_in_line(to, "%n%s%n", node->label, node->label.text ? ": " : "", node->name);
    if (node->has_type_arguments) put_in_line(to, "<%l>", node->type_arguments);
    print_dims(to, node->subscripts);
    if (node->has_call)
        put_in_line(to, "(%l%s%l%s%l)", node->inputs, node->has_arrow ? " -> " : "", node->outputs,
                    node->arguments ? "; " : "", node->arguments);
}

static void print_ast_nodes(FILE *to, int level, const struct ast_node *node)
{
    for (; node; node = node->next) {
        print_indent(to, level);
        fputs("node ", to);
        print_ast_node(to, node);
        fputc('\n', to);
        print_attributes(to, level + 1, node->attributes);
    }
}

static void print_ast_buffers(FILE *to, int level, const struct ast_net *net)
{
    for (const struct ast_buffer *buffer = net->buffers; buffer; buffer = buffer->next) {
        put_line(to, level, "buffer %t %n%d", net->type, buffer->name, buffer->dims);
        print_attributes(to, level + 1, buffer->attributes);
    }
}

static void print_nets(FILE *to, int level, const struct ast_net *net);

static void print_net(FILE *to, int level, const struct ast_net *net)
{
    switch (net->kind) {
    case AST_NET_BLOCK: put_line(to, level, "block"); break;
    case AST_NET_EMPTY: put_line(to, level, "empty"); break;
    case AST_NET_BUFFER: print_ast_buffers(to, level, net); break;
    case AST_NET_CONST: print_declarators(to, level, "const", net->type, net->declarators); break;
    case AST_NET_CHAIN:
        put_line(to, level, "chain");
        print_ast_nodes(to, level + 1, net->chain);
        break;
    case AST_NET_FOR:
        put_line(to, level, "for");
        print_declarators(to, level + 1, "first", net->type, net->declarators);
        print_clause(to, level + 1, "first", net->init_expr);
        print_clause(to, level + 1, "while", net->condition);
        print_clause(to, level + 1, "step", net->step);
        break;
    case AST_NET_IF: print_clause(to, level, "if", net->condition); break;
    case AST_NET_ERROR: put_line(to, level, "error"); break;
    }
    print_nets(to, level + 1, net->body);
    if (net->otherwise) {
        put_line(to, level, "else");
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
    for (const struct ast_type_param *param = signature->type_params; param; param = param->next)
        if (param->is_type)
            put_line(to, level, "generic type %n", param->name);
        else
            put_line(to, level, "generic %t %n", param->type, param->name);
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
    put_in_line(to, "%n%d%s%e", check->name, check->dims,
                check->name.text && check->value ? " " : "", check->value);
    if (check->other) put_in_line(to, " == %e", check->other);
    if (check->tolerance.text)
        put_in_line(to, " %n %e%s%n", check->tolerance, check->tolerance_value,
                    check->tolerance_unit.text ? " " : "", check->tolerance_unit);
    fputc('\n', to);
}

static void print_item_name(FILE *to, int level, const char *word, const struct ast_item *item)
{
    print_indent(to, level);
    fprintf(to, "%s ", word);
    if (item->kind == AST_ITEM_IMPORT) quote_print(to, item->path, (uint32_t)strlen(item->path));
    print_ast_name(to, item->name);
    if (item->kind == AST_ITEM_FN) put_in_line(to, " -> %t", item->type);
    if (item->kind == AST_ITEM_TEST) {
        fputs(" of ", to);
        print_ast_node(to, item->subject);
    }
    if (item->fallback != NULL) {
        fputs(" else ", to);
        print_ast_node(to, item->fallback);
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
    case AST_ITEM_KERNEL:
        print_item_name(to, level,
                        item->is_pure ? "extern pure kernel" : kernel_words[item->kernel_kind],
                        item);
        break;
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
