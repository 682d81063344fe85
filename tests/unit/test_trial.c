/* SPDX-License-Identifier: MIT */
/* trial: launches, packets, compute units and sub-devices in a played run. */
#include "tests/test.h"

#include <stdlib.h>

#include "tests/unit/graph_reference.h"

#include "compiler/plan/plan.h"
#include "tests/unit/plan_fixture.h"
#include "compiler/plan/trial.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"

enum { ENQUEUE = 200, PROCESS = 400, CLEANUP = 200, SWITCH = 100, LAUNCH = 800 };

static struct devdesc device(uint32_t cus)
{
    struct devdesc d = {.cu_count = cus,
                        .lanes = 8,
                        .cores_per_cu = 1,
                        .memory_bytes = UINT64_C(1) << 30,
                        .memory_bytes_per_cycle = 1 << 20,
                        .schemes = DEVDESC_BY_COUNTS,
                        .max_sub_devices = cus,
                        .launch_enqueue_cycles = ENQUEUE,
                        .launch_process_cycles = PROCESS,
                        .launch_cleanup_cycles = CLEANUP,
                        .switch_cycles = SWITCH,
                        .reference_entries = 8};
    strcpy(d.name, "test");
    return d;
}

/* in -> n nodes in a row, with these costs -> out */
static struct fixture *row(const uint64_t *costs, uint32_t count)
{
    struct fixture *f = fixture_new();
    uint32_t from = fixture_port(f, "in", GRAPH_OUTER_IN);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = fixture_node(f, "n");
        uint32_t to =
            i + 1 < count ? fixture_buffer(f, "b", 0, 0) : fixture_port(f, "out", GRAPH_OUTER_OUT);
        f->graph.nodes.items[node].cost_cycles = costs[i];
        fixture_read(f, node, from, 1, 1);
        fixture_write(f, node, to, 1);
        from = to;
    }
    return f;
}

static struct plan *plan_of(struct fixture *f, const struct devdesc *d)
{
    rate_solve(&f->cx, &f->graph);
    deadlock_check(&f->cx, &f->graph);
    bufsize_assign(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    return fixture_plan(f, d);
}

/* A whole run with so many packets at each in-port. */
static struct trial try(struct fixture *f, const struct plan *plan, uint64_t packets)
{
    uint64_t *all = calloc(f->graph.buffers.count + 1, sizeof *all);
    for (size_t i = 0; i < f->graph.buffers.count; i++)
        all[i] = packets;
    struct trial trial = trial_stream(f->cx.arena, &f->graph, plan, all, packets);
    free(all);
    assert_true(trial.whole);
    return trial;
}

/* So many iterations of a run that does not end. */
static struct trial go_on(struct fixture *f, const struct plan *plan, uint64_t iterations)
{
    return trial_run(f->cx.arena, &f->graph, plan, NULL, POLICY_ROUND_ROBIN,
                     (struct trial_size){.iterations = iterations, .looks = UINT64_C(1) << 40});
}

/* A launch ends, then the scheduler executes `ends`, the selection and `dispatch`. */
enum { BETWEEN = 3, AT_THE_ENDS = 16 };

static void a_stage_alone_pays_for_every_launch(void **state)
{
    (void)state;
    for (uint32_t cus = 1; cus <= 16; cus *= 4) {
        struct fixture *f = row((uint64_t[]){50}, 1);
        struct devdesc d = device(cus);
        struct plan *plan = plan_of(f, &d);
        uint64_t batch = plan->stages[0].batch_max, launches = 10;
        uint64_t each = LAUNCH + (batch / 8 + cus - 1) / cus * 50 + BETWEEN;
        struct trial trial = try(f, plan, batch * launches);
        assert_int_equal(trial.dispatches, launches);
        assert_true(trial.cycles >= each * launches);
        assert_true(trial.cycles <= each * launches + AT_THE_ENDS);
        assert_int_equal(go_on(f, plan, batch * launches).steady_cycles / launches, each);
        fixture_free(f);
    }
}

/* Firings with state follow each other: no compute unit helps but the first. */
static void state_uses_one_compute_unit(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){50}, 1);
    struct devdesc d = device(16);
    f->graph.nodes.items[0].stateful = true;
    struct plan *plan = plan_of(f, &d);
    uint64_t batch = plan->stages[0].batch_max;
    struct trial trial = try(f, plan, batch * 4);
    assert_int_equal(trial.dispatches, 4);
    assert_true(trial.cycles >= 4 * (LAUNCH + batch * 50));
    assert_true(trial.cycles <= 4 * (LAUNCH + batch * 50 + BETWEEN) + AT_THE_ENDS);
    fixture_free(f);
}

/* In one packet: enqueued and processed once, cleaned up once, a switch for each but the first. */
static void stages_of_a_pack_share_a_packet(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){8, 8, 8}, 3);
    struct devdesc d = device(1);
    struct plan *plan = plan_of(f, &d);
    assert_int_equal(plan->mode, PLAN_IN_SEQUENCE);
    assert_int_equal(plan->pack_count, 1);
    uint64_t batch = plan->stages[0].batch_max;
    struct trial trial = try(f, plan, batch * 4);
    uint64_t work = batch / 8 * 8 * 3, round = LAUNCH + work + UINT64_C(3) * SWITCH;
    assert_int_equal(trial.dispatches, 12);
    assert_true(trial.cycles >= 4 * round - SWITCH);
    assert_true(trial.cycles <= 4 * (round + 16) + 2 * LAUNCH); /* references are stored */
    fixture_free(f);
}

/* Two stages with state at once take the time of one. */
static void sub_devices_execute_at_the_same_time(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){1000, 1000}, 2);
    struct devdesc d = device(2);
    f->graph.nodes.items[0].stateful = f->graph.nodes.items[1].stateful = true;
    struct plan *plan = plan_of(f, &d);
    assert_int_equal(plan->mode, PLAN_SIDE_BY_SIDE);
    struct trial trial = go_on(f, plan, 100000);
    assert_true(trial.steady_cycles < UINT64_C(100000) * 1010);
    d = device(1);
    trial = go_on(f, plan_of(f, &d), 100000);
    assert_true(trial.steady_cycles > UINT64_C(100000) * 2000);
    fixture_free(f);
}

/* The delay of the memory counts, not the computing. */
static void memory_limits(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){1}, 1);
    struct devdesc d = device(16);
    d.memory_bytes_per_cycle = 1;
    struct plan *plan = plan_of(f, &d);
    uint64_t batch = plan->stages[0].batch_max;
    struct trial trial = try(f, plan, batch * 4);
    assert_true(trial.cycles >= 4 * (LAUNCH + batch * 8));
    assert_true(trial.cycles <= 4 * (LAUNCH + batch * 8 + BETWEEN) + AT_THE_ENDS);
    fixture_free(f);
}

/* An important stage's launch on shared compute units does not wait for the other's to end: as many of its
 * packets as without the other pass in about the same time, beside half a warp at an interruption. */
static void importance_interrupts(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    for (int i = 0; i < 2; i++) {
        uint32_t node = fixture_node(f, "n");
        fixture_read(f, node, fixture_port(f, "in", GRAPH_OUTER_IN), 1, 1);
        fixture_write(f, node, fixture_port(f, "out", GRAPH_OUTER_OUT), 1);
        f->graph.nodes.items[node].cost_cycles = 100;
    }
    f->graph.nodes.items[1].importance = 9;
    struct devdesc d = device(1);
    struct plan *plan = plan_of(f, &d);
    uint64_t batch = plan->stages[0].batch_max;
    uint64_t packets[4] = {batch * 8, 0, batch * 16, 0}; /* it has twice as much to do */
    struct trial trial = trial_stream(f->cx.arena, &f->graph, plan, packets, 0);
    uint64_t work = batch / 8 * 100 * 24;
    assert_true(trial.whole);
    assert_true(trial.cycles >= work + UINT64_C(24) * LAUNCH);
    assert_true(trial.cycles <= work + UINT64_C(24) * (LAUNCH + 2 * SWITCH + 20));
    fixture_free(f);
}

static void a_trial_is_the_same_twice_and_ends_within_its_budget(void **state)
{
    (void)state;
    unsigned seed = 2718;
    int stuck = 0;
    for (int i = 0; i < 200; i++) {
        struct ref_graph g;
        ref_random_graph(&g, &seed, i % 2);
        struct fixture *f = ref_build(&g);
        for (uint32_t n = 0; n < f->graph.nodes.count; n++) /* without an out-port a run ends */
            fixture_write(f, n, fixture_port(f, "out", GRAPH_OUTER_OUT), 1);
        rate_solve(&f->cx, &f->graph);
        deadlock_check(&f->cx, &f->graph);
        if (!diag_failed(f->cx.diags)) {
            struct devdesc d = device((uint32_t)(1 + i % 7));
            bufsize_assign(&f->cx, &f->graph);
            struct plan *plan = fixture_plan(f, &d);
            struct trial_size size = trial_size_for(plan);
            for (enum graph_policy p = POLICY_ROUND_ROBIN; p <= POLICY_FULLEST; p++) {
                struct trial a = trial_run(f->cx.arena, &f->graph, plan, NULL, p, size);
                struct trial b = trial_run(f->cx.arena, &f->graph, plan, NULL, p, size);
                assert_int_equal(a.cycles, b.cycles);
                assert_int_equal(a.steady_cycles, b.steady_cycles);
                stuck += a.steady_cycles == UINT64_MAX;
            }
            struct trial cut =
                trial_run(f->cx.arena, &f->graph, plan, NULL, POLICY_ROUND_ROBIN,
                          (struct trial_size){.iterations = UINT64_C(1) << 40, .looks = 5000});
            assert_true(cut.dispatches <= 5000);
        }
        fixture_free(f);
    }
    assert_int_equal(stuck, 0); /* what is free of deadlock goes on, in a trial as well */
}

TEST_MAIN("trial", cmocka_unit_test(a_stage_alone_pays_for_every_launch),
          cmocka_unit_test(state_uses_one_compute_unit),
          cmocka_unit_test(stages_of_a_pack_share_a_packet),
          cmocka_unit_test(sub_devices_execute_at_the_same_time), cmocka_unit_test(memory_limits),
          cmocka_unit_test(importance_interrupts),
          cmocka_unit_test(a_trial_is_the_same_twice_and_ends_within_its_budget))
