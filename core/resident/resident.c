/* SPDX-License-Identifier: MIT */
#include "core/resident/resident.h"

#include "core/machine.h"
#include "core/ready.h"
#include "core/environment_direct.h"
#include "core/resident/firing_ends.h"
#include "core/resident/launch_log.h"
#include "core/resident/resident_machine.h"

enum {
    LOOK_NANOSECONDS =
        1000000,        /* between two looks at the mail of the host: one takes microseconds */
    BEAT_ROUNDS = 1024, /* of a loop that waits */
    SCRATCH_ALIGNMENT = 64,
    FIRINGS_EACH = 8 /* that a thread moves the packets of, one after the other */
};

/* ---- jobs: the workers ---- */

/* The thread's number among all threads that execute a job, and how many these are. */
struct crew {
    uint64_t number, count;
};

/* The packets that the firings of the batch before number `firing` append at most. */
static uint64_t most_before(const struct core_resident *r, const struct kernel_batch *batch,
                            const struct core_output *output, uint64_t firing)
{
    return core_flow_total(core_numbers(r->core), &output->most, batch->first_firing, firing);
}

static void zero_bytes(const struct core_job *job, struct crew crew)
{
    uint8_t *to = job->to;
    for (uint64_t i = crew.number; i < job->bytes; i += crew.count)
        to[i] = 0;
}

static void copy_words(const struct core_job *job, struct crew crew)
{
    const volatile uint64_t *from = job->from;
    volatile uint64_t *to = job->to;
    for (uint64_t i = crew.number; i < job->bytes / 8; i += crew.count)
        to[i] = from[i];
    core_fence_system();
}

/* The firings of a worker among all of a job: from, to. */
static void divide_firings(const struct core_job *job, uint32_t worker, uint32_t workers,
                           uint64_t *from, uint64_t *to)
{
    uint64_t part = (job->count + workers - 1) / workers;
    *from = part * worker < job->count ? part * worker : job->count;
    *to = part < job->count - *from ? *from + part : job->count;
}

/* How many packets the worker's firings have appended: `sums`. */
static void sum_appended(struct core_resident *r, const struct core_job *job, uint32_t worker,
                         uint32_t workers)
{
    uint32_t outputs = core_stage(r->core, job->stage)->output_count;
    uint64_t from, to, all;
    divide_firings(job, worker, workers, &from, &to);
    for (uint32_t q = 0; q < outputs; q++) {
        const uint64_t *appended = r->appended + q;
        uint64_t own = 0, step = core_threads(r);
        for (uint64_t i = from + core_thread(); i < to; i += step * FIRINGS_EACH)
            CORE_WRITTEN_OUT for (uint32_t k = 0; k < FIRINGS_EACH; k++) own +=
                i + k * step < to ? appended[(i + k * step) * outputs] : 0;
        (void)core_sum_before(r, own, &all);
        if (core_thread() == 0) r->sums[(uint64_t)worker * outputs + q] = all;
    }
}

static void copy_packets(void *to, const void *from, uint64_t bytes, uint64_t unit)
{
    if (unit == sizeof(uint32_t)) {
        uint32_t *words = to;
        for (uint64_t i = 0; i < bytes / sizeof *words; i++)
            words[i] = ((const uint32_t *)from)[i];
    } else if (unit == sizeof(uint64_t)) {
        uint64_t *words = to;
        for (uint64_t i = 0; i < bytes / sizeof *words; i++)
            words[i] = ((const uint64_t *)from)[i];
    } else {
        uint8_t *parts = to;
        for (uint64_t i = 0; i < bytes; i++)
            parts[i] = ((const uint8_t *)from)[i];
    }
}

/* All that a thread reads again and again while it moves packets of an output. */
struct move {
    const uint64_t *appended; /* by firing; as far from each other as the stage has outputs */
    uint64_t outputs;
    const uint8_t *from;
    uint8_t *to;
    uint64_t width, unit; /* bytes of a packet, and bytes that are copied at once */
    bool one_phase;
    uint64_t most_bytes; /* of a firing, with one phase */
};

static struct move begin_move(const struct core_resident *r, const struct core_order *order)
{
    const struct core_job *job = &order->job;
    const struct core_stage *stage = core_stage(r->core, job->stage);
    const struct core_output *output = core_output(r->core, stage, job->output);
    uint64_t width = core_written_buffer(r->core, output)->fifo.width_bytes;
    return (struct move){.appended = r->appended + job->output,
                         .outputs = stage->output_count,
                         .from = job->from,
                         .to = job->to,
                         .width = width,
                         .unit = width % sizeof(uint64_t) == 0   ? sizeof(uint64_t)
                                 : width % sizeof(uint32_t) == 0 ? sizeof(uint32_t)
                                                                 : 1,
                         .one_phase = output->most.phases == 1,
                         .most_bytes = output->most.cycle * width};
}

/* Where firing i wrote its packets. */
static const uint8_t *written_packets(const struct core_resident *r, const struct core_order *order,
                                      const struct move *move, uint64_t i)
{
    if (move->one_phase) return move->from + i * move->most_bytes;
    const struct core_stage *stage = core_stage(r->core, order->job.stage);
    const struct core_output *output = core_output(r->core, stage, order->job.output);
    return move->from + most_before(r, &order->batch, output, i) * move->width;
}

/* Moves the packets of FIRINGS_EACH firings from `first` on, as far as they are below `end`, after those of the block's
 * threads before, from place `place` on.  Returns how many all threads have moved. */
static uint64_t move_firings(const struct core_resident *r, const struct core_order *order,
                             const struct move *move, uint64_t first, uint64_t end, uint64_t place)
{
    uint64_t packets[FIRINGS_EACH], own = 0, all;
    CORE_WRITTEN_OUT for (uint32_t k = 0; k < FIRINGS_EACH; k++) packets[k] =
        first + k < end ? move->appended[(first + k) * move->outputs] : 0;
    CORE_WRITTEN_OUT for (uint32_t k = 0; k < FIRINGS_EACH; k++) own += packets[k];
    uint8_t *to = move->to + (place + core_sum_before(r, own, &all)) * move->width;
    CORE_WRITTEN_OUT for (uint32_t k = 0; k < FIRINGS_EACH; k++)
    {
        if (packets[k] == 0) continue;
        uint64_t bytes = packets[k] * move->width;
        copy_packets(to, written_packets(r, order, move, first + k), bytes, move->unit);
        to += bytes;
    }
    return all;
}

/* Of the firings before the worker's own. */
static uint64_t packets_of_earlier(const struct core_resident *r, const struct core_job *job,
                                   uint32_t worker)
{
    uint32_t outputs = core_stage(r->core, job->stage)->output_count;
    uint64_t own = 0, all;
    for (uint32_t i = core_thread(); i < worker; i += core_threads(r))
        own += r->sums[(uint64_t)i * outputs + job->output];
    (void)core_sum_before(r, own, &all);
    return all;
}

static void move_packets(const struct core_resident *r, const struct core_order *order,
                         uint32_t worker, uint32_t workers)
{
    const struct core_job *job = &order->job;
    const struct move move = begin_move(r, order);
    uint64_t from, to, place = packets_of_earlier(r, job, worker);
    divide_firings(job, worker, workers, &from, &to);
    for (; from < to; from += core_threads(r) * FIRINGS_EACH)
        place += move_firings(r, order, &move, from + core_thread() * FIRINGS_EACH, to, place);
    if (worker + 1 == workers && core_thread() == 0)
        r->results[core_stage(r->core, job->stage)->first_output + job->output] = place;
}

/* The part of a block in the run. */
struct seat {
    bool scheduler;
    uint32_t block;
    struct core_station *station; /* NULL: it leaves */
    uint32_t worker;              /* of the station */
};

static void execute_part(struct core_resident *r, const struct core_order *order,
                         const struct seat *seat, uint32_t workers)
{
    const struct core_job *job = &order->job;
    uint64_t threads = core_threads(r);
    struct crew crew = {seat->worker * threads + core_thread(), workers * threads};
    bool fires = job->kind == CORE_JOB_RUN || job->kind == CORE_JOB_TREES;
    if (fires && core_thread() == 0)
        r->executed[(uint64_t)job->stage * r->blocks + seat->block] = 1;
    switch (job->kind) {
    case CORE_JOB_RUN:
        (void)core_call(r, seat->block, &order->batch, job->entry, seat->worker, workers);
        break;
    case CORE_JOB_TREES:
        if (core_thread() == 0) core_tree_execute(r, seat->block, order, seat->worker, workers);
        break;
    case CORE_JOB_ZERO: zero_bytes(job, crew); break;
    case CORE_JOB_SUM: sum_appended(r, job, seat->worker, workers); break;
    case CORE_JOB_MOVE: move_packets(r, order, seat->worker, workers); break;
    case CORE_JOB_COPY: copy_words(job, crew); break;
    case CORE_JOB_LEAVE: break;
    }
}

static void give_sign(struct core_resident *r)
{
    core_poke_system(&r->mail->beats, ++r->beats);
}

/* The head of order `number`, or of a later one in its place. */
static uint64_t await_order(const struct core_resident *r, const struct core_station *station,
                            uint64_t number)
{
    const uint64_t *at = &station->heads[number % CORE_ORDERS].value;
    uint64_t head = 0;
    for (uint32_t round = 0; core_thread() == 0; round += round < UINT32_MAX) {
        head = core_peek_device(at);
        if ((int32_t)((uint32_t)(head >> 32) - (uint32_t)number) >= 0) break;
        core_pause(r, round);
    }
    if (core_thread() == 0) core_fence_device();
    return core_share(head);
}

/* A worker waits until the station's `done` is at least so much.  A fence follows. */
static void await_earlier_orders(const struct core_resident *r, const struct core_station *station,
                                 uint64_t done)
{
    for (uint32_t round = 1; core_peek_device(&station->done) < done; round += round < UINT32_MAX)
        core_pause(r, round);
}

/* Thread 0 orders the accesses of its whole block, on both sides of a barrier. */
static void worker_loop(struct core_resident *r, const struct seat *seat)
{
    struct core_order own;
    struct core_station *station = seat->station;
    for (uint64_t number = 1;; number++) {
        uint64_t head = await_order(r, station, number);
        uint32_t workers = (uint32_t)head;
        if ((uint32_t)(head >> 32) != (uint32_t)number || seat->worker >= workers) continue;
        const struct core_order *order =
            core_take_order(r, &station->orders[number % CORE_ORDERS], &own);
        bool leaves = order->job.kind == CORE_JOB_LEAVE;
        if (core_thread() == 0) {
            await_earlier_orders(r, station, order->done_before);
            core_fence_packets();
            bool begins = order->job.kind == CORE_JOB_RUN && seat->worker == 0;
            if (order->times != NULL && begins) order->times->begin = core_now(r);
        }
        core_barrier();
        execute_part(r, order, seat, workers);
        core_barrier();
        if (core_thread() == 0) {
            if (order->times != NULL) core_max_device(&order->times->end, core_now(r));
            core_add_device(&station->done);
        }
        if (leaves) return;
    }
}

/* ---- seats ---- */

/* Is the block on a multiprocessor that the run uses? */
static bool uses_multiprocessor_of(const struct core_resident *r, uint32_t block)
{
    uint32_t multiprocessor = r->multiprocessors[block];
    return multiprocessor >= r->first_multiprocessor &&
           multiprocessor - r->first_multiprocessor < r->multiprocessor_count;
}

/* The first of `workers` workers whose compute units are `cu` and later ones. */
static uint32_t first_worker(const struct core_resident *r, uint32_t cu, uint32_t workers)
{
    return (uint32_t)((uint64_t)cu * workers / r->cu_count);
}

/* The station's number of `workers` workers; *first: the first of them. */
static uint32_t station_workers(const struct core_resident *r, uint32_t station, uint32_t workers,
                                uint32_t *first)
{
    const struct core_station *s = &r->stations[station];
    *first = first_worker(r, s->first_cu, workers);
    return first_worker(r, s->first_cu + s->cu_count, workers) - *first;
}

/* Has each station workers? */
static bool all_have_workers(const struct core_resident *r, uint32_t workers)
{
    uint32_t first;
    for (uint32_t i = 0; i < r->station_count; i++)
        if (station_workers(r, i, workers, &first) == 0) return false;
    return true;
}

/* Requires: all blocks have arrived.  *workers: of all stations. */
static struct seat find_seat(const struct core_resident *r, uint32_t block, uint32_t *workers)
{
    struct seat seat = {.block = block};
    uint32_t before = 0, used = 0; /* blocks that the run uses: before this one, and all */
    for (uint32_t i = 0; i < r->blocks; i++) {
        if (!uses_multiprocessor_of(r, i)) continue;
        used++;
        before += r->multiprocessors[i] < r->multiprocessors[block] ||
                  (r->multiprocessors[i] == r->multiprocessors[block] && i < block);
    }
    *workers = used - 1;
    if (!uses_multiprocessor_of(r, block)) return seat;
    seat.scheduler = before == 0;
    if (seat.scheduler) return seat;
    bool divided = all_have_workers(r, used - 1);
    seat.worker = before - 1;
    for (uint32_t i = 0; i < r->station_count && divided; i++) {
        uint32_t first, own = station_workers(r, i, used - 1, &first);
        if (seat.worker < first || seat.worker - first >= own) continue;
        seat.station = &r->stations[i];
        seat.worker -= first;
        return seat;
    }
    if (!divided) seat.station = r->stations;
    return seat;
}

/* The scheduler: gives the stations their workers, and the stages their stations. */
static void divide_workers(struct core_resident *r, uint32_t workers)
{
    r->open_stations = r->station_count;
    if (all_have_workers(r, workers)) {
        uint32_t first;
        for (uint32_t i = 0; i < r->station_count; i++)
            r->stations[i].workers = station_workers(r, i, workers, &first);
        return;
    }
    r->open_stations = 1;
    r->stations->workers = workers;
    r->stations->pending_room = r->core->stage_count;
    for (uint32_t i = 0; i < r->core->stage_count; i++)
        r->stages[i].station = 0;
}

/* False: the host ends the run before all blocks are there. */
static bool await_blocks(struct core_resident *r, uint32_t block)
{
    bool all = true;
    if (core_thread() == 0) {
        r->multiprocessors[block] = core_multiprocessor(block);
        core_add_device(&r->arrived);
        for (uint32_t round = 0; core_peek_device(&r->arrived) < r->blocks && all;
             round += round < UINT32_MAX) {
            all = core_load_system_32(&r->mail->stop) == 0;
            core_pause(r, round);
        }
        core_fence_device();
    }
    return core_share(all) != 0;
}

/* ---- orders: the scheduler ---- */

static struct core_station *stage_station(const struct core_resident *r, uint32_t stage)
{
    return &r->stations[r->stages[stage].station];
}

/* The scheduler waits until the station's `done` is at least so much.  If it reads what workers have written, a fence
 * follows. */
static void await_done(struct core_resident *r, struct core_station *station, uint64_t done)
{
    if (station->done_seen >= done) return;
    for (uint32_t round = 1; (station->done_seen = core_peek_device(&station->done)) < done;
         round += round < UINT32_MAX) {
        if (round % BEAT_ROUNDS == 0) give_sign(r);
        core_pause(r, round);
    }
}

/* The place of the station's next order, when the order that was there has been executed. */
static struct core_order *next_order(struct core_resident *r, struct core_station *station)
{
    uint64_t place = (station->posted + 1) % CORE_ORDERS;
    await_done(r, station, station->done_orders[place]);
    return &station->orders[place];
}

/* Puts the windows of a batch beside it, if there is room: a block finds them there without a look at other memory. */
static void attach_windows(struct core_order *order, const struct core_stage *stage)
{
    struct kernel_batch *batch = &order->batch;
    for (uint32_t i = 0; i < stage->input_count && i < CORE_ORDER_ENDS; i++)
        order->in[i] = batch->in[i];
    for (uint32_t i = 0; i < stage->output_count && i < CORE_ORDER_ENDS; i++)
        order->out[i] = batch->out[i];
    if (stage->input_count <= CORE_ORDER_ENDS) batch->in = NULL;
    if (stage->output_count <= CORE_ORDER_ENDS) batch->out = NULL;
}

/* Gives the next order to so many workers.  Requires: next_order, and job and batch are in its place. */
static void post_order(struct core_station *station, struct core_order *order, uint32_t workers)
{
    uint64_t number = ++station->posted, place = number % CORE_ORDERS;
    order->done_before = station->done_wanted;
    station->done_wanted += workers;
    station->done_orders[place] = station->done_wanted;
    core_store_device(&station->heads[place].value, number << 32 | workers);
}

/* So many workers as get `each` items of `count`. */
static uint32_t workers_for_parts(const struct core_station *station, uint64_t count, uint32_t each)
{
    if (count >= (uint64_t)station->workers * each) return station->workers;
    uint32_t workers = ((uint32_t)count + each - 1) / each;
    return workers > 0 ? workers : 1;
}

/* So many workers as have something to do for `count` items, one for each thread. */
static uint32_t workers_for(const struct core_resident *r, const struct core_station *station,
                            uint64_t count)
{
    return workers_for_parts(station, count, r->threads);
}

/* Another station may be the next reader of packets that a station has written. */
static void pass_on_packets(const struct core_resident *r)
{
    if (r->open_stations > 1) core_fence_device();
}

/* A job of the batch.  `times`: of the launch, or NULL. */
static void post_job(struct core_resident *r, struct core_station *station,
                     const struct core_job *job, struct core_times *times, uint32_t workers)
{
    struct core_order *order = next_order(r, station);
    order->job = *job;
    order->times = times;
    core_copy_batch(&order->batch, &r->batch);
    post_order(station, order, workers);
}

static void execute_job_by(struct core_resident *r, struct core_station *station,
                           const struct core_job *job, uint32_t workers)
{
    post_job(r, station, job, NULL, workers);
    await_done(r, station, station->done_wanted);
    pass_on_packets(r);
}

static void execute_job(struct core_resident *r, struct core_station *station,
                        const struct core_job *job, uint64_t items)
{
    execute_job_by(r, station, job, workers_for(r, station, items));
}

/* ---- windows ---- */

static uint8_t *written_window(const struct core_resident *r, const struct core_output *output)
{
    return r->rings[output->buffer] + core_written_buffer(r->core, output)->fifo.write_offset_bytes;
}

static void open_inputs(struct core_resident *r, const struct core_stage *stage, bool finish)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(r->core, stage, i);
        uint32_t at = stage->first_input + i;
        r->in[at] = r->rings[input->buffer] + core_input_reader(r->core, input)->offset_bytes;
        if (stage->frame_packets > 0 && !finish)
            r->places[at] = core_ready_window(r->core, stage, input);
        r->left[at] = finish && stage->reads_tail ? core_ready_held(r->core, input) : 0;
    }
}

/* Firings of different threads with bounded rates write to scratch memory. */
static void open_resident_outputs(struct core_resident *r, const struct core_stage *stage,
                                  bool scratch)
{
    uint64_t place = 0;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(r->core, stage, i);
        const struct core_fifo *fifo = &core_written_buffer(r->core, output)->fifo;
        r->out[stage->first_output + i] =
            scratch ? (void *)(r->scratch + place) : (void *)written_window(r, output);
        place += (fifo->claimed_packets * fifo->width_bytes + SCRATCH_ALIGNMENT - 1) /
                 SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
    }
}

/* Does each firing append from a place of its own on? */
static bool executes_apart(const struct core_resident_stage *own)
{
    return (own->flags & (CORE_RESIDENT_THREADS | CORE_RESIDENT_TREES)) != 0;
}

static void open_resident_batch(struct core_resident *r, uint32_t index, bool finish,
                                struct kernel_batch *batch)
{
    struct core_stage *stage = core_stage(r->core, index);
    const struct core_resident_stage *own = &r->stages[index];
    bool apart = !finish && executes_apart(own);
    uint64_t *results = r->results + stage->first_output;
    open_inputs(r, stage, finish);
    open_resident_outputs(r, stage, apart && !stage->exact);
    for (uint32_t i = 0; i < stage->output_count && !apart; i++)
        results[i] = 0;
    r->fault = (struct kernel_fault){.firing = 0};
    *batch = (struct kernel_batch){
        .arguments = own->arguments,
        .tables = own->tables,
        .state = own->state,
        .in = r->in + stage->first_input,
        .out = r->out + stage->first_output,
        .left = finish ? r->left + stage->first_input : NULL,
        .produced = apart ? r->appended : results,
        .first_firing = stage->firings,
        .count = finish ? 1 : stage->batch,
        .completed = &stage->completed,
        .windows = stage->frame_packets > 0 && !finish ? r->places + stage->first_input : NULL,
        .fault = apart ? NULL : &r->fault};
}

static void zero_stage_outputs(struct core_resident *r, uint32_t index)
{
    const struct core_stage *stage = core_stage(r->core, index);
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_fifo *fifo =
            &core_written_buffer(r->core, core_output(r->core, stage, i))->fifo;
        const struct core_job job = {.kind = CORE_JOB_ZERO,
                                     .to = r->out[stage->first_output + i],
                                     .bytes = fifo->claimed_packets * fifo->width_bytes};
        if (job.bytes > 0) execute_job(r, stage_station(r, index), &job, job.bytes);
    }
}

/* ---- launches ---- */

/* All firings by this thread, in order; or a finish. */
static enum kernel_status call_alone(struct core_resident *r, uint32_t index, uint32_t entry)
{
    struct core_station *station = stage_station(r, index);
    await_done(r, station, station->done_wanted);
    core_fence_packets();
    r->executed[(uint64_t)index * r->blocks + r->own_block] = 1;
    return (enum kernel_status)core_call(r, r->own_block, &r->batch, entry, 0, 1);
}

/* Executes the firing of that number in the batch again, which has stopped or faulted. */
static enum kernel_status repeat_firing(struct core_resident *r, uint32_t index, uint64_t firing)
{
    const struct core_stage *stage = core_stage(r->core, index);
    struct kernel_batch *batch = &r->batch;
    const struct core_firing_ends ends = {.in = r->in + stage->first_input,
                                          .out = r->out + stage->first_output,
                                          .windows = r->places + stage->first_input};
    core_place_firing(r->core, stage, batch, firing, &ends);
    r->completed = batch->count = 1;
    batch->first_firing += firing;
    batch->completed = &r->completed;
    batch->produced = r->appended + firing * stage->output_count;
    batch->fault = &r->fault;
    enum kernel_status status = call_alone(r, index, r->stages[index].run);
    batch->first_firing -= firing;
    return status;
}

/* Jobs that move the packets of the first `count` firings, 1.., from scratch memory to the out-windows.  After them `results`
 * has their numbers. */
static void post_moves(struct core_resident *r, uint32_t index, uint64_t count,
                       struct core_times *times)
{
    const struct core_stage *stage = core_stage(r->core, index);
    struct core_job job = {.kind = CORE_JOB_SUM, .stage = index, .count = count};
    struct core_station *station = stage_station(r, index);
    uint32_t workers = workers_for(r, station, (count + FIRINGS_EACH - 1) / FIRINGS_EACH);
    post_job(r, station, &job, times, workers);
    for (uint32_t i = 0; i < stage->output_count; i++) {
        job = (struct core_job){.kind = CORE_JOB_MOVE,
                                .stage = index,
                                .output = i,
                                .count = count,
                                .from = r->out[stage->first_output + i],
                                .to = written_window(r, core_output(r->core, stage, i))};
        post_job(r, station, &job, times, workers);
    }
}

/* Reports to the core how many packets a launch has appended, which has been executed. */
static void take_results(struct core_resident *r, const struct core_stage *stage)
{
    uint64_t *produced = core_produced(r->core) + stage->first_output;
    core_fence_device();
    for (uint32_t i = 0; i < stage->output_count; i++)
        produced[i] = r->results[stage->first_output + i];
}

static void gather_packets(struct core_resident *r, uint32_t index, uint64_t count)
{
    const struct core_stage *stage = core_stage(r->core, index);
    struct core_station *station = stage_station(r, index);
    for (uint32_t i = 0; i < stage->output_count; i++)
        r->results[stage->first_output + i] = 0;
    open_resident_outputs(r, stage, true); /* a firing that was repeated has moved them */
    if (count > 0) post_moves(r, index, count, NULL);
    await_done(r, station, station->done_wanted);
    take_results(r, stage);
}

/* There is one scratch memory.  The jobs of a station follow each other; those of another one are waited for. */
static void claim_scratch(struct core_resident *r, struct core_station *station)
{
    if (r->scratch_station != NULL && r->scratch_station != station)
        await_done(r, r->scratch_station, r->scratch_done);
    r->scratch_station = station;
}

static enum kernel_status run_threads(struct core_resident *r, uint32_t index)
{
    const struct core_stage *stage = core_stage(r->core, index);
    const struct core_job job = {
        .kind = CORE_JOB_RUN, .stage = index, .entry = r->stages[index].run};
    if ((r->stages[index].flags & CORE_RESIDENT_ZEROED) != 0) zero_stage_outputs(r, index);
    struct core_station *station = stage_station(r, index);
    uint32_t each = r->stages[index].worker_firings;
    execute_job_by(r, station, &job, workers_for_parts(station, stage->batch, each));
    if ((r->stages[index].flags & CORE_RESIDENT_ENDS) != 0) core_fence_device();
    return stage->completed < stage->batch ? repeat_firing(r, index, stage->completed) : KERNEL_OK;
}

/* A firing that has faulted is not repeated: its state has changed. */
static enum kernel_status run_trees(struct core_resident *r, uint32_t index)
{
    const struct core_stage *stage = core_stage(r->core, index);
    const struct core_job job = {.kind = CORE_JOB_TREES, .stage = index};
    struct core_station *station = stage_station(r, index);
    uint32_t workers = stage->batch < station->workers ? (uint32_t)stage->batch : station->workers;
    if ((r->stages[index].flags & CORE_RESIDENT_ORDERED) != 0) workers = 1;
    execute_job_by(r, station, &job, workers);
    core_fence_device();
    if (stage->completed == stage->batch) return KERNEL_OK;
    const struct core_tree *tree = core_tree_find_fault(r, index, stage->completed);
    r->fault = tree->fault;
    return tree->status;
}

static enum kernel_status run_apart(struct core_resident *r, uint32_t index)
{
    const struct core_stage *stage = core_stage(r->core, index);
    bool trees = (r->stages[index].flags & CORE_RESIDENT_TREES) != 0;
    if (!stage->exact) claim_scratch(r, stage_station(r, index));
    enum kernel_status status = trees ? run_trees(r, index) : run_threads(r, index);
    if (!stage->exact) gather_packets(r, index, stage->completed);
    r->scratch_done = stage_station(r, index)->done_wanted;
    return status;
}

/* The host may have been interrupted, or asked for the state of the run. */
static void look_at_mail(struct core_resident *r, uint64_t now)
{
    if (now - r->looked < LOOK_NANOSECONDS) return;
    r->looked = now;
    uint32_t flags = core_load_system_32(&r->mail->attends);
    if ((flags & CORE_MAIL_INTERRUPTED) != 0) atomic_store(&r->core->interrupted, true);
    if ((flags & CORE_MAIL_ASKED) != 0) atomic_store(&r->core->asked, true);
    give_sign(r);
}

/* `fault` has been written before, or the status is KERNEL_OK. */
static void fill_completion(struct core_completion *completion, uint32_t object, uint64_t begin,
                            uint64_t end, enum kernel_status status)
{
    completion->signal = 0;
    completion->begin_cycles = begin;
    completion->end_cycles = end;
    completion->execute_cycles = end - begin;
    completion->launch_cycles = completion->switch_cycles = 0;
    completion->object = object;
    completion->kernel_status = status;
    completion->skipped = false;
}

/* The first pending launch of the station that has been executed and is not in the log; NULL: there is none. */
static const struct core_pending *find_unlogged(const struct core_station *station)
{
    if (station->pending_logged == station->pending_count) return NULL;
    uint32_t place = (station->pending_first + station->pending_logged) % station->pending_room;
    const struct core_pending *launch = &station->pending[place];
    return launch->done <= station->done_seen ? launch : NULL;
}

static void log_executed(struct core_resident *r, const struct core_pending *launch)
{
    const struct core_stage *stage = core_stage(r->core, launch->stage);
    const struct core_log_entry entry = {.stage = launch->stage,
                                         .first_firing = stage->firings - stage->batch,
                                         .firings = stage->batch,
                                         .dispatched = launch->begin,
                                         .begin = launch->times.begin,
                                         .end = launch->times.end};
    if (!stage->exact) take_results(r, stage);
    core_log_launch(r, &entry);
}

/* Logs the pending launches of all stations that have been executed until then, in the order in which they ended. */
static void log_pending(struct core_resident *r, uint64_t until)
{
    for (uint32_t i = 0; i < r->open_stations; i++)
        r->stations[i].done_seen = core_peek_device(&r->stations[i].done);
    core_fence_device();
    for (;;) {
        const struct core_pending *earliest = NULL;
        struct core_station *at = NULL;
        for (uint32_t i = 0; i < r->open_stations; i++) {
            const struct core_pending *launch = find_unlogged(&r->stations[i]);
            if (launch == NULL || launch->times.end > until) continue;
            if (earliest != NULL && earliest->times.end <= launch->times.end) continue;
            earliest = launch;
            at = &r->stations[i];
        }
        if (earliest == NULL) return;
        log_executed(r, earliest);
        at->pending_logged++;
    }
}

/* Logs a launch that has been executed before the machine goes on.  Its firings before a stop or a fault count. */
static void log_whole(struct core_resident *r, uint32_t index, bool finish, uint64_t dispatched,
                      const struct core_completion *completion)
{
    const struct core_stage *stage = core_stage(r->core, index);
    uint64_t firings = stage->batch;
    if (finish)
        firings = 1;
    else if (completion->kernel_status == KERNEL_STOPPED)
        firings = stage->completed;
    else if (completion->kernel_status != KERNEL_OK)
        firings = completion->fault.firing - stage->firings;
    const struct core_log_entry entry = {.stage = index,
                                         .finish = finish,
                                         .first_firing = stage->firings,
                                         .firings = firings,
                                         .dispatched = dispatched,
                                         .begin = completion->begin_cycles,
                                         .end = completion->end_cycles};
    log_pending(r, entry.end);
    core_log_launch(r, &entry);
}

/* Not a part of its caller: it has so many variables that the way of a launch of one job would keep its own in memory. */
__attribute__((noinline)) static void execute_launch(struct core_resident *r, uint32_t index,
                                                     bool finish,
                                                     struct core_completion *completion)
{
    const struct core_resident_stage *own = &r->stages[index];
    enum kernel_status status;
    uint64_t dispatched = core_now(r), begin = dispatched;
    if (r->log != NULL) {
        struct core_station *station = stage_station(r, index);
        await_done(r, station, station->done_wanted);
        begin = core_now(r);
    }
    open_resident_batch(r, index, finish, &r->batch);
    if (finish) {
        status = call_alone(r, index, own->finish);
    } else if (executes_apart(own)) {
        status = run_apart(r, index);
    } else {
        if ((own->flags & CORE_RESIDENT_ZEROED) != 0) zero_stage_outputs(r, index);
        status = call_alone(r, index, own->run);
    }
    if (finish || !executes_apart(own)) take_results(r, core_stage(r->core, index));
    uint64_t end = core_now(r);
    r->launches++;
    if (status != KERNEL_OK) completion->fault = r->fault;
    fill_completion(completion, finish ? r->core->stage_count + index : index, begin, end, status);
    if (r->log != NULL) log_whole(r, index, finish, dispatched, completion);
    look_at_mail(r, end);
}

/* Can the machine go on while it is executed? */
static bool goes_on(const struct core_resident *r, uint32_t index)
{
    const uint32_t whole = CORE_RESIDENT_ZEROED | CORE_RESIDENT_ENDS | CORE_RESIDENT_TREES;
    return (r->stages[index].flags & whole) == 0;
}

/* A launch of firings that one thread executes is executed by the first worker, again and again: so it finds its state. */
static void post_firings(struct core_resident *r, uint32_t index, struct core_pending *pending)
{
    struct core_station *station = stage_station(r, index);
    struct core_order *order = next_order(r, station);
    bool threads = (r->stages[index].flags & CORE_RESIDENT_THREADS) != 0;
    open_resident_batch(r, index, false, &order->batch);
    order->batch.completed = &pending->completed;
    uint32_t each = r->stages[index].worker_firings;
    uint32_t workers = threads ? workers_for_parts(station, order->batch.count, each) : 1;
    if (!core_stage(r->core, index)->exact) core_copy_batch(&r->batch, &order->batch);
    attach_windows(order, core_stage(r->core, index));
    order->job.kind = CORE_JOB_RUN;
    order->job.stage = index;
    order->job.entry = r->stages[index].run;
    order->times = r->log != NULL ? &pending->times : NULL;
    post_order(station, order, workers);
}

static void post_launch(struct core_resident *r, uint32_t index)
{
    const struct core_stage *stage = core_stage(r->core, index);
    struct core_station *station = stage_station(r, index);
    bool moves = !stage->exact && executes_apart(&r->stages[index]);
    uint64_t now = core_now(r);
    struct core_pending *pending = &station->pending[station->pending_next];
    *pending = (struct core_pending){.stage = index, .begin = now};
    if (moves) claim_scratch(r, station);
    post_firings(r, index, pending);
    if (moves) post_moves(r, index, stage->batch, r->log != NULL ? &pending->times : NULL);
    if (moves) r->scratch_done = station->done_wanted;
    pending->done = station->done_wanted;
    if (++station->pending_next == station->pending_room) station->pending_next = 0;
    station->pending_count++;
    r->pending_count++;
    r->launches++;
    look_at_mail(r, now);
}

/* Takes the pending launches of the station that have been executed, `count` completions having been written before.
 * Returns their number with these. */
static uint32_t take_executed(struct core_resident *r, struct core_station *station, uint32_t count)
{
    const struct core_pending *first = &station->pending[station->pending_first];
    bool measured = r->log != NULL;
    if (!measured && station->done_seen < first->done)
        station->done_seen = core_peek_device(&station->done);
    uint64_t now = core_now(r);
    for (; station->pending_count > 0 && first->done <= station->done_seen; count++) {
        station->pending_logged -= measured;
        uint64_t begin = measured ? first->times.begin : first->begin;
        uint64_t end = measured ? first->times.end : now;
        const struct core_stage *stage = core_stage(r->core, first->stage);
        if (!stage->exact) take_results(r, stage);
        fill_completion(&core_completions(r->core)[count], first->stage, begin, end, KERNEL_OK);
        station->pending_count--;
        if (++station->pending_first == station->pending_room) station->pending_first = 0;
        first = &station->pending[station->pending_first];
    }
    return count;
}

/* Waits until pending launches of some station have been executed, and takes all that have. */
static uint32_t take_pending(struct core_resident *r)
{
    uint32_t count = 0;
    for (uint32_t round = 1; count == 0; round += round < UINT32_MAX) {
        if (r->log != NULL) log_pending(r, UINT64_MAX);
        for (uint32_t i = 0; i < r->open_stations; i++)
            if (r->stations[i].pending_count > 0) count = take_executed(r, &r->stations[i], count);
        if (count > 0) break;
        if (round % BEAT_ROUNDS == 0) give_sign(r);
        core_pause(r, round);
    }
    r->pending_count -= count;
    pass_on_packets(r);
    return count;
}

/* ---- the environment of the core ---- */

bool core_resident_launch(void *context, uint32_t stage, bool finish)
{
    struct core_resident *r = context;
    bool executes = !finish && !goes_on(r, stage);
    if (finish)
        r->finishes[r->finish_count++] = stage;
    else if (executes)
        execute_launch(r, stage, false, core_completions(r->core));
    else
        post_launch(r, stage);
    return executes;
}

bool core_resident_wait(void *context, bool until_arrival, uint32_t *count)
{
    struct core_resident *r = context;
    (void)until_arrival;
    *count = 0;
    if (r->pending_count > 0) {
        *count = take_pending(r);
        return true;
    }
    for (; *count < r->finish_count; (*count)++)
        execute_launch(r, r->finishes[*count], true, core_completions(r->core) + *count);
    r->finish_count = 0;
    return true;
}

/* Launches are direct: there are no packets of dispatches. */
void core_resident_open(void *context, uint32_t stage, bool finish)
{
    (void)context, (void)stage, (void)finish;
}

enum core_taken core_resident_enqueue(void *context, uint32_t queue,
                                      const union dispatch_packet *packet)
{
    (void)context, (void)queue, (void)packet;
    return CORE_REFUSED;
}

void core_resident_advance(void *context, uint64_t cycles)
{
    (void)context, (void)cycles;
}

void core_resident_resume(void *context)
{
    (void)context;
}

bool core_resident_event(void *context, enum core_event event, uint32_t stage, bool finish)
{
    (void)context, (void)event, (void)stage, (void)finish;
    return true;
}

static void set_environment(struct core_resident *r)
{
    r->environment = (struct core_environment){.context = r};
#ifndef __NVPTX__
    r->environment = (struct core_environment){.context = r,
                                               .open = core_resident_open,
                                               .launch = core_resident_launch,
                                               .enqueue = core_resident_enqueue,
                                               .wait = core_resident_wait,
                                               .advance = core_resident_advance,
                                               .resume = core_resident_resume,
                                               .event = core_resident_event};
#endif
}

/* ---- the host ---- */

static void copy_core_block(struct core_resident *r, void *to, const void *from)
{
    const struct core_job job = {
        .kind = CORE_JOB_COPY, .from = from, .to = to, .bytes = r->core->bytes};
    execute_job(r, r->stations, &job, job.bytes / 8);
    core_fence_device();
}

/* False: the host ends the run. */
static bool await_host(const struct core_resident *r, uint64_t go)
{
    for (uint32_t round = 0; core_load_system(&r->mail->go) != go; round += round < UINT32_MAX) {
        if (core_load_system_32(&r->mail->stop) != 0) return false;
        core_pause(r, round);
    }
    return true;
}

static void run_scheduler(struct core_resident *r)
{
    bool ended = false;
    set_environment(r);
    for (uint64_t go = 1; !ended && await_host(r, go); go++) {
        if (go == 1) core_log_begin(r);
        copy_core_block(r, r->core, r->image);
        enum core_outcome outcome = core_resume(r->core, &r->environment);
        ended = core_has_ended(r->core);
        core_fence_device();
        copy_core_block(r, r->image, r->core);
        r->mail->outcome = outcome;
        r->mail->launches = r->launches;
        core_fence_system();
        core_store_system(&r->mail->reply, go);
    }
    for (uint32_t i = 0; i < r->open_stations; i++) {
        struct core_station *station = &r->stations[i];
        struct core_order *order = next_order(r, station);
        order->job.kind = CORE_JOB_LEAVE;
        order->times = NULL;
        post_order(station, order, station->workers);
        await_done(r, station, station->done_wanted);
    }
}

void core_resident_block(struct core_resident *r, uint32_t block)
{
    uint32_t workers;
    if (r->trees.workspace_bytes > 0 && core_thread() == 0) core_tree_open(r, block);
    if (!await_blocks(r, block)) return;
    const struct seat seat = find_seat(r, block, &workers);
    if (seat.station != NULL) {
        worker_loop(r, &seat);
    } else if (seat.scheduler && core_thread() == 0) {
        r->own_block = block;
        divide_workers(r, workers);
        run_scheduler(r);
    }
}
