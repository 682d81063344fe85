/* SPDX-License-Identifier: MIT */
/* plan_place: layouts, depths, thresholds, batches. */
#include "tests/test.h"

#include "tests/unit/graph_reference.h"

#include "compiler/plan/layouts.h"
#include "compiler/plan/plan.h"
#include "tests/unit/plan_fixture.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "lang/window.h"

static struct devdesc device(uint32_t cus, uint32_t lanes)
{
    struct devdesc d = {.cu_count = cus,
                        .lanes = lanes,
                        .cores_per_cu = 1,
                        .memory_bytes = UINT64_C(1) << 30,
                        .schemes = DEVDESC_BY_COUNTS,
                        .max_sub_devices = cus};
    strcpy(d.name, "test");
    return d;
}

static void analyse(struct fixture *f)
{
    rate_solve(&f->cx, &f->graph);
    deadlock_check(&f->cx, &f->graph);
    bufsize_assign(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
}

/* in -> n nodes in a row, with these costs -> out */
static struct fixture *row(const uint64_t *costs, int count)
{
    struct fixture *f = fixture_new();
    uint32_t from = fixture_port(f, "in", GRAPH_OUTER_IN);
    for (int i = 0; i < count; i++) {
        uint32_t node = fixture_node(f, "n");
        uint32_t to =
            i + 1 < count ? fixture_buffer(f, "b", 0, 0) : fixture_port(f, "out", GRAPH_OUTER_OUT);
        f->graph.nodes.items[node].cost_cycles = costs[i];
        fixture_read(f, node, from, 1, 1);
        fixture_write(f, node, to, 1);
        from = to;
    }
    return f;
}

/* The input of plan_place when it asks for layouts; everything lives until fixture_free. */
static struct placement placement_of(struct fixture *f, const struct devdesc *d)
{
    struct placement at = {.cx = &f->cx,
                           .graph = &f->graph,
                           .device = d,
                           .plan = ARENA_NEW(f->cx.arena, struct plan),
                           .arena = f->cx.arena};
    at.plan->device = d;
    plan_stages(&at);
    for (uint32_t i = 0; i < at.plan->stage_count; i++)
        at.plan->stages[i].batch_max = 1024;
    return at;
}

static void expect_cus(const uint64_t *costs, int count, uint32_t cus, int stateful,
                       const uint32_t *wanted)
{
    struct fixture *f = row(costs, count);
    struct devdesc d = device(cus, 8);
    if (stateful >= 0) f->graph.nodes.items[stateful].stateful = true;
    analyse(f);
    struct placement at = placement_of(f, &d);
    const struct plan_layout *layout = layout_side_by_side(&at);
    assert_int_equal(layout->mode, PLAN_SIDE_BY_SIDE);
    uint32_t sum = 0;
    for (int i = 0; i < count; i++) {
        assert_int_equal(layout->sub_device[i], i);
        assert_int_equal(layout->cus[i], wanted[i]);
        sum += wanted[i];
    }
    assert_true(sum <= cus);
    fixture_free(f);
}

static void cus_follow_the_load(void **state)
{
    (void)state;
    expect_cus((uint64_t[]){1, 1, 2}, 3, 16, -1, (uint32_t[]){4, 4, 8});
    expect_cus((uint64_t[]){1, 1, 1}, 3, 16, -1, (uint32_t[]){6, 5, 5});
    expect_cus((uint64_t[]){1, 1000000, 1}, 3, 16, -1, (uint32_t[]){1, 14, 1});
    expect_cus((uint64_t[]){1, 1000000, 1}, 3, 16, 1, (uint32_t[]){8, 1, 7});
    expect_cus((uint64_t[]){UINT64_MAX, UINT64_MAX, 1}, 3, 16, -1, (uint32_t[]){8, 7, 1});
}

static void random_loads_share_all_cus(void **state)
{
    (void)state;
    unsigned seed = 31337;
    for (int i = 0; i < 300; i++) {
        uint64_t costs[16];
        int count = 2 + ref_pick(&seed, 15);
        for (int k = 0; k < count; k++)
            costs[k] = 1 + (uint64_t)ref_pick(&seed, 1 << ref_pick(&seed, 20));
        struct fixture *f = row(costs, count);
        uint32_t cus = (uint32_t)(count + ref_pick(&seed, 40));
        struct devdesc d = device(cus, 8);
        analyse(f);
        struct placement at = placement_of(f, &d);
        const struct plan_layout *layout = layout_side_by_side(&at);
        uint32_t sum = 0;
        for (int k = 0; k < count; k++) {
            assert_true(layout->cus[k] >= 1);
            sum += layout->cus[k];
            for (int other = 0; other < count; other++) /* no inversion of two loads */
                if (costs[k] > costs[other]) assert_true(layout->cus[k] >= layout->cus[other]);
        }
        assert_int_equal(sum, cus);
        fixture_free(f);
    }
}

/* Four stages of which the third has state: groups of neighbours, their CUs in proportion to what they
 * have to do, one for the state, and nothing is left. */
static void groups_are_neighbours_of_balanced_work(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){8000, 8000, 4000, 8000}, 4);
    struct devdesc d = device(16, 8);
    f->graph.nodes.items[2].stateful = true;
    analyse(f);
    struct placement at = placement_of(f, &d);
    const struct plan_layout *layout = layout_in_groups(&at, 3, 0);
    assert_int_equal(layout->mode, PLAN_IN_GROUPS);
    assert_int_equal(layout->count, 3);
    assert_int_equal(layout->sub_device[0], 0);
    assert_int_equal(layout->sub_device[1], 0);
    assert_int_equal(layout->sub_device[2], 1);
    assert_int_equal(layout->sub_device[3], 2);
    assert_int_equal(layout->cus[0], 10);
    assert_int_equal(layout->cus[1], 1);
    assert_int_equal(layout->cus[2], 5);
    layout = layout_in_groups(&at, 2, at.device->cu_count / 2);
    assert_int_equal(layout->cus[0], 8);
    assert_int_equal(layout->cus[1], 8);
    assert_int_equal(layout->sub_device[1], 0);
    assert_int_equal(layout->sub_device[3], 1);
    layout = layout_state_apart(&at, 1);
    assert_int_equal(layout->cus[0], 15);
    assert_int_equal(layout->cus[1], 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(layout->sub_device[i], i == 2);
    assert_null(layout_state_apart(&at, 2));
    assert_null(layout_in_groups(&at, 5, 0));
    assert_int_equal(layout_in_groups(&at, 4, 0)->mode, PLAN_SIDE_BY_SIDE);
    fixture_free(f);
}

/* Whatever the costs: every stage is somewhere, runs of neighbours, no more CUs than there are. */
static void random_groups_cover_all_stages(void **state)
{
    (void)state;
    unsigned seed = 4711;
    for (int i = 0; i < 300; i += draw_step()) {
        uint64_t costs[100];
        int count = 2 + ref_pick(&seed, 99);
        for (int k = 0; k < count; k++)
            costs[k] = 1 + (uint64_t)ref_pick(&seed, 1 << ref_pick(&seed, 20));
        struct fixture *f = row(costs, count);
        for (int k = 0; k < count; k++)
            f->graph.nodes.items[k].stateful = ref_pick(&seed, 5) == 0;
        struct devdesc d = device((uint32_t)(2 + ref_pick(&seed, 40)), 8);
        d.launch_process_cycles = (uint32_t)ref_pick(&seed, 1000);
        analyse(f);
        struct placement at = placement_of(f, &d);
        for (uint32_t groups = 2; groups <= 8; groups++) {
            const struct plan_layout *layout = layout_in_groups(&at, groups, 0);
            assert_int_equal(layout != NULL, groups <= (uint32_t)count && groups <= d.cu_count);
            if (layout == NULL) continue;
            uint32_t sum = 0;
            for (uint32_t g = 0; g < groups; g++) {
                assert_true(layout->cus[g] >= 1);
                sum += layout->cus[g];
            }
            assert_true(sum <= d.cu_count);
            assert_int_equal(layout->sub_device[0], 0);
            assert_int_equal(layout->sub_device[count - 1], groups - 1);
            for (int k = 1; k < count; k++)
                assert_true(layout->sub_device[k] - layout->sub_device[k - 1] <= 1);
        }
        fixture_free(f);
    }
}

static void more_stages_than_cus_run_in_sequence(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){1, 2, 3}, 3);
    struct devdesc d = device(2, 8);
    analyse(f);
    struct plan *plan = fixture_plan(f, &d);
    assert_int_equal(plan->mode, PLAN_IN_SEQUENCE);
    assert_int_equal(plan->sub_device_count, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(plan->stages[i].sub_device, GRAPH_NONE);
        assert_int_equal(plan->stages[i].cu_count, 2);
    }
    d = device(16, 8);
    d.schemes = DEVDESC_EQUALLY;
    assert_int_equal(fixture_plan(f, &d)->mode, PLAN_IN_SEQUENCE);
    fixture_free(f);
    f = row((uint64_t[]){1}, 1); /* one stage has the device, too */
    d = device(16, 8);
    analyse(f);
    plan = fixture_plan(f, &d);
    assert_int_equal(plan->mode, PLAN_IN_SEQUENCE);
    assert_int_equal(plan->stages[0].cu_count, 16);
    fixture_free(f);
}

static void depths_hold_two_full_dispatches(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){1, 1}, 2);
    struct devdesc d = device(16, 64);
    analyse(f);
    struct plan *plan = fixture_plan(f, &d);
    assert_int_equal(fixture_depth(f, 1), 8192); /* 32 KiB of f32 is more than 2 x 8 x 64 */
    assert_int_equal(plan->stages[0].threshold, 64);
    assert_int_equal(plan->stages[0].batch_max % 512, 0);
    assert_true(plan->stages[0].batch_max >= 512);
    assert_int_equal(f->graph.memory_bytes, 32768);
    assert_non_null(strstr(f->graph.buffers.items[1].depth_reason, "8192: enough packets"));
    assert_non_null(strstr(f->graph.buffers.items[1].depth_reason, "at least 1: one packet"));
    fixture_free(f);
    f = row((uint64_t[]){1, 1}, 2);
    d = device(16, 1024);
    analyse(f);
    fixture_plan(f, &d);
    assert_int_equal(fixture_depth(f, 1), 32769);
    assert_non_null(strstr(f->graph.buffers.items[1].depth_reason, "two full dispatches of 'n'"));
    fixture_free(f);
}

static void declared_depths_stay_and_bound_the_threshold(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
    uint32_t ab = fixture_buffer(f, "ab", 0, 10);
    fixture_read(f, a, fixture_port(f, "in", GRAPH_OUTER_IN), 1, 1);
    fixture_write(f, a, ab, 2);
    fixture_read(f, b, ab, 2, 4);
    uint32_t bc = fixture_edge(f, "bc", b, 1, c, 1, 0, 0);
    f->graph.nodes.items[c].stateful = true;
    fixture_write(f, c, fixture_port(f, "out", GRAPH_OUTER_OUT), 1);
    struct devdesc d = device(4, 8);
    analyse(f);
    struct plan *plan = fixture_plan(f, &d);
    assert_int_equal(fixture_depth(f, ab), 10);
    assert_int_equal(plan->stages[a].threshold, 5);
    assert_int_equal(plan->stages[b].threshold, 4); /* 3 x 2 + 4 = 10 */
    assert_non_null(strstr(plan->stages[b].threshold_reason, "'ab'"));
    assert_int_equal(plan->stages[c].threshold, 1);
    assert_true(fixture_depth(f, bc) >= 16);
    fixture_free(f);
}

/* a -> b over a buffer of a declared depth: the threshold is the largest number up to the lanes that fits,
 * and one more would not.  With state it is 1; with work-items as many groups as fill the lanes. */
static void thresholds_are_the_largest_that_depths_admit(void **state)
{
    (void)state;
    unsigned seed = 1729;
    int bounded = 0, whole = 0;
    for (int i = 0; i < 500; i++) {
        uint64_t push = 1 + (uint64_t)ref_pick(&seed, 5), pop = 1 + (uint64_t)ref_pick(&seed, 5);
        uint64_t peek = pop + (uint64_t)ref_pick(&seed, 6),
                 lanes = 1 + (uint64_t)ref_pick(&seed, 16);
        uint64_t depth = push + pop + peek + (uint64_t)ref_pick(&seed, 60);
        bool keeps_state = ref_pick(&seed, 6) == 0;
        uint32_t items = ref_pick(&seed, 4) == 0 ? 1 + (uint32_t)ref_pick(&seed, 6) : 1;
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
        uint32_t ab = fixture_buffer(f, "ab", 0, depth);
        fixture_read(f, a, fixture_port(f, "in", GRAPH_OUTER_IN), 1, 1);
        fixture_write(f, a, ab, push);
        fixture_read(f, b, ab, pop, peek);
        fixture_write(f, b, fixture_port(f, "out", GRAPH_OUTER_OUT), 1);
        f->graph.nodes.items[b].stateful = keeps_state;
        if (items > 1) {
            uint32_t *group = f->graph.nodes.items[b].kernel->group;
            group[0] = items;
            group[1] = group[2] = 1;
        }
        struct devdesc d = device(4, (uint32_t)lanes);
        d.max_group_items = 64;
        d.index_register_bits = 16;
        analyse(f);
        struct plan *plan = fixture_plan(f, &d);
        uint64_t fill = (lanes + items - 1) / items, most = 0;
        while (most < lanes && (most + 1) * push <= depth)
            most++;
        assert_int_equal(plan->stages[a].threshold, most);
        for (most = 0; most < fill && most * pop + peek <= depth; most++)
            ;
        assert_int_equal(plan->stages[b].threshold, keeps_state ? 1 : most);
        bounded += !keeps_state && most < fill;
        whole += !keeps_state && most == fill;
        fixture_free(f);
    }
    assert_true(bounded > 50 && whole > 50);
}

static void cycle_bounds_what_is_ready(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "ab", a, 1, b, 1, 0, 0);
    uint32_t back = fixture_edge(f, "ba", b, 1, a, 1, 3, 0);
    struct devdesc d = device(4, 8);
    analyse(f);
    struct plan *plan = fixture_plan(f, &d);
    assert_int_equal(plan->stages[a].threshold, 3);
    assert_int_equal(plan->stages[b].threshold, 3);
    assert_int_equal(plan->stages[a].batch_max, 3);
    assert_non_null(strstr(plan->stages[a].threshold_reason, "cycle"));
    assert_true(fixture_depth(f, back) < 100);
    fixture_free(f);
}

/* A picture that feeds itself back: as many firings are ready as lang/window.h dispatches. */
static void window_in_a_cycle_is_ready_by_places(void **state)
{
    (void)state;
    unsigned seed = 90;
    int rounds = 0, many = 0;
    for (int i = 0; i < 400; i++) {
        struct window window = {.width = 1 + 2 * (uint32_t)ref_pick(&seed, 4),
                                .height = 1 + 2 * (uint32_t)ref_pick(&seed, 4),
                                .border = (uint32_t)ref_pick(&seed, 4)};
        struct window_shape shape = {1 + (uint64_t)ref_pick(&seed, 7),
                                     1 + (uint64_t)ref_pick(&seed, 7)};
        uint64_t reach = window_reach(window, shape), frame = window_frame(shape);
        uint64_t initial = reach + 1 + (uint64_t)ref_pick(&seed, (int)(2 * frame));
        struct fixture *f = fixture_new();
        uint32_t see = fixture_node(f, "see"), copy = fixture_node(f, "copy");
        struct kernel_port *port = ARENA_NEW(f->cx.arena, struct kernel_port);
        *port = (struct kernel_port){.window_width = window.width,
                                     .window_height = window.height,
                                     .border = (enum border)window.border};
        f->graph.nodes.items[see].kernel->in = port;
        f->graph.nodes.items[see].kernel->in_count = 1;
        fixture_edge(f, "there", see, 1, copy, 1, 0, 0);
        uint32_t back = fixture_buffer(f, "back", initial, 0);
        f->graph.buffers.items[back].shape =
            (struct graph_shape){.row_packets = shape.row_packets, .frame_rows = shape.frame_rows};
        fixture_write(f, copy, back, 1);
        fixture_read(f, see, back, 1, reach + 1);
        f->graph.nodes.items[see].inputs.items[0].history = reach;
        uint64_t ready = 0, rows;
        for (uint64_t more = 1; more > 0; ready += more) {
            uint64_t place = ready % frame, held = initial - (ready - place);
            more = window_firings(window, shape, place, held < frame ? held : frame, false, &rows);
        }
        struct devdesc d = device(1, 1000);
        analyse(f);
        struct plan *plan = fixture_plan(f, &d);
        assert_int_equal(plan->stages[see].threshold, ready);
        assert_int_equal(plan->stages[copy].threshold, ready);
        rounds += window.border == CONTAINER_BORDER_WRAP;
        many += ready > initial - reach;
        fixture_free(f);
    }
    assert_true(rounds > 50 && many > 50);
}

/* Wherever a dispatch begins, the depth lets as many firings be ready, or all up to the end of the
 * frame: the threshold is the largest such number. */
static void window_threshold_is_the_largest_that_its_depth_admits(void **state)
{
    (void)state;
    unsigned seed = 4104;
    int bounded = 0, whole = 0;
    for (int i = 0; i < 500; i++) {
        struct window window = {.width = 1 + 2 * (uint32_t)ref_pick(&seed, 4),
                                .height = 1 + 2 * (uint32_t)ref_pick(&seed, 3),
                                .border = (uint32_t)ref_pick(&seed, 4)};
        struct window_shape shape = {1 + (uint64_t)ref_pick(&seed, 7),
                                     1 + (uint64_t)ref_pick(&seed, 7)};
        uint64_t reach = window_reach(window, shape), frame = window_frame(shape);
        bool wraps = window.border == CONTAINER_BORDER_WRAP;
        uint64_t least = wraps ? reach + 1 : 2 * reach + 1;
        uint64_t depth = least + (uint64_t)ref_pick(&seed, 30), lanes = 12;
        uint64_t most = UINT64_MAX, rows;
        for (uint64_t place = 0; place < frame; place++) {
            uint64_t held = window_first(window, shape, place) + depth;
            uint64_t fits =
                window_firings(window, shape, place, held < frame ? held : frame, false, &rows);
            if (place + fits < frame && fits < most) most = fits;
        }
        struct fixture *f = fixture_new();
        uint32_t see = fixture_node(f, "see");
        struct kernel_port *port = ARENA_NEW(f->cx.arena, struct kernel_port);
        *port = (struct kernel_port){.window_width = window.width,
                                     .window_height = window.height,
                                     .border = (enum border)window.border};
        f->graph.nodes.items[see].kernel->in = port;
        f->graph.nodes.items[see].kernel->in_count = 1;
        uint32_t from = fixture_node(f, "from"), ab = fixture_buffer(f, "ab", 0, depth);
        f->graph.buffers.items[ab].shape =
            (struct graph_shape){.row_packets = shape.row_packets, .frame_rows = shape.frame_rows};
        fixture_read(f, from, fixture_port(f, "in", GRAPH_OUTER_IN), 1, 1);
        fixture_write(f, from, ab, 1);
        fixture_read(f, see, ab, 1, reach + 1);
        f->graph.nodes.items[see].inputs.items[0].history = reach;
        fixture_write(f, see, fixture_port(f, "out", GRAPH_OUTER_OUT), 1);
        struct devdesc d = device(1, (uint32_t)lanes);
        analyse(f);
        struct plan *plan = fixture_plan(f, &d);
        uint64_t threshold = plan->stages[see].threshold;
        if (most == UINT64_MAX) most = depth; /* only the end of a frame cuts dispatches short */
        assert_int_equal(threshold, most < lanes ? most : lanes);
        bounded += most < lanes;
        whole += most >= lanes;
        fixture_free(f);
    }
    assert_true(bounded > 50 && whole > 50);
}

/* b and a pass one packet back and forth, four million times before c goes on. */
static void cycle_that_is_not_followed_to_its_end_claims_no_maximum(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
    fixture_edge(f, "ac", a, 1, c, 1, 0, 0);
    fixture_edge(f, "ca", c, 1, a, 1, 4000000, 0);
    fixture_edge(f, "ab", a, 1, b, 1, 0, 0);
    fixture_edge(f, "ba", b, 1, a, 1, 1, 0);
    uint32_t e = fixture_node(f, "e");
    fixture_edge(f, "ce", c, 1, e, 2, 0, 0);
    fixture_edge(f, "ec", e, 2, c, 1, 4, 0);
    struct devdesc d = device(1, 8);
    analyse(f);
    struct plan *plan = fixture_plan(f, &d);
    assert_string_equal(plan->stages[a].threshold_reason, "no more are ready at once in its cycle");
    assert_non_null(strstr(plan->stages[e].threshold_reason, "known to be ready"));
    fixture_free(f);
}

static void memory_limit_scales_the_raise_and_never_the_least(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){1, 1, 1, 1, 1}, 5);
    struct devdesc d = device(16, 8);
    f->cx.options.max_memory_bytes = 1000;
    analyse(f);
    fixture_plan(f, &d);
    assert_false(diag_failed(f->cx.diags));
    assert_true(f->graph.memory_bytes <= 1000 && f->graph.memory_bytes > 500);
    fixture_free(f);
    f = row((uint64_t[]){1, 1}, 2);
    analyse(f);
    d.memory_bytes = 3;
    fixture_plan(f, &d);
    assert_true(diag_failed(f->cx.diags));
    fixture_free(f);
}

static void raised_depths_stay_free_of_deadlock(void **state)
{
    (void)state;
    unsigned seed = 8086;
    int planned = 0;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 600; i += draw_step()) {
        struct ref_graph g;
        ref_random_graph(&g, &seed, i % 2);
        struct fixture *f = ref_build(&g);
        rate_solve(&f->cx, &f->graph);
        deadlock_check(&f->cx, &f->graph);
        if (!diag_failed(f->cx.diags)) {
            struct devdesc d = device((uint32_t)(1 + i % 7), (uint32_t)(1 + i % 9));
            int depths[REF_BUFFERS];
            long repetitions[REF_NODES];
            bufsize_assign(&f->cx, &f->graph);
            for (int b = 0; b < g.buffer_count; b++)
                depths[b] = (int)fixture_depth(f, (uint32_t)b);
            struct plan *plan = fixture_plan(f, &d);
            for (int b = 0; b < g.buffer_count; b++) {
                assert_true((int)fixture_depth(f, (uint32_t)b) >= depths[b]);
                depths[b] = (int)fixture_depth(f, (uint32_t)b);
            }
            ref_repetitions(f, repetitions);
            assert_true(ref_live(&g, depths, repetitions, &seed));
            for (uint32_t s = 0; s < plan->stage_count; s++) {
                assert_true(plan->stages[s].threshold >= 1);
                assert_true(plan->stages[s].threshold <= d.lanes);
                assert_true(plan->stages[s].batch_max >= plan->stages[s].threshold);
            }
            planned++;
        }
        fixture_free(f);
    }
    assert_true(planned * draw_step() > 200);
}

static void text_names_stages_buffers_and_reasons(void **state)
{
    (void)state;
    struct fixture *f = row((uint64_t[]){10, 30}, 2);
    struct devdesc d = device(4, 8);
    char *text = NULL;
    size_t size;
    analyse(f);
    struct plan *plan = fixture_plan(f, &d);
    FILE *to = open_memstream(&text, &size);
    plan_print(to, &f->graph, plan, NULL, false);
    fclose(to);
    assert_non_null(strstr(text, "pipeline test on test: 4 CUs of 8 lanes\n"));
    assert_non_null(
        strstr(text, "in sequence: each stage in turn has the whole device; by a trial "));
    assert_non_null(strstr(text, "75.0%     4       -          8"));
    assert_non_null(strstr(text, "32768 bytes in buffers"));
    assert_non_null(strstr(text, "packets of a firing\n"));
    assert_non_null(strstr(text, " pop 1 peek 1\n"));
    assert_non_null(strstr(text, " push 1\n"));
    assert_non_null(strstr(text, "out-port"));
    free(text);
    fixture_free(f);
}

static void ten_thousand_stages_are_planned(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t node = fixture_node(f, "n");
    for (int i = 1; i < 10000; i++) {
        uint32_t next = fixture_node(f, "n");
        fixture_edge(f, "b", node, 1, next, 1, 0, 0);
        if (i % 3 == 0) fixture_edge(f, "c", next, 1, node, 1, 4, 0);
        node = next;
    }
    struct devdesc d = device(16, 8);
    analyse(f);
    const struct plan *plan = fixture_plan(f, &d);
    assert_int_equal(plan->stage_count, 10000);
    assert_true(f->graph.memory_bytes < UINT64_C(100) << 20);
    fixture_free(f);
}

TEST_MAIN("place", cmocka_unit_test(cus_follow_the_load),
          cmocka_unit_test(random_loads_share_all_cus),
          cmocka_unit_test(groups_are_neighbours_of_balanced_work),
          cmocka_unit_test(random_groups_cover_all_stages),
          cmocka_unit_test(more_stages_than_cus_run_in_sequence),
          cmocka_unit_test(depths_hold_two_full_dispatches),
          cmocka_unit_test(declared_depths_stay_and_bound_the_threshold),
          cmocka_unit_test(thresholds_are_the_largest_that_depths_admit),
          cmocka_unit_test(cycle_bounds_what_is_ready),
          cmocka_unit_test(window_in_a_cycle_is_ready_by_places),
          cmocka_unit_test(window_threshold_is_the_largest_that_its_depth_admits),
          cmocka_unit_test(cycle_that_is_not_followed_to_its_end_claims_no_maximum),
          cmocka_unit_test(memory_limit_scales_the_raise_and_never_the_least),
          cmocka_unit_test(raised_depths_stay_free_of_deadlock),
          cmocka_unit_test(text_names_stages_buffers_and_reasons),
          cmocka_unit_test(ten_thousand_stages_are_planned))
