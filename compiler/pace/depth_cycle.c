/* SPDX-License-Identifier: MIT */
/*
 * depth_cycle: what one vector of depths can do, and which raises its critical cycle demands
 * (depth_search.h).
 */
#include "compiler/pace/depth_search.h"

enum { SCALE_BITS = 50 }; /* of sums of tokens, in iterations */

depth_cost depth_price(const struct depth_choice *choice, uint64_t packets)
{
    uint64_t bytes = mul_clamped(packets, choice->width_bytes);
    return choice->counted ? (depth_cost)bytes << 64 : (depth_cost)bytes;
}

static depth_cost add_depth_cost(depth_cost a, depth_cost b)
{
    uint64_t memory = add_clamped(depth_cost_bytes(a), depth_cost_bytes(b));
    return (depth_cost)memory << 64 | add_clamped((uint64_t)a, (uint64_t)b);
}

depth_cost depth_vector_cost(const struct depth_group *group, const uint64_t *depths)
{
    depth_cost sum = 0;
    for (uint32_t i = 0; i < group->choice_count; i++)
        sum = add_depth_cost(sum, depth_price(&group->choices[i], depths[i]));
    return sum;
}

/* Gives every net of the group the depths. */
static void apply_depth_vector(const struct depth_group *group, const uint64_t *depths)
{
    for (uint32_t n = 0; n < group->net_count; n++) {
        const struct depth_net *at = &group->nets[n];
        for (uint32_t i = 0; i < at->net->arc_count; i++) {
            uint32_t choice = at->choice[i];
            if (choice == GRAPH_NONE) continue;
            uint64_t more = depths[choice] - group->choices[choice].floor_packets;
            at->net->arcs[i].initial = at->base[i] + (int64_t)min64(more, (uint64_t)1 << 61);
        }
        net_reset(at->net);
    }
}

/* ---- examining ---- */

static bool run_nets(struct arena *arena, const struct depth_group *group,
                     struct depth_verdict *verdict, uint64_t *budget)
{
    for (uint32_t n = 0; n < group->net_count; n++) {
        struct net *net = group->nets[n].net;
        enum net_outcome outcome = net_run(net, budget);
        if (outcome == NET_LIVE) continue;
        verdict->outcome = outcome == NET_STUCK ? DEPTH_STUCK : DEPTH_UNDECIDED;
        if (outcome != NET_STUCK) return false;
        struct net_cycle cycle = net_waiting(arena, net);
        verdict->net = n;
        verdict->arcs = cycle.arcs;
        verdict->count = cycle.count;
        return false;
    }
    return true;
}

static bool is_enough(const struct throughput *pace, const struct throughput *target, bool beyond)
{
    int order = throughput_compare(pace, target);
    return beyond ? order > 0 : order >= 0;
}

static void time_nets(struct arena *arena, const struct depth_group *group,
                      const struct throughput *target, bool beyond, struct depth_verdict *verdict,
                      uint64_t *budget)
{
    verdict->pace = (struct throughput){.kind = THROUGHPUT_UNBOUNDED, .exact = true};
    for (uint32_t n = 0; n < group->net_count; n++) {
        const struct depth_net *at = &group->nets[n];
        struct throughput pace = throughput_of_net(arena, at->net, at->cost, at->stateful, budget);
        if (pace.kind == THROUGHPUT_RATIO) pace = throughput_scaled(pace, at->turns, 1);
        if (pace.kind == THROUGHPUT_UNKNOWN || pace.kind == THROUGHPUT_STUCK) {
            verdict->outcome = DEPTH_UNDECIDED;
            return;
        }
        if (throughput_compare(&pace, &verdict->pace) >= 0) continue;
        verdict->pace = pace;
        verdict->net = n;
        verdict->arcs = pace.critical;
        verdict->count = pace.critical_count;
        if (!beyond && !is_enough(&pace, target, false)) break;
    }
    if (!is_enough(&verdict->pace, target, beyond)) verdict->outcome = DEPTH_SLOW;
}

struct depth_verdict depth_examine(struct arena *arena, const struct depth_group *group,
                                   const uint64_t *depths, const struct throughput *target,
                                   bool beyond, uint64_t *budget)
{
    struct depth_verdict verdict = {.outcome = DEPTH_ENOUGH};
    apply_depth_vector(group, depths);
    if (run_nets(arena, group, &verdict, budget) && target)
        time_nets(arena, group, target, beyond, &verdict, budget);
    return verdict;
}

/* ---- the bound of a cycle ---- */

/* The minimum that a firing leaves. */
static uint64_t arc_leaving(const struct net_arc *arc, bool fixed)
{
    uint64_t leaving = arc->need - arc->take;
    if (!fixed) return leaving;
    return leaving + floor_mod(arc->initial - (int64_t)leaving, gcd64(arc->add, arc->take));
}

/* Do the arcs lead round, one after the other, in either direction, without phases? */
static bool leads_round(const struct net *net, const struct depth_verdict *verdict)
{
    bool forward = true, backward = true;
    for (uint32_t i = 0; i < verdict->count; i++) {
        const struct net_arc *arc = &net->arcs[verdict->arcs[i]];
        const struct net_arc *next = &net->arcs[verdict->arcs[(i + 1) % verdict->count]];
        forward &= arc->to == next->from;
        backward &= arc->from == next->to;
        if (arc->add_sums || arc->take_sums || arc->needs) return false;
    }
    return verdict->count > 0 && (forward || backward);
}

/* T x the costs on the cycle, rounded down. */
static int128 pace_share(const struct depth_net *at, const struct depth_verdict *verdict,
                         const struct throughput *target)
{
    uint128 cost = 0;
    if (!target || target->kind != THROUGHPUT_RATIO || !at->cost) return 0;
    for (uint32_t i = 0; i < verdict->count; i++) {
        const struct net_arc *arc = &at->net->arcs[verdict->arcs[i]];
        cost += at->cost[arc->to];
    }
    /* The net has `turns` of its iterations in one of the part. */
    uint128 turns = at->turns;
    if (cost >> 48 || turns >> 32 || target->iterations >> 32) return 0;
    uint128 product = cost * turns;
    if (product >> 60 || (product * target->iterations) >> 77) return 0;
    return (int128)((product * target->iterations << SCALE_BITS) / target->cycles);
}

/* The iterations << SCALE_BITS that the cycle lacks; 0: nothing that is certain. */
static uint128 cycle_deficit(const struct depth_group *group, const struct depth_verdict *verdict,
                             const struct throughput *target)
{
    const struct depth_net *at = &group->nets[verdict->net];
    const struct net *net = at->net;
    int128 free = 0, most = pace_share(at, verdict, target);
    if (!leads_round(net, verdict)) return 0;
    for (uint32_t i = 0; i < verdict->count; i++) {
        uint32_t index = verdict->arcs[i];
        const struct net_arc *arc = &net->arcs[index];
        int128 flow = (int128)net_arc_flow(net, arc);
        uint64_t leaving = arc_leaving(arc, at->choice[index] == GRAPH_NONE);
        int128 tokens = (int128)arc->initial - (int128)leaving;
        int128 share = (tokens * ((int128)1 << SCALE_BITS)) / flow;
        free += share + 1; /* rounded up */
        int128 asked = (((int128)arc->need - (int128)leaving) * ((int128)1 << SCALE_BITS)) / flow;
        if (asked > most) most = asked;
    }
    return most > free ? (uint128)(most - free) : 0;
}

/* Packets of the arc that supply the deficit, rounded up. */
static uint64_t deficit_packets(const struct net *net, const struct net_arc *arc, uint128 deficit)
{
    uint128 product, flow = net_arc_flow(net, arc);
    if (__builtin_mul_overflow(deficit, flow, &product)) return 0;
    product = (product + (((uint128)1 << SCALE_BITS) - 1)) >> SCALE_BITS;
    return product > INT64_MAX / 4 ? 0 : (uint64_t)product;
}

/* The same in bytes, if the cheapest of several arcs supplies all of it. */
static uint64_t deficit_bytes(const struct depth_group *group, const struct depth_verdict *verdict,
                              uint128 deficit)
{
    const struct depth_net *at = &group->nets[verdict->net];
    uint128 cheapest = 0, product;
    for (uint32_t i = 0; i < verdict->count; i++) {
        uint32_t choice = at->choice[verdict->arcs[i]];
        if (choice == GRAPH_NONE) continue;
        if (!group->choices[choice].counted) return 0;
        uint128 flow = net_arc_flow(at->net, &at->net->arcs[verdict->arcs[i]]);
        uint128 price = flow * group->choices[choice].width_bytes;
        if (flow >> 62 || price >> 90) return 0;
        if (cheapest == 0 || price < cheapest) cheapest = price;
    }
    if (__builtin_mul_overflow(deficit, cheapest, &product)) return 0;
    product = (product + (((uint128)1 << SCALE_BITS) - 1)) >> SCALE_BITS;
    return product > INT64_MAX / 4 ? 0 : (uint64_t)product;
}

/* ---- raises ---- */

static uint64_t sums_gcd(const uint64_t *sums, uint64_t cycle, uint32_t phases)
{
    uint64_t g = cycle;
    for (uint32_t p = 1; sums && p < phases; p++)
        g = gcd64(g, sums[p]);
    return g;
}

/* Tokens of an arc of room up to the next number that makes a difference to some firing. */
static uint64_t next_step(const struct net *net, const struct net_arc *arc)
{
    uint64_t g = gcd64(sums_gcd(arc->add_sums, arc->add, net->nodes[arc->from].phases),
                       sums_gcd(arc->take_sums, arc->take, net->nodes[arc->to].phases));
    return g - floor_mod(arc->initial, g);
}

static uint64_t missing_now(const struct net *net, const struct net_arc *arc)
{
    int128 missing = (int128)net_need(net, arc) - arc->tokens;
    return missing > 0 && missing <= INT64_MAX ? (uint64_t)missing : 1;
}

static uint64_t arc_raise(const struct net *net, const struct depth_verdict *verdict,
                          uint32_t index, bool alone, uint128 deficit)
{
    const struct net_arc *arc = &net->arcs[verdict->arcs[index]];
    bool stuck = verdict->outcome == DEPTH_STUCK;
    uint64_t raise = stuck ? missing_now(net, arc) : next_step(net, arc);
    if (!alone) return raise;
    if (stuck) {
        struct net_cycle cycle = {verdict->arcs, verdict->count};
        raise = max64(raise, net_missing(net, &cycle, index));
    }
    return max64(raise, deficit_packets(net, arc, deficit));
}

uint32_t depth_raises(const struct depth_group *group, const struct depth_verdict *verdict,
                      const struct throughput *target, uint64_t *raises, uint64_t *bytes)
{
    const struct depth_net *at = &group->nets[verdict->net];
    uint32_t arcs = 0, count = 0;
    for (uint32_t i = 0; i < group->choice_count; i++)
        raises[i] = 0;
    for (uint32_t i = 0; i < verdict->count; i++)
        arcs += at->choice[verdict->arcs[i]] != GRAPH_NONE;
    uint128 deficit = arcs ? cycle_deficit(group, verdict, target) : 0;
    *bytes = deficit_bytes(group, verdict, deficit);
    for (uint32_t i = 0; i < verdict->count; i++) {
        uint32_t choice = at->choice[verdict->arcs[i]];
        if (choice == GRAPH_NONE) continue;
        uint64_t raise = arc_raise(at->net, verdict, i, arcs == 1, deficit);
        if (raises[choice] == 0) count++;
        if (raises[choice] == 0 || raise < raises[choice]) raises[choice] = raise;
    }
    return count;
}
