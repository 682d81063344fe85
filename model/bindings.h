/* SPDX-License-Identifier: MIT */
/*
 * bindings: the prologue of a program, which makes sub-devices and binds stages to queues (lang/scheduler.md).
 *
 * Each (sub-)device has a queue for each importance among its stages.
 *
 * Requires: a verified program; a block that was filled in from the same container.
 * Ownership: create, free.  Thread-safety: the scheduler's thread.
 * Errors: PRT_E_NOMEM; PRT_E_DEVICE: the device does not fit the program; statuses of `add_queue`.
 */
#ifndef MODEL_BINDINGS_H
#define MODEL_BINDINGS_H

#include "base/status.h"
#include "core/core.h"
#include "lang/sched_code.h"
#include "model/container_tables.h"
#include "model/subdevice.h"

struct prt_bound_queue {
    struct prt_device_handle on;
    uint32_t importance;
    uint32_t next;               /* queue of the same (sub-)device, or PRT_NO_QUEUE */
    uint32_t first_cu, cu_count; /* of the device */
    bool root;                   /* its (sub-)device is that of the whole program */
};

#define PRT_NO_QUEUE UINT32_MAX

struct prt_bindings {
    /* The caller's. */
    const struct prt_container *container;
    struct core *core;
    struct prt_device_tree *tree;
    struct prt_device_handle root; /* the (sub-)device on which the program runs */
    enum prt_status (*add_queue)(void *context, struct prt_device_handle on, uint32_t importance,
                                 uint32_t *queue);
    void *context;
    bool form_given; /* the caller has set the form of packets, and the program cannot change it */

    struct prt_device_handle *sub_devices;
    uint32_t *sub_device_queues; /* the first queue of each; PRT_NO_QUEUE: none yet */
    uint32_t sub_device_count;
    uint32_t root_queue;
    struct prt_bound_queue *queues; /* by number; as many as stages at most */
    uint32_t bound_count;           /* stages that have been bound */
};

/* The caller's members are filled in before the first instruction is executed. */
enum prt_status prt_bindings_create(struct prt_bindings *bindings);
/* Zeroed ones are allowed. */
void prt_bindings_free(struct prt_bindings *bindings);

/* Executes an instruction that the core does not execute (core_executes).  When the last stage has its queue, the block
 * knows its order (block.h). */
enum prt_status prt_bindings_execute(struct prt_bindings *bindings,
                                     const struct sched_instruction *instruction,
                                     struct prt_error *error);

/* All queues have been made, or making them has failed: their queues keep the sub-devices, and one without a queue goes.
 * The tree may have other users, and outlive the program. */
void prt_bindings_release(struct prt_bindings *bindings);

#endif
