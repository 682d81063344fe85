/* SPDX-License-Identifier: MIT */
#include "tests/reference/clock_units.h"

#include <string.h>

void clock_units_open(struct clock_units *u, const struct clock_pipeline *pipeline,
                      struct clock_times *times)
{
    *u = (struct clock_units){.pipeline = pipeline, .times = times};
    for (int i = 0; i < CLOCK_STAGES; i++)
        u->last[i] = -1;
}

static const struct clock_stage *stage_of(const struct clock_units *u, int index)
{
    return &u->pipeline->stages[index];
}

static long cus_of(const struct clock_units *u, int index)
{
    return stage_of(u, index)->state ? 1 : u->pipeline->queue_cus[stage_of(u, index)->queue];
}

static long cores_of(const struct clock_units *u, int index)
{
    return stage_of(u, index)->state ? 1 : u->pipeline->cores;
}

/* Of firings with state only the sum is known: each ends when its share of it has passed. */
static long unit_cost(const struct clock_units *u, int index, long firing)
{
    const struct clock_stage *stage = stage_of(u, index);
    const struct clock_launch *l = &u->launches[index];
    if (!stage->counted) return stage->warp_cycles * (stage->state ? u->pipeline->between : 1);
    if (!stage->state) return clock_counted(l->first + firing);
    long sum = 0;
    for (long i = 0; i < l->firings; i++)
        sum += clock_counted(l->first + i) * u->pipeline->between;
    return sum * (firing + 1) / l->firings - sum * firing / l->firings;
}

static bool is_busy(const struct clock_launch *l)
{
    for (int c = 0; c < CLOCK_CUS; c++)
        if (clock_cu_is_busy(&l->cus[c])) return true;
    return false;
}

/* Some warp has instructions left, or pauses. */
static bool computes(const struct clock_units *u, int index)
{
    const struct clock_launch *l = &u->launches[index];
    const struct clock_stage *stage = stage_of(u, index);
    long there = clock_there(u->pipeline, stage, cus_of(u, index), l->begun_warps);
    if (is_busy(l)) return true;
    return !stage->state && l->ran < clock_pauses(u->pipeline, there, l->sum, l->longest);
}

static bool executes(const struct clock_units *u, int index)
{
    const struct clock_launch *l = &u->launches[index];
    return l->next < l->firings || l->latency > 0 || l->flow > 0 || l->missed > 0 ||
           l->through > 0 || l->under_way > 0 || l->then > 0 || l->waiting > 0 ||
           computes(u, index);
}

/* The packet has not been processed yet. */
static bool is_before(const struct clock_launch *l)
{
    return l->enqueue > 0 || l->process > 0;
}

static bool is_done(const struct clock_units *u, int index)
{
    const struct clock_launch *l = &u->launches[index];
    return !is_before(l) && l->change == 0 && !executes(u, index) && l->behind == 0;
}

/* ---- owners of the units ---- */

static bool goes_before(const struct clock_units *u, int a, int b)
{
    long first = stage_of(u, a)->importance, second = stage_of(u, b)->importance;
    return first != second ? first > second : u->launches[a].number < u->launches[b].number;
}

static bool is_rival(const struct clock_units *u, int index, int other)
{
    return other != index && u->launches[other].present &&
           stage_of(u, other)->queue == stage_of(u, index)->queue;
}

static bool is_kept_waiting(const struct clock_units *u, int index)
{
    for (int i = 0; i < u->pipeline->stage_count; i++)
        if (is_rival(u, index, i) && (u->launches[i].holds || goes_before(u, i, index)))
            return true;
    return false;
}

static void take_units(struct clock_units *u, int index)
{
    struct clock_launch *l = &u->launches[index];
    int last = u->last[stage_of(u, index)->queue];
    bool goes_over = !l->begun || executes(u, index);
    l->holds = l->begun = true;
    l->ran = l->begun_warps = l->sum = l->longest = 0;
    l->on_units = false;
    l->change = goes_over && last >= 0 && last != index ? u->pipeline->change : 0;
    if (goes_over && !is_before(l)) l->on_units = true;
}

static void leave_units(struct clock_units *u, int index)
{
    struct clock_launch *l = &u->launches[index];
    if (l->on_units) u->last[stage_of(u, index)->queue] = index;
    l->holds = l->yields = false;
    l->change = 0;
}

/* Ends, yields and begins of this moment. */
static void settle_ends(struct clock_units *u)
{
    for (int i = 0; i < u->pipeline->stage_count; i++) {
        struct clock_launch *l = &u->launches[i];
        if (!l->holds) continue;
        if (is_done(u, i)) {
            leave_units(u, i);
            l->present = false;
            l->ended = true;
        } else if (l->yields && !computes(u, i)) {
            leave_units(u, i);
        }
    }
}

static void settle_begins(struct clock_units *u)
{
    for (int i = 0; i < u->pipeline->stage_count; i++)
        if (u->launches[i].present && !u->launches[i].holds && !is_kept_waiting(u, i))
            take_units(u, i);
}

/* ---- a cycle ---- */

static void carry(long *left, long most)
{
    *left -= *left < most ? *left : most;
}

static void transfer(struct clock_units *u, int index)
{
    const struct clock_pipeline *p = u->pipeline;
    struct clock_launch *l = &u->launches[index];
    long cus = p->queue_cus[stage_of(u, index)->queue];
    l->flow -= l->flows;
    carry(&l->missed, p->bytes_per_cycle * cus);
    carry(&l->through, p->cache_bytes_per_cycle * cus);
    carry(&l->waiting, l->there);
    if (l->under_way > 0)
        carry(&l->under_way, p->in_flight * l->at_work);
    else
        carry(&l->then, p->cache_bytes_per_cycle * cus);
}

static void execute(struct clock_units *u, int index)
{
    struct clock_launch *l = &u->launches[index];
    u->times->execute[index]++;
    if (l->latency > 0) {
        l->latency--;
        return;
    }
    for (long c = 0; c < cus_of(u, index); c++) {
        while (clock_cu_can_begin(&l->cus[c], cores_of(u, index)) && l->next < l->firings &&
               !l->yields) {
            long cost = unit_cost(u, index, l->next);
            clock_cu_begin(&l->cus[c], cost);
            l->next += stage_of(u, index)->warp_firings;
            l->begun_warps++;
            l->sum += cost;
            if (cost > l->longest) l->longest = cost;
        }
    }
    for (int c = 0; c < CLOCK_CUS; c++)
        (void)clock_cu_pass(&l->cus[c]);
    transfer(u, index);
    l->ran++;
}

static void pass_cycle(struct clock_units *u, int index)
{
    struct clock_launch *l = &u->launches[index];
    if (l->change > 0) {
        l->change--;
        u->times->changes[index]++;
    } else if (executes(u, index)) {
        execute(u, index);
    } else {
        l->behind--;
        u->times->launch[index]++;
    }
}

/* Of the same queue and importance. */
static bool is_in_line(const struct clock_units *u, int a, int b)
{
    return stage_of(u, a)->queue == stage_of(u, b)->queue &&
           stage_of(u, a)->importance == stage_of(u, b)->importance;
}

/* Whether the packet processor of its queue takes the launch: those before it are on the compute units, or, with a
 * barrier, have ended. */
static bool may_process(const struct clock_units *u, int index)
{
    bool barrier = clock_has_barrier(u->pipeline, stage_of(u, index));
    for (int i = 0; i < u->pipeline->stage_count; i++) {
        const struct clock_launch *other = &u->launches[i];
        if (i == index || !other->present || !is_in_line(u, i, index)) continue;
        if (other->number < u->launches[index].number && (barrier || !other->handed)) return false;
    }
    return true;
}

static void process(struct clock_units *u, int index)
{
    struct clock_launch *l = &u->launches[index];
    if (l->enqueue > 0)
        l->enqueue--;
    else if (!u->pipeline->ahead || may_process(u, index))
        l->process--;
    if (!l->holds) return;
    u->times->launch[index]++;
    if (!is_before(l)) l->on_units = true;
}

/* Bytes of the launch flow in this cycle. */
static bool takes_bandwidth(const struct clock_launch *l)
{
    return l->holds && !is_before(l) && l->change == 0 && l->latency == 0 && l->flow > 0;
}

/* Takes the bandwidth of this cycle for a launch, after all that go before it. */
static void take_bandwidth(struct clock_units *u, int index, long *left)
{
    struct clock_launch *l = &u->launches[index];
    l->flows = takes_bandwidth(l) ? l->flow : 0;
    if (l->flows > l->share) l->flows = l->share;
    if (l->flows > *left) l->flows = *left;
    *left -= l->flows;
}

static void divide_bandwidth(struct clock_units *u)
{
    bool had[CLOCK_STAGES] = {false};
    long left = CLOCK_WHOLE;
    for (int round = 0; round < u->pipeline->stage_count; round++) {
        int next = -1;
        for (int i = 0; i < u->pipeline->stage_count; i++)
            if (!had[i] && (next < 0 || goes_before(u, i, next))) next = i;
        had[next] = true;
        take_bandwidth(u, next, &left);
    }
}

static void tick(struct clock_units *u)
{
    settle_ends(u);
    settle_begins(u);
    for (int i = 0; i < u->pipeline->stage_count; i++)
        if (u->launches[i].holds && !is_before(&u->launches[i])) u->launches[i].handed = true;
    divide_bandwidth(u);
    for (int i = 0; i < u->pipeline->stage_count; i++) {
        const struct clock_launch *l = &u->launches[i];
        if (l->present && is_before(l) && (l->holds || u->pipeline->ahead))
            process(u, i);
        else if (l->holds)
            pass_cycle(u, i);
    }
    u->now++;
}

/* ---- from outside ---- */

/* All that it has to do with memory, of bytes that have shares of the bandwidth. */
static void set_bytes(struct clock_launch *l, const struct clock_pipeline *p,
                      const struct clock_stage *stage, long bytes)
{
    long missed = clock_missed(p, stage, l->firings) * p->cus;
    long warps = clock_warps(stage, l->firings);
    l->there = clock_there(p, stage, p->queue_cus[stage->queue], warps);
    l->at_work = clock_at_work(stage, p->queue_cus[stage->queue], l->firings);
    l->missed = missed;
    l->through = p->cache_bytes_per_cycle > 0 ? bytes * p->cus : 0;
    l->under_way = p->in_flight > 0 ? bytes * p->latency : 0;
    l->then = l->under_way > 0 && p->cache_bytes_per_cycle > 0 ? missed : 0;
    l->waiting = bytes > 0 ? (warps - l->there) * p->residence : 0;
}

void clock_units_enqueue(struct clock_units *u, int index, long at, long first, long firings)
{
    const struct clock_pipeline *p = u->pipeline;
    const struct clock_stage *stage = stage_of(u, index);
    struct clock_launch *l = &u->launches[index];
    const struct clock_flow flow = clock_flow_of(p, stage, firings);
    long bytes = clock_bytes(p, stage, firings);
    while (u->now < at)
        tick(u);
    settle_ends(u);
    *l = (struct clock_launch){.present = true,
                               .number = u->count++,
                               .enqueue = p->enqueue,
                               .process = p->process,
                               .behind = p->cleanup,
                               .latency = bytes > 0 ? 2 * p->latency : 0,
                               .flow = p->shared ? flow.left : 0,
                               .share = flow.share,
                               .first = first,
                               .firings = firings};
    if (!p->shared) set_bytes(l, p, stage, bytes);
    for (int i = 0; i < p->stage_count; i++)
        if (is_rival(u, index, i) && u->launches[i].holds &&
            stage_of(u, i)->importance < stage_of(u, index)->importance)
            u->launches[i].yields = true;
}

bool clock_units_wait(struct clock_units *u, long at)
{
    bool present = false;
    for (int i = 0; i < u->pipeline->stage_count; i++)
        present |= u->launches[i].present || u->launches[i].ended;
    while (present) {
        settle_ends(u);
        bool ended = false;
        for (int i = 0; i < u->pipeline->stage_count; i++)
            ended |= u->launches[i].ended;
        if (ended && u->now >= at) return true;
        tick(u);
    }
    return false;
}
