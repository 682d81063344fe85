/* SPDX-License-Identifier: MIT */
/*
 * graph_reference: an independent judge of small graphs, by literal execution, firing by firing, of
 * what the manual says: counts of packets written and read, room by the slowest reader, windows of
 * `peek`.  It shares no code and no theory with the analyses of the compiler; random graphs come from a
 * printed seed.
 */
#ifndef TESTS_GRAPH_REFERENCE_H
#define TESTS_GRAPH_REFERENCE_H

#include "tests/unit/graph_fixture.h"

enum { REF_NODES = 8, REF_BUFFERS = 16, REF_READERS = 4, REF_PHASES = 4, REF_UNBOUNDED = 1 << 20 };

struct ref_buffer {
    int writer; /* -1: the outside, which writes one packet at a time; -2: an out-port's buffer is
                   not modelled */
    int push, initial, depth; /* depth 0: not declared */
    int reader_count, reader[REF_READERS], pop[REF_READERS], peek[REF_READERS];
    int history[REF_READERS];
    /* Of ends with several phases; then push and pop are their sums, peek the maximum. */
    int pushes[REF_PHASES], pops[REF_READERS][REF_PHASES], peeks[REF_READERS][REF_PHASES];
};

struct ref_graph {
    int node_count, buffer_count;
    int phases[REF_NODES]; /* 0, 1: one */
    struct ref_buffer buffers[REF_BUFFERS];
};

struct ref_state {
    long written[REF_BUFFERS], position[REF_BUFFERS][REF_READERS], fired[REF_NODES];
};

static inline unsigned ref_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static inline int ref_pick(unsigned *seed, int below)
{
    return (int)(ref_random(seed) % (unsigned)below);
}

/* ---- execution ---- */

/* The packets that the slowest reader has freed. */
static inline long ref_freed(const struct ref_graph *g, const struct ref_state *s, int b, int r)
{
    long freed = s->position[b][r] - g->buffers[b].history[r];
    return g->buffers[b].history[r] && freed < 0 ? 0 : freed;
}

static inline long ref_room(const struct ref_graph *g, const struct ref_state *s, int b, int depth)
{
    long slowest = ref_freed(g, s, b, 0);
    for (int r = 1; r < g->buffers[b].reader_count; r++)
        if (ref_freed(g, s, b, r) < slowest) slowest = ref_freed(g, s, b, r);
    return depth - (s->written[b] - slowest);
}

static inline int ref_push(const struct ref_graph *g, const struct ref_state *s, int b)
{
    int node = g->buffers[b].writer;
    if (node < 0 || g->phases[node] < 2) return g->buffers[b].push;
    return g->buffers[b].pushes[s->fired[node] % g->phases[node]];
}

static inline int ref_pop(const struct ref_graph *g, const struct ref_state *s, int b, int r)
{
    int node = g->buffers[b].reader[r];
    if (g->phases[node] < 2) return g->buffers[b].pop[r];
    return g->buffers[b].pops[r][s->fired[node] % g->phases[node]];
}

static inline int ref_peek(const struct ref_graph *g, const struct ref_state *s, int b, int r)
{
    int node = g->buffers[b].reader[r];
    if (g->phases[node] < 2) return g->buffers[b].peek[r];
    return g->buffers[b].peeks[r][s->fired[node] % g->phases[node]];
}

static inline bool ref_can_fire(const struct ref_graph *g, const struct ref_state *s,
                                const int *depths, int node)
{
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        if (buffer->writer == node && ref_room(g, s, b, depths[b]) < ref_push(g, s, b))
            return false;
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->reader[r] == node &&
                s->written[b] - s->position[b][r] < ref_peek(g, s, b, r))
                return false;
    }
    return true;
}

static inline void ref_fire(const struct ref_graph *g, struct ref_state *s, int node)
{
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        if (buffer->writer == node) s->written[b] += ref_push(g, s, b);
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->reader[r] == node) s->position[b][r] += ref_pop(g, s, b, r);
    }
    s->fired[node]++;
}

static inline bool ref_outside(const struct ref_graph *g, struct ref_state *s, const int *depths)
{
    bool wrote = false;
    for (int b = 0; b < g->buffer_count; b++)
        while (g->buffers[b].writer == -1 && ref_room(g, s, b, depths[b]) > 0 &&
               s->written[b] < 100000) {
            s->written[b]++;
            wrote = true;
        }
    return wrote;
}

static inline void ref_start(const struct ref_graph *g, struct ref_state *s)
{
    memset(s, 0, sizeof *s);
    for (int b = 0; b < g->buffer_count; b++)
        s->written[b] = g->buffers[b].initial;
}

/* Does every node reach `rounds` iterations, firing in random order? */
static inline bool ref_live(const struct ref_graph *g, const int *depths, const long *repetitions,
                            unsigned *seed)
{
    struct ref_state s;
    ref_start(g, &s);
    long rounds = 3;
    const long cap_rounds = 60;
    for (int b = 0; b < g->buffer_count; b++) /* until every history is full, and on */
        for (int r = 0; r < g->buffers[b].reader_count; r++)
            if (g->buffers[b].history[r] + 4 > rounds) rounds = g->buffers[b].history[r] + 4;
    for (;;) {
        bool progress = ref_outside(g, &s, depths), done = true;
        int first = ref_pick(seed, g->node_count);
        for (int i = 0; i < g->node_count; i++) {
            int node = (first + i) % g->node_count;
            int times = 1 + ref_pick(seed, 3);
            while (times-- && s.fired[node] < cap_rounds * repetitions[node] &&
                   ref_can_fire(g, &s, depths, node)) {
                ref_fire(g, &s, node);
                progress = true;
            }
        }
        for (int i = 0; i < g->node_count; i++)
            if (s.fired[i] < rounds * repetitions[i]) done = false;
        if (done) return true;
        if (!progress) return false;
    }
}

/* Every order of firing, by search over all reachable states (packets held); -1: more than `most`
 * states. */
static inline int ref_live_exhaustive(const struct ref_graph *g, const int *depths, int most)
{
    struct ref_state *states = calloc((size_t)most, sizeof *states);
    int count = 1, verdict = 1;
    ref_start(g, &states[0]);
    for (int k = 0; k < count && verdict == 1; k++) {
        bool any = false;
        for (int node = 0; node < g->node_count && verdict == 1; node++) {
            if (!ref_can_fire(g, &states[k], depths, node)) continue;
            any = true;
            struct ref_state next = states[k];
            ref_fire(g, &next, node);
            for (int b = 0; b < g->buffer_count; b++) { /* only differences matter */
                long least = next.position[b][0];
                for (int r = 1; r < g->buffers[b].reader_count; r++)
                    if (next.position[b][r] < least) least = next.position[b][r];
                next.written[b] -= least;
                for (int r = 0; r < g->buffers[b].reader_count; r++)
                    next.position[b][r] -= least;
            }
            for (int n = 0; n < g->node_count; n++)
                next.fired[n] = g->phases[n] > 1 ? next.fired[n] % g->phases[n] : 0;
            int seen = 0;
            while (seen < count && memcmp(&states[seen], &next, sizeof next) != 0)
                seen++;
            if (seen < count) continue;
            if (count == most)
                verdict = -1;
            else
                states[count++] = next;
        }
        if (!any) verdict = 0;
    }
    free(states);
    return verdict;
}

/* ---- random graphs ---- */

/* A connected consistent graph: rates follow from chosen repetition counts. */
static inline void ref_random_graph(struct ref_graph *g, unsigned *seed, bool cyclic)
{
    static const int COUNTS[] = {1, 1, 2, 2, 3, 4};
    int q[REF_NODES];
    memset(g, 0, sizeof *g);
    g->node_count = 2 + ref_pick(seed, 4);
    for (int i = 0; i < g->node_count; i++)
        q[i] = COUNTS[ref_pick(seed, 6)];
    int extra = ref_pick(seed, 4);
    for (int e = 0; e < g->node_count - 1 + extra; e++) {
        struct ref_buffer *buffer = &g->buffers[g->buffer_count++];
        int a = e < g->node_count - 1 ? e + 1 : ref_pick(seed, g->node_count);
        int b = e < g->node_count - 1 ? ref_pick(seed, e + 1) : ref_pick(seed, g->node_count);
        bool forward = !cyclic || ref_pick(seed, 4) > 0;
        int from = (a < b) == forward ? a : b, to = (a < b) == forward ? b : a;
        if (from == to && !cyclic) {
            g->buffer_count--;
            continue;
        }
        int readers = ref_pick(seed, 5) == 0 ? 2 : 1, scale = 1 + ref_pick(seed, 2);
        int common = 1;
        bool outside = ref_pick(seed, 12) == 0 && readers == 2;
        buffer->reader[0] = to;
        buffer->reader[1] = outside ? from : ref_pick(seed, g->node_count);
        if (!cyclic && !outside && buffer->reader[1] <= from) readers = 1;
        buffer->reader_count = readers;
        buffer->writer = outside ? -1 : from;
        while (common % q[from] || common % q[to] ||
               (readers == 2 && common % q[buffer->reader[1]]))
            common++;
        common *= scale;
        buffer->push = outside ? 1 : common / q[from];
        for (int r = 0; r < readers; r++) {
            buffer->pop[r] = common / q[buffer->reader[r]];
            buffer->peek[r] = buffer->pop[r] + (ref_pick(seed, 3) == 0 ? ref_pick(seed, 5) : 0);
        }
        buffer->initial = outside                                ? 0
                          : ref_pick(seed, 3) == 0 || from >= to ? ref_pick(seed, 9)
                                                                 : 0;
    }
}

static inline void ref_share(int total, int phases, int *each, unsigned *seed)
{
    for (int p = 0; p < phases; p++)
        each[p] = 0;
    while (total-- > 0)
        each[ref_pick(seed, phases)]++;
}

/* Gives nodes phases, with the same sums over a cycle, and some readers a history. */
static inline void ref_random_phases(struct ref_graph *g, unsigned *seed)
{
    for (int i = 0; i < g->node_count; i++)
        g->phases[i] = ref_pick(seed, 2) ? 1 : 2 + ref_pick(seed, REF_PHASES - 1);
    for (int b = 0; b < g->buffer_count; b++) {
        struct ref_buffer *buffer = &g->buffers[b];
        if (buffer->writer >= 0 && g->phases[buffer->writer] > 1)
            ref_share(buffer->push, g->phases[buffer->writer], buffer->pushes, seed);
        for (int r = 0; r < buffer->reader_count; r++) {
            int phases = g->phases[buffer->reader[r]], extra = buffer->peek[r] - buffer->pop[r];
            if (ref_pick(seed, 6) == 0) buffer->history[r] = 1 + ref_pick(seed, 5);
            if (phases < 2) continue;
            ref_share(buffer->pop[r], phases, buffer->pops[r], seed);
            buffer->peek[r] = 0;
            for (int p = 0; p < phases; p++) {
                int more = extra && ref_pick(seed, 2) ? 1 + ref_pick(seed, extra) : 0;
                buffer->peeks[r][p] = buffer->pops[r][p] + more;
                if (buffer->peeks[r][p] > buffer->peek[r]) buffer->peek[r] = buffer->peeks[r][p];
            }
        }
    }
}

static inline const uint64_t *ref_list(struct fixture *f, const int *each, int phases)
{
    uint64_t *list = ARENA_ARRAY(f->cx.arena, uint64_t, (size_t)phases);
    for (int p = 0; p < phases; p++)
        list[p] = (uint64_t)each[p];
    return list;
}

/* The lists of the ends that have just been connected. */
static inline void ref_build_phases(const struct ref_graph *g, struct fixture *f, int b)
{
    const struct ref_buffer *buffer = &g->buffers[b];
    struct graph_buffer *built = &f->graph.buffers.items[b];
    if (buffer->writer >= 0 && g->phases[buffer->writer] > 1) {
        struct graph_node *node = &f->graph.nodes.items[buffer->writer];
        struct graph_output *out = &node->outputs.items[built->writer_output];
        out->pushes = out->push_leasts = ref_list(f, buffer->pushes, g->phases[buffer->writer]);
    }
    for (int r = 0; r < buffer->reader_count; r++) {
        struct graph_node *node = &f->graph.nodes.items[buffer->reader[r]];
        struct graph_input *in = &node->inputs.items[built->readers.items[r].input];
        in->history = (uint64_t)buffer->history[r];
        if (g->phases[buffer->reader[r]] < 2) continue;
        in->pops = ref_list(f, buffer->pops[r], g->phases[buffer->reader[r]]);
        in->peeks = ref_list(f, buffer->peeks[r], g->phases[buffer->reader[r]]);
    }
}

static inline struct fixture *ref_build(const struct ref_graph *g)
{
    struct fixture *f = fixture_new();
    char name[16];
    for (int i = 0; i < g->node_count; i++) {
        snprintf(name, sizeof name, "n%d", i);
        uint32_t node = fixture_node(f, name);
        if (g->phases[i] > 1) f->graph.nodes.items[node].kernel->phases = (uint32_t)g->phases[i];
    }
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        snprintf(name, sizeof name, "b%d", b);
        uint32_t index =
            fixture_buffer(f, name, (uint64_t)buffer->initial, (uint64_t)buffer->depth);
        if (buffer->writer >= 0)
            fixture_write(f, (uint32_t)buffer->writer, index, (uint64_t)buffer->push);
        else
            f->graph.buffers.items[index].outer = GRAPH_OUTER_IN;
        for (int r = 0; r < buffer->reader_count; r++)
            fixture_read(f, (uint32_t)buffer->reader[r], index, (uint64_t)buffer->pop[r],
                         (uint64_t)buffer->peek[r]);
        ref_build_phases(g, f, b);
    }
    return f;
}

static inline void ref_unbounded(const struct ref_graph *g, int *depths)
{
    for (int b = 0; b < g->buffer_count; b++)
        depths[b] = REF_UNBOUNDED;
}

static inline void ref_repetitions(const struct fixture *f, long *repetitions)
{
    memset(repetitions, 0, REF_NODES * sizeof *repetitions);
    for (size_t i = 0; i < f->graph.nodes.count; i++)
        repetitions[i] = (long)f->graph.nodes.items[i].repetitions;
}

/* Reads `before` NUMBER `between` NUMBER at the front of a text; gives what comes after, or NULL.
 */
static inline const char *ref_read_two(const char *text, const char *before, const char *between,
                                       int *first, int *second)
{
    char *end;
    if (strncmp(text, before, strlen(before)) != 0) return NULL;
    text += strlen(before);
    *first = (int)strtol(text, &end, 10);
    if (end == text || strncmp(end, between, strlen(between)) != 0) return NULL;
    text = end + strlen(between);
    *second = (int)strtol(text, &end, 10);
    return end == text ? NULL : end;
}

static inline void ref_print(const struct ref_graph *g)
{
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        printf("  b%d: n%d push %d init %d depth %d ->", b, buffer->writer, buffer->push,
               buffer->initial, buffer->depth);
        for (int p = 0;
             buffer->writer >= 0 && g->phases[buffer->writer] > 1 && p < g->phases[buffer->writer];
             p++)
            printf(" [%d]", buffer->pushes[p]);
        for (int r = 0; r < buffer->reader_count; r++) {
            printf(" n%d pop %d peek %d history %d", buffer->reader[r], buffer->pop[r],
                   buffer->peek[r], buffer->history[r]);
            for (int p = 0; g->phases[buffer->reader[r]] > 1 && p < g->phases[buffer->reader[r]];
                 p++)
                printf(" [%d %d]", buffer->pops[r][p], buffer->peeks[r][p]);
        }
        printf("\n");
    }
}

#endif
