/* SPDX-License-Identifier: MIT */
/* Our pipelines, as a program uses them: through runtime/host/pipert.h, from memory to memory. */
#include "tests/bench/bench.h"

#include "runtime/host/pipert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_program {
    struct prt_program *program;
    uint32_t depth_factor;
};

/* The rest of a stream on the host's side: packets to give, or room. */
struct stream {
    uint8_t *next;
    size_t left, batch; /* packets; maximum at a time */
    size_t width;       /* bytes of one */
};

static void check(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(3);
}

static void pass(struct stream *s, size_t packets)
{
    s->next += packets * s->width;
    s->left -= packets;
}

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct stream *s = context;
    size_t now = s->batch < capacity ? s->batch : capacity;
    (void)error;
    if (now > s->left) now = s->left;
    *count = now;
    memcpy(packets, s->next, now * s->width);
    pass(s, now);
    return PRT_OK;
}

static enum prt_status take(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct stream *s = context;
    if (count > s->left)
        return prt_error_set(error, PRT_E_USAGE, "more packets came out than were expected");
    memcpy(s->next, packets, count * s->width);
    pass(s, count);
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

static size_t width_of(const struct bench_program *program, uint32_t port)
{
    struct prt_port_information information;
    if (!prt_program_port(program->program, port, &information)) abort();
    return information.width_bytes;
}

static struct stream stream_of(const struct bench_program *program, uint32_t port, void *bytes,
                               size_t size)
{
    size_t width = width_of(program, port);
    return (struct stream){.next = bytes, .left = size / width, .batch = SIZE_MAX, .width = width};
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

void bench_set_depths(struct bench_program *program, uint32_t factor)
{
    program->depth_factor = factor;
}

static struct prt_run *create_run(const struct bench_program *program, const char *device,
                                  uint32_t threads, bool measure)
{
    struct prt_run_options options = {.device = device,
                                      .host_threads = threads,
                                      .measure = measure,
                                      .depth_factor = program->depth_factor};
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

/* Binds the ports of one direction, each to an equal part of the memory.  Out-ports: in came[PORT], the packets that
 * came. */
static void bind_memory(struct prt_run *run, const struct bench_program *program,
                        enum prt_port_direction direction, uint8_t *bytes, size_t size,
                        size_t *came)
{
    struct prt_port_information port;
    struct prt_error error;
    size_t ports = 0;
    for (uint32_t i = 0; prt_program_port(program->program, i, &port); i++)
        ports += port.direction == direction;
    for (uint32_t i = 0; prt_program_port(program->program, i, &port); i++) {
        if (port.direction != direction) continue;
        size_t packets = size / ports / port.width_bytes;
        check(direction == PRT_PORT_IN
                  ? prt_run_bind_input_memory(run, i, bytes, packets, &error)
                  : prt_run_bind_output_memory(run, i, bytes, packets, &came[i], &error),
              &error);
        bytes += size / ports;
    }
}

size_t bench_run(const struct bench_program *program, const char *device, uint32_t threads,
                 size_t batch, const void *in, size_t in_bytes, void *out, size_t out_bytes,
                 struct bench_counts *counts)
{
    struct prt_run *run = create_run(program, device, threads, false);
    struct stream from = stream_of(program, 0, (void *)(uintptr_t)in, in_bytes);
    uint32_t ports = prt_program_port_count(program->program);
    size_t *came = calloc(ports, sizeof *came), bytes = 0;
    struct prt_error error;
    if (came == NULL) abort();
    from.batch = batch;
    if (batch > 0)
        check(prt_run_bind_input(run, 0, give, &from, &error), &error);
    else
        bind_memory(run, program, PRT_PORT_IN, (void *)(uintptr_t)in, in_bytes, NULL);
    bind_memory(run, program, PRT_PORT_OUT, out, out_bytes, came);
    execute(run, counts);
    for (uint32_t i = 0; i < ports; i++)
        bytes += came[i] * width_of(program, i);
    free(came);
    return bytes;
}

double bench_run_busy(const struct bench_program *program, const char *device, const void *in,
                      size_t in_bytes, void *out, size_t out_bytes,
                      bool (*counts)(const char *kernel))
{
    struct prt_run *run = create_run(program, device, 1, true);
    size_t *came = calloc(prt_program_port_count(program->program), sizeof *came);
    struct prt_stage_statistics stage;
    struct prt_error error;
    uint64_t cycles = 0;
    if (came == NULL) abort();
    bind_memory(run, program, PRT_PORT_IN, (void *)(uintptr_t)in, in_bytes, NULL);
    bind_memory(run, program, PRT_PORT_OUT, out, out_bytes, came);
    check(prt_run_execute(run, &error), &error);
    for (uint32_t i = 0; prt_run_stage(run, i, &stage); i++)
        if (counts(stage.kernel)) cycles += stage.execute_cycles;
    prt_run_destroy(run);
    free(came);
    return (double)cycles * 1e-9;
}

/* ---- long streams ---- */

/* A stream that goes over the same memory again and again. */
struct ring {
    struct stream stream;
    uint8_t *bytes;
    size_t size, at;
};

/* Up to `count` packets that follow each other in memory. */
static size_t next_piece(struct ring *r, size_t packets)
{
    struct stream *s = &r->stream;
    size_t room = (r->size - r->at) / s->width;
    if (packets > room) packets = room;
    s->next = r->bytes + r->at;
    r->at = (r->at + packets * s->width) % r->size;
    return packets;
}

static enum prt_status give_again(void *context, void *packets, size_t capacity, size_t *count,
                                  struct prt_error *error)
{
    struct ring *r = context;
    if (capacity > r->stream.left) capacity = r->stream.left;
    return give(&r->stream, packets, next_piece(r, capacity), count, error);
}

static enum prt_status take_again(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct ring *r = context;
    enum prt_status status = PRT_OK;
    for (size_t done = 0; done < count && status == PRT_OK;) {
        size_t now = next_piece(r, count - done);
        status = take(&r->stream, (const uint8_t *)packets + done * r->stream.width, now, error);
        done += now;
    }
    return status;
}

void bench_run_long(const struct bench_program *program, size_t bytes, const void *in, void *out,
                    size_t ring_bytes)
{
    struct ring from = {stream_of(program, 0, NULL, bytes), (void *)(uintptr_t)in, ring_bytes, 0};
    struct ring to = {stream_of(program, 1, NULL, bytes), out, ring_bytes, 0};
    struct prt_run *run = create_run(program, NULL, 1, false);
    struct prt_error error;
    check(prt_run_bind_input(run, 0, give_again, &from, &error), &error);
    check(prt_run_bind_output(run, 1, take_again, &to, &error), &error);
    execute(run, NULL);
}

/* ---- latency ---- */

/* A stream, and when its first packets were wanted. */
struct timed {
    struct stream stream;
    double since; /* 0: not yet */
};

static enum prt_status give_timed(void *context, void *packets, size_t capacity, size_t *count,
                                  struct prt_error *error)
{
    struct timed *t = context;
    if (t->since == 0) t->since = bench_processor_now();
    return give(&t->stream, packets, capacity, count, error);
}

double bench_latency(const struct bench_program *program, size_t batch, const void *in,
                     size_t in_bytes, void *out, size_t out_bytes)
{
    struct prt_run *run = create_run(program, NULL, 1, false);
    struct timed from = {.stream = stream_of(program, 0, (void *)(uintptr_t)in, in_bytes)};
    struct stream to = stream_of(program, 1, out, out_bytes);
    size_t room = to.left;
    struct prt_error error;
    from.stream.batch = batch;
    check(prt_run_bind_input(run, 0, give_timed, &from, &error), &error);
    check(prt_run_bind_output(run, 1, take, &to, &error), &error);
    check(prt_run_execute(run, &error), &error);
    double seconds = bench_processor_now() - from.since;
    prt_run_destroy(run);
    return seconds / (double)(room - to.left);
}
