/* SPDX-License-Identifier: MIT */
/*
 * region: neighbouring nodes as one function of the packets that come in from outside.
 *
 * An iteration of a region fires each member so often that every inside buffer is as full behind it as
 * before.  What the iteration writes is asked for packet by packet: a packet of an inside buffer is
 * computed where something needs it, from the packets that its writer's firing sees, and not at all
 * where nothing does.  So a window that looks across an inside buffer is computed anew in each
 * iteration, from packets that come from outside.
 *
 * Members: exact rates that are the same every time, no state, `finish`, `stop`, 2-D window, launch or
 * work-items; packets are scalars or vectors.  Inside buffers: no initial packets, no declared depth.
 *
 * What is left at the end of a stream: the iteration needs peek packets of each in-end; its first
 * packets may need fewer.  `needs` says how many, and such packets are written by `finish`, so that
 * the region writes exactly what its members would have written.  A `finish` reads what is left of one
 * in-end: where there are several, either it has nothing to write, or they are alike and become one,
 * behind a node that puts their packets side by side (region_interleave.h).
 */
#ifndef PIPEC_REGION_H
#define PIPEC_REGION_H

#include "compiler/optimize/region/symbolic.h"
#include "compiler/ir/graph.h"

/* A run-time argument of a node, numbered through. */
struct region_argument {
    uint32_t node;
    const struct variable *variable;
    struct kx *value; /* over the pipeline's arguments; not a constant */
};

struct region_node {
    const char *reason; /* why it is no member of any region: "has state"; NULL: it can be */
    /* region_skim: */
    bool skimmed;
    bool drops;           /* some packet that it pops is not looked at */
    bool makes_constants; /* some scalar that it writes is always the same */
    /* region_look: */
    bool known;
    struct symbolic_kernel symbolic;
    uint64_t operations, loads; /* of one firing */
};

/* One symbolic world for all regions of a graph. */
struct region_space {
    struct compile *cx;
    const struct graph *graph;
    struct arena *scratch; /* everything symbolic lives here */
    struct symbols symbols;
    struct region_node *nodes; /* by node */
    VEC(struct region_argument) arguments;
    uint64_t steps_left; /* of all attempts together */
    bool *after_fault;   /* by node: it may fault, or some node before it; NULL: not known yet */
    /* While a region is built; between, all are GRAPH_NONE and anything. */
    uint32_t *member_of; /* by node: number of the member, or GRAPH_NONE */
    uint64_t *required;  /* by buffer: packets asked for */
    /* The symbols that values are made of: those that the present walk has come by, and has yet to go on from. */
    VEC(uint32_t) seen, pending;
    uint32_t walk;
};

struct region_end {
    uint32_t buffer;
    uint64_t packets; /* of an iteration: popped, pushed */
    uint64_t peek;    /* in-ends */
    /* out-ends: the scalars of all packets in order, and by packet and in-end the packets needed */
    sym *values;
    uint64_t *needs;
};

struct region_member {
    uint32_t node;
    uint64_t firings; /* of an iteration */
};

struct region_strands; /* strands.h */
struct overlap_save;

struct region {
    VEC(struct region_member) members; /* writers before readers */
    VEC(struct region_end) in, out;
    VEC(sym) table;             /* what SYM_TABLE stands for: computed once, from arguments */
    uint64_t operations, loads; /* of an iteration, after simplification */
    bool ends_late;             /* `finish` writes packets */
    bool reports;               /* `finish` says whether the members would have left packets over */
    bool linear;                /* collapsed: linear.h */
    const struct region_strands *strands; /* NULL: not taken apart */
    const struct overlap_save *blocks; /* ..., in the frequency domain: overlap_save.h; or NULL */
    /* The in-ends, of one type and the same packets, peek and needs, are one: packet i of end e is
     * packet i * in.count + e of it. */
    bool interleaved;
};

struct region_space region_space(struct compile *cx, const struct graph *graph,
                                 struct arena *scratch);
/* What is cheap to know, tables not looked at. */
const struct region_node *region_skim(struct region_space *space, uint32_t node);
/* All that is known of the node; `reason` is set where it is no member of any region. */
const struct region_node *region_look(struct region_space *space, uint32_t node);
/* Builds the region of these nodes, any order, of which none is refused.  False: *reason, a phrase
 * without a subject. */
bool region_build(struct region_space *space, const uint32_t *nodes, size_t count,
                  struct region *region, const char **reason);
/* Do the members, as stages of their own, have packets left over where every in-end has brought so many in all: those of
 * the first iteration, if it has `fired`, and `more`? */
bool region_leaves(struct region_space *space, const struct region *region, bool fired,
                   uint64_t more);
/* Operations, and packets' scalars loaded, that the values are computed from, each once. */
void region_count(struct region_space *space, const sym *values, size_t count, uint64_t *operations,
                  uint64_t *loads);

#endif
