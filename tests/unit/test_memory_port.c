/* SPDX-License-Identifier: MIT */
/* Streams in the caller's memory: the results are those of callbacks, and nothing but the packets is
 * touched. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

#include <sys/mman.h>
#include <unistd.h>

static const struct prt_image_kernel diff = {.run = kernel_diff};

/* Of the packets it sees those that are not multiples of three. */
static int32_t keep(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    int32_t *y = batch->out[0];
    batch->produced[0] = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        if (x[i] % 3 != 0) y[batch->produced[0]++] = x[i];
    }
    return KERNEL_OK;
}

static const struct prt_image_kernel keeps = {.run = keep};

enum { DEPTH = 64, PACKETS_MAX = 400 };

/* Differences of neighbours, or some packets; of `initial` packets in front, as many as there are. */
static struct prt_program *load_for(const char *device, const struct prt_image_kernel *kernel,
                                    uint32_t initial)
{
    struct made *m = made_create("p", "sim16");
    m->device.name = made_string(m, device);
    const int32_t pattern[2] = {17, 170};
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    if (initial > 0) made_initial(m, x, initial, pattern, sizeof pattern[0] * initial);
    uint32_t node = made_node(m, "k", 0);
    made_input(m, node, x, 1, kernel == &diff ? 2 : 1);
    made_output(m, node, y, 1, 0);
    if (kernel == &keeps) m->outputs[m->output_count - 1].push_least = 0;
    made_loop(m);
    return pipelines_load(m, kernel);
}

static struct prt_program *load(const struct prt_image_kernel *kernel, uint32_t initial)
{
    return load_for("sim16", kernel, initial);
}

/* ---- memory between pages that cannot be touched ---- */

struct fenced {
    uint8_t *space;
    size_t bytes, page;
    uint8_t *packets; /* end where a page ends that cannot be touched, or a byte before */
};

static struct fenced fence(size_t count, bool aligned)
{
    struct fenced f = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    f.bytes = (PACKETS_MAX * sizeof(int32_t) / f.page + 1) * f.page;
    f.space = mmap(NULL, f.bytes + 2 * f.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.space != MAP_FAILED);
    assert_int_equal(mprotect(f.space + f.page, f.bytes, PROT_READ | PROT_WRITE), 0);
    f.packets = f.space + f.page + f.bytes - (aligned ? 0 : 1) - count * sizeof(int32_t);
    return f;
}

static void put(const struct fenced *f, const int32_t *packets, size_t count)
{
    memcpy(f->packets, packets, count * sizeof *packets);
    assert_int_equal(mprotect(f->space + f->page, f->bytes, PROT_READ), 0);
}

static void unfence(const struct fenced *f)
{
    munmap(f->space, f->bytes + 2 * f->page);
}

/* ---- the same as with callbacks ---- */

static struct host in, out;

struct outcome {
    enum prt_status status;
    uint64_t cycles, leftover, out_packets, in_packets;
};

static struct prt_buffer_statistics buffer_of(const struct prt_run *run, uint32_t port)
{
    struct prt_buffer_statistics buffer;
    for (uint32_t i = 0; prt_run_buffer(run, i, &buffer); i++)
        if (buffer.port == port) return buffer;
    fail_msg("there is no such port");
    return buffer;
}

static struct outcome execute(struct prt_run *run)
{
    struct outcome o = {.status = prt_run_execute(run, NULL)};
    struct prt_run_statistics total;
    prt_run_statistics(run, &total);
    o.cycles = total.total_cycles;
    o.leftover = total.leftover_packets;
    o.in_packets = buffer_of(run, 0).packets;
    o.out_packets = buffer_of(run, 1).packets;
    return o;
}

static struct outcome with_callbacks(const struct prt_program *program, size_t length)
{
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    host_ramp(&in, length);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_input_at_hand(run, 0, NULL), PRT_OK);
    struct outcome o = execute(run);
    prt_run_destroy(run);
    return o;
}

/* `room` packets for the output; *count: those that have come. */
static struct outcome in_memory(const struct prt_program *program, size_t length, size_t room,
                                bool aligned, size_t *count)
{
    struct prt_run *run;
    struct fenced from = fence(length, aligned), to = fence(room, aligned);
    host_ramp(&in, length);
    put(&from, in.packets, length);
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input_memory(run, 0, from.packets, length, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output_memory(run, 1, to.packets, room, count, NULL), PRT_OK);
    struct outcome o = execute(run);
    assert_true(*count <= room);
    assert_memory_equal(to.packets, out.packets, *count * sizeof out.packets[0]);
    prt_run_destroy(run);
    unfence(&from);
    unfence(&to);
    return o;
}

static void compare(const struct prt_image_kernel *kernel, uint32_t initial, bool aligned)
{
    struct prt_program *program = load(kernel, initial);
    for (size_t length = 0; length <= PACKETS_MAX; length += length < 2 ? 1 : 31) {
        size_t count = 99;
        struct outcome expected = with_callbacks(program, length);
        struct outcome got = in_memory(program, length, out.count, aligned, &count);
        assert_int_equal(got.status, PRT_OK);
        assert_int_equal(expected.status, PRT_OK);
        assert_int_equal(count, out.count);
        assert_int_equal(got.out_packets, expected.out_packets);
        assert_int_equal(got.in_packets, expected.in_packets);
        assert_int_equal(got.leftover, expected.leftover);
        assert_int_equal(got.cycles, expected.cycles);
    }
    prt_program_free(program);
}

static void memory_gives_what_callbacks_give(void **unused)
{
    (void)unused;
    for (int aligned = 0; aligned < 2; aligned++) {
        compare(&diff, 0, aligned);
        compare(&keeps, 0, aligned);
    }
}

static void initial_packets_stand_before_the_memory(void **unused)
{
    (void)unused;
    compare(&diff, 2, true);
    compare(&keeps, 1, true);
}

/* No packet past the end is written. */
static void an_output_takes_what_there_is_room_for(void **unused)
{
    (void)unused;
    const struct prt_image_kernel *const kernels[] = {&diff, &keeps};
    for (size_t k = 0; k < 2; k++) {
        struct prt_program *program = load(kernels[k], 0);
        (void)with_callbacks(program, PACKETS_MAX);
        for (size_t room = 0; room < out.count; room += 13) {
            size_t count = 99;
            struct outcome o = in_memory(program, PACKETS_MAX, room, room % 2 == 0, &count);
            assert_int_equal(o.status, PRT_E_CLOSED_PIPE);
            assert_int_equal(count, room);
        }
        prt_program_free(program);
    }
}

static void a_port_goes_back_to_callbacks(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&diff, 0);
    struct prt_run *run;
    struct fenced from = fence(8, true), to = fence(8, true);
    size_t count;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input_memory(run, 0, from.packets, 8, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output_memory(run, 1, to.packets, 8, &count, NULL), PRT_OK);
    unfence(&from);
    unfence(&to);
    host_ramp(&in, 200);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(out.count, 199);
    prt_run_destroy(run);
    prt_program_free(program);
}

static uint64_t asked_past;

static int32_t copy(const struct kernel_batch *batch)
{
    memcpy(batch->out[0], batch->in[0], batch->count * sizeof(int32_t));
    batch->produced[0] = batch->count;
    asked_past = batch->past_caches;
    return KERNEL_OK;
}

static const struct prt_image_kernel copies = {.run = copy};

/* Whether kernels are asked to write memory of so many bytes past the caches of a device, which the host is to be like. */
static bool goes_past(const char *like, size_t bytes)
{
    struct prt_program *program = load_for(like, &copies, 0);
    const struct prt_run_options options = {.device = "cpu:1"};
    static const int32_t x[4] = {1, 2, 3, 4};
    size_t count;
    void *y = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(y != MAP_FAILED);
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input_memory(run, 0, x, 4, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output_memory(run, 1, y, bytes / 4, &count, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(count, 4);
    assert_memory_equal(y, x, sizeof x);
    prt_run_destroy(run);
    prt_program_free(program);
    munmap(y, bytes);
    return asked_past != 0;
}

/* sim16 has 8 MiB of L3 in a domain.  Of a device without a description nothing is known of caches. */
static void what_caches_cannot_hold_goes_past_them(void **unused)
{
    const size_t twice = (size_t)16 << 20;
    (void)unused;
    assert_false(goes_past("sim16", 4096));
    assert_false(goes_past("sim16", twice));
    assert_true(goes_past("sim16", twice + 4096));
    assert_false(goes_past("unknown", 4 * twice));
}

static void what_is_no_port_or_too_large_is_refused(void **unused)
{
    (void)unused;
    struct prt_program *program = load(&diff, 0);
    struct prt_run *run;
    struct prt_error error;
    int32_t packets[4] = {0};
    size_t count;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input_memory(run, 1, packets, 4, &error), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_input_memory(run, 0, packets, SIZE_MAX / 2, &error), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "too many"));
    assert_int_equal(prt_run_bind_output_memory(run, 0, packets, 4, &count, &error), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_output_memory(run, 1, packets, 4, NULL, &error), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_output_memory(run, 1, packets, SIZE_MAX, &count, &error),
                     PRT_E_USAGE);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "'x' is not bound"));
    prt_run_destroy(run);
    prt_program_free(program);
}

TEST_MAIN("memory_port", cmocka_unit_test(memory_gives_what_callbacks_give),
          cmocka_unit_test(initial_packets_stand_before_the_memory),
          cmocka_unit_test(an_output_takes_what_there_is_room_for),
          cmocka_unit_test(a_port_goes_back_to_callbacks),
          cmocka_unit_test(what_caches_cannot_hold_goes_past_them),
          cmocka_unit_test(what_is_no_port_or_too_large_is_refused))
