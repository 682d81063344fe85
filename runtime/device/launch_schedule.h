/* SPDX-License-Identifier: MIT */
/*
 * launch_schedule: when the kernels of a dispatch that launch each other begin and end, in cycles
 * (lang/device_queue.md, "Time").
 *
 * A *node* is one firing: one of the dispatch (a root), or a work-group of a launch of another node.  A launch is the node
 * of its first work-group, and those of the others, its *mates*.  They are one entry of the queue, which is free when the trees
 * of all have ended.  Mates become ready when the start of the first one has passed.
 * It takes one compute unit for its cost.  A recorded part of that cost precedes each of its
 * launches, which it issues in order, and each question.  An issued child is an entry of the
 * device queue until its whole tree has ended.  It is ready when everything that its order and its
 * events name has ended.  A node that asks for a tree that has not ended is suspended and gives its
 * compute unit back; when that tree has ended, it is ready again.
 *
 * Whenever a compute unit is free, a ready node takes it: the deepest one; on one level, a suspended
 * node before a new one; of several, the one launched first.  Roots begin, in order, when no
 * child is ready.  Of several free units a node takes the one given back last, at first the lowest.
 *
 * The queue never overflows and never blocks.  With E(k, d) = launches(k) + max of E(c, d - 1) over
 * the kernels c that k launches, E(k, 0) = 0, and E1 = E(root, nesting) - launches(root), the queue
 * has room for E(root, nesting) entries.  A node reserves room for all its launches when it begins
 * (on the deepest level it launches nothing).  It keeps the rest of its reservation until it ends, also
 * while it is suspended.  It begins beside others only if at least E1 entries then stay free.  If nothing
 * runs, the first ready node begins in any case: *solo*.  A root begins solo only if the queue is empty.
 *
 *   Theorem.  A node that begins solo finds E(k, d) entries free, where d levels lie below it.
 *
 *   Proof.  Entries become taken only when a node begins.  Consider the nodes that began solo since
 *   a node last began beside others, or since a root began solo.  At that moment E1 entries were free.
 *
 *   A mate counts here as a child of its first node: it waits for a start, so for a node that runs.
 *
 *   (1) If nothing runs, the unended tree of a node of level l >= 1 that has begun has a ready
 *   node, on level l or deeper.  For its nodes wait for each other only: a child for its parent, for
 *   children launched before it, or, having begun, for a child.  These waits form no cycle: events point
 *   backwards, and `done` may not ask for what waits for the end of the firing that asks.
 *
 *   (2) Of those nodes of level 1 or deeper, the ones whose trees have not ended lie on one path, and
 *   the next one to begin solo lies on it, below them.  Let A be such a node, and B on level m begin
 *   solo after it, outside A's tree.  By (1), and because B was the first to go, m is at
 *   least A's level.  If B had that level, then by (1) A itself was ready, and a suspended node precedes
 *   B.  So B lies deeper, and B's ancestor Z on A's level has begun, its tree unended.  If Z began
 *   after A, it began solo, and (1) about A contradicts it just as B.  If Z began before A, (1) about
 *   Z contradicts that A began solo: Z or a deeper node would have gone first.
 *
 *   So the entries taken since then belong to a path that ends at the node that begins; E1 is
 *   at least the launches of that path plus E(k, d).
 *
 *   Where a declared total T of a tree lies below E(root, nesting), the queue has room for T.  Then E1
 *   never stays free beside another root, so one tree at a time is there, of T entries at most.
 *
 * Source: resource reservation with a safe order of completion: E. W. Dijkstra, "Cooperating
 * sequential processes" (1965), the banker's algorithm, with depth-first completion as the order.
 *
 * Ownership: create, destroy.  Thread-safety: one thread at a time.  Allocation: creation only.
 * Work: n log n for n nodes.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_DEVICE_LAUNCH_SCHEDULE_H
#define RUNTIME_DEVICE_LAUNCH_SCHEDULE_H

#include "base/status.h"
#include "model/kernel_object.h"

#include <stdbool.h>
#include <stdint.h>

#define PRT_LAUNCH_NONE UINT32_MAX

enum prt_launch_order {
    PRT_LAUNCH_WITH_PARENT,
    PRT_LAUNCH_AFTER_GROUP,  /* after the launching firing */
    PRT_LAUNCH_AFTER_PARENT, /* after all firings of the launching kernel's dispatch */
};

struct prt_launch_schedule;

struct prt_launch_limits {
    uint32_t nodes;          /* capacity of one schedule: at least the nodes of a tree */
    uint32_t waits_per_node; /* maximum of events that one launch waits for */
    uint64_t queue_entries;  /* of the device */
    uint64_t below_root;     /* E1 above */
    uint32_t cu_count;       /* of the device */
};

struct prt_launch_times {
    uint64_t issue_cycles; /* that the launching firing pays for each launch */
    uint64_t start_cycles; /* of a child before its code begins */
};

/* The launches of one kernel. */
struct prt_launch_kernel {
    uint64_t launches, groups;                   /* groups: work-groups of all launches */
    uint64_t cycles, launch_cycles, wait_cycles; /* as in prt_launch_report */
    uint64_t longest_cycles;                     /* of one, with its start and its launches */
    uint32_t level_most;
};

/* Where spans are put; each run goes on from `base_cycles` and adds its own time to it. */
struct prt_launch_spans {
    struct prt_firing_span *items; /* NULL: not wanted */
    uint64_t capacity, count, omitted;
    uint64_t base_cycles;
};

/* Results; maxima and sums over all runs since the creation. */
struct prt_launch_report {
    uint64_t launches, groups;
    uint64_t child_cycles, launch_cycles, wait_cycles;
    uint32_t levels_most, entries_most;
    uint64_t
        longest_cycles; /* of a child, with its start and its launches; the caller may reset it */
    /* The caller's, one for each compute unit, or NULL: adds the cycles in which nodes held it. */
    uint64_t *cu_cycles;
    struct prt_launch_kernel *kernels; /* the caller's, by prt_launch_name, or NULL */
    struct prt_launch_spans spans;     /* the caller may empty it */
};

enum prt_status prt_launch_schedule_create(const struct prt_launch_limits *limits,
                                           struct prt_launch_schedule **schedule);
void prt_launch_schedule_destroy(struct prt_launch_schedule *schedule);

/* ---- recording, in pre-order of the launch trees ---- */

uint32_t prt_launch_count(const struct prt_launch_schedule *schedule);
bool prt_launch_has_room(const struct prt_launch_schedule *schedule, uint64_t nodes);
/* Removes all that is recorded. */
void prt_launch_clear(struct prt_launch_schedule *schedule);

/* The next node: launched by `parent` (NONE: a root), whose tree has not been closed, after
 * `before_cycles` of the parent's cost; more than the cost means all of it. */
uint32_t prt_launch_open(struct prt_launch_schedule *schedule, uint32_t parent,
                         enum prt_launch_order order, uint64_t launches_most,
                         uint64_t before_cycles);
/* A further work-group of the launch that begins with node `first`, which has been closed.  Nothing waits for it or asks for
 * it by itself. */
uint32_t prt_launch_join(struct prt_launch_schedule *schedule, uint32_t first,
                         uint64_t launches_most);
/* The node's kernel in reports; 0 if nothing is said. */
void prt_launch_name(struct prt_launch_schedule *schedule, uint32_t node, uint32_t kernel);
/* `node` begins when the tree of `sibling`, launched before by the same parent, has ended. */
void prt_launch_wait(struct prt_launch_schedule *schedule, uint32_t node, uint32_t sibling);
/* Having issued that many launches and executed `before_cycles` of its cost, the parent of the node
 * goes on only when the node's tree has ended.  Once for a node, and `issued` does not fall. */
void prt_launch_ask(struct prt_launch_schedule *s, uint32_t index, uint64_t issued,
                    uint64_t before_cycles);
/* Ends the recording of the node's body and of all its launches. */
void prt_launch_close(struct prt_launch_schedule *s, uint32_t index, uint64_t cost_cycles);

/* ---- scheduling ---- */

struct prt_launch_run {
    uint64_t end_cycles;  /* end of all recorded nodes */
    uint64_t root_cycles; /* end, if the roots had launched nothing */
};

/* Runs on `cu_count` compute units, 1 to those of the device; clears the recording. */
struct prt_launch_run prt_launch_schedule_run(struct prt_launch_schedule *schedule,
                                              uint32_t cu_count,
                                              const struct prt_launch_times *times,
                                              struct prt_launch_report *report);

#endif
