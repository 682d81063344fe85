/* SPDX-License-Identifier: MIT */
#include "compiler/driver/library_add.h"

#include <string.h>

#include "compiler/context/embedded_library.h"
#include "compiler/syntax/parse.h"

/* True for the library's file `path` (std/math.pipe), in any folder. */
static bool names_library_file(const char *name, const char *path)
{
    size_t length = strlen(name), tail = strlen(path);
    return length >= tail && strcmp(name + length - tail, path) == 0 &&
           (length == tail || name[length - tail - 1] == '/');
}

struct search {
    const struct intern *names;
    bool found;
};

static bool look_for(void *data, const char *word, size_t length)
{
    struct search *search = data;
    search->found = intern_find(search->names, word, length) != NULL;
    return !search->found;
}

static bool uses_mathematics(const struct compile *cx)
{
    /* The interned names include every word of the program. */
    struct search search = {.names = cx->names};
    library_mathematics_each(look_for, &search);
    return search.found;
}

static bool has_builtin_kernel(const struct ast_program *program)
{
    for (const struct ast_file *file = program->files; file != NULL; file = file->next)
        for (const struct ast_item *item = file->items; item != NULL; item = item->next)
            if (item->kind == AST_ITEM_KERNEL && item->kernel_kind == AST_KERNEL_BUILTIN)
                return true;
    return false;
}

static void append_library_file(struct compile *cx, struct ast_program *program, const char *path)
{
    uint32_t source;
    struct ast_file **last = &program->files;
    if (*last == NULL) return;
    for (; *last != NULL; last = &(*last)->next)
        if (names_library_file(source_get(cx->sources, (*last)->source)->name, path)) return;
    if (source_import(cx->sources, program->files->source, path, NULL, 0, &source) == SOURCE_OK)
        *last = parse_program(cx, source)->files;
}

void library_add(struct compile *cx, struct ast_program *program)
{
    if (has_builtin_kernel(program)) append_library_file(cx, program, "std/units.pipe");
    if (uses_mathematics(cx)) append_library_file(cx, program, "std/math.pipe");
}
