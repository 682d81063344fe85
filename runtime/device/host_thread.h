/* SPDX-License-Identifier: MIT */
/*
 * host_thread: threads of the host that execute kernels, or read and write ports.
 *
 * Signals are for the program's own threads: these take none but those of faults (SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL), whose handlers run on a stack of their own, for a kernel may have used up the
 * thread's.
 *
 * Ownership: the caller's, from a start that succeeds to the join.  Thread-safety: each thread is
 * started and joined by one other.  Allocation: the start.
 */
#ifndef RUNTIME_DEVICE_HOST_THREAD_H
#define RUNTIME_DEVICE_HOST_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { PRT_HOST_THREADS_MAX = 256 };

struct prt_host_thread {
    pthread_t thread;
    void *signal_stack;
    void (*body)(void *argument);
    void *argument;
};

/* False: there is no memory, or the system refuses a thread. */
bool prt_host_thread_start(struct prt_host_thread *thread, void (*body)(void *argument),
                           void *argument);
/* Returns when the body has. */
void prt_host_thread_join(struct prt_host_thread *thread);

/* Processors that the calling thread may use at the same time, by what it is bound to and what the
 * system grants (host_quota.h): 1 or more. */
uint32_t prt_host_processors(void);

#endif
