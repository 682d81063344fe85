/* SPDX-License-Identifier: MIT */
/*
 * sim_pool: the host threads that execute what the simulated GPU has launched.
 *
 * A *job* is a launch; the jobs of one queue form a *line*: each executes after the one before it
 * is done, and none any more after a fault.  Lines execute side by side.  A job without state,
 * phases and bounded rates is cut into *chunks*: ranges of firings, whose windows follow from the
 * exact rates; they begin where a warp begins, so that what is counted belongs to one chunk.
 *
 * With one thread, jobs execute in the caller's as they are given.  With more, small ones do, where
 * nothing of their line is in front of them; others go to the pool, and the caller's thread
 * executes too while it waits.  Threads that cannot be started are done without.
 *
 * Ownership: jobs are the caller's, one for each kernel object, and stay in place while the pool
 *   runs; between prt_sim_pool_give and prt_sim_pool_finish they are the pool's.
 * Thread-safety: all calls are of one thread.
 * Allocation: create, start, and lines.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_BACKEND_SIM_SIM_POOL_H
#define RUNTIME_BACKEND_SIM_SIM_POOL_H

#include "model/sim_clock.h"

#include <pthread.h>

struct prt_sim_worker;
struct prt_sim_line;

struct prt_sim_pool {
    const struct prt_kernel_object *objects;
    struct prt_sim_job *jobs; /* by object */
    uint32_t job_count;
    struct prt_sim_line *lines; /* by queue */
    uint32_t line_count;

    struct prt_sim_worker *workers; /* [0] is the caller's thread */
    uint32_t worker_count, threads_wanted;

    pthread_mutex_t mutex;
    pthread_cond_t work_there, work_done;
    uint32_t *ready; /* ring of jobs with chunks to take */
    uint32_t ready_first, ready_count;
    bool stopping;
};

/* `threads`: 0: one per processor this process may use.  No thread runs yet. */
void prt_sim_pool_create(struct prt_sim_pool *pool, uint32_t threads);
/* Waits for what executes. */
void prt_sim_pool_destroy(struct prt_sim_pool *pool);

/* Ends the threads, and starts them for these objects and their jobs. */
enum prt_status prt_sim_pool_start(struct prt_sim_pool *pool,
                                   const struct prt_kernel_object *objects,
                                   struct prt_sim_job *jobs, uint32_t count);
void prt_sim_pool_stop(struct prt_sim_pool *pool);

/* Makes sure that there is a line for the queue of that number. */
enum prt_status prt_sim_pool_line(struct prt_sim_pool *pool, uint32_t queue);

/* Executes the job now, or when its turn comes.  Requires: object, launch, warp_cycles, queue. */
void prt_sim_pool_give(struct prt_sim_pool *pool, struct prt_sim_job *job);
/* Returns when the job is done. */
void prt_sim_pool_finish(struct prt_sim_pool *pool, const struct prt_sim_job *job);

/* Lines that a fault has ended execute again.  Every job is done. */
void prt_sim_pool_resume(struct prt_sim_pool *pool);

/* Threads that execute, the caller's included. */
uint32_t prt_sim_pool_threads(const struct prt_sim_pool *pool);

#endif
