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
/* The diagnostics of `source` as the array `key`. Each has in "data" the edits of its fix, as a list of
 * {"uri", "range", "newText"}. */
void lsp_put_diagnostics(struct json *json, const char *key, struct arena *arena,
                         const struct diags *diags, const struct sources *sources, uint32_t source);

#endif
