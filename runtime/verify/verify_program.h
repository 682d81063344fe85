/* SPDX-License-Identifier: MIT */
/*
 * verify_program: the scheduler program of a container (lang/scheduler.md), proven before it runs.
 *
 * Three steps, each relying on the ones before:
 *   structure  every byte belongs to an instruction; labels are beginnings of instructions; loops
 *              are nested and closed; routines hold what they may (verify_program.c)
 *   meaning    operands exist; the prologue is one; counts are within batches and depths
 *              (verify_program.c); nothing runs off the end, and no loop goes on without end while
 *              nothing happens (verify_flow.c)
 *   execution  of the whole program on intervals in place of levels: no buffer can over- or
 *              underflow, every guard can hold, the end is reached only when nothing is left to do
 *              (verify_levels.h)
 *
 * Shares nothing with the compiler.  Work is counted, and limited by the size of the tables and of
 * the program: beyond the limit a program is refused by the rule `work`.  Every refusal names its
 * rule; lang/scheduler.md lists them.
 */
#ifndef RUNTIME_VERIFY_VERIFY_PROGRAM_H
#define RUNTIME_VERIFY_VERIFY_PROGRAM_H

#include "lang/sched_code.h"
#include "runtime/verify/verify_internal.h"

#define PRT_NO_INSTRUCTION UINT32_MAX

enum prt_code_flags {
    PRT_CODE_REACHED = 1, /* by the main flow */
    PRT_CODE_PASSED = 2,  /* of a guard: it can hold */
    PRT_CODE_LABEL = 4    /* some instruction jumps here */
};

struct prt_code {
    const struct prt_container *container;
    struct prt_error *error;
    uint32_t *offsets; /* of each instruction */
    uint32_t *regions; /* of each: the `repeat` that it is in, or PRT_NO_INSTRUCTION */
    uint8_t *flags;    /* of each: set of enum prt_code_flags */
    uint32_t count;
    uint32_t prologue_count; /* instructions of the prologue */
    uint32_t subdevice_count;
    uint64_t work, work_limit; /* steps */
    struct prt_proof *proof;
};

struct sched_instruction prt_code_at(const struct prt_code *code, uint32_t index);

/* "container: section 'program', offset 12, 'bind 0, 7': there is no sub-device 7 [no-subdevice]" */
enum prt_status prt_code_refuse(const struct prt_code *code, uint32_t index, const char *rule,
                                const char *format, ...) PRT_PRINTF(4, 5);

#define RULE(code, index, condition, ...)                                                          \
    do {                                                                                           \
        if (!PRT_HOLDS(condition)) return prt_code_refuse((code), (index), __VA_ARGS__);           \
    } while (0)

/* Takes so many steps of work; refuses at `index` beyond the limit. */
enum prt_status prt_code_work(struct prt_code *code, uint32_t index, uint64_t steps);

/* A guard continues after itself, or at its label. */
bool prt_code_is_guard(enum sched_opcode opcode);
bool prt_code_is_selection(enum sched_opcode opcode);
bool prt_code_is_partition(enum sched_opcode opcode);

/* The operand that is a label, as an instruction; PRT_NO_INSTRUCTION: it has none. */
uint32_t prt_code_target(const struct prt_code *code, const struct sched_instruction *instruction);

/* ---- verify_flow.c ---- */

/* Requires: structure and operands.  Marks the instructions that are reached. */
enum prt_status prt_verify_flow(struct prt_code *code);

/* ---- verify_levels.c ---- */

enum prt_status prt_verify_levels(struct prt_code *code);

#endif
