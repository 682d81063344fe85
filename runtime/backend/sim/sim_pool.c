/* SPDX-License-Identifier: MIT */
#include "runtime/backend/sim/sim_pool.h"

#include "base/arithmetic.h"
#include "base/array_allocate.h"
#include "runtime/device/host_thread.h"
#include "runtime/device/kernel_call.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Work below this is not worth handing to another thread: a cycle of the cost model is far less
     * than one of the host's, which executes firings in vector lanes; a hand-over takes some 10 us.
     */
    CHUNK_CYCLES_MIN = 500000,
    CHUNKS_PER_THREAD = 2,
    CHUNK_FIRINGS_UNIT = 64, /* ranges begin at multiples of it: vector loops stay whole */
};

/* The jobs of a queue that the pool has: one executes, the others wait for it, in order. */
struct prt_sim_line {
    uint32_t first, last; /* PRT_SIM_NO_JOB: it is empty */
    bool faulted;         /* nothing is executed any more */
};

/* Windows of the chunk a thread executes. */
struct prt_sim_worker {
    struct prt_sim_pool *pool;
    struct prt_host_thread thread;
    struct prt_kernel_scratch scratch;
};

/* ---- executing ---- */

/* By the cost model. */
static uint64_t work_cycles(const struct prt_sim_job *job)
{
    return core_cycles_multiply(job->launch.firings, job->object->cost_cycles);
}

/* The numbers of the firings that come `skipped` firings after the launch's first one. */
static uint64_t *counted_from(const struct prt_sim_job *job, uint64_t skipped)
{
    struct core_warp_shape shape = job->object->shape;
    if (job->warp_cycles == NULL) return NULL;
    return job->warp_cycles + skipped / shape.firings_per_warp * shape.warps_per_firing;
}

static enum kernel_status execute_chunk(const struct prt_sim_worker *worker,
                                        const struct prt_sim_job *job, uint64_t chunk,
                                        struct kernel_fault *fault)
{
    uint64_t skipped = chunk * job->chunk_firings;
    uint64_t first = job->launch.first_firing, count = job->launch.firings - skipped;
    if (count > job->chunk_firings) count = job->chunk_firings;
    *fault = (struct kernel_fault){0};
    return prt_kernel_execute(job->object, first, first + skipped, count, &worker->scratch,
                              counted_from(job, skipped), fault);
}

/* Firings that no chunk is cut between: whole warps, and whole vectors of the host's. */
static uint64_t chunk_unit(const struct prt_sim_job *job)
{
    uint64_t unit = CHUNK_FIRINGS_UNIT, warp = job->object->shape.firings_per_warp;
    if (job->warp_cycles == NULL || warp == 0) return unit;
    return align_up(unit, warp);
}

/* Cuts a job into chunks: one if it is small, has state, is whole, or there is one thread. */
static void cut_sim_job(const struct prt_sim_pool *pool, struct prt_sim_job *job)
{
    uint64_t all = job->launch.firings, unit = chunk_unit(job);
    job->chunks = 1;
    job->chunks_taken = 0;
    job->chunks_done = 0;
    job->chunk_firings = all;
    const uint32_t uncut = PRT_KERNEL_STATEFUL | PRT_KERNEL_FINISH | PRT_KERNEL_WHOLE;
    if (pool->worker_count == 1 || (job->object->flags & uncut) != 0) return;
    uint64_t wanted = work_cycles(job) / CHUNK_CYCLES_MIN;
    uint64_t most = (uint64_t)pool->worker_count * CHUNKS_PER_THREAD;
    if (wanted > most) wanted = most;
    if (wanted < 2) return;
    uint64_t firings = (all + wanted - 1) / wanted;
    firings = align_up(firings, unit);
    if (firings >= all) return;
    job->chunk_firings = firings;
    job->chunks = (all + firings - 1) / firings;
}

/* The first job of a line may execute.  Mutex held. */
static void release_sim_job(struct prt_sim_pool *pool, uint32_t index)
{
    struct prt_sim_job *job = &pool->jobs[index];
    cut_sim_job(pool, job);
    job->executed = true;
    pool->ready[(pool->ready_first + pool->ready_count++) % pool->job_count] = index;
    if (job->chunks == 1)
        pthread_cond_signal(&pool->work_there);
    else
        pthread_cond_broadcast(&pool->work_there);
}

/* Removes the first job of its line, which has completed.  The next one may execute.  After a fault
 * all later jobs of the line complete, too.  Requires: the mutex is held. */
static void end_sim_job(struct prt_sim_pool *pool, struct prt_sim_job *job)
{
    struct prt_sim_line *line = &pool->lines[job->queue];
    line->faulted |= prt_kernel_status_is_fault(job->object, job->status);
    job->done = true;
    line->first = job->behind;
    while (line->faulted && line->first != PRT_SIM_NO_JOB) {
        job = &pool->jobs[line->first];
        job->done = true;
        line->first = job->behind;
    }
    if (line->first != PRT_SIM_NO_JOB)
        release_sim_job(pool, line->first);
    else
        line->last = PRT_SIM_NO_JOB;
    pthread_cond_signal(&pool->work_done);
}

/* Takes a chunk of the job that has waited longest.  Mutex held, and again on return. */
static void execute_next_chunk(struct prt_sim_worker *worker)
{
    struct prt_sim_pool *pool = worker->pool;
    struct prt_sim_job *job = &pool->jobs[pool->ready[pool->ready_first]];
    uint64_t chunk = job->chunks_taken++;
    if (job->chunks_taken == job->chunks) {
        pool->ready_first = (pool->ready_first + 1) % pool->job_count;
        pool->ready_count--;
    }
    pthread_mutex_unlock(&pool->mutex);
    struct kernel_fault fault;
    enum kernel_status status = execute_chunk(worker, job, chunk, &fault);
    pthread_mutex_lock(&pool->mutex);
    prt_kernel_fault_merge(&job->status, &job->fault, status, &fault);
    job->chunks_done++;
    if (job->chunks_done == job->chunks) end_sim_job(pool, job);
}

static void sim_worker_main(void *argument)
{
    struct prt_sim_worker *worker = argument;
    struct prt_sim_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stopping) {
        if (pool->ready_count > 0)
            execute_next_chunk(worker);
        else
            pthread_cond_wait(&pool->work_there, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

void prt_sim_pool_finish(struct prt_sim_pool *pool, const struct prt_sim_job *job)
{
    if (pool->worker_count == 1) return;
    pthread_mutex_lock(&pool->mutex);
    while (!job->done) {
        if (pool->ready_count > 0)
            execute_next_chunk(&pool->workers[0]);
        else
            pthread_cond_wait(&pool->work_done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

void prt_sim_pool_resume(struct prt_sim_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    for (uint32_t i = 0; i < pool->line_count; i++)
        pool->lines[i].faulted = false;
    pthread_mutex_unlock(&pool->mutex);
}

/* In the caller's thread; the line is empty. */
static void execute_sim_job_now(struct prt_sim_pool *pool, struct prt_sim_job *job)
{
    struct prt_sim_line *line = &pool->lines[job->queue];
    struct kernel_fault fault;
    job->done = true;
    if (line->faulted) return;
    job->executed = true;
    job->chunk_firings = job->launch.firings;
    prt_kernel_fault_merge(&job->status, &job->fault,
                           execute_chunk(&pool->workers[0], job, 0, &fault), &fault);
    line->faulted = prt_kernel_status_is_fault(job->object, job->status);
}

/* Appends the job to the line of its queue. */
static void line_up_sim_job(struct prt_sim_pool *pool, struct prt_sim_job *job)
{
    struct prt_sim_line *line = &pool->lines[job->queue];
    uint32_t index = (uint32_t)(job - pool->jobs);
    bool alone = line->last == PRT_SIM_NO_JOB;
    if (alone)
        line->first = index;
    else
        pool->jobs[line->last].behind = index;
    line->last = index;
    if (alone) release_sim_job(pool, index);
}

void prt_sim_pool_give(struct prt_sim_pool *pool, struct prt_sim_job *job)
{
    const struct prt_sim_line *line = &pool->lines[job->queue];
    job->done = job->executed = false;
    job->status = KERNEL_OK;
    job->fault = (struct kernel_fault){0};
    job->behind = PRT_SIM_NO_JOB;
    if (pool->worker_count == 1) {
        execute_sim_job_now(pool, job);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    bool now =
        line->faulted || (line->last == PRT_SIM_NO_JOB && work_cycles(job) < CHUNK_CYCLES_MIN);
    if (!now) line_up_sim_job(pool, job);
    pthread_mutex_unlock(&pool->mutex);
    if (now) execute_sim_job_now(pool, job);
}

/* ---- threads ---- */

uint32_t prt_sim_pool_threads(const struct prt_sim_pool *pool)
{
    return pool->worker_count > 0 ? pool->worker_count : pool->threads_wanted;
}

/* With default attributes the calls cannot fail on Linux. */
void prt_sim_pool_create(struct prt_sim_pool *pool, uint32_t threads)
{
    *pool = (struct prt_sim_pool){.threads_wanted = threads > 0 ? threads : prt_host_processors()};
    if (pool->threads_wanted > PRT_HOST_THREADS_MAX) pool->threads_wanted = PRT_HOST_THREADS_MAX;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work_there, NULL);
    pthread_cond_init(&pool->work_done, NULL);
}

void prt_sim_pool_stop(struct prt_sim_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work_there);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; i < pool->worker_count; i++)
        prt_host_thread_join(&pool->workers[i].thread);
    for (uint32_t i = 0; pool->workers != NULL && i < pool->threads_wanted; i++)
        prt_kernel_scratch_free(&pool->workers[i].scratch);
    free(pool->workers);
    pool->workers = NULL;
    pool->worker_count = 0;
    pool->stopping = false;
}

void prt_sim_pool_destroy(struct prt_sim_pool *pool)
{
    prt_sim_pool_stop(pool);
    pthread_cond_destroy(&pool->work_there);
    pthread_cond_destroy(&pool->work_done);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->lines);
    free(pool->ready);
}

/* Allocates in each worker windows for the object with most ends.  Then starts threads until all run or the system refuses
 * one. */
static enum prt_status start_workers(struct prt_sim_pool *pool)
{
    pool->workers = calloc(pool->threads_wanted, sizeof *pool->workers);
    if (pool->workers == NULL) return PRT_E_NOMEM;
    for (uint32_t i = 0; i < pool->threads_wanted; i++) {
        struct prt_sim_worker *worker = &pool->workers[i];
        worker->pool = pool;
        if (prt_kernel_scratch_create(pool->objects, pool->job_count, &worker->scratch) != PRT_OK)
            return PRT_E_NOMEM;
    }
    pool->worker_count = 1;
    while (pool->worker_count < pool->threads_wanted) {
        struct prt_sim_worker *worker = &pool->workers[pool->worker_count];
        if (!prt_host_thread_start(&worker->thread, sim_worker_main, worker)) break;
        pool->worker_count++;
    }
    return PRT_OK;
}

enum prt_status prt_sim_pool_start(struct prt_sim_pool *pool,
                                   const struct prt_kernel_object *objects,
                                   struct prt_sim_job *jobs, uint32_t count)
{
    prt_sim_pool_stop(pool);
    free(pool->ready);
    pool->objects = objects;
    pool->jobs = jobs;
    pool->job_count = count;
    pool->ready = array_allocate(count, sizeof *pool->ready);
    return pool->ready == NULL ? PRT_E_NOMEM : start_workers(pool);
}

enum prt_status prt_sim_pool_line(struct prt_sim_pool *pool, uint32_t queue)
{
    if (queue < pool->line_count) return PRT_OK;
    uint32_t wanted = queue * 2 + 8;
    pthread_mutex_lock(&pool->mutex);
    struct prt_sim_line *lines = realloc(pool->lines, wanted * sizeof *lines);
    for (uint32_t i = pool->line_count; lines != NULL && i < wanted; i++)
        lines[i] = (struct prt_sim_line){.first = PRT_SIM_NO_JOB, .last = PRT_SIM_NO_JOB};
    if (lines != NULL) {
        pool->lines = lines;
        pool->line_count = wanted;
    }
    pthread_mutex_unlock(&pool->mutex);
    return lines != NULL ? PRT_OK : PRT_E_NOMEM;
}
