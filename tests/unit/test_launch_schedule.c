/* SPDX-License-Identifier: MIT */
/* When kernels that launch each other begin and end: cases in closed form, and what holds of random
 * trees: the queue's bound, all that was launched ends, no order is broken, more compute units do
 * not change what is counted. */
#include "tests/test.h"

#include "runtime/device/launch_schedule.h"
#include "tests/reference/clock_trees.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NODES = 4096, ISSUE = 10, START = 100, CUS_MAX = 9, SPANS = 2 * NODES };

static struct prt_firing_span spans[SPANS];

static const struct prt_launch_times times = {ISSUE, START};

static struct prt_launch_schedule *make(uint64_t queue_entries, uint64_t below_root)
{
    struct prt_launch_schedule *s;
    struct prt_launch_limits limits = {.nodes = NODES,
                                       .waits_per_node = 2,
                                       .queue_entries = queue_entries,
                                       .below_root = below_root,
                                       .cu_count = CUS_MAX};
    assert_int_equal(prt_launch_schedule_create(&limits, &s), PRT_OK);
    return s;
}

static uint32_t open_root(struct prt_launch_schedule *s, uint64_t launches_most)
{
    return prt_launch_open(s, PRT_LAUNCH_NONE, PRT_LAUNCH_WITH_PARENT, launches_most, 0);
}

/* A child that launches nothing. */
static uint32_t add_leaf(struct prt_launch_schedule *s, uint32_t parent,
                         enum prt_launch_order order, uint64_t before_cycles, uint64_t cost_cycles)
{
    uint32_t leaf = prt_launch_open(s, parent, order, 0, before_cycles);
    prt_launch_close(s, leaf, cost_cycles);
    return leaf;
}

/* A root of cost 100 that launches `count` children of cost 1000, at equal distances. */
static struct prt_launch_run fan(uint32_t cus, uint32_t count, enum prt_launch_order order,
                                 uint64_t queue_entries, struct prt_launch_report *report)
{
    struct prt_launch_schedule *s = make(queue_entries, 0);
    *report = (struct prt_launch_report){0};
    uint32_t root = open_root(s, count);
    for (uint32_t i = 0; i < count; i++)
        (void)add_leaf(s, root, order, 100 * (i + 1) / (count + 1), 1000);
    prt_launch_close(s, root, 100);
    struct prt_launch_run run = prt_launch_schedule_run(s, cus, &times, report);
    prt_launch_schedule_destroy(s);
    return run;
}

static void a_fan_of_children_in_closed_form(void **unused)
{
    (void)unused;
    struct prt_launch_report report;
    /* One compute unit: everything one after the other. */
    struct prt_launch_run run = fan(1, 4, PRT_LAUNCH_WITH_PARENT, 4, &report);
    assert_int_equal(run.root_cycles, 100);
    assert_int_equal(run.end_cycles, 100 + 4 * ISSUE + 4 * (START + 1000));
    assert_int_equal(report.launches, 4);
    assert_int_equal(report.child_cycles, 4000);
    assert_int_equal(report.launch_cycles, 4 * (ISSUE + START));
    assert_int_equal(report.levels_most, 1);
    assert_int_equal(report.entries_most, 4);
    /* Enough of them: the last child is issued after 4/5 of the root's work and 4 issues. */
    run = fan(5, 4, PRT_LAUNCH_WITH_PARENT, 4, &report);
    assert_int_equal(run.end_cycles, 80 + 4 * ISSUE + START + 1000);
    assert_int_equal(report.wait_cycles, 0);
    /* After the group they begin when the root has ended, each having waited since it was issued. */
    run = fan(5, 4, PRT_LAUNCH_AFTER_GROUP, 4, &report);
    assert_int_equal(run.end_cycles, 100 + 4 * ISSUE + START + 1000);
    assert_int_equal(report.wait_cycles, (80 + 3 * ISSUE) + (60 + 2 * ISSUE) + (40 + ISSUE) + 20);
    run = fan(2, 4, PRT_LAUNCH_AFTER_PARENT, 4, &report);
    assert_int_equal(run.end_cycles, 100 + 4 * ISSUE + 2 * (START + 1000));
}

/* After the parent's dispatch: both roots; after the group: only its own root. */
static void orders_differ_between_roots(void **unused)
{
    (void)unused;
    static const enum prt_launch_order orders[] = {PRT_LAUNCH_AFTER_GROUP, PRT_LAUNCH_AFTER_PARENT};
    static const uint64_t ends[] = {5000, 5000 + START + 1000};
    for (int i = 0; i < 2; i++) {
        struct prt_launch_report report = {0};
        struct prt_launch_schedule *s = make(8, 0);
        uint32_t first = open_root(s, 1);
        (void)add_leaf(s, first, orders[i], 50, 1000);
        prt_launch_close(s, first, 100);
        uint32_t second = open_root(s, 0);
        prt_launch_close(s, second, 5000);
        assert_int_equal(prt_launch_schedule_run(s, 4, &times, &report).end_cycles, ends[i]);
        prt_launch_schedule_destroy(s);
    }
}

/* b waits for a's tree, which is a and its child. */
static void events_wait_for_trees(void **unused)
{
    (void)unused;
    struct prt_launch_report report = {0};
    struct prt_launch_schedule *s = make(8, 1);
    uint32_t root = open_root(s, 2);
    uint32_t a = prt_launch_open(s, root, PRT_LAUNCH_WITH_PARENT, 1, 0);
    (void)add_leaf(s, a, PRT_LAUNCH_WITH_PARENT, 0, 700);
    prt_launch_close(s, a, 0);
    uint32_t b = add_leaf(s, root, PRT_LAUNCH_WITH_PARENT, 0, 500);
    prt_launch_wait(s, b, a);
    prt_launch_close(s, root, 0);
    uint64_t end = prt_launch_schedule_run(s, 8, &times, &report).end_cycles;
    assert_int_equal(end, ISSUE + (START + ISSUE) + (START + 700) + (START + 500));
    assert_int_equal(report.levels_most, 2);
    prt_launch_schedule_destroy(s);
}

/* The root goes on only when the child it asks for has ended; with one compute unit, too. */
static void who_asks_stands_and_gives_its_unit_back(void **unused)
{
    (void)unused;
    for (uint32_t cus = 1; cus <= 2; cus++) {
        for (int order = 0; order < 3; order++) {
            struct prt_launch_report report = {0};
            struct prt_launch_schedule *s = make(8, 0);
            uint32_t root = open_root(s, 2);
            uint32_t child = add_leaf(s, root, (enum prt_launch_order)order, 100, 1000);
            prt_launch_ask(s, child, 1, 100);
            (void)add_leaf(s, root, PRT_LAUNCH_WITH_PARENT, 200, 0);
            prt_launch_close(s, root, 300);
            uint64_t end = prt_launch_schedule_run(s, cus, &times, &report).end_cycles;
            uint64_t second = 100 + ISSUE + START + 1000 + 100 + ISSUE;
            assert_int_equal(end, second + (cus == 1 ? 100 + START : 100));
            prt_launch_schedule_destroy(s);
        }
    }
}

/* A child begins after what its parent executes before the launch; past its cost is its end. */
static void a_child_begins_after_what_its_launch_stands_behind(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t before, end;
    } cases[] = {{60000, 60000 + ISSUE + START + 30000},
                 {0, 60000 + ISSUE},
                 {45000, 45000 + ISSUE + START + 30000},
                 {UINT64_MAX, 60000 + ISSUE + START + 30000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct prt_launch_report report = {0};
        struct prt_launch_schedule *s = make(1, 0);
        uint32_t root = open_root(s, 1);
        (void)add_leaf(s, root, PRT_LAUNCH_WITH_PARENT, cases[i].before, 30000);
        prt_launch_close(s, root, 60000);
        assert_int_equal(prt_launch_schedule_run(s, 2, &times, &report).end_cycles, cases[i].end);
        prt_launch_schedule_destroy(s);
    }
}

/* The root launches at 100, works up to 900 of 1000, and asks: the child executes meanwhile. */
static void a_firing_goes_on_until_it_asks(void **unused)
{
    (void)unused;
    static const uint64_t costs[] = {200, 700, 2000};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        struct prt_launch_report report = {0};
        struct prt_launch_schedule *s = make(1, 0);
        uint32_t root = open_root(s, 1);
        uint32_t child = add_leaf(s, root, PRT_LAUNCH_WITH_PARENT, 100, costs[i]);
        prt_launch_ask(s, child, 1, 900);
        prt_launch_close(s, root, 1000);
        uint64_t asked = 900 + ISSUE, ended = 100 + ISSUE + START + costs[i];
        assert_int_equal(prt_launch_schedule_run(s, 2, &times, &report).end_cycles,
                         100 + (ended > asked ? ended : asked));
        prt_launch_schedule_destroy(s);
    }
}

/* A root of cost 100 that launches `groups` work-groups of cost 1000 after half of it, and a leaf that waits for them. */
static struct prt_launch_run range(uint32_t cus, uint32_t groups, struct prt_launch_report *report)
{
    struct prt_launch_schedule *s = make(2, 0);
    *report = (struct prt_launch_report){0};
    uint32_t root = open_root(s, 2);
    uint32_t first = add_leaf(s, root, PRT_LAUNCH_WITH_PARENT, 50, 1000);
    for (uint32_t i = 1; i < groups; i++)
        prt_launch_close(s, prt_launch_join(s, first, 0), 1000);
    uint32_t last = prt_launch_open(s, root, PRT_LAUNCH_WITH_PARENT, 0, 50);
    prt_launch_wait(s, last, first);
    prt_launch_close(s, last, 7);
    prt_launch_close(s, root, 100);
    struct prt_launch_run run = prt_launch_schedule_run(s, cus, &times, report);
    prt_launch_schedule_destroy(s);
    return run;
}

/* Issued at 50 + ISSUE; the start of the first one lets the others begin; the launch ends with the last. */
static void work_groups_of_a_launch_start_once(void **unused)
{
    (void)unused;
    struct prt_launch_report report;
    const uint64_t issued = 50 + ISSUE, after = START + 7;
    assert_int_equal(range(CUS_MAX, 5, &report).end_cycles, issued + START + 1000 + after);
    assert_int_equal(report.launches, 2);
    assert_int_equal(report.groups, 6);
    assert_int_equal(report.entries_most, 2);
    assert_int_equal(report.launch_cycles, 2 * (ISSUE + START));
    assert_int_equal(report.child_cycles, 5007);
    assert_int_equal(range(1, 5, &report).end_cycles, 100 + 2 * ISSUE + START + 5 * 1000 + after);
    /* two units: the root ends while the first one starts, then they take turns */
    assert_int_equal(range(2, 5, &report).end_cycles, issued + START + 3 * 1000 + after);
}

/* ---- random trees ---- */

struct tree {
    struct prt_launch_schedule *schedule;
    uint64_t state;
    uint32_t most, levels, mates;
    uint64_t work;
};

static uint32_t draw(struct tree *t, uint32_t below)
{
    t->state = t->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(t->state >> 33) % below;
}

static void grow(struct tree *t, uint32_t node, uint32_t level)
{
    uint32_t launches = level < t->levels ? draw(t, t->most + 1) : 0;
    uint32_t first[8];
    uint64_t cost = draw(t, 1000), before = 0;
    for (uint32_t i = 0; i < launches; i++) {
        enum prt_launch_order order = (enum prt_launch_order)draw(t, 3);
        bool last = level + 1 == t->levels;
        before += draw(t, 400);
        first[i] = prt_launch_open(t->schedule, node, order, last ? 0 : t->most, before);
        if (i > 0 && draw(t, 3) == 0) prt_launch_wait(t->schedule, first[i], first[draw(t, i)]);
        grow(t, first[i], level + 1);
        for (uint32_t more = draw(t, 2) * draw(t, 4); more > 0; more--) {
            t->mates++;
            grow(t, prt_launch_join(t->schedule, first[i], last ? 0 : t->most), level + 1);
        }
        if (draw(t, 4) == 0) prt_launch_ask(t->schedule, first[i], i + 1, before);
    }
    t->work += cost;
    prt_launch_close(t->schedule, node, cost);
}

/* On each compute unit spans follow each other, and are all of its cycles; each firing begins once, a child when it has been
 * issued. */
static void check_spans(const struct prt_launch_report *report, uint64_t base, uint64_t end_cycles)
{
    uint64_t held[CUS_MAX] = {0}, last[CUS_MAX] = {0}, children = 0;
    const struct prt_launch_spans *made = &report->spans;
    assert_int_equal(made->omitted, 0);
    assert_int_equal(made->base_cycles, base + end_cycles);
    for (uint64_t i = 0; i < made->count; i++) {
        const struct prt_firing_span *span = &made->items[i];
        assert_true(span->begin_cycles >= base && span->end_cycles <= base + end_cycles);
        assert_true(span->begin_cycles >= last[span->cu]);
        assert_true(span->end_cycles >= span->begin_cycles);
        if (span->level > 0) assert_true(span->begin_cycles >= span->issued_cycles);
        last[span->cu] = span->end_cycles;
        held[span->cu] += span->end_cycles - span->begin_cycles;
        children += span->level > 0 && !span->resumed;
    }
    for (uint32_t i = 0; i < CUS_MAX; i++)
        assert_int_equal(held[i], report->cu_cycles[i]);
    assert_int_equal(children, report->groups);
}

static void spans_without_room_are_counted(void **unused)
{
    (void)unused;
    struct prt_firing_span few[2];
    struct prt_launch_report report = {.spans = {.items = few, .capacity = 2}};
    struct prt_launch_schedule *s = make(8, 0);
    uint32_t root = open_root(s, 3);
    for (int i = 0; i < 3; i++) {
        uint32_t child = prt_launch_open(s, root, PRT_LAUNCH_WITH_PARENT, 0, 1);
        prt_launch_name(s, child, 7);
        prt_launch_close(s, child, 10);
    }
    prt_launch_close(s, root, 2);
    prt_launch_schedule_run(s, 1, &times, &report);
    assert_int_equal(report.spans.count, 2);
    assert_int_equal(report.spans.omitted, 2);
    assert_int_equal(few[0].level, 0);
    assert_int_equal(few[1].interface, 7);
    prt_launch_schedule_destroy(s);
}

/* With exactly the room that one tree needs, and with more. */
static void random_trees_end_within_the_bound(void **unused)
{
    (void)unused;
    for (uint32_t seed = 0; seed < 400; seed++) {
        struct tree t = {.state = seed, .most = 1 + seed % 4, .levels = 1 + seed % 3};
        uint64_t bound = (uint64_t)t.most * t.levels, below = bound - t.most;
        uint64_t room = bound + (uint64_t)(seed % 5) * (seed % 5);
        uint32_t roots = 1 + seed % 7;
        uint64_t launches = 0;
        for (uint32_t cus = 1; cus <= 9; cus += 4) {
            uint64_t cu_cycles[CUS_MAX] = {0}, busy = 0;
            struct prt_launch_kernel kernel = {0};
            struct prt_launch_report report = {
                .cu_cycles = cu_cycles,
                .kernels = &kernel,
                .spans = {.items = spans, .capacity = SPANS, .base_cycles = 1000}};
            t.schedule = make(room, below);
            t.state = seed;
            t.work = t.mates = 0;
            for (uint32_t i = 0; i < roots; i++)
                grow(&t, open_root(t.schedule, t.most), 0);
            uint32_t nodes = prt_launch_count(t.schedule);
            struct prt_launch_run run = prt_launch_schedule_run(t.schedule, cus, &times, &report);
            assert_int_equal(report.launches, nodes - roots - t.mates);
            assert_int_equal(report.groups, nodes - roots);
            assert_true(report.entries_most <= room);
            assert_true(run.end_cycles >= (t.work + report.launch_cycles + cus - 1) / cus);
            assert_true(run.end_cycles <= t.work + report.launch_cycles);
            if (cus == 1) assert_int_equal(run.end_cycles, t.work + report.launch_cycles);
            for (uint32_t i = 0; i < CUS_MAX; i++) {
                assert_true(cu_cycles[i] <= (i < cus ? run.end_cycles : 0));
                busy += cu_cycles[i];
            }
            assert_int_equal(busy, t.work + report.launch_cycles);
            check_spans(&report, 1000, run.end_cycles);
            assert_int_equal(kernel.launches, report.launches);
            assert_int_equal(kernel.groups, report.groups);
            assert_int_equal(kernel.cycles, report.child_cycles);
            assert_int_equal(kernel.wait_cycles, report.wait_cycles);
            assert_int_equal(kernel.longest_cycles, report.longest_cycles);
            assert_int_equal(kernel.level_most, report.levels_most);
            if (launches == 0) launches = report.launches;
            assert_int_equal(launches, report.launches);
            assert_int_equal(prt_launch_count(t.schedule), 0);
            prt_launch_schedule_destroy(t.schedule);
        }
    }
}

/* ---- random trees against the oracle ---- */

/* The same calls to both. */
struct twin {
    struct tree tree;
    struct clock_trees clock;
};

static uint32_t open_both(struct twin *t, uint32_t parent, uint32_t order, uint32_t most,
                          uint64_t before)
{
    int of = parent == PRT_LAUNCH_NONE ? CLOCK_NO_FIRING : (int)parent;
    int firing = clock_tree_open(&t->clock, of, (enum clock_order)order, (int)most, before);
    uint32_t node =
        prt_launch_open(t->tree.schedule, parent, (enum prt_launch_order)order, most, before);
    assert_int_equal(node, firing);
    return node;
}

static void grow_both(struct twin *t, uint32_t node, uint32_t level)
{
    uint32_t launches = level < t->tree.levels ? draw(&t->tree, t->tree.most + 1) : 0, nodes[4];
    bool may_ask[4], asked[4] = {false};
    uint64_t before = 0;
    for (uint32_t i = 0; i < launches; i++) {
        uint32_t order = draw(&t->tree, 3);
        before += draw(&t->tree, 30);
        uint64_t back = draw(&t->tree, 8) == 0 ? draw(&t->tree, 20) : 0;
        nodes[i] = open_both(t, node, order, level + 1 < t->tree.levels ? t->tree.most : 0,
                             before > back ? before - back : 0);
        may_ask[i] = order == PRT_LAUNCH_WITH_PARENT;
        if (i > 0 && draw(&t->tree, 2) == 0) {
            uint32_t first = draw(&t->tree, i);
            prt_launch_wait(t->tree.schedule, nodes[i], nodes[first]);
            clock_tree_wait(&t->clock, (int)nodes[i], (int)nodes[first]);
            may_ask[i] &= may_ask[first];
        }
        grow_both(t, nodes[i], level + 1);
        if (draw(&t->tree, 3) == 0) {
            uint32_t most = level + 1 < t->tree.levels ? t->tree.most : 0;
            uint32_t mate = prt_launch_join(t->tree.schedule, nodes[i], most);
            assert_int_equal(clock_tree_join(&t->clock, (int)nodes[i], (int)most), mate);
            grow_both(t, mate, level + 1);
        }
        uint32_t about = draw(&t->tree, i + 1);
        if (draw(&t->tree, 3) == 0 || !may_ask[about] || asked[about]) continue;
        before += 1 + draw(&t->tree, 40);
        prt_launch_ask(t->tree.schedule, nodes[about], i + 1, before);
        clock_tree_ask(&t->clock, (int)nodes[about], (int)i + 1, before);
        asked[about] = true;
    }
    uint64_t cost = draw(&t->tree, 120);
    prt_launch_close(t->tree.schedule, node, cost);
    clock_tree_close(&t->clock, (int)node, cost);
}

/* N= and SEED= try more. */
static void trees_take_as_long_as_the_oracle_says(void **unused)
{
    (void)unused;
    static struct twin t;
    const char *count = getenv("N"), *first = getenv("SEED");
    uint64_t trees = count != NULL ? strtoull(count, NULL, 10) : 1500;
    uint64_t seed = first != NULL ? strtoull(first, NULL, 10) : 1;
    for (uint64_t end = seed + trees; seed < end; seed++) {
        t.tree = (struct tree){.state = seed * UINT64_C(0x9e3779b97f4a7c15)};
        t.tree.most = 1 + draw(&t.tree, 3);
        t.tree.levels = 1 + draw(&t.tree, 3);
        struct prt_launch_times some = {draw(&t.tree, 9), draw(&t.tree, 25)};
        uint64_t bound = (uint64_t)t.tree.most * t.tree.levels;
        uint64_t room = bound + draw(&t.tree, 8), below = bound - t.tree.most;
        uint32_t cus = 1 + draw(&t.tree, 5), roots = 1 + draw(&t.tree, 4);
        t.clock = (struct clock_trees){.cus = (int)cus,
                                       .issue = some.issue_cycles,
                                       .start = some.start_cycles,
                                       .entries = room,
                                       .below_root = below};
        t.tree.schedule = make(room, below);
        for (uint32_t i = 0; i < roots; i++)
            grow_both(&t, open_both(&t, PRT_LAUNCH_NONE, 0, t.tree.most, 0), 0);
        struct prt_launch_report report = {0};
        struct prt_launch_run run = prt_launch_schedule_run(t.tree.schedule, cus, &some, &report);
        clock_trees_play(&t.clock);
        if (run.end_cycles != t.clock.end)
            fail_msg("SEED=%" PRIu64 ": %" PRIu64 " cycles, the oracle %" PRIu64, seed,
                     run.end_cycles, t.clock.end);
        assert_int_equal(run.root_cycles, t.clock.roots_alone);
        assert_int_equal(report.entries_most, t.clock.entries_most);
        assert_int_equal(report.wait_cycles, t.clock.waited);
        prt_launch_schedule_destroy(t.tree.schedule);
    }
}

/* ---- random kernels ---- */

enum { KERNELS = 5, MOST = 3, LEVELS_MAX = 4 };

/* Kernels that launch each other, the first of them the root's.  A firing on the deepest level launches nothing. */
struct program {
    struct tree tree;
    uint32_t levels;
    uint32_t most[KERNELS]; /* launches of one firing */
    uint32_t child_count[KERNELS], children[KERNELS][KERNELS];
};

static void draw_kernels(struct program *p)
{
    for (uint32_t k = 0; k < KERNELS; k++) {
        p->most[k] = draw(&p->tree, MOST + 1);
        p->child_count[k] = p->most[k] > 0 ? 1 + draw(&p->tree, KERNELS) : 0;
        for (uint32_t i = 0; i < p->child_count[k]; i++)
            p->children[k][i] = draw(&p->tree, KERNELS);
    }
}

/* E and T of lang/device_queue.md, "Bounds", as they are written there. */
static uint64_t entries_bound(const struct program *p, uint32_t kernel, uint32_t levels)
{
    uint64_t below = 0;
    if (levels == 0) return 0;
    for (uint32_t i = 0; i < p->child_count[kernel]; i++) {
        uint64_t child = entries_bound(p, p->children[kernel][i], levels - 1);
        if (child > below) below = child;
    }
    return p->most[kernel] + below;
}

static uint64_t tree_bound(const struct program *p, uint32_t kernel, uint32_t levels)
{
    uint64_t below = 0;
    if (levels == 0) return 0;
    for (uint32_t i = 0; i < p->child_count[kernel]; i++) {
        uint64_t child = tree_bound(p, p->children[kernel][i], levels - 1);
        if (child > below) below = child;
    }
    return p->most[kernel] * (1 + below);
}

/* One firing with its tree.  It asks only for launches that need neither its own end nor that of its dispatch, by
 * themselves or through those that they wait for: the language allows no others. */
static void fire(struct program *p, uint32_t node, uint32_t kernel, uint32_t level)
{
    struct tree *t = &p->tree;
    uint32_t nodes[MOST], launches = level < p->levels ? draw(t, p->most[kernel] + 1) : 0;
    bool may_ask[MOST], asked[MOST] = {false};
    uint64_t before = 0;
    for (uint32_t i = 0; i < launches; i++) {
        uint32_t child = p->children[kernel][draw(t, p->child_count[kernel])];
        enum prt_launch_order order = (enum prt_launch_order)draw(t, 3);
        uint32_t most = level + 1 < p->levels ? p->most[child] : 0;
        before += draw(t, 100);
        nodes[i] = prt_launch_open(t->schedule, node, order, most, before);
        may_ask[i] = order == PRT_LAUNCH_WITH_PARENT;
        for (uint32_t waits = i > 0 ? draw(t, 3) : 0; waits > 0; waits--) {
            uint32_t before = draw(t, i);
            prt_launch_wait(t->schedule, nodes[i], nodes[before]);
            may_ask[i] &= may_ask[before];
        }
        fire(p, nodes[i], child, level + 1);
        uint32_t about = draw(t, i + 1);
        if (draw(t, 2) == 0 || !may_ask[about] || asked[about]) continue;
        prt_launch_ask(t->schedule, nodes[about], i + 1, before += draw(t, 100));
        asked[about] = true;
    }
    prt_launch_close(t->schedule, node, draw(t, 300));
}

/* Exactly the room of the stated bound, or of the launches of a tree where these are fewer.  N= and SEED= try more. */
static void firings_that_ask_stay_within_the_stated_bound(void **unused)
{
    (void)unused;
    const char *count = getenv("N"), *first = getenv("SEED");
    uint64_t programs = count != NULL ? strtoull(count, NULL, 10) : 60000;
    uint64_t seed = first != NULL ? strtoull(first, NULL, 10) : 1;
    uint64_t full = 0;
    for (uint64_t end = seed + programs; seed < end; seed++) {
        struct program p = {.tree.state = seed * UINT64_C(0x9e3779b97f4a7c15)};
        p.levels = 1 + draw(&p.tree, LEVELS_MAX);
        draw_kernels(&p);
        uint64_t bound = entries_bound(&p, 0, p.levels), total = tree_bound(&p, 0, p.levels);
        uint64_t room = bound < total ? bound : total, roots = 1 + draw(&p.tree, 3);
        struct prt_launch_report report = {0};
        p.tree.schedule = make(room, bound - p.most[0]);
        for (uint64_t i = 0; i < roots; i++) {
            fire(&p, open_root(p.tree.schedule, p.most[0]), 0, 0);
        }
        uint32_t nodes = prt_launch_count(p.tree.schedule), cus = 1 + draw(&p.tree, CUS_MAX);
        (void)prt_launch_schedule_run(p.tree.schedule, cus, &times, &report);
        if (report.entries_most > room)
            fail_msg("SEED=%" PRIu64 ": %" PRIu32 " entries of %" PRIu64, seed, report.entries_most,
                     room);
        assert_int_equal(report.launches, nodes - roots);
        full += room > 0 && report.entries_most == room;
        prt_launch_schedule_destroy(p.tree.schedule);
    }
    assert_true(full > 0);
}

/* root { launch c() after parent; launch p(); }, c launches three leaves, p { event e = launch leaf();
 * launch leaf() after e; if (done(e)) launch leaf(); }: c becomes ready while p stands, and p holds room. */
static void a_firing_that_stands_in_done_keeps_its_room(void **unused)
{
    (void)unused;
    for (uint32_t cus = 1; cus <= CUS_MAX; cus++) {
        struct prt_launch_report report = {0};
        struct prt_launch_schedule *s = make(5, 3);
        uint32_t root = open_root(s, 2);
        uint32_t c = prt_launch_open(s, root, PRT_LAUNCH_AFTER_PARENT, 3, 3);
        for (int i = 0; i < 3; i++)
            (void)add_leaf(s, c, PRT_LAUNCH_WITH_PARENT, 3, 1000);
        prt_launch_close(s, c, 10);
        uint32_t p = prt_launch_open(s, root, PRT_LAUNCH_WITH_PARENT, 3, 6);
        uint32_t e = add_leaf(s, p, PRT_LAUNCH_WITH_PARENT, 3, 1000);
        prt_launch_wait(s, add_leaf(s, p, PRT_LAUNCH_WITH_PARENT, 3, 1000), e);
        prt_launch_ask(s, e, 2, 3);
        (void)add_leaf(s, p, PRT_LAUNCH_WITH_PARENT, 6, 1000);
        prt_launch_close(s, p, 10);
        prt_launch_close(s, root, 10);
        (void)prt_launch_schedule_run(s, cus, &times, &report);
        assert_int_equal(report.launches, 8);
        assert_true(report.entries_most <= 5);
        prt_launch_schedule_destroy(s);
    }
}

/* The bound is reached: a path on which every firing launches all it may before a child begins. */
static void the_bound_is_tight(void **unused)
{
    (void)unused;
    enum { LEVELS = 6 };
    struct prt_launch_report report = {0};
    struct tree t = {.schedule =
                         make(UINT64_C(1) * MOST * LEVELS, UINT64_C(1) * MOST * (LEVELS - 1))};
    uint32_t path = open_root(t.schedule, MOST);
    uint32_t open[LEVELS + 1] = {path};
    for (uint32_t level = 1; level <= LEVELS; level++)
        open[level] = prt_launch_open(t.schedule, open[level - 1], PRT_LAUNCH_AFTER_GROUP,
                                      level < LEVELS ? MOST : 0, 0);
    for (uint32_t level = LEVELS + 1; level-- > 0;) {
        for (uint32_t i = 1; level < LEVELS && i < MOST; i++)
            (void)add_leaf(t.schedule, open[level], PRT_LAUNCH_AFTER_GROUP, 0, 1);
        prt_launch_close(t.schedule, open[level], 1);
    }
    (void)prt_launch_schedule_run(t.schedule, 1, &times, &report);
    assert_int_equal(report.entries_most, MOST * LEVELS);
    prt_launch_schedule_destroy(t.schedule);
}

TEST_MAIN("launch_schedule", cmocka_unit_test(a_fan_of_children_in_closed_form),
          cmocka_unit_test(orders_differ_between_roots), cmocka_unit_test(events_wait_for_trees),
          cmocka_unit_test(who_asks_stands_and_gives_its_unit_back),
          cmocka_unit_test(a_child_begins_after_what_its_launch_stands_behind),
          cmocka_unit_test(a_firing_goes_on_until_it_asks),
          cmocka_unit_test(work_groups_of_a_launch_start_once),
          cmocka_unit_test(spans_without_room_are_counted),
          cmocka_unit_test(random_trees_end_within_the_bound),
          cmocka_unit_test(trees_take_as_long_as_the_oracle_says),
          cmocka_unit_test(firings_that_ask_stay_within_the_stated_bound),
          cmocka_unit_test(a_firing_that_stands_in_done_keeps_its_room),
          cmocka_unit_test(the_bound_is_tight))
