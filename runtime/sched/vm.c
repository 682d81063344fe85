#include "runtime/sched/vm.h"

#include "lang/sched_code.h"
#include "runtime/sched/explain.h"

#include <assert.h>
#include <stdlib.h>

struct instruction {
    enum sched_opcode opcode;
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
    *out = (struct instruction){
        .opcode = decoded->opcode, .operand = decoded->operands[0], .second = decoded->operands[1]};
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

/* Executes the instruction at *at and moves *at on.  *halted: that was the last one. */
static enum prt_status step(const struct prt_vm *vm, struct prt_sched *sched, uint32_t *at,
                            bool *halted, struct prt_error *error)
{
    assert(*at < vm->count);
    const struct instruction *i = &vm->code[(*at)++];
    enum prt_status status = PRT_OK;
    bool taken = false;
    sched->scheduler_cycles += sched_opcodes[i->opcode].cycles;
    sched->instruction_cycles += sched_opcodes[i->opcode].cycles;
    sched->instructions++;
    switch (i->opcode) {
    case SCHED_PARTITION_EQUALLY: return prt_sched_partition_equally(sched, i->operand, error);
    case SCHED_PARTITION_COUNTS:
        return prt_sched_partition_counts(sched, i->list, i->operand, error);
    case SCHED_BIND_ROOT: return prt_sched_bind_root(sched, i->operand, error);
    case SCHED_BIND: return prt_sched_bind(sched, i->operand, i->second, error);
    case SCHED_ENDS: return prt_sched_ends(sched, error);
    case SCHED_ROUND_ROBIN:
        status = prt_sched_select_round_robin(sched, i->operand, &taken, error);
        taken = !taken;
        break;
    case SCHED_PRIORITY:
        status = prt_sched_select_priority(sched, i->operand, &taken, error);
        taken = !taken;
        break;
    case SCHED_FULLEST:
        status = prt_sched_select_fullest(sched, i->operand, &taken, error);
        taken = !taken;
        break;
    case SCHED_DISPATCH: return prt_sched_dispatch(sched, error);
    case SCHED_JUMP: taken = true; break;
    case SCHED_WAIT: status = prt_sched_wait(sched, &taken, error); break;
    case SCHED_HALT: *halted = true; return prt_sched_halt(sched, error);
    case SCHED_INVALID:
    case SCHED_OPCODE_COUNT:
        return prt_error_set(error, PRT_E_INTERNAL, "the verifier let an unknown opcode pass");
    }
    if (taken) *at = i->target;
    return status;
}

static bool is_prologue(enum sched_opcode opcode)
{
    return opcode == SCHED_PARTITION_EQUALLY || opcode == SCHED_PARTITION_COUNTS ||
           opcode == SCHED_BIND_ROOT || opcode == SCHED_BIND;
}

enum prt_status prt_vm_prologue(const struct prt_vm *vm, struct prt_sched *sched,
                                struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    bool halted = false;
    for (uint32_t at = 0; at < vm->count && is_prologue(vm->code[at].opcode) && status == PRT_OK;)
        status = step(vm, sched, &at, &halted, error);
    return status;
}

enum prt_status prt_vm_run(const struct prt_vm *vm, struct prt_sched *sched,
                           struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    bool halted = false;
    uint32_t at = 0;
    while (status == PRT_OK && !halted) {
        status = step(vm, sched, &at, &halted, error);
        if (status == PRT_OK && sched->sinks_gone)
            status =
                prt_error_set(error, PRT_E_CLOSED_PIPE, "%s", prt_status_text(PRT_E_CLOSED_PIPE));
    }
    struct prt_error later;
    (void)prt_sched_settle(sched, &later);
    return sched->fault.there ? prt_explain_fault(sched, error) : status;
}
