/* SPDX-License-Identifier: MIT */
#include "tests/reference/oracle_draw.h"

#include <stdlib.h>
#include <string.h>

unsigned oracle_environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

unsigned oracle_own_seed(unsigned seed, unsigned i)
{
    return seed + i * 2654435761u;
}

unsigned oracle_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static bool chance(unsigned *seed, int percent)
{
    return oracle_random(seed, 100) < (unsigned)percent;
}

static long pick(unsigned *seed, long least, long most)
{
    return least + (long)oracle_random(seed, (unsigned)(most - least + 1));
}

/* ---- drawing ---- */

static void draw_nodes(struct oracle_graph *graph, const struct oracle_taste *taste, long *cycles,
                       unsigned *seed)
{
    static const long CYCLES[] = {1, 1, 1, 2, 2, 3, 4, 6};
    graph->node_count = (int)pick(seed, 2, taste->nodes);
    for (int n = 0; n < graph->node_count; n++) {
        cycles[n] = CYCLES[oracle_random(seed, 8)];
        graph->nodes[n] = (struct oracle_node){
            .phases = chance(seed, taste->phases) ? (int)pick(seed, 2, 4) : 1,
            .cost = pick(seed, 1, taste->largest_cost),
            .stateful = chance(seed, taste->stateful),
        };
    }
}

/* Cuts a sum into one number for each phase. */
static void deal(long sum, int phases, long *each, unsigned *seed)
{
    for (int p = 0; p < phases; p++)
        each[p] = 0;
    if (sum % phases == 0 && chance(seed, 30))
        for (int p = 0; p < phases; p++)
            each[p] = sum / phases;
    else
        for (long k = 0; k < sum; k++)
            each[oracle_random(seed, (unsigned)phases)]++;
}

static void draw_reader(struct oracle_graph *graph, const struct oracle_taste *taste, int buffer,
                        int node, long pops, unsigned *seed)
{
    struct oracle_buffer *into = &graph->buffers[buffer];
    struct oracle_reader *reader = &into->readers[into->reader_count++];
    int phases = graph->nodes[node].phases;
    reader->node = node;
    deal(pops, phases, reader->pop, seed);
    for (int p = 0; p < phases; p++)
        reader->peek[p] = reader->pop[p] + (chance(seed, taste->window) ? pick(seed, 0, 4) : 0);
    if (phases == 1 && pops == 1 && chance(seed, taste->keep)) reader->keep = pick(seed, 1, 3);
}

static long multiple_of(const long *cycles, const int *nodes, int count)
{
    for (long m = 1;; m++) {
        bool fits = true;
        for (int i = 0; i < count; i++)
            fits = fits && m % cycles[nodes[i]] == 0;
        if (fits) return m;
    }
}

/* The outside writes packet by packet: as many cycles an iteration as packets. */
static int add_outside(struct oracle_graph *graph, long *cycles, long packets)
{
    graph->nodes[graph->node_count] =
        (struct oracle_node){.phases = 1, .stateful = true, .outside = true};
    cycles[graph->node_count] = packets;
    return graph->node_count++;
}

static void draw_buffer(struct oracle_graph *graph, const struct oracle_taste *taste, int from,
                        int to, int inner, long *cycles, unsigned *seed)
{
    int ends[3] = {from, to, (int)oracle_random(seed, (unsigned)inner)}, count = 2;
    if (chance(seed, taste->second) && (taste->backward || ends[2] > from)) count = 3;
    bool outside = count == 3 && ends[1] != ends[2] && graph->node_count < ORACLE_NODES &&
                   chance(seed, taste->outside);
    long packets = multiple_of(cycles, ends, count);
    if (chance(seed, 30)) packets *= 2;
    int b = graph->buffer_count++;
    struct oracle_buffer *buffer = &graph->buffers[b];
    *buffer = (struct oracle_buffer){.width = 1L << oracle_random(seed, 4)};
    buffer->writer = outside ? add_outside(graph, cycles, packets) : from;
    deal(packets / cycles[buffer->writer], graph->nodes[buffer->writer].phases, buffer->push, seed);
    for (int r = 1; r < count; r++)
        draw_reader(graph, taste, b, ends[r], packets / cycles[ends[r]], seed);
    if (outside) return;
    long enough = from >= to ? 2 * packets : 3;
    if (chance(seed, from >= to ? 85 : 20)) buffer->initial = pick(seed, 0, enough);
}

void oracle_draw(struct oracle_graph *graph, const struct oracle_taste *taste, unsigned *seed)
{
    long cycles[ORACLE_NODES];
    memset(graph, 0, sizeof *graph);
    draw_nodes(graph, taste, cycles, seed);
    const int inner = graph->node_count;
    for (int n = 1; n < inner; n++) {
        int other = (int)oracle_random(seed, (unsigned)n);
        if (chance(seed, taste->apart)) continue;
        bool back = chance(seed, taste->backward);
        draw_buffer(graph, taste, back ? n : other, back ? other : n, inner, cycles, seed);
    }
    for (long extra = pick(seed, 0, taste->extra); extra > 0; extra--) {
        int a = (int)oracle_random(seed, (unsigned)inner),
            b = (int)oracle_random(seed, (unsigned)inner);
        bool back = chance(seed, taste->backward);
        if (a == b && !taste->backward) continue;
        if ((a < b) == back)
            draw_buffer(graph, taste, b, a, inner, cycles, seed);
        else
            draw_buffer(graph, taste, a, b, inner, cycles, seed);
    }
    if (graph->buffer_count && chance(seed, taste->unbalanced)) {
        struct oracle_buffer *buffer =
            &graph->buffers[oracle_random(seed, (unsigned)graph->buffer_count)];
        if (!graph->nodes[buffer->writer].outside) buffer->push[0]++;
    }
}

/* ---- shrinking ---- */

static void remove_buffer(struct oracle_graph *graph, int b)
{
    for (graph->buffer_count--; b < graph->buffer_count; b++)
        graph->buffers[b] = graph->buffers[b + 1];
}

static void remove_node(struct oracle_graph *graph, int node)
{
    for (int b = graph->buffer_count; b-- > 0;) {
        bool touched = graph->buffers[b].writer == node;
        for (int r = 0; r < graph->buffers[b].reader_count; r++)
            touched |= graph->buffers[b].readers[r].node == node;
        if (touched) remove_buffer(graph, b);
    }
    for (int b = 0; b < graph->buffer_count; b++) {
        graph->buffers[b].writer -= graph->buffers[b].writer > node;
        for (int r = 0; r < graph->buffers[b].reader_count; r++)
            graph->buffers[b].readers[r].node -= graph->buffers[b].readers[r].node > node;
    }
    for (graph->node_count--; node < graph->node_count; node++)
        graph->nodes[node] = graph->nodes[node + 1];
}

static void plain_windows(struct oracle_buffer *buffer)
{
    for (int r = 0; r < buffer->reader_count; r++) {
        memcpy(buffer->readers[r].peek, buffer->readers[r].pop, sizeof buffer->readers[r].peek);
        buffer->readers[r].keep = 0;
    }
}

static void simplify_buffer(struct oracle_buffer *buffer, int how)
{
    switch (how) {
    case 0: plain_windows(buffer); break;
    case 1: buffer->initial = 0; break;
    case 2: buffer->initial -= buffer->initial > 0; break;
    case 3: buffer->width = 1; break;
    case 4:
        buffer->depth = 0;
        buffer->declared = false;
        break;
    case 5: buffer->reader_count -= buffer->reader_count > 1; break;
    default: break;
    }
}

static void simplify_node(struct oracle_node *node, int how)
{
    if (how == 0 && !node->outside) node->cost = 1;
    if (how == 1) node->stateful = false;
    if (how == 2) node->stateful = true;
}

typedef bool (*failing)(const struct oracle_graph *graph, void *context);

static bool keep_if(struct oracle_graph *graph, const struct oracle_graph *tried, failing fails,
                    void *context)
{
    /* Padding that differs only costs another try. */
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    if (memcmp(graph, tried, sizeof *graph) == 0 || !fails(tried, context)) return false;
    *graph = *tried;
    return true;
}

/* The i-th way to make a graph smaller; false after the last. */
static bool reduce(const struct oracle_graph *graph, struct oracle_graph *tried, int i)
{
    *tried = *graph;
    int ways = 0;
    if (i < graph->node_count) {
        if (graph->node_count > 1) remove_node(tried, i);
        return true;
    }
    ways = graph->node_count;
    if (i < ways + graph->buffer_count) {
        remove_buffer(tried, i - ways);
        return true;
    }
    ways += graph->buffer_count;
    if (i < ways + 6 * graph->buffer_count) {
        simplify_buffer(&tried->buffers[(i - ways) / 6], (i - ways) % 6);
        return true;
    }
    ways += 6 * graph->buffer_count;
    if (i < ways + 3 * graph->node_count) {
        simplify_node(&tried->nodes[(i - ways) / 3], (i - ways) % 3);
        return true;
    }
    return false;
}

void oracle_shrink(struct oracle_graph *graph, failing fails, void *context)
{
    for (int rounds = 0; rounds < 20; rounds++) {
        struct oracle_graph tried;
        bool smaller = false;
        for (int i = 0; reduce(graph, &tried, i); i++)
            smaller |= keep_if(graph, &tried, fails, context);
        if (!smaller) return;
    }
}

/* ---- as a program ---- */

static const char *type_of(const struct oracle_buffer *buffer)
{
    return buffer->width == 1   ? "u8"
           : buffer->width == 2 ? "u16"
           : buffer->width == 4 ? "u32"
                                : "u64";
}

static void print_rate(FILE *to, const char *word, const long *each, int phases)
{
    fprintf(to, " %s ", word);
    if (phases == 1) {
        fprintf(to, "%ld", each[0]);
        return;
    }
    for (int p = 0; p < phases; p++)
        fprintf(to, "%s%ld", p ? ", " : "{", each[p]);
    fprintf(to, "}");
}

static bool has_outputs(const struct oracle_graph *graph, int node)
{
    for (int b = 0; b < graph->buffer_count; b++)
        if (graph->buffers[b].writer == node) return true;
    return false;
}

static void print_ports(FILE *to, const struct oracle_graph *graph, int node)
{
    const char *comma = "";
    int phases = graph->nodes[node].phases;
    for (int b = 0; b < graph->buffer_count; b++)
        for (int r = 0; r < graph->buffers[b].reader_count; r++) {
            const struct oracle_reader *reader = &graph->buffers[b].readers[r];
            if (reader->node != node) continue;
            fprintf(to, "%sin %s x%d_%d", comma, type_of(&graph->buffers[b]), b, r);
            print_rate(to, "pop", reader->pop, phases);
            print_rate(to, "peek", reader->peek, phases);
            comma = ", ";
        }
    for (int b = 0; b < graph->buffer_count; b++) {
        if (graph->buffers[b].writer != node) continue;
        fprintf(to, "%sout %s y%d", comma, type_of(&graph->buffers[b]), b);
        print_rate(to, "push", graph->buffers[b].push, phases);
        comma = ", ";
    }
    if (!has_outputs(graph, node)) fprintf(to, "%sout u64 y", comma);
}

static void print_firing(FILE *to, const struct oracle_graph *graph, int node, int phase)
{
    for (int b = 0; b < graph->buffer_count; b++)
        for (int r = 0; r < graph->buffers[b].reader_count; r++) {
            const struct oracle_reader *reader = &graph->buffers[b].readers[r];
            if (reader->node == node && reader->peek[phase] > 0)
                fprintf(to, " for (i32 i = 0; i < %ld; i++) seen = seen * 31 + (u64)x%d_%d[i];",
                        reader->peek[phase], b, r);
        }
    for (int b = 0; b < graph->buffer_count; b++) {
        const struct oracle_buffer *buffer = &graph->buffers[b];
        if (buffer->writer == node && buffer->push[phase] > 0)
            fprintf(to, " for (i32 i = 0; i < %ld; i++) y%d <- (%s)(seen * 7 + (u64)i);",
                    buffer->push[phase], b, type_of(buffer));
    }
}

static void print_kernel(FILE *to, const struct oracle_graph *graph, int node)
{
    int phases = graph->nodes[node].phases;
    fprintf(to, "kernel k%d(", node);
    print_ports(to, graph, node);
    fprintf(to, ") {\n");
    if (graph->nodes[node].stateful) fprintf(to, "    state u64 count;\n");
    fprintf(to, "    u64 seen = 17;\n");
    if (graph->nodes[node].stateful) fprintf(to, "    seen += count++;\n");
    for (int p = 0; p < phases; p++) {
        if (phases > 1)
            fprintf(to, "    if (phase == %d) {", p);
        else
            fprintf(to, "   ");
        print_firing(to, graph, node, p);
        fprintf(to, phases > 1 ? " }\n" : "\n");
    }
    if (!has_outputs(graph, node)) fprintf(to, "    y <- seen;\n");
    fprintf(to, "}\n");
}

static void print_instance(FILE *to, const struct oracle_graph *graph, int node)
{
    const char *comma = "";
    fprintf(to, "    n%d: k%d(", node, node);
    for (int b = 0; b < graph->buffer_count; b++)
        for (int r = 0; r < graph->buffers[b].reader_count; r++)
            if (graph->buffers[b].readers[r].node == node) {
                fprintf(to, "%sb%d", comma, b);
                comma = ", ";
            }
    fprintf(to, " -> ");
    comma = "";
    for (int b = 0; b < graph->buffer_count; b++)
        if (graph->buffers[b].writer == node) {
            fprintf(to, "%sb%d", comma, b);
            comma = ", ";
        }
    if (!has_outputs(graph, node)) fprintf(to, "o%d", node);
    fprintf(to, ") cost %ld;\n", graph->nodes[node].cost);
}

static void print_header(FILE *to, const struct oracle_graph *graph)
{
    const char *comma = "";
    fprintf(to, "pipeline main(");
    for (int b = 0; b < graph->buffer_count; b++)
        if (graph->nodes[graph->buffers[b].writer].outside) {
            fprintf(to, "%sin %s b%d", comma, type_of(&graph->buffers[b]), b);
            comma = ", ";
        }
    for (int n = 0; n < graph->node_count; n++)
        if (!has_outputs(graph, n)) {
            fprintf(to, "%sout u64 o%d", comma, n);
            comma = ", ";
        }
    for (int b = 0; b < graph->buffer_count; b++)
        if (graph->buffers[b].reader_count == 0) {
            fprintf(to, "%sout %s b%d", comma, type_of(&graph->buffers[b]), b);
            comma = ", ";
        }
    fprintf(to, ") {\n");
}

void oracle_print(FILE *to, const struct oracle_graph *graph)
{
    for (int n = 0; n < graph->node_count; n++)
        if (!graph->nodes[n].outside) print_kernel(to, graph, n);
    print_header(to, graph);
    for (int b = 0; b < graph->buffer_count; b++) {
        const struct oracle_buffer *buffer = &graph->buffers[b];
        if (graph->nodes[buffer->writer].outside || buffer->reader_count == 0) continue;
        fprintf(to, "    buffer %s b%d", type_of(buffer), b);
        if (buffer->declared) fprintf(to, " depth %ld", buffer->depth);
        if (buffer->initial) fprintf(to, " init %ld x 0", buffer->initial);
        fprintf(to, ";");
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->readers[r].keep) fprintf(to, " // keeps %ld", buffer->readers[r].keep);
        fprintf(to, "\n");
    }
    for (int n = 0; n < graph->node_count; n++)
        if (!graph->nodes[n].outside) print_instance(to, graph, n);
    fprintf(to, "}\n");
}
