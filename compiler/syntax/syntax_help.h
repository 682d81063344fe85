/* SPDX-License-Identifier: MIT */
/*
 * syntax_help: guesses the intended text of a syntax error from its place.  Private to syntax.
 */
#ifndef PIPEC_SYNTAX_HELP_H
#define PIPEC_SYNTAX_HELP_H

#include "compiler/syntax/token_stream.h"

extern const char *const reserved_words[]; /* ends with NULL */
const char *token_name(struct parser *ps, const struct token *token);

/* Adds a `help:` to an error at the current token. */
void syntax_help_add(struct parser *ps, const struct syntax_error *error, struct diag *diag);
/* Reports a word of another language, or a misspelt keyword, that causes the error. */
bool syntax_habit_explain(struct parser *ps);
/* Reports a `{` that is missing before a body, if the body was read as an attribute. */
bool syntax_body_explain(struct parser *ps, const struct syntax_error *error);

#endif
