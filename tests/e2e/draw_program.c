/* SPDX-License-Identifier: MIT */
/*
 * draw_program SEED [apart]: a random program that ends with its input, runs for ever without
 * deadlock, and writes what its firings see; for drawn_programs.sh.
 *
 * With `apart`, for the benchmark auto.py: every second program is a wide one, with more nodes, fewer
 * cycles and less state, and costs differ by up to some hundred times: light and
 * heavy kernels decide about layouts.
 */
#include "tests/reference/oracle_draw.h"

#include <stdlib.h>

static bool reads(const struct oracle_graph *graph, int node, int buffer)
{
    for (int r = 0; r < graph->buffers[buffer].reader_count; r++)
        if (graph->buffers[buffer].readers[r].node == node) return true;
    return false;
}

/* Sources end, and so does a reader of a node that ends.  A loop that nothing drives does not. */
static bool ends(const struct oracle_graph *graph)
{
    bool ended[ORACLE_NODES];
    for (int n = 0; n < graph->node_count; n++) {
        ended[n] = true;
        for (int b = 0; b < graph->buffer_count; b++)
            if (reads(graph, n, b)) ended[n] = false;
    }
    for (int round = 0; round < graph->node_count; round++)
        for (int b = 0; b < graph->buffer_count; b++)
            for (int n = 0; n < graph->node_count; n++)
                if (ended[graph->buffers[b].writer] && reads(graph, n, b)) ended[n] = true;
    for (int n = 0; n < graph->node_count; n++)
        if (!ended[n]) return false;
    return true;
}

/* Every node has a buffer, and some node writes an out-port: it has no other reader. */
static bool shows(const struct oracle_graph *graph)
{
    bool shown = false;
    for (int n = 0; n < graph->node_count; n++) {
        bool writes = false, bound = false;
        for (int b = 0; b < graph->buffer_count; b++) {
            writes |= graph->buffers[b].writer == n;
            bound |= graph->buffers[b].writer == n || reads(graph, n, b);
        }
        if (!bound) return false;
        shown |= !writes;
    }
    return shown;
}

/* Does every node serve an out-port?  Others are not executed, whatever a plan expects. */
static bool all_wanted(const struct oracle_graph *graph)
{
    bool wanted[ORACLE_NODES];
    for (int n = 0; n < graph->node_count; n++) {
        wanted[n] = true; /* it writes no buffer, so it writes an out-port */
        for (int b = 0; b < graph->buffer_count; b++)
            if (graph->buffers[b].writer == n) wanted[n] = false;
    }
    for (int round = 0; round < graph->node_count; round++)
        for (int b = 0; b < graph->buffer_count; b++)
            for (int r = 0; r < graph->buffers[b].reader_count; r++)
                if (wanted[graph->buffers[b].readers[r].node])
                    wanted[graph->buffers[b].writer] = true;
    for (int n = 0; n < graph->node_count; n++)
        if (!wanted[n]) return false;
    return true;
}

static void set_costs_apart(struct oracle_graph *graph, unsigned *seed)
{
    for (int n = 0; n < graph->node_count; n++)
        if (!graph->nodes[n].outside) graph->nodes[n].cost *= 1L << 2 * oracle_random(seed, 5);
}

static const struct oracle_taste SMALL = {.nodes = 7,
                                          .extra = 4,
                                          .backward = 20,
                                          .phases = 35,
                                          .window = 25,
                                          .second = 20,
                                          .outside = 50,
                                          .largest_cost = 6,
                                          .stateful = 40};

static const struct oracle_taste WIDE = {.nodes = 16,
                                         .extra = 3,
                                         .backward = 4,
                                         .phases = 15,
                                         .window = 30,
                                         .second = 15,
                                         .outside = 70,
                                         .largest_cost = 6,
                                         .stateful = 12};

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    bool apart = argc > 2;
    const struct oracle_taste *taste = apart && seed % 2 != 0 ? &WIDE : &SMALL;
    long most = apart ? 3000 : 100000; /* repetitions */
    for (;;) {
        struct oracle_graph graph;
        long repetitions[ORACLE_NODES];
        oracle_draw(&graph, taste, &seed);
        if (!ends(&graph) || !shows(&graph) || !oracle_repetitions(&graph, most, repetitions) ||
            oracle_verdict(&graph, repetitions, 0) != ORACLE_LIVE)
            continue;
        if (apart && !all_wanted(&graph)) continue;
        if (apart) set_costs_apart(&graph, &seed);
        oracle_print(stdout, &graph);
        return 0;
    }
}
