/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/stamped.h"

#include "lang/devdesc.h"
#include "lang/window.h"
#include "runtime/backend/cpu/cpu.h"
#include "runtime/backend/sim/sim.h"
#include "runtime/sched/sched.h"
#include "runtime/verify/verify.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { KERNELS_MAX = 64, PERIOD = 16, CYCLE_MAX = 4096, OUTPUTS_MAX = 256, INTERFACES_MAX = 64 };
#define MIX UINT64_C(0x9e3779b97f4a7c15)

struct device {
    const char *name;
    const struct prt_device_ops *ops;
    uint32_t host_threads;
};

static const struct device devices[] = {
    {"sim", &prt_sim_device, 1}, {"cpu:1", &prt_cpu_device, 1}, {"cpu:3", &prt_cpu_device, 3}};
enum { DEVICES = sizeof devices / sizeof *devices };

struct port { /* by buffer */
    uint64_t packets, hash;
};

/* The state of the run, for kernels and callbacks. */
static struct {
    const struct prt_container *c;
    const struct stamped_options *options;
    const char *device;
    struct prt_sched *sched;
    uint64_t written;
    bool interrupted;
    struct port *ports;
    bool *unchecked;                      /* by buffer: the packets of kernels that launch */
    uint64_t *cycle_packets;              /* by output: appended by a period of firings */
    atomic_uint_fast64_t *fired, *summed; /* by node: firings that count, and their numbers */
} now;

static void found(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void found(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "on %s: ", now.device);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n%s", now.options->text != NULL ? now.options->text : "");
    abort();
}

static const char *text_of(container_string string)
{
    return prt_container_text(now.c, string);
}

/* ---- stamps ---- */

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 31) * MIX;
    return value ^ value >> 29;
}

/* Byte `at` of the packet of that number in its stream. */
static uint8_t stamp_of(uint32_t buffer, uint64_t packet, uint64_t at)
{
    return (uint8_t)(mixed(mixed(packet + MIX * (buffer + 1)) + at / 8) >> 8 * (at % 8));
}

static uint8_t byte_of(uint32_t buffer, uint64_t packet, uint64_t at)
{
    const struct container_buffer *b = &now.c->buffers[buffer];
    if (packet >= b->initial_packets) return stamp_of(buffer, packet, at);
    uint64_t place = packet * b->width_bytes % b->initial_size_bytes;
    return ((const uint8_t *)now.c->initials)[b->initial_offset_bytes + place + at];
}

static void check_packets(const char *who, uint32_t buffer, const void *packets, uint64_t first,
                          uint64_t count)
{
    const struct container_buffer *b = &now.c->buffers[buffer];
    const uint8_t *at = packets;
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t k = 0; k < b->width_bytes; k++) {
            if (at[i * b->width_bytes + k] == byte_of(buffer, first + i, k)) continue;
            if (now.unchecked[buffer]) continue;
            found("'%s' finds something else than packet %" PRIu64 " of '%s', the %" PRIu64
                  ". of %" PRIu64,
                  who, first + i, text_of(b->name), i + 1, count);
        }
    }
}

static void write_packets(uint32_t buffer, void *packets, uint64_t first, uint64_t count)
{
    uint64_t width = now.c->buffers[buffer].width_bytes;
    uint8_t *at = packets;
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < width; k++)
            at[i * width + k] = stamp_of(buffer, first + i, k);
}

/* ---- rates ---- */

static uint64_t rate_at(const uint64_t *list, uint64_t one, uint32_t phases, uint64_t firing)
{
    return list != NULL ? list[firing % phases] : one;
}

static uint64_t total_of(const uint64_t *list, uint64_t cycle, uint32_t phases, uint64_t firings)
{
    uint64_t sum = firings / phases * cycle;
    for (uint64_t i = 0; i < firings % phases; i++)
        sum += list[i];
    return sum;
}

/* Packets that an input has consumed before a firing. */
static uint64_t consumed(const struct container_node *node, const struct container_input *input,
                         uint64_t firing)
{
    const uint64_t *pops = input->rates != CONTAINER_NONE ? now.c->rates + input->rates : NULL;
    return total_of(pops, input->pop, node->phases, firing);
}

static uint64_t most_of(const struct container_node *node, const struct container_output *output,
                        uint64_t firing)
{
    const uint64_t *list = output->rates != CONTAINER_NONE ? now.c->rates + output->rates : NULL;
    return rate_at(list != NULL ? list + node->phases : NULL, output->push, node->phases, firing);
}

/* Packets that a firing appends: any number that its rate admits, of a bundle so many shares. */
static uint64_t appended(uint32_t n, uint32_t o, uint64_t firing)
{
    const struct container_node *node = &now.c->nodes[n];
    const struct container_output *output = &now.c->outputs[node->first_output + o];
    const uint64_t *list = output->rates != CONTAINER_NONE ? now.c->rates + output->rates : NULL;
    uint64_t least = rate_at(list, output->push_least, node->phases, firing);
    uint64_t most = most_of(node, output, firing), share = output->share > 0 ? output->share : 1;
    uint64_t drawn = mixed(n + KERNELS_MAX * firing % (PERIOD * (uint64_t)node->phases) +
                           MIX * (output->bundle > 0 ? output->bundle : 1000 + o));
    return (least / share + drawn % ((most - least) / share + 1)) * share;
}

/* Before a firing; what is drawn repeats itself. */
static uint64_t appended_before(uint32_t n, uint32_t o, uint64_t firing)
{
    const struct container_node *node = &now.c->nodes[n];
    uint64_t period = PERIOD * (uint64_t)node->phases;
    uint64_t sum = firing / period * now.cycle_packets[node->first_output + o];
    for (uint64_t i = 0; i < firing % period; i++)
        sum += appended(n, o, i);
    return sum;
}

/* ---- kernels ---- */

static void check_plain(const struct container_node *node, uint32_t i,
                        const struct kernel_batch *batch)
{
    const struct container_input *input = &now.c->inputs[node->first_input + i];
    const uint64_t *pops = input->rates != CONTAINER_NONE ? now.c->rates + input->rates : NULL;
    uint64_t base = consumed(node, input, batch->first_firing), seen = 0, taken = 0;
    for (uint64_t f = batch->first_firing; f < batch->first_firing + batch->count; f++) {
        uint64_t peek =
            rate_at(pops != NULL ? pops + node->phases : NULL, input->peek, node->phases, f);
        if (taken + peek > seen) seen = taken + peek;
        taken += rate_at(pops, input->pop, node->phases, f);
    }
    check_packets(text_of(node->name), input->buffer, batch->in[i], base, seen);
}

/* A firing sees the packets of its frame up to its reach, as far as there are any. */
static void check_window(const struct container_node *node, uint32_t i,
                         const struct kernel_batch *batch)
{
    const struct container_input *input = &now.c->inputs[node->first_input + i];
    const struct container_buffer *buffer = &now.c->buffers[input->buffer];
    const struct kernel_window *window = &batch->windows[i];
    uint64_t width = buffer->row_packets, frame = width * buffer->frame_rows;
    uint64_t place = frame > 0 ? batch->first_firing % frame : batch->first_firing;
    if (window->place != place || window->first > place)
        found("'%s' has a window at place %" PRIu64 " of its frame, and not %" PRIu64,
              text_of(node->name), window->place, place);
    uint64_t end = place + batch->count;
    if (input->border != CONTAINER_BORDER_WRAP) {
        uint64_t reach = input->window_height / 2 * width + input->window_width / 2;
        uint64_t rows = buffer->frame_rows;
        if (window->rows != UINT64_MAX) rows = window->rows;
        uint64_t first = place > reach ? place - reach : 0;
        if (window->first > first) found("'%s' does not see what it may", text_of(node->name));
        end += reach;
        if (rows > 0 && end > rows * width) end = rows * width;
    }
    check_packets(text_of(node->name), input->buffer, batch->in[i],
                  batch->first_firing - place + window->first, end - window->first);
}

static void check_inputs(const struct container_node *node, const struct kernel_batch *batch)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (now.c->inputs[node->first_input + i].window_width > 0)
            check_window(node, i, batch);
        else
            check_plain(node, i, batch);
    }
}

static void check_zero(const struct container_node *node, const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] != 0) found("'%s' is given room that is not zero", text_of(node->name));
}

/* The firings that count, of those that the batch asks for. */
static uint64_t counting(const struct container_node *node, const struct kernel_batch *batch)
{
    uint64_t stop = now.options->stop_after;
    if (!(node->flags & CONTAINER_NODE_STOPS)) return batch->count;
    if (batch->first_firing > stop) found("'%s' fires after it stopped", text_of(node->name));
    uint64_t left = stop - batch->first_firing;
    return left < batch->count ? left : batch->count;
}

static void write_cycles(const struct container_node *node, const struct kernel_batch *batch)
{
    if (batch->warp_cycles == NULL) return;
    uint64_t warps =
        (batch->count + node->warp_firings - 1) / node->warp_firings * node->firing_warps;
    if (node->flags & CONTAINER_NODE_STATEFUL) warps = 1;
    for (uint64_t i = 0; i < warps; i++)
        batch->warp_cycles[i] = 1 + mixed(batch->first_firing + i) % 64;
}

static void write_output(uint32_t n, uint32_t o, const struct kernel_batch *batch, uint64_t count)
{
    const struct container_node *node = &now.c->nodes[n];
    const struct container_output *output = &now.c->outputs[node->first_output + o];
    const struct container_buffer *buffer = &now.c->buffers[output->buffer];
    uint64_t room = 0, packets = 0, most = 0;
    for (uint64_t f = batch->first_firing; f < batch->first_firing + batch->count; f++) {
        uint64_t one = appended(n, o, f);
        room += most_of(node, output, f);
        if (f >= batch->first_firing + count) continue;
        packets += one;
        if (one > most) most = one;
    }
    if (node->flags & CONTAINER_NODE_INDEXED)
        check_zero(node, batch->out[o], room * buffer->width_bytes);
    memset(batch->out[o], 0xa5, room * buffer->width_bytes);
    write_packets(output->buffer, batch->out[o],
                  buffer->initial_packets + appended_before(n, o, batch->first_firing), packets);
    if (batch->produced != NULL) batch->produced[o] = packets;
    if (batch->most != NULL && most > batch->most[o]) batch->most[o] = most;
}

/* Checks that the packets it wrote are still there. */
static void check_output(uint32_t n, uint32_t o, const struct kernel_batch *batch, uint64_t count)
{
    const struct container_node *node = &now.c->nodes[n];
    uint32_t buffer = now.c->outputs[node->first_output + o].buffer;
    uint64_t before = appended_before(n, o, batch->first_firing);
    check_packets(text_of(node->name), buffer, batch->out[o],
                  now.c->buffers[buffer].initial_packets + before,
                  appended_before(n, o, batch->first_firing + count) - before);
}

static int32_t run(uint32_t n, const struct kernel_batch *batch)
{
    const struct container_node *node = &now.c->nodes[n];
    uint64_t first = batch->first_firing, count = counting(node, batch);
    if (node->flags & CONTAINER_NODE_STATEFUL && atomic_load(&now.fired[n]) != first)
        found("'%s' fires out of order", text_of(node->name));
    check_inputs(node, batch);
    for (uint32_t o = 0; o < node->output_count; o++)
        write_output(n, o, batch, count);
    check_inputs(node, batch);
    for (uint32_t o = 0; o < node->output_count; o++)
        check_output(n, o, batch, count);
    write_cycles(node, batch);
    atomic_fetch_add(&now.fired[n], count);
    for (uint64_t f = first; f < first + count; f++)
        atomic_fetch_add(&now.summed[n], mixed(f));
    if (batch->completed != NULL) *batch->completed = count;
    return count == batch->count ? KERNEL_OK : KERNEL_STOPPED;
}

/* The tail of its stream, as far as it has been left to it. */
static int32_t finish(uint32_t n, const struct kernel_batch *batch)
{
    const struct container_node *node = &now.c->nodes[n];
    uint64_t fired = atomic_load(&now.fired[n]);
    const struct container_input *input = &now.c->inputs[node->first_input];
    if (node->input_count == 1 && input->window_width == 0)
        check_packets(text_of(node->name), input->buffer, batch->in[0],
                      consumed(node, input, fired), batch->left[0]);
    for (uint32_t o = 0; o < node->output_count; o++) {
        const struct container_output *output = &now.c->outputs[node->first_output + o];
        const struct container_buffer *buffer = &now.c->buffers[output->buffer];
        uint64_t packets = mixed(n + MIX * o) % (output->finish_max + 1);
        memset(batch->out[o], 0x5a, output->finish_max * buffer->width_bytes);
        write_packets(output->buffer, batch->out[o],
                      buffer->initial_packets + appended_before(n, o, fired), packets);
        batch->produced[o] = packets;
    }
    if (batch->warp_cycles != NULL) batch->warp_cycles[0] = 7;
    *batch->completed = 0;
    return KERNEL_OK;
}

static int32_t init(uint32_t n, const struct kernel_batch *batch)
{
    const struct container_node *node = &now.c->nodes[n];
    memset(batch->tables, (int)(1 + n), node->tables_bytes);
    memset(batch->state, (int)(1 + n), node->state_bytes);
    return KERNEL_OK;
}

/* ---- kernels that launch kernels ---- */

/* Of what one firing's body may append, so much that the node's rate admits all of its tree. */
static uint64_t own_packets(const struct container_interface *f, uint32_t o)
{
    uint64_t room = now.c->interface_ports[f->first_port + f->in_count + o].packets;
    if (f->node == CONTAINER_NONE) return room > 0;
    const struct container_node *node = &now.c->nodes[f->node];
    uint64_t children = f->launches > 0 && f->launch_count > 0;
    uint64_t most = now.c->outputs[node->first_output + o].push;
    most = most > children ? most - children : 0;
    return room < most ? room : most;
}

/* A root launches its first child once; a child nothing. */
static int32_t run_launching(uint32_t number, const struct kernel_batch *batch)
{
    const struct container_interface *f = &now.c->interfaces[number];
    struct kernel_launch_list *list = batch->launches;
    for (uint32_t o = 0; o < f->out_count; o++) {
        const struct container_interface_port *port =
            &now.c->interface_ports[f->first_port + f->in_count + o];
        uint64_t packets = own_packets(f, o);
        memset(batch->out[o], 0xa5, port->packets * port->width_bytes);
        memset(batch->out[o], (int)(batch->first_firing % 251), packets * port->width_bytes);
        batch->produced[o] = packets;
    }
    if (batch->warp_cycles != NULL)
        for (uint32_t i = 0; i < f->firing_warps; i++)
            batch->warp_cycles[i] = 1 + batch->first_firing % 9 + i;
    if (f->node == CONTAINER_NONE) return KERNEL_OK;
    check_inputs(&now.c->nodes[f->node], batch);
    atomic_fetch_add(&now.fired[f->node], 1);
    atomic_fetch_add(&now.summed[f->node], mixed(batch->first_firing));
    if (f->launch_count == 0 || list->capacity == 0) return KERNEL_OK;
    memcpy(list->entries, list->interfaces, list->stride_bytes);
    list->count = 1;
    return KERNEL_OK;
}

/* Does a firing of it, with one launch, append as many packets as it has to? */
static bool keeps_rates(const struct container_interface *f)
{
    if (f->node == CONTAINER_NONE) return true;
    const struct container_node *node = &now.c->nodes[f->node];
    for (uint32_t o = 0; o < f->out_count; o++) {
        const struct container_output *output = &now.c->outputs[node->first_output + o];
        if (node->phases > 1 || own_packets(f, o) < output->push_least) return false;
    }
    return true;
}

/* ---- entries: code has no other way to know whose it is ---- */

#define EIGHT(M, a) M(a##0) M(a##1) M(a##2) M(a##3) M(a##4) M(a##5) M(a##6) M(a##7)
#define ALL(M)                                                                                     \
    EIGHT(M, 00)                                                                                   \
    EIGHT(M, 01) EIGHT(M, 02) EIGHT(M, 03) EIGHT(M, 04) EIGHT(M, 05) EIGHT(M, 06) EIGHT(M, 07)
#define ENTRIES_OF(n)                                                                              \
    static int32_t run_##n(const struct kernel_batch *batch)                                       \
    {                                                                                              \
        return run(n, batch);                                                                      \
    }                                                                                              \
    static int32_t init_##n(const struct kernel_batch *batch)                                      \
    {                                                                                              \
        return init(n, batch);                                                                     \
    }                                                                                              \
    static int32_t finish_##n(const struct kernel_batch *batch)                                    \
    {                                                                                              \
        return finish(n, batch);                                                                   \
    }                                                                                              \
    static int32_t launching_##n(const struct kernel_batch *batch)                                 \
    {                                                                                              \
        return run_launching(n, batch);                                                            \
    }
#define KERNEL_OF(n) {run_##n, init_##n, finish_##n},
#define LAUNCHING_OF(n) launching_##n,
ALL(ENTRIES_OF)
static const struct prt_image_kernel kernels[KERNELS_MAX] = {ALL(KERNEL_OF)};
static const kernel_entry launching[INTERFACES_MAX] = {ALL(LAUNCHING_OF)};

/* ---- the host ---- */

static enum prt_status read_some(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    uint32_t buffer = (uint32_t)((struct port *)context - now.ports);
    struct port *port = context;
    uint64_t left = now.options->packets_in - port->packets;
    uint64_t piece = now.options->piece > 0 ? now.options->piece : UINT64_MAX;
    (void)error;
    *count = (size_t)(left < capacity ? left : capacity);
    if (*count > piece) *count = (size_t)piece;
    write_packets(buffer, packets, now.c->buffers[buffer].initial_packets + port->packets, *count);
    port->packets += *count;
    return PRT_OK;
}

static enum prt_status write_some(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct port *port = context;
    uint32_t buffer = (uint32_t)(port - now.ports);
    const uint8_t *bytes = packets;
    (void)error;
    check_packets("the host", buffer, packets, port->packets, count);
    for (uint64_t i = 0; i < count * now.c->buffers[buffer].width_bytes; i++)
        port->hash = mixed(port->hash + bytes[i] + 1);
    port->packets += count;
    now.written += count;
    if (now.written < now.options->interrupt_at) return PRT_OK;
    now.interrupted = true;
    prt_sched_interrupt(now.sched);
    return PRT_OK;
}

static void on_alarm(int signal)
{
    (void)signal;
    now.interrupted = true;
    if (now.sched != NULL) prt_sched_interrupt(now.sched);
}

/* libFuzzer has an alarm of its own. */
struct alarm {
    struct sigaction before;
    struct itimerval other;
};

static void alarm_begin(struct alarm *alarm)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value = {.tv_usec = now.options->alarm_milliseconds * 1000}};
    if (now.options->alarm_milliseconds == 0) return;
    sigaction(SIGALRM, &action, &alarm->before);
    setitimer(ITIMER_REAL, &soon, &alarm->other);
}

static void alarm_end(const struct alarm *alarm)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    if (now.options->alarm_milliseconds == 0) return;
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &alarm->before, NULL);
    setitimer(ITIMER_REAL, &alarm->other, NULL);
}

/* ---- runs ---- */

static void must(enum prt_status status, const struct prt_error *error)
{
    if (status != PRT_OK) found("%s: %s", prt_status_name(status), error->message);
}

static void bind(void)
{
    const struct prt_container *c = now.c;
    for (uint32_t b = 0; b < c->buffer_count; b++) {
        if (c->buffers[b].outer == CONTAINER_OUTER_IN)
            prt_sched_bind_source(now.sched, b, read_some, &now.ports[b]);
        if (c->buffers[b].outer == CONTAINER_OUTER_OUT)
            prt_sched_bind_sink(now.sched, b, write_some, &now.ports[b]);
    }
}

/* Every firing has been executed, and once. */
static void check_firings(void)
{
    for (uint32_t i = 0; i < now.c->stage_count; i++) {
        uint32_t n = now.c->stages[i].node;
        uint64_t firings = now.sched->stages[i].firings, sum = 0;
        for (uint64_t f = 0; f < firings; f++)
            sum += mixed(f);
        if (atomic_load(&now.fired[n]) != firings || atomic_load(&now.summed[n]) != sum)
            found("'%s' has fired %" PRIu64 " times, or some firings twice; the scheduler counts "
                  "%" PRIu64,
                  text_of(now.c->nodes[n].name), (uint64_t)atomic_load(&now.fired[n]), firings);
    }
}

/* How it ended: other statuses than these are findings. */
static enum prt_status execute(const struct device *on, const struct devdesc *description,
                               const struct prt_image *image)
{
    struct prt_device_options options = {.description = description,
                                         .host_threads = on->host_threads};
    struct prt_device *device = NULL;
    struct prt_error error = {0};
    struct alarm alarm;
    now.device = on->name;
    now.written = 0;
    now.interrupted = false;
    for (uint32_t n = 0; n < now.c->node_count; n++) {
        atomic_store(&now.fired[n], 0);
        atomic_store(&now.summed[n], 0);
    }
    must(on->ops->open(&options, &device, &error), &error);
    enum prt_status status = prt_sched_create(now.c, image, on->ops, device, &now.sched, &error);
    if (status == PRT_E_DEVICE || status == PRT_E_NOMEM) { /* it does not fit this device */
        on->ops->close(device);
        return status;
    }
    must(status, &error);
    bind();
    prt_sched_limit_firings(now.sched, now.options->firings);
    alarm_begin(&alarm);
    must(prt_sched_start(now.sched, NULL, &error), &error);
    status = prt_sched_run(now.sched, &error);
    alarm_end(&alarm);
    bool interrupted = now.interrupted && status == PRT_E_INTERRUPTED;
    bool stalled = now.options->may_stall && status == PRT_E_STALL;
    bool unfit = status == PRT_E_DEVICE; /* nor does its partition */
    if (!interrupted && !stalled && !unfit) must(status, &error);
    check_firings();
    on->ops->close(device);
    prt_sched_destroy(now.sched);
    now.sched = NULL;
    return status;
}

static void compare_ports(const struct port *first)
{
    for (uint32_t b = 0; b < now.c->buffer_count; b++) {
        if (now.c->buffers[b].outer != CONTAINER_OUTER_OUT) continue;
        if (first[b].packets != now.ports[b].packets || first[b].hash != now.ports[b].hash)
            found("%" PRIu64 " packets of '%s', and %" PRIu64 " others on %s", now.ports[b].packets,
                  text_of(now.c->buffers[b].name), first[b].packets, devices[0].name);
    }
}

static bool is_supported(const struct prt_container *c)
{
    if (c->node_count > KERNELS_MAX || c->interface_count > INTERFACES_MAX) return false;
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->nodes[n].phases > CYCLE_MAX || c->nodes[n].output_count > OUTPUTS_MAX) return false;
    for (uint32_t i = 0; i < c->interface_count; i++)
        if (!keeps_rates(&c->interfaces[i])) return false;
    return true;
}

static void prepare(void)
{
    const struct prt_container *c = now.c;
    for (uint32_t n = 0; n < c->node_count; n++) {
        const struct container_node *node = &c->nodes[n];
        for (uint32_t o = 0; o < node->output_count; o++) {
            const struct container_output *output = &c->outputs[node->first_output + o];
            if (node->flags & CONTAINER_NODE_LAUNCHES) now.unchecked[output->buffer] = true;
            for (uint64_t f = 0; f < PERIOD * (uint64_t)node->phases; f++)
                now.cycle_packets[node->first_output + o] += appended(n, o, f);
        }
    }
}

static void make_image(const struct prt_container *c, struct prt_image *image)
{
    struct prt_image_kernel entries[KERNELS_MAX + INTERFACES_MAX];
    struct prt_error error = {0};
    memcpy(entries, kernels, c->node_count * sizeof *entries);
    for (uint32_t i = 0; i < c->interface_count; i++) {
        entries[c->node_count + i] = (struct prt_image_kernel){.run = launching[i]};
        if (c->interfaces[i].node != CONTAINER_NONE)
            entries[c->interfaces[i].node].run = launching[i];
    }
    must(prt_image_from_entries(c, entries, NULL, image, &error), &error);
}

static void run_on_all(const struct devdesc *description)
{
    const struct prt_container *c = now.c;
    struct prt_image image;
    struct port *first = calloc(c->buffer_count + (size_t)1, sizeof *first);
    bool comparable = true;
    make_image(c, &image);
    for (uint32_t d = 0; d < DEVICES && first != NULL; d++) {
        memset(now.ports, 0, c->buffer_count * sizeof *now.ports);
        enum prt_status status = execute(&devices[d], description, &image);
        comparable = comparable && status == PRT_OK && !now.interrupted;
        if (d == 0) memcpy(first, now.ports, c->buffer_count * sizeof *first);
        if (comparable) compare_ports(first);
    }
    prt_image_free(&image);
    free(first);
}

void stamped_run(const struct prt_container *container, const struct stamped_options *options)
{
    const struct prt_container *c = container;
    struct devdesc description;
    struct prt_error error;
    now.c = c;
    now.options = options;
    now.device = "no device";
    if (!is_supported(c) ||
        !devdesc_builtin(prt_container_text(c, c->device->name), &description) ||
        devdesc_hash(&description) != c->device->description_hash ||
        prt_verify_device(c, &description, &error) != PRT_OK)
        return;
    now.ports = calloc(c->buffer_count + (size_t)1, sizeof *now.ports);
    now.unchecked = calloc(c->buffer_count + (size_t)1, sizeof *now.unchecked);
    now.cycle_packets = calloc(c->output_count + (size_t)1, sizeof *now.cycle_packets);
    now.fired = calloc(c->node_count + (size_t)1, sizeof *now.fired);
    now.summed = calloc(c->node_count + (size_t)1, sizeof *now.summed);
    if (now.ports != NULL && now.unchecked != NULL && now.cycle_packets != NULL &&
        now.fired != NULL && now.summed != NULL) {
        prepare();
        run_on_all(&description);
    }
    free(now.ports);
    free(now.unchecked);
    free(now.cycle_packets);
    free(now.fired);
    free(now.summed);
}
