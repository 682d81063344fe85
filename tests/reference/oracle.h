/* SPDX-License-Identifier: MIT */
/*
 * oracle: what a stream graph does, by doing it.
 *
 * An independent judge of small graphs for the tests of the analyses: plain integers, one firing at
 * a time, no theory.  It includes nothing of the compiler or the runtime and is meant to be read in
 * one sitting.
 *
 * The model (lang/reference.md, "Ports and rates", "Buffers", "What is proven"):
 *  - Firing k of a node with P phases does what phase k modulo P says.  It starts when each of its
 *    inputs holds `peek` packets and each of its outputs has room for `push`; the room is claimed
 *    then.  It ends `cost` cycles later: its `pop` packets of each input are freed and its `push`
 *    packets are there.  A stateful node does not overlap with itself; others may.
 *  - A buffer with several readers holds what the slowest has not freed.  A reader may keep `keep`
 *    packets before the one that it consumes next (the history of a 2-D window).
 *  - Depth 0: unbounded.  A buffer without readers is an out-port of the pipeline.  An in-port that
 *    several nodes read has an `outside` node as its writer, of cost 0; an in-port with one reader
 *    delays no node, and is left out.
 *
 * An *iteration* is the smallest number of firings of all nodes that leaves every level as it was.
 *
 * Finite.  No node runs more than `ahead` iterations ahead of the slowest, so that there are
 * finitely many states (levels, phases, firings under way, leads), and an execution either stops or
 * comes back to a state.  Coming back after at least one whole iteration, it goes round for ever,
 * and every node with it; that is what "live" means here, and what the pace is measured over.  An
 * execution that stops is dead, if `ahead` was large enough: no node may need a lead that large to
 * let the slowest go on.  Windows and initial packets of the graphs that are judged here are worth
 * a few iterations.
 */
#ifndef TESTS_REFERENCE_ORACLE_H
#define TESTS_REFERENCE_ORACLE_H

#include <stdbool.h>

enum {
    ORACLE_NODES = 32,
    ORACLE_BUFFERS = 48,
    ORACLE_READERS = 3,
    ORACLE_PHASES = 8,
    ORACLE_FLIGHTS = 16,
    ORACLE_AHEAD = 64,
};

struct oracle_node {
    int phases; /* 1.. */
    long cost;  /* 1..; of the outside 0 */
    bool stateful;
    bool outside;
};

struct oracle_reader {
    int node;
    long pop[ORACLE_PHASES], peek[ORACLE_PHASES];
    long keep;
};

struct oracle_buffer {
    int writer;
    long push[ORACLE_PHASES];
    int reader_count;
    struct oracle_reader readers[ORACLE_READERS];
    long initial, depth; /* depth 0: unbounded */
    bool declared;       /* the depth is the author's */
    long width;          /* bytes of a packet, for sums of memory */
};

struct oracle_graph {
    int node_count, buffer_count;
    struct oracle_node nodes[ORACLE_NODES];
    struct oracle_buffer buffers[ORACLE_BUFFERS];
};

/* ---- rates ---- */

/* Least positive firings of each node (whole cycles of phases) that leave every level as it was.
 * False: there are none with at most `most` cycles of phases of a node. */
bool oracle_repetitions(const struct oracle_graph *graph, long most, long *repetitions);

/* ---- without time ---- */

enum oracle_verdict { ORACLE_DEAD, ORACLE_LIVE, ORACLE_UNKNOWN };

/* `order` 0: always the node that lags most; else a seed for a random order. */
enum oracle_verdict oracle_verdict(const struct oracle_graph *graph, const long *repetitions,
                                   unsigned order);
/* Where an execution stops: firings of each node until then. */
enum oracle_verdict oracle_stop(const struct oracle_graph *graph, const long *repetitions,
                                long *firings);

/* ---- with time: everything starts as soon as it can ---- */

struct oracle_pace {
    enum oracle_verdict verdict; /* UNKNOWN: too many firings of one node under way at once */
    long iterations, cycles;     /* LIVE: in the long run, in lowest terms */
};

struct oracle_pace oracle_pace(const struct oracle_graph *graph, const long *repetitions,
                               int ahead);
/* Cycles until the first packet that is written to the buffer is there; -1: never. */
long oracle_first_packet(const struct oracle_graph *graph, const long *repetitions, int buffer,
                         int ahead);
/* Cycles until the first firing of the node has ended; -1: never. */
long oracle_first_end(const struct oracle_graph *graph, const long *repetitions, int node,
                      int ahead);

/* ---- by trying everything ---- */

/* Least sum of depth x width over the buffers that have readers and no declared depth, each depth
 * in 1..most, for which the graph is live; -1: there is none.  Fills the depths found. */
long oracle_least_memory(const struct oracle_graph *graph, const long *repetitions, long most,
                         long *depths);

#endif
