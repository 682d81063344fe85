/* SPDX-License-Identifier: MIT */
/*
 * scale_gen: programs of any size, to measure and to test how pipec grows.
 *
 *   scale_gen SHAPE NODES [SEED]       a source on standard output
 *   scale_gen --list                   the shapes, one to a line
 *
 * The same arguments give the same bytes on every host.  Every program is consistent and free of
 * deadlock but those of `overflow`, whose repetition counts do not fit 63 bits, and of `starved`,
 * which waits for ever.  NODES is met as closely as the shape allows.  SEED matters to the shapes
 * that are drawn (random, far, fanout).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state; /* of the generator of random numbers: splitmix64 */

static uint64_t draw(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) exit(2);
    return memory;
}

/* ---- text that shapes share ---- */

static void put_pass(void)
{
    puts("kernel pass(in f32 x, out f32 y) { y <- x; }");
}

static void put_add(void)
{
    puts("kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }");
}

static void put_step(void)
{
    puts("kernel step<int P, int Q>(in f32 x pop P, out f32 y push Q) {\n"
         "    for (i32 i = 0; i < Q; i++) y <- x[0];\n}");
}

static void put_main(void)
{
    puts("pipeline main(in f32 x, out f32 y) {");
}

/* ---- chains ---- */

/* One statement, unnamed buffers. */
static void chain(uint32_t nodes)
{
    put_pass();
    put_main();
    fputs("    x", stdout);
    for (uint32_t i = 0; i < nodes; i++)
        printf("%s -> pass", i % 8 == 7 ? "\n       " : "");
    puts(" -> y;\n}");
}

/* A statement for each node, declared buffers with a depth. */
static void wires(uint32_t nodes)
{
    put_pass();
    put_main();
    for (uint32_t i = 1; i < nodes; i++)
        printf("    buffer f32 b%" PRIu32 " depth 4;\n", i);
    for (uint32_t i = 0; i < nodes; i++) {
        printf("    n%" PRIu32 ": pass(", i);
        printf(i == 0 ? "x" : "b%" PRIu32, i);
        printf(i == nodes - 1 ? " -> y);\n" : " -> b%" PRIu32 ");\n", i + 1);
    }
    puts("}");
}

/* Up by 160:147 and down again: the counts are 147^6 at the first node, 10 x 160^(5-i) x 147^i later. */
static void rates(uint32_t nodes)
{
    put_step();
    put_main();
    fputs("    x -> step<1, 10>", stdout);
    for (uint32_t i = 1; i < nodes; i++)
        fputs((i - 1) / 6 % 2 == 0 ? "\n        -> step<147, 160>" : "\n        -> step<160, 147>",
              stdout);
    puts(" -> y;\n}");
}

static void overflow(uint32_t nodes)
{
    put_step();
    put_main();
    fputs("    x", stdout);
    for (uint32_t i = 0; i < nodes; i++)
        fputs("\n        -> step<147, 160>", stdout);
    puts(" -> y;\n}");
}

static void phases(uint32_t nodes)
{
    puts("kernel uneven(in f32 x pop {1, 2}, out f32 y push {2, 1}) {\n"
         "    y <- x[0];\n    if (phase == 0) y <- x[0];\n}");
    put_main();
    fputs("    x", stdout);
    for (uint32_t i = 0; i < nodes; i++)
        fputs("\n        -> uneven", stdout);
    puts(" -> y;\n}");
}

/* Rates that vary: each buffer is the only way between the nodes before and after it. */
static void filters(uint32_t nodes)
{
    puts("kernel some(in f32 x, out f32 y) { if (x > 0) y <- x; }");
    put_main();
    fputs("    x", stdout);
    for (uint32_t i = 0; i < nodes; i++)
        fputs("\n        -> some", stdout);
    puts(" -> y;\n}");
}

/* ---- branches ---- */

static uint32_t buffers; /* declared so far: b0, b1, .. */

static uint32_t new_buffer(void)
{
    printf("    buffer f32 b%" PRIu32 ";\n", buffers);
    return buffers++;
}

/* A series-parallel part of so many nodes from one buffer to a new one. */
static uint32_t split_join(uint32_t from, uint32_t nodes)
{
    if (nodes < 4) {
        for (uint32_t i = 0; i < nodes; i++) {
            uint32_t to = new_buffer();
            printf("    pass(b%" PRIu32 " -> b%" PRIu32 ");\n", from, to);
            from = to;
        }
        return from;
    }
    uint32_t one = new_buffer(), two = new_buffer();
    printf("    fork(b%" PRIu32 " -> b%" PRIu32 ", b%" PRIu32 ");\n", from, one, two);
    one = split_join(one, (nodes - 2) / 2);
    two = split_join(two, nodes - 2 - (nodes - 2) / 2);
    uint32_t to = new_buffer();
    printf("    add(b%" PRIu32 ", b%" PRIu32 " -> b%" PRIu32 ");\n", one, two, to);
    return to;
}

static void split_joins(uint32_t nodes)
{
    put_pass();
    put_add();
    puts("kernel fork(in f32 x, out f32 y, out f32 z) { y <- x; z <- x; }");
    put_main();
    printf("    x -> pass -> b%" PRIu32 ";\n", new_buffer());
    printf("    b%" PRIu32 " -> pass -> y;\n", split_join(0, nodes > 2 ? nodes - 2 : 0));
    puts("}");
}

/* A long way and a short one with blocks: the short one has to hold what the long one keeps. */
static void unequal(uint32_t nodes)
{
    put_pass();
    put_add();
    puts("kernel gather<int N>(in f32 x pop N, out f32 y push N) {\n"
         "    for (i32 i = 0; i < N; i++) y <- x[i];\n}");
    put_main();
    uint32_t at = new_buffer();
    printf("    x -> pass -> b%" PRIu32 ";\n", at);
    for (uint32_t i = 0; i + 10 <= nodes; i += 10) {
        uint32_t to = new_buffer(), late = new_buffer();
        printf("    b%" PRIu32, at);
        for (uint32_t k = 2; k < 9; k++)
            printf(" -> gather<%" PRIu32 ">", k);
        printf(" -> pass -> b%" PRIu32 ";\n    add(b%" PRIu32 ", b%" PRIu32 " -> b%" PRIu32 ");\n",
               late, at, late, to);
        at = to;
    }
    printf("    b%" PRIu32 " -> pass -> y;\n}\n", at);
}

/* Each node reads from the left and from above. */
static void mesh(uint32_t nodes)
{
    uint32_t side = 2;
    while ((side + 1) * (side + 1) <= nodes)
        side++;
    put_pass();
    put_add();
    puts("kernel fork(in f32 x, out f32 y, out f32 z) { y <- x; z <- x; }\n"
         "kernel cross(in f32 a, in f32 b, out f32 y, out f32 z) { y <- a + b; z <- a - b; }");
    put_main();
    uint32_t joints = side * (side - 1);
    printf("    buffer f32 right[%" PRIu32 "], down[%" PRIu32 "];\n", joints, joints);
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t c = 0; c < side; c++) {
            uint32_t at = r * side + c;
            bool reads_two = r > 0 && c > 0, last_row = r + 1 == side, last_column = c + 1 == side;
            bool writes_two = !last_row && !last_column;
            printf("    %s(", reads_two    ? writes_two ? "cross" : "add"
                              : writes_two ? "fork"
                                           : "pass");
            if (r == 0 && c == 0) fputs("x", stdout);
            if (c > 0) printf("right[%" PRIu32 "]", at - r - 1);
            if (reads_two) fputs(", ", stdout);
            if (r > 0) printf("down[%" PRIu32 "]", at - side);
            fputs(" -> ", stdout);
            if (!last_column) printf("right[%" PRIu32 "]", at - r);
            if (writes_two) fputs(", ", stdout);
            if (!last_row) printf("down[%" PRIu32 "]", at);
            if (last_row && last_column) fputs("y", stdout);
            puts(");");
        }
    puts("}");
}

/* Buffers with 64 readers each, joined by a port array. */
static void fan_out(uint32_t nodes)
{
    put_pass();
    puts("kernel sum<int N>(in f32 x[N], out f32 y) {\n"
         "    f32 s = 0;\n    for (i32 i = 0; i < N; i++) s += x[i][0];\n    y <- s;\n}");
    put_main();
    uint32_t groups = (nodes + 64) / 65;
    printf("    buffer f32 stage[%" PRIu32 "];\n    x -> pass -> stage[0];\n", groups + 1);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t width = 2 + (uint32_t)draw(126); /* 64 on average */
        printf("    {\n        buffer f32 part[%" PRIu32 "];\n", width);
        for (uint32_t i = 0; i < width; i++)
            printf("        pass(stage[%" PRIu32 "] -> part[%" PRIu32 "]);\n", g, i);
        printf("        sum<%" PRIu32 ">(part -> stage[%" PRIu32 "]);\n    }\n", width, g + 1);
    }
    printf("    stage[%" PRIu32 "] -> pass -> y;\n}\n", groups);
}

/* One buffer that half of the nodes read, and a tree of sums. */
static void wide(uint32_t nodes)
{
    uint32_t width = 1;
    while (4 * width <= nodes)
        width *= 2;
    put_pass();
    put_add();
    put_main();
    printf("    buffer f32 all, tree[%" PRIu32 "];\n    x -> pass -> all;\n", 2 * width - 1);
    printf("    for (int i = 0; i < %" PRIu32 "; i++) all -> pass -> tree[%" PRIu32 " + i];\n",
           width, width - 1);
    printf("    for (int i = 0; i < %" PRIu32
           "; i++) add(tree[2 * i + 1], tree[2 * i + 2] -> tree[i]);\n",
           width - 1);
    puts("    tree[0] -> pass -> y;\n}");
}

/* Sections of a port array each, made by a loop. */
static void ports(uint32_t nodes)
{
    uint32_t width = nodes < 1000 ? 8 : 250, sections = nodes / (width + 2);
    put_pass();
    puts("kernel scatter<int N>(in f32 x, out f32 y[N]) {\n"
         "    for (i32 i = 0; i < N; i++) y[i] <- x;\n}\n"
         "kernel sum<int N>(in f32 x[N], out f32 y) {\n"
         "    f32 s = 0;\n    for (i32 i = 0; i < N; i++) s += x[i][0];\n    y <- s;\n}");
    put_main();
    printf("    buffer f32 stage[%" PRIu32 "];\n    x -> pass -> stage[0];\n", sections + 1);
    printf("    for (int s = 0; s < %" PRIu32 "; s++) {\n"
           "        buffer f32 a[%" PRIu32 "], b[%" PRIu32 "];\n"
           "        scatter<%" PRIu32 ">(stage[s] -> a);\n"
           "        for (int i = 0; i < %" PRIu32 "; i++) pass(a[i] -> b[i]);\n"
           "        sum<%" PRIu32 ">(b -> stage[s + 1]);\n    }\n",
           sections, width, width, width, width, width);
    printf("    stage[%" PRIu32 "] -> pass -> y;\n}\n", sections);
}

/* ---- hierarchies ---- */

/* Pipelines that use the next smaller one twice, within 60 that use one each. */
static void hierarchy(uint32_t nodes)
{
    uint32_t doublings = 0, leaf = nodes, depth;
    for (; leaf > 15; leaf = (leaf + 1) / 2)
        doublings++;
    put_pass();
    fputs("pipeline p0(in f32 x, out f32 y) { x", stdout);
    for (uint32_t i = 0; i < leaf; i++)
        fputs(" -> pass", stdout);
    puts(" -> y; }");
    for (depth = 1; depth <= 60; depth++) {
        printf("pipeline p%" PRIu32 "(in f32 x, out f32 y) { x -> p%" PRIu32, depth, depth - 1);
        if (depth <= doublings) printf(" -> p%" PRIu32, depth - 1);
        puts(" -> y; }");
    }
    put_main();
    puts("    x -> p60 -> y;\n}");
}

/* ---- feedback ---- */

/* A chain of loops of four nodes. */
static void loops(uint32_t nodes)
{
    put_pass();
    puts("kernel mix(in f32 x, in f32 back, out f32 y) { y <- x + 0.5 * back; }");
    put_main();
    uint32_t at = new_buffer();
    printf("    x -> pass -> b%" PRIu32 ";\n", at);
    for (uint32_t i = 0; i < nodes / 4; i++) {
        uint32_t to = new_buffer();
        printf("    buffer f32 sum%" PRIu32 ", back%" PRIu32 " init 3 x 0;\n", i, i);
        printf("    mix(b%" PRIu32 ", back%" PRIu32 " -> sum%" PRIu32 ");\n", at, i, i);
        printf("    sum%" PRIu32 " -> pass -> pass -> back%" PRIu32 ";\n", i, i);
        printf("    sum%" PRIu32 " -> pass -> b%" PRIu32 ";\n", i, to);
        at = to;
    }
    printf("    b%" PRIu32 " -> pass -> y;\n}\n", at);
}

/* All nodes in one cycle with `packets` initial packets. */
static void circle(uint32_t nodes, uint32_t packets)
{
    put_pass();
    puts("kernel mix(in f32 x, in f32 back, out f32 y) { y <- x + 0.5 * back; }");
    put_main();
    if (packets > 0)
        printf("    buffer f32 sum, back init %" PRIu32 " x 0;\n", packets);
    else
        puts("    buffer f32 sum, back;");
    fputs("    mix(x, back -> sum);\n    sum -> pass -> y;\n    sum", stdout);
    for (uint32_t i = 2; i < nodes; i++)
        fputs("\n        -> pass", stdout);
    puts(" -> back;\n}");
}

/* Two ways of the same rates between a fork and a join, with counts of 147^6 to 160^6 in between. */
static void rate_joins(uint32_t nodes)
{
    put_step();
    put_add();
    put_main();
    uint32_t at = new_buffer();
    printf("    x -> step<1, 1> -> b%" PRIu32 ";\n", at);
    for (uint32_t i = 0; i + 25 <= nodes; i += 25) {
        uint32_t one = new_buffer(), two = new_buffer(), to = new_buffer();
        for (uint32_t way = 0; way < 2; way++) {
            printf("    b%" PRIu32, at);
            for (uint32_t k = 0; k < 12; k++)
                fputs(k < 6 ? " -> step<147, 160>" : " -> step<160, 147>", stdout);
            printf(" -> b%" PRIu32 ";\n", way == 0 ? one : two);
        }
        printf("    add(b%" PRIu32 ", b%" PRIu32 " -> b%" PRIu32 ");\n", one, two, to);
        at = to;
    }
    printf("    b%" PRIu32 " -> step<1, 1> -> y;\n}\n", at);
}

/* ---- parts that nothing joins ---- */

static void islands(uint32_t nodes)
{
    uint32_t count = nodes / 10 + 1;
    put_pass();
    printf("pipeline main(in f32 x[%" PRIu32 "], out f32 y[%" PRIu32 "]) {\n", count, count);
    printf("    for (int i = 0; i < %" PRIu32 "; i++)\n        x[i]", count);
    for (uint32_t i = 0; i < 10; i++)
        fputs(" -> pass", stdout);
    puts(" -> y[i];\n}");
}

/* ---- drawn graphs ---- */

struct edge {
    uint32_t from, to, push, pop, initial;
};

struct drawn {
    uint32_t nodes, edges;
    uint32_t *firings; /* of an iteration: drawn first, the rates follow */
    uint32_t *ins, *outs;
    struct edge *edge;
};

enum { ENDS_MAX = 3 };

static void draw_edge(struct drawn *graph, uint32_t from, uint32_t to)
{
    if (graph->outs[from] == ENDS_MAX || graph->ins[to] == ENDS_MAX) return;
    uint32_t common = gcd(graph->firings[from], graph->firings[to]);
    struct edge edge = {from, to, graph->firings[to] / common, graph->firings[from] / common, 0};
    if (draw(8) == 0) {
        edge.push *= 2;
        edge.pop *= 2;
    }
    /* The buffer back begins with the packets of a whole iteration, so no node ever waits for it. */
    if (to <= from) edge.initial = edge.push * graph->firings[from];
    graph->outs[from]++;
    graph->ins[to]++;
    graph->edge[graph->edges++] = edge;
}

static uint32_t draw_earlier(uint32_t node, uint32_t reach)
{
    uint32_t most = node < reach ? node : reach;
    return node - 1 - (uint32_t)draw(most);
}

/* Node i reads one of the `reach` before it, so that all hang together. */
static struct drawn draw_graph(uint32_t nodes, uint32_t reach)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 6, 8, 12};
    struct drawn graph = {.nodes = nodes};
    graph.firings = allocate(nodes, sizeof *graph.firings);
    graph.ins = allocate(nodes, sizeof *graph.ins);
    graph.outs = allocate(nodes, sizeof *graph.outs);
    graph.edge = allocate((size_t)nodes * ENDS_MAX, sizeof *graph.edge);
    for (uint32_t i = 0; i < nodes; i++)
        graph.firings[i] = counts[draw(sizeof counts / sizeof *counts)];
    for (uint32_t i = 1; i < nodes; i++) {
        uint32_t from = draw_earlier(i, reach);
        while (graph.outs[from] == ENDS_MAX)
            from = from == 0 ? i - 1 : from - 1;
        draw_edge(&graph, from, i);
        if (draw(3) == 0) draw_edge(&graph, draw_earlier(i, reach), i);
        if (draw(12) == 0) draw_edge(&graph, i, draw_earlier(i, reach));
    }
    return graph;
}

/* A kernel for each number of inputs and outputs, the rates as parameters. */
static void put_kernel(uint32_t ins, uint32_t outs)
{
    printf("kernel k%" PRIu32 "%" PRIu32 "<", ins, outs);
    for (uint32_t i = 0; i < ins; i++)
        printf("%sint P%" PRIu32, i > 0 ? ", " : "", i);
    for (uint32_t i = 0; i < outs; i++)
        printf("%sint Q%" PRIu32, i > 0 || ins > 0 ? ", " : "", i);
    fputs(">(", stdout);
    for (uint32_t i = 0; i < ins; i++)
        printf("%sin f32 a%" PRIu32 " pop P%" PRIu32, i > 0 ? ", " : "", i, i);
    for (uint32_t i = 0; i < outs; i++)
        printf("%sout f32 y%" PRIu32 " push Q%" PRIu32, i > 0 || ins > 0 ? ", " : "", i, i);
    fputs(") {\n    f32 s = 0", stdout);
    for (uint32_t i = 0; i < ins; i++)
        printf(" + a%" PRIu32 "[0]", i);
    puts(";");
    for (uint32_t i = 0; i < outs; i++)
        printf("    for (i32 i = 0; i < Q%" PRIu32 "; i++) y%" PRIu32 " <- s;\n", i, i);
    puts("}");
}

/* The edges of each node on one side, in order. */
static uint32_t *edges_by(const struct drawn *graph, const uint32_t *counts, bool reading,
                          uint32_t **first)
{
    uint32_t *at = *first = allocate(graph->nodes + 1, sizeof *at);
    uint32_t *list = allocate(graph->edges, sizeof *list);
    uint32_t *fill = allocate(graph->nodes, sizeof *fill);
    for (uint32_t i = 0; i < graph->nodes; i++)
        at[i + 1] = at[i] + counts[i];
    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t node = reading ? graph->edge[e].to : graph->edge[e].from;
        list[at[node] + fill[node]++] = e;
    }
    free(fill);
    return list;
}

static void put_drawn(const struct drawn *graph)
{
    uint32_t *first_in, *first_out, leaves = 0;
    uint32_t *in = edges_by(graph, graph->ins, true, &first_in);
    uint32_t *out = edges_by(graph, graph->outs, false, &first_out);
    for (uint32_t ins = 1; ins <= ENDS_MAX + 1; ins++)
        for (uint32_t outs = 1; outs <= ENDS_MAX; outs++)
            put_kernel(ins, outs);
    for (uint32_t i = 0; i < graph->nodes; i++)
        leaves += graph->outs[i] == 0;
    printf("pipeline main(in f32 x, out f32 y[%" PRIu32 "]) {\n", leaves);
    for (uint32_t e = 0; e < graph->edges; e++) {
        printf("    buffer f32 e%" PRIu32, e);
        if (graph->edge[e].initial > 0) printf(" init %" PRIu32 " x 0", graph->edge[e].initial);
        puts(";");
    }
    leaves = 0;
    for (uint32_t i = 0; i < graph->nodes; i++) {
        uint32_t ins = graph->ins[i] + (i == 0), outs = graph->outs[i] > 0 ? graph->outs[i] : 1;
        printf("    n%" PRIu32 ": k%" PRIu32 "%" PRIu32 "<", i, ins, outs);
        if (i == 0) fputs("1", stdout);
        for (uint32_t k = first_in[i]; k < first_in[i + 1]; k++)
            printf("%s%" PRIu32, k > first_in[i] || i == 0 ? ", " : "", graph->edge[in[k]].pop);
        for (uint32_t k = first_out[i]; k < first_out[i + 1]; k++)
            printf(", %" PRIu32, graph->edge[out[k]].push);
        fputs(graph->outs[i] == 0 ? ", 1>(" : ">(", stdout);
        if (i == 0) fputs("x", stdout);
        for (uint32_t k = first_in[i]; k < first_in[i + 1]; k++)
            printf("%se%" PRIu32, k > first_in[i] || i == 0 ? ", " : "", in[k]);
        fputs(" -> ", stdout);
        for (uint32_t k = first_out[i]; k < first_out[i + 1]; k++)
            printf("%se%" PRIu32, k > first_out[i] ? ", " : "", out[k]);
        if (graph->outs[i] == 0) printf("y[%" PRIu32 "]", leaves++);
        puts(");");
    }
    puts("}");
    free(in);
    free(out);
    free(first_in);
    free(first_out);
}

static void drawn(uint32_t nodes, uint32_t reach)
{
    struct drawn graph = draw_graph(nodes, reach);
    put_drawn(&graph);
    free(graph.firings);
    free(graph.ins);
    free(graph.outs);
    free(graph.edge);
}

static void random_near(uint32_t nodes)
{
    drawn(nodes, 16);
}

static void random_far(uint32_t nodes)
{
    drawn(nodes, nodes);
}

static void circle_alive(uint32_t nodes)
{
    circle(nodes, nodes);
}

static void circle_slow(uint32_t nodes)
{
    circle(nodes, 1);
}

static void starved(uint32_t nodes)
{
    circle(nodes, 0);
}

/* ---- the shapes ---- */

static const struct {
    const char *name;
    void (*write)(uint32_t nodes);
} shapes[] = {
    {"chain", chain},           {"wires", wires},        {"rates", rates},
    {"overflow", overflow},     {"phases", phases},      {"filters", filters},
    {"splitjoin", split_joins}, {"unequal", unequal},    {"mesh", mesh},
    {"fanout", fan_out},        {"wide", wide},          {"ports", ports},
    {"hierarchy", hierarchy},   {"loops", loops},        {"ring", circle_alive},
    {"ring1", circle_slow},     {"starved", starved},    {"ratejoin", rate_joins},
    {"islands", islands},       {"random", random_near}, {"far", random_far},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < SHAPES; i++)
            puts(shapes[i].name);
        return 0;
    }
    uint32_t nodes = argc >= 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    state = argc >= 4 ? strtoull(argv[3], NULL, 10) : 1;
    for (size_t i = 0; i < SHAPES && nodes >= 4 && nodes <= 1000000; i++)
        if (strcmp(argv[1], shapes[i].name) == 0) {
            shapes[i].write(nodes);
            return fflush(stdout) == 0 ? 0 : 2;
        }
    fputs("usage: scale_gen SHAPE 4..1000000 [SEED] | --list\n", stderr);
    return 2;
}
