/* SPDX-License-Identifier: MIT */
/*
 * bench_cuda FOLDER [CHECK]: our pipelines on a GPU beside code that is written by hand for it, as tables on standard output;
 * the text below them says what the columns are.
 *
 * FOLDER has what pipes.sh and ptx.sh have compiled.  With CHECK (any word) bits are compared, and nothing is timed.
 *
 * Environment: ONLY, a part of a workload's name, or "batches" or "start"; ROUNDS (default 3): a time of ours is the median of
 * so many runs.  Exit status: 1 an output has other bits than ours, 77 there is no GPU.
 */
#include "tests/bench/bench.h"
#include "tests/bench/cuda/cuda_jobs.h"
#include "tests/bench/cuda/gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE "cuda"
#define EACH_MOST 1.25 /* ours by hand, in a row */
#define MEAN_MOST 1.05 /* the geometric mean */
#define COPY_LEAST 0.95

enum { ROUNDS_MAX = 99, CHUNKS_MAX = 16, EACH = 64 /* packets of a number: ends.pipe */ };

struct row {
    const struct cuda_work *work;
    double inside, whole, by_hand, by_stages[GPU_WAYS]; /* in the GPU; 0: there is none */
    double ours, hand, stages;                          /* from host to host */
    const char *wrong;                                  /* NULL: all bits are equal */
};

struct stream { /* of a row, in memory of the host */
    const struct cuda_work *work;
    struct bench_program *program;
    size_t units;
    struct bench_shape shape;
    uint8_t *in, *out;
};

static const char *folder;
static int rounds = 3;

/* ---- our runs ---- */

static struct bench_program *load_program(const char *part, const char *container)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, part, container);
    return bench_load(path);
}

static int compare_times(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median_of(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, compare_times);
    return seconds[count / 2];
}

static double time_ours(const struct bench_program *program, const void *in, size_t in_bytes,
                        void *out, size_t out_bytes)
{
    double seconds[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        double begin = bench_now();
        bench_run(program, DEVICE, 1, 0, in, in_bytes, out, out_bytes, NULL);
        seconds[i] = bench_now() - begin;
    }
    return median_of(seconds, rounds);
}

/* Without the time of a run over `few` bytes. */
static double time_without_start(const struct bench_program *program, const void *in,
                                 size_t in_bytes, size_t few, void *out, size_t out_bytes)
{
    bench_run(program, DEVICE, 1, 0, in, few, out, out_bytes, NULL); /* it is compiled */
    double start = time_ours(program, in, few, out, out_bytes);
    return time_ours(program, in, in_bytes, out, out_bytes) - start;
}

/* ---- streams that stay in the GPU ---- */

static bool is_no_end(const char *kernel)
{
    return strncmp(kernel, "make_", 5) != 0 && strncmp(kernel, "total_", 6) != 0;
}

/* Numbers for `ends.pipe` of so many packets. */
static uint32_t *make_numbers(size_t packets, size_t *bytes)
{
    size_t count = packets / EACH;
    *bytes = count * sizeof(uint32_t);
    uint32_t *numbers = bench_allocate(*bytes);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)i;
    return numbers;
}

/* The totals are those of this machine's processor. */
static bool same_totals(const struct bench_program *program, const void *in, size_t in_bytes,
                        void *out, size_t out_bytes)
{
    void *expected = bench_allocate(out_bytes);
    size_t there = bench_run(program, "cpu", 0, 0, in, in_bytes, expected, out_bytes, NULL);
    size_t came = bench_run(program, DEVICE, 1, 0, in, in_bytes, out, out_bytes, NULL);
    bool same = came == there && memcmp(out, expected, came) == 0;
    bench_free(expected, out_bytes);
    return same;
}

static void measure_inside(struct row *row, size_t packets, bool times)
{
    enum { PART = 32, WIDTHS = 3 /* most packets that one becomes */ };
    size_t bytes;
    uint32_t *numbers = make_numbers(packets, &bytes);
    size_t out_bytes = WIDTHS * bytes + 4096;
    float *out = bench_allocate(out_bytes);
    struct bench_program *program = load_program("inside/", row->work->workload->container);
    if (!same_totals(program, numbers, bytes / PART, out, out_bytes))
        row->wrong = "ours, in the GPU";
    if (times) {
        double seconds[ROUNDS_MAX];
        for (int i = 0; i < rounds; i++)
            seconds[i] = bench_run_busy(program, DEVICE, numbers, bytes, out, out_bytes, is_no_end);
        row->inside = median_of(seconds, rounds);
        row->whole = time_without_start(program, numbers, bytes, EACH, out, out_bytes);
    }
    bench_unload(program);
    bench_free(numbers, bytes);
    bench_free(out, out_bytes);
}

/* ---- kernels by hand ---- */

/* Reads what has come out of the job. */
static void check_output(struct row *row, const struct stream *s, const uint8_t *expected,
                         size_t bytes, const char *who)
{
    if (memcmp(s->out, expected, bytes) != 0) row->wrong = who;
    memset(s->out, 0xff, s->shape.out_bytes);
}

/* One after the other: copied, computed, copied. */
static double time_in_turn(const struct gpu_job *job, const struct job_part *part,
                           const struct stream *s)
{
    double begin = bench_now();
    gpu_copy_in(part->in, s->in, s->shape.in_bytes, 0);
    gpu_execute(job, 0);
    gpu_copy_out(s->out, part->out, s->shape.out_bytes, 0);
    gpu_wait();
    return bench_now() - begin;
}

struct chunks {
    struct gpu_job *jobs[CHUNKS_MAX];
    struct job_part parts[CHUNKS_MAX];
    size_t count;
};

static void make_chunks(struct chunks *c, const struct job_part *all, const struct stream *s)
{
    const struct cuda_work *work = s->work;
    size_t each = work->chunk_units > 0 ? work->chunk_units : s->units;
    c->count = 0;
    for (size_t first = 0; first < s->units; first += each, c->count++) {
        struct job_part *part = &c->parts[c->count];
        *part = (struct job_part){.first = first,
                                  .units = each < s->units - first ? each : s->units - first,
                                  .host_in = s->in + first * work->in_unit_bytes,
                                  .in = all->in + first * work->in_unit_bytes,
                                  .out = all->out + first * work->out_unit_bytes};
        c->jobs[c->count] = calloc(1, sizeof *c->jobs[0]);
        if (c->jobs[c->count] == NULL || c->count == CHUNKS_MAX) abort();
        work->hand(c->jobs[c->count], part);
    }
}

/* Chunks in turn on streams of their own, so that a copy in, kernels and a copy out go on at the same time. */
static double time_chunks(const struct chunks *c, const struct stream *s)
{
    enum { STREAMS = 4 };
    double begin = bench_now();
    for (size_t i = 0; i < c->count; i++) {
        const struct job_part *part = &c->parts[i];
        struct bench_shape shape = s->work->workload->shape(part->units);
        unsigned stream = (unsigned)i % STREAMS;
        gpu_copy_in(part->in, part->host_in, shape.in_bytes, stream);
        gpu_execute(c->jobs[i], stream);
        gpu_copy_out(s->out + part->first * s->work->out_unit_bytes, part->out, shape.out_bytes,
                     stream);
    }
    gpu_wait();
    return bench_now() - begin;
}

static void free_chunks(struct chunks *c)
{
    for (size_t i = 0; i < c->count; i++) {
        gpu_free_job(c->jobs[i]);
        free(c->jobs[i]);
    }
}

static void measure_hand(struct row *row, const struct stream *s, const struct job_part *part,
                         const uint8_t *expected, size_t bytes, bool times)
{
    struct gpu_job *job = calloc(1, sizeof *job);
    struct chunks chunks;
    double seconds[ROUNDS_MAX];
    if (job == NULL) abort();
    make_chunks(&chunks, part, s);
    s->work->hand(job, part);
    for (int i = 0; i < rounds; i++)
        seconds[i] = time_chunks(&chunks, s);
    check_output(row, s, expected, bytes, "by hand");
    row->hand = median_of(seconds, rounds);
    if (times) row->by_hand = gpu_seconds(job, GPU_LAUNCHED);
    free_chunks(&chunks);
    gpu_free_job(job);
    free(job);
}

static void measure_stages(struct row *row, const struct stream *s, const struct job_part *part,
                           const uint8_t *expected, size_t bytes, bool times)
{
    struct gpu_job *job = calloc(1, sizeof *job);
    double seconds[ROUNDS_MAX];
    if (job == NULL) abort();
    s->work->stages(job, part);
    for (int i = 0; i < rounds; i++)
        seconds[i] = time_in_turn(job, part, s);
    check_output(row, s, expected, bytes, "a kernel for each stage");
    row->stages = median_of(seconds, rounds);
    for (int way = 0; way < GPU_WAYS && times; way++)
        row->by_stages[way] = gpu_seconds(job, (enum gpu_way)way);
    gpu_copy_out(s->out, part->out, s->shape.out_bytes, 0); /* of dependent launches */
    gpu_wait();
    check_output(row, s, expected, bytes, "dependent launches");
    gpu_free_job(job);
    free(job);
}

static void measure_kernels(struct row *row, const struct stream *s, const uint8_t *expected,
                            size_t bytes, bool times)
{
    struct gpu_job memory = {.launch_count = 0};
    struct job_part part = {.units = s->units, .host_in = s->in};
    part.in = gpu_reserve(&memory, s->shape.in_bytes);
    part.out = gpu_reserve(&memory, s->shape.out_bytes);
    gpu_pin(s->in, s->shape.in_bytes);
    gpu_pin(s->out, s->shape.out_bytes);
    measure_hand(row, s, &part, expected, bytes, times);
    if (s->work->stages != NULL) measure_stages(row, s, &part, expected, bytes, times);
    gpu_unpin(s->in);
    gpu_unpin(s->out);
    gpu_free_job(&memory);
}

/* ---- a row ---- */

static void measure_row(struct row *row, bool times)
{
    const struct bench_workload *w = row->work->workload;
    struct stream s = {.work = row->work, .program = load_program("", w->container)};
    s.units = row->work->units > 0 ? row->work->units : w->units;
    if (!times) s.units = row->work->chunk_units > 0 ? row->work->chunk_units : w->check_units;
    s.shape = w->shape(s.units);
    s.in = bench_allocate(s.shape.in_bytes);
    s.out = bench_allocate(s.shape.out_bytes);
    uint8_t *expected = bench_allocate(s.shape.out_bytes);
    w->prepare(s.units, s.in);
    size_t bytes = bench_run(s.program, "cpu", 0, 0, s.in, s.shape.in_bytes, expected,
                             s.shape.out_bytes, NULL);
    size_t came =
        bench_run(s.program, DEVICE, 1, 0, s.in, s.shape.in_bytes, s.out, s.shape.out_bytes, NULL);
    if (came != bytes || bytes == 0) row->wrong = "ours";
    check_output(row, &s, expected, bytes, "ours");
    if (times)
        row->ours = time_without_start(s.program, s.in, s.shape.in_bytes,
                                       w->shape(w->check_units).in_bytes, s.out, s.shape.out_bytes);
    measure_kernels(row, &s, expected, bytes, times);
    measure_inside(row, s.shape.packets, times);
    bench_free(expected, s.shape.out_bytes);
    bench_free(s.in, s.shape.in_bytes);
    bench_free(s.out, s.shape.out_bytes);
    bench_unload(s.program);
}

/* ---- tables ---- */

static void print_time(double seconds, double unit)
{
    if (seconds > 0)
        printf(" %9.3f", seconds / unit);
    else
        printf(" %9s", "-");
}

/* `most` 0: there is no goal. */
static void print_ratio(double a, double b, double most)
{
    if (a <= 0 || b <= 0)
        printf(" %9s ", "-");
    else
        printf(" %9.2f%c", a / b, most > 0 && a / b > most ? '!' : ' ');
}

static double best_stages(const struct row *row)
{
    double best = row->by_stages[0];
    for (int way = 1; way < GPU_WAYS; way++)
        if (row->by_stages[way] < best) best = row->by_stages[way];
    return best;
}

static void print_mean(const char *name, double sum, int count)
{
    if (count == 0) return;
    double mean = exp(sum / count);
    printf("geometric mean of ours/hand, %s: %.2f%s (at most %.2f; each row at most %.2f)\n", name,
           mean, mean > MEAN_MOST ? "!" : "", MEAN_MOST, EACH_MOST);
}

static void print_inside(const struct row *rows, int count)
{
    double sum = 0;
    printf("\n%-40s %9s %9s %9s %9s %9s %9s %9s  %9s\n", "milliseconds, in the GPU", "ours",
           "whole", "hand", "stages", "graph", "dependent", "ours/hand", "ours/best");
    for (const struct row *r = rows; r < rows + count; r++) {
        printf("%-40s", r->work->workload->name);
        print_time(r->inside, 1e-3);
        print_time(r->whole, 1e-3);
        print_time(r->by_hand, 1e-3);
        for (int way = 0; way < GPU_WAYS; way++)
            print_time(r->by_stages[way], 1e-3);
        print_ratio(r->inside, r->by_hand, EACH_MOST);
        print_ratio(r->inside, best_stages(r), 0);
        printf("%s%s\n",
               r->wrong == NULL ? "" : "  other bits: ", r->wrong == NULL ? "" : r->wrong);
        sum += log(r->inside / r->by_hand);
    }
    print_mean("in the GPU", sum, count);
}

static void print_host(const struct row *rows, int count)
{
    double sum = 0;
    printf("\n%-40s %9s %9s %9s %9s  %9s\n", "milliseconds, host to host", "ours", "hand", "stages",
           "ours/hand", "ours/stages");
    for (const struct row *r = rows; r < rows + count; r++) {
        printf("%-40s", r->work->workload->name);
        print_time(r->ours, 1e-3);
        print_time(r->hand, 1e-3);
        print_time(r->stages, 1e-3);
        print_ratio(r->ours, r->hand, EACH_MOST);
        print_ratio(r->ours, r->stages, 0);
        printf("\n");
        sum += log(r->ours / r->hand);
    }
    print_mean("host to host", sum, count);
}

/* Of W1: bytes that its fused stage reads and writes in a second, by those of a copy. */
static void print_copy(const struct row *r)
{
    if (r->work->workload != &bench_chain8) return;
    struct bench_shape shape = bench_chain8.shape(bench_chain8.units);
    double bytes = (double)(shape.in_bytes + shape.out_bytes), rate = gpu_copy_rate(shape.in_bytes);
    printf("a copy in the GPU: %.0f GB/s; W1 ours %.2f of it%s (at least %.2f), hand %.2f\n",
           rate * 1e-9, bytes / r->inside / rate, bytes / r->inside / rate < COPY_LEAST ? "!" : "",
           COPY_LEAST, bytes / r->by_hand / rate);
}

/* ---- batches ---- */

struct batch_case {
    const char *name, *container;
    size_t floats; /* of a batch */
    unsigned chains;
    size_t batches; /* of each chain: of ours */
    bool with_state;
    bool waits;        /* a batch begins when the one before it has ended */
    double most;       /* microseconds a batch; 0: no such goal */
    double ratio_most; /* of ours by the best of graphs */
};

static const struct batch_case batch_cases[] = {
    {"one chain, 4,096 floats", "chain.pbc", 4096, 1, 4096, false, false, 1.0, 1},
    {"one chain, as pipec plans it", "planned.pbc", 4096, 1, 65536, false, false, 0, 0},
    {"16 chains, 4,096 floats", "chains.pbc", 4096, 16, 256, false, false, 0.10, 1},
    {"one chain, 16,384 floats", "chain16384.pbc", 16384, 1, 4096, false, false, 0, 1},
    {"one chain, 1,048,576 floats", "chain1048576.pbc", 1048576, 1, 256, false, false, 0, 1.03},
    {"one batch at a time", "one_batch.pbc", 4096, 1, 1024, false, true, 10, 0},
    {"stages with state, 4,096 floats", "with_state.pbc", 4096, 1, 64, true, false, 0, 0},
};

/* Seconds a batch. */
static double time_our_batches(const struct batch_case *c)
{
    size_t bytes;
    size_t packets = c->floats * c->batches * c->chains;
    uint32_t *numbers = make_numbers(packets, &bytes);
    float *out = bench_allocate(bytes);
    struct bench_program *program = load_program("", c->container);
    double seconds = time_without_start(program, numbers, bytes, bytes / c->batches, out, bytes);
    bench_unload(program);
    bench_free(numbers, bytes);
    bench_free(out, bytes);
    return seconds / (double)(c->batches * c->chains);
}

static double time_their_batches(const struct batch_case *c, enum gpu_way way)
{
    enum { BATCHES = 64, BATCHES_OF_CHAIN = 16 };
    struct gpu_job *job = calloc(1, sizeof *job);
    unsigned batches = c->waits ? 1 : c->chains > 1 ? BATCHES_OF_CHAIN : BATCHES;
    if (job == NULL) abort();
    if (c->with_state && way == GPU_DEPENDENT) return 0;
    job_add_batches(job, c->floats, c->chains, batches, c->with_state);
    double seconds = c->waits ? gpu_latency(job, way) : gpu_seconds(job, way);
    gpu_free_job(job);
    free(job);
    return seconds / (batches * c->chains);
}

static void print_goal(double microseconds)
{
    if (microseconds > 0)
        printf(" %9.2f", microseconds);
    else
        printf(" %9s", "-");
}

static void measure_batches(void)
{
    enum { CASES = sizeof batch_cases / sizeof batch_cases[0] };
    printf("\n%-40s %9s %9s %9s %9s %9s  %9s\n", "microseconds a batch, 8 stages", "ours", "goal",
           "launches", "graph", "dependent", "ours/best");
    for (const struct batch_case *c = batch_cases; c < batch_cases + CASES; c++) {
        double times[GPU_WAYS], best = INFINITY, ours = time_our_batches(c);
        printf("%-40s", c->name);
        print_time(ours, 1e-6);
        print_goal(c->most);
        for (int way = 0; way < GPU_WAYS; way++) {
            times[way] = time_their_batches(c, (enum gpu_way)way);
            if (times[way] > 0) best = fmin(best, times[way]);
            print_time(times[way], 1e-6);
        }
        print_ratio(ours, best, c->ratio_most);
        printf("%s\n", c->most > 0 && ours > c->most * 1e-6 ? " misses its goal" : "");
        fflush(stdout);
    }
}

/* ---- start ---- */

static void measure_start(double first)
{
    enum { FEW = 4096, STARTS = 9 };
    static float in[FEW], out[FEW];
    double ours[STARTS], hand[STARTS];
    char path[4096];
    struct bench_program *program = load_program("", bench_chain8.container);
    snprintf(path, sizeof path, "%s/hand.ptx", folder);
    for (int i = 0; i < STARTS; i++) {
        double begin = bench_now();
        bench_run(program, DEVICE, 1, 0, in, sizeof in, out, sizeof out, NULL);
        ours[i] = bench_now() - begin;
        hand[i] = gpu_load_seconds(path);
    }
    bench_unload(program);
    double start = median_of(ours, STARTS);
    printf("\nstart, milliseconds: a run of W1 over 4,096 floats %.1f%s (at most 100), the first "
           "one %.0f; the driver loads "
           "hand.ptx in %.1f\n",
           start * 1e3, start > 0.1 ? "!" : "", first * 1e3, median_of(hand, STARTS) * 1e3);
}

/* The first run on this machine, for which the driver compiles the scheduler, unless it kept it from before. */
static double time_first_run(void)
{
    enum { FEW = 4096 };
    static float in[FEW], out[FEW];
    struct bench_program *program = load_program("", bench_chain8.container);
    double begin = bench_now();
    bench_run(program, DEVICE, 1, 0, in, sizeof in, out, sizeof out, NULL);
    double seconds = bench_now() - begin;
    bench_unload(program);
    return seconds;
}

/* ---- the whole ---- */

static bool is_part_wanted(const char *name)
{
    const char *only = getenv("ONLY");
    return only == NULL || strstr(name, only) != NULL;
}

static void print_columns(void)
{
    /* clang-format off */
    static const char text[] =
        "\n"
        "in the GPU: the stream is in its memory.  ours: how long the stages of the workload are busy, by the clock of the GPU;\n"
        "whole: the run without its start, which makes the stream and adds up its results, too; hand: fused kernels, without a\n"
        "library; stages: a kernel for each stage, as launches, as a CUDA graph, and as one with programmatic dependent launch;\n"
        "best: the quickest of these three.\n"
        "host to host: ours: the run without its start, from memory to memory; hand: pieces are copied in, computed and copied out at\n"
        "the same time, in pinned memory; stages: all is copied in, then computed, then copied out.\n"
        "batches: a stage makes the batch and one adds it up, which count; one batch at a time: until the host, or the scheduler,\n"
        "knows that it has ended.\n"
        "`!`: a goal is missed.\n";
    /* clang-format on */
    fputs(text, stdout);
}

static int measure_rows(bool times)
{
    static struct row rows[CUDA_WORKS];
    int count = 0, status = 0;
    for (int i = 0; i < CUDA_WORKS; i++) {
        if (!is_part_wanted(cuda_works[i].workload->name)) continue;
        double begin = bench_now();
        fprintf(stderr, "bench: %s\n", cuda_works[i].workload->name);
        rows[count] = (struct row){.work = &cuda_works[i]};
        measure_row(&rows[count], times);
        if (!times)
            printf("%s %s%s%s\n", rows[count].wrong == NULL ? "ok" : "not ok",
                   cuda_works[i].workload->name, rows[count].wrong == NULL ? "" : ": ",
                   rows[count].wrong == NULL ? "" : rows[count].wrong);
        if (rows[count].wrong != NULL) status = 1;
        fprintf(stderr, "bench: %.1f s\n", bench_now() - begin);
        count++;
    }
    if (!times || count == 0) return status;
    print_inside(rows, count);
    print_copy(&rows[0]);
    print_host(rows, count);
    return status;
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("ROUNDS");
    if (wanted != NULL) rounds = atoi(wanted);
    if (argc < 2 || argc > 3 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: [ROUNDS=1..%d] [ONLY=NAME] bench_cuda FOLDER [CHECK]\n",
                ROUNDS_MAX);
        return 2;
    }
    const char *reason = gpu_open();
    if (reason != NULL) {
        printf("skip cuda: %s\n", reason);
        return 77;
    }
    folder = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    gpu_load(folder);
    printf("GPU: %s, %d multiprocessors; %d rounds\n", gpu_name(), gpu_multiprocessors(), rounds);
    fflush(stdout);
    double first = time_first_run();
    int status = measure_rows(argc == 2);
    if (argc == 2 && is_part_wanted("batches")) measure_batches();
    if (argc == 2 && is_part_wanted("start")) measure_start(first);
    if (argc == 2) print_columns();
    return status;
}
