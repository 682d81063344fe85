/* SPDX-License-Identifier: MIT */
/*
 * diag_lsp: diagnostics in the form of the Language Server Protocol: lines and UTF-16 columns from 0.
 */
#ifndef PIPEC_DIAG_LSP_H
#define PIPEC_DIAG_LSP_H

#include "compiler/diagnostics/diag_set.h"
#include "base/json_write.h"

/* "file://" and the name, with escapes. */
const char *lsp_uri(struct arena *arena, const char *path);
/* The place as the member `key` {"start": .., "end": ..}. */
void lsp_put_range(struct json *json, const char *key, const struct sources *sources,
                   struct span span);
/* The end of the span as the member `key`. */
void lsp_put_place(struct json *json, const char *key, const struct sources *sources,
                   struct span span);

struct lsp_token {
    struct span span; /* on one line */
    unsigned type, modifiers;
};
/* The data of semantic tokens, each relative to the one before: the tokens are of one source and ascend. */
void lsp_put_tokens(struct json *json, const char *key, const struct sources *sources,
                    const struct lsp_token *tokens, size_t count);

/* The diagnostics of `source` as the array `key`. Each has in "data" the edits of its fix, as a list of
 * {"uri", "range", "newText"}. */
void lsp_put_diagnostics(struct json *json, const char *key, struct arena *arena,
                         const struct diags *diags, const struct sources *sources, uint32_t source);

#endif
