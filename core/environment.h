/* SPDX-License-Identifier: MIT */
/*
 * environment: the functions of the device that the scheduler core calls, and the receiver of its events.
 *
 * This is the one table of functions in the core.  A host fills it with calls of a device's interface, a resident thread
 * of a GPU (core/resident) with functions that raise epoch counters and poll others.  No function may change the block,
 * except as its comment says.
 */
#ifndef CORE_ENVIRONMENT_H
#define CORE_ENVIRONMENT_H

#include "core/core.h"

enum core_taken { CORE_TAKEN, CORE_BUSY, CORE_REFUSED };

enum core_event {
    CORE_EVENT_DISPATCHED, /* `batch` is the number of firings; nothing else of the launch has been done */
    CORE_EVENT_COMPLETED, /* the stage is idle again; its packets have not been committed */
    CORE_EVENT_ENDED,     /* the stage has ended or become FAULTED */
    CORE_EVENT_STEP, /* a firing, or the finish, of a run that is stepped is about to be dispatched */
    CORE_EVENT_STEPPED /* it has completed, and nothing is in flight */
};

struct core_environment {
    void *context;

    /* Opens the windows of a launch of the stage or its finish: `batch` firings from number `firings` on.  The room of
     * its outputs has been claimed.  May move the ring of an output's fifo, and wait until the sink of a full out-port
     * has left room in it. */
    void (*open)(void *context, uint32_t stage, bool finish);

    /* Opens the windows and launches without a packet.  True: the launch has completed, completion 0 is its, and no
     * wait delivers it.  Never for a finish. */
    bool (*launch)(void *context, uint32_t stage, bool finish);

    /* Enqueues a packet, whose windows are open.  BUSY: the queue is full; again after the next completion. */
    enum core_taken (*enqueue)(void *context, uint32_t queue, const union dispatch_packet *packet);

    /* Waits for the earliest completions and writes all that are there to the table of completions; *count: their
     * number.  `until_arrival`: the wait ends, with none, when packets arrive that a stage lacks.  False: the device has
     * failed. */
    bool (*wait)(void *context, bool until_arrival, uint32_t *count);

    /* Advances the device's clock by the cycles in which the scheduler itself has worked since the last call. */
    void (*advance)(void *context, uint64_t cycles);

    /* Queues that a fault has ended execute again.  Nothing is in flight. */
    void (*resume)(void *context);

    /* Called if the block is `observed`, or `stepped`.  False ends the run. */
    bool (*event)(void *context, enum core_event event, uint32_t stage, bool finish);
};

/* The function of an entry.  A program for a GPU has one environment.  Its calls are direct there, so that the assembler
 * knows the registers and the stack of all that is called. */
#ifdef __NVPTX__
#include "core/environment_direct.h"
#define CORE_ENTRY(environment, entry) core_resident_##entry
#else
#define CORE_ENTRY(environment, entry) ((environment)->entry)
#endif

#endif
