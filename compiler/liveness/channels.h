/* SPDX-License-Identifier: MIT */
/*
 * channels: the graph as the liveness analyses see it.
 *
 * A *channel* is one writer and one reader of a buffer.  The analyses add sources, numbered after the
 * nodes of the graph:
 *   - for an outer in-port with several readers: the outside writes it packet by packet;
 *   - for a buffer with a bounded rate (graph_is_bounded): its writer is cut off (bounded.c);
 *   - for a bundle, the outputs that are written in step (bundles.h): one source, which writes one share
 *     to each of their buffers at a time.
 *
 * Channels are cut into *blocks*, the biconnected components of the undirected graph of channels.  A
 * cycle of nodes that wait for each other is a simple cycle, so it lies within one block.  Therefore a
 * graph is live if and only if each of its blocks is live.  Each block may be examined by itself, with
 * the smallest repetition counts of its own nodes.
 *
 * (Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972; both walks are
 * iterative.)
 */
#ifndef PIPEC_CHANNELS_H
#define PIPEC_CHANNELS_H

#include "compiler/ir/ratio.h"
#include "compiler/ir/graph.h"

struct channel {
    uint32_t from, to; /* nodes; `from` may be an added source */
    uint32_t buffer, reader;
    /* Of a cycle of phases; peek: the maximum of a phase. */
    uint64_t push, pop, peek;
    uint32_t from_phases, to_phases;
    /* Of an end with several phases, else NULL: sums[k] is the number that the first k phases
     * push (pop), for k = 0..phases; each phase's window. */
    const uint64_t *push_sums, *pop_sums, *peeks;
    /* Packets of depth that no firing can count on.  That is the history of a window.  Where an
     * added source stands for a bounded writer, it is also the maximum that one firing of the
     * writer appends, less the packets that the source writes at a time. */
    uint64_t reserve;
    uint64_t ending; /* part of `reserve`: kept free for a `finish` (channels_reserve_end) */
    bool bounded;    /* CHANNELS_EVERY: from the writer to the added source */
    uint32_t block;  /* GRAPH_NONE: outside of every requested block */
};

struct channel_block {
    uint32_t *channels; /* in ascending order */
    uint32_t count;
};

struct channels {
    const struct graph *graph;
    struct channel *items;
    uint32_t count;
    uint32_t node_count;          /* including added sources */
    uint64_t *source_repetitions; /* of the added sources */
    uint32_t *local;              /* scratch by node, all zero between uses */
    struct channel_block *blocks;
    uint32_t block_count;
};

enum channels_which {
    /* Inner buffers that are written at exact rates. */
    CHANNELS_INNER,
    /* Also the channels from an added source to several readers: outer in-ports, bounded rates,
     * bundles. */
    CHANNELS_OUTER,
    /* Also bounded rates with one reader, and the channel from each bounded writer to its added
     * source (its buffer is the first of a bundle). */
    CHANNELS_EVERY,
};

/* Collects the channels.  Buffers that are never written (all rates zero) have none.  Requires
 * repetitions. */
struct channels channels_collect(struct arena *arena, const struct graph *graph,
                                 enum channels_which which);
/* Fills `block` and the blocks.  With `component`, only channels within one component take part. */
void channels_cut(struct arena *arena, struct channels *channels, const uint32_t *component);
/* Fills the strongly connected component of each node of the channels' graph; returns their
 * number. */
uint32_t channels_strong(struct arena *arena, const struct channels *channels, uint32_t *component);
/* The channels within each component. */
struct channel_block *channels_inside(struct arena *arena, const struct channels *channels,
                                      const uint32_t *component, uint32_t count);
/* Keeps the packets of a `finish` free in the buffers of blocks with several channels
 * (bufsize.c, "Finish").  Requires the blocks. */
void channels_reserve_end(struct channels *channels);
uint64_t channels_repetitions(const struct channels *channels, uint32_t node);
/* The sum of `count` firings of an end from phase `phase` on: `cycle` in a cycle of `phases`,
 * and sums[k] in its first k phases.  Without sums each phase is one cycle. */
uint128 channels_sum(const uint64_t *sums, uint64_t cycle, uint32_t phases, uint32_t phase,
                     uint64_t count);
/* The minimum number of firings from phase `phase` on that add up to `packets`; 0 for none. */
uint128 channels_firings(const uint64_t *sums, uint64_t cycle, uint32_t phases, uint32_t phase,
                         uint128 packets);
static inline bool channel_has_phases(const struct channel *channel)
{
    return channel->push_sums || channel->pop_sums || channel->peeks;
}

#endif
