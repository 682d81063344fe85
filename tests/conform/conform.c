/* SPDX-License-Identifier: MIT */
#include "tests/conform/conform.h"

#include "tests/test.h"

#include "lang/dispatch_codec.h"

#include <stdio.h>

enum { LANES = 4, CUS = 8, OBJECTS = 6, PACKETS = 4096 };

/* The backend under test: this file is a program's main part. */
static const struct prt_device_ops *ops;

/* ---- a device with six objects: out = 3 x in + number of the firing ---- */

struct bench {
    struct prt_device *device;
    struct devdesc description;
    struct prt_kernel_object objects[OBJECTS];
    const void *in[OBJECTS][1];
    void *out[OBJECTS][1];
    uint64_t left[OBJECTS][1], produced[OBJECTS][1];
    uint32_t source[OBJECTS][PACKETS], target[OBJECTS][PACKETS];
    uint64_t state[OBJECTS];
};

static const uint64_t packet_bytes = sizeof(uint32_t);
static const uint64_t claimed_bytes = 0; /* nothing here asks for bandwidth */

enum { FAULT_MARK = 0xdead };

static int32_t triple(const struct kernel_batch *batch)
{
    const uint32_t *in = batch->in[0];
    uint32_t *out = batch->out[0];
    for (uint64_t i = 0; i < batch->count; i++) {
        if (in[i] == FAULT_MARK) {
            batch->fault->firing = batch->first_firing + i;
            return KERNEL_FAULT_INDEX;
        }
        out[i] = in[i] * 3 + (uint32_t)(batch->first_firing + i);
    }
    return KERNEL_OK;
}

/* Counts in its state: only right if its firings do not overlap. */
static int32_t count_up(const struct kernel_batch *batch)
{
    uint32_t *out = batch->out[0];
    uint64_t *state = batch->state;
    for (uint64_t i = 0; i < batch->count; i++)
        out[i] = (uint32_t)(*state)++;
    return KERNEL_OK;
}

/* Writes one packet in two, by index. */
static int32_t write_some(const struct kernel_batch *batch)
{
    uint32_t *out = batch->out[0];
    for (uint64_t i = 0; i < batch->count; i++) {
        if ((batch->first_firing + i) % 2 == 0) out[i] = 7;
    }
    return KERNEL_OK;
}

static int32_t finish(const struct kernel_batch *batch)
{
    uint32_t *out = batch->out[0];
    out[0] = (uint32_t)batch->left[0];
    batch->produced[0] = 1;
    return KERNEL_OK;
}

static void describe(struct devdesc *description)
{
    *description = (struct devdesc){
        .name = "bench",
        .cu_count = CUS,
        .lanes = LANES,
        .cores_per_cu = 1,
        .schemes = DEVDESC_EQUALLY | DEVDESC_BY_COUNTS,
        .max_sub_devices = CUS,
        .reference_entries = 8,
        .launch_enqueue_cycles = 20,
        .launch_process_cycles = 30,
        .launch_cleanup_cycles = 50,
        .switch_cycles = 7,
    };
}

static void set_objects(struct bench *bench)
{
    for (uint32_t i = 0; i < OBJECTS; i++) {
        bench->in[i][0] = bench->source[i];
        bench->out[i][0] = bench->target[i];
        bench->objects[i] = (struct prt_kernel_object){
            .entry = triple,
            .state = &bench->state[i],
            .in = bench->in[i],
            .out = bench->out[i],
            .pop_bytes = &packet_bytes,
            .push_bytes = &packet_bytes,
            .claimed_bytes = &claimed_bytes,
            .packet_bytes = &packet_bytes,
            .left = bench->left[i],
            .produced = bench->produced[i],
            .input_count = 1,
            .output_count = 1,
            .stage = i,
            .cost_cycles = 100,
            .warp_cycles = 100,
            .shape = {1, 1},
        };
        for (uint32_t k = 0; k < PACKETS; k++)
            bench->source[i][k] = k * 17 + i;
    }
}

static struct bench *open_bench(uint32_t host_threads, uint32_t queue_entries)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct prt_error error = {0};
    assert_non_null(bench);
    describe(&bench->description);
    struct prt_device_options options = {.description = &bench->description,
                                         .host_threads = host_threads,
                                         .queue_entries = queue_entries};
    assert_int_equal(ops->open(&options, &bench->device, &error), PRT_OK);
    set_objects(bench);
    assert_int_equal(ops->set_kernels(bench->device, bench->objects, OBJECTS, OBJECTS), PRT_OK);
    return bench;
}

static void close_bench(struct bench *bench)
{
    ops->close(bench->device);
    free(bench);
}

static bool executes(const struct bench *bench)
{
    struct prt_device_info info;
    ops->info(bench->device, &info);
    return info.executes;
}

static bool runs_in_real_time(const struct bench *bench)
{
    struct prt_device_info info;
    ops->info(bench->device, &info);
    return info.real_time;
}

static uint32_t root_queue(struct bench *bench)
{
    uint32_t queue = UINT32_MAX;
    struct prt_device_tree *tree = ops->tree(bench->device);
    assert_int_equal(ops->queue_create(bench->device, prt_device_tree_root(tree), 0, &queue),
                     PRT_OK);
    return queue;
}

static union dispatch_packet make_packet(uint64_t object, uint32_t firings)
{
    return (union dispatch_packet){.full = {.header = DISPATCH_FULL,
                                            .setup = 1,
                                            .workgroup_size_x = LANES,
                                            .workgroup_size_y = 1,
                                            .workgroup_size_z = 1,
                                            .grid_size_x = firings,
                                            .grid_size_y = 1,
                                            .grid_size_z = 1,
                                            .kernel_object = object,
                                            .kernarg_address = object,
                                            .completion_signal = object + 1}};
}

static enum prt_status enqueue(struct bench *bench, uint32_t queue, uint64_t object,
                               uint32_t firings)
{
    struct prt_error error = {0};
    union dispatch_packet packet = make_packet(object, firings);
    return ops->enqueue(bench->device, queue, &packet, &error);
}

/* Waits for exactly one completion at a time. */
static struct core_completion wait_one(struct bench *bench)
{
    struct core_completion completion = {0};
    uint32_t count = 0;
    assert_int_equal(ops->wait(bench->device, &completion, 1, &count), PRT_OK);
    assert_int_equal(count, 1);
    return completion;
}

/* ---- time ---- */

static void time_begins_at_zero_and_moves_by_advance(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    if (!runs_in_real_time(bench)) {
        assert_int_equal(ops->now_cycles(bench->device), 0);
        ops->advance(bench->device, 5);
        ops->advance(bench->device, 0);
        assert_int_equal(ops->now_cycles(bench->device), 5);
    }
    close_bench(bench);
}

/* A device in real time has the host's: advancing it by ages changes nothing. */
static void real_time_passes_by_itself(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    if (runs_in_real_time(bench)) {
        const uint64_t age = UINT64_C(1) << 60;
        uint64_t before = ops->now_cycles(bench->device), after;
        ops->advance(bench->device, age);
        while ((after = ops->now_cycles(bench->device)) == before)
            continue;
        assert_true(after > before && after < age);
    }
    close_bench(bench);
}

static void nothing_in_flight_is_not_waited_for(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    struct core_completion completion;
    uint32_t count = 77;
    assert_int_equal(ops->wait(bench->device, &completion, 1, &count), PRT_OK);
    assert_int_equal(count, 0);
    if (!runs_in_real_time(bench)) assert_int_equal(ops->now_cycles(bench->device), 0);
    close_bench(bench);
}

static void time_never_goes_back(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench);
    assert_int_equal(enqueue(bench, queue, 0, 10), PRT_OK);
    ops->advance(bench->device, 1000000);
    struct core_completion completion = wait_one(bench);
    uint64_t now = ops->now_cycles(bench->device);
    if (!runs_in_real_time(bench)) assert_int_equal(now, 1000000);
    assert_true(completion.end_cycles <= now);
    close_bench(bench);
}

static void cycles_do_not_depend_on_host_threads(void **unused)
{
    (void)unused;
    uint64_t ends[3][OBJECTS];
    const uint32_t threads[] = {1, 2, 5};
    for (size_t t = 0; t < 3; t++) {
        struct bench *bench = open_bench(threads[t], 0);
        uint32_t queue = root_queue(bench);
        for (uint32_t i = 0; i < OBJECTS; i++)
            assert_int_equal(enqueue(bench, queue, i, PACKETS - i), PRT_OK);
        for (uint32_t i = 0; i < OBJECTS; i++)
            ends[t][i] = wait_one(bench).end_cycles;
        bool real_time = runs_in_real_time(bench);
        close_bench(bench);
        if (real_time) return;
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
    assert_memory_equal(ends[0], ends[2], sizeof ends[0]);
}

/* ---- dispatches ---- */

static void a_dispatch_completes_once_with_its_signal(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench), count;
    assert_int_equal(enqueue(bench, queue, 3, 10), PRT_OK);
    struct core_completion completion = wait_one(bench);
    assert_int_equal(completion.signal, 4);
    assert_int_equal(completion.kernel_status, KERNEL_OK);
    assert_true(completion.begin_cycles <= completion.end_cycles);
    assert_int_equal(completion.end_cycles - completion.begin_cycles, completion.execute_cycles +
                                                                          completion.launch_cycles +
                                                                          completion.switch_cycles);
    assert_int_equal(ops->wait(bench->device, &completion, 1, &count), PRT_OK);
    assert_int_equal(count, 0);
    close_bench(bench);
}

static void completions_come_in_order_of_end_then_enqueuing(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(3, 0);
    uint32_t queue = root_queue(bench);
    for (uint32_t i = OBJECTS; i-- > 0;)
        assert_int_equal(enqueue(bench, queue, i, 1000), PRT_OK);
    struct core_completion before = wait_one(bench);
    for (uint32_t i = 1; i < OBJECTS; i++) {
        struct core_completion next = wait_one(bench);
        assert_true(before.end_cycles < next.end_cycles ||
                    (before.end_cycles == next.end_cycles && before.signal > next.signal));
        before = next;
    }
    close_bench(bench);
}

static void outputs_are_those_of_the_kernel(void **unused)
{
    (void)unused;
    const uint32_t threads[] = {1, 2, 4};
    for (size_t t = 0; t < 3; t++) {
        struct bench *bench = open_bench(threads[t], 0);
        uint32_t queue = root_queue(bench);
        struct prt_error error;
        bench->objects[0].cost_cycles = 1000; /* worth cutting into ranges */
        union dispatch_packet packet = make_packet(0, PACKETS - 5);
        for (uint32_t first = 0; first < 3 * (PACKETS - 5); first += PACKETS - 5) {
            /* The same packet: the device counts the firings. */
            assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_OK);
            wait_one(bench);
            for (uint32_t i = 0; executes(bench) && i < PACKETS - 5; i++)
                assert_int_equal(bench->target[0][i], bench->source[0][i] * 3 + first + i);
        }
        assert_int_equal(bench->target[0][PACKETS - 5], 0);
        close_bench(bench);
    }
}

static void firings_with_state_do_not_overlap(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(4, 0);
    uint32_t queue = root_queue(bench);
    bench->objects[1].entry = count_up;
    bench->objects[1].flags = PRT_KERNEL_STATEFUL;
    bench->objects[1].cost_cycles = 100000;
    for (uint32_t round = 0; round < 8; round++) {
        assert_int_equal(enqueue(bench, queue, 1, PACKETS), PRT_OK);
        wait_one(bench);
        for (uint32_t i = 0; executes(bench) && i < PACKETS; i++)
            assert_int_equal(bench->target[1][i], round * PACKETS + i);
    }
    close_bench(bench);
}

static void indexed_outputs_are_zeroed_first(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(4, 0);
    uint32_t queue = root_queue(bench);
    bench->objects[2].entry = write_some;
    bench->objects[2].flags = PRT_KERNEL_INDEXED;
    bench->objects[2].cost_cycles = 1000;
    memset(bench->target[2], 0xff, sizeof bench->target[2]);
    assert_int_equal(enqueue(bench, queue, 2, PACKETS - 3), PRT_OK);
    wait_one(bench);
    for (uint32_t i = 0; executes(bench) && i < PACKETS - 3; i++)
        assert_int_equal(bench->target[2][i], i % 2 == 0 ? 7 : 0);
    assert_int_equal(bench->target[2][PACKETS - 3], UINT32_MAX);
    close_bench(bench);
}

static void a_finish_says_what_it_has_produced(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(2, 0);
    uint32_t queue = root_queue(bench);
    bench->objects[4].entry = finish;
    bench->objects[4].flags = PRT_KERNEL_FINISH;
    bench->left[4][0] = 9;
    bench->produced[4][0] = 0;
    assert_int_equal(enqueue(bench, queue, 4, 1), PRT_OK);
    wait_one(bench);
    assert_int_equal(bench->produced[4][0], executes(bench) ? 1 : 0);
    if (executes(bench)) assert_int_equal(bench->target[4][0], 9);
    close_bench(bench);
}

static void the_fault_of_the_lowest_firing_is_reported(void **unused)
{
    (void)unused;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct bench *bench = open_bench(threads, 0);
        uint32_t queue = root_queue(bench);
        bench->objects[0].cost_cycles = 1000;
        for (uint32_t i = 77; i < PACKETS; i += 500)
            bench->source[0][i] = FAULT_MARK;
        assert_int_equal(enqueue(bench, queue, 0, PACKETS), PRT_OK);
        struct core_completion completion = wait_one(bench);
        if (executes(bench)) {
            assert_int_equal(completion.kernel_status, KERNEL_FAULT_INDEX);
            assert_int_equal(completion.fault.firing, 77);
        }
        bench->source[0][0] = 1;
        assert_int_equal(enqueue(bench, queue, 1, 10), PRT_OK);
        assert_int_equal(wait_one(bench).kernel_status, KERNEL_OK);
        close_bench(bench);
    }
}

/* ---- packets and queues ---- */

static void malformed_packets_are_refused_and_leave_the_queue_usable(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench);
    union dispatch_packet bad[20];
    size_t count = 0;
#define BAD(field, value)                                                                          \
    bad[count] = make_packet(0, 1);                                                                \
    bad[count++].full.field = (value)
    BAD(header, DISPATCH_INVALID);
    BAD(header, 1);
    BAD(header, 255);
    BAD(setup, 0);
    BAD(setup, 4);
    BAD(synch_scopes, 0x20);
    BAD(synch_scopes, 3 << 1);
    BAD(synch_scopes, 3 << 3);
    BAD(workgroup_size_x, 0);
    BAD(workgroup_size_y, 0);
    BAD(workgroup_size_z, 0);
    BAD(reserved0, 1);
    BAD(reserved2, 1);
    BAD(grid_size_x, 0);
    BAD(grid_size_y, 2);
    BAD(grid_size_z, 0);
    BAD(kernel_object, OBJECTS);
    BAD(completion_signal, OBJECTS + 1);
    BAD(kernel_object, UINT64_MAX);
    BAD(kernarg_address, 1);
#undef BAD
    for (size_t i = 0; i < count; i++) {
        struct prt_error error = {0};
        assert_int_equal(ops->enqueue(bench->device, queue, &bad[i], &error), PRT_E_PACKET);
        assert_int_equal(error.status, PRT_E_PACKET);
        assert_true(strlen(error.message) > 10);
        assert_int_equal(enqueue(bench, queue, 0, 1), PRT_OK);
        assert_int_equal(wait_one(bench).signal, 1);
    }
    close_bench(bench);
}

/* ---- packets of several launches ---- */

/* A condensed packet of objects 0, 1, ... as references 0, 1, ..., of which only the last has a
 * completion signal. */
static union dispatch_packet store_chain(struct bench *bench, uint32_t queue, uint32_t length,
                                         uint32_t firings)
{
    struct dispatch_table table = {.count = DISPATCH_ENTRIES_MAX};
    struct dispatch_writer writer;
    struct prt_error error;
    dispatch_open(&writer);
    for (uint32_t i = 0; i < length; i++) {
        struct dispatch_full launch = make_packet(i, firings).full;
        if (i + 1 < length) launch.completion_signal = 0;
        dispatch_store(&table, i, &launch);
        assert_true(dispatch_append(&writer, &table, i, &launch));
        const union dispatch_packet packet = {.reference = dispatch_refer(&launch, i)};
        assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_OK);
        assert_int_equal(wait_one(bench).object, i);
    }
    return (union dispatch_packet){.condensed = writer.packet};
}

/* Object i reads what object i - 1 writes. */
static void chain_objects(struct bench *bench, uint32_t length, uint64_t cost_cycles)
{
    for (uint32_t i = 0; i < length; i++) {
        bench->objects[i].cost_cycles = cost_cycles;
        if (i > 0) bench->in[i][0] = bench->target[i - 1];
    }
}

static void launches_of_a_packet_follow_each_other(void **unused)
{
    (void)unused;
    enum { LENGTH = 4, FIRINGS = PACKETS };
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct bench *bench = open_bench(threads, 0);
        uint32_t queue = root_queue(bench);
        struct prt_error error;
        chain_objects(bench, LENGTH, threads % 2 ? 1 : 100000);
        union dispatch_packet packet = store_chain(bench, queue, LENGTH, FIRINGS);
        for (uint32_t i = 0; i < LENGTH; i++)
            memset(bench->target[i], 0, sizeof bench->target[i]);
        assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_OK);
        assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_E_PACKET);
        uint64_t before = 0;
        for (uint32_t i = 0; i < LENGTH; i++) {
            struct core_completion completion = wait_one(bench);
            assert_int_equal(completion.object, i);
            assert_int_equal(completion.signal, i + 1 < LENGTH ? 0 : LENGTH);
            assert_true(completion.begin_cycles >= before);
            before = completion.end_cycles;
        }
        for (uint32_t k = 0; k < FIRINGS && executes(bench); k++) {
            uint32_t value = bench->source[0][k];
            for (uint32_t i = 0; i < LENGTH; i++)
                value = value * 3 + FIRINGS + k; /* its reference was launched before */
            assert_int_equal(bench->target[LENGTH - 1][k], value);
        }
        close_bench(bench);
    }
}

static void a_packet_is_seen_with_its_signals(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench), count;
    struct core_completion completions[OBJECTS];
    struct prt_error error;
    union dispatch_packet packet = store_chain(bench, queue, 4, 8);
    assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_OK);
    assert_int_equal(ops->wait(bench->device, completions, OBJECTS, &count), PRT_OK);
    assert_int_equal(count, 4);
    assert_true(ops->now_cycles(bench->device) >= completions[3].end_cycles);
    close_bench(bench);
}

/* Launches after a fault on its queue are skipped.  Other queues go on, and after `resume` this one does. */
static void a_fault_stops_its_queue(void **unused)
{
    (void)unused;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct bench *bench = open_bench(threads, 0);
        uint32_t queue = root_queue(bench), other = root_queue(bench);
        struct prt_error error;
        chain_objects(bench, 3, threads == 1 ? 1 : 1000000);
        union dispatch_packet packet = store_chain(bench, queue, 3, 64);
        bench->source[0][5] = FAULT_MARK;
        memset(bench->target[2], 0, sizeof bench->target[2]);
        assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_OK);
        assert_int_equal(enqueue(bench, queue, 3, 64), PRT_OK);
        assert_int_equal(enqueue(bench, other, 4, 64), PRT_OK);
        enum kernel_status expected = executes(bench) ? KERNEL_FAULT_INDEX : KERNEL_OK;
        assert_int_equal(wait_one(bench).kernel_status, expected);
        for (uint32_t i = 0; i < 4; i++) {
            struct core_completion completion = wait_one(bench);
            assert_int_equal(completion.kernel_status, KERNEL_OK);
            assert_int_equal(completion.skipped, executes(bench) && completion.object != 4);
        }
        assert_int_equal(bench->target[2][0], 0);
        assert_int_equal(bench->target[3][1], 0);
        if (executes(bench)) assert_int_equal(bench->target[4][1], bench->source[4][1] * 3 + 1);
        if (ops->resume != NULL) ops->resume(bench->device);
        assert_int_equal(enqueue(bench, queue, 3, 64), PRT_OK);
        assert_false(wait_one(bench).skipped);
        if (executes(bench)) assert_int_equal(bench->target[3][1], bench->source[3][1] * 3 + 1);
        close_bench(bench);
    }
}

static void packets_are_counted(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench);
    struct prt_device_counters counters;
    struct prt_error error;
    union dispatch_packet packet = store_chain(bench, queue, 4, 8), bad = {.header = 99};
    assert_int_equal(ops->enqueue(bench->device, queue, &packet, &error), PRT_OK);
    assert_int_equal(ops->enqueue(bench->device, queue, &bad, &error), PRT_E_PACKET);
    ops->counters(bench->device, &counters);
    assert_int_equal(counters.packets[PRT_PACKET_REFERENCE], 4);
    assert_int_equal(counters.packets[PRT_PACKET_CONDENSED], 1);
    assert_int_equal(counters.launches[PRT_PACKET_CONDENSED], 4);
    assert_int_equal(counters.packets_refused, 1);
    assert_int_equal(counters.reference_stores, 4);
    assert_int_equal(counters.bytes_enqueued, 5 * 64);
    assert_int_equal(counters.enqueue_cycles, 5 * 20);
    assert_int_equal(counters.process_cycles, 5 * 30);
    assert_int_equal(counters.cleanup_cycles, 5 * 50);
    close_bench(bench);
}

static void a_full_queue_is_busy_until_a_completion(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(2, 2);
    uint32_t queue = root_queue(bench);
    assert_int_equal(enqueue(bench, queue, 0, 10), PRT_OK);
    assert_int_equal(enqueue(bench, queue, 1, 10), PRT_OK);
    assert_int_equal(enqueue(bench, queue, 2, 10), PRT_E_BUSY);
    assert_int_equal(enqueue(bench, queue, 2, 10), PRT_E_BUSY);
    assert_int_equal(wait_one(bench).signal, 1);
    assert_int_equal(enqueue(bench, queue, 2, 10), PRT_OK);
    assert_int_equal(wait_one(bench).signal, 2);
    assert_int_equal(wait_one(bench).signal, 3);
    close_bench(bench);
}

static void queues_that_are_not_there_are_refused(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench), other = UINT32_MAX;
    assert_int_equal(enqueue(bench, queue + 1, 0, 1), PRT_E_INVALID_VALUE);
    assert_int_equal(ops->queue_destroy(bench->device, queue + 1), PRT_E_INVALID_VALUE);
    assert_int_equal(ops->queue_destroy(bench->device, queue), PRT_OK);
    assert_int_equal(ops->queue_destroy(bench->device, queue), PRT_E_INVALID_VALUE);
    assert_int_equal(enqueue(bench, queue, 0, 1), PRT_E_INVALID_VALUE);
    struct prt_device_handle none = {0, 0};
    assert_int_equal(ops->queue_create(bench->device, none, 0, &other), PRT_E_INVALID_DEVICE);
    assert_int_equal(other, UINT32_MAX);
    close_bench(bench);
}

static void a_queue_with_work_in_flight_is_not_destroyed(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(1, 0);
    uint32_t queue = root_queue(bench);
    assert_int_equal(enqueue(bench, queue, 0, 1), PRT_OK);
    assert_int_equal(ops->queue_destroy(bench->device, queue), PRT_E_BUSY);
    wait_one(bench);
    assert_int_equal(ops->queue_destroy(bench->device, queue), PRT_OK);
    close_bench(bench);
}

static void a_queue_keeps_its_sub_device(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(2, 0);
    struct prt_device_tree *tree = ops->tree(bench->device);
    struct prt_device_handle halves[2];
    const int64_t properties[] = {PRT_PARTITION_EQUALLY, CUS / 2, 0};
    uint32_t queue;
    assert_int_equal(
        prt_create_sub_devices(tree, prt_device_tree_root(tree), properties, 2, halves, NULL),
        PRT_OK);
    assert_int_equal(ops->queue_create(bench->device, halves[0], 0, &queue), PRT_OK);
    assert_int_equal(prt_device_release(tree, halves[0]), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 3);
    assert_int_equal(enqueue(bench, queue, 0, 100), PRT_OK);
    wait_one(bench);
    assert_int_equal(ops->queue_destroy(bench->device, queue), PRT_OK);
    assert_int_equal(prt_device_tree_live(tree), 2);
    close_bench(bench);
}

static void closing_with_work_in_flight_is_clean(void **unused)
{
    (void)unused;
    struct bench *bench = open_bench(4, 0);
    uint32_t queue = root_queue(bench);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        bench->objects[i].cost_cycles = 100000;
        assert_int_equal(enqueue(bench, queue, i, PACKETS), PRT_OK);
    }
    close_bench(bench);
}

static void devices_are_independent(void **unused)
{
    (void)unused;
    struct bench *a = open_bench(2, 0), *b = open_bench(2, 0);
    uint32_t queue_a = root_queue(a), queue_b = root_queue(b);
    assert_int_equal(enqueue(a, queue_a, 0, 100), PRT_OK);
    ops->advance(b->device, 1);
    assert_int_equal(enqueue(b, queue_b, 1, 100), PRT_OK);
    assert_int_equal(wait_one(a).signal, 1);
    assert_int_equal(wait_one(b).signal, 2);
    close_bench(a);
    close_bench(b);
}

int conform_main(const char *group, const struct prt_device_ops *tested)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_begins_at_zero_and_moves_by_advance),
        cmocka_unit_test(real_time_passes_by_itself),
        cmocka_unit_test(nothing_in_flight_is_not_waited_for),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(cycles_do_not_depend_on_host_threads),
        cmocka_unit_test(a_dispatch_completes_once_with_its_signal),
        cmocka_unit_test(completions_come_in_order_of_end_then_enqueuing),
        cmocka_unit_test(outputs_are_those_of_the_kernel),
        cmocka_unit_test(firings_with_state_do_not_overlap),
        cmocka_unit_test(indexed_outputs_are_zeroed_first),
        cmocka_unit_test(a_finish_says_what_it_has_produced),
        cmocka_unit_test(the_fault_of_the_lowest_firing_is_reported),
        cmocka_unit_test(malformed_packets_are_refused_and_leave_the_queue_usable),
        cmocka_unit_test(launches_of_a_packet_follow_each_other),
        cmocka_unit_test(a_packet_is_seen_with_its_signals),
        cmocka_unit_test(a_fault_stops_its_queue),
        cmocka_unit_test(packets_are_counted),
        cmocka_unit_test(a_full_queue_is_busy_until_a_completion),
        cmocka_unit_test(queues_that_are_not_there_are_refused),
        cmocka_unit_test(a_queue_with_work_in_flight_is_not_destroyed),
        cmocka_unit_test(a_queue_keeps_its_sub_device),
        cmocka_unit_test(closing_with_work_in_flight_is_clean),
        cmocka_unit_test(devices_are_independent),
    };
    ops = tested;
    cmocka_set_test_filter(getenv("T"));
    return cmocka_run_group_tests_name(group, tests, NULL, NULL);
}
