/* SPDX-License-Identifier: MIT */
/*
 * inspect_container: reads a container in the compiler, only to show it.  Every size, offset, index and
 * string is checked.  The result is a copy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "compiler/ir/ratio.h"
#include "compiler/describe/inspection.h"
#include "lang/container.h"
#include "lang/cpu_features.h"
#include "lang/index_format.h"
#include "lang/scalar_text.h"
#include "lang/window.h"

struct section {
    const char *bytes;
    uint64_t size_bytes;
};

struct container {
    struct arena *arena;
    struct section sections[CONTAINER_MAX_SECTIONS + 1]; /* by kind */
    const char *problem;
    uint64_t launches_read; /* and interfaces, over all nodes */
};

bool is_container(const char *bytes, size_t size_bytes)
{
    return size_bytes >= 8 && memcmp(bytes, CONTAINER_MAGIC, 8) == 0;
}

static bool fail_reading(struct container *c, const char *problem)
{
    if (c->problem == NULL) c->problem = problem;
    return false;
}

/* ---- sections ---- */

static bool read_container_header(struct container *c, const char *bytes, size_t size_bytes,
                                  struct container_header *header)
{
    size_t summed = offsetof(struct container_header, reserved);
    if (size_bytes < sizeof *header) return fail_reading(c, "it ends inside its header");
    memcpy(header, bytes, sizeof *header);
    if (header->version != CONTAINER_VERSION)
        return fail_reading(c, arena_printf(c->arena, "it has version %" PRIu32 ", not %u",
                                            header->version, CONTAINER_VERSION));
    if (header->file_bytes != size_bytes)
        return fail_reading(c, "its length is not the recorded one");
    if (XXH64(bytes + summed, size_bytes - summed, 0) != header->checksum)
        return fail_reading(c, "its checksum is wrong: it is damaged");
    if (header->section_count > CONTAINER_MAX_SECTIONS)
        return fail_reading(c, "it has too many sections");
    return true;
}

static bool read_sections(struct container *c, const char *bytes, size_t size_bytes)
{
    struct container_header header;
    if (!read_container_header(c, bytes, size_bytes, &header)) return false;
    uint64_t table = sizeof header;
    if (header.section_count > (size_bytes - table) / sizeof(struct container_section))
        return fail_reading(c, "it ends inside its table of sections");
    for (uint32_t i = 0; i < header.section_count; i++) {
        struct container_section section;
        memcpy(&section, bytes + table + i * sizeof section, sizeof section);
        if (section.offset_bytes > size_bytes ||
            section.size_bytes > size_bytes - section.offset_bytes)
            return fail_reading(c, "a section lies outside of the file");
        if (section.kind == 0 || section.kind > CONTAINER_MAX_SECTIONS)
            return fail_reading(c, "it has a section of no known kind");
        c->sections[section.kind] =
            (struct section){bytes + section.offset_bytes, section.size_bytes};
    }
    const struct section *strings = &c->sections[CONTAINER_STRINGS];
    if (strings->size_bytes == 0 || strings->bytes[strings->size_bytes - 1] != '\0')
        return fail_reading(c, "its strings do not end");
    return true;
}

static uint64_t container_record_count(const struct container *c, enum container_section_kind kind,
                                       size_t record_bytes)
{
    return c->sections[kind].size_bytes / record_bytes;
}

/* Copies record `index`; false if it does not exist. */
static bool read_record(struct container *c, enum container_section_kind kind, uint64_t index,
                        void *record, size_t record_bytes)
{
    if (index >= container_record_count(c, kind, record_bytes))
        return fail_reading(c, "it names a record that it does not have");
    memcpy(record, c->sections[kind].bytes + index * record_bytes, record_bytes);
    return true;
}

/* A byte that a terminal could take as a command becomes `?`. */
static const char *read_string(struct container *c, container_string offset)
{
    const struct section *strings = &c->sections[CONTAINER_STRINGS];
    if (offset >= strings->size_bytes) {
        fail_reading(c, "it names a string that it does not have");
        return "";
    }
    const char *from = strings->bytes + offset;
    char *text = arena_string(c->arena, from, strlen(from));
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7E) *at = '?';
    return text;
}

/* `count` rates from `first` on; NULL if the end has one phase. */
static const uint64_t *read_rates(struct container *c, uint32_t first, uint64_t skip,
                                  uint32_t count)
{
    if (first == CONTAINER_NONE) return NULL;
    uint64_t begin = first + skip,
             all = container_record_count(c, CONTAINER_RATES, sizeof(uint64_t));
    if (begin > all || count > all - begin) {
        fail_reading(c, "it names rates that it does not have");
        return NULL;
    }
    return arena_copy(c->arena, c->sections[CONTAINER_RATES].bytes + begin * sizeof(uint64_t),
                      (size_t)count * sizeof(uint64_t));
}

/* ---- nodes ---- */

static bool check_record_range(struct container *c, enum container_section_kind kind,
                               size_t record_bytes, uint32_t first, uint32_t count)
{
    uint64_t all = container_record_count(c, kind, record_bytes);
    return (first <= all && count <= all - first) ||
           fail_reading(c, "it names records that it does not have");
}

static void read_input(struct container *c, uint32_t index, uint32_t phases,
                       struct inspected_end *to)
{
    struct container_input input = {0};
    if (!read_record(c, CONTAINER_INPUTS, index, &input, sizeof input)) return;
    *to = (struct inspected_end){.port = read_string(c, input.port),
                                 .buffer = input.buffer,
                                 .low = input.pop,
                                 .high = input.peek,
                                 .lows = read_rates(c, input.rates, 0, phases),
                                 .highs = read_rates(c, input.rates, phases, phases)};
}

static void read_output(struct container *c, uint32_t index, uint32_t phases,
                        struct inspected_end *to)
{
    struct container_output output = {0};
    if (!read_record(c, CONTAINER_OUTPUTS, index, &output, sizeof output)) return;
    *to = (struct inspected_end){.port = read_string(c, output.port),
                                 .buffer = output.buffer,
                                 .low = output.push_least,
                                 .high = output.push,
                                 .bundle = output.bundle,
                                 .share = output.share,
                                 .lows = read_rates(c, output.rates, 0, phases),
                                 .highs = read_rates(c, output.rates, phases, phases)};
}

/* Finds the record of a kernel with work-items; false: it has none. */
static bool find_index(struct container *c, uint32_t kernel, struct container_index *record)
{
    uint64_t first = 0, end = container_record_count(c, CONTAINER_INDICES, sizeof *record);
    *record = (struct container_index){0};
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (!read_record(c, CONTAINER_INDICES, middle, record, sizeof *record)) return false;
        if (record->kernel == kernel) return true;
        if (record->kernel < kernel)
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

/* Inconsistent records are shown as they are. */
static const struct plan_index *read_container_index(struct container *c, uint32_t kernel)
{
    struct container_index record;
    if (!find_index(c, kernel, &record)) return NULL;
    struct plan_index *to = ARENA_NEW(c->arena, struct plan_index);
    *to = (struct plan_index){.register_bits = record.register_bits,
                              .address_bytes = record.address_bytes,
                              .dedicated = (record.flags & CONTAINER_INDEX_DEDICATED) != 0};
    memcpy(to->extents, record.extents, sizeof to->extents);
    memcpy(to->step, record.step, sizeof to->step);
    to->bits = index_format_of(record.extents).total_bits;
    to->items = record.extents[0] * record.extents[1] * record.extents[2];
    to->bytes = (uint64_t)to->items * (record.register_bits / 8);
    return to;
}

/* ---- launches ---- */

enum { LAUNCHES_MAX = 1 << 22 };

/* The kernels that the interface launches, each once. */
static void read_children(struct container *c, const struct container_interface *f,
                          struct inspected_node *to)
{
    VEC(const char *) children = {0};
    uint32_t last = CONTAINER_NONE;
    for (uint64_t i = 0; i < f->launch_count && c->problem == NULL; i++) {
        struct container_launch launch = {0};
        struct container_interface child = {0};
        if (++c->launches_read > LAUNCHES_MAX)
            fail_reading(c, "it has more launches than can be shown");
        else if (read_record(c, CONTAINER_LAUNCHES, f->first_launch + i, &launch, sizeof launch) &&
                 launch.child != last &&
                 read_record(c, CONTAINER_INTERFACES, launch.child, &child, sizeof child)) {
            const char *title = read_string(c, child.title);
            bool known = false;
            for (size_t k = 0; k < children.count && !known; k++)
                known = strcmp(children.items[k], title) == 0;
            c->launches_read += children.count;
            if (!known) vec_push(c->arena, &children, title);
            last = launch.child;
        }
    }
    to->children = children.items;
    to->child_count = (uint32_t)children.count;
}

/* Reads the launches of the node, if it has any. */
static void read_launches(struct container *c, uint32_t node, struct inspected_node *to)
{
    struct container_interface f;
    uint64_t count = container_record_count(c, CONTAINER_INTERFACES, sizeof f);
    for (uint64_t i = 0; i < count && c->problem == NULL; i++) {
        if (++c->launches_read > LAUNCHES_MAX)
            fail_reading(c, "it has more kernels than can be shown");
        if (!read_record(c, CONTAINER_INTERFACES, i, &f, sizeof f) || f.node != node) continue;
        to->launches = f.launches;
        to->nesting = f.nesting;
        to->tree_launches = f.tree;
        to->queue_entries = f.queue_entries;
        read_children(c, &f, to);
        return;
    }
}

/* Whether the kernel is foreign code, as in struct inspected_node. */
static const char *read_foreign(struct container *c, uint32_t kernel)
{
    struct container_foreign foreign;
    uint64_t count = container_record_count(c, CONTAINER_FOREIGN, sizeof foreign);
    for (uint64_t i = 0; i < count; i++)
        if (read_record(c, CONTAINER_FOREIGN, i, &foreign, sizeof foreign) &&
            foreign.kernel == kernel)
            return (foreign.flags & CONTAINER_FOREIGN_PURE) != 0 ? "pure" : "impure";
    return NULL;
}

static void read_node(struct container *c, uint32_t index, struct inspected_node *to)
{
    struct container_node node;
    if (!read_record(c, CONTAINER_NODES, index, &node, sizeof node)) return;
    *to = (struct inspected_node){.name = read_string(c, node.name),
                                  .kernel = read_string(c, node.kernel_title),
                                  .phases = node.phases,
                                  .repetitions = node.repetitions,
                                  .importance = node.importance,
                                  .stateful = (node.flags & CONTAINER_NODE_STATEFUL) != 0,
                                  .cost_cycles = node.cost_cycles,
                                  .warp = {.counted = (node.flags & CONTAINER_NODE_COUNTED) != 0,
                                           .cycles = node.warp_cycles,
                                           .finish_cycles = node.finish_cycles,
                                           .firings = node.warp_firings,
                                           .pieces = node.firing_warps},
                                  .registers = node.registers};
    to->foreign = read_foreign(c, node.kernel);
    uint32_t unit = (node.flags & CONTAINER_NODE_UNIT_MASK) / CONTAINER_NODE_UNIT_ONE;
    if (unit > 0 && unit <= DEVDESC_UNITS)
        to->unit = devdesc_unit_name((enum devdesc_unit_kind)(unit - 1));
    struct container_index items;
    bool grouped = find_index(c, node.kernel, &items);
    for (int d = 0; d < 3; d++)
        to->group[d] = grouped ? items.extents[d] : 1;
    struct container_source source = {0};
    if (node.source != CONTAINER_NONE &&
        read_record(c, CONTAINER_SOURCES, node.source, &source, sizeof source)) {
        to->file = read_string(c, source.name);
        to->line = node.line;
    }
    if (node.flags & CONTAINER_NODE_LAUNCHES) {
        to->warp.firings = 1;
        read_launches(c, index, to);
    }
    if (!check_record_range(c, CONTAINER_INPUTS, sizeof(struct container_input), node.first_input,
                            node.input_count) ||
        !check_record_range(c, CONTAINER_OUTPUTS, sizeof(struct container_output),
                            node.first_output, node.output_count))
        return;
    to->input_count = node.input_count;
    to->output_count = node.output_count;
    to->inputs = ARENA_ARRAY(c->arena, struct inspected_end, (size_t)node.input_count + 1);
    to->outputs = ARENA_ARRAY(c->arena, struct inspected_end, (size_t)node.output_count + 1);
    for (uint32_t i = 0; i < node.input_count && c->problem == NULL; i++)
        read_input(c, node.first_input + i, node.phases, &to->inputs[i]);
    for (uint32_t i = 0; i < node.output_count && c->problem == NULL; i++)
        read_output(c, node.first_output + i, node.phases, &to->outputs[i]);
}

/* The nodes of the program that the nodes execute. */
static void read_fused_nodes(struct container *c, struct inspection *to)
{
    struct container_fused_node record;
    uint64_t count = container_record_count(c, CONTAINER_FUSED_NODES, sizeof record);
    for (uint64_t i = 0; i < count; i++) {
        if (!read_record(c, CONTAINER_FUSED_NODES, i, &record, sizeof record)) return;
        if (record.node >= to->node_count) {
            fail_reading(c, "it names a node that it does not have");
            return;
        }
        to->nodes[record.node].fused_count++;
    }
    for (uint32_t i = 0; i < to->node_count; i++) {
        struct inspected_node *node = &to->nodes[i];
        node->fused = ARENA_ARRAY(c->arena, struct inspected_fused, (size_t)node->fused_count + 1);
        node->fused_count = 0;
    }
    for (uint64_t i = 0; i < count && c->problem == NULL; i++) {
        if (!read_record(c, CONTAINER_FUSED_NODES, i, &record, sizeof record)) return;
        struct inspected_node *node = &to->nodes[record.node];
        node->fused[node->fused_count++] =
            (struct inspected_fused){read_string(c, record.name), record.firings};
    }
}

static bool ends_are_bounded(const struct inspected_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct inspected_end *end = &node->outputs[i];
        if (end->low != end->high) return true;
        for (uint32_t p = 0; end->lows != NULL && end->highs != NULL && p < node->phases; p++)
            if (end->lows[p] != end->highs[p]) return true;
    }
    return false;
}

/* ---- arguments ---- */

/* The scalar at `bytes`, sign-extended. */
static uint64_t scalar_bits_at(const char *bytes, enum scalar_type type)
{
    uint64_t bits = 0;
    size_t width = scalar_width_bytes(type);
    unsigned shift = 64 - 8 * (unsigned)width;
    memcpy(&bits, bytes, width);
    if (scalar_is_integer(type) && scalar_is_signed(type))
        bits = (uint64_t)((int64_t)(bits << shift) >> shift);
    return bits;
}

/* "1, 2, ..." */
static const char *read_default(struct container *c, const struct container_argument *argument)
{
    enum { VALUES_SHOWN = 8 };
    const struct section *defaults = &c->sections[CONTAINER_DEFAULTS];
    enum scalar_type type = (enum scalar_type)argument->scalar;
    const char *text = "";
    char value[64];
    if (argument->scalar >= SCALAR_COUNT || argument->offset_bytes > defaults->size_bytes ||
        argument->count >
            (defaults->size_bytes - argument->offset_bytes) / scalar_width_bytes(type)) {
        fail_reading(c, "it has a default that it does not have");
        return "";
    }
    const char *at = defaults->bytes + argument->offset_bytes;
    for (uint64_t i = 0; i < argument->count && i < VALUES_SHOWN; i++) {
        scalar_format(type, scalar_bits_at(at, type), value, sizeof value);
        text = arena_printf(c->arena, "%s%s%s", text, i > 0 ? ", " : "", value);
        at += scalar_width_bytes(type);
    }
    return argument->count > VALUES_SHOWN ? arena_printf(c->arena, "%s, ...", text) : text;
}

/* "x.rate" */
static const char *read_property(struct container *c, const struct container_argument *argument)
{
    struct container_buffer buffer;
    if (!read_record(c, CONTAINER_BUFFERS, argument->buffer, &buffer, sizeof buffer)) return "";
    if (argument->property >= PROPERTIES) {
        fail_reading(c, "it has a property of no known kind");
        return "";
    }
    return arena_printf(c->arena, "%s.%s", read_string(c, buffer.name),
                        graph_property_name((enum graph_property)argument->property));
}

static void read_arguments(struct container *c, struct inspection *to)
{
    struct container_argument record;
    to->argument_count = (uint32_t)container_record_count(c, CONTAINER_ARGUMENTS, sizeof record);
    to->arguments =
        ARENA_ARRAY(c->arena, struct inspected_argument, (size_t)to->argument_count + 1);
    for (uint32_t i = 0; i < to->argument_count && c->problem == NULL; i++) {
        if (!read_record(c, CONTAINER_ARGUMENTS, i, &record, sizeof record)) return;
        bool is_known = record.property != CONTAINER_PROPERTY_NONE;
        const char *value = record.has_default ? read_default(c, &record) : NULL;
        if (is_known && value != NULL)
            value = arena_printf(c->arena, "%s, else %s", read_property(c, &record), value);
        else if (is_known)
            value = read_property(c, &record);
        to->arguments[i] = (struct inspected_argument){read_string(c, record.name),
                                                       read_string(c, record.type_text), value};
    }
}

/* ---- buffers, stages ---- */

static void read_container_buffer(struct container *c, uint32_t index, struct inspected_buffer *to)
{
    struct container_buffer buffer;
    if (!read_record(c, CONTAINER_BUFFERS, index, &buffer, sizeof buffer)) return;
    *to = (struct inspected_buffer){.name = read_string(c, buffer.name),
                                    .type = read_string(c, buffer.type_text),
                                    .writer = buffer.writer_node,
                                    .width_bytes = buffer.width_bytes,
                                    .initial_packets = buffer.initial_packets,
                                    .depth_packets = buffer.depth_packets,
                                    .row_packets = buffer.row_packets,
                                    .frame_rows = buffer.frame_rows};
    if (buffer.outer > CONTAINER_OUTER_OUT) {
        fail_reading(c, "it has a buffer of no known kind");
        return;
    }
    to->outer = (enum graph_outer)buffer.outer;
    if (!check_record_range(c, CONTAINER_READERS, sizeof(struct container_reader),
                            buffer.first_reader, buffer.reader_count))
        return;
    to->readers = ARENA_ARRAY(c->arena, uint32_t, (size_t)buffer.reader_count + 1);
    for (uint32_t i = 0; i < buffer.reader_count && c->problem == NULL; i++) {
        struct container_reader reader;
        if (!read_record(c, CONTAINER_READERS, buffer.first_reader + i, &reader, sizeof reader))
            return;
        to->readers[to->reader_count++] = reader.node;
    }
}

enum { SCHEDULE_TEXT_MAX = 1 << 28, RUN_BYTES = 9 };

/* Every run in the plan may have the longest name. */
static bool is_printable(const struct inspected_plan *plan, uint64_t code_bytes)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < plan->stage_count; i++)
        longest = max64(longest, strlen(plan->stages[i].name));
    return code_bytes / RUN_BYTES <= SCHEDULE_TEXT_MAX / (longest + 1);
}

static const struct program_shape *read_container_program(struct container *c,
                                                          const struct inspected_plan *plan)
{
    const struct section *section = &c->sections[CONTAINER_PROGRAM];
    struct program_shape *shape = ARENA_NEW(c->arena, struct program_shape);
    if (section->size_bytes == 0)
        fail_reading(c, "it has no program of the scheduler");
    else if (!is_printable(plan, section->size_bytes))
        fail_reading(c, "its program of the scheduler is longer than can be shown");
    else if (!program_shape_read(c->arena, (const uint8_t *)section->bytes, section->size_bytes,
                                 plan->stage_count, shape))
        fail_reading(c, "its program of the scheduler is none");
    return shape;
}

static const struct inspected_plan *read_plan(struct container *c, const struct inspection *to)
{
    struct inspected_plan *plan = ARENA_NEW(c->arena, struct inspected_plan);
    struct container_device device;
    if (!read_record(c, CONTAINER_DEVICE, 0, &device, sizeof device)) return plan;
    plan->device = read_string(c, device.name);
    plan->cu_count = device.cu_count;
    plan->lanes = device.lanes;
    plan->stage_count =
        (uint32_t)container_record_count(c, CONTAINER_STAGES, sizeof(struct container_stage));
    plan->stages = ARENA_ARRAY(c->arena, struct inspected_stage, (size_t)plan->stage_count + 1);
    for (uint32_t i = 0; i < plan->stage_count && c->problem == NULL; i++) {
        struct container_stage stage;
        if (!read_record(c, CONTAINER_STAGES, i, &stage, sizeof stage)) break;
        if (stage.node >= to->node_count) {
            fail_reading(c, "it names a node that it does not have");
            break;
        }
        plan->stages[i] = (struct inspected_stage){
            .name = to->nodes[stage.node].name,
            .members = &to->nodes[stage.node].name,
            .member_count = 1,
            .kernel = to->nodes[stage.node].kernel,
            .threshold = stage.threshold,
            .batch_max = stage.batch_max,
            .entry = stage.entry == CONTAINER_NONE ? GRAPH_NONE : stage.entry,
            .pack = stage.pack,
            .place = stage.place,
            .spilled = (stage.flags & CONTAINER_STAGE_SPILLED) != 0};
        struct container_node node;
        if (read_record(c, CONTAINER_NODES, stage.node, &node, sizeof node))
            plan->stages[i].index = read_container_index(c, node.kernel);
    }
    if (c->problem == NULL) plan->program = read_container_program(c, plan);
    return plan;
}

static void check_container_ends(struct container *c, const struct inspected_end *ends,
                                 uint32_t count, uint32_t buffer_count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ends[i].buffer >= buffer_count)
            fail_reading(c, "it names a buffer that it does not have");
}

/* The packets that the input keeps as history: the container has the window, the buffer has the
 * shape. */
static uint64_t window_history(const struct container_input *input,
                               const struct inspected_buffer *buffer)
{
    struct window window = {input->window_width, input->window_height, input->border};
    struct window_shape shape = {buffer->row_packets, buffer->frame_rows};
    bool in_range = window.width % 2 == 1 && window.height % 2 == 1 &&
                    window.width <= WINDOW_MAX_SIDE && window.height <= WINDOW_MAX_SIDE &&
                    shape.row_packets > 0 && shape.row_packets <= WINDOW_MAX_FRAME &&
                    shape.frame_rows <= WINDOW_MAX_FRAME;
    return in_range ? window_reach(window, shape) : 0;
}

static void measure_windows(struct container *c, const struct inspection *to)
{
    for (uint32_t n = 0; n < to->node_count; n++) {
        struct container_node node;
        if (!read_record(c, CONTAINER_NODES, n, &node, sizeof node)) return;
        for (uint32_t i = 0; i < to->nodes[n].input_count; i++) {
            struct container_input input;
            struct inspected_end *end = &to->nodes[n].inputs[i];
            if (!read_record(c, CONTAINER_INPUTS, node.first_input + i, &input, sizeof input))
                return;
            end->history = window_history(&input, &to->buffers[end->buffer]);
        }
    }
}

static void read_images(struct container *c, struct inspection *to)
{
    enum { FEATURES_BYTES = 512 };
    char features[FEATURES_BYTES];
    to->image_count =
        (uint32_t)container_record_count(c, CONTAINER_IMAGES, sizeof(struct container_image));
    to->images = ARENA_ARRAY(c->arena, struct inspected_image, (size_t)to->image_count + 1);
    to->isa = "";
    for (uint32_t i = 0; i < to->image_count; i++) {
        struct container_image image;
        if (!read_record(c, CONTAINER_IMAGES, i, &image, sizeof image)) return;
        /* The needs of an image, in words. */
        size_t size = sizeof features;
        if (image.kind == CONTAINER_IMAGE_PTX)
            snprintf(features, size, "a GPU of compute capability %" PRIu64 ".%" PRIu64,
                     image.features / 10, image.features % 10);
        else
            cpu_features_text(image.features, features, size);
        to->images[i] = (struct inspected_image){
            .isa = read_string(c, image.isa),
            .features = arena_printf(c->arena, "%s", features),
            .size_bytes = image.size_bytes,
        };
        if (c->problem != NULL) return;
        to->isa = arena_printf(c->arena, "%s%s%s", to->isa, i > 0 ? "," : "", to->images[i].isa);
    }
}

static void read_libraries(struct container *c, struct inspection *to)
{
    struct container_library library;
    to->library_count = (uint32_t)container_record_count(c, CONTAINER_LIBRARIES, sizeof library);
    const char **names = ARENA_ARRAY(c->arena, const char *, (size_t)to->library_count + 1);
    for (uint32_t i = 0; i < to->library_count; i++) {
        if (!read_record(c, CONTAINER_LIBRARIES, i, &library, sizeof library)) return;
        names[i] = read_string(c, library.name);
    }
    to->libraries = names;
}

struct inspection *inspect_container(struct arena *arena, const char *bytes, size_t size_bytes,
                                     const char **problem)
{
    struct container *c = ARENA_NEW(arena, struct container);
    struct inspection *to = ARENA_NEW(arena, struct inspection);
    struct container_pipeline pipeline;
    c->arena = arena;
    if (read_sections(c, bytes, size_bytes) &&
        read_record(c, CONTAINER_PIPELINE, 0, &pipeline, sizeof pipeline)) {
        to->pipeline = read_string(c, pipeline.name);
        to->debug_mode = (pipeline.flags & CONTAINER_PIPELINE_DEBUG) != 0;
        to->compiler = read_string(c, pipeline.compiler);
        to->has_memory = true;
        to->memory_bytes = pipeline.memory_bytes;
        /* Only accepted graphs are written, unless the author accepted the finding. */
        to->consistent = KNOWN_TRUE;
        bool proven = (pipeline.flags & CONTAINER_PIPELINE_UNPROVEN) == 0;
        to->deadlock_free = proven ? KNOWN_TRUE : UNKNOWN;
        read_images(c, to);
        read_libraries(c, to);
        to->has_topology = true;
        to->node_count =
            (uint32_t)container_record_count(c, CONTAINER_NODES, sizeof(struct container_node));
        to->buffer_count =
            (uint32_t)container_record_count(c, CONTAINER_BUFFERS, sizeof(struct container_buffer));
        to->nodes = ARENA_ARRAY(c->arena, struct inspected_node, (size_t)to->node_count + 1);
        to->buffers = ARENA_ARRAY(c->arena, struct inspected_buffer, (size_t)to->buffer_count + 1);
        for (uint32_t i = 0; i < to->node_count && c->problem == NULL; i++) {
            read_node(c, i, &to->nodes[i]);
            to->rates_bounded |= ends_are_bounded(&to->nodes[i]);
            check_container_ends(c, to->nodes[i].inputs, to->nodes[i].input_count,
                                 to->buffer_count);
            check_container_ends(c, to->nodes[i].outputs, to->nodes[i].output_count,
                                 to->buffer_count);
        }
        if (c->problem == NULL) read_fused_nodes(c, to);
        for (uint32_t i = 0; i < to->buffer_count && c->problem == NULL; i++)
            read_container_buffer(c, i, &to->buffers[i]);
        if (c->problem == NULL) read_arguments(c, to);
        if (c->problem == NULL) to->plan = read_plan(c, to);
        if (c->problem == NULL) measure_windows(c, to);
        if (c->problem == NULL) to->performance = inspection_measure(c->arena, to);
    }
    *problem = c->problem;
    return c->problem == NULL ? to : NULL;
}
