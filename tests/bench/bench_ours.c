/* Our pipelines, as a program uses them: through runtime/pipert.h, from memory to memory. */
#include "tests/bench/bench.h"

#include "runtime/pipert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_program {
    struct prt_program *program;
};

/* When the latest batches were given or the latest packets taken. */
enum { TIMES = 1 << 10 };

struct times {
    double at[TIMES];
    size_t count;
};

struct stream {
    uint8_t *bytes;
    size_t size, at, width, batch;
    size_t ring;         /* bytes that stand for all */
    struct times *times; /* NULL: nobody wants them */
};

static void check(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(3);
}

static void note_time(struct times *times)
{
    if (times != NULL) times->at[times->count++ % TIMES] = bench_now();
}

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct stream *s = context;
    (void)error;
    if (s->batch > 0 && s->batch < capacity) capacity = s->batch;
    size_t bytes = capacity * s->width;
    if (bytes > s->size - s->at) bytes = s->size - s->at;
    if (bytes > 0) note_time(s->times);
    if (bytes > s->ring - s->at % s->ring) bytes = s->ring - s->at % s->ring;
    memcpy(packets, s->bytes + s->at % s->ring, bytes);
    s->at += bytes;
    *count = bytes / s->width;
    return PRT_OK;
}

static enum prt_status take(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct stream *s = context;
    size_t bytes = count * s->width;
    if (bytes > s->size - s->at)
        return prt_error_set(error, PRT_E_USAGE, "more packets came out than were expected");
    for (size_t done = 0; done < bytes;) {
        size_t at = (s->at + done) % s->ring, room = s->ring - at;
        size_t now = bytes - done < room ? bytes - done : room;
        memcpy(s->bytes + at, (const uint8_t *)packets + done, now);
        done += now;
    }
    s->at += bytes;
    for (size_t i = 0; s->times != NULL && i < count; i++)
        note_time(s->times);
    return PRT_OK;
}

struct bench_program *bench_load(const char *container)
{
    struct bench_program *made = calloc(1, sizeof *made);
    struct prt_error error;
    if (made == NULL) abort();
    check(prt_program_load_file(container, &made->program, &error), &error);
    return made;
}

void bench_unload(struct bench_program *program)
{
    prt_program_free(program->program);
    free(program);
}

static struct stream stream_of(const struct bench_program *program, uint32_t port, void *bytes,
                               size_t size)
{
    struct prt_port_information information;
    if (!prt_program_port(program->program, port, &information)) abort();
    return (struct stream){
        .bytes = bytes, .size = size, .ring = size, .width = information.width_bytes};
}

static void count(const struct prt_run *run, struct bench_counts *counts)
{
    struct prt_stage_statistics stage;
    *counts = (struct bench_counts){0};
    while (prt_run_stage(run, counts->stages, &stage)) {
        counts->stages++;
        counts->dispatches += stage.dispatches;
        counts->firings += stage.firings;
    }
}

static struct prt_run *create(const struct bench_program *program, const char *device,
                              uint32_t threads)
{
    struct prt_run_options options = {.device = device, .host_threads = threads};
    struct prt_error error;
    struct prt_run *run;
    check(prt_run_create(program->program, &options, &run, &error), &error);
    return run;
}

static void execute(struct prt_run *run, struct bench_counts *counts)
{
    struct prt_error error;
    check(prt_run_execute(run, &error), &error);
    if (counts != NULL) count(run, counts);
    prt_run_destroy(run);
}

/* The host gives and takes packets by callbacks. */
static void run_streams(struct prt_run *run, struct stream *from, struct stream *to,
                        struct bench_counts *counts)
{
    struct prt_error error;
    check(prt_run_bind_input(run, 0, give, from, &error), &error);
    check(prt_run_bind_output(run, 1, take, to, &error), &error);
    execute(run, counts);
}

size_t bench_run(const struct bench_program *program, const char *device, uint32_t threads,
                 size_t batch, const void *in, size_t in_bytes, void *out, size_t out_bytes,
                 struct bench_counts *counts)
{
    struct prt_run *run = create(program, device, threads);
    struct stream from = stream_of(program, 0, (void *)(uintptr_t)in, in_bytes);
    struct stream to = stream_of(program, 1, out, out_bytes);
    struct prt_error error;
    size_t came;
    from.batch = batch;
    if (batch > 0) {
        run_streams(run, &from, &to, counts);
        return to.at;
    }
    check(prt_run_bind_input_memory(run, 0, in, in_bytes / from.width, &error), &error);
    check(prt_run_bind_output_memory(run, 1, out, out_bytes / to.width, &came, &error), &error);
    execute(run, counts);
    return came * to.width;
}

void bench_run_long(const struct bench_program *program, size_t bytes, const void *in, void *out,
                    size_t ring_bytes)
{
    struct stream from = stream_of(program, 0, (void *)(uintptr_t)in, bytes);
    struct stream to = stream_of(program, 1, out, bytes);
    from.ring = to.ring = ring_bytes;
    run_streams(create(program, NULL, 1), &from, &to, NULL);
}

static int compare_times(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* A batch and what it brings have the same place from the end. */
double bench_latency(const struct bench_program *program, size_t batch, const void *in,
                     size_t in_bytes, void *out, size_t out_bytes)
{
    static struct times given, taken;
    struct stream from = stream_of(program, 0, (void *)(uintptr_t)in, in_bytes);
    struct stream to = stream_of(program, 1, out, out_bytes);
    double waited[TIMES];
    given.count = taken.count = 0;
    from.batch = batch;
    from.times = &given;
    to.times = &taken;
    run_streams(create(program, NULL, 1), &from, &to, NULL);
    size_t count = taken.count < TIMES ? taken.count : TIMES;
    for (size_t i = 0; i < count; i++)
        waited[i] =
            taken.at[(taken.count - 1 - i) % TIMES] - given.at[(given.count - 1 - i) % TIMES];
    qsort(waited, count, sizeof *waited, compare_times);
    return waited[count / 2];
}
