/* SPDX-License-Identifier: MIT */
#include "compiler/context/context.h"

struct compile compile_begin(struct arena *arena, struct compile_options options)
{
    struct sources *sources = sources_create(arena);
    return (struct compile){.arena = arena,
                            .names = intern_create(arena),
                            .sources = sources,
                            .diags = diags_create(arena, sources),
                            .options = options};
}
