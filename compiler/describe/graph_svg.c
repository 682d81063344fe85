/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "compiler/describe/svg_drawing.h"

enum {
    LEGEND_HEIGHT = 52,
    LEGEND_WIDTH = 640,
    RUN_LETTERS = 5, /* " of ", and a separator of digits */
    POINT = 12,      /* of a port */
};

/* Without variables, which several programs that show SVG do not know. The classes of texts are short, because there are many:
 * t title, k kernel, i and o rates of inputs and outputs, d depths (s: on a cycle), m at the middle, n notes. */
static const char style[] =
    "<style>\n"
    ".pipec{font:12px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
    ".pipec .page{fill:#fff}.pipec text{fill:#1c2733}.pipec .t{font-weight:bold}\n"
    ".pipec .k,.pipec .i,.pipec .o,.pipec .d,.pipec .n{fill:#55646f;font-size:11px}\n"
    ".pipec .node .t,.pipec .k,.pipec .m{text-anchor:middle}.pipec .o{text-anchor:end}\n"
    ".pipec .d{paint-order:stroke;stroke:#fff;stroke-width:3px}.pipec .s{fill:#c0392b}\n"
    ".pipec .box{fill:#f1f5f9;stroke:#7f96ab}.pipec .outer{fill:#e0f0e4;stroke:#6f9f80}\n"
    ".pipec .inside{fill:#e8eef5;fill-opacity:.45;stroke:#9db0c2;stroke-dasharray:6 3}\n"
    ".pipec .buffer{fill:none;stroke:#44678a;stroke-width:1.4}.pipec .tip{fill:#44678a}\n"
    ".pipec .cycle .buffer{stroke:#c0392b}.pipec .cycle .tip{fill:#c0392b}\n"
    ".pipec .load{fill:#f08c00}.pipec a{text-decoration:none}\n"
    ".pipec a:hover .box,.pipec a:hover .outer,.pipec .net:hover .buffer{stroke-width:2.4}\n"
    "@media(prefers-color-scheme:dark){\n"
    ".pipec .page{fill:#12181f}.pipec text{fill:#e4ebf2}\n"
    ".pipec .k,.pipec .i,.pipec .o,.pipec .d,.pipec .n{fill:#9fb0c0}.pipec .d{stroke:#12181f}\n"
    ".pipec .box{fill:#1e2833;stroke:#5c7389}.pipec .outer{fill:#1d3527;stroke:#4d7a5d}\n"
    ".pipec .inside{fill:#1a232d;stroke:#4a5c6d}.pipec .s{fill:#ff7b6b}\n"
    ".pipec .buffer{stroke:#7fa6cc}.pipec .tip{fill:#7fa6cc}\n"
    ".pipec .cycle .buffer{stroke:#ff7b6b}.pipec .cycle .tip{fill:#ff7b6b}\n"
    ".pipec .load{fill:#d9822b}}\n"
    "</style>\n";

/* ---- texts ---- */

static void put_escaped_byte(FILE *to, char byte)
{
    switch (byte) {
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '&': fputs("&amp;", to); break;
    case '"': fputs("&quot;", to); break;
    default:
        if ((unsigned char)byte >= ' ') fputc(byte, to);
    }
}

void svg_put_escaped(FILE *to, const char *text)
{
    for (; *text != '\0'; text++)
        put_escaped_byte(to, *text);
}

void svg_put_lines_of_text(FILE *to, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n')
            fputc('\n', to);
        else
            put_escaped_byte(to, *text);
}

void svg_put_text(const struct drawing *d, int x, int y, const char *kind, const char *text)
{
    fprintf(d->to, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, kind);
    svg_put_escaped(d->to, text);
    fputs("</text>\n", d->to);
}

static const char *numbers_text(struct arena *arena, uint64_t least, uint64_t most)
{
    if (least == most) return arena_printf(arena, "%" PRIu64, most);
    return arena_printf(arena, "%" PRIu64 "..%" PRIu64, least, most);
}

const char *svg_bundle_text(const struct drawing *d, uint32_t bundle)
{
    const struct picture_bundle *of = &d->picture.bundles.items[bundle];
    const struct graph_buffer *buffer = &d->graph->buffers.items[of->buffer];
    /* Another depth than the author's may get room for full dispatches from a device. */
    bool settled = buffer->depth_declared || d->graph->buffers_mode != BUFFERS_DEFAULT;
    if (buffer->outer != GRAPH_INNER) return "";
    const char *text = "";
    if (d->look->depths != NULL && d->look->depths[of->buffer] > 0)
        text = arena_printf(d->arena, "%" PRIu64, d->look->depths[of->buffer]);
    else if (of->depth_most > 0) /* a program that is refused has no depths yet */
        text = arena_printf(d->arena, "%s%s", settled ? "" : "\u2265 ",
                            numbers_text(d->arena, of->depth_least, of->depth_most));
    if (of->init_most > 0)
        text = arena_printf(d->arena, "%s%sinit %s", text, *text != '\0' ? ", " : "",
                            numbers_text(d->arena, of->init_least, of->init_most));
    uint64_t slack = d->cycles.slack[of->buffer];
    if (of->buffers == 1 && slack != SLACK_UNKNOWN)
        text = arena_printf(d->arena, "%s, slack %" PRIu64, text, slack);
    return text;
}

bool svg_is_on_cycle(const struct drawing *d, uint32_t bundle)
{
    return d->cycles.on_cycle[d->picture.bundles.items[bundle].buffer];
}

/* About, in letters of 11 pixels. */
static int label_width(const void *data, uint32_t bundle)
{
    const struct drawing *d = data;
    const char *text = svg_bundle_text(d, bundle);
    int letters = 0;
    for (; *text != '\0'; text++)
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    /* The page of a run writes "level of depth" there. */
    if (d->look->depths != NULL) letters += letters + RUN_LETTERS;
    return letters > 0 ? letters * PICTURE_LETTER + 12 : 10;
}

/* ---- links to the source ---- */

static void put_url(FILE *to, const char *path)
{
    for (; *path != '\0'; path++)
        if (strchr(" \"#%?<>:", *path) != NULL)
            fprintf(to, "%%%02X", (unsigned char)*path);
        else if (*path == '&')
            fputs("&amp;", to);
        else
            fputc(*path, to);
}

/* The way from the folder of the picture to the folder that paths are relative to. */
static void put_way_back(FILE *to, const char *output)
{
    if (output == NULL || output[0] == '/') return;
    for (const char *slash = strchr(output, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
        fputs("../", to);
}

/* False: the place is in no file. */
static bool begin_link(const struct drawing *d, struct span span)
{
    uint32_t line, column;
    span = source_origin(d->cx->sources, span);
    if (span.source == 0 || !source_is_file(d->cx->sources, span.source)) return false;
    const struct source *source = source_get(d->cx->sources, span.source);
    source_locate(source, span.begin, &line, &column);
    fputs("<a href=\"", d->to);
    if (source->name[0] != '/') put_way_back(d->to, d->look->output);
    put_url(d->to, source->name);
    fprintf(d->to, "#L%" PRIu32 "\">\n", line);
    return true;
}

/* ---- boxes ---- */

static void put_rect(const struct drawing *d, int x, int y, const struct picture_box *box,
                     const char *kind)
{
    fputs("<rect ", d->to);
    if (x != 0 || y != 0) fprintf(d->to, "x=\"%d\" y=\"%d\" ", x, y);
    fprintf(d->to, "width=\"%d\" height=\"%d\" rx=\"4\" class=\"%s\"/>\n", box->width, box->height,
            kind);
}

static void put_load(const struct drawing *d, const struct picture_box *box)
{
    double load = d->loads[box->node];
    fprintf(d->to,
            "<rect width=\"%d\" height=\"%d\" rx=\"4\" class=\"load\" fill-opacity=\"%.2f\"/>\n",
            box->width, box->height, load * 0.8);
    svg_put_text(d, box->width - 8, -4, "o", arena_printf(d->arena, "%.0f%%", load * 100));
}

static void put_kernel(const struct drawing *d, const struct picture_box *box,
                       struct svg_place origin)
{
    const struct graph_node *node = &d->graph->nodes.items[box->node];
    int middle = box->width / 2;
    bool linked = begin_link(d, node->span);
    fprintf(d->to, "<g class=\"node\" data-node=\"%" PRIu32 "\" transform=\"translate(%d %d)\">",
            box->node, origin.x + box->x, origin.y + box->y);
    for (int i = box->members > 1 ? 2 : 0; i >= 0; i--)
        put_rect(d, i * PICTURE_SHEET, -i * PICTURE_SHEET, box, "box");
    if (d->loads != NULL) put_load(d, box);
    svg_put_text(d, middle, 16, "t", box->name);
    if (box->detail != NULL) svg_put_text(d, middle, 29, "k", box->detail);
    for (uint32_t i = 0; i < box->ins.count; i++)
        svg_put_text(d, 8, box->ins.items[i].y + 4, "i", box->ins.items[i].text);
    for (uint32_t i = 0; i < box->outs.count; i++)
        svg_put_text(d, box->width - 8, box->outs.items[i].y + 4, "o", box->outs.items[i].text);
    fputs(linked ? "</g></a>\n" : "</g>\n", d->to);
}

/* In-ports and out-ports point with the flow. */
static void put_outer(const struct drawing *d, const struct picture_box *box,
                      struct svg_place origin)
{
    const struct picture_bundle *bundle = &d->picture.bundles.items[box->bundle];
    const struct graph_buffer *buffer = &d->graph->buffers.items[bundle->buffer];
    int x = origin.x + box->x, y = origin.y + box->y;
    bool linked = begin_link(d, buffer->span);
    fprintf(d->to, "<g class=\"port\" data-bundle=\"%" PRIu32 "\"><title>%s-port ", box->bundle,
            buffer->outer == GRAPH_OUTER_IN ? "in" : "out");
    svg_put_escaped(d->to, type_text(d->arena, buffer->type));
    fprintf(d->to, "</title><path class=\"outer\" d=\"M%d %dh%dl%d %dl%d %dh%dz\"/>\n", x, y,
            box->width - POINT, POINT, box->height / 2, -POINT, box->height / 2,
            POINT - box->width);
    svg_put_text(d, x + (box->width - POINT) / 2 + 2, y + 17, "m", box->name);
    fputs(linked ? "</g></a>\n" : "</g>\n", d->to);
}

static void put_level(const struct drawing *d, const struct picture_level *level,
                      struct svg_place origin);

static void put_pipeline(const struct drawing *d, const struct picture_box *box,
                         struct svg_place origin)
{
    struct svg_place place = {origin.x + box->x, origin.y + box->y};
    fputs("<g class=\"pipeline\">", d->to);
    for (int i = 2; i > 0 && box->members > 1; i--)
        put_rect(d, place.x + i * PICTURE_SHEET, place.y - i * PICTURE_SHEET, box, "inside");
    put_rect(d, place.x, place.y, box, "inside");
    svg_put_text(d, place.x + 10, place.y + 16, "t", box->name);
    if (box->detail != NULL)
        svg_put_text(d, place.x + box->width - 10, place.y + 16, "o", box->detail);
    place.y += PICTURE_TITLE;
    put_level(d, box->inside, place);
    fputs("</g>\n", d->to);
}

static void put_level(const struct drawing *d, const struct picture_level *level,
                      struct svg_place origin)
{
    svg_put_lines(d, level, origin);
    for (uint32_t i = 0; i < level->real_boxes; i++) {
        const struct picture_box *box = &level->boxes.items[i];
        switch (box->kind) {
        case PICTURE_KERNEL: put_kernel(d, box, origin); break;
        case PICTURE_PIPELINE: put_pipeline(d, box, origin); break;
        case PICTURE_OUTER: put_outer(d, box, origin); break;
        case PICTURE_BORDER: break;
        }
    }
}

/* ---- the legend: what the picture has ---- */

struct shown_kinds {
    bool pipeline, folded;
};

static struct shown_kinds kinds_of_level(const struct picture_level *level)
{
    struct shown_kinds kinds = {0};
    for (uint32_t i = 0; i < level->real_boxes; i++) {
        const struct picture_box *box = &level->boxes.items[i];
        kinds.folded |= box->members > 1 && box->kind != PICTURE_OUTER;
        if (box->inside == NULL) continue;
        struct shown_kinds inner = kinds_of_level(box->inside);
        kinds.pipeline = true;
        kinds.folded |= inner.folded;
    }
    return kinds;
}

static int put_sample(const struct drawing *d, int x, int y, const char *shape, const char *text)
{
    fprintf(d->to, "<g transform=\"translate(%d %d)\">%s</g>\n", x, y, shape);
    svg_put_text(d, x + 36, y + 11, "n", text);
    return x + 36 + (int)strlen(text) * PICTURE_LETTER + 24;
}

static void put_legend(const struct drawing *d, int y)
{
    struct shown_kinds kinds = kinds_of_level(d->picture.level);
    bool cycle = false;
    for (uint32_t b = 0; b < d->picture.bundles.count && !cycle; b++)
        cycle = svg_is_on_cycle(d, b);
    int x = PICTURE_MARGIN;
    fputs("<g class=\"legend\">\n", d->to);
    x = put_sample(d, x, y, "<rect width=\"26\" height=\"14\" rx=\"3\" class=\"box\"/>", "kernel");
    x = put_sample(d, x, y, "<path class=\"outer\" d=\"M0 0h18l8 7l-8 7h-18z\"/>", "port");
    x = put_sample(
        d, x, y, "<path class=\"buffer\" d=\"M0 7h19\"/><path class=\"tip\" d=\"M26 7l-8 -4v8z\"/>",
        "buffer, its depth in packets");
    if (cycle)
        put_sample(d, x, y,
                   "<g class=\"cycle\"><path class=\"buffer\" d=\"M0 7h19\"/><path class=\"tip\" "
                   "d=\"M26 7l-8 -4v8z\"/></g>",
                   "on a cycle");
    x = PICTURE_MARGIN, y += 22;
    if (kinds.pipeline)
        x = put_sample(d, x, y, "<rect width=\"26\" height=\"14\" rx=\"3\" class=\"inside\"/>",
                       "pipeline");
    if (kinds.folded)
        x = put_sample(d, x, y,
                       "<rect x=\"5\" y=\"-3\" width=\"22\" height=\"12\" rx=\"2\" class=\"box\"/>"
                       "<rect y=\"2\" width=\"22\" height=\"12\" rx=\"2\" class=\"box\"/>",
                       "several alike");
    if (d->loads != NULL)
        put_sample(d, x, y, "<rect width=\"26\" height=\"14\" rx=\"3\" class=\"load\"/>",
                   "busy time, of the busiest kernel's");
    fputs("</g>\n", d->to);
}

/* ---- the picture ---- */

static void put_picture(const struct drawing *d)
{
    const struct picture_level *level = d->picture.level;
    int width = level->width > LEGEND_WIDTH ? level->width : LEGEND_WIDTH;
    int height = level->height + LEGEND_HEIGHT;
    fprintf(d->to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pipec\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>pipeline ",
            width, height, width, height);
    svg_put_escaped(d->to, d->graph->name);
    fputs("</title>\n", d->to);
    fputs(style, d->to);
    fprintf(d->to, "<rect width=\"%d\" height=\"%d\" class=\"page\"/>\n", width, height);
    put_level(d, level, (struct svg_place){0, 0});
    put_legend(d, level->height);
    fputs("</svg>\n", d->to);
}

/* By shown node: of the nodes that it stands for, the share of the busiest one. */
static const double *loads_of_boxes(const struct drawing *d)
{
    if (d->look->loads == NULL) return NULL;
    double *loads = ARENA_ARRAY(d->arena, double, d->graph->nodes.count + 1);
    for (size_t n = 0; n < d->graph->nodes.count; n++) {
        double *load = &loads[d->picture.shown[n]];
        if (d->look->loads[n] > *load) *load = d->look->loads[n];
    }
    return loads;
}

void graph_svg(FILE *to, struct arena *arena, const struct compile *cx, const struct graph *graph,
               const struct picture_look *look, struct svg_boxes *boxes)
{
    struct drawing d = {.to = to, .arena = arena, .cx = cx, .graph = graph, .look = look};
    d.picture = picture_make(arena, graph, !look->unfolded);
    d.cycles = picture_cycles_find(arena, graph);
    d.loads = loads_of_boxes(&d);
    picture_place(arena, &d.picture, label_width, &d);
    put_picture(&d);
    if (boxes != NULL) *boxes = (struct svg_boxes){d.picture.shown, d.picture.bundle};
}
