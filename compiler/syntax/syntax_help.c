/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/syntax_help.h"

#include <string.h>

#include "compiler/syntax/habits.h"
#include "base/nearest.h"
#include "base/words.h"

#define JOINED                                                                                     \
    "kernels are joined with '->', as in 'x -> kernel -> y;'; what is computed stands in their "   \
    "bodies"

const char *const reserved_words[] = {
    "import", "const",  "struct",  "fn",    "kernel",   "pipeline", "buffer", "state", "table",
    "local",  "finish", "launch",  "stop",  "if",       "else",     "for",    "while", "do",
    "switch", "case",   "default", "break", "continue", "return",   NULL};

/* The token that stands `back` tokens before the current one on its line, or NULL. */
static const struct token *token_before(const struct parser *ps, size_t back)
{
    if (ps->line_count > LINE_TOKENS_MAX || back >= ps->line_count) return NULL;
    return &ps->line[ps->line_count - 1 - back];
}

static bool is_token_before(const struct parser *ps, size_t back, int kind)
{
    const struct token *token = token_before(ps, back);
    return token != NULL && token->kind == kind;
}

static bool tokens_touch(const struct token *before, const struct token *token)
{
    return before->span.end == token->span.begin;
}

static bool is_innermost(const struct syntax_error *error, char bracket)
{
    return error->open_count > 0 && error->open[error->open_count - 1] == bracket;
}

static bool wants_name_only(const struct syntax_error *error)
{
    return syntax_error_expects(error, "a name") && !syntax_error_expects(error, "';'") &&
           !syntax_error_expects(error, "a number");
}

/* ---- by the token at the error ---- */

/* `<-` instead of a comparison with a negative value, or instead of the arrow of a pipeline. */
static void help_emit(const struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    const struct token *found = &ps->current;
    char byte = ps->source->bytes[found->span.end];

    bool joined = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                  (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '(' || byte == '.';
    if (error->in_net && !error->open_count && !(joined && tokens_touch(&ps->previous, found)))
        diag_help(diag, JOINED);
    else if (!error->in_block && is_innermost(error, '{'))
        diag_help(diag, "this is a body: the attribute before it has no value");
    else if (joined && (error->open_count || error->after_assignment || error->in_net))
        diag_help(diag, "'<-' is one token: to compare with a negative value write '< -'");
}

static void help_arrow(const struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    if (is_innermost(error, BRACKET_SIGNATURE) && !error->in_block)
        diag_help(diag,
                  "ports are separated by ',' and say their direction: (in f32 x, out f32 y)");
    if (!error->in_block && ps->previous.kind == ')' && syntax_error_expects(error, "'{'"))
        diag_help(diag, "the type of the result stands before the name: 'fn f32 NAME(...)'");
    if (!error->in_body) return;
    if (error->open_count || error->after_assignment)
        diag_help(diag, "there are no pointers: a member is written 'a.b'");
    else if (!tokens_touch(&ps->previous, &ps->current))
        diag_help(diag, "a packet is appended to a port with 'port <- value;'; kernels are joined "
                        "in a 'pipeline'");
}

/* True if `TYPE NAME` in a file continues like a function. The current token is the type. */
static bool declares_function(const struct parser *ps)
{
    const char *at = ps->source->bytes + ps->current.span.end;
    const char *end = ps->source->bytes + ps->source->size_bytes;
    while (at < end && *at != '(' && *at != ';' && *at != '=' && *at != '\n' && *at != '[' &&
           *at != ',')
        at++;
    return at < end && *at == '(';
}

/* Explains a declaration in a file that begins with a type. */
static void help_declaration(struct parser *ps, struct diag *diag)
{
    const char *word = token_name(ps, &ps->current), *known = habit_type(word);
    const char *type = known != NULL ? known : word, *here = "";
    bool is_int = strcmp(word, "int") == 0, is_void = strcmp(word, "void") == 0;
    if (known != NULL) here = arena_printf(ps->cx->arena, "'%s' is %s here: ", word, known);
    if (is_void || declares_function(ps))
        diag_help(diag, "%sa function is 'fn %s NAME(...) { ... }'", here, is_int ? "i32" : type);
    else
        diag_help(
            diag,
            "%sa file has constants only, 'const %s NAME = VALUE;'; a kernel keeps a variable "
            "from firing to firing with 'state %s NAME = VALUE;' in its body",
            here, type, is_int ? "i32" : type);
}

/* `y == ..` in a test without `expect`; `expect y = ..`. */
static void help_expect(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    if (!error->in_block || error->in_body || error->in_net) return;
    if (!token_is_name(ps, &ps->previous)) return;
    const char *name = token_name(ps, &ps->previous);
    bool expects = ps->statement_count > 0 && ps->statement[0].kind == TOKEN_EXPECT;
    if (ps->current.kind == TOKEN_EQ && !expects && syntax_error_expects(error, "'='"))
        diag_help(diag, "what comes out is stated with 'expect %s == ...;'", name);
    if (ps->current.kind == '=' && expects)
        diag_help(diag, "what comes out is compared: 'expect %s == ...;'", name);
}

static void help_type(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    const char *name = token_name(ps, &ps->current);
    bool after_direction = ps->previous.kind == TOKEN_IN || ps->previous.kind == TOKEN_OUT;
    if (syntax_error_expects(error, "buffer"))
        diag_help(diag, "a buffer is declared with 'buffer %s NAME;'", name);
    else if (syntax_error_expects(error, "import"))
        help_declaration(ps, diag);
    else if (after_direction && is_innermost(error, BRACKET_SIGNATURE))
        diag_help(diag, "ports stand before the ';', run-time arguments after it");
    else if (is_innermost(error, BRACKET_SIGNATURE) && syntax_error_expects(error, "in"))
        diag_help(diag,
                  "a port says its direction, 'in %s NAME' or 'out %s NAME'; run-time arguments "
                  "stand after a ';': name(in ..., out ...; %s ...)",
                  name, name, name);
}

static void help_name(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    static const char *const items[] = {"import", "const",    "struct", "fn",
                                        "kernel", "pipeline", "test"};
    const char *name = token_name(ps, &ps->current);
    if (ps->previous.kind == '<' && error->expected_count == 2 &&
        syntax_error_expects(error, "type")) {
        const char *shown = habit_type(name) != NULL ? "NAME" : name;
        diag_help(diag, "a compile-time parameter is 'int %s' or 'type %s'", shown, shown);
    }
    if (ps->previous.kind == TOKEN_IMPORT)
        diag_help(diag, "a path stands in quotes: import \"std/dsp.pipe\";");
    if (!syntax_error_expects(error, "import")) return;
    if (habit_type(name) != NULL) {
        help_declaration(ps, diag);
        return;
    }
    const char *nearest = nearest_name(name, items, sizeof items / sizeof items[0]);
    if (nearest != NULL) diag_suggest(diag, ps->current.span, nearest);
}

/* `<int N = 8`, `<type T = f32` */
static bool help_default(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    bool is_integer = is_token_before(ps, 2, TOKEN_TYPE);
    if (error->in_block || error->expected_count != 2 || !syntax_error_expects(error, "'>'"))
        return false;
    if (!is_integer && !is_token_before(ps, 2, TOKEN_TYPEKW)) return false;
    const char *name = token_name(ps, &ps->previous);
    bool of_pipeline = ps->statement_count > 0 && ps->statement[0].kind == TOKEN_PIPELINE;
    diag_help(diag,
              "compile-time parameters have no defaults: the value of '%s' stands in '<...>' of "
              "each use%s",
              name,
              of_pipeline
                  ? arena_printf(ps->cx->arena,
                                 "; 'pipec -D %s=VALUE' gives it to the compiled pipeline", name)
                  : "");
    if (is_integer)
        diag_help(diag,
                  "run-time arguments have defaults: they stand after the ports, as in "
                  "'(in f32 x, out f32 y; i32 %s = VALUE)'",
                  name);
    return true;
}

static void help_operator(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    int kind = ps->current.kind, before = ps->previous.kind;
    bool joined = tokens_touch(&ps->previous, &ps->current);
    bool operand = syntax_error_expects(error, "a number");
    if (kind == '=' && help_default(ps, error, diag)) return;
    if (kind == '*' && before == '*' && joined)
        diag_help(diag, "x to the power y is 'pow(x, y)'");
    else if (kind == '*' && before == TOKEN_TYPE)
        diag_help(diag, "there are no pointers: an array is 'TYPE NAME[LENGTH]'");
    else if ((kind == '*' || kind == '&') && operand)
        diag_help(diag, "there are no pointers: arrays and structs are values");
    else if (kind == '>' && before == '<' && joined)
        diag_help(diag, "write '!='");
    else if (kind == '<' && before == TOKEN_IMPORT)
        diag_help(diag, "a path stands in quotes: import \"std/dsp.pipe\";");
    else if (kind == '=' && (before == TOKEN_EQ || before == TOKEN_NE) && joined)
        diag_help(diag, "write '%s'", before == TOKEN_EQ ? "==" : "!=");
    else if (kind == '=' && error->in_net && !error->open_count && ps->statement_count == 2)
        diag_help(diag, JOINED);
    else if (kind == '=' && error->in_body && is_token_before(ps, 2, '*') &&
             is_token_before(ps, 3, TOKEN_IDENT))
        diag_help(diag, "there are no pointers: an array is 'TYPE NAME[LENGTH]'");
}

static void help_closing(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    bool port = ps->previous.kind == TOKEN_TYPE || token_is_name(ps, &ps->previous);
    bool direction = is_token_before(ps, 2, TOKEN_IN) || is_token_before(ps, 2, TOKEN_OUT);
    bool parameter = !error->in_block && is_innermost(error, '(') && wants_name_only(error);
    if (ps->current.kind == ']' && ps->previous.kind == '[')
        diag_help(diag, "an array says how many elements it has: 'NAME[LENGTH]'");
    else if (ps->previous.kind == TOKEN_DOTS)
        diag_help(diag, "a range has an upper bound: '1..4', or '..4'");
    else if (port && direction && is_innermost(error, BRACKET_SIGNATURE))
        diag_help(diag, "a port is 'in TYPE NAME' or 'out TYPE NAME'");
    else if (port && parameter)
        diag_help(diag, "a parameter is 'TYPE NAME'");
}

/* `math.sin(x)` */
static bool is_library_word(const char *word)
{
    static const char *const words[] = {"math", "Math", "np", "numpy", "std", "cmath"};
    return WORD_INDEX(word, words) < sizeof words / sizeof *words;
}

static void help_opening(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    const struct token *function = token_before(ps, 2);
    bool after_arrow = ps->previous.kind == TOKEN_ARROW;
    if (error->in_net && !error->open_count &&
        (after_arrow || syntax_error_expects(error, "buffer"))) {
        diag_help(diag, "a chain has one buffer between two kernels: several ports are bound by an "
                        "instance, 'KERNEL(a, b -> c, d);', and a buffer may have several readers, "
                        "'t -> KERNEL -> b; t -> KERNEL -> c;'");
        return;
    }
    if (function != NULL && function->kind == TOKEN_FN)
        diag_help(diag, "a function is 'fn TYPE NAME(...)'; without a result it is 'void'");
    else if (error->in_body && is_token_before(ps, 2, '.') && token_is_name(ps, &ps->previous)) {
        const char *name = token_name(ps, &ps->previous);
        const struct habit *habit = habit_find(name);
        const struct token *before = token_before(ps, 3);
        if (before != NULL && is_library_word(token_name(ps, before))) {
            diag_help(diag, "functions have no prefix: '%s(...)'", name);
            return;
        }
        diag_help(diag, "there are no methods; %s",
                  habit != NULL ? habit->help : habit_find("push")->help);
    }
}

/* `y <- pixel{`: before `{` stands a name in the place of a value. */
static bool names_a_type(const struct parser *ps)
{
    return ps->previous.kind == TOKEN_IDENT &&
           (is_token_before(ps, 2, TOKEN_EMIT) || is_token_before(ps, 2, '=') ||
            is_token_before(ps, 2, '(') || is_token_before(ps, 2, ',') ||
            is_token_before(ps, 2, TOKEN_RETURN));
}

/* ---- by the expected tokens ---- */

/* `if x`, `for i in`, `for (a, b, c)` */
static bool help_loop(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    bool wants_parenthesis = error->expected_count == 1 && syntax_error_expects(error, "'('");
    int before = ps->previous.kind;
    if (is_innermost(error, BRACKET_WITH_SEMICOLONS) && error->in_body &&
        syntax_error_expects(error, "';'")) {
        diag_help(diag, "the parts of a 'for' are separated by ';'");
        return true;
    }
    if (!wants_parenthesis) return false;
    if (before == TOKEN_FOR)
        diag_help(diag, "write 'for (%s i = 0; i < N; i++)'", error->in_net ? "int" : "i32");
    else if (before == TOKEN_IF || before == TOKEN_WHILE || before == TOKEN_SWITCH)
        diag_help(diag, "the condition stands in parentheses");
    return true;
}

/* `(float)x`: a cast to a type that does not exist. */
static bool help_cast(struct parser *ps, struct diag *diag)
{
    const struct token *type = token_before(ps, 2);
    if (ps->previous.kind != ')' || type == NULL || type->kind != TOKEN_IDENT) return false;
    if (!is_token_before(ps, 3, '(')) return false;
    diag_help(diag, "a cast names a built-in type, as in '(f32)x'; '%s' is none",
              token_name(ps, type));
    return true;
}

static void note_reserved(struct parser *ps, struct diag *diag)
{
    const char *text = ps->source->bytes + ps->current.span.begin;
    size_t length = ps->current.span.end - ps->current.span.begin;
    for (const char *const *word = reserved_words; *word; word++)
        if (strlen(*word) == length && memcmp(*word, text, length) == 0)
            diag_note(diag, "'%s' is a reserved word", *word);
}

/* `init x 0`, `init 66 0`, `init 66 x0;`: two or three tokens after the word. */
static bool help_initial(const struct parser *ps, const struct syntax_error *error,
                         struct diag *diag)
{
    size_t back = 1;
    if (!error->in_net || error->open_count > 0) return false;
    while (back < 4 && !is_token_before(ps, back, TOKEN_INIT))
        back++;
    if (back == 4) return false;
    diag_help(diag, "initial packets are 'init {1, 2, 3}', or 'init 8 x 0': a count, an x with "
                    "blanks around it, and the value");
    return true;
}

void syntax_help_add(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    if (wants_name_only(error)) note_reserved(ps, diag);
    help_expect(ps, error, diag);
    if (help_initial(ps, error, diag)) return;
    if (help_loop(ps, error, diag) || (error->in_body && help_cast(ps, diag))) return;
    switch (ps->current.kind) {
    case TOKEN_EMIT: help_emit(ps, error, diag); return;
    case TOKEN_ARROW: help_arrow(ps, error, diag); return;
    case TOKEN_TYPE: help_type(ps, error, diag); return;
    case TOKEN_IDENT: help_name(ps, error, diag); return;
    case '[':
        if (error->in_body && syntax_error_expects(error, "a number"))
            diag_help(diag, "the elements of an array stand in braces: {a, b, c}");
        return;
    case TOKEN_ASSIGN_OP:
        if (error->in_body && syntax_error_expects(error, "'='") &&
            token_is_name(ps, &ps->previous))
            diag_help(diag,
                      "a declaration gives a first value with '='; what is kept from firing "
                      "to firing is 'state TYPE %s = VALUE;'",
                      token_name(ps, &ps->previous));
        return;
    case '|':
        if (error->in_net && !error->open_count) diag_help(diag, JOINED);
        return;
    case '*':
    case '&':
    case '<':
    case '>':
    case '=': help_operator(ps, error, diag); return;
    case '(': help_opening(ps, error, diag); return;
    case '?':
        if (ps->statement_count > 1 && ps->statement[0].kind == TOKEN_LAUNCH)
            diag_help(diag, "a choice between children, and one within another, stands in "
                            "parentheses: launch (a ? b : (c ? d : e))(...)");
        return;
    case '{':
        if (error->in_body && syntax_error_expects(error, "a number"))
            diag_help(diag, "braces initialise what is declared; elsewhere a struct or a vector is "
                            "constructed by its name: 'TYPE(a, b)'");
        else if (error->in_body && names_a_type(ps))
            diag_help(diag, "a struct or a vector is constructed with parentheses: '%s(a, b)'",
                      token_name(ps, &ps->previous));
        return;
    case ';':
        if (error->in_net && is_token_before(ps, 2, TOKEN_BUFFER))
            diag_help(diag, "a buffer has a type: 'buffer f32 %s;'", token_name(ps, &ps->previous));
        if (!error->in_block && ps->previous.kind == ')' && syntax_error_expects(error, "'{'"))
            diag_help(diag, "the body follows here: items stand in any order and are not "
                            "declared ahead");
        return;
    case ':':
        if (error->in_body && ps->statement_count == 2 && ps->previous.kind == TOKEN_IDENT)
            diag_help(diag, "%s", habit_find("goto")->help);
        return;
    case ',':
    case ')':
    case ']': help_closing(ps, error, diag); return;
    default: return;
    }
}

/* ---- words that cause the error ---- */

static const struct habit *token_habit(struct parser *ps, const struct token *token)
{
    return token->kind == TOKEN_IDENT ? habit_find(token_name(ps, token)) : NULL;
}

/* Names are assigned, called and indexed; keywords are not. */
static bool begins_with_keyword(const struct parser *ps)
{
    if (ps->statement_count == 0) return false;
    if (ps->statement[0].span.begin == ps->current.span.begin) return true;
    if (ps->statement_count == 1) return false;
    const struct token *second = &ps->statement[1];
    switch (second->kind) {
    case TOKEN_TYPE:
    case TOKEN_STRUCT:
    case TOKEN_CONST:
    case TOKEN_STRING:
    case '(':
    case '{':
    case '<': return true;
    default: return token_is_name(ps, second);
    }
}

/* The word of another language that causes the error, or NULL. */
static const struct token *find_habit(struct parser *ps, const struct habit **found)
{
    const struct token *near[] = {&ps->current, &ps->previous};
    for (size_t i = 0; i < 2; i++) {
        *found = token_habit(ps, near[i]);
        if (*found != NULL && (*found)->place == HABIT_OPERATOR) return near[i];
    }
    for (size_t back = 0; token_before(ps, back) != NULL; back++) {
        const struct token *token = token_before(ps, back);
        *found = token_habit(ps, token);
        if (*found != NULL && (*found)->place == HABIT_ANYWHERE &&
            token->span.begin >= ps->statement[0].span.begin)
            return token;
    }
    if (!begins_with_keyword(ps)) return NULL;
    *found = token_habit(ps, &ps->statement[0]);
    return *found != NULL && (*found)->place == HABIT_FIRST ? &ps->statement[0] : NULL;
}

/* `stat f32 s`, `fro (i32 i`, `whlie (x) {`: texts that can be neither a declaration nor a call. */
static const char *misspelt_keyword(struct parser *ps)
{
    static const char *const keywords[] = {"state", "table",  "local", "const",  "buffer",
                                           "for",   "while",  "if",    "switch", "return",
                                           "init",  "finish", "else",  "do",     "break"};
    if (ps->statement_count < 2 || ps->statement[0].kind != TOKEN_IDENT) return NULL;
    const struct token *second = &ps->statement[1];
    bool called =
        second->kind == '(' && (ps->current.kind == '{' ||
                                (ps->previous.kind == TOKEN_TYPE && is_token_before(ps, 2, '(')));
    bool block = second->kind == '{' && second->span.begin == ps->current.span.begin;
    if (second->kind != TOKEN_TYPE && !called && !block) return NULL;
    return nearest_name(token_name(ps, &ps->statement[0]), keywords,
                        sizeof keywords / sizeof keywords[0]);
}

bool syntax_habit_explain(struct parser *ps)
{
    const struct habit *habit;
    const struct token *token = find_habit(ps, &habit);
    const char *keyword = token == NULL ? misspelt_keyword(ps) : NULL;
    if (keyword != NULL) token = &ps->statement[0];
    if (token == NULL) return false;
    struct diag *diag = diag_report(ps->cx->diags, RULE_SYNTAX, token->span,
                                    "there is no '%s' in this language", token_name(ps, token));
    if (keyword != NULL)
        diag_suggest(diag, token->span, keyword);
    else
        diag_help(diag, "%s", habit->help);
    return true;
}

bool syntax_body_explain(struct parser *ps, const struct syntax_error *error)
{
    bool value = syntax_error_expects(error, "dimensions"), bare = error->open_count == 0;
    if (!value || !bare || error->in_block || ps->current.kind != TOKEN_EMIT) return false;
    diag_report(ps->cx->diags, RULE_SYNTAX, ps->previous.span,
                "expected '{' before the body, found '%s'", token_name(ps, &ps->previous));
    return true;
}
