/* SPDX-License-Identifier: MIT */
/*
 * bench_cores CONTAINERS THREADS...: workloads with several numbers of threads, as a table on standard output.
 *
 * For each number of threads the table has four variants:
 *   ours     one run with so many threads, from memory to memory; `least` is the speed-up of its slowest sample
 *   slices   the hand-written code, each thread on its own slice of the stream, where the workload has such code
 *   oneTBB   where the program has this peer
 *   beside   so many runs with one thread each, side by side, each on its own stream, with the depths of the plan
 *
 * Where memory limits a workload, a second table compares `ours` with a copy of its stream by so many threads.
 *
 * A stream takes a second with one thread, if GB_MAX and half of the free memory hold it: its packets are those of the
 * workload's usual stream, again and again.  The runs side by side go over shorter streams, one after the other.
 * The start-up is the time of a run of a few packets; the time of `ours` does not contain it.
 *
 * Environment: SECONDS_MAX (default 220), by which the last round ends, except the first; GB_MAX (default 24), the
 * limit of memory of a stream; ONLY, a part of a workload's name;
 * DEPTHS, the factor of the depths of `ours` (1: the depths of the plan; default 0: as a run chooses it).
 * A table shows the medians of all rounds.  Exit status 1: an output differs from ours.
 */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_SECONDS 1.1
#define SECONDS_MAX 220.0
#define GB_MAX 24.0        /* of a stream, input and output */
#define SAMPLE_SECONDS 0.4 /* shorter variants are repeated, and the best one counts */

enum { COUNTS_MAX = 16, THREADS_MAX = 256, ROUNDS_MAX = 99, STARTS = 5 };
enum { BESIDE_PART = 4 }; /* a stream of a run beside others has such a part of the usual one */
enum variant { OURS, SLICES, PEER, BESIDE, COPY, START, VARIANTS };

static const struct bench_workload *const workloads[] = {
    &bench_chain8,   &bench_bank,     &bench_radio,      &bench_picture, &bench_fourier,
    &bench_bitonic,  &bench_chain64,  &bench_cipher,     &bench_graph60, &bench_graph200,
    &bench_graph500, &bench_products, &bench_transforms, &bench_chains12};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(3);
}

/* ---- memory ---- */

#define HUGE_PAGE ((size_t)2 << 20)

/* Memory that all rows use in turn: where the system is slow to give memory, it gives it once. */
static struct {
    uint8_t *streams, *beside;
    size_t streams_bytes;
    size_t beside_bytes; /* of one thread */
} memory;

static size_t whole_pages(size_t bytes)
{
    return (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
}

static size_t stream_bytes(const struct bench_shape *shape)
{
    return whole_pages(shape->in_bytes) + whole_pages(shape->out_bytes);
}

/* ---- a workload ---- */

struct row {
    const struct bench_workload *workload;
    const struct bench_peer *peer;           /* NULL: there is none */
    struct bench_program *program, *planned; /* the second one with the depths of the plan */
    size_t wanted_times, times; /* how often the stream has the workload's usual units */
    size_t units;               /* of the stream */
    struct bench_shape shape;
    uint8_t *in, *out;
    double seconds[COUNTS_MAX][VARIANTS][ROUNDS_MAX];
    double slowest[COUNTS_MAX][VARIANTS]; /* of all samples */
};

struct crew { /* threads that begin together */
    const struct row *row;
    pthread_barrier_t start;
    unsigned threads;
};

struct member {
    struct crew *crew;
    pthread_t thread;
    unsigned number;
    double begun, ended;
};

static double run_crew(const struct row *row, unsigned threads, void *(*work)(void *member))
{
    static struct member members[THREADS_MAX];
    struct crew crew = {.row = row, .threads = threads};
    pthread_barrier_init(&crew.start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        members[i] = (struct member){.crew = &crew, .number = i};
        errno = pthread_create(&members[i].thread, NULL, work, &members[i]);
        if (errno != 0) fail("a thread");
    }
    double begun = 0, ended = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(members[i].thread, NULL);
        if (i == 0 || members[i].begun < begun) begun = members[i].begun;
        if (members[i].ended > ended) ended = members[i].ended;
    }
    pthread_barrier_destroy(&crew.start);
    return ended - begun;
}

/* So many units, at most those of the stream, of which each thread gets an equal part. */
static size_t sliced_units(const struct row *row, unsigned threads)
{
    size_t share = row->units / threads;
    /* Slices that begin a power of two apart would share sets of the caches. */
    if (share > 8 && share % 4 == 0) share -= 2;
    return share > 0 ? share * threads : threads;
}

static void *work_slice(void *context)
{
    struct member *m = context;
    const struct row *row = m->crew->row;
    size_t units = sliced_units(row, m->crew->threads);
    pthread_barrier_wait(&m->crew->start);
    m->begun = bench_now();
    row->workload->hand(units, row->in, row->out, m->number, m->crew->threads);
    m->ended = bench_now();
    return NULL;
}

/* Runs one after the other, over memory that no other thread uses. */
static void *work_beside(void *context)
{
    struct member *m = context;
    const struct row *row = m->crew->row;
    struct bench_shape shape = row->workload->shape(row->workload->units / BESIDE_PART);
    uint8_t *in = memory.beside + m->number * memory.beside_bytes;
    uint8_t *out = in + whole_pages(shape.in_bytes);
    memcpy(in, row->in, shape.in_bytes);
    memset(out, 0, shape.out_bytes);
    pthread_barrier_wait(&m->crew->start);
    m->begun = bench_now();
    for (size_t i = 0; i < row->times * BESIDE_PART; i++)
        bench_run(row->planned, NULL, 1, 0, in, shape.in_bytes, out, shape.out_bytes, NULL);
    m->ended = bench_now();
    return NULL;
}

/* Past the caches: a copy through them reads the memory that it is about to write. */
static void *copy_slice(void *context)
{
    struct member *m = context;
    const struct row *row = m->crew->row;
    size_t step = 4 * LANES, floats = row->shape.in_bytes / sizeof(float);
    size_t share = floats / m->crew->threads / step * step, first = share * m->number;
    const float *from = (const float *)row->in;
    float *to = (float *)row->out;
    pthread_barrier_wait(&m->crew->start);
    m->begun = bench_now();
    for (size_t i = first; i < first + share; i += step)
        for (size_t n = 0; n < step; n += LANES)
            lanes_stream(to + i + n, lanes_load(from + i + n));
    _mm_sfence();
    m->ended = bench_now();
    return NULL;
}

static size_t run_ours(const struct row *row, size_t units, unsigned threads)
{
    struct bench_shape shape = row->workload->shape(units);
    return bench_run(row->program, NULL, threads, 0, row->in, shape.in_bytes, row->out,
                     shape.out_bytes, NULL);
}

static double sample_once(const struct row *row, enum variant variant, unsigned threads)
{
    double begun, of_stream = 1;
    switch (variant) {
    case SLICES:
        of_stream = (double)sliced_units(row, threads) / (double)row->units;
        return run_crew(row, threads, work_slice) / of_stream;
    case BESIDE:
        of_stream = (double)(row->workload->units / BESIDE_PART * BESIDE_PART * row->times) /
                    (double)row->units;
        return run_crew(row, threads, work_beside) / of_stream;
    case COPY: return run_crew(row, threads, copy_slice);
    case PEER: row->peer->limit_threads(threads); break;
    default: break;
    }
    begun = bench_now();
    if (variant == PEER)
        row->peer->run();
    else
        run_ours(row, variant == START ? row->workload->check_units : row->units, threads);
    return bench_now() - begun;
}

static double sample(const struct row *row, enum variant variant, unsigned threads, double *slowest)
{
    double all = 0, best = 0;
    for (int i = 0; i == 0 || (variant == START ? i < STARTS : all < SAMPLE_SECONDS); i++) {
        double seconds = sample_once(row, variant, threads);
        if (i == 0 || seconds < best) best = seconds;
        if (seconds > *slowest) *slowest = seconds;
        all += seconds;
    }
    return best;
}

/* ---- comparison of bits ---- */

static void require_same(const struct row *row, const uint8_t *expected, size_t bytes,
                         const char *who, unsigned threads)
{
    if (memcmp(expected, row->out, bytes) != 0) {
        printf("%s: %s with %u threads has other bits than ours with one\n", row->workload->name,
               who, threads);
        exit(1);
    }
    memset(row->out, 0xff, bytes);
}

static void compare_bits(const struct row *row, const unsigned *threads, int counts)
{
    for (int i = 0; i < counts; i++) {
        size_t units = sliced_units(row, threads[i]);
        size_t bytes = run_ours(row, units, 1);
        uint8_t *expected = bench_allocate(bytes);
        memcpy(expected, row->out, bytes);
        memset(row->out, 0xff, bytes);
        run_ours(row, units, threads[i]);
        require_same(row, expected, bytes, "ours", threads[i]);
        if (row->workload->hand != NULL) {
            run_crew(row, threads[i], work_slice);
            require_same(row, expected, bytes, "hand-written code", threads[i]);
        }
        bench_free(expected, bytes);
    }
}

static void compare_peer(const struct row *row)
{
    size_t bytes = run_ours(row, row->units, 1);
    uint8_t *expected = bench_allocate(bytes);
    memcpy(expected, row->out, bytes);
    row->peer->run();
    require_same(row, expected, bytes, row->peer->name, 0);
    bench_free(expected, bytes);
}

/* ---- rows ---- */

static const struct bench_peer *find_peer(const struct bench_workload *workload)
{
    const struct bench_peer *peer = bench_peer_of(workload, NULL);
    while (peer != NULL && (peer->limit_threads == NULL || peer->begin == NULL))
        peer = bench_peer_of(workload, peer);
    return peer;
}

/* Each thread fills its part of the memory: the usual input again and again, and anything in the output. */
static void *fill_part(void *context)
{
    struct member *m = context;
    const struct row *row = m->crew->row;
    size_t usual = row->workload->shape(row->workload->units).in_bytes;
    size_t in_part = row->shape.in_bytes / m->crew->threads + 1;
    size_t out_part = row->shape.out_bytes / m->crew->threads;
    size_t at = m->number * in_part > usual ? m->number * in_part : usual, end;
    for (end = (m->number + 1) * in_part; at < end && at < row->shape.in_bytes;) {
        size_t from = at % usual, bytes = usual - from;
        if (bytes > end - at) bytes = end - at;
        if (bytes > row->shape.in_bytes - at) bytes = row->shape.in_bytes - at;
        memcpy(row->in + at, row->in + from, bytes);
        at += bytes;
    }
    memset(row->out + m->number * out_part, 0xff, out_part);
    return NULL;
}

/* `times` times the workload's usual stream, or as much of that as the memory holds. */
static void open_stream(struct row *row, size_t times, unsigned threads)
{
    size_t usual = row->workload->units;
    for (row->times = times; row->times > 1; row->times--) {
        row->shape = row->workload->shape(usual * row->times);
        if (stream_bytes(&row->shape) <= memory.streams_bytes) break;
    }
    row->units = usual * row->times;
    row->shape = row->workload->shape(row->units);
    row->in = memory.streams;
    row->out = row->in + whole_pages(row->shape.in_bytes);
    row->workload->prepare(usual, row->in);
    run_crew(row, threads, fill_part);
}

static void begin_peer(struct row *row)
{
    row->peer = find_peer(row->workload);
    if (row->peer != NULL && row->peer->begin(row->units, row->in, row->shape.in_bytes, row->out,
                                              row->shape.out_bytes) != NULL)
        row->peer = NULL;
}

static void end_peer(const struct row *row)
{
    if (row->peer != NULL && row->peer->end != NULL) row->peer->end();
}

static unsigned largest(const unsigned *threads, int counts)
{
    unsigned most = threads[0];
    for (int i = 1; i < counts; i++)
        if (threads[i] > most) most = threads[i];
    return most;
}

/* Memory limits W1, whose output is as long as its input. */
static bool is_limited_by_memory(const struct row *row)
{
    return row->workload == &bench_chain8;
}

static bool has_variant(const struct row *row, enum variant variant)
{
    if (variant == SLICES) return row->workload->hand != NULL;
    if (variant == COPY) return is_limited_by_memory(row);
    return variant != PEER || row->peer != NULL;
}

/* One round of a row; the first one compares bits too, and finds how long a stream is. */
static void measure(struct row *row, const unsigned *threads, int counts, int round)
{
    if (round == 0) {
        open_stream(row, 1, largest(threads, counts));
        compare_bits(row, threads, counts);
        begin_peer(row);
        if (row->peer != NULL) compare_peer(row);
        end_peer(row);
        double slowest = 0;
        row->wanted_times = (size_t)(STREAM_SECONDS / sample(row, OURS, 1, &slowest)) + 1;
    }
    open_stream(row, row->wanted_times, largest(threads, counts));
    begin_peer(row);
    for (int i = 0; i < counts; i++)
        for (enum variant v = OURS; v < VARIANTS; v++)
            if (has_variant(row, v))
                row->seconds[i][v][round] = sample(row, v, threads[i], &row->slowest[i][v]);
    end_peer(row);
}

/* ---- the table ---- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *numbers, int count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, numbers, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    return (sorted[count / 2] + sorted[(count - 1) / 2]) / 2;
}

static void print_time(double seconds, double one)
{
    if (seconds > 0)
        printf(" %9.1f %5.2f", seconds * 1e3, one / seconds);
    else
        printf(" %9s %5s", "-", "-");
}

static void print_ratio(double seconds, double ours)
{
    if (seconds > 0)
        printf(" %6.2f", seconds / ours);
    else
        printf(" %6s", "-");
}

static void print_row(const struct row *row, const unsigned *threads, int counts, int rounds)
{
    double one[VARIANTS] = {0};
    for (int i = 0; i < counts; i++) {
        double t[VARIANTS];
        for (enum variant v = OURS; v < VARIANTS; v++)
            t[v] = has_variant(row, v) ? median(row->seconds[i][v], rounds) : 0;
        t[OURS] -= t[START];
        if (i == 0) memcpy(one, t, sizeof one);
        double together = t[BESIDE] / threads[i]; /* of one stream */
        printf("%-32.32s %4u", i == 0 ? row->workload->name : "", threads[i]);
        print_time(t[OURS], one[OURS]);
        printf(" %5.2f", one[OURS] / (row->slowest[i][OURS] - t[START]));
        print_time(t[SLICES], one[SLICES]);
        print_time(t[PEER], one[PEER]);
        print_time(together, one[BESIDE] / threads[0]);
        print_ratio(together, t[OURS]);
        print_ratio(t[SLICES], t[OURS]);
        print_ratio(t[PEER], t[OURS]);
        printf(" %8.2f\n", t[START] * 1e3);
    }
}

static void print_table(const struct row *rows, int row_count, const unsigned *threads, int counts,
                        int rounds, double seconds)
{
    printf("%-32s %4s %9s %5s %5s %9s %5s %9s %5s %9s %5s %6s %6s %6s %8s\n", "", "", "ours", "x",
           "least", "slices", "x", "oneTBB", "x", "beside", "x", "of", "of", "of", "start");
    printf("%-32s %4s %9s %5s %5s %9s %5s %9s %5s %9s %5s %6s %6s %6s %8s\n", "", "thr", "ms", "",
           "x", "ms", "", "ms", "", "ms", "", "beside", "slices", "oneTBB", "ms");
    for (int i = 0; i < row_count; i++)
        print_row(&rows[i], threads, counts, rounds);
    printf("rounds: %d; medians; %.0f s\n", rounds, seconds);
}

static void print_copies(const struct row *row, const unsigned *threads, int counts, int rounds)
{
    double gigabytes = 1e-9 * (double)(row->shape.in_bytes + row->shape.out_bytes);
    printf("\n%-32s %4s %9s %9s %9s\n", "a copy of the stream", "thr", "GB/s", "ours GB/s",
           "of copy");
    for (int i = 0; i < counts; i++) {
        double copy = median(row->seconds[i][COPY], rounds);
        double ours =
            median(row->seconds[i][OURS], rounds) - median(row->seconds[i][START], rounds);
        printf("%-32.32s %4u %9.1f %9.1f %9.2f\n", i == 0 ? row->workload->name : "", threads[i],
               gigabytes / copy, gigabytes / ours, copy / ours);
    }
}

/* ---- the whole ---- */

/* Half of the free memory, and at most GB_MAX. */
static size_t memory_max(void)
{
    const char *text = getenv("GB_MAX");
    double wanted = 1e9 * (text != NULL ? strtod(text, NULL) : GB_MAX);
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1) break;
    fclose(file);
    double half = (double)kib * 512;
    return (size_t)(wanted < half ? wanted : half);
}

/* As much as the limit says, and enough for each workload's usual stream. */
static void reserve_memory(const struct row *rows, int count, unsigned threads)
{
    memory.streams_bytes = memory_max();
    for (int i = 0; i < count; i++) {
        const struct bench_workload *w = rows[i].workload;
        struct bench_shape usual = w->shape(w->units), part = w->shape(w->units / BESIDE_PART);
        if (memory.streams_bytes < stream_bytes(&usual))
            memory.streams_bytes = stream_bytes(&usual);
        if (memory.beside_bytes < stream_bytes(&part)) memory.beside_bytes = stream_bytes(&part);
    }
    memory.streams = bench_reserve(memory.streams_bytes);
    memory.beside = bench_reserve(threads * memory.beside_bytes);
}

static struct row *open_rows(const char *containers, uint32_t depths, int *count)
{
    struct row *rows = calloc(WORKLOADS, sizeof *rows);
    const char *only = getenv("ONLY");
    if (rows == NULL) fail("memory");
    *count = 0;
    for (int i = 0; i < WORKLOADS; i++) {
        char path[4096];
        if (only != NULL && strstr(workloads[i]->name, only) == NULL) continue;
        struct row *row = &rows[(*count)++];
        snprintf(path, sizeof path, "%s/%s", containers, workloads[i]->container);
        row->workload = workloads[i];
        row->program = bench_load(path);
        row->planned = bench_load(path);
        bench_set_depths(row->program, depths);
        bench_set_depths(row->planned, 1);
    }
    return rows;
}

static int read_threads(char **arguments, int count, unsigned *threads)
{
    for (int i = 0; i < count && i < COUNTS_MAX; i++) {
        long number = strtol(arguments[i], NULL, 10);
        if (number < 1 || number > THREADS_MAX) {
            fprintf(stderr, "bench: '%s' is no number of threads from 1 to %d\n", arguments[i],
                    THREADS_MAX);
            exit(2);
        }
        threads[i] = (unsigned)number;
    }
    return count < COUNTS_MAX ? count : COUNTS_MAX;
}

int main(int argc, char **argv)
{
    unsigned threads[COUNTS_MAX];
    if (argc < 3) {
        fprintf(stderr, "usage: bench_cores CONTAINERS THREADS...\n");
        return 2;
    }
    const char *limit = getenv("SECONDS_MAX"), *depths = getenv("DEPTHS");
    double seconds_max = limit != NULL ? strtod(limit, NULL) : SECONDS_MAX;
    int row_count, counts = read_threads(argv + 2, argc - 2, threads), rounds = 0;
    uint32_t factor = depths != NULL ? (uint32_t)strtoul(depths, NULL, 10) : 0;
    struct row *rows = open_rows(argv[1], factor, &row_count);
    double begun = bench_now(), last = 0;
    reserve_memory(rows, row_count, largest(threads, counts));
    /* No round begins that would end too late. */
    while (rounds < ROUNDS_MAX && (rounds == 0 || bench_now() - begun + last < seconds_max)) {
        double since = bench_now();
        for (int i = 0; i < row_count; i++) {
            measure(&rows[i], threads, counts, rounds);
            fprintf(stderr, "round %d: %s, %.1f GB, %.0f s\n", rounds + 1, rows[i].workload->name,
                    1e-9 * (double)(rows[i].shape.in_bytes + rows[i].shape.out_bytes),
                    bench_now() - begun);
        }
        last = bench_now() - since;
        rounds++;
    }
    print_table(rows, row_count, threads, counts, rounds, bench_now() - begun);
    for (int i = 0; i < row_count; i++) {
        if (is_limited_by_memory(&rows[i])) print_copies(&rows[i], threads, counts, rounds);
        bench_unload(rows[i].program);
        bench_unload(rows[i].planned);
    }
    free(rows);
    return 0;
}
