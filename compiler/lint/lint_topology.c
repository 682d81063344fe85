/* SPDX-License-Identifier: MIT */
/* Depths, serial kernels and rates, from the results of the analyses. */
#include <inttypes.h>
#include <string.h>

#include "compiler/lint/lint_internal.h"

static const enum rule rules[] = {RULE_OVERSIZED_DEPTH, RULE_SERIAL_BOTTLENECK, RULE_LOOSE_RATE};

enum {
    OVERSIZED_FACTOR = 256,
    OVERSIZED_BYTES = 64 << 10, /* smaller depths are not reported */
};
#define BOTTLENECK_PERCENT 50.0

static void check_depth(struct compile *cx, const struct graph_buffer *b)
{
    uint64_t least = b->depth_min_packets, bytes;
    if (!b->depth_declared || least == 0 || b->depth_packets / OVERSIZED_FACTOR < least) return;
    if (b->depth_span.source != LINTED_SOURCE) return;
    if (__builtin_mul_overflow(b->depth_packets - least, b->width_bytes, &bytes)) return;
    if (bytes < OVERSIZED_BYTES) return;
    struct diag *d = diag_report(cx->diags, RULE_OVERSIZED_DEPTH, b->depth_span,
                                 "'%s' holds %" PRIu64 " packets; %" PRIu64 " are enough", b->name,
                                 b->depth_packets, least);
    diag_note(d, "%" PRIu64 " bytes more than the pipeline needs to go on", bytes);
    diag_help(d, "leave the depth out: pipec chooses one that keeps the device busy");
}

/* Cycles of one iteration. */
static double node_load(const struct graph_node *node)
{
    return (double)node->cost_cycles * (double)node->repetitions;
}

static void lint_node(struct compile *cx, const struct graph_node *node, double total)
{
    const struct kernel *k = node->kernel;
    if (!node->stateful || k->states.count == 0 || total <= 0) return;
    double percent = 100 * node_load(node) / total;
    if (percent < BOTTLENECK_PERCENT || node->span.source != LINTED_SOURCE) return;
    struct diag *d =
        diag_report(cx->diags, RULE_SERIAL_BOTTLENECK, node->span,
                    "'%s' does %.0f %% of the work, one firing at a time", node->name, percent);
    diag_label(d, k->states.items[0]->span, "because of this state");
    diag_help(d, "keep in the kernel with 'state' only what depends on the firing before");
}

/* `2`, or by phase `{1, 2}`. */
static const char *exact_rate_text(struct arena *arena, const struct kernel_port *port,
                                   uint32_t phases)
{
    if (port->pushes == NULL) return arena_printf(arena, "%" PRIu64, port->push);
    const char *text = "{";
    for (uint32_t i = 0; i < phases; i++)
        text = arena_printf(arena, "%s%s%" PRIu64, text, i > 0 ? ", " : "", port->pushes[i]);
    return arena_printf(arena, "%s}", text);
}

/* With parameters the number may be another one for other values. */
static void lint_rates(struct compile *cx, const struct kernel *k)
{
    enum { SHOWN_PHASES = 8 };
    if (k->span.source != LINTED_SOURCE || strcmp(k->name, k->title) != 0) return;
    for (uint32_t p = 0; p < k->out_count; p++) {
        const struct kernel_port *port = &k->out[p];
        if (!port->bounds_exact || k->phases > SHOWN_PHASES) continue;
        const char *rate = exact_rate_text(cx->arena, port, k->phases);
        struct diag *d = diag_report(cx->diags, RULE_LOOSE_RATE, port->rate_span,
                                     "'%s' declares bounds for '%s', its body always appends %s",
                                     k->name, port->name, rate);
        diag_help(d, "write 'push %s': a reader of the program need not look for what varies",
                  rate);
        diag_fix(d, port->rate_span, "push %s", rate);
    }
}

void lint_topology(struct compile *cx, const struct graph *graph)
{
    if (!lint_wants(cx, rules, sizeof rules / sizeof rules[0])) return;
    double total = 0;
    for (size_t i = 0; i < graph->nodes.count; i++)
        total += node_load(&graph->nodes.items[i]);
    for (size_t i = 0; i < graph->buffers.count; i++)
        check_depth(cx, &graph->buffers.items[i]);
    for (size_t i = 0; i < graph->kernels.count; i++)
        lint_rates(cx, graph->kernels.items[i]);
    for (size_t i = 0; graph->nodes.count > 1 && i < graph->nodes.count; i++)
        lint_node(cx, &graph->nodes.items[i], total);
}
