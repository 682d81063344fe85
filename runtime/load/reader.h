/* SPDX-License-Identifier: MIT */
/*
 * reader: a container file as checked tables (lang/container.md).
 *
 * The whole file is first read into private memory, so it may change or shrink afterwards.  After a
 * successful read, every record can be used without further bounds checks: each index, string, count and
 * size lies within its table.  The *meaning* of the records (rates, depths, cross-links, the scheduler
 * program) is checked by verify.h.
 *
 * Requires: a little-endian host.
 * Ownership: prt_container_free frees everything.  All pointers inside, except `sets`, point into `bytes`.
 * Thread-safety: no state.  A container is read-only after the read, and threads may share it.
 * Errors: the message names the section and record, `error->offset` the byte in the file.
 *   PRT_E_OPEN, PRT_E_READ   the file cannot be read
 *   PRT_E_TRUNCATED          shorter than its header says
 *   PRT_E_VERSION            another version of the format
 *   PRT_E_CHECKSUM           damaged
 *   PRT_E_FORMAT             no container, or its tables are inconsistent
 *   PRT_E_NOMEM
 */
#ifndef RUNTIME_LOAD_READER_H
#define RUNTIME_LOAD_READER_H

#include "lang/container.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* A set of stages, in the file's SETS: count, then so many stages. */
struct prt_stage_set {
    const uint32_t *stages;
    uint32_t count;
};

/* One array and one count for each section of the file (lang/container.h). */
struct prt_container {
    uint8_t *bytes;
    size_t size_bytes;

    const char *strings;
    const struct container_pipeline *pipeline;
    const struct container_device *device;
    const struct container_argument *arguments;
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
    uint32_t code_bytes;
    uint64_t initials_bytes, source_texts_bytes, image_bytes;
    uint64_t section_offset_bytes[CONTAINER_IMAGE + 1]; /* by kind: for messages */
};

/* Files above this are refused before they are read. */
#define PRT_CONTAINER_BYTES_MAX (UINT64_C(1) << 32)

/* Reads `path` to its end ("-" is not special here). */
enum prt_status prt_container_read_file(const char *path, struct prt_container *container,
                                        struct prt_error *error);

/* Copies `size` bytes and reads the copy. */
enum prt_status prt_container_read_memory(const void *bytes, size_t size,
                                          struct prt_container *container, struct prt_error *error);

/* Frees the container's memory and zeroes it; a zeroed container is allowed. */
void prt_container_free(struct prt_container *container);

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

/* The checksum that a container of these bytes must carry; `size` is at least the size of the header.
 */
uint64_t prt_container_checksum(const void *bytes, size_t size);

#endif
