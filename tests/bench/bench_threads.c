/* SPDX-License-Identifier: MIT */
/*
 * bench_threads: the second thread of the hand-written code.  It is made once; between two pieces
 * of work it spins for a while and then sleeps, so that it takes nothing from what is measured
 * with other threads.
 */
#include "tests/bench/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define AWAKE_SECONDS 1e-3

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t waking;
    bool started, asleep;
    void (*work)(void *context, unsigned part, unsigned parts);
    void *context;
    _Alignas(64) _Atomic unsigned wanted;
    _Alignas(64) _Atomic unsigned done;
    _Alignas(64) _Atomic unsigned arrived;
    _Alignas(64) _Atomic unsigned meetings;
} second = {.lock = PTHREAD_MUTEX_INITIALIZER, .waking = PTHREAD_COND_INITIALIZER};

static unsigned get(_Atomic unsigned *value)
{
    return atomic_load_explicit(value, memory_order_acquire);
}

/* Until there is a piece of work after `done`, or for so long without any. */
static bool spin_for_work(unsigned done)
{
    double end = bench_now() + AWAKE_SECONDS;
    while (bench_now() < end)
        for (int i = 0; i < 1000; i++) {
            if (get(&second.wanted) != done) return true;
            __builtin_ia32_pause();
        }
    return false;
}

/* Work that came before the lock is seen here, what comes after it wakes the sleeper. */
static void sleep_until_woken(unsigned done)
{
    pthread_mutex_lock(&second.lock);
    second.asleep = get(&second.wanted) == done;
    while (second.asleep)
        pthread_cond_wait(&second.waking, &second.lock);
    pthread_mutex_unlock(&second.lock);
}

static void wake(void)
{
    pthread_mutex_lock(&second.lock);
    second.asleep = false;
    pthread_cond_signal(&second.waking);
    pthread_mutex_unlock(&second.lock);
}

static void *second_thread(void *unused)
{
    (void)unused;
    for (unsigned done = 0;;) {
        if (!spin_for_work(done)) {
            sleep_until_woken(done);
            continue;
        }
        second.work(second.context, 1, 2);
        atomic_store_explicit(&second.done, ++done, memory_order_release);
    }
    return NULL;
}

void bench_two_threads_ready(void)
{
    if (!second.started && pthread_create(&second.thread, NULL, second_thread, NULL) != 0) {
        perror("bench: pthread_create");
        exit(3);
    }
    second.started = true;
    wake();
}

void bench_two_threads(void (*work)(void *context, unsigned part, unsigned parts), void *context)
{
    bench_two_threads_ready();
    second.work = work;
    second.context = context;
    unsigned wanted = get(&second.wanted) + 1;
    atomic_store_explicit(&second.wanted, wanted, memory_order_release);
    wake();
    work(context, 0, 2);
    while (get(&second.done) != wanted)
        __builtin_ia32_pause();
}

void bench_meet(unsigned parts)
{
    if (parts < 2) return;
    unsigned meeting = get(&second.meetings);
    if (atomic_fetch_add_explicit(&second.arrived, 1, memory_order_acq_rel) + 1 == parts) {
        atomic_store_explicit(&second.arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&second.meetings, meeting + 1, memory_order_release);
        return;
    }
    while (get(&second.meetings) == meeting)
        __builtin_ia32_pause();
}
