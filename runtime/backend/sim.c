#include "runtime/backend/sim.h"

#include "runtime/device/queue.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Work below this is not worth handing to another thread: a cycle of the cost model is far less
     * than one of the host's, which executes firings in vector lanes; a hand-over takes some 10 us.
     */
    CHUNK_CYCLES_MIN = 500000,
    CHUNKS_PER_THREAD = 2,
    CHUNK_FIRINGS_UNIT = 64, /* ranges begin at multiples of it: vector loops stay whole */
    HOST_THREADS_MAX = 256,
    SIGNAL_STACK_BYTES = 32768,
};

#define NO_JOB UINT32_MAX

/* A launch in flight.  What changes while it executes is guarded by the pool's mutex. */
struct sim_job {
    const struct prt_kernel_object *object;
    struct prt_launch launch;
    uint64_t first_firing, firings;
    uint64_t chunk_firings;
    uint64_t chunks, chunks_taken, chunks_done;
    uint64_t enqueued_cycles;
    struct prt_completion completion;
    uint32_t queue;
    uint32_t behind; /* the next job of its queue that waits for it, or NO_JOB */
    bool done;       /* executed, or never to be */
};

/* The jobs of a queue that the pool has: one executes, the others wait for it, in order. */
struct sim_line {
    uint32_t first, last; /* NO_JOB: it is empty */
    bool faulted;         /* nothing is executed any more */
};

/* Windows of the chunk a thread executes. */
struct sim_worker {
    struct prt_device *device;
    pthread_t thread;
    struct prt_kernel_scratch scratch;
    void *signal_stack; /* for the program's handlers: a kernel may have used up the thread's own */
};

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_flights flights;
    struct prt_flights ends; /* by their own end, for the observer; empty without one */
    struct prt_packet_processor processor;
    prt_launch_observer observe;
    void *observe_context;
    const struct prt_kernel_object *objects;
    uint32_t object_count;
    uint32_t queue_entries;
    uint64_t now_cycles;
    struct prt_device_counters counters;

    struct sim_job *jobs;   /* one per object: each is in flight at most once */
    struct sim_line *lines; /* one per queue */
    uint32_t line_count;

    struct sim_worker *workers; /* [0] is the scheduler's thread */
    uint32_t worker_count, threads_wanted;

    pthread_mutex_t mutex;
    pthread_cond_t work_there, work_done;
    uint32_t *ready; /* ring of jobs with chunks to take */
    uint32_t ready_first, ready_count;
    bool stopping;
};

/* ---- executing ---- */

/* Of several faults the lowest firing counts; those outside firings count as the highest. */
static void merge_fault(struct sim_job *job, enum kernel_status status,
                        const struct kernel_fault *fault)
{
    struct prt_completion *c = &job->completion;
    if (status == KERNEL_OK) return;
    if (c->kernel_status != KERNEL_OK && c->fault.firing <= fault->firing) return;
    c->kernel_status = status;
    c->fault = *fault;
}

/* By the cost model, or the largest number. */
static uint64_t work_cycles(const struct sim_job *job)
{
    uint64_t cycles;
    return __builtin_mul_overflow(job->firings, job->object->cost_cycles, &cycles) ? UINT64_MAX
                                                                                   : cycles;
}

static enum kernel_status execute_chunk(const struct sim_worker *worker, const struct sim_job *job,
                                        uint64_t chunk, struct kernel_fault *fault)
{
    uint64_t skipped = chunk * job->chunk_firings;
    uint64_t count = job->firings - skipped;
    if (count > job->chunk_firings) count = job->chunk_firings;
    *fault = (struct kernel_fault){0};
    return prt_kernel_execute(job->object, job->first_firing, job->first_firing + skipped, count,
                              &worker->scratch, fault);
}

static bool is_fault(const struct sim_job *job)
{
    enum kernel_status status = job->completion.kernel_status;
    if (status == KERNEL_STOPPED) return (job->object->flags & PRT_KERNEL_STOPS) == 0;
    return status != KERNEL_OK;
}

/* Cuts a launch into chunks: one if it is small, has state, is whole, or there is one thread. */
static void cut_job(const struct prt_device *device, struct sim_job *job)
{
    job->chunks = 1;
    job->chunks_taken = 0;
    job->chunks_done = 0;
    job->chunk_firings = job->firings;
    const uint32_t uncut = PRT_KERNEL_STATEFUL | PRT_KERNEL_FINISH | PRT_KERNEL_WHOLE;
    if (device->worker_count == 1 || (job->object->flags & uncut) != 0) return;
    uint64_t wanted = work_cycles(job) / CHUNK_CYCLES_MIN;
    uint64_t most = (uint64_t)device->worker_count * CHUNKS_PER_THREAD;
    if (wanted > most) wanted = most;
    if (wanted < 2) return;
    uint64_t firings = (job->firings + wanted - 1) / wanted;
    firings = (firings + CHUNK_FIRINGS_UNIT - 1) / CHUNK_FIRINGS_UNIT * CHUNK_FIRINGS_UNIT;
    if (firings >= job->firings) return;
    job->chunk_firings = firings;
    job->chunks = (job->firings + firings - 1) / firings;
}

/* The first job of a line may execute.  Mutex held. */
static void release_job(struct prt_device *device, uint32_t index)
{
    struct sim_job *job = &device->jobs[index];
    cut_job(device, job);
    device->ready[(device->ready_first + device->ready_count++) % device->object_count] = index;
    if (job->chunks == 1)
        pthread_cond_signal(&device->work_there);
    else
        pthread_cond_broadcast(&device->work_there);
}

/* The first job of its line is done; the next one may execute, unless there was a fault: then all
 * behind it are done, too.  Mutex held. */
static void end_job(struct prt_device *device, struct sim_job *job)
{
    struct sim_line *line = &device->lines[job->queue];
    line->faulted |= is_fault(job);
    job->done = true;
    line->first = job->behind;
    while (line->faulted && line->first != NO_JOB) {
        job = &device->jobs[line->first];
        job->done = true;
        line->first = job->behind;
    }
    if (line->first != NO_JOB)
        release_job(device, line->first);
    else
        line->last = NO_JOB;
    pthread_cond_signal(&device->work_done);
}

/* Takes a chunk of the job that has waited longest.  Mutex held, and again on return. */
static void take_and_execute(struct sim_worker *worker)
{
    struct prt_device *device = worker->device;
    struct sim_job *job = &device->jobs[device->ready[device->ready_first]];
    uint64_t chunk = job->chunks_taken++;
    if (job->chunks_taken == job->chunks) {
        device->ready_first = (device->ready_first + 1) % device->object_count;
        device->ready_count--;
    }
    pthread_mutex_unlock(&device->mutex);
    struct kernel_fault fault;
    enum kernel_status status = execute_chunk(worker, job, chunk, &fault);
    pthread_mutex_lock(&device->mutex);
    merge_fault(job, status, &fault);
    job->chunks_done++;
    if (job->chunks_done == job->chunks) end_job(device, job);
}

static void *worker_main(void *argument)
{
    struct sim_worker *worker = argument;
    struct prt_device *device = worker->device;
    stack_t stack = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK_BYTES}, before;
    sigaltstack(&stack, &before);
    pthread_mutex_lock(&device->mutex);
    while (!device->stopping) {
        if (device->ready_count > 0)
            take_and_execute(worker);
        else
            pthread_cond_wait(&device->work_there, &device->mutex);
    }
    pthread_mutex_unlock(&device->mutex);
    sigaltstack(&before, NULL);
    return NULL;
}

/* The scheduler's thread helps until the job is done. */
static void finish_job(struct prt_device *device, const struct sim_job *job)
{
    if (device->worker_count == 1) return;
    pthread_mutex_lock(&device->mutex);
    while (!job->done) {
        if (device->ready_count > 0)
            take_and_execute(&device->workers[0]);
        else
            pthread_cond_wait(&device->work_done, &device->mutex);
    }
    pthread_mutex_unlock(&device->mutex);
}

/* Until nothing of the queue executes. */
static void finish_line(struct prt_device *device, uint32_t queue)
{
    if (device->worker_count == 1) return;
    pthread_mutex_lock(&device->mutex);
    uint32_t last = device->lines[queue].last;
    pthread_mutex_unlock(&device->mutex);
    if (last != NO_JOB) finish_job(device, &device->jobs[last]);
}

/* In the scheduler's thread; the line is empty. */
static void execute_now(struct prt_device *device, struct sim_job *job)
{
    struct sim_line *line = &device->lines[job->queue];
    struct kernel_fault fault;
    job->done = true;
    if (line->faulted) return;
    job->chunks = 1;
    job->chunk_firings = job->firings;
    merge_fault(job, execute_chunk(&device->workers[0], job, 0, &fault), &fault);
    line->faulted = is_fault(job);
}

/* Behind what executes on its queue. */
static void line_up(struct prt_device *device, struct sim_job *job)
{
    struct sim_line *line = &device->lines[job->queue];
    uint32_t index = job->launch.object;
    bool alone = line->last == NO_JOB;
    if (alone)
        line->first = index;
    else
        device->jobs[line->last].behind = index;
    line->last = index;
    if (alone) release_job(device, index);
}

/* Executes the job now, or gives it to the pool. */
static void start_job(struct prt_device *device, struct sim_job *job)
{
    const struct sim_line *line = &device->lines[job->queue];
    if (device->worker_count == 1) {
        execute_now(device, job);
        return;
    }
    pthread_mutex_lock(&device->mutex);
    bool now = line->faulted || (line->last == NO_JOB && work_cycles(job) < CHUNK_CYCLES_MIN);
    if (!now) line_up(device, job);
    pthread_mutex_unlock(&device->mutex);
    if (now) execute_now(device, job);
}

/* ---- threads ---- */

static uint32_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

/* Signals are for the program's own threads: workers take none but those of faults. */
static bool start_worker(struct sim_worker *worker)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void stop_workers(struct prt_device *device)
{
    pthread_mutex_lock(&device->mutex);
    device->stopping = true;
    pthread_cond_broadcast(&device->work_there);
    pthread_mutex_unlock(&device->mutex);
    for (uint32_t i = 1; i < device->worker_count; i++)
        pthread_join(device->workers[i].thread, NULL);
    for (uint32_t i = 0; device->workers != NULL && i < device->threads_wanted; i++) {
        prt_kernel_scratch_free(&device->workers[i].scratch);
        free(device->workers[i].signal_stack);
    }
    free(device->workers);
    device->workers = NULL;
    device->worker_count = 0;
    device->stopping = false;
}

/* Windows for the object with most ends, in every worker; then as many threads as can be had. */
static enum prt_status start_workers(struct prt_device *device)
{
    device->workers = calloc(device->threads_wanted, sizeof *device->workers);
    if (device->workers == NULL) return PRT_E_NOMEM;
    for (uint32_t i = 0; i < device->threads_wanted; i++) {
        struct sim_worker *worker = &device->workers[i];
        worker->device = device;
        if (prt_kernel_scratch_create(device->objects, device->object_count, &worker->scratch) !=
            PRT_OK)
            return PRT_E_NOMEM;
        worker->signal_stack = i > 0 ? malloc(SIGNAL_STACK_BYTES) : NULL;
        if (i > 0 && worker->signal_stack == NULL) return PRT_E_NOMEM;
    }
    device->worker_count = 1;
    while (device->worker_count < device->threads_wanted &&
           start_worker(&device->workers[device->worker_count]))
        device->worker_count++;
    return PRT_OK;
}

/* ---- the device ---- */

static void sim_close(struct prt_device *device)
{
    if (device == NULL) return;
    stop_workers(device);
    pthread_cond_destroy(&device->work_there);
    pthread_cond_destroy(&device->work_done);
    pthread_mutex_destroy(&device->mutex);
    prt_queue_table_free(&device->queues);
    prt_device_tree_destroy(device->tree);
    prt_packet_processor_destroy(&device->processor);
    free(device->flights.items);
    free(device->ends.items);
    free(device->jobs);
    free(device->lines);
    free(device->ready);
    free(device);
}

static enum prt_status sim_open(const struct prt_device_options *options,
                                struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    made->description = *options->description;
    made->queue_entries =
        options->queue_entries > 0 ? options->queue_entries : PRT_QUEUE_ENTRIES_DEFAULT;
    made->threads_wanted = options->host_threads > 0 ? options->host_threads : processors();
    if (made->threads_wanted > HOST_THREADS_MAX) made->threads_wanted = HOST_THREADS_MAX;
    enum prt_status status = prt_queue_tree_create(&made->description, &made->tree);
    if (status != PRT_OK) {
        free(made);
        return prt_error_set(error, status, "device '%s': %s", options->description->name,
                             prt_status_text(status));
    }
    /* With default attributes these cannot fail on Linux. */
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->work_there, NULL);
    pthread_cond_init(&made->work_done, NULL);
    made->queues.tree = made->tree;
    made->observe = options->observe;
    made->observe_context = options->observe_context;
    prt_packet_processor_create(&made->processor, &made->description, &made->counters);
    *device = made;
    return PRT_OK;
}

static void sim_info(const struct prt_device *device, struct prt_device_info *info)
{
    *info = (struct prt_device_info){
        .backend = "sim",
        .description = &device->description,
        .host_threads = device->worker_count > 0 ? device->worker_count : device->threads_wanted,
        .executes = true};
}

static struct prt_device_tree *sim_tree(struct prt_device *device)
{
    return device->tree;
}

static enum prt_status sim_set_kernels(struct prt_device *device,
                                       const struct prt_kernel_object *objects, uint32_t count,
                                       uint32_t signal_count)
{
    stop_workers(device);
    free(device->jobs);
    free(device->ready);
    device->objects = objects;
    device->object_count = count;
    device->jobs = calloc(count > 0 ? count : 1, sizeof *device->jobs);
    device->ready = calloc(count > 0 ? count : 1, sizeof *device->ready);
    if (device->jobs == NULL || device->ready == NULL ||
        prt_flights_reserve(&device->flights, count) != PRT_OK ||
        prt_flights_reserve(&device->ends, count) != PRT_OK ||
        prt_packet_objects(&device->processor, count, signal_count) != PRT_OK) {
        device->object_count = 0;
        return PRT_E_NOMEM;
    }
    return start_workers(device);
}

static enum prt_status sim_queue_create(struct prt_device *device, struct prt_device_handle on,
                                        uint32_t *queue)
{
    uint32_t number = device->queues.count;
    if (number >= device->line_count) {
        uint32_t wanted = number * 2 + 8;
        struct sim_line *lines = realloc(device->lines, wanted * sizeof *lines);
        if (lines == NULL) return PRT_E_NOMEM;
        for (uint32_t i = device->line_count; i < wanted; i++)
            lines[i] = (struct sim_line){.first = NO_JOB, .last = NO_JOB};
        device->lines = lines;
        device->line_count = wanted;
    }
    return prt_queue_open(&device->queues, on, device->queue_entries, queue);
}

static enum prt_status sim_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->queues, queue);
}

/* a x b, or the largest number. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t execute_cycles(const struct prt_device *device, const struct prt_queue *queue,
                               const struct prt_kernel_object *object, uint64_t firings)
{
    if (object->flags & PRT_KERNEL_FINISH) return object->cost_cycles;
    if (object->flags & PRT_KERNEL_STATEFUL) return multiply(firings, object->cost_cycles);
    uint64_t width = (uint64_t)queue->cu_count * device->description.lanes;
    return multiply((firings + width - 1) / width, object->cost_cycles);
}

/* Of a kernel that has stopped, those that count. */
static uint64_t firings_of(const struct sim_job *job)
{
    bool stopped =
        job->completion.kernel_status == KERNEL_STOPPED && *job->object->completed < job->firings;
    return stopped ? *job->object->completed : job->firings;
}

/* When the launch begins and ends. */
static void simulate_time(struct prt_device *device, struct sim_job *job)
{
    struct prt_queue *q = &device->queues.queues[job->queue];
    struct prt_completion *c = &job->completion;
    bool switches;
    uint64_t free_at =
        prt_queue_free_at(&device->queues, job->queue, job->object->stage, &switches);
    c->begin_cycles = free_at > device->now_cycles ? free_at : device->now_cycles;
    c->launch_cycles = (uint64_t)job->launch.begin_cycles + job->launch.cleanup_cycles;
    c->switch_cycles = switches ? device->description.switch_cycles : 0;
    c->execute_cycles = execute_cycles(device, q, job->object, firings_of(job));
    c->end_cycles =
        add(add(c->begin_cycles, c->launch_cycles), add(c->switch_cycles, c->execute_cycles));
    q->free_cycles = c->end_cycles;
    q->last_stage = job->object->stage;
}

static struct sim_job *make_job(struct prt_device *device, uint32_t queue,
                                const struct prt_launch *launch)
{
    struct sim_job *job = &device->jobs[launch->object];
    *job = (struct sim_job){
        .object = &device->objects[launch->object],
        .launch = *launch,
        .first_firing = launch->first_firing,
        .firings = launch->firings,
        .enqueued_cycles = device->now_cycles,
        .completion = {.object = launch->object, .signal = launch->signal},
        .queue = queue,
        .behind = NO_JOB,
    };
    return job;
}

/* A launch whose time depends on what it does executes at once. */
static void begin_launch(struct prt_device *device, uint32_t queue, const struct prt_launch *launch)
{
    struct sim_job *job = make_job(device, queue, launch);
    bool stops = (job->object->flags & PRT_KERNEL_STOPS) != 0;
    if (stops) {
        finish_line(device, queue);
        execute_now(device, job);
    }
    simulate_time(device, job);
    if (!stops) start_job(device, job);
}

/* In order of enqueuing; each is seen with itself or the next one that is. */
static void take_off(struct prt_device *device, uint32_t queue)
{
    const struct prt_packet_processor *p = &device->processor;
    for (uint32_t i = 0, seen = 0; i < p->count; i++) {
        for (; seen < i || !p->decoded[seen].seen; seen++)
            continue;
        uint32_t slot = p->decoded[i].object;
        uint64_t seen_cycles = device->jobs[p->decoded[seen].object].completion.end_cycles;
        prt_flights_push(
            &device->flights,
            (struct prt_flight){.seen_cycles = seen_cycles, .slot = slot, .queue = queue});
        if (device->observe == NULL) continue;
        prt_flights_push(&device->ends, (struct prt_flight){
                                            .seen_cycles = device->jobs[slot].completion.end_cycles,
                                            .slot = slot,
                                            .queue = queue});
    }
}

static enum prt_status sim_enqueue(struct prt_device *device, uint32_t queue,
                                   const union prt_dispatch *packet, struct prt_error *error)
{
    struct prt_queue *q;
    enum prt_status status =
        prt_queue_admit(&device->queues, queue, &device->processor, packet, &q, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < device->processor.count; i++)
        begin_launch(device, queue, &device->processor.decoded[i]);
    take_off(device, queue);
    return PRT_OK;
}

static void observe(const struct prt_device *device, const struct sim_job *job)
{
    const struct prt_completion *c = &job->completion;
    const struct prt_launch_record record = {
        .stage = job->object->stage,
        .queue = job->queue,
        .finish = (job->object->flags & PRT_KERNEL_FINISH) != 0,
        .packet = job->launch.packet,
        .first_of_packet = job->launch.first_of_packet,
        .cleaned_up = job->launch.cleaned_up,
        .first_firing = job->first_firing,
        .firings = firings_of(job),
        .enqueued_cycles = job->enqueued_cycles,
        .begin_cycles = c->begin_cycles,
        .end_cycles = c->end_cycles,
        .launch_cycles = c->launch_cycles,
        .switch_cycles = c->switch_cycles,
        .cleanup_cycles = job->launch.cleanup_cycles,
        .compute_cycles = c->execute_cycles,
        .execute_cycles = c->execute_cycles,
    };
    device->observe(device->observe_context, &record);
}

/* Shows the observer all that has ended by then. */
static void observe_until(struct prt_device *device, uint64_t cycles)
{
    while (device->ends.count > 0 && device->ends.items[0].seen_cycles <= cycles) {
        const struct sim_job *job = &device->jobs[prt_flights_pop(&device->ends).slot];
        finish_job(device, job);
        observe(device, job);
    }
}

static enum prt_status sim_wait(struct prt_device *device, struct prt_completion *completions,
                                uint32_t capacity, uint32_t *count)
{
    *count = 0;
    if (device->flights.count == 0) return PRT_OK;
    if (device->flights.items[0].seen_cycles > device->now_cycles)
        device->now_cycles = device->flights.items[0].seen_cycles;
    while (*count < capacity && device->flights.count > 0 &&
           device->flights.items[0].seen_cycles <= device->now_cycles) {
        struct prt_flight flight = prt_flights_pop(&device->flights);
        struct sim_job *job = &device->jobs[flight.slot];
        finish_job(device, job);
        observe_until(device, flight.seen_cycles);
        completions[(*count)++] = job->completion;
        device->queues.queues[flight.queue].in_flight -= job->launch.last_of_packet;
        prt_packet_ended(&device->processor, &job->launch);
    }
    return PRT_OK;
}

static void sim_advance(struct prt_device *device, uint64_t cycles)
{
    device->now_cycles = add(device->now_cycles, cycles);
}

static uint64_t sim_now_cycles(const struct prt_device *device)
{
    return device->now_cycles;
}

static void sim_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    *counters = device->counters;
}

const struct prt_device_ops prt_sim_device = {
    .name = "sim",
    .open = sim_open,
    .close = sim_close,
    .info = sim_info,
    .tree = sim_tree,
    .set_kernels = sim_set_kernels,
    .queue_create = sim_queue_create,
    .queue_destroy = sim_queue_destroy,
    .enqueue = sim_enqueue,
    .wait = sim_wait,
    .advance = sim_advance,
    .now_cycles = sim_now_cycles,
    .counters = sim_counters,
};
