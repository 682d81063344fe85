/* SPDX-License-Identifier: MIT */
/*
 * debug_info: what a container says for people: types of packets, places in sources, variables of
 * kernels (lang/container.md, "Debug information").
 *
 * Requires: a container that reader.h accepted; what goes through types also that it is verified.
 * Ownership: pointers go into the container.
 * Thread-safety: no state.
 * Errors: an index CONTAINER_NONE, or one that a kernel has written and is none, gives NULL or
 *   false.  PRT_E_INVALID_VALUE: a path that leads to nothing, and why.
 */
#ifndef RUNTIME_LOAD_DEBUG_INFO_H
#define RUNTIME_LOAD_DEBUG_INFO_H

#include "runtime/load/reader.h"

#include <stdbool.h>

/* Compiled with `pipec --debug-mode`: it has variables and texts, its kernels write origins. */
static inline bool prt_debug_mode(const struct prt_container *c)
{
    return (c->pipeline->flags & CONTAINER_PIPELINE_DEBUG) != 0;
}

const struct container_type *prt_debug_type(const struct prt_container *c, uint32_t type);
const struct container_place *prt_debug_place(const struct prt_container *c, uint32_t place);

/* The statement that a number of kernel_batch.origins names. */
const struct container_place *prt_debug_origin(const struct prt_container *c, uint32_t origin);

/* The kernel with that number in the image; NULL: the container does not have it. */
const struct container_kernel *prt_debug_kernel(const struct prt_container *c, uint32_t kernel);

/* State, table or run-time argument of that name; NULL: there is none, or it was compiled without
 * debug mode. */
const struct container_variable *prt_debug_variable(const struct prt_container *c,
                                                    const struct container_kernel *kernel,
                                                    const char *name);

/* Line `line` of a source, without its end; false: the container does not hold that source's text,
 * or it has no such line. */
bool prt_debug_source_line(const struct prt_container *c, uint32_t source, uint32_t line,
                           const char **text, size_t *length);

/* A part of a value, within its bytes. */
struct prt_debug_part {
    uint32_t type; /* in TYPES */
    uint64_t offset_bytes;
};

/* Follows a path from a value of that type: "" is the value itself, ".pos.x", "[3]", "[2].id[0]".
 * A leading dot may be left out. */
enum prt_status prt_debug_follow(const struct prt_container *c, uint32_t type, const char *path,
                                 struct prt_debug_part *part, struct prt_error *error);

enum { DEBUG_PARTS_MAX = 160 };

/* The parts that such a value can have: "x, y" of a struct, "[0] to [2]" of an array or a vector,
 * else "".  A text that is too long ends in "...". */
void prt_debug_parts_text(const struct prt_container *c, uint32_t type, char *text, size_t size);

/* The bits of a scalar in memory, as scalar_format takes them: integers sign- or zero-extended to
 * 64. */
uint64_t prt_debug_scalar_bits(uint32_t scalar, const void *bytes);

#endif
