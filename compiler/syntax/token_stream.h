/* SPDX-License-Identifier: MIT */
/*
 * token_stream: the layer between the lexer and the parser: one file's state, and recovery from syntax
 * errors.
 *
 * The parser gets tokens from pipe_lex.  At an error it describes the open constructs on its stack
 * (syntax_error_report). The stream then skips to a place where the innermost list of statements, fields,
 * checks or items continues, and returns the token RESYNC there. The place is one of these:
 *
 *   - before a token that begins the next statement, if only a `;` was missing;
 *   - after the `;` or the block that ends the broken statement;
 *   - before the `}` that ends the list;
 *   - before a keyword that can only begin an item, with a `}` for each list that this leaves.
 *
 * Each further error at the same token leaves one more open construct: a list, or a `do` without its
 * `while`, whose end is the token NO_WHILE.
 */
#ifndef PIPEC_TOKEN_STREAM_H
#define PIPEC_TOKEN_STREAM_H

#include <locale.h>

#include "compiler/context/context.h"
#include "base/vec.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/token_list.h"

enum {
    BRACKET_DEPTH_MAX = 1000,
    PARSER_STACK_MAX =
        60000, /* symbols: more than BRACKET_DEPTH_MAX levels of the longest chain of rules */
    SYNTAX_OPEN_MAX = 2 * BRACKET_DEPTH_MAX,
    LINE_TOKENS_MAX = 256,      /* of a line that can be repeated */
    SYNTAX_EXPLAINED_MAX = 500, /* errors of a file for which the expected tokens are computed */
};

/* Kinds of '(' on the parser's stack. */
#define BRACKET_SIGNATURE 'S'       /* of a kernel or pipeline: `;` stands inside */
#define BRACKET_WITH_SEMICOLONS 'F' /* of `for`, or of a node's arguments */
#define BRACKETS_SPECIAL "SF"

struct syntax_error {
    const char *after; /* the symbol on top of the parser's stack */
    const char *expected[128];
    int expected_count;
    bool in_block, in_body, in_net; /* inside a list in braces; of statements; of a pipeline */
    bool inside_do; /* in the innermost list, inside a statement of the body of a `do` */
    bool after_assignment;
    char open[SYNTAX_OPEN_MAX]; /* brackets inside the innermost list, outermost first */
    size_t open_count;
};

struct token {
    int kind;
    PIPE_STYPE value;
    struct span span;
};

struct documentation {
    uint32_t before; /* offset of the token that follows the comment */
    const char *text;
};

/* Everything that a file needs while it is read: the tokens, the state of recovery after an error, and the
 * tree so far.  One struct because the generated parser passes one pointer. */
struct parser {
    struct compile *cx;
    struct arena *scratch; /* lives while the file is parsed */
    uint32_t source_id;
    const struct source *source;
    struct ast_file *file;
    struct ast_item *last_item;
    locale_t c_locale;
    void *scanner;
    bool begins_commands; /* the token COMMANDS comes first */
    bool stopped;         /* too deep: the rest of the file is not read */
    bool fields_missing;  /* of the current struct */
    /* lexer */
    VEC(struct span) brackets; /* that are open, as written */
    VEC(struct documentation) documentation;
    VEC(struct span) comment_lines; /* of a pending `///` comment */
    struct token_list *list;        /* collects tokens and comments, or NULL */
    bool
        lexical_error; /* since the last `;`, `{` or `}`: errors that follow from it are not reported */
    /* stream */
    struct token previous, current;
    /* returned before anything is scanned; the last one first */
    struct token pending[LINE_TOKENS_MAX + 4];
    size_t pending_count;
    struct token line[LINE_TOKENS_MAX]; /* of the current line, `current` the last */
    size_t line_count;                  /* above the maximum: the line is not kept whole */
    struct token before_line;
    struct token statement[2]; /* the first tokens of the current statement */
    size_t statement_count;
    /* recovery */
    bool resyncing, missing_semicolon;
    bool repeats_line; /* the `;` is missing before the current line */
    bool in_block;
    bool ends_do; /* the `while` is missing, after the abandoned statement */
    char skipped[SYNTAX_OPEN_MAX + BRACKET_DEPTH_MAX]; /* open brackets while tokens are skipped */
    size_t skipped_count;
    uint32_t last_error_offset; /* + 1; the token at which the last error was found */
    size_t repeated_count;      /* errors at that token, one per list that is left */
    size_t error_count;
};

int pipe_lex(PIPE_STYPE *value, PIPE_LTYPE *span, struct parser *ps);

/* Scans the whole file into ps->list, without parsing. */
void token_stream_list(struct parser *ps);

/* Prepares one file for reading into ps->file; parse.c fills everything else. */
void token_stream_open(struct parser *ps);
void token_stream_close(struct parser *ps);
/* realloc for the lexer and the parser. Ends the process if memory runs out (base/arena.h). */
void *token_stream_memory(void *memory, size_t size_bytes);

/* False after SYNTAX_EXPLAINED_MAX errors: the next ones have only their places. */
bool token_stream_wants_expected(const struct parser *ps);
/* Reports the error at the current token, unless it follows from an earlier one, and starts
 * recovery. */
void syntax_error_report(struct parser *ps, const struct syntax_error *error);

/* Only the message; in syntax_error.c. */
void syntax_error_explain(struct parser *ps, const struct syntax_error *error,
                          bool missing_semicolon);
/* Reports that `;` is missing between the two tokens. */
void syntax_error_explain_semicolon(struct parser *ps, const struct token *before,
                                    const struct token *token);
/* True for a word that may be a name, also if it is a keyword in other places. */
bool token_is_name(const struct parser *ps, const struct token *token);
bool syntax_error_expects(const struct syntax_error *error, const char *symbol);

/* The `///` comment before the token at `offset`, or NULL. */
const char *token_stream_documentation(const struct parser *ps, uint32_t offset);

/* ---- for the lexer ---- */

/* False: the nesting is too deep; reported. */
bool lexer_open_bracket(struct parser *ps, struct span span);
void lexer_close_bracket(struct parser *ps);
struct diag *lexer_error(struct parser *ps, enum rule rule, struct span span, const char *message);
void lexer_comment_line(struct parser *ps, struct span span);
/* A comment of any form. */
void lexer_comment(struct parser *ps, struct span span);

/* literal.c: the values of literals; errors are reported. */
struct ast_expr *literal_integer(struct parser *ps, struct span span);
struct ast_expr *literal_float(struct parser *ps, struct span span);
struct ast_expr *literal_malformed_number(struct parser *ps, struct span span);
struct ast_expr *literal_dimensions(struct parser *ps, struct span span);
struct ast_expr *literal_character(struct parser *ps, struct span span);
struct ast_expr *literal_string(struct parser *ps, struct span span);
struct ast_type *literal_type(struct parser *ps, struct span span);

#endif
