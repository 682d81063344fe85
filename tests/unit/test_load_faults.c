/* SPDX-License-Identifier: MIT */
/* Each call for memory, files or steps of work that loading, buffers and sub-devices make fails in its turn: a status
 * says so, and nothing is lost.  The linker leads these calls here (Makefile: FAULTS_LD). */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/backend/null/null.h"
#include "runtime/device/ring.h"
#include "model/block.h"
#include "model/cached_buffers.h"
#include "model/queue.h"
#include "model/subdevice.h"
#include "runtime/load/image.h"
#include "runtime/load/rewrite.h"
#include "runtime/sched/sched.h"
#include "runtime/verify/verify.h"
#include "runtime/verify/verify_program.h"
#include "runtime/host/pipert.h"
#include "tests/conform/made_container.h"
#include "tests/unit/built_container.h"
#include "tests/unit/failing_calls.h"

/* ---- faults ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier,misc-use-internal-linkage): the linker's names */
REAL(void *, mmap, void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    if (fails(ENOMEM)) return MAP_FAILED;
    void *mapped = __real_mmap(at, size, access, flags, fd, offset);
    if (faults.armed && at == NULL) faults.blocks++;
    return mapped;
}

REAL(int, munmap, void *at, size_t size)
{
    if (faults.armed) faults.blocks--;
    return __real_munmap(at, size);
}

REAL(int, memfd_create, const char *name, unsigned flags)
{
    return fails(EMFILE) ? -1 : __real_memfd_create(name, flags);
}

REAL(int, ftruncate, int fd, off_t size)
{
    return fails(ENOSPC) ? -1 : __real_ftruncate(fd, size);
}

REAL(int, mkostemps, char *path, int suffix, int flags)
{
    return fails(ENOSPC) ? -1 : __real_mkostemps(path, suffix, flags);
}

REAL(int, fstat, int fd, struct stat *about)
{
    return fails(EIO) ? -1 : __real_fstat(fd, about);
}

REAL(int, pthread_mutex_init, pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    return fails(EAGAIN) ? EAGAIN : __real_pthread_mutex_init(mutex, attributes);
}

/* Of a read or a write: how many bytes it may move, or -1. */
static ssize_t moved(size_t size)
{
    if (!is_hit()) return (ssize_t)size;
    if (faults.fault == FAULT_SHORT) return size > 0;
    errno = faults.fault == FAULT_INTERRUPTED ? EINTR : EIO;
    return -1;
}

REAL(ssize_t, read, int fd, void *bytes, size_t size)
{
    ssize_t most = moved(size);
    return most < 0 ? -1 : __real_read(fd, bytes, (size_t)most);
}

/* A fortified read. */
REAL(ssize_t, __read_chk, int fd, void *bytes, size_t size, size_t room)
{
    ssize_t most = moved(size);
    return most < 0 ? -1 : __real___read_chk(fd, bytes, (size_t)most, room);
}

REAL(ssize_t, write, int fd, const void *bytes, size_t size)
{
    ssize_t most = moved(size);
    return most < 0 ? -1 : __real_write(fd, bytes, (size_t)most);
}

REAL(enum prt_status, prt_code_work, struct prt_code *code, uint32_t index, uint64_t steps)
{
    bool too_much = faults.fault == FAULT_WORK && is_hit();
    return __real_prt_code_work(code, index, too_much ? code->work_limit - code->work + 1 : steps);
}
/* NOLINTEND(bugprone-reserved-identifier,misc-use-internal-linkage) */

/* ---- containers ---- */

static const char program[] =
    "struct pair { i8 kind; f32x2 at; };\n"
    "kernel mean<int N>(in f32 x peek N, out f32 y) {\n"
    "  f32 sum = 0; for (i32 i = 0; i < N; i++) sum += x[i]; y <- sum / N;\n"
    "}\n"
    "kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }\n"
    "kernel positive(in f32 x, out f32 y) { if (x > 0) y <- x; }\n"
    "kernel total(in f32 x, out f32 y) { state f32 sum; init { sum = 1; } sum += x; finish { y <- "
    "sum; } }\n"
    "kernel pack(in f32 x, out pair y) { state pair last; last.at.x = x; y <- last; }\n"
    "kernel unpack(in pair x, out f32 y) { y <- x.at.x; }\n"
    "kernel items(in f32 x pop 8, out f32 y push 8) group 8 {\n"
    "  local f32 t[8]; t[item.x] = x[item.x]; barrier(); y <- t[7 - item.x];\n"
    "}\n"
    "kernel three(in f32 x pop 3, out f32 y push 3) { for (i32 i = 0; i < 3; i++) y <- x[i]; }\n"
    "kernel mix(in f32 x pop 2, in f32 back pop 2, out f32 y push 2) {\n"
    "  for (i32 i = 0; i < 2; i++) y <- x[i] + back[i];\n"
    "}\n"
    "kernel turns(in f32 x pop {1, 2}, out f32 a push {2, 1}, out f32 b push {0, 3}) {\n"
    "  a <- x[0]; if (phase == 0) a <- 1; if (phase == 1) for (i32 i = 0; i < 3; i++) b <- x[1];\n"
    "}\n"
    "child kernel halve(out f32 y; f32 lo, f32 hi, i32 level) launches 2 {\n"
    "  if (level == 0) { y <- lo + hi; }\n"
    "  else { event low = launch halve(lo, hi, level - 1); launch halve(hi, hi, level - 1) after "
    "low; }\n"
    "}\n"
    "kernel divide(in f32 x, out f32 y) nesting 3 { launch halve(0, x, 2); y <- x; }\n"
    "pipeline chain(in f32 x, out f32 y) { x -> mean<4> -> items -> pack -> unpack -> y; }\n"
    "pipeline bounded(in f32 x, out f32 y, out f32 z) {\n"
    "  buffer f32 some depth 32; x -> positive -> some; some -> mean<2> -> y; some -> total -> z;\n"
    "}\n"
    "pipeline launching(in f32 x, out f32 y) { x -> divide -> y; }\n"
    "pipeline loop(in f32 x, out f32 y) {\n"
    "  buffer f32 there depth 4, back init 4 x 0; mix(x, back -> there); three(there -> back); "
    "three(there -> y);\n"
    "}\n"
    "pipeline rejoined(in f32 x, out f32 y) { buffer f32 a, b; turns(x -> a, b); add(a, b -> y); "
    "}\n";

static const char *const pipelines[] = {"chain", "bounded", "launching", "loop", "rejoined"};
enum { PIPELINE_COUNT = sizeof pipelines / sizeof pipelines[0] };

/* A failed call gives one of the two statuses. */
static void expect_told(enum prt_status status, enum prt_status one, enum prt_status other,
                        const struct prt_error *error)
{
    if (status != one && status != other) fail_msg("status %d: %s", (int)status, error->message);
    assert_true(error->message[0] != '\0');
}

/* A call that fails is reported as missing memory, without one all is well; either way nothing is left. */
static void expect_missing_memory(bool failed, enum prt_status status,
                                  const struct prt_error *error)
{
    assert_int_equal(faults.blocks, 0);
    if (failed)
        expect_told(status, PRT_E_NOMEM, PRT_E_NOMEM, error);
    else
        assert_int_equal(status, PRT_OK);
}

/* Loads it with each call of a kind failing in its turn; expects the matching message. */
static uint64_t expect_each_told(const uint8_t *bytes, size_t size, enum fault fault,
                                 enum prt_status told, const char *what)
{
    uint64_t call = 0;
    for (bool hit = true; hit; call++) {
        struct prt_container c;
        struct prt_error error = {0};
        arm(fault, call);
        enum prt_status status = prt_container_read_memory(bytes, size, &c, &error);
        if (status == PRT_OK) status = prt_verify(&c, &error);
        prt_container_free(&c);
        hit = disarm();
        assert_int_equal(faults.blocks, 0);
        if (status != (hit ? told : PRT_OK))
            fail_msg("call %d: status %d: %s", (int)call, (int)status, error.message);
        if (hit && strstr(error.message, what) == NULL)
            fail_msg("call %d: %s", (int)call, error.message);
    }
    return call;
}

static void loading_says_that_there_is_no_memory(void **unused)
{
    (void)unused;
    for (int p = 0; p < PIPELINE_COUNT; p++) {
        size_t size;
        uint8_t *bytes = built_container_bytes(program, pipelines[p], "sim4", &size);
        assert_true(expect_each_told(bytes, size, FAULT_FAILS, PRT_E_NOMEM, "out of memory") > 20);
        free(bytes);
    }
}

/* x -> a, of two phases, -> t -> c -> v -> b -> y and z; s -> u -> b.  Its program has all that a program can have. */
static uint8_t *everything(size_t *size)
{
    struct made *m = made_create("everything", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 16, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t v = made_buffer(m, "v", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 2, 1);
    made_output(m, a, t, 4, 0);
    m->nodes[a].phases = 2;
    m->nodes[a].repetitions = 2;
    const uint64_t rates[] = {1, 1, 1, 1, 1, 3, 1, 3};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 4;
    uint32_t s = made_node(m, "s", 0);
    made_output(m, s, u, 1, 0);
    uint32_t b = made_node(m, "b", CONTAINER_NODE_FINISH);
    made_input(m, b, v, 1, 1);
    made_input(m, b, u, 1, 1);
    made_output(m, b, y, 1, 1);
    made_output(m, b, z, 1, 1);
    uint32_t c = made_node(m, "c", 0);
    made_input(m, c, t, 1, 1);
    made_output(m, c, v, 1, 0);
    m->nodes[s].repetitions = m->nodes[b].repetitions = m->nodes[c].repetitions = 4;
    m->stages[a].batch_max = 4;
    m->pipeline.flags |= CONTAINER_PIPELINE_UNPROVEN;
    made_settle(m);
    made_program(
        m,
        ".set 1: 0\n.set 2: 1 2 3\n bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\n"
        " ends\n goes_on 1, 2, L2\n call B0\n"
        "L1: has_packets 0, 0, 4, L2\n goes_on 1, 8, L2\n has_room 2, 0, 8, L2\n"
        " has_room 2, 1, 8, L2\n repeat 2\n run 0, 1\n run 0, 1\n repeat 4\n run 3, 1\n run 1, 1\n"
        " run 2, 1\n again\n again\n jump L1\n"
        "L2: ends\n round_robin 1, L3\n dispatch\n fence\n jump L2\n"
        "L3: priority 2, L4\n dispatch\n wait L2\n jump L2\n"
        "L4: wait L2\n halt\nB0: repeat 2\n run 1, 1\n again\n return\n");
    uint8_t *bytes = made_finish(m, size);
    made_free(m);
    return bytes;
}

/* Wherever the steps that a file may ask for come to an end, its program is refused. */
static void programs_are_refused_wherever_work_ends(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = everything(&size);
    assert_true(expect_each_told(bytes, size, FAULT_WORK, PRT_E_VERIFY, "[work]") > 200);
    free(bytes);
}

static void programs_of_all_instructions_need_memory(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = everything(&size);
    assert_true(expect_each_told(bytes, size, FAULT_FAILS, PRT_E_NOMEM, "out of memory") > 30);
    free(bytes);
}

/* A counterexample of one node: it is fired once, and waits for itself. */
static void counterexamples_say_that_there_is_no_memory(void **unused)
{
    (void)unused;
    const uint64_t words[] = {
        (uint64_t)CONTAINER_CERTIFICATE_STALL << CONTAINER_CERTIFICATE_FORM_SHIFT | CONTAINER_NONE,
        7,
        2,
        1,
        0,
        1,
        1,
        0,
        1};
    struct made *m = made_create("stall", "sim4");
    made_input(m, made_node(m, "a", 0), made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN), 1,
               1);
    memcpy(m->certificate, words, sizeof words);
    m->certificate_count = sizeof words / sizeof *words;
    m->pipeline.flags = CONTAINER_PIPELINE_COUNTEREXAMPLE;
    made_loop(m);
    size_t size;
    uint8_t *bytes = made_finish(m, &size);
    made_free(m);
    assert_true(expect_each_told(bytes, size, FAULT_FAILS, PRT_E_NOMEM, "out of memory") > 8);
    free(bytes);
}

struct given_bytes {
    int fd; /* to write to; closed */
    const uint8_t *bytes;
    size_t size;
};

static void *write_all(void *context)
{
    const struct given_bytes *given = context;
    FILE *file = fdopen(given->fd, "wb");
    if (file == NULL) return NULL;
    (void)fwrite(given->bytes, 1, given->size, file);
    fclose(file);
    return NULL;
}

/* Reads the file with that call failing.  False: the run made fewer calls, so none failed. */
static bool read_with_fault(const char *path, enum fault fault, uint64_t call, bool is_whole)
{
    struct prt_container c;
    struct prt_error error = {0};
    arm(fault, call);
    enum prt_status status = prt_container_read_file(path, &c, &error);
    bool hit = disarm();
    if (hit && fault == FAULT_FAILS && status != PRT_OK && status != PRT_E_TRUNCATED &&
        status != PRT_E_FORMAT && status != PRT_E_OPEN)
        expect_told(status, PRT_E_NOMEM, PRT_E_READ, &error);
    else if (is_whole && status != PRT_E_OPEN)
        assert_int_equal(status, PRT_OK);
    else
        assert_int_not_equal(status, PRT_OK);
    prt_container_free(&c);
    return hit;
}

/* A regular file, whose size is known. */
static void files_are_read_or_refused(void **unused)
{
    (void)unused;
    char path[] = "/tmp/test_load_faults.XXXXXX";
    struct given_bytes whole = {.fd = mkstemp(path)};
    assert_true(whole.fd >= 0);
    uint8_t *bytes = built_container_bytes(program, "launching", "sim4", &whole.size);
    whole.bytes = bytes;
    write_all(&whole);
    for (int fault = FAULT_FAILS; fault <= FAULT_SHORT; fault++) {
        uint64_t call = 0;
        while (read_with_fault(path, (enum fault)fault, call, true))
            assert_true(++call < 1000);
    }
    unlink(path);
    free(bytes);
}

/* A pipe, for which memory has to grow; it has the name of a descriptor. */
static void pipes_are_read_or_refused(void **unused)
{
    (void)unused;
    signal(SIGPIPE, SIG_IGN); /* the reader may go before the writer */
    struct given_bytes longer = {.size = 200000};
    uint8_t *damaged = calloc(1, longer.size);
    assert_non_null(damaged);
    longer.bytes = damaged;
    size_t size;
    uint8_t *bytes = built_container_bytes(program, "launching", "sim4", &size);
    memcpy(damaged, bytes, size < longer.size ? size : longer.size);
    for (int fault = FAULT_FAILS; fault <= FAULT_SHORT; fault++) {
        bool hit = true;
        for (uint64_t call = 0; hit && call < 1000; call++) {
            char path[64];
            int ends[2];
            pthread_t thread;
            assert_int_equal(pipe(ends), 0);
            longer.fd = ends[1];
            snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
            assert_int_equal(pthread_create(&thread, NULL, write_all, &longer), 0);
            hit = read_with_fault(path, (enum fault)fault, call, false);
            close(ends[0]);
            pthread_join(thread, NULL);
        }
        assert_false(hit);
    }
    free(damaged);
    free(bytes);
}

static int entries_of(const char *folder)
{
    int count = -2; /* . and .. */
    DIR *open = opendir(folder);
    if (open == NULL) abort();
    while (readdir(open) != NULL)
        count++;
    closedir(open);
    return count;
}

static void images_are_loaded_or_refused(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "bounded", "sim4");
    for (int to_folder = 0; to_folder < 2; to_folder++) {
        char folder[] = "/tmp/test_load_faults.XXXXXX", command[64];
        assert_non_null(mkdtemp(folder));
        struct prt_image from;
        struct prt_error why = {0};
        arm(FAULT_FAILS, 0);
        assert_int_equal(prt_image_from_entries(&c, NULL, NULL, &from, &why), PRT_E_NOMEM);
        assert_true(disarm());
        if (to_folder) setenv("PIPERT_IMAGE_FOLDER", folder, 1);
        int loaded = 0;
        for (int fault = FAULT_FAILS; fault <= FAULT_SHORT; fault++) {
            bool hit = true;
            for (uint64_t call = 0; hit; call++) {
                struct prt_image image;
                struct prt_error error = {0};
                arm((enum fault)fault, call);
                enum prt_status status = prt_image_choose(&c, &image, &error);
                if (status == PRT_OK) status = prt_image_open(&c, &image, &error);
                hit = disarm();
                if (hit && fault == FAULT_FAILS && status != PRT_E_OPEN)
                    expect_told(status, PRT_E_NOMEM, to_folder ? PRT_E_WRITE : PRT_E_NOMEM, &error);
                else if (!hit || fault != FAULT_FAILS)
                    assert_int_equal(status, PRT_OK);
                prt_image_free(&image);
                loaded += to_folder && status == PRT_OK;
                assert_int_equal(entries_of(folder),
                                 loaded); /* what is not loaded leaves no file */
            }
        }
        unsetenv("PIPERT_IMAGE_FOLDER");
        snprintf(command, sizeof command, "rm -r '%s'", folder);
        /* NOLINTNEXTLINE(cert-env33-c,bugprone-command-processor): a folder of its own */
        assert_int_equal(system(command), 0);
    }
    prt_container_free(&c);
}

/* The names of entries for foreign code are put together; those of an image for a GPU are noted. */
static void entries_of_images_are_looked_for_or_memory_is_missing(void **unused)
{
    (void)unused;
    const struct container_foreign foreign = {.name = 0};
    for (int for_gpu = 0; for_gpu < 2; for_gpu++) {
        struct prt_container c = built_container(program, "bounded", for_gpu ? "cuda" : "sim4");
        bool hit = true;
        if (!for_gpu) c.foreign = &foreign;
        c.foreign_count = !for_gpu;
        for (uint64_t call = 0; hit; call++) {
            struct prt_image image = {.fd = -1};
            struct prt_error error = {0};
            arm(FAULT_FAILS, call);
            enum prt_status status =
                for_gpu ? prt_image_verify_all(&c, &error) : prt_image_choose(&c, &image, &error);
            if (status == PRT_OK && !for_gpu) status = prt_image_open(&c, &image, &error);
            hit = disarm();
            if (!for_gpu) prt_image_free(&image);
            if (hit && status != PRT_E_OPEN)
                expect_told(status, PRT_E_NOMEM, PRT_E_NOMEM, &error);
            else if (!hit)
                assert_int_equal(status, for_gpu ? PRT_OK : PRT_E_FORMAT);
        }
        c.foreign_count = 0;
        prt_container_free(&c);
    }
}

static void programs_are_replaced_or_not(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "chain", "sim4");
    uint8_t code[] = {SCHED_HALT};
    struct sched_program with = {
        .stage_count = c.stage_count, .code = code, .code_bytes = sizeof code};
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        struct prt_error error = {0};
        uint8_t *bytes = NULL;
        size_t size;
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_container_with_program(&c, &with, &bytes, &size, &error);
        free(bytes);
        hit = disarm();
        expect_missing_memory(hit, status, &error);
    }
    prt_container_free(&c);
}

/* ---- buffers, sub-devices ---- */

static void the_traffic_of_buffers_is_found_or_memory_is_missing(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "chain", "sim-h100");
    struct prt_kernel_object objects[32];
    struct devdesc description;
    assert_true(devdesc_builtin("sim-h100", &description) && 2 * c.stage_count <= 32);
    description.cache_bytes_per_cycle = 64;
    uint32_t *node_stage = calloc(c.node_count, sizeof *node_stage);
    struct core *core = prt_block_create(&c, 8, node_stage);
    assert_non_null(core);
    struct prt_bound_queue whole = {.cu_count = description.cu_count};
    const struct prt_bindings bindings = {.container = &c, .core = core, .queues = &whole};
    for (uint32_t i = 0; i < c.stage_count; i++)
        core_stage(core, i)->queue = 0;
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        memset(objects, 0, sizeof objects);
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_cached_buffers_find(&bindings, &description, objects);
        hit = disarm();
        assert_int_equal(status, hit ? PRT_E_NOMEM : PRT_OK);
        assert_int_equal(faults.blocks, 0);
        assert_int_equal(objects[0].cached_parts > 0, !hit);
    }
    free(core);
    free(node_stage);
    prt_container_free(&c);
}

static void buffers_are_made_or_not(void **unused)
{
    (void)unused;
    bool hit = true;
    uint64_t call = 0;
    for (; hit; call++) {
        struct core_fifo fifo;
        struct core_reader readers[2];
        struct prt_ring ring;
        struct prt_error error = {0};
        core_fifo_lay_out(&fifo, 4, 1000, readers, 2);
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_ring_create(&ring, &fifo, &error);
        bool made = status == PRT_OK;
        if (made) {
            status = prt_ring_enlarge(&ring, &fifo, 5000, &error);
            if (status != PRT_OK) assert_int_equal(core_fifo_room(&fifo), 1000);
        }
        prt_ring_destroy(&ring);
        hit = disarm();
        expect_missing_memory(hit, status, &error);
    }
    assert_int_equal(call, 5 + 5 + 1); /* twice memfd_create, ftruncate, three mappings; none */
}

static void expect_run_made_or_not(const struct prt_program *loaded, const char *device)
{
    struct prt_run_options options = {.device = device, .host_threads = 1};
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        struct prt_run *run = NULL;
        struct prt_error error = {0};
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_run_create(loaded, &options, &run, &error);
        prt_run_destroy(status == PRT_OK ? run : NULL);
        hit = disarm();
        assert_int_equal(faults.blocks, 0);
        if (!hit) assert_int_equal(status, PRT_OK);
        if (status != PRT_OK) assert_true(error.message[0] != '\0');
    }
}

/* The scheduler, the device and its queues, of programs with every kind of stage. */
static void runs_are_made_or_not(void **unused)
{
    (void)unused;
    for (int p = 0; p < PIPELINE_COUNT; p++) {
        size_t size;
        uint8_t *bytes = built_container_bytes(program, pipelines[p], "sim4", &size);
        struct prt_program *loaded = NULL;
        struct prt_error error = {0};
        assert_int_equal(prt_program_load_memory(bytes, size, &loaded, &error), PRT_OK);
        expect_run_made_or_not(loaded, "sim4");
        expect_run_made_or_not(loaded, "null");
        prt_program_free(loaded);
        free(bytes);
    }
}

/* Of 16,384 buffers and one, each has two mappings: more than Linux allows a process. */
static void very_many_buffers_say_what_bounds_them(void **unused)
{
    (void)unused;
    static const char told[] = "no memory for buffer 1 of 16385, each of which takes two memory "
                               "mappings: is vm.max_map_count above 32770?";
    const struct devdesc description = {
        .name = "d", .cu_count = 4, .lanes = 8, .cores_per_cu = 1, .max_sub_devices = 4};
    const struct prt_device_options options = {.description = &description, .host_threads = 1};
    struct prt_device *device;
    struct prt_error error = {0};
    assert_int_equal(prt_null_device.open(&options, &device, &error), PRT_OK);
    for (uint32_t count = 16384; count <= 16385; count++) {
        struct container_buffer *buffers = calloc(count, sizeof *buffers);
        const struct prt_container c = {.buffers = buffers, .buffer_count = count};
        bool is_told = false;
        assert_non_null(buffers);
        for (uint32_t i = 0; i < count; i++)
            buffers[i] = (struct container_buffer){.width_bytes = 4, .depth_packets = 1};
        for (uint64_t call = 0; call < 60 && !is_told; call++) {
            struct prt_sched *sched = NULL;
            error = (struct prt_error){0};
            arm(FAULT_FAILS, call);
            enum prt_status status =
                prt_sched_create(&c, NULL, &prt_null_device, device, &sched, &error);
            assert_true(disarm());
            assert_int_equal(status, PRT_E_NOMEM);
            is_told = strcmp(error.message, told) == 0;
            if (!is_told && strstr(error.message, "no memory for a buffer of 1 packets") == NULL)
                assert_string_equal(error.message, "out of memory");
        }
        assert_int_equal(is_told, count > 16384);
        free(buffers);
    }
    prt_null_device.close(device);
}

static void devices_are_made_or_not(void **unused)
{
    (void)unused;
    const uint32_t domains[4] = {0, 0, 1, 1};
    struct prt_device_description description = {
        .cu_count = 4, .subdevices_max = 4, .live_devices_max = 16, .schemes = PRT_SCHEME_EQUALLY};
    description.domain_of_cu[0] = domains;
    const int64_t equally[] = {PRT_PARTITION_EQUALLY, 1, 0};
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        struct prt_device_tree *tree = NULL;
        struct prt_device_handle made[4];
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_device_tree_create(&description, &tree);
        if (status == PRT_OK) {
            status =
                prt_create_sub_devices(tree, prt_device_tree_root(tree), equally, 4, made, NULL);
            if (status == PRT_OK) assert_true(prt_device_overlap(tree, made[1], made[1]));
            prt_device_tree_destroy(tree);
        }
        hit = disarm();
        assert_int_equal(faults.blocks, 0);
        assert_int_equal(status, hit ? PRT_E_OUT_OF_HOST_MEMORY : PRT_OK);
    }
}

static void trees_of_described_devices_are_made_or_not(void **unused)
{
    (void)unused;
    const struct devdesc description = {.cu_count = 4, .max_sub_devices = 4, .schemes = 0};
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        struct prt_device_tree *tree = NULL;
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_queue_tree_create(&description, &tree);
        if (status == PRT_OK) prt_device_tree_destroy(tree);
        hit = disarm();
        assert_int_equal(faults.blocks, 0);
        assert_int_equal(status, hit ? PRT_E_NOMEM : PRT_OK);
    }
}

TEST_MAIN("load_faults", cmocka_unit_test(loading_says_that_there_is_no_memory),
          cmocka_unit_test(counterexamples_say_that_there_is_no_memory),
          cmocka_unit_test(programs_of_all_instructions_need_memory),
          cmocka_unit_test(programs_are_refused_wherever_work_ends),
          cmocka_unit_test(files_are_read_or_refused), cmocka_unit_test(pipes_are_read_or_refused),
          cmocka_unit_test(images_are_loaded_or_refused),
          cmocka_unit_test(entries_of_images_are_looked_for_or_memory_is_missing),
          cmocka_unit_test(programs_are_replaced_or_not), cmocka_unit_test(buffers_are_made_or_not),
          cmocka_unit_test(the_traffic_of_buffers_is_found_or_memory_is_missing),
          cmocka_unit_test(runs_are_made_or_not),
          cmocka_unit_test(very_many_buffers_say_what_bounds_them),
          cmocka_unit_test(devices_are_made_or_not),
          cmocka_unit_test(trees_of_described_devices_are_made_or_not))
