/* SPDX-License-Identifier: MIT */
/*
 * container_tables: the sections of a container (lang/container.md) as arrays.
 *
 * The runtime's reader fills them in from a file (runtime/load/reader.h).  The compiler fills in those that a trial needs.
 *
 * Ownership, thread-safety: those of the module that fills them in.  Allocation, errors: none.
 */
#ifndef MODEL_CONTAINER_TABLES_H
#define MODEL_CONTAINER_TABLES_H

#include "lang/container.h"

#include <stddef.h>
#include <stdint.h>

/* A set of stages, in the file's SETS: count, then so many stages. */
struct prt_stage_set {
    const uint32_t *stages;
    uint32_t count;
};

/* One array and one count for each section of the file (lang/container.h).  One struct because it is the whole file. */
struct prt_container {
    uint8_t *bytes;
    size_t size_bytes;

    const char *strings;
    const struct container_pipeline *pipeline;
    const struct container_device *device;
    const struct container_argument *arguments;
    const uint8_t *defaults; /* the block of arguments, with the defaults */
    const struct container_source *sources;
    const struct container_node *nodes;
    const struct container_input *inputs;
    const struct container_output *outputs;
    const struct container_buffer *buffers;
    const struct container_reader *readers;
    const struct container_stage *stages;
    const struct container_field *fields;
    const struct container_index *indices;
    const uint32_t *first_warps;
    const struct container_interface *interfaces;
    const struct container_interface_port *interface_ports;
    const struct container_launch *launches;
    const struct container_type *types; /* debug information: load/debug_info.h */
    const struct container_member *members;
    const struct container_place *places;
    const struct container_kernel *kernels;
    const struct container_kernel_port *kernel_ports;
    const struct container_variable *variables;
    const struct container_foreign *foreign;
    const struct container_library *libraries;
    const struct container_fused_node *fused_nodes;
    const struct container_fused_input *fused_inputs;
    const struct container_fused_buffer *fused_buffers;
    const struct container_image *images; /* best first */
    const char *source_texts;
    const uint64_t *rates; /* of ends with several phases */
    const uint64_t *certificate;
    const uint8_t *initials;
    const uint8_t *code; /* the scheduler program */
    const uint8_t *image;
    struct prt_stage_set *sets; /* owned */

    uint32_t strings_bytes;
    uint32_t argument_count, source_count, node_count, input_count, output_count;
    uint32_t buffer_count, reader_count, stage_count, set_count;
    uint32_t rate_count, field_count, certificate_count, index_count, first_warp_count;
    uint32_t interface_count, interface_port_count, launch_count;
    uint32_t type_count, member_count, place_count;
    uint32_t kernel_count, kernel_port_count, variable_count, image_count;
    uint32_t foreign_count, library_count;
    uint32_t fused_node_count, fused_input_count, fused_buffer_count;
    uint32_t code_bytes;
    uint64_t initials_bytes, source_texts_bytes, image_bytes;
    uint64_t section_offset_bytes[CONTAINER_IMAGE + 1]; /* by kind: for messages */
};

static inline const char *prt_container_text(const struct prt_container *container,
                                             container_string string)
{
    return container->strings + string;
}

/* Name of the source file, or "?" where there is none. */
static inline const char *prt_container_source(const struct prt_container *container,
                                               uint32_t source)
{
    return source < container->source_count
               ? prt_container_text(container, container->sources[source].name)
               : "?";
}

/* The record of a kernel of the image that has work-items, or NULL.  Requires: INDICES in ascending
 * order of kernels. */
const struct container_index *prt_container_index(const struct prt_container *container,
                                                  uint32_t kernel);

#endif
