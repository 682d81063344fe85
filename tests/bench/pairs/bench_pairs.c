/* SPDX-License-Identifier: MIT */
/*
 * bench_pairs TYPE FIRST SECOND FOLDER NAME...: two ways to write the same.  FOLDER has NAME.FIRST.pbc
 * and NAME.SECOND.pbc, whose outputs are the same bytes; TYPE is that of their packets, f32 or u32.
 * Environment: ROUNDS (default 7).  Exit status 1: outputs differ.
 *
 * A round runs both, one after the other, on one thread; the ratio is the median of the rounds',
 * the first by the second.
 */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 99, PACKETS = 1 << 21 };

#define BYTES (PACKETS * sizeof(uint32_t))

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

struct way {
    const char *kind;
    struct bench_program *program;
    size_t bytes; /* that came out */
    void *out;
    double seconds[ROUNDS_MAX];
};

static double seconds_of(struct way *way, const void *in)
{
    double begin = bench_processor_now();
    way->bytes = bench_run(way->program, NULL, 1, 0, in, BYTES, way->out, BYTES, NULL);
    return bench_processor_now() - begin;
}

static void load(struct way *way, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s.pbc", folder, name, way->kind);
    way->program = bench_load(path);
}

/* False: their outputs differ. */
static bool measure(struct way ways[2], const char *folder, const char *name, int rounds,
                    const void *in)
{
    double ratios[ROUNDS_MAX];
    for (int w = 0; w < 2; w++) {
        load(&ways[w], folder, name);
        (void)seconds_of(&ways[w], in);
    }
    bool same =
        ways[0].bytes == ways[1].bytes && memcmp(ways[0].out, ways[1].out, ways[0].bytes) == 0;
    for (int i = 0; i < rounds; i++) {
        for (int w = 0; w < 2; w++)
            ways[w].seconds[i] = seconds_of(&ways[w], in);
        ratios[i] = ways[0].seconds[i] / ways[1].seconds[i];
    }
    printf("%-12s %12.2f %12.2f %8.2f%s\n", name, 1e9 * median(ways[0].seconds, rounds) / PACKETS,
           1e9 * median(ways[1].seconds, rounds) / PACKETS, median(ratios, rounds),
           same ? "" : "  other bytes");
    for (int w = 0; w < 2; w++)
        bench_unload(ways[w].program);
    return same;
}

static void fill(void *in, const char *type)
{
    uint32_t *words = in;
    if (strcmp(type, "f32") == 0)
        bench_noise(in, PACKETS);
    else
        for (uint32_t i = 0; i < PACKETS; i++)
            words[i] = i * 2654435761u >> 3;
}

int main(int argc, char **argv)
{
    const char *asked = getenv("ROUNDS");
    int rounds = asked != NULL ? atoi(asked) : 7;
    if (argc < 5 || rounds < 1 || rounds > ROUNDS_MAX) return 2;
    struct way ways[2] = {{.kind = argv[2], .out = bench_allocate(BYTES)},
                          {.kind = argv[3], .out = bench_allocate(BYTES)}};
    void *in = bench_allocate(BYTES);
    bool same = true;
    fill(in, argv[1]);
    printf("%-12s %12s %12s %8s\n", "nanoseconds", ways[0].kind, ways[1].kind, "ratio");
    for (int i = 5; i < argc; i++)
        same = measure(ways, argv[4], argv[i], rounds, in) && same;
    bench_free(in, BYTES);
    bench_free(ways[0].out, BYTES);
    bench_free(ways[1].out, BYTES);
    return same ? 0 : 1;
}
