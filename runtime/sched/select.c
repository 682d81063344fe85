/* SPDX-License-Identifier: MIT */
#include "runtime/sched/select.h"

#include "lang/sched_code.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/ready.h"

#include <assert.h>

void prt_select_readers_changed(struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        uint32_t node = s->container->readers[record->first_reader + i].node;
        prt_stage_changed(s, s->node_stage[node]);
    }
}

void prt_select_close(struct prt_sched *s, struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    prt_fifo_close(&buffer->fifo);
    prt_select_readers_changed(s, buffer);
    for (uint32_t i = 0; i < record->reader_count; i++) {
        const struct container_reader *reader = &s->container->readers[record->first_reader + i];
        const struct prt_stage *stage = &s->stages[s->node_stage[reader->node]];
        if (prt_ready_ends(stage, &s->inputs[reader->input])) prt_stage_may_end(s, stage);
    }
    s->end_propagated = true;
}

/* ---- looking at a stage ---- */

/* Nothing is gained by waiting for more firings than these. */
static bool is_cut_short(const struct prt_sched *s, const struct prt_stage *stage, uint64_t firings)
{
    uint64_t frame = stage->frame_packets;
    if (frame > 0 && firings == frame - stage->firings % frame) return true;
    if (firings == prt_select_source_left(s, stage)) return true;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        if (stage->inputs[i].buffer->fifo.closed) return true;
    }
    return false;
}

bool prt_select_below_threshold(const struct prt_sched *s, const struct prt_stage *stage,
                                uint64_t firings)
{
    return firings < stage->threshold && !is_cut_short(s, stage, firings);
}

static uint64_t ready_firings(const struct prt_sched *s, struct prt_stage *stage)
{
    uint64_t firings = prt_ready_outputs(stage);
    if (firings == 0) return 0;
    uint64_t inputs = prt_ready_inputs(stage), left = prt_select_source_left(s, stage);
    if (inputs < firings) firings = inputs;
    if (left < firings) firings = left;
    if (firings >= stage->threshold || s->waiver || s->step != NULL) return firings;
    return is_cut_short(s, stage, firings) ? firings : 0;
}

/* An in-port to be filled: it does not hold what `firings` firings need.  NULL: there is none. */
static struct prt_buffer *port_to_fill(const struct prt_stage *stage, uint64_t firings)
{
    if (!stage->reads_port) return NULL;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (!prt_ready_is_filled(input)) continue;
        if (prt_ready_input(stage, input, false, firings) < firings) return input->buffer;
    }
    return NULL;
}

bool prt_select_stops_by_interrupt(struct prt_sched *s, struct prt_stage *stage)
{
    bool source = stage->node->input_count == 0;
    if ((!source && stage->driven) || !prt_select_interrupted(s)) return false;
    s->interrupt_seen = true;
    if (source && !stage->stopped) {
        stage->stopped = true;
        prt_stage_may_end(s, stage);
        s->end_propagated = true;
    }
    return true;
}

/* Is it worth a look?  Most stages of a set are not, most of the time. */
static bool may_be_ready(const struct prt_stage *stage)
{
    return !stage->settled && !stage->in_flight && stage->life == PRT_STAGE_RUNNING &&
           !stage->stopped;
}

/* How many firings can be dispatched now, after the host has filled what they need. */
static enum prt_status look_at(struct prt_sched *s, struct prt_stage *stage, uint64_t *firings,
                               struct prt_error *error)
{
    *firings = 0;
    if (prt_select_stops_by_interrupt(s, stage)) return PRT_OK;
    for (;;) {
        *firings = ready_firings(s, stage);
        struct prt_buffer *port = *firings > 0 ? port_to_fill(stage, *firings) : NULL;
        if (port == NULL) break;
        enum prt_status status = prt_inport_fill(s, port, error);
        if (status != PRT_OK) return status;
    }
    stage->settled = *firings == 0 && !stage->writes_live;
    return PRT_OK;
}

bool prt_select_wants(const struct prt_sched *s, struct prt_stage *stage)
{
    return may_be_ready(stage) && ready_firings(s, stage) > 0;
}

enum prt_status prt_select_one(struct prt_sched *s, uint32_t index, bool *found,
                               struct prt_error *error)
{
    struct prt_stage *stage = &s->stages[index];
    *found = false;
    assert(!stage->in_flight && stage->life == PRT_STAGE_RUNNING); /* a replay ends no stage */
    if (stage->stopped) return PRT_OK;
    while (prt_ready_outputs(stage) > 0 && prt_ready_inputs(stage) > 0) {
        struct prt_buffer *port = port_to_fill(stage, 1);
        if (port != NULL) {
            enum prt_status status = prt_inport_fill(s, port, error);
            if (status != PRT_OK) return status;
            continue;
        }
        s->selected = index;
        s->selected_firings = 1;
        *found = true;
        break;
    }
    return PRT_OK;
}

/* ---- the policies ---- */

/* Selects the stage, which may be ready, if it is. */
static enum prt_status select_if_ready(struct prt_sched *s, uint32_t stage, bool *found,
                                       struct prt_error *error)
{
    uint64_t firings;
    *found = false;
    enum prt_status status = look_at(s, &s->stages[stage], &firings, error);
    *found = status == PRT_OK && firings > 0;
    if (!*found) return status;
    s->selected = stage;
    s->selected_firings = firings;
    return PRT_OK;
}

enum prt_status prt_select_stage(struct prt_sched *s, uint32_t index, bool *found,
                                 struct prt_error *error)
{
    *found = false;
    return may_be_ready(&s->stages[index]) ? select_if_ready(s, index, found, error) : PRT_OK;
}

enum prt_status prt_sched_select_round_robin(struct prt_sched *s, uint32_t set_index, bool *found,
                                             struct prt_error *error)
{
    const struct prt_stage_set *set = &s->container->sets[set_index];
    uint32_t at = s->cursors[set_index];
    enum prt_status status = prt_live_take(s, error);
    *found = false;
    for (uint32_t i = 0; i < set->count && status == PRT_OK && !*found; i++) {
        if (at >= set->count) at = 0;
        uint32_t stage = set->stages[at++];
        if (may_be_ready(&s->stages[stage])) status = select_if_ready(s, stage, found, error);
    }
    if (*found) s->cursors[set_index] = at;
    return status;
}

enum prt_status prt_sched_select_priority(struct prt_sched *s, uint32_t set_index, bool *found,
                                          struct prt_error *error)
{
    const struct prt_stage_set *set = &s->container->sets[set_index];
    enum prt_status status = prt_live_take(s, error);
    *found = false;
    for (uint32_t i = 0; i < set->count && status == PRT_OK && !*found; i++) {
        uint32_t stage = s->set_order[set_index][i];
        if (may_be_ready(&s->stages[stage])) status = select_if_ready(s, stage, found, error);
    }
    return status;
}

/* Packets in the fullest input of a stage; a port that is filled counts as full. */
static uint64_t fullest_input(const struct prt_stage *stage)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        const struct prt_fifo *fifo = &input->buffer->fifo;
        uint64_t packets = prt_fifo_held(fifo, input->reader);
        if (prt_ready_is_filled(input)) packets += prt_fifo_room(fifo);
        if (packets > most) most = packets;
    }
    return most;
}

/* What a stage holds is taken before it is looked at: filling an in-port must not change who is
 * first. */
static enum prt_status select_fullest(struct prt_sched *s, uint32_t set_index, bool *found,
                                      struct prt_error *error)
{
    const struct prt_stage_set *set = &s->container->sets[set_index];
    uint64_t most = 0;
    enum prt_status status = prt_live_take(s, error);
    *found = false;
    for (uint32_t i = 0; i < set->count && status == PRT_OK; i++) {
        uint32_t index = set->stages[i];
        bool ready = false;
        if (!may_be_ready(&s->stages[index])) continue;
        uint64_t packets = fullest_input(&s->stages[index]);
        if (*found && packets <= most) continue;
        status = select_if_ready(s, index, &ready, error);
        if (ready) most = packets;
        *found |= ready;
    }
    return status;
}

/* A circle that feeds itself may hold the most for ever: now and then the others have their turn. */
enum prt_status prt_sched_select_fullest(struct prt_sched *s, uint32_t set_index, bool *found,
                                         struct prt_error *error)
{
    bool in_turn = (s->fullest[set_index] + 1) % SCHED_FULLEST_TURN == 0;
    enum prt_status status = in_turn ? prt_sched_select_round_robin(s, set_index, found, error)
                                     : select_fullest(s, set_index, found, error);
    if (*found) s->fullest[set_index]++;
    return status;
}
