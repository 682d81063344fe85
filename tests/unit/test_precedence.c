/* SPDX-License-Identifier: MIT */
/* The owner of the compute units, against a clock that ticks; and by hand. */
#include "tests/test.h"

#include "model/precedence.h"

enum { CUS_MOST = 6, LAUNCHES_MOST = 12, WARPS_MOST = 12, QUEUES_MOST = 12 };

struct random {
    uint64_t state;
};

static uint64_t draw(struct random *random, uint64_t low, uint64_t high)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return low + (random->state >> 33) % (high - low + 1);
}

/* ---- a device, its queues, and launches that arrive ---- */

struct arrival {
    uint64_t cycles;
    uint32_t queue;
    struct prt_launch_work work;
    uint64_t each[WARPS_MOST]; /* of a warp, or of a firing */
};

struct scene {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_precedence precedence;
    struct core_timing_cu cus[CUS_MOST];
    struct arrival arrivals[LAUNCHES_MOST]; /* of stage i: by time */
    uint32_t count;
};

static void scene_open(struct scene *s, uint32_t cu_count, uint64_t switch_cycles)
{
    *s = (struct scene){.description = {.cu_count = cu_count,
                                        .lanes = 1,
                                        .cores_per_cu = 1,
                                        .memory_bytes_per_cycle = 1,
                                        .schemes = DEVDESC_BY_COUNTS,
                                        .max_sub_devices = CUS_MOST,
                                        .switch_cycles = (uint32_t)switch_cycles}};
    assert_int_equal(prt_queue_tree_create(&s->description, &s->tree), PRT_OK);
    s->queues.tree = s->tree;
    s->precedence = (struct prt_precedence){
        .queues = &s->queues, .description = &s->description, .cus = s->cus};
    assert_int_equal(prt_precedence_claims(&s->precedence, LAUNCHES_MOST), PRT_OK);
}

static void scene_close(struct scene *s)
{
    prt_precedence_free(&s->precedence);
    prt_queue_table_free(&s->queues);
    prt_device_tree_destroy(s->tree);
}

static uint32_t scene_queue(struct scene *s, struct prt_device_handle on, uint32_t importance)
{
    uint32_t queue;
    assert_int_equal(prt_queue_open(&s->queues, on, importance, 16, &queue), PRT_OK);
    assert_int_equal(prt_precedence_queues(&s->precedence), PRT_OK);
    return queue;
}

static uint32_t root_queue(struct scene *s, uint32_t importance)
{
    return scene_queue(s, prt_device_tree_root(s->tree), importance);
}

/* The next one: equal warps, each a work-group. */
static struct arrival *add(struct scene *s, uint64_t cycles, uint32_t queue, uint64_t warps,
                           uint64_t warp_cycles)
{
    struct arrival *a = &s->arrivals[s->count++];
    *a = (struct arrival){.cycles = cycles, .queue = queue};
    a->work = (struct prt_launch_work){
        .timing = {.warps = warps, .warp_cycles = warp_cycles}, .group_warps = 1, .firings = warps};
    return a;
}

/* ---- what comes out ---- */

struct outcome {
    uint64_t begin, end, waited; /* waited: between its pieces */
    uint64_t switches, pieces;
};

static void tell(struct scene *s, uint32_t claim, struct outcome *outcomes)
{
    const struct prt_piece *piece = &s->precedence.claims[claim].piece;
    struct outcome *o = &outcomes[claim];
    assert_int_equal(piece->resumed, o->pieces > 0);
    if (o->pieces == 0)
        o->begin = piece->begin_cycles;
    else
        o->waited += piece->begin_cycles - o->end;
    o->end = piece->end_cycles;
    o->switches += piece->parts.switch_cycles;
    o->pieces++;
}

static void play(struct scene *s, struct outcome *outcomes)
{
    uint32_t claim;
    for (uint32_t i = 0; i < s->count; i++) {
        struct prt_claim *c = &s->precedence.claims[i];
        while (prt_precedence_next(&s->precedence, s->arrivals[i].cycles, &claim))
            tell(s, claim, outcomes);
        c->queue = s->arrivals[i].queue;
        c->stage = i;
        c->left = s->arrivals[i].work;
        prt_precedence_arrive(&s->precedence, i);
    }
    while (prt_precedence_next(&s->precedence, UINT64_MAX, &claim))
        tell(s, claim, outcomes);
    assert_int_equal(s->precedence.present, 0);
}

/* ---- the clock that ticks ---- */

struct ticking {
    bool present, holds, must_yield, begun, ended;
    bool needs_units, past_launch; /* in its present piece */
    uint64_t launch, change, index, both_ways, flow, children, cleanup;
    uint64_t flows;       /* in this cycle */
    uint64_t next, warps; /* warps or firings */
    uint64_t cu_left[CUS_MOST];
    uint64_t child_at;
    struct outcome outcome;
};

struct clock {
    const struct scene *scene;
    struct ticking launches[LAUNCHES_MOST];
    uint64_t last_stage[CUS_MOST], left_at[CUS_MOST];
    uint64_t now;
};

static const struct prt_queue *queue_of(const struct clock *c, uint32_t i)
{
    return &c->scene->queues.queues[c->scene->arrivals[i].queue];
}

static bool overlap(const struct clock *c, uint32_t i, uint32_t k)
{
    const struct prt_queue *a = queue_of(c, i), *b = queue_of(c, k);
    return a->first_cu < b->first_cu + b->cu_count && b->first_cu < a->first_cu + a->cu_count;
}

static bool goes_before(const struct clock *c, uint32_t i, uint32_t k)
{
    uint32_t a = queue_of(c, i)->importance, b = queue_of(c, k)->importance;
    return a != b ? a > b : i < k;
}

static uint64_t busy_cus(const struct clock *c, uint32_t i)
{
    uint64_t busy = 0;
    for (int cu = 0; cu < CUS_MOST; cu++)
        busy += c->launches[i].cu_left[cu] > 0;
    return busy;
}

static uint64_t unit_cycles(const struct clock *c, uint32_t i, uint64_t unit)
{
    const struct arrival *a = &c->scene->arrivals[i];
    return a->work.timing.each != NULL || a->work.timing.serial ? a->each[unit]
                                                                : a->work.timing.warp_cycles;
}

static bool in_group(const struct clock *c, uint32_t i)
{
    const struct ticking *t = &c->launches[i];
    const struct prt_launch_work *work = &c->scene->arrivals[i].work;
    if (busy_cus(c, i) > 0) return true;
    if (t->next < t->warps && !work->timing.serial && t->next % work->group_warps != 0) return true;
    return t->children > 0 && t->child_at % (work->child_cycles > 0 ? work->child_cycles : 1) != 0;
}

static bool executes(const struct clock *c, uint32_t i)
{
    const struct ticking *t = &c->launches[i];
    return t->next < t->warps || busy_cus(c, i) > 0 || t->both_ways > 0 || t->flow > 0;
}

static bool works(const struct clock *c, uint32_t i)
{
    return executes(c, i) || c->launches[i].children > 0;
}

static bool is_done(const struct clock *c, uint32_t i)
{
    const struct ticking *t = &c->launches[i];
    return t->launch == 0 && t->index == 0 && !works(c, i) && t->cleanup == 0 && t->change == 0;
}

static void let_go(struct clock *c, uint32_t i)
{
    struct ticking *t = &c->launches[i];
    const struct prt_queue *q = queue_of(c, i);
    t->holds = t->must_yield = false;
    t->outcome.end = c->now;
    t->outcome.pieces++;
    for (uint32_t cu = q->first_cu; t->past_launch && cu < q->first_cu + q->cu_count; cu++) {
        c->last_stage[cu] = i;
        c->left_at[cu] = c->now;
    }
}

static bool is_blocked(const struct clock *c, uint32_t i)
{
    for (uint32_t k = 0; k < c->scene->count; k++) {
        const struct ticking *other = &c->launches[k];
        if (k == i || !other->present || !overlap(c, i, k)) continue;
        if (other->holds || goes_before(c, k, i)) return true;
    }
    return false;
}

static bool changes(const struct clock *c, uint32_t i)
{
    const struct prt_queue *q = queue_of(c, i);
    uint32_t latest = q->first_cu;
    for (uint32_t cu = q->first_cu; cu < q->first_cu + q->cu_count; cu++)
        if (c->left_at[cu] > c->left_at[latest]) latest = cu;
    return c->last_stage[latest] != UINT64_MAX && c->last_stage[latest] != i;
}

static void take_units(struct clock *c, uint32_t i)
{
    struct ticking *t = &c->launches[i];
    t->needs_units = !t->begun || works(c, i);
    t->holds = true;
    t->past_launch = false;
    t->change = t->needs_units && changes(c, i) ? c->scene->description.switch_cycles : 0;
    if (!t->begun)
        t->outcome.begin = c->now;
    else
        t->outcome.waited += c->now - t->outcome.end;
    t->begun = true;
}

static void execute_cycle(struct clock *c, uint32_t i)
{
    struct ticking *t = &c->launches[i];
    const struct prt_launch_work *work = &c->scene->arrivals[i].work;
    uint32_t cus = work->timing.serial ? 1 : queue_of(c, i)->cu_count;
    if (t->both_ways > 0) {
        t->both_ways--;
        return;
    }
    for (uint32_t cu = 0; cu < cus; cu++) {
        bool may = !t->must_yield || (!work->timing.serial && t->next % work->group_warps != 0);
        if (t->cu_left[cu] == 0 && t->next < t->warps && may)
            t->cu_left[cu] = unit_cycles(c, i, t->next++);
    }
    for (uint32_t cu = 0; cu < cus; cu++)
        t->cu_left[cu] -= t->cu_left[cu] > 0;
    t->flow -= t->flows;
}

/* Where sub-devices have shares of their own, bytes are counted in the cycles that they take. */
static uint64_t flow_share(const struct prt_launch_work *work)
{
    return work->flow.share > 0 ? work->flow.share : 1;
}

static bool takes_bandwidth(const struct clock *c, uint32_t i)
{
    const struct ticking *t = &c->launches[i];
    return t->holds && t->launch == 0 && t->change == 0 && t->index == 0 && t->both_ways == 0;
}

/* The bandwidth that each takes in this cycle; where they share it, what those before it leave. */
static void divide_bandwidth(struct clock *c)
{
    for (uint32_t i = 0; i < c->scene->count; i++) {
        struct ticking *t = &c->launches[i];
        uint64_t share = flow_share(&c->scene->arrivals[i].work), taken = 0;
        for (uint32_t k = 0; k < c->scene->count; k++) {
            uint64_t most = flow_share(&c->scene->arrivals[k].work);
            if (k != i && takes_bandwidth(c, k) && goes_before(c, k, i))
                taken += c->launches[k].flow < most ? c->launches[k].flow : most;
        }
        t->flows = 0;
        if (!takes_bandwidth(c, i)) continue;
        t->flows = t->flow < share ? t->flow : share;
        if (c->scene->description.memory_shared == 0) continue;
        uint64_t left = taken < CORE_TIMING_WHOLE ? CORE_TIMING_WHOLE - taken : 0;
        if (t->flows > left) t->flows = left;
    }
}

static void pass_cycle(struct clock *c, uint32_t i)
{
    struct ticking *t = &c->launches[i];
    if (t->launch > 0) {
        t->launch--;
    } else if (t->change > 0) {
        t->change--;
        t->outcome.switches++;
    } else if (t->index > 0) {
        t->index--;
    } else if (executes(c, i)) {
        execute_cycle(c, i);
    } else if (t->children > 0) {
        t->children--;
        t->child_at++;
    } else {
        t->cleanup--;
    }
    if (t->launch == 0) t->past_launch = t->needs_units;
}

static void arrive_now(struct clock *c)
{
    for (uint32_t i = 0; i < c->scene->count; i++) {
        const struct arrival *a = &c->scene->arrivals[i];
        struct ticking *t = &c->launches[i];
        if (a->cycles != c->now) continue;
        *t = (struct ticking){.present = true,
                              .launch = a->work.launch_cycles,
                              .index = a->work.index_cycles,
                              .both_ways = a->work.both_ways_cycles,
                              .flow = a->work.flow.cycles * flow_share(&a->work),
                              .children = a->work.device_queue_cycles,
                              .cleanup = a->work.cleanup_cycles,
                              .warps =
                                  a->work.timing.serial ? a->work.firings : a->work.timing.warps};
        for (uint32_t k = 0; k < c->scene->count; k++)
            if (c->launches[k].holds && overlap(c, i, k) && goes_before(c, i, k))
                c->launches[k].must_yield = true;
    }
}

/* Until nothing changes at this moment any more. */
static void settle_now(struct clock *c)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < c->scene->count; i++) {
            struct ticking *t = &c->launches[i];
            if (!t->holds) continue;
            if (is_done(c, i)) {
                let_go(c, i);
                t->present = false;
                t->ended = again = true;
            } else if (t->must_yield && !in_group(c, i)) {
                t->change = 0;
                let_go(c, i);
                again = true;
            }
        }
        for (uint32_t i = 0; i < c->scene->count; i++) {
            struct ticking *t = &c->launches[i];
            if (!t->present || t->holds || is_blocked(c, i)) continue;
            take_units(c, i);
            again = true;
        }
    }
}

static bool all_ended(const struct clock *c)
{
    for (uint32_t i = 0; i < c->scene->count; i++)
        if (!c->launches[i].ended) return false;
    return true;
}

static void tick(const struct scene *s, struct outcome *outcomes)
{
    struct clock *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->scene = s;
    for (int cu = 0; cu < CUS_MOST; cu++)
        c->last_stage[cu] = UINT64_MAX;
    for (; !all_ended(c); c->now++) {
        assert_true(c->now < 100000);
        arrive_now(c);
        settle_now(c);
        divide_bandwidth(c);
        for (uint32_t i = 0; i < s->count; i++)
            if (c->launches[i].holds) pass_cycle(c, i);
    }
    for (uint32_t i = 0; i < s->count; i++)
        outcomes[i] = c->launches[i].outcome;
    free(c);
}

/* ---- random scenes ---- */

static void draw_work(struct random *r, struct arrival *a, bool shared)
{
    struct prt_launch_work *work = &a->work;
    uint32_t group = (uint32_t)draw(r, 1, 3);
    uint64_t units = draw(r, 1, WARPS_MOST / group);
    work->timing.serial = draw(r, 0, 4) == 0;
    work->group_warps = group;
    work->firings = units;
    work->timing.warps = units * group;
    work->timing.warp_cycles = draw(r, 1, 9);
    for (int i = 0; i < WARPS_MOST; i++)
        a->each[i] = draw(r, 1, 9);
    if (!work->timing.serial && draw(r, 0, 1) == 0) work->timing.each = a->each;
    for (int i = 0; work->timing.serial && i < WARPS_MOST; i++)
        a->each[i] = work->timing.warp_cycles * group;
    work->both_ways_cycles = draw(r, 0, 2) == 0 ? draw(r, 0, 20) : 0;
    work->flow.cycles = draw(r, 0, 2) > 0 ? draw(r, 0, 60) : 0;
    if (shared) work->flow.share = CORE_TIMING_WHOLE / draw(r, 1, 7) - draw(r, 0, 9);
    work->child_cycles = draw(r, 1, 5);
    work->device_queue_cycles = draw(r, 0, 3) == 0 ? draw(r, 1, 20) : 0;
    work->launch_cycles = draw(r, 1, 6);
    work->index_cycles = draw(r, 0, 2);
    work->cleanup_cycles = draw(r, 0, 4);
}

/* The whole device, and its two parts. */
static void draw_scene(struct random *r, struct scene *s, uint32_t importances)
{
    struct prt_device_handle on[3];
    uint32_t parts, cus = (uint32_t)draw(r, 2, CUS_MOST), first = (uint32_t)draw(r, 1, cus - 1);
    scene_open(s, cus, draw(r, 0, 5));
    s->description.memory_shared = (uint32_t)draw(r, 0, 1);
    const int64_t counts[] = {PRT_PARTITION_BY_COUNTS, first, cus - first, 0, 0};
    on[0] = prt_device_tree_root(s->tree);
    assert_int_equal(prt_create_sub_devices(s->tree, on[0], counts, 2, on + 1, &parts), PRT_OK);
    for (uint32_t i = 0; i < QUEUES_MOST; i++)
        (void)scene_queue(s, on[draw(r, 0, 2)], (uint32_t)draw(r, 0, importances - 1) * 7);
    uint64_t now = 0;
    for (s->count = 0; s->count < LAUNCHES_MOST; s->count++) {
        struct arrival *a = &s->arrivals[s->count];
        now += draw(r, 0, 1) == 0 ? 0 : draw(r, 0, 40);
        *a = (struct arrival){.cycles = now, .queue = (uint32_t)draw(r, 0, QUEUES_MOST - 1)};
        draw_work(r, a, s->description.memory_shared > 0);
    }
}

static void as_if_it_were_played_cycle_by_cycle(void **unused)
{
    (void)unused;
    struct random random = {20260};
    uint64_t interrupted = 0, twice = 0;
    for (int round = 0; round < 3000; round++) {
        struct scene *s = calloc(1, sizeof *s);
        struct outcome got[LAUNCHES_MOST] = {0}, wanted[LAUNCHES_MOST] = {0};
        assert_non_null(s);
        draw_scene(&random, s, 1 + (uint32_t)round % 4);
        tick(s, wanted);
        play(s, got);
        for (uint32_t i = 0; i < s->count; i++) {
            assert_int_equal(got[i].begin, wanted[i].begin);
            assert_int_equal(got[i].end, wanted[i].end);
            assert_int_equal(got[i].waited, wanted[i].waited);
            assert_int_equal(got[i].switches, wanted[i].switches);
            assert_int_equal(got[i].pieces, wanted[i].pieces);
            interrupted += got[i].pieces > 1;
            twice += got[i].pieces > 2;
            if (round % 4 == 0) assert_int_equal(got[i].pieces, 1);
        }
        scene_close(s);
        free(s);
    }
    assert_true(interrupted > 1000 && twice > 100);
}

/* ---- by hand ---- */

/* Launch 5, clean-up 3, four warps of 10 cycles on one compute unit; switching takes 2: by itself until
 * 48.  Then one of launch 4 and one warp of 6 comes. */
static void interrupt_at(uint64_t cycles, uint32_t lower, uint32_t higher, struct outcome *outcomes)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    scene_open(s, 1, 2);
    struct arrival *a = add(s, 0, root_queue(s, lower), 4, 10);
    a->work.launch_cycles = 5;
    a->work.cleanup_cycles = 3;
    add(s, cycles, root_queue(s, higher), 1, 6)->work.launch_cycles = 4;
    memset(outcomes, 0, 2 * sizeof *outcomes);
    play(s, outcomes);
    scene_close(s);
    free(s);
}

static void a_launch_yields_between_work_groups(void **unused)
{
    (void)unused;
    struct outcome o[2];
    interrupt_at(18, 1, 2, o); /* in its second warp, which ends at 25 */
    assert_int_equal(o[1].begin, 25);
    assert_int_equal(o[1].end, 25 + 4 + 2 + 6);
    assert_int_equal(o[1].pieces, 1);
    assert_int_equal(o[0].end, 37 + 2 + 20 + 3);
    assert_int_equal(o[0].pieces, 2);
    assert_int_equal(o[0].waited, 37 - 25);
    assert_int_equal(o[0].switches, 2);
    interrupt_at(25, 1, 2, o); /* between two */
    assert_int_equal(o[1].begin, 25);
    assert_int_equal(o[0].end, 62);
    interrupt_at(36, 1, 2, o); /* in its last one: only the clean-up is left, and needs no switch */
    assert_int_equal(o[1].begin, 45);
    assert_int_equal(o[1].end, 57);
    assert_int_equal(o[0].end, 60);
    assert_int_equal(o[0].switches, 0);
}

static void before_its_first_work_group_it_yields_at_once(void **unused)
{
    (void)unused;
    struct outcome o[2];
    interrupt_at(3, 1, 2, o); /* 2 cycles of its launch are left, and no stage was there before */
    assert_int_equal(o[1].begin, 3);
    assert_int_equal(o[1].end, 3 + 4 + 0 + 6);
    assert_int_equal(o[0].end, 13 + 2 + 2 + 40 + 3);
    interrupt_at(0, 1, 2, o); /* what comes at the same moment goes first */
    assert_int_equal(o[1].end, 10);
    assert_int_equal(o[0].begin, 10);
    assert_int_equal(o[0].end, 10 + 5 + 2 + 40 + 3);
    assert_int_equal(o[0].pieces, 1);
}

static void only_strictly_more_important_ones_interrupt(void **unused)
{
    (void)unused;
    const uint32_t cases[][2] = {{2, 2}, {2, 1}, {255, 0}, {0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome o[2];
        interrupt_at(18, cases[i][0], cases[i][1], o);
        assert_int_equal(o[0].end, 48);
        assert_int_equal(o[0].pieces, 1);
        assert_int_equal(o[1].begin, 48);
        assert_int_equal(o[1].end, 48 + 4 + 2 + 6);
    }
}

/* Also a queue's launches that come later go before what waits; and what is important has ended
 * before others have the units again. */
static void three_levels_nest(void **unused)
{
    (void)unused;
    struct scene *s = calloc(1, sizeof *s);
    struct outcome o[4] = {0};
    assert_non_null(s);
    scene_open(s, 1, 0);
    uint32_t low = root_queue(s, 0), middle = root_queue(s, 5), high = root_queue(s, 9);
    add(s, 0, low, 3, 100);
    add(s, 50, middle, 2, 30); /* begins at 100 */
    add(s, 110, high, 1, 7);   /* at 130 */
    add(s, 131, middle, 1, 5); /* at 167 */
    play(s, o);
    assert_int_equal(o[2].begin, 130);
    assert_int_equal(o[2].end, 137);
    assert_int_equal(o[1].begin, 100);
    assert_int_equal(o[1].end, 167);
    assert_int_equal(o[1].pieces, 2);
    assert_int_equal(o[3].begin, 167);
    assert_int_equal(o[3].end, 172);
    assert_int_equal(o[0].end, 372);
    assert_int_equal(o[0].waited, 72);
    scene_close(s);
    free(s);
}

static uint64_t latency_behind(const struct prt_launch_work *work, uint64_t at)
{
    struct scene *s = calloc(1, sizeof *s);
    struct outcome o[2] = {0};
    assert_non_null(s);
    scene_open(s, 2, 0);
    add(s, 0, root_queue(s, 0), 1, 1)->work = *work;
    add(s, at, root_queue(s, 1), 1, 1);
    play(s, o);
    scene_close(s);
    free(s);
    return o[1].begin - at;
}

static void a_work_group_of_several_warps_is_not_torn(void **unused)
{
    (void)unused;
    /* Groups of 3 warps of 10 cycles on 2 units: warps 0 and 1 at 0, 2 and 3 at 10, 4 and 5 at 20. */
    const struct prt_launch_work work = {
        .timing = {.warps = 9, .warp_cycles = 10}, .group_warps = 3, .firings = 3};
    assert_int_equal(latency_behind(&work, 5), 15);
    assert_int_equal(latency_behind(&work, 11), 19);
    assert_int_equal(latency_behind(&work, 30), 0);
}

static void children_are_not_torn(void **unused)
{
    (void)unused;
    const struct prt_launch_work work = {.timing = {.warps = 1, .warp_cycles = 10},
                                         .group_warps = 1,
                                         .firings = 1,
                                         .device_queue_cycles = 25,
                                         .child_cycles = 10};
    assert_int_equal(latency_behind(&work, 3), 7);
    assert_int_equal(latency_behind(&work, 10), 0);
    assert_int_equal(latency_behind(&work, 13), 7);
    assert_int_equal(latency_behind(&work, 31), 4); /* the last piece is shorter */
}

static void a_finish_is_one_work_group(void **unused)
{
    (void)unused;
    const struct prt_launch_work work = {
        .timing = {.warps = 1, .warp_cycles = 500, .serial = true}, .group_warps = 1, .firings = 1};
    assert_int_equal(latency_behind(&work, 1), 499);
}

static void firings_with_state_are_not_torn(void **unused)
{
    (void)unused;
    const uint64_t sum = 100; /* of 7 firings: 14, 28, 42, 57, 71, 85, 100 */
    const struct prt_launch_work work = {
        .timing = {.warps = 1, .each = &sum, .serial = true}, .group_warps = 1, .firings = 7};
    assert_int_equal(latency_behind(&work, 14), 0);
    assert_int_equal(latency_behind(&work, 15), 13);
    assert_int_equal(latency_behind(&work, 43), 14);
}

TEST_MAIN("precedence", cmocka_unit_test(as_if_it_were_played_cycle_by_cycle),
          cmocka_unit_test(a_launch_yields_between_work_groups),
          cmocka_unit_test(before_its_first_work_group_it_yields_at_once),
          cmocka_unit_test(only_strictly_more_important_ones_interrupt),
          cmocka_unit_test(three_levels_nest),
          cmocka_unit_test(a_work_group_of_several_warps_is_not_torn),
          cmocka_unit_test(children_are_not_torn), cmocka_unit_test(a_finish_is_one_work_group),
          cmocka_unit_test(firings_with_state_are_not_torn))
