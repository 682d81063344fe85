/* SPDX-License-Identifier: MIT */
/*
 * picture_bundles: which buffers of a graph a drawing shows as one line, and which elements of an array of ports as one port.
 *
 * Buffers are one bundle if they lead from the same shown output to the same shown inputs. FOLD_LEAST or more elements of
 * an array of ports are shown as the first one if the buffers there are one bundle.
 */
#ifndef PIPEC_PICTURE_BUNDLES_H
#define PIPEC_PICTURE_BUNDLES_H

#include "compiler/describe/picture.h"
#include "compiler/describe/picture_fold.h"

struct bundle_end {
    uint32_t node, port;
};

struct bundle_ends {
    struct bundle_end from; /* node GRAPH_NONE: an outer port, or nothing */
    VEC(struct bundle_end) to;
};

struct shown_ports {
    uint32_t *first_input, *first_output; /* by node: into the arrays below */
    uint32_t *input, *output;             /* the port of the same node that stands for it */
};

struct picture_bundles {
    struct shown_ports ports;
    VEC(struct bundle_ends) ends; /* by bundle: of shown nodes, each end once */
};

/* Fills picture->bundles and ->bundle. */
struct picture_bundles picture_bundles_make(struct arena *arena, struct picture *picture,
                                            const struct picture_fold *fold, bool folds);
/* The number of elements that the shown input stands for. */
uint32_t shown_input_count(const struct picture *picture, const struct picture_bundles *bundles,
                           uint32_t node, uint32_t input);
uint32_t shown_output_count(const struct picture *picture, const struct picture_bundles *bundles,
                            uint32_t node, uint32_t output);

#endif
