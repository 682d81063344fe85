/* SPDX-License-Identifier: MIT */
/*
 * child_tree: firings of a stage whose kernels launch kernels (lang/device_queue.md), executed on the device.
 *
 * The firings of a batch are divided among the workers.  The first thread of a worker executes a firing with its tree: the
 * body, which appends its launches to the worker's part of the device queue, and then these, deepest first, in order.
 * Firings that have begun and have not ended are a stack of frames, one for each level, in memory.  So the thread's own stack grows
 * only by bodies that ask `done`, which execute launches while they wait for the answer.
 *
 * Each block of threads has a workspace, which holds what one tree needs at most:
 *
 *     frames      by level: a firing whose body, or whose launches, are executed
 *     in          by input: the window of the outermost firing
 *     base, appended   by output: where the packets of the tree begin, how many there are
 *     out, produced, begin   by level and output: of the frame's body
 *     heard       by entry of the queue: has the tree of that launch appended a packet?
 *     issued      by entry, in a run that is measured: when its launch was seen first
 *     cache       the entries of the queue
 *     aside       by level: packets of a body that precede those that its launches have appended already
 *
 * Distances are in bytes, from the beginning of a workspace.
 *
 * Requires: tables of a verified container (runtime/verify/verify_launches.c), and a workspace as large as they say.
 * Thread-safety: one tree for each workspace.  Allocation: none.
 * Errors: those of kernels and of the device queue, in the workspace (`status`, `failed`, `fault`).
 */
#ifndef CORE_RESIDENT_CHILD_TREE_H
#define CORE_RESIDENT_CHILD_TREE_H

#include "core/core.h"
#include "lang/container.h"
#include "lang/gpu_abi.h"

struct core_order;
struct core_resident;
struct core_tree;

/* Of a stage. */
struct core_tree_root {
    uint32_t interface; /* of its kernel */
    uint64_t frames_at, in_at, base_at, appended_at, out_at, produced_at, begin_at, heard_at;
    uint64_t issued_at, cache_at, aside_at;
    uint64_t stride_bytes; /* of an entry */
    uint64_t
        level_bytes; /* from one level's `aside` to the next one's; 0: no body waits for another one */
};

/* Of an output of a stage. */
struct core_tree_output {
    uint64_t width_bytes;
    uint64_t least, most; /* packets of a firing with its tree */
    uint64_t aside_bytes; /* from the beginning of a level's `aside` */
};

/* The launches of a child kernel that a block has executed.  Times are nanoseconds of the device's clock. */
struct core_child_count {
    uint64_t launches, groups; /* groups: work-groups of all launches */
    uint64_t execute_time;     /* in the bodies, without what was executed while `done` waited */
    uint64_t wait_time;        /* of each work-group, from its launch to its begin */
    uint64_t longest_time;     /* of execute_time, of a work-group */
    uint64_t entries_most;     /* in the device queue when one of them began */
    uint32_t level_most;
};

struct core_trees {
    const struct container_interface *interfaces;
    const struct container_interface_port *ports;
    const struct container_launch *launches;
    const uint32_t *entries; /* by interface: for pipe_call */
    const uint8_t *children; /* by launch: the interface of its child, stride_bytes apart */
    const struct core_tree_root *roots;     /* by stage */
    const struct core_tree_output *outputs; /* by output of all stages */
    uint8_t *workspaces;                    /* by block */
    uint64_t workspace_bytes;
    struct core_child_count *counts; /* by block and interface; NULL: the run is not measured */
    uint32_t interface_count;
};

/* A firing whose body, or whose launches, are executed. */
struct core_tree_frame {
    struct kernel_launch_list
        list; /* first: `done` gets a pointer to it, which leads to the frame */
    struct core_tree *tree;
    uint32_t interface, level;
    uint64_t first_entry; /* of its launches in the cache */
    uint64_t executed;    /* number of launches whose trees have been executed */
    uint64_t before;      /* packets of the tree when the present launch began */
    uint32_t groups;      /* of the present launch that have begun */
    uint64_t issued;      /* launches whose time is known, in a run that is measured */
    uint64_t away_time;   /* of the body: nanoseconds in which it waited for the answer of `done` */
    enum kernel_status failed; /* of a launch that was executed because `done` waited for it */
    bool set_aside;
};

/* At the beginning of a workspace. */
struct core_tree {
    struct core_resident *resident;
    const struct core_tree_root *root;
    const struct core_tree_output *outputs; /* of the stage */
    const struct kernel_batch *batch;
    uint32_t stage, block;
    uint64_t firing;         /* the outermost one */
    uint64_t launched, used; /* of the tree; entries of the cache */
    enum kernel_status status;
    uint64_t failed; /* if the status is not KERNEL_OK: the firing's number in the batch */
    struct kernel_fault fault;
};

/* Each block opens its workspace before its first batch. */
void core_tree_open(struct core_resident *resident, uint32_t block);

/* A block's part of a batch: each of its firings with its tree.  After the first one that faults it ends, and lowers
 * `completed` of the batch to that number. */
void core_tree_execute(struct core_resident *resident, uint32_t block,
                       const struct core_order *order, uint32_t worker, uint32_t workers);

/* The workspace in which that firing of the stage's last batch has faulted. */
const struct core_tree *core_tree_find_fault(const struct core_resident *resident, uint32_t stage,
                                             uint64_t firing);

#endif
