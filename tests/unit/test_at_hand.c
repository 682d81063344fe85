/* SPDX-License-Identifier: MIT */
/* In-ports at hand: when the end of a stream is heard, and how many packets are counted after the run. */
#include "tests/test.h"

#include "runtime/sched/inport.h"
#include "tests/conform/pipelines.h"

/* ---- hosts ---- */

/* Gives `count` packets first, first + 1, ..., then says how its stream ends. */
struct source {
    int32_t first;
    size_t count, at;
    enum prt_status end;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct source *s = context;
    size_t left = s->count - s->at;
    *count = left < capacity ? left : capacity;
    for (size_t i = 0; i < *count; i++)
        ((int32_t *)packets)[i] = s->first + (int32_t)(s->at + i);
    s->at += *count;
    if (*count > 0 || s->end == PRT_OK) return PRT_OK;
    return prt_error_set(error, s->end, "the stream breaks");
}

static void bind(struct prt_run *run, const char *name, struct source *source, bool at_hand)
{
    uint32_t port = prt_program_find_port(prt_run_program(run), name);
    assert_int_equal(prt_run_bind_input(run, port, give, source, NULL), PRT_OK);
    if (at_hand) assert_int_equal(prt_run_input_at_hand(run, port, NULL), PRT_OK);
}

static void bind_sink(struct prt_run *run, const char *name, struct host *sink)
{
    uint32_t port = prt_program_find_port(prt_run_program(run), name);
    sink->count = 0;
    assert_int_equal(prt_run_bind_output(run, port, host_write, sink, NULL), PRT_OK);
}

static struct prt_run *create(const struct prt_program *program)
{
    const struct prt_run_options options = {.host_threads = 1};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    return run;
}

static struct prt_buffer_statistics buffer_of(const struct prt_run *run, const char *name)
{
    struct prt_buffer_statistics statistics;
    for (uint32_t i = 0; prt_run_buffer(run, i, &statistics); i++)
        if (strcmp(statistics.name, name) == 0) return statistics;
    fail_msg("no buffer %s", name);
    return statistics;
}

static struct prt_leftover_statistics leftover_of(const struct prt_run *run, const char *name)
{
    struct prt_leftover_statistics statistics;
    for (uint32_t i = 0; prt_run_leftover(run, i, &statistics); i++)
        if (strcmp(statistics.buffer, name) == 0) return statistics;
    fail_msg("no buffer %s", name);
    return statistics;
}

/* ---- a join that starves ---- */

enum { DEPTH = 8, FIRINGS = 3 };

/* Beside the join: total reads x, too, pass reads w, and divide reads w and faults in firing FAULTS_AT. */
enum part { TOTAL = 1, PASS = 2, DIVIDE = 4 };
enum { FAULTS_AT = 10 };

/* join takes a packet of `back` and one of x.  `back` has FIRINGS packets at the beginning and gets no others: `delay`
 * wants to see one more than join can give it. */
static struct prt_program *starving(unsigned parts)
{
    struct prt_image_kernel kernels[5] = {
        {.run = kernel_add}, {.run = kernel_copy}, {.run = kernel_copy}};
    uint32_t nodes = 3;
    const int32_t zero = 0;
    struct made *m = made_create("starving", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t back = made_buffer(m, "back", SCALAR_I32, FIRINGS, CONTAINER_INNER);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    made_initial(m, back, FIRINGS, &zero, sizeof zero);
    uint32_t join = made_node(m, "join", CONTAINER_NODE_FAULTS);
    made_input(m, join, back, 1, 1);
    made_input(m, join, x, 1, 1);
    made_output(m, join, s, 1, 0);
    uint32_t delay = made_node(m, "delay", 0);
    made_input(m, delay, s, 1, FIRINGS + 1);
    made_output(m, delay, back, 1, 0);
    uint32_t copies = made_node(m, "copy", 0);
    made_input(m, copies, s, 1, 1);
    made_output(m, copies, y, 1, 0);
    if (parts & TOTAL) {
        uint32_t z = made_buffer(m, "z", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, "total", CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH);
        made_input(m, node, x, 1, 1);
        made_output(m, node, z, 1, 2);
        kernels[nodes++] =
            (struct prt_image_kernel){.run = kernel_total, .finish = kernel_total_finish};
    }
    if (parts & (PASS | DIVIDE)) {
        bool faults = (parts & DIVIDE) != 0;
        uint32_t w = made_buffer(m, "w", SCALAR_I32, 2, CONTAINER_OUTER_IN);
        uint32_t v = made_buffer(m, "v", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, "pass", faults ? CONTAINER_NODE_FAULTS : 0);
        made_input(m, node, w, 1, 1);
        made_output(m, node, v, 1, 0);
        kernels[nodes++] = (struct prt_image_kernel){.run = faults ? kernel_divide : kernel_copy};
    }
    made_loop(m);
    return pipelines_load(m, kernels);
}

/* x takes in DEPTH packets more than join fires.  While it is open the run has stalled; once it is closed, its packets
 * are left over.  At a full buffer the end of the stream closes the port, and an error is not heard. */
static void expect_starved(const struct prt_program *program, unsigned parts, size_t count,
                           enum prt_status end)
{
    static struct host y, z;
    const size_t most = FIRINGS + DEPTH;
    struct source source = {.count = count, .end = end};
    struct source w = {.first = -FAULTS_AT, .count = 2 * FAULTS_AT};
    struct prt_run *run = create(program);
    bind(run, "x", &source, true);
    bind_sink(run, "y", &y);
    if (parts & TOTAL) bind_sink(run, "z", &z);
    if (parts & DIVIDE) bind(run, "w", &w, false);
    enum prt_status expected = end == PRT_OK && count <= most ? PRT_OK : PRT_E_STALL;
    if (count < most && end != PRT_OK) expected = end;
    if ((parts & DIVIDE) && expected != PRT_E_READ) expected = PRT_E_FAULT;
    enum prt_status status = prt_run_execute(run, NULL);
    if (status != expected)
        fail_msg("parts %u, %zu packets, then %d: status %d, not %d", parts, count, (int)end,
                 (int)status, (int)expected);
    prt_run_destroy(run);
    if (status == PRT_E_READ) return;
    assert_int_equal(y.count, count < FIRINGS ? count : FIRINGS);
    if (!(parts & TOTAL)) return;
    bool finishes = count < most || (count == most && end == PRT_OK);
    assert_int_equal(z.count, (count < most ? count : most) + (finishes ? 2 : 0));
}

/* Also where a fault waits for the join, which might fault before it. */
static void whether_a_run_has_stalled_follows_from_the_streams(void **unused)
{
    (void)unused;
    static const enum prt_status ends[] = {PRT_OK, PRT_E_READ, PRT_E_INTERRUPTED};
    static const unsigned parts[] = {0, TOTAL, DIVIDE, TOTAL | DIVIDE};
    for (size_t p = 0; p < 4; p++) {
        struct prt_program *program = starving(parts[p]);
        for (size_t e = 0; e < 3; e++)
            for (size_t count = 0; count <= 2 * DEPTH; count++)
                expect_starved(program, parts[p], count, ends[e]);
        prt_program_free(program);
    }
}

/* divide faults and keeps its packets back from add, whose other input is w: if that has no more packets either, nothing
 * demands the fault, and if its source fails, this comes first. */
static void a_port_is_filled_before_a_fault_is_demanded(void **unused)
{
    (void)unused;
    static const struct prt_image_kernel kernels[] = {{.run = kernel_divide}, {.run = kernel_add}};
    static const struct {
        size_t count;
        enum prt_status end, status;
    } cases[] = {{FAULTS_AT, PRT_OK, PRT_OK},
                 {FAULTS_AT, PRT_E_READ, PRT_E_READ},
                 {FAULTS_AT + 1, PRT_OK, PRT_E_FAULT},
                 {FAULTS_AT + 1, PRT_E_READ, PRT_E_READ},
                 {FAULTS_AT + FAULTS_AT / 2, PRT_E_READ, PRT_E_FAULT}};
    struct made *m = made_create("held", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t w = made_buffer(m, "w", SCALAR_I32, FAULTS_AT / 2, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "divide", CONTAINER_NODE_FAULTS);
    made_input(m, node, x, 1, 1);
    made_output(m, node, t, 1, 0);
    node = made_node(m, "add", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, w, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, kernels);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct host y_host;
        struct source of_x = {.first = -FAULTS_AT, .count = 2 * FAULTS_AT};
        struct source of_w = {.count = cases[i].count, .end = cases[i].end};
        struct prt_run *run = create(program);
        bind(run, "x", &of_x, false);
        bind(run, "w", &of_w, false);
        bind_sink(run, "y", &y_host);
        assert_int_equal(prt_run_execute(run, NULL), cases[i].status);
        assert_int_equal(y_host.count, FAULTS_AT);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

/* The join keeps x full while w ends by an interrupt: the rest of x is counted beside the buffer. */
static void the_rest_behind_a_full_buffer_is_counted(void **unused)
{
    (void)unused;
    static struct host sinks[3];
    struct prt_program *program = starving(TOTAL | PASS);
    for (size_t count = 0; count <= 40; count++) {
        for (int breaks = 0; breaks < 2; breaks++) {
            struct source x = {.count = count, .end = breaks ? PRT_E_READ : PRT_OK};
            struct source w = {.count = 64, .end = PRT_E_INTERRUPTED};
            struct prt_run *run = create(program);
            bind(run, "x", &x, true);
            bind(run, "w", &w, false);
            bind_sink(run, "y", &sinks[0]);
            bind_sink(run, "z", &sinks[1]);
            bind_sink(run, "v", &sinks[2]);
            enum prt_status status = prt_run_execute(run, NULL);
            if (breaks && count < FIRINGS + DEPTH) {
                assert_int_equal(status, PRT_E_READ);
            } else {
                struct prt_leftover_statistics of_x = leftover_of(run, "x");
                assert_int_equal(status, PRT_E_INTERRUPTED);
                assert_int_equal(of_x.stranded_packets, count < FIRINGS ? 0 : count - FIRINGS);
                assert_int_equal(of_x.more, breaks);
                if (count > FIRINGS) {
                    assert_string_equal(of_x.stranded_reader, "join");
                    assert_string_equal(of_x.stranded_by, "back");
                }
                assert_int_equal(sinks[2].count, 64);
            }
            prt_run_destroy(run);
        }
    }
    prt_program_free(program);
}

/* x has `count` packets, of which the list of arrivals does not name the last `lacking`. */
static void expect_arrivals(const struct prt_program *program, unsigned parts, size_t count,
                            size_t lacking)
{
    enum { MOST = FIRINGS + DEPTH, STEP = 1000000 };
    static struct host y, z;
    uint64_t cycles[2 * DEPTH], packets[2 * DEPTH];
    struct source source = {.count = count};
    struct prt_run_statistics statistics;
    struct prt_run *run = create(program);
    for (size_t i = 0; i < count; i++) {
        cycles[i] = STEP * (i + 1);
        packets[i] = 1;
    }
    bind(run, "x", &source, true);
    bind_sink(run, "y", &y);
    if (parts & TOTAL) bind_sink(run, "z", &z);
    assert_int_equal(prt_run_input_arrivals(run, prt_program_find_port(program, "x"), cycles,
                                            packets, count - lacking, NULL, NULL),
                     PRT_OK);
    enum prt_status expected = count > MOST ? PRT_E_STALL : PRT_OK;
    if (lacking && count <= MOST) expected = PRT_E_FORMAT;
    assert_int_equal(prt_run_execute(run, NULL), expected);
    prt_run_statistics(run, &statistics);
    if (expected == PRT_OK) assert_true(statistics.total_cycles >= STEP * count);
    if (expected != PRT_E_FORMAT) assert_int_equal(y.count, FIRINGS < count ? FIRINGS : count);
    prt_run_destroy(run);
}

/* The join starves.  x is filled although no stage lacks its packets: these arrive, and so does its end.  Packets that the
 * list of arrivals does not name are refused. */
static void packets_and_ends_of_full_ports_arrive(void **unused)
{
    (void)unused;
    static const unsigned parts[] = {0, TOTAL};
    for (size_t p = 0; p < 2; p++) {
        struct prt_program *program = starving(parts[p]);
        for (size_t count = 2; count <= 2 * DEPTH; count++)
            for (size_t lacking = 0; lacking < 2; lacking++)
                expect_arrivals(program, parts[p], count, lacking);
        prt_program_free(program);
    }
}

/* ---- what is counted ---- */

/* x and w -> add -> y */
static struct prt_program *joined(void)
{
    static const struct prt_image_kernel add = {.run = kernel_add};
    struct made *m = made_create("joined", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 4096, CONTAINER_OUTER_IN);
    uint32_t w = made_buffer(m, "w", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, x, 1, 1);
    made_input(m, node, w, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    return pipelines_load(m, &add);
}

/* Stops after so many packets. */
static int32_t run_until(const struct kernel_batch *batch, uint64_t count)
{
    uint64_t left = count > batch->first_firing ? count - batch->first_firing : 0;
    *batch->completed = left < batch->count ? left : batch->count;
    batch->produced[0] = *batch->completed;
    for (uint64_t i = 0; i < *batch->completed; i++)
        ((int32_t *)batch->out[0])[i] = (int32_t)(batch->first_firing + i);
    return *batch->completed < batch->count ? KERNEL_STOPPED : KERNEL_OK;
}

static int32_t six(const struct kernel_batch *batch)
{
    return run_until(batch, 6);
}

static int32_t seven(const struct kernel_batch *batch)
{
    return run_until(batch, 7);
}

static int32_t twelve(const struct kernel_batch *batch)
{
    return run_until(batch, 12);
}

/* y = a + b, of the first of four packets each */
static int32_t add_fours(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        ((int32_t *)batch->out[0])[i] =
            ((const int32_t *)batch->in[0])[4 * i] + ((const int32_t *)batch->in[1])[4 * i];
    return KERNEL_OK;
}

/* Two sources -> add_fours -> y; without a kernel for the first one it is the in-port a. */
static struct prt_program *fours(int32_t (*first)(const struct kernel_batch *),
                                 int32_t (*second)(const struct kernel_batch *))
{
    struct prt_image_kernel kernels[3];
    struct made *m = made_create("fours", "sim16");
    uint32_t a =
        made_buffer(m, "a", SCALAR_I32, 16, first != NULL ? CONTAINER_INNER : CONTAINER_OUTER_IN);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, 16, CONTAINER_INNER), nodes = 0;
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    for (int i = 0; i < 2; i++) {
        int32_t (*run)(const struct kernel_batch *) = i == 0 ? first : second;
        if (run == NULL) continue;
        uint32_t node = made_node(m, i == 0 ? "first" : "second", CONTAINER_NODE_STOPS);
        made_output(m, node, i == 0 ? a : b, 1, 0);
        m->nodes[node].repetitions = 4;
        kernels[nodes++] = (struct prt_image_kernel){.run = run};
    }
    uint32_t node = made_node(m, "fours", 0);
    made_input(m, node, a, 4, 4);
    made_input(m, node, b, 4, 4);
    made_output(m, node, y, 1, 0);
    kernels[nodes] = (struct prt_image_kernel){.run = add_fours};
    made_loop(m);
    return pipelines_load(m, kernels);
}

static struct prt_run *interrupted;

static enum prt_status take_and_interrupt(void *context, const void *packets, size_t count,
                                          struct prt_error *error)
{
    (void)context, (void)packets, (void)count, (void)error;
    prt_run_interrupt(interrupted);
    return PRT_OK;
}

/* x has so many packets, w ten.  `interrupts`: the first packets of y do it. */
static struct prt_leftover_statistics rest_of(size_t count, enum prt_status end, bool interrupts)
{
    static struct host y;
    struct source x = {.count = count, .end = end}, w = {.count = 10};
    struct prt_program *program = joined();
    struct prt_run *run = interrupted = create(program);
    bind(run, "x", &x, true);
    bind(run, "w", &w, true);
    bind_sink(run, "y", &y);
    if (interrupts)
        assert_int_equal(prt_run_bind_output(run, prt_program_find_port(program, "y"),
                                             take_and_interrupt, NULL, NULL),
                         PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK); /* w has ended, so all was done */
    struct prt_leftover_statistics rest = leftover_of(run, "x");
    prt_run_destroy(run);
    prt_program_free(program);
    return rest;
}

/* No more than 2^20 are counted, also where the stream ends in the reading that passes them. */
static void a_rest_is_counted_up_to_its_limit(void **unused)
{
    (void)unused;
    const size_t most = 1 << 20;
    const size_t rests[] = {0, 1, 5000, most - 1, most, most + 1, most + 5, most + 100000};
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        struct prt_leftover_statistics rest = rest_of(10 + rests[i], PRT_OK, false);
        assert_int_equal(rest.stranded_packets, rests[i] < most ? rests[i] : most);
        assert_int_equal(rest.more, rests[i] > most);
    }
}

static void the_rest_of_a_stream_that_breaks_is_not_all(void **unused)
{
    (void)unused;
    struct prt_leftover_statistics rest = rest_of(20000, PRT_E_READ, false);
    assert_int_equal(rest.stranded_packets, 20000 - 10);
    assert_true(rest.more);
}

static void an_interrupted_run_reads_no_rest(void **unused)
{
    (void)unused;
    struct prt_leftover_statistics rest = rest_of(200000, PRT_OK, true);
    assert_true(rest.stranded_packets < 20000);
    assert_true(rest.more);
}

static void wide_packets_are_counted_up_to_their_bytes(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t width, packets;
    } cases[] = {{4, 1 << 20}, {64, 1 << 20}, {65, 1032444}, {1 << 26, 1}, {(1 << 26) + 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core_fifo fifo = {.width_bytes = cases[i].width};
        const struct prt_buffer buffer = {.fifo = &fifo};
        assert_int_equal(prt_inport_countable(&buffer), cases[i].packets);
    }
}

/* Packets in memory are passed over, not copied. */
static void the_rest_of_memory_is_counted(void **unused)
{
    (void)unused;
    enum { COUNT = 20000 }; /* more than the port holds */
    static int32_t packets[COUNT];
    static struct host y;
    struct source w = {.count = 10};
    struct prt_program *program = joined();
    struct prt_run *run = create(program);
    assert_int_equal(
        prt_run_bind_input_memory(run, prt_program_find_port(program, "x"), packets, COUNT, NULL),
        PRT_OK);
    bind(run, "w", &w, true);
    bind_sink(run, "y", &y);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(y.count, 10);
    assert_int_equal(buffer_of(run, "x").leftover_packets, COUNT - 10);
    assert_false(leftover_of(run, "x").more);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* Of two sources what is short by itself counts, unless a port is short, too; how far ahead one is does not. */
static void packets_of_sources_count_where_they_are_too_few(void **unused)
{
    (void)unused;
    static const struct {
        int32_t (*first)(const struct kernel_batch *), (*second)(const struct kernel_batch *);
        uint64_t first_left, second_left;
    } cases[] = {{six, seven, 2, 3}, {six, twelve, 2, 0}, {NULL, seven, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct host y;
        struct source a = {.count = 6};
        struct prt_program *program = fours(cases[i].first, cases[i].second);
        struct prt_run *run = create(program);
        if (cases[i].first == NULL) bind(run, "a", &a, true);
        bind_sink(run, "y", &y);
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        assert_int_equal(y.count, 1);
        assert_int_equal(buffer_of(run, "a").leftover_packets, cases[i].first_left);
        assert_int_equal(buffer_of(run, "b").leftover_packets, cases[i].second_left);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

TEST_MAIN("at_hand", cmocka_unit_test(whether_a_run_has_stalled_follows_from_the_streams),
          cmocka_unit_test(a_port_is_filled_before_a_fault_is_demanded),
          cmocka_unit_test(the_rest_behind_a_full_buffer_is_counted),
          cmocka_unit_test(packets_and_ends_of_full_ports_arrive),
          cmocka_unit_test(a_rest_is_counted_up_to_its_limit),
          cmocka_unit_test(the_rest_of_a_stream_that_breaks_is_not_all),
          cmocka_unit_test(an_interrupted_run_reads_no_rest),
          cmocka_unit_test(wide_packets_are_counted_up_to_their_bytes),
          cmocka_unit_test(the_rest_of_memory_is_counted),
          cmocka_unit_test(packets_of_sources_count_where_they_are_too_few))
