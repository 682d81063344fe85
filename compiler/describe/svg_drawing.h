/* SPDX-License-Identifier: MIT */
/*
 * svg_drawing: the parts of graph_svg, which draws a picture as SVG.
 *
 * A level is drawn at a place (x, y) of the picture; the places of its boxes are relative to that.
 */
#ifndef PIPEC_SVG_DRAWING_H
#define PIPEC_SVG_DRAWING_H

#include "compiler/describe/graph_svg.h"
#include "compiler/describe/picture.h"
#include "compiler/describe/picture_cycles.h"

struct drawing {
    FILE *to;
    struct arena *arena;
    const struct compile *cx;
    const struct graph *graph;
    const struct picture_look *look;
    const double *loads; /* by shown node; or NULL */
    struct picture picture;
    struct picture_cycles cycles;
};

struct svg_place {
    int x, y;
};

void svg_put_text(const struct drawing *d, int x, int y, const char *kind, const char *text);
/* The text where the line of a bundle begins: its depth and initial packets; "" of a port of the pipeline. */
const char *svg_bundle_text(const struct drawing *d, uint32_t bundle);
/* Is one of its buffers on a cycle? */
bool svg_is_on_cycle(const struct drawing *d, uint32_t bundle);
/* The lines of a level, with their texts. */
void svg_put_lines(const struct drawing *d, const struct picture_level *level,
                   struct svg_place origin);

#endif
