/* SPDX-License-Identifier: MIT */
/* The scheduler machine's instructions: table, decoder, builder. */
#include "lang/sched_code.h"

#include <stdlib.h>
#include <string.h>

const struct sched_opcode_info sched_opcodes[SCHED_OPCODE_COUNT] = {
    [SCHED_INVALID] = {"", "", "", 0},
#define OPCODE(enumerator, mnemonic, operands, cycles, summary)                                    \
    [SCHED_##enumerator] = {mnemonic, operands, summary, cycles},
#include "lang/opcodes.def"
#undef OPCODE
};

const char *const sched_levels[SCHED_LEVELS] = {"numa", "l4", "l3", "l2", "l1"};
const char *const sched_forms[SCHED_FORMS] = {[SCHED_FORM_FULL] = "full",
                                              [SCHED_FORM_REFERENCE] = "reference",
                                              [SCHED_FORM_CONDENSED] = "condensed"};

const char *const *sched_words(char letter, uint32_t *count)
{
    *count = letter == 'A' ? SCHED_LEVELS : letter == 'F' ? SCHED_FORMS : 0;
    return letter == 'A' ? sched_levels : letter == 'F' ? sched_forms : NULL;
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static void store_u32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

bool sched_decode(const uint8_t *code, size_t size, uint32_t offset, struct sched_instruction *out)
{
    *out = (struct sched_instruction){.offset = offset};
    if (size > UINT32_MAX || offset >= size) return false;
    uint32_t opcode = code[offset];
    if (opcode == SCHED_INVALID || opcode >= SCHED_OPCODE_COUNT) return false;
    const char *letters = sched_opcodes[opcode].operands;
    size_t at = (size_t)offset + 1;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (size - at < 4) return false;
        out->operands[i] = load_u32(code + at);
        at += 4;
        if (letters[i] != '*') continue;
        if (out->operands[i] > (size - at) / 4) return false;
        out->list = code + at;
        at += (size_t)out->operands[i] * 4;
    }
    out->opcode = (enum sched_opcode)opcode;
    out->size_bytes = (uint32_t)(at - offset);
    return true;
}

uint32_t sched_list_item(const struct sched_instruction *instruction, uint32_t i)
{
    return load_u32(instruction->list + (size_t)i * 4);
}

void sched_program_free(struct sched_program *program)
{
    for (uint32_t i = 0; i < program->set_count; i++)
        free(program->sets[i].stages);
    free(program->sets);
    free(program->code);
    *program = (struct sched_program){0};
}

/* Makes room for `needed` more bytes. */
static bool builder_reserve(struct sched_builder *builder, size_t needed)
{
    if (builder->failed || needed > SCHED_MAX_CODE_BYTES - builder->code_bytes) {
        builder->failed = true;
        return false;
    }
    size_t total = builder->code_bytes + needed;
    if (total <= builder->capacity) return true;
    size_t capacity = builder->capacity > 0 ? builder->capacity : 64;
    while (capacity < total)
        capacity *= 2;
    uint8_t *code = realloc(builder->code, capacity);
    if (code == NULL) {
        builder->failed = builder->no_memory = true;
        return false;
    }
    builder->code = code;
    builder->capacity = (uint32_t)capacity;
    return true;
}

uint32_t sched_build(struct sched_builder *builder, enum sched_opcode opcode,
                     const uint32_t *operands, const uint32_t *list)
{
    const char *letters = sched_opcodes[opcode].operands;
    size_t count = strlen(letters);
    uint32_t items = count > 0 && letters[count - 1] == '*' ? operands[count - 1] : 0;
    uint32_t offset = builder->code_bytes;
    if (!builder_reserve(builder, 1 + 4 * count + 4 * (size_t)items)) return 0;
    uint8_t *at = builder->code + offset;
    *at++ = (uint8_t)opcode;
    for (size_t i = 0; i < count; i++, at += 4)
        store_u32(at, operands[i]);
    for (uint32_t i = 0; i < items; i++, at += 4)
        store_u32(at, list[i]);
    builder->code_bytes = (uint32_t)(at - builder->code);
    return offset;
}

void sched_patch(struct sched_builder *builder, uint32_t offset, uint32_t n, uint32_t value)
{
    if (!builder->failed) store_u32(builder->code + offset + 1 + (size_t)n * 4, value);
}
