/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as a command list.  An accepted list is written as the canonical list that
 * carries its kernels; this one is accepted, and comes back with the same bytes.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/driver/kernel_sources.h"
#include "compiler/sema/sema.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/support/intern.h"
#include "compiler/syntax/parse.h"

struct text {
    char *bytes;
    size_t size_bytes;
};

/* The canonical list of a list, in malloc'ed memory; no bytes: it is refused. */
static struct text canonical(const char *bytes, size_t size_bytes)
{
    struct text text = {0};
    struct compile cx = {.arena = arena_create()};
    cx.names = intern_create(cx.arena);
    cx.sources = sources_create(cx.arena);
    cx.diags = diags_create(cx.arena, cx.sources);
    uint32_t id = source_add(cx.sources, "fuzz.cmds", bytes, size_bytes);
    const struct ast_program *program = parse_program(&cx, id);
    const struct graph *graph = diag_failed(cx.diags) ? NULL : sema_elaborate(&cx, program);
    if (graph != NULL && !diag_failed(cx.diags)) {
        FILE *to = open_memstream(&text.bytes, &text.size_bytes);
        if (to == NULL) abort();
        graph_cmds(to, kernel_sources(&cx, program, NULL, true), graph);
        fclose(to);
    }
    arena_destroy(cx.arena);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text once = canonical((const char *)data, size);
    if (once.bytes == NULL) return 0;
    struct text twice = canonical(once.bytes, once.size_bytes);
    if (twice.bytes == NULL || once.size_bytes != twice.size_bytes ||
        memcmp(once.bytes, twice.bytes, once.size_bytes) != 0)
        abort();
    free(once.bytes);
    free(twice.bytes);
    return 0;
}
