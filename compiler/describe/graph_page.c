/* SPDX-License-Identifier: MIT */
#include "compiler/describe/graph_page.h"

#include <inttypes.h>

#include "compiler/describe/svg_drawing.h"

static const char page_style[] =
    "<style>body{font:14px system-ui,sans-serif;margin:16px}"
    "div{overflow:auto;border:1px solid #8888;border-radius:4px}"
    "table{border-collapse:collapse;margin-top:16px}"
    "td,th{text-align:left;padding:2px 10px;border-bottom:1px solid #8884}</style>\n";

static void put_buffer_row(FILE *to, struct arena *arena, const struct graph *graph,
                           const struct graph_buffer *buffer)
{
    static const char *const kinds[] = {"buffer", "in-port", "out-port"};
    bool settled = buffer->depth_declared || graph->buffers_mode != BUFFERS_DEFAULT;
    fputs("<tr><td>", to);
    svg_put_escaped(to, buffer->name);
    fprintf(to, "</td><td>%s</td><td>", kinds[buffer->outer]);
    svg_put_escaped(to, type_text(arena, buffer->type));
    fputs("</td><td>", to);
    if (buffer->outer == GRAPH_INNER && buffer->depth_packets > 0)
        fprintf(to, "%s%" PRIu64, settled ? "" : "\u2265 ", buffer->depth_packets);
    fputs("</td><td>", to);
    if (buffer->depth_reason != NULL) svg_put_escaped(to, buffer->depth_reason);
    fputs("</td></tr>\n", to);
}

void graph_html(FILE *to, const struct compile *cx, const struct graph *graph,
                const struct picture_look *look)
{
    struct arena *arena = arena_create();
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" "
          "content=\"light dark\"><title>pipeline ",
          to);
    svg_put_escaped(to, graph->name);
    fprintf(to, "</title>\n%s</head>\n<body><h1>pipeline ", page_style);
    svg_put_escaped(to, graph->name);
    fprintf(to,
            "</h1>\n<p>%zu kernels, %zu buffers and ports, %" PRIu64
            " bytes of buffers</p>\n<div>\n",
            graph->nodes.count, graph->buffers.count, graph->memory_bytes);
    graph_svg(to, arena, cx, graph, look, NULL);
    fputs("</div>\n<table><tr><th>name</th><th></th><th>type</th><th>depth</th><th>why</th></tr>\n",
          to);
    for (size_t i = 0; i < graph->buffers.count; i++)
        put_buffer_row(to, arena, graph, &graph->buffers.items[i]);
    fputs("</table></body></html>\n", to);
    arena_destroy(arena);
}
