/* SPDX-License-Identifier: MIT */
/*
 * fuse_internal: the interfaces between the files of the fuse pass; private to them.
 *
 *   fuse.c          which groups are merged, in which order, and whether it pays
 *   fuse_cycle.c    how the nodes of a cycle become one node
 *   fuse_exact.c    the order of an iteration, and whether a part of one writes outside
 *   fuse_firings.c  firings of the members in an iteration
 *   fuse_graph.c    the new graph
 *   fuse_lanes.c    whether a merge stops a part from filling lanes of vectors
 *   fuse_name.c     names of composites
 */
#ifndef PIPEC_FUSE_INTERNAL_H
#define PIPEC_FUSE_INTERNAL_H

#include "compiler/optimize/fuse/fuse.h"

/* Nodes that may become one, in ascending order, with their firings in an iteration of the group. */
struct fuse_group {
    const uint32_t *nodes;
    const uint64_t *firings;
    uint32_t count;
};

bool fuse_is_member(const struct fuse_group *group, uint32_t node); /* fuse_exact.c */

/* `local`: scratch by node of the graph, all GRAPH_NONE between uses. */
struct fuse_scratch {
    struct arena *arena;
    uint32_t *local;
    /* By node: */
    bool *stateful; /* compose_has_state */
    bool *serial;   /* stateful, or in a group whose state holds packets at rest */
    /* By buffer: */
    bool *kept;        /* closes a cycle that is one node, and stays a buffer, */
    uint64_t *at_once; /* whose initial packets admit so many iterations at least */
};

/* Fills the firings: the smallest whole numbers that balance.  A writer of bounded rate counts as if each firing wrote
 * the maximum.  False: there are no such numbers, or their sum exceeds FUSE_FIRINGS_MAX. */
bool fuse_firings(struct arena *arena, const struct graph *graph, struct fuse_group *group);

/* Fills `ordered` with steps of one iteration, from the packets that are at rest between iterations.
 * False: there is no such order of at most FUSE_FIRINGS_MAX steps. */
bool fuse_order(const struct fuse_scratch *scratch, const struct graph *graph,
                const struct fuse_group *group, struct compose_group *ordered);

/* Is the buffer read only by members? */
bool fuse_is_inside(const struct composite *composite, uint32_t buffer);

/* NULL if the group writes nothing outside before the packets of a whole iteration have arrived; else an outside
 * buffer of which fewer packets suffice.
 *
 * Let N(k) be the packets of an outside buffer that firing k of a member depends on, if all other buffers have
 * enough.  Rates are periodic: N(k + q) = N(k) + C for k >= 1 (token_game.h), where C is the consumption of an
 * iteration.  The composite executes its first iteration with P packets, its window.  So the check suffices that
 * no member that writes outside can fire at all with P - 1 packets. */
const struct graph_buffer *fuse_partial(const struct fuse_scratch *scratch,
                                        const struct graph *graph, const struct fuse_group *group,
                                        const struct composite *composite);

/* `part`: by place in the group, some members.  Do their firings fill the lanes of vectors on the host's cores by
 * themselves, but not as a part of the group?  An estimate. */
bool fuse_loses_lanes(const struct fuse_scratch *scratch, const struct graph *graph,
                      const struct devdesc *device, const struct fuse_group *group,
                      const bool *part);

/* ---- cycles (fuse_cycle.c) ---- */

#define FUSE_CYCLE_WAYS 8

/* A way to treat a cycle: its nodes stay apart, or become one node.  Then buffers with at least `kept_least` initial
 * packets are kept, and the initial packets of the others become state. */
struct fuse_cycle_way {
    uint64_t kept_least; /* UINT64_MAX: none */
    uint64_t at_once;    /* iterations in a dispatch that the cycle admits */
    uint64_t time;       /* of an iteration; an estimate */
    bool apart, serial;
};

/* Fills at most FUSE_CYCLE_WAYS ways, the fastest first.  Returns their number.  Requires the group's firings. */
uint32_t fuse_cycle_ways(const struct fuse_scratch *scratch, const struct graph *graph,
                         const struct devdesc *device, const struct fuse_group *group,
                         struct fuse_cycle_way *ways);

/* Sets scratch->kept for the cycle's buffers: those with at least `kept_least` initial packets. */
void fuse_keep(const struct fuse_scratch *scratch, const struct graph *graph,
               const struct fuse_group *group, uint64_t kept_least);

/* The firings of a node that reads and writes the buffer that can be dispatched together: as many as its initial
 * packets, and its depth if declared, admit. */
uint64_t fuse_at_once(const struct graph_buffer *buffer, uint64_t pop, uint64_t peek);

/* Does the composite write as many packets to each kept buffer as it reads, and do these buffers admit at least one
 * iteration, and as many together as scratch->at_once? */
bool fuse_goes_round(const struct fuse_scratch *scratch, const struct graph *graph,
                     const struct composite *composite);

/* "fir+gain", "eq[0..9]+mix" (fuse_name.c): shorter than a line. */
const char *fuse_name(struct arena *arena, const struct graph *graph,
                      const struct fuse_group *group);

/* Fills fusion->graph, `composite_nodes`, `buffers` and `node` of each place, from the composites and `composite` of
 * each place.  Then analyses the graph.  False: an analysis refuses it; do not use it. */
bool fuse_build(struct compile *cx, struct fusion *fusion, fuse_prover *prove);

#endif
