/* SPDX-License-Identifier: MIT */
/* The threads of the device cpu by themselves; tests/weak/weak_pool.c has their memory orders. */
#include "tests/test.h"

#include "runtime/backend/cpu/cpu_pool.h"

#include <stdatomic.h>

enum { JOBS = 2, THREADS = 2, FIRINGS = 16, COST_CYCLES = 50000 };

static atomic_bool gate;

static int32_t wait_at_gate(const struct kernel_batch *batch)
{
    (void)batch;
    while (!atomic_load(&gate))
        continue;
    return KERNEL_OK;
}

/* Two jobs with state of one line, beside which there is another line. */
struct fixture {
    struct prt_cpu_pool pool;
    struct prt_kernel_object objects[JOBS];
    struct prt_cpu_job jobs[JOBS];
    struct prt_cpu_share shares[JOBS][THREADS];
};

static void begin(struct fixture *f)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        f->objects[i] = (struct prt_kernel_object){.entry = wait_at_gate,
                                                   .stage = i,
                                                   .flags = PRT_KERNEL_STATEFUL,
                                                   .cost_cycles = COST_CYCLES};
        f->jobs[i] = (struct prt_cpu_job){
            .object = &f->objects[i], .launch = {.firings = FIRINGS}, .shares = f->shares[i]};
    }
    prt_cpu_pool_create(&f->pool, THREADS, false);
    assert_int_equal(prt_cpu_pool_start(&f->pool, f->objects, f->jobs, JOBS), PRT_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(prt_cpu_pool_line(&f->pool, i, 0), PRT_OK);
        prt_cpu_pool_place(&f->pool, i, 0, THREADS);
    }
}

/* The trial compares the time of rounds with their work: a job that waits for its line is part of that.  When such
 * jobs were not counted, chains of stages with state were executed one after the other. */
static void the_trial_counts_jobs_that_wait_in_a_line(void **unused)
{
    (void)unused;
    static struct fixture f;
    begin(&f);
    atomic_store(&f.pool.helped, true); /* the trial goes on */
    atomic_store(&gate, false);
    prt_cpu_pool_give(&f.pool, &f.jobs[0]);
    uint64_t first = f.pool.trial.work;
    prt_cpu_pool_give(&f.pool, &f.jobs[1]);
    uint64_t both = f.pool.trial.work;
    atomic_store(&gate, true);
    prt_cpu_pool_wait(&f.pool, 0);
    assert_true(prt_cpu_job_done(&f.jobs[0]) && prt_cpu_job_done(&f.jobs[1]));
    prt_cpu_pool_destroy(&f.pool);
    assert_true(first > 0);
    assert_int_equal(both, 2 * first);
}

static atomic_uint longest; /* firings that one execution had */
static atomic_uint executed;

static int32_t count_firings(const struct kernel_batch *batch)
{
    uint32_t firings = (uint32_t)batch->count;
    atomic_fetch_add(&executed, firings);
    for (uint32_t seen = atomic_load(&longest);
         seen < firings && !atomic_compare_exchange_weak(&longest, &seen, firings);)
        continue;
    return KERNEL_OK;
}

/* A worker took three quarters of its share as one range.  If the system stopped it within a range of some milliseconds,
 * all others waited, and a long dispatch gained little from two threads on a machine with other work. */
static void a_long_job_is_executed_in_short_pieces(void **unused)
{
    (void)unused;
    static struct fixture f;
    begin(&f);
    prt_cpu_pool_line_close(&f.pool, 1);
    f.objects[0].flags = 0;
    f.objects[0].entry = count_firings;
    f.jobs[0].launch.firings = 4096; /* of 6 microseconds, by the cost model */
    prt_cpu_pool_give(&f.pool, &f.jobs[0]);
    prt_cpu_pool_wait(&f.pool, 0);
    prt_cpu_pool_destroy(&f.pool);
    assert_int_equal(atomic_load(&executed), 4096);
    assert_in_range(atomic_load(&longest), 16, 64); /* registers of lanes */
}

TEST_MAIN("cpu_pool", cmocka_unit_test(the_trial_counts_jobs_that_wait_in_a_line),
          cmocka_unit_test(a_long_job_is_executed_in_short_pieces))
