/* SPDX-License-Identifier: MIT */
/* Scheduler program to text.  Labels are numbered in order of their places. */
#include "lang/sched_code.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct disassembly {
    const struct sched_program *program;
    struct sched_error *error;
    uint8_t *marks;    /* per byte of code, and one past it: MARK_* */
    uint32_t *targets; /* offsets that have a label, ascending */
    uint32_t target_count;
};

enum { MARK_START = 1, MARK_TARGET = 2 };

static bool disassembly_fail(struct disassembly *d, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool disassembly_fail(struct disassembly *d, uint32_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    d->error->offset = offset;
    vsnprintf(d->error->message, sizeof d->error->message, format, args);
    va_end(args);
    return false;
}

static bool fail_memory(struct disassembly *d)
{
    d->error->no_memory = true;
    return disassembly_fail(d, 0, "out of memory");
}

/* Decodes everything once: marks the beginnings of instructions and what is jumped to. */
static bool mark_code(struct disassembly *d)
{
    const struct sched_program *program = d->program;
    uint32_t size = program->code_bytes;
    struct sched_instruction instruction;
    for (uint32_t at = 0; at < size; at += instruction.size_bytes) {
        if (!sched_decode(program->code, size, at, &instruction)) {
            return disassembly_fail(d, at, "the code at offset %" PRIu32 " is not an instruction",
                                    at);
        }
        d->marks[at] |= MARK_START;
        const char *letters = sched_opcodes[instruction.opcode].operands;
        for (size_t i = 0; letters[i] != '\0'; i++) {
            uint32_t words;
            if (sched_words(letters[i], &words) != NULL && instruction.operands[i] >= words)
                return disassembly_fail(d, at, "there is no %s %" PRIu32,
                                        letters[i] == 'A' ? "level" : "form",
                                        instruction.operands[i]);
            if (letters[i] != 'L') continue;
            if (instruction.operands[i] > size) {
                return disassembly_fail(d, at, "the jump at offset %" PRIu32 " leaves the code",
                                        at);
            }
            d->marks[instruction.operands[i]] |= MARK_TARGET;
        }
    }
    d->marks[size] |= MARK_START;
    return true;
}

static bool number_labels(struct disassembly *d)
{
    uint32_t size = d->program->code_bytes;
    for (uint32_t at = 0; at <= size; at++) {
        if ((d->marks[at] & MARK_TARGET) == 0) continue;
        if ((d->marks[at] & MARK_START) == 0) {
            return disassembly_fail(d, at,
                                    "a jump goes to offset %" PRIu32 ", inside an instruction", at);
        }
        d->targets[d->target_count++] = at;
    }
    return true;
}

/* Number of the label at `offset`, 1-based. */
static uint32_t label_number(const struct disassembly *d, uint32_t offset)
{
    uint32_t low = 0, high = d->target_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->targets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low + 1;
}

static void print_label(const struct disassembly *d, FILE *to, uint32_t offset)
{
    if ((d->marks[offset] & MARK_TARGET) != 0)
        fprintf(to, "L%" PRIu32 ":\n", label_number(d, offset));
}

static void print_instruction(const struct disassembly *d, FILE *to,
                              const struct sched_instruction *instruction)
{
    const struct sched_opcode_info *info = &sched_opcodes[instruction->opcode];
    fprintf(to, "    %s", info->mnemonic);
    for (size_t i = 0; info->operands[i] != '\0'; i++) {
        uint32_t value = instruction->operands[i], word_count;
        const char *const *words = sched_words(info->operands[i], &word_count);
        if (i > 0) fputc(',', to);
        if (info->operands[i] == '*') {
            for (uint32_t n = 0; n < value; n++) {
                fprintf(to, " %" PRIu32, sched_list_item(instruction, n));
            }
        } else if (words != NULL) {
            fprintf(to, " %s", words[value]);
        } else if (info->operands[i] == 'L') {
            fprintf(to, " L%" PRIu32, label_number(d, value));
        } else {
            fprintf(to, " %" PRIu32, value);
        }
    }
    fputc('\n', to);
}

static void print_program(const struct disassembly *d, FILE *to)
{
    const struct sched_program *program = d->program;
    fprintf(to, ".stages %" PRIu32 "\n", program->stage_count);
    for (uint32_t i = 0; i < program->set_count; i++) {
        fprintf(to, ".set %" PRIu32 ":", i);
        for (uint32_t n = 0; n < program->sets[i].count; n++) {
            fprintf(to, " %" PRIu32, program->sets[i].stages[n]);
        }
        fputc('\n', to);
    }
    struct sched_instruction instruction;
    for (uint32_t at = 0; at < program->code_bytes; at += instruction.size_bytes) {
        sched_decode(program->code, program->code_bytes, at, &instruction);
        print_label(d, to, at);
        print_instruction(d, to, &instruction);
    }
    print_label(d, to, program->code_bytes);
}

bool sched_disassemble(FILE *to, const struct sched_program *program, struct sched_error *error)
{
    struct disassembly d = {.program = program, .error = error};
    *error = (struct sched_error){0};
    if (program->code_bytes > SCHED_MAX_CODE_BYTES) {
        return disassembly_fail(&d, 0, "more than %u bytes of code", SCHED_MAX_CODE_BYTES);
    }
    d.marks = calloc((size_t)program->code_bytes + 1, 1);
    /* A label takes four bytes of code at least, and one may stand at the end. */
    d.targets = malloc(((size_t)program->code_bytes / 4 + 2) * sizeof *d.targets);
    bool good =
        d.marks != NULL && d.targets != NULL ? mark_code(&d) && number_labels(&d) : fail_memory(&d);
    if (good) {
        print_program(&d, to);
        if (ferror(to)) good = disassembly_fail(&d, 0, "cannot write the text");
    }
    free(d.marks);
    free(d.targets);
    return good;
}
