/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes as a container, for reader, verifier, and "what the verifier accepts runs safely".
 * The length and checksum of the header are put right first, else fuzzing would end at them.
 * An accepted container is run for a while by the scheduler machine and its FIFOs, on the device that
 * executes nothing, then with kernels that stamp packets on those that execute (stamped.h).  That
 * is the checked interpreter: every claim and commit of packets is compared with what is there, by
 * assertions and by status.  So an accepted program neither touches memory out of bounds nor takes
 * packets that are not there, nor leaves work undone, nor comes to a stop unless its author
 * accepts that.  With FUZZ_SEEDS set, a refusal is an error: seeds have
 * to reach the runtime.
 */
#include "tests/fuzz/fuzz.h"

#include "runtime/load/debug_info.h"
#include "runtime/load/deepen.h"
#include "runtime/verify/verify.h"
#include "runtime/observe/value_text.h"
#include "runtime/host/pipert_internal.h"
#include "tests/fuzz/stamped.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { READS_MAX = 64, FIRINGS_MAX = 1000, ROOM_BYTES_MAX = 1 << 22, STAMPED_BYTES_MAX = 1 << 18 };

static int32_t never(const struct kernel_batch *batch)
{
    (void)batch;
    abort(); /* the null device executes nothing */
}

/* A stream of some packets, given piecemeal. */
static enum prt_status read_some(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    unsigned *reads = context;
    (void)packets;
    (void)error;
    *count = ++*reads > READS_MAX ? 0 : capacity;
    return PRT_OK;
}

static enum prt_status write_some(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    (void)context;
    (void)packets;
    (void)count;
    (void)error;
    return PRT_OK;
}

/* Containers that would only ask for much memory, or run long because of their size, are not run. */
static int is_small(const struct prt_container *c)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        bytes += c->buffers[i].depth_packets * c->buffers[i].width_bytes;
        if (bytes > ROOM_BYTES_MAX || c->buffers[i].depth_packets > 65536) return 0;
    }
    for (uint32_t i = 0; i < c->node_count; i++) {
        if (c->nodes[i].arguments_bytes > ROOM_BYTES_MAX ||
            c->nodes[i].tables_bytes > ROOM_BYTES_MAX || c->nodes[i].state_bytes > ROOM_BYTES_MAX)
            return 0;
    }
    return c->device->cu_count <= 65536 && c->node_count <= 64 && c->buffer_count <= 64 &&
           c->pipeline->arguments_bytes <= ROOM_BYTES_MAX;
}

/* A limit of firings ends sources. Other accepted programs run forever (a loop that no in-port
 * drives), or for long: an alarm interrupts them. */
static struct prt_run *running;

static void on_alarm(int signal)
{
    (void)signal;
    if (running != NULL) prt_run_interrupt(running);
}

/* How the run of an accepted program may end. */
static void expect_good_end(enum prt_status status, const struct prt_error *error, int may_stall)
{
    if (status == PRT_OK || status == PRT_E_INTERRUPTED || status == PRT_E_NOMEM) return;
    if (status == PRT_E_STALL && may_stall) return;
    fprintf(stderr, "an accepted program ends with %s: %s\n", prt_status_name(status),
            error->message);
    abort();
}

static void run_for_a_while(struct prt_run *run, int may_stall)
{
    struct prt_error error = {0};
    struct sigaction action = {.sa_handler = on_alarm}, before;
    struct itimerval soon = {.it_value = {.tv_usec = 100000}}, none = {{0, 0}, {0, 0}}, other;
    running = run;
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &soon, &other);
    enum prt_status status = prt_run_execute(run, &error);
    running = NULL;
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &before, NULL);
    setitimer(ITIMER_REAL, &other, NULL); /* libFuzzer's own */
    expect_good_end(status, &error, may_stall);
}

/* The null device reads no argument, but each has to have a value. */
static void set_to_zeros(struct prt_run *run, const struct prt_argument_information *argument)
{
    struct prt_error error;
    uint64_t *zeros = calloc((size_t)argument->count, sizeof *zeros);
    if (zeros == NULL || prt_run_set_argument_values(run, argument->name, argument->scalar, zeros,
                                                     (size_t)argument->count, &error) != PRT_OK)
        abort();
    free(zeros);
}

static void run(const struct prt_program *program, int may_stall)
{
    struct prt_run_options options = {.device = "null", .host_threads = 1};
    struct prt_port_information port;
    struct prt_argument_information argument;
    struct prt_error error;
    struct prt_run *run = NULL;
    unsigned reads = 0;
    if (prt_run_create(program, &options, &run, &error) != PRT_OK) return;
    prt_run_limit_firings(run, FIRINGS_MAX);
    for (uint32_t i = 0; prt_program_argument(program, i, &argument); i++)
        set_to_zeros(run, &argument);
    for (uint32_t i = 0; prt_program_port(program, i, &port); i++) {
        if (port.direction == PRT_PORT_IN)
            (void)prt_run_bind_input(run, i, read_some, &reads, &error);
        else
            (void)prt_run_bind_output(run, i, write_some, NULL, &error);
    }
    run_for_a_while(run, may_stall);
    prt_run_destroy(run);
}

/* Every byte of the buffers is written and looked at many times. */
static void run_stamped(const struct prt_container *c, int may_stall)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        bytes += c->buffers[i].depth_packets * c->buffers[i].width_bytes;
    const struct stamped_options options = {.packets_in = 120,
                                            .piece = 50,
                                            .firings = 100,
                                            .stop_after = 75,
                                            .interrupt_at = UINT64_MAX,
                                            .alarm_milliseconds = 10,
                                            .may_stall = may_stall};
    if (bytes <= STAMPED_BYTES_MAX && !(c->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE))
        stamped_run(c, &options);
}

/* Deeper buffers: what the verifier accepts of these runs as safely. */
static void run_deepened(const struct prt_container *c, int may_stall)
{
    struct prt_error error;
    uint64_t factor = prt_deepen_factor(c, 3, STAMPED_BYTES_MAX);
    for (int scales = 0; factor > 1 && scales <= 1; scales++) {
        struct prt_container deep;
        if (prt_container_deepen(c, factor, scales != 0, &deep, &error) != PRT_OK) continue;
        if (prt_verify(&deep, &error) == PRT_OK && is_small(&deep)) run_stamped(&deep, may_stall);
        prt_container_free_deep(&deep);
    }
}

/* A debugger's view of it. */
static void show(const struct prt_container *c)
{
    const char *text;
    size_t length;
    FILE *to = fopen("/dev/null", "w");
    for (uint32_t i = 0; to != NULL && i < c->buffer_count; i++) {
        const struct container_buffer *buffer = &c->buffers[i];
        void *packet = calloc(1, (size_t)buffer->width_bytes);
        prt_type_print(to, c, buffer->type);
        if (packet != NULL) prt_packet_print(to, c, buffer, packet, 8);
        free(packet);
    }
    for (uint32_t i = 0; to != NULL && i < c->variable_count; i++)
        prt_type_print(to, c, c->variables[i].type);
    for (uint32_t i = 0; to != NULL && i < c->place_count; i++)
        if (prt_debug_source_line(c, c->places[i].source, c->places[i].line, &text, &length))
            fwrite(text, 1, length, to);
    if (to != NULL) fclose(to);
}

static void refused(const struct prt_error *error)
{
    if (getenv("FUZZ_SEEDS") == NULL) return;
    fprintf(stderr, "refused: %s\n", error->message);
    abort();
}

static void load(const uint8_t *bytes, size_t size)
{
    struct prt_container c;
    struct prt_error error = {.message = "too large"};
    struct prt_program *program;
    if (prt_container_read_memory(bytes, size, &c, &error) != PRT_OK) {
        refused(&error);
        return;
    }
    int wanted = prt_verify(&c, &error) == PRT_OK && is_small(&c);
    if (!wanted) refused(&error);
    if (wanted) show(&c);
    int may_stall = (c.pipeline->flags & CONTAINER_PIPELINE_UNPROVEN) != 0;
    if (wanted) run_stamped(&c, may_stall);
    if (wanted) run_deepened(&c, may_stall);
    size_t entries = (size_t)c.node_count + c.interface_count;
    struct prt_image_kernel *kernels = calloc(entries + 1, sizeof *kernels);
    for (size_t i = 0; kernels != NULL && i < entries; i++)
        kernels[i] = (struct prt_image_kernel){never, never, never};
    prt_container_free(&c);
    if (wanted && kernels != NULL &&
        prt_program_load_with_entries(bytes, size, kernels, NULL, &program, &error) == PRT_OK) {
        run(program, may_stall);
        prt_program_free(program);
    }
    free(kernels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct container_header header;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL) return 0;
    if (size > 0) memcpy(bytes, data, size);
    if (size >= sizeof header) {
        memcpy(&header, bytes, sizeof header);
        memcpy(header.magic, CONTAINER_MAGIC, sizeof header.magic);
        header.version = CONTAINER_VERSION;
        header.file_bytes = size;
        memcpy(bytes, &header, sizeof header);
        header.checksum = prt_container_checksum(bytes, size);
        memcpy(bytes, &header, sizeof header);
    }
    load(bytes, size);
    free(bytes);
    return 0;
}
