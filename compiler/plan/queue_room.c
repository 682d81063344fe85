/* SPDX-License-Identifier: MIT */
/*
 * queue_room: whether the device queue holds what one firing launches (bodies/launches has counted it).
 */
#include <inttypes.h>

#include "compiler/plan/plan_internal.h"

static void report_room(struct compile *cx, const struct kernel *k, const struct devdesc *device)
{
    const struct kernel_launches *l = &k->launches;
    size_t kept = diag_kept_count(cx->diags);
    struct diag *d = diag_report(cx->diags, RULE_DEVICE_QUEUE, k->span,
                                 "a firing of '%s' may have %" PRIu64
                                 " launch%s in the device queue, that of %s holds %" PRIu32,
                                 k->name, l->queue_entries, l->queue_entries == 1 ? "" : "es",
                                 device->name, device->device_queue_entries);
    for (size_t i = 0; i < l->statements.count && i < 4; i++)
        diag_label(d, l->statements.items[i]->span, "launched here");
    diag_note(d,
              "up to %" PRIu64 " launch%s of the firing itself, %" PRIu64
              " level%s of launches, %" PRIu64 " in all",
              l->most, l->most == 1 ? "" : "es", l->nesting, l->nesting == 1 ? "" : "s", l->tree);
    diag_help(d,
              "declare smaller bounds ('launches', 'nesting', 'total'), or give the device a "
              "queue of %" PRIu64 " (device_queue_entries)",
              l->queue_entries);
    graph_trace_kernel(cx, k, kept);
}

void plan_check_queue(struct compile *cx, const struct graph *graph, const struct devdesc *device)
{
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        if (!k->is_child && k->launches.queue_entries > device->device_queue_entries)
            report_room(cx, k, device);
    }
}
