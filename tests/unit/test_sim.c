/* SPDX-License-Identifier: MIT */
/* The simulated GPU's model of time; that it executes rightly is tests/conform's. */
#include "tests/test.h"

#include "runtime/backend/sim/sim.h"

#include <assert.h>

enum { CUS = 8, LANES = 4, STAGES = 3, LAUNCH = 100, SWITCH = 7 };

static int32_t nothing(const struct kernel_batch *batch)
{
    (void)batch;
    return KERNEL_OK;
}

struct machine {
    struct prt_device *device;
    struct devdesc description;
    struct prt_kernel_object objects[STAGES];
};

static uint32_t queue_of(struct machine *m, struct prt_device_handle device, uint32_t importance)
{
    uint32_t queue;
    assert_int_equal(prt_sim_device.queue_create(m->device, device, importance, &queue), PRT_OK);
    return queue;
}

/* Is there a queue of greater importance on the whole device, which is unused?  Then launches may
 * interrupt each other; as long as none does, nothing is to be seen of it. */
static bool ranked;

static struct machine *machine_made(uint64_t bytes_per_cycle, prt_launch_observer observe,
                                    void *context)
{
    struct machine *m = calloc(1, sizeof *m);
    struct prt_error error;
    assert_non_null(m);
    m->description = (struct devdesc){.name = "model",
                                      .cu_count = CUS,
                                      .lanes = LANES,
                                      .cores_per_cu = 1,
                                      .memory_bytes_per_cycle = bytes_per_cycle,
                                      .schemes = DEVDESC_EQUALLY | DEVDESC_BY_COUNTS,
                                      .max_sub_devices = CUS,
                                      .reference_entries = 8,
                                      .launch_enqueue_cycles = 20,
                                      .launch_process_cycles = 30,
                                      .launch_cleanup_cycles = 50,
                                      .switch_cycles = SWITCH,
                                      .costs = {.integer = 1, .divide = 8},
                                      .index_history_entries = 4,
                                      .index_memory_bytes = 4096};
    for (uint32_t i = 0; i < STAGES; i++)
        m->objects[i] = (struct prt_kernel_object){.entry = nothing,
                                                   .stage = i,
                                                   .cost_cycles = 10,
                                                   .warp_cycles = 10,
                                                   .shape = {LANES, 1}};
    struct prt_device_options options = {.description = &m->description,
                                         .host_threads = 1,
                                         .observe = observe,
                                         .observe_context = context};
    assert_int_equal(prt_sim_device.open(&options, &m->device, &error), PRT_OK);
    assert_int_equal(prt_sim_device.set_kernels(m->device, m->objects, STAGES, STAGES), PRT_OK);
    if (ranked) (void)queue_of(m, prt_device_tree_root(prt_sim_device.tree(m->device)), 9);
    return m;
}

static struct machine *machine_open(void)
{
    return machine_made(1 << 20, NULL, NULL);
}

static void machine_close(struct machine *m)
{
    prt_sim_device.close(m->device);
    free(m);
}

static void enqueue(struct machine *m, uint32_t queue, uint32_t stage, uint32_t firings)
{
    struct prt_error error;
    union dispatch_packet packet = {.full = {.header = DISPATCH_FULL,
                                             .setup = 1,
                                             .workgroup_size_x = LANES,
                                             .workgroup_size_y = 1,
                                             .workgroup_size_z = 1,
                                             .grid_size_x = firings,
                                             .grid_size_y = 1,
                                             .grid_size_z = 1,
                                             .kernel_object = stage,
                                             .kernarg_address = stage,
                                             .completion_signal = stage + 1}};
    assert_int_equal(prt_sim_device.enqueue(m->device, queue, &packet, &error), PRT_OK);
}

static struct core_completion reap(struct machine *m)
{
    struct core_completion completion;
    uint32_t count;
    assert_int_equal(prt_sim_device.wait(m->device, &completion, 1, &count), PRT_OK);
    assert_int_equal(count, 1);
    return completion;
}

static uint32_t queue_on(struct machine *m, struct prt_device_handle device)
{
    return queue_of(m, device, 0);
}

static struct prt_device_handle root(struct machine *m)
{
    return prt_device_tree_root(prt_sim_device.tree(m->device));
}

static void firings_fill_lanes_of_all_compute_units(void **unused)
{
    (void)unused;
    const struct {
        uint32_t firings;
        uint64_t warps;
    } cases[] = {{1, 1}, {31, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {3200, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine *m = machine_open();
        enqueue(m, queue_on(m, root(m)), 0, cases[i].firings);
        struct core_completion c = reap(m);
        assert_int_equal(c.begin_cycles, 0);
        assert_int_equal(c.launch_cycles, LAUNCH);
        assert_int_equal(c.switch_cycles, 0);
        assert_int_equal(c.execute_cycles, cases[i].warps * 10);
        assert_int_equal(c.end_cycles, LAUNCH + cases[i].warps * 10);
        assert_int_equal(prt_sim_device.now_cycles(m->device), c.end_cycles);
        machine_close(m);
    }
}

static void firings_with_state_follow_each_other(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    m->objects[0].flags = PRT_KERNEL_STATEFUL;
    m->objects[0].shape.firings_per_warp = 1;
    enqueue(m, queue_on(m, root(m)), 0, 33);
    assert_int_equal(reap(m).execute_cycles, 330);
    machine_close(m);
}

static void a_finish_costs_one_firing(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    m->objects[0].flags = PRT_KERNEL_STATEFUL | PRT_KERNEL_FINISH;
    m->objects[0].shape.firings_per_warp = 1;
    enqueue(m, queue_on(m, root(m)), 0, 1);
    assert_int_equal(reap(m).execute_cycles, 10);
    machine_close(m);
}

static void a_queue_is_in_order_and_switches_cost(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    uint32_t queue = queue_on(m, root(m));
    enqueue(m, queue, 0, 32);
    enqueue(m, queue, 1, 32);
    struct core_completion first = reap(m), second = reap(m);
    assert_int_equal(first.end_cycles, 110);
    assert_int_equal(second.begin_cycles, 110);
    assert_int_equal(second.switch_cycles, SWITCH);
    assert_int_equal(second.end_cycles, 110 + LAUNCH + SWITCH + 10);
    enqueue(m, queue, 1, 32);
    assert_int_equal(reap(m).switch_cycles, 0);
    machine_close(m);
}

static void an_idle_queue_begins_now(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    uint32_t queue = queue_on(m, root(m));
    prt_sim_device.advance(m->device, 12345);
    enqueue(m, queue, 0, 32);
    assert_int_equal(reap(m).begin_cycles, 12345);
    machine_close(m);
}

static uint32_t reap_until(struct machine *m, uint64_t until_cycles, struct core_completion *c)
{
    uint32_t count = 9;
    assert_int_equal(prt_sim_device.wait_until(m->device, until_cycles, c, 1, &count), PRT_OK);
    return count;
}

/* The launch ends at 110, and the one that is enqueued at 60 begins then. */
static void a_wait_until_a_moment_ends_there_or_with_a_launch(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct core_completion c;
    uint32_t first = queue_on(m, root(m)), second = queue_on(m, root(m));
    assert_int_equal(reap_until(m, 0, &c), 0);
    assert_int_equal(prt_sim_device.now_cycles(m->device), 0);
    enqueue(m, first, 0, 1);
    assert_int_equal(reap_until(m, 60, &c), 0);
    assert_int_equal(prt_sim_device.now_cycles(m->device), 60);
    enqueue(m, second, 1, 1);
    assert_int_equal(reap_until(m, 50, &c), 0);
    assert_int_equal(prt_sim_device.now_cycles(m->device), 60);
    assert_int_equal(reap_until(m, LAUNCH + 10, &c), 1);
    assert_int_equal(c.signal, 1);
    assert_int_equal(c.end_cycles, LAUNCH + 10);
    assert_int_equal(reap_until(m, LAUNCH + 11, &c), 0);
    assert_int_equal(prt_sim_device.now_cycles(m->device), LAUNCH + 11);
    assert_int_equal(reap_until(m, UINT64_MAX, &c), 1);
    assert_int_equal(c.signal, 2);
    assert_int_equal(c.begin_cycles, LAUNCH + 10);
    assert_int_equal(c.end_cycles, LAUNCH + 10 + LAUNCH + SWITCH + 10);
    assert_int_equal(prt_sim_device.now_cycles(m->device), c.end_cycles);
    assert_int_equal(reap_until(m, 1000, &c), 0); /* nothing is in flight */
    assert_int_equal(prt_sim_device.now_cycles(m->device), 1000);
    assert_int_equal(reap_until(m, UINT64_MAX, &c), 0);
    assert_int_equal(prt_sim_device.now_cycles(m->device), 1000);
    machine_close(m);
}

static void sub_devices_execute_side_by_side(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct prt_device_handle parts[2];
    const int64_t counts[] = {PRT_PARTITION_BY_COUNTS, 2, 6, 0, 0};
    assert_int_equal(
        prt_create_sub_devices(prt_sim_device.tree(m->device), root(m), counts, 2, parts, NULL),
        PRT_OK);
    uint32_t small = queue_on(m, parts[0]), large = queue_on(m, parts[1]);
    enqueue(m, small, 0, 48);
    enqueue(m, large, 1, 48);
    struct core_completion first = reap(m), second = reap(m);
    assert_int_equal(first.signal, 2); /* ceil(48 / (4 x 6)) = 2 warps against 6 */
    assert_int_equal(first.end_cycles, LAUNCH + 20);
    assert_int_equal(second.begin_cycles, 0);
    assert_int_equal(second.end_cycles, LAUNCH + 60);
    machine_close(m);
}

static void halve(struct machine *m, struct prt_device_handle parts[2])
{
    const int64_t halves[] = {PRT_PARTITION_EQUALLY, CUS / 2, 0};
    assert_int_equal(
        prt_create_sub_devices(prt_sim_device.tree(m->device), root(m), halves, 2, parts, NULL),
        PRT_OK);
}

static void the_whole_device_waits_for_its_parts(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct prt_device_handle parts[2];
    halve(m, parts);
    uint32_t part = queue_on(m, parts[1]), whole = queue_on(m, root(m));
    enqueue(m, part, 0, 160);
    enqueue(m, whole, 1, 32);
    struct core_completion first = reap(m), second = reap(m);
    assert_int_equal(first.end_cycles, LAUNCH + 100);
    assert_int_equal(second.begin_cycles, first.end_cycles);
    assert_int_equal(second.switch_cycles, SWITCH);
    enqueue(m, part, 0, 1);
    assert_int_equal(reap(m).switch_cycles, SWITCH);
    machine_close(m);
}

static void everything_due_is_delivered_at_once(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct prt_device_handle parts[4];
    struct core_completion completions[4];
    uint32_t count;
    const int64_t quarters[] = {PRT_PARTITION_EQUALLY, 2, 0};
    assert_int_equal(
        prt_create_sub_devices(prt_sim_device.tree(m->device), root(m), quarters, 4, parts, NULL),
        PRT_OK);
    enqueue(m, queue_on(m, parts[3]), 2, 8);
    enqueue(m, queue_on(m, parts[1]), 1, 8);
    enqueue(m, queue_on(m, parts[0]), 0, 80);
    assert_int_equal(prt_sim_device.wait(m->device, completions, 4, &count), PRT_OK);
    assert_int_equal(count, 2);
    assert_int_equal(completions[0].signal, 3); /* of those that end together: as enqueued */
    assert_int_equal(completions[1].signal, 2);
    assert_int_equal(prt_sim_device.now_cycles(m->device), LAUNCH + 10);
    machine_close(m);
}

/* Work-items: what a launch waits for and spares, by what the one before has left. */
static void items_wait_a_cycle_unless_their_indices_are_known(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    const struct prt_index_configuration shared[2] = {
        {.key = {0, {4, 4, 1}}, .items = 16, .lanes = LANES},
        {.key = {0, {2, 2, 2}}, .items = 8, .lanes = LANES}};
    const struct prt_index_configuration own = {
        .key = {64, {16, 1, 1}}, .items = 16, .lanes = LANES};
    m->objects[0].index = &shared[0];
    m->objects[0].shape = (struct core_warp_shape){1, 4};
    m->objects[1].index = &shared[1];
    m->objects[1].shape = (struct core_warp_shape){1, 2};
    m->objects[2].index = &own;
    m->objects[2].shape = (struct core_warp_shape){1, 4};
    uint32_t queue = queue_on(m, root(m));
    static const struct {
        uint32_t stage, waits;
    } launches[] = {{0, 1}, {0, 0}, {2, 1}, {1, 1}, {2, 0}, {0, 0}, {0, 0}, {1, 0}};
    enum { COUNT = sizeof launches / sizeof launches[0] };
    for (uint32_t i = 0; i < COUNT; i++) {
        enqueue(m, queue, launches[i].stage, 4);
        struct core_completion c = reap(m);
        assert_int_equal(c.end_cycles - c.begin_cycles,
                         c.launch_cycles + c.switch_cycles + c.execute_cycles + launches[i].waits);
    }
    struct prt_device_counters counters;
    prt_sim_device.counters(m->device, &counters);
    assert_int_equal(counters.index_requests[PRT_INDEX_MISS], 3);
    assert_int_equal(counters.index_requests[PRT_INDEX_HIT], 2);
    assert_int_equal(counters.index_requests[PRT_INDEX_RESIDENT], 3);
    assert_int_equal(counters.index_warps_iterated, 4 + 4 + 2);
    assert_int_equal(counters.index_warps_packed, 4 + 4 + 2 + 4 + 2);
    assert_int_equal(counters.index_cycles, 3);
    /* Of 16 warps on 8 units 2 each with one dimension to divide by; of 8 warps 1, with two. */
    assert_int_equal(counters.index_saved_cycles, 4 * 2 * (2 * 8 - 2) + 2 * (4 * 8 - 4));
    machine_close(m);
}

/* The whole device takes the place of what was resident in its parts, and the other way round. */
static void overlapping_sub_devices_share_index_memory(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct prt_device_handle parts[2];
    halve(m, parts);
    const struct prt_index_configuration shared[2] = {
        {.key = {0, {4, 4, 1}}, .items = 16, .lanes = LANES},
        {.key = {0, {2, 2, 1}}, .items = 4, .lanes = LANES}};
    m->objects[0].index = &shared[0];
    m->objects[1].index = &shared[1];
    uint32_t left = queue_on(m, parts[0]), right = queue_on(m, parts[1]),
             all = queue_on(m, root(m));
    static const enum prt_index_outcome wanted[] = {PRT_INDEX_MISS,     PRT_INDEX_MISS,
                                                    PRT_INDEX_RESIDENT, PRT_INDEX_MISS,
                                                    PRT_INDEX_HIT,      PRT_INDEX_HIT};
    const uint32_t queues[] = {left, right, left, all, right, all};
    const uint32_t stages[] = {0, 0, 0, 1, 0, 1};
    for (uint32_t i = 0; i < 6; i++) {
        struct prt_device_counters before, after;
        prt_sim_device.counters(m->device, &before);
        enqueue(m, queues[i], stages[i], 4);
        (void)reap(m);
        prt_sim_device.counters(m->device, &after);
        assert_int_equal(after.index_requests[wanted[i]], before.index_requests[wanted[i]] + 1);
    }
    machine_close(m);
}

static void enormous_costs_saturate(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    uint32_t queue = queue_on(m, root(m));
    m->objects[0].warp_cycles = UINT64_MAX / 2;
    m->objects[1].warp_cycles = UINT64_MAX / 2;
    enqueue(m, queue, 0, UINT32_MAX);
    enqueue(m, queue, 1, 1);
    assert_int_equal(reap(m).end_cycles, UINT64_MAX);
    assert_int_equal(reap(m).end_cycles, UINT64_MAX);
    machine_close(m);
}

/* ---- what is known when it has been executed ---- */

/* The warp that begins with firing f costs 10 + f. */
static int32_t counts(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i += LANES)
        batch->warp_cycles[i / LANES] = 10 + batch->first_firing + i;
    return KERNEL_OK;
}

static int32_t counts_and_faults(const struct kernel_batch *batch)
{
    (void)counts(batch);
    batch->fault->firing = batch->first_firing;
    return KERNEL_FAULT_INDEX;
}

static void be_counted(struct machine *m, uint32_t stage, kernel_entry entry)
{
    m->objects[stage].entry = entry;
    m->objects[stage].flags = PRT_KERNEL_COUNTED;
    m->objects[stage].batch_max = 1000;
    assert_int_equal(prt_sim_device.set_kernels(m->device, m->objects, STAGES, STAGES), PRT_OK);
}

/* 10 warps of 10, 14, .. 46 on 8 compute units: the ninth goes to the first one, after 10 cycles,
 * the tenth to the second, after 14: it ends last, at 14 + 46. */
static void counted_warps_go_where_a_compute_unit_is_free(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    be_counted(m, 0, counts);
    enqueue(m, queue_on(m, root(m)), 0, 40);
    assert_int_equal(reap(m).execute_cycles, 60);
    machine_close(m);
}

static void a_launch_begins_when_a_counted_one_has_ended(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    be_counted(m, 0, counts);
    uint32_t queue = queue_on(m, root(m));
    enqueue(m, queue, 0, 40);
    enqueue(m, queue, 1, 32);
    assert_int_equal(reap(m).end_cycles, LAUNCH + 60);
    struct core_completion second = reap(m);
    assert_int_equal(second.begin_cycles, LAUNCH + 60);
    assert_int_equal(second.end_cycles, LAUNCH + 60 + LAUNCH + SWITCH + 10);
    machine_close(m);
}

/* A launch after a fault is not executed, and takes its estimated time. */
static void behind_a_fault_estimates_count(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    be_counted(m, 0, counts_and_faults);
    be_counted(m, 1, counts);
    uint32_t queue = queue_on(m, root(m));
    enqueue(m, queue, 0, 4);
    enqueue(m, queue, 1, 40);
    struct core_completion first = reap(m), second = reap(m);
    assert_int_equal(first.kernel_status, KERNEL_FAULT_INDEX);
    assert_int_equal(first.execute_cycles, 10);
    assert_int_equal(second.execute_cycles, 20);
    machine_close(m);
}

static int32_t stops_at_9(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i += LANES)
        batch->warp_cycles[i / LANES] = i <= 9 ? 10 : 0;
    *batch->completed = 9;
    return KERNEL_STOPPED;
}

/* Firing 9 has been counted up to where it stopped: warps 0 to 2. */
static void a_source_that_stops_takes_what_it_has_executed(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    uint64_t completed = 40;
    struct prt_device_handle part;
    const int64_t one[] = {PRT_PARTITION_BY_COUNTS, 1, 0, 0};
    m->objects[0].completed = &completed;
    be_counted(m, 0, stops_at_9);
    m->objects[0].flags |= PRT_KERNEL_STOPS | PRT_KERNEL_WHOLE;
    struct prt_device_tree *tree = prt_sim_device.tree(m->device);
    assert_int_equal(prt_create_sub_devices(tree, root(m), one, 1, &part, NULL), PRT_OK);
    enqueue(m, queue_on(m, part), 0, 40);
    assert_int_equal(reap(m).execute_cycles, 30);
    machine_close(m);
}

static int32_t appends_30(const struct kernel_batch *batch)
{
    batch->produced[0] = 30;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

/* Bandwidth 8: 16 packets of 4 bytes are claimed and read 100 bytes: (100 + 64) / 8; where the rate
 * is bounded the 30 packets that were appended count: (100 + 120) / 8. */
static void bytes_are_those_that_were_read_and_appended(void **unused)
{
    (void)unused;
    for (int bounded = 0; bounded < 2; bounded++) {
        struct machine *m = machine_made(8, NULL, NULL);
        const uint64_t packet_bytes = 4, claimed_bytes = 64;
        uint64_t produced = 16, completed = 0;
        void *out = NULL;
        struct prt_kernel_object *object = &m->objects[0];
        object->read_bytes = 100;
        object->output_count = 1;
        object->out = &out;
        object->push_bytes = &packet_bytes;
        object->packet_bytes = &packet_bytes;
        object->claimed_bytes = &claimed_bytes;
        object->produced = &produced;
        object->completed = &completed;
        if (bounded) {
            object->entry = appends_30;
            object->flags = PRT_KERNEL_BOUNDED | PRT_KERNEL_WHOLE;
        }
        assert_int_equal(prt_sim_device.set_kernels(m->device, m->objects, STAGES, STAGES), PRT_OK);
        enqueue(m, queue_on(m, root(m)), 0, 1);
        assert_int_equal(reap(m).execute_cycles, bounded ? 28 : 21);
        machine_close(m);
    }
}

/* ---- observers ---- */

struct watched {
    struct prt_launch_record records[4];
    struct core_timing_cu cus[4][CUS];
    uint32_t count;
};

static void watch(void *context, const struct prt_launch_record *record)
{
    struct watched *watched = context;
    assert(watched->count < 4);
    watched->records[watched->count] = *record;
    memcpy(watched->cus[watched->count++], record->cus, record->cu_count * sizeof *record->cus);
}

static void an_observer_sees_what_each_compute_unit_did(void **unused)
{
    (void)unused;
    struct watched watched = {.count = 0};
    struct machine *m = machine_made(1 << 20, watch, &watched);
    struct prt_device_handle parts[2];
    const int64_t counts_of[] = {PRT_PARTITION_BY_COUNTS, 3, 5, 0, 0};
    be_counted(m, 0, counts);
    struct prt_device_tree *tree = prt_sim_device.tree(m->device);
    assert_int_equal(prt_create_sub_devices(tree, root(m), counts_of, 2, parts, NULL), PRT_OK);
    uint32_t low = queue_on(m, parts[0]), high = queue_on(m, parts[1]);
    enqueue(m, high, 0, 24); /* warps of 10, 14, 18, 22, 26, 30 */
    enqueue(m, low, 1, 28);  /* 7 warps of 10 */
    for (int i = 0; i < 2; i++)
        (void)reap(m);
    assert_int_equal(watched.count, 2);
    const struct prt_launch_record *first = &watched.records[0], *second = &watched.records[1];
    assert_int_equal(first->stage, 1);
    assert_int_equal(first->first_cu, 0);
    assert_int_equal(first->cu_count, 3);
    assert_int_equal(first->warps, 7);
    assert_int_equal(first->compute_cycles, 30);
    assert_int_equal(watched.cus[0][0].busy_cycles, 30);
    assert_int_equal(watched.cus[0][2].busy_cycles, 20);
    assert_int_equal(second->stage, 0);
    assert_int_equal(second->first_cu, 3);
    assert_int_equal(second->busy_cus, 5);
    assert_int_equal(second->busy_cycles, 120);
    assert_int_equal(watched.cus[1][0].busy_cycles, 40); /* 10, then 30 */
    assert_int_equal(watched.cus[1][4].busy_cycles, 26);
    assert_int_equal(second->end_cycles, LAUNCH + 40);
    machine_close(m);
}

/* ---- importance ---- */

/* Ten rounds of 10 cycles of stage 0, and in the third of them one of stage 1, which is more
 * important. */
static void a_more_important_launch_waits_for_one_work_group(void **unused)
{
    (void)unused;
    struct watched watched = {.count = 0};
    struct machine *m = machine_made(1 << 20, watch, &watched);
    uint32_t low = queue_of(m, root(m), 1), high = queue_of(m, root(m), 2);
    enqueue(m, low, 0, 320);
    prt_sim_device.advance(m->device, 75);
    enqueue(m, high, 1, 32);
    struct core_completion first = reap(m), second = reap(m);
    assert_int_equal(first.signal, 2);
    assert_int_equal(first.begin_cycles, 50 + 30);
    assert_int_equal(first.end_cycles, 80 + LAUNCH + SWITCH + 10);
    assert_int_equal(second.signal, 1);
    assert_int_equal(second.begin_cycles, 0);
    assert_int_equal(second.end_cycles, 197 + SWITCH + 70 + 50);
    assert_int_equal(second.execute_cycles, 100);
    assert_int_equal(second.launch_cycles, LAUNCH);
    assert_int_equal(second.switch_cycles, SWITCH);
    assert_int_equal(watched.count, 3);
    const struct prt_launch_record *r = watched.records;
    assert_true(r[0].interrupted && !r[0].resumed && !r[2].interrupted && r[2].resumed);
    assert_true(!r[1].interrupted && !r[1].resumed && r[1].importance == 2);
    assert_int_equal(r[0].end_cycles, 80);
    assert_int_equal(r[0].warps, 24);
    assert_int_equal(r[0].execute_cycles, 30);
    assert_int_equal(r[0].busy_cycles, 240);
    assert_int_equal(watched.cus[0][7].busy_cycles, 30);
    assert_int_equal(r[2].begin_cycles, 197);
    assert_int_equal(r[2].warps, 56);
    assert_int_equal(r[2].switch_cycles, SWITCH);
    assert_int_equal(watched.cus[2][7].busy_cycles, 70);
    machine_close(m);
}

/* As above, but the scheduler waits meanwhile: time is played up to 75 only. */
static void a_launch_at_the_moment_of_a_wait_interrupts(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    uint32_t low = queue_of(m, root(m), 1), high = queue_of(m, root(m), 2);
    struct core_completion c;
    enqueue(m, low, 0, 320);
    assert_int_equal(reap_until(m, 60, &c), 0);
    assert_int_equal(reap_until(m, 75, &c), 0);
    enqueue(m, high, 1, 32);
    c = reap(m);
    assert_int_equal(c.signal, 2);
    assert_int_equal(c.begin_cycles, 50 + 30);
    assert_int_equal(c.end_cycles, 80 + LAUNCH + SWITCH + 10);
    assert_int_equal(reap_until(m, 1000, &c), 1);
    assert_int_equal(c.signal, 1);
    assert_int_equal(c.end_cycles, 197 + SWITCH + 70 + 50);
    assert_int_equal(prt_sim_device.now_cycles(m->device), c.end_cycles);
    machine_close(m);
}

/* The end of the important launch is seen first; what comes then still comes before the others. */
static void it_goes_on_in_between(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    uint32_t low = queue_of(m, root(m), 1), high = queue_of(m, root(m), 2);
    enqueue(m, low, 0, 320);
    enqueue(m, high, 1, 32);
    struct core_completion c = reap(m);
    assert_int_equal(c.signal, 2);
    assert_int_equal(c.end_cycles, LAUNCH + 10);
    enqueue(m, high, 2, 32); /* at the moment at which the other one would have begun */
    c = reap(m);
    assert_int_equal(c.begin_cycles, 110);
    assert_int_equal(c.end_cycles, 110 + LAUNCH + SWITCH + 10);
    prt_sim_device.advance(m->device, 60); /* 50 of launch, 7 of switch, 3 of execution */
    enqueue(m, high, 1, 32);
    c = reap(m);
    assert_int_equal(c.begin_cycles, 227 + 50 + SWITCH + 10);
    assert_int_equal(c.end_cycles, 294 + LAUNCH + SWITCH + 10);
    c = reap(m);
    assert_int_equal(c.signal, 1);
    assert_int_equal(c.begin_cycles, 227);
    assert_int_equal(c.end_cycles, 411 + SWITCH + 90 + 50);
    assert_int_equal(c.switch_cycles, 2 * SWITCH);
    machine_close(m);
}

/* The compute units of an important launch are yielded, and no others. */
static void other_compute_units_are_left_alone(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct prt_device_handle parts[2];
    halve(m, parts);
    uint32_t left = queue_of(m, parts[0], 0), right = queue_of(m, parts[1], 0);
    uint32_t important = queue_of(m, parts[1], 5);
    enqueue(m, left, 0, 160);
    enqueue(m, right, 1, 160);
    prt_sim_device.advance(m->device, 55);
    enqueue(m, important, 2, 16);
    struct core_completion first = reap(m), second = reap(m), third = reap(m);
    assert_int_equal(first.signal, 3);
    assert_int_equal(first.begin_cycles, 60);
    assert_int_equal(second.signal, 1);
    assert_int_equal(second.end_cycles, LAUNCH + 100);
    assert_int_equal(third.end_cycles, 60 + LAUNCH + SWITCH + 10 + SWITCH + 90 + 50);
    machine_close(m);
}

static int use_ranks(void **unused)
{
    (void)unused;
    ranked = true;
    return 0;
}

static int use_no_ranks(void **unused)
{
    (void)unused;
    ranked = false;
    return 0;
}

static void threads_are_those_asked_for(void **unused)
{
    (void)unused;
    struct machine *m = machine_open();
    struct prt_device_info info;
    prt_sim_device.info(m->device, &info);
    assert_string_equal(info.backend, "sim");
    assert_int_equal(info.host_threads, 1);
    assert_int_equal(info.description->lanes, LANES);
    assert_true(info.executes);
    machine_close(m);
}

/* Each also where launches may interrupt each other. */
#define BOTH(test)                                                                                 \
    cmocka_unit_test(test),                                                                        \
    {                                                                                              \
        #test ", ranked", test, use_ranks, use_no_ranks, NULL                                      \
    }

TEST_MAIN("sim", BOTH(firings_fill_lanes_of_all_compute_units),
          BOTH(firings_with_state_follow_each_other), BOTH(a_finish_costs_one_firing),
          BOTH(a_queue_is_in_order_and_switches_cost), BOTH(an_idle_queue_begins_now),
          BOTH(a_wait_until_a_moment_ends_there_or_with_a_launch),
          BOTH(sub_devices_execute_side_by_side), BOTH(the_whole_device_waits_for_its_parts),
          BOTH(everything_due_is_delivered_at_once),
          BOTH(items_wait_a_cycle_unless_their_indices_are_known),
          BOTH(overlapping_sub_devices_share_index_memory), BOTH(enormous_costs_saturate),
          BOTH(counted_warps_go_where_a_compute_unit_is_free),
          BOTH(a_launch_begins_when_a_counted_one_has_ended), BOTH(behind_a_fault_estimates_count),
          BOTH(a_source_that_stops_takes_what_it_has_executed),
          BOTH(bytes_are_those_that_were_read_and_appended),
          BOTH(an_observer_sees_what_each_compute_unit_did), BOTH(threads_are_those_asked_for),
          cmocka_unit_test(a_more_important_launch_waits_for_one_work_group),
          cmocka_unit_test(a_launch_at_the_moment_of_a_wait_interrupts),
          cmocka_unit_test(it_goes_on_in_between),
          cmocka_unit_test(other_compute_units_are_left_alone))
