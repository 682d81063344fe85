/* SPDX-License-Identifier: MIT */
#include "compiler/describe/launches_print.h"

#include <inttypes.h>

static const char *proof_words(bool proven)
{
    return proven ? "" : " (counted at run time)";
}

static void print_root(FILE *to, const struct kernel *k)
{
    const struct kernel_launches *l = &k->launches;
    fprintf(to, "%s: up to %" PRIu64 " in the tree of a firing%s, %" PRIu64 " level%s%s", k->title,
            l->tree, proof_words(l->tree_proven), l->nesting, l->nesting == 1 ? "" : "s",
            proof_words(l->nesting_proven));
    fprintf(to, "; %" PRIu64 " entr%s of the device queue\n", l->queue_entries,
            l->queue_entries == 1 ? "y" : "ies");
}

static void print_order(FILE *to, const struct launch *launch)
{
    static const char *const orders[] = {[LAUNCH_WITH_PARENT] = "with parent",
                                         [LAUNCH_AFTER_GROUP] = "after group",
                                         [LAUNCH_AFTER_PARENT] = "after parent"};
    bool events_alone = launch->wait_count > 0 && launch->order == LAUNCH_WITH_PARENT;
    if (!events_alone) fputs(orders[launch->order], to);
    for (uint32_t i = 0; i < launch->wait_count; i++)
        fprintf(to, "%s%s", i > 0 || !events_alone ? ", " : "after ",
                launch->waits[i]->variable->name);
    fprintf(to, ": %s\n", launch->order_reason);
}

static void print_launched_child(FILE *to, const struct kernel *child, bool is_other)
{
    fprintf(to, "%s%s ", is_other ? "or " : "", child->title);
    if (child->in_groups) fprintf(to, "(up to %" PRIu32 " work-groups) ", child->work_groups);
}

static void print_launching_kernel(FILE *to, const struct sources *sources, const struct kernel *k)
{
    const struct kernel_launches *l = &k->launches;
    fprintf(to, "%s: up to %" PRIu64 " a firing%s\n", k->title, l->most, proof_words(l->proven));
    for (size_t i = 0; i < l->statements.count; i++) {
        const struct launch *launch = l->statements.items[i];
        const struct source *source = source_get(sources, launch->span.source);
        uint32_t line = 0, column = 0;
        if (source != NULL) source_locate(source, launch->span.begin, &line, &column);
        fprintf(to, "  %" PRIu32 ":%" PRIu32 " ", line, column);
        for (uint32_t c = 0; c < launch->child_count; c++)
            print_launched_child(to, launch->children[c].kernel, c > 0);
        print_order(to, launch);
    }
}

void launches_print(FILE *to, const struct sources *sources, const struct graph *graph)
{
    if (graph->child_kernels == 0) return;
    fputs("\nlaunches (line:column, when a child begins and why)\n", to);
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        if (kernel_launches_any(&k->launches) && !k->is_child) print_root(to, k);
    }
    for (size_t i = 0; i < graph->kernels.count; i++)
        if (kernel_launches_any(&graph->kernels.items[i]->launches))
            print_launching_kernel(to, sources, graph->kernels.items[i]);
}
