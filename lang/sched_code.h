/* SPDX-License-Identifier: MIT */
/*
 * sched_code: the scheduler program in memory and its two forms.
 *
 * Bytecode: `lang/opcodes.def` and lang/scheduler.md.  Text (what the disassembler prints and the
 * assembler reads):
 *
 *     .stages 3
 *     .set 0: 0 1 2
 *         partition_counts 1 2
 *         bind 0, 0
 *     L1:
 *         ends
 *         round_robin 0, L2
 *         dispatch
 *         jump L1
 *     L2:
 *         wait L1
 *         halt
 *
 * assemble(disassemble(p)) == p byte for byte, and disassemble(assemble(t)) is the canonical form
 * of t. Text and bytes are untrusted: every error has a line (or an offset) and a reason.  No
 * state; thread-safe.
 */
#ifndef LANG_SCHED_CODE_H
#define LANG_SCHED_CODE_H

#include "lang/sched_opcode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sched_opcode_info {
    const char *mnemonic, *operands, *summary;
    uint32_t cycles;
};
extern const struct sched_opcode_info sched_opcodes[SCHED_OPCODE_COUNT];

#define SCHED_MAX_OPERANDS 4
#define SCHED_MAX_CODE_BYTES (16u << 20)
#define SCHED_MAX_STAGES (1u << 20)
#define SCHED_MAX_SETS 4096u

struct sched_instruction {
    enum sched_opcode opcode;
    uint32_t offset; /* in the code */
    uint32_t size_bytes;
    uint32_t operands[SCHED_MAX_OPERANDS]; /* of a list: its length */
    const uint8_t *list; /* of a list: its numbers, u32 little-endian, unaligned; else NULL */
};

#define SCHED_LEVELS 5u /* that operands A name: in order from the widest */
extern const char *const sched_levels[SCHED_LEVELS];
extern const char *const sched_forms[SCHED_FORMS];

/* The words that an operand of that letter is written with; *count of them.  NULL: it is a number. */
const char *const *sched_words(char letter, uint32_t *count);

/* Decodes the instruction at `offset`.  False: it is not one, or runs past `size`. */
bool sched_decode(const uint8_t *code, size_t size, uint32_t offset, struct sched_instruction *out);
uint32_t sched_list_item(const struct sched_instruction *instruction, uint32_t i);

struct sched_set {
    uint32_t *stages;
    uint32_t count;
};

struct sched_program { /* all arrays owned by the program: sched_program_free */
    uint32_t stage_count;
    struct sched_set *sets;
    uint32_t set_count;
    uint8_t *code;
    uint32_t code_bytes;
};

void sched_program_free(struct sched_program *program);

struct sched_error {
    uint32_t line;   /* assembler: 1-based; else 0 */
    uint32_t offset; /* bytecode */
    bool no_memory;
    char message[256];
};

/* Text to program.  False: *error. */
bool sched_assemble(const char *text, size_t size, struct sched_program *out,
                    struct sched_error *error);
/* The line of a text that assembles which the byte at `offset` of its code comes from; 0: none. */
uint32_t sched_line_at(const char *text, size_t size, uint32_t offset);

/* Program to text.  False on code that does not decode (*error), or when writing fails. */
bool sched_disassemble(FILE *to, const struct sched_program *program, struct sched_error *error);

/* ---- building code: the compiler's emitter and the assembler use the same ---- */

struct sched_builder {
    uint8_t *code;
    uint32_t code_bytes, capacity;
    /* Out of memory (then `no_memory`, too) or too large: the code is not to be used. */
    bool failed;
    bool no_memory;
};
/* Appends an instruction; `list` for a list operand (then its length is operands[n-1]). Returns its
 * offset. */
uint32_t sched_build(struct sched_builder *builder, enum sched_opcode opcode,
                     const uint32_t *operands, const uint32_t *list);
/* Sets operand `n` of the instruction at `offset` (labels known later). */
void sched_patch(struct sched_builder *builder, uint32_t offset, uint32_t n, uint32_t value);

#endif
