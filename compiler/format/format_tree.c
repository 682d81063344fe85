/* SPDX-License-Identifier: MIT */
/*
 * format_tree: parses a list of tokens that is known to be well formed.
 *
 * It checks and refuses nothing. A token that does not fit is kept as it is, so a construct that is missing
 * here gets a plain layout and is not lost.
 *
 * Levels.  Each bracket is LEVELS levels inside the one around it. The operators of an expression are
 * between these levels, the weakest first.
 */
#include <string.h>

#include "compiler/format/format_internal.h"
#include "compiler/syntax/parser.h"

enum {
    LEVELS = 20,         /* of one bracket */
    LEVEL_BEGIN = 18,    /* after an opening parenthesis: the last resort */
    LEVEL_ASSIGNED = 17, /* after `=` and `<-` */
};

struct tree {
    struct format_file *file;
    struct format_token *tokens;
    uint32_t at, end;         /* `end` is the index of the token at the end of the file */
    uint32_t attribute_level; /* while the value of an attribute is read: its level */
};

static struct format_statement *parse_body_statement(struct tree *t);
static struct format_statement *parse_net_statement(struct tree *t);

/* ---- tokens ---- */

static int kind_at(const struct tree *t, uint32_t index)
{
    return index < t->end ? t->tokens[index].kind : TOKEN_END;
}

static int current_kind(const struct tree *t)
{
    return kind_at(t, t->at);
}

static bool tree_at_end(const struct tree *t)
{
    return t->at >= t->end;
}

static void pass_token(struct tree *t)
{
    if (!tree_at_end(t)) t->at++;
}

/* Puts no blank before the current token. */
static void close_up(struct tree *t)
{
    t->tokens[t->at].space = false;
}

static void pass_close(struct tree *t)
{
    close_up(t);
    pass_token(t);
}

static void may_break(struct tree *t, uint32_t level, enum format_align align, uint32_t under)
{
    struct format_token *token = &t->tokens[t->at];
    token->level = level;
    token->align = align;
    token->under = under;
}

static bool token_kind_is_name(int kind)
{
    return kind == TOKEN_IDENT || (kind >= TOKEN_IN && kind <= TOKEN_EXPECT);
}

/* ---- expressions ---- */

/* 0: not a binary operator; otherwise a stronger operator has a higher number. */
static uint32_t operator_strength(int kind)
{
    switch (kind) {
    case ',': return 1;
    case '=':
    case TOKEN_ASSIGN_OP: return 2;
    case '?': return 3;
    case TOKEN_OROR: return 4;
    case TOKEN_ANDAND: return 5;
    case '|': return 6;
    case '^': return 7;
    case '&': return 8;
    case TOKEN_EQ:
    case TOKEN_NE: return 9;
    case '<':
    case '>':
    case TOKEN_LE:
    case TOKEN_GE: return 10;
    case TOKEN_SHL:
    case TOKEN_SHR: return 11;
    case '+':
    case '-': return 12;
    case '*':
    case '/':
    case '%': return 13;
    default: return 0;
    }
}

enum { NO_COMMA = 2, CONDITIONAL = 3, ADDITIVE = 12 };

static void parse_expr(struct tree *t, uint32_t level, uint32_t weakest);
static void parse_value(struct tree *t, uint32_t level);

/* Begins the first token after an opening bracket. */
static uint32_t begin_list(struct tree *t, uint32_t level)
{
    close_up(t);
    may_break(t, level + LEVEL_BEGIN, ALIGN_LINE, 0);
    return t->at;
}

static void close_bracket(struct tree *t, int bracket)
{
    if (current_kind(t) == bracket) pass_close(t);
}

/* `(a, b -> c; d)`: of calls, instances and launches. */
static void parse_arguments(struct tree *t, uint32_t level)
{
    pass_token(t);
    level += LEVELS;
    uint32_t first = begin_list(t, level);
    if (current_kind(t) == TOKEN_ARROW) t->tokens[t->at].space = true;
    while (!tree_at_end(t) && current_kind(t) != ')') {
        uint32_t before = t->at;
        if (current_kind(t) == ',' || current_kind(t) == ';') {
            if (kind_at(t, t->at - 1) == TOKEN_ARROW)
                pass_token(t);
            else
                pass_close(t);
            may_break(t, level, ALIGN_TOKEN, first);
        } else if (current_kind(t) == TOKEN_ARROW) {
            if (t->at != first) may_break(t, level, ALIGN_TOKEN, first);
            pass_token(t);
        } else {
            parse_value(t, level);
        }
        if (t->at == before) pass_token(t);
    }
    bool empty_end = kind_at(t, t->at - 1) == TOKEN_ARROW;
    if (!tree_at_end(t)) t->tokens[t->at].space = empty_end;
    pass_token(t);
}

/* `<a, b>`: an operator inside is at least as strong as `+`. */
static void parse_type_arguments(struct tree *t, uint32_t level)
{
    pass_close(t);
    level += LEVELS;
    uint32_t first = begin_list(t, level);
    while (!tree_at_end(t) && current_kind(t) != '>') {
        uint32_t before = t->at;
        if (current_kind(t) == ',') {
            pass_close(t);
            may_break(t, level, ALIGN_TOKEN, first);
        } else {
            parse_expr(t, level, ADDITIVE);
        }
        if (t->at == before) pass_token(t);
    }
    if (current_kind(t) == '>') pass_close(t);
}

static void parse_subscript(struct tree *t, uint32_t level)
{
    pass_close(t);
    begin_list(t, level + LEVELS);
    parse_expr(t, level + LEVELS, 1);
    close_bracket(t, ']');
}

static void parse_dims(struct tree *t, uint32_t level)
{
    while (current_kind(t) == '[')
        parse_subscript(t, level);
}

/* True if the list of the current brace was written in rows: an element begins a line. */
static bool has_rows(const struct tree *t)
{
    uint32_t depth = 0;
    for (uint32_t i = t->at; i < t->end; i++) {
        int k = t->tokens[i].kind;
        if (k == '{' || k == '(' || k == '[') depth++;
        if (k == '}' || k == ')' || k == ']') depth--;
        if (depth == 0) return false;
        if (depth == 1 && (k == '{' || k == ',') && t->tokens[i + 1].kind != '}' &&
            t->tokens[i + 1].newlines > 0)
            return true;
    }
    return false;
}

static void begin_row(struct tree *t)
{
    t->tokens[t->at].row = true;
}

static void parse_chain_element(struct tree *t, uint32_t level)
{
    if (current_kind(t) == '.') {
        pass_token(t);
        pass_close(t); /* the name */
        if (current_kind(t) == '=') pass_token(t);
        parse_value(t, level);
        return;
    }
    if (current_kind(t) != TOKEN_DOTS) parse_value(t, level);
    if (current_kind(t) != TOKEN_DOTS) return;
    if (kind_at(t, t->at - 1) != '{' && kind_at(t, t->at - 1) != ',') close_up(t);
    pass_token(t);
    close_up(t);
    parse_expr(t, level, CONDITIONAL);
}

static void parse_braces(struct tree *t, uint32_t level)
{
    uint32_t brace = t->at;
    bool rows = has_rows(t);
    bool open = rows && kind_at(t, t->at + 1) != '}' && t->tokens[t->at + 1].newlines > 0;
    pass_token(t);
    level += LEVELS;
    uint32_t first = begin_list(t, level);
    if (open) {
        begin_row(t);
        may_break(t, level, ALIGN_IN_BRACE, brace);
    }
    while (!tree_at_end(t) && current_kind(t) != '}') {
        uint32_t before = t->at;
        if (current_kind(t) == ',') {
            pass_close(t);
            if (current_kind(t) == '}') break;
            may_break(t, level, ALIGN_TOKEN, first);
            if (rows && t->tokens[t->at].newlines > 0) begin_row(t);
        } else {
            parse_chain_element(t, level);
        }
        if (t->at == before) pass_token(t);
    }
    close_up(t);
    if (open) {
        begin_row(t);
        may_break(t, level, ALIGN_OUT_BRACE, brace);
    }
    pass_token(t);
}

static void parse_value(struct tree *t, uint32_t level)
{
    if (current_kind(t) == '{')
        parse_braces(t, level);
    else
        parse_expr(t, level, NO_COMMA);
}

static bool begins_cast(const struct tree *t)
{
    if (current_kind(t) != '(' || kind_at(t, t->at + 1) != TOKEN_TYPE) return false;
    int behind = kind_at(t, t->at + 2);
    return behind == ')' || behind == '[';
}

static void parse_primary(struct tree *t, uint32_t level)
{
    if (current_kind(t) == '(') {
        pass_token(t);
        begin_list(t, level + LEVELS);
        parse_expr(t, level + LEVELS, 1);
        close_bracket(t, ')');
        return;
    }
    if (current_kind(t) == '{') {
        parse_braces(t, level);
        return;
    }
    bool callable = current_kind(t) == TOKEN_TYPE || token_kind_is_name(current_kind(t));
    if (!callable && current_kind(t) != TOKEN_NUMBER && current_kind(t) != TOKEN_STRING &&
        current_kind(t) != TOKEN_DIM)
        return;
    pass_token(t);
    if (current_kind(t) == TOKEN_STRING && kind_at(t, t->at - 1) == TOKEN_STRING) return;
    if (callable && current_kind(t) == '(') {
        close_up(t);
        parse_arguments(t, level);
    }
}

static void parse_unary(struct tree *t, uint32_t level)
{
    for (;;) {
        int k = current_kind(t);
        if (begins_cast(t)) {
            pass_token(t);
            close_up(t);
            pass_token(t);
            parse_dims(t, level);
            close_bracket(t, ')');
        } else if (k == '+' || k == '-' || k == '!' || k == '~' || k == TOKEN_INC ||
                   k == TOKEN_DEC) {
            pass_token(t);
        } else {
            break;
        }
        close_up(t);
    }
    parse_primary(t, level);
    for (;;) {
        int k = current_kind(t);
        if (k == '[') {
            parse_subscript(t, level);
        } else if (k == '.') {
            pass_close(t);
            pass_close(t);
        } else if (k == TOKEN_INC || k == TOKEN_DEC) {
            pass_close(t);
        } else {
            break;
        }
    }
}

static void parse_conditional_rest(struct tree *t, uint32_t level)
{
    uint32_t question = t->at;
    may_break(t, level + 3, ALIGN_LINE, 0);
    pass_token(t);
    parse_expr(t, level, 1);
    if (current_kind(t) != ':') return;
    may_break(t, level + 3, ALIGN_TOKEN, question);
    pass_token(t);
    parse_expr(t, level, CONDITIONAL);
}

/* Parses operators that are at least as strong as `weakest`. */
static void parse_expr(struct tree *t, uint32_t level, uint32_t weakest)
{
    uint32_t first = t->at;
    parse_unary(t, level);
    for (;;) {
        uint32_t power = operator_strength(current_kind(t));
        if (power == 0 || power < weakest || tree_at_end(t)) return;
        if (power == CONDITIONAL) {
            parse_conditional_rest(t, level);
            continue;
        }
        bool assigns = power == 2;
        /* pop 2*N peek 2*N+1 */
        bool tight = power >= ADDITIVE && level == t->attribute_level;
        if (power == 1 || tight)
            pass_close(t);
        else
            pass_token(t);
        if (tight) {
            close_up(t);
            parse_expr(t, level, power + 1);
            continue;
        }
        may_break(t, level + (assigns ? LEVEL_ASSIGNED : power), assigns ? ALIGN_LINE : ALIGN_TOKEN,
                  first);
        parse_expr(t, level, assigns ? power : power + 1);
    }
}

/* ---- parts of statements ---- */

static void parse_value_in_attribute(struct tree *t, uint32_t level)
{
    if (current_kind(t) == '{')
        parse_braces(t, level);
    else
        parse_expr(t, level, CONDITIONAL);
}

static void parse_attributes(struct tree *t, uint32_t level, enum format_align align,
                             uint32_t under)
{
    while (current_kind(t) == TOKEN_IDENT ||
           (current_kind(t) == TOKEN_INIT && kind_at(t, t->at + 1) != '{') ||
           (current_kind(t) == TOKEN_INIT && align != ALIGN_HEADER) ||
           current_kind(t) == TOKEN_FINISH || current_kind(t) == TOKEN_STATE) {
        may_break(t, level, align, under);
        pass_token(t);
        uint32_t outer = t->attribute_level;
        bool has_left = current_kind(t) != TOKEN_DOTS;
        t->attribute_level = level;
        if (has_left) parse_value_in_attribute(t, level);
        while (current_kind(t) == TOKEN_X) {
            pass_token(t);
            parse_value_in_attribute(t, level);
        }
        if (current_kind(t) == TOKEN_DOTS) {
            if (has_left) close_up(t);
            pass_token(t);
            close_up(t);
            parse_expr(t, level, CONDITIONAL);
        }
        t->attribute_level = outer;
        if (current_kind(t) == TOKEN_OF) {
            pass_token(t);
            pass_token(t);
        }
    }
}

static void parse_type(struct tree *t, uint32_t level)
{
    pass_token(t);
    parse_dims(t, level);
}

/* `a, b[3] = {..}` */
static void parse_inits(struct tree *t, uint32_t level)
{
    uint32_t first = t->at;
    for (;;) {
        pass_token(t); /* the name */
        parse_dims(t, level);
        if (current_kind(t) == '=') {
            pass_token(t);
            if (current_kind(t) != '{' && current_kind(t) != TOKEN_LAUNCH)
                may_break(t, level + LEVEL_ASSIGNED, ALIGN_LINE, 0);
            if (current_kind(t) != TOKEN_LAUNCH) parse_value(t, level);
        }
        if (current_kind(t) != ',') return;
        pass_close(t);
        may_break(t, level, ALIGN_TOKEN, first);
    }
}

/* `(in f32 x pop 2, out f32 y; f32 gain = 1)`, and the parameters of a function. */
static void parse_parameters(struct tree *t)
{
    uint32_t level = 1 + LEVELS;
    pass_close(t);
    uint32_t first = begin_list(t, level);
    while (!tree_at_end(t) && current_kind(t) != ')') {
        uint32_t before = t->at;
        bool is_port =
            (current_kind(t) == TOKEN_IN || current_kind(t) == TOKEN_OUT) &&
            kind_at(t, t->at + 1) != '[' &&
            (kind_at(t, t->at + 1) == TOKEN_TYPE || token_kind_is_name(kind_at(t, t->at + 1)));
        if (is_port) pass_token(t);
        parse_type(t, level);
        pass_token(t); /* the name */
        parse_dims(t, level);
        if (current_kind(t) == '=') {
            pass_token(t);
            parse_value(t, level);
        }
        parse_attributes(t, level + 1, ALIGN_TOKEN, first);
        while (current_kind(t) == ',' || current_kind(t) == ';') {
            pass_close(t);
            may_break(t, level, ALIGN_TOKEN, first);
        }
        if (t->at == before) pass_token(t);
    }
    close_bracket(t, ')');
}

static void parse_type_parameters(struct tree *t)
{
    pass_close(t);
    close_up(t);
    while (!tree_at_end(t) && current_kind(t) != '>') {
        if (current_kind(t) == ',') close_up(t);
        pass_token(t);
    }
    if (current_kind(t) == '>') pass_close(t);
}

static void parse_signature(struct tree *t)
{
    pass_token(t); /* the name */
    if (current_kind(t) == '<') parse_type_parameters(t);
    parse_parameters(t);
    parse_attributes(t, 1, ALIGN_HEADER, 0);
}

/* `name<..>` and the parts of an instance after it. */
static void parse_element_of_chain(struct tree *t, uint32_t level)
{
    if (kind_at(t, t->at + 1) == ':') {
        pass_token(t);
        pass_close(t);
    }
    pass_token(t);
    if (current_kind(t) == '<') parse_type_arguments(t, level);
    parse_dims(t, level);
    if (current_kind(t) == '(') {
        close_up(t);
        parse_arguments(t, level);
    }
    parse_attributes(t, level + 1, ALIGN_LINE, 0);
}

/* A child kernel, or `(a ? b : c)`, where b and c are such, too. */
static void parse_child(struct tree *t, uint32_t level)
{
    bool choice = current_kind(t) == '(';
    if (current_kind(t) != ';' && current_kind(t) != '}') pass_token(t);
    if (!choice) {
        if (current_kind(t) == '<') parse_type_arguments(t, level);
        return;
    }
    level += LEVELS;
    begin_list(t, level);
    parse_expr(t, level, CONDITIONAL + 1);
    uint32_t question = t->at;
    for (uint32_t i = 0; i < 2 && (current_kind(t) == '?' || current_kind(t) == ':'); i++) {
        may_break(t, level + 3, i > 0 ? ALIGN_TOKEN : ALIGN_LINE, i > 0 ? question : 0);
        pass_token(t);
        parse_child(t, level);
    }
    close_bracket(t, ')');
}

static void parse_launch(struct tree *t)
{
    pass_token(t);
    parse_child(t, 1);
    if (current_kind(t) == '(') {
        close_up(t);
        parse_arguments(t, 1);
    }
    while (current_kind(t) == TOKEN_IDENT) { /* `groups`, `from`, `with`, `after` */
        pass_token(t);
        parse_expr(t, 1, 1);
    }
}

static void end_statement(struct tree *t)
{
    while (!tree_at_end(t) && current_kind(t) != ';' && current_kind(t) != '}')
        pass_token(t);
    if (current_kind(t) == ';') pass_close(t);
}

/* ---- statements ---- */

static struct format_statement *new_statement(struct tree *t)
{
    struct format_statement *s = ARENA_NEW(t->file->cx->arena, struct format_statement);
    t->tokens[t->at].structural = true;
    t->tokens[t->at].space = true;
    t->tokens[t->at].level = 0;
    s->first = t->at;
    return s;
}

static struct format_part *add_part(struct tree *t, struct format_statement *s,
                                    enum part_kind part_kind, uint32_t first)
{
    struct format_part **to = &s->parts;
    while (*to != NULL)
        to = &(*to)->next;
    *to = ARENA_NEW(t->file->cx->arena, struct format_part);
    **to = (struct format_part){.kind = part_kind, .first = first, .last = t->at - 1};
    return *to;
}

static struct format_statement *finish_statement(const struct tree *t, struct format_statement *s)
{
    s->last = t->at > s->first ? t->at - 1 : s->first;
    return s;
}

typedef struct format_statement *parse_one(struct tree *);

/* Parses statements up to the closing brace, or up to the keyword `stop`. */
static struct format_statement *parse_list(struct tree *t, parse_one *parse,
                                           bool (*stop)(const struct tree *))
{
    struct format_statement *first = NULL, **to = &first;
    while (!tree_at_end(t) && current_kind(t) != '}' && !(stop != NULL && stop(t))) {
        uint32_t before = t->at;
        *to = parse(t);
        to = &(*to)->next;
        if (t->at == before) pass_token(t);
    }
    return first;
}

static void parse_block(struct tree *t, struct format_statement *s, parse_one *parse)
{
    uint32_t open = t->at;
    t->tokens[t->at].space = true;
    t->tokens[t->at].level = 0;
    pass_token(t);
    struct format_statement *list = parse_list(t, parse, NULL);
    if (!tree_at_end(t)) {
        const struct format_token *end = &t->tokens[t->at];
        t->tokens[t->at].space = list != NULL || end->comment_first < end->comment_behind;
        t->tokens[t->at].structural = true;
        t->tokens[t->at].level = 0;
    }
    pass_token(t);
    add_part(t, s, PART_BLOCK, open)->list = list;
}

/* Parses the statement of an `if`, `else` or loop. */
static void parse_carried(struct tree *t, struct format_statement *s, parse_one *parse)
{
    if (current_kind(t) == '{') {
        parse_block(t, s, parse);
        return;
    }
    uint32_t first = t->at;
    struct format_statement *body = parse(t);
    add_part(t, s, PART_BODY, first)->list = body;
}

/* `if (..)`, `while (..)`, `for (..; ..; ..)`: the word and the parentheses. */
static void parse_head(struct tree *t)
{
    bool is_for = current_kind(t) == TOKEN_FOR;
    uint32_t level = 1 + LEVELS;
    pass_token(t);
    if (current_kind(t) != '(') return;
    pass_token(t);
    uint32_t first = begin_list(t, level);
    if (!is_for) {
        parse_expr(t, level, 1);
        close_bracket(t, ')');
        return;
    }
    bool declares =
        current_kind(t) == TOKEN_CONST ||
        (token_kind_is_name(current_kind(t)) && token_kind_is_name(kind_at(t, t->at + 1))) ||
        (current_kind(t) == TOKEN_TYPE && kind_at(t, t->at + 1) != '(');
    if (current_kind(t) == TOKEN_CONST) pass_token(t);
    if (declares) {
        parse_type(t, level);
        parse_inits(t, level + 1);
    }
    while (!tree_at_end(t) && current_kind(t) != ')') {
        uint32_t before = t->at;
        if (current_kind(t) == ';') {
            pass_close(t);
            if (current_kind(t) != ';' && current_kind(t) != ')')
                may_break(t, level, ALIGN_TOKEN, first);
        } else {
            parse_expr(t, level, 1);
        }
        if (t->at == before) pass_token(t);
    }
    close_bracket(t, ')');
}

static void parse_if(struct tree *t, struct format_statement *s, parse_one *parse)
{
    parse_head(t);
    add_part(t, s, PART_RUN, s->first);
    parse_carried(t, s, parse);
    if (current_kind(t) != TOKEN_ELSE) return;
    uint32_t first = t->at;
    t->tokens[t->at].structural = true;
    pass_token(t);
    add_part(t, s, PART_RUN, first);
    parse_carried(t, s, parse);
}

static void parse_loop(struct tree *t, struct format_statement *s, parse_one *parse)
{
    parse_head(t);
    add_part(t, s, PART_RUN, s->first);
    parse_carried(t, s, parse);
}

static void parse_do(struct tree *t, struct format_statement *s)
{
    pass_token(t);
    add_part(t, s, PART_RUN, s->first);
    parse_carried(t, s, parse_body_statement);
    uint32_t first = t->at;
    t->tokens[t->at].structural = true;
    if (current_kind(t) == TOKEN_WHILE) parse_head(t);
    end_statement(t);
    add_part(t, s, PART_RUN, first);
}

static bool at_label(const struct tree *t)
{
    return current_kind(t) == TOKEN_CASE || current_kind(t) == TOKEN_DEFAULT;
}

/* Parses consecutive labels, and the statements up to the next label. */
static void parse_cases(struct tree *t, struct format_statement *s)
{
    while (at_label(t)) {
        if (t->at != s->first && t->tokens[t->at].newlines > 0) break;
        bool has_value = current_kind(t) == TOKEN_CASE;
        pass_token(t);
        if (has_value) parse_expr(t, 1, CONDITIONAL);
        if (current_kind(t) == ':') pass_close(t);
    }
    add_part(t, s, PART_RUN, s->first);
    uint32_t first = t->at;
    struct format_statement *list = parse_list(t, parse_body_statement, at_label);
    if (list != NULL) add_part(t, s, PART_CASES, first)->list = list;
}

static void parse_simple(struct tree *t)
{
    bool qualified = current_kind(t) == TOKEN_CONST || current_kind(t) == TOKEN_STATE ||
                     current_kind(t) == TOKEN_TABLE || current_kind(t) == TOKEN_LOCAL;
    if (qualified || (current_kind(t) == TOKEN_TYPE && kind_at(t, t->at + 1) != '(')) {
        if (qualified) pass_token(t);
        parse_type(t, 1);
        parse_inits(t, 1);
        return;
    }
    if (current_kind(t) == TOKEN_RETURN) {
        pass_token(t);
        if (current_kind(t) != ';') parse_expr(t, 1, 1);
        return;
    }
    if (current_kind(t) == TOKEN_LAUNCH) {
        parse_launch(t);
        return;
    }
    if (current_kind(t) == TOKEN_BREAK || current_kind(t) == TOKEN_CONTINUE ||
        current_kind(t) == TOKEN_STOP) {
        pass_token(t);
        return;
    }
    parse_expr(t, 1, 1);
    if (current_kind(t) == TOKEN_EMIT) {
        pass_token(t);
        may_break(t, 1 + LEVEL_ASSIGNED, ALIGN_LINE, 0);
        parse_expr(t, 1, NO_COMMA);
    } else if (token_kind_is_name(current_kind(t))) { /* the tokens before were a type */
        parse_inits(t, 1);
        if (current_kind(t) == TOKEN_LAUNCH) parse_launch(t);
    }
}

static struct format_statement *parse_body_statement(struct tree *t)
{
    struct format_statement *s = new_statement(t);
    bool sections = (current_kind(t) == TOKEN_INIT && kind_at(t, t->at + 1) == '{') ||
                    current_kind(t) == TOKEN_FINISH;
    switch (current_kind(t)) {
    case '{': parse_block(t, s, parse_body_statement); break;
    case TOKEN_IF: parse_if(t, s, parse_body_statement); break;
    case TOKEN_FOR:
    case TOKEN_WHILE:
    case TOKEN_SWITCH: parse_loop(t, s, parse_body_statement); break;
    case TOKEN_DO: parse_do(t, s); break;
    case TOKEN_CASE:
    case TOKEN_DEFAULT: parse_cases(t, s); break;
    default:
        if (sections) {
            pass_token(t);
            parse_attributes(t, 1, ALIGN_HEADER, 0);
            add_part(t, s, PART_RUN, s->first);
            parse_block(t, s, parse_body_statement);
            break;
        }
        parse_simple(t);
        end_statement(t);
        add_part(t, s, PART_RUN, s->first);
    }
    return finish_statement(t, s);
}

static void parse_buffer_list(struct tree *t)
{
    pass_token(t);
    parse_type(t, 1);
    uint32_t first = t->at;
    for (;;) {
        pass_token(t);
        parse_dims(t, 1);
        parse_attributes(t, 2, ALIGN_LINE, 0);
        if (current_kind(t) != ',') return;
        pass_close(t);
        may_break(t, 1, ALIGN_TOKEN, first);
    }
}

static struct format_statement *parse_net_statement(struct tree *t)
{
    struct format_statement *s = new_statement(t);
    switch (current_kind(t)) {
    case '{': parse_block(t, s, parse_net_statement); break;
    case TOKEN_IF: parse_if(t, s, parse_net_statement); break;
    case TOKEN_FOR: parse_loop(t, s, parse_net_statement); break;
    default:
        if (current_kind(t) == TOKEN_BUFFER) {
            parse_buffer_list(t);
        } else if (current_kind(t) == TOKEN_CONST) {
            pass_token(t);
            parse_type(t, 1);
            parse_inits(t, 1);
        } else if (token_kind_is_name(current_kind(t))) {
            uint32_t arrow = 0;
            parse_element_of_chain(t, 1);
            while (current_kind(t) == TOKEN_ARROW) {
                if (arrow == 0)
                    may_break(t, 1, ALIGN_LINE, 0);
                else
                    may_break(t, 1, ALIGN_TOKEN, arrow);
                if (arrow == 0) arrow = t->at;
                pass_token(t);
                parse_element_of_chain(t, 1);
            }
        }
        end_statement(t);
        add_part(t, s, PART_RUN, s->first);
    }
    return finish_statement(t, s);
}

static struct format_statement *parse_field(struct tree *t)
{
    struct format_statement *s = new_statement(t);
    parse_type(t, 1);
    parse_inits(t, 1);
    end_statement(t);
    add_part(t, s, PART_RUN, s->first);
    return finish_statement(t, s);
}

static struct format_statement *parse_check(struct tree *t)
{
    struct format_statement *s = new_statement(t);
    bool expects = current_kind(t) == TOKEN_EXPECT && kind_at(t, t->at + 1) != '=' &&
                   kind_at(t, t->at + 1) != '[';
    pass_token(t);
    if (expects) {
        if (kind_at(t, t->at + 1) == TOKEN_STRING) pass_token(t);
        parse_expr(t, 1, CONDITIONAL);
        /* `within 1e-6`, `within 2 ulp` */
        while (current_kind(t) == TOKEN_IDENT) {
            pass_token(t);
            if (current_kind(t) != ';' && current_kind(t) != TOKEN_IDENT)
                parse_expr(t, 1, CONDITIONAL);
        }
    } else {
        parse_dims(t, 1);
        if (current_kind(t) == '=') {
            pass_token(t);
            parse_value(t, 1);
        }
    }
    end_statement(t);
    add_part(t, s, PART_RUN, s->first);
    return finish_statement(t, s);
}

/* ---- items ---- */

static void parse_struct(struct tree *t, struct format_statement *s)
{
    pass_token(t);
    pass_token(t);
    add_part(t, s, PART_RUN, s->first);
    parse_block(t, s, parse_field);
    uint32_t first = t->at;
    if (current_kind(t) != ';') return;
    pass_close(t);
    add_part(t, s, PART_RUN, first);
}

static void parse_test(struct tree *t, struct format_statement *s)
{
    pass_token(t); /* test */
    pass_token(t); /* its name */
    pass_token(t); /* of */
    pass_token(t); /* the pipeline */
    if (current_kind(t) == '<') parse_type_arguments(t, 1);
    if (current_kind(t) == '(') {
        close_up(t);
        parse_arguments(t, 1);
    }
    add_part(t, s, PART_RUN, s->first);
    parse_block(t, s, parse_check);
}

static void parse_plain_item(struct tree *t, struct format_statement *s)
{
    if (current_kind(t) == TOKEN_CONST) {
        pass_token(t);
        parse_type(t, 1);
        parse_inits(t, 1);
    }
    end_statement(t);
    if (t->at == s->first) pass_token(t); /* a `}` without a block */
    add_part(t, s, PART_RUN, s->first);
}

/* Of a builtin kernel. */
static void parse_fallback(struct tree *t)
{
    pass_token(t); /* else */
    pass_token(t); /* its name */
    if (current_kind(t) == '<') parse_type_arguments(t, 1);
}

static struct format_statement *parse_item(struct tree *t)
{
    struct format_statement *s = new_statement(t);
    switch (current_kind(t)) {
    case TOKEN_STRUCT: parse_struct(t, s); break;
    case TOKEN_FN:
        pass_token(t);
        parse_type(t, 1);
        pass_token(t);
        if (current_kind(t) == '(') parse_parameters(t);
        add_part(t, s, PART_RUN, s->first);
        parse_block(t, s, parse_body_statement);
        break;
    case TOKEN_KERNEL:
    case TOKEN_CHILD:
    case TOKEN_EXTERN:
    case TOKEN_BUILTIN:
        while (current_kind(t) != TOKEN_KERNEL && !tree_at_end(t))
            pass_token(t);
        pass_token(t);
        parse_signature(t);
        if (current_kind(t) == TOKEN_ELSE) parse_fallback(t);
        if (current_kind(t) != '{') end_statement(t);
        add_part(t, s, PART_RUN, s->first);
        if (current_kind(t) == '{') parse_block(t, s, parse_body_statement);
        break;
    case TOKEN_TEST: parse_test(t, s); break;
    case TOKEN_PIPELINE:
        pass_token(t);
        parse_signature(t);
        add_part(t, s, PART_RUN, s->first);
        parse_block(t, s, parse_net_statement);
        break;
    default: parse_plain_item(t, s);
    }
    return finish_statement(t, s);
}

void format_tree(struct format_file *file)
{
    struct tree t = {.file = file, .tokens = file->tokens, .end = file->token_count - 1};
    for (uint32_t i = 0; i < file->token_count; i++)
        file->tokens[i].space = true;
    struct format_statement **to = &file->items;
    while (!tree_at_end(&t)) {
        *to = parse_item(&t);
        to = &(*to)->next;
    }
}
