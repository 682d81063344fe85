/* SPDX-License-Identifier: MIT */
/*
 * compose: several nodes become one, whose kernel executes an iteration of them.
 *
 * A *group* says which nodes, and in which order they fire in an iteration; the nodes are then its
 * *members*.  A buffer that a member writes and only members read is *inside*: its packets are local
 * variables of the composite kernel, and the graph needs it no more.  All others are *outside*: ends
 * of the composite.  The body is the members' bodies, cloned, one behind the other, firing by firing:
 *
 *     inside, peek = pop      a packet is a scalar local where its place is known when compiling,
 *                             else an item of an array local
 *     inside, read in a loop  for (i ...) s += x[i]: a round stands where packet i is written, which is
 *                             a local, where the reader fires once and the writer often
 *     inside, peek > pop      the writer's first firings of the next iteration are made ahead, and
 *                             made again in the next iteration: the writer has no state, and its own
 *                             in-ports look so much further
 *     inside, initial packets those at rest between iterations are `state`; or the buffer is *kept*, as
 *                             the caller wishes: members write and read it like one outside
 *     inside, bounded         the reader pops and peeks one packet of this port alone: its firing
 *                             stands where the packet is appended
 *     outside, read           one in-port for all members that read a buffer; it sees what each of
 *                             them sees
 *     outside, written        an out-port for each end of a member; members may read it as well
 *
 * Loops that name elements of port arrays are written out, and loops of several members with the same
 * rounds become one where nothing in between needs the one before the other, so that filters over the
 * same packets share their loads.
 *
 * State that only counts firings is the number of the firing.  Where a member has a `finish`, the composite has
 * one: at the end of the stream it executes what a part of an iteration comes to (compose_tail.c).
 *
 * Every value is computed as in the members, by the same operations in the same order, so the bits
 * are theirs.  What a partial iteration would have written is the caller's to think about, where no member has
 * a `finish`: the composite fires whole iterations.
 *
 * A composite kernel is like any other to what follows, but for `composed` (struct kernel).  What
 * bodies/range_check and bodies/amplify would find out about it is carried over from the members, whose
 * proofs hold in it, so these are not run again.  A graph with composites takes bundles_of_graph,
 * cost_estimate, rate_solve, bounded_check, deadlock_check and bufsize_assign, in this order.
 */
#ifndef PIPEC_COMPOSE_H
#define PIPEC_COMPOSE_H

#include "compiler/ir/graph.h"

/* Consecutive firings of a node.  A node may come again later in the iteration. */
struct compose_step {
    uint32_t node;
    uint64_t firings; /* 1.. */
};

struct compose_group {
    const char *name;                 /* of the composite node */
    const struct compose_step *steps; /* in order: a packet is written before it is read */
    size_t step_count;
    /* By buffer: its packets stay there, also of one that would be inside; those that an iteration reads have
     * been written before it.  NULL: none. */
    const bool *kept;
};

/* A member once: where it went. */
struct compose_member {
    uint32_t node;
    uint64_t firings; /* of an iteration */
    uint64_t ahead;   /* made besides, for windows that look beyond the iteration */
    bool inlined;     /* its firings stand where the packets are appended: `firings` at most */
};

enum compose_form {
    COMPOSE_SCALARS, /* each packet a local of its own */
    COMPOSE_ARRAY,
    COMPOSE_STATE,   /* array or scalars, and packets at rest in `state` */
    COMPOSE_INLINED, /* the reader's firing stands where the packet is appended */
};

struct compose_inside { /* a buffer that is no more */
    uint32_t buffer;
    enum compose_form form;
    uint64_t packets; /* held at most during an iteration */
};

struct composite {
    /* Complete but for what bodies/cost and liveness/rate fill.  `inputs` and `outputs` name the
     * buffers of the graph that was given; connect them with graph_connect_input and -output in this
     * order in the new graph, with buffers renumbered, `inputs` and `outputs` emptied first. */
    struct graph_node node;
    VEC(struct compose_member) members;
    VEC(struct compose_inside) inside;
};

/* Why the node can be in no group, as a phrase that follows its name: "has work-items"; NULL: it can.
 * Requires analyse_graph without error. */
const char *compose_refuses(const struct compile *cx, const struct graph *graph, uint32_t node);

/* Is a check left in the code of firings or of `finish`, which may end the run?  What is too large to be searched may. */
bool compose_may_fault(const struct compile *cx, const struct kernel *kernel);

/* Expressions of a firing's code, calls expanded: what a firing adds to the size of a composite. */
uint64_t compose_size(const struct kernel *kernel);

/* Has the kernel state that does more than count its firings (compose_count.c)? */
bool compose_has_state(const struct kernel *kernel);

/* Does a firing have loops of its own (functions aside)? */
bool compose_loops(const struct kernel *kernel);

/* Builds the composite of a group, in cx->arena; the graph is left as it is.
 * Requires  analyse_graph without error; every node of the group admitted by compose_refuses; bounds on
 *           rates by whole iterations: of a buffer inside, as many packets are written as read.
 * False     where the group cannot be one kernel: *reason is a phrase without a subject, "'eq.x' looks
 *           16 packets ahead and 'agc', which writes them, has state".
 * The kernel has no id yet and is in no list: `kernel->id` and graph->kernels are the caller's.
 * Never reports to cx->diags. */
bool compose(struct compile *cx, const struct graph *graph, const struct compose_group *group,
             struct composite *composite, const char **reason);

#endif
