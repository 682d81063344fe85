/* SPDX-License-Identifier: MIT */
/* Ports with threads: results, figures, failures and their order are those of callbacks without. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

#include <errno.h>
#include <semaphore.h>
#include <time.h>

static const struct prt_image_kernel copy = {.run = kernel_copy}, diff = {.run = kernel_diff},
                                     divide = {.run = kernel_divide};

enum { DEPTH = 64 };

static struct prt_program *load(const struct prt_image_kernel *kernel, uint32_t initial)
{
    struct made *m = made_create("p", "sim16");
    const int32_t pattern[2] = {17, 170};
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    if (initial > 0) made_initial(m, x, initial, pattern, sizeof pattern[0] * initial);
    uint32_t node = made_node(m, "k", 0);
    made_input(m, node, x, 1, kernel == &diff ? 2 : 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    return pipelines_load(m, kernel);
}

struct outcome {
    enum prt_status status;
    uint64_t cycles, suspensions, leftover, in_packets, out_packets;
    char message[512];
};

static struct prt_run *create(const struct prt_program *program, struct host *in, struct host *out,
                              bool threads)
{
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    pipelines_bind(program, run, in, out);
    for (uint32_t port = 0; port < 2 && threads; port++)
        assert_int_equal(prt_run_give_thread(run, port, NULL, NULL, NULL), PRT_OK);
    return run;
}

static struct outcome execute(struct prt_run *run)
{
    struct prt_error error = {.message = ""};
    struct outcome o = {.status = prt_run_execute(run, &error)};
    struct prt_run_statistics total;
    struct prt_buffer_statistics buffer;
    prt_run_statistics(run, &total);
    if (o.status != PRT_OK) memcpy(o.message, error.message, sizeof o.message);
    o.cycles = total.total_cycles;
    o.suspensions = total.suspensions;
    o.leftover = total.leftover_packets;
    assert_true(prt_run_buffer(run, 0, &buffer));
    o.in_packets = buffer.packets;
    assert_true(prt_run_buffer(run, 1, &buffer));
    o.out_packets = buffer.packets;
    prt_run_destroy(run);
    return o;
}

/* ---- the same as without ---- */

static struct host in, out, before;

static void compare(const struct prt_program *program, size_t length, size_t piece, bool at_hand)
{
    struct outcome o[2];
    for (int threads = 0; threads < 2; threads++) {
        host_ramp(&in, length);
        in.piece = piece;
        out.count = 0;
        struct prt_run *run = create(program, &in, &out, threads);
        if (at_hand) assert_int_equal(prt_run_input_at_hand(run, 0, NULL), PRT_OK);
        memset(&o[threads], 0, sizeof o[threads]);
        o[threads] = execute(run);
        if (threads == 0) before = out;
    }
    assert_int_equal(o[0].status, PRT_OK);
    assert_memory_equal(&o[0], &o[1], sizeof o[0]);
    assert_int_equal(out.count, before.count);
    assert_memory_equal(out.packets, before.packets, out.count * sizeof out.packets[0]);
}

static void results_and_figures_are_the_same(void **unused)
{
    (void)unused;
    const size_t lengths[] = {0, 1, 2, 63, 64, 65, 66, 128, 129, 1000, 4097};
    const size_t pieces[] = {0, 1, 7, 64, 100};
    for (uint32_t initial = 0; initial < 3; initial++) {
        struct prt_program *program = load(&diff, initial);
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
            for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
                for (int at_hand = 0; at_hand < 2; at_hand++)
                    compare(program, lengths[l], pieces[p], at_hand);
        prt_program_free(program);
    }
}

/* ---- streams that are longer than every ring ---- */

struct count {
    uint64_t at, end, piece;
    bool wrong;
};

static enum prt_status give_numbers(void *context, void *packets, size_t capacity, size_t *count,
                                    struct prt_error *error)
{
    struct count *c = context;
    int32_t *to = packets;
    (void)error;
    c->piece = c->piece * 5 % 70001 + 1;
    for (*count = 0; *count < capacity && *count < c->piece && c->at < c->end; ++*count)
        to[*count] = (int32_t)c->at++;
    return PRT_OK;
}

static enum prt_status check_numbers(void *context, const void *packets, size_t count,
                                     struct prt_error *error)
{
    struct count *c = context;
    const int32_t *from = packets;
    (void)error;
    for (size_t i = 0; i < count; i++)
        c->wrong |= from[i] != (int32_t)c->at++;
    return PRT_OK;
}

static void rings_go_round(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    struct count from = {.end = 1500000}, to = {.at = 0};
    struct prt_run *run = create(program, NULL, NULL, true);
    assert_int_equal(prt_run_bind_input(run, 0, give_numbers, &from, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, check_numbers, &to, NULL), PRT_OK);
    assert_int_equal(execute(run).status, PRT_OK);
    assert_int_equal(to.at, from.end);
    assert_false(to.wrong);
    prt_program_free(program);
}

/* ---- failures ---- */

static void a_failing_source_is_heard_behind_its_packets(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    host_ramp(&in, 1000);
    in.piece = 10;
    in.fails_after = 100;
    in.failure = PRT_E_READ;
    out = (struct host){.count = 0};
    struct outcome o = execute(create(program, &in, &out, true));
    assert_int_equal(o.status, PRT_E_READ);
    assert_string_equal(o.message, "the host fails");
    assert_int_equal(out.count, 64); /* the port was not full again */
    prt_program_free(program);
}

struct failing {
    enum prt_status status;
    uint32_t calls, fails_at;
};

static enum prt_status fail_later(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct failing *f = context;
    (void)packets;
    (void)count;
    if (++f->calls < f->fails_at) return PRT_OK;
    return prt_error_set(error, f->status, "call %u fails", f->calls);
}

/* The ring does not hold the stream: there are several calls. */
static void a_failing_sink_ends_the_run(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    for (uint32_t call = 1; call <= 3; call++) {
        const enum prt_status statuses[] = {PRT_E_WRITE, PRT_E_CLOSED_PIPE};
        for (size_t i = 0; i < 2; i++) {
            struct count from = {.end = 1500000};
            struct failing to = {statuses[i], 0, call};
            struct prt_run *run = create(program, NULL, NULL, true);
            assert_int_equal(prt_run_bind_input(run, 0, give_numbers, &from, NULL), PRT_OK);
            assert_int_equal(prt_run_bind_output(run, 1, fail_later, &to, NULL), PRT_OK);
            struct outcome o = execute(run);
            assert_int_equal(o.status, statuses[i]);
            assert_int_equal(to.calls, call);
            if (i == 0) assert_non_null(strstr(o.message, "fails"));
        }
    }
    prt_program_free(program);
}

/* The sink gets the packets before a fault, and its own error precedes the fault. */
static void a_sink_that_fails_goes_before_a_later_fault(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&divide, 0);
    host_ramp(&in, 1000);
    for (size_t i = 0; i < 1000; i++)
        in.packets[i] = i == 700 ? 0 : 1;
    out = (struct host){.count = 0};
    assert_int_equal(execute(create(program, &in, &out, true)).status, PRT_E_FAULT);
    size_t given = out.count;
    assert_int_equal(given, 700); /* all that the firings before it have written */
    in.at = 0;
    struct failing sink = {PRT_E_WRITE, 0, 1};
    struct prt_run *run = create(program, &in, NULL, true);
    assert_int_equal(prt_run_bind_output(run, 1, fail_later, &sink, NULL), PRT_OK);
    assert_int_equal(execute(run).status, PRT_E_WRITE);
    sink = (struct failing){PRT_E_CLOSED_PIPE, 0, 1};
    in.at = 0;
    run = create(program, &in, NULL, true);
    assert_int_equal(prt_run_bind_output(run, 1, fail_later, &sink, NULL), PRT_OK);
    assert_int_equal(execute(run).status, PRT_E_CLOSED_PIPE);
    prt_program_free(program);
}

/* ---- waiting ---- */

struct blocked {
    sem_t woken;
    size_t given;
};

static enum prt_status give_and_block(void *context, void *packets, size_t capacity, size_t *count,
                                      struct prt_error *error)
{
    struct blocked *b = context;
    if (b->given == 0) {
        memset(packets, 0, capacity * sizeof(int32_t));
        b->given = *count = capacity < DEPTH ? capacity : DEPTH;
        return PRT_OK;
    }
    while (sem_wait(&b->woken) != 0 && errno == EINTR) {
    }
    return prt_error_set(error, PRT_E_INTERRUPTED, "woken");
}

static void wake(void *context)
{
    sem_post(&((struct blocked *)context)->woken);
}

/* The division by zero in its first packets ends the run while the source waits for more. */
static void a_source_that_waits_is_woken_at_the_end(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&divide, 0);
    struct blocked blocked = {.given = 0};
    assert_int_equal(sem_init(&blocked.woken, 0, 0), 0);
    struct prt_run *run = create(program, NULL, &out, false);
    out.count = 0;
    assert_int_equal(prt_run_bind_input(run, 0, give_and_block, &blocked, NULL), PRT_OK);
    assert_int_equal(prt_run_give_thread(run, 0, wake, &blocked, NULL), PRT_OK);
    assert_int_equal(execute(run).status, PRT_E_FAULT);
    assert_int_equal(blocked.given, DEPTH);
    sem_destroy(&blocked.woken);
    prt_program_free(program);
}

struct interrupting {
    struct prt_run *run;
    uint64_t given;
};

static enum prt_status give_and_interrupt(void *context, void *packets, size_t capacity,
                                          size_t *count, struct prt_error *error)
{
    struct interrupting *i = context;
    (void)error;
    memset(packets, 1, capacity * sizeof(int32_t));
    *count = capacity;
    i->given += capacity;
    if (i->given > 100000) prt_run_interrupt(i->run);
    return PRT_OK;
}

static enum prt_status add_up(void *context, const void *packets, size_t count,
                              struct prt_error *error)
{
    uint64_t *total = context;
    (void)packets;
    (void)error;
    *total += count;
    return PRT_OK;
}

static void what_an_interrupted_source_has_brought_is_processed(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    struct interrupting source = {.run = create(program, NULL, NULL, true)};
    uint64_t total = 0;
    assert_int_equal(prt_run_bind_input(source.run, 0, give_and_interrupt, &source, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(source.run, 1, add_up, &total, NULL), PRT_OK);
    assert_int_equal(execute(source.run).status, PRT_E_INTERRUPTED);
    assert_true(source.given > 100000);
    assert_int_equal(total, source.given);
    prt_program_free(program);
}

static void ports_that_are_none_or_use_memory_have_no_thread(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    struct prt_run *run = create(program, NULL, NULL, true);
    int32_t from[200], to[200];
    size_t count;
    for (int32_t i = 0; i < 200; i++)
        from[i] = i;
    assert_int_equal(prt_run_give_thread(run, 2, NULL, NULL, NULL), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_input_memory(run, 0, from, 200, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output_memory(run, 1, to, 200, &count, NULL), PRT_OK);
    for (uint32_t port = 0; port < 2; port++)
        assert_int_equal(prt_run_give_thread(run, port, NULL, NULL, NULL), PRT_OK);
    assert_int_equal(execute(run).status, PRT_OK);
    assert_int_equal(count, 200);
    assert_memory_equal(from, to, sizeof from);
    prt_program_free(program);
}

/* The source has its next packets only once the sink has got those before. */
struct meeting {
    sem_t taken;
    int32_t given, seen;
};

static enum prt_status give_after_taking(void *context, void *packets, size_t capacity,
                                         size_t *count, struct prt_error *error)
{
    struct meeting *m = context;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    for (; m->seen < m->given; m->seen++)
        if (sem_timedwait(&m->taken, &end) != 0)
            return prt_error_set(error, PRT_E_READ, "the sink gets nothing");
    memset(packets, 0, capacity * sizeof(int32_t));
    *count = m->given < 5 * DEPTH ? capacity : 0;
    m->given += (int32_t)*count;
    return PRT_OK;
}

static enum prt_status take_and_tell(void *context, const void *packets, size_t count,
                                     struct prt_error *error)
{
    struct meeting *m = context;
    (void)packets, (void)error;
    for (size_t i = 0; i < count; i++)
        sem_post(&m->taken);
    return PRT_OK;
}

static void a_sink_gets_packets_while_the_source_waits(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    struct meeting meeting = {.given = 0};
    struct prt_run *run = create(program, NULL, NULL, false);
    sem_init(&meeting.taken, 0, 0);
    assert_int_equal(prt_run_bind_input(run, 0, give_after_taking, &meeting, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, take_and_tell, &meeting, NULL), PRT_OK);
    assert_int_equal(prt_run_give_thread(run, 1, NULL, NULL, NULL), PRT_OK);
    struct outcome o = execute(run);
    assert_string_equal(o.message, "");
    assert_int_equal(o.out_packets, 5 * DEPTH);
    sem_destroy(&meeting.taken);
    prt_program_free(program);
}

/* A packet is larger than what a source is otherwise asked for at a time. */
enum { WIDE_BYTES = (256 << 10) + 4, WIDE_PACKETS = 23 };

static int32_t copy_wide(const struct kernel_batch *batch)
{
    memcpy(batch->out[0], batch->in[0], batch->count * WIDE_BYTES);
    return KERNEL_OK;
}

static enum prt_status give_wide(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    uint8_t *given = context;
    (void)error;
    for (*count = 0; *count < capacity && *given < WIDE_PACKETS; ++*count)
        memset((uint8_t *)packets + *count * WIDE_BYTES, ++*given, WIDE_BYTES);
    return PRT_OK;
}

static enum prt_status take_wide(void *context, const void *packets, size_t count,
                                 struct prt_error *error)
{
    uint8_t *taken = context;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *packet = (const uint8_t *)packets + i * WIDE_BYTES;
        assert_int_equal(packet[0], ++*taken);
        assert_memory_equal(packet, packet + 1, WIDE_BYTES - 1);
    }
    return PRT_OK;
}

static void wide_packets_are_brought_one_by_one(void **unused)
{
    (void)unused;
    static const struct prt_image_kernel wide = {.run = copy_wide};
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 3, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 3, CONTAINER_OUTER_OUT);
    m->buffers[x].width_bytes = m->buffers[y].width_bytes = WIDE_BYTES;
    uint32_t node = made_node(m, "k", 0);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &wide);
    struct prt_run *run = create(program, NULL, NULL, true);
    uint8_t given = 0, taken = 0;
    assert_int_equal(prt_run_bind_input(run, 0, give_wide, &given, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, take_wide, &taken, NULL), PRT_OK);
    assert_int_equal(execute(run).status, PRT_OK);
    assert_int_equal(given, WIDE_PACKETS);
    assert_int_equal(taken, WIDE_PACKETS);
    prt_program_free(program);
}

static void an_out_port_without_a_sink_has_no_thread(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&copy, 0);
    struct prt_run *run = create(program, &in, NULL, true);
    host_ramp(&in, 1000);
    struct outcome o = execute(run);
    assert_int_equal(o.status, PRT_OK);
    assert_int_equal(o.out_packets, 1000);
    prt_program_free(program);
}

TEST_MAIN("port_thread", cmocka_unit_test(results_and_figures_are_the_same),
          cmocka_unit_test(rings_go_round),
          cmocka_unit_test(a_failing_source_is_heard_behind_its_packets),
          cmocka_unit_test(a_failing_sink_ends_the_run),
          cmocka_unit_test(a_sink_that_fails_goes_before_a_later_fault),
          cmocka_unit_test(a_source_that_waits_is_woken_at_the_end),
          cmocka_unit_test(what_an_interrupted_source_has_brought_is_processed),
          cmocka_unit_test(ports_that_are_none_or_use_memory_have_no_thread),
          cmocka_unit_test(a_sink_gets_packets_while_the_source_waits),
          cmocka_unit_test(wide_packets_are_brought_one_by_one),
          cmocka_unit_test(an_out_port_without_a_sink_has_no_thread))
