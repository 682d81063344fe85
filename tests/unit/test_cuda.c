/* SPDX-License-Identifier: MIT */
/*
 * The device `cuda` with a driver whose calls fail, one after the other, and without calls in a run.  The driver is the
 * emulated one (runtime/backend/cuda/emulated_driver.h); the linker leads the runtime to the one of this test.
 */
#include "tests/test.h"

#include "runtime/backend/cuda/cuda.h"
#include "runtime/backend/cuda/cuda_frames.h"
#include "runtime/backend/cuda/emulated_driver.h"
#include "runtime/host/pipert.h"
#include "runtime/host/pipert_device.h"
#include "tests/unit/built_container.h"

#include <stdio.h>

enum { PACKETS = 5000 };

/* Exact rates, bounded ones, state, a finish, kernels that launch kernels and ask whether they have appended a packet. */
static const char text[] =
    "kernel twice(in i32 x, out i32 y) { y <- x + x; }\n"
    "kernel some(in i32 x, out i32 y push 0..2) { if (x % 3 > 0) y <- x; if (x % 3 > 1) y <- x; }\n"
    "kernel sum(in i32 x, out i32 y) { state i32 s; s += x; y <- s; finish { y <- 0 - s; } }\n"
    "child kernel even(in i32 x, out i32 y) { if (x % 2 == 0) y <- x / 2; }\n"
    "child kernel never(in i32 x, out i32 y) { if (x == -1) y <- x; }\n"
    "kernel halve(in i32 x, out i32 y) {\n"
    "    event e = launch even();\n"
    "    launch never() after e;\n"
    "    if (!done(e)) y <- x;\n"
    "}\n"
    "pipeline main(in i32 x, out i32 y) { x -> twice -> some -> halve -> sum -> y; }\n";

/* ---- the driver ---- */

static struct {
    struct prt_cuda_driver emulated;
    unsigned calls, fails_at; /* the call of that number, from 1; 0: none */
    int result;
    const char *failed;
    bool lost;   /* the kernel never begins, and only the driver says so */
    bool narrow; /* the driver gives threads less stack than they need */
    bool silent; /* the compiled code does not say how much that is */
    char *log;   /* where the driver says what is wrong with a text; NULL: nothing is */
} now;

/* Calls that give back what there is do so even if they fail. */
static bool gives_back(const char *name)
{
    static const char *const words[] = {"Release", "Destroy",    "Unload",     "Free",
                                        "Unmap",   "Unregister", "Synchronize"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i]) != NULL) return true;
    return false;
}

static int enter(const char *name)
{
    if (++now.calls != now.fails_at) return PRT_CUDA_SUCCESS;
    now.failed = name;
    return now.result;
}

#define FAILING(member, name, parameters, arguments)                                               \
    static int failing_##member parameters                                                         \
    {                                                                                              \
        int refusal = enter(name);                                                                 \
        if (refusal == PRT_CUDA_SUCCESS) return now.emulated.member arguments;                     \
        if (gives_back(name)) (void)now.emulated.member arguments;                                 \
        return refusal;                                                                            \
    }
PRT_CUDA_CALLS(FAILING)
#undef FAILING

/* The kernel is not there: the block of the scheduler never answers. */
static int lose_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void *stream, void **parameters)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)shared_bytes, (void)stream, (void)parameters;
    return PRT_CUDA_SUCCESS;
}

static int query_lost(void *stream)
{
    (void)stream;
    return PRT_CUDA_LAUNCH_FAILED;
}

static int keep_log(unsigned count, int *options, void **values, void **link)
{
    for (unsigned i = 0; i < count; i++)
        if (options[i] == PRT_CUDA_ERROR_LOG) now.log = values[i];
    return now.emulated.link_create(count, options, values, link);
}

static int give_less(size_t *value, int limit)
{
    (void)limit;
    *value = 1000;
    return PRT_CUDA_SUCCESS;
}

static int compile_silently(void *link, void **cubin, size_t *bytes)
{
    int result = now.emulated.link_complete(link, cubin, bytes);
    *bytes = 8;
    return result;
}

// NOLINTBEGIN(readability-non-const-parameter): the type is the driver's
static int refuse_text(void *link, int type, void *data, size_t bytes, const char *name,
                       unsigned count, int *options, void **values)
{
    (void)link, (void)type, (void)data, (void)bytes, (void)name, (void)count, (void)options;
    (void)values;
    strcpy(now.log, "ptxas fatal : Unresolved extern function\nptxas fatal : and more\n");
    return PRT_CUDA_INVALID_PTX;
}
// NOLINTEND(readability-non-const-parameter)

// NOLINTBEGIN(bugprone-reserved-identifier,misc-use-internal-linkage): the linker's names
void __real_prt_emulated_driver_open(struct prt_cuda_driver *driver);
void __wrap_prt_emulated_driver_open(struct prt_cuda_driver *driver);

void __wrap_prt_emulated_driver_open(struct prt_cuda_driver *driver)
{
    __real_prt_emulated_driver_open(&now.emulated);
#define MEMBER(member, name, parameters, arguments) .member = failing_##member,
    *driver = (struct prt_cuda_driver){PRT_CUDA_CALLS(MEMBER).emulates = true};
#undef MEMBER
    if (now.lost) driver->launch = lose_launch;
    if (now.lost) driver->stream_query = query_lost;
    if (now.narrow) driver->context_limit_get = give_less;
    if (now.silent) driver->link_complete = compile_silently;
    if (now.log != NULL) driver->link_create = keep_log;
    if (now.log != NULL) driver->link_add = refuse_text;
}
// NOLINTEND(bugprone-reserved-identifier,misc-use-internal-linkage)

/* ---- a run ---- */

struct outcome {
    enum prt_status status;
    struct prt_error error;
    size_t count;
    int32_t packets[PACKETS * 2 + 1];
    unsigned calls_first, calls_last; /* of the driver, when the sink was called */
    unsigned calls_end;               /* when the run had ended; later ones only give back */
};

static enum prt_status take_packets(void *context, const void *packets, size_t count,
                                    struct prt_error *error)
{
    struct outcome *outcome = context;
    (void)error;
    assert_true(outcome->count + count <= sizeof outcome->packets / sizeof outcome->packets[0]);
    memcpy(outcome->packets + outcome->count, packets, count * sizeof(int32_t));
    if (outcome->count == 0) outcome->calls_first = now.calls;
    outcome->count += count;
    outcome->calls_last = now.calls;
    return PRT_OK;
}

struct stream {
    int32_t next;
};

static enum prt_status give_packets(void *context, void *packets, size_t capacity, size_t *count,
                                    struct prt_error *error)
{
    struct stream *stream = context;
    (void)error;
    if (capacity > 700) capacity = 700;
    for (*count = 0; *count < capacity && stream->next < PACKETS; (*count)++)
        ((int32_t *)packets)[*count] = stream->next++;
    return PRT_OK;
}

static struct prt_program *load_program(void)
{
    struct prt_program *program;
    struct prt_error error;
    size_t size;
    uint8_t *bytes = built_container_bytes(text, "main", "cuda", &size);
    assert_int_equal(prt_program_load_memory(bytes, size, &program, &error), PRT_OK);
    free(bytes);
    return program;
}

static void execute_on(const struct prt_program *program, const char *device,
                       struct outcome *outcome)
{
    const struct prt_run_options options = {.device = device};
    struct prt_run *run = NULL;
    struct stream stream = {0};
    *outcome = (struct outcome){.count = 0};
    outcome->status = prt_run_create(program, &options, &run, &outcome->error);
    if (outcome->status != PRT_OK) return;
    struct prt_error *error = &outcome->error;
    assert_int_equal(
        prt_run_bind_input(run, prt_program_find_port(program, "x"), give_packets, &stream, error),
        PRT_OK);
    assert_int_equal(
        prt_run_bind_output(run, prt_program_find_port(program, "y"), take_packets, outcome, error),
        PRT_OK);
    outcome->status = prt_run_execute(run, error);
    outcome->calls_end = now.calls;
    prt_run_destroy(run);
}

static void expect_same(const struct outcome *outcome, const struct outcome *expected)
{
    if (outcome->status != PRT_OK) print_error("%s\n", outcome->error.message);
    assert_int_equal(outcome->status, PRT_OK);
    assert_int_equal(outcome->count, expected->count);
    assert_memory_equal(outcome->packets, expected->packets, expected->count * sizeof(int32_t));
}

static struct outcome expected, outcome;

static void no_call_of_the_driver_while_the_run_lasts(void **unused)
{
    (void)unused;
    struct prt_program *program = load_program();
    execute_on(program, "cpu:1", &expected);
    assert_true(expected.status == PRT_OK && expected.count > PACKETS / 2);
    execute_on(program, "cuda-emulated", &outcome);
    expect_same(&outcome, &expected);
    assert_true(outcome.calls_first > 20); /* before the launch */
    assert_int_equal(outcome.calls_last, outcome.calls_first);
    prt_program_free(program);
}

/* Whatever fails, the run says so, and the next run succeeds. */
static void each_call_fails_in_turn(void **unused)
{
    (void)unused;
    static const int results[] = {PRT_CUDA_OUT_OF_MEMORY, PRT_CUDA_LAUNCH_FAILED};
    struct prt_program *program = load_program();
    unsigned failures = 0;
    execute_on(program, "cpu:1", &expected);
    now.calls = 0;
    execute_on(program, "cuda-emulated", &outcome);
    unsigned all = now.calls, during = outcome.calls_end;
    for (unsigned at = 1; at <= all; at++)
        for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
            now.calls = 0;
            now.fails_at = at;
            now.result = results[i];
            now.failed = NULL;
            execute_on(program, "cuda-emulated", &outcome);
            assert_non_null(now.failed);
            now.fails_at = 0;
            if (at > during) {
                expect_same(&outcome, &expected);
                continue;
            }
            failures++;
            if (outcome.status == PRT_OK) print_error("%s fails, the run does not\n", now.failed);
            assert_int_equal(outcome.status,
                             results[i] == PRT_CUDA_OUT_OF_MEMORY ? PRT_E_NOMEM : PRT_E_DEVICE);
            assert_non_null(strstr(outcome.error.message, "device 'cuda'"));
        }
    assert_true(failures > 50);
    execute_on(program, "cuda-emulated", &outcome);
    expect_same(&outcome, &expected);
    prt_program_free(program);
}

/* The driver is asked only when the kernel gives no sign of life. */
static void a_lost_device_is_found(void **unused)
{
    (void)unused;
    struct prt_program *program = load_program();
    now.lost = true;
    execute_on(program, "cuda-emulated", &outcome);
    now.lost = false;
    assert_int_equal(outcome.status, PRT_E_DEVICE);
    assert_non_null(strstr(outcome.error.message, "CUDA_ERROR_LAUNCH_FAILED"));
    assert_int_equal(outcome.count, 0);
    prt_program_free(program);
}

static void refused_kernels_are_explained(void **unused)
{
    (void)unused;
    static char log;
    struct prt_program *program = load_program();
    now.log = &log;
    execute_on(program, "cuda-emulated", &outcome);
    now.log = NULL;
    assert_int_equal(outcome.status, PRT_E_DEVICE);
    assert_string_equal(outcome.error.message,
                        "device 'cuda': the driver refuses the kernels: ptxas fatal : Unresolved "
                        "extern function");
    prt_program_free(program);
}

/* Bodies that ask `done` wait on the stack of their thread. */
static void a_stack_that_may_overflow_is_refused(void **unused)
{
    (void)unused;
    struct prt_program *program = load_program();
    now.narrow = true;
    execute_on(program, "cuda-emulated", &outcome);
    now.narrow = false;
    assert_int_equal(outcome.status, PRT_E_NOMEM);
    assert_non_null(strstr(outcome.error.message, "giving each thread a stack of"));
    now.silent = true;
    execute_on(program, "cuda-emulated", &outcome);
    now.silent = false;
    assert_int_equal(outcome.status, PRT_E_DEVICE);
    assert_non_null(strstr(outcome.error.message, "does not say how much stack"));
    prt_program_free(program);
}

static void frames_of_compiled_code(void **unused)
{
    (void)unused;
    struct prt_cuda_driver driver;
    struct prt_cuda_frames frames;
    void *code;
    size_t bytes;
    __real_prt_emulated_driver_open(&driver);
    assert_int_equal(driver.link_complete(NULL, &code, &bytes), PRT_CUDA_SUCCESS);
    assert_true(prt_cuda_frames_read(code, bytes, &frames));
    assert_true(frames.others == 64 && frames.body == 0);
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, code, bytes);
    char *name = (char *)copy;
    while (memcmp(name, "pipe_call", 9) != 0)
        name++;
    memcpy(name, "pipe_k0_r", 9);
    assert_true(prt_cuda_frames_read(copy, bytes, &frames));
    assert_true(frames.others == 0 && frames.body == 64);
    for (size_t i = 0; i < bytes; i++) { /* damaged code is refused, or has other numbers */
        memcpy(copy, code, bytes);
        copy[i] ^= 0xff;
        (void)prt_cuda_frames_read(copy, bytes, &frames);
    }
    free(copy);
    /* The last bytes only fill the text of the names up. */
    for (size_t shorter = 0; shorter < bytes - 32; shorter++) {
        uint8_t *part = malloc(shorter + 1);
        assert_non_null(part);
        memcpy(part, code, shorter);
        assert_false(prt_cuda_frames_read(part, shorter, &frames));
        free(part);
    }
}

/* Executes the program on a sub-device of the emulated GPU, which has four multiprocessors. */
static void execute_on_part(const struct prt_program *program, uint32_t first, uint32_t count)
{
    struct prt_device_tree *tree;
    struct prt_error error;
    assert_int_equal(prt_device_open("cuda-emulated", NULL, NULL, &tree, NULL, &error), PRT_OK);
    const int64_t scheme[] = {PRT_PARTITION_BY_COUNTS, first > 0 ? first : count,
                              first > 0 ? count : 1, PRT_PARTITION_BY_COUNTS_LIST_END, 0};
    struct prt_device_handle parts[2];
    assert_int_equal(
        prt_create_sub_devices(tree, prt_device_tree_root(tree), scheme, 2, parts, NULL), PRT_OK);
    const struct prt_run_options options = {.tree = tree, .part = parts[first > 0]};
    struct prt_run *run;
    struct stream stream = {0};
    outcome = (struct outcome){.count = 0};
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    prt_device_tree_destroy(tree);
    assert_int_equal(prt_run_bind_input(run, 0, give_packets, &stream, &error), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, take_packets, &outcome, &error), PRT_OK);
    assert_false(prt_run_used_multiprocessor(run, 0, first));
    outcome.status = prt_run_execute(run, &outcome.error);
    expect_same(&outcome, &expected);
    for (uint32_t stage = 0; prt_run_stage(run, stage, &(struct prt_stage_statistics){0});
         stage++) {
        uint32_t workers = 0; /* the first multiprocessor is the scheduler's */
        for (uint32_t number = 0; number < 5; number++) {
            bool used = prt_run_used_multiprocessor(run, stage, number);
            assert_true(!used || (number >= first && number < first + count));
            workers += used && number > first;
        }
        assert_true(workers > 0);
    }
    prt_run_destroy(run);
}

static void a_part_uses_its_multiprocessors_only(void **unused)
{
    (void)unused;
    struct prt_program *program = load_program();
    execute_on(program, "cpu:1", &expected);
    execute_on_part(program, 0, 2);
    execute_on_part(program, 2, 2);
    execute_on_part(program, 1, 3);
    prt_program_free(program);
}

static void names_of_gpus(void **unused)
{
    (void)unused;
    uint32_t number;
    assert_int_equal(prt_cuda_find_name("cuda", &number), PRT_CUDA_REAL);
    assert_int_equal(number, 0);
    assert_int_equal(prt_cuda_find_name("cuda:12", &number), PRT_CUDA_REAL);
    assert_int_equal(number, 12);
    assert_int_equal(prt_cuda_find_name("cuda-emulated", &number), PRT_CUDA_EMULATED);
    static const char *const others[] = {"cuda:", "cuda:x", "cuda:1x", "cuda:12345", "cud", "cpu"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(prt_cuda_find_name(others[i], &number), PRT_CUDA_NONE);
}

TEST_MAIN("cuda", cmocka_unit_test(no_call_of_the_driver_while_the_run_lasts),
          cmocka_unit_test(each_call_fails_in_turn), cmocka_unit_test(a_lost_device_is_found),
          cmocka_unit_test(refused_kernels_are_explained),
          cmocka_unit_test(a_stack_that_may_overflow_is_refused),
          cmocka_unit_test(frames_of_compiled_code),
          cmocka_unit_test(a_part_uses_its_multiprocessors_only), cmocka_unit_test(names_of_gpus))
