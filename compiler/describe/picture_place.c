/* SPDX-License-Identifier: MIT */
#include "compiler/describe/picture.h"

#include <stdlib.h>
#include <string.h>

enum {
    BENDS_MAX = 200000, /* more: lines are drawn straight */
    SWEEPS = 6,
    LETTERS_MAX = 200, /* of a text that widens a box */
    STUB = 10,         /* of a line without a text, before it parts */
    ROW_EXCESS = 4,    /* the last row may be longer than the page by one part in so many */
};

struct placing {
    struct arena *arena;
    struct picture *picture;
    picture_label_width *label_width;
    const void *data;
};

/* ---- sizes of boxes ---- */

static int text_width(const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    return (length < LETTERS_MAX ? (int)length : LETTERS_MAX) * PICTURE_LETTER;
}

int picture_in_y(const struct picture_box *box, uint32_t port)
{
    return port < box->ins.count ? box->y + box->ins.items[port].y : box->y + box->height / 2;
}

int picture_out_y(const struct picture_box *box, uint32_t port)
{
    return port < box->outs.count ? box->y + box->outs.items[port].y : box->y + box->height / 2;
}

/* At the right border of a pipeline. */
static bool is_sink(const struct picture_box *box)
{
    return box->kind == PICTURE_BORDER && !box->is_source;
}

static void size_kernel(struct picture_box *box)
{
    int in = 0, out = 0, title = text_width(box->name), detail = text_width(box->detail);
    size_t ports = box->ins.count > box->outs.count ? box->ins.count : box->outs.count;
    int head = PICTURE_HEAD - (box->detail == NULL ? PICTURE_DETAIL : 0);
    for (size_t i = 0; i < box->ins.count; i++) {
        int width = text_width(box->ins.items[i].text);
        if (width > in) in = width;
        box->ins.items[i].y = head + (int)i * PICTURE_PORT;
    }
    for (size_t o = 0; o < box->outs.count; o++) {
        int width = text_width(box->outs.items[o].text);
        if (width > out) out = width;
        box->outs.items[o].y = head + (int)o * PICTURE_PORT;
    }
    box->width = in + out + 34;
    if (title + 20 > box->width) box->width = title + 20;
    if (detail + 20 > box->width) box->width = detail + 20;
    box->height = head + (int)ports * PICTURE_PORT - PICTURE_PORT / 2 + PICTURE_FOOT;
}

/* The ports of a pipeline are where the lines inside meet its border. */
static void size_pipeline(struct picture_box *box)
{
    int title = text_width(box->name) + text_width(box->detail) + 40;
    box->width = box->inside->width > title ? box->inside->width : title;
    box->height = box->inside->height + PICTURE_TITLE;
    for (size_t i = 0; i < box->inside->real_boxes; i++)
        if (is_sink(&box->inside->boxes.items[i])) box->inside->boxes.items[i].x = box->width;
    for (size_t i = 0; i < box->ins.count; i++)
        box->ins.items[i].y = PICTURE_TITLE + box->inside->boxes.items[box->ins.items[i].port].y;
    for (size_t o = 0; o < box->outs.count; o++)
        box->outs.items[o].y = PICTURE_TITLE + box->inside->boxes.items[box->outs.items[o].port].y;
}

static void size_box(struct picture_box *box)
{
    switch (box->kind) {
    case PICTURE_KERNEL: size_kernel(box); break;
    case PICTURE_PIPELINE: size_pipeline(box); break;
    case PICTURE_OUTER:
        box->width = text_width(box->name) + 36;
        box->height = 26;
        break;
    case PICTURE_BORDER: box->width = box->height = 0; break;
    }
}

/* ---- layers ---- */

struct arrow { /* of a net, between two boxes */
    uint32_t from, to;
    bool back;
};

struct arrows {
    VEC(struct arrow) items;   /* in order of nets and their ends */
    uint32_t *first, *leaving; /* by box: those that leave it */
};

static struct arrows list_arrows(struct arena *arena, const struct picture_level *level)
{
    struct arrows arrows = {0};
    for (size_t n = 0; n < level->nets.count; n++) {
        const struct picture_net *net = &level->nets.items[n];
        for (size_t i = 0; net->from.box != PICTURE_NONE && i < net->to.count; i++)
            vec_push(arena, &arrows.items,
                     (struct arrow){net->from.box, net->to.items[i].box, false});
    }
    arrows.first = ARENA_ARRAY(arena, uint32_t, level->boxes.count + 2);
    arrows.leaving = ARENA_ARRAY(arena, uint32_t, arrows.items.count + 1);
    for (size_t i = 0; i < arrows.items.count; i++)
        arrows.first[arrows.items.items[i].from + 2]++;
    for (size_t i = 2; i < level->boxes.count + 2; i++)
        arrows.first[i] += arrows.first[i - 1];
    for (size_t i = 0; i < arrows.items.count; i++)
        arrows.leaving[arrows.first[arrows.items.items[i].from + 1]++] = (uint32_t)i;
    return arrows;
}

struct walk { /* depth first, without recursion */
    unsigned char *state;
    uint32_t *stack, *next;
    uint32_t *
        finished; /* boxes in the order in which they are left: a reader stands before its writer */
    uint32_t finished_count;
};

/* An arrow to a box on the way to it goes back. */
static void walk_from_box(struct walk *walk, struct arrows *arrows, uint32_t root)
{
    enum { NEW, OPEN, DONE };
    size_t depth = 0;
    if (walk->state[root] != NEW) return;
    walk->state[root] = OPEN;
    walk->next[root] = arrows->first[root];
    for (walk->stack[depth++] = root; depth > 0;) {
        uint32_t box = walk->stack[depth - 1];
        if (walk->next[box] == arrows->first[box + 1]) {
            walk->state[box] = DONE;
            walk->finished[walk->finished_count++] = box;
            depth--;
            continue;
        }
        struct arrow *arrow = &arrows->items.items[arrows->leaving[walk->next[box]++]];
        arrow->back = walk->state[arrow->to] == OPEN;
        if (walk->state[arrow->to] != NEW) continue;
        walk->state[arrow->to] = OPEN;
        walk->next[arrow->to] = arrows->first[arrow->to];
        walk->stack[depth++] = arrow->to;
    }
}

/* Sources of packets come first, so that a cycle is entered where packets enter it. */
static struct walk walk_boxes(struct arena *arena, const struct picture_level *level,
                              struct arrows *arrows)
{
    size_t count = level->boxes.count;
    struct walk walk = {.state = ARENA_ARRAY(arena, unsigned char, count + 1),
                        .stack = ARENA_ARRAY(arena, uint32_t, count + 1),
                        .next = ARENA_ARRAY(arena, uint32_t, count + 1),
                        .finished = ARENA_ARRAY(arena, uint32_t, count + 1)};
    for (uint32_t root = 0; root < count; root++)
        if (level->boxes.items[root].is_source) walk_from_box(&walk, arrows, root);
    for (uint32_t root = 0; root < count; root++)
        walk_from_box(&walk, arrows, root);
    return walk;
}

/* Returns their number. The border of a pipeline has the first and the last one. */
static uint32_t assign_layers(struct picture_level *level, const struct walk *walk,
                              const struct arrows *arrows)
{
    uint32_t layers = 0;
    for (uint32_t i = walk->finished_count; i-- > 0;) {
        uint32_t from = walk->finished[i], layer = level->boxes.items[from].layer;
        for (uint32_t e = arrows->first[from]; e < arrows->first[from + 1]; e++) {
            const struct arrow *arrow = &arrows->items.items[arrows->leaving[e]];
            struct picture_box *to = &level->boxes.items[arrow->to];
            if (!arrow->back && to->layer < layer + 1) to->layer = layer + 1;
        }
        if (layer + 1 > layers) layers = layer + 1;
    }
    for (size_t i = 0; i < level->boxes.count; i++)
        if (is_sink(&level->boxes.items[i])) level->boxes.items[i].layer = layers - 1;
    return layers;
}

/* ---- nets: lines from layer to layer, and lines back ---- */

static uint32_t add_bend(struct arena *arena, struct picture_level *level, uint32_t layer)
{
    vec_push(arena, &level->boxes,
             (struct picture_box){.kind = PICTURE_BORDER,
                                  .height = 6,
                                  .node = GRAPH_NONE,
                                  .bundle = PICTURE_NONE,
                                  .layer = layer});
    return (uint32_t)level->boxes.count - 1;
}

/* One bend in each layer that the net passes, for all its ends. */
static void route_net(struct arena *arena, struct picture_level *level, struct picture_net *net)
{
    uint32_t from = level->boxes.items[net->from.box].layer, last = from;
    for (size_t i = 0; i < net->to.count; i++) {
        uint32_t layer = level->boxes.items[net->to.items[i].box].layer;
        if (layer > last) last = layer;
        if (layer <= from) vec_push(arena, &net->backs, net->to.items[i]);
    }
    struct picture_end trunk = net->from;
    for (uint32_t layer = from + 1; layer <= last; layer++) {
        for (size_t i = 0; i < net->to.count; i++)
            if (level->boxes.items[net->to.items[i].box].layer == layer)
                vec_push(arena, &net->lines, (struct picture_line){trunk, net->to.items[i]});
        if (layer == last || level->boxes.count - level->real_boxes >= BENDS_MAX) continue;
        struct picture_end bend = {add_bend(arena, level, layer), 0};
        vec_push(arena, &net->lines, (struct picture_line){trunk, bend});
        trunk = bend;
    }
}

/* ---- places in a column ---- */

struct links { /* lines of neighbouring layers */
    VEC(struct picture_line) items;
    uint32_t *next;  /* of the same left layer, + 1; 0: none */
    uint32_t *first; /* by the layer of the left box, + 1; 0: none */
};

struct columns {
    uint32_t count;
    uint32_t **boxes; /* by layer, in order */
    uint32_t *counts;
    struct links links;
    int64_t *sums; /* by box, while places are wanted */
    uint32_t *sum_counts;
};

/* With `row` (by layer), without lines from row to row. */
static void add_links(struct arena *arena, const struct picture_level *level, struct links *links,
                      uint32_t layers, const uint32_t *row)
{
    for (size_t n = 0; n < level->nets.count; n++)
        for (size_t i = 0; i < level->nets.items[n].lines.count; i++) {
            struct picture_line line = level->nets.items[n].lines.items[i];
            uint32_t from = level->boxes.items[line.from.box].layer;
            uint32_t to = level->boxes.items[line.to.box].layer;
            if (row == NULL || row[from] == row[to]) vec_push(arena, &links->items, line);
        }
    links->next = ARENA_ARRAY(arena, uint32_t, links->items.count + 1);
    links->first = ARENA_ARRAY(arena, uint32_t, (size_t)layers + 1);
    for (uint32_t i = 0; i < links->items.count; i++) {
        uint32_t *first = &links->first[level->boxes.items[links->items.items[i].from.box].layer];
        links->next[i] = *first;
        *first = i + 1;
    }
}

static struct columns columns_of(struct arena *arena, struct picture_level *level, uint32_t layers)
{
    struct columns columns = {
        .count = layers,
        .boxes = ARENA_ARRAY(arena, uint32_t *, (size_t)layers + 1),
        .counts = ARENA_ARRAY(arena, uint32_t, (size_t)layers + 1),
        .sums = ARENA_ARRAY(arena, int64_t, level->boxes.count + 1),
        .sum_counts = ARENA_ARRAY(arena, uint32_t, level->boxes.count + 1),
    };
    for (size_t i = 0; i < level->boxes.count; i++)
        columns.counts[level->boxes.items[i].layer]++;
    for (uint32_t l = 0; l < layers; l++) {
        columns.boxes[l] = ARENA_ARRAY(arena, uint32_t, (size_t)columns.counts[l] + 1);
        columns.counts[l] = 0;
    }
    for (uint32_t i = 0; i < level->boxes.count; i++) {
        uint32_t layer = level->boxes.items[i].layer;
        level->boxes.items[i].order = columns.counts[layer];
        columns.boxes[layer][columns.counts[layer]++] = i;
    }
    add_links(arena, level, &columns.links, layers, NULL);
    return columns;
}

/* Puts each box at its wanted place, or lower if another box is there. Then moves the whole layer up by the mean of these
 * shifts. */
static void stack_column(struct picture_level *level, const uint32_t *boxes, uint32_t count)
{
    int bottom = INT32_MIN;
    int64_t pushed = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct picture_box *box = &level->boxes.items[boxes[i]];
        box->y = i > 0 && box->wanted < bottom + PICTURE_GAP ? bottom + PICTURE_GAP : box->wanted;
        bottom = box->y + box->height;
        pushed += box->y - box->wanted;
    }
    for (uint32_t i = 0; i < count; i++)
        level->boxes.items[boxes[i]].y -= (int)(pushed / (int64_t)count);
}

static int compare_wanted(const void *a, const void *b, void *data)
{
    const struct picture_box *boxes = data;
    const struct picture_box *x = &boxes[*(const uint32_t *)a], *y = &boxes[*(const uint32_t *)b];
    int64_t middle_x = 2 * (int64_t)x->wanted + x->height;
    int64_t middle_y = 2 * (int64_t)y->wanted + y->height;
    if (middle_x != middle_y) return middle_x < middle_y ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void order_column(struct picture_level *level, uint32_t *boxes, uint32_t count)
{
    if (count > 1) qsort_r(boxes, count, sizeof *boxes, compare_wanted, level->boxes.items);
    for (uint32_t i = 0; i < count; i++)
        level->boxes.items[boxes[i]].order = i;
}

/* Sets the wanted place of each box in the layer: the mean of the places at which its lines to the left, or right, would be
 * straight. */
static void want_places(struct picture_level *level, struct columns *columns, uint32_t layer,
                        bool from_left)
{
    const uint32_t *boxes = columns->boxes[layer];
    uint32_t next = from_left && layer == 0 ? 0 : columns->links.first[layer - from_left];
    for (; next != 0; next = columns->links.next[next - 1]) {
        const struct picture_line *line = &columns->links.items.items[next - 1];
        int down = picture_out_y(&level->boxes.items[line->from.box], line->from.port) -
                   picture_in_y(&level->boxes.items[line->to.box], line->to.port);
        uint32_t moved = from_left ? line->to.box : line->from.box;
        columns->sums[moved] += from_left ? down : -down;
        columns->sum_counts[moved]++;
    }
    for (uint32_t i = 0; i < columns->counts[layer]; i++) {
        struct picture_box *box = &level->boxes.items[boxes[i]];
        uint32_t count = columns->sum_counts[boxes[i]];
        box->wanted = box->y + (count > 0 ? (int)(columns->sums[boxes[i]] / (int64_t)count) : 0);
        columns->sums[boxes[i]] = 0;
        columns->sum_counts[boxes[i]] = 0;
    }
}

/* Without `orders`, each column keeps its order. */
static void place_boxes(struct picture_level *level, struct columns *columns, bool orders)
{
    for (size_t i = 0; i < level->boxes.count; i++)
        level->boxes.items[i].wanted = 0;
    for (uint32_t l = 0; l < columns->count; l++)
        stack_column(level, columns->boxes[l], columns->counts[l]);
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t l = 0; l < columns->count; l++) {
            bool from_left = sweep % 2 == 0;
            uint32_t at = from_left ? l : columns->count - 1 - l;
            want_places(level, columns, at, from_left);
            if (orders && sweep + 2 < SWEEPS)
                order_column(level, columns->boxes[at], columns->counts[at]);
            stack_column(level, columns->boxes[at], columns->counts[at]);
        }
}

/* ---- rows ---- */

/* By column: the lines that leave it to the right. */
static uint32_t *count_crossings(struct arena *arena, const struct picture_level *level,
                                 uint32_t layers)
{
    uint32_t *crossings = ARENA_ARRAY(arena, uint32_t, (size_t)layers + 1);
    for (size_t n = 0; n < level->nets.count; n++) {
        const struct picture_net *net = &level->nets.items[n];
        uint32_t before = PICTURE_NONE;
        for (size_t i = 0; i < net->lines.count; i++) {
            uint32_t from = net->lines.items[i].from.box;
            if (from != before) crossings[level->boxes.items[from].layer]++;
            before = from;
        }
    }
    return crossings;
}

static void measure_columns(const struct placing *p, const struct picture_level *level, int *widths,
                            struct picture_columns *columns)
{
    for (size_t i = 0; i < level->boxes.count; i++) {
        const struct picture_box *box = &level->boxes.items[i];
        if (box->width > widths[box->layer]) widths[box->layer] = box->width;
    }
    for (size_t n = 0; n < level->nets.count; n++) {
        const struct picture_net *net = &level->nets.items[n];
        if (net->from.box == PICTURE_NONE || net->to.count == 0) continue;
        const struct picture_box *from = &level->boxes.items[net->from.box];
        int width = from->kind == PICTURE_KERNEL ? p->label_width(p->data, net->bundle) : 0;
        if (from->kind == PICTURE_OUTER) width = STUB;
        if (from->members > 1) width += 2 * PICTURE_SHEET;
        if (width > columns->label[from->layer]) columns->label[from->layer] = width;
    }
}

/* The last column of the row that begins at `first`: the last one of all, if that needs a little more than the page; else, of
 * those in the last third of the page, the one that the fewest lines leave. */
static uint32_t end_of_row(const struct picture_columns *columns, const int *widths,
                           const uint32_t *crossings, uint32_t first, int page_width)
{
    int64_t x = 0, most = (int64_t)page_width + page_width / ROW_EXCESS;
    uint32_t best = first;
    for (uint32_t c = first; c < columns->count && x <= most; c++) {
        x += widths[c];
        if (c + 1 == columns->count && x <= most) return c;
        bool fits = c == first || x <= page_width;
        x += columns->label[c] + PICTURE_CURVE;
        if (fits && (3 * x < 2 * (int64_t)page_width || crossings[c] <= crossings[best])) best = c;
    }
    return best;
}

/* The width of lanes beside a row: lines from and to other rows, and lines back, need them. */
static int lanes_width(bool needed)
{
    return needed ? PICTURE_LANE * PICTURE_LANES : 0;
}

static void place_columns(struct arena *arena, struct picture_level *level, const int *widths,
                          int page_width, int margin)
{
    struct picture_columns *columns = level->columns;
    const uint32_t *crossings = count_crossings(arena, level, columns->count);
    for (uint32_t first = 0; first < columns->count; columns->row_count++) {
        uint32_t last = end_of_row(columns, widths, crossings, first, page_width);
        bool more = last + 1 < columns->count;
        int x = margin + lanes_width(columns->row_count > 0 || more);
        for (; first <= last; first++) {
            columns->row[first] = columns->row_count;
            columns->left[first] = x;
            columns->right[first] = x += widths[first];
            x += columns->label[first] + PICTURE_CURVE;
        }
        x += margin - PICTURE_CURVE + lanes_width(more || columns->label[last] > 0);
        if (x > level->width) level->width = x;
    }
}

/* Lines that leave a row for another place run below it, each in a lane of its own. */
static uint32_t *count_lanes(struct arena *arena, const struct picture_level *level)
{
    const struct picture_columns *columns = level->columns;
    uint32_t *lanes = ARENA_ARRAY(arena, uint32_t, (size_t)columns->row_count + 1);
    for (size_t n = 0; n < level->nets.count; n++) {
        const struct picture_net *net = &level->nets.items[n];
        uint32_t before = PICTURE_NONE;
        for (size_t i = 0; i < net->lines.count; i++) {
            uint32_t from = net->lines.items[i].from.box;
            uint32_t row = columns->row[level->boxes.items[from].layer];
            uint32_t to = columns->row[level->boxes.items[net->lines.items[i].to.box].layer];
            if (from != before && row != to) lanes[row]++;
            before = from;
        }
        for (size_t i = 0; i < net->backs.count; i++) {
            lanes[columns->row[level->boxes.items[net->from.box].layer]]++;
            lanes[columns->row[level->boxes.items[net->backs.items[i].box].layer]]++;
        }
    }
    return lanes;
}

/* In a picture of several rows, a box is at the height of its neighbours in the same row. */
static void place_boxes_in_rows(struct arena *arena, struct picture_level *level,
                                struct columns *columns)
{
    columns->links = (struct links){0};
    add_links(arena, level, &columns->links, columns->count, level->columns->row);
    place_boxes(level, columns, false);
}

static void place_rows(struct arena *arena, struct picture_level *level, int margin)
{
    struct picture_columns *columns = level->columns;
    const uint32_t *lanes = count_lanes(arena, level);
    int *shift = ARENA_ARRAY(arena, int, (size_t)columns->row_count + 1), y = margin;
    bool *seen = ARENA_ARRAY(arena, bool, (size_t)columns->row_count + 1);
    for (size_t i = 0; i < level->boxes.count; i++) {
        const struct picture_box *box = &level->boxes.items[i];
        uint32_t row = columns->row[box->layer];
        if (!seen[row] || box->y < columns->top[row]) columns->top[row] = box->y;
        if (!seen[row] || box->y + box->height > columns->bottom[row])
            columns->bottom[row] = box->y + box->height;
        seen[row] = true;
    }
    for (uint32_t r = 0; r < columns->row_count; r++) {
        shift[r] = y - columns->top[r];
        columns->top[r] += shift[r];
        columns->bottom[r] += shift[r];
        y = columns->bottom[r] + PICTURE_LANE * (int)lanes[r] + margin;
    }
    level->height = y > 2 * margin ? y : 2 * margin;
    for (size_t i = 0; i < level->boxes.count; i++) {
        struct picture_box *box = &level->boxes.items[i];
        int left = columns->left[box->layer], right = columns->right[box->layer];
        box->y += shift[columns->row[box->layer]];
        box->x = left + (right - left - box->width) / 2;
    }
}

/* ---- the levels ---- */

static void make_columns(const struct placing *p, struct picture_level *level,
                         struct columns *places, int page_width)
{
    struct picture_columns *columns = ARENA_NEW(p->arena, struct picture_columns);
    size_t count = (size_t)places->count + 1;
    int *widths = ARENA_ARRAY(p->arena, int, count);
    *columns = (struct picture_columns){.count = places->count,
                                        .left = ARENA_ARRAY(p->arena, int, count),
                                        .right = ARENA_ARRAY(p->arena, int, count),
                                        .label = ARENA_ARRAY(p->arena, int, count),
                                        .row = ARENA_ARRAY(p->arena, uint32_t, count),
                                        .top = ARENA_ARRAY(p->arena, int, count),
                                        .bottom = ARENA_ARRAY(p->arena, int, count)};
    level->columns = columns;
    measure_columns(p, level, widths, columns);
    place_columns(p->arena, level, widths, page_width, PICTURE_MARGIN);
    if (columns->row_count > 1) place_boxes_in_rows(p->arena, level, places);
    place_rows(p->arena, level, PICTURE_MARGIN);
}

/* Inside a pipeline, lines begin and end at the border: at its left and right side, whatever the columns are. */
static void move_to_border(struct picture_level *level)
{
    for (size_t i = 0; i < level->real_boxes; i++) {
        struct picture_box *box = &level->boxes.items[i];
        if (box->kind == PICTURE_BORDER) box->x = box->is_source ? 0 : level->width;
    }
}

static void place_level(const struct placing *p, struct picture_level *level, int page_width)
{
    level->real_boxes = (uint32_t)level->boxes.count;
    for (size_t i = 0; i < level->real_boxes; i++) {
        struct picture_box *box = &level->boxes.items[i];
        if (box->inside != NULL) place_level(p, box->inside, page_width - 2 * PICTURE_MARGIN);
        size_box(box);
    }
    struct arrows arrows = list_arrows(p->arena, level);
    struct walk walk = walk_boxes(p->arena, level, &arrows);
    uint32_t layers = assign_layers(level, &walk, &arrows);
    for (size_t n = 0; n < level->nets.count; n++)
        if (level->nets.items[n].from.box != PICTURE_NONE)
            route_net(p->arena, level, &level->nets.items[n]);
    struct columns columns = columns_of(p->arena, level, layers);
    place_boxes(level, &columns, true);
    make_columns(p, level, &columns, page_width);
    move_to_border(level);
}

void picture_place(struct arena *arena, struct picture *picture, picture_label_width *label_width,
                   const void *data)
{
    struct placing p = {arena, picture, label_width, data};
    place_level(&p, picture->level, PICTURE_PAGE_WIDTH);
}
