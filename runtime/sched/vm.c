/* SPDX-License-Identifier: MIT */
#include "runtime/sched/vm.h"

#include "lang/sched_code.h"
#include "runtime/sched/explain.h"
#include "runtime/sched/faults.h"
#include "runtime/sched/packets.h"
#include "runtime/sched/run_state.h"
#include "runtime/sched/static_part.h"

#include <assert.h>
#include <stdlib.h>

struct instruction {
    enum sched_opcode opcode;
    uint32_t cycles;
    uint32_t operands[3]; /* for a list its length; a label is in `target` */
    uint32_t target;      /* index of the instruction at the label */
    const uint32_t *list; /* into the machine's own copy */
};

struct prt_vm {
    struct instruction *code;
    uint32_t *lists;
    uint32_t count;
};

/* ---- decoding ---- */

static struct sched_instruction decode_at(const struct prt_container *c, uint32_t offset)
{
    struct sched_instruction decoded;
    bool decodes = sched_decode(c->code, c->code_bytes, offset, &decoded);
    assert(decodes);
    (void)decodes;
    return decoded;
}

/* Decodes one instruction and appends its list to *list.  `index_at`: for each offset the instruction that begins
 * there. */
static void decode_instruction(struct prt_vm *vm, const struct sched_instruction *decoded,
                               const uint32_t *index_at, uint32_t **list)
{
    struct instruction *out = &vm->code[vm->count++];
    *out = (struct instruction){
        .opcode = decoded->opcode,
        .cycles = sched_opcodes[decoded->opcode].cycles,
        .operands = {decoded->operands[0], decoded->operands[1], decoded->operands[2]}};
    const char *letters = sched_opcodes[decoded->opcode].operands;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (letters[i] == 'L') out->target = index_at[decoded->operands[i]];
        if (letters[i] != '*') continue;
        out->list = *list;
        for (uint32_t k = 0; k < decoded->operands[i]; k++)
            *(*list)++ = sched_list_item(decoded, k);
    }
}

static bool decode_program(struct prt_vm *vm, const struct prt_container *c)
{
    uint32_t *index_at = calloc((size_t)c->code_bytes + 1, sizeof *index_at);
    vm->lists = calloc((size_t)c->code_bytes / 4 + 1, sizeof *vm->lists);
    if (index_at == NULL || vm->lists == NULL) {
        free(index_at);
        return false;
    }
    uint32_t count = 0;
    for (uint32_t at = 0; at < c->code_bytes; at += decode_at(c, at).size_bytes)
        index_at[at] = count++;
    vm->code = calloc((size_t)count + 1, sizeof *vm->code);
    uint32_t *list = vm->lists;
    for (uint32_t at = 0; at < c->code_bytes && vm->code != NULL;) {
        struct sched_instruction decoded = decode_at(c, at);
        decode_instruction(vm, &decoded, index_at, &list);
        at += decoded.size_bytes;
    }
    free(index_at);
    return vm->code != NULL;
}

enum prt_status prt_vm_create(const struct prt_container *container, struct prt_vm **vm,
                              struct prt_error *error)
{
    struct prt_vm *made = calloc(1, sizeof *made);
    if (made == NULL || !decode_program(made, container)) {
        prt_vm_destroy(made);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    *vm = made;
    return PRT_OK;
}

void prt_vm_destroy(struct prt_vm *vm)
{
    if (vm == NULL) return;
    free(vm->code);
    free(vm->lists);
    free(vm);
}

/* ---- running ---- */

/* So many loops are nested in the loop of the program, and as many in a routine that it calls. */
enum { LOOPS_MAX = 2 * SCHED_REPEAT_DEPTH };

struct loop {
    const struct instruction *first;
    uint32_t left; /* rounds, the present one included */
};

struct machine { /* one run of the code */
    const struct prt_vm *vm;
    struct prt_sched *sched;
    struct prt_error *error;
    const struct instruction *at;   /* the next one */
    const struct instruction *link; /* where `return` goes on; NULL: not in a routine */
    struct loop loops[LOOPS_MAX];
    uint32_t loop_count;
    bool taken; /* the present instruction continues at its label */
    bool halted;
};

/* ---- control ---- */

/* The verifier has proven the nesting; these checks keep the machine safe without the proof. */
static enum prt_status refuse_misplaced(const struct machine *m, const char *what)
{
    return prt_error_set(m->error, PRT_E_VERIFY, "container: the scheduler program has %s", what);
}

static enum prt_status begin_repeat(struct machine *m, uint32_t rounds)
{
    if (m->loop_count == LOOPS_MAX || rounds == 0)
        return refuse_misplaced(m, "too many repeats within each other, or one of no round");
    m->loops[m->loop_count++] = (struct loop){m->at, rounds};
    return PRT_OK;
}

static enum prt_status execute_again(struct machine *m)
{
    if (m->loop_count == 0) return refuse_misplaced(m, "an 'again' outside of what is repeated");
    struct loop *loop = &m->loops[m->loop_count - 1];
    if (--loop->left > 0)
        m->at = loop->first;
    else
        m->loop_count--;
    return PRT_OK;
}

static enum prt_status enter_routine(struct machine *m)
{
    if (m->link != NULL) return refuse_misplaced(m, "a call in a routine");
    m->link = m->at;
    m->taken = true;
    return PRT_OK;
}

static enum prt_status return_from_routine(struct machine *m)
{
    if (m->link == NULL) return refuse_misplaced(m, "a return that no call leads to");
    m->at = m->link;
    m->link = NULL;
    return PRT_OK;
}

/* A guard continues at its label if its condition does not hold. */
static enum prt_status apply_guard(struct machine *m, bool holds)
{
    m->taken = !holds;
    return PRT_OK;
}

static enum prt_status guard_packets(struct machine *m, const struct instruction *i)
{
    bool holds;
    enum prt_status status = prt_static_has_packets(m->sched, i->operands[0], i->operands[1],
                                                    i->operands[2], &holds, m->error);
    m->taken = !holds;
    return status;
}

/* ---- execution of an instruction ---- */

/* For the instructions that deliver packets to sinks: the run ends when the last sink is gone. */
static enum prt_status check_sinks(const struct machine *m, enum prt_status status)
{
    if (status != PRT_OK || !m->sched->sinks_gone) return status;
    return prt_error_set(m->error, PRT_E_CLOSED_PIPE, "%s", prt_status_text(PRT_E_CLOSED_PIPE));
}

/* `taken` says that a stage was found; a selection continues at its label if none was. */
static enum prt_status apply_selection(struct machine *m, enum prt_status status)
{
    m->taken = !m->taken;
    if (m->taken) m->sched->found_none = true;
    return status;
}

static const enum prt_packet_kind forms[SCHED_FORMS] = {
    [SCHED_FORM_FULL] = PRT_PACKET_FULL,
    [SCHED_FORM_REFERENCE] = PRT_PACKET_REFERENCE,
    [SCHED_FORM_CONDENSED] = PRT_PACKET_CONDENSED,
};

/* Executes an instruction of the prologue. */
static enum prt_status execute_prologue(struct machine *m, const struct instruction *i)
{
    struct prt_sched *s = m->sched;
    struct prt_error *error = m->error;
    const uint32_t *operands = i->operands;
    switch (i->opcode) {
    case SCHED_PARTITION_EQUALLY: return prt_sched_partition_equally(s, operands[0], error);
    case SCHED_PARTITION_COUNTS: return prt_sched_partition_counts(s, i->list, operands[0], error);
    case SCHED_PARTITION_AFFINITY:
        return prt_sched_partition_affinity(s, operands[0], operands[1], error);
    case SCHED_BIND_ROOT: return prt_sched_bind_root(s, operands[0], error);
    case SCHED_BIND: return prt_sched_bind(s, operands[0], operands[1], error);
    case SCHED_PACKETS: prt_sched_packets(s, forms[operands[0]]); return PRT_OK;
    default: break;
    }
    assert(i->opcode == SCHED_LOAD_REFERENCE); /* no other decodes */
    prt_sched_load_reference(s, operands[0]);
    return PRT_OK;
}

static enum prt_status execute_instruction(struct machine *m, const struct instruction *i)
{
    struct prt_sched *s = m->sched;
    struct prt_error *error = m->error;
    const uint32_t *operands = i->operands;
    switch (i->opcode) {
    case SCHED_RUN: return check_sinks(m, prt_static_run(s, operands[0], operands[1], error));
    case SCHED_HAS_PACKETS: return guard_packets(m, i);
    case SCHED_HAS_ROOM:
        return apply_guard(m, prt_static_has_room(s, operands[0], operands[1], operands[2]));
    case SCHED_GOES_ON: return apply_guard(m, prt_static_goes_on(s, operands[0], operands[1]));
    case SCHED_REPEAT: return begin_repeat(m, operands[0]);
    case SCHED_AGAIN: return execute_again(m);
    case SCHED_CALL: return enter_routine(m);
    case SCHED_RETURN: return return_from_routine(m);
    case SCHED_FENCE: return check_sinks(m, prt_static_fence(s, error));
    case SCHED_ENDS: return s->ends_due.marked > 0 ? prt_sched_ends(s, error) : PRT_OK;
    case SCHED_ROUND_ROBIN:
        return apply_selection(m, prt_sched_select_round_robin(s, operands[0], &m->taken, error));
    case SCHED_PRIORITY:
        return apply_selection(m, prt_sched_select_priority(s, operands[0], &m->taken, error));
    case SCHED_FULLEST:
        return apply_selection(m, prt_sched_select_fullest(s, operands[0], &m->taken, error));
    case SCHED_DISPATCH: return check_sinks(m, prt_sched_dispatch(s, error));
    case SCHED_JUMP: m->taken = true; return PRT_OK;
    case SCHED_WAIT: return check_sinks(m, prt_sched_wait(s, &m->taken, error));
    case SCHED_HALT: m->halted = true; return check_sinks(m, prt_sched_halt(s, error));
    default: return execute_prologue(m, i);
    }
}

/* Executes from the first instruction up to `end`, a halt, a fault or an error. */
static enum prt_status run_until(struct machine *m, uint32_t end)
{
    struct prt_sched *s = m->sched;
    const struct instruction *code = m->vm->code;
    const struct instruction *stop = code + (end < m->vm->count ? end : m->vm->count);
    enum prt_status status = PRT_OK;
    m->at = code;
    while (status == PRT_OK && !m->halted && !s->faulted && m->at != stop) {
        const struct instruction *i = m->at++;
        prt_run_state_attend(s);
        s->instruction_cycles += i->cycles;
        s->instructions++;
        s->instruction = (uint32_t)(i - code);
        m->taken = false;
        status = execute_instruction(m, i);
        if (m->taken) m->at = code + i->target;
    }
    assert(status != PRT_OK || m->halted || s->faulted ||
           end <= m->vm->count); /* the verifier: code halts */
    return status;
}

static bool is_prologue_opcode(enum sched_opcode opcode)
{
    return opcode == SCHED_PARTITION_EQUALLY || opcode == SCHED_PARTITION_COUNTS ||
           opcode == SCHED_PARTITION_AFFINITY || opcode == SCHED_BIND_ROOT ||
           opcode == SCHED_BIND || opcode == SCHED_PACKETS || opcode == SCHED_LOAD_REFERENCE;
}

enum prt_status prt_vm_prologue(const struct prt_vm *vm, struct prt_sched *sched,
                                struct prt_error *error)
{
    struct machine machine = {.vm = vm, .sched = sched, .error = error};
    uint32_t end = 0;
    while (is_prologue_opcode(vm->code[end].opcode)) /* the verifier: code halts */
        end++;
    (void)prt_run_state_set(sched, PRT_DOING_WORK, NULL);
    return run_until(&machine, end);
}

enum prt_status prt_vm_run(const struct prt_vm *vm, struct prt_sched *sched,
                           struct prt_error *error)
{
    struct machine machine = {.vm = vm, .sched = sched, .error = error};
    (void)prt_run_state_set(sched, PRT_DOING_WORK, NULL);
    enum prt_status status = run_until(&machine, UINT32_MAX);
    if (status == PRT_OK && sched->faulted)
        status = check_sinks(&machine, prt_faults_conclude(sched, error));
    struct prt_error later;
    if (status != PRT_OK) prt_packets_drop(sched);
    (void)prt_sched_settle(sched, &later);
    return sched->fault.there ? prt_explain_fault(sched, error) : status;
}
