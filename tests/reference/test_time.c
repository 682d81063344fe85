/* SPDX-License-Identifier: MIT */
/*
 * The time of whole runs against an oracle that plays them by hand (clockwork.h), cycle by cycle:
 * chains and joins of exact rates, of known costs and of counted ones, with and without state, on
 * one queue and side by side, with 1 to 4 host threads, on devices with and without caches,
 * latency of memory, several cores in a compute unit, and packets that are processed ahead; and where stages of different importance share compute units.
 */
#include "tests/test.h"

#include "lang/devdesc.h"
#include "tests/conform/pipelines.h"
#include "tests/reference/clock_draw.h"

#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 400, RANKED_ROUNDS = 200 };

static int32_t nothing(const struct kernel_batch *batch)
{
    (void)batch;
    return KERNEL_OK;
}

/* The cost of each warp of `firings` firings, by clockwork.h. */
static int32_t count(const struct kernel_batch *batch, uint64_t warp_firings)
{
    for (uint64_t i = 0; i < batch->count; i += warp_firings)
        batch->warp_cycles[i / warp_firings] =
            (uint64_t)clock_counted((long)(batch->first_firing + i));
    return KERNEL_OK;
}

static int32_t counts_warps_of_1(const struct kernel_batch *batch)
{
    return count(batch, 1);
}

static int32_t counts_warps_of_3(const struct kernel_batch *batch)
{
    return count(batch, 3);
}

static int32_t counts_warps_of_8(const struct kernel_batch *batch)
{
    return count(batch, 8);
}

static int32_t counts_the_sum(const struct kernel_batch *batch)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < batch->count; i++)
        sum += (uint64_t)clock_counted((long)(batch->first_firing + i));
    batch->warp_cycles[0] = sum;
    return KERNEL_OK;
}

static struct prt_image_kernel kernel_of(const struct clock_stage *stage)
{
    kernel_entry entry = nothing;
    if (stage->counted && stage->state)
        entry = counts_the_sum;
    else if (stage->counted)
        entry = stage->warp_firings == 1   ? counts_warps_of_1
                : stage->warp_firings == 3 ? counts_warps_of_3
                                           : counts_warps_of_8;
    return (struct prt_image_kernel){.run = entry};
}

/* ---- devices ---- */

struct machine {
    struct devdesc description;
    char option[64]; /* as piperun's --device */
};

/* An embedded device. */
static struct machine machine_named(const char *name)
{
    struct machine m;
    assert_true(devdesc_builtin(name, &m.description));
    snprintf(m.option, sizeof m.option, "%s", name);
    return m;
}

/* In a file. */
static void write_machine(struct machine *m)
{
    char text[4096];
    snprintf(m->description.name, sizeof m->description.name, "memory");
    size_t length = devdesc_write(&m->description, text, sizeof text);
    snprintf(m->option, sizeof m->option, "sim:/tmp/test_time.XXXXXX.dev");
    int file = mkstemps(m->option + 4, 4);
    assert_true(file >= 0 && write(file, text, length) == (ssize_t)length);
    close(file);
}

/* Caches of one level, each for `cus` compute units. */
static void add_caches(struct machine *m, uint32_t cus, struct clock_random *random)
{
    m->description.cus_per_domain[DEVDESC_L2] = cus;
    m->description.cus_per_domain[DEVDESC_L3] = 0;
    m->description.cache_bytes[DEVDESC_L3] = 0;
    m->description.cache_bytes[DEVDESC_L2] = (uint64_t)clock_number(random, 64, 8000);
    m->description.cache_bytes_per_cycle = (uint64_t)clock_number(random, 1, 600);
}

/* An embedded device with several cores in a compute unit, perhaps a packet processor that works ahead, and a memory that has
 * latency, and perhaps a limit of bytes under way and caches. */
static struct machine machine_with_more(const char *name, struct clock_random *random)
{
    struct machine m = machine_named(name);
    const uint32_t cus = m.description.cu_count;
    m.description.cores_per_cu = (uint32_t)clock_number(random, 1, CLOCK_CORES);
    m.description.processes_ahead = (uint32_t)clock_number(random, 0, 1);
    m.description.memory_latency_cycles = (uint32_t)clock_number(random, 1, 400);
    m.description.memory_in_flight_bytes =
        clock_number(random, 0, 1) ? (uint64_t)clock_number(random, 1, 8000) : 0;
    m.description.resident_warps =
        (uint32_t)(clock_number(random, 0, 1) * clock_number(random, 1, 9));
    m.description.registers_per_cu =
        (uint32_t)(clock_number(random, 0, 1) * clock_number(random, 1, 500));
    m.description.registers_per_item =
        (uint32_t)(clock_number(random, 0, 1) * clock_number(random, 1, 20));
    m.description.register_unit = (uint32_t)clock_number(random, 1, 64);
    m.description.warp_residence_cycles =
        (uint32_t)(clock_number(random, 0, 1) * clock_number(random, 1, 90));
    m.description.instruction_latency_cycles = (uint32_t)clock_number(random, 1, 5);
    m.description.launches_overlap = (uint32_t)clock_number(random, 0, 1);
    m.description.memory_shared = (uint32_t)clock_number(random, 0, 1);
    if (m.description.memory_shared > 0) /* so slow that launches need it at the same time */
        m.description.memory_bytes_per_cycle = (uint64_t)clock_number(random, 1, 40);
    m.description.switch_cycles *= (uint32_t)clock_number(random, 0, 1);
    if (clock_number(random, 0, 2) > 0)
        add_caches(&m, cus >> clock_number(random, 0, cus > 4 ? 3 : cus > 1), random);
    write_machine(&m);
    return m;
}

/* sim16 with small caches, faster than a slow memory. */
static struct machine machine_with_domains(struct clock_random *random)
{
    struct machine m = machine_named("sim16");
    add_caches(&m, clock_number(random, 0, 1) ? 2 : 4, random);
    m.description.cache_bytes[DEVDESC_L2] = (uint64_t)clock_number(random, 64, 2500);
    m.description.cache_bytes_per_cycle = 1000;
    m.description.memory_bytes_per_cycle = 16;
    m.description.memory_shared = (uint32_t)clock_number(random, 0, 1);
    write_machine(&m);
    return m;
}

static void machine_gone(const struct machine *m)
{
    if (strncmp(m->option, "sim:", 4) == 0) unlink(m->option + 4);
}

/* ---- pipelines ---- */

static void draw_for(struct clock_pipeline *p, struct clock_random *random,
                     const struct machine *machine, bool side_by_side)
{
    const struct devdesc *d = &machine->description;
    const struct clock_device for_device = {.cus = (long)d->cu_count,
                                            .cores = (long)d->cores_per_cu,
                                            .lanes = (long)d->lanes,
                                            .bytes_per_cycle = (long)d->memory_bytes_per_cycle,
                                            .enqueue = (long)d->launch_enqueue_cycles,
                                            .process = (long)d->launch_process_cycles,
                                            .cleanup = (long)d->launch_cleanup_cycles,
                                            .ahead = d->processes_ahead > 0,
                                            .change = (long)d->switch_cycles,
                                            .latency = (long)d->memory_latency_cycles,
                                            .in_flight = (long)d->memory_in_flight_bytes,
                                            .held = (long)d->resident_warps,
                                            .residence = (long)d->warp_residence_cycles,
                                            .between = (long)d->instruction_latency_cycles,
                                            .overlap = d->launches_overlap > 0,
                                            .shared = d->memory_shared > 0,
                                            .cache_bytes = (long)d->cache_bytes[DEVDESC_L2],
                                            .cache_cus = (long)d->cus_per_domain[DEVDESC_L2],
                                            .cache_bytes_per_cycle =
                                                (long)d->cache_bytes_per_cycle};
    clock_draw(p, random, &for_device, side_by_side);
    p->lanes = (long)d->lanes;
    p->file = (long)d->registers_per_cu;
    p->file_unit = (long)d->register_unit;
    p->file_lane = (long)d->registers_per_item;
    for (int s = 0; s < p->stage_count; s++)
        p->stages[s].registers = clock_number(random, 0, 3) > 0 ? clock_number(random, 1, 40) : 0;
}

/* ---- the same as a container ---- */

/* Firings of an iteration, a multiple for all stages: every rate is at most 3. */
static void balance(const struct clock_pipeline *p, uint64_t *repetitions)
{
    for (int s = 0; s < p->stage_count; s++)
        repetitions[s] = 1296; /* 6^4: each of four stages may divide it by 1, 2, 3 */
    for (int round = 0; round < p->stage_count; round++) {
        for (int w = 0; w < p->stage_count; w++) {
            const struct clock_stage *writer = &p->stages[w];
            for (int r = 0; r < p->stage_count; r++) {
                const struct clock_stage *reader = &p->stages[r];
                for (int i = 0; i < writer->output_count; i++)
                    for (int k = 0; k < reader->input_count; k++)
                        if (writer->outputs[i] == reader->inputs[k])
                            repetitions[r] = repetitions[w] * (uint64_t)writer->pushes[i] /
                                             (uint64_t)reader->pops[k];
            }
        }
    }
}

static struct prt_program *load(const struct clock_pipeline *p, const struct machine *machine)
{
    struct prt_image_kernel kernels[CLOCK_STAGES];
    uint64_t repetitions[CLOCK_STAGES];
    struct made *m = made_create("timed", "sim16");
    m->device.name = made_string(m, machine->description.name);
    m->device.cu_count = machine->description.cu_count;
    m->device.lanes = machine->description.lanes;
    m->device.description_hash = devdesc_hash(&machine->description);
    balance(p, repetitions);
    for (int i = 0; i < p->buffer_count; i++) {
        const struct clock_buffer *b = &p->buffers[i];
        char name[] = {(char)(b->in_port ? 'x' : b->out_port ? 'y' : 'a' + i), '\0'};
        uint32_t made = made_buffer(m, name, SCALAR_U32, (uint64_t)b->depth,
                                    b->in_port    ? CONTAINER_OUTER_IN
                                    : b->out_port ? CONTAINER_OUTER_OUT
                                                  : CONTAINER_INNER);
        m->buffers[made].width_bytes = (uint64_t)b->width_bytes;
    }
    for (int s = 0; s < p->stage_count; s++) {
        const struct clock_stage *stage = &p->stages[s];
        uint32_t flags = stage->state ? CONTAINER_NODE_STATEFUL : 0;
        if (stage->counted) flags |= CONTAINER_NODE_COUNTED;
        uint32_t node = made_node(m, "k", flags);
        for (int i = 0; i < stage->input_count; i++)
            made_input(m, node, (uint32_t)stage->inputs[i], (uint64_t)stage->pops[i],
                       (uint64_t)stage->pops[i]);
        for (int i = 0; i < stage->output_count; i++)
            made_output(m, node, (uint32_t)stage->outputs[i], (uint64_t)stage->pushes[i], 0);
        m->nodes[node].repetitions = repetitions[s];
        m->nodes[node].importance = (uint32_t)stage->importance;
        m->nodes[node].warp_cycles = (uint64_t)stage->warp_cycles;
        m->nodes[node].warp_firings = (uint32_t)stage->warp_firings;
        m->nodes[node].registers = (uint32_t)stage->registers;
        m->stages[node].threshold = (uint32_t)stage->threshold;
        m->stages[node].batch_max = (uint64_t)stage->batch_max;
        m->nodes[node].cost_cycles = 20000; /* worth another host thread, and cutting */
        kernels[node] = kernel_of(stage);
    }
    if (p->prologue > p->stage_count)
        made_groups(m, (uint32_t)p->queue_count, (uint32_t)p->queue_cus[0]);
    else
        made_loop(m);
    return pipelines_load(m, kernels);
}

struct feed {
    long left;
    size_t width_bytes;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct feed *feed = context;
    (void)error;
    *count = (size_t)feed->left < capacity ? (size_t)feed->left : capacity;
    memset(packets, 0, *count * feed->width_bytes);
    feed->left -= (long)*count;
    return PRT_OK;
}

/* ---- comparing ---- */

/* Returns how often launches were interrupted, if that is measured. */
static uint64_t compare(const struct clock_pipeline *p, const struct machine *machine,
                        uint32_t host_threads, bool measure)
{
    struct clock_times expected = clock_run(p);
    struct prt_program *program = load(p, machine);
    struct prt_run_options options = {.device = machine->option,
                                      .host_threads = host_threads,
                                      .dispatch = PRT_DISPATCH_FULL,
                                      .measure = measure};
    struct feed feed = {p->packets, 0};
    struct prt_run_statistics statistics;
    struct prt_stage_statistics stage;
    struct prt_stage_time time;
    uint64_t interruptions = 0;
    struct prt_error error;
    struct prt_run *run;
    for (int i = 0; i < p->buffer_count; i++)
        if (p->buffers[i].in_port) feed.width_bytes = (size_t)p->buffers[i].width_bytes;
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    uint32_t x = prt_program_find_port(program, "x");
    assert_int_equal(prt_run_bind_input(run, x, give, &feed, &error), PRT_OK);
    if (prt_run_execute(run, &error) != PRT_OK) fail_msg("%s", error.message);
    for (int s = 0; s < p->stage_count; s++) {
        assert_true(prt_run_stage(run, (uint32_t)s, &stage));
        assert_int_equal(stage.dispatches, expected.dispatches[s]);
        assert_int_equal(stage.execute_cycles, expected.execute[s]);
        assert_int_equal(stage.switch_cycles, expected.changes[s]);
        assert_int_equal(stage.launch_cycles, expected.launch[s]);
        if (prt_run_stage_time(run, (uint32_t)s, &time)) interruptions += time.interruptions;
    }
    prt_run_statistics(run, &statistics);
    assert_int_equal(statistics.total_cycles, expected.total);
    prt_run_destroy(run);
    prt_program_free(program);
    return interruptions;
}

/* A device for a round: in one round of two, with cores and figures of the memory. */
static struct machine machine_for(const char *name, struct clock_random *random, int round)
{
    return round % 2 == 0 ? machine_named(name) : machine_with_more(name, random);
}

static void runs_take_the_cycles_that_they_take_by_hand(void **unused)
{
    (void)unused;
    const char *const devices[] = {"sim1", "sim4", "sim16"};
    struct clock_random random = {7};
    for (int round = 0; round < ROUNDS; round += draw_step()) {
        struct clock_pipeline p;
        const char *device = devices[clock_number(&random, 0, 2)];
        bool side_by_side = strcmp(device, "sim16") == 0 && clock_number(&random, 0, 1) == 1;
        struct machine machine = machine_for(device, &random, round);
        draw_for(&p, &random, &machine, side_by_side);
        (void)compare(&p, &machine, 1 + (uint32_t)round % 4, false);
        machine_gone(&machine);
    }
}

/* On two sub-devices, stages in turn. */
static void split(struct clock_pipeline *p, long cus)
{
    p->queue_count = 2;
    p->prologue = p->stage_count + 1;
    for (int i = 0; i < p->queue_count; i++) {
        p->queue_first[i] = cus * i;
        p->queue_cus[i] = cus;
    }
    for (int s = 0; s < p->stage_count; s++)
        p->stages[s].queue = s % 2;
}

/* On the whole device, or on two sub-devices; each stage of one of three importances. */
static void rank(struct clock_pipeline *p, struct clock_random *random)
{
    p->ranked = true;
    for (int s = 0; s < p->stage_count; s++)
        p->stages[s].importance = 100 * clock_number(random, 0, 2);
    if (p->stage_count > 1 && clock_number(random, 0, 2) > 0) split(p, 2);
}

static void runs_with_importance_take_the_cycles_that_they_take_by_hand(void **unused)
{
    (void)unused;
    const char *const devices[] = {"sim4", "sim16"};
    struct clock_random random = {19};
    uint64_t interruptions = 0;
    for (int round = 0; round < RANKED_ROUNDS; round += draw_step()) {
        struct clock_pipeline p;
        const char *device = devices[clock_number(&random, 0, 1)];
        struct machine machine = machine_for(device, &random, round / 2);
        draw_for(&p, &random, &machine, false);
        rank(&p, &random);
        interruptions += compare(&p, &machine, 1 + (uint32_t)round % 4, round % 2 == 0);
        machine_gone(&machine);
    }
    assert_true(interruptions * (uint64_t)draw_step() > 500);
}

/* Sub-devices across domains of caches, of stages that only move packets. */
static void runs_in_domains_of_caches_take_the_cycles_that_they_take_by_hand(void **unused)
{
    (void)unused;
    struct clock_random random = {13};
    for (int round = 0; round < ROUNDS; round += draw_step()) {
        struct clock_pipeline p;
        struct machine machine = machine_with_domains(&random);
        draw_for(&p, &random, &machine, false);
        for (int s = 0; s < p.stage_count; s++) {
            p.stages[s].counted = p.stages[s].state = false;
            p.stages[s].warp_cycles = 0;
        }
        if (p.stage_count > 1) split(&p, clock_number(&random, 2, 5));
        (void)compare(&p, &machine, 1, false);
        machine_gone(&machine);
    }
}

TEST_MAIN("time", cmocka_unit_test(runs_take_the_cycles_that_they_take_by_hand),
          cmocka_unit_test(runs_with_importance_take_the_cycles_that_they_take_by_hand),
          cmocka_unit_test(runs_in_domains_of_caches_take_the_cycles_that_they_take_by_hand))
