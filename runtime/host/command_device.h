/* SPDX-License-Identifier: MIT */
/*
 * command_device: the device that command queues share (runtime/host/pipert_queue.h), and its commands in flight.
 *
 * The device has a kernel object for each command that may be in flight, which becomes that of the command's kernel when the
 * command is enqueued.  The objects are those after the stages' (runtime/device/device.h): the counter of their kernarg block
 * stays at 0, and so firings are numbered from 0 in each command.
 *
 * Requires: a program and a tree that outlive it, or that it is a user of.
 * Ownership: each queue is a user; it goes with the last one.  Thread-safety: one thread at a time.
 * Errors: PRT_E_NOMEM, PRT_E_DEVICE, PRT_E_FAULT, PRT_E_BUSY.
 */
#ifndef RUNTIME_HOST_COMMAND_DEVICE_H
#define RUNTIME_HOST_COMMAND_DEVICE_H

#include "model/stage_objects.h"
#include "runtime/device/device.h"
#include "runtime/host/pipert_queue.h"
#include "runtime/host/pipert_run.h"
#include "runtime/sched/indices.h"

/* The blocks of all nodes for one set of values of the pipeline's arguments. */
struct prt_command_blocks {
    uint32_t users; /* the queue that has made it, and commands in flight */
    uint8_t *bytes; /* a mapping */
    size_t size;
    void **arguments, **tables, **state; /* by node; the state is the initial one */
    bool *begun;                         /* by node: `init` has been executed */
};

struct prt_command_slot {
    bool taken;
    uint32_t next_free;
    uint32_t node;
    struct prt_command_queue *queue;
    struct prt_command_blocks *blocks;
    struct prt_command_event *event;
    uint64_t enqueued_cycles, firings;
    const void **in; /* and below: places in the device's tables */
    void **out;
    size_t **counts;
    uint64_t *claimed_bytes, *produced;
    uint64_t completed;
    uint8_t *state; /* owned */
    size_t state_capacity;
};

struct prt_command_device {
    uint32_t users;
    const struct prt_program *program;
    struct prt_device_tree *tree;
    const struct prt_device_ops *ops;
    struct prt_device *device;
    struct core *core; /* only its rates are used */
    uint32_t *node_stage;
    struct prt_stage_objects stages; /* the kernels, as objects of a run */
    struct prt_indices indices;
    uint32_t counted_firings_most;
    uint32_t slot_count, first_free;
    struct prt_command_slot *slots;
    struct prt_kernel_object
        *objects; /* twice as many as slots: those of the slots are the second half */
    struct core_completion *completions;
    const void **windows_in; /* of all slots, as the tables below */
    void **windows_out;
    size_t **counts;
    uint64_t *claimed_bytes, *produced;
};

#define PRT_NO_SLOT UINT32_MAX

/* With one user. */
enum prt_status prt_command_device_create(const struct prt_program *program,
                                          struct prt_device_tree *tree,
                                          const struct prt_command_queue_options *options,
                                          struct prt_command_device **device,
                                          struct prt_error *error);
/* Takes off a user; NULL is allowed. */
void prt_command_device_leave(struct prt_command_device *device);

/* The blocks for these values, with one user. */
enum prt_status prt_command_blocks_create(const struct prt_command_device *device,
                                          const struct prt_arguments *arguments,
                                          struct prt_command_blocks **blocks,
                                          struct prt_error *error);
/* Executes the `init` of the node, if that has not been done. */
enum prt_status prt_command_blocks_begin(const struct prt_command_device *device,
                                         struct prt_command_blocks *blocks, uint32_t node,
                                         struct prt_error *error);
void prt_command_blocks_leave(struct prt_command_blocks *blocks);

#endif
