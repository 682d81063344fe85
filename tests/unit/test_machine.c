/* SPDX-License-Identifier: MIT */
/* The scheduler core by itself: a host of a few lines serves it, and its block can be moved wherever it suspends. */
#include "tests/test.h"

#include "core/ends.h"
#include "core/machine.h"
#include "runtime/host/pipert_run.h"
#include "model/block.h"
#include "tests/conform/pipelines.h"

#include <stdlib.h>

static const struct prt_image_kernel copies[] = {{.run = kernel_copy}, {.run = kernel_copy}};

enum { DEPTH = 8, PACKETS = 21, OUTCOMES_MAX = 200, STAGES_MAX = 3 };

struct served {
    struct core *core;
    struct core_environment environment;
    uint64_t to_give, given, taken;
    bool moves;                /* the block moves at each outcome */
    bool in_flight;            /* launches complete at the next wait */
    bool fails;                /* each wait fails */
    enum kernel_status status; /* of each launch */
    uint32_t waiting[STAGES_MAX], waiting_count, launches;
    uint32_t keeps; /* the batch of the stage before this one stays in flight in the next wait */
    bool full_at[STAGES_MAX]; /* the queue is full when the finish of that stage comes */
    enum core_outcome outcomes[OUTCOMES_MAX];
    uint32_t outcome_count;
};

/* ---- a device that executes at once, or when it is waited for ---- */

static void open_windows(void *context, uint32_t stage, bool finish)
{
    (void)context, (void)stage, (void)finish;
}

static bool launch(void *context, uint32_t stage, bool finish)
{
    struct served *h = context;
    assert_false(finish);
    h->launches++;
    if (h->in_flight)
        h->waiting[h->waiting_count++] = stage;
    else
        core_completions(h->core)[0] =
            (struct core_completion){.object = stage, .kernel_status = h->status};
    return !h->in_flight;
}

static enum core_taken enqueue(void *context, uint32_t queue, const union dispatch_packet *packet)
{
    struct served *h = context;
    uint32_t object = (uint32_t)packet->full.kernel_object, stages = h->core->stage_count;
    (void)queue;
    if (object >= stages && h->full_at[object - stages]) {
        h->full_at[object - stages] = false;
        return CORE_BUSY;
    }
    h->waiting[h->waiting_count++] = object;
    return CORE_TAKEN;
}

static bool wait_for_completions(void *context, bool until_arrival, uint32_t *count)
{
    struct served *h = context;
    uint32_t kept_count = 0;
    (void)until_arrival;
    assert_true(h->waiting_count > 0);
    if (h->fails) return false;
    *count = 0;
    for (uint32_t i = 0; i < h->waiting_count; i++) {
        uint32_t object = h->waiting[i], stages = h->core->stage_count;
        if (object + 1 == h->keeps) {
            h->waiting[kept_count++] = object;
            continue;
        }
        /* a finish appends a packet */
        if (object >= stages)
            core_produced(h->core)[core_stage(h->core, object - stages)->first_output] = 1;
        core_completions(h->core)[(*count)++] = (struct core_completion){.object = object};
    }
    h->waiting_count = kept_count;
    h->keeps = 0;
    return true;
}

static void advance(void *context, uint64_t cycles)
{
    (void)context, (void)cycles;
}

/* ---- the host ---- */

static struct core *make_block(struct prt_program *program)
{
    uint32_t node_stage[STAGES_MAX];
    struct core *c = prt_block_create(&program->container, 8, node_stage);
    assert_non_null(c);
    for (uint32_t i = 0; i < c->buffer_count; i++)
        core_buffers(c)[i].fifo.ring_bytes = DEPTH * sizeof(int32_t);
    uint32_t first = 0;
    while (!core_executes(core_code(c)[first].opcode))
        first++;
    c->queue_count = 1;
    c->open_sinks = 1;
    c->direct = true;
    prt_block_find_order(c);
    core_begin(c, first);
    return c;
}

/* Gives what there is, and ends the stream with the last packet. */
static void fill(struct served *h)
{
    struct core_buffer *buffer = &core_buffers(h->core)[h->core->request_buffer];
    uint64_t room = core_fifo_room(&buffer->fifo), left = h->to_give - h->given;
    uint64_t packets = room < left ? room : left;
    core_fifo_claim(&buffer->fifo, packets);
    core_fifo_commit(&buffer->fifo, packets);
    h->given += packets;
    if (packets < room)
        core_close(h->core, buffer);
    else
        core_readers_changed(h->core, buffer);
}

static void drain(struct served *h)
{
    for (uint32_t i; (i = core_take_undrained(h->core)) != CORE_NONE;) {
        struct core_fifo *fifo = &core_buffers(h->core)[i].fifo;
        h->taken += core_fifo_held(fifo, 0);
        core_fifo_release(fifo, 0, core_fifo_held(fifo, 0));
    }
}

/* The block goes to other memory; the old one is spoilt. */
static void move(struct served *h)
{
    size_t bytes = (size_t)h->core->bytes;
    struct core *moved = malloc(bytes);
    assert_non_null(moved);
    memcpy(moved, h->core, bytes);
    memset(h->core, 0xa5, bytes);
    free(h->core);
    h->core = moved;
}

static void run(struct served *h)
{
    h->environment = (struct core_environment){.context = h,
                                               .open = open_windows,
                                               .launch = launch,
                                               .enqueue = enqueue,
                                               .wait = wait_for_completions,
                                               .advance = advance};
    enum core_outcome outcome;
    do {
        outcome = core_resume(h->core, &h->environment);
        assert_true(h->outcome_count < OUTCOMES_MAX);
        h->outcomes[h->outcome_count++] = outcome;
        if (h->moves) move(h);
        if (outcome == CORE_FILL) fill(h);
        if (outcome == CORE_DRAIN) drain(h);
        if (outcome == CORE_ASKED) atomic_store(&h->core->asked, false);
    } while (outcome != CORE_OVER);
}

static struct prt_program *load_chain(void)
{
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, DEPTH, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t node = made_node(m, i == 0 ? "a" : "b", 0);
        made_input(m, node, i == 0 ? x : t, 1, 1);
        made_output(m, node, i == 0 ? t : y, 1, 0);
    }
    made_loop(m);
    return pipelines_load(m, copies);
}

static void run_chain(struct served *h)
{
    struct prt_program *program = load_chain();
    h->core = make_block(program);
    run(h);
    prt_program_free(program);
}

static void all_packets_pass_by_a_host_of_a_few_lines(void **unused)
{
    (void)unused;
    struct served h = {.to_give = PACKETS};
    run_chain(&h);
    assert_int_equal(h.taken, PACKETS);
    assert_int_equal(h.core->failure.kind, CORE_GOOD);
    assert_true(core_attends(h.core, CORE_HAS_HALTED));
    assert_int_equal(h.outcomes[0], CORE_FILL);
    assert_int_equal(h.outcomes[1],
                     CORE_DRAIN); /* eight packets through both stages, and no other call */
    assert_int_equal(core_resume(h.core, &h.environment), CORE_OVER);
    free(h.core);
}

static void a_block_can_move_wherever_it_suspends(void **unused)
{
    (void)unused;
    struct served stays = {.to_give = PACKETS}, moves = {.to_give = PACKETS, .moves = true};
    run_chain(&stays);
    run_chain(&moves);
    assert_int_equal(moves.taken, PACKETS);
    assert_int_equal(moves.core->instructions, stays.core->instructions);
    assert_int_equal(moves.outcome_count, stays.outcome_count);
    assert_memory_equal(moves.outcomes, stays.outcomes,
                        stays.outcome_count * sizeof *stays.outcomes);
    free(stays.core);
    free(moves.core);
}

static void a_launch_in_flight_is_waited_for(void **unused)
{
    (void)unused;
    struct served h = {.to_give = PACKETS, .in_flight = true, .moves = true};
    struct prt_program *program = load_chain();
    h.core = make_block(program);
    core_stage(h.core, 1)->queue =
        1; /* so that the second stage does not see packets before they are there */
    h.core->queue_count = 2;
    prt_block_find_order(h.core);
    run(&h);
    assert_int_equal(h.taken, PACKETS);
    assert_int_equal(h.core->in_flight, 0);
    prt_program_free(program);
    free(h.core);
}

static void a_host_that_asks_is_returned_to_before_the_next_instruction(void **unused)
{
    (void)unused;
    struct served h = {.to_give = PACKETS};
    struct prt_program *program = load_chain();
    h.core = make_block(program);
    atomic_store(&h.core->asked, true);
    run(&h);
    assert_int_equal(h.outcomes[0], CORE_ASKED);
    assert_int_equal(h.taken, PACKETS);
    prt_program_free(program);
    free(h.core);
}

static void a_host_that_gives_up_gets_the_end_of_the_run(void **unused)
{
    (void)unused;
    struct served h = {.to_give = PACKETS};
    struct prt_program *program = load_chain();
    h.core = make_block(program);
    assert_false(core_fail(h.core, CORE_STOPPED, CORE_NONE, 0));
    assert_false(core_fail(h.core, CORE_BAD_RUN, 0, 0)); /* the first failure is kept */
    run(&h);
    assert_int_equal(h.outcome_count, 1);
    assert_int_equal(h.core->failure.kind, CORE_STOPPED);
    assert_int_equal(h.launches, 0);
    prt_program_free(program);
    free(h.core);
}

static void a_fault_that_ends_a_run_at_once_is_its_failure(void **unused)
{
    (void)unused;
    struct served h = {.to_give = PACKETS, .status = KERNEL_FAULT_DIVISION};
    struct prt_program *program = load_chain();
    h.core = make_block(program);
    h.core->ends_at_once = true;
    run(&h);
    assert_int_equal(h.core->failure.kind, CORE_FAULT);
    assert_int_equal(h.core->failure.stage, 0);
    assert_int_equal(h.launches, 1);
    prt_program_free(program);
    free(h.core);
}

/* The verifier refuses such a program: here the jump after the dispatch becomes a halt. */
static void halt_with_a_launch_in_flight_waits_for_it(void **unused)
{
    (void)unused;
    struct prt_program *program = load_chain();
    for (int fails = 0; fails < 2; fails++) {
        struct served h = {.to_give = 3, .in_flight = true, .fails = fails};
        h.core = make_block(program);
        struct core_instruction *at = core_code(h.core);
        while (at->opcode != SCHED_DISPATCH)
            at++;
        at[1].opcode = SCHED_HALT;
        run(&h);
        assert_int_equal(h.core->failure.kind, fails ? CORE_BAD_DEVICE : CORE_BAD_HALT);
        assert_int_equal(h.launches, 1);
        free(h.core);
    }
    prt_program_free(program);
}

/* x -> three stages with a finish -> three out-ports, in packets. */
static struct prt_program *load_finishes(void)
{
    static const struct prt_image_kernel finishes[] = {{.run = kernel_copy, .finish = kernel_copy},
                                                       {.run = kernel_copy, .finish = kernel_copy},
                                                       {.run = kernel_copy, .finish = kernel_copy}};
    static const char *const names[] = {"a", "b", "c"}, *const ports[] = {"ya", "yb", "yc"};
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t y = made_buffer(m, ports[i], SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, names[i], CONTAINER_NODE_FINISH);
        made_input(m, node, x, 1, 1);
        made_output(m, node, y, 1, 1);
    }
    made_loop(m);
    return pipelines_load(m, finishes);
}

/* In one `ends`, b's last batch completes while the queue is full for the finish of a, and b's finish while it is full for
 * that of c: the host is given both at once. */
static void packets_of_a_batch_and_its_finish_are_drained_at_once(void **unused)
{
    (void)unused;
    struct served h = {.to_give = 3, .keeps = 2, .full_at = {[0] = true, [2] = true}};
    struct prt_program *program = load_finishes();
    h.core = make_block(program);
    h.core->direct = false;
    h.core->open_sinks = 3;
    run(&h);
    assert_int_equal(h.core->failure.kind, CORE_GOOD);
    assert_int_equal(h.taken, 3 * (3 + 1));
    assert_false(h.full_at[0] || h.full_at[2]);
    uint32_t drains = 0;
    for (uint32_t i = 0; i < h.outcome_count; i++)
        drains += h.outcomes[i] == CORE_DRAIN;
    assert_int_equal(drains, 3); /* of a and c; of b; of the finishes of a and c */
    prt_program_free(program);
    free(h.core);
}

static void sizes_beyond_an_address_are_none(void **unused)
{
    (void)unused;
    const struct core_shape small = {.stages = 3, .buffers = 2};
    const struct core_shape many = {.numbers = UINT64_MAX}, large = {.members = SIZE_MAX / 8};
    const struct core_shape product = {.numbers = UINT64_MAX / 2};
    const struct core_shape sum = {.numbers = UINT64_MAX / 8 - 1};
    assert_true(core_size(&small) > sizeof(struct core));
    assert_int_equal(core_size(&many), 0);
    assert_int_equal(core_size(&large), 0);
    assert_int_equal(core_size(&product), 0);
    assert_int_equal(core_size(&sum), 0);
}

TEST_MAIN("machine", cmocka_unit_test(all_packets_pass_by_a_host_of_a_few_lines),
          cmocka_unit_test(a_block_can_move_wherever_it_suspends),
          cmocka_unit_test(a_launch_in_flight_is_waited_for),
          cmocka_unit_test(a_host_that_asks_is_returned_to_before_the_next_instruction),
          cmocka_unit_test(a_host_that_gives_up_gets_the_end_of_the_run),
          cmocka_unit_test(a_fault_that_ends_a_run_at_once_is_its_failure),
          cmocka_unit_test(halt_with_a_launch_in_flight_waits_for_it),
          cmocka_unit_test(packets_of_a_batch_and_its_finish_are_drained_at_once),
          cmocka_unit_test(sizes_beyond_an_address_are_none))
