/* SPDX-License-Identifier: MIT */
/* Text to scheduler program.  The text is untrusted: every count is bounded, every number
 * range-checked. */
#include "base/nearest.h"
#include "lang/sched_code.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct word {
    const char *text;
    size_t length;
};

struct label {
    struct word name;
    uint32_t line;    /* where it stands or, in a use, where it is named */
    uint32_t offset;  /* in the code; in a use, of the instruction */
    uint32_t operand; /* of a use */
};

struct labels {
    struct label *items;
    size_t count, capacity;
};

struct assembly {
    const char *at, *end; /* of the present line */
    uint32_t line;
    bool stages_seen, code_seen;
    struct sched_program *program;
    struct sched_builder builder;
    uint32_t *list; /* scratch for the numbers of one line */
    size_t list_capacity;
    size_t set_capacity;
    struct labels labels, uses;
    struct sched_error *error;
    uint32_t wanted_offset, wanted_line; /* of the instruction there; line 0: not seen */
};

static bool fail_assembly(struct assembly *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail_assembly(struct assembly *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    a->error->line = a->line;
    vsnprintf(a->error->message, sizeof a->error->message, format, args);
    va_end(args);
    return false;
}

static bool fail_assembly_memory(struct assembly *a)
{
    a->error->no_memory = true;
    return fail_assembly(a, "out of memory");
}

/* Grows an array to hold one more item. */
static bool reserve_item(struct assembly *a, void **items, size_t *capacity, size_t count,
                         size_t size_bytes)
{
    if (count < *capacity) return true;
    size_t larger = *capacity > 0 ? *capacity * 2 : 16;
    void *moved = realloc(*items, larger * size_bytes);
    if (moved == NULL) return fail_assembly_memory(a);
    *items = moved;
    *capacity = larger;
    return true;
}

/* ---- words of a line ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_character(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

static void skip_blanks_in_line(struct assembly *a)
{
    while (a->at < a->end && (*a->at == ' ' || *a->at == '\t' || *a->at == '\r'))
        a->at++;
}

static bool assembly_at_end(struct assembly *a)
{
    skip_blanks_in_line(a);
    return a->at == a->end;
}

/* Takes `c` if it comes next. */
static bool take_character(struct assembly *a, char c)
{
    if (assembly_at_end(a) || *a->at != c) return false;
    a->at++;
    return true;
}

/* The next word, empty where none stands. */
static struct word take_next_word(struct assembly *a)
{
    skip_blanks_in_line(a);
    struct word word = {a->at, 0};
    while (a->at < a->end && is_word_character(*a->at))
        a->at++;
    word.length = (size_t)(a->at - word.text);
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static bool same_word(struct word a, struct word b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* For messages: a word is cut at 40 characters. */
static int shown_length_of(struct word word)
{
    return (int)(word.length < 40 ? word.length : 40);
}

static bool expect_end(struct assembly *a)
{
    if (assembly_at_end(a)) return true;
    unsigned char c = (unsigned char)*a->at;
    if (c >= ' ' && c < 0x7f) return fail_assembly(a, "'%c' is not expected here", c);
    return fail_assembly(a, "the byte 0x%02x is not expected here", (unsigned)c);
}

static bool take_operand_number(struct assembly *a, const char *what, uint32_t *out)
{
    struct word word = take_next_word(a);
    uint64_t value = 0;
    if (word.length == 0) return fail_assembly(a, "%s is missing", what);
    for (size_t i = 0; i < word.length; i++) {
        if (!is_digit(word.text[i])) {
            return fail_assembly(a, "%s must be a number, not '%.*s'", what, shown_length_of(word),
                                 word.text);
        }
        value = value * 10 + (uint64_t)(word.text[i] - '0');
        if (value > UINT32_MAX) {
            return fail_assembly(a, "%s does not fit 32 bits: %.*s", what, shown_length_of(word),
                                 word.text);
        }
    }
    *out = (uint32_t)value;
    return true;
}

/* All numbers up to the end of the line, into a->list. */
static bool take_list(struct assembly *a, const char *what, uint32_t *count)
{
    *count = 0;
    while (!assembly_at_end(a)) {
        void *items = a->list;
        bool grown = reserve_item(a, &items, &a->list_capacity, *count, sizeof *a->list);
        a->list = items;
        if (!grown || !take_operand_number(a, what, &a->list[*count])) return false;
        ++*count;
    }
    return true;
}

/* ---- labels ---- */

static bool is_label_name(struct word word)
{
    return word.length > 0 && !is_digit(word.text[0]) &&
           memchr(word.text, '.', word.length) == NULL;
}

static bool add_label(struct assembly *a, struct labels *labels, struct label label)
{
    void *items = labels->items;
    bool grown = reserve_item(a, &items, &labels->capacity, labels->count, sizeof *labels->items);
    labels->items = items;
    if (grown) labels->items[labels->count++] = label;
    return grown;
}

static int compare_labels(const void *left, const void *right)
{
    const struct label *a = left, *b = right;
    size_t common = a->name.length < b->name.length ? a->name.length : b->name.length;
    int order = memcmp(a->name.text, b->name.text, common);
    if (order != 0) return order;
    if (a->name.length != b->name.length) return a->name.length < b->name.length ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static const struct label *find_label(const struct labels *labels, struct word name)
{
    size_t low = 0, high = labels->count;
    struct label key = {.name = name};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_labels(&labels->items[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == labels->count || !same_word(labels->items[low].name, name)) return NULL;
    return &labels->items[low];
}

/* Sets every jump to the place of its label. */
static bool resolve_labels(struct assembly *a)
{
    struct labels *labels = &a->labels;
    if (labels->count > 1) {
        qsort(labels->items, labels->count, sizeof *labels->items, compare_labels);
    }
    for (size_t i = 1; i < labels->count; i++) {
        const struct label *first = &labels->items[i - 1], *second = &labels->items[i];
        if (!same_word(first->name, second->name)) continue;
        a->line = second->line;
        return fail_assembly(a, "label '%.*s' stands already on line %" PRIu32,
                             shown_length_of(second->name), second->name.text, first->line);
    }
    for (size_t i = 0; i < a->uses.count; i++) {
        const struct label *use = &a->uses.items[i];
        const struct label *label = find_label(labels, use->name);
        a->line = use->line;
        if (label == NULL) {
            return fail_assembly(a, "there is no label '%.*s'", shown_length_of(use->name),
                                 use->name.text);
        }
        sched_patch(&a->builder, use->offset, use->operand, label->offset);
    }
    return true;
}

/* ---- instructions ---- */

static const char *nearest_mnemonic(struct word word)
{
    const char *nearest = NULL;
    if (word.length > NAME_COMPARED_MAX) return NULL;
    size_t least = word.length / 3 + 2;
    for (int i = 1; i < SCHED_OPCODE_COUNT; i++) {
        const char *mnemonic = sched_opcodes[i].mnemonic;
        size_t d = edit_distance(word.text, word.length, mnemonic, strlen(mnemonic), false);
        if (d >= least) continue;
        least = d;
        nearest = mnemonic;
    }
    return nearest;
}

static enum sched_opcode find_opcode(struct word word)
{
    for (int i = 1; i < SCHED_OPCODE_COUNT; i++) {
        if (word_is(word, sched_opcodes[i].mnemonic)) return (enum sched_opcode)i;
    }
    return SCHED_INVALID;
}

static const char *operand_name(char letter)
{
    switch (letter) {
    case 'S': return "the stage";
    case 'D': return "the sub-device";
    case 'T': return "the set";
    case 'L': return "the label";
    case 'A': return "the level";
    case 'F': return "the form";
    case 'I': return "the input";
    case 'O': return "the output";
    case '*': return "the numbers";
    default: return "the number";
    }
}

static bool take_label_use(struct assembly *a, uint32_t operand)
{
    struct word name = take_next_word(a);
    if (name.length == 0) return fail_assembly(a, "the label is missing");
    if (!is_label_name(name)) {
        return fail_assembly(a, "'%.*s' is not the name of a label", shown_length_of(name),
                             name.text);
    }
    struct label use = {name, a->line, a->builder.code_bytes, operand};
    return add_label(a, &a->uses, use);
}

/* An operand that is one of several words. */
static bool take_one_of(struct assembly *a, char letter, uint32_t *value)
{
    uint32_t count;
    const char *const *words = sched_words(letter, &count);
    struct word word = take_next_word(a);
    if (word.length == 0) return fail_assembly(a, "%s is missing", operand_name(letter));
    char known[80] = "";
    for (*value = 0; *value < count; ++*value) {
        if (word_is(word, words[*value])) return true;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", *value > 0 ? ", " : "", words[*value]);
    }
    return fail_assembly(a, "'%.*s' is no %s: %s", shown_length_of(word), word.text,
                         operand_name(letter) + strlen("the "), known);
}

static bool miss_operand(struct assembly *a, enum sched_opcode opcode, char letter)
{
    char usage[120];
    /* "run STAGE, NUMBER", for messages. */
    size_t size = sizeof usage;
    const struct sched_opcode_info *info = &sched_opcodes[opcode];
    size_t used = (size_t)snprintf(usage, size, "%s", info->mnemonic);
    for (size_t i = 0; info->operands[i] != '\0' && used < size; i++)
        used += (size_t)snprintf(usage + used, size - used, "%s %s", i > 0 ? "," : "",
                                 operand_name(info->operands[i]) + strlen("the "));
    return fail_assembly(a, "',' and %s are missing: '%s'", operand_name(letter), usage);
}

static bool take_operands(struct assembly *a, enum sched_opcode opcode, uint32_t *operands)
{
    const char *letters = sched_opcodes[opcode].operands;
    for (uint32_t i = 0, words; letters[i] != '\0'; i++) {
        if (i > 0 && !take_character(a, ',')) return miss_operand(a, opcode, letters[i]);
        bool good = letters[i] == 'L'   ? take_label_use(a, i)
                    : letters[i] == '*' ? take_list(a, "an item of the list", &operands[i])
                    : sched_words(letters[i], &words) != NULL
                        ? take_one_of(a, letters[i], &operands[i])
                        : take_operand_number(a, operand_name(letters[i]), &operands[i]);
        if (!good) return false;
    }
    return true;
}

static size_t opcode_bytes(enum sched_opcode opcode, const uint32_t *operands)
{
    const char *letters = sched_opcodes[opcode].operands;
    size_t count = strlen(letters);
    size_t items = count > 0 && letters[count - 1] == '*' ? operands[count - 1] : 0;
    return 1 + 4 * (count + items);
}

static bool assemble_instruction(struct assembly *a, struct word mnemonic)
{
    enum sched_opcode opcode = find_opcode(mnemonic);
    uint32_t operands[SCHED_MAX_OPERANDS] = {0};
    if (!a->stages_seen) return fail_assembly(a, "the program must begin with .stages");
    if (opcode == SCHED_INVALID) {
        const char *nearest = nearest_mnemonic(mnemonic);
        if (nearest == NULL) {
            return fail_assembly(a, "there is no instruction '%.*s'", shown_length_of(mnemonic),
                                 mnemonic.text);
        }
        return fail_assembly(a, "there is no instruction '%.*s'; did you mean '%s'?",
                             shown_length_of(mnemonic), mnemonic.text, nearest);
    }
    a->code_seen = true;
    if (!take_operands(a, opcode, operands) || !expect_end(a)) return false;
    sched_build(&a->builder, opcode, operands, a->list);
    if (a->wanted_line == 0 && a->builder.code_bytes > a->wanted_offset) a->wanted_line = a->line;
    if (!a->builder.failed) return true;
    if (opcode_bytes(opcode, operands) > SCHED_MAX_CODE_BYTES - a->builder.code_bytes) {
        return fail_assembly(a, "more than %u bytes of code", SCHED_MAX_CODE_BYTES);
    }
    return fail_assembly_memory(a);
}

/* ---- directives ---- */

/* The numbers of a set. */
static bool are_stages(struct assembly *a, uint32_t count)
{
    uint32_t stages = a->program->stage_count;
    for (uint32_t i = 0; i < count; i++)
        if (a->list[i] >= stages)
            return fail_assembly(a, "there is no stage %" PRIu32 " (%" PRIu32 " stage%s)",
                                 a->list[i], stages, stages == 1 ? "" : "s");
    return true;
}

static bool assemble_set(struct assembly *a)
{
    uint32_t number, count;
    struct sched_program *program = a->program;
    if (!a->stages_seen) return fail_assembly(a, "the program must begin with .stages");
    if (a->code_seen) return fail_assembly(a, "sets stand before the code");
    if (!take_operand_number(a, "the number of the set", &number)) return false;
    if (number != program->set_count) {
        return fail_assembly(a, "set %" PRIu32 " stands where set %" PRIu32 " is expected", number,
                             program->set_count);
    }
    if (number >= SCHED_MAX_SETS) return fail_assembly(a, "more than %u sets", SCHED_MAX_SETS);
    if (!take_character(a, ':'))
        return fail_assembly(a, "':' is missing after the number of the set");
    if (!take_list(a, "a stage of the set", &count) || !are_stages(a, count)) return false;
    void *sets = program->sets;
    bool grown =
        reserve_item(a, &sets, &a->set_capacity, program->set_count, sizeof *program->sets);
    program->sets = sets;
    if (!grown) return false;
    struct sched_set set = {malloc(count > 0 ? count * sizeof *set.stages : 1), count};
    if (set.stages == NULL) return fail_assembly_memory(a);
    if (count > 0) memcpy(set.stages, a->list, count * sizeof *set.stages);
    program->sets[program->set_count++] = set;
    return true;
}

static bool assemble_directive(struct assembly *a, struct word name)
{
    if (word_is(name, ".stages")) {
        if (a->stages_seen) return fail_assembly(a, "the number of stages is given twice");
        a->stages_seen = true;
        if (!take_operand_number(a, "the number of stages", &a->program->stage_count) ||
            !expect_end(a)) {
            return false;
        }
        if (a->program->stage_count <= SCHED_MAX_STAGES) return true;
        return fail_assembly(a, "%" PRIu32 " stages: at most %u are possible",
                             a->program->stage_count, SCHED_MAX_STAGES);
    }
    if (word_is(name, ".set")) return assemble_set(a);
    return fail_assembly(a, "there is no directive '%.*s'; there are .stages and .set",
                         shown_length_of(name), name.text);
}

/* ---- lines ---- */

/* A line: any labels, then nothing, a directive or an instruction. */
static bool assemble_line(struct assembly *a)
{
    while (!assembly_at_end(a)) {
        struct word word = take_next_word(a);
        if (word.length == 0) return expect_end(a);
        if (word.text[0] == '.') return assemble_directive(a, word);
        if (!take_character(a, ':')) return assemble_instruction(a, word);
        if (!is_label_name(word)) {
            return fail_assembly(a, "'%.*s' cannot be a label", shown_length_of(word), word.text);
        }
        a->code_seen = true;
        struct label label = {word, a->line, a->builder.code_bytes, 0};
        if (!add_label(a, &a->labels, label)) return false;
    }
    return true;
}

static bool assemble_text(struct assembly *a, const char *text, size_t size)
{
    const char *end = text + size;
    a->line = 1;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline != NULL ? newline : end;
        const char *comment = memchr(text, '#', (size_t)(line_end - text));
        a->at = text;
        a->end = comment != NULL ? comment : line_end;
        if (!assemble_line(a)) return false;
        text = newline != NULL ? newline + 1 : end;
        a->line += newline != NULL;
    }
    if (!a->stages_seen) return fail_assembly(a, "the program must begin with .stages");
    return resolve_labels(a);
}

static void end_assembly(struct assembly *a)
{
    free(a->list);
    free(a->labels.items);
    free(a->uses.items);
}

bool sched_assemble(const char *text, size_t size, struct sched_program *out,
                    struct sched_error *error)
{
    *out = (struct sched_program){0};
    *error = (struct sched_error){0};
    struct assembly a = {.program = out, .error = error};
    bool good =
        size == 0 || text != NULL ? assemble_text(&a, text, size) : fail_assembly(&a, "no text");
    out->code = a.builder.code;
    out->code_bytes = a.builder.code_bytes;
    if (!good) sched_program_free(out);
    end_assembly(&a);
    return good;
}

uint32_t sched_line_at(const char *text, size_t size, uint32_t offset)
{
    struct sched_program program = {0};
    struct sched_error error = {0};
    struct assembly a = {.program = &program, .error = &error, .wanted_offset = offset};
    bool good = size > 0 && assemble_text(&a, text, size);
    program.code = a.builder.code;
    sched_program_free(&program);
    end_assembly(&a);
    return good ? a.wanted_line : 0;
}
