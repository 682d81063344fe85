/* SPDX-License-Identifier: MIT */
/*
 * lsp_server: a session of the Language Server Protocol.
 *
 * The server reads messages and keeps the open documents. Each answer is computed in a child process, from the texts
 * that the editor holds, so that no text can stop the server. Diagnostics are computed when no message waits, so fast
 * typing delays them.
 */
#ifndef PIPEC_LSP_SERVER_H
#define PIPEC_LSP_SERVER_H

#include <stdbool.h>
#include <stdio.h>

/* Reads messages until `exit` or the end, and writes to `to`. `from` has no buffer. `in_process`: answers are computed
 * in this process, for the fuzz target. Returns an exit status. */
int lsp_server_run(FILE *from, FILE *to, bool in_process);

#endif
