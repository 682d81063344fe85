/* SPDX-License-Identifier: MIT */
/*
 * compose: several nodes become one, whose kernel executes an iteration of them.
 *
 * A *group* lists the nodes, its *members*, and the order in which they fire in an iteration.  A buffer
 * that a member writes and only members read is *inside*: its packets are local variables of the
 * composite kernel, and the new graph does not contain it.  All other buffers are *outside*: ends of the
 * composite.  The body consists of clones of the members' bodies, one after the other, firing by firing:
 *
 *     inside, peek = pop      a packet is a scalar local if its place is known when compiling,
 *                             else an item of a local array
 *     inside, read in a loop  for (i ...) s += x[i], where the reader fires once and the writer often:
 *                             packet i is a local, and its round follows the firing that writes it
 *     inside, peek > pop      the writer executes its first firings of the next iteration ahead, and
 *                             repeats them in the next iteration.  The writer must have no state, and
 *                             its own in-ports look ahead by as many firings
 *     inside, initial packets the packets at rest between iterations are `state`; or the caller asks to
 *                             *keep* the buffer: members write and read it like an outside one
 *     inside, bounded         the reader has this port only, and pops and peeks one packet: its firing
 *                             stands where the packet is appended
 *     outside, read           one in-port for all members that read a buffer with the same pop and
 *                             window; it sees all packets that any of them sees
 *     outside, written        one out-port for each end of a member; members may read the buffer, too
 *
 * Loops that name elements of port arrays are unrolled.  Loops of several members with the same rounds
 * become one loop if no statement between them forbids it.  So filters over the same packets share their
 * loads.
 *
 * State that only counts firings becomes the number of the firing.  If a member has a `finish`, the
 * composite has one, too: at the end of the stream it executes a part of an iteration (compose_tail.c).
 *
 * Every value is computed as in the members, by the same operations in the same order, so the bits are
 * the same.  The composite fires whole iterations.  If no member has a `finish`, the caller has to make
 * sure that a part of an iteration would have written nothing.
 *
 * Later passes treat a composite kernel like any other, except for `composed` (struct kernel).  The results
 * of bodies/range_check and bodies/amplify are carried over from the members, whose proofs hold in it, so
 * these passes do not run again.  Run bundles_of_graph, cost_estimate, rate_solve, bounded_check,
 * deadlock_check and bufsize_assign on a graph with composites, in this order.
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
    const char *name;                 /* name of the composite node */
    const struct compose_step *steps; /* in order: a packet is written before it is read */
    size_t step_count;
    /* By buffer: it stays a buffer, even if it would be inside.  An iteration reads only packets that earlier
     * iterations have written.  NULL: no buffer is kept. */
    const bool *kept;
};

/* A former member. */
struct compose_member {
    uint32_t node;
    uint64_t firings; /* per iteration; if `inlined`, at most */
    uint64_t ahead;   /* additional firings, for windows that look past the iteration */
    bool inlined;     /* its firings stand where its packets are appended */
};

enum compose_form {
    COMPOSE_SCALARS, /* one local for each packet */
    COMPOSE_ARRAY,
    COMPOSE_STATE,   /* array or scalars, and packets at rest in `state` */
    COMPOSE_INLINED, /* the reader's firing stands where the packet is appended */
};

struct compose_inside { /* a buffer that became local variables */
    uint32_t buffer;
    enum compose_form form;
    uint64_t packets; /* maximum during an iteration */
};

struct composite {
    /* Complete except for the fields that bodies/cost and liveness/rate fill.  `inputs` and `outputs` name
     * buffers of the given graph.  In the new graph, empty them and connect the ends again in this order
     * (graph_connect_input, graph_connect_output), with the new numbers of the buffers. */
    struct graph_node node;
    VEC(struct compose_member) members;
    VEC(struct compose_inside) inside;
};

/* The reason why the node can be in no group, as a phrase that follows its name: "has work-items".  NULL: it can.
 * Requires analyse_graph without error. */
const char *compose_refuses(const struct compile *cx, const struct graph *graph, uint32_t node);

/* Does the code of firings or of `finish` contain a check that may fail at run time?  True for code that is too large to
 * search. */
bool compose_may_fault(const struct compile *cx, const struct kernel *kernel);

/* The number of expressions in a firing's code, with calls expanded: the size that a firing adds to a composite. */
uint64_t compose_size(const struct kernel *kernel);

/* Does the kernel have state that does more than count firings (compose_count.c)? */
bool compose_has_state(const struct kernel *kernel);

/* Does the body contain a loop?  Functions that it calls do not count. */
bool compose_loops(const struct kernel *kernel);

/* Builds the composite of a group, in cx->arena.  Does not change the graph.
 * Requires  analyse_graph without error; compose_refuses is NULL for every node of the group; the steps make whole
 *           iterations: as many packets are written to a buffer inside as are read from it.
 * False     if the group cannot become one kernel: *reason is a phrase without a subject, "'eq.x' looks 16 packets
 *           ahead and 'agc', which writes them, has state".
 * The caller sets `kernel->id` and adds the kernel to graph->kernels.
 * Never reports to cx->diags. */
bool compose(struct compile *cx, const struct graph *graph, const struct compose_group *group,
             struct composite *composite, const char **reason);

#endif
