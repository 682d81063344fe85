/* SPDX-License-Identifier: MIT */
/* The host's cores as a device: what its threads execute, and which of them; what every device
 * promises is tests/conform's. */
#include "tests/test.h"

#include "runtime/backend/cpu/cpu.h"

#include <pthread.h>

enum { STAGES = 2, PACKETS = 20000 };

struct machine {
    struct prt_device *device;
    struct devdesc description;
    struct prt_kernel_object objects[STAGES];
    const void *in[STAGES][1];
    void *out[STAGES][1];
    uint64_t produced[STAGES][1], completed[STAGES], most[STAGES][1];
    uint32_t source[PACKETS], target[STAGES][PACKETS * 2];
    pthread_t caller;
    bool by_caller; /* `where` has been executed by it */
};

static const uint64_t pop_bytes = sizeof(uint32_t), push_bytes = 2 * sizeof(uint32_t);
static const uint64_t claimed_bytes = (uint64_t)PACKETS * 2 * sizeof(uint32_t);
static const uint64_t packet_bytes = sizeof(uint32_t);

/* None, one or two packets for each, as the packet says. */
static int32_t expand(const struct kernel_batch *batch)
{
    const uint32_t *in = batch->in[0];
    uint32_t *out = batch->out[0];
    uint64_t at = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t before = at;
        for (uint32_t k = 0; k < in[i] % 3; k++)
            out[at++] = in[i] * 2 + k;
        if (batch->most != NULL && at - before > batch->most[0]) batch->most[0] = at - before;
    }
    batch->produced[0] = at;
    return KERNEL_OK;
}

static int32_t where(const struct kernel_batch *batch)
{
    struct machine *m = batch->state;
    m->by_caller |= pthread_equal(m->caller, pthread_self()) != 0;
    return KERNEL_OK;
}

static struct machine *machine_open(uint32_t cus, uint32_t threads)
{
    struct machine *m = calloc(1, sizeof *m);
    struct prt_error error;
    assert_non_null(m);
    m->caller = pthread_self();
    m->description = (struct devdesc){.name = "host",
                                      .cu_count = cus,
                                      .lanes = 4,
                                      .cores_per_cu = 1,
                                      .schemes = DEVDESC_EQUALLY,
                                      .max_sub_devices = cus,
                                      .reference_entries = 8};
    for (uint32_t i = 0; i < PACKETS; i++)
        m->source[i] = i * 2654435761u >> 7;
    for (uint32_t i = 0; i < STAGES; i++) {
        m->in[i][0] = m->source;
        m->out[i][0] = m->target[i];
        m->objects[i] = (struct prt_kernel_object){
            .entry = expand,
            .in = m->in[i],
            .out = m->out[i],
            .pop_bytes = &pop_bytes,
            .push_bytes = &push_bytes,
            .claimed_bytes = &claimed_bytes,
            .packet_bytes = &packet_bytes,
            .produced = m->produced[i],
            .completed = &m->completed[i],
            .most = m->most[i],
            .state = m,
            .input_count = 1,
            .output_count = 1,
            .stage = i,
            .flags = PRT_KERNEL_WHOLE | PRT_KERNEL_BOUNDED | PRT_KERNEL_APART,
            .cost_cycles = 1000000, /* worth cutting, and before anything has been measured */
            .shape = {1, 1}};
    }
    struct prt_device_options options = {.description = &m->description, .host_threads = threads};
    assert_int_equal(prt_cpu_device.open(&options, &m->device, &error), PRT_OK);
    assert_int_equal(prt_cpu_device.set_kernels(m->device, m->objects, STAGES, STAGES), PRT_OK);
    return m;
}

static void machine_close(struct machine *m)
{
    prt_cpu_device.close(m->device);
    free(m);
}

static uint32_t queue_on(struct machine *m, struct prt_device_handle device, uint32_t importance)
{
    uint32_t queue;
    assert_int_equal(prt_cpu_device.queue_create(m->device, device, importance, &queue), PRT_OK);
    return queue;
}

static struct prt_device_handle root(struct machine *m)
{
    return prt_device_tree_root(prt_cpu_device.tree(m->device));
}

static uint32_t reap(struct machine *m, struct core_completion *completions)
{
    uint32_t count;
    assert_int_equal(prt_cpu_device.wait(m->device, completions, STAGES, &count), PRT_OK);
    return count;
}

static void check_expanded(const struct machine *m, uint32_t stage, uint32_t firings)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < firings; i++)
        for (uint32_t k = 0; k < m->source[i] % 3; k++)
            assert_int_equal(m->target[stage][at++], m->source[i] * 2 + k);
    assert_int_equal(m->produced[stage][0], at);
    assert_int_equal(m->most[stage][0], 2);
}

/* With one queue, and with two, whose jobs go different ways. */
static void what_ranges_append_is_in_order(void **unused)
{
    (void)unused;
    struct core_completion completions[STAGES];
    for (uint32_t threads = 1; threads <= 5; threads++) {
        struct machine *m = machine_open(4, threads);
        uint32_t one = queue_on(m, root(m), 0), other = one;
        for (uint32_t firings = PACKETS; firings > 100; firings /= 3) {
            if (firings < PACKETS / 10 && other == one) other = queue_on(m, root(m), 0);
            prt_cpu_device.launch(m->device, one, 0, 0, firings, NULL);
            prt_cpu_device.launch(m->device, other, 1, 0, firings / 2, NULL);
            assert_int_equal(reap(m, completions), 2);
            assert_int_equal(completions[0].object, 0);
            assert_int_equal(completions[1].signal, 2);
            check_expanded(m, 0, firings);
            check_expanded(m, 1, firings / 2);
        }
        machine_close(m);
    }
}

/* As many threads as compute units: each half is for one of them, the first for the caller. */
static void a_sub_device_is_threads_of_its_own(void **unused)
{
    (void)unused;
    struct core_completion completions[STAGES];
    struct machine *m = machine_open(2, 2);
    struct prt_device_info info;
    prt_cpu_device.info(m->device, &info);
    if (info.host_threads == 2) { /* else there was no second one to be had */
        const int64_t halves[] = {PRT_PARTITION_EQUALLY, 1, 0};
        struct prt_device_handle half[2];
        assert_int_equal(
            prt_create_sub_devices(prt_cpu_device.tree(m->device), root(m), halves, 2, half, NULL),
            PRT_OK);
        uint32_t first = queue_on(m, half[0], 0), second = queue_on(m, half[1], 0);
        m->objects[0].entry = where;
        for (uint32_t round = 0; round < 50; round++) {
            for (int caller = 0; caller <= 1; caller++) {
                m->by_caller = false;
                prt_cpu_device.launch(m->device, caller ? first : second, 0, 0, 1 + round * 100,
                                      NULL);
                assert_int_equal(reap(m, completions), 1);
                assert_int_equal(m->by_caller, caller);
            }
        }
    }
    machine_close(m);
}

/* Where importance differs each launch is completed once, as soon as it has ended. */
static void what_differs_in_importance_is_completed_by_itself(void **unused)
{
    (void)unused;
    struct core_completion completions[STAGES];
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct machine *m = machine_open(4, threads);
        uint32_t queues[STAGES] = {queue_on(m, root(m), 0), queue_on(m, root(m), 9)};
        uint32_t completed[STAGES] = {0, 0};
        for (uint32_t round = 0; round < 100; round++) {
            for (uint32_t i = 0; i < STAGES; i++)
                prt_cpu_device.launch(m->device, queues[i], i, 0, PACKETS / 20, NULL);
            for (uint32_t left = STAGES; left > 0;) {
                uint32_t count = reap(m, completions);
                assert_in_range(count, 1, left);
                for (uint32_t k = 0; k < count; k++)
                    completed[completions[k].object]++;
                left -= count;
            }
            for (uint32_t i = 0; i < STAGES; i++) {
                assert_int_equal(completed[i], round + 1);
                check_expanded(m, i, PACKETS / 20);
            }
        }
        machine_close(m);
    }
}

/* A launch that ends at once is delivered there, once: with nothing before it, on the only queue. */
static void what_ends_at_once_is_delivered_once(void **unused)
{
    (void)unused;
    struct core_completion ended, completions[STAGES];
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct machine *m = machine_open(4, threads);
        uint32_t one = queue_on(m, root(m), 0);
        for (uint32_t firings = PACKETS; firings > 100; firings /= 3) {
            assert_true(prt_cpu_device.launch(m->device, one, 1, 0, firings, &ended));
            assert_int_equal(ended.object, 1);
            assert_int_equal(ended.kernel_status, KERNEL_OK);
            check_expanded(m, 1, firings);
            assert_int_equal(reap(m, completions), 0);
        }
        prt_cpu_device.launch(m->device, one, 0, 0, PACKETS, NULL);
        assert_false(prt_cpu_device.launch(m->device, one, 1, 0, PACKETS, &ended));
        assert_int_equal(reap(m, completions), 2);
        assert_int_equal(completions[0].object, 0);
        uint32_t important = queue_on(m, root(m), 9);
        assert_false(prt_cpu_device.launch(m->device, one, 0, 0, PACKETS, &ended));
        assert_int_equal(reap(m, completions), 1);
        assert_int_equal(prt_cpu_device.queue_destroy(m->device, important), PRT_OK);
        assert_true(prt_cpu_device.launch(m->device, one, 0, 0, PACKETS, &ended));
        machine_close(m);
    }
}

TEST_MAIN("cpu", cmocka_unit_test(what_ranges_append_is_in_order),
          cmocka_unit_test(what_ends_at_once_is_delivered_once),
          cmocka_unit_test(a_sub_device_is_threads_of_its_own),
          cmocka_unit_test(what_differs_in_importance_is_completed_by_itself))
