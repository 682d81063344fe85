/* SPDX-License-Identifier: MIT */
/*
 * graph_svg: the topology as a picture, and as a page with the picture.
 *
 * From left to right: kernels as boxes with their rates, outer ports as rounded boxes, buffers as lines with their depths.
 * Readers of one buffer share the beginning of its line. A line that closes a cycle runs below the boxes. Colours follow the
 * light or dark scheme of the viewer. Boxes link to their lines in the source.
 */
#ifndef PIPEC_GRAPH_SVG_H
#define PIPEC_GRAPH_SVG_H

#include "compiler/ir/graph.h"

/* `loads`: by node, its share of the busiest one's time, 0 to 1; NULL: not known. */
void graph_svg(FILE *to, const struct compile *cx, const struct graph *graph, const double *loads);
void graph_html(FILE *to, const struct compile *cx, const struct graph *graph, const double *loads);

#endif
