/* Our pipelines, as a program uses them: through runtime/pipert.h, from memory to memory. */
#include "tests/bench/bench.h"

#include "runtime/pipert.h"

#include <stdio.h>
#include <stdlib.h>

struct bench_program {
    struct prt_program *program;
};

static void check(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(3);
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

static size_t packet_bytes(const struct bench_program *program, uint32_t port)
{
    struct prt_port_information information;
    if (!prt_program_port(program->program, port, &information)) abort();
    return (size_t)information.width_bytes;
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
    size_t in_width = packet_bytes(program, 0), out_width = packet_bytes(program, 1), came;
    check(prt_run_create(program->program, &options, &run, &error), &error);
    check(prt_run_bind_input_memory(run, 0, in, in_bytes / in_width, &error), &error);
    check(prt_run_bind_output_memory(run, 1, out, out_bytes / out_width, &came, &error), &error);
    check(prt_run_execute(run, &error), &error);
    if (came * out_width != out_bytes) {
        fprintf(stderr, "bench: %zu bytes came out, %zu were expected\n", came * out_width,
                out_bytes);
        exit(3);
    }
    if (counts != NULL) count(run, counts);
    prt_run_destroy(run);
}
