/* SPDX-License-Identifier: MIT */
/*
 * performance: how fast a pipeline runs for ever, and how soon it has a first result.
 *
 * Requires  rates, costs, initial packets; with `depths` these.  Repetitions are found again
 *           where something is not exact, or `graph` is of somebody who is not trusted.
 *
 * The model of time is that of throughput.h and latency.h.  The pipeline's ports hold and take any
 * number of packets; compute units are not counted.
 *
 * Islands.  Where a rate has a least and a most, each firing counts as if it wrote the most, so
 * that the islands that exact rates connect become one *part* with the others that they write to or
 * read from.  What is counted are the iterations of the island of the part's first node.  Data that
 * bring less can be faster or slower; nothing here is called exact then.  The figure of a pipeline
 * of several parts, which nothing connects, is that of the part with the fewest iterations a cycle.
 *
 * Method.  Each part is one net (throughput.h), and the slowest decides.  Each part has half of the
 * steps that are left, so that a hard one leaves some for those behind it.
 */
#ifndef PIPEC_PERFORMANCE_H
#define PIPEC_PERFORMANCE_H

#include "compiler/pace/latency.h"
#include "compiler/pace/throughput.h"

struct pace_hop { /* of a critical circuit */
    uint32_t node;
    uint32_t buffer; /* that leads to the next hop's node; GRAPH_NONE: the node's state alone */
    bool room;       /* the node reads it, the next one writes it and waits for room */
};

struct pace {
    enum throughput_kind kind;
    uint64_t iterations, cycles; /* RATIO, in lowest terms */
    bool exact;                  /* else a lower bound, or with the most of bounded rates */
    struct pace_hop *hops;       /* RATIO, STUCK: in order; of `arena` */
    uint32_t hop_count;
};

struct performance {
    struct pace unlimited; /* with buffers without limit */
    struct pace at_depths;
    struct latency latency; /* at the depths */
    bool latency_exact;
};

/* Without `depths`, at_depths and latency are not known; nor is the latency of what stops for
 * ever. */
struct performance performance_measure(struct arena *arena, const struct graph *graph, bool depths);

#endif
