/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as a source file in memory, parsed, printed as a tree and as messages.  A
 * source from memory has no folder, so its imports reach the embedded library only.
 */
#include "compiler/diagnostics/diag_set.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#include "compiler/context/context.h"
#include "compiler/syntax/ast_print.h"
#include "compiler/syntax/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (!nowhere) return 0;
    struct compile cx = compile_begin(arena_create(), (struct compile_options){0});
    uint32_t id = source_add(cx.sources, "fuzz.pipe", (const char *)data, size);
    ast_print(nowhere, parse_program(&cx, id));
    diag_flush(cx.diags, nowhere, true);
    arena_destroy(cx.arena);
    return 0;
}
