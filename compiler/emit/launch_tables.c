/* SPDX-License-Identifier: MIT */
#include "compiler/emit/launch_tables.h"

#include "base/arithmetic.h"
#include "compiler/bodies/cost.h"
#include "compiler/bodies/group.h"
#include "lang/kernel_abi.h"

_Static_assert((int)LAUNCH_WITH_PARENT == (int)CONTAINER_LAUNCH_WITH_PARENT &&
                   (int)LAUNCH_AFTER_GROUP == (int)CONTAINER_LAUNCH_AFTER_GROUP &&
                   (int)LAUNCH_AFTER_PARENT == (int)CONTAINER_LAUNCH_AFTER_PARENT,
               "orders of launches");

struct building {
    struct compile *cx;
    struct arena *arena;
    const struct graph *graph;
    const struct plan *plan;
    const struct kernel_image *image;
    struct launch_tables tables;
    VEC(uint32_t) first_groups; /* by launch: the last work-group that may be its first */
    uint32_t first_child;       /* interface of the first child kernel */
};

struct place {
    uint32_t source, line, column;
};

static struct place launch_place(const struct building *b, struct span span)
{
    struct place place = {.source = CONTAINER_NONE};
    if (span.source == 0 || span.source > source_count(b->cx->sources)) return place;
    place.source = span.source - 1;
    source_locate(source_get(b->cx->sources, span.source), span.begin, &place.line, &place.column);
    return place;
}

/* ---- ports ---- */

static void add_interface_port(struct building *b, const struct kernel_port *port, uint64_t packets)
{
    struct place place = launch_place(b, port->rate_declared ? port->rate_span : port->span);
    struct container_interface_port record = {.width_bytes = port->type->width_bytes,
                                              .packets = packets,
                                              .source = place.source,
                                              .line = place.line,
                                              .column = place.column};
    for (uint64_t i = 0; i < port->arity; i++)
        vec_push(b->arena, &b->tables.ports, record);
}

/* The view of an in-port of the node follows from the graph, that of a child from the kernel. */
static void add_ports(struct building *b, const struct kernel *kernel,
                      const struct graph_node *node, struct container_interface *record)
{
    record->first_port = (uint32_t)b->tables.ports.count;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        uint64_t peek = kernel->in[i].peek;
        for (size_t k = 0; node != NULL && k < node->inputs.count; k++)
            if (node->inputs.items[k].kernel_port == i) peek = node->inputs.items[k].peek;
        add_interface_port(b, &kernel->in[i], peek);
    }
    record->in_count = (uint32_t)b->tables.ports.count - record->first_port;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *out = &kernel->out[i];
        bool launches = kernel_launches_any(&kernel->launches);
        add_interface_port(b, out, launches ? out->own_push : out->push);
    }
    record->out_count = (uint32_t)b->tables.ports.count - record->first_port - record->in_count;
}

/* ---- launches ---- */

static uint32_t interface_of(const struct building *b, const struct kernel *child)
{
    size_t first = b->graph->kernels.count - b->graph->child_kernels, i = first;
    while (b->graph->kernels.items[i] != child)
        i++;
    return b->first_child + (uint32_t)(i - first);
}

static uint32_t last_first_group(const struct launch *launch, const struct kernel *child)
{
    if (launch->first_group == NULL) return 0;
    bool known = launch->first_group->kind == KX_CONSTANT;
    return known ? (uint32_t)launch->first_group->value.bits : child->work_groups - 1;
}

static void add_launch(struct building *b, const struct launch *launch)
{
    struct place place = launch_place(b, launch->span);
    for (uint32_t i = 0; i < launch->child_count; i++) {
        const struct kernel *child = launch->children[i].kernel;
        struct container_launch made = {.parent = (uint32_t)b->tables.interfaces.count,
                                        .child = interface_of(b, child),
                                        .order = (uint32_t)launch->order,
                                        .wait_max = launch->wait_count,
                                        .source = place.source,
                                        .line = place.line,
                                        .column = place.column};
        vec_push(b->arena, &b->tables.launches, made);
        vec_push(b->arena, &b->first_groups, last_first_group(launch, child));
    }
}

static void add_launches(struct building *b, const struct kernel *kernel,
                         struct container_interface *record)
{
    record->first_launch = (uint32_t)b->tables.launches.count;
    record->launch_count = kernel_launch_records(&kernel->launches);
    for (size_t i = 0; i < kernel->launches.statements.count; i++)
        add_launch(b, kernel->launches.statements.items[i]);
}

/* Where launches of a child may begin, once all of them are known. */
static void set_offsets(struct building *b)
{
    for (size_t i = 0; i < b->tables.launches.count; i++) {
        struct container_interface *child =
            &b->tables.interfaces.items[b->tables.launches.items[i].child];
        uint32_t first = b->first_groups.items[i];
        if (first <= child->group_offset) continue;
        child->group_offset = first;
        child->global_offset = first * child->group[0] * child->group[1] * child->group[2];
    }
}

/* ---- interfaces ---- */

static void add_interface(struct building *b, const struct kernel *kernel, uint32_t id,
                          uint32_t node_index)
{
    const struct graph_node *node =
        node_index != CONTAINER_NONE ? &b->graph->nodes.items[node_index] : NULL;
    const struct kernel_launches *launches = &kernel->launches;
    struct place place = launch_place(b, kernel->span);
    struct container_interface record = {
        .kernel = id,
        .node = node_index,
        .source = place.source,
        .line = place.line,
        .column = place.column,
        .flags = launches->waits_done ? CONTAINER_INTERFACE_ASKS : 0,
        .entry_bytes =
            (uint32_t)(sizeof(struct kernel_launch) + align_up(kernel->arguments_bytes, 64)),
        .event_offset_bytes = offsetof(struct kernel_launch, event),
        .arguments_offset_bytes = sizeof(struct kernel_launch),
        .work_groups = kernel->work_groups,
        .group = {kernel->group[0], kernel->group[1], kernel->group[2]},
        .arguments_bytes = kernel->arguments_bytes,
        .local_bytes = kernel->shared_bytes,
        .launches = launches->most,
    };
    /* The warps of a firing of the child, and the cost of each. */
    const struct graph_warp warp =
        node != NULL ? node->warp : cost_warp_of(kernel, false, b->plan->device);
    record.firing_warps = warp.pieces > 0 ? warp.pieces : 1;
    record.warp_cycles = warp.cycles;
    if (warp.counted) record.flags |= CONTAINER_INTERFACE_COUNTED;
    if (node != NULL) {
        record.nesting = launches->nesting;
        record.tree = launches->tree;
        record.queue_entries = launches->queue_entries;
    }
    add_ports(b, kernel, node, &record);
    add_launches(b, kernel, &record);
    vec_push(b->arena, &b->tables.titles, kernel->title);
    vec_push(b->arena, &b->tables.interfaces, record);
}

struct launch_tables launch_tables_build(struct compile *cx, struct arena *arena,
                                         const struct graph *graph, const struct plan *plan,
                                         const struct kernel_image *image)
{
    struct building b = {.cx = cx, .arena = arena, .graph = graph, .plan = plan, .image = image};
    size_t first = graph->kernels.count - graph->child_kernels;
    if (graph->child_kernels == 0) return b.tables;
    for (size_t i = 0; i < graph->nodes.count; i++)
        b.first_child += kernel_launches_any(&graph->nodes.items[i].kernel->launches);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct kernel *kernel = graph->nodes.items[i].kernel;
        if (kernel_launches_any(&kernel->launches))
            add_interface(&b, kernel, image->node_kernel[i], (uint32_t)i);
    }
    for (size_t i = 0; i < graph->child_kernels; i++)
        add_interface(&b, graph->kernels.items[first + i], image->child_kernel[i], CONTAINER_NONE);
    set_offsets(&b);
    return b.tables;
}
