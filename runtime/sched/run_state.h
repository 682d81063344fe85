/* SPDX-License-Identifier: MIT */
/*
 * run_state: the state of a run while it executes: every stage and every buffer, as text and as numbers (moment.h).
 *
 * For signal handlers in the scheduler's thread.  The scheduler *rests* before and after the run, and while it waits
 * for a callback of the host or for the device (in that time it may execute kernels itself).  Then its tables do not
 * change, and the handler writes the text at once.  At any other time the scheduler is within an instruction, and
 * writes the text itself before the next one.  So the figures are always consistent, and no thread waits for them.
 *
 * Thread-safety: the scheduler's thread and its signal handlers; all functions are async-signal-safe.
 * Allocation: none; no locks, and only string functions of libc.  Errors: none.
 */
#ifndef RUNTIME_SCHED_RUN_STATE_H
#define RUNTIME_SCHED_RUN_STATE_H

#include "runtime/sched/stage_profile.h"

/* Has the text written, now or before the next instruction.  `write` is called in the scheduler's thread. */
void prt_run_state_ask(struct prt_sched *sched, prt_run_state_write write, void *context);

/* Has `visit` called with `run`, now or before the next instruction, in the scheduler's thread. */
void prt_run_state_visit(struct prt_sched *sched, prt_visit_callback visit, void *context,
                         const struct prt_run *run);

/* Does what has been asked for. */
void prt_run_state_answer(struct prt_sched *sched);
/* Called before each instruction. */
static inline void prt_run_state_attend(struct prt_sched *sched)
{
    if (atomic_load_explicit(&sched->core->asked, memory_order_relaxed))
        prt_run_state_answer(sched);
}

/* Sets the activity of the scheduler and returns the previous one.  READ and WRITE: `buffer` is that of the port.  All
 * but PRT_DOING_WORK are rests. */
static inline enum prt_doing prt_run_state_set(struct prt_sched *s, enum prt_doing doing,
                                               const struct prt_buffer *buffer)
{
    enum prt_doing before = (enum prt_doing)atomic_load_explicit(&s->doing, memory_order_relaxed);
    if (s->profile != NULL) prt_profile_doing(s, doing, buffer);
    s->doing_buffer = buffer;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&s->doing, (int)doing, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (doing != PRT_DOING_WORK) prt_run_state_attend(s); /* a handler may have asked just before */
    return before;
}

/* For visits.  Requires: indices in range. */
void prt_run_state_stage(const struct prt_sched *sched, uint32_t index,
                         struct prt_stage_moment *moment);
void prt_run_state_buffer(const struct prt_sched *sched, uint32_t index,
                          struct prt_buffer_moment *moment);
#endif
