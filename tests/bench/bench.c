/*
 * bench CONTAINERS: the table of `make bench`, on standard output.  CONTAINERS is the folder with
 * the compiled pipelines.  Environment: ROUNDS (default 7), ONLY (a part of a workload's name).
 *
 * Each round runs every variant of a workload once, one after the other: what disturbs the machine
 * for a while disturbs them all.  A round's time is the best of a few repeats; times are medians
 * over the rounds, ratios are medians of the ratios within a round.  Exit status 1: an output has
 * not the bits of ours.
 */
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    OURS_1,
    OURS_2,
    HAND_1,
    HAND_2,
    UNFUSED,
    SCHEDULER, /* ours on the null device, which executes no kernel */
    VARIANTS
};

enum { ROUNDS_MAX = 99, WORKLOADS = 8 };

#define SAMPLE_SECONDS 0.08 /* a sample takes about so long: short variants are repeated */
#define REPEATS_MIN 3
#define QUIET_SECONDS 0.15 /* that a sample waits for others to be quiet */
#define FOREIGN_MAX 0.1    /* CPUs that others may use during a sample */
#define PATIENCE_SECONDS 5 /* with others, of a workload in all; after that they are endured */

static const struct bench_workload *const workloads[WORKLOADS] = {
    &bench_chain8,  &bench_chain1, &bench_fir4,  &bench_radio,
    &bench_chain64, &bench_loop,   &bench_loop1, &bench_cipher};

struct result {
    double seconds[VARIANTS][ROUNDS_MAX];
    struct bench_counts counts;
    const char *wrong; /* whose bits differ */
};

struct bench {
    const struct bench_workload *workload;
    struct bench_program *program;
    uint8_t *in, *out;
    int rounds;
    double patience_seconds; /* left */
    struct bench_limits limits;
};

/* ---- running a variant ---- */

static void hand_part(void *context, unsigned part, unsigned parts)
{
    const struct bench *b = context;
    b->workload->hand(b->in, b->out, part, parts);
}

static void run_variant(struct bench *b, int variant)
{
    const struct bench_workload *w = b->workload;
    switch (variant) {
    case OURS_1:
    case OURS_2:
        bench_run(b->program, NULL, variant == OURS_1 ? 1 : 2, b->in, w->in_bytes, b->out,
                  w->out_bytes, NULL);
        break;
    case SCHEDULER:
        bench_run(b->program, "null", 1, b->in, w->in_bytes, b->out, w->out_bytes, NULL);
        break;
    case HAND_1: w->hand(b->in, b->out, 0, 1); break;
    case HAND_2: bench_two_threads(hand_part, b); break;
    case UNFUSED: w->unfused(b->in, b->out); break;
    }
}

/* ---- what else the machine does ---- */

/* CPU seconds of everybody, or 0 where the system does not tell. */
static double busy_seconds(void)
{
    unsigned long long user = 0, nice = 0, system = 0, idle, wait, irq = 0, soft = 0, stolen = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (file == NULL) return 0;
    int found = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                       &idle, &wait, &irq, &soft, &stolen);
    fclose(file);
    double ticks = (double)(user + nice + system + irq + soft + stolen);
    return found == 8 ? ticks / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double own_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* CPUs that other processes use. */
static double foreign_cpus(double busy, double own, double since)
{
    double used = busy_seconds() - busy - (own_seconds() - own);
    return used > 0 ? used / (bench_now() - since) : 0;
}

static void wait_until_quiet(struct bench *b)
{
    double begin = bench_now(), end = begin + QUIET_SECONDS;
    while (b->patience_seconds > 0 && bench_now() < end) {
        double busy = busy_seconds(), own = own_seconds(), since = bench_now();
        usleep(50000);
        if (foreign_cpus(busy, own, since) < FOREIGN_MAX) break;
    }
    b->patience_seconds -= bench_now() - begin;
}

/* ---- sampling ---- */

/* One thread never waits, so its time is that of its processor; of two threads the wall's counts.
 */
static double clock_of(int variant)
{
    bool two = variant == OURS_2 || variant == HAND_2;
    return two ? bench_now() : bench_processor_now();
}

static double sample_once(struct bench *b, int variant, int repeats, double *foreign)
{
    wait_until_quiet(b);
    double busy = busy_seconds(), own = own_seconds(), since = bench_now();
    double best = INFINITY;
    for (int i = 0; i < repeats; i++) {
        double begin = clock_of(variant);
        run_variant(b, variant);
        double seconds = clock_of(variant) - begin;
        if (seconds < best) best = seconds;
    }
    *foreign = foreign_cpus(busy, own, since);
    return best;
}

/* Once more if others were busy; the better one counts. */
static double sample(struct bench *b, int variant, int repeats)
{
    double foreign;
    double seconds = sample_once(b, variant, repeats, &foreign);
    if (foreign < FOREIGN_MAX || b->patience_seconds <= 0) return seconds;
    double second = sample_once(b, variant, repeats, &foreign);
    return second < seconds ? second : seconds;
}

static bool has_variant(const struct bench_workload *w, int variant)
{
    return variant != HAND_2 || !w->serial;
}

/* Runs every variant once, compares what comes out, and finds how often a sample repeats it. */
static void warm_up(struct bench *b, struct result *result, int *repeats)
{
    static const char *const names[VARIANTS] = {
        [OURS_2] = "ours with 2 threads",
        [HAND_1] = "hand-written",
        [HAND_2] = "hand-written with 2 threads",
        [UNFUSED] = "unfused",
    };
    const struct bench_workload *w = b->workload;
    uint8_t *ours = bench_allocate(w->out_bytes);
    bench_run(b->program, NULL, 1, b->in, w->in_bytes, ours, w->out_bytes, &result->counts);
    for (int v = 0; v < VARIANTS; v++) {
        if (!has_variant(w, v)) continue;
        memset(b->out, 0xff, w->out_bytes);
        double begin = bench_now();
        run_variant(b, v);
        double seconds = bench_now() - begin;
        repeats[v] = (int)fmax(REPEATS_MIN, SAMPLE_SECONDS / seconds);
        if (v != SCHEDULER && memcmp(ours, b->out, w->out_bytes) != 0) result->wrong = names[v];
    }
    bench_free(ours, w->out_bytes);
}

static void measure(struct bench *b, const char *containers, struct result *result)
{
    const struct bench_workload *w = b->workload;
    char path[4096];
    int repeats[VARIANTS];
    snprintf(path, sizeof path, "%s/%s", containers, w->container);
    b->program = bench_load(path);
    b->in = bench_allocate(w->in_bytes);
    b->out = bench_allocate(w->out_bytes);
    w->prepare(b->in);
    warm_up(b, result, repeats);
    b->patience_seconds = PATIENCE_SECONDS;
    for (int r = 0; r < b->rounds && result->wrong == NULL; r++) {
        bench_measure_limits(&b->limits);
        for (int v = 0; v < VARIANTS; v++)
            if (has_variant(w, v)) result->seconds[v][r] = sample(b, v, repeats[v]);
    }
    bench_free(b->in, w->in_bytes);
    bench_free(b->out, w->out_bytes);
    bench_unload(b->program);
}

/* ---- figures ---- */

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(const double *values, int count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double median_ratio(const struct result *r, int above, int below, int rounds)
{
    double ratios[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++)
        ratios[i] = r->seconds[above][i] / r->seconds[below][i];
    return median(ratios, rounds);
}

/* The least time that the machine allows: the larger of moving the data and computing. */
static double limit_seconds(const struct bench_workload *w, const struct bench_limits *l, int t)
{
    double move = (double)(w->in_bytes + w->out_bytes) / l->copy_bytes[t];
    double compute = w->bound == BENCH_LATENCY  ? w->operations * l->step_seconds
                     : w->bound == BENCH_FLOATS ? w->operations / l->float_operations[t]
                                                : w->operations / l->integer_operations[t];
    return move > compute ? move : compute;
}

static void print_time(double seconds)
{
    printf(" %8.2f", seconds * 1e3);
}

static void print_row(const struct bench_workload *w, const struct result *r,
                      const struct bench_limits *limits, int rounds)
{
    printf("%-28s", w->name);
    if (r->wrong != NULL) {
        printf(" %s: other bits than ours\n", r->wrong);
        return;
    }
    for (int v = OURS_1; v <= UNFUSED; v++) {
        if (has_variant(w, v))
            print_time(median(r->seconds[v], rounds));
        else
            printf(" %8s", "-");
    }
    print_time(limit_seconds(w, limits, 0));
    if (w->serial)
        printf(" %8s", "-");
    else
        print_time(limit_seconds(w, limits, 1));
    printf(" %7.2f", median_ratio(r, OURS_1, HAND_1, rounds));
    printf(" %7.2f", median_ratio(r, OURS_2, w->serial ? HAND_1 : HAND_2, rounds));
    printf(" %8.2f\n", median_ratio(r, OURS_1, UNFUSED, rounds));
}

static void print_schedule(const struct bench_workload *w, const struct result *r, int rounds)
{
    if (r->wrong != NULL) return;
    double ours = median(r->seconds[OURS_1], rounds), all = (double)r->counts.dispatches;
    double scheduler = median(r->seconds[SCHEDULER], rounds);
    printf("%-28s %7u %11.0f %9.0f %9.3f", w->name, r->counts.stages, all,
           (double)r->counts.firings / all, ours * 1e9 / (double)w->packets);
    printf(" %11.0f", ours * 1e9 / all);
    printf(" %11.0f %9.0f %%\n", scheduler * 1e9 / all,
           100 * median_ratio(r, SCHEDULER, OURS_1, rounds));
}

static void print_tables(const struct result *results, const struct bench *b)
{
    const struct bench_limits *l = &b->limits;
    printf("\n%-28s %8s %8s %8s %8s %8s %8s %8s %7s %7s %8s\n", "milliseconds", "ours 1", "ours 2",
           "hand 1", "hand 2", "unfused", "limit 1", "limit 2", "ours/h1", "ours/h2", "ours/unf");
    for (int i = 0; i < WORKLOADS; i++)
        if (results[i].counts.stages > 0) print_row(workloads[i], &results[i], l, b->rounds);
    printf("\n%-28s %7s %11s %9s %9s %11s %11s %11s\n", "ours, 1 thread", "kernels", "dispatches",
           "firings/d", "ns/packet", "ns/dispatch", "null ns/d", "null/ours");
    for (int i = 0; i < WORKLOADS; i++)
        if (results[i].counts.stages > 0) print_schedule(workloads[i], &results[i], b->rounds);
    printf("\nlimits, 1 and 2 threads: copy %.1f and %.1f GB/s (read and written), f32 %.0f and "
           "%.0f Gflop/s,\nu32 addition %.0f and %.0f G/s, an addition and a product in series "
           "%.2f ns\n",
           l->copy_bytes[0] * 1e-9, l->copy_bytes[1] * 1e-9, l->float_operations[0] * 1e-9,
           l->float_operations[1] * 1e-9, l->integer_operations[0] * 1e-9,
           l->integer_operations[1] * 1e-9, l->step_seconds * 1e9);
}

int main(int argc, char **argv)
{
    static struct result results[WORKLOADS];
    const char *only = getenv("ONLY"), *wanted = getenv("ROUNDS");
    struct bench b = {.rounds = wanted != NULL ? atoi(wanted) : 7};
    if (argc != 2 || b.rounds < 1 || b.rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: [ROUNDS=1..%d] [ONLY=NAME] bench CONTAINERS\n", ROUNDS_MAX);
        return 2;
    }
    double busy = busy_seconds(), own = own_seconds(), since = bench_now();
    int status = 0;
    for (int i = 0; i < WORKLOADS; i++) {
        if (only != NULL && strstr(workloads[i]->name, only) == NULL) continue;
        fprintf(stderr, "bench: %s\n", workloads[i]->name);
        b.workload = workloads[i];
        measure(&b, argv[1], &results[i]);
        if (results[i].wrong != NULL) status = 1;
    }
    printf("rounds: %d, paired and interleaved; medians; %.0f s; others used %.2f CPUs meanwhile\n",
           b.rounds, bench_now() - since, foreign_cpus(busy, own, since));
    print_tables(results, &b);
    return status;
}
