/*
 * bench_time FOLDER NAME...: what counting costs.  FOLDER has NAME.counted.pbc and NAME.known.pbc:
 * the same pipeline, the cost of its kernel counted while it runs where it depends on data, and
 * given.  Environment: ROUNDS (default 7).
 *
 * A round runs both, one after the other, on one thread; the ratio is the median of the rounds'.
 */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 99, PACKETS = 1 << 21 };

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

static double seconds_of(const struct bench_program *program, const uint32_t *in, uint32_t *out)
{
    double begin = bench_processor_now();
    bench_run(program, NULL, 1, 0, in, PACKETS * sizeof *in, out, PACKETS * sizeof *out, NULL);
    return bench_processor_now() - begin;
}

static struct bench_program *load(const char *folder, const char *name, const char *kind)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s.pbc", folder, name, kind);
    return bench_load(path);
}

static void measure(const char *folder, const char *name, int rounds, const uint32_t *in,
                    uint32_t *out)
{
    struct bench_program *counted = load(folder, name, "counted");
    struct bench_program *known = load(folder, name, "known");
    double with[ROUNDS_MAX], without[ROUNDS_MAX], ratios[ROUNDS_MAX];
    (void)seconds_of(known, in, out);
    for (int i = 0; i < rounds; i++) {
        without[i] = seconds_of(known, in, out);
        with[i] = seconds_of(counted, in, out);
        ratios[i] = with[i] / without[i];
    }
    printf("%-12s %12.2f %12.2f %8.2f\n", name, 1e9 * median(without, rounds) / PACKETS,
           1e9 * median(with, rounds) / PACKETS, median(ratios, rounds));
    bench_unload(counted);
    bench_unload(known);
}

int main(int argc, char **argv)
{
    const char *asked = getenv("ROUNDS");
    int rounds = asked != NULL ? atoi(asked) : 7;
    uint32_t *in = bench_allocate(PACKETS * sizeof *in);
    uint32_t *out = bench_allocate(PACKETS * sizeof *out);
    if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX) return 2;
    for (uint32_t i = 0; i < PACKETS; i++)
        in[i] = i * 2654435761u >> 3;
    printf("%-12s %12s %12s %8s\n", "kernel", "known ns", "counted ns", "ratio");
    for (int i = 2; i < argc; i++)
        measure(argv[1], argv[i], rounds, in, out);
    bench_free(in, PACKETS * sizeof *in);
    bench_free(out, PACKETS * sizeof *out);
    return 0;
}
