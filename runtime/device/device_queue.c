/* SPDX-License-Identifier: MIT */
#include "runtime/device/device_queue.h"

#include "base/arithmetic.h"
#include "base/array_allocate.h"
#include "lang/index_format.h"
#include "runtime/device/child_interfaces.h"
#include "runtime/device/kernel_call.h"
#include "runtime/load/debug_info.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_MIN = 65536, /* that are scheduled at one time: firings that share the device */
    SPANS_MAX = 65536, /* that are recorded of one execution */
    ENTRY_ALIGNMENT = 64,
};

/* The state of an entry. */
enum entry_state { ENTRY_WAITING, ENTRY_SILENT, ENTRY_HEARD }; /* HEARD: its tree has appended */

struct entry_mark {
    uint32_t node; /* in the schedule */
    uint8_t state; /* enum entry_state */
    bool asked;
};

/* The memory of a firing at its level while its body runs. */
struct level {
    void **out;
    uint64_t *produced;
    uint64_t *begin; /* by output: packets of the tree before the firing */
    uint64_t *warp_cycles;
    uint8_t *aside; /* room for what one firing appends itself */
    /* Of a container compiled for debugging: beside `out`, beside `aside`. */
    uint32_t **origins, *aside_origins;
};

struct prt_device_queue {
    const struct prt_container *container;
    const struct container_interface *root;
    const struct prt_image_kernel *entries_of; /* by interface */
    const struct container_output *outputs;    /* of the node */

    uint8_t *cache; /* the entries */
    /* By interface: the interfaces of the children that its kernel may start; NULL: it is not in these trees. */
    uint8_t **interfaces;
    uint8_t *interface_blocks;
    bool code_written; /* the interfaces have the addresses of code */
    struct entry_mark *marks;
    uint64_t stride_bytes, capacity, used;
    struct level *levels; /* of all levels, or one where no firing is interrupted */
    bool interrupted;     /* some kernel asks for events */
    uint8_t *aside;
    void **pointers;
    uint64_t *counts;
    uint64_t *aside_offset;                     /* by output: where its packets are set aside */
    uint64_t *origin_offset;                    /* the same in packets */
    uint32_t **origin_pointers, *aside_origins; /* NULL: not compiled for debugging */
    uint64_t *width_bytes;                      /* by output */

    void *registers;      /* packed indices of the work-items of all kernels */
    const void **indices; /* by interface, in there */

    struct prt_launch_schedule *schedule;
    struct prt_launch_times times;
    struct prt_launch_report report;
    uint64_t cycles;       /* of the last execution, beyond the costs of its firings */
    uint64_t root_cost;    /* of the last outermost firing */
    uint64_t warps;        /* most of a firing */
    uint64_t *warp_cycles; /* counted, by level */
    uint32_t cu_count;

    /* The present outermost firing. */
    const struct prt_kernel_object *object;
    const void *const *in;
    const struct kernel_window *windows;
    uint8_t **base;     /* by output: where its packets begin */
    uint64_t *appended; /* by output: packets of its tree so far */
    uint64_t firing, launched;
    struct kernel_fault *fault;
};

/* A firing whose body runs. */
struct activation {
    struct kernel_launch_list list; /* first: what its `done` gets is this */
    struct prt_device_queue *queue;
    const struct container_interface *interface;
    uint64_t first_entry; /* of its launches in the cache */
    uint64_t executed;    /* launches whose trees have been */
    enum kernel_status failed;
    uint32_t level, node;
    bool set_aside;
};

/* ---- creation ---- */

/* *most: E(root, nesting) - launches(root) (launch_schedule.h); rows by depth. */
static bool entries_below_root(const struct prt_container *c,
                               const struct container_interface *root, uint64_t *below)
{
    uint64_t *row = calloc((size_t)c->interface_count * 2, sizeof *row);
    if (row == NULL) return false;
    uint64_t *next = row + c->interface_count;
    *below = 0;
    for (uint64_t depth = 1; depth <= root->nesting; depth++) {
        for (uint32_t i = 0; i < c->interface_count; i++) {
            const struct container_interface *f = &c->interfaces[i];
            uint64_t most = 0;
            for (uint32_t k = f->first_launch; k < f->first_launch + f->launch_count; k++)
                if (row[c->launches[k].child] > most) most = row[c->launches[k].child];
            if (f == root) *below = most;
            if (__builtin_add_overflow(f->launches, most, &next[i])) next[i] = UINT64_MAX;
        }
        memcpy(row, next, c->interface_count * sizeof *row);
    }
    free(row);
    return true;
}

/* Measures the longest entry in bytes, and the maximum number of warps of a firing. */
static void measure_interfaces(struct prt_device_queue *q)
{
    const struct prt_container *c = q->container;
    q->stride_bytes = prt_child_entry_bytes(c);
    q->interrupted = prt_child_waits(c);
    q->warps = 1;
    for (uint32_t i = 0; i < c->interface_count; i++) {
        if (c->interfaces[i].firing_warps > q->warps) q->warps = c->interfaces[i].firing_warps;
    }
}

/* Where each output is set aside; false: too many bytes. */
static bool measure_aside(struct prt_device_queue *q, uint64_t *bytes, uint64_t *packets)
{
    const struct prt_container *c = q->container;
    *bytes = *packets = 0;
    for (uint32_t o = 0; o < q->root->out_count; o++) {
        uint64_t most = prt_child_packets_most(c, o), size;
        q->width_bytes[o] =
            c->interface_ports[q->root->first_port + q->root->in_count + o].width_bytes;
        q->aside_offset[o] = *bytes;
        q->origin_offset[o] = *packets;
        if (__builtin_add_overflow(*packets, most, packets)) return false;
        if (__builtin_mul_overflow(most, q->width_bytes[o], &size) || size > SIZE_MAX / 4 ||
            __builtin_add_overflow(*bytes, align_up(size, ENTRY_ALIGNMENT), bytes) ||
            *bytes > SIZE_MAX / 4)
            return false;
    }
    return true;
}

static uint64_t count_levels(const struct prt_device_queue *q)
{
    return q->interrupted ? q->root->nesting + 1 : 1;
}

/* Of a container compiled for debugging; the levels are there. */
static bool allocate_origins(struct prt_device_queue *q, uint64_t aside_packets)
{
    uint64_t levels = count_levels(q), outs = q->root->out_count, packets;
    if (!prt_debug_mode(q->container)) return true;
    if (__builtin_mul_overflow(aside_packets, levels, &packets) || packets > SIZE_MAX / 16)
        return false;
    q->origin_pointers = array_allocate(levels * outs, sizeof *q->origin_pointers);
    q->aside_origins = array_allocate(packets, sizeof *q->aside_origins);
    if (q->origin_pointers == NULL || q->aside_origins == NULL) return false;
    for (uint64_t i = 0; i < levels; i++) {
        q->levels[i].origins = q->origin_pointers + i * outs;
        q->levels[i].aside_origins = q->aside_origins + i * aside_packets;
    }
    return true;
}

static bool allocate_levels(struct prt_device_queue *q, uint64_t aside_bytes)
{
    uint64_t levels = count_levels(q), outs = q->root->out_count;
    uint64_t bytes;
    if (__builtin_mul_overflow(aside_bytes, levels, &bytes) || bytes > SIZE_MAX / 4) return false;
    bytes = bytes > 0 ? bytes : ENTRY_ALIGNMENT;
    q->levels = array_allocate(levels, sizeof *q->levels);
    q->pointers = array_allocate(levels * outs, sizeof *q->pointers);
    q->counts = array_allocate(levels * outs * 2, sizeof *q->counts);
    q->warp_cycles = array_allocate(levels * q->warps, sizeof *q->warp_cycles);
    q->aside = aligned_alloc(ENTRY_ALIGNMENT, (size_t)bytes);
    if (q->levels == NULL || q->pointers == NULL || q->counts == NULL || q->warp_cycles == NULL ||
        q->aside == NULL)
        return false;
    for (uint64_t i = 0; i < levels; i++)
        q->levels[i] = (struct level){.out = q->pointers + i * outs,
                                      .produced = q->counts + 2 * i * outs,
                                      .begin = q->counts + (2 * i + 1) * outs,
                                      .warp_cycles = q->warp_cycles + i * q->warps,
                                      .aside = q->aside + i * aside_bytes};
    return true;
}

static bool allocate_cache(struct prt_device_queue *q)
{
    uint64_t bytes;
    q->capacity = q->root->queue_entries;
    if (__builtin_mul_overflow(q->capacity, q->stride_bytes, &bytes) || bytes > SIZE_MAX / 4)
        return false;
    q->cache = aligned_alloc(ENTRY_ALIGNMENT, bytes > 0 ? (size_t)bytes : ENTRY_ALIGNMENT);
    q->marks = array_allocate(q->capacity, sizeof *q->marks);
    return q->cache != NULL && q->marks != NULL;
}

/* Is the kernel in the trees of the root?  Children are there for all nodes. */
static bool is_in_trees(const struct prt_device_queue *q, const struct container_interface *f)
{
    return f == q->root || f->node == CONTAINER_NONE;
}

/* The scheduler's part of all launches: the interfaces of all children that kernels in the trees may start. */
static bool allocate_interfaces(struct prt_device_queue *q)
{
    const struct prt_container *c = q->container;
    uint64_t count = 0, bytes;
    for (uint32_t i = 0; i < c->interface_count; i++)
        if (is_in_trees(q, &c->interfaces[i])) count += c->interfaces[i].launch_count;
    if (__builtin_mul_overflow(count, q->stride_bytes, &bytes) || bytes > SIZE_MAX / 4)
        return false;
    q->interfaces = array_allocate(c->interface_count, sizeof *q->interfaces);
    q->interface_blocks = aligned_alloc(ENTRY_ALIGNMENT, (size_t)bytes);
    const uint8_t **defaults = prt_child_defaults(c);
    bool made = q->interfaces != NULL && q->interface_blocks != NULL && defaults != NULL;
    uint8_t *to = q->interface_blocks;
    for (uint32_t i = 0; made && i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        if (!is_in_trees(q, f)) continue;
        q->interfaces[i] = to;
        for (uint32_t site = 0; site < f->launch_count; site++, to += q->stride_bytes) {
            uint32_t launch = f->first_launch + site;
            prt_child_interface_write(c, launch, defaults[c->launches[launch].child], 0,
                                      q->stride_bytes, to);
        }
    }
    free(defaults);
    return made;
}

static bool allocate_schedule(struct prt_device_queue *q, const struct devdesc *device)
{
    const struct prt_container *c = q->container;
    uint32_t waits = 0;
    for (uint32_t i = 0; i < c->launch_count; i++)
        if (c->launches[i].wait_max > waits) waits = c->launches[i].wait_max;
    struct prt_launch_limits limits = {.nodes = (uint32_t)q->root->tree + 1,
                                       .waits_per_node = waits,
                                       .queue_entries = device->device_queue_entries,
                                       .cu_count = device->cu_count};
    if (limits.nodes < NODES_MIN) limits.nodes = NODES_MIN;
    q->report.cu_cycles = array_allocate(device->cu_count, sizeof *q->report.cu_cycles);
    q->report.kernels = array_allocate(c->interface_count, sizeof *q->report.kernels);
    return q->report.cu_cycles != NULL && q->report.kernels != NULL &&
           entries_below_root(c, q->root, &limits.below_root) &&
           prt_launch_schedule_create(&limits, &q->schedule) == PRT_OK;
}

/* Work-items of a work-group: 1..INDEX_ITEMS_MAX. */
static uint32_t group_item_count(const struct container_interface *f)
{
    return f->group[0] * f->group[1] * f->group[2];
}

/* Writes the packed indices of a kernel's work-items; returns their bytes. */
static uint64_t pack_items(const struct container_interface *f, void *to)
{
    const struct index_format format = index_format_of(f->group);
    uint16_t *narrow = to;
    uint32_t *wide = to;
    for (uint32_t n = 0; n < group_item_count(f); n++) {
        uint32_t row = n / f->group[0];
        uint32_t packed =
            index_pack(&format, n % f->group[0], row % f->group[1], row / f->group[1]);
        if (format.register_bits == 16)
            narrow[n] = (uint16_t)packed;
        else
            wide[n] = packed;
    }
    return align_up((uint64_t)group_item_count(f) * (format.register_bits / 8), ENTRY_ALIGNMENT);
}

static bool allocate_indices(struct prt_device_queue *q)
{
    const struct prt_container *c = q->container;
    uint64_t items = 0, used = 0;
    for (uint32_t i = 0; i < c->interface_count; i++)
        items += align_up(group_item_count(&c->interfaces[i]), ENTRY_ALIGNMENT);
    q->indices = array_allocate(c->interface_count, sizeof *q->indices);
    q->registers = aligned_alloc(ENTRY_ALIGNMENT, (size_t)(items * sizeof(uint32_t)));
    if (q->indices == NULL || q->registers == NULL) return false;
    for (uint32_t i = 0; i < c->interface_count; i++) {
        q->indices[i] = (uint8_t *)q->registers + used;
        used += pack_items(&c->interfaces[i], (uint8_t *)q->registers + used);
    }
    return true;
}

static bool allocate_queue(struct prt_device_queue *q, const struct devdesc *device)
{
    uint32_t outs = q->root->out_count;
    uint64_t aside_bytes, aside_packets;
    q->origin_offset = array_allocate(outs, sizeof *q->origin_offset);
    q->width_bytes = array_allocate(outs, sizeof *q->width_bytes);
    q->aside_offset = array_allocate(outs, sizeof *q->aside_offset);
    q->base = array_allocate(outs, sizeof *q->base);
    q->appended = array_allocate(outs, sizeof *q->appended);
    if (q->origin_offset == NULL || q->width_bytes == NULL || q->aside_offset == NULL ||
        q->base == NULL || q->appended == NULL)
        return false;
    measure_interfaces(q);
    return measure_aside(q, &aside_bytes, &aside_packets) && allocate_levels(q, aside_bytes) &&
           allocate_origins(q, aside_packets) && allocate_cache(q) && allocate_interfaces(q) &&
           allocate_indices(q) && allocate_schedule(q, device);
}

enum prt_status prt_device_queue_create(const struct prt_container *container, uint32_t root,
                                        const struct prt_image_kernel *interfaces,
                                        const struct devdesc *device,
                                        struct prt_device_queue **queue, struct prt_error *error)
{
    const struct container_interface *f = &container->interfaces[root];
    if (device->device_queue_entries < f->queue_entries)
        return prt_error_set(error, PRT_E_DEVICE,
                             "kernel '%s' may have %" PRIu64 " launches in the device queue at one "
                             "time, the queue of device '%s' holds %" PRIu32
                             " [device-queue-too-small]",
                             prt_container_text(container, f->title), f->queue_entries,
                             device->name, device->device_queue_entries);
    struct prt_device_queue *q = calloc(1, sizeof *q);
    if (q == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    q->container = container;
    q->root = f;
    q->entries_of = interfaces;
    q->outputs = container->outputs + container->nodes[f->node].first_output;
    q->cu_count = 1;
    q->times = (struct prt_launch_times){device->child_issue_cycles, device->child_start_cycles};
    if (!allocate_queue(q, device)) {
        prt_device_queue_destroy(q);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory for the device queue of '%s'",
                             prt_container_text(container, f->title));
    }
    *queue = q;
    return PRT_OK;
}

void prt_device_queue_destroy(struct prt_device_queue *q)
{
    if (q == NULL) return;
    prt_launch_schedule_destroy(q->schedule);
    free(q->report.cu_cycles);
    free(q->report.kernels);
    free(q->report.spans.items);
    free(q->registers);
    free(q->indices);
    free(q->cache);
    free(q->interfaces);
    free(q->interface_blocks);
    free(q->marks);
    free(q->levels);
    free(q->aside);
    free(q->pointers);
    free(q->counts);
    free(q->aside_offset);
    free(q->origin_offset);
    free(q->origin_pointers);
    free(q->aside_origins);
    free(q->width_bytes);
    free(q->base);
    free(q->appended);
    free(q->warp_cycles);
    free(q);
}

void prt_device_queue_bind(struct prt_device_queue *q, uint32_t cu_count)
{
    q->cu_count = cu_count;
}

enum prt_status prt_device_queue_watch(struct prt_device_queue *q)
{
    struct prt_launch_spans *spans = &q->report.spans;
    if (spans->items != NULL) return PRT_OK;
    spans->items = array_allocate(SPANS_MAX, sizeof *spans->items);
    spans->capacity = SPANS_MAX;
    return spans->items != NULL ? PRT_OK : PRT_E_NOMEM;
}

/* ---- faults of the queue itself ---- */

static enum kernel_status fail_at_site(struct prt_device_queue *q, uint32_t parent, uint32_t site,
                                       enum kernel_status status, uint64_t index, uint64_t bound)
{
    const struct container_launch *launch =
        &q->container->launches[q->container->interfaces[parent].first_launch + site];
    *q->fault = (struct kernel_fault){.firing = q->firing,
                                      .source = launch->source,
                                      .line = launch->line,
                                      .column = launch->column,
                                      .index = (int64_t)index,
                                      .bound = bound};
    return status;
}

static enum kernel_status fail_at_port(struct prt_device_queue *q, uint32_t output,
                                       uint64_t packets, uint64_t bound)
{
    const struct container_interface_port *port =
        &q->container->interface_ports[q->root->first_port + q->root->in_count + output];
    *q->fault = (struct kernel_fault){.firing = q->firing,
                                      .source = port->source,
                                      .line = port->line,
                                      .column = port->column,
                                      .index = (int64_t)packets,
                                      .bound = bound};
    return KERNEL_FAULT_PUSH;
}

/* The generated code has run out of room for launches: why. */
static enum kernel_status explain_launches(const struct activation *a)
{
    const struct prt_device_queue *q = a->queue;
    if (a->level >= q->root->nesting) {
        q->fault->index = (int64_t)a->level + 1;
        q->fault->bound = q->root->nesting;
        q->fault->level = 0; /* bounds of the outermost kernel */
        return KERNEL_FAULT_NESTING;
    }
    if (a->list.capacity == a->interface->launches) return KERNEL_FAULT_LAUNCHES;
    q->fault->level = 0;
    q->fault->index = (int64_t)(q->launched + a->list.count + 1);
    q->fault->bound = q->root->tree;
    return KERNEL_FAULT_TREE;
}

/* ---- outputs ---- */

/* May the body append where the tree's packets end? */
static bool has_room(const struct prt_device_queue *q, const struct container_interface *f)
{
    if (f->flags & CONTAINER_INTERFACE_ASKS) return false;
    const struct container_interface_port *ports =
        &q->container->interface_ports[f->first_port + f->in_count];
    for (uint32_t o = 0; o < f->out_count; o++) {
        uint64_t end;
        if (__builtin_add_overflow(q->appended[o], ports[o].packets, &end) ||
            end > q->outputs[o].push)
            return false;
    }
    return true;
}

static struct level *current_level(const struct prt_device_queue *q, uint32_t level)
{
    return &q->levels[q->interrupted ? level : 0];
}

/* Origins of packets lie as the packets do. */
static bool tells_origins(const struct prt_device_queue *q)
{
    return q->object->origins != NULL && q->origin_pointers != NULL;
}

/* Where those of the outermost firing's packets begin. */
static uint32_t *first_origin(const struct prt_device_queue *q, uint32_t o)
{
    return q->object->origins[o] + q->object->produced[o];
}

static void place_origins(struct activation *a)
{
    struct prt_device_queue *q = a->queue;
    struct level *level = current_level(q, a->level);
    const struct container_interface *f = a->interface;
    const struct container_interface_port *ports =
        &q->container->interface_ports[f->first_port + f->in_count];
    for (uint32_t o = 0; tells_origins(q) && o < f->out_count; o++) {
        level->origins[o] = first_origin(q, o) + q->appended[o];
        if (!a->set_aside) continue;
        level->origins[o] = level->aside_origins + q->origin_offset[o];
        memset(level->origins[o], 0, (size_t)ports[o].packets * sizeof *level->origins[o]);
    }
}

static void place_outputs(struct activation *a)
{
    struct prt_device_queue *q = a->queue;
    struct level *level = current_level(q, a->level);
    a->set_aside = !has_room(q, a->interface);
    for (uint32_t o = 0; o < a->interface->out_count; o++) {
        level->produced[o] = 0;
        level->begin[o] = q->appended[o];
        level->out[o] = a->set_aside ? level->aside + q->aside_offset[o]
                                     : q->base[o] + q->appended[o] * q->width_bytes[o];
    }
    place_origins(a);
}

/* Puts origins of the body's own packets in front of the others, as append_own does with packets. */
static void insert_origins(const struct activation *a, uint32_t o, uint64_t own, uint64_t begin)
{
    const struct prt_device_queue *q = a->queue;
    uint32_t *at = first_origin(q, o) + begin;
    memmove(at + own, at, (q->appended[o] - begin) * sizeof *at);
    memcpy(at, current_level(q, a->level)->origins[o], own * sizeof *at);
}

/* Puts the body's own packets in front of those that its launches have appended already. */
static enum kernel_status append_own(struct activation *a, uint32_t o)
{
    struct prt_device_queue *q = a->queue;
    const struct level *level = current_level(q, a->level);
    uint64_t own = level->produced[o], begin = level->begin[o], end, width = q->width_bytes[o];
    if (__builtin_add_overflow(q->appended[o], own, &end)) end = UINT64_MAX;
    if (end > q->outputs[o].push) return fail_at_port(q, o, end, q->outputs[o].push);
    if (a->set_aside && own > 0) {
        uint8_t *at = q->base[o] + begin * width;
        memmove(at + own * width, at, (q->appended[o] - begin) * width);
        memcpy(at, level->out[o], own * width);
        if (tells_origins(q)) insert_origins(a, o, own, begin);
    }
    q->appended[o] = end;
    return KERNEL_OK;
}

/* ---- firings ---- */

/* A firing that is to be executed. */
struct firing_of {
    uint32_t interface; /* of its kernel */
    kernel_entry run;   /* its code */
    const void *arguments;
    uint32_t level, node;   /* node: in the schedule */
    uint32_t group, groups; /* of a child: which work-group of its launch, of so many */
};

static enum kernel_status run_firing(struct prt_device_queue *q, struct firing_of firing);

static uint64_t total_appended(const struct prt_device_queue *q)
{
    uint64_t total = 0;
    for (uint32_t o = 0; o < q->root->out_count; o++)
        total += q->appended[o];
    return total;
}

static struct kernel_launch *entry_at(const struct prt_device_queue *q, uint64_t entry)
{
    void *at = q->cache + entry * q->stride_bytes; /* aligned: the stride is whole lines */
    return at;
}

static void record_waits(const struct activation *a, const struct kernel_launch *entry,
                         uint32_t number, uint32_t node)
{
    const struct prt_device_queue *q = a->queue;
    const struct entry_mark *marks = q->marks + a->first_entry;
    uint32_t count = entry->wait_count;
    if (count > KERNEL_LAUNCH_WAITS_MAX) count = KERNEL_LAUNCH_WAITS_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (entry->waits[i] < number)
            prt_launch_wait(q->schedule, node, marks[entry->waits[i]].node);
}

/* Records the work-group of a launch that comes next: the first one, or a mate of `first`. */
static uint32_t open_group(struct activation *a, const struct kernel_launch *entry, uint32_t group,
                           uint32_t first)
{
    struct prt_device_queue *q = a->queue;
    const struct container_launch *site =
        &q->container->launches[a->interface->first_launch + entry->site];
    const struct container_interface *child = &q->container->interfaces[site->child];
    uint64_t launches = entry->level < q->root->nesting ? child->launches : 0;
    uint32_t node = group > 0
                        ? prt_launch_join(q->schedule, first, launches)
                        : prt_launch_open(q->schedule, a->node, (enum prt_launch_order)site->order,
                                          launches, entry->timestamp);
    prt_launch_name(q->schedule, node, site->child);
    if (group == 0) record_waits(a, entry, entry->event, node);
    return node;
}

/* Executes the next launch of the firing, with its tree: its work-groups in order, each with its own. */
static enum kernel_status run_launch(struct activation *a)
{
    struct prt_device_queue *q = a->queue;
    const struct prt_container *c = q->container;
    uint32_t number = (uint32_t)a->executed++, first = PRT_LAUNCH_NONE;
    uint64_t index = a->first_entry + number, before = total_appended(q);
    struct kernel_launch *entry = entry_at(q, index);
    assert(entry->site < a->interface->launch_count);
    const struct container_launch *site = &c->launches[a->interface->first_launch + entry->site];
    const struct container_interface *child = &c->interfaces[site->child];
    kernel_entry run;
    memcpy(&run, &entry->kernel, sizeof run);
    assert(run == q->entries_of[site->child].run);
    entry->event = number;
    entry->level = (uint16_t)(a->level + 1);
    assert(entry->first_group <= child->group_offset && entry->groups >= 1 &&
           entry->groups <= child->work_groups - entry->first_group);
    for (uint32_t group = 0; group < entry->groups; group++) {
        if (++q->launched > q->root->tree)
            return fail_at_site(q, site->parent, entry->site, KERNEL_FAULT_TREE, q->launched,
                                q->root->tree);
        uint32_t node = open_group(a, entry, group, first);
        if (group == 0) first = node;
        q->marks[index] = (struct entry_mark){.node = first};
        enum kernel_status status =
            run_firing(q, (struct firing_of){.interface = site->child,
                                             .run = run,
                                             .arguments = (const uint8_t *)entry +
                                                          child->arguments_offset_bytes,
                                             .level = a->level + 1,
                                             .node = node,
                                             .group = entry->first_group + group,
                                             .groups = entry->groups});
        if (status != KERNEL_OK) return status;
    }
    q->marks[index].state = total_appended(q) > before ? ENTRY_HEARD : ENTRY_SILENT;
    return KERNEL_OK;
}

/* kernel_launch_list.done */
static int32_t ask_done(struct kernel_launch_list *list, uint32_t event, uint64_t timestamp)
{
    struct activation *a = (struct activation *)list;
    struct prt_device_queue *q = a->queue;
    if (event >= list->count) return 0;
    q->used = a->first_entry + list->count;
    while (a->executed <= event && a->failed == KERNEL_OK)
        a->failed = run_launch(a);
    if (a->failed != KERNEL_OK) return -(int32_t)a->failed;
    struct entry_mark *mark = &q->marks[a->first_entry + event];
    if (!mark->asked) prt_launch_ask(q->schedule, mark->node, list->count, timestamp);
    mark->asked = true;
    return mark->state == ENTRY_HEARD;
}

static uint64_t cost_of(const struct activation *a)
{
    const struct container_interface *f = a->interface;
    const uint64_t *counted = current_level(a->queue, a->level)->warp_cycles;
    uint64_t cost = 0;
    if (!(f->flags & CONTAINER_INTERFACE_COUNTED))
        return __builtin_mul_overflow(f->warp_cycles, f->firing_warps, &cost) ? UINT64_MAX : cost;
    for (uint32_t i = 0; i < f->firing_warps; i++)
        if (__builtin_add_overflow(cost, counted[i], &cost)) return UINT64_MAX;
    return cost;
}

static enum kernel_status call_body(struct activation *a, kernel_entry run, const void *arguments)
{
    struct prt_device_queue *q = a->queue;
    const struct level *level = current_level(q, a->level);
    bool outermost = a->interface == q->root;
    uint32_t number = (uint32_t)(a->interface - q->container->interfaces);
    bool counted = (a->interface->flags & CONTAINER_INTERFACE_COUNTED) != 0;
    uint64_t completed = 1;
    struct kernel_batch batch = {.arguments = arguments,
                                 .tables = outermost ? q->object->tables : NULL,
                                 .state = outermost ? q->object->state : NULL,
                                 .in = q->in,
                                 .out = level->out,
                                 .produced = level->produced,
                                 .first_firing = q->firing,
                                 .count = 1,
                                 .completed = &completed,
                                 .windows = q->windows,
                                 .indices = q->indices[number],
                                 .launches = &a->list,
                                 .fault = q->fault,
                                 .warp_cycles = counted ? level->warp_cycles : NULL,
                                 .origins = tells_origins(q) ? level->origins : NULL};
    return prt_kernel_call(q->object, run, &batch);
}

static enum kernel_status run_firing(struct prt_device_queue *q, struct firing_of firing)
{
    const struct container_interface *f = &q->container->interfaces[firing.interface];
    struct activation a = {.queue = q,
                           .interface = f,
                           .first_entry = q->used,
                           .level = firing.level,
                           .node = firing.node};
    uint64_t room = firing.level < q->root->nesting ? q->capacity - q->used : 0;
    a.list = (struct kernel_launch_list){.entries = (uint8_t *)entry_at(q, q->used),
                                         .interfaces = q->interfaces[firing.interface],
                                         .stride_bytes = q->stride_bytes,
                                         .capacity = f->launches < room ? f->launches : room,
                                         .group = firing.group,
                                         .groups = firing.groups,
                                         .done = ask_done};
    place_outputs(&a);
    enum kernel_status status = call_body(&a, firing.run, firing.arguments);
    if (a.failed != KERNEL_OK) return a.failed;
    if (status != KERNEL_OK) q->fault->level = firing.level;
    if (status == KERNEL_FAULT_LAUNCHES) return explain_launches(&a);
    uint64_t cost = cost_of(&a);
    for (uint32_t o = 0; o < f->out_count && status == KERNEL_OK; o++)
        status = append_own(&a, o);
    q->used = a.first_entry + a.list.count;
    while (status == KERNEL_OK && a.executed < a.list.count)
        status = run_launch(&a);
    q->used = a.first_entry;
    if (status == KERNEL_OK) prt_launch_close(q->schedule, firing.node, cost);
    if (firing.level == 0) q->root_cost = cost;
    return status;
}

/* ---- dispatches ---- */

/* The code has been loaded when the first dispatch comes. */
static void write_code(struct prt_device_queue *q)
{
    const struct prt_container *c = q->container;
    if (q->code_written) return;
    for (uint32_t i = 0; i < c->interface_count; i++) {
        if (!is_in_trees(q, &c->interfaces[i])) continue;
        for (uint32_t site = 0; site < c->interfaces[i].launch_count; site++) {
            uint32_t child = c->launches[c->interfaces[i].first_launch + site].child;
            memcpy(q->interfaces[i] + site * q->stride_bytes +
                       offsetof(struct kernel_launch, kernel),
                   &q->entries_of[child].run, sizeof(kernel_entry));
        }
    }
    q->code_written = true;
}

static void schedule_recorded(struct prt_device_queue *q)
{
    if (prt_launch_count(q->schedule) == 0) return;
    struct prt_launch_run run =
        prt_launch_schedule_run(q->schedule, q->cu_count, &q->times, &q->report);
    if (run.end_cycles > run.root_cycles)
        q->cycles = core_cycles_add(q->cycles, run.end_cycles - run.root_cycles);
}

/* The windows of the firing that comes `skip` firings after the dispatch's first. */
static void place_inputs(const struct prt_kernel_object *object, uint64_t skip, const void **in,
                         struct kernel_window *windows)
{
    for (uint32_t i = 0; i < object->input_count; i++) {
        in[i] = (const uint8_t *)object->in[i] + skip * object->pop_bytes[i];
        if (object->windows == NULL) continue;
        windows[i] = object->windows[i];
        windows[i].place += skip;
    }
}

/* Checks that the firing and its tree have appended as many packets as declared, and adds them up.  A
 * firing that faults adds none. */
static enum kernel_status settle_outputs(struct prt_device_queue *q)
{
    for (uint32_t o = 0; o < q->root->out_count; o++)
        if (q->appended[o] < q->outputs[o].push_least)
            return fail_at_port(q, o, q->appended[o], q->outputs[o].push_least);
    for (uint32_t o = 0; o < q->root->out_count; o++) {
        uint64_t packets = q->appended[o];
        q->object->produced[o] += packets;
        if (q->object->most != NULL && packets > q->object->most[o]) q->object->most[o] = packets;
    }
    return KERNEL_OK;
}

static enum kernel_status run_outermost(struct prt_device_queue *q)
{
    const struct prt_kernel_object *object = q->object;
    q->launched = q->used = 0;
    for (uint32_t o = 0; o < q->root->out_count; o++) {
        q->base[o] = (uint8_t *)object->out[o] + object->produced[o] * q->width_bytes[o];
        q->appended[o] = 0;
    }
    uint32_t node =
        prt_launch_open(q->schedule, PRT_LAUNCH_NONE, PRT_LAUNCH_WITH_PARENT, q->root->launches, 0);
    uint32_t root = (uint32_t)(q->root - q->container->interfaces);
    prt_launch_name(q->schedule, node, root);
    enum kernel_status status = run_firing(q, (struct firing_of){.interface = root,
                                                                 .run = q->entries_of[root].run,
                                                                 .arguments = object->arguments,
                                                                 .node = node,
                                                                 .groups = 1});
    return status == KERNEL_OK ? settle_outputs(q) : status;
}

/* Firings with state follow each other: one sum.  Each other one is a warp of its own. */
static void count_firing(const struct prt_kernel_object *object, uint64_t firing, uint64_t cycles,
                         uint64_t *warp_cycles)
{
    if (!(object->flags & PRT_KERNEL_STATEFUL))
        warp_cycles[firing] = cycles;
    else
        warp_cycles[0] = core_cycles_add(firing > 0 ? warp_cycles[0] : 0, cycles);
}

enum kernel_status prt_device_queue_execute(struct prt_device_queue *q,
                                            const struct prt_kernel_object *object,
                                            uint64_t first_firing, uint64_t count, const void **in,
                                            struct kernel_window *windows, uint64_t *warp_cycles,
                                            struct kernel_fault *fault)
{
    uint64_t nodes = q->root->tree + 1;
    enum kernel_status status = KERNEL_OK;
    write_code(q);
    q->object = object;
    q->in = in;
    q->windows = object->windows != NULL ? windows : NULL;
    q->fault = fault;
    q->cycles = q->report.longest_cycles = 0;
    q->report.spans.count = q->report.spans.omitted = q->report.spans.base_cycles = 0;
    memset(q->report.cu_cycles, 0, q->cu_count * sizeof *q->report.cu_cycles);
    for (uint32_t o = 0; o < q->root->out_count; o++) {
        object->produced[o] = 0;
        if (object->most != NULL) object->most[o] = 0;
    }
    uint64_t completed = 0;
    for (; completed < count && status == KERNEL_OK; completed += status == KERNEL_OK) {
        uint64_t i = completed;
        if (!prt_launch_has_room(q->schedule, nodes)) schedule_recorded(q);
        place_inputs(object, i, in, windows);
        q->firing = first_firing + i;
        status = run_outermost(q);
        if (warp_cycles != NULL) count_firing(object, i, q->root_cost, warp_cycles);
    }
    if (status == KERNEL_OK)
        schedule_recorded(q);
    else
        prt_launch_clear(q->schedule);
    *object->completed = completed;
    return status;
}

enum kernel_status prt_device_queue_call(const struct prt_device_queue *q, uint32_t interface,
                                         const struct prt_kernel_object *object,
                                         const struct kernel_batch *batch)
{
    struct kernel_batch indexed = *batch;
    indexed.indices = q->indices[interface];
    return prt_kernel_call(object, q->entries_of[interface].run, &indexed);
}

uint64_t prt_device_queue_cycles(const struct prt_device_queue *q)
{
    return q->cycles;
}

uint64_t prt_device_queue_longest(const struct prt_device_queue *q)
{
    return q->report.longest_cycles;
}

const uint64_t *prt_device_queue_cus(const struct prt_device_queue *q)
{
    return q->report.cu_cycles;
}

struct prt_firing_spans prt_device_queue_spans(const struct prt_device_queue *q)
{
    const struct prt_launch_spans *spans = &q->report.spans;
    return (struct prt_firing_spans){spans->items, spans->count, spans->omitted};
}

void prt_device_queue_count_child(const struct prt_device_queue *q, uint32_t interface,
                                  struct prt_launch_kernel *sum)
{
    const struct prt_launch_kernel *k = &q->report.kernels[interface];
    sum->launches = core_cycles_add(sum->launches, k->launches);
    sum->groups = core_cycles_add(sum->groups, k->groups);
    sum->cycles = core_cycles_add(sum->cycles, k->cycles);
    sum->launch_cycles = core_cycles_add(sum->launch_cycles, k->launch_cycles);
    sum->wait_cycles = core_cycles_add(sum->wait_cycles, k->wait_cycles);
    sum->longest_cycles = max64(sum->longest_cycles, k->longest_cycles);
    if (k->level_most > sum->level_most) sum->level_most = k->level_most;
}

void prt_device_queues_count(const struct prt_kernel_object *objects, uint32_t object_count,
                             struct prt_device_counters *counters)
{
    for (uint32_t i = 0; i < object_count; i++) {
        if (objects[i].device_queue == NULL) continue;
        const struct prt_launch_report *r = &objects[i].device_queue->report;
        counters->child_launches = core_cycles_add(counters->child_launches, r->launches);
        counters->child_groups = core_cycles_add(counters->child_groups, r->groups);
        counters->child_cycles = core_cycles_add(counters->child_cycles, r->child_cycles);
        counters->child_launch_cycles =
            core_cycles_add(counters->child_launch_cycles, r->launch_cycles);
        counters->child_wait_cycles = core_cycles_add(counters->child_wait_cycles, r->wait_cycles);
        if (r->levels_most > counters->child_levels_most)
            counters->child_levels_most = r->levels_most;
        if (r->entries_most > counters->child_queue_most)
            counters->child_queue_most = r->entries_most;
    }
}
