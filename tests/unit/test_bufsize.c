/* SPDX-License-Identifier: MIT */
/* bufsize_assign: named graphs, and random ones against literal execution
 * (tests/unit/graph_reference.h). */
#include "tests/test.h"

#include "compiler/liveness/rate.h"
#include "compiler/liveness/bounded.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "compiler/liveness/periodic.h"
#include "tests/unit/graph_reference.h"

static bool size(struct fixture *f)
{
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    deadlock_check(&f->cx, &f->graph);
    if (diag_failed(f->cx.diags)) return false;
    bufsize_assign(&f->cx, &f->graph);
    return !diag_failed(f->cx.diags);
}

static void one_buffer_gets_push_plus_pop_minus_gcd(void **state)
{
    (void)state;
    static const uint64_t cases[][4] = {/* push, pop, initial, depth */
                                        {1, 1, 0, 1},   {2, 3, 0, 4},       {3, 2, 0, 4},
                                        {4, 6, 0, 8},   {4, 6, 1, 9},       {4, 6, 2, 8},
                                        {4, 6, 20, 20}, {160, 147, 0, 306}, {5, 5, 0, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
        uint32_t buffer = fixture_edge(f, "ab", a, cases[i][0], b, cases[i][1], cases[i][2], 0);
        assert_true(size(f));
        assert_int_equal(fixture_depth(f, buffer), cases[i][3]);
        assert_int_equal(f->graph.buffers.items[buffer].depth_min_packets, cases[i][3]);
        fixture_free(f);
    }
}

static void window_is_the_depth_and_the_reason(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "src"), b = fixture_node(f, "lp"),
             buffer = fixture_buffer(f, "x", 0, 0);
    fixture_write(f, a, buffer, 1);
    fixture_read(f, b, buffer, 1, 64);
    assert_true(size(f));
    assert_int_equal(fixture_depth(f, buffer), 64);
    assert_string_equal(f->graph.buffers.items[buffer].depth_reason,
                        "64: one window of 'lp' (64 packets)");
    assert_int_equal(f->graph.memory_bytes, 256);
    fixture_free(f);
}

/* src -> split -> (fir with a window of 64, plain) -> mix: the plain branch has to hold what the
 * window delays. */
static struct fixture *split_join(uint64_t plain_depth, uint32_t *plain)
{
    struct fixture *f = fixture_new();
    uint32_t split = fixture_node(f, "split"), fir = fixture_node(f, "fir"),
             mix = fixture_node(f, "mix"), wide = fixture_buffer(f, "wide", 0, 0);
    fixture_write(f, split, wide, 1);
    fixture_read(f, fir, wide, 1, 64);
    fixture_edge(f, "filtered", fir, 1, mix, 1, 0, 0);
    *plain = fixture_edge(f, "plain", split, 1, mix, 1, 0, plain_depth);
    return f;
}

static void branch_beside_a_window_holds_its_delay(void **state)
{
    (void)state;
    uint32_t plain;
    struct fixture *f = split_join(0, &plain);
    assert_true(size(f));
    assert_int_equal(fixture_depth(f, plain), 64);
    assert_int_equal(f->graph.buffers.items[plain].depth_min_packets, 64);
    assert_non_null(strstr(f->graph.buffers.items[plain].depth_reason, "'split' has to write"));
    fixture_free(f);
}

static void branch_that_is_one_too_short_is_told_the_least_depth(void **state)
{
    (void)state;
    uint32_t plain;
    struct fixture *f = split_join(63, &plain);
    assert_false(size(f));
    fixture_expect_text(f, "help: give 'plain' a depth of 64: 64 are enough, 63 are not");
    fixture_free(f);
    f = split_join(63, &plain);
    assert_false(size(f));
    fixture_expect_text(
        f, "'split' needs room for 1 packet in 'plain' and finds 0 after 63 firings: it waits for "
           "'mix'");
    fixture_free(f);
    f = split_join(64, &plain);
    assert_true(size(f));
    fixture_free(f);
}

/* Each of two kernels first writes its own buffer and then reads the other's, over limited depths.
 */
static void writing_before_reading_over_limited_depths(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t split = fixture_node(f, "split"), mix = fixture_node(f, "mix");
    uint32_t a = fixture_buffer(f, "a", 0, 10), b = fixture_buffer(f, "b", 0, 10);
    fixture_write(f, split, a, 8);
    fixture_write(f, split, b, 1);
    fixture_read(f, mix, a, 8, 8);
    fixture_read(f, mix, b, 1, 4);
    assert_false(size(f));
    fixture_expect_text(f, "give 'a' a depth of 32: 32 are enough, 31 are not");
    fixture_free(f);
}

static void depths_that_must_grow_together_are_told_so(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t split = fixture_node(f, "split"), mix = fixture_node(f, "mix");
    uint32_t w = fixture_buffer(f, "w", 0, 0), a = fixture_buffer(f, "a", 0, 1),
             b = fixture_buffer(f, "b", 0, 1);
    fixture_write(f, split, w, 1);
    fixture_write(f, split, a, 1);
    fixture_write(f, split, b, 1);
    fixture_read(f, mix, w, 1, 10);
    fixture_read(f, mix, a, 1, 1);
    fixture_read(f, mix, b, 1, 1);
    assert_false(size(f));
    fixture_expect_text(f, "give 'a' a depth of 10");
    fixture_free(f);
}

static void depth_below_one_firing_is_below_burst(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "find"), b = fixture_node(f, "b");
    fixture_edge(f, "c", a, 64, b, 1, 0, 32);
    assert_false(size(f));
    fixture_expect_text(f, "error: buffer 'c' holds 32 packets but one firing of 'find' writes 64 "
                           "[buffer-below-burst]");
    fixture_free(f);
    f = fixture_new();
    a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "c", a, 2, b, 3, 0, 3);
    assert_false(size(f));
    fixture_expect_text(f, "give 'c' a depth of 4: 4 are enough, 3 are not");
    fixture_free(f);
    f = fixture_new();
    a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "c", a, 1, b, 1, 3, 2);
    assert_false(size(f));
    fixture_expect_text(f, "[initial-beyond-depth]");
    fixture_free(f);
}

static void what_finish_appends_has_room(void **state)
{
    (void)state;
    for (uint64_t depth = 0; depth < 12; depth = depth ? depth + 1 : 10) {
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"),
                 buffer = fixture_buffer(f, "ab", 0, depth);
        fixture_write(f, a, buffer, 1);
        fixture_read(f, b, buffer, 1, 4);
        f->graph.nodes.items[a].outputs.items[0].finish_max = 8;
        assert_int_equal(size(f), depth != 10);
        if (depth == 10)
            fixture_expect_text(f, "give 'ab' a depth of at least 11");
        else
            assert_int_equal(fixture_depth(f, buffer), 11);
        fixture_free(f);
    }
}

static void memory_limit_names_the_largest(void **state)
{
    (void)state;
    uint32_t plain;
    struct fixture *f = split_join(0, &plain);
    f->cx.options.max_memory_bytes = 64;
    assert_false(size(f));
    fixture_expect_text(f, "'wide': 64 packets of 4 bytes");
    fixture_free(f);
}

static void shared_in_port_holds_the_skew_of_its_readers(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t port = fixture_port(f, "rf", GRAPH_OUTER_IN);
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"),
             delayed = fixture_buffer(f, "d", 0, 0);
    fixture_read(f, a, port, 1, 1);
    fixture_read(f, b, port, 1, 1);
    fixture_write(f, a, delayed, 1);
    fixture_read(f, b, delayed, 1, 100);
    assert_true(size(f));
    assert_int_equal(fixture_depth(f, port), 100);
    fixture_free(f);
}

static void huge_repetition_counts_are_sized_exactly_in_chains(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t node = fixture_node(f, "n"), last = 0;
    for (int i = 0; i < 7; i++) {
        uint32_t next = fixture_node(f, "n");
        last = fixture_edge(f, "b", node, 160, next, 147, 0, 0);
        node = next;
    }
    assert_true(size(f));
    assert_int_equal(fixture_depth(f, last), 306);
    fixture_free(f);
}

/* The two branches of the join multiply the rates in opposite order: nothing small is proportional
 * to them. */
static void huge_repetition_counts_beside_a_join_get_a_bound(void **state)
{
    (void)state;
    const uint64_t p = 10007, q = 10009, r = 10000;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c"),
             d = fixture_node(f, "d");
    uint32_t ab = fixture_edge(f, "ab", a, p, b, q, 0, 0);
    fixture_edge(f, "bd", b, q, d, r, 0, 0);
    fixture_edge(f, "ac", a, p, c, r + 1, 0, 0);
    fixture_edge(f, "cd", c, r + 1, d, r, 0, 0);
    assert_true(size(f));
    assert_true(fixture_depth(f, ab) >= p + q - 1 && fixture_depth(f, ab) < 4 * (p + q));
    fixture_free(f);
}

static void ten_thousand_nodes_are_sized(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t node = fixture_node(f, "n");
    for (int i = 1; i < 10000; i++) {
        uint32_t next = fixture_node(f, "n");
        fixture_edge(f, "b", node, i % 2 ? 3 : 2, next, i % 2 ? 2 : 3, 0, i % 3 ? 0 : 100);
        node = next;
    }
    assert_true(size(f));
    fixture_free(f);
}

static void ladder_of_joins_stays_within_its_budget(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "ab", a, 1, b, 1, 0, 0);
    for (int i = 1; i < 2500; i++) {
        uint32_t c = fixture_node(f, "c"), d = fixture_node(f, "d");
        fixture_edge(f, "ac", a, 1, c, 1, 0, 0);
        uint32_t wide = fixture_buffer(f, "bd", 0, 0);
        fixture_write(f, b, wide, 1);
        fixture_read(f, d, wide, 1, 1 + (uint64_t)(i % 3));
        fixture_edge(f, "cd", c, 1, d, 1, 0, 0);
        a = c;
        b = d;
    }
    assert_true(size(f));
    fixture_free(f);
}

/* ---- random graphs ---- */

struct tally {
    int sized, dead, refused, minimal, lowered, exhaustive, mends;
};

static void chosen_depths(const struct ref_graph *g, const struct fixture *f, int *depths)
{
    for (int b = 0; b < g->buffer_count; b++)
        depths[b] = (int)fixture_depth(f, (uint32_t)b);
}

/* Is the depth below what one firing needs?  Literal execution sees that as a stop as well, ports
 * too. */
static void check_sufficient(const struct ref_graph *g, const struct fixture *f, unsigned *seed,
                             struct tally *tally)
{
    int depths[REF_BUFFERS];
    long repetitions[REF_NODES];
    chosen_depths(g, f, depths);
    ref_repetitions(f, repetitions);
    bool live = ref_live(g, depths, repetitions, seed);
    if (!live) ref_print(g);
    assert_true(live);
    bool outside = false;
    for (int b = 0; b < g->buffer_count; b++)
        outside |= g->buffers[b].writer < 0;
    for (int b = 0; b < g->buffer_count; b++)
        for (int r = 0; r < g->buffers[b].reader_count; r++)
            outside |= g->buffers[b].history[r] > 0; /* positions are made relative */
    if (!outside && (tally->exhaustive < 400 || tally->sized > 2000) && tally->exhaustive < 600) {
        int verdict = ref_live_exhaustive(g, depths, 1000);
        assert_true(verdict != 0);
        tally->exhaustive += verdict == 1;
    }
}

static void check_least(const struct ref_graph *g, const struct fixture *f, unsigned *seed,
                        struct tally *tally)
{
    int depths[REF_BUFFERS];
    long repetitions[REF_NODES];
    chosen_depths(g, f, depths);
    ref_repetitions(f, repetitions);
    for (int b = 0; b < g->buffer_count; b++) {
        int least = (int)f->graph.buffers.items[b].depth_min_packets, own = depths[b];
        assert_true(least > 0 && least <= own);
        if (!g->buffers[b].depth) assert_int_equal(least, own);
        depths[b] = least;
        assert_true(ref_live(g, depths, repetitions, seed));
        depths[b] = least - 1;
        bool live = least > g->buffers[b].initial && ref_live(g, depths, repetitions, seed);
        if (live) {
            print_message("b%d: least %d\n", b, least);
            ref_print(g);
        }
        assert_false(live);
        depths[b] = own;
        tally->minimal++;
        tally->lowered += least < own;
    }
}

static void undeclared_depths_are_sufficient_and_least(void **state)
{
    (void)state;
    unsigned seed = 77123u;
    struct tally tally = {0};
    print_message("seed %u\n", seed);
    for (int i = 0; i < 6000; i += draw_step()) {
        struct ref_graph g;
        ref_random_graph(&g, &seed, i % 2);
        if (i >= 3000) ref_random_phases(&g, &seed);
        struct fixture *f = ref_build(&g);
        if (size(f)) {
            check_sufficient(&g, f, &seed, &tally);
            check_least(&g, f, &seed, &tally);
            tally.sized++;
        } else {
            tally.dead++;
        }
        fixture_free(f);
    }
    print_message("%d sized (%d by every order), %d dead, %d depths least\n", tally.sized,
                  tally.exhaustive, tally.dead, tally.minimal);
    assert_true(tally.sized > 1500 && tally.exhaustive > 100);
}

/* Depths of a periodic schedule for every block; false where one has none. */
static bool periodic_depths(const struct ref_graph *g, struct fixture *f, int *depths)
{
    struct arena *arena = f->cx.arena;
    struct channels channels = channels_collect(arena, &f->graph, CHANNELS_OUTER);
    struct net_depth *none = ARENA_ARRAY(arena, struct net_depth, f->graph.buffers.count);
    channels_cut(arena, &channels, NULL);
    for (int b = 0; b < g->buffer_count; b++) {
        depths[b] = g->buffers[b].push;
        for (int r = 0; r < g->buffers[b].reader_count; r++)
            if (g->buffers[b].peek[r] + g->buffers[b].history[r] > depths[b])
                depths[b] = g->buffers[b].peek[r] + g->buffers[b].history[r];
        if (g->buffers[b].initial > depths[b]) depths[b] = g->buffers[b].initial;
    }
    for (uint32_t k = 0; k < channels.block_count; k++) {
        struct net *net = net_create(arena, &channels, &channels.blocks[k], none);
        uint64_t *room = ARENA_ARRAY(arena, uint64_t, net->arc_count);
        if (!periodic_schedule(net, room)) return false;
        for (uint32_t i = 0; i < net->arc_count; i++) {
            uint32_t buffer = channels.items[net->arcs[i].channel].buffer;
            int needed = (int)room[i] + g->buffers[buffer].initial +
                         (int)channels.items[net->arcs[i].channel].reserve;
            if (net->arcs[i].kind != ARC_PACKETS && needed > depths[buffer])
                depths[buffer] = needed;
        }
    }
    return true;
}

static void periodic_schedules_only_promise_what_holds(void **state)
{
    (void)state;
    unsigned seed = 424243u;
    int found = 0, none = 0, dead = 0;
    uint64_t bound = 0, least = 0;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 5000; i += draw_step()) {
        struct ref_graph g;
        int depths[REF_BUFFERS];
        long repetitions[REF_NODES];
        ref_random_graph(&g, &seed, i % 2);
        if (i >= 3000) ref_random_phases(&g, &seed);
        struct fixture *f = ref_build(&g);
        bool live = size(f);
        ref_repetitions(f, repetitions);
        if (periodic_depths(&g, f, depths)) {
            assert_true(live);
            assert_true(ref_live(&g, depths, repetitions, &seed));
            for (int b = 0; b < g.buffer_count; b++) {
                bound += (uint64_t)depths[b];
                least += fixture_depth(f, (uint32_t)b);
            }
            found++;
        } else {
            none += live;
            dead += !live;
        }
        fixture_free(f);
    }
    print_message(
        "%d with a periodic schedule (depths %lu against %lu), %d live without, %d dead\n", found,
        bound, least, none, dead);
    found *= draw_step();
    dead *= draw_step();
    assert_true(found > 1500 && dead > 200 && bound < least * 2);
}

static int read_depths(const char *text, int *buffers, int *depths, bool *single)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, "help: give 'b")) != NULL; at++) {
        const char *after =
            ref_read_two(at, "help: give 'b", "' a depth of ", &buffers[found], &depths[found]);
        if (after)
            single[found++] =
                *after == ':' && after[1] == ' ' && after[2] >= '0' && after[2] <= '9';
        else if (ref_read_two(at, "help: give 'b", "' a depth of at least ", &buffers[found],
                              &depths[found]))
            single[found++] = true;
    }
    return found;
}

static bool declared_possible(const struct ref_graph *g, const long *repetitions, unsigned *seed)
{
    int depths[REF_BUFFERS];
    for (int b = 0; b < g->buffer_count; b++)
        depths[b] = g->buffers[b].depth ? g->buffers[b].depth : REF_UNBOUNDED;
    for (int b = 0; b < g->buffer_count; b++)
        if (depths[b] < g->buffers[b].initial) return false;
    return ref_live(g, depths, repetitions, seed);
}

static void check_depth_mends(struct ref_graph *g, struct fixture *f, const long *repetitions,
                              unsigned *seed, struct tally *tally)
{
    int buffers[32], depths[32];
    bool single[32];
    char *text = fixture_messages(f);
    int mends = read_depths(text, buffers, depths, single);
    assert_true(mends > 0);
    for (int i = 0; i < mends; i++) {
        assert_true(depths[i] > g->buffers[buffers[i]].depth);
        g->buffers[buffers[i]].depth = depths[i];
    }
    bool live = declared_possible(g, repetitions, seed);
    if (!live) {
        print_message("%s\n", text);
        ref_print(g);
    }
    assert_true(live);
    for (int i = 0; i < mends; i++) {
        if (!single[i]) continue;
        g->buffers[buffers[i]].depth--;
        if (declared_possible(g, repetitions, seed)) {
            print_message("%s\n", text);
            ref_print(g);
        }
        assert_false(declared_possible(g, repetitions, seed));
        g->buffers[buffers[i]].depth++;
        tally->mends++;
    }
    free(text);
}

static void declared_depths_are_judged_exactly(void **state)
{
    (void)state;
    unsigned seed = 990017u;
    struct tally tally = {0};
    print_message("seed %u\n", seed);
    for (int i = 0; i < 8000; i += draw_step()) {
        struct ref_graph g;
        long repetitions[REF_NODES];
        ref_random_graph(&g, &seed, i % 2);
        if (i >= 4000) ref_random_phases(&g, &seed);
        for (int b = 0; b < g.buffer_count; b++)
            if (g.buffers[b].writer >= 0 && ref_pick(&seed, 2))
                g.buffers[b].depth = 1 + ref_pick(&seed, 30);
        struct fixture *f = ref_build(&g);
        rate_solve(&f->cx, &f->graph);
        deadlock_check(&f->cx, &f->graph);
        if (diag_failed(f->cx.diags)) {
            fixture_free(f);
            continue;
        }
        bufsize_assign(&f->cx, &f->graph);
        ref_repetitions(f, repetitions);
        bool verdict = !diag_failed(f->cx.diags),
             expected = declared_possible(&g, repetitions, &seed);
        if (verdict != expected) {
            print_message("graph %d: %d, reference %d\n", i, verdict, expected);
            ref_print(&g);
        }
        assert_int_equal(verdict, expected);
        if (verdict) {
            check_sufficient(&g, f, &seed, &tally);
            check_least(&g, f, &seed, &tally);
            tally.sized++;
        } else {
            check_depth_mends(&g, f, repetitions, &seed, &tally);
            tally.refused++;
        }
        fixture_free(f);
    }
    print_message(
        "%d sized, %d refused, %d depths minimal (%d below the declared), %d fixes minimal\n",
        tally.sized, tally.refused, tally.minimal, tally.lowered, tally.mends);
    assert_true(tally.sized > 500 && tally.refused > 500 && tally.mends > 300);
}

/* ---- bounded rates ---- */

/* n0 writes 0 to `most` packets, which n1 and n2 read, whose packets n3 joins: all with rates that
 * balance, windows and phases at random. */
static void random_split(struct ref_graph *g, unsigned *seed)
{
    int q[4] = {1, 1 + ref_pick(seed, 3), 1 + ref_pick(seed, 3), 1 + ref_pick(seed, 2)};
    int common = q[1] * q[2] * q[3];
    memset(g, 0, sizeof *g);
    g->node_count = 4;
    g->buffer_count = 3;
    g->buffers[0] = (struct ref_buffer){
        .writer = 0, .push = 1 + ref_pick(seed, 6), .reader_count = 2, .reader = {1, 2}};
    g->buffers[0].initial = ref_pick(seed, 3) ? 0 : ref_pick(seed, 5);
    for (int r = 0; r < 2; r++) {
        g->buffers[0].pop[r] = common / q[1 + r];
        g->buffers[0].peek[r] = g->buffers[0].pop[r] + ref_pick(seed, 4);
        g->buffers[1 + r] =
            (struct ref_buffer){.writer = 1 + r,
                                .push = common / q[1 + r],
                                .initial = ref_pick(seed, 3) ? 0 : ref_pick(seed, 4),
                                .reader_count = 1,
                                .reader = {3},
                                .pop = {common / q[3]},
                                .peek = {common / q[3] + ref_pick(seed, 3)}};
    }
    ref_random_phases(g, seed);
    g->phases[0] = 1;
}

/* Runs with a production that is drawn anew for each firing; false: no node can go on. */
static bool goes_on(const struct ref_graph *g, const int *depths, unsigned *seed)
{
    struct ref_state s;
    int style = ref_pick(seed, 4); /* 0: always one, 1: always the maximum, else any */
    ref_start(g, &s);
    while (s.written[0] < 400) {
        bool progress = false;
        int first = ref_pick(seed, g->node_count);
        for (int i = 0; i < g->node_count; i++) {
            int node = (first + i) % g->node_count, most = g->buffers[0].push;
            if (!ref_can_fire(g, &s, depths, node)) continue;
            ref_fire(g, &s, node);
            if (node == 0 && style == 0) s.written[0] -= most - 1;
            if (node == 0 && style > 1) s.written[0] -= ref_pick(seed, most + 1);
            progress = true;
        }
        if (!progress) return false;
    }
    return true;
}

static void what_follows_a_bounded_writer_never_stops(void **state)
{
    (void)state;
    unsigned seed = 5521u;
    int stopped = 0, sized = 0;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 2000; i++) {
        struct ref_graph g;
        int depths[REF_BUFFERS] = {0};
        random_split(&g, &seed);
        struct fixture *f = ref_build(&g);
        f->graph.nodes.items[0].outputs.items[0].push_least = 0;
        bounded_check(&f->cx, &f->graph);
        assert_false(diag_failed(f->cx.diags));
        if (size(f)) {
            chosen_depths(&g, f, depths);
            for (int run = 0; run < 8; run++) {
                bool on = goes_on(&g, depths, &seed);
                if (!on) {
                    print_message("depths %d %d %d\n", depths[0], depths[1], depths[2]);
                    ref_print(&g);
                }
                assert_true(on);
            }
            depths[0]--;
            bool on = depths[0] >= g.buffers[0].initial;
            for (int run = 0; run < 40 && on; run++)
                on = goes_on(&g, depths, &seed);
            stopped += !on;
            sized++;
        }
        fixture_free(f);
    }
    print_message("%d sized, %d stop with one packet less\n", sized, stopped);
    assert_true(sized > 1500 && stopped > sized / 2);
}

static void bounded_writers_stand_on_bridges(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct fixture *f = fixture_new();
        uint32_t fork = fixture_node(f, "fork"), some = fixture_node(f, "some"),
                 join = fixture_node(f, "join");
        fixture_edge(f, "a", fork, 1, some, 1, 0, 0);
        fixture_edge(f, "b", some, 2, join, 1, 0, 0);
        if (round) fixture_edge(f, "c", fork, 2, join, 1, 0, 0);
        f->graph.nodes.items[some].outputs.items[0].push_least = 0;
        rate_solve(&f->cx, &f->graph);
        assert_int_equal(f->graph.component_count, round ? 1 : 2);
        bounded_check(&f->cx, &f->graph);
        assert_int_equal(diag_failed(f->cx.diags), round);
        assert_int_equal(f->graph.unproven, round);
        if (round) fixture_expect_text(f, "'join' may wait for packets in 'b' while 'c' is full");
        fixture_free(f);
    }
}

TEST_MAIN("bufsize", cmocka_unit_test(bounded_writers_stand_on_bridges),
          cmocka_unit_test(what_follows_a_bounded_writer_never_stops),
          cmocka_unit_test(one_buffer_gets_push_plus_pop_minus_gcd),
          cmocka_unit_test(window_is_the_depth_and_the_reason),
          cmocka_unit_test(branch_beside_a_window_holds_its_delay),
          cmocka_unit_test(branch_that_is_one_too_short_is_told_the_least_depth),
          cmocka_unit_test(writing_before_reading_over_limited_depths),
          cmocka_unit_test(depths_that_must_grow_together_are_told_so),
          cmocka_unit_test(depth_below_one_firing_is_below_burst),
          cmocka_unit_test(what_finish_appends_has_room),
          cmocka_unit_test(memory_limit_names_the_largest),
          cmocka_unit_test(shared_in_port_holds_the_skew_of_its_readers),
          cmocka_unit_test(huge_repetition_counts_are_sized_exactly_in_chains),
          cmocka_unit_test(huge_repetition_counts_beside_a_join_get_a_bound),
          cmocka_unit_test(ten_thousand_nodes_are_sized),
          cmocka_unit_test(ladder_of_joins_stays_within_its_budget),
          cmocka_unit_test(undeclared_depths_are_sufficient_and_least),
          cmocka_unit_test(periodic_schedules_only_promise_what_holds),
          cmocka_unit_test(declared_depths_are_judged_exactly))
