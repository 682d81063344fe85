/* SPDX-License-Identifier: MIT */
#include "tests/conform/made_container.h"

#include "lang/devdesc.h"
#include "lang/sched_code.h"
#include "runtime/verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void require(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "made_container: %s\n", what);
    abort();
}

struct made *made_create(const char *pipeline, const char *device)
{
    struct devdesc description;
    struct made *m = calloc(1, sizeof *m);
    require(m != NULL && devdesc_builtin(device, &description), "no memory or no such device");
    m->strings_bytes = 1;
    m->pipeline.name = made_string(m, pipeline);
    m->pipeline.compiler = made_string(m, "made");
    m->device.name = made_string(m, device);
    m->device.cu_count = description.cu_count;
    m->device.lanes = description.lanes;
    m->device.description_hash = devdesc_hash(&description);
    m->sources[0].name = made_string(m, "made.pipe");
    return m;
}

void made_free(struct made *m)
{
    free(m->program);
    free(m);
}

uint32_t made_string(struct made *m, const char *text)
{
    uint32_t at = m->strings_bytes;
    size_t bytes = strlen(text) + 1;
    require(at + bytes <= sizeof m->strings, "too many strings");
    memcpy(m->strings + at, text, bytes);
    m->strings_bytes += (uint32_t)bytes;
    return at;
}

struct container_argument *made_argument(struct made *m, const char *name, enum scalar_type type,
                                         const void *default_value)
{
    size_t width = scalar_width_bytes(type);
    struct container_argument *a = &m->arguments[m->argument_count++];
    a->name = made_string(m, name);
    a->type_text = made_string(m, scalar_name(type));
    a->scalar = type;
    a->lanes = 1;
    a->count = 1;
    a->buffer = CONTAINER_NONE;
    a->has_default = default_value != NULL;
    a->offset_bytes = (m->pipeline.arguments_bytes + width - 1) / width * width;
    require(a->offset_bytes + width <= sizeof m->defaults, "too many arguments");
    if (default_value != NULL) memcpy(m->defaults + a->offset_bytes, default_value, width);
    m->pipeline.arguments_bytes = a->offset_bytes + width;
    m->defaults_bytes = (uint32_t)m->pipeline.arguments_bytes;
    return a;
}

uint32_t made_buffer(struct made *m, const char *name, enum scalar_type type, uint64_t depth,
                     enum container_outer outer)
{
    require(m->buffer_count < MADE_MAX, "too many buffers");
    m->buffers[m->buffer_count] = (struct container_buffer){
        .name = made_string(m, name),
        .type_text = made_string(m, scalar_name(type)),
        .scalar = type,
        .outer = outer,
        .width_bytes = scalar_width_bytes(type),
        .depth_packets = depth,
        .writer_node = CONTAINER_NONE,
        .writer_output = CONTAINER_NONE,
        .type = CONTAINER_NONE,
        .place = CONTAINER_NONE,
    };
    return m->buffer_count++;
}

void made_initial(struct made *m, uint32_t buffer, uint64_t packets, const void *pattern,
                  uint32_t pattern_bytes)
{
    require(m->initials_bytes + pattern_bytes <= sizeof m->initials, "too many initial packets");
    m->buffers[buffer].initial_packets = packets;
    m->buffers[buffer].initial_offset_bytes = m->initials_bytes;
    m->buffers[buffer].initial_size_bytes = pattern_bytes;
    memcpy(m->initials + m->initials_bytes, pattern, pattern_bytes);
    m->initials_bytes += pattern_bytes;
}

uint32_t made_node(struct made *m, const char *name, uint32_t flags)
{
    uint32_t index = m->node_count++;
    require(index < MADE_MAX, "too many nodes");
    m->nodes[index] = (struct container_node){
        .name = made_string(m, name),
        .kernel_title = made_string(m, name),
        .line = index + 1,
        .kernel = index,
        .flags = flags,
        .first_input = m->input_count,
        .first_output = m->output_count,
        .arguments_bytes = 64,
        .tables_bytes = 64,
        .state_bytes = 64,
        .phases = 1,
        .repetitions = 1,
        .cost_cycles = 10,
        .warp_cycles = 10,
        .warp_firings = 1,
        .firing_warps = 1,
    };
    m->stages[m->stage_count++] = (struct container_stage){.node = index,
                                                           .threshold = 1,
                                                           .entry = CONTAINER_NONE,
                                                           .flags = CONTAINER_STAGE_ENDS_PACK,
                                                           .pack = index};
    return index;
}

void made_input(struct made *m, uint32_t node, uint32_t buffer, uint64_t pop, uint64_t peek)
{
    require(node + 1 == m->node_count && m->input_count < MADE_MAX, "not the last node");
    m->inputs[m->input_count++] = (struct container_input){.port = made_string(m, "in"),
                                                           .buffer = buffer,
                                                           .rates = CONTAINER_NONE,
                                                           .pop = pop,
                                                           .peek = peek};
    m->nodes[node].input_count++;
}

void made_output(struct made *m, uint32_t node, uint32_t buffer, uint64_t push, uint64_t finish_max)
{
    require(node + 1 == m->node_count && m->output_count < MADE_MAX, "not the last node");
    m->buffers[buffer].writer_node = node;
    m->buffers[buffer].writer_output = m->output_count;
    m->outputs[m->output_count++] = (struct container_output){.port = made_string(m, "out"),
                                                              .buffer = buffer,
                                                              .push_least = push,
                                                              .push = push,
                                                              .finish_max = finish_max,
                                                              .rates = CONTAINER_NONE};
    m->nodes[node].output_count++;
}

/* ---- programs ---- */

void made_program(struct made *m, const char *text)
{
    struct sched_program program;
    struct sched_error error;
    size_t capacity = strlen(text) + 64 + (size_t)m->stage_count * 8;
    char *whole = calloc(1, capacity);
    require(whole != NULL, "no memory");
    size_t used = (size_t)snprintf(whole, capacity, ".stages %" PRIu32 "\n.set 0:", m->stage_count);
    for (uint32_t i = 0; i < m->stage_count; i++)
        used += (size_t)snprintf(whole + used, capacity - used, " %" PRIu32, i);
    snprintf(whole + used, capacity - used, "\n%s", text);
    if (!sched_assemble(whole, strlen(whole), &program, &error)) require(0, error.message);
    free(whole);
    free(m->program);
    m->sets_words = 0;
    for (uint32_t i = 0; i < program.set_count; i++) {
        m->sets[m->sets_words++] = program.sets[i].count;
        for (uint32_t k = 0; k < program.sets[i].count; k++)
            m->sets[m->sets_words++] = program.sets[i].stages[k];
    }
    m->program = program.code;
    m->program_bytes = program.code_bytes;
    program.code = NULL;
    sched_program_free(&program);
}

static const char loop_text[] = "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\n"
                                "L2: wait L1\n halt\n";

/* After the binding of a stage: does it own an entry of the reference table? */
static size_t load_text(const struct made *m, uint32_t stage, char *text, size_t size)
{
    const struct container_stage *s = &m->stages[stage];
    if (s->entry == CONTAINER_NONE || (s->flags & CONTAINER_STAGE_SPILLED) != 0) return 0;
    return (size_t)snprintf(text, size, " load_reference %" PRIu32 "\n", stage);
}

void made_loop(struct made *m)
{
    char text[(size_t)MADE_MAX * 48 + sizeof loop_text];
    size_t used = 0;
    for (uint32_t i = 0; i < m->stage_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " bind_root %" PRIu32 "\n", i);
        used += load_text(m, i, text + used, sizeof text - used);
    }
    snprintf(text + used, sizeof text - used, "%s", loop_text);
    made_program(m, text);
}

void made_side_by_side(struct made *m)
{
    made_groups(m, m->stage_count, 1);
}

void made_groups(struct made *m, uint32_t groups, uint32_t cus)
{
    char text[(size_t)MADE_MAX * 48 + sizeof loop_text + 64];
    size_t used = (size_t)snprintf(text, sizeof text, " partition_counts");
    for (uint32_t i = 0; i < groups; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %" PRIu32, cus);
    used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    for (uint32_t i = 0; i < m->stage_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 " bind %" PRIu32 ", %" PRIu32 "\n", i, i % groups);
        used += load_text(m, i, text + used, sizeof text - used);
    }
    snprintf(text + used, sizeof text - used, "%s", loop_text);
    made_program(m, text);
}

/* ---- the file ---- */

static uint32_t node_of_input(const struct made *m, uint32_t input)
{
    uint32_t node = 0;
    while (input >= m->nodes[node].first_input + m->nodes[node].input_count)
        node++;
    return node;
}

static void settle_readers(struct made *m)
{
    m->reader_count = 0;
    for (uint32_t b = 0; b < m->buffer_count; b++) {
        m->buffers[b].first_reader = m->reader_count;
        m->buffers[b].reader_count = 0;
        for (uint32_t i = 0; i < m->input_count; i++) {
            if (m->inputs[i].buffer != b) continue;
            m->inputs[i].reader = m->reader_count;
            m->readers[m->reader_count++] =
                (struct container_reader){.node = node_of_input(m, i), .input = i};
            m->buffers[b].reader_count++;
        }
    }
}

static void settle_stage(struct made *m, struct container_stage *stage)
{
    const struct container_node *node = &m->nodes[stage->node];
    uint64_t batch = 1024;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *input = &m->inputs[node->first_input + i];
        uint64_t depth = m->buffers[input->buffer].depth_packets;
        uint64_t most = depth < input->peek ? 0 : (depth - input->peek) / input->pop + 1;
        if (most < batch) batch = most;
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &m->outputs[node->first_output + i];
        uint64_t depth = m->buffers[output->buffer].depth_packets;
        if (output->push > 0 && depth / output->push < batch) batch = depth / output->push;
    }
    if (stage->batch_max == 0) stage->batch_max = batch;
}

void made_settle(struct made *m)
{
    settle_readers(m);
    m->pipeline.memory_bytes = 0;
    for (uint32_t i = 0; i < m->buffer_count; i++) {
        const struct container_buffer *b = &m->buffers[i];
        if (b->outer == CONTAINER_INNER)
            m->pipeline.memory_bytes += b->depth_packets * b->width_bytes;
    }
    for (uint32_t i = 0; i < m->stage_count; i++)
        settle_stage(m, &m->stages[i]);
}

struct part {
    const void *bytes;
    size_t size;
};

uint8_t *made_finish(struct made *m, size_t *size)
{
    if (m->reader_count == 0) made_settle(m);
    if (m->image_count == 0)
        m->images[m->image_count++] =
            (struct container_image){.isa = made_string(m, "x86-64"), .size_bytes = m->image_bytes};
#define TABLE(array, count)                                                                        \
    {                                                                                              \
        m->array, (count) * sizeof m->array[0]                                                     \
    }
    const struct part parts[] = {
        {m->strings, m->strings_bytes},
        {&m->pipeline, sizeof m->pipeline},
        {&m->device, sizeof m->device},
        TABLE(arguments, m->argument_count),
        TABLE(sources, 1),
        TABLE(nodes, m->node_count),
        TABLE(inputs, m->input_count),
        TABLE(outputs, m->output_count),
        TABLE(buffers, m->buffer_count),
        TABLE(readers, m->reader_count),
        {m->initials, m->initials_bytes},
        TABLE(stages, m->stage_count),
        TABLE(sets, m->sets_words),
        {m->program, m->program_bytes},
        TABLE(rates, m->rate_count),
        TABLE(fields, m->field_count),
        TABLE(certificate, m->certificate_count),
        TABLE(indices, m->index_count),
        TABLE(first_warps, m->first_warp_count),
        TABLE(interfaces, m->interface_count),
        TABLE(interface_ports, m->interface_port_count),
        TABLE(launches, m->launch_count),
        TABLE(types, m->type_count),
        TABLE(members, m->member_count),
        TABLE(places, m->place_count),
        TABLE(kernels, m->kernel_count),
        TABLE(kernel_ports, m->kernel_port_count),
        TABLE(variables, m->variable_count),
        {m->source_texts, m->source_texts_bytes},
        TABLE(foreign, m->foreign_count),
        TABLE(libraries, m->library_count),
        TABLE(fused_nodes, m->fused_node_count),
        TABLE(fused_inputs, m->fused_input_count),
        TABLE(fused_buffers, m->fused_buffer_count),
        {m->defaults, m->defaults_bytes},
        TABLE(images, m->image_count),
        {m->image, m->image_bytes},
    };
#undef TABLE
    enum { COUNT = sizeof parts / sizeof parts[0] };
    struct container_section table[COUNT];
    struct container_header header = {.version = CONTAINER_VERSION, .section_count = COUNT};
    uint64_t at = sizeof header + sizeof table;
    for (uint32_t i = 0; i < COUNT; i++) {
        at = (at + CONTAINER_ALIGNMENT - 1) / CONTAINER_ALIGNMENT * CONTAINER_ALIGNMENT;
        table[i] = (struct container_section){i + 1, 0, at, parts[i].size};
        at += parts[i].size;
    }
    uint8_t *bytes = calloc(1, (size_t)at);
    require(bytes != NULL, "no memory");
    memcpy(header.magic, CONTAINER_MAGIC, sizeof header.magic);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, table, sizeof table);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (parts[i].size > 0) memcpy(bytes + table[i].offset_bytes, parts[i].bytes, parts[i].size);
    }
    *size = (size_t)at;
    made_fix_checksum(bytes, *size);
    return bytes;
}

void made_fix_checksum(uint8_t *bytes, size_t size)
{
    struct container_header header;
    if (size < sizeof header) return;
    memcpy(&header, bytes, sizeof header);
    header.file_bytes = size;
    size_t covered = offsetof(struct container_header, reserved);
    header.checksum = XXH64(bytes + covered, size - covered, 0);
    memcpy(bytes, &header, sizeof header);
}

enum prt_status made_verify(struct made *m, struct prt_error *error)
{
    struct prt_container c;
    size_t size;
    *error = (struct prt_error){0};
    uint8_t *bytes = made_finish(m, &size);
    enum prt_status status = prt_container_read_memory(bytes, size, &c, error);
    if (status == PRT_OK) status = prt_verify(&c, error);
    prt_container_free(&c);
    free(bytes);
    made_free(m);
    return status;
}
