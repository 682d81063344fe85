/* SPDX-License-Identifier: MIT */
/*
 * own_queues: more queues for stages that need not wait for each other.
 *
 * The launches of a queue execute one after the other, because a buffer in order needs that (core.h, "Order").  Two
 * stages of a queue that no chain of such buffers connects would wait for each other in vain.  The queues of a program
 * say how the cores of its device are divided, not how many cores a host has.  So on a device in real time each set of
 * connected stages has a queue of its own, on the same (sub-)device and of the same importance.
 *
 * A program with one queue keeps it: its launches can be executed where they are dispatched (device.h, `launch`).  So do
 * runs whose packets have a given form, since these show the queues of the program.
 *
 * Requires: all stages are bound, and it is known which buffers are in order.  Thread-safety: the scheduler's thread.
 * Allocation: scratch, and the queues.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_OWN_QUEUES_H
#define RUNTIME_SCHED_OWN_QUEUES_H

#include "runtime/sched/sched.h"

enum prt_status prt_own_queues_open(struct prt_sched *sched);

#endif
