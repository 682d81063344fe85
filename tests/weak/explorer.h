/* SPDX-License-Identifier: MIT */
/*
 * explorer: executes code of the runtime with threads, mutexes, conditions and atomics of its own, under orders of events
 * that a C11 implementation may show and that the machine at hand may not.
 *
 * The code under test is compiled with -fsanitize=thread and linked with the explorer in place of that library, so every
 * access to memory comes here, atomic ones with the memory order that stands in the source.  Functions of POSIX come here
 * by macros (weak_memory.sh).  All threads are contexts of one thread of the system: at each atomic access and each call
 * the next thread is drawn.
 *
 * Memory.  Of each atomic object all values that have been stored are kept; a load may find any that is not older than
 * what its thread knows of: what it has seen itself, what happens before the load, and, where both are sequentially
 * consistent, the last such store.  So stores are seen in different orders by different threads.  An acquire load that
 * finds a release store, or an update after one, gets the knowledge of the storing thread.  Old values are found a limited
 * number of times in an execution, for a value becomes visible in the end.  Two accesses to the same byte of plain memory,
 * one of them a write, that do not happen one before the other are an error.
 * Less than C11 allows: a load never finds a value that is stored later, and stores to one object have the order in which
 * they are executed.  Fences between threads are refused.
 *
 * An execution fails where it breaks a claim (explorer_check), races, deadlocks, or does not end.
 *
 * Weakening: the accesses of one place in the code, which is an address, get another order.
 *
 * Not thread-safe: one exploration in a process.  Errors: memory for its tables; it aborts.
 */
#ifndef TESTS_WEAK_EXPLORER_H
#define TESTS_WEAK_EXPLORER_H

#include <stdbool.h>
#include <stdint.h>

/* The body of the first thread; everything that it uses is made anew by it, and freed. */
typedef void (*explorer_body)(void *argument);

/* Main of a test of this kind:
 *
 *   list N SEED                  N executions: prints each place, as ADDRESS ORDER; exit 1 if one fails, saying why
 *   weaken N SEED ADDRESS ORDER  the same with a weakened place, until one fails: prints why; exit 1 if none does */
int explorer_main(int count, char **words, explorer_body body);

/* Inside an execution. */
void explorer_check(bool holds, const char *claim);
/* Below `count`; the same again with the same seed. */
uint32_t explorer_draw(uint32_t count);
/* Threads have the numbers from 1 on; NONE: there are too many. */
uint32_t explorer_start(explorer_body body, void *argument);
void explorer_join(uint32_t thread);
/* Others may go on. */
void explorer_yield(void);

#endif
