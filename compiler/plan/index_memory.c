/* SPDX-License-Identifier: MIT */
/*
 * index_memory: where the index generator keeps the packed indices of each kernel with work-items,
 * and how its iterator goes on (lang/index_generator.md, "Index memory").
 *
 * A kernel has memory of its own if three conditions hold: the device has enough index memory, the kernel is launched
 * often enough, and there is room.  Kernels with more launches come first.  The rest of the memory holds the largest
 * group of all other kernels, which share it.  The launches of a node in an iteration are at most its repetitions over
 * its threshold.  The indices of a child kernel lie in the device-queue cache instead, but they have to fit the
 * generator, too.  A device without index memory has no generator: all kernels share address 0, which takes nothing.
 */
#include "base/arithmetic.h"
#include "compiler/plan/plan_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/ratio.h"
#include "lang/index_format.h"

enum { ALIGNMENT_BYTES = 4 };

struct placing {
    struct compile *cx;
    struct arena *arena;
    const struct graph *graph;
    struct plan *plan;
    const struct devdesc *device;
};

struct wanted {
    struct plan_index *index;
    uint64_t launches;
    uint64_t bytes;
};

/* ---- what each kernel needs ---- */

static bool report_kernel(const struct placing *at, const struct plan_index *index,
                          const char *text)
{
    if (at->cx == NULL) return false;
    struct diag *diag = diag_report(at->cx->diags, RULE_TOO_LARGE, index->kernel->span, "%s", text);
    diag_help(diag, "make its group smaller, or choose a device with a larger index generator");
    return false;
}

/* Reports indices that the device cannot hold, at the place of the kernel. */
static bool check_device(const struct placing *at, const struct wanted *wanted,
                         const struct index_format *format)
{
    const struct devdesc *device = at->device;
    const struct plan_index *index = wanted->index;
    if (device->index_memory_bytes == 0) return true; /* no generator: items divide */
    if (format->total_bits > device->index_register_bits)
        return report_kernel(at, index,
                             arena_printf(at->arena,
                                          "the indices of '%s' take %" PRIu32
                                          " bits, the registers of device '%s' "
                                          "have %" PRIu32,
                                          index->kernel->title, format->total_bits, device->name,
                                          device->index_register_bits));
    if (wanted->bytes > device->index_memory_bytes)
        return report_kernel(at, index,
                             arena_printf(at->arena,
                                          "the indices of '%s' take %" PRIu64
                                          " bytes, the index memory of device '%s' has %" PRIu64,
                                          index->kernel->title, wanted->bytes, device->name,
                                          device->index_memory_bytes));
    return true;
}

static bool measure_index(const struct placing *at, struct wanted *wanted)
{
    struct plan_index *index = wanted->index;
    const uint32_t *d = index->extents;
    struct index_format format = index_format_of(d);
    index->items = d[0] * d[1] * d[2];
    index->bits = format.total_bits;
    index->register_bits = format.register_bits;
    index->bytes = (uint64_t)index->items * (format.register_bits / 8);
    wanted->bytes = align_up(index->bytes, ALIGNMENT_BYTES);
    const uint32_t lanes = at->device->lanes;
    index->step[0] = lanes % d[0];
    index->step[1] = lanes / d[0] % d[1];
    index->step[2] = lanes / d[0] / d[1];
    return check_device(at, wanted, &format);
}

/* ---- how often it is launched ---- */

static void count_launches(const struct placing *at, struct wanted *wanted, uint32_t count)
{
    const struct graph *graph = at->graph;
    uint32_t ids = count > 0 ? 0 : 1;
    for (uint32_t i = 0; i < count; i++)
        if (wanted[i].index->kernel->id >= ids) ids = wanted[i].index->kernel->id + 1;
    struct wanted **by_id = ARENA_ARRAY(at->arena, struct wanted *, ids);
    for (uint32_t i = 0; i < count; i++)
        by_id[wanted[i].index->kernel->id] = &wanted[i];
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        if (!node->kernel->grouped || node->kernel->id >= ids) continue;
        struct wanted *of = by_id[node->kernel->id];
        uint64_t threshold = max64(at->plan->stages[i].threshold, 1);
        if (of != NULL)
            of->launches =
                add_clamped(of->launches, (node->repetitions + threshold - 1) / threshold);
    }
}

/* ---- kernels with memory of their own ---- */

/* Those launched most first; equals as they stand. */
static int compare_launches(const void *left, const void *right)
{
    const struct wanted *a = left, *b = right;
    if (a->launches != b->launches) return a->launches > b->launches ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* The first `own` have memory of their own, one after the other; the rest share the memory that follows. */
static void place_indices(struct wanted *wanted, uint32_t count, uint32_t own)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        wanted[i].index->address_bytes = (uint32_t)at;
        wanted[i].index->dedicated = i < own;
        if (i < own) at += wanted[i].bytes;
    }
}

static void divide_memory(const struct placing *at, struct wanted *wanted, uint32_t count)
{
    const struct devdesc *device = at->device;
    qsort(wanted, count, sizeof *wanted, compare_launches);
    uint64_t *largest = ARENA_ARRAY(at->arena, uint64_t, (size_t)count + 1); /* of i and later */
    for (uint32_t i = count; i-- > 0;)
        largest[i] = max64(largest[i + 1], wanted[i].bytes);
    uint32_t own = 0;
    uint64_t taken = 0;
    bool enough = device->index_memory_bytes >= device->index_shared_below_bytes;
    while (enough && own < count && wanted[own].launches >= device->index_dedicated_launches &&
           taken + wanted[own].bytes + largest[own + 1] <= device->index_memory_bytes)
        taken += wanted[own++].bytes;
    place_indices(wanted, count, own);
}

void plan_indices(struct compile *cx, struct arena *arena, const struct graph *graph,
                  struct plan *plan)
{
    const struct placing at = {cx, arena, graph, plan, plan->device};
    size_t all = graph->kernels.count, nodes = all - graph->child_kernels;
    plan->indices = ARENA_ARRAY(cx != NULL ? cx->arena : arena, struct plan_index, all);
    struct wanted *wanted = ARENA_ARRAY(arena, struct wanted, all);
    bool fits = true;
    uint32_t count = 0;
    for (size_t i = 0; i < all; i++) {
        if (!graph->kernels.items[i]->grouped) continue;
        struct plan_index *index = &plan->indices[count];
        index->kernel = graph->kernels.items[i];
        memcpy(index->extents, index->kernel->group, sizeof index->extents);
        wanted[count].index = index;
        fits = measure_index(&at, &wanted[count++]) && fits;
        if (i < nodes) plan->index_count = count;
    }
    if (!fits) return;
    count_launches(&at, wanted, plan->index_count);
    divide_memory(&at, wanted, plan->index_count);
}

const struct plan_index *plan_find_index(const struct plan *plan, const struct kernel *kernel)
{
    for (uint32_t i = 0; kernel->grouped && i < plan->index_count; i++)
        if (plan->indices[i].kernel == kernel) return &plan->indices[i];
    return NULL;
}
