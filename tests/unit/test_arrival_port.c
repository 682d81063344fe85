/* SPDX-License-Identifier: MIT */
/* Packets that arrive while a run on a simulated device goes on: outputs, cycles, waits, errors. */
#include "tests/test.h"

#include "runtime/host/pipert_run.h"
#include "tests/conform/pipelines.h"

static const struct prt_image_kernel copy = {.run = kernel_copy}, diff = {.run = kernel_diff};

enum { DEPTH = 64, PACKETS = 300 };

/* x -> k -> y */
static struct prt_program *load_line(const struct prt_image_kernel *kernel)
{
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "k", 0);
    made_input(m, node, x, 1, kernel == &diff ? 2 : 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    return pipelines_load(m, kernel);
}

/* How the host gives its packets: that must make no difference. */
enum giver { CALLBACK, AT_HAND, THREAD, MEMORY, HOSTS };

struct stream {
    int32_t packets[PACKETS];
    size_t given, piece, got;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct stream *t = context;
    size_t left = PACKETS - t->given;
    (void)error;
    *count = t->piece < left ? t->piece : left;
    if (capacity < *count) *count = capacity;
    memcpy(packets, t->packets + t->given, *count * sizeof *t->packets);
    t->given += *count;
    return PRT_OK;
}

static enum prt_status get(void *context, const void *packets, size_t count,
                           struct prt_error *error)
{
    struct stream *t = context;
    (void)error;
    assert_memory_equal(packets, t->packets + t->got, count * sizeof *t->packets);
    t->got += count;
    return PRT_OK;
}

struct way {
    enum giver host;
    size_t piece;
    uint64_t rate; /* packets a second; 0: all at cycle 0 */
    bool eager;
    uint64_t latency_nanoseconds;
};

static struct prt_buffer_statistics of_x; /* of the last run_copy */

/* A run of `copy` must give the packets back. */
static struct prt_run_statistics run_copy(const struct way *way)
{
    struct prt_program *program = load_line(&copy);
    struct prt_run_options options = {.measure = true,
                                      .latency_nanoseconds = way->latency_nanoseconds};
    struct prt_run_statistics statistics;
    struct prt_run *run;
    struct prt_error error;
    static struct stream t;
    t.given = t.got = 0;
    t.piece = way->piece > 0 ? way->piece : PACKETS;
    for (int32_t i = 0; i < PACKETS; i++)
        t.packets[i] = i * i;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    if (way->host == MEMORY)
        assert_int_equal(prt_run_bind_input_memory(run, 0, t.packets, PACKETS, NULL), PRT_OK);
    else
        assert_int_equal(prt_run_bind_input(run, 0, give, &t, NULL), PRT_OK);
    if (way->host == AT_HAND) assert_int_equal(prt_run_input_at_hand(run, 0, NULL), PRT_OK);
    if (way->host == THREAD) {
        assert_int_equal(prt_run_give_thread(run, 0, NULL, NULL, NULL), PRT_OK);
        assert_int_equal(prt_run_give_thread(run, 1, NULL, NULL, NULL), PRT_OK);
    }
    assert_int_equal(prt_run_bind_output(run, 1, get, &t, NULL), PRT_OK);
    if (way->rate > 0) assert_int_equal(prt_run_input_rate(run, 0, way->rate, 1, NULL), PRT_OK);
    if (way->eager) assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    if (prt_run_execute(run, &error) != PRT_OK) fail_msg("%s", error.message);
    assert_int_equal(t.got, PACKETS);
    prt_run_statistics(run, &statistics);
    assert_true(prt_run_buffer(run, 0, &of_x));
    prt_run_destroy(run);
    prt_program_free(program);
    return statistics;
}

static void cycles_do_not_depend_on_the_host(void **unused)
{
    (void)unused;
    static const uint64_t rates[] = {1, 48000, 1000000, 7777777, 1000000000, UINT64_C(1) << 40};
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        for (int kind = 0; kind < 3; kind++) {
            struct way way = {.host = CALLBACK, .rate = rates[r], .eager = kind > 0};
            way.latency_nanoseconds = kind == 2 ? 20000 : 0;
            struct prt_run_statistics expected = run_copy(&way);
            for (int host = 0; host < HOSTS; host++) {
                for (way.piece = 1; way.piece < 100; way.piece += 37) {
                    way.host = (enum giver)host;
                    struct prt_run_statistics found = run_copy(&way);
                    assert_int_equal(found.total_cycles, expected.total_cycles);
                    assert_int_equal(found.dispatches, expected.dispatches);
                    assert_int_equal(found.instructions, expected.instructions);
                    assert_int_equal(found.suspensions, expected.suspensions);
                }
            }
        }
    }
}

static enum prt_status drop(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    size_t *total = context;
    (void)packets, (void)error;
    *total += count;
    return PRT_OK;
}

/* Packets that are in a port from the beginning have not arrived, so they are not late. */
static void initial_packets_are_not_late(void **unused)
{
    (void)unused;
    enum { INITIAL = 5 };
    static struct stream t;
    const int32_t zero = 0;
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    made_initial(m, x, INITIAL, &zero, sizeof zero);
    made_input(m, made_node(m, "k", 0), x, 1, 1);
    made_output(m, 0, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &copy);
    struct prt_run_options options = {.measure = true};
    struct prt_buffer_statistics late;
    struct prt_run *run;
    size_t total = 0;
    t.piece = PACKETS;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &total, NULL), PRT_OK);
    assert_int_equal(prt_run_input_rate(run, 0, 1000000, 1, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(total, INITIAL + PACKETS);
    assert_true(prt_run_buffer(run, y, &late));
    assert_int_equal(late.late_packets, PACKETS);
    prt_run_destroy(run);
    prt_program_free(program);
}

static int32_t sum_eight(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        ((int32_t *)batch->out[0])[i] = ((const int32_t *)batch->in[0])[8 * i];
    return KERNEL_OK;
}

/* x of eight packets -> slow -> y, x -> eight -> z, each on its own part of the device.  slow takes four packets at a time:
 * while it keeps the second four, `eight` lacks more than x has room for, and no arrival helps it. */
static void a_stage_may_lack_more_than_there_is_room_for(void **unused)
{
    (void)unused;
    static const struct prt_image_kernel kernels[] = {{.run = kernel_copy}, {.run = sum_eight}};
    static struct stream t;
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    made_input(m, made_node(m, "slow", 0), x, 1, 1);
    made_output(m, 0, y, 1, 0);
    made_input(m, made_node(m, "eight", 0), x, 8, 8);
    made_output(m, 1, z, 1, 0);
    m->nodes[0].repetitions = 8;
    m->nodes[0].cost_cycles = m->nodes[0].warp_cycles = 50000;
    made_settle(m);
    m->stages[0].batch_max = 4;
    made_side_by_side(m);
    struct prt_program *program = pipelines_load(m, kernels);
    struct prt_run_options options = {.measure = true};
    struct prt_run *run;
    size_t slow = 0, eight = 0;
    t.given = 0;
    t.piece = PACKETS;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &slow, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, drop, &eight, NULL), PRT_OK);
    const uint64_t cycles[] = {0, 1000000}, packets[] = {8, PACKETS - 8};
    assert_int_equal(prt_run_input_arrivals(run, 0, cycles, packets, 2, NULL, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(slow, PACKETS);
    assert_int_equal(eight, PACKETS / 8);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- lateness ---- */

enum {
    FEW = 40,
    STEP = 100000
}; /* cycles between the packets of x; those of w are twice as rare */

static int32_t keep_odd(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    uint64_t count = 0;
    for (uint64_t i = 0; i < batch->count; i++)
        if (x[i] % 2 != 0) ((int32_t *)batch->out[0])[count++] = x[i];
    batch->produced[0] = count;
    return KERNEL_OK;
}

static int32_t finish_with_one(const struct kernel_batch *batch)
{
    ((int32_t *)batch->out[0])[0] = 0;
    batch->produced[0] = 1;
    return KERNEL_OK;
}

/* Packet k of y, with the cycle in which the last packet, or end, arrives that it depends on. */
static uint64_t arrival_of_same(uint64_t k)
{
    return k * STEP;
}

static uint64_t arrival_of_next(uint64_t k)
{
    return (k + 1) * STEP;
}

static uint64_t arrival_of_odd(uint64_t k)
{
    return (2 * k + 1) * STEP;
}

/* The packet of the finish depends on the packet of w that came last, which is later than the end of x. */
static uint64_t arrival_of_later(uint64_t k)
{
    return 2 * (k < FEW ? k : FEW - 1) * STEP;
}

/* y <- k <- x, or <- k <- t <- copy <- x, or <- k <- x and w */
static const struct late_case {
    struct prt_image_kernel kernel;
    uint64_t (*arrival)(uint64_t k);
    uint64_t peek, least, finish, count;
    bool chained, joined, eager;
} late_cases[] = {
    {{.run = kernel_copy}, arrival_of_same, 1, 1, 0, FEW, false, false, true},
    {{.run = kernel_copy}, arrival_of_same, 1, 1, 0, FEW, true, false, true},
    {{.run = kernel_copy}, arrival_of_same, 1, 1, 0, FEW, true, false, false},
    {{.run = kernel_diff}, arrival_of_next, 2, 1, 0, FEW - 1, false, false, true},
    {{.run = kernel_diff}, arrival_of_next, 2, 1, 0, FEW - 1, true, false, false},
    {{.run = keep_odd}, arrival_of_odd, 1, 0, 0, FEW / 2, true, false, true},
    {{.run = kernel_copy, .finish = finish_with_one},
     arrival_of_same,
     1,
     1,
     1,
     FEW + 1,
     false,
     false,
     true},
    {{.run = kernel_copy, .finish = finish_with_one},
     arrival_of_same,
     1,
     1,
     1,
     FEW + 1,
     true,
     false,
     true},
    {{.run = kernel_add, .finish = finish_with_one},
     arrival_of_later,
     1,
     1,
     1,
     FEW + 1,
     false,
     true,
     true},
};

static struct prt_program *load_late(const struct late_case *k)
{
    struct prt_image_kernel kernels[2] = {k->kernel, {.run = kernel_copy}};
    struct made *m = made_create("p", "sim16");
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN), from = x;
    if (k->chained) from = made_buffer(m, "t", SCALAR_I32, DEPTH, CONTAINER_INNER);
    uint32_t node = made_node(m, "k", k->finish > 0 ? CONTAINER_NODE_FINISH : 0);
    made_input(m, node, from, 1, k->peek);
    if (k->joined)
        made_input(m, node, made_buffer(m, "w", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN), 1, 1);
    made_output(m, node, y, 1, k->finish);
    m->outputs[0].push_least = k->least;
    if (k->chained) {
        node = made_node(m, "copy", 0);
        made_input(m, node, x, 1, 1);
        made_output(m, node, from, 1, 0);
    }
    made_loop(m);
    return pipelines_load(m, kernels);
}

/* The lateness that the host finds by itself, with the clock of the device. */
struct late_sink {
    const struct prt_run *run;
    uint64_t (*arrival)(uint64_t k);
    uint64_t count, sum, least, most;
};

static enum prt_status measure(void *context, const void *packets, size_t count,
                               struct prt_error *error)
{
    struct late_sink *s = context;
    uint64_t now = s->run->ops->now_cycles(s->run->device);
    (void)packets, (void)error;
    for (size_t i = 0; i < count; i++) {
        uint64_t late = now - s->arrival(s->count++);
        s->sum += late;
        if (late < s->least) s->least = late;
        if (late > s->most) s->most = late;
    }
    return PRT_OK;
}

/* Packet k rests from its arrival to that of `end`, or to its own, and a few instructions. */
static void expect_rest(const struct prt_buffer_statistics *x, uint64_t end)
{
    uint64_t all = end * (end + 1) / 2 * STEP, more = x->rest_most_cycles - end * STEP;
    assert_in_range(more, 0, 20);
    assert_in_range(x->rest_cycles, all, all + FEW * more);
    assert_int_equal(x->suspensions, end > 0 ? 1 : FEW); /* the first packet is there */
}

/* With a latency that is longer than all arrivals, packets rest until the port is full, or to the end. */
static void packets_rest_until_the_port_is_full(void **unused)
{
    (void)unused;
    struct way way = {.host = CALLBACK, .rate = 100000, .eager = true};
    way.latency_nanoseconds = UINT64_C(1000000000);
    struct prt_run_statistics found = run_copy(&way);
    assert_int_equal(found.dispatches, (PACKETS + DEPTH - 1) / DEPTH);
    assert_int_equal(found.suspensions, (PACKETS + DEPTH - 1) / DEPTH);
    assert_int_equal(of_x.suspensions, found.suspensions);
    uint64_t step = found.total_cycles / PACKETS; /* the end of the stream comes last */
    assert_in_range(of_x.rest_most_cycles, (DEPTH - 1) * step - step / 2,
                    (DEPTH - 1) * step + step / 2);
}

/* While launches are in flight the machine does not wait for packets: it takes one at the next instruction after its arrival. */
static void packets_rest_until_the_next_instruction(void **unused)
{
    (void)unused;
    struct way way = {.host = CALLBACK, .rate = 5000000, .eager = true};
    struct prt_run_statistics found = run_copy(&way);
    assert_int_equal(found.suspensions, 0);
    assert_in_range(of_x.rest_most_cycles, 1, 1000);
    assert_in_range(of_x.rest_cycles, of_x.rest_most_cycles, PACKETS * of_x.rest_most_cycles);
}

/* Each packet fills it. */
static void a_port_of_one_packet_takes_what_arrives(void **unused)
{
    (void)unused;
    static struct stream t;
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 1, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    made_input(m, made_node(m, "k", 0), x, 1, 1);
    made_output(m, 0, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &copy);
    struct prt_run_options options = {.measure = true};
    struct prt_run *run;
    size_t total = 0;
    t.piece = PACKETS;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, x, give, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, y, drop, &total, NULL), PRT_OK);
    assert_int_equal(prt_run_input_rate(run, x, 100000, 1, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, x, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(total, PACKETS);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void packets_are_late_by_the_last_arrival_that_they_depend_on(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof late_cases / sizeof late_cases[0]; i++) {
        const struct late_case *k = &late_cases[i];
        struct prt_program *program = load_late(k);
        struct prt_run_options options = {.measure = true};
        struct prt_buffer_statistics found;
        struct prt_run *run;
        struct host x, w;
        host_ramp(&x, FEW);
        host_ramp(&w, FEW);
        assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
        struct late_sink sink = {.run = run, .arrival = k->arrival, .least = UINT64_MAX};
        struct prt_device_info info;
        run->ops->info(run->device, &info);
        uint64_t clock_hz = info.description->clock_hz;
        assert_int_equal(prt_run_bind_output(run, 0, measure, &sink, NULL), PRT_OK);
        for (uint32_t port = 1; port < 2u + k->joined; port++) {
            struct host *from = port == 1 ? &x : &w;
            assert_int_equal(prt_run_bind_input(run, port, host_read, from, NULL), PRT_OK);
            assert_int_equal(prt_run_input_rate(run, port, clock_hz, STEP * port, NULL), PRT_OK);
            if (k->eager) assert_int_equal(prt_run_input_eager(run, port, NULL), PRT_OK);
        }
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        assert_int_equal(sink.count, k->count);
        assert_true(prt_run_buffer(run, 0, &found));
        assert_int_equal(found.late_packets, k->count);
        assert_int_equal(found.late_cycles, sink.sum);
        assert_int_equal(found.late_least_cycles, sink.least);
        assert_int_equal(found.late_most_cycles, sink.most);
        assert_true(prt_run_buffer(run, 1, &found));
        /* x is taken when a stage lacks it: with the second packet, or with that of w */
        bool waits = k->eager && (k->peek > 1 || k->joined);
        assert_int_equal(found.late_packets, 0);
        if (!waits) expect_rest(&found, k->eager ? 0 : FEW);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

TEST_MAIN("arrival_port", cmocka_unit_test(cycles_do_not_depend_on_the_host),
          cmocka_unit_test(initial_packets_are_not_late),
          cmocka_unit_test(a_stage_may_lack_more_than_there_is_room_for),
          cmocka_unit_test(packets_rest_until_the_port_is_full),
          cmocka_unit_test(packets_rest_until_the_next_instruction),
          cmocka_unit_test(a_port_of_one_packet_takes_what_arrives),
          cmocka_unit_test(packets_are_late_by_the_last_arrival_that_they_depend_on))
