/* Packs, reference entries, and stages that take turns. */
#include "tests/test.h"

#include "tests/unit/graph_reference.h"

#include "compiler/plan/plan.h"
#include "compiler/plan/turns.h"
#include "lang/dispatch.h"

#include <assert.h>

static struct devdesc device(uint32_t cus, uint32_t entries)
{
    struct devdesc d = {.cu_count = cus,
                        .lanes = 8,
                        .memory_bytes = UINT64_C(1) << 30,
                        .schemes = DEVDESC_BY_COUNTS,
                        .max_sub_devices = cus,
                        .reference_entries = entries};
    strcpy(d.name, "test");
    return d;
}

static struct plan *plan_of(struct fixture *f, const struct devdesc *d)
{
    rate_solve(&f->cx, &f->graph);
    deadlock_check(&f->cx, &f->graph);
    bufsize_assign(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    return plan_place(&f->cx, &f->graph, d);
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

/* What the verifier asks for, and what fits a packet. */
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
            units += s->spilled ? 11 : 5;
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
        assert_false(owned >> s->entry & 1);
        owned |= 1u << s->entry;
        owners++;
    }
    for (uint32_t i = 0; i < plan->stage_count; i++)
        if (plan->stages[i].spilled) {
            assert(plan->stages[i].entry < 32);
            assert_true(owned >> plan->stages[i].entry & 1);
        }
    assert_int_equal(owners, plan->entry_count);
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
        assert_int_equal(plan->entry_count, 6);
        assert_int_equal(plan->spilled_count, 0);
        for (uint32_t i = 0; i < 6; i++) /* in the order of the data, however they are declared */
            assert_int_equal(plan->stages[i].place, backwards ? 5 - i : i);
        fixture_free(f);
    }
}

static void rows_of_every_length_and_table_are_sound(void **state)
{
    (void)state;
    for (uint32_t count = 3; count <= 24; count++) {
        for (uint32_t entries = 1; entries <= 8; entries++) {
            struct fixture *f = row(count, count % 2);
            struct devdesc d = device(2, entries);
            struct plan *plan = plan_of(f, &d);
            uint32_t packed = 0;
            assert_sound(plan, &d);
            for (uint32_t i = 0; i < count; i++)
                packed += plan->stages[i].entry != GRAPH_NONE;
            assert_int_equal(plan->entry_count + plan->spilled_count, packed);
            assert_int_equal(plan->entry_count, packed < entries ? packed : entries);
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

/* n1 reads from n0, and is more important or less.  More: the launches of n0 have a signal, so what
 * is spilled uses the entry of n2, which has none. */
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
        assert_true(!s[0].spilled && !s[2].spilled && !s[0].ends_pack && !s[2].ends_pack);
        assert_int_equal(s[0].pack, s[2].pack);
        assert_true(s[3].spilled);
        assert_int_equal(s[3].entry, s[awaited ? 2 : 0].entry);
        fixture_free(f);
    }
}

/* What is launched most often owns an entry. */
static void the_heaviest_own_entries(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t in = fixture_port(f, "in", GRAPH_OUTER_IN),
             out = fixture_port(f, "out", GRAPH_OUTER_OUT);
    uint32_t many = fixture_buffer(f, "many", 0, 2), few = fixture_buffer(f, "few", 0, 0);
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
    fixture_read(f, a, in, 1, 1); /* 64 times an iteration, two at a time */
    fixture_write(f, a, many, 1);
    fixture_read(f, b, many, 1, 1);
    fixture_write(f, b, few, 1);
    fixture_read(f, c, few, 64, 64);
    fixture_write(f, c, out, 1);
    struct devdesc d = device(2, 2);
    struct plan *plan = plan_of(f, &d);
    assert_sound(plan, &d);
    assert_false(plan->stages[a].spilled);
    assert_false(plan->stages[b].spilled);
    assert_true(plan->stages[c].spilled);
    fixture_free(f);
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
          cmocka_unit_test(the_heaviest_own_entries),
          cmocka_unit_test(a_loop_with_one_packet_takes_turns),
          cmocka_unit_test(a_row_does_not_take_turns))
