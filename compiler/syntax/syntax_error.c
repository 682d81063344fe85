/* SPDX-License-Identifier: MIT */
/* The messages of syntax errors. */
#include <string.h>

#include "compiler/syntax/syntax_help.h"

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

static const char *const contextual[] = {"in",   "out",    "type",   "x",    "of",
                                         "init", "child",  "extern", "pure", "builtin",
                                         "test", "expect", NULL};
/* Tokens that may follow a complete expression, and that a message omits. */
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
/* Tokens that may begin an expression. */
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

/* The expected symbols in words: at most three alternatives, or a class of symbols. */
struct words {
    const char *text[8];
    int count;
};

static void add_expected_word(struct words *words, const char *text)
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
    if (!name && error->expected_count == 2 && syntax_error_expects(error, "type") &&
        syntax_error_expects(error, "a built-in type")) {
        add_expected_word(&words, "int");
        add_expected_word(&words, "type");
        return words;
    } else if (syntax_error_expects(error, "return")) {
        add_expected_word(&words, "a statement");
    } else if (syntax_error_expects(error, "buffer")) {
        add_expected_word(&words, "a statement of a pipeline");
    } else if (syntax_error_expects(error, "import")) {
        add_expected_word(&words,
                          "an import, constant, struct, function, kernel, pipeline or test");
        return words;
    } else if (syntax_error_expects(error, "dimensions")) {
        add_expected_word(&words, "a value");
        return words;
    } else if (expression) {
        add_expected_word(&words, "an expression");
    }
    bool statement = words.count > 0 && strcmp(words.text[0], "an expression") != 0;
    bool type = !expression && !statement && name && syntax_error_expects(error, "a built-in type");
    if (type) add_expected_word(&words, "a type");
    bool after_expression = !expression && is_one_of(error->after, expressions);
    for (int i = 0; i < error->expected_count; i++) {
        const char *symbol = error->expected[i];
        if ((name || expression) && is_one_of(symbol, contextual)) continue;
        if (expression && is_one_of(symbol, prefixes)) continue;
        if (type && is_one_of(symbol, types)) continue;
        if (statement && (is_one_of(symbol, reserved_words) || strcmp(symbol, "';'") == 0 ||
                          strcmp(symbol, "'{'") == 0 || is_one_of(symbol, prefixes)))
            continue;
        if (!expression && is_one_of(symbol, operators) &&
            (after_expression || error->expected_count > 4))
            continue;
        bool attribute = strcmp(symbol, "a name") == 0 && strcmp(error->after, "attributes") == 0;
        add_expected_word(&words, attribute ? "an attribute" : symbol);
    }
    return words;
}

/* A symbol as a message shows it: tokens in quotes. */
static const char *quote_symbol(struct parser *ps, const char *symbol)
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
                            quote_symbol(ps, words->text[i]));
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

const char *token_name(struct parser *ps, const struct token *token)
{
    return arena_string(ps->cx->arena, ps->source->bytes + token->span.begin,
                        token->span.end - token->span.begin);
}

/* Labels the bracket that is still open at the end of the file or of the enclosing list. */
static void label_open_bracket(struct parser *ps, struct diag *diag)
{
    int kind = ps->current.kind;
    bool ends = kind == TOKEN_END || kind == ';' || kind == TOKEN_KERNEL ||
                kind == TOKEN_PIPELINE || kind == TOKEN_FN || kind == TOKEN_IMPORT || kind == '}';
    if (!ends || !ps->brackets.count) return;
    struct span open = ps->brackets.items[ps->brackets.count - 1];
    char bracket = ps->source->bytes[open.begin];
    if ((kind == ';' || kind == '}') && bracket == '{') return;
    diag_label(diag, open, "to close this '%c'", bracket);
}

static void report_semicolon(struct parser *ps, const struct token *before, const char *after,
                             const struct token *token)
{
    uint32_t end = before->span.end;
    struct diag *diag =
        diag_report(ps->cx->diags, RULE_SYNTAX, (struct span){ps->source_id, end, end},
                    "expected ';' after %s, found %s", after, token_text(ps, token));
    diag_help(diag, "write ';' here");
    diag_fix(diag, (struct span){ps->source_id, end, end}, ";");
}

void syntax_error_explain_semicolon(struct parser *ps, const struct token *before,
                                    const struct token *token)
{
    report_semicolon(ps, before, token_text(ps, before), token);
}

bool token_is_name(const struct parser *ps, const struct token *token)
{
    const char *text = ps->source->bytes + token->span.begin;
    size_t length = token->span.end - token->span.begin;
    if (token->kind == TOKEN_IDENT) return true;
    if (token->kind == TOKEN_TYPE) return false;
    for (const char *const *word = contextual; *word; word++)
        if (strlen(*word) == length && memcmp(*word, text, length) == 0) return true;
    return false;
}

void syntax_error_explain(struct parser *ps, const struct syntax_error *error,
                          bool missing_semicolon)
{
    const char *found = token_text(ps, &ps->current);
    if (syntax_habit_explain(ps)) return;
    if (missing_semicolon && ps->previous.span.source) {
        const char *after =
            is_one_of(error->after, expressions) ? "expression" : token_text(ps, &ps->previous);
        report_semicolon(ps, &ps->previous, after, &ps->current);
        return;
    }
    struct words words = expected_words(error);
    struct diag *diag;
    if (syntax_body_explain(ps, error)) return;
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
    syntax_help_add(ps, error, diag);
}
