/* SPDX-License-Identifier: MIT */
/* Canonical text and hash of a device description: what a container says it was made for. */
#include "lang/devdesc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <xxhash.h>

struct text {
    char *to;
    size_t capacity, length;
};

static void add_formatted(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_formatted(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = text->length < text->capacity ? text->capacity - text->length : 0;
    int length = vsnprintf(room > 0 ? text->to + text->length : NULL, room, format, args);
    va_end(args);
    if (length > 0) text->length += (size_t)length;
}

static void add_number(struct text *text, const char *field, uint64_t value)
{
    add_formatted(text, "%s %" PRIu64 "\n", field, value);
}

const char *devdesc_unit_name(enum devdesc_unit_kind kind)
{
    static const char *const names[DEVDESC_UNITS] = {
#define UNIT(enumerator, name) [DEVDESC_UNIT_##enumerator] = name,
#include "lang/units.def"
#undef UNIT
    };
    return names[kind];
}

static void add_units(struct text *text, const struct devdesc_unit *units)
{
    for (int i = 0; i < DEVDESC_UNITS; i++) {
        if (units[i].bytes_per_cycle == 0) continue;
        add_formatted(text, "unit_%s %" PRIu32 " %" PRIu32 "\n", devdesc_unit_name(i),
                      units[i].bytes_per_cycle, units[i].start_cycles);
    }
}

static void add_costs(struct text *text, const struct devdesc_costs *costs)
{
    add_number(text, "cost_integer", costs->integer);
    add_number(text, "cost_multiply", costs->multiply);
    add_number(text, "cost_divide", costs->divide);
    add_number(text, "cost_float", costs->floating);
    add_number(text, "cost_float_divide", costs->float_divide);
    add_number(text, "cost_sqrt", costs->sqrt);
    add_number(text, "cost_convert", costs->convert);
    add_number(text, "cost_double", costs->double_factor);
    add_number(text, "cost_load", costs->load);
    add_number(text, "cost_store", costs->store);
    add_number(text, "cost_branch", costs->branch);
    add_number(text, "cost_call", costs->call);
    add_number(text, "cost_barrier", costs->barrier);
}

/* Containers of descriptions without these fields are older than the fields. */
static void add_later_fields(struct text *text, const struct devdesc *d)
{
    if (d->memory_shared > 0) add_number(text, "memory_shared", d->memory_shared);
    if (d->memory_latency_cycles > 0)
        add_number(text, "memory_latency_cycles", d->memory_latency_cycles);
    if (d->memory_in_flight_bytes > 0)
        add_number(text, "memory_in_flight_bytes", d->memory_in_flight_bytes);
    if (d->cache_bytes_per_cycle > 0)
        add_number(text, "cache_bytes_per_cycle", d->cache_bytes_per_cycle);
    if (d->costs.load_line_bytes > 0) add_number(text, "load_line", d->costs.load_line_bytes);
    if (d->costs.store_line_bytes > 0) add_number(text, "store_line", d->costs.store_line_bytes);
    if (d->costs.line != 1) add_number(text, "cost_line", d->costs.line);
    if (d->costs.unrolled_rounds > 0) add_number(text, "unrolled_rounds", d->costs.unrolled_rounds);
    if (d->resident_warps > 0) add_number(text, "resident_warps", d->resident_warps);
    if (d->registers_per_cu > 0) add_number(text, "registers_per_cu", d->registers_per_cu);
    if (d->registers_per_item > 0) add_number(text, "registers_per_item", d->registers_per_item);
    if (d->register_unit > 1) add_number(text, "register_unit", d->register_unit);
    if (d->warp_residence_cycles > 0)
        add_number(text, "warp_residence_cycles", d->warp_residence_cycles);
    if (d->launches_overlap > 0) add_number(text, "launches_overlap", d->launches_overlap);
    if (d->instruction_latency_cycles > 1)
        add_number(text, "instruction_latency_cycles", d->instruction_latency_cycles);
    add_units(text, d->units);
}

size_t devdesc_text(const struct devdesc *d, char *to, size_t capacity)
{
    struct text text = {to, capacity, 0};
    add_formatted(&text, "name %.*s\n", (int)sizeof d->name, d->name);
    add_number(&text, "cu_count", d->cu_count);
    add_number(&text, "lanes", d->lanes);
    add_number(&text, "host", d->host);
    if (d->cuda != 0) add_number(&text, "cuda", d->cuda); /* older hashes of others stay valid */
    add_number(&text, "clock_hz", d->clock_hz);
    add_number(&text, "memory_bytes", d->memory_bytes);
    add_number(&text, "memory_bytes_per_cycle", d->memory_bytes_per_cycle);
    add_number(&text, "local_bytes", d->local_bytes);
    add_formatted(&text, "cus_per_domain");
    for (int i = 0; i < DEVDESC_LEVELS; i++)
        add_formatted(&text, " %" PRIu32, d->cus_per_domain[i]);
    add_formatted(&text, "\ncache_bytes");
    for (int i = 0; i < DEVDESC_LEVELS; i++)
        add_formatted(&text, " %" PRIu64, d->cache_bytes[i]);
    add_formatted(&text, "\n");
    add_number(&text, "schemes", d->schemes);
    add_number(&text, "max_sub_devices", d->max_sub_devices);
    add_number(&text, "max_group_items", d->max_group_items);
    add_number(&text, "reference_entries", d->reference_entries);
    add_number(&text, "launch_enqueue_cycles", d->launch_enqueue_cycles);
    add_number(&text, "launch_process_cycles", d->launch_process_cycles);
    add_number(&text, "launch_cleanup_cycles", d->launch_cleanup_cycles);
    if (d->processes_ahead > 0) add_number(&text, "processes_ahead", d->processes_ahead);
    add_number(&text, "switch_cycles", d->switch_cycles);
    add_number(&text, "device_queue_entries", d->device_queue_entries);
    add_number(&text, "child_issue_cycles", d->child_issue_cycles);
    add_number(&text, "child_start_cycles", d->child_start_cycles);
    add_number(&text, "cores_per_cu", d->cores_per_cu);
    add_number(&text, "index_register_bits", d->index_register_bits);
    add_number(&text, "index_history_entries", d->index_history_entries);
    add_number(&text, "index_memory_bytes", d->index_memory_bytes);
    add_number(&text, "index_shared_below_bytes", d->index_shared_below_bytes);
    add_number(&text, "index_dedicated_launches", d->index_dedicated_launches);
    add_costs(&text, &d->costs);
    add_later_fields(&text, d);
    return text.length;
}

uint64_t devdesc_hash(const struct devdesc *description)
{
    char text[8192]; /* more than all fields at their widest */
    size_t length = devdesc_text(description, text, sizeof text);
    return XXH64(text, length, 0);
}
