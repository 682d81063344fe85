/* SPDX-License-Identifier: MIT */
#include "compiler/describe/picture.h"

#include <string.h>

#include "compiler/support/arena_text.h"
#include "base/name_fold.h"
#include "compiler/describe/picture_bundles.h"
#include "compiler/describe/picture_fold.h"

/* ---- texts ---- */

/* "x", or "x[0..9]" of an array that is shown as one. */
static const char *shown_port_name(struct arena *arena, const char *first, uint32_t count)
{
    const char *open = strrchr(first, '[');
    if (count < 2 || open == NULL) return first;
    return arena_printf(arena, "%.*s[0..%u]", (int)(open - first), first, count - 1);
}

static const char *input_text(struct arena *arena, const struct graph_node *node, uint32_t input,
                              uint32_t count)
{
    struct memory_text text;
    arena_text_begin(&text);
    fprintf(text.file, "%s ", shown_port_name(arena, node->inputs.items[input].port, count));
    graph_print_in_rates(text.file, node, &node->inputs.items[input]);
    return arena_text_end(arena, &text, NULL);
}

static const char *output_text(struct arena *arena, const struct graph_node *node, uint32_t output,
                               uint32_t count)
{
    struct memory_text text;
    arena_text_begin(&text);
    graph_print_out_rates(text.file, node, &node->outputs.items[output]);
    fprintf(text.file, " %s", shown_port_name(arena, node->outputs.items[output].port, count));
    return arena_text_end(arena, &text, NULL);
}

/* "eq[0..9]" of eq[0] and eq[9], "k .. k#7" of other names. */
static const char *group_name(struct arena *arena, const char *first, const char *last,
                              uint32_t members)
{
    if (name_step(first, last, members - 1) != NAME_STEP_NONE) return name_fold(arena, first, last);
    return arena_printf(arena, "%s .. %s", first, last);
}

/* ---- boxes and the ends of nets at them ---- */

struct touch { /* of a bundle: its ends inside a box of a level */
    uint32_t bundle;
    struct picture_end end;
    uint32_t ends;
    bool writes; /* the writer is one of them */
};

typedef VEC(struct touch) touch_list;

struct making {
    struct arena *arena;
    struct picture *picture;
    const struct picture_fold *fold;
    struct picture_bundles bundles;
    uint32_t *net;         /* by bundle, + 1: in the level that is made now; 0: none */
    uint32_t *inside;      /* by bundle: its ends in that level */
    uint32_t *first_touch; /* by node: into `touches`, whose ends have ports of the node */
    struct touch *touches;
};

static void name_box(struct making *m, struct picture_box *box, const struct fold_item *item,
                     const char *kind)
{
    const char *whole = m->picture->graph->nodes.items[item->begin].name + item->from;
    const char *name = arena_string(m->arena, whole, item->length);
    const struct fold_group *group = fold_group_of(m->fold, item);
    box->name = name;
    box->members = 1;
    if (kind != NULL && strcmp(kind, name) != 0) box->detail = kind;
    if (group == NULL) return;
    box->name = group_name(m->arena, name, group->last_name, group->members);
    box->members = group->members;
    box->detail =
        arena_printf(m->arena, "%s%u%s%s", group->is_chain ? "chain of " : "", group->members,
                     kind != NULL ? " \303\227 " : " pipelines", kind != NULL ? kind : "");
}

/* Fills, by port of the node, the port of the box. */
static void show_inputs(struct making *m, struct picture_box *box, uint32_t *place)
{
    const struct graph_node *node = &m->picture->graph->nodes.items[box->node];
    const uint32_t *shown = &m->bundles.ports.input[m->bundles.ports.first_input[box->node]];
    for (uint32_t i = 0; i < node->inputs.count; i++) {
        if (shown[i] == i) {
            uint32_t count = shown_input_count(m->picture, &m->bundles, box->node, i);
            struct picture_port port = {.text = input_text(m->arena, node, i, count), .port = i};
            vec_push(m->arena, &box->ins, port);
        }
        place[i] = (uint32_t)box->ins.count - 1;
    }
}

static void show_outputs(struct making *m, struct picture_box *box, uint32_t *place)
{
    const struct graph_node *node = &m->picture->graph->nodes.items[box->node];
    const uint32_t *shown = &m->bundles.ports.output[m->bundles.ports.first_output[box->node]];
    for (uint32_t o = 0; o < node->outputs.count; o++) {
        if (shown[o] == o) {
            uint32_t count = shown_output_count(m->picture, &m->bundles, box->node, o);
            struct picture_port port = {.text = output_text(m->arena, node, o, count), .port = o};
            vec_push(m->arena, &box->outs, port);
        }
        place[o] = (uint32_t)box->outs.count - 1;
    }
}

static void add_kernel_box(struct making *m, struct picture_level *level,
                           const struct fold_item *item, touch_list *touches)
{
    const struct graph_node *node = &m->picture->graph->nodes.items[item->begin];
    struct picture_box box = {.kind = PICTURE_KERNEL, .node = item->begin, .bundle = PICTURE_NONE};
    uint32_t *in = ARENA_ARRAY(m->arena, uint32_t, node->inputs.count + 1);
    uint32_t *out = ARENA_ARRAY(m->arena, uint32_t, node->outputs.count + 1);
    name_box(m, &box, item, node->kernel->title);
    show_inputs(m, &box, in);
    show_outputs(m, &box, out);
    for (uint32_t i = m->first_touch[item->begin]; i < m->first_touch[item->begin + 1]; i++) {
        struct touch touch = m->touches[i];
        touch.end.box = (uint32_t)level->boxes.count;
        touch.end.port = (touch.writes ? out : in)[touch.end.port];
        vec_push(m->arena, touches, touch);
    }
    vec_push(m->arena, &level->boxes, box);
}

/* A box at the border of the level for each bundle that has ends outside, which are the ports of the pipeline's box. */
static void add_borders(struct making *m, struct picture_level *level, struct picture_box *around,
                        uint32_t around_index, touch_list *touches)
{
    for (uint32_t n = 0; n < level->nets.count; n++) {
        struct picture_net *net = &level->nets.items[n];
        const struct bundle_ends *ends = &m->bundles.ends.items[net->bundle];
        const struct picture_bundle *bundle = &m->picture->bundles.items[net->bundle];
        bool is_outer = m->picture->graph->buffers.items[bundle->buffer].outer != GRAPH_INNER;
        uint32_t inside = m->inside[net->bundle];
        uint32_t all = (uint32_t)ends->to.count + (ends->from.node != GRAPH_NONE) + is_outer;
        if (inside == all) continue;
        bool writes = net->from.box != PICTURE_NONE;
        struct picture_end end = {(uint32_t)level->boxes.count, 0};
        struct picture_box box = {.kind = PICTURE_BORDER,
                                  .is_source = !writes,
                                  .node = GRAPH_NONE,
                                  .bundle = net->bundle};
        struct picture_port port = {.port = end.box};
        struct touch touch = {net->bundle, {around_index, 0}, inside, writes};
        touch.end.port = (uint32_t)(writes ? around->outs.count : around->ins.count);
        vec_push(m->arena, &level->boxes, box);
        if (writes) {
            vec_push(m->arena, &net->to, end);
            vec_push(m->arena, &around->outs, port);
        } else {
            net->from = end;
            vec_push(m->arena, &around->ins, port);
        }
        vec_push(m->arena, touches, touch);
    }
}

static void add_nets(struct making *m, struct picture_level *level, const touch_list *touches)
{
    for (size_t i = 0; i < touches->count; i++) {
        const struct touch *touch = &touches->items[i];
        if (m->net[touch->bundle] == 0) {
            vec_push(m->arena, &level->nets,
                     (struct picture_net){.bundle = touch->bundle, .from = {PICTURE_NONE, 0}});
            m->net[touch->bundle] = (uint32_t)level->nets.count;
            m->inside[touch->bundle] = 0;
        }
        struct picture_net *net = &level->nets.items[m->net[touch->bundle] - 1];
        m->inside[touch->bundle] += touch->ends;
        if (touch->writes)
            net->from = touch->end;
        else
            vec_push(m->arena, &net->to, touch->end);
    }
    for (size_t n = 0; n < level->nets.count; n++)
        m->net[level->nets.items[n].bundle] = 0;
}

static struct picture_level *make_level(struct making *m, uint32_t begin, uint32_t end, size_t from,
                                        unsigned depth);

static void add_pipeline_box(struct making *m, struct picture_level *level,
                             const struct fold_item *item, unsigned depth, touch_list *touches)
{
    struct picture_box box = {.kind = PICTURE_PIPELINE, .node = GRAPH_NONE, .bundle = PICTURE_NONE};
    name_box(m, &box, item, NULL);
    box.inside = make_level(m, item->begin, item->end, item->from + item->length + 1, depth + 1);
    add_borders(m, box.inside, &box, (uint32_t)level->boxes.count, touches);
    vec_push(m->arena, &level->boxes, box);
}

/* Nodes begin .. end, whose names are equal up to `from`. */
static struct picture_level *make_level(struct making *m, uint32_t begin, uint32_t end, size_t from,
                                        unsigned depth)
{
    struct picture_level *level = ARENA_NEW(m->arena, struct picture_level);
    touch_list touches = {0};
    while (begin < end) {
        struct fold_item item = fold_item_at(m->picture->graph, begin, end, from, depth);
        const struct fold_group *group = fold_group_of(m->fold, &item);
        if (item.is_pipeline)
            add_pipeline_box(m, level, &item, depth, &touches);
        else
            add_kernel_box(m, level, &item, &touches);
        begin = item.begin + (item.end - item.begin) * (group != NULL ? group->members : 1);
    }
    add_nets(m, level, &touches);
    return level;
}

/* ---- ports of the pipeline ---- */

static const char *outer_name(struct making *m, const struct picture_bundle *bundle)
{
    const char *first = m->picture->graph->buffers.items[bundle->buffer].name;
    return shown_port_name(m->arena, first, bundle->buffers);
}

static void add_outer_boxes(struct making *m, struct picture_level *level)
{
    for (uint32_t b = 0; b < m->picture->bundles.count; b++) {
        const struct picture_bundle *bundle = &m->picture->bundles.items[b];
        const struct graph_buffer *buffer = &m->picture->graph->buffers.items[bundle->buffer];
        bool is_source = buffer->outer == GRAPH_OUTER_IN;
        if (buffer->outer == GRAPH_INNER) continue;
        struct picture_end end = {(uint32_t)level->boxes.count, 0};
        struct picture_box box = {.kind = PICTURE_OUTER,
                                  .is_source = is_source,
                                  .name = outer_name(m, bundle),
                                  .node = GRAPH_NONE,
                                  .bundle = b,
                                  .members = bundle->buffers};
        vec_push(m->arena, &level->boxes, box);
        for (uint32_t n = m->net[b]; n != 0 && n <= level->nets.count; n = 0)
            if (is_source)
                level->nets.items[n - 1].from = end;
            else
                vec_push(m->arena, &level->nets.items[n - 1].to, end);
    }
}

/* ---- the whole ---- */

static void list_touches(struct making *m)
{
    size_t nodes = m->picture->graph->nodes.count, count = 0;
    m->first_touch = ARENA_ARRAY(m->arena, uint32_t, nodes + 2);
    for (uint32_t b = 0; b < m->bundles.ends.count; b++) {
        const struct bundle_ends *ends = &m->bundles.ends.items[b];
        if (ends->from.node != GRAPH_NONE) m->first_touch[ends->from.node + 2]++, count++;
        for (size_t i = 0; i < ends->to.count; i++)
            m->first_touch[ends->to.items[i].node + 2]++, count++;
    }
    for (size_t n = 2; n < nodes + 2; n++)
        m->first_touch[n] += m->first_touch[n - 1];
    m->touches = ARENA_ARRAY(m->arena, struct touch, count + 1);
    for (uint32_t b = 0; b < m->bundles.ends.count; b++) {
        const struct bundle_ends *ends = &m->bundles.ends.items[b];
        if (ends->from.node != GRAPH_NONE)
            m->touches[m->first_touch[ends->from.node + 1]++] =
                (struct touch){b, {0, ends->from.port}, 1, true};
        for (size_t i = 0; i < ends->to.count; i++)
            m->touches[m->first_touch[ends->to.items[i].node + 1]++] =
                (struct touch){b, {0, ends->to.items[i].port}, 1, false};
    }
}

struct picture picture_make(struct arena *arena, const struct graph *graph, bool folds)
{
    struct picture picture = {.graph = graph};
    struct picture_fold fold = picture_fold_make(arena, graph, folds);
    struct making m = {.arena = arena, .picture = &picture, .fold = &fold};
    m.bundles = picture_bundles_make(arena, &picture, &fold, folds);
    m.net = ARENA_ARRAY(arena, uint32_t, picture.bundles.count + 1);
    m.inside = ARENA_ARRAY(arena, uint32_t, picture.bundles.count + 1);
    list_touches(&m);
    picture.level = make_level(&m, 0, (uint32_t)graph->nodes.count, 0, 0);
    for (uint32_t n = 0; n < picture.level->nets.count; n++)
        m.net[picture.level->nets.items[n].bundle] = n + 1;
    add_outer_boxes(&m, picture.level);
    return picture;
}
