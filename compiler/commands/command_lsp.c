/* SPDX-License-Identifier: MIT */
/*
 * pipec lsp: a language server on standard input and output (lsp_server.h).
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "compiler/commands/commands.h"
#include "compiler/commands/lsp_server.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"

static const char help_text[] =
    "usage: pipec lsp [--stdio]\n"
    "\n"
    "A language server for editors, on standard input and output: diagnostics while typing, "
    "fixes,\n"
    "hover, definitions, references, rename, completion, signatures, symbols, rates and depths\n"
    "as hints, and formatting. docs/editors.md sets up editors.\n"
    "\n"
    "  --stdio               the only transport, and the default\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ say() { printf 'Content-Length: %d\\r\\n\\r\\n%s' ${#1} \"$1\"; }\n"
    "  $ (say '{\"id\":1,\"method\":\"initialize\"}'; say '{\"id\":2,\"method\":\"shutdown\"}'; "
    "say '{\"method\":\"exit\"}') |\n"
    "      pipec lsp --stdio\n"
    "\n"
    "Exit status: 0 after 'shutdown' and 'exit', 1 without 'shutdown', 2 usage or files.\n";

int command_lsp(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (command_line_answer(argv[i], help_text)) return standard_output_status();
        if (strcmp(argv[i], "--stdio") == 0) continue;
        fprintf(stderr,
                "pipec: error: unknown option '%s'\n"
                "pipec: 'pipec lsp --help' lists the options\n",
                argv[i]);
        return EXIT_FILES;
    }
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child leaves no status */
    setvbuf(stdin, NULL, _IONBF, 0);
    return lsp_server_run(stdin, stdout, false);
}
