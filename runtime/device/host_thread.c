/* SPDX-License-Identifier: MIT */
#include "runtime/device/host_thread.h"

#include "runtime/device/host_quota.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>

enum { SIGNAL_STACK_BYTES = 32768 };

static void *run_body(void *argument)
{
    const struct prt_host_thread *thread = argument;
    stack_t stack = {.ss_sp = thread->signal_stack, .ss_size = SIGNAL_STACK_BYTES}, before;
    sigaltstack(&stack, &before);
    thread->body(thread->argument);
    sigaltstack(&before, NULL);
    return NULL;
}

bool prt_host_thread_start(struct prt_host_thread *thread, void (*body)(void *argument),
                           void *argument)
{
    sigset_t all, before;
    *thread = (struct prt_host_thread){
        .signal_stack = malloc(SIGNAL_STACK_BYTES), .body = body, .argument = argument};
    if (thread->signal_stack == NULL) return false;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread->thread, NULL, run_body, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) free(thread->signal_stack);
    return started;
}

void prt_host_thread_join(struct prt_host_thread *thread)
{
    pthread_join(thread->thread, NULL);
    free(thread->signal_stack);
}

uint32_t prt_host_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    uint32_t quota = prt_host_quota_processors(PRT_HOST_GROUPS, PRT_HOST_MOUNTS);
    if (count <= 0) return 1;
    return (uint32_t)count < quota ? (uint32_t)count : quota;
}
