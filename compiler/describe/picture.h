/* SPDX-License-Identifier: MIT */
/*
 * picture: what a drawing of a graph shows, from left to right.
 *
 * A picture is a tree of levels. A level has boxes and nets. A box is a kernel, a port of the pipeline, or a pipeline, which
 * has a level inside. A net is one buffer, or several that are drawn as one because they lead from and to the same places.
 * Where a net crosses the border of a pipeline, the levels on both sides have a part of it: inside it begins or ends in a
 * box of the kind PICTURE_BORDER, without a size.
 *
 * picture_make fills all but the fields for places. picture_place fills those: a box stands to the right of all boxes whose
 * packets it reads, except along nets that go back. Rows that are wider than the page are wrapped, like lines of text. The
 * picture depends only on the graph.
 */
#ifndef PIPEC_PICTURE_H
#define PIPEC_PICTURE_H

#include "compiler/ir/graph.h"

#define PICTURE_NONE UINT32_MAX

/* In pixels. */
enum {
    PICTURE_HEAD = 46,         /* of a box above the first port */
    PICTURE_DETAIL = 12,       /* of that, for the kernel's name */
    PICTURE_SHEET = 4,         /* from sheet to sheet, of a box that stands for several */
    PICTURE_PORT = 17,         /* from port to port */
    PICTURE_FOOT = 7,          /* below the last port */
    PICTURE_LETTER = 7,        /* width of a letter, about */
    PICTURE_MARGIN = 24,       /* around a picture, and inside a pipeline */
    PICTURE_TITLE = 22,        /* of a pipeline's name */
    PICTURE_GAP = 22,          /* between boxes of a column */
    PICTURE_CURVE = 64,        /* where lines change their height, between two columns */
    PICTURE_LANE = 6,          /* between parallel lines */
    PICTURE_LANES = 8,         /* beside a row; further lines share these */
    PICTURE_PAGE_WIDTH = 1400, /* of a row, unless one column is wider */
};

enum picture_kind { PICTURE_KERNEL, PICTURE_PIPELINE, PICTURE_OUTER, PICTURE_BORDER };

struct picture_port {
    const char *text; /* "x pop 1 peek 4"; of a pipeline NULL */
    uint32_t port;    /* of a kernel: input or output of its node; of a pipeline: box inside */
    int y;            /* below the top of the box */
};

struct picture_box {
    enum picture_kind kind;
    bool is_source;     /* of PICTURE_OUTER and PICTURE_BORDER: packets come from it */
    const char *name;   /* "eq[0..9]" */
    const char *detail; /* "10 x band<65>", or NULL */
    uint32_t node;      /* the first that it stands for; else GRAPH_NONE */
    uint32_t bundle;    /* of PICTURE_OUTER and PICTURE_BORDER */
    uint32_t members;   /* drawn as this one */
    VEC(struct picture_port) ins, outs;
    struct picture_level *inside; /* of a pipeline */
    /* Places. */
    int x, y, width, height;
    uint32_t layer, order;
    int wanted; /* while boxes are moved: y that the neighbours want */
};

struct picture_end { /* of a net: a box, and the index of a port there */
    uint32_t box, port;
};

struct picture_line { /* from a place to the next layer */
    struct picture_end from, to;
};

struct picture_net {
    uint32_t bundle;
    struct picture_end from;
    VEC(struct picture_end) to;
    /* Places: pieces of the line between neighbouring layers, in order of layers; the bends between them are boxes. Ends
     * that are not to the right of `from` are reached by a line back. */
    VEC(struct picture_line) lines;
    VEC(struct picture_end) backs;
};

struct picture_level {
    VEC(struct picture_box) boxes; /* after the first `real_boxes`: bends, without a size */
    VEC(struct picture_net) nets;
    uint32_t real_boxes;
    /* Places, filled by picture_place. */
    int width, height;
    struct picture_columns *columns;
};

/* Columns are layers; rows are what fits the page. */
struct picture_columns {
    uint32_t count, row_count;
    int *left, *right; /* by column: of its boxes */
    int *label;        /* by column: the width of the texts where lines begin */
    uint32_t *row;     /* by column */
    int *top, *bottom; /* by row: of its boxes; below them are the lanes of lines to other places */
};

/* Buffers that are drawn as one. */
struct picture_bundle {
    uint32_t buffer; /* the first */
    uint32_t buffers;
    uint64_t depth_least, depth_most, init_least, init_most;
};

struct picture {
    const struct graph *graph;
    struct picture_level *level;
    VEC(struct picture_bundle) bundles;
    uint32_t *bundle; /* by buffer */
    uint32_t *shown;  /* by node: the one whose box it has */
};

/* With `folds`, arrays and chains of alike kernels and pipelines are one box. */
struct picture picture_make(struct arena *arena, const struct graph *graph, bool folds);
/* `label_width` says how wide the text is that stands where the line of a bundle begins. */
typedef int picture_label_width(const void *data, uint32_t bundle);
void picture_place(struct arena *arena, struct picture *picture, picture_label_width *label_width,
                   const void *data);

/* The y of a port, in its level. */
int picture_in_y(const struct picture_box *box, uint32_t port);
int picture_out_y(const struct picture_box *box, uint32_t port);

#endif
