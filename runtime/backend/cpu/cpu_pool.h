/* SPDX-License-Identifier: MIT */
/*
 * cpu_pool: the threads that execute launches on the host's cores.
 *
 * A *job* is a launch.  The jobs of one queue form a *line*: a job executes after the one before it is done, and not at
 * all after a fault.  Lines execute side by side.  Worker 0 is the caller's thread; the other *workers* are threads of the
 * pool.  A range of workers serves each line.
 *
 * Cutting.  A job without state is cut into *chunks*, which are ranges of firings, if its expected time is worth a
 * hand-over.  The pool measures the time of a firing again and again.  A worker begins with its own share of the
 * job, which is the same share each time: its caches may still hold the packets.  Then it takes chunks of other shares,
 * but leaves each owner its last one.  With bounded rates each chunk appends to a part of the room of its own, or right
 * after the chunk before it if the same worker has executed that.  When all chunks are done, their packets are moved
 * together.  So outputs do not depend on the cuts.
 *
 * Where jobs execute.  The caller executes a job by itself if another thread would gain nothing: the job is small, or it cannot be
 * cut and there is no other line.  A job that can be cut and is for all workers is a *call*: the caller executes it with all
 * workers that come, and goes on when it is done.  Every other job waits in its line; the caller goes on at once, and
 * executes jobs of the lines when it waits.  So a job that cannot be cut executes beside the jobs that are given after
 * it.  If lines differ in importance there are no calls: a more important job must not wait for one.
 * A job is not shared if the pipeline is faster that way (cpu_trial.h): packets may take longer from core to core than
 * the other core saves.
 *
 * Threads are started when the missing ones would have had enough work.  So a short run, or one with nothing to share, has no
 * threads.  A worker without work spins for about the time that waking all others takes, then sleeps.  It is woken when
 * workers have missed so much work that waking one is worth it.  A worker that finds no job in the lines is *idle*.  A job that may execute is announced to as many
 * idle workers as it has chunks; the others do not even look.
 *
 * Calls.  A call is a number that goes up, and a job.  Each worker spins on a word with the number and the chunks of its
 * share that no worker has taken.  Chunks are taken by compare-and-exchange of the word, number included.  So a worker that comes late for a
 * call takes nothing of the next one, and a job stays as it is until all taken chunks are counted.
 * A worker counts its chunks when it finds no more: a line of memory takes 100 to 300 ns from core to core, so there is no
 * such transfer for each chunk.  A worker takes most of its share at once, as one range of firings, and the rest in smaller
 * pieces, so that others can help.  A piece takes 100 us at most: if the system stops a worker, everyone waits for the piece
 * that it has taken.  Shares follow the work that each worker did in the same time before: cores differ, and called workers
 * begin later.  There is no call while all other workers execute jobs of lines.
 *
 * Ownership: the caller owns the jobs, one for each kernel object.  They stay in place while the pool runs.  Between
 *   prt_cpu_pool_give and the job's end the pool uses them.
 * Thread-safety: one thread makes all calls.
 * Allocation: start, and lines; threads are created later.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_BACKEND_CPU_CPU_POOL_H
#define RUNTIME_BACKEND_CPU_CPU_POOL_H

#include "runtime/backend/cpu/cpu_trial.h"
#include "model/queue.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PRT_CPU_CHUNKS_MAX = 256 };

/* A worker's own chunks of a job: [next, end) have not been taken.  In calls their number follows `weight`, the worker's
 * speed in comparison with the others; 0: not known yet. */
struct prt_cpu_share {
    uint32_t next, end;
    uint32_t weight;
};

struct prt_cpu_job {
    const struct prt_kernel_object *object;
    struct prt_launch launch;
    uint32_t queue;
    uint64_t enqueued_ns; /* for cpu.c */
    /* Host's clock at the job's execution.  end_ns 0: the job was not timed. */
    uint64_t begin_ns, end_ns;
    uint64_t *busy_ns; /* by worker; NULL: not wanted */

    /* Guarded by the pool's mutex while the pool uses the job. */
    uint64_t chunk_firings;
    uint32_t chunks, chunks_taken, chunks_done;
    struct prt_cpu_share *shares; /* by worker */
    /* By chunk and output, with bounded rates, in packets: where the chunk begins in the window, how many it appends,
     * and, if wanted, the maximum that one firing appends. */
    uint64_t *chunk_begin, *chunk_produced, *chunk_most;
    uint64_t expected_ns; /* when it was cut */
    uint64_t cuts;        /* how many launches of the job have been cut */
    uint32_t behind;      /* the next job of its line, or PRT_CPU_NO_JOB */
    atomic_bool done;     /* the job is executed, or never will be */
    bool executed;        /* false: an earlier job of the line had a fault */
    enum kernel_status status;
    struct kernel_fault fault; /* of the lowest firing, if the status is a fault */

    /* Measured time of a firing in 1/1024 ns (0: not yet), and the number of launches since then. */
    uint64_t firing_cost;
    uint32_t unmeasured;
};

#define PRT_CPU_NO_JOB UINT32_MAX

struct prt_cpu_worker;
struct prt_cpu_line;

/* Words that all threads read while they spin.  Calls write only to the last line of memory. */
struct prt_cpu_bell {
    _Alignas(64) atomic_uint unfinished;  /* jobs that are not done; the call does not count */
    atomic_uint sleepers;                 /* workers that sleep; written with the mutex */
    _Alignas(64) atomic_uint chunks_done; /* of all calls */
    atomic_bool caller_sleeps;
};

/* Binds the calling thread of the pool to its core, before it executes anything.  The thread that has started it was on
 * the processor with the system's number `taken`. */
typedef void (*prt_cpu_bind)(void *context, uint32_t worker, int taken);

struct prt_cpu_pool {
    /* First the members that workers read; last those that the caller writes with each job. */
    const struct prt_kernel_object *objects;
    struct prt_cpu_job *jobs;  /* by object */
    struct prt_cpu_bell *bell; /* NULL: nothing has been started */
    uint32_t job_count;
    struct prt_cpu_line *lines; /* by queue */
    uint32_t line_count, lines_open;

    struct prt_cpu_worker *workers; /* [0] is the caller's thread */
    uint32_t worker_count, threads_wanted;
    int callers_place; /* the caller's processor when it started the threads */
    prt_cpu_bind bind; /* NULL: the system places the threads */
    void *bind_context;
    uint64_t spin_ns;
    bool watched;       /* every job is timed */
    atomic_bool helped; /* another thread has executed a chunk: the trial goes on */

    pthread_mutex_t mutex;
    uint64_t missed_ns;     /* work for which no worker was woken or started yet */
    uint32_t calls;         /* number of the last call */
    uint32_t chunks_before; /* bell->chunks_done before the last call */
    uint32_t *ready;        /* jobs with chunks to take, in order; guarded by the mutex */
    uint32_t ready_count;
    bool ranked;  /* lines differ in importance */
    bool started; /* there are threads; until then only workers[0] works */
    bool stopping;
    struct prt_cpu_trial trial;
};

/* `threads`: 1 or more.  No thread runs yet. */
void prt_cpu_pool_create(struct prt_cpu_pool *pool, uint32_t threads, bool watched);
/* Waits for all jobs that execute. */
void prt_cpu_pool_destroy(struct prt_cpu_pool *pool);

/* Ends the threads of earlier objects, and prepares for these.  Threads are started when they are worth it; the pool works
 * without those that the system does not give. */
enum prt_status prt_cpu_pool_start(struct prt_cpu_pool *pool,
                                   const struct prt_kernel_object *objects,
                                   struct prt_cpu_job *jobs, uint32_t count);
void prt_cpu_pool_stop(struct prt_cpu_pool *pool);

/* Opens the line of the queue with that number. */
enum prt_status prt_cpu_pool_line(struct prt_cpu_pool *pool, uint32_t queue, uint32_t importance);
/* Workers [first, end) of those wanted serve the line; all workers, if the system gives fewer.  No job of the line
 * executes. */
void prt_cpu_pool_place(struct prt_cpu_pool *pool, uint32_t queue, uint32_t first, uint32_t end);
/* The line is empty, and is given no more jobs. */
void prt_cpu_pool_line_close(struct prt_cpu_pool *pool, uint32_t queue);

/* The number of workers: the caller, and the threads that have been or will be started. */
uint32_t prt_cpu_pool_threads(const struct prt_cpu_pool *pool);

/* Executes the job now, or in its turn.  Requires: object, launch and queue are set; the line has its workers. */
void prt_cpu_pool_give(struct prt_cpu_pool *pool, struct prt_cpu_job *job);
/* Returns true if every job of the queue is done when prt_cpu_pool_give returns: it is the only line, and all workers
 * serve it. */
bool prt_cpu_pool_is_direct(const struct prt_cpu_pool *pool, uint32_t queue);
/* Executes jobs of the lines until at most `left` jobs are unfinished. */
void prt_cpu_pool_wait(struct prt_cpu_pool *pool, uint32_t left);
/* The number of jobs that have been given and are not done. */
uint32_t prt_cpu_pool_unfinished(const struct prt_cpu_pool *pool);
bool prt_cpu_job_done(const struct prt_cpu_job *job);
/* Lines that a fault has ended execute again.  Every job is done. */
void prt_cpu_pool_resume(struct prt_cpu_pool *pool);

/* The time of a job that is done, in ns; the expected time, if it was not measured. */
uint64_t prt_cpu_job_ns(const struct prt_cpu_job *job);

#endif
