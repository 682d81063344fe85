/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cpu/cpu_pool.h"

#include "base/monotonic.h"

#include "base/arithmetic.h"
#include "base/array_allocate.h"
#include "runtime/device/host_thread.h"
#include "runtime/device/kernel_call.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COST_UNIT = 1024, /* of firing_cost: parts of a nanosecond */
    CHUNK_NS_LEAST =
        1200,        /* least chunk of a call: a hand-over between spinning threads takes 200 ns */
    SMALL_NS = 2400, /* a job below two such chunks is not worth a hand-over */
    LINED_NS_LEAST = 6000,  /* least chunk of a job in a line: the mutex takes some microseconds */
    CHUNK_NS_MOST = 100000, /* a more important job waits for one chunk at most; a call for a
                             * worker that the system has stopped, for one piece */
    WAKE_NS = 40000,        /* missed work for which a thread is woken, which takes some 50 us */
    START_NS = 50000,       /* missed work of each thread for which the threads are started */
    CHUNKS_PER_WORKER = 4,  /* some threads begin late or are slow */
    GRAIN_NS = 300,         /* chunk of a call: shares differ by no less */
    GRAINS_PER_WORKER = 32,
    BALANCE_EVERY = 8,  /* calls of a job between two changes of its weights */
    LINED_ROUNDS = 8,   /* rounds of a trial's window, with several lines */
    MEASURE_EVERY = 64, /* launches of a small job between two measurements */
    LONG_NS = 1000000,  /* a longer job is always worth a hand-over */
    SPIN_NS = 60000,    /* a thread spins so long before it sleeps, for each other thread: waking
                             * one takes as long, and one is woken after the other */
    SPIN_NS_MOST = 1000000,
    SPIN_CROWDED_NS = 2000, /* the same, with more threads than processors */
    SPINS_PER_LOOK = 64,    /* spins between two looks at the clock */
};

/* The jobs of one queue: the first one executes, the others wait in order. */
struct prt_cpu_line {
    bool open;
    uint32_t importance;
    uint32_t first_worker, end_worker;
    uint32_t first, last; /* PRT_CPU_NO_JOB: the line is empty */
    atomic_uint jobs;     /* number of jobs in the line */
    bool faulted;         /* no job executes any more; written by the worker that ends its job */
};

/* The part of a call that a worker has executed: written by the worker, read by the caller after the call. */
struct call_report {
    uint32_t call;
    uint64_t firings, ns, end_ns;
};

struct prt_cpu_worker {
    /* The worker spins on these: the free chunks of its share in the call (share_word), the call's job, and
     * `notified`, which goes up when a line may have work for the worker; `notified` is written with the mutex. */
    _Alignas(64) atomic_uint_least64_t share;
    atomic_uint object;
    atomic_uint notified;
    /* Guarded by the mutex.  `idle`: the worker found no job in the lines, and has not been notified since. */
    bool idle, asleep;
    _Alignas(64) struct prt_cpu_pool *pool;
    uint32_t answered; /* the last call that the worker has looked at */
    /* The chunk that the worker has executed last: of which job, of which of its cuts. */
    const struct prt_cpu_job *last_job;
    uint64_t last_cut;
    uint32_t last_chunk;
    struct call_report report;
    uint32_t number;
    struct prt_host_thread thread;
    struct prt_kernel_scratch scratch; /* windows of the chunk that the worker executes */
    pthread_cond_t wake;
};

static void relax_core(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* ---- expected time of a job ---- */

/* In 1/COST_UNIT ns, the unit of prt_cpu_job.firing_cost.  Before the first measurement the cost model serves: the host
 * executes firings in vector lanes, so that a cycle takes less than a nanosecond. */
static uint64_t firing_cost(const struct prt_cpu_job *job)
{
    if (job->firing_cost > 0) return job->firing_cost;
    return core_cycles_multiply(job->object->cost_cycles, COST_UNIT / 8);
}

static uint64_t expected_ns(const struct prt_cpu_job *job)
{
    return core_cycles_multiply(job->launch.firings, firing_cost(job)) / COST_UNIT;
}

uint64_t prt_cpu_job_ns(const struct prt_cpu_job *job)
{
    if (!job->executed) return 0;
    return job->end_ns > 0 ? job->end_ns - job->begin_ns : expected_ns(job);
}

/* The newest measurement counts for a quarter: other programs disturb it, and the data changes. */
static void learn_cost(struct prt_cpu_job *job, uint64_t firings, uint64_t ns)
{
    uint64_t cost = core_cycles_multiply(ns, COST_UNIT) / firings;
    if (cost == 0) cost = 1;
    job->firing_cost = job->firing_cost == 0 ? cost : job->firing_cost / 4 * 3 + cost / 4;
    if (job->firing_cost == 0) job->firing_cost = 1;
    job->unmeasured = 0;
}

/* ---- the number of threads ---- */

uint32_t prt_cpu_pool_threads(const struct prt_cpu_pool *pool)
{
    return pool->started ? pool->worker_count : pool->threads_wanted;
}

void prt_cpu_pool_place(struct prt_cpu_pool *pool, uint32_t queue, uint32_t first, uint32_t end)
{
    struct prt_cpu_line *line = &pool->lines[queue];
    bool all = prt_cpu_pool_threads(pool) < pool->threads_wanted;
    pthread_mutex_lock(&pool->mutex);
    line->first_worker = all ? 0 : first;
    line->end_worker = all ? pool->worker_count : end;
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- executing ---- */

/* Chooses where a chunk appends: after the chunk before it, if this worker has just executed that one; else at its
 * own part of the room. */
static void place_chunk(const struct prt_cpu_worker *worker, const struct prt_cpu_job *job,
                        uint32_t chunk)
{
    const struct prt_kernel_object *object = job->object;
    bool goes_on = chunk > 0 && worker->last_job == job && worker->last_cut == job->cuts &&
                   worker->last_chunk == chunk - 1;
    for (uint32_t i = 0; i < object->output_count; i++) {
        size_t at = (size_t)chunk * object->output_count + i, before = at - object->output_count;
        job->chunk_begin[at] =
            goes_on ? job->chunk_begin[before] + job->chunk_produced[before]
                    : chunk * job->chunk_firings * object->push_bytes[i] / object->packet_bytes[i];
    }
}

/* Packets that several chunks have appended in one execution count as the first chunk's. */
static void leave_chunks(struct prt_cpu_worker *worker, const struct prt_cpu_job *job,
                         uint32_t chunk, uint32_t chunks)
{
    uint32_t outputs = job->object->output_count;
    for (uint32_t i = 0; i < outputs; i++) {
        size_t at = (size_t)chunk * outputs + i;
        for (uint32_t k = 1; k < chunks; k++) {
            job->chunk_begin[at + (size_t)k * outputs] =
                job->chunk_begin[at] + job->chunk_produced[at];
            job->chunk_produced[at + (size_t)k * outputs] = 0;
            if (job->object->most != NULL) job->chunk_most[at + (size_t)k * outputs] = 0;
        }
    }
    worker->last_job = job;
    worker->last_cut = job->cuts;
    worker->last_chunk = chunk + chunks - 1;
}

/* The number of firings of `chunks` chunks, from `chunk` on. */
static uint64_t firings_of(const struct prt_cpu_job *job, uint32_t chunk, uint32_t chunks)
{
    uint64_t left = job->launch.firings - chunk * job->chunk_firings;
    uint64_t firings = chunks * job->chunk_firings;
    return firings < left ? firings : left;
}

/* Executes `chunks` chunks, from `chunk` on, as one range of firings. */
static enum kernel_status execute_chunks(struct prt_cpu_worker *worker,
                                         const struct prt_cpu_job *job, uint32_t chunk,
                                         uint32_t chunks, struct kernel_fault *fault)
{
    const struct prt_kernel_object *object = job->object;
    uint64_t skipped = chunk * job->chunk_firings;
    uint64_t first = job->launch.first_firing, count = firings_of(job, chunk, chunks);
    *fault = (struct kernel_fault){0};
    if (job->chunks == 1 || (object->flags & PRT_KERNEL_APART) == 0)
        return prt_kernel_execute(object, first, first + skipped, count, &worker->scratch, NULL,
                                  fault);
    size_t at = (size_t)chunk * object->output_count;
    place_chunk(worker, job, chunk);
    enum kernel_status status = prt_kernel_execute_apart(
        object, first, first + skipped, count, &worker->scratch, job->chunk_begin + at,
        job->chunk_produced + at, object->most != NULL ? job->chunk_most + at : NULL, fault);
    leave_chunks(worker, job, chunk, chunks);
    return status;
}

/* Moves together the packets that the chunks have appended, in the order of the chunks, and adds up their counts.  After
 * a fault only the firings before it count: chunks that begin after it are left out; the chunk with the fault
 * has counted no further itself. */
static void gather_chunks(const struct prt_cpu_job *job)
{
    const struct prt_kernel_object *object = job->object;
    uint64_t firings = job->launch.firings;
    if (job->status != KERNEL_OK) firings = job->fault.firing - job->launch.first_firing;
    for (uint32_t i = 0; i < object->output_count; i++) {
        uint8_t *window = object->out[i];
        uint64_t packets = 0, most = 0;
        for (uint32_t chunk = 0; chunk < job->chunks; chunk++) {
            if (chunk * job->chunk_firings > firings) break;
            size_t at = (size_t)chunk * object->output_count + i;
            uint64_t more = job->chunk_produced[at];
            uint64_t from = job->chunk_begin[at] * object->packet_bytes[i];
            uint64_t to = packets * object->packet_bytes[i];
            if (from != to && more > 0)
                memmove(window + to, window + from, (size_t)(more * object->packet_bytes[i]));
            packets += more;
            if (object->most != NULL && job->chunk_most[at] > most) most = job->chunk_most[at];
        }
        object->produced[i] = packets;
        if (object->most != NULL) object->most[i] = most;
    }
}

/* ---- cutting ---- */

static bool is_cuttable(const struct prt_kernel_object *object)
{
    const uint32_t whole = PRT_KERNEL_STATEFUL | PRT_KERNEL_FINISH;
    if ((object->flags & whole) != 0) return false;
    return (object->flags & PRT_KERNEL_WHOLE) == 0 || (object->flags & PRT_KERNEL_APART) != 0;
}

/* Ranges begin at multiples of this number.  A kernel executes so many firings at once in vector lanes; the rest
 * of a range is executed one by one, which takes as long as all the others. */
static uint64_t range_unit(uint64_t firings)
{
    return firings >= 256 ? 64 : 16;
}

/* Firings of a chunk that takes at least `least` nanoseconds, for so many workers.  All firings: the job is not
 * to be cut. */
static uint64_t chunk_firings(const struct prt_cpu_job *job, uint64_t workers, uint64_t least)
{
    uint64_t all = job->launch.firings, expected = job->expected_ns;
    if (workers < 2 || expected < 2 * least || !is_cuttable(job->object)) return all;
    uint64_t each = expected / (workers * CHUNKS_PER_WORKER);
    if (each < least) each = least;
    if (each > CHUNK_NS_MOST) each = CHUNK_NS_MOST;
    uint64_t wanted = align_up(expected / each, workers); /* equal shares */
    if (wanted > PRT_CPU_CHUNKS_MAX) wanted = PRT_CPU_CHUNKS_MAX;
    uint64_t firings = (all + wanted - 1) / wanted, unit = range_unit(firings);
    return align_up(firings, unit);
}

static void cut_cpu_job(struct prt_cpu_pool *pool, struct prt_cpu_job *job, uint64_t least)
{
    const struct prt_cpu_line *line = &pool->lines[job->queue];
    uint64_t all = job->launch.firings, workers = line->end_worker - line->first_worker;
    job->expected_ns = expected_ns(job);
    job->cuts++;
    uint64_t firings = chunk_firings(job, workers, least);
    job->chunk_firings = firings < all ? firings : all;
    job->chunks = (uint32_t)((all + job->chunk_firings - 1) / job->chunk_firings);
    for (uint64_t i = 0; i < workers; i++) {
        struct prt_cpu_share *share = &job->shares[line->first_worker + i];
        share->next = (uint32_t)(job->chunks * i / workers);
        share->end = (uint32_t)(job->chunks * (i + 1) / workers);
    }
}

/* Takes a chunk of the worker's own share, else one of the largest share. */
static uint32_t take_chunk(const struct prt_cpu_pool *pool, struct prt_cpu_job *job,
                           uint32_t worker)
{
    const struct prt_cpu_line *line = &pool->lines[job->queue];
    struct prt_cpu_share *share = &job->shares[worker];
    if (share->next == share->end) {
        for (uint32_t i = line->first_worker; i < line->end_worker; i++) {
            struct prt_cpu_share *other = &job->shares[i];
            if (other->end - other->next > share->end - share->next) share = other;
        }
        job->chunks_taken++;
        return --share->end; /* its owner would execute this one last */
    }
    job->chunks_taken++;
    return share->next++;
}

/* ---- lines ---- */

/* Makes the worker look at the lines.  Mutex held. */
static void notify_worker(struct prt_cpu_worker *worker)
{
    worker->idle = false;
    atomic_fetch_add_explicit(&worker->notified, 1, memory_order_relaxed);
    if (worker->asleep) pthread_cond_signal(&worker->wake);
}

/* Wakes all workers that sleep, for a call.  Mutex held. */
static void wake_all(struct prt_cpu_pool *pool)
{
    for (uint32_t i = 0; i < pool->worker_count; i++)
        if (pool->workers[i].asleep) pthread_cond_signal(&pool->workers[i].wake);
}

static uint32_t count_sleepers(const struct prt_cpu_pool *pool)
{
    return atomic_load_explicit(&pool->bell->sleepers, memory_order_relaxed);
}

/* Returns true if workers that sleep should be woken for so much more work.  One thread at a time calls it. */
static bool is_worth_waking(struct prt_cpu_pool *pool, uint64_t work_ns)
{
    if (count_sleepers(pool) == 0) return false;
    pool->missed_ns = core_cycles_add(pool->missed_ns, work_ns);
    if (pool->missed_ns < WAKE_NS) return false;
    pool->missed_ns = 0;
    return true;
}

/* Returns true if the other threads should be started for so much more work.  No other thread works yet: the line is
 * empty, and all earlier jobs are done. */
static bool is_worth_starting(struct prt_cpu_pool *pool, uint64_t work_ns)
{
    pool->missed_ns = core_cycles_add(pool->missed_ns, work_ns);
    if (pool->missed_ns / START_NS < pool->threads_wanted - 1) return false;
    pool->missed_ns = 0;
    return true;
}

/* Notifies as many workers of the line as the job has chunks: first workers that spin, then, if it `wakes`, workers that
 * sleep.  A worker that is not idle looks at the lines when it is done.  Mutex held. */
static void notify_idle(struct prt_cpu_pool *pool, const struct prt_cpu_line *line, uint32_t chunks,
                        bool wakes)
{
    for (unsigned asleep = 0; asleep <= (wakes ? 1u : 0u); asleep++)
        for (uint32_t i = line->first_worker; i < line->end_worker && chunks > 0; i++) {
            struct prt_cpu_worker *worker = &pool->workers[i];
            if (!worker->idle || worker->asleep != (asleep == 1)) continue;
            notify_worker(worker);
            chunks--;
        }
}

/* The first job of a line may execute.  Mutex held. */
static void release_cpu_job(struct prt_cpu_pool *pool, uint32_t index)
{
    struct prt_cpu_job *job = &pool->jobs[index];
    const struct prt_cpu_line *line = &pool->lines[job->queue];
    job->chunks_taken = job->chunks_done = 0;
    job->executed = true;
    cut_cpu_job(pool, job, LINED_NS_LEAST);
    pool->ready[pool->ready_count++] = index;
    bool wakes = is_worth_waking(pool, job->expected_ns) || line->first_worker > 0;
    notify_idle(pool, line, job->chunks, wakes);
}

static void mark_done(struct prt_cpu_job *job)
{
    atomic_store_explicit(&job->done, true, memory_order_release);
}

/* Counts `jobs` jobs of the line as done.  The caller has finished with the line: a thread that finds it empty may use
 * it without the mutex. */
static void leave_line(struct prt_cpu_pool *pool, struct prt_cpu_line *line, uint32_t jobs)
{
    atomic_fetch_sub_explicit(&line->jobs, jobs, memory_order_release);
    atomic_fetch_sub_explicit(&pool->bell->unfinished, jobs, memory_order_release);
}

/* Ends the first job of its line and releases the next one.  After a fault all other jobs of the line are done, too.
 * Mutex held. */
static void end_cpu_job(struct prt_cpu_pool *pool, struct prt_cpu_job *job)
{
    struct prt_cpu_line *line = &pool->lines[job->queue];
    uint32_t next = job->behind, ended = 1;
    line->faulted |= prt_kernel_status_is_fault(job->object, job->status);
    mark_done(job);
    for (; line->faulted && next != PRT_CPU_NO_JOB; ended++) {
        job = &pool->jobs[next];
        next = job->behind;
        mark_done(job);
    }
    line->first = next;
    if (next != PRT_CPU_NO_JOB)
        release_cpu_job(pool, next);
    else
        line->last = PRT_CPU_NO_JOB;
    leave_line(pool, line, ended);
    if (pool->workers[0].idle) notify_worker(&pool->workers[0]); /* it may wait for the job */
}

/* The more important line comes first.  Then come jobs in one piece, the longest first: jobs in many chunks can fill
 * the time of all other workers. */
static bool goes_before(const struct prt_cpu_pool *pool, const struct prt_cpu_job *a,
                        const struct prt_cpu_job *b)
{
    uint32_t importance = pool->lines[a->queue].importance;
    if (importance != pool->lines[b->queue].importance)
        return importance > pool->lines[b->queue].importance;
    uint64_t alone_a = a->chunks == 1 ? a->expected_ns : 0;
    uint64_t alone_b = b->chunks == 1 ? b->expected_ns : 0;
    return alone_a > alone_b;
}

/* Returns the place in `ready` of the worker's best job, or `ready_count` if there is none.  Mutex held. */
static uint32_t find_ready(const struct prt_cpu_pool *pool, uint32_t worker)
{
    uint32_t best = pool->ready_count;
    for (uint32_t i = 0; i < pool->ready_count; i++) {
        const struct prt_cpu_job *job = &pool->jobs[pool->ready[i]];
        const struct prt_cpu_line *line = &pool->lines[job->queue];
        if (worker < line->first_worker || worker >= line->end_worker) continue;
        if (best == pool->ready_count || goes_before(pool, job, &pool->jobs[pool->ready[best]]))
            best = i;
    }
    return best;
}

static void account_time(struct prt_cpu_job *job, uint32_t worker, uint64_t begin, uint64_t end)
{
    if (job->begin_ns == 0 || begin < job->begin_ns) job->begin_ns = begin;
    if (end > job->end_ns) job->end_ns = end;
    if (job->busy_ns != NULL) job->busy_ns[worker] += end - begin;
}

static void note_help(struct prt_cpu_pool *pool)
{
    if (!atomic_load_explicit(&pool->helped, memory_order_relaxed))
        atomic_store_explicit(&pool->helped, true, memory_order_relaxed);
}

/* Executes a chunk of the job at that place.  Mutex held, and again on return. */
static void execute_chunk_at(struct prt_cpu_worker *worker, uint32_t place)
{
    struct prt_cpu_pool *pool = worker->pool;
    struct prt_cpu_job *job = &pool->jobs[pool->ready[place]];
    uint32_t chunk = take_chunk(pool, job, worker->number);
    if (worker->number > 0) note_help(pool);
    if (job->chunks_taken == job->chunks) {
        pool->ready_count--;
        memmove(&pool->ready[place], &pool->ready[place + 1],
                (pool->ready_count - place) * sizeof *pool->ready);
    }
    pthread_mutex_unlock(&pool->mutex);
    struct kernel_fault fault;
    uint64_t begin = monotonic_nanoseconds();
    enum kernel_status status = execute_chunks(worker, job, chunk, 1, &fault);
    uint64_t end = monotonic_nanoseconds();
    pthread_mutex_lock(&pool->mutex);
    learn_cost(job, firings_of(job, chunk, 1), end - begin);
    account_time(job, worker->number, begin, end);
    prt_kernel_fault_merge(&job->status, &job->fault, status, &fault);
    if (++job->chunks_done < job->chunks) return;
    if (job->chunks > 1 && (job->object->flags & PRT_KERNEL_APART) != 0) {
        pthread_mutex_unlock(&pool->mutex);
        gather_chunks(job);
        pthread_mutex_lock(&pool->mutex);
    }
    end_cpu_job(pool, job);
}

/* ---- calls ---- */

enum { CHUNK_BITS = 9, CHUNK_MASK = (1 << CHUNK_BITS) - 1, LEAST_BITS = 5, LEAST_MAX = 31 };

_Static_assert((PRT_CPU_CHUNKS_MAX & CHUNK_MASK) == PRT_CPU_CHUNKS_MAX,
               "a word has room for the numbers of chunks");
_Static_assert(3 * CHUNK_BITS + LEAST_BITS == 32, "the other half is the number of the call");

/* The minimum and the maximum of chunks that a worker takes at a time. */
struct pieces {
    uint32_t least, most;
};

/* Chunks of a share that one worker has taken. */
struct claim {
    uint32_t chunk, chunks;
};

/* The word of a share: [next, end) are the chunks that no worker has taken. */
static uint64_t share_word(uint32_t call, struct pieces pieces, uint32_t next, uint32_t end)
{
    uint32_t sizes = pieces.least << CHUNK_BITS | pieces.most;
    return (uint64_t)call << 32 | (uint64_t)sizes << 2 * CHUNK_BITS | end << CHUNK_BITS | next;
}

/* The number of chunks to take.  The owner takes most of the rest, in ever smaller pieces, so that others can help if it
 * is slow.  Others take half, so that the owner finds chunks when it comes back.  No piece is long: if the system stops a
 * worker within one, all workers wait for it. */
static uint32_t piece_chunks(uint32_t left, struct pieces pieces, bool own)
{
    uint32_t chunks = own ? left - left / 4 : left / 2;
    if (chunks > pieces.most) return pieces.most;
    if (chunks >= pieces.least) return chunks;
    if (own) return left < pieces.least ? left : pieces.least;
    return 0;
}

/* Takes chunks of the owner's share in the call.  Returns false if there are none to take.  `own`: the taker is the owner,
 * or acts for an owner that the system has stopped.  The order is relaxed: a worker that knows of the call has
 * acquired the job, and reads nothing that other workers write. */
static bool take_claim(struct prt_cpu_worker *owner, uint32_t call, bool own, struct claim *claim)
{
    uint64_t word = atomic_load_explicit(&owner->share, memory_order_relaxed);
    for (;;) {
        uint32_t next = word & CHUNK_MASK, end = word >> CHUNK_BITS & CHUNK_MASK;
        struct pieces pieces = {.least = word >> 3 * CHUNK_BITS & LEAST_MAX,
                                .most = word >> 2 * CHUNK_BITS & CHUNK_MASK};
        if (word >> 32 != call || next == end) return false;
        *claim = (struct claim){next, piece_chunks(end - next, pieces, own)};
        if (claim->chunks == 0) return false;
        if (atomic_compare_exchange_weak_explicit(&owner->share, &word, word + claim->chunks,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    }
}

/* Records faults, and times if the job is watched.  Both are rare. */
static void note_claim(struct prt_cpu_worker *worker, struct prt_cpu_job *job,
                       enum kernel_status status, const struct kernel_fault *fault, uint64_t begin,
                       uint64_t end)
{
    struct prt_cpu_pool *pool = worker->pool;
    if (status == KERNEL_OK && !pool->watched) return;
    pthread_mutex_lock(&pool->mutex);
    prt_kernel_fault_merge(&job->status, &job->fault, status, fault);
    if (pool->watched) account_time(job, worker->number, begin, end);
    pthread_mutex_unlock(&pool->mutex);
}

static void execute_claim(struct prt_cpu_worker *worker, uint32_t call, struct prt_cpu_job *job,
                          struct claim claim)
{
    struct call_report *report = &worker->report;
    struct kernel_fault fault;
    uint64_t begin = monotonic_nanoseconds();
    enum kernel_status status = execute_chunks(worker, job, claim.chunk, claim.chunks, &fault);
    uint64_t end = monotonic_nanoseconds();
    if (report->call != call) *report = (struct call_report){.call = call};
    report->firings += firings_of(job, claim.chunk, claim.chunks);
    report->ns += end - begin;
    report->end_ns = end;
    note_claim(worker, job, status, &fault, begin, end);
}

/* Counts chunks of the call as done; after that the job may belong to the next call.  Sequentially consistent, as in
 * join_call: either the caller sees the count, or this worker sees that the caller sleeps. */
static void count_chunks(struct prt_cpu_pool *pool, uint32_t chunks)
{
    if (chunks == 0) return;
    atomic_fetch_add_explicit(&pool->bell->chunks_done, chunks, memory_order_seq_cst);
    if (!atomic_load_explicit(&pool->bell->caller_sleeps, memory_order_seq_cst)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->workers[0].wake);
    pthread_mutex_unlock(&pool->mutex);
}

/* Prefetches these lines of memory, which another core has written, all at the same time. */
static void prefetch_lines(const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const char *)from + at);
}

/* Executes all chunks of the share that it can take.  Returns their number. */
static uint32_t execute_share(struct prt_cpu_worker *worker, struct prt_cpu_worker *owner,
                              uint32_t call, uint32_t object, bool own)
{
    uint32_t chunks = 0;
    struct claim claim;
    while (take_claim(owner, call, own, &claim)) {
        execute_claim(worker, call, &worker->pool->jobs[object], claim);
        chunks += claim.chunks;
    }
    return chunks;
}

/* Executes chunks of workers that are slow, or, if `all`, every chunk that is left: their owners are stopped. */
static uint32_t execute_others(struct prt_cpu_worker *worker, uint32_t call, uint32_t object,
                               bool all)
{
    struct prt_cpu_pool *pool = worker->pool;
    uint32_t chunks = 0;
    for (uint32_t i = 1; i < pool->worker_count; i++) {
        uint32_t number = (worker->number + i) % pool->worker_count;
        chunks += execute_share(worker, &pool->workers[number], call, object, all);
    }
    return chunks;
}

static bool all_claimed(const struct prt_cpu_pool *pool, uint32_t call)
{
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        uint64_t word = atomic_load_explicit(&pool->workers[i].share, memory_order_relaxed);
        if (word >> 32 == call && (word & CHUNK_MASK) != (word >> CHUNK_BITS & CHUNK_MASK))
            return false;
    }
    return true;
}

/* Waits until owners have taken the last chunks.  Returns false if they have not within the time: the system has stopped
 * them. */
static bool await_owners(const struct prt_cpu_pool *pool, uint32_t call, uint64_t patience_ns)
{
    for (uint64_t until = 0; !all_claimed(pool, call);) {
        for (int i = 0; i < SPINS_PER_LOOK; i++)
            relax_core();
        uint64_t now = monotonic_nanoseconds();
        if (until == 0) until = now + patience_ns;
        if (now >= until) return false;
    }
    return true;
}

/* Executes the worker's own share, then chunks of workers that are slow.  The last chunks of a share are left to its
 * owner, whose caches hold their packets, unless the owner is stopped.  Nothing of the job is read before a chunk is
 * claimed. */
static void answer_call(struct prt_cpu_worker *worker, uint32_t call, uint32_t object)
{
    struct prt_cpu_pool *pool = worker->pool;
    if (worker->number > 0) {
        prefetch_lines(&pool->jobs[object], sizeof *pool->jobs);
        prefetch_lines(&pool->objects[object], sizeof *pool->objects);
    }
    worker->answered = call;
    uint32_t own = execute_share(worker, worker, call, object, true);
    uint64_t patience_ns = own > 0 ? worker->report.ns / 4 : SMALL_NS;
    count_chunks(pool, own + execute_others(worker, call, object, false));
    if (await_owners(pool, call, patience_ns)) return;
    count_chunks(pool, execute_others(worker, call, object, true));
}

static bool all_counted(const struct prt_cpu_pool *pool, const struct prt_cpu_job *job)
{
    uint32_t done = atomic_load_explicit(&pool->bell->chunks_done, memory_order_seq_cst);
    return done - pool->chunks_before == job->chunks;
}

/* Waits for chunks that other workers still execute: spins, then sleeps. */
static void join_call(struct prt_cpu_pool *pool, const struct prt_cpu_job *job)
{
    for (uint64_t until = 0; !all_counted(pool, job);) {
        for (int i = 0; i < SPINS_PER_LOOK && !all_counted(pool, job); i++)
            relax_core();
        uint64_t now = monotonic_nanoseconds();
        if (until == 0) until = now + pool->spin_ns;
        if (now >= until) break;
    }
    if (all_counted(pool, job)) return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store_explicit(&pool->bell->caller_sleeps, true, memory_order_seq_cst);
    while (!all_counted(pool, job))
        pthread_cond_wait(&pool->workers[0].wake, &pool->mutex);
    atomic_store_explicit(&pool->bell->caller_sleeps, false, memory_order_relaxed);
    pthread_mutex_unlock(&pool->mutex);
}

enum { EVEN_WEIGHT = 1024 };

static uint64_t weight_of(const struct prt_cpu_job *job, uint32_t worker)
{
    return job->shares[worker].weight > 0 ? job->shares[worker].weight : EVEN_WEIGHT;
}

/* Firings that a worker executes in about a millisecond, counted from the beginning of the call. */
static uint64_t pace_of(const struct call_report *report, uint64_t begin)
{
    uint64_t ns = report->end_ns > begin ? report->end_ns - begin : 1;
    return core_cycles_multiply(report->firings, 1 << 20) / ns + 1;
}

/* So many chunks of the job as take about so long, at least 1, at most `limit`. */
static uint32_t chunks_in(const struct prt_cpu_job *job, uint64_t ns, uint32_t limit)
{
    uint64_t chunks = ns * job->chunks / (job->expected_ns + 1) + 1;
    return chunks < limit ? (uint32_t)chunks : limit;
}

/* Cuts the job into many chunks, which workers take in pieces. */
static struct pieces cut_call(const struct prt_cpu_pool *pool, struct prt_cpu_job *job)
{
    uint64_t all = job->launch.firings, workers = pool->worker_count;
    job->expected_ns = expected_ns(job);
    job->cuts++;
    uint64_t wanted = job->expected_ns / GRAIN_NS, most = workers * GRAINS_PER_WORKER;
    if (most < job->expected_ns / CHUNK_NS_MOST) most = job->expected_ns / CHUNK_NS_MOST;
    if (wanted > most) wanted = most;
    if (wanted > PRT_CPU_CHUNKS_MAX) wanted = PRT_CPU_CHUNKS_MAX;
    if (wanted < 1 || job->expected_ns < UINT64_C(2) * CHUNK_NS_LEAST) wanted = 1;
    uint64_t unit = range_unit(all / workers), firings = (all + wanted - 1) / wanted;
    firings = align_up(firings, unit);
    job->chunk_firings = firings < all ? firings : all;
    job->chunks = (uint32_t)((all + job->chunk_firings - 1) / job->chunk_firings);
    return (struct pieces){.least = chunks_in(job, CHUNK_NS_LEAST, LEAST_MAX),
                           .most = chunks_in(job, CHUNK_NS_MOST, PRT_CPU_CHUNKS_MAX)};
}

/* Gives each worker as many chunks as it is expected to execute in the same time.  The caller's share is written last,
 * so that the others see theirs sooner. */
static void hand_out(struct prt_cpu_pool *pool, struct prt_cpu_job *job, uint32_t call)
{
    struct pieces pieces = cut_call(pool, job);
    uint32_t object = (uint32_t)(job - pool->jobs);
    uint64_t whole = 0, end = job->chunks;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        whole += weight_of(job, i);
    for (uint64_t i = pool->worker_count, before = whole; i-- > 0;) {
        struct prt_cpu_worker *worker = &pool->workers[i];
        before -= weight_of(job, (uint32_t)i);
        uint64_t next = (job->chunks * before + whole / 2) / whole;
        uint64_t word = share_word(call, pieces, (uint32_t)next, (uint32_t)end);
        atomic_store_explicit(&worker->object, object, memory_order_relaxed);
        atomic_store_explicit(&worker->share, word, memory_order_release);
        end = next;
    }
}

/* Sets the weights by the work that each worker did until it found no more chunks. */
static void balance_weights(struct prt_cpu_pool *pool, struct prt_cpu_job *job, uint32_t call,
                            uint64_t begin)
{
    uint64_t paces = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        const struct call_report *report = &pool->workers[i].report;
        if (report->call != call) return; /* a worker did not come: the call measures nothing */
        paces += pace_of(report, begin);
    }
    assert(paces > 0); /* each pace is 1 or more */
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        uint64_t even = (uint64_t)pool->worker_count * EVEN_WEIGHT;
        uint64_t wanted = pace_of(&pool->workers[i].report, begin) * even / paces;
        uint64_t weight = (weight_of(job, i) * 7 + wanted) / 8;
        if (weight < EVEN_WEIGHT / 4) weight = EVEN_WEIGHT / 4;
        job->shares[i].weight = (uint32_t)weight;
    }
}

/* The caller executes the job together with all workers that come. */
static void execute_with_all(struct prt_cpu_pool *pool, struct prt_cpu_job *job)
{
    struct prt_cpu_line *line = &pool->lines[job->queue];
    uint32_t number = ++pool->calls;
    uint64_t begin = monotonic_nanoseconds();
    job->executed = true;
    pool->chunks_before = atomic_load_explicit(&pool->bell->chunks_done, memory_order_relaxed);
    hand_out(pool, job, number);
    if (is_worth_waking(pool, job->expected_ns)) {
        pthread_mutex_lock(&pool->mutex);
        wake_all(pool);
        pthread_mutex_unlock(&pool->mutex);
    }
    answer_call(&pool->workers[0], number, (uint32_t)(job - pool->jobs));
    const struct call_report *own = &pool->workers[0].report;
    uint64_t firings = own->call == number ? own->firings : 0;
    if (firings < job->launch.firings) note_help(pool);
    if (firings > 0) learn_cost(job, firings, own->ns);
    join_call(pool, job);
    if (job->cuts % BALANCE_EVERY == 0 || job->cuts < UINT64_C(2) * BALANCE_EVERY)
        balance_weights(pool, job, number, begin);
    line->faulted = prt_kernel_status_is_fault(job->object, job->status);
    if (job->chunks > 1 && (job->object->flags & PRT_KERNEL_APART) != 0) gather_chunks(job);
    job->begin_ns = begin;
    job->end_ns = monotonic_nanoseconds();
    mark_done(job);
}

/* ---- waiting ---- */

static uint32_t call_of(const struct prt_cpu_worker *worker)
{
    return (uint32_t)(atomic_load_explicit(&worker->share, memory_order_relaxed) >> 32);
}

/* Spins, then sleeps, until the worker is notified or called.  Mutex held on entry; the result says whether it is held on
 * return.  A worker that is called stays idle until it takes the mutex again.  If it is notified in between, the line
 * waits for it. */
static bool await_event(struct prt_cpu_worker *worker)
{
    struct prt_cpu_pool *pool = worker->pool;
    unsigned seen = atomic_load_explicit(&worker->notified, memory_order_relaxed);
    worker->idle = true;
    pthread_mutex_unlock(&pool->mutex);
    uint64_t until = monotonic_nanoseconds() + pool->spin_ns;
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (call_of(worker) != worker->answered ||
                atomic_load_explicit(&worker->notified, memory_order_relaxed) != seen)
                return false;
            relax_core();
        }
    } while (monotonic_nanoseconds() < until);
    pthread_mutex_lock(&pool->mutex);
    if (atomic_load_explicit(&worker->notified, memory_order_relaxed) != seen ||
        call_of(worker) != worker->answered)
        return true;
    worker->asleep = true;
    atomic_fetch_add_explicit(&pool->bell->sleepers, 1, memory_order_relaxed);
    pthread_cond_wait(&worker->wake, &pool->mutex);
    atomic_fetch_sub_explicit(&pool->bell->sleepers, 1, memory_order_relaxed);
    worker->asleep = false;
    return true;
}

/* Executes a chunk of a job in the lines.  Returns false if there is none for that worker.  Mutex held, and again on
 * return. */
static bool take_ready(struct prt_cpu_worker *worker)
{
    struct prt_cpu_pool *pool = worker->pool;
    worker->idle = false;
    uint32_t place = find_ready(pool, worker->number);
    if (place == pool->ready_count) return false;
    execute_chunk_at(worker, place);
    return true;
}

/* Serves the lines, or waits if no call is open.  Returns true if the worker is to answer a call.  Lines come first: a job
 * in them cannot be cut, or follows such a job, and a call has fewer chunks for a worker that comes late.
 * Mutex held on entry, not on return. */
static bool serve_lines(struct prt_cpu_worker *worker)
{
    struct prt_cpu_pool *pool = worker->pool;
    bool called = call_of(worker) != worker->answered, held = true;
    if (take_ready(worker))
        called = false;
    else if (!called)
        held = await_event(worker);
    if (held) pthread_mutex_unlock(&pool->mutex);
    return called;
}

static void cpu_worker_main(void *argument)
{
    struct prt_cpu_worker *worker = argument;
    struct prt_cpu_pool *pool = worker->pool;
    if (pool->bind != NULL) pool->bind(pool->bind_context, worker->number, pool->callers_place);
    for (;;) {
        if (call_of(worker) == worker->answered || prt_cpu_pool_unfinished(pool) > 0) {
            pthread_mutex_lock(&pool->mutex);
            if (pool->stopping) break;
            if (!serve_lines(worker)) continue;
        }
        uint64_t word = atomic_load_explicit(&worker->share, memory_order_acquire);
        uint32_t object = atomic_load_explicit(&worker->object, memory_order_relaxed);
        answer_call(worker, (uint32_t)(word >> 32), object);
    }
    pthread_mutex_unlock(&pool->mutex);
}

uint32_t prt_cpu_pool_unfinished(const struct prt_cpu_pool *pool)
{
    if (pool->bell == NULL) return 0;
    return atomic_load_explicit(&pool->bell->unfinished, memory_order_acquire);
}

bool prt_cpu_job_done(const struct prt_cpu_job *job)
{
    return atomic_load_explicit(&job->done, memory_order_acquire);
}

void prt_cpu_pool_wait(struct prt_cpu_pool *pool, uint32_t left)
{
    if (prt_cpu_pool_unfinished(pool) <= left) return;
    struct prt_cpu_worker *caller = &pool->workers[0];
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load_explicit(&pool->bell->unfinished, memory_order_relaxed) > left)
        if (!take_ready(caller) && !await_event(caller)) pthread_mutex_lock(&pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- giving ---- */

void prt_cpu_pool_resume(struct prt_cpu_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    for (uint32_t i = 0; i < pool->line_count; i++)
        pool->lines[i].faulted = false;
    pthread_mutex_unlock(&pool->mutex);
}

/* Executes the job in the caller's thread.  The line is empty. */
static void execute_cpu_job_now(struct prt_cpu_pool *pool, struct prt_cpu_job *job)
{
    struct prt_cpu_line *line = &pool->lines[job->queue];
    struct kernel_fault fault;
    atomic_store_explicit(&job->done, true, memory_order_relaxed);
    if (line->faulted) return;
    bool timed = pool->watched || job->firing_cost == 0 || ++job->unmeasured >= MEASURE_EVERY ||
                 expected_ns(job) >= SMALL_NS;
    job->executed = true;
    job->chunks = 1;
    job->chunk_firings = job->launch.firings;
    uint64_t begin = timed ? monotonic_nanoseconds() : 0;
    prt_kernel_fault_merge(&job->status, &job->fault,
                           execute_chunks(&pool->workers[0], job, 0, 1, &fault), &fault);
    line->faulted = prt_kernel_status_is_fault(job->object, job->status);
    if (!timed) return;
    uint64_t end = monotonic_nanoseconds();
    learn_cost(job, job->launch.firings, end - begin);
    account_time(job, 0, begin, end);
}

/* Puts the job at the end of its line. */
static void line_up_cpu_job(struct prt_cpu_pool *pool, struct prt_cpu_job *job)
{
    struct prt_cpu_line *line = &pool->lines[job->queue];
    uint32_t index = (uint32_t)(job - pool->jobs);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add_explicit(&line->jobs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->bell->unfinished, 1, memory_order_relaxed);
    bool alone = line->last == PRT_CPU_NO_JOB;
    if (alone)
        line->first = index;
    else
        pool->jobs[line->last].behind = index;
    line->last = index;
    if (line->faulted) {
        line->first = line->last = PRT_CPU_NO_JOB;
        mark_done(job);
        leave_line(pool, line, 1);
    } else if (alone) {
        release_cpu_job(pool, index);
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* Starts as many threads as the system gives.  If these are fewer than wanted, every thread serves every line. */
static void start_threads(struct prt_cpu_pool *pool)
{
    pool->started = true;
    pool->callers_place = sched_getcpu();
    while (pool->worker_count < pool->threads_wanted) {
        struct prt_cpu_worker *worker = &pool->workers[pool->worker_count];
        if (!prt_host_thread_start(&worker->thread, cpu_worker_main, worker)) break;
        pool->worker_count++;
    }
    for (uint32_t i = 0; i < pool->line_count && pool->worker_count < pool->threads_wanted; i++)
        prt_cpu_pool_place(pool, i, 0, pool->worker_count);
}

/* Returns true if another thread could execute the job, or a part of it, sooner. */
static bool is_for_others(const struct prt_cpu_pool *pool, const struct prt_cpu_line *line,
                          const struct prt_cpu_job *job)
{
    if (prt_cpu_pool_threads(pool) == 1) return false;
    if (line->first_worker > 0) return true;
    if (line->end_worker == 1 && pool->lines_open == 1) return false;
    return expected_ns(job) >= SMALL_NS && (pool->lines_open > 1 || is_cuttable(job->object));
}

static bool is_for_each(const struct prt_cpu_pool *pool, const struct prt_cpu_line *line)
{
    return !pool->ranked && line->end_worker - line->first_worker == pool->worker_count;
}

/* Returns true if the pipeline is faster when all workers do not share the job.  Long jobs are always shared. */
static bool is_better_alone(struct prt_cpu_pool *pool, const struct prt_cpu_line *line,
                            const struct prt_cpu_job *job)
{
    if (!is_for_each(pool, line) || expected_ns(job) > LONG_NS) return false;
    if (!atomic_load_explicit(&pool->helped, memory_order_relaxed)) return false;
    uint64_t each = job->object->cost_cycles < UINT32_MAX ? job->object->cost_cycles : UINT32_MAX;
    return prt_cpu_trial_alone(&pool->trial, (uint32_t)(job - pool->jobs),
                               core_cycles_multiply(job->launch.firings, each) + 1,
                               pool->lines_open > 1 ? LINED_ROUNDS : 1, monotonic_nanoseconds());
}

/* Returns true if the caller executes the job at once and without others.  Starts the threads when they are worth it. */
static bool is_own(struct prt_cpu_pool *pool, const struct prt_cpu_line *line,
                   const struct prt_cpu_job *job)
{
    if (line->faulted || !is_for_others(pool, line, job)) return true;
    if (!pool->started && is_worth_starting(pool, expected_ns(job))) start_threads(pool);
    return pool->worker_count == 1 || is_better_alone(pool, line, job);
}

bool prt_cpu_pool_is_direct(const struct prt_cpu_pool *pool, uint32_t queue)
{
    const struct prt_cpu_line *line = &pool->lines[queue];
    return pool->lines_open == 1 && !pool->ranked &&
           line->end_worker - line->first_worker == prt_cpu_pool_threads(pool);
}

/* Returns false if all other workers execute jobs in lines: until these are done, no worker comes for a call. */
static bool is_anyone_free(const struct prt_cpu_pool *pool)
{
    return prt_cpu_pool_unfinished(pool) + 1 < pool->worker_count;
}

void prt_cpu_pool_give(struct prt_cpu_pool *pool, struct prt_cpu_job *job)
{
    struct prt_cpu_line *line = &pool->lines[job->queue];
    atomic_store_explicit(&job->done, false, memory_order_relaxed);
    job->executed = false;
    job->status = KERNEL_OK;
    job->behind = PRT_CPU_NO_JOB;
    job->begin_ns = job->end_ns = 0;
    if (job->busy_ns != NULL) memset(job->busy_ns, 0, pool->threads_wanted * sizeof *job->busy_ns);
    bool empty = atomic_load_explicit(&line->jobs, memory_order_acquire) == 0;
    bool own = empty && is_own(pool, line, job);
    /* The job waits for its line whatever the trial says, but the trial has to count its work. */
    if (!empty && is_for_others(pool, line, job)) (void)is_better_alone(pool, line, job);
    bool for_each = empty && is_cuttable(job->object) && is_for_each(pool, line);
    if (own || (for_each && !is_anyone_free(pool)))
        execute_cpu_job_now(pool, job);
    else if (for_each)
        execute_with_all(pool, job);
    else
        line_up_cpu_job(pool, job);
}

/* ---- threads ---- */

static uint64_t spin_ns(uint32_t threads)
{
    if (threads > prt_host_processors()) return SPIN_CROWDED_NS;
    uint64_t ns = (uint64_t)SPIN_NS * (threads > 1 ? threads - 1 : 1);
    return ns < SPIN_NS_MOST ? ns : SPIN_NS_MOST;
}

/* On Linux these calls cannot fail with default attributes. */
void prt_cpu_pool_create(struct prt_cpu_pool *pool, uint32_t threads, bool watched)
{
    *pool = (struct prt_cpu_pool){.threads_wanted = threads, .watched = watched};
    if (pool->threads_wanted > PRT_HOST_THREADS_MAX) pool->threads_wanted = PRT_HOST_THREADS_MAX;
    pool->spin_ns = spin_ns(pool->threads_wanted);
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&pool->mutex, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

void prt_cpu_pool_stop(struct prt_cpu_pool *pool)
{
    if (pool->bell == NULL) return;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    for (uint32_t i = 1; i < pool->worker_count; i++)
        notify_worker(&pool->workers[i]);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; i < pool->worker_count; i++)
        prt_host_thread_join(&pool->workers[i].thread);
    for (uint32_t i = 0; pool->workers != NULL && i < pool->threads_wanted; i++) {
        prt_kernel_scratch_free(&pool->workers[i].scratch);
        pthread_cond_destroy(&pool->workers[i].wake);
    }
    free(pool->workers);
    pool->workers = NULL;
    pool->worker_count = 0;
    pool->started = pool->stopping = false;
    atomic_store_explicit(&pool->helped, false, memory_order_relaxed);
    pool->missed_ns = 0;
}

void prt_cpu_pool_destroy(struct prt_cpu_pool *pool)
{
    prt_cpu_pool_stop(pool);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->lines);
    free(pool->ready);
    free(pool->bell);
}

/* Each worker gets windows for the object with most ports. */
static enum prt_status create_workers(struct prt_cpu_pool *pool)
{
    size_t bytes = pool->threads_wanted * sizeof *pool->workers;
    pool->workers = aligned_alloc(_Alignof(struct prt_cpu_worker), bytes);
    if (pool->workers == NULL) return PRT_E_NOMEM;
    memset(pool->workers, 0, bytes);
    for (uint32_t i = 0; i < pool->threads_wanted; i++)
        pthread_cond_init(&pool->workers[i].wake, NULL);
    for (uint32_t i = 0; i < pool->threads_wanted; i++) {
        struct prt_cpu_worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->number = i;
        worker->answered = pool->calls;
        atomic_store_explicit(&worker->share, share_word(pool->calls, (struct pieces){0, 0}, 0, 0),
                              memory_order_relaxed);
        if (prt_kernel_scratch_create(pool->objects, pool->job_count, &worker->scratch) != PRT_OK)
            return PRT_E_NOMEM;
    }
    pool->worker_count = 1;
    prt_cpu_trial_begin(&pool->trial);
    return PRT_OK;
}

enum prt_status prt_cpu_pool_start(struct prt_cpu_pool *pool,
                                   const struct prt_kernel_object *objects,
                                   struct prt_cpu_job *jobs, uint32_t count)
{
    prt_cpu_pool_stop(pool);
    free(pool->ready);
    pool->objects = objects;
    pool->jobs = jobs;
    pool->job_count = count;
    pool->ready = array_allocate(count, sizeof *pool->ready);
    if (pool->bell == NULL) {
        pool->bell = aligned_alloc(_Alignof(struct prt_cpu_bell), sizeof *pool->bell);
        if (pool->bell != NULL) *pool->bell = (struct prt_cpu_bell){.unfinished = 0};
    }
    return pool->ready == NULL || pool->bell == NULL ? PRT_E_NOMEM : create_workers(pool);
}

/* Notes whether open lines differ in importance. */
static void rank_lines(struct prt_cpu_pool *pool)
{
    const struct prt_cpu_line *one = NULL;
    pool->ranked = false;
    for (uint32_t i = 0; i < pool->line_count; i++) {
        const struct prt_cpu_line *line = &pool->lines[i];
        if (!line->open) continue;
        if (one == NULL) one = line;
        pool->ranked |= line->importance != one->importance;
    }
}

enum prt_status prt_cpu_pool_line(struct prt_cpu_pool *pool, uint32_t queue, uint32_t importance)
{
    enum prt_status status = PRT_OK;
    pthread_mutex_lock(&pool->mutex);
    if (queue >= pool->line_count) {
        uint32_t wanted = queue * 2 + 8;
        struct prt_cpu_line *lines = realloc(pool->lines, wanted * sizeof *lines);
        if (lines != NULL) {
            memset(lines + pool->line_count, 0, (wanted - pool->line_count) * sizeof *lines);
            pool->lines = lines;
            pool->line_count = wanted;
        } else {
            status = PRT_E_NOMEM;
        }
    }
    if (status == PRT_OK) {
        pool->lines[queue] = (struct prt_cpu_line){.open = true,
                                                   .importance = importance,
                                                   .first = PRT_CPU_NO_JOB,
                                                   .last = PRT_CPU_NO_JOB};
        pool->lines_open++;
        rank_lines(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

void prt_cpu_pool_line_close(struct prt_cpu_pool *pool, uint32_t queue)
{
    pool->lines[queue].open = false;
    pool->lines_open--;
    rank_lines(pool);
}
