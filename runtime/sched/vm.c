#include "runtime/sched/vm.h"

#include "lang/sched_code.h"
#include "runtime/sched/explain.h"
#include "runtime/sched/packets.h"

#include <assert.h>
#include <stdlib.h>

struct instruction {
    enum sched_opcode opcode;
    uint32_t cycles;
    uint32_t operand;     /* the first one; of a list: its length */
    uint32_t second;      /* the second one */
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

/* `index_at` says for each offset which instruction begins there. */
static void decode_instruction(struct prt_vm *vm, const struct sched_instruction *decoded,
                               const uint32_t *index_at, uint32_t **list)
{
    struct instruction *out = &vm->code[vm->count++];
    *out = (struct instruction){.opcode = decoded->opcode,
                                .cycles = sched_opcodes[decoded->opcode].cycles,
                                .operand = decoded->operands[0],
                                .second = decoded->operands[1]};
    const char *letters = sched_opcodes[decoded->opcode].operands;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (letters[i] == 'L') out->target = index_at[decoded->operands[i]];
        if (letters[i] != '*') continue;
        out->list = *list;
        for (uint32_t k = 0; k < decoded->operands[i]; k++)
            *(*list)++ = sched_list_item(decoded, k);
    }
}

static bool decode_all(struct prt_vm *vm, const struct prt_container *c)
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
    vm->code = calloc(count > 0 ? count : 1, sizeof *vm->code);
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
    if (made == NULL || !decode_all(made, container)) {
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

struct machine { /* one run of the code */
    const struct prt_vm *vm;
    struct prt_sched *sched;
    struct prt_error *error;
    bool taken; /* the present one goes on at its label */
    bool halted;
};

/* What waits for room in the host's sinks is given to them by these instructions. */
static enum prt_status closed_pipe(const struct machine *m, enum prt_status status)
{
    if (status != PRT_OK || !m->sched->sinks_gone) return status;
    return prt_error_set(m->error, PRT_E_CLOSED_PIPE, "%s", prt_status_text(PRT_E_CLOSED_PIPE));
}

/* `taken` says that a stage was found: the label is where none is. */
static enum prt_status selected(struct machine *m, enum prt_status status)
{
    m->taken = !m->taken;
    return status;
}

static enum prt_status execute(struct machine *m, const struct instruction *i)
{
    struct prt_sched *s = m->sched;
    struct prt_error *error = m->error;
    switch (i->opcode) {
    case SCHED_PARTITION_EQUALLY: return prt_sched_partition_equally(s, i->operand, error);
    case SCHED_PARTITION_COUNTS: return prt_sched_partition_counts(s, i->list, i->operand, error);
    case SCHED_PARTITION_AFFINITY:
        return prt_sched_partition_affinity(s, i->operand, i->second, error);
    case SCHED_BIND_ROOT: return prt_sched_bind_root(s, i->operand, error);
    case SCHED_BIND: return prt_sched_bind(s, i->operand, i->second, error);
    case SCHED_ENDS: return s->ends_due ? prt_sched_ends(s, error) : PRT_OK;
    case SCHED_ROUND_ROBIN:
        return selected(m, prt_sched_select_round_robin(s, i->operand, &m->taken, error));
    case SCHED_PRIORITY:
        return selected(m, prt_sched_select_priority(s, i->operand, &m->taken, error));
    case SCHED_FULLEST:
        return selected(m, prt_sched_select_fullest(s, i->operand, &m->taken, error));
    case SCHED_DISPATCH: return closed_pipe(m, prt_sched_dispatch(s, error));
    case SCHED_JUMP: m->taken = true; return PRT_OK;
    case SCHED_WAIT: return closed_pipe(m, prt_sched_wait(s, &m->taken, error));
    case SCHED_HALT: m->halted = true; return closed_pipe(m, prt_sched_halt(s, error));
    case SCHED_INVALID:
    case SCHED_OPCODE_COUNT: break;
    }
    return prt_error_set(error, PRT_E_INTERNAL, "the verifier let an unknown opcode pass");
}

/* Up to the instruction `end`, or to the halt. */
static enum prt_status run_until(struct machine *m, uint32_t end)
{
    struct prt_sched *s = m->sched;
    const struct instruction *code = m->vm->code, *at = code;
    const struct instruction *stop = code + (end < m->vm->count ? end : m->vm->count);
    enum prt_status status = PRT_OK;
    while (status == PRT_OK && !m->halted && at != stop) {
        const struct instruction *i = at++;
        s->instruction_cycles += i->cycles;
        s->instructions++;
        m->taken = false;
        status = execute(m, i);
        if (m->taken) at = code + i->target;
    }
    assert(status != PRT_OK || m->halted || end <= m->vm->count); /* the verifier: code halts */
    return status;
}

static bool is_prologue(enum sched_opcode opcode)
{
    return opcode == SCHED_PARTITION_EQUALLY || opcode == SCHED_PARTITION_COUNTS ||
           opcode == SCHED_PARTITION_AFFINITY || opcode == SCHED_BIND_ROOT || opcode == SCHED_BIND;
}

enum prt_status prt_vm_prologue(const struct prt_vm *vm, struct prt_sched *sched,
                                struct prt_error *error)
{
    struct machine machine = {.vm = vm, .sched = sched, .error = error};
    uint32_t end = 0;
    while (end < vm->count && is_prologue(vm->code[end].opcode))
        end++;
    return run_until(&machine, end);
}

enum prt_status prt_vm_run(const struct prt_vm *vm, struct prt_sched *sched,
                           struct prt_error *error)
{
    struct machine machine = {.vm = vm, .sched = sched, .error = error};
    enum prt_status status = run_until(&machine, UINT32_MAX);
    struct prt_error later;
    if (status != PRT_OK) prt_packets_drop(sched);
    (void)prt_sched_settle(sched, &later);
    return sched->fault.there ? prt_explain_fault(sched, error) : status;
}
