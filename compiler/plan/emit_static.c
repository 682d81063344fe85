/* SPDX-License-Identifier: MIT */
#include "compiler/plan/emit_static.h"

#include <string.h>

#include "base/vec.h"

typedef VEC(uint32_t) offset_list;

struct emission {
    struct arena *arena; /* scratch */
    struct sched_builder *builder;
    offset_list leaving; /* instructions whose label is the end of the static part */
};

/* The index of the operand that is the label of the instruction at `offset`. */
static uint32_t label_of(const struct sched_builder *builder, uint32_t offset)
{
    const char *letters = sched_opcodes[builder->code[offset]].operands;
    return (uint32_t)(strchr(letters, 'L') - letters);
}

static void set_labels(struct emission *e, const offset_list *from, uint32_t label)
{
    for (size_t i = 0; i < from->count && !e->builder->failed; i++)
        sched_patch(e->builder, from->items[i], label_of(e->builder, from->items[i]), label);
}

static uint32_t program_offset(const struct emission *e)
{
    return e->builder->code_bytes;
}

static void build_guard(struct emission *e, const struct schedule_guard *guard,
                        offset_list *failing)
{
    uint32_t port[4] = {guard->stage, guard->port, guard->count, 0};
    uint32_t source[3] = {guard->stage, guard->count, 0};
    uint32_t offset = 0;
    switch (guard->kind) {
    case SCHEDULE_HAS_PACKETS:
        offset = sched_build(e->builder, SCHED_HAS_PACKETS, port, NULL);
        break;
    case SCHEDULE_HAS_ROOM: offset = sched_build(e->builder, SCHED_HAS_ROOM, port, NULL); break;
    case SCHEDULE_GOES_ON: offset = sched_build(e->builder, SCHED_GOES_ON, source, NULL); break;
    }
    vec_push(e->arena, failing, offset);
}

/* Builds the guards of the first `count` parts. */
static void build_guards(struct emission *e, const struct schedule_part *parts, uint32_t count,
                         offset_list *failing)
{
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < parts[p].guard_count; i++)
            build_guard(e, &parts[p].guards[i], failing);
}

static void build_ops(struct emission *e, const struct schedule_part *part)
{
    for (uint32_t i = 0; i < part->op_count; i++) {
        const struct schedule_op *op = &part->ops[i];
        switch (op->kind) {
        case SCHEDULE_RUN:
            sched_build(e->builder, SCHED_RUN, (uint32_t[]){op->stage, op->count}, NULL);
            break;
        case SCHEDULE_REPEAT: sched_build(e->builder, SCHED_REPEAT, &op->count, NULL); break;
        case SCHEDULE_AGAIN: sched_build(e->builder, SCHED_AGAIN, NULL, NULL); break;
        }
    }
}

/* A guard that fails in the loop may hold again when a dispatch has completed.  No stage ends
 * meanwhile: the packets of its `finish` are not part of the schedule. */
static void build_wait(struct emission *e, uint32_t top, const offset_list *failing)
{
    set_labels(e, failing, program_offset(e));
    sched_build(e->builder, SCHED_WAIT, &top, NULL);
}

/* ---- one queue ---- */

static void build_queue_loop(struct emission *e, const struct schedule_island *island)
{
    offset_list failing = {0};
    uint32_t top = program_offset(e);
    build_guards(e, island->levels, 1, &failing);
    build_ops(e, island->levels);
    sched_build(e->builder, SCHED_JUMP, &top, NULL);
    build_wait(e, top, &failing);
}

/* ---- queues that follow one another ---- */

static void build_call(struct emission *e, offset_list *calls)
{
    uint32_t offset = sched_build(e->builder, SCHED_CALL, (uint32_t[]){0}, NULL);
    vec_push(e->arena, calls, offset);
}

/* calls[i] enters at level i, which is executed after the levels above it. */
static void build_routine(struct emission *e, const struct schedule_island *island,
                          const offset_list *calls)
{
    for (uint32_t level = island->level_count; level-- > 0;) {
        if (!e->builder->failed) sched_patch(e->builder, calls->items[level], 0, program_offset(e));
        build_ops(e, &island->levels[level]);
    }
    sched_build(e->builder, SCHED_RETURN, NULL, NULL);
}

static void build_pipeline(struct emission *e, const struct schedule_island *island)
{
    offset_list failing = {0}, calls = {0};
    for (uint32_t level = 0; level + 1 < island->level_count; level++) {
        build_guards(e, island->levels, level + 1, &e->leaving);
        build_call(e, &calls);
    }
    uint32_t top = program_offset(e);
    build_guards(e, island->levels, island->level_count, &failing);
    build_call(e, &calls);
    sched_build(e->builder, SCHED_JUMP, &top, NULL);
    build_wait(e, top, &failing);
    uint32_t leave = sched_build(e->builder, SCHED_JUMP, (uint32_t[]){0}, NULL);
    vec_push(e->arena, &e->leaving, leave);
    build_routine(e, island, &calls);
}

/* ---- islands beside others ---- */

static void build_islands(struct emission *e, const struct plan *plan, uint32_t set,
                          enum sched_opcode selection)
{
    const struct schedule *schedule = plan->schedule;
    offset_list failing = {0};
    uint32_t top = program_offset(e);
    for (uint32_t i = 0; i < schedule->island_count; i++) {
        set_labels(e, &failing, program_offset(e));
        failing.count = 0;
        /* Builds the prologue, then the round.  A guard of the prologue that fails leads to the round. */
        const struct schedule_island *island = &schedule->islands[i];
        if (island->prologue.op_count > 0) {
            build_guards(e, &island->prologue, 1, &failing);
            build_ops(e, &island->prologue);
            set_labels(e, &failing, program_offset(e));
            failing.count = 0;
        }
        build_guards(e, island->levels, 1, &failing);
        build_ops(e, island->levels);
    }
    if (schedule->static_count < plan->stage_count) {
        set_labels(e, &failing, program_offset(e));
        failing.count = 0;
        uint32_t select = sched_build(e->builder, selection, (uint32_t[]){set, 0}, NULL);
        vec_push(e->arena, &failing, select);
        sched_build(e->builder, SCHED_DISPATCH, NULL, NULL);
    }
    sched_build(e->builder, SCHED_JUMP, &top, NULL);
    set_labels(e, &failing, program_offset(e));
    sched_build(e->builder, SCHED_WAIT, &top, NULL);
}

void emit_static(struct sched_builder *builder, const struct plan *plan, uint32_t set,
                 enum sched_opcode selection)
{
    const struct schedule *schedule = plan->schedule;
    if (schedule == NULL || schedule->island_count == 0) return;
    struct emission e = {.arena = arena_create(), .builder = builder};
    bool whole = schedule->island_count == 1 && schedule->static_count == plan->stage_count;
    const struct schedule_island *island = &schedule->islands[0];
    if (whole && island->prologue.op_count > 0) {
        build_guards(&e, &island->prologue, 1, &e.leaving);
        build_ops(&e, &island->prologue);
    }
    if (!whole)
        build_islands(&e, plan, set, selection);
    else if (island->level_count == 1)
        build_queue_loop(&e, island);
    else
        build_pipeline(&e, island);
    set_labels(&e, &e.leaving, program_offset(&e));
    arena_destroy(e.arena);
}
