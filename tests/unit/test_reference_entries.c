/* SPDX-License-Identifier: MIT */
/* Packs, reference entries, and stages that take turns. */
#include "tests/test.h"

#include "tests/unit/graph_reference.h"
#include "tests/unit/plan_fixture.h"

#include "compiler/plan/reference_entries.h"
#include "compiler/plan/is_sequential.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "lang/dispatch.h"

#include <assert.h>

static struct devdesc device(uint32_t cus, uint32_t entries)
{
    struct devdesc d = {.cu_count = cus,
                        .lanes = 8,
                        .cores_per_cu = 1,
                        .memory_bytes = UINT64_C(1) << 30,
                        .schemes = DEVDESC_BY_COUNTS,
                        .max_sub_devices = cus,
                        .reference_entries = entries,
                        .launch_enqueue_cycles = 200,
                        .launch_process_cycles = 400,
                        .launch_cleanup_cycles = 200};
    strcpy(d.name, "test");
    return d;
}

static struct plan *plan_of(struct fixture *f, const struct devdesc *d)
{
    rate_solve(&f->cx, &f->graph);
    deadlock_check(&f->cx, &f->graph);
    bufsize_assign(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    return fixture_plan(f, d);
}

/* in -> n nodes in a row -> out; written backwards if so wanted. */
static struct fixture *row(uint32_t count, bool backwards)
{
    struct fixture *f = fixture_new();
    uint32_t *buffers = calloc(count + 1, sizeof *buffers);
    buffers[0] = fixture_port(f, "in", GRAPH_OUTER_IN);
    for (uint32_t i = 1; i < count; i++)
        buffers[i] = fixture_buffer(f, "b", 0, 0);
    buffers[count] = fixture_port(f, "out", GRAPH_OUTER_OUT);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = backwards ? count - 1 - i : i;
        uint32_t node = fixture_node(f, "n");
        f->graph.nodes.items[node].cost_cycles = 1;
        fixture_read(f, node, buffers[at], 1, 1);
        fixture_write(f, node, buffers[at + 1], 1);
    }
    free(buffers);
    return f;
}

/* The verifier's requirements, and the room of a packet. */
static void assert_sound(const struct plan *plan, const struct devdesc *d)
{
    uint32_t owners = 0, owned = 0;
    for (uint32_t pack = 0; pack < plan->pack_count; pack++) {
        uint32_t length = 0, units = 0, places = 0;
        for (uint32_t i = 0; i < plan->stage_count; i++) {
            const struct plan_stage *s = &plan->stages[i];
            if (s->pack != pack) continue;
            length++;
            places |= 1u << s->place;
            units += s->spilled ? 9 : 1;
        }
        assert_true(length >= 1);
        assert_int_equal(places, (1u << length) - 1);
        for (uint32_t i = 0; i < plan->stage_count; i++) {
            const struct plan_stage *s = &plan->stages[i];
            if (s->pack != pack) continue;
            assert_int_equal(s->ends_pack, s->place + 1 == length);
            assert_int_equal(s->entry == GRAPH_NONE, length == 1);
        }
        assert_true(length == 1 || units <= DISPATCH_UNITS);
    }
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *s = &plan->stages[i];
        if (s->entry == GRAPH_NONE || s->spilled) continue;
        assert_true(s->entry < d->reference_entries);
        for (uint32_t k = 0; k < i; k++) {
            const struct plan_stage *other = &plan->stages[k];
            if (other->spilled || other->entry != s->entry) continue;
            assert_int_not_equal(other->pack, s->pack); /* one after the other */
        }
        owned |= 1u << s->entry;
        owners++;
    }
    for (uint32_t i = 0; i < plan->stage_count; i++)
        if (plan->stages[i].spilled) {
            assert(plan->stages[i].entry < 32);
            assert_true(owned >> plan->stages[i].entry & 1);
        }
    assert_int_equal(owners, plan->owner_count);
    assert_int_equal(plan->entry_count, (uint32_t)__builtin_popcount(owned));
}

static void six_stages_are_one_pack(void **state)
{
    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct fixture *f = row(6, backwards);
        struct devdesc d = device(2, 8);
        struct plan *plan = plan_of(f, &d);
        assert_sound(plan, &d);
        assert_int_equal(plan->pack_count, 1);
        assert_int_equal(plan->owner_count + plan->spilled_count, 6);
        for (uint32_t i = 0; i < 6; i++) /* in the order of the data, however they are declared */
            assert_int_equal(plan->stages[i].place, backwards ? 5 - i : i);
        fixture_free(f);
    }
}

static void rows_of_every_length_and_table_are_sound(void **state)
{
    (void)state;
    for (uint32_t count = 3; count <= 24; count++) {
        uint32_t before = 0;
        for (uint32_t entries = 1; entries <= 8; entries++) {
            struct fixture *f = row(count, count % 2);
            struct devdesc d = device(2, entries);
            struct plan *plan = plan_of(f, &d);
            uint32_t packed = 0;
            assert_sound(plan, &d);
            for (uint32_t i = 0; i < count; i++)
                packed += plan->stages[i].entry != GRAPH_NONE;
            assert_int_equal(plan->owner_count + plan->spilled_count, packed);
            /* An owner costs a packet once, and is one only where it saves a packet an iteration. */
            if (entries > 1) assert_true(plan->pack_count <= before);
            before = plan->pack_count;
            fixture_free(f);
        }
    }
}

static void side_by_side_nobody_shares_a_packet(void **state)
{
    (void)state;
    struct fixture *f = row(4, false);
    struct devdesc d = device(16, 8);
    for (uint32_t i = 0; i < 4; i++) { /* each busy all the time, on one CU */
        f->graph.nodes.items[i].stateful = true;
        f->graph.nodes.items[i].cost_cycles = 1000;
    }
    struct plan *plan = plan_of(f, &d);
    assert_int_equal(plan->mode, PLAN_SIDE_BY_SIDE);
    assert_int_equal(plan->pack_count, 4);
    assert_int_equal(plan->entry_count, 0);
    fixture_free(f);
}

static void other_importances_are_other_packs(void **state)
{
    (void)state;
    struct fixture *f = row(4, false);
    struct devdesc d = device(2, 8);
    f->graph.nodes.items[1].importance = f->graph.nodes.items[3].importance = 9;
    struct plan *plan = plan_of(f, &d);
    assert_sound(plan, &d);
    assert_int_equal(plan->pack_count, 2);
    assert_int_equal(plan->stages[1].pack, plan->stages[3].pack);
    assert_int_equal(plan->stages[0].pack, plan->stages[2].pack);
    fixture_free(f);
}

/* With `loops` loops of four stages each, one after the other, whose launches come many at a time:
 * a static schedule repeats each loop before it goes on to the next. */
static struct schedule *loops_of(struct fixture *f, uint32_t loops, uint32_t rounds)
{
    struct schedule *schedule = ARENA_NEW(f->cx.arena, struct schedule);
    struct schedule_island *island = ARENA_NEW(f->cx.arena, struct schedule_island);
    struct schedule_part *level = ARENA_NEW(f->cx.arena, struct schedule_part);
    struct schedule_op *ops = ARENA_ARRAY(f->cx.arena, struct schedule_op, (size_t)loops * 6);
    uint32_t *stages = ARENA_ARRAY(f->cx.arena, uint32_t, (size_t)loops * 4);
    for (uint32_t i = 0; i < loops; i++) {
        ops[i * 6] = (struct schedule_op){.kind = SCHEDULE_REPEAT, .count = rounds};
        for (uint32_t k = 0; k < 4; k++) {
            stages[i * 4 + k] = i * 4 + k;
            ops[i * 6 + 1 + k] =
                (struct schedule_op){.kind = SCHEDULE_RUN, .stage = i * 4 + k, .count = 1};
        }
        ops[i * 6 + 5] = (struct schedule_op){.kind = SCHEDULE_AGAIN};
    }
    *level = (struct schedule_part){.ops = ops, .op_count = loops * 6};
    *island = (struct schedule_island){.stages = stages,
                                       .stage_count = loops * 4,
                                       .levels = level,
                                       .level_count = 1,
                                       .firings = 1,
                                       .periods = 1};
    *schedule = (struct schedule){.islands = island, .island_count = 1, .static_count = loops * 4};
    return schedule;
}

/* Loops take entries in turn, and store their references anew, where that is cheaper than to refer
 * to other stages' all the time; a loop of one round is not worth it. */
static void loops_take_entries_in_turn(void **state)
{
    (void)state;
    enum { LOOPS = 3 };
    for (uint32_t rounds = 1; rounds <= 64; rounds += 63) {
        struct fixture *f = row(LOOPS * 4, false);
        struct devdesc d = device(2, 2);
        /* Then batches are the smallest, whose launches take the fewest units. */
        d.launch_enqueue_cycles = d.launch_process_cycles = d.launch_cleanup_cycles = 0;
        struct plan *plan = plan_of(f, &d);
        plan_reference_entries(f->cx.arena, &f->graph, plan, loops_of(f, LOOPS, rounds),
                               d.reference_entries);
        assert_sound(plan, &d);
        for (uint32_t i = 0; i < LOOPS * 4; i++)
            for (uint32_t k = 0; k < i; k++)
                if (plan->stages[i].pack == plan->stages[k].pack) assert_int_equal(i / 4, k / 4);
        if (rounds == 64) {
            assert_true(plan->owner_count > plan->entry_count);
            assert_int_equal(plan->pack_count, LOOPS); /* each round one packet */
        } else {
            assert_int_equal(plan->owner_count, plan->entry_count);
        }
        fixture_free(f);
    }
}

/* A stage that is launched once for many launches of others gets no entry; the schedule has the counts. */
static void the_schedule_says_how_often_stages_are_launched(void **state)
{
    (void)state;
    struct fixture *f = row(8, false);
    struct devdesc d = device(2, 2);
    struct plan *plan = plan_of(f, &d);
    struct schedule *schedule = loops_of(f, 2, 64);
    struct schedule_op *ops = (struct schedule_op *)schedule->islands->levels->ops;
    ops[6].count = 1; /* the second loop */
    plan_reference_entries(f->cx.arena, &f->graph, plan, schedule, d.reference_entries);
    assert_sound(plan, &d);
    for (uint32_t i = 4; i < 8; i++)
        assert_true(plan->stages[i].spilled || plan->stages[i].entry == GRAPH_NONE);
    assert_int_equal(plan->owner_count, 2);
    fixture_free(f);
}

/* n1 reads from n0, and is more important or less.  More: the launches of n0 have a signal, so what
 * is spilled uses the entry of one that has none. */
static void what_is_awaited_has_a_signal(void **state)
{
    (void)state;
    for (uint32_t awaited = 0; awaited < 2; awaited++) {
        struct fixture *f = row(6, false);
        struct devdesc d = device(2, 2);
        for (uint32_t i = 0; i < 6; i++)
            f->graph.nodes.items[i].importance = 5;
        f->graph.nodes.items[1].importance = awaited ? 9 : 0;
        struct plan *plan = plan_of(f, &d);
        assert_sound(plan, &d);
        const struct plan_stage *s = plan->stages;
        uint32_t refers = 0;
        for (uint32_t i = 0; i < 6; i++) {
            if (!s[i].spilled || s[i].ends_pack || (awaited && i == 0)) continue;
            for (uint32_t k = 0; k < 6; k++)
                if (!s[k].spilled && s[k].entry == s[i].entry)
                    assert_true(!s[k].ends_pack && !(awaited && k == 0));
            refers++;
        }
        assert_true(refers > 0);
        fixture_free(f);
    }
}

/* a -> b -> .. -> a with so many packets on the way; a reads the port, the last one writes it. */
static struct fixture *loop(uint32_t count, uint64_t packets)
{
    struct fixture *f = fixture_new();
    uint32_t in = fixture_port(f, "in", GRAPH_OUTER_IN),
             out = fixture_port(f, "out", GRAPH_OUTER_OUT);
    uint32_t back = fixture_buffer(f, "back", packets, 0), from = back;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = fixture_node(f, "n");
        uint32_t to = i + 1 < count ? fixture_buffer(f, "b", 0, 0) : back;
        f->graph.nodes.items[node].cost_cycles = 1;
        if (i == 0) fixture_read(f, node, in, 1, 1);
        fixture_read(f, node, from, 1, 1);
        fixture_write(f, node, to, 1);
        if (i + 1 == count) fixture_write(f, node, out, 1);
        from = to;
    }
    return f;
}

static void a_loop_with_one_packet_takes_turns(void **state)
{
    (void)state;
    struct devdesc d = device(16, 8);
    for (uint32_t count = 2; count <= 6; count++) {
        struct fixture *f = loop(count, 1);
        struct plan *plan = plan_of(f, &d);
        assert_true(plan_takes_turns(f->cx.arena, &f->graph));
        assert_int_equal(plan->mode, PLAN_IN_SEQUENCE);
        assert_int_equal(plan->pack_count, 1);
        assert_non_null(strstr(plan->mode_reason, "take turns"));
        fixture_free(f);
        f = loop(count, 2);
        plan = plan_of(f, &d);
        assert_false(plan_takes_turns(f->cx.arena, &f->graph));
        assert_null(strstr(plan->mode_reason, "take turns"));
        fixture_free(f);
    }
}

static void a_row_does_not_take_turns(void **state)
{
    (void)state;
    struct fixture *f = row(3, false);
    struct devdesc d = device(16, 8);
    (void)plan_of(f, &d);
    assert_false(plan_takes_turns(f->cx.arena, &f->graph));
    fixture_free(f);
}

TEST_MAIN("reference_entries", cmocka_unit_test(six_stages_are_one_pack),
          cmocka_unit_test(rows_of_every_length_and_table_are_sound),
          cmocka_unit_test(side_by_side_nobody_shares_a_packet),
          cmocka_unit_test(other_importances_are_other_packs),
          cmocka_unit_test(what_is_awaited_has_a_signal),
          cmocka_unit_test(loops_take_entries_in_turn),
          cmocka_unit_test(the_schedule_says_how_often_stages_are_launched),
          cmocka_unit_test(a_loop_with_one_packet_takes_turns),
          cmocka_unit_test(a_row_does_not_take_turns))
