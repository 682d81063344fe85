/* SPDX-License-Identifier: MIT */
#include "tests/unit/image_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lang/kernel_abi.h"
#include "tests/test.h"
#include "tests/unit/kernel_image.h"

static void *symbol(const struct image_run *run, const char *name)
{
    return dlsym(run->library, name);
}

static kernel_entry entry_of(const struct image_run *run, size_t node, const char *entry)
{
    char name[64];
    snprintf(name, sizeof name, "pipe_k%u_%s", run->image->node_kernel[node], entry);
    union {
        void *object;
        kernel_entry entry;
    } found = {symbol(run, name)};
    return found.entry;
}

static void reserve(struct image_stream *s, uint64_t packets)
{
    if (s->packets + packets <= s->capacity) return;
    uint64_t capacity = 2 * (s->packets + packets);
    unsigned char *bytes = realloc(s->bytes, capacity * s->width_bytes);
    assert_non_null(bytes);
    s->bytes = bytes;
    memset(s->bytes + s->capacity * s->width_bytes, 0, (capacity - s->capacity) * s->width_bytes);
    s->capacity = capacity;
}

void image_run_write(struct image_run *run, uint32_t buffer, const void *bytes, uint64_t packets)
{
    struct image_stream *s = &run->streams[buffer];
    reserve(s, packets);
    memcpy(s->bytes + s->packets * s->width_bytes, bytes, packets * s->width_bytes);
    s->packets += packets;
}

/* Packets of scalars, one after the other. */
static void write_initial(struct image_run *run, uint32_t buffer)
{
    const struct graph_buffer *b = &run->graph->buffers.items[buffer];
    uint64_t scalars = type_scalar_count(b->type);
    assert_true(b->initial.packets == 0 || type_is_scalar(type_base(b->type)));
    unsigned char packet[256];
    for (uint64_t i = 0; i < b->initial.packets; i++) {
        uint64_t width = b->width_bytes / scalars;
        for (uint64_t k = 0; k < scalars; k++)
            memcpy(packet + k * width,
                   &b->initial.values[(i * scalars + k) % b->initial.value_count].bits, width);
        image_run_write(run, buffer, packet, 1);
    }
}

static void evaluate_arguments(struct image_run *run)
{
    unsigned char pipeline[256] = {0};
    struct kernel_fault fault;
    for (size_t i = 0; i < run->graph->arguments.count; i++) {
        const struct graph_argument *argument = &run->graph->arguments.items[i];
        const struct type *type = argument->variable->type;
        size_t width = scalar_width_bytes(type_base(type)->scalar);
        for (uint64_t k = 0; argument->values != NULL && k < type_scalar_count(type); k++)
            memcpy(pipeline + argument->variable->offset_bytes + k * width,
                   &argument->values[k].bits, width);
    }
    union {
        void *object;
        kernel_arguments_entry entry;
    } found = {symbol(run, "pipe_arguments")};
    assert_non_null(found.object);
    assert_int_equal(found.entry(pipeline, run->arguments, &fault), 0);
}

static void initialise(struct image_run *run, size_t node)
{
    struct kernel_fault fault;
    struct kernel_batch batch = {.arguments = run->arguments[node],
                                 .tables = run->tables[node],
                                 .state = run->states[node],
                                 .fault = &fault};
    kernel_entry init = entry_of(run, node, "init");
    if (init != NULL) assert_int_equal(init(&batch), KERNEL_OK);
}

struct image_run image_run_begin(const struct graph *graph, const struct kernel_image *image)
{
    struct image_run run = {.graph = graph, .image = image};
    assert_non_null(image);
    run.library = kernel_image_open(run.image, &run.file);
    size_t nodes = graph->nodes.count;
    run.streams = calloc(graph->buffers.count, sizeof *run.streams);
    run.fired = calloc(nodes, sizeof *run.fired);
    run.limits = calloc(nodes, sizeof *run.limits);
    run.read = calloc(nodes, sizeof *run.read);
    run.arguments = calloc(nodes, sizeof *run.arguments);
    run.tables = calloc(nodes, sizeof *run.tables);
    run.states = calloc(nodes, sizeof *run.states);
    for (uint32_t b = 0; b < graph->buffers.count; b++) {
        run.streams[b].width_bytes = graph->buffers.items[b].width_bytes;
        write_initial(&run, b);
    }
    for (size_t n = 0; n < nodes; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        run.limits[n] = UINT64_MAX;
        run.read[n] = calloc(node->inputs.count + 1, sizeof **run.read);
        run.arguments[n] = kernel_block_create(node->kernel->arguments_bytes);
        run.tables[n] = kernel_block_create(node->kernel->tables_bytes);
        run.states[n] = kernel_block_create(node->kernel->state_bytes);
    }
    evaluate_arguments(&run);
    for (size_t n = 0; n < nodes; n++)
        initialise(&run, n);
    return run;
}

static uint64_t firings_possible(const struct image_run *run, size_t n, uint64_t most)
{
    const struct graph_node *node = &run->graph->nodes.items[n];
    if (run->limits[n] - run->fired[n] < most) most = run->limits[n] - run->fired[n];
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        uint64_t held = run->streams[in->buffer].packets - run->read[n][i];
        uint64_t firings = held < in->peek ? 0 : (held - in->peek) / in->pop + 1;
        if (firings < most) most = firings;
    }
    return most;
}

static void fire(struct image_run *run, size_t n, uint64_t count)
{
    enum { ENDS = 64 };
    const struct graph_node *node = &run->graph->nodes.items[n];
    const void *in[ENDS];
    void *out[ENDS];
    uint64_t produced[ENDS] = {0}, most[ENDS] = {0};
    struct kernel_fault fault;
    assert_true(node->inputs.count <= ENDS && node->outputs.count <= ENDS);
    for (size_t o = 0; o < node->outputs.count; o++) {
        struct image_stream *s = &run->streams[node->outputs.items[o].buffer];
        reserve(s, count * node->outputs.items[o].push);
        out[o] = s->bytes + s->packets * s->width_bytes;
    }
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct image_stream *s = &run->streams[node->inputs.items[i].buffer];
        in[i] = s->bytes + run->read[n][i] * s->width_bytes;
        run->read[n][i] += count * node->inputs.items[i].pop;
    }
    struct kernel_batch batch = {.arguments = run->arguments[n],
                                 .tables = run->tables[n],
                                 .state = run->states[n],
                                 .in = in,
                                 .out = out,
                                 .produced = produced,
                                 .most = most,
                                 .first_firing = run->fired[n],
                                 .count = count,
                                 .fault = &fault};
    assert_int_equal(entry_of(run, n, "run")(&batch), KERNEL_OK);
    run->fired[n] += count;
    for (size_t o = 0; o < node->outputs.count; o++) {
        const struct graph_output *end = &node->outputs.items[o];
        bool exact = end->push_least == end->push;
        run->streams[end->buffer].packets += exact ? count * end->push : produced[o];
    }
}

void image_run_fire(struct image_run *run, uint64_t batch)
{
    bool any;
    do {
        any = false;
        for (size_t n = 0; n < run->graph->nodes.count; n++) {
            uint64_t count = firings_possible(run, n, batch);
            if (count > 0) fire(run, n, count);
            any = any || count > 0;
        }
    } while (any);
}

void image_run_end(struct image_run *run)
{
    for (size_t n = 0; n < run->graph->nodes.count; n++) {
        free(run->read[n]);
        free(run->arguments[n]);
        free(run->tables[n]);
        free(run->states[n]);
    }
    for (size_t b = 0; b < run->graph->buffers.count; b++)
        free(run->streams[b].bytes);
    free(run->streams);
    free(run->fired);
    free(run->limits);
    free(run->read);
    free(run->arguments);
    free(run->tables);
    free(run->states);
    dlclose(run->library);
    close(run->file);
}
