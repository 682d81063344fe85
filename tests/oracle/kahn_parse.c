/* SPDX-License-Identifier: MIT */
/* Tokens to trees, by recursive descent; and the items of a program. */
#include "tests/oracle/kahn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct token *at; /* the next token */

static struct tree *expression(void);
static struct tree *conditional(void);
static struct tree *assignment(void);
static struct tree *value(void);
static struct tree *statement(void);
static struct tree *net(void);

static struct tree *tree(enum tree_kind kind)
{
    struct tree *t = kahn_alloc(sizeof *t);
    t->kind = kind;
    t->line = at->line;
    return t;
}

struct tree *kahn_clone(const struct tree *from)
{
    if (!from) return NULL;
    struct tree *t = kahn_alloc(sizeof *t);
    *t = *from;
    t->known = NULL;
    t->a = kahn_clone(from->a);
    t->b = kahn_clone(from->b);
    t->c = kahn_clone(from->c);
    t->d = kahn_clone(from->d);
    t->next = kahn_clone(from->next);
    return t;
}

static bool is(const char *text)
{
    return at->kind != K_STRING && at->kind != K_NUMBER && strcmp(at->text, text) == 0;
}

static bool follows(int ahead, const char *text)
{
    return at[ahead].kind != K_STRING && at[ahead].kind != K_NUMBER &&
           strcmp(at[ahead].text, text) == 0;
}

static bool take(const char *text)
{
    if (!is(text)) return false;
    at++;
    return true;
}

static void need(const char *text)
{
    if (!take(text)) kahn_refuse(at->line, "'%s' expected, found '%s'", text, at->text);
}

static const char *name(void)
{
    if (at->kind != K_NAME) kahn_refuse(at->line, "a name expected, found '%s'", at->text);
    return at++->text;
}

static struct tree **append(struct tree **last, struct tree *item)
{
    *last = item;
    return item ? &item->next : last;
}

static bool names_builtin(const struct token *token)
{
    const struct type *type;
    return token->kind == K_NAME &&
           (type_builtin(token->text, &type) || strcmp(token->text, "int") == 0 ||
            strcmp(token->text, "void") == 0);
}

static struct tree *dimensions(void)
{
    struct tree *first = NULL, **last = &first;
    while (take("[")) {
        last = append(last, conditional());
        need("]");
    }
    return first;
}

static struct tree *type_name(void)
{
    struct tree *t = tree(T_TYPE);
    t->name = name();
    t->a = dimensions();
    return t;
}

/* ---- expressions ---- */

static struct tree *list_until(const char *end)
{
    struct tree *first = NULL, **last = &first;
    while (!is(end)) {
        last = append(last, value());
        if (!take(",")) break;
    }
    need(end);
    return first;
}

static struct tree *dimension_token(void)
{
    struct tree *t = tree(T_DIMENSIONS), **last = &t->a;
    for (char *c = (char *)at->text; *c; c += *c == 'x') {
        struct tree *number = tree(T_INT);
        number->integer = strtoull(c, &c, 10);
        last = append(last, number);
    }
    at++;
    return t;
}

static struct tree *primary(void)
{
    struct tree *t;
    if (at->kind == K_NUMBER) {
        t = tree(at->is_float || (at->suffix & SUFFIX_F) ? T_FLOAT : T_INT);
        t->integer = at->integer;
        t->number = at->is_float ? at->number : (double)at->integer;
        t->flags = at->suffix;
        at++;
        return t;
    }
    if (at->kind == K_STRING) {
        t = tree(T_STRING);
        t->name = at++->text;
        return t;
    }
    if (take("(")) {
        t = expression();
        need(")");
        return t;
    }
    if (names_builtin(at)) {
        t = tree(T_CONSTRUCT);
        t->d = type_name();
        need("(");
        t->a = list_until(")");
        return t;
    }
    t = tree(T_NAME);
    t->name = name();
    if (take("(")) {
        t->kind = T_CALL;
        t->a = list_until(")");
    }
    return t;
}

static struct tree *postfix(void)
{
    struct tree *t = primary();
    for (;;) {
        struct tree *outer = NULL;
        if (is("[")) {
            outer = tree(T_INDEX);
            at++;
            outer->b = expression();
            need("]");
        } else if (is(".")) {
            outer = tree(T_MEMBER);
            at++;
            outer->name = name();
        } else if (is("++") || is("--")) {
            outer = tree(T_STEP);
            outer->op = is("++") ? OP_ADD : OP_SUB;
            outer->flags = 1;
            at++;
        } else {
            return t;
        }
        outer->a = t;
        t = outer;
    }
}

/* Of `(T) x` and `(T[2]) x`: a type in brackets. */
static bool is_cast(void)
{
    if (!is("(") || !names_builtin(at + 1)) return false;
    int ahead = 2, depth = 0;
    while (at[ahead].kind != K_END && (depth > 0 || follows(ahead, "["))) {
        depth += follows(ahead, "[");
        depth -= follows(ahead, "]");
        ahead++;
    }
    return follows(ahead, ")");
}

static struct tree *unary(void)
{
    static const char *const signs[] = {"+", "-", "!", "~"};
    static const enum operator operators[] = {OP_PLUS, OP_NEGATE, OP_NOT, OP_COMPLEMENT};
    if (is_cast()) {
        struct tree *t = tree(T_CAST);
        at++;
        t->d = type_name();
        need(")");
        t->a = unary();
        return t;
    }
    if (is("++") || is("--")) {
        struct tree *t = tree(T_STEP);
        t->op = is("++") ? OP_ADD : OP_SUB;
        at++;
        t->a = unary();
        return t;
    }
    for (int i = 0; i < 4; i++) {
        if (!is(signs[i])) continue;
        struct tree *t = tree(T_UNARY);
        t->op = (int)operators[i];
        at++;
        t->a = unary();
        return t;
    }
    return postfix();
}

static const struct {
    const char *text;
    enum operator op;
    int level;
} BINARY[] = {{"*", OP_MUL, 10},    {"/", OP_DIV, 10}, {"%", OP_REM, 10}, {"+", OP_ADD, 9},
              {"-", OP_SUB, 9},     {"<<", OP_SHL, 8}, {">>", OP_SHR, 8}, {"<", OP_LT, 7},
              {">", OP_GT, 7},      {"<=", OP_LE, 7},  {">=", OP_GE, 7},  {"==", OP_EQ, 6},
              {"!=", OP_NE, 6},     {"&", OP_AND, 5},  {"^", OP_XOR, 4},  {"|", OP_OR, 3},
              {"&&", OP_ANDAND, 2}, {"||", OP_OROR, 1}};
enum { LEVEL_ADDITIVE = 9, BINARY_COUNT = sizeof BINARY / sizeof *BINARY };

static struct tree *binary(int level)
{
    struct tree *t = unary();
    for (int i = 0; i < BINARY_COUNT; i++) {
        if (!is(BINARY[i].text) || BINARY[i].level < level) continue;
        struct tree *outer = tree(T_BINARY);
        outer->op = (int)BINARY[i].op;
        at++;
        outer->a = t;
        outer->b = binary(BINARY[i].level + 1);
        t = outer;
        i = -1;
    }
    return t;
}

static struct tree *conditional(void)
{
    struct tree *t = binary(1);
    if (!is("?")) return t;
    struct tree *select = tree(T_SELECT);
    at++;
    select->a = t;
    select->b = expression();
    need(":");
    select->c = conditional();
    return select;
}

static struct tree *assignment(void)
{
    static const struct {
        const char *text;
        enum operator op;
    } signs[] = {{"=", OP_NONE}, {"+=", OP_ADD}, {"-=", OP_SUB},  {"*=", OP_MUL},
                 {"/=", OP_DIV}, {"%=", OP_REM}, {"<<=", OP_SHL}, {">>=", OP_SHR},
                 {"&=", OP_AND}, {"^=", OP_XOR}, {"|=", OP_OR}};
    struct tree *t = conditional();
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!is(signs[i].text)) continue;
        struct tree *outer = tree(T_ASSIGN);
        outer->op = (int)signs[i].op;
        at++;
        outer->a = t;
        outer->b = assignment();
        return outer;
    }
    return t;
}

static struct tree *expression(void)
{
    struct tree *t = assignment();
    while (is(",")) {
        struct tree *outer = tree(T_COMMA);
        at++;
        outer->a = t;
        outer->b = assignment();
        t = outer;
    }
    return t;
}

static struct tree *range(struct tree *from)
{
    struct tree *t = tree(T_RANGE);
    need("..");
    t->a = from;
    t->b = conditional();
    return t;
}

static struct tree *braces(void)
{
    struct tree *t = tree(T_BRACES), **last = &t->a;
    need("{");
    while (!is("}")) {
        struct tree *item;
        if (is(".") && at[1].kind == K_NAME) {
            item = tree(T_FIELD);
            at++;
            item->name = name();
            need("=");
            item->a = value();
        } else {
            item = is("..") ? range(tree(T_INT)) : value();
            if (is("..")) item = range(item);
        }
        last = append(last, item);
        if (!take(",")) break;
    }
    need("}");
    return t;
}

static struct tree *value(void)
{
    return is("{") ? braces() : assignment();
}

/* ---- attributes and declarations ---- */

static struct tree *attribute_value(void)
{
    if (at->kind == K_DIMENSIONS) return dimension_token();
    if (is("{")) return braces();
    if (is("..")) return range(tree(T_INT));
    struct tree *t = conditional();
    if (is("..")) return range(t);
    while (is("x")) {
        struct tree *outer = tree(T_REPEAT);
        at++;
        outer->a = t;
        outer->b = is("{") ? braces() : conditional();
        t = outer;
    }
    return t;
}

static struct tree *attributes(void)
{
    struct tree *first = NULL, **last = &first;
    while (at->kind == K_NAME) {
        struct tree *t = tree(T_ATTRIBUTE);
        t->name = name();
        t->a = attribute_value();
        if (take("of")) {
            t->b = tree(T_NAME);
            t->b->name = name();
        }
        last = append(last, t);
    }
    return first;
}

static struct tree *declarators(bool with_attributes)
{
    struct tree *first = NULL, **last = &first;
    do {
        struct tree *t = tree(T_DECLARATOR);
        t->name = name();
        t->a = dimensions();
        if (with_attributes)
            t->c = attributes();
        else if (take("="))
            t->b = value();
        last = append(last, t);
    } while (take(","));
    return first;
}

static struct tree *declaration(int storage)
{
    struct tree *t = tree(S_DECLARE);
    t->op = storage;
    t->d = type_name();
    t->a = declarators(false);
    need(";");
    return t;
}

/* ---- statements ---- */

static struct tree *block(void)
{
    struct tree *t = tree(S_BLOCK), **last = &t->a;
    need("{");
    while (!is("}"))
        last = append(last, statement());
    need("}");
    return t;
}

/* <2, f32> after a name */
static struct tree *parameters(void)
{
    struct tree *first = NULL, **last = &first;
    if (!take("<")) return NULL;
    do {
        bool is_type = names_builtin(at) && !follows(1, "(");
        last = append(last, is_type ? type_name() : binary(LEVEL_ADDITIVE));
    } while (take(","));
    need(">");
    return first;
}

/* A kernel, or (condition ? child : child). */
static struct tree *launched(void)
{
    struct tree *t = tree(T_CHILD);
    if (!take("(")) {
        t->name = name();
        t->a = parameters();
        return t;
    }
    t->b = binary(1);
    need("?");
    t->c = launched();
    need(":");
    t->d = launched();
    need(")");
    return t;
}

static struct tree *launch(const char *event)
{
    struct tree *t = tree(S_LAUNCH);
    need("launch");
    t->a = launched();
    need("(");
    t->b = list_until(")");
    t->c = tree(T_RANGE);
    while (!is(";")) {
        if (take("groups")) {
            t->c->a = expression();
            continue;
        }
        if (take("from")) {
            t->c->b = expression();
            continue;
        }
        if (!take("with")) need("after");
        do
            name();
        while (take(","));
    }
    need(";");
    if (event) {
        t->d = tree(T_NAME);
        t->d->name = event;
    }
    return t;
}

/* A name, perhaps with dimensions, and a name after it. */
static bool begins_declaration(void)
{
    if (at->kind != K_NAME) return false;
    int ahead = 1, depth = 0;
    while (at[ahead].kind != K_END && (depth > 0 || follows(ahead, "["))) {
        depth += follows(ahead, "[");
        depth -= follows(ahead, "]");
        ahead++;
    }
    return at[ahead].kind == K_NAME;
}

static struct tree *for_statement(struct tree *(*body)(void))
{
    struct tree *t = tree(S_FOR);
    need("for");
    need("(");
    if (begins_declaration()) {
        t->a = declaration(STORE_PLAIN);
    } else if (!take(";")) {
        t->a = tree(S_EXPRESSION);
        t->a->a = expression();
        need(";");
    }
    if (!is(";")) t->b = expression();
    need(";");
    if (!is(")")) t->c = expression();
    need(")");
    t->d = body();
    return t;
}

static struct tree *if_statement(struct tree *(*body)(void))
{
    struct tree *t = tree(S_IF);
    need("if");
    need("(");
    t->a = expression();
    need(")");
    t->b = body();
    if (take("else")) t->c = body();
    return t;
}

static struct tree *simple(enum tree_kind kind)
{
    struct tree *t = tree(kind);
    at++;
    if (kind == S_RETURN && !is(";")) t->a = expression();
    need(";");
    return t;
}

static struct tree *loop_statement(void)
{
    struct tree *t = tree(is("do") ? S_DO : is("while") ? S_WHILE : S_SWITCH);
    at++;
    if (t->kind == S_DO) {
        t->b = statement();
        need("while");
    }
    need("(");
    t->a = expression();
    need(")");
    if (t->kind == S_DO)
        need(";");
    else
        t->b = statement();
    return t;
}

static struct tree *labelled(void)
{
    struct tree *t = tree(is("case") ? S_CASE : S_DEFAULT);
    at++;
    if (t->kind == S_CASE) t->a = conditional();
    need(":");
    t->b = statement();
    return t;
}

static struct tree *section(enum tree_kind kind)
{
    struct tree *t = tree(kind);
    at++;
    t->b = kind == S_FINISH ? attributes() : NULL;
    t->a = block();
    return t;
}

static struct tree *statement(void)
{
    static const char *const storages[] = {"", "const", "state", "table", "local"};
    if (is("{")) return block();
    if (is(";")) return at++, tree(S_EMPTY);
    for (int i = STORE_CONST; i <= STORE_LOCAL; i++)
        if (is(storages[i])) return at++, declaration(i);
    if (is("if")) return if_statement(statement);
    if (is("for")) return for_statement(statement);
    if (is("while") || is("do") || is("switch")) return loop_statement();
    if (is("case") || is("default")) return labelled();
    if (is("break")) return simple(S_BREAK);
    if (is("continue")) return simple(S_CONTINUE);
    if (is("return")) return simple(S_RETURN);
    if (is("stop")) return simple(S_STOP);
    if (is("init") && follows(1, "{")) return section(S_INIT);
    if (is("finish")) return section(S_FINISH);
    if (is("launch")) return launch(NULL);
    if (is("event") && at[1].kind == K_NAME && follows(2, "=") && follows(3, "launch")) {
        const char *event = at[1].text;
        at += 3;
        return launch(event);
    }
    if (begins_declaration()) return declaration(STORE_PLAIN);
    struct tree *t = tree(S_EXPRESSION);
    t->a = expression();
    if (take("<-")) {
        t->kind = S_EMIT;
        t->b = assignment();
    }
    need(";");
    return t;
}

/* ---- nets ---- */

static struct tree *net_block(void)
{
    struct tree *t = tree(S_BLOCK), **last = &t->a;
    need("{");
    while (!is("}"))
        last = append(last, net());
    need("}");
    return t;
}

static struct tree *binding(void)
{
    struct tree *t = tree(T_BINDING), **last = &t->a;
    need("(");
    while (!is("->") && !is(")")) {
        last = append(last, value());
        if (!take(",")) break;
    }
    if (take("->")) {
        t->flags = 1;
        for (last = &t->b; !is(";") && !is(")");) {
            last = append(last, value());
            if (!take(",")) break;
        }
        if (take(";"))
            for (last = &t->c; !is(")");) {
                last = append(last, value());
                if (!take(",")) break;
            }
    }
    need(")");
    return t;
}

static struct tree *node(void)
{
    struct tree *t = tree(N_NODE), *reference = tree(T_NAME);
    if (follows(1, ":")) {
        t->d = tree(T_NAME);
        t->d->name = name();
        need(":");
    }
    t->name = reference->name = name();
    while (is("[")) { /* a buffer of an array */
        struct tree *outer = tree(T_INDEX);
        at++;
        outer->a = reference;
        outer->b = conditional();
        need("]");
        reference = outer;
    }
    t->b = reference;
    if (reference->kind == T_NAME) t->a = parameters();
    if (is("(")) t->c = binding();
    attributes();
    return t;
}

static struct tree *net(void)
{
    if (is("{")) return net_block();
    if (is(";")) {
        struct tree *t = tree(S_EMPTY);
        at++;
        return t;
    }
    if (is("if")) return if_statement(net);
    if (is("for")) return for_statement(net);
    if (take("const")) return declaration(STORE_CONST);
    struct tree *t = tree(is("buffer") ? N_BUFFER : N_CHAIN), **last = &t->a;
    if (take("buffer")) {
        t->d = type_name();
        t->a = declarators(true);
    } else {
        do
            last = append(last, node());
        while (take("->"));
    }
    need(";");
    return t;
}

/* ---- items ---- */

static struct tree *arguments(const char *end)
{
    struct tree *first = NULL, **last = &first;
    while (!is(end)) {
        struct tree *t = tree(S_DECLARE);
        t->d = type_name();
        t->a = tree(T_DECLARATOR);
        t->a->name = name();
        t->a->a = dimensions();
        if (take("=")) t->a->b = value();
        last = append(last, t);
        if (!take(",")) break;
    }
    need(end);
    return first;
}

static struct tree *signature(struct tree *item)
{
    struct tree *t = tree(T_SIGNATURE), **last = &t->a;
    item->name = name();
    if (take("<")) {
        do {
            struct tree *parameter = tree(T_PARAMETER);
            parameter->flags = is("type");
            at++;
            parameter->name = name();
            last = append(last, parameter);
        } while (take(","));
        need(">");
    }
    need("(");
    for (last = &t->b; is("in") || is("out");) {
        struct tree *port = tree(T_PORT);
        port->flags = is("out");
        at++;
        port->d = type_name();
        port->name = name();
        port->a = dimensions();
        port->b = attributes();
        last = append(last, port);
        if (!take(",")) break;
    }
    if (take(";"))
        t->c = arguments(")");
    else
        need(")");
    t->d = attributes();
    return t;
}

static struct tree *structure(void)
{
    struct tree *t = tree(I_STRUCT), **last = &t->a;
    t->name = name();
    need("{");
    while (!is("}"))
        last = append(last, declaration(STORE_PLAIN));
    need("}");
    need(";");
    return t;
}

static void skip_test(void)
{
    int depth = 0;
    do {
        depth += is("{");
        depth -= is("}");
        if (at->kind == K_END) kahn_refuse(at->line, "a test that does not end");
        at++;
    } while (depth > 0 || !follows(-1, "}"));
}

static struct tree *item(void)
{
    struct tree *t = tree(I_CONST);
    if (take("const")) return declaration(STORE_CONST);
    if (take("struct")) return structure();
    if (take("fn")) {
        t->kind = I_FUNCTION;
        t->d = type_name();
        t->name = name();
        need("(");
        t->a = arguments(")");
        t->b = block();
        return t;
    }
    t->flags = take("child");
    if (take("kernel")) {
        t->kind = I_KERNEL;
        t->a = signature(t);
        t->b = block();
    } else if (take("pipeline")) {
        t->kind = I_PIPELINE;
        t->a = signature(t);
        t->b = net_block();
    } else {
        kahn_refuse(at->line, "no item begins with '%s'", at->text);
    }
    return t;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t length = 0, room = 4096;
    char *text = kahn_alloc(room);
    for (size_t got; (got = fread(text + length, 1, room - length - 1, file)) > 0;) {
        length += got;
        if (length + 1 < room) continue;
        char *more = kahn_alloc(room *= 2);
        memcpy(more, text, length);
        free(text);
        text = more;
    }
    fclose(file);
    return text;
}

struct source {
    char path[4096];
    bool library;
    struct source *next;
};

static bool add_source(struct source **sources, const char *folder, const char *file, bool library)
{
    struct source *s = kahn_alloc(sizeof *s);
    if ((size_t)snprintf(s->path, sizeof s->path, "%s%s", folder, file) >= sizeof s->path)
        return false;
    FILE *there = fopen(s->path, "rb");
    if (!there) return false;
    fclose(there);
    s->library = library;
    for (; *sources; sources = &(*sources)->next)
        if (strcmp((*sources)->path, s->path) == 0) return true;
    *sources = s;
    return true;
}

static void import(struct source **sources, const char *from, const char *library, bool inside)
{
    char folder[4096];
    const char *slash = strrchr(from, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - from + 1) : 0, from);
    if (at->kind != K_STRING || (!add_source(sources, folder, at->text, inside) &&
                                 !add_source(sources, library, at->text, true)))
        kahn_refuse(at->line, "'%s' is not found", at->text);
    at++;
    need(";");
}

struct tree *kahn_program(const char *path, const char *library)
{
    struct source *sources = NULL;
    struct tree *first = NULL, **last = &first;
    if (!add_source(&sources, "", path, false)) kahn_refuse(0, "%s: %s", path, strerror(errno));
    if (!add_source(&sources, library, "std/math.pipe", true))
        kahn_refuse(0, "%sstd/math.pipe is not found", library);
    for (struct source *s = sources; s; s = s->next) {
        at = kahn_tokens(read_text(s->path));
        while (at->kind != K_END) {
            if (take(";")) continue;
            if (take("import")) {
                import(&sources, s->path, library, s->library);
                continue;
            }
            if (is("test") && at[1].kind == K_NAME) {
                skip_test();
                continue;
            }
            *last = item();
            (*last)->library = s->library;
            last = &(*last)->next;
        }
    }
    return first;
}
