/* SPDX-License-Identifier: MIT */
/*
 * depth_search: the least memory of buffers that hang together, by exploring depth vectors.
 *
 * A *group* is a set of nets (token_game.h) whose undeclared buffers, its *choices*, have to be
 * sized together; a *vector* gives each choice a depth, at least its floor.  Tokens of arcs of
 * room grow with the depths and nothing else depends on them, so what one vector can do every
 * larger one can.
 *
 * Branching.  Let x be a vector that does not do what is asked (to live for ever, or to run at a
 * given pace), and V >= x one that does.  Then one of few choices is larger in V, by a known
 * amount:
 *
 *   x is stuck.  The stuck state is unique (token_game.h).  Take in it a circle of nodes n_i that
 *   have fired k_i times, n_i waiting on the arc a_i for n_(i+1).  With V everybody fires for
 *   ever; look at the first firing beyond the k_i of a node of the circle, say of n_i.  Until then
 *   n_(i+1) has fired at most k_(i+1) times and n_i k_i times, so a_i holds at most what it holds
 *   in the stuck state, plus what V added to it.  So a_i is an arc of room of a choice, and V
 *   raises it by at least what the next firing of n_i misses.  Where only one arc of the circle is
 *   such an arc it is the one; then the whole circle has to come round through it, and the raise
 *   is net_missing().
 *
 *   x is too slow.  An exact critical circuit (throughput.h) allows no schedule more, with the
 *   tokens that its arcs have.  If V raised none of them it would be as slow.  A firing of the
 *   taker depends on one of the adder by an inequality between the tokens and multiples of the
 *   greatest common divisor g of what both ends pass, so a raise has an effect only from the next
 *   multiple of g on.
 *
 * Best first.  So from the floors, raising one choice of one circuit at a time, a vector at most V
 * is reached that does what is asked, for every V that does.  Vectors are taken in order of a
 * lower bound of the memory of everything useful above them; the first that does what is asked is
 * the least.  (Geilen, Basten & Stuijk, "Minimising buffer requirements of synchronous dataflow
 * graphs with model checking", DAC 2005; Stuijk, Geilen & Basten, "Exploring trade-offs in buffer
 * requirements and throughput constraints for synchronous dataflow graphs", DAC 2006, who explore
 * in order of size.  Here it is A*, for long ways where branches meet again have very many vectors
 * of nearly the least size.)
 *
 * The bound of a circuit.  Count the tokens of an arc in iterations: divided by what passes in
 * one. A firing of n takes 1 / q[n] from one arc of the circuit and gives as much to the next, so
 * the sum over the circuit and the firings under way never changes.  Once its taker has fired, an
 * arc never holds less than what a firing leaves (what it needs beyond what it takes, and no less
 * than the remainder that its tokens always have).  Just before a firing starts its arc holds what
 * it needs; hence, for each arc, sum >= leavings + (need - leaving) of that arc.  And at a pace of
 * T iterations a cycle the firings of n hold T x cost[n] on the average (Little's law), hence sum
 * >= leavings + T x the sum of the costs.  What a stuck or slow circuit misses of these its
 * choices have to supply: the cheapest of them per iteration bounds the cost from below.  (Only
 * where no end of the circuit has phases: a firing takes and gives different shares there.)  Fixed
 * point, rounded down.
 *
 * The front.  For the trade-off between memory and pace the target rises: a vector that is faster
 * than all before it is a point of the front, and the search goes on for anything still faster.
 * Keys are bounds for the slower target and remain bounds.
 *
 * Buffers outside of the memory (ports of the pipeline) cost nothing, but of two vectors of the
 * same memory the one with the smaller ports is taken.
 *
 * Limits.  A budget of steps, STATES_MAX vectors, WORDS_MAX depths in all.  Beyond them a lower
 * bound remains: the smallest key.
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
    /* Where a pace is asked for: by node; iterations of the net in one of its part of the graph. */
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
    /* Of the slowest net, in iterations of the part; where a pace was asked for. */
    struct throughput pace;
    uint32_t net; /* STUCK, SLOW: the circuit, arcs of this net in order; none: no depth helps */
    uint32_t *arcs;
    uint32_t count;
};

/* Gives every net of the group the depths. */
void depth_apply(const struct depth_group *group, const uint64_t *depths);
/* Is the vector enough to live (target NULL), to be at least as fast as the target, or (`beyond`)
 * faster than it? */
struct depth_verdict depth_examine(struct arena *arena, const struct depth_group *group,
                                   const uint64_t *depths, const struct throughput *target,
                                   bool beyond, uint64_t *budget);
/* After STUCK or SLOW, with the nets as they are: by choice, the least useful raise; 0: none.
 * Returns how many there are.  *bytes: memory that is missing at least. */
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
    const uint64_t *known;           /* a vector that is enough, or NULL */
    bool front;                      /* all points up to the target, or where no depth helps */
    uint32_t points_max;             /* of a front */
};

struct depth_found {
    const uint64_t *depths;  /* the least; NULL: none below what was known */
    const uint32_t *waiters; /* by choice: arc of packets in the last circuit that raised it */
    bool exact;              /* the least, or the whole front; else the budget was spent */
    uint64_t least_bytes;    /* no less is enough */
    struct depth_point *points;
    uint32_t point_count;
};

struct depth_found depth_search(struct arena *arena, const struct depth_group *group,
                                const struct depth_request *request, uint64_t *budget);
/* Any vector that is as fast as the target, from one that lives: raises along critical circuits,
 * beyond half of the budget of all choices together, then shrinks each choice.  NULL: the budget
 * was spent.  Exact for one choice, while there is budget left. */
uint64_t *depth_climb(struct arena *arena, const struct depth_group *group, const uint64_t *from,
                      const struct throughput *target, uint64_t *budget);

#endif
