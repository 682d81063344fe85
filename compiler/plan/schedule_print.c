/*
 * schedule_print: looped schedules in the notation of the literature.
 */
#include "compiler/plan/schedule.h"

#include <inttypes.h>

static const char *name_of(const struct graph *graph, const struct plan *plan, uint32_t stage)
{
    return graph->nodes.items[plan->stages[stage].node].name;
}

void schedule_print_part(FILE *to, const struct graph *graph, const struct plan *plan,
                         const struct schedule_part *part)
{
    for (uint32_t i = 0; i < part->op_count; i++) {
        const struct schedule_op *op = &part->ops[i];
        switch (op->kind) {
        case SCHEDULE_RUN:
            fprintf(to, "(%" PRIu32 " %s)", op->count, name_of(graph, plan, op->stage));
            break;
        case SCHEDULE_REPEAT: fprintf(to, "(%" PRIu32 " ", op->count); break;
        case SCHEDULE_AGAIN: fputc(')', to); break;
        }
    }
}

void schedule_print_iteration(FILE *to, const struct graph *graph, const struct plan *plan,
                              const struct schedule_island *island)
{
    for (uint32_t i = 0; i < island->level_count; i++) {
        if (i > 0) fputs(" | ", to);
        schedule_print_part(to, graph, plan, &island->levels[i]);
    }
}
