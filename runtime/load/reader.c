/* SPDX-License-Identifier: MIT */
#include "runtime/load/reader.h"

#include "base/arithmetic.h"
#include "lang/devdesc.h"
#include "lang/dispatch.h"
#include "base/file_open.h"
#include "lang/index_format.h"
#include "lang/kernel_abi.h"
#include "lang/scalar.h"
#include "lang/sched_code.h"
#include "runtime/load/verify_rule.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "containers are little-endian");

enum { SECTION_KINDS = CONTAINER_IMAGE + 1 };

struct section_form {
    const char *name;
    size_t record_bytes;
    bool single;
};

static const struct section_form forms[SECTION_KINDS] = {
#define SECTION(enumerator, number, name, type, single) [number] = {name, sizeof(type), single},
    CONTAINER_SECTIONS(SECTION)
#undef SECTION
};

#define SECTION(enumerator, number, name, type, single) +1
enum { SECTION_COUNT = 0 CONTAINER_SECTIONS(SECTION) };
#undef SECTION

/* A read in progress. */
struct reading {
    struct prt_container *container;
    struct container_section sections[SECTION_KINDS];
    struct prt_error *error;
};

/* ---- messages ---- */

#define REFUSE(reading, offset, ...)                                                               \
    prt_error_set_at((reading)->error, PRT_E_FORMAT, (offset), __VA_ARGS__)

/* Refuses record `index` of a section. */
static enum prt_status refuse_record(const struct reading *reading,
                                     enum container_section_kind kind, uint64_t index,
                                     const char *what)
{
    const struct section_form *form = &forms[kind];
    uint64_t offset = reading->sections[kind].offset_bytes + index * form->record_bytes;
    return REFUSE(reading, offset, "container: section '%s', record %" PRIu64 ": %s", form->name,
                  index, what);
}

/* ---- header and section table ---- */

uint64_t prt_container_checksum(const void *bytes, size_t size)
{
    const size_t covered = offsetof(struct container_header, reserved);
    return XXH64((const uint8_t *)bytes + covered, size - covered, 0);
}

enum { MAGIC_BYTES = sizeof CONTAINER_MAGIC - 1 };

/* As far as there are bytes, which is one at least. */
static bool begins_as_container(const void *bytes, size_t size)
{
    size_t known = size < MAGIC_BYTES ? size : MAGIC_BYTES;
    return known > 0 && memcmp(bytes, CONTAINER_MAGIC, known) == 0;
}

static enum prt_status check_header(struct reading *reading, struct container_header *header)
{
    const struct prt_container *c = reading->container;
    if (PRT_BREAKS(!begins_as_container(c->bytes, c->size_bytes)))
        return REFUSE(reading, 0, "not a container: it does not begin with 'PIPEC'");
    if (PRT_BREAKS(c->size_bytes < sizeof *header))
        return prt_error_set_at(reading->error, PRT_E_TRUNCATED, c->size_bytes,
                                "container: ends inside the header");
    memcpy(header, c->bytes, sizeof *header);
    if (PRT_BREAKS(header->version != CONTAINER_VERSION))
        return prt_error_set_at(
            reading->error, PRT_E_VERSION, offsetof(struct container_header, version),
            "container: version %" PRIu32 " of the format, this runtime reads version %u",
            header->version, CONTAINER_VERSION);
    if (PRT_BREAKS(header->file_bytes > c->size_bytes))
        return prt_error_set_at(reading->error, PRT_E_TRUNCATED, c->size_bytes,
                                "container: ends after %zu of %" PRIu64 " bytes", c->size_bytes,
                                header->file_bytes);
    if (PRT_BREAKS(header->file_bytes < c->size_bytes))
        return REFUSE(reading, header->file_bytes, "container: bytes after its end");
    if (PRT_BREAKS(header->section_count != SECTION_COUNT))
        return REFUSE(reading, offsetof(struct container_header, section_count),
                      "container: %" PRIu32 " sections, expected %d", header->section_count,
                      SECTION_COUNT);
    if (PRT_BREAKS(header->checksum != prt_container_checksum(c->bytes, c->size_bytes)))
        return prt_error_set_at(reading->error, PRT_E_CHECKSUM,
                                offsetof(struct container_header, checksum),
                                "container: damaged: the checksum does not match");
    for (size_t i = 0; i < sizeof header->reserved / sizeof header->reserved[0]; i++) {
        if (PRT_BREAKS(header->reserved[i] != 0))
            return REFUSE(reading, offsetof(struct container_header, reserved),
                          "container: a reserved field of the header is not zero");
    }
    return PRT_OK;
}

static bool are_zero_bytes(const uint8_t *bytes, uint64_t from, uint64_t to)
{
    for (; from < to; from++) {
        if (bytes[from] != 0) return false;
    }
    return true;
}

/* One entry of the table: `end` is where the one before ended, and becomes the end of this one. */
static enum prt_status check_section_entry(struct reading *reading, uint32_t kind, uint64_t at,
                                           uint64_t *end)
{
    const struct prt_container *c = reading->container;
    const struct section_form *form = &forms[kind];
    struct container_section section;
    memcpy(&section, c->bytes + at, sizeof section);
    if (PRT_BREAKS(section.kind != kind || section.reserved != 0))
        return REFUSE(reading, at, "container: section table: expected section %" PRIu32 " ('%s')",
                      kind, form->name);
    uint64_t begin = align_up(*end, CONTAINER_ALIGNMENT);
    if (PRT_BREAKS(section.offset_bytes != begin || begin > c->size_bytes ||
                   section.size_bytes > c->size_bytes - begin))
        return REFUSE(reading, at, "container: section '%s' lies where it must not", form->name);
    if (PRT_BREAKS(!are_zero_bytes(c->bytes, *end, begin)))
        return REFUSE(reading, *end, "container: the bytes before section '%s' are not zero",
                      form->name);
    if (PRT_BREAKS(section.size_bytes % form->record_bytes != 0 ||
                   (form->single && section.size_bytes != form->record_bytes)))
        return REFUSE(reading, at,
                      "container: section '%s' has %" PRIu64 " bytes: not whole records",
                      form->name, section.size_bytes);
    /* No file is larger than 4 GiB, and header and table are a part of it. */
    assert(section.size_bytes / form->record_bytes < CONTAINER_NONE);
    reading->sections[kind] = section;
    *end = begin + section.size_bytes;
    return PRT_OK;
}

static enum prt_status check_sections(struct reading *reading)
{
    uint64_t at = sizeof(struct container_header);
    uint64_t end = at + SECTION_COUNT * sizeof(struct container_section);
    if (PRT_BREAKS(end > reading->container->size_bytes))
        return prt_error_set_at(reading->error, PRT_E_TRUNCATED, reading->container->size_bytes,
                                "container: ends inside the section table");
    for (uint32_t kind = 1; kind < SECTION_KINDS; kind++) {
        enum prt_status status = check_section_entry(reading, kind, at, &end);
        if (status != PRT_OK) return status;
        at += sizeof(struct container_section);
    }
    if (PRT_BREAKS(end != reading->container->size_bytes))
        return REFUSE(reading, end, "container: bytes after the last section");
    return PRT_OK;
}

static uint32_t record_count(const struct reading *reading, enum container_section_kind kind)
{
    return (uint32_t)(reading->sections[kind].size_bytes / forms[kind].record_bytes);
}

/* The tables as typed pointers: sections are aligned to 64 bytes, and so is the memory. */
static void place_container_tables(struct reading *reading)
{
    struct prt_container *c = reading->container;
#define TABLE(kind) ((const void *)(c->bytes + reading->sections[CONTAINER_##kind].offset_bytes))
    c->strings = TABLE(STRINGS);
    c->pipeline = TABLE(PIPELINE);
    c->device = TABLE(DEVICE);
    c->arguments = TABLE(ARGUMENTS);
    c->defaults = TABLE(DEFAULTS);
    c->sources = TABLE(SOURCES);
    c->nodes = TABLE(NODES);
    c->inputs = TABLE(INPUTS);
    c->outputs = TABLE(OUTPUTS);
    c->buffers = TABLE(BUFFERS);
    c->readers = TABLE(READERS);
    c->initials = TABLE(INITIALS);
    c->stages = TABLE(STAGES);
    c->code = TABLE(PROGRAM);
    c->rates = TABLE(RATES);
    c->fields = TABLE(FIELDS);
    c->certificate = TABLE(CERTIFICATE);
    c->indices = TABLE(INDICES);
    c->first_warps = TABLE(FIRST_WARPS);
    c->interfaces = TABLE(INTERFACES);
    c->interface_ports = TABLE(INTERFACE_PORTS);
    c->launches = TABLE(LAUNCHES);
    c->types = TABLE(TYPES);
    c->members = TABLE(MEMBERS);
    c->places = TABLE(PLACES);
    c->kernels = TABLE(KERNELS);
    c->kernel_ports = TABLE(KERNEL_PORTS);
    c->variables = TABLE(VARIABLES);
    c->source_texts = TABLE(SOURCE_TEXTS);
    c->foreign = TABLE(FOREIGN);
    c->libraries = TABLE(LIBRARIES);
    c->fused_nodes = TABLE(FUSED_NODES);
    c->fused_inputs = TABLE(FUSED_INPUTS);
    c->fused_buffers = TABLE(FUSED_BUFFERS);
    c->images = TABLE(IMAGES);
    c->image = TABLE(IMAGE);
#undef TABLE
}

static void count_records(struct reading *reading)
{
    struct prt_container *c = reading->container;
    c->strings_bytes = record_count(reading, CONTAINER_STRINGS);
    c->argument_count = record_count(reading, CONTAINER_ARGUMENTS);
    c->source_count = record_count(reading, CONTAINER_SOURCES);
    c->node_count = record_count(reading, CONTAINER_NODES);
    c->input_count = record_count(reading, CONTAINER_INPUTS);
    c->output_count = record_count(reading, CONTAINER_OUTPUTS);
    c->buffer_count = record_count(reading, CONTAINER_BUFFERS);
    c->reader_count = record_count(reading, CONTAINER_READERS);
    c->stage_count = record_count(reading, CONTAINER_STAGES);
    c->code_bytes = record_count(reading, CONTAINER_PROGRAM);
    c->rate_count = record_count(reading, CONTAINER_RATES);
    c->field_count = record_count(reading, CONTAINER_FIELDS);
    c->certificate_count = record_count(reading, CONTAINER_CERTIFICATE);
    c->index_count = record_count(reading, CONTAINER_INDICES);
    c->first_warp_count = record_count(reading, CONTAINER_FIRST_WARPS);
    c->interface_count = record_count(reading, CONTAINER_INTERFACES);
    c->interface_port_count = record_count(reading, CONTAINER_INTERFACE_PORTS);
    c->launch_count = record_count(reading, CONTAINER_LAUNCHES);
    c->type_count = record_count(reading, CONTAINER_TYPES);
    c->member_count = record_count(reading, CONTAINER_MEMBERS);
    c->place_count = record_count(reading, CONTAINER_PLACES);
    c->kernel_count = record_count(reading, CONTAINER_KERNELS);
    c->kernel_port_count = record_count(reading, CONTAINER_KERNEL_PORTS);
    c->variable_count = record_count(reading, CONTAINER_VARIABLES);
    c->foreign_count = record_count(reading, CONTAINER_FOREIGN);
    c->library_count = record_count(reading, CONTAINER_LIBRARIES);
    c->fused_node_count = record_count(reading, CONTAINER_FUSED_NODES);
    c->fused_input_count = record_count(reading, CONTAINER_FUSED_INPUTS);
    c->fused_buffer_count = record_count(reading, CONTAINER_FUSED_BUFFERS);
    c->image_count = record_count(reading, CONTAINER_IMAGES);
    c->source_texts_bytes = reading->sections[CONTAINER_SOURCE_TEXTS].size_bytes;
    c->initials_bytes = reading->sections[CONTAINER_INITIALS].size_bytes;
    c->image_bytes = reading->sections[CONTAINER_IMAGE].size_bytes;
    for (uint32_t kind = 0; kind < SECTION_KINDS; kind++)
        c->section_offset_bytes[kind] = reading->sections[kind].offset_bytes;
}

/* ---- records ---- */

/* Records are checked by a list of conditions; the first that fails is reported. */
#define CHECK(condition, kind, index, what)                                                        \
    do {                                                                                           \
        if (!PRT_HOLDS(condition))                                                                 \
            return refuse_record(reading, CONTAINER_##kind, (index), (what));                      \
    } while (0)

static bool is_string(const struct prt_container *c, container_string string)
{
    return string < c->strings_bytes;
}

static bool is_index_or_none(uint32_t index, uint32_t count)
{
    return index < count || index == CONTAINER_NONE;
}

static bool is_index_range(uint32_t first, uint32_t count, uint32_t total)
{
    return first <= total && count <= total - first;
}

static enum prt_status check_strings(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    if (PRT_BREAKS(c->strings_bytes == 0 || c->strings[0] != '\0' ||
                   c->strings[c->strings_bytes - 1] != '\0'))
        return REFUSE(reading, reading->sections[CONTAINER_STRINGS].offset_bytes,
                      "container: section 'strings' does not begin and end with a NUL");
    return PRT_OK;
}

static enum prt_status check_heads(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    const struct container_pipeline *p = c->pipeline;
    CHECK(is_string(c, p->name) && is_string(c, p->compiler), PIPELINE, 0,
          "a string outside the section 'strings'");
    CHECK(p->reserved == 0, PIPELINE, 0, "a reserved field is not zero");
    const uint32_t flags =
        CONTAINER_PIPELINE_UNPROVEN | CONTAINER_PIPELINE_COUNTEREXAMPLE | CONTAINER_PIPELINE_DEBUG;
    CHECK((p->flags & ~flags) == 0, PIPELINE, 0, "unknown flags");
    CHECK(p->arguments_bytes <= SIZE_MAX / 4, PIPELINE, 0, "the block of arguments is too large");
    const struct container_device *d = c->device;
    CHECK(is_string(c, d->name), DEVICE, 0, "a string outside the section 'strings'");
    CHECK(d->cu_count >= 1, DEVICE, 0, "a device without compute units");
    CHECK(d->lanes >= 1 && d->lanes <= CONTAINER_LANES_MAX, DEVICE, 0,
          "a device of 0 or more than 1,024 lanes");
    CHECK(d->reserved == 0, DEVICE, 0, "a reserved field is not zero");
    for (uint32_t i = 0; i < c->source_count; i++) {
        const struct container_source *s = &c->sources[i];
        CHECK(is_string(c, s->name), SOURCES, i, "a string outside the section 'strings'");
        CHECK(s->reserved == 0, SOURCES, i, "a reserved field is not zero");
        CHECK(s->text_offset_bytes <= c->source_texts_bytes &&
                  s->text_bytes <= c->source_texts_bytes - s->text_offset_bytes,
              SOURCES, i, "a text outside the section 'source_texts'");
    }
    return PRT_OK;
}

/* Images fill the section, one after the other, aligned like sections. */
static enum prt_status check_images(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->image_count; i++) {
        const struct container_image *image = &c->images[i];
        uint64_t begin = align_up(end, CONTAINER_ALIGNMENT);
        CHECK(is_string(c, image->isa), IMAGES, i, "a string outside the section 'strings'");
        CHECK(image->kind < CONTAINER_IMAGE_KINDS, IMAGES, i, "an unknown kind of image");
        CHECK(image->offset_bytes == begin && begin <= c->image_bytes &&
                  image->size_bytes <= c->image_bytes - begin,
              IMAGES, i, "lies where it must not");
        CHECK(are_zero_bytes(c->image, end, begin), IMAGES, i, "the bytes before it are not zero");
        end = begin + image->size_bytes;
    }
    if (PRT_BREAKS(end != c->image_bytes))
        return REFUSE(reading, reading->sections[CONTAINER_IMAGE].offset_bytes + end,
                      "container: section 'image' has bytes after the last image");
    return PRT_OK;
}

static enum prt_status check_arguments(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    uint64_t bytes = c->pipeline->arguments_bytes, all = bytes;
    for (uint32_t i = 0; i < c->interface_count; i++)
        if (c->interfaces[i].node == CONTAINER_NONE)
            saturating_increase(&all, c->interfaces[i].arguments_bytes);
    CHECK(reading->sections[CONTAINER_DEFAULTS].size_bytes == all, DEFAULTS, 0,
          "has another size than the blocks of arguments");
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        CHECK(is_string(c, a->name) && is_string(c, a->type_text) && is_string(c, a->shape),
              ARGUMENTS, i, "a string outside the section 'strings'");
        CHECK(a->scalar < SCALAR_COUNT, ARGUMENTS, i, "unknown scalar type");
        CHECK(a->has_default <= 1, ARGUMENTS, i, "has_default is neither 0 nor 1");
        CHECK(a->property <= CONTAINER_PROPERTY_CHANNELS, ARGUMENTS, i, "unknown property");
        CHECK(a->property == CONTAINER_PROPERTY_NONE ? a->buffer == CONTAINER_NONE
                                                     : a->buffer < c->buffer_count,
              ARGUMENTS, i, "a buffer outside the section 'buffers'");
        size_t width = scalar_width_bytes((enum scalar_type)a->scalar);
        CHECK(a->offset_bytes <= bytes && a->count > 0 &&
                  a->count <= (bytes - a->offset_bytes) / width,
              ARGUMENTS, i, "lies outside the block of arguments");
        CHECK(a->offset_bytes % width == 0, ARGUMENTS, i, "is not aligned");
    }
    return PRT_OK;
}

static enum prt_status check_nodes(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    const uint32_t flags = CONTAINER_NODE_STATEFUL | CONTAINER_NODE_INIT | CONTAINER_NODE_FINISH |
                           CONTAINER_NODE_INDEXED | CONTAINER_NODE_STOPS | CONTAINER_NODE_COUNTED |
                           CONTAINER_NODE_LAUNCHES | CONTAINER_NODE_FAULTS | CONTAINER_NODE_FUSED |
                           CONTAINER_NODE_UNIT_MASK;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *n = &c->nodes[i];
        CHECK(is_string(c, n->name) && is_string(c, n->kernel_title), NODES, i,
              "a string outside the section 'strings'");
        CHECK(n->source < c->source_count || n->source == CONTAINER_NONE, NODES, i,
              "an unknown source file");
        CHECK((n->flags & ~flags) == 0, NODES, i, "unknown flags");
        CHECK((n->flags & CONTAINER_NODE_UNIT_MASK) / CONTAINER_NODE_UNIT_ONE <= DEVDESC_UNITS,
              NODES, i, "an unknown unit");
        CHECK(n->reserved == 0, NODES, i, "a reserved field is not zero");
        CHECK(n->importance <= 255, NODES, i, "importance above 255");
        CHECK(n->phases >= 1, NODES, i, "no phase");
        CHECK(is_index_range(n->first_input, n->input_count, c->input_count), NODES, i,
              "inputs outside the section 'inputs'");
        CHECK(is_index_range(n->first_output, n->output_count, c->output_count), NODES, i,
              "outputs outside the section 'outputs'");
        CHECK(n->arguments_bytes <= SIZE_MAX / 4 && n->tables_bytes <= SIZE_MAX / 4 &&
                  n->state_bytes <= SIZE_MAX / 4,
              NODES, i, "a block is too large");
    }
    return PRT_OK;
}

static enum prt_status check_stage_ends(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->input_count; i++) {
        const struct container_input *e = &c->inputs[i];
        CHECK(is_string(c, e->port), INPUTS, i, "a string outside the section 'strings'");
        CHECK(e->buffer < c->buffer_count, INPUTS, i, "an unknown buffer");
        CHECK(e->reader < c->reader_count, INPUTS, i, "an unknown reader");
        CHECK(e->reserved == 0, INPUTS, i, "a reserved field is not zero");
    }
    for (uint32_t i = 0; i < c->output_count; i++) {
        const struct container_output *e = &c->outputs[i];
        CHECK(is_string(c, e->port), OUTPUTS, i, "a string outside the section 'strings'");
        CHECK(e->buffer < c->buffer_count, OUTPUTS, i, "an unknown buffer");
        CHECK((e->bundle == 0) == (e->share == 0), OUTPUTS, i, "a bundle without a share");
    }
    for (uint32_t i = 0; i < c->reader_count; i++) {
        const struct container_reader *e = &c->readers[i];
        CHECK(e->node < c->node_count, READERS, i, "an unknown node");
        CHECK(e->input < c->input_count, READERS, i, "an unknown input");
    }
    return PRT_OK;
}

static enum prt_status check_buffers(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *b = &c->buffers[i];
        CHECK(is_string(c, b->name) && is_string(c, b->type_text), BUFFERS, i,
              "a string outside the section 'strings'");
        CHECK(b->scalar < SCALAR_COUNT, BUFFERS, i, "unknown scalar type");
        CHECK(b->outer <= CONTAINER_OUTER_OUT, BUFFERS, i, "neither inner nor outer");
        CHECK((b->flags & ~(uint32_t)CONTAINER_BUFFER_GROWS) == 0 && b->reserved == 0, BUFFERS, i,
              "unknown flags");
        size_t scalar_bytes = scalar_width_bytes((enum scalar_type)b->scalar);
        CHECK(b->width_bytes > 0 && b->width_bytes % scalar_bytes == 0, BUFFERS, i,
              "the width is not a multiple of its scalar's");
        uint64_t bytes;
        CHECK(b->depth_packets > 0 &&
                  !__builtin_mul_overflow(b->depth_packets, b->width_bytes, &bytes) &&
                  bytes <= SIZE_MAX / 4,
              BUFFERS, i, "depth x width is zero or too large");
        CHECK(b->initial_offset_bytes <= c->initials_bytes &&
                  b->initial_size_bytes <= c->initials_bytes - b->initial_offset_bytes,
              BUFFERS, i, "initial packets outside the section 'initials'");
        CHECK(b->writer_node < c->node_count || b->writer_node == CONTAINER_NONE, BUFFERS, i,
              "an unknown writer");
        CHECK(b->writer_output < c->output_count || b->writer_output == CONTAINER_NONE, BUFFERS, i,
              "an unknown output");
        CHECK(is_index_range(b->first_reader, b->reader_count, c->reader_count), BUFFERS, i,
              "readers outside the section 'readers'");
        CHECK(is_index_range(b->first_field, b->field_count, c->field_count), BUFFERS, i,
              "fields outside the section 'fields'");
        CHECK(is_index_or_none(b->type, c->type_count), BUFFERS, i, "an unknown type");
        CHECK(is_index_or_none(b->place, c->place_count), BUFFERS, i, "an unknown place");
    }
    return PRT_OK;
}

static enum prt_status check_fields(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->field_count; i++) {
        const struct container_field *f = &c->fields[i];
        CHECK(is_string(c, f->name) && is_string(c, f->shape), FIELDS, i,
              "a string outside the section 'strings'");
        CHECK(f->scalar < SCALAR_COUNT, FIELDS, i, "unknown scalar type");
        uint64_t end;
        CHECK(f->count > 0 &&
                  !__builtin_mul_overflow(f->count, scalar_width_bytes((enum scalar_type)f->scalar),
                                          &end) &&
                  !__builtin_add_overflow(end, f->offset_bytes, &end) && end <= INT64_MAX,
              FIELDS, i, "no scalars, or too many");
    }
    return PRT_OK;
}

static enum prt_status check_stages(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    CHECK(c->stage_count <= SCHED_MAX_STAGES, STAGES, c->stage_count, "too many stages");
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct container_stage *s = &c->stages[i];
        CHECK(s->node < c->node_count, STAGES, i, "an unknown node");
        CHECK(s->threshold >= 1, STAGES, i, "a threshold of 0");
        CHECK(s->batch_max >= s->threshold, STAGES, i, "batch_max is below the threshold");
        CHECK(s->batch_max <= UINT32_MAX, STAGES, i, "batch_max does not fit a dispatch packet");
        CHECK(s->entry < DISPATCH_ENTRIES_MAX || s->entry == CONTAINER_NONE, STAGES, i,
              "a reference entry that no device has");
        CHECK((s->flags & ~(uint32_t)(CONTAINER_STAGE_SPILLED | CONTAINER_STAGE_ENDS_PACK)) == 0,
              STAGES, i, "unknown flags");
        CHECK(s->pack < c->stage_count && s->place < c->stage_count, STAGES, i,
              "a pack or a place beyond the stages");
    }
    if (PRT_BREAKS(c->code_bytes > SCHED_MAX_CODE_BYTES))
        return REFUSE(reading, reading->sections[CONTAINER_PROGRAM].offset_bytes,
                      "container: the scheduler program is beyond %u bytes", SCHED_MAX_CODE_BYTES);
    return PRT_OK;
}

static enum prt_status check_indices(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->index_count; i++) {
        const struct container_index *x = &c->indices[i];
        CHECK(i == 0 || x->kernel > c->indices[i - 1].kernel, INDICES, i,
              "its kernel does not follow that of the one before");
        uint64_t plane = (uint64_t)x->extents[0] * x->extents[1];
        CHECK(plane >= 1 && plane <= INDEX_ITEMS_MAX && x->extents[2] >= 1 &&
                  plane * x->extents[2] <= INDEX_ITEMS_MAX,
              INDICES, i, "a group of no work-items, or of too many");
        uint32_t items = (uint32_t)plane * x->extents[2];
        uint32_t first = items < c->device->lanes ? items : c->device->lanes;
        CHECK(is_index_range(x->first_warp, first, c->first_warp_count), INDICES, i,
              "a first warp outside the section 'first_warps'");
        CHECK((x->flags & ~(uint32_t)CONTAINER_INDEX_DEDICATED) == 0 && x->reserved == 0, INDICES,
              i, "unknown flags, or a reserved field is not zero");
    }
    return PRT_OK;
}

static enum prt_status check_interfaces(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        CHECK(is_string(c, f->title), INTERFACES, i, "a string outside the section 'strings'");
        CHECK(f->node < c->node_count || f->node == CONTAINER_NONE, INTERFACES, i,
              "an unknown node");
        CHECK(f->source < c->source_count || f->source == CONTAINER_NONE, INTERFACES, i,
              "an unknown source file");
        const uint32_t known = CONTAINER_INTERFACE_ASKS | CONTAINER_INTERFACE_COUNTED;
        CHECK((f->flags & ~known) == 0, INTERFACES, i, "unknown flags");
        CHECK(f->reserved == 0, INTERFACES, i, "a reserved field is not zero");
        CHECK(is_index_range(f->first_launch, f->launch_count, c->launch_count), INTERFACES, i,
              "launches outside the section 'launches'");
        CHECK(
            f->in_count <= c->interface_port_count && f->out_count <= c->interface_port_count &&
                is_index_range(f->first_port, f->in_count, c->interface_port_count) &&
                is_index_range(f->first_port + f->in_count, f->out_count, c->interface_port_count),
            INTERFACES, i, "ports outside the section 'interface_ports'");
    }
    for (uint32_t i = 0; i < c->interface_port_count; i++) {
        const struct container_interface_port *p = &c->interface_ports[i];
        CHECK(p->source < c->source_count || p->source == CONTAINER_NONE, INTERFACE_PORTS, i,
              "an unknown source file");
        CHECK(p->reserved == 0, INTERFACE_PORTS, i, "a reserved field is not zero");
    }
    return PRT_OK;
}

static enum prt_status check_launch_tables(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->launch_count; i++) {
        const struct container_launch *l = &c->launches[i];
        CHECK(l->parent < c->interface_count && l->child < c->interface_count, LAUNCHES, i,
              "an unknown interface");
        CHECK(l->order <= CONTAINER_LAUNCH_AFTER_PARENT, LAUNCHES, i, "an unknown order");
        CHECK(l->wait_max <= KERNEL_LAUNCH_WAITS_MAX, LAUNCHES, i, "too many events to wait for");
        CHECK(l->reserved == 0, LAUNCHES, i, "a reserved field is not zero");
        CHECK(l->source < c->source_count || l->source == CONTAINER_NONE, LAUNCHES, i,
              "an unknown source file");
    }
    return PRT_OK;
}

static enum prt_status check_types(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->type_count; i++) {
        const struct container_type *t = &c->types[i];
        CHECK(is_string(c, t->name), TYPES, i, "a string outside the section 'strings'");
        CHECK(t->kind <= CONTAINER_TYPE_STRUCT, TYPES, i, "an unknown kind of type");
        CHECK(t->scalar < SCALAR_COUNT, TYPES, i, "unknown scalar type");
        CHECK(t->element < i || t->element == CONTAINER_NONE, TYPES, i,
              "its element is not a type before it");
        CHECK(is_index_range(t->first_member, t->member_count, c->member_count), TYPES, i,
              "members outside the section 'members'");
        for (uint32_t m = 0; m < t->member_count; m++)
            CHECK(c->members[t->first_member + m].type < i, TYPES, i,
                  "the type of a member is not a type before it");
    }
    for (uint32_t i = 0; i < c->member_count; i++) {
        CHECK(is_string(c, c->members[i].name), MEMBERS, i,
              "a string outside the section 'strings'");
        CHECK(c->members[i].type < c->type_count, MEMBERS, i, "an unknown type");
    }
    return PRT_OK;
}

static enum prt_status check_places(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->place_count; i++) {
        CHECK(c->places[i].source < c->source_count, PLACES, i, "an unknown source file");
        CHECK(c->places[i].line >= 1 && c->places[i].column >= 1, PLACES, i, "no line or column");
    }
    return PRT_OK;
}

static enum prt_status check_kernels(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const struct container_kernel *k = &c->kernels[i];
        CHECK(is_string(c, k->title), KERNELS, i, "a string outside the section 'strings'");
        CHECK(is_index_or_none(k->place, c->place_count), KERNELS, i, "an unknown place");
        CHECK(k->in_count <= c->kernel_port_count && k->out_count <= c->kernel_port_count &&
                  is_index_range(k->first_port, k->in_count, c->kernel_port_count) &&
                  is_index_range(k->first_port + k->in_count, k->out_count, c->kernel_port_count),
              KERNELS, i, "ports outside the section 'kernel_ports'");
        CHECK(is_index_range(k->first_variable, k->variable_count, c->variable_count), KERNELS, i,
              "variables outside the section 'variables'");
    }
    for (uint32_t i = 0; i < c->kernel_port_count; i++) {
        const struct container_kernel_port *p = &c->kernel_ports[i];
        CHECK(is_string(c, p->name), KERNEL_PORTS, i, "a string outside the section 'strings'");
        CHECK(is_index_or_none(p->type, c->type_count), KERNEL_PORTS, i, "an unknown type");
        CHECK(is_index_or_none(p->place, c->place_count), KERNEL_PORTS, i, "an unknown place");
    }
    return PRT_OK;
}

static enum prt_status check_variables(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->variable_count; i++) {
        const struct container_variable *v = &c->variables[i];
        CHECK(is_string(c, v->name), VARIABLES, i, "a string outside the section 'strings'");
        CHECK(v->kind <= CONTAINER_VARIABLE_ARGUMENT, VARIABLES, i, "an unknown kind of variable");
        CHECK(is_index_or_none(v->type, c->type_count), VARIABLES, i, "an unknown type");
        CHECK(is_index_or_none(v->place, c->place_count), VARIABLES, i, "an unknown place");
    }
    return PRT_OK;
}

/* A name without a folder: the dynamic linker looks for it where the system keeps libraries. */
static bool is_library_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL;
}

static enum prt_status check_foreign(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    for (uint32_t i = 0; i < c->foreign_count; i++) {
        const struct container_foreign *f = &c->foreign[i];
        CHECK(is_string(c, f->name) && is_string(c, f->signature), FOREIGN, i,
              "a string outside the section 'strings'");
        CHECK(f->flags <= CONTAINER_FOREIGN_PURE, FOREIGN, i, "an unknown flag");
        CHECK(i == 0 || f->kernel > f[-1].kernel, FOREIGN, i, "kernels out of order");
    }
    for (uint32_t i = 0; i < c->library_count; i++) {
        CHECK(is_string(c, c->libraries[i].name), LIBRARIES, i,
              "a string outside the section 'strings'");
        CHECK(is_library_name(c->strings + c->libraries[i].name), LIBRARIES, i,
              "a name that is empty or has a folder");
        CHECK(c->foreign_count > 0, LIBRARIES, i, "no foreign code needs it");
    }
    return PRT_OK;
}

static enum prt_status check_fused(struct reading *reading)
{
    const struct prt_container *c = reading->container;
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->fused_node_count; i++) {
        const struct container_fused_node *n = &c->fused_nodes[i];
        CHECK(is_string(c, n->name), FUSED_NODES, i, "a string outside the section 'strings'");
        CHECK(n->node < c->node_count, FUSED_NODES, i, "an unknown node");
        CHECK(n->first_input == next && is_index_range(next, n->input_count, c->fused_input_count),
              FUSED_NODES, i, "its inputs do not follow those of the node before");
        CHECK((n->flags & ~(uint32_t)CONTAINER_FUSED_SEES_TAIL) == 0 && n->reserved == 0,
              FUSED_NODES, i, "unknown flags, or a reserved field is not zero");
        next += n->input_count;
    }
    if (PRT_BREAKS(next != c->fused_input_count))
        return refuse_record(reading, CONTAINER_FUSED_INPUTS, next, "belongs to no node");
    for (uint32_t i = 0; i < c->fused_input_count; i++) {
        const struct container_fused_input *in = &c->fused_inputs[i];
        bool real = in->buffer == CONTAINER_NONE;
        CHECK(real ? in->input < c->input_count
                   : in->input == CONTAINER_NONE && in->buffer < c->fused_buffer_count,
              FUSED_INPUTS, i, "neither an input nor a fused buffer, or both");
    }
    const uint32_t known = CONTAINER_FUSED_BUFFER_KEPT | CONTAINER_FUSED_BUFFER_CYCLE;
    for (uint32_t i = 0; i < c->fused_buffer_count; i++) {
        const struct container_fused_buffer *b = &c->fused_buffers[i];
        bool kept = (b->flags & CONTAINER_FUSED_BUFFER_KEPT) != 0;
        CHECK(is_string(c, b->name), FUSED_BUFFERS, i, "a string outside the section 'strings'");
        CHECK(b->writer < c->fused_node_count, FUSED_BUFFERS, i, "an unknown writer");
        CHECK(b->buffer < c->buffer_count || (b->buffer == c->buffer_count && !kept), FUSED_BUFFERS,
              i, "an unknown buffer");
        CHECK((b->flags & ~known) == 0, FUSED_BUFFERS, i, "unknown flags");
    }
    return PRT_OK;
}

/* Cuts SETS into sets: a length, then so many stages, again and again. */
static enum prt_status read_sets(struct reading *reading)
{
    struct prt_container *c = reading->container;
    const uint32_t *words =
        (const void *)(c->bytes + reading->sections[CONTAINER_SETS].offset_bytes);
    uint32_t total = record_count(reading, CONTAINER_SETS);
    uint32_t count = 0;
    for (uint32_t at = 0; at < total; count++) {
        CHECK(count < SCHED_MAX_SETS, SETS, at, "too many sets");
        uint32_t length = words[at];
        CHECK(length < total - at, SETS, at, "a set that runs past the section");
        for (uint32_t i = 0; i < length; i++)
            CHECK(words[at + 1 + i] < c->stage_count, SETS, at + 1 + i, "an unknown stage");
        at += 1 + length;
    }
    c->sets = calloc((size_t)count + 1, sizeof *c->sets);
    if (c->sets == NULL) return prt_error_set(reading->error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0, at = 0; i < count; i++) {
        c->sets[i] = (struct prt_stage_set){words + at + 1, words[at]};
        at += 1 + words[at];
    }
    c->set_count = count;
    return PRT_OK;
}

static enum prt_status read_container_bytes(struct reading *reading)
{
    static enum prt_status (*const steps[])(struct reading *) = {
        check_strings,       check_heads,   check_arguments, check_nodes,   check_stage_ends,
        check_buffers,       check_fields,  check_stages,    check_indices, check_interfaces,
        check_launch_tables, check_types,   check_places,    check_kernels, check_variables,
        check_images,        check_foreign, check_fused,     read_sets,
    };
    struct container_header header;
    enum prt_status status = check_header(reading, &header);
    if (status == PRT_OK) status = check_sections(reading);
    if (status != PRT_OK) return status;
    place_container_tables(reading);
    count_records(reading);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == PRT_OK; i++)
        status = steps[i](reading);
    return status;
}

/* ---- bytes ---- */

static uint8_t *allocate_bytes(size_t size)
{
    void *bytes;
    return posix_memalign(&bytes, CONTAINER_ALIGNMENT, size > 0 ? size : 1) == 0 ? bytes : NULL;
}

/* Takes `bytes` over, whatever comes of it. */
static enum prt_status read_owned(uint8_t *bytes, size_t size, struct prt_container *container,
                                  struct prt_error *error)
{
    *container = (struct prt_container){.size_bytes = size};
    container->bytes = bytes;
    struct reading reading = {.container = container, .error = error};
    enum prt_status status = read_container_bytes(&reading);
    if (status != PRT_OK) prt_container_free(container);
    return status;
}

enum prt_status prt_container_read_memory(const void *bytes, size_t size,
                                          struct prt_container *container, struct prt_error *error)
{
    *container = (struct prt_container){0};
    if (size > PRT_CONTAINER_BYTES_MAX)
        return prt_error_set(error, PRT_E_FORMAT, "container: larger than 4 GiB");
    if (size > MAGIC_BYTES && !begins_as_container(bytes, size)) size = MAGIC_BYTES;
    uint8_t *copy = allocate_bytes(size);
    if (copy == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (size > 0) memcpy(copy, bytes, size);
    return read_owned(copy, size, container, error);
}

/* Reads to the end of the file into memory that grows with it: the file may be a pipe, or change meanwhile.  If the first
 * bytes are not those of a container, it soon stops reading. */
static enum prt_status read_whole_file(int fd, const char *path, uint8_t **bytes, size_t *size,
                                       struct prt_error *error)
{
    struct stat about;
    size_t capacity = 65536;
    *bytes = NULL;
    *size = 0;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
        (uint64_t)about.st_size > PRT_CONTAINER_BYTES_MAX)
        return prt_error_set(error, PRT_E_FORMAT, "%s: larger than 4 GiB", path);
    *bytes = allocate_bytes(capacity);
    if (*bytes == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (;;) {
        ssize_t got = read(fd, *bytes + *size, capacity - *size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return prt_error_set_at(error, PRT_E_READ, *size, "cannot read '%s': %s", path,
                                    strerror(errno));
        if (got == 0) return PRT_OK;
        *size += (size_t)got;
        if (!begins_as_container(*bytes, *size)) return PRT_OK;
        /* uncovered: a pipe that brings more than 4 GiB */
        if (*size > PRT_CONTAINER_BYTES_MAX)
            return prt_error_set(error, PRT_E_FORMAT, "%s: larger than 4 GiB", path);
        if (*size < capacity) continue;
        uint8_t *larger = allocate_bytes(capacity * 2);
        if (larger == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
        memcpy(larger, *bytes, *size);
        free(*bytes);
        *bytes = larger;
        capacity *= 2;
    }
}

enum prt_status prt_container_read_file(const char *path, struct prt_container *container,
                                        struct prt_error *error)
{
    *container = (struct prt_container){0};
    int fd = file_open_input(path);
    if (fd < 0)
        return prt_error_set(error, PRT_E_OPEN, "cannot open '%s': %s", path,
                             file_error_text(errno));
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum prt_status status = read_whole_file(fd, path, &bytes, &size, error);
    close(fd);
    if (status != PRT_OK) {
        free(bytes);
        return status;
    }
    struct prt_error inner;
    status = read_owned(bytes, size, container, &inner);
    if (status != PRT_OK)
        prt_error_set_at(error, status, inner.offset, "%s: %s", path, inner.message);
    return status;
}

void prt_container_free(struct prt_container *container)
{
    free(container->sets);
    free(container->bytes);
    *container = (struct prt_container){0};
}
