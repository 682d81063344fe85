/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "compiler/describe/svg_drawing.h"

enum {
    TIP_LENGTH = 7,
    CORNER = 6,       /* radius */
    GAP_LANES = 5,    /* of lines up or down, at each side of the space between columns */
    LABEL_LIFT = 4,   /* of a text above its line */
    LABEL_INDENT = 7, /* of a text after its box */
};

/* ---- the order of lanes ---- */

struct
    crossing { /* of a net, to a place that is not in the next column: it needs a lane below a row */
    uint32_t net;
    struct picture_end from;
    uint32_t to_column; /* the next one, in another row; of a line back: that of its end */
    const struct picture_end *back; /* NULL: to the next row */
    int y;                          /* where the line begins */
    uint32_t lane;                  /* below the row of `from` */
    uint32_t back_lane;             /* of a line to another row: below that row */
};

struct lines {
    const struct drawing *d;
    const struct picture_level *level;
    struct svg_place origin;
    VEC(struct crossing) crossings; /* in order of nets */
    /* Of the net that is drawn now. */
    struct svg_place pen;
    VEC(struct svg_place) tips, forks;
};

static uint32_t column_of(const struct lines *l, uint32_t box)
{
    return l->level->boxes.items[box].layer;
}

static uint32_t row_of(const struct lines *l, uint32_t box)
{
    return l->level->columns->row[column_of(l, box)];
}

static int end_y(const struct lines *l, const struct picture_end *end)
{
    return l->origin.y + picture_in_y(&l->level->boxes.items[end->box], end->port);
}

static int start_y(const struct lines *l, const struct picture_end *from)
{
    return l->origin.y + picture_out_y(&l->level->boxes.items[from->box], from->port);
}

static void list_crossings(struct lines *l)
{
    for (uint32_t n = 0; n < l->level->nets.count; n++) {
        const struct picture_net *net = &l->level->nets.items[n];
        uint32_t before = PICTURE_NONE;
        for (size_t i = 0; i < net->lines.count; i++) {
            const struct picture_line *line = &net->lines.items[i];
            if (line->from.box != before && row_of(l, line->from.box) != row_of(l, line->to.box))
                vec_push(l->d->arena, &l->crossings,
                         (struct crossing){.net = n,
                                           .from = line->from,
                                           .to_column = column_of(l, line->to.box),
                                           .y = start_y(l, &line->from)});
            before = line->from.box;
        }
        for (size_t i = 0; i < net->backs.count; i++)
            vec_push(l->d->arena, &l->crossings,
                     (struct crossing){.net = n,
                                       .from = net->from,
                                       .to_column = column_of(l, net->backs.items[i].box),
                                       .back = &net->backs.items[i],
                                       .y = start_y(l, &net->from)});
    }
}

static int compare_lower(const void *a, const void *b)
{
    const struct crossing *x = *(struct crossing *const *)a, *y = *(struct crossing *const *)b;
    if (x->y != y->y) return x->y > y->y ? -1 : 1;
    return x->net < y->net ? -1 : x->net > y->net;
}

/* The lowest line has the highest lane, so that lines to the next row do not cross each other. */
static void assign_lanes(struct lines *l)
{
    size_t count = l->crossings.count;
    uint32_t *used = ARENA_ARRAY(l->d->arena, uint32_t, (size_t)l->level->columns->row_count + 1);
    struct crossing **sorted = ARENA_ARRAY(l->d->arena, struct crossing *, count + 1);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &l->crossings.items[i];
    if (count > 1) qsort(sorted, count, sizeof *sorted, compare_lower);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = row_of(l, sorted[i]->from.box);
        uint32_t to = l->level->columns->row[sorted[i]->to_column];
        sorted[i]->lane = used[row]++;
        if (sorted[i]->back != NULL && to != row) sorted[i]->back_lane = used[to]++;
    }
}

/* ---- pieces of lines ---- */

static void move_pen(struct lines *l, struct svg_place to)
{
    if (l->pen.x != to.x || l->pen.y != to.y) fprintf(l->d->to, "M%d %d", to.x, to.y);
    l->pen = to;
}

static void draw_along(struct lines *l, int x)
{
    if (l->pen.x != x) fprintf(l->d->to, "h%d", x - l->pen.x);
    l->pen.x = x;
}

/* Level at both ends. */
static void draw_curve(struct lines *l, struct svg_place to)
{
    int dx = to.x - l->pen.x, dy = to.y - l->pen.y;
    if (dy == 0)
        fprintf(l->d->to, "h%d", dx);
    else
        fprintf(l->d->to, "c%d 0 %d %d %d %d", dx / 2, dx - dx / 2, dy, dx, dy);
    l->pen = to;
}

static int sign_of(int number)
{
    return (number > 0) - (number < 0);
}

static int corner_radius(int a, int b)
{
    int radius = abs(a) < abs(b) ? abs(a) : abs(b);
    return radius / 2 < CORNER ? radius / 2 : CORNER;
}

/* Straight pieces, each along an axis, with round corners. The pen is at points[0]. */
static void draw_polyline(struct lines *l, const struct svg_place *points, size_t count)
{
    struct svg_place at = points[0];
    for (size_t i = 1; i + 1 < count; i++) {
        int dx = points[i].x - points[i - 1].x, dy = points[i].y - points[i - 1].y;
        int ex = points[i + 1].x - points[i].x, ey = points[i + 1].y - points[i].y;
        int radius = corner_radius(dx + dy, ex + ey);
        struct svg_place turn = {points[i].x - sign_of(dx) * radius,
                                 points[i].y - sign_of(dy) * radius};
        fprintf(l->d->to, "l%d %dq%d %d %d %d", turn.x - at.x, turn.y - at.y, points[i].x - turn.x,
                points[i].y - turn.y, points[i].x + sign_of(ex) * radius - turn.x,
                points[i].y + sign_of(ey) * radius - turn.y);
        at = (struct svg_place){points[i].x + sign_of(ex) * radius,
                                points[i].y + sign_of(ey) * radius};
    }
    l->pen = points[count - 1];
    fprintf(l->d->to, "l%d %d", l->pen.x - at.x, l->pen.y - at.y);
}

/* Where the lines of a box part: after the text at the beginning of each. */
static int fork_x(const struct lines *l, uint32_t box)
{
    uint32_t column = column_of(l, box);
    return l->origin.x + l->level->columns->right[column] + l->level->columns->label[column];
}

/* Ends the line at the box: with a tip, unless it goes on. Returns the x of its end. */
static int line_end_x(struct lines *l, const struct picture_end *end)
{
    const struct picture_box *box = &l->level->boxes.items[end->box];
    int x = l->origin.x + box->x;
    if (end->box >= l->level->real_boxes || box->kind == PICTURE_BORDER) return x;
    vec_push(l->d->arena, &l->tips, (struct svg_place){x, end_y(l, end)});
    return x - TIP_LENGTH;
}

static void put_forward(struct lines *l, const struct picture_line *line)
{
    int left = l->origin.x + l->level->columns->left[column_of(l, line->to.box)];
    int end = line_end_x(l, &line->to);
    move_pen(l, (struct svg_place){fork_x(l, line->from.box), start_y(l, &line->from)});
    draw_curve(l, (struct svg_place){end < left ? end : left, end_y(l, &line->to)});
    draw_along(l, end);
}

static int lane_y(const struct lines *l, uint32_t row, uint32_t lane)
{
    return l->origin.y + l->level->columns->bottom[row] + PICTURE_LANE * ((int)lane + 1) + 4;
}

/* Lines down from boxes, and up to boxes, in the space between columns; the higher lane is further away from the boxes. */
static int lane_down_x(const struct lines *l, uint32_t box, uint32_t lane)
{
    return fork_x(l, box) + PICTURE_LANE + PICTURE_LANE * (int)lane;
}

static int lane_up_x(const struct lines *l, uint32_t column, uint32_t lane)
{
    return l->origin.x + l->level->columns->left[column] - TIP_LENGTH - CORNER -
           PICTURE_LANE * (int)lane;
}

/* Out to the right, down, below the row to the left, and down to the ends in the next row. */
static void put_to_next_row(struct lines *l, const struct picture_net *net, size_t first,
                            const struct crossing *crossing)
{
    uint32_t row = row_of(l, crossing->from.box);
    uint32_t lane = crossing->lane % PICTURE_LANES;
    int right = lane_down_x(l, crossing->from.box, lane);
    int left = lane_up_x(l, crossing->to_column, PICTURE_LANES - 1 - lane);
    int low = lane_y(l, row, crossing->lane), from_x = fork_x(l, crossing->from.box);
    for (size_t i = first;
         i < net->lines.count && net->lines.items[i].from.box == crossing->from.box; i++) {
        const struct picture_end *end = &net->lines.items[i].to;
        int y = end_y(l, end);
        struct svg_place points[] = {
            {from_x, crossing->y},  {right, crossing->y}, {right, low}, {left, low}, {left, y},
            {line_end_x(l, end), y}};
        if (i > first) points[3].y += CORNER; /* past the corner of the first line */
        size_t begin = i == first ? 0 : 3;
        move_pen(l, points[begin]);
        draw_polyline(l, points + begin, 6 - begin);
    }
}

/* Out to the right, down, below the row to the left, and up to its end; through the left margin where that is in another
 * row. */
static void put_back_line(struct lines *l, const struct crossing *crossing)
{
    uint32_t row = row_of(l, crossing->from.box),
             to_row = l->level->columns->row[crossing->to_column];
    int right = lane_down_x(l, crossing->from.box, crossing->lane % GAP_LANES);
    int low = lane_y(l, row, crossing->lane), y = end_y(l, crossing->back);
    int up = lane_up_x(l, crossing->to_column, crossing->lane % GAP_LANES);
    int margin = l->origin.x + PICTURE_LANE * (1 + (int)(crossing->lane % 4));
    int under = lane_y(l, to_row, crossing->back_lane), end = line_end_x(l, crossing->back);
    int begin = fork_x(l, crossing->from.box);
    move_pen(l, (struct svg_place){begin, crossing->y});
    if (row == to_row) {
        struct svg_place points[] = {
            {begin, crossing->y}, {right, crossing->y}, {right, low}, {up, low}, {up, y}, {end, y}};
        draw_polyline(l, points, 6);
    } else {
        struct svg_place points[] = {
            {begin, crossing->y}, {right, crossing->y}, {right, low}, {margin, low},
            {margin, under},      {up, under},          {up, y},      {end, y}};
        draw_polyline(l, points, 8);
    }
}

/* ---- a net ---- */

/* The crossings of the net begin with number `crossing`. Returns the number of the next one. */
static size_t put_pieces(struct lines *l, const struct picture_net *net, size_t crossing)
{
    for (size_t i = 0; i < net->lines.count;) {
        uint32_t from = net->lines.items[i].from.box;
        size_t end = i + 1;
        while (end < net->lines.count && net->lines.items[end].from.box == from)
            end++;
        const struct picture_box *box = &l->level->boxes.items[from];
        struct svg_place fork = {fork_x(l, from), start_y(l, &net->lines.items[i].from)};
        move_pen(l, (struct svg_place){l->origin.x + box->x + box->width, fork.y});
        draw_along(l, fork.x);
        bool to_next = row_of(l, from) != row_of(l, net->lines.items[i].to.box);
        bool is_fork = end - i + (from == net->from.box ? net->backs.count : 0) > 1;
        if (is_fork && !to_next) vec_push(l->d->arena, &l->forks, fork);
        if (to_next) put_to_next_row(l, net, i, &l->crossings.items[crossing++]);
        for (; !to_next && i < end; i++)
            put_forward(l, &net->lines.items[i]);
        i = end;
    }
    if (net->lines.count == 0) {
        const struct picture_box *box = &l->level->boxes.items[net->from.box];
        move_pen(l, (struct svg_place){l->origin.x + box->x + box->width, start_y(l, &net->from)});
        draw_along(l, fork_x(l, net->from.box));
    }
    for (size_t i = 0; i < net->backs.count; i++)
        put_back_line(l, &l->crossings.items[crossing++]);
    return crossing;
}

static void put_net_title(const struct drawing *d, uint32_t bundle)
{
    const struct picture_bundle *of = &d->picture.bundles.items[bundle];
    const struct graph_buffer *buffer = &d->graph->buffers.items[of->buffer];
    const char *text = svg_bundle_text(d, bundle);
    fputs("<title>", d->to);
    svg_put_escaped(
        d->to, arena_printf(d->arena, "%s: %s", buffer->name, type_text(d->arena, buffer->type)));
    if (of->buffers > 1) fprintf(d->to, ", and %" PRIu32 " like it", of->buffers - 1);
    if (text[0] != '\0') {
        fputs(", depth ", d->to);
        svg_put_escaped(d->to, text);
    }
    if (buffer->depth_reason != NULL) {
        fputs(": ", d->to);
        svg_put_escaped(d->to, buffer->depth_reason);
    }
    fputs("</title>", d->to);
}

static void put_net_label(const struct lines *l, const struct picture_net *net)
{
    const struct picture_box *from = &l->level->boxes.items[net->from.box];
    const char *text = svg_bundle_text(l->d, net->bundle);
    int sheets = from->members > 1 ? 2 * PICTURE_SHEET : 0;
    if (from->kind != PICTURE_KERNEL || text[0] == '\0')
        return; /* it stands at the kernel that writes */
    fprintf(l->d->to, "<text x=\"%d\" y=\"%d\" class=\"%s\" data-bundle=\"%" PRIu32 "\">",
            l->origin.x + from->x + from->width + sheets + LABEL_INDENT,
            start_y(l, &net->from) - LABEL_LIFT, svg_is_on_cycle(l->d, net->bundle) ? "d s" : "d",
            net->bundle);
    svg_put_escaped(l->d->to, text);
    fputs("</text>\n", l->d->to);
}

static size_t put_net(struct lines *l, const struct picture_net *net, size_t crossing)
{
    FILE *to = l->d->to;
    l->tips.count = l->forks.count = 0;
    l->pen = (struct svg_place){INT_MIN, INT_MIN};
    fprintf(to, "<g class=\"net%s\" data-bundle=\"%" PRIu32 "\">",
            svg_is_on_cycle(l->d, net->bundle) ? " cycle" : "", net->bundle);
    if (!l->d->look->untitled) put_net_title(l->d, net->bundle);
    fputs("<path class=\"buffer\" d=\"", to);
    crossing = put_pieces(l, net, crossing);
    fputs("\"/>", to);
    if (l->tips.count > 0) fputs("<path class=\"tip\" d=\"", to);
    for (size_t i = 0; i < l->tips.count; i++)
        fprintf(to, "M%d %dl-8-4v8z", l->tips.items[i].x, l->tips.items[i].y);
    if (l->tips.count > 0) fputs("\"/>", to);
    for (size_t i = 0; i < l->forks.count; i++)
        fprintf(to,
                "<rect class=\"tip\" x=\"%d.5\" y=\"%d.5\" width=\"5\" height=\"5\" "
                "rx=\"2.5\"/>",
                l->forks.items[i].x - 3, l->forks.items[i].y - 3);
    fputs("</g>\n", to);
    return crossing;
}

void svg_put_lines(const struct drawing *d, const struct picture_level *level,
                   struct svg_place origin)
{
    struct lines l = {.d = d, .level = level, .origin = origin};
    size_t crossing = 0;
    list_crossings(&l);
    assign_lanes(&l);
    for (size_t n = 0; n < level->nets.count; n++) {
        const struct picture_net *net = &level->nets.items[n];
        if (net->from.box != PICTURE_NONE && net->to.count > 0)
            crossing = put_net(&l, net, crossing);
    }
    for (size_t n = 0; n < level->nets.count; n++) {
        const struct picture_net *net = &level->nets.items[n];
        if (net->from.box != PICTURE_NONE && net->to.count > 0) put_net_label(&l, net);
    }
}
