/* SPDX-License-Identifier: MIT */
/*
 * container_write: writes graph, plan, program and images as a container file (lang/container.md).
 *
 * Each section is a byte buffer.  Records are written from the structs of lang/container.h, whose layout
 * is the file's on the little-endian hosts that pipec runs on.  Strings are stored once, in order of
 * first use.  Never call add_string() twice in one initialiser: the C compiler would choose their order.
 */
#include "compiler/codegen/common/codegen.h"

#include <string.h>
#include <xxhash.h>

#include "base/arithmetic.h"
#include "compiler/bodies/written.h"
#include "compiler/codegen/common/foreign_files.h"
#include "compiler/emit/debug_tables.h"
#include "compiler/emit/fused_tables.h"
#include "compiler/emit/launch_tables.h"
#include "compiler/codegen/common/source_map.h"
#include "compiler/ir/graph_origin.h"
#include "compiler/optimize/compose/compose.h"
#include "compiler/plan/plan_tables.h"
#include "lang/container.h"
#include "lang/index_format.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "containers are little-endian");

#ifndef PIPEC_VERSION
#define PIPEC_VERSION "0"
#endif

enum { SECTION_KINDS = CONTAINER_IMAGE + 1 };

typedef VEC(unsigned char) byte_vec;

struct writer {
    struct compile *cx;
    struct arena *scratch;
    const struct graph *graph;
    const struct plan *plan;
    const struct sched_program *program;
    const struct kernel_image *image;
    byte_vec sections[SECTION_KINDS];
    container_string *slots; /* hash table of the strings written; 0: free */
    size_t slot_count, string_count;
    struct prt_container tables; /* what follows from graph and plan */
    struct debug_tables debug;
};

static void section_append(struct writer *w, enum container_section_kind kind, const void *bytes,
                           size_t size_bytes)
{
    byte_vec *section = &w->sections[kind];
    if (size_bytes == 0) return;
    section->items =
        vec_grow(w->scratch, section->items, &section->capacity, section->count + size_bytes, 1);
    memcpy(section->items + section->count, bytes, size_bytes);
    section->count += size_bytes;
}

#define APPEND(w, kind, ...) section_append((w), (kind), &(__VA_ARGS__), sizeof(__VA_ARGS__))

/* A count or an index as the file holds it; a larger value is reported. */
static uint32_t checked_u32(struct writer *w, uint64_t value)
{
    if (value < CONTAINER_NONE) return (uint32_t)value;
    diag_report(
        w->cx->diags, RULE_TOO_LARGE, w->graph->span,
        "pipeline '%s' is too large for a container: a table has more than 4294967294 entries",
        w->graph->name);
    return 0;
}

/* ---- strings ---- */

static const char *string_at(const struct writer *w, container_string at)
{
    return (const char *)w->sections[CONTAINER_STRINGS].items + at;
}

static container_string *string_slot(const struct writer *w, const char *text)
{
    size_t mask = w->slot_count - 1;
    for (size_t i = XXH64(text, strlen(text), 0) & mask;; i = (i + 1) & mask) {
        if (w->slots[i] == 0 || strcmp(string_at(w, w->slots[i]), text) == 0) return &w->slots[i];
    }
}

static void grow_slots(struct writer *w)
{
    container_string *old = w->slots;
    size_t old_count = w->slot_count;
    w->slot_count = old_count > 0 ? old_count * 2 : 64;
    w->slots = ARENA_ARRAY(w->scratch, container_string, w->slot_count);
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != 0) *string_slot(w, string_at(w, old[i])) = old[i];
    }
}

static container_string add_string(struct writer *w, const char *text)
{
    if (text == NULL || text[0] == '\0') return 0;
    if (w->string_count * 2 >= w->slot_count) grow_slots(w);
    container_string *slot = string_slot(w, text);
    if (*slot != 0) return *slot;
    *slot = checked_u32(w, w->sections[CONTAINER_STRINGS].count);
    w->string_count++;
    section_append(w, CONTAINER_STRINGS, text, strlen(text) + 1);
    return *slot;
}

/* ---- the tables ---- */

/* End of the pipeline's block of run-time arguments. */
static uint64_t pipeline_arguments_bytes(const struct graph *graph)
{
    uint64_t end = 0;
    for (size_t i = 0; i < graph->arguments.count; i++) {
        const struct variable *variable = graph->arguments.items[i].variable;
        uint64_t last = variable->offset_bytes + variable->type->width_bytes;
        if (last > end) end = last;
    }
    return end;
}

static void write_pipeline(struct writer *w)
{
    const struct graph *graph = w->graph;
    struct container_pipeline record = {
        .arguments_bytes = pipeline_arguments_bytes(graph),
        .memory_bytes = graph->memory_bytes,
        .memory_limit_bytes = w->cx->options.max_memory_bytes,
    };
    if (graph->unproven) record.flags |= CONTAINER_PIPELINE_UNPROVEN;
    if (w->cx->options.debug_mode) record.flags |= CONTAINER_PIPELINE_DEBUG;
    if (graph->is_counterexample) record.flags |= CONTAINER_PIPELINE_COUNTEREXAMPLE;
    record.name = add_string(w, graph->name);
    record.compiler = add_string(w, "pipec " PIPEC_VERSION);
    APPEND(w, CONTAINER_PIPELINE, record);
}

static void write_device(struct writer *w)
{
    const struct devdesc *device = w->plan->device;
    APPEND(w, CONTAINER_DEVICE,
           (struct container_device){
               .name = add_string(w, device->name),
               .cu_count = device->cu_count,
               .lanes = device->lanes,
               .description_hash = devdesc_hash(device),
           });
}

/* Writes those that have no names. */
static void write_tables(struct writer *w)
{
    const struct prt_container *t = &w->tables;
    section_append(w, CONTAINER_RATES, t->rates, t->rate_count * sizeof *t->rates);
    section_append(w, CONTAINER_READERS, t->readers, t->reader_count * sizeof *t->readers);
    section_append(w, CONTAINER_STAGES, t->stages, t->stage_count * sizeof *t->stages);
}

/* The bits of a value as its type stores it, in the low bytes. */
static uint64_t stored_bits(struct scalar_value value)
{
    size_t width = scalar_width_bytes(value.type);
    return width >= 8 ? value.bits : value.bits & ((UINT64_C(1) << width * 8) - 1);
}

/* A source's name without the folder of the main file, so that a container does not reveal where
 * it was made. */
static const char *portable_name(const struct writer *w, const struct source *source)
{
    const char *main_name = source_get(w->cx->sources, 1)->name;
    const char *slash = strrchr(main_name, '/');
    size_t folder_length = slash != NULL ? (size_t)(slash - main_name) + 1 : 0;
    if (strncmp(source->name, main_name, folder_length) == 0) return source->name + folder_length;
    const char *last = strrchr(source->name, '/');
    return source->name[0] == '/' ? last + 1 : source->name;
}

/* Does some place lie in the source? */
static bool is_named(const struct writer *w, uint32_t id)
{
    const struct place_table *places = w->image->places;
    for (size_t i = 0; i < places->items.count; i++)
        if (places->items.items[i].source == id - 1) return true;
    return false;
}

/* Writes all sources of the compilation, in order: places refer to them by number less one.  In
 * debug mode with their texts, so that a debugger can show them anywhere. */
static void write_sources(struct writer *w)
{
    for (uint32_t id = 1; id <= source_count(w->cx->sources); id++) {
        const struct source *source = source_get(w->cx->sources, id);
        struct container_source record = {.name = add_string(w, portable_name(w, source))};
        if (w->cx->options.debug_mode && is_named(w, id)) {
            record.text_offset_bytes = w->sections[CONTAINER_SOURCE_TEXTS].count;
            record.text_bytes = source->size_bytes;
            section_append(w, CONTAINER_SOURCE_TEXTS, source->bytes, source->size_bytes);
        }
        APPEND(w, CONTAINER_SOURCES, record);
    }
}

static void source_place(const struct writer *w, struct span span, uint32_t *source, uint32_t *line)
{
    uint32_t column;
    span = source_origin(w->cx->sources, span);
    *source = CONTAINER_NONE;
    *line = 0;
    if (span.source == 0 || span.source > source_count(w->cx->sources)) return;
    *source = span.source - 1;
    source_locate(source_get(w->cx->sources, span.source), span.begin, line, &column);
}

/* The flags that depend on bodies. */
static uint32_t body_flags(const struct compile *cx, const struct graph_node *node)
{
    uint32_t flags = compose_may_fault(cx, node->kernel) ? CONTAINER_NODE_FAULTS : 0;
    for (uint32_t i = 0; i < node->kernel->out_count; i++) {
        if (node->kernel->out[i].indexed && !written_wholly(cx->arena, node->kernel, i))
            flags |= CONTAINER_NODE_INDEXED;
    }
    return flags;
}

static void write_ends(struct writer *w, const struct container_node *record,
                       const struct graph_node *node)
{
    for (uint32_t i = 0; i < node->inputs.count; i++) {
        struct container_input input = w->tables.inputs[record->first_input + i];
        input.port = add_string(w, node->inputs.items[i].port);
        APPEND(w, CONTAINER_INPUTS, input);
    }
    for (uint32_t i = 0; i < node->outputs.count; i++) {
        struct container_output output = w->tables.outputs[record->first_output + i];
        output.port = add_string(w, node->outputs.items[i].port);
        APPEND(w, CONTAINER_OUTPUTS, output);
    }
}

static void write_node(struct writer *w, size_t index)
{
    const struct graph_node *node = &w->graph->nodes.items[index];
    const struct kernel *kernel = node->kernel;
    struct container_node record = w->tables.nodes[index];
    record.kernel = w->image->node_kernel[index];
    record.flags |= body_flags(w->cx, node);
    if (!graph_is_written_node(w->graph, (uint32_t)index)) record.flags |= CONTAINER_NODE_FUSED;
    record.arguments_bytes = kernel->arguments_bytes;
    record.tables_bytes = kernel->tables_bytes;
    record.state_bytes = kernel->state_bytes;
    record.name = add_string(w, node->name);
    record.kernel_title = add_string(w, kernel->title);
    source_place(w, node->span, &record.source, &record.line);
    APPEND(w, CONTAINER_NODES, record);
    write_ends(w, &record, node);
}

/* ---- buffers ---- */

struct uniform {
    enum scalar_type scalar;
    bool any, mixed;
};

static void see_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct uniform *seen = data;
    (void)offset_bytes;
    seen->mixed |= seen->any && scalar != seen->scalar;
    seen->scalar = scalar;
    seen->any = true;
}

/* The scalars that make up a packet: bytes if its scalars differ or do not fill it. */
static enum scalar_type element_scalar(const struct type *type)
{
    struct uniform seen = {0};
    const struct type *base = type_base(type);
    type_each_scalar(base, see_scalar, &seen);
    return seen.mixed || base->has_padding ? SCALAR_U8 : seen.scalar;
}

/* ---- fields ---- */

enum { FIELDS_MAX = 4096 };

/* Is the type made of scalars only, so that one record describes it? */
static bool is_plain_data(const struct type *type)
{
    while (type->kind == TYPE_ARRAY)
        type = type->element;
    return type->kind != TYPE_STRUCT;
}

/* The lengths of a type without structs, outermost first: "7, 7"; "": a scalar. */
static const char *container_shape(struct writer *w, const struct type *type)
{
    const char *shape = "";
    for (; type_is_indexed(type); type = type->element)
        shape = arena_printf(w->scratch, "%s%s%llu", shape, shape[0] != '\0' ? ", " : "",
                             (unsigned long long)type->length);
    return shape;
}

/* Of the vectors that its scalars make; 1: they make none. */
static uint32_t lanes_of(const struct type *type)
{
    while (type->kind == TYPE_ARRAY)
        type = type->element;
    return type->kind == TYPE_VECTOR ? (uint32_t)type->length : 1;
}

static void write_plain_field(struct writer *w, const struct type *type, const char *name,
                              uint64_t offset_bytes)
{
    struct container_field record = {.offset_bytes = offset_bytes,
                                     .count = type_scalar_count(type),
                                     .lanes = lanes_of(type),
                                     .scalar = type_base(type)->scalar};
    record.name = add_string(w, name);
    record.shape = add_string(w, container_shape(w, type));
    APPEND(w, CONTAINER_FIELDS, record);
}

/* False after FIELDS_MAX. */
static bool write_fields(struct writer *w, const struct type *type, const char *name,
                         uint64_t offset_bytes, uint32_t *count)
{
    if (is_plain_data(type)) {
        if (++*count > FIELDS_MAX) return false;
        write_plain_field(w, type, name, offset_bytes);
        return true;
    }
    bool good = true;
    for (uint64_t i = 0; type->kind == TYPE_ARRAY && i < type->length && good; i++)
        good = write_fields(w, type->element,
                            arena_printf(w->scratch, "%s[%llu]", name, (unsigned long long)i),
                            offset_bytes + i * type->element->width_bytes, count);
    for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->field_count && good; i++) {
        const struct type_field *field = &type->fields[i];
        const char *dot = name[0] != '\0' ? "." : "";
        good =
            write_fields(w, field->type, arena_printf(w->scratch, "%s%s%s", name, dot, field->name),
                         offset_bytes + field->offset_bytes, count);
    }
    return good;
}

static void write_packet_fields(struct writer *w, const struct graph_buffer *buffer,
                                struct container_buffer *record)
{
    if (buffer->outer == GRAPH_INNER) return;
    record->first_field =
        checked_u32(w, w->sections[CONTAINER_FIELDS].count / sizeof(struct container_field));
    if (write_fields(w, buffer->type, "", 0, &record->field_count)) return;
    diag_report(w->cx->diags, RULE_TOO_LARGE, buffer->span,
                "a packet of the pipeline's port '%s' has more than %d fields", buffer->name,
                FIELDS_MAX);
}

struct packet_bytes {
    unsigned char *bytes;
    const struct scalar_value *next;
};

static void write_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct packet_bytes *packet = data;
    uint64_t bits = stored_bits(*packet->next++);
    memcpy(packet->bytes + offset_bytes, &bits, scalar_width_bytes(scalar));
}

/* ---- arguments ---- */

/* The number of the in-port of that name. */
static uint32_t property_buffer(const struct writer *w, const struct graph_argument *argument)
{
    uint32_t i = 0;
    if (argument->property == PROPERTY_NONE) return CONTAINER_NONE;
    while (w->graph->buffers.items[i].outer != GRAPH_OUTER_IN ||
           strcmp(w->graph->buffers.items[i].name, argument->port) != 0)
        i++;
    return i;
}

static void write_argument(struct writer *w, const struct graph_argument *argument,
                           unsigned char *block)
{
    const struct variable *variable = argument->variable;
    const struct type *type = variable->type;
    struct container_argument record = {.scalar = type_base(type)->scalar,
                                        .lanes = lanes_of(type),
                                        .has_default = argument->has_default,
                                        .property = argument->property,
                                        .buffer = property_buffer(w, argument),
                                        .count = type_scalar_count(type),
                                        .offset_bytes = variable->offset_bytes};
    record.name = add_string(w, variable->name);
    record.type_text = add_string(w, type_text(w->scratch, type));
    record.shape = add_string(w, container_shape(w, type));
    APPEND(w, CONTAINER_ARGUMENTS, record);
    if (!argument->has_default) return;
    struct packet_bytes to = {.bytes = block + variable->offset_bytes, .next = argument->values};
    type_each_scalar(type, write_scalar, &to);
}

static void write_arguments(struct writer *w)
{
    uint64_t bytes = pipeline_arguments_bytes(w->graph);
    unsigned char *block = ARENA_ARRAY(w->scratch, unsigned char, (size_t)bytes + 1);
    for (size_t i = 0; i < w->graph->arguments.count; i++)
        write_argument(w, &w->graph->arguments.items[i], block);
    section_append(w, CONTAINER_DEFAULTS, block, (size_t)bytes);
}

/* ---- buffers ---- */

/* Appends the initial packets; returns their size in bytes: whole packets, fewer than all of
 * them if they repeat. */
static uint64_t write_initials(struct writer *w, const struct graph_buffer *buffer)
{
    const struct graph_initial *initial = &buffer->initial;
    const struct type *type = buffer->type;
    if (initial->packets == 0 || initial->value_count == 0) return 0;
    uint64_t packets = initial->value_count / type_scalar_count(type);
    struct packet_bytes packet = {.bytes =
                                      ARENA_ARRAY(w->scratch, unsigned char, type->width_bytes),
                                  .next = initial->values};
    for (uint64_t i = 0; i < packets; i++) {
        type_each_scalar(type, write_scalar, &packet);
        section_append(w, CONTAINER_INITIALS, packet.bytes, type->width_bytes);
    }
    return packets * type->width_bytes;
}

static void write_buffer(struct writer *w, size_t index)
{
    const struct graph_buffer *buffer = &w->graph->buffers.items[index];
    struct container_buffer record = w->tables.buffers[index];
    record.scalar = element_scalar(buffer->type);
    record.initial_offset_bytes = w->sections[CONTAINER_INITIALS].count;
    record.type = debug_type_index(&w->debug, buffer->type);
    record.place = places_add(w->image->places, buffer->span);
    record.name = add_string(w, buffer->name);
    record.type_text = add_string(w, type_text(w->scratch, buffer->type));
    record.initial_size_bytes = write_initials(w, buffer);
    write_packet_fields(w, buffer, &record);
    APPEND(w, CONTAINER_BUFFERS, record);
}

/* ---- plan, program, image ---- */

/* Writes the step and the first warp, so that the generator needs no division. */
static void write_index(struct writer *w, uint32_t kernel_id, const struct plan_index *index)
{
    const uint32_t *d = index->extents;
    const struct index_format format = index_format_of(d);
    struct container_index record = {
        .kernel = kernel_id,
        .extents = {d[0], d[1], d[2]},
        .register_bits = index->register_bits,
        .address_bytes = index->address_bytes,
        .step = {index->step[0], index->step[1], index->step[2]},
        .first_warp = checked_u32(w, w->sections[CONTAINER_FIRST_WARPS].count / sizeof(uint32_t)),
        .flags = index->dedicated ? CONTAINER_INDEX_DEDICATED : 0,
    };
    APPEND(w, CONTAINER_INDICES, record);
    for (uint32_t n = 0; n < index->items && n < w->plan->device->lanes; n++) {
        uint32_t packed = index_pack(&format, n % d[0], n / d[0] % d[1], n / d[0] / d[1]);
        APPEND(w, CONTAINER_FIRST_WARPS, packed);
    }
}

/* In order of the image's numbers, which ascend by first use of the nodes. */
static void write_indices(struct writer *w)
{
    uint32_t next = 0;
    for (size_t i = 0; i < w->graph->nodes.count; i++) {
        const struct kernel *kernel = w->graph->nodes.items[i].kernel;
        uint32_t id = w->image->node_kernel[i];
        if (id < next) continue;
        next = id + 1;
        const struct plan_index *index = plan_find_index(w->plan, kernel);
        if (index != NULL) write_index(w, id, index);
    }
}

static void write_program(struct writer *w)
{
    const struct sched_program *program = w->program;
    for (uint32_t i = 0; i < program->set_count; i++) {
        const struct sched_set *set = &program->sets[i];
        APPEND(w, CONTAINER_SETS, set->count);
        section_append(w, CONTAINER_SETS, set->stages, set->count * sizeof *set->stages);
    }
    section_append(w, CONTAINER_PROGRAM, program->code, program->code_bytes);
    section_append(w, CONTAINER_CERTIFICATE, w->graph->certificate,
                   w->graph->certificate_words * sizeof *w->graph->certificate);
}

/* Each image is aligned as a section is. */
static void write_images(struct writer *w)
{
    static const unsigned char zeros[CONTAINER_ALIGNMENT];
    for (uint32_t i = 0; i < w->image->object_count; i++) {
        const struct kernel_object *object = &w->image->objects[i];
        struct container_image record = {
            .kind = object->kind, .features = object->features, .size_bytes = object->size_bytes};
        size_t used = w->sections[CONTAINER_IMAGE].count;
        section_append(w, CONTAINER_IMAGE, zeros,
                       (size_t)(align_up(used, CONTAINER_ALIGNMENT) - used));
        record.offset_bytes = w->sections[CONTAINER_IMAGE].count;
        record.isa = add_string(w, object->isa);
        APPEND(w, CONTAINER_IMAGES, record);
        section_append(w, CONTAINER_IMAGE, object->bytes, object->size_bytes);
    }
}

/* The child's block of arguments, zero where there is no default. */
static void write_child_defaults(struct writer *w, const struct kernel *child)
{
    unsigned char *block =
        ARENA_ARRAY(w->scratch, unsigned char, (size_t)child->arguments_bytes + 1);
    for (uint32_t i = 0; i < child->argument_count; i++) {
        const struct kx *value = child->argument_defaults[i];
        const struct variable *argument = child->arguments[i];
        if (value == NULL) continue;
        struct packet_bytes to = {.bytes = block + argument->offset_bytes,
                                  .next = value->kind == KX_CONSTANT ? &value->value
                                                                     : value->variable->constant};
        type_each_scalar(argument->type, write_scalar, &to);
    }
    section_append(w, CONTAINER_DEFAULTS, block, (size_t)child->arguments_bytes);
}

static void write_launches(struct writer *w)
{
    const struct graph *graph = w->graph;
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++)
        write_child_defaults(w, graph->kernels.items[i]);
    struct launch_tables tables =
        launch_tables_build(w->cx, w->scratch, w->graph, w->plan, w->image);
    for (size_t i = 0; i < tables.interfaces.count; i++)
        tables.interfaces.items[i].title = add_string(w, tables.titles.items[i]);
    section_append(w, CONTAINER_INTERFACES, tables.interfaces.items,
                   tables.interfaces.count * sizeof *tables.interfaces.items);
    section_append(w, CONTAINER_INTERFACE_PORTS, tables.ports.items,
                   tables.ports.count * sizeof *tables.ports.items);
    section_append(w, CONTAINER_LAUNCHES, tables.launches.items,
                   tables.launches.count * sizeof *tables.launches.items);
    (void)checked_u32(w, tables.ports.count);
    (void)checked_u32(w, tables.launches.count);
}

/* ---- debug information ---- */

#define WRITE_TABLE(w, kind, table, names, field)                                                  \
    do {                                                                                           \
        for (size_t n = 0; n < (table).count; n++)                                                 \
            (table).items[n].field = add_string((w), (names).items[n]);                            \
        (void)checked_u32((w), (table).count);                                                     \
        section_append((w), (kind), (table).items, (table).count * sizeof *(table).items);         \
    } while (0)

static void write_debug(struct writer *w)
{
    struct debug_tables *t = &w->debug;
    const struct place_table *places = w->image->places;
    WRITE_TABLE(w, CONTAINER_TYPES, t->types, t->type_names, name);
    WRITE_TABLE(w, CONTAINER_MEMBERS, t->members, t->member_names, name);
    WRITE_TABLE(w, CONTAINER_KERNELS, t->kernels, t->kernel_titles, title);
    WRITE_TABLE(w, CONTAINER_KERNEL_PORTS, t->ports, t->port_names, name);
    WRITE_TABLE(w, CONTAINER_VARIABLES, t->variables, t->variable_names, name);
    section_append(w, CONTAINER_PLACES, places->items.items,
                   places->items.count * sizeof *places->items.items);
    (void)checked_u32(w, places->items.count);
}

/* ---- foreign code ---- */

static void write_foreign(struct writer *w)
{
    uint32_t next = 0; /* numbers of nodes' kernels ascend in order of first use */
    for (size_t i = 0; i < w->graph->nodes.count; i++) {
        const struct kernel *kernel = w->graph->nodes.items[i].kernel;
        uint32_t id = w->image->node_kernel[i];
        if (id < next) continue;
        next = id + 1;
        if (kernel->foreign == NULL) continue;
        struct container_foreign record = {
            .kernel = id, .flags = kernel->foreign->pure ? CONTAINER_FOREIGN_PURE : 0};
        record.name = add_string(w, kernel->name);
        record.signature = add_string(w, kernel->foreign->signature);
        APPEND(w, CONTAINER_FOREIGN, record);
    }
    const struct foreign_files *files = w->cx->foreign;
    for (size_t i = 0; files != NULL && i < files->items.count; i++) {
        const char *soname = files->items.items[i].soname;
        if (soname == NULL) continue;
        struct container_library record = {.name = add_string(w, soname)};
        APPEND(w, CONTAINER_LIBRARIES, record);
    }
}

/* ---- fused nodes ---- */

static void write_fused(struct writer *w)
{
    struct fused_tables t = fused_tables_build(w->scratch, w->graph, &w->tables);
    WRITE_TABLE(w, CONTAINER_FUSED_NODES, t.nodes, t.node_names, name);
    section_append(w, CONTAINER_FUSED_INPUTS, t.inputs.items,
                   t.inputs.count * sizeof *t.inputs.items);
    (void)checked_u32(w, t.inputs.count);
    WRITE_TABLE(w, CONTAINER_FUSED_BUFFERS, t.buffers, t.buffer_names, name);
}

/* ---- the file ---- */

static const uint32_t section_kinds[] = {
#define SECTION(enumerator, number, name, type, single) number,
    CONTAINER_SECTIONS(SECTION)
#undef SECTION
};
enum { SECTION_COUNT = sizeof section_kinds / sizeof section_kinds[0] };

/* The file ends with the last byte of the last section. */
static struct container_bytes assemble_file(struct writer *w)
{
    struct container_section table[SECTION_COUNT] = {0};
    uint64_t at = sizeof(struct container_header) + sizeof table;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        uint64_t size = w->sections[section_kinds[i]].count;
        at = align_up(at, CONTAINER_ALIGNMENT);
        table[i] = (struct container_section){section_kinds[i], 0, at, size};
        at += size;
    }
    unsigned char *file = arena_alloc(w->cx->arena, at);
    struct container_header header = {
        .version = CONTAINER_VERSION, .section_count = SECTION_COUNT, .file_bytes = at};
    memcpy(header.magic, CONTAINER_MAGIC, sizeof header.magic);
    memcpy(file + sizeof header, table, sizeof table);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        byte_vec *section = &w->sections[section_kinds[i]];
        if (section->count > 0)
            memcpy(file + table[i].offset_bytes, section->items, section->count);
    }
    size_t covered = offsetof(struct container_header, reserved);
    header.checksum = XXH64(file + covered, at - covered, 0);
    memcpy(file, &header, sizeof header);
    return (struct container_bytes){file, at};
}

struct container_bytes container_build(struct compile *cx, const struct graph *graph,
                                       const struct plan *plan, const struct sched_program *program,
                                       const struct kernel_image *image)
{
    struct writer w = {.cx = cx,
                       .scratch = arena_create(),
                       .graph = graph,
                       .plan = plan,
                       .program = program,
                       .image = image};
    section_append(&w, CONTAINER_STRINGS, "", 1);
    write_pipeline(&w);
    write_device(&w);
    write_arguments(&w);
    bool filled = plan_tables_fill(w.scratch, graph, plan, program, &w.tables);
    if (!filled) (void)checked_u32(&w, CONTAINER_NONE); /* reports it */
    for (size_t i = 0; filled && i < graph->nodes.count; i++)
        write_node(&w, i);
    debug_tables_build(cx, w.scratch, graph, image, &w.debug);
    for (size_t i = 0; filled && i < graph->buffers.count; i++)
        write_buffer(&w, i);
    write_sources(&w);
    write_tables(&w);
    write_indices(&w);
    write_launches(&w);
    write_debug(&w);
    write_program(&w);
    write_foreign(&w);
    if (filled) write_fused(&w);
    write_images(&w);
    struct container_bytes file = assemble_file(&w);
    arena_destroy(w.scratch);
    return file;
}
