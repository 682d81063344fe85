/* SPDX-License-Identifier: MIT */
/*
 * cpu_trial: is a pipeline quicker with the other threads, or without them?
 *
 * Cutting a job saves what it takes, and costs what its packets take from core to core, in this job
 * and in those before and behind it: some nanoseconds for each line of memory, or tens of them where
 * cores share no cache.  Nobody can tell from one job.  So both ways are tried for a while, and the
 * time of whole rounds of the pipeline, all that the host does included, decides; again and again,
 * for neighbours on the machine change, and data do.
 *
 * Time is cut into windows, from a job to a later one of the same object.  A *spell* is some windows
 * in one way; its pace is that of its best window, so that what disturbs for a while does not count,
 * and of the first after a change nothing is kept: packets still lie elsewhere.  A trial may be
 * disturbed as a whole, and threads begin slowly; so what it says is believed for the longer the more
 * often it has been said.
 *
 * Thread-safety: the caller's.  Allocation: none.
 */
#ifndef RUNTIME_BACKEND_CPU_CPU_TRIAL_H
#define RUNTIME_BACKEND_CPU_CPU_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PRT_CPU_WINDOW_NS = 50000, /* at least */
    PRT_CPU_TRIED = 3,         /* windows of a spell that is a trial */
    PRT_CPU_KEPT_LEAST = 32,   /* windows until the next one, after one that has changed the way */
    PRT_CPU_KEPT_MOST = 1024,  /* twice as many after each that has not, up to so many */
};

struct prt_cpu_trial {
    bool alone;            /* jobs are not shared now */
    bool tried;            /* this spell is the trial of the other way */
    bool open;             /* there is a window */
    bool fresh;            /* it is the first one after a change */
    uint32_t windows_left; /* of the spell */
    uint32_t kept;         /* windows of the last spell that was no trial; 0: none so far */
    uint32_t object;       /* of the job that the window began with */
    uint64_t since_ns, work;
    uint32_t rounds_left; /* until the window may end */
    double best;          /* of the last windows of the spell: ns for a unit of work */
    double pace[2];       /* of the last spell: shared, alone */
};

/* Jobs are shared at first. */
void prt_cpu_trial_begin(struct prt_cpu_trial *trial);

/* A job of that object, which could be shared, is given: is it better executed alone?  `work`: how much of it there
 * is, in a unit that stays the same; 1 or more.  `rounds`: a window lasts as many at least.  Jobs that wait in lines
 * have been counted and not been executed, so that a window of one round would often look short. */
bool prt_cpu_trial_alone(struct prt_cpu_trial *trial, uint32_t object, uint64_t work,
                         uint32_t rounds, uint64_t now_ns);

#endif
