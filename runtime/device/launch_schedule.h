/*
 * launch_schedule: when the kernels of a dispatch that launch each other begin and end, in cycles
 * (lang/device_queue.md, "Time").
 *
 * A *node* is one firing: one of the dispatch (a root), or a child that another node has launched.
 * It takes one compute unit for its cost; between equal parts of that it issues its launches, in
 * order.  An issued child is an entry of the device queue until its whole tree has ended.  It is
 * ready when what its order and its events name has ended.  Whenever a compute unit is free, the
 * ready node that lies deepest begins, of several the one launched first; roots, in order, when no
 * child is ready.  Of several free units it takes the one given back last, at first the lowest.
 *
 * The queue never overflows and never blocks.  With E(k, d) = launches(k) + max of E(c, d - 1) over
 * the kernels c that k launches, E(k, 0) = 0, entries of a tree, deepest first, are at most E(root,
 * nesting), and the queue has room for so many.  A node reserves room for all its launches when it
 * begins.  It begins beside others only if at least E1 = E(root, nesting) - launches(root) entries
 * then stay free; where nothing runs the first ready node begins in any case.
 *
 *   Proof.  While at least E1 are free, every node that waits in the queue has room for its whole
 *   tree, run alone: it needs at most E(c, nesting - 1) <= E1.  Where nothing runs, all that waits
 *   deepest has nothing left to wait for but what lies on the same level before it; so its first is
 *   ready and begins, with E(k, d) <= free; then launches(k) are taken, and max E(c, d - 1) stay free
 *   for its children, which are deepest now: the same again, one level below.  When its tree has
 *   ended all of it is free again, and its own entry.  A root begins alone with an empty queue, or
 *   leaves E1 free.  Where a declared total T of a tree lies below E(root, nesting), the queue has
 *   room for T; then E1 is never left free beside another root, so one tree at a time is there, and
 *   it has at most T entries in all.
 *
 * Source: resource reservation with a safe order of completion: E. W. Dijkstra, "Cooperating
 * sequential processes" (1965), the banker's algorithm, with depth-first completion as the order.
 *
 * Ownership: create, destroy.  Thread-safety: one thread at a time.  Allocation: creation only.
 * Work: n log n for n nodes.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_DEVICE_LAUNCH_SCHEDULE_H
#define RUNTIME_DEVICE_LAUNCH_SCHEDULE_H

#include "runtime/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PRT_LAUNCH_NONE UINT32_MAX

enum prt_launch_order {
    PRT_LAUNCH_WITH_PARENT,
    PRT_LAUNCH_AFTER_GROUP,  /* the launching firing has ended */
    PRT_LAUNCH_AFTER_PARENT, /* all firings of the launching kernel's dispatch have ended */
};

struct prt_launch_schedule;

struct prt_launch_limits {
    uint32_t nodes;          /* that one schedule holds: at least those of a tree */
    uint32_t waits_per_node; /* events that one launch waits for */
    uint64_t queue_entries;  /* of the device */
    uint64_t below_root;     /* E1 above */
    uint32_t cu_count;       /* of the device */
};

struct prt_launch_times {
    uint64_t issue_cycles; /* of the launching firing, for each launch */
    uint64_t start_cycles; /* of a child before its code begins */
};

/* What has been computed; maxima and sums over all runs since the creation. */
struct prt_launch_report {
    uint64_t launches;
    uint64_t child_cycles, launch_cycles, wait_cycles;
    uint32_t levels_most, entries_most;
    uint64_t
        longest_cycles; /* of a child, with its start and its launches; the caller may reset it */
    /* The caller's, one for each compute unit, or NULL: the cycles in which nodes held it are added. */
    uint64_t *cu_cycles;
};

enum prt_status prt_launch_schedule_create(const struct prt_launch_limits *limits,
                                           struct prt_launch_schedule **schedule);
void prt_launch_schedule_destroy(struct prt_launch_schedule *schedule);

/* ---- recording, in pre-order of the launch trees ---- */

uint32_t prt_launch_count(const struct prt_launch_schedule *schedule);
bool prt_launch_has_room(const struct prt_launch_schedule *schedule, uint64_t nodes);
/* Nothing is recorded any more. */
void prt_launch_clear(struct prt_launch_schedule *schedule);

/* The next node: launched by `parent` (NONE: a root), whose tree has not been closed. */
uint32_t prt_launch_open(struct prt_launch_schedule *schedule, uint32_t parent,
                         enum prt_launch_order order, uint64_t launches_most);
/* `node` begins when the tree of `sibling`, launched before by the same parent, has ended. */
void prt_launch_wait(struct prt_launch_schedule *schedule, uint32_t node, uint32_t sibling);
/* The parent of `node` goes on after its launch number `issued` - 1 only when the tree of `node`
 * has ended.  Once for a node, and `issued` does not fall. */
void prt_launch_ask(struct prt_launch_schedule *s, uint32_t index, uint64_t issued);
/* The body of the node, and all that it has launched, have been recorded. */
void prt_launch_close(struct prt_launch_schedule *s, uint32_t index, uint64_t cost_cycles);

/* ---- scheduling ---- */

struct prt_launch_run {
    uint64_t end_cycles;  /* until all that was recorded has ended */
    uint64_t root_cycles; /* the same, if the roots had launched nothing */
};

/* On so many compute units, 1 to those of the device; then nothing is recorded any more. */
struct prt_launch_run prt_launch_schedule_run(struct prt_launch_schedule *schedule,
                                              uint32_t cu_count,
                                              const struct prt_launch_times *times,
                                              struct prt_launch_report *report);

#endif
