/* SPDX-License-Identifier: MIT */
/*
 * emit_sched: the scheduler program of a plan.
 *
 *         partition_affinity level, n | partition_equally n | partition_counts c0 c1 ...
 *                                                             if stages run side by side
 *         packets condensed
 *         bind stage, sub-device | bind_root stage            every stage
 *         load_reference stage                                if it owns an entry
 *         ...                                                 emit_static: stages with a static schedule
 *     L1:
 *         ends                                                guarded dispatch of all stages
 *         round_robin 0, L2        one set for each importance in use, the greatest first
 *         dispatch
 *         jump L1
 *     L2:
 *         round_robin 1, L3
 *         ...
 *     L3:
 *         wait L1
 *         halt
 *
 * If the author has named a policy, there is one set of all stages, and `round_robin`, `priority` or
 * `fullest` selects from it.  If a static part leaves out some stages, a last set holds them; it is not
 * the guarded loop's.
 */
#include "compiler/plan/emit_sched.h"

#include "compiler/plan/emit_static.h"

#include <stdlib.h>

_Static_assert(DEVDESC_NUMA == 0 && DEVDESC_LEVELS == SCHED_LEVELS, "levels");

static void build_partition(struct sched_builder *builder, const struct plan *plan)
{
    uint32_t domains[2] = {(uint32_t)plan->level,
                           plan->sub_device_count ? plan->sub_devices[0] : 0};
    switch (plan->partition) {
    case PLAN_PARTITION_NONE: break;
    case PLAN_PARTITION_COUNTS:
        sched_build(builder, SCHED_PARTITION_COUNTS, &plan->sub_device_count, plan->sub_devices);
        break;
    case PLAN_PARTITION_EQUALLY:
        sched_build(builder, SCHED_PARTITION_EQUALLY, &plan->sub_devices[0], NULL);
        break;
    case PLAN_PARTITION_AFFINITY:
        sched_build(builder, SCHED_PARTITION_AFFINITY, domains, NULL);
        break;
    }
}

static void build_bindings(struct sched_builder *builder, const struct plan *plan)
{
    const uint32_t condensed = SCHED_FORM_CONDENSED;
    sched_build(builder, SCHED_PACKETS, &condensed, NULL);
    for (uint32_t stage = 0; stage < plan->stage_count; stage++) {
        const struct plan_stage *planned = &plan->stages[stage];
        uint32_t operands[2] = {stage, planned->sub_device};
        bool root = operands[1] == GRAPH_NONE, owner = planned->entry != GRAPH_NONE;
        sched_build(builder, root ? SCHED_BIND_ROOT : SCHED_BIND, operands, NULL);
        if (owner && !planned->spilled) sched_build(builder, SCHED_LOAD_REFERENCE, operands, NULL);
    }
}

/* The test of every set jumps to the next one's, the last to `wait`. */
static void build_scheduler_loop(struct sched_builder *builder, enum sched_opcode selection,
                                 uint32_t set_count)
{
    uint32_t top = sched_build(builder, SCHED_ENDS, NULL, NULL), select = 0;
    for (uint32_t set = 0; set < set_count; set++) {
        uint32_t next = sched_build(builder, selection, (uint32_t[]){set, 0}, NULL);
        if (set > 0) sched_patch(builder, select, 1, next);
        select = next;
        sched_build(builder, SCHED_DISPATCH, NULL, NULL);
        sched_build(builder, SCHED_JUMP, &top, NULL);
    }
    uint32_t idle = sched_build(builder, SCHED_WAIT, &top, NULL);
    sched_patch(builder, select, 1, idle);
    sched_build(builder, SCHED_HALT, NULL, NULL);
}

static uint32_t stage_importance(const struct graph *graph, const struct plan *plan, uint32_t stage)
{
    return graph->nodes.items[plan->stages[stage].node].importance;
}

static void collect_all(struct arena *arena, const struct plan *plan, struct sched_program *program)
{
    program->set_count = 1;
    program->sets = ARENA_ARRAY(arena, struct sched_set, 1);
    program->sets[0].count = plan->stage_count;
    program->sets[0].stages = ARENA_ARRAY(arena, uint32_t, plan->stage_count);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        program->sets[0].stages[i] = i;
}

/* One set for each importance in use, the greatest first; stages in order. */
static void collect_sets(struct arena *arena, const struct graph *graph, const struct plan *plan,
                         struct sched_program *program)
{
    enum { LEVELS = 256 };
    uint32_t counts[LEVELS] = {0}, set_of[LEVELS];
    for (uint32_t i = 0; i < plan->stage_count; i++)
        counts[stage_importance(graph, plan, i)]++;
    program->sets = ARENA_ARRAY(arena, struct sched_set, LEVELS);
    for (uint32_t level = LEVELS; level-- > 0;) {
        if (counts[level] == 0) continue;
        set_of[level] = program->set_count++;
        program->sets[set_of[level]].stages = ARENA_ARRAY(arena, uint32_t, counts[level]);
    }
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        struct sched_set *set = &program->sets[set_of[stage_importance(graph, plan, i)]];
        set->stages[set->count++] = i;
    }
}

/* Are some stages in an island and others not? */
static bool is_mixed(const struct plan *plan)
{
    return plan->schedule != NULL && plan->schedule->island_count > 0 &&
           plan->schedule->static_count < plan->stage_count;
}

static void collect_dynamic(struct arena *arena, const struct plan *plan,
                            struct sched_program *program)
{
    struct sched_set *sets = ARENA_ARRAY(arena, struct sched_set, program->set_count + 1);
    for (uint32_t i = 0; i < program->set_count; i++)
        sets[i] = program->sets[i];
    struct sched_set *set = &sets[program->set_count++];
    set->stages = ARENA_ARRAY(arena, uint32_t, plan->stage_count);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        if (plan->schedule->obstacles[i]) set->stages[set->count++] = i;
    program->sets = sets;
}

static enum sched_opcode selection_of(enum graph_policy policy)
{
    switch (policy) {
    case POLICY_PRIORITY: return SCHED_PRIORITY;
    case POLICY_FULLEST: return SCHED_FULLEST;
    case POLICY_AUTO:
    case POLICY_ROUND_ROBIN: break;
    }
    return SCHED_ROUND_ROBIN;
}

struct sched_program *sched_program_of(struct arena *arena, const struct graph *graph,
                                       const struct plan *plan)
{
    struct sched_builder builder = {0};
    struct sched_program *program = ARENA_NEW(arena, struct sched_program);
    if (graph->policy == POLICY_AUTO)
        collect_sets(arena, graph, plan, program);
    else
        collect_all(arena, plan, program);
    uint32_t guarded_sets = program->set_count;
    if (is_mixed(plan)) collect_dynamic(arena, plan, program);
    build_partition(&builder, plan);
    build_bindings(&builder, plan);
    emit_static(&builder, plan, program->set_count - 1, selection_of(plan->selection));
    build_scheduler_loop(&builder, selection_of(plan->selection), guarded_sets);
    if (builder.no_memory) arena_out_of_memory();
    if (builder.failed) builder.code_bytes = 0;
    program->stage_count = plan->stage_count;
    program->code = arena_copy(arena, builder.code, builder.code_bytes);
    program->code_bytes = builder.code_bytes;
    free(builder.code);
    return program;
}

struct sched_program *sched_emit(struct compile *cx, const struct graph *graph,
                                 const struct plan *plan)
{
    struct sched_program *program = sched_program_of(cx->arena, graph, plan);
    if (program->code_bytes == 0)
        diag_report(cx->diags, RULE_TOO_LARGE, graph->span,
                    "the scheduler program of pipeline '%s' is beyond %u bytes", graph->name,
                    SCHED_MAX_CODE_BYTES);
    return program;
}
