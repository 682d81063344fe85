/* SPDX-License-Identifier: MIT */
/* Time, memory, and the peers that are there. */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* ---- time ---- */

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_processor_now(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- memory ---- */

#define HUGE_PAGE ((size_t)2 << 20)

/* With room at the end for a few vectors that are loaded and not used. */
static size_t whole_pages(size_t bytes)
{
    return (bytes + 4096 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *bench_reserve(size_t bytes)
{
    void *memory =
        mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bench: mmap");
        exit(3);
    }
    madvise(memory, whole_pages(bytes), MADV_HUGEPAGE);
    return memory;
}

void *bench_allocate(size_t bytes)
{
    void *memory = bench_reserve(bytes);
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)memory)[i] = 0;
    return memory;
}

void bench_free(void *memory, size_t bytes)
{
    munmap(memory, whole_pages(bytes));
}

enum { SPARES = 6 };

static struct {
    void *memory;
    size_t bytes;
} spares[SPARES];

void *bench_spare(unsigned number, size_t bytes)
{
    if (spares[number].bytes < bytes) {
        if (spares[number].bytes > 0) bench_free(spares[number].memory, spares[number].bytes);
        spares[number].memory = bench_allocate(bytes);
        spares[number].bytes = bytes;
    }
    return spares[number].memory;
}

void bench_spare_free(void)
{
    for (unsigned i = 0; i < SPARES; i++) {
        if (spares[i].bytes > 0) bench_free(spares[i].memory, spares[i].bytes);
        spares[i].bytes = 0;
    }
}

void bench_noise(float *to, size_t count)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < count; i++) {
        x = x * 1664525 + 1013904223;
        to[i] = (float)(x >> 8) * 0x1p-23f - 1;
    }
}

/* ---- peers ---- */

static struct bench_peer *first_peer;

void bench_peer_register(struct bench_peer *peer)
{
    struct bench_peer **end = &first_peer;
    while (*end != NULL)
        end = &(*end)->next;
    peer->next = NULL;
    *end = peer;
}

const struct bench_peer *bench_peer_of(const struct bench_workload *workload,
                                       const struct bench_peer *after)
{
    const struct bench_peer *peer = after == NULL ? first_peer : after->next;
    size_t word = strcspn(workload->name, " ");
    while (peer != NULL &&
           (strlen(peer->workload) != word || strncmp(peer->workload, workload->name, word) != 0))
        peer = peer->next;
    return peer;
}
