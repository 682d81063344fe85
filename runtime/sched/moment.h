/* SPDX-License-Identifier: MIT */
/*
 * moment: the state of a run while it goes on, as numbers: for programs that show it.
 *
 *     static void look(void *context, const struct prt_run *run)
 *     {
 *         struct prt_buffer_moment buffer;
 *         for (uint32_t i = 0; prt_run_buffer_moment(run, i, &buffer); i++) ...
 *     }
 *     prt_run_visit(run, look, context);
 *
 * A visit comes between two instructions of the scheduler, or while it waits, so the figures of one visit belong
 * together.  Nothing is counted for visits: a run without them is as fast as before.
 *
 * Thread-safety: call prt_run_visit in the thread that executes the run: from a callback, or from a handler of a signal
 *   that is sent to that thread.  The other functions: from a visit, and whenever the run is not executed.  All are
 *   async-signal-safe.
 * Ownership: names live as long as the run.  Allocation: none.
 * Errors: functions that return bool return false if there is no such object.
 */
#ifndef RUNTIME_SCHED_MOMENT_H
#define RUNTIME_SCHED_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_run;

typedef void (*prt_visit_callback)(void *context, const struct prt_run *run);

/* Has `visit` called once.  If the run waits for a callback or the device, if the device executes a kernel, or if the run
 * is not executed, it is called before this function returns, otherwise before the scheduler's next instruction.  A
 * second request before that replaces the first one; a request of prt_run_tell_standing is independent of it. */
void prt_run_visit(struct prt_run *run, prt_visit_callback visit, void *context);

enum prt_stage_doing {
    PRT_STAGE_READY, /* it can fire, or run its finish */
    PRT_STAGE_IN_FLIGHT,
    PRT_STAGE_LACKS_PACKETS, /* in `buffer` */
    PRT_STAGE_LACKS_ROOM,    /* in `buffer` */
    PRT_STAGE_STOPPED,       /* by `stop`, or by an interrupt */
    PRT_STAGE_FAULTED,       /* it has faulted, or needs the packets that a fault keeps back */
    PRT_STAGE_ENDED
};

struct prt_stage_moment {
    const char *name, *kernel;
    enum prt_stage_doing doing;
    uint32_t buffer;      /* as prt_run_buffer counts; of a stage that lacks nothing UINT32_MAX */
    uint64_t firings;     /* completed or in flight */
    uint64_t busy_cycles; /* of the device's clock, of completed launches */
};

struct prt_buffer_moment {
    const char *name;
    uint64_t held_packets, depth_packets;
    uint64_t packets; /* written in all, including initial packets */
    bool closed;
};

/* Stages and buffers are numbered as by prt_run_stage and prt_run_buffer. */
bool prt_run_stage_moment(const struct prt_run *run, uint32_t stage,
                          struct prt_stage_moment *moment);
bool prt_run_buffer_moment(const struct prt_run *run, uint32_t buffer,
                           struct prt_buffer_moment *moment);
/* The buffer of a port of the pipeline. */
bool prt_run_port_moment(const struct prt_run *run, uint32_t port,
                         struct prt_buffer_moment *moment);
/* Cycles from the beginning of the run up to now, or to its end.  Includes instructions that the
 * device's clock has not counted yet. */
uint64_t prt_run_moment_cycles(const struct prt_run *run);

#ifdef __cplusplus
}
#endif

#endif
