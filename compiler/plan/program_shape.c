/* SPDX-License-Identifier: MIT */
#include "compiler/plan/program_shape.h"

#include <inttypes.h>

#include "base/name_fold.h"
#include "base/vec.h"
#include "base/plural.h"
#include "lang/sched_code.h"

enum {
    FOLDED_MAX = 4096, /* equal runs that are printed as one */
    PRINTED_OPS = 100, /* of a part, unless all are asked for */
};

typedef VEC(struct schedule_op) op_list;
typedef VEC(struct schedule_part) part_list;

struct reading {
    struct arena *arena;
    const uint8_t *code;
    size_t code_bytes;
    uint32_t begin, end; /* of the static part */
    uint32_t top;        /* of its loop; begin: there is none */
    bool *called;        /* by offset */
    bool *is_static;     /* by stage */
    uint32_t *part_of;   /* by stage: its round so far, from 1 */
    op_list prologue;
    op_list ops;      /* since the last instruction that is not an op */
    uint32_t from;    /* where they begin */
    part_list levels; /* of the routine, as they stand */
    VEC(struct program_round) rounds;
    struct program_shape *shape;
};

/* ---- where the parts are ---- */

static bool opcode_is_binding(enum sched_opcode opcode)
{
    switch (opcode) {
    case SCHED_PARTITION_EQUALLY:
    case SCHED_PARTITION_COUNTS:
    case SCHED_PARTITION_AFFINITY:
    case SCHED_PACKETS:
    case SCHED_BIND:
    case SCHED_BIND_ROOT:
    case SCHED_LOAD_REFERENCE: return true;
    default: return false;
    }
}

/* Bounds of the static part, the top of the first loop, and what is called. */
static bool find_parts(struct reading *r)
{
    struct sched_instruction at;
    bool bound = false, looped = false, ended = false;
    for (uint32_t offset = 0; offset < r->code_bytes; offset += at.size_bytes) {
        if (!sched_decode(r->code, r->code_bytes, offset, &at)) return false;
        if (!bound && opcode_is_binding(at.opcode)) continue;
        if (!bound) r->begin = r->top = offset;
        bound = true;
        bool back = at.opcode == SCHED_JUMP && at.operands[0] <= offset;
        if (back && !looped) r->top = at.operands[0];
        looped |= back;
        if (at.opcode == SCHED_CALL && at.operands[0] < r->code_bytes)
            r->called[at.operands[0]] = true;
        if (!ended) r->end = offset;
        ended |= at.opcode == SCHED_ENDS;
    }
    return true;
}

/* ---- what they execute ---- */

static void append_prologue(struct reading *r, const struct schedule_part *part)
{
    for (uint32_t i = 0; i < part->op_count; i++)
        vec_push(r->arena, &r->prologue, part->ops[i]);
}

/* A stage is in only one round: earlier runs of it were the prologue of an island. */
static void add_round(struct reading *r, struct schedule_part *part)
{
    uint32_t before = (uint32_t)r->rounds.count;
    bool again = false;
    for (uint32_t i = 0; i < part->op_count; i++) {
        if (part->ops[i].kind != SCHEDULE_RUN) continue;
        again |= before > 0 && r->part_of[part->ops[i].stage] == before;
        r->part_of[part->ops[i].stage] = before + 1;
    }
    if (again) append_prologue(r, r->rounds.items[--r->rounds.count].levels);
    for (uint32_t i = 0; i < part->op_count && again; i++)
        if (part->ops[i].kind == SCHEDULE_RUN) r->part_of[part->ops[i].stage] = before;
    vec_push(r->arena, &r->rounds, (struct program_round){part, 1});
}

static void close_part(struct reading *r)
{
    if (r->ops.count == 0) return;
    struct schedule_part *part = ARENA_NEW(r->arena, struct schedule_part);
    *part = (struct schedule_part){.ops = r->ops.items, .op_count = (uint32_t)r->ops.count};
    if (r->levels.count > 0 || r->called[r->from])
        vec_push(r->arena, &r->levels, *part);
    else if (r->from < r->top)
        append_prologue(r, part);
    else
        add_round(r, part);
    r->ops = (op_list){0};
}

static bool read_run(struct reading *r, const struct sched_instruction *at)
{
    uint32_t stage = at->operands[0];
    if (stage >= r->shape->stage_count) return false;
    r->shape->static_count += !r->is_static[stage];
    r->is_static[stage] = true;
    vec_push(r->arena, &r->ops, (struct schedule_op){SCHEDULE_RUN, stage, at->operands[1]});
    return true;
}

static bool read_shape_instruction(struct reading *r, const struct sched_instruction *at)
{
    if (r->called[at->offset]) close_part(r);
    if (r->ops.count == 0) r->from = at->offset;
    switch (at->opcode) {
    case SCHED_RUN: return read_run(r, at);
    case SCHED_REPEAT:
        vec_push(r->arena, &r->ops, (struct schedule_op){SCHEDULE_REPEAT, 0, at->operands[0]});
        return true;
    case SCHED_AGAIN:
        vec_push(r->arena, &r->ops, (struct schedule_op){SCHEDULE_AGAIN, 0, 0});
        return true;
    case SCHED_FENCE: return true; /* it fires nothing */
    default: close_part(r); return true;
    }
}

/* The routine's levels stand from the last to the first. */
static void close_routine(struct reading *r)
{
    size_t count = r->levels.count;
    if (count == 0) return;
    struct schedule_part *levels = ARENA_ARRAY(r->arena, struct schedule_part, count);
    for (size_t i = 0; i < count; i++)
        levels[i] = r->levels.items[count - 1 - i];
    vec_push(r->arena, &r->rounds, (struct program_round){levels, (uint32_t)count});
}

bool program_shape_read(struct arena *arena, const uint8_t *code, size_t code_bytes,
                        uint32_t stage_count, struct program_shape *shape)
{
    struct reading r = {.arena = arena,
                        .code = code,
                        .code_bytes = code_bytes,
                        .called = ARENA_ARRAY(arena, bool, code_bytes + 1),
                        .part_of = ARENA_ARRAY(arena, uint32_t, (size_t)stage_count + 1),
                        .is_static = ARENA_ARRAY(arena, bool, (size_t)stage_count + 1),
                        .shape = shape};
    *shape = (struct program_shape){.stage_count = stage_count, .is_static = r.is_static};
    if (code_bytes > SCHED_MAX_CODE_BYTES || !find_parts(&r)) return false;
    struct sched_instruction at;
    for (uint32_t offset = r.begin; offset < code_bytes; offset += at.size_bytes) {
        sched_decode(code, code_bytes, offset, &at);
        if (!read_shape_instruction(&r, &at)) return false;
    }
    close_part(&r);
    close_routine(&r);
    shape->prologue.ops = r.prologue.items;
    shape->prologue.op_count = (uint32_t)r.prologue.count;
    shape->rounds = r.rounds.items;
    shape->round_count = (uint32_t)r.rounds.count;
    shape->code_bytes = (uint32_t)code_bytes;
    shape->static_bytes = r.end - r.begin;
    return true;
}

/* ---- printing ---- */

const char *program_shape_kind(const struct program_shape *shape)
{
    if (shape->static_count == 0) return "guarded";
    return shape->static_count == shape->stage_count ? "static" : "mixed";
}

uint32_t program_shape_bytes_per_stage(const struct program_shape *shape)
{
    if (shape->stage_count == 0) return 0;
    return (shape->code_bytes + shape->stage_count - 1) / shape->stage_count;
}

void program_shape_print_part(FILE *to, const char *const *names, const struct schedule_part *part)
{
    for (uint32_t i = 0; i < part->op_count; i++) {
        const struct schedule_op *op = &part->ops[i];
        switch (op->kind) {
        case SCHEDULE_RUN: fprintf(to, "(%" PRIu32 " %s)", op->count, names[op->stage]); break;
        case SCHEDULE_REPEAT: fprintf(to, "(%" PRIu32 " ", op->count); break;
        case SCHEDULE_AGAIN: fputc(')', to); break;
        }
    }
}

/* How many runs from ops[0] on are those of stages whose names differ only by a rising index. */
static uint32_t count_equal_runs(const char *const *names, const struct schedule_op *ops,
                                 uint32_t count)
{
    const char *run[FOLDED_MAX];
    uint32_t length = 0;
    while (length < count && length < FOLDED_MAX && ops[length].kind == SCHEDULE_RUN &&
           ops[length].count == ops[0].count) {
        run[length] = names[ops[length].stage];
        length++;
    }
    return length > 0 ? (uint32_t)name_run(run, length) : 1;
}

/* For people: equal runs as one, "(4096 g#2..41)", and no more than PRINTED_OPS of the others. */
static void print_short_part(FILE *to, const char *const *names, const struct schedule_part *part)
{
    struct arena *arena = arena_create();
    for (uint32_t i = 0, printed = 0, run; i < part->op_count; i += run, printed++) {
        const struct schedule_op *op = &part->ops[i];
        run = 1;
        if (printed == PRINTED_OPS) {
            fprintf(to, " ... and %" PRIu32 " more; -v prints them", part->op_count - i);
            break;
        }
        switch (op->kind) {
        case SCHEDULE_RUN:
            run = count_equal_runs(names, op, part->op_count - i);
            fprintf(to, "(%" PRIu32 " %s)", op->count,
                    name_fold(arena, names[op->stage], names[op[run - 1].stage]));
            break;
        case SCHEDULE_REPEAT: fprintf(to, "(%" PRIu32 " ", op->count); break;
        case SCHEDULE_AGAIN: fputc(')', to); break;
        }
    }
    arena_destroy(arena);
}

static void print_rounds(FILE *to, const char *const *names, const struct program_shape *shape,
                         bool whole)
{
    void (*print_part)(FILE *, const char *const *, const struct schedule_part *) =
        whole ? program_shape_print_part : print_short_part;
    if (shape->prologue.op_count > 0) {
        fputs("         first ", to);
        print_part(to, names, &shape->prologue);
        fputc('\n', to);
    }
    for (uint32_t i = 0; i < shape->round_count; i++) {
        fputs("         ", to);
        for (uint32_t k = 0; k < shape->rounds[i].level_count; k++) {
            if (k > 0) fputs(" | ", to);
            print_part(to, names, &shape->rounds[i].levels[k]);
        }
        fputc('\n', to);
    }
}

void program_shape_print(FILE *to, const char *const *names, const struct program_shape *shape,
                         const char *reason, bool whole)
{
    if (shape->static_count == 0) {
        fprintf(to, "schedule guarded%s%s\n", reason ? ": " : "", reason ? reason : "");
    } else {
        fprintf(to, "schedule static for %" PRIu32 " of %" PRIu32 " stage%s%s%s\n",
                shape->static_count, shape->stage_count, plural(shape->stage_count),
                reason ? "; " : "", reason ? reason : "");
        print_rounds(to, names, shape, whole);
    }
    fprintf(to,
            "program  %" PRIu32 " bytes of code, %" PRIu32 " of a static part; %" PRIu32
            " a stage\n",
            shape->code_bytes, shape->static_bytes, program_shape_bytes_per_stage(shape));
}
