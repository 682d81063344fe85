/* SPDX-License-Identifier: MIT */
/* Whether jobs are shared follows what whole rounds take, on a clock that the tests move. */
#include "tests/test.h"

#include "runtime/backend/cpu/cpu_trial.h"

struct host {
    struct prt_cpu_trial trial;
    uint64_t now_ns;
    uint64_t shared_ns, alone_ns; /* what a unit of work takes */
    uint64_t shared, alone;       /* rounds */
};

/* Rounds of two objects, the second one with less work, and less cost by ten for each unit. */
static void rounds(struct host *host, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t object = 0; object < 2; object++) {
            uint64_t work = object == 0 ? 1000 : 500;
            bool alone = prt_cpu_trial_alone(&host->trial, object, work, 1, host->now_ns);
            uint64_t each = alone ? host->alone_ns : host->shared_ns;
            host->now_ns += work * each / (object == 0 ? 1 : 10);
            *(alone ? &host->alone : &host->shared) += object;
        }
    }
}

static struct host begin(uint64_t shared_ns, uint64_t alone_ns)
{
    struct host host = {.now_ns = 1000000, .shared_ns = shared_ns, .alone_ns = alone_ns};
    prt_cpu_trial_begin(&host.trial);
    return host;
}

static void what_is_quicker_together_is_shared(void **unused)
{
    (void)unused;
    struct host host = begin(60, 100);
    rounds(&host, 2000);
    assert_in_range(host.alone, 1, 40);
    assert_false(host.trial.alone);
}

/* A trial of three windows, and the first one, would be four rounds. */
static void what_is_far_slower_alone_is_hardly_tried(void **unused)
{
    (void)unused;
    struct host host = begin(60, 120);
    rounds(&host, 2 * PRT_CPU_KEPT_LEAST);
    assert_in_range(host.alone, 1, 2);
    assert_false(host.trial.alone);
}

/* With many threads a round without them takes many times as long: a trial ends within its first round. */
static void a_trial_costs_less_than_two_shared_rounds(void **unused)
{
    (void)unused;
    struct host host = begin(60, 120);
    uint32_t jobs_alone = 0;
    uint64_t begun_ns = host.now_ns, work = 0;
    for (uint32_t i = 0; i < 400 * 8; i++) {
        bool alone = prt_cpu_trial_alone(&host.trial, i % 8, 1000, 1, host.now_ns);
        host.now_ns += alone ? 16 * 60000 : 60000;
        jobs_alone += alone;
        work++;
    }
    assert_true(jobs_alone > 0);
    uint64_t lost_ns = host.now_ns - begun_ns - work * 60000;
    assert_in_range(lost_ns / (8 * UINT64_C(60000)), 1,
                    4 * 2); /* trials after 3, 32, 64 and 128 windows */
}

static void what_is_quicker_alone_is_not_shared(void **unused)
{
    (void)unused;
    struct host host = begin(150, 100);
    rounds(&host, 2000);
    assert_in_range(host.shared, 1, 40);
    assert_true(host.trial.alone);
}

/* Each way goes on for many windows before the other is tried again. */
static void it_follows_a_change(void **unused)
{
    (void)unused;
    struct host host = begin(150, 100);
    rounds(&host, 500);
    assert_true(host.trial.alone);
    host.shared_ns = 60;
    rounds(&host, 2 * (PRT_CPU_KEPT_MOST + 2 * PRT_CPU_TRIED));
    assert_false(host.trial.alone);
}

/* The first trial has other threads that begin slowly. */
static void a_wrong_beginning_is_soon_mended(void **unused)
{
    (void)unused;
    struct host host = begin(300, 100);
    rounds(&host, 2 * PRT_CPU_TRIED + 4);
    assert_true(host.trial.alone);
    host.shared_ns = 60;
    rounds(&host, PRT_CPU_KEPT_LEAST + 2 * PRT_CPU_TRIED);
    assert_false(host.trial.alone);
}

/* One window of three takes ten times as long, in both ways. */
static void what_disturbs_for_a_while_does_not_count(void **unused)
{
    (void)unused;
    struct host host = begin(60, 100);
    uint32_t shared = 0;
    for (uint32_t i = 0; i < 300; i++) {
        host.shared_ns = i % 3 == 0 ? 600 : 60;
        host.alone_ns = i % 3 == 0 ? 1000 : 100;
        rounds(&host, 1);
        shared += !host.trial.alone;
    }
    assert_in_range(shared, 280, 300);
}

/* With jobs in lines a round may look short, as its jobs are given before those of the round before have been
 * executed: only several rounds together are a measure. */
static void a_window_lasts_as_many_rounds_as_asked(void **unused)
{
    (void)unused;
    struct prt_cpu_trial trial;
    prt_cpu_trial_begin(&trial);
    uint64_t now_ns = 1;
    (void)prt_cpu_trial_alone(&trial, 0, 1, 4, now_ns);
    for (uint32_t round = 1; round <= 8; round++) {
        (void)prt_cpu_trial_alone(&trial, 0, 1, 4, now_ns += PRT_CPU_WINDOW_NS);
        assert_int_equal(trial.work, 1 + round % 4);
    }
}

/* Long rounds need no others beside them. */
static void a_long_window_needs_one_round(void **unused)
{
    (void)unused;
    struct prt_cpu_trial trial;
    prt_cpu_trial_begin(&trial);
    uint64_t now_ns = 1;
    for (uint32_t round = 0; round < 4; round++) {
        (void)prt_cpu_trial_alone(&trial, 0, 1, 8, now_ns);
        assert_int_equal(trial.work, 1 + round % 2);
        now_ns += round % 2 == 0 ? PRT_CPU_WINDOW_LONG_NS - 1 : 1;
    }
}

TEST_MAIN("cpu_trial", cmocka_unit_test(what_is_quicker_together_is_shared),
          cmocka_unit_test(what_is_far_slower_alone_is_hardly_tried),
          cmocka_unit_test(what_is_quicker_alone_is_not_shared),
          cmocka_unit_test(it_follows_a_change), cmocka_unit_test(a_wrong_beginning_is_soon_mended),
          cmocka_unit_test(what_disturbs_for_a_while_does_not_count),
          cmocka_unit_test(a_window_lasts_as_many_rounds_as_asked),
          cmocka_unit_test(a_trial_costs_less_than_two_shared_rounds),
          cmocka_unit_test(a_long_window_needs_one_round))
