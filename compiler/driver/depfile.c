/* SPDX-License-Identifier: MIT */
#include "compiler/driver/depfile.h"

#include <string.h>

/* ---- names that are derived from others ---- */

static bool is_stream(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0 || strcmp(path, "/dev/null") == 0;
}

static const char *with_ending(struct arena *arena, const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
    return arena_printf(arena, "%.*s%s", (int)length, path, ending);
}

/* The default name of the container, in the current folder. */
static const char *container_name(struct arena *arena, const char *source)
{
    const char *slash = strrchr(source, '/');
    if (is_stream(source)) return "-";
    return with_ending(arena, slash != NULL ? slash + 1 : source, ".pbc");
}

bool depfile_complete(struct depfile *depfile, const char *source, const char *output,
                      struct arena *arena)
{
    bool has_output = !is_stream(output) && !depfile->alone;
    const char *target = has_output ? output : container_name(arena, source);
    if (depfile->target_count == 0) {
        struct depfile_target only = {.text = target};
        depfile->targets = arena_copy(arena, &only, sizeof only);
        depfile->target_count = 1;
    }
    if (depfile->path != NULL) return true;
    if (depfile->alone) {
        depfile->path = output != NULL ? output : "-";
        return true;
    }
    if (!is_stream(target)) depfile->path = with_ending(arena, target, ".d");
    return depfile->path != NULL;
}

/* ---- the rule ---- */

bool depfile_quote(FILE *to, const char *name)
{
    for (; *name != '\0'; name++) {
        size_t backslashes = strspn(name, "\\");
        name += backslashes;
        bool special = strchr(" \t#:", *name) != NULL; /* the end of the name is special, too */
        size_t count = special ? 2 * backslashes : backslashes;
        while (count-- > 0)
            putc('\\', to);
        if (*name == '\0') return true;
        if (*name == '\n') return false;
        if (special) putc('\\', to);
        if (*name == '$') putc('$', to);
        putc(*name, to);
    }
    return true;
}

bool depfile_print(FILE *to, const struct depfile *depfile, const struct sources *sources,
                   const char *const *others, size_t other_count)
{
    for (size_t i = 0; i < depfile->target_count; i++) {
        const struct depfile_target *target = &depfile->targets[i];
        if (i > 0) putc(' ', to);
        if (target->verbatim)
            fputs(target->text, to);
        else if (!depfile_quote(to, target->text))
            return false;
    }
    putc(':', to);
    for (uint32_t id = 1; id <= source_count(sources); id++) {
        if (!source_is_file(sources, id)) continue;
        fputs(id > 1 ? " \\\n  " : " ", to);
        if (!depfile_quote(to, source_get(sources, id)->name)) return false;
    }
    for (size_t i = 0; i < other_count; i++) {
        fputs(" \\\n  ", to);
        if (!depfile_quote(to, others[i])) return false;
    }
    putc('\n', to);
    /* Source 1 is the input: without it nothing can be made, so it gets no rule. */
    for (uint32_t id = 2; depfile->phony_targets && id <= source_count(sources); id++) {
        if (!source_is_file(sources, id)) continue;
        depfile_quote(to, source_get(sources, id)->name);
        fputs(":\n", to);
    }
    for (size_t i = 0; depfile->phony_targets && i < other_count; i++) {
        depfile_quote(to, others[i]);
        fputs(":\n", to);
    }
    return true;
}
