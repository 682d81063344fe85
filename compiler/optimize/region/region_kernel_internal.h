/* SPDX-License-Identifier: MIT */
/*
 * region_kernel_internal: what the files of region_kernel share.
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
    struct tree tree;
    struct region_shape *shapes;       /* by node */
    const struct variable **arguments; /* by number: of the kernel, or NULL */
    struct variable *table;            /* NULL: there is none */
    uint32_t names;
};

const struct sym_node *region_node_at(const struct region_writer *w, uint64_t number);
const char *region_fresh_name(struct region_writer *w);
/* The scalar that a SYM_PACKET is, of the packet at `index`. */
struct kx *region_packet(struct region_writer *w, const struct sym_node *n, struct kx *index);
struct kx *region_operation(struct region_writer *w, const struct sym_node *n,
                            struct kx *const *operands);
/* The same of what lies at `index` of the in-port. */
struct kx *region_place(struct region_writer *w, uint32_t port, uint32_t component,
                        struct kx *index);
/* Where a SYM_PACKET lies in the one in-port of an interleaved region. */
uint64_t region_interleaved_place(const struct region_writer *w, const struct sym_node *n);
/* The value, after what it needs has been appended to the list. */
struct kx *region_write_value(struct region_writer *w, struct tree_list *list, sym value);

/* Writes all packets of the out-port as one loop, where they are computed alike; else false. */
bool region_write_alike(struct region_writer *w, struct tree_list *list, uint32_t port);

/* The body of a region with strands. */
struct ks *region_write_strands(struct region_writer *w);

#endif
