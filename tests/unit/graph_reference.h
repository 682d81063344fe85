/*
 * graph_reference: an independent judge of small graphs, by literal execution, firing by firing, of
 * what the manual says: counts of packets written and read, room by the slowest reader, windows of
 * `peek`.  It shares no code and no theory with compiler/analysis; random graphs come from a
 * printed seed.
 */
#ifndef TESTS_GRAPH_REFERENCE_H
#define TESTS_GRAPH_REFERENCE_H

#include "tests/unit/graph_fixture.h"

enum { REF_NODES = 8, REF_BUFFERS = 16, REF_READERS = 4, REF_UNBOUNDED = 1 << 20 };

struct ref_buffer {
    int writer; /* -1: the outside, which writes one packet at a time; -2: an out-port's buffer is
                   not modelled */
    int push, initial, depth; /* depth 0: not declared */
    int reader_count, reader[REF_READERS], pop[REF_READERS], peek[REF_READERS];
};

struct ref_graph {
    int node_count, buffer_count;
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

static inline long ref_room(const struct ref_graph *g, const struct ref_state *s, int b, int depth)
{
    long slowest = s->position[b][0];
    for (int r = 1; r < g->buffers[b].reader_count; r++)
        if (s->position[b][r] < slowest) slowest = s->position[b][r];
    return depth - (s->written[b] - slowest);
}

static inline bool ref_can_fire(const struct ref_graph *g, const struct ref_state *s,
                                const int *depths, int node)
{
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        if (buffer->writer == node && ref_room(g, s, b, depths[b]) < buffer->push) return false;
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->reader[r] == node && s->written[b] - s->position[b][r] < buffer->peek[r])
                return false;
    }
    return true;
}

static inline void ref_fire(const struct ref_graph *g, struct ref_state *s, int node)
{
    s->fired[node]++;
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        if (buffer->writer == node) s->written[b] += buffer->push;
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->reader[r] == node) s->position[b][r] += buffer->pop[r];
    }
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
    const long rounds = 3, cap_rounds = 60;
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
            memset(next.fired, 0, sizeof next.fired);
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

static inline struct fixture *ref_build(const struct ref_graph *g)
{
    struct fixture *f = fixture_new();
    char name[16];
    for (int i = 0; i < g->node_count; i++) {
        snprintf(name, sizeof name, "n%d", i);
        fixture_node(f, name);
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
        for (int r = 0; r < buffer->reader_count; r++)
            printf(" n%d pop %d peek %d", buffer->reader[r], buffer->pop[r], buffer->peek[r]);
        printf("\n");
    }
}

#endif
