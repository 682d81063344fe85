/* SPDX-License-Identifier: MIT */
#include "compiler/liveness/periodic.h"

#include "compiler/ir/ratio.h"

enum { PASSES_TIMES_ARCS_MAX = 50 * 1000 * 1000 };

struct periodic {
    const struct net *net;
    int128 *start;        /* s, in units of T / 2^period_bits */
    uint32_t period_bits; /* T = 2^period_bits: fine compared with the packets of an iteration */
};

/* Tokens that a cycle of the taker's phases needs beyond those that it takes. */
static int64_t arc_window(const struct net *net, const struct net_arc *arc)
{
    return (int64_t)(net_cycle_need(net, arc) - arc->take);
}

static uint32_t choose_period(const struct net *net)
{
    uint32_t most = 30;
    for (uint32_t i = 0; i < net->arc_count; i++) {
        uint32_t flow_bits = bit_length(net_arc_flow(net, &net->arcs[i]));
        if (flow_bits > most) most = flow_bits;
    }
    return most + 10 < 62 ? most + 10 : 62;
}

/* The smallest integer above the right-hand side of the condition. */
static int128 least_lead(const struct periodic *periodic, const struct net_arc *arc)
{
    uint64_t g = gcd64(arc->add, arc->take);
    int64_t initial = arc->initial - arc_window(periodic->net, arc);
    int128 whole = (int128)initial - (int128)floor_mod(initial, g);
    int128 lead = (int128)arc->take - (int128)g - whole;
    return floor_divide(lead * ((int128)1 << periodic->period_bits),
                        (int128)net_arc_flow(periodic->net, arc)) +
           1;
}

/* One pass over the arcs; *changed says whether a starting time moved.  False: beyond the
 * arithmetic. */
static bool relax_arcs(const struct periodic *periodic, bool *changed)
{
    const int128 limit = (int128)1 << 100;
    for (uint32_t i = 0; i < periodic->net->arc_count; i++) {
        const struct net_arc *arc = &periodic->net->arcs[i];
        if (arc->absent || arc->kind == ARC_ROOM) continue;
        int128 earliest = periodic->start[arc->from] + least_lead(periodic, arc);
        if (earliest > limit) return false;
        if (earliest <= periodic->start[arc->to]) continue;
        periodic->start[arc->to] = earliest;
        *changed = true;
    }
    return true;
}

static bool find_starts(const struct periodic *periodic)
{
    uint64_t passes = (uint64_t)periodic->net->node_count + 1;
    uint64_t affordable = PASSES_TIMES_ARCS_MAX / ((uint64_t)periodic->net->arc_count + 1) + 1;
    for (uint64_t pass = 0; pass < passes && pass < affordable; pass++) {
        bool changed = false;
        if (!relax_arcs(periodic, &changed)) return false;
        if (!changed) return true;
    }
    return false;
}

/* Solves the condition for the initial tokens. */
static bool room_needed(const struct periodic *periodic, const struct net_arc *arc, uint64_t *room)
{
    int128 ahead = periodic->start[arc->to] - periodic->start[arc->from];
    uint128 flow = net_arc_flow(periodic->net, arc);
    if (bit_length((uint128)(ahead < 0 ? -ahead : ahead)) + bit_length(flow) > 125) return false;
    uint64_t g = gcd64(arc->add, arc->take);
    int128 period = (int128)1 << periodic->period_bits;
    int128 bound = (int128)(arc->take - g) * period - ahead * (int128)flow;
    int128 least = floor_divide(bound, period) + 1;
    if (least < 0) least = 0;
    least = (least + (int128)g - 1) / (int128)g * (int128)g;
    least += arc_window(periodic->net, arc);
    *room = (uint64_t)least;
    return least <= INT64_MAX;
}

bool periodic_schedule(const struct net *net, uint64_t *room)
{
    struct arena *arena = arena_create();
    struct periodic periodic = {
        .net = net,
        .start = arena_array(arena, net->node_count, sizeof(int128)),
        .period_bits = choose_period(net),
    };
    bool found = find_starts(&periodic);
    for (uint32_t i = 0; found && room && i < net->arc_count; i++)
        if (net->arcs[i].kind == ARC_ROOM) found = room_needed(&periodic, &net->arcs[i], &room[i]);
    arena_destroy(arena);
    return found;
}

bool periodic_find_starts(struct arena *arena, const struct net *net,
                          struct periodic_starts *starts)
{
    struct periodic periodic = {
        .net = net,
        .start = arena_array(arena, net->node_count, sizeof(int128)),
        .period_bits = choose_period(net),
    };
    *starts = (struct periodic_starts){periodic.period_bits, periodic.start};
    return find_starts(&periodic);
}
