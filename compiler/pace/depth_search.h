/* SPDX-License-Identifier: MIT */
/*
 * depth_search: the minimum memory of connected buffers, by exploring depth vectors.
 *
 * A *group* is a set of nets (token_game.h) whose undeclared buffers, its *choices*, have to be sized
 * together.  A *vector* gives each choice a depth, at least its floor.  Tokens of arcs of room grow with
 * the depths, and nothing else depends on them.  So a larger vector can do everything that a smaller one
 * can.
 *
 * Branching.  Let x be a vector that does not meet the target (to live forever, or to run at a given
 * pace), and V >= x one that does.  Then one of few choices is larger in V, by a known amount:
 *
 *   x is stuck.  The stuck state is unique (token_game.h).  Take a cycle in it: nodes n_i that have
 *   fired k_i times, where n_i waits on the arc a_i for n_(i+1).  With V every node fires forever.  Look
 *   at the first firing beyond the k_i of a node of the cycle, say of n_i.  Until then n_(i+1) has fired
 *   at most k_(i+1) times and n_i k_i times.  So a_i holds at most the tokens of the stuck state plus
 *   those that V added to it.  So a_i is an arc of room of a choice, and V raises it by at least the
 *   tokens that the next firing of n_i lacks.  If only one arc of the cycle is such an arc, it is this
 *   one.  Then the whole cycle has to come round through it, and the raise is net_missing().
 *
 *   x is too slow.  An exact critical cycle (throughput.h) allows no faster schedule with the tokens
 *   that its arcs have.  If V raised none of them it would be as slow.  A firing of the taker depends on
 *   a firing of the adder by an inequality between the tokens and multiples of g, the greatest common
 *   divisor of the tokens that both ends pass.  So a raise has an effect only from the next multiple of
 *   g on.
 *
 * Best first.  Start from the floors and raise one choice of one cycle at a time.  For every V that
 * meets the target, a vector at most V is reached that meets it.  Vectors are taken in order of a lower
 * bound of the memory of everything useful above them.  The first that meets the target is the minimum.
 *
 * (Geilen, Basten & Stuijk, "Minimising buffer requirements of synchronous dataflow graphs with model
 * checking", DAC 2005; Stuijk, Geilen & Basten, "Exploring trade-offs in buffer requirements and
 * throughput constraints for synchronous dataflow graphs", DAC 2006, explore in order of size.  Here it
 * is A*, because long paths whose branches meet again have very many vectors of nearly the minimum
 * size.)
 *
 * The bound of a cycle.  Count the tokens of an arc in iterations: divided by the tokens that pass in
 * one.  A firing of n takes 1 / q[n] from one arc of the cycle and gives as much to the next, so the sum
 * over the cycle and the firings under way never changes.  Once its taker has fired, an arc never holds
 * less than a firing leaves: the tokens that it needs beyond those it takes, and no less than the
 * remainder that its tokens always have.  There are two bounds:
 *
 *   - Just before a firing starts, its arc holds the tokens that it needs.  Hence, for each arc,
 *     sum >= leavings + (need - leaving) of that arc.
 *   - At a pace of T iterations per clock cycle the firings of n hold T x cost[n] on average (Little's
 *     law).  Hence sum >= leavings + T x the sum of the costs.
 *
 * The choices of a stuck or slow cycle have to supply the tokens that it lacks: the cheapest of them per
 * iteration bounds the cost from below.  This holds only if no end of the cycle has phases, because
 * firings take and give different shares there.  The calculation is in fixed point, rounded down.
 *
 * The front.  For the trade-off between memory and pace the target rises: a vector that is faster than
 * all before it is a point of the front, and the search goes on for anything faster.  Keys are bounds
 * for the slower target and remain bounds.
 *
 * Buffers outside of the memory (ports of the pipeline) cost nothing, but of two vectors of the same
 * memory the one with the smaller ports is taken.
 *
 * Limits.  A budget of steps, STATES_MAX vectors, WORDS_MAX depths in all.  Beyond them a lower bound
 * remains: the smallest key.
 */
#ifndef PIPEC_DEPTH_SEARCH_H
#define PIPEC_DEPTH_SEARCH_H

#include "compiler/ir/ratio.h"
#include "compiler/pace/throughput.h"

struct depth_choice { /* an undeclared buffer of the group */
    uint32_t buffer;
    uint64_t floor_packets, width_bytes;
    bool counted; /* it is part of the memory */
};

struct depth_net {
    struct net *net;
    uint32_t *choice; /* by arc: the choice that its room belongs to; GRAPH_NONE */
    int64_t *base;    /* by arc of a choice: its initial tokens at the floor */
    /* If a pace is requested: by node; iterations of the net in one of its part of the graph. */
    const uint64_t *cost;
    const bool *stateful;
    uint64_t turns;
};

struct depth_group {
    struct depth_net *nets;
    uint32_t net_count;
    struct depth_choice *choices;
    uint32_t choice_count;
};

/* Memory in the upper half, bytes of ports in the lower. */
typedef uint128 depth_cost;
#define DEPTH_COST_MAX ((depth_cost)INT64_MAX << 64)

static inline uint64_t depth_cost_bytes(depth_cost cost)
{
    return (uint64_t)(cost >> 64);
}

/* Clamped at DEPTH_COST_MAX. */
depth_cost depth_price(const struct depth_choice *choice, uint64_t packets);
depth_cost depth_vector_cost(const struct depth_group *group, const uint64_t *depths);

/* ---- one vector ---- */

enum depth_outcome { DEPTH_ENOUGH, DEPTH_STUCK, DEPTH_SLOW, DEPTH_UNDECIDED };

struct depth_verdict {
    enum depth_outcome outcome;
    /* Of the slowest net, in iterations of the part; if a pace was requested. */
    struct throughput pace;
    uint32_t net; /* STUCK, SLOW: the cycle, arcs of this net in order; none: no depth helps */
    uint32_t *arcs;
    uint32_t count;
};

/* Is the vector enough to live (target NULL), to be at least as fast as the target, or
 * (`beyond`) faster? */
struct depth_verdict depth_examine(struct arena *arena, const struct depth_group *group,
                                   const uint64_t *depths, const struct throughput *target,
                                   bool beyond, uint64_t *budget);
/* After STUCK or SLOW, with the nets as they are: by choice, the smallest useful raise; 0: none.
 * Returns the number of raises.  *bytes: the minimum of missing memory. */
uint32_t depth_raises(const struct depth_group *group, const struct depth_verdict *verdict,
                      const struct throughput *target, uint64_t *raises, uint64_t *bytes);

/* ---- searching ---- */

struct depth_point { /* of the front */
    const uint64_t *depths;
    uint64_t bytes; /* of the group's choices */
    struct throughput pace;
};

struct depth_request {
    const struct throughput *target; /* NULL: to live */
    const uint64_t *known;           /* a vector that meets the target, or NULL */
    bool front; /* all points up to the target, or to the vector that no depth makes faster */
    uint32_t points_max; /* of a front */
};

struct depth_found {
    const uint64_t *depths;  /* the minimum; NULL: none below the known vector */
    const uint32_t *waiters; /* by choice: arc of packets in the last cycle that raised it */
    bool exact;              /* the minimum, or the whole front; else the budget was spent */
    uint64_t least_bytes;    /* no less is enough */
    struct depth_point *points;
    uint32_t point_count;
};

struct depth_found depth_search(struct arena *arena, const struct depth_group *group,
                                const struct depth_request *request, uint64_t *budget);
/* A vector that is as fast as the target, from one that lives.  Raises along critical cycles,
 * after half of the budget doubles all choices, then shrinks each choice.  NULL: the budget was
 * spent.  Exact for one choice, while there is budget left. */
uint64_t *depth_climb(struct arena *arena, const struct depth_group *group, const uint64_t *from,
                      const struct throughput *target, uint64_t *budget);

#endif
