/* SPDX-License-Identifier: MIT */
/*
 * region: neighbouring nodes as one function of the packets that they read from outside.
 *
 * In an iteration of a region each member fires so often that every inside buffer is as full as before.  The
 * outputs are computed on demand, packet by packet.  A packet of an inside buffer is computed from the packets
 * that its writer's firing sees, and only if an output depends on it.  So the packets of a window on an inside
 * buffer are computed again in each iteration, from packets from outside.
 *
 * Members have exact rates that are the same in each firing, and no state, `finish`, `stop`, 2-D window, launch
 * or work-items.  Packets are scalars or vectors.  Inside buffers have no initial packets and no declared depth.
 *
 * The end of a stream: an iteration needs `peek` packets of each in-end, but some of its output packets may need
 * fewer.  `needs` holds their number, and `finish` writes these packets.  So the region writes exactly the packets
 * that its members would have written.  A `finish` reads the remaining packets of one in-end only.  A region with
 * several in-ends has no packets to write in `finish`; or its in-ends are alike and become one, after a node that
 * interleaves their packets (region_interleave.h).
 */
#ifndef PIPEC_REGION_H
#define PIPEC_REGION_H

#include "compiler/optimize/region/symbolic.h"
#include "compiler/ir/graph.h"

/* A run-time argument of a node.  Its number is the place in region_space.arguments. */
struct region_argument {
    uint32_t node;
    const struct variable *variable;
    struct kx *value; /* over the pipeline's arguments; not a constant */
};

struct region_node {
    const char *reason; /* why it can be in no region: "has state"; NULL: it can */
    /* region_skim: */
    bool skimmed;
    bool drops;           /* it pops a packet that it never reads */
    bool makes_constants; /* it writes a scalar that is always the same */
    /* region_look: */
    bool known;
    struct symbolic_kernel symbolic;
    uint64_t operations, loads; /* of one firing */
};

/* The symbols and limits that all regions of a graph share. */
struct region_space {
    struct compile *cx;
    const struct graph *graph;
    struct arena *scratch; /* owns all symbols and regions */
    struct symbols symbols;
    struct region_node *nodes; /* by node */
    VEC(struct region_argument) arguments;
    uint64_t steps_left; /* for all attempts together */
    bool *after_fault;   /* by node: it or a node before it may fault; NULL: not computed yet */
    /* Scratch while a region is built: */
    uint32_t *member_of; /* by node: number of the member; GRAPH_NONE, also between regions */
    uint64_t *required;  /* by buffer: required packets */
    /* The walk over the symbols that values depend on: by symbol, the last walk that met it; symbols to visit next. */
    VEC(uint32_t) seen, pending;
    uint32_t walk;
};

struct region_end {
    uint32_t buffer;
    uint64_t packets; /* popped or pushed in an iteration */
    uint64_t peek;    /* in-ends */
    /* out-ends: the scalars of all packets in order; by packet and in-end, the number of packets that it needs */
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
    VEC(sym) table;                       /* values of SYM_TABLE, computed once from arguments */
    uint64_t operations, loads;           /* of an iteration, after simplification */
    bool ends_late;                       /* `finish` writes packets */
    bool linear;                          /* collapsed to a filter: linear.h */
    const struct region_strands *strands; /* or NULL */
    const struct overlap_save *blocks;    /* in the frequency domain: overlap_save.h; or NULL */
    /* The in-ends have the same type, packets, peek and needs, and become one: packet i of end e is its packet
     * i * in.count + e. */
    bool interleaved;
};

struct region_space region_space(struct compile *cx, const struct graph *graph,
                                 struct arena *scratch);
/* Fills `reason` and the fields of region_skim, which are cheap: the contents of tables are not computed. */
const struct region_node *region_skim(struct region_space *space, uint32_t node);
/* Fills all fields, the others only if `reason` is NULL. */
const struct region_node *region_look(struct region_space *space, uint32_t node);
/* Builds the region of these nodes, in any order.  Requires region_look(...)->reason == NULL for each.
 * False: *reason, a phrase without a subject. */
bool region_build(struct region_space *space, const uint32_t *nodes, size_t count,
                  struct region *region, const char **reason);
/* Counts the operations and the loaded scalars of packets that the values depend on, each once. */
void region_count(struct region_space *space, const sym *values, size_t count, uint64_t *operations,
                  uint64_t *loads);

#endif
