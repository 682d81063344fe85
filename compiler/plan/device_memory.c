/* SPDX-License-Identifier: MIT */
/*
 * device_memory: the memory that a program needs of its device, in one sum, and the local memory
 * that a work-group needs of a compute unit (lang/devices.md, "Memory").
 *
 * The loader computes both again by code of its own (runtime/load/device_need.c).
 */
#include "compiler/plan/plan_internal.h"

#include <inttypes.h>

#include "compiler/ir/ratio.h"
#include "lang/dispatch.h"
#include "lang/index_format.h"
#include "lang/kernel_abi.h"

enum { BLOCK_BYTES = 64 }; /* alignment of blocks and of entries */

static uint64_t round_block(uint64_t bytes)
{
    return add_clamped(bytes, BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static uint64_t index_bytes(const uint32_t group[3])
{
    return (uint64_t)group[0] * group[1] * group[2] * (index_format_of(group).register_bits / 8);
}

/* ---- index memory ---- */

/* Before the kernels have places: as if each had its own, as far as a compute unit has room. */
static uint64_t index_bytes_at_most(const struct graph *graph, const struct devdesc *device)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < graph->kernels.count - graph->child_kernels; i++) {
        const struct kernel *kernel = graph->kernels.items[i];
        if (kernel->grouped) bytes = add_clamped(bytes, (index_bytes(kernel->group) + 3) / 4 * 4);
    }
    return min64(bytes, device->index_memory_bytes);
}

static uint64_t index_bytes_placed(const struct plan *plan)
{
    uint64_t end = 0;
    if (plan->device->index_memory_bytes == 0) return 0;
    for (uint32_t i = 0; i < plan->index_count; i++)
        end = max64(end, plan->indices[i].address_bytes + plan->indices[i].bytes);
    return end;
}

/* ---- device queue ---- */

/* Room for the packets that one body appends to one out-port of whatever asks for events:
 * `out` counts ports of arrays one by one. */
static uint64_t aside_packets(const struct kernel *kernel, uint64_t out)
{
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (out < port->arity)
            return kernel_launches_any(&kernel->launches) ? port->own_push : port->push;
        out -= port->arity;
    }
    return 0;
}

/* A body that asks whether an event is done has its packets aside, and its `local` variables (`saved` bytes at most) while
 * it waits, at each level of a tree. */
static uint64_t aside_bytes(const struct graph *graph, const struct graph_node *root,
                            uint64_t saved)
{
    size_t first_child = graph->kernels.count - graph->child_kernels;
    uint64_t level = round_block(saved);
    for (size_t o = 0; o < root->outputs.count; o++) {
        uint64_t most = 0;
        for (size_t i = 0; i < graph->nodes.count; i++)
            if (kernel_launches_any(&graph->nodes.items[i].kernel->launches))
                most = max64(most, aside_packets(graph->nodes.items[i].kernel, o));
        for (size_t i = first_child; i < graph->kernels.count; i++)
            most = max64(most, aside_packets(graph->kernels.items[i], o));
        uint64_t width = graph->buffers.items[root->outputs.items[o].buffer].width_bytes;
        level = add_clamped(level, round_block(mul_clamped(most, width)));
    }
    return mul_clamped(level, add_clamped(root->kernel->launches.nesting, 1));
}

/* Of the interface table: the longest entry, and `local` variables of kernels that ask; packed indices, and the children of
 * launches. */
struct queue_sum {
    uint64_t entry_bytes, saved_bytes;
    uint64_t register_bytes, launches;
    bool asks;
};

static void count_interface(struct queue_sum *sum, const struct kernel *kernel)
{
    uint64_t entry = sizeof(struct kernel_launch) + round_block(kernel->arguments_bytes);
    sum->entry_bytes = max64(sum->entry_bytes, entry);
    sum->register_bytes = add_clamped(sum->register_bytes, round_block(index_bytes(kernel->group)));
    sum->launches += kernel_launch_records(&kernel->launches);
    if (!kernel->launches.waits_done) return;
    sum->asks = true;
    sum->saved_bytes = max64(sum->saved_bytes, kernel->shared_bytes);
}

static uint64_t queue_bytes(const struct graph *graph, const struct devdesc *device)
{
    struct queue_sum sum = {.entry_bytes = 0};
    if (graph->child_kernels == 0) return 0;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (kernel_launches_any(&graph->nodes.items[i].kernel->launches))
            count_interface(&sum, graph->nodes.items[i].kernel);
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++)
        count_interface(&sum, graph->kernels.items[i]);
    uint64_t blocks = add_clamped(device->device_queue_entries, sum.launches);
    uint64_t bytes = add_clamped(mul_clamped(sum.entry_bytes, blocks), sum.register_bytes);
    for (size_t i = 0; sum.asks && i < graph->nodes.count; i++)
        if (kernel_launches_any(&graph->nodes.items[i].kernel->launches))
            bytes = add_clamped(bytes, aside_bytes(graph, &graph->nodes.items[i], sum.saved_bytes));
    return bytes;
}

/* ---- the sum ---- */

struct plan_memory plan_memory_of(const struct graph *graph, const struct plan *plan)
{
    const struct devdesc *device = plan->device;
    struct plan_memory memory = {.device_queue = queue_bytes(graph, device)};
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        uint64_t *sum = buffer->outer == GRAPH_INNER ? &memory.buffers : &memory.ports;
        *sum = add_clamped(*sum, mul_clamped(buffer->depth_packets, buffer->width_bytes));
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct kernel *kernel = graph->nodes.items[i].kernel;
        memory.blocks = add_clamped(memory.blocks, round_block(kernel->arguments_bytes));
        memory.blocks = add_clamped(memory.blocks, round_block(kernel->tables_bytes));
        memory.blocks = add_clamped(memory.blocks, round_block(kernel->state_bytes));
    }
    uint64_t indices =
        plan->indices != NULL ? index_bytes_placed(plan) : index_bytes_at_most(graph, device);
    memory.indices = mul_clamped(indices, device->cu_count);
    memory.launching = mul_clamped(add_clamped(graph->nodes.count, device->reference_entries),
                                   sizeof(struct dispatch_full));
    memory.total = add_clamped(add_clamped(memory.buffers, memory.ports),
                               add_clamped(memory.blocks, memory.indices));
    memory.total = add_clamped(memory.total, add_clamped(memory.device_queue, memory.launching));
    return memory;
}

const char *plan_memory_text(struct arena *arena, const struct plan_memory *memory)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } parts[] = {
        {"buffers", memory->buffers},
        {"ports", memory->ports},
        {"arguments, tables and state", memory->blocks},
        {"index memory", memory->indices},
        {"device queue", memory->device_queue},
        {"dispatch packets and reference table", memory->launching},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].bytes > 0)
            text = arena_printf(arena, "%s%s%s %" PRIu64, text, text[0] != '\0' ? ", " : "",
                                parts[i].name, parts[i].bytes);
    return text;
}

/* Advice on the largest part. */
static const char *help_for(const struct plan_memory *memory)
{
    if (memory->device_queue > memory->total / 2)
        return "give the device a smaller queue (device_queue_entries), or more memory";
    if (memory->blocks > memory->total / 2)
        return "make tables and state smaller, or choose a device with more memory";
    if (memory->indices > memory->total / 2)
        return "make the groups of work-items smaller, or choose a device with more memory";
    return "declare smaller depths, compile with --buffers=min, or choose a device with more "
           "memory";
}

void plan_check_memory(struct compile *cx, const struct graph *graph, struct plan *plan)
{
    plan->memory = plan_memory_of(graph, plan);
    if (plan->memory.total <= plan->device->memory_bytes) return;
    struct diag *d =
        diag_report(cx->diags, RULE_MEMORY_LIMIT, graph->span,
                    "'%s' needs %" PRIu64 " bytes of memory, device '%s' has %" PRIu64, graph->name,
                    plan->memory.total, plan->device->name, plan->device->memory_bytes);
    diag_note(d, "%s", plan_memory_text(cx->arena, &plan->memory));
    diag_help(d, "%s", help_for(&plan->memory));
}

/* ---- local memory ---- */

static void report_local(struct compile *cx, const struct kernel *kernel,
                         const struct devdesc *device)
{
    const struct variable *largest = kernel->shared.items[0];
    for (size_t i = 1; i < kernel->shared.count; i++)
        if (kernel->shared.items[i]->type->width_bytes > largest->type->width_bytes)
            largest = kernel->shared.items[i];
    size_t kept = diag_kept_count(cx->diags);
    struct diag *d =
        diag_report(cx->diags, RULE_LOCAL_MEMORY, kernel->span,
                    "a work-group of '%s' needs %" PRIu64
                    " bytes of local memory, a compute unit of device '%s' has "
                    "%" PRIu64,
                    kernel->title, kernel->shared_bytes, device->name, device->local_bytes);
    diag_label(d, largest->span, "'%s' takes %" PRIu64 " of them", largest->name,
               largest->type->width_bytes);
    diag_help(d, "make the 'local' variables smaller (narrower types, a smaller group that keeps "
                 "fewer packets), or choose a device with more local memory ('local_memory')");
    graph_trace_kernel(cx, kernel, kept);
}

void plan_check_local_memory(struct compile *cx, const struct graph *graph,
                             const struct devdesc *device)
{
    for (size_t i = 0; i < graph->kernels.count; i++)
        if (graph->kernels.items[i]->shared_bytes > device->local_bytes)
            report_local(cx, graph->kernels.items[i], device);
}
