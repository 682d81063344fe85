/* SPDX-License-Identifier: MIT */
#include "runtime/verify/verify_internal.h"

#include "base/words.h"
#include "lang/scalar.h"

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

/* Sorts `names`; the first that is empty or there twice, or NULL. */
static const char *find_ambiguous(const char **names, size_t count)
{
    if (count == 0) return NULL;
    qsort(names, count, sizeof *names, words_compare);
    if (names[0][0] == '\0') return names[0];
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) return names[i];
    }
    return NULL;
}

static enum prt_status verify_names(const struct prt_container *c, struct prt_error *error)
{
    size_t most = (size_t)c->argument_count + c->buffer_count;
    const char **names = calloc((size_t)most + 1, sizeof *names);
    if (names == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->argument_count; i++)
        names[i] = prt_verify_text(c, c->arguments[i].name);
    const char *argument = find_ambiguous(names, c->argument_count);
    size_t ports = c->argument_count; /* a command line names both in one way */
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].outer != CONTAINER_INNER)
            names[ports++] = prt_verify_text(c, c->buffers[i].name);
    }
    const char *port = find_ambiguous(names, ports);
    enum prt_status status = PRT_OK;
    if (PRT_BREAKS(argument != NULL))
        status = prt_verify_refuse(c, error, CONTAINER_ARGUMENTS, 0, "the name '%s' is not unique",
                                   argument);
    else if (PRT_BREAKS(port != NULL))
        status = prt_verify_refuse(c, error, CONTAINER_BUFFERS, 0,
                                   "the port name '%s' is not unique", port);
    free(names);
    return status;
}

/* ---- graph ---- */

static bool are_booleans(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] > 1) return false;
    return true;
}

static bool are_zero_defaults(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static enum prt_status verify_arguments(const struct prt_container *c, struct prt_error *error)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        const char *name = prt_verify_text(c, a->name);
        uint64_t bytes = a->count * scalar_width_bytes((enum scalar_type)a->scalar);
        CHECK(a->offset_bytes >= end, ARGUMENTS, i, "'%s' overlaps the argument before it", name);
        CHECK(prt_verify_shape(prt_verify_text(c, a->shape), a->count, a->lanes), ARGUMENTS, i,
              "the shape '%s' is not that of %" PRIu64 " scalars with %" PRIu32 " lanes",
              prt_verify_text(c, a->shape), a->count, a->lanes);
        CHECK(a->property == CONTAINER_PROPERTY_NONE ||
                  (a->count == 1 && a->scalar != SCALAR_BOOL &&
                   c->buffers[a->buffer].outer == CONTAINER_OUTER_IN),
              ARGUMENTS, i, "'%s' is no number that an in-port knows", name);
        CHECK(a->scalar != SCALAR_BOOL || are_booleans(c->defaults + a->offset_bytes, a->count),
              ARGUMENTS, i, "the default of '%s' is neither true nor false", name);
        /* The bytes before it, and those of an argument without a default, have no meaning: a file has one form. */
        CHECK(are_zero_defaults(c->defaults + end, a->offset_bytes - end) &&
                  (a->has_default || are_zero_defaults(c->defaults + a->offset_bytes, bytes)),
              ARGUMENTS, i, "'%s' has no default, and bytes of one", name);
        end = a->offset_bytes + bytes;
    }
    CHECK(c->pipeline->arguments_bytes == end, PIPELINE, 0,
          "the block of arguments has %" PRIu64 " bytes, the arguments take %" PRIu64,
          c->pipeline->arguments_bytes, end);
    return PRT_OK;
}

static enum prt_status verify_input_owner(const struct prt_container *c, uint32_t node,
                                          uint32_t index, struct prt_error *error)
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

static enum prt_status verify_output_owner(const struct prt_container *c, uint32_t node,
                                           uint32_t index, struct prt_error *error)
{
    const struct container_output *output = &c->outputs[index];
    const struct container_buffer *buffer = &c->buffers[output->buffer];
    CHECK(buffer->writer_node == node && buffer->writer_output == index, OUTPUTS, index,
          "buffer '%s' has another writer", prt_verify_text(c, buffer->name));
    return PRT_OK;
}

/* The firings of a warp fit the lanes of the device, and have no state in common.  Their work-items say
 * more: verify_indices.c. */
static enum prt_status verify_warps(const struct prt_container *c, uint32_t index,
                                    struct prt_error *error)
{
    const struct container_node *node = &c->nodes[index];
    CHECK(node->warp_firings >= 1 && node->warp_firings <= c->device->lanes, NODES, index,
          "'%s' has %" PRIu32 " firings in a warp, the device %" PRIu32 " lanes",
          prt_verify_text(c, node->name), node->warp_firings, c->device->lanes);
    CHECK(!(node->flags & CONTAINER_NODE_STATEFUL) || node->warp_firings == 1, NODES, index,
          "'%s' has state, and %" PRIu32 " firings in a warp", prt_verify_text(c, node->name),
          node->warp_firings);
    CHECK((node->flags & CONTAINER_NODE_UNIT_MASK) == 0 || node->warp_firings == 1, NODES, index,
          "'%s' is executed by a unit, and has %" PRIu32 " firings in a warp",
          prt_verify_text(c, node->name), node->warp_firings);
    CHECK(node->registers <= CONTAINER_REGISTERS_MAX, NODES, index,
          "a work-item of '%s' has %" PRIu32 " registers", prt_verify_text(c, node->name),
          node->registers);
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
        CHECK(node->repetitions >= 1 && node->repetitions <= INT64_MAX, NODES, i,
              "'%s' has %" PRIu64 " repetitions", prt_verify_text(c, node->name),
              node->repetitions);
        CHECK(node->source_repetitions <= INT64_MAX, NODES, i,
              "'%s' has %" PRIu64 " repetitions in its source", prt_verify_text(c, node->name),
              node->source_repetitions);
        CHECK(node->repetitions % node->phases == 0, NODES, i,
              "'%s' has %" PRIu64 " repetitions and %" PRIu32 " phases",
              prt_verify_text(c, node->name), node->repetitions, node->phases);
        enum prt_status warps = verify_warps(c, i, error);
        if (warps != PRT_OK) return warps;
        for (uint32_t k = 0; k < node->input_count; k++) {
            enum prt_status status = verify_input_owner(c, i, inputs + k, error);
            if (status != PRT_OK) return status;
        }
        for (uint32_t k = 0; k < node->output_count; k++) {
            enum prt_status status = verify_output_owner(c, i, outputs + k, error);
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
              "its input does not read buffer '%s'", prt_verify_text(c, buffer->name));
        enum prt_status status = prt_verify_balance(c, index, r, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

static enum prt_status verify_shape(const struct prt_container *c, uint32_t index,
                                    struct prt_error *error)
{
    const struct container_buffer *b = &c->buffers[index];
    CHECK(b->row_packets > 0 || b->frame_rows == 0, BUFFERS, index, "'%s' has frames without rows",
          prt_verify_text(c, b->name));
    /* The product is looked at where neither side is above 2^31 */
    CHECK(b->row_packets <= SHAPE_MAX && b->frame_rows <= SHAPE_MAX &&
              b->row_packets * b->frame_rows <= SHAPE_MAX,
          BUFFERS, index, "the rows or frames of '%s' are too large", prt_verify_text(c, b->name));
    return PRT_OK;
}

static enum prt_status verify_buffer(const struct prt_container *c, uint32_t index,
                                     struct prt_error *error)
{
    const struct container_buffer *b = &c->buffers[index];
    const char *name = prt_verify_text(c, b->name);
    bool written = b->writer_node != CONTAINER_NONE;
    CHECK(written == (b->writer_output != CONTAINER_NONE), BUFFERS, index,
          "'%s' has a writer without its output, or an output without its writer", name);
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
static enum prt_status verify_stage_coverage(const struct prt_container *c, uint8_t *seen,
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
    uint8_t *seen = calloc((size_t)c->node_count + 1, 1);
    if (seen == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    enum prt_status status = verify_stage_coverage(c, seen, error);
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
    if (status == PRT_OK) status = prt_verify_fused(container, error);
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

/* ---- the whole ---- */

enum prt_status prt_verify_prove(const struct prt_container *container, struct prt_proof *proof,
                                 struct prt_error *error)
{
    enum prt_status status = prt_verify_graph(container, error);
    if (status == PRT_OK) status = prt_verify_program(container, proof, error);
    return status;
}

enum prt_status prt_verify(const struct prt_container *container, struct prt_error *error)
{
    struct prt_proof proof;
    return prt_verify_prove(container, &proof, error);
}
