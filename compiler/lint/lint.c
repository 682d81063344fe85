/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/lint/lint_internal.h"
#include "base/words.h"

bool lint_wants(const struct compile *cx, const enum rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (diag_wants(cx->diags, rules[i])) return true;
    return false;
}

static void skip_blank_bytes(const char *bytes, uint32_t *at, uint32_t end)
{
    while (*at < end && byte_is_blank(bytes[*at]))
        ++*at;
}

bool lint_same_text(const struct compile *cx, struct span a, struct span b)
{
    const struct source *source = source_get(cx->sources, a.source);
    if (source == NULL || a.source != b.source || a.begin >= a.end) return false;
    for (;;) {
        skip_blank_bytes(source->bytes, &a.begin, a.end);
        skip_blank_bytes(source->bytes, &b.begin, b.end);
        if (a.begin == a.end || b.begin == b.end) return a.begin == a.end && b.begin == b.end;
        if (source->bytes[a.begin++] != source->bytes[b.begin++]) return false;
    }
}

void lint_program(struct compile *cx, const struct ast_program *program)
{
    if (diag_failed(cx->diags) || program->files == NULL) return;
    lint_names(cx, program);
    lint_statements(cx, program->files);
    lint_style(cx, program->files);
}

void lint_graph(struct compile *cx, const struct graph *graph)
{
    lint_bodies(cx, graph);
    lint_topology(cx, graph);
}
