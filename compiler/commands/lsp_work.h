/* SPDX-License-Identifier: MIT */
/*
 * lsp_work: the answers to an editor that other commands of pipec give, too.
 */
#ifndef PIPEC_LSP_WORK_H
#define PIPEC_LSP_WORK_H

#include "compiler/editor/editor_answers.h"

/* [{"uri", "diagnostics"}, ...]: of the document, and errors of files that it imports. */
editor_answer lsp_diagnostics;
editor_answer lsp_hover;      /* Hover, or null */
editor_answer lsp_formatting; /* TextEdit[], or null if the text has syntax errors */

#endif
