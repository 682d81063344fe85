/* SPDX-License-Identifier: MIT */
/*
 * lsp_work: answers about one document of an editor. Each answer is one JSON value on one line.
 *
 * A work runs in a child process of the server. It need not free memory, and may end in any way; then the editor
 * gets no answer.
 */
#ifndef PIPEC_LSP_WORK_H
#define PIPEC_LSP_WORK_H

#include <stddef.h>
#include <stdio.h>

struct lsp_document {
    const char *uri, *path; /* path: "" for one that is no file */
    const char *text;
    size_t size_bytes;
};

struct lsp_request {
    const struct lsp_document *documents; /* all that the editor has open */
    size_t document_count;
    const struct lsp_document *document; /* the one that is asked about */
    unsigned line, character;            /* from 0, in UTF-16 code units */
};

typedef void lsp_work(const struct lsp_request *request, FILE *to);

/* [{"uri", "diagnostics"}, ...]: of the document, and errors of files that it imports. */
lsp_work lsp_diagnostics;
lsp_work lsp_symbols;    /* DocumentSymbol[] */
lsp_work lsp_hover;      /* Hover, or null */
lsp_work lsp_definition; /* Location, or null */
lsp_work lsp_completion; /* CompletionItem[] */
lsp_work lsp_formatting; /* TextEdit[], or null if the text has syntax errors */

#endif
