/* SPDX-License-Identifier: MIT */
/*
 * syntax_help: what a syntax error was meant to be, as far as the place shows it.  Private to syntax.
 */
#ifndef PIPEC_SYNTAX_HELP_H
#define PIPEC_SYNTAX_HELP_H

#include "compiler/syntax/token_stream.h"

extern const char *const reserved_words[]; /* NULL ends them */
const char *token_name(struct parser *ps, const struct token *token);

/* Adds `help:` to an error at the current token. */
void syntax_help_add(struct parser *ps, const struct syntax_error *error, struct diag *diag);
/* Reports a word of another language, or a misspelt keyword, that is the reason of the error. */
bool syntax_habit_explain(struct parser *ps);
/* Reports a `{` that is missing before a body which was taken for an attribute. */
bool syntax_body_explain(struct parser *ps, const struct syntax_error *error);

#endif
