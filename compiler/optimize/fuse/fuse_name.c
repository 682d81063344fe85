/* SPDX-License-Identifier: MIT */
/*
 * Names of composites: the members in order, members with the same stem together.
 *
 *     lp+dem               different names
 *     eq[0..9]+mix         consecutive elements of an array
 *     affine#1..8          consecutive nodes of one kernel without a label
 *     band(16)+sum         16 elements, not consecutive
 */
#include "compiler/optimize/fuse/fuse_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 60 };

struct numbered { /* `eq[3]`: "eq" and 3; `gain#2`: "gain" and 2, `gain`: "gain" and 1 */
    const char *name;
    size_t stem;
    unsigned long index;
    bool in_brackets;
    bool done;
};

static struct numbered read_name(const char *name)
{
    const char *open = strrchr(name, '['), *hash = strrchr(name, '#');
    struct numbered read = {.name = name, .stem = strlen(name), .index = 1};
    const char *digits = open != NULL ? open + 1 : hash != NULL ? hash + 1 : NULL;
    char *end = NULL;
    if (digits == NULL || *digits < '0' || *digits > '9') return read;
    unsigned long index = strtoul(digits, &end, 10);
    if (strcmp(end, open != NULL ? "]" : "") != 0) return read;
    read.stem = (size_t)(digits - 1 - name);
    read.index = index;
    read.in_brackets = open != NULL;
    return read;
}

static bool is_same_family(const struct numbered *a, const struct numbered *b)
{
    return a->stem == b->stem && a->in_brackets == b->in_brackets &&
           memcmp(a->name, b->name, a->stem) == 0;
}

/* Names all nodes with the same stem as the first one, and marks them as done. */
static const char *family_name(struct arena *arena, struct numbered *names, uint32_t count,
                               uint32_t first, uint32_t *members)
{
    const struct numbered *head = &names[first];
    unsigned long last = head->index;
    bool gaps = false;
    *members = 0;
    for (uint32_t i = first; i < count; i++) {
        if (names[i].done || !is_same_family(head, &names[i])) continue;
        gaps |= names[i].index != head->index + *members;
        last = names[i].index;
        names[i].done = true;
        ++*members;
    }
    if (*members == 1) return head->name;
    if (gaps)
        return arena_printf(arena, "%.*s(%" PRIu32 ")", (int)head->stem, head->name, *members);
    return arena_printf(arena, head->in_brackets ? "%.*s[%lu..%lu]" : "%.*s#%lu..%lu",
                        (int)head->stem, head->name, head->index, last);
}

const char *fuse_name(struct arena *arena, const struct graph *graph,
                      const struct fuse_group *group)
{
    struct numbered *names = ARENA_ARRAY(arena, struct numbered, group->count);
    const char *text = "";
    uint32_t left = group->count, members;
    for (uint32_t i = 0; i < group->count; i++)
        names[i] = read_name(graph->nodes.items[group->nodes[i]].name);
    for (uint32_t i = 0; i < group->count; i++) {
        if (names[i].done) continue;
        const char *family = family_name(arena, names, group->count, i, &members);
        if (i > 0 && strlen(text) + strlen(family) > NAME_BYTES_MAX)
            return arena_printf(arena, "%s+%" PRIu32 " more", text, left);
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? "+" : "", family);
        left -= members;
    }
    return text;
}
