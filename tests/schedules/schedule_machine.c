/* SPDX-License-Identifier: MIT */
/* One scheduler machine: see schedule_machine.h. */
#include "tests/schedules/schedule_machine.h"

#include <string.h>

/* LAUNCHES_MAX: the verifier's promise, lang/scheduler.md, rule `launches`. */
enum { IDLE_MAX = 4096, LAUNCHES_MAX = 1 << 20, INSTRUCTIONS_MAX = 1 << 23 };

static struct schedule_stage *stage_at(struct schedule_machine *m, uint32_t number)
{
    return &m->world->stages[number];
}

static void lose_control(struct schedule_machine *m)
{
    schedule_world_fail(m->world, SCHEDULE_LOST, CONTAINER_NONE);
}

/* ---- selections ---- */

/* Cannot the batch grow any more? */
static bool is_cut_short(const struct schedule_world *w, const struct schedule_stage *stage,
                         uint64_t firings)
{
    if (w->scenario->live || firings == schedule_source_left(w, stage)) return true;
    for (uint32_t i = 0; i < stage->node->input_count; i++)
        if (w->buffers[w->container->inputs[stage->node->first_input + i].buffer].closed)
            return true;
    return false;
}

/* The firings that the stage is selected for; 0: it is not ready.  Fills its in-ports first. */
static uint64_t ready_firings(struct schedule_machine *m, uint32_t number)
{
    struct schedule_world *w = m->world;
    struct schedule_stage *stage = stage_at(m, number);
    if (stage->in_flight || stage->life != SCHEDULE_RUNS) return 0;
    if (w->interrupted && stage->node->input_count == 0) {
        w->endings += !stage->stopped;
        stage->stopped = true;
    }
    for (;;) {
        uint64_t firings = schedule_ready(w, stage), filled = w->events;
        if (firings == 0 ||
            (firings < stage->threshold && !m->waived && !is_cut_short(w, stage, firings)))
            return 0;
        for (uint32_t i = 0; i < stage->node->input_count; i++) {
            const struct container_input *input =
                &w->container->inputs[stage->node->first_input + i];
            bool open = w->container->buffers[input->buffer].outer == CONTAINER_OUTER_IN &&
                        !w->buffers[input->buffer].closed;
            if (open && !w->scenario->live &&
                schedule_held(w, input) < schedule_sees(w->container, input, stage->fired, firings))
                schedule_fill(w, input->buffer);
        }
        if (w->events == filled) return firings; /* else: with what has come */
    }
}

/* Packets that have arrived at eager in-ports are taken at certain moments only. */
static void host_may_act(struct schedule_machine *m)
{
    if (m->world->scenario->live && schedule_world_draw(m->world, 4) == 0)
        (void)schedule_host_acts(m->world);
}

static uint64_t fullest_input(struct schedule_machine *m, const struct schedule_stage *stage)
{
    struct schedule_world *w = m->world;
    uint64_t most = 0;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct container_input *input = &w->container->inputs[stage->node->first_input + i];
        uint64_t held = schedule_held(w, input);
        if (w->buffers[input->buffer].left > 0) held += schedule_room(w, input->buffer);
        if (held > most) most = held;
    }
    return most;
}

/* A policy decides time, never results; `priority` and `fullest` prefer a stage, and any ready one will do. */
static bool select_stage(struct schedule_machine *m, const struct sched_instruction *i)
{
    const struct prt_stage_set *set = &m->world->container->sets[i->operands[0]];
    uint32_t *turn = &m->turn[i->operands[0]], chosen = CONTAINER_NONE;
    uint64_t best = 0;
    host_may_act(m);
    for (uint32_t k = 1; k <= set->count; k++) {
        uint32_t at = i->opcode == SCHED_ROUND_ROBIN ? (*turn + k) % set->count : k - 1,
                 number = set->stages[at];
        uint64_t value = 1;
        if (i->opcode == SCHED_PRIORITY) value = 1 + stage_at(m, number)->node->importance;
        if (i->opcode == SCHED_FULLEST) value = 1 + fullest_input(m, stage_at(m, number));
        if (chosen != CONTAINER_NONE && value <= best) continue;
        uint64_t firings = ready_firings(m, number);
        if (firings == 0) continue;
        chosen = number;
        best = value;
        m->selected = number;
        m->selected_firings = firings;
        if (i->opcode != SCHED_ROUND_ROBIN) continue;
        *turn = at;
        return true;
    }
    m->found_none = m->found_none || chosen == CONTAINER_NONE;
    return chosen != CONTAINER_NONE;
}

static void launch_stage(struct schedule_machine *m, uint32_t number, uint64_t firings)
{
    schedule_launch(m->world, number, firings);
    m->waived = false;
    m->launches++;
    if (m->launches > LAUNCHES_MAX) schedule_world_fail(m->world, SCHEDULE_UNSEEN, number);
    if (m->world->scenario->pace == SCHEDULE_AT_ONCE) schedule_time_passes(m->world);
}

static void dispatch_selected(struct schedule_machine *m)
{
    if (m->selected == CONTAINER_NONE) {
        schedule_world_fail(m->world, SCHEDULE_UNSELECTED, CONTAINER_NONE);
        return;
    }
    launch_stage(m, m->selected, m->selected_firings);
    m->selected = CONTAINER_NONE;
}

/* ---- the static part ---- */

static bool guard_holds(struct schedule_machine *m, const struct sched_instruction *i)
{
    struct schedule_world *w = m->world;
    struct schedule_stage *stage = stage_at(m, i->operands[0]);
    uint32_t end = i->operands[1];
    m->launches = 0;
    if (stage->life != SCHEDULE_RUNS) return false;
    if (i->opcode == SCHED_HAS_ROOM)
        return schedule_room(w, w->container->outputs[stage->node->first_output + end].buffer) >=
               i->operands[2];
    if (i->opcode == SCHED_GOES_ON) {
        bool source = stage->node->input_count == 0;
        if (source && w->interrupted) {
            w->endings += !stage->stopped;
            stage->stopped = true;
        }
        bool interrupted = w->interrupted && !stage->driven;
        return !interrupted && !stage->stopped && !schedule_unwanted(w, stage) &&
               schedule_source_left(w, stage) >= end;
    }
    host_may_act(m);
    const struct container_input *input = &w->container->inputs[stage->node->first_input + end];
    const struct schedule_buffer *b = &w->buffers[input->buffer];
    uint64_t used = 0, wanted = i->operands[2];
    if (stage->in_flight &&
        !schedule_in_order(w, input->buffer)) /* what its firings in flight consume */
        used = schedule_pops(w->container, input, stage->executed, stage->fired - stage->executed);
    if (schedule_held(w, input) >= used + wanted) return true;
    bool open = b->record->outer == CONTAINER_OUTER_IN && !b->closed && !w->scenario->live;
    if (open && schedule_room(w, input->buffer) >= used + wanted - schedule_held(w, input))
        schedule_fill(w, input->buffer);
    return schedule_held(w, input) >= used + wanted;
}

/* Waits until the firings are possible, or until nothing is in flight: then they are launched all the same. */
static void run_stage(struct schedule_machine *m, uint32_t number, uint64_t firings)
{
    struct schedule_world *w = m->world;
    struct schedule_stage *stage = stage_at(m, number);
    for (bool possible = false; !possible && w->in_flight > 0;) {
        possible = !stage->in_flight;
        for (uint32_t i = 0; i < stage->node->input_count && possible; i++) {
            const struct container_input *input =
                &w->container->inputs[stage->node->first_input + i];
            possible = schedule_held(w, input) >=
                       schedule_sees(w->container, input, stage->fired, firings);
        }
        for (uint32_t o = 0; o < stage->node->output_count && possible; o++) {
            const struct container_output *output =
                &w->container->outputs[stage->node->first_output + o];
            possible = schedule_room(w, output->buffer) >=
                       schedule_most(w->container, output, stage->fired, firings);
        }
        if (!possible) schedule_complete_one(w);
    }
    launch_stage(m, number, firings);
}

static void execute_again(struct schedule_machine *m)
{
    if (m->loop_count == 0) {
        lose_control(m);
        return;
    }
    if (--m->loops[m->loop_count - 1].left > 0)
        m->next = m->loops[m->loop_count - 1].first;
    else
        m->loop_count--;
}

static void begin_repeat(struct schedule_machine *m, uint64_t rounds)
{
    if (m->loop_count == 2 * SCHED_REPEAT_DEPTH || rounds == 0) {
        lose_control(m);
        return;
    }
    m->loops[m->loop_count].first = m->next;
    m->loops[m->loop_count++].left = rounds;
}

static void enter_routine(struct schedule_machine *m, uint32_t label)
{
    if (m->link != CONTAINER_NONE) lose_control(m);
    m->link = m->next;
    m->next = label;
}

static void leave_routine(struct schedule_machine *m)
{
    if (m->link == CONTAINER_NONE)
        lose_control(m);
    else
        m->next = m->link;
    m->link = CONTAINER_NONE;
}

/* ---- wait and halt ---- */

static bool can_go_on(struct schedule_machine *m)
{
    for (uint32_t s = 0; s < m->world->container->stage_count; s++)
        if (!stage_at(m, s)->in_flight && schedule_ready(m->world, stage_at(m, s)) > 0) return true;
    return false;
}

/* True: it jumps.  The cases are those of lang/scheduler.md, "wait". */
static bool wait_for_event(struct schedule_machine *m)
{
    struct schedule_world *w = m->world;
    bool found_none = m->found_none;
    m->found_none = false;
    m->launches = 0;
    if (w->in_flight > 0) {
        m->endings_seen = w->endings;
        schedule_complete_one(w);
        return true;
    }
    bool stuck = found_none && m->waived && !can_go_on(m);
    for (uint32_t b = 0;
         stuck && !w->interrupted && !w->scenario->live && b < w->container->buffer_count; b++)
        if (w->container->buffers[b].outer == CONTAINER_OUTER_IN && !w->buffers[b].closed)
            schedule_fill(w, b);
    if (w->endings != m->endings_seen) {
        m->endings_seen = w->endings;
        m->waived = false;
        return true;
    }
    if (stuck && w->scenario->live && schedule_host_acts(w)) return true;
    if (!found_none || m->waived) return false;
    m->waived = true;
    return true;
}

/* The end: nothing may be left to do. */
static void halt_run(struct schedule_machine *m)
{
    struct schedule_world *w = m->world;
    while (w->in_flight > 0)
        schedule_complete_one(w);
    m->halted = true;
    for (uint32_t s = 0; s < w->container->stage_count; s++) {
        struct schedule_stage *stage = stage_at(m, s);
        if (stage->life == SCHEDULE_OVER || (w->interrupted && !stage->driven)) continue;
        bool due = stage->life == SCHEDULE_RUNS && schedule_never_fires(w, stage);
        if (due || schedule_ready(w, stage) > 0) schedule_world_fail(w, SCHEDULE_WORK_LEFT, s);
        if (stage->life == SCHEDULE_WAITS_TO_FINISH) schedule_world_fail(w, SCHEDULE_STALL, s);
        bool packets = true;
        for (uint32_t i = 0; i < stage->node->input_count; i++) {
            const struct container_input *input =
                &w->container->inputs[stage->node->first_input + i];
            packets = packets && schedule_held(w, input) >=
                                     schedule_sees(w->container, input, stage->fired, 1);
            bool port = w->container->buffers[input->buffer].outer == CONTAINER_OUTER_IN;
            if (port && !w->buffers[input->buffer].closed && !w->interrupted)
                schedule_world_fail(w, SCHEDULE_STALL, s);
        }
        if (packets && !w->interrupted) schedule_world_fail(w, SCHEDULE_STALL, s);
    }
}

/* ---- the program ---- */

static void execute(struct schedule_machine *m, const struct sched_instruction *i)
{
    const uint32_t *operands = i->operands;
    switch (i->opcode) {
    case SCHED_BIND_ROOT: schedule_bind(m->world, operands[0], 0); return;
    case SCHED_BIND: schedule_bind(m->world, operands[0], 1 + (uint64_t)operands[1]); return;
    case SCHED_ENDS: schedule_end_stages(m->world); return;
    case SCHED_DISPATCH: dispatch_selected(m); return;
    case SCHED_JUMP: m->next = operands[0]; return;
    case SCHED_RUN: run_stage(m, operands[0], operands[1]); return;
    case SCHED_REPEAT: begin_repeat(m, operands[0]); return;
    case SCHED_AGAIN: execute_again(m); return;
    case SCHED_CALL: enter_routine(m, operands[0]); return;
    case SCHED_RETURN: leave_routine(m); return;
    case SCHED_HALT: halt_run(m); return;
    case SCHED_WAIT:
        if (wait_for_event(m)) m->next = operands[0];
        return;
    case SCHED_HAS_PACKETS:
    case SCHED_HAS_ROOM:
        if (!guard_holds(m, i)) m->next = operands[3];
        return;
    case SCHED_GOES_ON:
        if (!guard_holds(m, i)) m->next = operands[2];
        return;
    case SCHED_ROUND_ROBIN:
    case SCHED_PRIORITY:
    case SCHED_FULLEST:
        m->launches = 0;
        if (!select_stage(m, i)) m->next = operands[1];
        return;
    case SCHED_FENCE:
        while (m->world->in_flight > 0)
            schedule_complete_one(m->world);
        return;
    default: return; /* partitions, packets, references: they change time only */
    }
}

void schedule_machine_begin(struct schedule_machine *m, struct schedule_world *world,
                            const uint8_t *code, uint32_t code_bytes)
{
    *m = (struct schedule_machine){.world = world,
                                   .code = code,
                                   .code_bytes = code_bytes,
                                   .selected = CONTAINER_NONE,
                                   .link = CONTAINER_NONE};
    for (uint32_t t = 0; t < world->container->set_count; t++)
        m->turn[t] = world->container->sets[t].count - 1;
}

void schedule_machine_step(struct schedule_machine *m)
{
    struct sched_instruction i;
    struct schedule_world *w = m->world;
    if (m->next >= m->code_bytes || !sched_decode(m->code, m->code_bytes, m->next, &i)) {
        lose_control(m);
        return;
    }
    m->next += i.size_bytes;
    if (m->instructions++ == w->scenario->interrupt_at) schedule_interrupt(w);
    schedule_time_passes(w);
    execute(m, &i);
    m->idle = w->events == m->events_seen ? m->idle + 1 : 0;
    m->events_seen = w->events;
    if (m->idle > IDLE_MAX) schedule_world_fail(w, SCHEDULE_LIVELOCK, CONTAINER_NONE);
    if (m->instructions > INSTRUCTIONS_MAX) schedule_world_fail(w, SCHEDULE_UNSEEN, CONTAINER_NONE);
}

enum schedule_fault schedule_run(const struct prt_container *c, const uint8_t *code,
                                 uint32_t code_bytes, const struct schedule_scenario *scenario,
                                 const uint64_t *expected, struct schedule_place *where)
{
    struct schedule_world *w = schedule_world_create(c, scenario);
    struct schedule_machine machine;
    schedule_machine_begin(&machine, w, code, code_bytes);
    while (!machine.halted && w->fault == SCHEDULE_FINE)
        schedule_machine_step(&machine);
    for (uint32_t b = 0; b < c->buffer_count && expected != NULL && !w->interrupted; b++)
        if (c->buffers[b].outer == CONTAINER_OUTER_OUT && w->buffers[b].committed != expected[b])
            schedule_world_fail(w, SCHEDULE_OUTPUT, w->stage_of[c->buffers[b].writer_node]);
    enum schedule_fault fault = w->fault;
    *where = (struct schedule_place){machine.next, w->fault_stage, machine.instructions};
    schedule_world_free(w);
    return fault;
}
