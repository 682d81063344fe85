/* SPDX-License-Identifier: MIT */
/* Laws that the time of whole runs has to keep: sums of known costs, the roofline, Amdahl's law,
 * and more of anything never being slower where lang/time.md proves it.  Equalities are exact. */
#include "tests/test.h"

#include "lang/devdesc.h"
#include "tests/conform/pipelines.h"

#include <stdio.h>
#include <unistd.h>

enum { LANES = 8, STAGES_MOST = 8, TAIL = 10 };

static int32_t nothing(const struct kernel_batch *batch)
{
    (void)batch;
    return KERNEL_OK;
}

struct machine {
    uint32_t cu_count;
    uint64_t bytes_per_cycle;
    uint32_t launch, change; /* cycles */
};

/* A chain x -> stage -> .. -> y of rates 1, all on the whole device. */
struct stage {
    bool state;
    uint64_t cycles;       /* of a warp, or of a firing */
    uint32_t warp_firings; /* 0: the lanes */
};

struct chain {
    uint32_t count;
    struct stage stages[STAGES_MOST];
    uint64_t depth; /* of every buffer, and the largest batch */
    uint64_t width_bytes;
    uint64_t packets;
};

struct times {
    struct prt_run_statistics run;
    struct prt_stage_statistics stages[STAGES_MOST];
};

/* ---- running a chain on a machine ---- */

static void describe(const struct machine *machine, char *text, size_t size)
{
    snprintf(text, size,
             "name = law\ncu_count = %u\nlanes = %d\nclock = 1 GHz\nmemory = 1 GiB\n"
             "memory_bytes_per_cycle = %llu\nlaunch_enqueue = %u\nlaunch_process = 0\n"
             "launch_cleanup = 0\nswitch = %u\n",
             machine->cu_count, LANES, (unsigned long long)machine->bytes_per_cycle,
             machine->launch, machine->change);
}

static void be_for(struct made *m, const char *text)
{
    struct devdesc description;
    struct devdesc_findings found;
    assert_true(devdesc_parse(text, strlen(text), &description, &found));
    m->device.name = made_string(m, description.name);
    m->device.cu_count = description.cu_count;
    m->device.lanes = description.lanes;
    m->device.description_hash = devdesc_hash(&description);
}

static struct prt_program *load(const struct chain *chain, const char *text)
{
    struct prt_image_kernel kernels[STAGES_MOST];
    struct made *m = made_create("law", "sim16");
    be_for(m, text);
    uint32_t from = made_buffer(m, "x", SCALAR_U32, chain->depth, CONTAINER_OUTER_IN);
    m->buffers[from].width_bytes = chain->width_bytes;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stages[i];
        bool last = i + 1 == chain->count;
        uint32_t to = made_buffer(m, last ? "y" : "t", SCALAR_U32, chain->depth,
                                  last ? CONTAINER_OUTER_OUT : CONTAINER_INNER);
        m->buffers[to].width_bytes = chain->width_bytes;
        uint32_t node = made_node(m, "k", stage->state ? CONTAINER_NODE_STATEFUL : 0);
        made_input(m, node, from, 1, 1);
        made_output(m, node, to, 1, 0);
        m->nodes[node].warp_cycles = stage->cycles;
        m->nodes[node].warp_firings = stage->state              ? 1
                                      : stage->warp_firings > 0 ? stage->warp_firings
                                                                : LANES;
        m->stages[node].batch_max = chain->depth;
        kernels[i] = (struct prt_image_kernel){.run = nothing};
        from = to;
    }
    made_loop(m);
    return pipelines_load(m, kernels);
}

struct feed {
    uint64_t left, width_bytes;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct feed *feed = context;
    (void)error;
    *count = feed->left < capacity ? (size_t)feed->left : capacity;
    memset(packets, 0, *count * feed->width_bytes);
    feed->left -= *count;
    return PRT_OK;
}

static struct times run_on(const struct machine *machine, const struct chain *chain)
{
    char text[512], device[] = "sim:/tmp/test_time_laws.XXXXXX.dev";
    struct times times;
    struct prt_error error = {0};
    struct prt_run *run;
    describe(machine, text, sizeof text);
    int file = mkstemps(device + 4, 4);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    struct prt_program *program = load(chain, text);
    struct prt_run_options options = {
        .device = device, .host_threads = 1, .dispatch = PRT_DISPATCH_FULL};
    struct feed feed = {chain->packets, chain->width_bytes};
    enum prt_status status = prt_run_create(program, &options, &run, &error);
    unlink(device + 4);
    if (status != PRT_OK) fail_msg("%s", error.message);
    uint32_t x = prt_program_find_port(program, "x");
    assert_int_equal(prt_run_bind_input(run, x, give, &feed, &error), PRT_OK);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    prt_run_statistics(run, &times.run);
    for (uint32_t i = 0; i < chain->count; i++)
        assert_true(prt_run_stage(run, i, &times.stages[i]));
    prt_run_destroy(run);
    prt_program_free(program);
    return times;
}

static uint64_t rounds(uint64_t firings, uint32_t cu_count)
{
    return (firings + (uint64_t)LANES * cu_count - 1) / ((uint64_t)LANES * cu_count);
}

/* ---- known costs ---- */

/* One full batch goes through the chain, launch after launch on the one queue.  Before all of them
 * stand the bindings, and `ends`, `round_robin`, `dispatch`: later ones are dispatched while the
 * first executes.  After all comes the search that finds nothing left. */
static void a_chain_takes_the_sum_of_its_launches(void **unused)
{
    (void)unused;
    const struct machine machine = {3, 1 << 20, 70, 11};
    for (uint32_t count = 3; count <= STAGES_MOST; count++) {
        struct chain chain = {.count = count, .depth = 100, .width_bytes = 4, .packets = 100};
        uint64_t launches = 0, execute = 0;
        for (uint32_t i = 0; i < count; i++) {
            chain.stages[i] = (struct stage){i % 3 == 2, 10 + i, 0};
            execute += (chain.stages[i].state ? 100 : rounds(100, 3)) * (10 + (uint64_t)i);
            launches += machine.launch;
        }
        struct times times = run_on(&machine, &chain);
        assert_int_equal(times.run.execute_cycles, execute);
        assert_int_equal(times.run.launch_cycles, launches);
        assert_int_equal(times.run.switch_cycles, (count - 1) * machine.change);
        assert_int_equal(times.run.total_cycles,
                         count + 3 + launches + execute + times.run.switch_cycles + TAIL);
    }
}

/* ---- bandwidth ---- */

static void a_stage_bound_by_memory_takes_its_bytes_by_the_bandwidth(void **unused)
{
    (void)unused;
    struct chain chain = {.count = 1, .stages = {{false, 5, 0}}, .depth = 64, .width_bytes = 64};
    chain.packets = UINT64_C(64) * 50;
    const struct machine machine = {4, 16, 0, 0};
    uint64_t bytes = 2 * chain.packets * chain.width_bytes;
    struct times times = run_on(&machine, &chain);
    assert_int_equal(times.run.execute_cycles, bytes / 16);
}

/* Packets of every width: compute below the ridge, bytes above, and equal at it. */
static void the_ridge_is_where_bytes_and_compute_are_equal(void **unused)
{
    (void)unused;
    bool at_ridge = false;
    for (uint64_t width = 4; width <= 128; width += 4) {
        struct chain chain = {.count = 1, .stages = {{false, 40, 0}}, .depth = 64, .packets = 640};
        const struct machine machine = {2, 64, 0, 0};
        chain.width_bytes = width;
        uint64_t compute = rounds(64, 2) * 40, memory = (UINT64_C(2) * 64 * width + 63) / 64;
        struct times times = run_on(&machine, &chain);
        assert_int_equal(times.run.execute_cycles, 10 * (compute > memory ? compute : memory));
        at_ridge |= compute == memory;
    }
    assert_true(at_ridge);
}

/* ---- Amdahl's law ---- */

/* T(C) = serial + parallel / C; what else there is does not depend on C.  720720 is a multiple of 1
 * to 16. */
static void compute_units_speed_up_what_is_parallel(void **unused)
{
    (void)unused;
    const struct machine one = {1, 1 << 20, 100, 20};
    struct chain chain = {.count = 2, .depth = 720720, .width_bytes = 4};
    chain.stages[0] = (struct stage){true, 3, 1};
    chain.stages[1] = (struct stage){false, 48, 1};
    chain.packets = chain.depth;
    struct times alone = run_on(&one, &chain);
    uint64_t serial = 3 * chain.packets, parallel = chain.packets * 48;
    assert_int_equal(alone.run.execute_cycles, serial + parallel);
    uint64_t rest = alone.run.total_cycles - serial - parallel;
    for (uint32_t cus = 1; cus <= 16; cus++) {
        const struct machine machine = {cus, 1 << 20, 100, 20};
        struct times times = run_on(&machine, &chain);
        assert_int_equal(parallel % cus, 0);
        assert_int_equal(times.run.total_cycles, rest + serial + parallel / cus);
    }
}

/* ---- monotonicity ---- */

/* A pipeline of one kernel makes the same launches at any speed. */
static void a_better_device_is_never_slower_for_one_kernel(void **unused)
{
    (void)unused;
    for (uint64_t packets = 0; packets < 500; packets += 37) {
        for (uint64_t cycles = 0; cycles <= 40; cycles += 10) {
            uint64_t before = UINT64_MAX;
            struct chain chain = {.count = 1, .depth = 96, .width_bytes = 24, .packets = packets};
            chain.stages[0].cycles = cycles;
            for (uint32_t step = 0; step < 12; step++) {
                const struct machine machine = {1 + step / 2, 4 + 4 * ((step + 1) / 2), 9, 5};
                struct times times = run_on(&machine, &chain);
                assert_true(times.run.total_cycles <= before);
                before = times.run.total_cycles;
            }
            chain.stages[0].cycles = cycles / 2;
            const struct machine last = {6, 28, 9, 5};
            assert_true(run_on(&last, &chain).run.total_cycles <= before);
        }
    }
}

TEST_MAIN("time_laws", cmocka_unit_test(a_chain_takes_the_sum_of_its_launches),
          cmocka_unit_test(a_stage_bound_by_memory_takes_its_bytes_by_the_bandwidth),
          cmocka_unit_test(the_ridge_is_where_bytes_and_compute_are_equal),
          cmocka_unit_test(compute_units_speed_up_what_is_parallel),
          cmocka_unit_test(a_better_device_is_never_slower_for_one_kernel))
