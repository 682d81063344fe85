/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cpu/cpu.h"

#include "base/monotonic.h"

#include "runtime/backend/cpu/cpu_pool.h"
#include "runtime/device/device_queue.h"
#include "runtime/device/host_cores.h"
#include "runtime/device/host_thread.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_packet_processor processor;
    struct prt_device_counters counters;
    prt_launch_observer observe;
    void *observe_context;
    uint32_t queue_entries;
    uint64_t *origin_ns; /* the host's clock at cycle 0; 0: the device's clock does not run yet */
    uint64_t seen_ns;    /* the latest value of the device's clock that was returned */

    const struct prt_kernel_object *objects;
    uint32_t object_count;
    struct prt_cpu_pool pool;
    pthread_mutex_t cores_lock;
    bool cores_sought;            /* the first thread of the pool has looked for the cores */
    struct prt_host_cores *cores; /* NULL: threads are not bound */
    struct prt_cpu_job *jobs;     /* one per object: each is in flight at most once */
    struct prt_cpu_share *shares; /* of all jobs */
    uint64_t *busy_ns;            /* likewise; NULL without an observer */
    uint64_t *chunk_counts;       /* of the APART objects' jobs: produced, and most */
    uint32_t *in_flight;          /* objects, in order of enqueuing */
    uint32_t in_flight_count;
    struct prt_flights ends;    /* by their end, for the observer; empty without one */
    struct core_timing_cu *cus; /* scratch: one for each compute unit */
};

/* ---- the device ---- */

static uint64_t read_device_clock(const struct prt_device *device)
{
    uint64_t now = monotonic_nanoseconds();
    if (*device->origin_ns == 0) *device->origin_ns = now;
    return now - *device->origin_ns;
}

/* A time that a worker has read from the host's clock, on the device's clock. */
static uint64_t since_origin(const struct prt_device *device, uint64_t ns)
{
    return ns > *device->origin_ns ? ns - *device->origin_ns : 0;
}

static void free_cpu_jobs(struct prt_device *device)
{
    free(device->jobs);
    free(device->shares);
    free(device->busy_ns);
    free(device->chunk_counts);
    free(device->in_flight);
    device->jobs = NULL;
    device->shares = NULL;
    device->busy_ns = device->chunk_counts = NULL;
    device->in_flight = NULL;
    device->object_count = device->in_flight_count = 0;
}

static void cpu_close(struct prt_device *device)
{
    if (device == NULL) return;
    prt_cpu_pool_wait(&device->pool, 0);
    prt_cpu_pool_destroy(&device->pool);
    prt_host_cores_free(device->cores);
    pthread_mutex_destroy(&device->cores_lock);
    prt_queue_table_free(&device->queues);
    prt_device_tree_destroy(device->tree);
    prt_packet_processor_destroy(&device->processor);
    free(device->ends.items);
    free_cpu_jobs(device);
    free(device->cus);
    free(device->origin_ns);
    free(device);
}

/* Finding the cores takes a millisecond, once in a process; the scheduler's thread does not wait for it.  With fewer
 * threads than cores nothing is bound: other pipelines would be bound to the same cores. */
static void bind_worker(void *context, uint32_t worker, int taken)
{
    struct prt_device *device = context;
    pthread_mutex_lock(&device->cores_lock);
    if (!device->cores_sought) device->cores = prt_host_cores_find();
    device->cores_sought = true;
    const struct prt_host_cores *cores = device->cores;
    pthread_mutex_unlock(&device->cores_lock);
    if (cores != NULL && prt_host_cores_count(cores) == device->pool.threads_wanted)
        prt_host_cores_bind(cores, worker, taken);
}

/* A thread for each core that the process may use at the same time. */
static uint32_t default_threads(void)
{
    uint32_t processors = prt_host_processors();
    if (processors == 1) return 1;
    struct prt_host_cores *cores = prt_host_cores_find();
    uint32_t count = cores != NULL ? prt_host_cores_count(cores) : processors;
    prt_host_cores_free(cores);
    return count < processors ? count : processors;
}

static void create_pool(struct prt_device *device, uint32_t threads)
{
    prt_cpu_pool_create(&device->pool, threads > 0 ? threads : default_threads(),
                        device->observe != NULL);
    device->pool.bind = bind_worker;
    device->pool.bind_context = device;
}

static enum prt_status cpu_open(const struct prt_device_options *options,
                                struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    made->description = *options->description;
    made->queue_entries =
        options->queue_entries > 0 ? options->queue_entries : PRT_QUEUE_ENTRIES_DEFAULT;
    made->cus = calloc(made->description.cu_count, sizeof *made->cus);
    made->origin_ns = calloc(1, sizeof *made->origin_ns);
    enum prt_status status = PRT_E_NOMEM;
    if (made->cus != NULL && made->origin_ns != NULL)
        status = prt_queue_tree_take(options->tree, &made->description, &made->tree);
    if (status != PRT_OK) {
        free(made->cus);
        free(made->origin_ns);
        free(made);
        return prt_error_set(error, status, "device '%s': %s", options->description->name,
                             prt_status_text(status));
    }
    made->queues.tree = made->tree;
    made->observe = options->observe;
    made->observe_context = options->observe_context;
    pthread_mutex_init(&made->cores_lock, NULL);
    create_pool(made, options->host_threads);
    prt_packet_processor_create(&made->processor, &made->description, &made->counters);
    *device = made;
    return PRT_OK;
}

/* A batch that is divided among threads ends with the slowest of them.  If it is twice as large, it ends half as often. */
#define DEPTH_PER_THREAD UINT64_C(2)
#define CPU_GROWTH_BYTES_MAX (UINT64_C(64) << 20)

static void cpu_info(const struct prt_device *device, struct prt_device_info *info)
{
    uint32_t threads = prt_cpu_pool_threads(&device->pool);
    *info = (struct prt_device_info){.backend = "cpu",
                                     .description = &device->description,
                                     .host_threads = threads,
                                     .executes = true,
                                     .real_time = true,
                                     .depth_factor = threads > 1 ? DEPTH_PER_THREAD * threads : 1,
                                     .depth_bytes_max = CPU_GROWTH_BYTES_MAX};
}

static struct prt_device_tree *cpu_tree(struct prt_device *device)
{
    return device->tree;
}

/* ---- kernels ---- */

/* How many numbers the chunks of all jobs write: three for each chunk and output (cpu_pool.h). */
static size_t chunk_count_total(const struct prt_kernel_object *objects, uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        if (objects[i].flags & PRT_KERNEL_APART)
            total += (size_t)objects[i].output_count * PRT_CPU_CHUNKS_MAX * 3;
    return total;
}

static bool make_cpu_jobs(struct prt_device *device, const struct prt_kernel_object *objects,
                          uint32_t count)
{
    size_t room = count > 0 ? count : 1, threads = device->pool.threads_wanted;
    device->jobs = calloc(room, sizeof *device->jobs);
    device->in_flight = calloc(room, sizeof *device->in_flight);
    device->shares = calloc(room * threads, sizeof *device->shares);
    device->chunk_counts =
        calloc(chunk_count_total(objects, count) + 1, sizeof *device->chunk_counts);
    if (device->observe != NULL) device->busy_ns = calloc(room * threads, sizeof(uint64_t));
    return device->jobs != NULL && device->in_flight != NULL && device->shares != NULL &&
           device->chunk_counts != NULL && (device->observe == NULL || device->busy_ns != NULL);
}

static void link_jobs(struct prt_device *device, const struct prt_kernel_object *objects,
                      uint32_t count)
{
    uint64_t *counts = device->chunk_counts;
    size_t threads = device->pool.threads_wanted;
    for (uint32_t i = 0; i < count; i++) {
        struct prt_cpu_job *job = &device->jobs[i];
        job->object = &objects[i];
        job->shares = device->shares + i * threads;
        if (device->busy_ns != NULL) job->busy_ns = device->busy_ns + i * threads;
        if ((objects[i].flags & PRT_KERNEL_APART) == 0) continue;
        size_t each = (size_t)objects[i].output_count * PRT_CPU_CHUNKS_MAX;
        job->chunk_begin = counts;
        job->chunk_produced = counts + each;
        job->chunk_most = counts + 2 * each;
        counts += 3 * each;
    }
    device->objects = objects;
    device->object_count = count;
}

/* Gives the queue's line the threads of its compute units, as cpu.h says. */
static void place_line(struct prt_device *device, uint32_t number)
{
    const struct prt_queue *queue = &device->queues.queues[number];
    uint64_t threads = device->pool.threads_wanted, cus = device->description.cu_count;
    uint64_t first = 0, end = threads;
    if (cus <= threads) {
        first = queue->first_cu * threads / cus;
        end = ((uint64_t)queue->first_cu + queue->cu_count) * threads / cus;
    }
    prt_cpu_pool_place(&device->pool, number, (uint32_t)first, (uint32_t)end);
}

static enum prt_status cpu_set_kernels(struct prt_device *device,
                                       const struct prt_kernel_object *objects, uint32_t count,
                                       uint32_t stage_count)
{
    prt_cpu_pool_stop(&device->pool);
    free_cpu_jobs(device);
    bool made = make_cpu_jobs(device, objects, count) &&
                (device->observe == NULL || prt_flights_reserve(&device->ends, count) == PRT_OK) &&
                prt_packet_objects(&device->processor, count, stage_count) == PRT_OK;
    if (!made) {
        free_cpu_jobs(device);
        return PRT_E_NOMEM;
    }
    link_jobs(device, objects, count);
    enum prt_status status = prt_cpu_pool_start(&device->pool, objects, device->jobs, count);
    for (uint32_t i = 0; i < device->queues.count && status == PRT_OK; i++)
        place_line(device, i);
    return status;
}

static enum prt_status cpu_queue_create(struct prt_device *device, struct prt_device_handle on,
                                        uint32_t importance, uint32_t *queue)
{
    if (prt_cpu_pool_line(&device->pool, device->queues.count, importance) != PRT_OK)
        return PRT_E_NOMEM;
    enum prt_status status =
        prt_queue_open(&device->queues, on, importance, device->queue_entries, queue);
    if (status != PRT_OK)
        prt_cpu_pool_line_close(&device->pool, device->queues.count);
    else
        place_line(device, *queue);
    return status;
}

static enum prt_status cpu_queue_destroy(struct prt_device *device, uint32_t queue)
{
    enum prt_status status = prt_queue_close(&device->queues, queue);
    if (status == PRT_OK) prt_cpu_pool_line_close(&device->pool, queue);
    return status;
}

/* ---- launches ---- */

/* Starts the launch that the job describes. */
static void begin_cpu_launch(struct prt_device *device, uint32_t queue, struct prt_cpu_job *job)
{
    job->queue = queue;
    if (device->observe != NULL || *device->origin_ns == 0)
        job->enqueued_ns = read_device_clock(device);
    assert(device->in_flight_count < device->object_count);
    device->in_flight[device->in_flight_count++] = (uint32_t)(job - device->jobs);
    prt_cpu_pool_give(&device->pool, job);
}

static enum prt_status cpu_enqueue(struct prt_device *device, uint32_t queue,
                                   const union dispatch_packet *packet, struct prt_error *error)
{
    struct prt_queue *q;
    enum prt_status status =
        prt_queue_admit(&device->queues, queue, &device->processor, packet, &q, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < device->processor.count; i++) {
        const struct prt_launch *launch = &device->processor.decoded[i];
        device->jobs[launch->object].launch = *launch;
        begin_cpu_launch(device, queue, &device->jobs[launch->object]);
    }
    return PRT_OK;
}

/* ---- launches that have ended ---- */

/* The compute unit of the sub-device that a worker's time counts for. */
static uint32_t cu_of(const struct prt_device *device, const struct prt_queue *queue,
                      uint32_t worker)
{
    uint64_t threads = prt_cpu_pool_threads(&device->pool), cus = device->description.cu_count;
    if (cus > threads || threads != device->pool.threads_wanted) return worker % queue->cu_count;
    uint32_t cu = (uint32_t)(worker * cus / threads);
    return cu >= queue->first_cu ? (cu - queue->first_cu) % queue->cu_count : 0;
}

static void fill_units(struct prt_device *device, const struct prt_cpu_job *job,
                       struct prt_launch_record *record)
{
    const struct prt_queue *queue = &device->queues.queues[job->queue];
    for (uint32_t i = 0; i < queue->cu_count; i++)
        device->cus[i] = (struct core_timing_cu){.number = i};
    for (uint32_t i = 0; i < device->pool.worker_count && job->executed; i++)
        device->cus[cu_of(device, queue, i)].busy_cycles += job->busy_ns[i];
    for (uint32_t i = 0; i < queue->cu_count; i++) {
        record->busy_cycles += device->cus[i].busy_cycles;
        record->busy_cus += device->cus[i].busy_cycles > 0;
    }
    record->first_cu = queue->first_cu;
    record->cu_count = queue->cu_count;
    record->cus = device->cus;
}

static uint64_t count_cpu_firings(const struct prt_cpu_job *job)
{
    return prt_launch_counted_firings(job->object, job->launch.first_firing, job->launch.firings,
                                      job->status, &job->fault);
}

static void observe_cpu_job(struct prt_device *device, const struct prt_cpu_job *job)
{
    uint64_t begin = job->executed ? since_origin(device, job->begin_ns) : job->enqueued_ns;
    uint64_t end = begin + prt_cpu_job_ns(job);
    struct prt_launch_record record = {
        .queue = job->queue,
        .firings = count_cpu_firings(job),
        .enqueued_cycles = job->enqueued_ns,
        .begin_cycles = begin,
        .end_cycles = end,
        .compute_cycles = end - begin,
        .execute_cycles = end - begin,
        .warps = core_timing_warps(job->object->shape, count_cpu_firings(job)),
        .importance = device->queues.queues[job->queue].importance,
    };
    prt_launch_describe(&job->launch, job->object, &record);
    fill_units(device, job, &record);
    device->observe(device->observe_context, &record);
}

/* Shows the observer the first `count` launches in flight, in the order of their ends. */
static void observe_ended(struct prt_device *device, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct prt_cpu_job *job = &device->jobs[device->in_flight[i]];
        prt_flights_push(&device->ends, job->end_ns, device->in_flight[i], job->queue);
    }
    while (device->ends.count > 0)
        observe_cpu_job(device, &device->jobs[prt_flights_pop(&device->ends).slot]);
}

static void complete_cpu_job(struct prt_device *device, const struct prt_cpu_job *job,
                             struct core_completion *c)
{
    c->object = job->launch.object;
    c->signal = job->launch.signal;
    /* A launch that was not measured is short: its time is estimated, and it has no place on the clock. */
    bool measured = job->end_ns > 0;
    c->end_cycles = measured ? since_origin(device, job->end_ns) : device->seen_ns;
    c->begin_cycles = measured ? since_origin(device, job->begin_ns) : c->end_cycles;
    c->execute_cycles = prt_cpu_job_ns(job);
    c->launch_cycles = c->switch_cycles = 0;
    c->kernel_status = job->status;
    c->skipped = !job->executed;
    if (job->status != KERNEL_OK) c->fault = job->fault;
    if (c->end_cycles > device->seen_ns) device->seen_ns = c->end_cycles;
    device->queues.queues[job->queue].in_flight -= job->launch.last_of_packet;
    prt_packet_ended(&device->processor, &job->launch, job->executed ? count_cpu_firings(job) : 0);
}

/* Moves the launches that have ended before those that have not; both stay in order.  Returns the number of the
 * first. */
static uint32_t sort_seen(struct prt_device *device)
{
    uint32_t seen = 0, first = 0;
    for (uint32_t i = 0; i < device->in_flight_count; i++) {
        if (!device->jobs[device->in_flight[i]].launch.seen) continue;
        bool done = prt_cpu_job_done(&device->jobs[device->in_flight[i]]);
        uint32_t count = i + 1 - first;
        for (uint32_t k = 0; done && k < count; k++) {
            uint32_t object = device->in_flight[first + k];
            memmove(&device->in_flight[seen + 1], &device->in_flight[seen],
                    (first + k - seen) * sizeof object);
            device->in_flight[seen++] = object;
        }
        first = i + 1;
    }
    return seen;
}

/* Waits until launches can be delivered: all in flight, or those that have ended (device.h).  Returns their number; they are
 * the first in flight. */
static uint32_t await_seen(struct prt_device *device)
{
    if (!device->queues.ranked) {
        prt_cpu_pool_wait(&device->pool, 0);
        return device->in_flight_count;
    }
    for (;;) {
        uint32_t unfinished = prt_cpu_pool_unfinished(&device->pool);
        uint32_t seen = sort_seen(device);
        if (seen > 0 || unfinished == 0) return seen;
        prt_cpu_pool_wait(&device->pool, unfinished - 1);
    }
}

static enum prt_status cpu_wait(struct prt_device *device, struct core_completion *completions,
                                uint32_t capacity, uint32_t *count)
{
    *count = 0;
    if (device->in_flight_count == 0) return PRT_OK;
    uint32_t seen = await_seen(device);
    if (seen > capacity) seen = capacity;
    if (device->observe != NULL) observe_ended(device, seen);
    for (; *count < seen; (*count)++)
        complete_cpu_job(device, &device->jobs[device->in_flight[*count]], &completions[*count]);
    device->in_flight_count -= seen;
    memmove(device->in_flight, device->in_flight + seen,
            device->in_flight_count * sizeof *device->in_flight);
    return PRT_OK;
}

/* ---- launches without packets ---- */

static bool cpu_launch(struct prt_device *device, uint32_t queue, uint32_t object,
                       uint64_t first_firing, uint32_t firings, struct core_completion *ended)
{
    struct prt_cpu_job *job = &device->jobs[object];
    /* Written field by field: a copy of the structure would be read in larger pieces than it was written in, which stalls. */
    job->launch.object = object;
    job->launch.firings = firings;
    job->launch.first_firing = first_firing;
    job->launch.signal = (uint64_t)object + 1;
    job->launch.packet = PRT_PACKET_FULL;
    job->launch.first_of_packet = job->launch.last_of_packet = job->launch.cleaned_up = false;
    job->launch.seen = true;
    job->launch.enqueue_cycles = job->launch.process_cycles = job->launch.cleanup_cycles = 0;
    device->counters.launches[PRT_PACKET_FULL]++;
    if (object < device->processor.stage_count) device->processor.firings[object] += firings;
    begin_cpu_launch(device, queue, job);
    if (ended == NULL || device->observe != NULL || device->in_flight_count > 1 ||
        !prt_cpu_pool_is_direct(&device->pool, queue))
        return false;
    assert(prt_cpu_job_done(job));
    device->in_flight_count = 0;
    complete_cpu_job(device, job, ended);
    return true;
}

static void cpu_resume(struct prt_device *device)
{
    prt_cpu_pool_resume(&device->pool);
}

/* Nothing to do: the host's clock advances by itself. */
static void cpu_advance(struct prt_device *device, uint64_t cycles)
{
    (void)device;
    (void)cycles;
}

static uint64_t cpu_now_cycles(const struct prt_device *device)
{
    return read_device_clock(device);
}

static void cpu_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    *counters = device->counters;
    prt_device_queues_count(device->objects, device->object_count, counters);
}

const struct prt_device_ops prt_cpu_device = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .info = cpu_info,
    .tree = cpu_tree,
    .set_kernels = cpu_set_kernels,
    .queue_create = cpu_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .enqueue = cpu_enqueue,
    .launch = cpu_launch,
    .wait = cpu_wait,
    .resume = cpu_resume,
    .advance = cpu_advance,
    .now_cycles = cpu_now_cycles,
    .counters = cpu_counters,
};
