/* SPDX-License-Identifier: MIT */
/*
 * The minimum of memory, the minimum for the maximum throughput, and the points between, against trying
 * every vector of depths with the oracle.
 *
 *     N=100000 SEED=7 T='*front*' build/debug/tests/test_memory
 *
 * N graphs are drawn for each test from SEED on; what disagrees is made smaller and printed.
 */
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "tests/reference/oracle_build.h"
#include "tests/reference/oracle_draw.h"

#include <inttypes.h>

enum { CYCLES_MOST = 1000, VECTORS_MAX = 6000, ROWS_MAX = 64, AHEAD = 24 };

struct row {
    uint64_t bytes, iterations, cycles; /* 0 cycles: unbounded */
    long depths[ORACLE_BUFFERS];
};

struct answer {
    bool accepted, connected;
    enum graph_least least;
    uint64_t bytes, least_bytes;
    long depths[ORACLE_BUFFERS];
    bool whole;
    struct row rows[ROWS_MAX];
    int row_count;
};

static void take_front(const struct oracle_graph *g, const struct graph_front *front,
                       struct answer *answer)
{
    answer->whole = front->whole && front->points.count <= ROWS_MAX;
    for (size_t i = 0; i < front->points.count && i < ROWS_MAX; i++) {
        const struct graph_tradeoff *point = &front->points.items[i];
        struct row *row = &answer->rows[answer->row_count++];
        *row = (struct row){
            .bytes = point->memory_bytes, .iterations = point->iterations, .cycles = point->cycles};
        for (int b = 0; b < g->buffer_count; b++)
            row->depths[b] = (long)point->depths[b];
    }
}

static void ask(const struct oracle_graph *g, enum buffers_mode mode, bool explores,
                struct answer *answer)
{
    uint32_t index[ORACLE_NODES];
    struct fixture *f = oracle_build(g, index);
    memset(answer, 0, sizeof *answer);
    f->cx.options.buffers = mode;
    f->cx.options.explores = explores;
    rate_solve(&f->cx, &f->graph);
    if (!diag_failed(f->cx.diags)) deadlock_check(&f->cx, &f->graph);
    if (!diag_failed(f->cx.diags)) bufsize_assign(&f->cx, &f->graph);
    answer->connected = f->graph.component_count == 1;
    answer->accepted = !diag_failed(f->cx.diags);
    if (answer->accepted) {
        answer->least = f->graph.memory_least;
        answer->least_bytes = f->graph.memory_least_bytes;
        answer->bytes = f->graph.memory_bytes;
        for (int b = 0; b < g->buffer_count; b++)
            answer->depths[b] = (long)f->graph.buffers.items[b].depth_packets;
        if (explores) take_front(g, f->graph.front, answer);
    }
    fixture_free(f);
}

/* ---- every vector of depths ---- */

static bool is_port(const struct oracle_graph *g, int b)
{
    return g->nodes[g->buffers[b].writer].outside;
}

static bool is_free(const struct oracle_graph *g, int b)
{
    return g->buffers[b].reader_count > 0 && !g->buffers[b].declared && !is_port(g, b);
}

static uint64_t memory_of(const struct oracle_graph *g)
{
    uint64_t bytes = 0;
    for (int b = 0; b < g->buffer_count; b++)
        if (!is_port(g, b)) bytes += (uint64_t)(g->buffers[b].depth * g->buffers[b].width);
    return bytes;
}

/* The next vector of at most so much memory; false after the last. */
static bool next_vector(struct oracle_graph *g, uint64_t bytes)
{
    for (int b = 0; b < g->buffer_count; b++) {
        if (!is_free(g, b)) continue;
        g->buffers[b].depth++;
        if (memory_of(g) <= bytes) return true;
        g->buffers[b].depth = 1;
    }
    return false;
}

static void first_vector(struct oracle_graph *g)
{
    for (int b = 0; b < g->buffer_count; b++) {
        if (is_free(g, b)) g->buffers[b].depth = 1;
        if (is_port(g, b)) g->buffers[b].depth = 0;
    }
}

static bool holds_initial(const struct oracle_graph *g)
{
    for (int b = 0; b < g->buffer_count; b++)
        if (g->buffers[b].depth && g->buffers[b].depth < g->buffers[b].initial) return false;
    return true;
}

static long count_vectors(const struct oracle_graph *g, uint64_t bytes)
{
    struct oracle_graph at = *g;
    long count = 0;
    first_vector(&at);
    if (memory_of(&at) > bytes) return 0;
    do
        count++;
    while (count <= VECTORS_MAX && next_vector(&at, bytes));
    return count;
}

/* ---- judging ---- */

static bool with_depths(struct oracle_graph *at, const struct oracle_graph *g, const long *depths)
{
    *at = *g;
    for (int b = 0; b < g->buffer_count; b++) {
        if (g->buffers[b].declared && depths[b] != g->buffers[b].depth) return false;
        at->buffers[b].depth = depths[b];
    }
    return true;
}

/* -1, 0, 1; 0 cycles: without bound. */
static int compare_paces(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    if (b == 0 || d == 0) return b == 0 && d == 0 ? 0 : b == 0 ? 1 : -1;
    return a * d < c * b ? -1 : a * d > c * b;
}

/* How fast a vector may be: that of the last row that has no more memory; NULL: it is dead. */
static const struct row *row_for(const struct answer *answer, uint64_t bytes)
{
    const struct row *best = NULL;
    for (int i = 0; i < answer->row_count; i++)
        if (answer->rows[i].bytes <= bytes) best = &answer->rows[i];
    return best;
}

static const char *judge_rows(const struct oracle_graph *g, const long *q,
                              const struct answer *answer)
{
    for (int i = 0; i < answer->row_count; i++) {
        const struct row *row = &answer->rows[i];
        struct oracle_graph at;
        if (!with_depths(&at, g, row->depths)) return "a declared depth has changed";
        if (memory_of(&at) != row->bytes) return "the memory of a row is not that of its depths";
        if (i > 0 &&
            (row->bytes <= row[-1].bytes ||
             compare_paces(row->iterations, row->cycles, row[-1].iterations, row[-1].cycles) <= 0))
            return "the rows do not rise";
        struct oracle_pace pace = oracle_pace(&at, q, AHEAD);
        if (pace.verdict == ORACLE_DEAD) return "a row is dead";
        if (pace.verdict == ORACLE_UNKNOWN) continue;
        if (compare_paces((uint64_t)pace.iterations, (uint64_t)pace.cycles, row->iterations,
                          row->cycles) != 0) {
            static char text[100];
            snprintf(text, sizeof text, "row %d has a throughput of %ld/%ld", i, pace.iterations,
                     pace.cycles);
            return text;
        }
    }
    return NULL;
}

static const char *judge_front(const struct oracle_graph *g, const struct answer *answer)
{
    long q[ORACLE_NODES];
    if (!answer->accepted || !answer->whole || !oracle_repetitions(g, CYCLES_MOST, q)) return NULL;
    if (answer->row_count == 0 || !answer->connected) return NULL;
    const char *wrong = judge_rows(g, q, answer);
    uint64_t bytes = answer->rows[answer->row_count - 1].bytes;
    if (wrong || count_vectors(g, bytes) > VECTORS_MAX) return wrong;
    struct oracle_graph at = *g;
    first_vector(&at);
    do {
        if (memory_of(&at) > bytes || !holds_initial(&at)) continue;
        struct oracle_pace pace = oracle_pace(&at, q, AHEAD);
        if (pace.verdict != ORACLE_LIVE) continue;
        const struct row *row = row_for(answer, memory_of(&at));
        if (!row) return "less memory than the first row is live";
        if (compare_paces((uint64_t)pace.iterations, (uint64_t)pace.cycles, row->iterations,
                          row->cycles) > 0)
            return "a vector is faster than the row of its memory";
    } while (next_vector(&at, bytes));
    return NULL;
}

static const char *judge_least(const struct oracle_graph *g, const struct answer *answer)
{
    long q[ORACLE_NODES];
    struct oracle_graph at;
    if (!answer->accepted || !oracle_repetitions(g, CYCLES_MOST, q)) return NULL;
    if (!with_depths(&at, g, answer->depths)) return "a declared depth has changed";
    if (memory_of(&at) != answer->bytes) return "the memory is not that of the depths";
    if (!holds_initial(&at)) return "a depth is below the initial packets";
    if (oracle_verdict(&at, q, 0) != ORACLE_LIVE) return "the depths are dead";
    if (answer->least_bytes > answer->bytes) return "the lower bound is above";
    if (answer->least == LEAST_EXACT && answer->least_bytes != answer->bytes)
        return "exact, with another lower bound";
    if (answer->bytes == 0 || count_vectors(g, answer->bytes - 1) > VECTORS_MAX) return NULL;
    uint64_t below = answer->least == LEAST_EXACT ? answer->bytes : answer->least_bytes;
    at = *g;
    first_vector(&at);
    do
        if (memory_of(&at) < below && holds_initial(&at) &&
            oracle_verdict(&at, q, 0) == ORACLE_LIVE)
            return "less memory is live";
    while (next_vector(&at, answer->bytes - 1));
    return NULL;
}

/* ---- drawing ---- */

static const struct oracle_taste SMALL = {.nodes = 4,
                                          .extra = 2,
                                          .backward = 25,
                                          .phases = 25,
                                          .window = 25,
                                          .second = 25,
                                          .outside = 30,
                                          .keep = 8,
                                          .largest_cost = 4,
                                          .stateful = 70};

static unsigned environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static struct oracle_graph draw(unsigned seed)
{
    struct oracle_graph g;
    oracle_draw(&g, &SMALL, &seed);
    for (int b = 0; b < g.buffer_count; b++) {
        g.buffers[b].width = 1 + (long)oracle_random(&seed, 3);
        if (oracle_random(&seed, 8) > 0 || is_port(&g, b)) continue;
        g.buffers[b].declared = true;
        g.buffers[b].depth = 2 + (long)oracle_random(&seed, 8);
    }
    return g;
}

struct trial {
    enum buffers_mode mode;
    bool explores;
    const char *(*judge)(const struct oracle_graph *g, const struct answer *answer);
};

static const char *judge(const struct oracle_graph *g, const struct trial *trial,
                         struct answer *answer)
{
    ask(g, trial->mode, trial->explores, answer);
    return trial->judge(g, answer);
}

static bool disagrees(const struct oracle_graph *g, void *context)
{
    static struct answer answer;
    return judge(g, context, &answer) != NULL;
}

static void tell(const struct oracle_graph *g, struct trial *trial, unsigned seed)
{
    static struct answer answer;
    struct oracle_graph small = *g;
    oracle_shrink(&small, disagrees, trial);
    printf("// %s (SEED=%u N=1)\n", judge(&small, trial, &answer), seed);
    oracle_print(stdout, &small);
    for (int b = 0; b < small.buffer_count; b++)
        printf("// b%d: width %ld depth %ld%s\n", b, small.buffers[b].width, answer.depths[b],
               small.buffers[b].declared ? " declared" : "");
    printf("// %" PRIu64 " bytes, least %" PRIu64 " (%d)\n", answer.bytes, answer.least_bytes,
           (int)answer.least);
    for (int i = 0; i < answer.row_count; i++) {
        printf("// row: %" PRIu64 " bytes, %" PRIu64 "/%" PRIu64 ":", answer.rows[i].bytes,
               answer.rows[i].iterations, answer.rows[i].cycles);
        for (int b = 0; b < small.buffer_count; b++)
            printf(" %ld", answer.rows[i].depths[b]);
        printf("\n");
    }
    fflush(stdout);
}

struct tally {
    unsigned accepted, exact, whole, rows;
};

static struct tally compare(struct trial *trial, unsigned count)
{
    static struct answer answer;
    unsigned seed = environment("SEED", 20260612u);
    struct tally tally = {0};
    count = environment("N", count / (unsigned)draw_step());
    print_message("SEED=%u N=%u\n", seed, count);
    for (unsigned i = 0; i < count; i++) {
        struct oracle_graph g = draw(seed + i * 2654435761u);
        if (judge(&g, trial, &answer)) {
            tell(&g, trial, seed + i * 2654435761u);
            fail();
        }
        tally.accepted += answer.accepted;
        tally.exact += answer.accepted && answer.least == LEAST_EXACT;
        tally.whole += answer.accepted && answer.whole;
        tally.rows += (unsigned)answer.row_count;
    }
    print_message("%u accepted, %u exact, %u whole fronts of %u rows\n", tally.accepted,
                  tally.exact, tally.whole, tally.rows);
    return tally;
}

/* ---- the tests ---- */

static void least_memory_is_the_least(void **state)
{
    (void)state;
    struct trial trial = {BUFFERS_MIN, false, judge_least};
    struct tally tally = compare(&trial, 3000);
    assert_int_equal(tally.exact, tally.accepted);
    assert_true(tally.accepted > 0);
}

static void front_is_that_of_every_vector(void **state)
{
    (void)state;
    struct trial trial = {BUFFERS_DEFAULT, true, judge_front};
    struct tally tally = compare(&trial, 1000);
    assert_true(tally.whole > tally.accepted / 2);
}

/* The memory of --buffers=fast is that of the front's last row, --buffers=min that of its first. */
static const char *judge_ends(const struct oracle_graph *g, const struct answer *answer)
{
    static struct answer least, fast;
    if (!answer->accepted || !answer->whole || answer->row_count == 0 || !answer->connected)
        return NULL;
    ask(g, BUFFERS_MIN, false, &least);
    ask(g, BUFFERS_FAST, false, &fast);
    const struct row *last = &answer->rows[answer->row_count - 1];
    if (least.bytes != answer->rows[0].bytes) return "the first row is not the minimum of memory";
    if (last->cycles && fast.bytes != last->bytes) return "the last row is not the fastest";
    if (last->cycles && fast.least != LEAST_EXACT) return "the fastest is not exact";
    return NULL;
}

static void modes_are_the_ends_of_the_front(void **state)
{
    (void)state;
    struct trial trial = {BUFFERS_DEFAULT, true, judge_ends};
    compare(&trial, 1000);
}

/* A judge that accepts a wrong figure is none. */
static void wrong_figures_are_found(void **state)
{
    (void)state;
    static struct answer answer;
    unsigned lower = 0, higher = 0, slower = 0;
    for (unsigned i = 0; i < 300; i++) {
        struct oracle_graph g = draw(99 + i * 2654435761u);
        ask(&g, BUFFERS_MIN, true, &answer);
        if (!answer.accepted || !answer.whole || answer.row_count == 0 || !answer.connected)
            continue;
        for (int b = 0; b < g.buffer_count; b++) {
            if (!is_free(&g, b) || answer.depths[b] == 1) continue;
            answer.depths[b]--;
            answer.bytes -= (uint64_t)g.buffers[b].width;
            answer.least_bytes = answer.bytes;
            assert_non_null(judge_least(&g, &answer));
            answer.depths[b] += 2;
            answer.bytes += 2 * (uint64_t)g.buffers[b].width;
            answer.least_bytes = answer.bytes;
            if (count_vectors(&g, answer.bytes - 1) <= VECTORS_MAX) {
                assert_non_null(judge_least(&g, &answer));
                higher++;
            }
            lower++;
            break;
        }
        if (answer.row_count > 1) {
            answer.rows[1] = answer.rows[0];
            assert_non_null(judge_front(&g, &answer));
            slower++;
        }
    }
    print_message("%u lower, %u higher, %u slower\n", lower, higher, slower);
    assert_true(lower > 20 && higher > 20 && slower > 10);
}

TEST_MAIN("memory", cmocka_unit_test(wrong_figures_are_found),
          cmocka_unit_test(least_memory_is_the_least),
          cmocka_unit_test(front_is_that_of_every_vector),
          cmocka_unit_test(modes_are_the_ends_of_the_front))
