/* SPDX-License-Identifier: MIT */
/*
 * fuse: which neighbours become one stage (compose.h says how).
 *
 * fuse_neighbours
 *   Requires  analyse_graph without error: everything that is reported comes from the graph as it
 *             was written.
 *   Returns   a graph of fewer nodes, analysed again, with the same output bits on every input, also
 *             at the ends of streams; or the given one, where nothing is fused.
 *   Fails     never; reports nothing.
 *
 * Two neighbours are merged where
 *   - both can be members, and the composite of all members of both can be built (compose.h);
 *   - they have the same importance, and the buffer between them holds an iteration, if its author
 *     has declared its depth;
 *   - no path leads out of the group and back into it;
 *   - a part of an iteration writes nothing outside of the group (fuse_exact.c), for the composite
 *     fires whole iterations only;
 *   - it stays small: FUSE_FIRINGS_MAX, FUSE_SIZE_MAX, FUSE_PORTS_MAX, and in lanes of vectors what
 *     is there (KERNEL_LANES_SIZE_MAX);
 *   - it has an in-port: nothing becomes a source, whose firings a run may count;
 *   - it pays: what state makes serial, and what is computed twice, costs less than the buffer.
 * The buffers with the most traffic come first.  Circles are merged whole, or not at all.
 */
#ifndef PIPEC_FUSE_H
#define PIPEC_FUSE_H

#include "compiler/optimize/compose/compose.h"
#include "lang/devdesc.h"

/* Firings of all members, and expressions of their code (compose_size), in an iteration. */
#define FUSE_FIRINGS_MAX 4096
#define FUSE_SIZE_MAX 40000
/* In-ports, elements of arrays counted, and out-ports likewise: a step of a merge costs as much as there are, and a
 * stage of so many has that many steps. */
#define FUSE_PORTS_MAX 256

/* What became of a node of the graph as written. */
struct fuse_place {
    uint32_t node;      /* of the new graph */
    uint32_t composite; /* GRAPH_NONE: the node stands alone */
};

struct fusion {
    struct graph *written; /* as given */
    struct graph *graph;   /* to be planned; `written` where nothing is fused */
    VEC(struct composite) composites;
    uint32_t *composite_nodes; /* by composite: its node in `graph` */
    struct fuse_place *places; /* by node of `written` */
    /* By buffer of `written`: where it is in `graph`; GRAPH_NONE: inside a composite. */
    uint32_t *buffers;
    /* By buffer of `written`: why its ends are not one stage, as a sentence; NULL: they are, or it
     * has no two ends. */
    const char **obstacles;
    const char *off;  /* why nothing was tried, or NULL */
    bool off_matters; /* somebody might have expected it */
};

/* Is that asked for: by --fuse, or by the device and not refused by --no-fuse or debug mode? */
bool fuse_wanted(const struct compile *cx, const struct devdesc *device);
/* Proves rates, liveness and depths of a graph with composites, whose kernels have rates and costs. False after
 * an error. */
typedef bool fuse_prover(struct compile *cx, struct graph *graph);
/* A fused graph that `prove` refuses is dropped. */
struct fusion *fuse_neighbours(struct compile *cx, struct graph *graph,
                               const struct devdesc *device, fuse_prover *prove);

/* After the plan: depths of the buffers that are left, with their reasons, are those of `written`,
 * too. */
void fuse_settle_depths(struct compile *cx, const struct fusion *fusion);

#endif
