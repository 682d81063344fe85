/* SPDX-License-Identifier: MIT */
#include "tests/unit/compile_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/parse.h"

struct text_compile *text_compile(const char *text)
{
    return text_compile_pipeline(text, NULL);
}

struct text_compile *text_compile_pipeline(const char *text, const char *pipeline)
{
    struct arena *arena = arena_create();
    struct text_compile *c = ARENA_NEW(arena, struct text_compile);
    c->cx = compile_begin(arena, (struct compile_options){.pipeline = pipeline,
                                                          .optimisation = 2,
                                                          .bounds_checks = true,
                                                          .max_memory_bytes = UINT64_C(1) << 30});
    uint32_t source = source_add(c->cx.sources, "test.pipe", text, strlen(text));
    struct ast_program *program = parse_program(&c->cx, source);
    if (!diag_failed(c->cx.diags)) c->graph = sema_elaborate(&c->cx, program);
    return c;
}

void text_compile_free(struct text_compile *compile)
{
    arena_destroy(compile->cx.arena);
}

char *text_compile_messages(struct text_compile *compile)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_flush(compile->cx.diags, to, false);
    fclose(to);
    return text;
}
