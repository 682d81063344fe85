/* SPDX-License-Identifier: MIT */
/* Runs that are watched: every cycle of every stage is accounted for, events come in order and add
 * up to the statistics, and the stage that limited the run is named. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

#include <assert.h>
#include <stdlib.h>

static struct host in, out;

enum { STAGES_MAX = 4, QUEUES_MAX = 4, BUFFERS_MAX = 8, CUS_MAX = 16 };

/* The record of an observer. */
struct seen {
    const struct prt_run *run;
    uint64_t launches, levels, work_cycles, ends, suspensions;
    uint64_t last_end, last_begin[QUEUES_MAX], last_level[BUFFERS_MAX], last_work_end;
    uint64_t level[BUFFERS_MAX];
    uint64_t busy[STAGES_MAX], firings[STAGES_MAX], cu_cycles[CUS_MAX];
    uint64_t total_cycles;
    unsigned begun, ended;
};

static void on_begin(void *context, const struct prt_run *run)
{
    struct seen *seen = context;
    seen->run = run;
    seen->begun++;
}

static void on_launch(void *context, const struct prt_launch_event *l)
{
    struct seen *seen = context;
    assert(l->stage < STAGES_MAX && l->queue < QUEUES_MAX);
    assert_true(l->enqueued_cycles <= l->begin_cycles);
    assert_int_equal(l->launch_cycles + l->switch_cycles + l->index_cycles + l->execute_cycles +
                         l->device_queue_cycles,
                     l->end_cycles - l->begin_cycles);
    assert_true(l->cleanup_cycles <= l->launch_cycles);
    assert_true(l->end_cycles >= seen->last_end); /* of all, in order of their end */
    seen->last_end = l->end_cycles;
    assert_true(l->begin_cycles >=
                seen->last_begin[l->queue]); /* of a queue, one after the other */
    seen->last_begin[l->queue] = l->end_cycles;
    seen->launches++;
    seen->busy[l->stage] += l->end_cycles - l->begin_cycles;
    seen->firings[l->stage] += l->firings;
    for (uint32_t i = 0; i < l->cu_count; i++) {
        assert_true(l->cu_cycles[i] <= l->execute_cycles + l->device_queue_cycles);
        seen->cu_cycles[l->first_cu + i] += l->cu_cycles[i];
    }
}

static void on_level(void *context, const struct prt_level_event *level)
{
    struct seen *seen = context;
    assert(level->buffer < BUFFERS_MAX);
    assert_true(level->packets <= level->depth_packets);
    assert_int_not_equal(level->packets, seen->level[level->buffer]);
    if (seen->levels > 0) assert_true(level->cycles >= seen->last_level[level->buffer]);
    seen->last_level[level->buffer] = level->cycles;
    seen->level[level->buffer] = level->packets;
    seen->levels++;
}

static void on_scheduler(void *context, const struct prt_scheduler_event *event)
{
    struct seen *seen = context;
    assert_true(event->begin_cycles <= event->end_cycles);
    if (event->doing == PRT_SCHEDULER_WORKS) {
        assert_true(event->begin_cycles >= seen->last_work_end);
        seen->last_work_end = event->end_cycles;
        seen->work_cycles += event->end_cycles - event->begin_cycles;
    } else if (event->doing == PRT_SCHEDULER_SUSPENDED) {
        assert_int_not_equal(event->buffer, UINT32_MAX);
        seen->suspensions++;
    } else {
        assert_int_not_equal(event->stage, UINT32_MAX);
        seen->ends++;
    }
}

static void on_end(void *context, const struct prt_run *run, uint64_t total_cycles)
{
    struct seen *seen = context;
    assert_ptr_equal(seen->run, run);
    seen->total_cycles = total_cycles;
    seen->ended++;
}

static struct prt_observer observer_of(struct seen *seen)
{
    *seen = (struct seen){.run = NULL};
    return (struct prt_observer){seen, on_begin, on_launch, on_level, on_scheduler, on_end};
}

static struct prt_run *create(const struct prt_program *program,
                              const struct prt_run_options *options, size_t packets)
{
    struct prt_run *run;
    struct prt_error error;
    assert_int_equal(prt_run_create(program, options, &run, &error), PRT_OK);
    host_ramp(&in, packets);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    return run;
}

static uint64_t waited(const struct prt_run *run, uint32_t stage, enum prt_stall_cause cause)
{
    struct prt_wait_statistics wait;
    uint64_t cycles = 0;
    for (uint32_t i = 0; prt_run_wait(run, stage, i, &wait); i++)
        cycles += wait.cause == cause ? wait.cycles : 0;
    return cycles;
}

/* The identity of lang/reports.md, and the sums of the reported events. */
static void check_account(const struct prt_run *run, const struct seen *seen)
{
    struct prt_run_statistics total;
    struct prt_stage_statistics stage;
    struct prt_stage_time time;
    uint64_t cycles;
    prt_run_statistics(run, &total);
    for (uint32_t i = 0; prt_run_stage(run, i, &stage); i++) {
        assert_true(prt_run_stage_time(run, i, &time));
        uint64_t busy = time.execute_cycles + time.launch_cycles + time.switch_cycles +
                        time.index_cycles + time.device_queue_cycles;
        uint64_t sum = busy, launches = 0;
        for (int c = 0; c < PRT_STALL_CAUSES; c++)
            sum += time.stall_cycles[c];
        assert_int_equal(sum, total.total_cycles);
        for (int form = 0; form < PRT_LAUNCH_FORMS; form++)
            launches += time.launches[form];
        assert_int_equal(launches, stage.dispatches);
        assert_int_equal(time.execute_cycles, stage.execute_cycles);
        assert_int_equal(waited(run, i, PRT_STALL_PACKETS), time.stall_cycles[PRT_STALL_PACKETS]);
        assert_int_equal(waited(run, i, PRT_STALL_ROOM), time.stall_cycles[PRT_STALL_ROOM]);
        assert_int_equal(seen->busy[i], busy);
        assert_int_equal(seen->firings[i], stage.firings);
    }
    for (uint32_t i = 0; prt_run_cu(run, i, &cycles); i++)
        assert_int_equal(cycles, seen->cu_cycles[i]);
    assert_int_equal(seen->begun, 1);
    assert_int_equal(seen->ended, 1);
    assert_int_equal(seen->total_cycles, total.total_cycles);
    assert_int_equal(seen->launches, total.dispatches);
    assert_int_equal(seen->work_cycles, total.scheduler_cycles);
    assert_int_equal(seen->suspensions, total.suspensions);
}

/* x -> twice -> t -> sum2 -> y */
static struct made *chain_made(uint64_t depth, uint32_t threshold, bool side_by_side)
{
    struct made *m = made_create("chain", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "twice", 0);
    made_input(m, node, x, 1, 1);
    made_output(m, node, t, 2, 0);
    node = made_node(m, "sum2", 0);
    made_input(m, node, t, 2, 2);
    made_output(m, node, y, 1, 0);
    m->stages[0].threshold = m->stages[1].threshold = threshold;
    if (side_by_side)
        made_side_by_side(m);
    else
        made_loop(m);
    return m;
}

static struct prt_program *load_chain(struct made *m)
{
    static const struct prt_image_kernel kernels[] = {{.run = kernel_twice}, {.run = kernel_sum2}};
    return pipelines_load(m, kernels);
}

/* ---- accounts ---- */

static void every_cycle_of_a_stage_is_accounted_for(void **unused)
{
    (void)unused;
    static const uint64_t depths[] = {2, 16, 64};
    for (unsigned i = 0; i < 12; i++) {
        uint64_t depth = depths[i % 3];
        uint32_t threshold = depth > 2 ? 8 : 1;
        struct prt_program *program = load_chain(chain_made(depth, threshold, i % 2 == 0));
        for (size_t packets = 0; packets < 700; packets += 233) {
            struct seen seen;
            struct prt_error error;
            const struct prt_observer observer = observer_of(&seen);
            struct prt_run_options options = {.host_threads = 1 + i % 3, .observer = &observer};
            struct prt_run *run = create(program, &options, packets);
            assert_int_equal(prt_run_execute(run, &error), PRT_OK);
            assert_int_equal(out.count, packets);
            check_account(run, &seen);
            assert_int_equal(seen.ends, 2);
            for (uint32_t b = 0; b < 3; b++)
                assert_int_equal(seen.level[b], 0);
            prt_run_destroy(run);
        }
        prt_program_free(program);
    }
}

static void a_short_buffer_makes_its_writer_wait_for_room(void **unused)
{
    (void)unused;
    struct made *m = chain_made(2, 1, true);
    struct prt_program *program = load_chain(m);
    struct prt_error error;
    struct prt_stage_time first, second;
    struct prt_run_options options = {.host_threads = 1, .measure = true};
    struct prt_run *run = create(program, &options, 300);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    prt_run_stage_time(run, 0, &first);
    prt_run_stage_time(run, 1, &second);
    /* They take turns: each waits at the buffer while the other is busy. */
    assert_true(first.stall_cycles[PRT_STALL_ROOM] >= second.execute_cycles);
    assert_int_equal(first.stall_cycles[PRT_STALL_PACKETS], 0);
    assert_int_equal(second.stall_cycles[PRT_STALL_ROOM], 0);
    assert_true(second.stall_cycles[PRT_STALL_PACKETS] > 0);
    struct prt_wait_statistics wait;
    assert_true(prt_run_wait(run, 0, 1, &wait));
    assert_string_equal(wait.buffer, "t");
    assert_int_equal(wait.cause, PRT_STALL_ROOM);
    assert_int_equal(wait.cycles, first.stall_cycles[PRT_STALL_ROOM]);
    assert_false(prt_run_wait(run, 0, 2, &wait));
    assert_false(prt_run_wait(run, 2, 0, &wait));
    prt_run_destroy(run);
    prt_program_free(program);
}

static void stages_of_one_queue_wait_for_its_units(void **unused)
{
    (void)unused;
    struct prt_program *program = load_chain(chain_made(64, 8, false));
    struct prt_error error;
    struct prt_stage_time time;
    uint64_t units = 0;
    struct prt_run_options options = {.host_threads = 1, .measure = true};
    struct prt_run *run = create(program, &options, 600);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    for (uint32_t i = 0; prt_run_stage_time(run, i, &time); i++)
        units += time.stall_cycles[PRT_STALL_UNITS];
    assert_true(units > 0);
    struct prt_queue_statistics queue;
    assert_true(prt_run_queue(run, 0, &queue));
    assert_true(queue.root);
    assert_int_equal(queue.cu_count, 16);
    assert_false(prt_run_queue(run, 1, &queue));
    prt_run_destroy(run);
    prt_program_free(program);
}

static void a_run_that_is_not_measured_says_so(void **unused)
{
    (void)unused;
    struct prt_program *program = load_chain(chain_made(64, 8, false));
    struct prt_error error;
    struct prt_stage_time time;
    struct prt_output_statistics output;
    struct prt_bottleneck bottleneck;
    struct prt_device_statistics device;
    uint64_t cycles;
    struct prt_run *run = create(program, NULL, 100);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    assert_false(prt_run_stage_time(run, 0, &time));
    assert_false(prt_run_output(run, 0, &output));
    assert_false(prt_run_bottleneck(run, &bottleneck));
    assert_false(prt_run_cu(run, 0, &cycles));
    prt_run_device(run, &device); /* counted all the same */
    assert_int_equal(device.cu_count, 16);
    assert_true(device.launches[0] + device.launches[1] + device.launches[2] > 0);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void a_faulted_run_is_accounted_for(void **unused)
{
    (void)unused;
    struct made *m = made_create("divide", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "divide", 0);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program =
        pipelines_load(m, &(struct prt_image_kernel){.run = kernel_divide});
    struct seen seen;
    struct prt_error error;
    struct prt_stage_time time;
    struct prt_run_statistics total;
    const struct prt_observer observer = observer_of(&seen);
    struct prt_run_options options = {.host_threads = 1, .observer = &observer};
    struct prt_run *run = create(program, &options, 10);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_FAULT);
    assert_int_equal(seen.ended, 1);
    prt_run_statistics(run, &total);
    prt_run_stage_time(run, 0, &time);
    uint64_t sum = time.execute_cycles + time.launch_cycles + time.switch_cycles;
    for (int c = 0; c < PRT_STALL_CAUSES; c++)
        sum += time.stall_cycles[c];
    assert_int_equal(sum, total.total_cycles);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_USAGE);
    assert_int_equal(seen.begun, 1);
    assert_int_equal(seen.ended, 1);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- what limits ---- */

static struct prt_bottleneck bottleneck_of(uint64_t first_cycles, uint64_t second_cycles,
                                           bool side_by_side)
{
    struct made *m = chain_made(64, 8, side_by_side);
    m->nodes[0].cost_cycles = m->nodes[0].warp_cycles = first_cycles;
    m->nodes[1].cost_cycles = m->nodes[1].warp_cycles = second_cycles;
    struct prt_program *program = load_chain(m);
    struct prt_bottleneck bottleneck;
    struct prt_error error;
    struct prt_run_options options = {.host_threads = 1, .measure = true};
    struct prt_run *run = create(program, &options, 600);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    assert_true(prt_run_bottleneck(run, &bottleneck));
    prt_run_destroy(run);
    prt_program_free(program);
    return bottleneck;
}

static void what_limits_a_run_is_named(void **unused)
{
    (void)unused;
    struct prt_bottleneck b = bottleneck_of(50000, 5, true);
    assert_int_equal(b.limit, PRT_LIMIT_COMPUTE);
    assert_int_equal(b.stage, 0);
    assert_int_equal(b.stage_count, 1);
    b = bottleneck_of(5, 50000, true);
    assert_int_equal(b.limit, PRT_LIMIT_COMPUTE);
    assert_int_equal(b.stage, 1);
    b = bottleneck_of(1, 1, false);
    assert_int_equal(b.limit, PRT_LIMIT_LAUNCH);
    assert_int_equal(b.stage_count, 2);
    assert_true(b.stage_cycles <= b.busy_cycles);
}

static void what_never_ran_is_limited_by_nothing(void **unused)
{
    (void)unused;
    struct prt_program *program = load_chain(chain_made(64, 8, true));
    struct prt_bottleneck bottleneck;
    struct prt_error error;
    struct prt_run_options options = {.host_threads = 1, .measure = true};
    struct prt_run *run = create(program, &options, 0);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    assert_true(prt_run_bottleneck(run, &bottleneck));
    assert_int_equal(bottleneck.limit, PRT_LIMIT_NOTHING);
    assert_int_equal(bottleneck.stage, UINT32_MAX);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- outputs ---- */

static int32_t kernel_some(const struct kernel_batch *batch)
{
    int32_t *y = batch->out[0];
    const int32_t *x = batch->in[0];
    uint64_t packets = 0, most = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t n = x[i] == 77 ? 3 : (uint64_t)(x[i] & 1);
        for (uint64_t k = 0; k < n; k++)
            y[packets++] = x[i];
        if (n > most) most = n;
    }
    batch->produced[0] = packets;
    *batch->completed = batch->count;
    if (batch->most != NULL) batch->most[0] = most;
    return KERNEL_OK;
}

static void the_largest_firing_is_set_against_the_bound(void **unused)
{
    (void)unused;
    struct made *m = made_create("some", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 1024, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "some", 0);
    made_input(m, node, x, 1, 1);
    made_output(m, node, t, 10, 0);
    m->outputs[0].push_least = 0;
    node = made_node(m, "copy", 0);
    made_input(m, node, t, 1, 1);
    made_output(m, node, y, 1, 0);
    m->stages[0].threshold = 8;
    made_loop(m);
    static const struct prt_image_kernel kernels[] = {{.run = kernel_some}, {.run = kernel_copy}};
    struct prt_program *program = pipelines_load(m, kernels);
    struct prt_error error;
    struct prt_output_statistics output;
    struct prt_run_options options = {.host_threads = 1, .measure = true};
    struct prt_run *run = create(program, &options, 200);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    assert_int_equal(out.count, 102);
    assert_true(prt_run_output(run, 0, &output));
    assert_string_equal(output.buffer, "t");
    assert_true(output.ranges);
    assert_int_equal(output.declared_least, 0);
    assert_int_equal(output.declared_most, 10);
    assert_int_equal(output.observed_most, 3);
    assert_int_equal(output.packets, 102);
    assert_int_equal(output.firings, 200);
    assert_int_equal(output.frees_bytes, 1024 * (10 - 3) / 10 * 4);
    assert_true(prt_run_output(run, 1, &output));
    assert_false(output.ranges);
    assert_int_equal(output.stage, 1);
    assert_int_equal(output.observed_most, 1);
    assert_int_equal(output.frees_bytes, 0);
    assert_false(prt_run_output(run, 2, &output));
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- timelines ---- */

struct text {
    char bytes[200000];
    size_t size, most;
    unsigned refused;
};

static bool take(void *context, const char *bytes, size_t size)
{
    struct text *text = context;
    if (text->size + size > text->most) {
        text->refused++;
        return false;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return true;
}

static struct prt_trace_summary trace_of(uint64_t events_max, struct text *text)
{
    struct prt_program *program = load_chain(chain_made(64, 8, true));
    struct prt_trace *trace;
    struct prt_trace_summary summary;
    struct prt_error error;
    text->size = 0;
    assert_int_equal(prt_trace_create(take, text, events_max, &trace), PRT_OK);
    struct prt_run_options options = {.host_threads = 1, .observer = prt_trace_observer(trace)};
    struct prt_run *run = create(program, &options, 600);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK); /* also where it cannot be written */
    assert_int_equal(out.count, 600);
    prt_trace_summary(trace, &summary);
    prt_run_destroy(run);
    prt_trace_destroy(trace);
    prt_trace_destroy(NULL);
    prt_program_free(program);
    return summary;
}

static void a_timeline_is_whole_up_to_its_limit(void **unused)
{
    (void)unused;
    static struct text all, some;
    all.most = some.most = sizeof all.bytes;
    struct prt_trace_summary whole = trace_of(100000, &all), part = trace_of(50, &some);
    assert_true(whole.whole && part.whole);
    assert_int_equal(whole.omitted_events, 0);
    assert_true(part.events <= 50);
    assert_int_equal(part.events + part.omitted_events, whole.events);
    assert_true(part.complete_cycles < whole.complete_cycles);
    size_t same = 0;
    while (same < some.size && some.bytes[same] == all.bytes[same])
        same++;
    assert_true(same > some.size / 2); /* what it has is what comes first */
}

static void a_timeline_that_cannot_be_written_is_not_whole(void **unused)
{
    (void)unused;
    static struct text text;
    text.most = 5000;
    assert_false(trace_of(100000, &text).whole);
    assert_int_equal(text.refused, 1); /* after a failed write nothing more is written */
}

TEST_MAIN("observer", cmocka_unit_test(every_cycle_of_a_stage_is_accounted_for),
          cmocka_unit_test(a_short_buffer_makes_its_writer_wait_for_room),
          cmocka_unit_test(stages_of_one_queue_wait_for_its_units),
          cmocka_unit_test(a_run_that_is_not_measured_says_so),
          cmocka_unit_test(a_faulted_run_is_accounted_for),
          cmocka_unit_test(what_limits_a_run_is_named),
          cmocka_unit_test(what_never_ran_is_limited_by_nothing),
          cmocka_unit_test(the_largest_firing_is_set_against_the_bound),
          cmocka_unit_test(a_timeline_is_whole_up_to_its_limit),
          cmocka_unit_test(a_timeline_that_cannot_be_written_is_not_whole))
