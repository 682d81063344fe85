/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes decide in which order the scheduler, its queues and the host advance.  The first
 * ones choose a pipeline, depths, thresholds, how stages are bound, the policy, the form of packets
 * and the length of the stream; the rest are the times of launches (drawn_device.h) and the pieces
 * in which the host brings packets.  The outputs are the packets that arithmetic on arrays, which
 * knows no scheduler, says; so they are on the simulated GPU and on the host's cores, too.
 */
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend/cpu/cpu.h"
#include "runtime/backend/sim/sim.h"
#include "runtime/sched/sched.h"
#include "runtime/verify/verify.h"
#include "tests/conform/made_certificate.h"
#include "tests/fuzz/drawn_device.h"

enum { PACKETS_MAX = 200, OUT_MAX = 1024, NODES_MAX = 6, TEXT_BYTES = 1024 };

#define IN(n) ((const int32_t *)batch->in[n])
#define OUT(n) ((int32_t *)batch->out[n])

/* ---- kernels, and what streams become by them ---- */

static int32_t copy(const struct kernel_batch *batch)
{
    memcpy(OUT(0), IN(0), batch->count * sizeof(int32_t));
    return KERNEL_OK;
}

static int32_t twice(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[2 * i] = OUT(0)[2 * i + 1] = IN(0)[i] + 1;
    return KERNEL_OK;
}

static int32_t sum2(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = IN(0)[2 * i] + IN(0)[2 * i + 1];
    return KERNEL_OK;
}

static int32_t triple(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = 3 * IN(0)[i];
    return KERNEL_OK;
}

/* Sees two packets, consumes one. */
static int32_t difference(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = IN(0)[i + 1] - 2 * IN(0)[i];
    return KERNEL_OK;
}

static int32_t add(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = IN(0)[i] + IN(1)[i];
    return KERNEL_OK;
}

/* One packet twice: onwards, and back. */
static int32_t fork2(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = OUT(1)[i] = (IN(0)[i] + IN(1)[i]) % 1000;
    return KERNEL_OK;
}

/* The odd ones. */
static int32_t select_odd(const struct kernel_batch *batch)
{
    batch->produced[0] = 0;
    for (uint64_t i = 0; i < batch->count; i++)
        if (IN(0)[i] % 2 != 0) OUT(0)[batch->produced[0]++] = IN(0)[i];
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static int32_t total(const struct kernel_batch *batch)
{
    int32_t *state = batch->state;
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = *state = (*state + IN(0)[i]) % 1000;
    return KERNEL_OK;
}

static int32_t total_finish(const struct kernel_batch *batch)
{
    OUT(0)[0] = -*(const int32_t *)batch->state;
    batch->produced[0] = 1;
    return KERNEL_OK;
}

static size_t expect_chain(const int32_t *x, size_t count, int32_t *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = 3 * 2 * (x[i] + 1);
    return count;
}

static size_t expect_join(const int32_t *x, size_t count, int32_t *y)
{
    size_t written = count > 0 ? count - 1 : 0;
    for (size_t i = 0; i < written; i++)
        y[i] = 3 * x[i] + x[i + 1] - 2 * x[i];
    return written;
}

static size_t expect_circle(const int32_t *x, size_t count, int32_t *y)
{
    int32_t back[2] = {5, 7};
    for (size_t i = 0; i < count; i++)
        y[i] = back[i % 2] = (x[i] + back[i % 2]) % 1000;
    return count;
}

static size_t expect_bounded(const int32_t *x, size_t count, int32_t *y)
{
    size_t written = 0;
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (x[i] % 2 != 0) y[written++] = sum = (sum + x[i]) % 1000;
    y[written++] = -sum;
    return written;
}

/* ---- pipelines ---- */

struct pipeline {
    void (*make)(struct made *m, const uint64_t *depths);
    size_t (*expect)(const int32_t *x, size_t count, int32_t *y);
    struct prt_image_kernel kernels[NODES_MAX];
};

static void add_node(struct made *m, const char *name, uint32_t flags, uint32_t from, uint64_t pop,
                     uint64_t peek, uint32_t to, uint64_t push)
{
    uint32_t node = made_node(m, name, flags);
    made_input(m, node, from, pop, peek);
    made_output(m, node, to, push, 0);
}

/* x -> twice -> sum2 -> triple -> y */
static void make_chain(struct made *m, const uint64_t *depths)
{
    uint32_t x = made_buffer(m, "x", SCALAR_I32, depths[0], CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 1 + depths[1], CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, depths[2], CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, depths[3], CONTAINER_OUTER_OUT);
    add_node(m, "twice", 0, x, 1, 1, t, 2);
    add_node(m, "sum2", 0, t, 2, 2, u, 1);
    add_node(m, "triple", 0, u, 1, 1, y, 1);
}

/* x -> triple and difference -> add -> y */
static void make_join(struct made *m, const uint64_t *depths)
{
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 1 + depths[0], CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 1 + depths[1], CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, depths[2], CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, depths[3], CONTAINER_OUTER_OUT);
    add_node(m, "triple", 0, x, 1, 1, t, 1);
    add_node(m, "difference", 0, x, 1, 2, u, 1);
    add_node(m, "add", 0, t, 1, 1, y, 1);
    made_input(m, 2, u, 1, 1);
}

/* x and back -> fork2 -> y and back, which begins with two packets */
static void make_circle(struct made *m, const uint64_t *depths)
{
    static const int32_t first[] = {5, 7};
    uint32_t x = made_buffer(m, "x", SCALAR_I32, depths[0], CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depths[1], CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 2 + depths[2], CONTAINER_INNER);
    uint32_t v = made_buffer(m, "v", SCALAR_I32, depths[0], CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, depths[3], CONTAINER_OUTER_OUT);
    made_initial(m, u, 2, first, sizeof first);
    add_node(m, "fork", 0, x, 1, 1, t, 1);
    made_input(m, 0, u, 1, 1);
    made_output(m, 0, v, 1, 0);
    add_node(m, "copy", 0, v, 1, 1, u, 1);
    add_node(m, "copy2", 0, t, 1, 1, y, 1);
}

/* x -> select_odd -> total -> y, and at the end what it has come to */
static void make_bounded(struct made *m, const uint64_t *depths)
{
    uint32_t x = made_buffer(m, "x", SCALAR_I32, depths[0], CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depths[1], CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, depths[2], CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 1 + depths[3], CONTAINER_OUTER_OUT);
    add_node(m, "copy", 0, x, 1, 1, t, 1);
    add_node(m, "odd", 0, t, 1, 1, u, 1);
    m->outputs[1].push_least = 0;
    uint32_t node = made_node(m, "total", CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH);
    m->nodes[node].state_bytes = sizeof(int32_t);
    made_input(m, node, u, 1, 1);
    made_output(m, node, y, 1, 1);
}

static const struct pipeline pipelines[] = {
    {make_chain, expect_chain, {{.run = twice}, {.run = sum2}, {.run = triple}}},
    {make_join, expect_join, {{.run = triple}, {.run = difference}, {.run = add}}},
    {make_circle, expect_circle, {{.run = fork2}, {.run = copy}, {.run = copy}}},
    {make_bounded,
     expect_bounded,
     {{.run = copy}, {.run = select_odd}, {.run = total, .finish = total_finish}}},
};

/* ---- its program ---- */

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->used += (size_t)vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used,
                                    format, arguments);
    va_end(arguments);
    if (text->used >= sizeof text->bytes) abort();
}

/* The guarded loop; stages share the device, or are dealt among sub-devices. */
static void draw_program(struct drawn *drawn, struct made *m)
{
    static const char *const policies[] = {"round_robin", "priority", "fullest"};
    static const char *const forms[] = {"full", "reference", "condensed"};
    struct text text = {.used = 0};
    bool cut = drawn_below(drawn, 4) > 0;
    if (cut) put(&text, " partition_equally %u\n", 16 / m->stage_count);
    put(&text, " packets %s\n", forms[drawn_below(drawn, 3)]);
    for (uint32_t i = 0; i < m->stage_count; i++) {
        if (cut)
            put(&text, " bind %u, %u\n", i, drawn_below(drawn, m->stage_count));
        else
            put(&text, " bind_root %u\n", i);
    }
    put(&text, "L1: ends\n %s 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n",
        policies[drawn_below(drawn, 3)]);
    made_program(m, text.bytes);
}

static struct made *draw_pipeline(struct drawn *drawn, const struct pipeline **pipeline)
{
    uint64_t depths[4];
    *pipeline = &pipelines[drawn_below(drawn, sizeof pipelines / sizeof *pipelines)];
    for (int i = 0; i < 4; i++)
        depths[i] = 1 + drawn_below(drawn, 12);
    struct made *m = made_create("drawn", "sim16");
    (*pipeline)->make(m, depths);
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i].importance = drawn_below(drawn, 3);
    draw_program(drawn, m);
    made_settle(m);
    return m;
}

/* ---- running it ---- */

struct host {
    struct drawn *drawn;
    int32_t in[PACKETS_MAX], out[OUT_MAX];
    size_t count, given, taken;
};

/* Some of what is left; the end once there is nothing. */
static enum prt_status read_some(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    struct host *host = context;
    size_t left = host->count - host->given, piece = drawn_below(host->drawn, 16);
    (void)error;
    if (left > capacity) left = capacity;
    if (piece > 0 && left > piece) left = piece;
    memcpy(packets, host->in + host->given, left * sizeof host->in[0]);
    host->given += left;
    *count = left;
    return PRT_OK;
}

static enum prt_status write_some(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct host *host = context;
    (void)error;
    if (count > OUT_MAX - host->taken) abort();
    memcpy(host->out + host->taken, packets, count * sizeof host->out[0]);
    host->taken += count;
    return PRT_OK;
}

static void must(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "%s: %s\n", prt_status_name(status), error->message);
    abort();
}

static void execute(const struct prt_container *c, const struct prt_image *image,
                    const struct prt_device_ops *ops, uint32_t threads, struct drawn *drawn,
                    struct host *host)
{
    struct devdesc description;
    struct prt_device *device = NULL;
    struct prt_sched *sched = NULL;
    struct prt_error error = {0};
    if (!devdesc_builtin("sim16", &description)) abort();
    struct prt_device_options options = {.description = &description,
                                         .host_threads = threads,
                                         .queue_entries = 1 + drawn_below(drawn, 4)};
    host->given = host->taken = 0;
    must(ops->open(&options, &device, &error), &error);
    must(prt_sched_create(c, image, ops, device, &sched, &error), &error);
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].outer == CONTAINER_OUTER_IN)
            prt_sched_bind_source(sched, i, read_some, host);
        if (c->buffers[i].outer == CONTAINER_OUTER_OUT)
            prt_sched_bind_sink(sched, i, write_some, host);
    }
    if (ops == &drawn_device) drawn_device_follow(device, drawn);
    must(prt_sched_start(sched, NULL, &error), &error);
    must(prt_sched_run(sched, &error), &error);
    ops->close(device);
    prt_sched_destroy(sched);
}

static void check(const struct pipeline *pipeline, const struct host *host)
{
    int32_t wanted[OUT_MAX];
    size_t count = pipeline->expect(host->in, host->count, wanted);
    size_t common = count < host->taken ? count : host->taken, at = 0;
    while (at < common && wanted[at] == host->out[at])
        at++;
    if (at == count && at == host->taken) return;
    fprintf(stderr, "%zu packets, expected %zu; they differ from packet %zu on\n", host->taken,
            count, at);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drawn drawn = {data, size};
    const struct pipeline *pipeline;
    struct prt_container c;
    struct prt_image image = {0};
    struct prt_error error = {0};
    struct host host = {.drawn = &drawn};
    size_t bytes_size;
    struct made *m = draw_pipeline(&drawn, &pipeline);
    host.count = drawn_below(&drawn, PACKETS_MAX);
    for (size_t i = 0; i < host.count; i++)
        host.in[i] = (int32_t)(i * 7 % 100 + i / 3);
    bool stops = !made_certify(m);
    uint8_t *bytes = made_finish(m, &bytes_size);
    must(prt_container_read_memory(bytes, bytes_size, &c, &error), &error);
    if (!stops && prt_verify(&c, &error) == PRT_OK) {
        must(prt_image_from_entries(&c, pipeline->kernels, NULL, &image, &error), &error);
        execute(&c, &image, &drawn_device, 1, &drawn, &host);
        check(pipeline, &host);
        execute(&c, &image, &prt_sim_device, 1, &drawn, &host);
        check(pipeline, &host);
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            execute(&c, &image, &prt_cpu_device, threads, &drawn, &host);
            check(pipeline, &host);
        }
        prt_image_free(&image);
    } else if (getenv("FUZZ_VERBOSE") != NULL) {
        fprintf(stderr, "%s\n", stops ? "stops" : error.message);
    }
    prt_container_free(&c);
    free(bytes);
    made_free(m);
    return 0;
}
