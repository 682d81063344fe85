/* SPDX-License-Identifier: MIT */
#include "compiler/describe/cost_print.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/bodies/cost.h"
#include "compiler/target/target.h"

static void print_warp_shape(FILE *to, const struct kernel *kernel, const struct graph_warp *warp,
                             bool stateful)
{
    if (!stateful && warp->pieces > 1)
        fprintf(to, ", a warp, %" PRIu32 " of a firing: ", warp->pieces);
    /* Firings that launch do not share warps, nor do launched firings. */
    else if (stateful || kernel->is_child || kernel_launches_any(&kernel->launches))
        fputs(", a firing: ", to);
    else
        fprintf(to, ", a warp of %" PRIu32 " firing%s: ", warp->firings,
                warp->firings == 1 ? "" : "s");
}

/* The words for the event that a region counts: `what` of cost_regions. */
static const char *arrival_words(const char *what)
{
    static const char *const words[][2] = {
        {"then", "branch taken"}, {"else", "branch taken"}, {"case", "branch taken"},
        {"yes", "choice taken"},  {"no", "choice taken"},   {"default", "branch taken"},
        {"rest", "arrival"},      {"right", "evaluation"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], what) == 0) return words[i][1];
    return what; /* round, next round, call, body */
}

/* ", 2 more for each round at 7:5" */
static void print_region(FILE *to, const struct compile *cx, const struct cost_region *region)
{
    const struct source *source = source_get(cx->sources, region->span.source);
    uint32_t line, column;
    fprintf(to, ", %" PRIu64 " more for each %s", region->cycles, arrival_words(region->what));
    if (source == NULL) return;
    source_locate(source, region->span.begin, &line, &column);
    fprintf(to, " at %" PRIu32 ":%" PRIu32, line, column);
}

static void print_plan(FILE *to, const struct compile *cx, const struct cost_plan *plan)
{
    fprintf(to, "%" PRIu64, plan->constant);
    if (plan->counter_count == 0) return;
    for (uint32_t i = 0; i < plan->region_count; i++)
        if (plan->regions[i].counter != COST_NO_COUNTER) print_region(to, cx, &plan->regions[i]);
    fputs(target_of(cx->device)->counts_cycles ? "; counted at run time" : "; not counted", to);
}

static bool is_first_node(const struct graph *graph, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (graph->nodes.items[i].kernel == graph->nodes.items[index].kernel &&
            !graph->nodes.items[i].cost_declared)
            return false;
    return !graph->nodes.items[index].cost_declared;
}

void cost_print(FILE *to, const struct compile *cx, const struct graph *graph)
{
    fputc('\n', to);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        const struct kernel *kernel = node->kernel;
        if (kernel->costs == NULL || !is_first_node(graph, i)) continue;
        fprintf(to, "cycles   %s", kernel->title);
        print_warp_shape(to, kernel, &node->warp, node->stateful);
        print_plan(to, cx, kernel->costs);
        if (kernel->finish_costs != NULL) {
            fputs("; finish ", to);
            print_plan(to, cx, kernel->finish_costs);
        }
        fputc('\n', to);
    }
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++) {
        const struct kernel *kernel = graph->kernels.items[i];
        if (kernel->costs == NULL) continue;
        const struct graph_warp warp = cost_warp_of(kernel, false, cx->device);
        fprintf(to, "cycles   %s", kernel->title);
        print_warp_shape(to, kernel, &warp, false);
        print_plan(to, cx, kernel->costs);
        fputc('\n', to);
    }
}
