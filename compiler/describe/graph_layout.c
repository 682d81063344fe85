/* SPDX-License-Identifier: MIT */
#include "compiler/describe/graph_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory_text.h"

enum {
    BENDS_MAX = 200000, /* more: edges are drawn straight */
    SWEEPS = 6,
    GAP_LAYERS = 84,
};

/* ---- texts: their lengths determine the widths of boxes ---- */

static const char *kept_text(struct arena *arena, struct memory_text *text)
{
    size_t size;
    char *bytes = memory_text_end(text, &size);
    if (bytes == NULL) arena_out_of_memory();
    const char *kept = arena_string(arena, bytes, size);
    free(bytes);
    return kept;
}

const char *layout_input_text(struct arena *arena, const struct graph_node *node,
                              const struct graph_input *in)
{
    struct memory_text text;
    if (!memory_text_begin(&text)) arena_out_of_memory();
    fprintf(text.file, "%s ", in->port);
    graph_print_in_rates(text.file, node, in);
    return kept_text(arena, &text);
}

const char *layout_output_text(struct arena *arena, const struct graph_node *node,
                               const struct graph_output *out)
{
    struct memory_text text;
    if (!memory_text_begin(&text)) arena_out_of_memory();
    graph_print_out_rates(text.file, node, out);
    fprintf(text.file, " %s", out->port);
    return kept_text(arena, &text);
}

int layout_port_y(const struct layout_box *box, uint32_t port)
{
    if (box->node == GRAPH_NONE) return box->y + box->height / 2;
    return box->y + LAYOUT_HEAD + (int)port * LAYOUT_PORT;
}

/* ---- boxes and edges ---- */

static int count_letters(const char *text)
{
    size_t length = strlen(text);
    return (length < 200 ? (int)length : 200) * LAYOUT_LETTER;
}

static void add_node(struct arena *arena, struct graph_layout *layout, const struct graph *graph,
                     uint32_t index)
{
    const struct graph_node *node = &graph->nodes.items[index];
    int in = 0, out = 0, title = count_letters(node->name),
        kernel = count_letters(node->kernel->title);
    size_t ports =
        node->inputs.count > node->outputs.count ? node->inputs.count : node->outputs.count;
    for (size_t i = 0; i < node->inputs.count; i++) {
        int width = count_letters(layout_input_text(arena, node, &node->inputs.items[i]));
        if (width > in) in = width;
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        int width = count_letters(layout_output_text(arena, node, &node->outputs.items[i]));
        if (width > out) out = width;
    }
    int width = in + out + 34;
    if (title + 20 > width) width = title + 20;
    if (kernel + 20 > width) width = kernel + 20;
    struct layout_box box = {.width = width,
                             .height = LAYOUT_HEAD + (int)ports * LAYOUT_PORT - LAYOUT_PORT / 2 +
                                       LAYOUT_FOOT,
                             .node = index,
                             .buffer = GRAPH_NONE};
    vec_push(arena, &layout->boxes, box);
}

static void add_edges(struct arena *arena, struct graph_layout *layout, const struct graph *graph,
                      uint32_t index)
{
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    struct layout_edge edge = {.buffer = index, .from = buffer->writer_node};
    if (buffer->writer_node != GRAPH_NONE) edge.from_port = buffer->writer_output;
    if (buffer->outer != GRAPH_INNER) {
        struct layout_box box = {.width = count_letters(buffer->name) + 28,
                                 .height = 26,
                                 .node = GRAPH_NONE,
                                 .buffer = index};
        uint32_t outer = (uint32_t)layout->boxes.count;
        vec_push(arena, &layout->boxes, box);
        if (buffer->outer == GRAPH_OUTER_IN) edge.from = outer;
        edge.to = outer;
        if (buffer->outer == GRAPH_OUTER_OUT && edge.from != GRAPH_NONE)
            vec_push(arena, &layout->edges, edge);
    }
    for (size_t i = 0; edge.from != GRAPH_NONE && i < buffer->readers.count; i++) {
        edge.to = buffer->readers.items[i].node;
        edge.to_port = buffer->readers.items[i].input;
        vec_push(arena, &layout->edges, edge);
    }
}

/* ---- layers ---- */

struct incidence { /* the edges that leave each box */
    uint32_t *first, *edges;
};

static struct incidence edges_by_source(struct arena *arena, const struct graph_layout *layout)
{
    struct incidence by = {ARENA_ARRAY(arena, uint32_t, layout->boxes.count + 2),
                           ARENA_ARRAY(arena, uint32_t, layout->edges.count + 1)};
    for (size_t i = 0; i < layout->edges.count; i++)
        by.first[layout->edges.items[i].from + 2]++;
    for (size_t i = 2; i < layout->boxes.count + 2; i++)
        by.first[i] += by.first[i - 1];
    for (size_t i = 0; i < layout->edges.count; i++)
        by.edges[by.first[layout->edges.items[i].from + 1]++] = (uint32_t)i;
    return by;
}

/* Depth first, without recursion: an edge to a box on the way to it closes a cycle. `finished`: boxes in the order in which
 * they are left, so a reader stands before its writer. */
static uint32_t mark_back_edges(struct arena *arena, struct graph_layout *layout,
                                const struct incidence *by, uint32_t *finished)
{
    enum { NEW, OPEN, DONE };
    size_t count = layout->boxes.count, depth = 0;
    uint32_t ended = 0, *stack = ARENA_ARRAY(arena, uint32_t, count + 1),
             *next = ARENA_ARRAY(arena, uint32_t, count + 1);
    unsigned char *state = ARENA_ARRAY(arena, unsigned char, count + 1);
    for (uint32_t root = 0; root < count; root++) {
        if (state[root] != NEW) continue;
        state[root] = OPEN;
        next[root] = by->first[root];
        for (stack[depth++] = root; depth > 0;) {
            uint32_t box = stack[depth - 1];
            if (next[box] == by->first[box + 1]) {
                state[box] = DONE;
                finished[ended++] = box;
                depth--;
                continue;
            }
            struct layout_edge *edge = &layout->edges.items[by->edges[next[box]++]];
            edge->back = state[edge->to] == OPEN;
            layout->back_edges += edge->back;
            if (state[edge->to] != NEW) continue;
            state[edge->to] = OPEN;
            next[edge->to] = by->first[edge->to];
            stack[depth++] = edge->to;
        }
    }
    return ended;
}

static void assign_layers(struct arena *arena, struct graph_layout *layout)
{
    struct incidence by = edges_by_source(arena, layout);
    uint32_t *finished = ARENA_ARRAY(arena, uint32_t, layout->boxes.count + 1);
    uint32_t count = mark_back_edges(arena, layout, &by, finished);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t from = finished[i], layer = layout->boxes.items[from].layer;
        for (uint32_t e = by.first[from]; e < by.first[from + 1]; e++) {
            const struct layout_edge *edge = &layout->edges.items[by.edges[e]];
            struct layout_box *to = &layout->boxes.items[edge->to];
            if (!edge->back && to->layer < layer + 1) to->layer = layer + 1;
        }
        if (layer + 1 > layout->layers) layout->layers = layer + 1;
    }
}

static void add_bends(struct arena *arena, struct graph_layout *layout)
{
    for (size_t i = 0; i < layout->edges.count; i++) {
        struct layout_edge *edge = &layout->edges.items[i];
        uint32_t from = layout->boxes.items[edge->from].layer;
        uint32_t to = layout->boxes.items[edge->to].layer;
        for (uint32_t layer = from + 1; !edge->back && layer < to; layer++) {
            if (layout->boxes.count - layout->real_boxes >= BENDS_MAX) return;
            struct layout_box bend = {
                .height = 6, .node = GRAPH_NONE, .buffer = GRAPH_NONE, .layer = layer};
            vec_push(arena, &edge->bends, (uint32_t)layout->boxes.count);
            vec_push(arena, &layout->boxes, bend);
        }
    }
}

/* ---- places in a layer ---- */

struct link { /* of neighbouring layers: two boxes and the ends of the line */
    uint32_t left, right, left_port, right_port;
    uint32_t next; /* of the same left layer, + 1; 0: none */
};

struct columns {
    uint32_t **boxes; /* by layer, in order */
    uint32_t *counts;
    uint32_t *first_link; /* by the layer of the left box, + 1; 0: none */
    VEC(struct link) links;
    int64_t *sums; /* by box, while places are wanted */
    uint32_t *sum_counts;
};

static void add_links(struct arena *arena, const struct graph_layout *layout,
                      struct columns *columns)
{
    for (size_t i = 0; i < layout->edges.count; i++) {
        const struct layout_edge *edge = &layout->edges.items[i];
        struct link link = {edge->from, 0, edge->from_port, 0, 0};
        if (edge->back) continue;
        for (size_t b = 0; b <= edge->bends.count; b++) {
            bool last = b == edge->bends.count;
            link.right = last ? edge->to : edge->bends.items[b];
            link.right_port = last ? edge->to_port : 0;
            uint32_t *first = &columns->first_link[layout->boxes.items[link.left].layer];
            link.next = *first;
            vec_push(arena, &columns->links, link);
            *first = (uint32_t)columns->links.count;
            link = (struct link){link.right, 0, 0, 0, 0};
        }
    }
}

static struct columns columns_of(struct arena *arena, struct graph_layout *layout)
{
    struct columns columns = {
        .boxes = ARENA_ARRAY(arena, uint32_t *, layout->layers + 1),
        .counts = ARENA_ARRAY(arena, uint32_t, layout->layers + 1),
        .first_link = ARENA_ARRAY(arena, uint32_t, layout->layers + 1),
        .sums = ARENA_ARRAY(arena, int64_t, layout->boxes.count + 1),
        .sum_counts = ARENA_ARRAY(arena, uint32_t, layout->boxes.count + 1),
    };
    for (size_t i = 0; i < layout->boxes.count; i++)
        columns.counts[layout->boxes.items[i].layer]++;
    for (uint32_t l = 0; l < layout->layers; l++) {
        columns.boxes[l] = ARENA_ARRAY(arena, uint32_t, columns.counts[l] + 1);
        columns.counts[l] = 0;
    }
    for (uint32_t i = 0; i < layout->boxes.count; i++) {
        uint32_t layer = layout->boxes.items[i].layer;
        layout->boxes.items[i].order = columns.counts[layer];
        columns.boxes[layer][columns.counts[layer]++] = i;
    }
    add_links(arena, layout, &columns);
    return columns;
}

/* Puts each box at its wanted place, or lower if another box is there. Then moves the whole layer up by the mean of these
 * shifts. */
static void stack_column(struct graph_layout *layout, const uint32_t *boxes, uint32_t count)
{
    int bottom = INT32_MIN;
    int64_t pushed = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct layout_box *box = &layout->boxes.items[boxes[i]];
        box->y = i > 0 && box->wanted < bottom + LAYOUT_GAP ? bottom + LAYOUT_GAP : box->wanted;
        bottom = box->y + box->height;
        pushed += box->y - box->wanted;
    }
    for (uint32_t i = 0; i < count; i++)
        layout->boxes.items[boxes[i]].y -= (int)(pushed / (int64_t)count);
}

static int compare_wanted(const void *a, const void *b, void *data)
{
    const struct layout_box *boxes = data;
    const struct layout_box *x = &boxes[*(const uint32_t *)a], *y = &boxes[*(const uint32_t *)b];
    int64_t middle_x = 2 * (int64_t)x->wanted + x->height;
    int64_t middle_y = 2 * (int64_t)y->wanted + y->height;
    if (middle_x != middle_y) return middle_x < middle_y ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void order_column(struct graph_layout *layout, uint32_t *boxes, uint32_t count)
{
    if (count > 1) qsort_r(boxes, count, sizeof *boxes, compare_wanted, layout->boxes.items);
    for (uint32_t i = 0; i < count; i++)
        layout->boxes.items[boxes[i]].order = i;
}

/* Sets the wanted place of each box in the layer: the mean of the places at which its lines to the left, or right, would be
 * straight. */
static void want_places(struct graph_layout *layout, struct columns *columns, uint32_t layer,
                        bool from_left)
{
    const uint32_t *boxes = columns->boxes[layer];
    bool has_links = columns->links.items != NULL && !(from_left && layer == 0);
    uint32_t next = has_links ? columns->first_link[layer - from_left] : 0;
    for (; next != 0; next = columns->links.items[next - 1].next) {
        const struct link *link = &columns->links.items[next - 1];
        const struct layout_box *left = &layout->boxes.items[link->left];
        const struct layout_box *right = &layout->boxes.items[link->right];
        int down = layout_port_y(left, link->left_port) - layout_port_y(right, link->right_port);
        uint32_t moved = from_left ? link->right : link->left;
        columns->sums[moved] += from_left ? down : -down;
        columns->sum_counts[moved]++;
    }
    for (uint32_t i = 0; i < columns->counts[layer]; i++) {
        struct layout_box *box = &layout->boxes.items[boxes[i]];
        uint32_t count = columns->sum_counts[boxes[i]];
        box->wanted = box->y + (count > 0 ? (int)(columns->sums[boxes[i]] / (int64_t)count) : 0);
        columns->sums[boxes[i]] = 0;
        columns->sum_counts[boxes[i]] = 0;
    }
}

static void place_boxes(struct arena *arena, struct graph_layout *layout)
{
    struct columns columns = columns_of(arena, layout);
    for (uint32_t l = 0; l < layout->layers; l++)
        stack_column(layout, columns.boxes[l], columns.counts[l]);
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t l = 0; l < layout->layers; l++) {
            bool from_left = sweep % 2 == 0;
            uint32_t at = from_left ? l : layout->layers - 1 - l;
            want_places(layout, &columns, at, from_left);
            if (sweep + 2 < SWEEPS) order_column(layout, columns.boxes[at], columns.counts[at]);
            stack_column(layout, columns.boxes[at], columns.counts[at]);
        }
}

/* ---- the picture ---- */

static void place_columns(struct arena *arena, struct graph_layout *layout)
{
    int *widths = ARENA_ARRAY(arena, int, layout->layers + 1), x = LAYOUT_MARGIN, top = 0,
        bottom = 0;
    for (size_t i = 0; i < layout->boxes.count; i++) {
        const struct layout_box *box = &layout->boxes.items[i];
        if (box->width > widths[box->layer]) widths[box->layer] = box->width;
        if (i == 0 || box->y < top) top = box->y;
        if (i == 0 || box->y + box->height > bottom) bottom = box->y + box->height;
    }
    int *left = ARENA_ARRAY(arena, int, layout->layers + 1);
    for (uint32_t l = 0; l < layout->layers; l++) {
        left[l] = x;
        x += widths[l] + GAP_LAYERS;
    }
    for (size_t i = 0; i < layout->boxes.count; i++) {
        struct layout_box *box = &layout->boxes.items[i];
        box->x = left[box->layer] + (widths[box->layer] - box->width) / 2;
        box->y += LAYOUT_MARGIN - top;
    }
    layout->width = x - GAP_LAYERS + LAYOUT_MARGIN;
    layout->height = bottom - top + 2 * LAYOUT_MARGIN;
}

struct graph_layout graph_layout_make(struct arena *arena, const struct graph *graph)
{
    struct graph_layout layout = {0};
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        add_node(arena, &layout, graph, i);
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        add_edges(arena, &layout, graph, i);
    layout.real_boxes = (uint32_t)layout.boxes.count;
    assign_layers(arena, &layout);
    add_bends(arena, &layout);
    place_boxes(arena, &layout);
    place_columns(arena, &layout);
    return layout;
}
