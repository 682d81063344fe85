/* SPDX-License-Identifier: MIT */
#include "compiler/context/context.h"

#include "lang/devdesc.h"

const struct devdesc *compile_device(struct compile *cx)
{
    if (cx->device != NULL) return cx->device;
    struct devdesc *standard = ARENA_NEW(cx->arena, struct devdesc);
    if (devdesc_builtin("sim16", standard)) cx->device = standard;
    return standard;
}

struct compile compile_begin(struct arena *arena, struct compile_options options)
{
    struct sources *sources = sources_create(arena);
    return (struct compile){.arena = arena,
                            .names = intern_create(arena),
                            .sources = sources,
                            .diags = diags_create(arena, sources),
                            .options = options};
}
