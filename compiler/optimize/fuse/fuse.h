/* SPDX-License-Identifier: MIT */
/*
 * fuse: decides which neighbours become one stage (compose.h builds it).
 *
 * fuse_neighbours
 *   Requires  analyse_graph without error: all messages refer to the graph as it was written.
 *   Returns   a graph with fewer nodes, analysed again, with the same output bits on every input, also at the ends of
 *             streams; or the given graph if nothing is fused.
 *   Fails     never.  With --fuse it reports the kernels that cannot be fused (rule not-fused), else nothing.
 *
 * Two neighbours are merged if
 *   - both can be members, and the composite of all members of both can be built (compose.h);
 *   - they have the same importance;
 *   - the buffer between them holds the packets of an iteration, if its depth is declared;
 *   - no path leads out of the group and back into it;
 *   - a part of an iteration writes nothing outside of the group (fuse_exact.c), because the composite only fires
 *     whole iterations;
 *   - it stays small: FUSE_FIRINGS_MAX, FUSE_SIZE_MAX, FUSE_PORTS_MAX; and code that fills lanes of vectors stays
 *     below KERNEL_LANES_SIZE_MAX;
 *   - it has an in-port: no composite becomes a source, because a run may count the firings of a source;
 *   - it pays: work that becomes serial, or is done twice, costs less than the buffer.
 * Buffers with more traffic come first.  A cycle is merged as a whole, or not at all.
 */
#ifndef PIPEC_FUSE_H
#define PIPEC_FUSE_H

#include "compiler/optimize/compose/compose.h"
#include "lang/devdesc.h"

/* Maximum firings of all members in an iteration, and expressions of these firings (compose_size). */
#define FUSE_FIRINGS_MAX 4096
#define FUSE_SIZE_MAX 40000
/* Maximum in-ports of a node, elements of arrays counted, and out-ports likewise.  The time of a merge grows with the
 * square of the ports. */
#define FUSE_PORTS_MAX 256

/* The place of a node of `written` in the new graph. */
struct fuse_place {
    uint32_t node;      /* of the new graph */
    uint32_t composite; /* that contains the node; GRAPH_NONE: none */
};

struct fusion {
    struct graph *written; /* as given */
    struct graph *graph;   /* to be planned; `written` if nothing is fused */
    VEC(struct composite) composites;
    uint32_t *composite_nodes; /* by composite: its node in `graph` */
    struct fuse_place *places; /* by node of `written` */
    /* By buffer of `written`: its number in `graph`; GRAPH_NONE: inside a composite. */
    uint32_t *buffers;
    /* By buffer of `written`: why its ends are not one stage, as a sentence; NULL: they are one, or it
     * does not have two ends. */
    const char **obstacles;
    const char *off;    /* why nothing is fused, or NULL */
    const char *reason; /* why the clock of the device wants it fused, or NULL */
};

/* False with --no-fuse, in debug mode, and with --buffers=min where speed would decide. */
bool fuse_wanted(const struct compile *cx, const struct devdesc *device);
/* Does the clock of the device decide whether the pipeline is fused? */
bool fuse_is_timed(const struct compile *cx, const struct devdesc *device);
/* Every node of the graph is a stage of its own, for that reason. */
struct fusion *fuse_nothing(struct compile *cx, struct graph *graph, const char *off);
/* Proves rates, liveness and depths of a graph with composites, whose kernels have rates and costs.  False after
 * an error. */
typedef bool fuse_prover(struct compile *cx, struct graph *graph);
/* If `prove` refuses the fused graph, the result is as if nothing were fused. */
struct fusion *fuse_neighbours(struct compile *cx, struct graph *graph,
                               const struct devdesc *device, fuse_prover *prove);

/* After the plan: copies the depths of the remaining buffers, with their reasons, to `written`. */
void fuse_settle_depths(struct compile *cx, const struct fusion *fusion);

#endif
