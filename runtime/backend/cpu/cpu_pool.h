/* SPDX-License-Identifier: MIT */
/*
 * cpu_pool: the threads that execute what has been launched on the host's cores.
 *
 * A *job* is a launch; the jobs of one queue form a *line*: each executes after the one before it
 * is done, and none any more after a fault.  Lines execute side by side.  *Workers* are the
 * caller's thread, which is worker 0, and threads of the pool's own; a line is for a run of workers.
 *
 * A job without state is cut into *chunks*, ranges of firings, if what it is expected to take is
 * worth a hand-over.  What a firing takes is measured while jobs execute, again and again.  A
 * worker begins with the chunks of its own share of the job, the same share each time, so that what
 * a job finds in a core's caches the job before has left there; then it takes what others have left, but the last
 * chunk of each.
 * Chunks of a job with bounded rates append each to its own part of the room, or behind the chunk
 * before it if the same worker has executed that; when all are done what they have appended is moved
 * together.  So outputs do not depend on how a job is cut.
 *
 * Where nothing is gained by another thread a job executes in the caller's as it is given: it is
 * small, or cannot be cut and there is no other line.  What can be cut and is for all workers the
 * caller executes as it gives it, and the others help: it *calls* them, chunks are taken without a
 * lock, and it goes on when all are done.  With all else it goes on at once, and executes it when it
 * waits; so what cannot be cut executes beside what is given after it.  Where lines differ in
 * importance nobody is called, for who is more important is first.
 *
 * What could be shared is not where the pipeline is quicker without (cpu_trial.h): where packets
 * take longer from core to core than what is saved.
 *
 * Threads are started when others have missed so much work that it would have been worth it: what
 * is short, or has nothing for them, is done without.  A worker without work spins for about as long
 * as waking it takes, then sleeps; it is woken when it has missed as much.
 *
 * Calls.  A call is a number that goes up and a job; each worker has a word, on which it spins, with
 * the number and the chunks of its share that nobody has taken.  Whoever takes some changes the word
 * by a comparison that the number is part of: so a worker that comes late for a call takes nothing
 * of the next one, and whoever has taken chunks knows that the job stays what it is until they are
 * counted.  A worker counts what it has executed when it finds nothing more to take: a line of
 * memory that goes from core to core takes some 100 to 300 ns each time, so none does for each
 * chunk.  It takes most of its share at once, which is executed as one range of firings, and the
 * rest in smaller pieces, which somebody else can have if it is behind.  Shares are as large as each
 * has done in the same time before: cores differ, and who is called begins later.  Nobody is called
 * while all the others execute what stands in lines.
 *
 * Ownership: jobs are the caller's, one for each kernel object, and stay in place while the pool
 *   runs; between prt_cpu_pool_give and prt_cpu_pool_wait they are the pool's.
 * Thread-safety: all calls are of one thread.
 * Allocation: start, and lines; threads are made later.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_BACKEND_CPU_CPU_POOL_H
#define RUNTIME_BACKEND_CPU_CPU_POOL_H

#include "runtime/backend/cpu/cpu_trial.h"
#include "runtime/device/queue.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PRT_CPU_CHUNKS_MAX = 256 };

/* The chunks of a job that are a worker's own: [next, end) are still to be taken.  In calls their
 * number follows `weight`, what the worker does in the time of others; 0: not known yet. */
struct prt_cpu_share {
    uint32_t next, end;
    uint32_t weight;
};

struct prt_cpu_job {
    const struct prt_kernel_object *object;
    struct prt_launch launch;
    uint32_t queue;
    uint64_t enqueued_ns; /* cpu.c's */
    /* When it was executed, of the host's clock; end 0: nobody has looked at the clock. */
    uint64_t begin_ns, end_ns;
    uint64_t *busy_ns; /* by worker; NULL: not wanted */

    /* While the pool has it, guarded by the pool's mutex. */
    uint64_t chunk_firings;
    uint32_t chunks, chunks_taken, chunks_done;
    struct prt_cpu_share *shares; /* by worker */
    /* By chunk and output, where rates are bounded: where in the window what it appends begins, in
     * packets; how many they are; the most of a firing, if that is wanted. */
    uint64_t *chunk_begin, *chunk_produced, *chunk_most;
    uint64_t expected_ns; /* when it was cut */
    uint64_t cuts;        /* how often it has been, each launch anew */
    uint32_t behind;      /* the next job of its line, or PRT_CPU_NO_JOB */
    atomic_bool done;     /* executed, or never to be */
    bool executed;        /* false: there was a fault before it */
    enum kernel_status status;
    struct kernel_fault fault; /* of the lowest firing, if the status is a fault */

    /* Measured: of a firing, in 1/1024 ns; 0: not yet.  And launches since then. */
    uint64_t firing_cost;
    uint32_t unmeasured;
};

#define PRT_CPU_NO_JOB UINT32_MAX

struct prt_cpu_worker;
struct prt_cpu_line;

/* What all look at while they spin: lines of memory that calls leave where they are, but for the
 * last one. */
struct prt_cpu_bell {
    _Alignas(64) atomic_uint unfinished;  /* jobs given and not done, but the call */
    atomic_uint sleepers;                 /* workers that sleep; written with the mutex */
    _Alignas(64) atomic_uint chunks_done; /* of all calls */
    atomic_bool caller_sleeps;
};

/* Called by each thread of the pool before it executes anything: binds it to its core.  The thread
 * that has started it was on processor `taken`, as the system numbers them. */
typedef void (*prt_cpu_bind)(void *context, uint32_t worker, int taken);

struct prt_cpu_pool {
    /* What workers read, apart from what the caller writes with each job, which is last. */
    const struct prt_kernel_object *objects;
    struct prt_cpu_job *jobs;  /* by object */
    struct prt_cpu_bell *bell; /* NULL: nothing has been started */
    uint32_t job_count;
    struct prt_cpu_line *lines; /* by queue */
    uint32_t line_count, lines_open;

    struct prt_cpu_worker *workers; /* [0] is the caller's thread */
    uint32_t worker_count, threads_wanted;
    int callers_place; /* the processor that it was on when it started them */
    prt_cpu_bind bind; /* NULL: threads go where the system puts them */
    void *bind_context;
    uint64_t spin_ns;
    bool watched;       /* every job is timed */
    atomic_bool helped; /* another thread has executed something: the trial goes on */

    pthread_mutex_t mutex;
    uint64_t missed_ns;     /* work that sleepers were not woken for, or no threads started */
    uint32_t calls;         /* number of the last one */
    uint32_t chunks_before; /* of it, what bell->chunks_done was */
    uint32_t *ready;        /* jobs with chunks to take, in order; guarded by the mutex */
    uint32_t ready_count;
    bool ranked;  /* lines differ in importance */
    bool started; /* the threads; before that, workers[0] alone works */
    bool stopping;
    struct prt_cpu_trial trial;
};

/* `threads`: 1 or more.  No thread runs yet. */
void prt_cpu_pool_create(struct prt_cpu_pool *pool, uint32_t threads, bool watched);
/* Waits for what executes. */
void prt_cpu_pool_destroy(struct prt_cpu_pool *pool);

/* Ends the threads, and is ready to start them for these objects and their jobs.  Threads that
 * cannot be started are done without. */
enum prt_status prt_cpu_pool_start(struct prt_cpu_pool *pool,
                                   const struct prt_kernel_object *objects,
                                   struct prt_cpu_job *jobs, uint32_t count);
void prt_cpu_pool_stop(struct prt_cpu_pool *pool);

/* A line for the queue of that number, of that importance. */
enum prt_status prt_cpu_pool_line(struct prt_cpu_pool *pool, uint32_t queue, uint32_t importance);
/* It is for workers [first, end) of those wanted; for all, where there turn out to be fewer.
 * Nothing of it executes. */
void prt_cpu_pool_place(struct prt_cpu_pool *pool, uint32_t queue, uint32_t first, uint32_t end);
/* To one of them nothing is given any more; it is empty. */
void prt_cpu_pool_line_close(struct prt_cpu_pool *pool, uint32_t queue);

/* That execute: the caller's, and those that have been or are to be started. */
uint32_t prt_cpu_pool_threads(const struct prt_cpu_pool *pool);

/* Executes the job now, or when its turn comes.  Requires: object, launch, queue; its line has a
 * place. */
void prt_cpu_pool_give(struct prt_cpu_pool *pool, struct prt_cpu_job *job);
/* Is every job of the queue done when prt_cpu_pool_give returns?  So it is of the only line, if that
 * is for all workers. */
bool prt_cpu_pool_is_direct(const struct prt_cpu_pool *pool, uint32_t queue);
/* Executes, and returns when no more than `left` jobs are unfinished. */
void prt_cpu_pool_wait(struct prt_cpu_pool *pool, uint32_t left);
/* Jobs given and not done. */
uint32_t prt_cpu_pool_unfinished(const struct prt_cpu_pool *pool);
bool prt_cpu_job_done(const struct prt_cpu_job *job);
/* Lines that a fault has ended execute again.  Every job is done. */
void prt_cpu_pool_resume(struct prt_cpu_pool *pool);

/* What a job that is done has taken; where nobody has looked at the clock, as expected. */
uint64_t prt_cpu_job_ns(const struct prt_cpu_job *job);

/* Nanoseconds of the host's monotonic clock. */
uint64_t prt_cpu_now_ns(void);

#endif
