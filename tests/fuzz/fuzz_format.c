/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as a source file.  A file without syntax errors is laid out: the tokens and
 * the comments stay, and laying it out again changes nothing.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/format/format.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/support/intern.h"
#include "compiler/syntax/parse.h"

static void check(struct compile *cx, uint32_t source)
{
    if (parse_one_file(cx, source)->is_commands || diag_failed(cx->diags)) return;
    struct formatted once = format_source(cx, source);
    uint32_t copy = source_add(cx->sources, "once.pipe", once.text, once.size_bytes);
    if (!format_is_same(cx, source, copy)) abort();
    struct formatted twice = format_source(cx, copy);
    if (once.size_bytes != twice.size_bytes || memcmp(once.text, twice.text, once.size_bytes) != 0)
        abort();
    parse_one_file(cx, copy);
    if (diag_failed(cx->diags)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct compile cx = {.arena = arena_create()};
    cx.names = intern_create(cx.arena);
    cx.sources = sources_create(cx.arena);
    cx.diags = diags_create(cx.arena, cx.sources);
    check(&cx, source_add(cx.sources, "fuzz.pipe", (const char *)data, size));
    arena_destroy(cx.arena);
    return 0;
}
