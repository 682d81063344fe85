/* SPDX-License-Identifier: MIT */
#include "core/machine.h"

#include "core/ends.h"
#include "core/faults.h"
#include "core/launch.h"
#include "core/packets.h"
#include "core/ready.h"
#include "core/select.h"
#include "core/static_part.h"
#include "lang/sched_opcode.h"

enum { RUNS_PROGRAM, FIRES_ONCE, CONCLUDES, SETTLES, IS_OVER }; /* activities */

void core_begin(struct core *c, uint32_t instruction)
{
    c->activity = RUNS_PROGRAM;
    c->next = instruction;
}

void core_begin_firing(struct core *c, uint32_t stage)
{
    c->activity = FIRES_ONCE;
    c->answer = false;
    c->progress = (struct core_progress){.at = stage};
}

bool core_has_ended(const struct core *c)
{
    return c->activity == IS_OVER;
}

/* ---- control ---- */

/* The verifier has proven the nesting; these checks keep the machine safe without the proof. */
static enum core_outcome refuse_program(struct core *c, enum core_failure_kind kind)
{
    (void)core_fail(c, kind, CORE_NONE, 0);
    return CORE_NEXT;
}

static enum core_outcome begin_repeat(struct core *c, uint32_t rounds)
{
    if (c->loop_count == CORE_LOOPS_MAX || rounds == 0) return refuse_program(c, CORE_BAD_REPEAT);
    c->loops[c->loop_count++] = (struct core_loop){c->next, rounds};
    return CORE_NEXT;
}

static enum core_outcome execute_again(struct core *c)
{
    if (c->loop_count == 0) return refuse_program(c, CORE_BAD_AGAIN);
    struct core_loop *loop = &c->loops[c->loop_count - 1];
    if (--loop->left > 0)
        c->next = loop->first;
    else
        c->loop_count--;
    return CORE_NEXT;
}

static enum core_outcome enter_routine(struct core *c)
{
    if (c->link != CORE_NONE) return refuse_program(c, CORE_BAD_CALL);
    c->link = c->next;
    return CORE_JUMP;
}

static enum core_outcome return_from_routine(struct core *c)
{
    if (c->link == CORE_NONE) return refuse_program(c, CORE_BAD_RETURN);
    c->next = c->link;
    c->link = CORE_NONE;
    return CORE_NEXT;
}

/* ---- wait ---- */

/* Can no stage do anything any more, even with its threshold waived? */
static bool is_stuck(const struct core *c)
{
    for (uint32_t i = 0; i < c->stage_count; i++)
        if (core_wants(c, core_stage(c, i))) return false;
    return true;
}

static enum core_outcome wait_in_flight(struct core *c)
{
    c->end_propagated = false;
    if (core_packets_flush_idle(c)) (void)core_reap(c, true);
    return CORE_JUMP;
}

/* Suspends the wait: it goes on at that step. */
static enum core_outcome suspend_wait(struct core *c, uint32_t step, bool found_none, bool stuck,
                                      enum core_outcome reason)
{
    c->answer = false;
    c->progress.step = step;
    c->progress.flag = found_none;
    c->progress.most = stuck;
    return reason;
}

/* Thresholds are waived only for selections: guards have none. */
static enum core_outcome execute_wait(struct core *c)
{
    enum { BEGINS, PORTS_END, PORTS_AWAITED };
    uint32_t step = c->progress.step;
    bool found_none = c->progress.flag, stuck = c->progress.most > 0;
    if (step == BEGINS) {
        found_none = c->found_none;
        c->found_none = false;
        if (c->in_flight > 0) return wait_in_flight(c);
        stuck = found_none && c->waiver && is_stuck(c);
        if (stuck && !c->interrupt_seen)
            return suspend_wait(c, PORTS_END, found_none, stuck, CORE_FILL_ALL);
    }
    if (step != PORTS_AWAITED) {
        if (c->end_propagated) {
            c->end_propagated = false;
            c->waiver = false;
            return CORE_JUMP;
        }
        if (stuck && c->live)
            return suspend_wait(c, PORTS_AWAITED, found_none, stuck, CORE_WAIT_FOR_PORTS);
    }
    if (step == PORTS_AWAITED && c->answer) return CORE_JUMP;
    if (!found_none || c->waiver) return CORE_NEXT;
    c->waiver = true;
    core_all_stages_changed(c);
    return CORE_JUMP;
}

/* ---- halt ---- */

/* A stage that reads an open in-port does not wait for the end of a stream: it waits for other stages. */
static bool reads_open_port(const struct core *c, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->input_count; i++)
        if (core_ready_is_open(c, core_input(c, stage, i))) return true;
    return false;
}

static enum core_outcome execute_halt(struct core *c)
{
    uint32_t blocked = CORE_NONE;
    if (!core_settle(c)) return CORE_REDO;
    if (core_attends(c, CORE_HAS_FAILED)) return CORE_NEXT;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        struct core_stage *stage = core_stage(c, i);
        if (stage->life >= CORE_ENDED) continue;
        bool finishing = stage->life == CORE_FINISH_WAITING;
        bool room = finishing ? core_has_finish_room(c, stage) : core_ready_outputs(c, stage) > 0;
        bool packets = finishing || core_ready_inputs(c, stage) > 0;
        bool stopped = c->interrupt_seen && !stage->driven;
        if ((room && packets && !stopped) || (!finishing && core_can_never_fire(c, stage))) {
            (void)core_fail(c, CORE_BAD_HALT, i, 0);
            return CORE_NEXT;
        }
        if ((packets || reads_open_port(c, stage)) && blocked == CORE_NONE) blocked = i;
        core_note_leftovers(c, stage);
    }
    if (blocked != CORE_NONE && !c->interrupt_seen)
        (void)core_fail(c, CORE_STALLED, blocked, 0);
    else
        c->attention |= CORE_HAS_HALTED;
    return CORE_NEXT;
}

/* ---- the program ---- */

bool core_executes(uint32_t opcode)
{
    return opcode != SCHED_PARTITION_EQUALLY && opcode != SCHED_PARTITION_COUNTS &&
           opcode != SCHED_PARTITION_AFFINITY && opcode != SCHED_BIND_ROOT &&
           opcode != SCHED_BIND && opcode != SCHED_PACKETS && opcode != SCHED_LOAD_REFERENCE;
}

static enum core_outcome execute_instruction(struct core *c, const struct core_instruction *i)
{
    const uint32_t *operands = i->operands;
    switch (i->opcode) {
    case SCHED_RUN: return core_run(c, operands[0], operands[1]);
    case SCHED_HAS_PACKETS: return core_has_packets(c, operands[0], operands[1], operands[2]);
    case SCHED_HAS_ROOM: return core_has_room(c, operands[0], operands[1], operands[2]);
    case SCHED_GOES_ON: return core_goes_on(c, operands[0], operands[1]);
    case SCHED_REPEAT: return begin_repeat(c, operands[0]);
    case SCHED_AGAIN: return execute_again(c);
    case SCHED_CALL: return enter_routine(c);
    case SCHED_RETURN: return return_from_routine(c);
    case SCHED_FENCE: return core_fence(c);
    case SCHED_ENDS:
        if (c->endless) core_cut_off_ports(c);
        return c->ends_due.marked > 0 ? core_ends(c) : CORE_NEXT;
    case SCHED_ROUND_ROBIN: return core_select_round_robin(c, operands[0]);
    case SCHED_PRIORITY: return core_select_priority(c, operands[0]);
    case SCHED_FULLEST: return core_select_fullest(c, operands[0]);
    case SCHED_DISPATCH: (void)core_dispatch(c); return CORE_NEXT;
    case SCHED_JUMP: return CORE_JUMP;
    case SCHED_WAIT: return execute_wait(c);
    case SCHED_HALT: return execute_halt(c);
    /* uncovered: the verifier has proven that the prologue comes first */
    default: return refuse_program(c, CORE_BAD_OPCODE);
    }
}

/* The machine leaves the program after the present instruction: the run ends, or a firing has faulted. */
static void leave_program(struct core *c)
{
    if (core_attends(c, CORE_NO_SINKS)) (void)core_fail(c, CORE_SINKS_GONE, CORE_NONE, 0);
    if (core_attends(c, CORE_HAS_FAILED) || core_attends(c, CORE_HAS_HALTED)) {
        c->activity = SETTLES;
    } else {
        assert(core_attends(c, CORE_HAS_FAULTED));
        c->activity = CONCLUDES;
        core_all_stages_changed(c);
    }
}

/* Is the in-port that is to be filled cut off, since nothing takes its packets?  Then its stream has ended. */
static bool is_cut_off_instead(struct core *c)
{
    core_cut_off_ports(c);
    return core_buffers(c)[c->request_buffer].fifo.closed;
}

/* Before the next instruction something else has to be done. */
static enum core_outcome leave_instructions(struct core *c)
{
    if (c->attention == 0) return CORE_ASKED;
    bool stays = core_attends(c, CORE_UNDRAINED) || core_attends(c, CORE_STEPPING);
    if (!stays) leave_program(c);
    return CORE_REDO;
}

/* Executes instructions until one needs the host, or more than the next instruction has to be done. */
static enum core_outcome run_program(struct core *c)
{
    const struct core_instruction *code = core_code(c), *i = code + c->instruction;
    bool resumed = c->resumes && !core_attends(c, CORE_HAS_FAILED);
    c->resumes = false;
    for (;;) {
        if (!resumed) {
            if ((c->attention | core_flag(&c->asked)) != 0) return leave_instructions(c);
            assert(c->next < c->code_count); /* the verifier: code halts */
            i = code + c->next;
            c->instruction = c->next++;
            c->instruction_cycles += i->cycles;
            c->instructions++;
        }
        enum core_outcome outcome = execute_instruction(c, i);
        if (outcome == CORE_NEXT && !resumed) continue;
        if (outcome == CORE_FILL && is_cut_off_instead(c)) {
            resumed = true;
            continue;
        }
        if (outcome > CORE_JUMP) {
            c->resumes = true;
            return outcome;
        }
        if (outcome == CORE_JUMP) c->next = i->target;
        if (resumed) c->progress = (struct core_progress){.step = 0};
        resumed = false;
    }
}

/* ---- activities ---- */

static enum core_outcome fire_once(struct core *c)
{
    enum { BEGINS, LAUNCHED };
    struct core_progress *p = &c->progress;
    if (p->step == BEGINS) {
        enum core_outcome outcome = core_select_one(c, p->at);
        if (outcome == CORE_FILL && !core_attends(c, CORE_HAS_FAILED)) return outcome;
        c->answer = outcome == CORE_NEXT;
        p->step = LAUNCHED;
        if (c->answer) (void)core_dispatch(c);
    }
    return core_settle(c) ? CORE_OVER : CORE_REDO;
}

/* Executes the rest of a run that has faulted. */
static void conclude_run(struct core *c, enum core_outcome outcome)
{
    if (outcome == CORE_JUMP && core_attends(c, CORE_NO_SINKS))
        (void)core_fail(c, CORE_SINKS_GONE, CORE_NONE, 0);
    else if (outcome == CORE_JUMP)
        (void)execute_halt(c); /* nothing is in flight */
    if (core_attends(c, CORE_HAS_FAILED) || core_attends(c, CORE_HAS_HALTED)) c->activity = SETTLES;
}

static enum core_outcome settle_at_end(struct core *c)
{
    if (core_attends(c, CORE_HAS_FAILED)) core_packets_drop(c);
    if (!core_settle(c)) return CORE_REDO;
    c->activity = IS_OVER;
    return CORE_OVER;
}

static enum core_outcome core_act(struct core *c)
{
    enum core_outcome outcome;
    switch (c->activity) {
    case RUNS_PROGRAM: return run_program(c);
    case FIRES_ONCE: return fire_once(c);
    case CONCLUDES:
        outcome = !core_attends(c, CORE_HAS_FAILED) ? core_conclude(c) : CORE_NEXT;
        conclude_run(c, outcome);
        return outcome;
    case SETTLES: return settle_at_end(c);
    default: return CORE_OVER;
    }
}

/* The firing that is stepped: when nothing is in flight, it is over. */
static bool finish_step(struct core *c)
{
    uint32_t stage = c->step_stage;
    if (!core_settle(c)) return false;
    c->attention &= ~(uint32_t)CORE_STEPPING;
    (void)core_send(c, CORE_EVENT_STEPPED, stage, c->step_finish);
    return true;
}

enum core_outcome core_resume(struct core *c, const struct core_environment *environment)
{
    c->environment = environment;
    for (;;) {
        if (core_attends(c, CORE_UNDRAINED)) return CORE_DRAIN;
        if (core_attends(c, CORE_STEPPING) && !finish_step(c)) continue;
        enum core_outcome outcome = core_act(c);
        if (outcome > CORE_REDO) return outcome;
    }
}
