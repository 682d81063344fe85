/* Our pipelines, as a program uses them: through runtime/pipert.h, from memory to memory. */
#include "tests/bench/bench.h"

#include "runtime/pipert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_program {
    struct prt_program *program;
};

struct stream {
    uint8_t *bytes;
    size_t size, at, width;
};

static void check(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(3);
}

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct stream *s = context;
    (void)error;
    size_t bytes = capacity * s->width;
    if (bytes > s->size - s->at) bytes = s->size - s->at;
    memcpy(packets, s->bytes + s->at, bytes);
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
    memcpy(s->bytes + s->at, packets, bytes);
    s->at += bytes;
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
    return (struct stream){.bytes = bytes, .size = size, .width = information.width_bytes};
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

void bench_run(const struct bench_program *program, const char *device, uint32_t threads,
               const void *in, size_t in_bytes, void *out, size_t out_bytes,
               struct bench_counts *counts)
{
    struct prt_run_options options = {.device = device, .host_threads = threads};
    struct prt_error error;
    struct prt_run *run;
    struct stream from = stream_of(program, 0, (void *)(uintptr_t)in, in_bytes);
    struct stream to = stream_of(program, 1, out, out_bytes);
    check(prt_run_create(program->program, &options, &run, &error), &error);
    check(prt_run_bind_input(run, 0, give, &from, &error), &error);
    check(prt_run_bind_output(run, 1, take, &to, &error), &error);
    check(prt_run_execute(run, &error), &error);
    if (to.at != out_bytes) {
        fprintf(stderr, "bench: %zu bytes came out, %zu were expected\n", to.at, out_bytes);
        exit(3);
    }
    if (counts != NULL) count(run, counts);
    prt_run_destroy(run);
}
