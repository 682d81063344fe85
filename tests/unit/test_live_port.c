/* SPDX-License-Identifier: MIT */
/* Eager ports in a program: what is pushed comes out before more is asked for. */
#include "tests/test.h"

#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "runtime/host/pipert_run.h"
#include "runtime/sched/port_thread.h"
#include "tests/conform/pipelines.h"

static const struct prt_image_kernel copy = {.run = kernel_copy}, diff = {.run = kernel_diff},
                                     add = {.run = kernel_add};

enum { DEPTH = 64, PACKETS = 300 };

/* A caller that has its packets one by one, and looks at its output before it gives the next. */
struct pusher {
    int32_t pushed, pulled; /* packets */
    int32_t piece;          /* packets at a time */
    int32_t behind; /* packets that may be missing in the output: those that a window keeps */
    size_t asked_least;
};

static enum prt_status push(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct pusher *p = context;
    int32_t *next = packets;
    (void)error;
    int32_t due = p->pushed - p->behind;
    assert_int_equal(p->pulled, due > 0 ? due : 0);
    if (capacity < p->asked_least) p->asked_least = capacity;
    for (*count = 0; *count < (size_t)p->piece && p->pushed < PACKETS; ++*count)
        next[*count] = p->pushed++;
    return PRT_OK;
}

static enum prt_status pull(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct pusher *p = context;
    const int32_t *values = packets;
    (void)error;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(values[i], p->behind == 0 ? p->pulled + (int32_t)i : 1);
    p->pulled += (int32_t)count;
    return PRT_OK;
}

static struct prt_program *load(const struct prt_image_kernel *kernel)
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

static void push_all(const struct prt_image_kernel *kernel, const char *device, int32_t piece)
{
    struct prt_program *program = load(kernel);
    struct prt_run_options options = {.device = device};
    struct pusher p = {.piece = piece, .behind = kernel == &diff ? 1 : 0, .asked_least = DEPTH};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, push, &p, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, pull, &p, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(p.pushed, PACKETS);
    assert_int_equal(p.pulled, PACKETS - p.behind);
    assert_true(p.asked_least >= DEPTH - 1);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void a_pushed_packet_comes_out_before_the_next_push(void **state)
{
    (void)state;
    push_all(&copy, "cpu:1", 1);
    push_all(&copy, "cpu:4", 1);
}

static void so_do_several_packets_and_those_of_a_window(void **state)
{
    (void)state;
    push_all(&copy, "cpu:1", 7);
    push_all(&diff, "cpu:1", 1);
    push_all(&diff, "cpu:4", 5);
}

/* Two callbacks in turns: one is asked only if its packet is needed. */
struct turns {
    int32_t given[2], got;
};

static enum prt_status give(struct turns *t, int port, void *packets, size_t *count)
{
    int32_t *next = packets;
    assert_true(t->given[port] <= t->given[1 - port]);
    assert_int_equal(t->got, t->given[0] < t->given[1] ? t->given[0] : t->given[1]);
    *count = t->given[port] < PACKETS ? 1 : 0;
    if (*count > 0) next[0] = t->given[port]++;
    return PRT_OK;
}

static enum prt_status give_first(void *context, void *packets, size_t capacity, size_t *count,
                                  struct prt_error *error)
{
    (void)capacity, (void)error;
    return give(context, 0, packets, count);
}

static enum prt_status give_second(void *context, void *packets, size_t capacity, size_t *count,
                                   struct prt_error *error)
{
    (void)capacity, (void)error;
    return give(context, 1, packets, count);
}

static enum prt_status get_sum(void *context, const void *packets, size_t count,
                               struct prt_error *error)
{
    struct turns *t = context;
    const int32_t *values = packets;
    (void)error;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(values[i], 2 * t->got++);
    return PRT_OK;
}

static void two_sources_are_asked_in_turns(void **state)
{
    (void)state;
    struct made *m = made_create("p", "sim16");
    uint32_t a = made_buffer(m, "a", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, a, 1, 1);
    made_input(m, node, b, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &add);
    struct prt_run_options options = {.device = "cpu:1"};
    struct turns t = {.got = 0};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_first, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 1, give_second, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, get_sum, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 1, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(t.got, PACKETS);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void an_eager_port_is_an_in_port(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 1, NULL), PRT_E_USAGE);
    assert_int_equal(prt_run_input_eager(run, 2, NULL), PRT_E_USAGE);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- full all the same ---- */

static enum prt_status drop(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    (void)packets, (void)error;
    *(size_t *)context += count;
    return PRT_OK;
}

static enum prt_status give_one(void *context, void *packets, size_t capacity, size_t *count,
                                struct prt_error *error)
{
    int32_t *given = context, *next = packets;
    (void)capacity, (void)error;
    *count = *given < PACKETS ? 1 : 0;
    next[0] = (*given)++;
    return PRT_OK;
}

static struct prt_run_statistics run_simulated(struct prt_program *program, bool eager)
{
    struct prt_run_options options = {.device = "sim16", .measure = true};
    struct prt_run_statistics statistics;
    struct prt_run *run;
    int32_t given = 0;
    size_t got = 0;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_one, &given, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &got, NULL), PRT_OK);
    if (eager) assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(got, PACKETS);
    prt_run_statistics(run, &statistics);
    prt_run_destroy(run);
    return statistics;
}

static void on_a_simulated_device_an_eager_port_changes_no_cycle(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    struct prt_run_statistics full = run_simulated(program, false);
    struct prt_run_statistics eager = run_simulated(program, true);
    assert_true(full.total_cycles > 0);
    assert_int_equal(eager.total_cycles, full.total_cycles);
    assert_int_equal(eager.suspensions, full.suspensions);
    prt_program_free(program);
}

static void memory_is_no_eager_port(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    struct prt_run_options options = {.device = "cpu:1"};
    int32_t packets[PACKETS];
    size_t got = 0;
    struct prt_run *run;
    for (int32_t i = 0; i < PACKETS; i++)
        packets[i] = i;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input_memory(run, 0, packets, PACKETS, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &got, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(got, PACKETS);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- programs of two parts ---- */

/* x -> first -> y, and tick -> z, which never ends by itself: tick is a source. */
static struct made *with_a_source(uint32_t flags)
{
    struct made *m = made_create("p", "sim4");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "first", flags);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, 1, 0);
    node = made_node(m, "tick", 0);
    made_output(m, node, z, 1, 0);
    return m;
}

static uint64_t ticks;

static int32_t tick(const struct kernel_batch *batch)
{
    memset(batch->out[0], 0, batch->count * sizeof(int32_t));
    ticks += batch->count;
    return KERNEL_OK;
}

enum { FEW = 5 };

/* Gives one packet at a time, FEW in all. */
struct slow_source {
    int32_t given;
    uint64_t ticks_before, ticks_least; /* between two calls */
};

static enum prt_status give_few(void *context, void *packets, size_t capacity, size_t *count,
                                struct prt_error *error)
{
    struct slow_source *s = context;
    (void)capacity, (void)error;
    if (s->given > 0 && s->given < FEW && ticks - s->ticks_before < s->ticks_least)
        s->ticks_least = ticks - s->ticks_before;
    s->ticks_before = ticks;
    *count = s->given < FEW ? 1 : 0;
    *(int32_t *)packets = s->given++;
    return PRT_OK;
}

/* The source is asked between launches of tick.  Returns how many packets have come out at y. */
static size_t run_beside_a_source(const struct prt_program *program, const char *device,
                                  uint64_t limit, struct slow_source *x)
{
    const struct prt_run_options options = {.device = device};
    struct prt_run *run;
    size_t y = 0, z = 0;
    ticks = 0;
    *x = (struct slow_source){.ticks_least = UINT64_MAX};
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_few, x, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &y, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, drop, &z, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    prt_run_limit_firings(run, limit);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(z, limit);
    prt_run_destroy(run);
    return y;
}

static void sources_do_not_keep_a_port_from_being_asked(void **state)
{
    (void)state;
    const struct prt_image_kernel kernels[] = {copy, {.run = tick}};
    struct made *m = with_a_source(0);
    struct slow_source x;
    made_loop(m);
    struct prt_program *program = pipelines_load(m, kernels);
    assert_int_equal(run_beside_a_source(program, "cpu:1", 300000, &x), FEW);
    assert_true(x.ticks_before < 300000);                /* the end of x was seen in between */
    assert_true(x.ticks_least >= UINT64_C(200) * DEPTH); /* not before each launch */
    prt_program_free(program);
}

static int32_t copy_few(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    for (uint64_t i = 0; i < batch->count; i++) {
        if (x[i] >= FEW - 1) { /* the others are not asked for */
            batch->produced[0] = *batch->completed = i;
            return KERNEL_STOPPED;
        }
        ((int32_t *)batch->out[0])[i] = x[i];
    }
    batch->produced[0] = *batch->completed = batch->count;
    return KERNEL_OK;
}

/* In a program that comes to `ends` only after so many instructions that the port would be asked again. */
static void a_stage_that_has_stopped_lacks_nothing(void **state)
{
    (void)state;
    enum { TIMES = 700 };
    static char text[TIMES * 40 + 200];
    const struct prt_image_kernel kernels[] = {{.run = copy_few}, {.run = tick}};
    struct made *m = with_a_source(CONTAINER_NODE_STOPS);
    struct slow_source x;
    size_t used = (size_t)snprintf(text, sizeof text,
                                   ".set 1: 1\nbind_root 0\nbind_root 1\nL1: ends\n"
                                   "round_robin 0, L3\ndispatch\n");
    for (int i = 0; i < TIMES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "round_robin 1, L1\ndispatch\n");
    snprintf(text + used, sizeof text - used, "jump L1\nL3: wait L1\nhalt\n");
    made_program(m, text);
    struct prt_program *program = pipelines_load(m, kernels);
    assert_int_equal(run_beside_a_source(program, "cpu:1", 1000000, &x), FEW - 1);
    assert_int_equal(x.given, FEW); /* packets, no end */
    prt_program_free(program);
}

/* ---- ports with threads ---- */

/* Now and then it has nothing for a while. */
static enum prt_status give_ramp(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    struct slow_source *s = context;
    const struct timespec pause = {.tv_nsec = 500000};
    (void)capacity, (void)error;
    if (s->given % (DEPTH / 2) == DEPTH / 2 - 1) nanosleep(&pause, NULL);
    *count = s->given < PACKETS ? 1 : 0;
    *(int32_t *)packets = s->given++;
    return PRT_OK;
}

/* With a latency without end, packets are taken when they fill the port, and at the end of their stream. */
static void packets_rest_until_the_port_is_full(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    const struct prt_run_options options = {.device = "cpu:1", .latency_nanoseconds = UINT64_MAX};
    struct prt_stage_statistics stage;
    struct prt_run *run;
    struct slow_source x = {.given = 0};
    size_t got = 0;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_ramp, &x, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &got, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_give_thread(run, 0, NULL, NULL, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(got, PACKETS);
    assert_true(prt_run_stage(run, 0, &stage));
    assert_int_equal(stage.dispatches, (PACKETS + DEPTH - 1) / DEPTH);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* a and b -> add -> y */
static struct prt_program *two_ports(void)
{
    struct made *m = made_create("p", "sim16");
    uint32_t a = made_buffer(m, "a", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, a, 1, 1);
    made_input(m, node, b, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    return pipelines_load(m, &add);
}

static sem_t asked;

/* Has its first packet only once the other port has been asked. */
static enum prt_status give_after_the_other(void *context, void *packets, size_t capacity,
                                            size_t *count, struct prt_error *error)
{
    struct slow_source *s = context;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    if (s->given == 0 && sem_timedwait(&asked, &end) != 0)
        return prt_error_set(error, PRT_E_READ, "the other port is not asked");
    return give_ramp(context, packets, capacity, count, error);
}

static enum prt_status give_and_tell(void *context, void *packets, size_t capacity, size_t *count,
                                     struct prt_error *error)
{
    struct slow_source *s = context;
    if (s->given == 0) sem_post(&asked);
    return give_ramp(context, packets, capacity, count, error);
}

/* Of two ports that lack packets, the one without a thread is asked, because no thread asks it. */
static void a_port_without_a_thread_is_asked_before_another_is_awaited(void **state)
{
    (void)state;
    struct prt_program *program = two_ports();
    const struct prt_run_options options = {.device = "cpu:1"};
    for (uint32_t threaded = 0; threaded < 2; threaded++) {
        struct slow_source with = {.given = 0}, without = {.given = 0};
        struct prt_run *run;
        size_t got = 0;
        sem_init(&asked, 0, 0);
        assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_input(run, threaded, give_after_the_other, &with, NULL),
                         PRT_OK);
        assert_int_equal(prt_run_bind_input(run, 1 - threaded, give_and_tell, &without, NULL),
                         PRT_OK);
        assert_int_equal(prt_run_give_thread(run, threaded, NULL, NULL, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_output(run, 2, drop, &got, NULL), PRT_OK);
        for (uint32_t port = 0; port < 2; port++)
            assert_int_equal(prt_run_input_eager(run, port, NULL), PRT_OK);
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        assert_int_equal(got, PACKETS);
        prt_run_destroy(run);
        sem_destroy(&asked);
    }
    prt_program_free(program);
}

/* x -> first -> y, and w -> second -> z: x has its second packet only once three of w have come out. */
static struct prt_program *two_chains(void)
{
    const struct prt_image_kernel kernels[] = {copy, copy};
    struct made *m = made_create("p", "sim16");
    for (int i = 0; i < 2; i++) {
        uint32_t from = made_buffer(m, i == 0 ? "x" : "w", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
        uint32_t to = made_buffer(m, i == 0 ? "y" : "z", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, i == 0 ? "first" : "second", 0);
        made_input(m, node, from, 1, 1);
        made_output(m, node, to, 1, 0);
    }
    made_loop(m);
    return pipelines_load(m, kernels);
}

static enum prt_status give_two(void *context, void *packets, size_t capacity, size_t *count,
                                struct prt_error *error)
{
    struct slow_source *s = context;
    struct timespec end;
    (void)capacity;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    for (int i = 0; i < 3 && s->given == 1; i++)
        if (sem_timedwait(&asked, &end) != 0)
            return prt_error_set(error, PRT_E_READ, "the other port is not taken from");
    *count = s->given < 2 ? 1 : 0;
    *(int32_t *)packets = s->given++;
    return PRT_OK;
}

static enum prt_status drop_and_tell(void *context, const void *packets, size_t count,
                                     struct prt_error *error)
{
    (void)packets, (void)error;
    *(size_t *)context += count;
    for (size_t i = 0; i < count; i++)
        sem_post(&asked);
    return PRT_OK;
}

static void a_port_without_packets_does_not_keep_another_waiting(void **state)
{
    (void)state;
    struct prt_program *program = two_chains();
    const struct prt_run_options options = {.device = "cpu:1"};
    struct slow_source x = {.given = 0}, w = {.given = 0};
    struct prt_run *run;
    size_t y = 0, z = 0;
    sem_init(&asked, 0, 0);
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_two, &x, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &y, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 2, give_ramp, &w, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 3, drop_and_tell, &z, NULL), PRT_OK);
    for (uint32_t port = 0; port < 4; port += 2) {
        assert_int_equal(prt_run_input_eager(run, port, NULL), PRT_OK);
        assert_int_equal(prt_run_give_thread(run, port, NULL, NULL, NULL), PRT_OK);
    }
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(y, 2);
    assert_int_equal(z, PACKETS);
    prt_run_destroy(run);
    sem_destroy(&asked);
    prt_program_free(program);
}

/* A port that is not eager stays as it is beside one that is, with and without a thread. */
static void only_ports_that_were_asked_for_are_eager(void **state)
{
    (void)state;
    struct prt_program *program = two_ports();
    const struct prt_run_options options = {.device = "cpu:1"};
    for (uint32_t ways = 0; ways < 4; ways++) {
        struct slow_source a = {.given = 0}, b = {.given = 0};
        struct prt_run *run;
        size_t got = 0;
        assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_input(run, 0, give_ramp, &a, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_input(run, 1, give_ramp, &b, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_output(run, 2, drop, &got, NULL), PRT_OK);
        assert_int_equal(prt_run_input_eager(run, ways % 2, NULL), PRT_OK);
        for (uint32_t port = 0; port < 2 && ways >= 2; port++)
            assert_int_equal(prt_run_give_thread(run, port, NULL, NULL, NULL), PRT_OK);
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        assert_int_equal(got, PACKETS);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

static enum prt_status give_three_and_fail(void *context, void *packets, size_t capacity,
                                           size_t *count, struct prt_error *error)
{
    struct slow_source *s = context;
    if (s->given == 3) return prt_error_set(error, PRT_E_READ, "no more");
    return give_ramp(context, packets, capacity, count, error);
}

/* With a thread, and without: in the loop, where the scheduler waits, and in the guard of a static schedule. */
static void a_source_that_fails_ends_the_run(void **state)
{
    (void)state;
    static const char guarded[] = "bind_root 0\nL1: has_packets 0, 0, 9, L2\n"
                                  "has_room 0, 0, 8, L2\nrun 0, 8\njump L1\nL2: wait L1\n"
                                  "L3: ends\nround_robin 0, L4\ndispatch\njump L3\n"
                                  "L4: wait L3\nhalt\n";
    const struct prt_run_options options = {.device = "cpu:1"};
    for (uint32_t ways = 0; ways < 4; ways++) {
        struct made *m = made_create("p", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, "k", 0);
        made_input(m, node, x, 1, 1);
        made_output(m, node, y, 1, 0);
        if (ways < 2)
            made_loop(m);
        else
            made_program(m, guarded);
        struct prt_program *program = pipelines_load(m, &copy);
        struct slow_source source = {.given = 0};
        struct prt_error error = {.message = ""};
        struct prt_run *run;
        size_t got = 0;
        assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_input(run, 0, give_three_and_fail, &source, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_output(run, 1, drop, &got, NULL), PRT_OK);
        assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
        if (ways % 2 == 0) assert_int_equal(prt_run_give_thread(run, 0, NULL, NULL, NULL), PRT_OK);
        assert_int_equal(prt_run_execute(run, &error), PRT_E_READ);
        assert_string_equal(error.message, "no more");
        assert_true(got <= 3);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* The guard of a static schedule asks, after many launches of tick. */
static void a_guard_hears_a_source_that_fails(void **state)
{
    (void)state;
    const struct prt_image_kernel kernels[] = {copy, {.run = tick}};
    const struct prt_run_options options = {.device = "cpu:1"};
    struct slow_source source = {.given = 3};
    struct made *m = with_a_source(0);
    struct prt_run *run;
    size_t y = 0, z = 0;
    made_program(m, "bind_root 0\nbind_root 1\nL0: ends\ngoes_on 1, 64, L1\nhas_room 1, 0, 64, L1\n"
                    "run 1, 64\nfence\njump L0\nL1: has_packets 0, 0, 9, L2\n"
                    "has_room 0, 0, 8, L2\nrun 0, 8\njump L1\nL2: wait L1\nL3: ends\n"
                    "round_robin 0, L4\ndispatch\njump L3\nL4: wait L3\nhalt\n");
    struct prt_program *program = pipelines_load(m, kernels);
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_three_and_fail, &source, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &y, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, drop, &z, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    prt_run_limit_firings(run, UINT64_C(400) * 64);
    assert_int_equal(prt_run_execute(run, NULL), PRT_E_READ);
    assert_int_equal(y, 0);
    assert_int_equal(z, 400 * 64);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* Two eager ports: the second is not asked any more once the first has failed. */
static void a_failing_source_goes_before_the_next_port(void **state)
{
    (void)state;
    struct prt_program *program = two_ports();
    const struct prt_run_options options = {.device = "cpu:1"};
    struct slow_source a = {.given = 0}, b = {.given = 0};
    struct prt_run *run;
    size_t got = 0;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_three_and_fail, &a, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 1, give_ramp, &b, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, drop, &got, NULL), PRT_OK);
    for (uint32_t port = 0; port < 2; port++) {
        assert_int_equal(prt_run_input_eager(run, port, NULL), PRT_OK);
        assert_int_equal(prt_run_give_thread(run, port, NULL, NULL, NULL), PRT_OK);
    }
    assert_int_equal(prt_run_execute(run, NULL), PRT_E_READ);
    assert_true(got <= 3);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- slow sinks ---- */

enum { MANY = 900000, SLOW_CALLS = 5 };

static enum prt_status give_many(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    int32_t *given = context;
    (void)error;
    for (*count = 0; *count < capacity && *given < MANY; ++*count)
        ((int32_t *)packets)[*count] = (*given)++;
    return PRT_OK;
}

struct slow_sink {
    int32_t taken;
    int calls;
    bool closes; /* takes no more after the first call */
    bool wrong;
};

/* Meanwhile its ring becomes full. */
static enum prt_status take_slowly(void *context, const void *packets, size_t count,
                                   struct prt_error *error)
{
    struct slow_sink *s = context;
    const struct timespec pause = {.tv_nsec = 2000000};
    if (s->calls++ < SLOW_CALLS) nanosleep(&pause, NULL);
    if (s->closes && s->calls > 1) return prt_error_set(error, PRT_E_CLOSED_PIPE, "no more");
    for (size_t i = 0; i < count; i++)
        s->wrong |= ((const int32_t *)packets)[i] != s->taken++;
    return PRT_OK;
}

static int32_t fork_packets(const struct kernel_batch *batch)
{
    memcpy(batch->out[0], batch->in[0], batch->count * sizeof(int32_t));
    memcpy(batch->out[1], batch->in[0], batch->count * sizeof(int32_t));
    return KERNEL_OK;
}

static void slow_sinks_get_all_packets(void **state)
{
    (void)state;
    static const struct prt_image_kernel forks = {.run = fork_packets};
    const struct prt_run_options options = {.device = "cpu:1"};
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 4096, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 4096, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 4096, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "fork", 0);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, 1, 0);
    made_output(m, node, z, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &forks);
    for (int closes = 0; closes < 2; closes++) {
        struct slow_sink sinks[2] = {{.closes = closes}, {.closes = false}};
        struct prt_run *run;
        int32_t given = 0;
        assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_input(run, 0, give_many, &given, NULL), PRT_OK);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(prt_run_bind_output(run, 1 + i, take_slowly, &sinks[i], NULL), PRT_OK);
        assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
        for (uint32_t port = 0; port < 3; port++)
            assert_int_equal(prt_run_give_thread(run, port, NULL, NULL, NULL), PRT_OK);
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        assert_int_equal(sinks[1].taken, MANY);
        assert_true(closes ? sinks[0].taken < MANY : sinks[0].taken == MANY);
        assert_false(sinks[0].wrong || sinks[1].wrong);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

/* ---- room that comes while the scheduler fills ports ---- */

static struct {
    sem_t goes_on;
    const struct prt_buffer *y;
    size_t got, left;
    bool found_full;
} late_room;

/* The first packets are kept until the source lets the sink go on. */
static enum prt_status keep_packets(void *context, const void *packets, size_t count,
                                    struct prt_error *error)
{
    (void)context, (void)packets, (void)error;
    if (late_room.got == 0) sem_wait(&late_room.goes_on);
    late_room.got += count;
    return PRT_OK;
}

/* Gives as many packets as it is asked for.  Once y is full, which is when no stage can go on, there is room in y before it
 * returns. */
static enum prt_status give_room(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    (void)context, (void)error;
    *count = capacity < late_room.left ? capacity : late_room.left;
    late_room.left -= *count;
    memset(packets, 0, *count * sizeof(int32_t));
    bool is_full = !late_room.found_full && prt_port_thread_room(late_room.y) == 0;
    late_room.found_full |= is_full;
    if (is_full || *count == 0) sem_post(&late_room.goes_on);
    while (is_full && prt_port_thread_room(late_room.y) == 0)
        sched_yield();
    return PRT_OK;
}

static enum prt_status give_none(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    (void)context, (void)packets, (void)capacity, (void)error;
    *count = 0;
    return PRT_OK;
}

/* The sink keeps its packets until y is full, which is a megabyte of them.  x, which is at hand, is filled then.  Beside it, w is
 * eager, so that stages do not wait for the sink. */
static void room_that_comes_late_is_not_missed(void **state)
{
    (void)state;
    enum { MANY = 500000 };
    static const struct prt_image_kernel copies[] = {{.run = kernel_copy}, {.run = kernel_copy}};
    const struct prt_run_options options = {.device = "cpu:1"};
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t w = made_buffer(m, "w", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t v = made_buffer(m, "v", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    for (uint32_t i = 0; i < 2; i++) {
        made_input(m, made_node(m, i == 0 ? "a" : "b", 0), i == 0 ? x : w, 1, 1);
        made_output(m, i, i == 0 ? y : v, 1, 0);
    }
    made_loop(m);
    struct prt_program *program = pipelines_load(m, copies);
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    late_room.got = 0;
    late_room.found_full = false;
    late_room.left = MANY;
    late_room.y = &run->sched->buffers[y];
    assert_int_equal(sem_init(&late_room.goes_on, 0, 0), 0);
    assert_int_equal(prt_run_bind_input(run, x, give_room, NULL, NULL), PRT_OK);
    assert_int_equal(prt_run_input_at_hand(run, x, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, w, give_none, NULL, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, w, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, y, keep_packets, NULL, NULL), PRT_OK);
    assert_int_equal(prt_run_give_thread(run, y, NULL, NULL, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(late_room.got, MANY);
    assert_true(late_room.found_full);
    prt_run_destroy(run);
    prt_program_free(program);
    sem_destroy(&late_room.goes_on);
}

TEST_MAIN("live_port", cmocka_unit_test(a_pushed_packet_comes_out_before_the_next_push),
          cmocka_unit_test(so_do_several_packets_and_those_of_a_window),
          cmocka_unit_test(two_sources_are_asked_in_turns),
          cmocka_unit_test(an_eager_port_is_an_in_port),
          cmocka_unit_test(on_a_simulated_device_an_eager_port_changes_no_cycle),
          cmocka_unit_test(memory_is_no_eager_port),
          cmocka_unit_test(sources_do_not_keep_a_port_from_being_asked),
          cmocka_unit_test(a_stage_that_has_stopped_lacks_nothing),
          cmocka_unit_test(packets_rest_until_the_port_is_full),
          cmocka_unit_test(a_port_without_a_thread_is_asked_before_another_is_awaited),
          cmocka_unit_test(a_port_without_packets_does_not_keep_another_waiting),
          cmocka_unit_test(only_ports_that_were_asked_for_are_eager),
          cmocka_unit_test(a_source_that_fails_ends_the_run),
          cmocka_unit_test(a_guard_hears_a_source_that_fails),
          cmocka_unit_test(a_failing_source_goes_before_the_next_port),
          cmocka_unit_test(slow_sinks_get_all_packets),
          cmocka_unit_test(room_that_comes_late_is_not_missed))
