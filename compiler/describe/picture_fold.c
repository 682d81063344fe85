/* SPDX-License-Identifier: MIT */
#include "compiler/describe/picture_fold.h"

#include <string.h>

/* ---- items ---- */

struct fold_item fold_item_at(const struct graph *graph, uint32_t begin, uint32_t end, size_t from,
                              unsigned level)
{
    const char *name = graph->nodes.items[begin].name;
    const char *dot = level < PICTURE_LEVELS_MAX ? strchr(name + from, '.') : NULL;
    struct fold_item item = {begin, begin + 1, from, strlen(name + from), false};
    if (dot == NULL || dot == name + from) return item;
    item.is_pipeline = true;
    item.length = (size_t)(dot - name) - from;
    while (item.end < end &&
           strncmp(graph->nodes.items[item.end].name, name, from + item.length + 1) == 0)
        item.end++;
    return item;
}

/* The length of the name without `[..]` at its end. */
static size_t base_length(const struct graph *graph, const struct fold_item *item)
{
    const char *name = graph->nodes.items[item->begin].name + item->from;
    size_t length = item->length;
    while (length > 0 && name[length - 1] == ']') {
        size_t open = length - 1;
        while (open > 0 && name[open] != '[')
            open--;
        if (name[open] != '[') break;
        length = open;
    }
    return length;
}

static bool is_same_array(const struct graph *graph, const struct fold_item *a,
                          const struct fold_item *b)
{
    size_t length = base_length(graph, a);
    return length > 0 && length < a->length && length == base_length(graph, b) &&
           strncmp(graph->nodes.items[a->begin].name + a->from,
                   graph->nodes.items[b->begin].name + b->from, length) == 0;
}

/* ---- alike ---- */

static const struct graph_buffer *input_buffer(const struct graph *graph, uint32_t node,
                                               size_t input)
{
    return &graph->buffers.items[graph->nodes.items[node].inputs.items[input].buffer];
}

static bool has_node(const struct fold_item *item, uint32_t node)
{
    return node != GRAPH_NONE && node >= item->begin && node < item->end;
}

/* The same place in both items writes the buffers, or both are written outside. */
static bool is_fed_alike(const struct fold_item *a, const struct graph_buffer *to_a,
                         const struct fold_item *b, const struct graph_buffer *to_b)
{
    bool inside = has_node(a, to_a->writer_node);
    if (inside != has_node(b, to_b->writer_node)) return false;
    return !inside || (to_a->writer_node - a->begin == to_b->writer_node - b->begin &&
                       to_a->writer_output == to_b->writer_output);
}

static bool are_nodes_alike(const struct graph *graph, const struct fold_item *a,
                            const struct fold_item *b, uint32_t offset)
{
    const struct graph_node *x = &graph->nodes.items[a->begin + offset];
    const struct graph_node *y = &graph->nodes.items[b->begin + offset];
    if (x->kernel != y->kernel || x->inputs.count != y->inputs.count ||
        x->outputs.count != y->outputs.count)
        return false;
    if (a->is_pipeline && strcmp(x->name + a->from + a->length, y->name + b->from + b->length) != 0)
        return false;
    for (size_t i = 0; i < x->inputs.count; i++)
        if (!is_fed_alike(a, input_buffer(graph, a->begin + offset, i), b,
                          input_buffer(graph, b->begin + offset, i)))
            return false;
    return true;
}

static bool are_items_alike(const struct graph *graph, const struct fold_item *a,
                            const struct fold_item *b)
{
    if (a->is_pipeline != b->is_pipeline || a->end - a->begin != b->end - b->begin) return false;
    for (uint32_t i = 0; i < a->end - a->begin; i++)
        if (!are_nodes_alike(graph, a, b, i)) return false;
    return true;
}

/* ---- arrays and chains ---- */

/* All packets that enter `to` come from `from`, and all that leave `from` go to `to`. */
static bool are_items_linked(const struct graph *graph, const struct fold_item *from,
                             const struct fold_item *to)
{
    bool linked = false;
    for (uint32_t n = to->begin; n < to->end; n++)
        for (size_t i = 0; i < graph->nodes.items[n].inputs.count; i++) {
            uint32_t writer = input_buffer(graph, n, i)->writer_node;
            if (!has_node(to, writer) && !has_node(from, writer)) return false;
            linked |= has_node(from, writer);
        }
    for (uint32_t n = from->begin; n < from->end; n++)
        for (size_t o = 0; o < graph->nodes.items[n].outputs.count; o++) {
            const struct graph_buffer *buffer =
                &graph->buffers.items[graph->nodes.items[n].outputs.items[o].buffer];
            if (buffer->outer != GRAPH_INNER) return false;
            for (size_t r = 0; r < buffer->readers.count; r++)
                if (!has_node(from, buffer->readers.items[r].node) &&
                    !has_node(to, buffer->readers.items[r].node))
                    return false;
        }
    return linked;
}

/* Whether packets between the members go to the next one only, in which case *is_chain says if there are any. */
static bool is_array_regular(const struct graph *graph, const struct fold_item *first,
                             uint32_t members, bool *is_chain)
{
    uint32_t size = first->end - first->begin, end = first->begin + size * members;
    *is_chain = false;
    for (uint32_t n = first->begin; n < end; n++)
        for (size_t i = 0; i < graph->nodes.items[n].inputs.count; i++) {
            uint32_t writer = input_buffer(graph, n, i)->writer_node;
            if (writer == GRAPH_NONE || writer < first->begin || writer >= end) continue;
            uint32_t from = (writer - first->begin) / size, to = (n - first->begin) / size;
            if (from != to && from + 1 != to) return false;
            *is_chain |= from != to;
        }
    return true;
}

typedef bool item_test(const struct graph *graph, const struct fold_item *a,
                       const struct fold_item *b);

/* The number of items from `first` on, each of which passes the test with the one before and is like the first. */
static uint32_t count_members(const struct graph *graph, const struct fold_item *first,
                              uint32_t end, unsigned level, item_test *test)
{
    struct fold_item before = *first;
    uint32_t members = 1;
    while (before.end < end) {
        struct fold_item next = fold_item_at(graph, before.end, end, first->from, level);
        if (!test(graph, &before, &next) || !are_items_alike(graph, first, &next)) break;
        before = next;
        members++;
    }
    return members;
}

/* `irregular_end`: items before that node belong to an array that cannot be folded. */
static struct fold_group find_fold_group(const struct graph *graph, const struct fold_item *first,
                                         uint32_t end, unsigned level, uint32_t *irregular_end)
{
    struct fold_group group = {.first = *first};
    if (first->begin >= *irregular_end) {
        group.members = count_members(graph, first, end, level, is_same_array);
        if (group.members >= FOLD_LEAST &&
            is_array_regular(graph, first, group.members, &group.is_chain))
            return group;
        *irregular_end = first->begin + (first->end - first->begin) * group.members;
    }
    group.members = count_members(graph, first, end, level, are_items_linked);
    group.is_chain = true;
    if (group.members < FOLD_LEAST) group.members = 1;
    return group;
}

/* ---- the tree ---- */

struct folding {
    struct arena *arena;
    const struct graph *graph;
    struct picture_fold fold;
};

static void add_group(struct folding *f, struct fold_group group)
{
    uint32_t size = group.first.end - group.first.begin;
    uint32_t last = group.first.begin + size * (group.members - 1);
    const char *name = f->graph->nodes.items[last].name + group.first.from;
    const char *dot = group.first.is_pipeline ? strchr(name, '.') : NULL;
    group.last_name =
        arena_string(f->arena, name, dot != NULL ? (size_t)(dot - name) : strlen(name));
    for (uint32_t i = size; i < size * group.members; i++)
        f->fold.shown[group.first.begin + i] = group.first.begin + i % size;
    for (uint32_t i = size; i < size * group.members; i++)
        f->fold.member_of[group.first.begin + i] = (uint32_t)f->fold.groups.count + 1;
    uint32_t *first = &f->fold.first_group[group.first.begin];
    group.next = *first;
    vec_push(f->arena, &f->fold.groups, group);
    *first = (uint32_t)f->fold.groups.count;
}

static void fold_nodes(struct folding *f, uint32_t begin, uint32_t end, size_t from, unsigned level)
{
    uint32_t irregular_end = 0;
    while (begin < end) {
        struct fold_item item = fold_item_at(f->graph, begin, end, from, level);
        struct fold_group group = find_fold_group(f->graph, &item, end, level, &irregular_end);
        if (group.members > 1) add_group(f, group);
        if (item.is_pipeline)
            fold_nodes(f, item.begin, item.end, from + item.length + 1, level + 1);
        begin = item.begin + (item.end - item.begin) * group.members;
    }
}

struct picture_fold picture_fold_make(struct arena *arena, const struct graph *graph, bool folds)
{
    uint32_t count = (uint32_t)graph->nodes.count;
    struct folding f = {.arena = arena, .graph = graph};
    f.fold.shown = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    f.fold.member_of = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    f.fold.first_group = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        f.fold.shown[i] = i;
    if (folds) fold_nodes(&f, 0, count, 0, 0);
    /* A node of a member stands for one of the first member, which may itself be folded. */
    for (uint32_t i = 0; i < count; i++)
        f.fold.shown[i] = f.fold.shown[f.fold.shown[i]];
    return f.fold;
}

const struct fold_group *fold_group_of(const struct picture_fold *fold,
                                       const struct fold_item *item)
{
    uint32_t next = fold->first_group[item->begin];
    while (next != 0) {
        const struct fold_group *group = &fold->groups.items[next - 1];
        if (group->first.from == item->from) return group;
        next = group->next;
    }
    return NULL;
}

static bool is_in_group(const struct fold_group *group, uint32_t node)
{
    uint32_t size = group->first.end - group->first.begin;
    return node >= group->first.begin && node < group->first.begin + size * group->members;
}

bool fold_is_link(const struct picture_fold *fold, uint32_t from, uint32_t to)
{
    for (;;) {
        if (fold->member_of[from] == 0) {
            if (fold->member_of[to] == 0) return false;
            uint32_t other = from;
            from = to;
            to = other;
        }
        const struct fold_group *group = &fold->groups.items[fold->member_of[from] - 1];
        uint32_t begin = group->first.begin, size = group->first.end - begin;
        if (is_in_group(group, to)) {
            if ((to - begin) / size != (from - begin) / size) return true;
            to = begin + (to - begin) % size;
        }
        from = begin + (from - begin) % size;
    }
}
