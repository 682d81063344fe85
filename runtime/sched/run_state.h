/* SPDX-License-Identifier: MIT */
/*
 * run_state: how a run stands while it is executed, as text: every stage and every buffer.
 *
 * For handlers of signals in the scheduler's thread.  The scheduler *rests* while it waits for a
 * callback of the host or for the device (whose kernels it may have to execute itself), and before
 * and after the run: then its tables hold still, and the text is written at once, by the handler.
 * At any other time it is in the midst of an instruction: then it writes the text itself, in front
 * of the next one.  So the figures always belong together, and nobody waits for them.
 *
 * Threads: the scheduler's, and its handlers.  Allocation: none; no locks, no libc but memory.
 * Errors: none.
 */
#ifndef RUNTIME_SCHED_RUN_STATE_H
#define RUNTIME_SCHED_RUN_STATE_H

#include "runtime/sched/stage_profile.h"

/* Async-signal-safe: has the text written, now or in front of the next instruction. */
void prt_standing_ask(struct prt_sched *sched, prt_standing_write write, void *context);

/* In front of an instruction. */
void prt_standing_answer(struct prt_sched *sched);
static inline void prt_standing_attend(struct prt_sched *sched)
{
    if (atomic_load_explicit(&sched->asked, memory_order_relaxed)) prt_standing_answer(sched);
}

/* What the scheduler does from now on; what it did before.  The buffer is that of a port.  Any but
 * PRT_DOING_WORK is a rest. */
static inline enum prt_doing prt_standing_set(struct prt_sched *s, enum prt_doing doing,
                                              const struct prt_buffer *buffer)
{
    enum prt_doing before = (enum prt_doing)atomic_load_explicit(&s->doing, memory_order_relaxed);
    if (s->collect != NULL) prt_collect_doing(s, doing, buffer);
    s->doing_buffer = buffer;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&s->doing, (int)doing, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (doing != PRT_DOING_WORK) prt_standing_attend(s); /* who has asked just before */
    return before;
}

#endif
