/* SPDX-License-Identifier: MIT */
/*
 * cpu_trial: decides whether a pipeline is faster with the other threads or without them.
 *
 * Sharing a job divides its time.  It also moves packets from core to core, in this job and in the jobs before and after
 * it: some nanoseconds for each line of memory, tens of them between cores without a common cache.  One job does
 * not show this cost.  So both ways are tried for a while, and the time of whole rounds of the pipeline decides, with all
 * that the host does in between.  Trials are repeated, since data and other programs change.
 *
 * A *window* lasts from a job to a later job of the same object.  A *spell* is a number of windows in one way.  Its pace is
 * that of its best window, so that disturbances for a while do not count.  The first window after a change does
 * not count: packets still lie in other caches.  A whole trial may be disturbed, and threads begin slowly.  So each trial with
 * the same result makes the time until the next trial longer.
 *
 * With many threads, a window without them may take as long as all shared windows since the trial before.  So a trial of
 * unshared execution ends as soon as the rounds that it has begun have taken clearly longer than shared ones.
 *
 * Thread-safety: the caller's.  Allocation: none.
 */
#ifndef RUNTIME_BACKEND_CPU_CPU_TRIAL_H
#define RUNTIME_BACKEND_CPU_CPU_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PRT_CPU_WINDOW_NS = 50000,        /* least length of a window */
    PRT_CPU_WINDOW_LONG_NS = 1000000, /* a window of this length needs only one round */
    PRT_CPU_TRIED = 3,                /* windows of a spell that tries the other way */
    PRT_CPU_KEPT_LEAST =
        32, /* windows until the next trial, after a trial that has changed the way */
    PRT_CPU_KEPT_MOST = 1024, /* each trial that has not doubles them, up to so many */
};

struct prt_cpu_trial {
    bool alone;            /* jobs are not shared now */
    bool tried;            /* this spell is the trial of the other way */
    bool open;             /* a window is open */
    bool fresh;            /* the window is the first one after a change */
    uint32_t windows_left; /* in the spell */
    uint32_t kept;         /* windows of the last spell that was no trial; 0: none so far */
    uint32_t object;       /* of the job that the window began with */
    uint64_t since_ns, work;
    uint32_t rounds;     /* complete ones in the window */
    uint64_t round_work; /* of a round of the last window; 0: there was none */
    double best;         /* pace of the best window of the spell, in ns for a unit of work */
    double pace[2];      /* of the last spell: shared, not shared */
};

/* Jobs are shared at first. */
void prt_cpu_trial_begin(struct prt_cpu_trial *trial);

/* Counts a job of that object that could be shared, and returns true if it should not be.  `work`: the amount of work, 1 or
 * more, always in the same unit.  `rounds`: the minimum of rounds in a window that is not long.  A job that waits in a line
 * is counted before it is executed, so that a short window of one round would often look shorter. */
bool prt_cpu_trial_alone(struct prt_cpu_trial *trial, uint32_t object, uint64_t work,
                         uint32_t rounds, uint64_t now_ns);

#endif
