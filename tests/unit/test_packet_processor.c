/* SPDX-License-Identifier: MIT */
/* The packet processor: costs, the reference table, what is refused leaves no trace. */
#include "tests/test.h"

#include "model/packet_processor.h"

#include <assert.h>

enum { OBJECTS = 8, SIGNALS = 8, ENQUEUE = 20, PROCESS = 30, CLEANUP = 50 };

struct bench {
    struct prt_packet_processor processor;
    struct prt_device_counters counters;
};

static struct bench *bench_make(uint32_t entries)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    const struct devdesc description = {.reference_entries = entries,
                                        .launch_enqueue_cycles = ENQUEUE,
                                        .launch_process_cycles = PROCESS,
                                        .launch_cleanup_cycles = CLEANUP};
    prt_packet_processor_create(&b->processor, &description, &b->counters);
    assert_int_equal(prt_packet_objects(&b->processor, OBJECTS, SIGNALS), PRT_OK);
    return b;
}

static void bench_free(struct bench *b)
{
    prt_packet_processor_destroy(&b->processor);
    free(b);
}

/* Without a signal and a release scope. */
static struct dispatch_full launch_of(uint64_t object)
{
    return (struct dispatch_full){.header = DISPATCH_FULL,
                                  .synch_scopes = DISPATCH_SCOPES(0, 1, 0),
                                  .setup = 1,
                                  .workgroup_size_x = 4,
                                  .workgroup_size_y = 1,
                                  .workgroup_size_z = 1,
                                  .grid_size_x = 10,
                                  .grid_size_y = 1,
                                  .grid_size_z = 1,
                                  .kernel_object = object,
                                  .kernarg_address = object};
}

static enum prt_status decode(struct bench *b, union dispatch_packet packet)
{
    struct prt_error error = {0};
    enum prt_status status = prt_packet_decode(&b->processor, &packet, &error);
    if (status != PRT_OK) assert_true(strncmp(error.message, "dispatch packet: ", 17) == 0);
    return status;
}

/* Processes it, and all its launches end. */
static void process(struct bench *b, union dispatch_packet packet)
{
    assert_int_equal(decode(b, packet), PRT_OK);
    prt_packet_accept(&b->processor);
    for (uint32_t i = 0; i < b->processor.count; i++)
        prt_packet_ended(&b->processor, &b->processor.decoded[i], b->processor.decoded[i].firings);
}

static void store(struct bench *b, uint32_t entry, struct dispatch_full launch)
{
    process(b, (union dispatch_packet){.reference = dispatch_refer(&launch, entry)});
}

/* References 0, 1, ... as they are. */
static union dispatch_packet condensed(uint8_t kernels)
{
    union dispatch_packet packet = {.condensed = {DISPATCH_CONDENSED, kernels, {0}}};
    for (uint32_t i = 0; i < kernels; i++)
        packet.condensed.diff_values[i] = (uint16_t)i;
    return packet;
}

static void a_full_packet_pays_everything(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(8);
    struct dispatch_full launch = launch_of(3);
    launch.completion_signal = 4;
    assert_int_equal(decode(b, (union dispatch_packet){.full = launch}), PRT_OK);
    const struct prt_launch *l = &b->processor.decoded[0];
    assert_int_equal(b->processor.count, 1);
    assert_int_equal(l->object, 3);
    assert_int_equal(l->firings, 10);
    assert_int_equal(l->first_firing, 0);
    assert_int_equal(l->signal, 4);
    assert_int_equal(l->enqueue_cycles, ENQUEUE);
    assert_int_equal(l->process_cycles, PROCESS);
    assert_false(l->barrier);
    assert_int_equal(l->cleanup_cycles, CLEANUP);
    assert_true(l->first_of_packet && l->last_of_packet && l->cleaned_up && l->seen);
    assert_int_equal(b->counters.bytes_enqueued, 0);
    prt_packet_accept(&b->processor);
    assert_int_equal(b->counters.bytes_enqueued, 64);
    assert_int_equal(b->counters.packets[PRT_PACKET_FULL], 1);
    bench_free(b);
}

/* Six kernels in one packet: enqueue and processing once, clean-up once where nothing asks. */
static void a_condensed_packet_pays_once(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(8);
    for (uint32_t i = 0; i < 6; i++)
        store(b, i, launch_of(i));
    struct prt_device_counters before = b->counters;
    process(b, condensed(6));
    assert_int_equal(b->processor.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const struct prt_launch *l = &b->processor.decoded[i];
        assert_int_equal(l->object, i);
        assert_int_equal(l->enqueue_cycles, i == 0 ? ENQUEUE : 0);
        assert_int_equal(l->process_cycles, i == 0 ? PROCESS : 0);
        assert_int_equal(l->cleanup_cycles, i == 5 ? CLEANUP : 0);
        assert_int_equal(l->seen, i == 5);
    }
    assert_int_equal(b->counters.enqueue_cycles - before.enqueue_cycles, ENQUEUE);
    assert_int_equal(b->counters.process_cycles - before.process_cycles, PROCESS);
    assert_int_equal(b->counters.cleanup_cycles - before.cleanup_cycles, CLEANUP);
    assert_int_equal(b->counters.bytes_enqueued - before.bytes_enqueued, 64);
    bench_free(b);
}

static void who_asks_for_a_clean_up_pays_for_it(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(8);
    for (uint32_t i = 0; i < 6; i++) {
        struct dispatch_full launch = launch_of(i);
        if (i == 1) launch.completion_signal = 2;
        if (i == 3) launch.synch_scopes = DISPATCH_SCOPES(0, 1, 1);
        store(b, i, launch);
    }
    process(b, condensed(6));
    for (uint32_t i = 0; i < 6; i++) {
        const struct prt_launch *l = &b->processor.decoded[i];
        assert_int_equal(l->cleaned_up, i == 1 || i == 3 || i == 5);
        assert_int_equal(l->seen, i == 1 || i == 5);
    }
    bench_free(b);
}

/* The same packet again: the counter of the kernarg block goes on, by what counts of each launch. */
static void a_repeated_launch_goes_on_where_the_last_one_ended(void **unused)
{
    (void)unused;
    enum { STAGES_HERE = 4, FINISH = STAGES_HERE + 2 };
    struct bench *b = bench_make(8);
    assert_int_equal(prt_packet_objects(&b->processor, 2 * STAGES_HERE, STAGES_HERE), PRT_OK);
    store(b, 0, launch_of(2));
    for (uint64_t first = 10; first <= 30; first += 10) {
        process(b, condensed(1));
        assert_int_equal(b->processor.decoded[0].first_firing, first);
    }
    assert_int_equal(decode(b, condensed(1)), PRT_OK);
    assert_int_equal(decode(b, condensed(1)), PRT_OK); /* not accepted: nothing is counted */
    prt_packet_accept(&b->processor);
    assert_int_equal(b->processor.decoded[0].first_firing, 40);
    prt_packet_ended(&b->processor, &b->processor.decoded[0], 3); /* it has stopped */
    struct dispatch_full finish = launch_of(FINISH);
    finish.kernarg_address = 2; /* a finish has the block of its stage, and counts no firing */
    for (int i = 0; i < 2; i++) {
        process(b, (union dispatch_packet){.full = finish});
        assert_int_equal(b->processor.decoded[0].first_firing, 43);
    }
    finish.kernarg_address = FINISH;
    assert_int_equal(decode(b, (union dispatch_packet){.full = finish}), PRT_E_PACKET);
    bench_free(b);
}

static void entries_are_stored_and_spilled(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(2);
    store(b, 0, launch_of(0));
    store(b, 1, launch_of(1));
    assert_int_equal(b->counters.spills, 0);
    struct dispatch_full changed = launch_of(1);
    changed.grid_size_x = 3;
    store(b, 1, changed);
    assert_int_equal(b->counters.spills, 0);
    store(b, 1, launch_of(2));
    assert_int_equal(b->counters.spills, 1);
    assert_int_equal(b->counters.reference_stores, 4);
    process(b, condensed(2));
    assert_int_equal(b->processor.decoded[1].object, 2);
    struct dispatch_full launch = launch_of(3);
    assert_int_equal(decode(b, (union dispatch_packet){.reference = dispatch_refer(&launch, 2)}),
                     PRT_E_PACKET);
    bench_free(b);
}

static void what_is_refused_leaves_no_trace(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(8);
    store(b, 0, launch_of(0));
    store(b, 1, launch_of(1));
    struct prt_device_counters before = b->counters;
    union dispatch_packet bad[10];
    for (uint32_t i = 0; i < 10; i++)
        bad[i] = condensed(2);
    bad[0].header = 3;
    bad[1].condensed.num_kernels = 0;
    bad[2].condensed.diff_values[1] = 2; /* empty */
    bad[3].condensed.diff_values[1] = 0; /* object 0 twice */
    bad[4].condensed.diff_values[4] = 1;
    bad[5].condensed.num_kernels = 40;
    bad[6].reference = dispatch_refer(&(struct dispatch_full){0}, 1);
    struct dispatch_full beyond = launch_of(OBJECTS);
    bad[7].reference = dispatch_refer(&beyond, 1);
    beyond = launch_of(1);
    beyond.completion_signal = SIGNALS + 1;
    bad[8].reference = dispatch_refer(&beyond, 1);
    beyond = launch_of(1);
    beyond.kernarg_address = 2; /* another stage's block */
    bad[9].full = beyond;
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(decode(b, bad[i]), PRT_E_PACKET);
        before.packets_refused++;
        assert_memory_equal(&b->counters, &before, sizeof before);
        assert_int_equal(b->processor.count, 0);
    }
    process(b, condensed(2)); /* the table and the objects are as they were */
    assert_int_equal(b->processor.decoded[1].object, 1);
    bench_free(b);
}

static void an_object_in_flight_is_not_launched_again(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(8);
    struct dispatch_full launch = launch_of(5);
    union dispatch_packet packet = {.full = launch};
    assert_int_equal(decode(b, packet), PRT_OK);
    assert_int_equal(decode(b, packet), PRT_OK); /* not accepted yet */
    prt_packet_accept(&b->processor);
    struct prt_launch in_flight = b->processor.decoded[0];
    assert_int_equal(decode(b, packet), PRT_E_PACKET);
    prt_packet_ended(&b->processor, &in_flight, in_flight.firings);
    assert_int_equal(decode(b, packet), PRT_OK);
    bench_free(b);
}

static void new_objects_empty_the_table(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(8);
    store(b, 0, launch_of(0));
    assert_int_equal(prt_packet_objects(&b->processor, OBJECTS, SIGNALS), PRT_OK);
    assert_int_equal(decode(b, condensed(1)), PRT_E_PACKET);
    bench_free(b);
}

/* Whatever the bytes: refused, or launches of this device, each object once. */
static void random_bytes_do_no_harm(void **unused)
{
    (void)unused;
    struct bench *b = bench_make(5);
    uint64_t state = 99, accepted = 0;
    for (uint32_t round = 0; round < 300000; round++) {
        union dispatch_packet packet;
        uint8_t *bytes = (uint8_t *)&packet;
        struct dispatch_full launch = launch_of(round % OBJECTS);
        uint64_t firings[SIGNALS];
        memcpy(firings, b->processor.firings, sizeof firings);
        packet.full = launch;
        if (round % 3 == 1) packet.reference = dispatch_refer(&launch, round % 7);
        if (round % 3 == 2) packet = condensed((uint8_t)(round % 6));
        for (uint32_t i = 0; i < round % 5; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bytes[(state >> 33) % 64] = (uint8_t)(state >> 40);
        }
        struct prt_error error;
        if (prt_packet_decode(&b->processor, &packet, &error) != PRT_OK) {
            assert_int_equal(b->processor.count, 0);
            continue;
        }
        accepted++;
        assert_in_range(b->processor.count, 1, DISPATCH_UNITS);
        bool named[OBJECTS] = {false};
        for (uint32_t i = 0; i < b->processor.count; i++) {
            const struct prt_launch *l = &b->processor.decoded[i];
            assert(l->object < OBJECTS);
            assert_false(named[l->object]);
            assert_true(l->firings > 0 && l->signal <= SIGNALS);
            assert_int_equal(l->first_firing, firings[l->object]);
            named[l->object] = true;
        }
        prt_packet_accept(&b->processor);
        for (uint32_t i = 0; i < b->processor.count; i++)
            prt_packet_ended(&b->processor, &b->processor.decoded[i],
                             b->processor.decoded[i].firings);
    }
    assert_true(accepted > 1000);
    assert_true(b->counters.packets_refused > 1000);
    bench_free(b);
}

TEST_MAIN("packet_processor", cmocka_unit_test(a_full_packet_pays_everything),
          cmocka_unit_test(a_condensed_packet_pays_once),
          cmocka_unit_test(who_asks_for_a_clean_up_pays_for_it),
          cmocka_unit_test(a_repeated_launch_goes_on_where_the_last_one_ended),
          cmocka_unit_test(entries_are_stored_and_spilled),
          cmocka_unit_test(what_is_refused_leaves_no_trace),
          cmocka_unit_test(an_object_in_flight_is_not_launched_again),
          cmocka_unit_test(new_objects_empty_the_table), cmocka_unit_test(random_bytes_do_no_harm))
