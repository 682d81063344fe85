/* SPDX-License-Identifier: MIT */
/* Structure and meaning of the scheduler program: see verify_program.h. */
#include "runtime/verify/verify_program.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps of work: of any file, and by byte of its tables and program. */
#define WORK_LEAST (UINT64_C(1) << 20)
#define WORK_OF_BYTE 64u

/* ---- instructions ---- */

struct sched_instruction prt_code_at(const struct prt_code *code, uint32_t index)
{
    const struct prt_container *c = code->container;
    struct sched_instruction instruction;
    (void)sched_decode(c->code, c->code_bytes, code->offsets[index], &instruction);
    return instruction;
}

/* The instruction that begins at `offset`, or PRT_NO_INSTRUCTION. */
static uint32_t find_instruction(const struct prt_code *code, uint32_t offset)
{
    uint32_t low = 0, high = code->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    /* equivalent, except that sanitizers detect a read past the last word */
    return low < code->count && code->offsets[low] == offset ? low : PRT_NO_INSTRUCTION;
}

uint32_t prt_code_target(const struct prt_code *code, const struct sched_instruction *instruction)
{
    const char *letters = sched_opcodes[instruction->opcode].operands;
    const char *label = strchr(letters, 'L');
    /* uncovered: every caller passes an instruction with a label */
    return label == NULL ? PRT_NO_INSTRUCTION
                         : find_instruction(code, instruction->operands[label - letters]);
}

bool prt_code_is_guard(enum sched_opcode opcode)
{
    return opcode == SCHED_HAS_PACKETS || opcode == SCHED_HAS_ROOM || opcode == SCHED_GOES_ON;
}

bool prt_code_is_selection(enum sched_opcode opcode)
{
    return opcode == SCHED_ROUND_ROBIN || opcode == SCHED_PRIORITY || opcode == SCHED_FULLEST;
}

bool prt_code_is_partition(enum sched_opcode opcode)
{
    return opcode == SCHED_PARTITION_EQUALLY || opcode == SCHED_PARTITION_COUNTS ||
           opcode == SCHED_PARTITION_AFFINITY;
}

static bool is_prologue(enum sched_opcode opcode)
{
    return prt_code_is_partition(opcode) || opcode == SCHED_BIND_ROOT || opcode == SCHED_BIND ||
           opcode == SCHED_PACKETS || opcode == SCHED_LOAD_REFERENCE;
}

/* ---- refusals ---- */

/* LIST_SHOWN: a message shows that many numbers of a list, and leaves out the rest. */
enum { TEXT_BYTES = 160, LIST_SHOWN = 8 };

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};

static void text_append(struct text *text, const char *format, ...) PRT_PRINTF(2, 3);

static void text_append(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(text->bytes + text->used, TEXT_BYTES - text->used, format, arguments);
    va_end(arguments);
    /* uncovered: nothing in these formats can fail */
    text->used += more > 0 ? (size_t)more : 0;
    /* uncovered: eight numbers are shorter; equivalent: for the same reason */
    if (text->used >= TEXT_BYTES) text->used = TEXT_BYTES - 1;
}

static void put_list(struct text *text, const struct sched_instruction *instruction,
                     uint32_t length)
{
    for (uint32_t i = 0; i < length && i < LIST_SHOWN; i++)
        text_append(text, i == 0 ? "%" PRIu32 : " %" PRIu32, sched_list_item(instruction, i));
    if (length > LIST_SHOWN) text_append(text, " ... (%" PRIu32 " numbers)", length);
}

/* As the assembler writes it; labels are offsets: "jump @40". */
static void put_instruction(struct text *text, const struct sched_instruction *instruction)
{
    const struct sched_opcode_info *info = &sched_opcodes[instruction->opcode];
    text_append(text, "%s", info->mnemonic);
    for (size_t i = 0; info->operands[i] != '\0'; i++) {
        uint32_t value = instruction->operands[i];
        text_append(text, i == 0 ? " " : ", ");
        if (info->operands[i] == '*')
            put_list(text, instruction, value);
        else if (info->operands[i] == 'A' && value < SCHED_LEVELS)
            text_append(text, "%s", sched_levels[value]);
        else if (info->operands[i] == 'F' && value < SCHED_FORMS)
            text_append(text, "%s", sched_forms[value]);
        else
            text_append(text, info->operands[i] == 'L' ? "@%" PRIu32 : "%" PRIu32, value);
    }
}

enum prt_status prt_code_refuse(const struct prt_code *code, uint32_t index, const char *rule,
                                const char *format, ...)
{
    struct sched_instruction instruction = prt_code_at(code, index);
    struct text what = {.used = 0};
    char reason[256];
    put_instruction(&what, &instruction);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    uint64_t base = code->container->section_offset_bytes[CONTAINER_PROGRAM];
    return prt_error_set_at(code->error, PRT_E_VERIFY, base + instruction.offset,
                            "container: section 'program', offset %" PRIu32 ", '%s': %s [%s]",
                            instruction.offset, what.bytes, reason, rule);
}

enum prt_status prt_code_work(struct prt_code *code, uint32_t index, uint64_t steps)
{
    code->work += steps;
    RULE(code, index, code->work <= code->work_limit, "work",
         "more steps than the %" PRIu64 " that a file of this size may ask for", code->work_limit);
    return PRT_OK;
}

/* ---- decoding ---- */

static enum prt_status refuse_bytes(const struct prt_code *code, uint32_t at, const char *rule,
                                    const char *what)
{
    return prt_error_set_at(
        code->error, PRT_E_VERIFY, code->container->section_offset_bytes[CONTAINER_PROGRAM] + at,
        "container: section 'program', offset %" PRIu32 ": %s [%s]", at, what, rule);
}

static enum prt_status count_code(struct prt_code *code)
{
    const struct prt_container *c = code->container;
    struct sched_instruction instruction;
    for (uint32_t at = 0; at < c->code_bytes; at += instruction.size_bytes) {
        if (PRT_BREAKS(!sched_decode(c->code, c->code_bytes, at, &instruction)))
            return refuse_bytes(code, at, "instruction", "not an instruction");
        code->count++;
    }
    if (!PRT_HOLDS(code->count > 0))
        return refuse_bytes(code, 0, "instruction", "there is no instruction");
    return PRT_OK;
}

static enum prt_status decode_all(struct prt_code *code)
{
    const struct prt_container *c = code->container;
    struct sched_instruction instruction;
    enum prt_status status = count_code(code);
    if (status != PRT_OK) return status;
    assert(code->count > 0);
    code->offsets = calloc(code->count, sizeof *code->offsets);
    code->regions = calloc(code->count, sizeof *code->regions);
    code->flags = calloc(code->count, 1);
    if (code->offsets == NULL || code->regions == NULL || code->flags == NULL)
        return prt_error_set(code->error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0, at = 0; i < code->count; i++) {
        code->offsets[i] = at;
        (void)sched_decode(c->code, c->code_bytes, at, &instruction);
        at += instruction.size_bytes;
    }
    return PRT_OK;
}

/* ---- loops with counts ---- */

struct open_loops {
    uint32_t at[SCHED_REPEAT_DEPTH]; /* the `repeat` of each */
    bool fires[SCHED_REPEAT_DEPTH];  /* it has dispatched something */
    uint32_t depth;
};

static bool may_repeat(enum sched_opcode opcode)
{
    return opcode == SCHED_RUN || opcode == SCHED_REPEAT || opcode == SCHED_AGAIN ||
           opcode == SCHED_CALL || opcode == SCHED_FENCE;
}

static enum prt_status nest_loop(struct prt_code *code, uint32_t index, uint32_t count,
                                 struct open_loops *open)
{
    RULE(code, index, open->depth < SCHED_REPEAT_DEPTH, "repeat-depth",
         "loops are nested more than %u levels deep", SCHED_REPEAT_DEPTH);
    RULE(code, index, count >= 1, "repeat-count", "a loop is executed once or more");
    open->at[open->depth] = index;
    open->fires[open->depth++] = false;
    return PRT_OK;
}

static enum prt_status unnest_loop(struct prt_code *code, uint32_t index, struct open_loops *open)
{
    RULE(code, index, open->depth > 0, "again", "there is no 'repeat' that this ends");
    RULE(code, open->at[open->depth - 1], open->fires[open->depth - 1], "repeat-empty",
         "a loop that runs nothing");
    code->regions[index] = open->at[--open->depth];
    if (open->depth > 0) open->fires[open->depth - 1] = true;
    return PRT_OK;
}

/* Gives each instruction its region.  Loops must be properly nested, and contain only instructions that
 * may repeat. */
static enum prt_status verify_nesting(struct prt_code *code)
{
    struct open_loops open = {.depth = 0};
    for (uint32_t i = 0; i < code->count; i++) {
        struct sched_instruction instruction = prt_code_at(code, i);
        enum prt_status status = PRT_OK;
        code->regions[i] = open.depth > 0 ? open.at[open.depth - 1] : PRT_NO_INSTRUCTION;
        RULE(code, i, open.depth == 0 || may_repeat(instruction.opcode), "repeat-body",
             "between 'repeat' and its 'again' only 'run', 'call', 'fence' and loops are allowed");
        if (instruction.opcode == SCHED_REPEAT)
            status = nest_loop(code, i, instruction.operands[0], &open);
        else if (instruction.opcode == SCHED_AGAIN)
            status = unnest_loop(code, i, &open);
        else if (open.depth > 0 && instruction.opcode != SCHED_FENCE)
            open.fires[open.depth - 1] = true;
        if (status != PRT_OK) return status;
    }
    /* uncovered: the place of a loop that is open, where one is */
    RULE(code, open.depth > 0 ? open.at[open.depth - 1] : 0, open.depth == 0, "repeat-open",
         "there is no 'again' that ends this");
    return PRT_OK;
}

/* ---- operands ---- */

static enum prt_status verify_label(const struct prt_code *code, uint32_t index, uint32_t offset)
{
    uint32_t target = find_instruction(code, offset);
    RULE(code, index, target != PRT_NO_INSTRUCTION, "label",
         "@%" PRIu32 " is not the beginning of an instruction", offset);
    RULE(code, index, target >= code->prologue_count, "label-prologue",
         "jumps back to where sub-devices are made and stages bound");
    RULE(code, index, code->regions[target] == PRT_NO_INSTRUCTION, "label-repeat",
         "@%" PRIu32 " is inside of a loop that 'repeat' begins", offset);
    code->flags[target] |= PRT_CODE_LABEL;
    return PRT_OK;
}

static enum prt_status verify_operand(const struct prt_code *code, uint32_t index, char letter,
                                      uint32_t value, uint32_t stage)
{
    const struct prt_container *c = code->container;
    switch (letter) {
    case 'S':
        RULE(code, index, value < c->stage_count, "stage",
             "there is no stage %" PRIu32 " (%" PRIu32 " stage%s)", value, c->stage_count,
             c->stage_count == 1 ? "" : "s");
        return PRT_OK;
    case 'T':
        RULE(code, index, value < c->set_count, "set",
             "there is no set %" PRIu32 " (%" PRIu32 " set%s)", value, c->set_count,
             c->set_count == 1 ? "" : "s");
        RULE(code, index, c->sets[value].count > 0, "set-empty", "set %" PRIu32 " is empty", value);
        return PRT_OK;
    case 'D':
        RULE(code, index, value < code->subdevice_count, "sub-device",
             "there is no sub-device %" PRIu32 " (%" PRIu32 " were made)", value,
             code->subdevice_count);
        return PRT_OK;
    case 'I':
        RULE(code, index, value < c->nodes[c->stages[stage].node].input_count, "input",
             "stage %" PRIu32 " has no input %" PRIu32, stage, value);
        return PRT_OK;
    case 'O':
        RULE(code, index, value < c->nodes[c->stages[stage].node].output_count, "output",
             "stage %" PRIu32 " has no output %" PRIu32, stage, value);
        return PRT_OK;
    case 'F':
        RULE(code, index, value < SCHED_FORMS, "form", "there is no form %" PRIu32 " of packets",
             value);
        return PRT_OK;
    case 'L': return verify_label(code, index, value);
    default: return PRT_OK;
    }
}

static enum prt_status verify_operands(const struct prt_code *code, uint32_t index)
{
    struct sched_instruction instruction = prt_code_at(code, index);
    const char *letters = sched_opcodes[instruction.opcode].operands;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        enum prt_status status = verify_operand(code, index, letters[i], instruction.operands[i],
                                                instruction.operands[0]);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* ---- prologue ---- */

static enum prt_status verify_equally(struct prt_code *code, uint32_t index, uint32_t each)
{
    uint32_t cu_count = code->container->device->cu_count;
    RULE(code, index, each > 0 && each <= cu_count / 2, "partition-size",
         "the device has %" PRIu32 " CUs, and a partition makes two sub-devices or more", cu_count);
    code->subdevice_count = cu_count / each;
    return PRT_OK;
}

static enum prt_status verify_affinity(struct prt_code *code, uint32_t index,
                                       const struct sched_instruction *instruction)
{
    uint32_t cu_count = code->container->device->cu_count, each = instruction->operands[1];
    RULE(code, index, instruction->operands[0] < SCHED_LEVELS, "partition-level",
         "there is no level %" PRIu32, instruction->operands[0]);
    RULE(code, index, each > 0 && cu_count % each == 0 && each < cu_count, "partition-domains",
         "%" PRIu32 " CUs cannot be two or more domains of %" PRIu32, cu_count, each);
    code->subdevice_count = cu_count / each;
    return PRT_OK;
}

static enum prt_status verify_counts(struct prt_code *code, uint32_t index,
                                     const struct sched_instruction *instruction)
{
    uint32_t cu_count = code->container->device->cu_count;
    uint64_t sum = 0;
    RULE(code, index, instruction->operands[0] > 0, "partition-none", "no sub-device");
    for (uint32_t i = 0; i < instruction->operands[0]; i++) {
        uint32_t cus = sched_list_item(instruction, i);
        RULE(code, index, cus > 0, "partition-zero", "a sub-device of 0 CUs");
        sum += cus;
    }
    RULE(code, index, sum <= cu_count, "partition-sum", "%" PRIu64 " CUs, the device has %" PRIu32,
         sum, cu_count);
    code->subdevice_count = instruction->operands[0];
    return PRT_OK;
}

static enum prt_status verify_partition(struct prt_code *code, uint32_t index,
                                        const struct sched_instruction *instruction)
{
    RULE(code, index, code->subdevice_count == 0, "partition-again", "a second partition");
    if (instruction->opcode == SCHED_PARTITION_EQUALLY)
        return verify_equally(code, index, instruction->operands[0]);
    if (instruction->opcode == SCHED_PARTITION_AFFINITY)
        return verify_affinity(code, index, instruction);
    return verify_counts(code, index, instruction);
}

enum { BOUND = 1, LOADED = 2 };

static bool owns_entry(const struct container_stage *stage)
{
    return stage->entry != CONTAINER_NONE && (stage->flags & CONTAINER_STAGE_SPILLED) == 0;
}

static enum prt_status verify_load(struct prt_code *code, uint32_t index, uint32_t stage,
                                   uint8_t *seen)
{
    RULE(code, index, seen[stage] & BOUND, "load-bound", "stage %" PRIu32 " is not bound yet",
         stage);
    RULE(code, index, owns_entry(&code->container->stages[stage]), "load-entry",
         "stage %" PRIu32 " owns no entry of the reference table", stage);
    RULE(code, index, !(seen[stage] & LOADED), "load-again", "stage %" PRIu32 " is loaded already",
         stage);
    seen[stage] |= LOADED;
    return PRT_OK;
}

static enum prt_status verify_bind(struct prt_code *code, uint32_t index,
                                   const struct sched_instruction *instruction, uint8_t *seen)
{
    uint32_t stage = instruction->operands[0];
    RULE(code, index, instruction->opcode == SCHED_BIND || code->subdevice_count == 0, "bind-root",
         "the stage is bound to the whole device, which is partitioned");
    RULE(code, index, !(seen[stage] & BOUND), "bind-again", "stage %" PRIu32 " is bound already",
         stage);
    seen[stage] |= BOUND;
    return PRT_OK;
}

/* Checks an instruction of the prologue.  `seen`: the stages that it has set; *form_said: whether
 * it has set the form of packets. */
static enum prt_status verify_preparation(struct prt_code *code, uint32_t index, uint8_t *seen,
                                          bool *form_said)
{
    struct sched_instruction instruction = prt_code_at(code, index);
    if (prt_code_is_partition(instruction.opcode))
        return verify_partition(code, index, &instruction);
    enum prt_status status = verify_operands(code, index);
    if (status != PRT_OK) return status;
    if (instruction.opcode == SCHED_LOAD_REFERENCE)
        return verify_load(code, index, instruction.operands[0], seen);
    if (instruction.opcode != SCHED_PACKETS) return verify_bind(code, index, &instruction, seen);
    RULE(code, index, !*form_said, "packets-again", "the form of packets is set already");
    *form_said = true;
    return PRT_OK;
}

static enum prt_status verify_prepared(struct prt_code *code, const uint8_t *seen)
{
    uint32_t last = code->prologue_count < code->count ? code->prologue_count : code->count - 1;
    for (uint32_t i = 0; i < code->container->stage_count; i++) {
        RULE(code, last, seen[i] & BOUND, "bind-missing",
             "stage %" PRIu32 " is not bound before this", i);
        RULE(code, last, seen[i] & LOADED || !owns_entry(&code->container->stages[i]),
             "load-missing", "the reference entry of stage %" PRIu32 " is not loaded before this",
             i);
    }
    return PRT_OK;
}

static enum prt_status verify_prologue(struct prt_code *code)
{
    uint8_t *seen = calloc((size_t)code->container->stage_count + 1, 1);
    bool form_said = false;
    enum prt_status status = PRT_OK;
    if (seen == NULL) return prt_error_set(code->error, PRT_E_NOMEM, "out of memory");
    while (status == PRT_OK && code->prologue_count < code->count &&
           is_prologue(prt_code_at(code, code->prologue_count).opcode)) {
        status = verify_preparation(code, code->prologue_count, seen, &form_said);
        code->prologue_count++;
    }
    if (status == PRT_OK) status = verify_prepared(code, seen);
    free(seen);
    return status;
}

/* ---- instructions after it ---- */

static bool is_windowed(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (c->inputs[node->first_input + i].window_width > 0) return true;
    }
    return false;
}

static bool has_bounded_output(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        if (output->push_least != output->push) return true;
    }
    return false;
}

/* Only a stage with exact rates consumes and produces known numbers of packets in a run. */
static enum prt_status verify_run(const struct prt_code *code, uint32_t index,
                                  const struct sched_instruction *instruction)
{
    const struct prt_container *c = code->container;
    const struct container_stage *stage = &c->stages[instruction->operands[0]];
    const struct container_node *node = &c->nodes[stage->node];
    const char *name = prt_verify_text(c, node->name);
    uint32_t firings = instruction->operands[1];
    RULE(code, index, firings >= 1, "run-count", "no firing of '%s'", name);
    RULE(code, index, firings <= stage->batch_max, "run-batch",
         "'%s' is dispatched at most %" PRIu64 " firings at once", name, stage->batch_max);
    RULE(code, index, !(node->flags & CONTAINER_NODE_STOPS), "run-stops",
         "'%s' may stop after an unknown number of firings", name);
    RULE(code, index, !has_bounded_output(c, node), "run-bounded",
         "'%s' has an output of a bounded rate: the number of packets that it appends is unknown",
         name);
    RULE(code, index, !is_windowed(c, node), "run-window",
         "'%s' has a 2-D window: the packets that it sees and keeps depend on its place", name);
    return PRT_OK;
}

static bool is_in_routine(enum sched_opcode opcode)
{
    return opcode == SCHED_RUN || opcode == SCHED_REPEAT || opcode == SCHED_AGAIN ||
           opcode == SCHED_FENCE || opcode == SCHED_RETURN;
}

/* From its label to its return a routine is a straight line of loops, and runs something. */
static enum prt_status verify_routine(struct prt_code *code, uint32_t index, uint32_t first)
{
    bool fires = false;
    for (uint32_t i = first; i < code->count; i++) {
        enum sched_opcode opcode = prt_code_at(code, i).opcode;
        enum prt_status status = prt_code_work(code, index, 1);
        if (status != PRT_OK) return status;
        RULE(code, index, is_in_routine(opcode), "call-body",
             "the routine goes on to '%s': only 'run', 'fence' and loops are allowed before "
             "'return'",
             sched_opcodes[opcode].mnemonic);
        fires = fires || opcode == SCHED_RUN;
        if (opcode != SCHED_RETURN) continue;
        RULE(code, index, fires, "call-empty", "the routine runs nothing");
        return PRT_OK;
    }
    /* uncovered: the rule is always broken here */
    RULE(code, index, false, "call-open", "the routine has no 'return'");
    return PRT_OK;
}

static enum prt_status verify_body(struct prt_code *code)
{
    for (uint32_t i = code->prologue_count; i < code->count; i++) {
        struct sched_instruction instruction = prt_code_at(code, i);
        RULE(code, i, !is_prologue(instruction.opcode), "prologue",
             "this is allowed only at the beginning of the program");
        enum prt_status status = verify_operands(code, i);
        if (status == PRT_OK && instruction.opcode == SCHED_RUN)
            status = verify_run(code, i, &instruction);
        if (status == PRT_OK && instruction.opcode == SCHED_CALL)
            status = verify_routine(code, i, prt_code_target(code, &instruction));
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* ---- the whole ---- */

/* The size of the tables that describe stages, and of the program; without the image. */
static uint64_t work_limit(const struct prt_container *c)
{
    uint64_t bytes = (uint64_t)c->code_bytes + c->node_count * sizeof *c->nodes +
                     c->input_count * sizeof *c->inputs + c->output_count * sizeof *c->outputs +
                     c->buffer_count * sizeof *c->buffers + c->reader_count * sizeof *c->readers +
                     c->stage_count * sizeof *c->stages + c->rate_count * sizeof *c->rates;
    for (uint32_t i = 0; i < c->set_count; i++)
        bytes += (1 + (uint64_t)c->sets[i].count) * sizeof(uint32_t);
    return WORK_LEAST + WORK_OF_BYTE * bytes;
}

enum prt_status prt_verify_program(const struct prt_container *container, struct prt_proof *proof,
                                   struct prt_error *error)
{
    struct prt_code code = {.container = container, .error = error, .proof = proof};
    *proof = (struct prt_proof){0};
    code.work_limit = work_limit(container);
    enum prt_status status = decode_all(&code);
    if (status == PRT_OK) status = verify_nesting(&code);
    if (status == PRT_OK) status = verify_prologue(&code);
    if (status == PRT_OK) status = verify_body(&code);
    if (status == PRT_OK) status = prt_verify_flow(&code);
    if (status == PRT_OK) status = prt_verify_levels(&code);
    proof->work = code.work;
    proof->work_limit = code.work_limit;
    free(code.offsets);
    free(code.regions);
    free(code.flags);
    return status;
}
