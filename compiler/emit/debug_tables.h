/* SPDX-License-Identifier: MIT */
/*
 * debug_tables: types of packets, kernels with their ports and variables, as records of the container
 * (lang/container.md, "Debug information").
 *
 * Requires  a graph after all analyses; an image whose numbers of kernels are final.
 * Fills     in `arena`.  Texts are stored next to the records; the caller fills in the records' strings.
 *           Places go into the image's table.  There are variables only in debug mode.
 * Fails     never.
 */
#ifndef PIPEC_DEBUG_TABLES_H
#define PIPEC_DEBUG_TABLES_H

#include "compiler/codegen/common/codegen.h"
#include "lang/container.h"

struct debug_type {
    const struct type *type;
    uint32_t index; /* in `types`; CONTAINER_NONE: it is nested too deep */
    uint32_t depth;
};

struct debug_tables {
    struct arena *arena;
    VEC(struct container_type) types;
    VEC(struct container_member) members;
    VEC(struct container_kernel) kernels;
    VEC(struct container_kernel_port) ports;
    VEC(struct container_variable) variables;
    VEC(const char *) type_names, member_names, kernel_titles, port_names, variable_names;
    VEC(struct debug_type) known; /* types that have been examined */
};

void debug_tables_build(struct compile *cx, struct arena *arena, const struct graph *graph,
                        const struct kernel_image *image, struct debug_tables *tables);
/* Index of the type, which is added if it is missing; or CONTAINER_NONE. */
uint32_t debug_type_index(struct debug_tables *tables, const struct type *type);

#endif
