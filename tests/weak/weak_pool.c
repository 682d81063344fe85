/* SPDX-License-Identifier: MIT */
/*
 * weak_pool: runtime/backend/cpu/cpu_pool.c under the explorer.  A caller gives jobs to three lines: of all workers, of all
 * workers in one piece, of worker 1 only; it waits, uses their results, and gives them again.
 *
 * Claims: each firing is executed once; a job finds what the caller and the job before it on its line have written, and
 * the caller what the job has, without a race; all threads end.
 */
#include "runtime/backend/cpu/cpu_pool.h"
#include "runtime/device/host_thread.h"
#include "runtime/device/kernel_call.h"
#include "tests/weak/explorer.h"

#include <stdlib.h>
#include <string.h>

enum { JOBS = 4, FIRINGS = 64, LINES = 3, STEPS = 7 };

static struct {
    struct prt_cpu_pool pool;
    struct prt_kernel_object objects[JOBS];
    struct prt_cpu_job jobs[JOBS];
    struct prt_cpu_share shares[JOBS][4];
    bool given[JOBS];
    uint32_t asked[JOBS];            /* by the caller; read by firings */
    uint32_t answers[JOBS][FIRINGS]; /* by firings; read and cleared by the caller */
    uint32_t longest_firing;
    uint32_t in_order[LINES],
        turns[LINES]; /* counted by jobs that are in one piece, and by the caller */
} w;

/* ---- what the pool asks of others ---- */

enum prt_status prt_kernel_scratch_create(const struct prt_kernel_object *objects, uint32_t count,
                                          struct prt_kernel_scratch *scratch)
{
    (void)objects, (void)count;
    memset(scratch, 0, sizeof *scratch);
    return PRT_OK;
}

void prt_kernel_scratch_free(struct prt_kernel_scratch *scratch)
{
    (void)scratch;
}

enum kernel_status prt_kernel_execute(const struct prt_kernel_object *object, uint64_t origin,
                                      uint64_t first, uint64_t count,
                                      const struct prt_kernel_scratch *scratch,
                                      uint64_t *warp_cycles, struct kernel_fault *fault)
{
    uint32_t job = object->stage;
    (void)origin, (void)scratch, (void)warp_cycles, (void)fault;
    for (uint64_t i = first; i < first + count; i += 16) {
        w.answers[job][i] += w.asked[job];
        for (uint32_t length = explorer_draw(w.longest_firing); length > 0; length--)
            explorer_yield();
    }
    if ((object->flags & PRT_KERNEL_STATEFUL) != 0) w.in_order[w.jobs[job].queue]++;
    return KERNEL_OK;
}

enum kernel_status prt_kernel_execute_apart(const struct prt_kernel_object *object, uint64_t origin,
                                            uint64_t first, uint64_t count,
                                            const struct prt_kernel_scratch *scratch,
                                            const uint64_t *begin, uint64_t *produced,
                                            uint64_t *most, struct kernel_fault *fault)
{
    (void)begin, (void)produced, (void)most;
    return prt_kernel_execute(object, origin, first, count, scratch, NULL, fault);
}

bool prt_host_thread_start(struct prt_host_thread *thread, void (*body)(void *argument),
                           void *argument)
{
    thread->thread = explorer_start(body, argument);
    return true;
}

void prt_host_thread_join(struct prt_host_thread *thread)
{
    explorer_join((uint32_t)thread->thread);
}

uint32_t prt_host_processors(void)
{
    return 1 + explorer_draw(4);
}

/* ---- the caller ---- */

/* Jobs 0 and 1 are cut, of the first line; 2 is of the second, 3 of the third. */
static uint32_t line_of(uint32_t job)
{
    return job < 2 ? 0 : job - 1;
}

static void create(uint32_t threads)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        w.objects[i] = (struct prt_kernel_object){
            .stage = i, .cost_cycles = 400000, .flags = line_of(i) > 0 ? PRT_KERNEL_STATEFUL : 0};
        w.jobs[i] = (struct prt_cpu_job){
            .object = &w.objects[i], .queue = line_of(i), .shares = w.shares[i]};
        w.given[i] = false;
        w.asked[i] = 0;
        memset(w.answers[i], 0, sizeof w.answers[i]);
    }
    memset(w.in_order, 0, sizeof w.in_order);
    memset(w.turns, 0, sizeof w.turns);
    prt_cpu_pool_create(&w.pool, threads, explorer_draw(4) == 0);
    if (explorer_draw(2) == 0) w.pool.spin_ns = 0;
    w.longest_firing = 1u << explorer_draw(8);
    explorer_check(prt_cpu_pool_start(&w.pool, w.objects, w.jobs, JOBS) == PRT_OK, "it starts");
    uint32_t lines = explorer_draw(2) == 0 ? 1 : LINES;
    for (uint32_t i = 0; i < lines; i++) {
        bool important = explorer_draw(8) == 0;
        explorer_check(prt_cpu_pool_line(&w.pool, i, important) == PRT_OK, "there is a line");
        prt_cpu_pool_place(&w.pool, i, i == 2 ? 1 : 0, i == 2 ? 2 : threads);
    }
}

/* It is done: what it has left is there. */
static void use(uint32_t job)
{
    explorer_check(prt_cpu_job_done(&w.jobs[job]), "it is done");
    for (uint32_t i = 0; i < FIRINGS; i += 16) {
        explorer_check(w.answers[job][i] == w.asked[job], "each firing is executed once");
        w.answers[job][i] = 0;
    }
    if (line_of(job) > 0)
        explorer_check(w.in_order[line_of(job)] == w.turns[line_of(job)], "in order");
    w.given[job] = false;
}

static void give(uint32_t job)
{
    w.asked[job]++;
    w.turns[line_of(job)]++;
    w.jobs[job].launch = (struct prt_launch){.firings = FIRINGS};
    w.given[job] = true;
    prt_cpu_pool_give(&w.pool, &w.jobs[job]);
}

static void call(void *argument)
{
    (void)argument;
    create(2 + explorer_draw(2));
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t job = explorer_draw(w.pool.lines_open == 1 ? 2 : JOBS);
        if (w.given[job] && explorer_draw(2) == 0 && prt_cpu_job_done(&w.jobs[job])) use(job);
        if (w.given[job]) {
            prt_cpu_pool_wait(&w.pool, 0);
            for (uint32_t i = 0; i < JOBS; i++)
                if (w.given[i]) use(i);
        }
        give(job);
    }
    prt_cpu_pool_wait(&w.pool, 0);
    for (uint32_t i = 0; i < JOBS; i++)
        if (w.given[i]) use(i);
    prt_cpu_pool_destroy(&w.pool);
}

int main(int count, char **words)
{
    return explorer_main(count, words, call);
}
