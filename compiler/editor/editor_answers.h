/* SPDX-License-Identifier: MIT */
/*
 * editor_answers: the answers to an editor that need only this folder; the others are in compiler/commands/lsp_work.h.
 *
 *   answer_names.c    the uses of a name
 *   answer_calls.c    the words and parameters that can stand at a place
 *   answer_tokens.c   the meaning of each name, for colours
 *   answer_rates.c    rates and depths that the analyses have found
 */
#ifndef PIPEC_EDITOR_ANSWERS_H
#define PIPEC_EDITOR_ANSWERS_H

#include "compiler/editor/editor_request.h"

editor_answer answer_definition;        /* Location, or null */
editor_answer answer_references;        /* Location[] */
editor_answer answer_highlight;         /* DocumentHighlight[] */
editor_answer answer_prepare_rename;    /* a range with its text, or refused */
editor_answer answer_rename;            /* WorkspaceEdit, or refused */
editor_answer answer_symbols;           /* DocumentSymbol[] */
editor_answer answer_workspace_symbols; /* SymbolInformation[]; without a document */
editor_answer answer_completion;        /* CompletionItem[] */
editor_answer answer_signature;         /* SignatureHelp, or null */
editor_answer answer_tokens;            /* SemanticTokens */
editor_answer answer_hints;             /* InlayHint[] */

/* The legend of answer_tokens: kinds and modifiers, in order; each ends with NULL. */
extern const char *const token_types[], *const token_modifiers[];

struct editor_view;
/* Rates and depths at the position, as lines of text; NULL: there is a graph without them, or none. */
const char *rates_text(struct editor_view *view);

#endif
