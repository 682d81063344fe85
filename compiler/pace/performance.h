/* SPDX-License-Identifier: MIT */
/*
 * performance: how fast a pipeline runs in the long run, and how soon it has a first result.
 *
 * Requires  rates, costs, initial packets; with `depths` also the depths.  Repetitions are found again
 *           where something is not exact, or where `graph` comes from an untrusted file.
 *
 * The model of time is that of throughput.h and latency.h.  The pipeline's ports hold and accept any
 * number of packets, and there are always enough compute units.
 *
 * Islands.  Where a rate has a minimum and a maximum, each firing counts as if it wrote the maximum.  So
 * the islands that exact rates connect become one *part* with the others that they write to or read
 * from.  The figure counts iterations of the island of the part's first node.  Data with fewer packets
 * can be faster or slower, so nothing is called exact then.  A pipeline may have several parts, which
 * nothing connects: its figure is that of the part with the fewest iterations per clock cycle.
 *
 * Method.  Each part is one net (throughput.h), and the slowest decides.  Each part has half of the
 * steps that are left, so that a hard one leaves some for the parts after it.
 */
#ifndef PIPEC_PERFORMANCE_H
#define PIPEC_PERFORMANCE_H

#include "compiler/pace/latency.h"
#include "compiler/pace/throughput.h"

struct pace_hop { /* of a critical cycle */
    uint32_t node;
    uint32_t buffer; /* that leads to the next hop's node; GRAPH_NONE: only the node's state */
    bool room;       /* the node reads it, the next one writes it and waits for room */
};

struct pace {
    enum throughput_kind kind;
    uint64_t iterations, cycles; /* RATIO, in lowest terms */
    bool exact;                  /* else a lower bound, or with the maximum of bounded rates */
    struct pace_hop *hops;       /* RATIO, STUCK: in order; of `arena` */
    uint32_t hop_count;
};

struct performance {
    struct pace unlimited; /* with buffers without limit */
    struct pace at_depths;
    struct latency latency; /* at the depths */
    bool latency_exact;
};

/* Without `depths`, at_depths and latency are not known.  Nor is the latency of a pipeline that
 * stops forever. */
struct performance performance_measure(struct arena *arena, const struct graph *graph, bool depths);

#endif
