/* SPDX-License-Identifier: MIT */
/* graph_page: one offline page (HTML) with the picture of a graph, and its buffers with the reasons for their depths. */
#ifndef PIPEC_GRAPH_PAGE_H
#define PIPEC_GRAPH_PAGE_H

#include "compiler/describe/graph_svg.h"

void graph_html(FILE *to, const struct compile *cx, const struct graph *graph,
                const struct picture_look *look);

#endif
