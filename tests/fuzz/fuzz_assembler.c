/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes as the text of a scheduler program; after a zero byte, as its code.  Text that
 * assembles is disassembled to a text that gives the same code and is its own canonical form; every
 * instruction has a line.  Code that decodes comes back from its text byte for byte.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/sched_code.h"

static void expect(bool holds)
{
    if (!holds) abort();
}

struct text {
    char *bytes;
    size_t size_bytes;
};

/* In malloc'ed memory; no bytes: the code does not decode. */
static struct text disassemble(const struct sched_program *program)
{
    struct text text = {0};
    struct sched_error error = {0};
    FILE *to = open_memstream(&text.bytes, &text.size_bytes);
    expect(to != NULL);
    bool good = sched_disassemble(to, program, &error);
    fclose(to);
    expect(good || (error.message[0] != '\0' && error.offset <= program->code_bytes));
    if (good) return text;
    free(text.bytes);
    return (struct text){0};
}

static void expect_same(const struct sched_program *a, const struct sched_program *b)
{
    expect(a->stage_count == b->stage_count && a->set_count == b->set_count);
    for (uint32_t i = 0; i < a->set_count; i++) {
        expect(a->sets[i].count == b->sets[i].count);
        expect(a->sets[i].count == 0 || memcmp(a->sets[i].stages, b->sets[i].stages,
                                               a->sets[i].count * sizeof *a->sets[i].stages) == 0);
    }
    expect(a->code_bytes == b->code_bytes);
    expect(a->code_bytes == 0 || memcmp(a->code, b->code, a->code_bytes) == 0);
}

/* The text of a program means that program, and is the text of what it means.  False: there is none. */
static bool check_round_trip(const struct sched_program *program)
{
    struct sched_program again;
    struct sched_error error;
    struct text text = disassemble(program);
    if (text.bytes == NULL) return false;
    expect(sched_assemble(text.bytes, text.size_bytes, &again, &error));
    expect_same(program, &again);
    struct text twice = disassemble(&again);
    expect(twice.bytes != NULL && twice.size_bytes == text.size_bytes &&
           memcmp(twice.bytes, text.bytes, text.size_bytes) == 0);
    sched_program_free(&again);
    free(twice.bytes);
    free(text.bytes);
    return true;
}

static uint32_t count_lines(const char *text, size_t size)
{
    uint32_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

/* A line of the text for each instruction, in order. */
static void check_lines(const char *text, size_t size, const struct sched_program *program)
{
    enum { LOOKED_AT = 64 };
    struct sched_instruction instruction;
    uint32_t before = 0, lines = count_lines(text, size), looked = 0;
    for (uint32_t at = 0; at < program->code_bytes && looked < LOOKED_AT; looked++) {
        expect(sched_decode(program->code, program->code_bytes, at, &instruction));
        uint32_t line = sched_line_at(text, size, at);
        expect(line > before && line <= lines);
        before = line;
        at += instruction.size_bytes;
    }
}

static void check_text(const char *text, size_t size)
{
    struct sched_program program;
    struct sched_error error = {0};
    if (!sched_assemble(text, size, &program, &error)) {
        expect(error.line <= count_lines(text, size) && error.message[0] != '\0');
        return;
    }
    check_lines(text, size, &program);
    expect(check_round_trip(&program));
    sched_program_free(&program);
}

/* As the code of three stages and a set of them all. */
static void check_code(const uint8_t *code, size_t size)
{
    uint32_t stages[] = {0, 1, 2};
    struct sched_set set = {stages, 3};
    uint8_t *copy = malloc(size > 0 ? size : 1);
    expect(copy != NULL);
    if (size > 0) memcpy(copy, code, size);
    (void)check_round_trip(&(struct sched_program){.stage_count = 3,
                                                   .sets = &set,
                                                   .set_count = 1,
                                                   .code = copy,
                                                   .code_bytes = (uint32_t)size});
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 0)
        check_code(data + 1, size - 1);
    else
        check_text((const char *)data, size);
    return 0;
}
