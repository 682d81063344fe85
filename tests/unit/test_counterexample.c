/* SPDX-License-Identifier: MIT */
/* counterexample_find against breadth-first search over all orders of firing: no shorter sequence
 * closes a cycle (N, SEED). */
#include "tests/test.h"

#include "compiler/liveness/counterexample.h"
#include "compiler/liveness/rate.h"
#include "tests/unit/graph_reference.h"

enum { STATES_MAX = 3000, STEPS_MAX = 6 };

static unsigned environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void depths_of(const struct ref_graph *g, int *depths)
{
    ref_unbounded(g, depths);
    for (int b = 0; b < g->buffer_count; b++)
        if (g->buffers[b].depth) depths[b] = g->buffers[b].depth;
}

/* Does node `a` wait for node `b` in this state? */
static bool waits_for(const struct ref_graph *g, const struct ref_state *s, const int *depths,
                      int a, int b)
{
    for (int i = 0; i < g->buffer_count; i++) {
        const struct ref_buffer *buffer = &g->buffers[i];
        for (int r = 0; r < buffer->reader_count; r++) {
            long free = depths[i] - (s->written[i] - ref_freed(g, s, i, r));
            if (buffer->writer == a && buffer->reader[r] == b && free < ref_push(g, s, i))
                return true;
            if (buffer->reader[r] == a && buffer->writer == b &&
                s->written[i] - s->position[i][r] < ref_peek(g, s, i, r))
                return true;
        }
    }
    return false;
}

/* Is there a cycle of waiting nodes?  Transitive closure of the waits. */
static bool is_closed(const struct ref_graph *g, const struct ref_state *s, const int *depths)
{
    bool waits[REF_NODES][REF_NODES] = {{false}};
    for (int a = 0; a < g->node_count; a++)
        for (int b = 0; b < g->node_count; b++)
            waits[a][b] = waits_for(g, s, depths, a, b);
    for (int k = 0; k < g->node_count; k++)
        for (int a = 0; a < g->node_count; a++)
            for (int b = 0; b < g->node_count; b++)
                waits[a][b] |= waits[a][k] && waits[k][b];
    for (int a = 0; a < g->node_count; a++)
        if (waits[a][a]) return true;
    return false;
}

/* Fewest firings after which a cycle is closed; -1: more than `most`, or too many states. */
static int search_fewest(const struct ref_graph *g, const int *depths, int most)
{
    struct ref_state *states = calloc(STATES_MAX, sizeof *states);
    int *level = calloc(STATES_MAX, sizeof *level);
    int count = 1, found = -1;
    ref_start(g, &states[0]);
    for (int k = 0; k < count && found < 0 && level[k] <= most; k++) {
        if (is_closed(g, &states[k], depths)) {
            found = level[k];
            break;
        }
        for (int node = 0; node < g->node_count && count < STATES_MAX; node++) {
            if (!ref_can_fire(g, &states[k], depths, node)) continue;
            struct ref_state next = states[k];
            ref_fire(g, &next, node);
            int seen = 0;
            while (seen < count && memcmp(&states[seen], &next, sizeof next) != 0)
                seen++;
            if (seen < count) continue;
            states[count] = next;
            level[count++] = level[k] + 1;
        }
    }
    if (count == STATES_MAX && found < 0) found = -2;
    free(states);
    free(level);
    return found;
}

/* Every firing of the sequence is possible, and its end is a deadlock of the cycle. */
static void replay(const struct ref_graph *g, const int *depths, const struct counterexample *found)
{
    struct ref_state s;
    uint64_t firings = 0;
    ref_start(g, &s);
    for (size_t i = 0; i < found->run_count; i++)
        for (uint64_t k = 0; k < found->runs[i].count; k++, firings++) {
            assert_true(ref_can_fire(g, &s, depths, (int)found->runs[i].node));
            ref_fire(g, &s, (int)found->runs[i].node);
        }
    assert_int_equal(firings, found->firings);
    for (uint32_t i = 0; i < found->wait_count; i++) {
        const struct counter_wait *wait = &found->waits[i];
        assert_true(waits_for(g, &s, depths, (int)wait->node, (int)wait->next));
        assert_int_equal(wait->next, found->waits[(i + 1) % found->wait_count].node);
        assert_int_equal(s.fired[wait->node], wait->fired);
        assert_true(wait->holds < wait->needs);
    }
    assert_true(found->wait_count > 0);
}

static bool has_outside(const struct ref_graph *g)
{
    for (int b = 0; b < g->buffer_count; b++)
        if (g->buffers[b].writer < 0) return true;
    return false;
}

static void no_sequence_is_shorter(void **unused)
{
    (void)unused;
    unsigned seed = environment("SEED", 1), count = environment("N", 3000), shown = 0, compared = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned own = seed + i;
        struct ref_graph g;
        int depths[REF_BUFFERS];
        ref_random_graph(&g, &own, true);
        if (i % 3 == 0) ref_random_phases(&g, &own);
        for (int b = 0; b < g.buffer_count; b++) {
            memset(g.buffers[b].history, 0, sizeof g.buffers[b].history);
            if (ref_pick(&own, 3)) continue;
            g.buffers[b].depth = g.buffers[b].push + g.buffers[b].initial + ref_pick(&own, 4);
        }
        if (has_outside(&g)) continue;
        struct fixture *f = ref_build(&g);
        rate_solve(&f->cx, &f->graph);
        const struct counterexample *found = counterexample_find(&f->cx, &f->graph);
        depths_of(&g, depths);
        if (found->kind == COUNTER_FOUND) {
            shown++;
            replay(&g, depths, found);
            int fewest = search_fewest(&g, depths, (int)found->firings);
            if (fewest >= 0) {
                compared++;
                if ((uint64_t)fewest != found->firings) ref_print(&g);
                assert_int_equal(fewest, found->firings);
            }
        }
        fixture_free(f);
    }
    assert_true(count < 1000 || (shown > count / 10 && compared > shown / 2));
}

static void what_goes_on_has_none(void **unused)
{
    (void)unused;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "there", a, 2, b, 3, 0, 4);
    fixture_edge(f, "back", b, 3, a, 2, 4, 0);
    rate_solve(&f->cx, &f->graph);
    assert_int_equal(counterexample_find(&f->cx, &f->graph)->kind, COUNTER_NONE);
    f->graph.buffers.items[0].depth_packets = 3;
    const struct counterexample *found = counterexample_find(&f->cx, &f->graph);
    assert_int_equal(found->kind, COUNTER_FOUND);
    assert_int_equal(found->firings, 1);
    assert_int_equal(found->level_count, 1);
    assert_int_equal(found->levels[0].depth, 3);
    fixture_free(f);
}

TEST_MAIN("counterexample", cmocka_unit_test(no_sequence_is_shorter),
          cmocka_unit_test(what_goes_on_has_none))
