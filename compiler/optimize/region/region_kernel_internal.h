/* SPDX-License-Identifier: MIT */
/*
 * region_kernel_internal: the interfaces between the files that build a region's kernel; private to them.
 *
 *   region_kernel.c   the kernel: ports, arguments, straight-line code, sums of products as loops
 *   region_alike.c    packets that are computed alike, as one loop
 *   region_strands.c  strands, as one loop over them
 */
#ifndef PIPEC_REGION_KERNEL_INTERNAL_H
#define PIPEC_REGION_KERNEL_INTERNAL_H

#include "compiler/optimize/region/region_kernel.h"
#include "compiler/ir/expr_build.h"

struct region_shape; /* region_kernel.c */

struct region_writer {
    struct region_space *space;
    const struct region *region;
    struct expr_build tree;
    struct region_shape *shapes;       /* by node of the symbolic graph */
    const struct variable **arguments; /* by number: the kernel's argument, or NULL */
    struct variable *table;            /* or NULL */
    uint32_t names;
};

const struct sym_node *region_node_at(const struct region_writer *w, uint64_t number);
const char *region_fresh_name(struct region_writer *w);
/* The stream and component of a SYM_PACKET, but of the packet at `index`. */
struct kx *region_packet(struct region_writer *w, const struct sym_node *n, struct kx *index);
struct kx *region_operation(struct region_writer *w, const struct sym_node *n,
                            struct kx *const *operands);
/* Component `component` of the packet at `index` of the in-port. */
struct kx *region_place(struct region_writer *w, uint32_t port, uint32_t component,
                        struct kx *index);
/* The place of a SYM_PACKET in the single in-port of an interleaved region. */
uint64_t region_interleaved_place(const struct region_writer *w, const struct sym_node *n);
/* Appends the statements that the value needs.  Returns the value. */
struct kx *region_write_value(struct region_writer *w, struct build_list *list, sym value);

/* If the packets of the out-port are computed alike, appends one loop that writes them all; else returns false. */
bool region_write_alike(struct region_writer *w, struct build_list *list, uint32_t port);

/* The body of a region with strands. */
struct ks *region_write_strands(struct region_writer *w);

#endif
