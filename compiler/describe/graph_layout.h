/* SPDX-License-Identifier: MIT */
/*
 * graph_layout: places for a drawing of a graph, from left to right in layers.
 *
 * Nodes and outer ports are boxes. A box stands to the right of all boxes whose packets it reads, except along the edges
 * that close a cycle (`back`). Edges that pass layers bend around the boxes there. The places depend only on the graph.
 */
#ifndef PIPEC_GRAPH_LAYOUT_H
#define PIPEC_GRAPH_LAYOUT_H

#include "compiler/ir/graph.h"

/* In pixels: of a box, and between boxes. */
enum {
    LAYOUT_HEAD = 46,   /* above the first port */
    LAYOUT_PORT = 17,   /* from port to port */
    LAYOUT_FOOT = 7,    /* below the last port */
    LAYOUT_LETTER = 7,  /* width of a letter, about */
    LAYOUT_MARGIN = 24, /* around the drawing */
    LAYOUT_GAP = 22,    /* between boxes of a layer */
};

struct layout_box {
    int x, y, width, height;
    uint32_t node;   /* GRAPH_NONE: an outer port, or the bend of an edge */
    uint32_t buffer; /* of an outer port; else GRAPH_NONE */
    uint32_t layer, order;
    int wanted; /* while boxes are moved: y that the neighbours want */
};

struct layout_edge {
    uint32_t buffer;
    uint32_t from, from_port, to, to_port; /* boxes, and the ends of their nodes */
    bool back;                             /* closes a cycle: drawn below the boxes */
    VEC(uint32_t) bends;                   /* boxes without a size, one in each layer between */
};

struct graph_layout {
    VEC(struct layout_box) boxes; /* nodes, outer ports, bends */
    uint32_t real_boxes;          /* without the bends */
    VEC(struct layout_edge) edges;
    uint32_t layers;
    int width, height;
    uint32_t back_edges;
};

struct graph_layout graph_layout_make(struct arena *arena, const struct graph *graph);
/* The y of a port. */
int layout_port_y(const struct layout_box *box, uint32_t port);
/* The text of an end as it is drawn: "x pop 1 peek 4". */
const char *layout_input_text(struct arena *arena, const struct graph_node *node,
                              const struct graph_input *in);
const char *layout_output_text(struct arena *arena, const struct graph_node *node,
                               const struct graph_output *out);

#endif
