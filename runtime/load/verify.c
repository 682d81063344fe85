#include "runtime/load/verify_internal.h"

#include "lang/scalar.h"
#include "lang/sched_code.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES_OF(enumerator, number, name, type, single) [number] = sizeof(type),
static const size_t record_bytes[] = {CONTAINER_SECTIONS(RECORD_BYTES_OF)};
#undef RECORD_BYTES_OF
/* Packets of a row, rows of a frame, packets of a frame. */
#define SHAPE_MAX (UINT64_C(1) << 31)

#define NAME_OF(enumerator, number, name, type, single) [number] = name,
static const char *const section_names[] = {CONTAINER_SECTIONS(NAME_OF)};
#undef NAME_OF

enum prt_status prt_verify_refuse(const struct prt_container *c, struct prt_error *error,
                                  enum container_section_kind kind, uint64_t index,
                                  const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return prt_error_set_at(
        error, PRT_E_VERIFY, c->section_offset_bytes[kind] + index * record_bytes[kind],
        "container: section '%s', record %" PRIu64 ": %s", section_names[kind], index, reason);
}

/* ---- names ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts `names`; the first that is empty or there twice, or NULL. */
static const char *find_ambiguous(const char **names, size_t count)
{
    if (count == 0) return NULL;
    qsort(names, count, sizeof *names, compare_names);
    if (names[0][0] == '\0') return names[0];
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) return names[i];
    }
    return NULL;
}

static enum prt_status verify_names(const struct prt_container *c, struct prt_error *error)
{
    size_t most = (size_t)c->argument_count + c->buffer_count;
    const char **names = calloc(most > 0 ? most : 1, sizeof *names);
    if (names == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->argument_count; i++)
        names[i] = prt_verify_text(c, c->arguments[i].name);
    const char *argument = find_ambiguous(names, c->argument_count);
    size_t ports = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].outer != CONTAINER_INNER)
            names[ports++] = prt_verify_text(c, c->buffers[i].name);
    }
    const char *port = find_ambiguous(names, ports);
    enum prt_status status = PRT_OK;
    if (argument != NULL)
        status = prt_verify_refuse(c, error, CONTAINER_ARGUMENTS, 0, "the name '%s' is not unique",
                                   argument);
    else if (port != NULL)
        status = prt_verify_refuse(c, error, CONTAINER_BUFFERS, 0,
                                   "the port name '%s' is not unique", port);
    free(names);
    return status;
}

/* ---- graph ---- */

static enum prt_status verify_arguments(const struct prt_container *c, struct prt_error *error)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        CHECK(a->offset_bytes >= end, ARGUMENTS, i, "'%s' overlaps the argument before it",
              prt_verify_text(c, a->name));
        CHECK(a->scalar != SCALAR_BOOL || !a->has_default || (a->default_bits & 0xff) <= 1,
              ARGUMENTS, i, "the default of '%s' is neither true nor false",
              prt_verify_text(c, a->name));
        end = a->offset_bytes + scalar_width_bytes((enum scalar_type)a->scalar);
    }
    CHECK(c->pipeline->arguments_bytes == end, PIPELINE, 0,
          "the block of arguments has %" PRIu64 " bytes, the arguments take %" PRIu64,
          c->pipeline->arguments_bytes, end);
    return PRT_OK;
}

static enum prt_status verify_input(const struct prt_container *c, uint32_t node, uint32_t index,
                                    struct prt_error *error)
{
    const struct container_input *input = &c->inputs[index];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    const struct container_reader *reader = &c->readers[input->reader];
    CHECK(input->reader >= buffer->first_reader &&
              input->reader - buffer->first_reader < buffer->reader_count,
          INPUTS, index, "its reader is not one of buffer '%s'", prt_verify_text(c, buffer->name));
    CHECK(reader->node == node && reader->input == index, INPUTS, index,
          "its reader belongs to another input");
    return PRT_OK;
}

static enum prt_status verify_output(const struct prt_container *c, uint32_t node, uint32_t index,
                                     struct prt_error *error)
{
    const struct container_output *output = &c->outputs[index];
    const struct container_buffer *buffer = &c->buffers[output->buffer];
    CHECK(buffer->writer_node == node && buffer->writer_output == index, OUTPUTS, index,
          "buffer '%s' has another writer", prt_verify_text(c, buffer->name));
    return PRT_OK;
}

/* The firings of a warp fit the lanes of the device; a firing of several warps has one of its own. */
static enum prt_status verify_warps(const struct prt_container *c, uint32_t index,
                                    struct prt_error *error)
{
    const struct container_node *node = &c->nodes[index];
    CHECK(node->warp_firings >= 1 && node->warp_firings <= c->device->lanes, NODES, index,
          "'%s' has %" PRIu32 " firings in a warp, the device %" PRIu32 " lanes",
          prt_verify_text(c, node->name), node->warp_firings, c->device->lanes);
    CHECK(node->firing_warps >= 1 && node->firing_warps <= CONTAINER_FIRING_WARPS_MAX, NODES, index,
          "'%s' has %" PRIu32 " warps in a firing", prt_verify_text(c, node->name),
          node->firing_warps);
    CHECK(node->warp_firings == 1 || node->firing_warps == 1, NODES, index,
          "'%s' has %" PRIu32 " firings in a warp and %" PRIu32 " warps in a firing",
          prt_verify_text(c, node->name), node->warp_firings, node->firing_warps);
    CHECK(!(node->flags & CONTAINER_NODE_STATEFUL) || node->warp_firings == 1, NODES, index,
          "'%s' has state, and %" PRIu32 " firings in a warp", prt_verify_text(c, node->name),
          node->warp_firings);
    return PRT_OK;
}

static enum prt_status verify_nodes(const struct prt_container *c, struct prt_error *error)
{
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        CHECK(node->first_input == inputs && node->first_output == outputs, NODES, i,
              "the ends of '%s' do not follow those of the node before it",
              prt_verify_text(c, node->name));
        CHECK(node->input_count + node->output_count >= 1, NODES, i, "'%s' has no ends",
              prt_verify_text(c, node->name));
        CHECK(!(node->flags & CONTAINER_NODE_STOPS) || node->input_count == 0, NODES, i,
              "'%s' stops, and has inputs", prt_verify_text(c, node->name));
        CHECK(node->repetitions >= 1 && node->repetitions <= INT64_MAX, NODES, i,
              "'%s' has %" PRIu64 " repetitions", prt_verify_text(c, node->name),
              node->repetitions);
        CHECK(node->repetitions % node->phases == 0, NODES, i,
              "'%s' has %" PRIu64 " repetitions and %" PRIu32 " phases",
              prt_verify_text(c, node->name), node->repetitions, node->phases);
        enum prt_status warps = verify_warps(c, i, error);
        if (warps != PRT_OK) return warps;
        for (uint32_t k = 0; k < node->input_count; k++) {
            enum prt_status status = verify_input(c, i, inputs + k, error);
            if (status != PRT_OK) return status;
        }
        for (uint32_t k = 0; k < node->output_count; k++) {
            enum prt_status status = verify_output(c, i, outputs + k, error);
            if (status != PRT_OK) return status;
        }
        inputs += node->input_count;
        outputs += node->output_count;
    }
    CHECK(c->node_count >= 1, NODES, 0, "there is no node");
    CHECK(inputs == c->input_count, INPUTS, inputs, "belongs to no node");
    CHECK(outputs == c->output_count, OUTPUTS, outputs, "belongs to no node");
    return PRT_OK;
}

static bool is_end_of(uint32_t first, uint32_t count, uint32_t index)
{
    return index >= first && index - first < count;
}

static enum prt_status verify_readers(const struct prt_container *c, uint32_t index,
                                      struct prt_error *error)
{
    const struct container_buffer *buffer = &c->buffers[index];
    for (uint32_t k = 0; k < buffer->reader_count; k++) {
        uint32_t r = buffer->first_reader + k;
        const struct container_reader *reader = &c->readers[r];
        const struct container_node *node = &c->nodes[reader->node];
        const struct container_input *input = &c->inputs[reader->input];
        CHECK(is_end_of(node->first_input, node->input_count, reader->input), READERS, r,
              "its input is not one of node '%s'", prt_verify_text(c, node->name));
        CHECK(input->buffer == index && input->reader == r, READERS, r,
              "its input reads something else than buffer '%s'", prt_verify_text(c, buffer->name));
        enum prt_status status = prt_verify_balance(c, index, r, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

static enum prt_status verify_shape(const struct prt_container *c, uint32_t index,
                                    struct prt_error *error)
{
    const struct container_buffer *b = &c->buffers[index];
    uint64_t frame;
    CHECK(b->row_packets > 0 || b->frame_rows == 0, BUFFERS, index, "'%s' has frames without rows",
          prt_verify_text(c, b->name));
    CHECK(b->row_packets <= SHAPE_MAX && b->frame_rows <= SHAPE_MAX &&
              !__builtin_mul_overflow(b->row_packets, b->frame_rows, &frame) && frame <= SHAPE_MAX,
          BUFFERS, index, "the rows or frames of '%s' are too large", prt_verify_text(c, b->name));
    return PRT_OK;
}

static enum prt_status verify_buffer(const struct prt_container *c, uint32_t index,
                                     struct prt_error *error)
{
    const struct container_buffer *b = &c->buffers[index];
    const char *name = prt_verify_text(c, b->name);
    bool written = b->writer_node != CONTAINER_NONE;
    CHECK(written == (b->writer_output != CONTAINER_NONE), BUFFERS, index, "'%s' has half a writer",
          name);
    CHECK(written == (b->outer != CONTAINER_OUTER_IN), BUFFERS, index,
          written ? "in-port '%s' has a writer" : "'%s' has no writer", name);
    CHECK((b->reader_count == 0) == (b->outer == CONTAINER_OUTER_OUT), BUFFERS, index,
          b->reader_count == 0 ? "'%s' has no reader" : "out-port '%s' has a reader", name);
    if (written) {
        const struct container_node *writer = &c->nodes[b->writer_node];
        CHECK(is_end_of(writer->first_output, writer->output_count, b->writer_output), BUFFERS,
              index, "the writer of '%s' is not an output of node '%s'", name,
              prt_verify_text(c, writer->name));
        CHECK(c->outputs[b->writer_output].buffer == index, BUFFERS, index,
              "the writer of '%s' writes another buffer", name);
    }
    CHECK(b->initial_packets <= b->depth_packets, BUFFERS, index,
          "'%s' begins with %" PRIu64 " packets and holds %" PRIu64, name, b->initial_packets,
          b->depth_packets);
    CHECK((b->initial_packets == 0) == (b->initial_size_bytes == 0) &&
              b->initial_size_bytes % b->width_bytes == 0 &&
              b->initial_size_bytes / b->width_bytes <= b->initial_packets,
          BUFFERS, index, "the initial packets of '%s' are not whole packets, or too many", name);
    return verify_readers(c, index, error);
}

static enum prt_status verify_buffers(const struct prt_container *c, struct prt_error *error)
{
    uint64_t memory_bytes = 0;
    uint32_t readers = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *b = &c->buffers[i];
        CHECK(b->first_reader == readers, BUFFERS, i,
              "the readers of '%s' do not follow those of the buffer before it",
              prt_verify_text(c, b->name));
        readers += b->reader_count;
        enum prt_status status = verify_buffer(c, i, error);
        if (status == PRT_OK) status = verify_shape(c, i, error);
        if (status != PRT_OK) return status;
        CHECK(b->outer != CONTAINER_INNER ||
                  !__builtin_add_overflow(memory_bytes, b->depth_packets * b->width_bytes,
                                          &memory_bytes),
              BUFFERS, i, "the memory of all buffers overflows");
    }
    CHECK(readers == c->reader_count, READERS, readers, "belongs to no buffer");
    CHECK(memory_bytes == c->pipeline->memory_bytes, PIPELINE, 0,
          "memory_bytes is %" PRIu64 ", the buffers take %" PRIu64, c->pipeline->memory_bytes,
          memory_bytes);
    return PRT_OK;
}

/* ---- stages ---- */

/* As many stages as nodes and no node twice: each node exactly once. */
static enum prt_status verify_coverage(const struct prt_container *c, uint8_t *seen,
                                       struct prt_error *error)
{
    for (uint32_t i = 0; i < c->stage_count; i++) {
        uint32_t node = c->stages[i].node;
        CHECK(!seen[node], STAGES, i, "node '%s' has two stages",
              prt_verify_text(c, c->nodes[node].name));
        seen[node] = 1;
    }
    CHECK(c->stage_count == c->node_count, STAGES, c->stage_count,
          "%" PRIu32 " stages for %" PRIu32 " nodes", c->stage_count, c->node_count);
    return PRT_OK;
}

static enum prt_status verify_stages(const struct prt_container *c, struct prt_error *error)
{
    uint8_t *seen = calloc(c->node_count > 0 ? c->node_count : 1, 1);
    if (seen == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    enum prt_status status = verify_coverage(c, seen, error);
    free(seen);
    for (uint32_t i = 0; i < c->stage_count && status == PRT_OK; i++) {
        /* The threshold is at most batch_max, so this admits both. */
        status = prt_verify_batch(c, i, c->stages[i].batch_max, error);
    }
    return status == PRT_OK ? prt_verify_packs(c, error) : status;
}

enum prt_status prt_verify_graph(const struct prt_container *container, struct prt_error *error)
{
    enum prt_status status = verify_arguments(container, error);
    if (status == PRT_OK) status = verify_nodes(container, error);
    if (status == PRT_OK) status = prt_verify_rates(container, error);
    if (status == PRT_OK) status = verify_buffers(container, error);
    if (status == PRT_OK) status = prt_verify_fields(container, error);
    if (status == PRT_OK) status = prt_verify_debug(container, error);
    if (status == PRT_OK) status = prt_verify_indices(container, error);
    if (status == PRT_OK) status = prt_verify_launches(container, error);
    if (status == PRT_OK) status = verify_names(container, error);
    if (status == PRT_OK) status = verify_stages(container, error);
    if (status == PRT_OK) status = prt_verify_bounded(container, error);
    if (status == PRT_OK) status = prt_verify_certificate(container, error);
    return status;
}

/* ---- program: instructions ---- */

struct code {
    const struct prt_container *container;
    struct prt_error *error;
    uint32_t *offsets; /* of each instruction */
    uint8_t *states;   /* per instruction: set of the states it may be reached in */
    uint8_t *marks;    /* per instruction: of the search for cycles; per stage: bound, selectable */
    uint32_t *stack;   /* room for two entries per instruction */
    uint32_t count;
    uint32_t prologue_count; /* instructions of the prologue */
    uint32_t subdevice_count;
};

static struct sched_instruction instruction_at(const struct code *code, uint32_t index)
{
    const struct prt_container *c = code->container;
    struct sched_instruction instruction;
    (void)sched_decode(c->code, c->code_bytes, code->offsets[index], &instruction);
    return instruction;
}

static void instruction_text(const struct sched_instruction *instruction, char *out, size_t size)
{
    const struct sched_opcode_info *info = &sched_opcodes[instruction->opcode];
    size_t used = (size_t)snprintf(out, size, "%s", info->mnemonic);
    for (size_t i = 0; info->operands[i] != '\0' && used < size; i++) {
        const char *between = i == 0 ? " " : ", ";
        const char *mark = info->operands[i] == 'L' ? "@" : "";
        const char *open = info->operands[i] == '*' ? "(" : "";
        const char *close = info->operands[i] == '*' ? " numbers)" : "";
        used += (size_t)snprintf(out + used, size - used, "%s%s%s%" PRIu32 "%s", between, open,
                                 mark, instruction->operands[i], close);
    }
}

static enum prt_status refuse_code(const struct code *code, uint32_t index, const char *format, ...)
    PRT_PRINTF(3, 4);

/* "container: scheduler program, offset 12, 'bind 0, 7': ..." */
static enum prt_status refuse_code(const struct code *code, uint32_t index, const char *format, ...)
{
    struct sched_instruction instruction = instruction_at(code, index);
    char what[160], reason[240];
    instruction_text(&instruction, what, sizeof what);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    uint64_t base = code->container->section_offset_bytes[CONTAINER_PROGRAM];
    return prt_error_set_at(code->error, PRT_E_VERIFY, base + instruction.offset,
                            "container: section 'program', offset %" PRIu32 ", '%s': %s",
                            instruction.offset, what, reason);
}

static enum prt_status decode_all(struct code *code)
{
    const struct prt_container *c = code->container;
    struct sched_instruction instruction;
    for (uint32_t at = 0; at < c->code_bytes; at += instruction.size_bytes) {
        if (!sched_decode(c->code, c->code_bytes, at, &instruction))
            return prt_error_set_at(
                code->error, PRT_E_VERIFY, c->section_offset_bytes[CONTAINER_PROGRAM] + at,
                "container: section 'program', offset %" PRIu32 ": not an instruction", at);
        code->offsets[code->count++] = at;
    }
    if (code->count == 0)
        return prt_error_set_at(code->error, PRT_E_VERIFY,
                                c->section_offset_bytes[CONTAINER_PROGRAM],
                                "container: section 'program': there is no instruction");
    return PRT_OK;
}

/* The instruction that begins at `offset`, or `count`. */
static uint32_t find_instruction(const struct code *code, uint32_t offset)
{
    uint32_t low = 0, high = code->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->offsets[low] == offset ? low : code->count;
}

static bool is_prologue(enum sched_opcode opcode)
{
    return opcode == SCHED_PARTITION_EQUALLY || opcode == SCHED_PARTITION_COUNTS ||
           opcode == SCHED_PARTITION_AFFINITY || opcode == SCHED_BIND_ROOT ||
           opcode == SCHED_BIND || opcode == SCHED_PACKETS || opcode == SCHED_LOAD_REFERENCE;
}

static bool is_selection(enum sched_opcode opcode)
{
    return opcode == SCHED_ROUND_ROBIN || opcode == SCHED_PRIORITY || opcode == SCHED_FULLEST;
}

/* ---- program: operands ---- */

static enum prt_status verify_label(const struct code *code, uint32_t index, uint32_t offset)
{
    uint32_t target = find_instruction(code, offset);
    if (target == code->count)
        return refuse_code(code, index, "@%" PRIu32 " is not the beginning of an instruction",
                           offset);
    if (target < code->prologue_count)
        return refuse_code(code, index,
                           "jumps back to where sub-devices are made and stages bound");
    return PRT_OK;
}

static enum prt_status verify_operand(const struct code *code, uint32_t index, char letter,
                                      uint32_t value)
{
    const struct prt_container *c = code->container;
    switch (letter) {
    case 'S':
        if (value >= c->stage_count)
            return refuse_code(code, index, "there is no stage %" PRIu32 " (%" PRIu32 " stages)",
                               value, c->stage_count);
        return PRT_OK;
    case 'T':
        if (value >= c->set_count)
            return refuse_code(code, index, "there is no set %" PRIu32 " (%" PRIu32 " sets)", value,
                               c->set_count);
        if (c->sets[value].count == 0)
            return refuse_code(code, index, "set %" PRIu32 " is empty", value);
        return PRT_OK;
    case 'D':
        if (value >= code->subdevice_count)
            return refuse_code(code, index,
                               "there is no sub-device %" PRIu32 " (%" PRIu32 " were made)", value,
                               code->subdevice_count);
        return PRT_OK;
    case 'L': return verify_label(code, index, value);
    case 'F':
        if (value >= SCHED_FORMS)
            return refuse_code(code, index, "there is no form %" PRIu32, value);
        return PRT_OK;
    default: return PRT_OK;
    }
}

/* An end of the stage that is the first operand, which is in range. */
static enum prt_status verify_end(const struct code *code, uint32_t index, char letter,
                                  const struct sched_instruction *instruction, uint32_t value)
{
    const struct prt_container *c = code->container;
    const struct container_node *node = &c->nodes[c->stages[instruction->operands[0]].node];
    uint32_t count = letter == 'I' ? node->input_count : node->output_count;
    if (value < count) return PRT_OK;
    return refuse_code(code, index, "stage %" PRIu32 " has no %s %" PRIu32,
                       instruction->operands[0], letter == 'I' ? "input" : "output", value);
}

static enum prt_status verify_amounts(const struct code *code, uint32_t index,
                                      const struct sched_instruction *instruction)
{
    const struct container_stage *stages = code->container->stages;
    const uint32_t *operands = instruction->operands;
    if (instruction->opcode == SCHED_REPEAT && operands[0] == 0)
        return refuse_code(code, index, "repeats nothing");
    if (instruction->opcode == SCHED_RUN &&
        (operands[1] == 0 || operands[1] > stages[operands[0]].batch_max))
        return refuse_code(code, index, "a batch of stage %" PRIu32 " is 1 to %" PRIu64 " firings",
                           operands[0], (uint64_t)stages[operands[0]].batch_max);
    return PRT_OK;
}

static enum prt_status verify_operands(const struct code *code, uint32_t index)
{
    struct sched_instruction instruction = instruction_at(code, index);
    const char *letters = sched_opcodes[instruction.opcode].operands;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        bool is_end = letters[i] == 'I' || letters[i] == 'O';
        enum prt_status status =
            is_end ? verify_end(code, index, letters[i], &instruction, instruction.operands[i])
                   : verify_operand(code, index, letters[i], instruction.operands[i]);
        if (status != PRT_OK) return status;
    }
    return verify_amounts(code, index, &instruction);
}

/* ---- program: prologue ---- */

static enum prt_status verify_partition(struct code *code, uint32_t index,
                                        const struct sched_instruction *instruction)
{
    uint32_t cu_count = code->container->device->cu_count;
    if (code->subdevice_count > 0) return refuse_code(code, index, "a second partition");
    if (instruction->opcode == SCHED_PARTITION_EQUALLY) {
        uint32_t each = instruction->operands[0];
        if (each == 0 || each > cu_count)
            return refuse_code(code, index, "the device has %" PRIu32 " CUs", cu_count);
        code->subdevice_count = cu_count / each;
        return PRT_OK;
    }
    if (instruction->opcode == SCHED_PARTITION_AFFINITY) {
        uint32_t each = instruction->operands[1];
        if (instruction->operands[0] >= SCHED_LEVELS)
            return refuse_code(code, index, "there is no level %" PRIu32, instruction->operands[0]);
        if (each == 0 || each >= cu_count || cu_count % each != 0)
            return refuse_code(code, index,
                               "%" PRIu32 " CUs cannot be two or more domains of %" PRIu32,
                               cu_count, each);
        code->subdevice_count = cu_count / each;
        return PRT_OK;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < instruction->operands[0]; i++) {
        uint32_t cus = sched_list_item(instruction, i);
        if (cus == 0) return refuse_code(code, index, "a sub-device of 0 CUs");
        sum += cus;
    }
    if (instruction->operands[0] == 0) return refuse_code(code, index, "no sub-device");
    if (sum > cu_count)
        return refuse_code(code, index, "%" PRIu64 " CUs, the device has %" PRIu32, sum, cu_count);
    code->subdevice_count = instruction->operands[0];
    return PRT_OK;
}

static enum prt_status verify_prologue(struct code *code)
{
    while (code->prologue_count < code->count) {
        uint32_t index = code->prologue_count;
        struct sched_instruction instruction = instruction_at(code, index);
        if (!is_prologue(instruction.opcode)) break;
        enum prt_status status;
        if (instruction.opcode == SCHED_BIND || instruction.opcode == SCHED_BIND_ROOT) {
            status = verify_operands(code, index);
            if (status != PRT_OK) return status;
            if (instruction.opcode == SCHED_BIND_ROOT && code->subdevice_count > 0)
                return refuse_code(code, index,
                                   "the whole device, of which sub-devices have been made");
            if (code->marks[instruction.operands[0]])
                return refuse_code(code, index, "stage %" PRIu32 " is bound already",
                                   instruction.operands[0]);
            code->marks[instruction.operands[0]] = 1;
        } else if (instruction.opcode == SCHED_PACKETS ||
                   instruction.opcode == SCHED_LOAD_REFERENCE) {
            status = verify_operands(code, index);
            if (status != PRT_OK) return status;
        } else {
            status = verify_partition(code, index, &instruction);
            if (status != PRT_OK) return status;
        }
        code->prologue_count++;
    }
    for (uint32_t i = 0; i < code->container->stage_count; i++) {
        uint32_t last = code->prologue_count < code->count ? code->prologue_count : code->count - 1;
        if (!code->marks[i])
            return refuse_code(code, last, "stage %" PRIu32 " is not bound before this", i);
    }
    return PRT_OK;
}

static enum prt_status verify_body(const struct code *code)
{
    for (uint32_t i = code->prologue_count; i < code->count; i++) {
        if (is_prologue(instruction_at(code, i).opcode))
            return refuse_code(code, i, "only the beginning of the program does this");
        enum prt_status status = verify_operands(code, i);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* ---- program: flow ---- */

/* A state: is a stage selected, has `ends` been executed since the start or the last wait?  Each of
 * the four is a bit of an instruction's set. */
enum { STATE_SELECTED = 1, STATE_ENDED = 2, STATE_COUNT = 4 };

struct edges {
    uint32_t targets[2];
    uint32_t count;
};

/* Where control may go on: the next instruction, if any, then the label, if any. */
static struct edges successors(const struct code *code, uint32_t index,
                               const struct sched_instruction *instruction)
{
    struct edges edges = {.count = 0};
    switch (instruction->opcode) {
    case SCHED_HALT: break;
    case SCHED_JUMP:
        edges.targets[edges.count++] = find_instruction(code, instruction->operands[0]);
        break;
    case SCHED_ROUND_ROBIN:
    case SCHED_PRIORITY:
    case SCHED_FULLEST:
        edges.targets[edges.count++] = index + 1;
        edges.targets[edges.count++] = find_instruction(code, instruction->operands[1]);
        break;
    case SCHED_WAIT:
    case SCHED_CALL:
        edges.targets[edges.count++] = index + 1;
        edges.targets[edges.count++] = find_instruction(code, instruction->operands[0]);
        break;
    case SCHED_HAS_PACKETS:
    case SCHED_HAS_ROOM:
        edges.targets[edges.count++] = index + 1;
        edges.targets[edges.count++] = find_instruction(code, instruction->operands[3]);
        break;
    case SCHED_GOES_ON:
        edges.targets[edges.count++] = index + 1;
        edges.targets[edges.count++] = find_instruction(code, instruction->operands[2]);
        break;
    case SCHED_RETURN: break;
    default: edges.targets[edges.count++] = index + 1; break;
    }
    return edges;
}

/* The state after an instruction, along its edge number `edge`. */
static uint32_t state_after(enum sched_opcode opcode, uint32_t edge, uint32_t state)
{
    switch (opcode) {
    case SCHED_ENDS: return STATE_ENDED;
    case SCHED_ROUND_ROBIN:
    case SCHED_PRIORITY:
    case SCHED_FULLEST: return (state & STATE_ENDED) | (edge == 0 ? STATE_SELECTED : 0u);
    case SCHED_DISPATCH: return state & STATE_ENDED;
    case SCHED_WAIT: return 0;
    default: return state;
    }
}

static enum prt_status verify_state(const struct code *code, uint32_t index,
                                    enum sched_opcode opcode, uint32_t state)
{
    if (opcode == SCHED_DISPATCH && !(state & STATE_SELECTED))
        return refuse_code(code, index, "on some path to it no stage has been selected");
    if (opcode == SCHED_WAIT && !(state & STATE_ENDED))
        return refuse_code(code, index, "on some path to it 'ends' is missing since the last wait");
    return PRT_OK;
}

/* Follows every state to every instruction it can reach: at most four visits each. */
static enum prt_status verify_states(struct code *code)
{
    /* The stack holds instructions with states not yet followed; `todo` says which: the upper half
     * of `states`. */
    uint32_t depth = 0;
    code->states[0] = 1u << 0 | 1u << STATE_COUNT;
    code->stack[depth++] = 0;
    while (depth > 0) {
        uint32_t index = code->stack[--depth];
        uint32_t todo = (uint32_t)code->states[index] >> STATE_COUNT;
        code->states[index] &= (1u << STATE_COUNT) - 1;
        struct sched_instruction instruction = instruction_at(code, index);
        struct edges edges = successors(code, index, &instruction);
        for (uint32_t e = 0; e < edges.count; e++) {
            if (edges.targets[e] >= code->count)
                return refuse_code(code, index, "the program runs off its end after this");
        }
        for (uint32_t state = 0; state < STATE_COUNT; state++) {
            if (!(todo & 1u << state)) continue;
            enum prt_status status = verify_state(code, index, instruction.opcode, state);
            if (status != PRT_OK) return status;
            for (uint32_t e = 0; e < edges.count; e++) {
                uint8_t *target = &code->states[edges.targets[e]];
                uint32_t bit = 1u << state_after(instruction.opcode, e, state);
                if (*target & bit) continue;
                if (*target >> STATE_COUNT == 0) code->stack[depth++] = edges.targets[e];
                *target |= (uint8_t)(bit | bit << STATE_COUNT);
            }
        }
    }
    return PRT_OK;
}

/* Edges along which nothing has happened: not those of a dispatch or a run (nor of a call), not the jump of a wait. */
static struct edges idle_edges(const struct code *code, uint32_t index)
{
    struct sched_instruction instruction = instruction_at(code, index);
    struct edges edges = successors(code, index, &instruction);
    if (instruction.opcode == SCHED_DISPATCH || instruction.opcode == SCHED_RUN ||
        instruction.opcode == SCHED_CALL)
        edges.count = 0;
    if (instruction.opcode == SCHED_WAIT) edges.count = 1;
    return edges;
}

/* Depth-first over idle edges; mark 0 is new, 1 + k on the path with k edges followed, DONE left
 * for good. */
static enum prt_status verify_cycles(struct code *code)
{
    enum { DONE = 4 };
    memset(code->marks, 0, code->count);
    for (uint32_t root = 0; root < code->count; root++) {
        if (code->states[root] == 0 || code->marks[root] != 0) continue;
        uint32_t depth = 0;
        code->stack[depth++] = root;
        code->marks[root] = 1;
        while (depth > 0) {
            uint32_t index = code->stack[depth - 1];
            struct edges edges = idle_edges(code, index);
            uint32_t next = code->marks[index] - 1u;
            if (next >= edges.count) {
                code->marks[index] = DONE;
                depth--;
                continue;
            }
            code->marks[index]++;
            uint32_t target = edges.targets[next];
            if (code->marks[target] == DONE) continue;
            if (code->marks[target] != 0)
                return refuse_code(
                    code, target,
                    "a loop through this contains neither a dispatch nor the jump of a wait");
            code->marks[target] = 1;
            code->stack[depth++] = target;
        }
    }
    return PRT_OK;
}

/* Each stage is in a set that a reachable instruction selects from. */
static enum prt_status verify_selectable(struct code *code)
{
    const struct prt_container *c = code->container;
    uint8_t *used = code->marks; /* first per set, then per stage behind them */
    memset(used, 0, (size_t)c->set_count + c->stage_count);
    for (uint32_t i = 0; i < code->count; i++) {
        struct sched_instruction instruction = instruction_at(code, i);
        if (code->states[i] != 0 && is_selection(instruction.opcode))
            used[instruction.operands[0]] = 1;
    }
    uint8_t *selectable = used + c->set_count;
    for (uint32_t i = 0; i < c->set_count; i++) {
        for (uint32_t k = 0; used[i] && k < c->sets[i].count; k++)
            selectable[c->sets[i].stages[k]] = 1;
    }
    for (uint32_t i = 0; i < c->stage_count; i++) {
        if (!selectable[i])
            return refuse_code(code, code->count - 1, "stage %" PRIu32 " is never selected", i);
    }
    return PRT_OK;
}

static bool allocate_code(struct code *code)
{
    const struct prt_container *c = code->container;
    size_t most = (size_t)c->code_bytes + 1;
    size_t marks = most;
    if (marks < (size_t)c->set_count + c->stage_count)
        marks = (size_t)c->set_count + c->stage_count;
    code->offsets = calloc(most, sizeof *code->offsets);
    code->states = calloc(most, 1);
    code->marks = calloc(marks, 1);
    code->stack = calloc(most, 2 * sizeof *code->stack);
    return code->offsets != NULL && code->states != NULL && code->marks != NULL &&
           code->stack != NULL;
}

enum prt_status prt_verify_program(const struct prt_container *container, struct prt_error *error)
{
    struct code code = {.container = container, .error = error};
    enum prt_status status = PRT_OK;
    if (!allocate_code(&code)) status = prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (status == PRT_OK) status = decode_all(&code);
    if (status == PRT_OK) status = verify_prologue(&code);
    if (status == PRT_OK) status = verify_body(&code);
    if (status == PRT_OK) status = verify_states(&code);
    if (status == PRT_OK) status = verify_cycles(&code);
    if (status == PRT_OK) status = verify_selectable(&code);
    free(code.offsets);
    free(code.states);
    free(code.marks);
    free(code.stack);
    return status;
}

enum prt_status prt_verify(const struct prt_container *container, struct prt_error *error)
{
    enum prt_status status = prt_verify_graph(container, error);
    if (status == PRT_OK) status = prt_verify_program(container, error);
    return status;
}
