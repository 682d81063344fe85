/* SPDX-License-Identifier: MIT */
/*
 * fuse_internal: what the files of the fuse pass share.
 */
#ifndef PIPEC_FUSE_INTERNAL_H
#define PIPEC_FUSE_INTERNAL_H

#include "compiler/optimize/fuse/fuse.h"

/* Nodes that are to be one, in ascending order, each with its firings in an iteration of all. */
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
    bool *serial;   /* stateful, or of a group that has packets at rest as its state */
    /* By buffer: */
    bool *kept;        /* closes a circle that is one node, and stays a buffer; */
    uint64_t *at_once; /* so many iterations, at least, from its initial packets */
};

/* Fills the firings: the least whole numbers that balance, over a buffer of bounded rate as if each
 * firing wrote its most.  False: there are none, or more than FUSE_FIRINGS_MAX. */
bool fuse_firings(struct arena *arena, const struct graph *graph, struct fuse_group *group);

/* An order in which the members can make an iteration, from the packets that are there between two.
 * False: there is none within FUSE_FIRINGS_MAX steps. */
bool fuse_order(const struct fuse_scratch *scratch, const struct graph *graph,
                const struct fuse_group *group, struct compose_group *ordered);

/* Does nobody but members read what is written there? */
bool fuse_is_inside(const struct composite *composite, uint32_t buffer);

/* NULL where nothing appears outside of the group before a whole iteration is there; else the outside
 * buffer of which a part is enough.
 *
 * Let N(k) be the packets of an outside buffer that firing k of a member depends on, all others being
 * there without end.  Rates are periodic: N(k + q) = N(k) + C for k >= 1 (token_game.h), C being what an
 * iteration consumes.  The composite makes its first iteration with P packets, its window.  So it is
 * enough that no member that writes outside can fire at all with P - 1. */
const struct graph_buffer *fuse_partial(const struct fuse_scratch *scratch,
                                        const struct graph *graph, const struct fuse_group *group,
                                        const struct composite *composite);

/* Do the firings of the members in `part` (by place in the group) fill the lanes of vectors by themselves on
 * the host's cores, and no longer as a part of the group?  An estimate. */
bool fuse_loses_lanes(const struct fuse_scratch *scratch, const struct graph *graph,
                      const struct devdesc *device, const struct fuse_group *group,
                      const bool *part);

/* ---- circles (fuse_cycle.c) ---- */

#define FUSE_CIRCLE_WAYS 8

/* Buffers of the circle with so many initial packets are kept, and the initial packets of others are state; or its
 * nodes stay apart. */
struct fuse_circle_way {
    uint64_t kept_least; /* UINT64_MAX: none */
    uint64_t at_once;    /* iterations in a dispatch, as far as the circle lets there be */
    uint64_t time;       /* an estimate */
    bool apart, serial;
};

/* Fills FUSE_CIRCLE_WAYS at most, the quickest first; returns how many.  Requires the group's firings. */
uint32_t fuse_circle_ways(const struct fuse_scratch *scratch, const struct graph *graph,
                          const struct devdesc *device, const struct fuse_group *group,
                          struct fuse_circle_way *ways);

/* Marks the circle's buffers. */
void fuse_keep(const struct fuse_scratch *scratch, const struct graph *graph,
               const struct fuse_group *group, uint64_t kept_least);

/* How many firings of a node that reads and writes the buffer its initial packets, and its depth if declared, let be
 * dispatched together. */
uint64_t fuse_at_once(const struct graph_buffer *buffer, uint64_t pop, uint64_t peek);

/* Do the kept buffers of the composite, each as often written as read, let it go round at all, and as many iterations
 * together as scratch->at_once says? */
bool fuse_goes_round(const struct fuse_scratch *scratch, const struct graph *graph,
                     const struct composite *composite);

/* "fir+gain", "eq[0..9]+mix" (fuse_name.c): no longer than a part of a line. */
const char *fuse_name(struct arena *arena, const struct graph *graph,
                      const struct fuse_group *group);

/* Fills fusion->graph, its nodes and buffers, from composites and places (`composite` of each);
 * analyses it.  False: an analysis refuses it; it is not to be used. */
bool fuse_build(struct compile *cx, struct fusion *fusion, fuse_prover *prove);

#endif
