/* SPDX-License-Identifier: MIT */
/*
 * made_container: containers for tests, made without the compiler.
 *
 *     struct made *m = made_create("edge", "sim16");
 *     uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
 *     uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
 *     uint32_t k = made_node(m, "twice", 0);
 *     made_input(m, k, x, 1, 1);
 *     made_output(m, k, y, 1, 0);
 *     made_loop(m);                               every stage on the whole device, guarded dispatch
 *     bytes = made_finish(m, &size);
 *
 * Ends are added to the node made last.  Everything but the program has defaults that verify;
 * records can be changed before made_finish, through the pointers that the calls below return or
 * the arrays of `struct made`, so a hostile container is an edit of a good one.  Failures of the
 * helper itself abort: it is a test's.
 */
#ifndef TESTS_CONFORM_MADE_CONTAINER_H
#define TESTS_CONFORM_MADE_CONTAINER_H

#include "lang/container.h"
#include "lang/scalar.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { MADE_MAX = 256, MADE_CERTIFICATE_MAX = 16384 };

struct made {
    struct container_pipeline pipeline;
    struct container_device device;
    struct container_argument arguments[MADE_MAX];
    struct container_node nodes[MADE_MAX];
    struct container_input inputs[MADE_MAX];
    struct container_output outputs[MADE_MAX];
    struct container_buffer buffers[MADE_MAX];
    uint64_t rates[MADE_MAX];
    struct container_field fields[MADE_MAX];
    uint64_t certificate[MADE_CERTIFICATE_MAX]; /* pipelines without cycles need none */
    struct container_interface interfaces[MADE_MAX];
    struct container_interface_port interface_ports[MADE_MAX];
    struct container_stage stages[MADE_MAX];
    uint8_t *program;
    struct container_foreign foreign[4];
    struct container_library libraries[4];
    uint32_t foreign_count, library_count;
    struct container_fused_node fused_nodes[8];
    struct container_fused_input fused_inputs[16];
    struct container_fused_buffer fused_buffers[8];
    uint32_t fused_node_count, fused_input_count, fused_buffer_count;
    struct container_image images[4]; /* one, of all of `image`, unless a test makes others */
    const uint8_t *image;
    size_t image_bytes;
    uint32_t image_count;
    uint32_t strings_bytes;
    uint32_t rate_count;
    uint32_t field_count;
    uint32_t index_count;
    uint32_t first_warp_count;
    uint32_t certificate_count;
    uint32_t interface_count, interface_port_count, launch_count;
    uint32_t argument_count, node_count, input_count, output_count, buffer_count, reader_count;
    uint32_t stage_count;
    uint32_t initials_bytes, defaults_bytes;
    uint32_t sets_words;
    uint32_t program_bytes;
    struct container_source sources[1];
    struct container_index indices[MADE_MAX];
    uint32_t first_warps[MADE_MAX];
    struct container_launch launches[MADE_MAX];
    struct container_type
        types[MADE_MAX + 1]; /* debug information: none, unless a test adds some */
    struct container_member members[MADE_MAX];
    struct container_place places[MADE_MAX];
    struct container_kernel kernels[MADE_MAX];
    struct container_kernel_port kernel_ports[MADE_MAX];
    struct container_variable variables[MADE_MAX];
    char source_texts[4096];
    uint32_t type_count, member_count, place_count;
    uint32_t kernel_count, kernel_port_count, variable_count, source_texts_bytes;
    struct container_reader readers[MADE_MAX];
    uint32_t sets[4096];
    char strings[16384];
    uint8_t initials[4096];
    uint8_t defaults[256]; /* the block of arguments */
};

struct made *made_create(const char *pipeline, const char *device);
void made_free(struct made *made);

uint32_t made_string(struct made *made, const char *text);
struct container_argument *made_argument(struct made *made, const char *name, enum scalar_type type,
                                         const void *default_value);
/* Packets of one scalar; `width_bytes` of the record may be changed to a multiple. */
uint32_t made_buffer(struct made *made, const char *name, enum scalar_type type, uint64_t depth,
                     enum container_outer outer);
void made_initial(struct made *made, uint32_t buffer, uint64_t packets, const void *pattern,
                  uint32_t pattern_bytes);
/* A node, and its stage with threshold 1; the node's number is its kernel. */
uint32_t made_node(struct made *made, const char *name, uint32_t flags);
void made_input(struct made *made, uint32_t node, uint32_t buffer, uint64_t pop, uint64_t peek);
void made_output(struct made *made, uint32_t node, uint32_t buffer, uint64_t push,
                 uint64_t finish_max);

/* The program from assembly text; `.stages` and `.set 0` (all stages) are put in front of it. */
void made_program(struct made *made, const char *text);
/* The guarded loop, every stage bound to the whole device; entries of the reference table that the
 * stages own by now are loaded. */
void made_loop(struct made *made);
/* The same with one sub-device of one CU for each stage. */
void made_side_by_side(struct made *made);
/* With so many sub-devices of so many CUs, among which stages are dealt in turn. */
void made_groups(struct made *made, uint32_t groups, uint32_t cus);

/* Largest batches that the depths admit (1024 at most), memory_bytes, readers in order of buffers.
 * made_finish does it unless it has been done. */
void made_settle(struct made *made);

/* The file; malloc'ed. */
uint8_t *made_finish(struct made *made, size_t *size);
/* Finishes, reads and verifies it, then frees it: what the loader says of it. */
enum prt_status made_verify(struct made *made, struct prt_error *error);

/* Puts the right checksum and length into bytes of a container that have been changed. */
void made_fix_checksum(uint8_t *bytes, size_t size);

#endif
