/* SPDX-License-Identifier: MIT */
/*
 * trial_static: the static part of a program (emit/emit_static.c), played.
 *
 * For the trial the stream ends when a stage reaches its limit: then a guard on its packets fails.  After the static part
 * the guarded loop goes on.
 */
#include "compiler/plan/trial_internal.h"

#include "compiler/ir/ratio.h"

#include <assert.h>

/* ---- guards ---- */

static bool feeds(const struct trial_stage *stage, const struct trial_end *end,
                  const struct schedule_guard *guard)
{
    if (end->rate == 0) return true;
    uint64_t left = stage->limit > stage->fired ? stage->limit - stage->fired : 0;
    return (uint128)left * end->rate >= (uint128)guard->count * stage->phases;
}

static bool holds(struct playing *p, const struct schedule_guard *guard)
{
    struct trial_stage *stage = &p->stages[guard->stage];
    const struct trial_end *end;
    p->clock++;
    switch (guard->kind) {
    case SCHEDULE_HAS_PACKETS:
        end = &p->ends[stage->first_in + guard->port];
        if (p->buffers[end->buffer].is_in_port && !feeds(stage, end, guard)) return false;
        return trial_held(p, stage, end) >= guard->count;
    case SCHEDULE_HAS_ROOM:
        return trial_room(p, &p->ends[stage->first_out + guard->port]) >= guard->count;
    case SCHEDULE_GOES_ON: return stage->limit >= stage->fired + guard->count;
    }
    return false;
}

/* Those of the first `count` parts. */
static bool all_hold(struct playing *p, const struct schedule_part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < parts[i].guard_count; k++)
            if (!holds(p, &parts[i].guards[k])) return false;
    return true;
}

/* ---- runs ---- */

/* Runs are of whole cycles of phases: what a cycle needs beyond what it takes is in the guards. */
static bool can_run(struct playing *p, const struct trial_stage *stage, uint64_t firings)
{
    for (uint32_t i = 0; i < stage->in_count; i++) {
        const struct trial_end *end = &p->ends[stage->first_in + i];
        uint64_t least = stage->phases > 1 ? end->rate : end->most;
        uint128 sees = (uint128)end->rate * (firings / stage->phases - 1) + least;
        if (trial_held(p, stage, end) < sees) return false;
    }
    for (uint32_t i = 0; i < stage->out_count; i++) {
        const struct trial_end *end = &p->ends[stage->first_out + i];
        if (trial_room(p, end) < (uint128)end->rate * firings / stage->phases) return false;
    }
    return true;
}

static bool run(struct playing *p, uint32_t index, uint64_t firings)
{
    const struct trial_stage *stage = &p->stages[index];
    p->clock++;
    while (stage->in_flight || !can_run(p, stage, firings)) {
        if (p->in_flight == 0 || !trial_goes_on(p)) return false;
        trial_await(p);
    }
    trial_dispatch(p, index, firings);
    return true;
}

struct loop {
    uint32_t first, left;
};

/* False: it was cut off. */
static bool execute(struct playing *p, const struct schedule_part *part)
{
    struct loop loops[SCHEDULE_NEST_MAX];
    uint32_t depth = 0;
    for (uint32_t at = 0; at < part->op_count; at++) {
        const struct schedule_op *op = &part->ops[at];
        switch (op->kind) {
        case SCHEDULE_RUN:
            if (!run(p, op->stage, op->count)) return false;
            break;
        case SCHEDULE_REPEAT:
            p->clock++;
            assert(depth < SCHEDULE_NEST_MAX);
            loops[depth++] = (struct loop){at, op->count};
            break;
        case SCHEDULE_AGAIN:
            p->clock++;
            assert(depth > 0 && depth <= SCHEDULE_NEST_MAX);
            // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): asserted above
            if (--loops[depth - 1].left > 0)
                at = loops[depth - 1].first;
            else
                depth--;
            break;
        }
    }
    return true;
}

/* ---- programs ---- */

/* `call`, the levels from one to the first, `return`. */
static bool call(struct playing *p, const struct schedule_island *island, uint32_t from)
{
    p->clock += 2;
    for (uint32_t level = from + 1; level-- > 0;)
        if (!execute(p, &island->levels[level])) return false;
    return true;
}

static bool fill(struct playing *p, const struct schedule_island *island)
{
    for (uint32_t level = 0; level + 1 < island->level_count; level++)
        if (!all_hold(p, island->levels, level + 1) || !call(p, island, level)) return false;
    return true;
}

/* One iteration of the loop over the only island; `wait` where a guard fails. */
static bool iterate(struct playing *p, const struct schedule_island *island)
{
    uint32_t levels = island->level_count;
    if (!all_hold(p, island->levels, levels)) return trial_wait(p);
    p->clock++; /* jump */
    return levels == 1 ? execute(p, island->levels) : call(p, island, levels - 1);
}

/* Islands one after the other, each with its prologue, then one of the other stages. */
static bool iterate_beside(struct playing *p, const struct schedule *schedule)
{
    uint64_t firings = 0;
    bool done = false;
    for (uint32_t i = 0; i < schedule->island_count; i++) {
        const struct schedule_island *island = &schedule->islands[i];
        bool primes = island->prologue.op_count > 0 && all_hold(p, &island->prologue, 1);
        if (primes && !execute(p, &island->prologue)) return false;
        done = all_hold(p, island->levels, 1);
        if (done && !execute(p, island->levels)) return false;
    }
    if (schedule->static_count < p->stage_count) {
        p->clock++;
        uint32_t stage = trial_select(p, 0, &firings);
        done = stage != GRAPH_NONE;
        if (done) trial_dispatch(p, stage, firings);
        p->clock += done;
    }
    p->clock += done; /* jump */
    return done ? trial_goes_on(p) : trial_wait(p);
}

static const bool *static_stages(struct playing *p, const struct schedule *schedule)
{
    bool *is_static = ARENA_ARRAY(p->arena, bool, (size_t)p->stage_count + 1);
    for (uint32_t i = 0; i < p->stage_count; i++)
        is_static[i] = schedule->obstacles[i] == NULL;
    return is_static;
}

void trial_play_static(struct playing *p, const struct schedule *schedule)
{
    const struct schedule_island *island = &schedule->islands[0];
    bool whole = schedule->island_count == 1 && schedule->static_count == p->stage_count;
    bool goes_on = true;
    p->is_static = static_stages(p, schedule);
    if (whole && island->prologue.op_count > 0)
        goes_on = all_hold(p, &island->prologue, 1) && execute(p, &island->prologue);
    if (whole && goes_on) goes_on = fill(p, island);
    while (goes_on && trial_goes_on(p))
        goes_on = whole ? iterate(p, island) : iterate_beside(p, schedule);
    p->is_static = NULL;
    p->waiver = false;
    trial_look_everywhere(p);
}
