/* SPDX-License-Identifier: MIT */
/*
 * failing_calls: lets the k-th call of a kind fail, for tests in which each call fails in its turn.
 *
 *     bool hit = true;
 *     for (uint64_t call = 0; hit; call++) {
 *         arm(FAULT_FAILS, call);
 *         status = ...;
 *         hit = disarm();            false: there were fewer calls, so none failed
 *         assert_int_equal(faults.blocks, 0);
 *     }
 *
 * The calls for memory are here: malloc, calloc, realloc, aligned_alloc, posix_memalign, free, strdup,
 * strndup, asprintf (Makefile: MEMORY_LD).  A test adds other calls with REAL.
 * Thread-safety: calls may come from any thread; arm and disarm, while no other thread makes any.
 */
#ifndef TESTS_FAILING_CALLS_H
#define TESTS_FAILING_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault {
    FAULT_FAILS,             /* the call */
    FAULT_INTERRUPTED,       /* by a signal, once */
    FAULT_SHORT,             /* of reads and writes: one byte is moved */
    FAULT_AGAIN,             /* of reads and writes: nothing is there yet, or no room */
    FAULT_KINDS,             /* of calls of the system */
    FAULT_WORK = FAULT_KINDS /* of the verifier: it asks for more work than is left */
};

struct faults {
    bool armed;
    enum fault fault;
    atomic_int_fast64_t calls_left; /* before the one that is hit */
    atomic_bool hit;
    bool bytewise; /* every read gives one byte */
    atomic_int_fast64_t
        blocks; /* allocated and not freed, while armed; text that libc allocates is only freed */
};
extern struct faults faults;

void arm(enum fault fault, uint64_t call);
/* Was a call hit? */
bool disarm(void);

/* Is this call the one?  It counts as one call. */
bool is_hit(void);
/* The same for a call that can only fail; sets errno. */
bool fails(int why);
/* Counts a block that was allocated. */
void *counted(void *block);

/* Begins the definition of what the linker leads calls of `name` to. */
#define REAL(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

#endif
