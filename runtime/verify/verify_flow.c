/* SPDX-License-Identifier: MIT */
/*
 * The control flow of a scheduler program: it stays within its code, and cannot loop without progress.
 *
 * An instruction makes *progress* if it dispatches a launch (`dispatch`, `run`, or a `call`, whose
 * routine runs something), or if it continues because a launch has completed (the jump of a `wait`).  A
 * loop without progress is refused.  Endless progress is no error of a program.  Launches consume
 * packets of in-ports, which the host ends, or they are firings that a `goes_on` has allowed
 * (verify_levels.h).  A stage that a dispatch selects has been found ready.
 *
 * Work: linear in the program.
 */
#include "runtime/verify/verify_program.h"

#include <inttypes.h>
#include <stdlib.h>

struct edges {
    uint32_t targets[2];
    uint32_t count;
};

/* Where control may go on within the program's own flow: the next instruction, if any, then the
 * label, if any.  A call comes back. */
static struct edges find_successors(const struct prt_code *code, uint32_t index,
                                    const struct sched_instruction *instruction)
{
    struct edges edges = {.count = 0};
    enum sched_opcode opcode = instruction->opcode;
    if (opcode == SCHED_HALT) return edges;
    if (opcode != SCHED_JUMP) edges.targets[edges.count++] = index + 1;
    if (opcode == SCHED_JUMP || opcode == SCHED_WAIT || prt_code_is_guard(opcode) ||
        prt_code_is_selection(opcode))
        edges.targets[edges.count++] = prt_code_target(code, instruction);
    return edges;
}

/* The edges along which the program dispatches nothing. */
static struct edges idle_edges(const struct prt_code *code, uint32_t index)
{
    struct sched_instruction instruction = prt_code_at(code, index);
    struct edges edges = find_successors(code, index, &instruction);
    if (instruction.opcode == SCHED_DISPATCH || instruction.opcode == SCHED_RUN ||
        instruction.opcode == SCHED_CALL)
        edges.count = 0;
    if (instruction.opcode == SCHED_WAIT) edges.count = 1;
    return edges;
}

static enum prt_status follow_flow(struct prt_code *code, uint32_t index, uint32_t *stack,
                                   uint32_t *depth)
{
    struct sched_instruction instruction = prt_code_at(code, index);
    RULE(code, index, instruction.opcode != SCHED_RETURN, "return",
         "the program comes here without a 'call'");
    struct edges edges = find_successors(code, index, &instruction);
    for (uint32_t e = 0; e < edges.count; e++) {
        uint32_t target = edges.targets[e];
        RULE(code, index, target < code->count, "end", "the program runs off its end after this");
        if (code->flags[target] & PRT_CODE_REACHED) continue;
        code->flags[target] |= PRT_CODE_REACHED;
        stack[(*depth)++] = target;
    }
    return PRT_OK;
}

static enum prt_status mark_reachable(struct prt_code *code, uint32_t *stack)
{
    uint32_t depth = 0;
    enum prt_status status = PRT_OK;
    code->flags[0] |= PRT_CODE_REACHED;
    stack[depth++] = 0;
    while (depth > 0 && status == PRT_OK) {
        uint32_t index = stack[--depth];
        status = follow_flow(code, index, stack, &depth);
    }
    return status;
}

/* ---- loops ---- */

/* Between NEW and DONE: the instruction is on the path, and one less of its edges have been followed. */
enum { NEW = 0, DONE = 4 };

/* Depth-first over idle edges. */
static enum prt_status search_idle_edges(const struct prt_code *code, uint32_t root, uint8_t *marks,
                                         uint32_t *stack)
{
    uint32_t depth = 0;
    stack[depth++] = root;
    marks[root] = NEW + 1;
    while (depth > 0) {
        uint32_t index = stack[depth - 1];
        struct edges edges = idle_edges(code, index);
        uint32_t next = marks[index] - 1u;
        if (next >= edges.count) {
            marks[index] = DONE;
            depth--;
            continue;
        }
        marks[index]++;
        uint32_t target = edges.targets[next];
        if (marks[target] == DONE) continue;
        RULE(code, target, marks[target] == NEW, "idle-loop",
             "a loop through this contains neither a dispatch, nor a run, nor the jump of a wait");
        marks[target] = NEW + 1;
        stack[depth++] = target;
    }
    return PRT_OK;
}

static enum prt_status verify_cycles(const struct prt_code *code, uint8_t *marks, uint32_t *stack)
{
    enum prt_status status = PRT_OK;
    /* equivalent: the first instruction binds a stage or makes sub-devices, nothing leads back to it */
    for (uint32_t root = 0; root < code->count && status == PRT_OK; root++) {
        if (code->flags[root] & PRT_CODE_REACHED && marks[root] == NEW)
            status = search_idle_edges(code, root, marks, stack);
    }
    return status;
}

enum prt_status prt_verify_flow(struct prt_code *code)
{
    /* equivalent: one place less is enough, because no instruction is stacked twice */
    uint32_t *stack = calloc((size_t)code->count + 1, sizeof *stack);
    uint8_t *marks = calloc((size_t)code->count + 1, 1);
    bool made = stack != NULL && marks != NULL;
    enum prt_status status = made ? mark_reachable(code, stack)
                                  : prt_error_set(code->error, PRT_E_NOMEM, "out of memory");
    if (made && status == PRT_OK) status = verify_cycles(code, marks, stack);
    free(stack);
    free(marks);
    return status;
}
