/* SPDX-License-Identifier: MIT */
#include "compiler/describe/graph_svg.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/describe/graph_layout.h"

enum {
    LEGEND_HEIGHT = 46,
    LEGEND_WIDTH = 620,
    BACK_STEP = 11, /* between two lines below the boxes */
};

struct drawing {
    FILE *to;
    struct arena *arena;
    const struct compile *cx;
    const struct graph *graph;
    const double *loads;
    struct graph_layout layout;
    uint32_t back_lines; /* drawn so far */
};

static const char style[] =
    "<style>\n"
    ".pipec{--back:#fff;--ink:#1c2733;--soft:#5b6b7b;--box:#f2f6fa;--edge:#8aa0b4;--port:#e3f1e7;--"
    "line:#4a6a8a;--cycle:#c0392b;"
    "--load:#f39c12;font:12px ui-monospace,Menlo,Consolas,monospace}\n"
    "@media(prefers-color-scheme:dark){.pipec{--back:#12181f;--ink:#e4ebf2;--soft:#93a4b5;--box:#"
    "1e2833;--edge:#4d6072;"
    "--port:#1d3527;--line:#7fa6cc;--cycle:#ff7b6b;--load:#c97b10}}\n"
    ".pipec .page{fill:var(--back)}.pipec text{fill:var(--ink)}.pipec .kernel,.pipec .rate,.pipec "
    ".depth{fill:var(--soft);font-size:11px}\n"
    ".pipec .box{fill:var(--box);stroke:var(--edge)}.pipec .load{fill:var(--load)}.pipec "
    ".outer{fill:var(--port);stroke:var(--edge)}\n"
    ".pipec .depth{paint-order:stroke;stroke:var(--back);stroke-width:3px}.pipec "
    ".title{font-weight:bold}.pipec .buffer{fill:none;stroke:var(--line);stroke-width:1.4}\n"
    ".pipec .cycle{stroke:var(--cycle);stroke-dasharray:5 3}.pipec .tip{fill:var(--line)}.pipec "
    ".right{text-anchor:end}"
    ".pipec .middle{text-anchor:middle}\n"
    "</style>\n";

/* Text between tags and in attributes. */
static void put_escaped(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '<')
            fputs("&lt;", to);
        else if (byte == '>')
            fputs("&gt;", to);
        else if (byte == '&')
            fputs("&amp;", to);
        else if (byte == '"')
            fputs("&quot;", to);
        else if (byte >= ' ')
            fputc(byte, to);
    }
}

static void put_svg_text(const struct drawing *d, int x, int y, const char *kind, const char *text)
{
    fprintf(d->to, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, kind);
    put_escaped(d->to, text);
    fputs("</text>\n", d->to);
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
    for (const char *byte = source->name; *byte != '\0'; byte++)
        if (strchr(" \"#%?<>", *byte) != NULL)
            fprintf(d->to, "%%%02X", (unsigned char)*byte);
        else if (*byte == '&')
            fputs("&amp;", d->to);
        else
            fputc(*byte, d->to);
    fprintf(d->to, "#L%" PRIu32 "\">\n", line);
    return true;
}

/* ---- boxes ---- */

static void put_svg_node(const struct drawing *d, const struct layout_box *box)
{
    const struct graph_node *node = &d->graph->nodes.items[box->node];
    bool linked = begin_link(d, node->span);
    fprintf(d->to,
            "<g class=\"node\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" "
            "class=\"box\"/>\n",
            box->x, box->y, box->width, box->height);
    if (d->loads != NULL)
        fprintf(d->to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"4\" class=\"load\"/>\n",
                box->x, box->y, (int)(d->loads[box->node] * box->width + 0.5));
    put_svg_text(d, box->x + box->width / 2, box->y + 16, "title middle", node->name);
    if (strcmp(node->name, node->kernel->title) != 0)
        put_svg_text(d, box->x + box->width / 2, box->y + 29, "kernel middle", node->kernel->title);
    for (uint32_t i = 0; i < node->inputs.count; i++)
        put_svg_text(d, box->x + 8, layout_port_y(box, i) + 4, "rate",
                     layout_input_text(d->arena, node, &node->inputs.items[i]));
    for (uint32_t i = 0; i < node->outputs.count; i++)
        put_svg_text(d, box->x + box->width - 8, layout_port_y(box, i) + 4, "rate right",
                     layout_output_text(d->arena, node, &node->outputs.items[i]));
    fputs(linked ? "</g></a>\n" : "</g>\n", d->to);
}

static void put_outer(const struct drawing *d, const struct layout_box *box)
{
    const struct graph_buffer *buffer = &d->graph->buffers.items[box->buffer];
    bool linked = begin_link(d, buffer->span);
    fprintf(d->to, "<g class=\"port\"><title>%s-port ",
            buffer->outer == GRAPH_OUTER_IN ? "in" : "out");
    put_escaped(d->to, type_text(d->arena, buffer->type));
    fprintf(d->to,
            "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"13\" "
            "class=\"outer\"/>\n",
            box->x, box->y, box->width, box->height);
    put_svg_text(d, box->x + box->width / 2, box->y + 17, "middle", buffer->name);
    fputs(linked ? "</g></a>\n" : "</g>\n", d->to);
}

/* ---- lines ---- */

/* A program that is refused has no depths yet. */
static bool has_depth(const struct graph_buffer *buffer)
{
    return buffer->outer == GRAPH_INNER && buffer->depth_packets > 0;
}

/* Another depth than the author's may get room for full dispatches from a device. */
static const char *depth_text(const struct drawing *d, const struct graph_buffer *buffer)
{
    bool settled = buffer->depth_declared || d->graph->buffers_mode != BUFFERS_DEFAULT;
    return arena_printf(d->arena, "%s%" PRIu64, settled ? "" : "\u2265 ", buffer->depth_packets);
}

static void put_curve(const struct drawing *d, int x1, int y1, int x2, int y2)
{
    int half = (x2 - x1) / 2;
    fprintf(d->to, " C%d %d %d %d %d %d", x1 + half, y1, x2 - half, y2, x2, y2);
}

/* Through the bends; their boxes are as wide as the layer leaves them. */
static void put_forward(const struct drawing *d, const struct layout_edge *edge, int x, int y)
{
    const struct layout_box *to = &d->layout.boxes.items[edge->to];
    for (size_t i = 0; i < edge->bends.count; i++) {
        const struct layout_box *bend = &d->layout.boxes.items[edge->bends.items[i]];
        put_curve(d, x, y, bend->x, bend->y + bend->height / 2);
        x = bend->x;
        y = bend->y + bend->height / 2;
    }
    put_curve(d, x, y, to->x - 7, layout_port_y(to, edge->to_port));
}

/* Out to the right, down, and back below all boxes. */
static void put_back(struct drawing *d, const struct layout_edge *edge, int x, int y)
{
    const struct layout_box *to = &d->layout.boxes.items[edge->to];
    int shift = (int)(d->back_lines % 6) * 4;
    int low = d->layout.height - LAYOUT_MARGIN + (int)++d->back_lines * BACK_STEP;
    int end_y = layout_port_y(to, edge->to_port);
    fprintf(d->to, " C%d %d %d %d %d %d V%d Q%d %d %d %d H%d Q%d %d %d %d V%d", x + 10, y,
            x + 16 + shift, y, x + 16 + shift, y + 10, low - 10, x + 16 + shift, low, x + 6 + shift,
            low, to->x - 20 - shift, to->x - 30 - shift, low, to->x - 30 - shift, low - 10,
            end_y + 10);
    fprintf(d->to, " Q%d %d %d %d H%d", to->x - 30 - shift, end_y, to->x - 20 - shift, end_y,
            to->x - 7);
}

/* Where the line of the buffer begins; written once for all its readers. */
static void put_depth(const struct drawing *d, const struct layout_edge *edge)
{
    const struct graph_buffer *buffer = &d->graph->buffers.items[edge->buffer];
    const struct layout_box *from = &d->layout.boxes.items[edge->from];
    const char *text = depth_text(d, buffer);
    if (buffer->initial.packets > 0)
        text = arena_printf(d->arena, "%s, init %" PRIu64, text, buffer->initial.packets);
    if (has_depth(buffer))
        put_svg_text(d, from->x + from->width + 8, layout_port_y(from, edge->from_port) - 4,
                     "depth", text);
}

static void put_edge(struct drawing *d, const struct layout_edge *edge)
{
    const struct graph_buffer *buffer = &d->graph->buffers.items[edge->buffer];
    const struct layout_box *from = &d->layout.boxes.items[edge->from];
    int x = from->x + from->width, y = layout_port_y(from, edge->from_port);
    fputs("<g><title>", d->to);
    put_escaped(d->to,
                arena_printf(d->arena, "%s: %s", buffer->name, type_text(d->arena, buffer->type)));
    if (has_depth(buffer)) fprintf(d->to, ", depth %s", depth_text(d, buffer));
    if (buffer->depth_reason != NULL) {
        fputs(": ", d->to);
        put_escaped(d->to, buffer->depth_reason);
    }
    fprintf(d->to, "</title><path class=\"buffer%s\" marker-end=\"url(#tip)\" d=\"M%d %d",
            edge->back ? " cycle" : "", x, y);
    if (edge->back)
        put_back(d, edge, x, y);
    else
        put_forward(d, edge, x, y);
    fputs("\"/>\n", d->to);
    fputs("</g>\n", d->to);
}

/* ---- the picture ---- */

static void put_legend(const struct drawing *d, int y)
{
    int x = LAYOUT_MARGIN;
    fprintf(d->to,
            "<g class=\"legend\"><rect x=\"%d\" y=\"%d\" width=\"26\" height=\"14\" rx=\"3\" "
            "class=\"box\"/>\n",
            x, y);
    put_svg_text(d, x + 34, y + 11, "rate", "kernel");
    fprintf(d->to,
            "<rect x=\"%d\" y=\"%d\" width=\"26\" height=\"14\" rx=\"7\" class=\"outer\"/>\n",
            x + 96, y);
    put_svg_text(d, x + 130, y + 11, "rate", "port");
    fprintf(d->to, "<path class=\"buffer\" marker-end=\"url(#tip)\" d=\"M%d %d h26\"/>\n", x + 180,
            y + 7);
    put_svg_text(d, x + 216, y + 11, "rate", "buffer, with its depth");
    fprintf(d->to, "<path class=\"buffer cycle\" marker-end=\"url(#tip)\" d=\"M%d %d h26\"/>\n",
            x + 400, y + 7);
    put_svg_text(d, x + 436, y + 11, "rate", "closes a cycle");
    if (d->loads != NULL) {
        fprintf(d->to, "<rect x=\"%d\" y=\"%d\" width=\"26\" height=\"4\" class=\"load\"/>\n", x,
                y + 24);
        put_svg_text(d, x + 34, y + 30, "rate", "busy time, of the busiest kernel's");
    }
    fputs("</g>\n", d->to);
}

static void draw_graph(struct drawing *d)
{
    d->layout = graph_layout_make(d->arena, d->graph);
    int back = (int)d->layout.back_edges * BACK_STEP;
    int bottom = d->layout.height + (back > 0 ? back + 8 : 0);
    int width = d->layout.width + (back > 0 ? 30 : 0), height = bottom + LEGEND_HEIGHT;
    if (width < LEGEND_WIDTH) width = LEGEND_WIDTH;
    int left = back > 0 ? -30 : 0; /* room for the line to the first box */
    fprintf(d->to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pipec\" width=\"%d\" height=\"%d\" "
            "viewBox=\"%d 0 %d %d\" role=\"img\">\n<title>pipeline ",
            width - left, height, left, width - left, height);
    put_escaped(d->to, d->graph->name);
    fputs("</title>\n", d->to);
    fputs(style, d->to);
    fputs("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" "
          "markerHeight=\"7\" "
          "orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path class=\"tip\" d=\"M0 0 8 4 0 "
          "8z\"/></marker></defs>\n",
          d->to);
    fprintf(d->to, "<rect x=\"%d\" width=\"%d\" height=\"%d\" class=\"page\"/>\n", left,
            width - left, height);
    for (size_t i = 0; i < d->layout.edges.count; i++)
        put_edge(d, &d->layout.edges.items[i]);
    for (size_t i = 0; i < d->layout.edges.count; i++) {
        const struct layout_edge *edge = &d->layout.edges.items[i];
        if (i == 0 || edge[-1].buffer != edge->buffer) put_depth(d, edge);
    }
    for (uint32_t i = 0; i < d->layout.real_boxes; i++)
        if (d->layout.boxes.items[i].node != GRAPH_NONE)
            put_svg_node(d, &d->layout.boxes.items[i]);
        else
            put_outer(d, &d->layout.boxes.items[i]);
    put_legend(d, bottom + 4);
    fputs("</svg>\n", d->to);
}

void graph_svg(FILE *to, const struct compile *cx, const struct graph *graph, const double *loads)
{
    struct drawing d = {
        .to = to, .arena = arena_create(), .cx = cx, .graph = graph, .loads = loads};
    draw_graph(&d);
    arena_destroy(d.arena);
}

/* ---- the page ---- */

static void put_buffer_row(const struct drawing *d, const struct graph_buffer *buffer)
{
    static const char *const kinds[] = {"buffer", "in-port", "out-port"};
    fputs("<tr><td>", d->to);
    put_escaped(d->to, buffer->name);
    fprintf(d->to, "</td><td>%s</td><td>", kinds[buffer->outer]);
    put_escaped(d->to, type_text(d->arena, buffer->type));
    if (has_depth(buffer))
        fprintf(d->to, "</td><td>%s</td><td>", depth_text(d, buffer));
    else
        fputs("</td><td></td><td>", d->to);
    if (buffer->depth_reason != NULL) put_escaped(d->to, buffer->depth_reason);
    fputs("</td></tr>\n", d->to);
}

void graph_html(FILE *to, const struct compile *cx, const struct graph *graph, const double *loads)
{
    struct drawing d = {
        .to = to, .arena = arena_create(), .cx = cx, .graph = graph, .loads = loads};
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" "
          "content=\"light dark\"><title>pipeline ",
          to);
    put_escaped(to, graph->name);
    fputs("</title>\n<style>body{font:14px "
          "system-ui,sans-serif;margin:16px}div{overflow:auto;border:1px solid "
          "#8888;border-radius:4px}"
          "table{border-collapse:collapse;margin-top:16px}td,th{text-align:left;padding:2px "
          "10px;border-bottom:1px solid #8884}</style>"
          "</head>\n<body><h1>pipeline ",
          to);
    put_escaped(to, graph->name);
    fprintf(to,
            "</h1>\n<p>%zu kernels, %zu buffers and ports, %" PRIu64
            " bytes of buffers</p>\n<div>\n",
            graph->nodes.count, graph->buffers.count, graph->memory_bytes);
    draw_graph(&d);
    fputs("</div>\n<table><tr><th>name</th><th></th><th>type</th><th>depth</th><th>why</th></tr>\n",
          to);
    for (size_t i = 0; i < graph->buffers.count; i++)
        put_buffer_row(&d, &graph->buffers.items[i]);
    fputs("</table></body></html>\n", to);
    arena_destroy(d.arena);
}
