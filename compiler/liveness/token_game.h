/* SPDX-License-Identifier: MIT */
/*
 * token_game: bulk execution of a weighted event graph, the common form of all liveness questions.
 *
 * An *arc* leads from a node that adds tokens to one that takes them; a node can fire when every
 * arc into it holds what it needs.  Two kinds of arcs come of a channel (writer, reader, push u,
 * pop v, peek K, initial packets D, reserve H):
 *
 *     packets   writer -> reader   adds u, takes v, needs K, begins with D
 *     room      reader -> writer   adds v, takes and needs u, begins with depth - D - H (one per
 *                                  reader: the slowest decides)
 *
 * H are the packets that stay behind the reader (a window's history): so much room is freed later.
 * The model counts them as taken from the beginning on, which is what the steady state has.
 *
 * Phases.  Firing k of a node with P phases adds, takes and needs what phase k modulo P does: u, v, K
 * are sequences of that period.  Their sums over one cycle are positive.
 *
 * What decides liveness.  Every node fires for ever if and only if every node n can fire q[n] times
 * from the initial marking, where q are the repetition counts (whole cycles of phases), however
 * often others fire meanwhile.
 * Proof.  Let A(j) be what the first j firings of the adder add, and N(k) the most tokens of the arc
 * that one of the first k firings of the taker depends on: the largest of (what the firings before
 * it take) + (what it needs).  Firing (n, k) waits for firing (w, j) of each arc w -> n, with j the
 * least such that initial + A(j) >= N(k), if j > 0.  Both are periodic, and by consistency with the
 * same period: A(j + q[w]) = A(j) + c and N(k + q[n]) = N(k) + c for k >= 1, where c passes in one
 * iteration.  So (n, k + q[n]) waits for (w, j + q[w]) where j > 0, and else for some (w, i) with
 * i <= q[w].  Suppose every (n, k) with k <= q[n] is reached.  By induction over what (n, k) waits
 * for, (n, k + q[n]) is reached: where j > 0, (w, j + q[w]) is by induction; where j <= 0, (w, i) is
 * by assumption.  The other direction is trivial.  (For one phase and tokens >= 0 this is theorem 1
 * of Lee & Messerschmitt, "Static scheduling of synchronous data flow programs for digital signal
 * processing", IEEE Trans. Computers C-36(1), 1987; for phases see Bilsen, Engels, Lauwereins &
 * Peperstraete, "Cyclo-static dataflow", IEEE Trans. Signal Processing 44(2), 1996.)
 *
 * Each arc has one taker, so firing one node never disables another: the order does not matter, and
 * the state in which nothing more can fire is unique.  Each node has a limit, q[n] at first, which
 * is raised only when somebody that is below its own needs more; so the work does not depend on how
 * far ahead a node could run.  `net_run` fires a node as often as it can at once; a *step* is one
 * such attempt, and the callers' budgets count steps.
 *
 * A net that is stuck may get tokens and run on: what that costs depends on the nodes that are asked
 * again, not on the size of the net.  So a limit is raised only for nodes that were asked since, and
 * the way to a circle of waiting nodes is kept up to the first node that was asked since.
 */
#ifndef PIPEC_SIMULATE_H
#define PIPEC_SIMULATE_H

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
    uint64_t need;      /* of a firing; several phases: the most */
    /* Where the adder (the taker) has several phases, else NULL: what the first k phases add
     * (take), k = 0..phases; what each phase needs. */
    const uint64_t *add_sums, *take_sums, *needs;
    /* After net_use_places, of a reader with a 2-D window: what firing k needs follows from its place
     * in the frame.  `frame` 0: `need` is the answer for every firing. */
    uint64_t frame, reach;
    bool whole; /* border wrap: a firing needs all of its round, `frame` packets */
    int64_t initial, tokens;
    uint32_t channel; /* index into the channels */
    enum arc_kind kind;
    bool absent; /* as if it always had enough */
};

struct net_node {
    uint32_t node; /* of the channels' graph */
    uint32_t phases;
    uint64_t repetitions; /* least counts of the net: whole cycles of phases */
    uint64_t fired, limit;
    uint32_t first_in, first_out; /* into in_arcs, out_arcs; the next node's is the end */
    uint32_t keeper;              /* the arc into it, counted from first_in, that kept it last */
    bool queued, blocked;         /* blocked: in net->blocked */
};

struct net_firings { /* in a row */
    uint32_t node;   /* of the net */
    uint64_t count;
};

struct net_trace { /* what was fired, in order */
    struct arena *arena;
    VEC(struct net_firings) runs;
    size_t most; /* more are not kept */
    bool is_cut;
};

struct net_trail; /* who waits for whom, as far as it was followed (token_game.c) */

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
    bool fresh;              /* nobody has been asked yet */
    bool too_large;          /* some number is beyond 2^61: nothing can be said */
    struct net_trace *trace; /* or NULL */
};

enum net_outcome { NET_LIVE, NET_STUCK, NET_UNDECIDED };

struct net_depth { /* of a buffer */
    uint64_t packets;
    bool declared; /* its arcs of room are ARC_ROOM_DECLARED */
};

/* The net of one block, or of any channels, which need not be connected: arcs of packets, and with
 * `depths` (by buffer) arcs of room.  Without depths the i-th channel of the block has arc i; with
 * depths it has arcs 2i (packets) and 2i + 1 (room). */
struct net *net_create(struct arena *arena, const struct channels *channels,
                       const struct channel_block *block, const struct net_depth *depths);
/* A net of the caller's arcs: each takes something, and has one phase, `initial` tokens and any number as `channel`.
 * Node i is to fire repetitions[i] times. */
struct net *net_of_arcs(struct arena *arena, const struct net_arc *arcs, uint32_t arc_count,
                        const uint64_t *repetitions, uint32_t node_count);
/* Tokens that a depth gives the arc of room of a channel at the beginning; may be negative. */
int64_t net_room(const struct channels *channels, const struct channel *channel, uint64_t depth);
/* Back to the initial marking. */
void net_reset(struct net *net);
/* Runs on from the present marking; takes steps from *budget. */
enum net_outcome net_run(struct net *net, uint64_t *budget);
/* After NET_LIVE: fires every node once more as often as it repeats, which leaves the marking as it
 * is.  That is possible: what the proof above shows of firing k + q[n] holds of every k from 1 to
 * those made.  False: the budget is spent. */
bool net_run_period(struct net *net, uint64_t *budget);
/* Raises `least` (by node) to the fewest firings of everybody with which each node can have fired
 * as often as it says: the least fixed point of what each firing needs of others. Requires that
 * there is one.  False: the budget is spent. */
bool net_least_firings(const struct net *net, uint64_t *least, uint64_t *budget);
/* From the initial marking, fires each node up to so often; false: not all of them can, or the
 * budget is spent. */
bool net_run_up_to(struct net *net, const uint64_t *firings, uint64_t *budget);
/* Does the arc keep its taker from firing? */
bool net_is_blocked(const struct net *net, const struct net_arc *arc);
/* Tokens that the next firing of the arc's taker needs. */
uint64_t net_need(const struct net *net, const struct net_arc *arc);
/* Tokens that a whole cycle of the taker's phases needs at its beginning. */
uint64_t net_cycle_need(const struct net *net, const struct net_arc *arc);
/* Firings of `node` that are possible at once in the present marking. */
uint64_t net_enabled(const struct net *net, uint32_t node);
/* The same, up to the node's limit. */
uint64_t net_ready(const struct net *net, uint32_t node);
/* Fires a node so often; requires that it can.  For callers that choose the order themselves. */
void net_fire(struct net *net, uint32_t node, uint64_t count);
/* From now on a firing with a 2-D window needs the packets that its place in the frame lets it see,
 * and not the most that any place does.  The scheduler works by places; the proofs of liveness do
 * without, so only net_run_without and net_enabled may follow.  Requires the channels of the net. */
void net_use_places(struct net *net, const struct channels *channels);
/* Fires everything but `held` as often as it can. */
void net_run_without(struct net *net, uint32_t held, uint64_t *budget);

/* Who waits for whom: arcs[i].to waits for arcs[i].from, which is arcs[i + 1].to, and so around. */
struct net_cycle {
    uint32_t *arcs;
    uint32_t count;
};
/* After NET_STUCK: a circle of waiting nodes, the one that the first waiting node leads to.  Each of
 * them prefers to wait for packets, then for declared room. */
struct net_cycle net_waiting(struct arena *arena, const struct net *net);
/* Tokens to add to the `index`-th arc of the cycle so that the firing that its reader waits for
 * comes within reach, as far as this cycle is concerned; 0 on overflow. */
uint64_t net_missing(const struct net *net, const struct net_cycle *cycle, uint32_t index);
/* Adds to the initial and the present tokens; a stuck net may run on. */
void net_arc_add(struct net *net, uint32_t arc, uint64_t tokens);

#endif
