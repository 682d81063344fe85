/* SPDX-License-Identifier: MIT */
/*
 * channels: the graph as the liveness analyses see it.
 *
 * A *channel* is one writer and one reader of a buffer.  Sources that the analyses add are numbered
 * after the nodes of the graph: an outer in-port with several readers is written, packet by packet,
 * by somebody outside; so is a buffer that is written at a bounded rate (graph_is_bounded), whose
 * writer is cut off (bounded.c).  Outputs that are written in step (bundles.h) have one added
 * source, which writes one share to each of their buffers at a time.
 *
 * Channels are cut into *blocks*, the biconnected components of the undirected graph of channels: a
 * circle of nodes that wait for each other is a simple circuit, and so lies within one block.
 * Therefore a graph is live if and only if each of its blocks is, and each may be examined alone,
 * with the least repetition counts of its own nodes. (Tarjan, "Depth-first search and linear graph
 * algorithms", SIAM J. Comput. 1(2), 1972; both walks are iterative.)
 */
#ifndef PIPEC_CHANNELS_H
#define PIPEC_CHANNELS_H

#include "compiler/ir/ratio.h"
#include "compiler/ir/graph.h"

struct channel {
    uint32_t from, to; /* nodes; `from` may be an added source */
    uint32_t buffer, reader;
    /* Of a cycle of phases; peek: the most of a phase. */
    uint64_t push, pop, peek;
    uint32_t from_phases, to_phases;
    /* Of an end with several phases, else NULL: sums[k] is what the first k phases push (pop), for
     * k = 0..phases; each phase's window. */
    const uint64_t *push_sums, *pop_sums, *peeks;
    /* Packets of depth that no firing can count on: the history of a window; and where an added
     * source stands for a bounded writer, what one firing of that writes at most, less what the
     * source writes at a time. */
    uint64_t reserve;
    uint64_t ending; /* part of it: kept free for a `finish` (channels_reserve_end) */
    bool bounded;    /* CHANNELS_EVERY: from the writer to the added source */
    uint32_t block;  /* GRAPH_NONE: outside of every block asked for */
};

struct channel_block {
    uint32_t *channels; /* in ascending order */
    uint32_t count;
};

struct channels {
    const struct graph *graph;
    struct channel *items;
    uint32_t count;
    uint32_t node_count;          /* with added sources */
    uint64_t *source_repetitions; /* of the added sources */
    uint32_t *local;              /* scratch by node, all zero between uses */
    struct channel_block *blocks;
    uint32_t block_count;
};

enum channels_which {
    /* The inner buffers, written at exact rates. */
    CHANNELS_INNER,
    /* And what several readers have of an added source: outer in-ports, bounded rates, bundles. */
    CHANNELS_OUTER,
    /* And bounded rates with one reader, and the channel from each bounded writer to its added
     * source (its buffer is the first of a bundle). */
    CHANNELS_EVERY,
};

/* Buffers that are never written (all rates zero) have none.  Requires repetitions. */
struct channels channels_collect(struct arena *arena, const struct graph *graph,
                                 enum channels_which which);
/* Fills `block` and the blocks.  With `component`, only channels inside of one take part. */
void channels_cut(struct arena *arena, struct channels *channels, const uint32_t *component);
/* Strongly connected component of each node of the channels' graph; returns how many. */
uint32_t channels_strong(struct arena *arena, const struct channels *channels, uint32_t *component);
/* For each component the channels inside of it. */
struct channel_block *channels_inside(struct arena *arena, const struct channels *channels,
                                      const uint32_t *component, uint32_t count);
/* Keeps the packets of a `finish` free in the buffers of blocks with several channels (bufsize.c,
 * "Finish").  Requires the blocks. */
void channels_reserve_end(struct channels *channels);
uint64_t channels_repetitions(const struct channels *channels, uint32_t node);
/* What `count` firings of an end from phase `phase` on add up to: `cycle` in a cycle of `phases`, and sums[k] in its first
 * k; without sums each phase is one cycle. */
uint128 channels_sum(const uint64_t *sums, uint64_t cycle, uint32_t phases, uint32_t phase,
                     uint64_t count);
/* The least number of firings from phase 0 on that add up to `packets`; 1 or more. */
uint128 channels_firings(const uint64_t *sums, uint64_t cycle, uint32_t phases, uint128 packets);
static inline bool channel_has_phases(const struct channel *channel)
{
    return channel->push_sums || channel->pop_sums || channel->peeks;
}

#endif
