/* SPDX-License-Identifier: MIT */
/* Packets that arrive while a run on a simulated device goes on: outputs, cycles, waits, errors. */
#include "tests/test.h"

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

TEST_MAIN("arrival_port", cmocka_unit_test(cycles_do_not_depend_on_the_host))
