/*
 * draw_program SEED: a random program that ends with its input, runs for ever without deadlock, and
 * writes what its firings see; for drawn_programs.sh.
 */
#include "tests/reference/oracle_draw.h"

#include <stdlib.h>

static bool reads(const struct oracle_graph *graph, int node, int buffer)
{
    for (int r = 0; r < graph->buffers[buffer].reader_count; r++)
        if (graph->buffers[buffer].readers[r].node == node) return true;
    return false;
}

/* Sources end, and who reads from somebody that ends does.  A loop that nothing drives does not. */
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

int main(int argc, char **argv)
{
    static const struct oracle_taste TASTE = {.nodes = 7,
                                              .extra = 4,
                                              .backward = 20,
                                              .phases = 35,
                                              .window = 25,
                                              .second = 20,
                                              .outside = 50,
                                              .largest_cost = 6,
                                              .stateful = 40};
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    for (;;) {
        struct oracle_graph graph;
        long repetitions[ORACLE_NODES];
        oracle_draw(&graph, &TASTE, &seed);
        if (!ends(&graph) || !shows(&graph) || !oracle_repetitions(&graph, 100000, repetitions) ||
            oracle_verdict(&graph, repetitions, 0) != ORACLE_LIVE)
            continue;
        oracle_print(stdout, &graph);
        return 0;
    }
}
