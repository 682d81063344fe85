/* Names of composites: the members in order, neighbours of one array in brackets. */
#include "compiler/fuse/fuse_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 60 };

struct numbered { /* `eq[3]`: "eq" and 3 */
    size_t stem;
    unsigned long index;
    bool has_index;
};

static struct numbered read_name(const char *name)
{
    const char *open = strrchr(name, '[');
    char *end = NULL;
    struct numbered read = {.stem = strlen(name)};
    if (open == NULL || open[1] < '0' || open[1] > '9') return read;
    read.index = strtoul(open + 1, &end, 10);
    if (strcmp(end, "]") != 0) return read;
    read.stem = (size_t)(open - name);
    read.has_index = true;
    return read;
}

/* Members from `first` on whose indices follow each other: `eq[0]`, `eq[1]`, ... */
static uint32_t run_length(const struct graph *graph, const struct fuse_group *group,
                           uint32_t first)
{
    const char *name = graph->nodes.items[group->nodes[first]].name;
    struct numbered head = read_name(name);
    uint32_t count = 1;
    for (; head.has_index && first + count < group->count; count++) {
        const char *next = graph->nodes.items[group->nodes[first + count]].name;
        struct numbered read = read_name(next);
        if (!read.has_index || read.stem != head.stem || memcmp(name, next, head.stem) != 0 ||
            read.index != head.index + count)
            break;
    }
    return count;
}

static const char *run_name(struct arena *arena, const struct graph *graph,
                            const struct fuse_group *group, uint32_t first, uint32_t count)
{
    const char *name = graph->nodes.items[group->nodes[first]].name;
    struct numbered head = read_name(name);
    if (count < 2) return name;
    return arena_printf(arena, "%.*s[%lu..%lu]", (int)head.stem, name, head.index,
                        head.index + count - 1);
}

const char *fuse_name(struct arena *arena, const struct graph *graph,
                      const struct fuse_group *group)
{
    const char *text = "";
    for (uint32_t i = 0; i < group->count;) {
        uint32_t count = run_length(graph, group, i);
        const char *run = run_name(arena, graph, group, i, count);
        if (i > 0 && strlen(text) + strlen(run) > NAME_BYTES_MAX)
            return arena_printf(arena, "%s+%" PRIu32 " more", text, group->count - i);
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? "+" : "", run);
        i += count;
    }
    return text;
}
