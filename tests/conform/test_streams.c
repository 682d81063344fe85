/* SPDX-License-Identifier: MIT */
/*
 * Random pipelines against Kahn's model: outputs are a function of the streams only, and so
 * are the cycles: not of the number of host threads, nor of the pieces in which the host gives its
 * packets.
 */
#include "tests/test.h"

#include "lang/dispatch.h"
#include "tests/conform/pipelines.h"

#include <assert.h>
#include <stdio.h>

enum { BUFFERS_MAX = 24, NODES_MAX = 14, STREAM_MAX = 16384, PORT_RATE = 16, RATE_MAX = 64 };

struct stream {
    size_t count;
    int32_t packets[STREAM_MAX];
};

struct sketch {
    struct made *made;
    struct prt_image_kernel kernels[NODES_MAX];
    uint64_t rates[BUFFERS_MAX]; /* packets an iteration */
    bool read[BUFFERS_MAX];
    uint32_t node_count, buffer_count;
};

/* The packets that every buffer has to carry. */
static struct stream expected[BUFFERS_MAX];

static uint32_t random_below(uint64_t *seed, uint32_t bound)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % bound;
}

static int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static void put(struct stream *stream, int32_t packet)
{
    assert_true(stream->count < STREAM_MAX);
    if (stream->count >= STREAM_MAX) return; /* for analysers: the assertion does not return */
    stream->packets[stream->count++] = packet;
}

/* ---- drawing a pipeline, and its model with it ---- */

static uint32_t draw_buffer(struct sketch *s, uint64_t *seed, uint64_t rate,
                            enum container_outer outer)
{
    char name[16];
    uint32_t buffer = s->buffer_count++;
    snprintf(name, sizeof name, "b%u", buffer);
    assert_int_equal(made_buffer(s->made, name, SCALAR_I32, 32 + random_below(seed, 64), outer),
                     buffer);
    s->rates[buffer] = rate;
    s->read[buffer] = false;
    expected[buffer].count = 0;
    return buffer;
}

static uint32_t draw_node(struct sketch *s, uint64_t *seed, const char *name, uint32_t flags,
                          struct prt_image_kernel kernel, uint64_t repetitions)
{
    if (random_below(seed, 4) == 0) flags |= CONTAINER_NODE_STATEFUL;
    uint32_t node = made_node(s->made, name, flags);
    s->kernels[node] = kernel;
    s->made->nodes[node].repetitions = repetitions;
    s->made->nodes[node].cost_cycles = random_below(seed, 2) ? 7 : 300000;
    s->made->stages[node].threshold = 1 + random_below(seed, 8);
    s->node_count++;
    return node;
}

static void read_buffer(struct sketch *s, uint32_t node, uint32_t buffer, uint64_t pop,
                        uint64_t peek)
{
    made_input(s->made, node, buffer, pop, peek);
    s->read[buffer] = true;
}

static void draw_twice(struct sketch *s, uint64_t *seed, uint32_t from)
{
    uint32_t to = draw_buffer(s, seed, s->rates[from] * 2, CONTAINER_INNER);
    uint32_t node = draw_node(s, seed, "twice", 0, (struct prt_image_kernel){.run = kernel_twice},
                              s->rates[from]);
    read_buffer(s, node, from, 1, 1);
    made_output(s->made, node, to, 2, 0);
    for (size_t i = 0; i < expected[from].count * 2; i++)
        put(&expected[to], expected[from].packets[i / 2]);
}

static void draw_sum2(struct sketch *s, uint64_t *seed, uint32_t from)
{
    uint32_t to = draw_buffer(s, seed, s->rates[from] / 2, CONTAINER_INNER);
    uint32_t node =
        draw_node(s, seed, "sum2", 0, (struct prt_image_kernel){.run = kernel_sum2}, s->rates[to]);
    read_buffer(s, node, from, 2, 2);
    made_output(s->made, node, to, 1, 0);
    for (size_t i = 0; i + 1 < expected[from].count; i += 2)
        put(&expected[to], plus(expected[from].packets[i], expected[from].packets[i + 1]));
}

static void draw_diff(struct sketch *s, uint64_t *seed, uint32_t from)
{
    uint32_t to = draw_buffer(s, seed, s->rates[from], CONTAINER_INNER);
    uint32_t node = draw_node(s, seed, "diff", 0, (struct prt_image_kernel){.run = kernel_diff},
                              s->rates[from]);
    read_buffer(s, node, from, 1, 2);
    made_output(s->made, node, to, 1, 0);
    for (size_t i = 0; i + 1 < expected[from].count; i++)
        put(&expected[to], (int32_t)((uint32_t)expected[from].packets[i + 1] -
                                     (uint32_t)expected[from].packets[i]));
}

/* Running sums, then the last of them and what was left: 0. */
static void draw_total(struct sketch *s, uint64_t *seed, uint32_t from)
{
    uint32_t to = draw_buffer(s, seed, s->rates[from], CONTAINER_INNER);
    const struct prt_image_kernel kernel = {.run = kernel_total, .finish = kernel_total_finish};
    uint32_t node = draw_node(s, seed, "total", CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH,
                              kernel, s->rates[from]);
    int32_t total = 0;
    read_buffer(s, node, from, 1, 1);
    made_output(s->made, node, to, 1, 2);
    for (size_t i = 0; i < expected[from].count; i++)
        put(&expected[to], total = plus(total, expected[from].packets[i]));
    put(&expected[to], total);
    put(&expected[to], 0);
}

/* With any buffer of that rate: perhaps the same, perhaps a shorter one. */
static void draw_add(struct sketch *s, uint64_t *seed, uint32_t from)
{
    uint32_t other = random_below(seed, s->buffer_count);
    while (s->rates[other] != s->rates[from])
        other = (other + 1) % s->buffer_count;
    uint32_t to = draw_buffer(s, seed, s->rates[from], CONTAINER_INNER);
    uint32_t node =
        draw_node(s, seed, "add", 0, (struct prt_image_kernel){.run = kernel_add}, s->rates[from]);
    read_buffer(s, node, from, 1, 1);
    read_buffer(s, node, other, 1, 1);
    made_output(s->made, node, to, 1, 0);
    for (size_t i = 0; i < expected[from].count && i < expected[other].count; i++)
        put(&expected[to], plus(expected[from].packets[i], expected[other].packets[i]));
}

/* s = x + last s, through a buffer with one initial packet. */
static void draw_loop(struct sketch *s, uint64_t *seed, uint32_t from)
{
    const int32_t zero = 0;
    uint32_t to = draw_buffer(s, seed, s->rates[from], CONTAINER_INNER);
    uint32_t back = draw_buffer(s, seed, s->rates[from], CONTAINER_INNER);
    made_initial(s->made, back, 1, &zero, sizeof zero);
    uint32_t node =
        draw_node(s, seed, "mix", 0, (struct prt_image_kernel){.run = kernel_add}, s->rates[from]);
    read_buffer(s, node, from, 1, 1);
    read_buffer(s, node, back, 1, 1);
    made_output(s->made, node, to, 1, 0);
    node = draw_node(s, seed, "delay", 0, (struct prt_image_kernel){.run = kernel_copy},
                     s->rates[from]);
    read_buffer(s, node, to, 1, 1);
    made_output(s->made, node, back, 1, 0);
    int32_t total = 0;
    put(&expected[back], 0);
    for (size_t i = 0; i < expected[from].count; i++) {
        put(&expected[to], total = plus(total, expected[from].packets[i]));
        put(&expected[back], total);
    }
}

static void draw_something(struct sketch *s, uint64_t *seed)
{
    uint32_t from = random_below(seed, s->buffer_count);
    switch (random_below(seed, 7)) {
    case 0:
        if (s->rates[from] < RATE_MAX) draw_twice(s, seed, from);
        break;
    case 1:
        if (s->rates[from] % 2 == 0) draw_sum2(s, seed, from);
        break;
    case 2: draw_diff(s, seed, from); break;
    case 3: draw_total(s, seed, from); break;
    case 4:
        if (s->node_count + 2 < NODES_MAX) draw_loop(s, seed, from);
        break;
    default: draw_add(s, seed, from); break;
    }
}

/* Packs of one to six stages, in order of the nodes; entries of their own for some of them, for the
 * others an entry of another stage. */
static void draw_packs(struct made *made, uint64_t *seed)
{
    uint32_t pack = 0, entries = 0, most = 1 + random_below(seed, DISPATCH_ENTRIES_MAX);
    assert(most > 0);
    for (uint32_t first = 0; first < made->stage_count; pack++) {
        uint32_t length = 1 + random_below(seed, 6);
        if (length > made->stage_count - first) length = made->stage_count - first;
        for (uint32_t i = 0; i < length; i++) {
            struct container_stage *stage = &made->stages[first + i];
            stage->pack = pack;
            stage->place = i;
            stage->flags = i + 1 == length ? CONTAINER_STAGE_ENDS_PACK : 0;
            if (length > 1 && entries >= most) stage->flags |= CONTAINER_STAGE_SPILLED;
            if (length > 1) stage->entry = entries++ % most;
        }
        first += length;
    }
}

static struct prt_program *draw(uint64_t seed)
{
    struct sketch s = {.made = made_create("random", "sim16")};
    uint32_t ports = 1 + random_below(&seed, 3), nodes = 1 + random_below(&seed, 8);
    for (uint32_t i = 0; i < ports; i++) {
        uint32_t port = draw_buffer(&s, &seed, PORT_RATE, CONTAINER_OUTER_IN);
        size_t length = random_below(&seed, 2) ? random_below(&seed, 8) : random_below(&seed, 600);
        while (expected[port].count < length)
            put(&expected[port], (int32_t)random_below(&seed, 1000));
    }
    while (s.node_count < nodes)
        draw_something(&s, &seed);
    for (uint32_t i = 0; i < ports; i++) {
        if (!s.read[i]) draw_diff(&s, &seed, i);
    }
    for (uint32_t i = ports; i < s.buffer_count; i++) {
        if (!s.read[i]) s.made->buffers[i].outer = CONTAINER_OUTER_OUT;
    }
    draw_packs(s.made, &seed);
    if (random_below(&seed, 2))
        made_side_by_side(s.made);
    else
        made_loop(s.made);
    return pipelines_load(s.made, s.kernels);
}

/* ---- running it ---- */

struct random_host {
    const struct stream *stream;
    size_t at;
    uint64_t seed;
    bool right;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct random_host *host = context;
    size_t left = host->stream->count - host->at;
    size_t most = 1 + random_below(&host->seed, random_below(&host->seed, 2) ? 3 : 200);
    (void)error;
    *count = left < capacity ? left : capacity;
    if (*count > most) *count = most;
    memcpy(packets, host->stream->packets + host->at, *count * sizeof host->stream->packets[0]);
    host->at += *count;
    return PRT_OK;
}

static enum prt_status take(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct random_host *host = context;
    (void)error;
    if (count > host->stream->count - host->at ||
        memcmp(packets, host->stream->packets + host->at, count * sizeof(int32_t)) != 0)
        host->right = false;
    else
        host->at += count;
    return PRT_OK;
}

static void bind(const struct prt_program *program, struct prt_run *run, struct random_host *hosts,
                 uint64_t seed)
{
    struct prt_port_information port;
    struct prt_error error;
    for (uint32_t i = 0; prt_program_port(program, i, &port); i++) {
        uint32_t buffer = (uint32_t)strtoul(port.name + 1, NULL, 10);
        hosts[i] =
            (struct random_host){.stream = &expected[buffer], .seed = seed + i, .right = true};
        if (port.direction == PRT_PORT_IN)
            assert_int_equal(prt_run_bind_input(run, i, give, &hosts[i], &error), PRT_OK);
        else
            assert_int_equal(prt_run_bind_output(run, i, take, &hosts[i], &error), PRT_OK);
    }
}

static struct prt_run_statistics run_once(const struct prt_program *program, uint32_t threads,
                                          enum prt_dispatch_mode dispatch, uint64_t seed)
{
    struct random_host hosts[BUFFERS_MAX] = {0};
    struct prt_run_options options = {.host_threads = threads, .dispatch = dispatch};
    struct prt_port_information port;
    struct prt_run_statistics statistics;
    struct prt_error error;
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    bind(program, run, hosts, seed);
    if (prt_run_execute(run, &error) != PRT_OK) fail_msg("%s", error.message);
    for (uint32_t i = 0; prt_program_port(program, i, &port); i++) {
        assert_true(hosts[i].right);
        if (port.direction == PRT_PORT_OUT && hosts[i].stream != NULL)
            assert_int_equal(hosts[i].at, hosts[i].stream->count);
    }
    prt_run_statistics(run, &statistics);
    prt_run_destroy(run);
    statistics.host_threads = 0;
    return statistics;
}

static void outputs_and_cycles_are_a_function_of_the_streams(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct prt_program *program = draw(seed);
        struct prt_run_statistics first = run_once(program, 1, PRT_DISPATCH_CONDENSED, seed);
        for (uint32_t threads = 1; threads <= 4; threads++) {
            struct prt_run_statistics other =
                run_once(program, threads, PRT_DISPATCH_CONDENSED, seed * 100 + threads);
            assert_memory_equal(&first, &other, sizeof first);
        }
        prt_program_free(program);
    }
}

/* run_once compares outputs.  Packets and overhead follow from the launches. */
static void outputs_do_not_depend_on_the_form_of_packets(void **unused)
{
    (void)unused;
    uint64_t packed = 0, spilled = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct prt_program *program = draw(seed);
        for (uint32_t threads = 1; threads <= 2; threads++) {
            struct prt_run_statistics full = run_once(program, threads, PRT_DISPATCH_FULL, seed);
            struct prt_run_statistics each =
                run_once(program, threads, PRT_DISPATCH_REFERENCE, seed);
            struct prt_run_statistics some =
                run_once(program, threads, PRT_DISPATCH_CONDENSED, seed);
            assert_memory_equal(&full.dispatched, &full.as_full, sizeof full.as_full);
            assert_memory_equal(&each.dispatched, &each.as_full, sizeof each.as_full);
            assert_int_equal(each.reference_stores, each.dispatched.packets);
            assert_int_equal(some.dispatched.launches, some.dispatches);
            assert_int_equal(some.dispatched.bytes, 64 * some.dispatched.packets);
            assert_true(some.dispatched.packets <= some.dispatched.launches);
            assert_true(some.dispatched.clean_ups >= some.dispatched.packets);
            assert_true(some.dispatched.overhead_cycles <= some.as_full.overhead_cycles);
            packed += some.dispatched.launches - some.dispatched.packets;
            spilled += some.spills;
        }
        prt_program_free(program);
    }
    assert_true(packed > 1000);
    assert_true(spilled > 100);
}

TEST_MAIN("streams", cmocka_unit_test(outputs_and_cycles_are_a_function_of_the_streams),
          cmocka_unit_test(outputs_do_not_depend_on_the_form_of_packets))
