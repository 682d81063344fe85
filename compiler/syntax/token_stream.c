/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/token_stream.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/syntax/ast_build.h"

#define YYSTYPE PIPE_STYPE
#define YYLTYPE PIPE_LTYPE
#include "compiler/syntax/lexer.h"

/* ---- for the lexer ---- */

bool lexer_open_bracket(struct parser *ps, struct span span)
{
    if (ps->brackets.count >= BRACKET_DEPTH_MAX) {
        ast_too_deep(ps, span);
        return false;
    }
    vec_push(ps->cx->arena, &ps->brackets, span);
    return true;
}

void lexer_close_bracket(struct parser *ps)
{
    if (ps->brackets.count) ps->brackets.count--;
}

struct diag *lexer_error(struct parser *ps, enum rule rule, struct span span, const char *message)
{
    ps->lexical_error = true;
    return diag_report(ps->cx->diags, rule, span, "%s", message);
}

/* Consecutive lines are one comment; a line after a gap begins another one. */
void lexer_comment_line(struct parser *ps, struct span span)
{
    if (ps->comment_lines.count) {
        const struct span *last = &ps->comment_lines.items[ps->comment_lines.count - 1];
        uint32_t count = 0;
        for (uint32_t i = last->end; i < span.begin; i++)
            count += ps->source->bytes[i] == '\n';
        if (count > 1) ps->comment_lines.count = 0;
    }
    vec_push(ps->cx->arena, &ps->comment_lines, span);
}

void lexer_comment(struct parser *ps, struct span span)
{
    if (ps->list == NULL) return;
    struct list_comment comment = {.span = span, .before = (uint32_t)ps->list->tokens.count};
    vec_push(ps->cx->arena, &ps->list->comments, comment);
}

const char *token_stream_documentation(const struct parser *ps, uint32_t offset)
{
    size_t low = 0, high = ps->documentation.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ps->documentation.items[middle].before == offset)
            return ps->documentation.items[middle].text;
        if (ps->documentation.items[middle].before < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- memory of the lexer and the parser ---- */

/* On failure, Flex and Bison would end the process with their own message, or report a syntax
 * error. */
void *token_stream_memory(void *memory, size_t size_bytes)
{
    void *moved = realloc(memory, size_bytes);
    if (moved == NULL && size_bytes > 0) arena_out_of_memory();
    return moved;
}

void *scan_alloc(size_t size_bytes, void *scanner)
{
    (void)scanner;
    return token_stream_memory(NULL, size_bytes);
}

void *scan_realloc(void *memory, size_t size_bytes, void *scanner)
{
    (void)scanner;
    return token_stream_memory(memory, size_bytes);
}

void scan_free(void *memory, void *scanner)
{
    (void)scanner;
    free(memory);
}

/* ---- the stream ---- */

void token_stream_open(struct parser *ps)
{
    ps->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    /* Flex takes quadratic time for a token that contains NULs, so it gets another stray byte
     * instead. */
    size_t size_bytes = ps->source->size_bytes;
    char *text = arena_alloc(ps->scratch, size_bytes + 2); /* Flex requires two NULs at the end */
    memcpy(text, ps->source->bytes, size_bytes);
    for (char *nul = text; (nul = memchr(nul, '\0', size_bytes - (size_t)(nul - text))); nul++)
        *nul = '\1';
    if (ps->c_locale == (locale_t)0 || scan_lex_init_extra(ps, &ps->scanner) != 0)
        arena_out_of_memory();
    scan__scan_buffer(text, size_bytes + 2, ps->scanner);
}

void token_stream_close(struct parser *ps)
{
    scan_lex_destroy(ps->scanner);
    freelocale(ps->c_locale);
}

static struct token next_token(struct parser *ps)
{
    struct token token = {0};
    if (ps->pending_count) return ps->pending[--ps->pending_count];
    int last = ps->current.kind;
    if (last == ';' || last == '{' || last == '}') ps->lexical_error = false;
    if (!ps->stopped) token.kind = scan_lex(&token.value, &token.span, ps->scanner);
    if (ps->stopped) {
        token.kind = TOKEN_END;
        token.span = ps->current.span;
    }
    /* Keeps the pending comment lines, if any, as the documentation of the item that begins at
     * `offset`. */
    size_t length = 0;
    if (ps->comment_lines.count != 0) {
        for (size_t i = 0; i < ps->comment_lines.count; i++)
            length += ps->comment_lines.items[i].end - ps->comment_lines.items[i].begin;
        char *text = arena_alloc(ps->cx->arena, length + 1), *to = text;
        for (size_t i = 0; i < ps->comment_lines.count; i++) {
            const struct span *line = &ps->comment_lines.items[i];
            const char *from = ps->source->bytes + line->begin + 3;
            const char *end = ps->source->bytes + line->end;
            if (from < end && *from == ' ') from++;
            while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
                end--;
            if (i > 0) *to++ = '\n';
            memcpy(to, from, (size_t)(end - from));
            to += end - from;
        }
        struct documentation documentation = {token.span.begin, text};
        vec_push(ps->cx->arena, &ps->documentation, documentation);
        ps->comment_lines.count = 0;
    }
    return token;
}

void token_stream_list(struct parser *ps)
{
    int kind;
    do {
        struct token token = next_token(ps);
        kind = token.kind;
        vec_push(ps->cx->arena, &ps->list->tokens,
                 (struct list_token){.kind = kind, .span = token.span});
        ps->current = token;
    } while (kind != TOKEN_END);
}

static void hand_back(struct parser *ps, struct token token)
{
    ps->pending[ps->pending_count++] = token;
}

/* ---- recovery ---- */

/* In a command list, commands contain the words that begin items elsewhere. */
static bool begins_item(const struct parser *ps, int kind)
{
    if (ps->file->is_commands) return false;
    return kind == TOKEN_KERNEL || kind == TOKEN_PIPELINE || kind == TOKEN_FN ||
           kind == TOKEN_IMPORT;
}

static bool qualifies_kernel(int kind)
{
    return kind == TOKEN_CHILD || kind == TOKEN_EXTERN || kind == TOKEN_PURE ||
           kind == TOKEN_BUILTIN;
}

static bool is_on_later_line(const struct parser *ps, const struct token *before,
                             const struct token *token)
{
    return token->span.begin > before->span.end &&
           memchr(ps->source->bytes + before->span.end, '\n',
                  token->span.begin - before->span.end) != NULL;
}

static struct token made_up(int kind, struct span at)
{
    struct token token = {.kind = kind, .span = {at.source, at.begin, at.begin}};
    return token;
}

/* Drops the innermost open `bracket` and all brackets inside it; false if there is none. */
static bool skip_close(struct parser *ps, char bracket)
{
    size_t i = ps->skipped_count;
    while (i > 0 && ps->skipped[i - 1] != bracket)
        i--;
    if (i == 0) return false;
    ps->skipped_count = i - 1;
    return true;
}

static void skip_open(struct parser *ps, char bracket)
{
    if (ps->skipped_count < sizeof ps->skipped) ps->skipped[ps->skipped_count++] = bracket;
}

static void skip_parenthesis_close(struct parser *ps)
{
    for (size_t i = ps->skipped_count;
         i > 0 && ps->skipped[i - 1] != '{' && ps->skipped[i - 1] != 'B'; i--)
        if (strchr("(" BRACKETS_SPECIAL, ps->skipped[i - 1])) {
            ps->skipped_count = i - 1;
            return;
        }
}

/* True if more `)` than `(` follow on the line. */
static bool parenthesis_closes_on_line(const struct parser *ps, uint32_t from)
{
    int open = 0;
    for (uint32_t at = from; at < ps->source->size_bytes; at++) {
        char byte = ps->source->bytes[at];
        if (byte == '\n' || byte == '{' || byte == '}') return false;
        open += byte == '(';
        if (byte == ')' && open-- == 0) return true;
    }
    return false;
}

/* True if the broken statement ends with this `;`, given the open brackets. */
static bool semicolon_ends(const struct parser *ps, const struct token *token,
                           bool next_on_later_line)
{
    bool parenthesis = false;
    for (size_t i = ps->skipped_count; i > 0; i--) {
        char bracket = ps->skipped[i - 1];
        if (bracket == 'B' || bracket == BRACKET_SIGNATURE) return false;
        if (bracket == BRACKET_WITH_SEMICOLONS) return next_on_later_line;
        parenthesis |= bracket == '(';
    }
    return !parenthesis || !parenthesis_closes_on_line(ps, token->span.end);
}

static bool next_is_on_later_line(struct parser *ps, const struct token *token)
{
    struct token next = next_token(ps);
    hand_back(ps, next);
    return next.kind == TOKEN_END || is_on_later_line(ps, token, &next);
}

/* After the `}` of a skipped block: true if the broken statement ends here. */
static bool block_ends(struct parser *ps, const struct token *token)
{
    struct token next = next_token(ps);
    hand_back(ps, next);
    if (next.kind == TOKEN_WHILE) return is_on_later_line(ps, token, &next);
    if (next.kind == TOKEN_ELSE || next.kind == ';' || next.kind == ',' || next.kind == ')' ||
        next.kind == ']')
        return false;
    for (size_t i = 0; i < ps->skipped_count; i++)
        if (ps->skipped[i] == 'B' || ps->skipped[i] == BRACKET_SIGNATURE) return false;
    return ps->skipped_count == 0 || is_on_later_line(ps, token, &next);
}

/* Outside of items, true if an item may begin with this token. A token from the rest of a body
 * cannot. */
static bool may_begin_item(const struct parser *ps, const struct token *token)
{
    switch (token->kind) {
    case TOKEN_END:
    case TOKEN_CONST:
    case TOKEN_STRUCT:
    case TOKEN_TEST:
    case TOKEN_CHILD:
    case TOKEN_EXTERN:
    case TOKEN_BUILTIN: return true;
    case '}':
    case ')':
    case ']': return false;
    default: break;
    }
    uint32_t at = token->span.begin;
    return begins_item(ps, token->kind) || at == 0 || ps->source->bytes[at - 1] == '\n';
}

static bool next_may_begin_item(struct parser *ps)
{
    struct token next = next_token(ps);
    hand_back(ps, next);
    return ps->file->is_commands || may_begin_item(ps, &next);
}

enum verdict { GO_ON, END_BEFORE, END_AFTER };

/* `previous` is the kind of the token before. */
static enum verdict skip_token(struct parser *ps, const struct token *token, int previous)
{
    switch (token->kind) {
    case TOKEN_END: return END_BEFORE;
    case '(': skip_open(ps, previous == TOKEN_FOR ? BRACKET_WITH_SEMICOLONS : '('); return GO_ON;
    case '[': skip_open(ps, '['); return GO_ON;
    case '{': skip_open(ps, 'B'); return GO_ON;
    case ')': skip_parenthesis_close(ps); return GO_ON;
    case ']':
        if (ps->skipped_count && ps->skipped[ps->skipped_count - 1] == '[') ps->skipped_count--;
        return GO_ON;
    case '}':
        if (skip_close(ps, 'B')) return block_ends(ps, token) ? END_AFTER : GO_ON;
        if (skip_close(ps, '{')) return GO_ON;
        return ps->in_block ? END_BEFORE : END_AFTER;
    case ';':
        return semicolon_ends(ps, token, next_is_on_later_line(ps, token)) ? END_AFTER : GO_ON;
    default: return begins_item(ps, token->kind) ? END_BEFORE : GO_ON;
    }
}

/* Forgets the open brackets of the broken statement. */
static void drop_brackets(struct parser *ps)
{
    size_t braces = 0;
    for (size_t i = 0; i < ps->skipped_count; i++)
        braces += ps->skipped[i] == '{' || ps->skipped[i] == 'B';
    for (; ps->brackets.count > 0; ps->brackets.count--) {
        uint32_t at = ps->brackets.items[ps->brackets.count - 1].begin;
        bool brace = ps->source->bytes[at] == '{';
        if (brace && braces == 0) return;
        braces -= brace;
    }
}

/* Skips from the current token on, which the parser has refused. */
static struct token skip_to_sync(struct parser *ps)
{
    struct token token = ps->current, before = ps->previous;
    bool stuck = ps->repeated_count > (size_t)BRACKET_DEPTH_MAX * 4; /* lists and loops */
    ps->resyncing = false;
    if (ps->repeats_line) {
        /* Returns the tokens of the whole line to the stream: they begin the next statement. */
        struct token first = ps->line[0];
        while (ps->line_count > 0)
            hand_back(ps, ps->line[--ps->line_count]);
        return made_up(TOKEN_RESYNC, first.span);
    }
    if (ps->missing_semicolon || ps->ends_do) {
        hand_back(ps, token);
        if (ps->ends_do) hand_back(ps, made_up(TOKEN_NO_WHILE, token.span));
        return made_up(TOKEN_RESYNC, token.span);
    }
    for (;;) {
        enum verdict verdict = skip_token(ps, &token, before.kind);
        if (stuck && verdict == END_BEFORE && token.kind != TOKEN_END) verdict = GO_ON;
        if (verdict == END_AFTER && !ps->in_block && !next_may_begin_item(ps)) verdict = GO_ON;
        if (verdict == END_AFTER) {
            if (token.kind == ';') drop_brackets(ps);
            return made_up(TOKEN_RESYNC, token.span);
        }
        if (verdict == END_BEFORE) break;
        before = token;
        token = next_token(ps);
    }
    if (token.kind == TOKEN_END && (ps->in_block || ps->stopped)) return token;
    hand_back(ps, token);
    if (begins_item(ps, token.kind)) {
        if (token.kind == TOKEN_KERNEL && qualifies_kernel(before.kind)) hand_back(ps, before);
        if (ps->in_block) hand_back(ps, made_up('}', token.span));
    }
    return made_up(TOKEN_RESYNC, token.span);
}

/* Records the line, as far as it can be repeated, and the first tokens of the statement. */
static void remember_token(struct parser *ps, struct token token)
{
    int last = ps->current.kind;
    size_t open = ps->brackets.count;
    bool inside = open > 0 && ps->source->bytes[ps->brackets.items[open - 1].begin] == '(';
    bool begins = (last == ';' && !inside) || last == '{' || last == '}' || last == TOKEN_RESYNC ||
                  last == TOKEN_NO_WHILE;
    if (begins || !ps->current.span.source) ps->statement_count = 0;
    if (ps->statement_count < 2) ps->statement[ps->statement_count++] = token;
    if (ps->line_count == 0 || is_on_later_line(ps, &ps->current, &token)) {
        ps->line_count = 0;
        ps->before_line = ps->current;
    }
    if (ps->line_count < LINE_TOKENS_MAX) ps->line[ps->line_count] = token;
    ps->line_count++;
}

int pipe_lex(PIPE_STYPE *value, PIPE_LTYPE *span, struct parser *ps)
{
    if (ps->begins_commands)
        hand_back(ps, made_up(TOKEN_COMMANDS, (struct span){ps->source_id, 0, 0}));
    ps->begins_commands = false;
    struct token token = ps->resyncing ? skip_to_sync(ps) : next_token(ps);
    bool is_written =
        token.kind != TOKEN_RESYNC && token.kind != TOKEN_COMMANDS && token.kind != TOKEN_NO_WHILE;
    if (is_written) remember_token(ps, token);
    ps->previous = ps->current;
    ps->current = token;
    *value = token.value;
    *span = token.span;
    return token.kind;
}

bool token_stream_wants_expected(const struct parser *ps)
{
    return !ps->stopped && ps->error_count < SYNTAX_EXPLAINED_MAX;
}

/* True if only a `;` is missing: one may stand here, and the next token is on another line or
 * closes the block. */
static bool lacks_semicolon(const struct parser *ps, const struct syntax_error *error)
{
    if (!syntax_error_expects(error, "';'") || error->open_count) return false;
    if (syntax_error_expects(error, "for") || syntax_error_expects(error, "import")) return false;
    int kind = ps->current.kind;
    return kind == '}' || kind == TOKEN_END || is_on_later_line(ps, &ps->previous, &ps->current);
}

static bool ends_operand(const struct parser *ps, const struct token *token)
{
    switch (token->kind) {
    case TOKEN_NUMBER:
    case TOKEN_DIM:
    case TOKEN_INC:
    case TOKEN_DEC:
    case ')':
    case ']': return true;
    default: return token_is_name(ps, token);
    }
}

/* True for words that continue a buffer or an instance on the next line. */
static bool is_attribute(const struct parser *ps, const struct token *token)
{
    static const char *const words[] = {"depth", "rows", "frame", "init", "importance", "cost"};
    const char *text = ps->source->bytes + token->span.begin;
    size_t length = token->span.end - token->span.begin;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return true;
    return false;
}

/* `a -> k \n k(b -> c);`: the beginning of the line was read as an attribute or a declared name,
 * so the error came later. */
static bool lacks_semicolon_before_line(const struct parser *ps, const struct syntax_error *error)
{
    const struct token *first = &ps->line[0];
    if (!error->in_net && !error->in_body) return false;
    switch (ps->statement[0].kind) {
    case TOKEN_FOR:
    case TOKEN_IF:
    case TOKEN_WHILE:
    case TOKEN_SWITCH:
    case TOKEN_ELSE: return false; /* the head ends with the line */
    default: break;
    }
    if (ps->line_count < 2 || ps->line_count > LINE_TOKENS_MAX || ps->statement_count == 0)
        return false;
    if (ps->statement[0].span.begin >= first->span.begin || !ends_operand(ps, &ps->before_line))
        return false;
    if (!token_is_name(ps, first) || is_attribute(ps, first)) return false;
    for (size_t i = ps->brackets.count; i > 0; i--) {
        struct span open = ps->brackets.items[i - 1];
        if (open.begin < ps->statement[0].span.begin) break;
        if (open.begin < first->span.begin) return false;
    }
    return true;
}

/* True if a statement of the body of a `do` is complete, and the next token does not continue it. */
static bool lacks_while(const struct syntax_error *error)
{
    return syntax_error_expects(error, "while") && !syntax_error_expects(error, "if");
}

/* True if a declaration lacks its name. */
static bool lacks_name(const struct parser *ps, const struct syntax_error *error)
{
    if (!syntax_error_expects(error, "a name")) return false;
    switch (ps->previous.kind) {
    case TOKEN_KERNEL:
    case TOKEN_PIPELINE:
    case TOKEN_STRUCT:
    case TOKEN_FN:
    case TOKEN_TYPE: return true;
    default: return false;
    }
}

void syntax_error_report(struct parser *ps, const struct syntax_error *error)
{
    bool repeats_line = lacks_semicolon_before_line(ps, error);
    uint32_t offset = (repeats_line ? ps->line[0] : ps->current).span.begin + 1;
    bool again = offset <= ps->last_error_offset; /* or in the part of the line that is repeated */
    bool missing_semicolon = lacks_semicolon(ps, error);
    bool unclosed = ps->missing_semicolon && error->in_block && begins_item(ps, ps->current.kind);
    ps->resyncing = true;
    ps->in_block = error->in_block;
    memcpy(ps->skipped, error->open, error->open_count);
    ps->skipped_count = error->open_count;
    if (ps->previous.kind == TOKEN_FOR) skip_open(ps, BRACKET_WITH_SEMICOLONS);
    if (lacks_name(ps, error)) ps->file->names_missing = true;
    ps->repeats_line = repeats_line && !again;
    ps->missing_semicolon = missing_semicolon && !again;
    ps->ends_do = error->inside_do && (again || lacks_while(error));
    if (!again) ps->last_error_offset = offset;
    ps->repeated_count = again ? ps->repeated_count + 1 : 0;
    if (ps->stopped || ps->lexical_error || (again && !unclosed)) return;
    ps->error_count++;
    if (ps->repeats_line)
        syntax_error_explain_semicolon(ps, &ps->before_line, &ps->line[0]);
    else
        syntax_error_explain(ps, error, missing_semicolon);
}
