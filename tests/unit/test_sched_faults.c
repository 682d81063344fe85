/* SPDX-License-Identifier: MIT */
/* Runs in which one thing goes wrong, or is asked, at each place in its turn: a call for memory or for a thread fails,
 * the device fails, the host fails, ends its stream, wants no more, interrupts the run, or asks how it stands.  A run
 * then ends with a status that says so; everything that it has given out is what the undisturbed run gives out; and
 * nothing is lost.  The linker leads these calls here (Makefile: SCHED_FAULTS_LD). */
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "runtime/sched/arrivals.h"
#include "runtime/sched/observer.h"
#include "runtime/host/pipert.h"
#include "runtime/host/pipert_choice.h"
#include "runtime/host/pipert_debug.h"
#include "runtime/host/pipert_internal.h"
#include "tests/conform/made_load.h"
#include "tests/unit/built_container.h"
#include "tests/unit/failing_calls.h"

/* ---- what happens ---- */

enum event {
    EVENT_CALL_FAILS,   /* a call for memory, a thread or a mutex */
    EVENT_DEVICE_FAILS, /* a call of the device */
    EVENT_HOST_FAILS,   /* a callback of a port */
    EVENT_HOST_LIES,    /* a source gives more packets than it was asked for */
    EVENT_HOST_ENDS,    /* a source ends there, a sink wants no more */
    EVENT_HOST_BREAKS,  /* from there on every callback fails */
    EVENT_HOST_GOES,    /* from there on every source ends and no sink wants more */
    EVENT_INTERRUPT,    /* from a callback, an observer or the device */
    EVENT_ASK,          /* how the run stands, from there */
    EVENT_KINDS
};

static struct {
    enum event event;
    struct prt_run *run;
    atomic_int_fast64_t left; /* before it happens */
    atomic_bool hit;
    char standing[65536]; /* the reported text */
    size_t standing_bytes;
    unsigned standings;
} now;

static void append_standing(void *context, const char *text, size_t size)
{
    (void)context;
    assert_true(size < sizeof now.standing - now.standing_bytes);
    memcpy(now.standing + now.standing_bytes, text, size);
    now.standing_bytes += size;
    now.standings += size == 0;
}

/* Does that kind of event happen now?  Also has done what any place can do. */
static bool happens(enum event event)
{
    if (now.run == NULL) return false;
    bool anywhere = now.event == EVENT_INTERRUPT || now.event == EVENT_ASK;
    bool goes = (now.event == EVENT_HOST_GOES && event == EVENT_HOST_ENDS) ||
                (now.event == EVENT_HOST_BREAKS && event == EVENT_HOST_FAILS);
    if (goes && now.hit) return true;
    if ((now.event != event && !anywhere && !goes) || atomic_fetch_sub(&now.left, 1) != 0)
        return false;
    now.hit = true;
    if (now.event == EVENT_INTERRUPT) prt_run_interrupt(now.run);
    if (now.event == EVENT_ASK) prt_run_tell_standing(now.run, append_standing, NULL);
    return !anywhere;
}

/* ---- the device ---- */

/* In flight on a device that takes one packet at a time; UINT32_MAX: it is none. */
static uint32_t launches_left = UINT32_MAX;
static const struct prt_device_ops *real_device;
static struct prt_device_ops device_that_fails;

static enum prt_status fail_to_enqueue(struct prt_device *device, uint32_t queue,
                                       const union dispatch_packet *packet, struct prt_error *error)
{
    if (happens(EVENT_DEVICE_FAILS)) return prt_error_set(error, PRT_E_DEVICE, "it has failed");
    if (launches_left != UINT32_MAX && launches_left > 0)
        return prt_error_set(error, PRT_E_BUSY, "it has a packet");
    enum prt_status status = real_device->enqueue(device, queue, packet, error);
    if (launches_left != UINT32_MAX && status == PRT_OK)
        launches_left =
            packet->condensed.header == DISPATCH_CONDENSED ? packet->condensed.num_kernels : 1;
    return status;
}

static enum prt_status fail_to_wait(struct prt_device *device, struct core_completion *completions,
                                    uint32_t capacity, uint32_t *count)
{
    *count = 0;
    if (happens(EVENT_DEVICE_FAILS)) return PRT_E_DEVICE;
    enum prt_status status = real_device->wait(device, completions, capacity, count);
    if (launches_left != UINT32_MAX) launches_left -= *count;
    return status;
}

/* One completion at a time, as the interface admits. */
static enum prt_status wait_for_one(struct prt_device *device, struct core_completion *completions,
                                    uint32_t capacity, uint32_t *count)
{
    (void)capacity;
    return fail_to_wait(device, completions, 1, count);
}

/* Runs with eager ports, in simulated time. */
static bool is_live;

static void say_that_time_is_real(const struct prt_device *device, struct prt_device_info *info)
{
    real_device->info(device, info);
    info->real_time = true;
}

static enum prt_status fail_to_create_queue(struct prt_device *device, struct prt_device_handle on,
                                            uint32_t importance, uint32_t *queue)
{
    if (fails(ENOMEM)) return PRT_E_NOMEM;
    return real_device->queue_create(device, on, importance, queue);
}

static enum prt_status fail_to_set_kernels(struct prt_device *device,
                                           const struct prt_kernel_object *objects, uint32_t count,
                                           uint32_t stage_count)
{
    if (fails(ENOMEM)) return PRT_E_NOMEM;
    return real_device->set_kernels(device, objects, count, stage_count);
}

/* NOLINTBEGIN(bugprone-reserved-identifier,misc-use-internal-linkage): the linker's names */
REAL(enum prt_status, prt_device_choose, const struct prt_container *container,
     const struct prt_run_options *options, struct prt_device_choice *choice,
     struct prt_error *error)
{
    enum prt_status status = __real_prt_device_choose(container, options, choice, error);
    if (status != PRT_OK) return status;
    real_device = choice->ops;
    device_that_fails = *real_device;
    device_that_fails.enqueue = fail_to_enqueue;
    device_that_fails.wait = options->host_threads == 1 ? wait_for_one : fail_to_wait;
    device_that_fails.queue_create = fail_to_create_queue;
    if (is_live) device_that_fails.info = say_that_time_is_real;
    device_that_fails.set_kernels = fail_to_set_kernels;
    choice->ops = &device_that_fails;
    return PRT_OK;
}

REAL(void *, mmap, void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    return fails(ENOMEM) ? MAP_FAILED : __real_mmap(at, size, access, flags, fd, offset);
}

REAL(int, munmap, void *at, size_t size)
{
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

REAL(int, pthread_mutex_init, pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    return fails(EAGAIN) ? EAGAIN : __real_pthread_mutex_init(mutex, attributes);
}

REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
     void *(*body)(void *), void *argument)
{
    return fails(EAGAIN) ? EAGAIN : __real_pthread_create(thread, attributes, body, argument);
}
/* NOLINTEND(bugprone-reserved-identifier,misc-use-internal-linkage) */

/* ---- programs ---- */

static const char text[] =
    "kernel sum3(in i32 x pop 3 peek 4, out i32 y) { y <- x[0] + x[1] + x[2] - x[3]; }\n"
    "kernel odd(in i32 x, out i32 y) { if (x % 2 != 0) y <- x; }\n"
    "kernel two(in i32 x pop 2, out i32 y push 2) { y <- x[1]; y <- x[0]; }\n"
    "kernel total(in i32 x, out i32 y) {\n"
    "  state i32 sum; init { sum = 7; } sum += x; y <- x; finish push 2 { y <- sum; y <- -sum; }\n"
    "}\n"
    "kernel fork(in i32 x, out i32 a, out i32 b) { a <- x; b <- 2 * x; }\n"
    "kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }\n"
    "kernel copy(in i32 x, out i32 y) { y <- x; }\n"
    "kernel trail(in i32 x, in i32 before window 3x3 border zero, out i32 y) {\n"
    "  i32 s = x;\n"
    "  for (i32 r = -1; r <= 1; r++) for (i32 c = -1; c <= 1; c++) s += before[r][c];\n"
    "  y <- s;\n"
    "}\n"
    "kernel turns(in i32 x pop {1, 2}, out i32 a push {2, 1}, out i32 b push {0, 3}) {\n"
    "  a <- x[0]; if (phase == 0) a <- 1; if (phase == 1) for (i32 i = 0; i < 3; i++) b <- x[1];\n"
    "}\n"
    "child kernel leaf(in i32 x, out i32 y) { y <- x + 1; }\n"
    "kernel grow(in i32 x, out i32 y push ..2) launches 1 { y <- x; if (x % 2 == 0) launch leaf(); "
    "}\n"
    "kernel tick(out i32 y push 3) {\n"
    "  state i32 n; for (i32 i = 0; i < 3; i++) { n++; y <- n; } if (n > 30) stop;\n"
    "}\n"
    "kernel show(in i32 x, out i32 y, out i32 shown) { y <- x + 1; shown <- x; }\n"
    "kernel hundredth(in i32 x, out i32 y) { y <- 100 / (19 - x); }\n"
    "kernel last(in i32 x, out i32 y) {\n"
    "  state i32 n; n = x; y <- x; finish push 1 { y <- 100 / (20 - n); }\n"
    "}\n"
    "kernel five(in i32 x, out i32 y) { state i32 n; n++; y <- x; if (n == 5) stop; }\n"
    "pipeline chain(in i32 x, out i32 y) {\n"
    "  buffer i32 t depth 2; x -> sum3 -> total -> t; t -> odd -> y;\n"
    "}\n"
    "pipeline forked(in i32 x, out i32 y, out i32 z) {\n"
    "  buffer i32 a depth 2, b depth 6; fork(x -> a, b); a -> total -> y; b -> two -> z;\n"
    "}\n"
    "pipeline picture(in i32 x frame 4x3, out i32 y) {\n"
    "  buffer i32 there, before init 12 x 0; trail(x, before -> there);\n"
    "  there -> copy -> before; there -> copy -> y;\n"
    "}\n"
    "pipeline phased(in i32 x, in i32 w, out i32 y) {\n"
    "  buffer i32 a, b, c, d init {5}; turns(x -> a, b); add(a, b -> c); add(c, d -> y);\n"
    "  w -> copy -> d;\n"
    "}\n"
    "kernel blur(in i32 x window 3x3 border zero, out i32 y) { y <- x[-1][0] + x[0][0] + x[1][0]; "
    "}\n"
    "kernel every(in i32 x pop {0, 2}, in i32 w, out i32 y) {\n"
    "  if (phase == 0) y <- w; else y <- x[0] + x[1];\n"
    "}\n"
    "pipeline paced(in i32 x frame 4x3, in i32 w, in i32 v, out i32 y, out i32 z) {\n"
    "  buffer i32 b; x -> blur -> b; every(b, w -> y); v -> copy -> z;\n"
    "}\n"
    "pipeline trees(in i32 x, out i32 y) { x -> grow -> two importance 9 -> y; }\n"
    "pipeline sources(out i32 y, out i32 z) {\n"
    "  buffer i32 p init {1, 1}, q, shown, ticks; tick(-> ticks); copy(p -> q);\n"
    "  show(q -> p, shown); add(ticks, shown -> y); ticks -> odd -> z;\n"
    "}\n"
    "pipeline faulting(in i32 x, out i32 y, out i32 z) { x -> hundredth -> copy -> y; x -> total "
    "-> "
    "z; }\n"
    "pipeline joined(in i32 x, in i32 w, out i32 y, out i32 z) {\n"
    "  buffer i32 a, b; hundredth(x -> a); add(a, w -> b); b -> five -> y; x -> copy -> z;\n"
    "}\n"
    "pipeline twice_spared(in i32 x, out i32 y, out i32 z) {\n"
    "  x -> hundredth -> five -> y; x -> copy -> hundredth -> five -> total -> z;\n"
    "}\n"
    "pipeline finishing(in i32 x, out i32 y, out i32 z, out i32 v) {\n"
    "  x -> hundredth -> five -> y; x -> last -> z; x -> last -> v;\n"
    "}\n"
    "pipeline even(in i32 x, out i32 y, out i32 z) {\n"
    "  buffer i32 a, b; fork(x -> a, b); a -> copy -> two -> y; b -> copy -> copy importance 3 -> "
    "two importance 3 -> z;\n"
    "}\n"
    "pipeline spared(in i32 x, out i32 y, out i32 z) { x -> hundredth -> five -> y; x -> total -> "
    "z; "
    "}\n";

enum { PACKETS = 36, PORTS = 5 };

static const struct pipeline {
    const char *name;
    bool sums;  /* where it ends shows in the packets at the end */
    bool small; /* with the smallest buffers and few packets, on a busy device */
} pipelines[] = {
    {"chain", true, false},    {"forked", true, false},      {"picture", false, false},
    {"phased", false, false},  {"trees", false, false},      {"sources", false, false},
    {"faulting", true, false}, {"spared", true, false},      {"spared", true, true},
    {"joined", true, true},    {"twice_spared", true, true}, {"even", false, true},
    {"paced", true, false},    {"finishing", true, true},
};

static const struct way {
    const char *device;
    uint32_t host_threads;
    bool measured, threads, at_hand, memory, debugged, eager;
    bool arrives; /* packets of two in-ports arrive in the course of the run */
    bool busy;    /* the device takes one packet at a time: for small buffers only */
    enum prt_dispatch_mode dispatch;
} ways[] = {
    {.device = "sim4", .host_threads = 1},
    {.device = "sim4", .host_threads = 2, .measured = true, .at_hand = true},
    {.device = "sim4", .host_threads = 1, .threads = true},
    {.device = "sim4", .host_threads = 1, .memory = true, .dispatch = PRT_DISPATCH_FULL},
    {.device = "sim4", .host_threads = 1, .debugged = true, .dispatch = PRT_DISPATCH_REFERENCE},
    {.device = "sim4", .host_threads = 1, .busy = true},
    {.device = "sim4", .host_threads = 1, .measured = true, .arrives = true},
    {.device = "sim4", .host_threads = 2, .measured = true, .arrives = true, .eager = true},
    {.device = "cpu:2"},
    {.device = "cpu:1", .measured = true, .threads = true},
    {.device = "cpu:2", .threads = true, .eager = true},
    {.device = "cpu:1", .measured = true, .eager = true},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- a run ---- */

static size_t given_packets = PACKETS;

struct port {
    int32_t packets[PACKETS * 8];
    size_t count; /* of an in-port: brought so far */
};

struct outcome {
    enum prt_status status;
    uint64_t cycles;
    char message[512];
    struct port out[PORTS];
};

static enum prt_status give_packets(void *context, void *packets, size_t capacity, size_t *count,
                                    struct prt_error *error)
{
    struct port *port = context;
    size_t left = given_packets - port->count;
    if (happens(EVENT_HOST_FAILS)) return prt_error_set(error, PRT_E_READ, "the host fails");
    *count = capacity + 1;
    if (happens(EVENT_HOST_LIES)) return PRT_OK;
    if (happens(EVENT_HOST_ENDS)) left = 0;
    *count = left < capacity ? left : capacity;
    if (*count > 7) *count = 7;
    memcpy(packets, port->packets + port->count, *count * sizeof port->packets[0]);
    port->count += *count;
    return PRT_OK;
}

static enum prt_status take_packets(void *context, const void *packets, size_t count,
                                    struct prt_error *error)
{
    struct port *port = context;
    if (happens(EVENT_HOST_FAILS)) return prt_error_set(error, PRT_E_WRITE, "the host fails");
    if (happens(EVENT_HOST_ENDS))
        return prt_error_set(error, PRT_E_CLOSED_PIPE, "it wants no more");
    assert_true(count <= sizeof port->packets / sizeof port->packets[0] - port->count);
    memcpy(port->packets + port->count, packets, count * sizeof port->packets[0]);
    port->count += count;
    return PRT_OK;
}

static void see_begin(void *context, const struct prt_run *run)
{
    (void)context;
    (void)run;
}

static void see_launch(void *context, const struct prt_launch_event *launch)
{
    (void)context;
    assert_true(launch->enqueued_cycles <= launch->begin_cycles &&
                launch->begin_cycles <= launch->end_cycles);
    (void)happens(EVENT_ASK);
}

static unsigned levels_seen;

static void see_level(void *context, const struct prt_level_event *level)
{
    (void)context;
    assert_true(level->packets <= level->depth_packets);
    levels_seen++;
    (void)happens(EVENT_ASK);
}

static void see_scheduler(void *context, const struct prt_scheduler_event *event)
{
    (void)context;
    assert_true(event->begin_cycles <= event->end_cycles);
    (void)happens(EVENT_ASK);
}

static void see_end(void *context, const struct prt_run *run, uint64_t total_cycles)
{
    (void)context;
    (void)run;
    (void)total_cycles;
}

static const struct prt_observer observer = {NULL,      see_begin,     see_launch,
                                             see_level, see_scheduler, see_end};

static void see_stop(void *context, const struct prt_stop *stop)
{
    (void)context;
    (void)stop;
    (void)happens(EVENT_ASK);
}

/* One packet a microsecond, at the first two of the ports. */
static enum prt_status let_arrive(struct prt_run *run, uint32_t port, struct prt_error *error)
{
    uint64_t cycles[PACKETS], packets[PACKETS];
    if (port > 1) return PRT_OK;
    for (size_t i = 0; i < PACKETS; i++) {
        cycles[i] = 1000 * (i + 1);
        packets[i] = 1;
    }
    if (port % 2 == 0) return prt_run_input_rate(run, port, 1000000, 1, error);
    return prt_run_input_arrivals(run, port, cycles, packets, PACKETS, NULL, error);
}

/* Ports of the program to the arrays; in-ports bring 0, 1, ... */
static enum prt_status bind(const struct prt_program *program, const struct way *way,
                            struct prt_run *run, struct port *in, struct port *out,
                            struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < prt_program_port_count(program) && status == PRT_OK; i++) {
        struct prt_port_information port;
        prt_program_port(program, i, &port);
        bool is_in = port.direction == PRT_PORT_IN;
        for (int32_t k = 0; k < PACKETS && is_in; k++)
            in[i].packets[k] = k;
        if (way->memory && is_in)
            status = prt_run_bind_input_memory(run, i, in[i].packets, PACKETS, error);
        else if (way->memory)
            status = prt_run_bind_output_memory(run, i, out[i].packets, PACKETS * 8, &out[i].count,
                                                error);
        else if (is_in)
            status = prt_run_bind_input(run, i, give_packets, &in[i], error);
        else /* binding again replaces */
            status = prt_run_bind_output(run, i, take_packets, &out[i], error) == PRT_OK &&
                             prt_run_bind_output(run, i, NULL, NULL, error) == PRT_OK
                         ? prt_run_bind_output(run, i, take_packets, &out[i], error)
                         : PRT_E_INTERNAL;
        for (int times = 0; times < 2 && status == PRT_OK && is_in && way->at_hand; times++)
            status = prt_run_input_at_hand(run, i, error);
        if (status == PRT_OK && is_in && way->arrives) status = let_arrive(run, i, error);
        if (status == PRT_OK && is_in && way->eager) status = prt_run_input_eager(run, i, error);
        if (status == PRT_OK && way->threads)
            status = prt_run_give_thread(run, i, NULL, NULL, error);
    }
    return status;
}

/* All figures can be asked for, whatever has happened: also of a run that was not measured. */
static void expect_statistics(const struct prt_run *run, struct outcome *o)
{
    struct prt_run_statistics total;
    struct prt_buffer_statistics buffer;
    struct prt_output_statistics output;
    struct prt_queue_statistics queue;
    uint64_t busy_cycles;
    prt_run_statistics(run, &total);
    o->cycles = total.total_cycles;
    for (uint32_t i = 0; prt_run_buffer(run, i, &buffer); i++)
        assert_true(buffer.leftover_packets <= buffer.packets + PACKETS);
    for (uint32_t i = 0; prt_run_output(run, i, &output); i++)
        assert_true(output.declared_least <= output.declared_most &&
                    output.observed_most <= output.declared_most);
    for (uint32_t i = 0; prt_run_queue(run, i, &queue); i++)
        assert_true(queue.busy_cycles <= total.total_cycles);
    for (uint32_t i = 0; prt_run_cu(run, i, &busy_cycles); i++)
        assert_true(busy_cycles <= total.total_cycles);
}

static enum prt_status execute(const struct prt_program *program, const struct way *way,
                               struct port *in, struct outcome *o, struct prt_error *error)
{
    const struct prt_run_options options = {.device = way->device,
                                            .host_threads = way->host_threads,
                                            .dispatch = way->dispatch,
                                            .observer = way->measured ? &observer : NULL};
    struct prt_run *run;
    struct prt_debugger *debugger = NULL;
    enum prt_status status = prt_run_create(program, &options, &run, error);
    if (status != PRT_OK) return status;
    now.run = run;
    if (way->debugged) status = prt_debugger_create(run, see_stop, NULL, &debugger, error);
    if (status == PRT_OK) status = bind(program, way, run, in, o->out, error);
    if (status == PRT_OK) status = prt_run_execute(run, error);
    expect_statistics(run, o);
    now.run = NULL;
    prt_debugger_destroy(debugger);
    prt_run_destroy(run);
    return status;
}

/* Runs the program; the event happens at its `turn`, UINT64_MAX: never.  False: it did not happen. */
static bool run_with(const struct prt_program *program, const struct way *way, enum event event,
                     uint64_t turn, struct outcome *o)
{
    static struct port in[PORTS];
    struct prt_error error = {.message = ""};
    memset(in, 0, sizeof in);
    memset(o, 0, sizeof *o);
    memset(&now, 0, sizeof now);
    launches_left = way->busy ? 0 : UINT32_MAX;
    now.event = event;
    now.left = turn == UINT64_MAX ? -1 : (int_fast64_t)turn;
    if (event == EVENT_CALL_FAILS) arm(FAULT_FAILS, turn);
    o->status = execute(program, way, in, o, &error);
    if (event == EVENT_CALL_FAILS) {
        now.hit = disarm();
        assert_int_equal(faults.blocks, 0);
    }
    memcpy(o->message, error.message, sizeof o->message);
    return now.hit;
}

/* ---- what is expected ---- */

static void expect_same_packets(const struct outcome *o, const struct outcome *whole)
{
    for (size_t i = 0; i < PORTS; i++) {
        assert_int_equal(o->out[i].count, whole->out[i].count);
        assert_memory_equal(o->out[i].packets, whole->out[i].packets,
                            o->out[i].count * sizeof o->out[i].packets[0]);
    }
}

static void expect_first_packets(const struct outcome *o, const struct outcome *whole)
{
    for (size_t i = 0; i < PORTS; i++) {
        assert_true(o->out[i].count <= whole->out[i].count);
        assert_memory_equal(o->out[i].packets, whole->out[i].packets,
                            o->out[i].count * sizeof o->out[i].packets[0]);
    }
}

static void expect_status(const struct outcome *o, const struct outcome *whole, enum prt_status one,
                          enum prt_status other)
{
    if (o->status != one && o->status != other && o->status != whole->status)
        fail_msg("status %d: %s", (int)o->status, o->message);
    if (o->status != PRT_OK) assert_true(o->message[0] != '\0');
}

/* Every stage and buffer has a line; all of it came at once. */
static void expect_standing(const struct prt_program *program)
{
    assert_int_equal(now.standings, 1);
    now.standing[now.standing_bytes] = '\0';
    assert_memory_equal(now.standing, "cycle ", 6);
    for (uint32_t i = 0; i < prt_program_port_count(program); i++) {
        struct prt_port_information port;
        char line[64];
        prt_program_port(program, i, &port);
        snprintf(line, sizeof line, "\n%s ", port.name);
        if (strstr(now.standing, line) == NULL) fail_msg("no '%s': %s", port.name, now.standing);
    }
}

/* A debugger stops at a fault at once; with eager ports packets do not come in large batches, so other ports may have
 * got fewer of them. */
static bool stops_soon(const struct way *way, const struct outcome *whole)
{
    return whole->status == PRT_E_FAULT && (way->debugged || way->eager);
}

static void expect(const struct prt_program *program, const struct pipeline *pipeline,
                   const struct way *way, enum event event, const struct outcome *o,
                   const struct outcome *whole)
{
    bool ends = event == EVENT_HOST_ENDS || event == EVENT_HOST_GOES || event == EVENT_INTERRUPT;
    if (!ends || !pipeline->sums) expect_first_packets(o, whole);
    switch (event) {
    case EVENT_CALL_FAILS: expect_status(o, whole, PRT_E_NOMEM, PRT_E_NOMEM); break;
    case EVENT_DEVICE_FAILS: expect_status(o, whole, PRT_E_DEVICE, PRT_E_DEVICE); break;
    case EVENT_HOST_BREAKS:
    case EVENT_HOST_FAILS: expect_status(o, whole, PRT_E_READ, PRT_E_WRITE); break;
    case EVENT_HOST_LIES: expect_status(o, whole, PRT_E_USAGE, PRT_E_USAGE); break;
    case EVENT_HOST_GOES:
    case EVENT_HOST_ENDS: expect_status(o, whole, PRT_OK, PRT_E_CLOSED_PIPE); break;
    case EVENT_INTERRUPT: expect_status(o, whole, PRT_OK, PRT_E_INTERRUPTED); break;
    case EVENT_ASK: expect_standing(program); break;
    case EVENT_KINDS: fail_msg("no event"); break;
    }
    if (event != EVENT_ASK && !(event == EVENT_CALL_FAILS && o->status == whole->status)) return;
    assert_int_equal(o->status, whole->status);
    if (!way->eager || way->arrives || !stops_soon(way, whole)) expect_same_packets(o, whole);
    if (strncmp(way->device, "sim", 3) == 0) assert_int_equal(o->cycles, whole->cycles);
}

/* Can it happen on that way?  How a run stands may be asked in its own thread only. */
static bool is_possible(const struct way *way, enum event event)
{
    bool port_event = event >= EVENT_HOST_FAILS && event <= EVENT_HOST_GOES;
    return !(way->memory && port_event) && !(way->threads && event == EVENT_ASK);
}

static struct prt_program *load(uint8_t *bytes, size_t size)
{
    struct prt_program *program = NULL;
    struct prt_error error;
    if (prt_program_load_memory(bytes, size, &program, &error) != PRT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    return program;
}

/* Compiled once for all tests: this takes longer than a hundred runs. */
static struct prt_program *program_of(size_t pipeline, bool debug_mode)
{
    static struct prt_program *programs[sizeof pipelines / sizeof pipelines[0]][2];
    const struct pipeline *p = &pipelines[pipeline];
    struct prt_program **program = &programs[pipeline][debug_mode];
    size_t size;
    if (*program != NULL) return *program;
    uint8_t *bytes = debug_mode ? built_debug_container_bytes(text, p->name, "sim4", &size)
                     : p->small ? built_small_container_bytes(text, p->name, "sim4", &size)
                                : built_container_bytes(text, p->name, "sim4", &size);
    return *program = load(bytes, size);
}

static void try_events(enum event event)
{
    static struct outcome first, whole, o;
    for (size_t p = 0; p < sizeof pipelines / sizeof pipelines[0]; p++) {
        bool small = pipelines[p].small;
        given_packets = small ? 21 : PACKETS;
        for (size_t w = 0; w < WAYS; w++) {
            if (!is_possible(&ways[w], event) || small != ways[w].busy) continue;
            const struct prt_program *program = program_of(p, ways[w].debugged);
            (void)run_with(program, &ways[w], EVENT_KINDS, UINT64_MAX, &whole);
            if (w == 0 || small) first = whole;
            expect_first_packets(&whole, &first);
            if (!stops_soon(&ways[w], &whole)) {
                assert_int_equal(whole.status, first.status);
                expect_same_packets(&whole, &first);
            } else if (ways[w].eager && !ways[w].arrives) {
                whole = first; /* no more than these; when they come is not in the program */
            }
            uint64_t step = draw_step() > 1 ? 7 : 1; /* each way begins with another turn */
            for (uint64_t turn = (p + w) % step; run_with(program, &ways[w], event, turn, &o);
                 turn += step) {
                assert_true(turn < 5000);
                expect(program, &pipelines[p], &ways[w], event, &o, &whole);
            }
        }
    }
}

static void programs_are_loaded_or_memory_is_missing(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = built_container_bytes(text, "phased", "sim4", &size);
    bool hit = true;
    for (uint64_t call = 0; hit; call++) {
        struct prt_program *program = NULL;
        struct prt_error error = {.message = ""};
        arm(FAULT_FAILS, call);
        enum prt_status status = prt_program_load_memory(bytes, size, &program, &error);
        if (status == PRT_OK) prt_program_free(program);
        hit = disarm();
        assert_int_equal(faults.blocks, 0);
        assert_int_equal(status, hit ? PRT_E_NOMEM : PRT_OK);
    }
    free(bytes);
}

static int32_t drop_packets(const struct kernel_batch *batch)
{
    (void)batch;
    return KERNEL_OK;
}

/* x -> a, with a sequence of one firing of a, after which a could go on: it shows nothing. */
static struct prt_program *counterexample(void)
{
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
    static const struct prt_image_kernel drop = {.run = drop_packets};
    struct made *m = made_create("stall", "sim4");
    made_input(m, made_node(m, "a", 0), made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN), 1,
               1);
    memcpy(m->certificate, words, sizeof words);
    m->certificate_count = sizeof words / sizeof *words;
    m->pipeline.flags = CONTAINER_PIPELINE_COUNTEREXAMPLE;
    made_loop(m);
    return made_load(m, &drop);
}

static void see_replay(void *context, const struct prt_replay_step *step)
{
    size_t *steps = context;
    assert_string_equal(step->node, "a");
    ++*steps;
}

static void counterexamples_are_replayed_or_say_why_not(void **unused)
{
    (void)unused;
    static const struct {
        enum event event;
        enum prt_status status;
    } cases[] = {{EVENT_CALL_FAILS, PRT_E_NOMEM},      {EVENT_DEVICE_FAILS, PRT_E_DEVICE},
                 {EVENT_HOST_FAILS, PRT_E_READ},       {EVENT_HOST_ENDS, PRT_E_VERIFY},
                 {EVENT_INTERRUPT, PRT_E_INTERRUPTED}, {EVENT_ASK, PRT_E_VERIFY}};
    static struct port in;
    struct prt_program *program = counterexample();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool hit = true;
        for (uint64_t turn = 0; hit; turn++) {
            struct prt_error error = {.message = ""};
            const struct prt_run_options options = {.host_threads = 2};
            struct prt_run *run;
            size_t steps = 0;
            in.count = 0;
            assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
            assert_int_equal(prt_run_bind_input(run, 0, give_packets, &in, &error), PRT_OK);
            memset(&now, 0, sizeof now);
            now.event = cases[i].event;
            now.left = (int_fast64_t)turn;
            now.run = run;
            if (now.event == EVENT_CALL_FAILS) arm(FAULT_FAILS, turn);
            enum prt_status status = prt_run_replay(run, see_replay, &steps, &error);
            hit = now.event == EVENT_CALL_FAILS ? disarm() : now.hit;
            if (status != PRT_E_VERIFY) assert_true(hit && status == cases[i].status);
            if (status == PRT_E_VERIFY && !hit)
                assert_non_null(strstr(error.message, "'a' can still fire"));
            assert_true(steps <= 1);
            prt_run_destroy(run);
        }
    }
    prt_program_free(program);
}

/* A replay has one schedule: it fills eager ports, too. */
static void a_replay_fills_eager_ports(void **unused)
{
    (void)unused;
    static struct port in;
    const struct prt_run_options options = {.device = "cpu:1"};
    struct prt_program *program = counterexample();
    struct prt_error error = {.message = ""};
    struct prt_run *run;
    size_t steps = 0;
    memset(&now, 0, sizeof now);
    given_packets = PACKETS;
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_packets, &in, &error), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, &error), PRT_OK);
    assert_int_equal(prt_run_replay(run, see_replay, &steps, &error), PRT_E_VERIFY);
    assert_non_null(strstr(error.message, "'a' can still fire"));
    assert_int_equal(steps, 1);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void runs_end_well_or_say_that_memory_or_a_thread_is_missing(void **unused)
{
    (void)unused;
    try_events(EVENT_CALL_FAILS);
}

static void runs_say_that_the_device_has_failed(void **unused)
{
    (void)unused;
    try_events(EVENT_DEVICE_FAILS);
}

static void runs_end_with_what_the_host_says(void **unused)
{
    (void)unused;
    try_events(EVENT_HOST_FAILS);
    try_events(EVENT_HOST_BREAKS);
}

static void sources_that_give_too_much_are_refused(void **unused)
{
    (void)unused;
    try_events(EVENT_HOST_LIES);
}

static void streams_may_end_anywhere(void **unused)
{
    (void)unused;
    try_events(EVENT_HOST_ENDS);
    try_events(EVENT_HOST_GOES);
}

static void runs_can_be_interrupted_anywhere(void **unused)
{
    (void)unused;
    try_events(EVENT_INTERRUPT);
}

static void runs_tell_how_they_stand_anywhere(void **unused)
{
    (void)unused;
    try_events(EVENT_ASK);
}

/* A writer's launch is taken back before its reader's: meanwhile the buffer would hold fewer packets than none.  see_level
 * compares. */
static void levels_stay_within_depths_while_launches_are_taken_back(void **unused)
{
    (void)unused;
    static const char *const names[] = {"faulting", "spared", "joined", "twice_spared"};
    static struct outcome o;
    for (size_t i = 0; i < 4; i++) {
        size_t size;
        uint8_t *bytes = built_container_bytes(text, names[i], "sim4", &size);
        struct prt_program *program = load(bytes, size);
        for (int mode = PRT_DISPATCH_CONDENSED; mode <= PRT_DISPATCH_FULL; mode++) {
            const struct way way = {.device = "sim4",
                                    .host_threads = 1, /* completions come one by one */
                                    .measured = true,
                                    .dispatch = (enum prt_dispatch_mode)mode};
            levels_seen = 0;
            (void)run_with(program, &way, EVENT_KINDS, UINT64_MAX, &o);
            assert_int_equal(o.status, i == 0 ? PRT_E_FAULT : PRT_OK); /* five packets are enough */
            assert_true(levels_seen > 0);
        }
        prt_program_free(program);
    }
}

/* ---- several open packets ---- */

static int32_t pass_packets(const struct kernel_batch *batch)
{
    memcpy(batch->out[0], batch->in[0], batch->count * sizeof(int32_t));
    return KERNEL_OK;
}

/* All of the first eight packets, then the even ones: its reader has launches of 8, 4, 4, ... firings. */
static int32_t thin_out(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    int32_t *y = batch->out[0];
    uint64_t count = 0;
    for (uint64_t i = 0; i < batch->count; i++)
        if (x[i] < 8 || x[i] % 2 == 0) y[count++] = x[i];
    batch->produced[0] = count;
    return KERNEL_OK;
}

static int32_t fault_at_five(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    for (uint64_t i = 0; i < batch->count; i++) {
        *batch->fault = (struct kernel_fault){.firing = batch->first_firing + i, .line = 1};
        if (x[i] == 5) return KERNEL_FAULT_DIVISION;
        ((int32_t *)batch->out[0])[i] = x[i];
    }
    return KERNEL_OK;
}

/* x -> first -> p, x -> second -> q, x -> thin -> t; t -> third, t -> fourth, t -> reader -> y.  On three queues: first
 * and third, second and fourth, which are spilled, and the others.
 *
 * `faults`: first and second take so long that third and fourth wait in open packets when the reader faults.  Else thin
 * takes the longest: packets of first and second are open, and refer to the reader's entry, when the reader stores
 * another launch there. */
static struct prt_program *open_packets(bool faults)
{
    enum { FIRST, SECOND, THIRD, FOURTH, READER, THIN, STAGES };
    const struct prt_image_kernel kernels[STAGES] = {
        [FIRST] = {.run = pass_packets},
        [SECOND] = {.run = pass_packets},
        [THIRD] = {.run = drop_packets},
        [FOURTH] = {.run = drop_packets},
        [READER] = {.run = faults ? fault_at_five : pass_packets},
        [THIN] = {.run = thin_out}};
    static const char *const names[] = {"first", "second", "third", "fourth", "reader", "thin"};
    struct made *m = made_create("open", "sim4");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    const uint32_t to[STAGES] = {
        [FIRST] = made_buffer(m, "p", SCALAR_I32, 64, CONTAINER_OUTER_OUT),
        [SECOND] = made_buffer(m, "q", SCALAR_I32, 64, CONTAINER_OUTER_OUT),
        [READER] = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT),
        [THIN] = t};
    for (uint32_t i = 0; i < STAGES; i++) {
        bool own = i >= READER, ends = i == THIRD || i == FOURTH;
        uint32_t node = made_node(m, names[i], i == READER && faults ? CONTAINER_NODE_FAULTS : 0);
        made_input(m, node, i == FIRST || i == SECOND || i == THIN ? x : t, 1, 1);
        if (!ends) made_output(m, node, to[i], 1, 0);
        bool slow = faults ? i == FIRST || i == SECOND : i == THIN;
        if (slow) m->nodes[node].cost_cycles = m->nodes[node].warp_cycles = 100000;
        m->stages[i].pack = i % 2;
        m->stages[i].place = i / 2;
        m->stages[i].entry = i == THIN;
        m->stages[i].flags = own ? CONTAINER_STAGE_ENDS_PACK : CONTAINER_STAGE_SPILLED;
    }
    m->outputs[m->output_count - 1].push_least = 0;
    made_program(m, "partition_counts 1 1 1\nbind 0, 0\nbind 1, 1\nbind 2, 0\nbind 3, 1\n"
                    "bind 4, 2\nload_reference 4\nbind 5, 2\nload_reference 5\nL1: ends\n"
                    "round_robin 0, L2\ndispatch\njump L1\nL2: wait L1\nhalt\n");
    return made_load(m, kernels);
}

static void a_device_that_fails_among_open_packets_ends_the_run(void **unused)
{
    (void)unused;
    static const struct way way = {.device = "sim4", .host_threads = 1};
    static struct outcome whole, o;
    given_packets = 32;
    for (int faults = 0; faults < 2; faults++) {
        struct prt_program *program = open_packets(faults);
        (void)run_with(program, &way, EVENT_KINDS, UINT64_MAX, &whole);
        assert_int_equal(whole.status, faults ? PRT_E_FAULT : PRT_OK);
        for (uint64_t turn = 0; run_with(program, &way, EVENT_DEVICE_FAILS, turn, &o); turn++) {
            assert_int_equal(o.status, PRT_E_DEVICE);
            expect_first_packets(&o, &whole);
        }
        prt_program_free(program);
    }
}

/* x -> a -> s -> b -> t -> c -> y on one queue.  a and c are a pack, so launches of a wait in an open packet; b has no
 * entry, so its launches are full packets, before which that one is sent. */
static struct prt_program *static_part(void)
{
    static const struct prt_image_kernel kernels[] = {
        {.run = pass_packets}, {.run = pass_packets}, {.run = pass_packets}};
    static const char *const names[] = {"a", "b", "c"};
    struct made *m = made_create("static", "sim4");
    const uint32_t buffers[] = {made_buffer(m, "x", SCALAR_I32, 16, CONTAINER_OUTER_IN),
                                made_buffer(m, "s", SCALAR_I32, 16, CONTAINER_INNER),
                                made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER),
                                made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_OUT)};
    for (uint32_t i = 0; i < 3; i++) {
        made_input(m, made_node(m, names[i], 0), buffers[i], 1, 1);
        made_output(m, i, buffers[i + 1], 1, 0);
    }
    m->stages[0].entry = m->stages[0].flags = 0;
    m->stages[2].entry = m->stages[2].place = 1;
    m->stages[2].pack = 0;
    made_program(m, "packets condensed\nbind_root 0\nload_reference 0\nbind_root 1\nbind_root 2\n"
                    "load_reference 2\n"
                    "L1: has_packets 0, 0, 8, L2\nhas_room 2, 0, 8, L2\nrun 0, 4\nfence\n"
                    "run 0, 2\nrun 0, 2\nrun 1, 4\nrun 1, 4\nrun 2, 8\nfence\njump L1\n"
                    "L2: wait L1\nL3: ends\nround_robin 0, L4\ndispatch\njump L3\n"
                    "L4: wait L3\nhalt\n");
    return made_load(m, kernels);
}

static void a_device_that_fails_in_a_static_part_ends_the_run(void **unused)
{
    (void)unused;
    static const struct way way = {.device = "sim4", .host_threads = 1};
    static struct outcome whole, o;
    given_packets = PACKETS;
    struct prt_program *program = static_part();
    (void)run_with(program, &way, EVENT_KINDS, UINT64_MAX, &whole);
    assert_int_equal(whole.status, PRT_OK);
    for (uint64_t turn = 0; run_with(program, &way, EVENT_DEVICE_FAILS, turn, &o); turn++) {
        assert_int_equal(o.status, PRT_E_DEVICE);
        expect_first_packets(&o, &whole);
    }
    prt_program_free(program);
}

static void lists_of_arrivals_need_memory(void **unused)
{
    (void)unused;
    const uint64_t cycles[] = {1, 2}, packets[] = {1, 1};
    struct prt_arrivals arrivals;
    size_t line;
    arm(FAULT_FAILS, 0);
    assert_int_equal(prt_arrivals_of_list(cycles, packets, 2, &arrivals, &line, NULL), PRT_E_NOMEM);
    assert_true(disarm());
    assert_int_equal(line, SIZE_MAX);
}

/* On the emulated GPU, whose scheduler gets the run as a whole. */
static void a_run_is_handed_over_or_memory_is_missing(void **unused)
{
    (void)unused;
    static struct outcome first, whole, o;
    size_t size;
    uint8_t *bytes = built_container_bytes(text, "chain", "cuda", &size);
    struct prt_program *program = load(bytes, size);
    given_packets = PACKETS;
    for (int memory = 0; memory < 2; memory++) {
        const struct way way = {.device = "cuda-emulated", .memory = memory};
        (void)run_with(program, &way, EVENT_KINDS, UINT64_MAX, &whole);
        if (whole.status != PRT_OK) fail_msg("%s", whole.message);
        if (!memory) first = whole;
        assert_true(whole.out[1].count > 0);
        expect_same_packets(&whole, &first);
        for (uint64_t turn = 0; run_with(program, &way, EVENT_CALL_FAILS, turn, &o); turn++) {
            expect_first_packets(&o, &whole);
            expect_status(&o, &whole, PRT_E_NOMEM, PRT_E_DEVICE);
        }
    }
    prt_program_free(program);
}

/* ---- eager ports ---- */

enum { FEW = 5, LONG_CYCLES = 3000000 };

/* Gives one packet at a time, each only once those before have come out. */
struct waiting_source {
    int32_t given;
    const struct port *out;
};

static enum prt_status give_few(void *context, void *packets, size_t capacity, size_t *count,
                                struct prt_error *error)
{
    struct waiting_source *s = context;
    (void)capacity;
    (void)error;
    assert_int_equal(s->out->count, s->given);
    *count = s->given < FEW ? 1 : 0;
    *(int32_t *)packets = s->given;
    s->given += *count > 0;
    return PRT_OK;
}

static enum prt_status count_packets(void *context, const void *packets, size_t count,
                                     struct prt_error *error)
{
    size_t *total = context;
    (void)packets;
    (void)error;
    *total += count;
    return PRT_OK;
}

static int32_t tick(const struct kernel_batch *batch)
{
    memset(batch->out[0], 0, batch->count * sizeof(int32_t));
    return KERNEL_OK;
}

/* x -> slow -> y, and tick -> z beside it: a port is asked again after many launches of tick, but not for a stage that is
 * still in flight. */
static void a_stage_in_flight_lacks_nothing(void **unused)
{
    (void)unused;
    static const struct prt_image_kernel kernels[] = {{.run = pass_packets}, {.run = tick}};
    static struct port y;
    const struct prt_run_options options = {.device = "sim4", .host_threads = 1};
    struct waiting_source source = {.out = &y};
    struct prt_error error;
    struct prt_run *run;
    size_t z = 0;
    struct made *m = made_create("beside", "sim4");
    uint32_t from = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t to = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    made_input(m, made_node(m, "slow", 0), from, 1, 1);
    made_output(m, 0, to, 1, 0);
    m->nodes[0].cost_cycles = m->nodes[0].warp_cycles = LONG_CYCLES;
    uint32_t ticks = made_buffer(m, "z", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    made_output(m, made_node(m, "tick", 0), ticks, 1, 0);
    made_side_by_side(m);
    struct prt_program *program = made_load(m, kernels);
    memset(&now, 0, sizeof now);
    launches_left = UINT32_MAX;
    is_live = true;
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    is_live = false;
    assert_int_equal(prt_run_bind_input(run, 0, give_few, &source, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, take_packets, &y, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, count_packets, &z, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    prt_run_limit_firings(run, 1000000);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(y.count, FEW);
    assert_int_equal(z, 1000000);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* With a debugger every port is filled, whatever it was asked for. */
static void a_debugger_fills_eager_ports(void **unused)
{
    (void)unused;
    static const struct way plain = {.device = "cpu:1"},
                            debugged = {.device = "cpu:1", .debugged = true, .eager = true};
    static struct outcome expected, o;
    given_packets = PACKETS;
    for (size_t p = 0; p < 4; p++) {
        (void)run_with(program_of(p, false), &plain, EVENT_KINDS, UINT64_MAX, &expected);
        (void)run_with(program_of(p, true), &debugged, EVENT_KINDS, UINT64_MAX, &o);
        assert_int_equal(o.status, PRT_OK);
        expect_same_packets(&o, &expected);
    }
}

TEST_MAIN("sched_faults", cmocka_unit_test(counterexamples_are_replayed_or_say_why_not),
          cmocka_unit_test(a_replay_fills_eager_ports),
          cmocka_unit_test(programs_are_loaded_or_memory_is_missing),
          cmocka_unit_test(runs_end_well_or_say_that_memory_or_a_thread_is_missing),
          cmocka_unit_test(runs_say_that_the_device_has_failed),
          cmocka_unit_test(runs_end_with_what_the_host_says),
          cmocka_unit_test(sources_that_give_too_much_are_refused),
          cmocka_unit_test(streams_may_end_anywhere),
          cmocka_unit_test(runs_can_be_interrupted_anywhere),
          cmocka_unit_test(runs_tell_how_they_stand_anywhere),
          cmocka_unit_test(levels_stay_within_depths_while_launches_are_taken_back),
          cmocka_unit_test(a_device_that_fails_among_open_packets_ends_the_run),
          cmocka_unit_test(a_device_that_fails_in_a_static_part_ends_the_run),
          cmocka_unit_test(lists_of_arrivals_need_memory),
          cmocka_unit_test(a_run_is_handed_over_or_memory_is_missing),
          cmocka_unit_test(a_stage_in_flight_lacks_nothing),
          cmocka_unit_test(a_debugger_fills_eager_ports))
