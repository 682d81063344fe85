/* SPDX-License-Identifier: MIT */
/*
 * bench_growth: W1 with 1 to 256 kernels, and with 1 Ki to 1 Gi packets.  Each size is a process of
 * its own, so that its maximum of memory can be measured.
 */
#include "tests/bench/bench_growth.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct bench_growth sizes[] = {
    {.kernels = 1, .packets = (size_t)4 << 20},   {.kernels = 2, .packets = (size_t)4 << 20},
    {.kernels = 4, .packets = (size_t)4 << 20},   {.kernels = 8, .packets = (size_t)4 << 20},
    {.kernels = 16, .packets = (size_t)4 << 20},  {.kernels = 32, .packets = (size_t)4 << 20},
    {.kernels = 64, .packets = (size_t)4 << 20},  {.kernels = 128, .packets = (size_t)4 << 20},
    {.kernels = 256, .packets = (size_t)4 << 20}, {.kernels = 8, .packets = (size_t)1 << 10},
    {.kernels = 8, .packets = (size_t)32 << 10},  {.kernels = 8, .packets = (size_t)1 << 20},
    {.kernels = 8, .packets = (size_t)32 << 20},  {.kernels = 8, .packets = (size_t)1 << 30},
};

_Static_assert(sizeof sizes / sizeof *sizes <= GROWTH_MAX, "there is room for all sizes");

/* The best of three: all but the longest are short. */
static double run_seconds(const char *containers, const struct bench_growth *size)
{
    enum { RING = 1 << 20, TRIES = 3 };
    char path[4096];
    snprintf(path, sizeof path, "%s/growth%u.pbc", containers, size->kernels);
    struct bench_program *program = bench_load(path);
    float *in = bench_allocate(RING * sizeof(float)), *out = bench_allocate(RING * sizeof(float));
    double best = 0;
    bench_noise(in, RING);
    for (int i = 0; i < TRIES; i++) {
        double begin = bench_processor_now();
        bench_run_long(program, size->packets * sizeof(float), in, out, RING * sizeof(float));
        double seconds = bench_processor_now() - begin;
        if (i == 0 || seconds < best) best = seconds;
    }
    bench_free(in, RING * sizeof(float));
    bench_free(out, RING * sizeof(float));
    bench_unload(program);
    return best;
}

static void fail(const char *what)
{
    perror(what);
    exit(3);
}

static void measure_apart(const char *containers, struct bench_growth *size)
{
    int ends[2], status;
    struct rusage used;
    if (pipe(ends) != 0) fail("bench: pipe");
    pid_t child = fork();
    if (child < 0) fail("bench: fork");
    if (child == 0) {
        double seconds = run_seconds(containers, size);
        _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 3);
    }
    close(ends[1]);
    if (read(ends[0], &size->seconds, sizeof size->seconds) != sizeof size->seconds) exit(3);
    close(ends[0]);
    if (wait4(child, &status, 0, &used) != child || status != 0) exit(3);
    size->mebibytes = (double)used.ru_maxrss / 1024;
}

size_t bench_measure_growth(const char *containers, struct bench_growth *growth)
{
    size_t count = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < count; i++) {
        growth[i] = sizes[i];
        measure_apart(containers, &growth[i]);
    }
    return count;
}
