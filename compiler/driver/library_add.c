/* SPDX-License-Identifier: MIT */
#include "compiler/driver/library_add.h"

#include <string.h>

#include "compiler/context/embedded_library.h"
#include "compiler/syntax/parse.h"

/* True for the file that the embedded library was made from, in any folder. */
static bool is_mathematics(const char *name)
{
    static const char ending[] = "std/math.pipe";
    size_t length = strlen(name), tail = sizeof ending - 1;
    return length >= tail && strcmp(name + length - tail, ending) == 0 &&
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

void library_add(struct compile *cx, struct ast_program *program)
{
    uint32_t source;
    /* The interned names include every word of the program. */
    struct search search = {.names = cx->names};
    library_mathematics_each(look_for, &search);
    if (!search.found) return;
    struct ast_file **last = &program->files;
    if (*last == NULL) return;
    for (; *last != NULL; last = &(*last)->next)
        if (is_mathematics(source_get(cx->sources, (*last)->source)->name)) return;
    if (source_import(cx->sources, program->files->source, "std/math.pipe", NULL, 0, &source) !=
        SOURCE_OK)
        return;
    *last = parse_program(cx, source)->files;
}
