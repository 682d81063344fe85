/* SPDX-License-Identifier: MIT */
#include "runtime/host/pipert.h"

#include "base/array_allocate.h"
#include "model/tree_device.h"
#include "runtime/device/host_quota.h"
#include "runtime/device/host_thread.h"
#include "runtime/device/kernel_call.h"
#include "runtime/load/deepen.h"
#include "runtime/load/image.h"
#include "runtime/load/reader.h"
#include "runtime/verify/verify.h"
#include "runtime/host/pipert_choice.h"
#include "runtime/host/pipert_internal.h"
#include "runtime/host/pipert_run.h"
#include "runtime/sched/arrivals.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/explain.h"
#include "runtime/sched/memory_port.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/sched_replay.h"
#include "runtime/sched/sched.h"
#include "runtime/sched/run_state.h"
#include "runtime/sched/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

/* ---- programs ---- */

static enum prt_status find_ports(struct prt_program *program, struct prt_error *error)
{
    const struct prt_container *c = &program->container;
    program->ports = array_allocate(c->buffer_count, sizeof *program->ports);
    if (program->ports == NULL) return NO_MEMORY(error);
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].outer != CONTAINER_INNER) program->ports[program->port_count++] = i;
    }
    return PRT_OK;
}

struct entries {
    const struct prt_image_kernel *nodes;
    kernel_arguments_entry arguments;
};

/* Checks a container and makes a program of it, which owns the container; frees it after an error.  `entries` NULL: the
 * container's own image. */
static enum prt_status finish_load(struct prt_container *container, const struct entries *entries,
                                   struct prt_program **program, struct prt_error *error)
{
    struct prt_program *made = calloc(1, sizeof *made);
    if (made == NULL) {
        prt_container_free(container);
        return NO_MEMORY(error);
    }
    made->container = *container;
    made->image = calloc(1, sizeof *made->image);
    enum prt_status status = made->image != NULL ? PRT_OK : NO_MEMORY(error);
    if (status == PRT_OK) status = prt_verify(&made->container, error);
    if (status == PRT_OK) status = find_ports(made, error);
    if (status == PRT_OK && entries == NULL)
        status = prt_image_choose(&made->container, made->image, error);
    else if (status == PRT_OK)
        status = prt_image_from_entries(&made->container, entries->nodes, entries->arguments,
                                        made->image, error);
    if (status != PRT_OK) {
        prt_program_free(made);
        return status;
    }
    *program = made;
    return PRT_OK;
}

enum prt_status prt_program_load_file(const char *path, struct prt_program **program,
                                      struct prt_error *error)
{
    struct prt_container container;
    enum prt_status status = prt_container_read_file(path, &container, error);
    if (status != PRT_OK) return status;
    struct prt_error inner;
    status = finish_load(&container, NULL, program, &inner);
    if (status != PRT_OK)
        prt_error_set_at(error, status, inner.offset, "%s: %s", path, inner.message);
    return status;
}

enum prt_status prt_program_load_memory(const void *bytes, size_t size,
                                        struct prt_program **program, struct prt_error *error)
{
    struct prt_container container;
    enum prt_status status = prt_container_read_memory(bytes, size, &container, error);
    return status == PRT_OK ? finish_load(&container, NULL, program, error) : status;
}

enum prt_status prt_program_load_with_entries(const void *bytes, size_t size,
                                              const struct prt_image_kernel *nodes,
                                              kernel_arguments_entry arguments,
                                              struct prt_program **program, struct prt_error *error)
{
    struct prt_container container;
    struct entries entries = {nodes, arguments};
    enum prt_status status = prt_container_read_memory(bytes, size, &container, error);
    return status == PRT_OK ? finish_load(&container, &entries, program, error) : status;
}

void prt_program_free(struct prt_program *program)
{
    if (program == NULL) return;
    if (program->image != NULL) prt_image_free(program->image);
    free(program->image);
    prt_container_free(&program->container);
    free(program->ports);
    free(program);
}

void prt_program_information(const struct prt_program *program,
                             struct prt_program_information *information)
{
    const struct prt_container *c = &program->container;
    const struct container_image *image = program->image->chosen;
    *information = (struct prt_program_information){
        .name = prt_container_text(c, c->pipeline->name),
        .device = prt_container_text(c, c->device->name),
        .isa = image != NULL ? prt_container_text(c, image->isa) : "",
        .compiler = prt_container_text(c, c->pipeline->compiler),
        .stage_count = c->stage_count,
        .buffer_count = c->buffer_count,
        .port_count = program->port_count,
        .argument_count = c->argument_count,
        .memory_bytes = c->pipeline->memory_bytes,
        .counterexample = (c->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE) != 0,
    };
}

const char *prt_program_foreign_kernel(const struct prt_program *program, uint32_t index)
{
    const struct prt_container *c = &program->container;
    return index < c->foreign_count ? prt_container_text(c, c->foreign[index].name) : NULL;
}

bool prt_program_kernel(const struct prt_program *program, uint32_t index,
                        struct prt_kernel_information *information)
{
    const struct prt_container *c = &program->container;
    if (index >= c->node_count) return false;
    const struct container_node *node = &c->nodes[index];
    *information = (struct prt_kernel_information){.name = prt_container_text(c, node->name),
                                                   .input_count = node->input_count,
                                                   .output_count = node->output_count};
    return true;
}

const char *prt_program_library(const struct prt_program *program, uint32_t index)
{
    const struct prt_container *c = &program->container;
    return index < c->library_count ? prt_container_text(c, c->libraries[index].name) : NULL;
}

void prt_program_allow_library(struct prt_program *program, const char *name)
{
    prt_image_allow(&program->container, program->image, name);
}

uint32_t prt_program_port_count(const struct prt_program *program)
{
    return program->port_count;
}

bool prt_program_port(const struct prt_program *program, uint32_t port,
                      struct prt_port_information *information)
{
    const struct prt_container *c = &program->container;
    if (port >= program->port_count) return false;
    const struct container_buffer *buffer = &c->buffers[program->ports[port]];
    *information = (struct prt_port_information){
        .name = prt_container_text(c, buffer->name),
        .direction = buffer->outer == CONTAINER_OUTER_IN ? PRT_PORT_IN : PRT_PORT_OUT,
        .type = prt_container_text(c, buffer->type_text),
        .scalar = (enum scalar_type)buffer->scalar,
        .width_bytes = buffer->width_bytes,
        .row_packets = buffer->row_packets,
        .frame_rows = buffer->frame_rows,
        .field_count = buffer->field_count,
    };
    return true;
}

bool prt_program_port_field(const struct prt_program *program, uint32_t port, uint32_t field,
                            struct prt_field_information *information)
{
    const struct prt_container *c = &program->container;
    if (port >= program->port_count) return false;
    const struct container_buffer *buffer = &c->buffers[program->ports[port]];
    if (field >= buffer->field_count) return false;
    const struct container_field *record = &c->fields[buffer->first_field + field];
    *information = (struct prt_field_information){
        .name = prt_container_text(c, record->name),
        .scalar = (enum scalar_type)record->scalar,
        .offset_bytes = record->offset_bytes,
        .count = record->count,
        .shape = prt_container_text(c, record->shape),
        .lanes = record->lanes,
    };
    return true;
}

uint32_t prt_program_find_port(const struct prt_program *program, const char *name)
{
    const struct prt_container *c = &program->container;
    for (uint32_t i = 0; i < program->port_count; i++) {
        if (strcmp(prt_container_text(c, c->buffers[program->ports[i]].name), name) == 0) return i;
    }
    return PRT_NONE;
}

uint32_t prt_program_argument_count(const struct prt_program *program)
{
    return program->container.argument_count;
}

bool prt_program_argument(const struct prt_program *program, uint32_t argument,
                          struct prt_argument_information *information)
{
    const struct prt_container *c = &program->container;
    if (argument >= c->argument_count) return false;
    const struct container_argument *record = &c->arguments[argument];
    *information = (struct prt_argument_information){
        .name = prt_container_text(c, record->name),
        .type = prt_container_text(c, record->type_text),
        .scalar = (enum scalar_type)record->scalar,
        .count = record->count,
        .shape = prt_container_text(c, record->shape),
        .lanes = record->lanes,
        .has_default = record->has_default != 0,
        .property = (enum prt_property)record->property,
        .port = PRT_NONE,
    };
    for (uint32_t i = 0; record->property != CONTAINER_PROPERTY_NONE && i < program->port_count;
         i++)
        if (program->ports[i] == record->buffer) information->port = i;
    return true;
}

_Static_assert((int)PRT_PROPERTY_RATE == (int)CONTAINER_PROPERTY_RATE &&
                   (int)PRT_PROPERTY_CHANNELS == (int)CONTAINER_PROPERTY_CHANNELS,
               "the same numbers");

/* ---- runs ---- */

static bool is_watched(const struct prt_run_options *options)
{
    return options != NULL && (options->measure || options->observer != NULL);
}

static void observe_launch(void *context, const struct prt_launch_record *record)
{
    struct prt_run *run = context;
    prt_profile_launch(run->sched, record);
}

/* Refuses an option that a scheduler on the device itself does not know. */
static enum prt_status check_resident(const struct prt_run *run,
                                      const struct prt_run_options *options,
                                      struct prt_error *error)
{
    if (run->ops->resident_begin == NULL || options == NULL ||
        options->dispatch == PRT_DISPATCH_PROGRAM)
        return PRT_OK;
    return prt_error_set(
        error, PRT_E_DEVICE,
        "device '%s': a run on a GPU cannot be given packets of a form (--dispatch): "
        "it has none",
        run->ops->name);
}

static enum prt_status open_run_device(struct prt_run *run, const struct prt_run_options *options,
                                       struct prt_error *error)
{
    struct prt_device_choice choice;
    enum prt_status status = prt_device_choose(&run->program->container, options, &choice, error);
    if (status != PRT_OK) return status;
    const struct prt_device_options device_options = {
        .description = &choice.description,
        .host_threads = choice.host_threads,
        .number = choice.number,
        .tree = choice.tree,
        .observe = is_watched(options) ? observe_launch : NULL,
        .observe_context = run};
    run->ops = choice.ops;
    status = check_resident(run, options, error);
    if (status != PRT_OK) return status;
    return run->ops->open(&device_options, &run->device, error);
}

static enum prt_packet_kind packet_form(enum prt_dispatch_mode mode)
{
    switch (mode) {
    case PRT_DISPATCH_FULL: return PRT_PACKET_FULL;
    case PRT_DISPATCH_REFERENCE: return PRT_PACKET_REFERENCE;
    case PRT_DISPATCH_PROGRAM:
    case PRT_DISPATCH_CONDENSED: break;
    }
    return PRT_PACKET_CONDENSED;
}

static enum prt_status run_on_part(struct prt_run *run, const struct prt_run_options *options,
                                   struct prt_error *error)
{
    struct prt_device_tree *tree = run->ops->tree(run->device);
    bool confined = run->ops->confine != NULL;
    enum prt_status status = confined ? run->ops->parts(run->device, &tree, error) : PRT_OK;
    if (status == PRT_OK)
        status = prt_device_choose_part(&run->program->container, options, confined, tree,
                                        &run->part, error);
    if (status != PRT_OK) return status;
    run->tree = prt_device_tree_share(tree);
    if (!confined) {
        prt_sched_set_root(run->sched, run->part);
        return PRT_OK;
    }
    struct prt_device_information part;
    prt_device_query(tree, run->part, &part);
    run->ops->confine(run->device, part.first_cu, part.cu_count);
    return PRT_OK;
}

/* ---- depths from threads ---- */

static void free_deeper(struct prt_program *deeper)
{
    if (deeper == NULL) return;
    prt_container_free_deep(&deeper->container);
    free(deeper);
}

/* Makes the program with deeper buffers, and verifies it again.  Image and ports are those of `loaded`. */
static enum prt_status deepen_program(const struct prt_program *loaded,
                                      const struct devdesc *device, uint64_t factor,
                                      bool scales_program, struct prt_program **deeper,
                                      struct prt_error *error)
{
    struct prt_program *made = calloc(1, sizeof *made);
    if (made == NULL) return NO_MEMORY(error);
    made->image = loaded->image;
    made->ports = loaded->ports;
    made->port_count = loaded->port_count;
    enum prt_status status =
        prt_container_deepen(&loaded->container, factor, scales_program, &made->container, error);
    if (status == PRT_OK) status = prt_verify(&made->container, error);
    if (status == PRT_OK) status = prt_verify_device(&made->container, device, error);
    if (status != PRT_OK) {
        free_deeper(made);
        return status;
    }
    *deeper = made;
    return PRT_OK;
}

#define GROWTH_MEMORY_PART                                                                         \
    16 /* of the memory that the process may use, the growth gets at most one part */

static uint64_t growth_allowed(uint64_t most)
{
    uint64_t bytes = prt_host_quota_memory_bytes(PRT_HOST_GROUPS, PRT_HOST_MOUNTS), machine;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && !__builtin_mul_overflow((uint64_t)pages, page, &machine) &&
        machine < bytes)
        bytes = machine;
    bytes /= GROWTH_MEMORY_PART;
    return bytes < most ? bytes : most;
}

/* First all depths and counts of the program grow, then only the depths, then none.  The next form is used if the
 * verifier refuses one, or if there is no memory for it. */
static void choose_depths(struct prt_run *run, const struct prt_run_options *options)
{
    struct prt_device_info info;
    struct prt_error refusal;
    run->ops->info(run->device, &info);
    if (!info.real_time || !info.executes) return;
    uint64_t wanted = info.depth_factor;
    if (options != NULL && options->depth_factor > 0) wanted = options->depth_factor;
    if (wanted <= 1) return;
    uint64_t factor =
        prt_deepen_factor(&run->loaded->container, wanted, growth_allowed(info.depth_bytes_max));
    if (factor <= 1) return;
    for (int scales = 1; scales >= 0 && run->deeper == NULL; scales--)
        (void)deepen_program(run->loaded, info.description, factor, scales != 0, &run->deeper,
                             &refusal);
    if (run->deeper != NULL) run->program = run->deeper;
}

static enum prt_status create_sched(struct prt_run *run, struct prt_error *error)
{
    const struct prt_program *program = run->program;
    return prt_sched_create(&program->container, program->image, run->ops, run->device, &run->sched,
                            error);
}

enum prt_status prt_run_create(const struct prt_program *program,
                               const struct prt_run_options *options, struct prt_run **run,
                               struct prt_error *error)
{
    struct prt_run *made = calloc(1, sizeof *made);
    if (made == NULL) return NO_MEMORY(error);
    made->loaded = made->program = program;
    enum prt_status status = open_run_device(made, options, error);
    if (status == PRT_OK)
        status = prt_arguments_create(&program->container, &made->arguments, error);
    if (status == PRT_OK) {
        choose_depths(made, options);
        status = create_sched(made, error);
    }
    if (status == PRT_E_NOMEM && made->deeper != NULL) {
        made->program = made->loaded;
        status = create_sched(made, error);
    }
    if (status == PRT_OK && prt_options_have_part(options))
        status = run_on_part(made, options, error);
    if (status == PRT_OK && options != NULL && options->dispatch != PRT_DISPATCH_PROGRAM)
        prt_sched_set_dispatch(made->sched, packet_form(options->dispatch));
    if (status == PRT_OK && options != NULL)
        prt_sched_set_latency(made->sched, options->latency_nanoseconds);
    if (status == PRT_OK && is_watched(options))
        status = prt_profile_create(made->sched, options->observer, made, error);
    if (status != PRT_OK) {
        prt_run_destroy(made);
        return status;
    }
    *run = made;
    return PRT_OK;
}

const struct prt_program *prt_run_program(const struct prt_run *run)
{
    return run->loaded;
}

/* Closes the device first: its threads may still execute kernels on the run's memory. */
void prt_run_destroy(struct prt_run *run)
{
    if (run == NULL) return;
    if (run->device != NULL) run->ops->close(run->device);
    prt_sched_destroy(run->sched);
    if (run->tree != NULL) prt_device_leave_part(run->tree, run->part);
    prt_device_tree_destroy(run->tree);
    free_deeper(run->deeper);
    prt_arguments_free(&run->arguments);
    free(run);
}

enum prt_status prt_run_set_argument(struct prt_run *run, const char *name, const char *text,
                                     struct prt_error *error)
{
    return prt_arguments_set(&run->program->container, &run->arguments, name, text, error);
}

enum prt_status prt_run_set_argument_values(struct prt_run *run, const char *name,
                                            enum scalar_type type, const void *values, size_t count,
                                            struct prt_error *error)
{
    return prt_arguments_set_values(&run->program->container, &run->arguments, name, type, values,
                                    count, error);
}

void prt_run_limit_firings(struct prt_run *run, uint64_t firings)
{
    prt_sched_limit_firings(run->sched, firings);
}

/* ---- ports ---- */

/* The buffer of a port with that direction, or PRT_NONE. */
static uint32_t port_buffer(const struct prt_run *run, uint32_t port, enum container_outer outer)
{
    const struct prt_program *program = run->program;
    if (port >= program->port_count) return PRT_NONE;
    uint32_t buffer = program->ports[port];
    return program->container.buffers[buffer].outer == (uint32_t)outer ? buffer : PRT_NONE;
}

static enum prt_status refuse_port(const char *what, uint32_t port, struct prt_error *error)
{
    return prt_error_set(error, PRT_E_USAGE, "port %" PRIu32 " is no %s-port", port, what);
}

enum prt_status prt_run_tell_input(struct prt_run *run, uint32_t port,
                                   const struct prt_input_properties *properties,
                                   struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE) return refuse_port("in", port, error);
    return prt_arguments_tell(&run->program->container, &run->arguments, buffer, properties, error);
}

enum prt_status prt_run_bind_input(struct prt_run *run, uint32_t port, prt_read_callback read,
                                   void *context, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE || read == NULL) return refuse_port("in", port, error);
    prt_sched_bind_source(run->sched, buffer, read, context);
    return PRT_OK;
}

enum prt_status prt_run_input_at_hand(struct prt_run *run, uint32_t port, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE) return refuse_port("in", port, error);
    return prt_sched_source_at_hand(run->sched, buffer, error);
}

enum prt_status prt_run_input_eager(struct prt_run *run, uint32_t port, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE || run->executed) return refuse_port("in", port, error);
    prt_sched_source_eager(run->sched, buffer);
    return PRT_OK;
}

enum prt_status prt_run_input_endless(struct prt_run *run, uint32_t port, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE || run->executed) return refuse_port("in", port, error);
    prt_sched_source_endless(run->sched, buffer);
    return PRT_OK;
}

static const char *run_port_name(const struct prt_run *run, uint32_t port)
{
    const struct prt_container *c = &run->program->container;
    return prt_container_text(c, c->buffers[run->program->ports[port]].name);
}

/* Can packets arrive at the port in the time of the device? */
static enum prt_status check_arrivals(const struct prt_run *run, uint32_t port,
                                      struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE || run->executed) return refuse_port("in", port, error);
    if (run->ops->wait_until != NULL) return PRT_OK;
    struct prt_device_info info;
    run->ops->info(run->device, &info);
    return prt_error_set(error, PRT_E_USAGE,
                         "port '%s': packets arrive in simulated time only on a simulated device, "
                         "and device '%s' %s",
                         run_port_name(run, port), run->ops->name,
                         info.real_time ? "runs in real time" : "has no time");
}

enum prt_status prt_run_input_rate(struct prt_run *run, uint32_t port, uint64_t packets,
                                   uint64_t seconds, struct prt_error *error)
{
    struct prt_device_info info;
    struct prt_arrivals arrivals;
    struct prt_error why;
    enum prt_status status = check_arrivals(run, port, error);
    if (status != PRT_OK) return status;
    run->ops->info(run->device, &info);
    status = prt_arrivals_of_rate(info.description->clock_hz, packets, seconds, &arrivals, &why);
    if (status != PRT_OK)
        return prt_error_set(error, status, "port '%s': %s", run_port_name(run, port), why.message);
    return prt_sched_source_arrivals(run->sched, run->program->ports[port], &arrivals, error);
}

enum prt_status prt_run_input_arrivals(struct prt_run *run, uint32_t port, const uint64_t *cycles,
                                       const uint64_t *packets, size_t count, size_t *line,
                                       struct prt_error *error)
{
    struct prt_arrivals arrivals;
    size_t wrong = SIZE_MAX;
    enum prt_status status = check_arrivals(run, port, error);
    if (status == PRT_OK)
        status = prt_arrivals_of_list(cycles, packets, count, &arrivals, &wrong, error);
    if (line != NULL) *line = wrong;
    if (status != PRT_OK) return status;
    return prt_sched_source_arrivals(run->sched, run->program->ports[port], &arrivals, error);
}

enum prt_status prt_run_bind_output(struct prt_run *run, uint32_t port, prt_write_callback write,
                                    void *context, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_OUT);
    if (buffer == PRT_NONE) return refuse_port("out", port, error);
    prt_sched_bind_sink(run->sched, buffer, write, context);
    return PRT_OK;
}

enum prt_status prt_run_give_thread(struct prt_run *run, uint32_t port, prt_wake_callback wake,
                                    void *context, struct prt_error *error)
{
    if (port >= run->program->port_count || run->executed)
        return prt_error_set(error, PRT_E_USAGE, "port %" PRIu32 " is no port", port);
    /* a scheduler that is resident on a device does not wait for the thread of a sink */
    if (run->ops->resident_begin != NULL && port_buffer(run, port, CONTAINER_OUTER_OUT) != PRT_NONE)
        return PRT_OK;
    return prt_port_thread_create(run->sched, run->program->ports[port], wake, context, error);
}

enum prt_status prt_run_bind_input_memory(struct prt_run *run, uint32_t port, const void *packets,
                                          size_t count, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_IN);
    if (buffer == PRT_NONE || run->executed) return refuse_port("in", port, error);
    return prt_memory_port_read(run->sched, buffer, packets, count, error);
}

enum prt_status prt_run_bind_output_memory(struct prt_run *run, uint32_t port, void *packets,
                                           size_t capacity, size_t *count, struct prt_error *error)
{
    uint32_t buffer = port_buffer(run, port, CONTAINER_OUTER_OUT);
    if (buffer == PRT_NONE || count == NULL || run->executed)
        return refuse_port("out", port, error);
    return prt_memory_port_write(run->sched, buffer, packets, capacity, count, error);
}

/* ---- execution ---- */

static enum prt_status check_complete(const struct prt_run *run, struct prt_error *error)
{
    const struct prt_container *c = &run->program->container;
    enum prt_status status = prt_arguments_check(c, &run->arguments, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].outer == CONTAINER_OUTER_IN &&
            run->sched->buffers[i].port->source == NULL)
            return prt_error_set(error, PRT_E_USAGE, "port '%s' is not bound",
                                 prt_container_text(c, c->buffers[i].name));
    }
    return PRT_OK;
}

/* Loads the native code of the container, if the device executes it. */
static enum prt_status open_image(const struct prt_run *run, struct prt_error *error)
{
    const struct prt_program *program = run->program;
    struct prt_device_info info;
    run->ops->info(run->device, &info);
    return info.executes ? prt_image_open(&program->container, program->image, error) : PRT_OK;
}

static enum prt_status start_run(struct prt_run *run, struct prt_error *error)
{
    if (run->executed)
        return prt_error_set(error, PRT_E_USAGE, "the run has been executed already");
    enum prt_status status = check_complete(run, error);
    if (status == PRT_OK) status = open_image(run, error);
    if (status != PRT_OK) return status;
    run->executed = true;
    (void)run->ops->now_cycles(run->device); /* real time begins with the run */
    if (run->sched->profile != NULL) status = prt_profile_begin(run->sched, error);
    if (status != PRT_OK) return status;
    return prt_sched_start(run->sched, run->arguments.block, error);
}

/* Records the end of the run in its state and its measurements. */
static void record_end(struct prt_run *run)
{
    if (!run->executed) return;
    run->ended_cycles = prt_run_moment_cycles(run);
    run->ended = true;
    (void)prt_run_state_set(run->sched, PRT_DOING_ENDED, NULL);
    if (run->sched->profile != NULL) prt_profile_end(run->sched, prt_run_moment_cycles(run));
}

struct replay_view {
    struct prt_run *run;
    prt_replay_callback show;
    void *context;
    struct prt_replay_level *levels; /* room for the ends of any node */
};

static void show_stage(void *context, uint32_t index)
{
    struct replay_view *view = context;
    const struct prt_sched *s = view->run->sched;
    const struct core_stage *stage = &s->stages[index];
    uint32_t inputs = stage->input_count;
    const char *name = prt_container_text(s->container, prt_stage_node(s, stage)->name);
    struct prt_replay_step step = {.node = name, .firing = stage->firings, .levels = view->levels};
    for (uint32_t i = 0; i < inputs + stage->output_count; i++) {
        const struct prt_buffer *buffer =
            i < inputs ? prt_input_buffer(s, core_input(s->core, stage, i))
                       : prt_output_buffer(s, core_output(s->core, stage, i - inputs));
        if (buffer->record->outer != CONTAINER_INNER) continue;
        view->levels[step.level_count++] =
            (struct prt_replay_level){prt_container_text(s->container, buffer->record->name),
                                      buffer->fifo->written_packets - buffer->fifo->oldest_packets,
                                      buffer->fifo->depth_packets};
    }
    view->show(view->context, &step);
}

enum prt_status prt_run_replay(struct prt_run *run, prt_replay_callback show, void *context,
                               struct prt_error *error)
{
    const struct prt_container *c = &run->program->container;
    struct prt_error unheard;
    if (error == NULL) error = &unheard;
    if (!(c->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE))
        return prt_error_set(error, PRT_E_USAGE,
                             "the container is no counterexample: it has nothing to replay "
                             "('pipec inspect --trace-deadlock=FILE.pbc' writes one)");
    size_t ends = (size_t)c->input_count + c->output_count;
    struct replay_view view = {run, show, context, calloc(ends + 1, sizeof *view.levels)};
    if (view.levels == NULL) return NO_MEMORY(error);
    bool before = run->executed;
    enum prt_status status = start_run(run, error);
    if (status == PRT_OK) status = prt_sched_begin(run->sched, error);
    if (status == PRT_OK) status = prt_replay(run->sched, show_stage, &view, error);
    if (!before) status = prt_port_threads_end(run->sched, status, error);
    if (!before) record_end(run);
    free(view.levels);
    return status;
}

enum prt_status prt_run_execute(struct prt_run *run, struct prt_error *error)
{
    struct prt_error unheard;
    if (error == NULL) error = &unheard;
    if (run->program->container.pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE)
        return prt_error_set(error, PRT_E_VERIFY,
                             "the container is a counterexample: its pipeline deadlocks; "
                             "'piperun --replay' shows how");
    bool before = run->executed;
    enum prt_status status = start_run(run, error);
    const struct prt_run_watch *watch = run->executed && !before ? run->watch : NULL;
    if (status == PRT_OK && watch != NULL) status = watch->begins(watch->context, error);
    if (status == PRT_OK) status = prt_sched_run(run->sched, error);
    if (!before) status = prt_port_threads_end(run->sched, status, error);
    if (!before) record_end(run);
    if (status == PRT_OK && run->sched->core->interrupt_seen)
        status = prt_error_set(error, PRT_E_INTERRUPTED, "%s", prt_status_text(PRT_E_INTERRUPTED));
    if (watch != NULL) watch->ends(watch->context, status, error);
    return status;
}

void prt_run_interrupt(struct prt_run *run)
{
    prt_sched_interrupt(run->sched);
}

void prt_run_tell_stall(const struct prt_run *run, prt_wait_callback receive, void *context)
{
    const struct prt_sched *s = run->sched;
    const struct core_failure *failure = &s->core->failure;
    if (failure->kind == CORE_STALLED) prt_explain_waits(s, failure->stage, receive, context);
}

void prt_run_tell_standing(struct prt_run *run, prt_standing_callback write, void *context)
{
    prt_run_state_ask(run->sched, write, context);
}

void prt_run_visit(struct prt_run *run, prt_visit_callback visit, void *context)
{
    prt_run_state_visit(run->sched, visit, context, run);
}

/* ---- faults ---- */

bool prt_run_fault(const struct prt_run *run, struct prt_fault_information *information)
{
    const struct prt_container *c = &run->program->container;
    const struct core_fault *f = &run->sched->core->fault;
    if (!f->there) return false;
    *information = (struct prt_fault_information){
        .id = prt_explain_fault_id(f->status),
        .node = f->node == CONTAINER_NONE ? "" : prt_container_text(c, c->nodes[f->node].name),
        .source = prt_container_source(c, f->fault.source),
        .line = f->fault.line,
        .column = f->fault.column,
        .firing = f->fault.firing,
    };
    return true;
}

/* ---- crashes: nothing here allocates, locks or formats by libc ---- */

struct line {
    char *text;
    size_t size, used;
};

static void append_text(struct line *line, const char *text)
{
    for (; *text != '\0' && line->used + 1 < line->size; text++) {
        unsigned char byte = (unsigned char)*text;
        line->text[line->used++] = (char)(byte < 0x20 || byte >= 0x7f ? '?' : byte);
    }
    line->text[line->used] = '\0';
}

static void append_number(struct line *line, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    append_text(line, digits + at);
}

bool prt_run_describe_crash(const struct prt_run *run, char *text, size_t size)
{
    const struct prt_container *c = &run->program->container;
    const struct prt_kernel_object *object;
    uint64_t first, count;
    if (size == 0 || !prt_kernel_executing(&object, &first, &count)) return false;
    const struct prt_kernel_object *objects = run->sched->objects;
    if (object < objects || object >= objects + (size_t)c->stage_count * 2) return false;
    const struct container_node *node =
        prt_stage_node(run->sched, &run->sched->stages[object->stage]);
    struct line line = {text, size, 0};
    append_text(&line, "kernel '");
    append_text(&line, prt_container_text(c, node->name));
    append_text(&line, "' (instance at ");
    append_text(&line, prt_container_source(c, node->source));
    append_text(&line, ":");
    append_number(&line, node->line);
    if (count == 0) {
        append_text(&line, object->flags & PRT_KERNEL_FINISH ? ") in its finish" : ") in its init");
        return true;
    }
    append_text(&line, count == 1 ? ") in firing " : ") in firings ");
    append_number(&line, first);
    if (count > 1) append_text(&line, " to ");
    if (count > 1) append_number(&line, first + count - 1);
    return true;
}
