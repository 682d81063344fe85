/* SPDX-License-Identifier: MIT */
#include "core/select.h"

#include "core/ends.h"
#include "core/ready.h"
#include "lang/sched_opcode.h"

/* ---- ready stages ---- */

/* Can the batch not grow: is it at the end of a frame, of a source's limit, or of a stream? */
static bool is_cut_short(const struct core_stage *stage, uint64_t firings)
{
    uint64_t frame = stage->frame_packets;
    if (frame > 0 && firings == frame - stage->firings % frame) return true;
    return firings == core_ready_source_left(stage) || stage->input_closed;
}

bool core_is_below_threshold(const struct core_stage *stage, uint64_t firings)
{
    return firings < stage->threshold && !is_cut_short(stage, firings);
}

static uint64_t ready_firing_count(const struct core *c, struct core_stage *stage)
{
    uint64_t firings = core_ready_outputs(c, stage);
    if (firings == 0) return 0;
    uint64_t inputs = core_ready_inputs(c, stage), left = core_ready_source_left(stage);
    if (inputs < firings) firings = inputs;
    if (left < firings) firings = left;
    if (firings >= stage->threshold || c->waiver || core_is_stepped(c)) return firings;
    return is_cut_short(stage, firings) ? firings : 0;
}

/* Is there an in-port that is to be filled, because it holds too few packets for `firings` firings?  Then it is the one
 * that the machine asks for. */
static bool asks_for_port(struct core *c, const struct core_stage *stage, uint64_t firings)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(c, stage, i);
        if (!core_ready_is_filled(c, input)) continue;
        if (core_ready_input(c, stage, input, false, firings) >= firings) continue;
        c->request_buffer = input->buffer;
        return true;
    }
    return false;
}

/* A cheap test that most stages of a set fail most of the time. */
static bool may_be_ready(const struct core_stage *stage)
{
    return !stage->settled && !stage->in_flight && stage->life == CORE_RUNNING && !stage->stopped;
}

bool core_wants(const struct core *c, struct core_stage *stage)
{
    return may_be_ready(stage) && ready_firing_count(c, stage) > 0;
}

/* Selects the stage if it is ready, with all its ready firings: NEXT; else JUMP.  FILL: again when the host has filled
 * the in-port that it asks for.  Requires: may_be_ready, or that it has been asked for an in-port. */
static enum core_outcome select_if_ready(struct core *c, uint32_t index)
{
    struct core_stage *stage = core_stage(c, index);
    if (core_stops_by_interrupt(c, stage)) return CORE_JUMP;
    uint64_t firings = ready_firing_count(c, stage);
    if (firings > 0 && stage->reads_port && asks_for_port(c, stage, firings)) return CORE_FILL;
    stage->settled = firings == 0 && !stage->writes_live;
    if (firings == 0) return CORE_JUMP;
    c->selected = index;
    c->selected_firings = firings;
    return CORE_NEXT;
}

enum core_outcome core_select_stage(struct core *c, uint32_t index)
{
    bool again = c->progress.flag;
    c->progress.flag = false;
    if (!again && !may_be_ready(core_stage(c, index))) return CORE_JUMP;
    enum core_outcome outcome = select_if_ready(c, index);
    c->progress.flag = outcome == CORE_FILL;
    return outcome;
}

enum core_outcome core_select_one(struct core *c, uint32_t index)
{
    struct core_stage *stage = core_stage(c, index);
    /* only a replay calls this; it ends no stage */
    assert(!stage->in_flight && stage->life == CORE_RUNNING);
    if (stage->stopped || core_ready_outputs(c, stage) == 0 || core_ready_inputs(c, stage) == 0)
        return CORE_JUMP;
    if (stage->reads_port && asks_for_port(c, stage, 1)) return CORE_FILL;
    c->selected = index;
    c->selected_firings = 1;
    return CORE_NEXT;
}

/* ---- the policies ---- */

enum { SEARCH_BEGINS, PORTS_TAKEN, PORT_FILLED }; /* steps of a selection */

/* The beginning of a selection, unless it goes on: in a run with eager ports the host is asked for what has arrived. */
static bool takes_first(struct core *c)
{
    if (!c->live || c->progress.step != SEARCH_BEGINS) return false;
    c->progress.step = PORTS_TAKEN;
    return true;
}

/* The selection stops at member `at` of the set, whose in-port the host fills first. */
static enum core_outcome fill_first(struct core *c, uint32_t at, uint32_t left)
{
    c->progress.step = PORT_FILLED;
    c->progress.at = at;
    c->progress.left = left;
    return CORE_FILL;
}

/* The first ready stage of a list, from member `at` on. */
static enum core_outcome select_first(struct core *c, struct core_set *set, const uint32_t *stages,
                                      uint32_t at, bool in_turn)
{
    if (takes_first(c)) return CORE_TAKE;
    bool again = c->progress.step == PORT_FILLED;
    uint32_t left = set->count;
    if (again) {
        at = c->progress.at;
        left = c->progress.left;
    }
    for (; left > 0; left--, at++) {
        if (at >= set->count) at = 0;
        uint32_t stage = stages[set->first + at];
        if (!again && !may_be_ready(core_stage(c, stage))) continue;
        again = false;
        enum core_outcome outcome = select_if_ready(c, stage);
        if (outcome == CORE_FILL) return fill_first(c, at, left);
        if (outcome == CORE_JUMP) continue;
        if (in_turn) set->cursor = at + 1;
        return CORE_NEXT;
    }
    c->found_none = true;
    return CORE_JUMP;
}

enum core_outcome core_select_round_robin(struct core *c, uint32_t set_number)
{
    struct core_set *set = core_sets(c) + set_number;
    return select_first(c, set, core_members(c), set->cursor, true);
}

enum core_outcome core_select_priority(struct core *c, uint32_t set_number)
{
    struct core_set *set = core_sets(c) + set_number;
    return select_first(c, set, core_by_importance(c), 0, false);
}

/* Packets in the fullest input of a stage; an in-port that is filled counts as full. */
static uint64_t fullest_input_packets(const struct core *c, const struct core_stage *stage)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(c, stage, i);
        uint64_t packets = core_ready_held(c, input);
        if (core_ready_is_filled(c, input))
            packets += core_fifo_room(&core_read_buffer(c, input)->fifo);
        if (packets > most) most = packets;
    }
    return most;
}

/* The packets of a stage are counted before its in-ports are filled: filling must not change the order of stages. */
static enum core_outcome select_fullest_stage(struct core *c, const struct core_set *set)
{
    struct core_progress *p = &c->progress;
    if (takes_first(c)) return CORE_TAKE;
    bool again = p->step == PORT_FILLED, found = again && p->flag;
    uint64_t most = again ? p->most : 0;
    for (uint32_t i = again ? p->at : 0; i < set->count; i++) {
        uint32_t index = core_members(c)[set->first + i];
        if (!again && !may_be_ready(core_stage(c, index))) continue;
        uint64_t packets = again ? p->packets : fullest_input_packets(c, core_stage(c, index));
        if (!again && found && packets <= most) continue;
        again = false;
        enum core_outcome outcome = select_if_ready(c, index);
        if (outcome == CORE_FILL) {
            p->flag = found;
            p->most = most;
            p->packets = packets;
            return fill_first(c, i, 0);
        }
        if (outcome == CORE_JUMP) continue;
        most = packets;
        found = true;
    }
    if (!found) c->found_none = true;
    return found ? CORE_NEXT : CORE_JUMP;
}

/* The stages of a cycle may keep each other fullest for ever, so one of SCHED_FULLEST_TURN selections is round robin. */
enum core_outcome core_select_fullest(struct core *c, uint32_t set_number)
{
    struct core_set *set = core_sets(c) + set_number;
    bool in_turn = (set->fullest + 1) % SCHED_FULLEST_TURN == 0;
    enum core_outcome outcome =
        in_turn ? core_select_round_robin(c, set_number) : select_fullest_stage(c, set);
    if (outcome == CORE_NEXT) set->fullest++;
    return outcome;
}
