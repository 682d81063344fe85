/* SPDX-License-Identifier: MIT */
/* Runs a container from memory to memory, in place, and compares with a run through callbacks.
 *
 *     in_place CONTAINER DEVICE LENGTH...
 *
 * Each length is that of the stream into the first in-port, in packets; there is one in-port and one
 * out-port.  The memory ends at a page that cannot be touched, and the input
 * cannot be written to: kernels that look or write a byte too far crash.  Exit status 1: the
 * packets differ. */
#include "runtime/host/pipert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct stream {
    uint8_t *bytes;
    size_t size, at, width;
};

static void check(enum prt_status status, const struct prt_error *error)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "in_place: %s\n", error->message);
    exit(3);
}

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct stream *s = context;
    size_t left = (s->size - s->at) / s->width;
    (void)error;
    *count = capacity < left ? capacity : left;
    memcpy(packets, s->bytes + s->at, *count * s->width);
    s->at += *count * s->width;
    return PRT_OK;
}

static enum prt_status take(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct stream *s = context;
    size_t bytes = count * s->width;
    if (bytes > s->size - s->at) {
        s->size = 2 * s->size + bytes;
        s->bytes = realloc(s->bytes, s->size);
        if (s->bytes == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    memcpy(s->bytes + s->at, packets, bytes);
    s->at += bytes;
    return PRT_OK;
}

/* `size` bytes that end at a fence. */
static uint8_t *fenced(size_t size, size_t *mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *mapped = (size + page - 1) / page * page;
    uint8_t *space = mmap(NULL, *mapped + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED || mprotect(space + page, *mapped, PROT_READ | PROT_WRITE) != 0)
        exit(3);
    return space + page + *mapped - size;
}

/* Floats in -1..1; of other types any bytes. */
static void fill(uint8_t *bytes, size_t size, enum scalar_type scalar)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(state >> 24);
    }
    if (scalar != SCALAR_F32) return;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        int32_t number;
        memcpy(&number, bytes + i, sizeof number);
        float value = (float)number / 2147483648.0f;
        memcpy(bytes + i, &value, sizeof value);
    }
}

static struct prt_run *create(const struct prt_program *program, const char *device)
{
    struct prt_run_options options = {.device = device, .host_threads = 2};
    struct prt_error error;
    struct prt_run *run;
    check(prt_run_create(program, &options, &run, &error), &error);
    return run;
}

static void execute(struct prt_run *run)
{
    struct prt_error error;
    check(prt_run_execute(run, &error), &error);
    prt_run_destroy(run);
}

static struct prt_port_information port_of(const struct prt_program *program, uint32_t port)
{
    struct prt_port_information information;
    if (!prt_program_port(program, port, &information)) exit(3);
    return information;
}

static int compare(const struct prt_program *program, const char *device, size_t length)
{
    struct prt_port_information in = port_of(program, 0), out = port_of(program, 1);
    struct stream from = {.width = (size_t)in.width_bytes, .size = length * (size_t)in.width_bytes};
    struct stream to = {.width = (size_t)out.width_bytes};
    struct prt_error error;
    size_t mapped, out_mapped, count;
    from.bytes = fenced(from.size, &mapped);
    fill(from.bytes, from.size, in.scalar);
    struct prt_run *run = create(program, device);
    check(prt_run_bind_input(run, 0, give, &from, &error), &error);
    check(prt_run_bind_output(run, 1, take, &to, &error), &error);
    execute(run);
    if (mprotect(from.bytes + from.size - mapped, mapped, PROT_READ) != 0) exit(3);
    uint8_t *target = fenced(to.at, &out_mapped);
    run = create(program, device);
    check(prt_run_bind_input_memory(run, 0, from.bytes, length, &error), &error);
    check(prt_run_bind_output_memory(run, 1, target, to.at / to.width, &count, &error), &error);
    execute(run);
    int differs = count * to.width != to.at || (to.at > 0 && memcmp(target, to.bytes, to.at) != 0);
    if (differs)
        fprintf(stderr, "in_place: %zu packets in: %zu out, %zu through callbacks, or others\n",
                length, count, to.at / to.width);
    free(to.bytes);
    return differs;
}

int main(int argc, char **argv)
{
    struct prt_error error;
    struct prt_program *program;
    int differs = 0;
    if (argc < 4) return 2;
    check(prt_program_load_file(argv[1], &program, &error), &error);
    for (int i = 3; i < argc; i++)
        differs |= compare(program, argv[2], strtoul(argv[i], NULL, 10));
    prt_program_free(program);
    return differs;
}
