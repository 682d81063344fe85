/* SPDX-License-Identifier: MIT */
/* The public interface: what it promises of arguments, errors, hosts, threads. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static const struct prt_image_kernel copy = {.run = kernel_copy};

static struct made *copy_made(void)
{
    struct made *m = made_create("copy", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "copy", 0);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    return m;
}

static struct prt_program *copy_program(void)
{
    return pipelines_load(copy_made(), &copy);
}

static struct prt_run *create(const struct prt_program *program)
{
    struct prt_run *run;
    struct prt_error error;
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
    return run;
}

static void a_program_says_what_it_is(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_program_information about;
    struct prt_port_information port;
    prt_program_information(program, &about);
    assert_string_equal(about.name, "copy");
    assert_string_equal(about.device, "sim16");
    assert_int_equal(about.stage_count, 1);
    assert_int_equal(prt_program_port_count(program), 2);
    assert_true(prt_program_port(program, 1, &port));
    assert_string_equal(port.name, "y");
    assert_int_equal(port.direction, PRT_PORT_OUT);
    assert_int_equal(port.scalar, SCALAR_I32);
    assert_int_equal(port.width_bytes, 4);
    assert_string_equal(port.type, "i32");
    assert_false(prt_program_port(program, 2, &port));
    assert_int_equal(prt_program_find_port(program, "x"), 0);
    assert_int_equal(prt_program_find_port(program, "z"), PRT_NONE);
    assert_non_null(prt_device_name(0));
    prt_program_free(program);
    prt_program_free(NULL);
    prt_run_destroy(NULL);
}

/* tests/e2e/audio_rates.sh covers rates of kernels between the ports. */
static void rates_of_ports_are_compared(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_ratio ratio;
    struct prt_error error;
    for (uint32_t from = 0; from < 2; from++) {
        for (uint32_t to = 0; to < 2; to++) {
            assert_int_equal(prt_program_port_ratio(program, from, to, &ratio, &error), PRT_OK);
            assert_int_equal(ratio.numerator, 1);
            assert_int_equal(ratio.denominator, 1);
        }
    }
    assert_int_equal(prt_program_port_ratio(program, 2, 0, &ratio, &error), PRT_E_USAGE);
    assert_int_equal(ratio.denominator, 0);
    assert_int_equal(prt_program_port_ratio(program, 0, 2, &ratio, &error), PRT_E_USAGE);
    prt_program_free(program);
}

/* ---- arguments ---- */

static int32_t seen_i32;
static float seen_f32;
static uint8_t seen_bool;

static int32_t look_at_arguments(const void *block, void *const *nodes, struct kernel_fault *fault)
{
    (void)nodes;
    (void)fault;
    memcpy(&seen_i32, (const uint8_t *)block, sizeof seen_i32);
    memcpy(&seen_f32, (const uint8_t *)block + 4, sizeof seen_f32);
    memcpy(&seen_bool, (const uint8_t *)block + 8, sizeof seen_bool);
    return KERNEL_OK;
}

static struct prt_program *argument_program(void)
{
    struct made *m = copy_made();
    const int32_t seven = 7;
    const float half = 0.5f;
    made_argument(m, "number", SCALAR_I32, &seven);
    made_argument(m, "gain", SCALAR_F32, &half);
    made_argument(m, "loud", SCALAR_BOOL, NULL);
    struct prt_program *program;
    struct prt_error error;
    size_t size;
    uint8_t *bytes = made_finish(m, &size);
    assert_int_equal(
        prt_program_load_with_entries(bytes, size, &copy, look_at_arguments, &program, &error),
        PRT_OK);
    free(bytes);
    made_free(m);
    return program;
}

static void arguments_are_parsed_and_checked(void **unused)
{
    (void)unused;
    struct prt_program *program = argument_program();
    struct prt_argument_information about;
    struct prt_error error;
    struct prt_run *run = create(program);
    assert_int_equal(prt_program_argument_count(program), 3);
    assert_true(prt_program_argument(program, 2, &about));
    assert_string_equal(about.name, "loud");
    assert_false(about.has_default);
    assert_false(prt_program_argument(program, 3, &about));
    const char *const bad[][2] = {{"number", "x"},          {"number", ""},   {"number", "1.5"},
                                  {"number", "2147483648"}, {"gain", "1.5q"}, {"loud", "2"},
                                  {"loud", "yes"},          {"nmuber", "1"},  {"", "1"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(prt_run_set_argument(run, bad[i][0], bad[i][1], &error), PRT_E_USAGE);
        assert_non_null(strstr(error.message, bad[i][0]));
    }
    struct host in, out = {.count = 0};
    host_ramp(&in, 5);
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "'loud' has no value"));
    assert_int_equal(prt_run_set_argument(run, "loud", "true", &error), PRT_OK);
    assert_int_equal(prt_run_set_argument(run, "number", "-0x10", &error), PRT_OK);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    assert_int_equal(seen_i32, -16);
    assert_true(seen_f32 > 0.4f && seen_f32 < 0.6f);
    assert_int_equal(seen_bool, 1);
    prt_run_destroy(run);
    prt_program_free(program);
}

static float seen_taps[4];
static uint16_t seen_width;

static int32_t look_at_values(const void *block, void *const *nodes, struct kernel_fault *fault)
{
    (void)nodes;
    (void)fault;
    memcpy(seen_taps, block, sizeof seen_taps);
    memcpy(&seen_width, (const uint8_t *)block + sizeof seen_taps, sizeof seen_width);
    return KERNEL_OK;
}

static struct prt_program *values_program(void)
{
    struct made *m = copy_made();
    struct container_argument *taps = made_argument(m, "taps", SCALAR_F32, NULL);
    taps->count = 4;
    taps->shape = made_string(m, "2, 2");
    taps->type_text = made_string(m, "f32[2][2]");
    m->pipeline.arguments_bytes = 16;
    struct container_argument *width = made_argument(m, "width", SCALAR_U16, NULL);
    width->property = CONTAINER_PROPERTY_WIDTH;
    width->buffer = 0;
    struct prt_program *program;
    struct prt_error error;
    size_t size;
    uint8_t *bytes = made_finish(m, &size);
    if (prt_program_load_with_entries(bytes, size, &copy, look_at_values, &program, &error) !=
        PRT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    made_free(m);
    return program;
}

static void arrays_are_given_as_text_and_from_memory(void **unused)
{
    (void)unused;
    static const float four[4] = {1, 2, 3, 4}, others[4] = {0.5f, -1, 0, 16};
    struct prt_program *program = values_program();
    struct prt_argument_information about;
    struct prt_error error;
    struct prt_run *run = create(program);
    struct host in, out = {.count = 0};
    assert_true(prt_program_argument(program, 0, &about));
    assert_string_equal(about.type, "f32[2][2]");
    assert_string_equal(about.shape, "2, 2");
    assert_int_equal(about.count, 4);
    assert_int_equal(about.property, PRT_PROPERTY_NONE);
    assert_int_equal(about.port, PRT_NONE);
    const char *const bad[] = {"", "1", "1,2,3", "1,2,3,4,5", "1,2,,4", "1,2,x,4", "1,2,1e39,4"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(prt_run_set_argument(run, "taps", bad[i], &error), PRT_E_USAGE);
    assert_int_equal(prt_run_set_argument_values(run, "tap", SCALAR_F32, four, 4, &error),
                     PRT_E_USAGE);
    assert_int_equal(prt_run_set_argument_values(run, "taps", SCALAR_F32, four, 3, &error),
                     PRT_E_USAGE);
    assert_non_null(strstr(error.message, "takes 4 values, not 3"));
    assert_int_equal(prt_run_set_argument_values(run, "taps", SCALAR_F32, NULL, 4, &error),
                     PRT_E_USAGE);
    assert_int_equal(prt_run_set_argument_values(run, "taps", SCALAR_I32, four, 4, &error),
                     PRT_E_USAGE);
    assert_non_null(strstr(error.message, "is f32[2][2], and the values are i32"));
    assert_int_equal(prt_run_set_argument_values(run, "taps", SCALAR_F32, four, 4, &error), PRT_OK);
    assert_int_equal(prt_run_set_argument(run, "taps", "0.5, -1,0,0x10", &error), PRT_OK);
    assert_int_equal(prt_run_set_argument(run, "width", "7", &error), PRT_OK);
    host_ramp(&in, 5);
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    assert_memory_equal(seen_taps, others, sizeof others);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* A given value stays; a property that the input does not know changes nothing. */
static void an_argument_takes_what_its_input_knows(void **unused)
{
    (void)unused;
    static const float four[4] = {1, 2, 3, 4};
    const struct prt_input_properties nothing = {.rate_hertz = 5, .height = 6},
                                      wide = {.width = 640}, wider = {.width = 65536};
    struct prt_program *program = values_program();
    struct prt_argument_information about;
    struct prt_error error;
    assert_true(prt_program_argument(program, 1, &about));
    assert_int_equal(about.property, PRT_PROPERTY_WIDTH);
    assert_int_equal(about.port, 0);
    for (int given = 0; given < 2; given++) {
        struct prt_run *run = create(program);
        struct host in, out = {.count = 0};
        host_ramp(&in, 5);
        pipelines_bind(program, run, &in, &out);
        assert_int_equal(prt_run_set_argument_values(run, "taps", SCALAR_F32, four, 4, &error),
                         PRT_OK);
        assert_int_equal(prt_run_tell_input(run, 1, &wide, &error), PRT_E_USAGE);
        assert_int_equal(prt_run_tell_input(run, 0, &nothing, &error), PRT_OK);
        assert_int_equal(prt_run_execute(run, &error), PRT_E_USAGE);
        assert_non_null(
            strstr(error.message, "'width' has no value: the input of 'x' knows no width"));
        if (given) assert_int_equal(prt_run_set_argument(run, "width", "5", &error), PRT_OK);
        assert_int_equal(prt_run_tell_input(run, 0, &wider, &error), given ? PRT_OK : PRT_E_USAGE);
        assert_int_equal(prt_run_tell_input(run, 0, &wide, &error), PRT_OK);
        assert_int_equal(prt_run_execute(run, &error), PRT_OK);
        assert_int_equal(seen_width, given ? 5 : 640);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

/* ---- ports ---- */

static void ports_are_bound_by_direction(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_run *run = create(program);
    struct prt_error error;
    struct host host;
    host_ramp(&host, 3);
    assert_int_equal(prt_run_bind_input(run, 1, host_read, &host, &error), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_input(run, 7, host_read, &host, &error), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_input(run, PRT_NONE, host_read, &host, NULL), PRT_E_USAGE);
    assert_int_equal(prt_run_bind_output(run, 0, host_write, &host, &error), PRT_E_USAGE);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_USAGE);
    assert_non_null(strstr(error.message, "'x' is not bound"));
    assert_int_equal(prt_run_bind_input(run, 0, host_read, &host, &error), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK); /* the out-port is dropped */
    assert_int_equal(host.at, 3);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_USAGE);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void failures_of_the_host_end_the_run(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_error error = {0};
    struct host in, out = {.count = 0};
    host_ramp(&in, 1000);
    in.fails_after = 100;
    in.failure = PRT_E_READ;
    in.piece = 10;
    assert_int_equal(pipelines_run(program, 2, &in, &out, NULL, &error), PRT_E_READ);
    assert_string_equal(error.message, "the host fails");
    host_ramp(&in, 1000);
    out = (struct host){.fails_after = 100, .failure = PRT_E_WRITE};
    assert_int_equal(pipelines_run(program, 2, &in, &out, NULL, &error), PRT_E_WRITE);
    assert_string_equal(error.message, "the host fails");
    prt_program_free(program);
}

static void a_closed_output_ends_the_run_if_it_is_the_last(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_error error = {0};
    struct host in, out = {.fails_after = 100, .failure = PRT_E_CLOSED_PIPE};
    host_ramp(&in, 10000);
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_CLOSED_PIPE);
    assert_true(in.at < 1000);
    prt_program_free(program);
}

/* ---- interruption ---- */

static enum prt_status read_and_interrupt(void *context, void *packets, size_t capacity,
                                          size_t *count, struct prt_error *error)
{
    (void)error;
    struct prt_run **run = context;
    memset(packets, 1, capacity * 4);
    *count = capacity;
    prt_run_interrupt(*run);
    return PRT_OK;
}

static void an_interrupted_run_drains(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_run *run = create(program);
    struct prt_error error;
    struct host out = {.count = 0};
    pipelines_bind(program, run, NULL, &out);
    assert_int_equal(prt_run_bind_input(run, 0, read_and_interrupt, &run, &error), PRT_OK);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_INTERRUPTED);
    assert_int_equal(out.count, 64);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void a_source_that_is_interrupted_ends_its_stream(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_error error = {0};
    struct host in, out = {.count = 0};
    host_ramp(&in, 1000);
    in.fails_after = 100;
    in.failure = PRT_E_INTERRUPTED;
    in.piece = 10;
    assert_int_equal(pipelines_run(program, 2, &in, &out, NULL, &error), PRT_E_INTERRUPTED);
    assert_int_equal(out.count, in.at);
    assert_in_range(in.at, 100, 110);
    prt_program_free(program);
}

/* ---- devices ---- */

static void devices_are_those_of_the_container(void **unused)
{
    (void)unused;
    struct prt_program *program = copy_program();
    struct prt_run *run = NULL;
    struct prt_error error;
    const struct {
        const char *device;
        enum prt_status status;
        const char *message;
    } cases[] = {{"sim4", PRT_E_DEVICE, "sim16"},
                 {"sim17", PRT_E_USAGE, "there is no device 'sim17'; there are: "},
                 {"cuda", PRT_E_DEVICE, "device 'cuda': the container has no image for GPUs"},
                 {"cuda:1", PRT_E_DEVICE, "the container has no image for GPUs"},
                 {"cuda:x", PRT_E_USAGE, "there is no device 'cuda:x'"},
                 {"opencl", PRT_E_DEVICE, "'opencl' is not supported"},
                 {"cpu:0", PRT_E_USAGE, "there is no device 'cpu:0'"},
                 {"sim:/nonexistent.dev", PRT_E_OPEN, "/nonexistent.dev"},
                 {"sim:/dev/null", PRT_E_FORMAT, "/dev/null"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct prt_run_options options = {.device = cases[i].device};
        assert_int_equal(prt_run_create(program, &options, &run, &error), cases[i].status);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_null(run);
    }
    const char *const good[] = {"sim16", "null", "cpu", "cpu:3"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct prt_run_options options = {.device = good[i]};
        struct host in, out = {.count = 0};
        assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
        host_ramp(&in, 100);
        pipelines_bind(program, run, &in, &out);
        assert_int_equal(prt_run_execute(run, &error), PRT_OK);
        assert_int_equal(out.count, 100);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

static void another_description_of_the_device_is_refused(void **unused)
{
    (void)unused;
    struct made *m = copy_made();
    m->device.description_hash++;
    struct prt_program *program = pipelines_load(m, &copy);
    struct prt_run *run;
    struct prt_error error;
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_E_DEVICE);
    assert_non_null(strstr(error.message, "another description of device 'sim16'"));
    prt_program_free(program);
}

static void containers_without_code_are_refused(void **unused)
{
    (void)unused;
    struct made *m = copy_made();
    struct prt_program *program;
    struct prt_error error;
    size_t size;
    uint8_t *bytes = made_finish(m, &size);
    made_free(m);
    assert_int_equal(prt_program_load_memory(bytes, size, &program, &error), PRT_E_FORMAT);
    assert_non_null(strstr(error.message, "image"));
    assert_int_equal(prt_program_load_memory(bytes, size, &program, NULL), PRT_E_FORMAT);
    assert_int_equal(prt_program_load_file("/nonexistent", &program, &error), PRT_E_OPEN);
    free(bytes);
}

/* ---- threads ---- */

struct worker {
    const struct prt_program *program;
    struct host in, out;
    bool right;
};

static void *work(void *context)
{
    struct worker *w = context;
    struct prt_error error;
    w->right = true;
    for (int round = 0; round < 20; round++) {
        host_ramp(&w->in, 2000);
        w->out.count = 0;
        if (pipelines_run(w->program, 2, &w->in, &w->out, NULL, &error) != PRT_OK ||
            w->out.count != 2000 || w->out.packets[1999] != 1999)
            w->right = false;
    }
    return NULL;
}

static void programs_run_side_by_side_in_one_process(void **unused)
{
    (void)unused;
    static struct worker workers[4];
    pthread_t threads[4];
    struct prt_program *programs[2] = {copy_program(), copy_program()};
    for (size_t i = 0; i < 4; i++) {
        workers[i].program = programs[i % 2];
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(workers[i].right);
    }
    prt_program_free(programs[0]);
    prt_program_free(programs[1]);
}

/* ---- crashes ---- */

static struct prt_run *crashing;
static char crash_text[200];

static int32_t describe_itself(const struct kernel_batch *batch)
{
    (void)batch;
    if (!prt_run_describe_crash(crashing, crash_text, sizeof crash_text)) crash_text[0] = '\0';
    return KERNEL_OK;
}

static void a_crash_is_described_by_kernel_and_firings(void **unused)
{
    (void)unused;
    const struct prt_image_kernel kernel = {.run = describe_itself};
    struct prt_program *program = pipelines_load(copy_made(), &kernel);
    struct prt_run_options options = {.host_threads = 1};
    struct prt_error error;
    struct host in;
    char tiny[8];
    host_ramp(&in, 40);
    assert_int_equal(prt_run_create(program, &options, &crashing, &error), PRT_OK);
    pipelines_bind(program, crashing, &in, NULL);
    assert_int_equal(prt_run_execute(crashing, &error), PRT_OK);
    assert_string_equal(crash_text, "kernel 'copy' (instance at made.pipe:1) in firings 0 to 39");
    assert_false(prt_run_describe_crash(crashing, tiny, sizeof tiny));
    prt_run_destroy(crashing);
    prt_program_free(program);
}

static void a_crash_outside_firings_is_described_too(void **unused)
{
    (void)unused;
    const struct prt_image_kernel inits = {.run = kernel_copy, .init = describe_itself};
    const struct prt_image_kernel finishes = {.run = kernel_copy, .finish = describe_itself};
    for (int finish = 0; finish < 2; finish++) {
        struct made *m = copy_made();
        m->nodes[0].flags |= finish ? CONTAINER_NODE_FINISH : CONTAINER_NODE_INIT;
        struct prt_program *program = pipelines_load(m, finish ? &finishes : &inits);
        struct prt_error error;
        struct host in;
        host_ramp(&in, 0);
        crash_text[0] = '\0';
        assert_int_equal(prt_run_create(program, NULL, &crashing, &error), PRT_OK);
        pipelines_bind(program, crashing, &in, NULL);
        assert_int_equal(prt_run_execute(crashing, &error), PRT_OK);
        assert_string_equal(crash_text,
                            finish ? "kernel 'copy' (instance at made.pipe:1) in its finish"
                                   : "kernel 'copy' (instance at made.pipe:1) in its init");
        prt_run_destroy(crashing);
        prt_program_free(program);
    }
}

static uint64_t group_bytes;

/* The linker leads calls here. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,misc-use-internal-linkage) */
uint64_t __wrap_prt_host_quota_memory_bytes(const char *groups, const char *mounts);
/* NOLINTNEXTLINE(bugprone-reserved-identifier,misc-use-internal-linkage) */
uint64_t __wrap_prt_host_quota_memory_bytes(const char *groups, const char *mounts)
{
    (void)groups;
    (void)mounts;
    return group_bytes;
}

static void deeper_buffers_keep_the_memory_limit_of_the_control_group(void **unused)
{
    (void)unused;
    enum { PLANNED_BYTES = 2 * 64 * 4, PART = 16 };
    static const struct {
        uint64_t group_bytes, factor;
    } cases[] = {
        {UINT64_MAX, 9},           {8 * PLANNED_BYTES * PART, 9}, {8 * PLANNED_BYTES * PART - 1, 8},
        {PLANNED_BYTES * PART, 2}, {PLANNED_BYTES * PART - 1, 1}, {0, 1}};
    struct made *m = copy_made();
    for (uint32_t i = 0; i < 2; i++)
        m->buffers[i].flags |= CONTAINER_BUFFER_GROWS;
    struct prt_program *program = pipelines_load(m, &copy);
    struct prt_run_options options = {.device = "cpu:2", .depth_factor = 9};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct prt_run *run;
        struct prt_error error;
        struct prt_buffer_statistics buffer;
        group_bytes = cases[i].group_bytes;
        assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
        assert_true(prt_run_buffer(run, 0, &buffer));
        assert_int_equal(buffer.planned_packets, 64);
        assert_int_equal(buffer.depth_packets, 64 * cases[i].factor);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

TEST_MAIN("pipert", cmocka_unit_test(a_program_says_what_it_is),
          cmocka_unit_test(rates_of_ports_are_compared),
          cmocka_unit_test(arguments_are_parsed_and_checked),
          cmocka_unit_test(arrays_are_given_as_text_and_from_memory),
          cmocka_unit_test(an_argument_takes_what_its_input_knows),
          cmocka_unit_test(ports_are_bound_by_direction),
          cmocka_unit_test(failures_of_the_host_end_the_run),
          cmocka_unit_test(a_closed_output_ends_the_run_if_it_is_the_last),
          cmocka_unit_test(an_interrupted_run_drains),
          cmocka_unit_test(a_source_that_is_interrupted_ends_its_stream),
          cmocka_unit_test(devices_are_those_of_the_container),
          cmocka_unit_test(another_description_of_the_device_is_refused),
          cmocka_unit_test(containers_without_code_are_refused),
          cmocka_unit_test(programs_run_side_by_side_in_one_process),
          cmocka_unit_test(a_crash_is_described_by_kernel_and_firings),
          cmocka_unit_test(a_crash_outside_firings_is_described_too),
          cmocka_unit_test(deeper_buffers_keep_the_memory_limit_of_the_control_group))
