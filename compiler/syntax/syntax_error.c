/* The words of a syntax error. */
#include <string.h>

#include "compiler/syntax/token_stream.h"

bool syntax_error_expects(const struct syntax_error *error, const char *symbol)
{
    for (int i = 0; i < error->expected_count; i++)
        if (strcmp(error->expected[i], symbol) == 0) return true;
    return false;
}

static bool is_one_of(const char *symbol, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(symbol, *list) == 0) return true;
    return false;
}

static const char *const contextual[] = {"in",    "out",    "type",    "x",    "of",     "init",
                                         "child", "extern", "builtin", "test", "expect", NULL};
static const char *const reserved[] = {
    "import", "const",  "struct",  "fn",    "kernel",   "pipeline", "buffer", "state", "table",
    "local",  "finish", "launch",  "stop",  "if",       "else",     "for",    "while", "do",
    "switch", "case",   "default", "break", "continue", "return",   NULL};
/* What may follow a complete expression and is not worth a word. */
static const char *const operators[] = {"'+'", "'-'",
                                        "'*'", "'/'",
                                        "'%'", "'&'",
                                        "'|'", "'^'",
                                        "'<'", "'>'",
                                        "'?'", "'='",
                                        "'['", "'.'",
                                        "'('", "<<",
                                        ">>",  "<=",
                                        ">=",  "==",
                                        "!=",  "&&",
                                        "||",  "++",
                                        "--",  "an assignment operator",
                                        "..",  "x",
                                        "of",  "<-",
                                        NULL};
/* What may begin an expression. */
static const char *const prefixes[] = {"'('",
                                       "'+'",
                                       "'-'",
                                       "'!'",
                                       "'~'",
                                       "++",
                                       "--",
                                       "a name",
                                       "a number",
                                       "a string",
                                       "a built-in type",
                                       NULL};
static const char *const types[] = {"a built-in type", "a name", NULL};
static const char *const expressions[] = {
    "primary",    "postfix",    "unary",          "cast",     "multiplicative",
    "additive",   "shift",      "relational",     "equality", "and",
    "xor",        "or",         "and_then",       "or_else",  "conditional",
    "assignment", "expression", "expression_opt", "a number", "a string",
    "value",      "args",       "args_opt",       NULL};

/* The expected symbols in words: at most three alternatives, or a class of them. */
struct words {
    const char *text[8];
    int count;
};

static void add_word(struct words *words, const char *text)
{
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->text[i], text) == 0) return;
    if (words->count < (int)(sizeof words->text / sizeof *words->text))
        words->text[words->count++] = text;
}

static struct words expected_words(const struct syntax_error *error)
{
    struct words words = {0};
    bool name = syntax_error_expects(error, "a name");
    bool expression = syntax_error_expects(error, "a number") && syntax_error_expects(error, "'('");
    if (syntax_error_expects(error, "return")) {
        add_word(&words, "a statement");
    } else if (syntax_error_expects(error, "buffer")) {
        add_word(&words, "a statement of a pipeline");
    } else if (syntax_error_expects(error, "import")) {
        add_word(&words, "an import, constant, struct, function, kernel, pipeline or test");
        return words;
    } else if (syntax_error_expects(error, "dimensions")) {
        add_word(&words, "a value");
        return words;
    } else if (expression) {
        add_word(&words, "an expression");
    }
    bool statement = words.count > 0 && strcmp(words.text[0], "an expression") != 0;
    bool type = !expression && !statement && name && syntax_error_expects(error, "a built-in type");
    if (type) add_word(&words, "a type");
    bool after_expression = !expression && is_one_of(error->after, expressions);
    for (int i = 0; i < error->expected_count; i++) {
        const char *symbol = error->expected[i];
        if ((name || expression) && is_one_of(symbol, contextual)) continue;
        if (expression && is_one_of(symbol, prefixes)) continue;
        if (type && is_one_of(symbol, types)) continue;
        if (statement && (is_one_of(symbol, reserved) || strcmp(symbol, "';'") == 0 ||
                          strcmp(symbol, "'{'") == 0 || is_one_of(symbol, prefixes)))
            continue;
        if (!expression && is_one_of(symbol, operators) &&
            (after_expression || error->expected_count > 4))
            continue;
        bool attribute = strcmp(symbol, "a name") == 0 && strcmp(error->after, "attributes") == 0;
        add_word(&words, attribute ? "an attribute" : symbol);
    }
    return words;
}

/* A symbol as it stands in a message: tokens in quotes. */
static const char *quoted(struct parser *ps, const char *symbol)
{
    if (*symbol == '\'' || strchr(symbol, ' ') || strcmp(symbol, "dimensions") == 0) return symbol;
    return arena_printf(ps->cx->arena, "'%s'", symbol);
}

static const char *join_words(struct parser *ps, const struct words *words)
{
    const char *text = "";
    for (int i = 0; i < words->count; i++)
        text = arena_printf(ps->cx->arena, "%s%s%s", text,
                            i == 0                 ? ""
                            : i + 1 < words->count ? ", "
                                                   : " or ",
                            quoted(ps, words->text[i]));
    return text;
}

static const char *token_text(struct parser *ps, const struct token *token)
{
    enum { SHOWN_BYTES = 40 };
    uint32_t length = token->span.end - token->span.begin;
    if (token->kind == TOKEN_END) return "the end of the file";
    const char *text = ps->source->bytes + token->span.begin;
    if (length > SHOWN_BYTES) return arena_printf(ps->cx->arena, "'%.*s...'", SHOWN_BYTES, text);
    return arena_printf(ps->cx->arena, "'%.*s'", (int)length, text);
}

static const char *token_name(struct parser *ps, const struct token *token)
{
    return arena_string(ps->cx->arena, ps->source->bytes + token->span.begin,
                        token->span.end - token->span.begin);
}

static bool touches(const struct token *before, const struct token *token)
{
    return before->span.end == token->span.begin;
}

static bool is_word_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '(' || byte == '.';
}

/* `<-` where a comparison with a negative value was meant, or the arrow of a pipeline. */
static void help_emit(const struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    const struct token *found = &ps->current;
    bool joined = is_word_byte(ps->source->bytes[found->span.end]);
    if (error->in_net && !error->open_count && !(joined && touches(&ps->previous, found)))
        diag_help(diag, "nodes of a pipeline are joined with '->'");
    else if (joined && (error->open_count || error->after_assignment || error->in_net))
        diag_help(diag, "'<-' is one token: to compare with a negative value write '< -'");
}

static void help_arrow(const struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    if (!error->in_body) return;
    if (error->open_count || error->after_assignment)
        diag_help(diag, "there are no pointers: a member is written 'a.b'");
    else if (!touches(&ps->previous, &ps->current))
        diag_help(diag, "a packet is appended to a port with 'port <- value;'");
}

static bool wants_name_only(const struct syntax_error *error)
{
    return syntax_error_expects(error, "a name") && !syntax_error_expects(error, "';'") &&
           !syntax_error_expects(error, "a number");
}

static bool is_text(struct parser *ps, const struct token *token, const char *text)
{
    return strcmp(token_name(ps, token), text) == 0;
}

/* The type that a word of C stands for, or NULL. */
static const char *type_of_c(const char *word)
{
    static const char *const types_of_c[][2] = {
        {"float", "f32"},    {"double", "f64"},   {"char", "i8"},      {"short", "i16"},
        {"long", "i64"},     {"unsigned", "u32"}, {"signed", "i32"},   {"size_t", "u64"},
        {"uint8_t", "u8"},   {"int8_t", "i8"},    {"uint16_t", "u16"}, {"int16_t", "i16"},
        {"uint32_t", "u32"}, {"int32_t", "i32"},  {"uint64_t", "u64"}, {"int64_t", "i64"},
    };
    for (size_t i = 0; i < sizeof types_of_c / sizeof types_of_c[0]; i++)
        if (strcmp(types_of_c[i][0], word) == 0) return types_of_c[i][1];
    return NULL;
}

/* Where a declaration of a file begins with a type. */
static void help_declaration(struct parser *ps, struct diag *diag)
{
    const char *word = token_name(ps, &ps->current), *type = type_of_c(word);
    if (strcmp(word, "int") == 0)
        diag_help(diag, "a constant is 'const int NAME = VALUE;', a function 'fn i32 NAME(...) { "
                        "... }'");
    else if (strcmp(word, "void") == 0)
        diag_help(diag, "a function is 'fn void NAME(...) { ... }'");
    else if (type != NULL)
        diag_help(diag,
                  "'%s' is %s here: a constant is 'const %s NAME = VALUE;', a function 'fn "
                  "%s NAME(...) { ... }'",
                  word, type, type, type);
    else
        diag_help(diag,
                  "a constant is 'const %s NAME = VALUE;', a function 'fn %s NAME(...) { ... }'",
                  word, word);
}

/* `y == ..` in a test without its `expect`; `expect y = ..`. */
static void help_expect(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    const char *name = token_name(ps, &ps->previous), *source = ps->source->bytes;
    uint32_t at = ps->previous.span.begin;
    if (ps->previous.kind != TOKEN_IDENT || error->in_body || error->in_net) return;
    while (at > 0 && source[at - 1] == ' ')
        at--;
    bool expects = at >= 6 && memcmp(source + at - 6, "expect", 6) == 0;
    if (ps->current.kind == TOKEN_EQ && !expects && syntax_error_expects(error, "'='"))
        diag_help(diag, "what comes out is stated with 'expect %s == ...;'", name);
    if (ps->current.kind == '=' && expects)
        diag_help(diag, "what comes out is compared: 'expect %s == ...;'", name);
}

/* Habits from C and other languages, where the place says what was meant. */
static void help_habit(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    static const char *const items[] = {"import", "const",    "struct", "fn",
                                        "kernel", "pipeline", "test"};
    const struct token *found = &ps->current;
    bool type = found->kind == TOKEN_TYPE;
    if (type && syntax_error_expects(error, "buffer")) {
        diag_help(diag, "a buffer is declared with 'buffer %s NAME;'", token_name(ps, found));
    } else if (syntax_error_expects(error, "import") &&
               (type || type_of_c(token_name(ps, found)) != NULL)) {
        help_declaration(ps, diag);
    } else if (type && error->in_body && is_text(ps, &ps->previous, "static")) {
        diag_help(diag, "what a kernel keeps between firings is 'state %s NAME;'",
                  token_name(ps, found));
    } else if (found->kind == '<' && is_text(ps, &ps->previous, "import")) {
        diag_help(diag, "a path stands in quotes: import \"std/dsp.pipe\";");
    } else if (type && syntax_error_expects(error, "in") && syntax_error_expects(error, "out")) {
        diag_help(diag, "run-time arguments stand after a ';': name(in ..., out ...; %s ...)",
                  token_name(ps, found));
    } else if (found->kind == TOKEN_IDENT && syntax_error_expects(error, "import")) {
        const char *nearest =
            nearest_name(token_name(ps, found), items, sizeof items / sizeof items[0]);
        if (nearest != NULL) diag_help(diag, "did you mean '%s'?", nearest);
    } else if (found->kind == '*' && ps->previous.kind == TOKEN_TYPE) {
        diag_help(diag, "there are no pointers: an array is 'TYPE NAME[LENGTH]'");
    }
}

static void add_help(struct parser *ps, const struct syntax_error *error, struct diag *diag)
{
    help_habit(ps, error, diag);
    const struct token *found = &ps->current;
    const char *text = ps->source->bytes + found->span.begin;
    size_t length = found->span.end - found->span.begin;
    help_expect(ps, error, diag);
    if (found->kind == TOKEN_EMIT) help_emit(ps, error, diag);
    if (found->kind == TOKEN_ARROW) help_arrow(ps, error, diag);
    if (!wants_name_only(error)) return;
    for (const char *const *word = reserved; *word; word++)
        if (strlen(*word) == length && memcmp(*word, text, length) == 0)
            diag_note(diag, "'%s' is a reserved word", *word);
}

/* The bracket that is still open where the file or the enclosing list ends. */
static void label_open_bracket(struct parser *ps, struct diag *diag)
{
    int kind = ps->current.kind;
    bool ends = kind == TOKEN_END || kind == ';' || kind == TOKEN_KERNEL ||
                kind == TOKEN_PIPELINE || kind == TOKEN_FN || kind == TOKEN_IMPORT;
    if (!ends || !ps->brackets.count) return;
    struct span open = ps->brackets.items[ps->brackets.count - 1];
    char bracket = ps->source->bytes[open.begin];
    if (kind == ';' && bracket == '{') return;
    diag_label(diag, open, "to close this '%c'", bracket);
}

static void explain_semicolon(struct parser *ps, const struct syntax_error *error)
{
    uint32_t end = ps->previous.span.end;
    const char *after =
        is_one_of(error->after, expressions) ? "expression" : token_text(ps, &ps->previous);
    struct diag *diag =
        diag_report(ps->cx->diags, RULE_SYNTAX, (struct span){ps->source_id, end, end},
                    "expected ';' after %s, found %s", after, token_text(ps, &ps->current));
    diag_help(diag, "write ';' here");
}

void syntax_error_explain(struct parser *ps, const struct syntax_error *error,
                          bool missing_semicolon)
{
    const char *found = token_text(ps, &ps->current);
    if (missing_semicolon && ps->previous.span.source) {
        explain_semicolon(ps, error);
        return;
    }
    struct words words = expected_words(error);
    struct diag *diag;
    if (words.count == 0 || words.count > 5)
        diag = diag_report(ps->cx->diags, RULE_SYNTAX, ps->current.span, "unexpected %s", found);
    else if (strcmp(words.text[0], "a value") == 0)
        diag = diag_report(ps->cx->diags, RULE_SYNTAX, ps->current.span,
                           "expected a value after %s, found %s", token_text(ps, &ps->previous),
                           found);
    else if (is_one_of(error->after, expressions) && strcmp(words.text[0], "an expression") != 0)
        diag = diag_report(ps->cx->diags, RULE_SYNTAX, ps->current.span,
                           "expected %s after expression, found %s", join_words(ps, &words), found);
    else
        diag = diag_report(ps->cx->diags, RULE_SYNTAX, ps->current.span, "expected %s, found %s",
                           join_words(ps, &words), found);
    label_open_bracket(ps, diag);
    add_help(ps, error, diag);
}
