/* SPDX-License-Identifier: MIT */
#include "tests/reference/oracle.h"

#include <assert.h>
#include <string.h>

/* ---- rates ---- */

static long cycle_sum(const long *each, int phases)
{
    long sum = 0;
    for (int p = 0; p < phases; p++)
        sum += each[p];
    return sum;
}

/* Raises the smaller side of an unequal balance to the smallest value that is not below the other.
 * Every solution stays above, so the smallest one is reached if there is one. */
static bool raise_smaller(const struct oracle_graph *graph, const struct oracle_buffer *buffer,
                          const struct oracle_reader *reader, long *cycles)
{
    long push = cycle_sum(buffer->push, graph->nodes[buffer->writer].phases);
    long pop = cycle_sum(reader->pop, graph->nodes[reader->node].phases);
    assert(push > 0 && pop > 0);
    long written = cycles[buffer->writer] * push, consumed = cycles[reader->node] * pop;
    if (written < consumed) cycles[buffer->writer] = (consumed + push - 1) / push;
    if (consumed < written) cycles[reader->node] = (written + pop - 1) / pop;
    return written != consumed;
}

bool oracle_repetitions(const struct oracle_graph *graph, long most, long *repetitions)
{
    for (int n = 0; n < graph->node_count; n++)
        repetitions[n] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = 0; b < graph->buffer_count; b++) {
            const struct oracle_buffer *buffer = &graph->buffers[b];
            for (int r = 0; r < buffer->reader_count; r++)
                changed |= raise_smaller(graph, buffer, &buffer->readers[r], repetitions);
        }
        for (int n = 0; n < graph->node_count; n++)
            if (repetitions[n] > most) return false;
    }
    for (int n = 0; n < graph->node_count; n++)
        repetitions[n] *= graph->nodes[n].phases;
    return true;
}

/* ---- the state ---- */

struct flight { /* firings of one node that end at the same time */
    long left;  /* cycles until then */
    long count;
};

/* The state that decides the future; compared byte by byte, so unused members stay zero. */
struct state {
    long level[ORACLE_BUFFERS][ORACLE_READERS]; /* packets that a started firing has not taken */
    long held[ORACLE_BUFFERS][ORACLE_READERS];  /* packets that an ended firing has not freed */
    long kept[ORACLE_BUFFERS][ORACLE_READERS];  /* of history */
    long claimed[ORACLE_BUFFERS];
    long started[ORACLE_NODES], ended[ORACLE_NODES]; /* beyond the whole iterations of everybody */
    struct flight flights[ORACLE_NODES][ORACLE_FLIGHTS]; /* the next to end first */
};

struct run {
    const struct oracle_graph *graph;
    const long *repetitions;
    int ahead;
    struct state state, earlier;
    long iterations, time, written[ORACLE_BUFFERS];
    long earlier_iterations, earlier_time;
    long steps, next_look;
    bool crowded;
};

static void begin(struct run *run, const struct oracle_graph *graph, const long *repetitions,
                  int ahead)
{
    memset(run, 0, sizeof *run);
    run->graph = graph;
    run->repetitions = repetitions;
    run->ahead = ahead;
    run->next_look = 1;
    for (int b = 0; b < graph->buffer_count; b++)
        for (int r = 0; r < graph->buffers[b].reader_count; r++)
            run->state.level[b][r] = run->state.held[b][r] = graph->buffers[b].initial;
}

static long room(const struct run *run, int b)
{
    const struct oracle_buffer *buffer = &run->graph->buffers[b];
    long most = 0;
    for (int r = 0; r < buffer->reader_count; r++) {
        long used = run->state.held[b][r] + run->state.kept[b][r];
        if (used > most) most = used;
    }
    return buffer->depth - most - run->state.claimed[b];
}

static bool can_start(const struct run *run, int n)
{
    const struct oracle_graph *graph = run->graph;
    long phase = run->state.started[n] % graph->nodes[n].phases;
    if (run->state.started[n] >= (run->ahead + 1) * run->repetitions[n]) return false;
    if (graph->nodes[n].stateful && run->state.started[n] > run->state.ended[n]) return false;
    for (int b = 0; b < graph->buffer_count; b++) {
        const struct oracle_buffer *buffer = &graph->buffers[b];
        if (buffer->writer == n && buffer->depth && buffer->reader_count &&
            room(run, b) < buffer->push[phase])
            return false;
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->readers[r].node == n &&
                run->state.level[b][r] < buffer->readers[r].peek[phase])
                return false;
    }
    return true;
}

/* Whole iterations that everybody has started and ended are counted, and taken away. */
static void take_iterations(struct run *run)
{
    const struct oracle_graph *graph = run->graph;
    for (int n = 0; n < graph->node_count; n++)
        if (run->state.ended[n] < run->repetitions[n]) return;
    for (int n = 0; n < graph->node_count; n++) {
        run->state.started[n] -= run->repetitions[n];
        run->state.ended[n] -= run->repetitions[n];
    }
    run->iterations++;
}

static void start(struct run *run, int n)
{
    const struct oracle_graph *graph = run->graph;
    long phase = run->state.started[n] % graph->nodes[n].phases;
    for (int b = 0; b < graph->buffer_count; b++) {
        const struct oracle_buffer *buffer = &graph->buffers[b];
        if (buffer->writer == n) run->state.claimed[b] += buffer->push[phase];
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->readers[r].node == n)
                run->state.level[b][r] -= buffer->readers[r].pop[phase];
    }
    run->state.started[n]++;
}

static void end(struct run *run, int n)
{
    const struct oracle_graph *graph = run->graph;
    long phase = run->state.ended[n] % graph->nodes[n].phases;
    for (int b = 0; b < graph->buffer_count; b++) {
        const struct oracle_buffer *buffer = &graph->buffers[b];
        if (buffer->writer == n) {
            run->state.claimed[b] -= buffer->push[phase];
            run->written[b] += buffer->push[phase];
            for (int r = 0; r < buffer->reader_count; r++) {
                run->state.level[b][r] += buffer->push[phase];
                run->state.held[b][r] += buffer->push[phase];
            }
        }
        for (int r = 0; r < buffer->reader_count; r++) {
            const struct oracle_reader *reader = &buffer->readers[r];
            if (reader->node != n) continue;
            run->state.held[b][r] -= reader->pop[phase];
            run->state.kept[b][r] += reader->pop[phase];
            if (run->state.kept[b][r] > reader->keep) run->state.kept[b][r] = reader->keep;
        }
    }
    run->state.ended[n]++;
}

/* Is this a state that has been before, a whole iteration ago or more?  The state of one earlier
 * moment is kept, and replaced after 1, 2, 4, 8.. steps, until the execution goes round in less
 * (Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980). */
static bool seen_before(struct run *run)
{
    if (run->iterations > run->earlier_iterations &&
        memcmp(&run->state, &run->earlier, sizeof run->state) == 0)
        return true;
    if (++run->steps < run->next_look) return false;
    run->next_look *= 2;
    run->earlier = run->state;
    run->earlier_iterations = run->iterations;
    run->earlier_time = run->time;
    return false;
}

/* ---- without time ---- */

/* Of those that can start the one that lags most, or any. */
static int choose(const struct run *run, unsigned *order)
{
    int best = -1, able = 0;
    for (int n = 0; n < run->graph->node_count; n++) {
        if (!can_start(run, n)) continue;
        able++;
        *order = *order ? *order * 1664525u + 1013904223u : 0;
        bool better = *order ? (*order >> 8) % (unsigned)able == 0
                             : best < 0 || run->state.started[n] * run->repetitions[best] <
                                               run->state.started[best] * run->repetitions[n];
        if (better) best = n;
    }
    return best;
}

/* A random order need not come back to a state: the number of firings decides, many iterations on. */
static enum oracle_verdict execute(struct run *run, unsigned order)
{
    const bool random = order != 0;
    for (;;) {
        int n = choose(run, &order);
        if (n < 0) return ORACLE_DEAD;
        start(run, n);
        end(run, n);
        take_iterations(run);
        if (random ? run->iterations > 4L * run->ahead : seen_before(run)) return ORACLE_LIVE;
    }
}

enum oracle_verdict oracle_verdict(const struct oracle_graph *graph, const long *repetitions,
                                   unsigned order)
{
    struct run run;
    begin(&run, graph, repetitions, ORACLE_AHEAD);
    return execute(&run, order);
}

enum oracle_verdict oracle_stop(const struct oracle_graph *graph, const long *repetitions,
                                long *firings)
{
    struct run run;
    begin(&run, graph, repetitions, ORACLE_AHEAD);
    enum oracle_verdict verdict = execute(&run, 0);
    for (int n = 0; n < graph->node_count; n++)
        firings[n] = run.iterations * repetitions[n] + run.state.ended[n];
    return verdict;
}

/* ---- with time ---- */

static void take_off(struct run *run, int n)
{
    struct flight *flights = run->state.flights[n];
    long cost = run->graph->nodes[n].cost;
    int at = 0;
    while (at < ORACLE_FLIGHTS && flights[at].count && flights[at].left != cost)
        at++;
    if (at == ORACLE_FLIGHTS) {
        run->crowded = true;
        return;
    }
    flights[at].left = cost;
    flights[at].count++;
}

/* Everything that can start does, in no time. */
static void start_all(struct run *run)
{
    for (bool changed = true; changed && !run->crowded;) {
        changed = false;
        for (int n = 0; n < run->graph->node_count; n++)
            while (!run->crowded && can_start(run, n)) {
                start(run, n);
                if (run->graph->nodes[n].cost == 0)
                    end(run, n);
                else
                    take_off(run, n);
                changed = true;
            }
    }
}

/* Goes to the next moment at which a firing ends.  False: none is under way. */
static bool pass_time(struct run *run)
{
    long least = 0;
    for (int n = 0; n < run->graph->node_count; n++) {
        const struct flight *first = &run->state.flights[n][0];
        if (first->count && (!least || first->left < least)) least = first->left;
    }
    for (int n = 0; n < run->graph->node_count; n++) {
        struct flight *flights = run->state.flights[n];
        for (int k = 0; k < ORACLE_FLIGHTS && flights[k].count; k++)
            flights[k].left -= least;
        if (!flights[0].count || flights[0].left > 0) continue;
        for (long k = 0; k < flights[0].count; k++)
            end(run, n);
        memmove(flights, flights + 1, (ORACLE_FLIGHTS - 1) * sizeof *flights);
        memset(&flights[ORACLE_FLIGHTS - 1], 0, sizeof *flights);
    }
    run->time += least;
    return least > 0;
}

static long common_divisor(long a, long b)
{
    return b ? common_divisor(b, a % b) : a;
}

struct oracle_pace oracle_pace(const struct oracle_graph *graph, const long *repetitions, int ahead)
{
    struct run run;
    begin(&run, graph, repetitions, ahead);
    for (;;) {
        start_all(&run);
        if (run.crowded) return (struct oracle_pace){ORACLE_UNKNOWN, 0, 0};
        if (!pass_time(&run)) return (struct oracle_pace){ORACLE_DEAD, 0, 0};
        for (long before = -1; before != run.iterations;) {
            before = run.iterations;
            take_iterations(&run);
        }
        if (seen_before(&run)) break;
    }
    long iterations = run.iterations - run.earlier_iterations;
    long cycles = run.time - run.earlier_time, common = common_divisor(iterations, cycles);
    return (struct oracle_pace){ORACLE_LIVE, iterations / common, cycles / common};
}

/* The first moment at which `happened` is; -1: never. */
static long first_moment(struct run *run, bool (*happened)(const struct run *, int), int what)
{
    for (;;) {
        start_all(run);
        if (happened(run, what)) return run->time;
        if (run->crowded || !pass_time(run) || run->iterations > 4L * run->ahead) return -1;
        if (happened(run, what)) return run->time;
        take_iterations(run);
    }
}

static bool has_packet(const struct run *run, int buffer)
{
    return run->written[buffer] > 0;
}

static bool has_ended(const struct run *run, int node)
{
    return run->iterations > 0 || run->state.ended[node] > 0;
}

long oracle_first_packet(const struct oracle_graph *graph, const long *repetitions, int buffer,
                         int ahead)
{
    struct run run;
    begin(&run, graph, repetitions, ahead);
    return first_moment(&run, has_packet, buffer);
}

long oracle_first_end(const struct oracle_graph *graph, const long *repetitions, int node,
                      int ahead)
{
    struct run run;
    begin(&run, graph, repetitions, ahead);
    return first_moment(&run, has_ended, node);
}

/* ---- by trying everything ---- */

static bool is_free(const struct oracle_buffer *buffer)
{
    return buffer->reader_count > 0 && !buffer->declared;
}

/* The next vector of depths, as a number of so many digits; false after the last. */
static bool next_depths(struct oracle_graph *graph, long most)
{
    for (int b = 0; b < graph->buffer_count; b++) {
        struct oracle_buffer *buffer = &graph->buffers[b];
        if (!is_free(buffer)) continue;
        if (++buffer->depth <= most) return true;
        buffer->depth = 1;
    }
    return false;
}

long oracle_least_memory(const struct oracle_graph *graph, const long *repetitions, long most,
                         long *depths)
{
    struct oracle_graph tried = *graph;
    long best = -1;
    for (int b = 0; b < graph->buffer_count; b++)
        if (is_free(&tried.buffers[b])) tried.buffers[b].depth = 1;
    do {
        long bytes = 0;
        bool possible = true;
        for (int b = 0; b < graph->buffer_count; b++) {
            const struct oracle_buffer *buffer = &tried.buffers[b];
            if (!is_free(buffer)) continue;
            bytes += buffer->depth * buffer->width;
            if (buffer->depth < buffer->initial) possible = false;
        }
        if (!possible || (best >= 0 && bytes >= best)) continue;
        if (oracle_verdict(&tried, repetitions, 0) != ORACLE_LIVE) continue;
        best = bytes;
        for (int b = 0; b < graph->buffer_count; b++)
            depths[b] = tried.buffers[b].depth;
    } while (next_depths(&tried, most));
    return best;
}
