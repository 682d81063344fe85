/* SPDX-License-Identifier: MIT */
/* The scheduler's code: decoder, assembler, disassembler, and that the manual names every
 * instruction. */
#include "tests/test.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#include "lang/sched_code.h"

static const char canonical[] = ".stages 3\n"
                                ".set 0: 0 1 2\n"
                                ".set 1:\n"
                                "    partition_counts 1 2\n"
                                "    bind 0, 0\n"
                                "    bind 1, 1\n"
                                "    bind_root 2\n"
                                "L1:\n"
                                "    ends\n"
                                "    round_robin 0, L2\n"
                                "    dispatch\n"
                                "    jump L1\n"
                                "L2:\n"
                                "    wait L1\n"
                                "    halt\n";

static char *text_of(const struct sched_program *program)
{
    char *text = NULL;
    size_t size = 0;
    struct sched_error error;
    FILE *to = open_memstream(&text, &size);
    bool good = sched_disassemble(to, program, &error);
    fclose(to);
    if (!good) print_message("%s\n", error.message);
    assert_true(good);
    return text;
}

static struct sched_program assemble(const char *text)
{
    struct sched_program program;
    struct sched_error error;
    bool good = sched_assemble(text, strlen(text), &program, &error);
    if (!good) print_message("line %u: %s\n", error.line, error.message);
    assert_true(good);
    return program;
}

static void expect_error(const char *text, uint32_t line, const char *part)
{
    struct sched_program program;
    struct sched_error error;
    assert_false(sched_assemble(text, strlen(text), &program, &error));
    if (strstr(error.message, part) == NULL) print_message("found: %s\n", error.message);
    assert_non_null(strstr(error.message, part));
    assert_int_equal(error.line, line);
    assert_null(program.code);
    assert_null(program.sets);
}

static void canonical_text_survives_the_round_trip(void **state)
{
    (void)state;
    struct sched_program program = assemble(canonical);
    char *text = text_of(&program);
    assert_string_equal(text, canonical);
    free(text);
    sched_program_free(&program);
}

static void levels_are_words(void **state)
{
    (void)state;
    const char *text = ".stages 2\n    partition_affinity l3, 8\n    bind 0, 0\n    bind 1, 1\n";
    struct sched_program program = assemble(text);
    assert_int_equal(program.code[1], 2);
    assert_int_equal(program.code[5], 8);
    char *again = text_of(&program);
    assert_string_equal(again, text);
    free(again);
    program.code[1] = SCHED_LEVELS;
    struct sched_error error;
    FILE *nowhere = fopen("/dev/null", "w");
    assert(nowhere != NULL);
    assert_false(sched_disassemble(nowhere, &program, &error));
    fclose(nowhere);
    assert_non_null(strstr(error.message, "no level 5"));
    sched_program_free(&program);
    expect_error(".stages 1\npartition_affinity l5, 8\n", 2, "'l5' is no level");
    expect_error(".stages 1\npartition_affinity\n", 2, "the level is missing");
    expect_error(".stages 1\npartition_affinity l3\n", 2, "',' and the number are missing");
}

/* Every instruction, as the disassembler writes it. */
static const char everything[] = ".stages 2\n"
                                 ".set 0: 0 1\n"
                                 "    partition_equally 2\n"
                                 "    partition_counts 1 2\n"
                                 "    partition_affinity l2, 4\n"
                                 "    packets full\n"
                                 "    packets reference\n"
                                 "    packets condensed\n"
                                 "    bind_root 0\n"
                                 "    bind 1, 0\n"
                                 "    load_reference 1\n"
                                 "L1:\n"
                                 "    has_packets 0, 1, 4294967295, L3\n"
                                 "    has_room 1, 2, 7, L3\n"
                                 "    goes_on 0, 9, L2\n"
                                 "    call L4\n"
                                 "L2:\n"
                                 "    wait L1\n"
                                 "L3:\n"
                                 "    ends\n"
                                 "    round_robin 0, L1\n"
                                 "    dispatch\n"
                                 "    priority 0, L1\n"
                                 "    fullest 0, L1\n"
                                 "    jump L3\n"
                                 "L4:\n"
                                 "    repeat 3\n"
                                 "    run 0, 12\n"
                                 "    again\n"
                                 "    fence\n"
                                 "    return\n"
                                 "    halt\n";

static void every_instruction_survives_the_round_trip(void **state)
{
    (void)state;
    bool seen[SCHED_OPCODE_COUNT] = {false};
    struct sched_instruction instruction;
    struct sched_program program = assemble(everything);
    char *text = text_of(&program);
    assert_string_equal(text, everything);
    struct sched_program again = assemble(text);
    assert_int_equal(again.code_bytes, program.code_bytes);
    assert_memory_equal(again.code, program.code, program.code_bytes);
    for (uint32_t at = 0; at < program.code_bytes; at += instruction.size_bytes) {
        assert_true(sched_decode(program.code, program.code_bytes, at, &instruction));
        seen[instruction.opcode] = true;
    }
    for (int i = 1; i < SCHED_OPCODE_COUNT; i++)
        assert_true(seen[i]);
    free(text);
    sched_program_free(&program);
    sched_program_free(&again);
}

/* The numbers of words are those of the format, and any other is none. */
static void forms_are_words(void **state)
{
    (void)state;
    struct sched_program program = assemble(".stages 1\npackets full\npackets reference\n"
                                            "packets condensed\n");
    struct sched_error error;
    FILE *nowhere = fopen("/dev/null", "w");
    assert(nowhere != NULL);
    for (uint8_t i = 0; i < 3; i++)
        assert_int_equal(program.code[1 + 5 * i], i);
    program.code[6] = 3;
    assert_false(sched_disassemble(nowhere, &program, &error));
    assert_non_null(strstr(error.message, "no form 3"));
    assert_int_equal(error.offset, 5);
    fclose(nowhere);
    sched_program_free(&program);
    expect_error(".stages 1\npackets some\n", 2, "'some' is no form: full, reference, condensed");
    expect_error(".stages 1\npackets\n", 2, "the form is missing");
}

/* Of each byte the line of its instruction, whatever stands between. */
static void offsets_lead_to_lines(void **state)
{
    (void)state;
    static const char text[] = ".stages 1\n.set 0: 0\n\n# nothing\nbind_root 0\ntop: again:\n"
                               "run 0, 5 # here\n\nhalt\n";
    static const uint32_t lines[] = {5, 5, 5, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9};
    for (uint32_t at = 0; at < sizeof lines / sizeof lines[0]; at++)
        assert_int_equal(sched_line_at(text, sizeof text - 1, at), lines[at]);
    assert_int_equal(sched_line_at(text, sizeof text - 1, 15), 0);
    assert_int_equal(sched_line_at("bogus\n", 6, 0), 0);
    assert_int_equal(sched_line_at("", 0, 0), 0);
}

static void any_spelling_becomes_canonical(void **state)
{
    (void)state;
    struct sched_program program =
        assemble("# a comment\n.stages 3\n.set 0 : 0  1 2\r\n.set 1:\npartition_counts 1\t2\n"
                 "bind 0,0\nbind 1 , 1\nbind_root 2\ntop: again: ends\nround_robin 0,idle # x\n"
                 "dispatch\njump again\nidle:\n\n  wait top\n halt");
    char *text = text_of(&program);
    assert_string_equal(text, canonical);
    free(text);
    sched_program_free(&program);
}

static void bytes_survive_the_round_trip(void **state)
{
    (void)state;
    static const uint8_t code[] = {2, 2,  0, 0, 0, 7, 0, 0, 0, 255, 255, 255, 255, /* list */
                                   8, 18, 0, 0, 0, /* jump to the end */
                                   10};
    uint8_t copy[sizeof code];
    memcpy(copy, code, sizeof code);
    copy[14] = sizeof code;
    struct sched_program program = {.stage_count = 1, .code = copy, .code_bytes = sizeof copy};
    char *text = text_of(&program);
    struct sched_program again = assemble(text);
    assert_int_equal(again.code_bytes, sizeof copy);
    assert_memory_equal(again.code, copy, sizeof copy);
    free(text);
    sched_program_free(&again);
}

static void every_opcode_is_decoded_whole(void **state)
{
    (void)state;
    for (int opcode = 1; opcode < SCHED_OPCODE_COUNT; opcode++) {
        struct sched_builder builder = {0};
        struct sched_instruction instruction;
        const char *letters = sched_opcodes[opcode].operands;
        uint32_t operands[SCHED_MAX_OPERANDS] = {3, 3, 3, 3}, list[3] = {10, 11, 12};
        assert_true(strlen(letters) <= SCHED_MAX_OPERANDS);
        sched_build(&builder, (enum sched_opcode)opcode, operands, list);
        assert_false(builder.failed);
        assert_true(sched_decode(builder.code, builder.code_bytes, 0, &instruction));
        assert_int_equal(instruction.opcode, opcode);
        assert_int_equal(instruction.size_bytes, builder.code_bytes);
        if (instruction.list != NULL) assert_int_equal(sched_list_item(&instruction, 2), 12);
        for (uint32_t size = 0; size < builder.code_bytes; size++) {
            assert_false(sched_decode(builder.code, size, 0, &instruction));
        }
        free(builder.code);
    }
}

static void a_list_longer_than_the_code_is_no_instruction(void **state)
{
    (void)state;
    uint8_t code[] = {2, 255, 255, 255, 255, 0, 0, 0, 0};
    struct sched_instruction instruction;
    assert_false(sched_decode(code, sizeof code, 0, &instruction));
    code[0] = 0;
    assert_false(sched_decode(code, sizeof code, 0, &instruction));
    code[0] = SCHED_OPCODE_COUNT;
    assert_false(sched_decode(code, sizeof code, 0, &instruction));
    assert_false(sched_decode(code, sizeof code, 9, &instruction));
}

static void jumps_into_instructions_are_not_disassembled(void **state)
{
    (void)state;
    uint8_t code[] = {8, 1, 0, 0, 0};
    struct sched_program program = {.stage_count = 1, .code = code, .code_bytes = sizeof code};
    struct sched_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_false(sched_disassemble(to, &program, &error));
    assert_non_null(strstr(error.message, "inside an instruction"));
    code[1] = 6;
    assert_false(sched_disassemble(to, &program, &error));
    assert_non_null(strstr(error.message, "leaves the code"));
    code[0] = 99;
    assert_false(sched_disassemble(to, &program, &error));
    assert_non_null(strstr(error.message, "not an instruction"));
    fclose(to);
    free(text);
}

static void errors_have_a_line_and_a_reason(void **state)
{
    (void)state;
    expect_error("", 1, "must begin with .stages");
    expect_error(" ", 1, "must begin with .stages");
    expect_error("\n ", 2, "must begin with .stages");
    expect_error("halt\n", 1, "must begin with .stages");
    expect_error(".stages 1\n.stages 1\n", 2, "twice");
    expect_error(".stages 4294967296\n", 1, "32 bits");
    expect_error(".stages 99999999\n", 1, "at most");
    expect_error(".stages 1\n.set 1: 0\n", 2, "set 0 is expected");
    expect_error(".stages 1\n.set 0 0\n", 2, "':' is missing");
    expect_error(".stages 1\nhalt\n.set 0: 0\n", 3, "before the code");
    expect_error(".stages 2\n.set 0: 0 1\n.set 1: 1 2\nhalt\n", 3,
                 "there is no stage 2 (2 stages)");
    expect_error(".stages 1\n.set 0: 1\nhalt\n", 2, "there is no stage 1 (1 stage)");
    expect_error(".stages 1\ndispach\n", 2, "did you mean 'dispatch'");
    expect_error(".stages 1\nqqqqqqqqqqq\n", 2, "no instruction 'qqqqqqqqqqq'");
    expect_error(".stages 1\n\njump nowhere\n", 3, "no label 'nowhere'");
    expect_error(".stages 1\na: halt\na: halt\n", 3, "already on line 2");
    expect_error(".stages 1\njump 5\n", 2, "not the name of a label");
    expect_error(".stages 1\nbind 0\n", 2, "the sub-device");
    expect_error(".stages 1\nrun 0\n", 2, "',' and the number are missing: 'run stage, number'");
    expect_error(".stages 1\nhas_room 0\n", 2, "'has_room stage, output, number, label'");
    expect_error(".stages 1\nhas_packets 0, 1, 2\n", 2, "',' and the label are missing");
    expect_error(".stages 1\ngoes_on 0, 1, nowhere\n", 2, "no label 'nowhere'");
    expect_error(".stages 1\nrepaet 3\n", 2, "did you mean 'repeat'");
    expect_error(".stages 1\nbind 0, x\n", 2, "must be a number");
    expect_error(".stages 1\nhalt 1\n", 2, "'1' is not expected");
    expect_error(".stages 1\n\x01\n", 2, "0x01");
    expect_error(".stages 1\n.sets 0:\n", 2, "no directive '.sets'");
    expect_error(".stages 1\n7: halt\n", 2, "cannot be a label");
}

static void damaged_text_never_does_harm(void **state)
{
    (void)state;
    char text[sizeof canonical];
    for (size_t at = 0; at + 1 < sizeof canonical; at++) {
        for (int c = 1; c < 256; c += 17) {
            struct sched_program program;
            struct sched_error error;
            memcpy(text, canonical, sizeof text);
            text[at] = (char)c;
            if (sched_assemble(text, sizeof canonical - 1 - (size_t)c % 3, &program, &error)) {
                sched_program_free(&program);
            }
        }
    }
}

/* ---- the manual ---- */

/* The opcode that the heading names; SCHED_INVALID: it is none. */
static int headed(const char *line)
{
    if (strncmp(line, "## ", 3) != 0) return SCHED_INVALID;
    for (int i = 1; i < SCHED_OPCODE_COUNT; i++)
        if (strcmp(line + 3, sched_opcodes[i].mnemonic) == 0) return i;
    return SCHED_INVALID;
}

static bool is_alone(const char *text, size_t at)
{
    return (at == 0 || !isalnum((unsigned char)text[at - 1])) &&
           !isalnum((unsigned char)text[at + 1]);
}

/* "*Operands* S, U: firings. *Cost* 1." is what the table says. */
static void expect_operands(const char *line, const struct sched_opcode_info *info)
{
    char letters[SCHED_MAX_OPERANDS + 1] = "";
    size_t count = 0;
    const char *cost = strstr(line, "*Cost* ");
    assert_non_null(cost);
    for (const char *at = line + strlen("*Operands*"); at < cost; at++) {
        bool letter = isupper((unsigned char)*at) && is_alone(line, (size_t)(at - line));
        bool list = at[0] == '\\' && at[1] == '*';
        if (!letter && !list) continue;
        assert_true(count < SCHED_MAX_OPERANDS);
        letters[count++] = list ? '*' : *at;
    }
    if (strcmp(letters, info->operands) != 0) print_message("operands of %s\n", info->mnemonic);
    assert_string_equal(letters, info->operands);
    assert_int_equal(strtoul(cost + strlen("*Cost* "), NULL, 10), info->cycles);
}

/* A heading for each, with operands and cost as in the table, and how it can fail. */
static void the_manual_has_every_instruction(void **state)
{
    (void)state;
    FILE *manual = fopen("lang/scheduler.md", "r");
    if (manual == NULL) {
        SKIP_BECAUSE("lang/scheduler.md is read from the root of the tree");
        return;
    }
    char line[512];
    bool operands[SCHED_OPCODE_COUNT] = {false}, failure[SCHED_OPCODE_COUNT] = {false};
    int opcode = SCHED_INVALID;
    while (fgets(line, sizeof line, manual) != NULL) {
        char *newline = strchr(line, '\n');
        if (newline != NULL) *newline = '\0';
        if (line[0] == '#') opcode = headed(line);
        if (opcode != SCHED_INVALID && strncmp(line, "*Operands*", 10) == 0) {
            expect_operands(line, &sched_opcodes[opcode]);
            operands[opcode] = true;
        }
        if (strncmp(line, "*Failure*", 9) == 0) failure[opcode] = true;
    }
    fclose(manual);
    for (int i = 1; i < SCHED_OPCODE_COUNT; i++) {
        if (!operands[i])
            print_message("no heading with operands for %s\n", sched_opcodes[i].mnemonic);
        assert_true(operands[i]);
        if (!failure[i]) print_message("no failure of %s\n", sched_opcodes[i].mnemonic);
        assert_true(failure[i]);
    }
}

TEST_MAIN("sched_code", cmocka_unit_test(canonical_text_survives_the_round_trip),
          cmocka_unit_test(levels_are_words),
          cmocka_unit_test(every_instruction_survives_the_round_trip),
          cmocka_unit_test(forms_are_words), cmocka_unit_test(offsets_lead_to_lines),
          cmocka_unit_test(any_spelling_becomes_canonical),
          cmocka_unit_test(bytes_survive_the_round_trip),
          cmocka_unit_test(every_opcode_is_decoded_whole),
          cmocka_unit_test(a_list_longer_than_the_code_is_no_instruction),
          cmocka_unit_test(jumps_into_instructions_are_not_disassembled),
          cmocka_unit_test(errors_have_a_line_and_a_reason),
          cmocka_unit_test(damaged_text_never_does_harm),
          cmocka_unit_test(the_manual_has_every_instruction))
