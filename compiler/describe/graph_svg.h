/* SPDX-License-Identifier: MIT */
/*
 * graph_svg: the topology as a picture (SVG).
 *
 *     struct picture_look look = {.loads = loads, .output = path};
 *     graph_svg(to, cx, graph, &look);
 *
 * Each box has the attribute data-node, the number of the first node that it stands for, and each line data-bundle, the
 * number that svg_boxes gives each buffer. The colours follow the reader's choice of a light or a dark scheme.
 */
#ifndef PIPEC_GRAPH_SVG_H
#define PIPEC_GRAPH_SVG_H

#include "compiler/ir/graph.h"

struct picture_look {
    const double *loads; /* by node, 0 to 1: how busy it was; or NULL */
    const char *
        output; /* the file that is written, from which links lead to sources; NULL: standard output */
    const uint64_t *depths; /* by buffer: what a run had, 0 where it is not known; or NULL */
    bool unfolded;          /* arrays and chains are drawn element by element */
    bool untitled;          /* lines have no titles: the page around says what they are */
};

struct svg_boxes {          /* where nodes and buffers are in the picture */
    const uint32_t *shown;  /* by node: data-node of its box */
    const uint32_t *bundle; /* by buffer: data-bundle of its line */
};

/* `boxes` may be NULL; else its arrays belong to `arena`. */
void graph_svg(FILE *to, struct arena *arena, const struct compile *cx, const struct graph *graph,
               const struct picture_look *look, struct svg_boxes *boxes);

/* Text between tags and in attributes, on one line; with its line feeds. */
void svg_put_escaped(FILE *to, const char *text);
void svg_put_lines_of_text(FILE *to, const char *text);

#endif
