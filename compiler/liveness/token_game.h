/* SPDX-License-Identifier: MIT */
/*
 * token_game: bulk execution of a weighted event graph, the common form of all liveness questions.
 *
 * An *arc* leads from a node that adds tokens, its adder, to a node that takes them, its taker.  A node
 * can fire when every arc into it holds the tokens that it needs.  A channel (writer, reader, push u,
 * pop v, peek K, initial packets D, reserve H) becomes two kinds of arcs:
 *
 *     packets   writer -> reader   adds u, takes v, needs K, begins with D
 *     room      reader -> writer   adds v, takes and needs u, begins with depth - D - H (one per
 *                                  reader: the slowest decides)
 *
 * H are the packets that the reader keeps after it has passed them (the history of a window): their
 * room is freed later.  The model counts them as taken from the beginning on, as in the steady state.
 *
 * Phases.  Firing k of a node with P phases adds, takes and needs the numbers of phase k modulo P: u, v,
 * K are sequences of that period.  Their sums over one cycle of phases are positive.
 *
 * Liveness.  Let q be the repetition counts (whole cycles of phases).  Every node fires forever if and
 * only if every node n can fire q[n] times from the initial marking, however often others fire
 * meanwhile.
 *
 * Proof.  Let A(j) be the tokens that the first j firings of the adder add.  Let N(k) be the maximum of
 * tokens of the arc that one of the first k firings of the taker depends on: the largest of (the tokens
 * that the firings before it take) + (the tokens that it needs).  Firing (n, k) waits for firing (w, j)
 * of each arc w -> n, where j is the smallest number such that initial + A(j) >= N(k), if j > 0.
 *
 * Both sequences are periodic, and by consistency with the same period: A(j + q[w]) = A(j) + c and
 * N(k + q[n]) = N(k) + c for k >= 1, where c tokens pass in one iteration.  So (n, k + q[n]) waits for
 * (w, j + q[w]) if j > 0, and else for some (w, i) with i <= q[w].
 *
 * Suppose every (n, k) with k <= q[n] is reached.  Then (n, k + q[n]) is reached, by induction over the
 * firings that (n, k) waits for.  If j > 0, (w, j + q[w]) is reached by induction.  If j <= 0, (w, i) is
 * reached by assumption.  The other direction is trivial.
 *
 * (For one phase and tokens >= 0 this is theorem 1 of Lee & Messerschmitt, "Static scheduling of
 * synchronous data flow programs for digital signal processing", IEEE Trans. Computers C-36(1), 1987.
 * For phases see Bilsen, Engels, Lauwereins & Peperstraete, "Cyclo-static dataflow", IEEE Trans. Signal
 * Processing 44(2), 1996.)
 *
 * Order.  Each arc has one taker, so firing one node never disables another.  Hence the order does not
 * matter, and the state in which no node can fire is unique.
 *
 * Work.  Each node has a limit, q[n] at first.  It is raised only when a node below its own limit needs
 * more.  So the work does not depend on how far ahead a node could run.  `net_run` fires a node as often
 * as it can at once.  A *step* is one such attempt, and the callers' budgets count steps.
 *
 * Users.  Every analysis that plays a graph plays it here.  Two do not: a trial (plan/trial.h), which executes the real
 * scheduler, and the loader (runtime/verify), which shares nothing with the compiler, so that it finds mistakes made here.
 *
 * A stuck net may get tokens and run on.  The cost of that depends on the nodes that are asked again,
 * not on the size of the net.  So a limit is raised only for nodes that were asked since, and the trail
 * to a cycle of waiting nodes is kept up to the first node that was asked since.
 */
#ifndef PIPEC_TOKEN_GAME_H
#define PIPEC_TOKEN_GAME_H

#include "compiler/ir/ratio.h"
#include "compiler/liveness/channels.h"
#include "lang/window.h"

enum arc_kind {
    ARC_PACKETS,
    ARC_ROOM_DECLARED,
    ARC_ROOM
}; /* in order of preference as a reason to wait */

struct net_arc {
    uint32_t from, to;  /* nodes of the net */
    uint64_t add, take; /* of a cycle of phases of its end */
    uint64_t need;      /* of a firing; with several phases: the maximum */
    /* Where the adder (the taker) has several phases, else NULL: the tokens that the first k
     * phases add (take), k = 0..phases; the tokens that each phase needs. */
    const uint64_t *add_sums, *take_sums, *needs;
    /* After net_use_places, of a reader with a 2-D window: the need of firing k follows from its
     * place in the frame.  `frame` 0: every firing needs `need`. */
    uint64_t frame, reach;
    bool whole; /* border wrap: a firing needs all of its round, `frame` packets */
    /* After net_use_history: the first `kept` tokens that the adder adds are not there for the taker;
     * `kept_left` of them are still to come. */
    uint64_t kept, kept_left;
    int64_t initial, tokens;
    uint32_t channel; /* index into the channels */
    enum arc_kind kind;
    bool absent; /* as if it always had enough */
};

struct net_node {
    uint32_t node; /* of the channels' graph */
    uint32_t phases;
    uint64_t repetitions; /* smallest counts of the net: whole cycles of phases */
    uint64_t fired, limit;
    uint32_t first_in, first_out; /* into in_arcs, out_arcs; the next node's is the end */
    uint32_t keeper;              /* the arc into it, counted from first_in, that blocked it last */
    bool queued, blocked;         /* blocked: in net->blocked */
};

struct net_firings { /* in a row */
    uint32_t node;   /* of the net */
    uint64_t count;
};

struct net_trace { /* the firings, in order */
    struct arena *arena;
    VEC(struct net_firings) runs;
    size_t most; /* later runs are not kept */
    bool is_cut;
};

struct net_trail; /* the waits that were followed so far (token_game.c) */

struct net {
    struct net_node *nodes; /* one more than node_count: the end of the last list */
    uint32_t node_count;
    struct net_arc *arcs;
    uint32_t arc_count;
    uint32_t *in_arcs, *out_arcs;
    uint32_t *queue;
    uint32_t queue_head, queue_count;
    uint32_t *blocked; /* asked since limits were raised, and still below their own */
    uint32_t blocked_count;
    uint32_t unfinished; /* nodes that have fired less than their repetitions */
    struct net_trail *trail;
    bool fresh;              /* no node has been asked yet */
    bool too_large;          /* some number is beyond 2^61: nothing can be decided */
    struct net_trace *trace; /* or NULL */
};

enum net_outcome { NET_LIVE, NET_STUCK, NET_UNDECIDED };

struct net_depth { /* of a buffer */
    uint64_t packets;
    bool declared; /* its arcs of room are ARC_ROOM_DECLARED */
};

/* The net of one block, or of any channels, which need not be connected: arcs of packets, and
 * with `depths` (by buffer) arcs of room.  Without depths the i-th channel of the block has arc
 * i; with depths it has arcs 2i (packets) and 2i + 1 (room).  `block` NULL: all channels, and all nodes
 * of the graph with their numbers. */
struct net *net_create(struct arena *arena, const struct channels *channels,
                       const struct channel_block *block, const struct net_depth *depths);
/* A net of the caller's arcs.  Each arc takes at least one token, and has one phase, `initial`
 * tokens and any number as `channel`.  Node i has to fire repetitions[i] times. */
struct net *net_of_arcs(struct arena *arena, const struct net_arc *arcs, uint32_t arc_count,
                        const uint64_t *repetitions, uint32_t node_count);
/* Tokens that a depth gives the arc of room of a channel at the beginning; may be negative. */
int64_t net_room(const struct channels *channels, const struct channel *channel, uint64_t depth);
/* Back to the initial marking. */
void net_reset(struct net *net);
/* Runs on from the present marking; takes steps from *budget. */
enum net_outcome net_run(struct net *net, uint64_t *budget);
/* After NET_LIVE: fires every node once more as often as it repeats.  The marking stays the
 * same.  That is possible: the proof above holds for firing k + q[n] of every k from 1 to the
 * number of firings made.  False: the budget is spent. */
bool net_run_period(struct net *net, uint64_t *budget);
/* On entry, least[n] is a wanted number of firings of node n.  Raises these numbers to the smallest ones that are possible:
 * with which each firing finds the tokens that it needs.  Requires that there are such numbers.  False: the budget is
 * spent. */
bool net_least_firings(const struct net *net, uint64_t *least, uint64_t *budget);
/* From the initial marking, fires each node up to firings[node] times.  False: not all of them
 * can, or the budget is spent. */
bool net_run_up_to(struct net *net, const uint64_t *firings, uint64_t *budget);
/* From the present marking, fires one node after the other, in order of their numbers and each as often as it is ready,
 * over and over until none is.  `turn` learns of the firings before they happen; its false ends the run.  A look at a node
 * takes a step from *budget, and one for each arc into it.  True: all nodes have reached their limits. */
typedef bool net_turn(void *data, uint32_t node, uint64_t firings);
bool net_run_in_turns(struct net *net, uint64_t *budget, net_turn *turn, void *data);
/* Tokens that pass the arc in one iteration. */
static inline uint128 net_arc_flow(const struct net *net, const struct net_arc *arc)
{
    const struct net_node *adder = &net->nodes[arc->from];
    return (uint128)(adder->repetitions / adder->phases) * arc->add;
}

/* Does the arc block its taker? */
bool net_is_blocked(const struct net *net, const struct net_arc *arc);
/* Tokens that the next firing of the arc's taker needs. */
uint64_t net_need(const struct net *net, const struct net_arc *arc);
/* Tokens that a whole cycle of the taker's phases needs at its beginning. */
uint64_t net_cycle_need(const struct net *net, const struct net_arc *arc);
/* Firings of `node` that are possible at once in the present marking. */
uint64_t net_enabled(const struct net *net, uint32_t node);
/* The same, up to the node's limit. */
uint64_t net_ready(const struct net *net, uint32_t node);
/* Fires a node `count` times; requires that it can.  For callers that choose the order
 * themselves. */
void net_fire(struct net *net, uint32_t node, uint64_t count);

/* ---- firings that last ----
 * For callers that have a clock: a firing takes its tokens when it starts, and adds its tokens when it ends. */

/* The initial marking, with the limits firings[node]; every node is asked.  False: a number is too large. */
bool net_begin_up_to(struct net *net, const uint64_t *firings);
/* The next node that is to be asked whether it can fire; false: none. */
bool net_next(struct net *net, uint32_t *node);
/* Asks a node below its limit again. */
void net_ask(struct net *net, uint32_t node);
/* Starts the next `count` firings of a node; requires that it can. */
void net_start(struct net *net, uint32_t node, uint64_t count);
/* Ends `count` firings from number `first` on, and asks the nodes that get tokens. */
void net_end(struct net *net, uint32_t node, uint64_t first, uint64_t count);
/* From now on a firing with a 2-D window needs only the packets that it sees at its place in the
 * frame, not the maximum of all places.  The scheduler works by places, the proofs of liveness
 * do not.  So only net_run_without and net_enabled may follow.  Requires the channels of the
 * net. */
void net_use_places(struct net *net, const struct channels *channels);
/* From now on a reader with a history keeps room as it passes packets, as at run time: at the beginning it keeps nothing.
 * The proofs of liveness count all the kept room as taken from the beginning on.  Requires the channels of the net. */
void net_use_history(struct net *net, const struct channels *channels);
/* Fires every node except `held` as often as it can. */
void net_run_without(struct net *net, uint32_t held, uint64_t *budget);

/* A cycle of waits: arcs[i].to waits for arcs[i].from, which is arcs[i + 1].to, and so on round
 * the cycle. */
struct net_cycle {
    uint32_t *arcs;
    uint32_t count;
};
/* After NET_STUCK: a cycle of waiting nodes, the one that the first waiting node leads to.  Each
 * of them prefers to wait for packets, then for declared room. */
struct net_cycle net_waiting(struct arena *arena, const struct net *net);
/* Tokens to add to the `index`-th arc of the cycle so that, as far as this cycle is concerned,
 * its reader gets the firing that it waits for; 0 on overflow. */
uint64_t net_missing(const struct net *net, const struct net_cycle *cycle, uint32_t index);
/* Adds to the initial and the present tokens; a stuck net may run on. */
void net_arc_add(struct net *net, uint32_t arc, uint64_t tokens);

#endif
