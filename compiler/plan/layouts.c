/* SPDX-License-Identifier: MIT */
#include "compiler/plan/layouts.h"
#include "compiler/plan/reference_entries.h"

#include "compiler/ir/ratio.h"

#include <stdlib.h>

static struct plan_layout *layout_new(const struct placement *at, enum plan_mode mode,
                                      uint32_t sub_devices)
{
    struct plan_layout *layout = ARENA_NEW(at->arena, struct plan_layout);
    uint32_t stages = at->plan->stage_count;
    layout->mode = mode;
    layout->count = sub_devices;
    layout->sub_device = ARENA_ARRAY(at->arena, uint32_t, (size_t)stages + 1);
    layout->cus = ARENA_ARRAY(at->arena, uint32_t, (size_t)sub_devices + 1);
    for (uint32_t i = 0; i < stages; i++)
        layout->sub_device[i] = GRAPH_NONE;
    return layout;
}

/* Can the device be cut into so many sub-devices? */
static bool layout_admits(const struct placement *at, uint32_t sub_devices)
{
    const struct devdesc *device = at->device;
    return (device->schemes & DEVDESC_BY_COUNTS) != 0 && sub_devices <= device->max_sub_devices &&
           sub_devices <= device->cu_count;
}

static bool is_stateful(const struct placement *at, uint32_t stage)
{
    return at->graph->nodes.items[at->plan->stages[stage].node].stateful;
}

uint32_t layout_stateful(const struct placement *at)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->plan->stage_count; i++)
        count += is_stateful(at, i);
    return count;
}

struct plan_layout *layout_in_sequence(const struct placement *at)
{
    return layout_new(at, PLAN_IN_SEQUENCE, 0);
}

/* ---- side by side ---- */

struct share { /* of a stage that may have several CUs */
    uint32_t stage;
    uint64_t load; /* scaled: at least 1 */
    uint128 rest;
};

static int compare_load(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->load != b->load) return a->load < b->load ? -1 : 1;
    return a->stage < b->stage ? -1 : 1;
}

static int compare_rest(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->rest != b->rest) return a->rest > b->rest ? -1 : 1;
    return a->stage < b->stage ? -1 : 1;
}

static uint32_t collect_shares(const struct placement *at, struct share *shares)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->plan->stage_count; i++)
        if (!is_stateful(at, i))
            shares[count++] = (struct share){.stage = i, .load = at->plan->stages[i].load};
    return count;
}

/* Largest remainder over those whose exact share is one CU or more; the others get one. */
static void divide_cus(struct plan_layout *layout, struct share *shares, uint32_t count,
                       uint32_t cus)
{
    uint128 sum = 0;
    uint32_t first = 0, given = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += shares[i].load;
    qsort(shares, count, sizeof *shares, compare_load);
    for (; first < count && (uint128)shares[first].load * cus <= sum; first++) {
        layout->cus[shares[first].stage] = 1;
        sum -= shares[first].load;
        cus--;
    }
    for (uint32_t i = first; i < count; i++) {
        uint128 exact = (uint128)shares[i].load * cus;
        layout->cus[shares[i].stage] = (uint32_t)(exact / sum);
        shares[i].rest = exact % sum;
        given += (uint32_t)(exact / sum);
    }
    qsort(shares + first, count - first, sizeof *shares, compare_rest);
    for (uint32_t i = first; i < count && given < cus; i++, given++)
        layout->cus[shares[i].stage]++;
}

struct plan_layout *layout_side_by_side(const struct placement *at)
{
    uint32_t stages = at->plan->stage_count;
    if (stages < 2 || !layout_admits(at, stages)) return NULL;
    struct plan_layout *layout = layout_new(at, PLAN_SIDE_BY_SIDE, stages);
    struct share *shares = ARENA_ARRAY(at->arena, struct share, stages);
    uint32_t count = collect_shares(at, shares);
    for (uint32_t i = 0; i < stages; i++) {
        layout->sub_device[i] = i;
        layout->cus[i] = 1;
    }
    if (count > 0) divide_cus(layout, shares, count, at->device->cu_count - (stages - count));
    return layout;
}

/* ---- groups ---- */

enum { ITEMS_MAX = 64, GROUPS_MAX = 64, BISECTIONS = 62 };

struct item {                  /* neighbours in the order of an iteration, all in one group */
    uint64_t parallel, serial; /* work an iteration */
    uint32_t stages;
    uint32_t first; /* in the order */
};

struct cutting {
    const struct placement *at;
    uint32_t *order; /* stages, as an iteration has them */
    struct item items[ITEMS_MAX];
    uint32_t item_count, groups;
    uint64_t packet_cycles, switch_cycles;        /* an iteration */
    uint32_t equal_cus;                           /* 0: as many as a group needs */
    uint32_t best[GROUPS_MAX + 1][ITEMS_MAX + 1]; /* CUs for the first items in so many groups */
    uint32_t cut[GROUPS_MAX + 1][ITEMS_MAX + 1];
};

#define NO_CUS UINT32_MAX

/* Work is counted in WORK_ONE-ths of the work of all stages in an iteration. */
#define WORK_ONE (UINT64_C(1) << 40)

static uint64_t stage_work(const struct placement *at, uint32_t stage, uint128 whole)
{
    const struct graph_node *node = &at->graph->nodes.items[at->plan->stages[stage].node];
    uint64_t work = (uint64_t)((uint128)at->plan->stages[stage].load * WORK_ONE / whole);
    /* A firing with state has a warp for itself: its lanes are idle. */
    return node->stateful ? work * at->device->lanes : work;
}

static uint128 whole_load(const struct placement *at)
{
    uint128 whole = 0;
    for (uint32_t i = 0; i < at->plan->stage_count; i++)
        whole += at->plan->stages[i].load;
    return whole;
}

/* Items of about the same work, at most ITEMS_MAX of them. */
static void cut_items(struct cutting *c)
{
    const struct placement *at = c->at;
    uint32_t stages = at->plan->stage_count;
    uint128 whole = whole_load(at), sum = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < stages; i++)
        all += stage_work(at, i, whole) + WORK_ONE / stages;
    for (uint32_t i = 0; i < stages; i++) {
        uint32_t item = i;
        uint64_t work = stage_work(at, c->order[i], whole);
        if (stages > ITEMS_MAX)
            item = (uint32_t)min64((uint64_t)(sum * ITEMS_MAX / all), ITEMS_MAX - 1);
        if (c->item_count == 0 || item >= c->item_count) {
            item = c->item_count++;
            c->items[item] = (struct item){.first = i};
        } else {
            item = c->item_count - 1;
        }
        sum += work + WORK_ONE / stages;
        *(is_stateful(at, c->order[i]) ? &c->items[item].serial : &c->items[item].parallel) += work;
        c->items[item].stages++;
    }
}

/* Overhead of a packet and of a switch for one iteration, in the units of work: a round of dispatches
 * makes as many iterations as the smallest batch. */
static void measure_overhead(struct cutting *c)
{
    const struct placement *at = c->at;
    uint128 whole = whole_load(at), cycles = 0;
    uint128 round = (uint128)INT64_MAX << 32;
    for (uint32_t i = 0; i < at->plan->stage_count; i++) {
        const struct plan_stage *stage = &at->plan->stages[i];
        const struct graph_node *node = &at->graph->nodes.items[stage->node];
        uint128 iterations = ((uint128)stage->batch_max << 32) / stage->pace;
        if (iterations < round) round = iterations;
        cycles += (uint128)stage->pace * max64(node->cost_cycles, 1) / at->device->lanes;
    }
    (void)whole;
    /* `cycles` (in PLAN_PACE_ONE-ths) are WORK_ONE; 2^32 / PLAN_PACE_ONE are in `round`. */
    uint64_t packet = (uint64_t)at->device->launch_enqueue_cycles +
                      at->device->launch_process_cycles + at->device->launch_cleanup_cycles;
    uint128 scale = max64((uint64_t)(cycles >> 63 ? INT64_MAX : cycles), 1);
    uint128 unit = ((uint128)WORK_ONE << 32) / scale;
    if (round == 0) round = 1;
    uint128 overhead = packet * unit / round * 2, change = at->device->switch_cycles * unit / round;
    c->packet_cycles = overhead >> 62 ? INT64_MAX / 2 : (uint64_t)overhead;
    c->switch_cycles = change >> 50 ? INT64_MAX >> 14 : (uint64_t)change;
}

/* CUs with which the items from..to are done in that time. */
static uint32_t cus_needed(const struct cutting *c, uint32_t stages, uint64_t parallel,
                           uint64_t serial, uint64_t time)
{
    enum { PACKED = 6 }; /* launches in a packet */
    uint64_t packets = (stages + PACKED - 1) / PACKED;
    uint64_t fixed = add_clamped(serial, mul_clamped(packets, c->packet_cycles));
    if (stages > 1) fixed = add_clamped(fixed, mul_clamped(stages, c->switch_cycles));
    if (fixed > time || (parallel > 0 && fixed == time)) return NO_CUS;
    uint64_t cus = parallel == 0 ? 1 : (parallel + (time - fixed) - 1) / (time - fixed);
    if (c->equal_cus > 0) return cus <= c->equal_cus ? 1 : NO_CUS;
    return cus < NO_CUS ? (uint32_t)cus : NO_CUS;
}

static bool fits_time(struct cutting *c, uint64_t time)
{
    uint32_t limit = c->equal_cus > 0 ? c->groups : c->at->device->cu_count;
    for (uint32_t k = 0; k <= c->item_count; k++)
        c->best[0][k] = k == 0 ? 0 : NO_CUS;
    for (uint32_t g = 1; g <= c->groups; g++) {
        for (uint32_t to = 0; to <= c->item_count; to++) {
            uint64_t parallel = 0, serial = 0;
            uint32_t stages = 0;
            c->best[g][to] = NO_CUS;
            for (uint32_t from = to; from-- > 0;) {
                parallel += c->items[from].parallel;
                serial += c->items[from].serial;
                stages += c->items[from].stages;
                uint32_t before = c->best[g - 1][from];
                uint32_t cus = cus_needed(c, stages, parallel, serial, time);
                if (cus == NO_CUS) break;
                if (before == NO_CUS || (uint64_t)before + cus >= c->best[g][to]) continue;
                c->best[g][to] = before + cus;
                c->cut[g][to] = from;
            }
        }
    }
    return c->best[c->groups][c->item_count] <= limit;
}

/* The shortest time, to a thousandth. */
static bool find_time(struct cutting *c)
{
    uint64_t low = 0, high = INT64_MAX;
    if (!fits_time(c, high)) return false;
    for (int i = 0; i < BISECTIONS && high - low > high / 1024 + 1; i++) {
        uint64_t middle = low + (high - low) / 2;
        if (fits_time(c, middle))
            high = middle;
        else
            low = middle;
    }
    return fits_time(c, high);
}

struct group_work {
    uint64_t parallel, serial;
};

/* Gives CUs that are left, one by one, to the slowest group that can use them. */
static void give_rest(const struct placement *at, struct plan_layout *layout,
                      const struct group_work *works)
{
    uint32_t left = at->device->cu_count;
    for (uint32_t g = 0; g < layout->count; g++)
        left -= layout->cus[g];
    for (; left > 0; left--) {
        uint32_t slowest = GRAPH_NONE;
        uint64_t most = 0;
        for (uint32_t g = 0; g < layout->count; g++) {
            if (works[g].parallel == 0) continue;
            uint64_t time = works[g].parallel / layout->cus[g] + works[g].serial;
            if (slowest != GRAPH_NONE && time <= most) continue;
            slowest = g;
            most = time;
        }
        if (slowest == GRAPH_NONE) return;
        layout->cus[slowest]++;
    }
}

static struct plan_layout *read_cuts(const struct cutting *c)
{
    const struct placement *at = c->at;
    struct plan_layout *layout = layout_new(at, PLAN_IN_GROUPS, c->groups);
    struct group_work *works = ARENA_ARRAY(at->arena, struct group_work, c->groups);
    uint32_t to = c->item_count;
    for (uint32_t g = c->groups; g > 0; g--) {
        uint32_t from = c->cut[g][to];
        for (uint32_t k = from; k < to; k++) {
            works[g - 1].parallel += c->items[k].parallel;
            works[g - 1].serial += c->items[k].serial;
            for (uint32_t s = 0; s < c->items[k].stages; s++)
                layout->sub_device[c->order[c->items[k].first + s]] = g - 1;
        }
        layout->cus[g - 1] =
            c->equal_cus > 0 ? c->equal_cus : c->best[g][to] - c->best[g - 1][from];
        to = from;
    }
    if (c->equal_cus == 0) give_rest(at, layout, works);
    if (c->groups == at->plan->stage_count) layout->mode = PLAN_SIDE_BY_SIDE;
    return layout;
}

struct plan_layout *layout_in_groups(const struct placement *at, uint32_t groups,
                                     uint32_t equal_cus)
{
    if (groups < 2 || groups > GROUPS_MAX || groups > at->plan->stage_count ||
        !layout_admits(at, groups))
        return NULL;
    struct cutting *c = ARENA_NEW(at->arena, struct cutting);
    c->at = at;
    c->groups = groups;
    c->equal_cus = equal_cus;
    c->order = ARENA_ARRAY(at->arena, uint32_t, (size_t)at->plan->stage_count + 1);
    plan_order_stages(at->arena, at->graph, c->order);
    cut_items(c);
    measure_overhead(c);
    return groups <= c->item_count && find_time(c) ? read_cuts(c) : NULL;
}

/* ---- state apart ---- */

struct plan_layout *layout_state_apart(const struct placement *at, uint32_t cus_for_state)
{
    uint32_t stages = at->plan->stage_count, stateful = layout_stateful(at), count = 0;
    if (cus_for_state == 0 || cus_for_state > stateful || stateful == stages ||
        !layout_admits(at, cus_for_state + 1))
        return NULL;
    struct plan_layout *layout = layout_new(at, PLAN_IN_GROUPS, cus_for_state + 1);
    struct share *shares = ARENA_ARRAY(at->arena, struct share, stages);
    uint64_t *sums = ARENA_ARRAY(at->arena, uint64_t, cus_for_state);
    for (uint32_t i = 0; i < stages; i++) {
        layout->sub_device[i] = 0;
        if (is_stateful(at, i))
            shares[count++] = (struct share){.stage = i, .load = at->plan->stages[i].load};
    }
    qsort(shares, count, sizeof *shares, compare_load);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t to = 0;
        for (uint32_t j = 1; j < cus_for_state; j++)
            if (sums[j] < sums[to]) to = j;
        sums[to] = add_clamped(sums[to], shares[i].load);
        layout->sub_device[shares[i].stage] = to + 1;
    }
    layout->cus[0] = at->device->cu_count - cus_for_state;
    for (uint32_t i = 1; i <= cus_for_state; i++)
        layout->cus[i] = 1;
    if (layout->count == stages) layout->mode = PLAN_SIDE_BY_SIDE;
    return layout;
}
